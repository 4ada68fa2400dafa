//! An index that an array of the core does not have (WP_AT, port.h): test builds stop and say
//! where, release builds mask it.
//!
//! What must stay: one CPU less than the bound answers, the first one beyond ends the process and
//! names file, line, index and size (`WP_AT`). Only test builds check (`wp_check_bounds`); another
//! build masks. Free: how the child process is started.
//! Tests by part: `an_index_past_the_end_is_told` (`WP_AT`, `bounds`).
//! Helpers, and who fails with them: `ask_for` (`an_index_past_the_end_is_told`). Page:
//! docs/internals/checks.md, "Memory of the policy core".

use crate::common::{cluster, core, machine};
use std::process::{Command, Output};
use wakeplace_policy_sys::sys;

/// In the environment of this test's own child: the CPU that it asks for.
const CPU: &str = "WAKEPLACE_TEST_CPU";

/// The test named `test` again, in a process of its own that may end by a signal.
fn ask_for(cpu: u32, test: &str) -> Output {
    let program = std::env::current_exe().expect("this program");
    let arguments = ["--exact", test, "--nocapture"];
    let mut child = Command::new(program);
    child.args(arguments).env(CPU, cpu.to_string());
    child.output().expect("this program again")
}

/// Goal: the last CPU of the array is answered for, one more is an end with file, line, index and
/// size. Method: `wp_idle_cpu` of a core that has room for WP_MAX_CPUS.
#[test]
fn an_index_past_the_end_is_told() {
    if let Ok(cpu) = std::env::var(CPU) {
        let core = core(&machine(&[cluster(2, 1024)]), "linux-7.3", &[]);
        let cpu = cpu.parse().expect("a number");
        // SAFETY: a whole context; the function answers for any number, or ends the program.
        unsafe { sys::wp_idle_cpu(core.state(), cpu) };
        return;
    }
    let test = "bounds::an_index_past_the_end_is_told";
    for good in [0, 1, sys::WP_MAX_CPUS - 1] {
        let output = ask_for(good, test);
        assert!(output.status.success(), "CPU {good}: {output:?}");
    }
    for bad in [sys::WP_MAX_CPUS, sys::WP_NONE] {
        let output = ask_for(bad, test);
        let said = String::from_utf8_lossy(&output.stderr);
        let stopped = !output.status.success();
        assert_eq!(stopped, cfg!(wp_check_bounds), "CPU {bad}: {output:?}");
        if stopped {
            let what = format!(": index {bad} of an array of {}\n", sys::WP_MAX_CPUS);
            let place = said.split(&what).next().expect("a first part");
            let (file, line) = place.rsplit_once(':').unwrap_or_default();
            assert!(
                file.ends_with("policy/src/load_tracking/capacity.c"),
                "{said}"
            );
            assert!(line.parse::<u32>().is_ok(), "{said}");
        }
    }
}

//! A program that a loader runs (`BPF_PROG_TEST_RUN`): arithmetic, maps, loops and texts of
//! sums.bpf.c, compiled, interpreted, and in the kernel that these tests run on.
//! Page: docs/guide/schedulers.md, "What its programs see".
//!
//! What must stay: the kernel's own answers are what is right; where it cannot be asked that is
//! said.
//! Tests by part (in crates/cli/src): crates/bpf-vm/src/helpers/mod.rs:
//! `a_program_gives_what_a_kernel_gives` (`call`, `repeat`); crates/bpf-vm/src/helpers/text.rs:
//! `a_program_gives_what_a_kernel_gives` (`compare`, `format`, `formatted`).
//! Helpers, and who fails with them: `lines`, `loader`, `simulated`
//! (`a_program_gives_what_a_kernel_gives`).

use crate::schedulers::{made, prepared};
use std::io::Write as _;
use std::process::Command;

/// The lines that the loader printed, one for each pair of arguments.
fn lines(text: &str) -> Vec<String> {
    let of = text.lines().filter(|line| line.starts_with("ran "));
    of.map(str::to_owned).collect()
}

fn loader() -> String {
    let path = made().example("runs");
    path.to_str().expect("UTF-8").to_owned()
}

/// What comes out of our own machine. The loader attaches no scheduler, so nothing is simulated.
fn simulated(more: &[&str]) -> Vec<String> {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let scheduler = format!("{} {}", loader(), made().object("sums.bpf.o"));
    let mut command = prepared("periodic:n=1", "sim", &scheduler, more);
    command.env("WAKEPLACE_LOADER_OUTPUT", log.path());
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    lines(&std::fs::read_to_string(log.path()).expect("a log"))
}

/// Goal: a kernel makes the same of 90 pairs of arguments. Where programs may not be loaded, or the
/// machine is no x86-64 one (its `strncmp` answers other numbers), that is said.
#[test]
fn a_program_gives_what_a_kernel_gives() {
    let compiled = simulated(&[]);
    assert_eq!(compiled.len(), 90);
    assert_eq!(compiled, simulated(&["--interpret"]));
    let kernel = Command::new(loader())
        .arg(made().object("sums.bpf.o"))
        .output();
    let kernel = kernel.expect("it starts");
    if !kernel.status.success() || !cfg!(target_arch = "x86_64") {
        let what = "**** SKIPPED: no kernel beside it: a program cannot be loaded here";
        let _ = writeln!(std::io::stderr(), "{what}");
        return;
    }
    let found = lines(&String::from_utf8_lossy(&kernel.stdout));
    for (at, (ours, theirs)) in compiled.iter().zip(&found).enumerate() {
        assert_eq!(ours, theirs, "pair {at}");
    }
    assert_eq!(compiled.len(), found.len());
}

//! Boots guests: minutes, and downloads of some 100 MB where the cache is empty. Run it with
//! `cargo test -p wakeplace-lab --test boot -- --ignored`.
//! Page: docs/guide/lab.md.
//!
//! What must stay: ignored by default: it boots and downloads. What is expected is of the command
//! and the platform, not of a run. Free: platforms, commands and times that only serve a boot.
//! Tests by part (in crates/lab/src): run.rs:
//! `an_x86_guest_runs_a_command_and_brings_back_what_it_did` (`run`, `collect`),
//! `a_loader_that_attaches_nothing_gives_no_result` (`add_scheduler`); packages.rs:
//! `a_guest_has_packages_and_systemd`; devicetree.rs:
//! `an_arm64_guest_has_the_capacities_and_the_energy_model_of_its_platform`; bootable.rs:
//! `a_kernel_of_the_users_own_is_booted` (`of_own`); modules.rs:
//! `a_kernel_of_the_users_own_has_operating_points_by_its_module`; scheduler.rs:
//! `a_guest_runs_anybodys_scheduler` (`add`); guest.rs:
//! `a_guest_that_hangs_is_ended_with_its_console`.
//! Helpers, and who fails with them: `request`, `boot` (all tests,
//! `an_x86_guest_runs_a_command_and_brings_back_what_it_did` among them); `own`
//! (`a_kernel_of_the_users_own_is_booted`,
//! `a_kernel_of_the_users_own_has_operating_points_by_its_module`); `loader`
//! (`a_loader_that_attaches_nothing_gives_no_result`, `a_guest_runs_anybodys_scheduler`).

use std::path::PathBuf;
use std::time::Duration;
use wakeplace_lab::kernels::WANTED;
use wakeplace_lab::machine::Machine;
use wakeplace_lab::outcome::Scheduler;
use wakeplace_lab::run::{Request, RunResult, TRACE_KB, Work, run};
use wakeplace_lab::scheduler::Loader;
use wakeplace_lab::{Arch, Choice, LabError, Watch};

struct Silent;

impl Watch for Silent {
    fn step(&self, _: &str) {}
    fn remark(&self, _: &str) {}
}

fn request(arch: Arch, platform: &str, script: &str) -> Request {
    Request {
        arch,
        machine: Machine::load(platform, arch, None).expect("a machine"),
        scheduler: Scheduler::Kernel,
        kernel: Choice::Newest,
        icount: None,
        timeout: Duration::from_secs(600),
        trace_kb: None,
        work: Work::Command(["sh", "-c", script].map(str::to_owned).to_vec()),
        files: Vec::new(),
        packages: Vec::new(),
        systemd: false,
        keep: None,
    }
}

fn boot(request: &Request) -> Result<RunResult, LabError> {
    run(&wakeplace_lab::cache().expect("a cache"), request, &Silent)
}

#[test]
#[ignore = "boots a guest"]
fn an_x86_guest_runs_a_command_and_brings_back_what_it_did() {
    let script = "hackbench -g 1 -l 10 && cat own && echo to-stderr >&2; exit 7";
    let mut request = request(Arch::X86_64, "generic", script);
    request.trace_kb = Some(TRACE_KB);
    let folder = tempfile::tempdir().expect("a folder");
    let own: PathBuf = folder.path().join("own");
    std::fs::write(&own, "from the host\n").expect("written");
    request.files.push(own);
    let result = boot(&request).expect("a result");
    assert_eq!(result.exit_code, 7);
    assert!(result.stdout.contains("Time:"), "{}", result.stdout);
    assert!(
        result.stdout.ends_with("from the host\n"),
        "{}",
        result.stdout
    );
    assert_eq!(result.stderr, "to-stderr\n");
    assert_eq!(result.scheduler.ran, "kernel");
    let trace = result.trace.expect("a trace");
    // 10 messages to each of 20 receivers from each of 20 senders.
    assert!(
        trace.events > 400 && trace.text.contains("sched_wakeup:"),
        "{}",
        trace.events
    );
}

#[test]
#[ignore = "boots a guest"]
fn a_guest_has_packages_and_systemd() {
    let script = "cat /proc/1/comm && systemctl is-system-running --wait && strace -V | head -n 1";
    let mut request = request(Arch::X86_64, "generic", script);
    request.packages = vec!["strace".parse().expect("a name")];
    request.systemd = true;
    let result = boot(&request).expect("a result");
    assert_eq!(result.exit_code, 0, "{}", result.stderr);
    let said: Vec<&str> = result.stdout.lines().collect();
    assert_eq!(said[..2], ["systemd", "running"]);
    assert!(said[2].starts_with("strace -- version"), "{}", said[2]);
}

#[test]
#[ignore = "boots a guest"]
fn an_arm64_guest_has_the_capacities_and_the_energy_model_of_its_platform() {
    let script = "cd /sys/kernel/debug/energy_model; for state in cpu*/ps:*; do \
                  echo $(cat $state/frequency $state/power); done; \
                  cat /sys/devices/system/cpu/cpu4/cache/index2/shared_cpu_list";
    let result = boot(&request(Arch::Arm64, "hikey960", script)).expect("a result");
    assert_eq!(
        result.guest["capacities"],
        serde_json::json!([462, 462, 462, 462, 1024, 1024, 1024, 1024])
    );
    assert_eq!(result.guest["perf_domains"], 2);
    assert_eq!(result.guest["energy_aware"], true);
    assert_eq!(result.guest["governor"], "schedutil");
    // hi3660.dtsi by drivers/opp/of.c: coefficient * mV^2 * MHz / 10^6, 110 and 550.
    for (mhz, mv, coefficient) in [
        (533, 700, 110),
        (999, 800, 110),
        (1402, 900, 110),
        (1709, 1000, 110),
        (1844, 1100, 110),
        (903, 700, 550),
        (1421, 800, 550),
        (1805, 900, 550),
        (2112, 1000, 550),
        (2362, 1100, 550),
    ] {
        let power = u64::from(coefficient as u32) * mv * mv * mhz / 1_000_000;
        let line = format!("{} {power}\n", mhz * 1000);
        assert!(result.stdout.contains(&line), "{line}{}", result.stdout);
    }
    assert!(result.stdout.ends_with("4-7\n"), "{}", result.stdout);
}

/// The image of the newest kernel in the cache, as a file of the user's.
fn own(arch: Arch, modules: bool) -> Choice {
    let cache = wakeplace_lab::cache().expect("a cache");
    let folder = cache.path(&format!("kernels/{}/{}", arch.debian(), WANTED[0]));
    let image = folder.join("vmlinuz");
    let modules = modules.then_some(folder.as_path());
    let choice = Choice::of(&image.display().to_string(), modules, arch);
    choice.expect("`wakeplace lab fetch` first")
}

#[test]
#[ignore = "boots a guest"]
fn a_kernel_of_the_users_own_is_booted() {
    let mut request = request(Arch::X86_64, "generic", "uname -r");
    request.kernel = own(Arch::X86_64, false);
    let result = boot(&request).expect("a result");
    assert_eq!(result.stdout.trim(), result.kernel.version());
    assert!(result.kernel.name().ends_with("vmlinuz"));
}

/// Goal: a module that the guest needs is loaded, and its absence stops nothing.
#[test]
#[ignore = "boots two guests"]
fn a_kernel_of_the_users_own_has_operating_points_by_its_module() {
    for (modules, domains) in [(true, 2), (false, 0)] {
        let mut request = request(Arch::Arm64, "hikey960", "true");
        request.kernel = own(Arch::Arm64, modules);
        let result = boot(&request).expect("a result");
        assert_eq!(result.guest["perf_domains"], domains);
    }
}

/// Anybody's program as a scheduler's loader.
fn loader(program: &str, args: &[&str]) -> Scheduler {
    Scheduler::Loader(Loader {
        text: program.to_owned(),
        program: PathBuf::from(program),
        object: None,
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
    })
}

#[test]
#[ignore = "boots a guest"]
fn a_loader_that_attaches_nothing_gives_no_result() {
    let mut request = request(Arch::X86_64, "generic", "true");
    request.scheduler = loader("/bin/sh", &["-c", "ls /boot; exit 5"]);
    let error = boot(&request).expect_err("no result").to_string();
    assert!(
        error.contains("it ended with exit code 5 before it ran"),
        "{error}"
    );
    assert!(error.contains("config-"), "{error}");
}

/// `LAB_SCHEDULER` names a program, as `scx_bpfland`.
#[test]
#[ignore = "boots a guest with the scheduler in LAB_SCHEDULER"]
fn a_guest_runs_anybodys_scheduler() {
    let program = std::env::var("LAB_SCHEDULER").expect("LAB_SCHEDULER: a program");
    let mut request = request(Arch::X86_64, "generic", "hackbench -g 1 -l 10");
    request.scheduler = loader(&program, &[]);
    let result = boot(&request).expect("a result");
    assert_eq!(
        (result.exit_code, result.scheduler.ran == "kernel"),
        (0, false)
    );
    assert_eq!(
        result.scheduler.exit_kind.as_deref(),
        Some("unregistered from user space")
    );
}

#[test]
#[ignore = "boots a guest"]
fn a_guest_that_hangs_is_ended_with_its_console() {
    let mut request = request(Arch::X86_64, "generic", "sleep 1000");
    request.timeout = Duration::from_secs(40);
    let error = boot(&request).expect_err("no result");
    assert!(
        matches!(error, LabError::Timeout { seconds: 40, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("lab: guest is up"), "{error}");
}

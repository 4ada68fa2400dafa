//! Prices worked out by hand, from the platforms' files.
//! Page: docs/guide/lab.md, "What a run costs".
//!
//! What must stay: joules are worked from the platform files; what is missing is said in one
//! sentence.
//! Tests by part (in crates/price/src): lib.rs (`of_command`, `of_job`, `energy_j`) and cost.rs:
//! all tests.
//! Helpers, and who fails with them: `request`, `result`, `line`, `switch`, `load` (all tests);
//! `command` (`an_x86_guest_is_priced_at_the_highest_operating_point`,
//! `a_cpu_is_busy_until_its_first_switch_says_so`, `what_is_missing_is_said`); `near`
//! (`an_x86_guest_is_priced_at_the_highest_operating_point`,
//! `a_cpu_is_busy_until_its_first_switch_says_so`, `a_job_is_priced_in_its_window`); `on_x86`
//! (`an_x86_guest_is_priced_at_the_highest_operating_point`, `what_is_missing_is_said`); `job`
//! (`a_job_is_priced_in_its_window`).

use super::*;
use serde_json::{Value, json};
use std::time::Duration;
use wakeplace_lab::machine::Machine;
use wakeplace_lab::outcome::{Scheduler, SchedulerReport};
use wakeplace_lab::run::TraceReport;
use wakeplace_lab::{Arch, Choice, Origin};

fn request(platform: &str, arch: Arch, work: Work) -> Request {
    Request {
        arch,
        machine: Machine::load(platform, arch, None).expect("built in"),
        scheduler: Scheduler::Kernel,
        kernel: Choice::Newest,
        icount: None,
        timeout: Duration::from_secs(1),
        trace_kb: Some(1),
        work,
        files: Vec::new(),
        packages: Vec::new(),
        systemd: false,
        keep: None,
    }
}

fn command() -> Work {
    Work::Command(vec!["own".to_owned()])
}

fn result(request: &Request, stdout: &str, trace: &str) -> RunResult {
    RunResult {
        arch: request.arch.name(),
        kernel: Origin::File {
            file: "Image".into(),
            version: "7.3.4".to_owned(),
            sha256: String::new(),
        },
        packages: Vec::new(),
        platform: request.machine.name.clone(),
        cpus: request.machine.cpus,
        emulator: String::new(),
        icount_ns: None,
        round_us: None,
        guest: Value::Null,
        scheduler: SchedulerReport {
            asked: "kernel".to_owned(),
            ran: "kernel".to_owned(),
            exit_kind: None,
            reasons: serde_json::Map::new(),
        },
        command: Vec::new(),
        exit_code: 0,
        result: Value::Null,
        trace: Some(TraceReport {
            events: trace.lines().count(),
            lost: 0,
            cut: false,
            text: trace.to_owned(),
        }),
        command_pid: Some(50),
        khz: vec![None; request.machine.cpus as usize],
        stdout: stdout.to_owned(),
        stderr: String::new(),
    }
}

/// A line of the kernel's.
fn line(at: &str, cpu: u32, event: &str) -> String {
    format!("          <...>-9     [{cpu:03}] d..2. {at}: {event}\n")
}

fn switch(at: &str, cpu: u32, prev: i32, next: i32) -> String {
    line(
        at,
        cpu,
        &format!("sched_switch: prev_comm=x prev_pid={prev} ==> next_comm=y next_pid={next}"),
    )
}

fn near(found: Option<f64>, joules: f64) -> bool {
    found.is_some_and(|found| (found - joules).abs() < 1e-5)
}

/// Two threads of the command run for a second on the guest's CPUs 0 and 1 of snb-laptop.
fn on_x86() -> String {
    [
        line(
            "1.000000",
            2,
            "sched_process_fork: comm=sh pid=7 child_comm=sh child_pid=50",
        ),
        line(
            "1.000000",
            2,
            "sched_process_fork: comm=sh pid=50 child_comm=own child_pid=51",
        ),
        line("1.000000", 2, "sched_waking: comm=own pid=51 prio=120"),
        line("1.000000", 2, "sched_waking: comm=kworker pid=9 prio=120"),
        switch("1.000000", 0, 0, 50),
        switch("1.000000", 1, 0, 51),
        switch("1.000000", 2, 9, 0),
        switch("2.000000", 0, 50, 0),
        switch("2.000000", 1, 51, 0),
    ]
    .concat()
}

/// Goal: an x86-64 guest is priced on the platform's own CPUs, at the only frequency it has.
/// Method: by hand, of platforms/snb-laptop.toml: the guest's CPUs 0 and 1 are the two threads of a
/// core, which draws 12,170,153 uW at 3.3 GHz and 1229/1024 of that with both busy; each of six
/// others draws 1,054,515 uW in C1, and the uncore 11,250,000.
#[test]
fn an_x86_guest_is_priced_at_the_highest_operating_point() {
    let request = request("snb-laptop", Arch::X86_64, command());
    let price = of(&result(&request, "", &on_x86()), &request);
    let watts = 12.170_153 * 1229.0 / 1024.0 + 6.0 * 1.054_515 + 11.25;
    assert!(near(price.cpu_energy_j, watts), "{price:?} {watts}");
    assert_eq!(price.window_s, Some(1.0));
    assert_eq!((price.tasks, price.wakeups), (2, 1));
    assert!(
        price.remarks[0].contains("highest operating point"),
        "{price:?}"
    );
}

/// Goal: a CPU that runs a task as the trace begins is busy until it says otherwise.
#[test]
fn a_cpu_is_busy_until_its_first_switch_says_so() {
    let request = request("snb-laptop", Arch::X86_64, command());
    let fork = "sched_process_fork: comm=sh pid=7 child_comm=sh child_pid=50";
    let both = |prev: i32| {
        let text = [
            line("1.000000", 2, fork),
            switch("2.000000", 2, prev, 0),
            switch("3.000000", 0, 0, 50),
        ];
        of(&result(&request, "", &text.concat()), &request).cpu_energy_j
    };
    let (idle, busy) = (both(0).expect("known"), both(9));
    assert!(near(busy, idle + 12.170_153 - 1.054_515), "{idle} {busy:?}");
}

fn load(khz: [Option<u64>; 2]) -> String {
    let cpus = (0..8).map(|cpu| {
        json!({"cpu": cpu, "capacity": 1024, "khz_max": 1,
               "khz_at_window_begin": khz[usize::from(cpu > 3)]})
    });
    let task = json!({
        "name": "t0", "task": 0, "tid": 77, "jobs": 1, "late_jobs": 0, "lateness_ns_max": 0,
        "cpu_ns": 1, "cpu_ns_window": 1, "cpu_run_ns": {"2": 30}, "run_share": {},
        "scaled_ns_window": 1, "scaled_duty": 0.25, "job_scaled_ns_min": 1,
        "job_scaled_ns_mean": 1, "job_scaled_ns_max": 1, "wakeups": 1, "cpu_changes": 0,
    });
    json!({
        "command": "load", "held": true, "failures": [], "start_ns": 0,
        "window_begin_ns": 2_000_000_000_u64, "window_end_ns": 3_000_000_000_u64,
        "frequency_invariant": true, "traced": true, "cpus": cpus.collect::<Vec<_>>(),
        "tasks": [task],
    })
    .to_string()
}

fn job() -> Work {
    Work::Job {
        workload: "periodic".to_owned(),
        job: String::new(),
    }
}

/// Goal: a job's window and frequencies are those that it tells. Method: by hand, of
/// platforms/hikey960.toml: an A73 draws 243,358 uW at 903 MHz and 21,728 in WFI; four A53 5,223
/// each in WFI, their cluster 12,000 at 533 MHz.
#[test]
fn a_job_is_priced_in_its_window() {
    let request = request("hikey960", Arch::Arm64, job());
    let text = [
        line("2.000000", 4, "sched_waking: comm=t0 pid=77 prio=120"),
        switch("2.000020", 4, 0, 77),
        switch("2.500020", 4, 77, 0),
        line("2.700000", 4, "sched_waking: comm=t0 pid=77 prio=120"),
        switch("2.700030", 4, 0, 77),
        switch("2.700031", 4, 77, 0),
    ];
    let priced = |khz| of(&result(&request, &load(khz), &text.concat()), &request);
    let price = priced([Some(533_000), Some(903_000)]);
    let idle = 4.0 * 0.005_223 + 0.012 + 4.0 * 0.021_728;
    let busy_s = 0.500_001;
    let joules = idle + busy_s * (0.243_358 - 0.021_728);
    assert!(near(price.cpu_energy_j, joules), "{price:?} {joules}");
    assert_eq!((price.tasks, price.wakeups), (1, 2));
    let waits = [
        price.wake_latency_us_p50,
        price.wake_latency_us_p99,
        price.wake_latency_us_max,
    ];
    assert_eq!(waits, [Some(20.0), Some(30.0), Some(30.0)]);
    assert_eq!(price.remarks, Vec::<String>::new());
    // A frequency that the platform does not have is no figure.
    let price = priced([Some(533_000), Some(903_001)]);
    assert_eq!(price.cpu_energy_j, None);
    assert!(
        price.remarks[0].starts_with("no energy: the trace does not say"),
        "{price:?}"
    );
}

/// Goal: where a figure is missing one sentence says why, and the others are there.
#[test]
fn what_is_missing_is_said() {
    let why = |request: &Request, result: &RunResult| {
        let price = of(result, request);
        assert_eq!((price.cpu_energy_j, price.remarks.len()), (None, 1));
        (price.wakeups, price.remarks[0].clone())
    };
    for (platform, what) in [
        ("generic", "machine generic has no power model"),
        ("zen4-7950x", "platform zen4-7950x has no powers in watts"),
    ] {
        let mut request = request("generic", Arch::X86_64, command());
        request.machine = Machine::load(platform, Arch::X86_64, Some(4)).expect("built in");
        let (wakeups, said) = why(&request, &result(&request, "", &on_x86()));
        assert_eq!((wakeups, said), (1, format!("no energy: {what}")));
    }
    let request = request("snb-laptop", Arch::X86_64, command());
    let whole = result(&request, "", &on_x86());
    let none = |change: &dyn Fn(&mut RunResult), what: &str| {
        let mut result = whole.clone();
        change(&mut result);
        let (wakeups, said) = why(&request, &result);
        assert_eq!(wakeups, 0);
        assert!(
            said.starts_with("no energy and no latency: ") && said.contains(what),
            "{said}"
        );
    };
    none(&|result| result.trace = None, "has no tracer");
    none(&|result| result.command_pid = None, "did not tell");
    let change = |lost, cut| {
        move |result: &mut RunResult| {
            if let Some(trace) = &mut result.trace {
                (trace.lost, trace.cut) = (lost, cut);
            }
        }
    };
    none(&change(3, false), "lacks 3 events");
    none(&change(0, true), "too large");
}

//! Which callbacks of a scheduler come, and in which order: in the simulator as the rules say it
//! (docs/rules/sched-ext.md#tasks), and, where WAKEPLACE_CALLBACKS_KERNELS names kernels
//! ("7.3.4,6.18.15"), as in a guest with that kernel. The scheduler is callbacks.bpf.c in both; the
//! form that wants tasks to run at once is for kernels that can do that.
//!
//! What must stay: the order is the page's; a kernel, where one is named, is compared with and
//! never copied from. callbacks.bpf.c is crates/foreign/tests/schedulers/callbacks.bpf.c.
//! Tests by part (in crates/cli/src): crates/sched-ext and
//! crates/engine/src/kernel/model/sched_ext: all tests.
//! Helpers, and who fails with them: `read`, `folder`, `ran`, `simulated`, `recorded`, `agreement`,
//! `say`, `compare`, `knows_immed`, `small_kernel` (all tests); `assert_cycle` (most tests);
//! `position` (`of_a_task_that_is_given_other_cpus`).

use crate::common::{assert_code, program, stderr};
use crate::schedulers::made;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Two tasks wake each other.
const PING_PONG: &str = r#"{"global": {"calibration": 1000}, "tasks": {
    "tella": {"loop": -1, "run": 300, "sem_post": "ping", "sem_wait": "pong"},
    "tellb": {"loop": -1, "sem_wait": "ping", "run": 300, "sem_post": "pong"}}}"#;
/// Two tasks share a CPU, each for a slice.
const SLICES: &str = r#"{"global": {"calibration": 1000}, "tasks": {
    "tella": {"cpus": [1], "loop": -1, "run": 200000},
    "tellb": {"cpus": [1], "loop": -1, "run": 200000}}}"#;
/// One task is sent from CPU to CPU.
const AFFINITY: &str = r#"{"global": {"calibration": 1000}, "tasks": {
    "tella": {"loop": -1, "phases": {
        "x": {"cpus": [1], "loop": 4, "run": 2000, "sleep": 6000},
        "y": {"cpus": [2], "loop": 4, "run": 2000, "sleep": 6000},
        "z": {"cpus": [1, 2, 3], "loop": 2, "run": 2000, "sleep": 6000}}}}}"#;

/// On a CPU that is never free one task runs on and one wakes again and again.
const BUSY: &str = r#"{"global": {"calibration": 1000}, "tasks": {
    "hog": {"cpus": [1], "loop": -1, "run": 200000},
    "tell": {"cpus": [1], "loop": -1, "run": 1000, "sleep": 17000}}}"#;
/// What a task that wakes on an idle CPU brings, until it sleeps: SCX_WAKE_TTWU, SCX_ENQ_WAKEUP,
/// SCX_DEQ_SLEEP.
const WAKE_TO_SLEEP: [&str; 5] = [
    "select_cpu 8",
    "runnable 1",
    "running 0",
    "stopping 0",
    "quiescent 1",
];
/// The objects.
const QUEUED: &str = "callbacks.bpf.o";
const IMMED: &str = "callbacks_IMMED.bpf.o";
const CURRENT: &str = "callbacks_CURRENT.bpf.o";

/// Callbacks of each task, with their flags, in their order.
type Callbacks = BTreeMap<String, Vec<String>>;

fn read(log: &Path) -> Callbacks {
    let text = String::from_utf8_lossy(&fs::read(log).expect("a log")).into_owned();
    let mut all = Callbacks::new();
    for line in text.lines() {
        if let ["callback", task, what, flags] = line.split(' ').collect::<Vec<_>>()[..] {
            let of = all.entry(task.to_owned()).or_default();
            of.push(format!("{what} {flags}"));
        }
    }
    all
}

/// A folder with the scheduler, its object and a workload, in which a command is run.
fn folder(workload: &str, object: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::copy(made().example("callbacks"), at("callbacks")).expect("copied");
    fs::copy(made().object(object), at("scheduler.bpf.o")).expect("copied");
    fs::write(at("app.json"), workload).expect("written");
    folder
}

fn ran(mut command: Command, what: &str) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{what}: {}", stderr(&output));
}

/// What the simulator calls.
fn simulated(workload: &str, object: &str, kernel: &str) -> Callbacks {
    let folder = folder(workload, object);
    let log = folder.path().join("log");
    let mut command = program(folder.path());
    command
        .env("WAKEPLACE_LOADER_OUTPUT", &log)
        .args(["sim", "--platform", "hikey960", "--workload", "app.json"])
        .args(["--duration", "2s", "--quiet", "--kernel", kernel])
        .args(["--scheduler", "./callbacks scheduler.bpf.o"]);
    let output = command.output().expect("it starts");
    assert_code(&output, 0);
    let all = read(&log);
    assert!(
        !all.is_empty() && all.values().all(|of| of.len() > 100),
        "{all:?}"
    );
    all
}

/// What a kernel calls in a guest of four CPUs, whose clock counts instructions.
fn recorded(workload: &str, object: &str, kernel: &str) -> Callbacks {
    let folder = folder(workload, object);
    let mut command = program(folder.path());
    command
        .args([
            "lab",
            "run",
            "--arch",
            std::env::consts::ARCH,
            "--kernel",
            kernel,
        ])
        .args([
            "--icount",
            "--workload",
            "app.json",
            "--duration",
            "2s",
            "--keep",
            "kept",
        ])
        .args(["--scheduler", "./callbacks scheduler.bpf.o"])
        .args(["--add", "scheduler.bpf.o"]);
    ran(command, "the guest");
    read(&folder.path().join("kept/scheduler.log"))
}

/// So many in a row are the same, from some place of the kernel's on, as the simulator's.
fn agreement(kernel: &[String], simulated: &[String]) -> usize {
    let same = |from: &[String]| {
        let pairs = from.iter().zip(simulated);
        pairs.take_while(|(a, b)| a == b).count()
    };
    let starts = 0..kernel.len().min(400);
    starts.map(|at| same(&kernel[at..])).max().unwrap_or(0)
}

fn say(what: &str) {
    let _ = writeln!(std::io::stderr(), "{what}");
}

/// Compares with kernels, if some are named. Of a task the first callbacks differ: in a guest it is
/// named when it runs already, and sets itself up.
fn compare(name: &str, workload: &str, object: &str) {
    let Ok(kernels) = std::env::var("WAKEPLACE_CALLBACKS_KERNELS") else {
        say("**** no kernel beside it: WAKEPLACE_CALLBACKS_KERNELS is not set");
        return;
    };
    for version in kernels.split(',') {
        if object == IMMED && !knows_immed(version) {
            say(&format!(
                "{name}: Linux {version} does not know SCX_ENQ_IMMED"
            ));
            continue;
        }
        let kernel = recorded(workload, object, version);
        let simulated = simulated(workload, object, version);
        for (task, callbacks) in &simulated {
            let (first, least) = (12.min(callbacks.len()), 150.min(callbacks.len() * 3 / 4));
            let same = agreement(&kernel[task], &callbacks[first..]);
            let whole = callbacks.len() - first;
            say(&format!(
                "{name}, Linux {version}, {task}: {same} of {whole} callbacks the same in a row"
            ));
            assert!(same >= least, "{name}, Linux {version}, {task}");
        }
    }
}

/// 7.1 or later (docs/rules/sched-ext.md#immed).
fn knows_immed(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse::<u32>());
    let mut next = || numbers.next().expect("a version").expect("a number");
    (next(), next()) >= (7, 1)
}

/// The same callbacks again and again, after the first ones.
fn assert_cycle(callbacks: &[String], cycle: &[&str], rounds: usize) {
    let from = callbacks.iter().position(|callback| callback == cycle[0]);
    let from = from.expect("it comes");
    let expected = cycle.iter().cycle().take(rounds * cycle.len());
    let found: Vec<&str> = callbacks[from..].iter().map(String::as_str).collect();
    let expected: Vec<&str> = expected.copied().collect();
    assert_eq!(found[..expected.len()], expected[..]);
}

fn small_kernel() -> String {
    made().object("7.3.0-small.btf")
}

/// Goal: a task that wakes on an idle CPU is dispatched directly, so there is no `enqueue`; flags
/// are SCX_WAKE_TTWU, SCX_ENQ_WAKEUP and SCX_DEQ_SLEEP (docs/rules/sched-ext.md#tasks, #insert).
#[test]
fn of_a_ping_pong() {
    for callbacks in simulated(PING_PONG, QUEUED, &small_kernel()).values() {
        assert_cycle(callbacks, &WAKE_TO_SLEEP, 50);
    }
    compare("ping-pong", PING_PONG, QUEUED);
}

/// Goal: at the end of its slice a task stops, and is enqueued again; it does not become runnable
/// anew (docs/rules/sched-ext.md#tasks).
#[test]
fn of_slices_that_end() {
    for callbacks in simulated(SLICES, QUEUED, &small_kernel()).values() {
        let last = &callbacks[callbacks.len() / 2..];
        assert_cycle(last, &["stopping 1", "enqueue 0", "running 0"], 20);
    }
    compare("slices", SLICES, QUEUED);
}

/// Goal: a CPU whose task has fallen asleep looks for another while that one is still its current
/// task, by both calls that tell it (docs/rules/sched-ext.md#dispatch).
#[test]
fn of_a_ping_pong_whose_tasks_are_current_to_the_end() {
    for callbacks in simulated(PING_PONG, CURRENT, &small_kernel()).values() {
        let cycle = [&WAKE_TO_SLEEP[..], &["dispatch 3"]].concat();
        assert_cycle(callbacks, &cycle, 50);
    }
    compare("ping-pong, current", PING_PONG, CURRENT);
}

/// Goal: at the end of a slice the CPU looks for another task before its own one stops, and that
/// one is the current task until the other runs (docs/rules/sched-ext.md#dispatch).
#[test]
fn of_slices_that_end_after_a_look() {
    for callbacks in simulated(SLICES, CURRENT, &small_kernel()).values() {
        let last = &callbacks[callbacks.len() / 2..];
        let cycle = [
            "dispatch 3",
            "stopping 1",
            "enqueue 0",
            "current 3",
            "running 0",
        ];
        assert_cycle(last, &cycle, 20);
    }
    compare("slices, current", SLICES, CURRENT);
}

/// Goal: a task that is to run at once does so on an idle CPU (docs/rules/sched-ext.md#immed): all
/// is as if the scheduler did not ask for it.
#[test]
fn of_a_ping_pong_that_runs_at_once() {
    let kernel = small_kernel();
    let at_once = simulated(PING_PONG, IMMED, &kernel);
    assert_eq!(at_once, simulated(PING_PONG, QUEUED, &kernel));
    compare("ping-pong at once", PING_PONG, IMMED);
}

/// Goal: a task that cannot run at once, since its CPU runs another, is enqueued again with
/// SCX_ENQ_REENQ and the reason SCX_TASK_REENQ_IMMED, 2 << 12 (docs/rules/sched-ext.md#immed).
#[test]
fn of_a_busy_cpu_where_a_task_cannot_run_at_once() {
    let all = simulated(BUSY, IMMED, &small_kernel());
    let callbacks = all.values().next().expect("a task");
    let cycle = [
        "runnable 1",
        "enqueue 1",
        "enqueue 0",
        "again 8192",
        "running 0",
        "stopping 0",
        "quiescent 1",
    ];
    assert_cycle(&callbacks[30..], &cycle, 50);
    compare("busy", BUSY, IMMED);
}

/// Goal: a running task that is given other CPUs goes off its queue and on again, and is told of
/// them once; the same CPUs as before are no change (docs/rules/sched-ext.md#tasks).
#[test]
fn of_a_task_that_is_given_other_cpus() {
    let all = simulated(AFFINITY, QUEUED, &small_kernel());
    let callbacks = all.values().next().expect("a task");
    let change = [
        "stopping 0",
        "quiescent 0",
        "set_cpumask 3",
        "runnable 0",
        "running 0",
    ];
    assert_cycle(
        &callbacks[position(callbacks, "set_cpumask 3") - 2..],
        &change,
        1,
    );
    // Each round changes three times, and sleeps ten times.
    let count = |what: &str| {
        callbacks
            .iter()
            .filter(|callback| **callback == what)
            .count()
    };
    let (changes, sleeps) = (
        count("set_cpumask 1") + count("set_cpumask 3"),
        count("quiescent 1"),
    );
    assert!(
        (changes * 10).abs_diff(sleeps * 3) <= 30,
        "{changes} changes, {sleeps} sleeps"
    );
    compare("affinity", AFFINITY, QUEUED);
}

fn position(callbacks: &[String], what: &str) -> usize {
    let at = callbacks.iter().position(|callback| callback == what);
    at.expect("it comes")
}

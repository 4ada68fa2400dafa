//! A CPU that a higher class takes, and gives back.
//!
//! What must stay: a scheduler hears of a CPU that is gone and that is back in turns, never twice.
//! Tests by part: `a_cpu_is_released_and_acquired_in_turns`, `a_cpu_that_idled_is_not_released`
//! (cpu_release and cpu_acquire: crates/engine/src/kernel/model/sched_ext).
//! Helpers, and who fails with them: `heard` (all tests). `cpu_acquire` and `cpu_release` write
//! down what is heard. Rule: docs/rules/sched-ext.md#dispatch.

use crate::common::*;
use wakeplace_engine::RunReport;
use wakeplace_engine::sched_ext::{
    Callback, Exit, Kernel, OpsInfo, ReleaseReason, SchedExtOps, TaskId,
};
use wakeplace_workload::{Loops, RealTime, TaskScript};

/// What the scheduler heard of a CPU, at which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Released(u64, ReleaseReason, Option<u64>),
    Acquired(u64),
}

/// A scheduler that listens, and leaves all else to the kernel: tasks wait in the global queue.
#[derive(Debug, Default)]
struct Listener {
    heard: Vec<Heard>,
}

impl SchedExtOps for Listener {
    fn info(&self) -> OpsInfo {
        let ears = [Callback::CpuAcquire, Callback::CpuRelease];
        OpsInfo {
            name: "listener".to_owned(),
            callbacks: ears.into_iter().collect(),
            ..OpsInfo::default()
        }
    }

    fn cpu_acquire(&mut self, kernel: &mut dyn Kernel, _cpu: i32) -> Result<(), Exit> {
        self.heard.push(Heard::Acquired(kernel.now_ns()));
        Ok(())
    }

    fn cpu_release(
        &mut self,
        kernel: &mut dyn Kernel,
        _cpu: i32,
        reason: ReleaseReason,
        task: Option<TaskId>,
    ) -> Result<(), Exit> {
        let pid = task.map(|task| u64::from(kernel.task(task).pid.unsigned_abs()));
        self.heard
            .push(Heard::Released(kernel.now_ns(), reason, pid));
        Ok(())
    }
}

/// One CPU; a real-time task that runs 1 ms and sleeps 9 ms, beside others.
fn heard(others: Vec<TaskScript>) -> (Vec<Heard>, RunReport, Log) {
    let mut high = script(
        Loops::Forever,
        vec![phase(1, None, &[run_ms(1), sleep_ms(9)])],
    );
    high.attributes.realtime = Some(RealTime::Fifo { priority: 50 });
    let mut tasks = vec![high];
    tasks.extend(others);
    let mut ops = Listener::default();
    let platform = Board::symmetric(1).platform();
    let (policy, load) = (policy("linux-7.3", &[]), workload(tasks, vec![]));
    let (report, log) = simulate_sched_ext(&platform, &policy, &load, &all_off(S), &mut ops);
    // The first 1 ms is taken from the task of the class that starts the program.
    let at = |heard: &Heard| match *heard {
        Heard::Released(at, ..) | Heard::Acquired(at) => at,
    };
    ops.heard.retain(|heard| at(heard) > 2 * MS);
    (ops.heard, report, log)
}

/// Goal: each time the real-time task displaces a task of the class, the scheduler hears once that
/// the CPU is gone, who took it, and then that it is back. Source:
/// docs/rules/sched-ext.md#dispatch.
#[test]
fn a_cpu_is_released_and_acquired_in_turns() {
    let (heard, _, log) = heard(vec![hog(None)]);
    // The first stretch of each may begin on a CPU that idles.
    let starts: Vec<u64> = log.stretches(0).iter().map(|s| s.from).collect();
    assert!(starts.len() >= 90, "{}", starts.len());
    let mut takers = Vec::new();
    for (number, pair) in heard.chunks(2).enumerate() {
        let &[Heard::Released(gone, reason, taker), ref back @ ..] = pair else {
            panic!("{number}: {pair:?}");
        };
        assert_eq!(reason, ReleaseReason::Rt);
        assert!(
            starts.iter().any(|at| at.abs_diff(gone) <= 100_000),
            "{gone}"
        );
        takers.push(taker);
        match back {
            // The task runs for 1 ms, at the CPU's own speed.
            [Heard::Acquired(at)] => assert!((MS..2 * MS).contains(&(at - gone)), "{pair:?}"),
            [] => assert_eq!(number, heard.len() / 2, "the run may end in between"),
            other => panic!("{number}: {other:?}"),
        }
    }
    assert!(
        takers.len() + 1 >= starts.len(),
        "{} of {}",
        takers.len(),
        starts.len()
    );
    takers.dedup();
    assert!(matches!(takers[..], [Some(_)]), "{takers:?}");
}

/// Goal: a CPU that idled was not the scheduler's, so it hears of nothing. Source:
/// docs/rules/sched-ext.md#dispatch (`switch_class`).
#[test]
fn a_cpu_that_idled_is_not_released() {
    let (heard, report, _) = heard(Vec::new());
    assert!(report.tasks[0].run_ns >= 90 * MS);
    assert_eq!(heard, []);
}

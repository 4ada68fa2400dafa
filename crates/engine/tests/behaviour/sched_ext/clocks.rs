//! Clocks of run queues, and the user time of tasks, as a scheduler reads them.
//! Rule: docs/rules/sched-ext.md#rq-clocks.
//!
//! What must stay: what a scheduler may read in which callback, and that its clocks are of now
//! there. `Kernel::rq_clock` and `Kernel::task` are what is read.
//! Tests by part (in crates/engine/src): kernel/model/sched_ext (`tell_ext_clocks`):
//! `clocks_advance_by_the_time_that_a_task_runs`, `ticks_count_as_user_time`.
//! Helpers, and who fails with them: `stretches` (all tests). `running` and `stopping` of its
//! scheduler call `read`.

use crate::common::*;
use wakeplace_engine::sched_ext::{Callback, Exit, Kernel, OpsInfo, RqClock, SchedExtOps, TaskId};
use wakeplace_workload::Loops;

/// What the clocks of a task's CPU say as it begins and stops.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at_ns: u64,
    cpu: u32,
    clock: RqClock,
    begins: bool,
    ticks: u64,
}

/// A scheduler that reads clocks, and leaves all else to the kernel.
#[derive(Debug, Default)]
struct Reader {
    seen: Vec<Seen>,
}

impl Reader {
    fn read(&mut self, kernel: &dyn Kernel, task: TaskId, begins: bool) {
        let facts = kernel.task(task);
        self.seen.push(Seen {
            at_ns: kernel.now_ns(),
            cpu: facts.cpu,
            clock: kernel.rq_clock(facts.cpu),
            begins,
            ticks: facts.ticks,
        });
    }
}

impl SchedExtOps for Reader {
    fn info(&self) -> OpsInfo {
        let all = [Callback::Running, Callback::Stopping];
        OpsInfo {
            name: "reader".to_owned(),
            callbacks: all.into_iter().collect(),
            ..OpsInfo::default()
        }
    }

    fn running(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        self.read(kernel, task, true);
        Ok(())
    }

    fn stopping(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        _runnable: bool,
    ) -> Result<(), Exit> {
        self.read(kernel, task, false);
        Ok(())
    }
}

/// One task on CPU 0, the other on CPU 1 with half the capacity: 10 ms of the big CPU's work, then
/// 10 ms of sleep. Stretches that have an end, without the first milliseconds.
fn stretches() -> Vec<[Seen; 2]> {
    let events = [run_ms(10), sleep_ms(10)];
    let on = |cpu: u32| script(Loops::Forever, vec![phase(1, Some(&[cpu]), &events)]);
    let board = Board {
        clusters: vec![(1, 1024), (1, 512)],
        ..Board::symmetric(2)
    };
    let mut ops = Reader::default();
    let (policy, load) = (
        policy("linux-7.3", &[]),
        workload(vec![on(0), on(1)], vec![]),
    );
    let _ = simulate_sched_ext(&board.platform(), &policy, &load, &all_off(S), &mut ops);
    let mut all = Vec::new();
    for cpu in 0..2 {
        let mine: Vec<Seen> = ops
            .seen
            .iter()
            .copied()
            .filter(|seen| seen.cpu == cpu)
            .collect();
        let pairs = mine.windows(2).map(|pair| [pair[0], pair[1]]);
        all.extend(pairs.filter(|[from, to]| {
            from.at_ns > 5 * MS && from.begins && !to.begins && to.at_ns > from.at_ns
        }));
    }
    assert!(all.len() > 50, "{}", all.len());
    all
}

/// Goal: where a callback has the run queue locked its clocks are of now, so from a task's start to
/// its stop `clock` and `clock_task` advance by the time between, and `clock_pelt` by that times
/// capacity. Source: docs/rules/sched-ext.md#rq-clocks, docs/rules/signals.md#pelt-clock.
#[test]
fn clocks_advance_by_the_time_that_a_task_runs() {
    for [from, to] in stretches() {
        let ran = to.at_ns - from.at_ns;
        let (a, b) = (from.clock, to.clock);
        assert_eq!(b.clock_ns - a.clock_ns, ran, "{from:?} {to:?}");
        assert_eq!(b.clock_task_ns - a.clock_task_ns, ran, "{from:?} {to:?}");
        let scaled = ran >> from.cpu; // 1024 and 512
        let pelt = b.clock_pelt_ns - b.lost_idle_ns - (a.clock_pelt_ns - a.lost_idle_ns);
        // Each update rounds down.
        assert!(
            (scaled - 100..=scaled).contains(&pelt),
            "{pelt} of {scaled}: {from:?} {to:?}"
        );
    }
}

/// Goal: user time is the ticks that find the task running, 4 ms each. Source:
/// docs/rules/sched-ext.md#rq-clocks.
#[test]
fn ticks_count_as_user_time() {
    for [from, to] in stretches() {
        let (ran, counted) = (to.at_ns - from.at_ns, (to.ticks - from.ticks) * 4 * MS);
        assert!(
            ran.abs_diff(counted) <= 4 * MS,
            "{counted} of {ran}: {from:?} {to:?}"
        );
    }
}

//! Tasks that run at once or are enqueued again (docs/rules/sched-ext.md#immed).
//!
//! What must stay: reasons and the limit of 256 are the kernel's. `Immed` is the scheduler of all
//! tests; its callbacks are called by the class. Free: names and numbers of tasks.
//! Tests by part (in crates/sched-ext/src): class/balance.rs: `who_displaces_runs_at_once`
//! (`pick_task`, `balance`); class/immed.rs: `a_higher_class_sends_them_back` (`set_others`),
//! `what_cannot_run_at_once_is_enqueued_again` (`reenqueue_immed`, `enqueue_again`),
//! `two_tasks_do_not_stay` (`is_open`), `a_scheduler_that_insists_ends` (`repeats`),
//! `a_scheduler_can_mean_it_always`, `older_kernels_let_them_wait`, `other_queues_do_not_take_it`
//! (`vet_enq_flags`).
//! Helpers, and who fails with them: `heard`, `wakes` (all tests,
//! `what_cannot_run_at_once_is_enqueued_again` among them); `takes` (most tests,
//! `what_cannot_run_at_once_is_enqueued_again` among them).

use crate::kernel::{add_tasks, asking, eight_cpus};
use wakeplace_sched_ext::class::{ExtClass, Join, Setup};
use wakeplace_sched_ext::consts::{
    SCX_DSQ_LOCAL, SCX_ENQ_IMMED, SCX_ENQ_PREEMPT, SCX_ENQ_REENQ, SCX_OPS_ALWAYS_ENQ_IMMED,
    SCX_SLICE_DFL, SCX_TASK_IMMED, SCX_TASK_REENQ_REASON_MASK,
};
use wakeplace_sched_ext::{Callback, Exit, Kernel, OpsInfo, ReleaseReason, SchedExtOps, TaskId};

/// The scheduler's own queue.
const SHARED: u64 = 5;

/// Puts what wakes into the local queue of CPU 0, and what comes back wherever it is told.
struct Immed {
    kernel: (u16, u16),
    ops_flags: u64,
    /// Flags of the first insertion.
    flags: u64,
    /// Queue and flags for a task that comes again.
    again: (u64, u64),
    heard: Vec<String>,
}

impl Default for Immed {
    fn default() -> Self {
        Self {
            kernel: (7, 1),
            ops_flags: 0,
            flags: SCX_ENQ_IMMED,
            again: (SHARED, 0),
            heard: Vec::new(),
        }
    }
}

impl SchedExtOps for Immed {
    fn info(&self) -> OpsInfo {
        let all = [Callback::Init, Callback::SelectCpu, Callback::Enqueue];
        OpsInfo {
            callbacks: all.into_iter().collect(),
            kernel: self.kernel,
            flags: self.ops_flags,
            ..asking()
        }
    }

    fn init(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        Ok(kernel.create_dsq(SHARED, -1))
    }

    fn select_cpu(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        _prev_cpu: i32,
        _wake_flags: u64,
    ) -> Result<i32, Exit> {
        kernel.dsq_insert(task, SCX_DSQ_LOCAL, SCX_SLICE_DFL, self.flags);
        Ok(0)
    }

    fn enqueue(&mut self, kernel: &mut dyn Kernel, task: TaskId, flags: u64) -> Result<(), Exit> {
        let again = if flags == SCX_ENQ_REENQ { "again" } else { "" };
        let scx_flags = kernel.task(task).scx_flags;
        assert_eq!(scx_flags & SCX_TASK_IMMED, 0, "it is in no local queue");
        let reason = (scx_flags & SCX_TASK_REENQ_REASON_MASK) >> 12;
        self.heard.push(format!("{} {again} {reason}", task.0));
        kernel.dsq_insert(task, self.again.0, SCX_SLICE_DFL, self.again.1);
        Ok(())
    }
}

/// What the scheduler hears of tasks 0 to 2 while this is done, and how it ends.
fn heard(mut ops: Immed, act: impl FnOnce(&mut ExtClass<'_>)) -> (Vec<String>, Option<String>) {
    let setup = Setup {
        cpus: eight_cpus(),
        ..Setup::default()
    };
    let mut class = ExtClass::new(&mut ops, setup);
    class.load();
    add_tasks(&mut class, 3);
    act(&mut class);
    let exit = class.exit().map(|exit| exit.message.clone());
    (ops.heard, exit)
}

fn wakes(class: &mut ExtClass<'_>, task: u32) {
    let cpu = class.select_task_rq(TaskId(task), 0, 0);
    class.enqueue_task(TaskId(task), cpu, Join::Wakeup);
}

/// CPU 0 looks at its queue, and takes this one.
fn takes(class: &mut ExtClass<'_>, task: u32) {
    assert!(!class.balance(0, false));
    assert_eq!(class.pick_task(0), Some(TaskId(task)));
    class.set_next_task(TaskId(task), 0);
}

/// Goal: on an idle CPU a task stays, and runs. While it runs another one cannot: it is enqueued
/// again, for reason 2.
#[test]
fn what_cannot_run_at_once_is_enqueued_again() {
    let (told, exit) = heard(Immed::default(), |class| {
        wakes(class, 0);
        takes(class, 0);
        wakes(class, 1);
    });
    assert_eq!((told, exit), (vec!["1 again 2".into()], None));
}

/// Goal: a CPU to which a task has come is not open until it has looked at its queue: of two tasks
/// neither stays.
#[test]
fn two_tasks_do_not_stay() {
    let (told, _) = heard(Immed::default(), |class| {
        wakes(class, 0);
        wakes(class, 1);
    });
    assert_eq!(told, ["0 again 2", "1 again 2"]);
}

/// Goal: a scheduler that says so for all its local queues need not say it each time.
#[test]
fn a_scheduler_can_mean_it_always() {
    let ops = Immed {
        ops_flags: SCX_OPS_ALWAYS_ENQ_IMMED,
        flags: 0,
        ..Immed::default()
    };
    let (told, _) = heard(ops, |class| {
        wakes(class, 0);
        takes(class, 0);
        wakes(class, 1);
    });
    assert_eq!(told, ["1 again 2"]);
}

/// Goal: who displaces what runs is not enqueued again; what it displaces has no slice left, so it
/// is enqueued as ever.
#[test]
fn who_displaces_runs_at_once() {
    let ops = Immed {
        flags: SCX_ENQ_IMMED | SCX_ENQ_PREEMPT,
        ..Immed::default()
    };
    let (told, _) = heard(ops, |class| {
        wakes(class, 0);
        takes(class, 0);
        wakes(class, 1);
        assert!(!class.balance(0, true));
        class.stop_task(TaskId(0), 0);
        class.put_prev_task(TaskId(0), 0);
        assert_eq!(class.pick_task(0), Some(TaskId(1)));
    });
    assert_eq!(told, ["0  0"]);
}

/// Goal: where a task of a higher class comes, one that waits is enqueued again (reason 2), and so
/// is one that ran and has some of its slice left (reason 3).
#[test]
fn a_higher_class_sends_them_back() {
    let (told, _) = heard(Immed::default(), |class| {
        wakes(class, 0);
        class.set_others(0, 1);
        class.set_others(0, 0);
        class.balance(0, false);
        wakes(class, 1);
        takes(class, 1);
        class.set_others(0, 1);
        class.displace(0, ReleaseReason::Rt, None);
        class.stop_task(TaskId(1), 0);
        class.put_prev_task(TaskId(1), 0);
    });
    assert_eq!(told, ["0 again 2", "1 again 3"]);
}

/// Goal: a kernel before 7.1 does not know the flag: all tasks wait in the local queue.
#[test]
fn older_kernels_let_them_wait() {
    let ops = Immed {
        kernel: (6, 18),
        ..Immed::default()
    };
    let (told, exit) = heard(ops, |class| {
        wakes(class, 0);
        takes(class, 0);
        wakes(class, 1);
    });
    assert_eq!((told, exit), (Vec::new(), None));
}

/// Goal: a scheduler that answers with the same queue again and again ends after 256 repeats.
#[test]
fn a_scheduler_that_insists_ends() {
    let ops = Immed {
        again: (SCX_DSQ_LOCAL, SCX_ENQ_IMMED),
        ..Immed::default()
    };
    let (told, exit) = heard(ops, |class| {
        wakes(class, 0);
        takes(class, 0);
        wakes(class, 1);
    });
    let text = "SCX_ENQ_REENQ on SCX_DSQ_LOCAL repeated 257 times";
    assert_eq!((told.len(), exit.as_deref()), (257, Some(text)));
}

/// Goal: the flag means local queues only.
#[test]
fn other_queues_do_not_take_it() {
    let ops = Immed {
        again: (SHARED, SCX_ENQ_IMMED),
        ..Immed::default()
    };
    let (_, exit) = heard(ops, |class| {
        wakes(class, 0);
        wakes(class, 1);
    });
    assert_eq!(
        exit.as_deref(),
        Some("SCX_ENQ_IMMED on a non-local DSQ 0x5")
    );
}

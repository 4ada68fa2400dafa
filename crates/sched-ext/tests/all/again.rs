//! Tasks of a whole queue are enqueued again (`scx_bpf_dsq_reenq`), and which CPU's run queue is
//! locked meanwhile (docs/rules/sched-ext.md#again, docs/rules/sched-ext.md#cpuperf).
//!
//! What must stay: limits and which queue is locked are the kernel's (kernel/sched/ext.c, named at
//! the tests). `Asks` asks in one callback; its callbacks are called by the class. Free: numbers of
//! tasks; further questions in `Asks`.
//! Tests by part (in crates/sched-ext/src): class/mod.rs: `the_tasks_run_queue_is_locked`,
//! `frequencies_of_other_cpus_need_no_locked_queue` (`set_context`); class/insert.rs and
//! class/dsq.rs: `the_chosen_task_runs`, `who_asks_without_end_ends`.
//! Helpers, and who fails with them: `with`, `after` (all tests, `the_tasks_run_queue_is_locked`
//! among them); `hears`, `update_idle` (`the_chosen_task_runs`, `the_tasks_run_queue_is_locked`);
//! `timer` (`the_tasks_run_queue_is_locked`); `asks_in` (`the_chosen_task_runs`,
//! `who_asks_without_end_ends`); `changes_places` (`the_chosen_task_runs`). `info`, `init`,
//! `init_task`, `select_cpu`, `enqueue`, `dispatch`, `running` and `stopping` are those callbacks.

use crate::kernel::{add_tasks, asking, eight_cpus};
use wakeplace_sched_ext::class::{ExtClass, Join, Setup};
use wakeplace_sched_ext::consts::{
    SCX_DSQ_LOCAL, SCX_DSQ_LOCAL_ON, SCX_ENQ_REENQ, SCX_OPS_KEEP_BUILTIN_IDLE, SCX_SLICE_DFL,
};
use wakeplace_sched_ext::{
    Callback, CgroupId, Exit, Kernel, OpsInfo, SchedExtOps, Started, TaskId, TimerId,
};

/// The scheduler's own queue.
const SHARED: u64 = 5;

type Ask = Box<dyn Fn(&mut dyn Kernel, Callback)>;

/// Puts tasks into its queue, and on a CPU that needs one all of them into the local queue. Asks
/// something in each callback.
struct Asks {
    ask: Ask,
    /// Where a task goes.
    to: u64,
    /// Those that were enqueued again.
    again: Vec<u32>,
    /// The CPU whose run queue is locked, in each callback.
    locked: Vec<(Callback, Option<u32>)>,
}

impl Asks {
    fn with(ask: impl Fn(&mut dyn Kernel, Callback) + 'static) -> Self {
        Self {
            ask: Box::new(ask),
            to: SHARED,
            again: Vec::new(),
            locked: Vec::new(),
        }
    }

    fn hears(&mut self, kernel: &mut dyn Kernel, callback: Callback) -> Result<(), Exit> {
        self.locked.push((callback, kernel.locked_cpu()));
        (self.ask)(kernel, callback);
        Ok(())
    }
}

impl SchedExtOps for Asks {
    fn info(&self) -> OpsInfo {
        use Callback::{
            Dispatch, Enqueue, Init, InitTask, Running, SelectCpu, Stopping, Timer, UpdateIdle,
        };
        let all = [
            Init, InitTask, SelectCpu, Enqueue, Dispatch, Running, Stopping, UpdateIdle, Timer,
        ];
        OpsInfo {
            callbacks: all.into_iter().collect(),
            flags: SCX_OPS_KEEP_BUILTIN_IDLE,
            ..asking()
        }
    }

    fn init(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        self.hears(kernel, Callback::Init)?;
        Ok(kernel.create_dsq(SHARED, -1))
    }

    fn init_task(
        &mut self,
        kernel: &mut dyn Kernel,
        _task: TaskId,
        _started: Started,
        _cgroup: CgroupId,
    ) -> Result<i32, Exit> {
        self.hears(kernel, Callback::InitTask)?;
        Ok(0)
    }

    fn select_cpu(
        &mut self,
        kernel: &mut dyn Kernel,
        _task: TaskId,
        prev_cpu: i32,
        _wake_flags: u64,
    ) -> Result<i32, Exit> {
        self.hears(kernel, Callback::SelectCpu)?;
        Ok(prev_cpu)
    }

    fn enqueue(&mut self, kernel: &mut dyn Kernel, task: TaskId, flags: u64) -> Result<(), Exit> {
        if flags & SCX_ENQ_REENQ != 0 {
            self.again.push(task.0);
        }
        kernel.dsq_insert(task, self.to, SCX_SLICE_DFL, 0);
        self.hears(kernel, Callback::Enqueue)
    }

    fn dispatch(
        &mut self,
        kernel: &mut dyn Kernel,
        _cpu: i32,
        _prev: Option<TaskId>,
    ) -> Result<(), Exit> {
        while kernel.dsq_move_to_local(SHARED, 0) {}
        self.hears(kernel, Callback::Dispatch)
    }

    fn running(&mut self, kernel: &mut dyn Kernel, _task: TaskId) -> Result<(), Exit> {
        self.hears(kernel, Callback::Running)
    }

    fn stopping(&mut self, kernel: &mut dyn Kernel, _: TaskId, _: bool) -> Result<(), Exit> {
        self.hears(kernel, Callback::Stopping)
    }

    fn update_idle(&mut self, kernel: &mut dyn Kernel, _cpu: i32, _: bool) -> Result<(), Exit> {
        self.hears(kernel, Callback::UpdateIdle)
    }

    fn timer(&mut self, kernel: &mut dyn Kernel, _timer: TimerId) -> Result<(), Exit> {
        self.hears(kernel, Callback::Timer)
    }
}

/// What became of it, and how it ended, while this was done with three tasks.
fn after(mut ops: Asks, act: impl FnOnce(&mut ExtClass<'_>)) -> (Asks, Option<String>) {
    let setup = Setup {
        cpus: eight_cpus(),
        ..Setup::default()
    };
    let mut class = ExtClass::new(&mut ops, setup);
    class.load();
    add_tasks(&mut class, 3);
    act(&mut class);
    let exit = class.exit().map(|exit| exit.message.clone());
    (ops, exit)
}

/// Has a queue enqueued again, in this callback.
fn asks_in(callback: Callback, dsq: u64) -> Asks {
    Asks::with(move |kernel, now| {
        if now == callback {
            kernel.dsq_reenq(dsq, 0);
        }
    })
}

/// Task 2 runs on CPU 0 until its slice is over; then task 0 does, and task 1 is behind it.
fn changes_places(class: &mut ExtClass<'_>) {
    class.enqueue_task(TaskId(2), 0, Join::Wakeup);
    assert!(!class.balance(0, false));
    class.set_next_task(TaskId(2), 0);
    class.update_curr(TaskId(2), SCX_SLICE_DFL);
    for task in [0, 1] {
        class.enqueue_task(TaskId(task), 0, Join::Wakeup);
    }
    assert!(!class.balance(0, true));
    class.stop_task(TaskId(2), 0);
    class.put_prev_task(TaskId(2), 0);
    assert_eq!(class.pick_task(0), Some(TaskId(0)));
    class.update_idle(0, false);
    class.set_next_task(TaskId(0), 0);
}

/// Goal: the task that a CPU has chosen stays chosen, whoever asks for its queue until it runs; all
/// others are enqueued again. `schedule_deferred_locked`, kernel/sched/ext.c: in a pick the queue
/// is looked at when the pick is over.
#[test]
fn the_chosen_task_runs() {
    use Callback::{Dispatch, Stopping, UpdateIdle};
    for callback in [Dispatch, Stopping, UpdateIdle] {
        let (ops, exit) = after(asks_in(callback, SCX_DSQ_LOCAL), |class| {
            changes_places(class);
            let queued = |dsq| Kernel::dsq_nr_queued(class.kernel(), dsq);
            assert_eq!(queued(SHARED), 2, "{callback:?}: tasks 2 and 1");
            assert_eq!(queued(SCX_DSQ_LOCAL_ON), 0, "{callback:?}");
        });
        assert_eq!((&*ops.again, exit), (&[1][..], None), "{callback:?}");
    }
}

/// Goal: a scheduler that asks again and again ends, whichever queue it is. A kernel has the limit
/// for local queues (`process_deferred_reenq_locals`); for others it has none, and hangs.
#[test]
fn who_asks_without_end_ends() {
    for (to, name) in [(SCX_DSQ_LOCAL, "SCX_DSQ_LOCAL"), (SHARED, "DSQ 0x5")] {
        let ops = Asks {
            to,
            ..asks_in(Callback::Enqueue, to)
        };
        let (ops, exit) = after(ops, |class| class.enqueue_task(TaskId(0), 0, Join::Wakeup));
        let text = format!("SCX_ENQ_REENQ on {name} repeated 257 times");
        assert_eq!((ops.again.len(), exit), (257, Some(text)));
    }
}

/// Goal: the run queue that is locked is the task's, not that of the CPU on which the callback
/// runs. `SCX_CALL_OP`, kernel/sched/ext.c.
#[test]
fn the_tasks_run_queue_is_locked() {
    use Callback::{Dispatch, Enqueue, Init, InitTask, Running, SelectCpu, Timer, UpdateIdle};
    let (ops, exit) = after(Asks::with(|_, _| ()), |class| {
        class.set_context(1000, 3, false);
        class.select_task_rq(TaskId(0), 5, 0);
        class.enqueue_task(TaskId(0), 5, Join::Wakeup);
        class.set_context(1000, 5, false);
        class.balance(5, false);
        class.update_idle(5, false);
        class.set_next_task(TaskId(0), 5);
        class.timer(TimerId(0));
    });
    let expected = [
        (Init, None),
        (InitTask, None),
        (InitTask, None),
        (InitTask, None),
        (SelectCpu, None),
        (Enqueue, Some(5)),
        (Dispatch, Some(5)),
        (UpdateIdle, Some(5)),
        (Running, Some(5)),
        (Timer, None),
    ];
    assert_eq!((&*ops.locked, exit), (&expected[..], None));
}

/// Goal: while a run queue is locked only its CPU's frequency may be asked for; where none is
/// locked, any.
#[test]
fn frequencies_of_other_cpus_need_no_locked_queue() {
    let ops = Asks::with(|kernel, now| match now {
        Callback::Init | Callback::SelectCpu => kernel.cpuperf_set(7, 100),
        Callback::Enqueue => kernel.cpuperf_set(0, 100),
        Callback::Running => kernel.cpuperf_set(1, 100),
        _ => {}
    });
    let (_, exit) = after(ops, |class| {
        class.set_context(1000, 3, false);
        class.select_task_rq(TaskId(0), 0, 0);
        class.enqueue_task(TaskId(0), 0, Join::Wakeup);
        assert_eq!(class.exit(), None);
        class.set_context(1000, 0, false);
        class.balance(0, false);
        class.set_next_task(TaskId(0), 0);
    });
    assert_eq!(exit.as_deref(), Some("Invalid target CPU 1"));
}

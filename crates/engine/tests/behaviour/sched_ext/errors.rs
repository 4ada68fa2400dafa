//! What a scheduler may not do ends it, by the kernel's name for it
//! (docs/rules/sched-ext.md#errors and docs/rules/sched-ext.md#watchdog).
//!
//! What must stay: names of errors and their texts are the kernel's: they are compared as a whole.
//! Tests by part (in crates/engine/src): kernel/model/event.rs: `a_forgotten_task_is_found`
//! (`Watchdog`); crates/sched-ext/src/class/validate.rs and exit.rs: all others.
//! Helpers, and who fails with them: `global`, `end_of` (most tests); `wrong` (all tests); `error`
//! (5 tests). `enqueue`, `dispatch` and `init` do the wrong thing, at a time.

use crate::common::*;
use wakeplace_engine::sched_ext::consts::{
    SCX_DSQ_GLOBAL, SCX_DSQ_LOCAL, SCX_DSQ_LOCAL_ON, SCX_OPS_SWITCH_PARTIAL, SCX_SLICE_DFL,
};
use wakeplace_engine::sched_ext::{Callback, Exit, ExitKind, Kernel, OpsInfo, SchedExtOps, TaskId};
use wakeplace_engine::{Ended, Hotplug};

type Enqueue = fn(&mut dyn Kernel, TaskId) -> Result<(), Exit>;
type Dispatch = fn(&mut dyn Kernel) -> Result<(), Exit>;

/// A scheduler that goes wrong in one place; only from `from_ns` on.
struct Wrong {
    from_ns: u64,
    enqueue: Enqueue,
    dispatch: Option<Dispatch>,
    info: OpsInfo,
}

fn wrong(enqueue: Enqueue) -> Wrong {
    let callbacks = [Callback::Enqueue, Callback::Dispatch, Callback::Init];
    Wrong {
        from_ns: 50 * MS,
        enqueue,
        dispatch: None,
        info: OpsInfo {
            name: "wrong".to_owned(),
            callbacks: callbacks.into_iter().collect(),
            ..OpsInfo::default()
        },
    }
}

fn global(kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
    kernel.dsq_insert(task, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, 0);
    Ok(())
}

impl SchedExtOps for Wrong {
    fn info(&self) -> OpsInfo {
        self.info.clone()
    }

    fn init(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        Ok(kernel.create_dsq(7, -1))
    }

    fn enqueue(&mut self, kernel: &mut dyn Kernel, task: TaskId, _: u64) -> Result<(), Exit> {
        match kernel.now_ns() >= self.from_ns {
            true => (self.enqueue)(kernel, task),
            false => global(kernel, task),
        }
    }

    fn dispatch(
        &mut self,
        kernel: &mut dyn Kernel,
        _cpu: i32,
        _prev: Option<TaskId>,
    ) -> Result<(), Exit> {
        match self.dispatch {
            Some(dispatch) if kernel.now_ns() >= self.from_ns => dispatch(kernel),
            _ => Ok(()),
        }
    }
}

/// Three hogs on two CPUs: the first one on CPU 0 only.
fn end_of(ops: &mut Wrong, ns: u64) -> Exit {
    let platform = Board::symmetric(2).platform();
    let hogs = vec![hog(Some(&[0])), hog(None), hog(None)];
    let load = workload(hogs, vec![]);
    let policy = policy("linux-7.3", &[]);
    let (report, _) = simulate_sched_ext(&platform, &policy, &load, &all_off(ns), ops);
    match report.ended {
        Ended::Scheduler { exit } => exit,
        other => panic!("{other:?}"),
    }
}

fn error(enqueue: Enqueue) -> String {
    let exit = end_of(&mut wrong(enqueue), S);
    assert_eq!((exit.kind, exit.code), (ExitKind::Error, 0));
    exit.message
}

#[test]
fn queues_that_are_not_there() {
    let text = error(|kernel, task| {
        kernel.dsq_insert(task, 0xbeef, SCX_SLICE_DFL, 0);
        Ok(())
    });
    assert_eq!(text, "non-existent DSQ 0xbeef");
    let mut ops = wrong(global);
    ops.dispatch = Some(|kernel| {
        kernel.dsq_move_to_local(9, 0);
        Ok(())
    });
    let exit = end_of(&mut ops, S);
    assert_eq!(exit.message, "invalid DSQ ID 0x0000000000000009");
}

#[test]
fn cpus_that_a_task_may_not_use_or_that_are_not_there() {
    let text = error(|kernel, task| {
        kernel.dsq_insert(task, SCX_DSQ_LOCAL_ON | 1, SCX_SLICE_DFL, 0);
        Ok(())
    });
    // pid 1000 is the first task.
    assert_eq!(
        text,
        "SCX_DSQ_LOCAL[_ON] target CPU 1 not allowed for task[1000]"
    );
    let text = error(|kernel, task| {
        kernel.dsq_insert(task, SCX_DSQ_LOCAL_ON | 2, SCX_SLICE_DFL, 0);
        Ok(())
    });
    assert_eq!(text, "invalid CPU 2 in SCX_DSQ_LOCAL_ON dispatch verdict");
    let text = error(|kernel, task| {
        kernel.kick_cpu(-1, 0);
        global(kernel, task)
    });
    assert_eq!(text, "invalid CPU -1");
}

#[test]
fn orders_that_do_not_mix() {
    // From the start: the first hog is fixed to a CPU, the last one finds none idle.
    let mut ops = wrong(|kernel, task| {
        match kernel.dsq_nr_queued(7) {
            0 => kernel.dsq_insert(task, 7, SCX_SLICE_DFL, 0),
            _ => kernel.dsq_insert_vtime(task, 7, SCX_SLICE_DFL, 5, 0),
        };
        Ok(())
    });
    ops.from_ns = 1; // the parent has begun
    let text = end_of(&mut ops, S).message;
    assert_eq!(
        text,
        "DSQ ID 0x0000000000000007 already had FIFO-enqueued tasks"
    );
    let text = error(|kernel, task| {
        kernel.dsq_insert_vtime(task, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, 5, 0);
        Ok(())
    });
    assert_eq!(text, "cannot use vtime ordering for built-in DSQs");
}

#[test]
fn direct_dispatches_of_others_and_twice() {
    let text = error(|kernel, task| {
        let other = TaskId((task.0 + 1) % 3);
        kernel.dsq_insert(other, SCX_DSQ_LOCAL, SCX_SLICE_DFL, 0);
        Ok(())
    });
    assert!(text.starts_with("scheduling for task[100"), "{text}");
    assert!(
        text.contains("] but trying to direct-dispatch task[100"),
        "{text}"
    );
    let text = error(|kernel, task| {
        global(kernel, task)?;
        global(kernel, task)
    });
    assert!(text.ends_with("] already direct-dispatched"), "{text}");
}

#[test]
fn kfuncs_in_the_wrong_place() {
    let text = error(|kernel, task| {
        kernel.dsq_move_to_local(7, 0);
        global(kernel, task)
    });
    assert_eq!(
        text,
        "scx_bpf_dsq_move_to_local() called from ops.enqueue()"
    );
}

#[test]
fn the_buffer_of_dispatches_has_an_end() {
    let mut ops = wrong(|_, _| Ok(()));
    ops.info.dispatch_max_batch = 2;
    ops.dispatch = Some(|kernel| {
        for task in 0..3 {
            kernel.dsq_insert(TaskId(task), SCX_DSQ_GLOBAL, SCX_SLICE_DFL, 0);
        }
        Ok(())
    });
    assert_eq!(end_of(&mut ops, S).message, "dispatch buffer overflow");
}

#[test]
fn what_a_program_says_itself() {
    let exit = end_of(
        &mut wrong(|kernel, _| {
            kernel.exit(ExitKind::ErrorBpf, 3, "no room");
            kernel.exit(ExitKind::ErrorBpf, 4, "the first one counts");
            Ok(())
        }),
        S,
    );
    assert_eq!(exit.to_string(), "scx_bpf_error (no room)");
    assert_eq!(exit.code, 3);
    let exit = end_of(&mut wrong(|_, _| Err(Exit::fault("it loops"))), S);
    assert_eq!(exit.to_string(), "program fault (it loops)");
}

/// Goal: a scheduler that forgets a task is stopped by the watchdog, which says whom and where. It
/// looks every half of the timeout, so at 3 s at the latest for a task lost at 0.05 s or after it.
#[test]
fn a_forgotten_task_is_found() {
    let mut ops = wrong(|kernel, task| {
        if task == TaskId(1) {
            return Ok(()); // never dispatched
        }
        global(kernel, task)
    });
    ops.info.timeout_ms = 2_000;
    let exit = end_of(&mut ops, 10 * S);
    assert_eq!(exit.kind, ExitKind::ErrorStall);
    let text = exit.to_string();
    let begin = "runnable task stall (task[1001] failed to run for 2.";
    assert!(text.starts_with(begin), "{text}");
    assert!(
        text.contains("s; it is held by the scheduler, last on CPU "),
        "{text}"
    );
}

/// Goal: the same of a task that is left in a queue that nobody serves.
#[test]
fn a_queue_that_nobody_serves_is_named() {
    let mut ops = wrong(|kernel, task| {
        kernel.dsq_insert(task, 7, SCX_SLICE_DFL, 0);
        Ok(())
    });
    ops.info.timeout_ms = 1_000;
    let text = end_of(&mut ops, 10 * S).to_string();
    assert!(text.contains("s; it is in DSQ 0x7, last on CPU "), "{text}");
}

#[test]
fn hotplug_needs_callbacks() {
    let platform = Board::symmetric(2).platform();
    let load = workload(vec![hog(None)], vec![]);
    let mut options = all_off(S);
    options.hotplug = vec![Hotplug {
        at_ns: 500 * MS,
        cpu: 1,
        online: false,
    }];
    let policy = policy("linux-7.3", &[]);
    let mut ops = wrong(global);
    ops.from_ns = u64::MAX;
    let (report, _) = simulate_sched_ext(&platform, &policy, &load, &options, &mut ops);
    let Ended::Scheduler { exit } = report.ended else {
        panic!("{:?}", report.ended);
    };
    assert_eq!(report.end_ns, 500 * MS);
    assert_eq!(exit.kind, ExitKind::UnregKern);
    assert_eq!(exit.message, "cpu 1 going offline, exiting scheduler");
}

#[test]
fn what_is_not_modelled_is_refused() {
    let mut ops = wrong(global);
    ops.info.flags = SCX_OPS_SWITCH_PARTIAL;
    let exit = end_of(&mut ops, S);
    assert!(
        exit.message.starts_with("SCX_OPS_SWITCH_PARTIAL: "),
        "{exit}"
    );
}

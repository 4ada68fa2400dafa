//! A scheduler that is nothing but a list of questions to the kernel, asked as it is loaded.
//! Rules: docs/rules/sched-ext.md#costs, docs/rules/sched-ext.md#errors.
//!
//! What must stay: `asking`, `ask`, `eight_cpus` and `add_tasks` are used by all files of this
//! folder: a default changed here changes what they ask. Free: further questions, in a test of
//! their own.
//! Tests by part (in crates/sched-ext/src): class/call.rs: `kfuncs_count_once` (`take_unpaid`);
//! class/mod.rs: `what_is_left_behind_is_counted` (`take_effects`, `set_context`); class/dsq.rs:
//! `queues_are_made_once` (`create`, `destroy`); class/task.rs: `tasks_are_found_by_pid` (`new`).
//! Helpers, and who fails with them: `init_task`, `asking`, `eight_cpus`, `with_task` (all tests,
//! `kfuncs_count_once` among them); `ask` (`queues_are_made_once`, `tasks_are_found_by_pid`).

use wakeplace_sched_ext::class::{Effect, ExtClass, NewTask, Setup};
use wakeplace_sched_ext::{
    Callback, CpuFacts, Exit, Kernel, OpsInfo, SchedExtOps, Started, TaskId, TimerId,
};

type Ask<'a> = &'a mut dyn FnMut(&mut dyn Kernel, TaskId);

/// Asks in `init_task`, of the one task that there is.
pub(crate) struct Asks<'a> {
    pub(crate) info: OpsInfo,
    pub(crate) ask: Ask<'a>,
}

impl SchedExtOps for Asks<'_> {
    fn info(&self) -> OpsInfo {
        OpsInfo {
            callbacks: self.info.callbacks.with(Callback::InitTask),
            ..self.info.clone()
        }
    }

    fn init_task(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        _started: Started,
        _cgroup: wakeplace_sched_ext::CgroupId,
    ) -> Result<i32, Exit> {
        (self.ask)(kernel, task);
        Ok(0)
    }
}

/// A table that a kernel takes.
pub(crate) fn asking() -> OpsInfo {
    OpsInfo {
        name: "asks".to_owned(),
        ..OpsInfo::default()
    }
}

/// Tasks 0 to `nr_tasks` - 1 of nice 0, which may run on all eight CPUs.
pub(crate) fn add_tasks(class: &mut ExtClass<'_>, nr_tasks: u32) {
    for task in 0..nr_tasks {
        class.add_task(&NewTask {
            name: "task".to_owned(),
            prio: 120,
            load_weight: 1024,
            cpus: vec![0xff],
            ..NewTask::default()
        });
        class.init_task(TaskId(task), Started::Existing, None);
    }
}

/// Two caches of two cores of two threads each.
pub(crate) fn eight_cpus() -> Vec<CpuFacts> {
    let cpu = |cpu: u32| CpuFacts {
        capacity: 1024,
        llc: cpu / 4 * 4,
        core: cpu / 2 * 2,
        online: true,
        ..CpuFacts::default()
    };
    (0..8).map(cpu).collect()
}

/// Asks with a task that may use these CPUs. Returns how the scheduler ended, if it did.
pub(crate) fn ask(
    cpus: Vec<CpuFacts>,
    info: OpsInfo,
    allowed: u64,
    mut ask: impl FnMut(&mut dyn Kernel, TaskId),
) -> Option<Exit> {
    let mut ops = Asks {
        info,
        ask: &mut ask,
    };
    with_task(&mut ops, cpus, allowed).exit().cloned()
}

/// The class with one task that may use these CPUs.
fn with_task<'a>(ops: &'a mut Asks<'_>, cpus: Vec<CpuFacts>, allowed: u64) -> ExtClass<'a> {
    let setup = Setup {
        cpus,
        ..Setup::default()
    };
    let mut class = ExtClass::new(ops, setup);
    class.load();
    class.add_task(&NewTask {
        name: "task".to_owned(),
        load_weight: 1024,
        cpus: vec![allowed],
        ..NewTask::default()
    });
    class.init_task(TaskId(0), Started::Existing, None);
    class
}

/// Goal: numbers of the kernel's and numbers that are taken make no queue.
#[test]
fn queues_are_made_once() {
    let exit = ask(eight_cpus(), asking(), 0xff, |kernel, _| {
        assert_eq!(kernel.create_dsq(1 << 63, -1), -22, "EINVAL");
        assert_eq!(kernel.create_dsq(5, 1), -22, "there is one node");
        assert_eq!(kernel.create_dsq(5, -1), 0);
        assert_eq!(kernel.create_dsq(5, 0), -17, "EEXIST");
        assert_eq!(kernel.dsq_nr_queued(5), 0);
        kernel.destroy_dsq(5);
        assert_eq!(kernel.dsq_nr_queued(5), -2, "ENOENT");
        assert_eq!(kernel.dsq_iter_new(5, 0), Err(-2));
        assert_eq!(kernel.create_dsq(5, -1), 0);
        assert_eq!(kernel.dsq_iter_new(5, 1), Err(-22), "no such flag");
        kernel.destroy_dsq(77); // the kernel ignores it
    });
    assert_eq!(exit, None);
}

#[test]
fn tasks_are_found_by_pid() {
    ask(eight_cpus(), asking(), 0b110, |kernel, task| {
        let facts = kernel.task(task);
        let pid = facts.pid;
        assert_eq!((facts.weight, facts.nr_cpus_allowed), (100, 2));
        assert_eq!(&facts.comm[..5], b"task\0");
        assert_eq!(kernel.task_cpus(task), [0b110]);
        for none in [0, pid + 1, i32::MIN, i32::MAX] {
            assert_eq!(kernel.task_from_pid(none), None);
        }
    });
}

/// Goal: each kfunc counts once: by its method, or by whoever says that it is called. Source:
/// docs/rules/sched-ext.md#costs.
#[test]
fn kfuncs_count_once() {
    let kfuncs = |charges: bool| {
        let mut ask = |kernel: &mut dyn Kernel, _: TaskId| {
            for _ in 0..3 {
                if charges {
                    kernel.charge(1);
                }
                kernel.cpuperf_cap(0);
            }
        };
        let mut ops = Asks {
            info: asking(),
            ask: &mut ask,
        };
        let mut class = with_task(&mut ops, eight_cpus(), 0xff);
        let counts = class.counts().all();
        assert_eq!(counts.len(), 1, "{counts:?}");
        assert_eq!(class.take_unpaid(), (1, 3));
        counts[0].kfuncs
    };
    assert_eq!((kfuncs(false), kfuncs(true)), (3, 3));
}

/// Goal: a kick is one however often it is asked for, bits that mean nothing make no other of it,
/// and the machine hears of each start of a timer once.
#[test]
fn what_is_left_behind_is_counted() {
    let mut ask = |kernel: &mut dyn Kernel, _: TaskId| {
        for flags in [0, 1 << 3, 2, 2 | 1 << 63, 0, 2] {
            kernel.kick_cpu(3, flags);
        }
        for at_ns in [50, 40, 60] {
            kernel.timer_start(TimerId(7), at_ns, false);
        }
        assert_eq!(kernel.nr_timer_events(), 3);
    };
    let mut ops = Asks {
        info: asking(),
        ask: &mut ask,
    };
    let mut class = with_task(&mut ops, eight_cpus(), 0xff);
    let mut effects = Vec::new();
    class.take_effects(&mut effects);
    let kicks = effects.iter().filter_map(|effect| match effect {
        Effect::Kick { flags, .. } => Some(*flags),
        _ => None,
    });
    assert_eq!(Vec::from_iter(kicks), [0, 2]);
    // Only the last start counts; the others' events come all the same.
    for (at_ns, is_due) in [(40, false), (50, false), (60, true)] {
        class.set_context(at_ns, 0, true);
        assert_eq!(class.timer_due(TimerId(7)), is_due, "{at_ns}");
    }
    assert_eq!(class.kernel().nr_timer_events(), 0);
}

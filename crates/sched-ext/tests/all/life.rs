//! What a scheduler hears of a task's life, in its order (docs/rules/sched-ext.md#tasks).
//!
//! What must stay: what is heard, and in which order, is the page's. Free: names and weights of
//! tasks, if the page's rounding follows.
//! Tests by part (in crates/sched-ext/src): class/life.rs: `weights_are_told_when_they_change`
//! (`move_cgroup`), `a_task_that_comes_back_has_its_new_weight` (`set_class`); class/balance.rs:
//! `a_cpu_is_released_after_a_sleep_too` (`acquire`).
//! Helpers, and who fails with them: `heard` (all tests, `weights_are_told_when_they_change` among
//! them); `set_weight` (`weights_are_told_when_they_change`,
//! `a_task_that_comes_back_has_its_new_weight`); `runs_and_sleeps`
//! (`a_cpu_is_released_after_a_sleep_too`).

use crate::kernel::{add_tasks, asking, eight_cpus};
use wakeplace_sched_ext::class::{ExtClass, Join, Leave, Setup};
use wakeplace_sched_ext::{
    Callback, CgroupId, Class, Exit, Kernel, OpsInfo, ReleaseReason, SchedExtOps, TaskId,
};

const TASK: TaskId = TaskId(0);

/// Writes down what it hears of weights, of cgroups and of its CPU.
#[derive(Default)]
struct Hears(Vec<String>);

impl SchedExtOps for Hears {
    fn info(&self) -> OpsInfo {
        use Callback::{CgroupMove, CpuAcquire, CpuRelease, SetWeight};
        let all = [SetWeight, CgroupMove, CpuRelease, CpuAcquire];
        OpsInfo {
            callbacks: all.into_iter().collect(),
            ..asking()
        }
    }

    fn set_weight(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        weight: u32,
    ) -> Result<(), Exit> {
        let facts = kernel.task(task);
        assert_eq!(facts.weight, weight);
        assert_eq!(facts.prio, facts.static_prio);
        self.0.push(format!("weight {weight} prio {}", facts.prio));
        Ok(())
    }

    fn cgroup_move(
        &mut self,
        _kernel: &mut dyn Kernel,
        _task: TaskId,
        _from: CgroupId,
        to: CgroupId,
    ) -> Result<(), Exit> {
        self.0.push(format!("cgroup {}", to.0));
        Ok(())
    }

    fn cpu_acquire(&mut self, _kernel: &mut dyn Kernel, cpu: i32) -> Result<(), Exit> {
        self.0.push(format!("acquire {cpu}"));
        Ok(())
    }

    fn cpu_release(
        &mut self,
        _kernel: &mut dyn Kernel,
        cpu: i32,
        reason: ReleaseReason,
        task: Option<TaskId>,
    ) -> Result<(), Exit> {
        self.0.push(format!("release {cpu} {reason:?} {task:?}"));
        Ok(())
    }
}

/// What it hears while this is done with one task of nice 0.
fn heard(act: impl FnOnce(&mut ExtClass<'_>)) -> Vec<String> {
    let mut ops = Hears::default();
    let setup = Setup {
        cpus: eight_cpus(),
        cgroup_weights: vec![100],
        ..Setup::default()
    };
    let mut class = ExtClass::new(&mut ops, setup);
    class.load();
    add_tasks(&mut class, 1);
    act(&mut class);
    assert_eq!(class.exit(), None);
    ops.0
}

/// Goal: one `set_weight` with `enable`, then one whenever nice value or weight is another; its
/// priority goes with it. Source: docs/rules/sched-ext.md#weights (335 x 100 / 1024 is 33).
#[test]
fn weights_are_told_when_they_change() {
    let told = heard(|class| {
        class.set_weight(TASK, 0, 1024);
        class.move_cgroup(TASK, CgroupId(1));
        class.set_weight(TASK, 0, 1024);
        class.set_weight(TASK, 5, 335);
    });
    let expected = ["weight 100 prio 120", "cgroup 1", "weight 33 prio 125"];
    assert_eq!(told, expected);
}

/// Goal: while a task is of another class nothing is told; with `enable` comes what it is then.
#[test]
fn a_task_that_comes_back_has_its_new_weight() {
    let told = heard(|class| {
        class.set_class(TASK, Class::Rt, 1, 98);
        class.set_weight(TASK, 5, 335);
        class.set_class(TASK, Class::Ext, 0, 125);
    });
    assert_eq!(told, ["weight 100 prio 120", "weight 33 prio 125"]);
}

/// The task runs on CPU 0, and sleeps.
fn runs_and_sleeps(class: &mut ExtClass<'_>) {
    class.enqueue_task(TASK, 0, Join::Wakeup);
    class.balance(0, false);
    assert_eq!(class.pick_task(0), Some(TASK));
    class.set_next_task(TASK, 0);
    class.dequeue_task(TASK, Leave::Sleep);
    class.stop_task(TASK, 0);
}

/// Goal: an RT task that follows one that fell asleep takes the CPU from the scheduler, once; one
/// that follows the idle task does not. Source: docs/rules/sched-ext.md#dispatch (`switch_class`).
#[test]
fn a_cpu_is_released_after_a_sleep_too() {
    let rt = Some(TaskId(1));
    let told = heard(|class| {
        runs_and_sleeps(class);
        class.displace(0, ReleaseReason::Rt, rt);
        class.displace(0, ReleaseReason::Rt, rt);
        class.balance(0, false);
    });
    let expected = [
        "weight 100 prio 120",
        "release 0 Rt Some(TaskId(1))",
        "acquire 0",
    ];
    assert_eq!(told, expected);
    let told = heard(|class| {
        runs_and_sleeps(class);
        class.balance(0, false); // there is nothing: it idles
        class.displace(0, ReleaseReason::Rt, rt);
        class.balance(0, false);
    });
    assert_eq!(told, ["weight 100 prio 120"]);
}

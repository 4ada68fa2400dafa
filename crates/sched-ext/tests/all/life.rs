//! What a scheduler hears of a task's life, in its order (docs/rules/sched-ext.md#tasks).

use crate::kernel::{asking, eight_cpus};
use wakeplace_sched_ext::class::{ExtClass, NewTask, Setup};
use wakeplace_sched_ext::{
    Callback, CgroupId, Class, Exit, Kernel, OpsInfo, SchedExtOps, Started, TaskId,
};

const TASK: TaskId = TaskId(0);

/// Writes down what it hears of weights and of cgroups.
#[derive(Default)]
struct Hears(Vec<String>);

impl SchedExtOps for Hears {
    fn info(&self) -> OpsInfo {
        let all = [Callback::SetWeight, Callback::CgroupMove];
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
    class.add_task(&NewTask {
        name: "task".to_owned(),
        prio: 120,
        load_weight: 1024,
        cpus: vec![0xff],
        ..NewTask::default()
    });
    class.init_task(TASK, Started::Existing, None);
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

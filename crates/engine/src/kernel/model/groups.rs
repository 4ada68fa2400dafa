//! Task groups: made before the run; what their entities weigh is taken over from the core
//! (docs/decisions/020).
//!
//! Tests: crates/engine/tests/behaviour/groups.rs

use super::Model;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::options::Options;
use wakeplace_policy_sys::Core;
use wakeplace_workload::{TaskGroup, Workload};

/// Tells the core of the workload's groups; returns the shares of those that are below the root:
/// what the entities on the CPUs' own queues begin with.
pub(super) fn add_groups(core: &mut Core, workload: &Workload, options: &Options) -> Vec<u32> {
    let set = |group: &TaskGroup| {
        let mut settings = options.shares.iter().rev();
        settings
            .find(|(name, _)| *name == group.name)
            .map(|(_, n)| *n)
    };
    let shares = (workload.groups.iter()).map(|group| set(group).unwrap_or(group.shares));
    let shares: Vec<u32> = shares.collect();
    let nest = |(own, group): (u32, &TaskGroup)| {
        let index = core.add_group(own);
        (group.outer.iter()).for_each(|shares| core.nest_group(index, *shares));
        group.outer.last().copied().unwrap_or(own)
    };
    shares.into_iter().zip(&workload.groups).map(nest).collect()
}

impl Model<'_> {
    /// A group's entity on `cpu` weighs what the core says.
    pub(super) fn weigh_group(&mut self, cpu: CpuId, group: Option<usize>) {
        if let Some(group) = group
            && self.has_groups
        {
            let weight = self.core.group_queue(group, cpu.0).weight;
            self.home.set_group_weight(group, cpu, weight);
        }
    }

    /// A task of a group joined or left the queue of `cpu`, and the core has heard of it.
    pub(super) fn weigh_touched(&mut self, cpu: CpuId) {
        if self.has_groups {
            let touched = self.home.take_touched_group(cpu);
            self.weigh_group(cpu, touched);
        }
    }

    /// What a task that wakes another weighs for its CPU.
    pub(super) fn waker_load(&self, waker: TaskId) -> u32 {
        let record = &self.tasks[waker];
        self.core
            .h_load(record)
            .unwrap_or_else(|| record.load_avg())
    }

    /// The books of the queues and the core agree.
    pub(super) fn check_groups(&self, cpu: CpuId) {
        if !self.has_groups {
            return;
        }
        let mut weight = 0;
        for (task, record) in self.tasks.iter().enumerate() {
            let queued = record.cpu() == cpu.0 && record.raw().on_rq != 0;
            let here =
                queued && record.group().is_none() && !self.classes.is_class(TaskId(task as u32));
            weight += if here { record.weight() } else { 0 };
        }
        let mut group = 0;
        while let Some(entity) = self.core.group(group).map(|g| &g.queue[cpu.index()]) {
            let tasks = self
                .tasks
                .iter()
                .filter(|t| t.group() == Some(group) && t.cpu() == cpu.0);
            let queued: Vec<u32> = tasks
                .filter(|t| t.raw().on_rq != 0)
                .map(|t| t.weight())
                .collect();
            assert_eq!(
                queued.len(),
                entity.nr as usize,
                "group {group}: tasks on CPU {cpu}"
            );
            let sum: u32 = queued.iter().sum();
            assert_eq!(sum, entity.load_weight, "group {group}: their weights");
            weight += if queued.is_empty() { 0 } else { entity.weight };
            group += 1;
        }
        let core = self.core.cpu(cpu.0);
        assert_eq!(
            core.load.load_weight, weight,
            "CPU {cpu}: weights of its entities"
        );
    }
}

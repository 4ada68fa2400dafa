//! Task groups: made before the run; what their entities weigh is taken over from the core
//! (docs/decisions/020).
//!
//! What must stay: groups have the workload's numbers in core, queues and reports. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `shares_follow_the_load_over_cpus` (weights), `groups_share_by_shares_not_by_tasks` (shares),
//! bandwidth.rs::`an_idle_group_gives_way` (`cpu.idle`). By function:
//! `groups_share_by_shares_not_by_tasks` (`add_groups`), `shares_follow_the_load_over_cpus`
//! (`weigh_group`, `weigh_touched`), `an_idle_group_gives_way` (`is_idle`, `is_idle_group`),
//! invariants.rs::`random_groups_obey_the_rules` (`check_groups`, and all others). `waker_load` has
//! no test of its own: wake-ups of groups (`wakeups_preempt_across_groups`) go through it.
//!
//! Callers: fork.rs (`is_idle_group`, `waker_load`), queues.rs (`weigh_group`, `weigh_touched`),
//! bandwidth.rs (`weigh_group`), change.rs (`is_idle_group`), mod.rs (`add_groups`), wake.rs
//! (`waker_load`).
//!
//! Tests: crates/engine/tests/behaviour/groups.rs

use super::Model;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::options::Options;
use wakeplace_kernel_queues::GroupShape;
use wakeplace_policy_sys::Core;
use wakeplace_policy_sys::sys::WP_WEIGHT_IDLE_POLICY;
use wakeplace_workload::{Stream, TaskGroup, Workload};

/// What an idle group (`cpu.idle`) weighs, as a SCHED_IDLE task does (`WEIGHT_IDLEPRIO`).
const IDLE_SHARES: u32 = WP_WEIGHT_IDLE_POLICY;

/// Tells the core of the workload's groups; returns what the queues have to know of them: what
/// their entities begin with.
pub(super) fn add_groups(
    core: &mut Core,
    workload: &Workload,
    options: &Options,
) -> Vec<GroupShape> {
    let set = |group: &TaskGroup| {
        let mut settings = options.shares.iter().rev();
        settings
            .find(|(name, _)| *name == group.name)
            .map(|(_, n)| *n)
    };
    let mut add = |group: &TaskGroup| {
        let own = match group.limits.idle {
            true => IDLE_SHARES,
            false => set(group).unwrap_or(group.shares),
        };
        let parent = group.parent.map(|parent| parent as usize);
        let index = core.add_group_in(parent, own);
        (group.outer.iter()).for_each(|shares| core.nest_group(index, *shares));
        if let Some(max) = group.limits.bandwidth {
            let random = Stream::for_task(workload.seed, &group.name).next_u64() as u32;
            core.set_group_bandwidth(index, [max.quota_ns, max.period_ns, max.burst_ns], random);
        }
        let clamp = |hint: Option<u16>, none: u32| hint.map_or(none, u32::from);
        let (min, max) = (group.limits.uclamp_min, group.limits.uclamp_max);
        core.set_group_uclamp(index, clamp(min, 0), clamp(max, 1024));
        GroupShape {
            shares: group.outer.last().copied().unwrap_or(own),
            parent,
            idle: group.limits.idle,
        }
    };
    workload.groups.iter().map(&mut add).collect()
}

/// Is the group one of the idle ones (`cpu.idle`), or one around it?
pub(super) fn is_idle(core: &Core, idle: &[usize], group: Option<usize>) -> bool {
    core.groups_around(group).any(|group| idle.contains(&group))
}

impl Model<'_> {
    /// Of a task's group; None: the root, which is never idle.
    pub(super) fn is_idle_group(&self, group: Option<usize>) -> bool {
        is_idle(&self.core, &self.idle_groups, group)
    }

    /// The entities on `cpu` of a group and of those around it weigh what the core says.
    pub(super) fn weigh_group(&mut self, cpu: CpuId, group: Option<usize>) {
        let mut around = group.filter(|_| self.has_groups);
        while let Some(group) = around {
            let weight = self.core.group_queue(group, cpu.0).weight;
            self.home.set_group_weight(group, cpu, weight);
            around = self.core.group_parent(group);
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
        let groups = 0..self.core.nr_groups();
        for group in groups.clone() {
            let own = self.tasks.iter().filter(|t| t.group() == Some(group));
            let queued = own.filter(|t| t.cpu() == cpu.0 && t.raw().on_rq != 0);
            let queued: Vec<u32> = queued.map(|t| t.weight()).collect();
            let inner = (groups.clone()).filter(|g| self.core.group_parent(*g) == Some(group));
            let inner = inner.map(|g| self.core.group_queue(g, cpu.0));
            let inner: Vec<_> = inner.filter(|q| q.nr > 0 && q.off == 0).collect();
            let entity = self.core.group_queue(group, cpu.0);
            let nr = queued.len() as u32 + inner.iter().map(|q| q.nr).sum::<u32>();
            assert_eq!(nr, entity.nr, "group {group}: tasks on CPU {cpu}");
            let sum = queued.iter().sum::<u32>() + inner.iter().map(|q| q.weight).sum::<u32>();
            assert_eq!(sum, entity.load_weight, "group {group}: their weights");
            let of_the_root = self.core.group_parent(group).is_none();
            weight += match of_the_root && nr > 0 && entity.off == 0 {
                true => entity.weight,
                false => 0,
            };
        }
        let core = self.core.cpu(cpu.0);
        assert_eq!(
            core.load.load_weight, weight,
            "CPU {cpu}: weights of its entities"
        );
    }
}

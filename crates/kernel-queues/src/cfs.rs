//! The fair run queue of the kernels before 6.6 (CFS): virtual run time, slices, wake-up preemption
//! (docs/rules/queues.md#cfs; 4.17 form, with what later kernels changed as parameters). Equal
//! virtual times keep the order of arrival: runs depend on it.
//!
//! What must stay: vruntimes are ns scaled by weight and compared as signed differences; `nr` and
//! the sum of weights count the running task, the tree does not hold it. Free: how the tree
//! is kept; every figure only with the page.
//!
//! Tests by part: cfs/tests.rs: `three_equal_tasks_share_a_period` (`share_ns`, `enqueue`),
//! `slices_follow_weights`, `a_slice_of_later_kernels_is_at_least_the_granularity`,
//! `the_least_slice_of_idle_and_of_new_tasks` (`slice_ns`, `least_slice_ns`, `dequeue`),
//! `equal_virtual_times_keep_arrival_order` (`insert`, `leftmost`), `a_floor_that_sinks_is_found`
//! (`update_min`, `check_floor`), `sleepers_are_credited_half_a_period` (`place_woken`),
//! `a_turn_of_later_kernels_is_at_most_the_latency` (`place_new`, `place_behind`,
//! `period_share_ns`, `tick_preempts`), `a_lead_is_measured_by_the_limited_turn` (`overrun`,
//! `lags_by_more`); engine's fair.rs: `nice_0_and_nice_5_share_1024_to_335` (`charge`),
//! `sleeper_credit_is_bounded`, `new_tasks_start_a_slice_behind`; changes.rs:
//! `a_policy_holds_from_its_phase_on` (`reweight`).
//!
//! Callers: cfs/class.rs; grouped/cfs.rs, one queue per level.
//!
//! Tests: crates/kernel-queues/src/cfs/tests.rs, crates/engine/tests/behaviour/fair.rs

mod buddies;
mod class;
mod entity;
mod on_state;
#[cfg(test)]
mod tests;

use crate::weight::{Weight, calc_delta, virtual_time};
use buddies::Buddies;
pub(crate) use buddies::Roles;
pub(crate) use class::Cfs;
pub(crate) use entity::CfsParams;
pub(crate) use entity::Entity;
pub(crate) use on_state::{pick, wakeup_preempt};

/// Least slice of a SCHED_IDLE task beside others, ns, the same on all machines
/// (`sysctl_sched_idle_min_granularity`).
const IDLE_MIN_GRANULARITY_NS: u64 = 750_000;

/// One CPU's queue. The running task is counted but not in the tree.
#[derive(Debug, Default)]
pub(crate) struct CfsQueue {
    /// Waiting tasks by descending virtual run time; the next one is last.
    tree: Vec<(i64, u32)>,
    /// Tasks, the running one included.
    pub(crate) nr: usize,
    /// SCHED_IDLE ones among them.
    nr_idle: usize,
    load: u64,
    pub(crate) min_vruntime: i64,
    /// As last seen: the floor must never sink. Checked in test runs only.
    seen_floor: i64,
    buddies: Buddies,
    /// The running task is to give way as soon as the CPU looks at its queue: until then a wake-up
    /// names no buddies. Of a group's queue that of the CPU counts.
    pub(crate) gives_way: bool,
}

impl CfsQueue {
    /// Waiting tasks in no meaningful order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.tree.iter().map(|(_, task)| *task)
    }

    /// The least virtual time and whose it is; it stands last in the list. None: nobody waits.
    fn leftmost(&self) -> Option<(i64, u32)> {
        self.tree.last().copied()
    }

    /// Of equal virtual run times the earlier arrival goes first.
    pub(crate) fn insert(&mut self, task: u32, vruntime: i64) {
        let at = self.tree.partition_point(|(v, _)| *v > vruntime);
        self.tree.insert(at, (vruntime, task));
    }

    /// A waiting task leaves the tree; its sums stay (`dequeue`). Panics if it does not wait.
    pub(crate) fn remove(&mut self, task: u32) {
        let at = self.tree.iter().rposition(|(_, t)| *t == task);
        self.tree.remove(at.expect("a waiting task is in the tree"));
    }

    /// A task joins (it waits).
    pub(crate) fn enqueue(&mut self, task: u32, entity: &Entity) {
        self.insert(task, entity.vruntime);
        self.nr += 1;
        self.nr_idle += usize::from(entity.is_idle());
        self.load += entity.weight.weight;
    }

    /// A task leaves; `waiting`: it was in the tree, else it was running. Returns the roles that it
    /// loses.
    pub(crate) fn dequeue(&mut self, task: u32, entity: &Entity, waiting: bool) -> Roles {
        if waiting {
            self.remove(task);
        }
        self.nr -= 1;
        self.nr_idle -= usize::from(entity.is_idle());
        self.load -= entity.weight.weight;
        self.forget(Roles::ALL, task)
    }

    /// The running task has run for `delta_ns`.
    #[inline]
    pub(crate) fn charge(&mut self, entity: &mut Entity, delta_ns: u64) {
        entity.vruntime += virtual_time(delta_ns, entity.weight);
        entity.slice_used_ns += delta_ns;
        self.update_min(Some(entity.vruntime));
    }

    /// The running or waiting task's weight changed from `old`.
    pub(crate) fn reweight(&mut self, old: Weight, new: Weight) {
        self.load = self.load - old.weight + new.weight;
    }

    /// The queue's floor follows its slowest task and never goes back.
    pub(crate) fn update_min(&mut self, running: Option<i64>) {
        let floor = match (running, self.leftmost()) {
            (Some(curr), Some((left, _))) => curr.min(left),
            (Some(curr), None) => curr,
            (None, Some((left, _))) => left,
            (None, None) => return,
        };
        self.min_vruntime = self.min_vruntime.max(floor);
        self.check_floor();
    }

    /// In debug builds: the floor never goes back.
    fn check_floor(&mut self) {
        debug_assert!(
            self.min_vruntime >= self.seen_floor,
            "the queue's virtual time went back from {} to {}",
            self.seen_floor,
            self.min_vruntime
        );
        self.seen_floor = self.min_vruntime;
    }

    /// The part of a time that an entity of this queue has of it.
    pub(crate) fn share_ns(&self, time_ns: u64, weight: Weight, queued: bool) -> u64 {
        let load = if queued {
            self.load
        } else {
            self.load + weight.weight
        };
        calc_delta(time_ns, weight.weight, Weight::of_sum(load))
    }

    /// Time a task may run before others are due, ns.
    pub(crate) fn slice_ns(&self, params: &CfsParams, entity: &Entity, queued: bool) -> u64 {
        let share = self.period_share_ns(params, entity.weight, queued);
        share.max(self.least_slice_ns(params, entity))
    }

    /// No slice of the entity is shorter (BASE_SLICE, from 5.13 on), ns.
    pub(crate) fn least_slice_ns(&self, params: &CfsParams, entity: &Entity) -> u64 {
        if !params.base_slice {
            0
        } else if entity.is_idle() && self.nr_idle < self.nr {
            IDLE_MIN_GRANULARITY_NS
        } else {
            params.min_granularity_ns
        }
    }

    /// Its part of the period by weight, ns.
    pub(crate) fn period_share_ns(&self, params: &CfsParams, weight: Weight, queued: bool) -> u64 {
        let nr = if queued { self.nr } else { self.nr + 1 };
        let period = if nr > params.nr_latency {
            nr as u64 * params.min_granularity_ns
        } else {
            params.latency_ns
        };
        self.share_ns(period, weight, queued)
    }

    /// Virtual run time a woken task gets: at most half a period behind the floor, a SCHED_IDLE one
    /// at most half the minimal granularity (`cfs_idle_credit`).
    pub(crate) fn place_woken(&self, params: &CfsParams, entity: &Entity) -> i64 {
        let whole_ns = if params.idle_credit && entity.is_idle() {
            params.min_granularity_ns
        } else {
            params.latency_ns
        };
        let credit_ns = if params.gentle_sleepers {
            whole_ns / 2
        } else {
            whole_ns
        };
        let earliest = self.min_vruntime - credit_ns.cast_signed();
        entity.vruntime.max(earliest)
    }

    /// Virtual run time a new task gets: one slice ahead of the floor, not before its parent.
    pub(crate) fn place_new(&self, params: &CfsParams, entity: &Entity, parent: i64) -> i64 {
        let slice = self.slice_ns(params, entity, false);
        self.place_behind(params, entity.weight, parent, slice)
    }

    /// Places a new task a slice behind, where the slice is not this queue's alone to say.
    pub(crate) fn place_behind(
        &self,
        params: &CfsParams,
        weight: Weight,
        parent: i64,
        slice_ns: u64,
    ) -> i64 {
        let debit = if params.start_debit {
            virtual_time(slice_ns, weight)
        } else {
            0
        };
        parent.max(self.min_vruntime + debit)
    }

    /// At a tick: has the running task used its slice, or is it too far ahead?
    pub(crate) fn tick_preempts(&mut self, params: &CfsParams, running: (u32, &Entity)) -> bool {
        if self.tree.is_empty() {
            return false;
        }
        let slice_ns = self.slice_ns(params, running.1, true);
        let over = self.overrun(params, running, slice_ns).is_some();
        self.gives_way |= over;
        over
    }

    /// Says whether a tick ends the turn, with a slice that is not this queue's alone to say.
    /// Returns the roles that it loses: who has used its slice is not to be picked again as a
    /// buddy.
    pub(crate) fn overrun(
        &mut self,
        params: &CfsParams,
        (task, running): (u32, &Entity),
        slice_ns: u64,
    ) -> Option<Roles> {
        let (left, _) = self.leftmost()?;
        let turn_ns = params.turn_ns(slice_ns);
        if running.slice_used_ns > turn_ns {
            return Some(self.forget(Roles::ALL, task));
        }
        let too_far_ahead = running.slice_used_ns >= params.min_granularity_ns
            && running.vruntime - left > turn_ns.cast_signed();
        too_far_ahead.then(Roles::default)
    }
}

/// Is `behind` behind `ahead` by more than the granularity, in the virtual time of `behind`'s
/// weight?
fn lags_by_more(params: &CfsParams, ahead: &Entity, behind: &Entity) -> bool {
    let gran = virtual_time(params.wakeup_granularity_ns, behind.weight);
    ahead.vruntime - behind.vruntime > gran
}

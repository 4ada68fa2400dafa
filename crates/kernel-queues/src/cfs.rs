//! The fair run queue of the kernels before 6.6 (CFS): virtual run time, slices, wake-up preemption
//! (docs/rules/queues.md#cfs; 4.17 form, with the least slice of 5.13).

mod class;
mod entity;
#[cfg(test)]
mod tests;

use crate::weight::{Weight, calc_delta, preempts_by_policy, virtual_time};
pub(crate) use class::Cfs;
pub use entity::CfsParams;
pub(crate) use entity::Entity;

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
    /// Preempted by a wake-up: preferred at the next pick while that is fair.
    last: Option<u32>,
    /// It yielded: not picked while another's turn is not too far off.
    skip: Option<u32>,
}

impl CfsQueue {
    /// Waiting tasks in no meaningful order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        self.tree.iter().map(|(_, task)| *task)
    }

    /// The task that a wake-up has preempted, and that is returned to.
    pub(crate) fn buddy(&self) -> Option<u32> {
        self.last
    }

    pub(crate) fn set_buddy(&mut self, buddy: u32) {
        self.last = Some(buddy);
    }

    /// Would the running task be picked again?
    pub(crate) fn keeps(&self, vruntime: i64) -> bool {
        let named = self.last.is_some() || self.skip.is_some();
        !named && self.leftmost().is_none_or(|(left, _)| vruntime < left)
    }

    fn leftmost(&self) -> Option<(i64, u32)> {
        self.tree.last().copied()
    }

    /// Of equal virtual run times the earlier arrival goes first.
    pub(crate) fn insert(&mut self, task: u32, vruntime: i64) {
        let at = self.tree.partition_point(|(v, _)| *v > vruntime);
        self.tree.insert(at, (vruntime, task));
    }

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

    /// A task leaves; `waiting`: it was in the tree, else it was running.
    pub(crate) fn dequeue(&mut self, task: u32, entity: &Entity, waiting: bool) {
        if waiting {
            self.remove(task);
        }
        self.forget(task);
        self.nr -= 1;
        self.nr_idle -= usize::from(entity.is_idle());
        self.load -= entity.weight.weight;
    }

    /// The task is nobody's buddy any more.
    fn forget(&mut self, task: u32) {
        self.last.take_if(|last| *last == task);
        self.skip.take_if(|skip| *skip == task);
    }

    /// The running task yields. Returns false if it is alone.
    pub(crate) fn skip(&mut self, task: u32) -> bool {
        if self.nr <= 1 {
            return false;
        }
        self.forget(task);
        self.skip = Some(task);
        true
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

    /// Virtual run time a woken task gets: at most half a period behind the floor.
    pub(crate) fn place_woken(&self, params: &CfsParams, vruntime: i64) -> i64 {
        let credit = if params.gentle_sleepers {
            params.latency_ns / 2
        } else {
            params.latency_ns
        };
        vruntime.max(self.min_vruntime - credit.cast_signed())
    }

    /// Virtual run time a new task gets: one slice ahead of the floor, not before its parent.
    pub(crate) fn place_new(&self, params: &CfsParams, entity: &Entity, parent: i64) -> i64 {
        let slice = self.slice_ns(params, entity, false);
        self.place_behind(params, entity.weight, parent, slice)
    }

    /// The same where the slice is not this queue's alone to say.
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
    pub(crate) fn tick_preempts(&self, params: &CfsParams, running: &Entity) -> bool {
        !self.tree.is_empty() && self.overrun(params, running, self.slice_ns(params, running, true))
    }

    /// The same with a slice that is not this queue's alone to say.
    pub(crate) fn overrun(&self, params: &CfsParams, running: &Entity, slice: u64) -> bool {
        let Some((left, _)) = self.leftmost() else {
            return false;
        };
        if running.slice_used_ns > slice {
            return true;
        }
        running.slice_used_ns >= params.min_granularity_ns
            && running.vruntime - left > slice.cast_signed()
    }

    /// Does a woken task preempt the running one? `running_task` is remembered as the one to
    /// return to.
    pub(crate) fn wakeup_preempts(
        &mut self,
        params: &CfsParams,
        running: (u32, &Entity),
        woken: &Entity,
    ) -> bool {
        if !params.wakeup_preemption {
            return false;
        }
        match preempts_by_policy(running.1.policy, woken.policy) {
            None if lags_by_more(params, running.1, woken) => {}
            by_policy => return by_policy == Some(true),
        }
        if params.last_buddy && self.nr >= params.nr_latency {
            self.last = Some(running.0);
        }
        true
    }

    /// The next task: leftmost, or the second if the first has yielded, or the buddy, each while it
    /// is not too far ahead. `entity` looks tasks up.
    pub(crate) fn pick<'a>(
        &mut self,
        params: &CfsParams,
        entity: impl Fn(u32) -> &'a Entity,
    ) -> Option<u32> {
        let (_, left) = self.leftmost()?;
        let mut next = left;
        if self.skip == Some(left)
            && let Some((_, second)) = self.tree.iter().rev().nth(1)
            && !lags_by_more(params, entity(*second), entity(left))
        {
            next = *second;
        }
        if let Some(last) = self.last.take()
            && self.tree.iter().any(|(_, t)| *t == last)
            && !lags_by_more(params, entity(last), entity(left))
        {
            next = last;
        }
        self.remove(next);
        self.skip.take_if(|skip| *skip == next);
        Some(next)
    }
}

/// Is `behind` behind `ahead` by more than the granularity, in the virtual time of `behind`'s
/// weight?
fn lags_by_more(params: &CfsParams, ahead: &Entity, behind: &Entity) -> bool {
    let gran = virtual_time(params.wakeup_granularity_ns, behind.weight);
    ahead.vruntime - behind.vruntime > gran
}

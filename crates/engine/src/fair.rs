//! The fair run queue of the kernels before 6.6 (CFS): virtual run time, slices, wake-up preemption
//! (docs/rules/queues.md#cfs; 4.17 form). Mechanics only: which CPU a task is on is the core's.

use wakeplace_policy_sys::sys::{WP_WEIGHT_IDLE_POLICY, wp_params};
use wakeplace_policy_sys::{nice_inv_weight, nice_weight};
use wakeplace_workload::FairPolicy;

pub(crate) const NICE_0_WEIGHT: u64 = 1024;

/// The era's fair-class constants, scaled for a machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FairParams {
    pub(crate) latency_ns: u64,
    pub(crate) min_granularity_ns: u64,
    pub(crate) wakeup_granularity_ns: u64,
    /// Tasks up to which the period is `latency_ns`.
    pub(crate) nr_latency: usize,
    pub(crate) gentle_sleepers: bool,
    pub(crate) start_debit: bool,
    pub(crate) wakeup_preemption: bool,
    pub(crate) last_buddy: bool,
}

impl FairParams {
    pub(crate) fn new(params: &wp_params, nr_cpus: usize) -> Self {
        let factor = scaling_factor(params, nr_cpus);
        let latency = u64::from(params.sched_latency_ns);
        let granularity = u64::from(params.min_granularity_ns);
        Self {
            latency_ns: latency * factor,
            min_granularity_ns: granularity * factor,
            wakeup_granularity_ns: u64::from(params.wakeup_granularity_ns) * factor,
            nr_latency: latency.div_ceil(granularity) as usize,
            gentle_sleepers: params.gentle_fair_sleepers != 0,
            start_debit: params.start_debit != 0,
            wakeup_preemption: params.wakeup_preemption != 0,
            last_buddy: params.last_buddy != 0,
        }
    }
}

/// By how much the era's times are longer on this machine.
pub(crate) fn scaling_factor(params: &wp_params, nr_cpus: usize) -> u64 {
    let factor = wakeplace_policy_sys::scaling_factor(params.tunable_scaling, nr_cpus as u32);
    u64::from(factor)
}

/// Weight with its fixed-point inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) weight: u64,
    inverse: u64,
}

impl Weight {
    pub(crate) fn of_nice(nice: i8) -> Self {
        Self {
            weight: u64::from(nice_weight(nice.into())),
            inverse: u64::from(nice_inv_weight(nice.into())),
        }
    }

    pub(crate) fn of_task(nice: i8, policy: FairPolicy) -> Self {
        match policy {
            FairPolicy::Other | FairPolicy::Batch => Self::of_nice(nice),
            FairPolicy::Idle => Self {
                weight: u64::from(WP_WEIGHT_IDLE_POLICY),
                inverse: (1 << 32) / u64::from(WP_WEIGHT_IDLE_POLICY),
            },
        }
    }

    pub(crate) fn of_sum(weight: u64) -> Self {
        Self {
            weight,
            inverse: u64::from(u32::MAX).checked_div(weight).unwrap_or(0),
        }
    }
}

/// `delta * weight / per` in the kernel's fixed point: the product with the inverse is shortened
/// to 32 bits before the last multiplication.
fn calc_delta(delta_ns: u64, weight: u64, per: Weight) -> u64 {
    let mut factor = weight * per.inverse;
    let mut shift = 32;
    while factor >> 32 != 0 {
        factor >>= 1;
        shift -= 1;
    }
    ((u128::from(delta_ns) * u128::from(factor)) >> shift) as u64
}

/// Virtual time of `delta_ns` for a weight.
#[inline]
pub(crate) fn virtual_time(delta_ns: u64, per: Weight) -> i64 {
    if per.weight == NICE_0_WEIGHT {
        return delta_ns.cast_signed();
    }
    calc_delta(delta_ns, NICE_0_WEIGHT, per).cast_signed()
}

/// Does a woken task preempt by policy alone? None: their times decide.
pub(crate) fn preempts_by_policy(running: FairPolicy, woken: FairPolicy) -> Option<bool> {
    match (running, woken) {
        (FairPolicy::Idle, FairPolicy::Other | FairPolicy::Batch) => Some(true),
        (_, FairPolicy::Batch | FairPolicy::Idle) => Some(false),
        (_, FairPolicy::Other) => None,
    }
}

/// What the queue keeps of each task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entity {
    pub(crate) vruntime: i64,
    pub(crate) weight: Weight,
    policy: FairPolicy,
    /// Run time since it was picked, for the slice.
    pub(crate) slice_used_ns: u64,
}

impl Entity {
    pub(crate) fn new(nice: i8, policy: FairPolicy) -> Self {
        Self {
            vruntime: 0,
            weight: Weight::of_task(nice, policy),
            policy,
            slice_used_ns: 0,
        }
    }

    /// Off the queue.
    pub(crate) fn set_policy(&mut self, policy: FairPolicy) {
        self.policy = policy;
    }

    /// The entity of a task group.
    pub(crate) fn of_group(weight: u64) -> Self {
        Self {
            weight: Weight::of_sum(weight),
            ..Self::new(0, FairPolicy::Other)
        }
    }

    /// A group's entity where it is compared on behalf of one of its tasks.
    pub(crate) fn on_behalf_of(&self, task: &Self) -> Self {
        Self {
            policy: task.policy,
            ..*self
        }
    }
}

/// One CPU's queue. The running task is counted but not in the tree.
#[derive(Debug, Default)]
pub(crate) struct FairQueue {
    /// Waiting tasks by descending virtual run time; the next one is last.
    tree: Vec<(i64, u32)>,
    /// Tasks, the running one included.
    pub(crate) nr: usize,
    load: u64,
    pub(crate) min_vruntime: i64,
    /// As last seen: the floor must never sink. Checked in test runs only.
    seen_floor: i64,
    /// Preempted by a wake-up: preferred at the next pick while that is fair.
    last: Option<u32>,
    /// It yielded: not picked while another's turn is not too far off.
    skip: Option<u32>,
}

impl FairQueue {
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
        self.load += entity.weight.weight;
    }

    /// A task leaves; `waiting`: it was in the tree, else it was running.
    pub(crate) fn dequeue(&mut self, task: u32, entity: &Entity, waiting: bool) {
        if waiting {
            self.remove(task);
        }
        self.forget(task);
        self.nr -= 1;
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
    pub(crate) fn slice_ns(&self, params: &FairParams, weight: Weight, queued: bool) -> u64 {
        let nr = if queued { self.nr } else { self.nr + 1 };
        let period = if nr > params.nr_latency {
            nr as u64 * params.min_granularity_ns
        } else {
            params.latency_ns
        };
        self.share_ns(period, weight, queued)
    }

    /// Virtual run time a woken task gets: at most half a period behind the floor.
    pub(crate) fn place_woken(&self, params: &FairParams, vruntime: i64) -> i64 {
        let credit = if params.gentle_sleepers {
            params.latency_ns / 2
        } else {
            params.latency_ns
        };
        vruntime.max(self.min_vruntime - credit.cast_signed())
    }

    /// Virtual run time a new task gets: one slice ahead of the floor, not before its parent.
    pub(crate) fn place_new(&self, params: &FairParams, weight: Weight, parent: i64) -> i64 {
        self.place_behind(params, weight, parent, self.slice_ns(params, weight, false))
    }

    /// The same where the slice is not this queue's alone to say.
    pub(crate) fn place_behind(
        &self,
        params: &FairParams,
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
    pub(crate) fn tick_preempts(&self, params: &FairParams, running: &Entity) -> bool {
        !self.tree.is_empty()
            && self.overrun(params, running, self.slice_ns(params, running.weight, true))
    }

    /// The same with a slice that is not this queue's alone to say.
    pub(crate) fn overrun(&self, params: &FairParams, running: &Entity, slice: u64) -> bool {
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
        params: &FairParams,
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
        params: &FairParams,
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
fn lags_by_more(params: &FairParams, ahead: &Entity, behind: &Entity) -> bool {
    let gran = virtual_time(params.wakeup_granularity_ns, behind.weight);
    ahead.vruntime - behind.vruntime > gran
}

#[cfg(test)]
mod tests {
    use super::{Entity, FairParams, FairQueue, Weight, calc_delta, virtual_time};
    use wakeplace_policy_sys::Policy;
    use wakeplace_workload::FairPolicy;

    fn params() -> FairParams {
        FairParams::new(Policy::parse("linux-4.17").unwrap().core_params(), 8)
    }

    /// Goal: the kernel's fixed point, bit for bit. Source: docs/rules/queues.md#cfs.
    #[test]
    fn virtual_time_matches_the_kernels_fixed_point() {
        assert_eq!(virtual_time(1_000_000, Weight::of_nice(5)), 3_056_716);
        assert_eq!(virtual_time(1_000_000, Weight::of_nice(-5)), 328_099);
        assert_eq!(virtual_time(1_000_000, Weight::of_nice(19)), 68_266_666);
        assert_eq!(virtual_time(123, Weight::of_nice(0)), 123);
    }

    /// Source: docs/rules/queues.md#cfs-constants, for 8 CPUs.
    #[test]
    fn three_equal_tasks_share_a_period() {
        let params = params();
        assert_eq!(params.latency_ns, 24_000_000);
        assert_eq!(params.nr_latency, 8);
        let mut queue = FairQueue::default();
        for task in 0..3 {
            queue.enqueue(task, &Entity::new(0, FairPolicy::Other));
        }
        assert_eq!(queue.slice_ns(&params, Weight::of_nice(0), true), 7_999_998);
        assert_eq!(
            calc_delta(1 << 40, 1024, Weight::of_sum(1024)),
            (1 << 40) - (1 << 18)
        );
    }

    /// Source: docs/rules/queues.md#cfs-numbers: nice 0 and 5 on one CPU get slices of 18083885 and
    /// 5916114 ns.
    #[test]
    fn slices_follow_weights() {
        let mut queue = FairQueue::default();
        queue.enqueue(0, &Entity::new(0, FairPolicy::Other));
        queue.enqueue(1, &Entity::new(5, FairPolicy::Other));
        let params = params();
        assert_eq!(
            queue.slice_ns(&params, Weight::of_nice(0), true),
            18_083_885
        );
        assert_eq!(queue.slice_ns(&params, Weight::of_nice(5), true), 5_916_114);
    }

    #[test]
    fn equal_virtual_times_keep_arrival_order() {
        let mut queue = FairQueue::default();
        let entity = Entity::new(0, FairPolicy::Other);
        for task in [7, 3, 5] {
            queue.enqueue(task, &entity);
        }
        let params = params();
        assert_eq!(queue.pick(&params, |_| &entity), Some(7));
        assert_eq!(queue.pick(&params, |_| &entity), Some(3));
        assert_eq!(queue.pick(&params, |_| &entity), Some(5));
        assert_eq!(queue.pick(&params, |_| &entity), None);
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_floor_that_sinks_is_found() {
        let found = std::panic::catch_unwind(|| {
            let mut queue = FairQueue {
                seen_floor: 7,
                ..Default::default()
            };
            queue.update_min(Some(5));
        });
        assert!(found.is_err());
    }

    #[test]
    fn sleepers_are_credited_half_a_period() {
        let queue = FairQueue {
            min_vruntime: 100_000_000,
            ..Default::default()
        };
        let params = params();
        assert_eq!(queue.place_woken(&params, 0), 88_000_000);
        assert_eq!(queue.place_woken(&params, 95_000_000), 95_000_000);
    }

    #[test]
    fn a_wakeup_preempts_beyond_the_granularity_only() {
        let params = params();
        let mut queue = FairQueue::default();
        let at = |vruntime| Entity {
            vruntime,
            ..Entity::new(0, FairPolicy::Other)
        };
        assert!(!queue.wakeup_preempts(&params, (0, &at(4_000_000)), &at(0)));
        assert!(queue.wakeup_preempts(&params, (0, &at(4_000_001)), &at(0)));
    }

    /// Source: docs/rules/queues.md#cfs, pick and yield: who yielded is passed over for the second
    /// unless that is ahead by more than the granularity (4 ms on 8 CPUs); picked, it is no longer
    /// passed over. Alone it is not marked.
    #[test]
    fn who_yielded_is_passed_over_once() {
        let params = params();
        let at = |vruntime| Entity {
            vruntime,
            ..Entity::new(0, FairPolicy::Other)
        };
        for (second, picked) in [(4_000_000, 1), (4_000_001, 0)] {
            let entities = [at(0), at(second)];
            let mut queue = FairQueue::default();
            queue.enqueue(0, &entities[0]);
            assert!(!queue.skip(0));
            queue.enqueue(1, &entities[1]);
            assert!(queue.skip(0));
            assert!(!queue.keeps(0));
            let entity = |task| &entities[task as usize];
            assert_eq!(queue.pick(&params, entity), Some(picked));
            queue.insert(picked, entities[picked as usize].vruntime);
            // Still to be passed over if it was; else it was forgotten when it was picked.
            let again = if picked == 1 { 1 } else { 0 };
            assert_eq!(queue.pick(&params, entity), Some(again));
        }
    }

    /// Source: docs/rules/queues.md#cfs: a normal wakee preempts SCHED_IDLE; BATCH and IDLE wakees
    /// preempt nobody else. SCHED_IDLE weighs 3.
    #[test]
    fn policies_decide_before_times_do() {
        use FairPolicy::{Batch, Idle, Other};
        let params = params();
        let mut queue = FairQueue::default();
        let mut preempts = |running, woken| {
            let ahead = Entity {
                vruntime: 1 << 40,
                ..Entity::new(0, running)
            };
            let behind = (
                Entity::new(0, woken),
                Entity {
                    vruntime: 1 << 41,
                    ..Entity::new(0, woken)
                },
            );
            [behind.0, behind.1].map(|woken| queue.wakeup_preempts(&params, (0, &ahead), &woken))
        };
        assert_eq!(preempts(Other, Other), [true, false]);
        assert_eq!(preempts(Batch, Other), [true, false]);
        for wakee in [Batch, Idle] {
            assert_eq!(preempts(Other, wakee), [false, false]);
        }
        assert_eq!(preempts(Idle, Other), [true, true]);
        assert_eq!(preempts(Idle, Batch), [true, true]);
        assert_eq!(preempts(Idle, Idle), [false, false]);
        assert_eq!(Weight::of_task(-20, Idle).weight, 3);
        assert_eq!(virtual_time(3_000, Weight::of_task(0, Idle)), 1_023_999);
    }
}

//! The live scheduler's queues: order, slices and preemption by virtual deadlines
//! (docs/rules/live-queue.md#vq-pick). Both homes make the same calls in the same order.
//!
//! What must stay: virtual times wrap and are compared by the sign of a difference; times are ns.
//! Free: the wrapping alone: each method is one call of policy/src/live_queue.
//!
//! Tests by part: queue.rs: `a_sleeper_keeps_what_it_is_owed` (`live_queue_place`,
//! `live_queue_leave`, `deadline_ns`), `a_slice_since_it_was_chosen_protects` (`live_queue_start`,
//! `live_queue_preempts`), `slices_end_if_somebody_waits` (`live_queue_expired`,
//! `live_queue_yields`, `live_queue_stop`, `slice_left_ns`),
//! `an_earlier_deadline_that_is_eligible_goes_before` (`live_queue_before`),
//! `who_had_its_share_is_preempted` (`entity_eligible`), `who_goes_on_beside_others_is_chosen_anew`
//! (`live_queue_go_on`), `a_pulled_task_is_where_its_deadline_is` (`live_queue_deadline_on`),
//! `a_yield_gives_up_the_slice_of_who_is_owed` (`yield_task`), queue_walk.rs:
//! `the_first_that_is_owed_time_is_taken` (`pick_begin`, `pick_offer`, `pick_end`, `over`),
//! `only_the_first_are_looked_at` (`preempt_begin`, `preempt_offer`, `preempt_end`),
//! `before_a_lone_one_sleepers_leave_as_in_a_walk` (`pick_lone`), queue_sleepers.rs:
//! `it_leaves_when_it_is_its_turn` (`live_queue_retire`), idle_pass.rs:
//! `who_has_just_gone_idle_does_not_look` (`idle_pass_wanted`),
//! `the_timer_rests_longer_the_longer_all_are_idle` (`idle_timer_ns`, `was_busy`),
//! `a_turn_counts_once_all_cpus_have_had_their_part` (`idle_turn_offer`, `idle_turn_end`, `begin`).
//! `live_queue_is_next` is asked in queue_walk.rs; `queue_kind` and `vq_slice_ns` are looks.
//!
//! Callers: crates/engine/src/kernel/model/home/live.rs.
//!
//! Tests: crates/policy-sys/tests/all/queue.rs, crates/policy-sys/tests/all/queue_walk.rs

use crate::balance::Offer;
use crate::core::{Core, EventResult};
use crate::sys;
use crate::task::Task;

/// Whose order the waiting tasks of a CPU follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// The fair class of the kernels before 6.6.
    Cfs,
    /// The fair class of the kernels from 6.6 on.
    Eevdf,
    /// The live scheduler's.
    Live,
}

/// A look at the tasks that wait on a CPU: begin, offer the first in their order, end.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueWalk(sys::wp_queue_walk);

impl QueueWalk {
    /// Over those that wait on `cpu`.
    #[must_use]
    pub fn over(cpu: u32, now_ns: u64) -> Self {
        Self(sys::wp_queue_walk {
            cpu,
            now_ns,
            ..sys::wp_queue_walk::default()
        })
    }
}

/// A turn of the timer for idle CPUs: begin, offer every CPU, end.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdleTurn(sys::wp_idle_turn);

impl IdleTurn {
    /// Begins a turn of the timer at this time.
    #[must_use]
    pub fn begin(now_ns: u64) -> Self {
        let mut turn = Self::default();
        // SAFETY: writes the turn.
        unsafe { sys::wp_idle_turn_begin(&raw mut turn.0, now_ns) };
        turn
    }
}

impl Task {
    /// Its place in the order of a live queue. Compare by the sign of a difference: it wraps.
    #[inline]
    #[must_use]
    pub fn deadline_ns(&self) -> u64 {
        self.0.deadline_ns
    }
}

impl Core {
    /// The queue in which the tasks of a CPU wait.
    #[must_use]
    pub fn queue_kind(&self) -> QueueKind {
        match self.state().params.queue {
            sys::WP_QUEUE_EEVDF => QueueKind::Eevdf,
            sys::WP_QUEUE_LIVE => QueueKind::Live,
            _ => QueueKind::Cfs,
        }
    }

    /// How long a task runs while others wait.
    #[must_use]
    pub fn vq_slice_ns(&self) -> u64 {
        // SAFETY: reads the context only.
        unsafe { sys::wp_live_queue_slice_ns(self.state()) }
    }

    /// Should this idle CPU make its periodic pass now?
    #[must_use]
    pub fn idle_pass_wanted(&self, cpu: u32, now_ns: u64) -> bool {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_idle_kick_needed(self.state(), cpu, now_ns) != 0 }
    }

    /// The timer for idle CPUs has its turn; how long it waits then, ns. `busy`: of all CPUs
    /// what they [were](Self::was_busy).
    pub fn idle_timer_ns(&mut self, busy: u32, now_ns: u64) -> u64 {
        // SAFETY: changes the context only.
        unsafe { sys::wp_idle_timer_ns(self.ctx_mut(), busy, now_ns) }
    }

    /// One CPU's part of the turn. If the answer asks for `balance`, the CPU is idle and is to be
    /// woken for its periodic pass.
    pub fn idle_turn_offer(&mut self, turn: &mut IdleTurn, cpu: u32) -> EventResult {
        self.touch(cpu);
        // SAFETY: the context and the turn are live and exclusive; the core masks the index.
        let did = unsafe { sys::wp_idle_turn_offer(self.ctx_mut(), &raw mut turn.0, cpu) };
        EventResult::new(did)
    }

    /// All CPUs were offered: how long the timer waits now, ns.
    pub fn idle_turn_end(&mut self, turn: &IdleTurn) -> u64 {
        // SAFETY: changes the context only.
        unsafe { sys::wp_idle_turn_end(self.ctx_mut(), &raw const turn.0) }
    }

    /// Is this CPU busy, or was it since that timer's last turn? Bits of `WP_BUSY_*`.
    #[must_use]
    pub fn was_busy(&self, cpu: u32) -> u32 {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_was_busy(self.state(), cpu) }
    }

    /// The task waits on `cpu` from now on: finds its `Task::deadline_ns`.
    pub fn live_queue_place(&mut self, task: &mut Task, cpu: u32, now_ns: u64) {
        // SAFETY: the context and the task are live and exclusive for the call; the core masks
        // every index and keeps no pointer. So below.
        unsafe { sys::wp_live_queue_place(self.ctx_mut(), &raw mut task.0, cpu, now_ns) };
    }

    /// It begins to run on `cpu`.
    pub fn live_queue_start(&mut self, task: &mut Task, cpu: u32, now_ns: u64) {
        // SAFETY: see live_queue_place.
        unsafe { sys::wp_live_queue_start(self.ctx_mut(), &raw mut task.0, cpu, now_ns) };
    }

    /// It stops, for whatever reason.
    pub fn live_queue_stop(&mut self, task: &mut Task, now_ns: u64) {
        // SAFETY: see live_queue_place.
        unsafe { sys::wp_live_queue_stop(self.ctx_mut(), &raw mut task.0, now_ns) };
    }

    /// It leaves its queue, to sleep or for another one.
    pub fn live_queue_leave(&mut self, task: &mut Task, sleeps: bool, now_ns: u64) {
        // SAFETY: see live_queue_place.
        unsafe {
            sys::wp_live_queue_leave(self.ctx_mut(), &raw mut task.0, u32::from(sleeps), now_ns)
        };
    }

    /// Should the queued task run at once instead of the one that runs on `cpu`, if no other
    /// waiting one goes before it?
    #[must_use]
    pub fn live_queue_preempts(&mut self, task: &Task, cpu: u32, now_ns: u64) -> bool {
        // SAFETY: see live_queue_place; the task is only read.
        unsafe { sys::wp_live_queue_preempts(self.ctx_mut(), &raw const task.0, cpu, now_ns) != 0 }
    }

    /// Is the waiting task owed time in the queue of `cpu`?
    #[must_use]
    pub fn entity_eligible(&self, task: &Task, cpu: u32, now_ns: u64) -> bool {
        // SAFETY: reads only.
        unsafe { sys::wp_entity_eligible(self.state(), &raw const task.0, cpu, now_ns) != 0 }
    }

    /// Does `first`, which waits already, go before `task` in the queue of `cpu`? None: it is not
    /// eligible. No: its deadline is later, as are those of all behind it.
    #[must_use]
    pub fn live_queue_before(
        &self,
        first: &Task,
        task: &Task,
        cpu: u32,
        now_ns: u64,
    ) -> Option<bool> {
        let (first, deadline) = (&raw const first.0, task.0.deadline_ns);
        // SAFETY: reads only.
        let order =
            unsafe { sys::wp_live_queue_before(self.state(), first, deadline, cpu, now_ns) };
        (order != 0).then_some(order > 0)
    }

    /// `next` is who runs next. If it is a sleeper's turn before that, it leaves. Returns true
    /// then: somebody else may be the next now, and another sleeper's turn may have come.
    #[must_use]
    pub fn live_queue_retire(&mut self, next: &Task, cpu: u32, now_ns: u64) -> bool {
        // SAFETY: see live_queue_place; the task is only read.
        unsafe { sys::wp_live_queue_retire(self.ctx_mut(), &raw const next.0, cpu, now_ns) != 0 }
    }

    /// What is left of the running task's slice, ns.
    #[must_use]
    pub fn slice_left_ns(&self, cpu: u32, now_ns: u64) -> u64 {
        // SAFETY: reads only.
        unsafe { sys::wp_slice_left_ns(self.state(), cpu, now_ns) }
    }

    /// The deadline that a waiting task will have in the queue of `cpu`.
    #[must_use]
    pub fn live_queue_deadline_on(&self, task: &Task, cpu: u32, now_ns: u64) -> u64 {
        // SAFETY: reads only.
        unsafe { sys::wp_live_queue_deadline_on(self.state(), &raw const task.0, cpu, now_ns) }
    }

    /// The running task lets others go first, of whom `nr_waiting` are awake. Returns false if
    /// there is nobody: it goes on.
    pub fn yield_task(&mut self, cpu: u32, nr_waiting: u32, now_ns: u64) -> bool {
        // SAFETY: see live_queue_place.
        unsafe { sys::wp_yield_task(self.ctx_mut(), cpu, nr_waiting, now_ns) != 0 }
    }

    /// The CPU has looked at its queue, and the running task goes on: its next slice begins.
    pub fn live_queue_go_on(&mut self, cpu: u32, now_ns: u64) {
        // SAFETY: see live_queue_place.
        unsafe { sys::wp_live_queue_go_on(self.ctx_mut(), cpu, now_ns) };
    }

    /// Has the running task had its slice while `nr_waiting` others wait?
    #[must_use]
    pub fn live_queue_expired(&mut self, cpu: u32, nr_waiting: u32, now_ns: u64) -> bool {
        // SAFETY: see live_queue_place.
        unsafe { sys::wp_live_queue_expired(self.ctx_mut(), cpu, nr_waiting, now_ns) != 0 }
    }

    /// The CPU looks at its queue: is this waiting task due before the running one?
    #[must_use]
    pub fn live_queue_yields(&mut self, first: &Task, cpu: u32, now_ns: u64) -> bool {
        // SAFETY: see live_queue_place; the task is only read.
        unsafe { sys::wp_live_queue_yields(self.ctx_mut(), &raw const first.0, cpu, now_ns) != 0 }
    }

    /// The CPU looks for its next task, or (`runs`) whether its own goes on. False: there is
    /// nothing to choose. The own task goes on then, or the first that waits runs.
    pub fn pick_begin(&self, walk: &mut QueueWalk, runs: bool, nr_waiting: u32) -> bool {
        walk.0.runs = u32::from(runs);
        // SAFETY: reads the context, writes the walk.
        unsafe { sys::wp_pick_begin(self.state(), &raw mut walk.0, nr_waiting) != 0 }
    }

    /// May this waiting task run next?
    pub fn pick_offer(&mut self, walk: &mut QueueWalk, task: &Task) -> Offer {
        let (walk, task) = (&raw mut walk.0, &raw const task.0);
        // SAFETY: see live_queue_place; the task is only read.
        Offer::new(unsafe { sys::wp_pick_offer(self.ctx_mut(), walk, task) })
    }

    /// The walk is over. True: begin anew. Else what was taken runs, or what runs if there was
    /// nothing to choose.
    #[must_use]
    pub fn pick_end(&mut self, walk: &QueueWalk) -> bool {
        // SAFETY: see live_queue_place; the walk is only read.
        unsafe { sys::wp_pick_end(self.ctx_mut(), &raw const walk.0) != 0 }
    }

    /// The task joins those that wait. False: it does not run at once. True: unless one of them
    /// goes before it.
    pub fn preempt_begin(&mut self, walk: &mut QueueWalk, task: &Task) -> bool {
        let (walk, task) = (&raw mut walk.0, &raw const task.0);
        // SAFETY: see live_queue_place; the task is only read.
        unsafe { sys::wp_preempt_begin(self.ctx_mut(), walk, task) != 0 }
    }

    /// Does this one of them go before it?
    pub fn preempt_offer(&self, walk: &mut QueueWalk, first: &Task) -> Offer {
        let (walk, first) = (&raw mut walk.0, &raw const first.0);
        // SAFETY: reads the context and the task, writes the walk.
        Offer::new(unsafe { sys::wp_preempt_offer(self.state(), walk, first) })
    }

    /// Is it, of those that wait where another one runs, the next in any case?
    #[must_use]
    pub fn live_queue_is_next(&self, task: &Task, cpu: u32, waiting: u32) -> bool {
        let task = &raw const task.0;
        // SAFETY: reads the context and the task.
        unsafe { sys::wp_live_queue_is_next(self.state(), task, cpu, waiting) != 0 }
    }

    /// The only one that waited is about to run: sleepers whose turn came before leave.
    pub fn pick_lone(&mut self, task: &Task, cpu: u32, now_ns: u64) {
        // SAFETY: see live_queue_place; the task is only read.
        let _ = unsafe { sys::wp_pick_lone(self.state_mut(), &raw const task.0, cpu, now_ns) };
    }

    /// The walk is over: does the task run at once?
    #[must_use]
    pub fn preempt_end(walk: &QueueWalk) -> bool {
        // SAFETY: reads the walk.
        unsafe { sys::wp_preempt_end(&raw const walk.0) != 0 }
    }
}

//! What the queue keeps of a task, and the era's rules (docs/rules/queues.md#eevdf).
//!
//! What must stay: times are ns; lag and rest of a request in virtual time of its weight. Free:
//! what else is kept of a task.
//!
//! Tests by part: eevdf/tests.rs: `the_base_slice_grows_with_the_machine` (`new`),
//! `a_new_weight_and_the_protection` (`is_protected`, `limit_protection`),
//! `a_move_begins_a_slice_in_6_6` (`off_queue`, `rest_of_request_ns`),
//! `no_eligible_task_with_an_earlier_deadline_is_passed_over` (`virtual_time`, `slice_ns`);
//! eevdf/tests/buddies.rs: `next_buddy_names_who_is_woken` (`names_all_woken`); engine's
//! changes.rs: `a_policy_holds_from_its_phase_on` (`reweight_off_queue`), groups.rs:
//! `shares_follow_the_load_over_cpus` (`of_group`, `set_load_weight`), storm.rs:
//! `random_steps_obey_the_rules` (`set_own_slice`).
//!
//! Callers: eevdf.rs, eevdf/class.rs, grouped/eevdf.rs.
//!
//! Tests: crates/kernel-queues/src/eevdf/tests.rs

use crate::fair_queues::KernelKind;
use crate::weight::{NICE_0_WEIGHT, Weight, scaling_factor, virtual_time};
use wakeplace_policy_sys::sys::{WP_EEVDF_66, WP_EEVDF_612, WP_EEVDF_618, wp_params};
use wakeplace_workload::FairPolicy;

/// Whose rules: each kernel's are its own from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// No slices of a task's own, and a task that moves begins a slice.
    Linux66,
    /// The picked task is protected to its deadline.
    Linux612,
    /// ... for the shortest slice in the queue.
    Linux618,
    /// ... while it is eligible, where others have shorter slices. The longest slice limits the
    /// lag.
    Linux73,
}

/// The era's constants and rules, scaled for a machine.
#[derive(Clone, Copy, Debug)]
pub struct EevdfParams {
    /// Slice of a task that has none of its own.
    pub(crate) slice_ns: u64,
    /// Without `run_to_parity` a picked task still runs this long.
    pub(crate) least_run_ns: u64,
    pub(crate) tick_ns: u64,
    pub(crate) form: Form,
    pub(crate) run_to_parity: bool,
    pub(crate) preempt_short: bool,
    pub(crate) delay_dequeue: bool,
    pub(crate) next_buddy: bool,
    pub(crate) pick_buddy: bool,
    pub(crate) wakeup_preemption: bool,
    /// What is displaced gives way lazily: a mark is no reschedule that is due.
    pub(crate) lazy: bool,
    /// How virtual time is made of a run.
    virtual_time: VirtualTime,
}

/// The arithmetic of `calc_delta_fair()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VirtualTime {
    /// A product with the inverse of the kernel's table.
    Table,
    /// A product with an inverse that is rounded down (7.3 on 32 bits).
    Inverse,
    /// A quotient (7.3 on 64 bits).
    Quotient,
}

impl EevdfParams {
    /// Of an era on a machine with so many CPUs and this tick.
    #[must_use]
    pub(crate) fn new(
        params: &wp_params,
        nr_cpus: usize,
        tick_ns: u64,
        kernel: KernelKind,
    ) -> Self {
        let form = match params.eevdf_form {
            WP_EEVDF_66 => Form::Linux66,
            WP_EEVDF_612 => Form::Linux612,
            WP_EEVDF_618 => Form::Linux618,
            _ => Form::Linux73,
        };
        Self {
            slice_ns: u64::from(params.base_slice_ns) * scaling_factor(params, nr_cpus),
            least_run_ns: u64::from(params.base_slice_ns),
            tick_ns,
            form,
            run_to_parity: params.run_to_parity != 0,
            preempt_short: params.preempt_short != 0,
            delay_dequeue: params.delay_dequeue != 0,
            next_buddy: params.next_buddy != 0,
            pick_buddy: params.pick_buddy != 0,
            wakeup_preemption: params.wakeup_preemption != 0,
            lazy: kernel.lazy,
            virtual_time: match form {
                Form::Linux73 if kernel.is_32bit => VirtualTime::Inverse,
                Form::Linux73 => VirtualTime::Quotient,
                _ => VirtualTime::Table,
            },
        }
    }

    /// Virtual time of `delta_ns` for a weight (`calc_delta_fair()`).
    #[inline]
    pub(crate) fn virtual_time(&self, delta_ns: u64, per: Weight) -> i64 {
        match self.virtual_time {
            VirtualTime::Table => virtual_time(delta_ns, per),
            VirtualTime::Inverse => virtual_time(delta_ns, Weight::of_sum(per.weight)),
            VirtualTime::Quotient => (delta_ns * NICE_0_WEIGHT / per.weight).cast_signed(),
        }
    }

    /// NEXT_BUDDY to 6.18: each woken task is named, whether it preempts or not.
    pub(crate) fn names_all_woken(&self) -> bool {
        self.next_buddy && self.form < Form::Linux73
    }
}

/// How a task comes to a queue: what it brings besides its lag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// Its first time: half a slice.
    New,
    /// From a sleep: a new slice.
    Woken,
    /// From another queue: what was left of its slice. The deadline counts from its vruntime.
    Moved,
}

/// What the queue keeps of each task. Off the queue only the lag counts, and after a move the rest
/// of the slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entity {
    pub(super) vruntime: i64,
    pub(super) deadline: i64,
    /// V - vruntime when it left.
    pub(super) lag: i64,
    /// To 6.12: the deadline as it was at the pick; from 6.18 on the vruntime up to which it is
    /// protected.
    pub(super) protection: i64,
    pub(super) weight: Weight,
    pub(super) policy: FairPolicy,
    /// Its own slice, if it has one.
    pub(super) own_slice_ns: Option<u64>,
    pub(super) arrival: Arrival,
    /// It sleeps, but stays queued until its lag is worked off.
    pub(super) delayed: bool,
}

impl Entity {
    /// A task off the queue, owed nothing.
    pub(crate) fn new(nice: i8, policy: FairPolicy, own_slice_ns: Option<u64>) -> Self {
        Self {
            vruntime: 0,
            deadline: 0,
            lag: 0,
            protection: 0,
            weight: Weight::of_task(nice, policy),
            policy,
            own_slice_ns,
            arrival: Arrival::New,
            delayed: false,
        }
    }

    /// The entity of a task group: each time it joins it begins a whole slice.
    pub(crate) fn of_group(weight: u64, idle: bool) -> Self {
        Self {
            weight: Weight::of_sum(weight),
            arrival: Arrival::Woken,
            ..Self::new(0, FairPolicy::of_group(idle), None)
        }
    }

    /// Off the queue: what it is owed stays the same in real time, and what is left of its request.
    pub(crate) fn reweight_off_queue(&mut self, weight: Weight) {
        let scaled = |time: i64| time * self.weight() / weight.weight.cast_signed();
        if self.arrival == Arrival::Moved {
            self.deadline = scaled(self.deadline); // counts from its vruntime
        }
        self.lag = self.lag * self.weight() / weight.weight.cast_signed();
        self.weight = weight;
    }

    /// Weight and policy of a task off the queue.
    pub(crate) fn set_load_weight(&mut self, nice: i8, policy: FairPolicy) {
        self.policy = policy;
        let weight = Weight::of_task(nice, policy);
        if self.weight != weight {
            self.reweight_off_queue(weight);
        }
    }

    /// For wake-up preemption, which asks it first.
    pub(crate) fn policy(&self) -> FairPolicy {
        self.policy
    }

    /// A slice of its own, or none. Off the queue.
    pub(crate) fn set_own_slice(&mut self, slice_ns: Option<u64>) {
        self.own_slice_ns = slice_ns;
    }

    /// Its own slice counts from 6.12 on; else the era's.
    pub(super) fn slice_ns(&self, params: &EevdfParams) -> u64 {
        let own_ns = self.own_slice_ns.filter(|_| params.form > Form::Linux66);
        own_ns.unwrap_or(params.slice_ns)
    }

    /// Gives the entity's weight as the sums have it, signed.
    pub(super) fn weight(&self) -> i64 {
        self.weight.weight.cast_signed()
    }

    /// Run time up to its deadline, ns, rounded up: none is left when it has run that long.
    pub(super) fn rest_of_request_ns(&self) -> u64 {
        let left = u64::try_from(self.deadline - self.vruntime).unwrap_or(0);
        (left * self.weight.weight).div_ceil(NICE_0_WEIGHT)
    }

    /// It is not protected beyond this run time from a vruntime on.
    pub(super) fn limit_protection(&mut self, params: &EevdfParams, from: i64, slice_ns: u64) {
        let end = from + params.virtual_time(slice_ns, self.weight);
        self.protection = self.protection.min(end);
    }

    /// It has left the queue with this lag.
    pub(super) fn off_queue(mut self, lag: i64, arrival: Arrival) -> Self {
        if arrival == Arrival::Moved {
            self.deadline -= self.vruntime;
        }
        Self {
            lag,
            arrival,
            delayed: false,
            ..self
        }
    }

    /// Does it go on, while it runs, although another's deadline is earlier?
    pub(super) fn is_protected(&self, params: &EevdfParams) -> bool {
        if params.form >= Form::Linux618 {
            self.vruntime < self.protection
        } else {
            params.run_to_parity && self.protection == self.deadline
        }
    }
}

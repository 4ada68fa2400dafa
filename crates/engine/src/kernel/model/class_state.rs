//! What the engine keeps of RT and deadline tasks: place, budget, turn, and what was lent to them.
//! Budgets follow docs/rules/rt-and-deadline.md#rt-budgets.
//!
//! What must stay: budgets are ns of the CPU at capacity 1024 where the era scales them
//! (`which_eras_scale`), else of the clock; `level` orders deadline tasks above RT tasks, these by
//! priority. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `a_deadline_task_has_its_bandwidth` (periods),
//! `a_constrained_deadline_task_waits_for_its_period` and
//! `a_constrained_deadline_task_keeps_its_deadline` (constrained), sync.rs (loans). By function:
//! `a_deadline_task_has_its_bandwidth` (`begin_period`, `begin_job`, `budget_left_ns`),
//! `a_constrained_deadline_task_waits_for_its_period` (`is_constrained`, `next_period_ns`),
//! `a_constrained_deadline_task_keeps_its_deadline` (`overflows`, `bandwidth_left_ns`),
//! sync.rs::`a_holder_is_lent_the_priority_of_its_waiter` (`lend`, `set_loan`, `own_level`),
//! changes.rs::`a_policy_holds_from_its_phase_on` (`new_class`, `set_own_class`, `class_of`),
//! kthreads.rs::`a_governors_thread_displaces_fair_tasks` (`is_governor`),
//! storm.rs::`random_steps_obey_the_rules` (`is_throttled`, `forget_refill`). `class_states`,
//! `has_classes`, `is_class`, `state`: all of these. Each `new`: every run with such tasks.
//!
//! Callers: change.rs (`has_classes`, `new_class`, `own_level`, `set_own_class`, `set_loan`,
//! `forget_refill`), classes.rs (`is_governor`, `next_period_ns`, `begin_period`, `begin_job`,
//! `budget_left_ns`), run.rs (`has_classes`, `budget_left_ns`), class_change.rs (`begin_job`),
//! fork.rs (`has_classes`), many files (`is_class`).
//!
//! Tests: crates/engine/tests/behaviour/classes.rs,
//! crates/engine/tests/behaviour/deadline_budgets.rs

use super::kthreads::Kthreads;
use crate::ids::TaskId;
use wakeplace_policy_sys::{ClassTask, Core};
use wakeplace_workload::{Phase, PolicyChange, RealTime, TaskScript, Workload};

/// A task above the fair class.
#[derive(Debug)]
pub(super) struct ClassState {
    pub(super) task: ClassTask,
    /// Deadline: what is left of the budget, as the core counts it, ns; below 0: owed.
    pub(super) budget_ns: i64,
    /// When the empty budget is filled again; the task is on no queue until then.
    pub(super) throttled_until_ns: Option<u64>,
    /// SCHED_RR: left of its turn, ns; None: no turns.
    pub(super) turn_ns: Option<u64>,
    /// It lets its equals go first.
    pub(super) yields: bool,
    /// It is not the task's own, but lent for a mutex.
    pub(super) lent: bool,
    /// The task's own meanwhile.
    pub(super) own: Option<Box<Self>>,
}

/// The parameters of these classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassParams {
    pub(super) period_ns: u64,
    pub(super) grant_ns: u64,
    pub(super) server: bool,
    pub(super) turn_ns: u64,
    /// A deadline before the end of the period gives no more bandwidth than the period (4.13).
    constrained: bool,
}

impl ClassParams {
    /// The era's parameters of these classes, in ns.
    pub(super) fn new(core: &Core) -> Self {
        let params = &core.state().params;
        Self {
            period_ns: u64::from(params.rt_period_us) * 1000,
            grant_ns: u64::from(params.rt_runtime_us) * 1000,
            server: params.rt_server != 0,
            turn_ns: u64::from(params.rr_slice_us) * 1000,
            constrained: params.dl_constrained != 0,
        }
    }
}

/// Per thread, its class state; empty if all tasks are fair.
pub(super) fn class_states(
    workload: &Workload,
    kthreads: &Kthreads,
    params: &ClassParams,
) -> Vec<Option<ClassState>> {
    let of = |t: &TaskScript| t.attributes.realtime;
    let turns = |t: &TaskScript| {
        let change = |p: &Phase| matches!(p.change.policy, Some(PolicyChange::RealTime(_)));
        t.phases.iter().any(change)
    };
    let governors = kthreads.class_states(params);
    if governors.is_empty() && !workload.tasks.iter().any(|t| of(t).is_some() || turns(t)) {
        return Vec::new();
    }
    let state = |kind| ClassState::new(kind, params);
    let threads = workload.tasks.iter().map(|t| of(t).map(state));
    let mut states: Vec<_> = threads.chain([None, None]).chain(governors).collect();
    states.resize_with(workload.tasks.len() + 2 + kthreads.len() as usize, || None);
    states
}

impl ClassState {
    /// A task of that policy begins.
    pub(super) fn new(kind: RealTime, params: &ClassParams) -> Self {
        let (task, turn_ns) = match kind {
            RealTime::Fifo { priority } => (ClassTask::rt(priority.into()), None),
            RealTime::RoundRobin { priority } => {
                (ClassTask::rt(priority.into()), Some(params.turn_ns))
            }
            RealTime::Deadline {
                runtime_ns,
                deadline_ns,
                period_ns,
            } => (
                ClassTask::deadline(runtime_ns, deadline_ns, period_ns),
                None,
            ),
        };
        Self {
            task,
            budget_ns: 0,
            throttled_until_ns: None,
            turn_ns,
            yields: false,
            lent: false,
            own: None,
        }
    }

    /// A thread of schedutil: it has no budget, and none that ends.
    pub(super) fn is_governor(&self) -> bool {
        self.task.is_deadline() && self.task.raw().dl_runtime_ns == 0
    }

    /// Its deadline comes before the end of its period.
    fn is_constrained(&self) -> bool {
        let raw = self.task.raw();
        raw.dl_deadline_ns < raw.dl_period_ns
    }

    /// When its next period begins (`dl_next_period()`); 0: it has had none.
    pub(super) fn next_period_ns(&self) -> u64 {
        let raw = self.task.raw();
        match raw.deadline_ns {
            0 => 0,
            deadline_ns => deadline_ns - raw.dl_deadline_ns + raw.dl_period_ns,
        }
    }

    /// What its bandwidth up to its deadline comes to from `now` on, ns.
    fn bandwidth_left_ns(&self, now: u64) -> u128 {
        let raw = self.task.raw();
        let left = u128::from(raw.deadline_ns.saturating_sub(now));
        left * u128::from(raw.dl_runtime_ns) / u128::from(raw.dl_deadline_ns)
    }

    /// What is left of its budget exceeds that (`dl_entity_overflow()`).
    fn overflows(&self, now: u64) -> bool {
        let budget = u128::from(self.budget_ns.max(0).unsigned_abs());
        budget > self.bandwidth_left_ns(now)
    }

    /// A whole budget and a new deadline.
    pub(super) fn begin_period(&mut self, now: u64) {
        let raw = self.task.raw_mut();
        raw.deadline_ns = now + raw.dl_deadline_ns;
        self.budget_ns = raw.dl_runtime_ns.cast_signed();
    }

    /// What a holder of a mutex gets of this one, which waits for it: its place among the others,
    /// without a budget.
    pub(super) fn lend(&self) -> Self {
        Self {
            task: self.task.clone(),
            budget_ns: i64::MAX / 4,
            throttled_until_ns: None,
            turn_ns: None,
            yields: false,
            lent: true,
            own: None,
        }
    }
}

/// The RT and deadline tasks of a run.
#[derive(Debug)]
pub(super) struct Classes {
    /// By thread; empty if all tasks are fair.
    pub(super) states: Vec<Option<ClassState>>,
    pub(super) params: ClassParams,
    /// The timer of the RT grants runs.
    pub(super) rt_period_armed: bool,
    /// Some CPU is known to the core to have a waiting task that may leave.
    pub(super) offers: bool,
}

impl Classes {
    /// What a workload and the kernel's threads need of these classes; empty if all tasks are fair.
    pub(super) fn new(workload: &Workload, kthreads: &Kthreads, core: &Core) -> Self {
        let params = ClassParams::new(core);
        Self {
            states: class_states(workload, kthreads, &params),
            params,
            rt_period_armed: false,
            offers: false,
        }
    }

    /// Is the task above the fair class?
    #[inline]
    pub(super) fn is_class(&self, task: TaskId) -> bool {
        !self.states.is_empty() && self.states[task.index()].is_some()
    }

    /// Panics for a fair task: ask `is_class` first.
    #[inline]
    pub(super) fn state(&mut self, task: TaskId) -> &mut ClassState {
        let state = self.states[task.index()].as_mut();
        state.expect("asked of RT and deadline tasks only")
    }

    /// Its level, 0 for a fair task.
    #[inline]
    pub(super) fn level(&self, task: TaskId) -> u64 {
        let state = self.states.get(task.index()).and_then(Option::as_ref);
        state.map_or(0, |s| s.task.level())
    }

    /// Some task is or can be above the fair class.
    #[inline]
    pub(super) fn has_classes(&self) -> bool {
        !self.states.is_empty()
    }

    /// A task's state above the fair class. None: it is a fair task.
    #[inline]
    pub(super) fn class_of(&self, task: TaskId) -> Option<&ClassState> {
        self.states.get(task.index())?.as_ref()
    }

    /// The state of a task that gets this policy now: a period has not begun.
    pub(super) fn new_class(&self, kind: RealTime) -> ClassState {
        ClassState::new(kind, &self.params)
    }

    /// The level that the task has without what it was lent.
    pub(super) fn own_level(&self, task: TaskId) -> u64 {
        let own = match self.class_of(task) {
            Some(state) if state.lent => state.own.as_deref(),
            state => state,
        };
        own.map_or(0, |state| state.task.level())
    }

    /// Its policy changes; what it was lent stays unless that is less. Off the queue.
    pub(super) fn set_own_class(&mut self, task: TaskId, own: Option<ClassState>) {
        let level = own.as_ref().map_or(0, |own| own.task.level());
        match &mut self.states[task.index()] {
            Some(lent) if lent.lent && lent.task.level() > level => lent.own = own.map(Box::new),
            state => *state = own,
        }
    }

    /// It is lent another place, or (None) has only its own again. Off the queue.
    pub(super) fn set_loan(&mut self, task: TaskId, lent: Option<ClassState>) {
        let state = &mut self.states[task.index()];
        let own = match state.take() {
            Some(before) if before.lent => before.own,
            own => own.map(Box::new),
        };
        *state = match lent {
            Some(mut lent) => {
                lent.own = own;
                Some(lent)
            }
            None => own.map(|own| *own),
        };
    }

    /// A deadline task that waits for its next budget, on no queue?
    #[inline]
    pub(super) fn is_throttled(&self, task: TaskId) -> bool {
        self.class_of(task)
            .is_some_and(|state| state.throttled_until_ns.is_some())
    }

    /// A sleeping task does not wait for a budget.
    pub(super) fn forget_refill(&mut self, task: TaskId) {
        if let Some(Some(state)) = self.states.get_mut(task.index()) {
            state.throttled_until_ns = None;
        }
    }

    /// A deadline task wakes: a new job with a new deadline, unless what it has left fits into what
    /// is left of the old one (constant bandwidth server). A constrained one has no more until its
    /// next period than fits: nothing after its deadline. False: its budget is empty.
    pub(super) fn begin_job(&mut self, task: TaskId, now: u64) -> bool {
        let constrained = self.params.constrained;
        let state = self.state(task);
        if !state.task.is_deadline() || state.lent {
            return true;
        }
        if state.is_governor() {
            let raw = state.task.raw_mut();
            raw.deadline_ns = now + raw.dl_deadline_ns;
            return true;
        }
        if constrained && state.is_constrained() && now < state.next_period_ns() {
            let fits = i64::try_from(state.bandwidth_left_ns(now)).unwrap_or(i64::MAX);
            state.budget_ns = state.budget_ns.min(fits);
        } else if state.task.raw().deadline_ns <= now || state.overflows(now) {
            state.begin_period(now);
        }
        state.budget_ns > 0
    }

    /// What is left of its budget, if it has one that ends, ns.
    #[inline]
    pub(super) fn budget_left_ns(&self, task: TaskId) -> Option<u64> {
        let state = self.class_of(task)?;
        let ends = state.task.is_deadline() && !state.lent && !state.is_governor();
        ends.then(|| state.budget_ns.max(0).unsigned_abs())
    }
}

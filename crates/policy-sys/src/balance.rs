//! Load balancing as a dialogue: the core says where to pull from, the home offers tasks. The order
//! of calls is the dialogue's: begin, offers, end, until it is over.
//!
//! What must stay: both homes lead the same dialogue (engine's balance.rs, scx's pull.bpf.h). No
//! rule is here. Free: the wrapping alone.
//!
//! Tests by part: balance_pass_7_3.rs: `intervals` (`balance_due`), `which_tasks_move`
//! (`balance_begin`, `balance_offer`), `misfit_task_is_pushed_to_a_big_cpu` (`balance_end`,
//! `active_balance_end`), newidle_7_3.rs: `newidle_gates` (`newidle_begin`, `newidle_level`),
//! `newidle_by_chance` (`newidle_done`, `set_random`), fixtures of nohz (`nohz_target`,
//! `nohz_pass_end`), fixtures of balance_38 (`nohz_begin`), fixtures of newidle (`newidle_end`),
//! pulls.rs (`set_offered`, in its helper `offer`), sched_cache.rs: `a_lone_task_is_pushed`
//! (`push_llc`), energy_push.rs: `a_tick_pushes_a_task_alone` (`EventResult::push`),
//! `a_stuck_task_finds_a_smaller_cpu` (`may_push`, `push_target`). `balance_pass_end` and
//! `balance_running` have no test of their own; `prepare`, `src_cpu`, `dst_cpu`, `push`, `moved`
//! and `levels` are looks that all of the dialogue's tests use. `nohz_next` is run by
//! crates/engine/tests/behaviour/idle.rs. `number`, `new` and `raw` have no test of their own.
//!
//! Callers: the engine's balancing (crates/engine/src/kernel/model); crates/scx's pull.bpf.h does
//! the same in BPF.
//!
//! Tests: crates/policy-sys/tests/all/balance.rs, crates/policy-sys/tests/all/newidle_7_3.rs

use crate::core::{Core, EventResult};
use crate::sys;
use crate::task::Task;

impl EventResult {
    /// Tick: push the running task to `balance.push_cpu` of its CPU, at `balance.push_level`; then
    /// `Core::active_balance_end`.
    #[must_use]
    pub fn push(self) -> bool {
        self.0 & sys::WP_DID_PUSH != 0
    }
}

/// State of the CPU that balances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleKind {
    /// It runs something.
    Busy,
    /// It is idle.
    Idle,
    /// It is about to go idle.
    NewlyIdle,
}

impl IdleKind {
    /// Gives the number that the core's C enum has.
    fn number(self) -> u32 {
        match self {
            Self::Busy => sys::WP_CPU_NOT_IDLE,
            Self::Idle => sys::WP_CPU_IDLE,
            Self::NewlyIdle => sys::WP_CPU_NEWLY_IDLE,
        }
    }
}

/// What the core wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This domain is finished.
    Done,
    /// Another CPU balances for this group: leave the levels above, too.
    Stop,
    /// Offer the tasks of `Balance::src_cpu`, least recently run first.
    Detach,
}

impl Step {
    /// What the core wants next; a number that is none of enum wp_balance_step counts as done.
    fn new(number: i32) -> Self {
        match number.cast_unsigned() {
            sys::WP_BALANCE_STOP => Self::Stop,
            sys::WP_BALANCE_DETACH => Self::Detach,
            _ => Self::Done,
        }
    }
}

/// Answer to an offered task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It stays.
    Skip,
    /// Move it to `Balance::dst_cpu`; of a walk over a queue: it runs next.
    Take,
    /// Enough; offer no more.
    Stop,
}

impl Offer {
    pub(crate) fn new(number: i32) -> Self {
        match number.cast_unsigned() {
            sys::WP_OFFER_TAKE => Self::Take,
            sys::WP_OFFER_STOP => Self::Stop,
            _ => Self::Skip,
        }
    }
}

/// What a kicked CPU is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NohzWork {
    /// Nothing.
    Nothing,
    /// Balance for the idle CPUs that are due, then for itself.
    Due,
    /// Balance for itself, then for every other idle CPU until it has work.
    All,
}

/// One attempt to balance a domain.
#[derive(Clone, Debug, Default)]
pub struct Balance(sys::wp_lb_env);

impl Balance {
    /// An attempt for one domain level of `this_cpu`.
    pub fn prepare(&mut self, now_ns: u64, this_cpu: u32, level: u32, idle: IdleKind) {
        self.0.now_ns = now_ns;
        self.0.this_cpu = this_cpu;
        self.0.level = level;
        self.0.idle = idle.number();
    }
    /// The number that decides whether a new-idle attempt is made at all; any value.
    pub fn set_random(&mut self, random: u32) {
        self.0.random = random;
    }
    /// Of the task that is offered next: whether it is the buddy of its queue, and whether it has
    /// had more than its share of it.
    pub fn set_offered(&mut self, buddy: bool, ineligible: bool) {
        self.0.offered_buddy = u32::from(buddy);
        self.0.offered_ineligible = u32::from(ineligible);
    }
    /// The CPU to pull from, valid after `Step::Detach`.
    #[must_use]
    pub fn src_cpu(&self) -> u32 {
        self.0.src_cpu
    }
    /// The CPU to pull to; may change between rounds.
    #[must_use]
    pub fn dst_cpu(&self) -> u32 {
        self.0.dst_cpu
    }
    /// After the end: push the running task of `src_cpu` to the CPU that balances.
    #[must_use]
    pub fn push(&self) -> bool {
        self.0.push != 0
    }
    /// Says whether the task to push may be another one, but only one that prefers the cache of the
    /// CPU that balances (`Core::prefers_llc_of`).
    #[must_use]
    pub fn push_llc(&self) -> bool {
        self.0.push_llc != 0
    }
    /// Tasks moved so far.
    #[must_use]
    pub fn moved(&self) -> u32 {
        self.0.moved
    }
    /// The raw record: for tests and tools that look into an attempt.
    #[must_use]
    pub fn raw(&self) -> &sys::wp_lb_env {
        &self.0
    }
    /// The raw record, to put another scheduler's attempt in its place.
    pub fn raw_mut(&mut self) -> &mut sys::wp_lb_env {
        &mut self.0
    }
}

impl Core {
    /// Number of domain levels of a CPU.
    #[must_use]
    pub fn levels(&self, cpu: u32) -> u32 {
        self.cpu(cpu).topo.nr_levels
    }

    /// Is this level due for periodic balancing? Marks it as done now if so.
    pub fn balance_due(&mut self, cpu: u32, level: u32, now_ns: u64, idle: IdleKind) -> bool {
        // SAFETY: the context is live and exclusive; indices are masked by the core. So below.
        unsafe { sys::wp_balance_due(self.ctx_mut(), cpu, level, now_ns, idle.number()) != 0 }
    }

    /// A pass over all levels of a CPU is over.
    pub fn balance_pass_end(&mut self, cpu: u32, now_ns: u64, idle: IdleKind) {
        // SAFETY: see balance_due.
        unsafe { sys::wp_balance_pass_end(self.ctx_mut(), cpu, now_ns, idle.number()) };
    }

    /// Begins an attempt.
    pub fn balance_begin(&mut self, balance: &mut Balance) -> Step {
        // SAFETY: see balance_due.
        Step::new(unsafe { sys::wp_balance_begin(self.ctx_mut(), &raw mut balance.0) })
    }

    /// May this task of `src_cpu` move?
    pub fn balance_offer(&mut self, balance: &mut Balance, task: &Task) -> Offer {
        let weighed = self.weighed(task);
        let task = weighed.as_ref().unwrap_or(task);
        // SAFETY: see balance_due; the task is only read.
        let answer =
            unsafe { sys::wp_balance_offer(self.ctx_mut(), &raw mut balance.0, &raw const task.0) };
        Offer::new(answer)
    }

    /// `src_cpu` executes this fair task, before `balance_end`.
    pub fn balance_running(&mut self, balance: &mut Balance, task: &Task) {
        // SAFETY: see balance_due; the task is only read.
        unsafe { sys::wp_balance_running(self.ctx_mut(), &raw mut balance.0, &raw const task.0) };
    }

    /// All tasks were offered (and those taken moved). `running_allowed`: the task that `src_cpu`
    /// executes may use the CPU that balances.
    pub fn balance_end(&mut self, balance: &mut Balance, running_allowed: bool) -> Step {
        let allowed = u32::from(running_allowed);
        // SAFETY: see balance_due.
        Step::new(unsafe { sys::wp_balance_end(self.ctx_mut(), &raw mut balance.0, allowed) })
    }

    /// The push that `Balance::push` asked for is over.
    pub fn active_balance_end(&mut self, src_cpu: u32, dst_cpu: u32, level: u32, moved: bool) {
        // SAFETY: see balance_due.
        unsafe {
            sys::wp_active_balance_end(self.ctx_mut(), src_cpu, dst_cpu, level, u32::from(moved))
        };
    }

    /// Should a task that was put back to wait look for a better CPU?
    #[must_use]
    pub fn may_push(&self, task: &Task) -> bool {
        // SAFETY: reads both only.
        unsafe { sys::wp_sched_energy_push_task(self.state(), &raw const task.0) != 0 }
    }

    /// The CPU that such a task goes to. Its own: it stays.
    #[must_use]
    pub fn push_target(&mut self, task: &mut Task) -> u32 {
        // SAFETY: see balance_due; the task is live and exclusive.
        unsafe { sys::wp_push_fair_task(self.ctx_mut(), &raw mut task.0) }
    }

    /// A CPU runs out of work: should it search?
    pub fn newidle_begin(&mut self, cpu: u32, now_ns: u64) -> bool {
        // SAFETY: see balance_due.
        unsafe { sys::wp_newidle_begin(self.ctx_mut(), cpu, now_ns) != 0 }
    }

    /// Is this level worth searching after `spent_ns`?
    pub fn newidle_level(&mut self, cpu: u32, level: u32, spent_ns: u64) -> bool {
        // SAFETY: see balance_due.
        unsafe { sys::wp_newidle_level(self.ctx_mut(), cpu, level, spent_ns) != 0 }
    }

    /// A level was searched; returns what that cost, ns.
    pub fn newidle_done(&mut self, cpu: u32, level: u32) -> u64 {
        // SAFETY: see balance_due.
        unsafe { sys::wp_newidle_done(self.ctx_mut(), cpu, level) }
    }

    /// The search is over.
    pub fn newidle_end(&mut self, cpu: u32, spent_ns: u64, pulled: bool) {
        // SAFETY: see balance_due.
        unsafe { sys::wp_newidle_end(self.ctx_mut(), cpu, spent_ns, u32::from(pulled)) };
    }

    /// The idle CPU that a kick goes to. None: there is none.
    pub fn nohz_target(&mut self) -> Option<u32> {
        // SAFETY: see balance_due.
        Some(unsafe { sys::wp_find_new_ilb(self.ctx_mut()) }).filter(|c| *c != sys::WP_NONE)
    }

    /// A CPU was kicked to balance: for whom does it?
    pub fn nohz_begin(&mut self, cpu: u32) -> NohzWork {
        // SAFETY: see balance_due.
        let work = unsafe { sys::wp_nohz_begin(self.ctx_mut(), cpu) };
        match work.cast_unsigned() {
            sys::WP_NOHZ_DUE => NohzWork::Due,
            sys::WP_NOHZ_ALL => NohzWork::All,
            _ => NohzWork::Nothing,
        }
    }

    /// The next idle CPU after `after`: `update_blocked` it and, after a kick to balance, balance
    /// for it.
    pub fn nohz_next(&mut self, after: Option<u32>) -> Option<u32> {
        let after = after.unwrap_or(sys::WP_NONE);
        // SAFETY: see balance_due.
        Some(unsafe { sys::wp_nohz_next(self.ctx_mut(), after) }).filter(|c| *c != sys::WP_NONE)
    }

    /// A pass over the idle CPUs is over; `balanced`: they were balanced for, not only decayed.
    pub fn nohz_pass_end(&mut self, now_ns: u64, balanced: bool) {
        // SAFETY: see balance_due.
        unsafe { sys::wp_nohz_pass_end(self.ctx_mut(), now_ns, u32::from(balanced)) };
    }
}

/// Single steps of an attempt on another scheduler's state (docs/rules/README.md#step-by-step).
impl Core {
    /// Does the CPU of the attempt balance its domain, and no other one?
    pub fn on_state_balances(&mut self, balance: &Balance) -> bool {
        // SAFETY: see balance_due; the attempt is only read.
        unsafe { sys::wp_on_state_balances(self.ctx_mut(), &raw const balance.0) != 0 }
    }

    /// Is there a group to pull from? The attempt has it, with kind and amount.
    pub fn on_state_src_group(&mut self, balance: &mut Balance) -> bool {
        // SAFETY: see balance_due.
        unsafe { sys::wp_on_state_src_group(self.ctx_mut(), &raw mut balance.0) != 0 }
    }

    /// The CPU of the attempt's group to pull from. None: no queue of it will do.
    pub fn on_state_src_cpu(&mut self, balance: &mut Balance) -> Option<u32> {
        // SAFETY: see balance_due.
        let cpu = unsafe { sys::wp_on_state_src_cpu(self.ctx_mut(), &raw mut balance.0) };
        Some(cpu).filter(|cpu| *cpu != sys::WP_NONE)
    }

    /// Nothing was taken: is the task pushed that runs on `src_cpu`?
    pub fn on_state_pushes(&mut self, balance: &Balance) -> bool {
        // SAFETY: see balance_due; the attempt is only read.
        unsafe { sys::wp_on_state_pushes(self.ctx_mut(), &raw const balance.0) != 0 }
    }
}

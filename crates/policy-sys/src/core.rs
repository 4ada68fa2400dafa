//! The core's state and entry points as a safe object. One `Core` per simulated machine. A pointer
//! into the state never leaves this crate.
//!
//! What must stay: calls that may ask for a frequency return `EventResult`; no rule is here. Free:
//! the wrapping alone; a new entry point of C gets a method here.
//!
//! Tests by part: fixtures.rs: `every_fixture_holds` (`select_cpu`, `candidates`, `scanned`),
//! asym_switches.rs: `a_group_of_one_needs_no_look` (`compared_in_groups`), fits.rs: `thresholds`
//! (`util_fits`), policy_matrix.rs: `a_mode_changes_live` (`change_params`), frequency.rs:
//! `rate_limit_values` (`rate_limit_us`), hotplug.rs: `signals_stay_and_lessons_go` (`is_nohz`),
//! idle_pass.rs: `what_fades_lets_the_clock_down` (`freq_request`, `EventResult::freq`),
//! signals_7_3.rs: `external_frequencies` (`perf_request`), energy_7_3.rs:
//! `each_condition_off_deactivates` (`energy_inactive`), `overutilized_thresholds`
//! (`overutilized`), early_eras.rs: `capacities_in_tasks` (`capacity_tasks`), idle_pass.rs:
//! `a_task_to_give_ends_the_rest` (`ends_rest`), balance.rs: `nohz_statistics_every_32_ms`
//! (`stats`, `kick`), response_time.rs: `a_fast_estimate_for_the_frequency_alone`
//! (`sched_cpu_util`), energy_7_3.rs: `external_governor` (`restart`). `set_exit_latency_us`,
//! `first_allowed` have no test of their own.
//!
//! Callers: the engine's models, tests and crates/scx/src/live.rs.
//!
//! Tests: crates/policy-sys/tests/all/fixtures.rs, crates/policy-sys/tests/all/frequency.rs

use crate::kept::Kept;
use crate::machine::{MachineError, MachineFacts};
use crate::reason::{Reason, Rule};
use crate::sched_cache::Processes;
use crate::sys;
use crate::task::Task;
use crate::task_group::Group;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};

/// What an event led to. A frequency request that nobody carries out blocks its domain for good.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventResult(pub(crate) u32);

impl EventResult {
    pub(crate) fn new(bits: i32) -> Self {
        Self(bits.cast_unsigned())
    }
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// The CPU's frequency domain has a new request (`Core::freq_request`).
    #[must_use]
    pub fn freq(self) -> bool {
        self.0 & sys::WP_DID_FREQ != 0
    }
    /// Tick: run the periodic balancing on this CPU now.
    #[must_use]
    pub fn balance(self) -> bool {
        self.0 & sys::WP_DID_BALANCE != 0
    }
    /// Tick: kick an idle CPU to balance (`Core::nohz_target`); tick of an idle CPU: it answers a
    /// kick of before (`Core::nohz_begin`).
    #[must_use]
    pub fn kick(self) -> bool {
        self.0 & sys::WP_DID_KICK != 0
    }
    /// Tick: kick an idle CPU to decay the signals of idle CPUs only.
    #[must_use]
    pub fn stats(self) -> bool {
        self.0 & sys::WP_DID_STATS != 0
    }
    /// Tick: the timer for idle CPUs has rested; it is due now.
    #[must_use]
    pub fn ends_rest(self) -> bool {
        self.0 & sys::WP_DID_END_REST != 0
    }
}

/// What is asked of `Core::select_cpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A sleeping task wakes.
    Wake,
    /// It wakes, and the waker asks for its own CPU (WF_CURRENT_CPU).
    WakeHere,
    /// A new task.
    Fork,
    /// A task execs.
    Exec,
}

impl PlaceKind {
    /// Gives the core's number of it.
    pub(crate) fn number(self) -> u32 {
        match self {
            PlaceKind::Wake | PlaceKind::WakeHere => sys::WP_PLACE_WAKE,
            PlaceKind::Fork => sys::WP_PLACE_FORK,
            PlaceKind::Exec => sys::WP_PLACE_EXEC,
        }
    }
}

/// Who wakes or forks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waker {
    /// The task at this index.
    Task(usize),
    /// The idle task of the deciding CPU: an interrupt on an idle CPU.
    Idle,
    /// The task at this index, a kernel thread bound to the deciding CPU.
    Kthread(usize),
}

/// A question: where should this task go?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Now, ns.
    pub now_ns: u64,
    /// Wake, fork or exec.
    pub kind: PlaceKind,
    /// Where the decision is taken.
    pub this_cpu: u32,
    /// Where the task ran before.
    pub prev_cpu: u32,
    /// The waker says it will sleep at once.
    pub sync: bool,
    /// Who asks.
    pub waker: Waker,
    /// Load of the task that runs on `this_cpu`, 0 = idle.
    pub waker_load: u32,
}

/// One CPU that a decision looked at closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// CPU number.
    pub cpu: u32,
    /// Its utilisation with the task on it, 0..=1024.
    pub util: u32,
    /// Its capacity less that.
    pub spare: u32,
    /// 1: the task fits; 0: it does not; -1: it does but for its `uclamp_min`.
    pub fits: i32,
    /// Energy with the task there, in the unit of the form: of the whole system (v3, 5.0: mW x
    /// utilisation share) or what the task adds to its domain (7.3: uW x 10 x utilisation share).
    pub energy: Option<u64>,
}

/// The core with its state.
pub struct Core {
    ctx: Box<sys::wp_ctx>,
    decision: Box<sys::wp_decision>,
    pub(crate) groups: Vec<Group>,
    pub(crate) kept: Option<Kept>,
    pub(crate) processes: Option<Processes>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core")
            .field("nr_cpus", &self.ctx.nr_cpus)
            .finish_non_exhaustive()
    }
}

/// A zero-filled struct of integers on the heap; pages that are never touched cost nothing.
pub(crate) fn zeroed_box<T>() -> Box<T> {
    let layout = Layout::new::<T>();
    // SAFETY: the layout has a size; all-zero bytes are a valid value of the core's plain structs
    // (integers and arrays of them), and the allocation is handed to exactly one Box.
    unsafe {
        let memory = alloc_zeroed(layout).cast::<T>();
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(memory)
    }
}

impl Core {
    /// A core for a machine under a policy.
    ///
    /// # Errors
    /// Facts the core refuses, as an energy model whose frequencies do not rise.
    pub fn new(facts: &MachineFacts, params: &sys::wp_params) -> Result<Self, MachineError> {
        let mut core = Self {
            ctx: zeroed_box(),
            decision: zeroed_box(),
            groups: Vec::new(),
            kept: None,
            processes: None,
        };
        core.ctx.params = *params;
        facts.describe(&mut core)?;
        Ok(core)
    }

    /// The raw state: for tests and tools that build a situation by hand. Every value is an integer
    /// the core masks before use, so no value can make it unsafe.
    #[must_use]
    pub fn state(&self) -> &sys::wp_ctx {
        &self.ctx
    }

    /// Gives the core's state to be changed (`state`).
    pub fn state_mut(&mut self) -> &mut sys::wp_ctx {
        self.touch_all();
        &mut self.ctx
    }

    /// Of a state that another core had.
    pub(crate) fn of_parts(ctx: Box<sys::wp_ctx>, groups: Vec<Group>) -> Self {
        Self {
            ctx,
            decision: zeroed_box(),
            groups,
            kept: None,
            processes: None,
        }
    }

    /// The context and the decision that the next question fills.
    pub(crate) fn parts(&mut self) -> (*mut sys::wp_ctx, *mut sys::wp_decision) {
        (&raw mut *self.ctx, &raw mut *self.decision)
    }

    /// The context as the entry points take it. Who changes a CPU by it says so (`touch`).
    #[inline]
    pub(crate) fn ctx_mut(&mut self) -> *mut sys::wp_ctx {
        &raw mut *self.ctx
    }

    /// Gives one CPU's state to be read.
    #[inline]
    #[must_use]
    pub fn cpu(&self, cpu: u32) -> &sys::wp_cpu {
        &self.ctx.cpus[cpu as usize]
    }

    /// One CPU's state, for the fields that the home writes (`nr_running`, `pending`, ...).
    #[inline]
    pub fn cpu_mut(&mut self, cpu: u32) -> &mut sys::wp_cpu {
        self.touch(cpu);
        &mut self.ctx.cpus[cpu as usize]
    }

    /// The exit latency of the idle state that a CPU is in; `None`: it is in none.
    #[inline]
    pub fn set_exit_latency_us(&mut self, cpu: u32, latency_us: Option<u32>) {
        self.ctx.cpus[cpu as usize].idle.idle_exit_latency_us = latency_us.unwrap_or(sys::WP_NONE);
    }

    /// Why the energy-aware rule is inactive although the policy asks for it; `None` = active or
    /// not asked for.
    #[must_use]
    pub fn energy_inactive(&self) -> Option<&'static str> {
        match self.ctx.energy_off {
            sys::WP_ENERGY_ON | sys::WP_ENERGY_OFF_POLICY => None,
            sys::WP_ENERGY_OFF_NO_MODEL => Some("a CPU has no energy model"),
            sys::WP_ENERGY_OFF_SYMMETRIC => Some("all CPUs have the same capacity"),
            sys::WP_ENERGY_OFF_SMT => Some("the CPUs have several threads"),
            sys::WP_ENERGY_OFF_GOVERNOR => Some("the governor is not schedutil"),
            sys::WP_ENERGY_OFF_FORM => Some("the live build has the current form only"),
            _ => Some("the machine exceeds energy_max_complexity"),
        }
    }

    /// The root domain is beyond the tipping point.
    #[inline]
    #[must_use]
    pub fn overutilized(&self) -> bool {
        self.ctx.overutilized != 0
    }

    /// The idle task executes on this CPU, and nothing is queued or on its way.
    #[inline]
    #[must_use]
    pub fn is_idle(&self, cpu: u32) -> bool {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_idle_cpu(&raw const *self.ctx, cpu) != 0 }
    }

    /// The tick of this CPU is stopped.
    #[inline]
    #[must_use]
    pub fn is_nohz(&self, cpu: u32) -> bool {
        self.ctx.nohz_mask[cpu as usize / 64] >> (cpu % 64) & 1 != 0
    }

    /// The operating point that a frequency domain asks for.
    #[inline]
    #[must_use]
    pub fn freq_request(&self, domain: usize) -> u32 {
        self.ctx.freq_doms[domain].next_opp
    }

    /// The lowest online CPU that a task may use; `otherwise` if there is none.
    #[must_use]
    pub fn first_allowed(&self, task: &Task, otherwise: u32) -> u32 {
        // SAFETY: reads both only.
        unsafe { sys::wp_first_allowed(&raw const *self.ctx, &raw const task.0, otherwise) }
    }

    /// Does a demand fit a CPU under these hints? 1 yes, 0 no, -1: all but `uclamp_min`.
    #[must_use]
    pub fn util_fits(&self, util: u32, uclamp_min: u32, uclamp_max: u32, cpu: u32) -> i32 {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_util_fits_cpu(&raw const *self.ctx, util, uclamp_min, uclamp_max, cpu) }
    }

    /// What a CPU's fair tasks demand, as a kernel's schedutil is to see it: without headroom.
    #[must_use]
    pub fn perf_request(&self, cpu: u32) -> u32 {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_cpu_perf_request(&raw const *self.ctx, cpu) }
    }

    /// How utilised a CPU is, as the kernel tells those outside of its scheduler.
    #[must_use]
    pub fn sched_cpu_util(&self, cpu: u32) -> u32 {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_sched_cpu_util(&raw const *self.ctx, cpu) }
    }

    /// Other parameters, while tasks run. What of them was decided before is decided anew;
    /// frequencies follow at the next update of their domain.
    pub fn change_params(&mut self, params: &sys::wp_params) {
        self.touch_all();
        self.ctx.params = *params;
        // SAFETY: the context is live and exclusive.
        unsafe { sys::wp_reconsider(&raw mut *self.ctx) };
    }

    /// A fact of the machine changed: decide anew what is active.
    pub fn restart(&mut self) {
        self.touch_all();
        // SAFETY: the context is live and exclusive.
        unsafe { sys::wp_start(&raw mut *self.ctx) };
    }

    /// How many always-running tasks a capacity is enough for, to the nearest (before 3.17).
    #[must_use]
    pub fn capacity_tasks(capacity: u32) -> u32 {
        // SAFETY: a function of its argument.
        unsafe { sys::wp_capacity_tasks(capacity) }
    }

    /// The rate limit in force for a frequency domain, us.
    #[must_use]
    pub fn rate_limit_us(&self, domain: u32) -> u32 {
        // SAFETY: reads the context only; indices are masked by the core.
        unsafe { sys::wp_rate_limit_us(&raw const *self.ctx, domain) }
    }

    /// Chooses a CPU for `tasks[index]`.
    ///
    /// # Panics
    /// If `index` or the waker's index is out of range, or both are the same task.
    pub fn select_cpu(&mut self, tasks: &mut [Task], index: usize, ask: &Request) -> Choice {
        let req = sys::wp_request {
            now_ns: ask.now_ns,
            kind: ask.kind.number(),
            this_cpu: ask.this_cpu,
            prev_cpu: ask.prev_cpu,
            sync: u32::from(ask.sync),
            waker_load: ask.waker_load,
            waker_idle: u32::from(ask.waker == Waker::Idle),
            waker_kthread: u32::from(matches!(ask.waker, Waker::Kthread(_))),
            waker_weight: match ask.waker {
                Waker::Task(at) | Waker::Kthread(at) => tasks[at].weight(),
                Waker::Idle => 0,
            },
            current_cpu: u32::from(ask.kind == PlaceKind::WakeHere),
        };
        self.prepare_grouped(&mut tasks[index]);
        let ctx = &raw mut *self.ctx;
        let waker = match ask.waker {
            Waker::Task(at) | Waker::Kthread(at) => {
                assert!(at != index, "a task cannot wake itself");
                &raw mut tasks[at].0.waker
            }
            // SAFETY: in bounds by the array's own check on a reborrow of the live context.
            Waker::Idle => unsafe {
                &raw mut (&mut (*ctx).cpus)[ask.this_cpu as usize].idle.idle_waker
            },
        };
        let task = &raw mut tasks[index].0;
        let decision = &raw mut *self.decision;
        // SAFETY: all pointers are live and distinct objects for the call, except that `waker` may
        // lie within `ctx`, which the core allows; it keeps none of them.
        unsafe { sys::wp_select_task_rq_fair(ctx, task, waker, &raw const req, decision) };
        let d = &*self.decision;
        Choice {
            cpu: d.cpu,
            rule: Rule::from_number(d.rule),
            reason: Reason::from_number(d.reason),
        }
    }

    /// How many CPUs the idle search of the last `select_cpu` looked at.
    #[must_use]
    pub fn scanned(&self) -> u32 {
        self.decision.nr_scanned
    }

    /// How many CPUs the slow path of the last `select_cpu` compared within groups.
    #[must_use]
    pub fn compared_in_groups(&self) -> u32 {
        self.decision.nr_idlest_cpus
    }

    /// The decision of the last `select_cpu` or `select_class`.
    pub(crate) fn decision(&self) -> &sys::wp_decision {
        &self.decision
    }

    /// The candidates of the last `select_cpu`.
    pub fn candidates(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.decision.candidate[..self.decision.nr_candidates as usize]
            .iter()
            .map(|c| Candidate {
                cpu: c.cpu,
                util: c.util,
                spare: c.spare,
                fits: c.fits.cast_signed(),
                energy: (c.energy != u64::MAX).then_some(c.energy),
            })
    }
}

/// An answer of `Core::select_cpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// CPU chosen.
    pub cpu: u32,
    /// Which part of the policy decided.
    pub rule: Rule,
    /// Why.
    pub reason: Reason,
}

/// For entry points that lead to nothing the home must carry out.
fn nothing(_: i32) {}

/// Entry points of the form `int f(ctx, task, ...)` as methods.
macro_rules! task_events {
    ($wrap:path => $result:ty; $($(#[doc = $doc:literal])* $name:ident = $symbol:ident(
        $($arg:ident: $ty:ty),*; $($flags:expr)?);)*) => {
        impl Core {
            $($(#[doc = $doc])* #[inline]
            pub fn $name(&mut self, task: &mut Task, $($arg: $ty),*) -> $result {
                self.touch(task.0.cpu);
                // SAFETY: the context and the task are live and exclusive for the call; the core
                // masks every index and keeps no pointer.
                let bits = unsafe {
                    sys::$symbol(&raw mut *self.ctx, &raw mut task.0, $($arg,)* $($flags,)?)
                };
                self.touch(task.0.cpu);
                $wrap(bits)
            })*
        }
    };
}

/// The same for events that tasks of groups have another entry point for.
macro_rules! group_events {
    ($wrap:path => $result:ty; $($(#[doc = $doc:literal])* $name:ident = $symbol:ident
        | $grouped:ident($($arg:ident: $ty:ty),*; $($flags:expr)?);)*) => {
        impl Core {
            $($(#[doc = $doc])* #[inline]
            pub fn $name(&mut self, task: &mut Task, $($arg: $ty),*) -> $result {
                let from = task.0.cpu;
                let bits = if let Some(group) = task.group() {
                    let path = self.path(group);
                    // SAFETY: as below; the groups are live and exclusive, too.
                    unsafe {
                        let (ctx, task) = (&raw mut *self.ctx, &raw mut task.0);
                        sys::$grouped(ctx, &raw const path, task, $($arg,)*
                            $($flags,)?)
                    }
                } else {
                    // SAFETY: the context and the task are live and exclusive for the call; the
                    // core masks every index and keeps no pointer.
                    unsafe {
                        sys::$symbol(&raw mut *self.ctx, &raw mut task.0, $($arg,)* $($flags,)?)
                    }
                };
                self.touch(from);
                if task.0.cpu != from {
                    self.touch(task.0.cpu);
                }
                $wrap(bits)
            })*
        }
    };
}

/// Entry points of the form `int f(ctx, cpu, ...)` as methods.
macro_rules! cpu_events {
    ($wrap:path => $result:ty; $($(#[doc = $doc:literal])* $name:ident = $symbol:ident(
        $cpu:ident: $number:ty $(, $arg:ident: $ty:ty)*);)*) => {
        impl Core {
            $($(#[doc = $doc])* #[inline]
            pub fn $name(&mut self, $cpu: $number $(, $arg: $ty)*) -> $result {
                self.touch($cpu);
                // SAFETY: the context is live and exclusive; the core masks every index.
                $wrap(unsafe { sys::$symbol(&raw mut *self.ctx, $cpu $(, $arg)*) })
            })*
        }
    };
}

group_events! {
    EventResult::new => EventResult;
    /// A task leaves its queue to sleep or to end.
    dequeue_sleep = wp_dequeue_task_fair | wp_tg_dequeue(now_ns: u64; sys::WP_Q_SLEEP);
    /// A task leaves its queue to be moved.
    dequeue_move = wp_dequeue_task_fair | wp_tg_dequeue(now_ns: u64; 0);
    /// A task leaves its queue since its group is throttled; it does not sleep.
    dequeue_throttled = wp_dequeue_task_fair
        | wp_tg_dequeue(now_ns: u64; sys::WP_Q_SLEEP | sys::WP_Q_THROTTLE);
    /// A queued task begins to execute.
    set_current = wp_set_next_task_fair | wp_tg_set_current(now_ns: u64;);
    /// It stops executing but stays queued.
    put_current = wp_put_prev_task_fair | wp_tg_put_current(now_ns: u64;);
    /// A dequeued runnable task goes to another CPU; enqueue it there next.
    migrate_queued = wp_migrate_queued | wp_tg_migrate_queued(cpu: u32, now_ns: u64;);
    /// The tick of the CPU that runs `task`.
    tick = wp_task_tick_fair | wp_tg_tick(now_ns: u64;);
}

group_events! {
    nothing => ();
    /// Its nice weight changed.
    task_set_weight = wp_reweight_task | wp_tg_task_set_weight(weight: u32, now_ns: u64;);
    /// Start value of a new task's utilisation, on the CPU chosen for it; enqueue it next.
    task_new = wp_task_new | wp_tg_task_new(cpu: u32, now_ns: u64;);
    /// A sleeping task was placed on another CPU.
    migrate_sleeping = wp_migrate_task_rq_fair | wp_tg_migrate_sleeping(cpu: u32, now_ns: u64;);
}

task_events! {
    nothing => ();
    /// A task created with `Task::new`: count its allowed CPUs, set its first load.
    task_init = wp_task_init(;);
    /// Which CPUs it may use has changed (`Task::set_allowed`).
    task_set_allowed = wp_set_cpus_allowed(;);
    /// Its performance hints changed, 0..=1024 each.
    task_set_uclamp = wp_task_set_uclamp(min: u32, max: u32;);
    /// Another CPU took it off a queue whose lock it does not hold; enqueue it on `cpu` next.
    migrate_pulled = wp_migrate_pulled(cpu: u32;);
}

task_events! {
    nothing => ();
    /// A task's averages go on to this time of its queue's PELT clock, and nothing else.
    on_state_task = wp_on_state_task(now_pelt_ns: u64;);
    /// A queued task counts for its queue's estimate as its own estimate says.
    on_state_estimate = wp_on_state_estimate(;);
}

cpu_events! {
    EventResult::new => EventResult;
    /// The scheduler calls the governor for a CPU.
    on_state_freq = wp_on_state_freq(cpu: u32, iowait: u32, now_ns: u64);
}

cpu_events! {
    nothing => ();
    /// A queue's averages go on to its PELT clock, and nothing else.
    on_state_queue = wp_on_state_queue(cpu: u32);
}

task_events! {
    EventResult::new => EventResult;
    /// A task of no group goes to sleep; its queue keeps it (`dequeue_delayed` when it lets go).
    dequeue_delay = wp_dequeue_task_fair(now_ns: u64; sys::WP_Q_DELAY);
    /// The queue lets a sleeper go that it had kept.
    dequeue_delayed = wp_dequeue_task_fair(now_ns: u64; 0);
}

cpu_events! {
    EventResult::new => EventResult;
    /// An idle CPU without a tick: its signals fade.
    idle_decay = wp_idle_decay(cpu: u32, now_ns: u64);
}

cpu_events! {
    nothing => ();
    /// The idle task takes over.
    enter_idle = wp_enter_idle(cpu: u32, now_ns: u64);
    /// The idle task gives way.
    exit_idle = wp_exit_idle(cpu: u32, now_ns: u64);
    /// The clocks of its run queue are shown to others: they are those of now.
    show_rq_clock = wp_show_rq_clock(cpu: u32, now_ns: u64);
    /// Periodic statistics of a level were taken: how far may idle searches go?
    sis_update = wp_update_idle_cpu_scan(cpu: u32, level: u32);
    /// A wake-up was queued on this CPU.
    woken = wp_woken(cpu: u32, now_ns: u64);
    /// An idle CPU stops its tick.
    nohz_enter = wp_nohz_balance_enter_idle(cpu: u32);
    /// Its tick runs again.
    nohz_exit = wp_nohz_balance_exit_idle(cpu: u32);
    /// Other classes or interrupts have used a CPU for so long up to now: capacities before 4.19.
    ran_other = wp_sched_rt_avg_update_4_18(cpu: u32, now_ns: u64, ran_ns: u64);
}

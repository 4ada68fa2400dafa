//! RT and deadline tasks, interrupt time, I/O waits and limits of the frequency range: what a home
//! without a kernel beneath tells the core (`policy/include/wakeplace/rt_dl_irq.h`).
//!
//! What must stay: times are ns, levels the core's. Rules are docs/rules/rt-and-deadline.md's; here
//! they are only called. Free: the wrapping alone.
//!
//! Tests by part: `class_signals_of_ten_ms` (`class_join`, `class_leave`, `class_run`,
//! `class_stop`, `class_tick`), `interrupts_and_the_task_clock` (`irq_time`), `a_limit_is_pressure`
//! (`freq_limit`), `rt_goes_to_the_lowest` (`select_class`, `level`), `pull_the_highest_that_waits`
//! (`class_pull_cpu`), `a_run_takes_of_the_budget_by_speed` (`dl_scaled_delta_exec`),
//! `a_budget_lasts_as_long_as_it_takes_to_use_it_up` (`dl_run_for`); frequency.rs:
//! `a_request_counts_while_another_is_made` (`take_freq_request`, `freq_applied`),
//! `a_schedulers_target_is_the_demand` (`set_perf_target`). `clock_is`, `clock_changes` and
//! `class_push_cpu` are run by crates/engine/tests/behaviour (clocks.rs, classes.rs). `flags`,
//! `is_deadline`, `raw` and `raw_mut` have no test of their own.
//!
//! Callers: the engine's classes and clocks.
//!
//! Tests: crates/policy-sys/tests/all/classes.rs

use crate::core::{Choice, Core, EventResult, PlaceKind, Request};
use crate::reason::{Reason, Rule};
use crate::sys;
use crate::task::Task;

/// What the core needs of a task above the fair class, beside its `Task`.
#[derive(Clone, Debug)]
#[repr(transparent)]
pub struct ClassTask(sys::wp_class_task);

impl ClassTask {
    /// SCHED_FIFO or SCHED_RR; `priority` 1..=99, 99 first.
    #[must_use]
    pub fn rt(priority: u32) -> Self {
        Self(sys::wp_class_task {
            class: sys::WP_CLASS_RT,
            priority,
            ..Default::default()
        })
    }

    /// SCHED_DEADLINE; times in ns, runtime <= deadline <= period.
    #[must_use]
    pub fn deadline(runtime_ns: u64, deadline_ns: u64, period_ns: u64) -> Self {
        Self(sys::wp_class_task {
            class: sys::WP_CLASS_DL,
            dl_runtime_ns: runtime_ns,
            dl_deadline_ns: deadline_ns,
            dl_period_ns: period_ns,
            ..Default::default()
        })
    }

    /// SCHED_DEADLINE?
    #[must_use]
    pub fn is_deadline(&self) -> bool {
        self.0.class == sys::WP_CLASS_DL
    }

    /// How much it matters, as `wp_cpu.classes.level` has it: the higher goes first.
    #[must_use]
    pub fn level(&self) -> u64 {
        // SAFETY: reads the record only.
        unsafe { sys::wp_class_level(&raw const self.0) }
    }

    /// The raw record.
    #[must_use]
    pub fn raw(&self) -> &sys::wp_class_task {
        &self.0
    }

    /// See `raw`: for the absolute deadline, which the home keeps.
    pub fn raw_mut(&mut self) -> &mut sys::wp_class_task {
        &mut self.0
    }
}

/// Why a task of these classes joins or leaves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassMove {
    /// It woke or falls asleep.
    Sleep,
    /// It wakes from a sleep that waited for I/O.
    Io,
    /// It changes its CPU.
    Move,
    /// A deadline task's budget is empty, or filled again.
    Throttle,
}

impl ClassMove {
    /// The core's flags of a leave; `joins`: of the wake-up or move that follows.
    fn flags(self, joins: bool) -> u32 {
        match self {
            Self::Sleep if joins => sys::WP_Q_WAKEUP,
            Self::Sleep => sys::WP_Q_SLEEP,
            Self::Io => sys::WP_Q_WAKEUP | sys::WP_Q_IOWAIT,
            Self::Move => 0,
            Self::Throttle => sys::WP_Q_THROTTLE,
        }
    }
}

/// The core's pointers to its context, a task and its class record.
macro_rules! call {
    ($symbol:ident($core:ident, $task:ident $(, $arg:expr)*)) => {{
        let ctx = $core.ctx_mut();
        $core.touch($task.0.cpu);
        // SAFETY: the context, the task and its class record are live, distinct and exclusive for
        // the call; the core masks every index and keeps no pointer.
        let bits = unsafe { sys::$symbol(ctx, &raw mut $task.0 $(, $arg)*) };
        $core.touch($task.0.cpu);
        EventResult::new(bits)
    }};
}

impl Core {
    /// A task above the fair class joins the queue of `task.cpu()`.
    pub fn class_join(
        &mut self,
        task: &mut Task,
        class: &mut ClassTask,
        now_ns: u64,
        why: ClassMove,
    ) -> EventResult {
        call!(wp_class_join(
            self,
            task,
            &raw mut class.0,
            now_ns,
            why.flags(true)
        ))
    }

    /// It leaves that queue, for this reason; what the home must carry out.
    pub fn class_leave(
        &mut self,
        task: &mut Task,
        class: &mut ClassTask,
        now_ns: u64,
        why: ClassMove,
    ) -> EventResult {
        call!(wp_class_leave(
            self,
            task,
            &raw mut class.0,
            now_ns,
            why.flags(false)
        ))
    }

    /// It begins to execute.
    pub fn class_run(&mut self, task: &mut Task, class: &ClassTask, now_ns: u64) -> EventResult {
        call!(wp_class_run(self, task, &raw const class.0, now_ns))
    }

    /// It stops but stays queued.
    pub fn class_stop(&mut self, task: &mut Task, now_ns: u64) -> EventResult {
        call!(wp_class_stop(self, task, now_ns))
    }

    /// The tick of the CPU that runs it.
    pub fn class_tick(&mut self, task: &mut Task, now_ns: u64) -> EventResult {
        call!(wp_class_tick(self, task, now_ns))
    }

    /// What a run of `delta_ns` on `cpu` takes of a deadline task's budget.
    #[must_use]
    pub fn dl_scaled_delta_exec(&self, cpu: u32, delta_ns: u64) -> u64 {
        // SAFETY: reads the context only.
        unsafe { sys::wp_dl_scaled_delta_exec(self.state(), cpu, delta_ns) }
    }

    /// The shortest run on `cpu` that takes `budget_ns`.
    #[must_use]
    pub fn dl_run_for(&self, cpu: u32, budget_ns: u64) -> u64 {
        // SAFETY: reads the context only.
        unsafe { sys::wp_dl_run_for(self.state(), cpu, budget_ns) }
    }

    /// Interrupts took this much of a CPU's time since the last report.
    pub fn irq_time(&mut self, cpu: u32, irq_ns: u64) {
        // SAFETY: the context is live and exclusive; the core masks the index.
        unsafe { sys::wp_irqtime_account_irq(self.ctx_mut(), cpu, irq_ns) };
        self.touch(cpu);
    }

    /// Who carries out a domain's request takes it: from now on another one can be made. Returns
    /// the operating point.
    pub fn take_freq_request(&mut self, domain: u32) -> u32 {
        // SAFETY: the context is live and exclusive; the core masks every index.
        unsafe { sys::wp_freq_taken(self.ctx_mut(), domain) };
        self.freq_request(domain as usize)
    }

    /// The request that was taken is carried out: the domain runs at `opp`. A limit that came
    /// meanwhile may ask for another one.
    pub fn freq_applied(&mut self, domain: u32, opp: u32) -> EventResult {
        self.clock_changes();
        // SAFETY: the context is live and exclusive; the core masks every index.
        EventResult::new(unsafe { sys::wp_freq_applied(self.ctx_mut(), domain, opp) })
    }

    /// The hardware runs a domain at `opp`, which nobody asked for: a request under way stays so.
    pub fn clock_is(&mut self, domain: u32, opp: u32) {
        self.clock_changes();
        // SAFETY: the context is live and exclusive; the core masks every index.
        unsafe { sys::wp_topology_set_freq_scale(self.ctx_mut(), domain, opp) };
    }

    /// What sched-mc takes a CPU's capacity for may follow a clock.
    fn clock_changes(&mut self) {
        if self.state().params.arch_power != 0 {
            self.touch_all();
        }
    }

    /// A frequency domain may use its operating points up to `max_opp` only.
    pub fn freq_limit(&mut self, domain: u32, max_opp: u32, now_ns: u64) -> EventResult {
        // SAFETY: the context is live and exclusive; the core masks the index.
        EventResult::new(unsafe { sys::wp_freq_limit(self.state_mut(), domain, max_opp, now_ns) })
    }

    /// A sched_ext scheduler says that a CPU is to run at `perf`, of 1024.
    pub fn set_perf_target(&mut self, cpu: u32, perf: u32, now_ns: u64) -> EventResult {
        self.touch(cpu);
        // SAFETY: the context is live and exclusive; the core masks the index.
        EventResult::new(unsafe { sys::wp_scx_bpf_cpuperf_set(self.ctx_mut(), cpu, perf, now_ns) })
    }

    /// Chooses a CPU for a task above the fair class.
    pub fn select_class(&mut self, task: &Task, class: &ClassTask, ask: &Request) -> Choice {
        let req = sys::wp_request {
            now_ns: ask.now_ns,
            kind: if ask.kind == PlaceKind::Fork {
                sys::WP_PLACE_FORK
            } else {
                sys::WP_PLACE_WAKE
            },
            this_cpu: ask.this_cpu,
            prev_cpu: ask.prev_cpu,
            ..Default::default()
        };
        let (ctx, decision) = self.parts();
        // SAFETY: all pointers are live and distinct objects for the call; the core keeps none.
        unsafe {
            sys::wp_select_task_rq_rt(
                ctx,
                &raw const task.0,
                &raw const class.0,
                &raw const req,
                decision,
            );
            Choice {
                cpu: (*decision).cpu,
                rule: Rule::from_number((*decision).rule),
                reason: Reason::from_number((*decision).reason),
            }
        }
    }

    /// A waiting task above the fair class: the CPU on which it would run at once. None: nowhere.
    #[must_use]
    pub fn class_push_cpu(&self, task: &Task, class: &ClassTask) -> Option<u32> {
        // SAFETY: reads all of them only.
        let cpu =
            unsafe { sys::wp_class_push_cpu(self.state(), &raw const task.0, &raw const class.0) };
        (cpu != sys::WP_NONE).then_some(cpu)
    }

    /// The CPU whose first waiting task of these classes (`classes.next_level`) `cpu` should take.
    /// None: there is none.
    #[must_use]
    pub fn class_pull_cpu(&self, cpu: u32) -> Option<u32> {
        // SAFETY: reads the context only.
        let from = unsafe { sys::wp_class_pull_cpu(self.state(), cpu) };
        (from != sys::WP_NONE).then_some(from)
    }
}

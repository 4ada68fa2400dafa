//! Where callbacks run, what they cost, and what the scheduler is told of the machine
//! (docs/rules/sched-ext.md#costs).
//!
//! What must stay: who pays is docs/rules/sched-ext.md#costs, and each callback is paid for once.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: rules.rs::`callbacks_cost_time` (costs),
//! release.rs::`a_cpu_is_released_and_acquired_in_turns` (displacing),
//! errors.rs::`hotplug_needs_callbacks` (hotplug). By function: `callbacks_cost_time`
//! (`begin_ext_event`, `ext_place`, `ext_work`, `pay_ext`, `pay_ext_work`, `has_paid`,
//! `pay_ext_dispatch`), `a_cpu_is_released_and_acquired_in_turns` (`started_ext`, `displace_ext`,
//! `count_ext_others`), release.rs::`a_cpu_that_idled_is_not_released` (`ext_idle`),
//! `hotplug_needs_callbacks` (`ext_hotplug`), storms.rs::`a_wild_scheduler_loses_nobody`
//! (`enter_ext`, `leave_ext`, `has_work`, `ext_has_next`, `ext_queues_by_list`),
//! rules.rs::`frequencies_begin_at_the_highest` (`tell_ext_frequency`).
//!
//! Callers: kernel/model/run.rs (`enter_ext`, `leave_ext`, `ext_has_next`, `started_ext`,
//! `tell_ext_frequency`), kernel/model/hotplug.rs (`enter_ext`, `leave_ext`, `ext_hotplug`),
//! kernel/model/classes.rs (`displace_ext`, `count_ext_others`), kernel/model/idle.rs (`ext_idle`),
//! kernel/model/interface.rs (`begin_ext_event`), kernel/model/live.rs (`pay_ext_dispatch`), mod.rs
//! (`tell_ext_frequency`).
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/rules.rs

use crate::ids::{CpuId, TaskId};
use crate::kernel::model::Model;
use crate::kernel::model::event::Event;
use crate::kernel::model::home::AnyHome;
use crate::kernel::model::home::sched_ext::{id, rq_clock};
use crate::machine::FULL_SPEED;
use crate::mechanics::{self, Mechanics, Mode};
use crate::observe::Observer;
use wakeplace_kernel_queues::is_rt;
use wakeplace_sched_ext::ReleaseReason;
use wakeplace_sched_ext::consts::SCX_OPS_ALLOW_QUEUED_WAKEUP;

/// Where callbacks run, and what they cost.
impl Model<'_> {
    /// An event begins: its callbacks run then and there.
    pub(in crate::kernel::model) fn begin_ext_event<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        event: mechanics::Event,
    ) {
        let (cpu, interrupt) = match event {
            mechanics::Event::RunEnd { cpu } | mechanics::Event::IdleAgain { cpu, .. } => {
                (cpu, false)
            }
            mechanics::Event::Awake { cpu }
            | mechanics::Event::Interrupt { cpu }
            | mechanics::Event::IdleEntered { cpu, .. } => (cpu, true),
            mechanics::Event::Kernel(event) => self.ext_place(m, event.into()),
            _ => (m.first_online(), false),
        };
        let now_ns = m.now();
        if let Some(ext) = self.home.sched_ext() {
            ext.class.set_context(now_ns, cpu.0, interrupt);
        }
    }

    /// Where callbacks run in an event of the model's own, and whether that is an interrupt.
    fn ext_place<O: Observer>(&self, m: &Mechanics<'_, O>, event: Event) -> (CpuId, bool) {
        match event {
            Event::SpinEnd { cpu } => (cpu, false),
            Event::WakeupStage { task } => {
                let wakeup = self.own[task].wake;
                wakeup.map_or_else(Default::default, |wakeup| (wakeup.by, wakeup.in_interrupt))
            }
            Event::Queued { by, .. } => (by, false),
            Event::Timer { task } => (self.own[task].timer_cpu, true),
            Event::SliceEnd { cpu } | Event::Tick { cpu } => (cpu, true),
            Event::SchedExtTimer { cpu, .. } => (m.timer_cpu(cpu), true),
            _ => (m.first_online(), false),
        }
    }

    /// From now on callbacks run on `cpu`. Returns where they ran before.
    #[inline]
    pub(in crate::kernel::model) fn enter_ext<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
    ) -> Option<(u32, bool)> {
        let now_ns = m.now();
        let ext = self.home.sched_ext()?;
        let outer = ext.class.context();
        ext.class.set_context(now_ns, cpu.0, false);
        Some(outer)
    }

    /// Callbacks run again where they did before `enter_ext`.
    #[inline]
    pub(in crate::kernel::model) fn leave_ext<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        outer: Option<(u32, bool)>,
    ) {
        if let Some((cpu, interrupt)) = outer
            && let Some(ext) = self.home.sched_ext()
        {
            ext.class.set_context(m.now(), cpu, interrupt);
        }
    }

    /// Work of callbacks since the last question, and the CPU that does it. None: none ran.
    #[inline]
    fn ext_work(&mut self) -> Option<(CpuId, u64)> {
        let ext = self.home.sched_ext()?;
        let (callbacks, kfuncs) = ext.class.take_unpaid();
        let ns = callbacks * self.ext.callback_ns + kfuncs * self.ext.kfunc_ns;
        (ns > 0).then(|| (CpuId(ext.class.context().0), ns * FULL_SPEED))
    }

    /// The CPU that ran callbacks pays for them: its running task's time, or its own.
    #[inline]
    pub(in crate::kernel::model) fn pay_ext<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if self.home.is_sched_ext() {
            self.pay_ext_work(m);
        }
    }

    /// The CPU that ran callbacks is busy for as long as they took.
    fn pay_ext_work<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if let Some((cpu, work)) = self.ext_work() {
            m.charge(self, cpu, work);
            self.has_paid(cpu);
        }
    }

    /// The step of its running task ends later.
    #[inline]
    fn has_paid(&mut self, cpu: CpuId) {
        if self.ext.paid.last() != Some(&cpu) {
            self.ext.paid.push(cpu);
        }
    }

    /// The same as a CPU picks: what comes next begins later.
    #[inline]
    pub(in crate::kernel::model) fn pay_ext_dispatch<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        keeps: bool,
    ) {
        let Some((by, work)) = self.ext_work() else {
            return;
        };
        if keeps {
            self.has_paid(by);
            return m.charge(self, by, work);
        }
        m.charge_next(cpu, work);
    }

    /// Has the CPU a reason to look at its queue? Tasks that a scheduler holds are none.
    #[inline]
    pub(in crate::kernel::model) fn has_work(&mut self, cpu: CpuId) -> bool {
        let class = self.cpus[cpu].classes.nr() > 0;
        let reschedule = self.cpus[cpu].reschedule;
        match self.home.sched_ext() {
            Some(ext) => class || reschedule || ext.class.has_next(cpu.0),
            None => self.nr_running(cpu) > 0,
        }
    }

    /// Whether the CPU has got a task since it found none.
    #[inline]
    pub(in crate::kernel::model) fn ext_has_next<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
    ) -> bool {
        let mode = m.mode(cpu);
        let Some(ext) = self.home.sched_ext() else {
            return false;
        };
        if mode != Mode::Running {
            ext.class.stays_idle(cpu.0);
        }
        ext.class.has_next(cpu.0)
    }

    /// The CPU begins to idle, or no longer does.
    #[inline]
    pub(in crate::kernel::model) fn ext_idle<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        idle: bool,
    ) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.set_rq_clock(cpu.0, rq_clock(&self.core, cpu));
            ext.class.update_idle(cpu.0, idle);
            self.pay_ext(m);
        }
    }

    /// A task has begun to execute; `above`: not the scheduler's.
    #[inline]
    pub(in crate::kernel::model) fn started_ext<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        above: bool,
    ) {
        if let Some(ext) = self.home.sched_ext() {
            if above {
                ext.class.set_other_task(id(task), cpu.0);
            }
            self.pay_ext(m);
        }
    }

    /// An RT or deadline task takes the CPU from the scheduler.
    pub(in crate::kernel::model) fn displace_ext(&mut self, cpu: CpuId, by: TaskId) {
        let reason = match is_rt(self.classes.level(by)) {
            true => ReleaseReason::Rt,
            false => ReleaseReason::Deadline,
        };
        if let Some(ext) = self.home.sched_ext() {
            ext.class.displace(cpu.0, reason, Some(id(by)));
        }
    }

    /// How many such tasks the CPU has.
    pub(in crate::kernel::model) fn count_ext_others(&mut self, cpu: CpuId) {
        let nr = self.cpus[cpu].classes.nr() as u32;
        if let Some(ext) = self.home.sched_ext() {
            ext.class.set_others(cpu.0, nr);
        }
    }

    /// May a wake-up of the task go by the wake list of its CPU?
    pub(in crate::kernel::model) fn ext_queues_by_list(&self, task: TaskId) -> bool {
        match &self.home {
            AnyHome::SchedExt(ext) if !self.classes.is_class(task) => {
                ext.class.info().flags & SCX_OPS_ALLOW_QUEUED_WAKEUP != 0
            }
            _ => true,
        }
    }

    /// A CPU leaves or comes back.
    pub(in crate::kernel::model) fn ext_hotplug<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        online: bool,
    ) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.hotplug(cpu.0, online);
            self.pay_ext(m);
        }
    }

    /// What a frequency domain runs at.
    pub(in crate::kernel::model) fn tell_ext_frequency(&mut self, domain: u32) {
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        for cpu in &self.machine.domain_cpus[domain as usize] {
            let scale = self.core.cpu(cpu.0).load.freq_scale;
            ext.class.set_perf_cur(cpu.0, scale);
        }
    }
}

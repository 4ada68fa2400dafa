//! What the mechanics tell, and which handler it is for. One line per method: the work is in the
//! handler's file (ARCHITECTURE.md, "The engine's two halves").
//!
//! A method without a comment is `Kernel`'s (kernel/mod.rs says what it means and when it comes)
//! and only names its handler. A break shows where the handler's file names its tests.
//!
//! What must stay: one line per method. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `random_runs_with_all_classes_obey_the_rules` (`boot`, `start`, `event`, `device`),
//! sched_mc.rs::`interrupts_follow` (`irq_cpu`), energy.rs::`a_new_table_moves_the_work`
//! (`energy_model`), power.rs::`a_change_in_mid_run_moves_tasks_in_time` (`PolicyChange`),
//! changes.rs::`a_group_holds_from_its_phase_on` (`change`). The other methods (`interrupt`,
//! `awake`, `ran`, `schedule`, `spawn`, `fork`, `wake`, `sleep`, `exit`, `yields`, `exec`, `lend`,
//! `opp_reached`, `hotplug` ...) only call the handler of the same file's name, whose head names
//! the tests. So do `begin_event`, `end_event`, `finish`, `work_done`, `run_limit_ns`, `wants_cpu`,
//! `thread_goes_on`, `add_task`, `set_timer`, `level`, `clock_is`, `freq_limit`, `show_state`,
//! `overutilized` and `event_name`.
//!
//! Callers: the mechanics and the loop; kernel/mod.rs says which file calls which method.
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/energy.rs,
//! crates/engine/tests/behaviour/power.rs, crates/engine/tests/behaviour/changes.rs,
//! crates/engine/tests/behaviour/sched_mc.rs::interrupts_follow

use super::Model;
use super::cpu::Message;
use super::event::{self, Event};
use crate::ids::{CpuId, TaskId};
use crate::kernel::{Kernel, KernelReport};
use crate::mechanics::{self, KernelEvent, Mechanics};
use crate::observe::Observer;
use wakeplace_workload::Change;

impl Kernel for Model<'_> {
    fn event_name(kind: u8) -> &'static str {
        event::name(kind)
    }

    /// Puts every CPU into an idle state, then loads a sched_ext scheduler, if there is one.
    fn boot<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        for cpu in self.machine.cpus() {
            self.go_idle(m, cpu);
        }
        self.arm_idle_timer(m);
        self.load_scheduler(m);
    }

    /// Policy changes are events from now on; kernel threads and timers of groups begin.
    fn start<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        for (index, (at_ns, _)) in self.policies.iter().enumerate() {
            let index = index as u32;
            m.push(*at_ns, Event::PolicyChange { index });
        }
        self.start_kthreads(m);
        self.start_bandwidth(m);
    }

    /// Only a sched_ext scheduler needs to know where callbacks of an event run.
    #[inline]
    fn begin_event<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, event: mechanics::Event) {
        if self.home.is_sched_ext() {
            self.begin_ext_event(m, event);
        }
    }

    #[inline]
    fn end_event<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if self.home.is_sched_ext() {
            self.end_ext_event(m);
        }
    }

    /// One handler per event. An event that comes too late is the handler's to notice.
    #[inline]
    fn event<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, event: KernelEvent) {
        match event.into() {
            Event::WakeupStage { task } => self.resume_wakeup(m, task),
            Event::Timer { task } => self.timer(m, task),
            Event::SliceEnd { cpu } => self.slice_end(m, cpu),
            Event::Tick { cpu } => self.tick(m, cpu),
            Event::IdleTimer => self.idle_timer(m),
            Event::PolicyChange { index } => {
                let (_, policy) = &self.policies[index as usize];
                self.core.change_params(policy.core_params());
                m.choose_clocks(self.machine.hint_of(policy));
            }
            Event::Replenish { task } => self.replenish(m, task),
            Event::RtPeriod => self.rt_period(m),
            Event::SpinEnd { cpu } => self.spin_end(m, cpu),
            Event::Queued { task, by } => self.queued(m, task, by),
            Event::SchedExtTimer { timer, cpu } => self.ext_timer(m, timer, cpu),
            Event::Watchdog => self.watchdog(m),
            Event::SchedExtLoader => self.ext_loader(),
            Event::PollEnd { cpu, poll } => self.poll_end(m, cpu, poll),
            Event::GroupPeriod { group } => self.group_timer(m, group, false),
            Event::GroupSlack { group } => self.group_timer(m, group, true),
        }
    }

    fn finish<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) -> KernelReport {
        self.report(m)
    }

    #[inline]
    fn interrupt<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.take_interrupt(m, cpu);
    }

    #[inline]
    fn awake<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.take_inbox(m, cpu);
    }

    fn device<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, run_ns: u64) {
        self.interrupt_with(m, cpu, Message::Device { run_ns });
    }

    fn irq_cpu(&mut self, now_ns: u64, cpu: CpuId) -> CpuId {
        CpuId(self.core.irq_cpu(cpu.0, now_ns))
    }

    #[inline]
    fn work_done<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.finished(m, cpu);
    }

    #[inline]
    fn ran(&mut self, now_ns: u64, cpu: CpuId, task: TaskId, delta_ns: u64) {
        self.charge_run(now_ns, cpu, task, delta_ns);
    }

    #[inline]
    fn run_limit_ns<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        from_ns: u64,
    ) -> u64 {
        self.limit_run(m, cpu, task, from_ns)
    }

    #[inline]
    fn wants_cpu(&self, cpu: CpuId) -> bool {
        self.cpus[cpu].reschedule
    }

    #[inline]
    fn schedule<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        changed: Option<TaskId>,
    ) {
        match changed {
            Some(task) => self.schedule_changed(m, cpu, task),
            None => self.schedule_cpu(m, cpu),
        }
    }

    fn thread_goes_on<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        index: usize,
    ) {
        self.kthread_goes_on(m, cpu, task, index);
    }

    fn add_task<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        script: u32,
        cpu: CpuId,
    ) {
        self.make_task(m, task, script, cpu);
    }

    fn spawn<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, cpu: CpuId) {
        self.start_first(m, task, cpu);
    }

    fn fork<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, child: TaskId, parent: TaskId) {
        self.place_fork(m, child, parent);
        self.exit_to_user(m, self.cpu_of(parent));
    }

    #[inline]
    fn wake<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        sync: bool,
    ) {
        self.wake_by_task(m, task, cpu, sync);
        self.exit_to_user(m, cpu);
    }

    #[inline]
    fn sleep<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        until_ns: Option<u64>,
    ) {
        self.block(m, cpu, task, until_ns);
    }

    fn set_timer<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, due_ns: u64) {
        self.sleep_until(m, task, due_ns);
    }

    fn exit<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId) {
        self.exit_task(m, cpu, task);
    }

    fn yields<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId) -> bool {
        self.exit_to_user(m, cpu);
        self.yield_to_others(m, task, cpu)
    }

    fn exec<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId) -> bool {
        self.exit_to_user(m, cpu);
        self.place_exec(m, cpu, task)
    }

    /// Attributes first, then affinity: true if either took the task off the CPU.
    fn change<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        change: &Change,
        allowed: Option<Option<&[u32]>>,
    ) -> bool {
        self.exit_to_user(m, cpu);
        let off = self.change_attributes(m, cpu, task, change);
        let moved = allowed.is_some_and(|cpus| self.set_affinity(m, cpu, task, cpus));
        off || moved
    }

    fn level(&self, task: TaskId) -> u64 {
        self.classes.level(task)
    }

    fn lend<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        holder: TaskId,
        donor: Option<TaskId>,
        by: CpuId,
    ) -> bool {
        self.borrow_class(m, holder, donor, by)
    }

    fn opp_reached<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, domain: u32, opp: u16) {
        self.apply_frequency(m, domain, opp);
    }

    fn clock_is<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, domain: u32, opp: u16) {
        self.follow_clock(m, domain, opp);
    }

    fn freq_limit<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        domain: u32,
        most: u32,
        cool: Option<u32>,
    ) {
        self.limit_frequency(m, domain, most, cool);
    }

    /// The core gets the powers, and so do the facts from which domains are built after a hotplug.
    fn energy_model(&mut self, domain: usize, states: &[(u32, u32)]) {
        self.core
            .update_energy_model(domain, states)
            .expect("checked by `check` before the run");
        // what is built anew after a change of CPUs has it, too
        let facts = &mut self.facts.perf_domains[domain];
        facts.states.clear();
        facts.states.extend(states);
    }

    fn hotplug<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, online: bool) {
        self.hotplug_cpu(m, cpu, online);
    }

    fn show_state<O: Observer>(&self, m: &mut Mechanics<'_, O>, time_ns: u64) {
        self.show(m, time_ns);
    }

    #[inline]
    fn overutilized(&self) -> bool {
        self.core.overutilized()
    }
}

//! What the mechanics tell, and which handler it is for. One entry of the kernel per call; no
//! scheduling is decided here (docs/guide/kernel.md, "In a run").
//!
//! A method without a comment is `Kernel`'s (kernel/mod.rs) and only names its handler.
//!
//! What must stay: the kernel is entered once for each thing that happens, in the order in which
//! the mechanics tell it. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part, where a tree is built: `no_kind_of_work_makes_it_warn`
//! (`hotplug`, `plugged`, `device`, `freq_limit`, `change`, `yields`),
//! `energy_aware_placement_is_the_kernels_own` (`finish`, `event`),
//! crates/fidelity/tests/all/truth.rs::`recorded_runs_happen_again_in_the_same_source` (`fork`,
//! `wake`, `sleep`). The methods that only name their handler (`interrupt`, `spawn`, `set_timer`,
//! `exit`, `exec`, `lend`, `level` ...) by `no_kind_of_work_makes_it_warn`, too. `plug_ticket` and
//! `of_plug_ticket`: with `hotplug` and `plugged`. So are `boot`, `start`, `awake`, `work_done`,
//! `wants_cpu`, `schedule`, `thread_goes_on`, `add_task`, `opp_reached`, `energy_model`,
//! `overutilized`, `show_state` and `event_name`. `kept_event` and `speed_is`:
//! crates/cli/tests/all/coherence.rs::`contended_lines_are_told`.
//!
//! Callers: the mechanics and the loop; kernel/mod.rs says which file calls which method.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs, crates/cli/tests/all/coherence.rs,
//! crates/fidelity/tests/all/truth.rs::recorded_runs_happen_again_in_the_same_source

use super::Tree;
use super::event::{self, Event};
use crate::ids::{CpuId, TaskId};
use crate::kernel::{Kernel, KernelReport};
use crate::mechanics::{KernelEvent, Mechanics, Mode};
use crate::observe::Observer;
use crate::outcome::Ended;
use wakeplace_kernel_abi::{Call, ORDER, Refused};
use wakeplace_policy_sys::Reason;
use wakeplace_workload::Change;

impl Kernel for Tree<'_> {
    fn event_name(kind: u8) -> &'static str {
        event::name(kind)
    }

    /// Timers that the kernel armed in its boot are taken up, and each CPU does what the kernel
    /// says. Something refused before the run ends it here.
    fn boot<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        for cpu in self.machine.cpus() {
            self.arm(m, cpu);
            self.next_of(m, cpu);
        }
        if let Some(said) = self.refused.take() {
            m.end(Ended::Kernel { said });
        }
    }

    fn start<O: Observer>(&mut self, _: &mut Mechanics<'_, O>) {}

    /// Handles an event of the tree's own. An expired timer of an older generation is nothing: the
    /// kernel has set it anew since.
    fn event<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, event: KernelEvent) {
        match event.into() {
            Event::Timer { cpu, generation } if self.cpus[cpu].generation == generation => {
                self.cpus[cpu].armed_ns = u64::MAX;
                self.rouse(m, cpu);
            }
            Event::Timer { .. } => m.idle_event(),
            Event::GoOn { cpu } => {
                self.cpus[cpu].spins = false;
                self.go_on(m, cpu);
            }
            Event::Path { cpu, over: true } => self.path_has_ended(m, cpu),
            Event::Path { cpu, .. } => self.path_goes_on(m, cpu),
            Event::Due { task } => {
                let cpu = m.timer_cpu(self.tasks[task].cpu);
                self.cpus[cpu].due.push(task);
                self.rouse(m, cpu);
            }
        }
    }

    /// No reasons but one: the kernel decided.
    fn finish<O: Observer>(&mut self, _: &mut Mechanics<'_, O>) -> KernelReport {
        KernelReport {
            energy_active: self.energy_aware,
            reasons: vec![(Reason::Kernel, self.nr_decided)],
            counts: Some(self.counts()),
            lines: self.lines(),
            ..KernelReport::default()
        }
    }

    /// Takes an interrupt. It may have been taken with another one already.
    fn interrupt<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        // What it was for may have been taken with something else.
        match self.waits_for(m, cpu) {
            0 => m.idle_event(),
            _ => self.rouse(m, cpu),
        }
    }

    /// Takes all interrupts at once, on a CPU that is awake.
    fn awake<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.take(m, cpu);
    }

    /// Takes a device's interrupt: the time is the CPU's, then the kernel takes its interrupt.
    fn device<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, run_ns: u64) {
        self.cpus[cpu].device_ns += run_ns;
        self.rouse(m, cpu);
    }

    fn work_done<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.next_of(m, cpu);
    }

    fn kept_event(&self) -> Option<(u64, KernelEvent)> {
        let (at_ns, cpu) = self.first_path?;
        Some((at_ns, Event::Path { cpu, over: false }.into()))
    }

    fn speed_is(&mut self, cpu: CpuId, speed: u64) {
        self.set_access(cpu, speed);
    }

    /// Whether the kernel has switched to another task than the one the machine runs.
    fn wants_cpu(&self, cpu: CpuId) -> bool {
        self.kernels(cpu) != self.cpus[cpu].runs
    }

    fn schedule<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        _changed: Option<TaskId>,
    ) {
        self.switch(m, cpu, false);
    }

    /// Never: a tree's own threads are entered, not simulated.
    fn thread_goes_on<O: Observer>(
        &mut self,
        _: &mut Mechanics<'_, O>,
        _: CpuId,
        _: TaskId,
        _: usize,
    ) {
        unreachable!("the mechanics have none of its threads");
    }

    fn add_task<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        script: u32,
        cpu: CpuId,
    ) {
        debug_assert_eq!(task.index(), self.tasks.0.len());
        self.add(m.threads().script(script), TaskId(script), cpu);
    }

    fn spawn<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, cpu: CpuId) {
        self.cpus[cpu].spawns.push(task);
        self.rouse(m, cpu);
    }

    fn fork<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, child: TaskId, parent: TaskId) {
        self.fork_by(m, child, parent);
    }

    fn wake<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        sync: bool,
    ) {
        self.wake_now(m, task, cpu, sync);
    }

    fn sleep<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        until_ns: Option<u64>,
    ) {
        self.sleep_now(m, cpu, task, until_ns);
    }

    fn set_timer<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId, due_ns: u64) {
        self.wake_at(m, task, due_ns);
    }

    fn exit<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId) {
        self.exit_now(m, cpu, task);
    }

    fn yields<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, _: TaskId) -> bool {
        m.account(self, cpu);
        self.call(m, cpu, &Call::Yield);
        self.wants_cpu(cpu)
    }

    fn exec<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, _: TaskId) -> bool {
        m.account(self, cpu);
        self.call(m, cpu, &Call::Exec);
        self.wants_cpu(cpu)
    }

    fn change<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        change: &Change,
        allowed: Option<Option<&[u32]>>,
    ) -> bool {
        self.change_now(m, cpu, task, change, allowed)
    }

    fn level(&self, task: TaskId) -> u64 {
        self.level_of(task)
    }

    fn lend<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        holder: TaskId,
        donor: Option<TaskId>,
        by: CpuId,
    ) -> bool {
        self.lend_now(m, holder, donor, by)
    }

    /// Does nothing: the kernel is not told, as drivers of a tree hear of no end of a change.
    fn opp_reached<O: Observer>(&mut self, _: &mut Mechanics<'_, O>, _: u32, _: u16) {}

    fn freq_limit<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        domain: u32,
        most: u32,
        cool: Option<u32>,
    ) {
        self.limit(m, domain, most, cool);
    }

    /// Never: `check` refuses such a run.
    fn energy_model(&mut self, _: usize, _: &[(u32, u32)]) {
        unreachable!("refused by `check` before the run");
    }

    /// Orders the kernel to let a CPU go or come. It may answer at once or later; `plugged` takes
    /// the answer.
    fn hotplug<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, online: bool) {
        let call = Call::Hotplug {
            cpu: cpu.0,
            up: online,
        };
        let ticket = plug_ticket(cpu, online);
        match self.enter(m, None, |entries| entries.control(&call, ticket)) {
            Ok(result) => self.plugged(m, ticket, result),
            Err(Refused::Pending | Refused::Dead) => {}
            Err(Refused::Error(errno)) => self.plugged(m, ticket, -i64::from(errno)),
        }
        self.follow(m);
    }

    fn overutilized(&self) -> bool {
        self.overutilized
    }

    fn show_state<O: Observer>(&self, m: &mut Mechanics<'_, O>, time_ns: u64) {
        self.show(m, time_ns);
    }
}

/// What the kernel answers an order of hotplug by: any number but [`ORDER`].
fn plug_ticket(cpu: CpuId, online: bool) -> u64 {
    (u64::from(cpu.0) << 1 | u64::from(online)) + ORDER + 1
}

/// The CPU and the direction of a ticket that `plug_ticket` has made.
fn of_plug_ticket(ticket: u64) -> (CpuId, bool) {
    let plugged = ticket - ORDER - 1;
    (CpuId((plugged >> 1) as u32), plugged & 1 != 0)
}

impl Tree<'_> {
    /// Takes the kernel's answer: a CPU has gone or come, or the kernel has kept it.
    pub(super) fn plugged<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        ticket: u64,
        result: i64,
    ) {
        let (cpu, online) = of_plug_ticket(ticket);
        if result < 0 {
            let way = if online { "come back" } else { "leave" };
            let said = format!("it does not let CPU {} {way} (errno {})", cpu.0, -result);
            return m.end(Ended::Kernel { said });
        }
        if m.is_online(cpu) == online {
            return;
        }
        m.set_online(cpu, online);
        if !online && m.mode(cpu) == Mode::Idle {
            // From the state that it idled in to the one in which it is off.
            let deepest = self.machine.idle[cpu.index()].len() - 1;
            m.enter_idle(self, cpu, deepest);
        }
    }
}

//! Entering the kernel, and what it said meanwhile. Whoever enters carries out all that the kernel
//! has said (`follow`) before anything else happens (docs/guide/kernel.md, "In a run").
//!
//! What must stay: after each entry all that the kernel said is taken up before anything else
//! happens; the order in which CPUs are looked at is their number's. Free: what leaves recorded
//! runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part, where a tree is
//! built: crates/fidelity/tests/all/truth.rs::`recorded_runs_happen_again_in_the_same_source`
//! (`enter`, `follow`, `switch`), `energy_aware_placement_is_the_kernels_own` (the same twice),
//! `a_governor_that_comes_first_repeats_no_call` (`call`, `start`), `no_kind_of_work_makes_it_warn`
//! (`carry_out`, `next_of`, `go_on`),
//! crates/fidelity/tests/all/truth.rs::`recorded_runs_happen_again_in_the_same_source` and the
//! others (`view`, `kernels`, `take_changes`, `arm`, `signal`, `without_task`).
//!
//! Callers: interface.rs (`next_of`, `go_on`, `arm`), tasks.rs and interrupts.rs (`carry_out`,
//! `switch`), tasks.rs (`call`), frequency.rs (`enter`, `follow`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs,
//! crates/fidelity/tests/all/truth.rs::recorded_runs_happen_again_in_the_same_source

use super::Tree;
use super::event::Event;
use super::tasks::Sleep;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel as _;
use crate::mechanics::{Mechanics, Mode, State};
use crate::observe::{MigrateCause, Observer};
use crate::outcome::Ended;
use wakeplace_kernel_abi::abi::{self, state};
use wakeplace_kernel_abi::{Call, Cpu, Refused, Tree as Entries};

/// A CPU that waits for another one looks again after so long: the other may be on its way out of
/// an idle state.
const SPIN_NS: u64 = 1000;

impl Tree<'_> {
    /// What the kernel says of a CPU.
    pub(super) fn view(&self, cpu: CpuId) -> &Cpu {
        &self.entries.cpus()[cpu.index()]
    }

    /// The task that the kernel has running there. None: its idle task.
    pub(super) fn kernels(&self, cpu: CpuId) -> Option<TaskId> {
        let view = self.view(cpu);
        (view.state == state::USER && view.running < abi::KTHREAD).then_some(TaskId(view.running))
    }

    /// Enters the kernel now, for the machine's owner or on a CPU (`on`), and takes up what it says
    /// but for the next task of the CPU.
    pub(super) fn enter<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        on: Option<CpuId>,
        entry: impl FnOnce(&mut dyn Entries) -> Result<i64, Refused>,
    ) -> Result<i64, Refused> {
        self.entries.set_now(m.now());
        let detail = m.observer().wants_situation();
        if detail != self.detail {
            self.detail = detail;
            self.entries.set_detail(detail);
            self.entries.set_signals(m.observer().wants_signals());
        }
        if self.coherent {
            self.look_ahead(m, on);
        }
        let answer = entry(self.entries);
        if answer == Err(Refused::Dead) {
            let said = "its kernel is dead".to_owned();
            m.end(Ended::Kernel { said });
            return answer;
        }
        let on = match self.coherent {
            true => self.time_passed(m, on),
            false => on,
        };
        self.hear(m);
        self.take_changes(m, on);
        answer
    }

    /// Enters the kernel for what it must not refuse. A refusal ends the run: one that goes on
    /// without it would be another one.
    pub(super) fn carry_out<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        on: CpuId,
        what: &str,
        entry: impl FnOnce(&mut dyn Entries) -> Result<i64, Refused>,
    ) {
        if let Err(Refused::Error(errno)) = self.enter(m, Some(on), entry) {
            let said = format!("it refuses {what} (errno {errno})");
            m.end(Ended::Kernel { said });
        }
    }

    /// Carries out a call of the task that runs on a CPU.
    pub(super) fn call<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        call: &Call<'_>,
    ) {
        let what = Call::what(call.op());
        self.carry_out(m, cpu, what, |entries| entries.call(cpu.0, call));
    }

    /// Sets the timers of CPUs that changed and sends their interrupts, as the kernel says by now.
    fn take_changes<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, on: Option<CpuId>) {
        let mut changed = std::mem::take(&mut self.changed);
        self.entries.take_changed(&mut changed);
        for cpu in changed.iter().copied().map(CpuId) {
            self.arm(m, cpu);
        }
        for cpu in changed.iter().copied().map(CpuId) {
            if self.view(cpu).ipi != 0 {
                self.signal(m, cpu);
            }
        }
        if self.coherent {
            for cpu in changed.iter().copied().map(CpuId) {
                self.look_for_end(m, cpu, on);
            }
        }
        changed.clear();
        self.changed = changed;
    }

    /// Sets the timer of a CPU to the time at which the kernel wants its next event.
    pub(super) fn arm<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let at_ns = self.view(cpu).next_event_ns;
        let c = &mut self.cpus[cpu];
        if c.armed_ns == at_ns {
            return;
        }
        c.armed_ns = at_ns;
        c.generation += 1;
        if at_ns != abi::NEVER {
            let generation = c.generation;
            m.push(at_ns.max(m.now()), Event::Timer { cpu, generation });
        }
    }

    /// Sends an inter-processor interrupt to a CPU; one that idles begins to leave its state.
    fn signal<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let sent_ns = match self.coherent {
            true => self.view(cpu).sent_ns,
            false => m.now(),
        };
        if let Some(leaving) = m.ipi_sent(cpu, sent_ns) {
            self.leaves_idle(m, cpu, &leaving);
        }
    }

    /// Lets each CPU do what the kernel says by now, after an order of the machine's owner, in
    /// which other CPUs have run.
    pub(super) fn follow<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        for cpu in self.machine.cpus() {
            match m.mode(cpu) {
                Mode::Running if self.wants_cpu(cpu) => self.switch(m, cpu, false),
                Mode::Idle if self.kernels(cpu).is_some() => self.rouse(m, cpu),
                _ => {}
            }
        }
    }

    /// Lets the CPU take up what the kernel says that it does. `sleeps`: the task that it ran does.
    pub(super) fn switch<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        sleeps: bool,
    ) {
        m.account(self, cpu);
        if self.in_path(cpu) {
            self.cpus[cpu].path.sleeps |= sleeps;
            return;
        }
        let next = self.kernels(cpu);
        if let Some(task) = self.cpus[cpu].runs {
            if next == Some(task) && !sleeps {
                return m.program(self, cpu);
            }
            m.stop(cpu, sleeps);
            self.cpus[cpu].runs = None;
            self.cpus[cpu].last = Some(task);
        }
        match next {
            Some(task) => self.start(m, cpu, task),
            None => self.without_task(m, cpu),
        }
    }

    /// Lets the CPU begin to run the task that its kernel has switched to.
    fn start<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, task: TaskId) {
        m.take_cpu(cpu);
        if m.thread(task).state != State::Runnable {
            self.woken(m, task, cpu);
        }
        let from = self.tasks[task].cpu;
        if from != cpu {
            m.tell_migrate(task, from, cpu, MigrateCause::Balance);
            m.refill_caches(task, from, cpu);
            self.tasks[task].cpu = cpu;
        }
        let goes_on = self.cpus[cpu].last == Some(task);
        let switch = if goes_on {
            0
        } else {
            self.machine.costs.context_switch
        };
        self.cpus[cpu].runs = Some(task);
        m.run(cpu, task, switch);
        m.mix(u64::from(cpu.0) << 32 | u64::from(task.0));
        match self.tasks[task].owes_sleep.take() {
            Some(Sleep(until_ns)) => self.sleep_now(m, cpu, task, until_ns),
            None => m.program(self, cpu),
        }
    }

    /// Lets a CPU that has no task do its kernel work, then what the kernel says.
    pub(super) fn without_task<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.view(cpu).state == state::WORK {
            m.hold(self, cpu, self.view(cpu).work_ns);
        }
        if m.finish_work(cpu) {
            self.work_done(m, cpu);
        }
    }

    /// Lets the CPU do what the kernel says is next: take an interrupt, idle, spin, go on or run a
    /// task. Called when its kernel work is done.
    pub(super) fn next_of<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.waits_for(m, cpu) != 0 {
            return self.take(m, cpu);
        }
        let view = self.view(cpu);
        match view.state {
            state::WAIT => {
                let states = &self.machine.idle[cpu.index()];
                // Without a driver for states the CPU waits in its first.
                let position = match view.idle_state as usize {
                    position if position < states.len() => position,
                    _ => 0,
                };
                m.enter_idle(self, cpu, position);
            }
            state::OFFLINE => {
                let deepest = self.machine.idle[cpu.index()].len() - 1;
                m.enter_idle(self, cpu, deepest);
            }
            state::SPIN => {
                if !std::mem::replace(&mut self.cpus[cpu].spins, true) {
                    m.push(m.now() + SPIN_NS, Event::GoOn { cpu });
                }
            }
            state::START | state::WORK => self.go_on(m, cpu),
            state::STALL => {}
            _ => self.switch(m, cpu, false),
        }
    }

    /// Lets the kernel go on, on a CPU that came up, waited for another one or was at work.
    pub(super) fn go_on<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let answer = self.enter(m, Some(cpu), |entries| entries.go_on(cpu.0));
        if answer != Err(Refused::Dead) {
            self.switch(m, cpu, false);
        }
    }
}

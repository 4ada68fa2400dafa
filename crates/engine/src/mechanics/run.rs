//! Who runs where, as the kernel says: tasks begin and stop to execute. A CPU has at most one task,
//! and a task at most one CPU (docs/guide/model.md, "Work and speed").
//!
//! What must stay: every stretch that begins ends, and observers hear both. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `random_runs_obey_the_rules_1` (`run`, `stop`, `finish_stretch`: what was told with the sums),
//! classes.rs::`interrupts_take_a_tenth` (`stretch_ns`), arithmetic.rs::`costs_add_up` (the work of
//! a switch), idle.rs::`exit_latency_shows_in_wake_latency` (`wake_latency_ns`),
//! outcomes.rs::`it_ends_with_the_last_task` (`gone`). `take_cpu`, `tell_stop` and `set_state` by
//! the first one, too.
//!
//! Callers: report.rs (`finish_stretch`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/classes.rs,
//! crates/engine/tests/behaviour/arithmetic.rs, crates/engine/tests/behaviour/idle.rs,
//! crates/engine/tests/behaviour/outcomes.rs

use super::Mechanics;
use super::cpu::Mode;
use super::thread::State;
use crate::ids::{CpuId, TaskId};
use crate::observe::{Happening, Observer, Stop};

impl<O: Observer> Mechanics<'_, O> {
    /// A task is about to take the CPU. Returns false if another one has had it until now.
    #[inline]
    pub(crate) fn take_cpu(&mut self, cpu: CpuId) -> bool {
        let c = &mut self.cpus[cpu];
        if c.mode == Mode::Running {
            return false;
        }
        c.mode = Mode::Running;
        c.generation += 1;
        true
    }

    /// `task` begins to execute, after a context switch of so much work. What the kernel did on the
    /// CPU without a task is done first.
    #[inline]
    pub(crate) fn run(&mut self, cpu: CpuId, task: TaskId, switch: u64) {
        let now = self.clock.now;
        let c = &mut self.cpus[cpu];
        c.current = Some(task);
        c.accounted_ns = now.max(c.irq_until_ns);
        c.stretch_start_ns = now;
        c.stolen_ns = c.accounted_ns - now;
        let thread = &mut self.threads[task];
        let rest = c.kernel_until_ns.saturating_sub(c.accounted_ns);
        let kernel =
            std::mem::take(&mut c.kernel_work).saturating_add(rest.saturating_mul(c.speed));
        thread.overhead = thread.overhead.saturating_add(kernel);
        thread.kernel_wait_ns += std::mem::take(&mut c.kernel_wait_ns);
        c.kernel_until_ns = 0;
        thread.overhead += switch;
        self.fetch_lines(cpu, task);
        let thread = &mut self.threads[task];
        let waited_ns = now - thread.runnable_since_ns;
        thread.totals.wait_ns += waited_ns;
        thread.totals.longest_wait_ns = thread.totals.longest_wait_ns.max(waited_ns);
        let fresh = std::mem::take(&mut thread.fresh).then(|| now - thread.due_ns);
        if self.threads.visible(task) {
            self.tell(Happening::RunStart {
                cpu: cpu.0,
                task: self.threads.shown(task),
                wake_latency_ns: fresh,
            });
        }
    }

    /// The running task stops executing. Returns which one that is. None: none ran.
    pub(crate) fn stop(&mut self, cpu: CpuId, sleeps: bool) -> Option<TaskId> {
        let c = &mut self.cpus[cpu];
        let task = c.current.take()?;
        self.clock.disarm_end(cpu);
        c.generation += 1;
        let leaves_as = c.leaves_as.take();
        let thread = &mut self.threads[task];
        thread.runnable_since_ns = self.clock.now;
        let stop = leaves_as.unwrap_or(match sleeps {
            true if thread.is_in_io() => Stop::Waits,
            true => Stop::Sleeps,
            false => Stop::Preempted,
        });
        self.tell_stop(cpu, task, stop);
        Some(task)
    }

    /// Observers hear why a task stopped and how long it ran.
    fn tell_stop(&mut self, cpu: CpuId, task: TaskId, stop: Stop) {
        if self.threads.visible(task) {
            self.tell(Happening::RunStop {
                cpu: cpu.0,
                task: self.threads.shown(task),
                ran_ns: self.stretch_ns(cpu),
                stop,
            });
        }
    }

    /// Tells the observer what the running task did, at the end of the run.
    pub(crate) fn finish_stretch(&mut self, cpu: CpuId) {
        if let Some(task) = self.cpus[cpu].current {
            self.tell_stop(cpu, task, Stop::Preempted);
        }
    }

    /// Wall time of the running stretch so far that the task had for itself.
    fn stretch_ns(&self, cpu: CpuId) -> u64 {
        let c = &self.cpus[cpu];
        let ahead = c.irq_until_ns.saturating_sub(self.clock.now);
        let whole = self.clock.now - c.stretch_start_ns;
        whole - c.stolen_ns.saturating_sub(ahead).min(whole)
    }

    /// The task sleeps, is on its way to a CPU, or can run from now on.
    #[inline]
    pub(crate) fn set_state(&mut self, task: TaskId, state: State) {
        let thread = &mut self.threads[task];
        thread.state = state;
        if state == State::Runnable {
            thread.runnable_since_ns = self.clock.now;
        }
    }

    /// The task is gone for good.
    pub(crate) fn gone(&mut self, task: TaskId) {
        self.threads[task].state = State::Exited;
        self.threads.alive -= 1;
        let task = self.threads.shown(task);
        self.tell(Happening::TaskExit { task });
    }
}

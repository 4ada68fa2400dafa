//! What else the mechanics offer a kernel: time and events, interrupts, what a thread is and when
//! it sleeps. The rest of the interface is with what it does: `work`, `run`, `idle`, `hardware`,
//! `hotplug`, `told` (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: this is the interface that kernels have (ARCHITECTURE.md lists it). Methods that
//! change nothing take `&self`. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `random_runs_obey_the_rules_1` (`push`, `mode`,
//! `note_wakeup`), arithmetic.rs::`an_idle_cpu_is_reached_by_an_interrupt` (`ipi`),
//! wake_latency.rs::`a_polling_cpu_needs_no_interrupt` (`ipi` to one that polls),
//! classes.rs::`io_waits_raise_the_frequency` (`takes_io_wait`),
//! kthreads.rs::`a_periodic_thread_takes_its_time` (`set_action`),
//! arithmetic.rs::`a_move_refills_caches` (`burden`). The rest (`now`, `push_in_order`,
//! `idle_event`, `mix`, `end`, `current`, `raise`, `lower`, `thread`, `threads`, `set_due`) by
//! every run.
//!
//! Callers: kernel/model/wake.rs (`ipi`, `takes_io_wait`, `note_wakeup`), kernel/tree/tasks.rs
//! (`set_due`, `takes_io_wait`, `note_wakeup`), kernel/model/kthreads.rs (`set_action`, `set_due`),
//! kernel/model/classes.rs (`takes_io_wait`), kernel/model/lines.rs (`raise`), kernel/model/run.rs
//! (`set_due`), kernel/model/wake_latency.rs (`note_wakeup`), kernel/tree/entries.rs (`ipi`),
//! handover.rs (`burden`), sim.rs (`lower`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/arithmetic.rs,
//! crates/engine/tests/behaviour/wake_latency.rs, crates/engine/tests/behaviour/classes.rs,
//! crates/engine/tests/behaviour/kthreads.rs

use super::Mechanics;
use super::cpu::Mode;
use super::idle::Leaving;
use super::queue::{Event, KernelEvent};
use super::thread::{Action, Thread};
use super::threads::Threads;
use crate::ids::{CpuId, TaskId};
use crate::observe::{Happening, Observer};
use crate::outcome::Ended;

/// Time, and events of the kernel's own.
impl<O: Observer> Mechanics<'_, O> {
    /// The time of the event at hand, ns.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.clock.now
    }

    /// The kernel hears of the event then.
    #[inline]
    pub(crate) fn push(&mut self, at_ns: u64, event: impl Into<KernelEvent>) {
        self.clock.push(at_ns, Event::Kernel(event.into()));
    }

    /// Pushes an event of those that are pushed in the order in which they come: faster.
    #[inline]
    pub(crate) fn push_in_order(&mut self, at_ns: u64, event: impl Into<KernelEvent>) {
        self.clock.push_in_order(at_ns, event.into());
    }

    /// An event that the kernel keeps was due then, and the kernel has carried it out.
    pub(crate) fn has_happened(&mut self, at_ns: u64, event: impl Into<KernelEvent>) {
        self.clock.now = at_ns;
        self.clock.count(Event::Kernel(event.into()));
    }

    /// The event that is handled finds nothing to do.
    #[inline]
    pub(crate) fn idle_event(&mut self) {
        self.clock.idle_event();
    }

    /// Folds a decision into the hash of the run.
    #[inline]
    pub(crate) fn mix(&mut self, fact: u64) {
        self.clock.mix(fact);
    }

    /// The run cannot go on.
    pub(crate) fn end(&mut self, ended: Ended) {
        self.ended.get_or_insert(ended);
    }
}

/// CPUs and their interrupts.
impl<O: Observer> Mechanics<'_, O> {
    /// What the CPU does.
    #[inline]
    pub(crate) fn mode(&self, cpu: CpuId) -> Mode {
        self.cpus[cpu].mode
    }

    /// The task that it executes. None: it executes none.
    #[inline]
    pub(crate) fn current(&self, cpu: CpuId) -> Option<TaskId> {
        self.cpus[cpu].current
    }

    /// Sends an inter-processor interrupt. An idle CPU leaves its state, as by `leave_idle_state`.
    /// A running one takes it later (`Event::Interrupt`).
    pub(crate) fn ipi(&mut self, cpu: CpuId) -> Option<Leaving> {
        self.ipi_sent(cpu, self.clock.now)
    }

    /// The same for one that was sent at another time than now.
    pub(crate) fn ipi_sent(&mut self, cpu: CpuId, sent_ns: u64) -> Option<Leaving> {
        let at = (sent_ns + self.machine.costs.ipi_ns).max(self.clock.now);
        match self.cpus[cpu].mode {
            Mode::Idle if self.idle_state(cpu).polling => {
                Some(self.leave_idle_state(cpu, self.clock.now))
            }
            Mode::Idle => Some(self.leave_idle_state(cpu, at)),
            Mode::Waking => None,
            Mode::Running | Mode::Interrupted => {
                self.raise(cpu, at);
                None
            }
        }
    }

    /// An awake CPU takes an interrupt then, if none is on its way.
    pub(crate) fn raise(&mut self, cpu: CpuId, at_ns: u64) {
        let c = &mut self.cpus[cpu];
        if !c.interrupt_pending {
            c.interrupt_pending = true;
            self.clock.push(at_ns, Event::Interrupt { cpu });
        }
    }

    /// It takes it now.
    pub(crate) fn lower(&mut self, cpu: CpuId) {
        self.cpus[cpu].interrupt_pending = false;
    }
}

/// Threads.
impl<'a, O: Observer> Mechanics<'a, O> {
    /// What the mechanics keep of a thread.
    #[inline]
    pub(crate) fn thread(&self, task: TaskId) -> &Thread {
        &self.threads[task]
    }

    /// All of them: numbers, names, scripts.
    #[inline]
    pub(crate) fn threads(&self) -> &Threads<'a> {
        &self.threads
    }

    /// A thread of the kernel's own has this to do when it next runs.
    #[inline]
    pub(crate) fn set_action(&mut self, task: TaskId, action: Action) {
        self.threads[task].action = Some(action);
    }

    /// When the thread is to wake: what its wake-up latency counts from.
    #[inline]
    pub(crate) fn set_due(&mut self, task: TaskId, due_ns: u64) {
        self.threads[task].due_ns = due_ns;
    }

    /// Work that the kernel causes a thread before its own.
    #[inline]
    pub(crate) fn burden(&mut self, task: TaskId, work: u64) {
        self.threads[task].overhead += work;
    }

    /// Does its sleep end with a device? Asked once per wake-up.
    pub(crate) fn takes_io_wait(&mut self, task: TaskId) -> bool {
        let thread = &mut self.threads[task];
        let io = thread.is_in_io();
        thread.in_io = false;
        io
    }

    /// A thread is on its way from its sleep to this CPU.
    pub(crate) fn note_wakeup(&mut self, task: TaskId, cpu: CpuId) {
        let thread = &mut self.threads[task];
        thread.fresh = true;
        thread.action.get_or_insert(Action::Work(0));
        let due = thread.due_ns;
        if self.threads.visible(task) {
            self.tell(Happening::Wakeup {
                task: self.threads.shown(task),
                cpu: cpu.0,
                due_ns: due,
            });
        }
    }
}

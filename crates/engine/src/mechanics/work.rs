//! Progress: work is done at the CPU's speed, steps end; threads share their core. Work that is
//! done and work that is left add up to the step; whoever changes a speed accounts first
//! (docs/guide/model.md, "Work and speed").
//!
//! What must stay: integers only; work units are those of `machine.rs`. A step ends at the first ns
//! at which its work is done. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part:
//! arithmetic.rs::`run_time_is_work_over_speed_at_each_operating_point` (`account`, `program`),
//! arithmetic.rs::`runtime_is_wall_time` (`Until`), `stalls_take_time_not_work` (`Stall`),
//! frequency.rs::`work_follows_the_frequency_of_the_moment` (`change_speed`),
//! `threads_share_a_core` and nodes.rs::`a_thread_speeds_up_when_its_sibling_stops` (`share_core`,
//! `busy_threads`), arithmetic.rs::`costs_add_up` (`charge`),
//! lines.rs::`a_waker_waits_as_its_own_run_time` (`hold`), classes.rs::`interrupts_of_an_idle_cpu`
//! (`take_for_device`, `finish_work`). `rescale_kernel_work` has no test of its own. By function:
//! every run (`run_end`, `speed_alone`, `idle_again`),
//! lines.rs::`the_next_task_pays_for_the_dequeue` (`set_stalls`, `hold_for`),
//! sched_ext/rules.rs::`callbacks_cost_time` (`charge_next`). `forget_stall` has no test of its
//! own.
//!
//! Callers: clocks.rs (`change_speed`, `busy_threads`), sim.rs (`run_end`, `idle_again`),
//! kernel/model/hotplug.rs (`forget_stall`), kernel/model/idle.rs (`finish_work`),
//! kernel/model/lines.rs (`set_stalls`), kernel/model/sched_ext/callbacks.rs (`charge_next`),
//! kernel/model/wake.rs (`take_for_device`), kernel/tree/entries.rs (`finish_work`),
//! kernel/tree/interrupts.rs (`take_for_device`), idle.rs (`share_core`).
//!
//! Tests: crates/engine/tests/behaviour/arithmetic.rs, crates/engine/tests/behaviour/frequency.rs,
//! crates/engine/tests/behaviour/measures.rs::stalls_take_time_not_work,
//! crates/engine/tests/behaviour/nodes.rs, crates/engine/tests/behaviour/lines.rs,
//! crates/engine/tests/behaviour/classes.rs

use super::Mechanics;
use super::cpu::Mode;
use super::queue::Event;
use super::thread::Action;
use crate::ids::CpuId;
use crate::kernel::Kernel;
use crate::observe::Observer;

impl<O: Observer> Mechanics<'_, O> {
    /// Brings the running task's work up to now; the kernel hears for how long it has run.
    pub(crate) fn account<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        let Some(task) = c.current else { return };
        let delta = self.clock.now.saturating_sub(c.accounted_ns);
        if delta == 0 {
            return;
        }
        c.accounted_ns = self.clock.now;
        let thread = &mut self.threads[task];
        let in_wait = delta.min(thread.kernel_wait_ns);
        thread.kernel_wait_ns -= in_wait;
        let waited = if c.in_path { delta } else { in_wait };
        let mut done = (delta - waited) * c.speed;
        let overhead = done.min(thread.overhead);
        thread.overhead -= overhead;
        done -= overhead;
        match &mut thread.action {
            Some(Action::Work(left)) => {
                let done = done.min(*left);
                *left -= done;
                thread.work += u128::from(done);
            }
            Some(Action::Stall(left)) => *left = left.saturating_sub(done / c.speed),
            Some(Action::Until(_)) | None => {}
        }
        thread.totals.run_ns += delta;
        k.ran(self.clock.now, cpu, task, delta);
    }

    /// Finds out anew when the running task's step ends; the kernel may want to look earlier.
    pub(crate) fn program<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        let Some(task) = c.current else { return };
        if c.in_path {
            return self.clock.disarm_end(cpu);
        }
        let thread = &self.threads[task];
        let kernel_ns = thread.overhead.div_ceil(c.speed);
        // later: after a device's interrupt
        let runs_from = self.clock.now.max(c.accounted_ns);
        let from = runs_from + thread.kernel_wait_ns;
        let end_ns = match thread.action {
            Some(Action::Work(left)) => {
                let work = thread.overhead.saturating_add(left);
                from.saturating_add(work.div_ceil(c.speed))
            }
            Some(Action::Until(at)) => at.max(from + kernel_ns),
            Some(Action::Stall(left)) => from.saturating_add(kernel_ns).saturating_add(left),
            None => from,
        };
        c.end_ns = end_ns;
        let limit_ns = k.run_limit_ns(self, cpu, task, runs_from);
        self.clock.arm_end(cpu, end_ns.min(limit_ns));
    }

    /// Goes on as the running task's step is done, or as the kernel wanted to look now.
    pub(crate) fn run_end<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let c = &self.cpus[cpu];
        let Some(task) = c.current else {
            return self.clock.idle_event();
        };
        if c.end_ns > self.clock.now {
            return k.schedule(self, cpu, None);
        }
        self.account(k, cpu);
        self.threads[task].action = None;
        self.continue_script(k, cpu, task);
    }

    /// Speed of a CPU that has its core for itself, at the point that its clock is at.
    #[inline]
    pub(super) fn speed_alone(&self, cpu: CpuId) -> u64 {
        let domain = self.machine.domain_of[cpu.index()] as usize;
        self.machine.speed[cpu.index()][self.hardware.opp[domain] as usize]
    }

    /// Lets the CPU run from now on at its domain's operating point, with so many busy threads in
    /// its core.
    pub(super) fn change_speed<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, busy: usize) {
        let alone = self.speed_alone(cpu);
        let smt = self.machine.smt.as_ref();
        let speed = smt.map_or(alone, |smt| smt.share(alone, busy));
        self.account(k, cpu);
        self.rescale_kernel_work(cpu, speed);
        self.cpus[cpu].speed = speed;
        k.speed_is(cpu, speed);
        self.program(k, cpu);
    }

    /// Threads of the CPU's core that execute something.
    pub(super) fn busy_threads(&self, cpu: CpuId) -> usize {
        let Some(smt) = &self.machine.smt else {
            return 1;
        };
        let executes = |cpu: &&CpuId| self.cpus[**cpu].executes();
        smt.threads_of(cpu).iter().filter(executes).count()
    }

    /// Changes the speed of all busy threads of a core, as a CPU of it begins to execute or stops.
    pub(super) fn share_core<K: Kernel>(&mut self, k: &mut K, cpu: CpuId) {
        let machine = self.machine;
        let Some(smt) = &machine.smt else { return };
        let busy = self.busy_threads(cpu);
        for other in smt.threads_of(cpu) {
            if self.cpus[*other].executes() {
                self.change_speed(k, *other, busy);
            }
        }
    }

    /// A CPU stalls on a cache line from now on, or has it.
    pub(crate) fn set_stalls<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, stalls: bool) {
        if self.cpus[cpu].stalls != stalls {
            self.cpus[cpu].stalls = stalls;
            self.share_core(k, cpu);
        }
    }

    /// The CPU leaves the machine: it stalls on nothing any more.
    pub(crate) fn forget_stall(&mut self, cpu: CpuId) {
        self.cpus[cpu].stalls = false;
    }

    /// Kernel work under way on a CPU without a task goes on at the new speed.
    fn rescale_kernel_work(&mut self, cpu: CpuId, speed: u64) {
        let c = &mut self.cpus[cpu];
        if c.mode != Mode::Interrupted || c.kernel_until_ns <= self.clock.now {
            return;
        }
        let from = self.clock.now.max(c.irq_until_ns);
        let rest = c
            .kernel_until_ns
            .saturating_sub(from)
            .saturating_mul(c.speed);
        c.kernel_until_ns = from + rest.div_ceil(speed);
        c.generation += 1;
        let generation = c.generation;
        let event = Event::IdleAgain { cpu, generation };
        self.clock.push(c.kernel_until_ns, event);
    }

    /// Kernel work on a CPU: the running task's time, or the time until the CPU is idle again.
    pub(crate) fn charge<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, work: u64) {
        self.account(k, cpu);
        match self.cpus[cpu].current {
            Some(task) => {
                let overhead = &mut self.threads[task].overhead;
                *overhead = overhead.saturating_add(work);
            }
            None => self.charge_next(cpu, work),
        }
    }

    /// Kernel work of a CPU that is between two tasks: what comes next begins later.
    pub(crate) fn charge_next(&mut self, cpu: CpuId, work: u64) {
        let pending = &mut self.cpus[cpu].kernel_work;
        *pending = pending.saturating_add(work);
    }

    /// The kernel on this CPU waits for so long: the running task's time, or the time until the
    /// CPU is idle again.
    #[inline]
    pub(crate) fn hold<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, ns: u64) {
        if ns > 0 {
            self.hold_for(k, cpu, ns);
        }
    }

    /// The wait is time of the running task or, without one, of the CPU; work under way is
    /// accounted first.
    fn hold_for<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, ns: u64) {
        self.account(k, cpu);
        let c = &mut self.cpus[cpu];
        match c.current {
            Some(task) => self.threads[task].kernel_wait_ns += ns,
            None => c.kernel_wait_ns += ns,
        }
    }

    /// A CPU is in the middle of a path of its kernel from now on, or has left it. Meanwhile its
    /// task does no work, and no step of it ends.
    pub(crate) fn set_in_path<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, in_path: bool) {
        self.account(k, cpu);
        self.cpus[cpu].in_path = in_path;
        if in_path {
            self.clock.disarm_end(cpu);
        }
    }

    /// A path of the kernel on a CPU has taken until then, ns, and nothing else happens before:
    /// it is that time now. The time is the running task's, which does no work in it.
    pub(crate) fn pass<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, to_ns: u64) {
        self.account(k, cpu);
        let in_path = std::mem::replace(&mut self.cpus[cpu].in_path, true);
        self.clock.now = self.clock.now.max(to_ns);
        self.account(k, cpu);
        self.cpus[cpu].in_path = in_path;
    }

    /// Whoever runs next on the CPU, or the CPU without a task, waits for so long before that.
    pub(crate) fn hold_next(&mut self, cpu: CpuId, ns: u64) {
        self.cpus[cpu].kernel_wait_ns += ns;
    }

    /// The speed of a CPU now.
    pub(crate) fn speed(&self, cpu: CpuId) -> u64 {
        self.cpus[cpu].speed
    }

    /// When the next thing happens, at the latest at the end of the run and at `most_ns`, ns.
    pub(crate) fn horizon_ns(&mut self, most_ns: u64) -> u64 {
        let until_ns = self.until_ns.min(most_ns);
        self.clock.next_ns(until_ns).max(self.clock.now)
    }

    /// As if the next thing had been asked for up to then: of ends at one time those that were
    /// looked at first come first, and others have looked in place of the run.
    pub(crate) fn look_up_to(&mut self, ns: u64) {
        self.horizon_ns(ns);
    }

    /// When the next event is due, at the latest at the end of the run, and up to when events of a
    /// class that the kernel keeps come before it and before the next look at the state, ns.
    pub(crate) fn peek(&mut self, class: u8) -> (u64, u64) {
        let (at_ns, until_ns) = self.clock.peek(self.until_ns, class);
        (
            at_ns.max(self.clock.now),
            until_ns.min(self.next_state_ns()),
        )
    }

    /// A device takes the CPU for so long: for that time nothing else goes on there. Interrupts
    /// that come meanwhile are heard at once; what they start, and other devices, have to wait. The
    /// running task's work is accounted.
    pub(crate) fn take_for_device(&mut self, cpu: CpuId, run_ns: u64) {
        let c = &mut self.cpus[cpu];
        c.irq_until_ns = c.irq_until_ns.max(self.clock.now) + run_ns;
        if c.mode == Mode::Running {
            c.accounted_ns = c.accounted_ns.max(c.irq_until_ns);
            c.stolen_ns += run_ns;
        }
    }

    /// A CPU has no task: it finishes its kernel work. Returns true if there is none; else an event
    /// follows (`Event::IdleAgain`).
    #[inline]
    pub(crate) fn finish_work(&mut self, cpu: CpuId) -> bool {
        let now = self.clock.now;
        let c = &mut self.cpus[cpu];
        c.mode = Mode::Interrupted;
        c.generation += 1;
        let work = std::mem::take(&mut c.kernel_work);
        c.kernel_until_ns = c.kernel_until_ns.max(now).max(c.irq_until_ns);
        c.kernel_until_ns += work.div_ceil(c.speed) + std::mem::take(&mut c.kernel_wait_ns);
        let (until, generation) = (c.kernel_until_ns, c.generation);
        if until != now {
            self.clock.push(until, Event::IdleAgain { cpu, generation });
        }
        until == now
    }

    /// The kernel work may be done.
    pub(crate) fn idle_again<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, generation: u32) {
        if self.cpus[cpu].generation == generation {
            k.work_done(self, cpu);
        } else {
            self.clock.idle_event();
        }
    }
}

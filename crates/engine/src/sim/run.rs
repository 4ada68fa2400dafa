//! Execution: work is done at the CPU's speed, steps end, the next task is picked.

use super::Sim;
use super::cpu::Mode;
use super::steps::Flow;
use crate::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::observe::{CpuPower, Observer, Stop};
use crate::queue::Event;
use crate::thread::{Action, State};
use wakeplace_policy_sys::EventResult;

impl<O: Observer> Sim<'_, O> {
    /// Brings the running task's work and virtual time up to now.
    pub(super) fn account(&mut self, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        let Some(task) = c.current else { return };
        let delta = self.clock.now.saturating_sub(c.accounted_ns);
        if delta == 0 {
            return;
        }
        c.accounted_ns = self.clock.now;
        let above = c.classes.running.is_some();
        let thread = &mut self.threads[task];
        let waited = delta.min(thread.kernel_wait_ns);
        thread.kernel_wait_ns -= waited;
        let mut done = (delta - waited) * c.speed;
        let overhead = done.min(thread.overhead);
        thread.overhead -= overhead;
        done -= overhead;
        match &mut thread.action {
            Some(Action::Work(left)) => *left = left.saturating_sub(done),
            Some(Action::Stall(left)) => *left = left.saturating_sub(done / c.speed),
            Some(Action::Until(_)) | None => {}
        }
        thread.totals.run_ns += delta;
        if above {
            self.class_charge(task, cpu, delta);
        }
        if !above || self.home.is_sched_ext() {
            self.home.update_curr(task, cpu, delta);
        }
    }

    /// Finds out anew when the running task's step ends.
    pub(super) fn program(&mut self, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        let Some(task) = c.current else { return };
        let thread = &self.threads[task];
        let kernel_ns = thread.overhead.div_ceil(c.speed);
        // later: after a device's interrupt
        let from = self.clock.now.max(c.accounted_ns) + thread.kernel_wait_ns;
        c.end_ns = match thread.action {
            Some(Action::Work(left)) => {
                let work = thread.overhead.saturating_add(left);
                from.saturating_add(work.div_ceil(c.speed))
            }
            Some(Action::Until(at)) => at.max(from + kernel_ns),
            Some(Action::Stall(left)) => from.saturating_add(kernel_ns).saturating_add(left),
            None => from,
        };
        let from = self.clock.now.max(self.cpus[cpu].accounted_ns);
        let budget = self.classes.budget_left_ns(task);
        let run_ns = budget.map(|left| self.core.dl_run_for(cpu.0, left));
        self.cpus[cpu].budget_end_ns = run_ns.map_or(u64::MAX, |run_ns| from + run_ns);
        let c = &self.cpus[cpu];
        self.clock.arm_end(cpu, c.end_ns.min(c.budget_end_ns));
        self.arm_slice_end(cpu);
    }

    /// The running task's step is done, or its budget is empty.
    pub(super) fn run_end(&mut self, cpu: CpuId) {
        let c = &self.cpus[cpu];
        let Some(task) = c.current else {
            return self.clock.idle_event();
        };
        if c.end_ns > self.clock.now {
            return self.schedule(cpu);
        }
        self.account(cpu);
        self.threads[task].action = None;
        self.continue_script(cpu, task);
    }

    /// The running task sleeps; `due`: until then, else until somebody else wakes it.
    pub(super) fn block(&mut self, cpu: CpuId, task: TaskId, due: Option<u64>) {
        let wait = self.leave_cpu(cpu, task, false);
        if let Some(due) = due {
            self.sleep_until(task, due);
        }
        self.threads[task].totals.activations += 1;
        self.after_leaving(cpu, wait);
    }

    /// The running task ends; before that it tells whoever waits for its end.
    pub(super) fn exit(&mut self, cpu: CpuId, task: TaskId) {
        let thread = &mut self.threads[task];
        let told = std::mem::replace(&mut thread.ends, true);
        let script = &self.threads.scripts[thread.script as usize];
        if let (false, Some(channel)) = (told, script.ended) {
            let end = crate::thread::Post {
                channel,
                sync: true,
            };
            if self.begin_post(cpu, task, end) == Flow::Held {
                return;
            }
        }
        self.cpus[cpu].leaves_as = Some(Stop::Exits);
        let wait = self.leave_cpu(cpu, task, true);
        self.core.task_exit(&mut self.tasks[task]);
        self.threads[task].state = State::Exited;
        self.threads.alive -= 1;
        let number = self.threads.shown(task);
        self.told.observer.task_exit(self.clock.now, number);
        self.after_leaving(cpu, wait);
        self.exit_ext_task(task);
    }

    /// The running task leaves its queue to sleep or (`ends`) for good. Returns how long its CPU
    /// waits for its group's line.
    fn leave_cpu(&mut self, cpu: CpuId, task: TaskId, ends: bool) -> u64 {
        self.account(cpu);
        if self.classes.is_class(task) {
            self.class_sleep(task, cpu);
            return 0;
        }
        let (home, services) = self.ask_home();
        let stays = home.dequeue_sleep(services, task, cpu, ends);
        let record = &mut self.tasks[task];
        let result = if stays {
            self.core.dequeue_delay(record, self.clock.now)
        } else {
            self.core.dequeue_sleep(record, self.clock.now)
        };
        self.after_core(cpu, result);
        let thread = &mut self.threads[task];
        thread.state = State::Sleeping;
        let wait = self.line_wait(cpu, task);
        let gone_ns = self.clock.now + wait + self.machine.costs.switch_out_ns;
        self.threads[task].off_cpu_ns = gone_ns;
        self.end_stretch(cpu, true);
        self.pay_ext();
        self.count_running(cpu);
        wait
    }

    /// Arms the timer that ends a task's sleep, on the CPU where it went to sleep.
    pub(super) fn sleep_until(&mut self, task: TaskId, due_ns: u64) {
        let cpu = self.changes.timer_cpu(self.cpu_of(task));
        let thread = &mut self.threads[task];
        thread.due_ns = due_ns;
        thread.timer_cpu = cpu;
        thread.state = State::Sleeping;
        self.cpus[cpu].timers.push(std::cmp::Reverse(due_ns));
        self.clock.push(due_ns, Event::Timer { task });
        if self.threads.visible(task) {
            let number = self.threads.shown(task);
            self.told
                .observer
                .timer_armed(self.clock.now, number, cpu.0, due_ns);
        }
    }

    /// Tells the observer what the running task did, at the end of the run.
    pub(super) fn finish_stretch(&mut self, cpu: CpuId) {
        if let Some(task) = self.cpus[cpu].current
            && self.threads.visible(task)
        {
            let ran = self.stretch_ns(cpu);
            let number = self.threads.shown(task);
            let stop = Stop::Preempted;
            self.told
                .observer
                .run_stop(self.clock.now, cpu.0, number, ran, stop);
        }
    }

    /// The running task stops executing.
    pub(super) fn end_stretch(&mut self, cpu: CpuId, sleeps: bool) {
        let c = &mut self.cpus[cpu];
        let Some(task) = c.current.take() else { return };
        self.clock.disarm_end(cpu);
        c.generation += 1;
        let leaves_as = c.leaves_as.take();
        let thread = &mut self.threads[task];
        thread.runnable_since_ns = self.clock.now;
        let stop = leaves_as.unwrap_or(match sleeps {
            true if thread.in_io || thread.io_wait => Stop::Waits,
            true => Stop::Sleeps,
            false => Stop::Preempted,
        });
        if !self.classes.is_class(task) || self.home.is_sched_ext() {
            let (home, services) = self.ask_home();
            home.stop_task(services, task, cpu);
        }
        if self.threads.visible(task) {
            let ran = self.stretch_ns(cpu);
            let number = self.threads.shown(task);
            self.told
                .observer
                .run_stop(self.clock.now, cpu.0, number, ran, stop);
        }
    }

    /// The running task is put back into the queue.
    pub(super) fn put_back(&mut self, cpu: CpuId) {
        let Some(task) = self.cpus[cpu].current else {
            return;
        };
        if self.classes.is_class(task) {
            return self.class_put_back(task, cpu);
        }
        let result = self.core.put_current(&mut self.tasks[task], self.clock.now);
        self.after_core(cpu, result);
        self.end_stretch(cpu, false);
        self.requeue(task, cpu);
    }

    /// Picks the next task of a CPU that is awake; without one it pulls one or goes idle.
    pub(super) fn schedule(&mut self, cpu: CpuId) {
        let outer = self.enter_ext(cpu);
        self.schedule_here(cpu);
        self.leave_ext(outer);
    }

    fn schedule_here(&mut self, cpu: CpuId) {
        if self.cpus[cpu].spins {
            return; // it will
        }
        self.account(cpu);
        let c = &mut self.cpus[cpu];
        c.reschedule = false;
        let previous = c.current;
        let mut spin = self.take_lock(cpu, cpu);
        if !self.classes.states.is_empty() {
            self.hold(cpu, std::mem::take(&mut spin));
        }
        if self.class_schedule(cpu, previous) {
            return;
        }
        let fair = self.cpus[cpu].current;
        self.begin_pick(cpu);
        if let Some(task) = fair
            && self.keeps(task, cpu)
        {
            self.hold(cpu, spin);
            return self.program(cpu);
        }
        self.put_back(cpu);
        self.hold(cpu, spin); // before the next task
        if fair.is_none() && !self.home.next_known(cpu) {
            self.dispatch(cpu, false);
        }
        if self.home.balances() && self.home.nr_running(cpu) == 0 {
            self.new_idle(cpu);
        }
        match self.home.pick_next_task(cpu) {
            Some(task) => self.start(cpu, task, previous),
            None if self.ext_has_next(cpu) => self.schedule_here(cpu),
            None => self.after_work(cpu),
        }
    }

    /// `task` begins to execute.
    pub(super) fn start(&mut self, cpu: CpuId, task: TaskId, previous: Option<TaskId>) {
        self.leave_idle(cpu);
        let above = self.classes.is_class(task);
        let result = if above {
            self.class_start(task, cpu)
        } else {
            let record = &mut self.tasks[task];
            let result = self.core.set_current(record, self.clock.now);
            self.wait_for_line(cpu, cpu, task);
            result
        };
        self.threads.touch(task);
        let c = &mut self.cpus[cpu];
        c.current = Some(task);
        c.accounted_ns = self.clock.now.max(c.irq_until_ns);
        c.stretch_start_ns = self.clock.now;
        c.stolen_ns = c.accounted_ns - self.clock.now;
        let thread = &mut self.threads[task];
        let rest = c.kernel_until_ns.saturating_sub(c.accounted_ns);
        let kernel =
            std::mem::take(&mut c.kernel_work).saturating_add(rest.saturating_mul(c.speed));
        thread.overhead = thread.overhead.saturating_add(kernel);
        thread.kernel_wait_ns += std::mem::take(&mut c.kernel_wait_ns);
        c.kernel_until_ns = 0;
        if previous != Some(task) && c.changed != Some(task) {
            thread.overhead += self.machine.costs.context_switch;
        }
        thread.totals.wait_ns += self.clock.now - thread.runnable_since_ns;
        let fresh = std::mem::take(&mut thread.fresh).then(|| self.clock.now - thread.due_ns);
        if self.threads.visible(task) {
            let number = self.threads.shown(task);
            self.told
                .observer
                .run_start(self.clock.now, cpu.0, number, fresh);
        }
        if !above {
            let (home, services) = self.ask_home();
            home.set_next_task(services, task, cpu);
        }
        self.started_ext(task, cpu, above);
        self.clock.mix(u64::from(cpu.0) << 32 | u64::from(task.0));
        self.after_core(cpu, result);
        self.program(cpu);
    }

    /// A frequency domain has reached its requested operating point.
    pub(super) fn apply_frequency(&mut self, domain: u32) {
        for at in 0..self.machine.domain_cpus[domain as usize].len() {
            self.charge_budget(self.machine.domain_cpus[domain as usize][at]);
        }
        let opp = self.core.freq_request(domain as usize);
        self.core.freq_applied(domain, opp);
        self.hardware.opp[domain as usize] = opp as u16;
        self.tell_ext_frequency(domain);
        self.told
            .observer
            .frequency(self.clock.now, domain, opp as u16);
        for at in 0..self.machine.domain_cpus[domain as usize].len() {
            let cpu = self.machine.domain_cpus[domain as usize][at];
            let busy = self.busy_threads(cpu);
            self.change_speed(cpu, busy);
            self.draws(self.machine.cluster_of[cpu.index()]);
        }
    }

    /// From now on the CPU runs at its domain's operating point, with so many busy threads in its
    /// core.
    fn change_speed(&mut self, cpu: CpuId, busy: usize) {
        let domain = self.machine.domain_of[cpu.index()] as usize;
        let alone = self.machine.speed[cpu.index()][self.hardware.opp[domain] as usize];
        let smt = self.machine.smt.as_ref();
        let speed = smt.map_or(alone, |smt| smt.share(alone, busy));
        self.account(cpu);
        self.rescale_kernel_work(cpu, speed);
        self.cpus[cpu].speed = speed;
        self.program(cpu);
    }

    /// Threads of the CPU's core that execute something.
    fn busy_threads(&self, cpu: CpuId) -> usize {
        let Some(smt) = &self.machine.smt else {
            return 1;
        };
        let executes = |cpu: &&CpuId| self.cpus[**cpu].executes();
        smt.threads_of(cpu).iter().filter(executes).count()
    }

    /// The CPU begins to execute or stops: that is felt by all busy threads of its core.
    pub(super) fn share_core(&mut self, cpu: CpuId) {
        let thread = |sim: &Self, at: usize| {
            let smt = sim.machine.smt.as_ref()?;
            smt.threads_of(cpu).get(at).copied()
        };
        let busy = self.busy_threads(cpu);
        let mut at = 0;
        while let Some(other) = thread(self, at) {
            if self.cpus[other].executes() {
                self.change_speed(other, busy);
            }
            at += 1;
        }
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

    /// Carries out what a call into the core asked for.
    pub(super) fn after_core(&mut self, cpu: CpuId, result: EventResult) {
        if result.freq() {
            let domain = self.machine.domain_of[cpu.index()];
            self.request_frequency(domain);
        }
    }

    /// What the CPU draws power for from now on; observers hear of changes.
    pub(super) fn power(&mut self, cpu: CpuId, power: CpuPower) {
        if self.cpus[cpu].power.replace(power) != Some(power) {
            self.told.observer.cpu_power(self.clock.now, cpu.0, power);
            self.draws(self.machine.cluster_of[cpu.index()]);
        }
    }
}

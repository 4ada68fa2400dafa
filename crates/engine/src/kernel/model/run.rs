//! Execution: work is done at the CPU's speed, steps end, the next task is picked
//! (docs/guide/model.md, "Work and speed").
//!
//! What must stay: virtual time is charged before anything about the running task changes; a pick
//! looks at deadline and RT tasks, then fair ones, then pulls. Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! arithmetic.rs::`run_time_is_work_over_speed_at_each_operating_point` (charges),
//! balance.rs::`a_cpu_that_runs_dry_pulls` (pick), frequency.rs (operating points),
//! classes.rs::`a_cap_holds_while_it_lasts` (limits). By function:
//! `run_time_is_work_over_speed_at_each_operating_point` (`charge_run`, `start_task`,
//! `end_stretch`, `schedule_cpu`, `schedule_here`), arithmetic.rs::`sleeps_and_delays_end_on_time`
//! (`block`, `sleep_until`, `leave_cpu`), outcomes.rs::`it_ends_with_the_last_task` (`exit_task`),
//! balance.rs::`a_cpu_that_runs_dry_pulls` (`pick_next_task`), fair.rs::`three_hogs_share_equally`
//! (`put_back`), classes.rs::`a_deadline_task_has_its_bandwidth` (`limit_run`),
//! deadline_budgets.rs::`a_budget_follows_the_clock` (`charge_budgets`),
//! frequency.rs::`changes_take_the_transition_latency` (`apply_frequency`, `after_core`),
//! clocks.rs::`awake_cores_bound_each_others_clock` (`follow_clock`),
//! classes.rs::`a_cap_holds_while_it_lasts` (`limit_frequency`).
//!
//! Callers: interface.rs (`charge_run`, `limit_run`, `limit_frequency`), class_change.rs
//! (`start_task`), classes.rs (`start_task`), classes.rs, change.rs and 2 more (`end_stretch`),
//! lines.rs, tick.rs and 4 more (`schedule_cpu`), bandwidth.rs, classes.rs and 11 more
//! (`after_core`).
//!
//! Tests: crates/engine/tests/behaviour/arithmetic.rs, crates/engine/tests/behaviour/invariants.rs

use super::Model;
use super::event::Event;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::{Mechanics, State};
use crate::observe::Observer;
use wakeplace_policy_sys::EventResult;

impl Model<'_> {
    /// Charges the running task's virtual time with what it has run.
    #[inline]
    pub(super) fn charge_run(&mut self, now_ns: u64, cpu: CpuId, task: TaskId, delta_ns: u64) {
        let above = self.cpus[cpu].classes.running.is_some();
        if above {
            self.class_charge(now_ns, task, cpu, delta_ns);
        }
        if !above || self.home.is_sched_ext() {
            self.home.update_curr(task, cpu, delta_ns);
        }
        if self.bandwidth.used && !above {
            self.account_runtime(cpu, task, delta_ns);
        }
    }

    /// The time at which the budget of the running task is empty, if it has one. What ends slices
    /// between ticks is armed.
    #[inline]
    pub(super) fn limit_run<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        from_ns: u64,
    ) -> u64 {
        let budget = self.classes.budget_left_ns(task);
        let run_ns = budget.map(|left| self.core.dl_run_for(cpu.0, left));
        self.arm_slice_end(m, cpu);
        run_ns.map_or(u64::MAX, |run_ns| from_ns + run_ns)
    }

    /// Puts the running task to sleep; `due`: until then, else until somebody else wakes it.
    pub(super) fn block<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        due: Option<u64>,
    ) {
        let wait = self.leave_cpu(m, cpu, task, false);
        if let Some(due) = due {
            self.sleep_until(m, task, due);
        }
        self.after_leaving(m, cpu, wait);
    }

    /// Takes away the running task, which is gone for good.
    pub(super) fn exit_task<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
    ) {
        let wait = self.leave_cpu(m, cpu, task, true);
        self.core.task_exit(&mut self.tasks[task]);
        self.core.thread_ends(&self.tasks[task]);
        m.gone(task);
        self.after_leaving(m, cpu, wait);
        self.exit_ext_task(m, task);
    }

    /// The running task leaves its queue to sleep or (`ends`) for good. Returns how long its CPU
    /// waits for its group's line.
    fn leave_cpu<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        ends: bool,
    ) -> u64 {
        m.account(self, cpu);
        if self.classes.is_class(task) {
            self.class_sleep(m, task, cpu);
            return 0;
        }
        if self.bandwidth.used {
            self.tick_throttles(m, cpu, task);
        }
        let (home, services) = self.ask_home(m.now());
        let stays = home.dequeue_sleep(services, task, cpu, ends);
        let record = &mut self.tasks[task];
        let result = if stays {
            self.core.dequeue_delay(record, m.now())
        } else {
            self.core.dequeue_sleep(record, m.now())
        };
        self.after_core(m, cpu, result);
        m.set_state(task, State::Sleeping);
        let wait = self.line_wait(m, cpu, task);
        let gone_ns = m.now() + wait + self.costs.switch_out_ns;
        self.own[task].off_cpu_ns = gone_ns;
        self.end_stretch(m, cpu, true);
        self.pay_ext(m);
        self.count_running(cpu);
        if self.bandwidth.used {
            self.return_runtime(m, task, cpu);
        }
        wait
    }

    /// Arms the timer that ends a task's sleep, on the CPU where it went to sleep. One that waits
    /// for I/O ends with a device: no governor of idle states sees it come.
    pub(super) fn sleep_until<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        due_ns: u64,
    ) {
        let cpu = m.timer_cpu(self.cpu_of(task));
        m.set_due(task, due_ns);
        self.own[task].timer_cpu = cpu;
        if !m.thread(task).is_in_io() {
            self.cpus[cpu].timers.push(std::cmp::Reverse(due_ns));
        }
        m.push(due_ns, Event::Timer { task });
        m.tell_timer_armed(task, cpu, due_ns);
    }

    /// The running task stops executing.
    pub(super) fn end_stretch<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        sleeps: bool,
    ) {
        let Some(task) = m.stop(cpu, sleeps) else {
            return;
        };
        if !self.classes.is_class(task) || self.home.is_sched_ext() {
            let (home, services) = self.ask_home(m.now());
            home.stop_task(services, task, cpu);
        }
    }

    /// Puts the running task back into the queue.
    pub(super) fn put_back<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let Some(task) = m.current(cpu) else {
            return;
        };
        if self.classes.is_class(task) {
            return self.class_put_back(m, task, cpu);
        }
        let result = self.core.put_current(&mut self.tasks[task], m.now());
        self.after_core(m, cpu, result);
        self.end_stretch(m, cpu, false);
        self.requeue(m, task, cpu);
    }

    /// Picks the next task of a CPU that is awake; without one it pulls one or goes idle.
    pub(super) fn schedule_cpu<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if !self.home.is_sched_ext() {
            return self.schedule_here(m, cpu);
        }
        let outer = self.enter_ext(m, cpu);
        self.schedule_here(m, cpu);
        self.leave_ext(m, outer);
    }

    /// Finds whom the CPU runs next and lets it begin: classes, then fair tasks, then a pull, then
    /// idle.
    fn schedule_here<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.cpus[cpu].spins {
            return; // it will
        }
        m.account(self, cpu);
        let c = &mut self.cpus[cpu];
        (c.reschedule, c.reschedule_lazily) = (false, false);
        let previous = m.current(cpu);
        let mut spin = self.take_lock(m, cpu, cpu);
        if self.classes.has_classes() {
            m.hold(self, cpu, std::mem::take(&mut spin));
            if self.class_schedule(m, cpu, previous) {
                return;
            }
        }
        let mut fair = m.current(cpu);
        if self.bandwidth.used {
            fair = fair.filter(|task| !self.stops_running(m, cpu, *task));
        }
        self.begin_pick(m, cpu);
        if let Some(task) = fair
            && self.keeps(m, task, cpu)
        {
            m.hold(self, cpu, spin);
            return m.program(self, cpu);
        }
        if fair.is_some() {
            self.put_back(m, cpu);
        }
        let pushable = fair.filter(|task| self.core.may_push(&self.tasks[*task]));
        m.hold(self, cpu, spin); // before the next task
        if fair.is_none() && !self.home.next_known(cpu) {
            self.dispatch(m, cpu, false);
        }
        match self.pick_next_task(m, cpu) {
            Some(task) => {
                self.start_task(m, cpu, task, previous);
                if let Some(put) = pushable.filter(|put| *put != task) {
                    self.push_put_back(m, cpu, put);
                }
            }
            None if self.ext_has_next(m, cpu) => self.schedule_here(m, cpu),
            None => self.after_work(m, cpu),
        }
    }

    /// The next task, from another CPU if there is none here; not one whose group is throttled.
    fn pick_next_task<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
    ) -> Option<TaskId> {
        loop {
            if self.home.balances() && self.home.nr_running(cpu) == 0 {
                self.new_idle(m, cpu);
            }
            let task = self.home.pick_next_task(cpu)?;
            if !self.bandwidth.used || !self.stops_at_pick(m, cpu, task) {
                return Some(task);
            }
            self.begin_pick(m, cpu);
        }
    }

    /// `task`, just picked, begins to execute: core, class and mechanics hear of it.
    pub(super) fn start_task<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        previous: Option<TaskId>,
    ) {
        self.leave_idle(m, cpu);
        let above = self.classes.is_class(task);
        let result = if above {
            self.class_start(m, task, cpu)
        } else {
            let record = &mut self.tasks[task];
            let result = self.core.set_current(record, m.now());
            self.wait_for_line(m, cpu, cpu, task);
            result
        };
        self.touch(task);
        let goes_on = previous == Some(task) || self.cpus[cpu].changed == Some(task);
        let switch = if goes_on {
            0
        } else {
            self.costs.context_switch
        };
        m.run(cpu, task, switch);
        if !above {
            let (home, services) = self.ask_home(m.now());
            home.set_next_task(services, task, cpu);
        }
        self.started_ext(m, task, cpu, above);
        m.mix(u64::from(cpu.0) << 32 | u64::from(task.0));
        self.after_core(m, cpu, result);
        m.program(self, cpu);
    }

    /// Tells all parts of the model that a frequency domain is about to run at this operating
    /// point.
    pub(super) fn apply_frequency<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        domain: u32,
        opp: u16,
    ) {
        self.charge_budgets(m, domain);
        let result = self.core.freq_applied(domain, opp.into());
        self.tell_ext_frequency(domain);
        let cpu = self.machine.domain_cpus[domain as usize][0];
        self.after_core(m, cpu, result);
    }

    /// Tells the model that a frequency domain is about to run at an operating point that nobody
    /// here asked for. What was asked for stays so, and so does a change that is under way.
    pub(super) fn follow_clock<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        domain: u32,
        opp: u16,
    ) {
        self.charge_budgets(m, domain);
        self.core.clock_is(domain, opp.into());
        self.tell_ext_frequency(domain);
    }

    /// Budgets count by the clock: before it changes, what was used at the present one.
    fn charge_budgets<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, domain: u32) {
        let machine = self.machine;
        for cpu in &machine.domain_cpus[domain as usize] {
            self.charge_budget(m, *cpu);
        }
    }

    /// Limits a frequency domain to its operating points up to `most`.
    pub(super) fn limit_frequency<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        domain: u32,
        most: u32,
        cool: Option<u32>,
    ) {
        if let Some(cool) = cool {
            self.core.thermal_pressure(domain, cool);
        }
        let result = self.core.freq_limit(domain, most, m.now());
        let cpu = self.machine.domain_cpus[domain as usize][0];
        self.after_core(m, cpu, result);
    }

    /// Carries out what a call into the core asked for.
    pub(super) fn after_core<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        result: EventResult,
    ) {
        if result.freq() {
            let domain = self.machine.domain_of[cpu.index()];
            self.request_frequency(m, domain);
        }
    }
}

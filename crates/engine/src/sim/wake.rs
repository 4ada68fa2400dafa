//! Wake-ups: interrupts, the question to the core, queueing, preemption.
//!
//! The stages of a wake-up, by the kernel's names where it has them. A stage that takes time ends
//! in an event (`WakeupStage`), and `resume_wakeup` goes on:
//!
//! ```text
//!   wake_by_timer   wake_by_task                        a sleep is over, or another task ends it
//!         +---------------+
//!                 v
//!          try_to_wake_up ---> ttwu_runnable            its queue still keeps it: no choice
//!                 |                   |
//!                 +--> ttwu_on_cpu    |                 still switching out: to the wake list of
//!                 |     |  (Select)   |                 that CPU, or later a choice
//!                 v     v             |
//!          select_task_rq             |                 the core chooses a CPU
//!                 v                   |
//!           choice_made               |                 not yet seen by others
//!                 |  (Queue)          |
//!                 v                   v
//!           ttwu_queue ----------> ttwu_lock            the waker takes the queue's lock
//!                 |                   |  (Activate)
//!                 v                   v
//!       ttwu_queue_wakelist    ttwu_do_activate
//!                 |  (interrupt)      |
//!                 +---> activate_task <                 the task is queued and counted
//!                             v
//!                      ttwu_activated                   the line of its group's load is there
//!                             |  (Event::Queued)
//!                             v
//!                      wakeup_preempt                   it displaces what runs, or wakes its CPU
//! ```
//!
//! From `choice_made` to `ttwu_lock` the functions are in `wake_latency`, `ttwu_activated` is in
//! `lines`. What brings a CPU out of its idle state is `leave_idle_state`, in `idle`.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::observe::{
    CpuPower, KernelWork, MigrateCause, Observer, Placement, PlacementKind, Situation, Waking,
};
use crate::queue::Event;
use crate::thread::{Action, State};
use wakeplace_policy_sys::{Choice, Request, Waker};

impl<O: Observer> Sim<'_, O> {
    /// A task's sleep ends: its timer interrupts the CPU on which it was armed.
    pub(super) fn timer(&mut self, task: TaskId) {
        let cpu = self.threads[task].timer_cpu;
        self.cpus[cpu].next_timer_ns(self.clock.now); // forgets this one
        self.interrupt_with(cpu, Message::Timer(task));
    }

    /// An interrupt arrives at a CPU now. A running CPU takes it at once, an idle one after it has
    /// left its idle state.
    pub(super) fn interrupt_with(&mut self, cpu: CpuId, message: Message) {
        match self.cpus[cpu].mode {
            Mode::Idle => {
                self.cpus[cpu].inbox.push(message);
                self.leave_idle_state(cpu, self.clock.now);
            }
            Mode::Waking => self.cpus[cpu].inbox.push(message),
            Mode::Running | Mode::Interrupted if self.cpus[cpu].spins => {
                self.cpus[cpu].inbox.push(message);
            }
            Mode::Running | Mode::Interrupted => {
                self.take_message(cpu, message);
                self.after_interrupt(cpu);
            }
        }
    }

    /// Sends an inter-processor interrupt.
    pub(super) fn send(&mut self, cpu: CpuId, message: Message) {
        self.cpus[cpu].inbox.push(message);
        let at = self.clock.now + self.machine.costs.ipi_ns;
        match self.cpus[cpu].mode {
            Mode::Idle if self.idle_state(cpu).polling => {
                self.leave_idle_state(cpu, self.clock.now)
            }
            Mode::Idle => self.leave_idle_state(cpu, at),
            Mode::Waking => {}
            Mode::Running | Mode::Interrupted => {
                let c = &mut self.cpus[cpu];
                if !c.interrupt_pending {
                    c.interrupt_pending = true;
                    self.clock.push(at, Event::Interrupt { cpu });
                }
            }
        }
    }

    /// An inter-processor interrupt is taken by an awake CPU (one that went idle meanwhile wakes).
    pub(super) fn interrupt(&mut self, cpu: CpuId) {
        self.cpus[cpu].interrupt_pending = false;
        match self.cpus[cpu].mode {
            // Whatever it was for has been taken with something else, unless it is still there.
            Mode::Idle if self.cpus[cpu].inbox.is_empty() => self.clock.idle_event(),
            Mode::Idle => self.leave_idle_state(cpu, self.clock.now),
            Mode::Waking => {}
            Mode::Running | Mode::Interrupted if self.cpus[cpu].spins => {}
            Mode::Running | Mode::Interrupted => self.take_inbox(cpu),
        }
    }

    /// The CPU has left its idle state.
    pub(super) fn awake(&mut self, cpu: CpuId) {
        let c = &mut self.cpus[cpu];
        c.mode = Mode::Interrupted;
        c.idle_total_ns += self.clock.now - c.idle_since_ns;
        self.power(cpu, CpuPower::Busy);
        self.share_core(cpu);
        self.take_inbox(cpu);
    }

    /// Takes all messages. Pushing the running task away comes last: it is the waker of the others.
    fn take_inbox(&mut self, cpu: CpuId) {
        let mut inbox = std::mem::take(&mut self.cpus[cpu].inbox);
        if (inbox.iter()).any(|message| matches!(message, Message::Enqueue(_))) {
            self.lock_queue(cpu, cpu);
        }
        inbox.sort_by_key(|message| matches!(message, Message::Push { .. }));
        for message in inbox.drain(..) {
            self.take_message(cpu, message);
        }
        // Keep the buffer; what came meanwhile has an interrupt of its own.
        inbox.append(&mut self.cpus[cpu].inbox);
        self.cpus[cpu].inbox = inbox;
        self.after_interrupt(cpu);
    }

    fn take_message(&mut self, cpu: CpuId, message: Message) {
        match message {
            Message::Timer(task) => self.wake_by_timer(task, cpu),
            Message::Enqueue(task) => {
                self.core.cpu_mut(cpu.0).queue.pending -= 1;
                self.activate_task(task, cpu, false);
                self.ttwu_activated(task, cpu, cpu);
            }
            Message::Reschedule => self.cpus[cpu].reschedule = true,
            Message::Preempt => self.end_turn(cpu),
            Message::NohzBalance => self.nohz_balance(cpu),
            Message::NohzStats => self.nohz_stats(cpu),
            Message::Push { to, level } => self.push_running(cpu, to, level),
            Message::Tick => self.idle_tick(cpu),
            Message::IdleTimer => self.idle_turn(cpu),
            Message::Arrived => self.look_for_work(cpu),
            Message::Device { run_ns } => self.take_device(cpu, run_ns),
            Message::SchedExtTimer(timer) => self.take_ext_timer(timer),
        }
    }

    /// After interrupt work: run the new task, go on with the old one, or back to idle when it is
    /// done.
    pub(super) fn after_interrupt(&mut self, cpu: CpuId) {
        if self.cpus[cpu].spins {
            return; // once it has its line
        }
        let work = self.has_work(cpu);
        let c = &mut self.cpus[cpu];
        let reschedule = std::mem::take(&mut c.reschedule);
        match c.mode {
            Mode::Running if reschedule => self.schedule(cpu),
            Mode::Running => {
                self.account(cpu);
                self.program(cpu);
            }
            Mode::Interrupted if work || c.balance_wanted => self.schedule(cpu),
            Mode::Interrupted => self.after_work(cpu),
            Mode::Idle | Mode::Waking => {}
        }
    }

    /// Kernel work on a CPU: the running task's time, or the time until the CPU is idle again.
    pub(super) fn charge(&mut self, cpu: CpuId, work: u64) {
        self.account(cpu);
        match self.cpus[cpu].current {
            Some(task) => {
                let overhead = &mut self.threads[task].overhead;
                *overhead = overhead.saturating_add(work);
            }
            None => {
                let pending = &mut self.cpus[cpu].kernel_work;
                *pending = pending.saturating_add(work);
            }
        }
    }

    /// Kernel work as long as a tick's that is not the running task's own tick.
    pub(super) fn extra_work(&mut self, cpu: CpuId, work: KernelWork) {
        self.charge(cpu, self.machine.costs.tick);
        self.told.observer.kernel_work(self.clock.now, cpu.0, work);
    }

    /// A sleep has ended: the timer's interrupt wakes the task.
    fn wake_by_timer(&mut self, task: TaskId, this_cpu: CpuId) {
        self.charge(this_cpu, self.machine.costs.wakeup);
        self.note_waking(task, None, this_cpu, false);
        self.try_to_wake_up(task, this_cpu, false);
    }

    /// The task that runs on `this_cpu` wakes another. `sync`: it will sleep soon.
    pub(super) fn wake_by_task(&mut self, task: TaskId, this_cpu: CpuId, sync: bool) {
        let waker = self.cpus[this_cpu].current;
        self.note_waking(task, waker, this_cpu, sync);
        self.try_to_wake_up(task, this_cpu, sync);
    }

    fn note_waking(&mut self, task: TaskId, waker: Option<TaskId>, cpu: CpuId, sync: bool) {
        if !self.threads.visible(task) {
            return;
        }
        let waking = Waking {
            task: self.threads.shown(task),
            waker: waker
                .filter(|w| self.threads.visible(*w))
                .map(|w| self.threads.shown(w)),
            cpu: cpu.0,
            sync,
        };
        self.told.observer.woken(self.clock.now, &waking);
    }

    /// Wakes a task, on behalf of what runs on `this_cpu`.
    fn try_to_wake_up(&mut self, task: TaskId, this_cpu: CpuId, sync: bool) {
        let prev = self.cpu_of(task);
        if self.home.is_delayed(task, prev) {
            return self.ttwu_runnable(task, prev, this_cpu);
        }
        if !self.ttwu_on_cpu(task, this_cpu, sync) {
            self.select_task_rq(task, this_cpu, sync);
        }
    }

    /// Chooses a CPU for a waking task and puts it on its way there.
    pub(super) fn select_task_rq(&mut self, task: TaskId, this_cpu: CpuId, sync: bool) {
        let prev = self.cpu_of(task);
        let waker = self.cpus[this_cpu].current;
        let load = |waker: TaskId| self.waker_load(waker);
        let ask = Request {
            now_ns: self.clock.now,
            kind: self.place_kind(task),
            this_cpu: this_cpu.0,
            prev_cpu: prev.0,
            sync,
            waker: waker.map_or(Waker::Idle, |w| Waker::Task(w.index())),
            waker_load: waker.filter(|_| sync).map_or(0, load),
        };
        self.show_situation(task, &ask);
        let choice = self.answer(task, &ask);
        self.note_choice(task, waker, &ask, choice, PlacementKind::Wake);
        self.note_wakeup(task, CpuId(choice.cpu));
        if choice.cpu != prev.0 {
            self.relocate_sleeping(task, prev, CpuId(choice.cpu), MigrateCause::Wake);
        }
        self.choice_made(task, this_cpu);
    }

    /// What is about to be decided, for those who want to know.
    pub(super) fn show_situation(&mut self, task: TaskId, ask: &Request) {
        if !self.told.observer.wants_situation() || !self.threads.visible(task) {
            return;
        }
        let power: Vec<_> = self.cpus.iter().map(|c| c.power).collect();
        let state = self
            .classes
            .states
            .get(task.index())
            .and_then(Option::as_ref);
        let situation = Situation {
            core: &self.core,
            facts: &self.changes.facts,
            tasks: &self.tasks,
            index: task.index(),
            class: state.map(|state| &state.task),
            ask,
            power: &power,
            hidden: self.threads.hidden() as usize,
        };
        self.told.observer.situation(self.clock.now, &situation);
    }

    /// The core's answer, by the task's class.
    pub(super) fn answer(&mut self, task: TaskId, ask: &Request) -> Choice {
        let choice = match self.select_class(task, ask) {
            Some(choice) => choice,
            None => {
                let (home, services) = self.ask_home();
                let choice = home.select_cpu(services, task, ask);
                self.pay_ext();
                choice
            }
        };
        self.only_online(task, CpuId(ask.prev_cpu), choice)
    }

    /// A sleeper that is still queued goes on where it is: no CPU is chosen, and whoever wakes it
    /// does so in that queue.
    fn ttwu_runnable(&mut self, task: TaskId, cpu: CpuId, this_cpu: CpuId) {
        self.note_wakeup(task, cpu);
        self.ttwu_lock(task, cpu, this_cpu);
    }

    pub(super) fn note_wakeup(&mut self, task: TaskId, cpu: CpuId) {
        let thread = &mut self.threads[task];
        thread.fresh = true;
        thread.action.get_or_insert(Action::Work(0));
        let due = thread.due_ns;
        if self.threads.visible(task) {
            let number = self.threads.shown(task);
            self.told
                .observer
                .wakeup(self.clock.now, number, cpu.0, due);
        }
    }

    /// Does its sleep end with a device? Asked once per wake-up.
    pub(super) fn takes_io_wait(&mut self, task: TaskId) -> bool {
        let thread = &mut self.threads[task];
        std::mem::take(&mut thread.in_io) || thread.io_wait
    }

    /// A decision is told to those who watch.
    pub(super) fn note_choice(
        &mut self,
        task: TaskId,
        waker: Option<TaskId>,
        ask: &Request,
        choice: Choice,
        kind: PlacementKind,
    ) {
        self.clock
            .mix(u64::from(choice.cpu) << 8 | choice.reason.index() as u64);
        if !self.threads.visible(task) {
            return;
        }
        self.told.reasons[choice.reason.index()] += 1;
        let raw = self.tasks[task].raw();
        let placement = Placement {
            util: raw.avg.util_avg,
            dur_avg_ns: raw.dur_avg_ns,
            kind,
            task: self.threads.shown(task),
            waker: waker
                .filter(|w| self.threads.visible(*w))
                .map(|w| self.threads.shown(w)),
            waker_cpu: ask.this_cpu,
            prev_cpu: ask.prev_cpu,
            cpu: choice.cpu,
            reason: choice.reason,
        };
        self.told.observer.placement(self.clock.now, &placement);
        if self.told.wakeup_cases {
            let asked = &self.tasks[task];
            let case = self.core.wakeup_case(asked, ask, choice);
            self.told.observer.wakeup_case(self.clock.now, case);
        }
    }

    /// A task that is on no queue will wake on another CPU.
    pub(super) fn relocate_sleeping(
        &mut self,
        task: TaskId,
        from: CpuId,
        to: CpuId,
        why: MigrateCause,
    ) {
        self.core
            .migrate_sleeping(&mut self.tasks[task], to.0, self.clock.now);
        self.renormalize_vruntime(task, from, to);
        self.refill_caches(task, from, to);
        if self.threads.visible(task) {
            let number = self.threads.shown(task);
            self.told
                .observer
                .migrate(self.clock.now, number, from.0, to.0, why);
        }
    }

    /// Work to refill caches after a move.
    pub(super) fn refill_caches(&mut self, task: TaskId, from: CpuId, to: CpuId) {
        let shared = self.share_cache(from, to);
        let node_of = &self.machine.node_of;
        let costs = &self.machine.costs;
        self.threads[task].overhead += if shared {
            costs.migrate_shared
        } else if node_of[from.index()] == node_of[to.index()] {
            costs.migrate_other
        } else {
            costs.migrate_node
        };
    }

    /// A task joins a queue: woken, or new.
    pub(super) fn activate_task(&mut self, task: TaskId, cpu: CpuId, new: bool) {
        if self.classes.is_class(task) {
            return self.class_join_woken(task, cpu);
        }
        self.account(cpu);
        let direct = self.core.is_idle(cpu.0);
        let io = self.takes_io_wait(task);
        if !new {
            let (home, services) = self.ask_home();
            home.place_woken(services, task, cpu);
        }
        let thread = &mut self.threads[task];
        thread.state = State::Runnable;
        thread.runnable_since_ns = self.clock.now;
        self.threads.touch(task);
        self.insert(task, cpu, direct);
        let record = &mut self.tasks[task];
        let result = if new {
            self.core.enqueue_new(record, cpu.0, self.clock.now)
        } else if io {
            self.core.enqueue_io(record, cpu.0, self.clock.now)
        } else {
            self.core.enqueue_woken(record, cpu.0, self.clock.now)
        };
        self.count_running(cpu);
        self.core.woken(cpu.0, self.clock.now);
        self.after_core(cpu, result);
        self.carry_ext_moves();
        self.pay_ext();
    }

    /// A task has joined the queue of `cpu`: preempt what runs there, or wake the CPU. `by`: the
    /// CPU on which this is found out.
    pub(super) fn wakeup_preempt(&mut self, task: TaskId, cpu: CpuId, by: CpuId) {
        if !self.try_preempt(task, cpu, by) && self.classes.is_class(task) {
            self.class_push(cpu);
        }
    }

    /// The same; false: the task waits.
    pub(super) fn try_preempt(&mut self, task: TaskId, cpu: CpuId, by: CpuId) -> bool {
        let Some(running) = self.cpus[cpu].current else {
            self.kick(cpu, by);
            return true;
        };
        if !self.preempts(task, running, cpu) {
            return false;
        }
        if cpu == by {
            self.end_turn(cpu);
        } else {
            self.send(cpu, Message::Preempt);
        }
        true
    }

    /// A CPU without a task has got one in its queue.
    pub(super) fn kick(&mut self, cpu: CpuId, by: CpuId) {
        if self.home.is_sched_ext() {
            self.cpus[cpu].reschedule = true; // its task may be in no queue of its own
        }
        match self.cpus[cpu].mode {
            Mode::Idle if cpu == by => self.leave_idle_state(cpu, self.clock.now),
            Mode::Idle | Mode::Interrupted if cpu != by => self.send(cpu, Message::Reschedule),
            // It looks at its queue anyway before it goes idle.
            _ => {}
        }
    }
}

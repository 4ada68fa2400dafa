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
//! `lines`. What brings a CPU out of its idle state is `leave_idle_state`, in `idle`
//! (docs/guide/model.md, "Wake-ups").
//!
//! What must stay: the order of stages, and which CPU pays for each. Free: what leaves recorded
//! runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part: wake_latency.rs
//! (stages that take time), `an_idle_cpu_is_reached_by_an_interrupt` (kick), `costs_add_up` (who
//! pays), eevdf.rs::`a_delayed_sleeper_wakes_without_a_choice` (`ttwu_runnable`),
//! classes.rs::`interrupts_of_an_idle_cpu` (devices), fair.rs::`a_light_sleeper_is_served_at_once`
//! (preemption). By function: `an_idle_cpu_is_reached_by_an_interrupt` (`send`, `take_interrupt`,
//! `take_inbox`, `take_message`, `kick`), arithmetic.rs::`sleeps_and_delays_end_on_time` (`timer`,
//! `wake_by_timer`), `costs_add_up` (`interrupt_with`, `after_interrupt`, `extra_work`,
//! `wake_by_task`), creation.rs::`the_last_one_opens_the_barrier` (`wake_by_task`),
//! asym.rs::`watching_changes_nothing` (`note_choice`), explain.rs::`it_is_the_decision_of_the_run`
//! (`show_situation`, `answer`, `select_task_rq`), classes.rs::`interrupts_of_an_idle_cpu`
//! (`take_device`), hotplug.rs::`sleepers_wake_where_they_may` (`relocate_sleeping`),
//! fair.rs::`wakeups_preempt_beyond_the_granularity_only` (`wakeup_preempt`, `try_preempt`),
//! preempt_lazy.rs::`another_cpu_acts_when_it_leaves_the_kernel` (`resched_curr`, `exit_to_user`).
//! `try_to_wake_up` and `activate_task`: every wake-up. `new` has no test of its own: an observer
//! of cases shows it (crates/cli/tests/all/wakeup_cases.rs).
//!
//! Callers: interface.rs (`take_interrupt`, `take_inbox`, `wake_by_task`, `exit_to_user`), fork.rs
//! (`show_situation`, `note_choice`, `activate_task`), wake_latency.rs (`after_interrupt`,
//! `relocate_sleeping`, `activate_task`), balance.rs (`extra_work`), change.rs (`try_preempt`),
//! classes.rs (`try_preempt`), hotplug.rs (`activate_task`), idle.rs (`take_inbox`), lines.rs
//! (`after_interrupt`), live.rs (`extra_work`).
//!
//! Tests: crates/engine/tests/behaviour/wake_latency.rs,
//! crates/engine/tests/behaviour/arithmetic.rs::costs_add_up

use super::Model;
use super::cpu::Message;
use super::home::Home;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::{Mechanics, Mode, State};
use crate::observe::{
    Happening, KernelWork, MigrateCause, Observer, Placement, PlacementKind, Situation,
};
use crate::options::Options;
use wakeplace_policy_sys::{Choice, Reason, Request, Resched, Waker};

/// What choices there were, and what is told of them.
#[derive(Debug)]
pub(super) struct Placements {
    /// Choices so far, by reason.
    pub(super) reasons: [u64; Reason::COUNT],
    /// Observers are told what each wake-up was about.
    wakeup_cases: bool,
}

impl Placements {
    /// Counts of reasons, from zero; cases are noted if the options ask for that.
    pub(super) fn new(options: &Options) -> Self {
        Self {
            reasons: [0; Reason::COUNT],
            wakeup_cases: options.wakeup_cases,
        }
    }
}

impl Model<'_> {
    /// A task's sleep ends: its timer interrupts the CPU on which it was armed.
    pub(super) fn timer<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        let cpu = self.own[task].timer_cpu;
        self.cpus[cpu].next_timer_ns(m.now()); // forgets this one
        self.interrupt_with(m, cpu, Message::Timer(task));
    }

    /// An interrupt arrives at a CPU now. A running CPU takes it at once, an idle one after it has
    /// left its idle state.
    pub(super) fn interrupt_with<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        message: Message,
    ) {
        match m.mode(cpu) {
            Mode::Idle => {
                self.cpus[cpu].inbox.push(message);
                self.leave_idle_state(m, cpu, m.now());
            }
            Mode::Waking => self.cpus[cpu].inbox.push(message),
            Mode::Running | Mode::Interrupted if self.cpus[cpu].spins => {
                self.cpus[cpu].inbox.push(message);
            }
            Mode::Running | Mode::Interrupted => {
                self.take_message(m, cpu, message);
                self.after_interrupt(m, cpu);
            }
        }
    }

    /// Sends an inter-processor interrupt with this message; one takes all that wait by then.
    pub(super) fn send<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        message: Message,
    ) {
        self.cpus[cpu].inbox.push(message);
        if let Some(leaving) = m.ipi(cpu) {
            self.leaves_idle(m, cpu, leaving);
        }
    }

    /// An inter-processor interrupt is taken by an awake CPU (one that went idle meanwhile wakes).
    pub(super) fn take_interrupt<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        match m.mode(cpu) {
            // Whatever it was for has been taken with something else, unless it is still there.
            Mode::Idle if self.cpus[cpu].inbox.is_empty() => m.idle_event(),
            Mode::Idle => self.leave_idle_state(m, cpu, m.now()),
            Mode::Waking => {}
            Mode::Running | Mode::Interrupted if self.cpus[cpu].spins => {}
            Mode::Running | Mode::Interrupted => self.take_inbox(m, cpu),
        }
    }

    /// Takes all messages. Pushing the running task away comes last: it is the waker of the others.
    pub(super) fn take_inbox<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        let mut inbox = std::mem::take(&mut self.cpus[cpu].inbox);
        if (inbox.iter()).any(|message| matches!(message, Message::Enqueue(_))) {
            self.lock_queue(m, cpu, cpu);
        }
        inbox.sort_by_key(|message| matches!(message, Message::Push { .. }));
        for message in inbox.drain(..) {
            self.take_message(m, cpu, message);
        }
        // Keep the buffer; what came meanwhile has an interrupt of its own.
        inbox.append(&mut self.cpus[cpu].inbox);
        self.cpus[cpu].inbox = inbox;
        self.after_interrupt(m, cpu);
    }

    /// What an interrupt was sent for is done on the CPU that took it.
    fn take_message<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        message: Message,
    ) {
        match message {
            Message::Timer(task) => self.wake_by_timer(m, task, cpu),
            Message::Enqueue(task) => {
                self.core.cpu_mut(cpu.0).queue.pending -= 1;
                self.activate_task(m, task, cpu, false);
                self.ttwu_activated(m, task, cpu, cpu);
            }
            Message::Reschedule => self.cpus[cpu].reschedule = true,
            Message::Preempt => self.end_turn(cpu),
            Message::NohzBalance => self.nohz_balance(m, cpu),
            Message::NohzStats => self.nohz_stats(m, cpu),
            Message::Push { to, level, llc } => self.push_running(m, cpu, to, level, llc),
            Message::Tick => self.idle_tick(m, cpu),
            Message::IdleTimer => self.idle_turn(m, cpu),
            Message::Arrived => self.look_for_work(m, cpu),
            Message::Device { run_ns } => self.take_device(m, cpu, run_ns),
            Message::SchedExtTimer(timer) => self.take_ext_timer(m, timer),
            Message::GroupTimer { group, slack } => {
                self.take_group_timer(m, cpu, group as usize, slack);
            }
            Message::Unthrottle(group) => self.unthrottle(m, group as usize, cpu),
        }
    }

    /// The CPU takes a device's interrupt.
    fn take_device<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, run_ns: u64) {
        m.account(self, cpu);
        self.core.irq_time(cpu.0, run_ns);
        self.core.ran_other(cpu.0, m.now(), run_ns);
        m.take_for_device(cpu, run_ns);
    }

    /// After interrupt work: run the new task, go on with the old one, or back to idle when it is
    /// done.
    pub(super) fn after_interrupt<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        if self.cpus[cpu].spins {
            return; // once it has its line
        }
        let work = self.has_work(cpu);
        self.exit_to_user(m, cpu);
        let c = &mut self.cpus[cpu];
        let reschedule = std::mem::take(&mut c.reschedule);
        match m.mode(cpu) {
            Mode::Running if reschedule => self.schedule_cpu(m, cpu),
            Mode::Running => {
                m.account(self, cpu);
                m.program(self, cpu);
            }
            Mode::Interrupted if work || c.balance_wanted => self.schedule_cpu(m, cpu),
            Mode::Interrupted => self.after_work(m, cpu),
            Mode::Idle | Mode::Waking => {}
        }
    }

    /// Kernel work as long as a tick's that is not the running task's own tick.
    pub(super) fn extra_work<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        work: KernelWork,
    ) {
        m.charge(self, cpu, self.costs.tick);
        let cpu = cpu.0;
        m.tell(Happening::KernelWork { cpu, work });
    }

    /// A sleep has ended: the timer's interrupt wakes the task.
    fn wake_by_timer<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        this_cpu: CpuId,
    ) {
        m.charge(self, this_cpu, self.costs.wakeup);
        m.tell_woken(task, None, this_cpu, false);
        if let Some(index) = m.threads().kthread_index(task) {
            self.kthread_wakes(index);
        }
        self.try_to_wake_up(m, task, this_cpu, false);
    }

    /// The task that runs on `this_cpu` wakes another. `sync`: it will sleep soon.
    pub(super) fn wake_by_task<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        this_cpu: CpuId,
        sync: bool,
    ) {
        let waker = m.current(this_cpu);
        m.tell_woken(task, waker, this_cpu, sync);
        self.try_to_wake_up(m, task, this_cpu, sync);
    }

    /// Wakes a task, on behalf of what runs on `this_cpu`.
    fn try_to_wake_up<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        this_cpu: CpuId,
        sync: bool,
    ) {
        let prev = self.cpu_of(task);
        if self.home.is_delayed(task, prev) {
            return self.ttwu_runnable(m, task, prev, this_cpu);
        }
        if !self.ttwu_on_cpu(m, task, this_cpu, sync) {
            self.select_task_rq(m, task, this_cpu, sync);
        }
    }

    /// Chooses a CPU for a waking task and puts it on its way there.
    pub(super) fn select_task_rq<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        this_cpu: CpuId,
        sync: bool,
    ) {
        let prev = self.cpu_of(task);
        let waker = m.current(this_cpu);
        let load = |waker: TaskId| self.waker_load(waker);
        let ask = Request {
            now_ns: m.now(),
            kind: self.place_kind(task),
            this_cpu: this_cpu.0,
            prev_cpu: prev.0,
            sync,
            waker: waker.map_or(Waker::Idle, |w| Waker::Task(w.index())),
            waker_load: waker.filter(|_| sync).map_or(0, load),
        };
        self.show_situation(m, task, &ask);
        let choice = self.answer(m, task, &ask);
        self.note_choice(m, task, waker, &ask, choice, PlacementKind::Wake);
        m.note_wakeup(task, CpuId(choice.cpu));
        if choice.cpu != prev.0 {
            self.relocate_sleeping(m, task, prev, CpuId(choice.cpu), MigrateCause::Wake);
        }
        self.choice_made(m, task, this_cpu);
    }

    /// What is about to be decided, for those who want to know.
    pub(super) fn show_situation<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        ask: &Request,
    ) {
        if !m.observer().wants_situation() || !m.visible(task) {
            return;
        }
        let power = m.powers();
        let state = self
            .classes
            .states
            .get(task.index())
            .and_then(Option::as_ref);
        let situation = Situation {
            core: &self.core,
            facts: &self.facts,
            tasks: &self.tasks,
            index: task.index(),
            class: state.map(|state| &state.task),
            ask,
            power: &power,
            hidden: m.threads().hidden() as usize,
        };
        let now = m.now();
        m.observer().situation(now, &situation);
    }

    /// The core's answer, by the task's class.
    pub(super) fn answer<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        ask: &Request,
    ) -> Choice {
        let choice = match self.select_class(task, ask) {
            Some(choice) => choice,
            None => {
                let (home, services) = self.ask_home(m.now());
                let choice = home.select_cpu(services, task, ask);
                self.pay_ext(m);
                choice
            }
        };
        self.only_online(m, task, CpuId(ask.prev_cpu), choice)
    }

    /// A sleeper that is still queued goes on where it is: no CPU is chosen, and whoever wakes it
    /// does so in that queue.
    fn ttwu_runnable<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        this_cpu: CpuId,
    ) {
        m.note_wakeup(task, cpu);
        self.ttwu_lock(m, task, cpu, this_cpu);
    }

    /// A decision is told to those who watch.
    pub(super) fn note_choice<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        waker: Option<TaskId>,
        ask: &Request,
        choice: Choice,
        kind: PlacementKind,
    ) {
        m.mix(u64::from(choice.cpu) << 8 | choice.reason.index() as u64);
        if !m.visible(task) {
            return;
        }
        self.placements.reasons[choice.reason.index()] += 1;
        let raw = self.tasks[task].raw();
        let placement = Placement {
            util: raw.avg.util_avg,
            dur_avg_ns: raw.dur_avg_ns,
            kind,
            task: m.shown(task),
            waker: waker.and_then(|waker| m.seen(waker)),
            waker_cpu: ask.this_cpu,
            prev_cpu: ask.prev_cpu,
            cpu: choice.cpu,
            reason: choice.reason,
        };
        m.tell(Happening::Placement(placement));
        if self.placements.wakeup_cases {
            let asked = &self.tasks[task];
            let case = self.core.wakeup_case(asked, ask, choice);
            m.tell(Happening::WakeupCase(case));
        }
    }

    /// A task that is on no queue will wake on another CPU.
    pub(super) fn relocate_sleeping<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        from: CpuId,
        to: CpuId,
        why: MigrateCause,
    ) {
        self.core
            .migrate_sleeping(&mut self.tasks[task], to.0, m.now());
        self.renormalize_vruntime(m, task, from, to);
        m.refill_caches(task, from, to);
        m.tell_migrate(task, from, to, why);
    }

    /// A task joins a queue: woken, or new.
    pub(super) fn activate_task<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        new: bool,
    ) {
        if self.classes.is_class(task) {
            return self.class_join_woken(m, task, cpu);
        }
        m.account(self, cpu);
        let direct = self.core.is_idle(cpu.0);
        let io = m.takes_io_wait(task);
        if !new {
            let (home, services) = self.ask_home(m.now());
            home.place_woken(services, task, cpu);
        }
        m.set_state(task, State::Runnable);
        self.touch(task);
        self.insert(m, task, cpu, direct);
        let record = &mut self.tasks[task];
        let result = if new {
            self.core.enqueue_new(record, cpu.0, m.now())
        } else if io {
            self.core.enqueue_io(record, cpu.0, m.now())
        } else {
            self.core.enqueue_woken(record, cpu.0, m.now())
        };
        self.count_running(cpu);
        self.core.woken(cpu.0, m.now());
        self.after_core(m, cpu, result);
        self.throttle_joined(m, task, cpu);
        self.carry_ext_moves(m);
        self.pay_ext(m);
    }

    /// A task has joined the queue of `cpu`: preempt what runs there, or wake the CPU. `by`: the
    /// CPU on which this is found out.
    pub(super) fn wakeup_preempt<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        by: CpuId,
    ) {
        if !self.try_preempt(m, task, cpu, by) && self.classes.is_class(task) {
            self.class_push(m, cpu);
        }
    }

    /// The same; false: the task waits.
    pub(super) fn try_preempt<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        by: CpuId,
    ) -> bool {
        let Some(running) = m.current(cpu) else {
            self.kick(m, cpu, by);
            return true;
        };
        if self.is_hidden(task, cpu) || !self.preempts(m, task, running, cpu) {
            return false;
        }
        if self.resched_curr(task, cpu) == Resched::Lazy {
            self.cpus[cpu].reschedule_lazily = true;
            if cpu == by {
                self.exit_to_user(m, cpu);
            }
        } else if cpu == by {
            self.end_turn(cpu);
        } else {
            self.send(m, cpu, Message::Preempt);
        }
        true
    }

    /// How the CPU hears that `task`, which has joined its queue, displaces what runs there.
    fn resched_curr(&self, task: TaskId, cpu: CpuId) -> Resched {
        match self.classes.is_class(task) {
            true => Resched::Now,
            false => self.home.resched_curr(&self.core, cpu),
        }
    }

    /// The CPU leaves the kernel: who is marked to give way gives way. A thread of the kernel's
    /// goes back to no user mode, and waits for the tick.
    pub(super) fn exit_to_user<O: Observer>(&mut self, m: &Mechanics<'_, O>, cpu: CpuId) {
        if !self.cpus[cpu].reschedule_lazily {
            return;
        }
        let thread = m.current(cpu).map(|task| m.threads().kthread_index(task));
        if thread == Some(None) {
            self.end_turn(cpu);
        }
    }

    /// A CPU without a task has got one in its queue.
    pub(super) fn kick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId, by: CpuId) {
        if self.home.is_sched_ext() {
            self.cpus[cpu].reschedule = true; // its task may be in no queue of its own
        }
        match m.mode(cpu) {
            Mode::Idle if cpu == by => self.leave_idle_state(m, cpu, m.now()),
            Mode::Idle | Mode::Interrupted if cpu != by => self.send(m, cpu, Message::Reschedule),
            // It looks at its queue anyway before it goes idle.
            _ => {}
        }
    }
}

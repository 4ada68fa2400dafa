//! A sched_ext scheduler in the machine: when it hears of what, what it asks for, and what its
//! callbacks cost (docs/rules/sched-ext.md#machine). Without one all of this is nothing.

use super::Sim;
use super::cpu::{Message, Mode};
use super::kthreads::Kthreads;
use crate::home::AnyHome;
use crate::home::sched_ext::{cgroup, class_of, id};
use crate::ids::{CpuId, TaskId};
use crate::machine::FULL_SPEED;
use crate::observe::{MigrateCause, Observer};
use crate::options::Options;
use crate::outcome::{CallbackTotals, Ended, LongestWait, SchedExtReport};
use crate::queue::Event;
use crate::thread::Thread;
use wakeplace_kernel_queues::is_rt;
use wakeplace_policy_sys::Task;
use wakeplace_sched_ext::class::{Effect, Moved, Step};
use wakeplace_sched_ext::consts::{SCX_KICK_IDLE, SCX_KICK_PREEMPT, SCX_OPS_ALLOW_QUEUED_WAKEUP};
use wakeplace_sched_ext::{ReleaseReason, Started};
use wakeplace_workload::Workload;

/// What a run with a scheduler needs beside it.
#[derive(Debug, Default)]
pub(super) struct ExtRun {
    /// Costs in ns of the biggest CPU at its highest frequency.
    callback_ns: u64,
    kfunc_ns: u64,
    /// Room for what the class hands over.
    moves: Vec<Moved>,
    effects: Vec<Effect>,
    steps: Vec<Step>,
    /// CPUs whose running tasks have paid for callbacks: when their steps end is another time.
    paid: Vec<CpuId>,
}

impl ExtRun {
    pub(super) fn new(options: &Options) -> Self {
        let cost = |ns: u64| if options.kernel_costs { ns } else { 0 };
        Self {
            callback_ns: cost(options.scx_callback_ns),
            kfunc_ns: cost(options.scx_kfunc_ns),
            ..Self::default()
        }
    }
}

/// The scheduler's class gets the threads that are there at the start.
pub(super) fn add_ext_threads(
    home: &mut AnyHome<'_>,
    workload: &Workload,
    kthreads: &Kthreads,
    threads: &[Thread],
    records: &[Task],
) {
    let Some(ext) = home.sched_ext() else { return };
    let parent = workload.tasks.len();
    for (index, (thread, record)) in threads.iter().zip(records).enumerate() {
        let leader = (index < parent).then_some(TaskId(parent as u32));
        let kthread = index.checked_sub(parent + 2);
        let name = match (index.checked_sub(parent), kthread) {
            (None, _) => thread.name(&workload.tasks),
            (Some(0), _) => "parent".to_owned(),
            (_, None) => "shell".to_owned(),
            (_, Some(index)) => kthreads.name(index).unwrap_or("kthread").to_owned(),
        };
        ext.add_thread(thread, &name, kthread.is_some(), leader, record);
    }
}

/// Life of the scheduler and of the tasks.
impl<O: Observer> Sim<'_, O> {
    /// Time 0: `init`, and the frequencies that it begins with.
    pub(super) fn load_scheduler(&mut self) {
        let wants_steps = self.told.observer.wants_sched_ext();
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        if wants_steps {
            ext.class.record();
        }
        ext.class.load();
        let interval_ns = ext.class.watchdog_interval_ns();
        self.clock.push(interval_ns, Event::Watchdog);
        for domain in 0..self.machine.domain_cpus.len() as u32 {
            self.tell_ext_frequency(domain);
        }
        for cpu in self.machine.cpus() {
            let result = self.core.set_perf_target(cpu.0, 1024, self.clock.now);
            self.after_core(cpu, result);
        }
        self.end_ext_event();
    }

    /// A thread that is there when the scheduler is loaded.
    pub(super) fn start_ext(&mut self, task: TaskId) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.init_task(id(task), Started::Existing, None);
        }
    }

    /// A thread that another makes.
    pub(super) fn fork_ext(&mut self, child: TaskId, parent: TaskId) {
        if let Some(ext) = self.home.sched_ext() {
            let parent = Some(id(parent));
            ext.class.init_task(id(child), Started::Forked, parent);
            self.pay_ext();
        }
    }

    /// A thread is gone.
    pub(super) fn exit_ext_task(&mut self, task: TaskId) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.exit_task(id(task));
            self.pay_ext();
        }
    }

    /// Class, policy or group of a task that is off its queue changed.
    pub(super) fn change_ext(&mut self, task: TaskId) {
        let is_class = self.classes.is_class(task);
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        let thread = &self.threads[task];
        let mut realtime = thread.realtime.filter(|_| is_class);
        if is_class && realtime.is_none() {
            // It was lent a place there; which one is the engine's.
            realtime = Some(wakeplace_workload::RealTime::Fifo { priority: 1 });
        }
        let (class, policy, prio) = class_of(thread.nice, thread.policy, realtime);
        ext.class.set_class(id(task), class, policy, prio);
        let group = thread.group.map(|group| group as usize);
        ext.class.move_cgroup(id(task), cgroup(group));
        self.pay_ext();
    }

    /// CPUs that a task may use changed.
    pub(super) fn allow_ext(&mut self, task: TaskId) {
        if let Some(ext) = self.home.sched_ext() {
            ext.set_cpus_allowed(task, &self.tasks[task]);
            self.carry_ext_moves();
            self.pay_ext();
        }
    }

    /// The run is over: the last callback, and what all of them did.
    pub(super) fn unload_scheduler(&mut self) -> Option<SchedExtReport> {
        let (callback_ns, kfunc_ns) = (self.ext.callback_ns, self.ext.kfunc_ns);
        let ext = self.home.sched_ext()?;
        let stall = ext.class.longest_wait();
        ext.class.unload();
        let counts = ext.class.counts().all();
        let callbacks = counts.into_iter().map(|count| CallbackTotals {
            callback: count.callback,
            calls: count.calls,
            kfuncs: count.kfuncs,
            time_ns: count.calls * callback_ns + count.kfuncs * kfunc_ns,
        });
        let callbacks = callbacks.collect();
        let name = ext.class.info().name.clone();
        Some(SchedExtReport {
            name,
            callbacks,
            callback_ns,
            kfunc_ns,
            longest_wait: stall.map(|stall| {
                let task = TaskId(stall.task.0);
                LongestWait {
                    task: (self.threads.visible(task)).then(|| self.threads.shown(task)),
                    waits_ns: stall.waits_ns,
                    place: stall.place,
                }
            }),
        })
    }
}

/// Where callbacks run, and what they cost.
impl<O: Observer> Sim<'_, O> {
    /// An event begins: its callbacks run then and there.
    pub(super) fn begin_ext_event(&mut self, event: Event) {
        let (cpu, interrupt) = match event {
            Event::RunEnd { cpu } | Event::SpinEnd { cpu } | Event::IdleAgain { cpu, .. } => {
                (cpu, false)
            }
            Event::WakeupStage { task } => {
                let by = self.threads[task].wake.map(|(by, _)| by);
                (by.unwrap_or_default(), false)
            }
            Event::Queued { by, .. } => (by, false),
            Event::Timer { task } => (self.threads[task].timer_cpu, true),
            Event::Awake { cpu }
            | Event::Interrupt { cpu }
            | Event::IdleEntered { cpu, .. }
            | Event::SliceEnd { cpu }
            | Event::Tick { cpu } => (cpu, true),
            Event::SchedExtTimer { cpu, .. } => (self.changes.timer_cpu(cpu), true),
            _ => (self.changes.first_online(), false),
        };
        let now_ns = self.clock.now;
        if let Some(ext) = self.home.sched_ext() {
            ext.class.set_context(now_ns, cpu.0, interrupt);
        }
    }

    /// From now on callbacks run on `cpu`. Returns where they ran before.
    #[inline]
    pub(super) fn enter_ext(&mut self, cpu: CpuId) -> Option<(u32, bool)> {
        let now_ns = self.clock.now;
        let ext = self.home.sched_ext()?;
        let outer = ext.class.context();
        ext.class.set_context(now_ns, cpu.0, false);
        Some(outer)
    }

    /// They run there again.
    #[inline]
    pub(super) fn leave_ext(&mut self, outer: Option<(u32, bool)>) {
        if let Some((cpu, interrupt)) = outer
            && let Some(ext) = self.home.sched_ext()
        {
            ext.class.set_context(self.clock.now, cpu, interrupt);
        }
    }

    /// Work of callbacks since the last question, and the CPU that does it.
    #[inline]
    fn ext_work(&mut self) -> Option<(CpuId, u64)> {
        let ext = self.home.sched_ext()?;
        let (callbacks, kfuncs) = ext.class.take_unpaid();
        let ns = callbacks * self.ext.callback_ns + kfuncs * self.ext.kfunc_ns;
        (ns > 0).then(|| (CpuId(ext.class.context().0), ns * FULL_SPEED))
    }

    /// The CPU that ran callbacks pays for them: its running task's time, or its own.
    #[inline]
    pub(super) fn pay_ext(&mut self) {
        if let Some((cpu, work)) = self.ext_work() {
            self.charge(cpu, work);
            self.ext.paid.push(cpu);
        }
    }

    /// The same as a CPU picks: what comes next begins later.
    #[inline]
    pub(super) fn pay_ext_dispatch(&mut self, cpu: CpuId, keeps: bool) {
        let Some((by, work)) = self.ext_work() else {
            return;
        };
        if keeps {
            self.ext.paid.push(by);
            return self.charge(by, work);
        }
        let pending = &mut self.cpus[cpu].kernel_work;
        *pending = pending.saturating_add(work);
    }

    /// Has the CPU a reason to look at its queue? Tasks that a scheduler holds are none.
    #[inline]
    pub(super) fn has_work(&mut self, cpu: CpuId) -> bool {
        let class = self.cpus[cpu].classes.nr() > 0;
        let reschedule = self.cpus[cpu].reschedule;
        match self.home.sched_ext() {
            Some(ext) => class || reschedule || ext.class.has_next(cpu.0),
            None => self.nr_running(cpu) > 0,
        }
    }

    #[inline]
    pub(super) fn ext_has_next(&mut self, cpu: CpuId) -> bool {
        let mode = self.cpus[cpu].mode;
        let Some(ext) = self.home.sched_ext() else {
            return false;
        };
        if mode != Mode::Running {
            ext.class.stays_idle(cpu.0);
        }
        ext.class.has_next(cpu.0)
    }

    /// The CPU begins to idle, or no longer does.
    #[inline]
    pub(super) fn ext_idle(&mut self, cpu: CpuId, idle: bool) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.update_idle(cpu.0, idle);
            self.pay_ext();
        }
    }

    /// A task has begun to execute; `above`: not the scheduler's.
    #[inline]
    pub(super) fn started_ext(&mut self, task: TaskId, cpu: CpuId, above: bool) {
        if let Some(ext) = self.home.sched_ext() {
            if above {
                ext.class.set_other_task(id(task), cpu.0);
            }
            self.pay_ext();
        }
    }

    /// An RT or deadline task takes the CPU from the scheduler.
    pub(super) fn displace_ext(&mut self, cpu: CpuId, by: TaskId) {
        let reason = match is_rt(self.classes.level(by)) {
            true => ReleaseReason::Rt,
            false => ReleaseReason::Deadline,
        };
        if let Some(ext) = self.home.sched_ext() {
            ext.class.displace(cpu.0, reason, Some(id(by)));
        }
    }

    /// How many such tasks the CPU has.
    pub(super) fn count_ext_others(&mut self, cpu: CpuId) {
        let nr = self.cpus[cpu].classes.nr() as u32;
        if let Some(ext) = self.home.sched_ext() {
            ext.class.set_others(cpu.0, nr);
        }
    }

    /// May a wake-up of the task go by the wake list of its CPU?
    pub(super) fn ext_queues_by_list(&self, task: TaskId) -> bool {
        match &self.home {
            AnyHome::SchedExt(ext) if !self.classes.is_class(task) => {
                ext.class.info().flags & SCX_OPS_ALLOW_QUEUED_WAKEUP != 0
            }
            _ => true,
        }
    }

    /// A CPU leaves or comes back.
    pub(super) fn ext_hotplug(&mut self, cpu: CpuId, online: bool) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.hotplug(cpu.0, online);
            self.pay_ext();
        }
    }

    /// What a frequency domain runs at.
    pub(super) fn tell_ext_frequency(&mut self, domain: u32) {
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        for cpu in &self.machine.domain_cpus[domain as usize] {
            let scale = self.core.cpu(cpu.0).load.freq_scale;
            ext.class.set_perf_cur(cpu.0, scale);
        }
    }
}

/// What the scheduler asks for is done.
impl<O: Observer> Sim<'_, O> {
    /// Tasks that it took to other run queues: the core hears of it, and caches are refilled.
    #[inline]
    pub(super) fn carry_ext_moves(&mut self) {
        let mut moves = std::mem::take(&mut self.ext.moves);
        while let Some(ext) = self.home.sched_ext()
            && ext.class.has_moves()
        {
            ext.class.take_moves(&mut moves);
            for moved in moves.drain(..) {
                self.carry_ext_move(moved);
            }
        }
        self.ext.moves = moves;
    }

    fn carry_ext_move(&mut self, moved: Moved) {
        let task = TaskId(moved.task.0);
        let (from, to) = (CpuId(moved.from), CpuId(moved.to));
        self.account(from);
        self.account(to);
        let now = self.clock.now;
        let record = &mut self.tasks[task];
        let left = self.core.dequeue_move(record, now);
        let migrated = self.core.migrate_queued(record, to.0, now);
        let joined = self.core.enqueue_moved(record, to.0, now);
        self.threads.touch(task);
        self.count_running(from);
        self.count_running(to);
        self.refill_caches(task, from, to);
        self.after_core(from, left);
        self.after_core(from, migrated);
        self.after_core(to, joined);
        self.clock.mix(u64::from(to.0) << 32 | u64::from(task.0));
        if self.threads.visible(task) {
            let number = self.threads.shown(task);
            let cause = MigrateCause::Dispatch;
            self.told.observer.migrate(now, number, from.0, to.0, cause);
        }
    }

    /// An event is over: kicks, timers and frequencies that its callbacks asked for; and the end of
    /// the scheduler, if it has ended.
    pub(super) fn end_ext_event(&mut self) {
        self.pay_ext();
        loop {
            self.carry_ext_moves();
            let mut effects = std::mem::take(&mut self.ext.effects);
            let Some(ext) = self.home.sched_ext().filter(|ext| ext.class.has_effects()) else {
                self.ext.effects = effects;
                break;
            };
            ext.class.take_effects(&mut effects);
            for effect in effects.drain(..) {
                self.carry_out_effect(effect);
            }
            self.ext.effects = effects;
        }
        self.pay_ext();
        self.tell_ext_steps();
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        if let Some(exit) = ext.class.exit().filter(|_| self.ended.is_none()) {
            self.ended = Some(Ended::Scheduler { exit: exit.clone() });
        }
        while let Some(cpu) = self.ext.paid.pop() {
            self.account(cpu);
            self.program(cpu);
        }
    }

    fn carry_out_effect(&mut self, effect: Effect) {
        match effect {
            Effect::Resched { cpu, by } => self.resched_ext(CpuId(cpu), CpuId(by)),
            Effect::Kick { cpu, by, flags } => self.kick_ext(CpuId(cpu), CpuId(by), flags),
            Effect::CpuPerf { cpu, perf } => {
                let result = self.core.set_perf_target(cpu, perf, self.clock.now);
                self.after_core(CpuId(cpu), result);
            }
            Effect::Timer {
                timer,
                at_ns,
                cpu,
                pinned,
            } => {
                let cpu = CpuId(cpu);
                let cpu = if pinned { cpu } else { self.timer_target(cpu) };
                let cpu = self.changes.timer_cpu(cpu);
                self.cpus[cpu].timers.push(std::cmp::Reverse(at_ns));
                let timer = timer.0;
                self.clock.push(at_ns, Event::SchedExtTimer { timer, cpu });
            }
        }
    }

    /// `resched_curr`.
    fn resched_ext(&mut self, cpu: CpuId, by: CpuId) {
        if self.cpus[cpu].reschedule {
            return; // it is on its way
        }
        match self.cpus[cpu].current {
            None => self.kick(cpu, by),
            Some(_) => {
                self.cpus[cpu].reschedule = true;
                self.send(cpu, Message::Reschedule);
            }
        }
    }

    /// `kick_one_cpu` and `kick_one_cpu_if_idle`.
    fn kick_ext(&mut self, cpu: CpuId, by: CpuId, flags: u64) {
        if !self.changes.is_online(cpu) {
            return;
        }
        let current = self.cpus[cpu].current;
        if flags & SCX_KICK_IDLE != 0 && current.is_some() {
            return;
        }
        if current.is_some_and(|task| self.classes.is_class(task)) {
            return; // it looks at the scheduler's queues afterwards anyway
        }
        if flags & SCX_KICK_PREEMPT != 0
            && let Some(ext) = self.home.sched_ext()
        {
            ext.class.preempt(cpu.0);
        }
        self.resched_ext(cpu, by);
    }

    /// A timer of the scheduler's is due, unless it was stopped.
    pub(super) fn ext_timer(&mut self, timer: u32, cpu: CpuId) {
        let cpu = self.changes.timer_cpu(cpu);
        self.cpus[cpu].next_timer_ns(self.clock.now); // forgets this one
        let number = wakeplace_sched_ext::TimerId(timer);
        let due = self
            .home
            .sched_ext()
            .is_some_and(|ext| ext.class.timer_due(number));
        match due {
            true => self.interrupt_with(cpu, Message::SchedExtTimer(timer)),
            false => self.clock.idle_event(),
        }
    }

    /// Its interrupt is taken.
    pub(super) fn take_ext_timer(&mut self, timer: u32) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.timer(wakeplace_sched_ext::TimerId(timer));
            self.pay_ext();
        }
    }

    pub(super) fn watchdog(&mut self) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.watch();
            let at_ns = self.clock.now + ext.class.watchdog_interval_ns();
            self.clock.push(at_ns, Event::Watchdog);
        }
    }

    fn tell_ext_steps(&mut self) {
        let Some(ext) = self.home.sched_ext().filter(|ext| ext.class.has_steps()) else {
            return;
        };
        let mut steps = std::mem::take(&mut self.ext.steps);
        ext.class.take_steps(&mut steps);
        for step in steps.drain(..) {
            self.told.observer.sched_ext(self.clock.now, &step);
        }
        self.ext.steps = steps;
    }
}

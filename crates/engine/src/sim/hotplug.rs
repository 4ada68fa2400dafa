//! CPUs leave and come back: their tasks, timers and messages are handed over; where a task goes is
//! the core's answer (docs/rules/hotplug.md#hotplug).

use super::Sim;
use super::cpu::{Message, Mode};
use crate::home::Home;
use crate::hotplug::{Hotplug, in_order};
use crate::ids::{CpuId, TaskId};
use crate::menu::Menu;
use crate::observe::{MigrateCause, Observer};
use crate::options::Options;
use crate::policy_change;
use crate::queue::Event;
use wakeplace_policy_sys::{Choice, MachineFacts, Policy, Reason};

/// What changes while a run lasts.
pub(super) struct Changes {
    /// The machine as the core was told of it, with who is online now.
    pub(super) facts: MachineFacts,
    /// CPUs that leave and come back.
    pub(super) hotplug: Vec<Hotplug>,
    /// When the core gets which policy.
    pub(super) policies: Vec<(u64, Policy)>,
}

impl Changes {
    pub(super) fn new(facts: MachineFacts, policy: &Policy, options: &Options) -> Self {
        Self {
            facts,
            hotplug: Vec::new(),
            policies: policy_change::schedule(policy, &options.policy_at),
        }
    }

    #[inline]
    pub(super) fn is_online(&self, cpu: CpuId) -> bool {
        self.facts.online[cpu.index()]
    }

    /// The lowest CPU that is online: it takes over what belongs to no CPU in particular.
    pub(super) fn first_online(&self) -> CpuId {
        let first = self.facts.online.iter().position(|online| *online);
        CpuId(first.expect("the last CPU never leaves") as u32)
    }

    /// Who takes the interrupts that were meant for this CPU: the end of a sleep that began there.
    #[inline]
    pub(super) fn timer_cpu(&self, cpu: CpuId) -> CpuId {
        if self.is_online(cpu) {
            cpu
        } else {
            self.first_online()
        }
    }
}

impl<O: Observer> Sim<'_, O> {
    /// Steps at time 0 happen before the first thread, the others are events.
    pub(super) fn begin_hotplug(&mut self, schedule: &[Hotplug]) {
        self.changes.hotplug = in_order(schedule);
        for (index, step) in self.changes.hotplug.clone().into_iter().enumerate() {
            if step.at_ns == 0 {
                self.hotplug(step);
            } else {
                let index = index as u32;
                self.clock.push(step.at_ns, Event::Hotplug { index });
            }
        }
    }

    /// Done by a thread of that CPU, in the kernel as here.
    pub(super) fn hotplug(&mut self, step: Hotplug) {
        let cpu = CpuId(step.cpu);
        let outer = self.enter_ext(cpu);
        if step.online {
            self.come_back(cpu);
        } else {
            self.leave_machine(cpu);
        }
        self.leave_ext(outer);
    }

    /// The CPU that was chosen, or if that is not online, the one that stands in for it; and so if
    /// the task may not use it, which a sched_ext scheduler does not have to care about.
    pub(super) fn only_online(&self, task: TaskId, prev: CpuId, choice: Choice) -> Choice {
        let allowed = !self.home.is_sched_ext() || self.tasks[task].may_use(choice.cpu);
        if self.changes.is_online(CpuId(choice.cpu)) && allowed {
            return choice;
        }
        Choice {
            cpu: (self.fallback(task, prev)).0,
            reason: Reason::NotAllowed,
            ..choice
        }
    }

    /// Where the first thread starts.
    pub(super) fn start_cpu(&self, task: TaskId, cpu: CpuId) -> CpuId {
        if self.changes.is_online(cpu) {
            cpu
        } else {
            self.fallback(task, cpu)
        }
    }

    pub(super) fn fallback(&self, task: TaskId, cpu: CpuId) -> CpuId {
        let record = &self.tasks[task];
        match self.core.fallback_cpu(record, cpu.0) {
            Some(to) => CpuId(to),
            // A kernel thread of CPUs that are gone goes anywhere (break_affinity).
            None if !self.threads.visible(task) => self.changes.first_online(),
            None => unreachable!("checked before the run: some CPU it may use is online"),
        }
    }

    /// The CPU leaves now. First its work goes, while the caches it shared are known, then the
    /// domains are built without it.
    fn leave_machine(&mut self, cpu: CpuId) {
        self.account(cpu);
        self.changes.facts.online[cpu.index()] = false;
        self.core.cpu_mut(cpu.0).queue.online = 0;
        self.told.observer.hotplug(self.clock.now, cpu.0, false);
        self.ext_hotplug(cpu, false);
        self.core.nohz_exit(cpu.0);
        self.hand_over_messages(cpu);
        self.hand_over_tasks(cpu);
        self.turn_away(cpu); // sleepers that were queued all the same are free now
        self.hand_over_timers(cpu);
        self.rebuild(cpu);
        let c = &mut self.cpus[cpu];
        (c.reschedule, c.balance_wanted) = (false, false);
        (c.spins, c.stalls) = (false, false);
        c.tick_stopped = true;
        let deepest = self.machine.idle[cpu.index()].len() - 1;
        match c.mode {
            Mode::Running => self.after_work(cpu),
            Mode::Idle if c.idle_state < deepest => self.leave_idle_state(cpu, self.clock.now),
            // On its way to a state already, or in the one where it stays.
            Mode::Idle | Mode::Waking | Mode::Interrupted => {}
        }
    }

    /// The CPU is there again: idle, and looking for work as soon as it is awake.
    fn come_back(&mut self, cpu: CpuId) {
        self.changes.facts.online[cpu.index()] = true;
        self.core.cpu_mut(cpu.0).queue.online = 1;
        self.told.observer.hotplug(self.clock.now, cpu.0, true);
        self.rebuild(cpu);
        self.ext_hotplug(cpu, true);
        self.interrupt_with(cpu, Message::Arrived);
        self.cpus[cpu].menu = Menu::default();
    }

    /// A CPU that has just come back and has no work pulls some.
    pub(super) fn look_for_work(&mut self, cpu: CpuId) {
        self.cpus[cpu].reschedule |= self.home.is_sched_ext();
        if self.home.balances() && self.home.nr_running(cpu) == 0 {
            self.new_idle(cpu);
        }
    }

    fn rebuild(&mut self, cpu: CpuId) {
        self.core
            .hotplug(&self.changes.facts, self.clock.now)
            .expect("a part of a machine that was accepted");
        self.restart_sampling(cpu);
    }

    /// What interrupts were to tell it. Tasks on their way join its queue, which moves next; a kick
    /// to balance is lost, as the next tick kicks another CPU.
    fn hand_over_messages(&mut self, cpu: CpuId) {
        let heir = self.changes.first_online();
        for message in std::mem::take(&mut self.cpus[cpu].inbox) {
            match message {
                Message::Enqueue(task) => {
                    self.core.cpu_mut(cpu.0).queue.pending -= 1;
                    self.activate_task(task, cpu, false);
                }
                Message::Timer(task) => {
                    self.threads[task].timer_cpu = heir;
                    self.clock.push(self.clock.now, Event::Timer { task });
                }
                Message::Push { to, level } => {
                    self.core.active_balance_end(cpu.0, to.0, level, false);
                }
                Message::Device { .. } | Message::IdleTimer | Message::SchedExtTimer(_) => {
                    self.interrupt_with(heir, message);
                }
                Message::Reschedule
                | Message::Preempt
                | Message::NohzBalance
                | Message::NohzStats
                | Message::Tick
                | Message::Arrived => {}
            }
        }
    }

    /// The running task first, then the others in the order of the queue. Sleepers that were still
    /// queued leave the queue for good.
    fn hand_over_tasks(&mut self, cpu: CpuId) {
        // With groups they leave last: a group whose tasks have left may be delayed itself.
        let groups = self.home.has_groups();
        if !groups {
            self.drop_all_delayed(cpu);
        }
        for task in self.class_tasks(cpu) {
            let to = self.fallback(task, cpu);
            self.class_move(task, to, MigrateCause::Hotplug, cpu);
        }
        let c = &self.cpus[cpu];
        let mut tasks = Vec::new();
        self.home.each_waiting(cpu, &mut |task| tasks.push(task));
        if !self.home.dispatches() {
            tasks.reverse(); // those queues keep the next one last
        }
        for task in c.current.into_iter().chain(tasks) {
            if self.cpu_of(task) != cpu {
                continue; // another CPU has taken it meanwhile
            }
            let to = self.fallback(task, cpu);
            self.move_task(task, to, MigrateCause::Hotplug);
            self.wakeup_preempt(task, to, cpu);
        }
        if groups {
            self.drop_all_delayed(cpu);
        }
    }

    /// Its timers go to one CPU, whatever the tasks' own.
    fn hand_over_timers(&mut self, cpu: CpuId) {
        let heir = self.changes.first_online();
        let mut timers = std::mem::take(&mut self.cpus[cpu].timers);
        self.cpus[heir].timers.append(&mut timers);
        if self.idle_timer.cpu == cpu {
            self.idle_timer.cpu = heir;
        }
        for thread in &mut self.threads.all {
            if thread.timer_cpu == cpu {
                thread.timer_cpu = heir;
            }
        }
    }
}

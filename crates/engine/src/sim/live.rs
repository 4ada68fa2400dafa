//! What the live scheduler's glue does with its queues: the look at the queue when a slice is over,
//! and the timer that stands for the ticks of idle CPUs.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::home::{Home, LiveQueue};
use crate::ids::{CpuId, TaskId};
use crate::observe::{KernelWork, Observer};
use crate::queue::Event;
use wakeplace_policy_sys::IdleKind;
use wakeplace_policy_sys::sys::{WP_BUSY_NOW, WP_LIVE_QUEUE_LOOKS};

/// The live scheduler's timer for idle CPUs: when and where it fires next.
#[derive(Default)]
pub(super) struct IdleTimer {
    pub(super) at_ns: u64,
    pub(super) cpu: CpuId,
}

impl<O: Observer> Sim<'_, O> {
    fn live_queue(&mut self, cpu: CpuId) -> &mut LiveQueue {
        self.home.live_queue_mut(cpu)
    }

    /// The CPU needs a task, or (`running`) its task a new slice. Returns true if that task goes
    /// on. Else the next task, if there is one, is at the front.
    pub(super) fn dispatch(&mut self, cpu: CpuId, running: bool) -> bool {
        let queue = self.live_queue(cpu);
        if running && !queue.slice_over {
            return true;
        }
        if queue.has_local() {
            return false;
        }
        let c = &mut self.cpus[cpu];
        if std::mem::take(&mut c.balance_wanted) {
            let idle = if c.mode == Mode::Running {
                IdleKind::Busy
            } else {
                IdleKind::Idle
            };
            self.balance_levels(cpu, idle);
        }
        if let Some(next) = self.first_due(cpu, running) {
            self.live_queue(cpu).put_first(next);
            return false;
        }
        if running {
            let _ = self.core.live_queue_expired(cpu.0, 0, self.clock.now); // its next slice begins
            self.refill(cpu);
        }
        running
    }

    /// The waiting task that runs next, if (`running`) it is due before the running one. Else that
    /// one goes on.
    fn first_due(&mut self, cpu: CpuId, running: bool) -> Option<TaskId> {
        let mut next = self.first_eligible(cpu)?;
        while (self.core).live_queue_retire(&self.tasks[next], cpu.0, self.clock.now) {
            next = self.first_eligible(cpu)?;
        }
        if running && !(self.core).live_queue_yields(&self.tasks[next], cpu.0, self.clock.now) {
            return None;
        }
        Some(next)
    }

    /// The first waiting task that is eligible; if none of those looked at is, the first.
    fn first_eligible(&self, cpu: CpuId) -> Option<TaskId> {
        let queue = self.home.live_queue(cpu)?;
        let first = queue.in_order().next()?;
        let now = self.clock.now;
        let eligible = |task: &TaskId| self.core.entity_eligible(&self.tasks[*task], cpu.0, now);
        let mut looked_at = queue.in_order().take(WP_LIVE_QUEUE_LOOKS as usize);
        Some(looked_at.find(eligible).unwrap_or(first))
    }

    /// Does a task that waits on `cpu` go before `task`, which came just now?
    pub(super) fn waits_before(&self, task: TaskId, cpu: CpuId) -> bool {
        let Some(queue) = self.home.live_queue(cpu) else {
            return false;
        };
        let woken = &self.tasks[task];
        let others = queue.in_order().filter(|t| *t != task);
        let mut orders = others
            .take(WP_LIVE_QUEUE_LOOKS as usize)
            .filter_map(|first| {
                let first = &self.tasks[first];
                self.core
                    .live_queue_before(first, woken, cpu.0, self.clock.now)
            });
        orders.next() == Some(true)
    }

    /// The running task of `cpu` has a new slice.
    pub(super) fn refill(&mut self, cpu: CpuId) {
        let end = self.clock.now + self.core.vq_slice_ns();
        self.live_queue(cpu).refill(end);
    }

    /// The timer starts with the scheduler.
    pub(super) fn arm_idle_timer(&mut self) {
        if !self.home.nohz() {
            self.idle_timer.at_ns = self.core.idle_timer_ns(WP_BUSY_NOW, 0);
            self.clock.push(self.idle_timer.at_ns, Event::IdleTimer);
        }
    }

    /// The tick of a busy CPU that has something for idle ones has it fire at once, there.
    pub(super) fn end_rest(&mut self, cpu: CpuId) {
        self.idle_timer = IdleTimer {
            at_ns: self.clock.now,
            cpu,
        };
        self.clock.push(self.clock.now, Event::IdleTimer);
    }

    /// It fires on the CPU that it is on, and is started again: on a busy CPU where there is one.
    pub(super) fn idle_timer(&mut self) {
        if self.clock.now != self.idle_timer.at_ns {
            return; // it has fired before
        }
        let online = self
            .machine
            .cpus()
            .filter(|cpu| self.changes.is_online(*cpu));
        let busy = online.fold(0, |busy, cpu| busy | self.core.was_busy(cpu.0));
        let on = self.idle_timer.cpu;
        self.idle_timer.cpu = self.timer_target(on);
        self.idle_timer.at_ns = self.clock.now + self.core.idle_timer_ns(busy, self.clock.now);
        self.clock.push(self.idle_timer.at_ns, Event::IdleTimer);
        self.interrupt_with(on, Message::IdleTimer);
    }

    /// The CPU that gets a timer which `cpu` starts: itself, unless it idles and another does not;
    /// one of its cache before others (get_nohz_timer_target goes by domains). There it stays,
    /// whatever that CPU does.
    fn timer_target(&self, cpu: CpuId) -> CpuId {
        let busy =
            |cpu: &CpuId| self.changes.is_online(*cpu) && self.core.cpu(cpu.0).curr_idle == 0;
        let llc = |cpu: CpuId| self.core.cpu(cpu.0).llc_id;
        let others = self.machine.cpus().filter(busy);
        let nearest = others.min_by_key(|other| (*other != cpu, llc(*other) != llc(cpu)));
        nearest.unwrap_or(cpu)
    }

    /// For each idle CPU: signals that only fade, and a kick to those that should make their
    /// periodic pass. A CPU pulls for itself.
    pub(super) fn idle_pass(&mut self, by: CpuId) {
        self.extra_work(by, KernelWork::Balance);
        for cpu in self.machine.cpus() {
            if !self.changes.is_online(cpu) || self.core.cpu(cpu.0).curr_idle == 0 {
                continue;
            }
            let result = self.core.idle_decay(cpu.0, self.clock.now);
            self.after_core(cpu, result);
            if self.core.idle_pass_wanted(cpu.0, self.clock.now) {
                self.cpus[cpu].balance_wanted = true;
                if cpu != by {
                    self.send(cpu, Message::Reschedule);
                }
            }
        }
    }
}

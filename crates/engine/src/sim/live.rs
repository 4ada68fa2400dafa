//! What the live scheduler's glue does with its queues: the look at the queue when a slice is over,
//! and the timer that stands for the ticks of idle CPUs.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::home::{Home, LiveQueue};
use crate::observe::{KernelWork, Observer};
use crate::queue::Event;
use wakeplace_policy_sys::IdleKind;
use wakeplace_policy_sys::sys::{WP_BUSY_NOW, WP_LIVE_QUEUE_LOOKS};

/// The live scheduler's timer for idle CPUs: when and where it fires next.
#[derive(Default)]
pub(super) struct IdleTimer {
    pub(super) at_ns: u64,
    pub(super) cpu: u32,
}

impl<O: Observer> Sim<'_, O> {
    fn vtime_queue(&mut self, cpu: u32) -> &mut LiveQueue {
        self.home.live_queue_mut(cpu)
    }

    /// The CPU needs a task, or (`running`) its task a new slice. Returns true if that task goes
    /// on. Else the next task, if there is one, is at the front.
    pub(super) fn dispatch(&mut self, cpu: u32, running: bool) -> bool {
        let queue = self.vtime_queue(cpu);
        if running && !queue.slice_over {
            return true;
        }
        if queue.has_local() {
            return false;
        }
        let c = &mut self.cpus[cpu as usize];
        if std::mem::take(&mut c.balance_wanted) {
            let idle = if c.mode == Mode::Running {
                IdleKind::Busy
            } else {
                IdleKind::Idle
            };
            self.balance_levels(cpu, idle);
        }
        if let Some(next) = self.first_due(cpu, running) {
            self.vtime_queue(cpu).put_first(next);
            return false;
        }
        if running {
            let _ = self.core.live_queue_expired(cpu, 0, self.clock.now); // its next slice begins
            self.refill(cpu);
        }
        running
    }

    /// The waiting task that runs next, if (`running`) it is due before the running one. Else that
    /// one goes on.
    fn first_due(&mut self, cpu: u32, running: bool) -> Option<u32> {
        let mut next = self.first_eligible(cpu)?;
        while (self.core).live_queue_retire(&self.tasks[next as usize], cpu, self.clock.now) {
            next = self.first_eligible(cpu)?;
        }
        if running
            && !(self.core).live_queue_yields(&self.tasks[next as usize], cpu, self.clock.now)
        {
            return None;
        }
        Some(next)
    }

    /// The first waiting task that is eligible; if none of those looked at is, the first.
    fn first_eligible(&self, cpu: u32) -> Option<u32> {
        let queue = self.home.live_queue(cpu)?;
        let first = queue.in_order().next()?;
        let now = self.clock.now;
        let eligible = |task: &u32| {
            self.core
                .entity_eligible(&self.tasks[*task as usize], cpu, now)
        };
        let mut looked_at = queue.in_order().take(WP_LIVE_QUEUE_LOOKS as usize);
        Some(looked_at.find(eligible).unwrap_or(first))
    }

    /// Does a task that waits on `cpu` go before `task`, which came just now?
    pub(super) fn waits_before(&self, task: u32, cpu: u32) -> bool {
        let Some(queue) = self.home.live_queue(cpu) else {
            return false;
        };
        let woken = &self.tasks[task as usize];
        let others = queue.in_order().filter(|t| *t != task);
        let mut orders = others
            .take(WP_LIVE_QUEUE_LOOKS as usize)
            .filter_map(|first| {
                let first = &self.tasks[first as usize];
                self.core
                    .live_queue_before(first, woken, cpu, self.clock.now)
            });
        orders.next() == Some(true)
    }

    /// The running task of `cpu` has a new slice.
    pub(super) fn refill(&mut self, cpu: u32) {
        let end = self.clock.now + self.core.vq_slice_ns();
        self.vtime_queue(cpu).refill(end);
    }

    /// The timer starts with the scheduler.
    pub(super) fn arm_idle_timer(&mut self) {
        if !self.home.nohz() {
            self.idle_timer.at_ns = self.core.idle_timer_ns(WP_BUSY_NOW, 0);
            self.clock.push(self.idle_timer.at_ns, Event::IdleTimer);
        }
    }

    /// The tick of a busy CPU that has something for idle ones has it fire at once, there.
    pub(super) fn end_rest(&mut self, cpu: u32) {
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
        let online = (0..self.machine.nr_cpus).filter(|cpu| self.changes.is_online(*cpu));
        let busy = online.fold(0, |busy, cpu| busy | self.core.was_busy(cpu));
        let on = self.idle_timer.cpu;
        self.idle_timer.cpu = self.timer_target(on);
        self.idle_timer.at_ns = self.clock.now + self.core.idle_timer_ns(busy, self.clock.now);
        self.clock.push(self.idle_timer.at_ns, Event::IdleTimer);
        self.interrupt_with(on, Message::IdleTimer);
    }

    /// The CPU that gets a timer which `cpu` starts: itself, unless it idles and another does not;
    /// one of its cache before others (get_nohz_timer_target goes by domains). There it stays,
    /// whatever that CPU does.
    fn timer_target(&self, cpu: u32) -> u32 {
        let busy = |cpu: &u32| self.changes.is_online(*cpu) && self.core.cpu(*cpu).curr_idle == 0;
        let llc = |cpu: u32| self.core.cpu(cpu).llc_id;
        let others = (0..self.machine.nr_cpus).filter(busy);
        let nearest = others.min_by_key(|other| (*other != cpu, llc(*other) != llc(cpu)));
        nearest.unwrap_or(cpu)
    }

    /// For each idle CPU: signals that only fade, and a kick to those that should make their
    /// periodic pass. A CPU pulls for itself.
    pub(super) fn idle_pass(&mut self, by: u32) {
        self.extra_work(by, KernelWork::Balance);
        for cpu in 0..self.machine.nr_cpus {
            if !self.changes.is_online(cpu) || self.core.cpu(cpu).curr_idle == 0 {
                continue;
            }
            let result = self.core.idle_decay(cpu, self.clock.now);
            self.after_core(cpu, result);
            if self.core.idle_pass_wanted(cpu, self.clock.now) {
                self.cpus[cpu as usize].balance_wanted = true;
                if cpu != by {
                    self.send(cpu, Message::Reschedule);
                }
            }
        }
    }
}

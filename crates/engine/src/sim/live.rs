//! What the live scheduler's glue does with its queues: the look at the queue when a slice is over,
//! and the timer that stands for the ticks of idle CPUs.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::live_queue::LiveQueue;
use crate::observe::{KernelWork, Observer};
use crate::queue::Event;
use crate::run_queue::RunQueue;
use wakeplace_policy_sys::sys::WP_BUSY_NOW;
use wakeplace_policy_sys::{Core, IdleKind, IdleTurn, Offer, QueueWalk};

/// The live scheduler's timer for idle CPUs: when and where it fires next.
#[derive(Default)]
pub(super) struct IdleTimer {
    pub(super) at_ns: u64,
    pub(super) cpu: u32,
}

impl<O: Observer> Sim<'_, O> {
    fn vtime_queue(&mut self, cpu: u32) -> &mut LiveQueue {
        match &mut self.cpus[cpu as usize].queue {
            RunQueue::Live(queue) => queue,
            _ => unreachable!("asked on live queues only"),
        }
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
            let _ = self.core.live_queue_expired(cpu, 0, self.now); // its next slice begins
            self.refill(cpu);
        }
        running
    }

    /// The waiting task that runs next. None, if (`running`) the one that runs goes on, or nobody
    /// waits.
    fn first_due(&mut self, cpu: u32, running: bool) -> Option<u32> {
        let mut walk = QueueWalk::over(cpu, self.now);
        loop {
            let RunQueue::Live(queue) = &self.cpus[cpu as usize].queue else {
                return None;
            };
            let first = queue.in_order().next().filter(|_| !running);
            let waiting = queue.nr_waiting() as u32;
            if !self.core.pick_begin(&mut walk, running, waiting) {
                return first;
            }
            for task in queue.in_order() {
                match self.core.pick_offer(&mut walk, &self.tasks[task as usize]) {
                    Offer::Skip => {}
                    Offer::Take => return Some(task),
                    Offer::Stop => break,
                }
            }
            if !self.core.pick_end(&walk) {
                return first;
            }
        }
    }

    /// Does `task`, which has just joined those that wait on `cpu`, run at once?
    pub(super) fn preempts_live(&mut self, task: u32, cpu: u32) -> bool {
        let mut walk = QueueWalk::over(cpu, self.now);
        let RunQueue::Live(queue) = &self.cpus[cpu as usize].queue else {
            return false;
        };
        if !(self.core).preempt_begin(&mut walk, &self.tasks[task as usize]) {
            return false;
        }
        for other in queue.in_order().filter(|other| *other != task) {
            let other = &self.tasks[other as usize];
            if self.core.preempt_offer(&mut walk, other) == Offer::Stop {
                break;
            }
        }
        Core::preempt_end(&walk)
    }

    /// The running task of `cpu` has a new slice.
    pub(super) fn refill(&mut self, cpu: u32) {
        let end = self.now + self.core.vq_slice_ns();
        self.vtime_queue(cpu).refill(end);
    }

    /// The timer starts with the scheduler.
    pub(super) fn arm_idle_timer(&mut self) {
        if self.live {
            self.idle_timer.at_ns = self.core.idle_timer_ns(WP_BUSY_NOW, 0);
            self.queue.push(self.idle_timer.at_ns, Event::IdleTimer);
        }
    }

    /// The tick of a busy CPU that has something for idle ones has it fire at once, there.
    pub(super) fn end_rest(&mut self, cpu: u32) {
        self.idle_timer = IdleTimer {
            at_ns: self.now,
            cpu,
        };
        self.queue.push(self.now, Event::IdleTimer);
    }

    /// It fires on the CPU that it is on, and is not started again before its turn there.
    pub(super) fn idle_timer(&mut self) {
        if self.now != self.idle_timer.at_ns {
            return; // it has fired before
        }
        self.idle_timer.at_ns = u64::MAX;
        self.interrupt_with(self.idle_timer.cpu, Message::IdleTimer);
    }

    /// The CPU that gets a timer which `cpu` starts: itself, unless it idles and another does not;
    /// one of its cache before others (get_nohz_timer_target goes by domains). There it stays,
    /// whatever that CPU does.
    fn timer_target(&self, cpu: u32) -> u32 {
        let busy = |cpu: &u32| self.is_online(*cpu) && self.core.cpu(*cpu).curr_idle == 0;
        let llc = |cpu: u32| self.core.cpu(cpu).llc_id;
        let others = (0..self.machine.nr_cpus).filter(busy);
        let nearest = others.min_by_key(|other| (*other != cpu, llc(*other) != llc(cpu)));
        nearest.unwrap_or(cpu)
    }

    /// Its turn: for each idle CPU signals that only fade, and a kick to those that should make
    /// their periodic pass. A CPU pulls for itself. Then the timer is started again: on a busy CPU
    /// where there is one.
    pub(super) fn idle_turn(&mut self, by: u32) {
        self.extra_work(by, KernelWork::Balance);
        let mut turn = IdleTurn::begin(self.now);
        for cpu in 0..self.machine.nr_cpus {
            let result = self.core.idle_turn_offer(&mut turn, cpu);
            self.after_core(cpu, result);
            if result.balance() {
                self.cpus[cpu as usize].balance_wanted = true;
                if cpu != by {
                    self.send(cpu, Message::Reschedule);
                }
            }
        }
        let at_ns = self.now + self.core.idle_turn_end(&turn);
        let cpu = self.timer_target(by);
        self.idle_timer = IdleTimer { at_ns, cpu };
        self.queue.push(at_ns, Event::IdleTimer);
    }
}

//! A CPU needs a task (`balance_one`, `pick_task_scx`; docs/rules/sched-ext.md#dispatch).
//!
//! What must stay: the kernel's order: local queue, then global, then `dispatch`, bounded by its
//! own limit of loops. Free: how a look at the queues is written.
//!
//! Tests by part: rules.rs::`a_lone_task_is_kept` (`balance`, `look`, `goes_on`),
//! `cpus_take_from_the_shared_queue` (`dispatch_loop`, `has_local`),
//! life.rs::`a_cpu_is_released_after_a_sleep_too` (`acquire`),
//! crates/sched-ext/tests/all/again.rs::`the_chosen_task_runs` (`pick_task`). `has_next` has no
//! test of its own.
//!
//! Callers: engine's kernel/model/home/sched_ext.rs.
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/rules.rs, crates/sched-ext/tests/all/life.rs

use super::{Effect, ExtClass};
use crate::consts::{SCX_DSP_MAX_LOOPS, SCX_OPS_ENQ_LAST};
use crate::{Callback, TaskId};

impl ExtClass<'_> {
    /// The CPU looks for its next task; `running`: a task of the class runs there and can go on.
    /// Returns true if it does. Else `pick_task` has the next one.
    pub fn balance(&mut self, cpu: u32, running: bool) -> bool {
        let running = self.scx.cpus[cpu as usize].curr.filter(|_| running);
        self.scx.about_cpu = cpu;
        let c = &mut self.scx.cpus[cpu as usize];
        (c.in_balance, c.woken) = (true, false);
        self.acquire(cpu);
        let keeps = self.look(cpu, running);
        let c = &mut self.scx.cpus[cpu as usize];
        c.in_balance = false;
        c.slept = None;
        if keeps {
            c.picked = None;
            let task = running.expect("only what runs is kept");
            if self.scx.tasks[task.index()].facts.slice_ns == 0 {
                self.scx.refill(task);
            }
        } else {
            let local = self.scx.dsqs.local(cpu);
            let first = self.scx.dsqs.get(local).first();
            self.scx.cpus[cpu as usize].picked = first;
            if let Some(first) = first
                && self.scx.tasks[first.index()].facts.slice_ns == 0
            {
                self.scx.refill(first);
            }
        }
        self.scx.reenqueue_immed_after_balance(cpu);
        self.run_due();
        keeps
    }

    /// The CPU is the scheduler's again.
    fn acquire(&mut self, cpu: u32) {
        if std::mem::take(&mut self.scx.cpus[cpu as usize].released) {
            self.call(Callback::CpuAcquire, None, |ops, kernel| {
                ops.cpu_acquire(kernel, cpu.cast_signed())
            });
        }
    }

    /// Waits a task in the CPU's local queue?
    fn has_local(&self, cpu: u32) -> bool {
        let local = self.scx.dsqs.local(cpu);
        self.scx.dsqs.get(local).len() > 0
    }

    /// Has it some of its slice left?
    fn goes_on(&self, running: Option<TaskId>) -> bool {
        let slice = |task: TaskId| self.scx.tasks[task.index()].facts.slice_ns;
        running.is_some_and(|task| slice(task) > 0)
    }

    /// Looks for a task in the kernel's order, at last by `dispatch`; true: the running one stays.
    fn look(&mut self, cpu: u32, running: Option<TaskId>) -> bool {
        if self.goes_on(running) {
            return true;
        }
        if self.has_local(cpu) {
            return false;
        }
        let global = self.scx.global_of(cpu);
        if self.scx.consume(cpu, global, 0) {
            return false;
        }
        if self.scx.cpus[cpu as usize].online
            && let Some(keeps) = self.dispatch_loop(cpu, running)
        {
            return keeps;
        }
        let keeps = running.is_some() && self.scx.info.flags & SCX_OPS_ENQ_LAST == 0;
        self.scx.events.dispatch_keep_last += u64::from(keeps);
        keeps
    }

    /// Asks the scheduler until there is something; None: there is not.
    fn dispatch_loop(&mut self, cpu: u32, running: Option<TaskId>) -> Option<bool> {
        let global = self.scx.global_of(cpu);
        let prev = running.or(self.scx.cpus[cpu as usize].slept);
        for _ in 0..SCX_DSP_MAX_LOOPS {
            self.scx.nr_dispatched = 0;
            self.call(Callback::Dispatch, prev, |ops, kernel| {
                ops.dispatch(kernel, cpu.cast_signed(), prev)
            })?;
            self.scx.flush(cpu);
            if self.goes_on(running) {
                return Some(true);
            }
            if self.has_local(cpu) || self.scx.consume(cpu, global, 0) {
                return Some(false);
            }
            if self.scx.nr_dispatched == 0 {
                return None;
            }
        }
        let by = cpu;
        self.scx.kicks.insert((cpu, by, 0));
        self.scx.effects.push(Effect::Kick { cpu, by, flags: 0 });
        None
    }

    /// The next task, which leaves its queue with `set_next_task`. None: the CPU idles.
    pub fn pick_task(&mut self, cpu: u32) -> Option<TaskId> {
        self.scx.cpus[cpu as usize].picked
    }

    /// Is there one after all? Then the CPU looks again.
    #[must_use]
    pub fn has_next(&self, cpu: u32) -> bool {
        self.has_local(cpu)
    }
}

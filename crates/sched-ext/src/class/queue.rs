//! Tasks become runnable, run, stop and leave (docs/rules/sched-ext.md#tasks). A task is in one
//! queue at a time, or runs.
//!
//! What must stay: the kernel's order of `runnable`, `enqueue`, `running`, `stopping`, `quiescent`
//! around each event. Free: how an event is divided into functions.
//!
//! Tests by part: `weights_are_told_when_they_change`, `a_task_that_comes_back_has_its_new_weight`
//! (`dequeue_task`, `enqueue_task` around a change), `a_cpu_is_released_after_a_sleep_too`
//! (`displace`, `release`, `stop_task`, `set_next_task`, `put_prev_task`),
//! again.rs::`the_tasks_run_queue_is_locked` (`select_task_rq`, `select`, `timer`, `update_idle`),
//! kernel.rs::`what_is_left_behind_is_counted` (`timer_due`), idle.rs::`caches_count_from_6_13_on`
//! (`select_dfl`, `select_in`), engine's sched_ext/rules.rs::`two_hogs_take_turns_of_a_slice`
//! (`task_tick`, `update_curr`, `ran`, `refill`), engine's
//! sched_ext/storms.rs::`a_wild_scheduler_loses_nobody` (`do_enqueue`, `enqueue_before`,
//! `enqueue_after`, `ops_dequeue`, `yield_task`, `preempt`, `set_runnable`, `stays_idle`,
//! `set_other_task`), crates/cli/tests/all/schedulers.rs::`a_loader_runs_in_virtual_time`
//! (`loader`, `count_idle`).
//!
//! Callers: engine's kernel/model/home/sched_ext.rs and kernel/model/sched_ext.
//!
//! Tests: crates/sched-ext/tests/all/life.rs

use super::{Direct, ExtClass, Scx};
use crate::consts::{
    EBUSY, SCX_DEQ_SLEEP, SCX_DSQ_INVALID, SCX_DSQ_LOCAL, SCX_ENQ_CPU_SELECTED, SCX_ENQ_HEAD,
    SCX_ENQ_LAST, SCX_ENQ_WAKEUP, SCX_OPS_ENQ_EXITING, SCX_OPS_ENQ_MIGRATION_DISABLED,
    SCX_PICK_IDLE_IN_NODE, SCX_SLICE_DFL, SCX_SLICE_INF, SCX_TASK_DEQD_FOR_SLEEP, SCX_TASK_IMMED,
    SCX_TASK_QUEUED, SCX_TASK_REENQ_PREEMPTED, SCX_TASK_RESET_RUNNABLE_AT, SCX_WAKE_EXEC,
    SCX_WAKE_SYNC,
};
use crate::{Callback, Class, ReleaseReason, TaskId, test_cpu};

/// Why a task joins a run queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// It woke.
    Wakeup,
    /// It is new.
    New,
    /// Its class or its attributes changed, or its CPU left.
    Change,
    /// It comes from another run queue: for the scheduler it has been runnable all the time.
    Migration,
}

/// Why it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It sleeps, or is gone.
    Sleep,
    /// Its class or its attributes change.
    Change,
    /// It goes to another run queue.
    Migration,
}

impl Scx {
    /// `refill_task_slice_dfl` (docs/rules/sched-ext.md#slices).
    pub(super) fn refill(&mut self, task: TaskId) {
        self.task_mut(task).facts.slice_ns = SCX_SLICE_DFL;
        self.events.refill_slice_dfl += 1;
    }

    /// The task waits to run from now on: the watchdog counts from here.
    fn set_runnable(&mut self, task: TaskId) {
        self.runnable_seq += 1;
        let (now_ns, seq) = (self.now_ns, self.runnable_seq);
        let entity = self.task_mut(task);
        entity.runnable_seq = seq;
        if entity.facts.scx_flags & SCX_TASK_RESET_RUNNABLE_AT != 0 {
            entity.facts.scx_flags &= !SCX_TASK_RESET_RUNNABLE_AT;
            entity.runnable_at_ns = now_ns;
        }
    }

    /// `do_enqueue_task` up to the callback: None, it is in a queue.
    fn enqueue_before(&mut self, task: TaskId, enq_flags: u64) -> Option<()> {
        let entity = self.task_mut(task);
        entity.facts.scx_flags &= !SCX_TASK_IMMED;
        let entity = &self.tasks[task.index()];
        let (cpu, direct) = (entity.facts.cpu, entity.ddsp_dsq != SCX_DSQ_INVALID);
        let flags = self.info.flags;
        let exiting = entity.facts.flags & crate::consts::PF_EXITING != 0;
        let fixed = entity.facts.migration_disabled;
        let asked = self.cpus[cpu as usize].online && !direct;
        let skip_exiting = asked && exiting && flags & SCX_OPS_ENQ_EXITING == 0;
        let skip_fixed =
            asked && !skip_exiting && fixed && flags & SCX_OPS_ENQ_MIGRATION_DISABLED == 0;
        let local = !self.cpus[cpu as usize].online || skip_exiting || skip_fixed;
        self.events.enq_skip_exiting += u64::from(skip_exiting);
        self.events.enq_skip_migration_disabled += u64::from(skip_fixed);
        if !local && direct {
            self.direct_dispatch(task, enq_flags);
            return None;
        }
        if local || !self.has(Callback::Enqueue) {
            self.refill(task);
            let entity = self.task_mut(task);
            (entity.ddsp_dsq, entity.ddsp_flags) = (SCX_DSQ_INVALID, 0);
            let dsq = if local {
                self.dsqs.local(cpu)
            } else {
                self.global_of(cpu)
            };
            self.put(task, dsq, enq_flags);
            return None;
        }
        self.qseq += 1;
        let qseq = self.qseq;
        self.task_mut(task).qseq = qseq;
        self.direct = Direct::Task(task);
        Some(())
    }

    /// Does what follows the scheduler's `enqueue`.
    fn enqueue_after(&mut self, task: TaskId, enq_flags: u64) {
        self.direct = Direct::No;
        let entity = self.task_mut(task);
        if entity.ddsp_dsq != SCX_DSQ_INVALID {
            return self.direct_dispatch(task, enq_flags);
        }
        entity.held = true;
        entity.custody = true;
    }

    /// The running task has run for so long (`update_curr_scx`).
    #[inline]
    fn ran(&mut self, task: TaskId, delta_ns: u64) {
        let facts = &mut self.task_mut(task).facts;
        facts.sum_exec_runtime_ns += delta_ns;
        if facts.class == Class::Ext && facts.slice_ns != SCX_SLICE_INF {
            facts.slice_ns = facts.slice_ns.saturating_sub(delta_ns);
        }
    }
}

impl ExtClass<'_> {
    /// The CPU for a task that wakes or is new (`select_task_rq_scx`).
    pub fn select_task_rq(&mut self, task: TaskId, prev_cpu: u32, wake_flags: u64) -> u32 {
        let cpu = self.select(task, prev_cpu, wake_flags);
        self.scx.task_mut(task).selected_cpu = cpu;
        cpu
    }

    /// select_task_rq_scx(): the callback, or the kernel's own choice.
    fn select(&mut self, task: TaskId, prev_cpu: u32, wake_flags: u64) -> u32 {
        let entity = self.scx.task_mut(task);
        entity.cpu_selected = false;
        if wake_flags & SCX_WAKE_EXEC != 0 {
            return prev_cpu;
        }
        if entity.facts.nr_cpus_allowed == 1 || entity.facts.migration_disabled {
            let only = crate::class::idle::next_and_wrap(&entity.cpus, &entity.cpus, 0);
            return only.unwrap_or(prev_cpu); // select_task_rq asks no class
        }
        entity.cpu_selected = true;
        let prev = prev_cpu.cast_signed();
        if !self.scx.has(Callback::SelectCpu) {
            let cpu = self.scx.select_dfl(task, prev, wake_flags, None, 0);
            if cpu < 0 {
                return prev_cpu;
            }
            self.scx.refill(task);
            self.scx.task_mut(task).ddsp_dsq = SCX_DSQ_LOCAL;
            return cpu.cast_unsigned();
        }
        self.scx.direct = Direct::Task(task);
        let cpu = self.call(Callback::SelectCpu, Some(task), |ops, kernel| {
            ops.select_cpu(kernel, task, prev, wake_flags)
        });
        self.scx.direct = Direct::No;
        self.run_due();
        let Some(cpu) = cpu else { return prev_cpu };
        self.scx.note(super::Step::Selected { task, cpu });
        let valid = self.scx.valid_cpu(cpu, "from ops.select_cpu()");
        valid.unwrap_or(prev_cpu)
    }

    /// `do_enqueue_task`: into a queue of the kernel's, or to the scheduler by `enqueue`.
    pub(super) fn do_enqueue(&mut self, task: TaskId, enq_flags: u64) {
        if self.scx.enqueue_before(task, enq_flags).is_some() {
            self.call(Callback::Enqueue, Some(task), |ops, kernel| {
                ops.enqueue(kernel, task, enq_flags)
            });
            self.scx.enqueue_after(task, enq_flags);
        }
    }

    /// The task joins the run queue of `cpu` (`enqueue_task_scx`).
    pub fn enqueue_task(&mut self, task: TaskId, cpu: u32, why: Join) {
        let mut enq_flags = match why {
            Join::Wakeup => SCX_ENQ_WAKEUP,
            Join::New | Join::Change | Join::Migration => 0,
        };
        let entity = self.scx.task_mut(task);
        if std::mem::take(&mut entity.cpu_selected) && why == Join::Wakeup {
            enq_flags |= SCX_ENQ_CPU_SELECTED;
        }
        let facts = &mut entity.facts;
        (facts.cpu, facts.on_rq, facts.state) = (cpu, true, 0);
        facts.wake_cpu = cpu;
        self.scx.set_runnable(task);
        self.scx.task_mut(task).facts.scx_flags |= SCX_TASK_QUEUED;
        self.scx.cpus[cpu as usize].nr += 1;
        if why != Join::Migration {
            self.call(Callback::Runnable, Some(task), |ops, kernel| {
                ops.runnable(kernel, task, enq_flags)
            });
        }
        self.do_enqueue(task, enq_flags);
        self.scx.cpus[cpu as usize].woken = true;
        let selected = self.scx.tasks[task.index()].selected_cpu;
        let elsewhere = enq_flags & SCX_ENQ_CPU_SELECTED != 0 && selected != cpu;
        self.scx.events.select_cpu_fallback += u64::from(elsewhere);
        self.run_due();
    }

    /// The task leaves its run queue (`dequeue_task_scx`).
    pub fn dequeue_task(&mut self, task: TaskId, why: Leave) {
        let deq_flags = match why {
            Leave::Sleep => SCX_DEQ_SLEEP,
            Leave::Change | Leave::Migration => self.scx.change_flags(),
        };
        self.ops_dequeue(task, deq_flags);
        let cpu = self.scx.tasks[task.index()].facts.cpu;
        let runs = self.scx.cpus[cpu as usize].curr == Some(task);
        if runs {
            self.call(Callback::Stopping, Some(task), |ops, kernel| {
                ops.stopping(kernel, task, false)
            });
        }
        if why != Leave::Migration {
            self.call(Callback::Quiescent, Some(task), |ops, kernel| {
                ops.quiescent(kernel, task, deq_flags)
            });
        }
        self.scx.unlink(task);
        let facts = &mut self.scx.task_mut(task).facts;
        facts.scx_flags &= !(SCX_TASK_QUEUED | SCX_TASK_DEQD_FOR_SLEEP);
        facts.on_rq = why == Leave::Migration;
        if why == Leave::Sleep {
            facts.scx_flags |= SCX_TASK_DEQD_FOR_SLEEP;
            facts.state = 1;
            facts.nvcsw += 1;
        }
        let entity = self.scx.task_mut(task);
        (entity.ddsp_dsq, entity.ddsp_flags) = (SCX_DSQ_INVALID, 0);
        let c = &mut self.scx.cpus[cpu as usize];
        c.nr -= 1;
        if runs && why == Leave::Sleep {
            c.slept = Some(task);
        }
        self.run_due();
    }

    /// `ops_dequeue`: the scheduler hears of it if it holds the task.
    fn ops_dequeue(&mut self, task: TaskId, deq_flags: u64) {
        let owed = self.scx.custody_is_owed();
        let entity = self.scx.task_mut(task);
        let held = std::mem::take(&mut entity.held);
        let custody = std::mem::take(&mut entity.custody);
        if held || owed && custody {
            self.call(Callback::Dequeue, Some(task), |ops, kernel| {
                ops.dequeue(kernel, task, deq_flags)
            });
        }
    }

    /// A task of the class begins to execute on its CPU (`set_next_task_scx`).
    pub fn set_next_task(&mut self, task: TaskId, cpu: u32) {
        self.scx.unlink(task);
        self.scx.cpus[cpu as usize].switch_to(Some(task));
        self.scx.task_mut(task).facts.on_cpu = true;
        self.call(Callback::Running, Some(task), |ops, kernel| {
            ops.running(kernel, task)
        });
        self.scx.task_mut(task).facts.scx_flags |= SCX_TASK_RESET_RUNNABLE_AT;
        self.run_due();
    }

    /// A task of another class does.
    pub fn set_other_task(&mut self, task: TaskId, cpu: u32) {
        self.scx.cpus[cpu as usize].switch_to(Some(task));
        let facts = &mut self.scx.task_mut(task).facts;
        (facts.on_cpu, facts.cpu) = (true, cpu);
    }

    /// The task stops executing. Before `put_prev_task`, if it can go on.
    pub fn stop_task(&mut self, task: TaskId, cpu: u32) {
        let entity = &self.scx.tasks[task.index()];
        let (queued, class) = (entity.is_queued(), entity.facts.class);
        if queued && class == Class::Ext {
            self.call(Callback::Stopping, Some(task), |ops, kernel| {
                ops.stopping(kernel, task, true)
            });
            self.scx.task_mut(task).facts.nivcsw += 1;
        }
        self.scx.task_mut(task).facts.on_cpu = false;
        let c = &mut self.scx.cpus[cpu as usize];
        (c.curr, c.put_back) = (None, queued.then_some(task));
    }

    /// The task, just stopped, waits again (`put_prev_task_scx`).
    pub fn put_prev_task(&mut self, task: TaskId, cpu: u32) {
        self.scx.set_runnable(task);
        let c = &mut self.scx.cpus[cpu as usize];
        let displaced = c.displaced.take();
        let next = displaced.is_some() || c.picked.is_some();
        let facts = &self.scx.tasks[task.index()].facts;
        if facts.slice_ns > 0 && facts.scx_flags & SCX_TASK_IMMED != 0 {
            self.enqueue_again(task, SCX_TASK_REENQ_PREEMPTED);
        } else if facts.slice_ns > 0 {
            let local = self.scx.dsqs.local(cpu);
            self.scx.put(task, local, SCX_ENQ_HEAD);
        } else {
            self.do_enqueue(task, if next { 0 } else { SCX_ENQ_LAST });
        }
        if let Some((reason, by)) = displaced {
            self.release(cpu, reason, by);
        }
        self.run_due();
    }

    /// `switch_class`: the CPU goes to a higher class, and the scheduler hears of it once.
    fn release(&mut self, cpu: u32, reason: ReleaseReason, by: Option<TaskId>) {
        if std::mem::replace(&mut self.scx.cpus[cpu as usize].released, true) {
            return;
        }
        self.scx.about_cpu = cpu;
        self.call(Callback::CpuRelease, by, |ops, kernel| {
            ops.cpu_release(kernel, cpu.cast_signed(), reason, by)
        });
    }

    /// A task of a higher class is about to run after what ran: one that can go on, which
    /// `put_prev_task` puts back, or one of the class that has just gone to sleep.
    pub fn displace(&mut self, cpu: u32, reason: ReleaseReason, by: Option<TaskId>) {
        let c = &mut self.scx.cpus[cpu as usize];
        if c.curr.is_some() {
            c.displaced = Some((reason, by));
        } else if c.slept.take().is_some() {
            self.release(cpu, reason, by);
            self.run_due();
        }
    }

    /// The running task of whatever class has run for so long.
    #[inline]
    pub fn update_curr(&mut self, task: TaskId, delta_ns: u64) {
        self.scx.ran(task, delta_ns);
    }

    /// A tick of the running task. True: its slice is over (`task_tick_scx`).
    pub fn task_tick(&mut self, task: TaskId) -> bool {
        self.scx.task_mut(task).facts.ticks += 1;
        self.call(Callback::Tick, Some(task), |ops, kernel| {
            ops.tick(kernel, task)
        });
        self.run_due();
        self.scx.tasks[task.index()].facts.slice_ns == 0
    }

    /// The running task yields (`yield_task_scx`).
    pub fn yield_task(&mut self, task: TaskId) {
        let called = self.call(Callback::Yield, Some(task), |ops, kernel| {
            ops.yield_task(kernel, task, None)
        });
        if called.is_none() {
            self.scx.task_mut(task).facts.slice_ns = 0;
        }
        self.run_due();
    }

    /// A kick with `SCX_KICK_PREEMPT` arrives: the slice of what runs is over.
    pub fn preempt(&mut self, cpu: u32) {
        if let Some(curr) = self.scx.cpus[cpu as usize].curr {
            let facts = &mut self.scx.task_mut(curr).facts;
            if facts.class == Class::Ext {
                facts.slice_ns = 0;
            }
        }
    }

    /// The CPU switches to its idle task (`idle`), or from it to another (`__scx_update_idle`).
    pub fn update_idle(&mut self, cpu: u32, idle: bool) {
        self.scx.idle.update(cpu, idle);
        self.scx.count_idle(cpu, idle);
        self.scx.about_cpu = cpu;
        self.call(Callback::UpdateIdle, None, |ops, kernel| {
            ops.update_idle(kernel, cpu.cast_signed(), idle)
        });
        if idle {
            self.scx.cpus[cpu as usize].switch_to(None);
        }
        self.run_due();
    }

    /// It looked at its queue, found nothing, and goes on idling.
    pub fn stays_idle(&mut self, cpu: u32) {
        self.scx.idle.update(cpu, true);
    }

    /// The event of a timer is here. False: the timer was stopped, or started anew.
    pub fn timer_due(&mut self, timer: crate::TimerId) -> bool {
        let now_ns = self.scx.now_ns;
        self.scx.nr_timer_events = self.scx.nr_timer_events.saturating_sub(1);
        let is_due = self.scx.timers.get(&timer.0) == Some(&now_ns);
        if is_due {
            self.scx.timers.remove(&timer.0);
        }
        is_due
    }

    /// Lets a timer of the scheduler's fire on this CPU.
    pub fn timer(&mut self, timer: crate::TimerId) {
        self.call(Callback::Timer, None, |ops, kernel| {
            ops.timer(kernel, timer)
        });
        self.run_due();
    }

    /// The loader goes on, now (docs/rules/sched-ext.md#loader).
    pub fn loader(&mut self) {
        let cpu = self.scx.this_cpu;
        self.call(Callback::Loader, None, |ops, kernel| ops.loader(kernel));
        self.scx.this_cpu = cpu;
        self.run_due();
    }
}

impl Scx {
    /// The CPU begins to execute its idle task, or ends.
    fn count_idle(&mut self, cpu: u32, idle: bool) {
        let now_ns = self.now_ns;
        let cpu = &mut self.cpus[cpu as usize];
        match (cpu.idle_since_ns, idle) {
            (None, true) => cpu.idle_since_ns = Some(now_ns),
            (Some(since), false) => {
                cpu.idle_ns += now_ns - since;
                cpu.idle_since_ns = None;
            }
            _ => {}
        }
    }

    /// `scx_select_cpu_dfl`.
    pub(super) fn select_dfl(
        &mut self,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
        within: Option<&[u64]>,
        flags: u64,
    ) -> i32 {
        let own = std::mem::take(&mut self.task_mut(task).cpus);
        let mut both = std::mem::take(&mut self.scratch);
        let allowed = match within {
            None => &own,
            Some(within) => {
                let words = both.iter_mut().zip(&own).enumerate();
                words.for_each(|(at, (both, own))| {
                    *both = own & within.get(at).copied().unwrap_or(0);
                });
                &both
            }
        };
        let prev = prev_cpu.cast_unsigned();
        let cpu = match allowed.iter().all(|word| *word == 0) {
            true => -EBUSY,
            false => self.select_in(prev, wake_flags, allowed, flags),
        };
        self.task_mut(task).cpus = own;
        self.scratch = both;
        cpu
    }

    /// scx_select_cpu_dfl(): the kernel's choice of an idle CPU near the task.
    fn select_in(&mut self, prev: u32, wake_flags: u64, allowed: &[u64], flags: u64) -> i32 {
        let by = self.this_cpu;
        if wake_flags & SCX_WAKE_SYNC != 0 {
            let affine = test_cpu(allowed, prev) && self.idle.share_cache(by, prev);
            if affine && self.idle.test_and_clear(prev) {
                return prev.cast_signed();
            }
            let in_node = flags & SCX_PICK_IDLE_IN_NODE != 0;
            let near = !in_node || self.idle.same_node(by, prev);
            let empty = self.dsqs.get(self.dsqs.local(by)).len() == 0;
            if empty && near && self.idle.has_idle(by) && test_cpu(allowed, by) {
                return by.cast_signed();
            }
        }
        self.idle.search(by, allowed, prev, flags)
    }
}

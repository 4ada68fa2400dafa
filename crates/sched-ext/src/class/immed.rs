//! Tasks that run at once or are enqueued again: `SCX_ENQ_IMMED`
//! (docs/rules/sched-ext.md#immed).
//!
//! What must stay: each task is enqueued again once per look; `nr_immed` counts the tasks of a
//! local queue that have the flag, up in `joined_local` and down in `left_local`. Free: how a look
//! is kept.
//!
//! Tests by part: `what_cannot_run_at_once_is_enqueued_again` (`joined_local`, `is_open`,
//! `take_immed`, `reenqueue_immed`, `enqueue_again`), `two_tasks_do_not_stay` (`is_open`),
//! `a_scheduler_can_mean_it_always`, `other_queues_do_not_take_it`, `older_kernels_let_them_wait`
//! (`vet_enq_flags`), `a_higher_class_sends_them_back` (`set_others`),
//! `a_scheduler_that_insists_ends` (`repeats`), `who_displaces_runs_at_once` (`left_local`,
//! `reenqueue_immed_after_balance`).
//!
//! Callers: class/insert.rs (`vet_enq_flags`, `joined_local`, `left_local`), class/balance.rs,
//! engine's kernel/model (`set_others`).
//!
//! Tests: crates/sched-ext/tests/all/immed.rs

use super::dsq::DsqRef;
use super::{Due, ExtClass, Scx};
use crate::TaskId;
use crate::consts::{
    SCX_DSQ_LOCAL, SCX_DSQ_LOCAL_ON, SCX_ENQ_IMMED, SCX_ENQ_PREEMPT, SCX_ENQ_REENQ,
    SCX_OPS_ALWAYS_ENQ_IMMED, SCX_REENQ_LOCAL_MAX_REPEAT, SCX_TASK_IMMED,
    SCX_TASK_REENQ_REASON_MASK,
};

/// The first kernel that knows the flag.
const IMMED: (u16, u16) = (7, 1);

impl Scx {
    /// `scx_vet_enq_flags`: flags of an insertion into that queue. None: an error.
    pub(super) fn vet_enq_flags(&mut self, dsq: u64, enq_flags: u64) -> Option<u64> {
        if self.info.kernel < IMMED {
            return Some(enq_flags & !SCX_ENQ_IMMED);
        }
        let local = dsq == SCX_DSQ_LOCAL || dsq & SCX_DSQ_LOCAL_ON == SCX_DSQ_LOCAL_ON;
        if local && self.info.flags & SCX_OPS_ALWAYS_ENQ_IMMED != 0 {
            return Some(enq_flags | SCX_ENQ_IMMED);
        }
        if !local && enq_flags & SCX_ENQ_IMMED != 0 {
            self.error(format!("SCX_ENQ_IMMED on a non-local DSQ {dsq:#x}"));
            return None;
        }
        Some(enq_flags)
    }

    /// Can a task of the class execute there at once (`rq_is_open`)?
    fn is_open(&self, cpu: u32, enq_flags: u64) -> bool {
        let c = &self.cpus[cpu as usize];
        let vacant = c.curr.is_none() && c.picked.is_none() && !c.woken;
        c.others == 0 && (vacant || c.in_balance || enq_flags & SCX_ENQ_PREEMPT != 0)
    }

    /// A task has come into the local queue of a CPU (`dsq_inc_nr`).
    pub(super) fn joined_local(&mut self, task: TaskId, cpu: u32, enq_flags: u64) {
        let open = self.is_open(cpu, enq_flags);
        self.cpus[cpu as usize].woken = true;
        let flags = &mut self.task_mut(task).facts.scx_flags;
        if enq_flags & SCX_ENQ_IMMED != 0 {
            *flags |= SCX_TASK_IMMED;
        }
        if *flags & SCX_TASK_IMMED == 0 {
            return;
        }
        self.cpus[cpu as usize].nr_immed += 1;
        let alone = self.dsqs.get(self.dsqs.local(cpu)).len() == 1;
        if !alone || !open {
            self.reenqueue_immed(cpu);
        }
    }

    /// Notes that a task has left its local queue (`dsq_dec_nr`).
    pub(super) fn left_local(&mut self, task: TaskId, cpu: u32) {
        let immed = self.tasks[task.index()].facts.scx_flags & SCX_TASK_IMMED != 0;
        self.cpus[cpu as usize].nr_immed -= u32::from(immed);
    }

    /// `schedule_reenq_local`.
    fn reenqueue_immed(&mut self, cpu: u32) {
        if !std::mem::replace(&mut self.cpus[cpu as usize].immed_due, true) {
            self.due.push_back(Due::ReenqueueImmed { cpu });
        }
    }

    /// A look at the queue has ended: what is more than the next task waits.
    pub(super) fn reenqueue_immed_after_balance(&mut self, cpu: u32) {
        let more = || self.dsqs.get(self.dsqs.local(cpu)).len() > 1;
        if self.cpus[cpu as usize].nr_immed > 0 && more() {
            self.reenqueue_immed(cpu);
        }
    }

    /// `reenq_local`: those that cannot run at once leave the queue.
    pub(super) fn take_immed(&mut self, cpu: u32) -> Vec<TaskId> {
        let c = &mut self.cpus[cpu as usize];
        c.immed_due = false;
        let picked = c.picked;
        let open = self.is_open(cpu, 0);
        let local = self.dsqs.get(self.dsqs.local(cpu));
        let waiting = local.tasks().filter(|task| Some(*task) != picked);
        let immed = |task: &TaskId| self.tasks[task.index()].facts.scx_flags & SCX_TASK_IMMED != 0;
        let taken: Vec<TaskId> = waiting.skip(usize::from(open)).filter(immed).collect();
        for task in &taken {
            self.unlink(*task);
        }
        self.events.reenq_immed += taken.len() as u64;
        taken
    }

    /// Have tasks of this queue been enqueued again too often since the machine asked for
    /// something? Then the scheduler ends (`process_deferred_reenq_locals`). A kernel has no limit
    /// for the scheduler's own queues, and its CPU hangs there.
    pub(super) fn repeats(&mut self, queue: DsqRef) -> bool {
        let asked = self.asked;
        let local = self.dsqs.cpu_of(queue).is_some();
        let dsq = self.dsqs.get_mut(queue);
        let (id, repeats) = (dsq.id, dsq.count_again(asked));
        if repeats > SCX_REENQ_LOCAL_MAX_REPEAT {
            let name = match local {
                true => "SCX_DSQ_LOCAL".to_owned(),
                false => format!("DSQ {id:#x}"),
            };
            self.error(format!("SCX_ENQ_REENQ on {name} repeated {repeats} times"));
            return true;
        }
        self.events.reenq_repeat += u64::from(local && repeats > 0);
        false
    }
}

impl ExtClass<'_> {
    /// A task that waited in a queue of the kernel's is the scheduler's again; `reason`:
    /// `SCX_TASK_REENQ_*`.
    pub(super) fn enqueue_again(&mut self, task: TaskId, reason: u32) {
        let reason = if self.scx.info.kernel >= IMMED {
            reason
        } else {
            0
        };
        self.scx.task_mut(task).facts.scx_flags |= reason;
        self.do_enqueue(task, SCX_ENQ_REENQ);
        self.scx.task_mut(task).facts.scx_flags &= !SCX_TASK_REENQ_REASON_MASK;
    }

    /// The CPU has so many tasks of other classes. Where one has come, tasks that should run at
    /// once cannot (`wakeup_preempt_scx`).
    pub fn set_others(&mut self, cpu: u32, nr: u32) {
        let c = &mut self.scx.cpus[cpu as usize];
        let came = nr > std::mem::replace(&mut c.others, nr);
        if came && c.nr_immed > 0 {
            self.scx.reenqueue_immed(cpu);
            self.run_due();
        }
    }
}

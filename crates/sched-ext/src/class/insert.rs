//! Tasks go into queues: by kfuncs, by the kernel, and from one to another
//! (docs/rules/sched-ext.md#insert). An order that the kernel refuses ends the scheduler here, with
//! the kernel's words.
//!
//! What must stay: texts of errors are the kernel's (users compare them). Free: how an order is
//! checked, in the kernel's order of checks.
//!
//! Tests by part: `queues_that_are_not_there` (`find_dsq`, `consume`),
//! `cpus_that_a_task_may_not_use_or_that_are_not_there` (`can_run_on`, `find_dsq`),
//! `orders_that_do_not_mix` (`put`, `insert`), `direct_dispatches_of_others_and_twice`
//! (`mark_direct`, `direct_dispatch`, `commit`), `the_buffer_of_dispatches_has_an_end` (`commit`),
//! errors.rs::`kfuncs_in_the_wrong_place` (`allowed`),
//! crates/sched-ext/tests/all/immed.rs::`who_displaces_runs_at_once` (`after_local`), engine's
//! sched_ext/rules.rs::`cpus_take_from_the_shared_queue` (`carry`, `move_to_local`,
//! `wake_if_idle`), engine's sched_ext/storms.rs::`a_wild_scheduler_loses_nobody` (`flush`,
//! `finish_dispatch`, `dispatch_to`, `unlink`, `move_between`, `global`, `global_of`).
//! `leaves_custody` has no test of its own; `note_taken` serves record.rs.
//!
//! Callers: class/kfuncs.rs (orders of callbacks), class/queue.rs, class/balance.rs (`consume`,
//! `flush`), class/immed.rs.
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/errors.rs, crates/cli/tests/all/schedulers.rs

use super::dsq::DsqRef;
use super::record::Step;
use super::{Direct, Dispatch, Due, Effect, Moved, Scx};
use crate::consts::{
    SCX_DSQ_FLAG_BUILTIN, SCX_DSQ_GLOBAL, SCX_DSQ_INVALID, SCX_DSQ_LOCAL, SCX_DSQ_LOCAL_CPU_MASK,
    SCX_DSQ_LOCAL_ON, SCX_ENQ_HEAD, SCX_ENQ_PREEMPT,
};
use crate::{Callback, Class, TaskId};

/// By virtual time (`SCX_ENQ_DSQ_PRIQ`), a flag of the kernel's own.
pub(super) const ENQ_PRIQ: u64 = 1 << 57;
/// Flags that a scheduler may not give (`__SCX_ENQ_INTERNAL_MASK`).
const ENQ_INTERNAL: u64 = 0xff << 56;

impl Scx {
    /// The global queue of the node that the task is on.
    fn global(&self, task: TaskId) -> DsqRef {
        let cpu = self.tasks[task.index()].facts.cpu;
        self.dsqs.global(self.cpu_facts[cpu as usize].node)
    }

    /// The global queue of the CPU's node.
    pub(super) fn global_of(&self, cpu: u32) -> DsqRef {
        self.dsqs.global(self.cpu_facts[cpu as usize].node)
    }

    /// `find_dsq_for_dispatch`. `cpu`: whose local queue is meant by `SCX_DSQ_LOCAL`.
    pub(super) fn find_dsq(&mut self, dsq: u64, cpu: u32, task: TaskId) -> DsqRef {
        if dsq == SCX_DSQ_LOCAL {
            return self.dsqs.local(cpu);
        }
        if dsq & SCX_DSQ_LOCAL_ON == SCX_DSQ_LOCAL_ON {
            let on = (dsq & SCX_DSQ_LOCAL_CPU_MASK) as u32;
            let valid = self.valid_cpu(on.cast_signed(), "in SCX_DSQ_LOCAL_ON dispatch verdict");
            return valid.map_or(self.global(task), |cpu| self.dsqs.local(cpu));
        }
        if dsq == SCX_DSQ_GLOBAL {
            return self.global(task);
        }
        self.dsqs.user(dsq).unwrap_or_else(|| {
            self.error(format!("non-existent DSQ {dsq:#x}"));
            self.global(task)
        })
    }

    /// What a callback may not do (`scx_kf_allowed`).
    pub(super) fn allowed(&mut self, kfunc: &str, contexts: &[Callback]) -> bool {
        let Some(now) = self.callback else {
            return true; // the machine's own use
        };
        let allowed = contexts.contains(&now);
        if !allowed {
            self.error(format!("{kfunc}() called from ops.{}()", now.name()));
        }
        allowed
    }

    /// `scx_bpf_dsq_insert` and `_vtime`: false, the kernel has refused and the scheduler ends.
    pub(super) fn insert(
        &mut self,
        task: TaskId,
        dsq: u64,
        slice_ns: u64,
        vtime: Option<u64>,
        enq_flags: u64,
    ) -> bool {
        use Callback::{Dispatch, Enqueue, SelectCpu};
        let name = "scx_bpf_dsq_insert";
        if !self.allowed(name, &[SelectCpu, Enqueue, Dispatch]) {
            return false;
        }
        if enq_flags & ENQ_INTERNAL != 0 {
            self.error(format!("invalid enq_flags {enq_flags:#x}"));
            return false;
        }
        let Some(enq_flags) = self.vet_enq_flags(dsq, enq_flags) else {
            return false;
        };
        let facts = &mut self.tasks[task.index()].facts;
        facts.slice_ns = match slice_ns {
            0 => facts.slice_ns.max(1),
            slice_ns => slice_ns,
        };
        let slice_ns = facts.slice_ns;
        facts.dsq_vtime = vtime.unwrap_or(facts.dsq_vtime);
        self.note(Step::Inserted {
            task,
            dsq,
            vtime,
            slice_ns,
        });
        let by_vtime = vtime.map_or(0, |_| ENQ_PRIQ);
        self.commit(task, dsq, enq_flags | by_vtime)
    }

    /// `scx_dsq_insert_commit`: a direct dispatch is marked, else into the buffer.
    fn commit(&mut self, task: TaskId, dsq: u64, enq_flags: u64) -> bool {
        if self.direct != Direct::No {
            return self.mark_direct(task, dsq, enq_flags);
        }
        if self.buffer.len() >= self.info.dispatch_max_batch as usize {
            self.error("dispatch buffer overflow".to_owned());
            return false;
        }
        let qseq = self.tasks[task.index()].qseq;
        self.buffer.push(Dispatch {
            task,
            qseq,
            dsq,
            enq_flags,
        });
        true
    }

    /// `mark_direct_dispatch`.
    fn mark_direct(&mut self, task: TaskId, dsq: u64, enq_flags: u64) -> bool {
        let name = |task: TaskId| self.tasks[task.index()].name();
        let wrong = match std::mem::replace(&mut self.direct, Direct::Done) {
            Direct::Task(own) if own == task => None,
            Direct::Task(own) => Some(format!(
                "scheduling for {} but trying to direct-dispatch {}",
                name(own),
                name(task)
            )),
            _ => Some(format!("{} already direct-dispatched", name(task))),
        };
        if let Some(wrong) = wrong {
            self.error(wrong);
            return false;
        }
        let entity = self.task_mut(task);
        entity.ddsp_dsq = dsq;
        entity.ddsp_flags = enq_flags;
        true
    }

    /// `direct_dispatch`: what a callback asked for is done. The rq is that of the task's CPU.
    pub(super) fn direct_dispatch(&mut self, task: TaskId, enq_flags: u64) {
        let entity = self.task_mut(task);
        let cpu = entity.facts.cpu;
        let dsq = std::mem::replace(&mut entity.ddsp_dsq, SCX_DSQ_INVALID);
        let flags = std::mem::take(&mut entity.ddsp_flags) | enq_flags;
        let dsq = self.find_dsq(dsq, cpu, task);
        self.dispatch_to(task, dsq, flags);
    }

    /// A task that is in no queue goes into one; into a local one of another CPU it goes with its
    /// run queue (`dispatch_to_local_dsq`).
    pub(super) fn dispatch_to(&mut self, task: TaskId, dsq: DsqRef, enq_flags: u64) {
        let to = self.dsqs.cpu_of(dsq);
        let from = self.tasks[task.index()].facts.cpu;
        match to {
            Some(to) if to != from => {
                if !self.can_run_on(task, to, true) {
                    let global = self.global(task);
                    return self.put(task, global, enq_flags);
                }
                self.carry(task, to);
                self.put(task, dsq, enq_flags);
                self.wake_if_idle(to);
            }
            Some(to) => {
                self.put(task, dsq, enq_flags);
                if !self.cpus[to as usize].in_balance {
                    self.wake_if_idle(to);
                }
            }
            None => self.put(task, dsq, enq_flags),
        }
    }

    /// The task's run queue is that of `to` from now on.
    pub(super) fn carry(&mut self, task: TaskId, to: u32) {
        let facts = &mut self.task_mut(task).facts;
        let from = std::mem::replace(&mut facts.cpu, to);
        facts.wake_cpu = to;
        self.cpus[from as usize].nr -= 1;
        self.cpus[to as usize].nr += 1;
        self.moves.push(Moved { task, from, to });
    }

    /// A CPU whose idle task runs looks at its queue.
    pub(super) fn wake_if_idle(&mut self, cpu: u32) {
        let by = self.this_cpu;
        if self.cpus[cpu as usize].curr.is_none() {
            self.effects.push(Effect::Resched { cpu, by });
        }
    }

    /// `task_can_run_on_remote_rq`. `enforce`: if it may not, the scheduler ends.
    pub(super) fn can_run_on(&mut self, task: TaskId, cpu: u32, enforce: bool) -> bool {
        let entity = &self.tasks[task.index()];
        let (name, from) = (|| entity.name(), entity.facts.cpu);
        let wrong = if entity.facts.migration_disabled {
            enforce.then(|| {
                format!(
                    "SCX_DSQ_LOCAL[_ON] cannot move migration disabled {} from CPU {from} to {cpu}",
                    name()
                )
            })
        } else if !entity.may_use(cpu) {
            enforce.then(|| {
                format!(
                    "SCX_DSQ_LOCAL[_ON] target CPU {cpu} not allowed for {}",
                    name()
                )
            })
        } else {
            let online = self.cpus[cpu as usize].online;
            self.events.dispatch_local_dsq_offline += u64::from(enforce && !online);
            return online;
        };
        if let Some(wrong) = wrong {
            self.error(wrong);
        }
        false
    }

    /// `dispatch_enqueue`: it waits in the queue.
    pub(super) fn put(&mut self, task: TaskId, dsq: DsqRef, enq_flags: u64) {
        let id = self.dsqs.get(dsq).id;
        let builtin = id & SCX_DSQ_FLAG_BUILTIN != 0;
        let mut by_vtime = enq_flags & ENQ_PRIQ != 0;
        if builtin && by_vtime {
            self.error("cannot use vtime ordering for built-in DSQs".to_owned());
            by_vtime = false;
        }
        if self.dsqs.get(dsq).is_other_order(by_vtime) {
            let order = if by_vtime { "FIFO" } else { "PRIQ" };
            self.error(format!(
                "DSQ ID {id:#018x} already had {order}-enqueued tasks"
            ));
        }
        let entity = &mut self.tasks[task.index()];
        debug_assert!(entity.dsq.is_none());
        let head = enq_flags & (SCX_ENQ_HEAD | SCX_ENQ_PREEMPT) != 0;
        let vtime = by_vtime.then_some(entity.facts.dsq_vtime);
        let key = self.dsqs.get_mut(dsq).insert(task, vtime, head);
        entity.dsq = Some((dsq, key));
        let held = std::mem::replace(&mut entity.held, false);
        match self.dsqs.cpu_of(dsq) {
            Some(cpu) => {
                self.joined_local(task, cpu, enq_flags);
                self.leaves_custody(task, 0);
                if held {
                    self.note_taken(task, None, cpu);
                }
                self.after_local(task, cpu, enq_flags);
            }
            None if builtin => self.leaves_custody(task, 0),
            None => self.tasks[task.index()].custody = true,
        }
    }

    /// `dsq`: where the task was; None: it was dispatched directly.
    fn note_taken(&mut self, task: TaskId, dsq: Option<u64>, cpu: u32) {
        let by = self.this_cpu;
        self.note(Step::Taken { task, dsq, cpu, by });
    }

    /// `local_dsq_post_enq`: a task that came into a local queue may displace what runs.
    fn after_local(&mut self, task: TaskId, cpu: u32, enq_flags: u64) {
        let c = &self.cpus[cpu as usize];
        let Some(curr) = c.curr.filter(|_| !c.in_balance) else {
            return; // it looks at the queue, or is told elsewhere
        };
        let running = &mut self.tasks[curr.index()].facts;
        if enq_flags & SCX_ENQ_PREEMPT != 0 && curr != task && running.class == Class::Ext {
            running.slice_ns = 0;
            let by = self.this_cpu;
            self.effects.push(Effect::Resched { cpu, by });
        }
    }

    /// `call_task_dequeue`: from 7.1 on `dequeue` says that a task is no longer the scheduler's.
    pub(super) fn leaves_custody(&mut self, task: TaskId, deq_flags: u64) {
        let custody = std::mem::take(&mut self.task_mut(task).custody);
        if custody && self.custody_is_owed() && self.has(Callback::Dequeue) {
            self.due.push_back(Due::Dequeue { task, deq_flags });
        }
    }

    /// `dispatch_dequeue`: it leaves its queue. None: it is in none.
    pub(super) fn unlink(&mut self, task: TaskId) -> Option<DsqRef> {
        let (dsq, key) = self.task_mut(task).dsq.take()?;
        self.dsqs.get_mut(dsq).remove(key, task);
        if let Some(cpu) = self.dsqs.cpu_of(dsq) {
            self.left_local(task, cpu);
        }
        Some(dsq)
    }

    /// A task that was in a queue that is no local one goes to the local queue of `cpu`.
    fn move_to_local(&mut self, task: TaskId, from: DsqRef, cpu: u32, enq_flags: u64) {
        let from = Some(self.dsqs.get(from).id);
        let remote = self.tasks[task.index()].facts.cpu != cpu;
        if remote {
            self.carry(task, cpu);
        }
        let local = self.dsqs.local(cpu);
        self.put(task, local, enq_flags & !ENQ_PRIQ);
        self.note_taken(task, from, cpu);
        if !self.cpus[cpu as usize].in_balance {
            self.wake_if_idle(cpu);
        }
    }

    /// `consume_dispatch_q`: the first task that may run on `cpu` goes to its local queue.
    pub(super) fn consume(&mut self, cpu: u32, dsq: DsqRef, enq_flags: u64) -> bool {
        let mut at = 0;
        loop {
            let Some(task) = self.dsqs.get(dsq).tasks().nth(at) else {
                return false;
            };
            let here = self.tasks[task.index()].facts.cpu == cpu;
            if here || self.can_run_on(task, cpu, false) {
                self.unlink(task);
                self.move_to_local(task, dsq, cpu, enq_flags);
                return true;
            }
            at += 1;
        }
    }

    /// `move_task_between_dsqs`, of a task that has just been taken out of `from`.
    pub(super) fn move_between(&mut self, task: TaskId, from: DsqRef, to: DsqRef, enq_flags: u64) {
        let cpu = self.tasks[task.index()].facts.cpu;
        match self.dsqs.cpu_of(to) {
            Some(local) if local == cpu || self.can_run_on(task, local, true) => {
                self.move_to_local(task, from, local, enq_flags);
            }
            Some(_) => {
                let global = self.global(task);
                self.put(task, global, enq_flags);
            }
            None => self.put(task, to, enq_flags),
        }
    }

    /// `finish_dispatch`: the task is still held as it was when this was asked for.
    fn finish_dispatch(&mut self, entry: Dispatch, cpu: u32) {
        let entity = &self.tasks[entry.task.index()];
        if !entity.held || entity.qseq != entry.qseq {
            return; // somebody else got to it
        }
        let dsq = self.find_dsq(entry.dsq, cpu, entry.task);
        self.dispatch_to(entry.task, dsq, entry.enq_flags);
    }

    /// `flush_dispatch_buf`, on the CPU that dispatches.
    pub(super) fn flush(&mut self, cpu: u32) {
        for at in 0..self.buffer.len() {
            let entry = self.buffer[at];
            self.finish_dispatch(entry, cpu);
        }
        self.nr_dispatched += self.buffer.len() as u32;
        self.buffer.clear();
    }
}

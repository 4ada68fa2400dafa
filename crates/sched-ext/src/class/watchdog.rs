//! A runnable task that waits for too long ends its scheduler
//! (docs/rules/sched-ext.md#watchdog).
//!
//! What must stay: it looks at half the timeout's pace as the kernel does, in the order of waiting.
//! Free: how looks are timed between two deadlines.
//!
//! Tests by part: `a_forgotten_task_is_found` (`watch`, `watchdog_interval_ns`, `timeout_ns`,
//! `waiting`, `stall`, `place`), `a_queue_that_nobody_serves_is_named` (`place`),
//! crates/cli/tests/all/schedulers.rs::`what_a_scheduler_does_wrong_is_named` with LOST
//! (`longest_wait`: "no task ever ran"). `each_waiting` and `nr_running` are counts for the engine:
//! sched_ext/storms.rs sees a wrong one.
//!
//! Callers: engine's kernel/model/sched_ext/effects.rs (`watch`), kernel/model/home/sched_ext.rs.
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/errors.rs

use super::{ExtClass, Scx};
use crate::consts::SCX_WATCHDOG_MAX_TIMEOUT_MS;
use crate::{Class, Exit, ExitKind, TaskId};

/// A task that can run and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// Which.
    pub task: TaskId,
    /// For how long, ns.
    pub waits_ns: u64,
    /// Where it is.
    pub place: String,
}

impl Scx {
    /// The scheduler's own, else the kernel's longest.
    fn timeout_ns(&self) -> u64 {
        let ms = match self.info.timeout_ms {
            0 => SCX_WATCHDOG_MAX_TIMEOUT_MS,
            ms => ms,
        };
        u64::from(ms) * 1_000_000
    }

    /// Gives where a task that can run waits.
    fn place(&self, task: TaskId) -> String {
        let entity = &self.tasks[task.index()];
        let cpu = entity.facts.cpu;
        match entity.dsq {
            None if entity.held => format!("held by the scheduler, last on CPU {cpu}"),
            None => format!("on its way, last on CPU {cpu}"),
            Some((dsq, _)) => match self.dsqs.cpu_of(dsq) {
                Some(local) => format!("in the local queue of CPU {local}"),
                None if self.dsqs.get(dsq).is_builtin() => {
                    format!("in the global queue, last on CPU {cpu}")
                }
                None => format!("in DSQ {:#x}, last on CPU {cpu}", self.dsqs.get(dsq).id),
            },
        }
    }

    /// Those that wait, with the CPU and the order in which they began to.
    fn waiting(&self) -> impl Iterator<Item = (u32, u64, TaskId)> + '_ {
        let tasks = (0..).map(TaskId).zip(&self.tasks);
        let waits = |(_, entity): &(TaskId, &super::ExtTask)| {
            entity.is_queued() && entity.facts.class == Class::Ext && !entity.facts.on_cpu
        };
        tasks
            .filter(waits)
            .map(|(task, entity)| (entity.facts.cpu, entity.runnable_seq, task))
    }

    /// A task that waits, for how long (ns), and where.
    fn stall(&self, task: TaskId) -> Stall {
        Stall {
            task,
            waits_ns: self.now_ns - self.tasks[task.index()].runnable_at_ns,
            place: self.place(task),
        }
    }
}

impl ExtClass<'_> {
    /// Time between two looks (`scx_watchdog_interval`).
    #[must_use]
    pub fn watchdog_interval_ns(&self) -> u64 {
        self.scx.timeout_ns() / 2
    }

    /// `scx_watchdog_workfn`: the first task that has waited for too long ends the scheduler.
    pub fn watch(&mut self) {
        let limit_ns = self.scx.timeout_ns();
        let stalled = |(.., task): &(u32, u64, TaskId)| self.scx.stall(*task).waits_ns > limit_ns;
        let first = self.scx.waiting().filter(stalled).min();
        let Some((.., task)) = first else { return };
        let stall = self.scx.stall(task);
        let ms = stall.waits_ns / 1_000_000;
        let message = format!(
            "{} failed to run for {}.{:03}s; it is {}",
            self.scx.tasks[task.index()].name(),
            ms / 1000,
            ms % 1000,
            stall.place
        );
        self.scx.end(Exit::new(ExitKind::ErrorStall, message));
    }

    /// The task that has waited longest now. None: nobody waits.
    #[must_use]
    pub fn longest_wait(&self) -> Option<Stall> {
        let stalls = self.scx.waiting().map(|(.., task)| self.scx.stall(task));
        stalls.max_by_key(|stall| (stall.waits_ns, std::cmp::Reverse(stall.task)))
    }

    /// Tasks that wait on a CPU's run queue, the local queue first.
    pub fn each_waiting(&self, cpu: u32, seen: &mut dyn FnMut(TaskId)) {
        let local = self.scx.dsqs.local(cpu);
        self.scx.dsqs.get(local).tasks().for_each(&mut *seen);
        for (on, _, task) in self.scx.waiting() {
            let in_local = self.scx.tasks[task.index()]
                .dsq
                .is_some_and(|d| d.0 == local);
            if on == cpu && !in_local {
                seen(task);
            }
        }
    }

    /// Tasks of the class on a CPU's run queue, the running one included: the machine's count of
    /// them. `nr_running` and `nr_queued` of the engine's home/sched_ext.rs ask for it.
    /// `ExtCpu::nr` keeps it, as tasks join, leave and are carried to another CPU.
    /// `check_nothing_lost` (crates/engine/src/kernel/model/report.rs) compares it at the end of a
    /// run with the tasks that are there, and with the core's count.
    #[inline]
    #[must_use]
    pub fn nr_running(&self, cpu: u32) -> usize {
        self.scx.cpus[cpu as usize].nr as usize
    }
}

//! The threads of a run, with what their scripts say. A thread keeps its number for the whole run;
//! forked ones follow in the order of creation (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: numbers in this order: scripts, parent, shell, kernel threads, forked ones as
//! they are made. Results and traces have these numbers without the hidden ones (`shown`). Free:
//! what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `threads_are_made_named_and_counted` (`name`, `shown`, `made`),
//! `threads_are_made_one_after_the_other` (`parent`, `first_thread`), `the_parent_is_placed`
//! (`shell`), kthreads.rs::`it_can_be_switched_off` (`visible`, `hidden`),
//! kthreads.rs::`a_periodic_thread_takes_its_time` (`kthread`, `kthread_index`). `new`, `step`,
//! `all_visible`, `is_shell`, `is_parent`, `nr_runnable`, `script`: every run; `begin_pass` by
//! measures.rs::`passes_are_told`, `shown_name` by states.rs::`looking_changes_nothing`. `index`
//! and `index_mut` by every run.
//!
//! Callers: mechanics/script/steps.rs (`begin_pass`, `is_shell`, `kthread_index`),
//! kernel/model/state.rs (`shown_name`, `kthread_index`), mechanics/script/start.rs (`shell`,
//! `first_thread`), kernel/model/fork.rs (`shell`), kernel/model/kthreads.rs (`kthread`),
//! kernel/model/report.rs (`nr_runnable`), kernel/model/wake.rs (`kthread_index`),
//! kernel/tree/state.rs (`shown_name`), kernel/tree/tasks.rs (`shown_name`).
//!
//! Tests: crates/engine/tests/behaviour/forking.rs, crates/engine/tests/behaviour/creation.rs,
//! crates/engine/tests/behaviour/kthreads.rs

use super::script::progress::{Next, Programs};
use super::thread::Thread;
use crate::ids::TaskId;
use crate::observe::Iteration;
use std::ops::{Index, IndexMut};
use wakeplace_workload::TaskScript;

/// One for each script, the parent of all, the shell, kernel threads, then those that threads
/// forked.
pub(crate) struct Threads<'a> {
    pub(super) all: Vec<Thread>,
    pub(super) scripts: &'a [TaskScript],
    /// Their steps.
    programs: Programs,
    /// Threads made so far of each script that is there to be forked.
    pub(super) made: Vec<u64>,
    /// Threads that have not ended, those that the parent has yet to create among them.
    pub(super) alive: usize,
    nr_kthreads: u32,
}

impl<'a> Threads<'a> {
    /// `alive`: those that are there at the start.
    pub(super) fn new(
        all: Vec<Thread>,
        scripts: &'a [TaskScript],
        nr_kthreads: u32,
        alive: usize,
    ) -> Self {
        Self {
            all,
            scripts,
            programs: Programs::new(scripts),
            made: vec![0; scripts.len()],
            alive,
            nr_kthreads,
        }
    }

    /// Takes one step of the thread's script.
    #[inline]
    pub(super) fn step(&mut self, task: TaskId, now_ns: u64) -> Next {
        let thread = &mut self.all[task.index()];
        let progress = &mut thread.progress;
        progress.step(&self.programs, thread.script, now_ns)
    }

    /// The thread begins a repetition of a phase. Returns true if that may change something of it.
    pub(super) fn begin_pass(&mut self, task: TaskId, now_ns: u64) -> bool {
        let thread = &mut self.all[task.index()];
        thread.pass = Iteration {
            phase: thread.progress.phase_index(),
            start_ns: now_ns,
            ..Iteration::default()
        };
        self.programs.changes(thread.script, thread.pass.phase)
    }

    /// Threads that observers know, with their indices.
    pub(super) fn all_visible(&self) -> impl Iterator<Item = (TaskId, &Thread)> {
        let numbered = (0..).map(TaskId).zip(&self.all);
        numbered.filter(|(task, _)| self.visible(*task))
    }

    /// Is this a thread of the workload (not the parent that created them, the shell or the
    /// kernel's)?
    #[inline]
    pub(super) fn visible(&self, task: TaskId) -> bool {
        let first_hidden = self.scripts.len() as u32;
        task.0.wrapping_sub(first_hidden) >= self.hidden()
    }

    /// Threads that observers do not see; they follow those of the scripts.
    #[inline]
    pub(crate) fn hidden(&self) -> u32 {
        2 + self.nr_kthreads
    }

    /// The number by which observers know a thread.
    #[inline]
    pub(super) fn shown(&self, task: TaskId) -> u32 {
        match task.index() < self.scripts.len() {
            true => task.0,
            false => task.0 - self.hidden(),
        }
    }

    /// The thread that makes all others: the first number after the scripts'.
    #[inline]
    pub(crate) fn parent(&self) -> TaskId {
        TaskId(self.scripts.len() as u32)
    }

    /// Who starts the program, unless the parent is put on a CPU.
    #[inline]
    pub(crate) fn shell(&self) -> TaskId {
        TaskId(self.parent().0 + 1)
    }

    /// Is it the thread that starts the program?
    #[inline]
    pub(crate) fn is_shell(&self, task: TaskId) -> bool {
        task == self.shell()
    }

    /// Is it the thread that makes all others?
    #[inline]
    pub(crate) fn is_parent(&self, task: TaskId) -> bool {
        task == self.parent()
    }

    /// The first script that no other thread forks.
    pub(super) fn first_thread(&self) -> TaskId {
        let first = self
            .scripts
            .iter()
            .position(|script| script.forks.is_none());
        TaskId(first.unwrap_or(0) as u32)
    }

    /// How many of them can run.
    pub(crate) fn nr_runnable(&self) -> usize {
        self.all.iter().filter(|t| t.is_runnable()).count()
    }

    /// What the threads of this script do.
    #[inline]
    pub(crate) fn script(&self, index: u32) -> &'a TaskScript {
        &self.scripts[index as usize]
    }

    /// As reports have it.
    pub(crate) fn name(&self, task: TaskId) -> String {
        self[task].name(self.scripts)
    }

    /// The same, and `parent` for the thread that makes all others, `shell` for its shell.
    pub(crate) fn shown_name(&self, task: TaskId) -> String {
        match (self.is_parent(task), self.is_shell(task)) {
            (true, _) => "parent".to_owned(),
            (_, true) => "shell".to_owned(),
            _ => self.name(task),
        }
    }

    /// The thread of the n-th kernel thread.
    pub(crate) fn kthread(&self, index: u32) -> TaskId {
        TaskId(self.scripts.len() as u32 + 2 + index)
    }

    /// Which kernel thread this is, if it is one.
    #[inline]
    pub(crate) fn kthread_index(&self, task: TaskId) -> Option<usize> {
        let index = task.index().checked_sub(self.scripts.len() + 2)?;
        (index < self.nr_kthreads as usize).then_some(index)
    }
}

impl Index<TaskId> for Threads<'_> {
    type Output = Thread;

    #[inline]
    fn index(&self, task: TaskId) -> &Thread {
        &self.all[task.index()]
    }
}

impl IndexMut<TaskId> for Threads<'_> {
    #[inline]
    fn index_mut(&mut self, task: TaskId) -> &mut Thread {
        &mut self.all[task.index()]
    }
}

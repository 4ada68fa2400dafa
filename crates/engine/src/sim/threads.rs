//! The threads of a run, with what their scripts say.

use crate::observe::Iteration;
use crate::progress::{Next, Programs};
use crate::thread::Thread;
use std::ops::{Index, IndexMut};
use wakeplace_workload::TaskScript;

/// One for each script, the parent of all, the shell, kernel threads, then those that threads
/// forked.
pub(super) struct Threads<'a> {
    pub(super) all: Vec<Thread>,
    pub(super) scripts: &'a [TaskScript],
    /// Their steps.
    programs: Programs,
    /// Threads made so far of each script that is there to be forked.
    pub(super) made: Vec<u64>,
    /// Threads that have not ended, those that the parent has yet to create among them.
    pub(super) alive: usize,
    nr_kthreads: u32,
    recency: u64,
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
            recency: 0,
        }
    }

    /// The thread is the one queued, picked or looked at last.
    pub(super) fn touch(&mut self, task: u32) {
        self.recency += 1;
        self.all[task as usize].recency = self.recency;
    }

    /// Takes one step of the thread's script.
    #[inline]
    pub(super) fn step(&mut self, task: u32, now_ns: u64) -> Next {
        let thread = &mut self.all[task as usize];
        let progress = &mut thread.progress;
        progress.step(&self.programs, thread.script, now_ns)
    }

    /// The thread begins a repetition of a phase. Returns true if that may change something of it.
    pub(super) fn begin_pass(&mut self, task: u32, now_ns: u64) -> bool {
        let thread = &mut self.all[task as usize];
        thread.pass = Iteration {
            phase: thread.progress.phase_index(),
            start_ns: now_ns,
            ..Iteration::default()
        };
        self.programs.changes(thread.script, thread.pass.phase)
    }

    /// Threads that observers know, with their indices.
    pub(super) fn all_visible(&self) -> impl Iterator<Item = (u32, &Thread)> {
        let numbered = (0..).zip(&self.all);
        numbered.filter(|(task, _)| self.visible(*task))
    }

    /// Is this a thread of the workload (not the parent that created them, the shell or the
    /// kernel's)?
    pub(super) fn visible(&self, task: u32) -> bool {
        let first_hidden = self.scripts.len() as u32;
        task.wrapping_sub(first_hidden) >= self.hidden()
    }

    /// Threads that observers do not see; they follow those of the scripts.
    pub(super) fn hidden(&self) -> u32 {
        2 + self.nr_kthreads
    }

    /// The number by which observers know a thread.
    pub(super) fn shown(&self, task: u32) -> u32 {
        match (task as usize) < self.scripts.len() {
            true => task,
            false => task - self.hidden(),
        }
    }

    pub(super) fn parent(&self) -> u32 {
        self.scripts.len() as u32
    }

    /// Who starts the program, unless the parent is put on a CPU.
    pub(super) fn shell(&self) -> u32 {
        self.parent() + 1
    }

    pub(super) fn is_shell(&self, task: u32) -> bool {
        task == self.shell()
    }

    pub(super) fn is_parent(&self, task: u32) -> bool {
        task == self.parent()
    }

    pub(super) fn first_thread(&self) -> u32 {
        let first = self
            .scripts
            .iter()
            .position(|script| script.forks.is_none());
        first.unwrap_or(0) as u32
    }

    /// Index of the first kernel thread.
    pub(super) fn first_kthread(&self) -> u32 {
        self.scripts.len() as u32 + 2
    }

    pub(super) fn is_kthread(&self, task: u32) -> bool {
        (self.first_kthread()..self.first_kthread() + self.nr_kthreads).contains(&task)
    }
}

impl Index<usize> for Threads<'_> {
    type Output = Thread;

    #[inline]
    fn index(&self, task: usize) -> &Thread {
        &self.all[task]
    }
}

impl IndexMut<usize> for Threads<'_> {
    #[inline]
    fn index_mut(&mut self, task: usize) -> &mut Thread {
        &mut self.all[task]
    }
}

//! The threads of a run as those who watch it number them: a workload's own, one for each script,
//! then those that running threads make, in the order in which they are made.
//!
//! What must stay: a thread's place is the number by which happenings name it; its name is that of
//! `RunReport::threads`; two runs of one workload call the same thread the same (`Numbered`). Tests
//! by part: `threads_are_numbered_as_they_are_made` (`new`, `forked`, `numbered`, `name`,
//! `thread_name`).
//!
//! Callers: explain/ of this crate, crates/study/src/parting.rs; `thread_name` also
//! mechanics/thread.rs and crates/trace/src/export/threads.rs.
//!
//! Tests: below

use wakeplace_workload::{TaskScript, Workload};

/// A thread in every run of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numbered {
    /// The script that it follows, an index into `Workload::tasks`.
    pub script: u32,
    /// Its number among those that were made of the script, from 0; None: it is the workload's own.
    pub fork: Option<u64>,
}

/// The threads of a run by number.
#[derive(Debug)]
pub struct Threads<'a> {
    workload: &'a Workload,
    threads: Vec<Numbered>,
    made: Vec<u64>,
}

/// The name of a thread of a script; `fork` is its number among those that were made of it.
#[must_use]
pub fn thread_name(script: &TaskScript, fork: Option<u64>) -> String {
    let name = &script.name;
    fork.map_or_else(|| name.clone(), |fork| format!("{name}-{fork:04}"))
}

impl<'a> Threads<'a> {
    /// Threads of the workload, one for each script; those that are made join by `forked`.
    #[must_use]
    pub fn new(workload: &'a Workload) -> Self {
        let scripts = 0..workload.tasks.len() as u32;
        let own = scripts.map(|script| Numbered { script, fork: None });
        Self {
            workload,
            threads: own.collect(),
            made: vec![0; workload.tasks.len()],
        }
    }

    /// Numbers a thread that was made: it has the next number among those of its script, from 0.
    pub fn forked(&mut self, script: u32) {
        let made = &mut self.made[script as usize];
        let fork = Some(*made);
        self.threads.push(Numbered { script, fork });
        *made += 1;
    }

    /// Who a thread is in every run; None: there is none of this number.
    #[must_use]
    pub fn numbered(&self, thread: u32) -> Option<Numbered> {
        self.threads.get(thread as usize).copied()
    }

    /// What a run of the workload calls a thread.
    #[must_use]
    pub fn name(&self, of: Numbered) -> String {
        thread_name(&self.workload.tasks[of.script as usize], of.fork)
    }

    /// The workload whose threads they are.
    #[must_use]
    pub fn workload(&self) -> &'a Workload {
        self.workload
    }
}

#[cfg(test)]
mod tests {
    use super::{Numbered, Threads};
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

    /// Two scripts; of the second two threads are made, and of the first one between them. Names
    /// are those of docs/guide/workloads.md: the script's, with four digits for what is made.
    #[test]
    fn threads_are_numbered_as_they_are_made() {
        let spec = Spec::parse("periodic:n=2", &LoadOptions::default()).expect("a model");
        let workload = spec.expand(1, MachineFacts::alike(2)).expect("fits");
        assert_eq!(workload.tasks.len(), 2);
        let mut threads = Threads::new(&workload);
        for script in [1, 0, 1] {
            threads.forked(script);
        }
        let who = |thread: u32| threads.numbered(thread);
        let of = |script, fork| Some(Numbered { script, fork });
        assert_eq!((who(0), who(1)), (of(0, None), of(1, None)));
        let made = [2, 3, 4].map(who);
        assert_eq!(made, [of(1, Some(0)), of(0, Some(0)), of(1, Some(1))]);
        assert_eq!(who(5), None);
        let names: Vec<_> = (0..5)
            .filter_map(who)
            .map(|thread| threads.name(thread))
            .collect();
        let own = |at: usize| workload.tasks[at].name.clone();
        let expected = [
            own(0),
            own(1),
            format!("{}-0000", own(1)),
            format!("{}-0000", own(0)),
            format!("{}-0001", own(1)),
        ];
        assert_eq!(names, expected);
    }
}

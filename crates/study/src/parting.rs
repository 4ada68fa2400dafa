//! Where two runs of the same workload first part: the first wake-up of a task that went to one CPU
//! in the one and to another in the other (docs/guide/review.md, "The first wake-up").
//!
//! What must stay: wake-ups are compared by task and number, not by time, since runs may already
//! differ in their clocks; of all that differ the one that is the earliest in the base is it; the
//! start of a task counts where both had it at the same instant; threads are numbered and named by
//! the engine, as `explain` takes them; looking changes no run. `review` calls it. Tests by part:
//! `the_first_wakeup_that_differs_is_found` (`first_parted`), `equal_runs_do_not_part`
//! (`Experiment::parting`).
//!
//! Tests: below

use crate::pool::watch;
use crate::{Experiment, StudyError};
use std::collections::BTreeMap;
use wakeplace_engine::observe::{Happening, Placement, PlacementKind};
use wakeplace_engine::{Numbered, Observer, Threads};
use wakeplace_workload::Workload;

/// A wake-up of a task, or its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parted {
    /// The task's name, as `explain --task` takes it.
    pub task: String,
    /// Its wake-up of this number, from 1; 0: its start.
    pub number: u64,
    /// When it was under the first and the second, ns.
    pub time_ns: [u64; 2],
    /// Where it went.
    pub cpu: [u32; 2],
}

/// Of each thread: when, and to which CPU, in the order of time.
#[derive(Debug)]
struct Choices<'a> {
    threads: Threads<'a>,
    choices: BTreeMap<Numbered, Vec<Choice>>,
    kept: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Choice {
    time_ns: u64,
    cpu: u32,
    /// A wake-up, not the start of the task.
    wakes: bool,
}

/// So many are kept, which take 200 MB for two runs: minutes of most loads.
const MOST: usize = 4_000_000;

impl<'a> Choices<'a> {
    /// Of the threads of a workload, none so far.
    fn of(workload: &'a Workload) -> Self {
        Self {
            threads: Threads::new(workload),
            choices: BTreeMap::new(),
            kept: 0,
        }
    }

    /// A CPU was chosen.
    fn placed(&mut self, time_ns: u64, placed: &Placement) {
        if let Some(thread) = self.threads.numbered(placed.task)
            && placed.kind != PlacementKind::Exec
            && self.kept < MOST
        {
            self.kept += 1;
            self.choices.entry(thread).or_default().push(Choice {
                time_ns,
                cpu: placed.cpu,
                wakes: placed.kind == PlacementKind::Wake,
            });
        }
    }
}

impl Observer for Choices<'_> {
    /// Threads are numbered as they are made; their choices are kept.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match what {
            Happening::Forked { script, .. } => self.threads.forked(*script),
            Happening::Placement(placed) => self.placed(time_ns, placed),
            _ => {}
        }
    }
}

impl Experiment {
    /// Runs the two contenders with the first seed and finds where they part; None: every wake-up
    /// that both have went to the same CPU, of the first four million.
    ///
    /// # Errors
    /// As [`Experiment::run`]; there are not two contenders.
    pub fn parting(&self) -> Result<Option<Parted>, StudyError> {
        let one = Experiment {
            seeds: self.seeds.iter().copied().take(1).collect(),
            timeline: None,
            oracle: false,
            ..self.clone()
        };
        let workloads = one.expand()?;
        let runs = one.runs(&workloads, None);
        let [base, change] = runs.as_slice() else {
            return Err(StudyError::Empty("expected a base and a change"));
        };
        let Some(workload) = workloads.first() else {
            return Err(StudyError::Empty("expected a seed"));
        };
        let choices = |run| -> Result<Choices<'_>, StudyError> {
            let mut choices = Choices::of(workload);
            watch(run, &mut choices, &|_| {})?;
            Ok(choices)
        };
        Ok(first_parted(&choices(base)?, &choices(change)?))
    }
}

/// The earliest wake-up, by the first's clock, that went elsewhere in the second.
fn first_parted(base: &Choices<'_>, change: &Choices<'_>) -> Option<Parted> {
    let of_thread = |(thread, base): (&Numbered, &Vec<Choice>)| {
        let mut pairs = base.iter().zip(change.choices.get(thread)?).enumerate();
        let counts = |one: &Choice, other: &Choice| one.wakes || one.time_ns == other.time_ns;
        let differ = |one: &Choice, other: &Choice| one.cpu != other.cpu && counts(one, other);
        let (at, (one, other)) = pairs.find(|(_, (one, other))| differ(one, other))?;
        let wakes = base[..=at].iter().filter(|choice| choice.wakes).count();
        Some((*thread, wakes as u64, *one, *other))
    };
    let parted = base.choices.iter().filter_map(of_thread);
    let first = parted.min_by_key(|(thread, _, one, _)| (one.time_ns, *thread));
    first.map(|(thread, wakes, one, other)| Parted {
        task: base.threads.name(thread),
        number: if one.wakes { wakes } else { 0 },
        time_ns: [one.time_ns, other.time_ns],
        cpu: [one.cpu, other.cpu],
    })
}

#[cfg(test)]
mod tests {
    use super::{Choice, Choices, Parted, first_parted};
    use crate::{Request, Source};
    use wakeplace_engine::Numbered;
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

    /// Two tasks, `periodic-0` and `periodic-1`.
    fn two_tasks() -> Workload {
        let spec = Spec::parse("periodic:n=2", &LoadOptions::default()).expect("a model");
        spec.expand(1, MachineFacts::alike(4)).expect("fits")
    }

    /// Choices of each task: its start, then wake-ups, as time and CPU.
    fn choices<'a>(workload: &'a Workload, tasks: &[&[(u64, u32)]]) -> Choices<'a> {
        let one = |(at, (time_ns, cpu)): (usize, &(u64, u32))| Choice {
            time_ns: *time_ns,
            cpu: *cpu,
            wakes: at > 0,
        };
        let mut all = Choices::of(workload);
        for (script, own) in (0..).zip(tasks) {
            let own = own.iter().enumerate().map(one).collect();
            all.choices.insert(Numbered { script, fork: None }, own);
        }
        all
    }

    #[test]
    fn the_first_wakeup_that_differs_is_found() {
        let workload = two_tasks();
        let names: Vec<_> = workload.tasks.iter().map(|task| &task.name).collect();
        let choices = |tasks: &[&[(u64, u32)]]| choices(&workload, tasks);
        let base = choices(&[&[(0, 1), (10, 1), (20, 2)], &[(5, 0), (15, 3)]]);
        // Task 1 parts at 15, before task 0 does at 20, though it wakes later under the change.
        let change = choices(&[&[(0, 1), (11, 1), (21, 3)], &[(5, 0), (40, 2)]]);
        let expected = Parted {
            task: names[1].clone(),
            number: 1,
            time_ns: [15, 40],
            cpu: [3, 2],
        };
        assert_eq!(first_parted(&base, &change), Some(expected));
        // A start has the number 0.
        let change = choices(&[&[(0, 2)], &[(5, 0), (15, 3)]]);
        let found = first_parted(&base, &change).unwrap();
        assert_eq!((&found.task, found.number), (names[0], 0));
        // One that is at another time is not the same.
        let change = choices(&[&[(1, 2)], &[(5, 0), (15, 3)]]);
        assert_eq!(first_parted(&base, &change), None);
        assert_eq!(first_parted(&base, &base), None);
    }

    #[test]
    fn equal_runs_do_not_part() {
        let run = |change: &str| {
            let request = Request {
                platforms: vec![Source::named("hikey960")],
                workloads: vec![Source::named("periodic:n=6,period=16ms,duty=10%")],
                policies: vec!["linux-7.3".to_owned(), change.to_owned()],
                duration_ns: Some(300_000_000),
                ..Request::default()
            };
            let experiment = request.resolve().unwrap().experiments.swap_remove(0);
            experiment.parting().unwrap()
        };
        // `nr_migrate` is read where tasks are pulled, and six light tasks are never pulled.
        assert_eq!(run("linux-7.3:nr_migrate=16"), None);
        // Without energy-aware placement tasks go where the capacity is.
        assert!(run("linux-4.7").is_some());
    }
}

//! A program's model in the simulator: the same counts as of the real one (docs/guide/workloads.md,
//! "How it is counted").
//!
//! What must stay: roles are names of scripts; counts as `structure.rs` makes them of a kernel's
//! trace. Nothing of a run depends on this observer. Free: what leaves the tables of pages as they
//! are. Tests by part: `a_round_trip_is_two_sync_wake_ups` (`run`, `happened`, `woken`, `run_stop`,
//! `placement`), `timers_are_told_from_tasks_on_a_busy_cpu_too` (`woken`),
//! `threads_made_on_the_way_have_their_scripts_role` (`new`, `role`, `forked`, `task_exit`,
//! `finish`), `a_model_that_is_not_there_says_so` (errors of `run`); `hikey` is the tests' own.
//!
//! Callers: programs.rs (`run`).
//!
//! Tests: below

use super::Run;
use super::list::{Model, ModelEvents, RT_APP_FILE};
use super::structure::{INTERRUPT, Structure};
use crate::Error;
use std::collections::BTreeSet;
use wakeplace_engine::observe::{Placement, PlacementKind, Stop, Waking};
use wakeplace_engine::{Happening, Observer, Options};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, task_of_thread};

/// Of whoever makes the threads: the simulator's own task, which is none of the workload's.
const STARTER: &str = "starter";
/// Seed of the workload's random choices.
const SEED: u64 = 1;

/// Runs a model and counts. The error says why there is none.
pub(super) fn run(platform: &Platform, policy: &Policy, model: &Model) -> Result<Run, Error> {
    let options = LoadOptions::default();
    let spec = match model.workload {
        "" => Spec::parse_rtapp(RT_APP_FILE.1.as_bytes(), RT_APP_FILE.0, &options),
        argument => Spec::parse(argument, &options),
    };
    let capacities = platform.capacities();
    let facts = MachineFacts {
        capacities: &capacities,
    };
    let expanded = spec.and_then(|spec| spec.expand(SEED, facts));
    let workload = expanded.map_err(Error::input)?;
    let options = Options {
        duration_ns: model.duration_ns,
        ..Options::default()
    };
    wakeplace_engine::check(platform, policy, &workload, &options).map_err(Error::input)?;
    let names = workload.tasks.iter().map(|task| task_of_thread(&task.name));
    let mut counter = Counter::new(names.map(str::to_owned).collect());
    let report = wakeplace_engine::run_watched(platform, policy, &workload, &options, &mut counter);
    let events = match model.events {
        ModelEvents::Fixed(events) => Some(events),
        ModelEvents::Counted(units) => report.counted.map(|done| done.units / units),
    };
    let events = events.filter(|events| *events > 0).ok_or_else(|| {
        let name = &workload.name;
        Error::NoResult(format!("`{name}` did nothing that it counts"))
    })?;
    Ok(Run {
        events,
        structure: counter.finish(),
    })
}

/// Counts tasks and wake-ups by the tasks' roles.
struct Counter {
    /// By task.
    roles: Vec<String>,
    /// Tasks that were made.
    made: BTreeSet<u32>,
    /// Tasks that ended.
    ended: Vec<u32>,
    found: Structure,
}

impl Counter {
    /// Roles of the tasks that have a script.
    fn new(roles: Vec<String>) -> Self {
        Self {
            roles,
            made: BTreeSet::new(),
            ended: Vec::new(),
            found: Structure::default(),
        }
    }

    /// Of a thread; one without a script began the others.
    fn role(&self, task: u32) -> &str {
        self.roles
            .get(task as usize)
            .map_or(STARTER, String::as_str)
    }

    /// Counts, once ends have been told from sleeps.
    fn finish(self) -> Structure {
        let mut found = self.found.clone();
        for task in &self.made {
            *found.tasks.entry(self.role(*task).to_owned()).or_default() += 1;
        }
        // An end is told as a stop, too; the kernel's trace tells ends from sleeps.
        for task in &self.ended {
            if let Some(sleeps) = found.sleeps.get_mut(self.role(*task)) {
                *sleeps = sleeps.saturating_sub(1);
            }
        }
        found
    }
}

impl Observer for Counter {
    /// Counts what a trace of the real program would show.
    fn happened(&mut self, _: u64, what: &Happening) {
        match *what {
            Happening::Placement(ref it) => self.placement(it),
            Happening::Forked { task, script } => self.forked(task, script),
            Happening::Woken(ref it) => self.woken(it),
            Happening::RunStop { task, stop, .. } => self.run_stop(task, stop),
            Happening::TaskExit { task } => self.task_exit(task),
            _ => {}
        }
    }
}

impl Counter {
    /// Forks and execs.
    fn placement(&mut self, placement: &Placement) {
        match placement.kind {
            PlacementKind::Fork => {
                self.found.forks += 1;
                self.made.insert(placement.task);
            }
            PlacementKind::Exec => self.found.execs += 1,
            PlacementKind::Wake => {}
        }
    }

    /// The new thread has its script's role.
    fn forked(&mut self, task: u32, script: u32) {
        let role = self.role(script).to_owned();
        let at = task as usize;
        if self.roles.len() <= at {
            self.roles.resize(at + 1, STARTER.to_owned());
        }
        self.roles[at] = role;
    }

    /// By whom: a role, or an interrupt.
    fn woken(&mut self, waking: &Waking) {
        let waker = waking.waker.map_or(INTERRUPT, |waker| self.role(waker));
        let waker = waker.to_owned();
        let woken = self.role(waking.task).to_owned();
        self.found.wake(&waker, &woken, waking.sync);
    }

    /// Slept or gave way.
    fn run_stop(&mut self, task: u32, stop: Stop) {
        let role = self.role(task).to_owned();
        self.found.left(&role, stop.sleeps());
    }

    /// Kept, since an end looks like a sleep.
    fn task_exit(&mut self, task: u32) {
        self.ended.push(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeplace_engine::happen;

    fn hikey() -> Platform {
        Platform::load("hikey960").expect("built in")
    }

    #[test]
    fn a_round_trip_is_two_sync_wake_ups() {
        let policy = Policy::parse("linux-7.3").expect("known");
        let model = Model {
            workload: "context-switch:warmup=0s,start=ready",
            duration_ns: 50_000_000,
            events: ModelEvents::Counted(2),
        };
        let run = run(&hikey(), &policy, &model).expect("runs");
        let structure = &run.structure;
        assert_eq!((structure.forks, structure.tasks.len()), (2, 2));
        // Each round trip, the parent wakes the child and the child the parent; the run is cut off
        // somewhere, and the child may not have slept yet when the first message came.
        for pair in ["parent -> child", "child -> parent"] {
            let wakes = structure.wakes[pair];
            assert!(
                wakes.count.abs_diff(run.events) <= 2,
                "{wakes:?} {}",
                run.events
            );
            assert_eq!(wakes.sync, wakes.count);
        }
        assert!(run.events > 100, "{}", run.events);
        // The start line and the delays: a few timers, no more.
        let timers: u64 = (structure.wakes.iter())
            .filter(|(pair, _)| pair.starts_with(INTERRUPT))
            .map(|(_, wakes)| wakes.count)
            .sum();
        assert!(timers <= 4, "{timers}");
    }

    #[test]
    fn timers_are_told_from_tasks_on_a_busy_cpu_too() {
        let policy = Policy::parse("linux-7.3").expect("known");
        let model = Model {
            // Sixteen tasks of a tenth on eight CPUs: timers interrupt running tasks.
            workload: "periodic:n=16,period=16ms,duty=10%,start=spread",
            duration_ns: 500_000_000,
            events: ModelEvents::Fixed(1),
        };
        let run = run(&hikey(), &policy, &model).expect("runs");
        assert!(
            run.structure
                .wakes
                .keys()
                .all(|pair| pair.starts_with(INTERRUPT))
        );
        assert_eq!(run.structure.tasks.values().sum::<u64>(), 16);
    }

    #[test]
    fn threads_made_on_the_way_have_their_scripts_role() {
        let mut counter = Counter::new(vec!["make".to_owned(), "cc".to_owned()]);
        happen!(counter, 5 => Forked { task: 3, script: 1 });
        let woken = |task, waker| Waking {
            task,
            waker,
            cpu: 0,
            sync: false,
        };
        happen!(counter, 6 => Woken(woken(0, Some(3))));
        happen!(counter, 7 => Woken(woken(3, None)));
        happen!(counter, 8 => RunStop { cpu: 0, task: 3, ran_ns: 1, stop: Stop::Sleeps });
        happen!(counter, 9 => RunStop { cpu: 0, task: 3, ran_ns: 1, stop: Stop::Exits });
        happen!(counter, 9 => TaskExit { task: 3 });
        let found = counter.finish();
        let pairs: Vec<_> = found.wakes.keys().map(String::as_str).collect();
        assert_eq!(pairs, ["cc -> make", "interrupt -> cc"]);
        assert_eq!(found.sleeps["cc"], 1);
    }

    #[test]
    fn a_model_that_is_not_there_says_so() {
        let policy = Policy::parse("linux-7.3").expect("known");
        let model = Model {
            workload: "no-such-model:n=1",
            duration_ns: 1,
            events: ModelEvents::Fixed(1),
        };
        let refused = run(&hikey(), &policy, &model).expect_err("unknown");
        assert!(matches!(&refused, Error::Input(why) if why.contains("no-such-model")));
    }
}

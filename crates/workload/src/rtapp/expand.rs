//! One script per thread (docs/rules/rt-app.md#rt-app-threads).
//!
//! Called by `Spec::expand`. Order of threads and their names are rt-app's; streams are named by
//! thread. Times become ns.
//!
//! What must stay: threads are numbered in the order of the file and forked ones stand behind; a
//! group has the threads that begin in it; CPUs that the machine lacks are refused. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `the_fixture_expands_to_its_threads` (`scripts`,
//! `thread_name`, `thread`, `phase`), `accepted_files_expand_to_their_scripts` (all steps),
//! `timers_are_private_if_unique_and_absolute_if_one_event_is` (`index`),
//! `taskgroups_become_groups` (`groups`), `what_cannot_run_here_names_its_place` (`check_cpus`),
//! `start_spread_draws_when_threads_begin` (draws),
//! rtapp_events.rs::`forked_tasks_are_scripts_behind_the_others` (`forked`),
//! rtapp_events.rs::`phases_change_policies_and_what_goes_with_them` (`change`),
//! rtapp_events.rs::`what_the_logs_need` (`log`), all (`expand`, `task_instances`).
//!
//! Tests: crates/workload/tests/all/rtapp_scripts.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/rtapp_events.rs
use super::forks;
use super::log::{LogThread, RtAppLog};
use super::places::Cpus;
use super::scheduling::Set;
use super::steps::{NOTHING, Step};
use super::template::{Phase as TemplatePhase, Task, Template};
use crate::deadline;
use crate::error::{Fault, WorkloadError};
use crate::limits;
use crate::script::{
    Calibration, Change, Event, Phase, Start, StartLine, TaskGroup, TaskScript, Timer, TimerMode,
    Workload,
};
use crate::stream::Stream;
use crate::{Attributes, MachineFacts};
use std::collections::BTreeMap;

/// Makes the scripts, if the machine has the CPUs they name, with the file's own deadlines or
/// without.
pub(crate) fn expand(
    template: &Template,
    file: &str,
    seed: u64,
    machine: MachineFacts<'_>,
    deadlines: bool,
) -> Result<Workload, WorkloadError> {
    check_cpus(template, machine.nr_cpus()).map_err(|fault| fault.in_file(file))?;
    let mut expansion = Expansion {
        timers: Timers::default(),
        groups: groups(&template.groups),
        forked: forked(template),
        start: (seed, template.start_spread_ns),
    };
    let tasks = scripts(template).enumerate();
    let tasks = tasks.map(|(index, script)| expansion.thread(script, index));
    let tasks = tasks.collect();
    let mut workload = Workload {
        name: file.to_owned(),
        calibration: template.calibration,
        tasks,
        start: Start {
            at_ns: 0,
            line: StartLine::Barrier,
        },
        timers: expansion.timers.list,
        shared: template.shared.clone(),
        series: Vec::new(),
        chains: Vec::new(),
        seed: 0,
        no_periods: false,
        count: None,
        groups: expansion.groups,
        duration_ns: template.duration_ns,
        cpu_dma_latency_us: None,
        wakeups_unknown: false,
        recorded_run_ns: None,
        unmodelled: template.unmodelled.clone(),
    };
    let applied = limits::apply(&template.limits, &mut workload, machine.nr_cpus());
    applied.map_err(|fault| fault.in_file(file))?;
    if deadlines {
        let applied = deadline::apply(&template.deadlines, &mut workload);
        applied.map_err(|fault| fault.in_file(file))?;
    }
    Ok(workload)
}

/// The logs of the threads, by the same indices.
pub(crate) fn log(template: &Template) -> Option<RtAppLog> {
    let (basename, cumulative_slack) = template.log.clone()?;
    let threads = scripts(template).enumerate();
    let threads = threads.map(|(index, (task, forked))| LogThread {
        name: thread_name(task, forked, index),
        phases: task.log.clone(),
    });
    Some(RtAppLog {
        basename,
        cumulative_slack,
        threads: threads.collect(),
    })
}

/// Tasks in the order of their scripts: threads started at first, then what is forked (true).
fn scripts(template: &Template) -> impl Iterator<Item = (&Task, bool)> {
    let started = |task| std::iter::repeat_n((task, false), task_instances(task));
    let forked = template.tasks.iter().filter(|task| task.forked);
    let started = template.tasks.iter().flat_map(started);
    started.chain(forked.map(|task| (task, true)))
}

/// How many threads of the task begin with the run; it was checked before.
fn task_instances(task: &Task) -> usize {
    task.instances as usize
}

/// Scripts of forked threads by their task's place in the file.
fn forked(template: &Template) -> BTreeMap<usize, u32> {
    let places = scripts(template).zip(0..);
    let places = places.filter(|((_, forked), _)| *forked);
    places
        .map(|((task, _), index)| (task.place, index))
        .collect()
}

/// rt-app's name of a thread: a forked one has the task's.
fn thread_name(task: &Task, forked: bool, index: usize) -> String {
    match forked {
        true => task.name.clone(),
        false => format!("{}-{index}", task.name),
    }
}

/// Each in the nearest one that its path names.
fn groups(names: &[String]) -> Vec<TaskGroup> {
    let group = |name: &String| {
        let around = |outer: &&String| {
            name.strip_prefix(&***outer)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        let deep = name.split('/').count() > TaskGroup::MAX_LEVELS;
        let outer = names
            .iter()
            .filter(|_| !deep)
            .filter(around)
            .max_by_key(|outer| outer.len());
        let place = outer.and_then(|outer| names.iter().position(|name| name == outer));
        TaskGroup {
            parent: place.map(|place| place as u32),
            ..TaskGroup::new(name)
        }
    };
    names.iter().map(group).collect()
}

/// What all threads of a file have in common.
struct Expansion {
    timers: Timers,
    groups: Vec<TaskGroup>,
    forked: BTreeMap<usize, u32>,
    /// The seed, and up to how much later than its delay a thread begins.
    start: (u64, u64),
}

impl Expansion {
    /// The script of one thread, with what is drawn for it.
    fn thread(&mut self, (task, forked): (&Task, bool), index: usize) -> TaskScript {
        let name = thread_name(task, forked, index);
        if let Some(own) = &task.initial.group
            && let Some(group) = self.groups.iter_mut().find(|group| group.name == *own)
        {
            group.tasks.push(index as u32);
        }
        let (seed, spread_ns) = self.start;
        let later_ns = match forked {
            true => 0, // it begins when it is forked
            false => Stream::for_task(seed, &name).below(spread_ns),
        };
        let delay_ns = task.delay_ns.saturating_add(later_ns);
        self.timers.own.clear();
        let phases = task.phases.iter();
        let phases = phases.map(|phase| self.phase(phase, &name, delay_ns));
        let phases = phases.collect();
        let initial = &task.initial;
        TaskScript {
            nice: initial.nice,
            policy: initial.policy,
            attributes: Attributes {
                process: Some(0),
                ..initial.attributes
            },
            cpus: task.cpus.as_ref().map(|cpus| cpus.list.clone()),
            slice_ns: initial.slice_ns,
            uclamp_min: initial.uclamp_min,
            uclamp_max: initial.uclamp_max,
            forks: forked.then_some(forks::LIMIT),
            delay_ns,
            ..TaskScript::new(name, task.loops, phases)
        }
    }

    /// One phase of a thread's script.
    fn phase(&mut self, phase: &TemplatePhase, thread: &str, delay_ns: u64) -> Phase {
        let events = phase.steps.iter().map(|step| match step {
            Step::Event(event) => *event,
            Step::Timer {
                name,
                mode,
                period_ns,
            } => Event::Timer {
                timer: self.timers.index(name, *mode, thread, delay_ns),
                period_ns: *period_ns,
            },
            // Forks that are not reached fork nobody (`forks`).
            Step::Fork(place) => match self.forked.get(place) {
                Some(&task) => Event::Fork { task },
                None => NOTHING,
            },
        });
        let events = events.collect();
        Phase {
            name: phase.name.clone(),
            loops: phase.loops,
            cpus: phase.cpus.as_ref().map(|cpus| cpus.list.clone()),
            change: self.change(&phase.set),
            memory_nodes: phase.memory_nodes.as_deref().map(<[u32]>::to_vec),
            events,
        }
    }

    /// What a phase sets, with the group's index; what it leaves is `None`.
    fn change(&self, set: &Set) -> Change {
        let place = |name: &String| {
            let place = self.groups.iter().position(|group| group.name == *name);
            place.map(|place| place as u32)
        };
        Change {
            policy: set.policy,
            nice: set.nice,
            slice_ns: set.slice_ns,
            uclamp_min: set.uclamp_min,
            uclamp_max: set.uclamp_max,
            group: set.group.as_ref().map(|name| name.as_ref().and_then(place)),
        }
    }
}

/// The timers met so far: shared ones by name, and the present thread's own.
#[derive(Default)]
struct Timers {
    list: Vec<Timer>,
    shared: BTreeMap<String, u32>,
    own: BTreeMap<String, u32>,
}

impl Timers {
    /// The index of a timer; a name that begins with `unique` is one timer per thread.
    fn index(&mut self, reference: &str, mode: TimerMode, thread: &str, delay_ns: u64) -> u32 {
        let unique = reference.starts_with("unique");
        let known = if unique {
            &mut self.own
        } else {
            &mut self.shared
        };
        let index = match known.get(reference) {
            Some(&index) => index,
            None => {
                // At most one per event, and these are bounded far below 2^32.
                let index = self.list.len() as u32;
                known.insert(reference.to_owned(), index);
                let name = if unique {
                    format!("{thread}/{reference}")
                } else {
                    reference.to_owned()
                };
                self.list.push(Timer {
                    name,
                    mode: TimerMode::Relative,
                    start_delay_ns: delay_ns,
                });
                index
            }
        };
        // A shared one starts from the delay of the thread that comes to it first.
        let first = &mut self.list[index as usize].start_delay_ns;
        *first = delay_ns.min(*first);
        if mode == TimerMode::Absolute {
            self.list[index as usize].mode = mode;
        }
        index
    }
}

/// CPUs that the file names exist.
fn check_cpus(template: &Template, nr_cpus: u32) -> Result<(), Fault> {
    let missing = |key: &str, cpu: u32, at| {
        let last = nr_cpus.saturating_sub(1);
        let message = format!("`{key}`: there is no CPU {cpu}");
        Fault::unusable(at, message).expected(format!("CPUs 0 to {last}"))
    };
    if let Calibration::Cpu(cpu) = template.calibration
        && cpu >= nr_cpus
    {
        return Err(missing("calibration", cpu, template.calibration_at));
    }
    let check = |cpus: &Option<Cpus>| match cpus {
        Some(Cpus { list, highest_at }) => match list.last() {
            Some(&cpu) if cpu >= nr_cpus => Err(missing("cpus", cpu, *highest_at)),
            _ => Ok(()),
        },
        None => Ok(()),
    };
    for task in &template.tasks {
        check(&task.cpus)?;
        task.phases
            .iter()
            .try_for_each(|phase| check(&phase.cpus))?;
    }
    Ok(())
}

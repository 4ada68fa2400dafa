//! One workload as a program of another: its threads are started by a fork, wait for their program
//! where they have a common start, count their times from their own start, and tell their program
//! when they end (docs/decisions/025).
//!
//! Called by `models/builder.rs` for each program of a shell. Indices of the program move by what
//! the workload already has; order of tasks stays. Times and work of the program do not change.
//!
//! What must stay: all indices of a program's steps are moved by one offset per list; programs
//! share their measures and nothing else; a name is measured in one way in the whole script. Free:
//! what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `a_program_starts_and_joins_its_threads` (`adopt`,
//! `started_by_fork`), `threads_meet_once_with_the_thread_that_made_them` (a barrier as start
//! line), `threads_are_let_go_by_the_thread_that_made_them` (a release as start line),
//! `a_thread_waits_for_its_release_behind_the_start_line` (delays),
//! `programs_share_nothing_but_their_measures` (`shift`, `shifted_phase`, `place_of`, `counted`),
//! `programs_that_measure_one_name_in_two_ways_are_refused` (`fits`),
//! `a_program_starts_and_joins_its_threads` (`of`, `is_first`),
//! `a_thread_waits_for_its_release_behind_the_start_line` (`behind`).
//!
//! Tests: crates/workload/tests/all/shell.rs
use super::builder::Builder;
use super::carrier::Carrier;
use super::tasks::{phase, post, wait};
use crate::WorkingSet;
use crate::script::{Count, Event, Phase, Series, StartLine, TaskScript, Workload, Zero};

/// A program in the workload that it joined.
#[derive(Debug)]
pub(super) struct Program {
    /// The threads that its main thread starts.
    pub(super) first: Vec<u32>,
    /// What the main thread does when it has started them all.
    pub(super) release: Vec<Phase>,
}

/// Where what a program shares lies in the workload that it joins.
#[derive(Debug)]
struct Offsets {
    tasks: u32,
    channels: u32,
    mutexes: u32,
    conditions: u32,
    barriers: u32,
    counters: u32,
    sets: u32,
    groups: u32,
    processes: u32,
    /// Of each series of the program; equal ones of two programs are one.
    series: Vec<u32>,
}

/// Puts a program's tasks and what they share into `into`. `name` begins the names of its tasks,
/// `joined` is the channel that each of its first threads gives a unit at its end.
///
/// # Errors
/// What it has that does not go together with the others.
pub(super) fn adopt(
    into: &mut Workload,
    program: Workload,
    line: Line,
    name: &str,
    joined: u32,
) -> Result<Program, &'static str> {
    let empty = into.tasks.is_empty();
    if !empty && into.calibration != program.calibration {
        return Err("means its run times on another CPU than the program before it");
    }
    into.calibration = program.calibration;
    into.count = counted(into.count.take(), program.count)?;
    if !program.series.iter().all(|own| fits(&into.series, own)) {
        return Err("measures the same name in another way than the program before it");
    }
    let offsets = Offsets {
        tasks: into.tasks.len() as u32,
        channels: into.shared.channels.len() as u32,
        mutexes: into.shared.mutexes.len() as u32,
        conditions: into.shared.conditions.len() as u32,
        barriers: into.shared.barriers.len() as u32,
        counters: into.shared.counters.len() as u32,
        sets: into.shared.sets.len() as u32,
        groups: into.groups.len() as u32,
        processes: into.nr_processes(),
        series: program
            .series
            .into_iter()
            .map(|series| place_of(&mut into.series, series))
            .collect(),
    };
    let shared = program.shared;
    into.shared.channels.extend(shared.channels);
    into.shared.mutexes.extend(shared.mutexes);
    into.shared.conditions.extend(shared.conditions);
    into.shared.barriers.extend(shared.barriers);
    into.shared.counters.extend(shared.counters);
    into.shared.sets.extend(shared.sets);
    for mut group in program.groups {
        group.name = format!("{name}/{}", group.name);
        group.parent = group.parent.map(|parent| parent + offsets.groups);
        group
            .tasks
            .iter_mut()
            .for_each(|task| *task += offsets.tasks);
        into.groups.push(group);
    }
    // Whoever holds /dev/cpu_dma_latency holds it for the whole run.
    let latencies = [into.cpu_dma_latency_us, program.cpu_dma_latency_us];
    into.cpu_dma_latency_us = latencies.into_iter().flatten().min();
    let mut first = Vec::new();
    for (index, task) in (offsets.tasks..).zip(program.tasks) {
        let is_first = is_first(&task);
        let task = started_by_fork(task, name, joined, &offsets);
        into.tasks.push(match is_first {
            true => {
                first.push(index);
                behind(&line.steps, task)
            }
            false => task, // threads of threads wait for nobody
        });
    }
    Ok(Program {
        first,
        release: line.release,
    })
}

/// What a program's threads do at their common start.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// What each of them does first.
    pub(super) steps: Vec<Event>,
    /// What the main thread does when it has started them all.
    pub(super) release: Vec<Phase>,
}

impl Line {
    /// The main thread takes part. At a barrier it is one of those that meet. Where the creator
    /// lets threads go, it waits until all have said that they are there.
    pub(super) fn of(program: &Workload, name: &str, builder: &mut Builder) -> Self {
        let threads = program.tasks.iter().filter(|task| is_first(task)).count() as u64;
        match program.start.line {
            StartLine::Timers | StartLine::Each => Self::default(),
            StartLine::Barrier => {
                let barrier = builder.barrier(format!("{name}: start"), threads + 1);
                let meet = [Event::Barrier { barrier }];
                Self {
                    steps: meet.to_vec(),
                    release: vec![phase("line", 1, meet)],
                }
            }
            StartLine::Creator { sync } => {
                let ready =
                    builder.channel(format!("{name}: threads that are ready"), Carrier::Word);
                let channel = builder.channel(format!("{name}: start"), Carrier::Word);
                Self {
                    steps: vec![post(ready), wait(channel)],
                    release: vec![
                        phase("ready", threads, [wait(ready)]),
                        phase("go", threads, [Event::Post { channel, sync }]),
                    ],
                }
            }
        }
    }
}

/// The program's main thread starts it, not another thread.
fn is_first(task: &TaskScript) -> bool {
    task.forks.is_none()
}

/// The task takes these steps once, before anything else. Its delay is one after the common start,
/// so it sleeps for it behind the steps: before them all would wait for the longest.
fn behind(steps: &[Event], mut task: TaskScript) -> TaskScript {
    if steps.is_empty() {
        return task;
    }
    let mut events = steps.to_vec();
    let duration_ns = std::mem::take(&mut task.delay_ns);
    events.extend((duration_ns > 0).then_some(Event::Sleep { duration_ns }));
    task.phases.insert(0, phase("line", 1, events));
    task.once += 1;
    task
}

/// Programs are measured by the same figures, or not at all.
fn counted(before: Option<Count>, program: Option<Count>) -> Result<Option<Count>, &'static str> {
    match (before, program) {
        (Some(before), Some(program)) if before != program => {
            Err("is measured by other figures than the program before it")
        }
        (before, program) => Ok(before.or(program)),
    }
}

/// What is called the same is the same: two series of one name would be one metric twice.
fn fits(all: &[Series], series: &Series) -> bool {
    let named = |other: &&Series| other.name == series.name;
    all.iter().filter(named).all(|other| other == series)
}

/// Where a series stands among those of the workload; an equal one is shared.
fn place_of(all: &mut Vec<Series>, series: Series) -> u32 {
    let found = all.iter().position(|other| *other == series);
    let place = found.unwrap_or_else(|| {
        all.push(series);
        all.len() - 1
    });
    place as u32
}

/// A thread of the program that a fork starts, with a name below the program's.
fn started_by_fork(task: TaskScript, name: &str, joined: u32, offsets: &Offsets) -> TaskScript {
    let first = is_first(&task);
    let mut task = task;
    task.attributes.process = task.attributes.process.map(|own| own + offsets.processes);
    if let Some(WorkingSet::Shared { set }) = &mut task.attributes.working_set {
        *set += offsets.sets;
    }
    TaskScript {
        name: format!("{name}/{}", task.name),
        forks: task.forks.or(Some(1)),
        zero: Zero::OwnStart,
        ended: if first { Some(joined) } else { None },
        phases: task
            .phases
            .into_iter()
            .map(|phase| shifted_phase(phase, offsets))
            .collect(),
        ..task
    }
}

/// The phase with all indices moved.
fn shifted_phase(mut phase: Phase, offsets: &Offsets) -> Phase {
    if let Some(Some(group)) = &mut phase.change.group {
        *group += offsets.groups;
    }
    for event in &mut phase.events {
        shift(event, offsets);
    }
    phase
}

/// What a step names by its index is found at another one.
fn shift(event: &mut Event, offsets: &Offsets) {
    match event {
        Event::Fork { task } => *task += offsets.tasks,
        Event::Post { channel, .. } | Event::Wait { channel } => *channel += offsets.channels,
        Event::Lock { mutex, .. } | Event::Unlock { mutex, .. } => *mutex += offsets.mutexes,
        Event::Signal { condition, .. } => *condition += offsets.conditions,
        Event::Await { condition, mutex } => {
            *condition += offsets.conditions;
            if let Some(mutex) = mutex {
                *mutex += offsets.mutexes;
            }
        }
        Event::Barrier { barrier } => *barrier += offsets.barriers,
        Event::Claim { counter } => *counter += offsets.counters,
        Event::Sample { series, .. } => *series = offsets.series[*series as usize],
        Event::Timer { .. } => unreachable!("a program with timers is refused before"),
        Event::Run { .. }
        | Event::Runtime { .. }
        | Event::Stall { .. }
        | Event::Sleep { .. }
        | Event::Io { .. }
        | Event::Yield
        | Event::Exec
        | Event::ExitAfter { .. }
        | Event::Mark
        | Event::FrameBegin { .. }
        | Event::FrameEnd { .. }
        | Event::Count { .. } => {}
    }
}

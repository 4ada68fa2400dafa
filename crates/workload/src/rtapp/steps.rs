//! The steps of a phase (docs/decisions/023).
//!
//! Called by `rtapp/template.rs`. Order of steps is the file's. Times become ns.
//!
//! What must stay: `suspend`, `resume` and `wait` take and give their mutex as rt-app does; what
//! ends rt-app at run time is refused before the run. Free: what leaves scripts as they are
//! (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test quotes. Tests
//! by part: `accepted_files_expand_to_their_scripts` (`make`),
//! `what_ends_rtapp_at_run_time_is_refused` (`nanoseconds`), `resources_are_keyed_by_name_and_type`
//! (`make_shared`, `lock`, `unlock`, `signal`, `wait`),
//! `parties_of_a_barrier_are_summed_over_the_file` (barriers), `memory_events_that_cannot_be`
//! (`bytes`, `check_memrun`, `not_negative`).
//!
//! Tests: crates/workload/tests/all/rtapp_scripts.rs, crates/workload/tests/all/rtapp_events.rs
use super::memory;
use super::resources::{Rendezvous, Resources};
use super::structure::{Access, Action, Global, MemRun, Position, Step as RtStep};
use crate::error::Fault;
use crate::script::{Event, Pick, TimerMode};

/// For steps that are never reached.
pub(super) const NOTHING: Event = Event::Run { work_ns: 0 };

/// A step, as far as it is the same in all threads of a task.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Event(Event),
    Timer {
        name: String,
        mode: TimerMode,
        period_ns: u64,
    },
    /// Start a thread of the task at that place in the file.
    Fork(usize),
}

/// Makes the steps of an event; `find_task` gives the place of a task in the file.
pub(super) fn make(
    step: &RtStep,
    global: &Global,
    resources: &mut Resources,
    find_task: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<Step>, Fault> {
    let ns = |us| nanoseconds(us, step.at, &step.key);
    let one = |event| Ok(vec![Step::Event(event)]);
    let all = |events: Vec<Event>| Ok(events.into_iter().map(Step::Event).collect());
    match &step.action {
        Action::Run(us) => one(Event::Run { work_ns: ns(*us)? }),
        Action::Runtime(us) => one(Event::Runtime { wall_ns: ns(*us)? }),
        Action::Sleep(us) => one(Event::Sleep {
            duration_ns: ns(*us)?,
        }),
        Action::Timer {
            reference,
            period_us,
            mode,
        } => Ok(vec![Step::Timer {
            name: reference.clone(),
            mode: *mode,
            period_ns: ns(*period_us)?,
        }]),
        Action::Yield => one(Event::Yield),
        Action::Mem(count) => {
            let (count, buffer) = bytes(*count, step, global)?;
            all(memory::mem(count, buffer))
        }
        Action::IoRun(count) => {
            let (count, buffer) = bytes(*count, step, global)?;
            all(memory::iorun(count, buffer, &global.io_device))
        }
        Action::MemRun(run) => {
            check_memrun(run, step)?;
            all(memory::memrun(run))
        }
        Action::Fork(name) => match find_task(name) {
            Some(place) => Ok(vec![Step::Fork(place)]),
            // Forks that are reached have been looked up before (`forks`).
            None => one(NOTHING),
        },
        shared => all(make_shared(shared, step.at, resources)?),
    }
}

/// Steps that wait for others and wake them.
fn make_shared(
    action: &Action,
    at: Position,
    resources: &mut Resources,
) -> Result<Vec<Event>, Fault> {
    Ok(match action {
        Action::Lock(name) => vec![lock(resources.mutex(name))],
        Action::Unlock(name) => vec![unlock(resources.mutex(name))],
        Action::Signal { condition, all } => vec![signal(resources.condition(condition), *all)],
        Action::Wait { condition, mutex } => {
            let (condition, mutex) = (resources.condition(condition), resources.mutex(mutex));
            vec![wait(condition, mutex)]
        }
        Action::Sync { condition, mutex } => {
            let (condition, mutex) = (resources.condition(condition), resources.mutex(mutex));
            vec![signal(condition, false), wait(condition, mutex)]
        }
        Action::Suspend(name) => {
            let (condition, mutex) = (resources.condition(name), resources.mutex(name));
            vec![lock(mutex), wait(condition, mutex), unlock(mutex)]
        }
        Action::Resume(name) => {
            let (condition, mutex) = (resources.condition(name), resources.mutex(name));
            vec![lock(mutex), signal(condition, true), unlock(mutex)]
        }
        Action::Barrier(name) => vec![match resources.barrier(name, at)? {
            Rendezvous::Barrier(barrier) => Event::Barrier { barrier },
            Rendezvous::Never(channel) => Event::Wait { channel },
        }],
        Action::SemPost(name) => vec![Event::Post {
            channel: resources.semaphore(name),
            sync: false,
        }],
        Action::SemWait(name) => vec![Event::Wait {
            channel: resources.semaphore(name),
        }],
        _ => Vec::new(),
    })
}

/// Takes this mutex.
fn lock(mutex: u32) -> Event {
    let pick = Pick::This;
    Event::Lock { mutex, pick }
}

/// Releases this mutex.
fn unlock(mutex: u32) -> Event {
    let pick = Pick::This;
    Event::Unlock { mutex, pick }
}

/// Wakes one that waits for the condition, or all.
fn signal(condition: u32, all: bool) -> Event {
    Event::Signal { condition, all }
}

/// Waits for the condition with the mutex, which is free meanwhile.
fn wait(condition: u32, mutex: u32) -> Event {
    Event::Await {
        condition,
        mutex: Some(mutex),
    }
}

/// The bytes of `mem` or `iorun`, and of the buffer they go through.
fn bytes(count: i32, step: &RtStep, global: &Global) -> Result<(u64, u64), Fault> {
    let count = not_negative(count, step, "bytes")?;
    let buffer = global.mem_buffer_size;
    match u64::try_from(buffer) {
        Ok(buffer) if buffer > 0 => Ok((count, buffer)),
        _ => {
            let message = format!("`{}` with a `mem_buffer_size` of {buffer}", step.key);
            Err(Fault::unusable(step.at, message).expected("a buffer of 1 byte or more"))
        }
    }
}

/// Its numbers are such as rt-app can run.
fn check_memrun(run: &MemRun, step: &RtStep) -> Result<(), Fault> {
    not_negative(run.count, step, "bytes or hops")?;
    let stride = (run.access == Access::Chase).then_some(run.stride);
    for (key, value) in [("size", Some(run.size)), ("stride", stride)] {
        if let Some(value) = value.filter(|&value| value < 1) {
            let message = format!("`{key}` of `{}` is {value}", step.key);
            return Err(Fault::unusable(step.at, message).expected("1 byte or more"));
        }
    }
    Ok(())
}

/// The count, if it is not below 0; `unit` is the word for it in the error.
fn not_negative(count: i32, step: &RtStep, unit: &str) -> Result<u64, Fault> {
    u64::try_from(count).map_err(|_| {
        let message = format!("`{}` is {count} {unit}", step.key);
        Fault::unusable(step.at, message).expected(format!("0 or more {unit}"))
    })
}

/// Microseconds of a key as nanoseconds; rt-app takes negative ones for 2^64 less.
pub(super) fn nanoseconds(us: i32, at: Position, key: &str) -> Result<u64, Fault> {
    let us = u64::try_from(us).map_err(|_| {
        Fault::unusable(at, format!("`{key}` is {us} us")).expected("0 or more microseconds")
    })?;
    Ok(us * 1_000)
}

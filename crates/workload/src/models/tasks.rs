//! Tasks, their phases and the steps that most models have (docs/guide/workloads.md).
//!
//! Called by all models. What is made here has no name but the caller's; every default is that of
//! an ordinary task.
//!
//! What must stay: what `task`, `phase` and `child` leave out has the default of an ordinary task,
//! as all models rely on it. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change
//! may touch"), and words of messages that no test quotes. Tests by part:
//! `netperf_pairs_take_turns` (`run`, `post`, `wait`), `fileio_threads_wait_and_run` (`endless`),
//! `a_job_is_a_chain_of_programs_that_wait` (`child`, `once`),
//! `a_sysbench_threads_event_keeps_the_mutex_of_its_number` (`lock`, `unlock`),
//! `specjbb_stops_its_warehouses` (`lock`, `unlock`). `locked` by
//! `a_sysbench_threads_event_keeps_the_mutex_of_its_number`.
//!
//! Tests: crates/workload/tests/all/benchmark_models.rs,
//! crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/kbuild.rs
use crate::script::{Change, Event, Loops, Phase, Pick, TaskScript};

/// Steps that are repeated so often.
pub(crate) fn phase(name: &str, loops: u64, events: impl Into<Vec<Event>>) -> Phase {
    Phase {
        name: name.to_owned(),
        loops: Loops::Times(loops),
        cpus: None,
        change: Change::default(),
        memory_nodes: None,
        events: events.into(),
    }
}

/// An ordinary task that is there at the start and goes through these phases.
pub(crate) fn task(name: String, loops: Loops, phases: Vec<Phase>) -> TaskScript {
    TaskScript::new(name, loops, phases)
}

/// One that repeats these steps for ever.
pub(crate) fn endless(name: String, events: impl Into<Vec<Event>>) -> TaskScript {
    task(name, Loops::Forever, vec![phase("loop", 1, events)])
}

/// One that ends after these phases.
pub(crate) fn once(name: String, phases: Vec<Phase>) -> TaskScript {
    task(name, Loops::Times(1), phases)
}

/// A task that is not there at the start: it is forked at most so often, and each time ends after
/// these steps.
pub(crate) fn child(name: String, forks: u64, events: impl Into<Vec<Event>>) -> TaskScript {
    TaskScript {
        forks: Some(forks),
        ..once(name, vec![phase("child", 1, events)])
    }
}

/// Work, ns; `work.rs` has the one of which a share waits for memory.
pub(crate) fn run(work_ns: u64) -> Event {
    Event::Run { work_ns }
}

/// A unit for a channel whose readers are woken with the hint that the waker will sleep: pipes,
/// sockets, the end of a child (docs/rules/workloads.md#workload-users).
pub(crate) fn post(channel: u32) -> Event {
    let sync = true;
    Event::Post { channel, sync }
}

/// Takes a unit of a channel.
pub(crate) fn wait(channel: u32) -> Event {
    Event::Wait { channel }
}

/// Takes this mutex.
pub(crate) fn lock(mutex: u32) -> Event {
    let pick = Pick::This;
    Event::Lock { mutex, pick }
}

/// Releases this mutex.
pub(crate) fn unlock(mutex: u32) -> Event {
    let pick = Pick::This;
    Event::Unlock { mutex, pick }
}

/// Work with one of several mutexes in the hands; `first` is the first of them.
pub(crate) fn locked<const N: usize>(first: u32, pick: Pick, steps: [Event; N]) -> Vec<Event> {
    let mutex = first;
    let mut events = vec![Event::Lock { mutex, pick }];
    events.extend(steps);
    events.push(Event::Unlock { mutex, pick });
    events
}

/// One unit of what the workload is measured by is done.
pub(crate) const DONE: Event = Event::Count { units: 1 };

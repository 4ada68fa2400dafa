//! Task scripts in few words.
//!
//! What must stay: `hog` always wants to run, `phase` repeats, `once` ends, and `Run` times mean
//! the biggest CPU. Free: names of tasks, and new helpers. Callers: all files of tests/behaviour; a
//! fault here fails there. `run_ms`, `sleep_ms`, `script`, `workload` and `sharing` put the parts
//! together.

use super::MS;
use wakeplace_workload::{
    Calibration, Change, Event, Loops, Phase, Shared, Start, TaskScript, Timer, Workload,
};

/// The step that works for so many ms.
pub(crate) fn run_ms(ms: u64) -> Event {
    Event::Run { work_ns: ms * MS }
}

/// The step that sleeps for so many ms.
pub(crate) fn sleep_ms(ms: u64) -> Event {
    Event::Sleep {
        duration_ns: ms * MS,
    }
}

/// A phase of these steps, so many times, on these CPUs.
pub(crate) fn phase(loops: u64, cpus: Option<&[u32]>, events: &[Event]) -> Phase {
    Phase {
        name: "phase".into(),
        loops: Loops::Times(loops),
        cpus: cpus.map(<[u32]>::to_vec),
        change: Change::default(),
        memory_nodes: None,
        events: events.to_vec(),
    }
}

/// A task that goes through these phases.
pub(crate) fn script(loops: Loops, phases: Vec<Phase>) -> TaskScript {
    TaskScript::new("task", loops, phases)
}

/// A task that always wants to run, on these CPUs.
pub(crate) fn hog(cpus: Option<&[u32]>) -> TaskScript {
    TaskScript {
        cpus: cpus.map(<[u32]>::to_vec),
        ..script(Loops::Forever, vec![phase(1, None, &[run_ms(1_000_000)])])
    }
}

/// A workload whose `Run` times are meant on the biggest CPU.
pub(crate) fn workload(tasks: Vec<TaskScript>, timers: Vec<Timer>) -> Workload {
    Workload {
        name: "test".into(),
        calibration: Calibration::Biggest,
        tasks,
        start: Start::default(),
        timers,
        shared: Shared::default(),
        series: Vec::new(),
        count: None,
        groups: Vec::new(),
        duration_ns: None,
        cpu_dma_latency_us: None,
        wakeups_unknown: false,
        recorded_run_ns: None,
        chains: Vec::new(),
        seed: 0,
        no_periods: false,
        unmodelled: Vec::new(),
    }
}

/// A task that goes once through these steps, on one CPU.
pub(crate) fn once(cpu: u32, events: &[Event]) -> TaskScript {
    TaskScript {
        cpus: Some(vec![cpu]),
        ..script(Loops::Times(1), vec![phase(1, None, events)])
    }
}

/// A workload whose tasks share something.
pub(crate) fn sharing(tasks: Vec<TaskScript>, shared: Shared) -> Workload {
    Workload {
        shared,
        ..workload(tasks, vec![])
    }
}

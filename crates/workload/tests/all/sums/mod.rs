//! What tests of models share: expansion of an argument, sums over steps.
//!
//! What must stay: it sums steps of one pass and judges nothing. Callers: aim7_compute.rs,
//! coarse_models.rs, kbuild.rs, shell.rs (`refused`, `same_seed_same_scripts`); a fault here fails
//! there. `expand` and `ok` make the scripts; `steps`, `cpu_ns`, `stall_ns`, `io_ns` and `how_many`
//! sum. Rules: docs/rules/workloads.md.
use wakeplace_workload::{Event, LoadOptions, Loops, MachineFacts, Spec, TaskScript, Workload};

/// The scripts for a machine of four CPUs, or the message.
pub(crate) fn expand(argument: &str, seed: u64) -> Result<Workload, String> {
    let spec = Spec::parse(argument, &LoadOptions::default()).map_err(|e| e.to_string())?;
    spec.expand(seed, MachineFacts::alike(4))
        .map_err(|e| e.to_string())
}

pub(crate) fn ok(argument: &str) -> Workload {
    expand(argument, 1).expect(argument)
}

/// All steps of one pass over a task's phases, each phase as often as it is done.
pub(crate) fn steps(task: &TaskScript) -> impl Iterator<Item = &Event> {
    task.phases.iter().flat_map(|phase| {
        let times = match phase.loops {
            Loops::Times(times) => times as usize,
            Loops::Forever => 1,
        };
        std::iter::repeat_n(&phase.events, times).flatten()
    })
}

/// CPU time of one pass, ns.
pub(crate) fn cpu_ns(task: &TaskScript) -> u64 {
    let of = |event: &Event| match *event {
        Event::Run { work_ns } => work_ns,
        Event::Stall { cpu_ns } => cpu_ns,
        _ => 0,
    };
    steps(task).map(of).sum()
}

/// Part of it that waits for memory, ns.
pub(crate) fn stall_ns(task: &TaskScript) -> u64 {
    let of = |event: &Event| match *event {
        Event::Stall { cpu_ns } => cpu_ns,
        _ => 0,
    };
    steps(task).map(of).sum()
}

/// Time of one pass in which it waits for devices, ns.
pub(crate) fn io_ns(task: &TaskScript) -> u64 {
    let of = |event: &Event| match *event {
        Event::Io { duration_ns } => duration_ns,
        _ => 0,
    };
    steps(task).map(of).sum()
}

/// How many steps of one pass fit.
pub(crate) fn how_many(task: &TaskScript, fits: impl Fn(&Event) -> bool) -> usize {
    steps(task).filter(|event| fits(event)).count()
}

/// Arguments that are refused, each with a part of the message.
pub(crate) fn refused(list: &[(&str, &str)]) {
    for (argument, part) in list {
        let error = expand(argument, 1).expect_err(argument);
        assert!(error.contains(part), "{argument}: {error}");
    }
}

/// Draws depend on the seed and on nothing else.
pub(crate) fn same_seed_same_scripts(argument: &str, drawn: bool) {
    assert_eq!(expand(argument, 5), expand(argument, 5), "{argument}");
    let differs = expand(argument, 5) != expand(argument, 6);
    assert_eq!(differs, drawn, "{argument}");
}

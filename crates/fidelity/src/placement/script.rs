//! A set as a workload of the simulator's (docs/results/fidelity.md).
//!
//! What must stay: releases are those of the guest's job: period, delay and start. Free: what
//! leaves the tables of pages as they are. Tests by part:
//! `a_task_that_begins_somewhere_has_the_same_jobs` (`script`, `begun_on`),
//! sim.rs::`a_run_says_where_each_job_began_and_ran` (`workload`).
//!
//! Callers: sim.rs (`workload`).
//!
//! Tests: below

use super::sets::{Set, Step, TaskSpec};
use super::sim::Conditions;
use wakeplace_workload::{
    Calibration, Change, Event, Loops, Phase, Shared, Start, StartLine, TaskScript, Timer,
    TimerMode, Workload,
};

/// Work of a task that never sleeps: more than any run is long, ns.
const ENDLESS_NS: u64 = 1_000_000_000_000;

/// The set as a workload. `work_more_ns`: by how much each task's jobs are longer than the set
/// says. `all_cpus`: those of the machine.
pub(super) fn workload(
    set: &Set,
    work_more_ns: &[i64],
    conditions: &Conditions,
    start_ns: u64,
    all_cpus: &[u32],
) -> Workload {
    let timer = |task: &TaskSpec| Timer {
        name: task.name.clone(),
        mode: TimerMode::Absolute,
        start_delay_ns: start_ns + task.delay_ns,
    };
    let more = work_more_ns.iter().copied().chain(std::iter::repeat(0));
    let begin = conditions.begin.iter().copied();
    let begin = begin.chain(std::iter::repeat(None));
    Workload {
        name: set.name.clone(),
        calibration: Calibration::Biggest,
        tasks: (0..)
            .zip(&set.tasks)
            .zip(more.zip(begin))
            .map(|((at, task), (more, begin))| {
                let script = script(at, task, more, start_ns);
                match begin {
                    Some(cpu) => begun_on(script, cpu, all_cpus),
                    None => script,
                }
            })
            .collect(),
        // The load program's gate: its first thread opens it when all have come.
        start: Start {
            at_ns: 0,
            line: StartLine::Creator { sync: false },
        },
        timers: set.tasks.iter().map(timer).collect(),
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

/// A task of a set as a script of the simulator.
fn script(timer: u32, task: &TaskSpec, more_ns: i64, start_ns: u64) -> TaskScript {
    let phase = |loops, events| Phase {
        name: task.name.clone(),
        loops,
        cpus: None,
        change: Change::default(),
        memory_nodes: None,
        events,
    };
    let period_ns = task.period_ns;
    let periodic = |step: &Step| {
        let work_ns = step.work_ns.saturating_add_signed(more_ns);
        let loops = step.jobs.map_or(Loops::Forever, Loops::Times);
        phase(
            loops,
            vec![Event::Run { work_ns }, Event::Timer { timer, period_ns }],
        )
    };
    let phases = match task.steps.is_empty() {
        true => vec![phase(
            Loops::Forever,
            vec![Event::Run {
                work_ns: ENDLESS_NS,
            }],
        )],
        false => task.steps.iter().map(periodic).collect(),
    };
    TaskScript {
        delay_ns: start_ns + task.delay_ns,
        ..TaskScript::new(&task.name, Loops::Times(1), phases)
    }
}

/// A task that may use one CPU only until its first job is done, and all of them from then on.
fn begun_on(script: TaskScript, cpu: u32, all_cpus: &[u32]) -> TaskScript {
    let mut phases = script.phases;
    if let Loops::Times(jobs) = phases[0].loops {
        phases[0].loops = Loops::Times(jobs.saturating_sub(1));
    }
    let first = Phase {
        loops: Loops::Times(1),
        ..phases[0].clone()
    };
    phases.retain(|phase| phase.loops != Loops::Times(0));
    for phase in &mut phases {
        phase.cpus = Some(all_cpus.to_vec());
    }
    phases.insert(0, first);
    TaskScript {
        cpus: Some(vec![cpu]),
        phases,
        ..script
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: only where a task begins differs. Method: jobs by their number in both forms.
    #[test]
    fn a_task_that_begins_somewhere_has_the_same_jobs() {
        let step = |jobs, work_ns| Step { jobs, work_ns };
        for steps in [
            vec![step(None, 5)],
            vec![step(Some(1), 5), step(None, 9)],
            vec![step(Some(3), 5), step(None, 9)],
        ] {
            let task = TaskSpec {
                name: "t".to_owned(),
                period_ns: 100,
                delay_ns: 7,
                steps,
            };
            let jobs = |script: &TaskScript| -> Vec<Event> {
                let phases = script.phases.iter().flat_map(|phase| {
                    let times = match phase.loops {
                        Loops::Times(times) => times,
                        _ => 9,
                    };
                    (0..times).map(|_| phase.events[0])
                });
                phases.take(9).collect()
            };
            let free = script(0, &task, 0, 0);
            let begun = begun_on(free.clone(), 3, &[0, 1, 2, 3]);
            assert_eq!(jobs(&free), jobs(&begun));
            assert_eq!(begun.cpus, Some(vec![3]));
            assert_eq!(begun.phases[0].cpus, None);
            assert!(begun.phases[1..].iter().all(|phase| phase.cpus.is_some()));
        }
    }
}

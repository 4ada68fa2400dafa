//! A workload's scripts as a job for the load generator in the guest (docs/guide/lab.md). What a
//! guest cannot do as the simulator does is refused.
//!
//! What must stay: times are ns, work is scaled to the guest's CPU of 1024. The form of a job is
//! `crates/guest/src/job.rs`'. Free: words of refusals, but for those that tests quote.
//!
//! Tests by part: `a_periodic_workload_becomes_a_job` (`job`, `translate`, `task`, `phase`, `op`,
//! `loops`), `work_meant_for_a_small_cpu_is_less_on_a_big_one` (`scaled`),
//! `affinity_is_in_the_guests_numbers` (`cpus`), `a_wrong_workload_is_the_users_fault` (`job`:
//! refusals), crates/cli/tests/all/lab.rs::`a_right_request_gets_as_far_as_the_cache` (`job_of`).
//! `check_steps`, `unknown`, `speeds` and `calibration_speed` have no test of their own.
//!
//! Callers: run.rs (`job`), crates/cli/src/commands/lab.rs (`job_of`).
//!
//! Tests: below, crates/cli/tests/all/lab.rs

use crate::machine::Machine;
use crate::{Arch, LabError};
use wakeplace_guest::job;
use wakeplace_workload::{
    Attributes, Calibration, Change, Event, LoadOptions, Loops, MachineFacts, Phase, Spec,
    TaskScript, TimerMode, Workload,
};

/// The tasks run this long before the measured window, so that the scheduler knows them: some sixty
/// half-lives (32 ms) of its averages, ns.
pub const WARM_UP_NS: u64 = 2_000_000_000;
/// Measured window where neither the user nor the workload says one, ns.
const WINDOW_NS: u64 = 10_000_000_000;

/// Makes the job file of a workload on a machine.
///
/// # Errors
/// When the workload is wrong or does not fit the machine.
pub fn job(
    argument: &str,
    seed: u64,
    window_ns: Option<u64>,
    trace: bool,
    arch: Arch,
    machine: &Machine,
) -> Result<String, LabError> {
    let spec = Spec::parse(argument, &LoadOptions::default());
    let spec = spec.map_err(|error| LabError::Request(error.to_string()))?;
    job_of(&spec, seed, window_ns, trace, arch, machine)
}

/// Makes a job of a workload that is read already.
///
/// # Errors
/// When it does not fit the machine or the guest.
pub fn job_of(
    spec: &Spec,
    seed: u64,
    window_ns: Option<u64>,
    trace: bool,
    arch: Arch,
    machine: &Machine,
) -> Result<String, LabError> {
    let wrong = |error: &dyn std::fmt::Display| LabError::Request(error.to_string());
    let argument = &spec.name;
    let capacities = machine.capacities();
    let facts = MachineFacts {
        capacities: &capacities,
    };
    let workload = spec.expand(seed, facts).map_err(|error| wrong(&error))?;
    if let Some(channel) = (workload.shared.channels.iter()).find(|c| c.units > 0) {
        return Err(LabError::Request(format!(
            "workload `{}`: channel `{}` holds {} units at the start; in a guest all begin at 0",
            workload.name, channel.name, channel.units
        )));
    }
    let plain = |task: &&TaskScript| {
        // Which process a task is a thread of is the guest's own.
        let process = task.attributes.process;
        let usual = Attributes {
            process,
            ..Attributes::default()
        };
        task.attributes == usual
    };
    if let Some(task) = workload.tasks.iter().find(|task| !plain(task)) {
        let name = &task.name;
        return Err(wrong(&format!(
            "task `{name}`: guests run tasks of the fair class that sleep by timers; expected \
             `policy` other, batch or idle, no `sleep=io` and no `wake=here`"
        )));
    }
    if let [group, ..] = workload.groups.as_slice() {
        return Err(LabError::Request(format!(
            "workload `{argument}`: task group `{}`; the guest has no groups",
            group.name
        )));
    }
    check_steps(&workload)?;
    let guest_cpu = machine.guest_cpus(arch)?;
    let job = translate(&workload, machine, &guest_cpu, window_ns, trace);
    let text = serde_json::to_string(&job).map_err(|error| wrong(&error))?;
    // The reader's own limits, before anything is booted.
    job::Job::parse(argument, &text).map_err(|error| wrong(&error))?;
    Ok(text)
}

/// Guests have no steps but those of `Translation::op`, and no changes but of the nice value.
fn check_steps(workload: &Workload) -> Result<(), LabError> {
    let refuse = |task: &TaskScript, what: &str| {
        Err(LabError::Request(format!(
            "workload `{}`: task `{}` {what}, which the guest cannot do; expected tasks that run, \
             sleep, use timers, yield, post and wait",
            workload.name, task.name
        )))
    };
    if let Some(channel) = (workload.shared.channels.iter()).find(|c| c.limit.is_some()) {
        return Err(LabError::Request(format!(
            "workload `{}`: channel `{}` has a limit; in a guest there are none",
            workload.name, channel.name
        )));
    }
    for task in &workload.tasks {
        if task.forks.is_some() {
            return refuse(task, "is there to be forked");
        }
        if task.uclamp_min.is_some() || task.uclamp_max.is_some() {
            return refuse(task, "has performance hints");
        }
        for phase in &task.phases {
            let only_nice = Change {
                nice: phase.change.nice,
                ..Change::default()
            };
            if phase.change != only_nice || phase.memory_nodes.is_some() {
                return refuse(task, "changes more than its nice value and its CPUs");
            }
            if let Some(what) = phase.events.iter().find_map(|event| unknown(*event)) {
                return refuse(task, what);
            }
        }
    }
    match workload
        .timers
        .iter()
        .find(|t| t.mode == TimerMode::Overrun)
    {
        Some(timer) => Err(LabError::Request(format!(
            "workload `{}`: timer `{}` leaves out what it missed; in a guest expected one that is \
             relative or absolute",
            workload.name, timer.name
        ))),
        None => Ok(()),
    }
}

/// What a step does that guests cannot. None: it can be done.
fn unknown(event: Event) -> Option<&'static str> {
    match event {
        Event::Run { .. }
        | Event::Runtime { .. }
        | Event::Sleep { .. }
        | Event::Timer { .. }
        | Event::Yield
        | Event::Post { .. }
        | Event::Wait { .. }
        | Event::FrameBegin { .. }
        | Event::FrameEnd { .. }
        | Event::Count { .. } => None,
        Event::Stall { .. } => Some("waits for memory"),
        Event::Io { .. } => Some("waits for a device"),
        Event::Lock { .. } | Event::Unlock { .. } => Some("uses a mutex"),
        Event::Signal { .. } | Event::Await { .. } => Some("uses a condition"),
        Event::Barrier { .. } => Some("waits at a barrier"),
        Event::Fork { .. } => Some("forks"),
        Event::Exec => Some("runs another program"),
        Event::Claim { .. } => Some("takes numbers of a counter"),
        Event::ExitAfter { .. } => Some("ends after a time"),
        Event::Mark | Event::Sample { .. } => Some("measures times"),
    }
}

/// The scripts as a job; what a guest cannot do was refused before.
fn translate(
    workload: &Workload,
    machine: &Machine,
    guest_cpu: &[u32],
    window_ns: Option<u64>,
    trace: bool,
) -> job::Job {
    let translation = Translation {
        guest_cpu,
        speed: calibration_speed(workload, machine),
    };
    let timer = |timer: &wakeplace_workload::Timer| job::Timer {
        mode: match timer.mode {
            TimerMode::Relative => job::TimerMode::Relative,
            // `check_steps` has refused the other mode.
            TimerMode::Absolute | TimerMode::Overrun => job::TimerMode::Absolute,
        },
        start_delay_ns: timer.start_delay_ns,
    };
    job::Job {
        warm_up_ns: WARM_UP_NS,
        window_ns: window_ns.or(workload.duration_ns).unwrap_or(WINDOW_NS),
        frequency_invariant: true,
        speeds: speeds(machine, guest_cpu),
        start_offset_ns: 0,
        trace,
        timers: workload.timers.iter().map(timer).collect(),
        events: u32::try_from(workload.shared.channels.len()).unwrap_or(u32::MAX),
        tasks: workload
            .tasks
            .iter()
            .map(|task| translation.task(task))
            .collect(),
    }
}

/// By the guest's CPU numbers, where one's speed is not what the guest's kernel is told.
fn speeds(machine: &Machine, guest_cpu: &[u32]) -> Vec<u32> {
    let cpus = machine.platform.iter().flat_map(|platform| &platform.cpus);
    let mut rows: Vec<_> = guest_cpu.iter().zip(cpus).collect();
    if rows.iter().all(|(_, cpu)| cpu.speed == cpu.capacity) {
        return Vec::new();
    }
    rows.sort_unstable_by_key(|(number, _)| **number);
    rows.iter().map(|(_, cpu)| cpu.speed).collect()
}

/// Speed of the CPU on which the workload's times are meant.
fn calibration_speed(workload: &Workload, machine: &Machine) -> u64 {
    match (workload.calibration, &machine.platform) {
        (Calibration::Cpu(cpu), Some(platform)) => platform
            .cpus
            .get(cpu as usize)
            .map_or(1024, |cpu| u64::from(cpu.speed)),
        (Calibration::Biggest | Calibration::Cpu(_), _) => 1024,
    }
}

struct Translation<'a> {
    guest_cpu: &'a [u32],
    speed: u64,
}

impl Translation<'_> {
    /// A task's script as a job's.
    fn task(&self, task: &TaskScript) -> job::Task {
        job::Task {
            name: task.name.clone(),
            nice: task.nice,
            policy: job::Policy::Other,
            affinity: self.cpus(task.cpus.as_deref()),
            delay_ns: task.delay_ns,
            forked: false,
            loops: loops(task.loops),
            phases: task.phases.iter().map(|phase| self.phase(phase)).collect(),
        }
    }

    /// Translates a phase of a task.
    fn phase(&self, phase: &Phase) -> job::Phase {
        job::Phase {
            loops: loops(phase.loops),
            affinity: self.cpus(phase.cpus.as_deref()),
            nice: phase.change.nice,
            ops: (phase.events.iter())
                .filter_map(|event| self.op(*event))
                .collect(),
        }
    }

    /// In the guest's numbers, ascending; CPUs that were cut away are left out. None: all.
    fn cpus(&self, cpus: Option<&[u32]>) -> Option<Vec<u32>> {
        let guest = |cpu: &u32| self.guest_cpu.get(*cpu as usize).copied();
        let mut cpus: Vec<u32> = cpus?.iter().filter_map(guest).collect();
        cpus.sort_unstable();
        Some(cpus)
    }

    /// None: nothing to do for it.
    fn op(&self, event: Event) -> Option<job::Op> {
        Some(match event {
            Event::Run { work_ns } => job::Op::Run {
                work_ns: scaled(work_ns, self.speed),
            },
            Event::Runtime { wall_ns } => job::Op::Runtime { wall_ns },
            Event::Sleep { duration_ns } => job::Op::Sleep { duration_ns },
            Event::Timer { timer, period_ns } => job::Op::Timer { timer, period_ns },
            Event::Yield => job::Op::Yield,
            Event::Wait { channel } => job::Op::Wait { event: channel },
            // Whether a wake-up is a sync one is the kernel's to know: this one is a futex's.
            Event::Post { channel, .. } => job::Op::Signal { event: channel },
            // The window counts what it needs; the rest `check_steps` has refused.
            _ => return None,
        })
    }
}

/// Work in time of a CPU of some speed, as time of one of 1024.
fn scaled(work_ns: u64, speed: u64) -> u64 {
    let work = u128::from(work_ns) * u128::from(speed) / 1024;
    u64::try_from(work).unwrap_or(u64::MAX)
}

/// Gives the number of loops as the job file says it.
fn loops(loops: Loops) -> job::Loops {
    match loops {
        Loops::Forever => job::Loops::Forever,
        Loops::Times(times) => job::Loops::Times(times),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_periodic_workload_becomes_a_job() {
        let machine = Machine::load("hikey960", Arch::Arm64, None).expect("built in");
        let argument = "periodic:n=3,period=16ms,duty=5%";
        let text = job(
            argument,
            1,
            Some(1_000_000_000),
            true,
            Arch::Arm64,
            &machine,
        );
        let job = job::Job::parse("job", &text.expect("a job")).expect("valid");
        assert_eq!(
            (job.tasks.len(), job.window_ns, job.trace),
            (3, 1_000_000_000, true)
        );
        let ops = &job.tasks[0].phases[0].ops;
        // 5 % of 16 ms on the biggest CPU.
        assert!(ops.contains(&job::Op::Run { work_ns: 800_000 }), "{ops:?}");
        assert!(
            matches!(
                ops[..],
                [
                    ..,
                    job::Op::Timer {
                        period_ns: 16_000_000,
                        ..
                    }
                ]
            ),
            "{ops:?}"
        );
    }

    #[test]
    fn work_meant_for_a_small_cpu_is_less_on_a_big_one() {
        assert_eq!(scaled(1_000_000, 1024), 1_000_000);
        assert_eq!(scaled(1_000_000, 512), 500_000);
        assert_eq!(scaled(u64::MAX, 1024), u64::MAX);
    }

    #[test]
    fn affinity_is_in_the_guests_numbers() {
        let translation = Translation {
            guest_cpu: &[0, 2, 1, 3],
            speed: 1024,
        };
        assert_eq!(translation.cpus(Some(&[1, 3])), Some(vec![2, 3]));
        assert_eq!(translation.cpus(None), None);
    }

    #[test]
    fn a_wrong_workload_is_the_users_fault() {
        let machine = Machine::load("generic", Arch::X86_64, None).expect("plain");
        let error = job("periodc:n=3", 1, None, false, Arch::X86_64, &machine).expect_err("wrong");
        assert_eq!(error.class(), crate::Class::Input);
        assert!(error.to_string().contains("periodic"), "{error}");
        let class = "periodic:policy=fifo";
        let error = job(class, 1, None, false, Arch::X86_64, &machine).expect_err("no such guest");
        assert!(error.to_string().contains("fair class"), "{error}");
    }
}

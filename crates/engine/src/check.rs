//! What must hold before a run. The engine cannot fail: what a run may not be is refused here, and
//! a new input of a run has its check here. A message names what is wrong, for the command line to
//! show (ARCHITECTURE.md, "Invariants").
//!
//! What must stay: a run that passes here cannot fail later, so a check may become stricter only
//! where a run would be wrong. The first problem found is the answer, in the order of `check`;
//! words of messages are free but for what tests quote. Free: how a check is done, and a new check
//! for a new input. Tests by part: classes.rs::`admission` and classes.rs::`admission_by_capacity`
//! (`check_classes`), `devices_and_caps_must_fit_the_machine` (`check_hardware`),
//! `new_tables_must_fit_the_machine` (`check_em_scale`), measures.rs::`stalls_take_time_not_work`
//! (`check_nodes`), idle.rs::`teo_is_of_the_era` (`check_idle`), `impossible_schedules_are_refused`
//! and power.rs::`what_is_built_cannot_change` (the order of `check`). `check_cpus` has no test of
//! its own. `deadline_bandwidths` by classes.rs::`admission`. `check_changes` (the error
//! `LateChange`) and `energy_inactive` have no test of their own here.
//!
//! Callers: crates/study/src/experiment.rs (`check`), explain/mod.rs (`energy_inactive`).
//!
//! Tests: crates/engine/tests/behaviour/classes.rs::devices_and_caps_must_fit_the_machine,
//! crates/engine/tests/behaviour/groups.rs::what_cannot_have_groups_is_refused,
//! crates/engine/tests/behaviour/hotplug.rs::impossible_schedules_are_refused,
//! crates/engine/tests/behaviour/energy.rs::new_tables_must_fit_the_machine

mod groups;

use crate::hardware::EmScale;
use crate::hotplug::{self, HotplugError};
use crate::machine::{core_facts, em_states};
use crate::options::{CpuIdle, Options};
use crate::policy_change::{self, PolicyChangeError};
pub use groups::check_sched_ext;
use thiserror::Error;
use wakeplace_platform::{Cpu, Platform};
use wakeplace_policy_sys::sys::WP_TEO_NONE;
use wakeplace_policy_sys::{Core, MachineError, Policy};
use wakeplace_workload::{Calibration, PolicyChange, RealTime, TaskScript, Workload, time};

/// Powers that the energy model takes, uW (`EM_MAX_POWER`).
const EM_POWER_UW: std::ops::RangeInclusive<u32> = 1..=64_000_000;

/// Inputs that are each valid but do not go together.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The policy core refuses the machine.
    #[error("platform `{platform}`: {error}")]
    Machine {
        /// Its name.
        platform: String,
        /// Why.
        error: MachineError,
    },
    /// No simulated time.
    #[error("the duration is 0; expected a positive time such as `30s`")]
    NoDuration,
    /// The workload has no threads.
    #[error("workload `{0}` has 0 tasks")]
    NoTasks(String),
    /// The parent's CPU is one that the machine lacks.
    #[error("model.parent_cpu is {cpu}, but `{platform}` has CPUs 0 to {last}")]
    NoParentCpu {
        /// The CPU.
        cpu: u32,
        /// Platform name.
        platform: String,
        /// Its last CPU.
        last: usize,
    },
    /// More deadline tasks than the machine can serve.
    #[error(
        "workload `{workload}`: its deadline tasks need {percent} % of a CPU, but {cpus} CPUs \
         admit at most {most} % (95 % {of})"
    )]
    DeadlineBandwidth {
        /// Workload name.
        workload: String,
        /// Sum of runtime / period, rounded up.
        percent: u64,
        /// CPUs of the machine.
        cpus: usize,
        /// What they admit.
        most: u64,
        /// Of what that is 95 %.
        of: &'static str,
    },
    /// A deadline task that may not run everywhere.
    #[error(
        "workload `{workload}`: task `{task}` is SCHED_DEADLINE and pinned; expected a deadline \
         task that may use all CPUs, as Linux demands"
    )]
    PinnedDeadline {
        /// Workload name.
        workload: String,
        /// Task name.
        task: String,
    },
    /// A device at a CPU that the machine lacks.
    #[error("model.irq interrupts CPU {cpu}, but `{platform}` has CPUs 0 to {last}")]
    NoIrqCpu {
        /// The CPU.
        cpu: u32,
        /// Platform name.
        platform: String,
        /// Its last CPU.
        last: usize,
    },
    /// The price of a kernel's accesses is asked for where no kernel's code runs.
    #[error(
        "model.coherence: policy `{policy}` is no kernel's own code; expected `kernel:VERSION` or \
         `kernel:PATH`, as `kernel:6.12`"
    )]
    NoAccesses {
        /// The policy's name.
        policy: String,
    },
    /// Lines are asked for that have no price.
    #[error(
        "--lines: cache lines have no price in this run; expected `--set model.coherence=on` \
         beside it"
    )]
    NoLines,
    /// The machine does not say what a cache line costs.
    #[error(
        "model.coherence: platform `{platform}` does not say what a cache line costs; expected \
         one with `[coherence]`, as `spr-2s`"
    )]
    NoLineCosts {
        /// Platform name.
        platform: String,
    },
    /// A cap of a frequency domain that the machine lacks.
    #[error("model.freq_cap: frequency domain {domain}, but `{platform}` has domains 0 to {last}")]
    NoFreqDomain {
        /// The domain.
        domain: u32,
        /// Platform name.
        platform: String,
        /// Its last domain.
        last: usize,
    },
    /// A cap at no operating point.
    #[error("model.freq_cap: {khz} kHz is no frequency of domain {domain}; it has {known}")]
    NoSuchFrequency {
        /// The cap.
        khz: u32,
        /// The domain.
        domain: u32,
        /// Its frequencies.
        known: String,
    },
    /// A table of a domain that has none.
    #[error("model.em_scale: {what}; expected {expected}")]
    NoEnergyModel {
        /// What is wrong.
        what: String,
        /// What there is.
        expected: String,
    },
    /// A change of the hardware that never comes.
    #[error(
        "{key}: a change at {}, and the run is over at {}; expected a time before that, or a \
         longer `--duration`",
        time(*.at_ns),
        time(*.end_ns)
    )]
    LateChange {
        /// The setting.
        key: &'static str,
        /// When it would be, ns.
        at_ns: u64,
        /// The end of the run, ns.
        end_ns: u64,
    },
    /// The kernel has no such governor.
    #[error(
        "model.cpuidle=teo: the kernel of policy `{policy}` has no teo governor (5.1 is the first \
         with one); expected `menu`, `ladder` or `none`, or a form of it by the parameter `teo`"
    )]
    NoTeo {
        /// Policy name.
        policy: String,
    },
    /// Heat of a machine that says nothing of it.
    #[error("model.thermal=on: `{0}` has no `[[thermal]]` table; expected a platform with one")]
    NoHeat(String),
    /// A CPU that the machine lacks.
    #[error("workload `{workload}`: {what} CPU {cpu}, but `{platform}` has CPUs 0 to {last}")]
    NoSuchCpu {
        /// Workload name.
        workload: String,
        /// Who names it.
        what: String,
        /// The CPU.
        cpu: u32,
        /// Platform name.
        platform: String,
        /// Its last CPU.
        last: usize,
    },
    /// A node that the machine lacks.
    #[error(
        "workload `{workload}`: task `{task}` has memory on node {node}, but `{platform}` has \
         nodes 0 to {last}"
    )]
    NoSuchNode {
        /// Workload name.
        workload: String,
        /// Task name.
        task: String,
        /// The node.
        node: u32,
        /// Platform name.
        platform: String,
        /// Its last node.
        last: u32,
    },
    /// No thread is there at the start.
    #[error(
        "workload `{0}`: all its tasks are there to be forked only; expected one that is there at \
         the start"
    )]
    NothingStarts(String),
    /// CPUs cannot come and go like that.
    #[error(transparent)]
    Hotplug(#[from] HotplugError),
    /// The policy cannot change like that.
    #[error(transparent)]
    PolicyChange(#[from] PolicyChangeError),
    /// Task groups under queues that have none.
    #[error(
        "policy `{policy}`: the live scheduler's queues (queue=dsq) have no task groups, but \
         workload `{workload}` has {groups}; expected queue=cfs or queue=eevdf"
    )]
    NoGroups {
        /// Policy name.
        policy: String,
        /// Workload name.
        workload: String,
        /// How many.
        groups: usize,
    },
    /// Task groups where a queue's load is not the sum of its tasks'.
    #[error(
        "policy `{policy}`: task groups need load averages that add up, unlike those of \
         pelt_scale={pelt_scale}, weight_is_load={weight_is_load}, but workload `{workload}` has \
         {groups}; \
         expected an era from linux-4.7 on"
    )]
    NoGroupSignals {
        /// Policy name.
        policy: String,
        /// Two of its parameters.
        pelt_scale: String,
        /// ... and the second.
        weight_is_load: String,
        /// Workload name.
        workload: String,
        /// How many.
        groups: usize,
    },
    /// Limits that only a kernel's own queues keep.
    #[error(
        "a sched_ext scheduler has the tasks: nothing keeps cpu.max of task group `{group}` of \
         workload `{workload}`; expected a policy without a scheduler, or no cpu.max"
    )]
    NoBandwidth {
        /// The workload's name.
        workload: String,
        /// The group.
        group: String,
    },
    /// A file of a group that the kernel's version lacks.
    #[error(
        "policy `{policy}`: its kernel has no {file} ({since}), which workload `{workload}` sets \
         for task group `{group}`; expected a later kernel or {key}=on"
    )]
    NoGroupFile {
        /// The policy's name.
        policy: String,
        /// The workload's name.
        workload: String,
        /// The group.
        group: Box<str>,
        /// The file.
        file: &'static str,
        /// Since when there is one.
        since: &'static str,
        /// The parameter that gives it to the policy.
        key: &'static str,
    },
    /// Shares for a group that the workload lacks.
    #[error("model.shares: workload `{workload}` has no task group `{group}`; {known}")]
    NoSuchGroup {
        /// Workload name.
        workload: String,
        /// The group.
        group: String,
        /// Those that it has.
        known: String,
    },
}

/// Can this workload run on this machine under this policy?
///
/// # Errors
/// The first reason why not.
pub fn check(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> Result<(), RunError> {
    if options.duration_ns == 0 {
        return Err(RunError::NoDuration);
    }
    if workload.tasks.is_empty() {
        return Err(RunError::NoTasks(workload.name.clone()));
    }
    if workload.tasks.iter().all(|task| task.forks.is_some()) {
        return Err(RunError::NothingStarts(workload.name.clone()));
    }
    if let Some(cpu) = options.parent_cpu
        && cpu as usize >= platform.cpus.len()
    {
        return Err(RunError::NoParentCpu {
            cpu,
            platform: platform.name.clone(),
            last: platform.cpus.len() - 1,
        });
    }
    check_cpus(platform, workload)?;
    check_nodes(platform, workload)?;
    hotplug::check(&options.hotplug, platform, workload, options.duration_ns)?;
    policy_change::check(&options.policy_at, policy, options.duration_ns)?;
    check_classes(platform, policy, workload)?;
    check_hardware(platform, options)?;
    check_idle(policy, options)?;
    check_coherence(platform, policy, options)?;
    groups::check_groups(policy, workload, options)?;
    Core::new(&core_facts(platform, policy), policy.core_params()).map_err(|error| {
        RunError::Machine {
            platform: platform.name.clone(),
            error,
        }
    })?;
    check_changes(options)
}

/// Makes the kernel's admission test: bandwidths add up to 95 % of the CPUs at most, from 5.9 on of
/// their capacities (`dl_bw_capacity()`), and where a deadline task may run is everybody's.
fn check_classes(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
) -> Result<(), RunError> {
    const WHOLE: u128 = 1 << 20;
    let mut sum = 0;
    for task in &workload.tasks {
        let Some(most) = deadline_bandwidths(task, WHOLE).max() else {
            continue;
        };
        sum += most;
        if task.cpus.is_some() || task.phases.iter().any(|p| p.cpus.is_some()) {
            return Err(RunError::PinnedDeadline {
                workload: workload.name.clone(),
                task: task.name.clone(),
            });
        }
    }
    let by_capacity = policy.core_params().rt_fits != 0;
    let capacity = |cpu: &Cpu| {
        if by_capacity {
            cpu.capacity.into()
        } else {
            1024
        }
    };
    let most = platform.cpus.iter().map(capacity).sum::<u64>() * 95;
    if sum * 100 * 1024 > u128::from(most) * WHOLE {
        return Err(RunError::DeadlineBandwidth {
            workload: workload.name.clone(),
            percent: (sum * 100).div_ceil(WHOLE) as u64,
            cpus: platform.cpus.len(),
            most: most / 1024,
            of: if by_capacity {
                "of their capacities"
            } else {
                "each"
            },
        });
    }
    Ok(())
}

/// Checks that the policy's kernel has the governor of idle states.
fn check_idle(policy: &Policy, options: &Options) -> Result<(), RunError> {
    if options.cpuidle == CpuIdle::Teo && policy.core_params().teo == WP_TEO_NONE {
        return Err(RunError::NoTeo {
            policy: policy.name().to_owned(),
        });
    }
    Ok(())
}

/// The price of accesses is asked for where a kernel makes some, on a machine that states it.
fn check_coherence(
    platform: &Platform,
    policy: &Policy,
    options: &Options,
) -> Result<(), RunError> {
    if !options.coherence {
        return match options.lines {
            0 => Ok(()),
            _ => Err(RunError::NoLines),
        };
    }
    if policy.tree().is_none() {
        return Err(RunError::NoAccesses {
            policy: policy.name().to_owned(),
        });
    }
    check_line_costs(platform)
}

/// A machine on which accesses are priced says what a cache line costs.
///
/// # Errors
/// It does not.
pub fn check_line_costs(platform: &Platform) -> Result<(), RunError> {
    match platform.coherence {
        Some(_) => Ok(()),
        None => Err(RunError::NoLineCosts {
            platform: platform.name.clone(),
        }),
    }
}

/// Checks that devices and caps name what the machine has.
fn check_hardware(platform: &Platform, options: &Options) -> Result<(), RunError> {
    let last = platform.cpus.len() - 1;
    for device in &options.irq {
        if device.cpu as usize > last {
            let (cpu, platform) = (device.cpu, platform.name.clone());
            return Err(RunError::NoIrqCpu {
                cpu,
                platform,
                last,
            });
        }
    }
    if options.thermal && platform.thermal.is_empty() {
        return Err(RunError::NoHeat(platform.name.clone()));
    }
    for cap in &options.freq_cap {
        let Some(domain) = platform.freq_domains.get(cap.domain as usize) else {
            return Err(RunError::NoFreqDomain {
                domain: cap.domain,
                platform: platform.name.clone(),
                last: platform.freq_domains.len() - 1,
            });
        };
        if let Some(khz) = cap.khz
            && domain.opps.iter().all(|opp| opp.khz != khz)
        {
            let known: Vec<_> = domain.opps.iter().map(|o| o.khz.to_string()).collect();
            return Err(RunError::NoSuchFrequency {
                khz,
                domain: cap.domain,
                known: known.join(", "),
            });
        }
    }
    options
        .em_scale
        .iter()
        .try_for_each(|scale| check_em_scale(platform, scale))
}

/// Checks that changes of the hardware come before the end of the run.
fn check_changes(options: &Options) -> Result<(), RunError> {
    let caps = options.freq_cap.iter();
    let scales = options.em_scale.iter();
    let mut changes = caps
        .map(|cap| ("model.freq_cap", cap.at_ns))
        .chain(scales.map(|scale| ("model.em_scale", scale.at_ns)));
    let end_ns = options.duration_ns;
    let late = changes.find(|(_, at_ns)| *at_ns >= end_ns);
    late.map_or(Ok(()), |(key, at_ns)| {
        Err(RunError::LateChange { key, at_ns, end_ns })
    })
}

/// Checks that tables are of domains with powers, and theirs are what the kernel takes.
fn check_em_scale(platform: &Platform, scale: &EmScale) -> Result<(), RunError> {
    let name = &platform.name;
    let refuse = |what, expected| Err(RunError::NoEnergyModel { what, expected });
    let Some(domain) = platform.freq_domains.get(scale.domain as usize) else {
        let last = platform.freq_domains.len() - 1;
        let what = format!("frequency domain {}", scale.domain);
        return refuse(what, format!("0 to {last}, the domains of `{name}`"));
    };
    let in_model = platform.has_energy_model && domain.opps[0].power.is_some();
    if !in_model || domain.em_costs.is_some() {
        let what = format!("domain {} of `{name}` has no model by power", scale.domain);
        return refuse(
            what,
            "a platform with powers and no costs of its own".into(),
        );
    }
    let states = em_states(platform.power_unit, domain, scale.percent);
    match states.iter().find(|(_, uw)| !EM_POWER_UW.contains(uw)) {
        Some((khz, uw)) => {
            let what = format!("{} % makes {uw} uW of {khz} kHz", scale.percent);
            refuse(what, "1 uW to 64 W".into())
        }
        None => Ok(()),
    }
}

/// The bandwidths that a task has as a deadline task, at its start or by a phase.
fn deadline_bandwidths(task: &TaskScript, whole: u128) -> impl Iterator<Item = u128> + '_ {
    let changes = task.phases.iter().filter_map(|p| match p.change.policy {
        Some(PolicyChange::RealTime(kind)) => Some(kind),
        _ => None,
    });
    let kinds = task.attributes.realtime.into_iter().chain(changes);
    kinds.filter_map(move |kind| match kind {
        RealTime::Deadline {
            runtime_ns,
            period_ns,
            ..
        } => Some(u128::from(runtime_ns) * whole / u128::from(period_ns.max(1))),
        RealTime::Fifo { .. } | RealTime::RoundRobin { .. } => None,
    })
}

/// Checks that memory is bound to nodes that the machine has.
fn check_nodes(platform: &Platform, workload: &Workload) -> Result<(), RunError> {
    let last = platform.cpus.iter().map(|cpu| cpu.node).max().unwrap_or(0);
    for task in &workload.tasks {
        let nodes = task.phases.iter().flat_map(|p| &p.memory_nodes).flatten();
        if let Some(node) = nodes.copied().find(|node| *node > last) {
            return Err(RunError::NoSuchNode {
                workload: workload.name.clone(),
                task: task.name.clone(),
                node,
                platform: platform.name.clone(),
                last,
            });
        }
    }
    Ok(())
}

/// Checks that CPUs that tasks name exist.
fn check_cpus(platform: &Platform, workload: &Workload) -> Result<(), RunError> {
    let exists = |cpu: u32, what: &dyn Fn() -> String| {
        if (cpu as usize) < platform.cpus.len() {
            return Ok(());
        }
        Err(RunError::NoSuchCpu {
            workload: workload.name.clone(),
            what: what(),
            cpu,
            platform: platform.name.clone(),
            last: platform.cpus.len() - 1,
        })
    };
    if let Calibration::Cpu(cpu) = workload.calibration {
        exists(cpu, &|| "times are calibrated on".to_owned())?;
    }
    for task in &workload.tasks {
        let lists = task.phases.iter().map(|p| &p.cpus).chain([&task.cpus]);
        for cpu in lists.flatten().flatten() {
            exists(*cpu, &|| format!("task `{}` is pinned to", task.name))?;
        }
    }
    Ok(())
}

/// Why the energy-aware rule is inactive on this machine although the policy asks for it. None: it
/// is active, or not asked for.
#[must_use]
pub fn energy_inactive(platform: &Platform, policy: &Policy) -> Option<&'static str> {
    Core::new(&core_facts(platform, policy), policy.core_params())
        .ok()?
        .energy_inactive()
}

//! What must hold before a run.

use crate::machine::core_facts;
use crate::options::Options;
use thiserror::Error;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Core, MachineError, Policy};
use wakeplace_workload::{Calibration, Workload};

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
    if options.parent_cpu as usize >= platform.cpus.len() {
        return Err(RunError::NoParentCpu {
            cpu: options.parent_cpu,
            platform: platform.name.clone(),
            last: platform.cpus.len() - 1,
        });
    }
    check_cpus(platform, workload)?;
    Core::new(&core_facts(platform), policy.core_params())
        .map(|_| ())
        .map_err(|error| RunError::Machine {
            platform: platform.name.clone(),
            error,
        })
}

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

/// Why the energy-aware rule is inactive on this machine although the policy asks for it.
#[must_use]
pub fn energy_inactive(platform: &Platform, policy: &Policy) -> Option<&'static str> {
    Core::new(&core_facts(platform), policy.core_params())
        .ok()?
        .energy_inactive()
}

//! Limits of task groups in a model's argument: `cpu_max=20ms/100ms`, `cpu_burst=`, `cpu_idle=`,
//! `cpu_uclamp_min=`, `cpu_uclamp_max=`, `group_cpus=`. Each has one value for all groups or one
//! for each.
//!
//! Called by `periodic.rs`. Times are ns. What a limit may be is the kernel's rule
//! (docs/rules/group-bandwidth.md). Keys stay.
//!
//! What must stay: the keys; one value holds for all groups, several are one for each group in the
//! order of `groups`; `max` is no limit. Free: what leaves scripts as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `models_have_keys` (`each`, `max`, `bandwidth`, `one`, `of`, `missing_cpu`, `check`). `read` and
//! `apply` by the same. No test of its own: `cpu_idle` and `cpu_uclamp_min` as keys.
//!
//! Tests: crates/workload/tests/all/group_limits.rs

use super::values::Values;
use super::{ParameterInfo, fault, parameter, parse};
use crate::error::WorkloadError;
use crate::script::{Bandwidth, GroupLimits, TaskGroup};

/// `cpu.max`.
pub(crate) const CPU_MAX: ParameterInfo = parameter(
    "cpu_max",
    "QUOTA/PERIOD such as 20ms/100ms, or max",
    "",
    "cpu.max of all groups, or of each, joined by `+`: run time of all CPUs in each period; a \
     period of 100ms if not given",
);
/// `cpu.max.burst`.
pub(crate) const CPU_BURST: ParameterInfo = parameter(
    "cpu_burst",
    "times up to the quota, such as 20ms",
    "",
    "cpu.max.burst of all groups, or of each: what may be kept of a quota (kernels from 5.14)",
);
/// `cpu.idle`.
pub(crate) const CPU_IDLE: ParameterInfo = parameter(
    "cpu_idle",
    "0 or 1",
    "",
    "cpu.idle of all groups, or of each (kernels from 5.15)",
);
/// `cpu.uclamp.min`.
pub(crate) const CPU_UCLAMP_MIN: ParameterInfo = parameter(
    "cpu_uclamp_min",
    "0..=1024 or percent",
    "",
    "cpu.uclamp.min of all groups, or of each (kernels from 5.4)",
);
/// `cpu.uclamp.max`.
pub(crate) const CPU_UCLAMP_MAX: ParameterInfo = parameter(
    "cpu_uclamp_max",
    "0..=1024 or percent",
    "",
    "cpu.uclamp.max of all groups, or of each",
);
/// `cpuset.cpus`.
pub(crate) const GROUP_CPUS: ParameterInfo = parameter(
    "group_cpus",
    "lists such as 0-3+5, joined by `/`",
    "",
    "cpuset.cpus of all groups, or of each",
);

/// What the keys say, by group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    max: Vec<Option<(u64, u64)>>,
    burst: Vec<u64>,
    idle: Vec<bool>,
    uclamp_min: Vec<u16>,
    uclamp_max: Vec<u16>,
    cpus: Vec<Vec<u32>>,
}

/// All values of a key, each read.
fn each<T>(text: &str, between: char, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    text.split(between).map(read).collect()
}

/// `QUOTA`, `QUOTA/PERIOD` or `max`.
fn max(text: &str) -> Option<Option<(u64, u64)>> {
    if text == "max" {
        return Some(None);
    }
    let (quota, period) = text.split_once('/').unwrap_or((text, "100ms"));
    Some(Some((parse::time(quota)?, parse::time(period)?)))
}

impl Limits {
    /// Reads the keys, for so many groups.
    pub(crate) fn read(
        argument: &str,
        values: &Values<'_>,
        groups: usize,
    ) -> Result<Self, WorkloadError> {
        let hint = |values: &Values<'_>, key| {
            let expected = "numbers from 0 to 1024 or percentages, joined by `+`";
            values.text(key, |t| {
                each(t, '+', |t| parse::hint(t).ok()).ok_or(expected)
            })
        };
        let limits = Self {
            max: values
                .optional(CPU_MAX.name, |values, key| {
                    let expected = "QUOTA/PERIOD such as 20ms/100ms, or max, joined by `+`";
                    values.text(key, |t| each(t, '+', max).ok_or(expected))
                })?
                .unwrap_or_default(),
            burst: values
                .optional(CPU_BURST.name, |values, key| {
                    values.text(key, |t| {
                        each(t, '+', parse::time).ok_or("times, joined by `+`")
                    })
                })?
                .unwrap_or_default(),
            idle: values
                .optional(CPU_IDLE.name, |values, key| {
                    let idle = |t: &str| parse::number(t).filter(|n| *n <= 1).map(|n: u8| n == 1);
                    values.text(key, |t| each(t, '+', idle).ok_or("0 or 1, joined by `+`"))
                })?
                .unwrap_or_default(),
            uclamp_min: values
                .optional(CPU_UCLAMP_MIN.name, hint)?
                .unwrap_or_default(),
            uclamp_max: values
                .optional(CPU_UCLAMP_MAX.name, hint)?
                .unwrap_or_default(),
            cpus: values
                .optional(GROUP_CPUS.name, |values, key| {
                    let expected = "CPU numbers such as 0-3+5, joined by `/`";
                    values.text(key, |t| each(t, '/', parse::cpu_list).ok_or(expected))
                })?
                .unwrap_or_default(),
        };
        limits.check(argument, groups)?;
        Ok(limits)
    }

    /// As many values as groups, or one; and no limit that the kernel refuses.
    fn check(&self, argument: &str, groups: usize) -> Result<(), WorkloadError> {
        let counts = [
            (CPU_MAX.name, self.max.len()),
            (CPU_BURST.name, self.burst.len()),
            (CPU_IDLE.name, self.idle.len()),
            (CPU_UCLAMP_MIN.name, self.uclamp_min.len()),
            (CPU_UCLAMP_MAX.name, self.uclamp_max.len()),
            (GROUP_CPUS.name, self.cpus.len()),
        ];
        let refuse = |message: String, expected: String| {
            Err(fault(argument, message).expected(expected).into())
        };
        for (key, values) in counts.into_iter().filter(|(_, values)| *values > 0) {
            if groups == 0 {
                return refuse(
                    format!("`{key}` without a group"),
                    "a group, too".to_owned(),
                );
            }
            if values > 1 && values != groups {
                let message = format!("`{key}` has {values} values for {groups} groups");
                return refuse(message, format!("1 or {groups}"));
            }
        }
        if !self.burst.is_empty() && self.max.iter().all(Option::is_none) {
            let message = "`cpu_burst` without a quota".to_owned();
            return refuse(message, "cpu_max=QUOTA/PERIOD, too".to_owned());
        }
        for group in 0..groups {
            if let Some(Err((what, expected))) = self.bandwidth(group) {
                return refuse(format!("`cpu_max`: {what}"), expected);
            }
        }
        Ok(())
    }

    /// Quota, period and burst of a group; `None`: no limit.
    fn bandwidth(&self, group: usize) -> Option<Result<Bandwidth, (String, String)>> {
        let (quota_ns, period_ns) = one(&self.max, group).flatten()?;
        let burst_ns = one(&self.burst, group).unwrap_or(0);
        Some(Bandwidth::new(quota_ns, period_ns, burst_ns))
    }

    /// What is said of a group, by its number.
    pub(crate) fn of(&self, group: usize) -> GroupLimits {
        GroupLimits {
            bandwidth: self.bandwidth(group).and_then(Result::ok),
            uclamp_min: one(&self.uclamp_min, group),
            uclamp_max: one(&self.uclamp_max, group),
            idle: one(&self.idle, group).unwrap_or(false),
            cpus: one(&self.cpus, group),
        }
    }

    /// The highest CPU of a set that the machine has not.
    pub(crate) fn missing_cpu(&self, nr_cpus: u32) -> Option<u32> {
        let cpus = self.cpus.iter().flatten().copied();
        cpus.filter(|cpu| *cpu >= nr_cpus).max()
    }

    /// Gives groups what is said of them, in their order.
    pub(crate) fn apply(&self, groups: &mut [TaskGroup]) {
        for (index, group) in groups.iter_mut().enumerate() {
            group.limits = self.of(index);
        }
    }
}

/// The value of a group: its own, else the one for all.
fn one<T: Clone>(values: &[T], group: usize) -> Option<T> {
    values.get(group).or(values.first()).cloned()
}

//! Limits and hints of task groups by the names of their files in a control group, under `_groups`
//! of an rt-app file, which rt-app passes over (docs/guide/workloads.md#groups): and what a
//! workload makes of them.
//!
//! Called by `rtapp` for `_groups` and by `models/limits.rs` for cpusets. Units are those of the
//! files (µs, percent) and become ns, shares and 0 to 1024. Rules of values are the kernel's
//! (docs/rules/group-bandwidth.md).
//!
//! What must stay: names of the files are a control group's, values are taken and rounded as a
//! kernel does it; a group that no task is in is refused; a task's CPUs are those of all groups
//! around it. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"),
//! and words of messages that no test quotes. Tests by part: `files_of_groups_are_read` (`group`,
//! `bandwidth`, `shares`, `uclamp`, `idle`, `apply`, `cpuset`, `apply_cpusets`),
//! `what_cannot_be_is_refused` (`declared`, `object_of`, `wrong`, `both`, all ranges),
//! `models_have_keys` (`cpuset`, for models), namely also `cpu_list`.
//!
//! Tests: crates/workload/tests/all/group_limits.rs

use crate::error::{Fault, Position, WorkloadError};
use crate::json::{Kind, Member, Object, Value};
use crate::models;
use crate::script::{Bandwidth, GroupLimits, TaskGroup, Workload};
use wakeplace_text::{nearest, scaled};

/// The key of an rt-app file.
pub(crate) const KEY: &str = "_groups";
/// What is said of a group.
const KEYS: [&str; 7] = [
    "cpu.max",
    "cpu.max.burst",
    "cpu.weight",
    "cpu.uclamp.min",
    "cpu.uclamp.max",
    "cpu.idle",
    "cpuset.cpus",
];
/// What the kernel takes as `cpu.weight`.
const WEIGHTS: std::ops::RangeInclusive<i32> = 1..=10_000;

/// A group as a file declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// Without the first `/`.
    pub(crate) name: String,
    at: Position,
    shares: Option<u32>,
    limits: GroupLimits,
    /// Where its CPUs are said.
    cpus_at: Position,
}

/// Reads groups by their paths.
pub(crate) fn declared(value: &Value) -> Result<Vec<Declared>, Fault> {
    let object = object_of(value, KEY, "an object of groups")?;
    object.collapsed().into_iter().map(group).collect()
}

/// The value if it is an object, else what it is.
fn object_of<'a>(value: &'a Value, what: &str, expected: &str) -> Result<&'a Object, Fault> {
    match &value.kind {
        Kind::Object(object) => Ok(object),
        _ => Err(wrong(value, what, expected)),
    }
}

/// The value is none that the file of this name takes.
fn wrong(value: &Value, what: &str, expected: &str) -> Fault {
    let message = match &value.kind {
        Kind::Int(number) => format!("`{what}` is {number}"),
        Kind::Float(number) => format!("`{what}` is {number}"),
        Kind::Text(text) => format!("`{what}` is \"{text}\""),
        kind => format!("`{what}` is {}", kind.name()),
    };
    Fault::unusable(value.at, message).expected(expected)
}

/// One group: its path from the root, and what its files say.
fn group(member: &Member) -> Result<Declared, Fault> {
    let name = member.key.trim_matches('/');
    if !member.key.starts_with('/') || name.is_empty() {
        let message = format!("`{}` is no group", member.key);
        return Err(Fault::unusable(member.at, message).expected("a path such as /a or /a/b"));
    }
    let object = object_of(&member.value, &member.key, "an object of limits")?;
    if let Some(other) = object.members.iter().find(|m| !KEYS.contains(&&*m.key)) {
        let message = format!("unknown key `{}` of a group", other.key);
        return Err(Fault::unusable(other.at, message).one_of(&other.key, &KEYS));
    }
    let idle = object.get("cpu.idle").map(idle).transpose()?;
    let idle = idle.unwrap_or(false);
    let weight = object.get("cpu.weight");
    if let Some(weight) = weight.filter(|_| idle) {
        let message = "`cpu.weight` of a group with `cpu.idle`";
        let fault = Fault::unusable(weight.at, message);
        return Err(fault.expected("one of the two: the kernel gives an idle group its weight"));
    }
    let cpus = object.get("cpuset.cpus");
    Ok(Declared {
        name: name.to_owned(),
        at: member.at,
        shares: weight.map(shares).transpose()?,
        limits: GroupLimits {
            bandwidth: bandwidth(object)?,
            uclamp_min: object.get("cpu.uclamp.min").map(uclamp).transpose()?,
            uclamp_max: object.get("cpu.uclamp.max").map(uclamp).transpose()?,
            idle,
            cpus: cpus.map(cpu_list).transpose()?,
        },
        cpus_at: cpus.map_or(member.at, |cpus| cpus.value.at),
    })
}

/// `cpu.idle`: 0 or 1, or a truth value.
fn idle(member: &Member) -> Result<bool, Fault> {
    match member.value.kind {
        Kind::Bool(idle) => Ok(idle),
        Kind::Int(0) => Ok(false),
        Kind::Int(1) => Ok(true),
        _ => Err(wrong(&member.value, "cpu.idle", "0 or 1")),
    }
}

/// `sched_weight_from_cgroup()`: 100 is as much as a task of nice 0.
fn shares(member: &Member) -> Result<u32, Fault> {
    match member.value.kind {
        Kind::Int(weight) if WEIGHTS.contains(&weight) => {
            Ok((weight.unsigned_abs() * TaskGroup::DEFAULT_SHARES + 50) / 100)
        }
        _ => Err(wrong(&member.value, "cpu.weight", "1 to 10000")),
    }
}

/// A percentage with up to two decimals, or `max`, as the file takes it (`capacity_from_percent`).
fn uclamp(member: &Member) -> Result<u16, Fault> {
    let percent_e2 = match &member.value.kind {
        Kind::Text(text) if text.trim() == "max" => Some(10_000),
        Kind::Text(text) => scaled(text.trim(), 100),
        Kind::Int(number) => u128::try_from(*number).ok().map(|n| n * 100),
        Kind::Float(number) => scaled(&number.to_string(), 100),
        _ => None,
    };
    let percent_e2 = percent_e2.and_then(|percent| u32::try_from(percent).ok());
    match percent_e2.filter(|percent| *percent <= 10_000) {
        Some(percent) => Ok(((percent * 1024 + 5_000) / 10_000) as u16),
        None => {
            let expected = "a percentage with up to two decimals, as \"37.5\", or \"max\"";
            Err(wrong(&member.value, &member.key, expected))
        }
    }
}

/// `QUOTA PERIOD` or `QUOTA`, microseconds; `max` for no limit.
fn bandwidth(object: &Object) -> Result<Option<Bandwidth>, Fault> {
    let burst = object.get("cpu.max.burst");
    let Some(max) = object.get("cpu.max") else {
        return match burst {
            None => Ok(None),
            Some(burst) => Err(Fault::unusable(burst.at, "`cpu.max.burst` without a quota")
                .expected("`cpu.max`, too")),
        };
    };
    let expected = "\"QUOTA PERIOD\" in microseconds, as \"20000 100000\", or \"max\"";
    let refuse = || wrong(&max.value, "cpu.max", expected);
    let us = |text: &str| text.parse::<u64>().ok().and_then(|us| us.checked_mul(1000));
    let (quota, period) = match &max.value.kind {
        Kind::Int(quota) => (quota.to_string(), None),
        Kind::Text(text) => match text.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            [quota] => (quota.to_owned(), None),
            [quota, period] => (quota.to_owned(), Some(us(period).ok_or_else(refuse)?)),
            _ => return Err(refuse()),
        },
        _ => return Err(refuse()),
    };
    if quota == "max" {
        return Ok(None);
    }
    let quota_ns = us(&quota).ok_or_else(refuse)?;
    let burst_ns = match burst.map(|burst| (burst, &burst.value.kind)) {
        None => 0,
        Some((_, Kind::Int(us))) if *us >= 0 => u64::from(us.unsigned_abs()) * 1000,
        Some((burst, _)) => {
            return Err(wrong(
                &burst.value,
                "cpu.max.burst",
                "microseconds, as 20000",
            ));
        }
    };
    let made = Bandwidth::new(quota_ns, period.unwrap_or(Bandwidth::PERIOD_NS), burst_ns);
    made.map(Some).map_err(|(what, expected)| {
        Fault::unusable(max.value.at, format!("`cpu.max`: {what}")).expected(expected)
    })
}

/// A list such as `0-3,6`, as the file takes it.
fn cpu_list(member: &Member) -> Result<Vec<u32>, Fault> {
    let text = match &member.value.kind {
        Kind::Int(cpu) => cpu.to_string(),
        Kind::Text(text) => text.clone(),
        _ => String::new(),
    };
    let plus = text.replace(',', "+");
    let cpus = models::cpu_list(&plus);
    cpus.ok_or_else(|| {
        wrong(
            &member.value,
            "cpuset.cpus",
            "a list of CPUs such as \"0-3,6\"",
        )
    })
}

/// Gives a workload's groups what was declared of them.
pub(crate) fn apply(
    declared: &[Declared],
    workload: &mut Workload,
    nr_cpus: u32,
) -> Result<(), Fault> {
    for new in declared {
        let groups = workload.groups.iter_mut();
        let Some(group) = groups.into_iter().find(|group| group.name == new.name) else {
            let message = format!("no task is in group `/{}`", new.name);
            let mut fault = Fault::unusable(new.at, message);
            let names: Vec<String> = workload
                .groups
                .iter()
                .map(|g| format!("/{}", g.name))
                .collect();
            let near = nearest(&format!("/{}", new.name), names.iter().map(String::as_str));
            fault.nearest = near.map(str::to_owned);
            return Err(fault.expected("a `taskgroup` of a task, or one around it"));
        };
        group.shares = new.shares.unwrap_or(group.shares);
        group.limits = new.limits.clone();
        let highest = new
            .limits
            .cpus
            .as_ref()
            .and_then(|cpus| cpus.last().copied());
        if let Some(cpu) = highest.filter(|cpu| *cpu >= nr_cpus) {
            let message = format!("`cpuset.cpus`: there is no CPU {cpu}");
            let last = nr_cpus.saturating_sub(1);
            return Err(Fault::unusable(new.cpus_at, message).expected(format!("CPUs 0 to {last}")));
        }
    }
    Ok(())
}

/// CPUs that a group's tasks may use, by its own set and those around it; None: all.
pub(crate) fn cpuset(groups: &[TaskGroup], group: Option<u32>) -> Option<Vec<u32>> {
    let of = |group: &u32| &groups[*group as usize];
    let around = std::iter::successors(group, |group| of(group).parent);
    let sets = around.filter_map(|group| of(&group).limits.cpus.as_ref());
    let mut sets = sets.cloned();
    let first = sets.next()?;
    Some(sets.fold(first, |own, set| both(&own, &set)))
}

/// CPUs that are in both lists, in the order of the first.
fn both(one: &[u32], other: &[u32]) -> Vec<u32> {
    one.iter()
        .filter(|cpu| other.contains(cpu))
        .copied()
        .collect()
}

/// Tasks keep to the CPUs of their groups: at their start, and from each phase on that changes the
/// group or the CPUs.
pub(crate) fn apply_cpusets(workload: &mut Workload) -> Result<(), WorkloadError> {
    if workload
        .groups
        .iter()
        .all(|group| group.limits.cpus.is_none())
    {
        return Ok(());
    }
    let (groups, workload_name) = (&workload.groups, &*workload.name);
    for (index, task) in (0..).zip(&mut workload.tasks) {
        let mut group = (0..).zip(groups).find(|(_, g)| g.tasks.contains(&index));
        let mut now = group.take().map(|(group, _)| group);
        let whole = task.cpus.clone();
        let within = |now: Option<u32>, own: Option<&Vec<u32>>| {
            let Some(set) = cpuset(groups, now) else {
                return Ok(own.cloned());
            };
            let left = own.map_or_else(|| set.clone(), |own| both(own, &set));
            if left.is_empty() {
                let name = now.map_or("", |group| &groups[group as usize].name);
                let message = format!(
                    "task `{}` and its group `/{name}` have no CPU in common",
                    task.name
                );
                let fault = models::fault(workload_name, message);
                return Err(WorkloadError::from(fault.expected("CPUs of `cpuset.cpus`")));
            }
            Ok(Some(left))
        };
        let start = now;
        for phase in &mut task.phases {
            now = phase.change.group.unwrap_or(now);
            if phase.cpus.is_some() || now != start {
                phase.cpus = within(now, phase.cpus.as_ref().or(whole.as_ref()))?;
            }
        }
        task.cpus = within(start, whole.as_ref())?;
    }
    Ok(())
}

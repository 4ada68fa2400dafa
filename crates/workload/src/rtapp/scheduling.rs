//! Policies, priorities, slices, hints and groups of tasks and phases (rt-app src/rt-app.c,
//! `set_thread_param` and `set_thread_taskgroup`).
//!
//! A thread gets its task's attributes when it starts, then those of each phase when the phase
//! begins; a phase that sets none leaves everything as it is. "The policy of before" is settled the
//! first time a phase is reached, and rt-app then keeps it: so each phase has one answer, whatever
//! pass it is in. (docs/decisions/023)
//!
//! Called by `rtapp/template.rs`. What rt-app hands to the kernel stays; limits are the kernel's.
//! Times are ns.
//!
//! What must stay: what a phase sets lasts until another phase sets it; a policy that is given
//! brings its default priority; a slice is moved into 0.1 to 100 ms. Free: what leaves scripts as
//! they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `phases_change_policies_and_what_goes_with_them` (`resolve`,
//! `drop_repeated`, `set`, `fair`, `realtime`), `slices_of_their_own` (`slice_ns`, `clamp`),
//! `tasks_move_between_groups` (`group`), `policies_of_tasks_and_phases` (`realtime`, `deadline`),
//! `policies_out_of_range` (ranges), `what_cannot_run_here_names_its_place` (`nice`).
//!
//! Tests: crates/workload/tests/all/rtapp_events.rs, crates/workload/tests/all/rtapp_files.rs
use super::structure::{Phase, Policy, Position, Scheduling, Task};
use crate::error::Fault;
use crate::realtime::{Attributes, RealTime};
use crate::script::{FairPolicy, PolicyChange};

/// What Linux takes as a slice of its own, ns; others are moved to the nearer end (since 6.12).
const SLICE_NS: (u64, u64) = (100_000, 100_000_000);

/// How a thread starts.
#[derive(Clone, Debug)]
pub(super) struct Initial {
    pub(super) nice: i8,
    pub(super) policy: FairPolicy,
    pub(super) attributes: Attributes,
    pub(super) slice_ns: Option<u64>,
    pub(super) uclamp_min: Option<u16>,
    pub(super) uclamp_max: Option<u16>,
    /// Name of the group; None: the root.
    pub(super) group: Option<String>,
}

/// What a phase sets, as `Change` has it but for the group's name.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    pub(super) policy: Option<PolicyChange>,
    pub(super) nice: Option<i8>,
    pub(super) slice_ns: Option<u64>,
    pub(super) uclamp_min: Option<u16>,
    pub(super) uclamp_max: Option<u16>,
    pub(super) group: Option<Option<String>>,
}

/// How a task's threads start and what each of its phases sets.
pub(super) fn resolve(task: &Task) -> Result<(Initial, Vec<Set>), Fault> {
    let mut state = State {
        policy: Policy::Other,
        clamps: (0, 1024),
    };
    let mut own = state.set(&task.name, task.at, &task.scheduling)?;
    let set = |phase: &Phase| match &phase.scheduling {
        Some(set) => state.set(&task.name, phase.at, set),
        None => Ok(Set::default()),
    };
    let mut phases = task.phases.iter().map(set).collect::<Result<Vec<_>, _>>()?;
    // Threads are born with the policy and in the group of their first phase, the least that can
    // be said of a thread that rt-app moves there before its first step.
    if let Some(first) = phases.first() {
        own.policy = first.policy.or(own.policy);
        own.group = first.group.clone().or(own.group);
    }
    let policy = own.policy.unwrap_or(PolicyChange::Fair(FairPolicy::Other));
    let nice = own.nice.unwrap_or(0);
    let group = own.group.unwrap_or(None);
    drop_repeated(&mut phases, |set| &mut set.policy, &policy);
    drop_repeated(&mut phases, |set| &mut set.nice, &nice);
    drop_repeated(
        &mut phases,
        |set| &mut set.slice_ns,
        &own.slice_ns.unwrap_or(0),
    );
    drop_repeated(
        &mut phases,
        |set| &mut set.uclamp_min,
        &own.uclamp_min.unwrap_or(0),
    );
    drop_repeated(
        &mut phases,
        |set| &mut set.uclamp_max,
        &own.uclamp_max.unwrap_or(1024),
    );
    drop_repeated(&mut phases, |set| &mut set.group, &group);
    let (policy, realtime) = match policy {
        PolicyChange::Fair(policy) => (policy, None),
        PolicyChange::RealTime(realtime) => (FairPolicy::Other, Some(realtime)),
    };
    let initial = Initial {
        nice,
        policy,
        attributes: Attributes {
            realtime,
            ..Attributes::default()
        },
        slice_ns: own.slice_ns.filter(|&ns| ns != 0),
        uclamp_min: own.uclamp_min,
        uclamp_max: own.uclamp_max,
        group,
    };
    Ok((initial, phases))
}

/// An attribute that no phase changes is set by none.
fn drop_repeated<T: PartialEq>(
    phases: &mut [Set],
    field: impl Fn(&mut Set) -> &mut Option<T>,
    initial: &T,
) {
    let same = |set: &mut Set| field(set).as_ref().is_none_or(|value| value == initial);
    if phases.iter_mut().all(same) {
        for set in phases {
            *field(set) = None;
        }
    }
}

/// What is in force when a phase is reached for the first time.
struct State {
    policy: Policy,
    clamps: (u16, u16),
}

impl State {
    /// What a task or phase sets, given all that was set before it.
    fn set(&mut self, task: &str, at: Position, given: &Scheduling) -> Result<Set, Fault> {
        self.policy = given.policy.unwrap_or(self.policy);
        let mut set = Set {
            group: group(&given.taskgroup),
            ..Set::default()
        };
        if let Some(fair) = fair(self.policy) {
            if given.priority.is_some() {
                set.policy = Some(PolicyChange::Fair(fair));
            }
            set.nice = nice(given, at)?;
            set.slice_ns = slice_ns(given, self.policy, at)?;
        } else if self.policy == Policy::Deadline {
            let times = deadline(task, at, given)?;
            set.policy = Some(PolicyChange::RealTime(times));
            return Ok(set);
        } else if let Some(priority) = given.priority {
            let class = realtime(self.policy, priority, given.priority_at.unwrap_or(at))?;
            set.policy = Some(PolicyChange::RealTime(class));
        }
        set.uclamp_min = clamp(given.util_min, "util_min", at)?;
        set.uclamp_max = clamp(given.util_max, "util_max", at)?;
        self.clamps = (
            set.uclamp_min.unwrap_or(self.clamps.0),
            set.uclamp_max.unwrap_or(self.clamps.1),
        );
        let (least, most) = self.clamps;
        if least > most {
            let message = format!("`util_min` {least} is above `util_max` {most}");
            return Err(Fault::unusable(at, message).expected("util_min <= util_max"));
        }
        Ok(set)
    }
}

/// The policy if the fair class runs it.
fn fair(policy: Policy) -> Option<FairPolicy> {
    match policy {
        Policy::Other => Some(FairPolicy::Other),
        Policy::Batch => Some(FairPolicy::Batch),
        Policy::Idle => Some(FairPolicy::Idle),
        Policy::Fifo | Policy::RoundRobin | Policy::Deadline => None,
    }
}

/// The RT policy with its priority, 1 to 99.
fn realtime(policy: Policy, priority: i32, at: Position) -> Result<RealTime, Fault> {
    let priority = RealTime::priority(priority.into()).ok_or_else(|| {
        let message = format!("`priority` is {priority}");
        Fault::unusable(at, message).expected("an RT priority, 1 to 99")
    })?;
    Ok(match policy {
        Policy::RoundRobin => RealTime::RoundRobin { priority },
        _ => RealTime::Fifo { priority },
    })
}

/// The attributes of SCHED_DEADLINE, within what Linux takes.
fn deadline(task: &str, at: Position, given: &Scheduling) -> Result<RealTime, Fault> {
    let ns = |time: i64| u64::try_from(time).unwrap_or(0);
    let (runtime, deadline) = (given.runtime_ns, given.deadline_ns);
    if runtime == 0 {
        let message = format!("task `{task}`: SCHED_DEADLINE, and `dl-runtime` is missing or 0");
        let fault = Fault::unusable(at, message);
        return Err(fault.expected("`dl-runtime` and `dl-period` in us, as 3000 and 16000"));
    }
    let class = RealTime::deadline(ns(runtime), ns(deadline), ns(given.period_ns));
    class.map_err(|expected| {
        let message = format!(
            "task `{task}`: SCHED_DEADLINE with runtime {} us, deadline {} us, period {} us",
            runtime / 1000,
            deadline / 1000,
            given.period_ns / 1000
        );
        Fault::unusable(at, message).expected(expected)
    })
}

/// The nice value, if the file gives a priority: -20 to 19.
fn nice(given: &Scheduling, at: Position) -> Result<Option<i8>, Fault> {
    let Some(priority) = given.priority else {
        return Ok(None);
    };
    match i8::try_from(priority) {
        Ok(nice @ -20..=19) => Ok(Some(nice)),
        _ => {
            let message = format!("`priority` is {priority}");
            Err(Fault::unusable(given.priority_at.unwrap_or(at), message)
                .expected("a nice value, -20 to 19"))
        }
    }
}

/// `dl-runtime` of SCHED_OTHER and SCHED_BATCH; setting a policy without one gives the slice back.
fn slice_ns(given: &Scheduling, policy: Policy, at: Position) -> Result<Option<u64>, Fault> {
    let given_ns = match policy {
        Policy::Idle => 0,
        _ => given.runtime_ns,
    };
    let slice_ns = u64::try_from(given_ns).map_err(|_| {
        let message = format!("`dl-runtime` is {} us", given_ns / 1000);
        Fault::unusable(at, message).expected("0 or more microseconds")
    })?;
    Ok(match slice_ns {
        0 => given.priority.map(|_| 0),
        _ => Some(slice_ns.clamp(SLICE_NS.0, SLICE_NS.1)),
    })
}

/// -1 is "unchanged"; other negative numbers the kernel refuses.
fn clamp(value: i32, key: &str, at: Position) -> Result<Option<u16>, Fault> {
    if value == -1 {
        return Ok(None);
    }
    let clamp = u16::try_from(value).map_err(|_| {
        Fault::unusable(at, format!("`{key}` is {value}")).expected("0 to 1024, or -1")
    })?;
    Ok(Some(clamp))
}

/// None: nothing is said; inner None: the root.
fn group(path: &str) -> Option<Option<String>> {
    let name = path.trim_matches('/');
    (!path.is_empty()).then(|| (!name.is_empty()).then(|| name.to_owned()))
}

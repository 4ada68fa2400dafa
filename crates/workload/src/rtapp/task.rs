//! Tasks and phases (rt-app 55cb0c0 src/rt-app_parse_config.c, `parse_task_data`)
//! (docs/rules/rt-app.md#rt-app-task).
//!
//! Called by `rtapp/read.rs`. Keys, defaults and types are rt-app's: they stay. Warnings are free.
//!
//! What must stay: with `phases`, events of the task are no events; without, `runtime` is an event
//! and a slice; a group with a policy above the fair class is refused as rt-app does. Tests by
//! part: `every_file_is_read_as_rtapp_reads_it` (`read_task`, `read_phase`, `read_events`,
//! `read_affinity`, `converted_int`), `runtime_without_phases_is_an_event_and_a_slice`
//! (`read_task_scheduling`), `policies_of_tasks_and_phases` (`read_scheduling`,
//! `read_phase_scheduling`, `legacy_times`), `loops_of_tasks_and_phases` (loops),
//! `taskgroups_become_groups` (`taskgroup`), `warnings_name_what_may_not_be_meant`
//! (`warn_of_hidden_events`), rtapp_events.rs::`tasks_move_between_groups` (`check_taskgroups`),
//! rtapp_events.rs::`memory_is_bound_to_nodes` (`read_nodes`), the first also `clamp` and
//! `microseconds`.
//!
//! Tests: crates/workload/tests/all/corpus.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/rtapp_events.rs
use super::event::{Buffers, WORDS, event_word, read_event};
use super::fields::{Fields, wrong_type};
use super::global::{leading_int, policy};
use super::keys::{Place, first_unknown, warn_of_unknown};
use super::notes::Notes;
use super::structure::{Affinity, CpuNumber, Nodes, Phase, Policy, Scheduling, Step, Task};
use crate::error::Fault;
use crate::json::{Kind, Member, Value};

/// The greatest utilisation clamp (SCHED_CAPACITY_SCALE).
const MAX_CLAMP: i32 = 1024;

/// Reads one task with its phases.
pub(super) fn read_task(
    member: &Member,
    default_policy: Policy,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Task, Fault> {
    let fields = Fields::of(&member.value, &member.key)?;
    warn_of_unknown(fields.object, Place::Task, notes);
    let loops = fields.int("loop")?;
    let phases = match fields.get("phases") {
        Some(phases) => {
            warn_of_hidden_events(fields, notes);
            let phases = Fields::of(&phases.value, "phases")?;
            let read = |phase| read_phase(phase, &member.key, buffers, notes);
            phases
                .object
                .collapsed()
                .into_iter()
                .map(read)
                .collect::<Result<_, _>>()?
        }
        None => vec![Phase {
            name: member.key.clone(),
            at: member.at,
            loops: loops.unwrap_or(1),
            affinity: read_affinity(fields, notes)?,
            nodes: read_nodes(fields),
            scheduling: None,
            events: read_events(fields, Place::Task, &member.key, buffers, notes)?,
        }],
    };
    let has_phases = fields.get("phases").is_some();
    let task = Task {
        name: member.key.clone(),
        at: member.at,
        instance: fields.int("instance")?.unwrap_or(1),
        delay_us: fields.int("delay")?.unwrap_or(0),
        loops: match loops {
            Some(loops) if has_phases => loops,
            Some(_) => 1,
            None => -1,
        },
        affinity: read_affinity(fields, notes)?,
        nodes: read_nodes(fields),
        scheduling: read_task_scheduling(fields, default_policy)?,
        phases,
    };
    check_taskgroups(&task)?;
    Ok(task)
}

/// One phase.
fn read_phase(
    member: &Member,
    task: &str,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Phase, Fault> {
    let fields = Fields::of(&member.value, &member.key)?;
    warn_of_unknown(fields.object, Place::Phase, notes);
    Ok(Phase {
        name: member.key.clone(),
        at: member.at,
        loops: fields.int("loop")?.unwrap_or(1),
        affinity: read_affinity(fields, notes)?,
        nodes: read_nodes(fields),
        scheduling: read_phase_scheduling(fields)?,
        events: read_events(fields, Place::Phase, task, buffers, notes)?,
    })
}

/// The events of a phase or task, in the file's order.
fn read_events(
    fields: Fields<'_>,
    place: Place,
    task: &str,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Vec<Step>, Fault> {
    let mut events = Vec::new();
    for member in &fields.object.members {
        if let Some(word) = event_word(&member.key) {
            events.push(read_event(member, word, task, buffers, notes)?);
        }
    }
    if events.is_empty() {
        let mut fault = Fault::invalid(fields.at, "there is no event here");
        if let Some(unknown) = first_unknown(fields.object, place) {
            fault.at = unknown.at;
            fault.message = format!("{}, and there is no event here", unknown.said);
            fault.nearest = unknown.nearest.map(str::to_owned);
        }
        let begins = format!("a key that begins with one of {}", WORDS.join(", "));
        return Err(fault.expected(begins));
    }
    Ok(events)
}

/// Events beside `phases` are never looked at by rt-app.
fn warn_of_hidden_events(fields: Fields<'_>, notes: &mut Notes) {
    for member in &fields.object.members {
        if event_word(&member.key).is_some() && member.key != "runtime" {
            let message = format!("`{}` is ignored: the task has `phases`", member.key);
            notes.warn(member.at, message);
        }
    }
}

/// The key `cpus`; None: the task may use all.
fn read_affinity(fields: Fields<'_>, notes: &Notes) -> Result<Option<Affinity>, Fault> {
    let Some(member) = fields.get("cpus") else {
        return Ok(None);
    };
    let Kind::Array(values) = &member.value.kind else {
        let found = &member.value.kind;
        return Err(wrong_type(
            member.value.at,
            "cpus",
            found,
            "an array of CPU numbers",
        ));
    };
    let mut cpus = Vec::with_capacity(values.len());
    for value in values {
        let cpu = converted_int(value);
        // rt-app compares without a sign: a negative number is beyond all CPUs.
        let beyond = |nr_cpus: u32| i64::from(cpu) >= i64::from(nr_cpus);
        if cpu < 0 || notes.nr_cpus.is_some_and(beyond) {
            let expected = match notes.nr_cpus {
                Some(nr_cpus) => format!("CPUs 0 to {}", nr_cpus.saturating_sub(1)),
                None => "a number from 0 on".to_owned(),
            };
            let fault = Fault::invalid(value.at, format!("`cpus`: there is no CPU {cpu}"));
            return Err(fault.expected(expected));
        }
        cpus.push(CpuNumber { cpu, at: value.at });
    }
    Ok(Some(Affinity {
        at: member.value.at,
        cpus,
    }))
}

/// Without NUMA rt-app looks at nothing of it.
fn read_nodes(fields: Fields<'_>) -> Option<Nodes> {
    let member = fields.get("nodes_membind")?;
    let number = |value: &Value| CpuNumber {
        cpu: converted_int(value),
        at: value.at,
    };
    let list = match &member.value.kind {
        Kind::Array(values) => Some(values.iter().map(number).collect()),
        _ => None,
    };
    Some(Nodes {
        at: member.value.at,
        list,
    })
}

/// json-c's conversion to an integer, which rt-app applies to the elements of arrays unasked.
fn converted_int(value: &Value) -> i32 {
    match &value.kind {
        Kind::Int(number) => *number,
        Kind::Bool(truth) => i32::from(*truth),
        // `as` truncates and saturates, as json_object_get_int does.
        Kind::Float(number) => *number as i32,
        Kind::Text(text) => leading_int(text).unwrap_or(0),
        Kind::Null | Kind::Array(_) | Kind::Object(_) => 0,
    }
}

/// The attributes of a task, with the older keys that stand in for others.
fn read_task_scheduling(fields: Fields<'_>, default_policy: Policy) -> Result<Scheduling, Fault> {
    let mut scheduling = read_scheduling(fields, Some(default_policy))?;
    legacy_times(&mut scheduling, fields)?;
    Ok(scheduling)
}

/// Task-level `runtime`, `period` and `deadline` stand in for the `dl-` keys that give 0. Of a task
/// without phases, `runtime` is thus both an event and a custom slice.
fn legacy_times(scheduling: &mut Scheduling, fields: Fields<'_>) -> Result<(), Fault> {
    let mut default_ns = 0;
    let times = [
        ("runtime", &mut scheduling.runtime_ns),
        ("period", &mut scheduling.period_ns),
        ("deadline", &mut scheduling.deadline_ns),
    ];
    for (key, time_ns) in times {
        if *time_ns == 0 {
            *time_ns = fields.int(key)?.map_or(default_ns, microseconds);
        }
        default_ns = *time_ns;
    }
    Ok(())
}

/// The attributes of a phase; `None`: it sets none.
fn read_phase_scheduling(fields: Fields<'_>) -> Result<Option<Scheduling>, Fault> {
    let scheduling = read_scheduling(fields, None)?;
    let unset = scheduling.policy.is_none()
        && scheduling.priority.is_none()
        && scheduling.runtime_ns == 0
        && scheduling.period_ns == 0
        && scheduling.deadline_ns == 0
        && scheduling.util_min == -1
        && scheduling.util_max == -1
        && scheduling.taskgroup.is_empty();
    Ok((!unset).then_some(scheduling))
}

/// The attributes tasks and phases share. A policy that is given or the default brings a priority
/// with it; a phase without one leaves both alone.
fn read_scheduling(
    fields: Fields<'_>,
    default_policy: Option<Policy>,
) -> Result<Scheduling, Fault> {
    let mut chosen = default_policy;
    if let (Some(name), Some(member)) = (fields.text("policy")?, fields.get("policy")) {
        chosen = Some(policy(name, member.value.at)?);
    }
    let default_priority = chosen.map(|policy| match policy {
        Policy::Fifo | Policy::RoundRobin => 10,
        Policy::Other | Policy::Batch | Policy::Idle | Policy::Deadline => 0,
    });
    let runtime = fields.int("dl-runtime")?.unwrap_or(0);
    let period = fields.int("dl-period")?.unwrap_or(runtime);
    let deadline = fields.int("dl-deadline")?.unwrap_or(period);
    Ok(Scheduling {
        policy: chosen,
        priority: fields.int("priority")?.or(default_priority),
        priority_at: fields.get("priority").map(|member| member.value.at),
        runtime_ns: microseconds(runtime),
        deadline_ns: microseconds(deadline),
        period_ns: microseconds(period),
        util_min: clamp(fields, "util_min")?,
        util_max: clamp(fields, "util_max")?,
        taskgroup: taskgroup(fields)?,
        taskgroup_at: fields.get("taskgroup").map(|member| member.at),
    })
}

/// A hint up to 1024; -1 leaves it unchanged.
fn clamp(fields: Fields<'_>, key: &str) -> Result<i32, Fault> {
    let value = fields.int(key)?.unwrap_or(-1);
    if value > MAX_CLAMP {
        let at = fields.get(key).map_or(fields.at, |member| member.value.at);
        let message = format!("`{key}` is {value}");
        return Err(Fault::invalid(at, message).expected("at most 1024, or -1 for unchanged"));
    }
    Ok(value)
}

/// The path of a group, from `/`; empty: none is named.
fn taskgroup(fields: Fields<'_>) -> Result<String, Fault> {
    let group = fields.text("taskgroup")?.unwrap_or("");
    if !group.is_empty() && !group.starts_with('/') {
        let at = fields
            .get("taskgroup")
            .map_or(fields.at, |member| member.value.at);
        return Err(Fault::invalid(at, format!("`taskgroup` is \"{group}\""))
            .expected("a path that begins with `/`"));
    }
    Ok(group.to_owned())
}

/// Control groups hold fair tasks only. rt-app looks in each phase, at what is then in force of
/// both: what the task says counts where the first phase says nothing else.
fn check_taskgroups(task: &Task) -> Result<(), Fault> {
    let named = |set: &Scheduling| set.taskgroup_at.filter(|_| !set.taskgroup.is_empty());
    let (mut policy, mut group) = (task.scheduling.policy, named(&task.scheduling));
    for phase in &task.phases {
        let set = phase.scheduling.as_ref();
        policy = set.and_then(|set| set.policy).or(policy);
        group = set.and_then(named).or(group);
        if let Some(group) = group
            && policy.is_some_and(|policy| !policy.is_fair())
        {
            let at = set.map_or(group, |set| set.taskgroup_at.unwrap_or(phase.at));
            let message = "`taskgroup` with a policy above the fair class";
            return Err(
                Fault::invalid(at, message).expected("SCHED_OTHER, SCHED_BATCH or SCHED_IDLE")
            );
        }
    }
    Ok(())
}

/// rt-app's µs as ns.
fn microseconds(us: i32) -> i64 {
    i64::from(us) * 1_000
}

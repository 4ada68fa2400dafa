//! Scripts as short lines, for expectations written by hand. Times are ns.
//!
//! What must stay: the form is that of the expectations in rtapp_events.rs and rtapp_scripts.rs:
//! change it only with all of these. `describe` is what they call; `task`, `phase`, `change`,
//! `event` and `loops` write a line's parts. Rule: docs/rules/rt-app.md#rt-app-events.
use wakeplace_workload::{Change, Event, FairPolicy, Loops, Phase, TaskScript, Workload};

/// A line per script, then one per resource.
pub(crate) fn describe(workload: &Workload) -> Vec<String> {
    let mut lines: Vec<String> = workload.tasks.iter().map(task).collect();
    let shared = &workload.shared;
    for (i, mutex) in shared.mutexes.iter().enumerate() {
        let inherits = if mutex.inherit { " inherits" } else { "" };
        lines.push(format!("mutex {i} {}{inherits}", mutex.name));
    }
    for (i, condition) in shared.conditions.iter().enumerate() {
        lines.push(format!("condition {i} {}", condition.name));
    }
    for (i, barrier) in shared.barriers.iter().enumerate() {
        lines.push(format!(
            "barrier {i} {} of {}",
            barrier.name, barrier.parties
        ));
    }
    for (i, channel) in shared.channels.iter().enumerate() {
        assert!(channel.limit.is_none(), "a semaphore has no limit");
        lines.push(format!(
            "channel {i} {} holds {}",
            channel.name, channel.units
        ));
    }
    for (i, timer) in workload.timers.iter().enumerate() {
        let (name, mode, delay) = (&timer.name, timer.mode, timer.start_delay_ns);
        lines.push(format!("timer {i} {name} {mode:?} +{delay}"));
    }
    for (i, group) in workload.groups.iter().enumerate() {
        lines.push(format!("group {i} {}: {:?}", group.name, group.tasks));
    }
    lines
}

fn task(task: &TaskScript) -> String {
    let mut text = task.name.clone();
    if let Some(forks) = task.forks {
        text += &format!(" forks {forks}");
    }
    if task.policy != FairPolicy::Other {
        text += &format!(" {:?}", task.policy);
    }
    if let Some(realtime) = task.attributes.realtime {
        text += &format!(" {realtime:?}");
    }
    if task.nice != 0 {
        text += &format!(" nice {}", task.nice);
    }
    if let Some(slice) = task.slice_ns {
        text += &format!(" slice {slice}");
    }
    if let (Some(least), Some(most)) = (task.uclamp_min, task.uclamp_max) {
        text += &format!(" clamp {least}..{most}");
    }
    if let Some(cpus) = &task.cpus {
        text += &format!(" cpus {cpus:?}");
    }
    if task.delay_ns != 0 {
        text += &format!(" delay {}", task.delay_ns);
    }
    let phases: Vec<String> = task.phases.iter().map(phase).collect();
    format!("{text}: {}({})", loops(task.loops), phases.join(", "))
}

fn loops(loops: Loops) -> String {
    match loops {
        Loops::Forever => "ever".to_owned(),
        Loops::Times(times) => format!("{times}x"),
    }
}

fn phase(phase: &Phase) -> String {
    let events: Vec<String> = phase.events.iter().map(event).collect();
    let mut text = format!("{}[{}]", loops(phase.loops), events.join(", "));
    if let Some(cpus) = &phase.cpus {
        text += &format!(" cpus {cpus:?}");
    }
    if let Some(nodes) = &phase.memory_nodes {
        text += &format!(" nodes {nodes:?}");
    }
    text + &change(&phase.change)
}

fn change(change: &Change) -> String {
    let mut text = String::new();
    if let Some(policy) = change.policy {
        text += &format!(" {policy:?}");
    }
    if let Some(nice) = change.nice {
        text += &format!(" nice {nice}");
    }
    if let Some(slice) = change.slice_ns {
        text += &format!(" slice {slice}");
    }
    if let Some(least) = change.uclamp_min {
        text += &format!(" min {least}");
    }
    if let Some(most) = change.uclamp_max {
        text += &format!(" max {most}");
    }
    if let Some(group) = change.group {
        text += &group.map_or(" root".to_owned(), |group| format!(" group {group}"));
    }
    text
}

fn event(event: &Event) -> String {
    match event {
        Event::Run { work_ns } => format!("run {work_ns}"),
        Event::Runtime { wall_ns } => format!("runtime {wall_ns}"),
        Event::Stall { cpu_ns } => format!("stall {cpu_ns}"),
        Event::Sleep { duration_ns } => format!("sleep {duration_ns}"),
        Event::Timer { timer, period_ns } => format!("timer {timer} {period_ns}"),
        Event::Yield => "yield".to_owned(),
        Event::Lock { mutex, .. } => format!("lock {mutex}"),
        Event::Unlock { mutex, .. } => format!("unlock {mutex}"),
        Event::Signal { condition, all } => match all {
            true => format!("broadcast {condition}"),
            false => format!("signal {condition}"),
        },
        Event::Await { condition, mutex } => match mutex {
            Some(mutex) => format!("await {condition} with {mutex}"),
            None => format!("await {condition}"),
        },
        Event::Barrier { barrier } => format!("barrier {barrier}"),
        Event::Post { channel, sync } => match sync {
            true => format!("post {channel} sync"),
            false => format!("post {channel}"),
        },
        Event::Wait { channel } => format!("take {channel}"),
        Event::Fork { task } => format!("fork {task}"),
        other => format!("{other:?}"),
    }
}

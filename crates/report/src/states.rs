//! What everything was at some instants of a run (`sim --dump-state`). See docs/guide/report.md,
//! "The state at a time".
//!
//! What must stay: keys of the JSON; times are ns, clocks kHz, capacities of 1024; instants stand
//! in the order of time, CPUs by number. The tables for people may change. Tests by part:
//! `the_state_at_some_times` (`outcome`, `cpu`, `human`, `domain`,
//! docs/rules/sched-mc.md#mc-debugfs),
//! hostile_text.rs::`results_show_names_harmlessly_in_every_form` (names of tasks). Figures of
//! `cpus`, `does` and `debug_files` have no test of their own.
//!
//! Callers: comparison.rs (`human`).
//!
//! Tests: crates/cli/tests/all/results.rs::the_state_at_some_times,
//! crates/cli/tests/all/hostile_text.rs::results_show_names_harmlessly_in_every_form

use crate::{Align, Cell, Format, Style, Table, number, phrase};
use wakeplace_outcome::{self as outcome, State, ranges};
use wakeplace_study::{Activity, CpuState, DomainState, MachineState};

/// For people: tables of the CPUs, then the domains.
pub(crate) fn human(states: &[MachineState], style: Style) -> String {
    let one = |state: &MachineState| {
        let mut text = format!("\nstate at {}", number::duration(state.time_ns));
        if state.overutilized {
            text.push_str(", overutilized");
        }
        text.push_str("\n\n");
        text += &cpus(&state.cpus).render(Format::Human, style);
        let debug = debug_files(&state.cpus);
        if !debug.is_empty() {
            text += &format!("\n{}", debug.render(Format::Human, style));
        }
        if state.domains.is_empty() {
            text.push_str("\nno sched domains\n");
        } else {
            text.push('\n');
        }
        for domain in &state.domains {
            text += &format!("{}\n", phrase::wrap(&self::domain(domain), style.width));
        }
        text
    };
    states.iter().map(one).collect()
}

/// The CPUs at that instant, for people.
fn cpus(cpus: &[CpuState]) -> Table {
    let figures = [
        "freq_khz",
        "nr_running",
        "util",
        "util_est",
        "capacity",
        "of",
    ];
    let columns = [&["cpu", "does", "task"][..], &figures].concat();
    let table = Table::new("cpus", &columns).keys(1);
    let mut table = (figures.iter()).fold(table, |table, name| table.align(name, Align::Right));
    for cpu in cpus {
        table.row(vec![
            Cell::from(u64::from(cpu.cpu)),
            does(cpu).into(),
            cpu.running.clone().into(),
            Cell::from(u64::from(cpu.khz)),
            Cell::from(u64::from(cpu.nr_running)),
            Cell::from(u64::from(cpu.util)),
            Cell::from(u64::from(cpu.util_est)),
            Cell::from(u64::from(cpu.capacity)),
            Cell::from(u64::from(cpu.capacity_orig)),
        ]);
    }
    table
}

/// What a CPU does at the instant, in words: works, changes its state, waits, or is offline.
fn does(cpu: &CpuState) -> String {
    let tick = if cpu.tick_stopped { ", no tick" } else { "" };
    match &cpu.activity {
        Activity::Busy => "busy".to_owned(),
        Activity::Transition(state) => format!("to or from {state}"),
        Activity::Idle(state) => format!("in {state}{tick}"),
        Activity::Offline => "offline".to_owned(),
    }
}

/// The view that the sched_mc series has in debugfs.
fn debug_files(cpus: &[CpuState]) -> Table {
    let columns = ["cpu_topo", "cpu_power", "scale", "freq"];
    let table = Table::new("sched_mc", &columns).keys(1);
    let mut table = (columns[1..].iter()).fold(table, |t, name| t.align(name, Align::Right));
    for cpu in cpus {
        if let Some(mc) = &cpu.sched_mc {
            table.row(vec![
                format!("cpu{}", cpu.cpu).into(),
                Cell::from(u64::from(mc.cpu_power)),
                Cell::from(u64::from(mc.scale)),
                Cell::from(u64::from(mc.freq_khz)),
            ]);
        }
    }
    table
}

/// A scheduling domain in one line: its CPUs, groups with their capacities (1024 is the biggest
/// CPU), and flags.
fn domain(domain: &DomainState) -> String {
    let groups = domain.groups.iter();
    let groups = groups.map(|group| format!("{{{}}} {}", ranges(&group.cpus), group.capacity));
    format!(
        "{} {}: groups {}; {}",
        domain.level,
        ranges(&domain.cpus),
        groups.collect::<Vec<_>>().join(", "),
        domain.flags.join(" ")
    )
}

/// As results have it.
pub(crate) fn outcome(state: &MachineState) -> State {
    let domain = |domain: &DomainState| outcome::DomainState {
        level: domain.level.to_owned(),
        cpus: domain.cpus.clone(),
        flags: domain.flags.iter().map(|flag| (*flag).to_owned()).collect(),
        groups: { domain.groups.iter() }
            .map(|group| outcome::GroupState {
                cpus: group.cpus.clone(),
                capacity: group.capacity,
            })
            .collect(),
    };
    State {
        time_ns: state.time_ns,
        overutilized: state.overutilized,
        cpus: state.cpus.iter().map(cpu).collect(),
        domains: state.domains.iter().map(domain).collect(),
    }
}

/// A CPU in the types of results.
fn cpu(cpu: &CpuState) -> outcome::CpuState {
    let (activity, idle_state) = match &cpu.activity {
        Activity::Busy => ("busy", None),
        Activity::Transition(state) => ("transition", Some(state)),
        Activity::Idle(state) => ("idle", Some(state)),
        Activity::Offline => ("offline", None),
    };
    outcome::CpuState {
        cpu: cpu.cpu,
        online: cpu.online,
        activity: activity.to_owned(),
        idle_state: idle_state.cloned(),
        tick_stopped: cpu.tick_stopped,
        freq_khz: cpu.khz,
        running: cpu.running.clone(),
        nr_running: cpu.nr_running,
        util: cpu.util,
        util_est: cpu.util_est,
        capacity: cpu.capacity,
        capacity_orig: cpu.capacity_orig,
        sched_mc: cpu.sched_mc.as_ref().map(|mc| outcome::SchedMcState {
            cpu_power: mc.cpu_power,
            scale: mc.scale,
            freq_khz: mc.freq_khz,
        }),
    }
}

//! Traces told by hand, and of whole runs read back with prost.
//! Rules: docs/rules/traces.md#trace-events; docs/guide/traces.md, "The tables".
//!
//! What must stay: events and their order are the kernel's; times are exact to the nanosecond.
//! Tests by part (in crates/trace/src): export/ftrace.rs: `events_told_by_hand` (`create`,
//! `context`, `by`); export/known.rs: `events_told_by_hand` (`switch`, `migration`, `on_cpu`),
//! `an_interrupt_is_no_tasks_doing` (`by`), `priorities_follow_the_phases` (`thread`),
//! `clusters_and_hotplug_have_tracks` (`has_states`, `clusters`); export/column.rs:
//! `tables_told_by_hand` (`Values`, `Encoded`); export/mod.rs: `tables_told_by_hand` (`parquet`),
//! `nothing_is_half_written` (`publish`, `drop`); export/perfetto/events.rs:
//! `an_interrupt_is_no_tasks_doing` (`write`); export/perfetto.rs:
//! `decisions_carry_the_average_run` (`decision`, `decision_over`),
//! `clusters_and_hotplug_have_tracks` (`counter`); export/perfetto/fields.rs:
//! `decisions_carry_the_average_run` (`message`); export/walk.rs: `priorities_follow_the_phases`
//! (`happened`); crates/engine/src/both.rs: `whole_runs_read_back` (`happened`); export/bytes.rs:
//! `whole_runs_read_back` (`append`, `written`, `clear`); export/sink.rs: `nothing_is_half_written`
//! (`publish`).
//! Helpers, and who fails with them: `hikey`, `workload` (all tests); `traces`, `read` (most
//! tests); `one_wakes_another`, `a_timer_is_late` (`events_told_by_hand`); `placement`
//! (`events_told_by_hand`, `tables_told_by_hand`, `decisions_carry_the_average_run`); `events`
//! (`events_told_by_hand`, `an_interrupt_is_no_tasks_doing`, `priorities_follow_the_phases`,
//! `whole_runs_read_back`); `track_events` (`decisions_carry_the_average_run`); `found`
//! (`whole_runs_read_back`); `simulate` (`priorities_follow_the_phases`, `whole_runs_read_back`).

use parquet::file::reader::{FileReader, SerializedFileReader};
use prost::Message;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use wakeplace_engine::happen;
use wakeplace_engine::observe::{
    Both, CpuPower, Happening, KernelWork, MigrateCause, Observer, Placement, PlacementKind, Stop,
    Waking,
};
use wakeplace_engine::{Options, run};
use wakeplace_platform::{CpuId, IdleState, Platform};
use wakeplace_policy_sys::{Policy, Reason};
use wakeplace_trace::Traces;
use wakeplace_trace::proto::{
    HARDIRQ, Trace, TrackEvent, debug_annotation,
    ftrace_event::Event,
    trace_packet::Data,
    track_event::{CounterValueField, Type},
};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

const MS: u64 = 1_000_000;

fn hikey() -> Platform {
    Platform::load("hikey960").expect("built in")
}

fn workload(spec: &str) -> Workload {
    let spec = Spec::parse(spec, &LoadOptions::default()).expect("valid");
    spec.expand(1, MachineFacts::alike(8)).expect("valid")
}

fn traces(folder: &TempDir, platform: &Platform, workload: &Workload) -> Traces {
    let mut traces = Traces::new(platform, workload, None);
    let path = |name| folder.path().join(name);
    traces.ftrace(&path("t.txt")).expect("a file");
    traces
        .perfetto(&path("t.pftrace"), platform, workload)
        .expect("a file");
    traces
}

fn placement(task: u32, kind: PlacementKind, dur_avg_ns: u64) -> Placement {
    Placement {
        kind,
        task,
        waker: None,
        waker_cpu: 0,
        prev_cpu: 0,
        cpu: 1,
        reason: Reason::IdlePrev,
        util: 77,
        dur_avg_ns,
    }
}

fn read(path: &Path) -> Trace {
    let bytes = fs::read(path).expect("written");
    Trace::decode(bytes.as_slice()).expect("a trace")
}

/// Kernel events with the CPU, the context's number and its flags, in the order of the file.
fn events(trace: &Trace) -> Vec<(u64, u32, u32, u32, Event)> {
    let mut all = Vec::new();
    for packet in &trace.packet {
        let Some(Data::FtraceEvents(bundle)) = &packet.data else {
            continue;
        };
        for event in &bundle.event {
            all.push((
                event.timestamp.expect("a time"),
                bundle.cpu.expect("a CPU"),
                event.pid.expect("a context"),
                event.common_flags.unwrap_or(0),
                event.event.clone().expect("fields"),
            ));
        }
    }
    all
}

fn track_events(trace: &Trace) -> impl Iterator<Item = &TrackEvent> {
    trace.packet.iter().filter_map(|packet| match &packet.data {
        Some(Data::TrackEvent(event)) => Some(event),
        _ => None,
    })
}

/// Task 0 wakes task 1 for another CPU.
fn one_wakes_another(t: &mut Traces) {
    happen!(t, 8000 => Woken(Waking { task: 1, waker: Some(0), cpu: 4, sync: true }));
    happen!(t, 8000 =>
        Placement(Placement { prev_cpu: 1, cpu: 2, ..placement(1, PlacementKind::Wake, 0) }));
    happen!(t, 8000 => Wakeup { task: 1, cpu: 2, due_ns: 8000 });
    happen!(t, 8000 => Migrate { task: 1, from_cpu: 1, to_cpu: 2, cause: MigrateCause::Wake });
}

/// A timer that is late wakes a task.
fn a_timer_is_late(t: &mut Traces) {
    happen!(t, 9100 => TimerArmed { task: 1, cpu: 2, due_ns: 9200 });
    let waking = Waking {
        task: 1,
        waker: None,
        cpu: 2,
        sync: false,
    };
    happen!(t, 9300 => Woken(waking));
}

/// Goal: what the engine tells becomes the kernel's events in the kernel's order
/// (docs/rules/traces.md#trace-events and docs/rules/traces.md#perfetto), every line of the file
/// derived by hand.
#[test]
fn events_told_by_hand() {
    let folder = tempfile::tempdir().expect("a folder");
    let (platform, workload) = (hikey(), workload("periodic:n=2,period=16ms,duty=5%"));
    let mut traces = traces(&folder, &platform, &workload);
    let t = &mut traces;
    happen!(t, 1000 => Placement(placement(0, PlacementKind::Fork, 0)));
    happen!(t, 2000 => RunStart { cpu: 1, task: 0, wake_latency_ns: None });
    happen!(t, 2500 => Placement(placement(1, PlacementKind::Fork, 0)));
    // Task 0 is pre-empted by task 1: one switch, though told as a stop and a start.
    happen!(t, 3000 => RunStop { cpu: 1, task: 0, ran_ns: 1000, stop: Stop::Preempted });
    happen!(t, 3000 => RunStart { cpu: 1, task: 1, wake_latency_ns: None });
    // Task 1 yields to nobody and is picked again: no switch.
    happen!(t, 4000 => RunStop { cpu: 1, task: 1, ran_ns: 1000, stop: Stop::Yields });
    happen!(t, 4000 => RunStart { cpu: 1, task: 1, wake_latency_ns: None });
    // It wakes nobody, waits for a device; the CPU pulls nothing and takes task 0 from its queue.
    happen!(t, 5000 => RunStop { cpu: 1, task: 1, ran_ns: 2000, stop: Stop::Waits });
    happen!(t, 5000 => TimerArmed { task: 1, cpu: 1, due_ns: 7500 });
    happen!(t, 5000 => RunStart { cpu: 1, task: 0, wake_latency_ns: None });
    // Task 0 is pulled away; the CPU is left to its idle task and goes into its second state.
    happen!(t, 6000 => RunStop { cpu: 1, task: 0, ran_ns: 1000, stop: Stop::Preempted });
    happen!(t, 6000 => Migrate { task: 0, from_cpu: 1, to_cpu: 4, cause: MigrateCause::Active });
    happen!(t, 6000 => CpuPower { cpu: 1, power: CpuPower::Transition { state: 2 } });
    happen!(t, 6500 => RunStart { cpu: 4, task: 0, wake_latency_ns: None });
    happen!(t, 7000 => CpuPower { cpu: 1, power: CpuPower::Idle { state: 2 } });
    happen!(t, 7000 => KernelWork { cpu: 4, work: KernelWork::Balance });
    one_wakes_another(t);
    happen!(t, 9000 => RunStop { cpu: 4, task: 0, ran_ns: 2500, stop: Stop::Exits });
    happen!(t, 9000 => TaskExit { task: 0 });
    a_timer_is_late(t);
    happen!(t, 9500 => Frequency { domain: 1, opp: 2 });
    happen!(t, 10_000 => Finish);
    traces.publish().expect("written");

    let text = fs::read_to_string(folder.path().join("t.txt")).expect("written");
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let expected = include_str!("../data/by_hand.txt");
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(lines, expected);

    let trace = read(&folder.path().join("t.pftrace"));
    assert_eq!(events(&trace).len() + 1, lines.len(), "one event per line");
    let states: Vec<_> = (events(&trace).into_iter())
        .filter_map(|(time, .., event)| match event {
            Event::SchedSwitch(switch) => Some((time, switch.prev_state)),
            _ => None,
        })
        .collect();
    let of_cpu_1 = [(2000, 0), (3000, 256), (5000, 2), (6000, 256)];
    let of_cpu_4 = [(6500, 0), (9000, 16)];
    let both = of_cpu_1.into_iter().chain(of_cpu_4);
    assert_eq!(states, both.map(|(t, s)| (t, Some(s))).collect::<Vec<_>>());
}

/// Goal: tables have the kernel's events by their fields (docs/guide/traces.md, "The tables"): a
/// switch from the idle task to task 0, whose number is 1001, and one back as it waits (D, 2).
#[test]
fn tables_told_by_hand() {
    let folder = tempfile::tempdir().expect("a folder");
    let (platform, workload) = (hikey(), workload("periodic:n=2,period=16ms,duty=5%"));
    let mut traces = Traces::new(&platform, &workload, None);
    let tables = folder.path().join("tables");
    traces.parquet(&tables).expect("a folder");
    happen!(traces, 1000 => Placement(placement(0, PlacementKind::Fork, 0)));
    happen!(traces, 2000 => RunStart { cpu: 1, task: 0, wake_latency_ns: None });
    happen!(traces, 5000 => RunStop { cpu: 1, task: 0, ran_ns: 3000, stop: Stop::Waits });
    happen!(traces, 5000 => CpuPower { cpu: 1, power: CpuPower::Transition { state: 2 } });
    happen!(traces, 6000 => Finish);
    traces.publish().expect("written");

    let rows = |table: &str| -> Vec<BTreeMap<String, String>> {
        let file = fs::File::open(tables.join(format!("{table}.parquet"))).expect("a table");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let rows = reader.get_row_iter(None).expect("rows");
        let row = |row: parquet::record::Row| {
            let fields = row.get_column_iter();
            fields
                .map(|(key, value)| (key.clone(), value.to_string()))
                .collect()
        };
        rows.map(|one| row(one.expect("a row"))).collect()
    };
    let switches = rows("sched_switch");
    let keys = [
        "common_ts",
        "common_cpu",
        "prev_pid",
        "prev_state",
        "next_pid",
        "next_prio",
    ];
    let of = |row: &BTreeMap<String, String>| keys.map(|key| row[key].clone());
    assert_eq!(of(&switches[0])[..5], ["2000", "1", "0", "0", "1001"]);
    assert_eq!(of(&switches[1]), ["5000", "1", "1001", "2", "0", "120"]);
    assert_eq!(switches.len(), 2);
    let decisions = rows("decisions");
    let keys = [
        "time_ns", "pid", "kind", "reason", "cpu", "prev_cpu", "util",
    ];
    let of = |row: &BTreeMap<String, String>| keys.map(|key| row[key].clone());
    let expected = ["1000", "1001", "\"fork\"", "\"idle-prev\"", "1", "0", "77"];
    assert_eq!(decisions.iter().map(of).collect::<Vec<_>>(), [expected]);
}

/// Goal: a sleep that a timer ends has no task as its waker, and says that it was an interrupt.
#[test]
fn an_interrupt_is_no_tasks_doing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (platform, workload) = (hikey(), workload("periodic:n=2,period=16ms,duty=5%"));
    let mut traces = traces(&folder, &platform, &workload);
    happen!(traces, 1000 => RunStart { cpu: 3, task: 0, wake_latency_ns: None });
    happen!(traces, 2000 => Woken(Waking { task: 1, waker: None, cpu: 3, sync: false }));
    happen!(traces, 3000 => Finish);
    traces.publish().expect("written");
    let trace = read(&folder.path().join("t.pftrace"));
    let woken = events(&trace).into_iter().find_map(|event| match event {
        (2000, cpu, pid, flags, Event::SchedWaking(waking)) => {
            Some((cpu, pid, flags & HARDIRQ, waking.pid))
        }
        _ => None,
    });
    assert_eq!(woken, Some((3, 0, HARDIRQ, Some(1002))));
}

/// Goal: the average of a task's runs is on its decision where there is one.
#[test]
fn decisions_carry_the_average_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let (platform, workload) = (hikey(), workload("periodic:n=1,period=16ms,duty=5%"));
    let mut traces = traces(&folder, &platform, &workload);
    happen!(traces, 1000 => Placement(placement(0, PlacementKind::Fork, 0)));
    happen!(traces, 1500 => RunStart { cpu: 1, task: 0, wake_latency_ns: None });
    happen!(traces, 2000 => Placement(placement(0, PlacementKind::Wake, 12_345)));
    happen!(traces, 3000 => Finish);
    traces.publish().expect("written");
    let trace = read(&folder.path().join("t.pftrace"));
    let begins = |event: &&TrackEvent| event.r#type == Some(Type::SliceBegin.into());
    let ends = |event: &&TrackEvent| event.r#type == Some(Type::SliceEnd.into());
    let averages: Vec<bool> = track_events(&trace)
        .filter(begins)
        .map(|event| {
            let notes = event.debug_annotations.iter();
            let mut values = notes.filter_map(|note| note.value.as_ref());
            values.any(|value| *value == debug_annotation::Value::UintValue(12_345))
        })
        .collect();
    assert_eq!(averages, [false, true]);
    assert_eq!(
        track_events(&trace).filter(ends).count(),
        2,
        "each one ends"
    );
}

/// What the engine told, by thread.
#[derive(Debug, Default, PartialEq)]
struct Told {
    run_ns: BTreeMap<u32, u64>,
    /// By who woke (0: no task) and who was woken.
    wakes: BTreeMap<(u32, u32), u64>,
}

impl Observer for Told {
    fn happened(&mut self, _: u64, what: &Happening) {
        match *what {
            Happening::Woken(ref it) => self.woken(it),
            Happening::RunStop { task, ran_ns, .. } => self.run_stop(task, ran_ns),
            _ => {}
        }
    }
}

impl Told {
    fn woken(&mut self, waking: &Waking) {
        let waker = waking.waker.map_or(0, |waker| 1001 + waker);
        *self.wakes.entry((waker, 1001 + waking.task)).or_default() += 1;
    }

    fn run_stop(&mut self, task: u32, ran_ns: u64) {
        *self.run_ns.entry(1001 + task).or_default() += ran_ns;
    }
}

/// The same out of a trace.
fn found(trace: &Trace) -> Told {
    let mut told = Told::default();
    let mut since: BTreeMap<u32, u64> = BTreeMap::new();
    for (time, cpu, pid, _, event) in events(trace) {
        match event {
            Event::SchedSwitch(switch) => {
                let prev = switch.prev_pid.expect("a number").cast_unsigned();
                if prev > 0 {
                    let began = since.remove(&cpu).expect("it had come");
                    *told.run_ns.entry(prev).or_default() += time - began;
                }
                if switch.next_pid != Some(0) {
                    since.insert(cpu, time);
                }
            }
            Event::SchedWaking(waking) => {
                let woken = waking.pid.expect("a number").cast_unsigned();
                *told.wakes.entry((pid, woken)).or_default() += 1;
            }
            _ => {}
        }
    }
    told
}

fn simulate(folder: &TempDir, spec: &str, policy: &str) -> Told {
    let (platform, workload) = (hikey(), workload(spec));
    let mut traces = traces(folder, &platform, &workload);
    let mut told = Told::default();
    let options = Options {
        duration_ns: 500 * MS,
        housekeeping: false, // a kernel thread would preempt the tasks
        ..Options::default()
    };
    let policy = Policy::parse(policy).expect("known");
    let mut both = Both(&mut traces, &mut told);
    run(&platform, &policy, &workload, &options, &mut both);
    traces.publish().expect("written");
    told
}

/// Goal: what a phase changes of a task's priority shows from its next switch on. By arithmetic
/// (docs/rules/traces.md#trace-events): 120 + 5, 120 - 10, 99 - 20, 120 + 0.
#[test]
fn priorities_follow_the_phases() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("changing.json");
    let app = r#"{"global": {"duration": 1, "calibration": 100}, "tasks": {"changing": {
        "loop": -1, "phases": {
        "polite": {"priority": 5, "run": 700, "sleep": 5000},
        "first": {"priority": -10, "run": 700, "sleep": 5000},
        "urgent": {"policy": "SCHED_FIFO", "priority": 20, "run": 700, "sleep": 5000},
        "again": {"policy": "SCHED_OTHER", "priority": 0, "run": 700, "sleep": 5000}}}}}"#;
    fs::write(&file, app).expect("written");
    simulate(&folder, file.to_str().expect("UTF-8"), "linux-7.3");
    let trace = read(&folder.path().join("t.pftrace"));
    let mut left: Vec<_> = events(&trace)
        .into_iter()
        .filter_map(|(time, .., event)| match event {
            Event::SchedSwitch(switch) if switch.prev_pid == Some(1001) => {
                Some((time, switch.prev_prio))
            }
            _ => None,
        })
        .collect();
    left.sort_unstable();
    let left: Vec<_> = left.into_iter().filter_map(|(_, prio)| prio).collect();
    assert!(left.len() > 12, "{left:?}");
    // A thread alone waits for nobody before its first phase.
    let phases = [125, 110, 79, 120].into_iter().cycle();
    let expected: Vec<_> = phases.take(left.len()).collect();
    assert_eq!(left, expected);
}

/// Goal: cluster states and CPUs that leave are told as quantities, on tracks of their own; a CPU
/// that never leaves has no such track.
#[test]
fn clusters_and_hotplug_have_tracks() {
    let folder = tempfile::tempdir().expect("a folder");
    let (platform, workload) = (hikey(), workload("periodic:n=2,period=16ms,duty=5%"));
    // Of the big cluster, whose CPUs have three states: wfi, cpu-sleep-1 and this one.
    let of_big = |state: &IdleState| state.cpus.contains(&CpuId(4));
    let state = platform.idle_states.iter().rposition(of_big);
    let state = state.expect("it has states") as u16;
    let mut traces = traces(&folder, &platform, &workload);
    let t = &mut traces;
    happen!(t, 0 => ClusterPower { cluster: 1, state: None });
    happen!(t, 2000 => ClusterPower { cluster: 1, state: Some(state) });
    happen!(t, 3000 => Hotplug { cpu: 5, online: false });
    happen!(t, 4000 => Hotplug { cpu: 5, online: true });
    happen!(t, 5000 => Finish);
    traces.publish().expect("written");
    let trace = read(&folder.path().join("t.pftrace"));
    let mut tracks = BTreeMap::new();
    let mut values = Vec::new();
    for packet in &trace.packet {
        match &packet.data {
            Some(Data::TrackDescriptor(track)) => {
                tracks.insert(track.uuid, track.name.clone().unwrap_or_default());
            }
            Some(Data::TrackEvent(event)) => {
                let time_ns = packet.timestamp.expect("a time");
                if let Some(CounterValueField::CounterValue(value)) = event.counter_value_field {
                    values.push((time_ns, tracks[&event.track_uuid].clone(), value));
                }
            }
            _ => {}
        }
    }
    let cluster = |time_ns, value| (time_ns, "cluster idle big".to_owned(), value);
    let online = |time_ns, value| (time_ns, "online cpu5".to_owned(), value);
    assert_eq!(
        values,
        [
            cluster(0, -1),
            cluster(2000, 2),
            online(3000, 0),
            online(4000, 1)
        ]
    );
    let of_hotplug = tracks.values().filter(|name| name.starts_with("online"));
    assert_eq!(of_hotplug.count(), 1);
}

/// Goal: times that tasks ran and who woke whom are in the trace to the nanosecond, under load that
/// pre-empts and migrates; both forms have the same number of events; twice the same bytes.
#[test]
fn whole_runs_read_back() {
    for spec in [
        "periodic:n=14,period=8ms,duty=40%",
        "messaging:groups=1,loops=20",
    ] {
        let [one, two] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let told = simulate(&one, spec, "linux-7.3");
        assert!(told.wakes.len() > 10, "{spec}: {told:?}");
        let trace = read(&one.path().join("t.pftrace"));
        assert_eq!(found(&trace), told, "{spec}");
        let text = fs::read_to_string(one.path().join("t.txt")).expect("written");
        assert_eq!(text.lines().count(), events(&trace).len() + 1, "{spec}");
        simulate(&two, spec, "linux-7.3");
        for name in ["t.txt", "t.pftrace"] {
            let bytes = |folder: &TempDir| fs::read(folder.path().join(name)).expect("written");
            assert!(bytes(&one) == bytes(&two), "{spec}: {name} differs");
        }
    }
}

/// Goal: what is not published leaves nothing, and what was there stays.
#[test]
fn nothing_is_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (platform, workload) = (hikey(), workload("periodic:n=2,period=16ms,duty=5%"));
    fs::write(folder.path().join("t.txt"), "old").expect("a file of before");
    let mut dropped = traces(&folder, &platform, &workload);
    happen!(dropped, 1000 => RunStart { cpu: 3, task: 0, wake_latency_ns: None });
    drop(dropped);
    let entries = fs::read_dir(folder.path()).expect("a folder");
    let names: Vec<_> = entries.map(|e| e.expect("one").file_name()).collect();
    assert_eq!(names, ["t.txt"]);
    let text = fs::read_to_string(folder.path().join("t.txt")).expect("there");
    assert_eq!(text, "old");

    let mut refused = Traces::new(&platform, &workload, None);
    let error = refused.ftrace(folder.path()).expect_err("a folder");
    assert!(
        error
            .to_string()
            .ends_with("cannot be written: it is a folder"),
        "{error}"
    );
    let nowhere = folder.path().join("no").join("t.txt");
    let error = refused.ftrace(&nowhere).expect_err("no folder");
    assert!(
        error.to_string().ends_with("its folder does not exist"),
        "{error}"
    );
}

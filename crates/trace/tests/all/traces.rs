//! Traces told by hand, and of whole runs read back with prost.

use prost::Message;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use wakeplace_engine::observe::{
    Both, CpuPower, KernelWork, MigrateCause, Observer, Placement, PlacementKind, Stop, Waking,
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
    t.woken(
        8000,
        &Waking {
            task: 1,
            waker: Some(0),
            cpu: 4,
            sync: true,
        },
    );
    t.placement(
        8000,
        &Placement {
            prev_cpu: 1,
            cpu: 2,
            ..placement(1, PlacementKind::Wake, 0)
        },
    );
    t.wakeup(8000, 1, 2, 8000);
    t.migrate(8000, 1, 1, 2, MigrateCause::Wake);
}

/// A timer that is late wakes a task.
fn a_timer_is_late(t: &mut Traces) {
    t.timer_armed(9100, 1, 2, 9200);
    let waking = Waking {
        task: 1,
        waker: None,
        cpu: 2,
        sync: false,
    };
    t.woken(9300, &waking);
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
    t.placement(1000, &placement(0, PlacementKind::Fork, 0));
    t.run_start(2000, 1, 0, None);
    t.placement(2500, &placement(1, PlacementKind::Fork, 0));
    // Task 0 is pre-empted by task 1: one switch, though told as a stop and a start.
    t.run_stop(3000, 1, 0, 1000, Stop::Preempted);
    t.run_start(3000, 1, 1, None);
    // Task 1 yields to nobody and is picked again: no switch.
    t.run_stop(4000, 1, 1, 1000, Stop::Yields);
    t.run_start(4000, 1, 1, None);
    // It wakes nobody, waits for a device; the CPU pulls nothing and takes task 0 from its queue.
    t.run_stop(5000, 1, 1, 2000, Stop::Waits);
    t.timer_armed(5000, 1, 1, 7500);
    t.run_start(5000, 1, 0, None);
    // Task 0 is pulled away; the CPU is left to its idle task and goes into its second state.
    t.run_stop(6000, 1, 0, 1000, Stop::Preempted);
    t.migrate(6000, 0, 1, 4, MigrateCause::Active);
    t.cpu_power(6000, 1, CpuPower::Transition { state: 2 });
    t.run_start(6500, 4, 0, None);
    t.cpu_power(7000, 1, CpuPower::Idle { state: 2 });
    t.kernel_work(7000, 4, KernelWork::Balance);
    one_wakes_another(t);
    t.run_stop(9000, 4, 0, 2500, Stop::Exits);
    t.task_exit(9000, 0);
    a_timer_is_late(t);
    t.frequency(9500, 1, 2);
    t.finish(10_000);
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

/// Goal: a sleep that a timer ends has no task as its waker, and says that it was an interrupt.
#[test]
fn an_interrupt_is_no_tasks_doing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (platform, workload) = (hikey(), workload("periodic:n=2,period=16ms,duty=5%"));
    let mut traces = traces(&folder, &platform, &workload);
    traces.run_start(1000, 3, 0, None);
    traces.woken(
        2000,
        &Waking {
            task: 1,
            waker: None,
            cpu: 3,
            sync: false,
        },
    );
    traces.finish(3000);
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
    traces.placement(1000, &placement(0, PlacementKind::Fork, 0));
    traces.run_start(1500, 1, 0, None);
    traces.placement(2000, &placement(0, PlacementKind::Wake, 12_345));
    traces.finish(3000);
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
    fn woken(&mut self, _time_ns: u64, waking: &Waking) {
        let waker = waking.waker.map_or(0, |waker| 1001 + waker);
        *self.wakes.entry((waker, 1001 + waking.task)).or_default() += 1;
    }

    fn run_stop(&mut self, _time_ns: u64, _cpu: u32, task: u32, ran_ns: u64, _stop: Stop) {
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
    t.cluster_power(0, 1, None);
    t.cluster_power(2000, 1, Some(state));
    t.hotplug(3000, 5, false);
    t.hotplug(4000, 5, true);
    t.finish(5000);
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
    dropped.run_start(1000, 3, 0, None);
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

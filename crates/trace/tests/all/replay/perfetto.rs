//! The same recording as Perfetto has it: bundles per CPU, and the compact form.
//! Rule: docs/rules/traces.md, "Perfetto".
//!
//! What must stay: both forms give the workload of `HAND`.
//! Tests by part (in crates/trace/src): read/perfetto.rs: `bundles_are_put_in_order` (`read`,
//! `one`, `bundle`), `the_compact_form_says_the_same_after_its_first_switches` (`compact`,
//! `compact_switch`, `compact_waking`).
//! Helpers, and who fails with them: `events`, `packet`, `tasks` (all tests).

use super::{HAND, loaded, temporary};
use prost::Message;
use wakeplace_trace::load;
use wakeplace_trace::proto::ftrace_event::Event as Inner;
use wakeplace_trace::proto::ftrace_event_bundle::CompactSched;
use wakeplace_trace::proto::trace_packet::Data;
use wakeplace_trace::proto::{
    FtraceEvent, FtraceEventBundle, SchedSwitchFtraceEvent, SchedWakingFtraceEvent, Trace,
    TracePacket,
};
use wakeplace_workload::{MachineFacts, Workload};

/// The lines of `HAND` as events: time in ns, CPU, pid of the context, event.
fn events() -> Vec<(u64, u32, u32, Inner)> {
    let ms = 1_000_000;
    let switch = |prev: (&str, i32, i32), state: i64, next: (&str, i32, i32)| {
        Inner::SchedSwitch(SchedSwitchFtraceEvent {
            prev_comm: Some(prev.0.to_owned()),
            prev_pid: Some(prev.1),
            prev_prio: Some(prev.2),
            prev_state: Some(state),
            next_comm: Some(next.0.to_owned()),
            next_pid: Some(next.1),
            next_prio: Some(next.2),
        })
    };
    let waking = |comm: &str, pid: i32, prio: i32| {
        Inner::SchedWaking(SchedWakingFtraceEvent {
            comm: Some(comm.to_owned()),
            pid: Some(pid),
            prio: Some(prio),
            success: Some(1),
            target_cpu: Some(0),
        })
    };
    let (a, b, i0, i1) = (
        ("a", 11, 120),
        ("b", 12, 110),
        ("swapper/0", 0, 120),
        ("swapper/1", 0, 120),
    );
    let at = |us: u64| 10_000 * ms + us * 1000;
    vec![
        (at(0), 0, 11, switch(a, 1, i0)),
        (at(1000), 1, 12, waking("a", 11, 120)),
        (at(1010), 0, 0, switch(i0, 0, a)),
        (at(3000), 1, 12, switch(b, 2, i1)),
        (at(4010), 0, 11, switch(a, 1, i0)),
        (at(5000), 1, 0, waking("b", 12, 110)),
        (at(5000), 1, 0, switch(i1, 0, b)),
        (at(6000), 1, 12, switch(b, 1, i1)),
    ]
}

fn packet(data: Data) -> TracePacket {
    TracePacket {
        data: Some(data),
        ..TracePacket::default()
    }
}

fn tasks(trace: &Trace) -> Workload {
    let file = temporary(&trace.encode_to_vec());
    let spec = load(&format!("trace:{}", file.path().display()), None).expect("a workload");
    spec.expand(1, MachineFacts::alike(2)).expect("expanded")
}

/// One bundle per CPU: the file is not in the order of time.
#[test]
fn bundles_are_put_in_order() {
    let bundle = |cpu: u32| {
        let own = events().into_iter().filter(|(_, on, ..)| *on == cpu);
        let event = own.map(|(time, _, pid, event)| FtraceEvent {
            timestamp: Some(time),
            pid: Some(pid),
            common_flags: None,
            event: Some(event),
        });
        packet(Data::FtraceEvents(FtraceEventBundle {
            cpu: Some(cpu),
            event: event.collect(),
            ..FtraceEventBundle::default()
        }))
    };
    let trace = Trace {
        packet: vec![bundle(1), bundle(0)],
    };
    assert_eq!(
        tasks(&trace).tasks,
        loaded(HAND, None).expect("text").0.tasks
    );
    // Every beginning of it is a recording or one message.
    let bytes = trace.encode_to_vec();
    for end in 0..bytes.len() {
        let file = temporary(&bytes[..end]);
        if let Err(error) = load(&format!("trace:{}", file.path().display()), None) {
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}

/// The compact form leaves out who was there before the first switch of each CPU.
#[test]
fn the_compact_form_says_the_same_after_its_first_switches() {
    let compact = |cpu: u32| {
        let mut out = CompactSched {
            intern_table: ["a", "b", "swapper"].map(str::to_owned).to_vec(),
            ..CompactSched::default()
        };
        let name = |comm: &str| match comm {
            "a" => 0,
            "b" => 1,
            _ => 2,
        };
        let (mut last_switch, mut last_waking) = (0, 0);
        for (time, on, _, event) in events() {
            match event {
                Inner::SchedSwitch(e) if on == cpu => {
                    out.switch_timestamp.push(time - last_switch);
                    last_switch = time;
                    out.switch_prev_state.push(e.prev_state.unwrap_or(0));
                    out.switch_next_pid.push(e.next_pid.unwrap_or(0));
                    out.switch_next_prio.push(e.next_prio.unwrap_or(0));
                    out.switch_next_comm_index
                        .push(name(&e.next_comm.unwrap_or_default()));
                }
                Inner::SchedWaking(e) if on == cpu => {
                    out.waking_timestamp.push(time - last_waking);
                    last_waking = time;
                    out.waking_pid.push(e.pid.unwrap_or(0));
                    out.waking_target_cpu.push(0);
                    out.waking_prio.push(e.prio.unwrap_or(0));
                    out.waking_comm_index
                        .push(name(&e.comm.unwrap_or_default()));
                    out.waking_common_flags.push(0);
                }
                _ => {}
            }
        }
        packet(Data::FtraceEvents(FtraceEventBundle {
            cpu: Some(cpu),
            compact_sched: Some(out),
            ..FtraceEventBundle::default()
        }))
    };
    let workload = tasks(&Trace {
        packet: vec![compact(0), compact(1)],
    });
    // a: woken by nobody that is known (b was not yet seen to run), runs 3 ms. b: begins when it is
    // first seen, woken at 5 ms, runs 1 ms.
    let ran = |name: &str| -> u64 {
        let task = workload
            .tasks
            .iter()
            .find(|task| task.name == name)
            .expect(name);
        let work = |event: &wakeplace_workload::Event| match event {
            wakeplace_workload::Event::Run { work_ns } => *work_ns,
            _ => 0,
        };
        task.phases[0].events.iter().map(work).sum()
    };
    assert_eq!((ran("a"), ran("b")), (3_000_000, 1_000_000));
}

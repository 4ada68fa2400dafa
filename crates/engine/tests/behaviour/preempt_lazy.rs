//! Lazy preemption on the simulated machine (docs/rules/queues.md#lazy-preemption). Costs are off.
//!
//! What must stay: times are of the tick (HZ 250) and the system call; the rule itself is
//! crates/policy-sys/tests/all/preempt_lazy.rs.
//! Tests by part (in crates/engine/src): kernel/model/tick.rs:
//! `another_cpu_acts_when_it_leaves_the_kernel` (`reschedule_lazily`).
//! Helpers, and who fails with them: `post`, `on`, `woken_runs_at`
//! (`another_cpu_acts_when_it_leaves_the_kernel`).

use crate::common::*;
use wakeplace_workload::{
    Attributes, Channel, Event, Loops, RealTime, Shared, TaskScript, Workload,
};

const SLEEPER: u32 = 1;

fn post(channel: u32) -> Event {
    let sync = false;
    Event::Post { channel, sync }
}

fn on(cpu: u32, events: &[Event]) -> TaskScript {
    TaskScript {
        cpus: Some(vec![cpu]),
        ..script(Loops::Times(1), vec![phase(1, None, events)])
    }
}

/// CPU 1 computes from 0 on, and makes a system call at 11 ms if it `calls`. At 10 ms CPU 0 wakes a
/// task of CPU 1 whose slice is the shortest. When does that one run, and of which class is it?
fn woken_runs_at(
    arch: &'static str,
    preempt: &str,
    calls: bool,
    realtime: Option<RealTime>,
) -> u64 {
    let board = Board {
        arch,
        ..Board::symmetric(2)
    };
    let computes = match calls {
        true => vec![run_ms(11), post(1), run_ms(1000)],
        false => vec![run_ms(1000)],
    };
    let sleeper = TaskScript {
        slice_ns: Some(100_000),
        attributes: Attributes {
            realtime,
            ..Attributes::default()
        },
        ..on(1, &[Event::Wait { channel: 0 }, run_ms(1)])
    };
    let waker = on(0, &[sleep_ms(10), post(0)]);
    let other = on(0, &[Event::Wait { channel: 1 }]);
    let tasks = vec![on(1, &computes), sleeper, waker, other];
    let load = Workload {
        shared: Shared {
            channels: vec![Channel::default(); 2],
            ..Shared::default()
        },
        ..workload(tasks, vec![])
    };
    let policy = policy("linux-7.3", &[("preempt", preempt), ("hrtick", "off")]);
    let (_, log) = simulate(&board.platform(), &policy, &load, &all_off(50 * MS));
    let runs = log.stretches(SLEEPER);
    let after = runs.iter().find(|stretch| stretch.from >= 10 * MS);
    after.expect("it is woken").from
}

/// Goal: an interrupt at once; lazily the tick of HZ 250 that is next, at 12 ms, or the end of the
/// running task's own system call at 11 ms; an RT task at once. Source:
/// docs/rules/queues.md#lazy-preemption, the worked case.
#[test]
fn another_cpu_acts_when_it_leaves_the_kernel() {
    let soon = |at: u64| assert!((10 * MS..10 * MS + 100 * US).contains(&at), "{at}");
    soon(woken_runs_at("arm64", "full", false, None));
    assert_eq!(woken_runs_at("arm64", "lazy", false, None), 12 * MS);
    let called = woken_runs_at("arm64", "lazy", true, None);
    assert!((11 * MS..11 * MS + 100 * US).contains(&called), "{called}");
    assert_eq!(woken_runs_at("x86_64", "auto", false, None), 12 * MS);
    soon(woken_runs_at("arm", "auto", false, None));
    let fifo = Some(RealTime::Fifo { priority: 1 });
    soon(woken_runs_at("arm64", "lazy", false, fifo));
}

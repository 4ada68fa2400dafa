//! What lies between the choice of a CPU and the task in its queue
//! (docs/rules/wake-ups.md#try-to-wake-up, docs/rules/wake-ups.md#race-window;
//! docs/rules/short-wakes.md#race-model).
//!
//! What must stay: each part of a wake-up takes its time once; costs are named in the tests.
//! Tests by part (in crates/engine/src): kernel/model/report.rs:
//! `without_a_delay_no_idle_cpu_is_chosen_twice` (`double_placements`), `a_lock_is_taken_in_turn`
//! (`lock_wait_ns`); kernel/model/wake_latency.rs: `without_a_delay_no_idle_cpu_is_chosen_twice`
//! (visibility); mechanics/offered.rs: `a_polling_cpu_needs_no_interrupt` (`ipi`);
//! kernel/model/wake_latency.rs: `a_remote_wake_up_takes_the_sum_of_its_parts`,
//! `the_wake_list_spares_the_waker_the_lock`, `a_task_that_is_switching_out_is_waited_for`.
//! Helpers, and who fails with them: `ping_pong`, `busy_pairs`
//! (`without_a_delay_no_idle_cpu_is_chosen_twice`, `a_task_that_is_switching_out_is_waited_for`);
//! `channels` (`a_remote_wake_up_takes_the_sum_of_its_parts`,
//! `the_wake_list_spares_the_waker_the_lock`, `a_lock_is_taken_in_turn`); `napper`
//! (`a_polling_cpu_needs_no_interrupt`); `stacked_on_idle`
//! (`without_a_delay_no_idle_cpu_is_chosen_twice`); `latencies`
//! (`a_remote_wake_up_takes_the_sum_of_its_parts`); `wake_list_spares_the_lock`
//! (`the_wake_list_spares_the_waker_the_lock`).

use crate::common::checker::check_log;
use crate::common::*;
use wakeplace_engine::{Options, RunReport};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{
    Event, LoadOptions, Loops, MachineFacts, Shared, Spec, TaskScript, Workload,
};

fn ping_pong(argument: &str, nr_cpus: u32) -> Workload {
    let spec = Spec::parse(argument, &LoadOptions::default()).expect("valid");
    spec.expand(1, MachineFacts::alike(nr_cpus)).expect("valid")
}

/// So many empty channels.
pub(crate) fn channels(nr: usize) -> Shared {
    Shared {
        channels: vec![wakeplace_workload::Channel::default(); nr],
        ..Shared::default()
    }
}

/// A task that does nothing every `period_ms`, on these CPUs.
fn napper(cpus: Option<&[u32]>, period_ms: u64, delay_ms: u64) -> TaskScript {
    TaskScript {
        cpus: cpus.map(<[u32]>::to_vec),
        delay_ns: delay_ms * MS,
        ..script(
            Loops::Forever,
            vec![phase(1, None, &[run_ms(1), sleep_ms(period_ms)])],
        )
    }
}

/// Wake-ups whose CPU had been chosen for another task that had not run there yet.
fn stacked_on_idle(log: &Log) -> usize {
    let mut expected: Vec<(u32, u32)> = Vec::new(); // CPU, task
    let mut stacked = 0;
    for entry in &log.0 {
        match entry.what {
            What::Placement(p) => {
                let idle = format!("{:?}", p.reason).starts_with("Idle");
                stacked += usize::from(idle && expected.iter().any(|(cpu, _)| *cpu == p.cpu));
                expected.push((p.cpu, p.task));
            }
            What::Start { task, .. } => expected.retain(|(_, t)| *t != task),
            What::Migrate { task, to, .. } => {
                for (cpu, t) in &mut expected {
                    if *t == task {
                        *cpu = to;
                    }
                }
            }
            _ => {}
        }
    }
    stacked
}

fn busy_pairs(policy: &Policy, options: &Options) -> (RunReport, Log) {
    let platform = Board::symmetric(8).platform();
    let load = ping_pong("context-switch:pairs=8,run=5us,warmup=20ms", 8);
    let (report, log) = simulate(&platform, policy, &load, options);
    let switching = options.switch_out_ns.is_some();
    let eevdf = policy.core_params().queue != 0;
    check_log(&platform, &load, &log, &report, eevdf || switching);
    (report, log)
}

/// Goal: docs/rules/wake-ups.md#race-window: with no delay, no two tasks are placed on one idle
/// CPU; docs/rules/short-wakes.md#short-scenarios (1): with a delay there are. Method: 8 pairs on 8
/// CPUs; what is idle is what the core said it was.
#[test]
fn without_a_delay_no_idle_cpu_is_chosen_twice() {
    for name in ["linux-4.17", "linux-7.3"] {
        let policy = policy(name, &[("governor", "performance")]);
        let (report, log) = busy_pairs(&policy, &all_on(100 * MS));
        assert_eq!(report.double_placements, None);
        assert_eq!(stacked_on_idle(&log), 0, "{name}");
        let delayed = Options {
            publish_ns: Some(1000),
            ..all_on(100 * MS)
        };
        let (report, log) = busy_pairs(&policy, &delayed);
        assert!(report.double_placements > Some(0), "{name}");
        assert!(stacked_on_idle(&log) > 0, "{name}");
    }
}

/// Times from a task's wake-ups until it ran.
fn latencies(log: &Log, task: u32) -> Vec<u64> {
    log.latencies(task).iter().map(|(_, (_, ns))| *ns).collect()
}

/// Goal: each part of a remote wake-up takes its time. Method: a timer on CPU 0, where a hog runs,
/// wakes a task that may only use CPU 1: the delay until the choice is seen, the interrupt, the way
/// out of WFI. The first wake-up is by a timer on CPU 1 itself. One cache; 7.3 has a wake list
/// there, 4.17 does not: the time is the same.
#[test]
fn a_remote_wake_up_takes_the_sum_of_its_parts() {
    for (name, publish_ns, ipi_ns) in [
        ("linux-4.17", 0, 1000),
        ("linux-7.3", 0, 1000),
        ("linux-4.17", 600, 2500),
        ("linux-7.3", 600, 2500),
    ] {
        let events = [
            Event::Post {
                channel: 0,
                sync: false,
            },
            Event::Sleep {
                duration_ns: 2 * MS,
            },
        ];
        let poster = TaskScript {
            cpus: Some(vec![0]),
            ..script(Loops::Forever, vec![phase(1, None, &events)])
        };
        let waiter = TaskScript {
            cpus: Some(vec![1]),
            ..script(
                Loops::Forever,
                vec![phase(1, None, &[Event::Wait { channel: 0 }])],
            )
        };
        let load = Workload {
            shared: channels(1),
            ..workload(vec![poster, waiter], vec![])
        };
        let options = Options {
            publish_ns: Some(publish_ns),
            ipi_ns: Some(ipi_ns),
            ..all_off(50 * MS)
        };
        let policy = policy(name, &[("governor", "performance")]);
        let (_, log) = simulate(&Board::symmetric(2).platform(), &policy, &load, &options);
        let mut found = latencies(&log, 1);
        found.drain(..2); // the start line, and a unit that was there already
        assert!(found.len() > 20);
        assert_eq!(found, vec![publish_ns + ipi_ns + US; found.len()], "{name}");
    }
}

/// Goal: docs/rules/wake-ups.md#try-to-wake-up step 5: to another cache always by wake list; within
/// a cache 4.17 takes the target's lock and 7.3 only where a task runs or the target is the waker's
/// own CPU; the live queues as 7.3 (docs/rules/live-queue.md#vq-wake-list). Method: by the lock,
/// which costs the waker the time to fetch it; by the list, nobody fetches anything: the target's
/// lock stays there.
#[test]
fn the_wake_list_spares_the_waker_the_lock() {
    for queue in ["cfs", "dsq"] {
        wake_list_spares_the_lock(queue);
    }
}

fn wake_list_spares_the_lock(queue: &str) {
    let lock_wait = |wake_list: &str, clusters: Vec<(u32, u32)>, target_busy: bool| {
        let board = Board {
            clusters,
            ..Board::symmetric(1)
        };
        let events = [
            Event::Run { work_ns: 10 * US },
            Event::Post {
                channel: 0,
                sync: false,
            },
        ];
        let poster = TaskScript {
            cpus: Some(vec![0]),
            ..script(Loops::Forever, vec![phase(1, None, &events)])
        };
        let waiter = TaskScript {
            cpus: Some(vec![1]),
            ..script(
                Loops::Forever,
                vec![phase(1, None, &[Event::Wait { channel: 0 }])],
            )
        };
        let mut tasks = vec![poster, waiter];
        if target_busy {
            tasks.push(hog(Some(&[1])));
        }
        let load = Workload {
            shared: channels(1),
            ..workload(tasks, vec![])
        };
        let options = Options {
            lock_shared_cache_ns: Some(100),
            lock_other_cache_ns: Some(100),
            ..all_off(20 * MS)
        };
        let policy = policy(
            "linux-4.17",
            &[
                ("governor", "performance"),
                ("wake_list", wake_list),
                ("queue", queue),
                ("balance", "off"),
                ("newidle_balance", "off"),
                ("nohz_balance", "off"),
            ],
        );
        let (report, _) = simulate(&board.platform(), &policy, &load, &options);
        report.lock_wait_ns.expect("locks take time")
    };
    let (one, two) = (|| vec![(2, 1024)], || vec![(1, 1024); 2]);
    assert!(lock_wait("cache", one(), false) > 1000);
    assert_eq!(lock_wait("idle", one(), false), 0);
    assert!(lock_wait("idle", one(), true) > 1000);
    assert_eq!(lock_wait("cache", two(), true), 0);
    assert_eq!(lock_wait("idle", two(), true), 0);
    assert!(lock_wait("off", two(), false) > 1000);
}

/// Goal: who wants a queue's lock waits for those who asked before. Method: timers of three CPUs
/// wake three tasks at one instant, all of which may use CPU 3 only; costs are off, a lock is held
/// 1000 ns. The first has it at once, the second after 1000 ns, the third after 2000 ns.
#[test]
fn a_lock_is_taken_in_turn() {
    let poster = |channel: u32| TaskScript {
        cpus: Some(vec![channel]),
        delay_ns: 10 * MS,
        ..script(
            Loops::Times(1),
            vec![phase(
                1,
                None,
                &[Event::Post {
                    channel,
                    sync: false,
                }],
            )],
        )
    };
    let waiter = |channel: u32| TaskScript {
        cpus: Some(vec![3]),
        ..script(
            Loops::Times(1),
            vec![phase(
                1,
                None,
                &[Event::Wait { channel }, Event::Run { work_ns: US }],
            )],
        )
    };
    let tasks = (0..3).map(poster).chain((0..3).map(waiter)).collect();
    let load = Workload {
        shared: channels(3),
        ..workload(tasks, vec![])
    };
    let options = Options {
        lock_hold_ns: Some(1000),
        ..all_off(S)
    };
    let (report, _) = simulate(
        &Board::symmetric(4).platform(),
        &performance(),
        &load,
        &options,
    );
    // Waiting for the lock: 1000 + 2000 ns of the wakers. CPU 3 leaves WFI 1 us after the first
    // wake-up and then waits for the other two to be done: 3000 - 1000 ns.
    assert_eq!(report.lock_wait_ns, Some(1000 + 2000 + 2000));
}

/// Goal: a task still on its way off its CPU is not torn from it
/// (docs/rules/wake-ups.md#try-to-wake-up step 2): its waker waits, or with the wake list of 6.0
/// leaves it to that CPU without choosing one. Method: a hog-free pair in which the child answers
/// at once; every hop finds the other one still switching out for 5 us.
#[test]
fn a_task_that_is_switching_out_is_waited_for() {
    let options = Options {
        switch_out_ns: Some(20_000),
        ..all_on(100 * MS)
    };
    let plain = all_on(100 * MS);
    for name in ["linux-4.17", "linux-7.3"] {
        let policy = policy(name, &[("governor", "performance")]);
        let slow = busy_pairs(&policy, &options).0.counted.expect("counted");
        let fast = busy_pairs(&policy, &plain).0.counted.expect("counted");
        assert!(slow.units < fast.units, "{name}: {slow:?} {fast:?}");
    }
}

/// Goal: to wake a CPU that polls takes no interrupt. Method: as above, with the platform's word.
#[test]
fn a_polling_cpu_needs_no_interrupt() {
    let mut platform = Board::symmetric(2).platform();
    let load = workload(vec![napper(Some(&[0]), 3, 1), hog(Some(&[1]))], vec![]);
    let fork_latency = |platform: &wakeplace_platform::Platform| {
        let (_, log) = simulate(platform, &performance(), &load, &all_on(10 * MS));
        let placed = log.pick(|w| match w {
            What::Placement(p) if p.task == 1 => Some(p.cpu),
            _ => None,
        });
        log.stretches(1)[0].from - placed[0].0
    };
    // An interrupt of 1 us and WFI's exit of 1 us.
    assert_eq!(fork_latency(&platform), 2 * US);
    platform.idle_states[0].polling = true;
    assert_eq!(fork_latency(&platform), US);
}

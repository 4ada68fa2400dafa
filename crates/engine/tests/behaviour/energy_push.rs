//! Tasks that no longer wake are pushed to a CPU that costs less (docs/rules/energy-push.md#stuck).
//!
//! What must stay: where the tasks are before and after follows from the page. Free: how scripts
//! are built.
//! Tests by part: crates/engine/src/kernel/model/tick.rs: `a_bounded_hog_leaves_the_big_cpu`
//! (`busy_tick`); crates/engine/src/kernel/model/balance.rs: `two_bounded_hogs_part`
//! (`push_put_back`).
//! Helpers, and who fails with them: `bounded`, `last_cpu` (both tests).

use crate::common::*;
use wakeplace_workload::{Loops, TaskScript};

/// For 100 ms on CPU 4, a big one of hikey960, then anywhere; it always runs, under a `uclamp_max`
/// of 200.
fn bounded() -> TaskScript {
    TaskScript {
        uclamp_max: Some(200),
        ..script(
            Loops::Forever,
            vec![
                phase(1, Some(&[4]), &[run_ms(100)]),
                phase(1, None, &[run_ms(1_000_000)]),
            ],
        )
    }
}

/// Where each of so many such tasks was at the end of 3 s, under the form of the rework.
fn last_cpu(tasks: u32, rework: &str) -> Vec<u32> {
    let platform = builtin("hikey960");
    let load = workload((0..tasks).map(|_| bounded()).collect(), vec![]);
    let policy = policy("linux-7.3", &[("energy_rework", rework)]);
    let (_, log) = simulate(&platform, &policy, &load, &all_on(3 * S));
    let last = |task| log.stretches(task).last().expect("it runs to the end").cpu;
    (0..tasks).map(last).collect()
}

/// Goal: a task that is alone and bounded to 200 is stuck once its utilisation is above that, and
/// its tick finds a little CPU: at 200 the state of an A53 costs 2813, that of an A73 6223. Without
/// the push it never wakes and stays: it fits CPU 4, so that nothing else moves it. Source:
/// docs/rules/energy-push.md#stuck, docs/rules/energy-numbers.md#em-numbers.
#[test]
fn a_bounded_hog_leaves_the_big_cpu() {
    for rework in ["off", "cost"] {
        assert_eq!(last_cpu(1, rework), [4], "{rework}");
    }
    for rework in ["push", "misfit"] {
        assert!(last_cpu(1, rework)[0] < 4, "{rework}");
    }
}

/// Goal: of two such tasks on one CPU none is alone at its tick: one is pushed when it is put back
/// to wait, the other then is alone. Source: docs/rules/energy-push.md#stuck.
#[test]
fn two_bounded_hogs_part() {
    let cpus = last_cpu(2, "push");
    assert!(cpus.iter().all(|cpu| *cpu < 4), "{cpus:?}");
    assert_ne!(cpus[0], cpus[1], "the one with fewer tasks");
}

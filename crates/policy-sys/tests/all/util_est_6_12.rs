//! The estimate in 6.12's order of update, against the table of
//! docs/rules/signals.md#pelt-periodic-task.
//!
//! What must stay: columns 4 and 5 of the page's table, every row. It covers
//! policy/src/load_tracking/util_est.c. Free: how rows are read.
//! Tests by part: `column_5_of_the_periodic_task`, `column_4_before_and_after` (`wp_util_est_next`,
//! `wp_util_est_update`).
//! Helpers, and who fails with them: `estimates` (all tests, `column_5_of_the_periodic_task` among
//! them).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{core, lone_cpu};
use wakeplace_policy_sys::{Task, sys};

/// The estimate after each activation of a task of 0.8 ms every 16 ms, alone on a CPU of 1024.
fn estimates(era: &str, activations: u64) -> Vec<u32> {
    let set = [("post_init_util", "off"), ("governor", "performance")];
    let mut core = core(&lone_cpu(1024), era, &set);
    let mut task = Task::new(1, 1024, 0, None, 1);
    core.task_init(&mut task);
    core.task_new(&mut task, 0, 0);
    let mut list = Vec::new();
    for k in 0..activations {
        let (wake, sleep) = (k * 16_000_000, k * 16_000_000 + 800_000);
        core.exit_idle(0, wake);
        if k == 0 {
            core.enqueue_new(&mut task, 0, wake);
        } else {
            core.enqueue_woken(&mut task, 0, wake);
        }
        core.set_current(&mut task, wake);
        core.dequeue_sleep(&mut task, sleep);
        core.enter_idle(0, sleep);
        list.push(task.raw().util_est & !sys::WP_UTIL_EST_UNCHANGED);
    }
    list
}

/// Goal: the value of the last update before the sleep. Source:
/// docs/rules/signals.md#pelt-periodic-task, column 5 ("util_est with 6.12.117 order"), activations
/// 1 to 10, 12 and steady.
#[test]
fn column_5_of_the_periodic_task() {
    let got = estimates("linux-6.12", 200);
    assert_eq!(got[..10], [0, 12, 21, 27, 31, 35, 37, 39, 40, 41]);
    assert_eq!(got[11], 42);
    assert!(got[100..].iter().all(|est| *est == 43), "{:?}", &got[100..]);
}

/// Goal: the older and the later order both take the value after the update. Source:
/// docs/rules/signals.md#pelt-periodic-task, column 4, activations 1 to 4, in which it rises (of a
/// pair its fast half).
#[test]
fn column_4_before_and_after() {
    for era in ["linux-6.2", "linux-7.3"] {
        assert_eq!(estimates(era, 4), [0, 28, 37, 43], "{era}");
    }
}

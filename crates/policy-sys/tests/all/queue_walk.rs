//! Looks at the tasks that wait on a CPU (policy/src/live_queue/queue_walk.c), in numbers worked
//! out here. All of nice 0, slices of 3 ms.
//!
//! What must stay: a walk is begin, offers, end, with nothing between; who is offered is in the
//! order in which they joined. The rule is docs/rules/live-queue.md. Free: names of tasks, and how
//! helpers build a queue.
//! Tests by part: `the_first_that_is_owed_time_is_taken`, `a_walk_begins_where_there_is_a_choice`,
//! `the_running_task_goes_on_if_it_is_due_first`, `a_sleepers_turn_begins_the_walk_anew`,
//! `a_sleeper_goes_before_those_that_are_not_owed` (`wp_pick_begin`, `wp_pick_offer`,
//! `wp_pick_end`); `before_a_lone_one_sleepers_leave_as_in_a_walk` (`wp_pick_lone`);
//! `a_task_of_one_cpu_is_the_next` (`wp_live_queue_is_next`); `only_the_first_are_looked_at`
//! (`wp_pick_offer`, `wp_preempt_offer`, `WP_LIVE_QUEUE_LOOKS`);
//! `who_waits_and_is_due_first_keeps_another_from_preempting` (`wp_preempt_begin`,
//! `wp_preempt_offer`, `wp_preempt_end`).
//! Helpers, and who fails with them: `core`, `waiting` (all tests,
//! `the_first_that_is_owed_time_is_taken` among them); `run` (most tests,
//! `the_first_that_is_owed_time_is_taken` among them).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use wakeplace_policy_sys::sys::WP_LIVE_QUEUE_LOOKS;
use wakeplace_policy_sys::{Core, Offer, QueueWalk, Task};

const MS: u64 = 1_000_000;
const NICE_0: u32 = 1024;

/// Two CPUs, a tick of 4 ms.
fn core(keeps_sleepers: &str) -> Core {
    let settings = [
        ("queue", "dsq"),
        ("delay_dequeue", keeps_sleepers),
        ("vq_slice_ns", "3000000"),
        ("tunable_scaling", "none"),
    ];
    let facts = common::machine(&[common::cluster(2, 1024)]);
    let mut core = common::core(&facts, "linux-7.3", &settings);
    core.state_mut().tick_ns = 4_000_000;
    core
}

/// Tasks that wait on CPU 0 since time 0, level with each other: their deadlines are at 3 ms.
fn waiting<const N: usize>(core: &mut Core) -> [Task; N] {
    let mut id = 0;
    [(); N].map(|()| {
        id += 1;
        let mut task = Task::new(id, NICE_0, 0, None, 2);
        core.live_queue_place(&mut task, 0, 0);
        task
    })
}

fn run(core: &mut Core, task: &mut Task, from: u64, to: u64) {
    core.live_queue_start(task, 0, from);
    core.live_queue_stop(task, to);
}

/// One of three has run 6 ms: V is 2, it is at 6.
#[test]
fn the_first_that_is_owed_time_is_taken() {
    let mut core = core("off");
    let [mut a, b, _c] = waiting(&mut core);
    run(&mut core, &mut a, 0, 6 * MS);
    let mut walk = QueueWalk::over(0, 6 * MS);
    assert!(core.pick_begin(&mut walk, false, 3));
    assert_eq!(core.pick_offer(&mut walk, &a), Offer::Skip);
    assert_eq!(core.pick_offer(&mut walk, &b), Offer::Take);
    assert!(!core.pick_end(&walk));
}

/// Of one that waits there is nothing to choose, unless the own task could go on or a sleeper's
/// turn may come.
#[test]
fn a_walk_begins_where_there_is_a_choice() {
    let mut core = core("on");
    let [mut a, _b] = waiting(&mut core);
    let mut walk = QueueWalk::over(0, 0);
    for (runs, waiting, choice) in [
        (false, 0, false),
        (false, 1, false),
        (false, 2, true),
        (true, 0, false),
        (true, 1, true),
    ] {
        let begins = core.pick_begin(&mut walk, runs, waiting);
        assert_eq!(begins, choice, "{runs} {waiting}");
    }
    run(&mut core, &mut a, 0, 6 * MS);
    core.live_queue_leave(&mut a, true, 6 * MS);
    assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0, "it owes 3 ms");
    assert!(core.pick_begin(&mut walk, false, 1));
    assert!(!core.pick_begin(&mut walk, false, 0), "nobody to go before");
}

/// It has just begun, level with the other, whose deadline is 3 ms like its own, or later. After
/// its slice it is ahead of V.
#[test]
fn the_running_task_goes_on_if_it_is_due_first() {
    for (deadline, at, offer) in [
        (3 * MS, 10 * MS, Offer::Take),
        (4 * MS, 10 * MS, Offer::Stop),
        (4 * MS, 13 * MS, Offer::Take),
    ] {
        let mut core = core("off");
        let [mut a, mut b] = waiting(&mut core);
        core.live_queue_start(&mut a, 0, 10 * MS);
        b.raw_mut().deadline_ns = deadline;
        let mut walk = QueueWalk::over(0, at);
        assert!(core.pick_begin(&mut walk, true, 1));
        assert_eq!(core.pick_offer(&mut walk, &b), offer, "{deadline} {at}");
        assert!(!core.pick_end(&walk));
    }
}

/// The times are 6 (who sleeps), 12 and 6; V is 8. The sleeper's deadline is 9, as is that of the
/// third, and it was there first. Without it V is 9: the second is still ahead, the third is owed.
#[test]
fn a_sleepers_turn_begins_the_walk_anew() {
    let mut core = core("on");
    let [mut debtor, mut b, mut c] = waiting(&mut core);
    run(&mut core, &mut debtor, 0, 6 * MS);
    core.live_queue_leave(&mut debtor, true, 6 * MS);
    run(&mut core, &mut b, 6 * MS, 18 * MS);
    run(&mut core, &mut c, 18 * MS, 24 * MS);
    let mut walk = QueueWalk::over(0, 24 * MS);
    assert!(core.pick_begin(&mut walk, false, 2));
    assert_eq!(core.pick_offer(&mut walk, &b), Offer::Skip);
    assert_eq!(core.pick_offer(&mut walk, &c), Offer::Stop);
    assert!(core.pick_end(&walk), "the sleeper has left");
    assert!(core.pick_begin(&mut walk, false, 2));
    assert_eq!(core.pick_offer(&mut walk, &b), Offer::Skip);
    assert_eq!(core.pick_offer(&mut walk, &c), Offer::Take);
    assert!(!core.pick_end(&walk));
}

/// The times are 6 (who sleeps), 26 and 12: V is 14 2/3. The one at 26 waits. Its deadline is
/// earlier, but it is not owed.
#[test]
fn a_sleeper_goes_before_those_that_are_not_owed() {
    let mut core = core("on");
    let [mut debtor, mut b, mut c] = waiting(&mut core);
    run(&mut core, &mut debtor, 0, 6 * MS);
    core.live_queue_leave(&mut debtor, true, 6 * MS);
    run(&mut core, &mut b, 6 * MS, 32 * MS);
    run(&mut core, &mut c, 32 * MS, 44 * MS);
    b.raw_mut().deadline_ns = 0;
    let mut walk = QueueWalk::over(0, 44 * MS);
    assert!(core.pick_begin(&mut walk, false, 1));
    assert!(!core.pick_end(&walk), "nobody was offered");
    assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0);
    assert_eq!(core.pick_offer(&mut walk, &b), Offer::Skip);
    assert!(core.pick_end(&walk));
    assert_eq!(core.cpu(0).live.vq_kept_load, 0);
    core.pick_begin(&mut walk, false, 1);
    assert_eq!(core.pick_offer(&mut walk, &b), Offer::Skip);
    assert!(!core.pick_end(&walk), "there is none any more");
}

/// The times are 6 (who sleeps) and 12; V is 9. The lone one that waits is not owed, so that the
/// sleeper's turn comes before: with a walk and without one it leaves, at the same V.
#[test]
fn before_a_lone_one_sleepers_leave_as_in_a_walk() {
    let left = |walks: bool| {
        let mut core = core("on");
        let [mut debtor, mut b] = waiting(&mut core);
        run(&mut core, &mut debtor, 0, 6 * MS);
        core.live_queue_leave(&mut debtor, true, 6 * MS);
        run(&mut core, &mut b, 6 * MS, 18 * MS);
        assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0);
        let mut walk = QueueWalk::over(0, 18 * MS);
        if walks {
            assert!(core.pick_begin(&mut walk, false, 1));
            assert_eq!(core.pick_offer(&mut walk, &b), Offer::Skip);
            assert!(core.pick_end(&walk), "the sleeper has left");
        } else {
            core.pick_lone(&b, 0, 18 * MS);
        }
        let live = core.cpu(0).live;
        (live.vq_kept_load, live.vtime_now_ns)
    };
    assert_eq!(left(false), (0, 12 * MS));
    assert_eq!(left(false), left(true));
}

/// Who has one CPU and was woken by one that is about to sleep is the next there if nobody else
/// waits and somebody runs, but for a task that others displace.
#[test]
fn a_task_of_one_cpu_is_the_next() {
    let mut core = core("on");
    let [mut runs, _b] = waiting(&mut core);
    let [mut bound, free] = [Some(vec![0]), None].map(|cpus| {
        let mut task = Task::new(9, NICE_0, 0, cpus.as_deref(), 2);
        core.task_set_allowed(&mut task);
        task
    });
    bound.raw_mut().woken_sync = 1;
    assert!(!core.live_queue_is_next(&bound, 0, 0), "nobody runs");
    core.live_queue_start(&mut runs, 0, 0);
    assert!(core.live_queue_is_next(&bound, 0, 0));
    assert!(!core.live_queue_is_next(&bound, 0, 1));
    assert!(!core.live_queue_is_next(&free, 0, 0));
    bound.raw_mut().woken_sync = 0;
    assert!(!core.live_queue_is_next(&bound, 0, 0), "the waker goes on");
    bound.raw_mut().woken_sync = 1;
    bound.raw_mut().idle_policy = 1;
    assert!(!core.live_queue_is_next(&bound, 0, 0));
}

#[test]
fn only_the_first_are_looked_at() {
    let mut core = core("off");
    let [mut a, b] = waiting(&mut core);
    run(&mut core, &mut a, 0, 6 * MS);
    let mut walk = QueueWalk::over(0, 6 * MS);
    core.pick_begin(&mut walk, false, 65);
    for _ in 0..WP_LIVE_QUEUE_LOOKS {
        assert_eq!(core.pick_offer(&mut walk, &a), Offer::Skip);
    }
    assert_eq!(core.pick_offer(&mut walk, &b), Offer::Stop);
    let _ = core.preempt_begin(&mut walk, &b);
    a.raw_mut().deadline_ns = 0;
    for _ in 0..WP_LIVE_QUEUE_LOOKS {
        assert_eq!(core.preempt_offer(&mut walk, &a), Offer::Skip);
    }
    assert_eq!(core.preempt_offer(&mut walk, &a), Offer::Stop);
    assert!(Core::preempt_end(&walk));
}

/// The one that runs has run 3 ms: V is 1. A task with deadline 3 preempts it, unless one that is
/// owed time and has no later deadline waits already.
#[test]
fn who_waits_and_is_due_first_keeps_another_from_preempting() {
    let mut core = core("off");
    let [mut a, mut other, task] = waiting(&mut core);
    core.live_queue_start(&mut a, 0, 10 * MS);
    for (deadline, time, at_once) in [
        (3 * MS, 0, false),
        (2 * MS, 0, false),
        (4 * MS, 0, true),
        (2 * MS, 5 * MS, true),
    ] {
        other.raw_mut().deadline_ns = deadline;
        other.raw_mut().vtime_ns = time;
        let mut walk = QueueWalk::over(0, 13 * MS);
        assert!(core.preempt_begin(&mut walk, &task));
        let offer = core.preempt_offer(&mut walk, &other);
        let goes_on = if time > 0 { Offer::Skip } else { Offer::Stop };
        assert_eq!(offer, goes_on, "{deadline} {time}");
        assert_eq!(Core::preempt_end(&walk), at_once, "{deadline} {time}");
    }
    let mut walk = QueueWalk::over(0, 10 * MS);
    let preempts = core.live_queue_preempts(&task, 0, 10 * MS);
    assert_eq!(core.preempt_begin(&mut walk, &task), preempts);
}

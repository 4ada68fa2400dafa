//! The live queues (policy/src/live_queue/queue.c): what its head comment and the comments of its
//! functions promise, in numbers worked out here.
//!
//! What must stay: times and deadlines are exact but for the rounding that a test names; slices are
//! 3 ms, a tick 4 ms, no sleeper is kept. The rule is docs/rules/live-queue.md. Free: names of
//! tasks, and how helpers build a queue.
//! Tests by part: `the_queues_time_is_the_mean_by_weight`, `v_is_the_mean_whatever_happens`
//! (`wp_avg_vruntime`, `wp_update_avg_vruntime`); `a_sleeper_keeps_what_it_is_owed`,
//! `a_sleepers_debt_is_forgiven_as_others_catch_up`, `lags_are_bounded`, `alone_nothing_is_owed`,
//! `a_new_task_has_half_a_slice`, `a_debt_ends_with_the_queue` (`wp_live_queue_place`,
//! `wp_live_queue_leave`, `wp_live_queue_clamp`); `a_move_keeps_lag_and_slice`,
//! `a_pulled_task_is_where_its_deadline_is`, `a_slice_that_is_over_is_not_taken_along`
//! (`wp_live_queue_deadline_on`); `alone_slices_follow_each_other`, `slices_end_if_somebody_waits`,
//! `another_slice_if_nobody_is_owed_time` (`wp_live_queue_expired`, `wp_live_queue_yields`,
//! `wp_update_deadline`); `a_slice_since_it_was_chosen_protects` (`wp_live_queue_protected_ns`);
//! `who_is_owed_time_gives_way_to_an_earlier_deadline_only`,
//! `who_goes_on_beside_others_is_chosen_anew`, `a_debt_that_is_paid_ends_the_turn`
//! (`wp_live_queue_go_on`, `wp_live_queue_yields`); `who_had_its_share_is_preempted`,
//! `a_waker_goes_on_for_a_while`, `the_idle_policy_gives_way`
//! (`wp_live_queue_preempts`); `an_earlier_deadline_that_is_eligible_goes_before`
//! (`wp_live_queue_before`); `a_yield_gives_up_the_slice_of_who_is_owed` (`wp_yield_task`);
//! `a_new_weight_keeps_what_is_owed`, `a_new_weight_counts_for_who_is_away`
//! (`wp_live_queue_reweigh`).
//! Helpers, and who fails with them: `core_at`, `waiting` (all tests,
//! `the_queues_time_is_the_mean_by_weight` among them); `run` (most tests,
//! `the_queues_time_is_the_mean_by_weight` among them); `times` (5 tests,
//! `the_queues_time_is_the_mean_by_weight` among them).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use wakeplace_policy_sys::{Core, QueueKind, Task};

const MS: u64 = 1_000_000;
/// Weight of nice 0, and of nice 5.
const NICE_0: u32 = 1024;
const NICE_5: u32 = 335;

/// Two CPUs, slices of 3 ms, a tick of 4 ms; the queues' times at `start`. Sleepers leave at once:
/// `queue_sleepers.rs` is about those that are kept.
fn core_at(start: u64) -> Core {
    let settings = [
        ("queue", "dsq"),
        ("delay_dequeue", "off"),
        ("vq_slice_ns", "3000000"),
        ("tunable_scaling", "none"),
    ];
    let facts = common::machine(&[common::cluster(2, 1024)]);
    let mut core = common::core(&facts, "linux-4.17", &settings);
    assert_eq!(core.queue_kind(), QueueKind::Live);
    core.state_mut().tick_ns = 4_000_000;
    for cpu in 0..2 {
        core.cpu_mut(cpu).live.vtime_now_ns = start;
    }
    core
}

/// Tasks that wait on CPU 0 since time 0, level with each other.
fn waiting<const N: usize>(core: &mut Core, weights: [u32; N]) -> [Task; N] {
    let mut id = 0;
    weights.map(|weight| {
        id += 1;
        let mut task = Task::new(id, weight, 0, None, 2);
        core.live_queue_place(&mut task, 0, 0);
        task
    })
}

fn run(core: &mut Core, task: &mut Task, from: u64, to: u64) {
    core.live_queue_start(task, 0, from);
    core.live_queue_stop(task, to);
}

/// V, and a task's time, from the start of the test on.
fn times(core: &Core, tasks: &[&Task]) -> (u64, Vec<u64>) {
    let own = tasks.iter().map(|t| t.raw().vtime_ns);
    (core.cpu(0).live.vtime_now_ns, own.collect())
}

/// One of three runs 6 ms: it is 4 ms ahead of the mean, the others are 2 behind. With weights
/// 1024 and 335, 3.35 ms of nice 5 are 10.24 of its own and 3.35 x 1024 / 1359 of the mean.
#[test]
fn the_queues_time_is_the_mean_by_weight() {
    let mut core = core_at(0);
    let [mut a, b, c] = waiting(&mut core, [NICE_0; 3]);
    run(&mut core, &mut a, 0, 6 * MS);
    assert_eq!(times(&core, &[&a, &b, &c]), (2 * MS, vec![6 * MS, 0, 0]));

    let mut core = core_at(0);
    let [mut light, heavy] = waiting(&mut core, [NICE_5, NICE_0]);
    run(&mut core, &mut light, 0, 3_350_000);
    let mean = 3_350_000 * 1024 / 1359;
    assert_eq!(times(&core, &[&light, &heavy]), (mean, vec![10_240_000, 0]));
}

/// Who sleeps while it is owed 2 ms is owed them when it comes back. While it is away the mean is
/// that of the others, (6 + 0) / 2.
#[test]
fn a_sleeper_keeps_what_it_is_owed() {
    let mut core = core_at(0);
    let [mut a, mut b, c] = waiting(&mut core, [NICE_0; 3]);
    run(&mut core, &mut a, 0, 6 * MS);
    core.live_queue_leave(&mut b, true, 6 * MS);
    assert_eq!(core.cpu(0).live.vtime_now_ns, 3 * MS);
    core.live_queue_leave(&mut b, true, 6 * MS);
    assert_eq!(core.cpu(0).live.vtime_now_ns, 3 * MS, "it is gone already");
    core.live_queue_place(&mut b, 0, 6 * MS);
    assert_eq!(times(&core, &[&a, &b, &c]), (2 * MS, vec![6 * MS, 0, 0]));
    assert_eq!(b.deadline_ns(), 3 * MS, "a new slice");
}

/// Who sleeps 4 ms ahead of the mean comes back 3 ms ahead if that has moved on by 1 meanwhile, and
/// level with it once it has moved by 4. It is never owed for that.
#[test]
fn a_sleepers_debt_is_forgiven_as_others_catch_up() {
    for (ran, mean, time) in [
        (2 * MS, 2_500_000, 5_500_000),
        (8 * MS, 4 * MS, 4 * MS),
        (8 * MS + 2, 4 * MS + 1, 4 * MS + 1),
        (40 * MS, 20 * MS, 20 * MS),
    ] {
        let mut core = core_at(0);
        let [mut a, mut b, c] = waiting(&mut core, [NICE_0; 3]);
        run(&mut core, &mut a, 0, 6 * MS);
        core.live_queue_leave(&mut a, true, 6 * MS);
        assert_eq!(core.cpu(0).live.vtime_now_ns, 0, "of two that have not run");
        run(&mut core, &mut b, 6 * MS, 6 * MS + ran);
        core.live_queue_place(&mut a, 0, 6 * MS + ran);
        assert_eq!(times(&core, &[&a, &b, &c]), (mean, vec![time, ran, 0]));
    }
}

/// At most a slice and a tick, 7 ms, is owed after a sleep, in the task's own weighted time; the
/// rest stays with the others.
#[test]
fn lags_are_bounded() {
    for (weight, most) in [(NICE_0, 7 * MS), (NICE_5, 7 * MS * 1024 / 335)] {
        let mut core = core_at(0);
        let [mut a, mut b, _c] = waiting(&mut core, [NICE_0, weight, NICE_0]);
        run(&mut core, &mut a, 0, 900 * MS);
        core.live_queue_leave(&mut b, true, 900 * MS);
        core.live_queue_place(&mut b, 0, 900 * MS);
        let lag = core.cpu(0).live.vtime_now_ns - b.raw().vtime_ns;
        assert_eq!(lag, most);
    }
}

/// A task that moves takes along what it is owed and what is left of its slice: 2 ms and 3 - 0.
/// There, beside one task, the mean goes back by 2, so that it is owed 2 again.
#[test]
fn a_move_keeps_lag_and_slice() {
    let mut core = core_at(500 * MS);
    let [mut a, mut b, _c] = waiting(&mut core, [NICE_0; 3]);
    run(&mut core, &mut a, 0, 6 * MS);
    run(&mut core, &mut b, 6 * MS, 7 * MS);
    core.cpu_mut(1).live.vtime_now_ns = 20 * MS;
    let mut there = Task::new(9, NICE_0, 1, None, 2);
    core.live_queue_place(&mut there, 1, 7 * MS);
    core.live_queue_place(&mut b, 1, 7 * MS);
    // Of 6, 1 and 0 the mean is 7/3; b is behind it by 4/3, rounded as V was, twice.
    let lag = core.cpu(1).live.vtime_now_ns - b.raw().vtime_ns;
    assert!(lag.abs_diff(4 * MS / 3) <= 2, "{lag}");
    assert_eq!(core.cpu(1).live.vtime_now_ns, 20 * MS - lag);
    assert_eq!(b.deadline_ns() - b.raw().vtime_ns, 2 * MS, "1 of 3 ms used");
    let before = b.deadline_ns();
    core.live_queue_place(&mut b, 1, 9 * MS);
    assert_eq!(b.deadline_ns(), before, "once");
}

/// Alone it is the queue: nothing is owed, whatever it slept or ran.
#[test]
fn alone_nothing_is_owed() {
    let mut core = core_at(500 * MS);
    let [mut a] = waiting(&mut core, [NICE_5]);
    run(&mut core, &mut a, 0, 50 * MS);
    let own = 500 * MS + 50 * MS * 1024 / 335;
    assert_eq!(times(&core, &[&a]), (own, vec![own]));
    core.live_queue_leave(&mut a, true, 50 * MS);
    core.live_queue_place(&mut a, 0, 90 * MS);
    assert_eq!(times(&core, &[&a]), (own, vec![own]));
}

/// Alone its slices follow each other, as ticks see it: at 10 ms it is in the one that began at 8.
/// A timer that was set for its end has 1 ms to go.
#[test]
fn alone_slices_follow_each_other() {
    let mut core = core_at(0);
    let [mut a] = waiting(&mut core, [NICE_0]);
    core.live_queue_start(&mut a, 0, 0);
    assert!(!core.live_queue_expired(0, 0, 4 * MS) && !core.live_queue_expired(0, 0, 8 * MS));
    assert_eq!(core.slice_left_ns(0, 10 * MS), MS);
}

/// Source: docs/rules/live-queue.md#vq-protected. Slices are 3 ms. A task that is owed nothing
/// wakes beside one that runs alone since 0: until 3 ms that one is protected, level with V. From
/// then on it is not, wherever its present slice ends.
#[test]
fn a_slice_since_it_was_chosen_protects() {
    for (woken_ms, preempts) in [(1, false), (2, false), (3, true), (4, true), (10, true)] {
        let mut core = core_at(0);
        let [mut a] = waiting(&mut core, [NICE_0]);
        core.live_queue_start(&mut a, 0, 0);
        assert!(!core.live_queue_expired(0, 0, woken_ms * MS)); // a tick: slices go on
        let mut b = Task::new(2, NICE_0, 0, None, 2);
        core.live_queue_place(&mut b, 0, woken_ms * MS);
        assert_eq!(
            core.live_queue_preempts(&b, 0, woken_ms * MS),
            preempts,
            "{woken_ms} ms"
        );
    }
}

/// The same: one that is owed time and not protected gives way to a deadline that is not later. b
/// ran 9 ms, a runs since then: at 13 ms a is at 4, V at 6.5, and the slice over that protected a.
#[test]
fn who_is_owed_time_gives_way_to_an_earlier_deadline_only() {
    let mut core = core_at(0);
    let [mut a, mut b] = waiting(&mut core, [NICE_0; 2]);
    run(&mut core, &mut b, 0, 9 * MS);
    core.live_queue_start(&mut a, 0, 9 * MS);
    core.cpu_mut(0).live.curr_deadline_ns = 5 * MS;
    let mut c = Task::new(3, NICE_0, 0, None, 2);
    core.live_queue_place(&mut c, 0, 13 * MS);
    assert!(core.entity_eligible(&c, 0, 13 * MS));
    for (due_ns, preempts) in [(5 * MS + 1, false), (5 * MS, true)] {
        c.raw_mut().deadline_ns = due_ns;
        assert_eq!(core.live_queue_preempts(&c, 0, 13 * MS), preempts);
    }
}

/// The same: who waits in debt runs as soon as it has paid, unless the other one is protected. a
/// runs since 0, its slice ends at 12.5 ms; b owes 1 ms when it joins at 10. V is then at 11, b at
/// 12, and V moves at half the speed of a: a and b are level after 2 ms (and what rounding hides).
#[test]
fn a_debt_that_is_paid_ends_the_turn() {
    let mut core = core_at(0);
    let [mut a] = waiting(&mut core, [NICE_0]);
    core.live_queue_start(&mut a, 0, 0);
    assert!(!core.live_queue_expired(0, 0, 9 * MS + 500_000));
    let mut b = Task::new(2, NICE_0, 0, None, 2);
    b.raw_mut().vq_lag_ns = 0_u64.wrapping_sub(MS);
    b.raw_mut().vtime_ns = 10 * MS + MS; // that far ahead of the queue it left
    core.live_queue_place(&mut b, 0, 10 * MS);
    assert!(!core.live_queue_preempts(&b, 0, 10 * MS));
    let left = core.slice_left_ns(0, 10 * MS);
    assert!((2 * MS..=2 * MS + 1_000).contains(&left), "{left}");
    assert!(!core.live_queue_expired(0, 1, 11 * MS));
    core.cpu_mut(0).live.curr_deadline_ns = 20 * MS;
    core.live_queue_stop(&mut a, 11 * MS);
    core.live_queue_start(&mut a, 0, 11 * MS); // chosen anew: until 14 ms, whatever V says
    assert_eq!(core.slice_left_ns(0, 13 * MS), MS);
}

/// The same: it goes on beside others, since none of them is owed time: chosen anew. Alone it is
/// not: nobody was there to choose from.
#[test]
fn who_goes_on_beside_others_is_chosen_anew() {
    for (others, chosen_ms) in [(1, 8), (0, 0)] {
        let mut core = core_at(0);
        let [mut a] = waiting(&mut core, [NICE_0]);
        core.live_queue_start(&mut a, 0, 0);
        if others == 1 {
            let [_] = waiting(&mut core, [NICE_0]);
        }
        core.live_queue_go_on(0, 8 * MS);
        assert_eq!(core.cpu(0).live.curr_start_ns, chosen_ms * MS);
    }
}

/// A woken task preempts one that has had more than its share, not one that is owed time and has
/// not had its slice. Two tasks: the mean moves at half the speed of the running one, so that
/// it is ahead from its first ns on, unless it was behind before.
#[test]
fn who_had_its_share_is_preempted() {
    let mut core = core_at(0);
    let [mut a, b] = waiting(&mut core, [NICE_0; 2]);
    core.live_queue_start(&mut a, 0, 0);
    assert!(!core.live_queue_preempts(&b, 0, 0), "level: it has a slice");
    assert!(core.live_queue_preempts(&b, 0, 2));
    core.live_queue_stop(&mut a, 2 * MS);

    // b ran 4 ms: a, at 2, is owed 1 and may run 2 ms before it is level (3 + its half).
    let mut b = b;
    run(&mut core, &mut b, 2 * MS, 6 * MS);
    core.live_queue_start(&mut a, 0, 6 * MS);
    assert!(
        !core.live_queue_preempts(&b, 0, 6 * MS),
        "b is not owed anything"
    );
    let [c] = waiting(&mut core, [NICE_0]);
    assert!(
        !core.live_queue_preempts(&c, 0, 6 * MS + 100_000),
        "a is owed time"
    );
    assert!(!core.entity_eligible(&b, 0, 6 * MS));
    assert!(core.entity_eligible(&c, 0, 6 * MS));
}

/// Whatever it owes, a waker keeps the CPU for vq_sync_run_ns since it was chosen. Then its turn is
/// over, not after its slice of 3 ms: of two tasks the running one is ahead of the mean from its
/// first ns on. A SCHED_IDLE one does not keep it.
#[test]
fn a_waker_goes_on_for_a_while() {
    let mut core = core_at(0);
    core.state_mut().params.vq_sync_run_ns = 100_000;
    let [mut a, mut b] = waiting(&mut core, [NICE_0; 2]);
    core.live_queue_start(&mut a, 0, 5 * MS);
    assert!(core.live_queue_preempts(&b, 0, 5 * MS + 99_999));
    assert_eq!(core.slice_left_ns(0, 5 * MS + 99_999), 3 * MS - 99_999);
    b.raw_mut().woken_sync = 1;
    assert!(!core.live_queue_preempts(&b, 0, 5 * MS + 99_999));
    assert_eq!(core.slice_left_ns(0, 5 * MS + 99_999), 1);
    assert!(core.live_queue_preempts(&b, 0, 5 * MS + 100_000));
    assert!(core.live_queue_expired(0, 1, 5 * MS + 100_000));
    core.live_queue_go_on(0, 5 * MS + 200_000); // chosen anew
    assert!(!core.live_queue_preempts(&b, 0, 5 * MS + 299_999));
    core.live_queue_stop(&mut a, 6 * MS);
    a.raw_mut().idle_policy = 1;
    core.live_queue_start(&mut a, 0, 6 * MS);
    assert!(core.live_queue_preempts(&b, 0, 6 * MS));
    core.live_queue_leave(&mut b, true, 7 * MS);
    assert_eq!(b.raw_mut().woken_sync, 0, "of that wake-up only");
}

/// Of those who wait, the one with the earlier deadline goes first, if it is eligible.
#[test]
fn an_earlier_deadline_that_is_eligible_goes_before() {
    let mut core = core_at(0);
    let [mut a, b, mut c] = waiting(&mut core, [NICE_0; 3]);
    run(&mut core, &mut a, 0, MS); // V 1/3; deadlines 3, 3, 3
    run(&mut core, &mut c, MS, 2 * MS);
    assert_eq!(
        core.live_queue_before(&b, &c, 0, 2 * MS),
        Some(true),
        "equal: who waited before"
    );
    core.live_queue_leave(&mut c, true, 2 * MS);
    core.live_queue_place(&mut c, 0, 2 * MS); // a new slice from about 1 ms: 4
    assert_eq!(core.live_queue_before(&b, &c, 0, 2 * MS), Some(true));
    assert_eq!(
        core.live_queue_before(&c, &b, 0, 2 * MS),
        Some(false),
        "it is later"
    );
    assert_eq!(
        core.live_queue_before(&a, &c, 0, 2 * MS),
        None,
        "3 is earlier, but it is ahead"
    );
}

/// A slice ends after 3 ms of virtual time and only if somebody waits; then who is owed time and
/// due before runs. With nice 5 it ends after 3 ms x 1024 / 335 of that: 3 ms of run time, too.
#[test]
fn slices_end_if_somebody_waits() {
    for weight in [NICE_0, NICE_5] {
        let mut core = core_at(500 * MS);
        let [mut a, b] = waiting(&mut core, [weight, NICE_0]);
        core.live_queue_start(&mut a, 0, 10 * MS);
        let rest = |core: &Core, at| core.slice_left_ns(0, at);
        assert_eq!(rest(&core, 10 * MS), 3 * MS);
        assert!(
            rest(&core, 11 * MS).abs_diff(2 * MS) <= 1,
            "but for rounding"
        );
        assert!(!core.live_queue_expired(0, 1, 13 * MS - 1));
        assert!(core.live_queue_expired(0, 1, 13 * MS));
        assert!(!core.live_queue_expired(0, 0, 13 * MS), "nobody waits");
        assert!(core.live_queue_yields(&b, 0, 13 * MS));
        core.live_queue_stop(&mut a, 13 * MS);
        assert!(!core.live_queue_expired(0, 1, 20 * MS), "it runs no more");
    }
}

/// It goes on while nobody is owed time, and its next slice begins there.
#[test]
fn another_slice_if_nobody_is_owed_time() {
    let mut core = core_at(0);
    let [mut a, mut b] = waiting(&mut core, [NICE_0; 2]);
    run(&mut core, &mut b, 0, 20 * MS);
    core.live_queue_start(&mut a, 0, 20 * MS);
    assert!(
        !core.live_queue_yields(&b, 0, 23 * MS),
        "b is 7 ms ahead of the mean"
    );
    assert_eq!(core.slice_left_ns(0, 23 * MS), 3 * MS);
    assert!(!core.live_queue_yields(&b, 0, 39 * MS));
    assert!(
        core.live_queue_yields(&b, 0, 44 * MS),
        "at 24 it is ahead of b"
    );
}

/// A new task is level, and its first slice is half of one, as in the fair class.
#[test]
fn a_new_task_has_half_a_slice() {
    let mut core = core_at(500 * MS);
    let [mut a] = waiting(&mut core, [NICE_0]);
    run(&mut core, &mut a, 0, 4 * MS);
    let mut child = Task::new(9, NICE_5, 1, None, 2);
    core.task_init(&mut child);
    core.live_queue_place(&mut child, 0, 4 * MS);
    assert_eq!(child.raw().vtime_ns, 504 * MS);
    assert_eq!(child.deadline_ns(), 504 * MS + 3 * MS * 1024 / 335 / 2);
}

/// sched_yield: who is owed time gives up the rest of its slice, which counts as run, and gets the
/// next; who is ahead loses nothing (docs/rules/queues.md#eevdf). Of two tasks one ran 4 ms: the
/// mean is 2, the other is owed 2. After half a ms, at 0.5 of its 3, the mean 2.25, it yields: it
/// is at 3, the mean (4 + 3) / 2.
#[test]
fn a_yield_gives_up_the_slice_of_who_is_owed() {
    let mut core = core_at(0);
    let [mut a, mut b] = waiting(&mut core, [NICE_0; 2]);
    run(&mut core, &mut a, 0, 4 * MS);
    core.live_queue_start(&mut b, 0, 4 * MS);
    assert!(core.yield_task(0, 1, 4 * MS + 500_000));
    assert_eq!(core.cpu(0).live.curr_deadline_ns, 6 * MS, "a new slice");
    core.live_queue_stop(&mut b, 4 * MS + 500_000);
    assert_eq!(times(&core, &[&a, &b]), (3_500_000, vec![4 * MS, 3 * MS]));

    core.live_queue_start(&mut a, 0, 5 * MS);
    let rest = core.slice_left_ns(0, 5 * MS);
    assert!(core.yield_task(0, 1, 5 * MS));
    assert_eq!(core.slice_left_ns(0, 5 * MS), rest, "it is ahead");
    core.cpu_mut(0).live.curr_vtime_ns = core.cpu(0).live.vtime_now_ns + 1;
    assert!(core.yield_task(0, 1, 5 * MS));
    let ahead = core.cpu(0).live.curr_vtime_ns - core.cpu(0).live.vtime_now_ns;
    assert_eq!(ahead, 1, "by one ns, too");
    core.cpu_mut(0).live.curr_vtime_ns = 4 * MS;
    core.live_queue_stop(&mut a, 5 * MS);
    assert!(core.yield_task(0, 1, 6 * MS));
    assert_eq!(
        times(&core, &[&a, &b]),
        (3_500_000, vec![4 * MS, 3 * MS]),
        "nobody runs"
    );
}

/// Where a pull inserts a task is where it is in the order once it has gone over: beside others, in
/// an empty queue, owed, in debt, and beyond what may be owed.
#[test]
fn a_pulled_task_is_where_its_deadline_is() {
    for (ran, beside) in [(2, 0), (2, 3), (6, 2), (90, 1)] {
        let mut core = core_at(0);
        core.cpu_mut(1).live.vtime_now_ns = 700 * MS;
        let [mut a, mut b] = waiting(&mut core, [NICE_5, NICE_0]);
        for id in 0..beside {
            let mut there = Task::new(10 + id, NICE_0, 1, None, 2);
            core.live_queue_place(&mut there, 1, 0);
            core.live_queue_start(&mut there, 1, 0);
            core.live_queue_stop(&mut there, MS);
        }
        run(&mut core, &mut b, MS, MS + ran * MS);
        for task in [&mut a, &mut b] {
            let told = core.live_queue_deadline_on(task, 1, (1 + ran) * MS);
            core.live_queue_place(task, 1, (1 + ran) * MS);
            let off = task.deadline_ns().abs_diff(told);
            assert!(off <= 8, "{off} of rounding: {ran} ms, beside {beside}");
        }
    }
}

/// SCHED_IDLE gives way to all others at once and never preempts them.
#[test]
fn the_idle_policy_gives_way() {
    let mut core = core_at(0);
    let [mut idle, mut other] = waiting(&mut core, [3, NICE_0]);
    idle.raw_mut().idle_policy = 1;
    run(&mut core, &mut other, 0, 20 * MS); // it is ahead: not eligible otherwise
    core.live_queue_start(&mut idle, 0, 20 * MS);
    assert!(core.live_queue_preempts(&other, 0, 20 * MS));
    assert!(core.live_queue_yields(&other, 0, 20 * MS));
    core.live_queue_stop(&mut idle, 20 * MS);
    core.live_queue_start(&mut other, 0, 20 * MS);
    assert!(!core.live_queue_preempts(&idle, 0, 90 * MS));
}

/// A change of weight counts from the next place on, in the new one's time: who was owed 2 ms by
/// weight 1024 is owed 2 x 1024 / 335.
#[test]
fn a_new_weight_keeps_what_is_owed() {
    let mut core = core_at(500 * MS);
    let [mut a, mut b, _c] = waiting(&mut core, [NICE_0; 3]);
    run(&mut core, &mut a, 0, 6 * MS);
    b.raw_mut().weight = NICE_5;
    core.live_queue_place(&mut b, 0, 6 * MS);
    let lag = core.cpu(0).live.vtime_now_ns - b.raw().vtime_ns;
    assert_eq!(lag, 2 * MS * 1024 / 335);
    assert_eq!(core.cpu(0).live.vq_load, 2 * NICE_0 + NICE_5);
    let rest = b.deadline_ns() - b.raw().vtime_ns;
    assert_eq!(rest, 3 * MS * 1024 / 335);
}

/// The same for one whose weight changes while it is in no queue, as the kernel changes it.
#[test]
fn a_new_weight_counts_for_who_is_away() {
    let mut core = core_at(500 * MS);
    let [mut a, mut b, _c] = waiting(&mut core, [NICE_0; 3]);
    run(&mut core, &mut a, 0, 6 * MS);
    core.live_queue_leave(&mut b, false, 6 * MS);
    core.task_set_weight(&mut b, NICE_5, 6 * MS);
    core.live_queue_place(&mut b, 0, 6 * MS);
    let lag = core.cpu(0).live.vtime_now_ns - b.raw().vtime_ns;
    assert!(lag.abs_diff(2 * MS * 1024 / 335) <= 1, "{lag}");
    let rest = b.deadline_ns() - b.raw().vtime_ns;
    assert!(rest.abs_diff(3 * MS * 1024 / 335) <= 1, "{rest}");
}

/// A debt is to others: nobody waits for it once the queue is empty.
#[test]
fn a_debt_ends_with_the_queue() {
    let mut core = core_at(500 * MS);
    let [mut a, mut b] = waiting(&mut core, [NICE_0; 2]);
    run(&mut core, &mut a, 0, 6 * MS);
    core.live_queue_leave(&mut a, true, 6 * MS);
    core.live_queue_leave(&mut b, true, 6 * MS);
    let mut there = Task::new(9, NICE_0, 1, None, 2);
    core.live_queue_place(&mut there, 1, 6 * MS);
    core.live_queue_place(&mut a, 1, 6 * MS);
    assert_eq!(a.raw().vtime_ns, core.cpu(1).live.vtime_now_ns);
}

/// However tasks come, run, sleep and go, V is the mean of their times by weight, summed here, but
/// for the rounding of each step: 1 ns of the whole weight. Across the wrap of virtual time, too.
#[test]
fn v_is_the_mean_whatever_happens() {
    let mut seed = 7_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut core = core_at(0u64.wrapping_sub(30 * MS));
    let mut tasks = waiting(&mut core, [NICE_0, NICE_5, 15, 88_761, NICE_0, 3121]);
    let mut now = 0;
    for step in 1..=2000_u64 {
        let task = &mut tasks[draw(6) as usize];
        match draw(4) {
            0 => core.live_queue_leave(task, draw(2) == 1, now),
            1 => core.live_queue_place(task, 0, now),
            _ => {
                core.live_queue_start(task, 0, now);
                now += draw(3 * MS);
                core.live_queue_stop(task, now);
            }
        }
        let mean = core.cpu(0).live.vtime_now_ns;
        let there = || tasks.iter().filter(|t| t.raw().vq_weight != 0);
        let ahead = |t: &Task| i128::from(t.raw().vtime_ns.wrapping_sub(mean).cast_signed());
        let sum: i128 = there().map(|t| ahead(t) * i128::from(t.raw().weight)).sum();
        let load: u32 = there().map(|t| t.raw().weight).sum();
        assert_eq!(core.cpu(0).live.vq_load, load);
        let most = i128::from(step) * i128::from(2 * NICE_0 + NICE_5 + 15 + 88_761 + 3121);
        assert!(sum.abs() <= most, "{sum} after {step} steps");
    }
}

/// Who moves with nothing left of its slice begins a new one there: 3 ms (the head comment of
/// `wp_live_queue_leave`: "the other one with the rest of this", and there is none).
#[test]
fn a_slice_that_is_over_is_not_taken_along() {
    for behind in [0, MS] {
        let mut core = core_at(10 * MS);
        let [mut a, _b] = waiting(&mut core, [NICE_0; 2]);
        a.raw_mut().deadline_ns = a.raw().vtime_ns - behind;
        core.live_queue_leave(&mut a, false, 0);
        core.live_queue_place(&mut a, 1, 0);
        assert_eq!(a.deadline_ns() - a.raw().vtime_ns, 3 * MS, "{behind}");
    }
}

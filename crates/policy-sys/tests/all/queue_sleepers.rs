//! Sleepers that a live queue keeps (policy/src/live_queue/queue_sleepers.c), in numbers worked out
//! here. The rule is docs/rules/live-queue.md#vq-sleepers; the kernel's, `DELAY_DEQUEUE` and
//! `DELAY_ZERO`, is docs/rules/queues.md#eevdf. All of nice 0 unless it is said.
//!
//! What must stay: a kept sleeper counts in V until it leaves, and leaves only in its turn or when
//! nobody is awake. Free: names of tasks, and how helpers build a queue.
//! Tests by part: `a_debtor_counts_while_it_sleeps`, `who_finds_no_place_leaves_with_its_debt`
//! (`wp_delayed_keep`, `wp_live_queue_is_kept`); `it_leaves_when_it_is_its_turn`,
//! `it_does_not_wait_for_who_is_not_due`, `each_that_leaves_may_make_another_one_due`,
//! `the_running_task_can_go_before_it` (`wp_live_queue_retire`, `wp_live_queue_is_due`);
//! `the_tick_lets_it_go_if_nobody_waits`, `the_tick_lets_several_go` (`wp_live_queue_expired`);
//! `a_wakeup_does_not_preempt_before_it`, `who_is_owed_nothing_does_not_preempt_who_is_alone`
//! (`wp_live_queue_preempts`); `the_last_takes_along_what_it_is_owed`,
//! `a_debt_to_sleepers_is_forgiven`, `all_debts_end_when_nobody_is_awake` (`wp_delayed_drain`);
//! `it_takes_its_debt_along`, `a_new_weight_keeps_the_debt` (`wp_live_queue_place`,
//! `wp_delayed_part`); `a_yield_counts_beside_a_sleeper` (`wp_yield_task`);
//! `v_is_the_mean_of_all_that_are_kept` (V after random steps).
//! Helpers, and who fails with them: `run`, `one_in_debt`, `v` (most tests,
//! `a_debtor_counts_while_it_sleeps` among them); `core`, `waiting` (all tests,
//! `who_is_owed_nothing_does_not_preempt_who_is_alone` among them).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use wakeplace_policy_sys::{Core, Task, sys};

const MS: u64 = 1_000_000;
const NICE_0: u32 = 1024;

/// Two CPUs, slices of 3 ms, a tick of 4 ms.
fn core() -> Core {
    let settings = [
        ("queue", "dsq"),
        ("delay_dequeue", "on"),
        ("vq_slice_ns", "3000000"),
        ("tunable_scaling", "none"),
    ];
    let facts = common::machine(&[common::cluster(2, 1024)]);
    let mut core = common::core(&facts, "linux-7.3", &settings);
    core.state_mut().tick_ns = 4_000_000;
    core
}

/// Tasks that wait on CPU 0 since time 0, level with each other.
fn waiting(core: &mut Core, number: u32) -> Vec<Task> {
    let new = |id| {
        let mut task = Task::new(id, NICE_0, 0, None, 2);
        core.live_queue_place(&mut task, 0, 0);
        task
    };
    (1..=number).map(new).collect()
}

fn run(core: &mut Core, task: &mut Task, from: u64, to: u64) {
    core.live_queue_start(task, 0, from);
    core.live_queue_stop(task, to);
}

/// So many tasks, of which the first, popped off, has run 6 ms and sleeps: its time is 6, its
/// deadline 9, and V is 6 / number.
fn one_in_debt(core: &mut Core, number: u32) -> (Task, Vec<Task>) {
    let mut tasks = waiting(core, number);
    let mut debtor = tasks.remove(0);
    run(core, &mut debtor, 0, 6 * MS);
    core.live_queue_leave(&mut debtor, true, 6 * MS);
    (debtor, tasks)
}

fn v(core: &Core) -> u64 {
    core.cpu(0).live.vtime_now_ns
}

/// Of three V would fall from 2 to 0 without it. As another runs 3 ms V moves on by 1. Then it
/// wakes as it fell asleep: with its time and its deadline.
#[test]
fn a_debtor_counts_while_it_sleeps() {
    let mut core = core();
    let (mut debtor, mut others) = one_in_debt(&mut core, 3);
    assert_eq!(v(&core), 2 * MS);
    assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0);
    run(&mut core, &mut others[0], 6 * MS, 9 * MS);
    core.live_queue_place(&mut debtor, 0, 9 * MS);
    assert_eq!(v(&core), 3 * MS);
    assert_eq!(debtor.raw().vtime_ns, 6 * MS);
    assert_eq!(debtor.deadline_ns(), 9 * MS);
    assert!(!core.entity_eligible(&debtor, 0, 9 * MS));
    let c = core.cpu(0);
    assert_eq!((c.live.vq_load, c.live.vq_kept_load), (3 * NICE_0, 0));
}

/// 12 ms of another later V is 6: it is eligible, but the third, at 0, has deadline 3. When that
/// has run 6 ms, its deadline is 9 as well, and V 8: the sleeper was there first and leaves. The
/// mean of 12 and 6 is 9. It is owed nothing for the 2 ms that V was ahead of it.
#[test]
fn it_leaves_when_it_is_its_turn() {
    let mut core = core();
    let (mut debtor, mut others) = one_in_debt(&mut core, 3);
    run(&mut core, &mut others[0], 6 * MS, 18 * MS);
    assert_eq!(v(&core), 6 * MS);
    assert!(!core.live_queue_retire(&others[1], 0, 18 * MS));
    run(&mut core, &mut others[1], 18 * MS, 24 * MS);
    assert_eq!(v(&core), 8 * MS);
    assert!(core.live_queue_retire(&others[1], 0, 24 * MS));
    assert_eq!(v(&core), 9 * MS);
    assert!(
        !core.live_queue_retire(&others[1], 0, 24 * MS),
        "it is gone"
    );
    core.live_queue_place(&mut debtor, 0, 24 * MS);
    assert_eq!((v(&core), debtor.raw().vtime_ns), (9 * MS, 9 * MS));
    assert_eq!(debtor.deadline_ns(), 12 * MS, "a new slice");
}

/// If nobody who waits is eligible, whose deadline is earlier does not count.
#[test]
fn it_does_not_wait_for_who_is_not_due() {
    let mut core = core();
    let (_debtor, mut others) = one_in_debt(&mut core, 3);
    run(&mut core, &mut others[0], 6 * MS, 26 * MS);
    run(&mut core, &mut others[1], 26 * MS, 38 * MS);
    // times 6, 20, 12: V 12 2/3
    let mut early = others.remove(0);
    early.raw_mut().deadline_ns = 0;
    assert!(!core.entity_eligible(&early, 0, 38 * MS));
    assert!(core.live_queue_retire(&early, 0, 38 * MS));
}

/// The other runs alone beside the sleeper. At 11 ms it is at 5 and V at 5.5: not due. At 13 it is
/// at 7, V at 6.5, and nobody looks but the tick: the sleeper leaves, the other one is V.
#[test]
fn the_tick_lets_it_go_if_nobody_waits() {
    let mut core = core();
    let (_debtor, mut others) = one_in_debt(&mut core, 2);
    core.live_queue_start(&mut others[0], 0, 6 * MS);
    assert!(!core.live_queue_expired(0, 0, 11 * MS));
    assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0);
    assert!(!core.live_queue_expired(0, 0, 13 * MS));
    assert_eq!((core.cpu(0).live.vq_kept_load, v(&core)), (0, 7 * MS));
}

/// Who runs and is owed time goes before the sleeper if its deadline is earlier: at 12 ms V is 6,
/// the sleeper eligible, the other at 6 with 9 as its next deadline, which is the sleeper's. So it
/// leaves; with 8 it would not.
#[test]
fn the_running_task_can_go_before_it() {
    for (deadline, gone) in [(9 * MS, true), (8 * MS, false)] {
        let mut core = core();
        let (_debtor, mut others) = one_in_debt(&mut core, 2);
        core.live_queue_start(&mut others[0], 0, 6 * MS);
        core.cpu_mut(0).live.curr_deadline_ns = deadline;
        core.live_queue_go_on(0, 12 * MS);
        assert_eq!(core.cpu(0).live.vq_kept_load == 0, gone);
    }
}

/// At 13 ms the running one is at 7 and V at 6.5, where a new one comes, with deadline 9.5. It may
/// not preempt: it is the turn of the sleeper, whose deadline is 9. Once that has left it may.
#[test]
fn a_wakeup_does_not_preempt_before_it() {
    let mut core = core();
    let (_debtor, mut others) = one_in_debt(&mut core, 2);
    core.live_queue_start(&mut others[0], 0, 6 * MS);
    let mut woken = Task::new(9, NICE_0, 0, None, 2);
    core.live_queue_place(&mut woken, 0, 13 * MS);
    assert_eq!(woken.deadline_ns(), 9_500_000);
    assert!(core.entity_eligible(&woken, 0, 13 * MS));
    assert!(!core.live_queue_preempts(&woken, 0, 13 * MS));
    assert!(core.live_queue_retire(&woken, 0, 13 * MS));
    assert!(core.live_queue_preempts(&woken, 0, 13 * MS));
}

/// The debtor is at 12040 when it sleeps, the other at 16483 when it wakes: V, 14261.5, has passed
/// it, and what it is owed is forgotten (`DELAY_ZERO`). It is placed where the one that runs is,
/// who is then alone: that one has had no more than its share and goes on. If V were a nanosecond
/// behind it for having been rounded, it would not.
#[test]
fn who_is_owed_nothing_does_not_preempt_who_is_alone() {
    let mut core = core();
    let mut tasks = waiting(&mut core, 2);
    let mut debtor = tasks.remove(0);
    run(&mut core, &mut debtor, 0, 12_040);
    core.live_queue_leave(&mut debtor, true, 12_040);
    assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0);
    core.live_queue_start(&mut tasks[0], 0, 12_040);
    let woken_at = 12_040 + 16_483;
    core.live_queue_place(&mut debtor, 0, woken_at);
    assert_eq!(debtor.raw().vtime_ns, 16_483);
    assert!(core.entity_eligible(&debtor, 0, woken_at));
    assert!(!core.live_queue_preempts(&debtor, 0, woken_at));
}

/// All but one run 20 ms each and sleep; there are places for all but one of these, which are kept
/// at 20. For the last there is none: of those that stay, with the one at 0, V is the mean.
#[test]
fn who_finds_no_place_leaves_with_its_debt() {
    const PLACES: u64 = sys::WP_LIVE_QUEUE_SLEEPERS as u64;
    let mut core = core();
    let mut tasks = waiting(&mut core, PLACES as u32 + 2);
    for (at, task) in (0..=PLACES).zip(&mut tasks) {
        let from = 20 * MS * at;
        run(&mut core, task, from, from + 20 * MS);
        core.live_queue_leave(task, true, from + 20 * MS);
    }
    let c = core.cpu(0);
    let weight = |tasks: u64| tasks as u32 * NICE_0;
    assert_eq!(
        (c.live.vq_load, c.live.vq_kept_load),
        (weight(PLACES + 1), weight(PLACES))
    );
    let mean = PLACES * 20 * MS / (PLACES + 1);
    assert!(v(&core).abs_diff(mean) <= PLACES, "{}", v(&core));
    assert_eq!(tasks[PLACES as usize].raw().vq_weight, 0);
}

/// At 0 and 6 sleepers with deadlines 3 and 9; 7, with deadline 8, waits; 12 runs: V is 6.25. Who
/// waits is not eligible, the first sleeper leaves, and V is 25 / 3: now the one who waits is due,
/// before the second sleeper.
#[test]
fn each_that_leaves_may_make_another_one_due() {
    let mut core = core();
    let mut tasks = waiting(&mut core, 4);
    let times = [(0, 3), (6, 9), (7, 8), (12, 15)];
    for (task, (vtime, deadline)) in tasks.iter_mut().zip(times) {
        (task.raw_mut().vtime_ns, task.raw_mut().deadline_ns) = (vtime * MS, deadline * MS);
    }
    let c = core.cpu_mut(0);
    c.live.vtime_now_ns = 6_250_000;
    c.live.vq_kept_load = 2 * NICE_0;
    for (place, task) in c.live.vq_sleepers.iter_mut().zip(&tasks[..2]) {
        (place.task, place.weight) = (task.raw().id, NICE_0);
        (place.vtime_ns, place.deadline_ns) = (task.raw().vtime_ns, task.deadline_ns());
    }
    core.live_queue_start(&mut tasks[3], 0, 0);
    assert!(core.live_queue_retire(&tasks[2], 0, 0));
    assert!(v(&core).abs_diff(25 * MS / 3) <= 1);
    assert!(!core.live_queue_retire(&tasks[2], 0, 0));
    assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0);
}

/// The last that is awake is owed 3, whether it sleeps or is pulled: it takes that along, and a
/// pull knows its deadline there before.
#[test]
fn the_last_takes_along_what_it_is_owed() {
    for sleeps in [true, false] {
        let mut core = core();
        let (_debtor, mut others) = one_in_debt(&mut core, 2);
        let last = &mut others[0];
        let mut there = Task::new(9, NICE_0, 1, None, 2);
        core.live_queue_place(&mut there, 1, 6 * MS);
        let ahead = core.live_queue_deadline_on(last, 1, 6 * MS);
        if sleeps {
            core.live_queue_leave(last, true, 6 * MS);
        }
        core.live_queue_place(last, 1, 6 * MS);
        let owed = core
            .cpu(1)
            .live
            .vtime_now_ns
            .wrapping_sub(last.raw().vtime_ns);
        assert_eq!(owed, 3 * MS);
        assert_eq!(last.deadline_ns(), ahead, "a whole slice either way");
        let c = core.cpu(0);
        assert_eq!((c.live.vq_load, c.live.vq_kept_load), (0, 0));
    }
}

/// Who is pulled from among sleepers in debt itself owes nobody that is awake: it is level there,
/// and the pull knows. (It ran 10 ms, the debtor 6, and a third that left 0.)
#[test]
fn a_debt_to_sleepers_is_forgiven() {
    let mut core = core();
    let (_debtor, mut others) = one_in_debt(&mut core, 3);
    run(&mut core, &mut others[0], 6 * MS, 16 * MS);
    core.live_queue_leave(&mut others[1], true, 16 * MS);
    assert!(v(&core).abs_diff(8 * MS) <= 2, "{}", v(&core));
    assert_eq!(others[0].raw().vtime_ns, 10 * MS);
    let mut there = Task::new(9, NICE_0, 1, None, 2);
    core.live_queue_place(&mut there, 1, 16 * MS);
    let ahead = core.live_queue_deadline_on(&others[0], 1, 16 * MS);
    core.live_queue_place(&mut others[0], 1, 16 * MS);
    assert_eq!(others[0].raw().vtime_ns, core.cpu(1).live.vtime_now_ns);
    assert_eq!(others[0].deadline_ns(), ahead);
}

/// Two beside one that runs: the tick lets the first go when V has passed it, and the other in its
/// turn.
#[test]
fn the_tick_lets_several_go() {
    let mut core = core();
    let mut tasks = waiting(&mut core, 3);
    for (at, task) in tasks.iter_mut().take(2).enumerate() {
        let from = 6 * MS * at as u64;
        run(&mut core, task, from, from + 6 * MS);
        core.live_queue_leave(task, true, from + 6 * MS);
    }
    core.live_queue_start(&mut tasks[2], 0, 12 * MS); // V 4
    assert!(!core.live_queue_expired(0, 0, 17 * MS)); // 5 and 2/3
    assert_eq!(core.cpu(0).live.vq_kept_load, 2 * NICE_0);
    assert!(!core.live_queue_expired(0, 0, 19 * MS)); // 6 1/3, it is at 7
    assert_eq!(core.cpu(0).live.vq_kept_load, 0);
    assert!(v(&core).abs_diff(7 * MS) <= 6, "{}", v(&core));
}

/// The last that is awake sleeps: nobody is there to owe to.
#[test]
fn all_debts_end_when_nobody_is_awake() {
    let mut core = core();
    let (mut debtor, mut others) = one_in_debt(&mut core, 3);
    core.live_queue_leave(&mut others[0], true, 6 * MS);
    assert_eq!(core.cpu(0).live.vq_kept_load, NICE_0);
    core.live_queue_leave(&mut others[1], true, 6 * MS);
    let c = core.cpu(0);
    assert_eq!((c.live.vq_load, c.live.vq_kept_load), (0, 0));
    let [mut new] = [Task::new(9, NICE_0, 0, None, 2)];
    core.live_queue_place(&mut new, 0, 6 * MS);
    core.live_queue_place(&mut debtor, 0, 6 * MS);
    assert_eq!(debtor.raw().vtime_ns, v(&core));
}

/// It may run elsewhere only, where one is at 0: it takes its debt of 4 along, so that V is 4
/// there, and 0 in its old queue.
#[test]
fn it_takes_its_debt_along() {
    let mut core = core();
    let (mut debtor, _others) = one_in_debt(&mut core, 3);
    let mut there = Task::new(9, NICE_0, 1, None, 2);
    core.live_queue_place(&mut there, 1, 6 * MS);
    core.live_queue_place(&mut debtor, 1, 6 * MS);
    assert_eq!((v(&core), core.cpu(1).live.vtime_now_ns), (0, 4 * MS));
    assert_eq!(debtor.raw().vtime_ns, 8 * MS);
    let c = core.cpu(0);
    assert_eq!((c.live.vq_load, c.live.vq_kept_load), (2 * NICE_0, 0));
}

/// It was given another weight meanwhile: it leaves and is placed anew. Its debt is the same run
/// time, and V what it was. Within 2 ns: each of these two steps rounds by up to 1 ns.
#[test]
fn a_new_weight_keeps_the_debt() {
    let mut core = core();
    let (mut debtor, _others) = one_in_debt(&mut core, 3);
    debtor.raw_mut().weight = 335;
    core.live_queue_place(&mut debtor, 0, 6 * MS);
    assert!(v(&core).abs_diff(2 * MS) <= 2, "{}", v(&core));
    let debt = debtor.raw().vtime_ns - v(&core);
    assert!(debt.abs_diff(4 * MS * 1024 / 335) <= 2, "{debt}");
    assert_eq!(core.cpu(0).live.vq_load, 2 * NICE_0 + 335);
}

/// A yield is nothing for who is alone. Beside a sleeper it is not: at 8 ms it is at 2, V at 4, and
/// the 1 ms up to its deadline counts as run, half of it in V.
#[test]
fn a_yield_counts_beside_a_sleeper() {
    let mut core = core();
    let (_debtor, mut others) = one_in_debt(&mut core, 2);
    core.live_queue_start(&mut others[0], 0, 6 * MS);
    assert!(core.yield_task(0, 0, 8 * MS));
    assert_eq!(v(&core), 4_500_000);
    assert!(!core.yield_task(1, 0, 8 * MS));
}

/// However tasks come, run, sleep and go, V is the mean of who is there and who is kept, by weight,
/// but for the rounding of each step.
#[test]
fn v_is_the_mean_of_all_that_are_kept() {
    let mut seed = 11_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let mut core = core();
    let mut tasks = waiting(&mut core, 24);
    let weights = [NICE_0, 335, 15, 3121];
    for (task, weight) in tasks.iter_mut().zip(weights.into_iter().cycle()) {
        core.live_queue_leave(task, false, 0);
        task.raw_mut().weight = weight;
        core.live_queue_place(task, 0, 0);
    }
    let (mut now, mut kept, mut let_go) = (0, 0, 0);
    for step in 1..=20_000_u64 {
        let task = &mut tasks[draw(24) as usize];
        match draw(8) {
            0..=3 => core.live_queue_leave(task, draw(4) != 0, now),
            4 => core.live_queue_place(task, 0, now),
            5 if task.raw().vq_weight != 0 && task.raw().vq_place == 0 => {
                let_go += u32::from(core.live_queue_retire(task, 0, now));
            }
            _ => {
                core.live_queue_start(task, 0, now);
                now += draw(3 * MS);
                core.live_queue_stop(task, now);
            }
        }
        let c = core.cpu(0);
        let held = |t: &&Task| match t.raw().vq_place {
            0 => false,
            place => c.live.vq_sleepers[place as usize - 1].task == t.raw().id,
        };
        let there = |t: &&Task| t.raw().vq_weight != 0 && (t.raw().vq_place == 0 || held(t));
        let ahead = |t: &Task| i128::from(t.raw().vtime_ns.wrapping_sub(v(&core)).cast_signed());
        let weight = |t: &Task| t.raw().weight;
        let weighed = |t: &Task| ahead(t) * i128::from(weight(t));
        let sum: i128 = tasks.iter().filter(there).map(weighed).sum();
        let load: u32 = tasks.iter().filter(there).map(weight).sum();
        let kept_load: u32 = tasks.iter().filter(held).map(weight).sum();
        assert_eq!((c.live.vq_load, c.live.vq_kept_load), (load, kept_load));
        let most = i128::from(step) * 6 * i128::from(weights.iter().sum::<u32>());
        assert!(sum.abs() <= most, "{sum} after {step} steps");
        kept = kept.max(tasks.iter().filter(held).count());
    }
    assert!(kept > 5 && let_go > 20, "{kept} {let_go}");
}

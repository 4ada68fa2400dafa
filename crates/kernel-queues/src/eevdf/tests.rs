//! The queue by itself: worked numbers of docs/rules/queues.md#eevdf-numbers, and random histories
//! against an oracle that sums everything up anew.
//!
//! What must stay: figures are the page's; the oracle sums everything up anew and shares nothing
//! with the queue but its entities. Free: seeds and lengths of the histories, and how a helper
//! fills the queue.
//! Tests by part (in crates/kernel-queues/src): eevdf.rs: `v_is_the_weighted_average_rounded_down`
//! (`move_origin`, `average`), `a_task_alone_takes_the_origin_along` (`average`, `eligible`),
//! `lag_is_inflated_by_the_own_weight` (`average`), `lag_is_limited_as_the_era_has_it` (`lag`),
//! `a_sleeper_with_a_debt_stays_until_it_is_paid` (`drop_sleeper`, `average`); weight.rs:
//! `a_new_weight_and_the_protection` (`of_sum`), `a_new_weight_keeps_weighted_lag_and_v`
//! (`of_nice`); eevdf/entity.rs: `policies_decide_before_deadlines_do` (`is_protected`);
//! eevdf/entity.rs (`slice_ns`, `rest_of_request_ns`): `the_base_slice_grows_with_the_machine`,
//! `the_rest_of_a_slice_is_in_run_time`; eevdf.rs (`position`, `place`):
//! `deadlines_depend_on_how_a_task_comes`, `a_move_begins_a_slice_in_6_6`; eevdf.rs (`choose`,
//! `keeps`): `a_request_ends_at_its_deadline`,
//! `no_eligible_task_with_an_earlier_deadline_is_passed_over`,
//! `parity_protects_the_running_task_while_eligible`; eevdf.rs (`yields`):
//! `a_yield_gives_up_the_request_of_an_eligible_task`, `a_yield_in_6_6_puts_the_deadline_off`;
//! eevdf/preempt.rs: `protection_is_the_shortest_slice` (`protect_slice`), `a_fork_waits_in_7_3`
//! (`is_new`), `a_shorter_slice_ends_the_protection` (`shorten_protection`),
//! `a_wakee_preempts_only_as_the_next_pick` (`is_next`); eevdf/buddies.rs:
//! `a_shorter_slice_is_the_buddy_in_7_3` (`set_short_buddy`);
//! `a_delayed_sleeper_wakes_in_its_place` (a kept sleeper).
//! Helpers, and who fails with them: `params_of`, `params`, `entity_of` (most tests,
//! `lag_is_limited_as_the_era_has_it` among them); `nice_0`, `queue_of` (9 tests,
//! `v_is_the_weighted_average_rounded_down` among them); `woken` (8 tests,
//! `deadlines_depend_on_how_a_task_comes` among them); `oracle_eligible`, `step`
//! (`no_eligible_task_with_an_earlier_deadline_is_passed_over`).

use super::{Arrival, EevdfParams, EevdfQueue, Entity};
use crate::KernelKind;
use crate::weight::{Weight, virtual_time};
use wakeplace_policy_sys::Policy;
use wakeplace_policy_sys::sys::WP_PREEMPT_LAZY;
use wakeplace_workload::FairPolicy;

mod buddies;

const MS: i64 = 1_000_000;
const TICK_NS: u64 = 4_000_000;

fn params_of(settings: &[(&str, &str)], nr_cpus: usize) -> EevdfParams {
    let mut policy = Policy::parse("linux-7.3").unwrap();
    for (key, value) in settings {
        policy.set(key, value).unwrap();
    }
    let lazy = policy.core_params().preempt == WP_PREEMPT_LAZY;
    EevdfParams::new(
        policy.core_params(),
        nr_cpus,
        TICK_NS,
        KernelKind {
            lazy,
            ..KernelKind::default()
        },
    )
}

fn params() -> EevdfParams {
    params_of(&[], 8)
}

fn nice_0() -> Entity {
    Entity::new(0, FairPolicy::Other, None)
}

/// A queue with tasks 0.. of these weights' nice values and vruntimes that wait.
fn queue_of(tasks: &[(i8, i64)]) -> EevdfQueue {
    let mut queue = EevdfQueue::default();
    for (task, (nice, vruntime)) in tasks.iter().enumerate() {
        let entity = Entity {
            vruntime: *vruntime,
            deadline: vruntime + 10 * MS,
            ..Entity::new(*nice, FairPolicy::Other, None)
        };
        queue.insert(task as u32, entity);
    }
    queue
}

fn entity_of(queue: &EevdfQueue, task: u32) -> Entity {
    let mut queued = queue.waiting.iter().chain(&queue.current);
    queued.find(|(t, _)| *t == task).expect("queued").1
}

/// Source: docs/rules/queues.md#eevdf: base slice 0.70 ms x factor = 2.8 ms on 8 or more CPUs.
#[test]
fn the_base_slice_grows_with_the_machine() {
    for (cpus, slice_ns) in [(1, 700_000), (2, 1_400_000), (4, 2_100_000), (8, 2_800_000)] {
        assert_eq!(params_of(&[], cpus).slice_ns, slice_ns);
    }
    assert_eq!(params_of(&[], 64).slice_ns, 2_800_000);
}

/// Source: docs/rules/queues.md#eevdf: V = origin + floor(sum((v - origin) x w) / sum w), the
/// running task included; eligible without division: a task above the rounded V may be at the exact
/// one.
#[test]
fn v_is_the_weighted_average_rounded_down() {
    let queue = queue_of(&[(0, 100), (0, 103)]);
    assert_eq!(queue.average(), 101);
    assert_eq!(queue_of(&[(0, -100), (0, -103)]).average(), -102);
    // 1024 x 0 + 335 x 1359 = 455265; / 1359 = 335.
    let mut queue = queue_of(&[(0, 0), (5, 1359)]);
    assert_eq!(queue.average(), 335);
    assert!(queue.eligible(&entity_of(&queue, 0)) && !queue.eligible(&entity_of(&queue, 1)));
    let at = |vruntime| Entity {
        vruntime,
        ..nice_0()
    };
    assert!(queue.eligible(&at(335)) && !queue.eligible(&at(336)));
    queue.current = Some((2, at(1 << 40)));
    // 2^40 x 1024 more, by a weight of 2383.
    assert_eq!(queue.average(), ((1 << 50) + 455_265) / 2383);
    let exact = queue.average();
    queue.move_origin();
    assert_eq!(queue.average(), exact, "the origin does not show");
}

/// Goal: what is summed up does not grow with the time that a task is alone. Source:
/// docs/rules/queues.md#eevdf: V is kept relative to an origin that moves. Method: an hour alone,
/// of SCHED_IDLE (a weight of 3 makes 341 s of each second), nice 19 and nice 0. Then nice -20
/// joins, at V, which is where the only task is. After 1 ms more of the first one V has moved by
/// its share of the weights.
#[test]
fn a_task_alone_takes_the_origin_along() {
    let params = params();
    for (nice, policy) in [
        (0, FairPolicy::Idle),
        (19, FairPolicy::Other),
        (0, FairPolicy::Other),
    ] {
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, Entity::new(nice, policy, None));
        assert_eq!(queue.pick(&params), Some(0));
        let weight = entity_of(&queue, 0).weight;
        let steps = 900_000;
        for _ in 0..steps {
            queue.charge(&params, TICK_NS);
            assert!(!queue.tick(&params), "it is alone");
        }
        let alone = entity_of(&queue, 0);
        assert_eq!(alone.vruntime, steps * virtual_time(TICK_NS, weight));
        assert_eq!(queue.average(), alone.vruntime);
        assert!(queue.eligible(&alone));
        queue.enqueue(&params, 1, Entity::new(-20, FairPolicy::Other, None));
        queue.check();
        assert_eq!(entity_of(&queue, 1).vruntime, alone.vruntime);
        queue.charge(&params, 1_000_000);
        let moved = virtual_time(1_000_000, weight) * alone.weight();
        let share = moved / (alone.weight() + 88_761);
        assert_eq!(queue.average(), alone.vruntime + share);
        let ran = entity_of(&queue, 0);
        assert!(!queue.eligible(&ran) && queue.eligible(&entity_of(&queue, 1)));
        queue.check();
    }
}

/// Source: docs/rules/queues.md#eevdf, yield: only if eligible: v = deadline, and a new deadline a
/// slice later. A task without company has nobody to yield to.
#[test]
fn a_yield_gives_up_the_request_of_an_eligible_task() {
    let params = params();
    let mut queue = queue_of(&[(0, 0), (0, 0)]);
    assert_eq!(queue.pick(&params), Some(0));
    assert!(queue.yields(&params));
    let (_, entity) = queue.current.unwrap();
    assert_eq!(
        (entity.vruntime, entity.deadline),
        (10 * MS, 10 * MS + 2_800_000)
    );
    assert!(!queue.keeps(&params), "the other is due");

    let mut queue = queue_of(&[(0, 0), (0, 0)]);
    queue.pick(&params);
    queue.charge(&params, 1);
    assert!(
        queue.yields(&params),
        "not eligible: its own time counts as it is"
    );
    let (_, entity) = queue.current.unwrap();
    assert_eq!((entity.vruntime, entity.deadline), (1, 10 * MS));

    let mut queue = queue_of(&[(0, 0)]);
    queue.pick(&params);
    assert!(!queue.yields(&params));
}

/// Goal: the rest of a request in the task's own time, rounded up: at nice 5 (weight 335) 10 ms of
/// virtual time are 3271484.4 ns.
#[test]
fn the_rest_of_a_slice_is_in_run_time() {
    let params = params();
    let mut queue = queue_of(&[(5, 0), (5, 0)]);
    assert_eq!(queue.rest_of_slice_ns(), None, "nobody runs");
    queue.pick(&params);
    assert_eq!(queue.rest_of_slice_ns(), Some(3_271_485));
    let mut alone = queue_of(&[(0, 0)]);
    alone.pick(&params);
    assert_eq!(alone.rest_of_slice_ns(), None, "nobody waits");
}

/// Source: docs/rules/queues.md#eevdf-numbers: W = 1024, w = 1024, lag 1 ms: placed at V - 2 ms,
/// and the lag after the insertion is 1 ms again; W = 3072: V - 1.333333 ms.
#[test]
fn lag_is_inflated_by_the_own_weight() {
    let lagging = Entity {
        lag: MS,
        ..nice_0()
    };
    for (others, distance) in [(1, 2 * MS), (3, 1_333_333)] {
        let mut queue = queue_of(&vec![(0, 50 * MS); others]);
        let before = queue.average();
        queue.enqueue(&params(), 9, lagging);
        let placed = entity_of(&queue, 9);
        assert_eq!(before - placed.vruntime, distance);
        let effective = queue.average() - placed.vruntime;
        assert!((MS - 1..=MS).contains(&effective), "{effective}");
    }
    // Nobody is there to be owed by.
    let mut alone = EevdfQueue::default();
    alone.enqueue(&params(), 9, lagging);
    assert_eq!(entity_of(&alone, 9).vruntime, 0);
}

/// Source: docs/rules/queues.md#eevdf: first deadline half a slice (PLACE_DEADLINE_INITIAL), after
/// a sleep a slice, after a move what was left of it (PLACE_REL_DEADLINE); deadline = v + slice x
/// 1024 / w. Virtual 1 ms of nice 5 is 3056716 ns (docs/rules/queues.md#cfs).
#[test]
fn deadlines_depend_on_how_a_task_comes() {
    let params = params();
    let mut queue = queue_of(&[(0, 11 * MS)]);
    queue.enqueue(&params, 1, nice_0());
    let new = entity_of(&queue, 1);
    assert_eq!(new.deadline - new.vruntime, 1_400_000);
    let moved = queue.dequeue(&params, 1);
    let mut other = queue_of(&[(0, 77 * MS)]);
    other.enqueue(&params, 1, moved);
    let there = entity_of(&other, 1);
    assert_eq!((there.vruntime, there.deadline), (77 * MS, 78_400_000));
    let woken = other.remove(&params, other.position(1), Arrival::Woken);
    queue.enqueue(&params, 1, woken);
    let again = entity_of(&queue, 1);
    assert_eq!(again.deadline - again.vruntime, 2_800_000);
    let own = Entity::new(5, FairPolicy::Other, Some(2_000_000));
    queue.enqueue(&params, 2, own);
    let first = entity_of(&queue, 2);
    assert_eq!(first.deadline - first.vruntime, 6_113_433 / 2);
}

/// Source: docs/rules/queues.md#eevdf: lag at dequeue within +-max(2 x slice, TICK) (6.12) or the
/// longest slice + TICK (7.3), in the task's virtual time. 1 ms of nice 5: 3056716; base slice 2.8
/// ms, tick 4 ms.
#[test]
fn lag_is_limited_as_the_era_has_it() {
    let form = |form| params_of(&[("eevdf_form", form)], 8);
    let far = |nice| queue_of(&[(0, 0), (nice, 1000 * MS)]);
    let lag =
        |params: &EevdfParams, queue: &EevdfQueue, task| queue.lag(params, &entity_of(queue, task));
    assert_eq!(lag(&form("6.12"), &far(0), 0), 5_600_000);
    assert_eq!(lag(&form("6.12"), &far(0), 1), -5_600_000);
    assert_eq!(lag(&form("7.3"), &far(0), 0), 6_800_000);
    // 6.8 ms x 1024 / 335 (docs/rules/queues.md#eevdf-virtual-time).
    assert_eq!(lag(&form("7.3"), &far(5), 1), -20_785_671);
    // On one CPU two slices are 1.4 ms: the tick is more.
    let small = params_of(&[("eevdf_form", "6.12")], 1);
    assert_eq!(lag(&small, &far(0), 0), 4_000_000);
    // The longest slice in the queue, whosever it is.
    let mut queue = queue_of(&[(0, 0), (0, 1000 * MS)]);
    queue.enqueue(
        &form("7.3"),
        2,
        Entity::new(0, FairPolicy::Other, Some(50_000_000)),
    );
    assert_eq!(lag(&form("7.3"), &queue, 0), 54_000_000);
}

/// Source: docs/rules/queues.md#eevdf: a request ends when v reaches the deadline; 7.3: then others
/// are looked for.
#[test]
fn a_request_ends_at_its_deadline() {
    let params = params();
    let mut queue = EevdfQueue::default();
    for task in [0, 1] {
        queue.enqueue(&params, task, nice_0());
    }
    assert_eq!(queue.pick(&params), Some(0));
    queue.charge(&params, 1_399_999);
    assert!(!queue.tick(&params));
    queue.charge(&params, 1);
    assert!(queue.tick(&params));
    assert_eq!(entity_of(&queue, 0).deadline, 4_200_000);
    queue.begin_pick(&params);
    assert!(!queue.keeps(&params));
    queue.put_back();
    assert_eq!(queue.pick(&params), Some(1));
}

/// Source: docs/rules/queues.md#eevdf, RUN_TO_PARITY: a picked task goes on while it is protected
/// and eligible, although another's deadline is earlier; ineligible it does not.
#[test]
fn parity_protects_the_running_task_while_eligible() {
    for form in ["6.12", "7.3"] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let mut queue = queue_of(&[(0, 0), (0, 0)]);
        assert_eq!(queue.pick(&params), Some(0));
        queue.waiting[0].1.deadline = MS;
        assert!(queue.keeps(&params), "{form}");
        queue.charge(&params, 1);
        assert!(!queue.keeps(&params), "{form}: above the average");
    }
    let params = params_of(&[("eevdf_form", "6.12"), ("run_to_parity", "off")], 8);
    let mut queue = queue_of(&[(0, 0), (0, 0)]);
    assert_eq!(queue.pick(&params), Some(0));
    queue.waiting[0].1.deadline = MS;
    assert!(!queue.keeps(&params), "no protection");
}

/// Of nice 0, from a sleep.
fn woken(own_slice_ns: Option<u64>, lag: i64) -> Entity {
    Entity {
        lag,
        arrival: Arrival::Woken,
        ..Entity::new(0, FairPolicy::Other, own_slice_ns)
    }
}

/// Source: docs/rules/queues.md#eevdf-protection: for the shortest slice in the queue (6.18), or
/// while the task is eligible beside the others (7.3), where one has a shorter slice; without
/// RUN_TO_PARITY and PREEMPT_SHORT for the base slice before its scaling; a wake-up that does not
/// preempt only shortens it. Task 1 owes 1 ms and pulls V: it is placed 2 ms above, which is all of
/// the others' average.
#[test]
fn protection_is_the_shortest_slice() {
    let picked = |params: &EevdfParams, other| {
        let mut queue = EevdfQueue::default();
        queue.enqueue(params, 0, woken(None, 0));
        queue.enqueue(params, 1, woken(other, -MS)); // not eligible
        assert_eq!(queue.pick(params), Some(0));
        queue
    };
    let until = |queue: &EevdfQueue| entity_of(queue, 0).protection;
    for (form, shorter) in [("6.18", 1_500_000), ("7.3", 2_000_001)] {
        let params = params_of(&[("eevdf_form", form)], 8);
        assert_eq!(until(&picked(&params, None)), 2_800_000);
        assert_eq!(until(&picked(&params, Some(1_500_000))), shorter, "{form}");
        assert_eq!(until(&picked(&params, Some(9_000_000))), 2_800_000);
        let settings = [
            ("eevdf_form", form),
            ("run_to_parity", "off"),
            ("preempt_short", "off"),
        ];
        assert_eq!(until(&picked(&params_of(&settings, 8), None)), 700_000);
        for (own, end) in [(500_000, 600_000), (9_000_000, 2_800_000)] {
            let mut queue = picked(&params, None);
            queue.charge(&params, 100_000);
            queue.enqueue(&params, 2, woken(Some(own), -MS));
            assert!(!queue.preempts(&params, 2, false));
            assert_eq!(until(&queue), end, "{form}");
        }
    }
}

/// Source: docs/rules/queues.md#eevdf-wake-up: in 7.3 a fork does not preempt, although its
/// deadline is the earliest and the running task is not protected.
#[test]
fn a_fork_waits_in_7_3() {
    for (form, preempts) in [
        ("6.6", true),
        ("6.12", true),
        ("6.18", true),
        ("7.3", false),
    ] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, woken(None, 0));
        queue.enqueue(&params, 1, woken(None, 0));
        assert_eq!(queue.pick(&params), Some(0));
        queue.charge(&params, 1_000_000); // not eligible, so not protected
        queue.enqueue(&params, 2, nice_0());
        assert_eq!(queue.preempts(&params, 2, false), preempts, "{form}");
    }
}

/// Source: docs/rules/queues.md#eevdf-wake-up: in 7.3 an eligible wakee with a shorter slice
/// preempts although another's deadline is earlier, and is picked before that one; in 6.18 it
/// waits. The running task has had 0.4 ms of its 2.8; task 1's deadline is at 0.2 ms, that of the
/// wakee at V + 1 = 1.2 ms or so.
#[test]
fn a_shorter_slice_is_the_buddy_in_7_3() {
    for (form, preempts, next) in [("6.18", false, 1), ("7.3", true, 2)] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, woken(None, 0));
        queue.enqueue(&params, 1, woken(None, 0));
        assert_eq!(queue.pick(&params), Some(0));
        queue.charge(&params, 400_000);
        queue.waiting[0].1.deadline = 200_000;
        queue.enqueue(&params, 2, woken(Some(MS as u64), 0));
        assert_eq!(queue.preempts(&params, 2, false), preempts, "{form}");
        queue.put_back();
        assert_eq!(queue.next(&params), Some(next), "{form}");
        // Who is picked, or leaves, is no buddy any more.
        queue.dequeue(&params, 2);
        assert_eq!(queue.next(&params), Some(1));
    }
}

/// Source: docs/rules/queues.md#eevdf, Placement: in 6.6 a task that moves begins a slice, later it
/// keeps what was left of its request; in 6.6 no task has a slice of its own.
#[test]
fn a_move_begins_a_slice_in_6_6() {
    for (form, left) in [("6.6", 2_800_000), ("6.12", 1_800_000)] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let (mut from, mut to) = (EevdfQueue::default(), EevdfQueue::default());
        from.enqueue(&params, 0, woken(None, 0));
        assert_eq!(from.pick(&params), Some(0));
        from.charge(&params, 1_000_000);
        from.put_back();
        let moved = from.dequeue(&params, 0);
        to.enqueue(&params, 0, moved);
        let there = entity_of(&to, 0);
        assert_eq!(there.deadline - there.vruntime, left, "{form}");
        to.enqueue(&params, 1, woken(Some(100_000), 0));
        let own = entity_of(&to, 1);
        let slice = if form == "6.6" { 2_800_000 } else { 100_000 };
        assert_eq!(own.deadline - own.vruntime, slice, "{form}");
    }
}

/// Source: docs/rules/queues.md#yield-forms: in 6.6 only the deadline is put off, by a slice; later
/// the rest of the request is given up, too.
#[test]
fn a_yield_in_6_6_puts_the_deadline_off() {
    for (form, vruntime, deadline) in [("6.6", 0, 5_600_000), ("6.12", 2_800_000, 5_600_000)] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, woken(None, 0));
        queue.enqueue(&params, 1, woken(None, 0));
        assert_eq!(queue.pick(&params), Some(0));
        assert!(queue.yields(&params));
        let entity = entity_of(&queue, 0);
        assert_eq!(
            (entity.vruntime, entity.deadline),
            (vruntime, deadline),
            "{form}"
        );
    }
}

/// Source: docs/rules/queues.md#eevdf-protection: a new weight ends the protection to 6.12, since
/// the deadline moves. In 7.3 the protection moves along: half of the weight, so twice as far.
#[test]
fn a_new_weight_and_the_protection() {
    for (form, protected) in [("6.12", false), ("7.3", true)] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, woken(None, 0));
        queue.enqueue(&params, 1, woken(None, 0));
        assert_eq!(queue.pick(&params), Some(0));
        queue.reweight(&params, Weight::of_sum(512));
        let entity = entity_of(&queue, 0);
        assert_eq!(entity.is_protected(&params), protected, "{form}");
        assert_eq!(entity.deadline, 5_600_000, "{form}");
    }
}

/// Source: docs/rules/queues.md#eevdf, PREEMPT_SHORT: a wakee with a shorter slice that is eligible
/// ends the protection; off, it waits.
#[test]
fn a_shorter_slice_ends_the_protection() {
    for form in ["6.12", "7.3"] {
        for (short, preempts) in [("on", true), ("off", false)] {
            let params = params_of(&[("eevdf_form", form), ("preempt_short", short)], 8);
            let mut queue = EevdfQueue::default();
            queue.enqueue(&params, 0, nice_0());
            queue.enqueue(&params, 1, nice_0());
            assert_eq!(queue.pick(&params), Some(0));
            queue.enqueue(&params, 2, Entity::new(0, FairPolicy::Other, Some(100_000)));
            assert_eq!(
                queue.preempts(&params, 2, false),
                preempts,
                "{form} {short}"
            );
        }
    }
}

/// Source: docs/rules/queues.md#eevdf: idle and batch rules as CFS (docs/rules/queues.md#cfs): a
/// normal wakee preempts SCHED_IDLE, whose protection ends with it; BATCH and IDLE wakees preempt
/// nobody else.
#[test]
fn policies_decide_before_deadlines_do() {
    use FairPolicy::{Batch, Idle, Other};
    let run = |running, woken, lag| {
        let params = params();
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, Entity::new(0, running, None));
        assert_eq!(queue.pick(&params), Some(0));
        queue.charge(&params, 1_000_000);
        let wakee = Entity {
            lag,
            ..Entity::new(0, woken, Some(100_000))
        };
        queue.enqueue(&params, 1, wakee);
        let preempts = queue.preempts(&params, 1, false);
        (preempts, entity_of(&queue, 0).is_protected(&params))
    };
    for lag in [MS, -MS] {
        for wakee in [Batch, Idle] {
            assert!(!run(Other, wakee, lag).0, "{wakee:?}");
        }
        assert!(!run(Idle, Idle, lag).0);
        assert_eq!(run(Idle, Other, lag), (true, false));
        assert_eq!(run(Idle, Batch, lag), (true, false));
    }
    assert!(run(Other, Other, MS).0);
}

/// Source: docs/rules/queues.md#eevdf, wake-up preemption: only if the pick is the wakee; the
/// switch turns it off.
#[test]
fn a_wakee_preempts_only_as_the_next_pick() {
    let params = params();
    let run = |lag, params: &EevdfParams| {
        let mut queue = EevdfQueue::default();
        queue.enqueue(params, 0, nice_0());
        queue.enqueue(params, 1, nice_0());
        assert_eq!(queue.pick(params), Some(0));
        queue.charge(params, 1_000_000); // ineligible, so not protected
        queue.enqueue(params, 2, woken(None, lag));
        queue.preempts(params, 2, false)
    };
    // Owed 2 ms, its deadline is at V - 3 + 2.8 ms, before that of task 1.
    assert!(run(2 * MS, &params));
    assert!(!run(-MS, &params), "not eligible");
    assert!(!run(2 * MS, &params_of(&[("wakeup_preemption", "off")], 8)));
}

/// Source: docs/rules/queues.md#eevdf, DELAY_DEQUEUE and DELAY_ZERO: who sleeps without being
/// eligible stays, does not count, pulls V all the same, and is let go at its turn with no lag to
/// claim.
#[test]
fn a_sleeper_with_a_debt_stays_until_it_is_paid() {
    let params = params();
    let mut queue = EevdfQueue::default();
    queue.enqueue(&params, 0, nice_0());
    queue.enqueue(&params, 1, nice_0());
    assert_eq!(queue.pick(&params), Some(0));
    queue.charge(&params, 2_000_000);
    assert!(queue.sleep(&params).is_none());
    assert!(queue.is_delayed(0) && !queue.is_delayed(1));
    assert_eq!((queue.nr(), queue.nr_queued()), (1, 2));
    assert_eq!(queue.average(), MS, "its weight still counts");
    assert!(queue.drop_sleeper(&params).is_none());
    assert_eq!(queue.pick(&params), Some(1));
    queue.charge(&params, 3_000_000);
    queue.begin_pick(&params);
    let (task, entity) = queue.drop_sleeper(&params).expect("its turn");
    assert_eq!((task, entity.lag), (0, 0), "owed 0.5 ms, which it loses");
    queue.check();
    // Eligible, it leaves at once and keeps its lag.
    queue.enqueue(&params, 0, entity);
    let left = queue.sleep(&params).map(|e| e.lag);
    assert_eq!(left, Some(0));
    // Off: it leaves with its debt.
    let off = params_of(&[("delay_dequeue", "off")], 8);
    let mut queue = queue_of(&[(0, 0), (0, 0)]);
    queue.pick(&off);
    queue.charge(&params, 2_000_000);
    assert_eq!(queue.sleep(&off).map(|e| e.lag), Some(-MS));
}

/// Source: docs/rules/queues.md#eevdf: a delayed task that wakes goes on where it is: with a debt
/// as if it had not slept, with a credit it is placed at V.
#[test]
fn a_delayed_sleeper_wakes_in_its_place() {
    let params = params();
    for (ran, vruntime) in [(1_000_000, 2_000_000), (3_000_000, 2_500_000 + 500_000)] {
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, nice_0());
        queue.enqueue(&params, 1, nice_0());
        queue.pick(&params);
        queue.charge(&params, 2_000_000);
        queue.sleep(&params);
        queue.pick(&params);
        queue.charge(&params, ran);
        queue.enqueue(&params, 0, nice_0());
        assert!(!queue.is_delayed(0));
        assert_eq!(queue.nr(), 2);
        // At 3 ms of the other V is 2.5 ms; without the sleeper it is 3 ms.
        assert_eq!(entity_of(&queue, 0).vruntime, vruntime, "{ran}");
        queue.check();
    }
}

/// Goal: a new weight moves neither V nor what is owed. Source: docs/rules/queues.md#eevdf: lag
/// counts in weighted units; nice 5 has 335 of 1024.
#[test]
fn a_new_weight_keeps_weighted_lag_and_v() {
    let params = params();
    let mut queue = queue_of(&[(0, 0), (0, 0)]);
    queue.pick(&params);
    queue.charge(&params, 2_000_000);
    queue.reweight(&params, Weight::of_nice(5));
    let after = entity_of(&queue, 0);
    assert!((MS - 1..=MS).contains(&queue.average()), "V, rounded down");
    assert_eq!(after.vruntime, MS + MS * 1024 / 335);
    // 8 ms of 10 were left, and V is 9 ms from the deadline.
    assert_eq!(after.deadline, MS + 9 * MS * 1024 / 335);
}

/// A generator of histories (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % bound
    }
}

/// Eligible by the definition, in wide arithmetic, over all that is queued: V >= v.
fn oracle_eligible(all: &[(u32, Entity)], one: &Entity) -> bool {
    let owed = all
        .iter()
        .map(|(_, e)| i128::from(e.vruntime - one.vruntime) * i128::from(e.weight.weight));
    owed.sum::<i128>() >= 0
}

/// Goal: no eligible task with an earlier deadline is passed over, and the books agree after every
/// step. Method: random histories of at most twelve tasks with random nice values and slices; each
/// pick is compared with a search through everything.
#[test]
fn no_eligible_task_with_an_earlier_deadline_is_passed_over() {
    for (seed, form) in (0..400).zip(["7.3", "6.12"].into_iter().cycle()) {
        let mut random = Random(seed);
        let params = params_of(&[("eevdf_form", form)], 1 + random.below(8) as usize);
        let mut queue = EevdfQueue::default();
        let slices = [None, None, Some(100_000), Some(20_000_000)];
        let mut away: Vec<(u32, Entity)> = (0..12)
            .map(|task| {
                let nice = random.below(40) as i8 - 20;
                (
                    task,
                    Entity::new(nice, FairPolicy::Other, slices[random.below(4) as usize]),
                )
            })
            .collect();
        for _ in 0..300 {
            step(&mut random, &params, &mut queue, &mut away);
            queue.check();
        }
    }
}

fn step(
    random: &mut Random,
    params: &EevdfParams,
    queue: &mut EevdfQueue,
    away: &mut Vec<(u32, Entity)>,
) {
    match random.below(6) {
        0 if !away.is_empty() => {
            let at = random.below(away.len() as u64) as usize;
            let (task, entity) = away.swap_remove(at);
            queue.enqueue(params, task, entity);
        }
        1 if queue.current.is_some() => {
            let task = queue.current.expect("it runs").0;
            away.extend(queue.sleep(params).map(|e| (task, e)));
        }
        2 if queue.waiting().count() > 0 => {
            let all: Vec<u32> = queue.waiting().collect();
            let task = all[random.below(all.len() as u64) as usize];
            away.push((task, queue.dequeue(params, task)));
        }
        3 if queue.current.is_some() => {
            queue.reweight(params, Weight::of_nice(random.below(40) as i8 - 20));
        }
        4 if queue.nr_delayed > 0 => {
            let delayed = queue.waiting.iter().find(|(_, e)| e.delayed);
            let (task, entity) = *delayed.expect("one is");
            queue.enqueue(params, task, entity);
        }
        _ => queue.charge(params, random.below(8_000_000)),
    }
    queue.begin_pick(params);
    away.extend(std::iter::from_fn(|| queue.drop_sleeper(params)));
    let protected = queue.current.is_some_and(|(_, e)| e.is_protected(params));
    let all: Vec<(u32, Entity)> = queue
        .waiting
        .iter()
        .chain(&queue.current)
        .copied()
        .collect();
    if queue.current.is_some() && queue.keeps(params) {
        let running = queue.current.expect("it runs").1;
        if protected {
            assert!(all.len() == 1 || oracle_eligible(&all, &running));
            return;
        }
    } else {
        queue.put_back();
        assert_eq!(queue.pick(params).is_some(), !all.is_empty());
    }
    let Some((task, _)) = queue.current else {
        return;
    };
    let picked = all.iter().find(|(t, _)| *t == task).expect("queued").1;
    assert!(all.len() == 1 || oracle_eligible(&all, &picked));
    for (_, other) in &all {
        assert!(!oracle_eligible(&all, other) || other.deadline >= picked.deadline);
    }
}

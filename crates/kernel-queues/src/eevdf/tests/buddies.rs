//! Who is picked before the others, and what a wake-up leaves behind
//! (docs/rules/queues.md#eevdf-buddies, docs/rules/queues.md#eevdf-wake-up).
//!
//! What must stay: which kernel picks a buddy is the page's; `params_of`, `queue_of` and `woken`
//! are those of ../tests.rs. Free: numbers of tasks, and how a helper fills the queue.
//! Tests by part (in crates/kernel-queues/src): eevdf/buddies.rs:
//! `an_eligible_buddy_is_picked_first` (`set_next_buddy`); eevdf.rs:
//! `a_kept_debt_does_not_grow_in_7_3` (`kept_lag`); eevdf/entity.rs:
//! `who_is_preempted_is_not_protected_in_7_3` (`is_protected`); eevdf/buddies.rs:
//! `next_buddy_names_who_is_woken` (`set_preempt_buddy`); eevdf/preempt.rs:
//! `a_kept_sleeper_does_not_stand_before_a_wakee_in_7_3` (`take_let_go`),
//! `a_lazy_mark_is_no_reschedule_that_is_due` (what is due as a wakee comes).
//! Helpers, and who fails with them: `two` (`an_eligible_buddy_is_picked_first`); `woken_beside`
//! (`next_buddy_names_who_is_woken`, `who_is_preempted_is_not_protected_in_7_3`).

use super::*;

/// Tasks 0 and 1 wait, alike but for the earlier deadline of task 0.
fn two() -> EevdfQueue {
    let mut queue = queue_of(&[(0, 0), (0, 0)]);
    queue.waiting[1].1.deadline = 9 * MS; // the last one is the first
    assert_eq!(queue.waiting[1].0, 0);
    queue
}

/// Source: docs/rules/queues.md#eevdf-buddies: PICK_BUDDY from 6.12 on, in 6.6 NEXT_BUDDY: the
/// buddy is picked before one of an earlier deadline, if it is eligible; once. A SCHED_IDLE task is
/// none.
#[test]
fn an_eligible_buddy_is_picked_first() {
    for (form, settings, looks) in [
        ("6.6", ("pick_buddy", "off"), false),
        ("6.6", ("next_buddy", "on"), true),
        ("6.12", ("pick_buddy", "on"), true),
        ("6.12", ("pick_buddy", "off"), false),
        ("7.3", ("pick_buddy", "on"), true),
    ] {
        let params = params_of(&[("eevdf_form", form), settings], 8);
        let mut queue = two();
        queue.set_next_buddy(1);
        assert_eq!(queue.pick(&params), Some(u32::from(looks)), "{form}");
        queue.put_back();
        assert_eq!(queue.is_buddy(1), !looks, "{form}: picked, it is none");
        let mut queue = two();
        queue.set_next_buddy(1);
        queue.waiting[0].1.vruntime += 1; // above the average
        queue.sum += queue.waiting[0].1.weight();
        assert_eq!(queue.pick(&params), Some(0), "{form}: not eligible");
        let mut queue = two();
        queue.waiting[0].1.policy = FairPolicy::Idle;
        queue.set_next_buddy(1);
        assert!(!queue.is_buddy(1));
    }
}

/// A queue in which task 0 runs since `ran` ns, and task 1 with this slice has just been woken
/// without lag.
fn woken_beside(params: &EevdfParams, ran: u64, task_1: Entity) -> EevdfQueue {
    let mut queue = EevdfQueue::default();
    queue.enqueue(params, 0, woken(None, 0));
    assert_eq!(queue.pick(params), Some(0));
    queue.charge(params, ran);
    queue.enqueue(params, 1, task_1);
    queue
}

/// Source: docs/rules/queues.md#eevdf-buddies: with NEXT_BUDDY each woken task is named, whether it
/// preempts or not, and a new one is not. In 7.3 a buddy with an earlier deadline stays, and one
/// that is named by a synchronous wake-up does not preempt.
#[test]
fn next_buddy_names_who_is_woken() {
    for form in ["6.12", "6.18", "7.3"] {
        let params = params_of(&[("eevdf_form", form), ("next_buddy", "on")], 8);
        let mut queue = woken_beside(&params, 100_000, woken(None, -MS)); // not eligible
        assert!(!queue.preempts(&params, 1, false), "{form}");
        assert!(queue.is_buddy(1), "{form}");
        let mut queue = woken_beside(&params, 100_000, nice_0());
        assert!(!queue.preempts(&params, 1, false), "{form}");
        assert!(!queue.is_buddy(1), "{form}: a fork");
        // A second one, of a later deadline.
        let mut queue = woken_beside(&params, 100_000, woken(None, 0));
        queue.preempts(&params, 1, false);
        queue.charge(&params, 100_000);
        queue.enqueue(&params, 2, woken(None, 0));
        queue.preempts(&params, 2, false);
        assert_eq!(queue.is_buddy(1), form == "7.3", "{form}");
        // Synchronous: the running task is not eligible after 1 ms.
        let preempts = |sync| {
            let mut queue = woken_beside(&params, MS as u64, woken(None, 0));
            queue.charge(&params, MS as u64);
            queue.preempts(&params, 1, sync)
        };
        assert!(preempts(false), "{form}");
        assert_eq!(preempts(true), form != "7.3", "{form}");
    }
    let off = params_of(&[], 8);
    let mut queue = woken_beside(&off, 100_000, woken(None, 0));
    queue.preempts(&off, 1, false);
    assert!(!queue.is_buddy(1), "off in all kernels");
}

/// Source: docs/rules/queues.md#eevdf-wake-up: 7.3 looks whom it would pick as a pick does: a kept
/// sleeper whose turn it is leaves the queue, and the wakee behind it preempts. To 6.18 the sleeper
/// is whose turn it is, and nobody preempts.
#[test]
fn a_kept_sleeper_does_not_stand_before_a_wakee_in_7_3() {
    for (form, preempts) in [("6.12", false), ("6.18", false), ("7.3", true)] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, woken(None, 0));
        queue.enqueue(&params, 1, woken(None, 0));
        queue.pick(&params);
        queue.charge(&params, 500_000);
        assert!(queue.sleep(&params).is_none(), "0.25 ms too much: kept");
        queue.pick(&params);
        queue.charge(&params, MS as u64); // V is 0.75 ms; task 1 is at 1 ms, the sleeper at 0.5
        queue.enqueue(&params, 2, woken(None, 0));
        assert_eq!(queue.preempts(&params, 2, false), preempts, "{form}");
        let gone = queue.take_let_go().len();
        assert_eq!((gone, queue.nr_queued()), (usize::from(preempts), 3 - gone));
        queue.check();
    }
}

/// Source: docs/rules/queues.md#eevdf-wake-up: what a kept sleeper owes cannot grow while it is
/// kept (7.3). Task 0 owes 1 ms as it falls asleep; a task of large credit comes and takes V back.
#[test]
fn a_kept_debt_does_not_grow_in_7_3() {
    for (form, worse) in [("6.12", true), ("6.18", true), ("7.3", false)] {
        let params = params_of(&[("eevdf_form", form)], 8);
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, woken(None, 0));
        queue.enqueue(&params, 1, woken(None, 0));
        queue.pick(&params);
        queue.charge(&params, 2_000_000);
        assert!(queue.sleep(&params).is_none());
        queue.enqueue(&params, 2, woken(None, 2 * MS));
        assert!(queue.average() < MS);
        let owed = queue.dequeue(&params, 0).lag;
        assert_eq!(owed < -MS, worse, "{form}: {owed}");
        assert!(worse || owed == -MS, "{form}: {owed}");
        queue.check();
    }
}

/// Source: docs/rules/queues.md#lazy-preemption: to 6.18 nothing more is asked while a reschedule
/// is due; a mark of lazy preemption is none, and the wakee with a shorter slice shortens the
/// protection all the same.
#[test]
fn a_lazy_mark_is_no_reschedule_that_is_due() {
    let protection = |preempt| {
        let settings = [("eevdf_form", "6.18"), ("preempt", preempt)];
        let params = params_of(&settings, 8);
        let mut queue = EevdfQueue::default();
        queue.enqueue(&params, 0, woken(None, 0));
        queue.enqueue(&params, 1, woken(None, -MS));
        queue.pick(&params);
        queue.resched = true;
        queue.enqueue(&params, 2, woken(Some(500_000), -MS));
        assert!(queue.preempts(&params, 2, false));
        entity_of(&queue, 0).protection
    };
    assert_eq!(
        (protection("full"), protection("lazy")),
        (2_800_000, 500_000)
    );
}

/// Source: docs/rules/queues.md#eevdf-wake-up: in 7.3 each wake-up that preempts ends the
/// protection of the task that runs, which goes on for a while where preemption is lazy.
#[test]
fn who_is_preempted_is_not_protected_in_7_3() {
    let params = params_of(&[("preempt", "lazy")], 8);
    let mut queue = woken_beside(&params, 100_000, woken(None, 0));
    queue.charge(&params, 100_000); // 0.2 ms of 2.8, and V is at 0.15 ms: not eligible
    assert!(queue.preempts(&params, 1, false));
    let entity = entity_of(&queue, 0);
    assert!(!entity.is_protected(&params), "{entity:?}");
}

//! Queues as another scheduler has them. Times of 7.3 on a machine of 8 CPUs: base_slice is 2.8 ms
//! (0.7 ms x (1 + log2 8)), and a task of nice 0 runs as fast as its virtual time.
//! Rules: docs/rules/queues.md#eevdf, docs/rules/queues.md#cfs,
//! docs/rules/queues.md#eevdf-virtual-time.
//!
//! What must stay: one question on a state that is put there, with the answer of the queue itself.
//! Free: numbers of tasks, and how a helper fills the queue.
//! Tests by part (in crates/kernel-queues/src): eevdf/on_state.rs:
//! `an_earlier_deadline_displaces_who_is_not_protected`, `the_time_since_the_last_update_counts`
//! (`preempt_on_state`), `the_earliest_deadline_is_next`, `without_time_nothing_follows`
//! (`pick_on_state`); cfs/on_state.rs: `cfs_asks_for_its_granularity` (`wakeup_preempt`),
//! `who_has_run_least_is_next` (`pick`); on_state.rs: `who_does_not_wait_displaces_nobody`
//! (`wakeup_preempt`).
//! Helpers, and who fails with them: `params`, `queued` (all tests,
//! `an_earlier_deadline_displaces_who_is_not_protected` among them); `ask` (most tests,
//! `an_earlier_deadline_displaces_who_is_not_protected` among them).

use super::{Look, Marks, Queued, Turned};
use crate::fair_queues::{FairParams, KernelKind};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::FairPolicy;

const MS: u64 = 1_000_000;
/// Far from 0, as a kernel's are.
const V: u64 = 1 << 40;

fn params(era: &str) -> FairParams {
    let policy = Policy::parse(era).unwrap();
    FairParams::new(policy.core_params(), 8, 4 * MS, KernelKind::default())
}

fn queued(task: u32, vruntime: u64, deadline: u64) -> Queued {
    Queued {
        task,
        nice: 0,
        policy: FairPolicy::Other,
        own_slice_ns: None,
        vruntime,
        deadline,
        protection: 0,
        delayed: false,
        is_new: false,
    }
}

fn ask(params: &FairParams, queued: &[Queued], exec_ns: u64) -> Option<Turned> {
    let (running, waiting) = match queued.split_first() {
        Some((first, rest)) => (Some(first), rest),
        None => (None, queued),
    };
    let look = Look {
        running,
        waiting,
        exec_ns,
        before: Marks::default(),
    };
    params.wakeup_preempt(&look, 2, false)
}

/// Goal: who joins displaces who runs if it is eligible and its deadline is earlier, unless the
/// running one is protected. Source: docs/rules/queues.md#eevdf-wake-up. All but task 3 are behind
/// the average.
#[test]
fn an_earlier_deadline_displaces_who_is_not_protected() {
    let params = params("linux-7.3");
    let resched = |protection, deadline| {
        let runs = Queued {
            protection,
            ..queued(1, V + MS, V + 3 * MS)
        };
        let ahead = queued(3, V + 9 * MS, V + 12 * MS);
        let turned = ask(&params, &[runs, queued(2, V, deadline), ahead], 0);
        turned.unwrap().marks.resched
    };
    assert!(resched(V + MS, V + 2 * MS));
    assert!(
        !resched(V + 2 * MS, V + 2 * MS),
        "it is protected up to V + 2 ms"
    );
}

/// Goal: what the running task's vruntime lacks is added first: a request of 2.8 ms that is over is
/// followed by the next. Source: docs/rules/queues.md#eevdf (update_deadline).
#[test]
fn the_time_since_the_last_update_counts() {
    let runs = queued(1, V, V + MS);
    let turned = ask(&params("linux-7.3"), &[runs, queued(2, V, V + 9 * MS)], MS).unwrap();
    assert!(turned.marks.resched);
    assert_eq!(turned.running.vruntime, V + MS);
    assert_eq!(turned.running.deadline, V + MS + 2_800_000);
}

/// Goal: without time since the last look nothing follows, although another waits. Source:
/// docs/rules/queues.md#eevdf-virtual-time (`update_curr()`): the running task is at its deadline.
#[test]
fn without_time_nothing_follows() {
    let waits = queued(2, V + 9 * MS, V + 12 * MS);
    for (exec_ns, resched, deadline) in [(0, false, V), (1, true, V + 1 + 2_800_000)] {
        let turned = ask(&params("linux-7.3"), &[queued(1, V, V), waits], exec_ns).unwrap();
        let found = (turned.marks.resched, turned.running.deadline);
        assert_eq!(found, (resched, deadline), "{exec_ns} ns");
    }
}

/// Goal: CFS lets a task displace that is more than the wake-up granularity behind, 4 ms on 8 CPUs
/// (1 ms x 4), and names it. Source: docs/rules/queues.md#cfs.
#[test]
fn cfs_asks_for_its_granularity() {
    let params = params("linux-6.1");
    let next = |behind_ns| {
        let all = [queued(1, V + behind_ns, 0), queued(2, V, 0)];
        ask(&params, &all, 0).unwrap().marks
    };
    let none = Marks::default();
    assert_eq!(next(4 * MS), none);
    let displaced = Marks {
        resched: true,
        next: Some(2),
        ..Marks::default()
    };
    assert_eq!(next(4 * MS + 1), displaced);
}

/// Goal: who is next is the eligible one with the earliest deadline, whoever runs; a sleeper whose
/// turn it is leaves. Source: docs/rules/queues.md#eevdf (pick). The running task's protection has
/// ended; task 3 is not eligible.
#[test]
fn the_earliest_deadline_is_next() {
    let runs = queued(1, V + MS, V + 3 * MS);
    let next = |delayed| {
        let second = Queued {
            delayed,
            ..queued(2, V, V + 2 * MS)
        };
        let waiting = [second, queued(3, V + 9 * MS, V + MS)];
        params("linux-7.3").pick(&Look {
            running: Some(&runs),
            waiting: &waiting,
            exec_ns: 0,
            before: Marks::default(),
        })
    };
    assert_eq!(next(false), Some(2));
    assert_eq!(next(true), Some(1));
}

/// Goal: of CFS it is who has run least, unless a buddy is not too far ahead (4 ms on 8 CPUs) or
/// the first is passed over. Source: docs/rules/queues.md#cfs (pick).
#[test]
fn who_has_run_least_is_next() {
    let waiting = [
        queued(2, V, 0),
        queued(3, V + 3 * MS, 0),
        queued(4, V + 5 * MS, 0),
    ];
    let next = |before| {
        params("linux-6.1").pick(&Look {
            running: None,
            waiting: &waiting,
            exec_ns: 0,
            before,
        })
    };
    let of = |next, skip| Marks {
        next,
        skip,
        ..Marks::default()
    };
    assert_eq!(next(of(None, None)), Some(2));
    assert_eq!(next(of(Some(3), None)), Some(3));
    assert_eq!(next(of(Some(4), None)), Some(2));
    assert_eq!(next(of(None, Some(2))), Some(3));
}

/// Goal: a question that nobody can ask has no answer.
#[test]
fn who_does_not_wait_displaces_nobody() {
    for era in ["linux-6.1", "linux-7.3"] {
        assert_eq!(ask(&params(era), &[], 0), None);
        assert_eq!(ask(&params(era), &[queued(2, V, V + MS)], 0), None);
    }
}

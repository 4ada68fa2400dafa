//! The queue by itself: worked numbers of docs/rules/queues.md#cfs-numbers and its rules.
//!
//! What must stay: figures are the page's worked numbers, bit for bit; an era's form is named in
//! the test. Free: numbers of tasks, and how a helper fills the queue.
//! Tests by part (in crates/kernel-queues/src): weight.rs:
//! `virtual_time_matches_the_kernels_fixed_point`, `the_least_slice_of_idle_and_of_new_tasks`
//! (`of_nice`), `three_equal_tasks_share_a_period` (`calc_delta`, `of_sum`); cfs.rs:
//! `a_slice_of_later_kernels_is_at_least_the_granularity`,
//! `a_turn_of_later_kernels_is_at_most_the_latency`, `a_lead_is_measured_by_the_limited_turn`
//! (`tick_preempts`), `a_floor_that_sinks_is_found` (`update_min`), `slices_follow_weights`
//! (`slice_ns`), `equal_virtual_times_keep_arrival_order` (`insert`),
//! `sleepers_are_credited_half_a_period` (`place_woken`),
//! `an_idle_sleeper_is_credited_less_in_later_kernels` (`place_woken`, `is_idle`).
//! Helpers, and who fails with them: `params`, `params_of` (most tests,
//! `a_slice_of_later_kernels_is_at_least_the_granularity` among them); `queue_of` (5 tests,
//! `slices_follow_weights` among them); `at` (`sleepers_are_credited_half_a_period`,
//! `an_idle_sleeper_is_credited_less_in_later_kernels`,
//! `a_turn_of_later_kernels_is_at_most_the_latency`, `a_lead_is_measured_by_the_limited_turn`).

use super::{CfsParams, CfsQueue, Entity};
use crate::weight::{Weight, calc_delta, virtual_time};
use wakeplace_policy_sys::Policy;
use wakeplace_workload::FairPolicy;

fn params() -> CfsParams {
    params_of("linux-4.17", 8)
}

/// Goal: the kernel's fixed point, bit for bit. Source: docs/rules/queues.md#cfs.
#[test]
fn virtual_time_matches_the_kernels_fixed_point() {
    assert_eq!(virtual_time(1_000_000, Weight::of_nice(5)), 3_056_716);
    assert_eq!(virtual_time(1_000_000, Weight::of_nice(-5)), 328_099);
    assert_eq!(virtual_time(1_000_000, Weight::of_nice(19)), 68_266_666);
    assert_eq!(virtual_time(123, Weight::of_nice(0)), 123);
}

/// Source: docs/rules/queues.md#cfs-constants, for 8 CPUs.
#[test]
fn three_equal_tasks_share_a_period() {
    let params = params();
    assert_eq!(params.latency_ns, 24_000_000);
    assert_eq!(params.nr_latency, 8);
    let mut queue = CfsQueue::default();
    for task in 0..3 {
        queue.enqueue(task, &Entity::new(0, FairPolicy::Other));
    }
    let nice_0 = Entity::new(0, FairPolicy::Other);
    assert_eq!(queue.slice_ns(&params, &nice_0, true), 7_999_998);
    assert_eq!(
        calc_delta(1 << 40, 1024, Weight::of_sum(1024)),
        (1 << 40) - (1 << 18)
    );
}

/// Source: docs/rules/queues.md#cfs-numbers: nice 0 and 5 on one CPU get slices of 18083885 and
/// 5916114 ns.
#[test]
fn slices_follow_weights() {
    let tasks = [0, 5].map(|nice| Entity::new(nice, FairPolicy::Other));
    let queue = queue_of(&tasks);
    let params = params();
    assert_eq!(queue.slice_ns(&params, &tasks[0], true), 18_083_885);
    assert_eq!(queue.slice_ns(&params, &tasks[1], true), 5_916_114);
}

/// A queue in which these tasks wait.
fn queue_of(tasks: &[Entity]) -> CfsQueue {
    let mut queue = CfsQueue::default();
    for (task, entity) in (0..).zip(tasks) {
        queue.enqueue(task, entity);
    }
    queue
}

fn params_of(era: &str, nr_cpus: usize) -> CfsParams {
    CfsParams::new(Policy::parse(era).unwrap().core_params(), nr_cpus)
}

/// Source: docs/rules/queues.md#cfs: from 5.13 on a slice is at least the minimal granularity, 0.75
/// ms, on 8 CPUs and more 3 ms. Before, nice 19 has 24 ms x 15 / 1039 beside nice 0. A longer slice
/// is as before.
#[test]
fn a_slice_of_later_kernels_is_at_least_the_granularity() {
    let tasks = [0, 19].map(|nice| Entity::new(nice, FairPolicy::Other));
    let mut queue = queue_of(&tasks);
    for (era, cpus, expected) in [
        ("linux-4.17", 8, 346_487),
        ("linux-5.0", 8, 346_487),
        ("linux-6.2", 8, 3_000_000),
        ("linux-6.2", 64, 3_000_000),
        ("linux-6.2", 1, 750_000),
    ] {
        let params = params_of(era, cpus);
        let slice = queue.slice_ns(&params, &tasks[1], true);
        assert_eq!(slice, expected, "{era}, {cpus} CPUs");
    }
    let [old, new] = ["linux-5.0", "linux-6.2"].map(|era| params_of(era, 8));
    let nice_0 = |params| queue.slice_ns(params, &tasks[0], true);
    assert_eq!(nice_0(&old), nice_0(&new));
    // The turn ends at the first tick beyond it.
    let at = |used_ns| Entity {
        slice_used_ns: used_ns,
        ..tasks[1]
    };
    let mut over = |params, used_ns| queue.tick_preempts(params, (1, &at(used_ns)));
    assert!(over(&old, 346_488));
    assert!(!over(&new, 3_000_000));
    assert!(over(&new, 3_000_001));
}

/// Source: docs/rules/queues.md#cfs: 0.75 ms of a SCHED_IDLE task beside others, whatever the
/// machine; among its like the minimal granularity. A new task is debited such a slice, too: 3 ms
/// of nice 19 (68266666 ns per ms, docs/rules/queues.md#cfs-numbers).
#[test]
fn the_least_slice_of_idle_and_of_new_tasks() {
    let idle = Entity::new(0, FairPolicy::Idle);
    let other = Entity::new(0, FairPolicy::Other);
    let params = params_of("linux-6.2", 8);
    let mut mixed = queue_of(&[idle, other]);
    assert_eq!(mixed.slice_ns(&params, &idle, true), 750_000);
    mixed.dequeue(1, &other, true);
    let crowd = queue_of(&[idle; 40]);
    for queue in [&mixed, &crowd] {
        assert!(queue.slice_ns(&params, &idle, true) >= 3_000_000);
    }
    let weak = Entity::new(19, FairPolicy::Other);
    let debit = queue_of(&[other]).place_new(&params, &weak, 0);
    assert_eq!(debit, virtual_time(3_000_000, Weight::of_nice(19)));
    assert!((204_799_990..=204_800_000).contains(&debit), "{debit}");
}

#[test]
fn equal_virtual_times_keep_arrival_order() {
    let mut queue = CfsQueue::default();
    let entity = Entity::new(0, FairPolicy::Other);
    for task in [7, 3, 5] {
        queue.enqueue(task, &entity);
    }
    let params = params();
    assert_eq!(queue.pick(&params, |_| &entity), Some(7));
    assert_eq!(queue.pick(&params, |_| &entity), Some(3));
    assert_eq!(queue.pick(&params, |_| &entity), Some(5));
    assert_eq!(queue.pick(&params, |_| &entity), None);
}

#[test]
#[cfg(debug_assertions)]
fn a_floor_that_sinks_is_found() {
    let found = std::panic::catch_unwind(|| {
        let mut queue = CfsQueue {
            seen_floor: 7,
            ..Default::default()
        };
        queue.update_min(Some(5));
    });
    assert!(found.is_err());
}

#[test]
fn sleepers_are_credited_half_a_period() {
    let queue = CfsQueue {
        min_vruntime: 100_000_000,
        ..Default::default()
    };
    let params = params();
    let place = |vruntime| queue.place_woken(&params, &at(vruntime));
    assert_eq!(place(0), 88_000_000);
    assert_eq!(place(95_000_000), 95_000_000);
}

/// Gives a task of nice 0 at a virtual time.
fn at(vruntime: i64) -> Entity {
    Entity {
        vruntime,
        ..Entity::new(0, FairPolicy::Other)
    }
}

/// Source: docs/rules/queues.md#cfs, place (2cae3948edd4): on 8 CPUs half the minimal granularity,
/// 3 ms / 2, for a SCHED_IDLE sleeper in 6.2, before that half the latency, 24 ms / 2, as for
/// others. A group is never idle. Without GENTLE_FAIR_SLEEPERS the whole.
#[test]
fn an_idle_sleeper_is_credited_less_in_later_kernels() {
    let queue = CfsQueue {
        min_vruntime: 100_000_000,
        ..Default::default()
    };
    let [old, new] = ["linux-5.0", "linux-6.2"].map(|era| params_of(era, 8));
    let idle = Entity::new(0, FairPolicy::Idle);
    assert_eq!(queue.place_woken(&old, &idle), 88_000_000);
    assert_eq!(queue.place_woken(&new, &idle), 98_500_000);
    for other in [at(0), Entity::of_group(1024, false)] {
        assert_eq!(queue.place_woken(&new, &other), 88_000_000);
    }
    let rude = CfsParams {
        gentle_sleepers: false,
        ..new
    };
    assert_eq!(queue.place_woken(&rude, &idle), 97_000_000);
    assert_eq!(queue.place_woken(&rude, &at(0)), 76_000_000);
}

/// Source: docs/rules/queues.md#cfs, tick (79ba1e607d68): two tasks of nice 0 and 30 SCHED_IDLE
/// ones on 8 CPUs have a period of 32 x 3 ms = 96 ms. Nice 0 has 1024 of 2 x 1024 + 30 x 3 = 2138
/// of it, 45.98 ms. In 6.2 the turn ends after the latency, 24 ms, all the same. A new task's debit
/// is the whole slice.
#[test]
fn a_turn_of_later_kernels_is_at_most_the_latency() {
    let nice_0 = at(0);
    let mut tasks = vec![Entity::new(0, FairPolicy::Idle); 30];
    tasks.extend([nice_0; 2]);
    let mut queue = queue_of(&tasks);
    queue.remove(31); // it runs
    let [old, new] = ["linux-4.17", "linux-6.2"].map(|era| params_of(era, 8));
    let mut over = |params, used_ns| {
        let running = Entity {
            slice_used_ns: used_ns,
            ..nice_0
        };
        queue.tick_preempts(params, (31, &running))
    };
    assert!(!over(&new, 24_000_000));
    assert!(over(&new, 24_000_001));
    assert!(!over(&old, 45_970_000));
    assert!(over(&old, 45_990_000));
    // 33 x 3 ms x 1024 / 3162 = 32.06 ms.
    for params in [old, new] {
        let debit = queue.place_new(&params, &nice_0, 0);
        assert!((32_050_000..32_070_000).contains(&debit), "{debit}");
    }
}

/// Source: as above: who is ahead of the leftmost by more than the limited turn gives way, too,
/// here 24 ms of virtual time.
#[test]
fn a_lead_is_measured_by_the_limited_turn() {
    let mut tasks = vec![Entity::new(0, FairPolicy::Idle); 30];
    tasks.push(at(0));
    let mut queue = queue_of(&tasks);
    queue.nr += 1; // the running one
    queue.load += 1024;
    let [old, new] = ["linux-4.17", "linux-6.2"].map(|era| params_of(era, 8));
    let mut over = |params, vruntime| {
        let running = Entity {
            slice_used_ns: 3_000_000,
            ..at(vruntime)
        };
        queue.tick_preempts(params, (31, &running))
    };
    assert!(!over(&new, 24_000_000));
    assert!(over(&new, 24_000_001));
    assert!(!over(&old, 24_000_001));
}

//! The queue by itself: worked numbers of docs/rules/queues.md#cfs-numbers and its rules.

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
    let queue = queue_of(&tasks);
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
    assert!(queue.tick_preempts(&old, &at(346_488)));
    assert!(!queue.tick_preempts(&new, &at(3_000_000)));
    assert!(queue.tick_preempts(&new, &at(3_000_001)));
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
    assert_eq!(queue.place_woken(&params, 0), 88_000_000);
    assert_eq!(queue.place_woken(&params, 95_000_000), 95_000_000);
}

#[test]
fn a_wakeup_preempts_beyond_the_granularity_only() {
    let params = params();
    let mut queue = CfsQueue::default();
    let at = |vruntime| Entity {
        vruntime,
        ..Entity::new(0, FairPolicy::Other)
    };
    assert!(!queue.wakeup_preempts(&params, (0, &at(4_000_000)), &at(0)));
    assert!(queue.wakeup_preempts(&params, (0, &at(4_000_001)), &at(0)));
}

/// Source: docs/rules/queues.md#cfs, pick and yield: who yielded is passed over for the second
/// unless that is ahead by more than the granularity (4 ms on 8 CPUs); picked, it is no longer
/// passed over. Alone it is not marked.
#[test]
fn who_yielded_is_passed_over_once() {
    let params = params();
    let at = |vruntime| Entity {
        vruntime,
        ..Entity::new(0, FairPolicy::Other)
    };
    for (second, picked) in [(4_000_000, 1), (4_000_001, 0)] {
        let entities = [at(0), at(second)];
        let mut queue = CfsQueue::default();
        queue.enqueue(0, &entities[0]);
        assert!(!queue.skip(0));
        queue.enqueue(1, &entities[1]);
        assert!(queue.skip(0));
        assert!(!queue.keeps(0));
        let entity = |task| &entities[task as usize];
        assert_eq!(queue.pick(&params, entity), Some(picked));
        queue.insert(picked, entities[picked as usize].vruntime);
        // Still to be passed over if it was; else it was forgotten when it was picked.
        let again = if picked == 1 { 1 } else { 0 };
        assert_eq!(queue.pick(&params, entity), Some(again));
    }
}

/// Source: docs/rules/queues.md#cfs: a normal wakee preempts SCHED_IDLE; BATCH and IDLE wakees
/// preempt nobody else. SCHED_IDLE weighs 3.
#[test]
fn policies_decide_before_times_do() {
    use FairPolicy::{Batch, Idle, Other};
    let params = params();
    let mut queue = CfsQueue::default();
    let mut preempts = |running, woken| {
        let ahead = Entity {
            vruntime: 1 << 40,
            ..Entity::new(0, running)
        };
        let behind = (
            Entity::new(0, woken),
            Entity {
                vruntime: 1 << 41,
                ..Entity::new(0, woken)
            },
        );
        [behind.0, behind.1].map(|woken| queue.wakeup_preempts(&params, (0, &ahead), &woken))
    };
    assert_eq!(preempts(Other, Other), [true, false]);
    assert_eq!(preempts(Batch, Other), [true, false]);
    for wakee in [Batch, Idle] {
        assert_eq!(preempts(Other, wakee), [false, false]);
    }
    assert_eq!(preempts(Idle, Other), [true, true]);
    assert_eq!(preempts(Idle, Batch), [true, true]);
    assert_eq!(preempts(Idle, Idle), [false, false]);
    assert_eq!(Weight::of_task(-20, Idle).weight, 3);
    assert_eq!(virtual_time(3_000, Weight::of_task(0, Idle)), 1_023_999);
}

//! The live queues' virtual time (policy/src/queue.c): what its head comment and the comments of
//! its functions promise, in numbers worked out here.
#![allow(missing_docs, reason = "not a library")]

mod common;

use wakeplace_policy_sys::{Core, QueueKind, Task};

const MS: u64 = 1_000_000;
/// Weight of nice 0, and of nice 5.
const NICE_0: u32 = 1024;
const NICE_5: u32 = 335;

/// Two CPUs, slices of 3 ms, granularity 1 ms, a tick of 4 ms; the queues' times at `now_vtime`.
fn core(now_vtime: u64) -> Core {
    let settings = [
        ("queue", "dsq"),
        ("vq_slice_ns", "3000000"),
        ("vq_wakeup_gran_ns", "1000000"),
    ];
    let facts = common::machine(&[common::cluster(2, 1024)]);
    let mut core = common::core(&facts, "linux-4.17", &settings);
    assert_eq!(core.queue_kind(), QueueKind::Live);
    core.state_mut().tick_ns = 4_000_000;
    for cpu in 0..2 {
        core.cpu_mut(cpu).vtime_now_ns = now_vtime;
    }
    core
}

/// A task whose place is `vtime` on the time of CPU 0.
fn task(id: u32, weight: u32, vtime: u64) -> Task {
    let mut task = Task::new(id, weight, 0, None, 2);
    task.raw_mut().vtime_ns = vtime;
    task
}

fn now_of(core: &Core, cpu: u32) -> u64 {
    core.cpu(cpu).vtime_now_ns
}

/// A sleeper is at most one slice behind the queue's time, whatever its weight; a lead is at most
/// what a slice and a tick (7 ms) bring, in its own weighted time; between the two it stays.
#[test]
fn a_place_is_bounded_on_both_sides() {
    let now = 500 * MS;
    let mut core = core(now);
    let mut place = |weight, vtime| {
        let mut task = task(1, weight, vtime);
        core.vq_place(&mut task, 0);
        task.vtime_ns()
    };
    assert_eq!(place(NICE_0, 0), now - 3 * MS);
    assert_eq!(place(NICE_5, 0), now - 3 * MS);
    assert_eq!(place(NICE_0, now - 3 * MS), now - 3 * MS);
    assert_eq!(place(NICE_0, now - 2 * MS), now - 2 * MS);
    assert_eq!(place(NICE_0, now + 7 * MS), now + 7 * MS);
    assert_eq!(place(NICE_0, now + 900 * MS), now + 7 * MS);
    assert_eq!(place(NICE_5, now + 900 * MS), now + 7 * MS * 1024 / 335);
}

/// A task that moves keeps its distance to its queue's time.
#[test]
fn a_move_keeps_the_distance() {
    let mut core = core(500 * MS);
    core.cpu_mut(1).vtime_now_ns = 20 * MS;
    let mut ahead = task(1, NICE_0, 502 * MS);
    core.vq_place(&mut ahead, 1);
    assert_eq!(ahead.vtime_ns(), 22 * MS);
    core.vq_place(&mut ahead, 1);
    assert_eq!(ahead.vtime_ns(), 22 * MS, "once");
    core.vq_place(&mut ahead, 0);
    assert_eq!(ahead.vtime_ns(), 502 * MS);
}

/// Running costs virtual time by weight: 3.35 ms of nice 5 are 10.24 ms, of nice 0 3.35 ms.
#[test]
fn run_time_counts_by_weight() {
    for (weight, cost) in [(NICE_0, 3_350_000), (NICE_5, 10_240_000)] {
        let mut core = core(500 * MS);
        let mut task = task(1, weight, 500 * MS);
        core.vq_start(&mut task, 0, 7 * MS);
        core.vq_stop(&mut task, 7 * MS + 3_350_000);
        assert_eq!(task.vtime_ns(), 500 * MS + cost);
        // It runs no more: a second stop adds nothing, and nobody is there to preempt.
        core.vq_stop(&mut task, 90 * MS);
        assert_eq!(task.vtime_ns(), 500 * MS + cost);
        assert!(!core.vq_preempts(&task, 0, 90 * MS));
        assert!(!core.vq_expired(0, 1, 90 * MS));
    }
}

/// The queue's time is that of the task that begins to run if that is ahead, never back; a task
/// that comes past the queue has its credit bounded by the start.
#[test]
fn a_start_moves_the_queues_time_forward_only() {
    let mut core = core(500 * MS);
    core.vq_start(&mut task(1, NICE_0, 498 * MS), 0, 0);
    assert_eq!(now_of(&core, 0), 500 * MS);
    core.vq_start(&mut task(2, NICE_0, 504 * MS), 0, 0);
    assert_eq!(now_of(&core, 0), 504 * MS);
    let mut slept = task(3, NICE_0, 0);
    core.vq_start(&mut slept, 0, 0);
    assert_eq!(slept.vtime_ns(), 501 * MS);
    // Pulled by CPU 1: the distance (-3 ms) on that queue's time.
    core.vq_start(&mut slept, 1, 0);
    assert_eq!(slept.vtime_ns(), 497 * MS);
}

/// A queued task preempts if it is behind the running one by more than the granularity in its own
/// weighted time: 1 ms for nice 0, 3.0567 ms for nice 5 (1024 / 335).
#[test]
fn preemption_needs_the_granularity() {
    let mut core = core(500 * MS);
    core.state_mut().params.vq_min_run_ns = 0;
    core.vq_start(&mut task(1, NICE_0, 500 * MS), 0, 0);
    let woken = |weight| task(2, weight, 499 * MS);
    assert!(!core.vq_preempts(&woken(NICE_0), 0, 0));
    assert!(core.vq_preempts(&woken(NICE_0), 0, 1));
    let gran = MS * 1024 / 335;
    assert!(!core.vq_preempts(&woken(NICE_5), 0, gran - MS));
    assert!(core.vq_preempts(&woken(NICE_5), 0, gran - MS + 1));
    // What the running one has done counts by its weight.
    core.vq_start(&mut task(3, NICE_5, 500 * MS), 0, 0);
    assert!(!core.vq_preempts(&task(2, NICE_0, 500 * MS), 0, 327_148));
    assert!(core.vq_preempts(&task(2, NICE_0, 500 * MS), 0, 327_149));
}

/// However far behind the woken task is, the running one keeps the CPU for its least time; a
/// SCHED_IDLE one does not.
#[test]
fn what_has_just_begun_is_not_preempted() {
    let mut core = core(500 * MS);
    core.state_mut().params.vq_min_run_ns = 700_000;
    let woken = task(2, NICE_0, 400 * MS);
    core.vq_start(&mut task(1, NICE_0, 500 * MS), 0, 5 * MS);
    assert!(!core.vq_preempts(&woken, 0, 5 * MS + 699_999));
    assert!(core.vq_preempts(&woken, 0, 5 * MS + 700_000));
    let mut idle = task(3, 3, 500 * MS);
    idle.raw_mut().idle_policy = 1;
    core.vq_start(&mut idle, 0, 5 * MS);
    assert!(core.vq_preempts(&woken, 0, 5 * MS));
}

/// SCHED_IDLE gives way to all others at once and never preempts them.
#[test]
fn the_idle_policy_gives_way() {
    let mut core = core(500 * MS);
    let idle = |vtime| {
        let mut task = task(1, 3, vtime);
        task.raw_mut().idle_policy = 1;
        task
    };
    core.vq_start(&mut idle(498 * MS), 0, 0);
    assert!(core.vq_preempts(&task(2, NICE_0, 506 * MS), 0, 0));
    assert!(core.vq_yields(0, 506 * MS, 0));
    core.vq_start(&mut task(2, NICE_0, 500 * MS), 0, 0);
    assert!(!core.vq_preempts(&idle(0), 0, 50 * MS));
}

/// A slice ends after 3 ms and only if somebody waits; then who is behind runs. Alone, the task
/// takes the queue's time with it, so that a sleeper is placed behind what it has done.
#[test]
fn slices_end_if_somebody_who_is_behind_waits() {
    let mut core = core(500 * MS);
    core.vq_start(&mut task(1, NICE_0, 500 * MS), 0, 10 * MS);
    assert!(!core.vq_expired(0, 1, 13 * MS - 1));
    assert!(core.vq_expired(0, 1, 13 * MS));
    // A head that is 3 ms ahead is due at the same time, one that is further ahead is not.
    assert!(core.vq_yields(0, 503 * MS, 13 * MS));
    assert!(!core.vq_yields(0, 503 * MS + 1, 13 * MS));
    assert!(!core.vq_expired(0, 0, 30 * MS));
    assert_eq!(now_of(&core, 0), 520 * MS);
}

/// The queue's time after a yield is the hindmost task's: of the head's and the running one's.
#[test]
fn a_yield_shows_the_queues_time() {
    let mut core = core(500 * MS);
    core.vq_start(&mut task(1, NICE_0, 500 * MS), 0, 0);
    assert!(core.vq_yields(0, 502 * MS, 4 * MS));
    assert_eq!(now_of(&core, 0), 502 * MS);
    assert!(!core.vq_yields(0, 509 * MS, 6 * MS));
    assert_eq!(now_of(&core, 0), 506 * MS);
    assert!(core.vq_yields(0, 505 * MS, 6 * MS));
    assert_eq!(now_of(&core, 0), 506 * MS, "never back");
}

/// Virtual time wraps: all of the above holds across the wrap.
#[test]
fn virtual_time_wraps() {
    let now = u64::MAX - MS;
    let mut core = core(now);
    let mut ahead = task(1, NICE_0, now.wrapping_add(5 * MS));
    core.vq_place(&mut ahead, 0);
    assert_eq!(ahead.vtime_ns(), 4 * MS - 1);
    core.vq_start(&mut ahead, 0, 0);
    assert_eq!(now_of(&core, 0), 4 * MS - 1);
    let mut slept = task(2, NICE_0, now.wrapping_sub(100 * MS));
    core.vq_place(&mut slept, 0);
    assert_eq!(slept.vtime_ns(), MS - 1);
    core.vq_start(&mut task(3, NICE_0, 2 * MS), 0, 0);
    core.cpu_mut(0).vtime_now_ns = now;
    core.cpu_mut(0).curr_vtime_ns = now;
    assert!(core.vq_preempts(&task(4, NICE_0, now), 0, MS + 1));
    assert!(!core.vq_yields(0, 5 * MS, 2 * MS));
    assert!(core.vq_yields(0, 5 * MS, 7 * MS));
    assert_eq!(now_of(&core, 0), 5 * MS);
}

/// A new task begins on its parent's queue's time: no credit, no debt.
#[test]
fn a_new_task_is_level_with_its_parents_queue() {
    let mut core = core(500 * MS);
    core.cpu_mut(1).vtime_now_ns = 70 * MS;
    let mut child = Task::new(9, NICE_0, 1, None, 2);
    core.task_init(&mut child);
    assert_eq!(child.vtime_ns(), 70 * MS);
    core.vq_place(&mut child, 0);
    assert_eq!(child.vtime_ns(), 500 * MS);
}

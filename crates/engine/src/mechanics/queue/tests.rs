//! The order of events, whatever holds them.
//! Rule: docs/rules/README.md#event-order.
//!
//! What must stay: order is time, class, sequence, whatever holds the events; the last test
//! compares with a look at all. Free: times and CPUs in the tests, and how helpers are built.
//! Tests by part (in crates/engine/src): mechanics/clock.rs:
//! `order_is_time_then_class_then_sequence` (`push`, `pop_until`); mechanics/queue.rs:
//! `order_is_time_then_class_then_sequence` (`class`, `key`), `later_events_stay` (`pop_until`),
//! `an_end_moves` (`arm_end`, `disarm_end`); mechanics/queue/ends.rs: `an_end_moves` (`arm`,
//! `disarm`, `move_on`), `an_end_armed_twice` (`put`), `the_least_comes_first` (`write`, `take`,
//! `clear`); mechanics/queue/heap.rs: `the_least_comes_first` (`push`, `first`, `take`);
//! mechanics/queue/ends.rs: `ends_at_one_time`, `what_is_not_in_the_queue_has_its_place`
//! (`peek_due_ns`); mechanics/queue.rs: the same (`peek`, `comes_before`).
//! Helpers, and who fails with them: `queue`, `end` (`order_is_time_then_class_then_sequence`,
//! `later_events_stay` and 4 more); `of_kernel`, `timer` (`order_is_time_then_class_then_sequence`,
//! `later_events_stay` and 3 more); `tick` (`order_is_time_then_class_then_sequence`,
//! `later_events_stay`, `the_least_comes_first`).

use super::{Event, EventQueue, KernelEvent};
use crate::ids::CpuId;

const AHEAD_NS: u64 = 100;
/// The class of ticks.
const TICK: u8 = 9;

/// An empty queue of 11 CPUs.
fn queue() -> EventQueue {
    EventQueue::new(11, AHEAD_NS)
}

/// A kernel's, as its timers are.
fn of_kernel(class: u8, subject: u32) -> KernelEvent {
    KernelEvent {
        class,
        kind: class,
        subject,
        more: 0,
    }
}

/// A kernel's timer, told apart by its task.
fn timer(task: u32) -> Event {
    Event::Kernel(of_kernel(3, task))
}

/// The end of a step on a CPU.
fn end(cpu: u32) -> Event {
    Event::RunEnd { cpu: CpuId(cpu) }
}

/// A kernel's tick of a CPU.
fn tick(cpu: u32) -> Event {
    Event::Kernel(of_kernel(TICK, cpu))
}

/// Goal: what a kernel keeps has the place of its time and class among events, also where the place
/// of an end is too early. A step ends at 40 and an event of class 9 comes at 50. So something of
/// class 8 comes before the next event up to 39, as ends of steps (class 2) are before it; once the
/// step is over up to 50, as 8 is before 9; and something of class 10 up to 49.
#[test]
fn what_is_not_in_the_queue_has_its_place() {
    let mut queue = queue();
    queue.push(50, tick(0));
    queue.arm_end(CpuId(1), 30, 0);
    queue.arm_end(CpuId(1), 40, 0); // its place stays at 30
    assert_eq!(queue.peek(100, 8), (40, 39));
    assert_eq!(queue.peek(20, 8), (20, 20));
    assert!(!queue.comes_before(39, 8) && queue.comes_before(40, 8));
    assert_eq!(queue.pop_until(100), Some((40, end(1))));
    assert_eq!(queue.peek(100, 8), (50, 50));
    assert_eq!(queue.peek(100, 10), (50, 49));
    assert!(!queue.comes_before(50, 8) && queue.comes_before(50, 10));
    assert_eq!(queue.pop_until(100), Some((50, tick(0))));
    assert_eq!(queue.peek(100, 8), (100, 100));
}

#[test]
fn order_is_time_then_class_then_sequence() {
    let mut queue = queue();
    queue.push_in_order(4, of_kernel(TICK, 3));
    queue.push_in_order(5, of_kernel(TICK, 0));
    queue.push(5, timer(9));
    queue.push(5, timer(1));
    queue.arm_end(CpuId(7), 5, 0);
    queue.arm_end(CpuId(2), 5, 0);
    for event in [tick(3), end(7), end(2), timer(9), timer(1), tick(0)] {
        assert_eq!(queue.pop_until(5).map(|(_, event)| event), Some(event));
    }
    assert_eq!(queue.pop_until(u64::MAX), None);
}

#[test]
fn later_events_stay() {
    let mut queue = queue();
    queue.push_in_order(6, of_kernel(TICK, 0));
    queue.arm_end(CpuId(0), 7, 0);
    queue.push(u64::MAX, timer(0));
    assert_eq!(queue.pop_until(5), None);
    assert_eq!(queue.pop_until(6), Some((6, tick(0))));
    assert_eq!(queue.pop_until(6), None);
    assert_eq!(queue.pop_until(7), Some((7, end(0))));
    assert_eq!(queue.pop_until(u64::MAX - 1), None);
    assert_eq!(queue.pop_until(u64::MAX), Some((u64::MAX, timer(0))));
}

/// What an end moves to, sooner or later, is when it comes, and it comes once.
#[test]
fn an_end_moves() {
    let mut queue = queue();
    let cpu = CpuId(4);
    for due in [50, 80, 20, 30, 90] {
        queue.arm_end(cpu, due, 0);
    }
    queue.push(85, timer(0));
    assert_eq!(queue.pop_until(1000), Some((85, timer(0))));
    assert_eq!(queue.pop_until(1000), Some((90, end(4))));
    queue.arm_end(cpu, 95, 90);
    queue.disarm_end(cpu);
    assert_eq!(queue.pop_until(1000), None);
    queue.arm_end(cpu, 5 * AHEAD_NS, 95);
    assert_eq!(queue.pop_until(1000), Some((5 * AHEAD_NS, end(4))));
    assert_eq!(queue.pop_until(1000), None);
}

/// Of two ends at the same time the one goes first that was the first to stand there: one that
/// moved there when its earlier place came goes behind one that was armed before that.
#[test]
fn ends_at_one_time() {
    let mut queue = queue();
    queue.arm_end(CpuId(0), 20, 0);
    queue.arm_end(CpuId(0), 60, 10);
    queue.arm_end(CpuId(1), 60, 15);
    queue.push(30, timer(0));
    assert_eq!(queue.pop_until(99), Some((30, timer(0))));
    queue.arm_end(CpuId(2), 60, 30);
    for cpu in [1, 0, 2] {
        assert_eq!(queue.pop_until(99), Some((60, end(cpu))));
    }
}

/// An end that is armed again at its time keeps its rank.
#[test]
fn an_end_armed_twice() {
    let mut queue = queue();
    for cpu in [5, 6, 5] {
        queue.arm_end(CpuId(cpu), 60, 0);
    }
    for cpu in [5, 6] {
        assert_eq!(queue.pop_until(99), Some((60, end(cpu))));
    }
}

/// Whatever the mix of pushes and looks, each look takes the least (time, class, sequence) that is
/// pending: found here by a look at all. Times lie near and far, many are equal.
#[test]
fn the_least_comes_first() {
    let mut queue = queue();
    let mut pending: Vec<(u64, u8, u32, Event)> = Vec::new();
    let (mut random, mut now, mut most) = (1_u64, 0, 0);
    for number in 0..30_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let far = [3, 0xf, 0x3f, 0xff_ffff_ffff][(random >> 40 & 3) as usize];
        let mut time = now + (random >> 20 & far);
        let cpu = CpuId((random >> 50) as u32 % 11);
        let event = match random >> 60 {
            0..5 => timer(number),
            5..7 => Event::Awake { cpu },
            7 => tick(cpu.0),
            8 | 9 => end(cpu.0),
            _ => {
                let end = now + (random >> 30 & 0xff);
                let least = pending
                    .iter()
                    .copied()
                    .min_by_key(|(t, c, n, _)| (*t, *c, *n));
                let least = least.filter(|(time, ..)| *time <= end);
                pending.retain(|one| Some(*one) != least);
                let found = queue.pop_until(end);
                assert_eq!(found, least.map(|(time, .., event)| (time, event)));
                now = found.map_or(now, |(time, _)| time);
                continue;
            }
        };
        match event {
            Event::Kernel(event) if event.class == TICK => {
                time = (now / 64 + 1) * 64;
                queue.push_in_order(time, event);
            }
            Event::RunEnd { cpu } => {
                time = now + (time - now) % AHEAD_NS;
                // only to an earlier time: a later one has its turn when the earlier has come
                if pending.iter().any(|(t, .., e)| *e == event && *t <= time) {
                    continue;
                }
                pending.retain(|(.., e)| *e != event);
                queue.arm_end(cpu, time, now);
            }
            _ => queue.push(time, event),
        }
        pending.push((time, event.class(), number, event));
        most = most.max(pending.len());
    }
    assert!(most > 100, "too few at once");
}

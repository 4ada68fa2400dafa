//! Buddies of groups (docs/rules/queues.md#eevdf-buddies).
//!
//! What must stay: to 6.18 a sleeper's group goes on, later not: the era decides. Free: numbers of
//! tasks and groups, and how a helper fills the tree.
//! Tests by part (in crates/kernel-queues/src): grouped/eevdf.rs (`name_after_sleep`):
//! `a_sleepers_group_goes_on`.
//! Helpers, and who fails with them: `after_a_sleep` (`a_sleepers_group_goes_on`).

use super::*;
use crate::KernelKind;
use wakeplace_policy_sys::Policy;

/// Whom a CPU runs after task 0 has gone to sleep. Task 0 and 1 are in a group that has just come,
/// task 2 is in another one, which has run for 1 ms, and whose deadline is earlier. Nobody is
/// protected.
fn after_a_sleep(era: &str, pick_buddy: &str, idle: bool) -> Option<u32> {
    let mut policy = Policy::parse(era).unwrap();
    for (key, value) in [("run_to_parity", "off"), ("pick_buddy", pick_buddy)] {
        policy.set(key, value).unwrap();
    }
    let params = EevdfParams::new(policy.core_params(), 8, 4_000_000, KernelKind::default());
    let shape = |idle| GroupShape {
        shares: 1024,
        parent: None,
        idle,
    };
    let mut tree = EevdfTree::new(params, &[shape(idle), shape(idle)]);
    let task = || Entity::new(0, FairPolicy::Other, None);
    tree.insert(2, task(), Some(1));
    assert_eq!(tree.pick(), Some(2));
    tree.charge(Some(1), 1_000_000);
    tree.insert(0, task(), Some(0));
    tree.insert(1, task(), Some(0));
    tree.begin_put();
    tree.requeue(Some(1));
    // It is task 0's turn, however that came about.
    tree.root.pick_this(entity_of(0));
    tree.groups[0].queue.pick_this(0);
    assert!(tree.sleep(Some(0)).is_some(), "it owes nothing");
    assert!(tree.begin_pick().is_empty());
    let next = tree.pick();
    tree.check();
    next
}

/// Source: docs/rules/queues.md#eevdf-buddies: to 6.18 the group of a task that falls asleep goes
/// on with its others, where buddies are picked; a group with `cpu.idle` is no buddy, and in 7.3
/// there are none of groups.
#[test]
fn a_sleepers_group_goes_on() {
    for era in ["linux-6.12", "linux-6.18"] {
        assert_eq!(after_a_sleep(era, "on", false), Some(1), "{era}");
        assert_eq!(after_a_sleep(era, "off", false), Some(2), "{era}");
        assert_eq!(after_a_sleep(era, "on", true), Some(2), "{era}: cpu.idle");
    }
    assert_eq!(after_a_sleep("linux-7.3", "on", false), Some(2));
}

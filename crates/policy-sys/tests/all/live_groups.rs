//! Control groups of the live scheduler (policy/src/live_queue/group.c, group_quota.c), in the
//! numbers of docs/rules/live-queue.md#vq-groups and #vq-quota.
//!
//! What must stay: weights, times and levels are those of the page's tables; V and the queue are
//! not part of it. Members are counted (`add`) before they are weighed. Free: numbers and names of
//! groups.
//! Tests by part: `shares_are_divided_from_the_outside_in`, `shares_are_per_cpu_since_7_3`,
//! `whole_averages_count_since_7_3`, `tasks_share_by_their_own_weights` (`wp_live_group_share`,
//! `wp_live_member_weigh`, `wp_live_group_weight`); `default_weights_leave_tasks_as_they_are`
//! (`wp_live_group_count_odd`, `wp_live_group_free`); `who_sleeps_leaves_its_part`
//! (`wp_live_member_leave`, `wp_live_member_partial`); `idle_groups` (`wp_live_group_set_idle`);
//! `groups_that_are_too_deep_and_places_that_are_taken` (`wp_live_group_new`,
//! `wp_live_group_settle`); `quotas`, `burst`, `quotas_within_quotas` (`wp_live_group_set_quota`,
//! `wp_live_group_refill`, `wp_live_group_charge`, `wp_live_group_wait_ns`);
//! `hints_stay_within_the_group_s` (`wp_uclamp_tg_restrict`).
//! Helpers, and who fails with them: `core`, `weights` (most tests,
//! `shares_are_divided_from_the_outside_in` among them); `nested`
//! (`shares_are_divided_from_the_outside_in`, `shares_are_per_cpu_since_7_3`,
//! `whole_averages_count_since_7_3`, `who_sleeps_leaves_its_part`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;
use wakeplace_policy_sys::{Core, LiveGroups, LiveMember, Task, uclamp_tg_restrict};

const MS: u64 = 1_000_000;
const NICE_0: u32 = 1024;
const IDLE: u32 = 3;

fn core() -> Core {
    let settings = [
        ("queue", "dsq"),
        ("vq_slice_ns", "3000000"),
        ("tunable_scaling", "none"),
    ];
    let facts = common::machine(&[common::cluster(4, 1024)]);
    let mut core = common::core(&facts, "linux-7.3", &settings);
    core.state_mut().tick_ns = 4_000_000;
    core
}

/// Runnable members of groups, each with its task on CPU 0.
struct Members {
    core: Core,
    groups: LiveGroups,
    members: Vec<(LiveMember, Task)>,
}

impl Members {
    fn new(groups: LiveGroups) -> Self {
        Self {
            core: core(),
            groups,
            members: Vec::new(),
        }
    }

    fn add(&mut self, group: u32, weight: u32) {
        let id = self.members.len() as u32 + 1;
        let task = Task::new(id, weight, 0, None, 4);
        self.members.push((LiveMember::new(group, weight), task));
    }

    /// Each is asked what it weighs, after all have been counted.
    fn weights(&mut self) -> Vec<u32> {
        for _ in 0..2 {
            for (member, task) in &mut self.members {
                let (core, groups) = (&mut self.core, &mut self.groups);
                core.live_member_weigh(groups, member, task, MS);
            }
        }
        let weights = self.members.iter().map(|(_, task)| task.raw().weight);
        weights.collect()
    }
}

/// The table of #vq-groups: a (200) with one (100) and two (300), and b (400), all of tasks of nice
/// 0: one, two and one of them.
fn nested(most_cpus: u32) -> Members {
    let mut groups = LiveGroups::new(most_cpus);
    let a = groups.add(0);
    let (one, two, b) = (groups.add(a), groups.add(a), groups.add(0));
    groups.set_weight(a, 200);
    groups.set_weight(two, 300);
    groups.set_weight(b, 400);
    let mut members = Members::new(groups);
    for group in [one, two, two, b] {
        members.add(group, NICE_0);
    }
    members
}

/// Of 2048 a's groups get 1:3, its tasks 512 and twice 768; b's has 4096.
#[test]
fn shares_are_divided_from_the_outside_in() {
    assert_eq!(nested(0).weights(), [512, 768, 768, 4096]);
}

/// Three tasks that have just begun count as two: a has 4096, as b, whose one task counts as one;
/// two has two, which count as one. The sums over groups are those of the table.
#[test]
fn shares_are_per_cpu_since_7_3() {
    assert_eq!(nested(4).weights(), [1024, 1536, 1536, 4096]);
}

/// Tasks whose averages are whole, from 1008 of 1024 on, count each: a has 6144, two 6144, one 1024
/// of its load of 7168: 877.7; each of two's tasks 2633.1. On two CPUs a has 4096, as if one were
/// partial. So it is if one has a CPU of its own.
#[test]
fn whole_averages_count_since_7_3() {
    let whole = |most_cpus| {
        let mut members = nested(most_cpus);
        for (_, task) in &mut members.members {
            task.raw_mut().avg.runnable_avg = 1008;
        }
        members
    };
    assert_eq!(whole(4).weights(), [878, 2633, 2633, 4096]);
    assert_eq!(whole(2).weights(), [585, 1755, 1755, 4096]);
    let mut members = whole(4);
    let bound = &mut members.members[0].1;
    bound.raw_mut().nr_allowed = 1;
    assert_eq!(members.weights(), [585, 1755, 1755, 4096]);
    let (member, task) = &mut members.members[1];
    task.raw_mut().avg.runnable_avg = 1007;
    members
        .core
        .live_member_weigh(&mut members.groups, member, task, MS);
    assert_eq!(members.weights(), [1024, 1536, 1536, 4096]);
    for (member, _) in &mut members.members {
        members.groups.leave(member);
    }
    for group in &members.groups.raw().group {
        assert_eq!((group.tasks, group.partial, group.load), (0, 0, 0));
    }
}

/// The load of a group is a sum: what its tasks have together is its shares, whatever their nice
/// values. 1024 of a load of 1024 + 335 + 3: 770, 252 and 2.
#[test]
fn tasks_share_by_their_own_weights() {
    let mut groups = LiveGroups::new(0);
    let (a, b) = (groups.add(0), groups.add(0));
    groups.set_weight(b, 50);
    let mut members = Members::new(groups);
    members.add(a, NICE_0);
    members.add(a, 335);
    members.add(a, IDLE);
    members.add(b, NICE_0);
    members.add(0, 335);
    assert_eq!(members.weights(), [770, 252, 2, 512, 335]);
}

/// While all groups have the default weight no group weighs anything; and no more, once the last
/// one that had another is gone.
#[test]
fn default_weights_leave_tasks_as_they_are() {
    let mut groups = LiveGroups::new(0);
    let (a, b) = (groups.add(0), groups.add(0));
    let mut members = Members::new(groups);
    members.add(a, NICE_0);
    members.add(a, 335);
    members.add(b, 88_761);
    assert_eq!(members.weights(), [1024, 335, 88_761]);
    assert_eq!(members.groups.raw().group[a as usize].load, 0);
    let c = members.groups.add(0);
    members.groups.set_weight(c, 200);
    assert_eq!(members.weights(), [772, 252, 1024]);
    members.groups.set_weight(c, 100);
    assert_eq!(members.weights(), [1024, 335, 88_761]);
    members.groups.set_weight(c, 200);
    members.groups.free(c);
    assert_eq!(members.groups.raw().uneven, 0);
    let load = |group: u32| members.groups.raw().group[group as usize].load;
    assert_eq!([load(a), load(b)], [0, 0], "nothing is counted");
}

/// A sleeper leaves its shares to the others of its group; an empty group leaves its part of the
/// group around it to the others there.
#[test]
fn who_sleeps_leaves_its_part() {
    let mut members = nested(0);
    members.weights();
    for sleeper in [1, 0] {
        let (mut member, _) = members.members.remove(sleeper);
        members.groups.leave(&mut member);
    }
    assert_eq!(members.weights(), [2048, 4096]);
}

/// Weight 3, and SCHED_IDLE against all outside. A group that is idle within another one has the
/// weight alone: with 1024 beside it its part of the outer one's 1024 is 3 of 1027.
#[test]
fn idle_groups() {
    let mut groups = LiveGroups::new(0);
    let (a, b, c) = (groups.add(0), groups.add(0), groups.add(0));
    let (low, high) = (groups.add(b), groups.add(b));
    groups.set_idle(a, true);
    groups.set_idle(low, true);
    let mut members = Members::new(groups);
    for group in [a, low, high, c] {
        members.add(group, NICE_0);
    }
    assert_eq!(members.weights(), [3, 3, 1021, 1024]);
    let idle = |members: &Members| -> Vec<u32> {
        let tasks = members.members.iter();
        tasks.map(|(_, task)| task.raw().idle_policy).collect()
    };
    assert_eq!(idle(&members), [1, 0, 0, 0]);
    members.groups.set_idle(a, false);
    assert_eq!(members.weights(), [1024, 3, 1021, 1024]);
    assert_eq!(idle(&members), [0, 0, 0, 0]);
}

/// The ninth level counts as the eighth. A place is free again once nobody counts in it.
#[test]
fn groups_that_are_too_deep_and_places_that_are_taken() {
    let mut groups = LiveGroups::new(0);
    let mut inner = 0;
    for _ in 0..8 {
        let outer = inner;
        inner = groups.add(outer);
        assert_ne!(inner, outer);
    }
    assert_eq!(groups.add(inner), inner);
    groups.set_weight(inner, 200);
    let mut members = Members::new(groups);
    members.add(inner, NICE_0);
    assert_eq!(members.weights(), [1024]);
    members.groups.free(inner);
    let next = members.groups.add(0);
    assert_ne!(next, inner, "somebody still counts there");
    let mut member = members.members[0].0;
    members.groups.leave(&mut member);
    assert_eq!(members.groups.add(0), inner);
}

/// 20 of each 100 ms. What a tick ran too long is missing next time; unused time is not saved up.
#[test]
fn quotas() {
    let mut groups = LiveGroups::new(0);
    let a = groups.add(0);
    groups.set_quota(a, Some(20_000), 100_000, 0);
    assert_eq!(groups.raw().limited, 1);
    let begin = 1000 * MS;
    assert_eq!(groups.wait_ns(a, begin), 0);
    groups.charge(a, 12 * MS, begin + 12 * MS);
    assert_eq!(groups.wait_ns(a, begin + 12 * MS), 0);
    groups.charge(a, 12 * MS, begin + 24 * MS);
    assert_eq!(groups.wait_ns(a, begin + 24 * MS), 76 * MS);
    assert_eq!(groups.wait_ns(a, begin + 100 * MS), 0);
    groups.charge(a, 16 * MS, begin + 116 * MS);
    assert_eq!(groups.wait_ns(a, begin + 116 * MS), 84 * MS);
    // seven periods later there are 20 ms, not 140; 41 more are the quota of two periods too much
    assert_eq!(groups.wait_ns(a, begin + 900 * MS), 0);
    groups.charge(a, 61 * MS, begin + 910 * MS);
    assert_eq!(groups.wait_ns(a, begin + 910 * MS), 290 * MS);
    groups.set_quota(a, None, 100_000, 0);
    assert_eq!(groups.wait_ns(a, begin + 911 * MS), 0);
    assert_eq!(groups.raw().limited, 0);
}

/// The burst is what may be saved up: 20 + 30 ms.
#[test]
fn burst() {
    let mut groups = LiveGroups::new(0);
    let a = groups.add(0);
    groups.set_quota(a, Some(20_000), 100_000, 30_000);
    assert_eq!(groups.wait_ns(a, 1000 * MS), 0);
    groups.charge(a, 49 * MS, 1049 * MS);
    assert_eq!(groups.wait_ns(a, 1049 * MS), 0);
    groups.charge(a, MS, 1050 * MS);
    assert_eq!(groups.wait_ns(a, 1050 * MS), 50 * MS);
}

/// Each group around a task limits it, and is charged.
#[test]
fn quotas_within_quotas() {
    let mut groups = LiveGroups::new(0);
    let outer = groups.add(0);
    let inner = groups.add(outer);
    let beside = groups.add(outer);
    groups.set_quota(outer, Some(50_000), 100_000, 0);
    groups.set_quota(inner, Some(30_000), 200_000, 0);
    let begin = 1000 * MS;
    assert_eq!(groups.wait_ns(inner, begin), 0);
    groups.charge(inner, 30 * MS, begin + 30 * MS);
    assert_eq!(groups.wait_ns(inner, begin + 30 * MS), 170 * MS);
    assert_eq!(groups.wait_ns(beside, begin + 30 * MS), 0);
    groups.charge(beside, 20 * MS, begin + 50 * MS);
    assert_eq!(groups.wait_ns(beside, begin + 50 * MS), 50 * MS);
    assert_eq!(groups.wait_ns(inner, begin + 50 * MS), 150 * MS);
}

/// The numbers of docs/rules/capacity.md#uclamp-tg-restrict.
#[test]
fn hints_stay_within_the_group_s() {
    let within = |min, max| [min, max].map(|hint| uclamp_tg_restrict(hint, 200, 600));
    assert_eq!(within(0, 1024), [200, 600]);
    assert_eq!(within(300, 500), [300, 500]);
    assert_eq!(within(700, 800), [600, 600]);
}

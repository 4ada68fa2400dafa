//! Who waits for a quota, and where (policy/src/live_queue/group_park.c), in the numbers of
//! docs/rules/live-queue.md#vq-inside and #vq-overdue.
//!
//! What must stay: the group has 1 of each 100 ms, or a thousandth of a CPU; times are counted
//! from a moment at which a period begins. Free: numbers of groups.
//! Tests by part: `who_is_inside_runs_on_to_its_return` (`wp_live_member_wait_ns`,
//! `wp_live_member_stop`), `without_returns_who_is_inside_waits_20_ms` (`wp_live_parked_ns`,
//! `wp_live_give_turn`), `nobody_waits_longer_than_ten_seconds` (`wp_live_parked_ns`,
//! `wp_live_overdue`), `a_turn_is_run_whole` (`wp_live_member_ran`), `thirty_tasks_of_a_thousandth`
//! (all of them).
//! Helpers, and who fails with them: `spent` (all but `thirty_tasks_of_a_thousandth`).
#![allow(missing_docs, reason = "not a library")]

use wakeplace_policy_sys::{LiveGroups, LiveMember, Stop};

const US: u64 = 1000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const NICE_0: u32 = 1024;
const BEGIN: u64 = 1000 * S;
const TICK: u64 = 4 * MS;

/// A group with 1 of each 100 ms, of which a task has run 4 ms: at BEGIN + 4 ms the budget is -3
/// ms, and the fourth period from BEGIN on is the first with some: 396 ms later.
fn spent() -> (LiveGroups, LiveMember) {
    let mut groups = LiveGroups::new(0);
    let a = groups.add(0);
    groups.set_quota(a, Some(1000), 100_000, 0);
    assert_eq!(groups.wait_ns(a, BEGIN), 0);
    groups.charge(a, 4 * MS, BEGIN + 4 * MS);
    (groups, LiveMember::new(a, NICE_0))
}

/// A home that hears of returns never holds back who is inside: neither as it wakes or is
/// preempted (`member_wait_ns`), nor as it runs. Outside it waits for the quota.
#[test]
fn who_is_inside_runs_on_to_its_return() {
    let (mut groups, mut member) = spent();
    groups.hear_returns();
    let now = BEGIN + 4 * MS;
    assert_eq!(groups.stop(&mut member, false, now), Stop::AtReturn);
    assert_eq!(groups.member_wait_ns(&member, now), 0);
    assert_eq!(groups.parked_ns(&mut member, 0, 0, now), 0);
    assert_eq!(member.raw().turn_ns, 0, "it needs no turn");
    assert_eq!(groups.stop(&mut member, true, now), Stop::Now);
    assert_eq!(groups.member_wait_ns(&member, now), 396 * MS);
    // As soon as it runs again it may be inside again.
    assert_eq!(groups.stop(&mut member, false, BEGIN + 400 * MS), Stop::Not);
    assert_eq!(member.raw().outside, 0);
    let root = &mut LiveMember::new(0, NICE_0);
    assert_eq!(groups.stop(root, true, now), Stop::Not, "no quota");
}

/// Without returns a task is known to be outside at ticks alone. Inside it waits for 20 ms at most,
/// then runs for 4 ms, which the group pays for: 3 + 4 ms of debt are eight periods from BEGIN on.
/// Its turn ends early where it is seen outside.
#[test]
fn without_returns_who_is_inside_waits_20_ms() {
    let (mut groups, mut member) = spent();
    let now = BEGIN + 4 * MS;
    assert_eq!(groups.stop(&mut member, false, now), Stop::Now);
    assert_eq!(groups.member_wait_ns(&member, now), 20 * MS);
    assert_eq!(groups.parked_ns(&mut member, 0, 0, now), 20 * MS);
    let later = now + 19 * MS;
    assert_eq!(groups.parked_ns(&mut member, 19 * MS, 19 * MS, later), MS);
    let later = now + 20 * MS;
    assert_eq!(groups.parked_ns(&mut member, 20 * MS, 20 * MS, later), 0);
    assert_eq!(groups.member_wait_ns(&member, later), 0, "it has a turn");
    assert_eq!(groups.stop(&mut member, false, later), Stop::Not);
    groups.ran(&mut member, 4 * MS, later + 4 * MS);
    assert_eq!(member.raw().turn_ns, 0);
    assert_eq!(
        groups.wait_ns(member.raw().group, BEGIN + 28 * MS),
        772 * MS
    );
    // The second holder is seen outside at the first tick: it waits for the quota there.
    let mut other = LiveMember::new(member.raw().group, NICE_0);
    let later = BEGIN + 28 * MS;
    assert_eq!(groups.parked_ns(&mut other, 20 * MS, 20 * MS, later), 0);
    groups.ran(&mut other, MS, later + MS);
    assert_eq!(groups.stop(&mut other, true, later + MS), Stop::Now);
    assert_eq!(other.raw().turn_ns, 0);
    let wait = groups.member_wait_ns(&other, later + MS);
    assert_eq!(wait, 871 * MS, "8 ms of debt: the ninth period, at 900");
}

/// The rule of ten seconds: whoever has waited for so long runs, whatever the quota. Until then the
/// next look is no later than the tenth second, and no more than a second away.
#[test]
fn nobody_waits_longer_than_ten_seconds() {
    let (mut groups, mut member) = spent();
    let a = member.raw().group;
    groups.charge(a, 100 * MS, BEGIN + 4 * MS); // far in debt: 104 periods
    assert_eq!(groups.stop(&mut member, true, BEGIN + 4 * MS), Stop::Now);
    let looks = [(0, S), (9 * S, S), (9 * S + 400 * MS, 600 * MS)];
    for (waited, next) in looks {
        let now = BEGIN + 4 * MS + waited;
        assert_eq!(groups.parked_ns(&mut member, waited, waited, now), next);
    }
    let now = BEGIN + 4 * MS + 10 * S;
    assert!(groups.wait_ns(a, now) > 0, "the quota is still used up");
    assert_eq!(groups.parked_ns(&mut member, 10 * S, 10 * S, now), 0);
    assert_eq!(groups.member_wait_ns(&member, now), 0);
    // It was about to be parked anew: the kernel had taken it off its queue and put it back.
    let mut member = LiveMember::new(a, NICE_0);
    assert_eq!(groups.stop(&mut member, true, now), Stop::Now);
    assert_eq!(groups.parked_ns(&mut member, 11 * S, 0, now), 0);
}

/// A turn is 4 ms of run time, however early the first tick comes. It is not taken off the budget;
/// what is run beyond it is.
#[test]
fn a_turn_is_run_whole() {
    let (mut groups, mut member) = spent();
    let a = member.raw().group;
    groups.charge(a, 10_000 * MS, BEGIN + 4 * MS);
    let now = BEGIN + 10 * S;
    assert_eq!(groups.stop(&mut member, true, now), Stop::Now);
    assert_eq!(groups.parked_ns(&mut member, 10 * S, 10 * S, now), 0);
    let budget = |groups: &LiveGroups| groups.raw().group[a as usize].budget_ns;
    let before = budget(&groups);
    groups.ran(&mut member, 500 * US, now + 500 * US);
    assert_eq!(groups.stop(&mut member, true, now + 500 * US), Stop::Not);
    assert_eq!(budget(&groups), before);
    groups.ran(&mut member, 4 * MS, now + 4500 * US);
    assert_eq!(before - budget(&groups), 500 * US);
    assert_eq!(groups.stop(&mut member, true, now + 4500 * US), Stop::Now);
}

/// What `small-quota` of scripts/live/guest.sh does: thirty tasks share a thousandth of a CPU, 1 of
/// each 1000 ms. The CPU looks where it is told to look, and runs one task after the other, each
/// until it is stopped at a tick. No task waits longer than the rule and thirty turns of two ticks.
#[test]
fn thirty_tasks_of_a_thousandth() {
    let mut groups = LiveGroups::new(0);
    let a = groups.add(0);
    groups.set_quota(a, Some(1000), 1_000_000, 0);
    let mut now = BEGIN;
    let mut tasks = [(LiveMember::new(a, NICE_0), BEGIN); 30];
    groups.charge(a, 5 * MS, now);
    for (member, _) in &mut tasks {
        assert_eq!(groups.stop(member, true, now), Stop::Now);
    }
    let (mut longest, mut at) = (0, 0);
    while now < BEGIN + 60 * S {
        let mut next = S;
        let mut ran = false;
        for _ in 0..tasks.len() {
            at = (at + 1) % tasks.len();
            let (member, since) = &mut tasks[at];
            let waited = now - *since;
            let look = groups.parked_ns(member, waited, waited, now);
            if look > 0 {
                next = next.min(look);
                continue;
            }
            longest = longest.max(waited);
            ran = true;
            while groups.stop(member, true, now) == Stop::Not {
                groups.ran(member, TICK, now + TICK);
                now += TICK;
            }
            *since = now;
        }
        if !ran {
            now += next;
        }
    }
    assert!(
        longest >= 10 * S,
        "{longest}: the quota alone is not enough"
    );
    assert!(longest <= 10 * S + 30 * 2 * TICK, "{longest}");
}

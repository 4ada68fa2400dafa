//! Control groups of the live scheduler: what their tasks weigh, and how long they may run
//! (docs/guide/live.md, "Control groups"). The glue's `cgroup.bpf.h` and `quota.bpf.h` do the same
//! in BPF.
//!
//! What must stay: weights are cgroups' (1..=10000), quotas us, waits ns. A number of a group is
//! used again after `free`. Free: the wrapping alone: sums and weights are the core's
//! (group.c, group_quota.c, group_park.c).
//!
//! Tests by part: live_groups.rs: `tasks_share_by_their_own_weights` (`add`, `set_weight`),
//! `groups_that_are_too_deep_and_places_that_are_taken` (`free`), `idle_groups` (`set_idle`),
//! `quotas` (`set_quota`, `charge`, `wait_ns`), `who_sleeps_leaves_its_part` (`leave`),
//! `whole_averages_count_since_7_3` (`live_member_weigh`); live_park.rs:
//! `who_is_inside_runs_on_to_its_return` (`hear_returns`, `member_wait_ns`, `stop`),
//! `nobody_waits_longer_than_ten_seconds` (`parked_ns`), `a_turn_is_run_whole` (`ran`);
//! `who_looks_while_the_quota_is_added_looks_again` below (`wait_ns` while another CPU adds the
//! quota). `new` and `raw` have no test of their own.
//!
//! Callers: the engine's live queues, for groups of a run.
//!
//! Tests: below, crates/policy-sys/tests/all/live_groups.rs,
//! crates/policy-sys/tests/all/live_park.rs

use crate::core::Core;
use crate::sys;
use crate::task::Task;

/// All groups of a machine. Group 0 is the root.
#[derive(Debug)]
pub struct LiveGroups(Box<sys::wp_live_groups>);

/// A task as the member of a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveMember(sys::wp_live_member);

/// Is a running task held back for its group's quota?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is not.
    Not,
    /// At once.
    Now,
    /// Where it next returns to user space.
    AtReturn,
}

impl LiveMember {
    /// The struct behind it.
    #[must_use]
    pub fn raw(&self) -> &sys::wp_live_member {
        &self.0
    }

    /// Of this group, by nice value and policy of this weight.
    #[must_use]
    pub fn new(group: u32, own_weight: u32) -> Self {
        Self(sys::wp_live_member {
            group,
            own_weight,
            own_idle: u32::from(own_weight == sys::WP_WEIGHT_IDLE_POLICY),
            ..sys::wp_live_member::default()
        })
    }
}

impl LiveGroups {
    /// Only the root. The kernel gives a group its shares on at most so many CPUs; 0: on all
    /// together.
    #[must_use]
    pub fn new(most_cpus: u32) -> Self {
        let mut groups = Box::new(sys::wp_live_groups::default());
        groups.most_cpus = most_cpus;
        Self(groups)
    }

    /// The structs behind it.
    #[must_use]
    pub fn raw(&self) -> &sys::wp_live_groups {
        &self.0
    }

    /// A group in `parent` with the default weight, or `parent` if there is no room.
    pub fn add(&mut self, parent: u32) -> u32 {
        // SAFETY: writes the groups; the core masks the number.
        unsafe { sys::wp_live_group_new(&raw mut *self.0, parent) }
    }

    /// The group is gone.
    pub fn free(&mut self, group: u32) {
        // SAFETY: as above.
        unsafe { sys::wp_live_group_free(&raw mut *self.0, group) };
    }

    /// cpu.weight: 1 to 10,000.
    pub fn set_weight(&mut self, group: u32, weight: u32) {
        // SAFETY: as above.
        unsafe { sys::wp_live_group_set_weight(&raw mut *self.0, group, weight) };
    }

    /// Sets whether the group is idle (`cpu.idle`).
    pub fn set_idle(&mut self, group: u32, idle: bool) {
        // SAFETY: as above.
        unsafe { sys::wp_live_group_set_idle(&raw mut *self.0, group, u32::from(idle)) };
    }

    /// cpu.max and cpu.max.burst, us. `None`: no limit.
    pub fn set_quota(&mut self, group: u32, quota: Option<u64>, period: u64, burst: u64) {
        let quota = quota.unwrap_or(u64::MAX);
        // SAFETY: as above.
        unsafe { sys::wp_live_group_set_quota(&raw mut *self.0, group, period, quota, burst) };
    }

    /// A task of this group has run for so long.
    pub fn charge(&mut self, group: u32, ran_ns: u64, now_ns: u64) {
        // SAFETY: as above.
        unsafe { sys::wp_live_group_charge(&raw mut *self.0, group, ran_ns, now_ns) };
    }

    /// How long tasks of this group have to wait for a quota; 0: they may run.
    pub fn wait_ns(&mut self, group: u32, now_ns: u64) -> u64 {
        // SAFETY: as above.
        unsafe { sys::wp_live_group_wait_ns(&raw mut *self.0, group, now_ns) }
    }

    /// The home hears of every return of a task to user space.
    pub fn hear_returns(&mut self) {
        self.0.returns = 1;
    }

    /// How long the member's task has to wait where it is, if it does not run; 0: it may run.
    pub fn member_wait_ns(&mut self, member: &LiveMember, now_ns: u64) -> u64 {
        // SAFETY: writes the groups, reads the member.
        unsafe { sys::wp_live_member_wait_ns(&raw mut *self.0, &raw const member.0, now_ns) }
    }

    /// It is parked, and is looked at. How long until the next look; 0: it runs.
    pub fn parked_ns(
        &mut self,
        member: &mut LiveMember,
        waited_ns: u64,
        parked_ns: u64,
        now_ns: u64,
    ) -> u64 {
        let (groups, member) = (&raw mut *self.0, &raw mut member.0);
        // SAFETY: writes the groups and the member, two objects.
        unsafe { sys::wp_live_parked_ns(groups, member, waited_ns, parked_ns, now_ns) }
    }

    /// It has run for so long.
    pub fn ran(&mut self, member: &mut LiveMember, ran_ns: u64, now_ns: u64) {
        let (groups, member) = (&raw mut *self.0, &raw mut member.0);
        // SAFETY: as above.
        unsafe { sys::wp_live_member_ran(groups, member, ran_ns, now_ns) };
    }

    /// It begins to run, or is looked at as it runs, in user space or not.
    pub fn stop(&mut self, member: &mut LiveMember, outside: bool, now_ns: u64) -> Stop {
        let (groups, member) = (&raw mut *self.0, &raw mut member.0);
        // SAFETY: as above.
        let stop = unsafe { sys::wp_live_member_stop(groups, member, u32::from(outside), now_ns) };
        match stop.cast_unsigned() {
            sys::WP_STOP_NOT => Stop::Not,
            sys::WP_STOP_NOW => Stop::Now,
            _ => Stop::AtReturn,
        }
    }

    /// The member stops to be runnable.
    pub fn leave(&mut self, member: &mut LiveMember) {
        // SAFETY: writes the groups and the member, two objects.
        unsafe { sys::wp_live_member_leave(&raw mut *self.0, &raw mut member.0) };
    }
}

impl Core {
    /// The member's task is queued, begins to run or begins a slice. True: what it weighs has
    /// changed.
    pub fn live_member_weigh(
        &mut self,
        groups: &mut LiveGroups,
        member: &mut LiveMember,
        task: &mut Task,
        now_ns: u64,
    ) -> bool {
        let ctx = std::ptr::from_mut(self.state_mut());
        // SAFETY: four distinct objects, all borrowed mutably here.
        let changed = unsafe {
            sys::wp_live_member_weigh(
                ctx,
                &raw mut *groups.0,
                &raw mut member.0,
                &raw mut task.0,
                now_ns,
            )
        };
        changed != 0
    }
}

#[cfg(test)]
mod tests {
    use super::LiveGroups;

    const MS: u64 = 1_000_000;

    /// Goal: at the start of a period all CPUs look at once. One adds the quota; the others do not
    /// take the budget of before for this period's, but look again.
    #[test]
    fn who_looks_while_the_quota_is_added_looks_again() {
        let mut groups = LiveGroups::new(0);
        let a = groups.add(0);
        groups.set_quota(a, Some(20_000), 100_000, 0);
        let begin = 1000 * MS;
        assert_eq!(groups.wait_ns(a, begin), 0);
        groups.charge(a, 20 * MS, begin + 20 * MS);
        assert_eq!(groups.wait_ns(a, begin + 20 * MS), 80 * MS);
        // Another CPU has begun the next period, and not yet added its quota.
        let next = begin + 100 * MS;
        groups.0.group[a as usize].start_ns = next;
        groups.0.group[a as usize].refilling = 1;
        let wait = groups.wait_ns(a, next);
        assert!(wait > 0 && wait < MS, "{wait}");
        groups.0.group[a as usize].budget_ns = 20 * MS;
        groups.0.group[a as usize].refilling = 0;
        assert_eq!(groups.wait_ns(a, next + wait), 0);
        // A period whose quota somebody adds by the way leaves nothing behind.
        groups.charge(a, 20 * MS, next + 20 * MS);
        assert_eq!(groups.wait_ns(a, next + 20 * MS), 80 * MS);
        assert_eq!(groups.wait_ns(a, next + 100 * MS), 0);
        assert_eq!(groups.raw().group[a as usize].refilling, 0);
    }
}

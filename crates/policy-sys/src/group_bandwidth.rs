//! Budgets of run time of task groups (`cpu.max`): what the core says of them
//! (docs/rules/group-bandwidth.md).
//!
//! What must stay: times are ns; the home arms timers and moves tasks, the core counts. Rules:
//! docs/rules/group-bandwidth.md; numbers: tests/all/group_bandwidth.rs. Free: the wrapping
//! alone: who is throttled is the core's to say.
//!
//! Tests by part: `a_running_cpu_takes_slices` (`set_group_bandwidth`, `account_runtime`,
//! `check_runtime`, `period_timer`, `group_period_end`, `distribute`, `unthrottle`, and with
//! `the_timer_of_an_idle_group_stops` `restart`), `slack_goes_to_throttled_cpus` (`return_runtime`,
//! `slack_timer`, `slack`), `a_throttled_group_keeps_its_averages` (`throttle_down`,
//! `unthrottle_up`, `throttle_entity`, `unthrottle_entity`),
//! `nothing_is_pulled_to_where_its_group_is_throttled` (`may_pull`),
//! `hints_are_kept_within_those_around` (`set_group_uclamp`, `restrict_uclamp`). `record_throttle`,
//! `release_runtime`, `throttled_hierarchy` and `has_bandwidth` are run by
//! crates/engine/tests/behaviour/bandwidth.rs and hotplug.rs.
//!
//! Callers: crates/engine/src/kernel/model/bandwidth.rs.
//!
//! Tests: crates/policy-sys/tests/all/group_bandwidth.rs

use crate::arith::uclamp_tg_restrict;
use crate::core::{Core, EventResult};
use crate::sys;

/// What a timer of a group's asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "a timer that is not armed leaves tasks throttled"]
pub struct BandwidthAsks(i32);

impl BandwidthAsks {
    /// The timer goes on, for the next period (`Core::group_period_end`).
    #[must_use]
    pub fn restart(self) -> bool {
        self.has(sys::WP_TG_RESTART)
    }

    /// Throttled CPUs get runtime (`Core::distribute`).
    #[must_use]
    pub fn distribute(self) -> bool {
        self.has(sys::WP_TG_DISTRIBUTE)
    }

    /// The slack timer is to be armed, `Core::SLACK_NS` from now.
    #[must_use]
    pub fn slack(self) -> bool {
        self.has(sys::WP_TG_SLACK)
    }

    /// One bit of what an entry point of C returned.
    fn has(self, bit: u32) -> bool {
        self.0.cast_unsigned() & bit != 0
    }
}

impl Core {
    /// What the slack timer waits for, ns.
    pub const SLACK_NS: u64 = sys::WP_TG_SLACK_NS as u64;

    /// From the beginning of the run the group has a quota for each period, ns. `random`: 32 bits.
    pub fn set_group_bandwidth(
        &mut self,
        group: usize,
        [quota, period, burst]: [u64; 3],
        random: u32,
    ) {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: both are live and exclusive for the call; the core masks every index. So below.
        unsafe {
            sys::wp_tg_init_bandwidth(self.ctx_mut(), group, random);
            sys::wp_tg_set_bandwidth(self.ctx_mut(), group, quota, period, burst);
        }
    }

    /// `cpu.uclamp.min` and `cpu.uclamp.max` of a group; groups around it have theirs already.
    pub fn set_group_uclamp(&mut self, group: usize, min: u32, max: u32) {
        let path = self.path(group);
        // SAFETY: the groups are live and exclusive for the call.
        unsafe { sys::wp_tg_set_uclamp(&raw const path, min, max) };
    }

    /// A task's own hints as its group leaves them (`uclamp_tg_restrict`). No group: as they are.
    #[must_use]
    pub fn restrict_uclamp(&self, group: Option<usize>, [min, max]: [u32; 2]) -> [u32; 2] {
        let Some(tg) = group.and_then(|group| self.group(group)) else {
            return [min, max];
        };
        let restrict = |value| uclamp_tg_restrict(value, tg.uclamp_min, tg.uclamp_max);
        [restrict(min), restrict(max)]
    }

    /// The group has a quota.
    #[inline]
    #[must_use]
    pub fn has_bandwidth(&self, group: usize) -> bool {
        self.group(group).is_some_and(|g| g.bandwidth.quota_ns > 0)
    }

    /// Says when the group's period ends; None: its timer is not armed.
    #[must_use]
    pub fn group_period_end(&self, group: usize) -> Option<u64> {
        let bandwidth = &self.group(group)?.bandwidth;
        (bandwidth.period_active != 0).then_some(bandwidth.expires_ns)
    }

    /// A task of the group, or of one in it, has run for so long.
    #[inline]
    pub fn account_runtime(&mut self, group: usize, cpu: u32, delta_ns: u64) {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        unsafe { sys::wp_tg_account_runtime(group, cpu, delta_ns) };
    }

    /// The kernel looks at what the group may yet run on a CPU. Returns true if it is throttled
    /// there from now on.
    #[must_use]
    pub fn check_runtime(&mut self, group: usize, cpu: u32, now_ns: u64) -> bool {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        unsafe { sys::wp_tg_check_runtime(self.ctx_mut(), group, cpu, now_ns) != 0 }
    }

    /// A task of the throttled group has left its queue.
    pub fn record_throttle(&mut self, group: usize, cpu: u32, now_ns: u64) {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        unsafe { sys::wp_tg_record_throttle(group, cpu, now_ns) };
    }

    /// The group has nothing left to run on a CPU.
    pub fn return_runtime(&mut self, group: usize, cpu: u32, now_ns: u64) -> BandwidthAsks {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        BandwidthAsks(unsafe { sys::wp_tg_return_runtime(group, cpu, now_ns) })
    }

    /// The group's period ends.
    pub fn period_timer(&mut self, group: usize, now_ns: u64) -> BandwidthAsks {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        BandwidthAsks(unsafe { sys::wp_tg_period_timer(group, now_ns) })
    }

    /// The slack timer has fired.
    pub fn slack_timer(&mut self, group: usize, now_ns: u64) -> BandwidthAsks {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        BandwidthAsks(unsafe { sys::wp_tg_slack_timer(group, now_ns) })
    }

    /// The next throttled CPU gets runtime. Asked until there is none.
    pub fn distribute(&mut self, group: usize) -> Option<u32> {
        let cpus = self.state().nr_cpus;
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        let cpu = unsafe { sys::wp_tg_distribute(group, cpus) };
        (cpu != sys::WP_NONE).then_some(cpu)
    }

    /// The group may run on a CPU again. Returns false if what it got is used up already.
    #[must_use]
    pub fn unthrottle(&mut self, group: usize, cpu: u32, now_ns: u64) -> bool {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        unsafe { sys::wp_tg_unthrottle(group, cpu, now_ns) != 0 }
    }

    /// The CPU leaves the machine. Returns true if the group is throttled there: it may run, so
    /// that its tasks can be moved.
    #[must_use]
    pub fn release_runtime(&mut self, group: usize, cpu: u32) -> bool {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        unsafe { sys::wp_tg_release_cpu(group, cpu) != 0 }
    }

    /// The group is throttled on a CPU, or one around it is.
    #[inline]
    #[must_use]
    pub fn throttled_hierarchy(&self, group: usize, cpu: u32) -> bool {
        self.group_queue(group, cpu).throttle_count > 0
    }

    /// The group, or one around it, is throttled on a CPU once more.
    pub fn throttle_down(&mut self, group: usize, cpu: u32, now_ns: u64) {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        unsafe { sys::wp_tg_throttle_down(self.ctx_mut(), group, cpu, now_ns) };
    }

    /// Counts a level once less that keeps the group from running. Returns true if nothing keeps it
    /// any more.
    pub fn unthrottle_up(&mut self, group: usize, cpu: u32, now_ns: u64) -> bool {
        let group = &raw mut *self.group_mut(group);
        // SAFETY: see above.
        unsafe { sys::wp_tg_unthrottle_up(self.ctx_mut(), group, cpu, now_ns) != 0 }
    }

    /// The group's entity leaves the queue above, with all that is below it.
    pub fn throttle_entity(&mut self, group: usize, cpu: u32, now_ns: u64) -> EventResult {
        self.touch(cpu);
        let path = self.path(group);
        // SAFETY: all are live and exclusive for the call.
        EventResult::new(unsafe {
            sys::wp_tg_throttle_entity(self.ctx_mut(), &raw const path, cpu, now_ns)
        })
    }

    /// It joins the queue above again.
    pub fn unthrottle_entity(&mut self, group: usize, cpu: u32, now_ns: u64) -> EventResult {
        self.touch(cpu);
        let path = self.path(group);
        // SAFETY: all are live and exclusive for the call.
        EventResult::new(unsafe {
            sys::wp_tg_unthrottle_entity(self.ctx_mut(), &raw const path, cpu, now_ns)
        })
    }

    /// May balancing take a task of the group from one CPU to another?
    #[must_use]
    pub fn may_pull(&self, group: usize, from: u32, to: u32) -> bool {
        let tg = self.group(group);
        // SAFETY: reads both only.
        tg.is_none_or(|tg| unsafe { sys::wp_tg_may_pull(self.state(), tg, from, to) != 0 })
    }
}

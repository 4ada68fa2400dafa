//! Task groups (control groups of the CPU controller), in each other and with limits
//! (docs/rules/group-bandwidth.md).
//!
//! Made by `rtapp`, `models` and tests; read by the engine. Times are ns. Order of groups: each
//! behind those around it, and indices count so.
//!
//! What must stay: a group stands behind those around it; `Bandwidth::new` refuses what a kernel
//! does; a group that says nothing has 1024 shares, as much as a task of nice 0. Free: what leaves
//! scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `files_of_groups_are_read` (`is_empty`, parents),
//! `what_cannot_be_is_refused` (`Bandwidth::new`), `models_have_keys` (`Bandwidth::new`, for
//! models), groups.rs::`no_scheduler_keeps_a_budget` (`files`),
//! storm.rs::`random_steps_with_groups_obey_the_rules` (groups in the engine). `new` by all of
//! these. No test of its own: `percent`.
//!
//! Tests: crates/workload/tests/all/group_limits.rs, crates/engine/tests/behaviour/groups.rs,
//! crates/engine/tests/behaviour/storm.rs

use std::ops::RangeInclusive;

/// A task group. Its threads may be beside groups in it, as in version 1 of control groups and in
/// threaded groups of version 2.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskGroup {
    /// Name, unique in the workload: that of a group in another begins with the other's and `/`.
    pub name: String,
    /// Its part of CPU time against the groups and tasks beside it, `TaskGroup::SHARES`.
    pub shares: u32,
    /// The group that it is in, an index into `Workload::groups` below its own; None: the root.
    pub parent: Option<u32>,
    /// Shares of the groups around it that hold nothing else, from the inside,
    /// `TaskGroup::MAX_OUTER` at most. A group that has some is in no other.
    pub outer: Vec<u32>,
    /// What it limits, and hints.
    pub limits: GroupLimits,
    /// Its threads, as indices into `Workload::tasks`; none is in two groups.
    pub tasks: Vec<u32>,
}

/// What a group limits, and hints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupLimits {
    /// `cpu.max`; None: no limit.
    pub bandwidth: Option<Bandwidth>,
    /// `cpu.uclamp.min`, 0..=1024; None: 0.
    pub uclamp_min: Option<u16>,
    /// `cpu.uclamp.max`, 0..=1024; None: 1024.
    pub uclamp_max: Option<u16>,
    /// `cpu.idle`.
    pub idle: bool,
    /// `cpuset.cpus`, ascending; None: those of the group around it.
    pub cpus: Option<Vec<u32>>,
}

impl GroupLimits {
    /// Nothing is limited or hinted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Its files of the cpu controller that say something, and what one would write to them.
    #[must_use]
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let mut files = Vec::new();
        if let Some(max) = self.bandwidth {
            let [quota, period, burst] =
                [max.quota_ns, max.period_ns, max.burst_ns].map(|ns| ns / 1000);
            files.push(("cpu.max", format!("{quota} {period}")));
            files.extend((burst > 0).then(|| ("cpu.max.burst", burst.to_string())));
        }
        files.extend(self.idle.then(|| ("cpu.idle", "1".to_owned())));
        let min = self
            .uclamp_min
            .map(|hint| ("cpu.uclamp.min", percent(hint)));
        let max = self
            .uclamp_max
            .map(|hint| ("cpu.uclamp.max", percent(hint)));
        files.extend(min.into_iter().chain(max));
        files
    }
}

/// A hint as its file has it: a percentage with two decimals.
fn percent(hint: u16) -> String {
    let percent_e2 = (u32::from(hint) * 10_000 + 512) / 1024;
    format!("{}.{:02}", percent_e2 / 100, percent_e2 % 100)
}

/// `cpu.max` and `cpu.max.burst`: so much run time in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// Run time of each period, ns.
    pub quota_ns: u64,
    /// The period, ns.
    pub period_ns: u64,
    /// What may be kept of a quota that was not used, ns.
    pub burst_ns: u64,
}

impl Bandwidth {
    /// The period of a quota that names none, ns (`default_bw_period_us()`).
    pub const PERIOD_NS: u64 = 100_000_000;
    /// Periods that the kernel takes, ns.
    pub const PERIODS_NS: RangeInclusive<u64> = 1_000_000..=1_000_000_000;
    /// The least quota, ns.
    pub const LEAST_NS: u64 = 1_000_000;
    /// The most that a quota and its burst can be, ns: 2^44 - 1 us (`max_bw_runtime_us`).
    pub const MOST_NS: u64 = ((1 << 44) - 1) * 1000;

    /// As `tg_set_bandwidth()` takes it.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub fn new(quota_ns: u64, period_ns: u64, burst_ns: u64) -> Result<Self, (String, String)> {
        let us = |ns: u64| ns as f64 / 1000.0;
        let refuse = |what: String, expected: &str| Err((what, expected.to_owned()));
        if !(Self::LEAST_NS..=Self::MOST_NS).contains(&quota_ns) {
            let what = format!("a quota of {} us", us(quota_ns));
            return refuse(what, "1000 us or more: the kernel takes no less");
        }
        if !Self::PERIODS_NS.contains(&period_ns) {
            let what = format!("a period of {} us", us(period_ns));
            return refuse(what, "1000 to 1000000 us");
        }
        if burst_ns > quota_ns {
            let what = format!("a burst of {} us above the quota", us(burst_ns));
            let expected = format!("at most the quota, {} us", us(quota_ns));
            return Err((what, expected));
        }
        Ok(Self {
            quota_ns,
            period_ns,
            burst_ns,
        })
    }
}

impl TaskGroup {
    /// What the kernel takes as `cpu.shares`.
    pub const SHARES: RangeInclusive<u32> = 2..=262_144;
    /// Shares of a group that says nothing of them: as much as one task of nice 0.
    pub const DEFAULT_SHARES: u32 = 1024;
    /// Groups that the argument of a model can name (`periodic`). Programs of a script and
    /// recordings may bring more.
    pub const MAX: usize = 64;
    /// Groups around a group that hold nothing else.
    pub const MAX_OUTER: usize = 3;
    /// A group and those around it.
    pub const MAX_LEVELS: usize = 8;

    /// A group of the root without threads, limits or a say in shares.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            shares: Self::DEFAULT_SHARES,
            ..Self::default()
        }
    }
}

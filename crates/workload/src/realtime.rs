//! The policies above the fair class and what Linux takes of their attributes
//! (docs/guide/rt-app.md, "Attributes").
//!
//! Called by `rtapp` and `models`. Times are ns; limits are those of sched_setattr(2). A priority
//! counts from 1 (lowest) to 99.
//!
//! What must stay: the ranges of sched_setattr(2); files and models are checked by these functions
//! alone. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `attributes_are_within_what_linux_takes`
//! (`priority`, `deadline`), `policies_out_of_range` (rt-app files), `classes_above_the_fair_one`
//! (models).
//!
//! Tests: below, crates/workload/tests/all/rtapp_files.rs, crates/workload/tests/all/periodic.rs

/// A policy above the fair class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealTime {
    /// SCHED_FIFO: runs until it sleeps or one of higher priority wakes.
    Fifo {
        /// 1..=99, 99 first.
        priority: u8,
    },
    /// SCHED_RR: the same, but takes turns with its like.
    RoundRobin {
        /// 1..=99, 99 first.
        priority: u8,
    },
    /// SCHED_DEADLINE: `runtime` in each `period`, the earliest deadline first.
    Deadline {
        /// Budget of a period, ns.
        runtime_ns: u64,
        /// From the wake-up, ns.
        deadline_ns: u64,
        /// ns.
        period_ns: u64,
    },
}

/// The data that a task goes over again and again while it waits for memory (`Event::Stall`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkingSet {
    /// Each thread has its own.
    Own {
        /// > 0.
        bytes: u64,
    },
    /// Threads have it in common, and write it.
    Shared {
        /// Index into `Shared::sets`.
        set: u32,
    },
}

/// What sets a task apart besides its place in the fair class; the default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Above the fair class, whatever `TaskScript::policy` says.
    pub realtime: Option<RealTime>,
    /// Its sleeps wait for I/O: the governor helps its CPU.
    pub io_wait: bool,
    /// Whoever wakes it asks for its own CPU (WF_CURRENT_CPU).
    pub wake_here: bool,
    /// What it needs in its cache; None: its waits are as long wherever it runs.
    pub working_set: Option<WorkingSet>,
    /// Its process: threads with the same number share an address space, and are made by a main
    /// thread that waits for them. None: it is alone in its process.
    pub process: Option<u32>,
}

/// The least runtime that SCHED_DEADLINE takes, ns (1 << DL_SCALE).
pub const DL_RUNTIME_MIN_NS: u64 = 1024;

/// Bounds of its period, ns (sched_deadline_period_min_us and _max_us).
pub const DL_PERIOD_NS: std::ops::RangeInclusive<u64> = 100_000..=4_194_304_000;

impl RealTime {
    /// An RT priority, 1 to 99.
    #[must_use]
    pub fn priority(value: i64) -> Option<u8> {
        u8::try_from(value).ok().filter(|p| (1..=99).contains(p))
    }

    /// SCHED_DEADLINE with these times.
    ///
    /// # Errors
    /// What is out of range.
    pub fn deadline(runtime_ns: u64, deadline_ns: u64, period_ns: u64) -> Result<Self, String> {
        let (least, most) = (DL_PERIOD_NS.start() / 1000, DL_PERIOD_NS.end() / 1000);
        if !DL_PERIOD_NS.contains(&period_ns) {
            return Err(format!("a period from {least} us to {most} us"));
        }
        if runtime_ns < DL_RUNTIME_MIN_NS {
            return Err(format!("a runtime of at least {DL_RUNTIME_MIN_NS} ns"));
        }
        if runtime_ns > deadline_ns || deadline_ns > period_ns {
            return Err("runtime <= deadline <= period".to_owned());
        }
        Ok(Self::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::RealTime;

    #[test]
    fn attributes_are_within_what_linux_takes() {
        assert_eq!(RealTime::priority(1), Some(1));
        assert_eq!(RealTime::priority(99), Some(99));
        assert_eq!(RealTime::priority(0), None);
        assert_eq!(RealTime::priority(100), None);
        assert!(RealTime::deadline(1024, 100_000, 100_000).is_ok());
        assert!(RealTime::deadline(1023, 100_000, 100_000).is_err());
        assert!(RealTime::deadline(1024, 99_999, 99_999).is_err());
        assert!(RealTime::deadline(1024, 4_194_304_000, 4_194_304_000).is_ok());
        assert!(RealTime::deadline(1024, 4_194_304_001, 4_194_304_001).is_err());
        assert!(RealTime::deadline(5_000_000, 4_000_000, 6_000_000).is_err());
        assert!(RealTime::deadline(5_000_000, 7_000_000, 6_000_000).is_err());
    }
}

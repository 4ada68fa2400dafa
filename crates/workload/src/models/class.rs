//! `policy` and the keys that go with it: fair tasks and tasks above the fair class
//! (docs/guide/workloads.md).
//!
//! Called by `periodic.rs`. Keys and their meaning stay. Times are ns; limits are those of the
//! kernel (`realtime.rs`).
//!
//! What must stay: `priority` is of fifo and rr, `dl_*` of deadline, `slice` of other and batch, as
//! Linux has them; a deadline task without times gets the load's run and period. Free: what leaves
//! scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `classes_above_the_fair_one` (`read`, `realtime`, ranges),
//! `every_key_is_obeyed` (fair policies, `slice`), `wrong_arguments_say_what_was_expected` (ranges
//! of `slice`), all (`set`).
//!
//! Tests: crates/workload/tests/all/periodic.rs
use super::parse::time;
use super::values::Values;
use crate::error::WorkloadError;
use crate::realtime::RealTime;
use crate::script::FairPolicy;

/// What was given of a task's class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    policy: &'static str,
    priority: Option<u8>,
    runtime_ns: Option<u64>,
    period_ns: Option<u64>,
    deadline_ns: Option<u64>,
}

/// The words of `policy`. A task above the fair class has the first of the fair policies once it
/// is fair again.
const POLICIES: [(&str, (&str, FairPolicy)); 6] = [
    ("other", ("other", FairPolicy::Other)),
    ("batch", ("batch", FairPolicy::Batch)),
    ("idle", ("idle", FairPolicy::Idle)),
    ("fifo", ("fifo", FairPolicy::Other)),
    ("rr", ("rr", FairPolicy::Other)),
    ("deadline", ("deadline", FairPolicy::Other)),
];

/// Keys that say something under some policies only. Linux takes a slice of SCHED_OTHER and
/// SCHED_BATCH, and a nice value of the fair class.
const GO_WITH: [(&str, &[&str]); 6] = [
    ("nice", &["other", "batch", "idle"]),
    ("slice", &["other", "batch"]),
    ("priority", &["fifo", "rr"]),
    ("dl_runtime", &["deadline"]),
    ("dl_period", &["deadline"]),
    ("dl_deadline", &["deadline"]),
];

/// rt-app's default.
const PRIORITY: u8 = 10;

impl Class {
    /// Reads `policy` and the keys of policies above the fair class.
    pub(super) fn read(values: &Values<'_>) -> Result<(FairPolicy, Self), WorkloadError> {
        let (policy, fair) = values.word("policy", POLICIES)?;
        for (key, policies) in GO_WITH {
            values.only_with(key, "policy", policies)?;
        }
        let mut class = Self {
            policy,
            ..Self::default()
        };
        for key in ["priority", "dl_runtime", "dl_period", "dl_deadline"] {
            values.optional(key, |values, key| {
                values.text(key, |text| class.set(key, text))
            })?;
        }
        Ok((fair, class))
    }

    /// One of the keys.
    fn set(&mut self, key: &str, text: &str) -> Result<(), &'static str> {
        if key == "priority" {
            let priority = text.parse().ok().and_then(RealTime::priority);
            self.priority = Some(priority.ok_or("a priority from 1 to 99")?);
            return Ok(());
        }
        let time = time(text).ok_or("a time such as 2ms")?;
        match key {
            "dl_runtime" => self.runtime_ns = Some(time),
            "dl_period" => self.period_ns = Some(time),
            _ => self.deadline_ns = Some(time),
        }
        Ok(())
    }

    /// The policy above the fair class, if there is one. The error: what is wrong and what was
    /// expected.
    pub(super) fn realtime(
        &self,
        work_ns: u64,
        period_ns: u64,
    ) -> Result<Option<RealTime>, (String, String)> {
        let priority = self.priority.unwrap_or(PRIORITY);
        match self.policy {
            "fifo" => Ok(Some(RealTime::Fifo { priority })),
            "rr" => Ok(Some(RealTime::RoundRobin { priority })),
            "deadline" => {
                let runtime = self.runtime_ns.unwrap_or(work_ns);
                let period = self.period_ns.unwrap_or(period_ns);
                let deadline = self.deadline_ns.unwrap_or(period);
                RealTime::deadline(runtime, deadline, period)
                    .map(Some)
                    .map_err(|expected| {
                        let message = format!(
                            "a deadline task with runtime {runtime} ns, deadline {deadline} ns, \
                         period {period} ns is not possible"
                        );
                        (message, expected)
                    })
            }
            _ => Ok(None),
        }
    }
}

//! Policies of tasks and phases: what rt-app sets, as far as it stays the same.
use super::structure::{Policy, Scheduling, Task};
use crate::error::Fault;
use crate::realtime::{Attributes, RealTime};
use crate::script::FairPolicy;

/// The attributes that a task has above the fair class, or its policy there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Fair(FairPolicy),
    Rt {
        round_robin: bool,
        priority: i32,
    },
    Deadline {
        runtime_ns: i64,
        deadline_ns: i64,
        period_ns: i64,
    },
}

fn class(policy: Policy, priority: i32, times: &Scheduling) -> Class {
    match policy {
        Policy::Other => Class::Fair(FairPolicy::Other),
        Policy::Batch => Class::Fair(FairPolicy::Batch),
        Policy::Idle => Class::Fair(FairPolicy::Idle),
        Policy::Fifo | Policy::RoundRobin => Class::Rt {
            round_robin: policy == Policy::RoundRobin,
            priority,
        },
        Policy::Deadline => Class::Deadline {
            runtime_ns: times.runtime_ns,
            deadline_ns: times.deadline_ns,
            period_ns: times.period_ns,
        },
    }
}

impl Task {
    /// What is in force in each phase: the task's attributes with what was changed so far.
    pub(super) fn classes(&self) -> impl Iterator<Item = Class> + '_ {
        let mut times = &self.scheduling;
        let mut policy = self.scheduling.policy.unwrap_or(Policy::Other);
        let mut priority = self.scheduling.priority.unwrap_or(0);
        self.phases.iter().map(move |phase| {
            if let Some(set) = &phase.scheduling {
                policy = set.policy.unwrap_or(policy);
                priority = set.priority.unwrap_or(priority);
                if set.runtime_ns != 0 {
                    times = set;
                }
            }
            class(policy, priority, times)
        })
    }

    /// The policy of its script, and what it is above the fair class.
    pub(super) fn attributes(&self) -> Result<(FairPolicy, Attributes), Fault> {
        let phases = self.phases.iter().take(1);
        let own = phases.filter_map(|phase| phase.scheduling.as_ref());
        let at = own
            .chain([&self.scheduling])
            .find_map(|set| set.priority_at);
        let fair = Class::Fair(FairPolicy::Other);
        let realtime = match self.classes().next().unwrap_or(fair) {
            Class::Fair(policy) => return Ok((policy, Attributes::default())),
            Class::Rt {
                round_robin,
                priority,
            } => {
                let valid = RealTime::priority(priority.into()).ok_or_else(|| {
                    let message = format!("`priority` is {priority}");
                    Fault::unusable(at.unwrap_or(self.at), message)
                        .expected("an RT priority, 1 to 99")
                })?;
                match round_robin {
                    true => RealTime::RoundRobin { priority: valid },
                    false => RealTime::Fifo { priority: valid },
                }
            }
            Class::Deadline {
                runtime_ns,
                deadline_ns,
                period_ns,
            } => {
                let ns = |time: i64| u64::try_from(time).unwrap_or(0);
                let class = RealTime::deadline(ns(runtime_ns), ns(deadline_ns), ns(period_ns));
                class.map_err(|expected| {
                    let message = format!(
                        "task `{}`: SCHED_DEADLINE with runtime {} us, deadline {} us, \
                         period {} us",
                        self.name,
                        runtime_ns / 1000,
                        deadline_ns / 1000,
                        period_ns / 1000
                    );
                    Fault::unusable(self.at, message).expected(expected)
                })?
            }
        };
        let attributes = Attributes {
            realtime: Some(realtime),
            ..Attributes::default()
        };
        Ok((FairPolicy::Other, attributes))
    }
}

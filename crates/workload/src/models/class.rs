//! Keys of models for tasks above the fair class.
use super::parse::time;
use crate::realtime::RealTime;

/// What was given, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    policy: Option<&'static str>,
    priority: Option<u8>,
    runtime_ns: Option<u64>,
    period_ns: Option<u64>,
    deadline_ns: Option<u64>,
}

const POLICIES: [&str; 3] = ["fifo", "rr", "deadline"];

/// rt-app's default.
const PRIORITY: u8 = 10;

impl Class {
    /// A policy above the fair class; the error is what was expected.
    pub(super) fn set_policy(&mut self, text: &str) -> Result<(), &'static str> {
        let known = POLICIES.iter().find(|name| **name == text);
        self.policy = Some(known.ok_or("other, batch, idle, fifo, rr or deadline")?);
        Ok(())
    }

    /// One of the keys.
    pub(super) fn set(&mut self, key: &str, text: &str) -> Result<(), &'static str> {
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
        let policy = self.policy.unwrap_or("other");
        let rt = matches!(policy, "fifo" | "rr");
        if self.priority.is_some() && !rt {
            let message = format!("`priority` with `policy={policy}`");
            return Err((message, "policy=fifo or policy=rr".to_owned()));
        }
        let times = [
            ("dl_runtime", self.runtime_ns),
            ("dl_period", self.period_ns),
            ("dl_deadline", self.deadline_ns),
        ];
        let given = times.iter().find(|(_, time)| time.is_some());
        if let (Some((key, _)), true) = (given, policy != "deadline") {
            let message = format!("`{key}` with `policy={policy}`");
            return Err((message, "policy=deadline".to_owned()));
        }
        let priority = self.priority.unwrap_or(PRIORITY);
        match policy {
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

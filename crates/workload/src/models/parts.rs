//! What models are made of: channels between tasks, tasks that repeat their steps, what is said of
//! a wrong value.
use super::{Setting, fault};
use crate::error::WorkloadError;
use crate::realtime::Attributes;
use crate::script::{Calibration, Channel, Event, FairPolicy, Loops, Phase, TaskScript, Workload};

/// The channels of a workload while it is put together.
#[derive(Debug, Default)]
pub(crate) struct Channels(Vec<Channel>);

impl Channels {
    /// A channel that holds nothing at the start; its index for `Event::Post` and `Event::Wait`.
    pub(crate) fn add(&mut self, name: String) -> u32 {
        // Bounded by the number of tasks, which is far below 2^32.
        let index = self.0.len() as u32;
        self.0.push(Channel { name, units: 0 });
        index
    }
}

/// An ordinary task that repeats these steps for ever.
pub(crate) fn endless(name: String, events: &[Event]) -> TaskScript {
    let phase = Phase {
        name: "loop".to_owned(),
        loops: Loops::Times(1),
        cpus: None,
        nice: None,
        events: events.to_vec(),
    };
    TaskScript {
        name,
        nice: 0,
        policy: FairPolicy::Other,
        cpus: None,
        slice_ns: None,
        attributes: Attributes::default(),
        delay_ns: 0,
        loops: Loops::Forever,
        phases: vec![phase],
    }
}

/// A workload of these tasks that counts nothing and uses no timers.
pub(crate) fn fill(argument: &str, tasks: Vec<TaskScript>, channels: Channels) -> Workload {
    Workload {
        name: argument.to_owned(),
        calibration: Calibration::Biggest,
        tasks,
        timers: Vec::new(),
        channels: channels.0,
        count: None,
        groups: Vec::new(),
        duration_ns: None,
        unmodelled: Vec::new(),
    }
}

/// A setting has a value that the model does not take.
pub(crate) fn expectation(argument: &str, setting: &Setting<'_>, expected: &str) -> WorkloadError {
    let message = format!("`{}={}` is not possible", setting.key, setting.value);
    fault(argument, message).expected(expected).into()
}

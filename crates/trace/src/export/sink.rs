//! What takes a trace down. A form of trace implements this; the walk knows no form
//! (docs/guide/traces.md).
//!
//! What must stay: calls come in the order of time; the first error stops all forms, as files go to
//! their places together or not at all. A form that is added is a type here and an option in the
//! crate cli. Free: what leaves the bytes of files as they are (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `events_told_by_hand` (`tell`, `each`), `nothing_is_half_written`
//! (`publish`), long_runs.rs::`a_full_disk_ends_the_run` (`has_failed`),
//! cli/tests/all/traces.rs::`old_files_outlive_a_failed_run` (files of a run that failed), all
//! forms (`add`, `seal`), and of what each form implements (`counter`, `decision`, `decision_over`,
//! `thread`, `metric`) the tests are with the forms (ftrace.rs, perfetto.rs, parquet.rs). `event`
//! and `finish` of a form have their tests there, too.
//!
//! Tests: crates/trace/tests/all/traces.rs, crates/trace/tests/all/long_runs.rs,
//! crates/cli/tests/all/traces.rs::old_files_outlive_a_failed_run

use crate::event::Event;
use std::io;
use std::path::PathBuf;
use wakeplace_engine::observe::Placement;
use wakeplace_files::{FileSet, Place, WriteError};

/// A quantity that is followed over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counter {
    /// Utilisation of a CPU's fair queue as the policy last saw it, 0..=1024.
    Util(u32),
    /// What a CPU has for fair tasks as the policy last found it, 0..=1024.
    Capacity(u32),
    /// Energy of a cluster and its CPUs since the start, in the meter's unit.
    Energy(u32),
    /// Its mean power since the reading before, in that unit by seconds.
    Power(u32),
    /// Temperature of a cluster, degrees Celsius.
    Temperature(u32),
    /// Index of the idle state that a cluster is in, among those of its CPUs; -1: it is powered.
    ClusterIdle(u32),
    /// 1: the CPU is in the machine; told when it leaves or comes back.
    Online(u32),
    /// 1: some CPU is used beyond what it is good for.
    Overutilized,
}

/// Why a task went to its CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision<'a> {
    /// Number of the task's thread.
    pub(crate) pid: i32,
    /// Its name.
    pub(crate) comm: &'a str,
    /// What was decided.
    pub(crate) placement: &'a Placement,
    /// Number of the thread that woke or made it; 0: none.
    pub(crate) waker: i32,
}

/// Takes a trace down, in the order of time.
pub(crate) trait Sink: Send {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// A quantity has this value from now on.
    fn counter(&mut self, _time_ns: u64, _counter: Counter, _value: f64) -> io::Result<()> {
        Ok(())
    }

    /// A CPU was chosen for a task, which waits for it from now on.
    fn decision(&mut self, _time_ns: u64, _decision: &Decision<'_>) -> io::Result<()> {
        Ok(())
    }

    /// The task for which a CPU was chosen waits no longer.
    fn decision_over(&mut self, _time_ns: u64, _pid: i32) -> io::Result<()> {
        Ok(())
    }

    /// A thread exists from now on.
    fn thread(&mut self, _pid: i32, _comm: &str) -> io::Result<()> {
        Ok(())
    }

    /// What was measured of the whole run.
    fn metric(&mut self, _name: &str, _value: f64, _unit: &str) -> io::Result<()> {
        Ok(())
    }

    /// Writes what waits; nothing follows.
    fn finish(&mut self) -> io::Result<()>;
}

/// Where a form of the trace goes.
pub(crate) enum Destination {
    File(Place),
    #[cfg_attr(
        not(feature = "parquet"),
        allow(dead_code, reason = "tables alone are a set")
    )]
    Set(FileSet),
}

impl Destination {
    /// Everything is written and on disk; nothing is in its place yet.
    fn seal(&mut self) -> Result<(), WriteError> {
        match self {
            Self::File(place) => place.seal(),
            Self::Set(set) => set.seal(),
        }
    }

    /// Moves it to its place.
    fn publish(self) -> Result<(), WriteError> {
        match self {
            Self::File(place) => place.publish(),
            Self::Set(set) => set.publish(),
        }
    }
}

/// A form of the trace, and the files that it will be.
pub(crate) struct Output {
    pub(crate) sink: Box<dyn Sink>,
    pub(crate) destination: Destination,
    /// What the user calls it.
    pub(crate) path: PathBuf,
}

/// Everything that is written of a run. What cannot be written stops the trace, not the run.
#[derive(Default)]
pub(crate) struct Sinks {
    outputs: Vec<Output>,
    failed: Option<WriteError>,
}

impl Sinks {
    /// One more form, behind the others.
    pub(crate) fn add(&mut self, output: Output) {
        self.outputs.push(output);
    }

    /// Something could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The same event for every form.
    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        self.each(|sink| sink.event(event));
    }

    /// Something for every form; nothing once one has failed.
    pub(crate) fn each(&mut self, mut what: impl FnMut(&mut dyn Sink) -> io::Result<()>) {
        if self.failed.is_some() {
            return;
        }
        for output in &mut self.outputs {
            if let Err(why) = what(output.sink.as_mut()) {
                self.failed = Some(WriteError::new(&output.path, why));
                return;
            }
        }
    }

    /// Writes what waits; the files go to their places only if all of them are whole and on disk.
    pub(crate) fn publish(mut self) -> Result<(), WriteError> {
        self.each(|sink| sink.finish());
        if let Some(error) = self.failed {
            return Err(error);
        }
        for output in &mut self.outputs {
            output.destination.seal()?;
        }
        let mut outputs = self.outputs.into_iter();
        outputs.try_for_each(|output| output.destination.publish())
    }
}

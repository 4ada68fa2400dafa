//! Traces of a simulated run, for the readers of real ones: an observer of the engine. All forms
//! are written of one walk: an event that one form has, each has that can show it
//! (docs/guide/traces.md).
//!
//! What must stay: listening changes no run and no result; files appear under their names only
//! after the run, all or none (`publish`); a form's bytes depend on the run alone. The crate cli
//! (`export.rs`) calls it. Free: what leaves the bytes of files as they are (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `events_told_by_hand` (`ftrace`, `perfetto`),
//! `tables_told_by_hand` (`parquet`), `nothing_is_half_written` (`publish`, `drop`),
//! long_runs.rs::`traces_dropped_in_the_midst_leave_nothing` (`drop`, with the thread),
//! `all_forms_of_one_run` (all forms, by the command), all also `new`, `add` and `walk`. `metric`
//! and `fmt` have no test of their own here.
//!
//! Callers: crates/cli/src/export.rs (`perfetto`), fuzz/src/whole.rs (`perfetto`).
//!
//! Tests: crates/trace/tests/all/traces.rs::events_told_by_hand,
//! crates/trace/tests/all/traces.rs::nothing_is_half_written,
//! crates/trace/tests/all/long_runs.rs::traces_dropped_in_the_midst_leave_nothing,
//! crates/cli/tests/all/traces.rs::all_forms_of_one_run

mod bytes;
#[cfg(feature = "parquet")]
mod column;
mod energy;
mod ftrace;
mod known;
mod names;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod record;
mod scribe;
mod sink;
#[cfg(feature = "parquet")]
mod table;
#[cfg(feature = "parquet")]
mod texts;
mod threads;
mod told;
mod walk;

use energy::Energy;
pub use energy::EnergySource;
use known::Known;
use record::Signals;
use scribe::Scribe;
use sink::{Destination, Output, Sinks};
use std::path::Path;
use told::Told;
use wakeplace_files::WriteError;
use wakeplace_platform::Platform;
use wakeplace_workload::Workload;
use walk::Walk;

/// Writes traces of one run: name the files, attach it, then `publish`. Memory does not grow with
/// the run. What cannot be written ends the run early; nothing is left of it then.
///
/// During the run it takes down what is told. Traces are made of that by another thread, if the run
/// is not so short that it is over before.
pub struct Traces {
    /// What was told last.
    batch: Vec<Told>,
    scribe: Scribe,
    /// By CPU: what was told last of its signals.
    signals: Vec<Signals>,
    /// When the signals are looked at next, ns.
    sample_ns: u64,
}

impl Traces {
    /// For a run of `workload` on `platform`, whose energy `meter` measures if anybody does.
    #[must_use]
    pub fn new(
        platform: &Platform,
        workload: &Workload,
        meter: Option<Box<dyn EnergySource>>,
    ) -> Self {
        let walk = Walk {
            known: Known::new(platform, workload),
            sinks: Sinks::default(),
            energy: meter.map(|meter| Energy::new(meter, platform.clusters.len())),
        };
        Self {
            batch: Vec::new(),
            scribe: Scribe::Here(Box::new(walk)),
            signals: vec![Signals::default(); platform.cpus.len()],
            sample_ns: 0,
        }
    }

    /// Also writes ftrace text, as `trace-cmd report -t` prints it.
    ///
    /// # Errors
    /// No file can be there.
    pub fn ftrace(&mut self, path: &Path) -> Result<(), WriteError> {
        let (sink, place) = ftrace::Ftrace::create(path, self.signals.len())?;
        self.add(path, Box::new(sink), Destination::File(place));
        Ok(())
    }

    /// Also writes Perfetto's protobuf.
    ///
    /// # Errors
    /// No file can be there.
    pub fn perfetto(
        &mut self,
        path: &Path,
        platform: &Platform,
        workload: &Workload,
    ) -> Result<(), WriteError> {
        let Some(walk) = self.walk() else {
            return Ok(());
        };
        let energy_unit = walk.energy.as_ref().map_or("", |e| e.meter.unit());
        let names = perfetto::Names::new(platform, workload, &walk.known.leader, energy_unit);
        let (sink, place) = perfetto::Perfetto::create(path, &names)?;
        self.add(path, Box::new(sink), Destination::File(place));
        Ok(())
    }

    /// Also writes tables, which are a new folder or take the place of an old one as a whole.
    ///
    /// # Errors
    /// No files can be there.
    #[cfg(feature = "parquet")]
    pub fn parquet(&mut self, path: &Path) -> Result<(), WriteError> {
        let (sink, set) = parquet::Parquet::create(path)?;
        self.add(path, Box::new(sink), Destination::Set(set));
        Ok(())
    }

    /// What was measured of the whole run, for the tables.
    pub fn metric(&mut self, name: &str, value: f64, unit: &str) {
        if let Some(walk) = self.walk() {
            walk.sinks.each(|sink| sink.metric(name, value, unit));
        }
    }

    /// One more form of this trace.
    fn add(&mut self, path: &Path, sink: Box<dyn sink::Sink>, destination: Destination) {
        let path = path.to_owned();
        if let Some(walk) = self.walk() {
            walk.sinks.add(Output {
                sink,
                destination,
                path,
            });
        }
    }

    /// Moves the files to their places, after a run that was seen to its end.
    ///
    /// # Errors
    /// The first thing that could not be written, during the run or now.
    pub fn publish(mut self) -> Result<(), WriteError> {
        match self.walk() {
            Some(walk) => std::mem::take(&mut walk.sinks).publish(),
            None => Ok(()),
        }
    }

    /// Who goes through what was told, all of which has been gone through. None: it panicked, and
    /// so did who asked first.
    fn walk(&mut self) -> Option<&mut Walk> {
        self.scribe.last(&mut self.batch)
    }
}

impl Drop for Traces {
    /// Ends the thread and removes the drafts, where a run was not seen to its end.
    fn drop(&mut self) {
        // No thread outlives it, nor any file: what was told last need not be written.
        self.batch.clear();
        self.walk();
    }
}

impl std::fmt::Debug for Traces {
    /// The name alone: there is nothing to show.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

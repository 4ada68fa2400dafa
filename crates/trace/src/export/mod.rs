//! Traces of a simulated run, for the readers of real ones: an observer of the engine.

mod ftrace;
mod known;
#[cfg(feature = "parquet")]
mod parquet;
mod perfetto;
mod sink;
#[cfg(feature = "parquet")]
mod table;
mod threads;
mod walk;

use known::Known;
use sink::{Destination, Output, Sinks};
use std::path::Path;
use wakeplace_engine::Observer;
use wakeplace_files::WriteError;
use wakeplace_platform::Platform;
use wakeplace_workload::Workload;

/// Who measures energy. A trace shows what it says.
pub trait EnergySource: Observer {
    /// Energy of each cluster and its CPUs from the start up to now.
    fn read(&mut self, time_ns: u64, by_cluster: &mut [f64]);
    /// Its unit, as `J`.
    fn unit(&self) -> &'static str;
}

/// What is known of energy.
struct Energy {
    meter: Box<dyn EnergySource>,
    /// When it was read last, ns.
    read_ns: u64,
    /// What it said then, and the time before.
    by_cluster: Vec<f64>,
    before: Vec<f64>,
}

/// Writes traces of one run: name the files, attach it, then `publish`. Memory does not grow with
/// the run. What cannot be written ends the run early; nothing is left of it then.
pub struct Traces {
    known: Known,
    sinks: Sinks,
    energy: Option<Energy>,
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
        let energy = |meter| Energy {
            meter,
            read_ns: 0,
            by_cluster: vec![0.0; platform.clusters.len()],
            before: vec![0.0; platform.clusters.len()],
        };
        Self {
            known: Known::new(platform, workload),
            sinks: Sinks::default(),
            energy: meter.map(energy),
            sample_ns: 0,
        }
    }

    /// Also writes ftrace text, as `trace-cmd report -t` prints it.
    ///
    /// # Errors
    /// No file can be there.
    pub fn ftrace(&mut self, path: &Path) -> Result<(), WriteError> {
        let (sink, place) = ftrace::Ftrace::create(path, self.known.cpus.len())?;
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
        let energy_unit = self.energy.as_ref().map_or("", |e| e.meter.unit());
        let names = perfetto::Names::new(platform, workload, &self.known.leader, energy_unit);
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
        self.sinks.each(|sink| sink.metric(name, value, unit));
    }

    fn add(&mut self, path: &Path, sink: Box<dyn sink::Sink>, destination: Destination) {
        self.sinks.add(Output {
            sink,
            destination,
            path: path.to_owned(),
        });
    }

    /// Moves the files to their places, after a run that was seen to its end.
    ///
    /// # Errors
    /// The first thing that could not be written, during the run or now.
    pub fn publish(self) -> Result<(), WriteError> {
        self.sinks.publish()
    }
}

impl std::fmt::Debug for Traces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traces").finish_non_exhaustive()
    }
}

//! `--export-perfetto`, `--export-ftrace`, `--export-parquet`: traces of the only run
//! (docs/guide/traces.md).
//!
//! What is in the files is `wakeplace_trace`'s.
//!
//! What must stay: places are opened before the run, so that what can be refused is refused before
//! anything is simulated; files appear under their names only after the run. A trace changes
//! nothing of the result. Metrics of `metrics.parquet` are those of the result. Tests by part:
//! crates/cli/tests/all/traces.rs::`all_forms_of_one_run` (`Exports`),
//! traces.rs::`places_are_refused_before_anything_runs` (`check`, `prepare`, `places`),
//! traces.rs::`old_files_outlive_a_failed_run` (that nothing is published),
//! traces.rs::`what_cannot_be_written_is_said` (`publish`),
//! traces.rs::`several_seeds_are_refused` (`of_one_run`),
//! crates/cli/tests/all/faults/leftovers.rs::`a_folder_with_other_files_is_refused` (`A_FOLDER`).
//!
//! Tests: crates/cli/tests/all/traces.rs, crates/cli/tests/all/faults/leftovers.rs

use crate::args::SimArgs;
use crate::failure::Failure;
use crate::output::A_FILE;
use crate::terminal::Terminal;
use std::path::{Path, PathBuf};
use wakeplace_study::{Comparison, Experiment, trace_meter};
use wakeplace_trace::Traces;

/// What the place of several files must be.
pub(crate) const A_FOLDER: &str = "a new or empty folder, or one that the same option \
                                   wrote, in a folder that exists and may be written to";

/// Which traces are asked for.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    perfetto: Option<&'a Path>,
    ftrace: Option<&'a Path>,
    pub(crate) parquet: Option<&'a Path>,
}

impl<'a> Asked<'a> {
    /// None: no trace.
    pub(crate) fn of(args: &'a SimArgs) -> Option<Self> {
        let asked = Self {
            perfetto: args.export_perfetto.as_deref(),
            ftrace: args.export_ftrace.as_deref(),
            parquet: args.export_parquet.as_deref(),
        };
        let any = asked.paths().next().is_some();
        any.then_some(asked)
    }

    /// The options that were given with their places; in this order files are opened and published.
    fn paths(&self) -> impl Iterator<Item = (&'static str, &'a Path)> {
        let perfetto = self.perfetto.map(|path| ("--export-perfetto", path));
        let ftrace = self.ftrace.map(|path| ("--export-ftrace", path));
        let parquet = self.parquet.map(|path| ("--export-parquet", path));
        [perfetto, ftrace, parquet].into_iter().flatten()
    }

    /// An option that was given and is of one run; of several, `--export-parquet` has a table.
    pub(crate) fn of_one_run(&self) -> Option<&'static str> {
        let mut names = self.paths().map(|(name, _)| name);
        names.find(|name| *name != "--export-parquet")
    }

    /// Where they go, by option.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&'static str, Option<&'a Path>)> {
        self.paths().map(|(name, path)| (name, Some(path)))
    }

    /// A trace is a file.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.paths().find(|(_, path)| *path == "-") {
            None => Ok(()),
            Some((name, _)) => Err(Failure::Input(format!(
                "{name} -: a trace does not go to standard output; expected a file"
            ))),
        }
    }

    /// Opens what will be written. All that can be refused is refused here.
    pub(crate) fn prepare(&self, experiment: &Experiment) -> Result<Exports, Failure> {
        let workload = experiment.first_workload().map_err(Failure::input)?;
        let platform = &experiment.platform;
        let mut traces = Traces::new(platform, &workload, trace_meter(platform));
        if let Some(path) = self.perfetto {
            let opened = traces.perfetto(path, platform, &workload);
            opened.map_err(|error| Failure::writing("--export-perfetto", &error, A_FILE))?;
        }
        if let Some(path) = self.ftrace {
            let opened = traces.ftrace(path);
            opened.map_err(|error| Failure::writing("--export-ftrace", &error, A_FILE))?;
        }
        if let Some(path) = self.parquet {
            let opened = traces.parquet(path);
            opened.map_err(|error| Failure::writing("--export-parquet", &error, A_FOLDER))?;
        }
        Ok(Exports {
            traces,
            paths: self.paths().map(|(_, path)| path.to_owned()).collect(),
        })
    }
}

/// Traces being written.
#[derive(Debug)]
pub(crate) struct Exports {
    pub(crate) traces: Traces,
    paths: Vec<PathBuf>,
}

impl Exports {
    /// After the run: the files go to their places.
    pub(crate) fn publish(
        mut self,
        comparison: &Comparison,
        terminal: Terminal,
    ) -> Result<(), Failure> {
        let cannot = |error| Failure::writing("a trace of the run:", &error, "another place");
        let runs = comparison.runs.iter().flat_map(|runs| &runs.metrics);
        for (name, value) in runs.flat_map(|run| run.values.iter()) {
            self.traces.metric(name, value.value, value.unit);
        }
        self.traces.publish().map_err(cannot)?;
        for path in &self.paths {
            terminal.detail(&format!("trace in {}", path.display()));
        }
        Ok(())
    }
}

//! `--export-runs` and the folder of `--export-parquet` with several seeds: one row per run
//! (docs/guide/python.md, "Tables").
//!
//! Rows and columns are those of `wakeplace_study`'s run table.
//!
//! What must stay: a folder of tables is replaced as one, or is as it was. The form is chosen by
//! the name's end, before anything runs. In the folder the file is `runs.parquet`
//! (docs/guide/results.md). Tests by part:
//! crates/cli/tests/all/report.rs::`kinds_of_cpu_within_a_cluster_are_told_apart` (`Csv`),
//! crates/cli/tests/all/compared.rs::`what_cannot_be_is_refused` (`prepare`). No test of its own:
//! `folder` and `Parquet`; `FileSet` and `write_parquet` have theirs.
//!
//! Tests: crates/cli/tests/all/report.rs::kinds_of_cpu_within_a_cluster_are_told_apart,
//! crates/cli/tests/all/compared.rs::what_cannot_be_is_refused

use crate::export::A_FOLDER;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{A_FILE, Output};
use crate::terminal::Terminal;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use wakeplace_files::{FileSet, Names, WriteError};
use wakeplace_store::write_parquet;
use wakeplace_study::{RunRecord, RunTable};

/// The file in the folder.
const IN_FOLDER: &str = "runs.parquet";

/// A place for a table of runs.
pub(crate) enum RunsExport {
    Csv(Output),
    Parquet(PathBuf),
    Folder(PathBuf, Box<FileSet>),
}

impl RunsExport {
    /// A file that can be written, in the form that its name says.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("csv") => Ok(Self::Csv(Output::prepare(Some(path))?)),
            Some("parquet") => {
                Output::prepare(Some(path))?;
                Ok(Self::Parquet(path.to_owned()))
            }
            _ => Err(Failure::Input(format!(
                "--export-runs {}: the form is not known; expected a name that ends in .csv or \
                 .parquet",
                path.display()
            ))),
        }
    }

    /// A folder that can be there.
    pub(crate) fn folder(path: &Path) -> Result<Self, Failure> {
        interrupt::watch()?;
        let set = FileSet::open(path, Names::ending(".parquet"));
        let set = set.map_err(|error| Failure::writing("--export-parquet", &error, A_FOLDER))?;
        Ok(Self::Folder(path.to_owned(), Box::new(set)))
    }

    /// Writes all runs; a folder is put in its place.
    pub(crate) fn publish(self, records: &[RunRecord], terminal: Terminal) -> Result<(), Failure> {
        let table = RunTable::of(records);
        match self {
            Self::Csv(output) => output.write(&wakeplace_report::run_table(&table), terminal),
            Self::Parquet(path) => {
                let cannot = |error| Failure::writing("--export-runs", &error, A_FILE);
                wakeplace_files::write(&path, &parquet(&table)?).map_err(cannot)
            }
            Self::Folder(path, mut set) => {
                let cannot = |e: WriteError| Failure::writing("--export-parquet", &e, A_FOLDER);
                let written = (set.create(IN_FOLDER).map_err(cannot)?).write_all(&parquet(&table)?);
                written.map_err(|error| cannot(WriteError::new(&path, error)))?;
                set.seal().map_err(cannot)?;
                set.publish().map_err(cannot)?;
                terminal.detail(&format!("runs in {}", path.display()));
                Ok(())
            }
        }
    }
}

/// The table's bytes. An error is the machine's (exit code 3): the table itself is well formed.
fn parquet(table: &RunTable) -> Result<Vec<u8>, Failure> {
    write_parquet(table).map_err(|error| Failure::Environment(format!("Parquet: {error}")))
}

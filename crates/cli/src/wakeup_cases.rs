//! `--export-wakeup-cases` (docs/rules/capacity-aware.md#wakeup-cases).
//!
//! The table's rows and columns are `wakeplace_report::wakeup_cases`'.
//!
//! What must stay: the form of the file is that of its name's end. A machine whose CPUs are all
//! alike is refused before the run, as none of them is little or big. Programs read the table
//! (docs/guide/results.md, "What a result holds"). Tests by part:
//! crates/cli/tests/all/wakeup_cases.rs::`csv_and_the_run_itself` and
//! wakeup_cases.rs::`invariants_of_the_published_tables` (`write`), wakeup_cases.rs::`refused`
//! (`prepare`).
//!
//! Tests: crates/cli/tests/all/wakeup_cases.rs

use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::Terminal;
use std::collections::BTreeSet;
use std::path::Path;
use wakeplace_platform::Platform;
use wakeplace_report::Format;
use wakeplace_study::Comparison;

/// A file that can be written, and a machine that has little and big CPUs.
#[derive(Debug)]
pub(crate) struct Export {
    output: Output,
    format: Format,
}

impl Export {
    /// Refuses what could not be exported, before anything is simulated.
    pub(crate) fn prepare(path: &Path, platform: &Platform) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let format = match ending {
            Some("csv") => Format::Csv,
            Some("json") => Format::Json,
            _ => {
                return Err(Failure::Input(format!(
                    "--export-wakeup-cases {}: the form is not known; expected a name that ends \
                     in .csv or .json",
                    path.display()
                )));
            }
        };
        let capacities: BTreeSet<u32> = platform.cpus.iter().map(|cpu| cpu.capacity).collect();
        if capacities.len() < 2 {
            return Err(Failure::Input(format!(
                "--export-wakeup-cases: all CPUs of platform `{}` have the same capacity, none is \
                 little or big; expected a platform with several, as `tc2` or `hikey960`",
                platform.name
            )));
        }
        let output = Output::prepare(Some(path))?;
        Ok(Self { output, format })
    }

    /// Writes the table of all runs.
    pub(crate) fn write(&self, comparison: &Comparison, terminal: Terminal) -> Result<(), Failure> {
        let text = wakeplace_report::wakeup_cases(comparison, self.format);
        self.output.write(&text, terminal)
    }
}

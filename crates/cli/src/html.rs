//! `--export-html` (docs/guide/report.md). The command `report` writes its page itself.
//!
//! Called by `compare`, `sim`, `study run` and `diff`.
//!
//! What must stay: the page is a file beside the result, and changes nothing of the result. It is
//! made of the result's JSON, so that a page of a run and one of its JSON are the same bytes
//! (`wakeplace_report::html`). Tests by part:
//! crates/cli/tests/all/report.rs::`a_page_of_a_run_and_one_of_its_json_are_the_same_bytes`
//! (`write`), report.rs::`wrong_windows_and_places_are_refused_before_anything_runs` (`prepare`),
//! report.rs::`a_study_has_its_page` (studies),
//! crates/cli/tests/all/results.rs::`two_results_are_compared` (`diff`).
//!
//! Tests: crates/cli/tests/all/report.rs, crates/cli/tests/all/results.rs::two_results_are_compared

use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::Terminal;
use std::path::Path;
use wakeplace_report::Source;

/// Place for a page, found to be writable before anything is simulated.
#[derive(Debug)]
pub(crate) struct HtmlExport(Output);

impl HtmlExport {
    /// Opens the place before any run. `None`: the option was not given. An error is exit code 2.
    pub(crate) fn prepare(path: Option<&Path>) -> Result<Option<Self>, Failure> {
        Ok(Output::beside("--export-html", path)?.map(Self))
    }

    /// Writes the page of one result, given as JSON.
    pub(crate) fn write(&self, json: &str, terminal: Terminal) -> Result<(), Failure> {
        let source = Source {
            name: "the result",
            text: json,
        };
        let page = wakeplace_report::html(&[source]).map_err(Failure::input)?;
        self.0.write(&page, terminal)
    }
}

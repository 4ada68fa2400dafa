//! `--export-html`, and what `report` writes (docs/guide/report.md).
//!
//! Called by `compare`, `sim`, `study run` and `report`. The page is a file beside the result: it
//! changes nothing of the result. Its bytes are `wakeplace_report::html`'s.
//!
//! Tests: crates/cli/tests/all/report.rs::what_is_no_result_is_refused_and_leaves_the_page

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

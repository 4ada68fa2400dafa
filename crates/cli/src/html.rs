//! `--export-html`, and what `report` writes (docs/guide/report.md).
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

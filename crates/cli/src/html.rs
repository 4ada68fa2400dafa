//! `--export-html`, and what `report` writes.

use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::Terminal;
use std::path::Path;
use wakeplace_report::Source;

/// Place for a page, found to be writable before anything is simulated.
#[derive(Debug)]
pub(crate) struct HtmlExport(Output);

impl HtmlExport {
    /// `others`: files that the command writes too.
    pub(crate) fn prepare(
        path: Option<&Path>,
        others: &[(&str, Option<&Path>)],
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = path else { return Ok(None) };
        if path == "-" {
            return Err(Failure::input(
                "--export-html -: the result goes to standard output; expected a file",
            ));
        }
        if let Some((option, _)) = others.iter().find(|(_, other)| *other == Some(path)) {
            return Err(Failure::Input(format!(
                "`--export-html` and `{option}` name the same file; expected two"
            )));
        }
        Ok(Some(Self(Output::prepare(Some(path))?)))
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

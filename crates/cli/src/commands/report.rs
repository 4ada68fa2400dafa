//! `report`: results as one page (docs/guide/report.md).
//!
//! Nothing is simulated. `diff` reads its results by `texts` and `sources`.
//!
//! What must stay: all results are read before anything is written: one that is none leaves the old
//! page. Order: as given. A text has at most `MAX_BYTES`. A page goes to no terminal. Tests by
//! part: crates/cli/tests/all/report.rs::`a_page_of_a_run_and_one_of_its_json_are_the_same_bytes`
//! (`report`), report.rs::`what_is_no_result_is_refused_and_leaves_the_page` (`read`),
//! crates/cli/tests/all/streams.rs::`a_page_does_not_go_to_a_terminal` and
//! streams.rs::`a_terminal_is_not_waited_for` (terminals),
//! crates/cli/tests/all/output.rs::`what_is_read_is_not_written_over` (places),
//! crates/cli/tests/all/faults/mod.rs::`a_report` (each call fails once). No test of its own:
//! `MAX_BYTES`, and `-` that is given twice.
//!
//! Tests: crates/cli/tests/all/report.rs, crates/cli/tests/all/streams.rs,
//! crates/cli/tests/all/output.rs::what_is_read_is_not_written_over,
//! crates/cli/tests/all/faults/mod.rs::a_report

use crate::args::ReportArgs;
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::places;
use crate::terminal::Terminal;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use wakeplace_report::Source;

/// Longest result that is read, bytes: the page carries all of it.
const MAX_BYTES: u64 = 64 << 20;

/// Reads all results, and writes the page if each of them is one.
pub(crate) fn report(args: &ReportArgs, terminal: Terminal) -> Outcome {
    let results = args.results.iter().filter_map(|path| path.to_str());
    places::apart(
        results.map(|path| ("FILE", path)),
        &[("--output", args.output.as_deref())],
    )?;
    if args.output.is_none() && terminal.stdout_is_tty() {
        return Err(Failure::input(
            "the page is a megabyte of HTML, and standard output is a terminal; expected \
             `--output FILE`, or a file or pipe as standard output",
        ));
    }
    let output = Output::prepare(args.output.as_deref())?;
    let texts = texts(&args.results)?;
    let sources = sources(&texts);
    let page = wakeplace_report::html(&sources).map_err(Failure::input)?;
    output.write(&page, terminal)?;
    Ok(Verdict::Ok)
}

/// The names and texts of results.
pub(super) fn texts(results: &[PathBuf]) -> Result<Vec<(String, String)>, Failure> {
    if results.iter().filter(|path| **path == *"-").count() > 1 {
        return Err(Failure::input(
            "`-` is given twice, and standard input can be read once; expected files",
        ));
    }
    results
        .iter()
        .map(|path| Ok((name(path), read(path)?)))
        .collect()
}

/// The texts as the page's crate takes them, in the order given.
pub(super) fn sources(texts: &[(String, String)]) -> Vec<Source<'_>> {
    texts
        .iter()
        .map(|(name, text)| Source { name, text })
        .collect()
}

/// What a result is called on the page and in errors.
fn name(path: &Path) -> String {
    if path == "-" {
        return "standard input".to_owned();
    }
    path.display().to_string()
}

/// A result's text from a file or standard input, of bounded length.
fn read(path: &Path) -> Result<String, Failure> {
    let wrong = |why: &str| {
        Failure::Input(format!(
            "{}: {why}; expected the JSON of `compare`, `sim`, `review`, `study run` or `sweep`",
            name(path)
        ))
    };
    let failed = |error: io::Error| wrong(&format!("cannot be read: {error}"));
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = match path == "-" {
        true => Box::new(wakeplace_workload::standard_input().map_err(failed)?),
        false => Box::new(File::open(path).map_err(failed)?),
    };
    source
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(wrong(&format!("is longer than {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        wrong(&format!("is no text in UTF-8 (byte {at})"))
    })
}

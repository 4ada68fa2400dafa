//! Results as text: tables for people, JSON, CSV, Markdown, one HTML file. From results only; never
//! prints (docs/guide/report.md).
//!
//! What must stay: the same result gives the same text in every form, and forms for programs keep
//! their keys and columns; old results in `crates/report/tests/old` stay readable; this crate never
//! prints. What people see may change. Tests by part: each module names its own;
//! `results_of_version_1_are_read` (old results),
//! `a_page_of_a_run_and_one_of_its_json_are_the_same_bytes` (no form knows more than the JSON).
//! `default` is the style of nearly all tests of this crate.
//!
//! Tests: crates/cli/tests/all/report.rs, crates/report/tests/old, beside its modules

mod case_table;
mod clusters;
mod comparison;
mod diff;
mod evaluation;
mod html;
mod json;
mod late_frames;
mod length;
mod lines;
mod number;
mod paint;
mod phrase;
mod plain;
mod points;
mod published;
mod review;
mod run_table;
mod states;
mod study;
mod table;
mod tasks;
mod wakeup_cases;
mod why;

pub use comparison::{comparison, comparisons, unit_of};
pub use diff::{Difference, Differences, diff};
pub use evaluation::{evaluation_json, evaluation_text};
pub use html::{Fragment, HtmlError, Page, Source, charts, decision, footer, fragment, html};
pub use number::{from_to, short};
pub use paint::Tone;
pub use plain::plain;
pub use points::{Bases, Choice, Failed, FoundPoints, Points, SweepFacts};
pub use published::{Extent, published};
pub use review::{
    Reviewed, beside, by_cluster, largest, main_figures, review_csv, review_json, review_mail,
    review_text,
};
pub use run_table::run_table;
pub use study::{studies, study};
pub use table::{Align, Cell, Table};
pub use wakeup_cases::wakeup_cases;

pub use wakeplace_outcome::{RESULT_SCHEMA_VERSION, SCHEMA_VERSION};

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    #[default]
    Human,
    /// One JSON object.
    Json,
    /// Comma-separated values (RFC 4180), one table.
    Csv,
    /// Markdown.
    Md,
}

/// How [`Format::Human`] looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// ANSI colours. They never carry what the words do not say.
    pub color: bool,
    /// Columns of the terminal; 0 = any.
    pub width: usize,
}

impl Default for Style {
    /// Plain text, 100 columns wide.
    fn default() -> Self {
        Self {
            color: false,
            width: 100,
        }
    }
}

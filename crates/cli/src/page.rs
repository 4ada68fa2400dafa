//! A page of facts with headings, tables and text: for people or as Markdown. What it is given may
//! come from files; it is made harmless here.
//!
//! Called by `show`, `list` and `explain` commands. Free: how a page looks; no program reads it
//! (programs have `--format json`).
//!
//! What must stay: what goes into a page is made harmless in both forms. The order is that of the
//! calls. An empty table leaves nothing. Tests by part:
//! crates/cli/tests/all/hostile_text.rs::`answers_show_names_harmlessly_in_every_form`
//! (`paragraph`, `point`, `section`),
//! crates/cli/tests/all/results.rs::`a_platform_is_shown_with_its_sources` (`Form::Markdown`),
//! commands/policy.rs::`pages_fit_a_terminal` and commands/workload.rs::`the_list_fits_a_terminal`
//! (`table`).
//!
//! Tests: crates/cli/tests/all/hostile_text.rs,
//! crates/cli/tests/all/results.rs::a_platform_is_shown_with_its_sources,
//! crates/cli/src/commands/policy.rs, crates/cli/src/commands/workload.rs

use crate::text::{heading, indented, wrapped};
use std::fmt::Write as _;
use wakeplace_report::{Format, Style, Table};
use wakeplace_text::markdown;

/// How a page is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// For a terminal.
    Human(Style),
    /// Markdown.
    Markdown,
}

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Page {
    form: Form,
    text: String,
}

impl Page {
    /// Begins with a title and a sentence.
    pub(crate) fn new(form: Form, title: &str, sentence: &str) -> Self {
        let text = match form {
            Form::Human(style) => heading(title, style) + &wrapped(sentence, "", style),
            Form::Markdown => format!("# {}\n\n{}\n", markdown(title), markdown(sentence)),
        };
        Self { form, text }
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, title: &str) {
        match self.form {
            Form::Human(style) => self.text.push_str(&format!("\n{}", heading(title, style))),
            Form::Markdown => {
                let _ = write!(self.text, "\n## {}\n\n", markdown(title));
            }
        }
    }

    /// A paragraph.
    pub(crate) fn paragraph(&mut self, text: &str) {
        match self.form {
            Form::Human(style) => self.text.push_str(&wrapped(text, "  ", style)),
            Form::Markdown => self.text.push_str(&format!("{}\n\n", markdown(text))),
        }
    }

    /// A table; nothing if it is empty.
    pub(crate) fn table(&mut self, table: &Table) {
        if table.is_empty() {
            return;
        }
        match self.form {
            Form::Human(style) => {
                let width = if style.width == 0 { 0 } else { style.width - 2 };
                let drawn = table.render(Format::Human, Style { width, ..style });
                self.text.push_str(&indented(&drawn, "  "));
            }
            Form::Markdown => {
                let _ = writeln!(self.text, "{}", table.render(Format::Md, Style::default()));
            }
        }
    }

    /// A point of a list: a label and a text.
    pub(crate) fn point(&mut self, label: &str, text: &str) {
        match self.form {
            Form::Human(style) => {
                self.text.push_str(&wrapped(label, "  ", style));
                self.text.push_str(&wrapped(text, "      ", style));
            }
            Form::Markdown => {
                let (label, text) = (markdown(label), markdown(text));
                let _ = writeln!(self.text, "- **{label}**: {text}");
            }
        }
    }

    /// The page, ending with a newline.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

//! What the lab, and who builds kernel trees, is doing, on standard error: one changing line on a
//! terminal, lines elsewhere (docs/guide/lab.md).
//!
//! Called by `lab`, `kernel` and `trees.rs`. No program reads it: words and times are free.
//!
//! What must stay: nothing of it is on standard output. The line is gone before a result is printed
//! (`drop`). `-q` hides steps. No test of its own.
//!
//! Tests: none; it shows how far the lab is.

use crate::args::Verbosity;
use crate::terminal::Terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;
use wakeplace_lab::Watch;
use wakeplace_text::printable;

/// Shows steps as they come.
pub(crate) struct Steps {
    terminal: Terminal,
    /// On a terminal.
    spinner: Option<ProgressBar>,
}

impl Steps {
    /// Begins to show.
    pub(crate) fn start(terminal: Terminal) -> Self {
        let drawn = terminal.stderr_is_tty() && terminal.verbosity() != Verbosity::Quiet;
        let spinner = drawn.then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed:>4} {msg:.dim}");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        if let Some(spinner) = &spinner {
            spinner.enable_steady_tick(Duration::from_millis(100));
        }
        Self { terminal, spinner }
    }
}

impl Drop for Steps {
    /// Clears the line, so that the result begins at the left.
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

impl Watch for Steps {
    /// The stage that begins now. It replaces the line, or is a line of its own; `-q` hides it.
    fn step(&self, what: &str) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(printable(what).into_owned()),
            None if self.terminal.verbosity() == Verbosity::Quiet => {}
            None => self.terminal.eprint(&format!("{what}\n")),
        }
    }

    /// A warning that stays visible while the line goes on.
    fn remark(&self, what: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| self.terminal.warn(what)),
            None => self.terminal.warn(what),
        }
    }
}

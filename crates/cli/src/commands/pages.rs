//! `wakeplace completions` and `wakeplace man`.
//!
//! What is printed is `args::pages`'. No result depends on it.
//!
//! Tests: crates/cli/tests/all/help.rs::every_example_works

use crate::args::{self, CompletionsArgs, ManArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::terminal::Terminal;

/// Prints what a shell reads to complete this program's words.
pub(crate) fn completions(args: &CompletionsArgs, terminal: Terminal) -> Outcome {
    terminal.print(&args::completions(args.shell))?;
    Ok(Verdict::Ok)
}

/// Writes the pages of the manual.
pub(crate) fn man(args: &ManArgs) -> Outcome {
    let folder = &args.folder;
    args::write_man(folder)
        .map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
    Ok(Verdict::Ok)
}

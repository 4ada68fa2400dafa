//! `wakeplace completions` and `wakeplace man`.
//!
//! What is printed is `args::pages`'. No result depends on it.
//!
//! What must stay: names and arguments of both commands: packages are made by them
//! (`xtask/src/gives/dist.rs`). No test of its own: making the packages (`cargo xtask dist`) runs
//! both.
//!
//! Tests: none; packages are made by both commands (xtask/src/gives/dist.rs).

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

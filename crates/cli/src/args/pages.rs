//! Completions and manual pages, made from the same definitions as `--help`.
//!
//! Called by `completions`, `man` and the packages. Nothing of a result depends on it. Free: all
//! text.
//!
//! What must stay: names of files are those under which `man` finds them: packages take them
//! (`xtask/src/gives/dist.rs`). A page has its examples at the end. No test of its own: making the
//! packages (`cargo xtask dist`) runs both.
//!
//! Tests: none; packages are made by both commands (xtask/src/gives/dist.rs).

use super::Cli;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Where the pages are written; the folder must exist
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

/// The script that a shell reads.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "wakeplace", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes one page for the program and one for each command.
pub(crate) fn write_man(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(examples_last(Cli::command()), folder)
}

/// A page of a manual has its examples at the end, where `--help` has them before the options.
fn examples_last(mut command: Command) -> Command {
    let text = |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string);
    let before = text(command.get_before_long_help()).or_else(|| text(command.get_before_help()));
    let after = text(command.get_after_long_help()).or_else(|| text(command.get_after_help()));
    let both: Vec<String> = before.into_iter().chain(after).collect();
    if !both.is_empty() {
        command = command.after_long_help(both.join("\n\n"));
    }
    command.mut_subcommands(examples_last)
}

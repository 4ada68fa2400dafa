//! `wakeplace`: parses arguments, calls the libraries, prints, picks the exit code. It decides
//! nothing that a result depends on.
//!
//! Everything else is in the modules and crates below.
//!
//! What must stay: exit codes and what goes to which stream. Colour is known before options are
//! parsed, so that clap's own messages follow `--color`. Tests by part:
//! crates/cli/tests/all/bad_input.rs::`wrong_usage_is_refused` (exit code 2),
//! crates/cli/tests/all/results.rs::`expectations_decide_the_exit_code` (`finish`),
//! crates/cli/tests/all/help.rs::`colour_only_where_it_is_wanted` (`early`),
//! help.rs::`nothing_but_the_result_is_on_standard_output` (streams).
//!
//! Tests: crates/cli/tests/all, beside its modules

mod args;
mod commands;
mod expect;
mod export;
mod failure;
mod gate;
mod html;
mod interrupt;
mod junit;
mod machine;
mod output;
mod page;
mod places;
mod progress;
mod readme;
mod repeat;
mod runs_export;
mod settings;
mod terminal;
mod text;
mod trees;
mod wakeup_cases;
mod wall;

use args::{Cli, Parsed};
use failure::Verdict;
use std::process::ExitCode;
use terminal::Terminal;

/// Parses, runs one command, and ends with its exit code; wrong usage is 2.
fn main() -> ExitCode {
    let early = Terminal::before_parsing();
    let cli = match args::parse() {
        Parsed::Run(cli) => *cli,
        Parsed::Show(text) => return finish(early, early.print(&text).map(|()| Verdict::Ok)),
        Parsed::Refuse(text) => {
            early.eprint(&text);
            return ExitCode::from(2);
        }
    };
    let Cli { command, talk } = cli;
    let terminal = Terminal::new(talk.color, talk.verbosity());
    finish(terminal, commands::run(command, terminal))
}

/// Says what went wrong, once, and turns the outcome into the exit code.
fn finish(terminal: Terminal, outcome: failure::Outcome) -> ExitCode {
    match outcome {
        Ok(verdict) => verdict.exit_code(),
        Err(failure) => {
            terminal.error(&failure);
            failure.exit_code()
        }
    }
}

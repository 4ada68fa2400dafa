//! One module per command.
//!
//! What must stay: a command returns its verdict or why there is none; only `main` makes an exit
//! code of it. A new command is a variant of `args::Command` and a module here. Tests by part:
//! crates/cli/tests/all/help.rs::`every_example_works` (`run`: each command does what its help
//! says), crates/cli/tests/all/bad_input.rs::`wrong_usage_is_refused` (what is no command).
//!
//! Tests: crates/cli/tests/all/help.rs, crates/cli/tests/all/bad_input.rs::wrong_usage_is_refused

mod battery;
mod diff;
mod doctor;
mod evaluate;
mod explain;
mod kernel;
mod kernel_diff;
mod lab;
pub(crate) mod lab_watch;
mod mcp;
mod metric;
mod pages;
mod platform;
mod platform_clocks;
mod platform_import;
mod platform_json;
mod platform_moves;
mod platform_points;
mod platform_text;
mod policy;
mod record;
mod report;
mod review;
pub(crate) mod schedulers;
mod simulate;
mod study;
mod sweep;
mod workload;
mod workload_recording;

use crate::args::Command;
use crate::failure::Outcome;
use crate::terminal::Terminal;

/// Does what was asked.
pub(crate) fn run(command: Command, terminal: Terminal) -> Outcome {
    match command {
        Command::Compare(args) => simulate::compare(&args, terminal),
        Command::Sweep(args) => sweep::sweep(&args, terminal),
        Command::Sim(args) => simulate::sim(args, terminal),
        Command::Evaluate(args) => evaluate::evaluate(&args, terminal),
        Command::Explain(args) => explain::explain(*args, terminal),
        Command::Study { command } => study::run(command, terminal),
        Command::Platform { command } => platform::run(command, terminal),
        Command::Workload { command } => workload::run(command, terminal),
        Command::Policy { command } => policy::run(command, terminal),
        Command::Metric { command } => metric::run(&command, terminal),
        Command::Diff(args) => diff::diff(&args, terminal),
        Command::Review(args) => review::review(&args, terminal),
        Command::Report(args) => report::report(&args, terminal),
        Command::Doctor(args) => doctor::run(&args, terminal),
        Command::Kernel { command } => kernel::run(&command, terminal),
        Command::Lab { command } => lab::run(command, terminal),
        Command::Mcp(args) => mcp::serve(&args),
        Command::Completions(args) => pages::completions(&args, terminal),
        Command::Man(args) => pages::man(&args),
    }
}

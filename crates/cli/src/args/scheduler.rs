//! Options about sched_ext schedulers (docs/guide/schedulers.md).
//!
//! What must stay: names of options. A `--scheduler` without a value stands for what follows `--`;
//! `commands/schedulers.rs` reads both. Free: help texts and their order. Tests by part:
//! crates/cli/tests/all/schedulers.rs::`wrong_options_are_refused` (`scheduler`, `kernel`),
//! schedulers.rs::`explain_says_what_callbacks_did` (`interpret`). No test of its own:
//! `scheduler_words`.
//!
//! Tests: crates/cli/tests/all/schedulers.rs

use clap::Args;

/// What loads one, and into what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct SchedulerArgs {
    /// A sched_ext scheduler, as 'scx_lavd --performance' or ./x.bpf.o
    ///
    /// The unmodified loader, with its arguments, or an object file. It runs in a process of its
    /// own and needs no root. Repeat it for `compare`. `--scheduler -- PROGRAM ARGUMENTS...` takes
    /// the rest of the line. docs/guide/schedulers.md says what is offered and what is not.
    #[arg(
        long,
        value_name = "COMMAND",
        num_args = 0..=1,
        default_missing_value = "",
        display_order = 13
    )]
    pub(crate) scheduler: Vec<String>,
    /// The kernel whose interface is offered to schedulers, as 7.3.4
    ///
    /// Its type information comes from the lab's packages, and stays in the cache. A path is a file
    /// of raw type information (BTF), named by the kernel's release.
    /// [default: this machine's, if it has sched_ext, else the lab's newest]
    #[arg(
        long,
        value_name = "VERSION",
        requires = "scheduler",
        hide_short_help = true,
        display_order = 14
    )]
    pub(crate) kernel: Option<String>,
    /// Interpret the programs of schedulers: slower, with the same result
    #[arg(
        long,
        requires = "scheduler",
        hide_short_help = true,
        display_order = 15
    )]
    pub(crate) interpret: bool,
    /// After `--scheduler --`: program and arguments
    #[arg(
        last = true,
        value_name = "PROGRAM",
        requires = "scheduler",
        hide = true
    )]
    pub(crate) scheduler_words: Vec<String>,
}

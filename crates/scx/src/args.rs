// SPDX-License-Identifier: GPL-2.0-only
//! What people type (docs/guide/live.md, "Run").
//!
//! What must stay: names of options and commands, which units of systemd and scripts have; each has
//! help (`every_option_is_documented`). Free: words of help.
//!
//! Tests by part: `every_option_is_documented` (all options, beside docs/guide/live.md).
//! `completions`, `write_man`, `seconds` and `octal` have no test of their own;
//! xtask/src/gives/dist.rs runs the first two.
//!
//! Callers: main.rs.
//!
//! Tests: below

use crate::follow::Follow;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::io;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  sudo scx_wakeplace                                  place all tasks until Ctrl-C
  sudo scx_wakeplace --stats 1                        ... and say every second how it goes
  sudo scx_wakeplace --policy linux-7.3-energy-aware  another policy
  sudo scx_wakeplace --platform hikey960              capacities and energy model from a file
  sudo scx_wakeplace --follow source                  save power while on battery
  sudo scx_wakeplace set mode=powersave               change the one that runs
  sudo scx_wakeplace status                           what it is doing
  scx_wakeplace --help-stats                          what the statistics mean

`wakeplace doctor` says what a machine lacks for it.";

/// Places every task of this machine by the wakeplace policy core, as a sched_ext scheduler.
///
/// Ctrl-C, a failure or the end of this program gives the machine back to the kernel's own
/// scheduler.
#[derive(Debug, Parser)]
#[command(name = "scx_wakeplace", version, before_long_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Control socket.
    #[arg(long, global = true, value_name = "PATH")]
    #[arg(default_value = "/run/scx_wakeplace/control.sock")]
    pub(crate) socket: PathBuf,
}

/// Options of the scheduler itself.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Policy: ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...] (`wakeplace policy list`).
    #[arg(long, value_name = "NAME", default_value = "wakeplace")]
    pub(crate) policy: String,
    /// What to favour.
    #[arg(long, value_enum, default_value_t = ModeArg::Auto)]
    pub(crate) mode: ModeArg,
    /// Capacities and energy model: `auto` (what the kernel states), or a platform file or name.
    #[arg(long, value_name = "FILE|auto", default_value = "auto")]
    pub(crate) platform: String,
    /// A parameter of the policy, as often as needed.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Change power-policy with the machine: by its source of power, or by the platform profile
    /// that a desktop sets. The files are read once a second.
    #[arg(long, value_enum, value_name = "source|profile")]
    pub(crate) follow: Option<Follow>,
    /// Print statistics every SEC seconds while scheduling.
    #[arg(long, value_name = "SEC", value_parser = seconds)]
    pub(crate) stats: Option<f64>,
    /// Only watch a scheduler that runs already, every SEC seconds.
    #[arg(long, value_name = "SEC", value_parser = seconds)]
    #[arg(conflicts_with_all = ["stats", "policy", "platform", "set", "mode", "follow"])]
    pub(crate) monitor: Option<f64>,
    /// Say what each statistic means, and end.
    #[arg(long)]
    pub(crate) help_stats: bool,
    /// Say more: what the verifier processed (twice: libbpf's own messages).
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Permissions of the control socket, octal.
    #[arg(long, value_name = "MODE", default_value = "0600", value_parser = octal)]
    pub(crate) socket_mode: u32,
    /// Group of the control socket.
    #[arg(long, value_name = "GROUP")]
    pub(crate) socket_group: Option<String>,
}

/// What to do with the scheduler that runs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Change it while it runs: mode=…, policy=…, or any parameter of the policy.
    Set {
        /// What to change.
        #[arg(required = true, value_name = "KEY=VALUE")]
        changes: Vec<String>,
    },
    /// What it is doing.
    Status {
        /// How to print it.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Print what a shell reads to complete this program's words.
    Completions {
        /// bash, elvish, fish, powershell or zsh.
        #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
        shell: Shell,
    },
    /// Write the pages of the manual into a folder.
    #[command(hide = true)]
    Man {
        /// It must exist.
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

/// What a shell reads to complete this program's words.
pub(crate) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "scx_wakeplace", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes a page of the manual for the program and for each command. A page has its examples at the
/// end, where `--help` has them first.
pub(crate) fn write_man(folder: &Path) -> io::Result<()> {
    clap_mangen::generate_to(Cli::command().after_long_help(EXAMPLES), folder)
}

/// Output of `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One object.
    Json,
    /// OpenMetrics, which Prometheus scrapes.
    Openmetrics,
    /// Text format of Prometheus, which the node exporter reads from files.
    Prometheus,
}

/// `--mode`, with the names of the policy's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Speed; energy where a model says what it costs.
    Auto,
    /// Speed alone: highest frequencies, no energy-aware placement.
    Performance,
    /// Energy where tasks keep CPUs of their own.
    #[value(alias = "balance")]
    Balanced,
    /// Energy alone: CPUs run fuller and slower, others stay idle.
    Powersave,
}

/// A time of 10 ms to a day.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s.is_finite() && (0.01..=86_400.0).contains(&s) => Ok(s),
        _ => Err("expected seconds from 0.01 to 86400".to_owned()),
    }
}

/// Permissions of the control socket.
fn octal(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("expected octal permissions, as 0660".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;
    use std::path::Path;

    /// Goal: no option that only this file knows of.
    #[test]
    fn every_option_is_documented() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/live.md");
        let page = std::fs::read_to_string(path).expect("a page");
        let mut command = Cli::command();
        let help = command.render_long_help().to_string();
        for option in command.get_arguments().filter_map(|arg| arg.get_long()) {
            if !["help", "version"].contains(&option) {
                assert!(
                    page.contains(&format!("--{option}")),
                    "docs/guide/live.md lacks --{option}"
                );
            }
        }
        assert!(help.contains("--follow <source|profile>"), "{help}");
    }
}

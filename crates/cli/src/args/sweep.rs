//! Options of `sweep` (docs/guide/results.md, "Sweeps").
//!
//! What must stay: names and defaults of options. What is varied is a text here;
//! `wakeplace_study::Axis` reads it. A seed of a design needs a design. Free: help texts and their
//! order. Tests by part: crates/cli/tests/all/sweeps.rs::`a_key_is_varied_once` (`vary`, `file`,
//! `metric`), sweeps.rs::`no_run_counts_twice` (`latin_hypercube`),
//! sweeps.rs::`a_killed_sweep_goes_on` (`store`, `export`),
//! sweeps.rs::`points_have_changes_from_a_base` (`base`),
//! sweeps.rs::`the_smallest_that_holds_is_chosen` (`choose`). No test of its own: `design_seed`.
//!
//! Tests: crates/cli/tests/all/sweeps.rs

use super::asked::Sweep;
use super::values;
use super::{Asked, GateArgs, HowArgs, OutputArgs};
use clap::Args;
use std::path::PathBuf;

/// `sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) ask: Asked<Sweep>,
    /// A file in the language of studies with a table `vary` (studies/README.md)
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: Option<String>,
    /// What is varied, as runnable_boost_pct=0..100:3; repeatable
    ///
    /// KEY=FROM..TO:STEPS or KEY=A,B,C. KEY is an option that takes one value and says what is
    /// run, as `platform`, `policy` or `duration`, `workload.KEY` (of a model), `platform.PATH` (a
    /// value of the platform's file, as `platform.kernel.tick_hz` or
    /// `platform.cluster.big.cores.0.capacity`), `task.NAME.util_min` and `util_max` (of a task of
    /// an rt-app file), `model.KEY`, or a parameter of the policies.
    /// Every value runs with every other; equal points are one. Values with commas go into a
    /// file.
    #[arg(
        long,
        value_name = "KEY=VALUES",
        help_heading = "Sweep",
        display_order = 12
    )]
    pub(crate) vary: Vec<String>,
    /// So many points, drawn so that each axis is covered evenly, instead of a grid
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "POINTS",
        value_parser = values::points,
        hide_short_help = true,
        help_heading = "Sweep",
        display_order = 13
    )]
    pub(crate) latin_hypercube: Option<usize>,
    /// Seed of that draw
    #[arg(
        long,
        allow_hyphen_values = true,
        value_name = "N",
        value_parser = wakeplace_study::parse_seed,
        default_value_t = 1,
        requires = "latin_hypercube",
        hide_short_help = true,
        help_heading = "Sweep",
        display_order = 14
    )]
    pub(crate) design_seed: u64,
    /// Keep the runs in this file, and go on with what it lacks
    ///
    /// One SQLite file. Runs are committed every half second; after a kill no committed run is made
    /// again. Several processes of one machine may work on one store. Of a grid, values may be
    /// added to what is varied and dropped from it: what is there is not run again.
    #[arg(long, value_name = "FILE", help_heading = "Sweep", display_order = 16)]
    pub(crate) store: Option<PathBuf>,
    /// Write all runs, one row per run, to a .parquet or .csv file
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 23
    )]
    pub(crate) export: Option<PathBuf>,
    /// A metric of the table; repeatable [default: the first that runs have]
    #[arg(
        long,
        value_name = "NAME",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) metric: Vec<String>,
    /// Compare all points with the one that has this value; repeatable
    ///
    /// KEY is varied, or `policy`, `workload` or `platform`. Keys that are not named stay the
    /// point's own. Without this the base is the first of several policies. Else it has the
    /// policy's own value of each parameter that is varied. If that value is not among those
    /// varied, it has the first.
    #[arg(
        long,
        value_name = "KEY=VALUE",
        hide_short_help = true,
        help_heading = "Sweep",
        display_order = 15
    )]
    pub(crate) base: Vec<String>,
    /// Choose the point with the best of this metric, or the least of this varied key
    ///
    /// Among the points that hold all conditions of `--expect`, for each machine and load; with
    /// `--strict` values hold in each run. The exit code is 1 if some machine and load has no such
    /// point. Points that fail their checks alone do not make it 1. A warning names a condition on
    /// missed frames that the chosen point holds by too few frames to be sure of it.
    #[arg(
        long,
        value_name = "NAME",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) choose: Option<String>,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
    /// Also write a page for a browser, as `wakeplace report` makes
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 23
    )]
    pub(crate) export_html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

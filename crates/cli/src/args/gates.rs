//! Conditions that a result is judged by (docs/guide/results.md, "Gates").
//!
//! What must stay: names of options: CI systems have them. `--strict` and `--export-junit` need a
//! condition. Conditions are texts here; `expect.rs` reads them. Tests by part:
//! crates/cli/tests/all/results.rs::`expectations_decide_the_exit_code` (`--expect`),
//! results.rs::`expectations_of_changes_are_told_or_not` (`--strict`),
//! results.rs::`two_results_are_compared` (`--export-junit`),
//! crates/cli/tests/all/gates.rs (studies and sweeps),
//! crates/cli/tests/all/review.rs::`a_review_is_a_gate` (reviews).
//!
//! Tests: crates/cli/tests/all/results.rs, crates/cli/tests/all/gates.rs

use clap::Args;
use std::path::PathBuf;

/// Of `compare`, `sim`, `diff`, `review`, `study run` and `sweep`.
#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Check a value or a change, as 'cpu_energy_j<=+3%'
    ///
    /// Repeatable: [POLICY ]METRIC OP LIMIT. Without POLICY every policy is meant. A LIMIT such as
    /// 5 is compared with the mean over the seeds. A LIMIT such as +3% or `base` is compared with
    /// the change from the first policy; in `diff`, from the earlier result; in a study, from the
    /// first column of each case; in a sweep, from the base of each point. The change holds
    /// or fails if all of its 95 % interval does. Else it is not told. Operators: <= < >= >, and ==
    /// for values. If a check fails, the exit code is 1. The result is written all the same.
    #[arg(
        long,
        value_name = "CONDITION",
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) expect: Vec<String>,
    /// A change that is not told from chance fails its check
    #[arg(
        long,
        requires = "expect",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) strict: bool,
    /// Also write the checks as a JUnit file, which CI systems show
    #[arg(
        long,
        alias = "junit",
        value_name = "FILE",
        requires = "expect",
        hide_short_help = true,
        help_heading = "Output",
        display_order = 22
    )]
    pub(crate) export_junit: Option<PathBuf>,
}

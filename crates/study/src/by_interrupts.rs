//! A study for tests whose columns differ in one time only. It is compiled for tests alone.
//!
//! What must stay: columns differ in `model.ipi_ns` alone, and the latency of a column is that time
//! and a rest that is the same in all: the tests compute shares and ratios from it. Tests by part:
//! promise/tests.rs::`what_is_kept_is_a_share_of_the_best_gain` and
//! tradeoff/tests.rs::`who_is_quicker_for_the_same_energy_beats_ours` (`study`).
//!
//! Tests: crates/study/src/promise/tests.rs, crates/study/src/tradeoff/tests.rs

use crate::Study;

/// Columns of a name and the time until an interrupt of another CPU is taken, ns: two tasks on two
/// CPUs wake each other, and their latency is that time and 2 us (a wake-up's own and the way out
/// of idle), or so. `judged` is the table that is tried; `more` continues the table of the case.
pub(crate) fn study(columns: &[(&str, u32)], judged: &str, more: &str) -> Study {
    let column = |(name, ipi_ns): &(&str, u32)| {
        format!(
            r#"
[[column]]
name = "{name}"
policy = "linux-4.17"
set = ["model.ipi_ns={ipi_ns}"]"#
        )
    };
    let columns: String = columns.iter().map(column).collect();
    let text = format!(
        r#"
title = "What an interrupt costs"
source = "arithmetic"
platform = "tc2"
duration = "50ms"
seeds = 3
[quick]
seeds = 3
{columns}
[[metric]]
name = "wake_latency_us_p50"
{judged}
[[from]]
study = "sis-short/context-switch-spr"
cases = ["pairs=56"]
workload = "pairs=1,warmup=0s"
duration = "50ms"
set = ["model.publish_ns=0", "model.idle_latency_us=off"]
{more}
"#
    );
    Study::from_toml(&text, "family/one/study.toml").unwrap_or_else(|e| panic!("{e}"))
}

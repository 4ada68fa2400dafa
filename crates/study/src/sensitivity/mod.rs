//! Whether conclusions depend on what nobody published: each assumed cost is halved and doubled.
//!
//! What must stay: one cost at a time, at half and at double, with the same seeds as the plain runs
//! (studies/README.md); `plan` says which runs, `costs` and `arguments` what changes, `judge` what
//! it means. Tests by part:
//! judge/tests.rs::`a_conclusion_that_one_assumed_time_makes_is_not_robust` (the four together),
//! judge/tests.rs::`a_cost_that_no_run_uses_is_told` (`costs`),
//! judge/tests.rs::`it_is_run_where_the_study_says_so_or_on_demand` (`plan`),
//! `numbers_times_shares_and_ranges_change` (`arguments`).
//!
//! Tests: crates/study/src/sensitivity/judge/tests.rs, crates/study/src/sensitivity/arguments.rs

mod arguments;
mod costs;
mod judge;
mod plan;

pub(crate) use arguments::{arguments, value as argument};
pub(crate) use costs::{changed_workload, cost_names};
pub(crate) use judge::sensitivity;

pub(crate) use plan::{Tried, tried};

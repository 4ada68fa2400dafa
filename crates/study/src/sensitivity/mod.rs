//! Whether conclusions depend on what nobody published: each assumed cost is halved and doubled.
//!
//! What must stay: one cost at a time, at half and at double, with the same seeds as the plain runs
//! (studies/README.md); `plan` says which runs, `costs` and `arguments` what changes, `judge` what
//! it means.
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

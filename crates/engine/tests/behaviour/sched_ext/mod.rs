//! A sched_ext scheduler in the machine (docs/rules/sched-ext.md).
//!
//! What must stay: a new file is named here. `simple` and `wild` are schedulers for the tests of
//! the others.

mod clocks;
mod errors;
mod explained;
mod release;
mod rules;
mod simple;
mod storms;
mod wild;

//! A sched_ext scheduler in the machine (docs/rules/sched-ext.md).

mod errors;
mod explained;
mod rules;
mod simple;
mod storms;
mod wild;

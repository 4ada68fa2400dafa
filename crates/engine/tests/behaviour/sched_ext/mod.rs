//! A sched_ext scheduler in the machine (docs/rules/sched-ext.md).

mod clocks;
mod errors;
mod explained;
mod release;
mod rules;
mod simple;
mod storms;
mod wild;

//! Scripts of tasks: their steps, carried out one after the other (`steps`), what tasks share
//! (`sync`), what they are measured by (`measure`), and how they begin (`start`). What has to do
//! with scheduling is a call to the kernel, as a task's system calls are (docs/guide/rt-app.md).
//!
//! What must stay: scripts know no scheduler: they call `Kernel`, and a step is carried out by one
//! file. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: storm.rs::`random_steps_obey_the_rules` (all steps together); each module names
//! its own.
//!
//! Tests: crates/engine/tests/behaviour/storm.rs, beside its modules

pub(super) mod measure;
pub(super) mod progress;
pub(super) mod start;
mod steps;
pub(super) mod sync;
mod timers;

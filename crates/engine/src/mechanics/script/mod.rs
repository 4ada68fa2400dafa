//! Scripts of tasks: their steps, carried out one after the other (`steps`), what tasks share
//! (`sync`), what they are measured by (`measure`), and how they begin (`start`). What has to do
//! with scheduling is a call to the kernel, as a task's system calls are.

pub(super) mod measure;
pub(super) mod progress;
pub(super) mod start;
mod steps;
pub(super) mod sync;
mod timers;

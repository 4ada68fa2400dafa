//! Results as plain types, each written once. JSON is written from them and read back into them;
//! pages and tables show them, and docs/result.schema.json is made of them ([`schema`]).
//!
//! What results of older versions lack is empty when it is read. Keys stand in JSON in the order of
//! the fields. A figure that is not finite is null in JSON.
//!
//! What must stay: both version numbers, until a key changes its meaning or goes away; results of
//! earlier versions are read. No type is written twice. Tests by part:
//! crates/report/src/html/tests.rs::`results_of_version_1_are_read` (older results),
//! crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says` (what is written is read back
//! as it is).
//!
//! Tests: crates/report/tests/old, crates/cli/tests/all/schema.rs, beside its modules

mod check;
mod comparison;
mod decision;
mod details;
mod evaluation;
mod forms;
mod kernel_diff;
mod review;
mod schema;
mod sensitivity;
mod states;
mod study;
mod sweep;
mod timeline;
mod why;

pub use check::{Check, verdict};
pub use comparison::{
    Comparison, Comparisons, Delta, Exit, Line, LineUse, Lines, LongestWait, Metric, Run, SchedExt,
    SeedRun, Verdict,
};
pub use decision::{
    CallbackSteps, Candidate, Decision, Other, Party, SchedulerDecision, SchedulerStep,
    SchedulerWakeup, Task, TreeCandidate, TreeDecision, TreeEnergy, TreeTask, TreeWakeup, Wakeup,
    WhyNot,
};
pub use details::{
    BusyTime, Details, DroppedBehind, Energy, Frequencies, LateFrames, LateTask, MOST_TASKS,
    Residency, TaskGroup, TaskPeriods,
};
pub use evaluation::{
    BadWakeup, Both, Contender, EvaluatedCell, EvaluatedFigure, Evaluation, Failed, FailureKind,
    GoalPart, WaitOfCell,
};
pub use forms::{Difference, Method, Multiplicity, Pairs, Param, hash, hashes, ranges};
pub use kernel_diff::{DiffKind, KernelDiff, SignalDiff, SignalFigure, SignalKind};
pub use review::{
    Claim, ClaimPlace, ClusterEnergies, Holds, PartedSide, PartedWakeup, Parting, Review, ReviewRow,
};
pub use schema::schema;
pub use sensitivity::{Assumed, Conclusion, Cost, Except, Tried};
pub use states::{CpuState, DomainState, GroupState, SchedMcState, State};
pub use study::{
    Beaten, Case, CaseProfile, Column, Figure, Kept, Loss, Mean, Promise, PromiseRow,
    PublishedSpread, Row, Studies, Study, Tradeoff, Worth,
};
pub use sweep::{ChosenFigure, ChosenPoint, PointRuns, Sweep, SweepChoice};
pub use timeline::{Span, Timeline};
pub use why::{EnergySplit, GroupChange, TaskMove, Why};

/// Version of the results of `compare`, `sim` and `study run`; 2 since they carry their runs.
pub const RESULT_SCHEMA_VERSION: u64 = 2;

/// Version of the JSON objects beside results; raised when a key changes its meaning or goes away.
pub const SCHEMA_VERSION: u64 = 1;

//! What ran where in a part of a run (`--timeline`; docs/guide/report.md, "In the JSON").
//!
//! Made by `crates/metrics/src/timeline.rs`, drawn by `crates/report/src/html/timeline.rs`. Times
//! are ns from the begin of the run.
//!
//! What must stay: keys and places in lists: a list's name gives the order of its places. Entries
//! are in the order of their begin. `until_ns` says how far the timeline is complete. Tests by
//! part: crates/metrics/src/timeline.rs::`spans_are_clipped_to_the_window` (all lists but
//! placements), crates/cli/tests/all/report.rs::`what_the_page_is_made_of_is_in_the_json` (keys of
//! a real run), crates/report/src/html/tests.rs::`results_of_version_1_are_read` (older timelines).
//!
//! Tests: crates/metrics/src/timeline.rs,
//! crates/cli/tests/all/report.rs::what_the_page_is_made_of_is_in_the_json

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A window of one run, for drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// Begin of what was asked for.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// How far it is complete: less than the window if the run ended or there was too much.
    pub until_ns: u64,
    /// Number of CPUs.
    pub cpus: u32,
    /// Of each cluster, or kind where a cluster holds several: name and CPUs.
    #[serde(default)]
    pub clusters: Vec<(String, String)>,
    /// CPUs of each frequency domain.
    #[serde(default)]
    pub domains: Vec<String>,
    /// Names of the idle states.
    #[serde(default)]
    pub idle_states: Vec<String>,
    /// Number and name of each task that ran or was placed.
    #[serde(default)]
    pub tasks: Vec<(u32, String)>,
    /// Tasks that ran.
    #[serde(default)]
    pub cpu_task_from_to_ns: Vec<Span>,
    /// Idle states that CPUs were in, by their place in `idle_states`.
    #[serde(default)]
    pub cpu_idle_state_from_to_ns: Vec<Span>,
    /// Frequencies, by the domain's place; each domain has one at the begin.
    #[serde(default)]
    pub domain_at_ns_khz: Vec<(u32, u64, u32)>,
    /// Why CPUs were chosen.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Placements: when, which task, where it was, where it goes, why (its place in `reasons`),
    /// and 1 for a new task or one that runs another program.
    #[serde(default)]
    pub at_ns_task_prev_cpu_reason_new: Vec<(u64, u32, u32, u32, u32, u8)>,
    /// Changes of the overutilized flag; the first is its state at the begin.
    #[serde(default)]
    pub overutilized_at_ns_on: Vec<(u64, u8)>,
    /// There was too much; of a result that is read nobody knows.
    #[serde(skip)]
    pub is_cut: bool,
}

/// A CPU, what takes time on it, begin and end.
pub type Span = (u32, u32, u64, u64);

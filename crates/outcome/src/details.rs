//! What runs spent time and energy on: means over the seeds. Long lists are lists of lists:
//! docs/guide/report.md says what stands in which place. A key that is there stays; a list's places
//! are docs/guide/report.md's.
//!
//! Made by `crates/metrics/src/profile.rs`, read by pages. Times are ns, shares percent, energies
//! in the named unit.
//!
//! What must stay: keys, and the places in lists; only docs/guide/report.md says what a place is.
//! Clusters and clocks are in the platform's order. `busy_pct`, `transition_pct` and `idle_pct` add
//! to 100. Tests by part: crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says` (all
//! keys, read back), crates/cli/tests/all/report.rs::`what_the_page_is_made_of_is_in_the_json`
//! (`Energy`, `Residency`, `Frequencies`), report.rs::`kinds_of_cpu_within_a_cluster_add_up`
//! (`kinds`, `name`), crates/metrics/src/profile.rs::`shares_by_hand` (`BusyTime`),
//! crates/metrics/src/where_ran.rs::`the_longest_stand_first` (`TaskGroup`),
//! crates/cli/tests/all/late_frames.rs::`late_frames_say_which_task_took_the_time` (`LateFrames`,
//! `LateTask`), late_frames.rs::`dropped_frames_say_who_was_busy` (`DroppedBehind`).
//!
//! Tests: crates/cli/tests/all/schema.rs::results_are_what_the_schema_says,
//! crates/cli/tests/all/report.rs,
//! crates/cli/tests/all/late_frames.rs::late_frames_say_which_task_took_the_time,
//! crates/metrics/src/profile.rs::shares_by_hand, crates/metrics/src/where_ran.rs,
//! crates/cli/tests/all/late_frames.rs::dropped_frames_say_who_was_busy,
//! crates/report/src/comparison/tests.rs::compare_has_the_shape_of_the_contract

use crate::Pairs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the runs of one policy did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Details {
    /// Mean energy; null on a platform without power figures.
    pub energy: Option<Energy>,
    /// Per cluster, in the platform's order.
    pub residency: Vec<Residency>,
    /// Per frequency domain, in the platform's order.
    pub frequencies: Vec<Frequencies>,
    /// Wake-up latencies of all runs: up to how many ns, and how many; four buckets per doubling.
    pub wake_latency_up_to_ns_count: Vec<(u64, u64)>,
    /// Placements by reason, mean of the runs, in the order of the reasons.
    pub placements_per_run: Pairs<f64>,
    /// Per kind of CPU, where a cluster holds several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Residency>,
    /// Tasks, threads of one name together, mean of the runs; empty if none has periods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub task_threads_run_s_periods_missed: Vec<TaskPeriods>,
    /// What late and dropped frames took their time for, per chain; empty if there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub late_frames: Vec<LateFrames>,
    /// How long tasks ran on each cluster, or kind of CPU where a cluster holds several: of the 64
    /// that ran longest, the longest first.
    pub task_group_run_s: Vec<TaskGroup>,
}

/// Most tasks of `task_group_run_s`.
pub const MOST_TASKS: usize = 64;

/// A task (threads of one name together), a cluster or kind, and the time that it ran there in s,
/// mean of the runs.
pub type TaskGroup = (String, String, f64);

/// A task: its name, threads, the time they ran in s, their periods, and those that were missed. A
/// task without periods has none.
pub type TaskPeriods = (String, f64, f64, Option<f64>, Option<f64>);

/// Mean energy of a run, in the unit of power x s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Energy {
    /// `J` or `bogo·s`.
    pub unit: String,
    /// The board's constant power; null if the platform has no such figure.
    #[serde(default)]
    pub board: Option<f64>,
    /// CPUs and clusters: cluster, state, energy, time in s (of CPU states summed over the CPUs).
    #[serde(default)]
    pub cluster_state_energy_s: Vec<(String, String, f64, f64)>,
    /// By CPU, without what clusters draw. Empty on machines of more than 64 CPUs.
    #[serde(default)]
    pub cpu_busy_idle_transition: Vec<(f64, f64, f64)>,
    /// What the board drew more while CPUs worked; absent if the platform has no such figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<f64>,
}

/// What the CPUs of a cluster or kind spent their time on; `busy_pct`, `transition_pct` and
/// `idle_pct` add to 100.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Residency {
    /// Name of the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Name of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Number of CPUs.
    #[serde(default)]
    pub cpus: usize,
    /// Busy.
    pub busy_pct: f64,
    /// On the way into or out of idle states.
    #[serde(default)]
    pub transition_pct: f64,
    /// In idle states of CPUs.
    #[serde(default)]
    pub idle_pct: Pairs<f64>,
    /// The cluster itself in its states, of the runs' time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_idle_pct: Option<Pairs<f64>>,
    /// What its CPUs did while they were busy; null in results of before.
    #[serde(default)]
    #[schemars(with = "BusyTime")]
    pub busy: Option<BusyTime>,
}

/// The busy time of a cluster's or kind's CPUs, mean of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BusyTime {
    /// Busy time summed over the CPUs, s.
    pub s: f64,
    /// Mean clock of it, kHz; null: there is none.
    pub khz_mean: Option<f64>,
    /// What CPUs drew in it, in the unit of `energy`; null: no powers are known.
    pub energy: Option<f64>,
}

impl Residency {
    /// Of the cluster or the kind.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.cluster.as_deref().or(self.kind.as_deref());
        name.unwrap_or_default()
    }

    /// The cluster's states; of a kind there are none.
    pub fn cluster_idle(&self) -> impl Iterator<Item = &(String, f64)> {
        self.cluster_idle_pct.iter().flat_map(|all| all.iter())
    }
}

/// What a frequency domain was set to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frequencies {
    /// Its CPUs, as `0-3,8`.
    pub cpus: String,
    /// Its operating points, ascending: frequency, share of the time that the domain was set to
    /// it, share of the CPUs' time that they were busy at it.
    #[serde(default)]
    pub khz_time_busy_pct: Vec<(u64, f64, f64)>,
}

/// A chain's late and dropped frames, mean of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LateFrames {
    /// Name of the chain.
    pub chain: String,
    /// Frames that count.
    pub frames_per_run: f64,
    /// Those of them that were done after their deadline; in earlier results dropped ones, too.
    pub late_per_run: f64,
    /// The time of late ones, s.
    pub late_s_per_run: f64,
    /// Tasks that ran or waited in it, the one that did so longest first.
    pub tasks: Vec<LateTask>,
    /// Frames that were never done.
    #[serde(default)]
    pub dropped_per_run: f64,
    /// Those of them that were still under way when the run ended.
    #[serde(default)]
    pub unfinished_per_run: f64,
    /// Who was still at work on an earlier frame when one was dropped, most frames first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped_behind: Vec<DroppedBehind>,
}

/// Dropped frames that were to be handed on while a task was still at work on an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedBehind {
    /// Its name.
    pub task: String,
    /// How many frames before the dropped one that frame was; 1: the one before.
    pub frames_before: u32,
    /// Frames that were dropped so.
    pub dropped_per_run: f64,
}

/// What a task did in the time of late frames; shares are of that time. Threads of one name are
/// added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LateTask {
    /// Its name.
    pub task: String,
    /// It ran for the frame or for one before.
    pub running_pct: f64,
    /// It could have run, and did not.
    pub waiting_pct: f64,
    /// The rest: it slept, or did something else.
    pub asleep_pct: f64,
    /// Cluster or kind of CPU on which it ran most; null if it did not run.
    pub running_on: Option<String>,
    /// Mean clock while it ran.
    pub running_khz_mean: Option<f64>,
    /// The task that ran most while it waited; null if nobody ran there.
    pub waiting_behind: Option<String>,
}

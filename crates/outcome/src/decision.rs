//! What `explain` gives: one decision, of a policy of the core (`Decision`), of a sched_ext
//! scheduler (`SchedulerDecision`) or of a kernel's own tree (`TreeDecision`) (docs/decisions/034).
//!
//! Made by `crates/study`, shown by `crates/cli/src/commands/explain`. Times are ns, capacities and
//! utilisation 1024 for the biggest CPU.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of a type
//! also changes docs/result.schema.json. Numbers of queues are texts, since JSON's readers lose
//! digits. `dropped` is null for the chosen CPU alone. Tests by part:
//! crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says` (`Decision`, read back),
//! crates/cli/tests/all/explain.rs::`the_object_has_what_the_contract_says` (`Wakeup`, `Candidate`,
//! `Other`), explain.rs::`why_not_comes_first` (`WhyNot`),
//! crates/cli/tests/all/schedulers.rs::`explain_says_what_callbacks_did` (`SchedulerDecision`),
//! crates/cli/tests/all/kernel_runs.rs::`a_decision_is_explained_by_the_trees_own_figures`
//! (`TreeDecision`).
//!
//! Tests: crates/cli/tests/all/schema.rs::results_are_what_the_schema_says,
//! crates/cli/tests/all/explain.rs,
//! crates/cli/tests/all/schedulers.rs::explain_says_what_callbacks_did,
//! crates/cli/tests/all/kernel_runs.rs

use crate::Pairs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A decision of a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Version of the form of this object.
    #[serde(default)]
    #[schemars(extend("const" = crate::SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Name of the platform.
    #[serde(default)]
    pub platform: String,
    /// The workload as typed.
    #[serde(default)]
    pub workload: String,
    /// The policy as typed.
    pub policy: String,
    /// Parameters changed from what the name gives.
    #[serde(default)]
    pub set: Pairs,
    /// The run's seed.
    #[serde(default)]
    pub seed: u64,
    /// What was asked of the policy.
    pub wakeup: Wakeup,
    /// The rule that decided.
    pub rule: String,
    /// The same in words.
    #[serde(default)]
    pub rule_doc: String,
    /// The reason in words.
    #[serde(default)]
    pub reason_doc: String,
    /// Why this CPU.
    pub reason: String,
    /// The CPU that was chosen.
    pub cpu: u32,
    /// An idle CPU was searched around this one.
    #[serde(default)]
    pub target: Option<u32>,
    /// CPUs that the search looked at.
    #[serde(default)]
    pub scanned: u32,
    /// Why the energy-aware rule did not decide; null: it was asked.
    #[serde(default)]
    pub energy_aware: Option<String>,
    /// Why the energy-aware rule is off, if it is.
    #[serde(default)]
    pub energy_aware_off: Option<String>,
    /// Unit of the candidates' `energy`; `cost`: it has none, since the energy model has costs and
    /// no powers; null: nothing was estimated.
    #[serde(default)]
    pub energy_unit: Option<String>,
    /// All CPUs of the machine.
    #[serde(default)]
    pub candidates: Vec<Candidate>,
    /// What other policies answer on the same state.
    #[serde(default)]
    pub others: Vec<Other>,
    /// The answer to `--why-not`.
    #[serde(default)]
    pub why_not: Option<WhyNot>,
}

/// A wake-up or the start of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wakeup {
    /// `wake`, `fork` or `exec`.
    pub kind: String,
    /// The n-th of its task, from 1; 0: its fork.
    pub number: u64,
    /// It was asked for as the run's wake-up of this number, from 1.
    #[serde(default)]
    pub number_in_run: Option<u64>,
    /// When.
    pub time_ns: u64,
    /// The task that is placed.
    pub task: Task,
    /// The task that ran where it was decided; null: none did.
    #[serde(default)]
    pub waker: Option<Party>,
    /// It was decided in an interrupt.
    #[serde(default)]
    pub interrupt: bool,
    /// Where it was decided.
    pub waker_cpu: u32,
    /// The waker is about to sleep.
    #[serde(default)]
    pub sync: bool,
    /// Where the task was before.
    pub prev_cpu: u32,
}

/// The task that is placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// What is known of every task.
    #[serde(flatten)]
    pub party: Party,
    /// It is one that runs for a short time; null: no rule asks.
    #[serde(default)]
    pub short: Option<bool>,
    /// The length of a run where that ends.
    #[serde(default)]
    pub short_limit_ns: Option<u64>,
}

/// A task, before the decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Party {
    /// Its thread's name.
    pub name: String,
    /// The CPU that it was on.
    #[serde(default)]
    pub cpu: u32,
    /// Its utilisation.
    pub util_avg: u64,
    /// The estimate of it.
    pub util_est: u64,
    /// Its runnable signal, time that it runs or waits; null: the policy keeps none.
    #[serde(default)]
    pub runnable_avg: Option<u64>,
    /// Its load.
    #[serde(default)]
    pub load_avg: u64,
    /// Of its nice value.
    #[serde(default)]
    pub weight: u64,
    /// The least utilisation that it counts for.
    #[serde(default)]
    pub uclamp_min: u64,
    /// The most.
    #[serde(default)]
    pub uclamp_max: u64,
    /// How long it runs, on average.
    #[serde(default)]
    pub dur_avg_ns: u64,
    /// How often it woke another task than before.
    #[serde(default)]
    pub wakee_flips: u64,
    /// CPUs that it may use.
    #[serde(default)]
    pub allowed_cpus: Vec<u32>,
}

/// A CPU as the policy saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// Its number.
    pub cpu: u32,
    /// Its utilisation with the task on it.
    pub util: u32,
    /// Capacity left for fair tasks.
    pub capacity: u32,
    /// Capacity less that utilisation.
    pub spare: u32,
    /// The runnable signal of its queue as it stands, time that tasks run or wait; null: the policy
    /// keeps none.
    pub runnable: Option<u32>,
    /// The idle state that it is in.
    pub idle_state: Option<String>,
    /// The clock that the rule's estimate took for its performance domain with the task there, kHz.
    pub clock_khz: Option<u32>,
    /// What the rule estimated for the task there.
    pub energy: Option<f64>,
    /// The task fits.
    pub fits: bool,
    /// It fits but for its `uclamp_min`.
    #[serde(default)]
    pub fits_but_for_hint: bool,
    /// Looked at as the n-th CPU, from 1.
    pub order: Option<u32>,
    /// Why it was not chosen.
    pub dropped: Option<String>,
}

/// What another policy would have answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Other {
    /// Its name.
    pub policy: String,
    /// The CPU that it chooses.
    pub cpu: u32,
    /// The rule that decides.
    pub rule: String,
    /// Why this CPU.
    pub reason: String,
    /// Its signals are those of the policy that ran; absent beside a tree's decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_signals: Option<bool>,
}

/// Why a CPU was not chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WhyNot {
    /// The CPU.
    pub cpu: u32,
    /// A sentence.
    pub answer: String,
}

/// A wake-up under a sched_ext scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerDecision {
    /// Version of the form of this object.
    #[schemars(extend("const" = crate::SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Name of the platform.
    pub platform: String,
    /// The workload as typed.
    pub workload: String,
    /// The scheduler as typed.
    pub scheduler: String,
    /// The kernel that it is offered.
    pub kernel: Option<String>,
    /// The run's seed.
    pub seed: u64,
    /// What was asked of the scheduler.
    pub wakeup: SchedulerWakeup,
    /// The CPU that was chosen.
    pub cpu: u32,
    /// When the task began to run; null: the run ended before.
    pub start_ns: Option<u64>,
    /// And where.
    pub start_cpu: Option<u32>,
    /// Its callbacks about the task, and those that did something with it, in their order.
    pub callbacks: Vec<CallbackSteps>,
}

/// A wake-up or the start of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerWakeup {
    /// `wake`, `fork` or `exec`.
    pub kind: String,
    /// The n-th of its task, from 1; 0: its fork.
    pub number: u64,
    /// It was asked for as the run's wake-up of this number, from 1.
    pub number_in_run: Option<u64>,
    /// When the CPU was chosen.
    pub time_ns: u64,
    /// Name of the task.
    pub task: String,
    /// Where it was decided.
    pub waker_cpu: u32,
    /// Where the task was before.
    pub prev_cpu: u32,
}

/// One callback and what it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallbackSteps {
    /// When it ran.
    pub time_ns: u64,
    /// Which.
    pub callback: String,
    /// On which CPU.
    pub cpu: u32,
    /// What it did.
    pub steps: Vec<SchedulerStep>,
}

/// What a callback did. Queues are numbers above what JSON's readers keep exactly: they are texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "step", rename_all = "lowercase")]
#[allow(missing_docs, reason = "names of sched_ext")]
pub enum SchedulerStep {
    /// A callback began.
    Callback {
        callback: String,
        cpu: u32,
        task: Option<String>,
    },
    /// A CPU was named for a task.
    Selected { task: Option<String>, cpu: i32 },
    /// An idle CPU was found.
    Picked { cpu: i32 },
    /// A task was put into a queue.
    Inserted {
        task: Option<String>,
        dsq: String,
        vtime: Option<u64>,
        slice_ns: u64,
    },
    /// A CPU took a task from a queue.
    Taken {
        task: Option<String>,
        dsq: Option<String>,
        cpu: u32,
        by_cpu: u32,
    },
    /// A CPU was kicked.
    Kicked { cpu: i32, flags: u64 },
}

/// A decision of a tree's own code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeDecision {
    /// Version of the form of this object.
    #[schemars(extend("const" = crate::SCHEMA_VERSION))]
    pub schema_version: u64,
    /// Name of the platform.
    pub platform: String,
    /// The workload as typed.
    pub workload: String,
    /// What the tree is.
    pub policy: String,
    /// The run's seed.
    pub seed: u64,
    /// What was asked of it.
    pub wakeup: TreeWakeup,
    /// The CPU that was chosen.
    pub cpu: u32,
    /// Why, as the model of that kernel names it.
    pub reason: String,
    /// The root domain has performance domains and is not overutilized.
    pub energy_aware: bool,
    /// A CPU of the root domain was over its tipping point.
    pub overutilized: bool,
    /// The CPUs that the task may use.
    pub candidates: Vec<TreeCandidate>,
    /// What the tree estimated by performance domain.
    pub energies: Vec<TreeEnergy>,
    /// What policies of the core answer to the same question.
    pub core: Vec<Other>,
}

/// A wake-up or the start of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeWakeup {
    /// `wake`, `fork` or `exec`.
    pub kind: String,
    /// The n-th of its task, from 1; 0: its fork.
    pub number: u64,
    /// It was asked for as the run's wake-up of this number, from 1.
    pub number_in_run: Option<u64>,
    /// When.
    pub time_ns: u64,
    /// The task that is placed.
    pub task: TreeTask,
    /// Who ran where it was decided; null: nobody, or a thread of the kernel.
    pub waker: Option<String>,
    /// It was decided in an interrupt.
    pub interrupt: bool,
    /// Where it was decided.
    pub waker_cpu: u32,
    /// The waker is about to sleep.
    pub sync: bool,
    /// The kernel's own.
    pub flags: u32,
    /// Where the task was before.
    pub prev_cpu: u32,
}

/// A task of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeTask {
    /// Its load.
    pub load_avg: u32,
    /// Of its nice value.
    pub weight: u32,
    /// How often it woke another task than before.
    pub wakee_flips: u32,
    /// It is of SCHED_IDLE.
    pub idle_policy: bool,
    /// How much of the time it could run.
    pub runnable_avg: u32,
    /// Where it ran before.
    pub recent_used_cpu: u32,
    /// Its name.
    pub name: String,
    /// Its utilisation.
    pub util_avg: u32,
    /// The estimate of it.
    pub util_est: u32,
    /// The least utilisation that it counts for.
    pub uclamp_min: u32,
    /// The most.
    pub uclamp_max: u32,
}

/// A CPU as the tree saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeCandidate {
    /// Its number.
    pub cpu: u32,
    /// Utilisation of its fair queue.
    pub util: u32,
    /// The estimate of it.
    pub util_est: u32,
    /// How much can run there.
    pub runnable: u32,
    /// Its load.
    pub load: u32,
    /// What is left for fair tasks.
    pub capacity: u32,
    /// All it has.
    pub capacity_orig: u32,
    /// Tasks that are queued.
    pub nr_running: u32,
    /// A wake-up is on its way to it.
    pub pending: bool,
    /// SCHED_IDLE tasks among those queued.
    pub nr_idle_policy: u32,
    /// Utilisation by RT tasks.
    pub util_rt: u32,
    /// Utilisation by deadline tasks.
    pub util_dl: u32,
    /// Utilisation by interrupts.
    pub util_irq: u32,
    /// Least performance that its queued tasks ask for.
    pub uclamp_min: u32,
    /// The most that they are worth.
    pub uclamp_max: u32,
    /// How many CPUs an idle search around it may look at.
    pub nr_idle_scan: u32,
    /// A core of its cache may be idle.
    pub has_idle_cores: bool,
    /// Its idle task runs.
    pub idle: bool,
    /// The idle state that it is in.
    pub idle_state: Option<String>,
    /// What the first policy of the core says of it; null: that policy chose it.
    pub dropped_by_core: Option<String>,
}

/// What a tree estimated for a performance domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeEnergy {
    /// Its first CPU.
    pub first_cpu: u32,
    /// The allowed CPU with the most capacity left.
    pub best_cpu: Option<u32>,
    /// Energy without the task.
    pub without: u64,
    /// Energy with the task on that CPU.
    pub with: u64,
}

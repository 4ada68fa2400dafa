//! What a study found.

use crate::comparison::Origin;
use crate::direction::{Checked, Direction};
use crate::promise::Promise;
use crate::sensitivity::Sensitivity;
use crate::tradeoff::Tradeoff;
use std::collections::BTreeMap;
use wakeplace_metrics::{Method, Profile, Values};

/// The outcome of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyResult {
    /// Name, `FAMILY/NAME`.
    pub study: String,
    /// One line about it.
    pub title: String,
    /// Name of the study's platform; a case may have its own, see `cases`.
    pub platform: String,
    /// Simulated time per run, ns; a case may have its own.
    pub duration_ns: u64,
    /// Seeds of the plain cases; variants and experiments take the first of them.
    pub seeds: Vec<u64>,
    /// The reduced size was run.
    pub quick: bool,
    /// With the study's own length and settings: else nothing published was measured under them.
    pub as_written: bool,
    /// Settings the study or the caller made, key and value.
    pub settings: Vec<(String, String)>,
    /// All switches of the machine's model in the plain cases, key and value.
    pub options: Vec<(String, String)>,
    /// Workload argument per case token.
    pub workloads: BTreeMap<String, String>,
    /// Names of the platforms of which nobody measured the power that joules are made of
    /// ([`Platform::modelled_power`](wakeplace_platform::Platform::modelled_power)).
    pub modelled: Vec<String>,
    /// The plain cases and the variants that were run, in order.
    pub cases: Vec<CaseInfo>,
    /// What was compared, the base first.
    pub columns: Vec<ColumnInfo>,
    /// The policy that all others are compared with.
    pub base_policy: String,
    /// A difference of less does not matter, percent.
    pub margin_pct: f64,
    /// Metrics in the order of importance.
    pub metrics: Vec<String>,
    /// One row per metric, case and policy that was measured.
    pub rows: Vec<StudyRow>,
    /// What it means, one line per metric.
    pub verdict: String,
    /// What the runs of the plain cases and variants spent time and energy on, in order.
    pub profiles: Vec<CaseProfile>,
    /// How to repeat it; filled in by who ran it.
    pub origin: Origin,
    /// What a reader should know: a sentence each.
    pub notes: Vec<String>,
    /// Where the published figures come from.
    pub sources: Vec<String>,
    /// What becomes of the conclusions at half and double of what is assumed, if it was tried.
    pub sensitivity: Option<Sensitivity>,
    /// What was kept and lost, if the study promises something.
    pub promise: Option<Promise>,
    /// Energy against latency over all cases, if the study asks for it.
    pub tradeoff: Option<Tradeoff>,
}

/// How a case was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseInfo {
    /// Token, as in the rows.
    pub case: String,
    /// Name of the platform.
    pub platform: String,
    /// Workload argument.
    pub workload: String,
    /// Simulated time per run, ns.
    pub duration_ns: u64,
    /// Settings for this case only, key and value.
    pub settings: Vec<(String, String)>,
}

/// What the runs of one case under one policy did.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseProfile {
    /// Token, as in the rows.
    pub case: String,
    /// Name of the column, as `policy` of the rows.
    pub policy: String,
    /// All parameters of the policy in force, key and value.
    pub settings: Vec<(String, String)>,
    /// Seed of each run.
    pub seeds: Vec<u64>,
    /// What was measured in each run.
    pub values: Vec<Values>,
    /// Hash of all that the platform consists of.
    pub platform_hash: String,
    /// Hash of each run's workload, as the machine has it.
    pub workload_hashes: Vec<String>,
    /// No run got stuck.
    pub complete: bool,
    /// When each run was over, ns.
    pub end_ns: Vec<u64>,
    /// Means over the seeds.
    pub profile: Profile,
    /// Hash over all events of each run.
    pub event_hashes: Vec<u64>,
    /// Hash of what happened in each run.
    pub behaviour_hashes: Vec<u64>,
}

/// What stands in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// What it is shown as: `policy` of the rows.
    pub name: String,
    /// The policy's name.
    pub policy: String,
    /// Settings for this column only, key and value.
    pub settings: Vec<(String, String)>,
    /// CPUs that come and go in this column only.
    pub hotplug: Option<String>,
}

/// One metric of one case under one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// Token, the same for all policies.
    pub case: String,
    /// What distinguishes the case; `experiment` names the experiment a row belongs to.
    pub params: BTreeMap<String, Param>,
    /// Metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Policy.
    pub policy: String,
    /// What was published.
    pub published: Option<Published>,
    /// What was simulated.
    pub simulated: Simulated,
    /// A published change without means.
    pub published_change: Option<PublishedChange>,
    /// Published change from the base policy, percent; None on the base policy's rows.
    pub published_delta_pct: Option<f64>,
    /// Simulated change from the base policy, percent; None on the base policy's rows.
    pub simulated_delta_pct: Option<f64>,
    /// 95 % confidence interval of the simulated change, percent; the change itself where every
    /// seed gives the same run.
    pub simulated_delta_ci95: Option<(f64, f64)>,
    /// How that interval was made; None on the base policy's rows.
    pub simulated_delta_method: Option<Method>,
    /// The platform or the workload was calibrated on the published figure: the row is no check.
    pub calibrated: bool,
    /// The conclusion holds at half and double of every assumed cost; None: not tried.
    pub robust: Option<bool>,
}

impl StudyRow {
    /// Name of the experiment the row belongs to; None for cases of the study itself.
    #[must_use]
    pub fn experiment(&self) -> Option<&str> {
        self.params.get(EXPERIMENT).and_then(Param::word)
    }

    /// Name of the variant of a case the row belongs to.
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        self.params.get(VARIANT).and_then(Param::word)
    }

    /// Platform of the row, if it is not the study's.
    #[must_use]
    pub fn platform(&self) -> Option<&str> {
        self.params.get(PLATFORM).and_then(Param::word)
    }

    /// 95 % interval of the simulated change as a comparison has it; None where every seed gives
    /// the same run, so that chance has no part in it.
    #[must_use]
    pub fn chance_ci95(&self) -> Option<(f64, f64)> {
        let same_runs = self.simulated_delta_method == Some(Method::SameRuns);
        self.simulated_delta_ci95.filter(|_| !same_runs)
    }

    /// Whether the simulated change goes the way of the published one; None: no check.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        Direction::of(Checked {
            published_pct: self.published_delta_pct,
            simulated_ci95: self.simulated_delta_ci95,
            calibrated: self.calibrated,
        })
    }

    /// Distance of the simulated from the published mean, percent of the published.
    #[must_use]
    pub fn distance_pct(&self) -> Option<f64> {
        let published = self.published?;
        (published.mean != 0.0)
            .then(|| (self.simulated.mean - published.mean) / published.mean.abs() * 100.0)
    }
}

/// A value that distinguishes a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Param {
    /// As a number of tasks.
    Number(i64),
    /// As a kind.
    Word(String),
}

impl Param {
    /// The word, if it is one.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match self {
            Param::Word(word) => Some(word),
            Param::Number(_) => None,
        }
    }
}

/// Key of [`StudyRow::params`] where a case has another platform than the study.
pub(crate) const PLATFORM: &str = "platform";
/// Key of [`StudyRow::params`] for experiments.
pub(crate) const EXPERIMENT: &str = "experiment";
/// Key of [`StudyRow::params`] for variants.
pub(crate) const VARIANT: &str = "variant";

/// A published figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Mean.
    pub mean: f64,
    /// Relative standard deviation, percent, where it was published.
    pub rsd_pct: Option<f64>,
}

/// A change that was published without the means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedChange {
    /// From the base, percent.
    pub delta_pct: f64,
    /// Relative standard deviation of the changed figure, percent, where it was published.
    pub rsd_pct: Option<f64>,
    /// The base's.
    pub base_rsd_pct: Option<f64>,
}

/// A simulated figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// Mean over the seeds.
    pub mean: f64,
    /// Relative standard deviation, percent; infinite around a mean of exactly 0.
    pub rsd_pct: f64,
    /// Number of seeds.
    pub n: usize,
}

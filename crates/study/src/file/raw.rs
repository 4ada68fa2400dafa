//! A study file as written: one struct per table, words with their places in the text.
//!
//! What must stay: names of fields are keys of study files (studies/README.md), so a name that is
//! there stays, and a new one is optional; unknown keys are refused. Rules between keys are
//! `read.rs`'. Tests by part: `a_good_file_is_read` and `columns_and_their_cases_are_read` (all
//! tables), `the_least_that_a_file_has` (what is optional),
//! `errors_name_place_expectation_and_nearest` (unknown keys).
//!
//! Tests: crates/study/src/file/tests.rs

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

pub(super) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStudy {
    pub(super) title: Text,
    /// Where the published figures and the set-up come from.
    pub(super) source: Text,
    pub(super) platform: Text,
    pub(super) duration: Text,
    /// How many; they are numbered from 1.
    pub(super) seeds: Spanned<u64>,
    /// The base first; this or `column`.
    pub(super) policies: Option<Spanned<Vec<Text>>>,
    /// The base first.
    pub(super) column: Option<Spanned<Vec<RawColumn>>>,
    /// `KEY=VALUE` each, as for `--set`.
    #[serde(default)]
    pub(super) set: Vec<Text>,
    pub(super) quick: RawQuick,
    /// In the order of importance.
    pub(super) metric: Vec<RawMetric>,
    /// This or `from`, or both.
    #[serde(default)]
    pub(super) case: Vec<RawCase>,
    #[serde(default)]
    pub(super) from: Vec<RawFrom>,
    pub(super) promise: Option<RawPromise>,
    pub(super) tradeoff: Option<RawTradeoff>,
    pub(super) random: Option<RawRandom>,
    #[serde(default)]
    pub(super) variant: Vec<RawVariation>,
    #[serde(default)]
    pub(super) experiment: Vec<RawVariation>,
    #[serde(default)]
    pub(super) published: Vec<RawPublished>,
    pub(super) calibration: Option<RawCell>,
    pub(super) sensitivity: Option<RawSensitivity>,
}

/// A policy with what belongs to it alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawColumn {
    /// Absent: the policy's.
    pub(super) name: Option<Text>,
    pub(super) policy: Text,
    #[serde(default)]
    pub(super) set: Vec<Text>,
    /// Instead of the study's.
    pub(super) hotplug: Option<Text>,
    /// Instead of the values that each case's workload argument gives these keys, or added.
    pub(super) workload: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawQuick {
    pub(super) seeds: Spanned<u64>,
    /// Absent: all cases.
    pub(super) cases: Option<Vec<Text>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMetric {
    pub(super) name: Text,
    /// Template of the verdict's line about it.
    pub(super) verdict: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCase {
    pub(super) token: Text,
    pub(super) workload: Text,
    /// Absent: the study's, as is the duration.
    pub(super) platform: Option<Text>,
    pub(super) duration: Option<Text>,
    /// What the seed draws of a recording or an rt-app file, as for `--jitter`.
    pub(super) jitter: Option<Text>,
    /// So many in the full size instead of the study's.
    pub(super) seeds: Option<Spanned<u64>>,
    /// After the study's.
    #[serde(default)]
    pub(super) set: Vec<Text>,
    #[serde(default)]
    pub(super) params: BTreeMap<String, RawParam>,
}

/// Cases of another study: its platform, workload, settings and CPUs that come and go.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFrom {
    /// Name of a built-in study.
    pub(super) study: Text,
    /// Absent: all.
    pub(super) cases: Option<Vec<Text>>,
    /// Instead of the case's.
    pub(super) duration: Option<Text>,
    /// Instead of the values that each case's workload argument gives these keys, or added.
    pub(super) workload: Option<Text>,
    /// After the other study's.
    #[serde(default)]
    pub(super) set: Vec<Text>,
    /// Columns that are left out here.
    #[serde(default)]
    pub(super) without: Vec<Text>,
    /// What is to be gained. Absent: the other study's first metric.
    #[serde(default)]
    pub(super) goals: Vec<Text>,
}

/// Cases that are drawn (random.rs).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRandom {
    pub(super) cases: Spanned<u64>,
    pub(super) seed: Spanned<u64>,
    /// Of each case.
    pub(super) duration: Text,
}

/// What a column is to keep of what others gain, and may lose.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPromise {
    pub(super) keep_pct: Spanned<f64>,
    pub(super) lose_pct: Spanned<f64>,
    /// The column that keeps, where a feature names no other.
    pub(super) ours: Text,
    /// Columns that may lose no more.
    pub(super) bounded: Vec<Text>,
    /// What may not be lost, beside what the workload is measured by.
    pub(super) cost: Vec<Text>,
    pub(super) feature: Vec<RawFeature>,
}

/// Energy against latency over all cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTradeoff {
    /// The column that is to be beaten nowhere.
    pub(super) ours: Text,
    /// Columns that may beat it.
    pub(super) rivals: Vec<Text>,
    pub(super) energy: Text,
    pub(super) latency: Text,
    /// Metrics whose sum is the time that tasks took.
    pub(super) time: Vec<Text>,
    pub(super) energy_pct: Spanned<f64>,
    pub(super) latency_pct: Spanned<f64>,
    /// Parameters of cases.
    #[serde(default)]
    pub(super) groups: Vec<Text>,
}

/// A column whose gain is to be kept.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFeature {
    pub(super) column: Text,
    pub(super) ours: Option<Text>,
    /// The base has the feature: the column is without it.
    #[serde(default)]
    pub(super) without: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawParam {
    Number(i64),
    Word(String),
}

/// The study's cases with something changed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVariation {
    pub(super) name: Text,
    pub(super) why: Text,
    #[serde(default)]
    pub(super) set: Vec<Text>,
    /// Instead of the study's.
    pub(super) hotplug: Option<Text>,
    /// Instead of the cases'.
    pub(super) duration: Option<Text>,
    /// Instead of the values that each case's workload argument gives these keys, or added.
    pub(super) workload: Option<Text>,
    /// As many as the study's, in the same roles.
    pub(super) policies: Option<Spanned<Vec<Text>>>,
    /// The same with their own settings.
    pub(super) columns: Option<Spanned<Vec<RawColumn>>>,
    /// Instead of the cases'.
    pub(super) platform: Option<Text>,
    /// Absent: all cases.
    pub(super) cases: Option<Vec<Text>>,
    pub(super) seeds: Spanned<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPublished {
    pub(super) case: Text,
    pub(super) policy: Text,
    pub(super) metric: Text,
    /// This or `delta_pct`.
    pub(super) mean: Option<Spanned<f64>>,
    /// A change from the base that was published without means.
    pub(super) delta_pct: Option<Spanned<f64>>,
    pub(super) rsd_pct: Option<Spanned<f64>>,
    /// With `delta_pct`: the base's spread.
    pub(super) base_rsd_pct: Option<Spanned<f64>>,
    /// An argument of the case's workload whose value was chosen so that this mean is met.
    pub(super) calibrates: Option<Text>,
    /// Absent: the study's.
    pub(super) source: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCell {
    pub(super) case: Text,
    pub(super) policy: Text,
    pub(super) metric: Text,
}

/// Which conclusions are tried with assumed costs halved and doubled.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSensitivity {
    /// Only with `--sensitivity`: it takes longer than the study.
    #[serde(default)]
    pub(super) on_request: bool,
    /// Absent: those of the reduced size.
    pub(super) cases: Option<Vec<Text>>,
    pub(super) seeds: Option<Spanned<u64>>,
    /// Arguments of the cases' workload models whose values are assumed.
    #[serde(default)]
    pub(super) workload: Vec<Text>,
    #[serde(default)]
    pub(super) except: Vec<RawExcept>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExcept {
    pub(super) cost: Text,
    pub(super) why: Text,
}

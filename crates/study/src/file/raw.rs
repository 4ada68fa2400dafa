//! A study file as written: one struct per table, words with their places in the text.

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
    /// The base first.
    pub(super) policies: Spanned<Vec<Text>>,
    /// `KEY=VALUE` each, as for `--set`.
    #[serde(default)]
    pub(super) set: Vec<Text>,
    /// CPUs that leave and come back, as for `--hotplug`.
    pub(super) hotplug: Option<Text>,
    pub(super) quick: RawQuick,
    /// In the order of importance.
    pub(super) metric: Vec<RawMetric>,
    pub(super) case: Vec<RawCase>,
    #[serde(default)]
    pub(super) variant: Vec<RawVariation>,
    #[serde(default)]
    pub(super) experiment: Vec<RawVariation>,
    #[serde(default)]
    pub(super) published: Vec<RawPublished>,
    pub(super) calibration: Option<RawCell>,
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
    #[serde(default)]
    pub(super) params: BTreeMap<String, RawParam>,
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
    /// Added to each case's workload argument after a comma.
    pub(super) workload: Option<Text>,
    /// As many as the study's, in the same roles.
    pub(super) policies: Option<Spanned<Vec<Text>>>,
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
    pub(super) mean: Spanned<f64>,
    pub(super) rsd_pct: Option<Spanned<f64>>,
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

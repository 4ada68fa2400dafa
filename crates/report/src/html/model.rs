//! Results as they are read back from JSON. What older results lack is empty.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// An object's entries in the order of the text.
#[derive(Clone, Debug)]
pub(crate) struct Pairs<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pairs<T> {
    pub(crate) fn get(&self, key: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(own, _)| own == key)
            .map(|(_, value)| value)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Pairs<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Pairs(all))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// The result of `sim` or `compare`.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Comparison {
    /// 1 where it lacks what 2 has.
    #[serde(default)]
    pub(crate) schema_version: u64,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) commit: Option<String>,
    #[serde(default)]
    pub(crate) command: Option<String>,
    pub(crate) duration_ns: u64,
    #[serde(default)]
    pub(crate) settings: Pairs<String>,
    #[serde(default)]
    pub(crate) options: Pairs<String>,
    pub(crate) runs: Vec<Run>,
    #[serde(default)]
    pub(crate) deltas: Vec<Delta>,
    #[serde(default)]
    pub(crate) verdicts: Vec<Verdict>,
    #[serde(default)]
    pub(crate) measured_by: Vec<String>,
    /// Nobody measured the power that joules are made of.
    #[serde(default)]
    pub(crate) modelled_power: bool,
    #[serde(default)]
    pub(crate) margin_pct: Option<f64>,
    #[serde(default)]
    pub(crate) multiplicity: Option<Multiplicity>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    #[serde(default)]
    pub(crate) warnings: Vec<String>,
}

/// The runs of one policy.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Run {
    pub(crate) platform: String,
    pub(crate) workload: String,
    pub(crate) policy: String,
    #[serde(default)]
    pub(crate) set: Pairs<String>,
    pub(crate) seeds: Vec<u64>,
    #[serde(default = "yes")]
    pub(crate) complete: bool,
    /// When each run was over.
    #[serde(default)]
    pub(crate) end_ns: Vec<u64>,
    pub(crate) metrics: Pairs<Metric>,
    #[serde(default)]
    pub(crate) event_hashes: Vec<String>,
    #[serde(default)]
    pub(crate) details: Option<Details>,
    #[serde(default)]
    pub(crate) timeline: Option<Timeline>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Metric {
    pub(crate) mean: Option<f64>,
    #[serde(default)]
    pub(crate) rsd_pct: Option<f64>,
    #[serde(default)]
    pub(crate) ci95: Option<f64>,
    #[serde(default)]
    pub(crate) unit: String,
}

/// Both ends of an interval; null where it is infinite.
pub(crate) type Interval = (Option<f64>, Option<f64>);

/// The interval, if it has both ends.
pub(crate) fn ends(interval: Option<Interval>) -> Option<(f64, f64)> {
    let (low, high) = interval?;
    Some((low?, high?))
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Delta {
    pub(crate) metric: String,
    pub(crate) other: String,
    pub(crate) delta_pct: Option<f64>,
    #[serde(default)]
    pub(crate) ci95: Option<Interval>,
    #[serde(default)]
    pub(crate) significant: Option<bool>,
    /// What it means; results of schema 1 leave it to who reads them.
    #[serde(default)]
    pub(crate) difference: Option<String>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Verdict {
    pub(crate) policy: String,
    pub(crate) metric: String,
    pub(crate) difference: String,
    /// Other metrics that got worse.
    #[serde(default)]
    pub(crate) worse: Vec<String>,
    pub(crate) text: String,
}

/// What runs spent time and energy on.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Details {
    pub(crate) energy: Option<Energy>,
    pub(crate) residency: Vec<Residency>,
    pub(crate) kinds: Vec<Residency>,
    pub(crate) frequencies: Vec<Frequencies>,
    pub(crate) wake_latency_up_to_ns_count: Vec<(u64, u64)>,
    pub(crate) placements_per_run: Pairs<f64>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Energy {
    pub(crate) unit: String,
    #[serde(default)]
    pub(crate) board: Option<f64>,
    #[serde(default)]
    pub(crate) work: Option<f64>,
    #[serde(default)]
    pub(crate) cluster_state_energy_s: Vec<(String, String, f64, f64)>,
    #[serde(default)]
    pub(crate) cpu_busy_idle_transition: Vec<(f64, f64, f64)>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Residency {
    #[serde(alias = "kind")]
    pub(crate) cluster: String,
    #[serde(default)]
    pub(crate) cpus: u64,
    pub(crate) busy_pct: f64,
    #[serde(default)]
    pub(crate) transition_pct: f64,
    #[serde(default)]
    pub(crate) idle_pct: Pairs<f64>,
    #[serde(default)]
    pub(crate) cluster_idle_pct: Pairs<f64>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Frequencies {
    pub(crate) cpus: String,
    #[serde(default)]
    pub(crate) khz_time_busy_pct: Vec<(u64, f64, f64)>,
}

/// What ran where in a part of a run.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Timeline {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) until_ns: u64,
    pub(crate) cpus: u32,
    #[serde(default)]
    pub(crate) clusters: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) domains: Vec<String>,
    #[serde(default)]
    pub(crate) idle_states: Vec<String>,
    #[serde(default)]
    pub(crate) tasks: Vec<(u64, String)>,
    #[serde(default)]
    pub(crate) cpu_task_from_to_ns: Vec<(u32, u64, u64, u64)>,
    #[serde(default)]
    pub(crate) cpu_idle_state_from_to_ns: Vec<(u32, u64, u64, u64)>,
    #[serde(default)]
    pub(crate) domain_at_ns_khz: Vec<(u32, u64, u64)>,
    #[serde(default)]
    pub(crate) reasons: Vec<String>,
    #[serde(default)]
    pub(crate) at_ns_task_prev_cpu_reason_new: Vec<(u64, u64, u32, u32, u32, u8)>,
    #[serde(default)]
    pub(crate) overutilized_at_ns_on: Vec<(u64, u8)>,
}

/// The result of one study.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Study {
    #[serde(default)]
    pub(crate) schema_version: u64,
    #[serde(default)]
    pub(crate) version: Option<String>,
    #[serde(default)]
    pub(crate) commit: Option<String>,
    #[serde(default)]
    pub(crate) command: Option<String>,
    pub(crate) study: String,
    #[serde(default)]
    pub(crate) title: String,
    pub(crate) platform: String,
    pub(crate) base_policy: String,
    pub(crate) duration_ns: u64,
    pub(crate) seeds: Vec<u64>,
    #[serde(default)]
    pub(crate) quick: bool,
    /// From results of this version on.
    #[serde(default)]
    pub(crate) as_written: Option<bool>,
    #[serde(default)]
    pub(crate) settings: Pairs<String>,
    #[serde(default)]
    pub(crate) options: Pairs<String>,
    #[serde(default)]
    pub(crate) cases: Vec<Case>,
    #[serde(default)]
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    #[serde(default)]
    pub(crate) profiles: Vec<CaseProfile>,
    #[serde(default)]
    pub(crate) margin_pct: Option<f64>,
    #[serde(default)]
    pub(crate) multiplicity: Option<Multiplicity>,
    #[serde(default)]
    pub(crate) verdict: String,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    #[serde(default)]
    pub(crate) sources: Vec<String>,
    #[serde(default)]
    pub(crate) sensitivity: Option<Vec<Tried>>,
    #[serde(default)]
    pub(crate) assumed: Option<Assumed>,
}

/// 95 % intervals of a result.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
pub(crate) struct Multiplicity {
    pub(crate) intervals: usize,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Case {
    pub(crate) case: String,
    pub(crate) platform: String,
    pub(crate) workload: String,
    pub(crate) duration_ns: u64,
    #[serde(default)]
    pub(crate) settings: Pairs<String>,
    /// Nobody measured the power that its joules are made of.
    #[serde(default)]
    pub(crate) modelled_power: bool,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) policy: String,
    #[serde(default)]
    pub(crate) settings: Pairs<String>,
    #[serde(default)]
    pub(crate) hotplug: Option<String>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Row {
    pub(crate) case: String,
    #[serde(default)]
    pub(crate) params: Pairs<Value>,
    pub(crate) metric: String,
    #[serde(default)]
    pub(crate) unit: String,
    pub(crate) policy: String,
    #[serde(default)]
    pub(crate) published: Option<Figure>,
    pub(crate) simulated: Figure,
    #[serde(default)]
    pub(crate) published_delta_pct: Option<f64>,
    #[serde(default)]
    pub(crate) simulated_delta_pct: Option<f64>,
    #[serde(default)]
    pub(crate) simulated_delta_ci95: Option<Interval>,
    /// From results of this version on.
    #[serde(default)]
    pub(crate) difference: Option<String>,
    /// `modelled` where it is made of a power that nobody measured.
    #[serde(default)]
    pub(crate) power: Option<String>,
    #[serde(default)]
    pub(crate) calibrated: bool,
    #[serde(default)]
    pub(crate) robust: Option<bool>,
}

impl Row {
    /// `variants`, `experiments`, or nothing for the study's own cases.
    pub(crate) fn kind(&self) -> &'static str {
        match (self.params.get("experiment"), self.params.get("variant")) {
            (Some(_), _) => "experiments",
            (None, Some(_)) => "variants",
            (None, None) => "",
        }
    }

    /// Distance of the simulated from the published mean, percent of the published.
    pub(crate) fn distance_pct(&self) -> Option<f64> {
        let published = self.published.as_ref()?.mean.filter(|mean| *mean != 0.0)?;
        Some((self.simulated.mean? - published) / published.abs() * 100.0)
    }
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Figure {
    pub(crate) mean: Option<f64>,
    #[serde(default)]
    pub(crate) rsd_pct: Option<f64>,
    #[serde(default)]
    pub(crate) n: Option<u64>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct CaseProfile {
    pub(crate) case: String,
    pub(crate) policy: String,
    pub(crate) details: Details,
    /// False: a run got stuck.
    #[serde(default = "yes")]
    pub(crate) complete: bool,
    /// When each run was over; from results of this version on.
    #[serde(default)]
    pub(crate) end_ns: Vec<u64>,
    #[serde(default)]
    pub(crate) event_hashes: Vec<String>,
}

/// One conclusion with one cost changed.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Tried {
    pub(crate) case: String,
    pub(crate) metric: String,
    pub(crate) policy: String,
    pub(crate) cost: String,
    pub(crate) factor: f64,
    pub(crate) delta_pct: Option<f64>,
    #[serde(default)]
    pub(crate) ci95: Option<Interval>,
    pub(crate) conclusion: String,
    #[serde(default)]
    pub(crate) plain_delta_pct: Option<f64>,
    pub(crate) plain_conclusion: String,
    pub(crate) flips: bool,
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Assumed {
    pub(crate) seeds: Vec<u64>,
    pub(crate) costs: Vec<Cost>,
    pub(crate) except: Vec<Except>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Cost {
    pub(crate) cost: String,
    #[serde(default)]
    pub(crate) value: String,
    #[serde(default)]
    pub(crate) unused: bool,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Except {
    pub(crate) cost: String,
    #[serde(default)]
    pub(crate) why: String,
}

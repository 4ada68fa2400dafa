//! Results as they are read back from JSON. What older results lack is empty.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;

/// An object's entries in the order of the text.
#[derive(Clone, Debug)]
pub(super) struct Pairs<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Pairs<T> {
    pub(super) fn get(&self, key: &str) -> Option<&T> {
        self.0
            .iter()
            .find(|(own, _)| own == key)
            .map(|(_, value)| value)
    }

    pub(super) fn is_empty(&self) -> bool {
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
pub(super) struct Comparison {
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) commit: Option<String>,
    #[serde(default)]
    pub(super) command: Option<String>,
    pub(super) duration_ns: u64,
    #[serde(default)]
    pub(super) settings: Pairs<String>,
    #[serde(default)]
    pub(super) options: Pairs<String>,
    pub(super) runs: Vec<Run>,
    #[serde(default)]
    pub(super) deltas: Vec<Delta>,
    #[serde(default)]
    pub(super) verdicts: Vec<Verdict>,
    #[serde(default)]
    pub(super) measured_by: Vec<String>,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    #[serde(default)]
    pub(super) warnings: Vec<String>,
}

/// The runs of one policy.
#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Run {
    pub(super) platform: String,
    pub(super) workload: String,
    pub(super) policy: String,
    #[serde(default)]
    pub(super) set: Pairs<String>,
    pub(super) seeds: Vec<u64>,
    #[serde(default = "yes")]
    pub(super) complete: bool,
    pub(super) metrics: Pairs<Metric>,
    #[serde(default)]
    pub(super) event_hashes: Vec<String>,
    #[serde(default)]
    pub(super) details: Option<Details>,
    #[serde(default)]
    pub(super) timeline: Option<Timeline>,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Metric {
    pub(super) mean: Option<f64>,
    #[serde(default)]
    pub(super) rsd_pct: Option<f64>,
    #[serde(default)]
    pub(super) ci95: Option<f64>,
    #[serde(default)]
    pub(super) unit: String,
}

/// Both ends of an interval; null where it is infinite.
pub(super) type Interval = (Option<f64>, Option<f64>);

/// The interval, if it has both ends.
pub(super) fn ends(interval: Option<Interval>) -> Option<(f64, f64)> {
    let (low, high) = interval?;
    Some((low?, high?))
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Delta {
    pub(super) metric: String,
    pub(super) other: String,
    pub(super) delta_pct: Option<f64>,
    #[serde(default)]
    pub(super) ci95: Option<Interval>,
    #[serde(default)]
    pub(super) significant: Option<bool>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Verdict {
    pub(super) policy: String,
    pub(super) metric: String,
    pub(super) difference: String,
    pub(super) text: String,
}

/// What runs spent time and energy on.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Details {
    pub(super) energy: Option<Energy>,
    pub(super) residency: Vec<Residency>,
    pub(super) frequencies: Vec<Frequencies>,
    pub(super) wake_latency_up_to_ns_count: Vec<(u64, u64)>,
    pub(super) placements_per_run: Pairs<f64>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Energy {
    pub(super) unit: String,
    #[serde(default)]
    pub(super) board: Option<f64>,
    #[serde(default)]
    pub(super) cluster_state_energy_s: Vec<(String, String, f64, f64)>,
    #[serde(default)]
    pub(super) cpu_busy_idle_transition: Vec<(f64, f64, f64)>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Residency {
    pub(super) cluster: String,
    #[serde(default)]
    pub(super) cpus: u64,
    pub(super) busy_pct: f64,
    #[serde(default)]
    pub(super) transition_pct: f64,
    #[serde(default)]
    pub(super) idle_pct: Pairs<f64>,
    #[serde(default)]
    pub(super) cluster_idle_pct: Pairs<f64>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Frequencies {
    pub(super) cpus: String,
    #[serde(default)]
    pub(super) khz_time_busy_pct: Vec<(u64, f64, f64)>,
}

/// What ran where in a part of a run.
#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Timeline {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) until_ns: u64,
    pub(super) cpus: u32,
    #[serde(default)]
    pub(super) clusters: Vec<(String, String)>,
    #[serde(default)]
    pub(super) domains: Vec<String>,
    #[serde(default)]
    pub(super) idle_states: Vec<String>,
    #[serde(default)]
    pub(super) tasks: Vec<(u64, String)>,
    #[serde(default)]
    pub(super) cpu_task_from_to_ns: Vec<(u32, u64, u64, u64)>,
    #[serde(default)]
    pub(super) cpu_idle_state_from_to_ns: Vec<(u32, u64, u64, u64)>,
    #[serde(default)]
    pub(super) domain_at_ns_khz: Vec<(u32, u64, u64)>,
    #[serde(default)]
    pub(super) reasons: Vec<String>,
    #[serde(default)]
    pub(super) at_ns_task_prev_cpu_reason_new: Vec<(u64, u64, u32, u32, u32, u8)>,
    #[serde(default)]
    pub(super) overutilized_at_ns_on: Vec<(u64, u8)>,
}

/// The result of one study.
#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Study {
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) commit: Option<String>,
    #[serde(default)]
    pub(super) command: Option<String>,
    pub(super) study: String,
    #[serde(default)]
    pub(super) title: String,
    pub(super) platform: String,
    pub(super) base_policy: String,
    pub(super) duration_ns: u64,
    pub(super) seeds: Vec<u64>,
    #[serde(default)]
    pub(super) quick: bool,
    #[serde(default)]
    pub(super) settings: Pairs<String>,
    #[serde(default)]
    pub(super) options: Pairs<String>,
    #[serde(default)]
    pub(super) cases: Vec<Case>,
    #[serde(default)]
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
    #[serde(default)]
    pub(super) profiles: Vec<CaseProfile>,
    #[serde(default)]
    pub(super) verdict: String,
    #[serde(default)]
    pub(super) notes: Vec<String>,
    #[serde(default)]
    pub(super) sources: Vec<String>,
    #[serde(default)]
    pub(super) sensitivity: Option<Vec<Tried>>,
    #[serde(default)]
    pub(super) assumed: Option<Assumed>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Case {
    pub(super) case: String,
    pub(super) platform: String,
    pub(super) workload: String,
    pub(super) duration_ns: u64,
    #[serde(default)]
    pub(super) settings: Pairs<String>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) policy: String,
    #[serde(default)]
    pub(super) settings: Pairs<String>,
    #[serde(default)]
    pub(super) hotplug: Option<String>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Row {
    pub(super) case: String,
    #[serde(default)]
    pub(super) params: Pairs<Value>,
    pub(super) metric: String,
    #[serde(default)]
    pub(super) unit: String,
    pub(super) policy: String,
    #[serde(default)]
    pub(super) published: Option<Figure>,
    pub(super) simulated: Figure,
    #[serde(default)]
    pub(super) published_delta_pct: Option<f64>,
    #[serde(default)]
    pub(super) simulated_delta_pct: Option<f64>,
    #[serde(default)]
    pub(super) simulated_delta_ci95: Option<Interval>,
    #[serde(default)]
    pub(super) calibrated: bool,
    #[serde(default)]
    pub(super) robust: Option<bool>,
}

impl Row {
    /// `variants`, `experiments`, or nothing for the study's own cases.
    pub(super) fn kind(&self) -> &'static str {
        match (self.params.get("experiment"), self.params.get("variant")) {
            (Some(_), _) => "experiments",
            (None, Some(_)) => "variants",
            (None, None) => "",
        }
    }

    /// Distance of the simulated from the published mean, percent of the published.
    pub(super) fn distance_pct(&self) -> Option<f64> {
        let published = self.published.as_ref()?.mean.filter(|mean| *mean != 0.0)?;
        Some((self.simulated.mean? - published) / published.abs() * 100.0)
    }
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Figure {
    pub(super) mean: Option<f64>,
    #[serde(default)]
    pub(super) rsd_pct: Option<f64>,
    #[serde(default)]
    pub(super) n: Option<u64>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct CaseProfile {
    pub(super) case: String,
    pub(super) policy: String,
    pub(super) details: Details,
    #[serde(default)]
    pub(super) event_hashes: Vec<String>,
}

/// One conclusion with one cost changed.
#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Tried {
    pub(super) case: String,
    pub(super) metric: String,
    pub(super) policy: String,
    pub(super) cost: String,
    pub(super) factor: f64,
    pub(super) delta_pct: Option<f64>,
    #[serde(default)]
    pub(super) ci95: Option<Interval>,
    pub(super) conclusion: String,
    #[serde(default)]
    pub(super) plain_delta_pct: Option<f64>,
    pub(super) plain_conclusion: String,
    pub(super) flips: bool,
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Assumed {
    pub(super) seeds: Vec<u64>,
    pub(super) costs: Vec<Cost>,
    pub(super) except: Vec<Except>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Cost {
    pub(super) cost: String,
    #[serde(default)]
    pub(super) value: String,
    #[serde(default)]
    pub(super) unused: bool,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct Except {
    pub(super) cost: String,
    #[serde(default)]
    pub(super) why: String,
}

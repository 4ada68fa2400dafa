//! Observers of the engine and the statistics over their results (docs/guide/results.md, "What a
//! result holds").
//!
//! [`RunMetrics::collector`] gives one observer that measures everything of a run; its `finish`
//! returns the metrics by name. [`METRICS`] defines every name. The energy meter integrates the
//! power of the hardware states the engine announces; it knows nothing of a policy's estimates.
//!
//! Observers keep integers (ns, power unit x ns); floating point appears only in results and in the
//! statistics.
//!
//! What must stay: the same inputs give the same bits on every machine. So statistics take values
//! in index order, with IEEE-exact operations and functions of the crate libm, never those of the
//! system. Observers change no run. Free: what leaves every figure as it is (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `same_bits_in_every_build` (statistics),
//! crates/cli/tests/all/results.rs::`the_same_command_gives_the_same_bytes` (all of a result).
//!
//! Tests: beside its modules,
//! crates/cli/tests/all/results.rs::the_same_command_gives_the_same_bytes

mod busy_clock;
mod collector;
mod energy;
mod expectation;
mod frames;
mod idle_choices;
mod late_frames;
mod latency;
mod ledger;
mod measured;
mod meter;
mod metric;
mod occupancy;
mod placements;
mod power;
mod profile;
mod proportion;
mod residency;
mod running;
mod shares;
mod stages;
mod stats;
mod student;
#[cfg(test)]
mod testbed;
mod thermal;
mod timeline;
mod wakeup_cases;
mod where_ran;
mod wiring;

pub use collector::{Collector, RunMetrics, Series, independent, paired, series};
pub use energy::{CpuEnergy, EnergyPart, EnergyReport, PartKind, scaled, scaled_unit};
pub use expectation::{Expectation, ExpectationError, Judgement, Limit, Operator};
pub use late_frames::LateChain;
pub use latency::{Latency, LatencyBucket, TaskLatency};
pub use meter::{EnergyMeter, PowerSource};
pub use metric::{
    Better, KEY_METRICS, METRICS, MODELLED, MetricDef, UnknownMetric, Value, Values, all_frames_of,
    find_metric, measured_instead, number_of_share, of_power,
};
pub use placements::Placements;
pub use power::PlatformPower;
pub use profile::details;
pub use proportion::share_upper95;
pub use residency::{ClusterResidency, DomainResidency, OppResidency, Residency, StateResidency};
pub use stages::Times;
pub use stats::{Equivalence, PairedDelta, Summary, difference_of, geometric_mean};
pub use timeline::{TimelineRecorder, Window};
pub use wakeplace_outcome::Method;
pub use wakeup_cases::{CaseCounts, WakeupCases};
pub use where_ran::Ran;

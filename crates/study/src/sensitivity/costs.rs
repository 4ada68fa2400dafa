//! What is assumed in the runs of a case: costs of the platform, times of the machine's model that
//! a setting gives, listed arguments of the workload (studies/README.md).
//!
//! What must stay: one cost changes at a time; of a platform only what its file marks as assumed is
//! tried, and a setting of the model stands in the place of the platform's time. Times are ns.
//! Tests by part: `what_is_excepted_is_not_tried_and_workloads_are` (`costs`),
//! judge/tests.rs::`a_conclusion_that_one_assumed_time_makes_is_not_robust` (`change` of a platform
//! and of a setting), judge/tests.rs::`a_conclusion_that_stands_at_half_and_double_is_robust` (how
//! many), file/tests.rs::`rules_of_columns_cases_and_sensitivity_hold` (`cost_names`),
//! `assumed_costs_are_tried_on_demand` (by the command).
//!
//! Tests: crates/study/src/sensitivity/judge/tests.rs,
//! crates/cli/tests/all/results.rs::assumed_costs_are_tried_on_demand

use super::arguments::{changed, value};
use crate::experiment::expand;
use crate::file::{Sensitivity, StudyFile};
use crate::plan::Planned;
use crate::{StudyError, catalogue};
use std::sync::Arc;
use wakeplace_engine::Options;
use wakeplace_platform::{AssumedCost, Factor, Platform};
use wakeplace_workload::Spec;

/// Before the name of a workload's argument.
const WORKLOAD: &str = "workload ";
/// Before the keys of the machine's model.
const MODEL: &str = "model.";

/// Something assumed.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    pub(crate) name: String,
    /// As people read it.
    pub(crate) value: String,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Platform(AssumedCost),
    /// Key of the machine's model.
    Model(&'static str),
    /// Argument of the workload.
    Workload(String),
}

/// The costs of a case, without those the study leaves out.
pub(crate) fn costs(planned: &Planned, wanted: &Sensitivity) -> Vec<Cost> {
    let mut all = Vec::new();
    let is_set = |key: &str| {
        let mut columns = planned.columns.iter();
        columns.all(|column| time(&column.options, key) != Time::Platform)
    };
    for cost in planned.platform.assumed_costs() {
        // A setting stands in its place.
        if !is_set(&format!("{MODEL}{}", cost.name)) {
            all.push(Cost {
                name: cost.name.clone(),
                value: cost.value.clone(),
                what: What::Platform(cost),
            });
        }
    }
    for (key, ..) in Options::default().keys() {
        let times = planned.columns.iter().map(|c| time(&c.options, key));
        if let Some(ns) = times.filter_map(Time::ns).max() {
            all.push(Cost {
                name: key.to_owned(),
                value: format!("{ns} ns"),
                what: What::Model(key),
            });
        }
    }
    for name in &wanted.workload {
        if let Some(value) = value(&planned.argument, name) {
            all.push(Cost {
                name: format!("{WORKLOAD}{name}"),
                value,
                what: What::Workload(name.clone()),
            });
        }
    }
    all.retain(|cost| !wanted.except.iter().any(|(name, _)| *name == cost.name));
    all
}

/// Names of all costs there may be in a study.
pub(crate) fn cost_names(file: &StudyFile, wanted: &Sensitivity) -> Vec<String> {
    let platforms = wanted.cases.iter().map(|case| file.platform_of(*case));
    let of_platforms = platforms.flat_map(|platform| platform.assumed_costs());
    let sets = [&file.set].into_iter();
    let sets = sets.chain(file.cases.iter().map(|case| &case.set));
    let sets = sets.chain(file.columns.iter().map(|column| &column.set));
    let keys = sets.flatten().map(|(key, _)| key.clone());
    let of_model = keys.filter(|key| key.starts_with(MODEL) && key.ends_with("_ns"));
    let of_workload = wanted
        .workload
        .iter()
        .map(|name| format!("{WORKLOAD}{name}"));
    let all = of_platforms.map(|cost| cost.name);
    let mut names: Vec<String> = Vec::new();
    for name in all.chain(of_model).chain(of_workload) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A time of the machine's model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    /// The platform's.
    Platform,
    Set(u64),
    /// No time at all.
    Other,
}

impl Time {
    /// A time that can be changed.
    fn ns(self) -> Option<u64> {
        match self {
            Time::Set(ns) if ns > 0 => Some(ns),
            _ => None,
        }
    }
}

/// What a setting of the model is: off (0), a number of ns, the platform's own, or no time.
fn time(options: &Options, key: &str) -> Time {
    let keys = options.keys();
    let value = keys.iter().find(|(known, ..)| *known == key);
    match value.map(|(_, value, _)| value.as_str()) {
        None | Some("platform") => Time::Platform,
        Some("off") => Time::Set(0),
        Some(text) if key.ends_with("_ns") => text.parse().map_or(Time::Other, Time::Set),
        Some(_) => Time::Other,
    }
}

impl Cost {
    /// The case with this cost changed, and nothing else.
    pub(crate) fn change(&self, planned: &Planned, factor: Factor) -> Result<Planned, StudyError> {
        let mut changed = planned.clone();
        match &self.what {
            What::Platform(cost) => {
                changed.platform = Arc::new(planned.platform.with_assumed(cost, factor));
            }
            What::Model(key) => {
                for column in &mut changed.columns {
                    if let Some(ns) = time(&column.options, key).ns() {
                        let ns = factor.of(ns).min(Options::MAX_TIME_NS);
                        let set = (String::from(*key), ns.to_string());
                        crate::apply_settings(&[set], &mut column.options, &mut [])?;
                    }
                }
            }
            What::Workload(name) => {
                let on = &planned.platform;
                if let Some(spec) = changed_workload((&planned.argument, on), name, factor)? {
                    changed.argument.clone_from(&spec.name);
                    changed.workloads = Arc::new(expand(&spec, on, &planned.seeds)?);
                    for column in &mut changed.columns {
                        column.load(&spec, on, on, &planned.seeds)?;
                    }
                }
            }
        }
        Ok(changed)
    }
}

/// The workload of a case on a platform with one argument changed; None if there is nothing to
/// change.
pub(crate) fn changed_workload(
    (argument, on): (&str, &Platform),
    name: &str,
    factor: Factor,
) -> Result<Option<Spec>, StudyError> {
    let argument = changed(argument, name, factor);
    // Only models have such arguments, and they take no jitter.
    let spec = argument.map(|argument| catalogue::workload(&argument, on, None));
    spec.transpose()
}

//! What was measured, by name (docs/guide/results.md, "What a result holds").
//!
//! Called by every meter's `report`.
//!
//! What must stay: the order is that of names, whatever the order of `set`: JSON and CSV rely on
//! it. What was not measured is not there. A name without a definition, or one that is entered
//! twice, is an error of the program. Free: what leaves every figure as it is (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part:
//! `values_take_units_from_the_table_and_keep_name_order` (`set`, `set_cluster`, `iter`, `get`),
//! `undefined_names_are_refused` (`set`), the first also `count`. No test of its own: a name that
//! is entered twice.
//!
//! Tests: crates/metrics/src/metric/tests.rs

use super::{CLUSTER, find_metric};
use std::collections::BTreeMap;

/// A measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The number, in `unit`.
    pub value: f64,
    /// The unit its definition names.
    pub unit: &'static str,
}

/// Metrics by name. A metric that was not or cannot be measured is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(BTreeMap<String, Value>);

impl Values {
    /// Enters a value under a defined name.
    ///
    /// # Panics
    /// If the name is not in [`METRICS`](super::METRICS) or was entered before.
    pub fn set(&mut self, name: &str, value: f64) {
        let def = find_metric(name).unwrap_or_else(|e| panic!("{e}"));
        let old = self.0.insert(
            name.to_owned(),
            Value {
                value,
                unit: def.unit,
            },
        );
        assert!(old.is_none(), "metric {name} was entered twice");
    }

    /// Enters a count.
    pub(crate) fn count(&mut self, name: &str, count: u64) {
        self.set(name, count as f64);
    }

    /// Enters one value of the pattern `pattern`, with `{cluster}` in it.
    pub(crate) fn set_cluster(&mut self, pattern: &str, cluster: &str, value: f64) {
        self.set(&pattern.replace(CLUSTER, cluster), value);
    }

    /// The number under `name`, if it was measured.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).map(|v| v.value)
    }

    /// All values in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}

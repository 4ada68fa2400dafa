//! What of a sweep is checked before its first run (docs/guide/results.md, "Sweeps").
//!
//! What must stay: every process that works on a sweep checks the same and changes no point; a
//! value with which no point can be made is an error before the first run; a point that fails later
//! is a record with an error. Tests by part: `wrong_keys_and_values_are_named` (`check_lists`,
//! `check_values`), `options_that_fit_no_point_are_refused` (`check_runs`),
//! sweep/tests.rs::`values_that_go_together_sometimes_are_records` (what is no error).
//!
//! Tests: crates/study/src/sweep/tests.rs

use super::{Axis, Design, NAMES, Range, Sweep, name};
use crate::StudyError;
use std::collections::BTreeMap;

/// A sweep of so many points is checked whole before its first run.
pub(super) const MOST_CHECKED: usize = 1_000;

impl Sweep {
    /// Each name of a list by itself, then each value of a list together with all others: a value
    /// with which no point can be made is wrong. Others may need it to be made at all: a point that
    /// cannot be made while its values are used elsewhere is a record with its reason.
    pub(super) fn check_lists(&self) -> Result<(), StudyError> {
        for axis in &self.axes {
            let Range::List(values) = &axis.range else {
                continue;
            };
            if !NAMES.contains(&axis.key.as_str()) {
                continue;
            }
            for value in values {
                let mut request = self.base.clone();
                name(&mut request, &axis.key, value)?;
                request
                    .platforms
                    .iter()
                    .try_for_each(|p| p.platform().map(drop))?;
                for policy in &request.policies {
                    wakeplace_policy_sys::Policy::parse(policy)?;
                }
            }
        }
        if self.points() > MOST_CHECKED {
            return Ok(());
        }
        self.check_values()
    }

    /// Makes points until each value of each list and range was part of one; those with nothing new
    /// are left out.
    fn check_values(&self) -> Result<(), StudyError> {
        // A hypercube draws from a range what it likes.
        let is_known =
            |axis: &&Axis| matches!(axis.range, Range::List(_)) || self.design == Design::Grid;
        let values = |axis: &Axis| -> Vec<(String, String)> {
            let all = axis.values().into_iter();
            all.map(|value| (axis.key.clone(), value)).collect()
        };
        // What was part of no point yet, and the first point that could not be made with it.
        let mut open: BTreeMap<(String, String), Option<usize>> =
            { self.axes.iter().filter(is_known).flat_map(values) }
                .map(|value| (value, None))
                .collect();
        for index in 0..self.points() {
            let labels = self.labels_of(index);
            if !labels.iter().any(|label| open.contains_key(label)) {
                continue;
            }
            let made = self.point(index).is_ok();
            for label in &labels {
                if made {
                    open.remove(label);
                } else if let Some(first) = open.get_mut(label) {
                    first.get_or_insert(index);
                }
            }
        }
        let first = open.into_values().flatten().min();
        first.map_or(Ok(()), |index| self.point(index).map(drop))
    }

    /// Some point can run: what the base has that fits none of them is refused as for one run,
    /// before anything is written. Points that cannot while others can are records with a reason.
    /// Of many points some are tried, evenly spaced.
    pub(super) fn check_runs(&self) -> Result<(), StudyError> {
        let points = self.points();
        let tried = points.min(MOST_CHECKED);
        let mut first = None;
        for at in 0..tried {
            let made = self.point(at * points / tried);
            match made.and_then(|point| point.check(&self.base)) {
                Ok(()) => return Ok(()),
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(()), Err)
    }
}

//! What a length that somebody asked for cuts of a battery's loads (docs/guide/review.md,
//! "Batteries").
//!
//! What must stay: what a load needs is the length that the battery gives it; what ends by itself
//! is cut only if a run of it was. Words may change. Tests by part: `a_short_length_is_said`
//! (`said`), crates/cli/tests/all/review.rs::`a_short_length_says_what_it_cuts` (`cut`).
//!
//! Tests: below, crates/cli/tests/all/review.rs::a_short_length_says_what_it_cuts

use super::{Battery, BatteryCell};
use crate::{Comparison, Request};
use wakeplace_engine::Ended;
use wakeplace_text::time;

impl Battery {
    /// A sentence about the loads for which the length that was asked for is too short; None: there
    /// are none. `found` are the runs of the cells.
    #[must_use]
    pub fn cut(
        &self,
        asked: &Request,
        cells: &[BatteryCell],
        found: &[Comparison],
    ) -> Option<String> {
        let asked_ns = asked.duration_ns?;
        let (mut short, mut cut) = (Vec::new(), Vec::new());
        for load in &self.loads {
            let own_ns = load.duration_ns.unwrap_or(self.duration_ns);
            let runs = cells.iter().zip(found);
            let runs: Vec<_> = runs.filter(|(cell, _)| cell.load == load.name).collect();
            let Some((cell, _)) = runs.first().filter(|_| asked_ns < own_ns) else {
                continue;
            };
            match ends(cell) {
                true if runs.iter().any(|(_, of)| is_cut(of)) => cut.push(load.name.as_str()),
                true => {}
                false => {
                    let need = load.duration_ns.map(time);
                    short.extend(need.map(|need| format!("{} ({need})", load.name)));
                }
            }
        }
        said(&time(asked_ns), &short, &cut)
    }
}

/// Its tasks are done some time.
fn ends(cell: &BatteryCell) -> bool {
    // Tasks of a recording sleep on.
    cell.experiment.first_workload().is_ok_and(|workload| {
        workload.comes_to_an_end() && !workload.name.starts_with(wakeplace_trace::PREFIX)
    })
}

/// A run was over before its tasks were done.
fn is_cut(of: &Comparison) -> bool {
    let mut reports = of.runs.iter().flat_map(|runs| &runs.reports);
    reports.any(|report| report.ended == Ended::Duration)
}

/// The sentence: loads with what they need, and those that end by themselves.
fn said(length: &str, short: &[String], cut: &[&str]) -> Option<String> {
    let need = match short {
        [] => None,
        [one] => Some(format!("is shorter than what {one} needs")),
        many => Some(format!("is shorter than what {} need", many.join(", "))),
    };
    let cuts = match cut {
        [] => None,
        [one] => Some(format!("cuts {one}, which ends by itself")),
        many => Some(format!("cuts {}, which end by themselves", many.join(", "))),
    };
    let parts: Vec<String> = need.into_iter().chain(cuts).collect();
    (!parts.is_empty()).then(|| format!("--duration {length} {}", parts.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn a_short_length_is_said() {
        let short = ["ramp (6 s)", "schbench (2.5 s)"].map(str::to_owned);
        assert_eq!(
            said("1 s", &short, &["kbuild"]).as_deref(),
            Some(
                "--duration 1 s is shorter than what ramp (6 s), schbench (2.5 s) need and cuts \
                 kbuild, which ends by itself"
            )
        );
        assert_eq!(
            said("1 s", &[], &["hackbench", "kbuild"]).as_deref(),
            Some("--duration 1 s cuts hackbench, kbuild, which end by themselves")
        );
        assert_eq!(said("1 s", &[], &[]), None);
    }
}

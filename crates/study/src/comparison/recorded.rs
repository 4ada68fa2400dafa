//! Whether the tasks of a recording run as long as they did there (docs/guide/traces-in.md, "Round
//! trip").
//!
//! What must stay: it is said of the first policy, of whole recordings on the machine that they are
//! of, and changes no figure. Words may change. Tests by part: `a_run_is_as_long_as_recorded`
//! (all), crates/cli/tests/all/round_trip.rs::`what_does_not_come_back_is_said` (by the command).
//!
//! Tests: below, crates/cli/tests/all/round_trip.rs::what_does_not_come_back_is_said

use super::PolicyRuns;
use super::endings::time;
use wakeplace_engine::RunReport;
use wakeplace_workload::Workload;

/// Off by less is as close as a recording comes, percent: what tests of round trips allow tasks
/// that wake each other.
const LEAST_PCT: f64 = 5.0;

/// How much longer or shorter tasks run than in the recording; None: about as long, or it cannot be
/// told.
pub(super) fn run_time(runs: &[PolicyRuns], workloads: &[Workload]) -> Option<String> {
    let (run, workload) = (runs.first()?, workloads.first()?);
    let recorded_ns = workload.recorded_run_ns.filter(|ns| *ns > 0)?;
    let length_ns = workload.duration_ns?;
    let is_whole = |report: &RunReport| report.end_ns >= length_ns && !PolicyRuns::stuck(report);
    if run.reports.is_empty() || !run.reports.iter().all(is_whole) {
        return None;
    }
    let ran = |report: &RunReport| report.tasks.iter().map(|task| task.run_ns).sum::<u64>();
    let all_ns: u64 = run.reports.iter().map(ran).sum();
    let mean_ns = all_ns as f64 / run.reports.len() as f64;
    let pct = (mean_ns / recorded_ns as f64 - 1.0) * 100.0;
    let word = if pct > 0.0 { "longer" } else { "shorter" };
    (pct.abs() > LEAST_PCT).then(|| {
        format!(
            "{}: the tasks of the recording run {}, {:.1} % {word} than the {} recorded: another \
             policy, clock or hint than there, or a start that a recording does not show, as at a \
             barrier; compare policies with each other and not with the recording",
            run.policy,
            time(mean_ns as u64),
            pct.abs(),
            time(recorded_ns)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::run_time;
    use crate::comparison::PolicyRuns;
    use wakeplace_engine::{Ended, RunReport, TaskTotals};
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

    /// Goal: of 100 ms recorded, 112 ms in the mean of two runs are 12 % longer and 94 are 6 %
    /// shorter; 104 are as good as 100. Of a run that is shorter than the recording, and of one
    /// that does not say how long its tasks ran, nothing is told.
    #[test]
    fn a_run_is_as_long_as_recorded() {
        let spec = Spec::parse("context-switch", &LoadOptions::default()).expect("a model");
        let model = spec.expand(1, MachineFacts::alike(4)).expect("scripts");
        let said = |ms: [u64; 2], recorded_run_ns: Option<u64>, duration_ns: u64| {
            let report = |ms: u64| RunReport {
                end_ns: 1_000_000_000,
                ended: Ended::Duration,
                tasks: vec![TaskTotals {
                    run_ns: ms * 1_000_000,
                    ..TaskTotals::default()
                }],
                ..RunReport::default()
            };
            let run = PolicyRuns {
                policy: "linux-7.3".to_owned(),
                overrides: Vec::new(),
                settings: Vec::new(),
                metrics: Vec::new(),
                reports: ms.map(report).into(),
                timeline: None,
                details: None,
            };
            let workload = Workload {
                recorded_run_ns,
                duration_ns: Some(duration_ns),
                ..model.clone()
            };
            run_time(&[run], &[workload])
        };
        let recorded = Some(100_000_000);
        let longer = said([110, 114], recorded, 1_000_000_000).expect("12 %");
        let begins = "linux-7.3: the tasks of the recording run 112.00 ms, 12.0 % longer than the \
                      100.00 ms recorded: ";
        assert!(longer.starts_with(begins), "{longer}");
        let shorter = said([94, 94], recorded, 1_000_000_000).expect("6 %");
        assert!(shorter.contains("6.0 % shorter"), "{shorter}");
        assert_eq!(said([104, 104], recorded, 1_000_000_000), None);
        assert_eq!(said([112, 112], recorded, 1_000_000_001), None);
        assert_eq!(said([112, 112], None, 1_000_000_000), None);
    }
}

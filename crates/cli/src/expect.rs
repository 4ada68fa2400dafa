//! `--expect`: conditions on the mean of a metric, for every policy.

use crate::failure::{Failure, Verdict};
use wakeplace_metrics::{Expectation, ExpectationError, METRICS, Summary, series};
use wakeplace_platform::Platform;
use wakeplace_report::{Align, Cell, Format, Style, Table, Tone};
use wakeplace_study::Comparison;
use wakeplace_text::{did_you_mean, nearest, one_at_a_time};

/// Reads the conditions; a metric per cluster, kind of CPU or state must name one of each
/// platform's.
pub(crate) fn parse<'a>(
    texts: &[String],
    platforms: impl Iterator<Item = &'a Platform> + Clone,
) -> Result<Vec<Expectation>, Failure> {
    let mut all = Vec::new();
    for text in texts {
        let mut on_each = platforms.clone().map(|platform| one(text, platform));
        // The condition is the same on each; what it names has to be on all.
        all.extend(on_each.next().transpose()?);
        on_each.try_for_each(|other| other.map(drop))?;
    }
    Ok(all)
}

/// Reads a condition for a platform.
fn one(text: &str, platform: &Platform) -> Result<Expectation, Failure> {
    let wrong = |why: String| Failure::Input(format!("--expect {why}"));
    if let Some(list) = one_at_a_time("condition", text) {
        return Err(wrong(list));
    }
    let known = names(platform);
    let expectation = Expectation::parse(text).map_err(|error| wrong(on(&known, error)))?;
    if known.contains(&expectation.metric) {
        return Ok(expectation);
    }
    let near = nearest(&expectation.metric, known.iter().map(String::as_str));
    let hint = did_you_mean(near);
    let groups = platform.cpu_groups().into_iter().map(|group| group.name);
    let states = platform.idle_states.iter().map(|s| s.name.clone());
    let is_state = METRICS
        .iter()
        .any(|def| def.matches(&expectation.metric) && def.for_state("x") != def.name);
    let (what, parts): (_, Vec<String>) = if is_state {
        ("idle state", states.collect())
    } else {
        ("cluster or kind of CPU", groups.collect())
    };
    Err(wrong(format!(
        "`{text}`: platform {} has no such {what}; expected one of {}{hint}",
        platform.name,
        parts.join(", "),
    )))
}

/// The error with the nearest of the names that metrics have on this platform.
fn on(known: &[String], error: ExpectationError) -> String {
    match &error {
        ExpectationError::UnknownMetric(unknown) if unknown.nearest.is_none() => {
            let near = nearest(&unknown.name, known.iter().map(String::as_str));
            error.to_string() + &did_you_mean(near)
        }
        _ => error.to_string(),
    }
}

/// Every metric's name on this platform.
fn names(platform: &Platform) -> Vec<String> {
    let mut names = Vec::new();
    for def in METRICS {
        for group in platform.cpu_groups() {
            names.push(def.for_cluster(&group.name));
        }
        for state in &platform.idle_states {
            names.push(def.for_state(&state.name));
        }
    }
    names
}

/// The conditions checked.
pub(crate) struct Checked {
    table: Table,
    failed: usize,
    total: usize,
}

/// Checks every condition on every policy's means.
pub(crate) fn check(expectations: &[Expectation], comparison: &Comparison) -> Checked {
    let mut table = Table::new(
        "expectations",
        &["expected", "policy", "mean", "unit", "verdict"],
    )
    .align("mean", Align::Right);
    let mut failed = 0;
    for expectation in expectations {
        for runs in &comparison.runs {
            let measured = series(&runs.metrics);
            let mean = |name: &str| {
                let found = measured.get(name)?;
                Some(Summary::of(&found.values).mean)
            };
            let verdict = expectation.check(mean);
            let (value, word) = match verdict {
                wakeplace_metrics::Verdict::Met(value) => (Some(value), "pass"),
                wakeplace_metrics::Verdict::Failed(value) => (Some(value), "FAIL"),
                wakeplace_metrics::Verdict::Absent => (None, "FAIL: not measured here"),
            };
            let met = word == "pass";
            failed += usize::from(!met);
            let tone = if met { Tone::Good } else { Tone::Bad };
            table.row(vec![
                Cell::from(expectation.to_string()),
                Cell::from(runs.policy.clone()),
                value.map(|value| format!("{value:.4}")).into(),
                Cell::from(wakeplace_report::unit_of(&expectation.metric, comparison)),
                Cell::Toned(tone, word.to_owned()),
            ]);
        }
    }
    let total = expectations.len() * comparison.runs.len();
    Checked {
        table,
        failed,
        total,
    }
}

impl Checked {
    /// Exit code 1 if one failed.
    pub(crate) fn verdict(&self) -> Verdict {
        if self.failed == 0 {
            Verdict::Ok
        } else {
            Verdict::Unmet
        }
    }

    /// For people; empty if nothing was expected.
    pub(crate) fn text(&self, style: Style) -> String {
        if self.table.is_empty() {
            return String::new();
        }
        let sum = sum(self.failed, self.total);
        format!("\n{}{sum}\n", self.table.render(Format::Human, style))
    }
}

fn sum(failed: usize, total: usize) -> String {
    match (failed, total) {
        (0, 1) => "The expectation holds.".to_owned(),
        (_, 1) => "The expectation failed.".to_owned(),
        (0, all) => format!("All {all} expectations hold."),
        (failed, all) => format!("{failed} of {all} expectations failed."),
    }
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn one_is_not_several() {
        assert_eq!(sum(0, 1), "The expectation holds.");
        assert_eq!(sum(1, 1), "The expectation failed.");
        assert_eq!(sum(0, 2), "All 2 expectations hold.");
        assert_eq!(sum(1, 2), "1 of 2 expectations failed.");
    }
}

//! Our figures, by the commands of the rows. What a comparison says is taken from its JSON; where
//! the two sides need a command each, runs of one seed are a pair (docs/internals/checks.md,
//! "Outside results").
//!
//! What must stay: one seed is one pair; units are the published ones. Free: how it is done, and
//! words that no test or script reads. Tests by part: `units_are_the_published_ones` (`unit`,
//! `change`), outside/tests.rs::`a_row_is_a_line` (`verdict`). `measure`, `run`, `json`,
//! `compared`, `pairs`, `side`, `traced`, `middle`, `sorted` have no test of their own: `cargo
//! xtask outside --compare` in nightly shows a figure that moves.
//!
//! Tests: below

use super::rows::{Ours, Row};
use super::trace;
use super::verdict::{Verdict, median, median_interval, of};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What came of a row's commands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measured {
    /// In the published unit.
    pub(super) base: f64,
    pub(super) patched: Option<f64>,
    /// Percent.
    pub(super) change_pct: Option<f64>,
    pub(super) interval: Option<(f64, f64)>,
}

impl Measured {
    /// The verdict of a row of which this came.
    pub(super) fn verdict(row: &Row, measured: Option<&Self>) -> Verdict {
        match (&row.rule_missing, measured, row.change_pct) {
            (Some(_), _, _) => Verdict::RuleMissing,
            (None, Some(measured), Some(published)) => of(published, measured.interval),
            _ => Verdict::NotExpressed,
        }
    }
}

/// Runs a built `wakeplace`.
pub(super) struct Runner<'a> {
    pub(super) root: &'a Path,
    pub(super) program: PathBuf,
    /// A file of its own for traces.
    pub(super) trace: PathBuf,
}

impl Runner<'_> {
    /// What comes of the row; None: it has no commands.
    pub(super) fn measure(&self, row: &Row) -> Result<Option<Measured>> {
        let Some(ours) = &row.ours else {
            return Ok(None);
        };
        let measured = match &ours.compare {
            Some(command) => self.compared(ours, command),
            None => self.pairs(ours),
        };
        measured
            .map(Some)
            .with_context(|| format!("row `{}`", row.name()))
    }

    /// What a command prints; an error if it fails.
    fn run(&self, command: &str, more: &str) -> Result<String> {
        // The commands stand in the data file as one types them: the program is found by its name.
        let script = format!("wakeplace() {{ \"$WAKEPLACE\" --quiet \"$@\"; }}\n{command} {more}");
        let output = Command::new("sh")
            .current_dir(self.root)
            .args(["-c", &script])
            .env("WAKEPLACE", &self.program)
            .env("WAKEPLACE_TRACE", &self.trace)
            .output()
            .context("sh cannot be run")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!(
                "`{command} {more}` ended with {}: {}",
                output.status,
                said.trim()
            );
        }
        String::from_utf8(output.stdout).context("a result that is not UTF-8")
    }

    /// A command's result.
    fn json(&self, command: &str, more: &str) -> Result<Value> {
        let text = self.run(command, &format!("{more} --format json"))?;
        serde_json::from_str(&text).with_context(|| format!("the result of `{command}`"))
    }

    /// Two means of one comparison, and the change between them.
    fn compared(&self, ours: &Ours, command: &str) -> Result<Measured> {
        let metric = ours.metric.as_deref().unwrap_or_default();
        let result = self.json(command, "")?;
        let mean = |run: usize| {
            let value = &result["runs"][run]["metrics"][metric]["mean"];
            value
                .as_f64()
                .with_context(|| format!("run {run} has no mean of `{metric}`"))
        };
        let deltas = result["deltas"].as_array().map_or(&[][..], Vec::as_slice);
        let delta = deltas.iter().find(|delta| delta["metric"] == metric);
        let delta = delta.with_context(|| format!("no change of `{metric}`"))?;
        let change = delta["delta_pct"]
            .as_f64()
            .context("a change without percent")?;
        let interval = match &delta["ci95"] {
            Value::Array(ends) => ends[0].as_f64().zip(ends[1].as_f64()),
            // Every seed gave the same run: chance has no part in it.
            _ if delta["method"] == "same-runs" => Some((change, change)),
            _ => None,
        };
        let of = |percent: f64| ours.change(1.0, 1.0 + percent / 100.0);
        Ok(Measured {
            base: ours.unit(mean(0)?),
            patched: Some(ours.unit(mean(1)?)),
            change_pct: Some(of(change)),
            interval: interval.map(|(low, high)| sorted(of(low), of(high))),
        })
    }

    /// Figures of two commands, seed by seed.
    fn pairs(&self, ours: &Ours) -> Result<Measured> {
        let command = ours.base.as_deref().context("no command")?;
        let base = self.side(ours, command)?;
        let Some(command) = &ours.patched else {
            return Ok(Measured {
                base: ours.unit(ours.middle(&base)),
                ..Measured::default()
            });
        };
        let patched = self.side(ours, command)?;
        let pairs = base.iter().zip(&patched);
        let changes: Vec<f64> = pairs.map(|(b, p)| ours.change(*b, *p)).collect();
        Ok(Measured {
            base: ours.unit(ours.middle(&base)),
            patched: Some(ours.unit(ours.middle(&patched))),
            change_pct: Some(median(&changes)),
            interval: median_interval(&changes),
        })
    }

    /// The values of one side, by seed.
    fn side(&self, ours: &Ours, command: &str) -> Result<Vec<f64>> {
        let seeds = ours.seeds.unwrap_or(1);
        if let Some(metric) = &ours.metric {
            let result = self.json(command, &format!("--seeds {seeds}"))?;
            let runs = result["runs"][0]["seed_runs"]
                .as_array()
                .context("no runs")?;
            let of = |run: &Value| run["metrics"][metric].as_f64();
            let values: Option<Vec<f64>> = runs.iter().map(of).collect();
            return values.with_context(|| format!("a run without `{metric}`"));
        }
        (1..=seeds)
            .map(|seed| self.traced(ours, command, seed))
            .collect()
    }

    /// One figure read from the run's trace.
    fn traced(&self, ours: &Ours, command: &str, seed: u64) -> Result<f64> {
        let more = format!("--seed {seed} --export-ftrace \"$WAKEPLACE_TRACE\"");
        self.run(command, &more)?;
        let text = std::fs::read_to_string(&self.trace).context("the trace")?;
        let value = match (&ours.rise, &ours.idle) {
            (Some(rise), _) => trace::rise_ms(&text, rise),
            (_, Some(idle)) => trace::idle_s(&text, idle),
            _ => None,
        };
        value.with_context(|| format!("the trace of seed {seed} has not what is read from it"))
    }
}

impl Ours {
    /// A value of ours in the published unit.
    fn unit(&self, value: f64) -> f64 {
        let value = if self.inverse { 1.0 / value } else { value };
        value / self.per.unwrap_or(1.0)
    }

    /// From one value to another, percent of the published unit.
    fn change(&self, base: f64, patched: f64) -> f64 {
        if base == patched {
            return 0.0;
        }
        (self.unit(patched) / self.unit(base) - 1.0) * 100.0
    }

    /// Median or mean, as the row says.
    fn middle(&self, values: &[f64]) -> f64 {
        match self.median {
            true => median(values),
            false => values.iter().sum::<f64>() / values.len() as f64,
        }
    }
}

/// The lesser first.
fn sorted(a: f64, b: f64) -> (f64, f64) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::super::rows::Ours;

    /// Goal: a time that grows by a quarter is a speed that falls by a fifth; a sum of 16 is 16
    /// times one of them, and its change the same.
    #[test]
    fn units_are_the_published_ones() {
        let time = Ours {
            inverse: true,
            ..Ours::default()
        };
        assert!((time.change(4.0, 5.0) + 20.0).abs() < 1e-9);
        let sum = Ours {
            per: Some(16.0),
            ..Ours::default()
        };
        assert!((sum.unit(160.0) - 10.0).abs() < 1e-9);
        assert!((sum.change(160.0, 200.0) - 25.0).abs() < 1e-9);
        assert_eq!(sum.change(0.0, 0.0), 0.0);
    }
}

//! docs/results/outside/rows.toml: what others published, and how our figure is got.
//!
//! What must stay: keys of rows.toml; every published figure keeps its source. Free: how it is
//! done, and words that no test or script reads. Tests by part: `rows_have_what_they_need`
//! (`check`, both `wants`, `rows`, `name`), `a_wrong_row_has_its_cause` (`texts`),
//! `a_row_is_a_line` (`parse`, `commands`).
//!
//! Callers: mod.rs (`parse`, `check`).
//!
//! Tests: xtask/src/measure/outside/tests.rs::a_wrong_row_has_its_cause,
//! xtask/src/measure/outside/tests.rs::rows_have_what_they_need

use crate::Finding;
use serde::Deserialize;
use std::collections::BTreeSet;

/// The data file.
pub(super) const DATA: &str = "docs/results/outside/rows.toml";

/// All that was published, by series.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    pub(super) series: Vec<Series>,
}

/// One posting with its results.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) year: u16,
    /// Where it was published: a Message-ID, or what an archive calls it.
    pub(super) source: String,
    /// How it was measured, and what our side has of it.
    pub(super) note: Option<String>,
    pub(super) row: Vec<Row>,
}

/// One published result.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) platform: String,
    pub(super) workload: String,
    pub(super) metric: String,
    pub(super) base: Option<f64>,
    pub(super) patched: Option<f64>,
    pub(super) change_pct: Option<f64>,
    /// From what to what, and what else was said.
    pub(super) note: Option<String>,
    pub(super) ours: Option<Ours>,
    /// Why there is no figure of ours, or none for the patched side.
    pub(super) not_expressed: Option<String>,
    /// The rule that the patched side needs and no policy has.
    pub(super) rule_missing: Option<String>,
    /// Why the verdict is wrong, found by an experiment.
    pub(super) cause: Option<String>,
}

/// The commands of our figure: one that compares, or one for each side.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ours {
    /// `wakeplace compare` with two policies.
    pub(super) compare: Option<String>,
    /// `wakeplace sim` as it was before.
    pub(super) base: Option<String>,
    /// `wakeplace sim` with the change.
    pub(super) patched: Option<String>,
    /// Runs of `base` and of `patched`.
    pub(super) seeds: Option<u64>,
    /// A metric of the result; else one of the next two.
    pub(super) metric: Option<String>,
    pub(super) rise: Option<Rise>,
    pub(super) idle: Option<Idle>,
    /// The published unit is one over ours, as speed is over time.
    #[serde(default)]
    pub(super) inverse: bool,
    /// The published figure is for one of so many.
    pub(super) per: Option<f64>,
    /// Why the figures themselves cannot be compared, only the change.
    pub(super) other_unit: Option<String>,
    /// The published base is a median.
    #[serde(default)]
    pub(super) median: bool,
}

/// From a task's last wake-up to a clock's reaching a frequency, ms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rise {
    pub(super) task: String,
    pub(super) cpu: u32,
    pub(super) khz: u64,
}

/// Time of a CPU in an idle state, s.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Idle {
    pub(super) cpu: u32,
    pub(super) state: u32,
}

impl Data {
    /// The rows with their series, in the order of the file.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&Series, &Row)> {
        let of = |series| move |row| (series, row);
        self.series
            .iter()
            .flat_map(move |s| s.row.iter().map(of(s)))
    }
}

impl Row {
    /// A published result in a few words.
    pub(super) fn name(&self) -> String {
        format!("{}, {}, {}", self.platform, self.workload, self.metric)
    }

    /// What a row lacks, in words; None: nothing.
    fn wants(&self) -> Option<&'static str> {
        let figures = [self.base, self.patched, self.change_pct];
        let ours = self.ours.as_ref();
        if figures.iter().flatten().any(|figure| !figure.is_finite()) {
            return Some("a figure is not a number");
        }
        if figures == [None; 3] {
            return Some("it has no published figure: `base` and `patched`, or `change_pct`");
        }
        match (&self.not_expressed, &self.rule_missing, ours) {
            (Some(_), Some(_), _) => Some("it has both `not_expressed` and `rule_missing`"),
            (Some(_), _, Some(_)) => Some("it has both `ours` and `not_expressed`"),
            (None, None, None) => Some("it has neither `ours` nor `not_expressed`"),
            (_, Some(_), Some(ours)) if ours.base.is_none() || ours.patched.is_some() => {
                Some("with `rule_missing` its `ours` has a `base` and no `patched`")
            }
            (_, None, Some(_)) if self.change_pct.is_none() => {
                Some("it has `ours` and no `change_pct` to compare with")
            }
            (_, None, Some(ours)) => ours.wants(),
            _ => None,
        }
    }

    /// What may be said below a row's table.
    fn texts(&self) -> [&Option<String>; 4] {
        [
            &self.not_expressed,
            &self.rule_missing,
            &self.cause,
            &self.note,
        ]
    }
}

impl Ours {
    /// What a row's `ours` lacks; None: nothing.
    fn wants(&self) -> Option<&'static str> {
        let sides = (self.base.is_some(), self.patched.is_some());
        let reads = [
            self.metric.is_some(),
            self.rise.is_some(),
            self.idle.is_some(),
        ];
        if reads.iter().filter(|is| **is).count() != 1 {
            return Some("its `ours` has not one of `metric`, `rise` and `idle`");
        }
        match (self.compare.is_some(), sides) {
            (true, (false, false)) if self.metric.is_none() => {
                Some("`compare` is read by a `metric`")
            }
            (true, (false, false)) if self.seeds.is_some() => {
                Some("`compare` says its `--seeds` itself")
            }
            (true, (false, false)) => None,
            (false, (true, true)) if self.seeds.is_none_or(|n| n < 2) => {
                Some("its `seeds` are not 2 or more")
            }
            (false, (true, true)) => None,
            _ => Some("its `ours` has neither `compare` nor both `base` and `patched`"),
        }
    }

    /// Its commands as they stand in the file.
    pub(super) fn commands(&self) -> impl Iterator<Item = &str> {
        let all = [&self.compare, &self.base, &self.patched];
        all.into_iter().flatten().map(|command| command.trim())
    }
}

/// The data, or what of it cannot be read.
pub(super) fn parse(text: &str) -> Result<Data, Finding> {
    toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let line = text[..offset].matches('\n').count() + 1;
        Finding::at(DATA, line, error.message())
    })
}

/// Whether each row has what it needs.
pub(super) fn check(data: &Data) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |name: String, what: &str| {
        findings.push(Finding::on(DATA, format!("`{name}`: {what}")));
    };
    for series in &data.series {
        if series.source.trim().len() < 20 {
            found(
                series.name.clone(),
                "its `source` leads nobody to the posting",
            );
        }
        if !(2000..2100).contains(&series.year) {
            found(series.name.clone(), "its `year` is none");
        }
    }
    let mut seen = BTreeSet::new();
    for (series, row) in data.rows() {
        if let Some(what) = row.wants() {
            found(row.name(), what);
        }
        for command in row.ours.iter().flat_map(Ours::commands) {
            // A changed platform comes through a pipe.
            let last = command.rsplit("|\n").next().unwrap_or(command);
            if !last.trim_start().starts_with("wakeplace ") {
                found(row.name(), "a command does not begin with `wakeplace `");
            }
        }
        for text in row.texts().into_iter().flatten() {
            if text.contains('|') || !text.trim_end().ends_with(['.', ')']) {
                found(row.name(), "a text is no sentence, or has a `|`");
            }
        }
        let key = (&series.name, row.name(), row.note.clone());
        if !seen.insert(key) {
            found(row.name(), "it stands twice in its series");
        }
    }
    findings
}

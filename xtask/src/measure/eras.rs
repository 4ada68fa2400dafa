//! `cargo xtask eras`: what linux-6.12 does otherwise than linux-6.2, rule by rule, into
//! docs/results/eras.md.
//!
//! Each workload runs under linux-6.2, then under linux-6.2 with one more group of rules as 6.12
//! has them in each line, until it is linux-6.12, and under linux-6.2 with that group alone.
//!
//! What must stay: groups of rules lead from one era to the other: it fails if they do not. Free:
//! how it is done, and words that no test or script reads. Tests by part: `run`, `table`, `whole`,
//! `row`, `change` have no test of their own: the page that they write is looked at.
//!
//! Callers: commands.rs (`run`).
//!
//! Tests: none; the page that it writes is looked at.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use xshell::cmd;

use crate::shop::figures::four;
use crate::shop::{Shop, page, setting};

const LIST: &str = include_str!("../../data/eras.toml");
const PAGE: &str = "docs/results/eras.md";
const COMMAND: &str = "cargo xtask eras";
/// What a row has after its energy.
const METRICS: [&str; 5] = [
    "wake_latency_us_mean",
    "wake_latency_us_p99",
    "freq_changes_total",
    "migrations_total",
    "missed_periods_total",
];

#[derive(Deserialize)]
struct List {
    groups: Vec<String>,
    cases: Vec<String>,
}

/// Mean and relative standard deviation of each metric.
type Figures = BTreeMap<String, (f64, f64)>;

struct Case<'a> {
    shop: &'a Shop,
    program: &'a Path,
    seeds: u32,
    platform: &'a str,
    workload: &'a str,
    energy: &'a str,
    duration: &'a str,
}

/// Renews the page.
///
/// # Errors
/// A run fails, or the groups do not lead to linux-6.12.
pub fn run(shop: &Shop) -> Result<()> {
    let list: List = toml::from_str(LIST)?;
    let program: PathBuf = shop.program()?;
    let seeds = setting("SEEDS", "how many seeds", 5)?;
    let mut text = String::new();
    for case in &list.cases {
        let words: Vec<&str> = case.split(' ').collect();
        let [platform, workload, energy, duration] = words[..] else {
            bail!("eras.toml: `{case}`: expected four words");
        };
        let case = Case {
            shop,
            program: &program,
            seeds,
            platform,
            workload,
            energy,
            duration,
        };
        text += &case.table(&list.groups)?;
    }
    page::renew(&shop.root, PAGE, COMMAND, &text)
}

impl Case<'_> {
    /// The figures of one policy with these settings.
    fn run(&self, policy: &str, sets: &[&str]) -> Result<Figures> {
        let Self {
            program,
            seeds,
            platform,
            workload,
            ..
        } = self;
        let seeds = seeds.to_string();
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let duration: &[&str] = match self.duration {
            "-" => &[],
            _ => &["--duration", self.duration],
        };
        let text = cmd!(self.shop.sh, "{program} sim --quiet --platform {platform}")
            .args(["--workload", workload, "--policy", policy])
            .args(["--seeds", &seeds, "--format", "json"])
            .args(sets)
            .args(duration)
            .quiet()
            .read()?;
        let result: Value = serde_json::from_str(&text)?;
        let metrics = result["runs"][0]["metrics"]
            .as_object()
            .context("no metrics")?;
        let number = |of: &Value, name: &str| of[name].as_f64().unwrap_or_default();
        let figures = metrics.iter().map(|(name, of)| {
            let figure = (number(of, "mean"), number(of, "rsd_pct"));
            (name.clone(), figure)
        });
        Ok(figures.collect())
    }

    /// The table of one machine and workload.
    fn table(&self, groups: &[String]) -> Result<String> {
        let (base, goal) = (self.run("linux-6.2", &[])?, self.run("linux-6.12", &[])?);
        let mut text = format!(
            "\n### {}, {}\n\n| rules | {} | latency mean | latency p99 | frequency changes | \
             migrations | missed periods |\n|:--|--:|--:|--:|--:|--:|--:|\n{}",
            self.platform,
            self.workload,
            self.energy,
            self.whole("linux-6.2", &base),
        );
        let mut before = base.clone();
        let mut sets: Vec<&str> = Vec::new();
        for group in groups {
            let mut words = group.split(' ');
            let name = words.next().unwrap_or_default();
            let own: Vec<&str> = words.collect();
            sets.extend(&own);
            let now = self.run("linux-6.2", &sets)?;
            let alone = self.run("linux-6.2", &own)?;
            let cell = |metric: &str| {
                let change = change(&now, &before, metric);
                format!("{change} ({})", self::change(&alone, &base, metric))
            };
            text += &self.row(name, cell);
            before = now;
        }
        if before != goal {
            bail!(
                "{}, {}: the groups do not lead to linux-6.12",
                self.platform,
                self.workload
            );
        }
        text += &self.row("**all**", |metric| change(&goal, &base, metric));
        text += &self.whole("linux-6.12", &goal);
        Ok(text)
    }

    /// An era's own figures, with their spread over the seeds.
    fn whole(&self, name: &str, figures: &Figures) -> String {
        self.row(name, |metric| {
            let (mean, spread) = figures.get(metric).copied().unwrap_or_default();
            format!("{} (±{spread:.1} %)", four(mean))
        })
    }

    /// A line with a cell for each metric.
    fn row(&self, name: &str, cell: impl Fn(&str) -> String) -> String {
        let mut row = format!("| {name} |");
        for metric in std::iter::once(self.energy).chain(METRICS) {
            let _ = write!(row, " {} |", cell(metric));
        }
        row.push('\n');
        row
    }
}

/// Percent; `=` for equal, a sum where the first is 0.
fn change(now: &Figures, before: &Figures, metric: &str) -> String {
    let of = |figures: &Figures| figures.get(metric).copied().unwrap_or_default().0;
    match (of(now), of(before)) {
        (now, before) if now == before => "=".to_owned(),
        (now, 0.0) if now > 0.0 => format!("+{}", four(now)),
        (now, 0.0) => four(now),
        (now, before) => format!("{:+.2} %", 100.0 * (now / before - 1.0)),
    }
}

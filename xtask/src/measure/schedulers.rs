//! `cargo xtask schedulers`: schedulers of others beside linux-7.3 and wakeplace, into
//! docs/results/schedulers.md.
//!
//! What must stay: the page's table; machines and seeds are in it. Free: how it is done, and words
//! that no test or script reads. Tests by part: `run`, `compare`, `command`, `table`,
//! `work_differs`, `delta_of`, `delta` have no test of their own: the page that they write is
//! looked at.
//!
//! Callers: commands.rs (`run`).
//!
//! Tests: none; the page that it writes is looked at.

use std::fmt::Write as _;
use std::path::Path;
use std::slice;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::Value;
use xshell::{Cmd, cmd};

use crate::shop::figures::four;
use crate::shop::{Shop, page, setting, text_of};

const LIST: &str = include_str!("../../data/schedulers.toml");
const PAGE: &str = "docs/results/schedulers.md";
const COMMAND: &str = "cargo xtask schedulers";

#[derive(Deserialize)]
struct List {
    schedulers: Vec<String>,
    cases: Vec<String>,
}

/// Renews the page.
///
/// # Errors
/// A comparison fails.
pub fn run(shop: &Shop) -> Result<()> {
    let mut list: List = toml::from_str(LIST)?;
    if let Some(chosen) = text_of("SCHEDULERS") {
        list.schedulers = chosen.split(',').map(str::to_owned).collect();
    }
    let program = shop.program()?;
    let seeds = setting("SEEDS", "how many seeds", 5u32)?.to_string();
    let duration = text_of("DURATION").unwrap_or("3s".into());
    let version = cmd!(shop.sh, "{program} --version").quiet().read()?;
    let version = version.lines().next().unwrap_or_default();
    let mut text = format!("Of {version}, {duration} each, {seeds} seeds.\n");
    for case in &list.cases {
        let words: Vec<&str> = case.split(' ').collect();
        let [platform, workload, third] = words[..] else {
            bail!("schedulers.toml: `{case}`: expected three words");
        };
        let case = Case {
            platform,
            workload,
            seeds: &seeds,
            duration: (third != "runtime_s").then_some(duration.as_str()),
        };
        let (result, refused) = case.compare(shop, &program, &list.schedulers)?;
        let _ = write!(
            text,
            "\n### {platform}, {workload}\n\n{}",
            table(&result, third)?
        );
        for (scheduler, why) in refused {
            let _ = writeln!(text, "\n`{scheduler}` did not run: {why}");
        }
    }
    page::renew(&shop.root, PAGE, COMMAND, &text)
}

/// One comparison.
struct Case<'a> {
    platform: &'a str,
    workload: &'a str,
    seeds: &'a str,
    /// None: to the end of the work.
    duration: Option<&'a str>,
}

impl Case<'_> {
    /// The comparison of all that run, as JSON, and of each scheduler that does not, the message.
    fn compare(
        &self,
        shop: &Shop,
        program: &Path,
        schedulers: &[String],
    ) -> Result<(Value, Vec<(String, String)>)> {
        let all = self.command(shop, program, schedulers);
        let output = all.ignore_status().output()?;
        if output.status.success() {
            return Ok((serde_json::from_slice(&output.stdout)?, Vec::new()));
        }
        let mut refused = Vec::new();
        let mut rest = Vec::new();
        for scheduler in schedulers {
            let alone = self.command(shop, program, slice::from_ref(scheduler));
            let output = alone.ignore_status().output()?;
            if output.status.success() {
                rest.push(scheduler.clone());
            } else {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let why = said.lines().find_map(|line| line.strip_prefix("error: "));
                let why = why.with_context(|| format!("{scheduler}: {said}"))?;
                refused.push((scheduler.clone(), why.to_owned()));
            }
        }
        ensure!(
            !refused.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let json = self.command(shop, program, &rest).read()?;
        Ok((serde_json::from_str(&json)?, refused))
    }

    /// `compare` with the usual policies and these schedulers.
    fn command<'s>(&self, shop: &'s Shop, program: &Path, schedulers: &[String]) -> Cmd<'s> {
        let Self {
            platform,
            workload,
            seeds,
            duration,
        } = self;
        let mut words = vec!["--seeds", seeds, "--format", "json"];
        for policy in ["linux-7.3", "linux-7.3-energy-aware", "wakeplace"] {
            words.extend(["--policy", policy]);
        }
        words.extend(schedulers.iter().flat_map(|own| ["--scheduler", own]));
        words.extend(
            duration
                .iter()
                .flat_map(|duration| ["--duration", duration]),
        );
        cmd!(
            shop.sh,
            "{program} compare --quiet --platform {platform} --workload {workload}"
        )
        .args(words)
        .quiet()
    }
}

/// A row of each contender.
fn table(result: &Value, third: &str) -> Result<String> {
    let mut text = format!(
        "| | CPU energy | work done | CPU energy for 1 s of work | p99 of wake-ups | {third} |\n\
         |:--|:--|:--|:--|:--|:--|\n"
    );
    for run in result["runs"].as_array().context("no runs")? {
        let name = run["policy"].as_str().context("a run without a name")?;
        let cell = |metric: &str| {
            let own = &run["metrics"][metric];
            let cell = own["mean"].as_f64().map(|mean| {
                let unit = own["unit"].as_str().filter(|unit| *unit != "count");
                let unit = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
                format!("{}{unit}{}", four(mean), delta(result, name, metric))
            });
            cell.unwrap_or_default()
        };
        let per_work = match work_differs(result, name) {
            true => cell("cpu_energy_per_work_j"),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {per_work} | {} | {} |",
            cell("cpu_energy_j"),
            cell("task_work_s"),
            cell("wake_latency_us_p99"),
            cell(third),
        );
    }
    Ok(text)
}

/// Whether it is told that a contender did more work than the first, or less. Where there is one
/// run, by the mean.
fn work_differs(result: &Value, name: &str) -> bool {
    let Some(delta) = delta_of(result, name, "task_work_s") else {
        return false;
    };
    match delta["difference"].as_str() {
        Some("better" | "worse") => true,
        Some("one run") => {
            let sizes = [delta["delta_pct"].as_f64(), result["margin_pct"].as_f64()];
            matches!(sizes, [Some(pct), Some(margin)] if pct.abs() > margin)
        }
        _ => false,
    }
}

/// How `name` differs from the first in a metric: of `deltas[]` of `compare --format json`
/// (docs/result.schema.json, `Delta`) the one with this `other` and `metric`. None: not compared.
fn delta_of<'a>(result: &'a Value, name: &str, metric: &str) -> Option<&'a Value> {
    let mut all = result["deltas"].as_array()?.iter();
    all.find(|delta| delta["other"] == name && delta["metric"] == metric)
}

/// How it differs from the first, and whether that is told; nothing of the first.
fn delta(result: &Value, name: &str, metric: &str) -> String {
    let Some(delta) = delta_of(result, name, metric) else {
        return String::new();
    };
    let Some(pct) = delta["delta_pct"].as_f64() else {
        return String::new();
    };
    let end = |at: usize| delta["ci95"][at].as_f64().unwrap_or_default();
    let told = delta["difference"].as_str().unwrap_or_default();
    format!(", {pct:+.1} % [{:+.0}, {:+.0}] {told}", end(0), end(1))
}

//! Two results, before and after: what was asked otherwise, and what became of every metric, paired
//! by seed.

use crate::comparison::comparison;
use crate::html::read::{self, Parsed};
use crate::html::{HtmlError, Source};
use crate::{Format, Style};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use wakeplace_metrics::{RunMetrics, find_metric};
use wakeplace_outcome::{self as outcome, Pairs, SeedRun};
use wakeplace_study::{Comparison, PolicyRuns, RunReport};

/// Names of the two in a difference.
const NAMES: [&str; 2] = ["before", "after"];
/// Most lines about settings that differ; a policy has some 300.
const MOST_SETTINGS: usize = 12;

/// What two results differ by.
#[derive(Debug, Default)]
pub struct Differences {
    /// One for each run of a policy that both have.
    pub pairs: Vec<Difference>,
    /// Runs that only one of them has, a line each.
    pub alone: Vec<String>,
}

/// Runs of a policy in both results.
#[derive(Debug)]
pub struct Difference {
    /// The later result's policy.
    pub policy: String,
    /// What was asked otherwise, a line each.
    pub asked: Vec<String>,
    /// The runs: before, and after.
    pub runs: Comparison,
}

/// The runs of one policy in a result.
struct Kept {
    platform: String,
    platform_hash: String,
    workload: String,
    workload_hash: String,
    policy: String,
    duration_ns: u64,
    jitter: Option<String>,
    /// Of the policy and of the machine's model.
    settings: Vec<(String, String)>,
    program: String,
    measured_by: Vec<String>,
    modelled_power: bool,
    seed_runs: Vec<SeedRun>,
}

/// Compares what two results have in common. A difference of less than `margin_pct` does not
/// matter; None: the later result's own margin.
///
/// # Errors
/// One of them is no result, has no single runs, or the two have nothing in common.
pub fn diff(
    before: Source<'_>,
    after: Source<'_>,
    margin_pct: Option<f64>,
) -> Result<Differences, HtmlError> {
    let (olds, _) = kept(before)?;
    let (news, own_pct) = kept(after)?;
    let margin_pct = margin_pct
        .or(own_pct)
        .unwrap_or(wakeplace_study::DEFAULT_MARGIN_PCT);
    let mut olds: Vec<Option<Kept>> = olds.into_iter().map(Some).collect();
    let mut news: Vec<Option<Kept>> = news.into_iter().map(Some).collect();
    let mut found = Differences::default();
    // First what is named alike in everything, then what is alike in most.
    for alike in (0..=3).rev() {
        for new in &mut news {
            let Some(of) = new.as_ref() else { continue };
            let same =
                |old: &&mut Option<Kept>| old.as_ref().is_some_and(|old| old.alike(of) == alike);
            let mut candidates = olds.iter_mut().filter(same);
            let (Some(old), None) = (candidates.next(), candidates.next()) else {
                continue;
            };
            if let Some((old, new)) = old.take().zip(new.take()) {
                found
                    .pairs
                    .push(difference(old, new, margin_pct, [before.name, after.name])?);
            }
        }
    }
    let alone = |name: &str, left: Vec<Option<Kept>>| -> Vec<String> {
        let left = left.into_iter().flatten();
        left.map(|of| format!("only in {name}: {}", of.named()))
            .collect()
    };
    found.alone = [alone(before.name, olds), alone(after.name, news)].concat();
    Ok(found)
}

impl Kept {
    /// How many of platform, workload and policy have the same name.
    fn alike(&self, other: &Self) -> usize {
        let names = |of: &Self| [of.platform.clone(), of.workload.clone(), of.policy.clone()];
        let both = names(self).into_iter().zip(names(other));
        both.filter(|(one, other)| one == other).count()
    }

    fn named(&self) -> String {
        format!("{}, {}, {}", self.platform, self.workload, self.policy)
    }
}

/// The runs of a result, and its margin.
fn kept(source: Source<'_>) -> Result<(Vec<Kept>, Option<f64>), HtmlError> {
    let mut all = Vec::new();
    let mut margin_pct = None;
    for parsed in read::read(source)? {
        match parsed {
            Parsed::Comparison(result) => {
                margin_pct = margin_pct.or(result.margin_pct);
                all.extend(result.runs.iter().map(|run| of_comparison(&result, run)));
            }
            Parsed::Study(result) => {
                margin_pct = margin_pct.or(result.margin_pct);
                let profiles = result.profiles.iter();
                all.extend(profiles.filter_map(|profile| of_study(&result, profile)));
            }
        }
    }
    if all.iter().any(|one| one.seed_runs.is_empty()) {
        let what = "has means and no single runs, so nothing can be paired: make it again";
        return Err(read::refused(source.name, what));
    }
    Ok((all, margin_pct))
}

fn program(version: &str, commit: Option<&String>) -> String {
    match commit {
        Some(commit) => format!("{version} of commit {commit}"),
        None => version.to_owned(),
    }
}

fn pairs(all: [&Pairs; 2]) -> Vec<(String, String)> {
    let both = all.into_iter().flat_map(|pairs| pairs.iter());
    both.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn of_comparison(result: &outcome::Comparison, run: &outcome::Run) -> Kept {
    Kept {
        platform: run.platform.clone(),
        platform_hash: run.platform_hash.clone(),
        workload: run.workload.clone(),
        workload_hash: run.workload_hash.clone(),
        policy: run.policy.clone(),
        duration_ns: result.duration_ns,
        jitter: result.jitter.clone(),
        settings: pairs([&run.settings, &result.options]),
        program: program(&result.version, result.commit.as_ref()),
        measured_by: result.measured_by.clone(),
        modelled_power: result.modelled_power,
        seed_runs: run.seed_runs.clone(),
    }
}

fn of_study(result: &outcome::Study, profile: &outcome::CaseProfile) -> Option<Kept> {
    let case = result.cases.iter().find(|case| case.case == profile.case)?;
    Some(Kept {
        platform: case.platform.clone(),
        platform_hash: profile.platform_hash.clone(),
        // Two cases may have one workload.
        workload: format!("{}, {}", profile.case, case.workload),
        workload_hash: String::new(),
        policy: profile.policy.clone(),
        duration_ns: case.duration_ns,
        jitter: None,
        settings: pairs([&profile.settings, &result.options]),
        program: program(&result.version, result.commit.as_ref()),
        measured_by: Vec::new(),
        modelled_power: case.modelled_power,
        seed_runs: profile.seed_runs.clone(),
    })
}

fn difference(
    old: Kept,
    new: Kept,
    margin_pct: f64,
    files: [&str; 2],
) -> Result<Difference, HtmlError> {
    let seeds = |of: &Kept| -> BTreeSet<u64> { of.seed_runs.iter().map(|run| run.seed).collect() };
    let both: Vec<u64> = seeds(&old).intersection(&seeds(&new)).copied().collect();
    if both.is_empty() {
        let what = format!("has no seed of {} for {}", files[0], new.named());
        return Err(read::refused(files[1], &what));
    }
    let mut asked = asked(&old, &new);
    for (of, name) in [(&old, NAMES[0]), (&new, NAMES[1])] {
        let left = of.seed_runs.len() - both.len();
        if left > 0 {
            asked.push(format!("seeds that are only {name}, left out: {left}"));
        }
    }
    let runs = [(&old, NAMES[0]), (&new, NAMES[1])].map(|(of, name)| policy_runs(of, name, &both));
    let mut runs = Comparison {
        platform: new.platform,
        platform_hash: new.platform_hash,
        workload: new.workload,
        workload_hash: new.workload_hash,
        jitter: new.jitter,
        duration_ns: new.duration_ns,
        seeds: both,
        settings: Vec::new(),
        options: Vec::new(),
        measured_by: new.measured_by,
        modelled_power: old.modelled_power || new.modelled_power,
        runs: runs.to_vec(),
        margin_pct,
        states: Vec::new(),
        origin: wakeplace_study::Origin::default(),
        notes: Vec::new(),
        warnings: Vec::new(),
        why_stuck: None,
    };
    let same = |run: &PolicyRuns| -> Vec<u64> {
        run.metrics.iter().map(|run| run.behaviour_hash).collect()
    };
    if same(&runs.runs[0]) == same(&runs.runs[1]) {
        runs.notes
            .push("in every run the same happened, before and after".to_owned());
    }
    Ok(Difference {
        policy: new.policy,
        asked,
        runs,
    })
}

/// What was asked otherwise, the policy first.
fn asked(old: &Kept, new: &Kept) -> Vec<String> {
    let mut lines = Vec::new();
    let mut differs = |what: &str, old: &str, new: &str| {
        if old != new {
            lines.push(format!("{what}: {old}, then {new}"));
        }
    };
    let times = [old.duration_ns, new.duration_ns].map(wakeplace_text::time);
    let none = "none".to_owned();
    let jitters = [&old.jitter, &new.jitter].map(|jitter| jitter.clone().unwrap_or(none.clone()));
    differs("policy", &old.policy, &new.policy);
    differs("platform", &old.platform, &new.platform);
    differs("workload", &old.workload, &new.workload);
    differs("duration", &times[0], &times[1]);
    differs("jitter", &jitters[0], &jitters[1]);
    differs("program", &old.program, &new.program);
    let changed = |old: &str, new: &str| !old.is_empty() && !new.is_empty() && old != new;
    if old.platform == new.platform && changed(&old.platform_hash, &new.platform_hash) {
        lines.push(format!("platform: {} has other figures", new.platform));
    }
    if old.workload == new.workload && changed(&old.workload_hash, &new.workload_hash) {
        lines.push(format!("workload: {} has other contents", new.workload));
    }
    lines.extend(settings(old, new));
    lines
}

/// Parameters that have another value, or that only one of them has.
fn settings(old: &Kept, new: &Kept) -> Vec<String> {
    let of = |all: &Kept, key: &str| -> String {
        let found = all.settings.iter().find(|(name, _)| name == key);
        found.map_or("absent".to_owned(), |(_, value)| value.clone())
    };
    let keys: BTreeSet<&String> = [old, new]
        .into_iter()
        .flat_map(|all| all.settings.iter().map(|(key, _)| key))
        .collect();
    let one = |key: &&String| {
        let values = [of(old, key), of(new, key)];
        (values[0] != values[1]).then(|| format!("{key}: {}, then {}", values[0], values[1]))
    };
    let mut lines: Vec<String> = keys.iter().filter_map(one).collect();
    if lines.len() > MOST_SETTINGS {
        let more = lines.len() - MOST_SETTINGS;
        lines.truncate(MOST_SETTINGS);
        lines.push(format!("{more} more parameters"));
    }
    lines
}

/// The runs of these seeds, in their order. A metric that this program does not know is left out.
fn policy_runs(of: &Kept, name: &str, seeds: &[u64]) -> PolicyRuns {
    let run = |seed: &u64| of.seed_runs.iter().find(|run| run.seed == *seed);
    let metrics = seeds.iter().filter_map(run).map(|run| {
        let known = run
            .metrics
            .iter()
            .filter(|(name, _)| find_metric(name).is_ok());
        let values = known.filter_map(|(name, value)| Some((name.as_str(), (*value)?)));
        let hash = u64::from_str_radix(&run.behaviour_hash, 16).unwrap_or(0);
        RunMetrics::kept(values, hash)
    });
    PolicyRuns {
        policy: name.to_owned(),
        overrides: Vec::new(),
        settings: of.settings.clone(),
        metrics: metrics.collect(),
        reports: vec![RunReport::default(); seeds.len()],
        timeline: None,
    }
}

impl Difference {
    /// Of what it is, and what was asked otherwise.
    fn heading(&self) -> String {
        let at = format!(
            "{}, {}, {}",
            self.runs.platform, self.runs.workload, self.policy
        );
        let mut text = match self.asked.is_empty() {
            true => format!("{at}: the same was asked\n"),
            false => format!("{at}: asked otherwise\n"),
        };
        for line in &self.asked {
            let _ = writeln!(text, "  {line}");
        }
        text
    }
}

impl Differences {
    /// For people: of each pair what was asked otherwise, and what became of it; then what only one
    /// result has.
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let pairs = self.pairs.iter();
        let one = |pair: &Difference| {
            let figures = comparison(&pair.runs, Format::Human, style);
            format!("{}\n{figures}", pair.heading())
        };
        let mut parts: Vec<String> = pairs.map(one).collect();
        if !self.alone.is_empty() {
            parts.push(self.alone.join("\n") + "\n");
        }
        parts.join("\n")
    }

    /// The differences as comparisons, whose notes say of which policy they are and what was asked
    /// otherwise.
    #[must_use]
    pub fn comparisons(&self) -> Vec<Comparison> {
        let one = |pair: &Difference| {
            let of = std::iter::once(format!("policy: {}", pair.policy));
            let asked = pair
                .asked
                .iter()
                .map(|line| format!("asked otherwise: {line}"));
            let notes = of.chain(asked).chain(pair.runs.notes.iter().cloned());
            Comparison {
                notes: notes.collect(),
                ..pair.runs.clone()
            }
        };
        self.pairs.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests;

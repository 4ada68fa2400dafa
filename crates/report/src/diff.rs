//! Two results, before and after: what was asked otherwise, and what became of every metric, paired
//! by seed (docs/guide/results.md, "Two results").
//!
//! What must stay: nothing is simulated, and figures are those of the two files; a pair is of one
//! seed, and seeds that only one result has are left out aloud; pairs stand in the order of the
//! later result, in JSON and on the page of two results; people see them in that of `summary.rs`.
//! Words for people may change.
//! Tests by part: `runs_of_one_seed_are_a_pair` (`difference`, `settings`, `policy_runs`,
//! `comparisons`, `heading`), `the_most_alike_are_a_pair` (`diff`, `asked`, the margin),
//! `what_has_no_pairs_is_refused` (errors), `two_results_are_compared` (`same_length`, by the
//! command), `periods_are_compared_task_by_task` (details of both),
//! `a_difference_is_as_long_as_its_results` (`report`),
//! `the_first_line_counts_and_what_differs_comes_first` (`is_same`, `line`),
//! `markdown_has_the_order_of_the_text` (`markdown`, `shown`), the first also `text`.
//!
//! Tests: crates/report/src/diff/tests.rs,
//! crates/cli/tests/all/results.rs::two_results_are_compared,
//! crates/cli/tests/all/results.rs::periods_are_compared_task_by_task

mod kept;
mod left;
mod summary;

use crate::comparison::{document, human};
use crate::html::read;
use crate::html::{HtmlError, Source};
use crate::{Format, Style};
use kept::{HINT, Kept, Settings, hash, kept};
use left::Left;
use std::collections::{BTreeMap, BTreeSet};
use summary::{Became, first_line, in_order};
use wakeplace_metrics::{RunMetrics, find_metric};
use wakeplace_outcome::{self as outcome, SeedRun};
use wakeplace_study::{Comparison, Ended, PolicyRuns, RunReport};
use wakeplace_text::{count, markdown, printable};

/// What stands behind a policy's name.
const SIDES: [&str; 2] = ["before", "after"];
/// Most lines about settings that differ; a policy has some 300.
const MOST_SETTINGS: usize = 12;

/// What two results differ by.
#[derive(Debug, Default)]
pub struct Differences {
    /// One for each run of a policy that both have.
    pub pairs: Vec<Difference>,
    /// Runs that only one of them has, a line each.
    pub alone: Vec<String>,
    /// Names of the two results.
    pub files: [String; 2],
}

/// Runs of a policy in both results.
#[derive(Debug)]
pub struct Difference {
    /// Platform and workload of the later result; of a study its case.
    pub place: String,
    /// The policy's name in each.
    pub policies: [String; 2],
    /// What differs of what was asked, and of the program, a line each.
    pub asked: Vec<String>,
    /// The runs: before, and after.
    pub runs: Comparison,
    /// False: a run got stuck in one of them.
    pub complete: bool,
    /// Both were as long: what is counted can be compared.
    pub same_length: bool,
    /// Those of the two sides' policies, which the runs have where they are wanted.
    settings: [Settings; 2],
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
    let margin_pct = margin_pct.or(own_pct.filter(|pct| *pct >= 0.0 && pct.is_finite()));
    let margin_pct = margin_pct.unwrap_or(wakeplace_study::DEFAULT_MARGIN_PCT);
    let mut left = Left([olds, news]);
    let mut pairs = left.by_name();
    // Then what is alike in two of the names, in one, in none, and has no rival.
    for alike in (0..3).rev() {
        pairs.extend(left.by_likeness(alike));
    }
    if pairs.is_empty() {
        let what = format!("has nothing that is alike in {}", before.name);
        return Err(read::refused(after.name, &what));
    }
    let files = [before.name, after.name];
    let of = |(old, new)| difference(old, new, margin_pct, files);
    Ok(Differences {
        pairs: pairs.into_iter().map(of).collect::<Result<_, _>>()?,
        alone: left.alone(files),
        files: files.map(str::to_owned),
    })
}

/// Two runs side by side, over the seeds that both have.
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
    for (of, side) in [(&old, SIDES[0]), (&new, SIDES[1])] {
        let left = of.seed_runs.len() - both.len();
        if left > 0 {
            asked.push(format!("seeds that are only {side}, left out: {left}"));
        }
    }
    // Details are means of all seeds.
    let all_seeds = [&old, &new]
        .iter()
        .all(|of| of.seed_runs.len() == both.len());
    let runs = [(&old, SIDES[0]), (&new, SIDES[1])].map(|(of, side)| PolicyRuns {
        details: of.details.clone().filter(|_| all_seeds),
        ..policy_runs(of, side, &both)
    });
    let complete = old.complete && new.complete;
    let notes = notes(&runs, complete);
    let place = new.place();
    let same_length = old.duration_ns == new.duration_ns;
    let runs = Comparison {
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
        unlike_lengths: !same_length,
        runs: runs.into(),
        margin_pct,
        shown: Vec::new(),
        states: Vec::new(),
        origin: wakeplace_study::Origin::default(),
        notes,
        warnings: Vec::new(),
        stuck: Vec::new(),
        checks: Vec::new(),
    };
    Ok(Difference {
        place,
        policies: [old.policy, new.policy],
        asked: asked.iter().map(|line| printable(line).into()).collect(),
        runs,
        complete,
        same_length,
        settings: [old.settings, new.settings],
    })
}

/// What to know of both sides' runs before judging them.
fn notes(runs: &[PolicyRuns; 2], complete: bool) -> Vec<String> {
    let happened = |run: &PolicyRuns| -> Vec<u64> {
        run.metrics.iter().map(|run| run.behaviour_hash).collect()
    };
    let mut notes = Vec::new();
    if happened(&runs[0]) == happened(&runs[1]) {
        notes.push("in every run the same happened, before and after".to_owned());
    }
    if !complete {
        notes.push("a run got stuck: what it measured is no ground for a judgement".to_owned());
    }
    notes
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
    let programs = old.programs(new);
    differs("program", &programs[0], &programs[1]);
    let changed = |old: &str, new: &str| !old.is_empty() && !new.is_empty() && old != new;
    if old.platform == new.platform && changed(&old.platform_hash, &new.platform_hash) {
        lines.push(format!("platform: {} has other figures", new.platform));
    }
    // What is drawn and hints of tasks are a part of the workload, and are told themselves.
    let hints = |of: &Kept| -> Vec<(String, String)> {
        let own = of.settings.all().filter(|(key, _)| key.starts_with(HINT));
        own.map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    };
    let told = old.jitter != new.jitter || hints(old) != hints(new);
    if old.workload == new.workload && changed(&old.workload_hash, &new.workload_hash) && !told {
        lines.push(format!(
            "workload: {} has other contents or deadlines",
            new.workload
        ));
    }
    lines.extend(settings(old, new));
    lines
}

/// Parameters that have another value, or that only one of them has.
fn settings(old: &Kept, new: &Kept) -> Vec<String> {
    let sides: [BTreeMap<&str, &str>; 2] = [old, new].map(|of| of.settings.all().collect());
    let keys: BTreeSet<&str> = { sides.iter() }
        .flat_map(|side| side.keys().copied())
        .collect();
    let one = |key: &&str| {
        let [old, new] = [&sides[0], &sides[1]].map(|side| side.get(*key).copied());
        let [was, is] = [old, new].map(|value| value.unwrap_or("absent"));
        (old != new).then(|| format!("{key}: {was}, then {is}"))
    };
    let mut lines: Vec<String> = keys.iter().filter_map(one).collect();
    if lines.len() > MOST_SETTINGS {
        let more = lines.len() - MOST_SETTINGS;
        lines.truncate(MOST_SETTINGS);
        lines.push(format!("{} more", count(more, "parameter")));
    }
    lines
}

/// The runs of these seeds, in their order. A metric that this program does not know is left out.
fn policy_runs(of: &Kept, side: &str, seeds: &[u64]) -> PolicyRuns {
    let all = of.seed_runs.iter().enumerate();
    let by_seed: BTreeMap<u64, (usize, &SeedRun)> =
        all.map(|(at, run)| (run.seed, (at, run))).collect();
    let runs = || seeds.iter().filter_map(|seed| by_seed.get(seed));
    let metrics = runs().map(|(_, run)| {
        let known = run
            .metrics
            .iter()
            .filter(|(name, _)| find_metric(name).is_ok());
        let values = known.filter_map(|(name, value)| Some((name.as_str(), (*value)?)));
        RunMetrics::kept(values, hash(run).unwrap_or(0))
    });
    PolicyRuns {
        policy: format!("{}, {side}", of.policy),
        overrides: Vec::new(),
        settings: Vec::new(),
        metrics: metrics.collect(),
        reports: runs().map(|(at, _)| report(of, *at)).collect(),
        timeline: None,
        details: None,
    }
}

/// When a run was over. One that got stuck, or of which nobody knows, is as long as was asked for.
fn report(of: &Kept, at: usize) -> RunReport {
    let end_ns = of.end_ns.get(at).copied().filter(|_| of.complete);
    RunReport {
        end_ns: end_ns.unwrap_or(of.duration_ns),
        ended: match of.length().to_the_end {
            true => Ended::AllTasksExited,
            false => Ended::Duration,
        },
        ..RunReport::default()
    }
}

impl Difference {
    /// In every run the same happened, and all that was measured is the same.
    fn is_same(&self) -> bool {
        let [before, after] = [0, 1].map(|at| &self.runs.runs[at].metrics);
        before == after
    }

    /// One line of a pair that is the same.
    fn line(&self) -> String {
        let asked = match self.asked.is_empty() {
            true => String::new(),
            false => format!("; asked otherwise: {}", self.asked.join("; ")),
        };
        let line = format!("{}, {}: the same{asked}", self.place, self.policies[1]);
        printable(&line).into_owned()
    }

    /// Of what it is; then a line for each that differs of what was asked.
    fn heading(&self) -> Vec<String> {
        let at = format!("{}, {}", self.place, self.policies[1]);
        let at = printable(&at);
        let first = match self.asked.is_empty() {
            true => format!("{at}: the same was asked"),
            false => format!("{at}: asked otherwise"),
        };
        std::iter::once(first)
            .chain(self.asked.iter().cloned())
            .collect()
    }

    /// What differs of what was asked, and what became of it.
    fn shown(&self, result: &outcome::Comparison, format: Format, style: Style) -> String {
        let heading = self.heading();
        let mut lines = heading.iter();
        let first = lines.next().map_or("", String::as_str);
        match format {
            Format::Md => {
                let asked: String = lines
                    .map(|line| format!("- {}\n", markdown(line)))
                    .collect();
                let gap = if asked.is_empty() { "" } else { "\n" };
                let figures = document(&self.runs, result);
                format!("### {}\n\n{asked}{gap}{figures}", markdown(first))
            }
            _ => {
                let asked: String = lines.map(|line| format!("  {line}\n")).collect();
                format!("{first}\n{asked}\n{}", human(&self.runs, result, style))
            }
        }
    }
}

impl Differences {
    /// For people: how many pairs became what; of each pair that differs what was asked otherwise,
    /// and what became of it; then those that are the same, and what only one result has.
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        self.whole(Format::Human, style)
    }

    /// The same as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        self.whole(Format::Md, Style::default())
    }

    /// All parts, in the order in which people see them.
    fn whole(&self, format: Format, style: Style) -> String {
        let pairs = in_order(&self.pairs);
        let line = |mark: &str, text: &str| match format {
            Format::Md => format!("{mark}{}\n", markdown(text)),
            _ => format!("{text}\n"),
        };
        let list = |all: &[String]| {
            let text: String = all.iter().map(|one| line("- ", one)).collect();
            (!text.is_empty()).then_some(text)
        };
        let mut parts = vec![line("", &first_line(&self.files, &pairs))];
        let differ = pairs.iter().filter(|one| one.became != Became::Same);
        parts.extend(differ.map(|one| one.pair.shown(&one.result, format, style)));
        let same = pairs.iter().filter(|one| one.became == Became::Same);
        let same: Vec<String> = same.map(|one| one.pair.line()).collect();
        parts.extend(list(&same));
        parts.extend(list(&self.alone));
        parts.join("\n")
    }

    /// The differences as comparisons, whose notes say what was asked otherwise.
    #[must_use]
    pub fn comparisons(&self) -> Vec<Comparison> {
        let one = |pair: &Difference| {
            let asked = pair
                .asked
                .iter()
                .map(|line| format!("asked otherwise: {line}"));
            let notes = asked.chain(pair.runs.notes.iter().cloned());
            let mut runs = pair.runs.clone();
            for (run, settings) in runs.runs.iter_mut().zip(&pair.settings) {
                let all = settings.all();
                let all = all.map(|(key, value)| (key.to_owned(), value.to_owned()));
                run.settings = all.collect();
            }
            Comparison {
                notes: notes.collect(),
                ..runs
            }
        };
        self.pairs.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests;

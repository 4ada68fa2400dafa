//! What a result keeps of the runs of a policy (docs/guide/results.md, "Two results").
//!
//! What must stay: runs stand in the order of the result, and times are ns; a study's runs are
//! paired by the names of study and case, a sweep's by what is varied, others by the workload.
//! Results without single runs, with a seed or metric twice, or with a hash that is none are
//! refused by the name of the file and of the run. Free: words for people that no test quotes.
//! Tests by part: `what_has_no_pairs_is_refused` (`check`, `hash`), `the_most_alike_are_a_pair`
//! (`alike`, `names`), `runs_of_one_seed_are_a_pair` (`of_comparison`), `two_results_are_compared`
//! (real results), `settings_are_shared_and_few` (`Settings`, `shared_by`),
//! `points_of_sweeps_are_paired_by_what_is_varied` (`of_point`),
//! `a_jitter_of_before_is_the_same` (`jitter`), `periods_are_compared_task_by_task` (`details`),
//! `what_has_one_name_is_told_by_its_inputs` (`same_inputs`),
//! `a_commit_that_is_not_known_is_no_other` (`programs`),
//! `a_difference_is_as_long_as_its_results` (`length`). `of_study` has no test of its own. `kept`,
//! `place` and `named` by the first two.
//!
//! Callers: diff.rs (`kept`).
//!
//! Tests: crates/report/src/diff/tests.rs,
//! crates/cli/tests/all/results.rs::two_results_are_compared,
//! crates/cli/tests/all/results.rs::periods_are_compared_task_by_task

use crate::html::read::{self, Parsed};
use crate::html::{HtmlError, Source};
use crate::length::Length;
use std::collections::BTreeSet;
use std::rc::Rc;
use wakeplace_outcome::{self as outcome, Details, Pairs, PointRuns, SeedRun};
use wakeplace_study::{Jitter, without_varied};

/// Most settings of a policy and of the machine's model; there are some 300.
const MOST_SETTINGS: usize = 4096;

/// The runs of one policy in a result.
pub(super) struct Kept {
    /// A study's name of the case.
    pub(super) case: Option<String>,
    pub(super) platform: String,
    pub(super) platform_hash: String,
    pub(super) workload: String,
    pub(super) workload_hash: String,
    pub(super) policy: String,
    pub(super) duration_ns: u64,
    pub(super) jitter: Option<String>,
    pub(super) settings: Settings,
    pub(super) version: String,
    /// Of the program; None: the result does not say.
    pub(super) commit: Option<String>,
    pub(super) measured_by: Vec<String>,
    pub(super) modelled_power: bool,
    pub(super) complete: bool,
    pub(super) seed_runs: Vec<SeedRun>,
    /// When each of them was over, ns; none: the result does not say.
    pub(super) end_ns: Vec<u64>,
    /// Means over all of its runs; None: the result does not have them.
    pub(super) details: Option<Details>,
}

/// Settings of a policy and of the machine's model. What all of a result share is there once.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    shared: Rc<[(String, String)]>,
    /// Instead of shared ones, or beside them; None: absent here.
    own: Vec<(String, Option<String>)>,
}

impl Settings {
    /// With these that are the policy's.
    fn of(shared: &Rc<[(String, String)]>, own: &Pairs) -> Self {
        let own = own.iter();
        let own = own.map(|(key, value)| (key.clone(), Some(value.clone())));
        Self {
            shared: Rc::clone(shared),
            own: own.collect(),
        }
    }

    /// All of them: its own first, then the shared ones.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let known: BTreeSet<&str> = self.own.iter().map(|(key, _)| key.as_str()).collect();
        let own = self.own.iter();
        let own = own.filter_map(|(key, value)| Some((key.as_str(), value.as_deref()?)));
        let shared = self.shared.iter();
        let shared = shared.map(|(key, value)| (key.as_str(), value.as_str()));
        own.chain(shared.filter(move |(key, _)| !known.contains(key)))
    }

    /// How many there may be.
    fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }
}

impl Kept {
    /// What runs are paired by: platform, workload (of a study its case), and policy.
    pub(super) fn names(&self) -> [&str; 3] {
        let workload = self.case.as_ref().unwrap_or(&self.workload);
        [&self.platform, workload, &self.policy]
    }

    /// How many of platform, workload and policy have the same name.
    pub(super) fn alike(&self, other: &Self) -> usize {
        let both = self.names().into_iter().zip(other.names());
        both.filter(|(one, other)| one == other).count()
    }

    /// Platform and workload, of a study its case.
    pub(super) fn place(&self) -> String {
        let [platform, workload, _] = self.names();
        format!("{platform}, {workload}")
    }

    /// What it was made of is the same: its names may be those of others, too.
    pub(super) fn same_inputs(&self, other: &Self) -> bool {
        self.platform_hash == other.platform_hash && self.workload_hash == other.workload_hash
    }

    /// How long its runs were, as the page of the result itself says.
    pub(super) fn length(&self) -> Length {
        Length::of(&self.end_ns, self.complete, self.duration_ns)
    }

    /// The programs that made both, for what differs. A commit that one of them does not say is no
    /// other one.
    pub(super) fn programs(&self, other: &Self) -> [String; 2] {
        let known = |of: &Self| of.commit.clone().filter(|commit| commit != UNKNOWN);
        match (known(self), known(other)) {
            (Some(own), Some(others)) => [(self, own), (other, others)]
                .map(|(of, commit)| format!("{} of commit {commit}", of.version)),
            _ => [self, other].map(|of| of.version.clone()),
        }
    }

    /// The three names in one text, for messages.
    pub(super) fn named(&self) -> String {
        self.names().join(", ")
    }
}

/// The runs of a result, and its margin.
pub(super) fn kept(source: Source<'_>) -> Result<(Vec<Kept>, Option<f64>), HtmlError> {
    let mut all = Vec::new();
    let mut margin_pct = None;
    for parsed in read::read(source)? {
        match parsed {
            Parsed::Comparison(result) => {
                margin_pct = margin_pct.or(result.margin_pct);
                let shared = shared_by(&result);
                let runs = result.runs.iter();
                all.extend(runs.map(|run| of_comparison(&result, &shared, run)));
            }
            Parsed::Sweep(sweep) => {
                margin_pct = margin_pct.or(sweep.result.margin_pct);
                let runs = sweep.result.point_runs.iter();
                // A point whose runs have no result has nothing that could be compared.
                let runs = runs.filter(|runs| !runs.seed_runs.is_empty());
                let shared: Rc<[_]> = sweep.result.settings.iter().cloned().collect();
                let of = |runs| of_point(&sweep.result, &shared, runs);
                let kept: Vec<Kept> = runs.map(of).collect();
                if kept.is_empty() {
                    let what = "is a sweep without single runs, so nothing can be paired: make it \
                                again";
                    return Err(read::refused(source.name, what));
                }
                all.extend(kept);
            }
            // Its comparisons follow.
            Parsed::Review(_) => {}
            Parsed::Study(result) => {
                margin_pct = margin_pct.or(result.margin_pct);
                let shared: Rc<[_]> = result.options.iter().cloned().collect();
                let profiles = result.profiles.iter();
                all.extend(profiles.filter_map(|profile| of_study(&result, &shared, profile)));
            }
        }
    }
    for one in &all {
        check(one)
            .map_err(|what| read::refused(source.name, &format!("{}: {what}", one.named())))?;
    }
    Ok((all, margin_pct))
}

/// Can runs of it be paired?
fn check(of: &Kept) -> Result<(), &'static str> {
    if of.seed_runs.is_empty() {
        return Err("there are means and no single runs, so nothing can be paired: make it again");
    }
    if of.settings.len() > MOST_SETTINGS {
        return Err("there are more than 4096 settings, and a policy has some 300");
    }
    let mut seeds = BTreeSet::new();
    for run in &of.seed_runs {
        if !seeds.insert(run.seed) {
            return Err("a seed stands twice");
        }
        let mut names = BTreeSet::new();
        if !run.metrics.iter().all(|(name, _)| names.insert(name)) {
            return Err("a metric stands twice in a run");
        }
        if hash(run).is_none() {
            return Err("a `behaviour_hash` is no hash");
        }
    }
    Ok(())
}

/// The behaviour hash of a run as a number; `None` if the text is none.
pub(super) fn hash(run: &SeedRun) -> Option<u64> {
    u64::from_str_radix(&run.behaviour_hash, 16).ok()
}

/// The commit of a program that was built without its history.
const UNKNOWN: &str = "unknown";
/// Begins the settings that are hints of a workload's tasks.
pub(super) const HINT: &str = "task.";

/// What all policies of a comparison share: the machine's model, and hints of tasks.
fn shared_by(result: &outcome::Comparison) -> Rc<[(String, String)]> {
    let settings = result.settings.iter();
    let hints = settings.filter(|(key, _)| key.starts_with(HINT));
    result.options.iter().chain(hints).cloned().collect()
}

/// Of a policy in a result of `sim` or `compare`.
fn of_comparison(
    result: &outcome::Comparison,
    shared: &Rc<[(String, String)]>,
    run: &outcome::Run,
) -> Kept {
    Kept {
        case: None,
        complete: run.complete,
        platform: run.platform.clone(),
        platform_hash: run.platform_hash.clone(),
        workload: run.workload.clone(),
        workload_hash: run.workload_hash.clone(),
        policy: run.policy.clone(),
        duration_ns: result.duration_ns,
        jitter: result.jitter.as_deref().map(jitter),
        settings: Settings::of(shared, &run.settings),
        version: result.version.clone(),
        commit: result.commit.clone(),
        measured_by: result.measured_by.clone(),
        modelled_power: result.modelled_power,
        seed_runs: run.seed_runs.clone(),
        end_ns: run.end_ns.clone(),
        details: run.details.clone(),
    }
}

/// A jitter in the words of this program: earlier ones had every time in nanoseconds.
fn jitter(text: &str) -> String {
    Jitter::parse(text).map_or_else(|_| text.to_owned(), |jitter| jitter.to_string())
}

/// Of a point of a sweep. Its case is what is varied beside platform, workload and policy, and the
/// load.
fn of_point(result: &outcome::Sweep, shared: &Rc<[(String, String)]>, runs: &PointRuns) -> Kept {
    let own = |key: &str| matches!(key, "platform" | "workload" | "policy");
    let values = || runs.values.iter().filter(|(key, _)| !own(key));
    let load = { runs.values.iter() }.map(|(key, value)| (key.as_str(), value.as_str()));
    let load = without_varied(&runs.workload, load);
    let parts: Vec<String> = { values().map(|(key, value)| format!("{key}={value}")) }
        .chain([load])
        .collect();
    let varied = values().map(|(key, value)| (key.clone(), Some(value.clone())));
    Kept {
        case: Some(parts.join(", ")),
        complete: runs.complete,
        platform: runs.platform.clone(),
        platform_hash: runs.platform_hash.clone(),
        workload: runs.workload.clone(),
        workload_hash: runs.workload_hash.clone(),
        policy: runs.policy.clone(),
        duration_ns: runs.duration_ns,
        jitter: runs.jitter.as_deref().map(jitter),
        settings: Settings {
            shared: Rc::clone(shared),
            own: runs.settings.iter().cloned().chain(varied).collect(),
        },
        version: result.version.clone(),
        commit: result.commit.clone(),
        measured_by: result.measured_by.clone(),
        modelled_power: runs.modelled_power,
        seed_runs: runs.seed_runs.clone(),
        end_ns: Vec::new(),
        details: None,
    }
}

/// Of a case's policy in a result of `study run`; None: the case is not there.
fn of_study(
    result: &outcome::Study,
    shared: &Rc<[(String, String)]>,
    profile: &outcome::CaseProfile,
) -> Option<Kept> {
    let case = result.cases.iter().find(|case| case.case == profile.case)?;
    Some(Kept {
        // Several studies of a file may have a case of one name.
        case: Some(format!("{}, {}", result.study, profile.case)),
        complete: profile.complete,
        platform: case.platform.clone(),
        platform_hash: profile.platform_hash.clone(),
        workload: case.workload.clone(),
        workload_hash: String::new(),
        policy: profile.policy.clone(),
        duration_ns: case.duration_ns,
        jitter: None,
        settings: Settings::of(shared, &profile.settings),
        version: result.version.clone(),
        commit: result.commit.clone(),
        measured_by: Vec::new(),
        modelled_power: case.modelled_power,
        seed_runs: profile.seed_runs.clone(),
        end_ns: profile.end_ns.clone(),
        details: Some(profile.details.clone()),
    })
}

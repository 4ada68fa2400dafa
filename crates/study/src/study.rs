//! Named studies: several cases on one platform, with published figures beside (studies/README.md).
//! What was calibrated is marked; what was not published is not judged.
//!
//! What must stay: rows stand by cases as the file has them, metrics, policies, and JSON, CSV and
//! pages keep it; experiments stand as the file has them; nothing of a result depends on `jobs`;
//! runs of another length or with other settings have no verdict. The words of notes may change.
//! Tests by part: `threads_change_nothing_and_base_rows_have_no_change` (`run`),
//! `sizes_count_the_seeds_of_cases`,
//! `sizes_leave_out_the_columns_that_cases_do` and `full_sizes_are_what_the_readme_says` (`info`,
//! `runs`), `what_is_absent_is_so_on_platforms_that_ran` and
//! `joules_without_a_board_are_absent_and_explained` (`absence`),
//! `columns_and_cases_have_their_own_conditions` (`case_info`, `column_info`),
//! `variants_have_no_published_figures` (`notes`), `the_cell_the_platform_names_is_marked`
//! (`result`), `experiments_stand_beside_the_published_figures` and
//! file/tests.rs::`a_good_file_is_read` (`experiments`), `wrong_settings_are_refused` (errors),
//! `several_studies_count_their_runs_together` (`run_studies`),
//! crates/cli/tests/all/gates.rs::`a_study_is_a_gate` (`judged`),
//! judge/tests.rs::`on_request_only_is_said` (`judge`),
//! schema.rs::`results_are_what_the_schema_says` (`profiles`).
//!
//! Tests: crates/study/src/study/tests.rs, crates/study/src/study/column_tests.rs,
//! crates/study/src/file/tests.rs::a_good_file_is_read,
//! crates/cli/tests/all/results.rs::a_study_runs_and_lists_its_rows,
//! crates/cli/tests/all/gates.rs::a_study_is_a_gate

use crate::comparison::{PolicyRuns, hardware_clocks, modelled_power, oddities, one_seed};
use crate::experiment::{all_options, group};
use crate::file::{Case, Column, StudyFile, TOTAL_ENERGY, WORK_ENERGY};
use crate::hotplug::shown;
use crate::identity::hash_of;
use crate::plan::{Planned, as_written, plan, seeds};
use crate::pool::{Progress, Run, check, execute};
use crate::promise::{self, promise};
use crate::request::check_margin;
use crate::rows::rows;
use crate::sensitivity::{Tried, sensitivity, tried};
use crate::tradeoff::{self, tradeoff};
use crate::{DEFAULT_MARGIN_PCT, StudyError, StudyInfo, apply_settings, verdict};
use std::sync::Arc;
use wakeplace_metrics::details;
use wakeplace_outcome::{
    Case as CaseInfo, CaseProfile, Column as ColumnInfo, Difference, Multiplicity, Param,
    RESULT_SCHEMA_VERSION, Row, SeedRun, Study as StudyResult, hashes,
};
use wakeplace_platform::{Platform, PowerUnit};

/// The verdict when length or settings are not those of the published runs.
const OTHER_CONDITIONS: &str = "Other length or settings than the study's own: no verdict, and \
                                nothing published was measured under them.";

/// A case that a condition can be about: its platform, and its columns, the base first.
pub type JudgedCase = (Arc<Platform>, Vec<String>);

/// A study.
#[derive(Clone, Debug)]
pub struct Study {
    pub(crate) file: StudyFile,
    readme: String,
}

/// How a study is run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyOptions {
    /// The reduced size.
    pub quick: bool,
    /// Other seeds than the study's.
    pub seeds: Option<Vec<u64>>,
    /// Another length than the study's, ns.
    pub duration_ns: Option<u64>,
    /// Settings on top of the study's, `(key, value)`.
    pub set: Vec<(String, String)>,
    /// A difference of less does not matter, percent; None: [`DEFAULT_MARGIN_PCT`].
    pub margin_pct: Option<f64>,
    /// Also run the study's experiments: what explains the distance to the published figures.
    pub experiments: bool,
    /// Try the conclusions at half and double of what is assumed: without it, only in the full
    /// size and where the study says so.
    pub sensitivity: bool,
}

impl Study {
    /// Reads and validates a study file; `file` names it in messages, and its path
    /// `.../FAMILY/NAME/study.toml` the study.
    ///
    /// # Errors
    /// The text is no TOML or breaks a rule; the message says where.
    pub fn from_toml(text: &str, file: &str) -> Result<Study, StudyError> {
        let file = StudyFile::read(text, file)?;
        let readme = String::new();
        Ok(Study { file, readme })
    }

    /// Adds the page of a built-in study.
    pub(crate) fn with_readme(mut self, readme: &str) -> Self {
        readme.clone_into(&mut self.readme);
        self
    }

    /// The study in one line.
    #[must_use]
    pub fn info(&self) -> StudyInfo {
        let file = &self.file;
        // Not every case has all columns.
        let columns = |case: &Case| case.columns(file.columns.len()).count();
        let variants = file.variants.iter().flat_map(|variant| {
            let of = |(case, _): &(usize, _)| columns(&file.cases[*case]) * variant.seeds;
            variant.cases.iter().map(of)
        });
        let plain = file.cases.iter();
        let plain = plain.map(|case| columns(case) * case.seeds.unwrap_or(file.seeds.len()));
        let quick = file.quick_cases.iter();
        let quick = quick.map(|case| columns(&file.cases[*case]) * file.quick_seeds);
        StudyInfo {
            name: file.name.clone(),
            title: file.title.clone(),
            quick_runs: quick.sum(),
            full_runs: plain.chain(variants).sum(),
            published: !file.published.is_empty(),
        }
    }

    /// What it shows and how its figures are to be read, Markdown. Empty for a study from a text.
    #[must_use]
    pub fn readme(&self) -> &str {
        &self.readme
    }

    /// The experiments [`StudyOptions::experiments`] adds: name and reason, in the file's order.
    /// `wakeplace study show` lists them.
    #[must_use]
    pub fn experiments(&self) -> Vec<(&str, &str)> {
        let experiments = self.file.experiments.iter();
        experiments
            .map(|e| (e.name.as_str(), e.why.as_str()))
            .collect()
    }

    /// Runs the study on `jobs` threads. The result does not depend on `jobs`.
    ///
    /// # Errors
    /// No seeds, a setting nobody takes, a workload that does not fit, or no threads.
    pub fn run(
        &self,
        how: &StudyOptions,
        jobs: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<StudyResult, StudyError> {
        if let Some(margin) = how.margin_pct {
            check_margin(margin)?;
        }
        let planned = plan(&self.file, how)?;
        let tried = tried(&self.file, how)?;
        let of_tried = tried.iter().flat_map(Tried::runs);
        let runs: Vec<Run<'_>> = planned
            .iter()
            .flat_map(Planned::runs)
            .chain(of_tried)
            .collect();
        let mut finished = execute(&runs, jobs, progress)?.into_iter();
        let mut grouped = |planned: &Planned| {
            let of_case = finished.by_ref().take(planned.len()).collect();
            let columns = planned.columns.iter();
            let columns = columns.map(|column| (column.name.as_str(), &column.policy));
            group(columns, planned.seeds.len(), of_case)
        };
        let done: Vec<_> = planned.iter().map(|p| (p, grouped(p))).collect();
        let tried: Vec<_> = tried.iter().map(|t| (t, grouped(&t.planned))).collect();
        let mut result = self.result(how, &done)?;
        self.judge(&mut result, &tried);
        if let Some(promise) = promise(&self.file, &done) {
            result.verdict = promise::verdict(&promise);
            result.promise = Some(promise);
        }
        if let Some(tradeoff) = tradeoff(&self.file, &done) {
            result.verdict = tradeoff::verdict(&tradeoff);
            result.tradeoff = Some(tradeoff);
        }
        Ok(result)
    }

    /// Runs it would take.
    ///
    /// # Errors
    /// As [`Study::run`], without running anything.
    pub fn runs(&self, how: &StudyOptions) -> Result<usize, StudyError> {
        let planned = plan(&self.file, how)?;
        let tried = tried(&self.file, how)?;
        let all = planned.iter().chain(tried.iter().map(|t| &t.planned));
        let mut runs = 0;
        for planned in all {
            check(&planned.runs())?;
            runs += planned.len();
        }
        Ok(runs)
    }

    /// The cases that a condition can be about, variants too.
    ///
    /// # Errors
    /// As [`Study::run`], without running anything.
    pub fn judged(&self, how: &StudyOptions) -> Result<Vec<JudgedCase>, StudyError> {
        let planned = plan(&self.file, how)?;
        let judged = planned
            .into_iter()
            .filter(|planned| !planned.params.contains_key(Row::EXPERIMENT));
        let of = |planned: Planned| {
            let columns = planned.columns.into_iter().map(|column| column.name);
            (planned.platform, columns.collect())
        };
        Ok(judged.map(of).collect())
    }

    /// Enters what became of the conclusions, if anything was tried.
    fn judge(&self, result: &mut StudyResult, tried: &[(&Tried, Vec<PolicyRuns>)]) {
        let Some(found) = sensitivity(&self.file, tried) else {
            return;
        };
        for row in &mut result.rows {
            if row.experiment().is_none() && row.variant().is_none() {
                row.robust = found.robust(&row.case, &row.metric, &row.policy);
                result.notes.extend(found.other_with_fewer_seeds(row));
            }
        }
        let lines = found.verdict();
        result.verdict = format!("{}\n{lines}", result.verdict);
        result.assumed = Some(found.assumed);
        result.sensitivity = Some(found.rows);
    }

    /// What finished runs come to: rows, verdict, conclusions, notes.
    fn result(
        &self,
        how: &StudyOptions,
        done: &[(&Planned, Vec<PolicyRuns>)],
    ) -> Result<StudyResult, StudyError> {
        let file = &self.file;
        let mut options = file.options.clone();
        options.duration_ns = how.duration_ns.unwrap_or(options.duration_ns);
        let settings: Vec<_> = file.set.iter().chain(&how.set).cloned().collect();
        let mut policies: Vec<_> = file.columns.iter().map(|c| c.policy.clone()).collect();
        apply_settings(&settings, &mut options, &mut policies)?;
        let margin = how.margin_pct.unwrap_or(DEFAULT_MARGIN_PCT);
        let of_case =
            |(planned, runs): &(&Planned, Vec<PolicyRuns>)| rows(file, planned, runs, margin);
        let rows: Vec<Row> = done.iter().flat_map(of_case).collect();
        let mut sources = file.sources.clone();
        for board in file.platforms.iter().filter_map(|p| p.board.as_ref()) {
            let source = format!("board power: {}", board.source.text.trim());
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let own = || {
            done.iter()
                .map(|(planned, _)| *planned)
                .filter(|planned| !planned.params.contains_key(Row::EXPERIMENT))
        };
        Ok(StudyResult {
            schema_version: RESULT_SCHEMA_VERSION,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: None,
            command: None,
            study: file.name.clone(),
            title: file.title.clone(),
            platform: file.platforms[0].name.clone(),
            duration_ns: options.duration_ns,
            seeds: seeds(file, how),
            quick: how.quick,
            as_written: as_written(file, how),
            settings: settings.into(),
            options: all_options(&options).into(),
            workloads: own()
                .map(|planned| (planned.token.clone(), planned.argument.clone()))
                .collect(),
            cases: own().map(case_info).collect(),
            columns: file.columns.iter().map(column_info).collect(),
            base_policy: file.columns[0].name.clone(),
            margin_pct: Some(margin),
            multiplicity: Some(Multiplicity::of(intervals(&rows))),
            metrics: file.metrics.iter().map(|m| m.name.clone()).collect(),
            checks: Vec::new(),
            verdict: if as_written(file, how) {
                verdict::verdict(file, &rows, margin)
            } else {
                OTHER_CONDITIONS.to_owned()
            },
            notes: self.notes(how, &rows, done),
            profiles: done.iter().flat_map(profiles).collect(),
            stuck: { done.iter() }.any(|(_, runs)| runs.iter().any(PolicyRuns::is_stuck)),
            rows,
            sources,
            sensitivity: None,
            assumed: None,
            promise: None,
            tradeoff: None,
        })
    }

    /// What a reader must know of the figures, each sentence once.
    fn notes(
        &self,
        how: &StudyOptions,
        rows: &[Row],
        done: &[(&Planned, Vec<PolicyRuns>)],
    ) -> Vec<String> {
        let file = &self.file;
        let mut notes = Vec::new();
        for metric in &file.metrics {
            if !rows.iter().any(|row| row.metric == metric.name) {
                notes.push(format!(
                    "{} is absent: {}",
                    metric.name,
                    absence(&metric.name, done)
                ));
            }
        }
        notes.extend(self.calibrated_arguments(rows));
        for (planned, _) in done {
            let policies = planned.columns.iter().map(|column| &column.policy);
            let own = modelled_power(&planned.platform).into_iter();
            for note in own.chain(hardware_clocks(&planned.platform, policies)) {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        if !file.published.is_empty() {
            let other = |ns| file.cases.iter().any(|case| case.duration_ns != ns);
            if how.duration_ns.is_some_and(other) {
                notes.push(
                    "the runs have another length than the published ones: compare the changes, \
                     not the means"
                        .to_owned(),
                );
            }
            if !how.set.is_empty() {
                notes.push("settings were changed: these are not the study's figures".to_owned());
            }
        }
        for (kind, variations) in [
            (Row::VARIANT, &file.variants),
            (Row::EXPERIMENT, &file.experiments),
        ] {
            let ran = |name: &String| {
                let of =
                    |p: &Planned| p.params.get(kind).and_then(Param::word) == Some(name.as_str());
                done.iter().any(|(p, _)| of(p))
            };
            let ran = variations.iter().filter(|v| ran(&v.name));
            notes.extend(ran.map(|v| format!("{kind} {}: {}", v.name, v.why)));
        }
        notes.extend(one_seed(&seeds(file, how)));
        if !how.quick && !how.sensitivity && file.sensitivity.as_ref().is_some_and(|s| s.on_request)
        {
            notes.push("assumed costs were not halved and doubled: --sensitivity does".to_owned());
        }
        for (planned, runs) in done {
            let odd = oddities(runs, &planned.workloads);
            let experiment = planned.params.get(Row::EXPERIMENT).and_then(Param::word);
            let label = experiment.map_or_else(String::new, |name| format!(" ({name})"));
            let note = |odd: &String| format!("case {}{label}: {odd}", planned.token);
            notes.extend(odd.iter().map(note));
        }
        notes
    }
}

/// Rows whose change has an interval that chance has a part in.
fn intervals(rows: &[Row]) -> usize {
    let unknown = Some(Difference::Unknown.word());
    let has =
        |row: &&Row| row.simulated_delta_ci95.is_some() && row.difference.as_deref() != unknown;
    rows.iter().filter(has).count()
}

/// Why a metric was not measured, by the platforms that ran.
fn absence(metric: &str, done: &[(&Planned, Vec<PolicyRuns>)]) -> String {
    let mut platforms: Vec<&Platform> = Vec::new();
    for (planned, _) in done {
        if !platforms.iter().any(|p| p.name == planned.platform.name) {
            platforms.push(&planned.platform);
        }
    }
    let platforms = || platforms.iter().copied();
    let names: Vec<&str> = platforms().map(|p| p.name.as_str()).collect();
    let name = names.join(", ");
    if !metric.ends_with("energy_j") {
        return format!("no run on {name} gave it");
    }
    if platforms().all(|p| p.power_unit != PowerUnit::Microwatt) {
        return format!("platform {name} has no power in watts");
    }
    if metric == TOTAL_ENERGY && platforms().all(|p| p.board.is_none()) {
        return format!(
            "platform {name} has no [board] power, and without it a total of the whole board would \
             be made up"
        );
    }
    if metric == WORK_ENERGY && !platforms().any(Platform::has_work_power) {
        return format!("platform {name} does not state a work power");
    }
    format!("no run on {name} gave it")
}

/// A case as results name it, with what it set and whether its power is a model's.
fn case_info(planned: &Planned) -> CaseInfo {
    CaseInfo {
        case: planned.token.clone(),
        platform: planned.platform.name.clone(),
        workload: planned.argument.clone(),
        duration_ns: planned.duration_ns(),
        settings: planned.set.clone().into(),
        modelled_power: !planned.platform.modelled_power().is_empty(),
    }
}

/// What the runs of a case did; not those of experiments, of which only figures are shown.
fn profiles((planned, runs): &(&Planned, Vec<PolicyRuns>)) -> Vec<CaseProfile> {
    if planned.params.contains_key(Row::EXPERIMENT) {
        return Vec::new();
    }
    let platform_hash = hash_of(&planned.platform);
    let workload_hashes: Vec<String> = planned.workloads.iter().map(hash_of).collect();
    let one = |runs: &PolicyRuns| CaseProfile {
        case: planned.token.clone(),
        policy: runs.policy.clone(),
        complete: !runs.is_stuck(),
        end_ns: runs.reports.iter().map(|report| report.end_ns).collect(),
        details: details(&runs.metrics, &runs.reports),
        settings: runs.settings.clone().into(),
        platform_hash: platform_hash.clone(),
        event_hashes: hashes(runs.reports.iter().map(|report| report.event_hash)),
        behaviour_hashes: hashes(runs.metrics.iter().map(|run| run.behaviour_hash)),
        seed_runs: {
            runs.seed_runs(&planned.seeds)
                .into_iter()
                .zip(&workload_hashes)
        }
        .map(|(run, workload)| SeedRun {
            workload_hash: Some(workload.clone()),
            ..run
        })
        .collect(),
    };
    runs.iter().map(one).collect()
}

/// A column as results name it: its policy, settings, and CPUs that come and go.
fn column_info(column: &Column) -> ColumnInfo {
    ColumnInfo {
        name: column.name.clone(),
        policy: column.policy.name().to_owned(),
        settings: column.set.clone().into(),
        hotplug: column
            .hotplug
            .as_deref()
            .and_then(shown)
            .map(|(_, steps)| steps),
    }
}

/// Runs several studies, one after the other; progress counts the runs of all.
///
/// # Errors
/// As [`Study::run`]; nothing runs if one of them cannot.
pub fn run_studies(
    studies: &[Study],
    how: &StudyOptions,
    jobs: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<StudyResult>, StudyError> {
    if let [study] = studies {
        return Ok(vec![study.run(how, jobs, progress)?]);
    }
    let runs: Vec<usize> = studies
        .iter()
        .map(|s| s.runs(how))
        .collect::<Result<_, _>>()?;
    let total = runs.iter().sum();
    let mut before = 0;
    let mut results = Vec::new();
    for (study, runs) in studies.iter().zip(runs) {
        let of_all = |p: Progress| {
            // Later studies do not begin anew.
            if p.done == 0 && before > 0 {
                return;
            }
            progress(Progress {
                done: before + p.done,
                total,
                label: format!("{} {}", study.file.name, p.label),
            });
        };
        results.push(study.run(how, jobs, &of_all)?);
        before += runs;
    }
    Ok(results)
}

#[cfg(test)]
mod column_tests;
#[cfg(test)]
mod tests;

//! Named studies: several cases on one platform, with published figures beside.

use crate::comparison::{PolicyRuns, oddities, one_seed};
use crate::experiment::{all_options, group};
use crate::file::{StudyFile, TOTAL_ENERGY};
use crate::outcome::{EXPERIMENT, VARIANT};
use crate::plan::{Planned, as_written, plan, seeds};
use crate::pool::{Progress, Run, execute};
use crate::rows::rows;
use crate::{Param, StudyError, StudyInfo, StudyResult, StudyRow, apply_settings, verdict};
use wakeplace_platform::PowerUnit;

/// The verdict when length or settings are not those of the published runs.
const OTHER_CONDITIONS: &str = "Other length or settings than the study's own: no verdict, and \
                                nothing published was measured under them.";

/// A study.
#[derive(Clone, Debug)]
pub struct Study {
    pub(crate) file: StudyFile,
    readme: String,
}

/// How a study is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudyOptions {
    /// The reduced size.
    pub quick: bool,
    /// Other seeds than the study's.
    pub seeds: Option<Vec<u64>>,
    /// Another length than the study's, ns.
    pub duration_ns: Option<u64>,
    /// Settings on top of the study's, `(key, value)`.
    pub set: Vec<(String, String)>,
    /// Also run the study's experiments: what explains the distance to the published figures.
    pub experiments: bool,
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

    pub(crate) fn with_readme(mut self, readme: &str) -> Self {
        readme.clone_into(&mut self.readme);
        self
    }

    /// The study in one line.
    #[must_use]
    pub fn info(&self) -> StudyInfo {
        let file = &self.file;
        let of_variants: usize = file
            .variants
            .iter()
            .map(|v| v.cases.len() * v.seeds.min(file.seeds.len()))
            .sum();
        let full = file.cases.len() * file.seeds.len() + of_variants;
        let quick = file.quick_cases.len() * file.quick_seeds.min(file.seeds.len());
        StudyInfo {
            name: file.name.clone(),
            title: file.title.clone(),
            quick_runs: quick * file.policies.len(),
            full_runs: full * file.policies.len(),
            published: !file.published.is_empty(),
        }
    }

    /// What it shows and how its figures are to be read, Markdown. Empty for a study from a text.
    #[must_use]
    pub fn readme(&self) -> &str {
        &self.readme
    }

    /// The experiments [`StudyOptions::experiments`] adds: name and reason.
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
        let planned = plan(&self.file, how)?;
        let runs: Vec<Run<'_>> = planned
            .iter()
            .flat_map(|p| p.runs(&self.file.platform))
            .collect();
        let mut finished = execute(&runs, jobs, progress)?.into_iter();
        let mut done: Vec<(&Planned, Vec<PolicyRuns>)> = Vec::new();
        for planned in &planned {
            let n = planned.policies.len() * planned.seeds.len();
            let of_case = finished.by_ref().take(n).collect();
            done.push((
                planned,
                group(&planned.policies, planned.seeds.len(), of_case),
            ));
        }
        self.result(how, &done)
    }

    fn result(
        &self,
        how: &StudyOptions,
        done: &[(&Planned, Vec<PolicyRuns>)],
    ) -> Result<StudyResult, StudyError> {
        let file = &self.file;
        let mut options = file.options.clone();
        options.duration_ns = how.duration_ns.unwrap_or(options.duration_ns);
        let settings: Vec<_> = file.set.iter().chain(&how.set).cloned().collect();
        apply_settings(&settings, &mut options, &mut file.policies.clone())?;
        let of_case = |(planned, runs): &(&Planned, Vec<PolicyRuns>)| rows(file, planned, runs);
        let rows: Vec<StudyRow> = done.iter().flat_map(of_case).collect();
        let mut sources = file.sources.clone();
        if let Some(board) = &file.platform.board {
            sources.push(format!("board power: {}", board.source.text.trim()));
        }
        Ok(StudyResult {
            study: file.name.clone(),
            title: file.title.clone(),
            platform: file.platform.name.clone(),
            duration_ns: options.duration_ns,
            seeds: seeds(file, how),
            quick: how.quick,
            settings,
            options: all_options(&options),
            workloads: done
                .iter()
                .filter(|(planned, _)| !planned.params.contains_key(EXPERIMENT))
                .map(|(planned, _)| (planned.token.clone(), planned.argument.clone()))
                .collect(),
            base_policy: file.policies[0].name().to_owned(),
            metrics: file.metrics.iter().map(|m| m.name.clone()).collect(),
            verdict: if as_written(file, how) {
                verdict::verdict(file, &rows)
            } else {
                OTHER_CONDITIONS.to_owned()
            },
            notes: self.notes(how, &rows, done),
            rows,
            sources,
        })
    }

    fn notes(
        &self,
        how: &StudyOptions,
        rows: &[StudyRow],
        done: &[(&Planned, Vec<PolicyRuns>)],
    ) -> Vec<String> {
        let file = &self.file;
        let mut notes = Vec::new();
        for metric in &file.metrics {
            if !rows.iter().any(|row| row.metric == metric.name) {
                notes.push(format!(
                    "{} is absent: {}",
                    metric.name,
                    self.absence(&metric.name)
                ));
            }
        }
        if !file.published.is_empty() {
            if how
                .duration_ns
                .is_some_and(|ns| ns != file.options.duration_ns)
            {
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
        for (kind, variations) in [(VARIANT, &file.variants), (EXPERIMENT, &file.experiments)] {
            let ran = |name: &String| {
                let of =
                    |p: &Planned| p.params.get(kind).and_then(Param::word) == Some(name.as_str());
                done.iter().any(|(p, _)| of(p))
            };
            let ran = variations.iter().filter(|v| ran(&v.name));
            notes.extend(ran.map(|v| format!("{kind} {}: {}", v.name, v.why)));
        }
        notes.extend(one_seed(&seeds(file, how)));
        for (planned, runs) in done {
            let odd = oddities(runs, &planned.workloads);
            let experiment = planned.params.get(EXPERIMENT).and_then(Param::word);
            let label = experiment.map_or_else(String::new, |name| format!(" ({name})"));
            let note = |odd: &String| format!("case {}{label}: {odd}", planned.token);
            notes.extend(odd.iter().map(note));
        }
        notes
    }

    /// Why a metric was not measured.
    fn absence(&self, metric: &str) -> String {
        let platform = &self.file.platform;
        let name = &platform.name;
        if !metric.ends_with("energy_j") {
            return format!("no run on {name} gave it");
        }
        if platform.power_unit != PowerUnit::Microwatt {
            return format!("platform {name} has no power in watts");
        }
        if metric == TOTAL_ENERGY && platform.board.is_none() {
            return format!(
                "platform {name} has no [board] power, and without it a total of the whole board \
                 would be made up"
            );
        }
        format!("no run on {name} gave it")
    }
}

#[cfg(test)]
mod tests;

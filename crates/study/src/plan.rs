//! Which runs a study consists of. Runs stand in the order of cases, columns and seeds: results
//! rely on it, not on who ran first (studies/README.md).
//!
//! What must stay: what cannot be run is an error before the first run; settings apply in the order
//! study, case, column, options of the command, variation, and the last one wins; a calibrated cell
//! is one only in runs as written. Tests by part: `sizes_count_the_seeds_of_cases` (`plan`,
//! `seeds`), study/tests.rs::`an_experiment_has_its_own_duration` (`column`),
//! study/tests.rs::`columns_and_cases_have_their_own_conditions` (`add`),
//! study/tests.rs::`cpus_that_leave_in_one_column_leave_in_no_other` (hotplug),
//! `threads_change_nothing_and_base_rows_have_no_change` (`runs`),
//! study/tests.rs::`the_cell_the_platform_names_is_marked` (`as_written`),
//! study/column_tests.rs::`a_column_may_change_the_workload` (`load`),
//! judge/tests.rs::`a_case_may_have_seeds_of_its_own_in_the_full_size` (`chosen_cases`).
//!
//! Tests: crates/study/src/study/tests.rs, crates/study/src/study/column_tests.rs

use crate::experiment::{expand, measured_by};
use crate::file::{Case, Column, StudyFile, Variation, with};
use crate::oracle::{check_fixed, machine};
use crate::pool::Run;
use crate::{StudyError, StudyOptions, apply_settings, catalogue};
use std::collections::BTreeMap;
use std::sync::Arc;
use wakeplace_engine::Options;
use wakeplace_optimum::Machine;
use wakeplace_outcome::{Param, Row};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Spec, Workload};

/// A case as it will be run, under all its policies.
#[derive(Clone)]
pub(crate) struct Planned {
    pub(crate) token: String,
    pub(crate) params: BTreeMap<String, Param>,
    /// The workload argument.
    pub(crate) argument: String,
    pub(crate) platform: Arc<Platform>,
    /// The base first.
    pub(crate) columns: Vec<PlannedColumn>,
    /// Settings of the case alone.
    pub(crate) set: Vec<(String, String)>,
    pub(crate) seeds: Vec<u64>,
    /// Position among the study's cases.
    pub(crate) case: usize,
    /// Metrics that the workload is measured by.
    pub(crate) measured_by: Vec<String>,
    /// One per seed.
    pub(crate) workloads: Arc<Vec<Workload>>,
    /// The case of the study whose published figures it is compared with.
    pub(crate) published_case: Option<usize>,
    /// The machine as the oracle sees it, if it is asked.
    pub(crate) oracle: Option<Arc<Machine>>,
    /// Run as the study says: the calibrated cell is one only then.
    pub(crate) as_written: bool,
}

/// A policy with the model it runs on, settings applied.
#[derive(Clone)]
pub(crate) struct PlannedColumn {
    pub(crate) name: String,
    pub(crate) policy: Policy,
    pub(crate) options: Options,
    /// What is changed in the case's workload argument, and the workloads then, one per seed.
    pub(crate) own: Option<(String, Arc<Vec<Workload>>)>,
}

impl PlannedColumn {
    /// Has the workloads that the column's own values of keys make of a case's. `on`: the
    /// case's platform; `platform`: the one that runs it.
    pub(crate) fn load(
        &mut self,
        spec: &Spec,
        on: &Platform,
        platform: &Platform,
        seeds: &[u64],
    ) -> Result<(), StudyError> {
        if let Some((extra, workloads)) = &mut self.own {
            let spec = catalogue::workload(&with(&spec.name, extra), on, spec.jitter())?;
            *workloads = Arc::new(expand(&spec, platform, seeds)?);
        }
        Ok(())
    }
}

/// All cases to run, in the order of the results: plain, variants, experiments.
pub(crate) fn plan(file: &StudyFile, how: &StudyOptions) -> Result<Vec<Planned>, StudyError> {
    let seeds = seeds(file, how);
    let plain = plain(file, plain_cases(file, how.quick), seeds.len());
    let mut all = Vec::new();
    let planner = Planner {
        file,
        how,
        seeds,
        of_case: true,
    };
    planner.add(&plain, None, &mut all)?;
    if !how.quick {
        for variant in &file.variants {
            planner.add(variant, Some(Row::VARIANT), &mut all)?;
        }
    }
    if how.experiments {
        for experiment in &file.experiments {
            planner.add(experiment, Some(Row::EXPERIMENT), &mut all)?;
        }
    }
    Ok(all)
}

/// Some of the plain cases, with the first of their seeds.
pub(crate) fn chosen_cases(
    file: &StudyFile,
    how: &StudyOptions,
    cases: &[usize],
    n_seeds: usize,
) -> Result<Vec<Planned>, StudyError> {
    let spec = |case: &usize| (*case, file.cases[*case].workload.clone());
    let chosen = plain(file, cases.iter().map(spec).collect(), n_seeds);
    let seeds = seeds(file, how);
    let mut all = Vec::new();
    let planner = Planner {
        file,
        how,
        seeds,
        of_case: false,
    };
    planner.add(&chosen, None, &mut all)?;
    Ok(all)
}

/// The study's cases with nothing changed.
fn plain(file: &StudyFile, cases: Vec<(usize, Spec)>, seeds: usize) -> Variation {
    Variation {
        name: String::new(),
        why: String::new(),
        set: Vec::new(),
        hotplug: file.options.hotplug.clone(),
        duration_ns: None,
        columns: file.columns.clone(),
        platform: None,
        cases,
        seeds,
    }
}

/// Seeds of the plain cases.
pub(crate) fn seeds(file: &StudyFile, how: &StudyOptions) -> Vec<u64> {
    match &how.seeds {
        Some(seeds) => seeds.clone(),
        None if how.quick => (1..=file.quick_seeds as u64).collect(),
        None => file.seeds.clone(),
    }
}

/// Positions of the study's own cases; with `quick` those of the reduced size only.
fn plain_cases(file: &StudyFile, quick: bool) -> Vec<(usize, Spec)> {
    let one = |case: usize| (case, file.cases[case].workload.clone());
    if quick {
        file.quick_cases.iter().copied().map(one).collect()
    } else {
        (0..file.cases.len()).map(one).collect()
    }
}

struct Planner<'a> {
    file: &'a StudyFile,
    how: &'a StudyOptions,
    seeds: Vec<u64>,
    /// Plain cases have as many as they say.
    of_case: bool,
}

impl Planner<'_> {
    /// In the full size as many as the case or the variation says; else the first of those that
    /// the caller or the reduced size has.
    fn seeds(&self, case: &Case, variation: &Variation, plain: bool) -> Vec<u64> {
        let full = !self.how.quick && self.how.seeds.is_none();
        let of_case = case.seeds.filter(|_| plain && full && self.of_case);
        let wanted = of_case.unwrap_or(variation.seeds);
        match full {
            true => (1..=wanted as u64).collect(),
            false => self.seeds.iter().copied().take(wanted).collect(),
        }
    }

    /// Adds the cases of a variation; `kind` is the parameter that names it.
    fn add(
        &self,
        variation: &Variation,
        kind: Option<&str>,
        all: &mut Vec<Planned>,
    ) -> Result<(), StudyError> {
        let oracle = |platform: &Platform| {
            let machine = self.file.oracle.then(|| machine(platform).map(Arc::new));
            machine.transpose()
        };
        for (case, spec) in &variation.cases {
            let plain = &self.file.cases[*case];
            let seeds = self.seeds(plain, variation, kind.is_none());
            let platform = variation.platform.unwrap_or(plain.platform);
            let platform = &self.file.platforms[platform];
            let columns = plain.columns(variation.columns.len());
            let column = |at: usize| -> Result<PlannedColumn, StudyError> {
                let mut column = self.column(&variation.columns[at], plain, variation)?;
                let on = self.file.platform_of(*case);
                column.load(spec, on, platform, &seeds)?;
                Ok(column)
            };
            let columns = columns.map(column).collect::<Result<_, _>>()?;
            let mut params = plain.params.clone();
            let own = self.file.platforms[0].name.as_str();
            if platform.name != own && !params.contains_key(Row::PLATFORM) {
                params.insert(Row::PLATFORM.to_owned(), Param::Word(platform.name.clone()));
            }
            let mut token = plain.token.clone();
            if let Some(kind) = kind {
                params.insert(kind.to_owned(), Param::Word(variation.name.clone()));
            }
            if kind == Some(Row::VARIANT) {
                token = format!("{token},{}", variation.name);
            }
            let workloads = expand(spec, platform, &seeds)?;
            all.push(Planned {
                token,
                params,
                argument: spec.name.clone(),
                columns,
                set: plain.set.clone(),
                case: *case,
                measured_by: measured_by(spec, &workloads),
                workloads: Arc::new(workloads),
                platform: Arc::clone(platform),
                seeds,
                // Figures were published for the plain cases; what an experiment changes is to
                // be seen beside them, a variant is a case of its own.
                published_case: (kind != Some(Row::VARIANT)).then_some(*case),
                oracle: oracle(platform)?,
                as_written: kind.is_none() && as_written(self.file, self.how),
            });
        }
        Ok(())
    }

    /// A column of a case with all settings applied, the most particular last.
    fn column(
        &self,
        column: &Column,
        case: &Case,
        variation: &Variation,
    ) -> Result<PlannedColumn, StudyError> {
        let mut options = self.file.options.clone();
        let of_study = variation.duration_ns.unwrap_or(case.duration_ns);
        options.duration_ns = self.how.duration_ns.unwrap_or(of_study);
        let of_case = case.hotplug.as_ref().unwrap_or(&variation.hotplug);
        let hotplug = column.hotplug.as_ref().unwrap_or(of_case);
        options.hotplug.clone_from(hotplug);
        options.wakeup_cases = self.file.counts_wakeup_cases();
        let mut policies = [column.policy.clone()];
        for set in [
            &self.file.set,
            &case.set,
            &column.set,
            &self.how.set,
            &variation.set,
        ] {
            apply_settings(set, &mut options, &mut policies)?;
        }
        if self.file.oracle {
            check_fixed(&options)?;
        }
        let [policy] = policies;
        Ok(PlannedColumn {
            name: column.name.clone(),
            policy,
            options,
            own: (column.workload.clone()).map(|extra| (extra, Arc::default())),
        })
    }
}

/// Are length and settings the study's own?
pub(crate) fn as_written(file: &StudyFile, how: &StudyOptions) -> bool {
    let same = |ns: u64| file.cases.iter().all(|case| case.duration_ns == ns);
    how.duration_ns.is_none_or(same) && how.set.is_empty()
}

impl Planned {
    /// Its runs, policy by policy, seed by seed.
    pub(crate) fn runs(&self) -> Vec<Run<'_>> {
        let mut runs = Vec::new();
        for column in &self.columns {
            let workloads = column.own.as_ref().map_or(&self.workloads, |own| &own.1);
            for (seed, workload) in self.seeds.iter().zip(workloads.iter()) {
                runs.push(Run {
                    platform: &self.platform,
                    policy: &column.policy,
                    scheduler: None,
                    workload,
                    options: &column.options,
                    oracle: self.oracle.as_deref(),
                    timeline: None,
                    label: format!("{} {} seed {seed}", self.token, column.name),
                    values_only: false,
                });
            }
        }
        runs
    }

    /// Simulated time per run, ns; the same in all columns.
    pub(crate) fn duration_ns(&self) -> u64 {
        self.columns[0].options.duration_ns
    }

    /// The case as the study has it: no variant, no experiment.
    pub(crate) fn is_plain(&self) -> bool {
        !self.params.contains_key(Row::VARIANT) && !self.params.contains_key(Row::EXPERIMENT)
    }

    /// How many runs it is.
    pub(crate) fn len(&self) -> usize {
        self.columns.len() * self.seeds.len()
    }
}

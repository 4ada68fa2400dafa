//! Which runs a study consists of.

use crate::experiment::expand;
use crate::file::{StudyFile, Variation};
use crate::outcome::{EXPERIMENT, VARIANT};
use crate::pool::Run;
use crate::{Param, StudyError, StudyOptions, apply_settings};
use std::collections::BTreeMap;
use wakeplace_engine::Options;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Spec, Workload};

/// A case as it will be run, under all its policies.
pub(crate) struct Planned {
    pub(crate) token: String,
    pub(crate) params: BTreeMap<String, Param>,
    /// The workload argument.
    pub(crate) argument: String,
    /// The base first, settings applied.
    pub(crate) policies: Vec<Policy>,
    pub(crate) options: Options,
    pub(crate) seeds: Vec<u64>,
    /// One per seed.
    pub(crate) workloads: Vec<Workload>,
    /// The case of the study whose published figures it is compared with.
    pub(crate) published_case: Option<usize>,
    /// Run as the study says: the calibrated cell is one only then.
    pub(crate) as_written: bool,
}

/// All cases to run, in the order of the results: plain, variants, experiments.
pub(crate) fn plan(file: &StudyFile, how: &StudyOptions) -> Result<Vec<Planned>, StudyError> {
    let seeds = seeds(file, how);
    let plain = Variation {
        name: String::new(),
        why: String::new(),
        set: Vec::new(),
        hotplug: file.options.hotplug.clone(),
        policies: file.policies.clone(),
        cases: plain_cases(file, how.quick),
        seeds: seeds.len(),
    };
    let mut all = Vec::new();
    let planner = Planner { file, how, seeds };
    planner.add(&plain, None, &mut all)?;
    if !how.quick {
        for variant in &file.variants {
            planner.add(variant, Some(VARIANT), &mut all)?;
        }
    }
    if how.experiments {
        for experiment in &file.experiments {
            planner.add(experiment, Some(EXPERIMENT), &mut all)?;
        }
    }
    Ok(all)
}

/// Seeds of the plain cases.
pub(crate) fn seeds(file: &StudyFile, how: &StudyOptions) -> Vec<u64> {
    match &how.seeds {
        Some(seeds) => seeds.clone(),
        None if how.quick => file.seeds.iter().copied().take(file.quick_seeds).collect(),
        None => file.seeds.clone(),
    }
}

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
}

impl Planner<'_> {
    /// Adds the cases of a variation; `kind` is the parameter that names it.
    fn add(
        &self,
        variation: &Variation,
        kind: Option<&str>,
        all: &mut Vec<Planned>,
    ) -> Result<(), StudyError> {
        let mut options = self.file.options.clone();
        options.duration_ns = self.how.duration_ns.unwrap_or(options.duration_ns);
        options.hotplug.clone_from(&variation.hotplug);
        let mut policies = variation.policies.clone();
        for set in [&self.file.set, &self.how.set, &variation.set] {
            apply_settings(set, &mut options, &mut policies)?;
        }
        let seeds: Vec<u64> = self.seeds.iter().copied().take(variation.seeds).collect();
        for (case, spec) in &variation.cases {
            let plain = &self.file.cases[*case];
            let mut params = plain.params.clone();
            let mut token = plain.token.clone();
            if let Some(kind) = kind {
                params.insert(kind.to_owned(), Param::Word(variation.name.clone()));
            }
            if kind == Some(VARIANT) {
                token = format!("{token},{}", variation.name);
            }
            all.push(Planned {
                token,
                params,
                argument: spec.name.clone(),
                policies: policies.clone(),
                options: options.clone(),
                workloads: expand(spec, &self.file.platform, &seeds)?,
                seeds: seeds.clone(),
                // Figures were published for the plain cases; what an experiment changes is to
                // be seen beside them, a variant is a case of its own.
                published_case: (kind != Some(VARIANT)).then_some(*case),
                as_written: kind.is_none() && as_written(self.file, self.how),
            });
        }
        Ok(())
    }
}

/// Are length and settings the study's own?
pub(crate) fn as_written(file: &StudyFile, how: &StudyOptions) -> bool {
    let length = how.duration_ns.unwrap_or(file.options.duration_ns);
    length == file.options.duration_ns && how.set.is_empty()
}

impl Planned {
    /// Its runs, policy by policy, seed by seed.
    pub(crate) fn runs<'a>(&'a self, platform: &'a Platform) -> Vec<Run<'a>> {
        let mut runs = Vec::new();
        for policy in &self.policies {
            for (seed, workload) in self.seeds.iter().zip(&self.workloads) {
                runs.push(Run {
                    platform,
                    policy,
                    workload,
                    options: &self.options,
                    label: format!("{} {} seed {seed}", self.token, policy.name()),
                });
            }
        }
        runs
    }
}

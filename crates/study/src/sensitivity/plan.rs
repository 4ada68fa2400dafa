//! Which runs it takes: per case the plain one and two per cost, all with the same seeds
//! (studies/README.md).
//!
//! What must stay: the plain runs of a case stand before its changed ones, since `judge.rs`
//! compares with what came last; seeds are the same in all of them, as pairs are compared. Tests by
//! part: `it_is_run_where_the_study_says_so_or_on_demand` (`tried`, `wanted`),
//! `a_case_may_have_seeds_of_its_own_in_the_full_size` (seeds),
//! judge/tests.rs::`on_request_only_is_said` (`on_request`).
//!
//! Tests: crates/study/src/sensitivity/judge/tests.rs

use super::costs::costs;
use crate::file::{Sensitivity, StudyFile};
use crate::plan::{Planned, chosen_cases};
use crate::pool::Run;
use crate::{StudyError, StudyOptions};
use wakeplace_platform::Factor;

/// A case to run, plain or with one cost changed.
pub(crate) struct Tried {
    pub(crate) planned: Planned,
    /// None: plain; the changed ones follow it.
    pub(crate) change: Option<Change>,
}

/// A changed cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) cost: String,
    /// What it was.
    pub(crate) value: String,
    pub(crate) factor: Factor,
}

/// The runs; none if the study does not ask for them, nor the caller.
pub(crate) fn tried(file: &StudyFile, how: &StudyOptions) -> Result<Vec<Tried>, StudyError> {
    let always = file.sensitivity.as_ref().is_some_and(|s| !s.on_request);
    let asked = how.sensitivity || (!how.quick && always);
    if !asked {
        return Ok(Vec::new());
    }
    let wanted = wanted(file);
    let mut all = Vec::new();
    for planned in chosen_cases(file, how, &wanted.cases, wanted.seeds)? {
        let costs = costs(&planned, &wanted);
        let mut changed = Vec::new();
        for cost in &costs {
            for factor in Factor::ALL {
                changed.push(Tried {
                    planned: cost.change(&planned, factor)?,
                    change: Some(Change {
                        cost: cost.name.clone(),
                        value: cost.value.clone(),
                        factor,
                    }),
                });
            }
        }
        all.push(Tried {
            planned,
            change: None,
        });
        all.extend(changed);
    }
    Ok(all)
}

/// What the study says, or without it every assumed cost in the cases of the reduced size.
pub(super) fn wanted(file: &StudyFile) -> Sensitivity {
    file.sensitivity.clone().unwrap_or_else(|| Sensitivity {
        on_request: true,
        cases: file.quick_cases.clone(),
        seeds: Sensitivity::SEEDS,
        workload: Vec::new(),
        except: Vec::new(),
    })
}

impl Tried {
    /// Its runs, of which only the metrics are kept.
    pub(crate) fn runs(&self) -> Vec<Run<'_>> {
        let mut runs = self.planned.runs();
        for run in &mut runs {
            run.values_only = true;
            if let Some(change) = &self.change {
                let what = format!(" {} {}", change.cost, change.factor.word());
                run.label.push_str(&what);
            }
        }
        runs
    }
}

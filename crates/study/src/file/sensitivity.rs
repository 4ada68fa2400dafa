//! Which conclusions are tried with assumed costs halved and doubled (studies/README.md).
//!
//! What must stay: which costs are assumed is the platform's to say, and here they are only named;
//! without `cases` they are those of the reduced size; each model must take the halved and the
//! doubled value. Tests by part: `columns_and_their_cases_are_read` (`sensitivity`),
//! `rules_of_columns_cases_and_sensitivity_hold` (`one_of`),
//! judge/tests.rs::`what_is_excepted_is_not_tried_and_workloads_are` (`except`). `refused` has no
//! test of its own.
//!
//! Tests: crates/study/src/file/tests.rs, crates/study/src/sensitivity/judge/tests.rs

use super::raw::{RawSensitivity, Text};
use super::read::chosen;
use super::values::{at, count, sentence};
use super::{Sensitivity, StudyFile};
use crate::error::Flaw;
use crate::sensitivity::{arguments, changed_workload, cost_names};
use wakeplace_platform::Factor;

/// Reads the `[sensitivity]` table.
pub(super) fn sensitivity(raw: &RawSensitivity, file: &StudyFile) -> Result<Sensitivity, Flaw> {
    let cases = match &raw.cases {
        None => file.quick_cases.clone(),
        Some(list) => chosen(list, || file.cases.iter().map(|c| c.token.as_str()))?,
    };
    let known = arguments(
        cases
            .iter()
            .map(|case| file.cases[*case].workload.name.as_str()),
    );
    let mut workload = Vec::new();
    for text in &raw.workload {
        let name = one_of(
            text,
            "number or time among the workloads' arguments",
            &known,
        )?;
        refused(text, &name, &cases, file)?;
        workload.push(name);
    }
    let mut found = Sensitivity {
        on_request: raw.on_request,
        cases,
        seeds: raw.seeds.as_ref().map_or(Ok(Sensitivity::SEEDS), count)?,
        workload,
        except: Vec::new(),
    };
    let costs = cost_names(file, &found);
    for except in &raw.except {
        let cost = one_of(&except.cost, "assumed cost", &costs)?;
        found.except.push((cost, sentence(&except.why)?));
    }
    Ok(found)
}

/// Every model takes what becomes of its argument.
fn refused(text: &Text, name: &str, cases: &[usize], file: &StudyFile) -> Result<(), Flaw> {
    for case in cases {
        for factor in Factor::ALL {
            let argument = &file.cases[*case].workload.name;
            let on = file.platform_of(*case);
            changed_workload((argument, on), name, factor).map_err(|error| {
                let problem = format!("{} {}: {error}", name, factor.word());
                Flaw::new(at(text), problem, "expected a value that can be changed so")
            })?;
        }
    }
    Ok(())
}

/// A name that is among the known ones; otherwise the nearest is offered.
fn one_of(text: &Text, what: &str, known: &[String]) -> Result<String, Flaw> {
    if known.contains(text.get_ref()) {
        return Ok(text.get_ref().clone());
    }
    let names = known.iter().map(String::as_str);
    Err(Flaw::unknown(at(text), what, text.get_ref(), names))
}

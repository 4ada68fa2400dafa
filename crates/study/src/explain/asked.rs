//! What is asked, in names: threads, policies, CPUs (docs/guide/tour.md).
//!
//! What must stay: where no policy is named each feature is turned, then the eras in the
//! catalogue's order, each set of parameters once; an era that the machine cannot have is left out
//! then, and refused if it was named. An error says what there is. Tests by part:
//! `mistakes_say_what_there_is` (`asked`, `check_cpu`, `no_such`), `named_others_only` (`others`),
//! `the_same_again` (`numbered`: a kind's name), `the_object_has_what_the_contract_says`
//! (`usual_others` gives some). Which policies are usual has no test of its own.
//!
//! Tests: crates/cli/tests/all/explain.rs

use crate::{Experiment, StudyError, apply_settings, check_keys};
use wakeplace_engine::{Asked, Missing, Options, Which};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_text::{did_you_mean, nearest, time};
use wakeplace_workload::Workload;

/// The policies asked for; without any all eras, and `policy` with each feature turned.
pub(super) fn others(
    experiment: &Experiment,
    policy: &Policy,
    workload: &Workload,
    set: &[(String, String)],
    named: &[String],
) -> Result<Vec<Policy>, StudyError> {
    let mut others = if named.is_empty() {
        usual_others(policy)
    } else {
        let parsed = named.iter().map(|name| Policy::parse(name));
        parsed.collect::<Result<_, _>>()?
    };
    check_keys(set, policy)?;
    apply_settings(set, &mut Options::default(), &mut others)?;
    if named.is_empty() {
        let (platform, options) = (&experiment.platform, &experiment.options);
        // What an older kernel cannot run on this machine is no answer.
        others.retain(|other| {
            other.core_params() != policy.core_params()
                && wakeplace_engine::check(platform, other, workload, options).is_ok()
        });
        return Ok(others);
    }
    for other in &others {
        wakeplace_engine::check(&experiment.platform, other, workload, &experiment.options)?;
    }
    Ok(others)
}

/// The policies that are asked where none is named: each feature turned, then the eras.
fn usual_others(policy: &Policy) -> Vec<Policy> {
    let features = policy.features();
    let turned = features.iter().map(|feature| {
        let sign = if feature.state.is_some() { '-' } else { '+' };
        format!("{}{sign}{}", policy.name(), feature.name)
    });
    let catalogue = Policy::catalogue().into_iter().map(|(name, _)| name);
    let eras = catalogue.filter(|name| !name.starts_with('+'));
    let parsed = turned.chain(eras).map(|name| Policy::parse(&name));
    let mut found: Vec<Policy> = Vec::new();
    for other in parsed.flatten() {
        if !(found.iter()).any(|earlier| earlier.core_params() == other.core_params()) {
            found.push(other);
        }
    }
    found
}

/// The CPU is one of the platform's.
pub(super) fn check_cpu(
    option: &str,
    cpu: Option<u32>,
    platform: &Platform,
) -> Result<(), StudyError> {
    let count = platform.cpus.len();
    match cpu {
        Some(cpu) if cpu as usize >= count => Err(StudyError::Explain(format!(
            "{option} {cpu}: platform `{}` has the CPUs 0 to {}",
            platform.name,
            count - 1
        ))),
        _ => Ok(()),
    }
}

/// The digits at the end of `NAME-DIGITS`.
fn numbered<'a>(name: &'a str, kind: &str) -> Option<&'a str> {
    let digits = name.strip_prefix(kind)?.strip_prefix('-')?;
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then_some(digits)
}

/// The threads that a name means: one, those of a kind, or one that is forked (`NAME-0003`).
pub(super) fn asked(
    workload: &Workload,
    task: Option<&str>,
    which: Which,
) -> Result<Asked, StudyError> {
    let Some(task) = task else {
        return Ok(Asked {
            scripts: None,
            fork: None,
            which,
        });
    };
    let scripts = |takes: &dyn Fn(&str) -> bool| -> Vec<u32> {
        let named = (0..).zip(&workload.tasks);
        named
            .filter(|(_, script)| takes(&script.name))
            .map(|(index, _)| index)
            .collect()
    };
    let mut found = scripts(&|name| name == task);
    if found.is_empty() {
        found = scripts(&|name| numbered(name, task).is_some());
    }
    let mut fork = None;
    if found.is_empty() {
        let of = |script: &&wakeplace_workload::TaskScript| {
            script.forks.is_some() && numbered(task, &script.name).is_some()
        };
        if let Some(script) = workload.tasks.iter().find(of) {
            found = scripts(&|name| name == script.name);
            fork = numbered(task, &script.name).and_then(|digits| digits.parse().ok());
        }
    }
    if found.is_empty() {
        let names = workload.tasks.iter().map(|script| script.name.as_str());
        let hint = did_you_mean(nearest(task, names.clone()));
        let some: Vec<_> = names.take(8).collect();
        let more = if workload.tasks.len() > 8 {
            ", ..."
        } else {
            ""
        };
        return Err(StudyError::Explain(format!(
            "--task: workload `{}` has no task `{task}`; expected one of {}{more}{hint}",
            workload.name,
            some.join(", ")
        )));
    }
    Ok(Asked {
        scripts: Some(found),
        fork,
        which,
    })
}

/// Why there is no such decision, and what there is.
pub(super) fn no_such(
    missing: Missing,
    which: Which,
    task: Option<&str>,
    options: &Options,
) -> StudyError {
    let of = task.map_or_else(String::new, |task| format!(" of `{task}`"));
    let there = match (missing.wakeups, missing.last_ns) {
        (0, _) | (_, None) => format!("there was no wake-up{of}"),
        (1, Some(last)) => format!("there was one wake-up{of}, at {}", time(last)),
        (n, Some(last)) => format!("there were {n} wake-ups{of}, the last at {}", time(last)),
    };
    let end = time(missing.end_ns.min(options.duration_ns));
    let what = match which {
        Which::Wakeup(0) => format!("--wakeup 0: no task{of} was made"),
        Which::Wakeup(number) => format!("--wakeup {number}: {there}"),
        Which::At(at) if at >= missing.end_ns => {
            format!("--at {}: the run was over before; {there}", time(at))
        }
        Which::At(at) => format!("--at {}: no wake-up from then on; {there}", time(at)),
        Which::To(cpu) => format!("--to {cpu}: no wake-up{of} went there; {there}"),
    };
    StudyError::Explain(format!("{what} (the run took {end})"))
}

//! `evaluate`: one score of a candidate beside a base (docs/guide/evaluate.md).
//!
//! What must stay: bytes of a result depend on the arguments and not on `--jobs`; a candidate is
//! told by its form alone (`is_scheduler`); a scheduler runs behind the wall, as `sim --scheduler`
//! does. Exit code 1 if the candidate failed; the evaluation is written all the same. Tests by
//! part: `a_candidate_is_told_by_its_form` (`is_scheduler`),
//! crates/cli/tests/all/evaluate.rs::`a_policy_has_a_score_and_its_parts` (`evaluate`, `walled`),
//! evaluate.rs::`a_scheduler_is_scored` and evaluate.rs::`a_scheduler_that_fails_has_no_score`
//! (schedulers, exit code 1), evaluate.rs::`wrong_evaluations_are_refused` (`split`).
//!
//! Tests: below, crates/cli/tests/all/evaluate.rs

use super::battery::Tried;
use super::schedulers::Asked;
use super::simulate::{follow, inputs, jobs, texts};
use crate::args::{AnswerFormat, EvaluateArgs, SchedulerArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::places;
use crate::repeat;
use crate::terminal::Terminal;
use crate::text::{plain, style};
use crate::wall;
use wakeplace_policy_sys::TREE_PREFIX;
use wakeplace_report::{evaluation_json, evaluation_text};
use wakeplace_study::{Ask, Evaluate, Matrix};

/// Runs the battery with the base and the candidate, and says how good the candidate is.
pub(crate) fn evaluate(args: &EvaluateArgs, terminal: Terminal) -> Outcome {
    let (ask, schedulers) = split(args)?;
    let n = schedulers.scheduler.len();
    let evaluate = Evaluate::of(&ask, n).map_err(Failure::input)?;
    let battery = evaluate.battery.name.as_str();
    places::apart(
        inputs(&ask).into_iter().chain([("--battery", battery)]),
        &[("--output", args.output.as_deref())],
    )?;
    let with = (&schedulers, args.kernel_config.as_deref());
    let (battery, request) = (evaluate.battery.clone(), evaluate.request.clone());
    let tried = Tried::of(battery, request, with, terminal)?;
    let outputs = args.output.iter().cloned().collect();
    let jobs = jobs(args.how.jobs);
    wall::behind(&schedulers, jobs, outputs, terminal, |foreign| {
        let asked = (&evaluate, &tried, &schedulers);
        walled(args, asked, (foreign, jobs), terminal)
    })
}

/// What is asked, with the candidate where it belongs: among the policies or the schedulers.
fn split(args: &EvaluateArgs) -> Result<(Ask, SchedulerArgs), Failure> {
    let mut ask = args.ask.0.clone();
    let candidate = texts(&ask, "policy").pop().unwrap_or_default();
    let scheduler = Some(candidate.clone()).filter(|text| is_scheduler(text));
    if scheduler.is_some() {
        ask.remove("policy");
    }
    let schedulers = args.schedulers(scheduler).ok_or_else(|| {
        Failure::Input(format!(
            "--kernel and --interpret are for schedulers, and `{candidate}` is a policy; expected \
             neither, or a candidate as ./x.bpf.o"
        ))
    })?;
    Ok((ask, schedulers))
}

/// A path, a command of several words, an object file or a name as sched_ext's schedulers have it;
/// all else is a policy.
fn is_scheduler(candidate: &str) -> bool {
    let is_tree = candidate.starts_with(TREE_PREFIX);
    let is_path = candidate.contains('/') || candidate.ends_with(".o");
    let is_command = candidate.contains(char::is_whitespace) || candidate.starts_with("scx_");
    !is_tree && (is_path || is_command)
}

/// The command, where schedulers may run.
fn walled(
    args: &EvaluateArgs,
    (evaluate, tried, schedulers): (&Evaluate, &Tried, &SchedulerArgs),
    (foreign, jobs): (Option<&Asked>, usize),
    terminal: Terminal,
) -> Outcome {
    let output = Output::prepare(args.output.as_deref())?;
    let cells = tried.cells(foreign, schedulers, terminal)?;
    evaluate.check(&cells).map_err(Failure::input)?;
    let matrix = Matrix::of_cells(&cells, tried.request.margin_pct);
    let comparisons = follow(terminal, |progress| matrix.run(jobs, progress))?;
    let found = evaluate.judge(&cells, &comparisons, &repeat::origin());
    let found = found.map_err(Failure::input)?;
    let look = match output.is_stdout() {
        true => style(terminal),
        false => plain(),
    };
    let text = match args.format() {
        AnswerFormat::Human => evaluation_text(&found, look),
        AnswerFormat::Json => evaluation_json(&found),
    };
    output.write(&text, terminal)?;
    if args.format() == AnswerFormat::Human {
        // JSON carries them.
        found
            .warnings
            .iter()
            .for_each(|warning| terminal.warn(warning));
    }
    Ok(match found.valid {
        true => Verdict::Ok,
        false => Verdict::Unmet,
    })
}

#[cfg(test)]
mod tests {
    use super::is_scheduler;

    #[test]
    fn a_candidate_is_told_by_its_form() {
        for policy in [
            "wakeplace",
            "wakeplace:busy_factor=8,mode=powersave",
            "linux-4.17+energy-aware=5.0",
            "kernel:7.3",
            "kernel:/home/me/linux@HEAD",
        ] {
            assert!(!is_scheduler(policy), "{policy}");
        }
        for scheduler in [
            "./x.bpf.o",
            "x.bpf.o",
            "scx_lavd",
            "scx_lavd --performance",
            "/usr/bin/scx_rusty",
            "mine -a",
        ] {
            assert!(is_scheduler(scheduler), "{scheduler}");
        }
    }
}

//! `explain`: one decision, its candidates and what other policies would have done; of a tree's own
//! code the state that it found; under a sched_ext scheduler what its callbacks did
//! (docs/guide/tour.md, docs/decisions/034).
//!
//! The page is free.
//!
//! What must stay: keys of the JSON (`wakeplace_outcome`). Numbers of wake-ups count as
//! `wakeplace_study::explain` counts them. The run is the one that `sim` would do with the same
//! options. Tests by part: crates/cli/tests/all/explain.rs::`the_object_has_what_the_contract_says`
//! (`answer`), explain.rs::`the_same_again` (that the run is the same),
//! explain.rs::`mistakes_say_what_there_is` (`explain`),
//! crates/cli/tests/all/schedulers.rs::`explain_takes_one_scheduler_and_says_how_it_ended`
//! (`of_scheduler`), crates/cli/tests/all/kernel_runs.rs::`commands_that_cannot_have_one_say_so`
//! (trees in `--compare-policy`).
//!
//! Tests: crates/cli/tests/all/explain.rs, crates/cli/tests/all/schedulers.rs,
//! crates/cli/tests/all/kernel_runs.rs::commands_that_cannot_have_one_say_so

pub(super) use tree::example as example_of_tree;

mod scheduler;
mod text;
mod tree;

use super::schedulers::{self, Asked};
use super::simulate::{inputs, texts};
use crate::args::{AnswerFormat, ExplainArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::places;
use crate::terminal::Terminal;
use crate::text::{plain, style};
use crate::trees;
use crate::wall;
use wakeplace_policy_sys::TREE_PREFIX;
use wakeplace_report::Style;
use wakeplace_study::{Command, Experiment, Input, Question, SchedulerAnswer};

/// `explain`.
pub(crate) fn explain(args: ExplainArgs, terminal: Terminal) -> Outcome {
    let ask = &args.ask.0;
    let schedulers = args.schedulers.scheduler.len();
    ask.check(Command::Explain, schedulers)
        .map_err(Failure::input)?;
    let others = ask.texts("compare_policy");
    if let Some(tree) = others.iter().find(|name| name.starts_with(TREE_PREFIX)) {
        return Err(Failure::Input(format!(
            "--compare-policy `{tree}`: a kernel's own code cannot be asked about the state of \
             another run; expected an era, as `linux-7.3`"
        )));
    }
    places::apart(inputs(ask), &[("--output", args.output.as_deref())])?;
    let config = args.kernel_config.as_deref();
    trees::provide(
        &texts(ask, "policy"),
        &texts(ask, "platform"),
        trees::coherent(ask),
        config,
        terminal,
    )?;
    let outputs = args.output.iter().cloned().collect();
    wall::behind(&args.schedulers, 1, outputs, terminal, |asked| {
        answer(&args, asked, terminal)
    })
}

/// Looks at the decision that is asked for and prints it in the form that is asked for.
fn answer(args: &ExplainArgs, asked: Option<&Asked>, terminal: Terminal) -> Outcome {
    let output = Output::prepare(args.output.as_deref())?;
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    let schedulers = args.schedulers.scheduler.len();
    let question = args.ask.0.question(schedulers).map_err(Failure::input)?;
    let is_json = matches!(args.format, AnswerFormat::Json);
    let text = if !args.ask.0.has("policy") {
        let answer = of_scheduler(args, &question, asked, terminal)?;
        match is_json {
            true => answer.json(),
            false => scheduler::answer(&answer, look),
        }
    } else if question.is_of_tree() {
        let answer = question.tree_answer().map_err(Failure::input)?;
        match is_json {
            true => answer.json(),
            false => tree::answer(&answer, look),
        }
    } else {
        let answer = question.answer().map_err(Failure::input)?;
        match is_json {
            true => answer.json(),
            false => text::answer(&answer, look),
        }
    };
    output.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

/// What is said for people of a decision whose run `experiment` is, with one contender, and what it
/// found of these CPUs; a sched_ext scheduler does not tell.
pub(super) fn for_people(
    question: &Question,
    experiment: Experiment,
    cpus: &[u32],
    look: Style,
) -> Result<(String, Vec<Input>), Failure> {
    if !experiment.schedulers.is_empty() {
        let answer = question.scheduler_answer(experiment);
        let text = scheduler::answer(&answer.map_err(Failure::input)?, look);
        return Ok((text, Vec::new()));
    }
    if question.is_of_tree() {
        let answer = question.tree_answer().map_err(Failure::input)?;
        return Ok((tree::answer(&answer, look), answer.inputs(cpus)));
    }
    let answer = question.answer().map_err(Failure::input)?;
    Ok((text::answer(&answer, look), answer.inputs(cpus)))
}

/// Loads the scheduler against the platform, then runs.
fn of_scheduler(
    args: &ExplainArgs,
    question: &Question,
    asked: Option<&Asked>,
    terminal: Terminal,
) -> Result<SchedulerAnswer, Failure> {
    let mut matrix = question.request.resolve().map_err(Failure::input)?;
    schedulers::add(asked, &args.schedulers, &mut matrix, terminal)?;
    let experiment = matrix.experiments.swap_remove(0);
    if experiment.schedulers.len() > 1 {
        let several = "--scheduler: expected one, whose wake-up it is".to_owned();
        return Err(Failure::Input(several));
    }
    let answer = question.scheduler_answer(experiment);
    answer.map_err(Failure::input)
}

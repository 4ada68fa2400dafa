//! `explain`: one decision, its candidates and what other policies would have done.

mod text;

use crate::args::{AnswerFormat, ExplainArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::places;
use crate::terminal::Terminal;
use crate::text::{plain, style};
use wakeplace_engine::Which;
use wakeplace_study::{Question, Request, Source};

/// `explain`.
pub(crate) fn explain(args: ExplainArgs, terminal: Terminal) -> Outcome {
    let inputs = [
        ("--platform", args.platform.as_str()),
        ("--workload", args.workload.as_str()),
    ];
    places::apart(inputs, &[("--output", args.output.as_deref())])?;
    let output = Output::prepare(args.output.as_deref())?;
    let format = args.format;
    let answer = question(args).answer().map_err(Failure::input)?;
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    let text = match format {
        AnswerFormat::Human => text::answer(&answer, look),
        AnswerFormat::Json => answer.json(),
    };
    output.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

fn question(args: ExplainArgs) -> Question {
    let which = which(&args);
    Question {
        request: Request {
            platforms: vec![Source::named(args.platform)],
            workloads: vec![Source::named(args.workload)],
            load: args.input.load(),
            jitter: args.jitter.jitter,
            policies: vec![args.policy],
            set: args.set,
            seeds: vec![args.seed],
            duration_ns: args.input.duration,
            hotplug: args.input.hotplug(),
            ..Request::default()
        },
        task: args.task,
        which,
        others: args.compare_policy,
        why_not: args.why_not,
    }
}

fn which(args: &ExplainArgs) -> Which {
    match (args.wakeup, args.at, args.to) {
        (_, Some(at), _) => Which::At(at),
        (_, _, Some(cpu)) => Which::To(cpu),
        (number, ..) => Which::Wakeup(number.unwrap_or(1)),
    }
}

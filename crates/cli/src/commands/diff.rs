//! `diff`: two results, before and after (docs/guide/results.md, "Two results").
//!
//! Nothing is simulated.
//!
//! What must stay: pairs are those of `wakeplace_report`'s diff: same platform, workload, policy
//! and seed. Exit code 1 if `--expect` is missed. What grows with the length is not judged between
//! runs of unlike length, and a run that got stuck is not judged at all. Tests by part:
//! crates/cli/tests/all/results.rs::`two_results_are_compared` (`diff`, `check`),
//! crates/report/src/diff/tests.rs::`runs_of_one_seed_are_a_pair` (pairs). No test of its own: what
//! one result lacks, with `--strict`.
//!
//! Tests: crates/cli/tests/all/results.rs::two_results_are_compared,
//! crates/report/src/diff/tests.rs

use super::report::{sources, texts};
use super::simulate::{judge, say};
use crate::args::{DiffArgs, FormatName};
use crate::expect::{self, Checked};
use crate::failure::{Failure, Outcome, Verdict};
use crate::html::HtmlExport;
use crate::junit::JunitExport;
use crate::output::Output;
use crate::places;
use crate::terminal::Terminal;
use crate::text::{format, plain, style};
use wakeplace_metrics::{Expectation, Limit, MetricDef, find_metric};
use wakeplace_report::{Difference, Format};
use wakeplace_study::parse_margin;

/// Reads both, and writes what they differ by.
pub(crate) fn diff(args: &DiffArgs, terminal: Terminal) -> Outcome {
    let files = [args.before.clone(), args.after.clone()];
    let names = files.iter().filter_map(|path| path.to_str());
    places::apart(
        names.map(|path| ("FILE", path)),
        &[
            ("--output", args.output.output.as_deref()),
            ("--export-html", args.export_html.as_deref()),
            ("--export-junit", args.gates.export_junit.as_deref()),
        ],
    )?;
    let margin = args.margin.as_deref().map(parse_margin).transpose();
    let margin = margin.map_err(|why| Failure::Input(format!("--margin {why}")))?;
    let output = Output::prepare(args.output.output.as_deref())?;
    let page = HtmlExport::prepare(args.export_html.as_deref())?;
    let junit = JunitExport::prepare(args.gates.export_junit.as_deref())?;
    let texts = texts(&files)?;
    let [before, after] = sources(&texts)[..] else {
        unreachable!("two files have two texts")
    };
    let found = wakeplace_report::diff(before, after, margin).map_err(Failure::input)?;
    let later: Vec<String> = found
        .pairs
        .iter()
        .map(|pair| pair.policies[1].clone())
        .collect();
    let expectations = expect::of_results(&args.gates.expect, &later)?;
    let pairs = found.pairs.iter();
    let checked: Vec<_> = pairs
        .map(|pair| check(pair, &expectations, args.gates.strict))
        .collect();
    let mut comparisons = found.comparisons();
    if !expectations.is_empty() {
        for (comparison, (_, checked)) in comparisons.iter_mut().zip(&checked) {
            comparison.checks = checked.outcome(None).collect();
        }
    }
    if let Some(page) = &page {
        let json = wakeplace_report::comparisons(&comparisons, Format::Json, plain());
        page.write(&json, terminal)?;
    }
    let mut remarks = String::new();
    let mut verdict = Verdict::Ok;
    judge(
        &checked,
        junit.as_ref(),
        (&mut remarks, &mut verdict),
        terminal,
    )?;
    if !found.alone.is_empty() && !expectations.is_empty() {
        let alone = found.alone.join("\n");
        remarks.push_str(&format!(
            "\nNOT judged, since one result lacks them:\n{alone}\n"
        ));
        // As what is not told.
        if args.gates.strict {
            verdict = Verdict::Unmet;
        }
    }
    let form = args.output.format;
    let result = match form {
        FormatName::Human if output.is_stdout() => found.text(style(terminal)),
        FormatName::Human => found.text(plain()),
        FormatName::Md => found.markdown(),
        form => wakeplace_report::comparisons(&comparisons, format(form), plain()),
    };
    say((&result, &remarks), form, &output, terminal)?;
    Ok(verdict)
}

/// Judges the later runs of a pair by the conditions that are about their policy.
fn check(pair: &Difference, all: &[Expectation], strict: bool) -> (String, Checked) {
    let later = &pair.runs.runs[1].policy;
    let about = all.iter().filter(|one| {
        let named = one.policy.as_ref();
        named.is_none_or(|name| *name == pair.policies[1])
    });
    let of_later = |one: &Expectation| Expectation {
        policy: Some(later.clone()),
        ..one.clone()
    };
    let grows = |one: &Expectation| {
        let grows = find_metric(&one.metric).is_ok_and(MetricDef::grows_with_length);
        matches!(one.limit, Limit::FromBase(_)) && grows
    };
    let (left, conditions): (Vec<_>, Vec<_>) =
        { about.map(of_later) }.partition(|one| !pair.same_length && grows(one));
    let checked = match pair.complete {
        true => {
            let mut checked = expect::check(&conditions, &(&pair.runs).into(), strict);
            let open = left.iter().map(Expectation::condition);
            open.for_each(|condition| checked.leave_open(condition, later, "the lengths differ"));
            checked
        }
        false => expect::stuck(std::iter::once(later.clone())),
    };
    (pair.place.clone(), checked)
}

//! `diff`: two results, before and after.

use super::report::{sources, texts};
use crate::args::{DiffArgs, FormatName};
use crate::expect;
use crate::failure::{Failure, Outcome, Verdict};
use crate::html::HtmlExport;
use crate::junit::JunitExport;
use crate::output::Output;
use crate::places;
use crate::terminal::Terminal;
use crate::text::{format, plain, style};
use wakeplace_report::Format;
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
    let expectations = expect::of_results(&args.gates.expect, &["before", "after"])?;
    let output = Output::prepare(args.output.output.as_deref())?;
    let page = HtmlExport::prepare(args.export_html.as_deref())?;
    let junit = JunitExport::prepare(args.gates.export_junit.as_deref())?;
    let texts = texts(&files)?;
    let [before, after] = sources(&texts)[..] else {
        unreachable!("two files have two texts")
    };
    let found = wakeplace_report::diff(before, after, margin).map_err(Failure::input)?;
    let comparisons = found.comparisons();
    if let Some(page) = &page {
        let json = wakeplace_report::comparisons(&comparisons, Format::Json, plain());
        page.write(&json, terminal)?;
    }
    let mut verdict = Verdict::Ok;
    let mut remarks = String::new();
    let check = |of| (of, expect::check(&expectations, of, args.gates.strict));
    let checked: Vec<_> = comparisons.iter().map(check).collect();
    for (_, checked) in &checked {
        remarks.push_str(&checked.text(style(terminal)));
        if checked.verdict() == Verdict::Unmet {
            verdict = Verdict::Unmet;
        }
    }
    if let Some(junit) = &junit {
        junit.write(&checked, terminal)?;
    }
    let human = args.output.format == FormatName::Human;
    let result = match human {
        true if output.is_stdout() => found.text(style(terminal)),
        true => found.text(plain()),
        false => {
            let form = format(args.output.format);
            wakeplace_report::comparisons(&comparisons, form, plain())
        }
    };
    if human && output.is_stdout() {
        output.write(&format!("{result}{remarks}"), terminal)?;
    } else {
        output.write(&result, terminal)?;
        terminal.eprint(remarks.trim_start_matches('\n'));
    }
    Ok(verdict)
}

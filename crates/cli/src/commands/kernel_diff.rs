//! `kernel diff`: a kernel's decisions beside the core's answers to the same questions
//! (docs/guide/kernel.md, "Beside the policy core").
//!
//! What must stay: a drawn machine and load depend on the seed and their number alone, so that the
//! command that is printed shows the same case. Nothing is shown twice: a kind has its smallest
//! example. Differences are a result; only `--allow` and a kernel that failed make exit code 1.
//! Tests by part: crates/cli/tests/all/kernel_diff.rs::`the_core_decides_as_the_kernel` (`compare`,
//! `verdict`), kernel_diff.rs::`a_broken_rule_is_found` (`--allow`),
//! kernel_diff.rs::`what_is_drawn_depends_on_the_seed` (`--random`),
//! kernel_diff.rs::`what_cannot_be_compared_is_refused` (`run`). No test of its own: `page` and
//! what it is made of; `keep`.
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs

use super::explain::example_of_tree;
use super::simulate::inputs;
use crate::args::{AnswerFormat, KernelDiffArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::page::{Form, Page};
use crate::places;
use crate::terminal::Terminal;
use crate::text::{plain, style};
use crate::trees;
use std::path::Path;
use wakeplace_policy_sys::{Policy, TREE_PREFIX};
use wakeplace_report::{Align, Style, Table};
use wakeplace_study::{
    Command, DiffFound, Drawn, Experiment, KernelDiff, Request, SignalFound, Source,
};

/// Of one drawn machine, so that many are.
const MOST_OF_ONE: u64 = 20_000;

/// `kernel diff`.
pub(crate) fn run(args: &KernelDiffArgs, terminal: Terminal) -> Outcome {
    let ask = &args.ask.0;
    ask.check(Command::Diff, 0).map_err(Failure::input)?;
    if !args.kernel.starts_with(TREE_PREFIX) {
        return Err(Failure::Input(format!(
            "KERNEL `{}`: expected a kernel's own code, as {TREE_PREFIX}{}",
            wakeplace_text::shorten(&args.kernel),
            wakeplace_text::shorten(args.kernel.trim_start_matches("linux-")),
        )));
    }
    places::apart(inputs(ask), &[("--output", args.output.as_deref())])?;
    let output = Output::prepare(args.output.as_deref())?;
    let platforms: Vec<String> = { ask.texts("platform").into_iter() }
        .map(str::to_owned)
        .collect();
    let config = args.kernel_config.as_deref();
    trees::provide(
        std::slice::from_ref(&args.kernel),
        &platforms,
        false,
        config,
        terminal,
    )?;
    let diff = compare(args, terminal)?;
    let look = match output.is_stdout() {
        true => style(terminal),
        false => plain(),
    };
    let text = match args.form.format {
        AnswerFormat::Json => diff.json(),
        AnswerFormat::Human => page(&diff, look),
    };
    output.write(&text, terminal)?;
    Ok(verdict(args, &diff, terminal))
}

/// A run that the kernel ended early is none; differences are a result unless `--allow` bounds
/// them.
fn verdict(args: &KernelDiffArgs, diff: &KernelDiff, terminal: Terminal) -> Verdict {
    for said in diff.failed() {
        terminal.warn(&format!("the kernel failed: {said}"));
    }
    let shares = [
        (diff.differ_pct(), "decisions"),
        (diff.signals().differ_pct(), "signals of one kind"),
    ];
    let mut is_beyond = false;
    for (differ, of) in shares {
        if let Some(most) = args.allow.filter(|most| differ > *most) {
            is_beyond = true;
            terminal.warn(&format!("--allow {most}: {differ:.4} % of the {of} differ"));
        }
    }
    match is_beyond || !diff.failed().is_empty() {
        true => Verdict::Unmet,
        false => Verdict::Ok,
    }
}

/// Decisions of the runs that are asked for, or of drawn ones, each put to the core as well.
fn compare(args: &KernelDiffArgs, terminal: Terminal) -> Result<KernelDiff, Failure> {
    let mut request = args.ask.0.request(Command::Diff).map_err(Failure::input)?;
    request.policies = vec![args.kernel.clone()];
    let policy = Policy::parse(&args.policy).map_err(Failure::input)?;
    let tree = Policy::parse(&args.kernel).map_err(Failure::input)?;
    let mut diff = KernelDiff::new(policy, &tree).map_err(Failure::input)?;
    let Some(most) = args.random else {
        let experiment = experiment(&request)?;
        diff.add(&experiment, u64::MAX).map_err(Failure::input)?;
        return Ok(diff);
    };
    let mut seed = request.seeds[0];
    while diff.decisions() < most {
        let drawn = wakeplace_study::draw(seed);
        if let Some(folder) = &args.keep {
            keep(folder, seed, &drawn)?;
        }
        terminal.detail(&format!(
            "seed {seed}: {}, {} decisions",
            drawn.title,
            diff.decisions()
        ));
        request.platforms = vec![Source::Text {
            name: format!("drawn-{seed}"),
            text: drawn.platform,
        }];
        request.workloads = vec![match drawn.is_rtapp {
            true => Source::Text {
                name: format!("drawn-{seed}.json"),
                text: drawn.workload,
            },
            false => Source::named(drawn.workload),
        }];
        request.seeds = vec![seed];
        request.duration_ns = request.duration_ns.or(Some(drawn.duration_ns));
        let enough = most.min(diff.decisions() + MOST_OF_ONE);
        diff.add(&experiment(&request)?, enough)
            .map_err(Failure::input)?;
        seed += 1;
    }
    Ok(diff)
}

/// Writes a machine and its load where `--platform` and `--workload` can read them.
fn keep(folder: &Path, seed: u64, drawn: &Drawn) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        Failure::Input(format!("--keep {folder}: {error}; expected a folder"))
    })?;
    let load = if drawn.is_rtapp { "json" } else { "txt" };
    for (text, kind) in [(&drawn.platform, "toml"), (&drawn.workload, load)] {
        let path = folder.join(format!("drawn-{seed}.{kind}"));
        wakeplace_files::write(&path, text.as_bytes())
            .map_err(|error| Failure::writing("--keep", &error, "a folder"))?;
    }
    Ok(())
}

/// The only experiment of a request; an input that cannot be run is exit code 2.
fn experiment(request: &Request) -> Result<Experiment, Failure> {
    let mut matrix = request.resolve().map_err(Failure::input)?;
    Ok(matrix.experiments.swap_remove(0))
}

/// The figures, then each kind with its smallest example.
fn page(diff: &KernelDiff, style: Style) -> String {
    let title = format!("{} beside {}", diff.policy().name(), diff.tree());
    let differ = diff.decisions() - diff.agree();
    let sentence = format!(
        "{} decisions, {} agree, {differ} differ ({:.4} %).",
        diff.decisions(),
        diff.agree(),
        diff.differ_pct(),
    );
    let mut page = Page::new(Form::Human(style), &title, &sentence);
    page.section("signals: what the core made of the tree's state before each update");
    page.table(&signals(diff));
    for found in diff.signals().found() {
        signal(&mut page, found);
    }
    if differ == 0 {
        return page.finish();
    }
    page.section("kinds of differences: what the core did, and what it says of the tree's CPU");
    page.table(&kinds(diff));
    for (number, kind) in (1..).zip(diff.kinds()) {
        example(&mut page, number, kind);
    }
    page.finish()
}

/// Signals by kind: how many were compared, and how many differ.
fn signals(diff: &KernelDiff) -> Table {
    let columns = ["signal", "compared", "differ", "share_pct"];
    let mut table = Table::new("signals", &columns).keys(1);
    for column in ["compared", "differ", "share_pct"] {
        table = table.align(column, Align::Right);
    }
    for of in diff.signals().kinds() {
        let share = format!("{:.4}", of.share_pct);
        table.row(vec![
            of.kind.into(),
            of.compared.into(),
            of.differ.into(),
            share.into(),
        ]);
    }
    table
}

/// The smallest example of a difference in a signal: each figure that differs.
fn signal(page: &mut Page, found: &SignalFound) {
    let count = match found.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    page.section(&format!(
        "{} differs {count}: smallest example",
        found.kind.name()
    ));
    page.paragraph(&format!(
        "{} on {}, seed {}, at {}, CPU {}.",
        found.workload,
        found.platform,
        found.seed,
        wakeplace_text::time(found.time_ns),
        found.cpu,
    ));
    let columns = ["figure", "before", "tree", "core"];
    let mut table = Table::new("figures", &columns).keys(1);
    for column in ["before", "tree", "core"] {
        table = table.align(column, Align::Right);
    }
    for of in &found.differ {
        let figures = [of.before, of.tree, of.core];
        let mut row = vec![of.name.into()];
        row.extend(figures.map(Into::into));
        table.row(row);
    }
    page.table(&table);
}

/// Differences by kind: what was asked, who answered what, how often.
fn kinds(diff: &KernelDiff) -> Table {
    let columns = [
        "kind",
        "asked",
        "rule",
        "reason",
        "tree's CPU",
        "count",
        "share_pct",
    ];
    let mut table = Table::new("kinds", &columns).keys(1);
    for column in ["kind", "count", "share_pct"] {
        table = table.align(column, Align::Right);
    }
    for (number, kind) in (1u64..).zip(diff.kinds()) {
        table.row(vec![
            number.into(),
            kind.asked.into(),
            kind.rule.into(),
            kind.reason.into(),
            kind.dropped.into(),
            kind.count.into(),
            format!("{:.4}", diff.share_pct(kind.count)).into(),
        ]);
    }
    table
}

/// The smallest run in which a kind occurs, with the command that shows it.
fn example(page: &mut Page, number: u64, found: &DiffFound) {
    let answer = &found.example;
    let core = &answer.core[0];
    page.section(&format!("kind {number}: smallest example"));
    page.paragraph(&format!(
        "{} on {}, seed {}, at {}: the tree chose CPU {}, {} CPU {}.",
        answer.experiment.workload.name,
        answer.experiment.platform.name,
        answer.experiment.seeds[0],
        wakeplace_text::time(answer.told.time_ns),
        answer.told.placement.cpu,
        core.policy,
        core.explained.choice.cpu,
    ));
    example_of_tree(page, answer);
}

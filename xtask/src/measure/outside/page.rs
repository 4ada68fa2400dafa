//! docs/results/outside.md, from the rows and what came of them; and read back.
//!
//! What must stay: what `verdict_of` and `counts` read back is what `line` and `result` write.
//! Free: how it is done, and words that no test or script reads. Tests by part: `a_row_is_a_line`
//! (`page`, `table`, `called`, `begin`, `figure`, `signed`, `percent`, `published`, `comparable`,
//! `ours`, `distance`), `a_wrong_row_has_its_cause` (`texts`, `remarks`, `wrapped`),
//! `rows_of_several_machines_say_theirs` (`names`), `a_page_of_other_rows_is_found` (`check`,
//! `commands`), `readme_has_the_counts` (`counts`, `count`). `within` has no test of its own: its
//! sentence on the page is looked at.
//!
//! Callers: mod.rs (`page`, `counts`, `check`).
//!
//! Tests: xtask/src/measure/outside/tests.rs,
//! xtask/tests/all/repo.rs::the_outside_results_are_of_their_rows

use super::measure::Measured;
use super::rows::{DATA, Data, Ours, Row, Series};
use super::verdict::Verdict;
use crate::Finding;
use std::fmt::Write as _;

/// The page.
pub(super) const PAGE: &str = "docs/results/outside.md";

const HEAD: &str = "\
# What others measured, beside what comes out here

Results that kernel developers measured on boards that wakeplace models, and its own
figures for them. Misses are in the tables like hits.

";

const RULES: &str = "
**A constant may not be changed because a row of this page misses. A mechanism may.**

## How to read it

- `cargo xtask outside` runs the commands below and writes this page. The rows are in
  [outside/rows.toml](outside/rows.toml).
- **change** is from base to patched. Ours has its 95 % interval. Where one
  `wakeplace compare` gives both sides, it is that command's. Where each side has a command
  of its own, runs with the same seed are a pair, the change is the median of the pairs',
  and the interval holds that median in 95 % of cases (order statistics).
- **distance** is that of our base from the published one, in percent of it, and that of
  our change from the published one, in points.
- **right**: our interval lies on the published change's side of 0. **wrong**: it lies on
  the other side, or within a tenth of the published change around 0: nothing came out.
  **not told**: all else. A published change below 1 % says that nothing changes: right is
  an interval within 5 %, wrong one that lies beyond 1 % on one side.
- **rule missing**: the patched side needs a rule that no policy has yet. Our base is
  shown, and its distance where the units are the same.
- **not expressed**: a model, a recording or a machine is missing.
- Why a row is wrong was found by an experiment. It stands below its table.

";

/// A number with four digits, or fewer decimals.
fn figure(value: f64) -> String {
    let digits = match value.abs() {
        0.0 => 0,
        v if v < 10.0 => 3,
        v if v < 100.0 => 2,
        v if v < 1000.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// With its sign; what rounds to 0 has none of its own.
fn signed(value: f64) -> String {
    match format!("{value:+.1}").as_str() {
        "-0.0" => "+0.0".to_owned(),
        text => text.to_owned(),
    }
}

/// With its sign.
fn percent(value: f64) -> String {
    format!("{} %", signed(value))
}

/// `221 to 177, -19.9 %`.
fn published(row: &Row) -> String {
    let sides = row.base.zip(row.patched);
    let sides = sides.map(|(base, patched)| format!("{} to {}", figure(base), figure(patched)));
    let parts = [sides, row.change_pct.map(percent)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Is our unit the published one?
fn comparable(row: &Row) -> bool {
    row.ours
        .as_ref()
        .is_none_or(|ours| ours.other_unit.is_none())
}

/// Our figures as the published ones, and the interval.
fn ours(row: &Row, measured: &Measured) -> String {
    let base = figure(measured.base);
    let sides = match measured.patched {
        Some(patched) => comparable(row).then(|| format!("{base} to {}", figure(patched))),
        None => Some(base),
    };
    let change = measured.change_pct.map(|change| match measured.interval {
        Some((low, high)) => format!("{} [{}, {}]", percent(change), signed(low), signed(high)),
        None => percent(change),
    });
    [sides, change]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// How far base and change are from the published ones.
fn distance(row: &Row, measured: &Measured) -> String {
    let shown = comparable(row);
    let base = row.base.filter(|_| shown).map(|base| {
        let off = (measured.base / base - 1.0) * 100.0;
        format!("base {}", percent(off))
    });
    let change = row.change_pct.zip(measured.change_pct);
    let change = change.map(|(theirs, ours)| format!("change {}", signed(ours - theirs)));
    [base, change]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// What a row is called in its series: with its machine where the series has several.
fn called(series: &Series, row: &Row) -> String {
    match series
        .row
        .iter()
        .all(|other| other.platform == row.platform)
    {
        true => row.workload.clone(),
        false => format!("{}: {}", row.platform, row.workload),
    }
}

/// What a table's line begins with: it names the row.
fn begin(series: &Series, row: &Row) -> String {
    let name = called(series, row);
    format!("| {name} | {} | {} |", row.metric, published(row))
}

/// A row of a table.
fn line(series: &Series, row: &Row, measured: Option<&Measured>) -> String {
    let (ours, distance) = match measured {
        Some(measured) => (ours(row, measured), distance(row, measured)),
        None => Default::default(),
    };
    let verdict = Measured::verdict(row, measured).words();
    format!("{} {ours} | {distance} | {verdict} |", begin(series, row))
}

/// Words in lines of at most 88 characters, those after the first indented.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut page, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        if width > 0 && width + word.chars().count() >= 88 {
            let _ = write!(page, "\n{indent}");
            width = indent.len();
        } else if width > 0 {
            page.push(' ');
            width += 1;
        }
        page.push_str(word);
        width += word.chars().count();
    }
    page.push('\n');
    page
}

/// What is to be said below a table of a row, and as what.
fn texts<'a>(row: &'a Row, measured: Option<&Measured>) -> Vec<(&'static str, &'a str)> {
    let verdict = Measured::verdict(row, measured);
    let cause = row.cause.as_ref().filter(|_| verdict == Verdict::Wrong);
    let unit = row.ours.as_ref().and_then(|ours| ours.other_unit.as_ref());
    let all = [
        (verdict.words(), row.not_expressed.as_ref()),
        (verdict.words(), row.rule_missing.as_ref()),
        (verdict.words(), cause),
        ("units", unit),
        ("note", row.note.as_ref()),
    ];
    all.into_iter()
        .filter_map(|(kind, text)| Some((kind, text?.as_str())))
        .collect()
}

/// What is to be said below a table: each sentence once, with the rows that it is of.
fn remarks(series: &Series, measured: &[Option<Measured>]) -> String {
    let mut said: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (row, measured) in series.row.iter().zip(measured) {
        let name = called(series, row);
        for (kind, text) in texts(row, measured.as_ref()) {
            match said.iter_mut().find(|(_, known, _)| *known == text) {
                Some((_, _, rows)) if rows.contains(&name) => {}
                Some((_, _, rows)) => rows.push(name.clone()),
                None => said.push((kind, text, vec![name.clone()])),
            }
        }
    }
    let mut page = String::new();
    for (kind, text, rows) in &said {
        let all = rows.len() > 1 && rows.len() == names(series);
        let of = if all {
            "all".to_owned()
        } else {
            rows.join("; ")
        };
        page.push_str(&wrapped(&format!("- {kind}, {of}: {text}"), "  "));
    }
    page
}

/// How many rows of the series have a name of their own.
fn names(series: &Series) -> usize {
    let names = series.row.iter().map(|row| called(series, row));
    names.collect::<std::collections::BTreeSet<_>>().len()
}

/// How to get our figure again.
fn commands(ours: &Ours) -> String {
    let ask = match (&ours.compare, &ours.metric) {
        (Some(_), _) => String::new(),
        (_, Some(_)) => format!(" --seeds {}", ours.seeds.unwrap_or(1)),
        _ => " --seed N --export-ftrace run.txt".to_owned(),
    };
    let mut text = String::new();
    for command in ours.commands() {
        let _ = writeln!(text, "{command}{ask}");
    }
    text
}

/// The table of one series.
fn table(series: &Series, measured: &[Option<Measured>]) -> String {
    let mut platforms: Vec<&str> = series.row.iter().map(|row| row.platform.as_str()).collect();
    platforms.dedup();
    let mut page = format!("### {}, {}\n\n", series.name, series.year);
    let text = format!("On {}. Source: {}.", platforms.join(", "), series.source);
    page.push_str(&wrapped(&text, ""));
    if let Some(note) = &series.note {
        page.push_str(&wrapped(note, ""));
    }
    page.push_str("\n| workload | metric | published | ours | distance | verdict |\n");
    page.push_str("|:--|:--|--:|--:|--:|:--|\n");
    for (row, measured) in series.row.iter().zip(measured) {
        let _ = writeln!(page, "{}", line(series, row, measured.as_ref()));
    }
    let below = remarks(series, measured);
    if !below.is_empty() {
        let _ = write!(page, "\n{below}");
    }
    page.push('\n');
    page
}

/// Rows of this verdict.
fn count(data: &Data, measured: &[Option<Measured>], verdict: Verdict) -> usize {
    let rows = data.rows().zip(measured);
    let of = rows.map(|((_, row), measured)| Measured::verdict(row, measured.as_ref()));
    of.filter(|found| *found == verdict).count()
}

/// How many of our bases are near the published ones.
fn within(data: &Data, measured: &[Option<Measured>]) -> String {
    let off = |((_, row), measured): ((&Series, &Row), &Option<Measured>)| {
        let ours = row.ours.as_ref().filter(|ours| ours.other_unit.is_none())?;
        let base = row.base.filter(|_| ours.commands().next().is_some())?;
        Some(measured.as_ref()?.base / base - 1.0)
    };
    let all: Vec<f64> = data.rows().zip(measured).filter_map(off).collect();
    let near = all.iter().filter(|off| off.abs() <= 0.1).count();
    let text = format!(
        "Of {} bases in the published unit {near} are within 10 %.",
        all.len()
    );
    wrapped(&text, "")
}

/// The counts of all rows in a paragraph.
fn result(data: &Data, measured: &[Option<Measured>]) -> String {
    let of = |verdict| count(data, measured, verdict);
    let (right, open, wrong) = (of(Verdict::Right), of(Verdict::NotTold), of(Verdict::Wrong));
    let all = measured.len();
    let text = format!(
        "Of {all} published results {} are compared: the direction is right in {right}, not told \
         in {open} and wrong in {wrong}. {} wait for a rule that no policy has yet, and {} are \
         not expressed.",
        right + open + wrong,
        of(Verdict::RuleMissing),
        of(Verdict::NotExpressed),
    );
    let mut page = wrapped(&text, "");
    page.push_str(&within(data, measured));
    page.push_str("\n| verdict | results |\n|:--|--:|\n");
    for verdict in Verdict::ALL {
        let _ = writeln!(page, "| {} | {} |", verdict.words(), of(verdict));
    }
    page
}

/// The page of these results, one for each row.
pub(super) fn page(data: &Data, measured: &[Option<Measured>]) -> String {
    let mut page = [HEAD, &result(data, measured), RULES, "## Results\n\n"].concat();
    let mut rest = measured;
    for series in &data.series {
        let (own, others) = rest.split_at(series.row.len());
        rest = others;
        page.push_str(&table(series, own));
    }
    page.push_str("## Commands\n\nRun where this repository is. `N` is each of the seeds.\n");
    for series in &data.series {
        let with = series
            .row
            .iter()
            .filter_map(|row| Some((row, row.ours.as_ref()?)));
        for (row, ours) in with {
            let _ = write!(page, "\n{}, {}:\n\n", row.platform, row.workload);
            let _ = write!(page, "```\n{}```\n", commands(ours));
        }
    }
    page
}

/// The verdict at the end of a table's line. None: there is none.
fn verdict_of(line: &str) -> Option<Verdict> {
    let cell = line
        .trim_end()
        .strip_suffix('|')?
        .rsplit('|')
        .next()?
        .trim();
    Verdict::ALL
        .into_iter()
        .find(|verdict| verdict.words() == cell)
}

/// The page's counts in its own words, which README repeats.
pub(super) fn counts(page: &str) -> Option<String> {
    let words: Vec<&str> = page.split_whitespace().collect();
    let text = words.join(" ");
    let begin = text.find("the direction is right in ")?;
    let length = text[begin..].find(". ")?;
    Some(text[begin..begin + length].to_owned())
}

/// Whether a page is of these rows, as far as that shows without running anything.
pub(super) fn check(data: &Data, page: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut lines: Vec<&str> = page
        .lines()
        .filter(|line| line.matches('|').count() == 7)
        .collect();
    lines.retain(|line| !line.starts_with("| workload | metric") && !line.starts_with("|:"));
    let expected = data.rows().count();
    if lines.len() != expected {
        let what = format!(
            "{} lines of results; {DATA} has {expected} rows",
            lines.len()
        );
        findings.push(Finding::on(
            PAGE,
            format!("{what}; run `cargo xtask outside`"),
        ));
    }
    for ((series, row), line) in data.rows().zip(lines) {
        let name = row.name();
        let mut found = |what: &str| findings.push(Finding::on(PAGE, format!("`{name}`: {what}")));
        if !line.starts_with(&begin(series, row)) {
            found("the page has another row in its place; run `cargo xtask outside`");
            continue;
        }
        let verdict = verdict_of(line);
        let by_data = match (&row.not_expressed, &row.rule_missing) {
            (Some(_), _) => Some(Verdict::NotExpressed),
            (_, Some(_)) => Some(Verdict::RuleMissing),
            _ => None,
        };
        match (verdict, by_data) {
            (None, _) => found("its line does not end with a verdict"),
            (Some(is), Some(data)) if is != data => found("its verdict is not that of the data"),
            (Some(Verdict::NotExpressed | Verdict::RuleMissing), None) => {
                found("the data has `ours`, and the page no figure; run `cargo xtask outside`");
            }
            (Some(Verdict::Wrong), None) if row.cause.is_none() => {
                found("it is wrong, and the data has no `cause`");
            }
            _ => {}
        }
    }
    findings
}

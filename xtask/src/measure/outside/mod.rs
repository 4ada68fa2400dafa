//! `cargo xtask outside`: docs/results/outside.md, what others measured on boards that are
//! modelled, beside what `wakeplace` says of it.
//!
//! What must stay: the page is of its rows, and README repeats its counts (`check`, without a run).
//! Free: how it is done, and words that no test or script reads. Tests by part:
//! outside/tests.rs::`readme_has_the_counts` (`counted`),
//! outside/tests.rs::`what_comes_out_otherwise_is_said` (`differences`),
//! repo.rs::`the_outside_results_are_of_their_rows` (`check`). `run`, `measured` have no test of
//! their own: nightly runs `outside --compare`.
//!
//! Callers: commands.rs (`check`, `run`), checks/list.rs (`run`).
//!
//! Tests: below

mod measure;
mod page;
mod rows;
mod trace;
mod verdict;

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::Finding;
use crate::repo::Repo;
use crate::shop::{Shop, read, usage, write};
use measure::{Measured, Runner};
use page::PAGE;
use rows::{DATA, Data, Row, Series};

/// `[--compare] [PROGRAM]`: writes the page, or compares it with what comes out now.
///
/// # Errors
/// A command failed: the error says which.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<Vec<Finding>> {
    let (compare, program) = match arguments {
        [] => (false, None),
        ["--compare"] => (true, None),
        ["--compare", program] => (true, Some(*program)),
        [program] if !program.starts_with('-') => (false, Some(*program)),
        _ => return Err(usage("expected [--check | --compare] [PROGRAM]")),
    };
    let data = match rows::parse(&read(&shop.root.join(DATA))?) {
        Ok(data) => data,
        Err(finding) => return Ok(vec![finding]),
    };
    let findings = rows::check(&data);
    if !findings.is_empty() {
        return Ok(findings);
    }
    let new = page::page(&data, &measured(shop, &data, program)?);
    let page = shop.root.join(PAGE);
    if compare {
        return Ok(differences(&read(&page)?, &new));
    }
    write(&page, &new)?;
    let readme = read(&shop.root.join("README.md"))?;
    Ok([page::check(&data, &new), counted(&readme, &new)].concat())
}

/// Our figures for all rows; None where no policy has the rule.
fn measured(shop: &Shop, data: &Data, program: Option<&str>) -> Result<Vec<Option<Measured>>> {
    let program = match program {
        Some(file) => PathBuf::from(file)
            .canonicalize()
            .context(file.to_owned())?,
        None => shop.build("release")?,
    };
    let scratch = shop.scratch()?;
    let runner = Runner {
        root: &shop.root,
        program,
        trace: scratch.path().join("run.txt"),
    };
    let measure = |(_, row): (&Series, &Row)| {
        if row.ours.is_some() {
            eprintln!("{}", row.name());
        }
        runner.measure(row)
    };
    data.rows().map(measure).collect()
}

/// The lines of the page that come out otherwise now.
fn differences(old: &str, new: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut before, mut now) = (old.lines(), new.lines());
    for line in 1.. {
        match (before.next(), now.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let (a, b) = (a.unwrap_or("nothing"), b.unwrap_or("nothing"));
                findings.push(Finding::at(PAGE, line, format!("now `{b}`, before `{a}`")));
            }
        }
    }
    findings
}

/// Whether the rows have what they need, and the page is of them. Runs nothing.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Finding> {
    let text = |path: &str| repo.get(path).map_or("", |file| file.text.as_str());
    match rows::parse(text(DATA)) {
        Ok(data) => [
            rows::check(&data),
            page::check(&data, text(PAGE)),
            counted(text("README.md"), text(PAGE)),
        ]
        .concat(),
        Err(finding) => vec![finding],
    }
}

/// README repeats the page's counts.
fn counted(readme: &str, page: &str) -> Vec<Finding> {
    let said = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    match page::counts(page) {
        Some(counts) if !said.contains(&counts) => {
            let what = format!("it does not say `{counts}`, as {PAGE} does");
            vec![Finding::on("README.md", what)]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;

//! `cargo xtask same-runs`: does everything that is simulated happen as before? Of each run its
//! name, the hash of what happened (`behaviour_hashes` of the JSON; what is in it:
//! docs/internals/checks.md), and a hash of the bytes of the result with all exports.
//!
//! What must stay: the form of scripts/same-runs.txt; what says only which program made a result is
//! left out. Free: how it is done, and words that no test or script reads. Tests by part:
//! `several_hashes_become_one` (`happened`), `origins_are_left_out` (`without_origin`),
//! `differences_are_told_by_kind` (`differences`). `run`, `line` have no test of their own: nightly
//! runs `same-runs`.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: below

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::runs::{self, Run};
use crate::Finding;
use crate::shop::{Shop, read, sha256, usage, write};

/// The hashes of this tree.
pub const RECORD: &str = "scripts/same-runs.txt";
const HEADING: &str = "\
# Made by cargo xtask same-runs --record scripts/same-runs.txt: name of the run, hash of what
# happened, start of the SHA-256 of its bytes. When which of them may change:
# docs/internals/checks.md.
";

/// `[--record [FILE] | --compare [FILE]] [PROGRAM]`
///
/// # Errors
/// A run cannot be made, or the file not be read or written.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<Vec<Finding>> {
    let (how, file, program) = match arguments {
        [how @ ("--record" | "--compare"), file, program] => (*how, *file, Some(*program)),
        [how @ ("--record" | "--compare"), file] => (*how, *file, None),
        [how @ ("--record" | "--compare")] => (*how, RECORD, None),
        [program] if !program.starts_with('-') => ("", "", Some(*program)),
        [] => ("", "", None),
        _ => return Err(usage("expected [--record FILE | --compare FILE] [PROGRAM]")),
    };
    let built = shop.target.join("debug/wakeplace");
    let program = program.map_or_else(|| built.to_string_lossy().into_owned(), str::to_owned);
    let was = match how {
        "--compare" => Some(
            read(&shop.root.join(file))
                .map_err(|error| usage(format!("{error:#}; --record makes one")))?,
        ),
        _ => None,
    };
    let begin = std::time::Instant::now();
    let scratch = shop.scratch()?;
    let mut lines = String::new();
    let list = runs::all();
    for run in &list {
        lines += &line(shop, run, &program, &scratch.path().join("run"))?;
    }
    let mut findings = Vec::new();
    match (how, was) {
        ("--record", _) => write(&shop.root.join(file), format!("{HEADING}{lines}"))?,
        (_, Some(was)) => findings = differences(file, &was, &lines),
        _ => print!("{lines}"),
    }
    eprintln!(
        "same-runs: {} runs [{} s]",
        list.len(),
        begin.elapsed().as_secs()
    );
    Ok(findings)
}

/// Makes a run, and says what came of it.
fn line(shop: &Shop, run: &Run, program: &str, out: &Path) -> Result<String> {
    run.make(&shop.root, program, out)?;
    let path = out.join("result.json");
    let result = read(&path)?;
    let happened = happened(&result);
    write(&path, without_origin(&result, &out.to_string_lossy()))?;
    let bytes = sha256(runs::sums(out)?.as_bytes(), 32);
    fs::remove_dir_all(out)?;
    Ok(format!("{:<20}  {happened:>16}  {bytes}\n", run.name))
}

/// The hash of what happened: of one run as it is, of several one over all, - if the result has
/// none.
fn happened(result: &str) -> String {
    let mut found = Vec::new();
    let mut within = false;
    for line in result.lines() {
        let text = line.trim().trim_end_matches(',').trim_matches('"');
        if within && text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            found.push(text);
        }
        within = (within || line.contains("\"behaviour_hashes\": [")) && !line.contains(']');
    }
    match found.as_slice() {
        [] => "-".to_owned(),
        [one] => (*one).to_owned(),
        all => sha256(format!("{}\n", all.join("\n")).as_bytes(), 16),
    }
}

/// A result without what says which program made it and in which folder, without the hash of its
/// own events, and without hashes of inputs and lists of all parameters, which a new field or
/// parameter changes. All of them may change while all that happens stays.
fn without_origin(result: &str, out: &str) -> String {
    const HASHES: [&str; 3] = [
        "\"event_hash\": ",
        "\"platform_hash\": ",
        "\"workload_hash\": ",
    ];
    let mut text = String::new();
    // What ends the lines that are left out.
    let mut until = None;
    for line in result.lines() {
        let begins = match line {
            "      \"settings\": {" => Some("      }"),
            _ if line.contains("\"event_hashes\": [") => Some("]"),
            _ => None,
        };
        if until.is_none() && begins.is_some() {
            until = begins;
            continue;
        }
        if let Some(end) = until {
            let ends = if end == "]" {
                line.contains(end)
            } else {
                line.starts_with(end)
            };
            until = until.filter(|_| !ends);
            continue;
        }
        let origin = ["  \"version\": ", "  \"commit\": "];
        let left_out = origin.iter().any(|start| line.starts_with(start))
            || HASHES.iter().any(|hash| line.contains(hash));
        if !left_out {
            text += &line.replace(out, "OUT");
            text.push('\n');
        }
    }
    text
}

/// What differs from the file, run by run.
fn differences(file: &str, was: &str, now: &str) -> Vec<Finding> {
    let words =
        |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let was: Vec<_> = was
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(words)
        .collect();
    let now: Vec<_> = now.lines().map(words).collect();
    let (mut otherwise, mut bytes, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for run in &now {
        let name = run[0].as_str();
        match was.iter().find(|old| old[0] == name) {
            None => unknown.push(name),
            Some(old) if old[1] != run[1] => otherwise.push(name),
            Some(old) if old[2] != run[2] => bytes.push(name),
            Some(_) => {}
        }
    }
    let gone = was
        .iter()
        .filter(|old| now.iter().all(|run| run[0] != old[0]));
    let gone: Vec<_> = gone.map(|old| old[0].as_str()).collect();
    let kinds = [
        ("something else happens in", otherwise),
        ("the same happens, but the bytes differ in", bytes),
        ("runs that it has not", unknown),
        ("runs that were not made", gone),
    ];
    let kinds = kinds.iter().filter(|(_, names)| !names.is_empty());
    kinds
        .map(|(what, names)| Finding::on(file, format!("{what}: {}", names.join(" "))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{differences, happened, without_origin};

    #[test]
    fn several_hashes_become_one() {
        let of = |hashes: &str| happened(&format!("\"behaviour_hashes\": [\n{hashes}\n  ],\n"));
        assert_eq!(of("    \"0123456789abcdef\""), "0123456789abcdef");
        // Source: printf 'AAAA...\nBBBB...\n' | sha256sum | cut -c1-16.
        assert_eq!(
            of("  \"0000000000000000\",\n  \"1111111111111111\""),
            "67b1ddcd59f70ec9"
        );
        assert_eq!(happened("{}"), "-");
    }

    #[test]
    fn origins_are_left_out() {
        let result = concat!(
            "{\n  \"version\": \"1\",\n  \"command\": \"-o /t/run/x\",\n  \"runs\": [\n    {\n",
            "      \"platform_hash\": \"a\",\n      \"settings\": {\n",
            "        \"k\": \"v\"\n      },\n",
            "      \"event_hashes\": [\n        \"a\"\n      ],\n      \"n\": 1\n"
        );
        let rest = "{\n  \"command\": \"-o OUT/x\",\n  \"runs\": [\n    {\n      \"n\": 1\n";
        assert_eq!(without_origin(result, "/t/run"), rest);
    }

    #[test]
    fn differences_are_told_by_kind() {
        let was = "# heading\na 1 1\nb 1 1\nc 1 1\nd 1 1\n";
        let found = differences("f", was, "a 1 1\nb 2 2\nc 1 2\ne 1 1\n");
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "f: something else happens in: b",
                "f: the same happens, but the bytes differ in: c",
                "f: runs that it has not: e",
                "f: runs that were not made: d",
            ]
        );
    }
}

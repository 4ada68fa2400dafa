//! The list of runs that are kept the same (`xtask/data/runs.txt`), and one run of it
//! (docs/internals/checks.md, "Same runs").
//!
//! What must stay: names of runs: records have them. A run is one line of xtask/data/runs.txt.
//! Free: how it is done, and words that no test or script reads. Tests by part:
//! `a_line_is_complete` (`all`). `line`, `make`, `sums`, `list` have no test of their own:
//! `same-runs` and `same-bytes` in nightly make all runs by them.
//!
//! Callers: same_bytes.rs (`all`, `sums`), same_runs.rs (`all`, `sums`).
//!
//! Tests: below

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shop::sha256;

const LIST: &str = include_str!("../../data/runs.txt");

/// A run of the list.
pub struct Run {
    /// Its name.
    pub name: &'static str,
    words: Vec<&'static str>,
}

/// All runs of the list, in its order.
#[must_use]
pub fn all() -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for line in LIST.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        match runs.last_mut() {
            Some(run) if line.starts_with(' ') => run.words.extend(words),
            _ => runs.extend(words.next().map(|name| Run {
                name,
                words: words.collect(),
            })),
        }
    }
    runs
}

impl Run {
    /// The words for a program that leaves all it writes in a folder.
    fn line(&self, out: &str) -> Vec<String> {
        let has = |word: &str| self.words.contains(&word);
        let mut line = Vec::new();
        for word in &self.words {
            if *word == "EXPORTS" {
                for (form, file) in [
                    ("ftrace", "ftrace.txt"),
                    ("perfetto", "perfetto"),
                    ("parquet", "tables"),
                ] {
                    line.extend([format!("--export-{form}"), format!("{out}/{file}")]);
                }
                continue;
            }
            line.push(
                word.strip_prefix("OUT")
                    .map_or((*word).to_owned(), |rest| format!("{out}{rest}")),
            );
        }
        let mut add = |words: &[&str]| line.extend(words.iter().map(|word| (*word).to_owned()));
        if !has("--duration") {
            add(&["--duration", if has("EXPORTS") { "100ms" } else { "600ms" }]);
        }
        if !has("--seeds") {
            add(&["--seed", "7"]);
        }
        add(&[
            "--quiet",
            "--format",
            "json",
            "-o",
            &format!("{out}/result.json"),
        ]);
        line
    }

    /// Makes it into a new folder. A program is a command, its words apart by blanks.
    ///
    /// # Errors
    /// The program fails; what it said is in the message.
    pub fn make(&self, root: &Path, program: &str, out: &Path) -> Result<()> {
        fs::create_dir(out).with_context(|| out.display().to_string())?;
        let mut words = program.split_whitespace();
        let first = words.next().context("a program without a name")?;
        let output = Command::new(first)
            .current_dir(root)
            .args(words)
            .args(self.line(&out.to_string_lossy()))
            .output()
            .with_context(|| program.to_owned())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("{program} cannot make the run {}: {said}", self.name);
        }
        Ok(())
    }
}

/// The hashes of all files of a folder, one line each, as `sha256sum` prints them.
///
/// # Errors
/// A file cannot be read.
pub fn sums(folder: &Path) -> Result<String> {
    let mut files = Vec::new();
    list(folder, &mut files)?;
    let mut named: Vec<(String, PathBuf)> = Vec::new();
    for path in files {
        let short = path.strip_prefix(folder)?.to_string_lossy().into_owned();
        named.push((format!("./{short}"), path));
    }
    named.sort();
    let mut text = String::new();
    for (name, path) in named {
        text += &format!("{}  {name}\n", sha256(&fs::read(path)?, 64));
    }
    Ok(text)
}

/// All files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn a_line_is_complete() {
        let runs = all();
        let line = |name: &str| {
            let run = runs.iter().find(|run| run.name == name).expect(name);
            run.line("/o").join(" ")
        };
        assert_eq!(
            line("sched-mc-0"),
            "sim --platform u8500 --policy linux-3.1+sched-mc=0 --workload cyclictest:threads=2 \
             --export-ftrace /o/ftrace.txt --export-perfetto /o/perfetto --export-parquet \
             /o/tables --duration 100ms --seed 7 --quiet --format json -o /o/result.json"
        );
        let with_out = line("asym-capacity");
        assert!(
            with_out.contains("--export-wakeup-cases /o/cases.csv"),
            "{with_out}"
        );
        assert!(line("linux-4.17").contains("--seeds 3 --duration 600ms --quiet"));
    }
}

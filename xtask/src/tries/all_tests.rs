//! `cargo xtask test [ARGUMENT...]`: all tests, whatever fails on the way, and one line that counts
//! them at the end. The same line goes to target/test-summary, all that tests say to
//! target/test.log (ARCHITECTURE.md, "Tests, from the core outwards").
//!
//! What must stay: the summary's line, which CI prints; cargo's own lines are read. Free: how it is
//! done, and words that no test or script reads. Tests by part: `results_are_added_up` (`counts`,
//! `line`). `run`, `packages`, `rows`, `both`, `tell` have no test of their own: `make test` goes
//! through them.
//!
//! Callers: commands.rs (`run`).
//!
//! Tests: below

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use xshell::cmd;

use crate::shop::{Shop, read, run as call, write};

/// Where all that tests say is.
pub const LOG: &str = "target/test.log";
/// Where the last line is.
pub const SUMMARY: &str = "target/test-summary";

/// Runs them; arguments are cargo's.
///
/// # Errors
/// A test fails, or none ran.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let (log, summary) = (shop.root.join(LOG), shop.root.join(SUMMARY));
    shop.sh.remove_path(&summary)?;
    let packages = packages(shop)?;
    let begin = Instant::now();
    let which = &packages;
    let build = cmd!(
        shop.sh,
        "cargo test {which...} --locked --no-run {arguments...}"
    );
    call(build.quiet())?;
    let built = begin.elapsed().as_secs();
    let held = rows(shop, &packages, arguments, &log)?;
    let text = read(&log)?;
    let counts = counts(&text);
    tell(&text, counts.failed > 0);
    println!(
        "tests built in {built} s, run in {} s",
        begin.elapsed().as_secs() - built
    );
    let line = counts.line();
    println!("{line}");
    write(&summary, format!("{line}\n"))?;
    if !held {
        bail!("not all tests passed");
    }
    if counts.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

/// Which packages cargo is to take.
///
/// # Errors
/// The script that says so fails.
pub fn packages(shop: &Shop) -> Result<Vec<String>> {
    let words = cmd!(shop.sh, "scripts/packages.sh").quiet().read()?;
    Ok(words.split_whitespace().map(str::to_owned).collect())
}

/// One test program is run after the other, and the end of each waits for its longest test. So two
/// rows of programs run beside each other: `all` of each crate, and the rest with the documents'
/// examples. What the second row says follows the first. Whether all held.
fn rows(shop: &Shop, packages: &[String], arguments: &[&str], log: &Path) -> Result<bool> {
    let root = &shop.root;
    let command = |which: &[&str]| {
        let mut command = Command::new("cargo");
        command.current_dir(root).arg("test").args(packages);
        command
            .args(["--locked", "--no-fail-fast"])
            .args(which)
            .args(arguments);
        command.stdin(Stdio::null());
        command
    };
    let mut file = File::create(log).with_context(|| log.display().to_string())?;
    thread::scope(|scope| {
        let rest = scope.spawn(|| -> Result<(bool, Vec<u8>)> {
            let mut said = Vec::new();
            let mut held = true;
            for which in [&["--lib", "--bins", "--test", "[!a]*"][..], &["--doc"]] {
                let output = both(command(which)).output()?;
                said.extend(output.stdout);
                held &= output.status.success();
            }
            Ok((held, said))
        });
        let mut child = both(command(&["--test", "a*"]))
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("no output")?;
        for line in BufReader::new(output).split(b'\n') {
            let mut line = line?;
            line.push(b'\n');
            std::io::stdout().write_all(&line)?;
            file.write_all(&line)?;
        }
        let held = child.wait()?.success();
        let (rest_held, said) = rest.join().map_err(|_| anyhow::anyhow!("a panic"))??;
        std::io::stdout().write_all(&said)?;
        file.write_all(&said)?;
        Ok(held && rest_held)
    })
}

/// The same command with what it says on stderr in its stdout, in order.
fn both(command: Command) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$@\" 2>&1", "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    shell.stdin(Stdio::null());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    /// As target/test-summary has it.
    fn line(&self) -> String {
        let skipped = match self.ignored {
            0 => String::new(),
            count => format!(", {count} skipped"),
        };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }
}

/// "test result: ok. 4 passed; 0 failed; 1 ignored; ...", one line for every test program.
fn counts(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = |word: &str| {
            let at = words
                .iter()
                .position(|own| own.trim_end_matches(';') == word);
            let number = at.and_then(|at| words.get(at.checked_sub(1)?));
            number
                .and_then(|number| number.parse::<u64>().ok())
                .unwrap_or_default()
        };
        counts.passed += before("passed");
        counts.failed += before("failed");
        counts.ignored += before("ignored");
    }
    counts
}

/// Says what must not be lost among the rest: how far the energy-aware rule's choices are from the
/// least energy (figures, not a test), tests that check nothing here, and what failed.
fn tell(text: &str, failed: bool) {
    let sorted = |is: &dyn Fn(&str) -> bool| {
        let mut lines: Vec<&str> = text.lines().filter(|line| is(line)).collect();
        lines.sort_unstable();
        lines.dedup();
        lines.join("\n")
    };
    let oracle = text
        .lines()
        .filter_map(|line| Some(&line[line.find("oracle V")?..]));
    let mut oracle: Vec<&str> = oracle.collect();
    oracle.sort_unstable();
    println!("\n{}", oracle.join("\n"));
    println!(
        "{}\n",
        sorted(&|line| {
            let mut before = line.split("SKIPPED");
            let first = before.next().unwrap_or_default();
            before.next().is_some()
                && (first.is_empty() || first.ends_with(": ") || first.ends_with("**** "))
        })
    );
    if failed {
        let is = |line: &str| {
            line.starts_with("error: test failed")
                || (line.starts_with("test ") && line.ends_with(" FAILED"))
        };
        println!("What failed:\n{}\n", sorted(&is));
    }
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn results_are_added_up() {
        let text = "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out\n\
                    test result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured\nelse\n";
        assert_eq!(counts(text).line(), "6 passed, 3 failed, 1 skipped");
        assert_eq!(counts("").line(), "0 passed, 0 failed");
    }
}

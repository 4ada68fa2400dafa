//! Runs the checks of the list: `.ci/run` stops at the first that fails, nightly does all
//! (docs/internals/checks.md).
//!
//! What must stay: `.ci/run` stops at the first failure, nightly goes on; the last lines have
//! seconds and counts. Free: how it is done, and words that no test or script reads. Tests by part:
//! `part`, `after_the_build`, `ci`, `log`, `start`, `all`, `stop`, `nightly`, `one`, `told` have no
//! test of their own: CI and nightly show a fault of theirs.
//!
//! Tests: none; CI and nightly are its trial.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::list::ALL;
use super::{Check, Size, When};
use crate::shop::{Shop, choose, read, tail, usage};
use crate::tries::all_tests as tests;

/// Budget of `.ci/run` on two cores with nothing built (CONTRIBUTING.md), s.
const BUDGET_S: u64 = 1200;
/// What runs beside the tests may take, s.
const BESIDE_S: u64 = 1500;

/// `part NAME [--quick]`: one check, here.
///
/// # Errors
/// It does not hold.
pub fn part(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let (name, size) = match arguments {
        [name] => (*name, Size::Full),
        [name, "--quick"] => (*name, Size::Quick),
        [name, "--beside"] => {
            after_the_build(shop);
            (*name, Size::Quick)
        }
        _ => return Err(usage("expected NAME or NAME --quick")),
    };
    let names: Vec<&str> = ALL.iter().map(|check| check.name).collect();
    let check = &ALL[choose("check", name, &names)?];
    (check.run)(shop, size)
}

/// Half of two cores is idle while tests run, where one test or one linker runs alone. This waits
/// until they are built, and gives way to them.
fn after_the_build(shop: &Shop) {
    let log = shop.root.join(tests::LOG);
    while !read(&log).is_ok_and(|text| text.contains("     Running ")) {
        std::thread::sleep(Duration::from_secs(1));
    }
    let own = std::process::id().to_string();
    let nice = Command::new("renice")
        .args(["-n", "10", &own])
        .stdout(Stdio::null())
        .status();
    // Where sessions are scheduled as groups, the group's counts, and this is a session of its own.
    let group = fs::write("/proc/self/autogroup", "10");
    drop((nice, group));
}

/// `ci`: the checks that a change must pass.
///
/// # Errors
/// One does not hold.
pub fn ci(shop: &Shop) -> Result<()> {
    let begin = Instant::now();
    let work = shop.scratch()?;
    // A build within a check may replace the program that runs here.
    let own = work.path().join("xtask");
    fs::copy("/proc/self/exe", &own)?;
    for file in [tests::LOG, tests::SUMMARY] {
        shop.sh.remove_path(file)?;
    }
    let mut sections = Sections {
        begin,
        rows: Vec::new(),
        beside: BTreeMap::new(),
        work: work.path().to_owned(),
    };
    for check in ALL.iter().filter(|check| check.when == When::BesideTests) {
        sections.start(check, &own)?;
    }
    let outcome = sections.all(&own);
    for child in sections.beside.values_mut() {
        stop(child);
    }
    println!("\nsections:\n{}", sections.rows.join("\n"));
    println!("{:>6} s  in all", begin.elapsed().as_secs());
    if begin.elapsed().as_secs() > BUDGET_S {
        eprintln!("**** over the budget of {BUDGET_S} s (CONTRIBUTING.md)");
    }
    print!(
        "{}",
        read(&shop.root.join(tests::SUMMARY)).unwrap_or_default()
    );
    outcome
}

struct Sections {
    begin: Instant,
    /// Seconds and names of those that are done.
    rows: Vec<String>,
    /// What runs beside the tests.
    beside: BTreeMap<&'static str, Child>,
    work: PathBuf,
}

impl Sections {
    /// Where a background check's output goes.
    fn log(&self, check: &Check) -> PathBuf {
        self.work.join(check.name)
    }

    /// Begins a check in the background. It ends when its time is over, or when this program does.
    fn start(&mut self, check: &Check, own: &Path) -> Result<()> {
        let file = File::create(self.log(check))?;
        let child = Command::new("setsid")
            .args([
                "setpriv",
                "--pdeathsig",
                "TERM",
                "timeout",
                &BESIDE_S.to_string(),
            ])
            .arg(own)
            .args(["part", check.name, "--beside"])
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .spawn()
            .context("setsid, setpriv and timeout")?;
        self.beside.insert(check.name, child);
        Ok(())
    }

    /// All checks of `.ci/run`; the first that fails ends it.
    fn all(&mut self, own: &Path) -> Result<()> {
        for check in ALL.iter().filter(|check| check.in_ci()) {
            println!(
                "\n==== {} [{} s]",
                check.title,
                self.begin.elapsed().as_secs()
            );
            let begin = Instant::now();
            let status = match self.beside.remove(check.name) {
                Some(mut child) => {
                    let status = child.wait()?;
                    print!("{}", read(&self.log(check))?);
                    status
                }
                None => Command::new(own)
                    .args(["part", check.name, "--quick"])
                    .status()?,
            };
            self.rows.push(format!(
                "{:>6} s  {}",
                begin.elapsed().as_secs(),
                check.title
            ));
            match status.code() {
                Some(0) => {}
                Some(3) => eprintln!("**** SKIPPED: {} (see above)", check.title),
                Some(124) => bail!("{}: not done after {BESIDE_S} s", check.title),
                _ => bail!("failed in: {}", check.title),
            }
        }
        Ok(())
    }
}

/// Ends a check in the background with all that it has started: `timeout` passes the signal on.
fn stop(child: &mut Child) {
    let ended = Command::new("kill").arg(child.id().to_string()).status();
    drop((ended, child.wait()));
}

/// `nightly [PART... | --list]`: every check runs, whatever fails on the way; a table ends it. What
/// a check says is in target/nightly/NAME.log.
///
/// # Errors
/// A check does not hold.
pub fn nightly(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let all: Vec<&Check> = ALL.iter().filter(|check| check.in_nightly()).collect();
    let names: Vec<&str> = all.iter().map(|check| check.name).collect();
    if arguments == ["--list"] {
        println!("{}", names.join("\n"));
        return Ok(());
    }
    super::list::scale()?;
    let mut chosen = Vec::new();
    for name in arguments {
        chosen.push(all[choose("part", name, &names)?]);
    }
    if chosen.is_empty() {
        chosen = all;
    }
    let logs = shop.root.join("target/nightly");
    shop.sh.create_dir(&logs)?;
    let work = shop.scratch()?;
    let own = work.path().join("xtask");
    fs::copy("/proc/self/exe", &own)?;
    let begin = Instant::now();
    let mut rows = Vec::new();
    let mut failed = 0;
    for check in chosen {
        println!("==== {}", check.name);
        let from = Instant::now();
        let log = logs.join(format!("{}.log", check.name));
        let (result, held) = told(one(&own, check, &log)?, &log);
        failed += usize::from(!held);
        rows.push(format!(
            "{:<16} {:>6} s  {result}",
            check.name,
            from.elapsed().as_secs()
        ));
        println!("{}", rows[rows.len() - 1]);
    }
    println!(
        "\n==== nightly, {} s\n{}",
        begin.elapsed().as_secs(),
        rows.join("\n")
    );
    if failed > 0 {
        bail!("{failed} parts failed");
    }
    Ok(())
}

/// A part as a process of its own, its output in a file.
fn one(own: &Path, check: &Check, log: &Path) -> Result<ExitStatus> {
    let file = File::create(log).with_context(|| log.display().to_string())?;
    let mut command = Command::new(own);
    command
        .args(["part", check.name])
        .env("CARGO_TERM_COLOR", "never");
    command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    Ok(command.status()?)
}

/// The word for how a part ended, and whether it held; prints what must not be lost of its log.
fn told(status: ExitStatus, log: &Path) -> (&'static str, bool) {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    // A part that leaves out a piece of itself says so in these words.
    for line in text.lines() {
        if line.starts_with("**** ") || line.starts_with("SKIPPED") {
            println!("{line}");
        }
    }
    let (result, held) = match status.code() {
        Some(0) => return ("held", true),
        Some(3) => ("SKIPPED", true),
        _ => ("FAILED", false),
    };
    println!("    {}", tail(log, 25).replace('\n', "\n    "));
    (result, held)
}

//! Builds the tests with all mutations in them, once, and runs them with one after the other in
//! force (CONTRIBUTING.md, "Break it on purpose").
//!
//! What must stay: outcomes stand in the sample's order, whichever thread made them. Free: how it
//! is done, and words that no test or script reads. Tests by part: `now`, `build`, `new`, `next`,
//! `outcome`, `drop`, `measure`, `len`, `run_group`, `run` have no test of their own: `cargo xtask
//! mutants` shows a fault of theirs.
//!
//! Tests: none; a run of `cargo xtask mutants` shows a mutation that it does not build or try.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// Tests that take longer than the first run after those that do not, and so on.
const QUICK: [Duration; 2] = [Duration::from_millis(30), Duration::from_millis(300)];
/// A program that takes so many times as long as it should does not end.
const PATIENCE: u32 = 5;
/// Random states that each comparison with an independent evaluation looks at.
const ORACLE_STATES: &str = "2000";

/// How a mutation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// This test failed.
    Test(String),
    /// The program died.
    Crash,
    /// It did not end in time.
    Time,
    /// Every test passed.
    Survived,
}

/// A program of tests, and the folder it runs in.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    folder: PathBuf,
}

/// Tests of one program with the time that they may take together.
#[derive(Debug)]
struct Group {
    program: usize,
    tests: Vec<String>,
    limit: Duration,
}

/// The programs, and their tests in the order in which they are run.
#[derive(Debug)]
pub(super) struct Tests {
    programs: Vec<Program>,
    groups: Vec<Group>,
    /// Those that have seen a mutation of a file see others of it: they run first.
    seers: Mutex<BTreeMap<String, Vec<(usize, String)>>>,
}

/// Crates, test programs, and how many of the lengths in `QUICK` are run: of the engine's not the
/// long ones.
const PROGRAMS: [(&str, &str, usize); 2] = [
    ("policy-sys", "all", 1 + QUICK.len()),
    ("engine", "behaviour", QUICK.len()),
];

/// Wall time: a mutant without an end is ended by it.
#[allow(
    clippy::disallowed_methods,
    reason = "how long tests take decides only when they are given up"
)]
fn now() -> Instant {
    Instant::now()
}

/// Builds the tests of a crate with the core's sources from a folder. Returns the program.
fn build(root: &Path, name: &str, test: &str, sources: &Path, target: &Path) -> Result<PathBuf> {
    let package = format!("wakeplace-{name}");
    let output = Command::new("cargo")
        .args(["test", "--locked", "-p", &package, "--test", test])
        .args(["--no-run", "--message-format=json"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .env("WAKEPLACE_POLICY_SOURCES", sources)
        .stderr(Stdio::inherit())
        .output()
        .context("cargo")?;
    ensure!(output.status.success(), "the mutations do not compile");
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = messages.filter_map(|m| Some(PathBuf::from(m["executable"].as_str()?)));
    programs.next().context("cargo names no test program")
}

/// A run of the program: its lines as they come.
struct Running {
    child: Child,
    lines: Receiver<String>,
    until: Instant,
}

impl Running {
    /// Starts a test program with one mutation in force.
    fn new(program: &Program, tests: &[String], mutant: usize, limit: Duration) -> Result<Self> {
        let mut child = Command::new(&program.path)
            .args(["--test-threads", "1", "--exact"])
            .args(tests)
            .current_dir(&program.folder)
            .env("WAKEPLACE_MUTANT", mutant.to_string())
            .env("WAKEPLACE_ORACLE_STATES", ORACLE_STATES)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| program.path.display().to_string())?;
        let (send, lines) = mpsc::channel();
        let out = child.stdout.take().context("no output")?;
        std::thread::spawn(move || {
            let mut lines = BufReader::new(out).lines();
            while let Some(Ok(line)) = lines.next() {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let until = now() + limit;
        Ok(Self {
            child,
            lines,
            until,
        })
    }

    /// The next test that has ended, and whether it passed; `None` at the end.
    fn next(&mut self) -> Result<Option<(String, bool)>, RecvTimeoutError> {
        loop {
            let left = self.until.saturating_duration_since(now());
            let line = match self.lines.recv_timeout(left) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(error) => return Err(error),
            };
            let Some(line) = line.strip_prefix("test ") else {
                continue;
            };
            let Some((name, end)) = line.split_once(" ... ") else {
                continue;
            };
            // The words after it are no part of the name that `--exact` wants.
            let name = name.strip_suffix(" - should panic").unwrap_or(name);
            return Ok(Some((name.to_owned(), end != "FAILED")));
        }
    }

    /// How it ended: a test failed, time ran out, or nothing was seen.
    fn outcome(&mut self) -> Result<Outcome> {
        loop {
            match self.next() {
                Ok(Some((_, true))) => {}
                Ok(Some((name, false))) => return Ok(Outcome::Test(name)),
                Ok(None) => break,
                Err(_) => return Ok(Outcome::Time),
            }
        }
        let died = !self.child.wait()?.success();
        Ok(if died {
            Outcome::Crash
        } else {
            Outcome::Survived
        })
    }
}

impl Drop for Running {
    /// A test program never outlives its outcome.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program once with no mutation in force: its tests by how long they take.
fn measure(program: &Program) -> Result<[(Vec<String>, Duration); 1 + QUICK.len()]> {
    let mut groups: [(Vec<String>, Duration); 1 + QUICK.len()] = Default::default();
    let mut last = now();
    let hour = Duration::from_secs(3600);
    let mut running = Running::new(program, &[], 0, hour)?;
    while let Some((name, passed)) = running
        .next()
        .map_err(|_| anyhow::anyhow!("without a mutation the tests take over an hour"))?
    {
        ensure!(passed, "{name} fails without a mutation");
        let took = last.elapsed();
        last = now();
        let group = &mut groups[QUICK.iter().filter(|quick| took > **quick).count()];
        group.0.push(name);
        group.1 += took;
    }
    // What a crash has cut off would never be run, and every mutation of it would survive.
    ensure!(
        running.child.wait()?.success(),
        "the tests end early without a mutation"
    );
    Ok(groups)
}

impl Tests {
    /// Builds the programs and runs each once with no mutation in force.
    ///
    /// # Errors
    /// One does not compile, or a test fails.
    pub(super) fn new(root: &Path, sources: &Path, target: &Path) -> Result<Self> {
        let (mut programs, mut groups) = (Vec::new(), Vec::new());
        for (at, (name, test, lengths)) in PROGRAMS.into_iter().enumerate() {
            let program = Program {
                path: build(root, name, test, sources, target)?,
                folder: root.join("crates").join(name),
            };
            let measured = measure(&program)?;
            for (tests, took) in measured.into_iter().take(lengths) {
                groups.push(Group {
                    program: at,
                    tests,
                    limit: PATIENCE * took + Duration::from_secs(5),
                });
            }
            programs.push(program);
        }
        groups.retain(|group| !group.tests.is_empty());
        ensure!(!groups.is_empty(), "there are no tests");
        Ok(Self {
            programs,
            groups,
            seers: Mutex::default(),
        })
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.groups.iter().map(|group| group.tests.len()).sum()
    }

    /// Runs some tests with a mutation of a file in force, up to the first that fails.
    fn run_group(&self, group: &Group, mutant: usize, file: &str) -> Result<Outcome> {
        let program = &self.programs[group.program];
        let mut running = Running::new(program, &group.tests, mutant, group.limit)?;
        let outcome = running.outcome()?;
        if let (Outcome::Test(name), Ok(mut seers)) = (&outcome, self.seers.lock()) {
            let seers = seers.entry(file.to_owned()).or_default();
            let seer = (group.program, name.clone());
            if !seers.contains(&seer) {
                seers.push(seer);
            }
        }
        Ok(outcome)
    }

    /// Runs them with a mutation of a file in force, up to the first that fails.
    ///
    /// # Errors
    /// A program cannot be run.
    pub(super) fn run(&self, mutant: usize, file: &str) -> Result<Outcome> {
        let seers = self.seers.lock().ok();
        let seers = seers.and_then(|seers| seers.get(file).cloned());
        let seers = seers.unwrap_or_default();
        let limit = self.groups.iter().map(|group| group.limit).max();
        let first = (0..self.programs.len()).map(|program| Group {
            program,
            tests: seers
                .iter()
                .filter(|(of, _)| *of == program)
                .map(|(_, name)| name.clone())
                .collect(),
            limit: limit.unwrap_or_default(),
        });
        let first: Vec<_> = first.filter(|group| !group.tests.is_empty()).collect();
        for group in first.iter().chain(&self.groups) {
            let outcome = self.run_group(group, mutant, file)?;
            if outcome != Outcome::Survived {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Survived)
    }
}

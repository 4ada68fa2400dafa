//! The live scheduler and others in emulated machines: what a run in a guest leaves, and how it is
//! judged (ARCHITECTURE.md, "Real machines").
//!
//! What must stay: names of files that a run leaves: scripts/live writes them. Free: how it is
//! done, and words that no test or script reads. Tests by part: `complaints_are_told_from_names`
//! (`complaints`). `publish`, `text`, `has`, `end`, `fact`, `kernel`, `lines_of`, `open`, `fault`,
//! `faults`, `all_held`, `run`, `lab`, `is_dynamic`, `clean`, `silent`, `side_by_side`, `say`,
//! `first_figure`, `script`, `needed` have no test of their own: `make live-test` runs them in
//! guests.
//!
//! Callers: soak.rs (`lines_of`, `all_held`, `clean`, `first_figure`, `script`), cost.rs
//! (`publish`, `all_held`, `script`, `needed`), unit.rs (`all_held`, `silent`, `script`),
//! schedulers.rs (`needed`), waits.rs (`publish`).
//!
//! Tests: below

pub mod cost;
mod judge;
pub mod schedulers;
pub mod soak;
pub mod tests;
pub mod unit;
pub mod waits;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::shop::{Shop, missing, read, tail, text_of};

/// What runs inside guests.
pub const SCRIPTS: &str = "scripts/live";
/// The page of what is measured live.
pub const PAGE: &str = "docs/results/live.md";

/// Renews the page's part of a command if that is wanted; prints the table in any case.
///
/// # Errors
/// The page cannot be written.
pub fn publish(shop: &Shop, page: bool, command: &str, table: &str) -> Result<()> {
    print!("{table}");
    if page {
        crate::shop::page::renew(&shop.root, PAGE, command, table)?;
    }
    Ok(())
}

/// Runs of the lab, side by side or one after the other.
pub struct Guests {
    root: PathBuf,
    /// The `wakeplace` that boots them.
    pub program: PathBuf,
    /// Where what runs in guests is.
    pub lab: PathBuf,
    /// Where all that guests bring back is left.
    pub keep: PathBuf,
    faults: Mutex<Vec<String>>,
    _scratch: Option<xshell::TempDir>,
}

/// A run that has ended.
pub struct Run {
    /// What came back.
    pub folder: PathBuf,
    /// The lab's exit code.
    pub code: i32,
}

impl Run {
    /// A file that came back; empty if it did not.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        let bytes = fs::read(self.folder.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Did a file come back?
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    /// The lab's exit code and the end of its log.
    #[must_use]
    pub fn end(&self) -> String {
        let log = tail(&self.folder.join("log"), 30);
        format!("exit code {}: {log}", self.code)
    }

    /// The value of `NAME=VALUE` in the guest's facts; the last. None: it said nothing.
    #[must_use]
    pub fn fact(&self, name: &str) -> Option<String> {
        let facts = self.text("facts");
        let mut values = facts
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        values.next_back().map(str::to_owned)
    }

    /// The guest kernel's version, as the lab's log has it.
    #[must_use]
    pub fn kernel(&self) -> String {
        let log = self.text("log");
        let mut lines = log
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        let line = lines.find(|words| words.first() == Some(&"kernel") && words.len() > 2);
        line.map(|words| words[2].to_owned()).unwrap_or_default()
    }
}

/// Lines of a text that begin with one of these.
#[must_use]
pub fn lines_of(text: &str, starts: &[&str]) -> String {
    let is = |line: &&str| starts.iter().any(|start| line.starts_with(start));
    text.lines()
        .filter(is)
        .fold(String::new(), |all, line| all + line + "\n")
}

/// Complaints of a kernel. What merely names a feature ("rcu: RCU ...") is none.
fn complaints(dmesg: &str) -> Vec<&str> {
    const ANY: [&str; 11] = [
        "BUG:",
        "WARNING:",
        "Oops",
        "Call Trace",
        "general protection",
        "detected stalls",
        "self-detected",
        "soft lockup",
        "hard LOCKUP",
        "runnable task stall",
        "workqueue lockup",
    ];
    let is = |line: &&str| {
        ANY.iter().any(|word| line.contains(word))
            || line.contains("blocked for more than")
            || line.split_once("sched_ext: ").is_some_and(|(_, rest)| {
                ["error", "fail", "stall", "aborted"]
                    .iter()
                    .any(|word| rest.contains(word))
            })
    };
    dmesg.lines().filter(is).collect()
}

impl Guests {
    /// What `make lab` and `make build` have made; `keep` is left, else it goes at the end.
    ///
    /// # Errors
    /// The program is missing.
    pub fn open(shop: &Shop, keep: Option<PathBuf>) -> Result<Self> {
        let usual = shop.target.join("release/wakeplace");
        let program = text_of("WAKEPLACE").map_or(usual, |path| shop.root.join(path));
        if !program.exists() {
            let what = "is missing: run `make build`, or set WAKEPLACE";
            return Err(missing(format!("{} {what}", program.display())));
        }
        let beside = program
            .parent()
            .and_then(Path::parent)
            .map(|target| target.join("lab"));
        let lab = text_of("WAKEPLACE_LAB_BIN").map(PathBuf::from).or(beside);
        let keep = keep.or_else(|| text_of("LIVE_KEEP").map(|folder| shop.root.join(folder)));
        let scratch = if keep.is_none() {
            Some(shop.scratch()?)
        } else {
            None
        };
        let keep = keep.or_else(|| scratch.as_ref().map(|own| own.path().to_owned()));
        let keep = keep.context("a folder")?;
        fs::create_dir_all(&keep)?;
        Ok(Self {
            root: shop.root.clone(),
            program,
            lab: lab.context("the folder of the lab's programs")?,
            keep,
            faults: Mutex::default(),
            _scratch: scratch,
        })
    }

    /// Notes that something did not hold.
    pub fn fault(&self, what: impl Into<String>) {
        let what = what.into();
        eprintln!("**** FAILED: {what}");
        if let Ok(mut faults) = self.faults.lock() {
            faults.push(what.chars().take(600).collect());
        }
    }

    /// How many things did not hold so far.
    #[must_use]
    pub fn faults(&self) -> usize {
        self.faults.lock().map_or(1, |faults| faults.len())
    }

    /// Fails with all that did not hold.
    ///
    /// # Errors
    /// Something did not.
    pub fn all_held(&self) -> Result<()> {
        let faults = self
            .faults
            .lock()
            .map(|faults| faults.join("\n"))
            .unwrap_or_default();
        if faults.is_empty() {
            return Ok(());
        }
        bail!("{faults}")
    }

    /// A run of the lab that is not priced: the tracer would take time of what is measured.
    /// `command` has its words apart by blanks.
    ///
    /// # Errors
    /// The lab cannot be started.
    pub fn run(&self, name: &str, options: &[&str], add: &[&str], command: &str) -> Result<Run> {
        let folder = self.keep.join(name);
        let mut all = vec!["lab", "run", "--unpriced"];
        // Programs that are not static (`cargo xtask programs --tested`) need their libraries.
        if options.windows(2).any(|pair| pair == ["--arch", "x86_64"]) && self.is_dynamic() {
            for package in ["libelf1t64", "zlib1g", "libgcc-s1"] {
                all.extend(["--package", package]);
            }
        }
        all.extend(options);
        all.extend(add.iter().flat_map(|file| ["--add", file]));
        all.push("--");
        all.extend(command.split(' '));
        self.lab(&folder, &all, "log")
    }

    /// The lab with these words; its own output is in FOLDER/log, and in another file what it
    /// prints if that is named.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn lab(&self, folder: &Path, words: &[&str], printed: &str) -> Result<Run> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let log = File::create(folder.join("log"))?;
        let stdout = match printed {
            "log" => log.try_clone()?,
            other => File::create(folder.join(other))?,
        };
        let status = Command::new(&self.program)
            .current_dir(&self.root)
            .args(&words[..2])
            .arg("--keep")
            .arg(folder)
            .args(&words[2..])
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(log)
            .status()?;
        let run = Run {
            folder: folder.to_owned(),
            code: status.code().unwrap_or(-1),
        };
        // That the lab had to start it twice is said aloud.
        for line in lines_of(&run.text("log"), &["warning: the guest did not come up"]).lines() {
            eprintln!("**** {line}");
        }
        Ok(run)
    }

    /// Then guests get its libraries, too.
    fn is_dynamic(&self) -> bool {
        let file = self.lab.join("x86_64/scx_wakeplace");
        let said = Command::new("readelf").arg("-l").arg(file).output();
        said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("INTERP"))
    }

    /// The scheduler went because it was asked to, and the kernel said nothing bad.
    fn clean(&self, run: &Run, name: &str) {
        let dmesg = run.text("dmesg");
        let asked = "disabled (unregistered from user space)";
        let is = |line: &str| line.contains("scheduler \"wakeplace") && line.contains(asked);
        if !dmesg.lines().any(is) {
            self.fault(format!(
                "{name}: exit kind is not 64, unregistered from user space"
            ));
        }
        if run.fact("scheduler_exit").as_deref() != Some("0") {
            self.fault(format!("{name}: scx_wakeplace's exit code is not 0"));
        }
        self.silent(run, name);
    }

    /// The kernel said nothing bad.
    fn silent(&self, run: &Run, name: &str) {
        let dmesg = run.text("dmesg");
        let found = complaints(&dmesg);
        let Some(first) = found.first() else { return };
        let mut text = format!("{name}: the kernel complains:\n{}\n", found.join("\n"));
        let whole = dmesg.lines().skip_while(|line| line != first).take(46);
        text.push_str("the first of it, whole:\n");
        whole.for_each(|line| text.push_str(&format!("{line}\n")));
        self.fault(text);
    }

    /// Does jobs, so many at a time; each has what it said printed when it ends.
    fn side_by_side(&self, at_once: usize, jobs: &[Job<'_>]) {
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..at_once.min(jobs.len()) {
                scope.spawn(|| {
                    while let Some((name, job)) = jobs.get(next.fetch_add(1, Ordering::SeqCst)) {
                        eprintln!("begun: {name}");
                        let mut said = Said::default();
                        if let Err(error) = job(&mut said) {
                            self.fault(format!("{name}: {error:#}"));
                        }
                        print!("{}", said.0);
                    }
                });
            }
        });
    }
}

/// What is done; it says what came of it.
type Work<'a> = Box<dyn Fn(&mut Said) -> Result<()> + Send + Sync + 'a>;
/// A name, and what is done.
type Job<'a> = (String, Work<'a>);

/// What a job has to say.
#[derive(Default)]
pub struct Said(String);

impl Said {
    /// Kept until the job's end, so that jobs' lines do not mix.
    fn say(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.0, "{}", text.as_ref().trim_end());
    }
}

/// The first number of a key in JSON with one key a line; 0 if there is none.
fn first_figure(text: &str, key: &str) -> f64 {
    let start = format!("\"{key}\":");
    let mut values = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix(&start));
    let value = values
        .next()
        .unwrap_or_default()
        .trim()
        .trim_end_matches(',');
    value.parse().unwrap_or_default()
}

/// A script for guests.
fn script(name: &str) -> String {
    format!("{SCRIPTS}/{name}")
}

/// The text of a file of a run that must be there.
///
/// # Errors
/// It is not.
pub fn needed(run: &Run, name: &str) -> Result<String> {
    read(&run.folder.join(name))
}

#[cfg(test)]
mod judged {
    use super::{complaints, first_figure};

    #[test]
    fn complaints_are_told_from_names() {
        let dmesg = "rcu: RCU event tracing is enabled.\nsched_ext: BPF scheduler \"w\" enabled\n\
                     WARNING: CPU: 1\nINFO: task a:1 blocked for more than 120 s\n\
                     sched_ext: w: runnable task stall\n";
        assert_eq!(complaints(dmesg).len(), 3);
        assert!(complaints("sched_ext: BPF scheduler disabled\n").is_empty());
        assert_eq!(
            first_figure("{\n \"a\": 1.5,\n \"b\": 2\n \"a\": 3\n", "a"),
            1.5
        );
    }
}

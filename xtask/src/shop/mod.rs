//! What the tasks share: the repository's folders, programs that they call, and how a task ends
//! (ARCHITECTURE.md, "The workshop").
//!
//! What must stay: exit codes and their meaning, names of the environment. Free: how it is done,
//! and words that no test or script reads. Tests by part:
//! commands.rs::`a_wrong_name_is_told_the_nearest` (`usage`, `choose`),
//! same_runs.rs::`several_hashes_become_one` (`sha256`). `fmt`, `missing`, `setting`, `text_of`,
//! `open`, `setup`, `program`, `build`, `tool`, `scratch`, `has`, `find`, `run`, `status`,
//! `logged`, `quietly`, `judge`, `tail`, `read`, `write` have no test of their own: a task that
//! uses them fails.
//!
//! Callers: tries/fuzz.rs (`logged`), tries/traces.rs (`logged`), many files (`usage`, `choose`,
//! `setting`, `text_of`, `quietly`, `sha256`).
//!
//! Tests: none; every task uses it.

pub mod figures;
pub mod page;

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use wakeplace_text::{did_you_mean, nearest};
use xshell::{Cmd, Shell, cmd};

use crate::repo::Repo;

/// How a task ends that has no result. Any other error is a fault that it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It was asked wrongly: exit code 2.
    Usage(String),
    /// It cannot be done on this machine: exit code 3.
    Missing(String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => f.write_str(what),
            Self::Missing(what) => write!(f, "**** SKIPPED: {what}"),
        }
    }
}

impl std::error::Error for End {}

/// A wrong question.
pub fn usage(what: impl Into<String>) -> anyhow::Error {
    End::Usage(what.into()).into()
}

/// Something that cannot be had here.
pub fn missing(what: impl Into<String>) -> anyhow::Error {
    End::Missing(what.into()).into()
}

/// The place of a name in a list.
///
/// # Errors
/// It is not there; the message has the list and the nearest name.
pub fn choose(what: &str, name: &str, names: &[&str]) -> Result<usize> {
    let found = names.iter().position(|known| *known == name);
    found.ok_or_else(|| {
        let near = did_you_mean(nearest(name, names.iter().copied()));
        usage(format!(
            "no {what} is called `{name}`{near}; expected one of: {}",
            names.join(", ")
        ))
    })
}

/// A value from the environment, or what stands for it.
///
/// # Errors
/// It is none of what is expected.
pub fn setting<T: FromStr>(name: &str, expected: &str, default: T) -> Result<T> {
    match env::var(name) {
        Err(_) => Ok(default),
        Ok(text) if text.is_empty() => Ok(default),
        Ok(text) => text
            .parse()
            .map_err(|_| usage(format!("{name}={text}: expected {expected}"))),
    }
}

/// A text of the environment; an empty one is as none.
#[must_use]
pub fn text_of(name: &str) -> Option<String> {
    env::var(name).ok().filter(|text| !text.is_empty())
}

/// The repository with its folders.
pub struct Shop {
    /// A shell in the root.
    pub sh: Shell,
    /// The root.
    pub root: PathBuf,
    /// Cargo's folder of what was built.
    pub target: PathBuf,
}

impl Shop {
    /// The checkout that this program was built from.
    ///
    /// # Errors
    /// It is gone.
    pub fn open() -> Result<Self> {
        let root = Repo::root();
        let sh = Shell::new()?;
        sh.change_dir(&root);
        let target = env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
        let target = root.join(target);
        Ok(Self { sh, root, target })
    }

    /// Installs what a kind of work takes (scripts/setup.sh names the kinds).
    ///
    /// # Errors
    /// Something cannot be had; the script has said what.
    pub fn setup(&self, kinds: &[&str]) -> Result<()> {
        run(cmd!(self.sh, "scripts/setup.sh {kinds...}").quiet())
    }

    /// The program `wakeplace` to ask: WAKEPLACE, or the release build, which is made.
    ///
    /// # Errors
    /// It does not build.
    pub fn program(&self) -> Result<PathBuf> {
        if let Some(program) = text_of("WAKEPLACE") {
            return Ok(self.root.join(program));
        }
        self.build("release")
    }

    /// Builds `wakeplace` in a profile and says where it is.
    ///
    /// # Errors
    /// It does not build.
    pub fn build(&self, profile: &str) -> Result<PathBuf> {
        let how = ["build", "--locked", "--quiet", "--profile", profile];
        run(cmd!(self.sh, "cargo {how...} --package wakeplace-cli"))?;
        let folder = if profile == "dev" { "debug" } else { profile };
        Ok(self.target.join(folder).join("wakeplace"))
    }

    /// A program that only cargo's registry has, at one version, compiled where it is not there.
    ///
    /// # Errors
    /// It cannot be had here.
    pub fn tool(&self, name: &str, version: &str, more: &[&str]) -> Result<PathBuf> {
        let root = self.root.join(format!("target/tools/{name}-{version}"));
        let program = root.join("bin").join(name);
        if !program.exists() {
            let install = cmd!(self.sh, "cargo install {name} --version {version} --locked")
                .args(["--quiet", "--root"])
                .arg(&root)
                .args(more)
                // Schedulers of the registry compile their BPF programs with it.
                .env(
                    "BPF_CLANG",
                    text_of("BPF_CLANG").unwrap_or("clang-19".into()),
                );
            run(install).map_err(|_| missing(format!("{name} {version} cannot be installed")))?;
        }
        Ok(program)
    }

    /// A temporary folder, which goes when it is dropped.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn scratch(&self) -> Result<xshell::TempDir> {
        Ok(self.sh.create_temp_dir()?)
    }

    /// Is a program in PATH?
    #[must_use]
    pub fn has(&self, program: &str) -> bool {
        find(program).is_some()
    }
}

/// Where a program of PATH is. None: it is not there.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    let all = env::var_os("PATH")?;
    let mut places = env::split_paths(&all).map(|folder| folder.join(program));
    places.find(|path| path.is_file())
}

/// Runs a command; exit code 3 is "cannot be done here", any other but 0 a fault.
///
/// # Errors
/// It cannot be started, or fails.
pub fn run(command: Cmd<'_>) -> Result<()> {
    let text = command.to_string();
    judge(&text, status(command)?)
}

/// Runs a command and returns how it ended.
///
/// # Errors
/// It cannot be started.
pub fn status(command: Cmd<'_>) -> Result<ExitStatus> {
    let text = command.to_string();
    Command::from(command).status().with_context(|| text)
}

/// Runs a command whose output goes to a file; whether it succeeded.
///
/// # Errors
/// It cannot be started, or the file not be written.
pub fn logged(command: Cmd<'_>, log: &Path) -> Result<ExitStatus> {
    let text = command.to_string();
    let file = fs::File::create(log).with_context(|| log.display().to_string())?;
    let mut command = Command::from(command);
    command.stdin(std::process::Stdio::null());
    command.stdout(file.try_clone()?).stderr(file);
    command.status().with_context(|| text)
}

/// Runs a command whose output goes to a file, of which the end is shown if it fails.
///
/// # Errors
/// It cannot be started, or fails.
pub fn quietly(command: Cmd<'_>, log: &Path) -> Result<()> {
    let text = command.to_string();
    let status = logged(command, log)?;
    if !status.success() {
        eprintln!("{}", tail(log, 120));
    }
    judge(&text, status)
}

/// 3 means that it cannot be done here.
fn judge(text: &str, status: ExitStatus) -> Result<()> {
    match status.code() {
        Some(0) => Ok(()),
        Some(3) => Err(missing(format!("`{text}` cannot be done here"))),
        _ => bail!("`{text}`: {status}"),
    }
}

/// The last lines of a file.
#[must_use]
pub fn tail(path: &Path, lines: usize) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// A text file of the repository or of a run.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// Writes a file, and its folders.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}

/// The start of a text's SHA-256, in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8], digits: usize) -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text.truncate(digits);
    text
}

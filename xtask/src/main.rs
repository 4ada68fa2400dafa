//! `cargo xtask COMMAND`: the repository's own checks and generators, and what measures, tries and
//! releases (ARCHITECTURE.md, "The workshop").
//!
//! What must stay: exit codes, which Makefile and CI read. Free: how it is done, and words that no
//! test or script reads. Tests by part: `main`, `failed`, `report`, `say` have no test of their
//! own: a wrong exit code fails CI or Makefile.
//!
//! Tests: xtask/src/commands.rs::a_wrong_name_is_told_the_nearest

use std::io::{self, Write};
use std::process::ExitCode;

use xtask::shop::End;
use xtask::{Finding, commands};

/// Exit codes: 0 holds, 1 does not, 2 a wrong question, 3 cannot be done here.
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let Some((name, rest)) = args.split_first() else {
        say(&commands::help());
        return ExitCode::from(2);
    };
    if ["help", "-h", "--help"].contains(name) {
        let _ = io::stdout().lock().write_all(commands::help().as_bytes());
        return ExitCode::SUCCESS;
    }
    let outcome = commands::find(name).and_then(|command| (command.run)(rest));
    match outcome {
        Ok(findings) => report(&args.join(" "), &findings),
        Err(error) => failed(name, &error),
    }
}

/// Says why a task failed; the exit code is the kind of its end.
fn failed(name: &str, error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<End>() {
        Some(End::Missing(_)) => {
            say(&format!("{error:#}\n"));
            ExitCode::from(3)
        }
        Some(End::Usage(_)) => {
            say(&format!("error: {name}: {error:#}\n"));
            ExitCode::from(2)
        }
        None => {
            say(&format!("error: {name}: {error:#}\n"));
            ExitCode::FAILURE
        }
    }
}

/// One line for each finding, then the verdict.
fn report(command: &str, findings: &[Finding]) -> ExitCode {
    for finding in findings {
        say(&format!("{finding}\n"));
    }
    if findings.is_empty() {
        say(&format!("{command}: all holds\n"));
        return ExitCode::SUCCESS;
    }
    say(&format!("{command}: {} found\n", findings.len()));
    ExitCode::FAILURE
}

/// Everything said goes to standard error; a closed pipe is nobody's failure.
fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

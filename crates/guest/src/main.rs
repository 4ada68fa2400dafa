//! `wakeplace-guest`: see the library (docs/guide/lab.md).
//!
//! What must stay: exit codes, and one JSON object on standard output. Free: nothing but how the
//! library is called.
//!
//! Tests by part: `what_is_wrong_is_exit_code_2_and_nothing_on_stdout` (`main`: where words go),
//! programs.rs::`a_machine_without_little_cpus_cannot_place` (exit code 3).
//!
//! Tests: crates/guest/tests/programs.rs

use std::io::Write;
use std::process::ExitCode;

/// The report on standard output, errors on standard error; exit codes of the library.
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (text, code, mut stream): (_, _, Box<dyn Write>) = match wakeplace_guest::run(&args) {
        Ok(outcome) => (outcome.text, outcome.code, Box::new(std::io::stdout())),
        Err(error) => (
            format!("wakeplace-guest: {error}\n"),
            error.exit_code(),
            Box::new(std::io::stderr()),
        ),
    };
    // A reader that went away leaves the exit code.
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.flush();
    ExitCode::from(code)
}

//! `switch`: policy, mode and parameters of the live scheduler change all the time, over its
//! control socket, as its own client would change them but without a program to start each time.
//!
//! What must stay: requests as docs/guide/live.md has them; a refusal is a failure. Free: how long
//! a pause is.
//!
//! Tests by part: `a_refused_change_ends_it_and_is_a_failure` (`switch`, `change`, `is_late`),
//! `without_a_scheduler_it_fails_and_with_a_wrong_call_it_says_how` (`run`).
//!
//! Callers: lib.rs (`run`); guest.sh starts it beside other work.
//!
//! Tests: below

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::args::{Flag, flag, parse};
use crate::error::GuestError;
use crate::report::Report;
use crate::sys;

const FLAGS: [Flag; 1] = [flag("--every-ms", 100, 1, 60_000)];
/// Where the scheduler listens unless it was told otherwise (docs/guide/live.md).
const SOCKET: &str = "/run/scx_wakeplace/control.sock";
/// What the scheduler gives a request, and what its client waits for (docs/guide/live.md).
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// How its answer begins where it has none in that time.
const NO_ANSWER: &str = "no answer within ";
/// Longest answer that is read, bytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;
/// One after the other, again and again; the last is what the scheduler starts with.
const CHANGES: [(&str, &str); 10] = [
    ("policy", "linux-7.3"),
    ("mode", "powersave"),
    ("policy", "linux-7.3-energy-aware"),
    ("mode", "performance"),
    ("policy", "wakeplace"),
    ("vq_slice_ns", "1000000"),
    ("policy", "wakeplace-energy-aware"),
    ("mode", "balance"),
    ("vq_slice_ns", "3000000"),
    ("policy", "wakeplace"),
];

/// Counts.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct SwitchResult {
    /// Changes that were accepted.
    pub changes: u64,
    /// Changes whose answer took more than 2 s: the scheduler's loader is one task among many.
    pub late: u64,
    /// Longest time until an answer, late ones left out, ns.
    pub answer_ns_max: u64,
    /// Time from the first change to the last, ns.
    pub elapsed_ns: u64,
}

/// Changes until the named file exists.
///
/// # Errors
/// Wrong arguments.
pub fn run(args: &[String]) -> Result<Report<SwitchResult>, GuestError> {
    let Some((stop, rest)) = args
        .split_first()
        .filter(|(stop, _)| !stop.starts_with('-'))
    else {
        let expected = "switch: expected the name of a file: it ends when that exists";
        return Err(GuestError::Input(expected.to_owned()));
    };
    let [every_ms] = parse(rest, &FLAGS)?;
    // As in hotplug-storm: it must not wait for the load it is to disturb.
    let _ = sys::set_nice(0, -20);
    let ended = || Path::new(stop).exists();
    let (result, failures) = switch(Path::new(SOCKET), every_ms * 1_000_000, ended);
    Ok(Report::new("switch", failures, result))
}

/// A change at each multiple of the period until `ended`, or until one is refused.
fn switch(socket: &Path, period_ns: u64, ended: impl Fn() -> bool) -> (SwitchResult, Vec<String>) {
    let mut result = SwitchResult::default();
    let mut failures = Vec::new();
    let begin_ns = sys::now_ns();
    for (key, value) in CHANGES.iter().cycle() {
        if ended() {
            break;
        }
        let asked_ns = sys::now_ns();
        match change(socket, key, value) {
            Ok(()) => {
                result.changes += 1;
                result.answer_ns_max = result.answer_ns_max.max(sys::now_ns() - asked_ns);
            }
            Err(error) if is_late(&error) => result.late += 1,
            Err(error) => {
                failures.push(format!("{key}={value}: {error}"));
                break;
            }
        }
        sys::sleep_ns(period_ns.saturating_sub(sys::now_ns() - asked_ns));
    }
    result.elapsed_ns = sys::now_ns() - begin_ns;
    (result, failures)
}

/// No answer within patience.
fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// One request on one connection. An error: no answer, or one that is not the state after it.
fn change(socket: &Path, key: &str, value: &str) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
    stream.set_write_timeout(Some(ANSWER_WITHIN))?;
    let request = serde_json::json!({ "request": "set", "changes": [[key, value]] });
    writeln!(stream, "{request}")?;
    let mut answer = String::new();
    BufReader::new(stream.take(ANSWER_BYTES_MAX)).read_line(&mut answer)?;
    let said = serde_json::from_str::<serde_json::Value>(&answer).unwrap_or_default();
    let why = said["error"].as_str().unwrap_or_default();
    match said.get("status") {
        Some(_) => Ok(()),
        // Its main loop is late, and whoever listens for it says so (crates/scx/src/control.rs).
        None if why.starts_with(NO_ANSWER) => Err(io::ErrorKind::TimedOut.into()),
        None => Err(io::Error::other(format!("answered `{}`", answer.trim()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// A scheduler that gives these answers, one per connection; what it was asked.
    fn answers(socket: &Path, answers: &'static [&'static str]) -> std::thread::JoinHandle<String> {
        let listener = UnixListener::bind(socket).expect("a socket");
        std::thread::spawn(move || {
            let mut asked = String::new();
            for answer in answers {
                let (mut client, _) = listener.accept().expect("a client");
                let mut reader = BufReader::new(client.try_clone().expect("the same socket"));
                reader.read_line(&mut asked).expect("a request");
                writeln!(client, "{answer}").expect("an answer");
            }
            asked
        })
    }

    #[test]
    fn a_refused_change_ends_it_and_is_a_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("control.sock");
        let server = answers(
            &socket,
            &[
                r#"{"status":{}}"#,
                r#"{"error":"no answer within 2 s; the change may still come","code":1}"#,
                r#"{"error":"no such mode","code":2}"#,
            ],
        );
        let (result, failures) = switch(&socket, 1, || false);
        let asked = server.join().expect("the server ends");
        assert_eq!((result.changes, result.late), (1, 1));
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert!(
            failures[0].starts_with("policy=linux-7.3-energy-aware: ")
                && failures[0].contains("no such mode"),
            "{failures:?}"
        );
        let first = asked.lines().next().expect("a request");
        let request: serde_json::Value = serde_json::from_str(first).expect("JSON");
        let wanted = serde_json::json!({"request":"set","changes":[["policy","linux-7.3"]]});
        assert_eq!(request, wanted);
    }

    #[test]
    fn without_a_scheduler_it_fails_and_with_a_wrong_call_it_says_how() {
        let folder = tempfile::tempdir().expect("a folder");
        let (result, failures) = switch(&folder.path().join("none"), 1, || false);
        assert_eq!((result.changes, failures.len()), (0, 1));
        for line in [&[][..], &["--every-ms".to_owned()][..]] {
            let error = run(line).expect_err("no file is named");
            assert_eq!(error.exit_code(), 2);
        }
    }
}

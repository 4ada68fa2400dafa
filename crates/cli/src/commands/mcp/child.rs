//! A call as a process of its own: this program with a command's words
//! (docs/guide/evaluate.md, "For language models: MCP").
//!
//! What must stay: what the process may take is bounded, in time and in what it says; it ends with
//! the call, whatever ends that; it has no standard input. What it prints is the answer, also with
//! exit code 1: a candidate that fails has an evaluation. Tests by part:
//! crates/cli/tests/all/mcp.rs::`a_session_lists_and_calls_tools` (`run`),
//! mcp.rs::`a_call_that_takes_too_long_is_ended` (`Limits`),
//! mcp.rs::`what_is_wrong_is_the_tools_error` (`said`).
//!
//! Tests: crates/cli/tests/all/mcp.rs

use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::time::timeout;

/// What a call may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    time: Duration,
    /// Of standard output, and of standard error.
    bytes: [u64; 2],
}

impl Limits {
    pub(super) fn of(time: Duration) -> Self {
        let bytes = [4 << 20, 64 << 10];
        Self { time, bytes }
    }
}

/// What the command with these words prints; or what it says of why it cannot.
pub(super) async fn run(words: &[String], limits: Limits) -> Result<Vec<String>, String> {
    match timeout(limits.time, finished(words, limits)).await {
        Ok(answer) => answer,
        Err(_) => Err(format!(
            "the call took longer than {} and was ended; expected less to run, as fewer seeds, or \
             a longer --time-limit of `wakeplace mcp`",
            wakeplace_text::time(limits.time.as_nanos() as u64)
        )),
    }
}

/// The same without a limit of time.
async fn finished(words: &[String], limits: Limits) -> Result<Vec<String>, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut child = Command::new(program)
        // Before the words: what follows `--` there is no option.
        .args(["--quiet", "--color=never"])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        // A build of a tree has children of its own.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("the command cannot be started: {error}"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let [most, most_said] = limits.bytes;
    let (printed, (said, _)) = tokio::join!(read(out, most), read(err, most_said));
    let printed = Some(printed)
        .filter(|(_, whole)| *whole)
        .map(|(text, _)| text);
    let printed = printed.ok_or_else(|| {
        let mib = most >> 20;
        format!("the result has more than {mib} MiB; expected less to run, as fewer seeds")
    })?;
    let ended = child.wait().await.map_err(|error| error.to_string())?;
    match ended.code() {
        Some(0 | 1) if !printed.is_empty() => Ok([printed, said]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect()),
        _ if said.is_empty() => Err(format!("the command ended with {ended}")),
        // The first paragraph is what is wrong; usage may follow.
        _ => Err(match said.trim().split_once("\n\n") {
            Some((first, _)) => first,
            None => said.trim(),
        }
        .trim_start_matches("error: ")
        .to_owned()),
    }
}

/// What is said there, at most so much, and whether that is all of it.
async fn read(from: Option<impl AsyncRead + Unpin>, most: u64) -> (String, bool) {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        // What was read before an error is what there is.
        let _ = from.take(most + 1).read_to_end(&mut bytes).await;
    }
    let is_whole = bytes.len() as u64 <= most;
    bytes.truncate(most as usize);
    (String::from_utf8_lossy(&bytes).into_owned(), is_whole)
}

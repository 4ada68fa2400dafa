//! `ping-pong`: pairs of processes that wake each other through pipes (docs/guide/live.md,
//! scripts/live/guest.sh).
//!
//! What must stay: two wake-ups a round; keys of the report. Free: how processes are waited for.
//!
//! Tests by part: `ping_pong_counts_two_wakeups_a_round` (`run`, `spawn_pair`, `exchange`,
//! `spans`).
//!
//! Callers: lib.rs (`run`). scripts/live/guest.sh reads the report.
//!
//! Tests: crates/guest/tests/programs.rs::ping_pong_counts_two_wakeups_a_round

use std::io::{self, PipeReader, PipeWriter, Read, Write};

use serde::{Deserialize, Serialize};

use crate::args::{Flag, flag, parse};
use crate::error::GuestError;
use crate::report::Report;
use crate::steady::{END_WITHIN_NS, finish_child};
use crate::sys::{self, Pid};

/// Options, with `--pairs` far below what a pipe takes as results.
const FLAGS: [Flag; 2] = [
    flag("--rounds", 10_000, 1, 10_000_000),
    flag("--pairs", 1, 1, 256),
];
/// A round trip across CPUs under emulation on a busy host takes some ms; this is far above, ns.
const ROUND_NS_MAX: u64 = 20_000_000;

/// Figures of the measured rounds.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct PingPongResult {
    /// Pairs of processes, running at the same time.
    pub pairs: u64,
    /// Measured round trips of each pair.
    pub rounds: u64,
    /// Round trips of each pair before these.
    pub warm_up_rounds: u64,
    /// Wake-ups in the measured rounds: two to a round trip.
    pub wakeups: u64,
    /// From the first pair's first to the last pair's last measured round, ns.
    pub elapsed_ns: u64,
    /// Elapsed time by wake-ups, ns.
    pub ns_per_wakeup: f64,
}

/// Runs it.
///
/// # Errors
/// Wrong arguments; no pipes or processes to be had.
pub fn run(args: &[String]) -> Result<Report<PingPongResult>, GuestError> {
    let [rounds, pairs] = parse(args, &FLAGS)?;
    // Page faults, caches and load estimates settle in a tenth of the run.
    let warm_up_rounds = (rounds / 10).clamp(10, 1000);
    let fail = |error| GuestError::environment("ping-pong", &error);
    let (results, result_sink) = io::pipe().map_err(fail)?;
    let (go, mut start) = io::pipe().map_err(fail)?;
    let mut children = Vec::new();
    for pair in 0..pairs {
        let plan = (warm_up_rounds, rounds);
        let both = spawn_pair(plan, &go, &result_sink).map_err(fail)?;
        children.extend(both.map(|pid| (pair, pid)));
    }
    drop(result_sink);
    for _ in 0..pairs {
        start.write_all(&[0]).map_err(fail)?;
    }
    let within_ns = END_WITHIN_NS + (warm_up_rounds + rounds) * pairs * ROUND_NS_MAX;
    let ends = children
        .iter()
        .map(|&(pair, pid)| finish_child(&format!("pair {pair}"), pid, within_ns));
    let mut failures: Vec<String> = ends.filter_map(Result::err).collect();
    let (begin_ns, end_ns, reported) = spans(results).map_err(fail)?;
    if reported != pairs {
        failures.push(format!("{reported} of {pairs} pairs reported their times"));
    }
    let wakeups = 2 * rounds * pairs;
    let elapsed_ns = end_ns.saturating_sub(begin_ns);
    let result = PingPongResult {
        pairs,
        rounds,
        warm_up_rounds,
        wakeups,
        elapsed_ns,
        ns_per_wakeup: elapsed_ns as f64 / wakeups as f64,
    };
    Ok(Report::new("ping-pong", failures, result))
}

/// The processes of one pair, waiting for a byte of `go`.
fn spawn_pair(
    (warm_up, rounds): (u64, u64),
    go: &PipeReader,
    result_sink: &PipeWriter,
) -> io::Result<[Pid; 2]> {
    let (mut ping_in, mut pong_out) = io::pipe()?;
    let (mut pong_in, mut ping_out) = io::pipe()?;
    let (mut go, mut sink) = (go, result_sink);
    let ping = sys::fork(|| {
        let mut play = || -> io::Result<()> {
            go.read_exact(&mut [0])?;
            exchange(warm_up, &mut ping_out, &mut ping_in)?;
            let begin_ns = sys::now_ns();
            exchange(rounds, &mut ping_out, &mut ping_in)?;
            let end_ns = sys::now_ns();
            // One write of this size is never torn.
            sink.write_all([begin_ns.to_le_bytes(), end_ns.to_le_bytes()].as_flattened())
        };
        u8::from(play().is_err())
    })?;
    let pong = sys::fork(|| {
        let mut play = || -> io::Result<()> {
            let mut byte = [0];
            for _ in 0..warm_up + rounds {
                pong_in.read_exact(&mut byte)?;
                pong_out.write_all(&byte)?;
            }
            Ok(())
        };
        u8::from(play().is_err())
    })?;
    Ok([ping, pong])
}

/// So many round trips, seen from the one who begins.
fn exchange(rounds: u64, out: &mut PipeWriter, back: &mut PipeReader) -> io::Result<()> {
    let mut byte = [7];
    for _ in 0..rounds {
        out.write_all(&byte)?;
        back.read_exact(&mut byte)?;
    }
    Ok(())
}

/// First beginning, last end, and how many pairs there were.
fn spans(mut results: PipeReader) -> io::Result<(u64, u64, u64)> {
    let mut bytes = Vec::new();
    results.read_to_end(&mut bytes)?;
    let (times, _) = bytes.as_chunks::<8>();
    let times: Vec<u64> = times.iter().map(|&time| u64::from_le_bytes(time)).collect();
    let begin_ns = times.iter().step_by(2).min();
    let end_ns = times.iter().skip(1).step_by(2).max();
    let pairs = times.len() as u64 / 2;
    Ok((*begin_ns.unwrap_or(&0), *end_ns.unwrap_or(&0), pairs))
}

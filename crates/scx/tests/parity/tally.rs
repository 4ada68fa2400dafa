// SPDX-License-Identifier: GPL-2.0-only
//! What a run has compared, by build and size of machine.
//!
//! What must stay: it counts and judges only that all was compared. Caller: main.rs; events.rs
//! (`Calls`). `count` adds one comparison, `band` sorts it by size, `of`, `columns`, `print` and
//! `print_calls` show the sums. Page: docs/internals/checks.md; docs/decisions/011. Free: words of
//! the summary.

use crate::builds::Builds;
use crate::kernel::say;
use crate::loaded::called_live;
use crate::ops::Op;
use wakeplace_policy_sys::Reason;

/// How often something was compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// With the whole core built for BPF.
    pub(crate) all: u64,
    /// ... of them with the live build, too.
    pub(crate) live: u64,
    /// ... of all, on machines of more CPUs than a word of a bitmask has.
    pub(crate) large: u64,
}

impl Seen {
    fn count(&mut self, builds: &Builds) {
        self.all += 1;
        self.live += u64::from(builds.live());
        self.large += u64::from(builds.large());
    }

    fn columns(&self) -> String {
        format!("{:9} {:9} {:9}", self.all, self.live, self.large)
    }
}

/// Bands of CPU numbers and counts: one word of a bitmask, then doublings.
const BANDS: [u32; 5] = [64, 128, 256, 512, 1024];

fn band(number: u32) -> usize {
    let found = BANDS.iter().position(|above| number < *above);
    found.expect("no machine has more CPUs than the core has room for")
}

/// Decisions.
pub(crate) struct Decisions {
    pub(crate) total: Seen,
    reasons: Vec<Seen>,
    /// By the last CPU of the machine.
    last: [u64; BANDS.len()],
    /// By the CPU that was chosen.
    chosen: [u64; BANDS.len()],
}

impl Decisions {
    pub(crate) fn new() -> Self {
        Self {
            total: Seen::default(),
            reasons: vec![Seen::default(); Reason::COUNT],
            last: [0; BANDS.len()],
            chosen: [0; BANDS.len()],
        }
    }

    pub(crate) fn count(&mut self, builds: &Builds) {
        let state = builds.native();
        self.total.count(builds);
        self.reasons[state.decision.reason as usize].count(builds);
        self.last[band(state.ctx.nr_cpus - 1)] += 1;
        self.chosen[band(state.decision.cpu)] += 1;
    }

    pub(crate) fn of(&self, reason: Reason) -> Seen {
        self.reasons[reason.index()]
    }

    pub(crate) fn print(&self, seed: u64) {
        let Seen { all, live, large } = self.total;
        say(&format!(
            "parity: {all} decisions, seed {seed}: native against the whole core for BPF; {live} \
             of them against WP_LIVE, too; {large} on machines of 65 to 1024 CPUs"
        ));
        say("  CPU numbers below          64       128       256       512      1024");
        for (what, counts) in [("machine's last", self.last), ("chosen", self.chosen)] {
            let counts = counts.map(|count| format!("{count:10}")).concat();
            say(&format!("  {what:18} {counts}"));
        }
        say(&format!(
            "  {:22} {:>9} {:>9} {:>9}",
            "reason", "whole", "WP_LIVE", "large"
        ));
        for reason in &Reason::ALL[1..] {
            let columns = self.of(*reason).columns();
            say(&format!("  {:22} {columns}", reason.name()));
        }
    }
}

/// How often an entry point was called, and answered with something else than 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) made: Seen,
    pub(crate) answered: u64,
}

impl Calls {
    pub(crate) fn count(&mut self, builds: &Builds, answer: u64) {
        self.made.count(builds);
        self.answered += u64::from(answer != 0);
    }
}

pub(crate) fn print_calls(count: &[Calls], seed: u64) {
    let live = called_live();
    say(&format!(
        "parity: events, seed {seed}, calls by entry point (*: the live scheduler calls it)"
    ));
    say(&format!(
        "  {:24} {:>9} {:>9} {:>9} {:>9}",
        "", "whole", "WP_LIVE", "large", "not 0"
    ));
    for (op, calls) in Op::ALL.iter().zip(count) {
        let mark = if live.contains(op.name()) { '*' } else { ' ' };
        say(&format!(
            "  {:22} {mark} {} {:9}",
            op.name(),
            calls.made.columns(),
            calls.answered
        ));
    }
}

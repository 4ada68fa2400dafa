//! Wake-ups in a kernel's trace, and how long each waited until its thread ran (docs/guide/lab.md,
//! "What a run costs").
//!
//! What must stay: waits are ns, in the order of the trace; one that has not ended counts nothing.
//! Free: how waits are paired.
//!
//! Tests by part:
//! crates/price/src/tests.rs::`an_x86_guest_is_priced_at_the_highest_operating_point`,
//! `a_job_is_priced_in_its_window` (`all`, `ns`), `percentiles_are_waits_that_were_met` (what is
//! made of waits).
//!
//! Callers: crates/price/src/lib.rs and cost.rs, crates/fidelity.
//!
//! Tests: crates/price/src/cost.rs::percentiles_are_waits_that_were_met, crates/price/src/tests.rs

use std::collections::BTreeMap;
use std::ops::Range;
use wakeplace_trace::read::Line;

/// A wake-up and the run after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The thread that was woken up.
    pub tid: i32,
    /// When.
    pub since_ns: u64,
    /// When it ran.
    until_ns: u64,
    /// And where.
    pub cpu: u32,
}

impl Wait {
    /// How long it waited.
    #[must_use]
    pub fn ns(&self) -> u64 {
        self.until_ns.saturating_sub(self.since_ns)
    }
}

/// Every wake-up in the window of a thread that is wanted, in the order in which they ran.
pub fn all(text: &str, window_ns: &Range<u64>, wanted: impl Fn(i32) -> bool) -> Vec<Wait> {
    let mut found = Vec::new();
    // Woken up, and has not run yet: since when.
    let mut woken = BTreeMap::new();
    for line in text.lines().filter_map(Line::parse) {
        let key = match line.name {
            "sched_waking" => "pid",
            "sched_switch" => "next_pid",
            _ => continue,
        };
        let Some(tid) = line.number::<i32>(key).filter(|tid| wanted(*tid)) else {
            continue;
        };
        if line.name == "sched_waking" {
            woken.insert(tid, line.time_ns);
            continue;
        }
        let since_ns = woken.remove(&tid);
        if let Some(since_ns) = since_ns.filter(|since_ns| window_ns.contains(since_ns)) {
            found.push(Wait {
                tid,
                since_ns,
                until_ns: line.time_ns,
                cpu: line.context.cpu,
            });
        }
    }
    found
}

//! The clock of a CPU's busy time (docs/guide/results.md, "Why a difference"): clock times time of
//! its domain is added up once, and a CPU takes what was added while it was busy.
//!
//! Called by `residency.rs` at each change of a CPU. Sums are kHz x ns.
//!
//! What must stay: sums are integers; a change of clock costs nothing for each CPU of the domain.
//! Tests by part: `a_cpu_takes_what_was_added_while_it_was_busy` (`settle`),
//! residency.rs::`tables_by_hand` (by events).
//!
//! Tests: below, crates/metrics/src/residency.rs::tables_by_hand

/// Clock times busy time of a CPU, kHz x ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BusyClock {
    /// Up to its last change.
    pub(crate) khz_ns: u128,
    /// The sum of its domain then.
    from: u128,
}

impl BusyClock {
    /// Its domain's sum is that now; the CPU was busy since the last change, or was not.
    pub(crate) fn settle(&mut self, now: u128, was_busy: bool) {
        if was_busy {
            self.khz_ns += now - self.from;
        }
        self.from = now;
    }
}

#[cfg(test)]
mod tests {
    use super::BusyClock;

    /// By hand: 10 ns at 3 kHz idle, 20 at 3 and 10 at 5 busy, 10 at 5 idle: 60 + 50.
    #[test]
    fn a_cpu_takes_what_was_added_while_it_was_busy() {
        let mut clock = BusyClock::default();
        clock.settle(30, false);
        clock.settle(140, true);
        clock.settle(190, false);
        assert_eq!(clock.khz_ns, 110);
    }
}

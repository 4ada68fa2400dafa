//! CPU time of a task, a share of which may wait for memory (docs/guide/workloads.md, "Work").
//!
//! Called by all models with `memory`. Integers only; parts add up to the whole exactly. Order:
//! work and stall take turns.
//!
//! What must stay: work and stall of a step sum up to its CPU time to the ns; without `memory`
//! there is one run step. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change
//! may touch"), and words of messages that no test quotes. Tests by part:
//! `pieces_add_up_to_the_whole` (`of`, `part`), kbuild.rs::`keys_say_what_programs_cost`
//! (`from_percent_e6`), aim7_compute.rs::`jobs_are_made_of_what_their_kind_says` (`work`). `sums`
//! below is the test's own.
//!
//! Tests: below, crates/workload/tests/all/kbuild.rs, crates/workload/tests/all/aim7_compute.rs
use crate::script::Event;

/// Work and waits for memory take turns in pieces of this length, so that a change of frequency or
/// a neighbour's work on the same core meets both in their shares. Assumed.
const PIECE_NS: u64 = 10_000_000;

/// The most pieces of one piece of work: longer ones are cut more coarsely.
const MAX_PIECES: u64 = 100;

/// 100 % in millionths of a percent.
const WHOLE_E6: u64 = 100_000_000;

/// A share of a whole, such as that of CPU time that waits for memory (`Event::Stall`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    percent_e6: u64,
}

impl Share {
    /// Nothing, such as: nothing waits for memory.
    pub(crate) const NONE: Self = Self { percent_e6: 0 };

    /// From millionths of a percent; None above 100 %.
    pub(crate) fn from_percent_e6(percent_e6: u64) -> Option<Self> {
        (percent_e6 <= WHOLE_E6).then_some(Self { percent_e6 })
    }

    /// That share of a whole, rounded down.
    pub(crate) fn of(self, whole: u64) -> u64 {
        let share = u128::from(whole) * u128::from(self.percent_e6) / u128::from(WHOLE_E6);
        u64::try_from(share).unwrap_or(whole)
    }
}

/// Steps of so much CPU time, on the biggest CPU at its highest frequency, of which a share waits
/// for memory.
pub(crate) fn work(cpu_ns: u64, memory: Share) -> Vec<Event> {
    let stall_ns = memory.of(cpu_ns);
    let run_ns = cpu_ns - stall_ns;
    let pieces = match stall_ns {
        0 => 1,
        _ => cpu_ns.div_ceil(PIECE_NS).clamp(1, MAX_PIECES),
    };
    let piece = |index| {
        let work_ns = part(run_ns, index, pieces);
        let cpu_ns = part(stall_ns, index, pieces);
        let run = (work_ns > 0).then_some(Event::Run { work_ns });
        let stall = (cpu_ns > 0).then_some(Event::Stall { cpu_ns });
        run.into_iter().chain(stall)
    };
    (0..pieces).flat_map(piece).collect()
}

/// One of `of` parts of a whole, equal to 1; together they are the whole.
pub(crate) fn part(whole: u64, index: u64, of: u64) -> u64 {
    let up_to = |parts: u64| u128::from(whole) * u128::from(parts) / u128::from(of.max(1));
    u64::try_from(up_to(index + 1) - up_to(index)).unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(events: &[Event]) -> (u64, u64) {
        events
            .iter()
            .fold((0, 0), |(run, stall), event| match event {
                Event::Run { work_ns } => (run + work_ns, stall),
                Event::Stall { cpu_ns } => (run, stall + cpu_ns),
                _ => panic!("{event:?}"),
            })
    }

    #[test]
    fn pieces_add_up_to_the_whole() {
        let third = Share::from_percent_e6(33_333_333).unwrap();
        // 33.333333 % of 25 ms is 8333333.25 ns.
        let events = work(25_000_001, third);
        assert_eq!(events.len(), 2 * 3, "25 ms in pieces of at most 10 ms");
        assert_eq!(sums(&events), (16_666_668, 8_333_333));
        assert_eq!(
            work(50_000_000, Share::NONE),
            [Event::Run {
                work_ns: 50_000_000
            }]
        );
        let all = Share::from_percent_e6(WHOLE_E6).unwrap();
        assert_eq!(work(7, all), [Event::Stall { cpu_ns: 7 }]);
        assert_eq!(work(1_000_000_000_000, third).len(), 200);
        assert!(work(0, third).is_empty());
        assert_eq!(Share::from_percent_e6(WHOLE_E6 + 1), None);
    }
}

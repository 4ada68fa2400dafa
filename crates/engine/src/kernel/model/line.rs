//! A cache line that many CPUs read and write (docs/rules/contended-lines.md#line-cost): who has
//! it, and until when it is on its way to somebody.
//!
//! What must stay: all times are ns, and requests are served in the order in which they are made,
//! each from the time at which the line is free. Up to 1024 CPUs fit a set. Tests by part:
//! `a_miss_takes_a_transfer_and_a_hit_nothing` (`request`),
//! `requests_are_served_one_after_the_other` and `readers_wait_less_for_each_other` (who waits),
//! `an_awaited_line_is_fetched_again_to_be_read` (`access`),
//! lines.rs::`a_waker_waits_as_its_own_run_time` (what a run makes of it),
//! `readers_wait_less_for_each_other` (`add`, `has`), all (`only`, `is_empty`); `core` is the
//! tests' own.
//!
//! Tests: below, crates/engine/tests/behaviour/lines.rs

use wakeplace_policy_sys::GroupAccesses;

/// While nobody writes, readers are served one after the other by the cache, faster than a line
/// changes hands: in so many parts of a transfer (assumed; 15 of 60 ns, of 10 to 60).
const SHARED_READS_PER_TRANSFER: u64 = 4;

/// Who asks: its core, whose threads have one copy, and the last-level cache of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) core: u32,
    pub(crate) cache: u32,
}

/// How long a transfer takes, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// Within a last-level cache.
    pub(crate) shared_ns: u64,
    /// From another one.
    pub(crate) other_ns: u64,
}

/// Numbers below 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Set([u64; 16]);

impl Set {
    /// A set of one CPU.
    fn only(number: u32) -> Self {
        let mut set = Self::default();
        set.add(number);
        set
    }

    /// The CPU has the line, too.
    fn add(&mut self, number: u32) {
        self.0[number as usize / 64 % 16] |= 1 << (number % 64);
    }

    /// Has the CPU the line?
    fn has(&self, number: u32) -> bool {
        self.0[number as usize / 64 % 16] >> (number % 64) & 1 != 0
    }

    /// Nobody has it.
    fn is_empty(&self) -> bool {
        self.0 == [0; 16]
    }
}

/// The line's state. Requests are served in the order in which they are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// Cores with a valid copy.
    copies: Set,
    /// Caches in which it is; none: nobody has asked for it yet.
    caches: Set,
    /// Its last user has written.
    modified: bool,
    /// The last request so far is served then.
    free_ns: u64,
}

impl Line {
    /// A CPU asks for the line at `at_ns`. Returns when it has read or written it.
    fn request(&mut self, from: Place, write: bool, at_ns: u64, transfer: Transfer) -> u64 {
        let alone = self.copies == Set::only(from.core);
        if alone || !write && self.copies.has(from.core) {
            self.modified |= write;
            return at_ns;
        }
        let near = if write {
            self.caches == Set::only(from.cache)
        } else {
            self.caches.has(from.cache)
        };
        let transfer_ns = match (self.caches.is_empty(), near) {
            (true, _) => 0,
            (_, true) => transfer.shared_ns,
            (_, false) => transfer.other_ns,
        };
        let occupied_ns = if write || self.modified {
            transfer_ns
        } else {
            transfer_ns / SHARED_READS_PER_TRANSFER
        };
        let begin_ns = at_ns.max(self.free_ns);
        self.free_ns = begin_ns + occupied_ns;
        self.modified = write;
        if write {
            self.copies = Set::only(from.core);
            self.caches = Set::only(from.cache);
        } else {
            self.copies.add(from.core);
            self.caches.add(from.cache);
        }
        begin_ns + transfer_ns
    }

    /// A CPU does this, writes first, from `at_ns` on. Returns when it has. A line that others
    /// waited for as well when it was written has gone on before it is read.
    pub(crate) fn access(
        &mut self,
        from: Place,
        done: GroupAccesses,
        at_ns: u64,
        transfer: Transfer,
    ) -> u64 {
        let mut at_ns = at_ns;
        for _ in 0..done.writes {
            let awaited = self.free_ns > at_ns;
            at_ns = self.request(from, true, at_ns, transfer);
            if awaited {
                self.copies = Set::default();
            }
        }
        for _ in 0..done.reads {
            at_ns = self.request(from, false, at_ns, transfer);
        }
        at_ns
    }
}

#[cfg(test)]
mod tests {
    use super::{GroupAccesses, Line, Place, Transfer};

    const COST: Transfer = Transfer {
        shared_ns: 60,
        other_ns: 150,
    };
    const WRITE: GroupAccesses = GroupAccesses {
        reads: 0,
        writes: 1,
    };
    const READ: GroupAccesses = GroupAccesses {
        reads: 1,
        writes: 0,
    };
    const BOTH: GroupAccesses = GroupAccesses {
        reads: 1,
        writes: 1,
    };

    /// Core `core` of 8 in a cache.
    fn core(core: u32) -> Place {
        let cache = core / 8;
        Place { core, cache }
    }

    /// A hit is free, a miss takes one transfer: 60 ns within a cache, 150 across.
    #[test]
    fn a_miss_takes_a_transfer_and_a_hit_nothing() {
        let mut line = Line::default();
        let mut at = |from, what, at| line.access(core(from), what, at, COST) - at;
        assert_eq!(at(0, WRITE, 0), 0, "nobody has had it");
        assert_eq!(at(0, BOTH, 1_000), 0, "its owner");
        assert_eq!(at(1, READ, 2_000), 60, "in the same cache");
        assert_eq!(at(0, READ, 3_000), 0, "both have it now");
        assert_eq!(at(0, WRITE, 4_000), 60, "the other copy goes");
        assert_eq!(at(8, READ, 5_000), 150, "in the other cache");
        assert_eq!(at(9, READ, 6_000), 60, "its own cache has it now");
        assert_eq!(at(9, WRITE, 7_000), 150, "a copy of the other cache goes");
        assert_eq!(at(9, WRITE, 8_000), 0);
    }

    /// Who comes while the line is on its way waits for its turn.
    #[test]
    fn requests_are_served_one_after_the_other() {
        let mut line = Line::default();
        let mut at = |from, what| line.access(core(from), what, 1_000, COST) - 1_000;
        assert_eq!(at(0, WRITE), 0);
        assert_eq!(at(1, WRITE), 60);
        assert_eq!(at(2, WRITE), 120);
        assert_eq!(at(8, WRITE), 270);
    }

    /// Readers of a line that nobody changes pass each other: each waits for a transfer, and the
    /// next for a quarter of it.
    #[test]
    fn readers_wait_less_for_each_other() {
        let mut line = Line::default();
        let mut at = |from, what| line.access(core(from), what, 1_000, COST) - 1_000;
        assert_eq!(at(0, WRITE), 0);
        assert_eq!(at(1, READ), 60, "what was written");
        assert_eq!(at(2, READ), 60 + 60);
        assert_eq!(at(3, READ), 60 + 15 + 60);
    }

    /// A line that others wait for has gone on before its writer reads it.
    #[test]
    fn an_awaited_line_is_fetched_again_to_be_read() {
        let mut line = Line::default();
        let mut at = |from, what| line.access(core(from), what, 1_000, COST) - 1_000;
        assert_eq!(at(0, BOTH), 0);
        assert_eq!(at(1, BOTH), 60, "nobody else waits");
        assert_eq!(at(2, BOTH), 120 + 60);
    }
}

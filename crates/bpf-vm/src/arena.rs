//! The arena: pages that programs and their loader share (kernel/bpf/arena.c).
//!
//! The loader sees it at one address, programs at another; the low 32 bits are the same.
//!
//! What must stay: pages are handed out from the lowest gap on: equal runs get equal addresses.
//! Free: how gaps are looked for.
//! Tests by part: `the_arena_is_cast_by_its_low_half` (`bases`, `mark`),
//! budget.rs::`what_was_not_handed_out_is_not_written` (`place`),
//! schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`alloc`, `room`),
//! `what_a_scheduler_does_wrong_is_named` (`alloc`: a full arena). `of`, `first`, `used`, `nr_used`
//! are looks. No test reaches `free` and `reserve`, nor `alloc` at a given address. Callers:
//! crates/foreign/src/kfuncs/objects.rs (`alloc`, `free`, `reserve`),
//! crates/foreign/src/load/bpf.rs (`of`), vm.rs (`place`, `used`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_are_the_same_twice_and_interpreted,
//! crates/cli/tests/all/schedulers.rs::what_a_scheduler_does_wrong_is_named,
//! crates/bpf-vm/tests/all/budget.rs::what_was_not_handed_out_is_not_written,
//! crates/bpf-vm/tests/all/programs.rs::the_arena_is_cast_by_its_low_half

use crate::memory::{ARENA, Memory, PAGE};
use crate::vm::ArenaBases;
use std::collections::BTreeSet;

/// Pages of an arena.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    /// Which map it is.
    pub map: Option<usize>,
    /// Where the loader has it.
    pub user: u64,
    /// Most pages.
    pub pages: u64,
    /// Pages in use, by their number in the 4 GiB window.
    used: BTreeSet<u64>,
}

impl Arena {
    /// The arena of a map, not placed yet.
    #[must_use]
    pub fn of(map: usize, pages: u64) -> Self {
        Self {
            map: Some(map),
            pages,
            ..Self::default()
        }
    }

    /// What programs' addresses are made of.
    #[inline]
    pub(crate) fn bases(&self) -> ArenaBases {
        let first_in_use = self.used.first() == Some(&0);
        ArenaBases {
            user: self.user & !0xffff_ffff,
            first: if first_in_use { ARENA } else { 0 },
        }
    }

    /// Where programs see it, and its bytes; None: there is none.
    pub(crate) fn place(&self) -> Option<(u64, u64)> {
        self.map?;
        let (from, bytes) = (self.first() * PAGE, self.pages * PAGE);
        (from + bytes <= 1 << 32).then_some((ARENA + from, bytes))
    }

    /// The first page's number.
    fn first(&self) -> u64 {
        (self.user & 0xffff_ffff) / PAGE
    }

    /// Numbers of the pages in use.
    #[must_use]
    pub fn used(&self) -> Vec<u64> {
        self.used.iter().copied().collect()
    }

    /// How many they are.
    #[must_use]
    pub fn nr_used(&self) -> u64 {
        self.used.len() as u64
    }

    /// Pages, counted from the start of the arena, have something in them.
    pub fn mark(&mut self, pages: impl Iterator<Item = u64>) {
        let first = self.first();
        self.used.extend(pages.map(|page| first + page));
    }

    /// Hands out `count` pages at `at` (a loader's address) or, if that is 0, where there is room.
    /// They are zeroed. Returns where they begin, as the loader has it; 0: there is no room. For
    /// `bpf_arena_alloc_pages` of programs, and for masks of cids (both in crates/foreign).
    pub fn alloc(&mut self, memory: &mut Memory, at: u64, count: u64) -> u64 {
        let (first, end) = (self.first(), self.first() + self.pages);
        if count == 0 || count > self.pages {
            return 0;
        }
        let fits = |from: u64| {
            from >= first
                && from + count <= end
                && self.used.range(from..from + count).next().is_none()
        };
        let from = match at {
            0 => self.room(first, end, count),
            at => Some((at & 0xffff_ffff) / PAGE).filter(|from| fits(*from)),
        };
        let Some(from) = from else {
            return 0;
        };
        memory.set_arena(self.place());
        for page in from..from + count {
            self.used.insert(page);
            if let Ok(bytes) = memory.bytes_mut(ARENA + page * PAGE, PAGE) {
                bytes.fill(0);
            }
        }
        (self.user & !0xffff_ffff) | (from * PAGE)
    }

    /// The first gap that is long enough. Page 0 of the window is not handed out: its address would
    /// be a null pointer to programs that look at it as the loader has it.
    fn room(&self, first: u64, end: u64, count: u64) -> Option<u64> {
        let mut from = first.max(1);
        for page in self.used.range(from..end) {
            if *page >= from + count {
                break;
            }
            from = page + 1;
        }
        (from + count <= end).then_some(from)
    }

    /// Sets pages aside: nobody gets them. False: some are in use.
    pub fn reserve(&mut self, at: u64, count: u64) -> bool {
        let from = (at & 0xffff_ffff) / PAGE;
        let end = from.saturating_add(count);
        let inside = from >= self.first() && end <= self.first() + self.pages;
        if !inside || self.used.range(from..end).next().is_some() {
            return false;
        }
        self.used.extend(from..end);
        true
    }

    /// Takes `count` pages from address `at` on back from a program.
    pub fn free(&mut self, at: u64, count: u64) {
        let from = (at & 0xffff_ffff) / PAGE;
        for page in from..from.saturating_add(count.min(self.pages)) {
            self.used.remove(&page);
        }
    }
}

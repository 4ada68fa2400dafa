//! The counters of the capacity-aware series: placements by the sizes of the task, its previous CPU
//! and the waker's, and by which way the choice went (docs/rules/capacity-aware.md#wakeup-cases;
//! docs/rules/capacity-aware.md#patch-by-patch).
//!
//! Made by `collector.rs`; the engine tells cases only if it is asked to. Which case a wake-up is
//! comes from the core.
//!
//! What must stay: numbers 1 to 8, and names and order of the counters: they are those of the
//! series, and columns of `--export-wakeup-cases`. A placement that neither path decided is in
//! `other` alone. A run that was not asked has no such metric. Free: what leaves every figure as it
//! is (ARCHITECTURE.md, "What a change may touch"). Tests by part: `sizes_of_the_cases` (`sizes`),
//! `sums` (`sum`, `add`),
//! crates/cli/tests/all/wakeup_cases.rs::`invariants_of_the_published_tables` (`count`),
//! wakeup_cases.rs::`csv_and_the_run_itself` (`NAMES`, `report`, `told`), both of the latter
//! (`happened`, `wakeup_case`, `values`, `cases`).
//!
//! Callers: crates/report/src/case_table.rs (`sizes`), crates/report/src/html/cases.rs (`sizes`),
//! crates/report/src/wakeup_cases.rs (`sizes`).
//!
//! Tests: below, crates/cli/tests/all/wakeup_cases.rs

use crate::metric::Values;
use wakeplace_engine::observe::WakeupCase;
use wakeplace_engine::{Happening, Observer};

/// Placements of one case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseCounts {
    /// The new CPU is little.
    pub little: u64,
    /// The new CPU is big.
    pub big: u64,
    /// Chosen by `select_idle_sibling`, the fast path.
    pub sis: u64,
    /// Chosen by `find_idlest_group` and `_cpu`, the slow path.
    pub figc: u64,
    /// Of the slow path: `wake_wide` was true.
    pub ww: u64,
    /// Of the slow path: wake-ups; the others are forks and execs.
    pub bw: u64,
    /// Neither path decided: affinity, energy, another class. In none of the other columns.
    pub other: u64,
}

impl CaseCounts {
    /// Names of the counters, as the series has them, and the last.
    pub const NAMES: [&'static str; 7] = ["little", "big", "sis", "figc", "ww", "bw", "other"];

    /// The counters in the order of [`CaseCounts::NAMES`].
    #[must_use]
    pub fn values(&self) -> [u64; 7] {
        [
            self.little,
            self.big,
            self.sis,
            self.figc,
            self.ww,
            self.bw,
            self.other,
        ]
    }

    /// Counts one placement: by the CPU's size, by fast or slow path, and of the slow one by wide
    /// and by wake-up.
    fn count(&mut self, case: WakeupCase) {
        if !case.fast() && !case.slow() {
            self.other += 1;
            return;
        }
        let slow = case.slow();
        *(if case.cpu_big() {
            &mut self.big
        } else {
            &mut self.little
        }) += 1;
        *(if slow { &mut self.figc } else { &mut self.sis }) += 1;
        self.ww += u64::from(slow && case.wide());
        self.bw += u64::from(slow && case.wake());
    }

    /// Adds the counts of another case, counter by counter.
    fn add(&mut self, other: &CaseCounts) {
        self.little += other.little;
        self.big += other.big;
        self.sis += other.sis;
        self.figc += other.figc;
        self.ww += other.ww;
        self.bw += other.bw;
        self.other += other.other;
    }
}

/// Counts of the eight cases of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WakeupCases {
    cases: [CaseCounts; WakeupCase::COUNT],
    told: bool,
}

impl WakeupCases {
    /// The counts of cases 1 to 8.
    #[must_use]
    pub fn cases(&self) -> &[CaseCounts; WakeupCase::COUNT] {
        &self.cases
    }

    /// The sum of all cases.
    #[must_use]
    pub fn sum(&self) -> CaseCounts {
        let mut sum = CaseCounts::default();
        self.cases.iter().for_each(|case| sum.add(case));
        sum
    }

    /// What case number 1 to 8 is about: sizes of the task, the previous CPU and the waker's.
    #[must_use]
    pub fn sizes(number: usize) -> [&'static str; 3] {
        [4, 2, 1].map(|bit| match (number - 1) & bit {
            0 => "little",
            _ => "big",
        })
    }

    /// Enters the metrics, if the engine was asked to tell.
    pub(crate) fn report(&self, values: &mut Values) {
        if !self.told {
            return;
        }
        let mut enter = |case: &str, counts: &CaseCounts| {
            for (name, count) in CaseCounts::NAMES.into_iter().zip(counts.values()) {
                values.count(&format!("wakeup_{case}_{name}_total"), count);
            }
        };
        for (at, counts) in self.cases.iter().enumerate() {
            enter(&format!("case{}", at + 1), counts);
        }
        enter("cases", &self.sum());
    }
}

impl Observer for WakeupCases {
    /// Only what the engine tells of cases.
    #[inline(always)]
    fn happened(&mut self, _: u64, what: &Happening) {
        if let Happening::WakeupCase(it) = *what {
            self.wakeup_case(it);
        }
    }
}

impl WakeupCases {
    /// Counts under the case's number.
    fn wakeup_case(&mut self, case: WakeupCase) {
        self.told = true;
        self.cases[case.index()].count(case);
    }
}

#[cfg(test)]
mod tests {
    use super::{CaseCounts, WakeupCases};

    /// Goal: the eight cases are numbered as published. Source:
    /// docs/rules/capacity-aware.md#wakeup-cases, table.
    #[test]
    fn sizes_of_the_cases() {
        let published = [
            ["little", "little", "little"],
            ["little", "little", "big"],
            ["little", "big", "little"],
            ["little", "big", "big"],
            ["big", "little", "little"],
            ["big", "little", "big"],
            ["big", "big", "little"],
            ["big", "big", "big"],
        ];
        for (at, sizes) in published.into_iter().enumerate() {
            assert_eq!(WakeupCases::sizes(at + 1), sizes, "case {}", at + 1);
        }
    }

    /// Goal: sums add every column. Source: arithmetic, powers of ten.
    #[test]
    fn sums() {
        let counts = CaseCounts {
            little: 1,
            big: 10,
            sis: 100,
            figc: 1_000,
            ww: 10_000,
            bw: 100_000,
            other: 1_000_000,
        };
        let mut cases = WakeupCases::default();
        cases.cases[0] = counts;
        cases.cases[7] = counts;
        let doubled = counts.values().map(|v| 2 * v);
        assert_eq!(cases.sum().values(), doubled);
    }
}

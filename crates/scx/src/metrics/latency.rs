// SPDX-License-Identifier: GPL-2.0-only
//! The kernel side's histograms of times (the core's `wp_time_bucket`): four buckets per power of
//! two of ns (docs/guide/live.md, "Watch").
//!
//! What must stay: buckets are those of `wp_time_bucket`: four per power of two, ns. A share is an
//! upper bound. Free: how buckets are walked.
//!
//! Tests by part: `every_bucket_ends_where_the_next_begins` (`upper_ns`, against the core's own),
//! `shares_at_the_edges` (`share_ns`, `figures_us`, `Histogram::new`),
//! crates/scx/src/metrics/tests.rs::`buckets_are_cumulative_and_exact` (`counts`).
//!
//! Callers: crates/scx/src/metrics.rs, metrics/openmetrics.rs (`counts`).
//!
//! Tests: below

use std::collections::BTreeMap;

/// Buckets of the kernel side.
pub(crate) const BUCKETS: usize = 256;

/// Shares of all that was counted with their names, permille.
const FIGURES: [(&str, u64); 4] = [("p50", 500), ("p95", 950), ("p99", 990), ("max", 1000)];

/// Largest time that a bucket counts, ns. From 4 ns on a power of two has four buckets, each a
/// quarter of it wide.
pub(crate) fn upper_ns(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 4 {
        return bucket;
    }
    let shift = bucket / 4 - 1;
    let quarters = 4 + bucket % 4;
    if shift > 61 {
        return u64::MAX; // beyond the last that 64 bits of ns can reach
    }
    (quarters << shift) + ((1 << shift) - 1)
}

/// How often each time occurred.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// `count`: of each bucket.
    pub(crate) fn new(count: impl Fn(usize) -> u64) -> Self {
        let counts: Vec<u64> = (0..BUCKETS).map(count).collect();
        let total = counts.iter().sum();
        Self { counts, total }
    }

    /// Upper bound of the bucket where this share of all is reached; `None` without any.
    pub(crate) fn share_ns(&self, permille: u64) -> Option<u64> {
        let rank = u128::from(self.total) * u128::from(permille);
        let rank = rank.div_ceil(1000).max(1);
        let mut reached = 0;
        let bucket = self.counts.iter().position(|count| {
            reached += u128::from(*count);
            reached >= rank
        });
        bucket.map(upper_ns)
    }

    /// The usual shares by name, us; empty if nothing was counted.
    pub(crate) fn figures_us(&self) -> BTreeMap<String, f64> {
        let figure = |(name, permille): &(&str, u64)| {
            Some(((*name).to_owned(), self.share_ns(*permille)? as f64 / 1e3))
        };
        FIGURES.iter().filter_map(figure).collect()
    }

    /// Largest ns of each bucket that is not empty, and its count.
    pub(crate) fn counts(&self) -> BTreeMap<u64, u64> {
        let counts = self.counts.iter().enumerate().filter(|(_, n)| **n > 0);
        counts.map(|(bucket, n)| (upper_ns(bucket), *n)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeplace_policy_sys::time_bucket;

    #[test]
    fn every_bucket_ends_where_the_next_begins() {
        for bucket in 0..251 {
            let upper = upper_ns(bucket);
            assert_eq!(time_bucket(upper), bucket, "{upper} ns");
            assert_eq!(time_bucket(upper + 1), bucket + 1, "{upper} + 1 ns");
        }
        assert_eq!((upper_ns(251), time_bucket(u64::MAX)), (u64::MAX, 251));
        assert_eq!(upper_ns(255), u64::MAX);
    }

    #[test]
    fn shares_at_the_edges() {
        let of = |filled: &[(usize, u64)]| {
            Histogram::new(|b| {
                filled
                    .iter()
                    .find(|(at, _)| *at == b)
                    .map_or(0, |(_, n)| *n)
            })
        };
        assert_eq!(of(&[]).share_ns(500), None);
        assert!(of(&[]).figures_us().is_empty());
        // One wake-up is every share.
        let one = of(&[(8, 1)]);
        assert_eq!([500, 950, 1000].map(|p| one.share_ns(p)), [Some(9); 3]);
        // 100 wake-ups: the 50th is the last of the first bucket, the 51st is in the second.
        let half = of(&[(0, 50), (8, 50)]);
        assert_eq!((half.share_ns(500), half.share_ns(501)), (Some(0), Some(9)));
        // 1 of 100: the 99th is still fast, only the maximum is not.
        let rare = of(&[(0, 99), (251, 1)]);
        assert_eq!(
            (rare.share_ns(990), rare.share_ns(1000)),
            (Some(0), Some(u64::MAX))
        );
        // 2 of 100: the 99th is slow.
        assert_eq!(of(&[(0, 98), (12, 2)]).share_ns(990), Some(19));
    }
}

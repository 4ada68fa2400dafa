//! What moves cost by what is shared, of one platform (docs/guide/platforms.md, "What the words
//! mean"; docs/decisions/060).
//!
//! Called for the page of `platform show`; no program reads it, and words are free.
//!
//! What must stay: keys are those of `platform_json::lines`; a key that is not known here counts as
//! another node. Times are ns in the model. Tests by part:
//! crates/cli/tests/all/results.rs::`clocks_points_and_moves_are_shown` (`sentences`). No test of
//! its own: caches.
//!
//! Tests: crates/cli/tests/all/results.rs::clocks_points_and_moves_are_shown

use super::platform_json::lines;
use crate::text::time;
use wakeplace_platform::Platform;

/// What lines take by the closest that CPUs share, and the last-level caches.
pub(super) fn sentences(platform: &Platform) -> Vec<String> {
    let transfers = platform.transfer.as_ref().map(|transfer| {
        let line = |(key, ns): (&str, u64)| {
            let shared = match key {
                "smt_ns" => "core",
                "cluster_ns" => "cluster",
                "cache_ns" => "last-level cache",
                "node_ns" => "node",
                _ => "another node",
            };
            format!("{shared} {}", time(ns))
        };
        let all = lines(transfer);
        let all: Vec<String> = all.into_iter().map(line).collect();
        format!("A cache line of another CPU: {}.", all.join(", "))
    });
    let caches = platform.cache.as_ref().map(|cache| {
        format!(
            "Last-level caches: {} KiB, a line {}, one of memory {}.",
            cache.last_level_kib,
            time(cache.hit_ns),
            time(cache.memory_ns)
        )
    });
    transfers.into_iter().chain(caches).collect()
}

//! What moves cost by what is shared (`[transfer]`, `[cache]`), where it is assumed
//! (docs/guide/platforms.md, "What is assumed everywhere, and how").
//!
//! Called by `assumed.rs`. Times are ns.
//!
//! What must stay: a cost's name is its key in the platform file, as results and studies have it;
//! after a change memory is no nearer than the cache (`read/transfer.rs` refuses that). Free: what
//! leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `every_built_in_platform_stays_valid_in_its_order`
//! (`lines`, `add_moves`, `change_line`, `change_cache`: each changes the machine). `assumed` by
//! `an_assumed_table_is_its_figures_and_published_ones_are_none`. No test compares the times
//! themselves.
//!
//! Tests: crates/platform/src/assumed/tests.rs

use super::{AssumedCost, Factor, What, cost};
use crate::{Coherence, LineTime, Platform, Source, Standing, Transfer};

/// Nobody published or derived the table: its figures may be varied.
fn assumed(source: &Source) -> bool {
    source.standing == Standing::Assumed
}

/// The times of a line by their keys, those that the machine has.
fn lines(transfer: &mut Transfer) -> impl Iterator<Item = (&'static str, &mut u64)> {
    let all = [
        ("smt_ns", &mut transfer.smt_ns),
        ("cluster_ns", &mut transfer.cluster_ns),
        ("cache_ns", &mut transfer.cache_ns),
        ("node_ns", &mut transfer.node_ns),
        ("other_node_ns", &mut transfer.other_node_ns),
    ];
    all.into_iter()
        .filter_map(|(key, ns)| Some((key, ns.as_mut()?)))
}

/// The times of a kernel's own lines by their keys.
fn line_times(coherence: &mut Coherence) -> [(&'static str, &mut LineTime); 3] {
    [
        ("coherence near_ns", &mut coherence.near),
        ("coherence far_ns", &mut coherence.far),
        ("coherence clean_ns", &mut coherence.clean),
    ]
}

impl Platform {
    /// The assumed times of lines and caches.
    pub(super) fn add_moves(&self, found: &mut Vec<AssumedCost>) {
        let transfer = self.transfer.as_ref().filter(|t| assumed(&t.source));
        if let Some(mut transfer) = transfer.cloned() {
            for (key, ns) in lines(&mut transfer) {
                found.extend(cost(key, "ns", &[*ns], What::Line(key)));
            }
        }
        if let Some(cache) = self.cache.as_ref().filter(|c| assumed(&c.source)) {
            for (key, ns) in [("hit_ns", cache.hit_ns), ("memory_ns", cache.memory_ns)] {
                found.extend(cost(key, "ns", &[ns], What::Cache(key)));
            }
        }
        let coherence = self.coherence.as_ref().filter(|c| assumed(&c.source));
        if let Some(mut coherence) = coherence.cloned() {
            for (key, time) in line_times(&mut coherence) {
                found.extend(cost(key, "ns", &[time.ns], What::Coherence(key)));
            }
        }
    }

    /// Changes the time of one level of nearness, if the machine has it.
    pub(super) fn change_line(&mut self, changed: &str, factor: Factor) {
        let transfer = self.transfer.iter_mut().flat_map(lines);
        for (_, ns) in transfer.filter(|(key, _)| *key == changed) {
            *ns = factor.of(*ns);
        }
    }

    /// A time of the kernel's own lines goes to the end of its range.
    pub(super) fn change_coherence(&mut self, changed: &str, factor: Factor) {
        let times = self.coherence.iter_mut().flat_map(line_times);
        for (_, time) in times.filter(|(key, _)| *key == changed) {
            time.ns = match factor {
                Factor::Half => time.least_ns,
                Factor::Double => time.most_ns,
            };
        }
    }

    /// Memory stays at least as far as the cache.
    pub(super) fn change_cache(&mut self, changed: &str, factor: Factor) {
        let Some(cache) = &mut self.cache else { return };
        match changed {
            "hit_ns" => cache.hit_ns = factor.of(cache.hit_ns).min(cache.memory_ns),
            _ => cache.memory_ns = factor.of(cache.memory_ns).max(cache.hit_ns),
        }
    }
}

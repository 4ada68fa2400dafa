//! `sysbench-memory`: threads that write a block of memory from its beginning to its end, over and
//! over: one block for all, or one each (docs/guide/workloads.md).
//!
//! Called by `models/mod.rs` for its name. What a block costs is `rtapp/memory.rs`' assumed figure;
//! whose block it is decides what a move costs (docs/decisions/060).
//!
//! What must stay: with one block for all, threads share one set of memory; with one each, every
//! thread has a set of its own. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `the_scope_says_whose_the_block_is` (`load`, `expand`).
//!
//! Tests: below
use super::sysbench::{CLAIM, Common, REQUESTS, START, THREADS, TIME, VERSION};
use super::tasks::endless;
use super::values::Values;
use super::working_set::MAX_KIB;
use super::{Model, ModelInfo, parameters};
use crate::error::WorkloadError;
use crate::rtapp::from_last_level_cache;
use crate::script::{SharedSet, TaskScript, Workload};
use crate::{Attributes, MachineFacts, WorkingSet};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "sysbench-memory",
    also: &["memory", "stream", "shared-memory"],
    summary: "threads that write a block of memory over and over, one for all or one each",
    parameters: parameters! {
        THREADS; REQUESTS; TIME; VERSION;
        "block_kib", "1..=16777216", "1024",
            "size of a block, KiB (--memory-block-size, 1 KiB there); an event writes it once: per \
             byte 16 ps of work and 34 ps of waiting for the last-level cache (assumed)";
        "scope", "global or local", "global",
            "global: all threads write one block; local: each has its own (--memory-scope)";
        CLAIM; START;
    },
    metric: "events_total",
    source: "sysbench 1.0.20, memory test: --memory-oper=write, sequential; costs of \
             docs/decisions/023",
};

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SysbenchMemory {
    common: Common,
    bytes: u64,
    global: bool,
}

/// Reads `sysbench-memory:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    Ok(Arc::new(SysbenchMemory {
        common: Common::read(&values)?,
        bytes: 1024 * values.number("block_kib", 1..=MAX_KIB)?,
        global: values.word("scope", [("global", true), ("local", false)])?,
    }))
}

impl Model for SysbenchMemory {
    /// The scripts: threads that go over one block, or one each.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let bytes = self.bytes;
        let mut frame = self.common.frame(argument, seed);
        let set = match self.global {
            true => {
                let name = "the block".to_owned();
                let set = frame.builder.shared_set(SharedSet { name, bytes });
                WorkingSet::Shared { set }
            }
            false => WorkingSet::Own { bytes },
        };
        let block = from_last_level_cache(bytes);
        Ok(frame.finish(|name, frame| TaskScript {
            attributes: Attributes {
                working_set: Some(set),
                ..Attributes::default()
            },
            ..endless(name, [&frame.before[..], &block, &frame.after].concat())
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::{LoadOptions, MachineFacts, Spec, WorkingSet};

    /// One block for all is one set; else each has its own of that size.
    #[test]
    fn the_scope_says_whose_the_block_is() {
        let expanded = |argument: &str| {
            let spec = Spec::parse(argument, &LoadOptions::default()).unwrap();
            spec.expand(1, MachineFacts::alike(4)).unwrap()
        };
        let global = expanded("sysbench-memory:threads=2,block_kib=3");
        assert_eq!(global.shared.sets[0].bytes, 3072);
        let sets = global.tasks.iter().map(|task| task.attributes.working_set);
        let shared = Some(WorkingSet::Shared { set: 0 });
        assert_eq!(sets.collect::<Vec<_>>(), [shared, shared]);
        let local = expanded("sysbench-memory:threads=1,block_kib=3,scope=local");
        assert!(local.shared.sets.is_empty());
        let own = Some(WorkingSet::Own { bytes: 3072 });
        assert_eq!(local.tasks[0].attributes.working_set, own);
    }
}

//! A finished cell on its way from a worker to the process that writes the store: a dict of plain
//! values, which any executor can carry (docs/guide/python.md, "Sweeps, and who runs them").
//!
//! Callers: sweep.rs, on both sides of an executor (`of` in `run_cells`, `done` in `commit`).
//!
//! What must stay: values are plain, as any executor must carry them; `of` and `done` have the same
//! fields, or a cell would lose one on its way; check.rs of the store compares all of them. Free:
//! the names of the fields, in `of` and `done` alike. Tests by part:
//! `test_any_executor_gives_the_same` (`of`, `done`), `test_another_file_at_a_worker_is_found`
//! (`key`).
//!
//! Tests: crates/python/tests/test_executors.py

use pyo3::prelude::*;
use std::collections::BTreeMap;
use wakeplace_store::Done;
use wakeplace_study::RunRecord;

/// All of a [`Done`].
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Row {
    cell: usize,
    point: usize,
    key: String,
    labels: Vec<(String, String)>,
    platform: String,
    platform_hash: String,
    workload: String,
    workload_hash: String,
    policy: String,
    settings: String,
    options: String,
    jitter: String,
    duration_ns: u64,
    seed: u64,
    event_hash: String,
    behaviour_hash: String,
    error: String,
    metrics: BTreeMap<String, f64>,
}

impl Row {
    /// The row of a finished cell, for the way to another process.
    pub(crate) fn of(done: Done) -> Self {
        let record = done.record;
        Self {
            cell: done.cell,
            point: done.point,
            key: done.key,
            labels: record.labels,
            platform: record.platform,
            platform_hash: record.platform_hash,
            workload: record.workload,
            workload_hash: record.workload_hash,
            policy: record.policy,
            settings: record.settings,
            options: record.options,
            jitter: record.jitter,
            duration_ns: record.duration_ns,
            seed: record.seed,
            event_hash: record.event_hash,
            behaviour_hash: record.behaviour_hash,
            error: record.error,
            metrics: record.metrics,
        }
    }

    /// Back from it; `of` and this one have the same fields.
    pub(crate) fn done(self) -> Done {
        Done {
            cell: self.cell,
            point: self.point,
            key: self.key,
            record: RunRecord {
                labels: self.labels,
                platform: self.platform,
                platform_hash: self.platform_hash,
                workload: self.workload,
                workload_hash: self.workload_hash,
                policy: self.policy,
                settings: self.settings,
                options: self.options,
                jitter: self.jitter,
                duration_ns: self.duration_ns,
                seed: self.seed,
                event_hash: self.event_hash,
                behaviour_hash: self.behaviour_hash,
                error: self.error,
                metrics: self.metrics,
                ..RunRecord::default()
            },
        }
    }
}

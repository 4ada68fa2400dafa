//! Runs kept: tables of them as Parquet, and a store from which a sweep goes on after a kill.
//!
//! A store is one SQLite file with the runs of one sweep. Cells are claimed in chunks by leases,
//! which end with their owner, and committed in batches at most 500 ms apart. Several processes
//! of one machine may work on one store.
//!
//! A store may come from anybody. [`Store::open`] believes nothing of it but the figures of runs:
//! `place` looks at what stands where the file should be, `guard` bounds what SQLite may do with
//! it, and `check` compares all that it holds with what the sweep says.
//!
//! What must stay: a store believes nothing of a file but the figures of runs; the order place,
//! guard, check, as each makes the next one safe. Tests by part:
//! names.rs::`a_journal_removes_no_file` (place before SQLite),
//! forged.rs::`a_store_has_the_runs_that_its_cells_are` (all three let a sound store pass).
//!
//! Tests: crates/store/tests/all, beside its modules

mod check;
mod db;
mod differs;
mod error;
mod grow;
mod guard;
mod leases;
mod open;
mod owner;
mod parquet;
mod place;
mod read;
mod row;
mod sweep;

pub use db::{Definition, Done, Store};
pub use error::StoreError;
pub use parquet::{ParquetRuns, write_parquet};
pub use sweep::{Progress, Summary, run, run_cell};

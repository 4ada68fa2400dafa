//! Runs kept: tables of them as Parquet, and a store from which a sweep goes on after a kill.
//!
//! A store is one SQLite file with the runs of one sweep. Cells are claimed in chunks by leases,
//! which end with their owner, and committed in batches at most 500 ms apart. Several processes
//! of one machine may work on one store.

mod db;
mod error;
mod owner;
mod parquet;
mod read;
mod sweep;

pub use db::{Definition, Done, Store};
pub use error::StoreError;
pub use parquet::{ParquetRuns, write_parquet};
pub use sweep::{Progress, Summary, run, run_cell};

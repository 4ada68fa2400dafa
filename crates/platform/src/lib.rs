//! Machines: the model, its TOML files and their validation (docs/guide/platforms.md).
//!
//! A platform is one TOML file. `Platform::from_toml` reads and validates it, `Platform::load` also
//! finds built-in ones by name. What comes out satisfies every rule of `read`, so that the crates
//! above need no checks of their own.
//!
//! What must stay: `MAX_CPUS` is the policy core's own limit; what this crate gives out satisfies
//! every rule of `read`. Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! bad_files.rs::`cpus_and_clusters` (`MAX_CPUS`), hostile.rs::`a_huge_file_is_refused_unread`
//! (`MAX_FILE_BYTES`), hostile.rs::`mutated_files_never_panic` (any text).
//!
//! Tests: crates/platform/tests/all, beside its modules

mod arch;
mod assumed;
mod builtin;
mod coherence;
pub mod cpu_list;
mod error;
pub mod fdt;
pub mod form;
mod given;
mod groups;
mod housekeeping;
pub mod import;
mod known;
mod measured;
pub mod model;
pub mod numa;
mod read;
pub mod sysfs;

pub use assumed::{AssumedCost, Factor};
pub use builtin::{builtin_names, other_names};
pub use coherence::{Coherence, LineTime, LinesAndMoves, Transfer};
pub use cpu_list::{CpuListError, parse_cpu_list};
pub use error::PlatformError;
pub use groups::CpuGroup;
pub use housekeeping::{Housekeeping, HousekeepingThread};
pub use known::Known;
pub use measured::{MeasuredPoint, MeasuredPower, OtherClock};
pub use model::*;

/// Most CPUs a platform may have; the policy core's native limit.
pub const MAX_CPUS: usize = 1024;

/// Largest platform file that is read, bytes.
pub const MAX_FILE_BYTES: usize = 4 << 20;

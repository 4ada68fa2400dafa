//! What is fetched from Debian's archive, and where it is kept: a private tree for apt ([`apt`]),
//! whose mirror is this machine's own ([`sources`]), and a folder below the user's cache
//! ([`Cache`]). Nothing needs root, and nothing of the machine's own state is read or changed
//! (docs/guide/lab.md, docs/guide/kernel.md).
//!
//! What must stay: nothing is fetched that was not named, and what is kept is whole.
//!
//! Callers: crates/lab and crates/kernel-tree; `Watch` is implemented by whoever shows steps
//! (crates/cli).
//!
//! Tests: beside its modules

pub mod apt;
mod cache;
mod error;
pub mod program;
pub mod sources;

pub use cache::{Cache, Lock, age, install};
pub use error::ArchiveError;

/// What is said while another process holds the cache.
pub const WAITING: &str = "waiting for another run that fetches";

/// Follows what takes time, for whoever waits.
pub trait Watch {
    /// Something that takes time begins.
    fn step(&self, what: &str);
    /// Something that the user should know; it stops nothing.
    fn remark(&self, what: &str);
}

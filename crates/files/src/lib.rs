//! Writes files so that a reader finds the old one or the new one, whole, whatever happens.
//!
//! A file is written as a draft beside its place, synced, renamed to its place, and the folder is
//! synced ([`Place`]). Files that belong together fill a folder beside their place, which is then
//! exchanged with the old one ([`FileSet`]). Drafts are held under flock by their writer: the next
//! process that writes in the same folder removes those that nobody holds any more.
//!
//! What must stay: the promise of docs/guide/traces.md ("What is promised of files"): each file
//! that the guide names is written by this crate. Errors name the place and whose fault it is.
//! Tests by part: crates/cli/tests/all/faults/mod.rs::`files_of_a_run` (files),
//! faults/mod.rs::`tables_change_as_one` (sets),
//! faults/leftovers.rs::`only_the_drafts_of_the_dead_go` (drafts).
//!
//! Tests: crates/cli/tests/all/faults, beside its modules

mod behind;
mod draft;
mod drafts;
mod elsewhere;
mod error;
mod names;
mod place;
mod set;
mod swap;

pub use behind::WriteBehind;
pub use draft::Scratch;
pub use drafts::abandon;
pub use elsewhere::{Desk, Reply, Request, write_elsewhere};
pub use error::{Fault, Told, WriteError, fault};
pub use names::{Names, Part};
pub use place::{Place, write};
pub use set::{FileSet, install};

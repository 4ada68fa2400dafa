//! A kernel tree's own scheduler, from a name to functions that can be called.
//!
//! A name ([`Spec`]) says where the tree comes from: a version of Debian's package archive, a
//! folder, or a revision of its git history. What is fetched is kept in the user's cache, and only
//! what the build reads. The tree is built by its own Kbuild, with the architecture and the other
//! files of `crates/kernel-shim` ([`build`]), and never written to. Built objects are kept by the
//! content of all that went into them, and loaded by dlopen ([`Kernel`]). See docs/guide/kernel.md.
//!
//! What must stay: trees are never written to; what is fetched was named by the user. Free: what is
//! re-exported, as long as its callers build.
//!
//! Tests by part: crates/cli/tests/all/kernel.rs::`the_list_says_what_is_here_without_an_archive`
//! (`cache`, `kept`).
//!
//! Callers: crates/cli/src/commands/kernel.rs (`cache`, `kept`), doctor.rs (`kept`),
//! crates/kernel-run.
//!
//! Tests: crates/kernel-tree/tests/all, beside its modules

mod builds;
mod compile;
mod config;
mod content;
pub mod doctor;
mod error;
mod git;
mod kept;
pub mod kernel;
mod messages;
mod offers;
mod overlay;
mod shim;
mod spec;
mod store;
mod tools;
mod tree;
mod unpack;
mod version;
mod wanted;

pub use builds::{Arch, Like, Request, build};
pub use error::{Class, TreeError};
pub use kept::Kept;
pub use kernel::Kernel;
pub use offers::{Kind, Offer, Offers};
pub use shim::Shim;
pub use spec::{PREFIX, Source, Spec};
pub use store::{Built, list as built};
pub use tools::check as check_tools;
pub use version::Version;
pub use wakeplace_archive::{Cache, Watch};

/// The folder of kernels below the user's cache: `WAKEPLACE_KERNEL_CACHE`, or `wakeplace/kernel`
/// in the folder of caches.
///
/// # Errors
/// When no folder can be named or made.
pub fn cache() -> Result<Cache, TreeError> {
    Ok(Cache::of_user("kernel")?)
}

/// The versions whose sources are in the cache, the newest last.
#[must_use]
pub fn kept(cache: &Cache, shim: &Shim) -> Vec<Kept> {
    let wanted = &shim.wanted();
    kept::Trees { cache, wanted }.kept()
}

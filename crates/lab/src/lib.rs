//! The lab: boots a real kernel in QEMU with a modelled topology and runs programs in it. The
//! kernel is Debian's, or an image of the user's ([`Own`]).
//!
//! Nothing needs root or hardware virtualisation, and nothing on the host changes: kernels, the
//! emulator and the guest's programs are fetched by name into the user's cache (`crates/archive`),
//! a kernel's type information is checked before it is used ([`kernels`]), and what the guest did
//! comes back as files ([`run`]). A guest that ran under another scheduler than the one asked for
//! is an error, never a result ([`outcome`]).

mod arch;
mod bootable;
mod console;
mod cpio;
mod devicetree;
mod elf;
mod error;
mod guest;
mod guest_bin;
mod image;
mod initramfs;
pub mod kernels;
pub mod machine;
mod modules;
pub mod outcome;
mod own;
pub mod packages;
mod qemu;
pub mod run;
pub mod scheduler;
mod smp;
pub mod workload;

pub use arch::Arch;
pub use bootable::Origin;
pub use error::{Class, LabError, Tried};
pub use own::{Choice, Own};
pub use wakeplace_archive::{Cache, Watch};

use wakeplace_archive::apt::{AptTree, Selection};

/// Where kernels that take schedulers are, and programs of the same age.
const SUITES: [&str; 2] = ["trixie", "trixie-backports"];

/// The folder of the lab below the user's cache.
///
/// # Errors
/// When no folder can be named or made.
pub fn cache() -> Result<Cache, LabError> {
    Ok(Cache::of_user("lab")?)
}

/// The packages for guests of an architecture.
fn apt(cache: &Cache, arch: Arch) -> Result<AptTree, LabError> {
    let selection = Selection {
        folder: arch.debian().to_owned(),
        arch: arch.debian(),
        suites: &SUITES,
        sources: false,
    };
    Ok(AptTree::open(cache, selection)?)
}

//! The lab: boots a real Debian kernel in QEMU with a modelled topology and runs programs in it.
//!
//! Nothing needs root or hardware virtualisation, and nothing on the host changes: kernels, the
//! emulator and the guest's programs are fetched by name into the user's cache ([`apt`]), a
//! kernel's type information is checked before it is used ([`kernels`]), and what the guest did
//! comes back as files ([`run`]). A guest that ran under another scheduler than the one asked for
//! is an error, never a result ([`outcome`]).

pub mod apt;
mod arch;
pub mod cache;
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
pub mod outcome;
pub mod packages;
mod program;
mod qemu;
pub mod run;
pub mod scheduler;
mod smp;
pub mod sources;
pub mod workload;

pub use arch::Arch;
pub use cache::Cache;
pub use error::{Class, LabError, Tried};

/// What is said while another run holds the cache.
const WAITING: &str = "waiting for another run that fetches";

/// Follows what the lab does, for whoever waits.
pub trait Watch {
    /// Something that takes time begins.
    fn step(&self, what: &str);
    /// Something that the user should know; it stops nothing.
    fn remark(&self, what: &str);
}

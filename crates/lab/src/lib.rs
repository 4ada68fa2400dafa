//! The lab: boots a real kernel in QEMU with a modelled topology and runs programs in it. The
//! kernel is Debian's, or an image of the user's ([`Own`]).
//!
//! Nothing needs root or hardware virtualisation, and nothing on the host changes: kernels, the
//! emulator and the guest's programs are fetched by name into the user's cache (`crates/archive`),
//! a kernel's type information is checked before it is used ([`kernels`]), and what the guest did
//! comes back as files ([`run`]). A guest that ran under another scheduler than the one asked for
//! is an error, never a result ([`outcome`]). See docs/guide/lab.md.
//!
//! What must stay: nothing of the host is changed but the cache; each step says what it fetches.
//! Free: what is not public.
//!
//! Tests by part: `rounds_are_whole_microseconds` (`round_us`),
//! crates/cli/tests/all/lab.rs::`a_right_request_gets_as_far_as_the_cache` (`cache`),
//! crates/cli/tests/all/lab.rs::`files_are_looked_at_before_anything_is_booted` (`keep_folder`).
//! `apt` needs a network: boot.rs.
//!
//! Callers: crates/cli/src/commands/lab.rs, crates/fidelity (`keep_folder`, `cache`).
//!
//! Tests: crates/lab/tests/boot.rs, beside its modules

mod arch;
mod bootable;
mod console;
mod cpio;
mod devicetree;
pub mod doctor;
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

use std::path::{Path, PathBuf};
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

/// The folder of `--keep`, in one that is there already: a path that is mistyped is not made.
///
/// # Errors
/// There is no such folder.
pub fn keep_folder(folder: Option<&Path>) -> Result<Option<PathBuf>, LabError> {
    let above = folder.and_then(Path::parent);
    match above.filter(|above| *above != "" && !above.is_dir()) {
        None => Ok(folder.map(Path::to_owned)),
        Some(above) => Err(LabError::Request(format!(
            "--keep: {} is no folder; expected a folder in one that is there",
            above.display()
        ))),
    }
}

/// Microseconds in which each CPU of a guest has its turn, as `--round` has them.
///
/// # Errors
/// It is no such time.
pub fn round_us(text: &str) -> Result<u32, String> {
    let ns = wakeplace_text::parse_duration_ns(text)?;
    match u32::try_from(ns / 1000) {
        Ok(us @ 1..=1_000_000) if ns % 1000 == 0 => Ok(us),
        _ => Err("expected whole microseconds from 1us to 1s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::round_us;

    #[test]
    fn rounds_are_whole_microseconds() {
        assert_eq!([round_us("1us"), round_us("1s")], [Ok(1), Ok(1_000_000)]);
        for text in ["", "50", "999ns", "1500ns", "2s", "0us"] {
            round_us(text).expect_err(text);
        }
    }
}

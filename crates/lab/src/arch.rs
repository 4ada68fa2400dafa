//! The architectures of guests (docs/guide/lab.md).
//!
//! What must stay: names that users type; they are those of platforms. Free: further architectures.
//!
//! Tests by part: `images_that_boot_have_an_architecture` (`Arch` by images),
//! crates/lab/src/scheduler.rs::`another_architecture_and_a_script_are_refused` (`host`,
//! `elf_machine`, `triplet`),
//! crates/lab/src/kernels.rs::`packages_are_chosen_by_version_and_flavour` (`flavour`),
//! crates/cli/tests/all/lab.rs::`a_wrong_machine_is_refused` (`name`). `debian` and `qemu` are
//! names that boot.rs fetches by.
//!
//! Callers: all of the crate, crates/cli/src/commands/lab.rs, crates/price.
//!
//! Tests: crates/cli/tests/all/lab.rs,
//! crates/lab/src/image/kind.rs::images_that_boot_have_an_architecture

use crate::LabError;

/// An architecture that a guest can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arch {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Arm64,
}

impl Arch {
    /// Both.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Arm64];

    /// The name users type, which platforms use too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
        }
    }

    /// Gives Debian's name of the architecture.
    #[must_use]
    pub fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The folder of shared libraries below `usr/lib`.
    #[must_use]
    pub fn triplet(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux-gnu",
            Self::Arm64 => "aarch64-linux-gnu",
        }
    }

    /// `e_machine` of its programs.
    pub(crate) fn elf_machine(self) -> u16 {
        match self {
            Self::X86_64 => object::elf::EM_X86_64.0,
            Self::Arm64 => object::elf::EM_AARCH64.0,
        }
    }

    /// The flavour of Debian's kernels that is used: `cloud` has all that a virtual machine needs
    /// built in; on arm64 only the general one has the operating points of device trees.
    #[must_use]
    pub fn flavour(self) -> &'static str {
        match self {
            Self::X86_64 => "cloud-amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// The emulator, and the package that has it.
    #[must_use]
    pub fn qemu(self) -> (&'static str, &'static str) {
        match self {
            Self::X86_64 => ("qemu-system-x86_64", "qemu-system-x86"),
            Self::Arm64 => ("qemu-system-aarch64", "qemu-system-arm"),
        }
    }

    /// The architecture of the machine this runs on.
    ///
    /// # Errors
    /// When there are no packages for it here.
    pub fn host() -> Result<Self, LabError> {
        match std::env::consts::ARCH {
            "x86_64" => Ok(Self::X86_64),
            "aarch64" => Ok(Self::Arm64),
            other => {
                let why = format!(
                    "this machine is {other}; guests are run on x86_64 and arm64 machines only"
                );
                Err(LabError::program("lab", why))
            }
        }
    }
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

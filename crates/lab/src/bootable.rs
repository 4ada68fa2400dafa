//! The kernel of one guest, wherever it is from (docs/guide/lab.md, "A kernel of your own").
//!
//! What must stay: name, version and sum go into results. A kernel whose type information does not
//! do is refused before a boot. Free: words of refusals.
//!
//! Tests by part: `a_kernel_of_the_users_own_is_booted` (`of_own`, `name`, `version`),
//! `a_file_that_is_no_kernel_of_the_guest_is_refused` (`get`, before it),
//! boot.rs::`an_x86_guest_runs_a_command_and_brings_back_what_it_did` (`get`: Debian's; `sha256`).
//! `config` has no test of its own.
//!
//! Callers: run.rs (`get`).
//!
//! Tests: crates/cli/tests/all/lab.rs::a_file_that_is_no_kernel_of_the_guest_is_refused,
//! crates/lab/tests/boot.rs::a_kernel_of_the_users_own_is_booted

use crate::kernels::{self, Kernel};
use crate::modules::{self, Module};
use crate::own::{self, Choice, Own};
use crate::run::Request;
use crate::{Arch, Cache, LabError, Watch};
use serde::Serialize;
use std::fs;
use std::path::PathBuf;
use wakeplace_archive::apt::Package;

/// Where a kernel is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Origin {
    /// Debian's package.
    Package(Package),
    /// A file of the user's.
    File {
        /// Its path.
        file: PathBuf,
        /// As `uname -r` says it; the path if the image does not tell.
        version: String,
        /// SHA-256 of the file.
        sha256: String,
    },
}

impl Origin {
    /// The package's name or the path.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Package(package) => package.package.clone(),
            Self::File { file, .. } => file.display().to_string(),
        }
    }

    /// The package's version or the kernel's release.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::Package(package) => &package.version,
            Self::File { version, .. } => version,
        }
    }

    /// SHA-256 of what it came in.
    #[must_use]
    pub fn sha256(&self) -> &str {
        match self {
            Self::Package(package) => &package.sha256,
            Self::File { sha256, .. } => sha256,
        }
    }
}

/// A kernel that the emulator can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bootable {
    /// For the user, as `7.3.4`.
    pub(crate) version: String,
    pub(crate) origin: Origin,
    pub(crate) image: PathBuf,
    /// In the order in which the guest loads them.
    pub(crate) modules: Vec<Module>,
    /// What it was configured with, for schedulers that ask.
    pub(crate) config: Option<Vec<u8>>,
}

impl Bootable {
    /// The kernel of a request, fetched if it is Debian's; the cache is locked by the caller.
    ///
    /// # Errors
    /// When it cannot be had or used.
    pub(crate) fn get(
        cache: &Cache,
        request: &Request,
        watch: &dyn Watch,
    ) -> Result<Self, LabError> {
        let version = match &request.kernel {
            Choice::Own(own) => return Self::of_own(own, request),
            Choice::Version(version) => Some(version.as_str()),
            Choice::Newest => None,
        };
        let arch = request.arch;
        let opps = own::has_opps(arch, &request.machine);
        let kernel = kernels::pick(cache, arch, version, opps, watch)?;
        let config = match request.scheduler.is_loader() {
            true => config(cache, arch, &kernel, watch)?,
            false => None,
        };
        let modules = match &kernel.cpufreq_dt {
            Some(path) => vec![Module {
                name: "cpufreq_dt".to_owned(),
                contents: modules::unpacked(path)?,
            }],
            None => Vec::new(),
        };
        Ok(Self {
            version: kernel.version,
            origin: Origin::Package(kernel.package),
            image: kernel.image,
            modules,
            config,
        })
    }

    /// The user's own kernel.
    fn of_own(own: &Own, request: &Request) -> Result<Self, LabError> {
        Ok(Self {
            version: own.version(),
            origin: Origin::File {
                file: own.file.clone(),
                version: own.version(),
                sha256: own.sha256.clone(),
            },
            image: own.file.clone(),
            modules: own.modules(&request.machine)?,
            config: own.config.clone().map(String::into_bytes),
        })
    }
}

/// The kernel's configuration; None: it cannot be had, which is remarked.
fn config(
    cache: &Cache,
    arch: Arch,
    kernel: &Kernel,
    watch: &dyn Watch,
) -> Result<Option<Vec<u8>>, LabError> {
    match kernels::config(cache, arch, kernel, watch) {
        Ok(path) => Ok(Some(fs::read(&path).map_err(LabError::reading(&path))?)),
        Err(error) => {
            watch.remark(&format!(
                "the guest has no /boot/config-*, which some schedulers read: {error}"
            ));
            Ok(None)
        }
    }
}

//! Each kernel has an object of its own.
//!
//! An object has one kernel's globals, and dlopen loads a file once. So the first kernel of a file
//! has the file, where debuggers and profilers find it, and each one beside it a copy in memory
//! (docs/guide/kernel.md, "In a run").
//!
//! What must stay: no two kernels of a process share an object. Free: how a copy is made.
//!
//! Tests by part: `each_kernel_has_its_own_state` (`take`, `name`, `drop`).
//!
//! Callers: kernel/mod.rs (`take`), kernel/entries.rs (`name`).
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::each_kernel_has_its_own_state

use crate::TreeError;
use rustix::fs::{MemfdFlags, memfd_create};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Device and inode of the files that are loaded.
static LOADED: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());

/// A file that nobody else loads; given back when dropped.
pub(super) enum Claim {
    /// The object itself.
    File((u64, u64), PathBuf),
    /// A copy. As long as it is open no other one has its name, by which dlopen knows files, too.
    Copy(File),
}

impl Claim {
    /// The file itself for the first kernel of it in this process, else a copy in memory.
    pub(super) fn take(path: &Path) -> Result<Self, TreeError> {
        // By its whole name: dlopen looks for others in folders of libraries.
        let whole = fs::canonicalize(path).map_err(TreeError::reading(path))?;
        let mut file = File::open(&whole).map_err(TreeError::reading(path))?;
        let found = file.metadata().map_err(TreeError::reading(path))?;
        let id = (found.dev(), found.ino());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.insert(id) {
            return Ok(Self::File(id, whole));
        }
        let copy = memfd_create("kernel", MemfdFlags::CLOEXEC).map_err(io::Error::from);
        let mut copy = File::from(copy.map_err(TreeError::writing("a copy in memory"))?);
        io::copy(&mut file, &mut copy).map_err(TreeError::writing("a copy in memory"))?;
        Ok(Self::Copy(copy))
    }

    /// By what name it is loaded.
    pub(super) fn name(&self) -> PathBuf {
        match self {
            Self::File(_, path) => path.clone(),
            Self::Copy(file) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
        }
    }
}

impl Drop for Claim {
    /// The next kernel may have the file.
    fn drop(&mut self) {
        if let Self::File(id, _) = self {
            let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
            loaded.remove(id);
        }
    }
}

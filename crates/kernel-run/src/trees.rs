//! From names to trees that can be run. What a tree's label and facts are, results keep: `compare`
//! and `explain` show them (docs/guide/kernel.md).
//!
//! What must stay: labels and keys of facts, which results keep. A tree is built once per process
//! and kind of machine. Free: how trees are kept within the process.
//!
//! Tests by part: `a_version_has_an_era` (`release`), kernel.rs::`what_is_no_kernel_is_refused`
//! (`of_user`, `find`), kernel_runs.rs::`a_comparison_does_not_depend_on_threads` (`built`, `run`,
//! `like`).
//!
//! Callers: crates/cli/src/trees.rs, crates/fidelity, crates/python (`of_user`, `find`); the engine
//! calls `run`, by `TreeRuns`.
//!
//! Tests: below, crates/cli/tests/all/kernel_runs.rs,
//! crates/cli/tests/all/kernel.rs::what_is_no_kernel_is_refused

use crate::runs::Input;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use wakeplace_engine::{Observer, Options, RunReport};
use wakeplace_kernel_tree::{Arch, Built, Cache, Like, Request, Shim, Spec, TreeError, Watch};
use wakeplace_kernel_tree::{build, cache};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_study::{BuiltTree, TreeRuns};
use wakeplace_workload::Workload;

/// Finds trees by their names, and builds them.
pub struct Trees {
    /// Where sources and objects are kept.
    pub cache: Cache,
    /// What they are built with.
    pub shim: Shim,
    /// A configuration fragment of the user's, which is merged last.
    pub config: Option<PathBuf>,
    /// Hears what is done.
    pub watch: Box<dyn Watch + Send + Sync>,
}

impl fmt::Debug for Trees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trees")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// The kind of machine that a platform is, for the kernel's configuration.
#[must_use]
pub fn like(platform: &Platform) -> Like {
    let arch = match platform.arch.as_str() {
        "arm64" | "arm" => Arch::Arm64,
        _ => Arch::X86,
    };
    Like::new(arch, platform.cpus.len())
}

impl Trees {
    /// With the user's cache.
    ///
    /// # Errors
    /// There is no place for a cache, or the shim cannot be written there.
    pub fn of_user(
        config: Option<&Path>,
        watch: Box<dyn Watch + Send + Sync>,
    ) -> Result<Self, TreeError> {
        Ok(Self {
            cache: cache()?,
            shim: Shim::of_user()?,
            config: config.map(PathBuf::from),
            watch,
        })
    }

    /// The tree of a policy's name, `kernel:...`, built for these kinds of machine; for others it
    /// is built when a run needs it.
    ///
    /// # Errors
    /// The name is none, or its sources cannot be had or built.
    pub fn find(self: &Arc<Self>, name: &str, likes: &[Like]) -> Result<BuiltTree, TreeError> {
        let spec = Spec::parse(name).map_err(TreeError::Spec)?;
        let tree = KernelTree {
            trees: self.clone(),
            spec,
            built: Mutex::default(),
        };
        let usual = Like::new(Arch::Arm64, 1);
        let first = tree.built(likes.first().copied().unwrap_or(usual))?;
        for like in likes {
            tree.built(*like)?;
        }
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let mut facts = vec![
            pair("kernel", &first.version),
            pair("kernel.origin", &first.origin),
            pair("kernel.key", &first.key),
        ];
        let own = tree.spec.parameters.iter();
        facts.extend(own.map(|(key, value)| (format!("kernel.{key}"), value.clone())));
        Ok(BuiltTree {
            label: tree
                .spec
                .name
                .clone()
                .unwrap_or_else(|| first.label.clone()),
            era: Policy::era_of(release(&first.version)).to_owned(),
            release: release(&first.version),
            facts,
            notes: Vec::new(),
            runs: Arc::new(tree),
        })
    }
}

/// Major and minor number of a version; what is no number counts as 0.
fn release(version: &str) -> (u16, u16) {
    let mut parts = version
        .split(['.', '-'])
        .map(|part| part.parse::<u16>().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// A tree, and what was built of it.
struct KernelTree {
    trees: Arc<Trees>,
    spec: Spec,
    built: Mutex<BTreeMap<Like, Built>>,
}

impl fmt::Debug for KernelTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KernelTree").field(&self.spec).finish()
    }
}

impl KernelTree {
    /// The tree's kernel for machines like this. The first call builds it, or finds it in the
    /// user's cache; later ones get the same. Threads wait for each other: nothing is built twice.
    fn built(&self, like: Like) -> Result<Built, TreeError> {
        let mut all = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = all.get(&like) {
            return Ok(built.clone());
        }
        let request = Request {
            spec: self.spec.clone(),
            like,
            config: self.trees.config.clone(),
        };
        let Trees {
            cache, shim, watch, ..
        } = &*self.trees;
        let built = build(cache, shim, &request, &**watch)?;
        all.insert(like, built.clone());
        Ok(built)
    }
}

impl TreeRuns for KernelTree {
    /// In a process of its own; an error is the run's outcome in words.
    fn run(
        &self,
        platform: &Platform,
        workload: &Workload,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<RunReport, String> {
        let built = self
            .built(like(platform).coherent(options.coherence))
            .map_err(|error| error.to_string())?;
        let input = Input {
            object: &built.object,
            parameters: &self.spec.parameters,
            platform,
            workload,
            options,
        };
        input.run(observer)
    }
}

#[cfg(test)]
mod tests {
    use super::{Policy, release};

    #[test]
    fn a_version_has_an_era() {
        for (version, expected) in [
            ("7.3.4", "linux-7.3"),
            ("7.2.12", "linux-6.18"),
            ("6.16.12", "linux-6.12"),
            ("6.1.176", "linux-6.1"),
            ("5.15.1", "linux-5.10"),
            ("2.6.32", "linux-3.1"),
        ] {
            assert_eq!(Policy::era_of(release(version)), expected, "{version}");
        }
    }
}

//! `--policy kernel:...`: kernel trees are built before anything is simulated
//! (docs/guide/kernel.md).
//!
//! Called before any run. How a tree is built is `wakeplace_kernel_tree`'s.
//!
//! What must stay: a tree that is built already is taken from the cache; what is built does not
//! depend on the order of policies. A platform that cannot be loaded is named by whoever loads it.
//! `--kernel-config` without a tree is refused. Tests by part:
//! crates/cli/tests/all/kernel_runs.rs::`a_comparison_does_not_depend_on_threads` (`provide`),
//! kernel_runs.rs::`what_it_does_not_take_is_refused` (parameters),
//! kernel_runs.rs::`commands_that_cannot_have_one_say_so` (`--kernel-config`, no archive),
//! kernel_runs.rs::`a_comparison_of_one_kernel_is_refused_before_it_is_built` (that nothing is
//! built for it). No test of its own: `Late`.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs,
//! crates/cli/tests/all/kernel.rs::what_is_no_kernel_is_refused

use crate::commands::lab_watch::Steps;
use crate::failure::Failure;
use crate::terminal::Terminal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wakeplace_kernel_run::{Trees, like};
use wakeplace_kernel_tree::{Like, Watch};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{TREE_PREFIX, TreeRef, provide_trees};
use wakeplace_study::{Ask, BuiltTree};

/// Hears of trees that a run needs for another kind of machine.
struct Late(Terminal);

impl Watch for Late {
    /// A stage of a build: shown with `-v` only.
    fn step(&self, what: &str) {
        self.0.detail(what);
    }

    /// What a reader should know though the build goes on: a warning.
    fn remark(&self, what: &str) {
        self.0.warn(what);
    }
}

/// Whether settings ask for the price of a tree's own accesses to memory.
pub(crate) fn coherent(ask: &Ask) -> bool {
    let settings = ask.texts("set");
    let own = settings.iter().rev();
    let mut own = own.filter_map(|text| text.strip_prefix("model.coherence="));
    own.next() == Some("on")
}

/// Builds the trees among these policies for these platforms, and lets their names be parsed.
/// `coherent`: their accesses to memory are priced. A platform that cannot be loaded is named
/// later, by who loads it.
pub(crate) fn provide(
    policies: &[String],
    platforms: &[String],
    coherent: bool,
    config: Option<&Path>,
    terminal: Terminal,
) -> Result<(), Failure> {
    let mut found: BTreeMap<String, BuiltTree> = BTreeMap::new();
    let own = policies.iter().filter(|name| name.starts_with(TREE_PREFIX));
    let own: Vec<&String> = own.collect();
    if own.is_empty() && config.is_some() {
        return Err(Failure::Input(
            "--kernel-config is for a kernel's own code; expected a --policy kernel:...".to_owned(),
        ));
    }
    let mut likes: Vec<Like> = Vec::new();
    if !own.is_empty() {
        let loaded = platforms
            .iter()
            .filter_map(|name| Platform::load(name).ok());
        likes.extend(loaded.map(|platform| like(&platform).coherent(coherent)));
        likes.sort_unstable();
        likes.dedup();
        let trees = Arc::new(Trees::of_user(config, Box::new(Steps::start(terminal)))?);
        for name in own {
            if !found.contains_key(name) {
                found.insert(name.clone(), trees.find(name, &likes)?);
            }
        }
    }
    let config = config.map(PathBuf::from);
    provide_trees(move |name| match found.get(name) {
        Some(tree) => Ok(TreeRef::new(tree.clone())),
        None => {
            let trees = Trees::of_user(config.as_deref(), Box::new(Late(terminal)));
            let tree = trees.and_then(|trees| Arc::new(trees).find(name, &likes));
            tree.map(TreeRef::new).map_err(|error| error.to_string())
        }
    });
    Ok(())
}

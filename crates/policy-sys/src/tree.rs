//! Policies that are a kernel tree's own code: `kernel:VERSION` or `kernel:PATH`. Nothing of the
//! core decides in them. What a tree is, and how it runs, is said by who makes trees
//! ([`provide_trees`]); where nobody does, such a policy is refused (docs/guide/kernel.md,
//! "Names").
//!
//! What must stay: labels, facts and notes go into results. Trees are provided once per process.
//! Free: what a tree is asked for beyond its facts.
//!
//! Tests by part: crates/cli/tests/all/kernel.rs: `what_is_no_kernel_is_refused` (`tree_named`),
//! crates/cli/tests/all/kernel_runs.rs: `a_decision_is_explained_by_the_trees_own_figures`
//! (`provide_trees`). `label`, `era`, `release`, `as_any`, `eq` and `deref` have no test of their
//! own: crates/kernel-run/src/trees.rs answers them.
//!
//! Callers: policy.rs parses `kernel:` names by `tree_named`; the command line provides trees.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs,
//! crates/cli/tests/all/kernel.rs::what_is_no_kernel_is_refused

use crate::PolicyError;
use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// What names of such policies begin with.
pub const TREE_PREFIX: &str = "kernel:";

/// A tree that can be run.
pub trait Tree: fmt::Debug + Send + Sync + 'static {
    /// Gives the tree's name in results.
    fn label(&self) -> &str;

    /// The name of the policy whose era is nearest, for what is asked of a policy beside its
    /// decisions.
    fn era(&self) -> &str;

    /// Major and minor number of its version.
    fn release(&self) -> (u16, u16);

    /// What it is and how it was built, key and value.
    fn facts(&self) -> Vec<(String, String)>;

    /// What a reader must know before believing the figures: a sentence each.
    fn notes(&self) -> Vec<String>;

    /// For who knows how it runs.
    fn as_any(&self) -> &dyn Any;
}

/// One tree, which several policies may share.
#[derive(Clone, Debug)]
pub struct TreeRef(Arc<dyn Tree>);

impl TreeRef {
    /// Makes a policy of a tree.
    pub fn new(tree: impl Tree) -> Self {
        Self(Arc::new(tree))
    }
}

impl Deref for TreeRef {
    type Target = dyn Tree;

    /// The tree itself.
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for TreeRef {
    /// Of one label and one set of facts: the same kernel, built alike.
    fn eq(&self, other: &Self) -> bool {
        self.label() == other.label() && self.facts() == other.facts()
    }
}

impl Eq for TreeRef {}

/// Finds the tree of a whole name, and builds it if need be; Err: one sentence.
type Find = dyn Fn(&str) -> Result<TreeRef, String> + Send + Sync;

static TREES: OnceLock<Box<Find>> = OnceLock::new();

/// From now on names of trees can be parsed. The first call decides.
pub fn provide_trees(find: impl Fn(&str) -> Result<TreeRef, String> + Send + Sync + 'static) {
    let _ = TREES.set(Box::new(find));
}

/// The tree of a policy's name, if it is that of a tree.
pub(crate) fn tree_named(name: &str) -> Option<Result<TreeRef, PolicyError>> {
    name.strip_prefix(TREE_PREFIX)?;
    Some(match TREES.get() {
        Some(find) => find(name).map_err(PolicyError),
        None => Err(PolicyError(format!(
            "policy `{}`: a kernel's own code cannot be run here; expected an era, as `linux-7.3`",
            wakeplace_text::shorten(name)
        ))),
    })
}

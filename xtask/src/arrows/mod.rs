//! The dependency arrows: who may know whom, under which licences, and what the core may touch
//! (CONTRIBUTING.md, "Rules that a check enforces").
//!
//! What must stay: it runs in `cargo test` and `cargo xtask check`: seconds, no network. Free: how
//! it is done, and words that no test or script reads. Tests by part: repo.rs::`the_arrows_hold`
//! (`check`).
//!
//! Callers: commands.rs (`check`).
//!
//! Tests: xtask/tests/all/repo.rs::the_arrows_hold, xtask/src/arrows/edges.rs,
//! xtask/src/arrows/sources.rs

mod edges;
mod graph;
mod licence;
mod sources;

use anyhow::Result;

use crate::Finding;
use crate::repo::Repo;
use graph::Graph;

/// Everything that breaks an arrow, a licence or the core's isolation.
///
/// # Errors
/// When cargo cannot describe the build graph or deny.toml has no list of licences.
pub fn check(repo: &Repo) -> Result<Vec<Finding>> {
    let graph = Graph::of_workspace(&Repo::root())?;
    let allowed = licence::allowed(repo)?;
    let mut findings = edges::workspace(&graph);
    findings.extend(edges::external(&graph));
    findings.extend(licence::check(&graph, &allowed));
    findings.extend(sources::core_is_closed(repo));
    findings.extend(sources::mechanics_know_no_scheduler(repo));
    findings.extend(sources::policy_is_freestanding(repo));
    Ok(findings)
}

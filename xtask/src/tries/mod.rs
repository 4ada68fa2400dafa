//! What tries the product harder than its tests do, and the list of all checks
//! (docs/internals/checks.md).
//!
//! What must stay: tools of the registry have one version each, named where they are used. Free:
//! how it is done, and words that no test or script reads. Tests by part: `deny` has no test of its
//! own: nightly shows a fault of its own.
//!
//! Tests: none; nightly runs it.

pub mod advisories;
pub mod all_tests;
pub mod engine_mutants;
pub mod fuzz;
pub mod kernel_schedulers;
pub mod metrics;
pub mod pages;
pub mod sanitize;
pub mod traces;

use std::path::PathBuf;

use anyhow::Result;

use crate::shop::Shop;

/// cargo-deny, which checks licences and advisories.
///
/// # Errors
/// It cannot be had here.
pub fn deny(shop: &Shop) -> Result<PathBuf> {
    shop.tool("cargo-deny", "0.20.2", &[])
}

//! The rules over this repository itself: `cargo test --workspace` keeps them.
//! Page: docs/internals/checks.md; CONTRIBUTING.md.
//!
//! What must stay: each test is a check of `cargo xtask`, with the command that repeats it: a new
//! check gets a test here.
//! Tests by part: `the_style_holds` (xtask/src/tidy); `the_arrows_hold` (xtask/src/arrows);
//! `the_bindings_are_of_these_headers` (xtask/src/bindings.rs);
//! `the_schema_is_of_the_types_of_results` (schema); `the_reasons_are_of_these_headers` (reasons);
//! `the_parameters_are_of_these_headers` (params); `the_kernel_map_is_of_these_files`
//! (xtask/src/kernel_map.rs); `the_outside_results_are_of_their_rows` (xtask/src/measure/outside);
//! `every_justified_mutation_can_be_made` (mutants);
//! `programs_of_others_are_as_they_were_published` (xtask/src/assets.rs).
//! Helpers, and who fails with them: `repo` (most tests); `none` (all tests).

use xtask::repo::Repo;
use xtask::{
    Finding, arrows, assets, bindings, glue, kernel_map, measure, mutants, params, reasons, schema,
    tidy,
};

fn repo() -> Repo {
    let repo = Repo::load(&Repo::root()).expect("the repository's files");
    assert!(
        repo.get("Cargo.toml").is_some(),
        "no Cargo.toml among the files that git lists"
    );
    repo
}

/// Fails with every finding and the command that repeats it.
fn none(command: &str, findings: &[Finding]) {
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        findings.is_empty(),
        "`cargo xtask {command}` finds:\n{}",
        lines.join("\n")
    );
}

#[test]
fn the_style_holds() {
    none("tidy", &tidy::check(&repo()));
}

#[test]
fn the_arrows_hold() {
    none("arrows", &arrows::check(&repo()).expect("the build graph"));
}

#[test]
fn the_bindings_are_of_these_headers() {
    none("bindings --check", &bindings::check(&repo()));
}

#[test]
fn the_schema_is_of_the_types_of_results() {
    none("schema --check", &schema::check(&repo()));
}

#[test]
fn the_reasons_are_of_these_headers() {
    none("reasons --check", &reasons::check(&repo()));
}

#[test]
fn the_parameters_are_of_these_headers() {
    none("params --check", &params::check(&repo()));
}

#[test]
fn the_kernel_map_is_of_these_files() {
    none("kernel-map --check", &kernel_map::check(&repo()));
    none("check", &glue::check(&repo()));
}

#[test]
fn the_outside_results_are_of_their_rows() {
    none("outside --check", &measure::outside::check(&repo()));
}

#[test]
fn every_justified_mutation_can_be_made() {
    let findings = mutants::check(&Repo::root()).expect("the core's sources");
    none("mutants --check", &findings);
}

#[test]
fn programs_of_others_are_as_they_were_published() {
    none(
        "assets",
        &assets::check(&Repo::root()).expect("the folder of assets"),
    );
}

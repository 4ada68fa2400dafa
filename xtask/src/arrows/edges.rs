//! Who may depend on whom. The table below has every crate (CONTRIBUTING.md, "Rules that a check
//! enforces").
//!
//! What must stay: the table and ARCHITECTURE.md say the same. A new edge is a decision: add it to
//! both. Free: how it is done, and words that no test or script reads. Tests by part:
//! `an_edge_against_the_arrows_is_found` and `a_crate_that_nobody_placed_is_found` (`workspace`),
//! `nothing_depends_on_cli_or_scx_and_the_table_has_no_circle` (`has`, the table itself),
//! `the_core_is_held_to_what_it_reaches` (`external`).
//!
//! Callers: mod.rs (`workspace`, `external`).
//!
//! Tests: below

use super::graph::{Graph, Kind};
use crate::Finding;

/// Each crate with the crates of this workspace it may name: what is below it and nothing else.
/// `report` is made from results only, so not from `engine`; `scx` knows nothing of the simulator
/// and is in nobody's list, nor are `cli`, `python` and `wasm`.
const MAY_KNOW: [(&str, &str); 36] = [
    ("text", ""),
    ("files", ""),
    ("outcome", ""),
    ("policy-sys", "text"),
    ("platform", "text"),
    ("workload", "text platform"),
    ("power", "platform"),
    ("optimum", "platform power"),
    ("btf", ""),
    ("host", "btf"),
    ("guest", "text"),
    ("sched-ext", ""),
    ("kernel-abi", ""),
    ("kernel-queues", "policy-sys platform workload"),
    (
        "engine",
        "policy-sys platform workload power kernel-queues kernel-abi sched-ext",
    ),
    (
        "metrics",
        "outcome text policy-sys platform workload power engine",
    ),
    (
        "trace",
        "text files policy-sys platform workload power engine",
    ),
    (
        "study",
        "outcome text policy-sys platform workload power optimum engine kernel-abi metrics \
         trace",
    ),
    ("report", "outcome text study metrics"),
    (
        "store",
        "text files platform workload policy-sys engine study metrics",
    ),
    ("archive", "files"),
    ("lab", "text files host platform workload guest archive"),
    ("kernel-shim", ""),
    (
        "kernel-tree",
        "text files host archive kernel-abi kernel-shim",
    ),
    (
        "kernel-run",
        "policy-sys platform workload engine study kernel-abi kernel-tree",
    ),
    ("price", "platform engine metrics trace guest lab"),
    (
        "fidelity",
        "text policy-sys platform workload engine metrics trace study report guest lab price \
         kernel-tree kernel-run",
    ),
    (
        "cli",
        "outcome text files policy-sys platform workload power engine metrics trace study store \
         report host lab price sched-ext foreign kernel-tree kernel-run",
    ),
    (
        "python",
        "outcome text policy-sys platform workload metrics study store report kernel-tree \
         kernel-run",
    ),
    ("bpf-vm", "btf"),
    ("bpf-load", ""),
    ("foreign", "text platform sched-ext bpf-vm"),
    (
        "wasm",
        "text policy-sys platform workload trace study report",
    ),
    ("scx", "text policy-sys platform host"),
    (
        "fuzz",
        "text foreign policy-sys platform workload engine metrics trace study store report",
    ),
    ("xtask", "archive outcome text"),
];

/// Crates that must be the same on every machine, and what they may not even reach.
const CORE: [&str; 3] = ["policy-sys", "kernel-queues", "engine"];
const NOT_IN_CORE: [&str; 6] = [
    "clap",
    "serde_json",
    "rayon",
    "anstream",
    "indicatif",
    "tokio",
];

/// Crates that parse arguments and print, and the libraries for it.
const AT_THE_DOOR: [&str; 3] = ["cli", "scx", "fidelity"];
const ONLY_AT_THE_DOOR: [&str; 3] = ["clap", "anstream", "indicatif"];

/// Edges between crates of this workspace that the table does not have.
pub(super) fn workspace(graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, package) in graph.ours() {
        let name = package.short();
        let Some((_, permitted)) = MAY_KNOW.iter().find(|(crate_name, _)| *crate_name == name)
        else {
            findings.push(Finding::on(
                name,
                "a crate without a place: give it its row in edges.rs",
            ));
            continue;
        };
        for (to, _) in graph.direct(package) {
            if to.ours && !has(permitted, to.short()) {
                let permitted = match *permitted {
                    "" => "no crate of this workspace".to_owned(),
                    names => names.replace(' ', ", "),
                };
                let what = format!("depends on {}; it may know: {permitted}", to.short());
                findings.push(Finding::on(name, what));
            }
        }
    }
    findings
}

/// Is a crate one of those of a row?
fn has(permitted: &str, name: &str) -> bool {
    permitted.split(' ').any(|one| one == name)
}

/// Libraries that have no business where they are.
pub(super) fn external(graph: &Graph) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, package) in graph.ours() {
        let name = package.short();
        if CORE.contains(&name) {
            for (to, way) in graph.reachable(id, &[Kind::Normal]) {
                if NOT_IN_CORE.contains(&graph.packages[to].short()) {
                    let what = format!(
                        "the core reaches a library it must not: {}",
                        way.join(" -> ")
                    );
                    findings.push(Finding::on(name, what));
                }
            }
        }
        if AT_THE_DOOR.contains(&name) {
            continue;
        }
        for (to, kind) in graph.direct(package) {
            if kind == Kind::Normal && ONLY_AT_THE_DOOR.contains(&to.name.as_str()) {
                let what = format!(
                    "depends on {}, which is for {}",
                    to.name,
                    AT_THE_DOOR.join(", ")
                );
                findings.push(Finding::on(name, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::graph;
    use super::*;

    #[test]
    fn an_edge_against_the_arrows_is_found() {
        let graph = graph(&[
            (
                "wakeplace-platform",
                "MIT",
                true,
                &[("wakeplace-engine", "normal")],
            ),
            ("wakeplace-engine", "MIT", true, &[]),
            (
                "wakeplace-report",
                "MIT",
                true,
                &[("wakeplace-engine", "dev")],
            ),
            (
                "wakeplace-study",
                "MIT",
                true,
                &[("wakeplace-engine", "normal")],
            ),
        ]);
        let found: Vec<String> = workspace(&graph).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "platform: depends on engine; it may know: text",
                "report: depends on engine; it may know: outcome, text, study, metrics",
            ]
        );
    }

    #[test]
    fn a_crate_that_nobody_placed_is_found() {
        let graph = graph(&[("wakeplace-extra", "MIT", true, &[])]);
        assert_eq!(workspace(&graph).len(), 1);
    }

    #[test]
    fn nothing_depends_on_cli_or_scx_and_the_table_has_no_circle() {
        for (name, permitted) in MAY_KNOW {
            assert!(!has(permitted, "cli") && !has(permitted, "scx"), "{name}");
            for lower in permitted.split(' ').filter(|lower| !lower.is_empty()) {
                let (_, below) = MAY_KNOW.iter().find(|(n, _)| *n == lower).expect("a row");
                assert!(!has(below, name), "{name} and {lower} know each other");
            }
        }
    }

    #[test]
    fn the_core_is_held_to_what_it_reaches() {
        let graph = graph(&[
            (
                "wakeplace-engine",
                "MIT",
                true,
                &[("wakeplace-workload", "normal")],
            ),
            (
                "wakeplace-workload",
                "MIT",
                true,
                &[("reader", "normal"), ("clap", "normal")],
            ),
            (
                "reader",
                "MIT",
                false,
                &[("serde_json", "normal"), ("rayon", "dev")],
            ),
            ("serde_json", "MIT", false, &[]),
            ("rayon", "MIT", false, &[]),
            ("clap", "MIT", false, &[]),
        ]);
        let found: Vec<String> = external(&graph).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "engine: the core reaches a library it must not: engine -> workload -> clap",
                "engine: the core reaches a library it must not: engine -> workload -> reader -> \
                 serde_json",
                "workload: depends on clap, which is for cli, scx, fidelity",
            ]
        );
    }
}

// SPDX-License-Identifier: GPL-2.0-only
//! What each home reads of the parameters is what params.def.h says (its column `where`). The
//! compiler is asked: without the fields of struct wp_params each place that reads one is an error.
//! What the glue and the engine read besides is looked up in their sources.
//! Page: docs/decisions/011.
//!
//! What must stay: the column `where` of params.def.h is what homes read: a new reader changes the
//! column. Free: how the compiler's words are read.
//! Tests by part (in crates/scx/src): policy/include/wakeplace/params.def.h (`where`) and the glue:
//! `every_home_reads_what_is_declared`.
//! Helpers, and who fails with them: `root`, `read_by_core`, `named_in`, `sources`, `sources_of`
//! (`every_home_reads_what_is_declared`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wakeplace_policy_sys::Policy;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The parameters that the core reads, built with this definition.
fn read_by_core(define: &str) -> BTreeSet<String> {
    let clang = std::env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    let output = Command::new(&clang)
        .current_dir(root())
        .args(["--target=bpf", "-fsyntax-only", "-ferror-limit=0"])
        .args(["-Ipolicy/include", "-Ipolicy", "-DWP_NO_PARAMS"])
        .args(define.split(' '))
        .arg("policy/policy.c")
        .output()
        .unwrap_or_else(|e| panic!("{clang}: {e}"));
    let errors = String::from_utf8(output.stderr).expect("text");
    let found = errors.lines().filter_map(|line| {
        let (_, what) = line.split_once(" error: ")?;
        let name = what
            .strip_prefix("no member named '")
            .and_then(|rest| rest.split_once("' in 'struct wp_params'"));
        let (name, _hint) = name.unwrap_or_else(|| panic!("{line}"));
        Some(name.to_owned())
    });
    found.collect()
}

/// Do sources read this field, `params.KEY`?
fn named_in(sources: &[String], field: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    sources.iter().any(|text| {
        text.match_indices(field)
            .any(|(at, _)| !text[at + field.len()..].starts_with(is_word))
    })
}

fn sources(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => sources(&path, into),
            false => into.push(fs::read_to_string(&path).expect("a source")),
        }
    }
}

fn sources_of(folder: &str) -> Vec<String> {
    let mut all = Vec::new();
    sources(&root().join(folder), &mut all);
    all
}

#[test]
fn every_home_reads_what_is_declared() {
    let (live, whole) = (
        read_by_core("-DWP_LIVE"),
        read_by_core("-DWHOLE -DWP_SCHED_CACHE -DWP_UCLAMP_SUM -DWP_EAS_REWORK"),
    );
    let glue = sources_of("crates/scx/src/bpf");
    let mut engine = sources_of("crates/engine/src");
    engine.extend(sources_of("crates/kernel-queues/src"));
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for param in Policy::parse("linux-7.3").expect("an era").params() {
        let key = param.key;
        let by_live = live.contains(key) || named_in(&glue, &format!("params.{key}"));
        match (param.live.as_str(), by_live) {
            ("any value", false) => wrong.push(format!("{key}: nothing reads it live")),
            ("not read", true) => wrong.push(format!("{key}: it is read live, too")),
            _ => {}
        }
        let by_engine = ["params.", "params().", "p."]
            .iter()
            .any(|of| named_in(&engine, &format!("{of}{key}")));
        if !whole.contains(key) && !by_engine {
            wrong.push(format!("{key}: nothing reads it in the simulator"));
        }
        seen.insert(key.to_owned());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(live.is_subset(&seen) && whole.is_subset(&seen));
    assert!(live.len() > 50 && whole.len() > live.len());
}

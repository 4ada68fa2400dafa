//! What the sources of the core may touch, and what those of the policy must say and include
//! (CONTRIBUTING.md, "Rules that a check enforces").
//!
//! What must stay: tests and comments are free; what is found has file and line. Tests by part:
//! `an_opened_file_or_a_clock_is_found` and `comments_tests_and_other_crates_are_free`
//! (`core_is_closed`, `reached`), `a_scheduler_below_the_kernel_is_found`
//! (`mechanics_know_no_scheduler`), `the_policy_has_its_licence_line_and_no_floating_point`
//! (`policy_is_freestanding`), `the_policy_includes_its_own_headers_only` (`included`, `is_own`);
//! `core` and `policy` are the tests' own.
//!
//! Callers: mod.rs (`core_is_closed`, `mechanics_know_no_scheduler`, `policy_is_freestanding`).
//!
//! Tests: below

use crate::Finding;
use crate::lexer::has_word;
use crate::repo::{Repo, SourceFile};

/// Crates whose results depend on nothing but their inputs.
const CLOSED: [&str; 4] = [
    "crates/policy-sys/src/",
    "crates/engine/src/",
    "crates/power/src/",
    "crates/metrics/src/",
];
/// Modules of std that reach outside the program.
const OUTSIDE: [&str; 6] = ["fs", "net", "time", "env", "process", "thread"];
/// The half of the engine below any kernel (ARCHITECTURE.md, "The engine's two halves").
const MECHANICS: &str = "crates/engine/src/mechanics/";
/// What it must not name: what a scheduler is made of.
const SCHEDULERS: [&str; 4] = [
    "wakeplace_policy_sys",
    "wakeplace_kernel_queues",
    "wakeplace_sched_ext",
    "model",
];
/// The governor of heat is the platform's, though its rule is in the core.
const GOVERNOR_OF_HEAT: &str = "use wakeplace_policy_sys::{ThermalFacts, ThermalGovernor};";
/// The first line of every source of the policy.
const SPDX: &str = "// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause";

/// Places where the core reaches for files, sockets, clocks, threads or the environment.
pub(super) fn core_is_closed(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for folder in CLOSED {
        for file in repo
            .below(folder)
            .filter(|f| f.extension() == "rs" && !f.is_test())
        {
            let code = file.code();
            for (at, _) in code.match_indices("std::") {
                let line = code[..at].matches('\n').count() + 1;
                if line > file.product_lines() {
                    break;
                }
                for module in reached(&code[at + "std::".len()..]) {
                    let what = format!("reaches std::{module}: the core knows only its inputs");
                    findings.push(Finding::at(&file.path, line, what));
                }
            }
        }
    }
    findings
}

/// Places where the mechanics name a scheduler: they have the trait `Kernel` for it.
pub(super) fn mechanics_know_no_scheduler(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.below(MECHANICS).filter(|f| f.extension() == "rs") {
        for (index, line) in file.code().lines().enumerate() {
            let named = SCHEDULERS.iter().find(|name| has_word(line, name));
            if let Some(name) = named.filter(|_| line != GOVERNOR_OF_HEAT) {
                let what = format!("names {name}: the mechanics know no scheduler");
                findings.push(Finding::at(&file.path, index + 1, what));
            }
        }
    }
    findings
}

/// The outside modules named right after `std::`: `fs::…`, or in a group `{fmt, fs::File}`.
fn reached(after: &str) -> Vec<&'static str> {
    let names: Vec<&str> = match after.strip_prefix('{') {
        Some(group) => {
            let end = group.find("};").unwrap_or(group.len());
            group[..end].split([',', '{']).collect()
        }
        None => vec![after],
    };
    let word = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let words: Vec<String> = names.into_iter().map(word).collect();
    OUTSIDE
        .into_iter()
        .filter(|module| words.iter().any(|word| word == module))
        .collect()
}

/// Sources of the policy without their licence line, that include something else than their own
/// headers, or that use floating point.
pub(super) fn policy_is_freestanding(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let own: Vec<&SourceFile> = repo
        .below("policy/")
        .filter(|file| file.language().is_some())
        .collect();
    for file in &own {
        if file.text.lines().next() != Some(SPDX) {
            findings.push(Finding::at(
                &file.path,
                1,
                format!("must begin with `{SPDX}`"),
            ));
        }
        // Harnesses of tests and proofs run on a machine with a libc.
        if file.is_test() {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            if let Some(name) = included(line).filter(|name| !is_own(name, &own)) {
                let what = format!("includes {name}: the policy knows only its own headers");
                findings.push(Finding::at(&file.path, index + 1, what));
            }
        }
        for (index, line) in file.code().lines().enumerate() {
            if has_word(line, "float") || has_word(line, "double") {
                let what = "floating point: the policy computes in integers";
                findings.push(Finding::at(&file.path, index + 1, what));
            }
        }
    }
    findings
}

/// `<a.h>` or `"a.h"` of an include line, with its brackets. None: it is no such line.
fn included(line: &str) -> Option<&str> {
    let rest = line
        .trim_start()
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("include")?;
    Some(rest.split("//").next()?.split("/*").next()?.trim())
}

/// A header of the core, however its path is written.
fn is_own(name: &str, own: &[&SourceFile]) -> bool {
    if let Some(bracketed) = name.strip_prefix('<') {
        return bracketed.starts_with("wakeplace/");
    }
    let name = name
        .trim_matches('"')
        .trim_start_matches("./")
        .trim_start_matches("../");
    own.iter().any(|file| {
        file.path
            .strip_suffix(name)
            .is_some_and(|folder| folder.ends_with('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(text: &str) -> Vec<String> {
        let findings = core_is_closed(&Repo::of(&[("crates/engine/src/a.rs", text)]));
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_scheduler_below_the_kernel_is_found() {
        let text = "use crate::kernel::Kernel;\nuse wakeplace_policy_sys::Core;\n// model\n";
        let below = ("crates/engine/src/mechanics/a.rs", text);
        let above = ("crates/engine/src/kernel/a.rs", text);
        let heat = ("crates/engine/src/mechanics/b.rs", GOVERNOR_OF_HEAT);
        let findings = mechanics_know_no_scheduler(&Repo::of(&[below, above, heat]));
        let found: Vec<_> = findings.iter().map(ToString::to_string).collect();
        let what = "names wakeplace_policy_sys: the mechanics know no scheduler";
        assert_eq!(
            found,
            [format!("crates/engine/src/mechanics/a.rs:2: {what}")]
        );
    }

    #[test]
    fn an_opened_file_or_a_clock_is_found() {
        assert_eq!(
            core("use std::fmt;\nuse std::fs::File;\n"),
            ["crates/engine/src/a.rs:2: reaches std::fs: the core knows only its inputs"]
        );
        assert_eq!(core("let a = std::time::Instant::now();").len(), 1);
        assert_eq!(
            core("use std::{\n    fmt,\n    net::TcpStream,\n};\n").len(),
            1
        );
        assert_eq!(core("use std::{collections::BTreeMap, fmt};\n").len(), 0);
    }

    #[test]
    fn comments_tests_and_other_crates_are_free() {
        assert_eq!(core("// std::fs\nconst A: &str = \"std::net\";\n").len(), 0);
        assert_eq!(
            core("fn a() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n").len(),
            0
        );
        let other = Repo::of(&[("crates/platform/src/a.rs", "use std::fs;\n")]);
        assert_eq!(core_is_closed(&other), []);
    }

    fn policy(path: &str, body: &str) -> Vec<String> {
        let text = format!("{SPDX}\n{body}");
        let header = format!("{SPDX}\n");
        let files = [
            (path, text.as_str()),
            ("policy/include/wakeplace/limits.h", header.as_str()),
        ];
        let findings = policy_is_freestanding(&Repo::of(&files));
        findings
            .iter()
            .map(|finding| finding.what.clone())
            .collect()
    }

    #[test]
    fn the_policy_includes_its_own_headers_only() {
        let good = "#include <wakeplace/policy.h>\n#include \"limits.h\" // x\n";
        assert_eq!(policy("policy/src/a.c", good).len(), 0);
        assert_eq!(policy("policy/src/a.c", "#include \"src/a.c\"\n").len(), 0);
        assert_eq!(
            policy("policy/src/a.c", "# include <string.h>\n"),
            ["includes <string.h>: the policy knows only its own headers"]
        );
        assert_eq!(policy("policy/src/a.c", "#include \"other.h\"\n").len(), 1);
        assert_eq!(policy("policy/tests/a.c", "#include <stdio.h>\n").len(), 0);
    }

    #[test]
    fn the_policy_has_its_licence_line_and_no_floating_point() {
        assert_eq!(policy("policy/src/a.c", "double x;\n").len(), 1);
        assert_eq!(
            policy("policy/src/a.c", "// doubles, double\nint x;\n").len(),
            0
        );
        let bare = Repo::of(&[("policy/src/a.h", "int a;\n")]);
        assert_eq!(policy_is_freestanding(&bare).len(), 1);
    }
}

//! The wall between licences, kept without any tool but cargo (CONTRIBUTING.md, "Licences").
//!
//! What everything but the live scheduler is built from must be under a licence of the `allow` list
//! in deny.toml. What the live scheduler links must be compatible with GPL-2.0-only besides, so
//! there Apache-2.0 as the only choice is refused.
//!
//! What must stay: deny.toml is the list; a package without a licence is refused. Free: how it is
//! done, and words that no test or script reads. Tests by part:
//! `expressions_are_weighed_as_spdx_says` (`holds`, `any`, `all`, `one`),
//! `a_copyleft_dependency_is_found_with_the_way_to_it`,
//! `the_kernels_shim_is_carried_under_its_own_licence_and_no_other` and
//! `what_the_live_scheduler_links_is_not_apache_alone` (`check`, `judge`, `objection`),
//! `the_list_is_deny_tomls` (`allowed`).
//!
//! Callers: mod.rs (`allowed`).
//!
//! Tests: below

use anyhow::{Context, Result, bail};

use super::graph::{Graph, Kind, Package};
use crate::Finding;
use crate::repo::Repo;

/// The live scheduler: the one crate under GPL-2.0-only.
const LIVE: &str = "scx";
/// Text of the kernel's licence, which the command line carries and writes out for the compiler of
/// whoever builds a kernel: a table of files, which no program of ours runs.
const CARRIED: &str = "wakeplace-kernel-shim";
const CARRIED_UNDER: &str = "GPL-2.0-only";
/// What it links of this workspace.
const LINKED_BY_LIVE: [&str; 4] = ["policy-sys", "platform", "host", "btf"];
/// What it may link beyond the list.
const COPYLEFT: [&str; 5] = [
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "LGPL-2.1-only",
    "LGPL-2.1-or-later",
    "LGPL-2.1",
];
/// On the list, and not compatible with GPL-2.0-only.
const NOT_WITH_GPL2: &str = "Apache-2.0";

/// The `allow` list of deny.toml.
pub(super) fn allowed(repo: &Repo) -> Result<Vec<String>> {
    let file = repo.get("deny.toml").context("no deny.toml")?;
    let section = file.text.split_once("[licenses]").map(|(_, rest)| rest);
    let list = section
        .and_then(|rest| rest.split_once("\nallow = ["))
        .map(|(_, rest)| rest);
    let list = list
        .and_then(|rest| rest.split_once(']'))
        .map(|(list, _)| list);
    let quoted: Vec<String> = list
        .unwrap_or_default()
        .split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    if quoted.is_empty() {
        bail!("deny.toml has no list `allow = [...]` under [licenses]");
    }
    Ok(quoted)
}

/// Packages under a licence that is not allowed where they are used.
pub(super) fn check(graph: &Graph, allowed: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let permissive = |id: &str| allowed.iter().any(|licence| licence == id);
    let with_gpl2 = |id: &str| (permissive(id) && id != NOT_WITH_GPL2) || COPYLEFT.contains(&id);
    let small_and_free = |id: &str| permissive(id) && id != NOT_WITH_GPL2;
    for (id, package) in graph.ours() {
        let name = package.short();
        if name == LIVE {
            judge(graph, id, &[Kind::Normal], &with_gpl2, &mut findings);
            continue;
        }
        if LINKED_BY_LIVE.contains(&name) {
            judge(graph, id, &[Kind::Normal], &small_and_free, &mut findings);
        }
        judge(
            graph,
            id,
            &[Kind::Normal, Kind::Build, Kind::Dev],
            &permissive,
            &mut findings,
        );
    }
    findings.sort_by(|a, b| (&a.place, &a.what).cmp(&(&b.place, &b.what)));
    findings.dedup();
    findings
}

/// Judges everything that `start` reaches.
fn judge(
    graph: &Graph,
    start: &str,
    kinds: &[Kind],
    permitted: &dyn Fn(&str) -> bool,
    findings: &mut Vec<Finding>,
) {
    for (id, way) in graph.reachable(start, kinds) {
        let package = &graph.packages[id];
        let is_carried = package.name == CARRIED && package.ours;
        if is_carried && package.licence.as_deref() == Some(CARRIED_UNDER) {
            continue;
        }
        if let Some(why) = objection(package, permitted) {
            let what = format!(
                "{} {}: {why} ({})",
                package.name,
                package.version,
                way.join(" -> ")
            );
            findings.push(Finding::on(graph.packages[start].short(), what));
        }
    }
}

/// None: the licence is allowed here.
fn objection(package: &Package, permitted: &dyn Fn(&str) -> bool) -> Option<String> {
    let Some(licence) = &package.licence else {
        return Some("states no licence".to_owned());
    };
    match holds(licence, permitted) {
        Ok(true) => None,
        Ok(false) => Some(format!("its licence `{licence}` is not allowed here")),
        Err(error) => Some(format!(
            "its licence `{licence}` is no SPDX expression: {error}"
        )),
    }
}

/// Whether an SPDX expression can be met with the licences that `permitted` takes. The old form
/// `MIT/Apache-2.0` means OR.
fn holds(expression: &str, permitted: &dyn Fn(&str) -> bool) -> Result<bool> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let value = any(&mut rest, permitted)?;
    if let Some(word) = rest.first() {
        bail!("`{word}` is left over");
    }
    Ok(value)
}

/// Terms joined by OR.
fn any(rest: &mut &[&str], permitted: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut value = all(rest, permitted)?;
    while let Some(("OR", tail)) = rest.split_first().map(|(word, tail)| (*word, tail)) {
        *rest = tail;
        value |= all(rest, permitted)?;
    }
    Ok(value)
}

/// Terms joined by AND, which bind closer.
fn all(rest: &mut &[&str], permitted: &dyn Fn(&str) -> bool) -> Result<bool> {
    let mut value = one(rest, permitted)?;
    while let Some(("AND", tail)) = rest.split_first().map(|(word, tail)| (*word, tail)) {
        *rest = tail;
        value &= one(rest, permitted)?;
    }
    Ok(value)
}

/// One licence, or an expression in brackets.
fn one(rest: &mut &[&str], permitted: &dyn Fn(&str) -> bool) -> Result<bool> {
    match **rest {
        ["(", ref tail @ ..] => {
            *rest = tail;
            let value = any(rest, permitted)?;
            let Some((&")", tail)) = rest.split_first() else {
                bail!("`)` is missing")
            };
            *rest = tail;
            Ok(value)
        }
        [licence, "WITH", exception, ref tail @ ..] => {
            *rest = tail;
            Ok(permitted(&format!("{licence} WITH {exception}")))
        }
        [licence, ref tail @ ..] if !matches!(licence, ")" | "AND" | "OR" | "WITH") => {
            *rest = tail;
            Ok(permitted(licence))
        }
        _ => bail!("a licence is missing"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::{Row, graph};
    use super::*;

    fn allow() -> Vec<String> {
        let text = "[licenses]\n# [x]\nallow = [\n    \"MIT\",\n    \"Apache-2.0\",\n]\n";
        allowed(&Repo::of(&[("deny.toml", text)])).expect("a list")
    }

    #[test]
    fn the_list_is_deny_tomls() {
        assert_eq!(allow(), ["MIT", "Apache-2.0"]);
        assert!(allowed(&Repo::of(&[("deny.toml", "[bans]\n")])).is_err());
    }

    #[test]
    fn expressions_are_weighed_as_spdx_says() {
        let mit = |id: &str| id == "MIT" || id == "Apache-2.0 WITH LLVM-exception";
        let value = |text| holds(text, &mit).ok();
        assert_eq!(value("MIT/Apache-2.0"), Some(true));
        assert_eq!(value("GPL-3.0-only OR MIT"), Some(true));
        assert_eq!(value("(MIT OR Apache-2.0) AND Unicode-3.0"), Some(false));
        // AND binds tighter than OR.
        assert_eq!(value("MIT OR Zlib AND ISC"), Some(true));
        assert_eq!(value("Apache-2.0 WITH LLVM-exception OR Zlib"), Some(true));
        assert_eq!(value("(MIT"), None);
        assert_eq!(value("MIT OR"), None);
        assert_eq!(value("MIT MIT"), None);
    }

    #[test]
    fn a_copyleft_dependency_is_found_with_the_way_to_it() {
        let graph = graph(&[
            (
                "wakeplace-cli",
                "MIT OR Apache-2.0",
                true,
                &[("a", "normal")],
            ),
            ("a", "MIT", false, &[("b", "normal")]),
            ("b", "GPL-2.0-only", false, &[]),
        ]);
        let found = check(&graph, &allow());
        assert_eq!(
            found,
            [Finding::on(
                "cli",
                "b 1.0.0: its licence `GPL-2.0-only` is not allowed here (cli -> a -> b)"
            )]
        );
    }

    #[test]
    fn the_kernels_shim_is_carried_under_its_own_licence_and_no_other() {
        let found = |name: &str, licence: &str, ours: bool| {
            let rows: &[Row<'_>] = &[
                ("wakeplace-cli", "MIT", true, &[(name, "normal")]),
                (name, licence, ours, &[]),
            ];
            check(&graph(rows), &allow()).len()
        };
        assert_eq!(found("wakeplace-kernel-shim", "GPL-2.0-only", true), 0);
        assert_ne!(found("wakeplace-kernel-shim", "GPL-3.0-only", true), 0);
        assert_ne!(found("wakeplace-kernel-shim", "GPL-2.0-only", false), 0);
        assert_ne!(found("wakeplace-kernel-other", "GPL-2.0-only", true), 0);
    }

    #[test]
    fn what_the_live_scheduler_links_is_not_apache_alone() {
        let apache: &[Row<'_>] = &[
            (
                "wakeplace-host",
                "MIT OR Apache-2.0",
                true,
                &[("a", "normal")],
            ),
            (
                "wakeplace-study",
                "MIT OR Apache-2.0",
                true,
                &[("a", "normal")],
            ),
            ("a", "Apache-2.0", false, &[]),
        ];
        let found = check(&graph(apache), &allow());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "host");
        let live: &[Row<'_>] = &[
            ("wakeplace-scx", "GPL-2.0-only", true, &[("bpf", "normal")]),
            ("bpf", "LGPL-2.1-only OR BSD-2-Clause", false, &[]),
        ];
        assert_eq!(check(&graph(live), &allow()), []);
    }
}

//! The build graph as `cargo metadata` tells it (CONTRIBUTING.md, "Rules that a check enforces").
//!
//! What must stay: only workspace members' tests count; what tests of dependencies need is not
//! followed. Free: how it is done, and words that no test or script reads. Tests by part:
//! `tests_of_dependencies_are_not_followed` (`reachable`, `short`), `nothing_is_no_graph`
//! (`parse`), edges.rs::`an_edge_against_the_arrows_is_found` (`ours`, `direct`),
//! repo.rs::`the_arrows_hold` (`of_workspace`, `kind_of`); `graph` is for tests.
//!
//! Callers: edges.rs (`direct`, `reachable`), licence.rs (`reachable`), mod.rs (`of_workspace`).
//!
//! Tests: below

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What a package is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Linked.
    Normal,
    /// Run while building.
    Build,
    /// For tests and benchmarks.
    Dev,
}

/// A package and the packages it names.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The SPDX expression, where the manifest has one.
    pub(super) licence: Option<String>,
    /// Of this workspace.
    pub(super) ours: bool,
    /// By identifier, with what for.
    pub(super) dependencies: Vec<(String, Kind)>,
}

impl Package {
    /// A crate's name without the project's prefix: the name of its folder.
    pub(super) fn short(&self) -> &str {
        self.name.strip_prefix("wakeplace-").unwrap_or(&self.name)
    }
}

/// All packages by identifier.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub(super) packages: BTreeMap<String, Package>,
}

impl Graph {
    /// Asks cargo about the workspace at `root`.
    pub(super) fn of_workspace(root: &Path) -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // What only other systems need is neither fetched nor looked at.
        let output = Command::new(cargo)
            .current_dir(root)
            .args(["metadata", "--format-version", "1"])
            .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
            .output()
            .context("running cargo metadata")?;
        if !output.status.success() {
            bail!(
                "cargo metadata: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Self::parse(&serde_json::from_slice(&output.stdout).context("reading cargo metadata")?)
    }

    /// Reads what `cargo metadata --format-version 1` prints.
    pub(super) fn parse(metadata: &Value) -> Result<Self> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let members: BTreeSet<String> = list(&metadata["workspace_members"])
            .iter()
            .map(text)
            .collect();
        let mut packages = BTreeMap::new();
        for package in list(&metadata["packages"]) {
            let id = text(&package["id"]);
            let package = Package {
                name: text(&package["name"]),
                version: text(&package["version"]),
                licence: package["license"].as_str().map(str::to_owned),
                ours: members.contains(&id),
                dependencies: Vec::new(),
            };
            packages.insert(id, package);
        }
        for node in list(&metadata["resolve"]["nodes"]) {
            let id = text(&node["id"]);
            let package = packages
                .get_mut(&id)
                .with_context(|| format!("unknown node {id}"))?;
            for dependency in list(&node["deps"]) {
                let kinds: BTreeSet<Kind> =
                    list(&dependency["dep_kinds"]).iter().map(kind_of).collect();
                let to = text(&dependency["pkg"]);
                package
                    .dependencies
                    .extend(kinds.into_iter().map(|kind| (to.clone(), kind)));
            }
        }
        if packages.is_empty() {
            bail!("cargo metadata names no package");
        }
        Ok(Self { packages })
    }

    /// The crates of this workspace, by identifier.
    pub(super) fn ours(&self) -> impl Iterator<Item = (&str, &Package)> {
        let all = self
            .packages
            .iter()
            .map(|(id, package)| (id.as_str(), package));
        all.filter(|(_, package)| package.ours)
    }

    /// What `package` names directly.
    pub(super) fn direct(&self, package: &Package) -> Vec<(&Package, Kind)> {
        let of = |(id, kind): &(String, Kind)| Some((self.packages.get(id)?, *kind));
        package.dependencies.iter().filter_map(of).collect()
    }

    /// Everything reachable from `start` (itself included), each with the names on the way to it.
    /// Only the dependencies of the first package count for tests; those of others never do.
    pub(super) fn reachable(&self, start: &str, kinds: &[Kind]) -> BTreeMap<&str, Vec<&str>> {
        let mut ways: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut queue = VecDeque::new();
        if let Some((id, package)) = self.packages.get_key_value(start) {
            ways.insert(id, vec![package.short()]);
            queue.push_back(id.as_str());
        }
        while let Some(id) = queue.pop_front() {
            let way = ways[id].clone();
            for (to, kind) in &self.packages[id].dependencies {
                let counts = kinds.contains(kind) && (*kind != Kind::Dev || id == start);
                let Some((to, package)) = self.packages.get_key_value(to) else {
                    continue;
                };
                if counts && !ways.contains_key(to.as_str()) {
                    ways.insert(to, [way.as_slice(), &[package.short()]].concat());
                    queue.push_back(to);
                }
            }
        }
        ways
    }
}

/// As cargo's JSON names it; null is a normal one.
fn kind_of(dep_kind: &Value) -> Kind {
    match dep_kind["kind"].as_str() {
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        _ => Kind::Normal,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// A package: name, licence, whether of this workspace, and what it names with what for.
    pub(in crate::arrows) type Row<'a> = (&'a str, &'a str, bool, &'a [(&'a str, &'a str)]);

    /// A graph of packages.
    pub(in crate::arrows) fn graph(packages: &[Row<'_>]) -> Graph {
        let deps = |list: &[(&str, &str)]| -> Vec<Value> {
            let kind = |kind: &str| {
                if kind == "normal" {
                    Value::Null
                } else {
                    json!(kind)
                }
            };
            let one = |(to, k): &(&str, &str)| json!({"pkg": to, "dep_kinds": [{"kind": kind(k)}]});
            list.iter().map(one).collect()
        };
        let metadata = json!({
            "packages": packages.iter().map(|(name, licence, _, _)| json!({
                "id": name, "name": name, "version": "1.0.0", "license": licence,
            })).collect::<Vec<_>>(),
            "workspace_members": packages.iter().filter(|p| p.2).map(|p| p.0).collect::<Vec<_>>(),
            "resolve": {"nodes": packages.iter().map(|(name, _, _, list)| json!({
                "id": name, "deps": deps(list),
            })).collect::<Vec<_>>()},
        });
        Graph::parse(&metadata).expect("a graph")
    }

    #[test]
    fn tests_of_dependencies_are_not_followed() {
        let graph = graph(&[
            ("wakeplace-a", "MIT", true, &[("b", "normal"), ("t", "dev")]),
            ("b", "MIT", false, &[("c", "build"), ("u", "dev")]),
            ("c", "MIT", false, &[]),
            ("t", "MIT", false, &[]),
            ("u", "MIT", false, &[]),
        ]);
        let names = |kinds: &[Kind]| -> Vec<String> {
            graph
                .reachable("wakeplace-a", kinds)
                .keys()
                .map(|&id| id.to_owned())
                .collect()
        };
        assert_eq!(names(&[Kind::Normal]), ["b", "wakeplace-a"]);
        assert_eq!(
            names(&[Kind::Normal, Kind::Build, Kind::Dev]),
            ["b", "c", "t", "wakeplace-a"]
        );
        assert_eq!(
            graph.reachable("wakeplace-a", &[Kind::Normal, Kind::Build])["c"],
            ["a", "b", "c"]
        );
    }

    #[test]
    fn nothing_is_no_graph() {
        assert!(Graph::parse(&json!({})).is_err());
    }
}

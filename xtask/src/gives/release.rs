//! `cargo xtask release [--dry-run]`: makes this tree a release. Version and date go into
//! CHANGELOG.md and CITATION.cff, in a commit with the tag vVERSION. Pushes nothing. `--dry-run`
//! checks all that it would check, and says what it would do (ARCHITECTURE.md, "The workshop").
//!
//! What must stay: nothing is pushed; what is in the way stops it before a file changes. Free: how
//! it is done, and words that no test or script reads. Tests by part: `what_is_in_the_way_is_found`
//! (`in_the_way`, `manifest`), `a_citation_has_one_date` (`dated`); `found` is the tests' own.
//! `version`, `run` have no test of their own: CI runs `release --dry-run`.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`), dist.rs (`version`).
//!
//! Tests: below

use anyhow::{Context, Result};
use serde::Deserialize;
use xshell::cmd;

use crate::Finding;
use crate::repo::Repo;
use crate::shop::{Shop, run as call, usage, write};

const CHANGES: &str = "CHANGELOG.md";
const CITATION: &str = "CITATION.cff";

#[derive(Deserialize)]
struct Manifest {
    workspace: Workspace,
}

#[derive(Deserialize)]
struct Workspace {
    package: Package,
    dependencies: toml::Table,
}

#[derive(Deserialize)]
struct Package {
    version: String,
}

/// The version of the workspace.
///
/// # Errors
/// Cargo.toml has none.
pub fn version(repo: &Repo) -> Result<String> {
    Ok(manifest(repo)?.package.version)
}

/// The workspace part of Cargo.toml.
fn manifest(repo: &Repo) -> Result<Workspace> {
    let file = repo.get("Cargo.toml").context("no Cargo.toml")?;
    let manifest: Manifest = toml::from_str(&file.text).context("Cargo.toml")?;
    Ok(manifest.workspace)
}

/// Releases, or says what is in the way.
///
/// # Errors
/// git fails, or a file cannot be written.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<Vec<Finding>> {
    let dry = match arguments {
        [] => false,
        ["--dry-run"] => true,
        _ => return Err(usage("expected --dry-run or nothing")),
    };
    let repo = Repo::load(&shop.root)?;
    let version = version(&repo)?;
    let mut findings = in_the_way(&repo, &version)?;
    let sh = &shop.sh;
    let tag = format!("v{version}");
    let tags = cmd!(sh, "git tag --list {tag}").quiet().read()?;
    if !tags.is_empty() {
        let what = format!("the tag {tag} is there already: set the next version");
        findings.push(Finding::on("Cargo.toml", what));
    }
    if !dry
        && !cmd!(sh, "git status --porcelain")
            .quiet()
            .read()?
            .is_empty()
    {
        findings.push(Finding::on(".", "the tree has changes: commit them first"));
    }
    if !findings.is_empty() {
        return Ok(findings);
    }
    let today = cmd!(sh, "date -u +%F").quiet().read()?;
    if dry {
        println!(
            "would write \"## [{version}] - {today}\" into {CHANGES} and the date into {CITATION}"
        );
        println!("would commit, and tag {tag}");
        return Ok(findings);
    }
    let text = |path: &str| {
        repo.get(path)
            .map(|file| file.text.clone())
            .unwrap_or_default()
    };
    let heading = format!("## [Unreleased]\n\n## [{version}] - {today}\n");
    let changes = text(CHANGES).replacen("## [Unreleased]\n", &heading, 1);
    write(&shop.root.join(CHANGES), changes)?;
    write(&shop.root.join(CITATION), dated(&text(CITATION), &today))?;
    let message = format!("wakeplace {version}");
    call(cmd!(
        sh,
        "git commit --quiet --message {message} {CHANGES} {CITATION}"
    ))?;
    call(cmd!(sh, "git tag --annotate {tag} --message {message}"))?;
    println!("tagged {tag}");
    Ok(findings)
}

/// With this one date of release.
fn dated(citation: &str, today: &str) -> String {
    let mut text = String::new();
    for line in citation
        .lines()
        .filter(|line| !line.starts_with("date-released: "))
    {
        text += &format!("{line}\n");
        if line.starts_with("version: ") {
            text += &format!("date-released: {today}\n");
        }
    }
    text
}

/// What must be mended first.
fn in_the_way(repo: &Repo, version: &str) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut wrong = |place: &str, what: String| findings.push(Finding::on(place, what));
    let numbers: Vec<_> = version.split('.').map(str::parse::<u32>).collect();
    if numbers.len() != 3 || numbers.iter().any(Result::is_err) {
        wrong(
            "Cargo.toml",
            format!("`{version}` is no version MAJOR.MINOR.PATCH"),
        );
    }
    // All crates have the workspace's version, and name each other by it.
    for (name, dependency) in manifest(repo)?.dependencies {
        let own = dependency.get("version").and_then(toml::Value::as_str);
        if name.starts_with("wakeplace-") && own != Some(version) {
            wrong("Cargo.toml", format!("{name} is not of {version}"));
        }
    }
    for file in repo
        .below("crates/")
        .filter(|file| file.path.ends_with("/Cargo.toml"))
    {
        let inner = file.path.split('/').count() != 3;
        if !inner && !file.text.contains("\nversion.workspace = true\n") {
            wrong(&file.path, "has a version of its own".to_owned());
        }
    }
    let text = |path: &str| repo.get(path).map_or("", |file| file.text.as_str());
    if !text(CITATION).contains(&format!("\nversion: {version}\n")) {
        wrong(CITATION, format!("version is not {version}"));
    }
    match text(CHANGES).split_once("\n## [Unreleased]\n") {
        None => wrong(CHANGES, "no heading \"## [Unreleased]\"".to_owned()),
        Some((_, rest)) => {
            let own = rest.split("\n## ").next().unwrap_or_default();
            if !own.contains("\n- ") {
                wrong(CHANGES, "nothing below \"## [Unreleased]\"".to_owned());
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::{dated, in_the_way};
    use crate::repo::Repo;

    const MANIFEST: &str = "[workspace.package]\nversion = \"1.2.3\"\n[workspace.dependencies]\n\
                            wakeplace-a = { path = \"crates/a\", version = \"1.2.3\" }\n";
    const CRATE: &str = "[package]\nversion.workspace = true\n";
    const CHANGES: &str =
        "# Changes\n\n## [Unreleased]\n\n- New.\n\n## [1.0.0] - 2020-01-01\n\n- Old.\n";
    const CITATION: &str = "title: w\nversion: 1.2.3\ndate-released: 2020-01-01\n";

    fn found(manifest: &str, own: &str, changes: &str, citation: &str) -> usize {
        let repo = Repo::of(&[
            ("Cargo.toml", manifest),
            ("crates/a/Cargo.toml", own),
            ("CHANGELOG.md", changes),
            ("CITATION.cff", citation),
        ]);
        in_the_way(&repo, "1.2.3").expect("a manifest").len()
    }

    #[test]
    fn what_is_in_the_way_is_found() {
        assert_eq!(found(MANIFEST, CRATE, CHANGES, CITATION), 0);
        let other = MANIFEST.replace("a\", version = \"1.2.3", "a\", version = \"1.2.2");
        assert_eq!(found(&other, CRATE, CHANGES, CITATION), 1);
        assert_eq!(
            found(MANIFEST, "[package]\nversion = \"1\"\n", CHANGES, CITATION),
            1
        );
        assert_eq!(
            found(MANIFEST, CRATE, &CHANGES.replace("- New.", ""), CITATION),
            1
        );
        assert_eq!(
            found(MANIFEST, CRATE, CHANGES, &CITATION.replace("1.2.3", "1")),
            1
        );
    }

    #[test]
    fn a_citation_has_one_date() {
        let text = dated(CITATION, "2026-01-02");
        assert_eq!(
            text,
            "title: w\nversion: 1.2.3\ndate-released: 2026-01-02\n"
        );
    }
}

//! `cargo xtask advisories [Cargo.lock]`: are there advisories about what we depend on?
//! (docs/decisions/058)
//!
//! Each crate of Cargo.lock is looked up, and so is the project that Cranelift comes from:
//! advisories about the compiler are filed under `wasmtime`, which nothing here depends on.
//! `wasmtime-internal-core` has the version of the Wasmtime that a Cranelift was released with.
//! With a file: of the Cranelift in it only. ADVISORY_DB: the address of the database of
//! advisories, else RustSec's.
//!
//! A Wasmtime whose series has a later release on crates.io is found without that database, too:
//! later releases of a series mend faults, nothing else.
//!
//! What must stay: it fails where it cannot ask, by the exit code for that; nothing is downloaded
//! but the database. Free: how it is done, and words that no test or script reads. Tests by part:
//! `run`, `locked`, `watch` have no test of their own: nightly shows a fault of theirs.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; it asks databases of others.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use xshell::cmd;

use super::deny;
use crate::shop::{Shop, missing, read, run as call, text_of, usage, write};

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// Looks them up.
///
/// # Errors
/// There is one, or the database or the registry cannot be reached.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let (lock, all) = match arguments {
        [] => ("Cargo.lock", true),
        [file] => (*file, false),
        _ => return Err(usage("expected a Cargo.lock or nothing")),
    };
    let wasmtime = locked(&shop.root.join(lock), "wasmtime-internal-core")
        .with_context(|| format!("by which the release of Cranelift in {lock} is known"))?;
    let series = wasmtime
        .rsplit_once('.')
        .map_or(wasmtime.as_str(), |(series, _)| series);
    let folder = shop.target.join("watched");
    watch(shop, &folder, &format!("~{series}"))
        .map_err(|_| missing("crates.io does not say which releases of Wasmtime there are"))?;
    let newest = locked(&folder.join("Cargo.lock"), "wasmtime")?;
    if newest != wasmtime {
        bail!(
            "Cranelift is that of Wasmtime {wasmtime}; {newest} is out: read its advisories and \
             take it"
        );
    }
    println!("Wasmtime {wasmtime} is the last of its series");

    let tool = deny(shop)?;
    watch(shop, &folder, &format!("={wasmtime}"))?;
    let mut config = read(&shop.root.join("deny.toml"))?;
    if let Some(database) = text_of("ADVISORY_DB") {
        let table = format!("[advisories]\ndb-urls = [\"{database}\"]");
        config = config.replacen("[advisories]", &table, 1);
    }
    let path: PathBuf = folder.join("deny.toml");
    write(&path, config)?;
    call(cmd!(shop.sh, "{tool} --locked fetch --config {path} db"))
        .map_err(|_| missing("the database of advisories cannot be fetched here"))?;
    let manifest = folder.join("Cargo.toml");
    let ours = cmd!(shop.sh, "{tool} --locked check --config {path} advisories");
    let watched = cmd!(
        shop.sh,
        "{tool} --locked --manifest-path {manifest} check --config {path} advisories"
    );
    let ours = if all { call(ours) } else { Ok(()) };
    call(watched).and(ours)
}

/// The version of a package in a lock file.
fn locked(lock: &Path, name: &str) -> Result<String> {
    let lock_file: Lock = toml::from_str(&read(lock)?)?;
    let found = lock_file
        .package
        .into_iter()
        .find(|package| package.name == name);
    let found = found.with_context(|| format!("{} has no {name}", lock.display()))?;
    Ok(found.version)
}

/// A package that depends on Wasmtime: what cargo and cargo-deny look at.
fn watch(shop: &Shop, folder: &Path, version: &str) -> Result<()> {
    shop.sh.remove_path(folder)?;
    write(&folder.join("src/lib.rs"), "")?;
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"watched\"\nversion = \"0.0.0\"\nedition = \"2024\"\nlicense = \
         \"MIT\"\n[workspace]\n[dependencies]\nwasmtime = {{ version = \"{version}\", \
         default-features = false }}\n"
    );
    write(&manifest, text)?;
    call(cmd!(
        shop.sh,
        "cargo generate-lockfile --quiet --manifest-path {manifest}"
    ))
}

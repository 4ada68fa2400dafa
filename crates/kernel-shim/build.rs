// SPDX-License-Identifier: GPL-2.0-only
//! Makes the table of the files of this crate, which `src/lib.rs` embeds.
//!
//! What must stay: files in the order of their paths, so that equal trees give equal programs;
//! hidden files and those of `LEFT_OUT` are not carried. Free: `LEFT_OUT`.
//!
//! Tests by part: crates/kernel-tree/tests/all/real_tree.rs: `a_kernel_of_the_archive_boots` (a
//! file that `main`, `collect` or `entries` lost ends the build). The order has no test of its own.
//!
//! Callers: cargo, before src/lib.rs is compiled.
//!
//! Tests: crates/kernel-tree/tests/all/real_tree.rs

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Not needed to build a kernel.
const LEFT_OUT: [&str; 6] = [
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "build.rs",
    "src",
    "tests",
];

fn main() -> io::Result<()> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let root = named("CARGO_MANIFEST_DIR");
    let mut files = Vec::new();
    for path in entries(&root)? {
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| !name.starts_with('.') && !LEFT_OUT.contains(&name)) {
            collect(&path, &mut files)?;
        }
    }
    let mut table = String::from("&[\n");
    for path in &files {
        let below = path.strip_prefix(&root).unwrap_or(path);
        let (below, path) = (below.display().to_string(), path.display().to_string());
        let _ = writeln!(
            table,
            "    File {{ path: {below:?}, text: include_str!({path:?}) }},"
        );
    }
    table.push_str("]\n");
    println!("cargo::rerun-if-changed={}", root.display());
    fs::write(named("OUT_DIR").join("files.rs"), table)
}

/// All files below a path, in the order of names.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in entries(path)? {
        collect(&entry, files)?;
    }
    Ok(())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths: io::Result<Vec<_>> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect();
    let mut paths = paths?;
    paths.sort();
    Ok(paths)
}

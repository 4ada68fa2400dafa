//! Embeds every `studies/FAMILY/NAME/{study.toml,README.md}`, so that a new study is files and no
//! code; and every `workloads/NAME.json`, for studies to name.
//!
//! What must stay: the names of the tables `BUILTIN` and `WORKLOADS`, which `catalogue.rs`
//! includes, and their order by name, so that a build does not depend on the file system. A file
//! that is no study fails the tests, not the build; a study without README.md fails the build.
//! Tests by part: `every_built_in_study_is_valid_and_explained` (`entry`, `folders`),
//! `patterns_choose_each_study_once` (the order), request.rs::`what_is_missing_or_wrong_is_named`
//! (`workloads`).
//!
//! Tests: crates/study/src/catalogue.rs::every_built_in_study_is_valid_and_explained,
//! crates/study/src/catalogue.rs::patterns_choose_each_study_once

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs at each build; writes a table into the build's folder, which `catalogue.rs` includes.
fn main() -> Result<(), Box<dyn Error>> {
    let dir = Path::new(&env::var("CARGO_MANIFEST_DIR")?)
        .join("studies")
        .canonicalize()?;
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut text = String::from("static BUILTIN: &[(&str, &str, &str)] = &[\n");
    for family in folders(&dir)? {
        for study in folders(&family)? {
            text.push_str(&entry(&dir, &study)?);
        }
    }
    text.push_str("];\n");
    text.push_str(&workloads(&dir.join("../workloads"))?);
    let out = PathBuf::from(env::var("OUT_DIR")?).join("builtin.rs");
    fs::write(out, text)?;
    Ok(())
}

/// `(path, text)` of the rt-app files, sorted by name.
fn workloads(dir: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(dir)? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let mut text = String::from("static WORKLOADS: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = format!("workloads/{}", name.ok_or("a file's name is not UTF-8")?);
        let path = file.canonicalize()?;
        let path = path.to_str().ok_or("the checkout's path is not UTF-8")?;
        writeln!(text, "    ({name:?}, include_str!({path:?})),")?;
    }
    text.push_str("];\n");
    Ok(text)
}

/// The folders in a folder, sorted by name.
fn folders(dir: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// `(name, study.toml, README.md)`.
fn entry(dir: &Path, study: &Path) -> Result<String, Box<dyn Error>> {
    let name = study.strip_prefix(dir)?;
    let name = name.to_str().ok_or("a study's name is not UTF-8")?;
    let mut line = format!("    ({name:?}");
    for file in ["study.toml", "README.md"] {
        let path = study.join(file);
        if !path.is_file() {
            return Err(format!("{} is missing", path.display()).into());
        }
        let path = path.to_str().ok_or("the checkout's path is not UTF-8")?;
        write!(line, ", include_str!({path:?})")?;
    }
    line.push_str("),\n");
    Ok(line)
}

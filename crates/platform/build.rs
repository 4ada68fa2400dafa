//! Embeds every `platforms/*.toml`, so that a new platform is one file and no code.
//!
//! The order is that of names, so that a build does not depend on the file system.
//!
//! What must stay: a file's stem is the name that `Platform::builtin` finds it by; the table's
//! name, `BUILTIN`, is what `src/builtin.rs` includes. Free: how the table is written. Tests by
//! part: `every_builtin_loads_under_its_own_name` (`main`, `table`), `other_names_are_in_order`
//! (each file is there once).
//!
//! Tests: crates/platform/tests/all/builtin.rs

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs at each build; writes the table that `builtin.rs` includes.
fn main() -> Result<(), Box<dyn Error>> {
    let dir = Path::new(&env::var("CARGO_MANIFEST_DIR")?)
        .join("platforms")
        .canonicalize()?;
    println!("cargo::rerun-if-changed={}", dir.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    let out = PathBuf::from(env::var("OUT_DIR")?).join("builtin.rs");
    fs::write(out, table(&files)?)?;
    Ok(())
}

/// The Rust text of the table of built-in platforms: `(name, file text)`.
fn table(files: &[PathBuf]) -> Result<String, Box<dyn Error>> {
    let mut text = String::from("static BUILTIN: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.file_stem().and_then(|s| s.to_str());
        let name = name.ok_or("a platform file's name is not UTF-8")?;
        let path = file.to_str().ok_or("the checkout's path is not UTF-8")?;
        writeln!(text, "    ({name:?}, include_str!({path:?})),")?;
    }
    text.push_str("];\n");
    Ok(text)
}

//! `doctor` on what was fetched: kernel trees and the lab.
//! Page: docs/guide/lab.md; docs/guide/kernel.md, "What it needs".
//!
//! What must stay: nothing is fetched, booted or made here; the caches are the tests' own. Exit
//! code 0: only the simulator's own lack is 3.
//! Tests by part: crates/lab/src/doctor.rs and crates/kernel-tree/src/doctor.rs:
//! `what_is_kept_is_found_and_nothing_is_made` (`checks`); crates/archive/src/program.rs:
//! `without_programs_nothing_can_be_fetched` (`missing`); crates/cli/src/commands/doctor.rs:
//! `of_another_machine_nothing_is_looked_for` (`of_this_machine`).
//! Helpers, and who fails with them: `doctor`, `of` (all tests).

use crate::common;

use common::{assert_code, folder, program, stdout};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// `doctor --format json` with both caches in the folder, and no program but those in `programs`.
fn doctor(folder: &TempDir, more: &[&str]) -> Value {
    let programs = folder.path().join("programs");
    fs::create_dir_all(&programs).expect("made");
    let output = program(folder.path())
        .env("PATH", programs)
        .env("WAKEPLACE_LAB_CACHE", folder.path().join("lab"))
        .env("WAKEPLACE_KERNEL_CACHE", folder.path().join("kernel"))
        .env_remove("WAKEPLACE_KERNEL_SHIM")
        .args(["doctor", "--format", "json"])
        .args(more)
        .output()
        .expect("the program starts");
    assert_code(&output, 0);
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

/// A check by its name.
fn of<'a>(doctor: &'a Value, name: &str) -> &'a Value {
    let checks = doctor["checks"].as_array().expect("a list");
    let check = checks.iter().find(|check| check["name"] == name);
    check.expect("a check of that name")
}

/// Without apt, what is not here cannot be had.
#[test]
fn without_programs_nothing_can_be_fetched() {
    let folder = folder();
    let said = doctor(&folder, &[]);
    assert_eq!(
        (&said["lab"], &said["simulator"]),
        (&false.into(), &true.into())
    );
    let archive = of(&said, "lab-archive");
    assert_eq!(archive["found"], "not here: apt-cache, apt-get, dpkg-deb");
    assert_eq!(archive["state"], "missing");
    let kernels = of(&said, "lab-kernels");
    assert_eq!(
        (&kernels["state"], &kernels["required"]),
        (&"missing".into(), &true.into())
    );
    assert_eq!(kernels["remedy"], "wakeplace lab fetch");
    assert_eq!(of(&said, "kernel-archive")["found"], archive["found"]);
}

/// A kernel whose type information is no such says so when it is used: it is not counted.
#[test]
fn what_is_kept_is_found_and_nothing_is_made() {
    let folder = folder();
    let said = doctor(&folder, &[]);
    let (lab, kernel) = (folder.path().join("lab"), folder.path().join("kernel"));
    assert!(!lab.exists() && !kernel.exists(), "nothing is made");
    let found = of(&said, "kernel-sources")["found"]
        .as_str()
        .expect("a text");
    assert_eq!(found, format!("none; kept in {}", kernel.display()));
    let kept = lab.join("kernels/amd64/7.3.4");
    fs::create_dir_all(&kept).expect("made");
    let record = r#"[{"package": "linux-binary-7.3.4", "version": "7.3.4-1", "sha256": ""}]"#;
    for (name, text) in [
        ("record.json", record),
        ("vmlinuz", ""),
        ("vmlinux.btf", ""),
    ] {
        fs::write(kept.join(name), text).expect("written");
    }
    let said = doctor(&folder, &[]);
    let found = of(&said, "lab-kernels")["found"].as_str().expect("a text");
    let none = format!("x86_64: none; arm64: none; kept in {}", lab.display());
    assert_eq!(found, none);
    let built = kernel.join("built/key");
    fs::create_dir_all(&built).expect("made");
    let object = r#"{"key": "key", "version": "7.3.4", "label": "7.3.4", "origin": "o",
        "like": "x86", "config": false}"#;
    fs::write(built.join("kernel.json"), object).expect("written");
    fs::write(built.join("kernel.so"), "").expect("written");
    let said = doctor(&folder, &[]);
    assert_eq!(of(&said, "kernel-objects")["found"], "7.3.4 (x86)");
}

#[test]
fn of_another_machine_nothing_is_looked_for() {
    let folder = folder();
    let root = folder.path().join("saved");
    fs::create_dir_all(&root).expect("made");
    let said = doctor(&folder, &["--root", "saved"]);
    for name in ["kernel-tools", "kernel-objects", "lab-host", "lab-programs"] {
        let check = of(&said, name);
        assert_eq!(check["state"], "unknown", "{name}");
        assert_eq!(check["remedy"], Value::Null, "{name}");
        assert_eq!(check["required"], false, "{name}");
    }
}

//! The inputs that the fuzz targets keep, at the door: the targets call the libraries, and what the
//! program prints of a file is said here.
//! Page: docs/internals/checks.md.
//!
//! What must stay: inputs once found stay kept (fuzz/corpus); exit codes are 0, 1 or 2.
//! Tests by part (in crates/cli/src): commands/platform_import.rs:
//! `kept_inputs_end_well_at_the_command_line` (damaged inputs).
//! Helpers, and who fails with them: `kept` (`kept_inputs_end_well_at_the_command_line`).

use crate::common::{PERIODIC, run, stderr};
use std::path::{Path, PathBuf};

/// The kept inputs of a target.
fn kept(target: &str) -> Vec<PathBuf> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let mut files = Vec::new();
    for home in ["corpus", "regressions"] {
        let folder = fuzz.join(home).join(target);
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        files.extend(entries.map(|entry| entry.expect("a folder that can be read").path()));
    }
    files.retain(|file| file.extension().is_none_or(|ending| ending != "md"));
    files.sort();
    files
}

/// Goal: whatever file is given, the program ends with 0, 1 or 2, not with a panic, and no control
/// character of the file gets to the terminal with a message.
#[test]
fn kept_inputs_end_well_at_the_command_line() {
    let sim = [
        "--workload",
        PERIODIC,
        "--policy",
        "linux-6.12",
        "--duration",
        "20ms",
    ];
    let commands: [(&str, &[&str], &[&str]); 7] = [
        ("platform", &["platform", "show"], &[]),
        ("platform", &["sim", "--platform"], &sim),
        ("rtapp", &["workload", "check"], &[]),
        ("trace", &["workload", "check"], &[]),
        ("tree", &["platform", "import", "--dtb"], &[]),
        ("tree", &["platform", "import", "--lisa"], &[]),
        ("report", &["report"], &[]),
    ];
    let mut count = 0;
    for (target, before, after) in commands {
        for file in kept(target) {
            let file = file.to_str().expect("a name in UTF-8");
            // With colours, since without them every escape sequence is left out.
            let output = run(&[before, &[file, "--color", "always"], after].concat());
            let (said, code) = (stderr(&output), output.status.code());
            assert!(
                matches!(code, Some(0..=2)),
                "{before:?} {file}: {code:?}: {said}"
            );
            let own = ["\u{1b}[1;31m", "\u{1b}[1;33m", "\u{1b}[0m"];
            let said = own.iter().fold(said, |said, code| said.replace(code, ""));
            let control = said.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(control, None, "{before:?} {file}: {said:?}");
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} inputs were found");
}

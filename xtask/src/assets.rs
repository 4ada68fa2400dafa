//! Programs of others that stand in this repository as they were published: their sums.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::Finding;

/// Where they are, and what says what they are.
const FOLDER: &str = "crates/report/assets";
const TABLE: &str = "README.md";
/// Files in it that are this project's.
const OWN: [&str; 6] = [
    TABLE,
    "palettes.json",
    "report.css",
    "report.js",
    "timeline-drawing.js",
    "timeline.js",
];

/// Whether each file is the one that the folder's table names.
///
/// # Errors
/// The folder or one of its files cannot be read.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let folder = root.join(FOLDER);
    let table = fs::read_to_string(folder.join(TABLE)).with_context(|| place(TABLE))?;
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| FOLDER.to_owned())? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bytes = fs::read(&path).with_context(|| place(&name))?;
        files.push((name, sum(&bytes)));
    }
    files.sort();
    Ok(findings(&table, &files))
}

fn place(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

fn sum(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `files`: names and sums.
fn findings(table: &str, files: &[(String, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut named = Vec::new();
    for (at, line) in table.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, .., listed, _] = cells.as_slice() else {
            continue;
        };
        if listed.len() != 64 {
            continue;
        }
        named.push(*name);
        let what = match files.iter().find(|(file, _)| file == name) {
            None => format!("`{name}` is listed and not there"),
            Some((_, found)) if found != listed => {
                format!("`{name}` is not as it was published: its sha256 is {found}")
            }
            Some(_) => continue,
        };
        findings.push(Finding::at(&place(TABLE), at + 1, what));
    }
    for (name, _) in files {
        if !OWN.contains(&name.as_str()) && !named.contains(&name.as_str()) {
            let what = format!("has no row with its source and sum in {}", place(TABLE));
            findings.push(Finding::on(&place(name), what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{findings, sum};

    #[test]
    fn sums_are_sha256() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum(b"abc"), abc);
    }

    #[test]
    fn what_differs_lacks_or_is_unknown_is_found() {
        let [a, b] = [sum(b"a"), sum(b"b")];
        let row = |name: &str, sum: &str| format!("| {name} | p | 1.0 | MIT | {sum} |\n");
        let table = row("x.js", &a) + &row("y.js", &b);
        let file = |name: &str, sum: &str| (name.to_owned(), sum.to_owned());
        let found = |files: &[(String, String)]| {
            let all = findings(&table, files);
            all.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(
            found(&[file("README.md", ""), file("x.js", &a), file("y.js", &b)]),
            ""
        );
        let wrong = found(&[file("x.js", &b), file("z.js", &b)]);
        for part in [
            "`x.js` is not as",
            "`y.js` is listed and not there",
            "z.js: has no row",
        ] {
            assert!(wrong.contains(part), "{wrong}");
        }
    }
}

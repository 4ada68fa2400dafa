//! Files that stand in this repository as others made them, or as a machine wrote them: their sums
//! (docs/guide/report.md).
//!
//! What must stay: each folder's table names its files with origin and sum; a file without a row is
//! a finding. Free: how it is done, and words that no test or script reads. Tests by part:
//! `sums_are_sha256` (`sum`), `what_differs_lacks_or_is_unknown_is_found` (`entry`, `place`,
//! `findings`), repo.rs::`programs_of_others_are_as_they_were_published` (`check`).
//!
//! Callers: commands.rs (`check`).
//!
//! Tests: below

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::Finding;

/// A folder whose files are copies.
struct Folder {
    path: &'static str,
    /// Its file that names each copy with its SHA-256: a Markdown table, or lines of `sha256sum`.
    table: &'static str,
    /// Files in it that are this project's.
    own: &'static [&'static str],
}

const FOLDERS: [Folder; 3] = [
    // Programs of others, with their sources.
    Folder {
        path: "crates/report/assets",
        table: "README.md",
        own: &[
            "palettes.json",
            "report.css",
            "report.js",
            "timeline-drawing.js",
            "timeline.js",
        ],
    },
    // Figures and logs of recorded runs.
    Folder {
        path: "crates/fidelity/data/captured",
        table: "SHA256SUMS",
        own: &["README.md"],
    },
    // Figures that kernels and series were measured by.
    Folder {
        path: "crates/policy-sys/tests/data",
        table: "SHA256SUMS",
        own: &["README.md"],
    },
];

/// Whether each file is the one that its folder's table names.
///
/// # Errors
/// A folder or one of its files cannot be read.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for folder in &FOLDERS {
        let table = folder.place(folder.table);
        let table = fs::read_to_string(root.join(&table)).context(table)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(root.join(folder.path)).context(folder.path)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_file() {
                let bytes = fs::read(entry.path()).with_context(|| folder.place(&name))?;
                files.push((name, sum(&bytes)));
            }
        }
        files.sort();
        found.extend(folder.findings(&table, &files));
    }
    Ok(found)
}

/// SHA-256 in hexadecimal digits.
fn sum(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name and the sum in a line of a table. None: it is no row.
fn entry(line: &str) -> Option<(&str, &str)> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let (name, sum) = match cells.as_slice() {
        [_, name, .., sum, _] => (*name, *sum),
        _ => line.split_once("  ").map(|(sum, name)| (name, sum))?,
    };
    (sum.len() == 64).then_some((name, sum))
}

impl Folder {
    /// From the repository's root.
    fn place(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    /// `files`: names and sums.
    fn findings(&self, table: &str, files: &[(String, String)]) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut named = vec![self.table];
        named.extend(self.own);
        for (at, line) in table.lines().enumerate() {
            let Some((name, listed)) = entry(line) else {
                continue;
            };
            named.push(name);
            let what = match files.iter().find(|(file, _)| file == name) {
                None => format!("`{name}` is listed and not there"),
                Some((_, found)) if found != listed => {
                    format!("`{name}` is not as it was published: its sha256 is {found}")
                }
                Some(_) => continue,
            };
            findings.push(Finding::at(&self.place(self.table), at + 1, what));
        }
        for (name, _) in files {
            if !named.contains(&name.as_str()) {
                let table = self.place(self.table);
                let what = format!("has no row with its source and sum in {table}");
                findings.push(Finding::on(&self.place(name), what));
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::{FOLDERS, sum};

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
            let all = FOLDERS[0].findings(&table, files);
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

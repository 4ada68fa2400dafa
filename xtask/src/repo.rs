//! The repository as the rules see it: its text files, and what kind each is (CONTRIBUTING.md,
//! "Rules that a check enforces").
//!
//! What must stay: paths are from the root, with slashes; rules see the same files everywhere.
//! Free: how it is done, and words that no test or script reads. Tests by part: `kinds_of_files`
//! (`new`, `extension`, `language`, `is_test`, `is_data`),
//! `a_test_module_at_the_end_is_not_product` (`product_lines`, `code`), repo.rs::`the_style_holds`
//! (`load`, `git_files`, `walk`, `get`, `below`), setup.rs::`waits_for_a_held_lock` (`root`),
//! lines.rs::`a_line_of_101_columns_is_found_and_one_of_100_is_not` (`is_generated`),
//! docs.rs::`a_crate_without_a_description_is_found` (`of`).
//!
//! Callers: arrows/sources.rs (`language`, `product_lines`), tidy/sizes.rs (`language`,
//! `product_lines`), tidy/lines.rs (`product_lines`), many files (`extension`).
//!
//! Tests: below

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::lexer::{self, Language};

/// A text file with its path from the root.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// With forward slashes, from the root.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// The text files of the repository.
#[derive(Clone, Debug, Default)]
pub struct Repo {
    /// Sorted by path.
    pub files: Vec<SourceFile>,
    /// Paths of files that are no text, such as pictures.
    pub others: Vec<String>,
}

/// Names of text files that the rules read, by what the name ends with.
const TEXT: [&str; 12] = [
    ".rs", ".c", ".h", ".sh", ".toml", ".md", ".py", ".json", ".cff", "Makefile", ".ci/run",
    "LICENSE",
];

impl Repo {
    /// The root of the checkout this program was built from.
    #[must_use]
    pub fn root() -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        here.parent().unwrap_or(here).to_path_buf()
    }

    /// Reads the files git knows or would add; without git, every file but build results.
    ///
    /// # Errors
    /// When git cannot list the files or one of them cannot be read.
    pub fn load(root: &Path) -> Result<Self> {
        let mut paths = if root.join(".git").exists() {
            git_files(root)?
        } else {
            walk(root)?
        };
        paths.sort();
        paths.dedup();
        let is_text = |path: &String| TEXT.iter().any(|end| path.ends_with(end));
        let (paths, mut others): (Vec<_>, Vec<_>) = paths.into_iter().partition(is_text);
        others.retain(|path| root.join(path).is_file());
        let mut files = Vec::new();
        for path in paths {
            let full = root.join(&path);
            // What git still lists and someone has deleted is no longer there to check.
            if full.is_file() {
                let text = fs::read_to_string(&full).with_context(|| format!("reading {path}"))?;
                files.push(SourceFile { path, text });
            }
        }
        Ok(Self { files, others })
    }

    /// A repository of the given files, for tests of rules.
    #[must_use]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |&(path, text): &(&str, &str)| SourceFile::new(path, text);
        Self {
            files: files.iter().map(file).collect(),
            others: Vec::new(),
        }
    }

    /// The file at a path. None: there is none.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files below a folder (given with its slash).
    pub fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a SourceFile> {
        self.files
            .iter()
            .filter(move |file| file.path.starts_with(folder))
    }
}

/// The files that git knows or would add.
fn git_files(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .context("running git ls-files")?;
    if !output.status.success() {
        bail!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let text = String::from_utf8(output.stdout).context("a file name that is not UTF-8")?;
    Ok(text
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect())
}

/// All files but those of target.
fn walk(root: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() && path != root.join("target") {
                folders.push(path);
            } else if let (true, Ok(short)) = (path.is_file(), path.strip_prefix(root)) {
                paths.push(short.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    Ok(paths)
}

impl SourceFile {
    /// A file with the given text.
    #[must_use]
    pub fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// What the name ends with after its last dot.
    #[must_use]
    pub fn extension(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Rust, C, or None: rules over code pass the file over.
    #[must_use]
    pub fn language(&self) -> Option<Language> {
        match self.extension() {
            "rs" => Some(Language::Rust),
            "c" | "h" => Some(Language::C),
            _ => None,
        }
    }

    /// Code without comments and string contents; line numbers stay.
    #[must_use]
    pub fn code(&self) -> String {
        match self.language() {
            Some(language) => lexer::blank(&self.text, language),
            None => self.text.clone(),
        }
    }

    /// A test, a proof harness or a benchmark as a whole.
    #[must_use]
    pub fn is_test(&self) -> bool {
        let stem = self.path.rsplit('/').next().unwrap_or_default();
        let stem = stem.split('.').next().unwrap_or_default();
        stem == "tests"
            || stem.ends_with("_tests")
            || stem.ends_with("_test")
            || self.path.split('/').rev().skip(1).any(|folder| {
                matches!(folder, "tests" | "benches" | "fuzz" | "proofs" | "fixtures")
            })
    }

    /// Written by a program.
    #[must_use]
    pub fn is_generated(&self) -> bool {
        let mark = ["automatically ", "generated"].concat();
        self.text.lines().take(5).any(|line| line.contains(&mark))
    }

    /// A description of a platform, workload or study, where sources are quoted at length.
    #[must_use]
    pub fn is_data(&self) -> bool {
        ["platforms/", "workloads/", "studies/"]
            .iter()
            .any(|top| self.path.starts_with(top))
    }

    /// The lines before the test module at a Rust file's end: all of them where there is none.
    #[must_use]
    pub fn product_lines(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().collect();
        let is_start = |pair: &&[&str]| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ");
        let start = lines
            .windows(2)
            .position(|pair| is_start(&pair) && pair[1].ends_with('{'));
        start.unwrap_or(lines.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files() {
        assert!(SourceFile::new("crates/host/tests/probe.rs", "").is_test());
        assert!(SourceFile::new("crates/x/src/pelt_tests.rs", "").is_test());
        assert!(!SourceFile::new("crates/x/src/latest.rs", "").is_test());
        assert!(SourceFile::new("platforms/a.toml", "").is_data());
        assert_eq!(SourceFile::new(".ci/run", "").extension(), "");
        assert_eq!(
            SourceFile::new("policy/policy.h", "").language(),
            Some(Language::C)
        );
    }

    #[test]
    fn a_test_module_at_the_end_is_not_product() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(SourceFile::new("a.rs", text).product_lines(), 2);
        assert_eq!(SourceFile::new("a.rs", "fn a() {}\n").product_lines(), 1);
        let elsewhere = "#[cfg(test)]\nmod tests;\nfn a() {}\n";
        assert_eq!(SourceFile::new("a.rs", elsewhere).product_lines(), 3);
    }
}

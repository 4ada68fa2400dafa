//! A configuration fragment of the user's own (docs/guide/kernel.md, "What it needs").
//!
//! What must stay: the fragment is part of an object's key. Lines are those of `.config`. Free:
//! words of refusals, but for those that tests quote.
//!
//! Tests by part: `only_options_stand_in_a_fragment` (`read`, `option`),
//! `what_the_tree_did_not_take_is_found` (`not_taken`),
//! fake_tree.rs::`an_option_that_is_not_taken_is_said` (both in a build).
//!
//! Callers: builds.rs.
//!
//! Tests: below

use crate::TreeError;
use std::fs;
use std::path::{Path, PathBuf};

/// What was asked for by `--kernel-config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

impl Fragment {
    /// Reads a file in the form of `.config`.
    pub(crate) fn read(path: &Path) -> Result<Self, TreeError> {
        let wrong = |why: String| TreeError::Configuration(format!("{}{why}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| wrong(format!(": {error}")))?;
        for (number, line) in (1..).zip(text.lines()) {
            let comment = line.trim().is_empty() || line.starts_with('#');
            if !comment && option(line).is_none() {
                let shown = wakeplace_text::shorten(line);
                return Err(wrong(format!(
                    ":{number}: `{shown}` is no option; expected CONFIG_NAME=VALUE or \
                     `# CONFIG_NAME is not set`"
                )));
            }
        }
        let path = fs::canonicalize(path).map_err(TreeError::reading(path))?;
        Ok(Self { path, text })
    }

    /// Lines that the finished configuration does not have: the tree has no such option, or it
    /// depends on one that is off.
    pub(crate) fn not_taken(&self, finished: &str) -> Vec<&str> {
        let lines = self.text.lines().map(str::trim);
        let wanted = lines.filter_map(|line| Some((line, option(line)?)));
        // The last line for a name is the one that counts.
        let all: Vec<_> = wanted.collect();
        let counts = |at: usize, name: &str| !all[at + 1..].iter().any(|(_, (n, _))| *n == name);
        let taken = |name: &str, value: &str| {
            let mut found = finished.lines().filter_map(option);
            let found = found.find(|(other, _)| *other == name);
            found.map_or(value == "n", |(_, other)| other == value)
        };
        let lost = all
            .iter()
            .enumerate()
            .filter(|(at, (_, (name, value)))| counts(*at, name) && !taken(name, value));
        lost.map(|(_, (line, _))| *line).collect()
    }
}

/// Name and value of a line; an option that is not set has the value `n`. None: no option.
fn option(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (name, value) = match line.strip_prefix("# ") {
        Some(rest) => (rest.strip_suffix(" is not set")?, "n"),
        None => line.split_once('=')?,
    };
    let plain =
        |c: u8| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_' || c.is_ascii_lowercase();
    let fits = name
        .strip_prefix("CONFIG_")
        .is_some_and(|name| !name.is_empty() && name.bytes().all(plain));
    (fits && !value.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(text: &str) -> Result<Fragment, TreeError> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("my.config");
        fs::write(&path, text).expect("written");
        Fragment::read(&path)
    }

    #[test]
    fn only_options_stand_in_a_fragment() {
        assert!(fragment("# mine\n\nCONFIG_HZ=1000\n# CONFIG_NUMA is not set\n").is_ok());
        for (text, said) in [
            ("CONFIG_A=y\nHZ=1000\n", ":2: `HZ=1000` is no option"),
            ("CONFIG_=y\n", ":1: `CONFIG_=y` is no option"),
            ("CONFIG_A=\n", ":1: `CONFIG_A=` is no option"),
        ] {
            let error = fragment(text).expect_err(text).to_string();
            assert!(error.contains(said), "{error}");
        }
        let error = Fragment::read(Path::new("/none")).expect_err("none");
        assert!(error.to_string().starts_with("/none: "), "{error}");
    }

    #[test]
    fn what_the_tree_did_not_take_is_found() {
        let text =
            "CONFIG_A=y\nCONFIG_B=y\nCONFIG_C=n\n# CONFIG_D is not set\nCONFIG_B=n\nCONFIG_E=2\n";
        let fragment = fragment(text).expect("read");
        let finished = "CONFIG_A=y\nCONFIG_D=y\nCONFIG_E=1\n";
        assert_eq!(
            fragment.not_taken(finished),
            ["# CONFIG_D is not set", "CONFIG_E=2"]
        );
    }
}

//! Finding a platform: built into the program, or a file. The one way from a name or path to a
//! machine, for every program (docs/guide/platforms.md, "What the words mean").
//!
//! Free: which other names lead to a machine, and the words of errors.
//!
//! What must stay: a name that is there, as results, studies and scripts have it. A name never
//! means a path, nor a path a name. A machine of a file is called by its path in results. Texts are
//! of bounded length. Tests by part: `every_builtin_loads_under_its_own_name` (`builtin_names`,
//! `builtin`), hostile.rs::`names_and_paths_do_not_shadow_each_other` (`load`, `from_file`),
//! `names_that_people_type` (`near`), `other_names_are_in_order` (`other_names`),
//! hostile.rs::`a_huge_file_is_refused_unread` (`read_limited`),
//! hostile.rs::`bytes_that_are_no_text_have_a_place` (`text_of_bytes`),
//! `every_builtin_loads_under_its_own_name` (`source_text`, `from_bytes`, `text_of_file`).
//!
//! Callers: crates/cli/src/commands/platform.rs (`other_names`),
//! crates/cli/src/commands/platform_text.rs (`other_names`), crates/study/src/request.rs
//! (`from_bytes`), crates/study/src/sweep/platform.rs (`source_text`), many files
//! (`builtin_names`).
//!
//! Tests: crates/platform/tests/all/builtin.rs, crates/platform/tests/all/hostile.rs

use serde::Deserialize;
use std::fs::File;
use std::io::Read;

use crate::error::{Flaw, PlatformError};
use crate::{MAX_FILE_BYTES, Platform};
use wakeplace_text::nearest_few;

/// Names that a message about a wrong one offers: boards come in families.
const OFFERED: usize = 3;

include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// Names of the built-in platforms, in alphabetical order.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, _)| *name)
}

impl Platform {
    /// A platform by built-in name (`hikey960`, `platform:hikey960`) or path (anything with `/` or
    /// ending in `.toml`). The two forms never overlap, so neither shadows the other.
    ///
    /// # Errors
    /// The name is unknown, or the file is unreadable, too large or breaks a rule.
    pub fn load(name_or_path: &str) -> Result<Self, PlatformError> {
        match name_or_path.strip_prefix("platform:") {
            Some(name) => Self::builtin(name),
            None if name_or_path.contains('/') || name_or_path.ends_with(".toml") => {
                let mut platform = Self::from_file(name_or_path)?;
                // Results say which file it was: a copy keeps the built-in's name inside.
                name_or_path.clone_into(&mut platform.name);
                Ok(platform)
            }
            None => Self::builtin(name_or_path),
        }
    }

    /// A built-in platform.
    ///
    /// # Errors
    /// The name is unknown.
    pub fn builtin(name: &str) -> Result<Self, PlatformError> {
        match BUILTIN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Self::from_toml(text, &format!("platforms/{name}.toml")),
            None => Err(PlatformError::UnknownName {
                name: wakeplace_text::shorten(name),
                near: near(name),
            }),
        }
    }

    /// The text of a platform that [`Platform::load`] reads.
    ///
    /// # Errors
    /// As [`Platform::load`]; the text's rules are not looked at.
    pub fn source_text(name_or_path: &str) -> Result<String, PlatformError> {
        let bare = name_or_path.strip_prefix("platform:");
        if bare.is_none() && (name_or_path.contains('/') || name_or_path.ends_with(".toml")) {
            return text_of_file(name_or_path);
        }
        let name = bare.unwrap_or(name_or_path);
        match BUILTIN.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok((*text).to_owned()),
            None => Self::builtin(name).map(|_| String::new()),
        }
    }

    /// The machine of a file; the path names it in messages.
    fn from_file(path: &str) -> Result<Self, PlatformError> {
        Self::from_toml(&text_of_file(path)?, path)
    }

    /// What [`Platform::load`] makes of a file at `path` that holds these bytes.
    ///
    /// # Errors
    /// As [`Platform::load`].
    pub fn from_bytes(bytes: &[u8], path: &str) -> Result<Self, PlatformError> {
        let mut platform = Self::from_toml(&text_of_bytes(bytes, path)?, path)?;
        path.clone_into(&mut platform.name);
        Ok(platform)
    }
}

/// What else people call a built-in platform: the board, the chip, the product.
#[must_use]
pub fn other_names(name: &str) -> Vec<String> {
    #[derive(Deserialize)]
    struct Names {
        #[serde(default)]
        also_known_as: Vec<String>,
    }
    let text = BUILTIN.iter().find(|(known, _)| *known == name);
    let names = text.and_then(|(_, text)| toml::from_str::<Names>(text).ok());
    names.map_or_else(Vec::new, |names| names.also_known_as)
}

/// The built-in platforms that a name may mean, the nearest first: by their own names and by the
/// others, both without regard to blanks and signs. Of other names the digits are right: a Pixel 7
/// is no Pixel 6.
fn near(name: &str) -> Vec<String> {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let digits = |text: &str| text.replace(|c: char| !c.is_ascii_digit(), "");
    let asked = plain(name);
    if asked.is_empty() {
        return Vec::new();
    }
    let mut labels: Vec<(String, &'static str)> = Vec::new();
    for known in builtin_names() {
        labels.push((plain(known), known));
        let others = other_names(known);
        let others = others.iter().map(|other| plain(other));
        let fits = |other: &String| other.starts_with(&asked) || digits(other) == digits(&asked);
        labels.extend(others.filter(fits).map(|other| (other, known)));
    }
    let texts = labels.iter().map(|(label, _)| label.as_str());
    let mut found: Vec<String> = Vec::new();
    for label in nearest_few(&asked, texts, labels.len()) {
        let meant = labels.iter().filter(|(known, _)| known == label);
        let mut meant: Vec<&str> = meant.map(|(_, platform)| *platform).collect();
        // Of two files of one machine the usual one has the shorter name.
        meant.sort_by_key(|platform| platform.len());
        for platform in meant {
            if !found.iter().any(|known| known == platform) {
                found.push(platform.to_owned());
            }
        }
    }
    found.truncate(OFFERED);
    found
}

/// The file's text, or why there is none.
fn text_of_file(path: &str) -> Result<String, PlatformError> {
    let bytes = read_limited(path).map_err(|source| PlatformError::Read {
        file: path.to_owned(),
        source,
    })?;
    text_of_bytes(&bytes, path)
}

/// The file as text, if it is not too large and UTF-8; else where it is not.
fn text_of_bytes(bytes: &[u8], path: &str) -> Result<String, PlatformError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(PlatformError::TooLarge {
            file: path.to_owned(),
            limit: MAX_FILE_BYTES,
        });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(error) => {
            let at = error.valid_up_to();
            let problem = format!("byte 0x{:02x} is not UTF-8", bytes[at]);
            Err(Flaw::new(at, problem, "expected UTF-8 text").locate(path, bytes))
        }
    }
}

/// At most one byte more than the limit, so that a file of any size costs little.
fn read_limited(path: &str) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

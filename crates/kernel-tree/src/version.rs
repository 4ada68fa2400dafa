//! Versions of kernels, as `7.3.4` (docs/guide/kernel.md, "Names").
//!
//! What must stay: the text is that which was read; a series begins its versions. Free: how a text
//! is taken apart.
//!
//! Tests by part: `a_series_begins_its_versions_only` (`begins`, `series`),
//! `numbers_are_compared_as_numbers` (`cmp`, `partial_cmp`), `debians_own_part_goes` (`of_debian`),
//! `what_is_no_version_is_none` (`from_str`). `fmt` gives back what was read.
//!
//! Callers: spec.rs (names), offers.rs, kept.rs.
//!
//! Tests: below

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Numbers with points between them, at least two: `7.3` stands for all that begin so.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version(Vec<u32>);

impl Version {
    /// `self` is `other`, or `other` begins with it.
    #[must_use]
    pub fn begins(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The version of what Debian calls `7.3.4-1~bpo13+1`; an epoch before it goes, too. None: it
    /// is no version.
    #[must_use]
    pub fn of_debian(text: &str) -> Option<Self> {
        let text = text.split_once(':').map_or(text, |(_, rest)| rest);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        text[..end.unwrap_or(text.len())].parse().ok()
    }

    /// Gives the part that names the series: `7.3` of `7.3.4`.
    #[must_use]
    pub fn series(&self) -> Self {
        Self(self.0.iter().take(2).copied().collect())
    }
}

impl FromStr for Version {
    type Err = ();

    /// Two numbers at least, digits only.
    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |part: &str| {
            let plain = !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
            plain.then(|| part.parse().ok()).flatten()
        };
        let numbers: Option<Vec<u32>> = text.split('.').map(number).collect();
        numbers
            .filter(|numbers| numbers.len() >= 2)
            .map(Self)
            .ok_or(())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

impl Ord for Version {
    /// By numbers: 6.9 before 6.12.
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().expect("a version")
    }

    #[test]
    fn a_series_begins_its_versions_only() {
        assert!(version("6.1").begins(&version("6.1.176")));
        assert!(!version("6.1").begins(&version("6.12.107")));
        assert!(version("7.3.4").begins(&version("7.3.4")));
        assert_eq!(version("7.3.4").series(), version("7.3"));
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(version("6.12.9") < version("6.12.107"));
        assert!(version("6.1.176") < version("6.12.8"));
    }

    #[test]
    fn debians_own_part_goes() {
        let of = |text| Version::of_debian(text).map(|version| version.to_string());
        assert_eq!(of("7.3.4-1~bpo13+1").as_deref(), Some("7.3.4"));
        assert_eq!(of("1:5.10.223-1").as_deref(), Some("5.10.223"));
        assert_eq!(of("6.19~rc4-1").as_deref(), Some("6.19"));
        assert_eq!(of("x"), None);
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in [
            "",
            "7",
            "7.",
            "7.x",
            ".3",
            "7.3-rc1",
            "+7.3",
            "99999999999.1",
        ] {
            assert_eq!(text.parse::<Version>(), Err(()), "{text}");
        }
    }
}

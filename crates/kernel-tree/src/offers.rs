//! Which versions the package archive has (docs/guide/kernel.md, "Names").
//!
//! What must stay: the newest that fits is taken, the same on all machines with one archive.
//! Answers are kept for a day. Free: how the archive is asked.
//!
//! Tests by part: `the_newest_that_begins_so_is_taken` (`newest`),
//! `debians_own_package_goes_before_its_source` (`sort`), `a_series_is_named_once` (`series`),
//! `other_packages_of_that_prefix_are_none` (`real`), real_tree.rs::`a_kernel_of_the_archive_boots`
//! (`get`, `of_suite`, `apt`, `selection`: they need an archive).
//!
//! Callers: kept.rs, crates/cli/src/commands/kernel.rs (`get`).
//!
//! Tests: below

use crate::TreeError;
use crate::version::Version;
use serde::{Deserialize, Serialize};
use std::fs;
use wakeplace_archive::apt::{AptTree, LISTS_LAST, Listed, Selection};
use wakeplace_archive::{Cache, Watch, age};

/// Debian's releases whose `linux-source-*` packages are taken; the last has older versions as
/// source packages, too. Each has a tree of its own, so that one that is gone takes no other along.
const SUITES: [(&[&str], bool); 4] = [
    (&["bullseye"], false),
    (&["bookworm"], false),
    (&["trixie"], false),
    (&["trixie-backports"], true),
];
/// What was found, until the lists are fetched again.
const FILE: &str = "offers.json";
/// Packages of sources begin so.
const PREFIX: &str = "linux-source-";
/// The source package that all of them come from.
const SOURCE: &str = "linux";

/// A version that can be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// As `7.3.4`.
    pub version: Version,
    /// The package.
    pub listed: Listed,
    /// What kind of package it is.
    pub kind: Kind,
    /// In which release of Debian.
    pub suite: String,
}

/// What a version comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// A source package: the sources before Debian's changes.
    Source,
    /// A package `linux-source-*`: the sources with them.
    Package,
}

/// All that can be had.
#[derive(Clone, Debug, Default)]
pub struct Offers {
    /// By version, the newest last; of equal ones the package that is taken is the last.
    pub all: Vec<Offer>,
    /// Why lists of packages could not be had, one for each.
    pub missing: Vec<String>,
}

impl Offers {
    /// Asks the package archive, at most once a day.
    ///
    /// # Errors
    /// When the cache cannot be written.
    pub fn get(cache: &Cache, watch: &dyn Watch) -> Result<Self, TreeError> {
        // apt takes seconds to read its lists.
        let file = cache.path(FILE);
        if age(&file).is_some_and(|age| age < LISTS_LAST)
            && let Some(all) = fs::read_to_string(&file).ok()
            && let Ok(all) = serde_json::from_str(&all)
        {
            return Ok(Self {
                all,
                missing: Vec::new(),
            });
        }
        let mut offers = Self::default();
        for (suites, sources) in SUITES {
            let apt = AptTree::open(cache, selection(suites, sources))?;
            match of_suite(&apt, suites[0], sources, watch) {
                Ok(found) => offers.all.extend(found),
                Err(error) => offers.missing.push(error.to_string()),
            }
        }
        offers.sort();
        if offers.missing.is_empty()
            && let Ok(text) = serde_json::to_string(&offers.all)
        {
            // Best effort: without it apt is asked again.
            let _ = wakeplace_files::write(&file, text.as_bytes());
        }
        Ok(offers)
    }

    /// By version; Debian's own package of a version goes before its source package.
    fn sort(&mut self) {
        self.all.sort_by(|a, b| {
            let key = |offer: &Offer| (offer.version.clone(), offer.kind);
            key(a).cmp(&key(b))
        });
        self.all.dedup_by(|later, earlier| {
            let same = later.version == earlier.version;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
    }

    /// The newest that begins so. None: none does.
    #[must_use]
    pub fn newest(&self, wanted: &Version) -> Option<&Offer> {
        self.all.iter().rev().find(|o| wanted.begins(&o.version))
    }

    /// The newest of each series, for a message.
    #[must_use]
    pub fn series(&self) -> String {
        let mut newest: Vec<&Version> = Vec::new();
        for Offer { version, .. } in &self.all {
            match newest.last_mut() {
                Some(last) if last.series() == version.series() => *last = version,
                _ => newest.push(version),
            }
        }
        let names: Vec<String> = newest.iter().map(ToString::to_string).collect();
        names.join(", ")
    }
}

impl Offer {
    /// The tree of packages that it is fetched from.
    pub(crate) fn apt(&self, cache: &Cache) -> Result<AptTree, TreeError> {
        let of = |(suites, _): &&(&'static [&'static str], bool)| suites[0] == self.suite;
        let (suites, sources) = SUITES.iter().find(of).unwrap_or(&SUITES[0]);
        Ok(AptTree::open(cache, selection(suites, *sources))?)
    }
}

/// The packages are the same for all architectures.
fn selection(suites: &'static [&'static str], sources: bool) -> Selection {
    Selection {
        folder: suites[0].to_owned(),
        arch: "amd64",
        suites,
        sources,
    }
}

/// What one suite of the archive offers.
fn of_suite(
    apt: &AptTree,
    suite: &str,
    sources: bool,
    watch: &dyn Watch,
) -> Result<Vec<Offer>, TreeError> {
    apt.refresh(false, watch)?;
    let names = apt.names(PREFIX)?;
    let of_kind = |kind| {
        move |listed: Listed| {
            let version = Version::of_debian(&listed.package.version)?;
            Some(Offer {
                version,
                listed,
                kind,
                suite: suite.to_owned(),
            })
        }
    };
    let listed = apt.versions(&real(names))?;
    let mut offers: Vec<Offer> = listed
        .into_iter()
        .filter_map(of_kind(Kind::Package))
        .collect();
    if sources {
        let listed = apt.source_versions(SOURCE)?;
        offers.extend(listed.into_iter().filter_map(of_kind(Kind::Source)));
    }
    Ok(offers)
}

/// The packages that have sources in them: `linux-source-7.3`.
fn real(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| {
        let version = name.strip_prefix(PREFIX).map(str::parse::<Version>);
        version.is_some_and(|version| version.is_ok())
    });
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeplace_archive::apt::Package;

    fn offer(version: &str, kind: Kind) -> Offer {
        Offer {
            version: version.parse().expect("a version"),
            listed: Listed {
                package: Package {
                    package: "linux".to_owned(),
                    version: format!("{version}-1"),
                    sha256: String::new(),
                },
                bytes: 1,
            },
            kind,
            suite: "trixie".to_owned(),
        }
    }

    fn offers() -> Offers {
        let mut offers = Offers {
            all: vec![
                offer("7.3.4", Kind::Source),
                offer("6.12.117", Kind::Package),
                offer("7.3.4", Kind::Package),
                offer("6.12.107", Kind::Package),
                offer("6.1.176", Kind::Package),
                offer("6.18.15", Kind::Source),
            ],
            missing: Vec::new(),
        };
        offers.sort();
        offers
    }

    #[test]
    fn the_newest_that_begins_so_is_taken() {
        let offers = offers();
        let newest = |text: &str| {
            let found = offers.newest(&text.parse().expect("a version"));
            found.map(|offer| (offer.version.to_string(), offer.kind))
        };
        assert_eq!(newest("6.1"), Some(("6.1.176".to_owned(), Kind::Package)));
        assert_eq!(newest("6.12").expect("one").0, "6.12.117");
        assert_eq!(newest("6.12.107").expect("one").0, "6.12.107");
        assert_eq!(newest("6.20"), None);
    }

    #[test]
    fn debians_own_package_goes_before_its_source() {
        let offers = offers();
        assert_eq!(offers.all.len(), 5);
        let newest = offers.newest(&"7.3".parse().expect("a version"));
        assert_eq!(newest.expect("one").kind, Kind::Package);
    }

    #[test]
    fn a_series_is_named_once() {
        assert_eq!(offers().series(), "6.1.176, 6.12.117, 6.18.15, 7.3.4");
    }

    #[test]
    fn other_packages_of_that_prefix_are_none() {
        let names = ["linux-source-7.3", "linux-source-rt", "linux-source-"];
        assert_eq!(
            real(names.map(str::to_owned).to_vec()),
            ["linux-source-7.3"]
        );
    }
}

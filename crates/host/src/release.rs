//! Kernel releases, and what is known of builds of them (docs/guide/live.md, "Run").
//!
//! What must stay: builds are known by release and build text both; others are not judged. Free:
//! further builds, each with its reason.
//!
//! Tests by part: `releases_are_read` (`parse`, `tried`), `only_debian_builds_are_known`
//! (`known_build`), crates/host/tests/probe.rs::`documents_name_the_same_kernels` (`tried`,
//! `series`, beside the documents). `fmt` gives the number.
//!
//! Callers: crates/host/src/kernel.rs, crates/lab/src/own.rs (`parse`).
//!
//! Tests: below

use std::fmt;

/// A kernel version out of `uname -r`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// 7 in 7.2.12.
    pub major: u32,
    /// 2 in 7.2.12.
    pub minor: u32,
    /// 12 in 7.2.12; 0 where the release has no third number.
    pub patch: u32,
}

impl Release {
    /// The first kernel with sched_ext.
    pub const SCHED_EXT: Self = Self {
        major: 6,
        minor: 12,
        patch: 0,
    };
    /// The first kernel whose sched_ext has the functions that the live scheduler calls: 6.12 has
    /// their predecessors, with other names (`scx_bpf_dispatch` for `scx_bpf_dsq_insert`).
    pub const NEEDED: Self = Self {
        major: 6,
        minor: 13,
        patch: 0,
    };
    /// The oldest and the newest series with which the live scheduler is tried: of the kernels that
    /// `wakeplace lab kernels` lists.
    pub const TRIED: [Self; 2] = [
        Self {
            major: 6,
            minor: 16,
            patch: 0,
        },
        Self {
            major: 7,
            minor: 3,
            patch: 0,
        },
    ];
    /// The first kernel that hands sched_ext's functions a hidden argument, for which each must
    /// carry its tag in the type information.
    pub const HIDDEN_ARGUMENT: Self = Self {
        major: 7,
        minor: 1,
        patch: 0,
    };

    /// Reads `7.2.12+deb13-cloud-amd64`, `6.1.0-25-amd64`, `7.3-rc5`. None: it is no release.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let mut numbers = text[..end].split('.').map(str::parse::<u32>);
        let major = numbers.next()?.ok()?;
        let minor = numbers.next()?.ok()?;
        let patch = numbers.next().and_then(Result::ok).unwrap_or(0);
        Some(Self {
            major,
            minor,
            patch,
        })
    }
}

impl Release {
    /// Major and minor number.
    #[must_use]
    pub fn series(self) -> String {
        format!("{}.{}", self.major, self.minor)
    }

    /// What documents and `doctor` say alike: `6.16 to 7.3 are tried`.
    #[must_use]
    pub fn tried() -> String {
        let [oldest, newest] = Self::TRIED;
        format!("{} to {} are tried", oldest.series(), newest.series())
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// What the builds that were looked at tell of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownBuild {
    /// Builds of this series lack the tags of some sched_ext functions.
    Broken,
    /// This very version was looked at and has all that a scheduler calls.
    Good,
    /// Nothing is known of it.
    Unseen,
}

/// Debian versions whose type information was read and found whole (`scx_bpf_cpu_rq` aside, which
/// is on its way out of the kernel).
const GOOD: [(u32, u32, u32); 7] = [
    (7, 0, 4),
    (7, 0, 7),
    (7, 0, 9),
    (7, 0, 10),
    (7, 0, 12),
    (7, 0, 13),
    (7, 3, 4),
];

/// Looks a kernel up by its release (`uname -r`) and build text (`uname -v`).
///
/// Debian's 7.1.3, 7.1.7, 7.1.13, 7.2.6, 7.2.9, 7.2.11 and 7.2.12 for amd64 were each found to lack
/// tags, a different set in each, so its whole 7.1 and 7.2 series are taken for broken.
#[must_use]
pub fn known_build(release: &str, build: &str) -> KnownBuild {
    let Some(version) = Release::parse(release) else {
        return KnownBuild::Unseen;
    };
    if !(release.contains("+deb") || build.contains("Debian")) {
        return KnownBuild::Unseen;
    }
    match (version.major, version.minor) {
        (7, 1 | 2) => KnownBuild::Broken,
        _ if GOOD.contains(&(version.major, version.minor, version.patch)) => KnownBuild::Good,
        _ => KnownBuild::Unseen,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read() {
        let parts = |text| Release::parse(text).map(|r| (r.major, r.minor, r.patch));
        assert_eq!(parts("7.2.12+deb13-cloud-amd64"), Some((7, 2, 12)));
        assert_eq!(parts("6.1.0-25-amd64"), Some((6, 1, 0)));
        assert_eq!(parts("7.3-rc5"), Some((7, 3, 0)));
        assert_eq!(parts("6.18.44-fc"), Some((6, 18, 44)));
        assert_eq!(parts("seven"), None);
        assert!(Release::parse("6.11.9").expect("a release") < Release::SCHED_EXT);
        assert_eq!(Release::tried(), "6.16 to 7.3 are tried");
    }

    #[test]
    fn only_debian_builds_are_known() {
        assert_eq!(
            known_build("7.2.12+deb13-cloud-amd64", ""),
            KnownBuild::Broken
        );
        assert_eq!(
            known_build("7.1.3-amd64", "#1 SMP Debian 7.1.3-1"),
            KnownBuild::Broken
        );
        assert_eq!(known_build("7.3.4+deb13-cloud-amd64", ""), KnownBuild::Good);
        assert_eq!(known_build("7.2.12-arch1-1", "#1 SMP"), KnownBuild::Unseen);
        assert_eq!(known_build("7.3.9+deb13-amd64", ""), KnownBuild::Unseen);
    }
}

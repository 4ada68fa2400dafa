// SPDX-License-Identifier: GPL-2.0-only
//! `--follow`: power-policy follows the machine's source of power or its platform profile.

use std::path::Path;
use std::time::{Duration, Instant};
use wakeplace_host::{PowerSource, platform_profile, power_source};

/// How often the files are read.
const EVERY: Duration = Duration::from_secs(1);

/// What is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Follow {
    /// Mains: performance; battery: powersaving.
    Source,
    /// low-power, quiet, cool: powersaving; balanced: balance; any other: performance.
    Profile,
}

/// The policy to be in force, None: the machine does not say.
fn wanted(root: &Path, follow: Follow) -> Option<&'static str> {
    match follow {
        Follow::Source => power_source(root).map(|source| match source {
            PowerSource::Mains => "performance",
            PowerSource::Battery => "powersaving",
        }),
        Follow::Profile => platform_profile(root).map(|profile| match profile.as_str() {
            "low-power" | "quiet" | "cool" => "powersaving",
            "balanced" => "balance",
            _ => "performance",
        }),
    }
}

/// What was last seen, so that a change by hand lasts until the machine changes.
pub(crate) struct Follower {
    follow: Follow,
    seen: Option<&'static str>,
    due: Instant,
}

impl Follower {
    #[allow(
        clippy::disallowed_methods,
        reason = "a live scheduler goes by the clock"
    )]
    pub(crate) fn new(follow: Follow) -> Self {
        Self {
            follow,
            seen: None,
            due: Instant::now(),
        }
    }

    /// The policy to put into force, if that has changed since the last call.
    #[allow(
        clippy::disallowed_methods,
        reason = "a live scheduler goes by the clock"
    )]
    pub(crate) fn changed(&mut self) -> Option<&'static str> {
        let now = Instant::now();
        if now < self.due {
            return None;
        }
        self.due = now + EVERY;
        self.look(Path::new("/"))
    }

    fn look(&mut self, root: &Path) -> Option<&'static str> {
        let now = wanted(root, self.follow)?;
        (self.seen.replace(now) != Some(now)).then_some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::{Follow, Follower};
    use std::fs;

    #[test]
    fn only_changes_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sys/firmware/acpi/platform_profile");
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        let mut follower = Follower::new(Follow::Profile);
        assert_eq!(follower.look(folder.path()), None);
        for (profile, expected) in [
            ("balanced\n", Some("balance")),
            ("balanced\n", None),
            ("quiet\n", Some("powersaving")),
            ("low-power\n", None),
            ("balanced-performance\n", Some("performance")),
        ] {
            fs::write(&file, profile).expect("written");
            assert_eq!(follower.look(folder.path()), expected, "{profile}");
        }
    }
}

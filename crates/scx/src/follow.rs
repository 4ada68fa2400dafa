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

/// The files that state it, for people.
fn files(follow: Follow) -> &'static str {
    match follow {
        Follow::Source => "/sys/class/power_supply/*/{type,online,status}",
        Follow::Profile => "/sys/firmware/acpi/platform_profile",
    }
}

/// What has been put into force, so that a change by hand lasts until the machine changes.
pub(crate) struct Follower {
    follow: Follow,
    done: Option<&'static str>,
    /// A change that failed has been told.
    told: Option<&'static str>,
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
            done: None,
            told: None,
            due: Instant::now(),
        }
    }

    /// What to say at the start, if the machine states nothing: it is looked for all the same.
    pub(crate) fn warning(&self) -> Option<String> {
        self.nothing_below(Path::new("/"))
    }

    fn nothing_below(&self, root: &Path) -> Option<String> {
        let what = match self.follow {
            Follow::Source => "its source of power",
            Follow::Profile => "a platform profile",
        };
        wanted(root, self.follow).is_none().then(|| {
            format!(
                "--follow: this machine does not state {what} ({}): power-policy stays as it is \
                 until it does",
                files(self.follow)
            )
        })
    }

    /// The policy to put into force, if it is not yet: call `succeeded` or `failed` with it.
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
        let next = wanted(root, self.follow).filter(|now| self.done != Some(now));
        if next.is_none() {
            self.told = None; // the machine has gone back: a failure from now on is news
        }
        next
    }

    /// It is in force.
    pub(crate) fn succeeded(&mut self, policy: &'static str) {
        self.done = Some(policy);
        self.told = None;
    }

    /// It could not be put into force and is tried again at the next look. Is that news?
    pub(crate) fn failed(&mut self, policy: &'static str) -> bool {
        self.told.replace(policy) != Some(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::{Follow, Follower};
    use std::fs;
    use std::path::Path;

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, format!("{text}\n")).expect("written");
    }

    /// What is asked of the machine's scheduler; it then is in force.
    fn told(follower: &mut Follower, root: &Path) -> Option<&'static str> {
        let policy = follower.look(root)?;
        follower.succeeded(policy);
        Some(policy)
    }

    #[test]
    fn only_changes_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let mut follower = Follower::new(Follow::Profile);
        assert_eq!(told(&mut follower, root), None);
        for (profile, expected) in [
            ("balanced", Some("balance")),
            ("balanced", None),
            ("quiet", Some("powersaving")),
            ("low-power", None),
            ("balanced-performance", Some("performance")),
        ] {
            write(root, "sys/firmware/acpi/platform_profile", profile);
            assert_eq!(told(&mut follower, root), expected, "{profile}");
        }
    }

    /// Goal: a laptop that is plugged in and out: mains mean performance, a battery that discharges
    /// powersaving; other supplies say nothing.
    #[test]
    fn the_source_of_power_decides() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let mut follower = Follower::new(Follow::Source);
        let supply = |name: &str, file: &str, text: &str| {
            write(root, &format!("sys/class/power_supply/{name}/{file}"), text);
        };
        assert_eq!(told(&mut follower, root), None);
        supply("AC", "type", "Mains");
        supply("AC", "online", "1");
        supply("BAT0", "type", "Battery");
        supply("BAT0", "status", "Charging");
        assert_eq!(told(&mut follower, root), Some("performance"));
        supply("AC", "online", "0");
        assert_eq!(told(&mut follower, root), None, "neither one nor the other");
        supply("BAT0", "status", "Discharging");
        assert_eq!(told(&mut follower, root), Some("powersaving"));
        supply("usb", "type", "USB");
        supply("usb", "online", "1");
        assert_eq!(told(&mut follower, root), Some("performance"));
    }

    /// Goal: a machine that states nothing is no secret, and one that does is no news.
    #[test]
    fn silence_is_told_at_the_start() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for (follow, file, text) in [
            (Follow::Source, "sys/class/power_supply/AC/type", "Mains"),
            (
                Follow::Profile,
                "sys/firmware/acpi/platform_profile",
                "quiet",
            ),
        ] {
            let follower = Follower::new(follow);
            let warning = follower.nothing_below(root).expect("a warning");
            let folder = file.rsplit_once('/').expect("a folder").0;
            let named = folder.trim_end_matches("/AC");
            assert!(warning.contains(named), "{warning}");
            write(root, file, text);
            write(root, "sys/class/power_supply/AC/online", "1");
            assert_eq!(follower.nothing_below(root), None);
        }
    }

    /// Goal: what could not be put into force is tried again, and told once.
    #[test]
    fn a_failed_change_is_tried_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        write(root, "sys/firmware/acpi/platform_profile", "quiet");
        let mut follower = Follower::new(Follow::Profile);
        let first = follower.look(root).expect("a change");
        assert!(follower.failed(first));
        let again = follower.look(root).expect("the same again");
        assert_eq!(again, first);
        assert!(!follower.failed(again), "it has been told");
        follower.succeeded(again);
        assert_eq!(follower.look(root), None);
    }
}

// SPDX-License-Identifier: GPL-2.0-only
//! `--follow`: power-policy follows the machine's source of power or its power profile
//! (docs/guide/live.md, "Steer"). It asks for changes as a user would, by the same words.
//!
//! What must stay: it never decides more than `power-policy`, and asks as a user would. Free: how
//! often it looks, and words.
//!
//! Tests by part: `only_changes_are_told` (`look`, `succeeded`, `of_profile`),
//! `the_source_of_power_decides` (`wanted`), `silence_is_told_at_the_start` (`nothing_below`,
//! `silence`, `places`), `the_daemon_is_waited_for` (`silence`, `with`),
//! `a_failed_change_is_tried_again` (`failed`), `the_daemons_profile_goes_first` (`wanted`,
//! follow/daemon.rs). `new`, `warning` and `changed` are these with the machine's own files.
//!
//! Callers: schedule.rs (`follow`).
//!
//! Tests: below

mod daemon;

use daemon::{Bus, Daemon};
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
    /// power-saver, low-power, quiet, cool: powersaving; balanced: balance; any other:
    /// performance. Of power-profiles-daemon, and where that does not run, of the firmware.
    Profile,
}

/// The policy of a profile.
fn of_profile(profile: &str) -> &'static str {
    match profile {
        "power-saver" | "low-power" | "quiet" | "cool" => "powersaving",
        "balanced" => "balance",
        _ => "performance",
    }
}

/// Says where it is stated, for people.
fn places(follow: Follow) -> &'static str {
    match follow {
        Follow::Source => "/sys/class/power_supply/*/{type,online,status}",
        Follow::Profile => "power-profiles-daemon, /sys/firmware/acpi/platform_profile",
    }
}

/// What has been put into force, so that a change by hand lasts until the machine changes.
pub(crate) struct Follower {
    follow: Follow,
    /// Only where profiles are followed.
    daemon: Option<Daemon>,
    done: Option<&'static str>,
    /// A change that failed has been told.
    told: Option<&'static str>,
    /// Whether the machine states anything has been looked at.
    silence_told: bool,
    due: Instant,
}

impl Follower {
    /// With the daemon's watch where profiles are followed.
    pub(crate) fn new(follow: Follow) -> Self {
        let daemon = (follow == Follow::Profile).then(|| Daemon::watch(Bus::System));
        Self::with(follow, daemon)
    }

    /// As `new`, with a bus of a test's own.
    #[allow(
        clippy::disallowed_methods,
        reason = "a live scheduler goes by the clock"
    )]
    fn with(follow: Follow, daemon: Option<Daemon>) -> Self {
        Self {
            follow,
            daemon,
            done: None,
            told: None,
            silence_told: false,
            due: Instant::now(),
        }
    }

    /// What to say if the machine states nothing: once, when the daemon has had its chance to
    /// answer. It is looked for all the same.
    pub(crate) fn warning(&mut self) -> Option<String> {
        self.silence(Path::new("/"))
    }

    /// Once: that the machine states nothing. None while the daemon has not been asked yet.
    fn silence(&mut self, root: &Path) -> Option<String> {
        let waits = self.daemon.as_ref().is_some_and(|d| !d.was_asked());
        if waits || std::mem::replace(&mut self.silence_told, true) {
            return None;
        }
        self.nothing_below(root)
    }

    /// The policy to be in force, None: the machine does not say.
    fn wanted(&self, root: &Path) -> Option<&'static str> {
        let of_daemon = || self.daemon.as_ref().and_then(Daemon::profile);
        match self.follow {
            Follow::Source => power_source(root).map(|source| match source {
                PowerSource::Mains => "performance",
                PowerSource::Battery => "powersaving",
            }),
            Follow::Profile => of_daemon()
                .or_else(|| platform_profile(root))
                .map(|profile| of_profile(&profile)),
        }
    }

    /// What is not stated, as a warning; None: it is.
    fn nothing_below(&self, root: &Path) -> Option<String> {
        let what = match self.follow {
            Follow::Source => "its source of power",
            Follow::Profile => "a power profile",
        };
        self.wanted(root).is_none().then(|| {
            format!(
                "--follow: this machine does not state {what} ({}): power-policy stays as it is \
                 until it does",
                places(self.follow)
            )
        })
    }

    /// The policy to put into force, if it is not yet: call `succeeded` or `failed` with it.
    /// The policy to put into force now; None: nothing new, or not yet time to look.
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

    /// A change since what is in force; `succeeded` or `failed` must follow. None: there is none.
    fn look(&mut self, root: &Path) -> Option<&'static str> {
        let next = self.wanted(root).filter(|now| self.done != Some(now));
        if next.is_none() {
            self.told = None; // the machine has gone back: a failure from now on is news
        }
        next
    }

    /// Notes that the change is in force.
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
#[allow(clippy::disallowed_types, reason = "zbus::interface writes a HashMap")]
mod tests {
    use super::daemon::{Bus, Daemon};
    use super::{Follow, Follower};
    use std::fs;
    use std::io::{BufRead, BufReader, Write};
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Duration;

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
        let mut follower = Follower::with(Follow::Profile, None);
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
        let mut follower = Follower::with(Follow::Source, None);
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
            let follower = Follower::with(follow, None);
            let warning = follower.nothing_below(root).expect("a warning");
            let folder = file.rsplit_once('/').expect("a folder").0;
            let named = folder.trim_end_matches("/AC");
            assert!(warning.contains(named), "{warning}");
            write(root, file, text);
            write(root, "sys/class/power_supply/AC/online", "1");
            assert_eq!(follower.nothing_below(root), None);
        }
    }

    /// Goal: a machine whose daemon alone states a profile is not said to state none.
    #[test]
    fn the_daemon_is_waited_for() {
        let Some(bus) = OwnBus::start() else { return };
        let _saver = serve(&bus, "power-saver");
        let folder = tempfile::tempdir().expect("a folder");
        let daemon = Daemon::watch(Bus::Address(bus.1.clone()));
        let mut follower = Follower::with(Follow::Profile, Some(daemon));
        assert_eq!(follower.silence(folder.path()), None);
        follows(&mut follower, folder.path(), "powersaving");
        assert_eq!(follower.silence(folder.path()), None);
        let mut alone = Follower::with(Follow::Profile, None);
        assert!(alone.silence(folder.path()).is_some());
        assert_eq!(alone.silence(folder.path()), None, "it has been told");
    }

    /// Goal: what could not be put into force is tried again, and told once.
    #[test]
    fn a_failed_change_is_tried_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        write(root, "sys/firmware/acpi/platform_profile", "quiet");
        let mut follower = Follower::with(Follow::Profile, None);
        let first = follower.look(root).expect("a change");
        assert!(follower.failed(first));
        let again = follower.look(root).expect("the same again");
        assert_eq!(again, first);
        assert!(!follower.failed(again), "it has been told");
        follower.succeeded(again);
        assert_eq!(follower.look(root), None);
    }

    /// A bus of its own, as long as it lives.
    struct OwnBus(Child, String);

    impl OwnBus {
        /// None where there is no program for it; that is said.
        fn start() -> Option<Self> {
            let started = Command::new("dbus-daemon")
                .args(["--session", "--nofork", "--print-address"])
                .stdout(Stdio::piped())
                .spawn();
            let Ok(mut bus) = started else {
                // Past the harness's capture.
                let what = "**** SKIPPED: no dbus-daemon: the daemon's profile is not followed";
                writeln!(std::io::stderr(), "{what}").expect("standard error");
                return None;
            };
            let mut address = String::new();
            let output = bus.stdout.take().expect("piped");
            BufReader::new(output)
                .read_line(&mut address)
                .expect("an address");
            Some(Self(bus, address.trim().to_owned()))
        }
    }

    impl Drop for OwnBus {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// What power-profiles-daemon exports, as far as it is read.
    struct Profiles(&'static str);

    #[zbus::interface(name = "org.freedesktop.UPower.PowerProfiles")]
    impl Profiles {
        #[zbus(property)]
        fn active_profile(&self) -> String {
            self.0.to_owned()
        }
    }

    /// Serves a profile until the connection is dropped.
    fn serve(bus: &OwnBus, profile: &'static str) -> zbus::Connection {
        let (name, path) = super::daemon::SERVICES[0];
        let connection = zbus::connection::Builder::address(bus.1.as_str())
            .serve_at(path, Profiles(profile))
            .name(name);
        zbus::block_on(connection.build()).expect("a service")
    }

    /// Waits for up to 10 s until that is in force: the times are the daemon's.
    fn follows(follower: &mut Follower, root: &Path, expected: &str) {
        for _ in 0..200 {
            if told(follower, root) == Some(expected) {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{expected} was never asked for");
    }

    /// Goal: the daemon's profile goes before the firmware's; without the daemon the firmware's
    /// counts, and one that comes later is seen.
    #[test]
    fn the_daemons_profile_goes_first() {
        let Some(bus) = OwnBus::start() else { return };
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        write(root, "sys/firmware/acpi/platform_profile", "balanced");
        let daemon = Daemon::watch(Bus::Address(bus.1.clone()));
        let mut follower = Follower::with(Follow::Profile, Some(daemon));
        follows(&mut follower, root, "balance");
        let saver = serve(&bus, "power-saver");
        follows(&mut follower, root, "powersaving");
        drop(saver);
        follows(&mut follower, root, "balance");
        let _fast = serve(&bus, "performance");
        follows(&mut follower, root, "performance");
    }
}

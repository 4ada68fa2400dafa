//! For `doctor`: what of the lab is on this machine (docs/guide/lab.md). Nothing is fetched, booted
//! or made.
//!
//! What must stay: names of checks, which `doctor --format json` has; nothing is changed. What a
//! run fetches by itself is wished for; it is required where nothing can be fetched. Free: words.
//!
//! Tests by part: `without_a_way_to_fetch_what_is_absent_is_required` (`checks_of`, `emulators`,
//! `kernels`, `without`), `programs_are_named_by_architecture` (`programs`, `listed`),
//! crates/cli/tests/all/doctor.rs::`what_is_kept_is_found_and_nothing_is_made` (`checks`),
//! doctor.rs::`without_programs_nothing_can_be_fetched` (`archive`). `host` has no test of its own.
//!
//! Callers: crates/cli/src/commands/doctor.rs (`checks`).
//!
//! Tests: below, crates/cli/tests/all/doctor.rs

use crate::{Arch, Cache, guest_bin, kernels, qemu};
use wakeplace_archive::apt::PROGRAMS;
use wakeplace_archive::program;
use wakeplace_host::{Check, NeededFor};

/// What fetches emulators and kernels.
const FETCH: &str = "wakeplace lab fetch";

/// What is here for guests of one architecture.
struct Found {
    arch: Arch,
    /// The emulator, as it describes itself.
    emulator: Option<String>,
    /// Versions of kernels in the cache that take a scheduler.
    kernels: Vec<String>,
    /// Guest programs that are not built.
    missing: Vec<&'static str>,
}

impl Found {
    /// Looks for them.
    fn here(cache: Option<&Cache>, arch: Arch) -> Self {
        let kept = cache.map(|cache| kernels::kept(cache, arch));
        let usable = kept
            .into_iter()
            .flatten()
            .filter(|kernel| kernel.btf.usable);
        let programs = [guest_bin::SCHEDULER, guest_bin::LOAD].into_iter();
        Self {
            arch,
            emulator: qemu::found(cache, arch),
            kernels: usable.map(|kernel| kernel.version).collect(),
            missing: programs
                .filter(|name| guest_bin::find(arch, name).is_none())
                .collect(),
        }
    }
}

/// All checks of the lab, in one order.
#[must_use]
pub fn checks() -> Vec<Check> {
    let cache = Cache::there("lab");
    let found = Arch::ALL.map(|arch| Found::here(cache.as_ref(), arch));
    let kept_at = Cache::place("lab").map_or_else(
        |error| error.to_string(),
        |place| place.display().to_string(),
    );
    checks_of(&found, &program::missing(&PROGRAMS), &kept_at)
}

/// By what was found, the programs that ask the archive and are not here, and where the cache is.
fn checks_of(found: &[Found], unfetched: &[&str], kept_at: &str) -> Vec<Check> {
    let can_fetch = unfetched.is_empty();
    vec![
        host(),
        archive(unfetched),
        emulators(found, can_fetch),
        kernels(found, can_fetch, kept_at),
        programs(found),
    ]
}

/// A fact of the lab's; what is missing has its remedy.
fn check(
    name: &'static str,
    required: bool,
    missing: bool,
    found: String,
    remedy: impl Into<String>,
) -> Check {
    wakeplace_host::missing_or_ok(name, NeededFor::Lab, required, missing, found, remedy)
}

/// What happens where emulator or kernels of some guests are absent.
fn without(can_fetch: bool) -> &'static str {
    match can_fetch {
        true => "fetched at first use:",
        false => "runs only guests of one architecture without",
    }
}

/// Is this a machine that guests can be run on?
fn host() -> Check {
    let (missing, found) = match Arch::host() {
        Ok(arch) => (false, arch.name().to_owned()),
        Err(error) => (true, error.to_string()),
    };
    check(
        "lab-host",
        true,
        missing,
        found,
        "use an x86_64 or arm64 machine",
    )
}

/// Can Debian's archive be asked?
fn archive(unfetched: &[&str]) -> Check {
    let remedy = "use a machine with Debian's apt and dpkg, or copy the cache of one";
    wakeplace_host::archive("lab-archive", NeededFor::Lab, unfetched, remedy)
}

/// `x86_64: this; arm64: that`, each architecture by what `said` says of it.
fn listed(found: &[Found], said: impl Fn(&Found) -> Option<String>) -> String {
    let one = |of: &Found| {
        let what = said(of).unwrap_or_else(|| "none".to_owned());
        format!("{}: {what}", of.arch)
    };
    found.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The emulators: of the machine, or fetched before.
fn emulators(found: &[Found], can_fetch: bool) -> Check {
    let said = listed(found, |of| of.emulator.clone());
    let missing = found.iter().any(|of| of.emulator.is_none());
    let none = found.iter().all(|of| of.emulator.is_none());
    let check = check("lab-emulator", none && !can_fetch, missing, said, FETCH);
    check.without(without(can_fetch))
}

/// Kernels in the cache.
fn kernels(found: &[Found], can_fetch: bool, kept_at: &str) -> Check {
    let said = listed(found, |of| {
        (!of.kernels.is_empty()).then(|| of.kernels.join(", "))
    });
    let missing = found.iter().any(|of| of.kernels.is_empty());
    let none = found.iter().all(|of| of.kernels.is_empty());
    let said = format!("{said}; kept in {kept_at}");
    let check = check("lab-kernels", none && !can_fetch, missing, said, FETCH);
    check.without(without(can_fetch))
}

/// This project's own programs for guests. A command runs under the kernel's scheduler without.
fn programs(found: &[Found]) -> Check {
    let missing = found.iter().any(|of| !of.missing.is_empty());
    let said = listed(found, |of| match of.missing[..] {
        [] => Some("all".to_owned()),
        _ => Some(format!("not built: {}", of.missing.join(", "))),
    });
    check(
        "lab-programs",
        false,
        missing,
        said,
        "make lab, in the source tree",
    )
    .without("runs only commands, under the kernel's own scheduler, without")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeplace_host::{State, can_run};

    fn found(arch: Arch, all: bool) -> Found {
        Found {
            arch,
            emulator: all.then(|| "QEMU 10".to_owned()),
            kernels: match all {
                true => vec!["6.18.15".to_owned(), "7.3.4".to_owned()],
                false => Vec::new(),
            },
            missing: match all {
                true => Vec::new(),
                false => vec![guest_bin::LOAD],
            },
        }
    }

    fn of<'a>(checks: &'a [Check], name: &str) -> &'a Check {
        let check = checks.iter().find(|check| check.name == name);
        check.expect("a check")
    }

    #[test]
    fn without_a_way_to_fetch_what_is_absent_is_required() {
        let nothing = Arch::ALL.map(|arch| found(arch, false));
        let can = checks_of(&nothing, &[], "/c");
        assert!(!of(&can, "lab-emulator").required && !of(&can, "lab-kernels").required);
        assert_eq!(of(&can, "lab-kernels").remedy, "wakeplace lab fetch");
        assert_eq!(of(&can, "lab-kernels").without, "fetched at first use:");
        let cannot = checks_of(&nothing, &["apt-get"], "/c");
        assert!(!can_run(&cannot, NeededFor::Lab));
        assert_eq!(of(&cannot, "lab-archive").found, "not here: apt-get");
        // What one architecture has is enough for guests of it.
        let one = [found(Arch::X86_64, true), found(Arch::Arm64, false)];
        let one = checks_of(&one, &["apt-get"], "/c");
        assert!(!of(&one, "lab-emulator").required);
        assert_eq!(
            of(&one, "lab-kernels").found,
            "x86_64: 6.18.15, 7.3.4; arm64: none; kept in /c"
        );
        let all = checks_of(&Arch::ALL.map(|arch| found(arch, true)), &[], "/c");
        let rest = all.iter().filter(|check| check.name != "lab-host");
        for check in rest {
            assert_eq!(
                (check.state, check.remedy.as_str()),
                (State::Ok, ""),
                "{check:?}"
            );
        }
    }

    #[test]
    fn programs_are_named_by_architecture() {
        let check = programs(&[found(Arch::X86_64, true), found(Arch::Arm64, false)]);
        assert_eq!(check.state, State::Missing);
        assert_eq!(
            (check.found.as_str(), check.required),
            ("x86_64: all; arm64: not built: wakeplace-guest", false)
        );
    }
}

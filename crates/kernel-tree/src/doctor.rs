//! For `doctor`: what is on this machine for kernel trees (docs/guide/kernel.md, "What it needs").
//! Nothing is fetched, built or made.
//!
//! What must stay: names of checks, which `doctor --format json` has. What a run fetches or builds
//! by itself is wished for, never required. Free: words.
//!
//! Tests by part: `what_is_kept_is_counted` (`sources`, `objects`, `archive`),
//! crates/cli/tests/all/doctor.rs::`what_is_kept_is_found_and_nothing_is_made` (`checks`).
//!
//! Callers: crates/cli/src/commands/doctor.rs (`checks`).
//!
//! Tests: below, crates/cli/tests/all/doctor.rs

use crate::{Built, Kept, Shim, built, check_tools, kept};
use wakeplace_archive::apt::PROGRAMS;
use wakeplace_archive::{Cache, program};
use wakeplace_host::{Check, NeededFor, missing_or_ok};

/// Fetches the newest sources of the archive and builds them.
const BUILD: &str = "wakeplace kernel build kernel:7.3 (`wakeplace kernel list` has the versions)";

/// What happens where sources are not here and cannot be fetched.
const UNFETCHED: &str = "builds only a tree by its path (kernel:PATH) without";

/// All checks of kernel trees, in one order.
#[must_use]
pub fn checks() -> Vec<Check> {
    let cache = Cache::there("kernel");
    let place = Cache::place("kernel").map_or_else(
        |error| error.to_string(),
        |place| place.display().to_string(),
    );
    let trees = match (cache.as_ref(), Shim::of_user()) {
        (Some(cache), Ok(shim)) => kept(cache, &shim),
        _ => Vec::new(),
    };
    let objects_of = cache.as_ref().map(built).unwrap_or_default();
    let unfetched = program::missing(&PROGRAMS);
    vec![
        check_tools(),
        archive(&unfetched),
        sources(&trees, &place, unfetched.is_empty()),
        objects(&objects_of),
    ]
}

/// A fact that builds do without; what is missing has its remedy.
fn check(name: &'static str, missing: bool, found: String, remedy: &str) -> Check {
    missing_or_ok(name, NeededFor::KernelTrees, false, missing, found, remedy)
}

/// Can Debian's archive be asked? A tree of the user's own needs none.
fn archive(unfetched: &[&str]) -> Check {
    let remedy = "use a machine with Debian's apt and dpkg, or a tree by its path: kernel:PATH";
    wakeplace_host::archive("kernel-archive", NeededFor::KernelTrees, unfetched, remedy)
}

/// Sources in the cache.
fn sources(kept: &[Kept], place: &str, can_fetch: bool) -> Check {
    let versions = kept.iter().map(|kept| kept.version.to_string());
    let versions: Vec<String> = versions.collect();
    let said = match kept {
        [] => "none".to_owned(),
        _ => versions.join(", "),
    };
    let found = format!("{said}; kept in {place}");
    let without = match can_fetch {
        true => "fetched at first use:",
        false => UNFETCHED,
    };
    let check = check("kernel-sources", kept.is_empty(), found, BUILD);
    check.without(without)
}

/// Built kernels in the cache, with the kind of machine that each is for.
fn objects(built: &[Built]) -> Check {
    let one = |built: &Built| format!("{} ({})", built.label, built.like);
    let mut named: Vec<String> = built.iter().map(one).collect();
    named.dedup();
    let found = match built {
        [] => "none".to_owned(),
        _ => named.join(", "),
    };
    let check = check("kernel-objects", built.is_empty(), found, BUILD);
    check.without("built at first use:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use wakeplace_host::State;

    #[test]
    fn what_is_kept_is_counted() {
        let none = sources(&[], "/c", true);
        assert_eq!(none.without, "fetched at first use:");
        assert_eq!(sources(&[], "/c", false).without, UNFETCHED);
        assert_eq!(
            (none.state, none.found.as_str(), none.required),
            (State::Missing, "none; kept in /c", false)
        );
        assert!(none.remedy.starts_with("wakeplace kernel build"));
        let object = |label: &str, key: &str| Built {
            key: key.to_owned(),
            object: PathBuf::new(),
            version: "7.3.4".to_owned(),
            label: label.to_owned(),
            origin: String::new(),
            like: "x86".to_owned(),
            config: false,
            fresh: false,
        };
        let both = objects(&[object("7.3.4", "a"), object("7.3.4", "b")]);
        assert_eq!(
            (both.state, both.found.as_str(), both.remedy.as_str()),
            (State::Ok, "7.3.4 (x86)", ""),
            "two of one kind are named once"
        );
        assert_eq!(archive(&["dpkg-deb"]).found, "not here: dpkg-deb");
        assert_eq!(archive(&[]).state, State::Ok);
    }
}

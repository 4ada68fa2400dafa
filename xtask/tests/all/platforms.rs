//! `cargo xtask platforms`: the files in `platforms/` are what the collected facts give, and facts
//! that are none are refused.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use xtask::platforms;
use xtask::repo::Repo;

/// The collected facts, where they are; their absence is said loudly.
fn facts() -> Option<PathBuf> {
    let folder = Repo::root().join("../shared/platforms");
    if folder.is_dir() {
        return Some(folder);
    }
    let line = format!(
        "SKIPPED: {} is not there; platforms/ was NOT compared with it",
        folder.display()
    );
    writeln!(std::io::stderr(), "{line}").expect("stderr is open");
    None
}

#[test]
fn the_platform_files_are_what_the_facts_give() {
    let Some(folder) = facts() else { return };
    let findings = platforms::check(&Repo::root(), &folder).expect("facts");
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", lines.join("\n"));
}

#[test]
fn the_same_facts_give_the_same_bytes() {
    let Some(folder) = facts() else { return };
    let first = platforms::generate(&folder).expect("facts");
    assert_eq!(first, platforms::generate(&folder).expect("facts"));
    for (name, text) in first {
        assert!(text.ends_with("\n") && !text.contains("\n\n\n"), "{name}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{name}"
        );
    }
}

/// A folder of its own below the build's, with one file.
fn folder(name: &str, json: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("m.json"), json).expect("written");
    folder
}

/// A machine of one CPU.
const SMALL: &str = r#"{
  "name": "m", "title": "M", "arch": "arm64", "notes": [],
  "provenance": [["cpus", "published", "x"]],
  "cpus": [{"id": 0, "type": "a", "capacity": 1024, "core": 0, "thread": 0, "package": 0, "node": 0,
            "llc": 0}],
  "clusters": [{"cpus": [0]}], "numa": {"distances": [[10]]},
  "freq_domains": [{"cpus": [0], "max_khz": 5, "transition_latency_us": null,
                    "dynamic_power_coefficient": null, "opps": [{"khz": 5, "mv": null}],
                    "opp_source": "x", "power_source": null}],
  "idle_states": [{"name": "WFI", "scope": "cpu", "entry_us": null, "exit_us": 1,
                   "exit_latency_us": 1, "min_residency_us": 1, "source": "x"}],
  "sched_topology": [{"level": "MC", "groups": [[0]], "flags": ["SD_SHARE_LLC"]}]
}"#;

#[test]
fn facts_of_a_small_machine() {
    let files = platforms::generate(&folder("small", SMALL)).expect("facts");
    let text = &files["m"];
    assert!(text.contains("power_unit = \"none\"\n"), "{text}");
    assert!(text.contains("opps = [\n  { khz = 5 },\n]\n"), "{text}");
    assert!(text.contains("{ name = \"MC\", one_per = \"cluster\", shares_cache = true }"));
}

#[test]
fn what_are_no_facts_is_refused_with_its_file() {
    for (name, from, to, expected) in [
        ("text", SMALL, "{", "no facts of a machine"),
        (
            "path",
            "\"name\": \"m\"",
            "\"name\": \"../m\"",
            "is no name of a platform",
        ),
        (
            "gap",
            "\"id\": 0",
            "\"id\": 1",
            "`cpus` are not numbered from 0 without gaps",
        ),
        (
            "far",
            "[[0]]",
            "[[7]]",
            "a list names a CPU that is not there",
        ),
        (
            "empty",
            "{\"cpus\": [0]}",
            "{\"cpus\": []}",
            "a cluster or clock has no CPUs",
        ),
        (
            "clock",
            "\"freq_domains\": [{",
            "\"freq_domains\": [], \"x\": [{",
            "no frequency is known",
        ),
    ] {
        let text = SMALL.replace(from, to);
        assert_ne!(text, SMALL, "{name}");
        let error = platforms::generate(&folder(name, &text)).expect_err(name);
        let message = format!("{error:#}");
        assert!(
            message.contains(expected) && message.contains("m.json"),
            "{message}"
        );
    }
    let nothing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nothing");
    fs::create_dir_all(&nothing).expect("a folder");
    let error = platforms::generate(&nothing).expect_err("nothing there");
    assert!(error.to_string().contains("no JSON files"), "{error}");
}

/// A file that differs, one that is missing and one that nobody knows are each found.
#[test]
fn files_that_differ_are_found() {
    let facts = folder("facts", SMALL);
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("root");
    fs::create_dir_all(root.join("platforms")).expect("a folder");
    let file = root.join("platforms/m.toml");
    let found = |text: Option<&str>| {
        match text {
            Some(text) => fs::write(&file, text).expect("written"),
            None => drop(fs::remove_file(&file)),
        }
        let findings = platforms::check(&root, &facts).expect("facts");
        findings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        found(None),
        ["platforms/m.toml: missing, though there are facts of it"]
    );
    let good = platforms::generate(&facts).expect("facts")["m"].clone();
    assert!(found(Some(&good)).is_empty());
    let bad = good.replace("title = \"M\"", "title = \"N\"");
    let line = good
        .lines()
        .position(|line| line.starts_with("title"))
        .expect("a title")
        + 1;
    let start = format!("platforms/m.toml:{line}: not what the facts give");
    assert!(found(Some(&bad))[0].starts_with(&start));
    // Names of the machine are the one entry made by hand: they stay, and are no difference.
    for names in [
        "also_known_as = [\"M 1\"]\n",
        "also_known_as = [\n  \"M 1\",\n  \"m\",\n]\n",
    ] {
        let named = good.replace("arch = ", &format!("{names}arch = "));
        assert!(found(Some(&named)).is_empty());
        platforms::write(&root, &facts).expect("written");
        assert_eq!(fs::read_to_string(&file).expect("there"), named);
    }
    let own = root.join("platforms/own.toml");
    fs::write(&own, "").expect("written");
    assert!(found(Some(&good))[0].starts_with("platforms/own.toml: no facts of it"));
    fs::remove_file(own).expect("removed");
}

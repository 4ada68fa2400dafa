//! `[transfer]` and `[cache]`: what is read, and every rule broken once.
//! Page: docs/decisions/060.
//!
//! What must stay: each rule is broken once, with its place (`§`); which levels two CPUs share
//! follows from the board. Free: times of lines and caches, if the messages follow.
//! Tests by part (in crates/platform/src): read/transfer.rs: `tables_are_read` (`transfer`,
//! `cache`), `the_levels_are_those_of_the_machine` (`Levels::of`, `transfer`),
//! `memory_is_no_nearer_than_the_cache` (`cache`); model.rs: `clusters_are_below_the_cache`
//! (`cache_cluster`); read/coherence.rs: `coherence_is_read` and
//! `times_of_lines_lie_in_their_ranges` (`read`, `time`).
//! Helpers, and who fails with them: `coherence` (its two tests); `lines` (`tables_are_read`,
//! `the_levels_are_those_of_the_machine`); `cache` (`tables_are_read`,
//! `memory_is_no_nearer_than_the_cache`); `check` (`the_levels_are_those_of_the_machine`,
//! `memory_is_no_nearer_than_the_cache`).

use wakeplace_platform::{CpuId, Platform};

const GOOD: &str = include_str!("../good.toml");

const SOURCE: &str = "source = \"test\"\nstanding = \"assumed\"\n";

/// The good file, two caches of two CPUs in a node, with a table of lines.
fn lines(keys: &str) -> String {
    format!("{GOOD}\n[transfer]\n{keys}{SOURCE}")
}

/// The good file with this table of the cache.
fn cache(keys: &str) -> String {
    format!("{GOOD}\n[cache]\n{keys}{SOURCE}")
}

/// `§` marks the place that the message must point at.
#[track_caller]
fn check(marked: &str, expected: &str) {
    let at = marked.find('§').expect("the expected place is marked");
    let line = marked[..at].matches('\n').count() + 1;
    let error = Platform::from_toml(&marked.replace('§', ""), "p.toml").expect_err(expected);
    let error = error.to_string();
    assert!(error.starts_with(&format!("p.toml:{line}:")), "{error}");
    assert!(error.ends_with(&format!(": {expected}")), "{error}");
}

#[test]
fn tables_are_read() {
    let read = |text: &str| Platform::from_toml(text, "p.toml").unwrap_or_else(|e| panic!("{e}"));
    let plain = read(GOOD);
    assert!(plain.transfer.is_none() && plain.cache.is_none());
    let transfer = read(&lines("cache_ns = 16\nnode_ns = 73\n"))
        .transfer
        .expect("given");
    assert_eq!((transfer.cache_ns, transfer.node_ns), (Some(16), Some(73)));
    assert_eq!((transfer.smt_ns, transfer.cluster_ns), (None, None));
    let caches = read(&cache(
        "last_level_kib = 32768\nhit_ns = 10\nmemory_ns = 64\n",
    ));
    let caches = caches.cache.expect("given");
    assert_eq!(
        (caches.last_level_kib, caches.hit_ns, caches.memory_ns),
        (32768, 10, 64)
    );
}

/// Each level that some two CPUs have as their closest needs its time, and no other has one.
#[test]
fn the_levels_are_those_of_the_machine() {
    check(
        &lines("cache_ns = 16\n").replace("[transfer]", "§[transfer]"),
        "the machine has several caches in a node, and `[transfer]` lacks their time; expected \
         `node_ns`",
    );
    let given = [
        ("smt_ns", "threads of one core"),
        ("cluster_ns", "clusters below a cache"),
        ("other_node_ns", "several nodes"),
    ];
    for (key, what) in given {
        check(
            &lines(&format!("cache_ns = 16\nnode_ns = 73\n{key} = §7\n")),
            &format!("`{key}` is given for a machine without {what}; expected no such key"),
        );
    }
    check(
        &lines("cache_ns = §0\nnode_ns = 73\n"),
        "`cache_ns` is 0; expected 1 to 10000 ns",
    );
    check(
        &lines("cache_ns = 16\nnode_ns = §10001\n"),
        "`node_ns` is 10001; expected 1 to 10000 ns",
    );
}

#[test]
fn memory_is_no_nearer_than_the_cache() {
    check(
        &cache("last_level_kib = 32768\nhit_ns = 10\nmemory_ns = §9\n"),
        "`memory_ns` is 9; expected 10 to 10000 ns",
    );
    check(
        &cache("last_level_kib = §0\nhit_ns = 10\nmemory_ns = 64\n"),
        "`last_level_kib` is 0; expected 1 to 16777216 KiB",
    );
    check(
        &cache("last_level_kib = 1\nhit_ns = §0\nmemory_ns = 64\n"),
        "`hit_ns` is 0; expected 1 to 10000 ns",
    );
}

/// A cluster is something that several cores share below their last-level cache: four cores of
/// `kunpeng920-2s` and of `alder-lake-12900k`'s small ones, nothing of its big ones, and no CCD.
#[test]
fn clusters_are_below_the_cache() {
    let of = |name: &str, cpu| {
        let platform = Platform::builtin(name).expect("built in");
        platform.cache_cluster(CpuId(cpu)).map(<[CpuId]>::len)
    };
    assert_eq!(of("kunpeng920-2s", 5), Some(4));
    assert_eq!(of("alder-lake-12900k", 17), Some(4));
    assert_eq!(of("alder-lake-12900k", 0), None);
    assert_eq!(of("zen4-7950x", 0), None);
}

/// A table of what a kernel's accesses take, with one key in another's place.
fn coherence(key: &str, value: &str) -> String {
    let keys = [
        ("hit_ps", "500"),
        ("near_ns", "60"),
        ("near_range_ns", "[40, 100]"),
        ("far_ns", "150"),
        ("far_range_ns", "[100, 250]"),
        ("clean_ns", "15"),
        ("clean_range_ns", "[10, 60]"),
    ];
    let line = |(name, own): (&str, &str)| {
        let value = if name == key { value } else { own };
        format!("{name} = {value}\n")
    };
    let keys: String = keys.map(line).concat();
    format!("{GOOD}\n[coherence]\n{keys}{SOURCE}")
}

#[test]
fn coherence_is_read() {
    let found = Platform::from_toml(&coherence("", ""), "p.toml").expect("valid");
    let found = found.coherence.expect("stated");
    assert_eq!(found.hit_ps, 500);
    let times = [found.near, found.far, found.clean];
    let times = times.map(|time| (time.ns, time.least_ns, time.most_ns));
    assert_eq!(times, [(60, 40, 100), (150, 100, 250), (15, 10, 60)]);
}

#[test]
fn times_of_lines_lie_in_their_ranges() {
    for (key, value, said) in [
        ("near_ns", "§30", "`near_ns` is 30; expected 40 to 100 ns"),
        ("far_ns", "§300", "`far_ns` is 300; expected 100 to 250 ns"),
        (
            "clean_range_ns",
            "[20, §10]",
            "`clean_range_ns` is 10; expected 20 to 10000 ns",
        ),
        ("hit_ps", "§0", "`hit_ps` is 0; expected 1 to 100000 ps"),
    ] {
        check(&coherence(key, value), said);
    }
    let near = coherence("near_range_ns", "[40, 200]").replace("near_ns = 60", "near_ns = 180");
    check(
        &near.replace("far_ns = 150", "far_ns = §150"),
        "`far_ns` is 150; expected at least `near_ns`, 180",
    );
}

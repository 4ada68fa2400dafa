//! `[transfer]` and `[cache]`: what is read, and every rule broken once.
//! Page: docs/decisions/060.
//!
//! What must stay: each rule is broken once, with its place (`§`); which levels two CPUs share
//! follows from the board.
//! Tests by part (in crates/platform/src): read/transfer.rs: `tables_are_read` (`transfer`,
//! `cache`), `the_levels_are_those_of_the_machine` (`Levels::of`, `transfer`),
//! `memory_is_no_nearer_than_the_cache` (`cache`); model.rs: `clusters_are_below_the_cache`
//! (`cache_cluster`).
//! Helpers, and who fails with them: `lines` (`tables_are_read`,
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

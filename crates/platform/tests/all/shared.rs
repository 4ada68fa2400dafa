//! `[numa]`, `[smt]`, `[priority]`: what is read, and every rule broken once.
//! Pages: docs/guide/platforms.md, "What the words mean"; docs/rules/energy-aware.md#em-tables.
//!
//! What must stay: each rule is broken once, with message and place; a new key of these tables is
//! added here.
//! Tests by part (in crates/platform/src): read/shared.rs: `what_is_read` (all three tables),
//! `distances_that_are_none` (`distances`, `reclaim_distance`), `nodes_need_their_figures` (`numa`,
//! `node_count`), `threads_need_what_they_share` (`smt`, `of_core`),
//! `priorities_and_levels_belong_together` (`priority`); read/topology.rs:
//! `a_cluster_level_shares_a_cache` (`read_level`); read/em_costs.rs:
//! `costs_of_an_artificial_model` (`read`, `states`, `release`).
//! Helpers, and who fails with them: `refused` (most tests); `two_nodes`, `numa` (`what_is_read`,
//! `distances_that_are_none`, `nodes_need_their_figures`); `threads`, `smt` (`what_is_read`,
//! `threads_need_what_they_share`); `ranked`, `priority` (`what_is_read`,
//! `priorities_and_levels_belong_together`); `read` (`what_is_read`,
//! `costs_of_an_artificial_model`); `costs` (`costs_of_an_artificial_model`).

use wakeplace_platform::Platform;

const GOOD: &str = include_str!("../good.toml");

/// The good file with the second cluster on a node of its own.
fn two_nodes(numa: &str) -> String {
    let text = GOOD.replace("name = \"big\"\n", "name = \"big\"\nnode = 1\n");
    let text = text.replace("{ name = \"PKG\", groups = [\"0-3\"] },\n", "");
    let text = text.replace("scan_cpu_ns", "migrate_other_node_ns = 20000\nscan_cpu_ns");
    text.replace(
        "[[frequency_domain]]\ncpus = \"little\"",
        &format!("{numa}[[frequency_domain]]\ncpus = \"little\""),
    )
}

/// The good file with cores of two threads.
fn threads(smt: &str) -> String {
    let thread = "capacity = 400, threads_per_core = 2, thread_numbering = \"adjacent\"";
    let text = GOOD.replace("capacity = 400", thread);
    text.replace("[topology]", &format!("{smt}[topology]"))
}

/// The good file with priorities at its cache level.
fn ranked(priority: &str) -> String {
    let level = "shares_cache = true, asym_packing = true }";
    let text = GOOD.replace("shares_cache = true }", level);
    text.replace("[topology]", &format!("{priority}[topology]"))
}

const SOURCE: &str = "source = \"test\"\nstanding = \"assumed\"\n";

fn numa(rows: &str) -> String {
    two_nodes(&format!("[numa]\ndistances = {rows}\n{SOURCE}"))
}

fn smt(figures: &str) -> String {
    threads(&format!("[smt]\ncore_capacity = {figures}\n{SOURCE}"))
}

fn priority(ranks: &str) -> String {
    ranked(&format!("[priority]\nranks = {ranks}\n{SOURCE}"))
}

fn read(text: &str) -> Platform {
    Platform::from_toml(text, "p.toml").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The message without its place; the place must be `at`, where the text is not repeated.
#[track_caller]
fn refused(text: &str, at: &str, expected: &str) {
    let error = Platform::from_toml(text, "p.toml")
        .err()
        .map(|e| e.to_string());
    let error = error.unwrap_or_else(|| panic!("it was accepted:\n{text}"));
    let found = text
        .find(at)
        .unwrap_or_else(|| panic!("`{at}` is not in the text"));
    let line = text[..found].matches('\n').count() + 1;
    let column = found - text[..found].rfind('\n').map_or(0, |p| p + 1) + 1;
    assert_eq!(error, format!("p.toml:{line}:{column}: {expected}"));
}

#[test]
fn what_is_read() {
    let platform = read(&numa("[[10, 21], [21, 10]]"));
    let table = platform.numa.expect("it is there");
    assert_eq!(table.distances, [[10, 21], [21, 10]]);
    assert_eq!(table.reclaim_distance, 30, "as usual");
    assert_eq!(platform.costs.migrate_other_node_ns, Some(20_000));
    let far = numa("[[10, 32], [32, 10]]\nreclaim_distance = 32");
    assert_eq!(read(&far).numa.expect("there").reclaim_distance, 32);
    let platform = read(&smt("[1024, 1178]"));
    assert_eq!(
        platform.smt.expect("it is there").core_capacity,
        [1024, 1178]
    );
    let both = read(&smt("[1024, 1178]\ncore_power = [1024, 1229]"));
    assert_eq!(both.smt.expect("there").core_power, [1024, 1229]);
    let two = "[{ cpus = \"little\", value = 2 }, { cpus = \"big\", value = 9 }]";
    let platform = read(&priority(two));
    let values: Vec<u32> = platform.cpus.iter().map(|cpu| cpu.priority).collect();
    assert_eq!(values, [2, 2, 9, 9]);
    assert!(platform.topology[0].asym_packing);
    let plain = read(GOOD);
    assert!(plain.numa.is_none() && plain.smt.is_none() && plain.cpus[0].priority == 0);
}

#[test]
fn distances_that_are_none() {
    let rows = "expected 2 rows of 2, one per node";
    refused(
        &numa("[[10, 21]]"),
        "[[10, 21]]",
        &format!("`distances` has 1 rows; {rows}"),
    );
    refused(
        &numa("[[10, 21], [21]]"),
        "[21]]",
        &format!("row 1 of `distances` has 1 figures; {rows}"),
    );
    refused(
        &numa("[[10, 21], [21, 12]]"),
        "12]]",
        "the distance from node 1 to node 1 is 12; expected 10 to 10",
    );
    refused(
        &numa("[[10, 10], [10, 10]]"),
        "10], [10, 10]]",
        "the distance from node 0 to node 1 is 10; expected 11 to 254",
    );
    refused(
        &numa("[[10, 21], [31, 10]]"),
        "31, 10]]",
        "the distance from node 1 to node 0 is 31, the way back 21; expected one \
         distance both ways",
    );
    refused(
        &numa("[[10, 255], [255, 10]]"),
        "255]",
        "the distance from node 0 to node 1 is 255; expected 11 to 254",
    );
    refused(
        &numa("[[10, 21], [21, 10]]\nreclaim_distance = 9"),
        "9\nsource",
        "`reclaim_distance` is 9; expected 10 to 254",
    );
    refused(
        &numa("[[10, 21], [21, 10]]\nreclaim_distanc = 9"),
        "reclaim_distanc",
        "unknown key `reclaim_distanc`; expected one of `distances`, `reclaim_distance`, \
         `source`, `standing`; did you mean `reclaim_distance`?",
    );
}

#[test]
fn nodes_need_their_figures() {
    let clusters = "[[cluster]]\nname = \"little\"";
    refused(
        &two_nodes(""),
        clusters,
        "the clusters are on 2 nodes and their distances are not given; expected `[numa]` with \
         `distances`",
    );
    refused(
        &numa("[[10, 21], [21, 10]]").replace("node = 1", "node = 2"),
        clusters,
        "no cluster is on node 1, though one is on node 2; expected nodes numbered from 0 \
         without gaps",
    );
    let without = numa("[[10, 21], [21, 10]]").replace("migrate_other_node_ns = 20000\n", "");
    refused(
        &without,
        "[costs]",
        "what a move to another node costs is not given; expected `migrate_other_node_ns`",
    );
    let one = GOOD.replace("scan_cpu_ns", "migrate_other_node_ns = 7\nscan_cpu_ns");
    refused(
        &one,
        "7\nscan",
        "`migrate_other_node_ns` is given for a machine of one node; expected no such key",
    );
}

#[test]
fn threads_need_what_they_share() {
    let clusters = "[[cluster]]\nname = \"little\"";
    refused(
        &threads(""),
        clusters,
        "cores have 2 threads and what they share is not given; expected `[smt]` with \
         `core_capacity`",
    );
    refused(
        &smt("[1024]"),
        "[1024]",
        "`core_capacity` has 1 figures; expected 2: with 1 to 2 busy threads",
    );
    refused(
        &smt("[1000, 1178]"),
        "1000, 1178",
        "the work of a core with 1 busy threads is 1000; expected 1024 to 1024",
    );
    refused(
        &smt("[1024, 1000]"),
        "1000]",
        "the work of a core with 2 busy threads is 1000; expected 1024 to 8192",
    );
    refused(
        &smt("[1024, 1178]\ncore_power = [1024, 1000]"),
        "1000]",
        "the power of a core with 2 busy threads is 1000; expected 1024 to 8192",
    );
    let table = format!("[smt]\ncore_capacity = [1024]\n{SOURCE}[topology]");
    refused(
        &GOOD.replace("[topology]", &table),
        "[smt]",
        "no core has several threads, but what they share is given; expected no `[smt]` table",
    );
}

#[test]
fn priorities_and_levels_belong_together() {
    let levels = "[\n  { name = \"MC\"";
    refused(
        &ranked(""),
        levels,
        "level MC has `asym_packing` and no CPU a priority; expected `[priority]` with `ranks`",
    );
    let all = "[{ cpus = \"all\", value = 1 }]";
    refused(
        &priority(all).replace(", asym_packing = true", ""),
        "[priority]",
        "CPUs have priorities and no level has `asym_packing`; expected `asym_packing = true` at \
         a level, or no `[priority]`",
    );
    refused(
        &priority("[{ cpus = \"0-2\", value = 1 }]"),
        "[priority]",
        "CPU 3 has no priority; expected each CPU in one of `ranks`",
    );
    refused(
        &priority("[{ cpus = \"0-3\", value = 1 }, { cpus = \"2\", value = 2 }]"),
        "\"2\", value",
        "CPU 2 has two priorities; expected each CPU once",
    );
    refused(
        &priority("[{ cpus = \"all\", value = 1000001 }]"),
        "1000001",
        "`value` is 1000001; expected 1 to 1000000",
    );
}

#[test]
fn a_cluster_level_shares_a_cache() {
    let text = GOOD.replace("{ name = \"PKG\"", "{ cluster = true, name = \"PKG\"");
    refused(
        &text,
        "{ cluster",
        "level PKG is a cluster that shares no cache; expected `shares_cache = true`, too",
    );
}

/// The good file with a table of costs for its little CPUs.
fn costs(table: &str) -> String {
    GOOD.replacen(
        "\n\n[[frequency_domain]]\ncpus = \"big\"",
        &format!("\n\n{table}\n\n[[frequency_domain]]\ncpus = \"big\""),
        1,
    )
}

const COSTS: &str = "[frequency_domain.em_costs]\nsince = \"6.16\"\nstates = [\n  \
    { level = 2, cost = 7 },\n  { level = 5, cost = 64_000_000 },\n]\n\
    source = \"test\"\nstanding = \"assumed\"";

/// Goal: an artificial energy model (docs/rules/energy-aware.md#em-tables), and each rule broken
/// once. A driver's states need not be operating points; the powers are the hardware's.
#[test]
fn costs_of_an_artificial_model() {
    let platform = read(&costs(COSTS));
    let of = |domain: usize| &platform.freq_domains[domain].em_costs;
    let little = of(0).as_ref().expect("costs");
    let states: Vec<_> = little.states.iter().map(|s| (s.level, s.cost)).collect();
    assert_eq!(
        (little.since, states),
        ((6, 16), vec![(2, 7), (5, 64_000_000)])
    );
    assert!(of(1).is_none());
    let known = |release| platform.freq_domains[0].em_costs_in(release).is_some();
    assert!(known((6, 16)) && known((7, 3)) && !known((6, 15)) && !known((5, 19)));
    let what = platform.provenance.iter().map(|(what, _)| what.as_str());
    assert!(what.clone().any(|what| what == "em costs of CPUs little"));
    for (from, to, place, expected) in [
        (
            "cost = 7",
            "cost = 0",
            "0 },\n  { level = 5",
            "`cost` is 0; expected 1 to 64000000",
        ),
        (
            "level = 5",
            "level = 2",
            "2, cost = 64",
            "level 2 follows level 2; expected rising levels",
        ),
        (
            "\"6.16\"",
            "\"six\"",
            "\"six\"",
            "`six` is no kernel release; expected major and minor number, as \"6.16\"",
        ),
    ] {
        refused(&costs(&COSTS.replace(from, to)), place, expected);
    }
    let empty = COSTS.replace(
        "{ level = 2, cost = 7 },\n  { level = 5, cost = 64_000_000 },\n",
        "",
    );
    refused(
        &costs(&empty),
        "[\n  ]",
        "an energy model has 0 states; expected 1 to 64",
    );
    let none = "power_unit = \"microwatt\"\nenergy_model = \"none\"";
    let text = costs(COSTS).replace("power_unit = \"microwatt\"", none);
    refused(
        &text,
        "\"none\"\n",
        "figures of an energy model in a file that says there is none; expected no `em_uw` and no \
         `em_costs`, or no `energy_model`",
    );
}

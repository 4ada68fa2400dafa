//! The built-in platforms, against the collected facts they were converted from.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;
use wakeplace_platform::{CpuId, IdleScope, Platform, PowerUnit, Standing, builtin_names};

#[test]
fn every_builtin_loads_under_its_own_name() {
    let names: Vec<&str> = builtin_names().collect();
    for name in [
        "hikey960",
        "juno-r0",
        "tc2",
        "spr-2s",
        "ivb-ep-2s",
        "zen3-2s",
    ] {
        assert!(names.contains(&name), "{name} is missing from {names:?}");
    }
    for name in names {
        let platform = Platform::load(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(platform.name, name);
        assert_eq!(
            Platform::load(&format!("platform:{name}")).expect("same"),
            platform
        );
    }
}

#[test]
fn assumed_figures_are_marked_and_published_ones_named() {
    let platform = Platform::builtin("hikey960").expect("built in");
    let standing = |what: &str| {
        let entry = platform.provenance.iter().find(|(name, _)| name == what);
        entry
            .unwrap_or_else(|| panic!("no provenance of {what}"))
            .1
            .standing
    };
    assert_eq!(standing("frequencies of CPUs little"), Standing::Published);
    assert_eq!(standing("cpu power of CPUs little"), Standing::Derived);
    assert_eq!(standing("cluster power of CPUs little"), Standing::Assumed);
    assert_eq!(standing("cluster power of CPUs big"), Standing::Published);
    assert_eq!(
        standing("power in idle state WFI of CPUs big"),
        Standing::Assumed
    );
    assert_eq!(platform.costs.source.standing, Standing::Assumed);
    assert_eq!(platform.provenance[0].0, "kernel");
    let board = platform.board.as_ref().expect("hikey960 has one");
    assert_eq!(board.source.standing, Standing::Calibrated);
}

#[test]
fn wake_latency_is_what_cpuidle_sees() {
    let platform = Platform::builtin("hikey960").expect("built in");
    let states: Vec<(&str, u64)> = platform
        .idle_states_of(CpuId(4))
        .map(|(_, s)| (s.name.as_str(), s.wake_latency_ns()))
        .collect();
    let expected = [
        ("WFI", 1_000),
        ("cpu-sleep-1", 950_000),
        ("cluster-sleep-1", 3_700_000),
    ];
    assert_eq!(states, expected);
}

#[test]
fn platforms_agree_with_the_collected_facts() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/platforms");
    if !facts.is_dir() {
        let mut stderr = std::io::stderr();
        let line = format!(
            "SKIPPED: {} is not there; the built-in platforms were NOT compared with it",
            facts.display()
        );
        writeln!(stderr, "{line}").expect("stderr is open");
        return;
    }
    for name in ["hikey960", "juno-r0", "tc2"] {
        let text = fs::read_to_string(facts.join(format!("{name}.json"))).expect("readable");
        let fact: Value = serde_json::from_str(&text).expect("JSON");
        let platform = Platform::builtin(name).expect("built in");
        assert_eq!(platform.title, fact["title"].as_str().expect("title"));
        assert_eq!(platform.arch, fact["arch"].as_str().expect("arch"));
        compare_cpus(&platform, &fact);
        compare_frequencies(&platform, &fact);
        compare_idle_states(&platform, &fact);
        compare_topology(&platform, &fact);
    }
}

/// Servers: facts count each core as a cluster and give limits in place of operating points.
#[test]
fn servers_agree_with_the_collected_facts() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/platforms");
    if !facts.is_dir() {
        let line = "SKIPPED: no collected facts; the servers were NOT compared with them";
        writeln!(std::io::stderr(), "{line}").expect("stderr is open");
        return;
    }
    for (name, file) in [
        ("spr-2s", "spr-2s-56c"),
        ("ivb-ep-2s", "ivb-ep-2s"),
        ("zen3-2s", "zen3-2s-milan"),
    ] {
        let text = fs::read_to_string(facts.join(format!("{file}.json"))).expect("readable");
        let fact: Value = serde_json::from_str(&text).expect("JSON");
        let platform = Platform::builtin(name).expect("built in");
        let of_cpu = |cpu: &wakeplace_platform::Cpu| (cpu.core, cpu.package, cpu.node);
        let fact_of = |row: &Value| {
            let field = |key: &str| number(&row[key]) as u32;
            (field("core"), field("package"), field("node"))
        };
        let rows = fact["cpus"].as_array().expect("cpus");
        assert!(
            platform
                .cpus
                .iter()
                .map(of_cpu)
                .eq(rows.iter().map(fact_of)),
            "{name}"
        );
        compare_server_levels(&platform, &fact);
        compare_server_states(&platform, &fact);
    }
}

/// The levels below NUMA, and the distances.
fn compare_server_levels(platform: &Platform, fact: &Value) {
    let rows = fact["sched_topology"].as_array().expect("sched_topology");
    let below = rows.iter().filter(|row| row["level"] != "NUMA");
    let sorted = |mut groups: Vec<Vec<CpuId>>| {
        groups.sort();
        groups
    };
    let levels = platform.topology.iter().map(|level| {
        let groups = level.groups.to_vec();
        (level.name.clone(), sorted(groups))
    });
    let expected = below.map(|row| {
        let groups = row["groups"].as_array().expect("groups");
        let name = row["level"].as_str().expect("level").to_owned();
        (name, sorted(groups.iter().map(cpus).collect()))
    });
    assert_eq!(levels.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let rows = fact["numa"]["distances"].as_array().expect("distances");
    let row = |row: &Value| -> Vec<u32> {
        let figures = row.as_array().expect("a row").iter();
        figures.map(|figure| number(figure) as u32).collect()
    };
    let distances = &platform.numa.as_ref().expect("two nodes").distances;
    assert_eq!(*distances, rows.iter().map(row).collect::<Vec<_>>());
}

/// Idle states whose figures are known, and the limits of the clock.
fn compare_server_states(platform: &Platform, fact: &Value) {
    let rows = fact["idle_states"].as_array().expect("idle_states");
    let known = rows
        .iter()
        .filter(|row| row["name"] != "POLL" && !row["exit_latency_us"].is_null());
    for row in known {
        let mut states = platform.idle_states.iter();
        let state = states.find(|state| row["name"] == state.name.as_str());
        let state = state.unwrap_or_else(|| panic!("{} is missing", row["name"]));
        assert_eq!(
            state.wake_latency_ns(),
            number(&row["exit_latency_us"]) * 1000
        );
        assert_eq!(
            state.min_residency_ns,
            number(&row["min_residency_us"]) * 1000
        );
    }
    for row in fact["freq_limits"].as_array().expect("freq_limits") {
        let opps = &platform.freq_domains[0].opps;
        assert_eq!(u64::from(opps[0].khz), number(&row["min_khz"]));
        assert_eq!(u64::from(opps[opps.len() - 1].khz), number(&row["max_khz"]));
    }
}

fn number(value: &Value) -> u64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number")) as u64
}

fn cpus(value: &Value) -> Vec<CpuId> {
    let list = value.as_array().expect("a list of CPUs");
    list.iter().map(|v| CpuId(number(v) as u32)).collect()
}

fn compare_cpus(platform: &Platform, fact: &Value) {
    let rows = fact["cpus"].as_array().expect("cpus");
    assert_eq!(platform.cpus.len(), rows.len());
    // Cluster numbers are the file's own order: compare the members.
    for (cpu, row) in platform.cpus.iter().zip(rows) {
        assert_eq!(cpu.kind, row["type"].as_str().expect("type"));
        assert_eq!(u64::from(cpu.capacity), number(&row["capacity"]));
        assert_eq!(u64::from(cpu.core), number(&row["core"]));
        assert_eq!(u64::from(cpu.package), number(&row["package"]));
        assert_eq!(u64::from(cpu.node), number(&row["node"]));
        let members = &fact["clusters"][number(&row["cluster"]) as usize]["cpus"];
        assert_eq!(platform.clusters[cpu.cluster as usize].cpus, cpus(members));
    }
}

fn compare_frequencies(platform: &Platform, fact: &Value) {
    let rows = fact["freq_domains"].as_array().expect("freq_domains");
    assert_eq!(platform.freq_domains.len(), rows.len());
    for row in rows {
        let members = cpus(&row["cpus"]);
        let domain = &platform.freq_domains[platform.freq_domain_of(members[0])];
        assert_eq!(domain.cpus, members);
        if !row["transition_latency_us"].is_null() {
            let latency = number(&row["transition_latency_us"]) * 1000;
            assert_eq!(domain.transition_latency_ns, latency);
        }
        let opps = row["opps"].as_array().expect("opps");
        assert_eq!(domain.opps.len(), opps.len());
        for (opp, fact) in domain.opps.iter().zip(opps) {
            assert_eq!(u64::from(opp.khz), number(&fact["khz"]));
            assert_eq!(opp.mv.map(u64::from), fact["mv"].as_u64());
            let key = match platform.power_unit {
                PowerUnit::Microwatt => "power_uw",
                _ => "eas_core_power",
            };
            assert_eq!(opp.power, Some(number(&fact[key])));
            if platform.power_unit == PowerUnit::Bogo {
                assert_eq!(opp.cluster_power, Some(number(&fact["eas_cluster_power"])));
            }
        }
    }
}

fn compare_idle_states(platform: &Platform, fact: &Value) {
    let rows = fact["idle_states"].as_array().expect("idle_states");
    let mut expected: BTreeMap<(u32, String), &Value> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|row| row.get("alternative_to").is_none())
    {
        for cpu in cpus(&row["cpus"]) {
            expected.insert((cpu.0, row["name"].as_str().expect("name").to_owned()), row);
        }
    }
    for cpu in 0..platform.cpus.len() {
        for (_, state) in platform.idle_states_of(CpuId(cpu as u32)) {
            let row = expected
                .remove(&(cpu as u32, state.name.clone()))
                .expect("a known state");
            let scope = if state.scope == IdleScope::Cpu {
                "cpu"
            } else {
                "cluster"
            };
            assert_eq!(scope, row["scope"].as_str().expect("scope"));
            assert_eq!(state.exit_latency_ns, number(&row["exit_us"]) * 1000);
            assert_eq!(
                state.wake_latency_ns(),
                number(&row["exit_latency_us"]) * 1000
            );
            assert_eq!(
                state.min_residency_ns,
                number(&row["min_residency_us"]) * 1000
            );
        }
    }
    assert!(
        expected.is_empty(),
        "missing from the file: {:?}",
        expected.keys()
    );
}

fn compare_topology(platform: &Platform, fact: &Value) {
    let rows = fact["sched_topology"].as_array().expect("sched_topology");
    assert_eq!(platform.topology.len(), rows.len());
    for (level, row) in platform.topology.iter().zip(rows) {
        assert_eq!(level.name, row["level"].as_str().expect("level"));
        let mut expected: Vec<Vec<CpuId>> = row["groups"]
            .as_array()
            .expect("groups")
            .iter()
            .map(cpus)
            .collect();
        expected.sort();
        let mut groups = level.groups.clone();
        groups.sort();
        assert_eq!(groups, expected);
        let flags = row["flags"].as_array().expect("flags");
        assert_eq!(
            level.shares_cache,
            flags.iter().any(|f| f == "SD_SHARE_LLC")
        );
    }
}

#[test]
fn converted_power_follows_from_the_tables_named_in_the_files() {
    let juno = Platform::builtin("juno-r0").expect("built in");
    // LISA lisa/platforms/juno_r0.py: busy core at the top point, then the cluster's busy column.
    let lisa = [
        (0, 93, [26, 30, 39, 47, 57]),
        (1, 616, [24, 32, 43, 49, 64]),
    ];
    for (cpu, top_core, cluster) in lisa {
        let opps = &juno.freq_domains[juno.freq_domain_of(CpuId(cpu))].opps;
        let top = opps[4].power.expect("has power");
        for (opp, bogo) in opps.iter().zip(cluster) {
            assert_eq!(opp.cluster_power, Some(bogo * top / top_core));
        }
    }
    let hikey = Platform::builtin("hikey960").expect("built in");
    let opps = &hikey.freq_domains[0].opps;
    let scale = |khz: u64, mv: u64| 36_000 * khz * mv * mv / (1_402_000 * 900 * 900);
    assert_eq!(opps[3].cluster_power, Some(scale(1_709_000, 1000)));
    assert_eq!(opps[4].cluster_power, Some(scale(1_844_000, 1100)));
}

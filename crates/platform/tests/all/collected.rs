//! Every built-in platform against the collected facts of its machine, and those facts against the
//! kernel's formulas, computed here from dmips, clock, voltage and power coefficient alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;
use wakeplace_platform::{
    CpuId, IdleScope, Platform, PowerUnit, Standing, TopologyLevel, builtin_names, numa,
};

/// Names of files that differ from their machine's in the facts.
const OTHER_NAMES: [(&str, &str); 2] = [("spr-2s-56c", "spr-2s"), ("zen3-2s-milan", "zen3-2s")];

/// Machines nobody collected facts of.
const WITHOUT_FACTS: [&str; 2] = ["ca9-quad", "snb-laptop"];

/// The machines of the facts, each with its platform; `None`, said loudly, without the facts.
fn machines() -> Option<Vec<(Value, Platform)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/platforms");
    if !folder.is_dir() {
        let line = format!(
            "SKIPPED: {} is not there; the built-in platforms were NOT compared with it",
            folder.display()
        );
        writeln!(std::io::stderr(), "{line}").expect("stderr is open");
        return None;
    }
    let mut all = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("readable")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    paths.sort();
    for path in paths {
        let fact: Value =
            serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON");
        let name = fact["name"].as_str().expect("name");
        let other = OTHER_NAMES.iter().find(|(known, _)| *known == name);
        let platform = Platform::builtin(other.map_or(name, |(_, file)| file))
            .unwrap_or_else(|error| panic!("{error}"));
        all.push((fact, platform));
    }
    Some(all)
}

fn number(value: &Value) -> u64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number")) as u64
}

fn rows<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key]
        .as_array()
        .unwrap_or_else(|| panic!("{key} is no list"))
}

fn cpus(value: &Value) -> Vec<CpuId> {
    let list = value.as_array().expect("a list of CPUs");
    list.iter().map(|v| CpuId(number(v) as u32)).collect()
}

fn sorted(mut groups: Vec<Vec<CpuId>>) -> Vec<Vec<CpuId>> {
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups.sort();
    groups
}

#[test]
fn every_machine_of_the_facts_is_built_in_and_no_other() {
    let Some(machines) = machines() else { return };
    let mut names: Vec<String> = machines.iter().map(|(_, p)| p.name.clone()).collect();
    for (fact, platform) in &machines {
        if !fact["idle_states_2011"].is_null() {
            names.push(format!("{}-2011", platform.name));
        }
        if !fact["intel_hybrid"].is_null() {
            names.push(format!("{}-nosmt", platform.name));
        }
    }
    names.extend(WITHOUT_FACTS.map(str::to_owned));
    let builtin: Vec<&str> = builtin_names().collect();
    assert_eq!(names.len(), builtin.len());
    for name in names {
        assert!(builtin.contains(&name.as_str()), "{name}");
    }
}

#[test]
fn cpus_are_those_of_the_facts() {
    let Some(machines) = machines() else { return };
    for (fact, platform) in machines {
        let name = &platform.name;
        assert_eq!(platform.arch, fact["arch"].as_str().expect("arch"));
        let facts = rows(&fact, "cpus");
        assert_eq!(platform.cpus.len(), facts.len(), "{name}");
        for (id, (cpu, row)) in (0_u32..).zip(platform.cpus.iter().zip(facts)) {
            assert_eq!(cpu.kind, row["type"].as_str().expect("type"), "{name}");
            assert_eq!(
                u64::from(cpu.capacity),
                number(&row["capacity"]),
                "{name} {id}"
            );
            assert_eq!(
                u64::from(cpu.package),
                number(&row["package"]),
                "{name} {id}"
            );
            assert_eq!(u64::from(cpu.node), number(&row["node"]), "{name} {id}");
            // Cores are numbered by their lowest CPU in one, by package in the other.
            let first = platform
                .cpus
                .iter()
                .position(|other| other.core == cpu.core);
            let expected = facts.iter().position(|other| other["core"] == row["core"]);
            assert_eq!(first, expected, "{name}: first thread of CPU {id}'s core");
            // x86 servers: the facts count a core as a cluster, the files what shares a cache.
            let members = &fact["clusters"][number(&row["cluster"]) as usize]["cpus"];
            let (cluster, members) = (&platform.clusters[cpu.cluster as usize].cpus, cpus(members));
            let server = platform.arch == "x86_64" && fact["intel_hybrid"].is_null();
            assert!(
                *cluster == members || server && members.iter().all(|cpu| cluster.contains(cpu)),
                "{name}: cluster of CPU {id}"
            );
        }
    }
}

/// arch_topology.c topology_normalize_cpu_scale() (docs/rules/capacity.md#capacity-setup): dmips by
/// highest frequency, the biggest is 1024.
#[test]
fn capacities_follow_from_dmips_and_clock() {
    let Some(machines) = machines() else { return };
    let mut checked = 0;
    for (fact, platform) in machines {
        let facts = rows(&fact, "cpus");
        let raw = |row: &Value| -> Option<u64> {
            let domain = rows(&fact, "freq_domains").get(row["freq_domain"].as_u64()? as usize)?;
            Some(row["capacity_dmips_mhz"].as_u64()? * domain["max_khz"].as_u64()?)
        };
        let Some(raw) = facts.iter().map(raw).collect::<Option<Vec<u64>>>() else {
            continue;
        };
        let most = raw.iter().max().expect("a CPU");
        for (cpu, raw) in platform.cpus.iter().zip(&raw) {
            assert_eq!(
                u64::from(cpu.capacity),
                (raw << 10) / most,
                "{}",
                platform.name
            );
        }
        // The clock the formula takes is the file's highest.
        for domain in &platform.freq_domains {
            let row = &facts[domain.cpus[0].index()];
            let known = &rows(&fact, "freq_domains")[number(&row["freq_domain"]) as usize];
            let top = domain.opps.last().expect("a point").khz;
            assert_eq!(
                u64::from(top),
                number(&known["max_khz"]),
                "{}",
                platform.name
            );
        }
        checked += 1;
    }
    assert!(checked >= 15, "{checked} machines have dmips");
}

/// drivers/opp/of.c dev_pm_opp_calc_power(): dpc * mV^2 * MHz / 10^6, mV and MHz cut.
#[test]
fn power_follows_from_the_kernels_formula() {
    let Some(machines) = machines() else { return };
    let mut checked = 0;
    for (fact, platform) in machines {
        let domains = rows(&fact, "freq_domains");
        for known in domains.iter().filter(|d| {
            let source = d["power_source"].as_str().unwrap_or("");
            source.starts_with("derived") && platform.power_unit == PowerUnit::Microwatt
        }) {
            let first = cpus(&known["cpus"])[0];
            let domain = &platform.freq_domains[platform.freq_domain_of(first)];
            let dpc = number(&known["dynamic_power_coefficient"]);
            for opp in &domain.opps {
                let mv = u64::from(opp.mv.expect("a voltage"));
                let uw = dpc * mv * mv * u64::from(opp.khz / 1000) / 1_000_000;
                let model = opp.power_in_model();
                assert_eq!(model, Some(uw), "{} at {} kHz", platform.name, opp.khz);
            }
            checked += 1;
        }
    }
    assert!(checked >= 15, "{checked} clocks with a coefficient");
}

#[test]
fn operating_points_are_those_of_the_facts() {
    let Some(machines) = machines() else { return };
    for (fact, platform) in machines {
        for known in rows(&fact, "freq_domains") {
            let members = cpus(&known["cpus"]);
            let domain = &platform.freq_domains[platform.freq_domain_of(members[0])];
            assert_eq!(domain.cpus, members, "{}", platform.name);
            if !known["transition_latency_us"].is_null() {
                let ns = number(&known["transition_latency_us"]) * 1000;
                assert_eq!(domain.transition_latency_ns, ns, "{}", platform.name);
            }
            compare_points(&platform, domain, known);
        }
        compare_limits(&platform, &fact);
    }
}

fn compare_points(platform: &Platform, domain: &wakeplace_platform::FreqDomain, known: &Value) {
    let name = &platform.name;
    let opps: Vec<&Value> = rows(known, "opps")
        .iter()
        .filter(|opp| opp["turbo"] != Value::Bool(true))
        .collect();
    if opps.is_empty() {
        assert_eq!(domain.opps.len(), 1, "{name}: nothing but the top is known");
        return;
    }
    assert_eq!(domain.opps.len(), opps.len(), "{name}");
    for (opp, fact) in domain.opps.iter().zip(opps) {
        assert_eq!(u64::from(opp.khz), number(&fact["khz"]), "{name}");
        assert_eq!(opp.mv.map(u64::from), fact["mv"].as_u64(), "{name}");
        match platform.power_unit {
            PowerUnit::Bogo => {
                assert_eq!(opp.power, Some(number(&fact["eas_core_power"])));
                assert_eq!(opp.cluster_power, Some(number(&fact["eas_cluster_power"])));
            }
            // Measured by a vendor: see the test of its table.
            PowerUnit::Microwatt if fact["power_uw"].is_null() => {}
            _ => assert_eq!(opp.power_in_model(), fact["power_uw"].as_u64(), "{name}"),
        }
    }
}

/// x86 and ACPI machines: both limits, and the multiples of 100 MHz between them.
fn compare_limits(platform: &Platform, fact: &Value) {
    let Some(limits) = fact["freq_limits"].as_array() else {
        return;
    };
    for row in limits {
        let (Some(min), Some(max)) = (row["min_khz"].as_u64(), row["max_khz"].as_u64()) else {
            continue;
        };
        for cpu in cpus(&row["cpus"]) {
            let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
            let khz: Vec<u64> = opps.iter().map(|opp| u64::from(opp.khz)).collect();
            assert_eq!(
                (khz[0], khz[khz.len() - 1]),
                (min, max),
                "{}",
                platform.name
            );
            let inner = &khz[1..khz.len() - 1];
            assert!(
                inner.iter().all(|khz| khz % 100_000 == 0),
                "{}",
                platform.name
            );
        }
    }
}

/// The one vendor's table (Pixel 3): every point it has is in the file.
#[test]
fn measured_power_is_the_vendors() {
    let Some(machines) = machines() else { return };
    let mut points = 0;
    for (fact, platform) in machines
        .iter()
        .filter(|(fact, _)| !fact["vendor_eas"].is_null())
    {
        for (cpu, key) in [(0, "cores_little_khz_mw"), (7, "cores_big_khz_mw")] {
            let domain = &platform.freq_domains[platform.freq_domain_of(CpuId(cpu))];
            for row in rows(&fact["vendor_eas"], key) {
                let khz = number(&row[0]);
                let opp = domain.opps.iter().find(|opp| u64::from(opp.khz) == khz);
                let power = opp.unwrap_or_else(|| panic!("no {khz} kHz")).power;
                assert_eq!(power, Some(number(&row[1]) * 1000));
                points += 1;
            }
        }
    }
    assert_eq!(points, 18 + 24, "little and big figures of the table");
}

/// The states of a table against those of a platform, CPU by CPU.
fn compare_states(platform: &Platform, table: &[Value]) {
    let name = &platform.name;
    let mut expected: BTreeMap<(u32, String), &Value> = BTreeMap::new();
    let known = |row: &&Value| {
        let whole = !row["exit_us"].is_null() || !row["exit_latency_us"].is_null();
        row["name"] != "POLL" && row.get("alternative_to").is_none() && whole
    };
    let mut guessed = false;
    for row in table {
        guessed |= row["exit_us"].is_null() && row["exit_latency_us"].is_null();
        let members = match &row["cpus"] {
            Value::Null => (0..).take(platform.cpus.len()).map(CpuId).collect(),
            list => cpus(list),
        };
        for cpu in members.iter().filter(|_| known(&row)) {
            expected.insert((cpu.0, row["name"].as_str().expect("name").to_owned()), row);
        }
    }
    for cpu in 0..platform.cpus.len() as u32 {
        // POLL is the drivers' own: no machine's facts.
        let states = platform.idle_states_of(CpuId(cpu));
        for (_, state) in states.filter(|(_, state)| !state.polling) {
            let Some(row) = expected.remove(&(cpu, state.name.clone())) else {
                assert!(guessed, "{name}: {} is in no facts", state.name);
                continue;
            };
            let cluster = state.scope == IdleScope::Cluster;
            assert_eq!(cluster, row["scope"] == "cluster", "{name} {}", state.name);
            // dt_idle_states.c: wakeup-latency-us, else entry and exit together.
            let part = |key: &str| row[key].as_u64();
            let sum = part("entry_us").unwrap_or(0) + part("exit_us").unwrap_or(0);
            let latency = part("exit_latency_us").unwrap_or(sum);
            assert_eq!(
                state.wake_latency_ns(),
                latency * 1000,
                "{name} {}",
                state.name
            );
            if let Some(exit) = part("exit_us") {
                assert_eq!(state.exit_latency_ns, exit * 1000, "{name} {}", state.name);
            }
            let residency = number(&row["min_residency_us"]) * 1000;
            assert_eq!(state.min_residency_ns, residency, "{name} {}", state.name);
        }
    }
    assert!(expected.is_empty(), "{name} lacks {:?}", expected.keys());
}

#[test]
fn idle_states_are_those_of_the_facts() {
    let Some(machines) = machines() else { return };
    for (fact, platform) in machines {
        compare_states(&platform, rows(&fact, "idle_states"));
        if !fact["idle_states_2011"].is_null() {
            let second = Platform::builtin(&format!("{}-2011", platform.name)).expect("built in");
            compare_states(&second, rows(&fact, "idle_states_2011"));
        }
    }
}

#[test]
fn levels_are_those_of_the_facts() {
    let Some(machines) = machines() else { return };
    for (fact, platform) in machines {
        let name = &platform.name;
        let levels = rows(&fact, "sched_topology");
        let below: Vec<&Value> = levels.iter().filter(|row| row["level"] != "NUMA").collect();
        assert_eq!(platform.topology.len(), below.len(), "{name}");
        for (level, row) in platform.topology.iter().zip(below) {
            compare_level(&platform, level, row);
        }
        let above: Vec<&Value> = levels.iter().filter(|row| row["level"] == "NUMA").collect();
        let distances = platform.numa.as_ref().map(|numa| numa.distances.clone());
        let built = numa::levels(&distances.unwrap_or_default());
        assert_eq!(built.len(), above.len(), "{name}");
        for (level, row) in built.iter().zip(above) {
            assert_eq!(
                u64::from(level.distance),
                number(&row["distance"]),
                "{name}"
            );
            compare_spans(name, level, rows(row, "node_spans"));
        }
    }
}

fn compare_level(platform: &Platform, level: &TopologyLevel, row: &Value) {
    let name = &platform.name;
    assert_eq!(level.name, row["level"].as_str().expect("level"), "{name}");
    let expected = sorted(rows(row, "groups").iter().map(cpus).collect());
    assert_eq!(
        sorted(level.groups.clone()),
        expected,
        "{name} {}",
        level.name
    );
    let has = |flag: &str| rows(row, "flags").iter().any(|f| f == flag);
    let flags = (level.shares_cache, level.shares_capacity, level.cluster);
    let known = (
        has("SD_SHARE_LLC"),
        has("SD_SHARE_CPUCAPACITY"),
        has("SD_CLUSTER"),
    );
    assert_eq!(flags, known, "{name} {}", level.name);
    let packs = !platform.cpus.iter().all(|cpu| cpu.priority == 0);
    assert_eq!(
        level.asym_packing,
        packs && level.name != "SMT",
        "{name} {}",
        level.name
    );
    // docs/rules/capacity-aware.md#asym-flag: asymmetric with two capacities in a group, full with
    // all the machine has.
    let distinct = |group: &[CpuId]| {
        let mut all: Vec<u32> = group
            .iter()
            .map(|c| platform.cpus[c.index()].capacity)
            .collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    let every: Vec<CpuId> = (0..).take(platform.cpus.len()).map(CpuId).collect();
    let most = level
        .groups
        .iter()
        .map(|group| distinct(group))
        .max()
        .expect("a group");
    let asym = match (most, distinct(&every)) {
        (1, _) => Value::Null,
        (some, all) if some == all => Value::from("full"),
        _ => Value::from("partial"),
    };
    let stated = row.get("asym_capacity").unwrap_or(&Value::Null);
    assert_eq!(*stated, asym, "{name} {}", level.name);
}

/// Per node the nodes within the distance.
fn compare_spans(name: &str, level: &numa::NumaLevel, spans: &[Value]) {
    for (node, span) in spans.iter().enumerate() {
        let expected: Vec<usize> = cpus(span).iter().map(|node| node.index()).collect();
        let group = level.group_of[node];
        let near: Vec<usize> = (0..level.group_of.len())
            .filter(|other| match level.near.get(node) {
                Some(bits) => bits >> other & 1 == 1,
                None => level.group_of[*other] == group,
            })
            .collect();
        assert_eq!(near, expected, "{name}: node {node} at {}", level.distance);
    }
}

#[test]
fn distances_are_those_of_the_facts_and_symmetric() {
    let Some(machines) = machines() else { return };
    for (fact, platform) in machines {
        let row = |row: &Value| -> Vec<u32> {
            let figures = row.as_array().expect("a row").iter();
            figures.map(|figure| number(figure) as u32).collect()
        };
        let known: Vec<Vec<u32>> = rows(&fact["numa"], "distances").iter().map(row).collect();
        let distances = platform
            .numa
            .as_ref()
            .map_or(vec![vec![10]], |n| n.distances.clone());
        assert_eq!(distances, known, "{}", platform.name);
        for (a, row) in distances.iter().enumerate() {
            for (b, distance) in row.iter().enumerate() {
                assert_eq!(*distance, distances[b][a], "{}", platform.name);
                assert_eq!(*distance == 10, a == b, "{}", platform.name);
            }
        }
    }
}

/// Machines whose power is modelled, and says so in every table (docs/decisions/037).
fn modelled(platform: &Platform) -> bool {
    let mut power = platform.provenance.iter();
    power.any(|(what, source)| {
        let word = "Modelled, not measured";
        what.starts_with("cpu power of CPUs ")
            && source.standing == Standing::Assumed
            && source.text.starts_with(word)
    })
}

/// Power is in a file exactly where someone gave some, or where it is modelled and marked so.
#[test]
fn unknown_power_stays_absent() {
    let Some(machines) = machines() else { return };
    for (fact, platform) in machines {
        let opps = rows(&fact, "freq_domains")
            .iter()
            .flat_map(|d| rows(d, "opps"));
        let given = |key: &'static str| opps.clone().any(|opp| !opp[key].is_null());
        let known = given("power_uw") || given("eas_core_power") || !fact["vendor_eas"].is_null();
        assert_eq!(
            platform.power_unit != PowerUnit::None,
            known || modelled(&platform),
            "{}",
            platform.name
        );
    }
}

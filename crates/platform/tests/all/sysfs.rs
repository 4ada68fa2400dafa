//! Machines read from trees made here. What the files look like: Documentation/ABI/testing/
//! sysfs-devices-system-cpu; the boards are those of the platform files.
//! Page: docs/guide/import.md, "What is read".
//!
//! What must stay: files are in the kernel's own forms; what is odd is refused with its file.
//! Tests by part (in crates/platform/src): sysfs/capacity.rs: `a_board_of_two_clusters`
//! (`cpu_capacity`), `offline_cpus_have_a_place_of_their_own` (`share`),
//! `capacity_from_the_firmware` (`read`, `per_cpu`), `rankings_are_no_capacities` (`ranks_only`,
//! `highest_perf`); sysfs/topology.rs: `clusters_below_a_package_without_caches` (`llc`),
//! `threads_sockets_and_nodes` (`siblings`, `last_cache`), `sockets_of_one_node` (`push`, `Node`),
//! `nodes_near_and_far` (`nodes`, `distances`), `what_is_missing_or_no_file_is_named` (`needed`);
//! sysfs/partition.rs: `a_cluster_of_private_caches_is_the_cache_domain` (`widen_to`);
//! sysfs/mod.rs: `more_possible_than_present` (`possible`, `nr_present`),
//! `hostile_texts_are_results_or_errors` (no panic), `this_machine` (`read`); sysfs/energy.rs:
//! `the_kernel_says_what_its_powers_count` (`watts_unit_uw`, `flags`), `damaged_trees_are_refused`
//! (`check_capacity`); sysfs/cpufreq.rs: `an_inactive_policy_and_an_unknown_latency`
//! (`LATENCY_UNKNOWN`).
//! Helpers, and who fails with them: `put`, `topology`, `cache` (most tests); `hikey960`, `state`
//! (7 tests); `levels` (6 tests); `node` (`threads_sockets_and_nodes`, `nodes_near_and_far`,
//! `hostile_texts_are_results_or_errors`); `error` (`capacity_from_the_firmware`,
//! `the_kernel_says_what_its_powers_count`, `damaged_trees_are_refused`,
//! `what_is_missing_or_no_file_is_named`); `server` (`threads_sockets_and_nodes`,
//! `sockets_of_one_node`, `hostile_texts_are_results_or_errors`).

use std::fs;
use wakeplace_platform::sysfs::{CapacitySource, LevelKind, SysfsMachine};

const CPUS: &str = "sys/devices/system/cpu";
const EM: &str = "sys/kernel/debug/energy_model";

/// A tree of files in a temporary folder.
struct Tree(tempfile::TempDir);

impl Tree {
    /// CPUs `0..n`, all of one package and cluster, none with a cache or a second thread.
    fn new(n: usize) -> Self {
        let tree = Self(tempfile::tempdir().expect("a temporary folder"));
        let all = format!("0-{}", n - 1);
        for file in ["possible", "present", "online"] {
            tree.put(&format!("{CPUS}/{file}"), &all);
        }
        for cpu in 0..n {
            tree.topology(cpu, "thread_siblings_list", &cpu.to_string());
            tree.topology(cpu, "package_cpus_list", &all);
        }
        tree
    }

    /// HiKey 960: two clusters of four, with clocks and an energy model of their own.
    fn hikey960() -> Self {
        let tree = Self::new(8);
        for (first, capacity, khz, power) in [
            (0, 462, [533_000, 999_000], [28_728, 70_329]),
            (4, 1024, [903_000, 2_362_000], [243_358, 1_571_911]),
        ] {
            let list = format!("{first}-{}", first + 3);
            for cpu in first..first + 4 {
                tree.put(
                    &format!("{CPUS}/cpu{cpu}/cpu_capacity"),
                    &capacity.to_string(),
                );
                tree.topology(cpu, "cluster_cpus_list", &list);
                tree.cache(cpu, 0, "1", "Data", &cpu.to_string());
                tree.cache(cpu, 1, "1", "Instruction", &cpu.to_string());
                tree.cache(cpu, 2, "2", "Unified", &list);
            }
            let policy = format!("{CPUS}/cpufreq/policy{first}");
            let members: Vec<String> = (first..first + 4).map(|c| c.to_string()).collect();
            tree.put(&format!("{policy}/related_cpus"), &members.join(" "));
            tree.put(&format!("{policy}/scaling_governor"), "schedutil");
            tree.put(&format!("{policy}/cpuinfo_min_freq"), &khz[0].to_string());
            tree.put(&format!("{policy}/cpuinfo_max_freq"), &khz[1].to_string());
            tree.put(&format!("{policy}/cpuinfo_transition_latency"), "500000");
            let available = format!("{} {} ", khz[0], khz[1]);
            tree.put(
                &format!("{policy}/scaling_available_frequencies"),
                &available,
            );
            tree.put(&format!("{EM}/cpu{first}/cpus"), &list);
            tree.put(&format!("{EM}/cpu{first}/flags"), "0x1");
            for at in 0..2 {
                tree.state(first, khz[at], power[at]);
            }
        }
        // A device's model has no list of CPUs.
        tree.put(&format!("{EM}/gpu/ps:800000/power"), "1");
        tree
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, format!("{text}\n")).expect("a file");
    }

    fn remove(&self, path: &str) {
        let path = self.0.path().join(path);
        if path.is_dir() {
            fs::remove_dir_all(path).expect("a folder");
        } else {
            fs::remove_file(path).expect("a file");
        }
    }

    fn topology(&self, cpu: usize, file: &str, list: &str) {
        self.put(&format!("{CPUS}/cpu{cpu}/topology/{file}"), list);
    }

    fn cache(&self, cpu: usize, index: usize, level: &str, sort: &str, list: &str) {
        let at = format!("{CPUS}/cpu{cpu}/cache/index{index}");
        self.put(&format!("{at}/level"), level);
        self.put(&format!("{at}/type"), sort);
        self.put(&format!("{at}/shared_cpu_list"), list);
    }

    fn state(&self, first: usize, khz: u32, power_uw: u32) {
        let at = format!("{EM}/cpu{first}/ps:{khz}");
        self.put(&format!("{at}/frequency"), &khz.to_string());
        self.put(&format!("{at}/power"), &power_uw.to_string());
        self.put(&format!("{at}/inefficient"), "0");
    }

    fn node(&self, number: usize, cpus: &str, distance: &str) {
        let at = format!("sys/devices/system/node/node{number}");
        self.put(&format!("{at}/cpulist"), cpus);
        self.put(&format!("{at}/distance"), distance);
    }

    fn read(&self) -> SysfsMachine {
        SysfsMachine::read(self.0.path()).expect("a machine")
    }

    /// The error, its paths without the temporary folder.
    fn error(&self) -> String {
        let error = SysfsMachine::read(self.0.path()).expect_err("an error");
        error
            .to_string()
            .replace(&format!("{}/", self.0.path().display()), "/")
    }
}

fn levels(machine: &SysfsMachine) -> Vec<(LevelKind, Vec<u16>)> {
    machine
        .levels
        .iter()
        .map(|l| (l.kind, l.group_of.clone()))
        .collect()
}

#[test]
fn a_board_of_two_clusters() {
    let machine = Tree::hikey960().read();
    assert_eq!(machine.nr_cpus, 8);
    assert_eq!(
        machine.capacity,
        [462, 462, 462, 462, 1024, 1024, 1024, 1024]
    );
    assert_eq!(machine.capacity_from, CapacitySource::Kernel);
    // The cluster is the cache's: no level of its own.
    let expected = [
        (LevelKind::Llc, vec![0, 0, 0, 0, 4, 4, 4, 4]),
        (LevelKind::Package, vec![0; 8]),
    ];
    assert_eq!(levels(&machine), expected);
    let policy = &machine.policies[1];
    assert_eq!((policy.number, &policy.cpus[..]), (4, &[4, 5, 6, 7][..]));
    assert_eq!(policy.governor.as_deref(), Some("schedutil"));
    assert_eq!(policy.available_khz, [903_000, 2_362_000]);
    assert_eq!(policy.transition_latency_ns, Some(500_000));
    assert_eq!(machine.energy_model.len(), 2, "the device's is none");
    let little = &machine.energy_model[0];
    assert_eq!(little.cpus, [0, 1, 2, 3]);
    assert!(little.microwatts);
    let states: Vec<_> = little.states.iter().map(|s| (s.khz, s.power_uw)).collect();
    assert_eq!(states, [(533_000, 28_728), (999_000, 70_329)]);
}

/// Goal: without descriptions of caches the package is the last-level domain, and clusters are a
/// level below (the emulated board: domains CLS and MC).
#[test]
fn clusters_below_a_package_without_caches() {
    let tree = Tree::new(6);
    for cpu in 0..6 {
        tree.topology(
            cpu,
            "cluster_cpus_list",
            if cpu < 4 { "0-3" } else { "4-5" },
        );
    }
    let expected = [
        (LevelKind::Cluster, vec![0, 0, 0, 0, 4, 4]),
        (LevelKind::Llc, vec![0; 6]),
    ];
    assert_eq!(levels(&tree.read()), expected);
}

/// Goal: caches of one CPU each below clusters: the cluster is the domain, as
/// `cpu_coregroup_mask` of arm64 has it.
#[test]
fn a_cluster_of_private_caches_is_the_cache_domain() {
    let tree = Tree::new(4);
    for cpu in 0..4 {
        tree.cache(cpu, 0, "2", "Unified", &cpu.to_string());
        tree.topology(
            cpu,
            "cluster_cpus_list",
            if cpu < 2 { "0-1" } else { "2-3" },
        );
    }
    let expected = [
        (LevelKind::Llc, vec![0, 0, 2, 2]),
        (LevelKind::Package, vec![0; 4]),
    ];
    assert_eq!(levels(&tree.read()), expected);
}

/// Two sockets of two cores with two threads, siblings numbered as on x86.
fn server() -> Tree {
    let tree = Tree::new(8);
    for cpu in 0..8 {
        let (core, socket) = (cpu % 4, if cpu % 4 < 2 { "0-1,4-5" } else { "2-3,6-7" });
        let threads = format!("{core},{}", core + 4);
        tree.topology(cpu, "thread_siblings_list", &threads);
        tree.topology(cpu, "cluster_cpus_list", &threads);
        tree.topology(cpu, "package_cpus_list", socket);
        tree.cache(cpu, 3, "3", "Unified", socket);
        tree.cache(cpu, 2, "2", "Unified", &threads);
    }
    tree
}

#[test]
fn threads_sockets_and_nodes() {
    let tree = server();
    tree.node(0, "0-1,4-5", "10 21");
    tree.node(1, "2-3,6-7", "21 10");
    let socket = vec![0, 0, 2, 2, 0, 0, 2, 2];
    let expected = [
        (LevelKind::Smt, vec![0, 1, 2, 3, 0, 1, 2, 3]),
        (LevelKind::Llc, socket),
        (LevelKind::Numa { distance: 21 }, vec![0; 8]),
    ];
    let machine = tree.read();
    assert_eq!(levels(&machine), expected);
    assert_eq!(machine.capacity_from, CapacitySource::Alike);
    assert_eq!(machine.capacity, [1024; 8]);
    assert!(machine.energy_model.is_empty() && machine.policies.is_empty());
}

/// Goal: two sockets without NUMA are a level above the caches, not a NUMA level.
#[test]
fn sockets_of_one_node() {
    let all = (LevelKind::Node, vec![0; 8]);
    assert_eq!(levels(&server().read()).last(), Some(&all));
}

/// Goal: four nodes in two pairs make two NUMA levels; a node with memory alone joins nothing.
#[test]
fn nodes_near_and_far() {
    let tree = Tree::new(4);
    for cpu in 0..4 {
        tree.topology(cpu, "package_cpus_list", &cpu.to_string());
    }
    tree.node(0, "0", "10 12 32 32 14");
    tree.node(1, "1", "12 10 32 32 14");
    tree.node(2, "2", "32 32 10 12 14");
    tree.node(3, "3", "32 32 12 10 14");
    tree.node(4, "", "14 14 14 14 10");
    let expected = [
        (LevelKind::Llc, vec![0, 1, 2, 3]),
        (LevelKind::Numa { distance: 12 }, vec![0, 0, 2, 2]),
        (LevelKind::Numa { distance: 32 }, vec![0; 4]),
    ];
    assert_eq!(levels(&tree.read()), expected);
}

#[test]
fn offline_cpus_have_a_place_of_their_own() {
    let tree = Tree::hikey960();
    tree.put(&format!("{CPUS}/online"), "0-2,4-7");
    tree.remove(&format!("{CPUS}/cpu3"));
    for cpu in 0..3 {
        tree.topology(cpu, "cluster_cpus_list", "0-2");
        tree.cache(cpu, 2, "2", "Unified", "0-2");
    }
    let machine = tree.read();
    assert!(!machine.online[3]);
    assert_eq!(machine.levels[0].group_of, [0, 0, 0, 3, 4, 4, 4, 4]);
    assert_eq!(machine.levels[1].group_of, [0, 0, 0, 3, 0, 0, 0, 0]);
    assert_eq!(machine.capacity[3], 462, "as the CPUs of its clock");
}

#[test]
fn more_possible_than_present() {
    let tree = Tree::new(2);
    tree.put(&format!("{CPUS}/possible"), "0-63");
    let machine = tree.read();
    assert_eq!((machine.nr_cpus, machine.nr_present), (64, 2));
    assert_eq!(machine.online.iter().filter(|on| **on).count(), 2);
}

/// Goal: the firmware's highest performance is the capacity where the kernel states none and all
/// CPUs have it; what AMD's driver has is a ranking. 41 * 1024 / 64 = 656.
#[test]
fn capacity_from_the_firmware() {
    let tree = Tree::new(2);
    tree.put(&format!("{CPUS}/cpu0/acpi_cppc/highest_perf"), "64");
    assert!(
        tree.error()
            .contains("cpu1/acpi_cppc/highest_perf: no such file"),
        "{}",
        tree.error()
    );
    tree.put(&format!("{CPUS}/cpu1/acpi_cppc/highest_perf"), "41");
    let machine = tree.read();
    assert_eq!(machine.capacity, [1024, 656]);
    assert_eq!(machine.capacity_from, CapacitySource::HighestPerf);
    tree.put(&format!("{CPUS}/amd_pstate/status"), "active");
    assert_eq!(tree.read().capacity_from, CapacitySource::Alike);
}

/// Goal: a ranking of CPUs of one kind is no capacity. Source: docs/guide/import.md: AMD ranks its
/// CPUs (amd-pstate.rst, preferred core) under acpi-cpufreq as well, and Intel its favoured cores
/// (itmt.c); P and E cores are told by their event sources. 196 * 1024 / 231 = 868.
#[test]
fn rankings_are_no_capacities() {
    let tree = |vendor: &str| {
        let tree = Tree::new(2);
        for (cpu, perf) in [(0, "231"), (1, "196")] {
            tree.put(&format!("{CPUS}/cpu{cpu}/acpi_cppc/highest_perf"), perf);
        }
        let line = format!("processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: 6");
        tree.put("proc/cpuinfo", &line);
        tree
    };
    for vendor in ["AuthenticAMD", "HygonGenuine", "GenuineIntel"] {
        let machine = tree(vendor).read();
        assert_eq!(machine.capacity_from, CapacitySource::Alike, "{vendor}");
        assert_eq!(machine.capacity, [1024, 1024], "{vendor}");
    }
    let hybrid = tree("GenuineIntel");
    hybrid.put("sys/devices/cpu_core/cpus", "0");
    assert_eq!(hybrid.read().capacity_from, CapacitySource::Alike, "P only");
    hybrid.put("sys/devices/cpu_atom/cpus", "1");
    let machine = hybrid.read();
    assert_eq!(machine.capacity_from, CapacitySource::HighestPerf);
    assert_eq!(machine.capacity, [1024, 868]);
    // Where /proc/cpuinfo is not at hand the architecture says enough.
    let tree = tree("GenuineIntel");
    tree.remove("proc/cpuinfo");
    assert_eq!(tree.read().capacity_from, CapacitySource::HighestPerf);
    tree.put("proc/sys/kernel/arch", "x86_64");
    assert_eq!(tree.read().capacity_from, CapacitySource::Alike);
}

/// Goal: powers are microwatts, whatever the kernel counts. Source: docs/guide/import.md: bit 0 of
/// the flags is `EM_PERF_DOMAIN_MILLIWATTS` until 5.19 and `EM_PERF_DOMAIN_MICROWATTS` from 6.0 on;
/// without it they are a scale of the driver's own.
#[test]
fn the_kernel_says_what_its_powers_count() {
    let first = |tree: &Tree| {
        let machine = tree.read();
        let little = &machine.energy_model[0];
        let powers: Vec<_> = little.states.iter().map(|s| s.power_uw).collect();
        (little.microwatts, powers)
    };
    let tree = Tree::hikey960();
    for (domain, khz, power) in [
        (0, 533_000, 28),
        (0, 999_000, 52),
        (4, 903_000, 243),
        (4, 2_362_000, 1571),
    ] {
        tree.state(domain, khz, power);
    }
    assert_eq!(first(&tree), (true, vec![28, 52]), "an unknown kernel");
    for (release, unit) in [
        ("5.18.0-rc1", 1000),
        ("5.19.17+", 1000),
        ("6.0.0", 1),
        ("7.3.4", 1),
    ] {
        tree.put("proc/sys/kernel/osrelease", release);
        assert_eq!(
            first(&tree),
            (true, vec![28 * unit, 52 * unit]),
            "{release}"
        );
    }
    tree.put("proc/sys/kernel/osrelease", "5.19.17");
    tree.state(0, 999_000, 64_001);
    assert!(
        tree.error().contains("a power in mW from 1 to 64000"),
        "{}",
        tree.error()
    );
    tree.put(&format!("{EM}/cpu0/flags"), "0x0");
    assert_eq!(first(&tree), (false, vec![28, 64_001]));
}

#[test]
fn an_inactive_policy_and_an_unknown_latency() {
    let tree = Tree::hikey960();
    tree.put(&format!("{CPUS}/cpufreq/policy0/related_cpus"), "");
    tree.put(
        &format!("{CPUS}/cpufreq/policy4/cpuinfo_transition_latency"),
        "4294967295",
    );
    let machine = tree.read();
    assert_eq!(machine.policies.len(), 1);
    assert_eq!(machine.policies[0].transition_latency_ns, None);
}

/// Path, what is put there, and what the message says.
const DAMAGES: [(&str, &str, &str); 18] = [
    (
        "sys/devices/system/cpu/possible",
        "0-4096",
        "a list of at most 1024 CPUs",
    ),
    (
        "sys/devices/system/cpu/possible",
        "",
        "nothing; expected a list",
    ),
    (
        "sys/devices/system/cpu/online",
        "0-9",
        "`0-9`; expected a list of CPUs out of",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpu_capacity",
        "fast",
        "`fast`; expected a capacity",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpu_capacity",
        "2048",
        "a capacity from 1 to 1024",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpu_capacity",
        "430",
        "CPU 0 of capacity 462 and CPU 1 of",
    ),
    (
        "sys/devices/system/cpu/cpu1/topology/package_cpus_list",
        "0-3",
        "CPU 0 as a sibling",
    ),
    (
        "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
        "2",
        "among its siblings",
    ),
    (
        "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
        "0-1",
        "CPU 0 as a sibling",
    ),
    (
        "sys/devices/system/cpu/cpu1/cache/index2/level",
        "L2",
        "`L2`; expected a cache level",
    ),
    (
        "sys/devices/system/cpu/cpufreq/policy4/related_cpus",
        "3 4",
        "which policy0 has too",
    ),
    (
        "sys/devices/system/cpu/cpufreq/policy4/cpuinfo_max_freq",
        "1",
        "at least cpuinfo_min",
    ),
    (
        "sys/devices/system/cpu/cpufreq/policy4/scaling_available_frequencies",
        "1000 -1",
        "`-1`; expected frequencies from 1",
    ),
    (
        "sys/kernel/debug/energy_model/cpu0/ps:999000/frequency",
        "533000",
        "above that of",
    ),
    (
        "sys/kernel/debug/energy_model/cpu0/ps:999000/power",
        "0",
        "from 1 to 64000000",
    ),
    (
        "sys/kernel/debug/energy_model/cpu0/ps:999000/power",
        "64000001",
        "from 1 to 64000000",
    ),
    (
        "sys/kernel/debug/energy_model/cpu4/cpus",
        "3-7",
        "a CPU that domain cpu0 has too",
    ),
    (
        "sys/kernel/debug/energy_model/cpu4/ps:x/power",
        "1",
        "a state without a number",
    ),
];

/// Goal: each damage is refused with its file and what was expected.
#[test]
fn damaged_trees_are_refused() {
    for (path, text, expected) in DAMAGES {
        let tree = Tree::hikey960();
        tree.put(path, text);
        let error = tree.error();
        assert!(error.contains(expected), "{path}: {error}");
        assert!(error.starts_with("/sys/"), "{error}");
    }
}

#[test]
fn what_is_missing_or_no_file_is_named() {
    let gone = [
        (format!("{CPUS}/possible"), "possible: no such file"),
        (
            format!("{CPUS}/cpu2/topology/package_cpus_list"),
            "package_cpus_list: no such file",
        ),
        (
            format!("{CPUS}/cpu2/cpu_capacity"),
            "a capacity, as CPU 0 has one",
        ),
        (
            format!("{EM}/cpu0/ps:533000/power"),
            "ps:533000/power: no such file",
        ),
    ];
    for (path, expected) in gone {
        let tree = Tree::hikey960();
        tree.remove(&path);
        assert!(tree.error().contains(expected), "{path}: {}", tree.error());
    }
    let tree = Tree::hikey960();
    tree.remove(&format!("{EM}/cpu0/ps:533000"));
    tree.remove(&format!("{EM}/cpu0/ps:999000"));
    assert!(
        tree.error().contains("0 states; expected 1 to 256"),
        "{}",
        tree.error()
    );
    let tree = Tree::hikey960();
    let path = tree.0.path().join(CPUS).join("online");
    fs::remove_file(&path).expect("a file");
    fs::create_dir(&path).expect("a folder");
    assert!(
        tree.error().contains("cannot be read: it is no file"),
        "{}",
        tree.error()
    );
    let tree = Tree::hikey960();
    let path = tree.0.path().join(CPUS).join("online");
    fs::write(path, vec![b'1'; 1 << 20]).expect("a file");
    assert!(
        tree.error().contains("more than 16384 bytes"),
        "{}",
        tree.error()
    );
    let tree = Tree::hikey960();
    let path = tree.0.path().join(CPUS).join("online");
    fs::write(path, [0xff, 0xfe]).expect("a file");
    assert!(
        tree.error().contains("bytes that are no text"),
        "{}",
        tree.error()
    );
}

/// Goal: nothing in a tree makes the reader panic. Every file in turn gets each of these texts.
#[test]
fn hostile_texts_are_results_or_errors() {
    let numa = server();
    numa.node(0, "0-1,4-5", "10 21");
    numa.node(1, "2-3,6-7", "21 10");
    let texts = [
        "",
        "0",
        "1-0",
        "0-7,9",
        "18446744073709551615",
        "0-1023",
        "\0",
        "ä",
    ];
    for tree in [Tree::hikey960(), numa] {
        let mut files = Vec::new();
        let mut folders = vec![tree.0.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path);
                }
            }
        }
        assert!(files.len() > 50);
        for file in files {
            let before = fs::read(&file).expect("a file");
            for text in texts {
                fs::write(&file, text).expect("a file");
                let _ = SysfsMachine::read(tree.0.path());
            }
            fs::write(&file, before).expect("a file");
        }
        tree.read();
    }
}

/// This machine has CPUs, and the levels are nested divisions.
#[test]
fn this_machine() {
    let machine = SysfsMachine::read("/".as_ref()).expect("this machine");
    assert_eq!(machine.online.len(), machine.nr_cpus);
    for pair in machine.levels.windows(2) {
        for (cpu, lowest) in pair[0].group_of.iter().enumerate() {
            let above = &pair[1].group_of;
            assert_eq!(above[cpu], above[usize::from(*lowest)]);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0-only
//! Machines described from small trees, by the kernel's word and by platform files.
//! Page: docs/guide/live.md, "Run"; docs/guide/platforms.md.
//!
//! What must stay: the kernel's own word goes before a platform file; a file that differs is
//! refused with all that differs. Exit codes stay. Free: what else a made tree holds.
//! Tests by part (in crates/scx/src): machine.rs: `the_kernels_own_word` (`describe`,
//! `kernel_clocks`), `the_kernels_energy_model` (`kernel_model`), `another_governor_is_seen`
//! (`follows_requests`), `a_platform_file_gives_what_the_kernel_lacks` (`file_model`),
//! `clusters_that_cross_those_of_the_file_are_named` (`compare_clusters`),
//! `the_powers_of_a_file_are_those_that_are_drawn` (`file_model`, `model_words`),
//! `a_platform_file_of_another_machine_is_refused_with_all_that_differs` (`fitting`),
//! `a_damaged_machine_is_the_environments_fault` (`Problem`), `cpus_come_and_go` (`rebuild`),
//! `a_model_of_clocks_is_said` (`energy_under`).
//! Helpers, and who fails with them: `put`, `describe` (all tests, `the_kernels_energy_model` among
//! them); `hikey960` (most tests, `the_kernels_own_word` among them); `model`
//! (`the_kernels_energy_model`, `a_damaged_machine_is_the_environments_fault`); `misfit`
//! (`a_platform_file_of_another_machine_is_refused_with_all_that_differs`).

use super::{DEFAULT_TICK_NS, Machine, PlatformChoice, Problem, describe};
use std::fs;
use wakeplace_policy_sys::{Core, Policy};

const CPUS: &str = "sys/devices/system/cpu";

/// A tree with two clusters of CPUs of these sizes and capacities, each with its clock.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(clusters: &[(usize, u32)]) -> Self {
        let tree = Self(tempfile::tempdir().expect("a temporary folder"));
        let total: usize = clusters.iter().map(|(n, _)| n).sum();
        let all = format!("0-{}", total - 1);
        for file in ["possible", "present", "online"] {
            tree.put(&format!("{CPUS}/{file}"), &all);
        }
        let mut first = 0;
        for (n, capacity) in clusters {
            let list = format!("{first}-{}", first + n - 1);
            for cpu in first..first + n {
                let at = format!("{CPUS}/cpu{cpu}");
                tree.put(&format!("{at}/cpu_capacity"), &capacity.to_string());
                tree.put(
                    &format!("{at}/topology/thread_siblings_list"),
                    &cpu.to_string(),
                );
                tree.put(&format!("{at}/topology/package_cpus_list"), &all);
                tree.put(&format!("{at}/topology/cluster_cpus_list"), &list);
            }
            let policy = format!("{CPUS}/cpufreq/policy{first}");
            let members: Vec<String> = (first..first + n).map(|c| c.to_string()).collect();
            tree.put(&format!("{policy}/related_cpus"), &members.join(" "));
            tree.put(&format!("{policy}/scaling_governor"), "schedutil");
            tree.put(&format!("{policy}/cpuinfo_min_freq"), "500000");
            tree.put(&format!("{policy}/cpuinfo_max_freq"), "2000000");
            tree.put(&format!("{policy}/cpuinfo_transition_latency"), "500000");
            first += n;
        }
        tree
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, format!("{text}\n")).expect("a file");
    }

    fn model(&self, first: usize, cpus: &str, flags: &str, states: &[(u32, u32)]) {
        let at = format!("sys/kernel/debug/energy_model/cpu{first}");
        self.put(&format!("{at}/cpus"), cpus);
        self.put(&format!("{at}/flags"), flags);
        for (khz, power) in states {
            self.put(&format!("{at}/ps:{khz}/frequency"), &khz.to_string());
            self.put(&format!("{at}/ps:{khz}/power"), &power.to_string());
        }
    }

    fn describe(&self, platform: &str) -> Result<Machine, Problem> {
        describe(&PlatformChoice::new(platform), self.0.path())
    }

    fn misfit(&self, platform: &str) -> Vec<String> {
        let problem = self.describe(platform).expect_err("it does not fit");
        assert_eq!(problem.exit_code(), 2);
        match problem {
            Problem::DoesNotFit { mismatches, .. } => mismatches,
            other => panic!("{other}"),
        }
    }
}

/// HiKey 960: four A53 of capacity 462 and four A73 (platforms/hikey960.toml).
fn hikey960() -> Tree {
    Tree::new(&[(4, 462), (4, 1024)])
}

#[test]
fn the_kernels_own_word() {
    let tree = hikey960();
    let machine = tree.describe("auto").expect("a machine");
    assert_eq!(
        machine.facts.capacity,
        [462, 462, 462, 462, 1024, 1024, 1024, 1024]
    );
    assert_eq!(machine.classes, ["capacity 462", "capacity 1024"]);
    assert_eq!(machine.class_of, [0, 0, 0, 0, 1, 1, 1, 1]);
    assert!(machine.schedutil && machine.domains.is_empty() && !machine.power_in_watts);
    assert_eq!(machine.facts.tick_ns, DEFAULT_TICK_NS);
    let clock = &machine.facts.freq_domains[1];
    assert_eq!(
        (&clock.cpus[..], &clock.opp_khz[..]),
        (&[4, 5, 6, 7][..], &[500_000, 2_000_000][..])
    );
    assert_eq!(clock.transition_latency_us, 500);
    let flags: Vec<_> = machine
        .facts
        .levels
        .iter()
        .map(|l| (l.cluster, l.shares_cache))
        .collect();
    assert_eq!(
        flags,
        [(true, true), (false, true)],
        "clusters below the package's cache"
    );
}

#[test]
fn the_kernels_energy_model() {
    let tree = hikey960();
    tree.model(0, "0-3", "0x1", &[(533_000, 28_728), (999_000, 70_329)]);
    tree.model(4, "4-7", "0x1", &[(903_000, 243_358)]);
    tree.put("proc/sys/kernel/osrelease", "6.18.15");
    tree.put("boot/config-6.18.15", "CONFIG_HZ=1000");
    let machine = tree.describe("auto").expect("a machine");
    assert_eq!(machine.domains, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    assert_eq!(
        machine.facts.perf_domains[0].states,
        [(533_000, 28_728), (999_000, 70_329)]
    );
    assert_eq!(
        machine.facts.freq_domains[0].opp_khz,
        [533_000, 999_000],
        "the model's"
    );
    assert_eq!(machine.facts.tick_ns, 1_000_000);
    assert!(machine.power_in_watts);
    assert_eq!(machine.energy.as_deref(), Some("what the kernel states"));
    tree.model(4, "4-7", "0x0", &[]);
    let scaled = tree.describe("auto").expect("a machine");
    assert!(!scaled.power_in_watts, "a scale of its own");
    assert_eq!(
        scaled.energy.as_deref(),
        Some("what the kernel states, in no known unit")
    );
}

/// Goal: what the core makes of clocks (docs/rules/energy-no-watts.md#no-watts-when) is what is
/// said of it: where the kernel has no model, or in its place; not where all CPUs are alike, or one
/// clock is that of two capacities.
#[test]
fn a_model_of_clocks_is_said() {
    let by_clock = Some("capacities and clocks, without powers");
    let said = |tree: &Tree, value: &str| {
        let machine = tree.describe("auto").expect("a machine");
        let name = format!("linux-7.3:energy_no_watts={value}");
        let policy = Policy::parse(&name).expect("a policy");
        let core = Core::new(&machine.facts, policy.core_params()).expect("the core takes it");
        (machine.energy_under(&core), core.state().nr_perf_doms)
    };
    let tree = hikey960();
    for (value, words, domains) in [
        ("off", None, 0),
        ("missing", by_clock, 2),
        ("always", by_clock, 2),
    ] {
        let (told, made) = said(&tree, value);
        assert_eq!((told.as_deref(), made), (words, domains), "{value}");
    }
    tree.model(0, "0-3", "0x1", &[(533_000, 28_728)]);
    tree.model(4, "4-7", "0x1", &[(903_000, 243_358)]);
    let kernels = Some("what the kernel states");
    for (value, words) in [("missing", kernels), ("always", by_clock)] {
        let (told, made) = said(&tree, value);
        assert_eq!((told.as_deref(), made), (words, 2), "{value}");
    }
    let alike = Tree::new(&[(4, 1024), (4, 1024)]);
    assert_eq!(said(&alike, "missing"), (None, 0));
    let one_clock = hikey960();
    let cpufreq = format!("{CPUS}/cpufreq");
    fs::remove_dir_all(one_clock.0.path().join(&cpufreq).join("policy4")).expect("a folder");
    let cpus = "0 1 2 3 4 5 6 7";
    one_clock.put(&format!("{cpufreq}/policy0/related_cpus"), cpus);
    for value in ["missing", "always"] {
        assert_eq!(said(&one_clock, value), (None, 0), "{value}");
    }
}

#[test]
fn another_governor_is_seen() {
    let tree = hikey960();
    tree.put(
        &format!("{CPUS}/cpufreq/policy4/scaling_governor"),
        "performance",
    );
    assert!(!tree.describe("auto").expect("a machine").schedutil);
}

#[test]
fn a_platform_file_gives_what_the_kernel_lacks() {
    let tree = Tree::new(&[(4, 1024), (4, 1024)]);
    let machine = tree
        .describe("hikey960")
        .expect("a machine: equal capacities say nothing");
    assert_eq!(machine.facts.capacity[..5], [462, 462, 462, 462, 1024]);
    assert_eq!(machine.facts.perf_domains.len(), 2);
    let policy = Policy::parse("linux-7.3").expect("a policy");
    let core = Core::new(&machine.facts, policy.core_params()).expect("the core takes it");
    assert_eq!(core.state().nr_perf_doms, 2);
}

#[test]
fn a_platform_file_of_another_machine_is_refused_with_all_that_differs() {
    let four = Tree::new(&[(4, 1024)]);
    let problem = four.describe("hikey960").expect_err("it does not fit");
    assert_eq!(
        problem.to_string(),
        "platform file hikey960 does not fit this machine: it has 8 CPUs, this machine 4"
    );
    let other = Tree::new(&[(2, 1024), (6, 462)]).misfit("hikey960");
    assert_eq!(
        other,
        [
            "cpufreq policy0 is CPUs 0-1, in the file CPU 0 shares its clock with CPUs 0-3",
            "cpufreq policy2 is CPUs 2-7, in the file CPU 2 shares its clock with CPUs 0-3",
            "CPU 2 shares its cluster with CPUs 2-7, in the file it is in a cluster of CPUs 0-3",
            "capacities of CPU 0 and CPU 2: 1024 and 462 by the kernel, 462 and 462 in the file",
            "capacities of CPU 0 and CPU 4: 1024 and 462 by the kernel, 462 and 1024 in the file",
            "capacities of CPU 2 and CPU 4: 462 and 462 by the kernel, 462 and 1024 in the file",
        ]
    );
    let unknown = hikey960().describe("hiky960").expect_err("no such name");
    assert_eq!(unknown.exit_code(), 2);
    assert!(
        unknown.to_string().contains("did you mean `hikey960`?"),
        "{unknown}"
    );
}

/// A board without cpufreq says nothing of its clocks, but its clusters tell it from another. Parts
/// of a cluster say nothing: CPUs 0 and 1 may well share a cache that 2 and 3 do not.
#[test]
fn clusters_that_cross_those_of_the_file_are_named() {
    let board = |clusters: &[(usize, u32)]| {
        let tree = Tree::new(clusters);
        fs::remove_dir_all(tree.0.path().join(CPUS).join("cpufreq")).expect("a folder");
        tree
    };
    let crossed = board(&[(3, 1024), (5, 1024)]).misfit("hikey960");
    assert_eq!(
        crossed,
        ["CPU 3 shares its cluster with CPUs 3-7, in the file it is in a cluster of CPUs 0-3"]
    );
    for parts in [&[(2, 1024), (2, 1024), (4, 1024)][..], &[(8, 1024)]] {
        board(parts).describe("hikey960").expect("it may be one");
    }
}

/// Juno r0 states both powers: 33 mW of an A53 at 450 MHz by LISA's table, 42.361 mW by the device
/// tree's formula (platforms/juno-r0.toml). Its CPUs 1 and 2 are the big ones.
#[test]
fn the_powers_of_a_file_are_those_that_are_drawn() {
    let tree = Tree::new(&[(6, 1024)]);
    fs::remove_dir_all(tree.0.path().join(CPUS).join("cpufreq")).expect("a folder");
    let machine = tree.describe("juno-r0").expect("a machine");
    let first = machine.facts.perf_domains[0].states[0];
    assert_eq!(first, (450_000, 33_000));
    assert!(machine.power_in_watts);
    assert_eq!(
        machine.energy.as_deref(),
        Some("what the hardware draws by the platform file")
    );
    assert_eq!(machine.facts.capacity, [446, 1024, 1024, 446, 446, 446]);
    let auto = tree.describe("auto").expect("a machine");
    assert_eq!(auto.energy, None, "the kernel has no model here");
}

#[test]
fn a_damaged_machine_is_the_environments_fault() {
    let tree = hikey960();
    tree.model(0, "0-3", "0x1", &[(533_000, 0)]);
    let problem = tree.describe("auto").expect_err("a power of nothing");
    assert_eq!(problem.exit_code(), 3);
    assert!(
        problem
            .to_string()
            .contains("ps:533000/power: `0`; expected"),
        "{problem}"
    );
}

/// Goal: CPUs that go keep their places; one that was never seen is read when it comes.
#[test]
fn cpus_come_and_go() {
    let tree = hikey960();
    tree.put(&format!("{CPUS}/online"), "0-6");
    fs::remove_dir_all(tree.0.path().join(CPUS).join("cpu7")).expect("a folder");
    for cpu in 0..7 {
        let at = format!("{CPUS}/cpu{cpu}/topology");
        tree.put(&format!("{at}/package_cpus_list"), "0-6");
        tree.put(
            &format!("{at}/cluster_cpus_list"),
            if cpu < 4 { "0-3" } else { "4-6" },
        );
    }
    let mut machine = tree.describe("auto").expect("a machine");
    assert_eq!(machine.facts.levels[0].group_of, [0, 0, 0, 0, 4, 4, 4, 7]);
    let spans = |machine: &Machine, cpu: u32| {
        let policy = Policy::parse("linux-7.3").expect("a policy");
        let core = Core::new(&machine.facts, policy.core_params()).expect("a core");
        let levels = core.cpu(cpu).topo.nr_levels as usize;
        let doms = core.cpu(cpu).topo.dom[..levels].iter();
        doms.map(|dom| core.state().doms[*dom as usize].nr_cpus)
            .collect::<Vec<_>>()
    };
    assert_eq!(spans(&machine, 4), [3, 7]);
    let mut online = machine.facts.online.clone();
    online[5] = false;
    machine.rebuild(&online).expect("no file is read");
    assert_eq!(spans(&machine, 4), [2, 6]);
    assert!(spans(&machine, 5).is_empty(), "in no domain");
    let whole = hikey960();
    machine.root = whole.0.path().to_owned();
    machine.rebuild(&[true; 8]).expect("it is read again");
    assert_eq!(spans(&machine, 7), [4, 8]);
    let damaged = Tree::new(&[(4, 462), (4, 1024)]);
    damaged.put(&format!("{CPUS}/online"), "none");
    let mut machine = tree.describe("auto").expect("a machine");
    machine.root = damaged.0.path().to_owned();
    assert_eq!(
        machine
            .rebuild(&[true; 8])
            .expect_err("damaged")
            .exit_code(),
        3
    );
    assert!(!machine.facts.online[7], "it stays as it was");
}

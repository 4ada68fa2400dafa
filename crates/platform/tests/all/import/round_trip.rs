//! Every machine that comes with the program, written as the kernel would show it, and read back.
//! Page: docs/guide/import.md, "How a tree is read".
//!
//! What must stay: every built-in machine comes back; `tree` writes what the kernel shows
//! (`of_cpu`, `idle_states`, `clocks`) and reads nothing of the importer.
//! Tests by part (in crates/platform/src): import/text.rs: `every_platform_comes_back` (`source`);
//! import/write.rs: `every_platform_comes_back` (`file`, `topology`, `clocks`).
//! Helpers, and who fails with them: `list`, `with`, `group`, `packs`, `tree`, `of_cpu`,
//! `idle_states`, `clocks` (`every_platform_comes_back`).

use super::tree_files::Files;
use wakeplace_platform::import::{Source, import};
use wakeplace_platform::{Cpu, CpuId, IdleScope, Platform, PowerUnit, builtin_names};

fn list<'a>(cpus: impl IntoIterator<Item = &'a CpuId>) -> String {
    let numbers: Vec<String> = cpus.into_iter().map(ToString::to_string).collect();
    numbers.join(",")
}

fn with(platform: &Platform, same: impl Fn(&Cpu) -> bool) -> String {
    let cpus: Vec<CpuId> = (0..).map(CpuId).take(platform.cpus.len()).collect();
    list(cpus.iter().filter(|id| same(&platform.cpus[id.index()])))
}

/// The group of a level that has the CPU.
fn group(platform: &Platform, name: &str, id: CpuId) -> Option<String> {
    let level = platform.topology.iter().find(|level| level.name == name)?;
    level
        .groups
        .iter()
        .find(|group| group.contains(&id))
        .map(list)
}

/// Whether some CPUs are preferred (x86 ITMT).
fn packs(platform: &Platform) -> bool {
    platform.cpus.iter().any(|cpu| cpu.priority > 0)
}

/// The kernel's files of a platform.
fn tree(platform: &Platform) -> Files {
    let mut files = Files::default();
    let all = with(platform, |_| true);
    for file in ["possible", "present", "online"] {
        files.put(&format!("sys/devices/system/cpu/{file}"), &all);
    }
    files.put(
        "proc/sys/kernel/arch",
        match platform.arch.as_str() {
            "arm64" => "aarch64",
            "arm" => "armv7l",
            other => other,
        },
    );
    files.put(
        "wakeplace/config",
        &format!("CONFIG_HZ={}", platform.tick_hz),
    );
    files.put(
        "proc/sys/kernel/sched_itmt_enabled",
        if packs(platform) { "1" } else { "0" },
    );
    for (id, cpu) in (0..).map(CpuId).zip(&platform.cpus) {
        of_cpu(platform, id, cpu, &mut files);
        idle_states(platform, id, &mut files);
    }
    for (number, row) in platform
        .numa
        .iter()
        .flat_map(|numa| &numa.distances)
        .enumerate()
    {
        let row: Vec<String> = row.iter().map(u32::to_string).collect();
        files.put(&format!("node{number}/distance"), &row.join(" "));
        files.put(
            &format!("node{number}/cpulist"),
            &with(platform, |cpu| cpu.node as usize == number),
        );
    }
    clocks(platform, &mut files);
    files
}

/// A CPU's place, caches and capacity.
fn of_cpu(platform: &Platform, id: CpuId, cpu: &Cpu, files: &mut Files) {
    let at = format!("cpu{id}");
    let core = with(platform, |other| other.core == cpu.core);
    files.put(&format!("{at}/topology/thread_siblings_list"), &core);
    files.put(
        &format!("{at}/topology/package_cpus_list"),
        &with(platform, |o| o.package == cpu.package),
    );
    files.put(
        &format!("{at}/topology/physical_package_id"),
        &cpu.package.to_string(),
    );
    // x86 shows the CPUs of a second-level cache; elsewhere firmware names clusters.
    let cluster = group(platform, "CLS", id);
    let cluster = match platform.arch.as_str() {
        "x86_64" => cluster.unwrap_or_else(|| core.clone()),
        _ => cluster.unwrap_or_else(|| with(platform, |other| other.cluster == cpu.cluster)),
    };
    files.put(&format!("{at}/topology/cluster_cpus_list"), &cluster);
    let cache = group(platform, "MC", id)
        .or_else(|| group(platform, "CLS", id))
        .unwrap_or(core);
    files.put(&format!("{at}/cache/index3/level"), "3");
    files.put(&format!("{at}/cache/index3/type"), "Unified");
    files.put(&format!("{at}/cache/index3/shared_cpu_list"), &cache);
    files.put(&format!("{at}/cpu_capacity"), &cpu.capacity.to_string());
    if packs(platform) {
        files.put(
            &format!("{at}/acpi_cppc/highest_perf"),
            &cpu.priority.to_string(),
        );
    }
}

fn idle_states(platform: &Platform, id: CpuId, files: &mut Files) {
    for (number, (_, state)) in platform.idle_states_of(id).enumerate() {
        let at = format!("cpu{id}/cpuidle/state{number}");
        let word = if state.scope == IdleScope::Cluster {
            "cluster"
        } else {
            ""
        };
        files.put(&format!("{at}/name"), &state.name);
        files.put(&format!("{at}/desc"), word);
        files.put(
            &format!("{at}/latency"),
            &(state.wake_latency_ns() / 1000).to_string(),
        );
        files.put(
            &format!("{at}/residency"),
            &(state.min_residency_ns / 1000).to_string(),
        );
    }
}

fn clocks(platform: &Platform, files: &mut Files) {
    for domain in &platform.freq_domains {
        let first = domain.cpus[0];
        let at = format!("sys/devices/system/cpu/cpufreq/policy{first}");
        let khz: Vec<String> = domain.opps.iter().map(|opp| opp.khz.to_string()).collect();
        files.put(&format!("{at}/related_cpus"), &list(&domain.cpus));
        files.put(
            &format!("{at}/scaling_available_frequencies"),
            &khz.join(" "),
        );
        files.put(
            &format!("{at}/cpuinfo_transition_latency"),
            &domain.transition_latency_ns.to_string(),
        );
        if platform.power_unit == PowerUnit::None {
            continue;
        }
        let flags = if platform.power_unit == PowerUnit::Microwatt {
            "0x1"
        } else {
            "0x0"
        };
        files.put(&format!("em/cpu{first}/cpus"), &list(&domain.cpus));
        files.put(&format!("em/cpu{first}/flags"), flags);
        for opp in &domain.opps {
            let at = format!("em/cpu{first}/ps:{}", opp.khz);
            files.put(&format!("{at}/frequency"), &opp.khz.to_string());
            files.put(
                &format!("{at}/power"),
                &opp.power.expect("power").to_string(),
            );
        }
    }
}

#[test]
fn every_platform_comes_back() {
    for name in builtin_names() {
        let platform = Platform::builtin(name).expect("built in");
        let (_folder, root) = tree(&platform).archive(name);
        let back = import(Source::Tree(&root), None, None)
            .unwrap_or_else(|e| panic!("{name}: {e}"))
            .platform;
        let cpu = |cpu: &Cpu| (cpu.capacity, cpu.core, cpu.package, cpu.node, cpu.priority);
        assert_eq!(
            back.cpus.iter().map(cpu).collect::<Vec<_>>(),
            platform.cpus.iter().map(cpu).collect::<Vec<_>>(),
            "{name}"
        );
        let levels = |p: &Platform| {
            let groups = |l: &wakeplace_platform::TopologyLevel| {
                let mut groups = l.groups.clone();
                groups.sort();
                groups
            };
            p.topology.iter().map(groups).collect::<Vec<_>>()
        };
        assert_eq!(levels(&back), levels(&platform), "{name}");
        let clock = |d: &wakeplace_platform::FreqDomain| {
            let points: Vec<_> = d.opps.iter().map(|opp| (opp.khz, opp.power)).collect();
            (d.cpus.clone(), points, d.transition_latency_ns)
        };
        let sorted = |p: &Platform| {
            let mut clocks: Vec<_> = p.freq_domains.iter().map(clock).collect();
            clocks.sort();
            clocks
        };
        assert_eq!(sorted(&back), sorted(&platform), "{name}");
        assert_eq!(
            (back.tick_hz, back.power_unit),
            (platform.tick_hz, platform.power_unit),
            "{name}"
        );
        assert_eq!(back.arch, platform.arch, "{name}");
        let numa = |p: &Platform| p.numa.as_ref().map(|numa| numa.distances.clone());
        assert_eq!(numa(&back), numa(&platform), "{name}");
        for id in (0..).map(CpuId).take(platform.cpus.len()) {
            let idle = |p: &Platform| -> Vec<(u64, u64, IdleScope)> {
                let states = p.idle_states_of(id);
                states
                    .map(|(_, s)| (s.wake_latency_ns(), s.min_residency_ns, s.scope))
                    .collect()
            };
            assert_eq!(idle(&back), idle(&platform), "{name} CPU {id}");
        }
    }
}

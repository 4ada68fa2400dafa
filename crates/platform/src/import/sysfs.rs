//! A machine out of the kernel's files (docs/guide/import.md, "What is read").
//!
//! Called by `import/mod.rs`. Clocks are kHz, times ns, powers µW.
//!
//! What must stay: what is not in the files stays absent; CPUs are numbered anew without the
//! offline ones; capacities are the kernel's, never ranks of the firmware. Free: what leaves the
//! files of imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `two_sockets_with_threads` (`parts`, `distances`, `clock`),
//! `hybrids_have_priorities_or_capacities` (`rank`, `speeds`, `capacities`),
//! `offline_cpus_are_left_out_and_the_rest_is_numbered_anew` (`note_offline`, `keep`, `dense`),
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program` (`energy_clock`, `idle`),
//! `phones` (powers without a unit), round_trip.rs::`every_platform_comes_back` (`found`),
//! architectures.rs::`other_instruction_sets_are_refused` (`arch`). `read`, `file`, `cpu`, `clocks`
//! and `idle_state` by all of these. No test of its own: `reclaim`, an artificial energy model.
//!
//! Tests: crates/platform/tests/all/import

use super::fill::grid;
use super::found::{Clock, Found, FoundCpu, FoundIdle, Origin, Point, Scale, cpu_list};
use crate::arch::Arch;
use crate::numa::LOCAL_DISTANCE;
use crate::sysfs::details::{self, Details, KERNEL_ARCH};
use crate::sysfs::partition::Partition;
use crate::sysfs::topology::{Node, Parts};
use crate::sysfs::{
    CapacitySource, CpufreqPolicy, EnergyDomain, SysfsError, SysfsMachine, Tree, quoted,
};

/// Farthest distance of a platform file; 255 means unreachable.
const MAX_DISTANCE: u32 = 254;
/// Distance up to which EPYC's kernel counts nodes as near (arch/x86/kernel/cpu/amd.c).
const AMD_RECLAIM: u32 = 32;

/// Reads the tree. `energy` is a folder of the energy model that takes the place of the tree's.
pub(super) fn read(
    tree: &Tree,
    energy: Option<&Tree>,
    place: &str,
    said: &mut Vec<String>,
) -> Result<Found, SysfsError> {
    let mut machine = SysfsMachine::of_tree(tree)?;
    if let Some(energy) = energy {
        machine.energy_model = details::energy_model(energy, machine.nr_cpus)?;
        if machine.energy_model.is_empty() {
            said.push("the folder of the energy model has no performance domain".to_owned());
        }
    }
    let details = details::read(tree, &machine.online)?;
    let arch = arch(tree, &details, place, said)?;
    let kept: Vec<u16> = (0..)
        .zip(&machine.online)
        .filter(|(_, online)| **online)
        .map(|(cpu, _)| cpu)
        .collect();
    let view = View {
        place,
        machine: &machine,
        details: &details,
        kept: &kept,
        arch,
    };
    Ok(view.found(said))
}

/// The instruction set, where a file says it.
fn arch(
    tree: &Tree,
    details: &Details,
    place: &str,
    said: &mut Vec<String>,
) -> Result<Option<(Arch, Origin)>, SysfsError> {
    let Some((name, file)) = &details.arch else {
        return Ok(None);
    };
    let Some(arch) = Arch::of(name) else {
        let found = format!("instruction set {}", quoted(name));
        return Err(tree.wrong(file, found, Arch::expected()));
    };
    if arch == Arch::X86 && name != "x86_64" {
        said.push(format!("x86_64 for {name}: 32-bit x86 is not modelled"));
    }
    let text = format!("{place}: {file}");
    let from = match *file == KERNEL_ARCH {
        true => Origin::stated(text),
        false => Origin::derived(text),
    };
    Ok(Some((arch, from)))
}

/// A tree that has been read, and which of its CPUs become CPUs of the platform.
struct View<'a> {
    place: &'a str,
    machine: &'a SysfsMachine,
    details: &'a Details,
    kept: &'a [u16],
    arch: Option<(Arch, Origin)>,
}

impl View<'_> {
    /// All that the files say, CPU by CPU; `said` hears what was left out.
    fn found(&self, said: &mut Vec<String>) -> Found {
        let mut notes = Vec::new();
        self.note_offline(&mut notes, said);
        let (capacity, capacity_from) = self.capacities();
        let cpus = self
            .kept
            .iter()
            .zip(&capacity)
            .map(|(cpu, capacity)| self.cpu(*cpu, *capacity))
            .collect();
        let mut nodes: Vec<&Node> = self.details.nodes.iter().collect();
        nodes.sort_by_key(|node| node.cpus.first().copied());
        let distances = self.distances(said);
        Found {
            title: self.details.model.clone(),
            arch: self.arch.clone(),
            tick_hz: self.details.tick_hz.map(|hz| {
                (
                    hz,
                    Origin::stated(self.file("the kernel's configuration, CONFIG_HZ")),
                )
            }),
            cpus,
            capacity_from,
            speed: self.speeds(),
            parts: self.parts(),
            parts_from: Origin::stated(
                self.file(
                    "sys/devices/system/cpu/cpu*/topology and cache, sys/devices/system/node",
                ),
            ),
            reclaim_distance: self.reclaim(&distances),
            distances_from: (distances.len() > 1)
                .then(|| Origin::stated(self.file("sys/devices/system/node/node*/distance"))),
            distances,
            rank: self.rank(),
            clocks: self.clocks(said),
            idle: self.idle(),
            notes,
        }
    }

    /// A file as a source.
    fn file(&self, path: &str) -> String {
        format!("{}: {path}", self.place)
    }

    /// What the files say of one CPU.
    fn cpu(&self, cpu: u16, capacity: u32) -> FoundCpu {
        let index = usize::from(cpu);
        // Without numbers the lists of siblings say it.
        let listed = u64::from(self.details.parts.package.labels()[index]);
        FoundCpu {
            number: u32::from(cpu),
            kind: self.details.kind[index].clone(),
            capacity: u64::from(capacity),
            package: self.details.package[index].unwrap_or(listed),
        }
    }

    /// CPUs that do not run are no part of the platform, which numbers CPUs without gaps.
    fn note_offline(&self, notes: &mut Vec<String>, said: &mut Vec<String>) {
        let possible = 0..self.machine.nr_present as u16;
        let offline: Vec<u16> = possible.filter(|cpu| !self.kept.contains(cpu)).collect();
        if offline.is_empty() {
            return;
        }
        let mut words = format!("CPUs {} are offline and left out", cpu_list(&offline));
        if (0..).zip(self.kept).any(|(dense, cpu)| dense != *cpu) {
            words += &format!(
                "; CPUs {} of the machine are CPUs 0-{} here, in their order",
                cpu_list(self.kept),
                self.kept.len() - 1
            );
        }
        said.push(words.clone());
        notes.push(words + ".");
    }

    /// Labels of the CPUs that are kept.
    fn keep(&self, partition: &Partition) -> Partition {
        let labels: Vec<u16> = self
            .kept
            .iter()
            .map(|cpu| partition.labels()[usize::from(*cpu)])
            .collect();
        Partition::of_labels(&labels)
    }

    /// Cores, caches, nodes and packages of the CPUs that are kept.
    fn parts(&self) -> Parts {
        let parts = &self.details.parts;
        Parts {
            smt: self.keep(&parts.smt),
            cluster: self.keep(&parts.cluster),
            llc: self.keep(&parts.llc),
            package: self.keep(&parts.package),
            node: self.keep(&parts.node),
        }
    }

    /// Numbers of kept CPUs among those given.
    fn dense(&self, cpus: &[u16]) -> Vec<u16> {
        let at = |cpu: &u16| self.kept.binary_search(cpu).ok();
        let found = cpus.iter().filter_map(at);
        found.filter_map(|at| u16::try_from(at).ok()).collect()
    }

    /// Capacities as the kernel has them, or 1024 for all where they are only ranks.
    fn capacities(&self) -> (Vec<u32>, Origin) {
        let arch = self.arch.as_ref().map(|(arch, _)| *arch);
        let capacity: Vec<u32> = self
            .kept
            .iter()
            .map(|cpu| self.machine.capacity[usize::from(*cpu)])
            .collect();
        let threads = self.keep(&self.details.parts.smt) != Partition::singles(self.kept.len());
        match self.machine.capacity_from {
            CapacitySource::Kernel => (
                capacity,
                Origin::stated(self.file("sys/devices/system/cpu/cpu*/cpu_capacity")),
            ),
            // Threads that share a core have no capacity of their own: the kernel then has none
            // (arch/x86/kernel/smpboot.c, intel_pstate.c hybrid_init_cpu_capacity_scaling).
            CapacitySource::HighestPerf if threads && arch != Some(Arch::Arm64) => (
                vec![1024; capacity.len()],
                Origin::derived(
                    "with several threads per core the kernel takes all CPUs for alike \
                     (drivers/cpufreq/intel_pstate.c)",
                ),
            ),
            CapacitySource::HighestPerf => (
                capacity,
                Origin::derived(self.file(
                    "sys/devices/system/cpu/cpu*/acpi_cppc/highest_perf, relative to the highest",
                )),
            ),
            CapacitySource::Alike => (
                capacity,
                Origin::assumed("no file states a capacity: all CPUs are taken to be alike"),
            ),
        }
    }

    /// By the firmware's levels of performance, where the kernel takes its CPUs for alike.
    fn speeds(&self) -> Option<(Vec<u64>, Origin)> {
        let levels = self.machine.capacity_from == CapacitySource::HighestPerf;
        let speeds: Vec<u64> = self
            .kept
            .iter()
            .map(|cpu| u64::from(self.machine.capacity[usize::from(*cpu)]))
            .collect();
        let differ = speeds.iter().any(|speed| *speed != speeds[0]);
        (levels && differ).then(|| {
            let file =
                "sys/devices/system/cpu/cpu*/acpi_cppc/highest_perf, relative to the highest";
            (speeds, Origin::derived(self.file(file)))
        })
    }

    /// Symmetric, 10 within a node, as the kernel uses them: of two directions the shorter.
    fn distances(&self, said: &mut Vec<String>) -> Vec<Vec<u32>> {
        let nodes = &self.details.nodes;
        if nodes.len() < 2 {
            return Vec::new();
        }
        // Platform files number nodes by their lowest CPU.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|at| nodes[*at].cpus.first().copied());
        let mut changed = false;
        let mut between = |a: usize, b: usize| {
            if a == b {
                return LOCAL_DISTANCE;
            }
            let (there, back) = (nodes[a].distance[b], nodes[b].distance[a]);
            let distance = there.min(back).clamp(LOCAL_DISTANCE + 1, MAX_DISTANCE);
            changed |= distance != there;
            distance
        };
        let mut table = Vec::new();
        for a in &order {
            table.push(order.iter().map(|b| between(*a, *b)).collect());
        }
        if changed {
            said.push(
                "distances of nodes: made symmetric (the shorter of two directions) and 11 to 254"
                    .to_owned(),
            );
        }
        table
    }

    /// The distance up to which the kernel counts nodes as near, where it is not the usual one.
    fn reclaim(&self, distances: &[Vec<u32>]) -> Option<(u32, String)> {
        let amd = self.details.amd && distances.len() > 1;
        amd.then(|| {
            let why = "EPYC's kernel counts 32 as near (arch/x86/kernel/cpu/amd.c)";
            (AMD_RECLAIM, why.to_owned())
        })
    }

    /// Priorities of CPUs, where the kernel has some.
    fn rank(&self) -> Option<(Vec<u32>, Origin)> {
        let ranks = self.details.rank.as_ref()?;
        let kept: Vec<u32> = self
            .kept
            .iter()
            .map(|cpu| ranks[usize::from(*cpu)])
            .collect();
        let differ = kept.iter().any(|rank| *rank != kept[0]);
        let from = Origin::stated(self.file(
            "sys/devices/system/cpu/cpu*/acpi_cppc/highest_perf, with \
             proc/sys/kernel/sched_itmt_enabled 1",
        ));
        differ.then_some((kept, from))
    }

    /// Clocks by cpufreq policies, then those that the energy model alone has; powers are the
    /// energy model's, unless it is artificial.
    fn clocks(&self, said: &mut Vec<String>) -> Vec<Clock> {
        let mut clocks = Vec::new();
        let mut artificial = 0;
        let mut clocked = vec![false; self.machine.nr_cpus];
        for policy in &self.machine.policies {
            let cpus = self.dense(&policy.cpus);
            policy
                .cpus
                .iter()
                .for_each(|cpu| clocked[usize::from(*cpu)] = true);
            if cpus.is_empty() {
                continue;
            }
            let covers =
                |domain: &&EnergyDomain| policy.cpus.iter().all(|cpu| domain.cpus.contains(cpu));
            let energy = self.machine.energy_model.iter().find(covers);
            artificial += usize::from(energy.is_some_and(|domain| domain.artificial));
            let energy = energy.filter(|domain| !domain.artificial);
            clocks.push(self.clock(policy, cpus, energy));
        }
        // An energy model without cpufreq's folders beside it (a copy of debugfs alone).
        for domain in self.machine.energy_model.iter().filter(|d| !d.artificial) {
            let free = |cpu: &&u16| !clocked[usize::from(**cpu)];
            let own: Vec<u16> = domain.cpus.iter().filter(free).copied().collect();
            let cpus = self.dense(&own);
            if !cpus.is_empty() {
                clocks.push(self.energy_clock(cpus, domain, None));
            }
        }
        if artificial > 0 {
            said.push(
                "the kernel's energy model is left out: it states costs without power, for \
                 frequencies that are none"
                    .to_owned(),
            );
        }
        clocks
    }

    /// A clock of which only the energy model is known.
    fn energy_clock(
        &self,
        cpus: Vec<u16>,
        domain: &EnergyDomain,
        latency_ns: Option<(u64, Origin)>,
    ) -> Clock {
        let path = format!("sys/kernel/debug/energy_model/{}", domain.name);
        let point = |state: &crate::sysfs::EnergyState| Point {
            khz: state.khz,
            power: Some(u64::from(state.power_uw)),
            ..Point::default()
        };
        let scale = match domain.microwatts {
            true => Scale::Microwatt,
            false => Scale::Abstract,
        };
        Clock {
            cpus,
            points: domain.states.iter().map(point).collect(),
            points_from: Some(Origin::stated(self.file(&path))),
            power: Some((scale, Origin::stated(self.file(&path)))),
            cluster_from: None,
            latency_ns,
        }
    }

    /// A clock of a cpufreq policy: its points from the driver's list, or from the energy model.
    fn clock(
        &self,
        policy: &CpufreqPolicy,
        cpus: Vec<u16>,
        energy: Option<&EnergyDomain>,
    ) -> Clock {
        // Without the number: clocks that are alike in all else stand in one table.
        let path = "sys/devices/system/cpu/cpufreq/policy*";
        // 0 is what drivers say that do not know.
        let latency_ns = policy.transition_latency_ns.filter(|ns| *ns > 0).map(|ns| {
            let from = self.file(&format!("{path}/cpuinfo_transition_latency"));
            (ns, Origin::stated(from))
        });
        if let Some(domain) = energy {
            return self.energy_clock(cpus, domain, latency_ns);
        }
        let base = self.details.base_khz[usize::from(policy.cpus[0])];
        let (khz, from) = match (&policy.available_khz[..], policy.limits_khz, base) {
            ([_, ..], _, _) => (
                policy.available_khz.clone(),
                Some(Origin::stated(
                    self.file(&format!("{path}/scaling_available_frequencies")),
                )),
            ),
            ([], Some((low, high)), _) => {
                let (khz, step) = grid(low, high);
                let text = format!(
                    "{}; the driver lists none between: multiples of {} MHz. How many cores may \
                     reach the top at once is not modelled",
                    self.file(&format!("{path}/cpuinfo_min_freq and cpuinfo_max_freq")),
                    step / 1000
                );
                (khz, Some(Origin::derived(text)))
            }
            ([], None, Some(base)) => (
                vec![base],
                Some(Origin::stated(self.file(&format!("{path}/base_frequency")))),
            ),
            ([], None, None) => (Vec::new(), None),
        };
        let point = |khz: &u32| Point {
            khz: *khz,
            ..Point::default()
        };
        Clock {
            cpus,
            points: khz.iter().map(point).collect(),
            points_from: from,
            power: None,
            cluster_from: None,
            latency_ns,
        }
    }

    /// The states of each CPU; those that CPUs have alike are one.
    fn idle(&self) -> Vec<FoundIdle> {
        let mut lists: Vec<(&[details::IdleFiles], Vec<u16>)> = Vec::new();
        for (dense, cpu) in (0..).zip(self.kept) {
            let list = &self.details.idle[usize::from(*cpu)][..];
            match lists.iter_mut().find(|(known, _)| *known == list) {
                Some((_, cpus)) => cpus.push(dense),
                None => lists.push((list, vec![dense])),
            }
        }
        let mut states: Vec<FoundIdle> = Vec::new();
        let mut merged = false;
        for (list, cpus) in lists {
            for state in list.iter().filter(|state| state.name != "POLL") {
                let state = self.idle_state(state, &cpus);
                // A state of clusters is one for all CPUs that have it, whatever else they have.
                let alike = |known: &FoundIdle| {
                    let key = |s: &FoundIdle| (s.name.clone(), s.exit_us, s.residency_us);
                    known.cluster && state.cluster && key(known) == key(&state)
                };
                match states.iter().position(alike) {
                    Some(at) => {
                        merged = true;
                        states[at].cpus.extend(state.cpus);
                    }
                    None => states.push(state),
                }
            }
        }
        states
            .iter_mut()
            .for_each(|state| state.cpus.sort_unstable());
        if merged {
            // The lists' own states come before what they share.
            states.sort_by_key(|state| state.cluster);
        }
        states
    }

    /// An idle state as cpuidle states it; what it does not state is derived, and the origin says
    /// so.
    fn idle_state(&self, state: &details::IdleFiles, cpus: &[u16]) -> FoundIdle {
        let path = self.file("sys/devices/system/cpu/cpu*/cpuidle");
        let words = format!("{} {}", state.name, state.description).to_lowercase();
        let cluster = words.contains("cluster");
        let mut from = Origin::stated(path);
        // ACPI's rule (drivers/acpi/processor_idle.c): twice the latency.
        let residency_us = state.residency_us.unwrap_or(2 * state.latency_us);
        if state.residency_us.is_none() {
            from.text += "; it states no residency: twice the latency, as processor_idle.c has";
            from.standing = crate::Standing::Assumed;
        }
        if cluster {
            from.text += "; that it is one of clusters is by its name";
            from.standing = crate::Standing::Assumed;
        }
        FoundIdle {
            name: state.name.clone(),
            cluster,
            cpus: cpus.to_vec(),
            // Files give entry and exit as one figure, which a wake-up waits for at most.
            entry_us: 0,
            exit_us: state.latency_us,
            residency_us,
            from,
            power: None,
        }
    }
}

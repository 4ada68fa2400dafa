//! What a source lacks is filled in here: one rule each, with its reason, the same as
//! built-in platform files have (docs/decisions/026).
//!
//! Called by `import/mod.rs` for every source. A changed rule changes what new imports say, never a
//! platform file that is there.
//!
//! What must stay: whatever is filled in has its origin "assumed" or "derived" and a line for the
//! user; the order of the steps in `fill`, as later ones read what earlier ones made; the result
//! passes the rules of `read`. Free: what leaves the files of imports as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `grids_have_both_limits_and_fit` (`grid`), `idle_power_is_that_of_the_boards_made_by_hand`
//! (`idle_power`, `cluster_idle_power`),
//! architectures.rs::`each_instruction_set_has_its_own_defaults` (`tick`, `idle`),
//! architectures.rs::`what_is_not_modelled_is_said` (`arch`),
//! `big_cpus_that_are_offline_leave_a_smaller_scale` (`capacities`), `two_sockets_with_threads`
//! (`one_clock_per_core`, `latency`, `power`), `a_virtual_machine_of_one_cpu` (`clocks`),
//! `clusters_of_an_energy_model_of_lisa` (`cluster_power`). No test of its own: `thin`,
//! `split_by_capacity`, `deeper_only`, `whole_clusters` (round_trip.rs::`every_platform_comes_back`
//! fails where one of them changes a machine that needs it not). `kinds` by `servers_of_arm`;
//! `without_clusters` by `clusters_of_an_energy_model_of_lisa`, too.
//!
//! Tests: below, crates/platform/tests/all/import

use super::found::{Clock, Found, FoundIdle, Origin, Point, Scale, of_largest};
use super::power_like::PowerLike;
use crate::arch::Arch;
use crate::sysfs::partition::Partition;

/// Most operating points a platform file may give a clock.
pub(super) const MAX_POINTS: usize = 64;
/// Most clocks of a platform with power.
const MAX_POWERED: usize = 64;
/// Between the limits of a clock the points are multiples of this, kHz.
const GRID_KHZ: u32 = 100_000;
/// A clock of which nothing is known stands at this, kHz.
const ANY_KHZ: u32 = 1_000_000;

/// In-order cores, whose clock gating saves less: the ratios of Juno r0's A53 hold for them.
const IN_ORDER: &[&str] = &[
    "cortex-a5",
    "cortex-a7",
    "cortex-a35",
    "cortex-a53",
    "cortex-a55",
    "cortex-a510",
    "cortex-a520",
];

/// Fills in everything but power in idle states; what was done, for the user. What may be far off
/// goes to `warnings`. Powers are those of `like`, if somebody named it.
pub(super) fn fill(
    found: &mut Found,
    like: Option<&PowerLike>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let mut said = Vec::new();
    arch(found, &mut said);
    kinds(found);
    capacities(found, &mut said);
    tick(found, &mut said);
    clocks(found, &mut said);
    super::speeds::fill(found, &mut said, warnings);
    if let Some(like) = like {
        like.give(found, &mut said);
    }
    power(found, &mut said);
    idle(found, &mut said);
    said
}

/// The instruction set, by the kinds of CPUs, where the source does not say.
fn arch(found: &mut Found, said: &mut Vec<String>) {
    if found.arch.is_none() {
        let kind = |start: &str| {
            let kinds = found.cpus.iter().filter_map(|cpu| cpu.kind.as_deref());
            kinds.into_iter().any(|kind| kind.starts_with(start))
        };
        let arm = kind("cortex") || kind("neoverse") || kind("arm-");
        let arch = if arm { Arch::Arm64 } else { Arch::X86 };
        said.push(format!(
            "instruction set {}: the source does not say",
            arch.name()
        ));
        found.arch = Some((arch, Origin::assumed("the source does not say")));
    }
    let arch = found.arch();
    if let Some(what) = arch.not_modelled() {
        said.push(format!("{}: {what}", arch.name()));
        found.notes.push(format!("{}: {what}.", arch.name()));
    }
}

/// CPUs without a type get the instruction set's name.
fn kinds(found: &mut Found) {
    let word = match found.arch() {
        Arch::X86 => "x86-64",
        other => other.name(),
    };
    for cpu in &mut found.cpus {
        cpu.kind.get_or_insert_with(|| word.to_owned());
    }
}

/// Scales the capacities, so that the largest becomes 1024.
fn capacities(found: &mut Found, said: &mut Vec<String>) {
    let most = found.cpus.iter().map(|cpu| cpu.capacity).max();
    let most = most.unwrap_or(1).max(1);
    if most == 1024 {
        return;
    }
    for cpu in &mut found.cpus {
        cpu.capacity = of_largest(cpu.capacity, most);
    }
    let words = format!("capacities: brought to 1024 for the biggest CPU, which had {most}");
    found.notes.push(words.clone());
    said.push(words);
}

/// The tick's frequency, of the architecture's default configuration, where the source does not
/// say.
fn tick(found: &mut Found, said: &mut Vec<String>) {
    if found.tick_hz.is_some() {
        return;
    }
    let (hz, text) = match found.arch() {
        Arch::X86 => (
            1000,
            "CONFIG_HZ is not in the source: that of Linux arch/x86/configs/x86_64_defconfig",
        ),
        Arch::S390x => (
            100,
            "CONFIG_HZ is not in the source: that of Linux arch/s390/configs/defconfig",
        ),
        Arch::Ppc64 => (
            100,
            "CONFIG_HZ is not in the source: that of Linux arch/powerpc/configs/ppc64_defconfig",
        ),
        _ => (
            250,
            "CONFIG_HZ is not in the source: the default of Linux kernel/Kconfig.hz",
        ),
    };
    said.push(format!("scheduler tick {hz} Hz: {text}"));
    found.tick_hz = Some((hz, Origin::assumed(text)));
}

/// Every CPU gets a clock, and every clock points and a transition.
fn clocks(found: &mut Found, said: &mut Vec<String>) {
    let mut clocked = vec![false; found.cpus.len()];
    for clock in &found.clocks {
        clock
            .cpus
            .iter()
            .for_each(|cpu| clocked[usize::from(*cpu)] = true);
    }
    for (cpu, _) in (0u16..).zip(&clocked).filter(|(_, clocked)| !**clocked) {
        found.clocks.push(Clock {
            cpus: vec![cpu],
            ..Clock::default()
        });
    }
    split_by_capacity(found, said);
    one_clock_per_core(found);
    let arch = found.arch();
    let mut standing_still = 0;
    for clock in &mut found.clocks {
        if clock.points.is_empty() {
            standing_still += clock.cpus.len();
            clock.points = vec![Point {
                khz: ANY_KHZ,
                ..Point::default()
            }];
            clock.points_from = Some(Origin::assumed(
                "The source has no frequency. With one point the clock stands still, and nothing \
                 depends on the figure: capacity is relative to the highest frequency",
            ));
        }
        thin(clock, said);
        clock.latency_ns.get_or_insert_with(|| latency(arch));
    }
    if standing_still > 0 {
        let cpus = found.cpus.len();
        said.push(format!(
            "one operating point for {standing_still} of {cpus} CPUs: the source has no \
             frequencies of them, their clocks stand still"
        ));
    }
    let of_latency = |clock: &&Clock| {
        let latency = clock.latency_ns.as_ref();
        latency.is_some_and(|(_, from)| from.standing == crate::Standing::Assumed)
    };
    let without = found.clocks.iter().filter(of_latency).count();
    if without > 0 {
        let (ns, _) = latency(arch);
        said.push(format!(
            "transition of {} us for {without} of {} clocks: the source does not say",
            ns / 1000,
            found.clocks.len()
        ));
    }
    found.clocks.sort_by_key(|clock| clock.cpus[0]);
}

/// What a change of a clock takes, where the source does not say.
fn latency(arch: Arch) -> (u64, Origin) {
    match arch {
        Arch::X86 => (
            20_000,
            Origin::assumed(
                "The source does not say: as Linux drivers/cpufreq/intel_pstate.c has \
                 (INTEL_CPUFREQ_TRANSITION_LATENCY)",
            ),
        ),
        _ => (
            300_000,
            Origin::assumed(
                "The source does not say: as HiKey960 has, between the 40 us of RK3588 and the \
                 1450 us of Juno",
            ),
        ),
    }
}

/// Splits clocks so that each has CPUs of one capacity.
fn split_by_capacity(found: &mut Found, said: &mut Vec<String>) {
    let mut split = Vec::new();
    for clock in found.clocks.drain(..) {
        let mut rest = clock.cpus.clone();
        let mut pieces = 0;
        while let Some(first) = rest.first().copied() {
            let capacity = found.cpus[usize::from(first)].capacity;
            let alike = |cpu: &u16| found.cpus[usize::from(*cpu)].capacity == capacity;
            let (cpus, others) = rest.into_iter().partition(alike);
            rest = others;
            pieces += 1;
            split.push(Clock {
                cpus,
                ..clock.clone()
            });
        }
        if pieces > 1 {
            said.push(format!(
                "{pieces} clocks instead of one for CPUs {}: their capacities differ",
                super::found::cpu_list(&clock.cpus)
            ));
        }
    }
    found.clocks = split;
}

/// Threads of a core that the kernel has separate policies for: one clock all the same.
fn one_clock_per_core(found: &mut Found) {
    let smt = &found.parts.smt;
    let mut label: Vec<usize> = vec![0; found.cpus.len()];
    for (at, clock) in found.clocks.iter().enumerate() {
        clock
            .cpus
            .iter()
            .for_each(|cpu| label[usize::from(*cpu)] = at);
    }
    let clocks = Partition::of_labels(&label);
    let joined = clocks.join(smt);
    if joined == clocks {
        return;
    }
    let same = |cpus: &[u16]| {
        let clock = |cpu: &u16| &found.clocks[label[usize::from(*cpu)]];
        let first = clock(&cpus[0]);
        let alike = |cpu: &u16| {
            clock(cpu).points == first.points && clock(cpu).latency_ns == first.latency_ns
        };
        let capacity = |cpu: &u16| found.cpus[usize::from(*cpu)].capacity;
        cpus.iter()
            .all(|cpu| alike(cpu) && capacity(cpu) == capacity(&cpus[0]))
    };
    let mut merged = Vec::new();
    for cpus in super::found::groups(&joined) {
        if same(&cpus) {
            let first = &found.clocks[label[usize::from(cpus[0])]];
            merged.push(Clock {
                cpus,
                ..first.clone()
            });
        } else {
            let mut own: Vec<usize> = cpus.iter().map(|cpu| label[usize::from(*cpu)]).collect();
            own.sort_unstable();
            own.dedup();
            merged.extend(own.iter().map(|at| found.clocks[*at].clone()));
        }
    }
    found.clocks = merged;
}

/// Thins a clock's points to as many as a file may have: the first and the last, and evenly
/// between.
fn thin(clock: &mut Clock, said: &mut Vec<String>) {
    let count = clock.points.len();
    if count <= MAX_POINTS {
        return;
    }
    let kept = (0..MAX_POINTS).map(|at| clock.points[at * (count - 1) / (MAX_POINTS - 1)]);
    clock.points = kept.collect();
    said.push(format!(
        "{MAX_POINTS} of the {count} operating points of CPUs {}: a file has no more",
        super::found::cpu_list(&clock.cpus)
    ));
}

/// The limits and the multiples of the grid between them, no more than a file may have.
pub(super) fn grid(min: u32, max: u32) -> (Vec<u32>, u32) {
    let room = MAX_POINTS as u32 - 2;
    let step = GRID_KHZ * (max - min).div_ceil(room * GRID_KHZ).max(1);
    let first = min / step + 1;
    let inner = (first..).map(|at| at * step).take_while(|khz| *khz < max);
    let mut all = vec![min];
    all.extend(inner);
    if max > min {
        all.push(max);
    }
    (all, step)
}

/// Power for all points of all clocks in one unit, or for none.
fn power(found: &mut Found, said: &mut Vec<String>) {
    let scales: Vec<Option<Scale>> = found
        .clocks
        .iter()
        .map(|clock| clock.power.as_ref().map(|(scale, _)| *scale))
        .collect();
    let powered = scales.iter().flatten().count();
    let whole = |clock: &Clock| clock.points.iter().all(|point| point.power.is_some());
    let mixed = scales.windows(2).any(|pair| pair[0] != pair[1]);
    let why = if powered == 0 {
        said.push("no power: the source has none, so there is no energy in results".to_owned());
        None
    } else if mixed {
        Some("some clocks have a power and others none, or one in another unit".to_owned())
    } else if found.clocks.len() > MAX_POWERED {
        Some(format!(
            "{} clocks have one, a platform at most {MAX_POWERED}",
            found.clocks.len()
        ))
    } else if !found.clocks.iter().all(whole) {
        Some("an operating point has none".to_owned())
    } else {
        cluster_power(found, said);
        return;
    };
    if let Some(why) = why {
        said.push(format!("power left out: {why}"));
        found
            .notes
            .push(format!("The source has power, which is left out: {why}."));
    }
    for clock in &mut found.clocks {
        clock.power = None;
        clock.points.iter_mut().for_each(|point| point.power = None);
        without_clusters(clock);
    }
    found.idle.iter_mut().for_each(|state| state.power = None);
}

/// Drops the powers of a clock's cluster, as they cannot be used.
fn without_clusters(clock: &mut Clock) {
    clock.cluster_from = None;
    for point in &mut clock.points {
        point.cluster_power = None;
    }
}

/// Drops the powers of clusters that have several clocks: one with powers of its own has one clock.
fn cluster_power(found: &mut Found, said: &mut Vec<String>) {
    let clusters = super::found::groups(&found.clusters());
    for clock in found.clocks.iter_mut().filter(|c| c.cluster_from.is_some()) {
        let has = |cpu: &u16| clock.cpus.contains(cpu);
        let mut cut = clusters.iter();
        if !cut.any(|cpus| cpus.iter().any(has) && !cpus.iter().all(has)) {
            continue;
        }
        said.push(format!(
            "power of clusters left out for CPUs {}: their cluster has several clocks",
            super::found::cpu_list(&clock.cpus)
        ));
        without_clusters(clock);
        let states = found.idle.iter_mut();
        for state in states.filter(|state| state.cpus.iter().any(|cpu| clock.cpus.contains(cpu))) {
            if let Some(power) = &mut state.power {
                power.cluster = None;
            }
        }
    }
}

/// Every CPU has a state of its own; states that are not deeper than the one before are left out.
fn idle(found: &mut Found, said: &mut Vec<String>) {
    let (name, why) = match found.arch() {
        Arch::X86 => (
            "HLT",
            "The source has no idle states: the clock stops, 1 us as C1 in intel_idle.c",
        ),
        Arch::Arm | Arch::Arm64 => (
            "WFI",
            "The source has no idle states: WFI as state 0 of Linux drivers/cpuidle/cpuidle-psci.c",
        ),
        Arch::Riscv64 => (
            "WFI",
            "The source has no idle states: WFI as state 0 of Linux \
             drivers/cpuidle/cpuidle-riscv-sbi.c",
        ),
        _ => (
            "idle",
            "The source has no idle states: 1 us as WFI of ARM, Linux \
             drivers/cpuidle/cpuidle-psci.c",
        ),
    };
    let own = |cpu: &u16| {
        let mut states = found.idle.iter().filter(|state| state.cpus.contains(cpu));
        states.any(|state| !state.cluster)
    };
    let without: Vec<u16> = found.all().into_iter().filter(|cpu| !own(cpu)).collect();
    if !without.is_empty() {
        said.push(format!(
            "idle state {name} of 1 us for CPUs {}: the source has none of them",
            super::found::cpu_list(&without)
        ));
        let state = FoundIdle {
            name: name.to_owned(),
            cluster: false,
            cpus: without,
            entry_us: 0,
            exit_us: 1,
            residency_us: 1,
            from: Origin::assumed(why),
            power: None,
        };
        found.idle.insert(0, state);
    }
    whole_clusters(found, said);
    deeper_only(found, said);
}

/// Makes a state of clusters one of CPUs, if it does not have whole clusters.
fn whole_clusters(found: &mut Found, said: &mut Vec<String>) {
    let clusters = super::found::groups(&found.clusters());
    for state in found.idle.iter_mut().filter(|state| state.cluster) {
        let cut = |group: &&Vec<u16>| {
            let members = group.iter().filter(|cpu| state.cpus.contains(cpu)).count();
            members != 0 && members != group.len()
        };
        if clusters.iter().any(|group| cut(&group)) {
            state.cluster = false;
            said.push(format!(
                "idle state {} as one of single CPUs: not all CPUs of a cluster have it",
                state.name
            ));
        }
    }
}

/// Leaves out states that are no deeper than the one before: a platform file needs them in order.
fn deeper_only(found: &mut Found, said: &mut Vec<String>) {
    let mut reached = vec![(None, None); found.cpus.len()];
    let mut dropped = Vec::new();
    for state in &mut found.idle {
        let latency = state.entry_us + state.exit_us;
        let deeper = |cpu: &u16| {
            let (least, shortest): (Option<u64>, Option<u64>) = reached[usize::from(*cpu)];
            least.is_none_or(|us| latency > us) && shortest.is_none_or(|us| state.residency_us > us)
        };
        // A state of clusters stays for all CPUs or for none: it is one table.
        let all = state.cpus.iter().all(deeper);
        let kept: Vec<u16> = match state.cluster {
            true if all => state.cpus.clone(),
            true => Vec::new(),
            false => state.cpus.iter().copied().filter(deeper).collect(),
        };
        if kept.len() < state.cpus.len() {
            dropped.push(state.name.clone());
        }
        for cpu in &kept {
            reached[usize::from(*cpu)] = (Some(latency), Some(state.residency_us));
        }
        state.cpus = kept;
    }
    found.idle.retain(|state| !state.cpus.is_empty());
    dropped.sort_unstable();
    dropped.dedup();
    if !dropped.is_empty() {
        said.push(format!(
            "without idle state {}: not deeper than the one before it by latency and residency",
            dropped.join(", ")
        ));
    }
}

/// Power of a CPU in a state, by the ratios of the one published table of a sibling: WFI over
/// lowest busy power is 6/33 on Juno r0's in-order A53 and 15/168 on its out-of-order A57; deeper
/// states are off.
pub(super) fn idle_power(kind: &str, lowest: u64, shallowest: bool) -> (u64, Origin) {
    if !shallowest {
        return (0, Origin::assumed("0 as on Juno r0: the core is off"));
    }
    let (part, whole, sibling) = match IN_ORDER.contains(&kind) {
        true => (6, 33, "A53"),
        false => (15, 168, "A57"),
    };
    let text = format!(
        "The source has no idle power: {lowest}, the lowest busy power, * {part}/{whole} (WFI \
         over lowest busy power of Juno r0's {sibling})"
    );
    (lowest * part / whole, Origin::assumed(text))
}

/// Power of a cluster in a state of the whole cluster, and how it comes about: 17/26 of its lowest
/// busy power, as of Juno r0's A53 cluster.
pub(super) fn cluster_idle_power(lowest: u64) -> (u64, String) {
    let text = format!(
        "; of the cluster {lowest}, its lowest busy power, * 17/26 (cluster sleep over lowest busy \
         power of Juno r0's A53 cluster)"
    );
    (lowest * 17 / 26, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_have_both_limits_and_fit() {
        assert_eq!(grid(338_000, 500_000).0, [338_000, 400_000, 500_000]);
        assert_eq!(grid(400_000, 400_000).0, [400_000]);
        let (points, step) = grid(1, 20_000_000);
        assert!(points.len() <= MAX_POINTS, "{}", points.len());
        assert_eq!(step, 400_000);
        assert!(points.windows(2).all(|pair| pair[0] < pair[1]));
    }

    /// HiKey960's file: 28728 uW * 6/33 = 5223 on an A53, 243358 * 15/168 = 21728 on an A73.
    /// Its little cluster: 12000 * 17/26 = 7846.
    #[test]
    fn idle_power_is_that_of_the_boards_made_by_hand() {
        assert_eq!(idle_power("cortex-a53", 28_728, true).0, 5_223);
        assert_eq!(idle_power("cortex-a73", 243_358, true).0, 21_728);
        assert_eq!(idle_power("cortex-a73", 243_358, false).0, 0);
        assert_eq!(cluster_idle_power(12_000).0, 7_846);
    }
}

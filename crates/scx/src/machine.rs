// SPDX-License-Identifier: GPL-2.0-only
//! This machine as the core is told of it: topology from sysfs; capacities and energy model from
//! the kernel too, or from a platform file that fits the machine (docs/guide/live.md, "Run"). A
//! platform file of another machine is refused with all that differs.
//!
//! What must stay: exit codes 2 (what the user gave) and 3 (the machine), and that a wrong platform
//! file is refused with all differences. Free: words of differences, but for those that tests
//! quote.
//!
//! Tests by part: `the_kernels_own_word` (`describe`, `level`, `classes`, `kernel_clocks`, `list`,
//! `tick_ns`), `the_kernels_energy_model` (`kernel_model`), `another_governor_is_seen`
//! (`follows_requests`), `a_platform_file_gives_what_the_kernel_lacks` (`file_clock`, `file_model`,
//! `capacities`, `numbers`), `a_platform_file_of_another_machine_is_refused_with_all_that_differs`
//! (`fitting`, `compare_clocks`, `compare_order`, `exit_code`),
//! `clusters_that_cross_those_of_the_file_are_named` (`compare_clusters`, `sharing`),
//! `the_powers_of_a_file_are_those_that_are_drawn` (`file_model`, `model_words`),
//! `a_damaged_machine_is_the_environments_fault` (`Problem`), `cpus_come_and_go` (`rebuild`),
//! `a_model_of_clocks_is_said` (`energy_under`).
//! `preempts_lazily`, `file_packing`, `file_prices` and `new` have no test of their own.
//!
//! Callers: schedule.rs (`describe`, `rebuild`), live.rs (the facts).
//!
//! Tests: crates/scx/src/machine/tests.rs

use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;
use wakeplace_platform::sysfs::{
    CapacitySource, CpufreqPolicy, EnergyDomain, LevelKind, SysfsError, SysfsLevel, SysfsMachine,
};
use wakeplace_platform::{CpuId, Platform, PlatformError, PowerUnit};
use wakeplace_policy_sys::{
    Core, FreqFacts, LevelFacts, MachineFacts, PerfFacts, PriceFacts, SchedMcFacts, sys,
};

/// Length of a tick where no configuration of the kernel is to be had: `CONFIG_HZ=250`, the
/// default of kernel and Debian. It is only the unit of the intervals between balance passes.
const DEFAULT_TICK_NS: u32 = 4_000_000;

/// What looking at one CPU costs in a search for an idle one, ns; assumed (a cache line of another
/// CPU, mostly shared). It weighs a search's cost against what idle CPUs are expected to last.
const SCAN_CPU_NS: u32 = 20;

/// How often a tree that changes while it is read is read again, and after how long.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// Where capacities and energy model come from (`--platform`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlatformChoice {
    /// What the kernel states.
    Auto,
    /// A platform file, by path or by the name of a built-in one.
    File(String),
}

impl PlatformChoice {
    /// `auto`, or a path or name.
    pub(crate) fn new(text: &str) -> Self {
        match text {
            "auto" => Self::Auto,
            _ => Self::File(text.to_owned()),
        }
    }
}

/// Why this machine cannot be described.
#[derive(Debug, Error)]
pub(crate) enum Problem {
    /// The platform file is none.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The platform file is another machine's.
    #[error("platform file {name} does not fit this machine: {}", .mismatches.join("; "))]
    DoesNotFit {
        /// As the user named it.
        name: String,
        /// All that differs.
        mismatches: Vec<String>,
    },
    /// The kernel's own files are damaged or unreadable.
    #[error(transparent)]
    Sysfs(#[from] SysfsError),
}

impl Problem {
    /// 2: what the user gave is wrong; 3: this machine cannot.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Platform(_) | Self::DoesNotFit { .. } => 2,
            Self::Sysfs(_) => 3,
        }
    }
}

/// A machine, ready for the core.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    /// What the core is told; `online` has a flag for each CPU.
    pub(crate) facts: MachineFacts,
    /// Class of each CPU, an index into `classes`.
    pub(crate) class_of: Vec<usize>,
    /// Names of the classes of equal capacity, as `capacity 462`, the smallest first.
    pub(crate) classes: Vec<String>,
    /// CPUs of each performance domain; empty without an energy model.
    pub(crate) domains: Vec<Vec<u16>>,
    /// The powers of the energy model are microwatts: energies may be stated in joules.
    pub(crate) power_in_watts: bool,
    /// All clocks are set by the governor that follows what a scheduler asks for.
    pub(crate) schedutil: bool,
    /// The kernel preempts itself at ticks only.
    pub(crate) preempts_lazily: bool,
    /// Where capacities and energy model come from, in words.
    pub(crate) source: String,
    /// What the powers of the energy model are, in words; none without one.
    pub(crate) energy: Option<String>,
    /// CPUs whose siblings were read: they were online at that time.
    placed: Vec<bool>,
    choice: PlatformChoice,
    root: PathBuf,
}

/// Reads this machine, or a saved copy of its files below `root`.
pub(crate) fn describe(choice: &PlatformChoice, root: &Path) -> Result<Machine, Problem> {
    let kernel = SysfsMachine::read(root)?;
    let platform = match choice {
        PlatformChoice::Auto => None,
        PlatformChoice::File(name) => Some(fitting(name, &kernel)?),
    };
    let capacity = platform.as_ref().map_or_else(
        || kernel.capacity.clone(),
        |platform| capacities(platform, kernel.nr_cpus),
    );
    let (perf_domains, power_in_watts) = match &platform {
        Some(platform) => (
            file_model(platform),
            platform.power_unit == PowerUnit::Microwatt,
        ),
        None => kernel_model(&kernel.energy_model),
    };
    let freq_domains = match &platform {
        Some(platform) => platform.freq_domains.iter().map(file_clock).collect(),
        None => kernel_clocks(&kernel),
    };
    let (class_of, classes) = classes(&capacity);
    let energy = model_words(choice, &perf_domains, power_in_watts);
    let source = match choice {
        PlatformChoice::File(name) => format!("platform file {name}"),
        PlatformChoice::Auto => kernel.capacity_from.to_string(),
    };
    Ok(Machine {
        class_of,
        classes,
        domains: perf_domains
            .iter()
            .map(|d: &PerfFacts| d.cpus.clone())
            .collect(),
        power_in_watts,
        schedutil: follows_requests(&kernel.policies),
        preempts_lazily: preempts_lazily(root),
        source,
        energy,
        placed: kernel.online.clone(),
        choice: choice.clone(),
        root: root.to_owned(),
        facts: MachineFacts {
            tick_ns: tick_ns(root),
            scan_cpu_ns: SCAN_CPU_NS,
            capacity,
            online: kernel.online,
            priority: Vec::new(),    // no file of the kernel states it
            has_preempt_lazy: false, // decides nothing of the live scheduler's queues
            is_32bit: false,         // BPF trampolines, which sched_ext needs, are 64-bit
            levels: kernel.levels.iter().map(level).collect(),
            reclaim_distance: 0,
            freq_domains,
            perf_domains,
            sched_mc: platform.as_ref().and_then(file_packing), // no kernel states it
            prices: platform.as_ref().map(file_prices).unwrap_or_default(), // nor this
        },
    })
}

impl Machine {
    /// What the energy model of a core for this machine is of, in words: powers, or capacities and
    /// clocks alone. None: there is no model.
    pub(crate) fn energy_under(&self, core: &Core) -> Option<String> {
        match core.energy_without_watts() {
            true => Some("capacities and clocks, without powers".to_owned()),
            false => self.energy.clone(),
        }
    }

    /// The machine with another set of online CPUs. Their places are remembered; a CPU that was
    /// never seen online is read now, and with it all others.
    ///
    /// # Errors
    /// The files are damaged, or go on changing while they are read; the machine stays as it was.
    pub(crate) fn rebuild(&mut self, online: &[bool]) -> Result<(), Problem> {
        let known = |(on, placed): (&bool, &bool)| !on || *placed;
        if !online.iter().zip(&self.placed).all(known) {
            let mut attempts = 1;
            *self = loop {
                match describe(&self.choice, &self.root) {
                    Ok(machine) => break machine,
                    Err(problem) if attempts == ATTEMPTS => return Err(problem),
                    Err(_) => attempts += 1,
                }
                std::thread::sleep(PAUSE);
            };
        }
        for (flag, on) in self.facts.online.iter_mut().zip(online) {
            *flag = *on;
        }
        Ok(())
    }
}

/// Length of a tick by the running kernel's configuration.
fn tick_ns(root: &Path) -> u32 {
    let hz = wakeplace_host::kernel_option(root, "CONFIG_HZ");
    let hz = hz.and_then(|hz| hz.parse::<u32>().ok());
    hz.filter(|hz| (1..=10_000).contains(hz))
        .map_or(DEFAULT_TICK_NS, |hz| 1_000_000_000 / hz)
}

/// By debugfs, which puts the model in force in brackets: `none voluntary full (lazy)`. Not where
/// it cannot be read, or the kernel has one model only.
fn preempts_lazily(root: &Path) -> bool {
    let models = std::fs::read_to_string(root.join("sys/kernel/debug/sched/preempt"));
    models.is_ok_and(|models| models.contains("(lazy)"))
}

/// A level of the kernel's topology, in the core's form.
fn level(level: &SysfsLevel) -> LevelFacts {
    let kind = level.kind;
    LevelFacts {
        shares_capacity: kind == LevelKind::Smt,
        shares_cache: matches!(kind, LevelKind::Smt | LevelKind::Cluster | LevelKind::Llc),
        cluster: kind == LevelKind::Cluster,
        numa: matches!(kind, LevelKind::Numa { .. }),
        group_of: level.group_of.clone(),
        ..LevelFacts::default()
    }
}

/// Is every clock under schedutil, which carries out the core's requests?
fn follows_requests(policies: &[CpufreqPolicy]) -> bool {
    let schedutil = |policy: &CpufreqPolicy| policy.governor.as_deref() == Some("schedutil");
    !policies.is_empty() && policies.iter().all(schedutil)
}

/// The classes of equal capacity.
fn classes(capacity: &[u32]) -> (Vec<usize>, Vec<String>) {
    let mut distinct = capacity.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let class = |c: &u32| distinct.binary_search(c).expect("it is among them");
    let class_of = capacity.iter().map(class).collect();
    (
        class_of,
        distinct.iter().map(|c| format!("capacity {c}")).collect(),
    )
}

/// The kernel's frequency domains, with the frequencies its driver lists, else those of the energy
/// model, else the two ends. They divide the CPUs or say nothing: none if a CPU has no clock here.
fn kernel_clocks(kernel: &SysfsMachine) -> Vec<FreqFacts> {
    let model = |policy: &CpufreqPolicy| {
        let covers = |d: &&EnergyDomain| !d.artificial && d.cpus.contains(&policy.cpus[0]);
        let domain = kernel.energy_model.iter().find(covers)?;
        Some(domain.states.iter().map(|s| s.khz).collect::<Vec<_>>())
    };
    let ends = |policy: &CpufreqPolicy| {
        let (low, high) = policy.limits_khz?;
        Some(if low == high {
            vec![low]
        } else {
            vec![low, high]
        })
    };
    let clock = |policy: &CpufreqPolicy| {
        let stated = Some(policy.available_khz.clone()).filter(|khz| !khz.is_empty());
        let choices = [stated, model(policy), ends(policy)];
        let few = |khz: &Vec<u32>| khz.len() <= sys::WP_MAX_STATES as usize;
        Some(FreqFacts {
            cpus: policy.cpus.clone(),
            opp_khz: choices.into_iter().flatten().find(few)?,
            transition_latency_us: (policy.transition_latency_ns.unwrap_or(0) / 1000) as u32,
        })
    };
    let clocks: Vec<FreqFacts> = kernel.policies.iter().filter_map(clock).collect();
    let covered = |cpu: u16| clocks.iter().any(|clock| clock.cpus.contains(&cpu));
    let mut online = (0u16..).zip(&kernel.online).filter(|(_, on)| **on);
    if online.all(|(cpu, _)| covered(cpu)) {
        clocks
    } else {
        Vec::new()
    }
}

/// The kernel's energy model, and whether its powers are microwatts. Artificial domains state costs
/// only, which debugfs does not show with their true scale: their powers and frequencies mean
/// nothing. With one of them there is no model.
fn kernel_model(domains: &[EnergyDomain]) -> (Vec<PerfFacts>, bool) {
    if domains.iter().any(|domain| domain.artificial) {
        return (Vec::new(), false);
    }
    let facts = |domain: &EnergyDomain| PerfFacts {
        cpus: domain.cpus.clone(),
        states: domain.states.iter().map(|s| (s.khz, s.power_uw)).collect(),
        costs: Vec::new(),
    };
    let in_watts = !domains.is_empty() && domains.iter().all(|d| d.microwatts);
    (domains.iter().map(facts).collect(), in_watts)
}

// ------------------------------------------------------------------------------ platform files

/// The platform file, if it can be this machine's.
fn fitting(name: &str, kernel: &SysfsMachine) -> Result<Platform, Problem> {
    let platform = Platform::load(name)?;
    let mut mismatches = Vec::new();
    let (theirs, ours) = (platform.cpus.len(), kernel.nr_present);
    if theirs != ours {
        mismatches.push(format!("it has {theirs} CPUs, this machine {ours}"));
    }
    compare_clocks(&platform, kernel, &mut mismatches);
    compare_clusters(&platform, kernel, &mut mismatches);
    compare_order(&platform, kernel, &mut mismatches);
    if mismatches.is_empty() {
        return Ok(platform);
    }
    let name = name.to_owned();
    Err(Problem::DoesNotFit { name, mismatches })
}

/// Tells where the platform's clocks differ from the kernel's policies.
fn compare_clocks(platform: &Platform, kernel: &SysfsMachine, mismatches: &mut Vec<String>) {
    for policy in &kernel.policies {
        let first = CpuId(u32::from(policy.cpus[0]));
        if first.index() >= platform.cpus.len() {
            continue;
        }
        let theirs = &platform.freq_domains[platform.freq_domain_of(first)].cpus;
        let theirs: Vec<u16> = theirs.iter().map(|cpu| cpu.0 as u16).collect();
        if theirs != policy.cpus {
            let (number, ours) = (policy.number, list(&policy.cpus));
            let theirs = list(&theirs);
            mismatches.push(format!(
                "cpufreq policy{number} is CPUs {ours}, in the file CPU {first} shares its clock \
                 with CPUs {theirs}"
            ));
        }
    }
}

/// Tells where groups of CPUs that share something cross the platform's clusters. One may be a part
/// of the other: a kernel's cluster is what shares a cache, the file's is what shares power.
fn compare_clusters(platform: &Platform, kernel: &SysfsMachine, mismatches: &mut Vec<String>) {
    let shared = |level: &&SysfsLevel| matches!(level.kind, LevelKind::Cluster | LevelKind::Llc);
    for level in kernel.levels.iter().filter(shared) {
        let nr_cpus = level.group_of.len().min(platform.cpus.len());
        let of = |group: u16| {
            let own = (0u16..).zip(&level.group_of[..nr_cpus]);
            own.filter(move |(_, of)| **of == group).map(|(cpu, _)| cpu)
        };
        let mut groups = level.group_of[..nr_cpus].to_vec();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let ours: Vec<u16> = of(group).collect();
            for cluster in &platform.clusters {
                let theirs = numbers(&cluster.cpus);
                let both = ours.iter().filter(|cpu| theirs.contains(cpu));
                let both: Vec<u16> = both.copied().collect();
                if both.is_empty() || both.len() == ours.len() || both.len() == theirs.len() {
                    continue;
                }
                let (first, name, ours) = (both[0], sharing(level.kind), list(&ours));
                let what = format!(
                    "CPU {first} shares its {name} with CPUs {ours}, in the file it is in a \
                     cluster of CPUs {}",
                    list(&theirs)
                );
                if !mismatches.contains(&what) {
                    mismatches.push(what);
                }
            }
        }
    }
}

/// What the CPUs of a group of this level have in common.
fn sharing(kind: LevelKind) -> &'static str {
    match kind {
        LevelKind::Cluster => "cluster",
        _ => "last-level cache",
    }
}

/// Of two CPUs the same one is the bigger. A kernel that gives all CPUs one capacity says nothing:
/// that is also what it has where nobody told it.
fn compare_order(platform: &Platform, kernel: &SysfsMachine, mismatches: &mut Vec<String>) {
    if kernel.capacity_from == CapacitySource::Alike {
        return;
    }
    // One CPU for each pair of capacities, the kernel's and the file's, is enough.
    let mut pairs: Vec<(u32, u32, usize)> = Vec::new();
    for (at, cpu) in platform.cpus.iter().enumerate().take(kernel.nr_cpus) {
        let (ours, theirs) = (kernel.capacity[at], cpu.capacity);
        let is_new = !pairs.iter().any(|(o, t, _)| (*o, *t) == (ours, theirs));
        if kernel.online[at] && is_new {
            pairs.push((ours, theirs, at));
        }
    }
    if pairs.iter().all(|(ours, _, _)| *ours == pairs[0].0) {
        return;
    }
    for (at, (ours, theirs, cpu)) in pairs.iter().enumerate() {
        for (other_ours, other_theirs, other) in &pairs[..at] {
            if ours.cmp(other_ours) != theirs.cmp(other_theirs) {
                mismatches.push(format!(
                    "capacities of CPU {other} and CPU {cpu}: {other_ours} and {ours} by the \
                     kernel, {other_theirs} and {theirs} in the file"
                ));
            }
        }
    }
}

/// Writes numbers of CPUs as `0-3,8`.
pub(crate) fn list(cpus: &[u16]) -> String {
    let runs = cpus.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// The file's capacities; CPUs that are announced but not in the machine never run.
fn capacities(platform: &Platform, nr_cpus: usize) -> Vec<u32> {
    let stated = platform.cpus.iter().map(|cpu| cpu.capacity);
    stated
        .chain(std::iter::repeat(sys::WP_SCALE))
        .take(nr_cpus)
        .collect()
}

/// Gives CPUs as the core takes them.
fn numbers(cpus: &[CpuId]) -> Vec<u16> {
    cpus.iter().map(|cpu| cpu.0 as u16).collect()
}

/// A frequency domain of a platform file, in the core's form: kHz and us.
fn file_clock(domain: &wakeplace_platform::FreqDomain) -> FreqFacts {
    FreqFacts {
        cpus: numbers(&domain.cpus),
        opp_khz: domain.opps.iter().map(|opp| opp.khz).collect(),
        transition_latency_us: (domain.transition_latency_ns / 1000) as u32,
    }
}

/// The file's table of tasks per core by frequency. Places by register are for domains of 3.1.
fn file_packing(platform: &Platform) -> Option<SchedMcFacts> {
    let table = platform.sched_mc.as_ref()?;
    let cpus = platform.cpus.iter();
    Some(SchedMcFacts {
        step_khz: table.step_khz,
        tasks: table.tasks.clone(),
        known_core: cpus.map(|cpu| cpu.kind == table.core_kind).collect(),
        mpidr: Vec::new(),
    })
}

/// What lines take between CPUs, and what a move costs, by the file. Times of hits and of memory
/// are for a rule that only the simulator has (docs/rules/cache-aware.md#llc-price).
fn file_prices(platform: &Platform) -> PriceFacts {
    let known = platform.lines_and_moves_ns();
    known.map_or_else(PriceFacts::default, |stated| {
        PriceFacts::new(stated.lines_ns, stated.moves_ns)
    })
}

/// What the powers of a model are, in words. None: there is no model.
fn model_words(choice: &PlatformChoice, domains: &[PerfFacts], in_watts: bool) -> Option<String> {
    let of = match choice {
        _ if domains.is_empty() => return None,
        PlatformChoice::Auto => "what the kernel states",
        PlatformChoice::File(_) => "what the hardware draws by the platform file",
    };
    let unit = if in_watts { "" } else { ", in no known unit" };
    Some(format!("{of}{unit}"))
}

/// The file's energy model, one performance domain per clock: what the hardware draws, not what a
/// kernel believes (`em_uw`), since a file is named where the kernel's model is missing or wrong.
/// The simulator decides by the same powers under `em_powers=drawn`. Bogo units serve as well as
/// microwatts, since only ratios matter; as milliwatts, so that rounding does not.
fn file_model(platform: &Platform) -> Vec<PerfFacts> {
    let scale = match platform.power_unit {
        PowerUnit::Microwatt => 1,
        PowerUnit::Bogo => 1000,
        PowerUnit::None => return Vec::new(),
    };
    let state = |opp: &wakeplace_platform::Opp| {
        let power = opp
            .power
            .expect("validated: a power unit, hence every power");
        (opp.khz, u32::try_from(power * scale).unwrap_or(u32::MAX))
    };
    let facts = |domain: &wakeplace_platform::FreqDomain| PerfFacts {
        cpus: numbers(&domain.cpus),
        states: domain.opps.iter().map(state).collect(),
        costs: Vec::new(),
    };
    platform.freq_domains.iter().map(facts).collect()
}

#[cfg(test)]
mod tests;

//! What everything is at one instant of a run, for people to look at. Nothing is brought up to date
//! for it: signals are as the policy last saw them, and the run goes on as without
//! (docs/guide/report.md, "The state at a time").
//!
//! What must stay: names of fields are keys of JSON (docs/guide/report.md). `missed_ns` is None
//! when all times were reached. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `power_mode_is_seen` (`domains`, `level`, `sched_mc`),
//! `level_0_is_seen` (`FLAGS`), `a_cpu_that_left_is_seen` (`States`, `Activity`),
//! `looking_changes_nothing` (`missed_ns`). `show`, `machine`, `taken` and `next_state_ns`: all of
//! these.
//!
//! Callers: crates/cli/src/commands/simulate.rs (`missed_ns`).
//!
//! Tests: crates/engine/tests/behaviour/states.rs

use crate::observe::{CpuPower, Observer};
use serde::{Deserialize, Serialize};
use wakeplace_policy_sys::Core;
use wakeplace_policy_sys::sys::{self, wp_sched_domain, wp_sched_group};

/// Names of the flags of a sched domain, by their bits.
const FLAGS: &[(u32, &str)] = &[
    (sys::WP_SD_SHARE_CPUCAPACITY, "SHARE_CPUCAPACITY"),
    (sys::WP_SD_CLUSTER, "CLUSTER"),
    (sys::WP_SD_SHARE_LLC, "SHARE_LLC"),
    (sys::WP_SD_SHARE_PKG, "SHARE_PKG_RESOURCES"),
    (sys::WP_SD_NUMA, "NUMA"),
    (sys::WP_SD_ASYM_CPUCAPACITY, "ASYM_CPUCAPACITY"),
    (sys::WP_SD_ASYM_CPUCAPACITY_FULL, "ASYM_CPUCAPACITY_FULL"),
    (sys::WP_SD_ASYM_PACKING, "ASYM_PACKING"),
    (sys::WP_SD_BALANCE_NEWIDLE, "BALANCE_NEWIDLE"),
    (sys::WP_SD_BALANCE_EXEC, "BALANCE_EXEC"),
    (sys::WP_SD_BALANCE_FORK, "BALANCE_FORK"),
    (sys::WP_SD_BALANCE_WAKE, "BALANCE_WAKE"),
    (sys::WP_SD_WAKE_AFFINE, "WAKE_AFFINE"),
    (sys::WP_SD_PREFER_SIBLING, "PREFER_SIBLING"),
    (sys::WP_SD_POWERSAVINGS, "POWERSAVINGS_BALANCE"),
];

/// What a CPU does, as far as power is concerned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activity {
    /// Executes a task or kernel work.
    Busy,
    /// On its way into the idle state of this name, or out of it.
    Transition(String),
    /// In the idle state of this name.
    Idle(String),
    /// Not in the machine.
    Offline,
}

/// The view of a CPU that the sched_mc series has in debugfs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedMcState {
    /// What the architecture claims, 1024 = one task.
    pub cpu_power: u32,
    /// The table: 0 the default, 1 that of the known kind of core.
    pub scale: u32,
    /// Last frequency that the series was told of, kHz; 0: none.
    pub freq_khz: u32,
}

impl Activity {
    /// By what draws power; `name` has the names of idle states.
    pub(crate) fn of(power: Option<CpuPower>, name: impl Fn(u16) -> String) -> Self {
        match power {
            Some(CpuPower::Transition { state }) => Self::Transition(name(state)),
            Some(CpuPower::Idle { state }) => Self::Idle(name(state)),
            Some(CpuPower::Busy) | None => Self::Busy,
        }
    }
}

/// One CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuState {
    /// Number.
    pub cpu: u32,
    /// It is in the machine.
    pub online: bool,
    /// What it does.
    pub activity: Activity,
    /// Clock, kHz.
    pub khz: u32,
    /// Name of the task it executes.
    pub running: Option<String>,
    /// Tasks on its queues, the running one included.
    pub nr_running: u32,
    /// Utilisation of its fair queue, 0..=1024, when the policy last brought it up to date.
    pub util: u32,
    /// The same with the estimates of queued tasks (`util_est`).
    pub util_est: u32,
    /// What it has for fair tasks, as balancing last found it (before 3.18 its `cpu_power`).
    pub capacity: u32,
    /// What it has in all.
    pub capacity_orig: u32,
    /// Idle without a tick.
    pub tick_stopped: bool,
    /// Under a policy that asks the architecture for a CPU's power.
    #[serde(skip)]
    pub sched_mc: Option<SchedMcState>,
}

/// A group of a sched domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupState {
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// Their capacity together, as balancing last found it.
    pub capacity: u32,
}

/// A sched domain as it was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainState {
    /// The kernel's name of its level.
    pub level: &'static str,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// Names of its flags.
    pub flags: Vec<&'static str>,
    /// Its groups.
    pub groups: Vec<GroupState>,
}

/// The machine at one instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineState {
    /// When, ns: all that happens then has happened.
    pub time_ns: u64,
    /// Some CPU is used beyond what it is good for.
    pub overutilized: bool,
    /// In the order of their numbers.
    pub cpus: Vec<CpuState>,
    /// From the narrowest to the widest. Of a tree's own kernel there are none.
    #[serde(skip)]
    pub domains: Vec<DomainState>,
}

/// The name of a sched domain's level, as the kernel has it.
fn level(flags: u32) -> &'static str {
    let names = [
        (sys::WP_SD_SHARE_CPUCAPACITY, "SMT"),
        (sys::WP_SD_CLUSTER, "CLS"),
        (sys::WP_SD_SHARE_LLC, "MC"),
        (sys::WP_SD_NUMA, "NUMA"),
    ];
    let named = names.iter().find(|(flag, _)| flags & flag != 0);
    named.map_or("PKG", |(_, name)| name)
}

/// The sched domains that some CPU that is online has.
pub(crate) fn domains(core: &Core) -> Vec<DomainState> {
    let ctx = core.state();
    let cpus = |first: u32, nr: u32| -> Vec<u32> {
        let list = &ctx.list[first as usize..(first + nr) as usize];
        list.iter().map(|cpu| u32::from(*cpu)).collect()
    };
    let group = |group: &wp_sched_group| GroupState {
        cpus: cpus(group.first_cpu, group.nr_cpus),
        capacity: group.capacity,
    };
    let state = |dom: &wp_sched_domain| DomainState {
        level: level(dom.flags),
        cpus: cpus(dom.first_cpu, dom.nr_cpus),
        flags: (FLAGS.iter())
            .filter(|(flag, _)| dom.flags & flag != 0)
            .map(|(_, name)| *name)
            .collect(),
        groups: {
            let first = dom.first_group as usize;
            let groups = &ctx.groups[first..first + dom.nr_groups as usize];
            groups.iter().map(group).collect()
        },
    };
    let used = |index: &usize| {
        let of_cpu = |cpu: &sys::wp_cpu| {
            cpu.topo.dom[..cpu.topo.nr_levels as usize].contains(&(*index as u32))
                && cpu.queue.online != 0
        };
        ctx.cpus[..ctx.nr_cpus as usize].iter().any(of_cpu)
    };
    let mut all: Vec<DomainState> = (0..ctx.nr_doms as usize)
        .filter(used)
        .map(|index| state(&ctx.doms[index]))
        .collect();
    all.sort_by_key(|domain| domain.cpus.len());
    all
}

/// What the series of sched_mc shows of a CPU, if its hook is asked.
pub(crate) fn sched_mc(core: &Core, cpu: u32) -> Option<SchedMcState> {
    let mc = &core.cpu(cpu).balance.mc;
    (core.state().params.arch_power != 0).then(|| SchedMcState {
        cpu_power: core.arch_power(cpu),
        scale: mc.config,
        freq_khz: mc.freq_khz,
    })
}

/// The state at one instant, for who asked for it.
pub struct StateView<'a> {
    /// When, ns.
    pub time_ns: u64,
    pub(crate) signals: &'a dyn Fn(u32) -> (u32, u32),
    pub(crate) take: &'a dyn Fn() -> MachineState,
}

impl StateView<'_> {
    /// Utilisation of a CPU's fair queue, and what it has for fair tasks: `CpuState::util` and
    /// `CpuState::capacity` without the rest.
    #[must_use]
    pub fn signals(&self, cpu: u32) -> (u32, u32) {
        (self.signals)(cpu)
    }

    /// Shows an observer what was taken before.
    pub(crate) fn show(taken: &MachineState, observer: &mut (impl Observer + ?Sized)) {
        let signals = |cpu: u32| {
            let cpu = &taken.cpus[cpu as usize];
            (cpu.util, cpu.capacity)
        };
        observer.state(&StateView {
            time_ns: taken.time_ns,
            signals: &signals,
            take: &|| taken.clone(),
        });
    }

    /// All of it.
    #[must_use]
    pub fn machine(&self) -> MachineState {
        (self.take)()
    }
}

/// Takes the state at some instants.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// From the last to the first.
    left: Vec<u64>,
    taken: Vec<MachineState>,
}

impl States {
    /// At these times, ns; in any order, each once.
    #[must_use]
    pub fn at(times_ns: &[u64]) -> Self {
        let mut left = times_ns.to_vec();
        left.sort_unstable_by(|a, b| b.cmp(a));
        left.dedup();
        Self {
            left,
            taken: Vec::new(),
        }
    }

    /// What was taken, in the order of time.
    #[must_use]
    pub fn taken(self) -> Vec<MachineState> {
        self.taken
    }

    /// The first time that the run did not reach, ns. None: all were reached.
    #[must_use]
    pub fn missed_ns(&self) -> Option<u64> {
        self.left.last().copied()
    }
}

impl Observer for States {
    /// The times left stand last first; None: all were shown.
    fn next_state_ns(&self) -> Option<u64> {
        self.left.last().copied()
    }

    /// Takes the state that was asked for.
    fn state(&mut self, state: &StateView<'_>) {
        self.left.pop();
        self.taken.push(state.machine());
    }
}

//! What everything was at an instant of a run (`sim --dump-state`;
//! docs/rules/sched-mc.md#mc-debugfs has the view of the sched_mc series).
//!
//! Made by `crates/report/src/states.rs`; `engine::state` has the figures.
//!
//! What must stay: keys, their order (that of the fields) and their meaning; a change of a type
//! also changes docs/result.schema.json. CPUs are in the order of their numbers, domains from the
//! narrowest to the widest. Tests by part:
//! crates/cli/tests/all/results.rs::`the_state_at_some_times` (all types).
//!
//! Tests: crates/cli/tests/all/results.rs::the_state_at_some_times

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine at one instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// When: all that happens then has happened.
    pub time_ns: u64,
    /// Some CPU is used beyond what it is good for.
    pub overutilized: bool,
    /// In the order of their numbers.
    pub cpus: Vec<CpuState>,
    /// From the narrowest to the widest.
    pub domains: Vec<DomainState>,
}

/// One CPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuState {
    /// Number.
    pub cpu: u32,
    /// It is in the machine.
    pub online: bool,
    /// `busy`, `transition` (to or from the idle state), `idle` or `offline`.
    pub activity: String,
    /// The idle state.
    pub idle_state: Option<String>,
    /// Idle without a tick.
    pub tick_stopped: bool,
    /// Clock.
    pub freq_khz: u32,
    /// Name of the task it executes.
    pub running: Option<String>,
    /// Tasks on its queues, the running one included.
    pub nr_running: u32,
    /// Utilisation of its fair queue, when the policy last brought it up to date.
    pub util: u32,
    /// The same with the estimates of queued tasks.
    pub util_est: u32,
    /// What it has for fair tasks, as balancing last found it.
    pub capacity: u32,
    /// What it has in all.
    pub capacity_orig: u32,
    /// Under a policy that asks the architecture for a CPU's power.
    pub sched_mc: Option<SchedMcState>,
}

/// The view of a CPU that the sched_mc series has in debugfs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchedMcState {
    /// What the architecture claims, 1024 = one task.
    pub cpu_power: u32,
    /// The table: 0 the default, 1 that of the known kind of core.
    pub scale: u32,
    /// Last frequency that the series was told of, kHz; 0: none.
    pub freq_khz: u32,
}

/// A sched domain as it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DomainState {
    /// The kernel's name of its level.
    pub level: String,
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// Names of its flags.
    pub flags: Vec<String>,
    /// Its groups.
    pub groups: Vec<GroupState>,
}

/// A group of a sched domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GroupState {
    /// Its CPUs.
    pub cpus: Vec<u32>,
    /// Their capacity together, as balancing last found it.
    pub capacity: u32,
}

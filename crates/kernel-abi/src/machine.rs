//! The machine that a kernel boots on (docs/guide/kernel.md, "In a run").
//!
//! What must stay: CPUs, domains and states in the platform's order. May change: what else is
//! refused by `check`.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `what_cannot_be_booted_is_refused`
//! (`check`), `a_kernel_is_booted_entered_and_left` (`with_raw`, `raw`, `count`).
//!
//! Callers: crates/engine/src/kernel/tree/machine.rs describes; crates/kernel-tree boots.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::what_cannot_be_booted_is_refused

use crate::abi::{self, MachineCpu, Opp};
use std::ffi::CString;
use std::ptr;

/// All that a kernel is told of a machine. Read while it boots, and never after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// CPUs by their number.
    pub cpus: Vec<MachineCpu>,
    /// Frequency domains.
    pub domains: Vec<Domain>,
    /// Tables of idle states, the shallowest first in each.
    pub idle: Vec<Vec<IdleState>>,
    /// Memory nodes; at least one.
    pub nodes: u32,
    /// Between nodes, row by row; empty: 10 within one, and 20.
    pub distances: Vec<u32>,
    /// Of frequencies; none: the tree's default.
    pub governor: Option<CString>,
    /// Of idle states; none: the tree's choice.
    pub idle_governor: Option<CString>,
    /// Of what the kernel draws at random.
    pub seed: u64,
    /// When it boots.
    pub now_ns: u64,
    /// What a cache line costs; none: paths of the kernel take no time.
    pub coherence: Option<crate::lines::Coherence>,
}

/// CPUs with one frequency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Domain {
    /// Ascending.
    pub opps: Vec<Opp>,
    /// From the scheduler's context, else by the governor's deadline thread.
    pub fast_switch: bool,
    /// Its CPUs are a performance domain of the energy model.
    pub energy_model: bool,
    /// A CPU outside may change it.
    pub any_cpu: bool,
    /// As the kernel is told.
    pub transition_latency_ns: u32,
    /// 0: the kernel derives it from the latency.
    pub rate_limit_us: u32,
    /// How long a slow switch keeps its thread busy.
    pub switch_ns: u32,
    /// 0: the lowest.
    pub boot_khz: u32,
}

/// An idle state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleState {
    /// At most 15 bytes are told.
    pub name: String,
    /// Way in and out, as the governor is told.
    pub exit_latency_ns: u64,
    /// As the governor is told.
    pub residency_ns: u64,
    /// It polls.
    pub polling: bool,
}

const FAST_SWITCH: u32 = 1;
const ENERGY_MODEL: u32 = 2;
const ANY_CPU: u32 = 4;
const POLLING: u32 = 1;

impl Machine {
    /// Calls `use_it` with the machine in the interface's form, which lives as long as the call.
    pub fn with_raw<T>(&self, use_it: impl FnOnce(&abi::Machine) -> T) -> T {
        let domains: Vec<abi::Domain> = self.domains.iter().map(Domain::raw).collect();
        let states: Vec<Vec<abi::IdleState>> = self
            .idle
            .iter()
            .map(|table| table.iter().map(IdleState::raw).collect())
            .collect();
        let tables: Vec<abi::IdleTable> = states
            .iter()
            .map(|states| abi::IdleTable {
                states: states.as_ptr(),
                nr_states: count(states),
                unused: 0,
            })
            .collect();
        let text = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let raw = abi::Machine {
            abi: abi::ABI,
            nr_cpus: count(&self.cpus),
            nr_domains: count(&domains),
            nr_idle: count(&tables),
            nr_nodes: self.nodes.max(1),
            unused: 0,
            coherence: self.coherence.as_ref().map_or(ptr::null(), ptr::from_ref),
            cpus: self.cpus.as_ptr(),
            domains: domains.as_ptr(),
            idle: tables.as_ptr(),
            distances: match self.distances.is_empty() {
                true => ptr::null(),
                false => self.distances.as_ptr(),
            },
            governor: text(&self.governor),
            idle_governor: text(&self.idle_governor),
            seed: self.seed,
            now_ns: self.now_ns,
        };
        use_it(&raw)
    }

    /// What the interface takes for granted.
    pub fn check(&self) -> Result<(), String> {
        let domains = count(&self.domains);
        let tables = count(&self.idle);
        let nodes = self.nodes.max(1);
        if self.cpus.is_empty() {
            return Err("a machine without CPUs".to_owned());
        }
        let lost = |number: u32, count: u32| number != abi::NONE && number >= count;
        for (at, cpu) in self.cpus.iter().enumerate() {
            if lost(cpu.domain, domains) || lost(cpu.idle, tables) || cpu.node >= nodes {
                return Err(format!("CPU {at} is in something that is not there"));
            }
        }
        let squares = nodes as usize * nodes as usize;
        if !self.distances.is_empty() && self.distances.len() != squares {
            return Err(format!("{squares} distances are needed"));
        }
        match self
            .domains
            .iter()
            .position(|domain| domain.opps.is_empty())
        {
            Some(at) => Err(format!("frequency domain {at} has no operating point")),
            None => Ok(()),
        }
    }
}

/// Lists longer than the interface takes are refused by `check`.
fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

impl Domain {
    /// A frequency domain in the interface's form: kHz, ns, us; lists stay the machine's.
    fn raw(&self) -> abi::Domain {
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        abi::Domain {
            opps: self.opps.as_ptr(),
            nr_opps: count(&self.opps),
            flags: flag(self.fast_switch, FAST_SWITCH)
                | flag(self.energy_model, ENERGY_MODEL)
                | flag(self.any_cpu, ANY_CPU),
            transition_latency_ns: self.transition_latency_ns,
            rate_limit_us: self.rate_limit_us,
            switch_ns: self.switch_ns,
            boot_khz: self.boot_khz,
        }
    }
}

impl IdleState {
    /// An idle state in the interface's form; a long name is cut.
    fn raw(&self) -> abi::IdleState {
        let mut name = [0; abi::NAME_BYTES];
        let bytes = self.name.bytes().filter(|byte| *byte != 0);
        for (to, byte) in name.iter_mut().take(abi::NAME_BYTES - 1).zip(bytes) {
            *to = byte;
        }
        abi::IdleState {
            name,
            exit_latency_ns: self.exit_latency_ns,
            residency_ns: self.residency_ns,
            flags: if self.polling { POLLING } else { 0 },
            unused: 0,
        }
    }
}

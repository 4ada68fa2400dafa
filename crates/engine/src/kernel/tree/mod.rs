//! A tree's own `kernel/sched` as the kernel of a run: it is entered where the mechanics tell
//! something, and what it answers is carried out. Nothing of scheduling is decided here
//! (docs/guide/kernel.md, "In a run").
//!
//! Each entry is one of a CPU: an interrupt, or a system call of the task that runs there. After it
//! (`enter`) the kernel has said, in a view that both see, what each CPU does, when its timer
//! fires, and to whom it sent interrupts. What the CPU itself does next is taken up where the
//! mechanics are ready for it (`switch`), so that a task which is displaced by its own wake-up ends
//! its step first. Time in the kernel is none of the tree's; what it costs is the machine's
//! (`Platform::costs`), as for our model of a kernel.
//!
//! What must stay: equal inputs, equal entries. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part, where a tree is built:
//! `recorded_runs_happen_again_in_the_same_source` and `a_comparison_does_not_depend_on_threads`
//! (equal entries), `energy_aware_placement_is_the_kernels_own` (`new`, `take_boot`, and the same
//! twice), `waits_for_devices_move_frequencies` (`setup`). `default` by
//! `recorded_runs_happen_again_in_the_same_source` and the others.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs,
//! crates/fidelity/tests/all/truth.rs::recorded_runs_happen_again_in_the_same_source

mod attributes;
pub(crate) use attributes::{BATCH, IDLE};
mod entries;
mod event;
mod frequency;
mod interface;
mod interrupts;
mod machine;
mod paths;
mod refused;
mod sleepers;
mod state;
mod tasks;
mod told;

use crate::ids::{CpuId, PerCpu, PerTask, TaskId};
use crate::kernel::KernelSetup;
use crate::machine::Machine;
use crate::outcome::KernelCounts;
use machine::Domains;
pub use machine::tree_machine;
use paths::Path;
pub use refused::tree_refuses;
use sleepers::Sleepers;
use std::collections::VecDeque;
use tasks::Own;
use wakeplace_kernel_abi::{Call, Told, Tree as Entries};
use wakeplace_workload::Workload;

/// No tree that can be built is older (docs/guide/kernel.md).
const OLDEST: (u16, u16) = (5, 10);

/// What is kept of a CPU beside the kernel's view of it.
#[derive(Debug)]
struct Cpu {
    /// The task that the mechanics have running.
    runs: Option<TaskId>,
    /// The one before.
    last: Option<TaskId>,
    /// When its timer fires, as it was last armed; outdated events have another generation.
    armed_ns: u64,
    generation: u32,
    /// A `GoOn` is on its way.
    spins: bool,
    /// What waits for it to leave its idle state.
    spawns: Vec<TaskId>,
    due: Vec<TaskId>,
    device_ns: u64,
    path: Path,
}

impl Default for Cpu {
    /// A CPU at the start: nothing runs, no timer is armed.
    fn default() -> Self {
        Self {
            runs: None,
            last: None,
            armed_ns: u64::MAX,
            generation: 0,
            spins: false,
            spawns: Vec::new(),
            due: Vec::new(),
            device_ns: 0,
            path: Path::default(),
        }
    }
}

/// A tree's kernel in a run.
pub(crate) struct Tree<'a> {
    entries: &'a mut dyn Entries,
    machine: &'a Machine,
    domains: Domains,
    cpus: PerCpu<Cpu>,
    tasks: PerTask<Own>,
    sleepers: Sleepers,
    /// Room for those who have woken.
    awake: Vec<TaskId>,
    /// Numbers of the kernel's groups, by those of the workload's.
    groups: Vec<u32>,
    /// What the kernel did not take before the run, as a sentence.
    refused: Option<String>,
    /// Paths of the kernel take time.
    coherent: bool,
    /// Which CPU goes on first in its path, and when, ns.
    first_path: Option<(u64, CpuId)>,
    /// The CPU that the last entry ran on last.
    ran: CpuId,
    /// Room for what changed and was said.
    changed: Vec<u32>,
    told: Told,
    /// What each of the kernel's frequency domains wants, kHz.
    wanted_khz: Vec<u32>,
    /// Frequencies of each of the platform's domains, ascending.
    khz: Vec<Vec<u32>>,
    /// What the machine's owner wants and has not ordered yet; one order is under way.
    orders: VecDeque<Call<'static>>,
    order_waits: bool,
    overutilized: bool,
    energy_aware: bool,
    nr_decided: u64,
    /// Decisions come with all that they depend on.
    detail: bool,
    /// What the kernel had counted when it had booted.
    booted: KernelCounts,
}

impl<'a> Tree<'a> {
    /// The tree's side of a kernel that has booted on `tree_machine`, at time 0.
    pub(crate) fn new(
        platform: &wakeplace_platform::Platform,
        machine: &'a Machine,
        workload: &Workload,
        entries: &'a mut dyn Entries,
    ) -> Self {
        let domains = Domains::of(machine);
        let khz = platform.freq_domains.iter();
        let khz: Vec<Vec<u32>> = khz
            .map(|d| d.opps.iter().map(|o| o.khz).collect())
            .collect();
        let lowest = |domain: &u32| khz[*domain as usize][0];
        let mut tree = Self {
            wanted_khz: domains.platform_domain.iter().map(lowest).collect(),
            khz,
            domains,
            cpus: PerCpu((0..machine.nr_cpus).map(|_| Cpu::default()).collect()),
            tasks: PerTask(tasks::of_workload(workload)),
            sleepers: Sleepers::default(),
            awake: Vec::new(),
            groups: Vec::new(),
            refused: None,
            coherent: machine.coherence.is_some(),
            first_path: None,
            ran: CpuId(0),
            changed: Vec::new(),
            told: Told::default(),
            orders: VecDeque::new(),
            order_waits: false,
            overutilized: false,
            energy_aware: false,
            nr_decided: 0,
            detail: false,
            booted: KernelCounts::default(),
            machine,
            entries,
        };
        tree.make_groups(workload);
        tree.take_boot();
        tree.booted = told::counted(tree.entries);
        tree
    }

    /// Frequencies that the boot ended with.
    fn take_boot(&mut self) {
        self.entries.take_told(&mut self.told);
        for (domain, khz) in std::mem::take(&mut self.told.frequencies) {
            self.wanted_khz[domain as usize] = khz;
        }
        self.told.clear();
        self.changed.clear();
        self.entries.take_changed(&mut self.changed);
    }

    /// What the mechanics begin with.
    pub(crate) fn setup(&self) -> KernelSetup {
        let domains = 0..self.khz.len() as u32;
        KernelSetup {
            opps: domains.map(|domain| self.opp_wanted(domain)).collect(),
            preference: None,
            release: OLDEST,
            threads: Vec::new(),
        }
    }
}

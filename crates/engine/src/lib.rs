//! Deterministic simulated mechanics around the policy core: clock, event queue, run queues, ticks,
//! interrupts, idle states, frequency domains. Every decision is the core's; every input is
//! validated before a run, so a run cannot fail. Opens no file, reads no clock; draws one number,
//! from a fixed stream per CPU: whether a CPU that goes idle tries to pull (ARCHITECTURE.md, "The
//! engine's two halves").
//!
//! What must stay: these functions are all of a run that other crates call; a changed signature
//! reaches study, kernel-run and wasm. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `it_ends_after_the_duration`
//! (`run`), `it_is_the_decision_of_the_run` (`run_watched`), `two_hogs_take_turns_of_a_slice`
//! (`run_sched_ext`),
//! crates/cli/tests/all/kernel_runs.rs::`energy_aware_placement_is_the_kernels_own` (`run_tree`;
//! where a tree is built).
//!
//! Callers: crates/study/src/pool.rs (`run_sched_ext`).
//!
//! Tests: crates/engine/tests/behaviour, beside its modules

mod behaviour;
mod both;
mod check;
mod domains;
mod explain;
mod happening;
mod hardware;
mod hotplug;
mod ids;
mod kernel;
mod machine;
mod mechanics;
mod nearness;
pub mod observe;
mod options;
mod outcome;
mod policy_change;
mod sim;
mod state;
mod threads;

pub use behaviour::BehaviourHash;
pub use check::{RunError, check, check_line_costs, check_sched_ext, energy_inactive};
pub use explain::{Asked, Explanation, Missing, Other, Party, Which, explain};
pub use explain::{CallbackSteps, SchedExtExplanation, explain_sched_ext};
pub use explain::{
    Compared, Figure, Looks, NoTreeExplanation, OnSignals, OnTree, SignalKind, TreeExplanation,
    explain_tree, watch_tree,
};
pub use happening::{Happening, Teller, Telling};
pub use hardware::{EmScale, FreqCap, Interrupts};
pub use hotplug::{Hotplug, HotplugError};
pub use kernel::tree::{tree_machine, tree_refuses};
pub use machine::core_facts;
pub use observe::Observer;
use observe::{Both, NoObserver};
pub use options::{CpuIdle, OptionError, Options};
pub use outcome::{
    CallbackTotals, Counted, Ended, EventCount, GroupTotals, KernelCounts, LinesTold, LongestWait,
    RunReport, SchedExtReport, TaskTotals, ThreadName, Waiting, WaitsFor,
};
pub use policy_change::{PolicyChange, PolicyChangeError};
pub use state::{
    Activity, CpuState, DomainState, GroupState, MachineState, SchedMcState, StateView, States,
};
pub use threads::{Numbered, Threads, thread_name};
pub use wakeplace_kernel_abi::{LineCost, Updated};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
pub use wakeplace_sched_ext as sched_ext;
use wakeplace_sched_ext::SchedExtOps;
use wakeplace_workload::Workload;

/// Runs a workload under a policy on a machine. The inputs have passed `check`. The compiler makes
/// a simulator for each kind of observer; `run_watched` is one for all kinds.
///
/// # Panics
/// On inputs that `check` refuses, and on a broken invariant of the engine itself.
pub fn run<O: Observer>(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    observer: &mut O,
) -> RunReport {
    sim::run(platform, policy, workload, options, observer, None)
}

/// Runs with any observer. It is slower by the calls to the observer, and takes no room of its own
/// in the program.
///
/// # Panics
/// As `run` does.
pub fn run_watched(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    observer: &mut dyn Observer,
) -> RunReport {
    let mut observer = Both(&mut NoObserver, observer);
    run(platform, policy, workload, options, &mut observer)
}

/// Runs with a sched_ext scheduler that decides about all tasks but RT and deadline ones. The
/// policy says how the kernel beneath sets frequencies, and what its era is. A scheduler that ends
/// is an outcome of the run (`Ended::Scheduler`).
///
/// # Panics
/// As `run` does.
pub fn run_sched_ext(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    ops: &mut dyn SchedExtOps,
    observer: &mut dyn Observer,
) -> RunReport {
    let mut observer = Both(&mut NoObserver, observer);
    let observer = &mut observer;
    sim::run(platform, policy, workload, options, observer, Some(ops))
}

/// Runs under a tree's own kernel, which has booted on `tree_machine` of the same inputs. A kernel
/// that fails ends the run (`Ended::Kernel`).
///
/// # Panics
/// As `run` does.
pub fn run_tree(
    platform: &Platform,
    workload: &Workload,
    options: &Options,
    tree: &mut dyn wakeplace_kernel_abi::Tree,
    observer: &mut dyn Observer,
) -> RunReport {
    let mut observer = Both(&mut NoObserver, observer);
    sim::run_tree(platform, workload, options, tree, &mut observer)
}

//! A kernel whose machine is up, as the engine sees it (docs/guide/kernel.md, "In a run").
//!
//! What must stay: no method may depend on more than what was told: runs repeat. Errors are
//! `Refused`; times ns. May change: a method more, with its implementer
//! (crates/kernel-run/src/entered.rs) and the engine.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `a_kernel_is_booted_entered_and_left`
//! (`set_now`, `call`, `spawn`, `interrupt`, `go_on`, `take_changed`, `take_told`);
//! crates/cli/tests/all/kernel_runs.rs: `waits_for_devices_move_frequencies` (`device`),
//! `a_decision_is_explained_by_the_trees_own_figures` (`set_detail`); kernel_diff.rs
//! (`set_signals`). The rest, `clear` and `is_empty` by all runs.
//!
//! Callers: crates/engine/src/kernel/tree.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::a_kernel_is_booted_entered_and_left,
//! crates/cli/tests/all/kernel_runs.rs

use crate::abi::{Choice, Cpu, CpuState, Energy, Facts, Party, TaskState};
use crate::call::Call;
use crate::lines::LineCost;
use crate::paths::{Ahead, Went};
use crate::signals::Updated;
use serde::{Deserialize, Serialize};

/// The ticket of orders that stand for nothing else: hotplug has others.
pub const ORDER: u64 = 0;

/// Tickets of calls and spawns: this, and the number of what was called ([`Call::op`]).
pub const CALL: u64 = 1 << 63;

/// Why an entry has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The run is over: who runs it was told why.
    Dead,
    /// It is under way: [`Told::done`] will tell.
    Pending,
    /// The kernel said no: a number of errno.
    Error(i32),
}

/// A CPU was chosen for a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Who, where, why, and the answer.
    pub facts: Facts,
    /// The task; like all that follows, if it was asked for.
    pub party: Party,
    /// Who ran where it was decided.
    pub waking: Party,
    /// All CPUs.
    pub choices: Vec<Choice>,
    /// All performance domains, where placement was energy-aware.
    pub energies: Vec<Energy>,
}

/// What the last entries said, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Frequencies that domains are to have, kHz.
    pub frequencies: Vec<(u32, u32)>,
    /// Decisions.
    pub decided: Vec<Decided>,
    /// Tickets of what was under way and is done, with their answers.
    pub done: Vec<(u64, i64)>,
    /// Signals that are up to date, if they were asked for.
    pub updated: Vec<Updated>,
}

impl Told {
    /// Forgets all, and keeps the room.
    pub fn clear(&mut self) {
        self.frequencies.clear();
        self.decided.clear();
        self.done.clear();
        self.updated.clear();
    }

    /// Nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frequencies.is_empty()
            && self.decided.is_empty()
            && self.done.is_empty()
            && self.updated.is_empty()
    }
}

/// A kernel. Each entry comes back when nothing more can happen on that CPU without time passing.
pub trait Tree {
    /// The time at which the next entries happen, ns.
    fn set_now(&mut self, now_ns: u64);

    /// For the next entry, where paths take time: when the next thing happens elsewhere but for
    /// paths, ns, and up to when CPUs may go on in theirs one after the other.
    fn set_ahead(&mut self, horizon_ns: u64, until_ns: u64);

    /// What an access to memory takes on a CPU from now on that needs no transfer, ps.
    fn set_access(&mut self, cpu: u32, access_ps: u64);

    /// What the last entry has said of paths.
    fn ahead(&self) -> Ahead;

    /// Who has gone on in its path within the last entry, after the CPU that it was for, in order.
    fn went_on(&self) -> &[Went];

    /// What cache lines have cost, the most expensive first.
    fn lines(&self) -> Vec<LineCost>;

    /// Decisions come with all that they depend on.
    fn set_detail(&mut self, detail: bool);

    /// Updates of signals are told.
    fn set_signals(&mut self, signals: bool);

    /// All CPUs as the last entry left them.
    fn cpus(&self) -> &[Cpu];

    /// Moves the numbers of CPUs that changed to `to`, and marks them as seen. Whoever was sent an
    /// interrupt has it in `Cpu::ipi` until it is delivered.
    fn take_changed(&mut self, to: &mut Vec<u32>);

    /// Entries have said something that was not taken.
    fn has_told(&self) -> bool;

    /// Moves what entries have said to `to`, which is empty.
    fn take_told(&mut self, to: &mut Told);

    /// Interrupts arrive at a CPU: [`crate::abi::RESCHED`], [`crate::abi::CALL`],
    /// [`crate::abi::TIMER`].
    ///
    /// # Errors
    /// The run is over.
    fn interrupt(&mut self, cpu: u32, what: u32) -> Result<i64, Refused>;

    /// A device's interrupt arrives, whose handler wakes tasks.
    ///
    /// # Errors
    /// The run is over.
    fn device(&mut self, cpu: u32, tasks: &[u32]) -> Result<i64, Refused>;

    /// A CPU goes on that came up, waited for another one, or was at work.
    ///
    /// # Errors
    /// The run is over.
    fn go_on(&mut self, cpu: u32) -> Result<i64, Refused>;

    /// A system call of the task that runs on a CPU. One that is refused after the task has lost
    /// the CPU has the answer 0; [`Told::done`] has the error, with a ticket of [`CALL`].
    ///
    /// # Errors
    /// The kernel refuses, or the run is over.
    fn call(&mut self, cpu: u32, call: &Call<'_>) -> Result<i64, Refused>;

    /// Creates a task that no simulated task creates, as an interrupt on `cpu` would. Where the
    /// CPU takes it later it is [`Refused::Pending`], with a ticket of [`CALL`].
    ///
    /// # Errors
    /// The kernel refuses, or the run is over.
    fn spawn(&mut self, cpu: u32, fork: &crate::Fork<'_>) -> Result<i64, Refused>;

    /// An order of the machine's owner. What needs time is [`Refused::Pending`]; then
    /// [`Told::done`] has `ticket`.
    ///
    /// # Errors
    /// The kernel refuses, or the run is over.
    fn control(&mut self, call: &Call<'_>, ticket: u64) -> Result<i64, Refused>;

    /// The value of a parameter as the kernel's own file would show it; None: there is none.
    fn get(&self, name: &std::ffi::CStr) -> Option<String>;

    /// What an observer sees of a CPU. None: there is no such CPU.
    fn cpu_state(&self, cpu: u32) -> Option<CpuState>;

    /// The CPU that a task is on, or was last. None: there is no such task.
    fn task_cpu(&self, task: u32) -> Option<u32>;

    /// A task is queued or runs, and is not on its way there.
    fn is_awake(&self, task: u32) -> bool;

    /// What an observer sees of a task. None: there is no such task.
    fn task_state(&self, task: u32) -> Option<TaskState>;
}

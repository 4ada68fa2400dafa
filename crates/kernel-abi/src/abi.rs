//! The C interface of a built kernel, as `crates/kernel-shim/shim/wakeplace.h` has it. A test
//! compares sizes and offsets with that file.
//!
//! What must stay: order, sizes and meaning of fields are the header's. A change of either side
//! needs another number of the interface, or old objects would be taken. May change: comments; all
//! else only together with the header.
//!
//! Tests by part: crates/kernel-tree/src/kernel/tests.rs: `structs_are_laid_out_as_in_the_header`
//! (`layout`); crates/cli/tests/all/kernel_runs.rs:
//! `a_decision_is_explained_by_the_trees_own_figures` (decisions, with
//! `best`).
//!
//! Callers: crates/kernel-tree; the engine reads decisions and CPUs.
//!
//! Tests: crates/kernel-tree/src/kernel/tests.rs::structs_are_laid_out_as_in_the_header

#![allow(missing_docs, reason = "wakeplace.h says what each field is")]

use crate::balances::RawBalance;
use crate::lines::{Coherence, RawUse};
use crate::paths::{RawPaths, Went};
use crate::signals::{Avg, Demand, Governor, Queue, RawRequest, Signal};
use crate::turns::RawTurn;
use serde::{Deserialize, Serialize};
use std::ffi::{c_char, c_void};

/// Of the interface; an object with another one is not loaded.
pub const ABI: u32 = 9;
/// No time.
pub const NEVER: u64 = u64::MAX;
/// No number.
pub const NONE: u32 = u32::MAX;

/// Answers of entries beside numbers and errors.
pub const DEAD: i64 = -100_000;
/// It is under way: [`crate::Told::done`] will tell.
pub const PENDING: i64 = -100_001;

/// Who runs on a CPU: the idle loop.
pub const IDLE: u32 = u32::MAX;
/// Or a kernel thread, whose own number is in the bits below.
pub const KTHREAD: u32 = 1 << 31;
/// A decision's waker, or a task, that nobody has a number of.
pub const SELF: u32 = u32::MAX;
/// The group of all groups.
pub const ROOT_GROUP: u32 = 0;

/// Interrupts: reschedule, a call, the timer.
pub const RESCHED: u32 = 1;
/// See [`RESCHED`].
pub const CALL: u32 = 2;
/// See [`RESCHED`].
pub const TIMER: u32 = 4;

/// States of [`Cpu::state`].
pub mod state {
    /// Not there.
    pub const OFFLINE: u32 = 0;
    /// It comes up: [`crate::Tree::go_on`].
    pub const START: u32 = 1;
    /// In user mode of the task that runs.
    pub const USER: u32 = 2;
    /// In the idle loop.
    pub const WAIT: u32 = 3;
    /// It waits for another CPU: [`crate::Tree::go_on`] when the others had their turn.
    pub const SPIN: u32 = 4;
    /// Kernel work that takes time: [`crate::Tree::go_on`] when it is done.
    pub const WORK: u32 = 5;
    /// In the middle of a path, for a cache line or a lock: [`crate::Tree::go_on`] at the time
    /// `work_ns`.
    pub const STALL: u32 = 6;
}

/// A CPU: the kernel writes, the host clears.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// When its clock event device fires, or [`NEVER`].
    pub next_event_ns: u64,
    /// How long its kernel work takes; of [`state::STALL`] until when, or [`NEVER`].
    pub work_ns: u64,
    /// What it does: [`state`].
    pub state: u32,
    /// The host's number of the task that runs, [`KTHREAD`] and a number, or [`IDLE`].
    pub running: u32,
    /// Of the platform, while it waits.
    pub idle_state: u32,
    /// Sent to it and not delivered: [`RESCHED`], [`CALL`].
    pub ipi: u32,
    /// It is listed in the view.
    pub changed: u32,
    /// Of [`state::STALL`]: interrupts are on.
    pub open: u32,
    /// When `ipi` was sent, if paths take time.
    pub sent_ns: u64,
    /// What an access takes that needs no transfer, ps, if paths take time: the host sets it.
    pub access_ps: u64,
    /// Context switches since boot.
    pub switches: u64,
    /// To kernel threads among them.
    pub kthread_switches: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Interrupts of the timer.
    pub ticks: u64,
}

/// What host and kernel both see.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub now_ns: u64,
    pub nr_cpus: u32,
    pub nr_changed: u32,
    pub changed: *mut u32,
    pub cpus: *mut Cpu,
    pub detail: u32,
    pub dead: u32,
    pub signals: u32,
    pub unused: u32,
    pub paths: *mut RawPaths,
    pub warnings: u64,
    pub decisions: u64,
    pub works: u64,
    pub rcu_callbacks: u64,
}

/// An operating point.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opp {
    /// Frequency.
    pub khz: u32,
    /// Power of one busy CPU.
    pub uw: u32,
}

#[repr(C)]
pub struct Domain {
    pub opps: *const Opp,
    pub nr_opps: u32,
    pub flags: u32,
    pub transition_latency_ns: u32,
    pub rate_limit_us: u32,
    pub switch_ns: u32,
    pub boot_khz: u32,
}

/// Bytes of a name.
pub const NAME_BYTES: usize = 16;

#[repr(C)]
pub struct IdleState {
    pub name: [u8; NAME_BYTES],
    pub exit_latency_ns: u64,
    pub residency_ns: u64,
    pub flags: u32,
    pub unused: u32,
}

#[repr(C)]
pub struct IdleTable {
    pub states: *const IdleState,
    pub nr_states: u32,
    pub unused: u32,
}

/// A CPU's place in the machine. CPUs that share a number share the thing.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineCpu {
    /// 1024: the biggest at its highest frequency.
    pub capacity: u32,
    /// SMT siblings have the same.
    pub core: u32,
    /// [`NONE`]: there is no level of clusters.
    pub cluster: u32,
    /// Last-level cache; [`NONE`]: not known to the kernel.
    pub llc: u32,
    /// Package.
    pub package: u32,
    /// Memory node.
    pub node: u32,
    /// Frequency domain, or [`NONE`].
    pub domain: u32,
    /// Table of idle states, or [`NONE`].
    pub idle: u32,
}

#[repr(C)]
pub struct Machine {
    pub abi: u32,
    pub nr_cpus: u32,
    pub nr_domains: u32,
    pub nr_idle: u32,
    pub nr_nodes: u32,
    pub unused: u32,
    pub coherence: *const Coherence,
    pub cpus: *const MachineCpu,
    pub domains: *const Domain,
    pub idle: *const IdleTable,
    pub distances: *const u32,
    pub governor: *const c_char,
    pub idle_governor: *const c_char,
    pub seed: u64,
    pub now_ns: u64,
}

/// Levels of scheduling domains that are told of a CPU.
pub const LEVELS: usize = 8;

/// The group of a CPU in a scheduling domain, as balancing last left it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Of its CPUs.
    pub capacity: u32,
    /// Of the smallest of them.
    pub min_capacity: u32,
    /// Of the biggest.
    pub max_capacity: u32,
    /// A pull from it failed because of affinity.
    pub imbalanced: u32,
}

/// A CPU as a decision found it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Which.
    pub cpu: u32,
    /// `util_avg` of its fair queue.
    pub util: u32,
    /// And its estimate.
    pub util_est: u32,
    /// `runnable_avg`.
    pub runnable: u32,
    /// What is left for fair tasks.
    pub capacity: u32,
    /// All it has.
    pub capacity_orig: u32,
    /// Tasks that are queued.
    pub nr_running: u32,
    /// [`NONE`]: busy, or awake.
    pub idle_state: u32,
    /// Its idle task runs; it may be awake for an interrupt.
    pub idle: u32,
    /// The task may use it; balancing may look at it.
    pub allowed: u32,
    /// It is there.
    pub online: u32,
    /// `load_avg`.
    pub load: u32,
    /// Weight of the fair tasks that are queued.
    pub weight: u32,
    /// How many of them there are.
    pub nr_fair: u32,
    /// Those of `SCHED_IDLE` among them.
    pub nr_idle_policy: u32,
    /// A fair task runs.
    pub curr_fair: u32,
    /// A wake-up is on its way to it.
    pub pending: u32,
    /// Utilisation by RT tasks.
    pub util_rt: u32,
    /// Utilisation by deadline tasks.
    pub util_dl: u32,
    /// Utilisation by interrupts.
    pub util_irq: u32,
    /// Of its queued tasks.
    pub uclamp_min: u32,
    /// Of its queued tasks.
    pub uclamp_max: u32,
    /// Of its last-level cache: CPUs that are busy.
    pub nr_busy_cpus: u32,
    /// Of its last-level cache: some core may be idle.
    pub has_idle_cores: u32,
    /// Of its last-level cache: CPUs that are worth a look.
    pub nr_idle_scan: u32,
    /// Sleepers that its queue keeps, in `nr_running`.
    pub nr_delayed: u32,
    /// What limits of the hardware or of cpufreq take of `capacity_orig`.
    pub pressure: u32,
    /// No task is queued that its hints could come from.
    pub uclamp_idle: u32,
    /// Levels of scheduling domains that are told.
    pub nr_levels: u32,
    /// Load of a task that is too big for it.
    pub misfit_load: u32,
    /// Its group in each of them, the lowest first.
    pub groups: [Group; LEVELS],
    /// How long it is idle on average.
    pub avg_idle_ns: u64,
    /// When it last became idle; 0: it is not, or nobody noted it.
    pub idle_stamp_ns: u64,
    /// What an idle search of its cache takes on average, to 6.5.
    pub scan_cost_ns: u64,
}

/// What the rules remember of a task, or of who wakes it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Party {
    /// `load_avg`.
    pub load: u32,
    /// Of the whole CPU, as balancing counts it.
    pub h_load: u32,
    /// Of its nice value.
    pub weight: u32,
    /// It is of `SCHED_IDLE`.
    pub idle_policy: u32,
    /// How often it woke another task than before.
    pub wakee_flips: u32,
    /// Whom it woke last, or [`NONE`].
    pub last_wakee: u32,
    /// Where it ran before.
    pub recent_used_cpu: u32,
    #[doc(hidden)]
    pub unused: u32,
    /// Since `wakee_flips` were last halved.
    pub flip_age_ns: u64,
}

/// A performance domain as a decision found it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Energy {
    /// Of the domain.
    pub first_cpu: u32,
    /// The allowed CPU with the most capacity left, or [`NONE`].
    pub best_cpu: u32,
    /// `em_cpu_energy()` without the task.
    pub without: u64,
    /// With it on that CPU.
    pub with: u64,
}

impl Energy {
    /// The allowed CPU with the most capacity left, if there is an allowed one.
    #[must_use]
    pub fn best(&self) -> Option<u32> {
        (self.best_cpu != NONE).then_some(self.best_cpu)
    }
}

#[repr(C)]
pub struct RawDecision {
    pub facts: Facts,
    pub nr_choices: u32,
    pub nr_energies: u32,
    pub party: Party,
    pub waking: Party,
    pub choices: *const Choice,
    pub energies: *const Energy,
}

/// What is known of a decision without its candidates.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// For whom a CPU was chosen.
    pub task: u32,
    /// Who ran where it was decided.
    pub waker: u32,
    /// Where it was decided.
    pub cpu: u32,
    /// Where the task was before.
    pub prev: u32,
    /// The CPU that was chosen.
    pub answer: u32,
    /// Why it was asked: 0 a wake-up, 1 a fork, 2 an exec, 3 something else.
    pub why: u32,
    /// The kernel's own.
    pub flags: u32,
    /// A CPU of the root domain was over its tipping point.
    pub overutilized: u32,
    /// Of the task.
    pub util: u32,
    /// Of the task.
    pub util_est: u32,
    /// Of the task, if all was asked for.
    pub uclamp_min: u32,
    /// Of the task, if all was asked for.
    pub uclamp_max: u32,
    /// The root domain has performance domains and is not overutilized.
    pub energy_aware: u32,
    /// It was decided in an interrupt.
    pub in_interrupt: u32,
    /// The waker is about to sleep.
    pub sync: u32,
    /// Who ran there is a kernel thread that may use this CPU only.
    pub waker_pinned: u32,
    /// `runnable_avg` of the task.
    pub runnable: u32,
    /// The task has not been on a queue yet.
    pub is_new: u32,
}

/// How a task is scheduled, in the kernel's own numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attr {
    /// `SCHED_*`.
    pub policy: u32,
    /// Of a fair task.
    pub nice: i32,
    /// Of an RT task.
    pub priority: u32,
    /// `SCHED_FLAG_*`.
    pub flags: u32,
    /// Of a deadline task.
    pub runtime: u64,
    /// Of a deadline task.
    pub deadline: u64,
    /// Of a deadline task.
    pub period: u64,
    /// Used with `SCHED_FLAG_UTIL_CLAMP_MIN`.
    pub util_min: u32,
    /// Used with `SCHED_FLAG_UTIL_CLAMP_MAX`.
    pub util_max: u32,
}

#[repr(C)]
pub struct RawCall {
    pub op: u32,
    pub task: u32,
    pub cpu: u32,
    pub group: u32,
    pub number: u32,
    pub sync: u32,
    pub at: u64,
    pub slack: u64,
    pub attr: *const Attr,
    pub mask: *const u64,
    pub name: *const c_char,
    pub value: *const c_char,
    pub ticket: u64,
}

/// A CPU for observers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kernel's own words")]
pub struct CpuState {
    pub util: u32,
    pub util_est: u32,
    pub runnable: u32,
    pub capacity: u32,
    pub capacity_orig: u32,
    pub nr_running: u32,
    pub util_rt: u32,
    pub util_dl: u32,
    pub util_irq: u32,
    pub overutilized: u32,
    pub online: u32,
    pub khz: u32,
    pub tick_stopped: u32,
}

/// A task for observers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kernel's own words")]
pub struct TaskState {
    pub util: u32,
    pub util_est: u32,
    pub runnable: u32,
    pub cpu: u32,
    pub on_rq: u32,
    pub state: u32,
    pub policy: u32,
    pub priority: u32,
    pub nice: i32,
    pub uclamp_min: u32,
    pub uclamp_max: u32,
    pub group: u32,
    pub vruntime: u64,
    pub deadline: u64,
    pub runtime_ns: u64,
    pub slice_ns: u64,
}

/// What a kernel asks of its host.
#[repr(C)]
pub struct HostTable {
    pub abi: u32,
    pub unused: u32,
    pub data: *mut c_void,
    pub alloc: unsafe extern "C" fn(*mut c_void, u64, u64) -> *mut c_void,
    pub free: unsafe extern "C" fn(*mut c_void, *mut c_void),
    pub stack: unsafe extern "C" fn(*mut c_void, u64) -> *mut c_void,
    pub stack_free: unsafe extern "C" fn(*mut c_void, *mut c_void, u64),
    pub log: unsafe extern "C" fn(*mut c_void, u32, *const c_char),
    pub warned: unsafe extern "C" fn(*mut c_void, *const c_char),
    pub fault: unsafe extern "C" fn(*mut c_void, u32, *const c_char),
    pub frequency: unsafe extern "C" fn(*mut c_void, u32, u32),
    pub placed: Option<unsafe extern "C" fn(*mut c_void, *const RawDecision)>,
    pub done: unsafe extern "C" fn(*mut c_void, u64, i64),
    pub signal: Option<unsafe extern "C" fn(*mut c_void, *const Signal)>,
    pub requested: Option<unsafe extern "C" fn(*mut c_void, *const RawRequest)>,
    pub turned: Option<unsafe extern "C" fn(*mut c_void, *const RawTurn)>,
    pub balanced: Option<unsafe extern "C" fn(*mut c_void, *const RawBalance)>,
}

/// A struct's name, a field's, the struct's size and the field's offset, bytes.
pub type Row = (&'static str, &'static str, usize, usize);

/// A row of a struct and a field of it, both in the header's words first.
macro_rules! row {
    ($name:literal, $field:literal, $type:ty, $member:ident) => {
        (
            $name,
            $field,
            std::mem::size_of::<$type>(),
            std::mem::offset_of!($type, $member),
        )
    };
}
pub(crate) use row;

/// Each struct with its size and the offset of its last field, in the header's words.
#[must_use]
pub fn layout() -> Vec<Row> {
    let mut rows = vec![
        row!("wpk_opp", "uw", Opp, uw),
        row!("wpk_domain", "boot_khz", Domain, boot_khz),
        row!("wpk_idle_state", "flags", IdleState, flags),
        row!("wpk_idle_table", "nr_states", IdleTable, nr_states),
        row!("wpk_machine_cpu", "idle", MachineCpu, idle),
        row!("wpk_coherence", "ipi_ns", Coherence, ipi_ns),
        row!("wpk_line_use", "lock_ps", RawUse, lock_ps),
        row!("wpk_machine", "now_ns", Machine, now_ns),
        row!("wpk_cpu", "ticks", Cpu, ticks),
        row!("wpk_cpu", "changed", Cpu, changed),
        row!("wpk_cpu", "sent_ns", Cpu, sent_ns),
        row!("wpk_view", "rcu_callbacks", View, rcu_callbacks),
        row!("wpk_view", "detail", View, detail),
        row!("wpk_view", "paths", View, paths),
        row!("wpk_went", "cpu", Went, cpu),
        row!("wpk_paths", "cpu", RawPaths, cpu),
        row!("wpk_paths", "went", RawPaths, went),
        row!("wpk_cpu", "access_ps", Cpu, access_ps),
        row!("wpk_choice", "idle_stamp_ns", Choice, idle_stamp_ns),
        row!("wpk_choice", "allowed", Choice, allowed),
        row!("wpk_party", "flip_age_ns", Party, flip_age_ns),
        row!("wpk_energy", "with", Energy, with),
        row!("wpk_decision", "energies", RawDecision, energies),
        row!("wpk_decision", "nr_choices", RawDecision, nr_choices),
        row!("wpk_host", "balanced", HostTable, balanced),
        row!("wpk_host", "frequency", HostTable, frequency),
        row!("wpk_attr", "util_max", Attr, util_max),
        row!("wpk_call", "ticket", RawCall, ticket),
        row!("wpk_cpu_state", "tick_stopped", CpuState, tick_stopped),
        row!("wpk_task_state", "slice_ns", TaskState, slice_ns),
        row!("wpk_task_state", "group", TaskState, group),
        row!("wpk_avg", "util_est_ewma", Avg, util_est_ewma),
        row!("wpk_queue", "removed_runnable", Queue, removed_runnable),
        row!("wpk_signal", "queue_after", Signal, queue_after),
        row!("wpk_signal", "capacity_orig", Signal, capacity_orig),
        row!(
            "wpk_demand",
            "iowait_pending_after",
            Demand,
            iowait_pending_after
        ),
        row!("wpk_demand", "last_update_ns", Demand, last_update_ns),
        row!("wpk_governor", "in_progress", Governor, in_progress),
        row!("wpk_request", "cpus", RawRequest, cpus),
    ];
    rows.extend(crate::turns::layout());
    rows.extend(crate::balances::layout());
    rows
}

//! What a program may read of tasks and CPUs (docs/rules/sched-ext.md#rq-clocks,
//! docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: what is here the foreign loader writes into the structs that programs read
//! (crates/foreign/src/kernel): a new fact is written there. Times are ns. Free: further facts.
//!
//! Tests by part: crates/sched-ext/tests/all/kernel.rs::`tasks_are_found_by_pid` (`TaskFacts`),
//! crates/engine/tests/behaviour/sched_ext/clocks.rs::`clocks_advance_by_the_time_that_a_task_runs`
//! (`RqClock`),
//! crates/sched-ext/tests/all/idle.rs::`whole_cores_come_first_and_near_ones_before_far_ones`
//! (`CpuFacts`). `seldom_changing` has no test of its own: a field that it lacks is shown too late
//! in programs' tasks.
//!
//! Callers: crates/foreign/src/kernel/state.rs (`seldom_changing`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does

use crate::{CgroupId, TaskId};

/// Who schedules a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// The scheduler.
    #[default]
    Ext,
    /// The kernel's fair class: with `SCX_OPS_SWITCH_PARTIAL`, or `disallow`.
    Fair,
    /// Real-time.
    Rt,
    /// Deadline.
    Deadline,
}

/// A task. What the kernel keeps up to date; a program may write `slice_ns` and `dsq_vtime` only,
/// by `Kernel::set_slice_ns` and `Kernel::set_dsq_vtime`.
#[derive(Clone, Debug, Default)]
pub struct TaskFacts {
    /// Goes up with each change of what seldom changes, CPUs included; at first 1.
    pub changes: u32,
    /// `pid`, not zero.
    pub pid: i32,
    /// `tgid`: the pid of the leader.
    pub tgid: i32,
    /// `comm`, ended by zero.
    pub comm: [u8; 16],
    /// `group_leader`; None: itself.
    pub group_leader: Option<TaskId>,
    /// `real_parent`; None: a task outside of the run (init).
    pub real_parent: Option<TaskId>,
    /// `flags`: `PF_*`.
    pub flags: u32,
    /// `__state`: 0 can run, 1 sleeps.
    pub state: u32,
    /// `policy`: 0 normal, 1 FIFO, 2 RR, 3 batch, 5 idle, 6 deadline.
    pub policy: u32,
    /// `static_prio`: 120 + nice.
    pub static_prio: i32,
    /// `prio`: that of RT and deadline tasks is below 100.
    pub prio: i32,
    /// Who schedules it.
    pub class: Class,
    /// `mm` is not null: it runs a program.
    pub has_mm: bool,
    /// Its cgroup.
    pub cgroup: CgroupId,
    /// `scx.weight`: 1..=10000, 100 = nice 0.
    pub weight: u32,
    /// `scx.flags`.
    pub scx_flags: u32,
    /// `scx.slice`.
    pub slice_ns: u64,
    /// `scx.dsq_vtime`.
    pub dsq_vtime: u64,
    /// `se.sum_exec_runtime`, up to the start of the callback.
    pub sum_exec_runtime_ns: u64,
    /// Ticks that found it running: each counts as a tick of user time (`utime`).
    pub ticks: u64,
    /// `start_time`.
    pub start_time_ns: u64,
    /// `nvcsw`: how often it slept.
    pub nvcsw: u64,
    /// `nivcsw`: how often it was displaced.
    pub nivcsw: u64,
    /// `thread_info.cpu`: where it is or was last.
    pub cpu: u32,
    /// `wake_cpu`.
    pub wake_cpu: u32,
    /// `on_cpu`: it executes.
    pub on_cpu: bool,
    /// `on_rq`: it can run.
    pub on_rq: bool,
    /// `nr_cpus_allowed`. The mask: `Kernel::task_cpus`.
    pub nr_cpus_allowed: u32,
    /// `migration_disabled`: it may not leave its CPU now.
    pub migration_disabled: bool,
}

impl TaskFacts {
    /// What a task keeps for long, to be compared: what `changes` counts, but for CPUs. All else
    /// changes with each stretch that it runs.
    #[must_use]
    pub fn seldom_changing(&self) -> impl PartialEq + use<> {
        let who = (self.pid, self.tgid, self.comm, self.start_time_ns);
        let related = (self.real_parent, self.group_leader, self.cgroup);
        let how = (self.policy, self.static_prio, self.prio, self.weight);
        let may = (
            self.flags,
            self.has_mm,
            self.nr_cpus_allowed,
            self.migration_disabled,
        );
        (who, related, how, may)
    }
}

/// A CPU: its place in the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuFacts {
    /// `cpu_scale`, 1024 = the biggest.
    pub capacity: u32,
    /// First CPU that shares its last-level cache.
    pub llc: u32,
    /// First CPU of its core.
    pub core: u32,
    /// First CPU of its cluster.
    pub cluster: u32,
    /// NUMA node.
    pub node: u32,
    /// `cpufreq` policy: the frequency domain's number.
    pub freq_domain: u32,
    /// It is in the machine now.
    pub online: bool,
}

/// The clocks of a CPU's `struct rq`, as of its last update: at each of its callbacks, and before
/// at whatever happened to it last (docs/rules/sched-ext.md#rq-clocks). In ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RqClock {
    /// `clock`.
    pub clock_ns: u64,
    /// `clock_task`: without interrupts.
    pub clock_task_ns: u64,
    /// `clock_pelt`: by capacity and frequency; of an idle CPU it is `clock_task`.
    pub clock_pelt_ns: u64,
    /// `lost_idle_time`.
    pub lost_idle_ns: u64,
}

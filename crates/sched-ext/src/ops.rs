//! The callbacks of a scheduler (`struct sched_ext_ops`). Their order is
//! docs/rules/sched-ext.md#tasks; `crates/foreign/src/instance.rs` runs a program for each.
//!
//! What must stay: names are the members of `struct sched_ext_ops`. An implementation that lacks a
//! callback answers as a kernel without it: the defaults below. Free: further callbacks of later
//! kernels, with their default.
//!
//! Tests by part: crates/cli/tests/all/callbacks.rs::`of_a_ping_pong` (which callbacks come, and in
//! which order), life.rs::`weights_are_told_when_they_change` (`set_weight`, `cgroup_move`),
//! life.rs::`a_cpu_is_released_after_a_sleep_too` (`cpu_acquire`, `cpu_release`),
//! crates/sched-ext/tests/all/again.rs::`the_tasks_run_queue_is_locked` (`init`, `init_task`,
//! `select_cpu`, `enqueue`, `dispatch`, `running`, `update_idle`, `timer`),
//! crates/sched-ext/tests/all/table.rs::`a_name_is_needed` (`OpsInfo`),
//! table.rs::`the_last_one_is_enqueued_by_a_callback` (`with`, `has`), wild.rs by
//! storms.rs::`a_wild_scheduler_loses_nobody` (`dequeue`, `tick`, `runnable`, `stopping`,
//! `quiescent`, `yield_task`, `set_cpumask`, `exit_task`, `enable`, `disable`),
//! crates/cli/tests/all/schedulers.rs::`cids_leave_and_come_back` (`init_cids`, `cpu_online`,
//! `cpu_offline`), schedulers.rs::`a_loader_runs_in_virtual_time` (`loader`). `exit`,
//! `cgroup_init`, `is_called` and callbacks that end cgroups (`cgroup_exit`, `cgroup_prep_move`,
//! `cgroup_cancel_move`, `cgroup_set_weight`) have no test. `name`, `from_iter` and `info` have no
//! test of their own.
//!
//! Callers: crates/sched-ext/src/class (each callback, by `call`).
//!
//! Tests: crates/sched-ext/tests/all/life.rs, crates/engine/tests/behaviour/sched_ext/wild.rs

use crate::{CgroupId, Exit, Kernel, TaskId, TimerId};

macro_rules! callbacks {
    ($($(#[$about:meta])* $callback:ident = $name:literal,)*) => {
        /// One callback.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the names of struct sched_ext_ops")]
        pub enum Callback {
            $($(#[$about])* $callback,)*
        }

        impl Callback {
            /// All of them.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$callback,)*];

            /// Gives the callback's name in `struct sched_ext_ops`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$callback => $name,)* }
            }
        }
    };
}

callbacks! {
    SelectCpu = "select_cpu",
    Enqueue = "enqueue",
    Dequeue = "dequeue",
    Dispatch = "dispatch",
    Tick = "tick",
    Runnable = "runnable",
    Running = "running",
    Stopping = "stopping",
    Quiescent = "quiescent",
    Yield = "yield",
    SetWeight = "set_weight",
    SetCpumask = "set_cpumask",
    UpdateIdle = "update_idle",
    CpuAcquire = "cpu_acquire",
    CpuRelease = "cpu_release",
    InitTask = "init_task",
    ExitTask = "exit_task",
    Enable = "enable",
    Disable = "disable",
    CgroupInit = "cgroup_init",
    CgroupExit = "cgroup_exit",
    CgroupPrepMove = "cgroup_prep_move",
    CgroupMove = "cgroup_move",
    CgroupCancelMove = "cgroup_cancel_move",
    CgroupSetWeight = "cgroup_set_weight",
    CpuOnline = "cpu_online",
    CpuOffline = "cpu_offline",
    InitCids = "init_cids",
    Init = "init",
    Exit = "exit",
    /// A `bpf_timer` of the scheduler's: no member of the table, but code of it that runs.
    Timer = "timer",
    /// The process that has loaded the scheduler goes on: no member either.
    Loader = "loader",
}

impl Callback {
    /// How many there are.
    pub const COUNT: usize = Self::Loader as usize + 1;

    /// Does the kernel modelled here call it? Cgroups neither end nor change, and their moves are
    /// not taken back (docs/rules/sched-ext.md#kfuncs).
    #[must_use]
    pub fn is_called(self) -> bool {
        let never = [
            Self::CgroupExit,
            Self::CgroupCancelMove,
            Self::CgroupSetWeight,
        ];
        !never.contains(&self)
    }
}

/// A set of callbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Callbacks(u32);

impl Callbacks {
    /// None.
    pub const NONE: Self = Self(0);

    /// Gives the set with one more callback.
    #[must_use]
    pub const fn with(self, callback: Callback) -> Self {
        Self(self.0 | 1 << callback as u8)
    }

    /// Is it one of them?
    #[must_use]
    #[inline]
    pub const fn has(self, callback: Callback) -> bool {
        self.0 >> callback as u8 & 1 != 0
    }
}

impl FromIterator<Callback> for Callbacks {
    fn from_iter<I: IntoIterator<Item = Callback>>(callbacks: I) -> Self {
        callbacks.into_iter().fold(Self::NONE, Self::with)
    }
}

/// What the table says beside the callbacks. Asked once, at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpsInfo {
    /// `name`.
    pub name: String,
    /// `flags`: `SCX_OPS_*`.
    pub flags: u64,
    /// `timeout_ms`; 0: the kernel's.
    pub timeout_ms: u32,
    /// `dispatch_max_batch`; 0: the kernel's.
    pub dispatch_max_batch: u32,
    /// `sub_cgroup_id`, from 7.2 on; above 1 it is the cgroup whose tasks the scheduler wants.
    pub sub_cgroup_id: u64,
    /// The callbacks that are there.
    pub callbacks: Callbacks,
    /// The kernel whose interface it was built for, such as (6, 12); (0, 0): the newest.
    pub kernel: (u16, u16),
}

/// How a task came (`struct scx_init_task_args`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// It was there when the scheduler was loaded.
    Existing,
    /// It was forked since.
    Forked,
}

/// Who took a CPU from the scheduler (`enum scx_cpu_preempt_reason`), with the kernel's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseReason {
    /// A real-time task.
    Rt = 0,
    /// A deadline task.
    Deadline = 1,
    /// The stopper.
    Stop = 2,
    /// Something else.
    Unknown = 3,
}

/// The callbacks. Only those of `OpsInfo::callbacks` are called. An `Err` ends the scheduler as an
/// exit that was recorded does; what a program says by kfuncs is recorded by `Kernel::exit`.
#[allow(unused_variables)]
pub trait SchedExtOps {
    /// The rest of the table.
    fn info(&self) -> OpsInfo;

    /// The CPU for a task that wakes or is new.
    fn select_cpu(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        prev_cpu: i32,
        wake_flags: u64,
    ) -> Result<i32, Exit> {
        Ok(prev_cpu)
    }
    /// The task can run and is the scheduler's to queue.
    fn enqueue(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        enq_flags: u64,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// A task that the scheduler holds leaves.
    fn dequeue(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        deq_flags: u64,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// The CPU needs tasks; `prev`: what ran there, if it is the scheduler's. It may have gone to
    /// sleep: then it is not `SCX_TASK_QUEUED`.
    fn dispatch(
        &mut self,
        kernel: &mut dyn Kernel,
        cpu: i32,
        prev: Option<TaskId>,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// A tick of the running task.
    fn tick(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        Ok(())
    }
    /// The task becomes runnable on its CPU.
    fn runnable(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        enq_flags: u64,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// The task begins to execute on its CPU.
    fn running(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        Ok(())
    }
    /// It stops executing; `runnable`: it can go on.
    fn stopping(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        runnable: bool,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// It is no longer runnable on its CPU.
    fn quiescent(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        deq_flags: u64,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// `from` yields, to `to` if there is one. Returns whether it did (matters with `to` only).
    fn yield_task(
        &mut self,
        kernel: &mut dyn Kernel,
        from: TaskId,
        to: Option<TaskId>,
    ) -> Result<bool, Exit> {
        Ok(false)
    }
    /// The task has this weight now.
    fn set_weight(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        weight: u32,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// It may use the CPUs of `Kernel::task_cpus` now.
    fn set_cpumask(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        Ok(())
    }
    /// The CPU goes idle, or no longer is.
    fn update_idle(&mut self, kernel: &mut dyn Kernel, cpu: i32, idle: bool) -> Result<(), Exit> {
        Ok(())
    }
    /// The CPU is the scheduler's again.
    fn cpu_acquire(&mut self, kernel: &mut dyn Kernel, cpu: i32) -> Result<(), Exit> {
        Ok(())
    }
    /// A higher class took the CPU; `task`: who.
    fn cpu_release(
        &mut self,
        kernel: &mut dyn Kernel,
        cpu: i32,
        reason: ReleaseReason,
        task: Option<TaskId>,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// A task comes. Not 0: refused, a negative errno.
    fn init_task(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        started: Started,
        cgroup: CgroupId,
    ) -> Result<i32, Exit> {
        Ok(0)
    }
    /// A task goes; `cancelled`: it never ran.
    fn exit_task(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        cancelled: bool,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// From now on the scheduler schedules it.
    fn enable(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        Ok(())
    }
    /// The scheduler schedules the task no longer: it has another class, or ends.
    fn disable(&mut self, kernel: &mut dyn Kernel, task: TaskId) -> Result<(), Exit> {
        Ok(())
    }
    /// A cgroup comes, with its `cpu.weight`. Not 0: refused, a negative errno.
    fn cgroup_init(
        &mut self,
        kernel: &mut dyn Kernel,
        cgroup: CgroupId,
        weight: u32,
    ) -> Result<i32, Exit> {
        Ok(0)
    }
    /// A cgroup goes, or the scheduler ends.
    fn cgroup_exit(&mut self, kernel: &mut dyn Kernel, cgroup: CgroupId) -> Result<(), Exit> {
        Ok(())
    }
    /// A task is about to move between cgroups. Not 0: refused.
    fn cgroup_prep_move(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        from: CgroupId,
        to: CgroupId,
    ) -> Result<i32, Exit> {
        Ok(0)
    }
    /// The task moves to cgroup `to`, as `cgroup_prep_move` has agreed.
    fn cgroup_move(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        from: CgroupId,
        to: CgroupId,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// The move that `cgroup_prep_move` has agreed to does not happen.
    fn cgroup_cancel_move(
        &mut self,
        kernel: &mut dyn Kernel,
        task: TaskId,
        from: CgroupId,
        to: CgroupId,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// A cgroup's `cpu.weight`.
    fn cgroup_set_weight(
        &mut self,
        kernel: &mut dyn Kernel,
        cgroup: CgroupId,
        weight: u32,
    ) -> Result<(), Exit> {
        Ok(())
    }
    /// The CPU comes back, and needs tasks.
    fn cpu_online(&mut self, kernel: &mut dyn Kernel, cpu: i32) -> Result<(), Exit> {
        Ok(())
    }
    /// The CPU leaves: no task is dispatched to it any more.
    fn cpu_offline(&mut self, kernel: &mut dyn Kernel, cpu: i32) -> Result<(), Exit> {
        Ok(())
    }
    /// Before `init`: it may number the CPUs itself. Not 0: refused, a negative errno.
    fn init_cids(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        Ok(0)
    }
    /// The scheduler is loaded. Not 0: refused, a negative errno.
    fn init(&mut self, kernel: &mut dyn Kernel) -> Result<i32, Exit> {
        Ok(0)
    }
    /// It ends, of `exit`; the last callback.
    fn exit(&mut self, kernel: &mut dyn Kernel, exit: &Exit) -> Result<(), Exit> {
        Ok(())
    }
    /// A timer fires (`Kernel::timer_start`).
    fn timer(&mut self, kernel: &mut dyn Kernel, timer: TimerId) -> Result<(), Exit> {
        Ok(())
    }
    /// The loader goes on: at time 0, when the scheduler is loaded, and when it asked for
    /// (`Kernel::loader_at`).
    fn loader(&mut self, kernel: &mut dyn Kernel) -> Result<(), Exit> {
        Ok(())
    }
}

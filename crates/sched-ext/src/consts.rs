//! Numbers of the interface of sched_ext, as 6.12 has them (include/linux/sched/ext.h and
//! kernel/sched/ext_internal.h; docs/rules/sched-ext.md).
//!
//! Two of them follow the kernel's own flags and are others in later kernels: `SCX_ENQ_HEAD` and
//! `SCX_ENQ_CPU_SELECTED`. Programs read them from the kernel's type information, so who runs a
//! program for another kernel translates these two.
//!
//! What must stay: the numbers are the kernel's: programs are compiled with them.
//! crates/foreign/src/kernel/layout.rs reads the two that differ. Free: further numbers of the
//! kernel's.
//!
//! Tests: crates/sched-ext/tests/all/immed.rs, crates/sched-ext/tests/all/table.rs,
//! crates/cli/tests/all/callbacks.rs

/// Bit of the queues that the kernel has.
pub const SCX_DSQ_FLAG_BUILTIN: u64 = 1 << 63;
/// Bit of `SCX_DSQ_LOCAL_ON | cpu`.
pub const SCX_DSQ_FLAG_LOCAL_ON: u64 = 1 << 62;
/// No queue.
pub const SCX_DSQ_INVALID: u64 = SCX_DSQ_FLAG_BUILTIN;
/// The global queue.
pub const SCX_DSQ_GLOBAL: u64 = SCX_DSQ_FLAG_BUILTIN | 1;
/// The local queue of the CPU in question.
pub const SCX_DSQ_LOCAL: u64 = SCX_DSQ_FLAG_BUILTIN | 2;
/// The local queue of the CPU in the low bits.
pub const SCX_DSQ_LOCAL_ON: u64 = SCX_DSQ_FLAG_BUILTIN | SCX_DSQ_FLAG_LOCAL_ON;
/// The CPU of `SCX_DSQ_LOCAL_ON`.
pub const SCX_DSQ_LOCAL_CPU_MASK: u64 = 0xffff_ffff;

/// The slice that the kernel gives, ns.
pub const SCX_SLICE_DFL: u64 = 20_000_000;
/// A slice that does not end.
pub const SCX_SLICE_INF: u64 = u64::MAX;

/// The task has just become runnable.
pub const SCX_ENQ_WAKEUP: u64 = 0x01;
/// At the head of a queue.
pub const SCX_ENQ_HEAD: u64 = 0x10;
/// `select_cpu` was called for this enqueue.
pub const SCX_ENQ_CPU_SELECTED: u64 = 0x400;
/// Displace what runs on the CPU whose local queue it goes to.
pub const SCX_ENQ_PREEMPT: u64 = 1 << 32;
/// Into a local queue: it runs at once, or is enqueued again (7.1).
pub const SCX_ENQ_IMMED: u64 = 1 << 33;
/// Taken back from a local queue.
pub const SCX_ENQ_REENQ: u64 = 1 << 40;
/// It is the only runnable task of its CPU.
pub const SCX_ENQ_LAST: u64 = 1 << 41;

/// `deq_flags`: the task goes to sleep.
pub const SCX_DEQ_SLEEP: u64 = 0x01;

/// `deq_flags`: something of the task changes, or it moves (7.1).
pub const SCX_DEQ_SCHED_CHANGE: u64 = 1 << 33;

/// `wake_flags`: it runs another program.
pub const SCX_WAKE_EXEC: u64 = 0x02;
/// It was just created.
pub const SCX_WAKE_FORK: u64 = 0x04;
/// It wakes.
pub const SCX_WAKE_TTWU: u64 = 0x08;
/// The waker says that it will sleep soon.
pub const SCX_WAKE_SYNC: u64 = 0x10;

/// Kick: only if it is idle.
pub const SCX_KICK_IDLE: u64 = 1 << 0;
/// Kick: the running task's slice ends.
pub const SCX_KICK_PREEMPT: u64 = 1 << 1;
/// Kick: wait until the CPU has rescheduled.
pub const SCX_KICK_WAIT: u64 = 1 << 2;

/// Pick: only CPUs whose whole core is idle.
pub const SCX_PICK_IDLE_CORE: u64 = 1 << 0;
/// Pick: only CPUs of the node given.
pub const SCX_PICK_IDLE_IN_NODE: u64 = 1 << 1;

/// The kernel keeps the idle masks although there is `update_idle`.
pub const SCX_OPS_KEEP_BUILTIN_IDLE: u64 = 1 << 0;
/// A task that has used up its slice is enqueued although no other waits.
pub const SCX_OPS_ENQ_LAST: u64 = 1 << 1;
/// Exiting tasks are enqueued like others.
pub const SCX_OPS_ENQ_EXITING: u64 = 1 << 2;
/// Only tasks of policy SCHED_EXT are the scheduler's.
pub const SCX_OPS_SWITCH_PARTIAL: u64 = 1 << 3;
/// Tasks that may not migrate are enqueued like others (6.14).
pub const SCX_OPS_ENQ_MIGRATION_DISABLED: u64 = 1 << 4;
/// Wake-ups by the wake list are allowed (6.15).
pub const SCX_OPS_ALLOW_QUEUED_WAKEUP: u64 = 1 << 5;
/// Idle masks per node (6.15).
pub const SCX_OPS_BUILTIN_IDLE_PER_NODE: u64 = 1 << 6;
/// All insertions into local queues are as with `SCX_ENQ_IMMED` (7.1).
pub const SCX_OPS_ALWAYS_ENQ_IMMED: u64 = 1 << 7;
/// Tasks are found by `scx.tid` (7.1).
pub const SCX_OPS_TID_TO_TASK: u64 = 1 << 8;
/// All flags that some kernel has. The one that is not above is weights of cgroups (to 6.18,
/// bit 16).
pub const SCX_OPS_ALL_FLAGS: u64 = 0x1ff | 1 << 16;

/// `scx.flags`: on its run queue.
pub const SCX_TASK_QUEUED: u32 = 1 << 0;
/// `scx.flags`: its time of waiting counts anew from the next enqueue on.
pub const SCX_TASK_RESET_RUNNABLE_AT: u32 = 1 << 2;
/// `scx.flags`: its last dequeue was for sleep.
pub const SCX_TASK_DEQD_FOR_SLEEP: u32 = 1 << 3;
/// `scx.flags`: it came into a local queue with `SCX_ENQ_IMMED`, until it is enqueued anew (7.1).
pub const SCX_TASK_IMMED: u32 = 1 << 5;
/// `scx.flags`: why it is enqueued again (7.1).
pub const SCX_TASK_REENQ_REASON_MASK: u32 = 7 << 12;
/// A kfunc asked for it.
pub const SCX_TASK_REENQ_KFUNC: u32 = 1 << 12;
/// It could not run at once.
pub const SCX_TASK_REENQ_IMMED: u32 = 2 << 12;
/// A higher class took its CPU.
pub const SCX_TASK_REENQ_PREEMPTED: u32 = 3 << 12;

/// Looks at one local queue in a row for tasks that cannot run at once.
pub const SCX_REENQ_LOCAL_MAX_REPEAT: u32 = 256;

/// Tasks are enqueued again for no special reason (`scx_bpf_dsq_reenq`).
pub const SCX_REENQ_ANY: u64 = 1 << 0;
/// Iterate over a queue from its tail (`bpf_iter_scx_dsq_new`).
pub const SCX_DSQ_ITER_REV: u64 = 1 << 16;

/// Tasks that one `dispatch` may insert where the scheduler does not say (`dispatch_max_batch`).
pub const SCX_DSP_DFL_MAX_BATCH: u32 = 32;
/// Calls of `dispatch` in a row before the CPU does something else.
pub const SCX_DSP_MAX_LOOPS: u32 = 32;
/// The longest that a runnable task may wait, ms: default and most of `timeout_ms`.
pub const SCX_WATCHDOG_MAX_TIMEOUT_MS: u32 = 30_000;

/// `task_struct::flags`: a CPU's idle task.
pub const PF_IDLE: u32 = 0x0000_0002;
/// It is exiting.
pub const PF_EXITING: u32 = 0x0000_0004;
/// A kernel thread.
pub const PF_KTHREAD: u32 = 0x0020_0000;

/// errno values that kfuncs return, negated.
pub const ENOENT: i32 = 2;
/// No such device.
pub const ENODEV: i32 = 19;
/// It is busy.
pub const EBUSY: i32 = 16;
/// It is there.
pub const EEXIST: i32 = 17;
/// Not valid.
pub const EINVAL: i32 = 22;

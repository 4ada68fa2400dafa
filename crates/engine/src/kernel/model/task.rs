//! What the model keeps of a task, beside the core's record of it. What a script says of a thread
//! becomes the core's words here, in one place (docs/guide/rt-app.md, "Attributes").
//!
//! What must stay: ids of records count from 1 and are the thread's index plus 1, since 0 is the
//! core's "nobody". Order: scripts, parent, shell, kernel threads, then forked ones. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! fair.rs::`nice_0_and_nice_5_share_1024_to_335` (weights, `core_task`),
//! classes.rs::`priorities_displace_fair_tasks_and_each_other` (`realtime`),
//! classes.rs::`wake_here` (`of_script`), groups.rs::`groups_share_by_shares_not_by_tasks`
//! (`task_states`), sched_cache.rs::`threads_of_a_process_come_together` (`process`),
//! eevdf.rs::`an_idle_policy_hog_gets_3_of_1027` (`idle_policy`), all of these (`new`,
//! `core_tasks`).
//!
//! Callers: mod.rs (`task_states`, `core_tasks`), fork.rs (`core_task`).
//!
//! Tests: crates/engine/tests/behaviour/fair.rs, crates/engine/tests/behaviour/classes.rs,
//! crates/engine/tests/behaviour/groups.rs

use super::kthreads::Kthreads;
use crate::ids::CpuId;
use wakeplace_kernel_queues::task_weight;
use wakeplace_policy_sys::Task;
use wakeplace_workload::{FairPolicy, RealTime, TaskScript, Workload};

/// A wake-up that takes time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wakeup {
    /// The CPU that carries it out.
    pub(super) by: CpuId,
    /// On behalf of an interrupt, not of the task that runs there.
    pub(super) in_interrupt: bool,
    /// What comes next.
    pub(super) stage: WakeupStage,
}

/// What comes next in a wake-up that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeupStage {
    /// The task is off its old CPU: choose one.
    Select { sync: bool },
    /// The choice becomes visible: to the wake list of the chosen CPU, or to its lock.
    Queue,
    /// The lock of the chosen CPU's queue is taken.
    Activate,
}

/// One task.
#[derive(Debug)]
pub(crate) struct TaskState {
    pub(super) nice: i8,
    pub(super) policy: FairPolicy,
    /// Its own policy above the fair class; what it has by its mutexes is `Classes`'s.
    pub(super) realtime: Option<RealTime>,
    /// Its hints, if somebody gave it some.
    pub(super) uclamp: [Option<u16>; 2],
    /// Its group, also while it is above the fair class, which has none.
    pub(super) group: Option<u32>,
    /// A thread of the kernel's own, which has no process.
    pub(super) of_kernel: bool,
    /// Its process, if that has several threads.
    pub(super) process: Option<u32>,
    /// Its wakers ask for their own CPU.
    pub(super) wake_here: bool,
    /// The CPU whose timer ends its sleep.
    pub(super) timer_cpu: CpuId,
    /// Rises each time it is queued or picked: the least recently run task has the smallest.
    pub(super) recency: u64,
    /// Its wake-up is under way.
    pub(super) wake: Option<Wakeup>,
    /// Nobody sees yet that it is on its way to its CPU.
    pub(super) unseen: bool,
    /// Asleep, but until then its old CPU is busy switching it out.
    pub(super) off_cpu_ns: u64,
}

impl TaskState {
    /// A fair task as it is before it is on any queue.
    fn new(nice: i8, policy: FairPolicy) -> Self {
        Self {
            nice,
            policy,
            realtime: None,
            uclamp: [None; 2],
            group: None,
            of_kernel: false,
            process: None,
            wake_here: false,
            timer_cpu: CpuId(0),
            recency: 0,
            wake: None,
            unseen: false,
            off_cpu_ns: 0,
        }
    }

    /// A thread of a script.
    pub(super) fn of_script(script: &TaskScript) -> Self {
        Self {
            process: script.attributes.process,
            wake_here: script.attributes.wake_here,
            realtime: script.attributes.realtime,
            uclamp: [script.uclamp_min, script.uclamp_max],
            ..Self::new(script.nice, script.policy)
        }
    }
}

/// One per script, then the parent, the shell that starts it and the kernel's.
pub(super) fn task_states(workload: &Workload, kthreads: &Kthreads) -> Vec<TaskState> {
    let plain = || TaskState::new(0, FairPolicy::Other);
    let of_kernel = kthreads.realtimes().map(|realtime| TaskState {
        realtime,
        of_kernel: true,
        ..plain()
    });
    let scripts = workload.tasks.iter().map(TaskState::of_script);
    let mut states: Vec<_> = scripts.chain([plain(), plain()]).chain(of_kernel).collect();
    for (number, group) in (0..).zip(&workload.groups) {
        for member in &group.tasks {
            states[*member as usize].group = Some(number);
        }
    }
    states
}

/// The core's record of the task at this index. Ids count from 1.
pub(super) fn core_task(
    state: &TaskState,
    index: u32,
    cpu: CpuId,
    cpus: Option<&[u32]>,
    nr_cpus: u32,
) -> Task {
    let weight = task_weight(state.nice, state.policy);
    let mut task = Task::new(index + 1, weight, cpu.0, cpus, nr_cpus);
    task.raw_mut().idle_policy = u32::from(state.policy == FairPolicy::Idle);
    if !state.of_kernel {
        task.set_process(state.process);
    }
    if state.realtime.is_none() {
        task.set_group(state.group.map(|group| group as usize)); // other classes have no groups
    }
    task
}

/// The core's records of all tasks that are there at the start.
pub(super) fn core_tasks(
    workload: &Workload,
    states: &[TaskState],
    kthreads: &Kthreads,
    nr_cpus: u32,
) -> Vec<Task> {
    let first_kthread = workload.tasks.len() + 2;
    let cpus = |index: usize| match workload.tasks.get(index) {
        Some(script) => script.cpus.as_deref(),
        None => kthreads.cpus(index.checked_sub(first_kthread)?),
    };
    (0..)
        .zip(states)
        .map(|(index, state)| core_task(state, index, CpuId(0), cpus(index as usize), nr_cpus))
        .collect()
}

//! What the class keeps of a task (`struct sched_ext_entity`) (docs/rules/sched-ext.md#weights).
//!
//! What must stay: pids are `FIRST_PID` plus the task's number; programs see them. Free: further
//! fields.
//!
//! Tests by part: `weights_are_told_when_they_change` (`weight_to_cgroup`: 335 is 33),
//! crates/sched-ext/tests/all/kernel.rs::`tasks_are_found_by_pid` (`new`, `may_use`),
//! errors.rs::`direct_dispatches_of_others_and_twice` in crates/engine (`name`: `task[1000]`).
//! `is_queued` is a look: any run uses it.
//!
//! Callers: class/life.rs (`new`), engine's kernel/model/home/sched_ext.rs (`weight_to_cgroup`).
//!
//! Tests: crates/sched-ext/tests/all/life.rs::weights_are_told_when_they_change,
//! crates/engine/tests/behaviour/sched_ext/rules.rs::virtual_time_shares_by_weight

use super::dsq::{DsqRef, Key};
use crate::consts::{SCX_DSQ_INVALID, SCX_SLICE_DFL, SCX_TASK_RESET_RUNNABLE_AT};
use crate::{CgroupId, Class, TaskFacts, mask_words};

/// How far a task is known to the scheduler (`enum scx_task_state`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TaskState {
    /// Not at all.
    #[default]
    None,
    /// By `init_task`; another class schedules it.
    Ready,
    /// The scheduler schedules it.
    Enabled,
}

/// What a task is before the class knows it.
#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// `comm`, at most 15 bytes of it.
    pub name: String,
    /// -20..=19.
    pub nice: i8,
    /// `policy`.
    pub policy: u32,
    /// `prio`.
    pub prio: i32,
    /// Its weight in the fair class: 1024 = nice 0.
    pub load_weight: u32,
    /// Who schedules it.
    pub class: Class,
    /// A kernel thread.
    pub kthread: bool,
    /// The thread that is its process's leader; None: itself.
    pub group_leader: Option<crate::TaskId>,
    /// Who forked it.
    pub real_parent: Option<crate::TaskId>,
    /// Its cgroup.
    pub cgroup: CgroupId,
    /// CPUs it may use.
    pub cpus: Vec<u64>,
}

/// One task.
#[derive(Debug)]
pub(crate) struct ExtTask {
    pub(crate) facts: TaskFacts,
    pub(crate) state: TaskState,
    pub(crate) cpus: Box<[u64]>,
    /// The queue that it is in, and its place there.
    pub(crate) dsq: Option<(DsqRef, Key)>,
    /// The scheduler holds it outside of any queue (`SCX_OPSS_QUEUED`) ...
    pub(crate) held: bool,
    /// ... or in one of its own: `dequeue` is owed (`SCX_TASK_IN_CUSTODY`, 7.1).
    pub(crate) custody: bool,
    /// Which time it is queued: a dispatch that was asked for before has no claim.
    pub(crate) qseq: u64,
    /// Where a direct dispatch puts it, and its flags.
    pub(crate) ddsp_dsq: u64,
    pub(crate) ddsp_flags: u64,
    /// `select_cpu` was asked for the wake-up that is under way.
    pub(crate) cpu_selected: bool,
    /// What came of it.
    pub(crate) selected_cpu: u32,
    /// Since when it waits, ns, and in which order tasks began to.
    pub(crate) runnable_at_ns: u64,
    pub(crate) runnable_seq: u64,
    pub(crate) disallow: bool,
}

/// `sched_weight_to_cgroup`: the weight of a task or a cgroup (1024: nice 0) as schedulers see it,
/// 100 for 1024 (docs/rules/sched-ext.md#weights).
#[must_use]
pub fn weight_to_cgroup(weight: u32) -> u32 {
    ((u64::from(weight) * 100 + 512) / 1024).clamp(1, 10_000) as u32
}

impl ExtTask {
    /// Makes what the class keeps of a task, as a fork makes it. `pid`: not zero.
    pub(crate) fn new(new: &NewTask, pid: i32, tgid: i32, nr_cpus: u32, now_ns: u64) -> Self {
        let mut comm = [0; 16];
        let bytes = new.name.bytes().take(15);
        comm.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        let mut cpus = vec![0; mask_words(nr_cpus)].into_boxed_slice();
        cpus.iter_mut()
            .zip(&new.cpus)
            .for_each(|(to, from)| *to = *from);
        let facts = TaskFacts {
            changes: 1,
            pid,
            tgid,
            comm,
            group_leader: new.group_leader,
            real_parent: new.real_parent,
            flags: if new.kthread {
                crate::consts::PF_KTHREAD
            } else {
                0
            },
            state: 1,
            policy: new.policy,
            static_prio: 120 + i32::from(new.nice),
            prio: new.prio,
            class: new.class,
            has_mm: !new.kthread,
            cgroup: new.cgroup,
            weight: weight_to_cgroup(new.load_weight),
            scx_flags: SCX_TASK_RESET_RUNNABLE_AT,
            slice_ns: SCX_SLICE_DFL,
            start_time_ns: now_ns,
            nr_cpus_allowed: cpus.iter().map(|word| word.count_ones()).sum(),
            ..TaskFacts::default()
        };
        Self {
            facts,
            state: TaskState::None,
            cpus,
            dsq: None,
            held: false,
            custody: false,
            qseq: 0,
            ddsp_dsq: SCX_DSQ_INVALID,
            ddsp_flags: 0,
            cpu_selected: false,
            selected_cpu: 0,
            runnable_at_ns: now_ns,
            runnable_seq: 0,
            disallow: false,
        }
    }

    /// It is on its CPU's run queue, running or not.
    pub(crate) fn is_queued(&self) -> bool {
        self.facts.scx_flags & crate::consts::SCX_TASK_QUEUED != 0
    }

    /// Is the CPU in its mask?
    pub(crate) fn may_use(&self, cpu: u32) -> bool {
        crate::test_cpu(&self.cpus, cpu)
    }

    /// `comm[pid]`, as the kernel's messages have it.
    pub(crate) fn name(&self) -> String {
        let end = self.facts.comm.iter().position(|byte| *byte == 0);
        let comm = &self.facts.comm[..end.unwrap_or(16)];
        format!("{}[{}]", String::from_utf8_lossy(comm), self.facts.pid)
    }
}

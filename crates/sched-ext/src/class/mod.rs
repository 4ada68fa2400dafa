//! The class of sched_ext: what kernel/sched/ext.c does between the machine and a scheduler
//! (docs/rules/sched-ext.md).
//!
//! `ExtClass` is what a machine asks: a wake-up chooses a CPU, a task is queued, a CPU needs one.
//! It runs the scheduler's callbacks; these get `Scx`, which is the kernel of `Kernel`. What the
//! machine must do in turn is handed over as `Effect`s, in the order in which it was asked for.
//!
//! What must stay: effects and moves are in the order in which callbacks asked; the machine carries
//! them out after the callback. Free: how state is kept between callbacks.
//!
//! Tests by part: crates/engine/tests/behaviour/sched_ext/errors.rs::`what_a_program_says_itself`
//! (`end`, `exit`: the first end counts),
//! errors.rs::`cpus_that_a_task_may_not_use_or_that_are_not_there` (`valid_cpu`, `error`),
//! kernel.rs::`what_is_left_behind_is_counted` (`take_effects`, `set_context`),
//! crates/sched-ext/tests/all/again.rs::`the_tasks_run_queue_is_locked` (`set_context`, `context`),
//! crates/sched-ext/tests/all/life.rs::`a_cpu_is_released_after_a_sleep_too` (`rq_curr`,
//! `switch_to`), rules.rs::`cpus_take_from_the_shared_queue` (`take_moves`, `has_moves`,
//! `has_effects`). `custody_is_owed` and `change_flags` (7.1 and later) have no test of their own.
//!
//! Callers: engine's kernel/model/home/sched_ext.rs (`new`), kernel/model/sched_ext; `kernel`,
//! `info`, `task_mut` and `nr_cpus` are looks.
//!
//! Tests: crates/sched-ext/tests/all/kernel.rs, crates/engine/tests/behaviour/sched_ext/rules.rs

mod balance;
mod call;
mod dsq;
mod idle;
mod immed;
mod insert;
mod kfuncs;
mod life;
mod queue;
mod record;
mod task;
mod validate;
mod watchdog;

pub use call::{CallbackCount, Counts};
pub use queue::{Join, Leave};
pub use record::{Record, Step};
pub use task::{NewTask, weight_to_cgroup};
pub use watchdog::Stall;

use crate::consts::{
    SCX_DEQ_SCHED_CHANGE, SCX_DSP_DFL_MAX_BATCH, SCX_OPS_BUILTIN_IDLE_PER_NODE,
    SCX_OPS_KEEP_BUILTIN_IDLE,
};
use crate::{Callback, CpuFacts, Exit, ExitKind, OpsInfo, RqClock, SchedExtOps, TaskId, TimerId};
use dsq::Dsqs;
use idle::Idle;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use task::ExtTask;

/// What the machine has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A CPU looks at its queue, at once if it idles (`resched_curr`). `by` tells it.
    Resched {
        /// Which.
        cpu: u32,
        /// Who found out.
        by: u32,
    },
    /// `scx_bpf_kick_cpu`, carried out in an interrupt of `by`.
    Kick {
        /// Whom.
        cpu: u32,
        /// Who.
        by: u32,
        /// `SCX_KICK_*`.
        flags: u64,
    },
    /// The frequency domain of a CPU hears of another target (`scx_bpf_cpuperf_set`).
    CpuPerf {
        /// Which.
        cpu: u32,
        /// Of 1024.
        perf: u32,
    },
    /// A timer is to fire at that time, if `ExtClass::timer_due` says so then.
    Timer {
        /// Which.
        timer: TimerId,
        /// When, ns.
        at_ns: u64,
        /// On which CPU it was started, and whether it stays there.
        cpu: u32,
        /// It stays there.
        pinned: bool,
    },
    /// The scheduler's loader goes on at that time.
    Loader {
        /// When, ns.
        at_ns: u64,
    },
}

/// A task that waits is on the run queue of another CPU from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Which.
    pub task: TaskId,
    /// Where it was.
    pub from: u32,
    /// Where it is.
    pub to: u32,
}

/// What the class is told of a machine.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Its CPUs.
    pub cpus: Vec<CpuFacts>,
    /// Per node the distance to each node; empty: one node.
    pub distance: Vec<Vec<u64>>,
    /// `cpu.weight` of the cgroups below the root.
    pub cgroup_weights: Vec<u32>,
}

/// Who may dispatch directly now (`direct_dispatch_task`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direct {
    /// Nobody.
    No,
    /// This task.
    Task(TaskId),
    /// It has been done.
    Done,
}

/// A dispatch that was asked for and has not been carried out.
#[derive(Clone, Copy, Debug)]
struct Dispatch {
    task: TaskId,
    qseq: u64,
    dsq: u64,
    enq_flags: u64,
}

/// A callback that is due once the one that is under way is over.
#[derive(Clone, Copy, Debug)]
enum Due {
    Dequeue {
        task: TaskId,
        deq_flags: u64,
    },
    Reenqueue {
        task: TaskId,
        /// `SCX_TASK_REENQ_*`.
        reason: u32,
    },
    /// Tasks of a CPU's queue that should run at once and cannot.
    ReenqueueImmed {
        cpu: u32,
    },
    /// All tasks of a queue: a CPU's (`SCX_DSQ_LOCAL_ON`), or one of the scheduler's.
    ReenqueueAll {
        dsq: u64,
    },
}

/// A CPU, as the class sees it (`struct scx_rq` and what programs read of `struct rq`).
#[derive(Clone, Debug, Default)]
struct ExtCpu {
    /// What executes, of whatever class.
    curr: Option<TaskId>,
    /// What of the class ran until it went to sleep, until the next pick.
    slept: Option<TaskId>,
    /// What was put back into the queue, until the next one runs.
    put_back: Option<TaskId>,
    /// What the last look at the queue chose, until it runs. It is in the local queue, and as good
    /// as gone.
    picked: Option<TaskId>,
    /// Tasks of the class, and of others.
    nr: u32,
    others: u32,
    in_balance: bool,
    /// A task of the class came to its run queue since it last looked.
    woken: bool,
    /// Tasks with `SCX_TASK_IMMED` in its local queue, and whether some are due to leave it.
    nr_immed: u32,
    immed_due: bool,
    /// A higher class took it.
    released: bool,
    /// A higher class is taking it.
    displaced: Option<(crate::ReleaseReason, Option<TaskId>)>,
    /// As the scheduler knows it (`scx_rq_online`).
    online: bool,
    /// Frequency of 1024.
    perf_cur: u32,
    /// Clocks of its run queue.
    clock: RqClock,
    /// It has executed its idle task for so long, up to the last time.
    idle_ns: u64,
    /// ... and does so now, since then.
    idle_since_ns: Option<u64>,
}

impl ExtCpu {
    /// `rq->curr`: a task that has gone to sleep, or was put back, stays it until the next runs.
    /// None: the idle task.
    fn rq_curr(&self) -> Option<TaskId> {
        self.curr.or(self.slept).or(self.put_back)
    }

    /// The CPU switches to this one; None: to its idle task.
    fn switch_to(&mut self, next: Option<TaskId>) {
        (self.curr, self.slept, self.put_back) = (next, None, None);
        self.picked = None;
    }
}

/// The state of the class, and the kernel that callbacks get.
#[derive(Debug)]
pub struct Scx {
    info: OpsInfo,
    now_ns: u64,
    this_cpu: u32,
    in_interrupt: bool,
    tasks: Vec<ExtTask>,
    cpus: Vec<ExtCpu>,
    cpu_facts: Vec<CpuFacts>,
    nr_nodes: u32,
    cgroup_weights: Vec<u32>,
    dsqs: Dsqs,
    idle: Idle,
    direct: Direct,
    buffer: Vec<Dispatch>,
    /// Tasks dispatched in the round of `dispatch` that is under way.
    nr_dispatched: u32,
    callback: Option<Callback>,
    /// The task that it is about, and the CPU where it is about one.
    about: Option<TaskId>,
    about_cpu: u32,
    due: VecDeque<Due>,
    /// Counts how often the machine has asked for something after which work was due.
    asked: u64,
    /// Room for a set of CPUs.
    scratch: Box<[u64]>,
    /// When timers are due, by their numbers.
    timers: BTreeMap<u32, u64>,
    /// Events of timers that the machine has and has not asked about yet: of those started anew
    /// more than one each.
    nr_timer_events: u32,
    moves: Vec<Moved>,
    effects: Vec<Effect>,
    /// Kicks among them: target, by whom, flags.
    kicks: BTreeSet<(u32, u32, u64)>,
    exit: Option<Exit>,
    counts: Counts,
    events: crate::Events,
    record: Record,
    qseq: u64,
    runnable_seq: u64,
}

/// The class with its scheduler.
pub struct ExtClass<'a> {
    ops: &'a mut dyn SchedExtOps,
    scx: Scx,
}

impl std::fmt::Debug for ExtClass<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExtClass").field("scx", &self.scx).finish()
    }
}

/// The first kernel that looks at caches and nodes as it chooses an idle CPU.
const IDLE_BY_TOPOLOGY: (u16, u16) = (6, 13);
/// The first kernel that calls `dequeue` whenever a task leaves the scheduler's hands.
const DEQUEUE_ALWAYS: (u16, u16) = (7, 1);

impl Scx {
    /// The class before a scheduler is enabled; settings that it leaves out are the kernel's.
    fn new(mut info: OpsInfo, setup: Setup) -> Self {
        if info.kernel == (0, 0) {
            info.kernel = (u16::MAX, 0);
        }
        if info.dispatch_max_batch == 0 {
            info.dispatch_max_batch = SCX_DSP_DFL_MAX_BATCH;
        }
        let has_update = info.callbacks.has(Callback::UpdateIdle);
        let kept = !has_update || info.flags & SCX_OPS_KEEP_BUILTIN_IDLE != 0;
        let per_node = info.flags & SCX_OPS_BUILTIN_IDLE_PER_NODE != 0;
        let how = [per_node, kept, info.kernel >= IDLE_BY_TOPOLOGY];
        let nr_cpus = setup.cpus.len() as u32;
        let nr_nodes = setup.cpus.iter().map(|cpu| cpu.node + 1).max().unwrap_or(1);
        let cpu = |facts: &CpuFacts| ExtCpu {
            online: facts.online,
            perf_cur: 1024,
            idle_since_ns: Some(0),
            ..ExtCpu::default()
        };
        Self {
            now_ns: 0,
            this_cpu: 0,
            in_interrupt: false,
            tasks: Vec::new(),
            cpus: setup.cpus.iter().map(cpu).collect(),
            nr_nodes,
            cgroup_weights: setup.cgroup_weights,
            dsqs: Dsqs::new(nr_cpus, nr_nodes),
            idle: Idle::new(&setup.cpus, &setup.distance, how),
            cpu_facts: setup.cpus,
            direct: Direct::No,
            buffer: Vec::with_capacity(info.dispatch_max_batch.min(4096) as usize),
            nr_dispatched: 0,
            callback: None,
            about: None,
            about_cpu: 0,
            due: VecDeque::new(),
            asked: 0,
            scratch: vec![0; crate::mask_words(nr_cpus)].into_boxed_slice(),
            timers: BTreeMap::new(),
            nr_timer_events: 0,
            moves: Vec::new(),
            effects: Vec::new(),
            kicks: BTreeSet::new(),
            exit: None,
            counts: Counts::default(),
            events: crate::Events::default(),
            record: Record::default(),
            qseq: 0,
            runnable_seq: 0,
            info,
        }
    }

    /// Panics for a number that no task has.
    fn task_mut(&mut self, task: TaskId) -> &mut ExtTask {
        &mut self.tasks[task.index()]
    }

    /// Highest CPU number + 1.
    fn nr_cpus(&self) -> u32 {
        self.cpus.len() as u32
    }

    /// Does this kernel call `dequeue` whenever a task leaves the scheduler's hands?
    fn custody_is_owed(&self) -> bool {
        self.info.kernel >= DEQUEUE_ALWAYS
    }

    /// Flags of a dequeue for another reason than sleep.
    fn change_flags(&self) -> u64 {
        match self.custody_is_owed() {
            true => SCX_DEQ_SCHED_CHANGE,
            false => 0,
        }
    }

    /// The first end counts.
    fn end(&mut self, exit: Exit) {
        self.exit.get_or_insert(exit);
    }

    /// `scx_error` (docs/rules/sched-ext.md#errors).
    fn error(&mut self, message: String) {
        self.end(Exit::new(ExitKind::Error, message));
    }

    /// `ops_cpu_valid`: None, there is no such CPU and the scheduler ends.
    fn valid_cpu(&mut self, cpu: i32, at: &str) -> Option<u32> {
        let number = u32::try_from(cpu).ok().filter(|cpu| *cpu < self.nr_cpus());
        if number.is_none() {
            let space = if at.is_empty() { "" } else { " " };
            self.error(format!("invalid CPU {cpu}{space}{at}"));
        }
        number
    }
}

impl<'a> ExtClass<'a> {
    /// With a scheduler that is not loaded yet.
    pub fn new(ops: &'a mut dyn SchedExtOps, setup: Setup) -> Self {
        let scx = Scx::new(ops.info(), setup);
        Self { ops, scx }
    }

    /// The kernel, as a callback would get it.
    #[must_use]
    pub fn kernel(&self) -> &Scx {
        &self.scx
    }

    /// Callbacks from now on are executed then and there. `in_interrupt`: not on behalf of the task
    /// that runs there.
    #[inline]
    pub fn set_context(&mut self, now_ns: u64, cpu: u32, in_interrupt: bool) {
        self.scx.now_ns = now_ns;
        self.scx.this_cpu = cpu;
        self.scx.in_interrupt = in_interrupt;
    }

    /// The CPU on which callbacks are executed, and whether in an interrupt.
    #[inline]
    #[must_use]
    pub fn context(&self) -> (u32, bool) {
        (self.scx.this_cpu, self.scx.in_interrupt)
    }

    /// Is there something for the machine to do?
    #[inline]
    #[must_use]
    pub fn has_effects(&self) -> bool {
        !self.scx.effects.is_empty()
    }

    /// Has a task moved to another run queue?
    #[inline]
    #[must_use]
    pub fn has_moves(&self) -> bool {
        !self.scx.moves.is_empty()
    }

    /// Tasks that moved, in exchange for an empty list.
    pub fn take_moves(&mut self, empty: &mut Vec<Moved>) {
        std::mem::swap(&mut self.scx.moves, empty);
    }

    /// What the machine has to do, in exchange for an empty list.
    pub fn take_effects(&mut self, empty: &mut Vec<Effect>) {
        std::mem::swap(&mut self.scx.effects, empty);
        self.scx.kicks.clear();
    }

    /// The scheduler has ended. None: it goes on.
    #[must_use]
    pub fn exit(&self) -> Option<&Exit> {
        self.scx.exit.as_ref()
    }

    /// What it is called.
    #[must_use]
    pub fn info(&self) -> &OpsInfo {
        &self.scx.info
    }
}

//! A sched_ext scheduler of anybody's: what the class of sched_ext makes of the machine's events
//! (docs/rules/sched-ext.md). The scheduler decides where and when tasks run. The core keeps the
//! signals of tasks and the frequencies. It decides nothing: what the class says is carried out.
//!
//! A method without a comment is `Home`'s (home/mod.rs); one that does nothing has no counterpart
//! in a sched_ext scheduler. What must stay: the clock of a run queue is brought up to date before
//! each callback that holds its lock, as schedulers read it. Free: what leaves recorded runs as
//! they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_waking_task_finds_an_idle_cpu` (select), `cpus_take_from_the_shared_queue` (dispatch),
//! `a_lone_task_is_kept` (keeps), clocks.rs (clocks), errors.rs (what is refused). By function:
//! `a_waking_task_finds_an_idle_cpu` (`select_cpu`, `place_woken`, `enqueue_task`,
//! `dequeue_sleep`), `two_hogs_take_turns_of_a_slice` (`task_tick`, `put_prev_task`,
//! `set_next_task`, `update_curr`), `virtual_time_shares_by_weight` (`stop_task`),
//! sched_ext/clocks.rs::`clocks_advance_by_the_time_that_a_task_runs` (`rq_clock`,
//! `update_rq_clock`), storms.rs::`a_wild_scheduler_loses_nobody` (`task_fork`, `migrate_task_rq`,
//! `attach_task`, `dequeue_task`, `set_cpus_allowed`, `reweight_task`, `yield_task`,
//! `wakeup_preempt`, `add_thread`). `setup`, `new`, `class_of`, `mask`, `id`, `cgroup`: every run
//! of such a scheduler. Methods that do nothing or answer with a constant (`nohz`, `balances`,
//! `each_pullable`, `is_delayed`, `drop_delayed`, `slice_left_ns`, `has_groups`, ...) must go on
//! doing so. The others that only pass on to the class (`nr_running`, `nr_queued`, `each_waiting`,
//! `begin_put`, `pick_next_task`, `set_load_weight`): every run of such a scheduler. `dispatches`,
//! `places_on_exec`, `add_task`, `set_task_group`, `detach_task`, `begin_pick`,
//! `drop_delayed_next`, `drop_all_delayed`, `next_known`, `end_turn`, `set_own_slice`,
//! `set_group_weight`, `take_touched_group` and `check` are of the first sort.
//!
//! Callers: the model's handlers; home/mod.rs says which file calls which method.
//!
//! Tests: crates/engine/tests/behaviour/sched_ext/rules.rs,
//! crates/engine/tests/behaviour/sched_ext/errors.rs

use super::{Home, Services};
use crate::ids::{CpuId, TaskId};
use crate::kernel::model::task::TaskState;
use crate::machine::Machine;
use wakeplace_kernel_queues::{GroupShape, task_weight};
use wakeplace_policy_sys::{Choice, Core, PlaceKind, Reason, Request, Rule, Task};
use wakeplace_sched_ext as scx;
use wakeplace_sched_ext::class::{ExtClass, Join, Leave, NewTask, Setup, weight_to_cgroup};
use wakeplace_sched_ext::consts::{SCX_WAKE_EXEC, SCX_WAKE_FORK, SCX_WAKE_SYNC, SCX_WAKE_TTWU};
use wakeplace_sched_ext::{CgroupId, Class, CpuFacts, RqClock, SchedExtOps, mask_words};
use wakeplace_workload::{FairPolicy, RealTime};

/// The class, and what the engine says of the next task that joins or leaves a queue.
#[derive(Debug)]
pub(crate) struct SchedExtHome<'a> {
    pub(crate) class: ExtClass<'a>,
    join: Join,
    /// The next task that leaves a queue goes to another one.
    pub(crate) moves: bool,
}

/// A task, as the class numbers it.
pub(crate) fn id(task: TaskId) -> scx::TaskId {
    scx::TaskId(task.0)
}

/// The cgroup of a task group.
pub(crate) fn cgroup(group: Option<usize>) -> CgroupId {
    CgroupId(group.map_or(0, |group| group as u32 + 1))
}

/// The clocks of a CPU's run queue, as the core has them.
pub(crate) fn rq_clock(core: &Core, cpu: CpuId) -> RqClock {
    let load = &core.cpu(cpu.0).load;
    RqClock {
        clock_ns: load.clock_ns,
        clock_task_ns: load.clock_task_ns,
        clock_pelt_ns: load.clock_pelt_ns,
        lost_idle_ns: load.lost_idle_ns,
    }
}

/// The class, policy and priority of a thread as the kernel numbers them.
pub(crate) fn class_of(
    nice: i8,
    policy: FairPolicy,
    realtime: Option<RealTime>,
) -> (Class, u32, i32) {
    match realtime {
        None => {
            let number = match policy {
                FairPolicy::Other => 0,
                FairPolicy::Batch => 3,
                FairPolicy::Idle => 5,
            };
            (Class::Ext, number, 120 + i32::from(nice))
        }
        Some(RealTime::Fifo { priority }) => (Class::Rt, 1, 99 - i32::from(priority)),
        Some(RealTime::RoundRobin { priority }) => (Class::Rt, 2, 99 - i32::from(priority)),
        Some(RealTime::Deadline { .. }) => (Class::Deadline, 6, -1),
    }
}

/// The CPUs that a record allows.
fn mask(record: &Task, nr_cpus: u32) -> Vec<u64> {
    let mut words = vec![0_u64; mask_words(nr_cpus)];
    for cpu in (0..nr_cpus).filter(|cpu| record.may_use(*cpu)) {
        words[cpu as usize / 64] |= 1 << (cpu % 64);
    }
    words
}

/// The machine as the scheduler's kernel has it, from what the core knows of it.
fn setup(machine: &Machine, core: &Core, groups: &[GroupShape]) -> Setup {
    let first = |label: &[u32], cpu: CpuId| {
        let same = label.iter().position(|other| *other == label[cpu.index()]);
        same.unwrap_or(cpu.index()) as u32
    };
    let facts = |cpu: CpuId| CpuFacts {
        capacity: core.cpu(cpu.0).load.capacity_orig,
        llc: first(&machine.cache_of, cpu),
        core: machine
            .smt
            .as_ref()
            .map_or(cpu.0, |smt| smt.threads_of(cpu)[0].0),
        cluster: first(&machine.cluster_of, cpu),
        node: machine.node_of[cpu.index()],
        freq_domain: machine.domain_of[cpu.index()],
        online: true,
    };
    Setup {
        cpus: machine.cpus().map(facts).collect(),
        distance: machine.distance.clone(),
        cgroup_weights: groups.iter().map(|g| weight_to_cgroup(g.shares)).collect(),
    }
}

impl<'a> SchedExtHome<'a> {
    /// The class with the scheduler's callbacks, on this machine; nothing is loaded yet.
    pub(super) fn new(
        ops: &'a mut dyn SchedExtOps,
        machine: &Machine,
        core: &Core,
        groups: &[GroupShape],
    ) -> Self {
        Self {
            class: ExtClass::new(ops, setup(machine, core, groups)),
            join: Join::Change,
            moves: false,
        }
    }

    /// One more thread, which the scheduler does not know yet.
    pub(crate) fn add_thread(
        &mut self,
        task: &TaskState,
        name: &str,
        kthread: bool,
        leader: Option<TaskId>,
        record: &Task,
    ) {
        let (class, policy, prio) = class_of(task.nice, task.policy, task.realtime);
        let nr_cpus = scx::Kernel::nr_cpu_ids(self.class.kernel());
        self.class.add_task(&NewTask {
            name: name.to_owned(),
            nice: task.nice,
            policy,
            prio,
            load_weight: task_weight(task.nice, task.policy),
            class,
            kthread,
            group_leader: leader.map(id),
            real_parent: None,
            cgroup: cgroup(task.group.map(|group| group as usize)),
            cpus: mask(record, nr_cpus),
        });
    }

    /// CPUs that a task may use are those of its record now.
    pub(crate) fn set_cpus_allowed(&mut self, task: TaskId, record: &Task) {
        let nr_cpus = scx::Kernel::nr_cpu_ids(self.class.kernel());
        self.class
            .set_cpus_allowed(id(task), &mask(record, nr_cpus));
    }

    /// As `update_rq_clock`: before a callback with the run queue locked its clocks are of now.
    #[inline]
    fn update_rq_clock(&mut self, services: Services<'_>, cpu: CpuId) {
        services.core.show_rq_clock(cpu.0, services.now_ns);
        self.class.set_rq_clock(cpu.0, rq_clock(services.core, cpu));
    }
}

impl Home for SchedExtHome<'_> {
    /// sched_ext has no such balancing.
    #[inline]
    fn nohz(&self) -> bool {
        false
    }

    #[inline]
    fn dispatches(&self) -> bool {
        true
    }

    #[inline]
    fn balances(&self) -> bool {
        false
    }

    #[inline]
    fn places_on_exec(&self) -> bool {
        false
    }

    /// The scheduler's `select_cpu`, with the kernel's flags; the core is not asked.
    #[inline]
    fn select_cpu(&mut self, _services: Services<'_>, task: TaskId, ask: &Request) -> Choice {
        let kind = match ask.kind {
            PlaceKind::Wake | PlaceKind::WakeHere => SCX_WAKE_TTWU,
            PlaceKind::Fork => SCX_WAKE_FORK,
            PlaceKind::Exec => SCX_WAKE_EXEC,
        };
        let sync = if ask.sync { SCX_WAKE_SYNC } else { 0 };
        let cpu = self
            .class
            .select_task_rq(id(task), ask.prev_cpu, kind | sync);
        Choice {
            cpu,
            rule: Rule::Scheduler,
            reason: Reason::Scheduler,
        }
    }

    #[inline]
    fn add_task(&mut self, _task: &TaskState, _own_slice_ns: Option<u64>, _group: Option<usize>) {}

    #[inline]
    fn set_task_group(&mut self, _task: TaskId, _group: Option<usize>) {}

    #[inline]
    fn nr_running(&self, cpu: CpuId) -> usize {
        self.class.nr_running(cpu.0)
    }

    #[inline]
    fn nr_queued(&self, cpu: CpuId) -> usize {
        self.class.nr_running(cpu.0)
    }

    #[inline]
    fn each_waiting(&self, cpu: CpuId, seen: &mut dyn FnMut(TaskId)) {
        self.class
            .each_waiting(cpu.0, &mut |task| seen(TaskId(task.0)));
    }

    /// Nobody takes a scheduler's tasks but the scheduler.
    #[inline]
    fn each_pullable(&self, _cpu: CpuId, _seen: &mut dyn FnMut(TaskId)) {}

    /// Notes why the task joins next; `enqueue_task` uses the note once.
    #[inline]
    fn place_woken(&mut self, _services: Services<'_>, _task: TaskId, _cpu: CpuId) {
        self.join = Join::Wakeup;
    }

    /// As `place_woken`: a new task joins next.
    #[inline]
    fn task_fork(
        &mut self,
        _services: Services<'_>,
        _child: TaskId,
        _parent: Option<TaskId>,
        _here: CpuId,
        _cpu: CpuId,
    ) {
        self.join = Join::New;
    }

    /// As `place_woken`: a task that was moved joins next.
    #[inline]
    fn migrate_task_rq(
        &mut self,
        _services: Services<'_>,
        _task: TaskId,
        _from: CpuId,
        _to: CpuId,
        _fair: bool,
    ) {
        self.join = Join::Migration; // unless it wakes: then `place_woken` follows
    }

    #[inline]
    fn detach_task(&mut self, _task: TaskId, _cpu: CpuId) {}

    /// As `place_woken`: a task that was changed joins next.
    #[inline]
    fn attach_task(&mut self, _services: Services<'_>, _task: TaskId, _cpu: CpuId, _new: bool) {
        self.join = Join::Change;
    }

    #[inline]
    fn enqueue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, _front: bool) {
        self.update_rq_clock(services, cpu);
        let join = std::mem::replace(&mut self.join, Join::Change);
        self.class.enqueue_task(id(task), cpu.0, join);
    }

    #[inline]
    fn dequeue_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId, _waiting: bool) {
        self.update_rq_clock(services, cpu);
        let why = if std::mem::take(&mut self.moves) {
            Leave::Migration
        } else {
            Leave::Change
        };
        self.class.dequeue_task(id(task), why);
    }

    /// Never keeps a sleeper.
    #[inline]
    fn dequeue_sleep(
        &mut self,
        services: Services<'_>,
        task: TaskId,
        cpu: CpuId,
        _ends: bool,
    ) -> bool {
        self.update_rq_clock(services, cpu);
        self.class.dequeue_task(id(task), Leave::Sleep);
        false
    }

    #[inline]
    fn is_delayed(&self, _task: TaskId, _cpu: CpuId) -> bool {
        false
    }

    #[inline]
    fn begin_pick(&mut self, _cpu: CpuId) {}

    #[inline]
    fn drop_delayed_next(&mut self, _cpu: CpuId) -> Option<TaskId> {
        None
    }

    #[inline]
    fn drop_delayed(&mut self, _services: Services<'_>, _task: TaskId, _cpu: CpuId) -> bool {
        false
    }

    #[inline]
    fn drop_all_delayed(&mut self, _cpu: CpuId) -> Vec<TaskId> {
        Vec::new()
    }

    #[inline]
    fn begin_put(&mut self, _cpu: CpuId) {} // the engine says who displaces it

    #[inline]
    fn put_prev_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        self.update_rq_clock(services, cpu);
        self.class.put_prev_task(id(task), cpu.0);
    }

    /// Unknown: `dispatch` asks the scheduler.
    #[inline]
    fn keeps(&mut self, _task: TaskId, _cpu: CpuId) -> Option<bool> {
        None
    }

    /// Unknown until a dispatch.
    #[inline]
    fn next_known(&self, _cpu: CpuId) -> bool {
        false
    }

    /// True: there is a task to run, or the running one goes on.
    #[inline]
    fn dispatch(&mut self, services: Services<'_>, cpu: CpuId, running: bool) -> bool {
        self.update_rq_clock(services, cpu);
        self.class.balance(cpu.0, running)
    }

    #[inline]
    fn pick_next_task(&mut self, cpu: CpuId) -> Option<TaskId> {
        self.class.pick_task(cpu.0).map(|task| TaskId(task.0))
    }

    #[inline]
    fn set_next_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        self.update_rq_clock(services, cpu);
        self.class.set_next_task(id(task), cpu.0);
    }

    /// The class takes it off the task's slice, ns.
    #[inline]
    fn update_curr(&mut self, task: TaskId, _cpu: CpuId, delta_ns: u64) {
        self.class.update_curr(id(task), delta_ns);
    }

    #[inline]
    fn stop_task(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) {
        self.update_rq_clock(services, cpu);
        self.class.stop_task(id(task), cpu.0);
    }

    /// A scheduler's tasks displace each other by kicks and slices only.
    #[inline]
    fn wakeup_preempt(
        &mut self,
        _services: Services<'_>,
        _task: TaskId,
        _running: TaskId,
        _cpu: CpuId,
    ) -> bool {
        false
    }

    #[inline]
    fn end_turn(&mut self, _cpu: CpuId) {}

    #[inline]
    fn task_tick(&mut self, services: Services<'_>, task: TaskId, cpu: CpuId) -> bool {
        self.update_rq_clock(services, cpu);
        self.class.task_tick(id(task))
    }

    /// None: slices of a scheduler end at ticks.
    #[inline]
    fn slice_left_ns(&self, _core: &Core, _cpu: CpuId, _now_ns: u64) -> Option<u64> {
        None
    }

    /// Always true: the CPU looks at its queue again.
    #[inline]
    fn yield_task(&mut self, _services: Services<'_>, task: TaskId, _cpu: CpuId) -> bool {
        self.class.yield_task(id(task));
        true
    }

    /// The scheduler hears the kernel's weight; the core's record gets it for its signals.
    #[inline]
    fn reweight_task(&mut self, services: Services<'_>, task: TaskId, _cpu: CpuId, nice: i8) {
        let weight = task_weight(nice, FairPolicy::Other);
        self.class.set_weight(id(task), nice, weight);
        let record = &mut services.records[task.index()];
        services
            .core
            .task_set_weight(record, weight, services.now_ns);
    }

    /// Off the queue: the class alone hears it.
    #[inline]
    fn set_load_weight(&mut self, task: TaskId, nice: i8, policy: FairPolicy) {
        let weight = task_weight(nice, policy);
        self.class.set_weight(id(task), nice, weight);
    }

    #[inline]
    fn set_own_slice(&mut self, _task: TaskId, _cpu: CpuId, _own_ns: Option<u64>) {}

    #[inline]
    fn has_groups(&self) -> bool {
        false
    }

    #[inline]
    fn set_group_weight(&mut self, _group: usize, _cpu: CpuId, _weight: u32) {}

    #[inline]
    fn take_touched_group(&mut self, _cpu: CpuId) -> Option<usize> {
        None
    }

    #[inline]
    fn check(&self, _cpu: CpuId) {}
}

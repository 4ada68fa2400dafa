//! The home's queues as the rest of the machine uses them: what goes before and after a question.
//! Every change of a queue goes through here, so that the core's signals, the count of tasks and
//! the queue agree (docs/guide/model.md, "Run queues").
//!
//! What must stay: queue, core and count change together in one method. `check_nothing_lost`
//! (report.rs) and the homes' `check` end a run whose books differ. The order in which tasks are
//! offered is the order in which balancing looks at them. Free: what leaves recorded runs as they
//! are (ARCHITECTURE.md, "What a change may touch"). Tests by part: `random_runs_obey_the_rules_1`
//! (`count_running`, `insert`, `remove`), fair.rs::`wakeups_preempt_beyond_the_granularity_only`
//! (`preempts`), eevdf.rs::`a_delayed_sleeper_wakes_without_a_choice` (`begin_pick`,
//! `let_sleeper_go`), arithmetic.rs::`nice_of_a_phase_changes_the_share` (`set_nice`),
//! eevdf.rs::`who_yields_lets_the_other_run` (`yield_to_others`),
//! balance.rs::`the_second_hog_moves_to_an_idle_cpu` (`offered`),
//! asym.rs::`misfit_on_top_of_the_series` (`pushed`), every run (`ask_home`, `touch`, `cpu_of`,
//! `requeue`, `keeps`, `tick_preempts`, `end_turn`), fair.rs::`new_tasks_start_a_slice_behind`
//! (`task_fork`), balance.rs::`a_cpu_that_runs_dry_pulls` (`renormalize_vruntime`),
//! hotplug.rs::`random_schedules_lose_nothing_1` (`drop_all_delayed`).
//!
//! Callers: balance.rs (`renormalize_vruntime`, `pushed`), change.rs (`let_sleeper_go`),
//! interface.rs (`yield_to_others`), wake.rs (`renormalize_vruntime`), many files (`ask_home`,
//! `count_running`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/fair.rs,
//! crates/engine/tests/behaviour/eevdf.rs, crates/engine/tests/behaviour/arithmetic.rs,
//! crates/engine/tests/behaviour/balance.rs, crates/engine/tests/behaviour/asym.rs

use super::Model;
use super::home::{AnyHome, Home, Services};
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wakeplace_workload::FairPolicy;

impl<'a> Model<'a> {
    /// The home, and what it uses.
    #[inline]
    pub(super) fn ask_home(&mut self, now_ns: u64) -> (&mut AnyHome<'a>, Services<'_>) {
        let services = Services {
            core: &mut self.core,
            records: &mut self.tasks,
            now_ns,
        };
        (&mut self.home, services)
    }

    /// The task is the one queued, picked or looked at last.
    #[inline]
    pub(super) fn touch(&mut self, task: TaskId) {
        self.recency += 1;
        self.own[task].recency = self.recency;
    }

    /// The CPU that a task is on, or was on last.
    #[inline]
    pub(super) fn cpu_of(&self, task: TaskId) -> CpuId {
        CpuId(self.tasks[task].cpu())
    }

    /// A new task, the child of one that runs on `here`, gets its place on `cpu`.
    pub(super) fn task_fork<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        child: TaskId,
        parent: TaskId,
        here: CpuId,
        cpu: CpuId,
    ) {
        let parent = (!self.classes.is_class(parent)).then_some(parent);
        let (home, services) = self.ask_home(m.now());
        home.task_fork(services, child, parent, here, cpu);
    }

    /// A task that goes from one CPU's queue to another's keeps its distance to the queue's time.
    pub(super) fn renormalize_vruntime<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        from: CpuId,
        to: CpuId,
    ) {
        let fair = !self.classes.is_class(task);
        let (home, services) = self.ask_home(m.now());
        home.migrate_task_rq(services, task, from, to, fair);
    }

    /// A task that has its place waits on `cpu`; `front`: before all others, if there is such a
    /// front.
    pub(super) fn insert<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        front: bool,
    ) {
        let (home, services) = self.ask_home(m.now());
        home.enqueue_task(services, task, cpu, front);
        self.arm_slice_end(m, cpu);
    }

    /// A task leaves the queue of `cpu`; `waiting`: it was in it, not running.
    pub(super) fn remove<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
        waiting: bool,
    ) {
        let (home, services) = self.ask_home(m.now());
        home.dequeue_task(services, task, cpu, waiting);
    }

    /// The CPU begins to look at its queue: sleepers whose turn it is leave it.
    pub(super) fn begin_pick<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        self.home.begin_pick(cpu);
        while let Some(task) = self.home.drop_delayed_next(cpu) {
            self.let_sleeper_go(m, task, cpu);
        }
    }

    /// All sleepers that the queue of `cpu` keeps leave it.
    pub(super) fn drop_all_delayed<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, cpu: CpuId) {
        for task in self.home.drop_all_delayed(cpu) {
            self.let_sleeper_go(m, task, cpu);
        }
    }

    /// A sleeper that the queue of `cpu` had kept has left it.
    pub(super) fn let_sleeper_go<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        let record = &mut self.tasks[task];
        let result = self.core.dequeue_delayed(record, m.now());
        self.count_running(cpu);
        self.after_core(m, cpu, result);
    }

    /// The core hears how many tasks a CPU has.
    pub(super) fn count_running(&mut self, cpu: CpuId) {
        self.core.cpu_mut(cpu.0).queue.nr_running = self.nr_running(cpu) as u32;
        self.weigh_touched(cpu);
    }

    /// The running task, just stopped, waits again.
    pub(super) fn requeue<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) {
        let (home, services) = self.ask_home(m.now());
        home.put_prev_task(services, task, cpu);
        self.carry_ext_moves(m);
        if self.home.dispatches() {
            self.arm_slice_end(m, cpu);
        }
    }

    /// Does the running task go on, now that the CPU looks at its queue?
    pub(super) fn keeps<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> bool {
        let keeps = self.home.keeps(task, cpu);
        keeps.unwrap_or_else(|| self.dispatch(m, cpu, true))
    }

    /// Does `task`, just queued on `cpu`, displace the one that runs there?
    pub(super) fn preempts<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        running: TaskId,
        cpu: CpuId,
    ) -> bool {
        if let Some(preempts) = self.class_preempts(task, running, cpu) {
            return preempts;
        }
        let (home, services) = self.ask_home(m.now());
        let preempts = home.wakeup_preempt(services, task, running, cpu);
        for sleeper in self.home.take_let_go(cpu) {
            self.let_sleeper_go(m, sleeper, cpu);
        }
        preempts
    }

    /// The running task of `cpu` was displaced: it gives way when the CPU next looks.
    pub(super) fn end_turn(&mut self, cpu: CpuId) {
        self.cpus[cpu].reschedule = true;
        self.cpus[cpu].reschedule_lazily = false;
        self.home.end_turn(cpu);
    }

    /// At the tick: is the running task's time over?
    pub(super) fn tick_preempts<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> bool {
        if self.classes.is_class(task) {
            return self.class_tick_preempts(task, cpu);
        }
        let group = self.tasks[task].group();
        self.weigh_group(cpu, group);
        let (home, services) = self.ask_home(m.now());
        let over = home.task_tick(services, task, cpu);
        self.pay_ext(m);
        over
    }

    /// The running task lets others go first. Returns false if there is nobody.
    pub(super) fn yield_to_others<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        task: TaskId,
        cpu: CpuId,
    ) -> bool {
        if self.classes.is_class(task) {
            return self.class_yields(task, cpu);
        }
        let (home, services) = self.ask_home(m.now());
        let others = home.yield_task(services, task, cpu);
        self.pay_ext(m);
        others
    }

    /// The nice value of the running task of `cpu` changes.
    pub(super) fn set_nice<O: Observer>(
        &mut self,
        m: &Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        nice: i8,
    ) {
        let thread = &mut self.own[task];
        if thread.nice == nice {
            return;
        }
        thread.nice = nice;
        if self.classes.is_class(task) {
            return; // counts in the fair class only
        }
        let thread = &mut self.own[task];
        if thread.policy == FairPolicy::Idle {
            return; // its weight is the policy's
        }
        let (home, services) = self.ask_home(m.now());
        home.reweight_task(services, task, cpu, nice);
        let group = self.tasks[task].group();
        self.weigh_group(cpu, group);
    }

    /// The tasks of `cpu` that balancing may take, in the order in which it looks at them: least
    /// recently run first, and the live queues in their own order, without what is at the front.
    /// Of many it looks at few, so they are not sorted, but taken off a heap.
    pub(super) fn offered<O: Observer>(
        &self,
        m: &Mechanics<'_, O>,
        cpu: CpuId,
    ) -> BinaryHeap<Reverse<(u64, TaskId)>> {
        let mut tasks = Vec::new();
        if self.home.dispatches() {
            let mut place = 0;
            self.home.each_pullable(cpu, &mut |task| {
                tasks.push(Reverse((place, task)));
                place += 1;
            });
            return tasks.into();
        }
        let mut add = |task: TaskId| tasks.push(Reverse((self.own[task].recency, task)));
        self.home.each_pullable(cpu, &mut add);
        let current = m.current(cpu);
        if let Some(task) = current.filter(|task| !self.classes.is_class(*task)) {
            add(task);
        }
        tasks.into()
    }

    /// The task of `cpu` that active balancing pushes to `to`. The kernel's stopper displaces the
    /// running task first and takes the least recently run one; the live scheduler redirects the
    /// running one.
    pub(super) fn pushed<O: Observer>(
        &self,
        m: &Mechanics<'_, O>,
        cpu: CpuId,
        to: CpuId,
        llc: bool,
    ) -> Option<TaskId> {
        let wanted = |task| !llc || self.core.prefers_llc_of(&self.tasks[task], to.0);
        let allowed = |t: &TaskId| {
            let fair = self.tasks[*t].may_use(to.0) && !self.classes.is_class(*t);
            fair && wanted(*t) && self.may_pull(*t, cpu.0, to.0)
        };
        let recency = |task: &TaskId| self.own[*task].recency;
        let current = m.current(cpu).filter(allowed);
        if self.home.dispatches() {
            return current;
        }
        let mut least = current;
        self.home.each_waiting(cpu, &mut |task| {
            if allowed(&task) && least.is_none_or(|other| recency(&task) < recency(&other)) {
                least = Some(task);
            }
        });
        least
    }
}

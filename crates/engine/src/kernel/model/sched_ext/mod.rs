//! A sched_ext scheduler in the machine: when it hears of what, what it asks for, and what its
//! callbacks cost (docs/rules/sched-ext.md#machine). Without one all of this is nothing.
//!
//! What must stay: each thread is told to the class when it begins and ends, once. Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! sched_ext/storms.rs::`a_wild_scheduler_loses_nobody` (`start_ext`, `fork_ext`, `exit_ext_task`,
//! `change_ext`, `allow_ext`), sched_ext/rules.rs::`callbacks_cost_time` (`ExtRun`),
//! sched_ext/rules.rs::`frequencies_begin_at_the_highest` (`load_scheduler`),
//! sched_ext/errors.rs::`a_queue_that_nobody_serves_is_named` (`longest_wait`),
//! `clocks_advance_by_the_time_that_a_task_runs` and `a_cpu_is_released_and_acquired_in_turns`
//! (what callbacks hear), every run of a scheduler (`new`, `add_ext_threads`, `unload_scheduler`).
//!
//! Callers: kernel/model/change.rs (`change_ext`, `allow_ext`), kernel/model/fork.rs (`start_ext`,
//! `fork_ext`), kernel/model/interface.rs (`load_scheduler`), kernel/model/kthreads.rs
//! (`start_ext`), kernel/model/mod.rs (`add_ext_threads`), kernel/model/report.rs
//! (`unload_scheduler`), kernel/model/run.rs (`exit_ext_task`).
//!
//! Tests: crates/engine/tests/behaviour/sched_ext

mod callbacks;
mod effects;

use super::Model;
use super::kthreads::Kthreads;
use crate::ids::{CpuId, TaskId};
use crate::kernel::model::event::Event;
use crate::kernel::model::home::AnyHome;
use crate::kernel::model::home::sched_ext::{cgroup, class_of, id};
use crate::kernel::model::task::TaskState;
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use crate::options::Options;
use crate::outcome::{CallbackTotals, LongestWait, SchedExtReport};
use wakeplace_policy_sys::Task;
use wakeplace_sched_ext::class::{Effect, Moved, Step};
use wakeplace_sched_ext::{Callback, Started};
use wakeplace_workload::Workload;

/// What a run with a scheduler needs beside it.
#[derive(Debug, Default)]
pub(super) struct ExtRun {
    /// Costs in ns of the biggest CPU at its highest frequency.
    callback_ns: u64,
    kfunc_ns: u64,
    /// Room for what the class hands over.
    moves: Vec<Moved>,
    effects: Vec<Effect>,
    steps: Vec<Step>,
    /// CPUs whose running tasks have paid for callbacks: when their steps end is another time.
    paid: Vec<CpuId>,
}

/// Assumed: nobody has published them (docs/rules/sched-ext.md#costs).
const CALLBACK_NS: u64 = 100;
const KFUNC_NS: u64 = 10;

impl ExtRun {
    /// What callbacks and kfuncs cost, ns: as set, else assumed; nothing without kernel costs.
    pub(super) fn new(options: &Options) -> Self {
        let cost = |set: Option<u64>, assumed: u64| match options.kernel_costs {
            true => set.unwrap_or(assumed),
            false => 0,
        };
        Self {
            callback_ns: cost(options.scx_callback_ns, CALLBACK_NS),
            kfunc_ns: cost(options.scx_kfunc_ns, KFUNC_NS),
            ..Self::default()
        }
    }
}

/// The scheduler's class gets the threads that are there at the start.
pub(super) fn add_ext_threads(
    home: &mut AnyHome<'_>,
    workload: &Workload,
    kthreads: &Kthreads,
    states: &[TaskState],
    records: &[Task],
) {
    let Some(ext) = home.sched_ext() else { return };
    let parent = workload.tasks.len();
    for (index, (state, record)) in states.iter().zip(records).enumerate() {
        let leader = (index < parent).then_some(TaskId(parent as u32));
        let kthread = index.checked_sub(parent + 2);
        let name = match (index.checked_sub(parent), kthread) {
            (None, _) => workload.tasks[index].name.clone(),
            (Some(0), _) => "parent".to_owned(),
            (_, None) => "shell".to_owned(),
            (_, Some(index)) => kthreads.name(index).unwrap_or("kthread").to_owned(),
        };
        ext.add_thread(state, &name, kthread.is_some(), leader, record);
    }
}

/// Life of the scheduler and of the tasks.
impl Model<'_> {
    /// Time 0: `init`, and the frequencies that it begins with.
    pub(super) fn load_scheduler<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        let wants_steps = m.observer().wants_sched_ext();
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        if wants_steps {
            ext.class.record();
        }
        ext.class.load();
        let interval_ns = ext.class.watchdog_interval_ns();
        let has_loader = ext.class.info().callbacks.has(Callback::Loader);
        m.push(interval_ns, Event::Watchdog);
        if has_loader {
            m.push(m.now(), Event::SchedExtLoader);
        }
        for domain in 0..self.machine.domain_cpus.len() as u32 {
            self.tell_ext_frequency(domain);
        }
        for cpu in self.machine.cpus() {
            let result = self.core.set_perf_target(cpu.0, 1024, m.now());
            self.after_core(m, cpu, result);
        }
        self.end_ext_event(m);
    }

    /// A thread that is there when the scheduler is loaded.
    pub(super) fn start_ext(&mut self, task: TaskId) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.init_task(id(task), Started::Existing, None);
        }
    }

    /// A thread that another makes.
    pub(super) fn fork_ext<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        child: TaskId,
        parent: TaskId,
    ) {
        if let Some(ext) = self.home.sched_ext() {
            let parent = Some(id(parent));
            ext.class.init_task(id(child), Started::Forked, parent);
            self.pay_ext(m);
        }
    }

    /// A thread is gone.
    pub(super) fn exit_ext_task<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        if let Some(ext) = self.home.sched_ext() {
            ext.class.exit_task(id(task));
            self.pay_ext(m);
        }
    }

    /// Class, policy or group of a task that is off its queue changed.
    pub(super) fn change_ext<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        let is_class = self.classes.is_class(task);
        let Some(ext) = self.home.sched_ext() else {
            return;
        };
        let thread = &self.own[task];
        let mut realtime = thread.realtime.filter(|_| is_class);
        if is_class && realtime.is_none() {
            // It was lent a place there; which one is the engine's.
            realtime = Some(wakeplace_workload::RealTime::Fifo { priority: 1 });
        }
        let (class, policy, prio) = class_of(thread.nice, thread.policy, realtime);
        ext.class.set_class(id(task), class, policy, prio);
        let group = thread.group.map(|group| group as usize);
        ext.class.move_cgroup(id(task), cgroup(group));
        self.pay_ext(m);
    }

    /// CPUs that a task may use changed.
    pub(super) fn allow_ext<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, task: TaskId) {
        if let Some(ext) = self.home.sched_ext() {
            ext.set_cpus_allowed(task, &self.tasks[task]);
            self.carry_ext_moves(m);
            self.pay_ext(m);
        }
    }

    /// The run is over: the last callback, and what all of them did.
    pub(super) fn unload_scheduler<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
    ) -> Option<SchedExtReport> {
        let (callback_ns, kfunc_ns) = (self.ext.callback_ns, self.ext.kfunc_ns);
        let ext = self.home.sched_ext()?;
        let stall = ext.class.longest_wait();
        ext.class.unload();
        let counts = ext.class.counts().all();
        let callbacks = counts.into_iter().map(|count| CallbackTotals {
            callback: count.callback,
            calls: count.calls,
            kfuncs: count.kfuncs,
            time_ns: match count.callback {
                Callback::Loader => 0,
                _ => count.calls * callback_ns + count.kfuncs * kfunc_ns,
            },
        });
        let callbacks = callbacks.collect();
        let name = ext.class.info().name.clone();
        Some(SchedExtReport {
            name,
            callbacks,
            callback_ns,
            kfunc_ns,
            longest_wait: stall.map(|stall| {
                let task = TaskId(stall.task.0);
                LongestWait {
                    task: m.seen(task),
                    waits_ns: stall.waits_ns,
                    place: stall.place,
                }
            }),
        })
    }
}

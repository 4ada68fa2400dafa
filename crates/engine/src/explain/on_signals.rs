//! The core's rules for signals on a tree's state: each update of an average, each task that is
//! queued or dequeued and each call of schedutil, done by the core to what the tree had before, and
//! set beside what the tree had after (docs/rules/README.md#signal-by-signal).
//!
//! What must stay: the core gets the tree's state and does one step; no figure of the core's own
//! past comes in. Names of kinds are keys of results (docs/rules/README.md#signal-by-signal). Free:
//! what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by
//! part: `the_cores_signals_are_the_kernels` (`signal`, `join`, `leave`, `freq`),
//! `a_broken_signal_is_found` (`add_task`, `averages`, `figure`). `boosts` has no test of its own.
//! All need a built tree. `compare`, `add_queue`, `add_estimate`, `turn`, `take_clocks`,
//! `take_queue`, `take_demand`, `task_of`, `avg` and `wide` by the first one, too: a figure that is
//! carried over wrongly is a difference. So are `new`, `add` and `name` (of the kinds).
//!
//! Callers: turns.rs (`wide`).
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs::the_cores_signals_are_the_kernels,
//! crates/cli/tests/all/kernel_diff.rs::a_broken_signal_is_found

use super::on_tree::take_hints;
use super::turns;
use crate::kernel::model::kernel_kind;
use crate::machine::core_facts;
use serde::{Deserialize, Serialize};
use wakeplace_kernel_abi::signals::{Avg, Demand, FreqAsked, Queue, Signal, flags, kind};
use wakeplace_kernel_abi::turns::{Question, Turn};
use wakeplace_kernel_abi::{Updated, abi};
use wakeplace_kernel_queues::FairParams;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::sys::{self, wp_cpu, wp_sched_avg};
use wakeplace_policy_sys::{Core, MachineError, Policy, Task};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SignalKind {
    /// A task's averages at an update.
    Task,
    /// A sleeping task's, up to the last update of its queue, or of its CPU's idle time.
    Blocked,
    /// A CPU's averages at an update.
    Queue,
    /// A task's averages as it joins a queue.
    JoinTask,
    /// The queue's averages then.
    JoinQueue,
    /// The queue's estimate then.
    JoinEstimate,
    /// A task's averages as it leaves a queue.
    LeaveTask,
    /// The queue's averages then.
    LeaveQueue,
    /// The queue's estimate then.
    LeaveEstimate,
    /// A task's own estimate as it falls asleep.
    Estimate,
    /// schedutil: whether it asks for another frequency, and which.
    Request,
    /// schedutil: boosts of CPUs whose tasks wait for I/O.
    IoBoost,
    /// Whether a task that joins a queue displaces the one that runs.
    Preempt,
    /// Who runs next.
    Pick,
    /// Balancing: is it this CPU that balances a domain?
    BalanceWho,
    /// From which group it pulls, and how much.
    BalanceGroup,
    /// From which queue of the group.
    BalanceQueue,
    /// Which tasks of the queue leave it.
    BalanceDetach,
    /// Whether the task that runs is pushed, since none has left.
    BalancePush,
}

impl SignalKind {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 19] = [
        Self::Task,
        Self::Blocked,
        Self::Queue,
        Self::JoinTask,
        Self::JoinQueue,
        Self::JoinEstimate,
        Self::LeaveTask,
        Self::LeaveQueue,
        Self::LeaveEstimate,
        Self::Estimate,
        Self::Request,
        Self::IoBoost,
        Self::Preempt,
        Self::Pick,
        Self::BalanceWho,
        Self::BalanceGroup,
        Self::BalanceQueue,
        Self::BalanceDetach,
        Self::BalancePush,
    ];

    /// The name of a kind of update, as results have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Task => "task-update",
            Self::Blocked => "blocked-update",
            Self::Queue => "queue-update",
            Self::JoinTask => "enqueue-task",
            Self::JoinQueue => "enqueue-queue",
            Self::JoinEstimate => "enqueue-util-est",
            Self::LeaveTask => "dequeue-task",
            Self::LeaveQueue => "dequeue-queue",
            Self::LeaveEstimate => "dequeue-util-est",
            Self::Estimate => "task-util-est",
            Self::Request => "schedutil-request",
            Self::IoBoost => "schedutil-iowait",
            Self::Preempt => "wakeup-preempt",
            Self::Pick => "pick-task",
            Self::BalanceWho => "balance-who",
            Self::BalanceGroup => "balance-group",
            Self::BalanceQueue => "balance-queue",
            Self::BalanceDetach => "balance-detach",
            Self::BalancePush => "balance-push",
        }
    }
}

/// A figure of which the core makes another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name in the kernel.
    pub name: &'static str,
    /// Before.
    pub before: u64,
    /// What the tree made of it.
    pub tree: u64,
    /// What the core makes of it.
    pub core: u64,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Of what.
    pub kind: SignalKind,
    /// What differs.
    pub differ: Vec<Figure>,
}

/// A core of a policy, in which a tree's state takes the place of its own.
#[derive(Debug)]
pub struct OnSignals {
    core: Core,
    compared: Vec<Compared>,
}

impl OnSignals {
    /// A core for a machine, on which the tree's signals are put.
    ///
    /// # Errors
    /// A machine that the core refuses under this policy.
    pub fn new(platform: &Platform, policy: &Policy) -> Result<Self, MachineError> {
        let mut core = Core::new(&core_facts(platform, policy), policy.core_params())?;
        core.settle();
        Ok(Self {
            core,
            compared: Vec::new(),
        })
    }

    /// Does to the state before what the tree did, but for balancing (`OnTree::balance`).
    pub fn compare(&mut self, updated: &Updated) -> &[Compared] {
        self.compared.clear();
        match updated {
            Updated::Signal(signal) => self.signal(signal),
            Updated::Freq(asked) => self.freq(asked),
            Updated::Turn(turn) => self.turn(turn),
            // A step of balancing is asked on the whole machine (`OnTree::balance`).
            Updated::Balance(_) => {}
        }
        &self.compared
    }

    /// A comparison: of the figures those that differ are kept.
    fn add<const N: usize>(&mut self, kind: SignalKind, figures: [Figure; N]) {
        let differ = figures.into_iter().filter(|of| of.tree != of.core);
        let differ = differ.collect();
        self.compared.push(Compared { kind, differ });
    }

    /// A signal that the tree brought up to date: the core does the same step.
    fn signal(&mut self, signal: &Signal) {
        let mut task = task_of(signal);
        let cpu = self.core.cpu_mut(signal.cpu);
        take_clocks(signal, cpu);
        take_queue(&signal.queue, cpu);
        // A frequency that would follow is compared apart.
        self.core.state_mut().params.governor = sys::WP_GOV_POWERSAVE;
        match signal.kind {
            kind::TASK | kind::BLOCKED => {
                self.core.on_state_task(&mut task, signal.now_ns);
                let kind = match signal.kind {
                    kind::TASK => SignalKind::Task,
                    _ => SignalKind::Blocked,
                };
                self.add_task(kind, signal, &task);
            }
            kind::QUEUE => {
                self.core.on_state_queue(signal.cpu);
                self.add_queue(SignalKind::Queue, signal);
            }
            kind::ENQUEUE => self.join(signal, task),
            kind::DEQUEUE => self.leave(signal, task),
            _ => {}
        }
    }

    /// Repeats on the core that the task joins its queue.
    fn join(&mut self, signal: &Signal, mut task: Task) {
        let now_ns = signal.clock_ns;
        let _ = match signal.flags & flags::WAKEUP {
            0 => self.core.enqueue_moved(&mut task, signal.cpu, now_ns),
            _ => self.core.enqueue_woken(&mut task, signal.cpu, now_ns),
        };
        self.add_task(SignalKind::JoinTask, signal, &task);
        self.add_queue(SignalKind::JoinQueue, signal);
        self.add_estimate(SignalKind::JoinEstimate, signal);
    }

    /// Repeats on the core that the task leaves its queue.
    fn leave(&mut self, signal: &Signal, mut task: Task) {
        let now_ns = signal.clock_ns;
        self.core.on_state_estimate(&mut task);
        let asleep = signal.flags & flags::SLEEP != 0 && signal.delayed == 0;
        let _ = match (signal.flags & flags::DELAY, asleep) {
            (0, true) => self.core.dequeue_sleep(&mut task, now_ns),
            (0, false) => self.core.dequeue_move(&mut task, now_ns),
            _ => self.core.dequeue_delay(&mut task, now_ns),
        };
        if signal.flags & flags::DETACH != 0 {
            let stamp = task.raw().avg.last_update_ns;
            let _ = self.core.migrate_queued(&mut task, signal.cpu, now_ns);
            // That the task has left its queue is noted later there.
            task.raw_mut().avg.last_update_ns = stamp;
        }
        self.add_task(SignalKind::LeaveTask, signal, &task);
        self.add_queue(SignalKind::LeaveQueue, signal);
        self.add_estimate(SignalKind::LeaveEstimate, signal);
        if asleep {
            let raw = task.raw();
            let (before, after) = (&signal.before, &signal.after);
            let figures = [
                figure("util_est", before.util_est, after.util_est, raw.util_est),
                figure(
                    "util_est.ewma",
                    before.util_est_ewma,
                    after.util_est_ewma,
                    raw.util_est_ewma,
                ),
            ];
            self.add(SignalKind::Estimate, figures);
        }
    }

    /// The task's averages, the tree's beside the core's.
    fn add_task(&mut self, kind: SignalKind, signal: &Signal, task: &Task) {
        let figures = averages(&signal.before, &signal.after, &task.raw().avg);
        self.add(kind, figures);
    }

    /// Adds the queue's averages, the tree's beside the core's.
    fn add_queue(&mut self, kind: SignalKind, signal: &Signal) {
        let avg = self.core.cpu(signal.cpu).load.avg;
        self.add(kind, averages(&signal.queue.avg, &signal.queue_after, &avg));
    }

    /// Adds the queue's estimate, the tree's beside the core's.
    fn add_estimate(&mut self, kind: SignalKind, signal: &Signal) {
        let (before, after) = (&signal.queue.avg, &signal.queue_after);
        let core = self.core.cpu(signal.cpu).load.util_est;
        let figures = [figure("util_est", before.util_est, after.util_est, core)];
        self.add(kind, figures);
    }

    /// schedutil is called for a CPU.
    fn freq(&mut self, told: &FreqAsked) {
        let asked = &told.asked;
        for demand in &told.cpus {
            take_demand(demand, self.core.cpu_mut(demand.cpu));
        }
        let own = self.core.cpu(asked.cpu).topo.freq_dom;
        let limit_us = self.core.rate_limit_us(own);
        let state = self.core.state_mut();
        state.tick_ns = asked.tick_ns as u32;
        state.params.governor = sys::WP_GOV_SCHEDUTIL;
        let domain = &mut state.freq_doms[own as usize];
        let (first, count) = (domain.first_opp as usize, domain.nr_opps as usize);
        let opps = &state.opp_khz[first..first + count];
        let place = |khz: u32| opps.iter().position(|of| *of == khz);
        let next = place(asked.before.next_khz);
        domain.cur_opp = place(asked.khz).unwrap_or(0) as u32;
        domain.next_opp = next.map_or(sys::WP_NONE, |opp| opp as u32);
        domain.updated_once = next.is_some().into();
        domain.last_update_ns = asked.before.last_update_ns;
        domain.last_raw_khz = asked.before.raw_khz;
        domain.limits_changed = asked.before.forced;
        domain.in_progress = asked.before.in_progress;
        domain.io_boosted = told.cpus.iter().any(|of| of.iowait_boost != 0).into();
        domain.cut_opps = opps.iter().filter(|of| **of > asked.max_khz).count() as u32;
        if let [lone] = told.cpus.as_slice() {
            domain.saved_idle_calls = lone.saved_idle_calls;
        }
        let _ = self
            .core
            .on_state_freq(asked.cpu, asked.iowait, asked.now_ns);
        let state = self.core.state();
        let domain = &state.freq_doms[own as usize];
        let opps = &state.opp_khz[first..first + count];
        let khz = opps.get(domain.next_opp as usize);
        let khz = khz.copied().unwrap_or(asked.before.next_khz);
        let (before, after) = (&asked.before, &asked.after);
        let figures = [
            figure("next_freq", before.next_khz, after.next_khz, khz),
            wide(
                "last_freq_update_time",
                before.last_update_ns,
                after.last_update_ns,
                domain.last_update_ns,
            ),
            wide(
                "freq_update_delay_ns",
                asked.rate_limit_ns,
                asked.rate_limit_ns,
                u64::from(limit_us) * 1000,
            ),
        ];
        self.add(SignalKind::Request, figures);
        self.boosts(told);
    }

    /// Whose turn it is after a wake-up, by the era's queue.
    fn turn(&mut self, told: &Turn) {
        let (params, nr) = (
            &self.core.state().params,
            self.core.state().nr_cpus as usize,
        );
        let params = FairParams::new(params, nr, told.tick_ns, kernel_kind(&self.core));
        match told.question {
            Question::Preempt => {
                if let Some(figures) = turns::preempts(&params, told) {
                    self.add(SignalKind::Preempt, figures);
                }
            }
            Question::Pick => {
                if let Some(figures) = turns::picked(&params, told) {
                    self.add(SignalKind::Pick, figures);
                }
            }
        }
    }

    /// What is left of the boosts.
    fn boosts(&mut self, told: &FreqAsked) {
        if told.asked.iowait == 0 && told.cpus.iter().all(|of| of.iowait_boost == 0) {
            return;
        }
        let mut differ = Vec::new();
        for demand in &told.cpus {
            let own = &self.core.cpu(demand.cpu).queue.classes;
            let (was, is) = (demand.iowait_boost, demand.iowait_boost_after);
            let (waits, wait) = (demand.iowait_pending, demand.iowait_pending_after);
            differ.extend([
                figure("iowait_boost", was, is, own.io_boost),
                figure("iowait_boost_pending", waits, wait, own.io_pending),
            ]);
        }
        differ.retain(|of| of.tree != of.core);
        self.compared.push(Compared {
            kind: SignalKind::IoBoost,
            differ,
        });
    }
}

/// Makes a figure of 64 bits: what it was before, the tree's and the core's.
pub(super) fn wide(name: &'static str, before: u64, tree: u64, core: u64) -> Figure {
    Figure {
        name,
        before,
        tree,
        core,
    }
}

/// Makes a figure of 32 bits: what it was before, the tree's and the core's.
fn figure(name: &'static str, before: u32, tree: u32, core: u32) -> Figure {
    wide(name, before.into(), tree.into(), core.into())
}

/// All of a set of averages.
fn averages(before: &Avg, after: &Avg, core: &wp_sched_avg) -> [Figure; 8] {
    [
        wide(
            "last_update_time",
            before.last_update_ns,
            after.last_update_ns,
            core.last_update_ns,
        ),
        wide("load_sum", before.load_sum, after.load_sum, core.load_sum),
        wide(
            "runnable_sum",
            before.runnable_sum,
            after.runnable_sum,
            core.runnable_sum,
        ),
        wide("util_sum", before.util_sum, after.util_sum, core.util_sum),
        figure("load_avg", before.load_avg, after.load_avg, core.load_avg),
        figure(
            "runnable_avg",
            before.runnable_avg,
            after.runnable_avg,
            core.runnable_avg,
        ),
        figure("util_avg", before.util_avg, after.util_avg, core.util_avg),
        figure(
            "period_contrib",
            before.period_contrib,
            after.period_contrib,
            core.period_contrib,
        ),
    ]
}

/// The tree's averages in the core's form.
fn avg(from: &Avg) -> wp_sched_avg {
    wp_sched_avg {
        last_update_ns: from.last_update_ns,
        load_sum: from.load_sum,
        runnable_sum: from.runnable_sum,
        util_sum: from.util_sum,
        load_avg: from.load_avg,
        runnable_avg: from.runnable_avg,
        util_avg: from.util_avg,
        period_contrib: from.period_contrib,
    }
}

/// The task as the core has tasks.
fn task_of(signal: &Signal) -> Task {
    let weight = signal.weight.max(1);
    let id = if signal.task == abi::NONE {
        1
    } else {
        signal.task | 1
    };
    let mut task = Task::new(id, weight, signal.cpu, None, 1);
    let raw = task.raw_mut();
    raw.avg = avg(&signal.before);
    raw.util_est = signal.before.util_est;
    raw.util_est_ewma = signal.before.util_est_ewma;
    raw.on_rq = signal.on_rq;
    raw.running = signal.running;
    raw.sched_delayed = signal.delayed;
    raw.exec_start_ns = signal.clock_task_ns;
    task
}

/// Gives the core's CPU the clocks of the tree's, and its capacity.
fn take_clocks(signal: &Signal, cpu: &mut wp_cpu) {
    let load = &mut cpu.load;
    load.clock_ns = signal.clock_ns;
    load.clock_task_ns = signal.clock_task_ns;
    load.clock_pelt_ns = signal.clock_pelt_ns;
    load.lost_idle_ns = signal.lost_idle_ns;
    load.capacity_orig = signal.capacity_orig;
    cpu.queue.curr_idle = 0;
}

/// ... and its queue as it was before the step.
fn take_queue(queue: &Queue, cpu: &mut wp_cpu) {
    cpu.load.avg = avg(&queue.avg);
    cpu.load.util_est = queue.avg.util_est;
    cpu.load.load_weight = queue.weight;
    cpu.load.nr_removed = queue.nr_removed;
    cpu.load.removed_load = queue.removed_load;
    cpu.load.removed_util = queue.removed_util;
    cpu.load.removed_runnable = queue.removed_runnable;
    cpu.queue.nr_fair = queue.nr_fair;
    cpu.queue.nr_running = queue.nr_fair;
    cpu.queue.curr_fair = queue.curr_fair;
    cpu.queue.h_nr_delayed = 0;
}

/// ... and what schedutil reads of it, as it was before the call.
fn take_demand(demand: &Demand, cpu: &mut wp_cpu) {
    let load = &mut cpu.load;
    load.avg.util_avg = demand.util;
    load.avg.runnable_avg = demand.runnable;
    load.util_est = demand.util_est;
    load.capacity_orig = demand.capacity_orig;
    (load.rt_util, load.dl_util, load.irq_util) = (demand.util_rt, demand.util_dl, demand.util_irq);
    take_hints(
        demand.uclamp_idle,
        [demand.uclamp_min, demand.uclamp_max],
        cpu,
    );
    cpu.queue.nr_fair = demand.nr_fair;
    cpu.queue.rt_runnable = demand.rt_runnable;
    cpu.idle.idle_calls = demand.idle_calls;
    let classes = &mut cpu.queue.classes;
    classes.kept = 1 + sys::WP_CLASS_SIGNALS;
    classes.dl_bw = u64::from(demand.bw_dl) << 10;
    classes.io_boost = demand.iowait_boost;
    classes.io_pending = demand.iowait_pending;
    classes.io_stamp_ns = demand.last_update_ns;
    classes.io_floor = 0;
}

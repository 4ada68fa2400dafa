//! Tasks that wait for each other: channels, mutexes, conditions, barriers. What wakes others takes
//! the time of a wake-up for each of them, one after the other. A waiter is in one list at a time
//! (docs/decisions/022).
//!
//! What must stay: waiters are served first come, first served, unless a file here says otherwise.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `each_kind_of_deadlock_is_named` (`is_deadlock`, `waits`, `completed`),
//! `waiters_are_served_in_their_order` (`wait_for`, `release`), `a_signal_wakes_the_first_or_all`
//! and measures.rs::`one_signal_has_one_stamp` (`wake_all_listed`, `wake_first_listed`),
//! `a_ping_pong_costs_what_its_parts_cost` (`pay_wakeup`),
//! `a_holder_is_lent_the_priority_of_its_waiter` (`have_woken`), `waiting_for_a_sleeper_is_none`
//! (`waiting`), all (`new`, `park`, `go_on_waking`, `go_on_later`),
//! handover.rs::`a_unit_that_was_kept_brings_its_lines` (`touch_channel`).
//!
//! Callers: channel.rs (`park`, `pay_wakeup`, `go_on_later`), mechanics/handover.rs
//! (`touch_channel`), mechanics/report.rs (`is_deadlock`), mechanics/script/start.rs
//! (`go_on_later`), mechanics/script/steps.rs (`go_on_waking`), meet.rs (`park`), mutex.rs
//! (`wait_for`), many files (`wake_all_listed`).
//!
//! Tests: crates/engine/tests/behaviour/sync.rs, crates/engine/tests/behaviour/channels.rs

mod boost;
mod channel;
mod meet;
mod mutex;

use super::steps::Flow;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::mechanics::thread::{Action, Pending, Then, Thread};
use crate::observe::Observer;
use crate::outcome::{Waiting, WaitsFor};
use std::collections::VecDeque;
use wakeplace_workload::{Limit, Shared};

/// A channel: units nobody has taken, or tasks that wait for one, the first one first; and tasks
/// that wait with a unit in their hands.
#[derive(Debug)]
struct ChannelState {
    units: u64,
    /// When whoever gave the last unit that was kept began to.
    given_ns: u64,
    limit: Option<Limit>,
    lines: u64,
    /// Whose cache its lines are in.
    holder: Option<CpuId>,
    waiters: VecDeque<TaskId>,
    posters: VecDeque<TaskId>,
}

/// A mutex and those who wait for it.
#[derive(Debug)]
struct MutexState {
    owner: Option<TaskId>,
    inherit: bool,
    waiters: VecDeque<TaskId>,
}

/// A barrier and those who are there.
#[derive(Debug)]
struct BarrierState {
    parties: u64,
    waiters: Vec<TaskId>,
}

/// What the tasks of a workload share, and how many of them wait.
#[derive(Debug)]
pub(in crate::mechanics) struct SharedState {
    channels: Vec<ChannelState>,
    mutexes: Vec<MutexState>,
    /// Some mutex lends its waiters' priority.
    inherits: bool,
    /// Per condition those who wait for it.
    conditions: Vec<VecDeque<TaskId>>,
    barriers: Vec<BarrierState>,
    /// Sizes of the data that several go over.
    pub(in crate::mechanics) set_bytes: Vec<u64>,
    /// Tasks that sleep for something of the above.
    waiting: usize,
}

impl SharedState {
    /// All that the tasks share, as it is at the start.
    pub(in crate::mechanics) fn new(shared: &Shared) -> Self {
        let channels = shared.channels.iter().map(|channel| ChannelState {
            units: channel.units,
            given_ns: 0,
            limit: channel.limit,
            lines: channel.lines.into(),
            holder: None,
            waiters: VecDeque::new(),
            posters: VecDeque::new(),
        });
        let mutexes = shared.mutexes.iter().map(|mutex| MutexState {
            owner: None,
            inherit: mutex.inherit,
            waiters: VecDeque::new(),
        });
        let barriers = shared.barriers.iter().map(|barrier| BarrierState {
            parties: barrier.parties,
            waiters: Vec::new(),
        });
        Self {
            channels: channels.collect(),
            mutexes: mutexes.collect(),
            inherits: shared.mutexes.iter().any(|mutex| mutex.inherit),
            conditions: vec![VecDeque::new(); shared.conditions.len()],
            barriers: barriers.collect(),
            set_bytes: shared.sets.iter().map(|set| set.bytes).collect(),
            waiting: 0,
        }
    }

    /// Lines of a channel, and in whose cache they were; now they are in that of `cpu`.
    pub(in crate::mechanics) fn touch_channel(
        &mut self,
        channel: u32,
        cpu: CpuId,
    ) -> (u64, Option<CpuId>) {
        let channel = &mut self.channels[channel as usize];
        (channel.lines, channel.holder.replace(cpu))
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// The running task waits for another from now on.
    fn wait_for(&mut self, task: TaskId, waits: WaitsFor) {
        self.threads[task].waits = Some(waits);
        self.shared.waiting += 1;
    }

    /// ... and sleeps.
    fn park<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId, waits: WaitsFor) -> Flow {
        self.wait_for(task, waits);
        self.block(k, cpu, task, None);
        Flow::Held
    }

    /// The task has what it waited for; whoever brought it about wakes it next.
    fn release(&mut self, task: TaskId) {
        self.threads[task].waits = None;
        self.shared.waiting -= 1;
    }

    /// The running task wakes those on its list, then does what it is to do after that.
    pub(super) fn wake_all_listed<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        then: Then,
    ) -> Flow {
        loop {
            let Some((first, _)) = self.threads[task].to_wake.last().copied() else {
                return self.have_woken(k, cpu, task, then);
            };
            if self.pay_wakeup(k, cpu, first) {
                return self.go_on_later(k, cpu, task, Pending::Wake { then, paid: true });
            }
            if self.wake_first_listed(k, cpu, task) {
                return self.go_on_later(k, cpu, task, Pending::Wake { then, paid: false });
            }
        }
    }

    /// The list goes on: the first one's wake-up is `paid` or was the last thing done.
    pub(super) fn go_on_waking<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        then: Then,
        paid: bool,
    ) -> Flow {
        if paid && self.wake_first_listed(k, cpu, task) {
            return self.go_on_later(k, cpu, task, Pending::Wake { then, paid: false });
        }
        self.wake_all_listed(k, cpu, task, then)
    }

    /// What runs on this CPU begins to wake a thread. Returns true if that takes time.
    fn pay_wakeup<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, woken: TaskId) -> bool {
        let work = self.machine.costs.wakeup;
        if work > 0 {
            self.charge(k, cpu, work);
        }
        let wait_ns = self.fetch_record(cpu, woken);
        self.await_lines(k, cpu, wait_ns) || work > 0
    }

    /// Returns true if the task cannot go on at once.
    fn wake_first_listed<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId) -> bool {
        if let Some((woken, sync)) = self.threads[task].to_wake.pop() {
            self.threads[woken].due_ns = self.clock.now;
            self.note_waker(woken, cpu, None);
            k.wake(self, woken, cpu, sync);
        }
        self.threads[task].has_kernel_work() || k.wants_cpu(cpu)
    }

    /// It goes on with `pending` when its kernel work is done and it is its turn.
    pub(super) fn go_on_later<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        pending: Pending,
    ) -> Flow {
        let thread = &mut self.threads[task];
        thread.pending = pending;
        thread.action = Some(Action::Work(0));
        self.resume(k, cpu);
        Flow::Held
    }

    /// All are woken. What was lent for a mutex goes back now, not before: else the one that waited
    /// for it would not be woken before lesser tasks had run.
    fn have_woken<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, task: TaskId, then: Then) -> Flow {
        if let Some(holder) = self.threads[task].lent_to.take() {
            self.lend_anew(k, holder, cpu);
            if self.cpus[cpu].current != Some(task) {
                let thread = &mut self.threads[task];
                thread.pending = Pending::Wake { then, paid: false };
                thread.action = Some(Action::Work(0));
                k.schedule(self, cpu, Some(task));
                return Flow::Held;
            }
        }
        match then {
            Then::Step => Flow::Go,
            Then::Begin => self.begin(k, cpu, task),
            Then::Await { condition, mutex } => self.sleep_on(k, cpu, task, condition, mutex),
        }
    }

    /// All tasks that are left wait for each other.
    #[inline]
    pub(crate) fn is_deadlock(&self) -> bool {
        self.shared.waiting > 0 && self.shared.waiting == self.threads.alive
    }

    /// Who waits for what, by task.
    pub(crate) fn waits(&self) -> Vec<Waiting> {
        let waiting = |(task, thread): (TaskId, &Thread)| {
            let waits = self.completed(thread.waits?);
            let task = self.threads.shown(task);
            Some(Waiting { task, waits })
        };
        (0..)
            .map(TaskId)
            .zip(&self.threads.all)
            .filter_map(waiting)
            .collect()
    }

    /// With what is known at the end only.
    fn completed(&self, waits: WaitsFor) -> WaitsFor {
        match waits {
            WaitsFor::Mutex { mutex, .. } => {
                let owner = self.shared.mutexes[mutex as usize].owner;
                let holder = owner.map(|task| self.threads.shown(task));
                WaitsFor::Mutex { mutex, holder }
            }
            WaitsFor::Barrier {
                barrier, parties, ..
            } => {
                let came = self.shared.barriers[barrier as usize].waiters.len() as u64;
                WaitsFor::Barrier {
                    barrier,
                    came,
                    parties,
                }
            }
            WaitsFor::Unit { .. } | WaitsFor::Room { .. } | WaitsFor::Condition { .. } => waits,
        }
    }
}

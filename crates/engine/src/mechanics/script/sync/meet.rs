//! Conditions, which remember no signal, and barriers (docs/decisions/022).
//!
//! What must stay: waiters are served in the order in which they came. Free: what leaves recorded
//! runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_condition_has_no_memory_and_gives_the_mutex_back`, `a_signal_wakes_the_first_or_all`,
//! `a_barrier_waits_for_the_last`. By function:
//! `a_condition_has_no_memory_and_gives_the_mutex_back` (`begin_await`, `sleep_on`, `relock`),
//! `a_signal_wakes_the_first_or_all` (`signal`), `a_barrier_waits_for_the_last` (`meet`).
//!
//! Callers: mechanics/script/steps.rs (`begin_await`, `relock`), mod.rs (`sleep_on`).
//!
//! Tests: crates/engine/tests/behaviour/sync.rs

use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::mechanics::script::steps::Flow;
use crate::mechanics::thread::{Pending, Then};
use crate::observe::Observer;
use crate::outcome::WaitsFor;

impl<O: Observer> Mechanics<'_, O> {
    /// Wakes the first one that waits for the condition, or all; all have the same stamp.
    pub(in crate::mechanics::script) fn signal<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        condition: u32,
        all: bool,
    ) -> Flow {
        while let Some(woken) = self.shared.conditions[condition as usize].pop_front() {
            let thread = &mut self.threads[woken];
            thread.stamp_ns = self.clock.now;
            // One that still gives its mutex back will not sleep at all.
            if !std::mem::take(&mut thread.listening) {
                self.release(woken);
                self.threads[task].to_wake.push((woken, false));
            }
            if !all {
                break;
            }
        }
        self.threads[task].to_wake.reverse();
        self.wake_all_listed(k, cpu, task, Then::Step)
    }

    /// The running task waits for the condition from now on, gives its mutex back and sleeps. A
    /// mutex that it does not hold stays where it is (docs/decisions/023).
    pub(in crate::mechanics::script) fn begin_await<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        condition: u32,
        mutex: Option<u32>,
    ) -> Flow {
        self.shared.conditions[condition as usize].push_back(task);
        self.threads[task].listening = true;
        let then = Then::Await { condition, mutex };
        let owner = |mutex: &u32| self.shared.mutexes[*mutex as usize].owner;
        match mutex.filter(|mutex| owner(mutex) == Some(task)) {
            Some(mutex) => self.unlock(k, cpu, task, mutex, then),
            None => self.sleep_on(k, cpu, task, condition, mutex),
        }
    }

    /// It sleeps, unless the signal has come meanwhile.
    pub(super) fn sleep_on<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        condition: u32,
        mutex: Option<u32>,
    ) -> Flow {
        let thread = &mut self.threads[task];
        if std::mem::take(&mut thread.listening) {
            thread.pending = Pending::Signalled { mutex };
            return self.park(k, cpu, task, WaitsFor::Condition { condition });
        }
        self.relock(k, cpu, task, mutex)
    }

    /// The signal has come: the mutex is taken again.
    pub(in crate::mechanics::script) fn relock<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        mutex: Option<u32>,
    ) -> Flow {
        mutex.map_or(Flow::Go, |mutex| self.lock(k, cpu, task, mutex))
    }

    /// The running task is at the barrier: the last one wakes the others.
    pub(in crate::mechanics::script) fn meet<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        barrier: u32,
    ) -> Flow {
        let state = &mut self.shared.barriers[barrier as usize];
        let parties = state.parties;
        if (state.waiters.len() as u64).saturating_add(1) < parties {
            state.waiters.push(task);
            let waits = WaitsFor::Barrier {
                barrier,
                came: 0, // known at the end
                parties,
            };
            return self.park(k, cpu, task, waits);
        }
        let waiters = std::mem::take(&mut state.waiters);
        for woken in waiters.iter().rev() {
            self.release(*woken);
            self.threads[*woken].stamp_ns = self.clock.now;
            self.threads[task].to_wake.push((*woken, false));
        }
        let mut waiters = waiters;
        waiters.clear();
        self.shared.barriers[barrier as usize].waiters = waiters; // keep the buffer
        self.wake_all_listed(k, cpu, task, Then::Step)
    }
}

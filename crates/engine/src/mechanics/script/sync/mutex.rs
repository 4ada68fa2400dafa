//! Mutexes. A plain one is a futex: whoever comes first after an unlock has it, and the one that
//! was woken may be too late. One that lends priority is handed over to the highest waiter
//! (docs/decisions/022).
//!
//! What must stay: one owner at most. Free: what leaves recorded runs as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `a_plain_mutex_can_be_barged_in_on` (`lock`,
//! `lock_again`, `unlock`), `a_holder_is_lent_the_priority_of_its_waiter` (`highest_waiter`),
//! `anothers_mutex_stays_with_its_holder` (`unlock` by others),
//! models.rs::`sysbench_threads_wait_only_for_shared_mutexes` (`picked`: `Claimed`). `Pick::Cpu`
//! has no test of its own here.
//!
//! Callers: mechanics/script/steps.rs (`lock_again`).
//!
//! Tests: crates/engine/tests/behaviour/sync.rs,
//! crates/engine/tests/behaviour/models.rs::sysbench_threads_wait_only_for_shared_mutexes

use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::mechanics::Mechanics;
use crate::mechanics::script::steps::Flow;
use crate::mechanics::thread::{Pending, Then};
use crate::observe::Observer;
use crate::outcome::WaitsFor;
use wakeplace_workload::Pick;

impl<O: Observer> Mechanics<'_, O> {
    /// Which of several mutexes a step means; `lock`: it chooses by CPU anew.
    pub(in crate::mechanics::script) fn picked(
        &mut self,
        cpu: CpuId,
        task: TaskId,
        mutex: u32,
        pick: Pick,
        lock: bool,
    ) -> u32 {
        let thread = &mut self.threads[task];
        match pick {
            Pick::This => mutex,
            Pick::Claimed { of } => mutex + (thread.claimed % u64::from(of.max(1))) as u32,
            Pick::Cpu { of } => {
                if lock || thread.lock_cpu.is_none() {
                    thread.lock_cpu = Some(cpu);
                }
                mutex + thread.lock_cpu.unwrap_or(cpu).0 % of.max(1)
            }
        }
    }

    /// The running task takes a mutex, or waits for it.
    pub(in crate::mechanics::script) fn lock<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        mutex: u32,
    ) -> Flow {
        let state = &mut self.shared.mutexes[mutex as usize];
        let Some(owner) = state.owner else {
            state.owner = Some(task);
            return Flow::Go;
        };
        state.waiters.push_back(task);
        let inherit = state.inherit;
        self.threads[task].pending = Pending::Lock { mutex };
        let waits = WaitsFor::Mutex {
            mutex,
            holder: None, // known at the end
        };
        self.wait_for(task, waits);
        if inherit && owner != task {
            self.lend_anew(k, owner, cpu);
        }
        self.block(k, cpu, task, None);
        Flow::Held
    }

    /// The task waited for the mutex and was woken: it has it, or tries again.
    pub(in crate::mechanics::script) fn lock_again<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        mutex: u32,
    ) -> Flow {
        let state = &self.shared.mutexes[mutex as usize];
        if state.inherit && state.owner == Some(task) {
            return Flow::Go; // handed over
        }
        self.lock(k, cpu, task, mutex)
    }

    /// The running task releases a mutex, whoever holds it: a plain one does not look. One that
    /// lends priority refuses another thread (EPERM), and nothing happens.
    pub(in crate::mechanics::script) fn unlock<K: Kernel>(
        &mut self,
        k: &mut K,
        cpu: CpuId,
        task: TaskId,
        mutex: u32,
        then: Then,
    ) -> Flow {
        let state = &mut self.shared.mutexes[mutex as usize];
        let may = |owner: &TaskId| *owner == task || !state.inherit;
        let Some(owner) = state.owner.filter(may) else {
            return self.wake_all_listed(k, cpu, task, then);
        };
        state.owner = None;
        let next = if state.inherit {
            self.highest_waiter(k, mutex)
        } else {
            0
        };
        let state = &mut self.shared.mutexes[mutex as usize];
        if let Some(woken) = state.waiters.remove(next) {
            state.owner = state.inherit.then_some(woken);
            let inherit = state.inherit;
            self.release(woken);
            self.threads[task].to_wake.push((woken, false));
            self.threads[task].lent_to = inherit.then_some(owner);
        }
        self.wake_all_listed(k, cpu, task, then)
    }

    /// Position of the waiter that matters most, the first among equals.
    fn highest_waiter<K: Kernel>(&self, k: &K, mutex: u32) -> usize {
        let waiters = &self.shared.mutexes[mutex as usize].waiters;
        let level = |at: &usize| k.level(waiters[*at]);
        let positions = 0..waiters.len();
        positions.rev().max_by_key(level).unwrap_or(0)
    }
}

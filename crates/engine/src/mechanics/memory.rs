//! What a wait for memory takes, by where the task's working set is (docs/decisions/060). A wait is
//! stated for a task alone, its set in its last-level cache. Each access hits one of the set's
//! lines, all alike:
//!
//! - **Room.** The sets of the threads that are runnable in a cache share it in proportion to their
//!   sizes. If they are larger than it, a line is there with the probability size / sum, else in
//!   memory.
//! - **Shared sets.** A line was written last by any of the threads that have the set, each as
//!   likely, and comes from where that one ran last.
//! - **A move.** The lines of a task's own set that it has not gone over since it came to its cache
//!   come from the one that it left.
//!
//! What must stay: waits are ns, sizes bytes, and all sums are integers. Free: what leaves recorded
//! runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `sets_compete_for_their_cache` (room), `a_shared_set_comes_from_its_users`,
//! `a_set_follows_its_task` (a move). By function: `sets_compete_for_their_cache` (`access_ns`,
//! `set_of`, `wanted_bytes`), `a_shared_set_comes_from_its_users` (`written_last`),
//! `a_set_follows_its_task` (`fetch_behind`, `leave_set_behind`).
//!
//! Callers: handover.rs (`leave_set_behind`), mechanics/script/steps.rs (`access_ns`).
//!
//! Tests: crates/engine/tests/behaviour/memory.rs

use super::Mechanics;
use super::thread::Thread;
use crate::ids::{CpuId, TaskId};
use crate::nearness::Level;
use crate::observe::Observer;
use wakeplace_workload::WorkingSet;

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// The lines of a set that are still where its task was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Behind {
    from: CpuId,
    lines: u64,
}

impl<O: Observer> Mechanics<'_, O> {
    /// How long a wait of `cpu_ns` takes a task on `cpu`.
    pub(super) fn access_ns(&mut self, cpu: CpuId, task: TaskId, cpu_ns: u64) -> u64 {
        let (Some(cache), Some(set)) = (self.machine.cache, self.set_of(&self.threads[task]))
        else {
            return cpu_ns;
        };
        let from_behind_ns = self.fetch_behind(cpu, task, cpu_ns / cache.hit_ns, cache.hit_ns);
        let (found_ns, users) = match set {
            WorkingSet::Own { .. } => (cache.hit_ns, 1),
            WorkingSet::Shared { set } => self.written_last(cpu, task, set, cache.hit_ns),
        };
        let wanted = self.wanted_bytes(cpu);
        let room = wanted.min(cache.bytes);
        let wide = |number: u64| u128::from(number);
        let accesses =
            wide(room) * wide(found_ns) + wide(wanted - room) * wide(cache.memory_ns) * wide(users);
        let usual = wide(wanted.max(1)) * wide(users) * wide(cache.hit_ns);
        let longer = wide(cpu_ns).saturating_mul(accesses) / usual;
        let longer = u64::try_from(longer).unwrap_or(u64::MAX);
        longer.saturating_add(from_behind_ns)
    }

    /// None: the thread's script states no working set, or it is a kernel thread.
    fn set_of(&self, thread: &Thread) -> Option<WorkingSet> {
        let script = self.threads.scripts.get(thread.script as usize)?;
        script.attributes.working_set
    }

    /// What a line of a shared set takes, summed over the threads that may have written it last,
    /// and how many these are.
    fn written_last(&self, cpu: CpuId, task: TaskId, set: u32, hit_ns: u64) -> (u64, u64) {
        let near = &self.machine.near;
        let (mut sum, mut users) = (0, 0);
        for (index, thread) in (0..).map(TaskId).zip(&self.threads.all) {
            let has_it = self.set_of(thread) == Some(WorkingSet::Shared { set });
            let Some(from) = thread.lines.ran_on.filter(|_| has_it && thread.is_there()) else {
                continue;
            };
            users += 1;
            sum += match near.level(from, cpu) {
                Level::Same | Level::Core => hit_ns,
                _ if index == task => hit_ns,
                _ => near.line_ns(from, cpu).max(hit_ns),
            };
        }
        (sum, users)
    }

    /// Bytes that the runnable threads of the CPU's last-level cache go over.
    fn wanted_bytes(&self, cpu: CpuId) -> u64 {
        let near = &self.machine.near;
        let mut counted = vec![false; self.shared.set_bytes.len()];
        let mut wanted: u64 = 0;
        for thread in self
            .threads
            .all
            .iter()
            .filter(|thread| thread.is_runnable())
        {
            let here = |ran_on: CpuId| near.share_cache(ran_on, cpu);
            let bytes = match self.set_of(thread) {
                Some(_) if !thread.lines.ran_on.is_some_and(here) => 0,
                Some(WorkingSet::Own { bytes }) => bytes,
                Some(WorkingSet::Shared { set }) => {
                    match std::mem::replace(&mut counted[set as usize], true) {
                        true => 0,
                        false => self.shared.set_bytes[set as usize],
                    }
                }
                None => 0,
            };
            wanted = wanted.saturating_add(bytes);
        }
        wanted
    }

    /// The task goes over so many lines: what those take that it has to fetch from the cache that
    /// it left, beyond a hit.
    fn fetch_behind(&mut self, cpu: CpuId, task: TaskId, accesses: u64, hit_ns: u64) -> u64 {
        let near = &self.machine.near;
        let lines = &mut self.threads[task].lines;
        lines.gone_over = lines.gone_over.saturating_add(accesses);
        let Some(behind) = &mut lines.behind else {
            return 0;
        };
        let fetched = accesses.min(behind.lines);
        behind.lines -= fetched;
        fetched.saturating_mul(near.line_ns(behind.from, cpu).saturating_sub(hit_ns))
    }

    /// A task goes to a CPU of another last-level cache: what it has gone over of its own set, as
    /// much as the cache had room for, stays behind. One that comes back finds what it had not
    /// fetched. Returns true if it has such a set.
    pub(super) fn leave_set_behind(&mut self, task: TaskId, from: CpuId, to: CpuId) -> bool {
        let thread = &self.threads[task];
        let (Some(cache), Some(WorkingSet::Own { bytes })) =
            (self.machine.cache, self.set_of(thread))
        else {
            return false;
        };
        let room = bytes.min(cache.bytes) / LINE_BYTES;
        let whole = room.min(thread.lines.gone_over);
        let near = &self.machine.near;
        let lines = match thread.lines.behind {
            Some(behind) if near.share_cache(behind.from, to) => whole - behind.lines.min(whole),
            _ => whole,
        };
        self.threads[task].lines.behind = Some(Behind { from, lines });
        true
    }
}

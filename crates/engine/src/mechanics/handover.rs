//! Cache lines that go with a wake-up and with a message, from the CPU that wrote them to the one
//! that needs them, one after the other, each for what a line takes between the two
//! (docs/decisions/060). Nothing of this where the machine does not say what that is.
//!
//! - The record of a task is where the task ran last, or where it was woken from last.
//! - A waker fetches the record, and what the message is in. Both are time of its own, before the
//!   wake-up.
//! - The woken task's CPU fetches them back when the task begins to run. The target's run queue
//!   goes to the waker and back; both ways are counted there.
//!
//! What must stay: times are ns by the closest level that two CPUs share. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_round_trip_moves_lines_by_the_closest_level` (fetches),
//! `a_unit_that_was_kept_brings_its_lines` (channels), `a_move_refills_from_the_closest_level`
//! (moves). By function: `a_round_trip_moves_lines_by_the_closest_level` (`fetch_channel`,
//! `fetch_record`, `note_waker`, `fetch_lines`, `fetch_all`, `await_lines`),
//! `a_move_refills_from_the_closest_level` and arithmetic.rs::`a_move_refills_caches`
//! (`refill_caches`).
//!
//! Callers: mechanics/script/sync/channel.rs (`fetch_channel`, `note_waker`, `await_lines`),
//! mechanics/script/sync/mod.rs (`fetch_record`, `note_waker`, `await_lines`), run.rs
//! (`fetch_lines`), kernel/model/balance.rs, kernel/model/classes.rs and 4 more (`refill_caches`).
//!
//! Tests: crates/engine/tests/behaviour/handover.rs

use super::Mechanics;
use super::memory::Behind;
use crate::ids::{CpuId, TaskId};
use crate::kernel::Kernel;
use crate::nearness::Level;
use crate::observe::Observer;

/// Lines of a task's record that a wake-up and a switch write: of `task_struct` the flags and
/// state, `on_cpu` and wake list entry, priorities and `on_rq`, the wake-up lock, the masks of
/// CPUs, and `sched_entity` with its average (five). Counted in Linux 7.3.4 include/linux/sched.h.
const TASK_LINES: u64 = 10;

/// Lines of a run queue that a wake-up writes: of `struct rq` the lock, `nr_running`, the clock
/// (two), `curr` and the domain, the wake list and the interrupt's word; of its `cfs_rq` load and
/// counts, the tree with its sums, and the average (two). Counted in Linux 7.3.4
/// kernel/sched/sched.h.
const QUEUE_LINES: u64 = 12;

/// Where the lines of a thread's record are, and what it has to fetch when it next runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    /// None: nobody has touched it.
    record: Option<CpuId>,
    /// Who woke it from where.
    woken: Option<Woken>,
    /// Where the thread runs, or ran last.
    pub(super) ran_on: Option<CpuId>,
    /// Lines of its working set that it has gone over, the same ones again among them.
    pub(super) gone_over: u64,
    /// The part of its working set that is still in the cache it left.
    pub(super) behind: Option<Behind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Woken {
    by: CpuId,
    /// The message is in these lines.
    channel: Option<u32>,
}

impl<O: Observer> Mechanics<'_, O> {
    /// What it takes `cpu` to have the lines of a channel; from now on it has them.
    pub(super) fn fetch_channel(&mut self, cpu: CpuId, channel: u32) -> u64 {
        let near = &self.machine.near;
        if !near.is_stated() {
            return 0;
        }
        let (lines, from) = self.shared.touch_channel(channel, cpu);
        from.map_or(0, |from| lines * near.line_ns(from, cpu))
    }

    /// What it takes `cpu` to have a thread's record before it wakes it.
    pub(super) fn fetch_record(&mut self, cpu: CpuId, woken: TaskId) -> u64 {
        let record = self.threads[woken].lines.record.replace(cpu);
        let record = record.filter(|_| self.machine.near.has_records());
        record.map_or(0, |from| TASK_LINES * self.machine.near.line_ns(from, cpu))
    }

    /// A thread is woken from `by`, with a message in that channel.
    pub(super) fn note_waker(&mut self, woken: TaskId, by: CpuId, channel: Option<u32>) {
        if self.machine.near.is_stated() {
            let lines = &mut self.threads[woken].lines;
            lines.record = Some(by);
            lines.woken = Some(Woken { by, channel });
        }
    }

    /// A thread is about to run on `cpu`: it waits for what others have written.
    #[inline]
    pub(super) fn fetch_lines(&mut self, cpu: CpuId, task: TaskId) {
        self.threads[task].lines.ran_on = Some(cpu);
        if self.machine.near.is_stated() {
            let wait_ns = self.fetch_all(cpu, task);
            self.threads[task].kernel_wait_ns += wait_ns;
        }
    }

    /// What all lines that a task brings take, ns.
    fn fetch_all(&mut self, cpu: CpuId, task: TaskId) -> u64 {
        let record_ns = self.fetch_record(cpu, task);
        let Some(woken) = self.threads[task].lines.woken.take() else {
            return record_ns;
        };
        let queue_ns = match self.machine.near.has_records() {
            true => 2 * QUEUE_LINES * self.machine.near.line_ns(woken.by, cpu),
            false => 0,
        };
        let channel_ns = woken
            .channel
            .map(|channel| self.fetch_channel(cpu, channel));
        record_ns + queue_ns + channel_ns.unwrap_or(0)
    }

    /// It has moved: work to refill caches comes before its own. A task with a working set of its
    /// own fetches that bit by bit, and here what its core's caches need.
    pub(crate) fn refill_caches(&mut self, task: TaskId, from: CpuId, to: CpuId) {
        let level = self.machine.near.level(from, to);
        let other_cache = matches!(level, Level::Node | Level::Machine);
        let costs = &self.machine.costs;
        let (within, node, machine) = (
            costs.migrate_shared,
            costs.migrate_other,
            costs.migrate_node,
        );
        let work = match level {
            _ if other_cache && self.leave_set_behind(task, from, to) => within,
            Level::Node => node,
            Level::Machine => machine,
            level => self.machine.near.part_within_cache(level, within),
        };
        self.burden(task, work);
    }

    /// The kernel on this CPU waits for lines, if it has to. Returns true if it does.
    pub(super) fn await_lines<K: Kernel>(&mut self, k: &mut K, cpu: CpuId, ns: u64) -> bool {
        self.hold(k, cpu, ns);
        ns > 0
    }
}

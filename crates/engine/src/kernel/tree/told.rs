//! What entries have said: decisions, frequencies, and what is done that took its time
//! (docs/guide/kernel.md, "In a run").
//!
//! What must stay: what was said is taken up in the order in which the kernel said it. Counts are
//! of the run alone, without the boot. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part, where a tree is built:
//! `energy_aware_placement_is_the_kernels_own` (`hear`, `note`),
//! crates/cli/tests/all/kernel_runs.rs::`waits_for_devices_move_frequencies` (frequencies),
//! crates/cli/tests/all/kernel_diff.rs::`the_cores_signals_are_the_kernels` (`updated`). `counted`
//! and `called` have no test of their own. `counts` is with `counted`.
//!
//! Callers: mod.rs (`counted`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs,
//! crates/cli/tests/all/kernel_diff.rs::the_cores_signals_are_the_kernels

use super::Tree;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::Mechanics;
use crate::observe::{Happening, MigrateCause, Observer, Placement, PlacementKind};
use crate::outcome::{Ended, KernelCounts};
use wakeplace_kernel_abi::{CALL, Call, Decided, ORDER, Tree as Entries, abi};
use wakeplace_policy_sys::Reason;

/// `WPK_WHY_*`.
const WAKE: u32 = 0;
const FORK: u32 = 1;
const EXEC: u32 = 2;

/// What the kernel has counted since it began to boot.
pub(super) fn counted(entries: &dyn Entries) -> KernelCounts {
    let mut counts = KernelCounts::default();
    for cpu in entries.cpus() {
        counts.switches += cpu.switches;
        counts.kthread_switches += cpu.kthread_switches;
        counts.timer_interrupts += cpu.ticks;
    }
    let softirqs = entries.get(c"softirqs").unwrap_or_default();
    let of = |line: &str| line.strip_prefix("SCHED ")?.parse().ok();
    counts.balance_passes = softirqs.lines().find_map(of).unwrap_or(0);
    counts
}

impl Tree<'_> {
    /// The same since it had booted.
    pub(super) fn counts(&self) -> KernelCounts {
        let (now, then) = (counted(self.entries), self.booted);
        KernelCounts {
            switches: now.switches - then.switches,
            kthread_switches: now.kthread_switches - then.kthread_switches,
            timer_interrupts: now.timer_interrupts - then.timer_interrupts,
            balance_passes: now.balance_passes.saturating_sub(then.balance_passes),
        }
    }

    /// Takes all of it up.
    pub(super) fn hear<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if !self.entries.has_told() {
            return;
        }
        let mut told = std::mem::take(&mut self.told);
        self.entries.take_told(&mut told);
        for (own, khz) in &told.frequencies {
            self.want(m, *own, *khz);
        }
        for decided in &told.decided {
            self.note(m, decided);
        }
        let now = m.now();
        for updated in &told.updated {
            m.observer().updated(now, updated);
        }
        for (ticket, result) in &told.done {
            match *ticket {
                ORDER => self.ordered(m, *result),
                ticket if ticket & CALL != 0 => called(m, ticket as u32, *result),
                ticket => self.plugged(m, ticket, *result),
            }
        }
        told.clear();
        self.told = told;
    }

    /// A CPU was chosen for a task.
    fn note<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, decided: &Decided) {
        let facts = &decided.facts;
        self.overutilized = facts.overutilized != 0;
        self.energy_aware |= facts.energy_aware != 0;
        m.mix(u64::from(facts.answer) << 8 | u64::from(facts.why));
        let kind = match facts.why {
            WAKE => PlacementKind::Wake,
            FORK => PlacementKind::Fork,
            EXEC => PlacementKind::Exec,
            _ => return,
        };
        let task = TaskId(facts.task);
        if facts.task >= abi::KTHREAD || task.index() >= self.tasks.0.len() {
            return; // a thread of the kernel's own
        }
        let cause = match kind {
            PlacementKind::Exec => MigrateCause::Exec,
            _ => MigrateCause::Wake,
        };
        let (from, to) = (self.tasks[task].cpu, CpuId(facts.answer));
        if kind != PlacementKind::Fork && from != to {
            m.tell_migrate(task, from, to, cause);
            m.refill_caches(task, from, to);
        }
        self.tasks[task].cpu = to;
        if !m.visible(task) {
            return;
        }
        self.nr_decided += 1;
        let now = m.now();
        m.observer().decided(now, decided);
        let waker = Some(facts.waker)
            .filter(|waker| *waker < abi::KTHREAD)
            .map(TaskId);
        let placement = Placement {
            kind,
            task: m.shown(task),
            waker: waker.and_then(|waker| m.seen(waker)),
            waker_cpu: facts.cpu,
            prev_cpu: facts.prev,
            cpu: facts.answer,
            reason: Reason::Kernel,
            util: facts.util,
            dur_avg_ns: 0,
        };
        m.tell(Happening::Placement(placement));
    }
}

/// The end of a call that had lost its CPU.
fn called<O: Observer>(m: &mut Mechanics<'_, O>, op: u32, result: i64) {
    if result < 0 {
        let said = format!("it refuses {}, late (errno {})", Call::what(op), -result);
        m.end(Ended::Kernel { said });
    }
}

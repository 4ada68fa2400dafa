//! The end of a run: what came out, and whether the books are right. A run whose books are wrong
//! ends the program: it is a fault of ours.
//!
//! What must stay: fields of `KernelReport` go into JSON of results (docs/result.schema.json);
//! panics are for faults of ours only. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `random_runs_obey_the_rules_1`
//! (`check_nothing_lost`), wake_latency.rs::`without_a_delay_no_idle_cpu_is_chosen_twice`
//! (`double_placements`), wake_latency.rs::`a_lock_is_taken_in_turn` (`lock_wait_ns`),
//! lines.rs::`a_waker_waits_as_its_own_run_time` (`line_wait_ns`),
//! bandwidth.rs::`a_task_without_end_gets_its_quota` (`groups`), `random_runs_obey_the_rules_1` and
//! the others (`report`).
//!
//! Callers: interface.rs (`report`, from `finish`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs,
//! crates/engine/tests/behaviour/wake_latency.rs, crates/engine/tests/behaviour/lines.rs,
//! crates/engine/tests/behaviour/bandwidth.rs

use super::Model;
use super::home::Home;
use crate::domains;
use crate::ids::CpuId;
use crate::kernel::KernelReport;
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use wakeplace_policy_sys::Reason;

impl Model<'_> {
    /// The model's part of the report, once its books have been checked.
    pub(super) fn report<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) -> KernelReport {
        self.check_nothing_lost(m);
        let sched_ext = self.unload_scheduler(m);
        domains::check(self.core.state());
        let counts = Reason::ALL.iter().copied().zip(self.placements.reasons);
        let (costs, totals) = (&self.costs, &self.contention.totals);
        KernelReport {
            lines: None,
            energy_active: self.core.state().energy_active != 0,
            lock_wait_ns: costs.locks().then_some(totals.lock_wait_ns),
            line_wait_ns: (self.contention.lines.are_on()).then_some(totals.line_wait_ns),
            double_placements: (costs.publish_ns > 0).then_some(totals.double_placements),
            sched_ext,
            counts: None,
            groups: self.group_totals(),
            reasons: counts.filter(|(_, n)| *n > 0).collect(),
        }
    }

    /// Every thread that can run is on exactly the queue that counts it, and the core counts alike.
    fn check_nothing_lost<O: Observer>(&self, m: &Mechanics<'_, O>) {
        for (index, cpu) in self.cpus.iter().enumerate() {
            let number = CpuId(index as u32);
            self.home.check(number);
            self.check_groups(number);
            let fair = m.current(number).is_some() && cpu.classes.running.is_none();
            let mut found = usize::from(fair);
            self.home.each_waiting(number, &mut |_| found += 1);
            let nr = self.home.nr_running(number);
            let core = self.core.cpu(number.0);
            assert_eq!(found, nr, "CPU {index}: its queue and its count differ");
            assert_eq!(
                core.queue.nr_fair as usize, nr,
                "CPU {index}: the core counts otherwise"
            );
            assert_eq!(
                (core.queue.nr_fair + core.queue.h_nr_delayed) as usize,
                self.home.nr_queued(number),
                "CPU {index}: the core counts sleepers otherwise"
            );
        }
        let queued: usize = self
            .machine
            .cpus()
            .map(|cpu| self.home.nr_running(cpu))
            .sum();
        let runnable = m.threads().nr_runnable();
        assert_eq!(
            queued + self.nr_class() + self.nr_throttled(),
            runnable,
            "runnable threads and queue entries differ"
        );
    }
}

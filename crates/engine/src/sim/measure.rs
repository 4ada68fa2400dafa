//! Steps that count, measure, or end the thread.

use super::Sim;
use super::steps::Flow;
use crate::observe::Observer;
use wakeplace_workload::{Event, Since, Workload, Zero};

/// Of each counter the number claimed next and their limit.
pub(super) fn counters(workload: &Workload) -> Vec<(u64, Option<u64>)> {
    let counters = workload.shared.counters.iter();
    counters.map(|counter| (0, counter.limit)).collect()
}

impl<O: Observer> Sim<'_, O> {
    pub(super) fn measure(&mut self, cpu: u32, task: u32, event: Event) -> Flow {
        let now = self.now;
        match event {
            Event::Claim { counter } => return self.claim(cpu, task, counter),
            Event::ExitAfter { since_start_ns } => {
                let zero = self.zero_ns(task).unwrap_or(0);
                if now >= zero.saturating_add(since_start_ns) {
                    self.exit(cpu, task);
                    return Flow::Held;
                }
            }
            Event::Mark => self.threads[task as usize].mark_ns = now,
            Event::Sample { series, since } => self.sample_time(task, series, since),
            Event::Count { units } => self.count_units(task, units),
            _ => unreachable!("`carry_out` hands over no other"),
        }
        Flow::Go
    }

    /// Where the task's own times begin; None: that is still to come.
    pub(super) fn zero_ns(&self, task: u32) -> Option<u64> {
        let thread = &self.threads[task as usize];
        match self.scripts[thread.script as usize].zero {
            Zero::AllStarted => self.t_zero_ns,
            Zero::OwnStart => Some(thread.born_ns),
        }
    }

    /// The next number of a counter; without one the thread ends.
    fn claim(&mut self, cpu: u32, task: u32, counter: u32) -> Flow {
        let (next, limit) = &mut self.counters[counter as usize];
        if limit.is_some_and(|limit| *next >= limit) {
            self.exit(cpu, task);
            return Flow::Held;
        }
        self.threads[task as usize].claimed = *next;
        *next += 1;
        Flow::Go
    }

    /// One value of a series, if its warm-up is over.
    fn sample_time(&mut self, task: u32, series: u32, since: Since) {
        let rules = &self.series[series as usize];
        let zero = self.t_zero_ns.unwrap_or(0);
        if self.now < zero.saturating_add(rules.warm_up_ns) {
            return;
        }
        let thread = &self.threads[task as usize];
        let from_ns = match since {
            Since::Mark => thread.mark_ns,
            Since::Wake => thread.stamp_ns,
        };
        let value = self.now.saturating_sub(from_ns);
        let value = value.saturating_sub(rules.less_ns).max(rules.floor_ns);
        let number = self.shown(task);
        self.observer.sample(self.now, number, series, value);
    }

    /// Units of what the workload is measured by, if its warm-up is over.
    fn count_units(&mut self, task: u32, units: u64) {
        if self.counts_from_ns().is_some_and(|from| self.now >= from) {
            self.threads[task as usize].totals.counted += units;
        }
    }

    /// When counting begins, if the workload counts and all its tasks exist.
    pub(super) fn counts_from_ns(&self) -> Option<u64> {
        Some(self.t_zero_ns? + self.warm_up_ns?)
    }
}

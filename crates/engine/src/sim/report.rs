//! The end of a run: what came out, and whether the books are right.

use super::Sim;
use crate::domains;
use crate::home::Home;
use crate::ids::CpuId;
use crate::observe::Observer;
use crate::outcome::{Counted, Ended, RunReport, ThreadName};
use crate::thread::Thread;
use wakeplace_policy_sys::Reason;

impl<O: Observer> Sim<'_, O> {
    pub(super) fn report(mut self, ended: Ended) -> RunReport {
        for cpu in self.machine.cpus() {
            self.account(cpu);
            self.finish_stretch(cpu);
        }
        self.check_nothing_lost();
        let sched_ext = self.unload_scheduler();
        domains::check(self.core.state());
        self.told.observer.finish(self.clock.now);
        let counted = self.program.counts_from_ns().and_then(|from| {
            let window_ns = self.clock.now.saturating_sub(from);
            let units = self.threads.all.iter().map(|t| t.totals.counted).sum();
            (window_ns > 0).then_some(Counted { units, window_ns })
        });
        let counts = Reason::ALL.iter().copied().zip(self.told.reasons);
        let now = self.clock.now;
        let executing: Vec<_> = self.cpus.iter().filter_map(|c| c.current).collect();
        let threads = || self.threads.all_visible();
        let name = |thread: &Thread| ThreadName {
            script: thread.script,
            name: thread.name(self.threads.scripts),
        };
        RunReport {
            energy_active: self.core.state().energy_active != 0,
            counted,
            lock_wait_ns: (self.machine.costs.locks())
                .then_some(self.contention.totals.lock_wait_ns),
            line_wait_ns: self
                .contention
                .lines
                .are_on()
                .then_some(self.contention.totals.line_wait_ns),
            double_placements: (self.machine.costs.publish_ns > 0)
                .then_some(self.contention.totals.double_placements),
            end_ns: now,
            start_ns: self.program.t_zero_ns,
            ended,
            events: self.clock.events,
            events_by_kind: self.clock.kinds(),
            event_hash: self.clock.hash,
            tasks: threads()
                .map(|(index, t)| t.totals_at(now, executing.contains(&index)))
                .collect(),
            threads: threads().map(|(_, t)| name(t)).collect(),
            sched_ext,
            reasons: counts.filter(|(_, n)| *n > 0).collect(),
        }
    }

    /// Every thread that can run is on exactly the queue that counts it, and the core counts alike.
    fn check_nothing_lost(&self) {
        for (index, cpu) in self.cpus.iter().enumerate() {
            let number = CpuId(index as u32);
            self.home.check(number);
            self.check_groups(number);
            let fair = cpu.current.is_some() && cpu.classes.running.is_none();
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
        let runnable = self.threads.all.iter().filter(|t| t.is_runnable()).count();
        assert_eq!(
            queued + self.nr_class(),
            runnable,
            "runnable threads and queue entries differ"
        );
    }
}

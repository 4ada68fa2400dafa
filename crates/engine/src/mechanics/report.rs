//! The loop's view of a run, and what came out at its end. What is told at the end is made of what
//! observers heard: both must add up.
//!
//! What must stay: fields of the report are those of results (docs/result.schema.json). Free: what
//! leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `it_ends_with_the_last_task` (`has_ended`, `why_ended`),
//! `run_time_is_work_over_speed_at_each_operating_point` (`finish_stretches`, `report`: tasks),
//! channels.rs::`nothing_is_counted_within_the_warm_up` (`counted`),
//! forking.rs::`threads_are_made_named_and_counted` (`threads`). `next_event`, `set_now` and
//! `count` by every run.
//!
//! Callers: sim.rs (`next_event`, `why_ended`, `finish_stretches`).
//!
//! Tests: crates/engine/tests/behaviour/outcomes.rs, crates/engine/tests/behaviour/arithmetic.rs,
//! crates/engine/tests/behaviour/channels.rs::nothing_is_counted_within_the_warm_up,
//! crates/engine/tests/behaviour/forking.rs

use super::Mechanics;
use super::queue::{Event, KernelEvent};
use super::thread::Thread;
use crate::kernel::{Kernel, KernelReport};
use crate::observe::{Happening, Observer};
use crate::outcome::{Counted, Ended, RunReport, ThreadName};

/// The loop.
impl<O: Observer> Mechanics<'_, O> {
    /// The next event, if it is due by `end_ns`; `kept`: one that the kernel keeps, and when it is
    /// due. The clock stays where it is.
    #[inline(always)]
    pub(crate) fn next_event(
        &mut self,
        end_ns: u64,
        kept: Option<(u64, KernelEvent)>,
    ) -> Option<(u64, Event)> {
        if let Some((at_ns, event)) = kept
            && at_ns <= end_ns
            && !self.clock.comes_before(at_ns, event.class)
        {
            return Some((at_ns, Event::Kernel(event)));
        }
        self.clock.pop_until(end_ns)
    }

    /// Time goes forward only: the loop calls it with the time of the next event.
    #[inline]
    pub(crate) fn set_now(&mut self, now_ns: u64) {
        self.clock.now = now_ns;
    }

    /// An event is about to be handled.
    #[inline]
    pub(crate) fn count(&mut self, event: Event) {
        self.clock.count(event);
    }

    /// The run does not go on.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.is_some() || self.threads.alive == 0 || self.is_deadlock()
    }

    /// Why the run does not go on; asked once `has_ended`.
    pub(crate) fn why_ended(&mut self) -> Ended {
        match self.ended.take() {
            Some(ended) => ended,
            None if self.threads.alive == 0 => Ended::AllTasksExited,
            None => Ended::Deadlock {
                waits: self.waits(),
            },
        }
    }
}

/// The end.
impl<O: Observer> Mechanics<'_, O> {
    /// Tasks that run are accounted up to now.
    pub(crate) fn finish_stretches<K: Kernel>(&mut self, k: &mut K) {
        for cpu in self.machine.cpus() {
            self.account(k, cpu);
            self.finish_stretch(cpu);
        }
    }

    /// What came out: sums of what observers heard, and the kernel's part.
    pub(crate) fn report(
        self,
        ended: Ended,
        of_kernel: KernelReport,
        event_name: impl Fn(u8) -> &'static str,
    ) -> RunReport {
        let now = self.clock.now;
        self.told.observer.happened(now, &Happening::Finish);
        let counted = self.program.counts_from_ns().and_then(|from| {
            let window_ns = now.saturating_sub(from);
            let units = self.threads.all.iter().map(|t| t.totals.counted).sum();
            (window_ns > 0).then_some(Counted { units, window_ns })
        });
        let executing: Vec<_> = self.cpus.iter().filter_map(|c| c.current).collect();
        let threads = || self.threads.all_visible();
        let name = |thread: &Thread| ThreadName {
            script: thread.script,
            name: thread.name(self.threads.scripts),
        };
        RunReport {
            energy_active: of_kernel.energy_active,
            kernel_counts: of_kernel.counts,
            lines: of_kernel.lines,
            counted,
            lock_wait_ns: of_kernel.lock_wait_ns,
            line_wait_ns: of_kernel.line_wait_ns,
            double_placements: of_kernel.double_placements,
            end_ns: now,
            start_ns: self.program.t_zero_ns,
            ended,
            events: self.clock.events,
            events_by_kind: self.clock.kinds(event_name),
            event_hash: self.clock.hash,
            tasks: threads()
                .map(|(index, t)| t.totals_at(now, executing.contains(&index)))
                .collect(),
            threads: threads().map(|(_, t)| name(t)).collect(),
            sched_ext: of_kernel.sched_ext,
            groups: of_kernel.groups,
            reasons: of_kernel.reasons,
        }
    }
}

//! Takes down what the engine tells. Nothing is left out or put in another order: the walk on the
//! other thread sees what an observer would (docs/guide/traces.md).
//!
//! What must stay: nothing is left out or put in another order, so that the walk sees what an
//! observer would; it is in the way of the run, so it only copies; what is no event of a kernel is
//! left out here. Times are ns. Free: what leaves the bytes of files as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `events_told_by_hand` (`happened`),
//! `clusters_and_hotplug_have_tracks` (`count`), `whole_runs_read_back` (`tell`, many batches),
//! long_runs.rs::`a_full_disk_ends_the_run` (`is_done`), all also `next_state_ns`. `state` has no
//! test of its own.
//!
//! Tests: crates/trace/tests/all/traces.rs, crates/trace/tests/all/long_runs.rs

use super::Traces;
use super::sink::Counter;
use super::told::{Told, What};
use wakeplace_engine::StateView;
use wakeplace_engine::observe::{Happening, Observer};

/// Things told that are handed over at once.
const BATCH: usize = 1 << 12;
/// Time between two looks at signals: a tick at 250 Hz, and more often than they are brought up to
/// date where nothing happens.
const SAMPLE_NS: u64 = 4_000_000;

/// Signals of a CPU; None: nothing was told of them yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    util: Option<u32>,
    capacity: Option<u32>,
}

impl Traces {
    /// Takes something down; a full batch goes to the other thread.
    #[inline]
    fn tell(&mut self, time_ns: u64, what: What) {
        self.batch.push(Told { time_ns, what });
        if self.batch.len() >= BATCH {
            self.scribe.hand_over(&mut self.batch);
        }
    }

    /// A quantity has this value from now on.
    fn count(&mut self, time_ns: u64, counter: Counter, value: u32) {
        self.tell(time_ns, What::Counter { counter, value });
    }
}

impl Observer for Traces {
    /// Takes down what a trace can show.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Hotplug { cpu, online } => {
                self.count(time_ns, Counter::Online(cpu), online.into());
            }
            Happening::Overutilized { on } => {
                self.count(time_ns, Counter::Overutilized, on.into());
            }
            // They are no events of a kernel.
            Happening::WakeupCase(_)
            | Happening::TimerSlack { .. }
            | Happening::Iteration { .. }
            | Happening::FrameBegin { .. }
            | Happening::FrameEnd { .. }
            | Happening::Sample { .. } => {}
            _ => self.tell(time_ns, What::Happened(*what)),
        }
        if *what == Happening::Finish {
            self.scribe.last(&mut self.batch);
        }
    }

    /// When signals are to be sampled next.
    fn next_state_ns(&self) -> Option<u64> {
        Some(self.sample_ns)
    }

    /// Takes down signals and capacities that changed since the last sample.
    fn state(&mut self, state: &StateView<'_>) {
        let time_ns = state.time_ns;
        self.sample_ns = time_ns + SAMPLE_NS;
        self.tell(time_ns, What::Sample);
        for cpu in 0..self.signals.len() as u32 {
            let last = &mut self.signals[cpu as usize];
            let (util, capacity) = state.signals(cpu);
            let util_is_new = last.util.replace(util) != Some(util);
            let capacity_is_new = last.capacity.replace(capacity) != Some(capacity);
            if util_is_new {
                self.count(time_ns, Counter::Util(cpu), util);
            }
            if capacity_is_new {
                self.count(time_ns, Counter::Capacity(cpu), capacity);
            }
        }
    }

    /// Nothing more can be written: the run may end.
    fn is_done(&self) -> bool {
        self.scribe.has_failed()
    }
}

//! Two observers of one run. Each hears all, in one order; what either wants is shown, and the run
//! ends where either is done (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: the first one hears before the second, of everything. A method that `Observer`
//! gets has its twin here; what is forgotten falls back to the default and nobody hears of it.
//! Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `whole_runs_read_back` (`happened`),
//! crates/engine/tests/behaviour/explain.rs::`it_is_the_decision_of_the_run` (`situation`,
//! `is_done`), crates/engine/tests/behaviour/sched_ext/explained.rs::`a_direct_dispatch`
//! (`sched_ext`), crates/cli/tests/all/kernel_diff.rs::`the_cores_signals_are_the_kernels`
//! (`decided`, `updated`; where a tree is built). `state` of two that ask for different times has
//! no test of its own. The methods that ask what is wanted, `nr_updated` and `take_nr_updated` by
//! the same tests as what they ask for; `next_state_ns` has none with two that ask. These are
//! `wants_decided`, `wants_signals`, `wants_updated`, `wants_situation` and `wants_sched_ext`.
//!
//! Tests: crates/trace/tests/all/traces.rs::whole_runs_read_back,
//! crates/engine/tests/behaviour/explain.rs, crates/engine/tests/behaviour/sched_ext/explained.rs

use crate::observe::{Happening, Observer, SchedExtStep, Situation};
use crate::state::StateView;
use wakeplace_kernel_abi::{Decided, Updated};

/// Both see everything, the first one first.
#[derive(Debug)]
pub struct Both<'a, A: ?Sized, B: ?Sized>(pub &'a mut A, pub &'a mut B);

impl<A: Observer + ?Sized, B: Observer + ?Sized> Observer for Both<'_, A, B> {
    /// Both hear it, the first one first.
    #[inline(always)]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        self.0.happened(time_ns, what);
        self.1.happened(time_ns, what);
    }

    /// Both hear it.
    fn decided(&mut self, time_ns: u64, decided: &Decided) {
        self.0.decided(time_ns, decided);
        self.1.decided(time_ns, decided);
    }

    /// It is made once if either wants it.
    fn wants_decided(&self) -> bool {
        self.0.wants_decided() || self.1.wants_decided()
    }

    fn wants_signals(&self) -> bool {
        self.0.wants_signals() || self.1.wants_signals()
    }

    fn updated(&mut self, time_ns: u64, updated: &Updated) {
        self.0.updated(time_ns, updated);
        self.1.updated(time_ns, updated);
    }

    fn wants_updated(&self) -> bool {
        self.0.wants_updated() || self.1.wants_updated()
    }

    fn nr_updated(&self) -> Option<&[u64]> {
        self.0.nr_updated().or_else(|| self.1.nr_updated())
    }

    fn take_nr_updated(&mut self, counts: &[u64]) {
        self.0.take_nr_updated(counts);
        self.1.take_nr_updated(counts);
    }

    fn wants_situation(&self) -> bool {
        self.0.wants_situation() || self.1.wants_situation()
    }

    /// Both are shown it, also one that did not ask.
    fn situation(&mut self, time_ns: u64, situation: &Situation<'_>) {
        self.0.situation(time_ns, situation);
        self.1.situation(time_ns, situation);
    }

    /// The earlier of the two times, ns; None: neither wants a state.
    fn next_state_ns(&self) -> Option<u64> {
        let times = [self.0.next_state_ns(), self.1.next_state_ns()];
        times.into_iter().flatten().min()
    }

    /// Only who asked for this very time is shown it: `Observer::state` answers a question.
    fn state(&mut self, state: &StateView<'_>) {
        if self.0.next_state_ns() == Some(state.time_ns) {
            self.0.state(state);
        }
        if self.1.next_state_ns() == Some(state.time_ns) {
            self.1.state(state);
        }
    }

    /// It is told if either wants it; the other one hears it too.
    fn wants_sched_ext(&self) -> bool {
        self.0.wants_sched_ext() || self.1.wants_sched_ext()
    }

    /// Both hear it.
    fn sched_ext(&mut self, time_ns: u64, step: &SchedExtStep) {
        self.0.sched_ext(time_ns, step);
        self.1.sched_ext(time_ns, step);
    }

    /// One that has seen enough ends the run for both.
    fn is_done(&self) -> bool {
        self.0.is_done() || self.1.is_done()
    }
}

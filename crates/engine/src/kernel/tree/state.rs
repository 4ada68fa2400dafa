//! The state of everything, for who asks: signals and queues as the tree has them. Showing changes
//! nothing (docs/guide/kernel.md, "In a run").
//!
//! What must stay: `&self`, so looking cannot change a run. What the tree does not tell is left
//! out, not guessed. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change
//! may touch"). Tests by part: `a_decision_is_explained_by_the_trees_own_figures` is the nearest
//! (it asks for a decision, not for a state). `show` and `state_of` have no test of their own.
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::a_decision_is_explained_by_the_trees_own_figures

use super::Tree;
use crate::ids::CpuId;
use crate::mechanics::{Mechanics, Seen};
use crate::observe::Observer;
use crate::state::{Activity, CpuState, MachineState, StateView};
use wakeplace_kernel_abi::abi;

impl Tree<'_> {
    /// Shows observers the state of everything but sched domains.
    pub(super) fn show<O: Observer>(&self, m: &mut Mechanics<'_, O>, time_ns: u64) {
        let (observer, seen) = m.look();
        let signals = |cpu: u32| {
            let state = self.entries.cpu_state(cpu).unwrap_or_default();
            (state.util, state.capacity)
        };
        let cpus = || self.machine.cpus().map(|cpu| self.state_of(cpu, &seen));
        observer.state(&StateView {
            time_ns,
            signals: &signals,
            take: &|| MachineState {
                time_ns,
                overutilized: seen.overutilized,
                cpus: cpus().collect(),
                domains: Vec::new(),
            },
        });
    }

    /// One CPU as `States` show it.
    fn state_of(&self, cpu: CpuId, seen: &Seen<'_>) -> CpuState {
        let state = self.entries.cpu_state(cpu.0).unwrap_or_default();
        let domain = self.machine.domain_of[cpu.index()] as usize;
        let online = state.online != 0;
        CpuState {
            cpu: cpu.0,
            online,
            activity: match online {
                true => Activity::of(seen.power(cpu), |state| seen.idle_name(state)),
                false => Activity::Offline,
            },
            khz: self.khz[domain][seen.opp(domain)],
            running: seen.current(cpu).map(|task| seen.threads.shown_name(task)),
            nr_running: state.nr_running,
            util: state.util,
            util_est: state.util_est,
            capacity: state.capacity,
            capacity_orig: state.capacity_orig,
            tick_stopped: self.view(cpu).state == abi::state::WAIT && state.tick_stopped != 0,
            sched_mc: None,
        }
    }
}

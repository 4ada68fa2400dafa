//! The state of everything, for who asks. Showing changes nothing (docs/guide/report.md, "The state
//! at a time").
//!
//! What must stay: it takes `&self`, so looking cannot change a run (`looking_changes_nothing`);
//! names are those of reports. What is shown is `StateView`, with its form in state.rs of the
//! crate. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: `power_mode_is_seen`, `level_0_is_seen`, `a_cpu_that_left_is_seen`. That is
//! `show`, `machine`, `cpu_state` and `thread_name`.
//!
//! Tests: crates/engine/tests/behaviour/states.rs

use super::Model;
use crate::ids::{CpuId, TaskId};
use crate::mechanics::{Mechanics, Seen};
use crate::observe::Observer;
use crate::state::{Activity, CpuState, MachineState, StateView, domains, sched_mc};

/// What there is to see.
struct Parts<'s, 'a> {
    time_ns: u64,
    model: &'s Model<'a>,
    seen: Seen<'s>,
}

impl Model<'_> {
    /// Shows observers the state of everything.
    pub(super) fn show<O: Observer>(&self, m: &mut Mechanics<'_, O>, time_ns: u64) {
        let (observer, seen) = m.look();
        let parts = Parts {
            time_ns,
            model: self,
            seen,
        };
        observer.state(&StateView {
            time_ns,
            signals: &|cpu| {
                let load = &self.core.cpu(cpu).load;
                (load.avg.util_avg, load.capacity)
            },
            take: &|| parts.machine(),
        });
    }
}

impl Parts<'_, '_> {
    /// The whole machine at this instant.
    fn machine(&self) -> MachineState {
        MachineState {
            time_ns: self.time_ns,
            overutilized: self.seen.overutilized,
            cpus: self
                .model
                .machine
                .cpus()
                .map(|c| self.cpu_state(c))
                .collect(),
            domains: domains(&self.model.core),
        }
    }

    /// One CPU as `States` show it.
    fn cpu_state(&self, cpu: CpuId) -> CpuState {
        let (core, model) = (self.model.core.cpu(cpu.0), &self.model.cpus[cpu]);
        let domain = self.model.machine.domain_of[cpu.index()] as usize;
        let online = core.queue.online != 0;
        CpuState {
            cpu: cpu.0,
            online,
            activity: if online {
                Activity::of(self.seen.power(cpu), |state| self.seen.idle_name(state))
            } else {
                Activity::Offline
            },
            khz: self.model.facts.freq_domains[domain].opp_khz[self.seen.opp(domain)],
            running: self.seen.current(cpu).map(|task| self.thread_name(task)),
            nr_running: core.queue.nr_running,
            util: core.load.avg.util_avg,
            util_est: core.load.util_est,
            capacity: core.load.capacity,
            capacity_orig: core.load.capacity_orig,
            tick_stopped: model.tick_stopped,
            sched_mc: sched_mc(&self.model.core, cpu.0),
        }
    }

    /// As reports have it; of the thread that makes all others `parent`, of its `shell`, of kernel
    /// threads theirs.
    fn thread_name(&self, task: TaskId) -> String {
        let kthread = self.seen.threads.kthread_index(task);
        if let Some(name) = kthread.and_then(|index| self.model.kthreads.name(index)) {
            return name.to_owned();
        }
        self.seen.threads.shown_name(task)
    }
}

//! The state of everything, for who asks.

use super::Sim;
use super::cpu::Cpu;
use super::kthreads::Kthreads;
use super::threads::Threads;
use crate::ids::{CpuId, PerCpu, TaskId};
use crate::machine::Machine;
use crate::observe::{CpuPower, Observer};
use crate::state::{Activity, CpuState, MachineState, StateView, domains, sched_mc};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Core, MachineFacts};

/// What views of the state need beside it.
pub(super) struct Views {
    /// Names of the idle states, as the platform numbers them.
    idle_names: Vec<String>,
    /// When the observer wants the next one, ns; `u64::MAX`: no more.
    next_ns: u64,
}

impl Views {
    pub(super) fn new(platform: &Platform, observer: &impl Observer) -> Self {
        let states = platform.idle_states.iter();
        Self {
            idle_names: states.map(|state| state.name.clone()).collect(),
            next_ns: observer.next_state_ns().unwrap_or(u64::MAX),
        }
    }
}

/// What a run consists of, beside its observer.
struct Parts<'a> {
    time_ns: u64,
    overutilized: bool,
    core: &'a Core,
    cpus: &'a PerCpu<Cpu>,
    machine: &'a Machine,
    facts: &'a MachineFacts,
    opp: &'a [u16],
    threads: &'a Threads<'a>,
    kthreads: &'a Kthreads,
    idle_names: &'a [String],
}

impl<O: Observer> Sim<'_, O> {
    /// Shows the states asked for of times before `end_ns`, at which nothing else happens any more.
    #[inline]
    pub(super) fn show_states(&mut self, end_ns: u64) {
        while self.told.views.next_ns < end_ns {
            self.show_state(self.told.views.next_ns);
            self.told.views.next_ns = self.told.observer.next_state_ns().unwrap_or(u64::MAX);
        }
    }

    fn show_state(&mut self, time_ns: u64) {
        let parts = Parts {
            time_ns,
            overutilized: self.told.is_overutilized(),
            core: &self.core,
            cpus: &self.cpus,
            machine: &self.machine,
            facts: &self.changes.facts,
            opp: &self.hardware.opp,
            threads: &self.threads,
            kthreads: &self.kthreads,
            idle_names: &self.told.views.idle_names,
        };
        self.told.observer.state(&StateView {
            time_ns,
            core: &self.core,
            take: &|| parts.machine(),
        });
    }
}

impl Parts<'_> {
    fn machine(&self) -> MachineState {
        MachineState {
            time_ns: self.time_ns,
            overutilized: self.overutilized,
            cpus: self.machine.cpus().map(|c| self.cpu_state(c)).collect(),
            domains: domains(self.core),
        }
    }

    fn cpu_state(&self, cpu: CpuId) -> CpuState {
        let (core, engine) = (self.core.cpu(cpu.0), &self.cpus[cpu]);
        let domain = self.machine.domain_of[cpu.index()] as usize;
        let online = core.queue.online != 0;
        CpuState {
            cpu: cpu.0,
            online,
            activity: if online {
                self.activity(engine.power)
            } else {
                Activity::Offline
            },
            khz: self.facts.freq_domains[domain].opp_khz[self.opp[domain] as usize],
            running: engine.current.map(|task| self.thread_name(task)),
            nr_running: core.queue.nr_running,
            util: core.load.avg.util_avg,
            util_est: core.load.util_est,
            capacity: core.load.capacity,
            capacity_orig: core.load.capacity_orig,
            tick_stopped: engine.tick_stopped,
            sched_mc: sched_mc(self.core, cpu.0),
        }
    }

    fn activity(&self, power: Option<CpuPower>) -> Activity {
        let name = |state: u16| self.idle_names[usize::from(state)].clone();
        match power {
            Some(CpuPower::Transition { state }) => Activity::Transition(name(state)),
            Some(CpuPower::Idle { state }) => Activity::Idle(name(state)),
            Some(CpuPower::Busy) | None => Activity::Busy,
        }
    }

    /// As reports have it; of the thread that makes all others `parent`, of its `shell`, of kernel
    /// threads theirs.
    fn thread_name(&self, task: TaskId) -> String {
        if self.threads.is_parent(task) {
            return "parent".to_owned();
        }
        if self.threads.is_shell(task) {
            return "shell".to_owned();
        }
        let kthread = self.threads.kthread_index(task);
        if let Some(name) = kthread.and_then(|index| self.kthreads.name(index)) {
            return name.to_owned();
        }
        let thread = &self.threads[task];
        thread.name(self.threads.scripts)
    }
}

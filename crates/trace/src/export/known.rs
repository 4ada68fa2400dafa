//! What is known of the run while its events are told, and how they are named
//! (docs/guide/traces.md). Names and numbers are given once and never change.
//!
//! What must stay: names and numbers of threads follow from the order of creation and never change,
//! so that two traces of a run are equal; times are ns; what an interrupt did is no task's doing.
//! Free: what leaves the bytes of files as they are (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: `events_told_by_hand` (`switch`, `migration`, `on_cpu`, `by_leader`,
//! `take_left`), `an_interrupt_is_no_tasks_doing` (`by`), `priorities_follow_the_phases`
//! (`thread`), `clusters_and_hotplug_have_tracks` (`has_states`, `clusters`),
//! `whole_runs_read_back` (equal bytes), all (`new`, `cpu`, `cpu_mut`, `event`, `context`,
//! `forked`, `just_left`), replay/exported.rs::`tasks_by_timers_come_back` (`timer`).
//!
//! Callers: walk.rs (`by_leader`, `migration`, `just_left`, `take_left`), export/perfetto/tracks.rs
//! (`has_states`).
//!
//! Tests: crates/trace/tests/all/traces.rs

use super::threads::{Cpu, LEADER, Thread, leader_comm};
use crate::event::{Context, Event, Kind, TaskState, Who};
use wakeplace_platform::{CpuId, FreqDomain, IdleScope, Platform};
use wakeplace_workload::{TaskScript, Workload};

/// The machine and its threads, now.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) now_ns: u64,
    /// Name of the process, whose main thread makes the others.
    pub(crate) leader: String,
    /// The scripts, and how many threads each one's forks have made.
    pub(crate) scripts: Vec<(TaskScript, u64)>,
    /// By the engine's number.
    pub(crate) threads: Vec<Thread>,
    pub(crate) cpus: Vec<Cpu>,
    /// CPUs of each frequency domain.
    pub(crate) domains: Vec<Vec<u32>>,
    /// The first CPU of each cluster that has idle states of its own; None: it has none.
    pub(crate) clusters: Vec<Option<u32>>,
    /// CPUs that a thread has just left, in that order.
    pub(crate) leaving: Vec<u32>,
}

impl Known {
    /// Before the run: the workload's threads, every CPU idle.
    pub(crate) fn new(platform: &Platform, workload: &Workload) -> Self {
        let numbered = workload.tasks.iter().enumerate();
        let domain = |domain: &FreqDomain| domain.cpus.iter().map(|cpu| cpu.0).collect();
        let scripts = workload.tasks.iter().map(|script| (script.clone(), 0));
        Self {
            now_ns: 0,
            leader: leader_comm(workload),
            scripts: scripts.collect(),
            threads: numbered
                .map(|(number, script)| Thread::new(number, script, None))
                .collect(),
            cpus: Cpu::all(platform),
            domains: platform.freq_domains.iter().map(domain).collect(),
            clusters: (platform.clusters.iter())
                .map(|cluster| has_states(platform, cluster.cpus[0]).then_some(cluster.cpus[0].0))
                .collect(),
            leaving: Vec::new(),
        }
    }

    /// The thread of this number.
    pub(crate) fn thread(&self, task: u32) -> &Thread {
        &self.threads[task as usize]
    }

    /// What is known of a CPU.
    pub(crate) fn cpu(&self, cpu: u32) -> &Cpu {
        &self.cpus[cpu as usize]
    }

    /// The same, to be changed.
    pub(crate) fn cpu_mut(&mut self, cpu: u32) -> &mut Cpu {
        &mut self.cpus[cpu as usize]
    }

    /// The context of what a CPU does by itself: that of its thread, or of its idle task.
    pub(crate) fn on_cpu(&self, cpu: u32) -> Context<'_> {
        let at = self.cpu(cpu);
        let thread = at.running.or(at.left.map(|(task, _)| task));
        let who = thread.map_or(at.idle_task(), |task| self.thread(task).who());
        context(cpu, who)
    }

    /// The context of what a thread or (None) an interrupt did on a CPU.
    pub(crate) fn by(&self, cpu: u32, thread: Option<u32>) -> Context<'_> {
        match thread {
            Some(thread) => context(cpu, self.thread(thread).who()),
            None => Context {
                interrupt: true,
                ..context(cpu, self.cpu(cpu).idle_task())
            },
        }
    }

    /// The context of the process's main thread, which makes the others.
    pub(crate) fn by_leader(&self, cpu: u32) -> Context<'_> {
        Context {
            cpu,
            pid: LEADER,
            comm: &self.leader,
            interrupt: false,
        }
    }

    /// Address of the timer that ends a thread's sleeps. A kernel's is on the thread's stack.
    pub(crate) fn timer(&self, task: u32) -> u64 {
        u64::from(self.thread(task).pid.cast_unsigned())
    }

    /// An event at the present time.
    pub(crate) fn event<'a>(&self, context: Context<'a>, kind: Kind<'a>) -> Event<'a> {
        let time_ns = self.now_ns;
        Event {
            time_ns,
            context,
            kind,
        }
    }

    /// A switch; None: the idle task.
    pub(crate) fn switch(
        &self,
        cpu: u32,
        prev: Option<(u32, TaskState)>,
        next: Option<u32>,
    ) -> Event<'_> {
        let idle = self.cpu(cpu).idle_task();
        let who = |task: u32| self.thread(task).who();
        let (prev, prev_state) = match prev {
            Some((task, state)) => (who(task), state),
            None => (idle, TaskState::Runnable),
        };
        let next = next.map_or(idle, who);
        let kind = Kind::Switch {
            prev,
            prev_state,
            next,
        };
        self.event(context(cpu, prev), kind)
    }

    /// The event of a move, with its task as it is known.
    pub(crate) fn migration<'a>(
        &'a self,
        task: u32,
        dest_cpu: u32,
        context: Context<'a>,
    ) -> Event<'a> {
        let thread = self.thread(task);
        let kind = Kind::Migrate {
            task: thread.who(),
            orig_cpu: thread.cpu,
            dest_cpu,
        };
        self.event(context, kind)
    }

    /// The CPU that the thread has just left, if nobody has followed there yet.
    pub(crate) fn just_left(&self, task: u32) -> Option<u32> {
        let left = |cpu: &u32| {
            let left = self.cpu(*cpu).left;
            left.is_some_and(|(other, _)| other == task)
        };
        self.leaving.iter().copied().find(left)
    }

    /// Who has just left the CPU; that is dealt with now.
    pub(crate) fn take_left(&mut self, cpu: u32) -> Option<(u32, TaskState)> {
        let left = self.cpu_mut(cpu).left.take();
        if left.is_some() {
            self.leaving.retain(|other| *other != cpu);
        }
        left
    }

    /// A thread more, of a script.
    pub(crate) fn forked(&mut self, task: u32, script: u32) {
        let number = task as usize;
        if number != self.threads.len() {
            return;
        }
        if let Some((script, forks)) = self.scripts.get_mut(script as usize) {
            self.threads.push(Thread::new(number, script, Some(*forks)));
            *forks += 1;
        }
    }
}

/// Has the cluster of this CPU idle states of its own?
pub(crate) fn has_states(platform: &Platform, first: CpuId) -> bool {
    let mut states = platform.idle_states_of(first);
    states.any(|(_, state)| state.scope == IdleScope::Cluster)
}

/// The context of a thread on a CPU, no interrupt.
fn context<'a>(cpu: u32, who: Who<'a>) -> Context<'a> {
    Context {
        cpu,
        pid: who.pid,
        comm: who.comm,
        interrupt: false,
    }
}

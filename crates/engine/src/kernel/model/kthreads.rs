//! Kernel threads that a platform states: those that change frequencies for schedutil where
//! hardware cannot do it at once, and those that run now and then. They are tasks of CPUs like
//! others, but nobody sees them: their time shows in what CPUs do and draw, and in what others
//! wait. (docs/guide/model.md, "Kernel threads")
//!
//! What must stay: their thread numbers follow those of the scripts, the parent and the shell; they
//! are in no result but by the time they take. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_governors_thread_runs_for_each_change`, `a_governors_thread_displaces_fair_tasks` (class),
//! `a_periodic_thread_takes_its_time`, `it_can_be_switched_off`. By function:
//! `a_governors_thread_runs_for_each_change` (`request_frequency`, `kthread_wakes`,
//! `governor_takes`, `governor_goes_on`, `kthread_goes_on`),
//! `a_governors_thread_displaces_fair_tasks` (`realtimes`, `class_states`),
//! `a_periodic_thread_takes_its_time` (`new`, `action`, `start_kthreads`, `settle`),
//! `it_can_be_switched_off` (`new`: none). `name`, `cpus`, `len`, `numbers`: all of these.
//! `realtime` is with `realtimes`.
//!
//! Callers: interface.rs (`start_kthreads`, `kthread_goes_on`), mod.rs (`actions`), run.rs
//! (`request_frequency`), task.rs (`realtimes`), wake.rs (`kthread_wakes`).
//!
//! Tests: crates/engine/tests/behaviour/kthreads.rs

use super::Model;
use super::class_state::{ClassParams, ClassState};
use super::event::Event;
use crate::ids::TaskId;
use crate::machine::FULL_SPEED;
use crate::mechanics::Action;
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use crate::options::Options;
use wakeplace_platform::{CpuId, Housekeeping, Platform};
use wakeplace_policy_sys::{Core, Task};
use wakeplace_workload::{RealTime, Stream};

/// What schedutil gives its threads (`sugov_kthread_create`): SCHED_DEADLINE with 10 ms, marked
/// SCHED_FLAG_SUGOV, so that they reserve no bandwidth and are never held back.
const GOVERNOR: RealTime = RealTime::Deadline {
    runtime_ns: 0,
    deadline_ns: 10_000_000,
    period_ns: 10_000_000,
};

/// What a kernel thread does when it has been woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It changes the frequency of this domain.
    Governor { domain: u32 },
    /// It runs once in each period, the first time at `first_ns`.
    Periodic { first_ns: u64, period_ns: u64 },
}

/// A kernel thread before it is a thread.
#[derive(Clone, Debug)]
pub(super) struct Kthread {
    name: String,
    kind: Kind,
    /// What it does each time.
    action: Action,
    /// CPUs it may use; None: all.
    cpus: Option<Vec<u32>>,
}

/// The thread that changes a domain's frequency.
#[derive(Clone, Copy, Debug)]
struct Governor {
    /// Which of the kernel threads.
    index: u32,
    /// The request that it works on; None: it sleeps.
    at_work: Option<u32>,
    /// Another request was made meanwhile.
    again: bool,
}

/// The kernel threads of a run, in the order of their threads.
#[derive(Debug, Default)]
pub(super) struct Kthreads {
    all: Vec<Kthread>,
    /// Per frequency domain, the one that changes its frequency.
    governors: Vec<Option<Governor>>,
}

impl Kthreads {
    /// The platform's threads, each with its CPU, class and work; none where the setting is off.
    pub(super) fn new(platform: &Platform, options: &Options) -> Self {
        let stated = platform.housekeeping.as_ref();
        let Some(stated) = stated.filter(|_| options.housekeeping) else {
            return Self::default();
        };
        let mut all = Vec::new();
        let mut governors = vec![None; platform.freq_domains.len()];
        if let Some(run_ns) = stated.governor_ns {
            for (index, domain) in platform.freq_domains.iter().enumerate() {
                if domain.opps.len() < 2 {
                    continue; // nobody ever asks for another one
                }
                governors[index] = Some(Governor {
                    index: all.len() as u32,
                    at_work: None,
                    again: false,
                });
                all.push(Kthread {
                    name: format!("sugov:{}", domain.cpus[0].0),
                    kind: Kind::Governor {
                        domain: index as u32,
                    },
                    action: action(stated, run_ns),
                    cpus: Some(numbers(&domain.cpus)),
                });
            }
        }
        let last = platform.cpus.len() as u32;
        for thread in &stated.threads {
            // Of a machine that is used in part, the rest is not there.
            let cpus = thread.cpus.as_deref().map(numbers);
            let cpus = cpus.map(|cpus| cpus.into_iter().filter(|cpu| *cpu < last).collect());
            if cpus.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            // Nobody knows their phases: one fixed time each, the same in every run.
            let first_ns = Stream::for_task(0, &thread.name).below(thread.period_ns);
            all.push(Kthread {
                name: thread.name.clone(),
                kind: Kind::Periodic {
                    first_ns,
                    period_ns: thread.period_ns,
                },
                action: action(stated, thread.run_ns),
                cpus,
            });
        }
        Self { all, governors }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// What each of them does when it first runs.
    pub(super) fn actions(&self) -> Vec<Action> {
        self.all.iter().map(|kthread| kthread.action).collect()
    }

    /// Their policies, where they are above the fair class.
    pub(super) fn realtimes(&self) -> impl Iterator<Item = Option<RealTime>> {
        self.all.iter().map(Kthread::realtime)
    }

    /// Name of the n-th.
    pub(super) fn name(&self, index: usize) -> Option<&str> {
        Some(&self.all.get(index)?.name)
    }

    /// CPUs of the n-th.
    pub(super) fn cpus(&self, index: usize) -> Option<&[u32]> {
        self.all[index].cpus.as_deref()
    }

    /// Their states above the fair class; nothing if all of them are fair.
    pub(super) fn class_states(&self, params: &ClassParams) -> Vec<Option<ClassState>> {
        let state = |kthread: &Kthread| {
            let kind = kthread.realtime()?;
            Some(ClassState::new(kind, params))
        };
        match self.governors.iter().any(Option::is_some) {
            true => self.all.iter().map(state).collect(),
            false => Vec::new(),
        }
    }
}

impl Kthread {
    /// Governors' threads are above the fair class, others are fair. None: it is a fair task.
    fn realtime(&self) -> Option<RealTime> {
        matches!(self.kind, Kind::Governor { .. }).then_some(GOVERNOR)
    }
}

/// CPUs as plain numbers, for affinity lists.
fn numbers(cpus: &[CpuId]) -> Vec<u32> {
    cpus.iter().map(|cpu| cpu.0).collect()
}

/// So much time on the biggest CPU at its highest frequency, or on whatever CPU.
fn action(stated: &Housekeeping, ns: u64) -> Action {
    match stated.wall {
        true => Action::Stall(ns),
        false => Action::Work(ns * FULL_SPEED),
    }
}

/// They have been there for long: what they are taken to need is nothing.
fn settle(core: &mut Core, task: &mut Task, cpu: CpuId) {
    core.task_init(task);
    core.task_new(task, cpu.0, 0);
    let avg = &mut task.raw_mut().avg;
    avg.util_avg = 0;
    avg.util_sum = 0;
    avg.load_avg = 0;
    avg.load_sum = 0;
    avg.runnable_avg = 0;
    avg.runnable_sum = 0;
}

impl Model<'_> {
    /// Time 0: they sleep, each on its first CPU.
    pub(super) fn start_kthreads<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        for index in 0..self.kthreads.all.len() {
            let task = m.threads().kthread(index as u32);
            let first = self.kthreads.cpus(index).map_or(0, |cpus| cpus[0]);
            let cpu = self.start_cpu(m, task, CpuId(first));
            settle(&mut self.core, &mut self.tasks[task], cpu);
            self.start_ext(task);
            if let Kind::Periodic { first_ns, .. } = self.kthreads.all[index].kind {
                self.sleep_until(m, task, first_ns);
            }
        }
    }

    /// A domain is to have another frequency: its thread is woken on the CPU that it slept on, or
    /// the hardware does it. A thread that is at work looks for a request when it is done.
    pub(super) fn request_frequency<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, domain: u32) {
        let governors = &mut self.kthreads.governors;
        match governors.get_mut(domain as usize).and_then(Option::as_mut) {
            Some(governor) if governor.at_work.is_some() => governor.again = true,
            Some(Governor { index, .. }) => {
                let index = *index;
                let at = m.now() + self.costs.ipi_ns;
                let task = m.threads().kthread(index);
                let cpu = m.timer_cpu(self.cpu_of(task));
                m.set_due(task, at);
                self.own[task].timer_cpu = cpu;
                m.push(at, Event::Timer { task });
            }
            None => {
                let opp = self.core.take_freq_request(domain);
                m.want_opp(domain, opp as u16);
            }
        }
    }

    /// A kernel thread is woken: a governor's takes the request for which that was.
    pub(super) fn kthread_wakes(&mut self, index: usize) {
        if let Kind::Governor { domain } = self.kthreads.all[index].kind {
            self.governor_takes(domain);
        }
    }

    /// A governor's thread begins to work on the domain's request.
    fn governor_takes(&mut self, domain: u32) {
        let opp = self.core.take_freq_request(domain);
        if let Some(governor) = &mut self.kthreads.governors[domain as usize] {
            (governor.at_work, governor.again) = (Some(opp), false);
        }
    }

    /// A governor's thread has done its part: the hardware begins to change. Does the thread go on
    /// with a request that was made meanwhile?
    fn governor_goes_on<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, domain: u32) -> bool {
        let Some(governor) = &mut self.kthreads.governors[domain as usize] else {
            return false;
        };
        let again = governor.again;
        if let Some(opp) = governor.at_work.take() {
            m.want_opp(domain, opp as u16);
        }
        if again {
            self.governor_takes(domain);
        }
        again
    }

    /// A kernel thread has done what it woke for.
    pub(super) fn kthread_goes_on<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        cpu: CpuId,
        task: TaskId,
        index: usize,
    ) {
        let kthread = &self.kthreads.all[index];
        let kind = kthread.kind;
        m.set_action(task, kthread.action);
        let due = match kind {
            Kind::Governor { domain } => {
                if self.governor_goes_on(m, domain) {
                    return m.resume(self, cpu);
                }
                None
            }
            Kind::Periodic {
                first_ns,
                period_ns,
            } => {
                let done = (m.now().saturating_sub(first_ns)) / period_ns;
                Some(first_ns + (done + 1) * period_ns)
            }
        };
        self.block(m, cpu, task, due);
    }
}

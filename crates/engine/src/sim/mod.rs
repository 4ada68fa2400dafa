//! One simulated machine and its event loop. The handlers are in the files beside this one:
//! `fork` creates the threads, `wake` places them, `run` executes them, `idle` is what CPUs do
//! without them, `tick` and `balance` what the kernel does meanwhile.

mod balance;
mod cpu;
mod fork;
mod idle;
mod live;
mod queues;
mod run;
mod tick;
mod wake;

use crate::dsq::VtimeQueue;
use crate::eevdf::{EevdfParams, EevdfQueue};
use crate::fair::{FairParams, FairQueue};
use crate::machine::{Machine, core_facts};
use crate::observe::{CpuPower, Observer};
use crate::options::Options;
use crate::outcome::{Ended, RunReport};
use crate::queue::{Event, EventQueue};
use crate::run_queue::RunQueue;
use crate::thread::{Thread, TimerState};
use cpu::{ClusterState, Cpu};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Balance, Core, Policy, QueueKind, Reason, Task};
use wakeplace_workload::{Calibration, FairPolicy, Stream, TaskScript, Workload};

/// A run in progress.
pub(crate) struct Sim<'a, O> {
    now: u64,
    queue: EventQueue,
    core: Core,
    machine: Machine,
    fair: FairParams,
    eevdf: EevdfParams,
    /// The queues are the live scheduler's, and so is what differs with them.
    live: bool,
    cpus: Vec<Cpu>,
    clusters: Vec<ClusterState>,
    /// Operating point of each frequency domain.
    opp: Vec<u16>,
    scripts: &'a [TaskScript],
    threads: Vec<Thread>,
    /// The core's record of each thread, same indices. One more than scripts: the parent of all.
    tasks: Vec<Task>,
    timers: Vec<TimerState>,
    /// Work units of one ns of the workload's `Run` times.
    work_per_ns: u64,
    t_zero_ns: Option<u64>,
    forked: usize,
    exited: usize,
    recency: u64,
    overutilized: bool,
    stuck: Option<u32>,
    balance: Balance,
    /// Per CPU: whether it makes a new-idle attempt. One stream each, so that one CPU's draws do
    /// not shift another's.
    dice: Vec<Stream>,
    hash: u64,
    events: u64,
    reasons: [u64; Reason::COUNT],
    observer: &'a mut O,
}

/// Work units of one nanosecond on the calibration CPU at its highest frequency.
fn work_per_ns(machine: &Machine, calibration: Calibration) -> u64 {
    match calibration {
        Calibration::Biggest => 1024 * 1024,
        Calibration::Cpu(cpu) => machine.capacity.get(cpu as usize).copied().unwrap_or(1024) * 1024,
    }
}

/// An empty queue for each CPU, of the kind that the policy asks for.
fn run_queues(core: &Core) -> impl Iterator<Item = RunQueue> {
    let kind = core.queue_kind();
    (0..core.state().nr_cpus).map(move |_| match kind {
        QueueKind::Cfs => RunQueue::Fair(FairQueue::default()),
        QueueKind::Eevdf => RunQueue::Eevdf(EevdfQueue::default()),
        QueueKind::Live => RunQueue::Vtime(VtimeQueue::default()),
    })
}

impl<'a, O: Observer> Sim<'a, O> {
    pub(crate) fn new(
        platform: &Platform,
        policy: &Policy,
        workload: &'a Workload,
        options: &Options,
        observer: &'a mut O,
    ) -> Self {
        let machine = Machine::new(platform, options);
        let core = Core::new(&core_facts(platform), policy.core_params())
            .expect("checked by `check` before the run");
        let threads = workload
            .tasks
            .iter()
            .map(|t| Thread::new(t.nice, t.policy, t.slice_ns));
        Self {
            now: 0,
            queue: EventQueue::default(),
            fair: FairParams::new(policy.core_params(), platform.cpus.len()),
            eevdf: EevdfParams::new(policy.core_params(), platform.cpus.len(), machine.tick_ns),
            cpus: run_queues(&core).map(Cpu::new).collect(),
            live: core.queue_kind() == QueueKind::Live,
            clusters: vec![ClusterState::default(); platform.clusters.len()],
            opp: (0..platform.freq_domains.len())
                .map(|d| core.freq_request(d) as u16)
                .collect(),
            scripts: &workload.tasks,
            threads: threads
                .chain([Thread::new(0, FairPolicy::Other, None)])
                .collect(),
            tasks: fork::core_tasks(workload, machine.nr_cpus),
            timers: workload.timers.iter().map(TimerState::new).collect(),
            work_per_ns: work_per_ns(&machine, workload.calibration),
            t_zero_ns: None,
            forked: 0,
            exited: 0,
            recency: 0,
            overutilized: false,
            stuck: None,
            balance: Balance::default(),
            dice: (0..platform.cpus.len())
                .map(|cpu| Stream::for_task(0, &format!("new-idle balancing of CPU {cpu}")))
                .collect(),
            hash: 0xcbf2_9ce4_8422_2325,
            events: 0,
            reasons: [0; Reason::COUNT],
            core,
            machine,
            observer,
        }
    }

    /// Runs to the end and reports.
    pub(crate) fn run(mut self, options: &Options) -> RunReport {
        let duration_ns = options.duration_ns;
        self.announce();
        self.arm_idle_timer();
        self.start_parent(options.parent_cpu);
        let ended = loop {
            let Some((time, event)) = self.queue.pop_until(duration_ns) else {
                break Ended::Duration;
            };
            self.now = time;
            self.handle(event);
            if let Some(task) = self.stuck {
                break Ended::ZeroTimeLoop { task };
            }
            if self.exited == self.scripts.len() {
                break Ended::AllTasksExited;
            }
        };
        if ended == Ended::Duration {
            self.now = duration_ns;
        }
        self.report(ended)
    }

    /// The state of everything at time 0: all CPUs idle in their shallowest state.
    fn announce(&mut self) {
        for cpu in 0..self.machine.nr_cpus {
            let state = self.machine.idle[cpu as usize][0].index;
            self.power(cpu, CpuPower::Idle { state });
        }
        for cluster in 0..self.clusters.len() as u32 {
            self.observer.cluster_power(0, cluster, None);
        }
        for (domain, opp) in self.opp.iter().enumerate() {
            self.observer.frequency(0, domain as u32, *opp);
        }
        for cpu in 0..self.machine.nr_cpus {
            let domain = self.machine.domain_of[cpu as usize] as usize;
            self.cpus[cpu as usize].speed =
                self.machine.speed[cpu as usize][self.opp[domain] as usize];
            self.go_idle(cpu);
        }
    }

    fn handle(&mut self, event: Event) {
        self.events += 1;
        self.mix(event_code(event));
        match event {
            Event::Freq { domain } => self.apply_frequency(domain),
            Event::RunEnd { cpu } => self.run_end(cpu),
            Event::Timer { task } => self.timer(task),
            Event::Awake { cpu } => self.awake(cpu),
            Event::Interrupt { cpu } => self.interrupt(cpu),
            Event::IdleAgain { cpu, generation } => {
                if self.cpus[cpu as usize].generation == generation {
                    self.work_done(cpu);
                }
            }
            Event::IdleEntered { cpu, generation } => {
                if self.cpus[cpu as usize].generation == generation {
                    self.idle_entered(cpu);
                }
            }
            Event::Tick { cpu } => self.tick(cpu),
            Event::IdleTimer => self.idle_timer(),
        }
        if self.core.overutilized() != self.overutilized {
            self.overutilized = !self.overutilized;
            self.observer.overutilized(self.now, self.overutilized);
        }
    }

    /// Folds a fact into the run's hash, together with the time.
    #[inline]
    fn mix(&mut self, fact: u64) {
        let mixed =
            (self.hash ^ self.now.rotate_left(32) ^ fact).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash = mixed ^ mixed >> 29;
    }

    /// Is this a thread of the workload (not the parent that created them)?
    fn visible(&self, task: u32) -> bool {
        (task as usize) < self.scripts.len()
    }

    fn report(mut self, ended: Ended) -> RunReport {
        for cpu in 0..self.machine.nr_cpus {
            self.account(cpu);
            self.finish_stretch(cpu);
        }
        self.check_nothing_lost();
        self.observer.finish(self.now);
        let counts = Reason::ALL.iter().copied().zip(self.reasons);
        let now = self.now;
        let executing: Vec<_> = self.cpus.iter().filter_map(|c| c.current).collect();
        let threads = self
            .threads
            .into_iter()
            .take(self.scripts.len())
            .enumerate();
        RunReport {
            energy_active: self.core.state().energy_active != 0,
            end_ns: now,
            ended,
            events: self.events,
            event_hash: self.hash,
            tasks: threads
                .map(|(index, t)| t.totals_at(now, executing.contains(&(index as u32))))
                .collect(),
            reasons: counts.filter(|(_, n)| *n > 0).collect(),
        }
    }

    /// Every thread that can run is on exactly the queue that counts it, and the core counts alike.
    fn check_nothing_lost(&self) {
        for (index, cpu) in self.cpus.iter().enumerate() {
            if let RunQueue::Eevdf(queue) = &cpu.queue {
                queue.check();
            }
            let found = cpu.queue.nr_waiting() + usize::from(cpu.current.is_some());
            let core = self.core.cpu(index as u32);
            assert_eq!(
                found,
                cpu.queue.nr(),
                "CPU {index}: its queue and its count differ"
            );
            assert_eq!(
                core.nr_fair as usize,
                cpu.queue.nr(),
                "CPU {index}: the core counts otherwise"
            );
        }
        let queued: usize = self.cpus.iter().map(|c| c.queue.nr()).sum();
        let runnable = self.threads.iter().filter(|t| t.is_runnable()).count();
        assert_eq!(
            queued, runnable,
            "runnable threads and queue entries differ"
        );
    }
}

/// An event as a number for the hash.
fn event_code(event: Event) -> u64 {
    let (kind, subject) = match event {
        Event::Freq { domain } => (0, domain),
        Event::RunEnd { cpu } => (1, cpu),
        Event::Timer { task } => (2, task),
        Event::Awake { cpu } => (3, cpu),
        Event::Interrupt { cpu } => (4, cpu),
        Event::IdleAgain { cpu, .. } => (5, cpu),
        Event::IdleEntered { cpu, .. } => (6, cpu),
        Event::Tick { cpu } => (7, cpu),
        Event::IdleTimer => (8, 0),
    };
    kind << 32 | u64::from(subject)
}

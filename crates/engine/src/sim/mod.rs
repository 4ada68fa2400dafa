//! One simulated machine and its event loop. The handlers are in the files beside this one:
//! `fork` creates the threads, `wake` places them, `run` executes them, `idle` is what CPUs do
//! without them, `tick` and `balance` what the kernel does meanwhile.

mod balance;
mod change;
mod class_change;
mod classes;
mod cpu;
mod fork;
mod groups;
mod hardware;
mod hotplug;
mod idle;
mod kthreads;
mod lines;
mod live;
mod measure;
mod ondemand;
mod queues;
mod run;
mod state;
mod steps;
mod sync;
mod thermal;
mod tick;
mod wake;
mod wake_latency;

use crate::domains;
use crate::hardware::Interrupts;
use crate::home::{AnyHome, Home};
use crate::hotplug::Hotplug;
use crate::machine::Machine;
use crate::observe::{CpuPower, Observer};
use crate::options::Options;
use crate::outcome::{Counted, Ended, RunReport, ThreadName};
use crate::policy_change;
use crate::progress::Programs;
use crate::queue::{Event, EventQueue};
use crate::thread::Thread;
use crate::timers::{PrivateTimers, TimerState};
use classes::{ClassParams, ClassState, class_states};
use cpu::{ClusterState, Cpu};
use fork::Creation;
use hardware::{Caps, EmUpdate};
use kthreads::Kthreads;
use lines::GroupLines;
use ondemand::Sampling;
use state::Views;
use sync::SharedState;
use thermal::Thermal;
use tick::Ticks;
use wake_latency::WakeLatencyTotals;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Balance, Core, MachineFacts, Policy, QueueKind, Reason, Task};
use wakeplace_workload::{Calibration, Series, Stream, TaskScript, Workload};

/// A run in progress.
pub(crate) struct Sim<'a, O> {
    now: u64,
    queue: EventQueue,
    core: Core,
    machine: Machine,
    /// The machine as the core was told of it, with who is online now.
    facts: MachineFacts,
    hotplug: Vec<Hotplug>,
    /// When the core gets which policy.
    policies: Vec<(u64, Policy)>,
    /// What the ondemand governor measures.
    sampling: Sampling,
    home: AnyHome,
    ticks: Ticks,
    /// The queues are the live scheduler's, and so is what differs with them.
    live: bool,
    cpus: Vec<Cpu>,
    clusters: Vec<ClusterState>,
    /// Operating point of each frequency domain.
    opp: Vec<u16>,
    scripts: &'a [TaskScript],
    /// Their steps.
    programs: Programs,
    /// One for each script, the parent of all, the shell, kernel threads, then those that threads
    /// forked.
    threads: Vec<Thread>,
    /// The core's record of each thread, same indices.
    tasks: Vec<Task>,
    /// Those above the fair class, same indices; empty if there are none.
    class: Vec<Option<ClassState>>,
    class_params: ClassParams,
    kthreads: Kthreads,
    rt_period_armed: bool,
    devices: &'a [Interrupts],
    caps: Caps<'a>,
    em_updates: Vec<EmUpdate>,
    thermal: Option<Thermal>,
    timers: Vec<TimerState>,
    private: PrivateTimers,
    shared: SharedState,
    /// Of each counter the next number, and where it ends.
    counters: Vec<(u64, Option<u64>)>,
    series: &'a [Series],
    /// Threads made so far of each script that is there to be forked.
    made: Vec<u64>,
    /// What the workload is measured by counts so long after all tasks exist; None: nothing does.
    warm_up_ns: Option<u64>,
    totals: WakeLatencyTotals,
    lines: GroupLines,
    /// Work units of one ns of the workload's `Run` times.
    work_per_ns: u64,
    creation: Creation,
    t_zero_ns: Option<u64>,
    /// Threads that have not ended, those that the parent has yet to create among them.
    alive: usize,
    recency: u64,
    overutilized: bool,
    idle_timer: live::IdleTimer,
    stuck: Option<u32>,
    /// A thread was to fork a script too often: the thread, the script, the limit.
    too_many: Option<(u32, u32, u64)>,
    balance: Balance,
    /// Per CPU: whether it makes a new-idle attempt. One stream each, so that one CPU's draws do
    /// not shift another's.
    dice: Vec<Stream>,
    hash: u64,
    events: u64,
    reasons: [u64; Reason::COUNT],
    wakeup_cases: bool,
    views: Views,
    observer: &'a mut O,
}

/// Work units of one nanosecond on the calibration CPU at its highest frequency.
fn work_per_ns(machine: &Machine, calibration: Calibration) -> u64 {
    match calibration {
        Calibration::Biggest => 1024 * 1024,
        Calibration::Cpu(cpu) => machine.capacity.get(cpu as usize).copied().unwrap_or(1024) * 1024,
    }
}

/// Decides whether a CPU makes a new-idle attempt.
fn dice(cpu: usize) -> Stream {
    Stream::for_task(0, &format!("new-idle balancing of CPU {cpu}"))
}

/// The core before the first event, and what `add_groups` returns.
fn settled(
    facts: &MachineFacts,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> (Core, Vec<u32>) {
    let mut core =
        Core::new(facts, policy.core_params()).expect("checked by `check` before the run");
    core.settle();
    let shares = groups::add_groups(&mut core, workload, options);
    (core, shares)
}

/// The operating point that each clock begins at.
fn first_points(core: &Core, domains: usize) -> Vec<u16> {
    (0..domains).map(|d| core.freq_request(d) as u16).collect()
}

impl<'a, O: Observer> Sim<'a, O> {
    pub(crate) fn new(
        platform: &Platform,
        policy: &Policy,
        workload: &'a Workload,
        options: &'a Options,
        observer: &'a mut O,
    ) -> Self {
        let machine = Machine::new(platform, options, workload.cpu_dma_latency_us);
        let facts = machine.facts_of_run(platform);
        let (core, shares) = settled(&facts, policy, workload, options);
        let kthreads = Kthreads::new(platform, options);
        let threads = fork::threads(workload, &kthreads);
        let tasks = fork::core_tasks(workload, &threads, &kthreads, machine.nr_cpus);
        let mut home = AnyHome::new(&core, policy, &machine, &shares);
        home.add_tasks(&threads, &workload.tasks, &tasks);
        Self {
            now: 0,
            queue: EventQueue::default(),
            sampling: Sampling::new(&core, platform.cpus.len(), machine.tick_ns),
            facts,
            hotplug: Vec::new(),
            policies: policy_change::schedule(policy, &options.policy_at),
            home,
            cpus: (0..machine.nr_cpus).map(|_| Cpu::new()).collect(),
            ticks: Ticks::new(policy, options),
            live: core.queue_kind() == QueueKind::Live,
            clusters: vec![ClusterState::default(); platform.clusters.len()],
            opp: first_points(&core, platform.freq_domains.len()),
            scripts: &workload.tasks,
            programs: Programs::new(&workload.tasks),
            tasks,
            threads,
            class: class_states(workload, &kthreads, &ClassParams::new(&core)),
            kthreads,
            class_params: ClassParams::new(&core),
            rt_period_armed: false,
            devices: &options.irq,
            caps: Caps::new(platform, &options.freq_cap),
            em_updates: hardware::em_updates(platform, &options.em_scale),
            thermal: Thermal::new(platform, options.thermal),
            timers: workload.timers.iter().map(TimerState::new).collect(),
            private: PrivateTimers::new(workload),
            shared: SharedState::new(&workload.shared),
            counters: measure::counters(workload),
            series: &workload.series,
            made: vec![0; workload.tasks.len()],
            warm_up_ns: workload.count.as_ref().map(|count| count.warm_up_ns),
            totals: WakeLatencyTotals::default(),
            lines: GroupLines::new(&core, machine.costs.transfer()),
            work_per_ns: work_per_ns(&machine, workload.calibration),
            creation: Creation::new(workload, options),
            t_zero_ns: None,
            alive: fork::starters(workload),
            recency: 0,
            overutilized: false,
            idle_timer: live::IdleTimer::default(),
            stuck: None,
            too_many: None,
            balance: Balance::default(),
            dice: (0..platform.cpus.len()).map(dice).collect(),
            hash: 0xcbf2_9ce4_8422_2325,
            events: 0,
            reasons: [0; Reason::COUNT],
            wakeup_cases: options.wakeup_cases,
            views: Views::new(platform, observer),
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
        self.begin_hotplug(&options.hotplug);
        for (index, (at_ns, _)) in self.policies.iter().enumerate() {
            let index = index as u32;
            self.queue.push(*at_ns, Event::PolicyChange { index });
        }
        self.arm_hardware();
        self.arm_thermal();
        self.start_kthreads();
        match self.creation.start.at_ns {
            0 => self.start_parent(),
            at => self.queue.push(at, Event::Begin),
        }
        let ended = loop {
            let Some((time, event)) = self.queue.pop_until(duration_ns) else {
                break Ended::Duration;
            };
            self.show_states(time);
            self.now = time;
            self.handle(event);
            if self.observer.is_done() {
                return self.report(Ended::Duration);
            }
            if let Some(task) = self.stuck {
                let task = self.shown(task);
                break Ended::ZeroTimeLoop { task };
            }
            if let Some((task, script, limit)) = self.too_many {
                let task = self.shown(task);
                break Ended::ForkLimit {
                    task,
                    script,
                    limit,
                };
            }
            if self.alive == 0 {
                break Ended::AllTasksExited;
            }
            if self.is_deadlock() {
                let waits = self.waits();
                break Ended::Deadlock { waits };
            }
        };
        if ended == Ended::Duration {
            self.now = duration_ns;
        }
        self.show_states(self.now + 1);
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
            Event::WakeupStage { task } => self.resume_wakeup(task),
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
            Event::SliceEnd { cpu } => self.slice_end(cpu),
            Event::Tick { cpu } => self.tick(cpu),
            Event::IdleTimer => self.idle_timer(),
            Event::Hotplug { index } => self.hotplug(self.hotplug[index as usize]),
            Event::PolicyChange { index } => {
                let (_, policy) = &self.policies[index as usize];
                self.core.change_params(policy.core_params());
            }
            Event::Device { source } => self.device(source),
            Event::FreqCap { index } => self.freq_cap(index),
            Event::EmScale { index } => self.em_scale(index),
            Event::Thermal => self.thermal_step(),
            Event::Replenish { task } => self.replenish(task),
            Event::RtPeriod => self.rt_period(),
            Event::SpinEnd { cpu } => self.spin_end(cpu),
            Event::Queued { task, by } => self.queued(task, by),
            Event::Begin => self.start_parent(),
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

    /// Is this a thread of the workload (not the parent that created them, the shell or the
    /// kernel's)?
    fn visible(&self, task: u32) -> bool {
        let first_hidden = self.scripts.len() as u32;
        task.wrapping_sub(first_hidden) >= self.hidden()
    }

    /// Threads that observers do not see; they follow those of the scripts.
    fn hidden(&self) -> u32 {
        2 + self.kthreads.len()
    }

    /// The number by which observers know a thread.
    fn shown(&self, task: u32) -> u32 {
        match (task as usize) < self.scripts.len() {
            true => task,
            false => task - self.hidden(),
        }
    }

    fn report(mut self, ended: Ended) -> RunReport {
        for cpu in 0..self.machine.nr_cpus {
            self.account(cpu);
            self.finish_stretch(cpu);
        }
        self.check_nothing_lost();
        domains::check(self.core.state());
        self.observer.finish(self.now);
        let counted = self.counts_from_ns().and_then(|from| {
            let window_ns = self.now.saturating_sub(from);
            let units = self.threads.iter().map(|t| t.totals.counted).sum();
            (window_ns > 0).then_some(Counted { units, window_ns })
        });
        let counts = Reason::ALL.iter().copied().zip(self.reasons);
        let now = self.now;
        let executing: Vec<_> = self.cpus.iter().filter_map(|c| c.current).collect();
        let threads = || {
            (0..)
                .zip(&self.threads)
                .filter(|(index, _)| self.visible(*index))
        };
        let name = |thread: &Thread| ThreadName {
            script: thread.script,
            name: thread.name(self.scripts),
        };
        RunReport {
            energy_active: self.core.state().energy_active != 0,
            counted,
            lock_wait_ns: (self.machine.costs.locks()).then_some(self.totals.lock_wait_ns),
            line_wait_ns: self.lines.are_on().then_some(self.totals.line_wait_ns),
            double_placements: (self.machine.costs.publish_ns > 0)
                .then_some(self.totals.double_placements),
            end_ns: now,
            start_ns: self.t_zero_ns,
            ended,
            events: self.events,
            event_hash: self.hash,
            tasks: threads()
                .map(|(index, t)| t.totals_at(now, executing.contains(&index)))
                .collect(),
            threads: threads().map(|(_, t)| name(t)).collect(),
            reasons: counts.filter(|(_, n)| *n > 0).collect(),
        }
    }

    /// Every thread that can run is on exactly the queue that counts it, and the core counts alike.
    fn check_nothing_lost(&self) {
        for (index, cpu) in self.cpus.iter().enumerate() {
            let number = index as u32;
            self.home.check(number);
            self.check_groups(number);
            let fair = cpu.current.is_some() && cpu.classes.running.is_none();
            let mut found = usize::from(fair);
            self.home.each_waiting(number, &mut |_| found += 1);
            let nr = self.home.nr_running(number);
            let core = self.core.cpu(number);
            assert_eq!(found, nr, "CPU {index}: its queue and its count differ");
            assert_eq!(
                core.nr_fair as usize, nr,
                "CPU {index}: the core counts otherwise"
            );
            assert_eq!(
                (core.nr_fair + core.h_nr_delayed) as usize,
                self.home.nr_queued(number),
                "CPU {index}: the core counts sleepers otherwise"
            );
        }
        let queued: usize = (0..self.machine.nr_cpus)
            .map(|cpu| self.home.nr_running(cpu))
            .sum();
        let runnable = self.threads.iter().filter(|t| t.is_runnable()).count();
        assert_eq!(
            queued + self.nr_class(),
            runnable,
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
        Event::SliceEnd { cpu } => (9, cpu),
        Event::Hotplug { index } => (10, index),
        Event::WakeupStage { task } => (11, task),
        Event::Device { source } => (12, source),
        Event::FreqCap { index } => (13, index),
        Event::Replenish { task } => (14, task),
        Event::RtPeriod => (15, 0),
        Event::Thermal => (16, 0),
        Event::PolicyChange { index } => (17, index),
        Event::EmScale { index } => (18, index),
        Event::SpinEnd { cpu } => (19, cpu),
        Event::Queued { task, .. } => (20, task),
        Event::Begin => (21, 0),
    };
    kind << 32 | u64::from(subject)
}

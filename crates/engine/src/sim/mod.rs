//! One simulated machine and its event loop. What a run consists of is in structs by concern, each
//! in the file of its name with the methods that need nothing else: `clock`, `threads`,
//! `class_state` (RT and deadline tasks), `measure` (the program), `hardware`, `balance`,
//! `hotplug` (what changes), `lines` (contention), `told` (what observers hear), `home` (who
//! decides about fair tasks). The handlers, which need several of these, are methods of `Sim`:
//! `fork` creates the threads, `wake` places them, `run` executes them, `idle` is what CPUs do
//! without them, `tick` and `balance` what the kernel does meanwhile.

mod balance;
mod change;
mod class_change;
mod class_state;
mod classes;
mod clock;
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
mod report;
mod run;
mod sched_ext;
mod state;
mod steps;
mod sync;
mod thermal;
mod threads;
mod tick;
mod told;
mod wake;
mod wake_latency;

use crate::home::AnyHome;
use crate::ids::{PerCpu, PerTask};
use crate::machine::Machine;
use crate::observe::{CpuPower, Observer};
use crate::options::Options;
use crate::outcome::{Ended, RunReport};
use crate::queue::Event;
use balance::Balancing;
use class_state::Classes;
use clock::Clock;
use cpu::Cpu;
use fork::Creation;
use hardware::Hardware;
use hotplug::Changes;
use kthreads::Kthreads;
use lines::Contention;
use live::IdleTimer;
use measure::Program;
use ondemand::Sampling;
use sched_ext::{ExtRun, add_ext_threads};
use sync::SharedState;
use threads::Threads;
use tick::Ticks;
use told::Told;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Core, MachineFacts, Policy, Task};
use wakeplace_sched_ext::SchedExtOps;
use wakeplace_workload::Workload;

/// A run in progress.
pub(crate) struct Sim<'a, O> {
    clock: Clock,
    core: Core,
    machine: Machine,
    hardware: Hardware<'a>,
    cpus: PerCpu<Cpu>,
    threads: Threads<'a>,
    /// The core's record of each thread, same indices.
    tasks: PerTask<Task>,
    /// Who decides about fair tasks.
    home: AnyHome<'a>,
    ext: ExtRun,
    classes: Classes,
    kthreads: Kthreads,
    program: Program<'a>,
    shared: SharedState,
    creation: Creation,
    ticks: Ticks,
    idle_timer: IdleTimer,
    /// What the ondemand governor measures.
    sampling: Sampling,
    balancing: Balancing,
    contention: Contention,
    changes: Changes,
    told: Told<'a, O>,
    /// Set by a step after which the run cannot go on.
    ended: Option<Ended>,
}

/// On smaller machines a walk over all CPUs costs less than to note which have changed.
const KEEP_SUMS_FROM_CPUS: u32 = 17;

/// The core before the first event, and what `add_groups` returns.
fn settled(
    facts: &MachineFacts,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> (Core, Vec<u32>) {
    let mut core =
        Core::new(facts, policy.core_params()).expect("checked by `check` before the run");
    if core.state().nr_cpus >= KEEP_SUMS_FROM_CPUS || cfg!(debug_assertions) {
        core.keep_sums();
    }
    core.skip_statistics();
    core.settle();
    let shares = groups::add_groups(&mut core, workload, options);
    (core, shares)
}

impl<'a, O: Observer> Sim<'a, O> {
    pub(crate) fn new(
        platform: &Platform,
        policy: &Policy,
        workload: &'a Workload,
        options: &'a Options,
        observer: &'a mut O,
        ops: Option<&'a mut dyn SchedExtOps>,
    ) -> Self {
        let machine = Machine::new(platform, options, workload.cpu_dma_latency_us);
        let facts = machine.facts_of_run(platform);
        let (core, shares) = settled(&facts, policy, workload, options);
        let kthreads = Kthreads::new(platform, options);
        let threads = fork::threads(workload, &kthreads);
        let tasks = fork::core_tasks(workload, &threads, &kthreads, machine.nr_cpus);
        let mut home = AnyHome::new(&core, policy, &machine, &shares, ops);
        home.add_tasks(&threads, &workload.tasks, &tasks);
        add_ext_threads(&mut home, workload, &kthreads, &threads, &tasks);
        let alive = fork::starters(workload);
        Self {
            clock: Clock::new(machine.nr_cpus, machine.tick_ns),
            hardware: Hardware::new(platform, &core, options),
            cpus: PerCpu((0..machine.nr_cpus).map(|_| Cpu::new()).collect()),
            threads: Threads::new(threads, &workload.tasks, kthreads.len(), alive),
            tasks: PerTask(tasks),
            home,
            ext: ExtRun::new(options),
            classes: Classes::new(workload, &kthreads, &core),
            kthreads,
            program: Program::new(workload, &machine),
            shared: SharedState::new(&workload.shared),
            creation: Creation::new(workload, options),
            ticks: Ticks::new(policy, &machine, options),
            idle_timer: IdleTimer::default(),
            sampling: Sampling::new(&core, platform.cpus.len(), machine.tick_ns),
            balancing: Balancing::new(machine.nr_cpus),
            contention: Contention::new(&core, machine.costs.transfer()),
            changes: Changes::new(facts, policy, options),
            told: Told::new(platform, options, observer),
            ended: None,
            core,
            machine,
        }
    }

    /// Runs to the end and reports.
    pub(crate) fn run(mut self, options: &Options) -> RunReport {
        let duration_ns = options.duration_ns;
        self.announce();
        self.arm_idle_timer();
        self.load_scheduler();
        self.begin_hotplug(&options.hotplug);
        for (index, (at_ns, _)) in self.changes.policies.iter().enumerate() {
            let index = index as u32;
            self.clock.push(*at_ns, Event::PolicyChange { index });
        }
        self.arm_hardware();
        self.arm_thermal();
        self.start_kthreads();
        match self.creation.start.at_ns {
            0 => self.start_parent(),
            at => self.clock.push(at, Event::Begin),
        }
        if self.home.is_sched_ext() {
            self.end_ext_event();
        }
        let ended = loop {
            let Some((time, event)) = self.clock.pop_until(duration_ns) else {
                break Ended::Duration;
            };
            self.show_states(time);
            self.clock.now = time;
            self.handle(event);
            if self.told.observer.is_done() {
                return self.report(Ended::Duration);
            }
            if let Some(ended) = self.ended.take() {
                break ended;
            }
            if self.threads.alive == 0 {
                break Ended::AllTasksExited;
            }
            if self.is_deadlock() {
                let waits = self.waits();
                break Ended::Deadlock { waits };
            }
        };
        if ended == Ended::Duration {
            self.clock.now = duration_ns;
        }
        self.show_states(self.clock.now + 1);
        self.report(ended)
    }

    /// The state of everything at time 0: all CPUs idle in their shallowest state.
    fn announce(&mut self) {
        for cpu in self.machine.cpus() {
            let state = self.machine.idle[cpu.index()][0].index;
            self.power(cpu, CpuPower::Idle { state });
        }
        for cluster in 0..self.hardware.clusters.len() as u32 {
            self.told.observer.cluster_power(0, cluster, None);
        }
        for (domain, opp) in self.hardware.opp.iter().enumerate() {
            self.told.observer.frequency(0, domain as u32, *opp);
        }
        for cpu in self.machine.cpus() {
            let speed = self.hardware.speed(&self.machine, cpu);
            self.cpus[cpu].speed = speed;
            self.go_idle(cpu);
        }
    }

    fn handle(&mut self, event: Event) {
        self.clock.count(event);
        if self.home.is_sched_ext() {
            self.begin_ext_event(event);
        }
        match event {
            Event::Freq { domain } => self.apply_frequency(domain),
            Event::WakeupStage { task } => self.resume_wakeup(task),
            Event::RunEnd { cpu } => self.run_end(cpu),
            Event::Timer { task } => self.timer(task),
            Event::Awake { cpu } => self.awake(cpu),
            Event::Interrupt { cpu } => self.interrupt(cpu),
            Event::IdleAgain { cpu, generation } => {
                if self.cpus[cpu].generation == generation {
                    self.work_done(cpu);
                } else {
                    self.clock.idle_event();
                }
            }
            Event::IdleEntered { cpu, generation } => {
                if self.cpus[cpu].generation == generation {
                    self.idle_entered(cpu);
                } else {
                    self.clock.idle_event();
                }
            }
            Event::SliceEnd { cpu } => self.slice_end(cpu),
            Event::Tick { cpu } => self.tick(cpu),
            Event::IdleTimer => self.idle_timer(),
            Event::Hotplug { index } => self.hotplug(self.changes.hotplug[index as usize]),
            Event::PolicyChange { index } => {
                let (_, policy) = &self.changes.policies[index as usize];
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
            Event::SchedExtTimer { timer, cpu } => self.ext_timer(timer, cpu),
            Event::Watchdog => self.watchdog(),
            Event::SchedExtLoader => self.ext_loader(),
        }
        if self.home.is_sched_ext() {
            self.end_ext_event();
        }
        let on = self.core.overutilized();
        self.told.overutilized(self.clock.now, on);
    }
}

//! The simulated machine below any kernel: what happens when, what tasks want to do next, how far
//! their work is, what the hardware is in, and who watches. It knows no scheduler. Which task runs
//! where is a kernel's answer (`crate::kernel::Kernel`), which hears of events and says through the
//! methods offered here (`offered`, and those that take the kernel) what CPUs do (ARCHITECTURE.md,
//! "The engine's two halves").
//!
//! The state is in structs by concern, each in the file of its name with the methods that need
//! nothing else: `clock`, `threads`, `hardware`, `hotplug` (what changes), `told` (what observers
//! hear), and those of `script`: `start` (how threads begin), `measure` (the program), `sync` (what
//! tasks share). Methods of `Mechanics` need several of these.
//!
//! What must stay: no type of the core, of run queues or of sched_ext is named here
//! (xtask/src/arrows/sources.rs checks it). Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `run_time_is_work_over_speed_at_each_operating_point` (the whole of it, in numbers),
//! `random_runs_obey_the_rules_1` (the whole of it, by rules),
//! creation.rs::`threads_are_made_one_after_the_other` (`new`: the start).
//!
//! Tests: crates/engine/tests/behaviour/arithmetic.rs, crates/engine/tests/behaviour/invariants.rs,
//! crates/engine/tests/behaviour/creation.rs

mod autonomous;
mod clock;
mod clocks;
mod cpu;
mod handover;
mod hardware;
mod hotplug;
mod idle;
mod memory;
mod offered;
mod power;
mod power_limit;
mod queue;
mod report;
mod run;
mod script;
mod thermal;
mod thread;
mod threads;
mod told;
mod turbo;
mod work;

use crate::ids::PerCpu;
use crate::kernel::KernelSetup;
use crate::machine::Machine;
use crate::observe::Observer;
use crate::options::Options;
use crate::outcome::Ended;
use clock::Clock;
use cpu::Cpu;
pub(crate) use cpu::Mode;
use hardware::Hardware;
use hotplug::Changes;
pub(crate) use idle::Leaving;
pub(crate) use queue::{Event, KernelEvent};
use script::measure::Program;
use script::start::{self, Creation};
use script::sync::SharedState;
pub(crate) use thread::{Action, State};
pub(crate) use threads::Threads;
pub(crate) use told::Seen;
use told::Told;
use wakeplace_platform::Platform;
use wakeplace_workload::Workload;

/// The mechanics of a run.
pub(crate) struct Mechanics<'a, O> {
    clock: Clock,
    machine: &'a Machine,
    hardware: Hardware<'a>,
    cpus: PerCpu<Cpu>,
    threads: Threads<'a>,
    program: Program<'a>,
    shared: SharedState,
    creation: Creation,
    changes: Changes,
    told: Told<'a, O>,
    /// The end of the run, ns.
    until_ns: u64,
    /// Set by what the run cannot go on after.
    ended: Option<Ended>,
}

impl<'a, O: Observer> Mechanics<'a, O> {
    /// `setup`: what the kernel begins with.
    pub(crate) fn new(
        platform: &Platform,
        machine: &'a Machine,
        workload: &'a Workload,
        options: &'a Options,
        observer: &'a mut O,
        setup: KernelSetup,
    ) -> Self {
        let nr_kthreads = setup.threads.len() as u32;
        let hardware = Hardware::new(platform, &setup, options);
        let threads = start::threads(workload, setup.threads);
        let alive = start::starters(workload);
        Self {
            clock: Clock::new(machine.nr_cpus, machine.tick_ns),
            hardware,
            cpus: PerCpu(
                machine
                    .idle
                    .iter()
                    .map(|states| Cpu::idle(states))
                    .collect(),
            ),
            threads: Threads::new(threads, &workload.tasks, nr_kthreads, alive),
            program: Program::new(workload, machine),
            shared: SharedState::new(&workload.shared),
            creation: Creation::new(workload, options),
            changes: Changes::new(machine.nr_cpus, options),
            told: Told::new(platform, observer),
            until_ns: options.duration_ns,
            ended: None,
            machine,
        }
    }
}

//! One run: the mechanics, a kernel above them, and the loop that hands events to both
//! (ARCHITECTURE.md, "The engine's two halves").
//!
//! What must stay: events go to one half each, and `begin_event` and `end_event` stand around every
//! one. Free: what leaves recorded runs as they are (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: `it_ends_after_the_duration` and `it_ends_with_the_last_task` (`run`),
//! `random_runs_obey_the_rules_1` (`handle`, `report`), states.rs::`a_cpu_that_left_is_seen` and
//! states.rs::`looking_changes_nothing` (`show_states`), explain.rs::`by_number_time_and_cpu`
//! (`is_done`), creation.rs::`a_program_begins_when_it_is_to` (`begin`). `run_tree` by
//! crates/cli/tests/all/kernel_runs.rs, where a tree is built.
//!
//! Callers: lib.rs (`run`, `run_tree`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/outcomes.rs,
//! crates/engine/tests/behaviour/states.rs, crates/engine/tests/behaviour/explain.rs,
//! crates/engine/tests/behaviour/creation.rs

use crate::kernel::Kernel;
use crate::kernel::model::Model;
use crate::kernel::tree::Tree;
use crate::machine::Machine;
use crate::mechanics::{Event, Mechanics};
use crate::observe::Observer;
use crate::options::Options;
use crate::outcome::{Ended, RunReport};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_sched_ext::SchedExtOps;
use wakeplace_workload::Workload;

/// Runs a workload under our model of a kernel to the end.
pub(crate) fn run<O: Observer>(
    platform: &Platform,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
    observer: &mut O,
    ops: Option<&mut dyn SchedExtOps>,
) -> RunReport {
    let machine = Machine::new(platform, options, workload.cpu_dma_latency_us);
    let ops = ops.map(|ops| -> &mut dyn SchedExtOps { ops });
    let kernel = Model::new(platform, &machine, policy, workload, options, ops);
    let setup = kernel.setup(policy);
    let mechanics = Mechanics::new(platform, &machine, workload, options, observer, setup);
    Sim { mechanics, kernel }.run(options.duration_ns)
}

/// Runs a workload under a tree's own kernel to the end.
pub(crate) fn run_tree<O: Observer>(
    platform: &Platform,
    workload: &Workload,
    options: &Options,
    entries: &mut dyn wakeplace_kernel_abi::Tree,
    observer: &mut O,
) -> RunReport {
    let machine = Machine::of_tree(platform, options, workload.cpu_dma_latency_us);
    let kernel = Tree::new(platform, &machine, workload, entries);
    let setup = kernel.setup();
    let mechanics = Mechanics::new(platform, &machine, workload, options, observer, setup);
    Sim { mechanics, kernel }.run(options.duration_ns)
}

/// A run in progress.
struct Sim<'a, O, K> {
    mechanics: Mechanics<'a, O>,
    kernel: K,
}

impl<O: Observer, K: Kernel> Sim<'_, O, K> {
    /// Runs to the end and reports.
    fn run(mut self, duration_ns: u64) -> RunReport {
        self.begin();
        let ended = loop {
            let m = &mut self.mechanics;
            let Some((time, event)) = m.next_event(duration_ns, self.kernel.kept_event()) else {
                break Ended::Duration;
            };
            self.show_states(time);
            self.mechanics.set_now(time);
            self.handle(event);
            let m = &mut self.mechanics;
            if m.observer().is_done() {
                return self.report(Ended::Duration);
            }
            if m.has_ended() {
                break m.why_ended();
            }
        };
        if ended == Ended::Duration {
            self.mechanics.set_now(duration_ns);
        }
        self.show_states(self.mechanics.now() + 1);
        self.report(ended)
    }

    /// Time 0: observers see the state, the kernel boots, and the program begins.
    fn begin(&mut self) {
        let (m, k) = (&mut self.mechanics, &mut self.kernel);
        m.announce();
        k.boot(m);
        m.begin_hotplug(k);
        k.start(m);
        m.arm_hardware();
        m.arm_thermal();
        m.arm_clocks();
        m.begin_program(k);
        k.end_event(m);
    }

    /// Hands one event to the half that it belongs to.
    fn handle(&mut self, event: Event) {
        let (m, k) = (&mut self.mechanics, &mut self.kernel);
        m.count(event);
        k.begin_event(m, event);
        match event {
            Event::Freq { domain } => m.apply_frequency(k, domain),
            Event::RunEnd { cpu } => m.run_end(k, cpu),
            Event::Awake { cpu } => {
                m.awake(k, cpu);
                k.awake(m, cpu);
            }
            Event::Interrupt { cpu } => {
                m.lower(cpu);
                k.interrupt(m, cpu);
            }
            Event::IdleAgain { cpu, generation } => m.idle_again(k, cpu, generation),
            Event::IdleEntered { cpu, generation } => m.entry_over(cpu, generation),
            Event::Hotplug { index } => m.hotplug(k, index),
            Event::Device { source } => m.device(k, source),
            Event::FreqCap { index } => m.freq_cap(k, index),
            Event::EmScale { index } => m.em_scale(k, index),
            Event::Thermal => m.thermal_step(k),
            Event::Clock { domain } => m.clock_moves(k, domain),
            Event::Look { domain } => m.look_at_load(domain),
            Event::PowerLimit => m.look_at_power(),
            Event::Begin => m.start_parent(k),
            Event::Kernel(event) => k.event(m, event),
        }
        k.end_event(m);
        m.tell_overutilized(k.overutilized());
    }

    /// Shows the states asked for of times before `end_ns`, at which nothing else happens any more.
    #[inline]
    fn show_states(&mut self, end_ns: u64) {
        let (m, k) = (&mut self.mechanics, &self.kernel);
        while m.next_state_ns() < end_ns {
            let time_ns = m.next_state_ns();
            k.show_state(m, time_ns);
            m.state_shown();
        }
    }

    /// Stretches that are open end first, then the kernel checks its books.
    fn report(mut self, ended: Ended) -> RunReport {
        let (m, k) = (&mut self.mechanics, &mut self.kernel);
        m.finish_stretches(k);
        let of_kernel = k.finish(m);
        self.mechanics.report(ended, of_kernel, K::event_name)
    }
}

//! The kernel that we model: our handlers around the policy core. What it keeps is in structs by
//! concern, each in the file of its name with the methods that need nothing else: `class_state` (RT
//! and deadline tasks), `kthreads`, `balance`, `lines` (contention), `live`, `ondemand`, `home`
//! (who decides about fair tasks). The handlers are methods of `Model`: `fork` and `wake` place
//! tasks, `run` picks them, `idle` is what CPUs do without them, `tick` and `balance` what the
//! kernel does meanwhile. They get the mechanics below as `m` (ARCHITECTURE.md, "The engine's two
//! halves").
//!
//! What must stay: a handler asks the core and carries out the answer; it decides nothing. The
//! order of steps in `new` is that of a boot: core, groups, queues, threads. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `random_runs_obey_the_rules_1` (`new`), creation.rs::`the_parent_is_placed` (tasks at the
//! start), scale.rs::`six_hundred_tasks_on_512_cpus` (`settled`: kept sums),
//! frequency.rs::`fixed_governors_stay` (`setup`),
//! power.rs::`a_change_in_mid_run_moves_tasks_in_time` (`policies`).
//!
//! Tests: crates/engine/tests/behaviour/invariants.rs, crates/engine/tests/behaviour/creation.rs,
//! crates/engine/tests/behaviour/scale.rs, crates/engine/tests/behaviour/frequency.rs,
//! crates/engine/tests/behaviour/power.rs

mod balance;
mod bandwidth;
mod change;
mod class_change;
mod class_state;
mod classes;
mod cpu;
mod cpuidle;
mod event;
mod fork;
mod groups;
mod home;
pub(crate) use home::kernel_kind;
mod hotplug;
mod idle;
mod interface;
mod kthreads;
mod line;
mod lines;
mod live;
mod ondemand;
mod processes;
mod queues;
mod report;
mod run;
mod sched_ext;
mod state;
mod task;
mod tick;
mod wake;
mod wake_latency;

use super::KernelSetup;
use crate::ids::{PerCpu, PerTask};
use crate::machine::{Costs, Machine};
use crate::options::Options;
use crate::policy_change;
use balance::Balancing;
use bandwidth::Bandwidth;
use class_state::Classes;
use cpu::Cpu;
use home::{AnyHome, Home};
use kthreads::Kthreads;
use lines::Contention;
use live::IdleTimer;
use ondemand::Sampling;
use sched_ext::{ExtRun, add_ext_threads};
use task::TaskState;
use tick::Ticks;
use wake::Placements;
use wakeplace_kernel_queues::GroupShape;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::{Core, MachineFacts, Policy, Task};
use wakeplace_sched_ext::SchedExtOps;
use wakeplace_workload::Workload;

/// The model of a kernel in a run.
pub(crate) struct Model<'a> {
    core: Core,
    /// The machine as the core was told of it, with who is online now.
    facts: MachineFacts,
    machine: &'a Machine,
    /// Its costs, at hand.
    costs: Costs,
    /// Task groups have queues of their own.
    has_groups: bool,
    /// Groups with `cpu.idle`.
    idle_groups: Vec<usize>,
    /// Groups with a quota.
    bandwidth: Bandwidth,
    cpus: PerCpu<Cpu>,
    /// The core's record of each thread, by the numbers of the mechanics.
    tasks: PerTask<Task>,
    /// What is kept of each beside that.
    own: PerTask<TaskState>,
    /// Counts what tasks' `recency` is taken from.
    recency: u64,
    /// Who decides about fair tasks.
    home: AnyHome<'a>,
    ext: ExtRun,
    classes: Classes,
    kthreads: Kthreads,
    ticks: Ticks,
    idle_timer: IdleTimer,
    /// What the ondemand governor measures.
    sampling: Sampling,
    balancing: Balancing,
    contention: Contention,
    placements: Placements,
    /// When the core gets which policy.
    policies: Vec<(u64, Policy)>,
}

/// On smaller machines a walk over all CPUs costs less than to note which have changed.
const KEEP_SUMS_FROM_CPUS: u32 = 17;

/// The core before the first event, and what `add_groups` returns.
fn settled(
    facts: &MachineFacts,
    policy: &Policy,
    workload: &Workload,
    options: &Options,
) -> (Core, Vec<GroupShape>) {
    let mut core =
        Core::new(facts, policy.core_params()).expect("checked by `check` before the run");
    if core.state().nr_cpus >= KEEP_SUMS_FROM_CPUS || cfg!(debug_assertions) {
        core.keep_sums();
    }
    core.skip_statistics();
    core.settle();
    let groups = groups::add_groups(&mut core, workload, options);
    (core, groups)
}

impl<'a> Model<'a> {
    /// The kernel before its boot: the core described, queues empty.
    pub(crate) fn new(
        platform: &Platform,
        machine: &'a Machine,
        policy: &Policy,
        workload: &Workload,
        options: &Options,
        ops: Option<&'a mut dyn SchedExtOps>,
    ) -> Self {
        let facts = machine.facts_of_run(platform, policy);
        let (mut core, groups) = settled(&facts, policy, workload, options);
        let kthreads = Kthreads::new(platform, options);
        let own = task::task_states(workload, &kthreads);
        let tasks = task::core_tasks(workload, &own, &kthreads, machine.nr_cpus);
        let mut tasks = tasks;
        let idle_groups: Vec<_> = (0..groups.len()).filter(|g| groups[*g].idle).collect();
        for task in &mut tasks {
            let idle = groups::is_idle(&core, &idle_groups, task.group());
            task.raw_mut().group_idle = u32::from(idle);
        }
        let mut home = AnyHome::new(&core, machine, &groups, ops);
        home.add_tasks(&own, &workload.tasks, &tasks);
        add_ext_threads(&mut home, workload, &kthreads, &own, &tasks);
        processes::add_processes(&mut core, &home, platform, workload);
        let ticks = Ticks::new(policy, machine, options);
        let cpu = |states: &Vec<_>| Cpu::new(ticks.governor(states));
        Self {
            facts,
            cpus: PerCpu(machine.idle.iter().map(cpu).collect()),
            tasks: PerTask(tasks),
            own: PerTask(own),
            recency: 0,
            has_groups: home.has_groups(),
            idle_groups,
            bandwidth: Bandwidth::new(&core, workload),
            home,
            ext: ExtRun::new(options),
            classes: Classes::new(workload, &kthreads, &core),
            kthreads,
            ticks,
            idle_timer: IdleTimer::default(),
            sampling: Sampling::new(&core, platform.cpus.len(), machine.tick_ns),
            balancing: Balancing::new(machine.nr_cpus),
            contention: Contention::new(&core, &machine.costs),
            placements: Placements::new(options),
            policies: policy_change::schedule(policy, &options.policy_at),
            costs: machine.costs,
            core,
            machine,
        }
    }

    /// What the mechanics begin with.
    pub(crate) fn setup(&self, policy: &Policy) -> KernelSetup {
        let domains = 0..self.machine.domain_cpus.len();
        KernelSetup {
            opps: domains.map(|d| self.core.freq_request(d) as u16).collect(),
            preference: self.machine.hint_of(policy),
            release: policy.release(),
            threads: self.kthreads.actions(),
        }
    }
}

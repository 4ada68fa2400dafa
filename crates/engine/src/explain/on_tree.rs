//! The policy core on a tree's state: its averages, its queues, its idle CPUs, as the shim has read
//! them. What the tree does not tell (docs/guide/kernel.md, "In a run") is as on a core that has
//! just begun. Each figure is the tree's own, or that of a core that has just begun: none is made
//! up.
//!
//! What must stay: no figure is made up, and the tree is only read. A field that the shim newly
//! tells is taken up here, or it stays as on a fresh core. Free: what leaves recorded runs as they
//! are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `a_decision_is_explained_by_the_trees_own_figures` (`explain`, `take_cpu`, `placed`),
//! crates/engine/src/explain/tree.rs::`hints_of_a_tree_reach_the_core` (`take_hints`, `request`),
//! crates/cli/tests/all/kernel_diff.rs::`the_core_decides_as_the_kernel` (`take_groups`, `waking`:
//! all figures, by agreement). The first and the last need a built tree. `take_choices`,
//! `take_online`, `take_party`, `kind`, `idle_state`, `offered`, `exits` and `idle_state_of` by
//! `the_core_decides_as_the_kernel`, too. `new` by
//! `a_decision_is_explained_by_the_trees_own_figures` and the others.
//!
//! Callers: on_signals.rs (`take_hints`), tree.rs (`idle_state_of`), balances.rs
//! (`take_choices`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs::a_decision_is_explained_by_the_trees_own_figures,
//! crates/engine/src/explain/tree.rs::hints_of_a_tree_reach_the_core,
//! crates/cli/tests/all/kernel_diff.rs::the_core_decides_as_the_kernel

use crate::machine::core_facts;
use wakeplace_kernel_abi::{Choice, Decided, Facts, Party, abi};
use wakeplace_platform::{CpuId, Platform};
use wakeplace_policy_sys::sys::{self, wp_cpu, wp_task};
use wakeplace_policy_sys::{Core, Explained, MachineError, MachineFacts, PlaceKind, Policy};
use wakeplace_policy_sys::{Request, Task, Waker};

/// How long the core's time has gone on when a run begins: what a kernel remembers is older.
pub(super) const BEFORE_NS: u64 = 1 << 40;

/// A core of a policy that is asked what a tree was asked.
#[derive(Debug)]
pub struct OnTree {
    pub(super) core: Core,
    facts: MachineFacts,
    /// Of each CPU its idle states that a tree is offered, and their exit latencies, us.
    exits: Vec<Vec<Option<u32>>>,
}

impl OnTree {
    /// A core for a machine, on which the tree's state is put.
    ///
    /// # Errors
    /// A machine that the core refuses under this policy.
    pub fn new(platform: &Platform, policy: &Policy) -> Result<Self, MachineError> {
        let facts = core_facts(platform, policy);
        let mut core = Core::new(&facts, policy.core_params())?;
        core.settle();
        let exits = (0..platform.cpus.len() as u32).map(|cpu| exits(platform, cpu));
        Ok(Self {
            exits: exits.collect(),
            core,
            facts,
        })
    }

    /// The answer to the same question on the tree's state, with its candidates.
    pub fn explain(&mut self, now_ns: u64, decided: &Decided) -> Explained {
        let now_ns = now_ns + BEFORE_NS;
        self.take_choices(now_ns, decided.facts.overutilized, &decided.choices);
        let mut tasks = [placed(now_ns, decided), waking(now_ns, decided)];
        let ask = request(now_ns, decided);
        if let Waker::Idle = ask.waker {
            // What an idle CPU's own thread remembers is kept with the CPU.
            self.core.cpu_mut(ask.this_cpu).idle.idle_waker = tasks[1].raw().waker;
        }
        self.core.task_set_allowed(&mut tasks[0]);
        self.core.explain(&mut tasks, 0, None, &ask)
    }

    /// The whole machine as the tree has it.
    pub(super) fn take_choices(&mut self, now_ns: u64, overutilized: u32, choices: &[Choice]) {
        self.take_online(now_ns, choices);
        self.core.state_mut().overutilized = overutilized;
        for choice in choices {
            take_cpu(choice, now_ns, self.core.cpu_mut(choice.cpu));
            self.take_groups(choice);
            let exit = idle_state(choice, &self.exits[choice.cpu as usize]).flatten();
            self.core.set_exit_latency_us(choice.cpu, exit);
        }
    }

    /// What balancing last left of the groups that a CPU is in, level by level.
    fn take_groups(&mut self, choice: &Choice) {
        let ctx = self.core.state_mut();
        let topo = &ctx.cpus[choice.cpu as usize].topo;
        let levels = topo.nr_levels.min(choice.nr_levels) as usize;
        for (level, own) in choice.groups.iter().enumerate().take(levels) {
            let first = ctx.doms[topo.dom[level] as usize].first_group;
            let group = &mut ctx.groups[(first + topo.group[level]) as usize];
            group.capacity = own.capacity;
            group.min_capacity = own.min_capacity;
            group.max_capacity = own.max_capacity;
            group.imbalanced = own.imbalanced;
        }
    }

    /// CPUs that came or went since the last question change the domains.
    fn take_online(&mut self, now_ns: u64, choices: &[Choice]) {
        let online = choices.iter().map(|choice| choice.online != 0);
        if online.clone().ne(self.facts.online.iter().copied()) {
            self.facts.online = online.collect();
            // Facts that were accepted with all CPUs are refused with none of them only.
            let _ = self.core.hotplug(&self.facts, now_ns);
        }
    }
}

/// The question as the core takes it; the task is the first of the two, the waker the other.
fn request(now_ns: u64, decided: &Decided) -> Request {
    let facts = &decided.facts;
    let waker = match facts.waker {
        abi::IDLE => Waker::Idle,
        // An interrupt that comes upon it is not its doing (select_idle_sibling()).
        abi::KTHREAD.. if facts.waker_pinned != 0 && facts.in_interrupt == 0 => Waker::Kthread(1),
        _ => Waker::Task(1),
    };
    Request {
        now_ns,
        kind: kind(facts),
        this_cpu: facts.cpu,
        prev_cpu: facts.prev,
        sync: facts.sync != 0,
        waker_load: match waker {
            Waker::Idle => 0,
            _ => decided.waking.h_load,
        },
        waker,
    }
}

/// `WPK_WHY_*`; what is none of them is asked as a fork is: nothing of the waker counts.
fn kind(facts: &Facts) -> PlaceKind {
    match facts.why {
        0 => PlaceKind::Wake,
        2 => PlaceKind::Exec,
        _ => PlaceKind::Fork,
    }
}

/// The woken task as the core has tasks, with the tree's averages.
fn placed(now_ns: u64, decided: &Decided) -> Task {
    let (facts, party) = (&decided.facts, &decided.party);
    let choices = decided.choices.iter();
    let allowed = choices.filter(|choice| choice.allowed != 0);
    let allowed: Vec<u32> = allowed.map(|choice| choice.cpu).collect();
    let nr_cpus = decided.choices.len() as u32;
    let weight = party.weight.max(1);
    let mut task = Task::new(facts.task + 1, weight, facts.prev, Some(&allowed), nr_cpus);
    let raw = task.raw_mut();
    raw.avg.util_avg = facts.util;
    raw.util_est = facts.util_est;
    raw.util_est_ewma = facts.util_est;
    raw.uclamp_min = facts.uclamp_min;
    raw.uclamp_max = facts.uclamp_max;
    raw.avg.runnable_avg = facts.runnable;
    // What it weighs for its CPU is told, whatever group it is in.
    raw.task_group = u32::MAX;
    raw.group_load = party.h_load;
    take_party(party, now_ns, raw);
    if facts.is_new != 0 {
        raw.avg.last_update_ns = 0;
    }
    if let PlaceKind::Exec = kind(facts) {
        (raw.on_rq, raw.running, raw.util_est_queued) = (1, 1, facts.util_est);
    }
    task
}

/// The task that wakes, as the core has a waker.
fn waking(now_ns: u64, decided: &Decided) -> Task {
    let (facts, party) = (&decided.facts, &decided.waking);
    let nr_cpus = decided.choices.len() as u32;
    // No task has this number: threads of the kernel are one waker to the rules.
    let id = match facts.waker {
        abi::KTHREAD.. => u32::MAX,
        waker => waker + 1,
    };
    let mut task = Task::new(id, party.weight.max(1), facts.cpu, None, nr_cpus);
    take_party(party, now_ns, task.raw_mut());
    task
}

/// A task's averages and weight, from what the tree said of it.
fn take_party(party: &Party, now_ns: u64, raw: &mut wp_task) {
    raw.avg.load_avg = party.load;
    raw.avg.last_update_ns = now_ns;
    raw.idle_policy = party.idle_policy;
    raw.waker.wakee_flips = party.wakee_flips;
    raw.waker.last_wakee = match party.last_wakee {
        abi::NONE => 0,
        task => task + 1,
    };
    raw.waker.recent_used_cpu = party.recent_used_cpu;
    raw.waker.flip_decay_ns = now_ns.saturating_sub(party.flip_age_ns);
}

/// A CPU's queue and signals, from what the tree said of it.
fn take_cpu(choice: &Choice, now_ns: u64, cpu: &mut wp_cpu) {
    let queue = &mut cpu.queue;
    queue.nr_running = choice.nr_running;
    queue.nr_fair = choice.nr_fair;
    queue.pending = choice.pending;
    queue.online = choice.online;
    queue.curr_idle = choice.idle;
    queue.curr_fair = choice.curr_fair;
    queue.nr_idle_policy = choice.nr_idle_policy;
    queue.h_nr_delayed = choice.nr_delayed;
    queue.misfit_task_load = choice.misfit_load;
    let load = &mut cpu.load;
    load.avg.load_avg = choice.load;
    load.avg.runnable_avg = choice.runnable;
    load.avg.util_avg = choice.util;
    load.avg.last_update_ns = now_ns;
    (load.clock_ns, load.clock_task_ns, load.clock_pelt_ns) = (now_ns, now_ns, now_ns);
    load.load_weight = choice.weight;
    load.util_est = choice.util_est;
    load.capacity = choice.capacity;
    load.capacity_orig = choice.capacity_orig;
    (load.pressure, load.thermal_pressure) = (choice.pressure, choice.pressure);
    (load.rt_util, load.dl_util, load.irq_util) = (choice.util_rt, choice.util_dl, choice.util_irq);
    let hints = [choice.uclamp_min, choice.uclamp_max];
    take_hints(choice.uclamp_idle, hints, cpu);
    if let Some(lb) = cpu.balance.lb.get_mut(cpu.topo.llc_level as usize) {
        lb.avg_scan_cost_ns = choice.scan_cost_ns;
    }
    let idle = &mut cpu.idle;
    idle.avg_idle_ns = choice.avg_idle_ns;
    idle.idle_stamp_ns = match choice.idle_stamp_ns {
        0 => 0,
        stamp => stamp + BEFORE_NS,
    };
    idle.nr_busy_cpus = choice.nr_busy_cpus;
    idle.has_idle_cores = choice.has_idle_cores;
    idle.nr_idle_scan = choice.nr_idle_scan;
}

/// The tree's hints, as those of one queued task; of an idle CPU those of the task that left last.
pub(super) fn take_hints(is_idle: u32, hints: [u32; 2], cpu: &mut wp_cpu) {
    let load = &mut cpu.load;
    (load.uclamp_tasks, load.uclamp_hinted) = (0, 0);
    if is_idle != 0 {
        load.uclamp_last_cut = sys::WP_SCALE.saturating_sub(hints[1]);
        return;
    }
    (load.uclamp_tasks, load.uclamp_hinted) = (1, 1);
    for (hint, value) in load.uclamp.iter_mut().zip(hints) {
        (hint.tasks[0], hint.highest[0]) = (1, value);
    }
}

/// The position of the idle state that a CPU is in; None: it is in none.
fn idle_state<T: Copy>(choice: &Choice, states: &[T]) -> Option<T> {
    if choice.idle_state == abi::NONE {
        return None;
    }
    // Without a driver for states the CPU waits in its first.
    let at = states.get(choice.idle_state as usize).or(states.first());
    at.copied()
}

/// A CPU's idle states as a tree's kernel is offered them: none that polls.
fn offered(platform: &Platform, cpu: u32) -> impl Iterator<Item = usize> {
    let states = platform.idle_states_of(CpuId(cpu));
    let states = states.filter(|(_, state)| !state.polling);
    states.map(|(index, _)| index)
}

/// The exit latencies of the idle states that a CPU is offered, us.
fn exits(platform: &Platform, cpu: u32) -> Vec<Option<u32>> {
    let exit = |state: usize| {
        let state = &platform.idle_states[state];
        u32::try_from(state.wake_latency_ns() / 1000).ok()
    };
    offered(platform, cpu).map(exit).collect()
}

/// The idle state that a CPU is in, as the platform numbers them; None: it is in none.
pub(super) fn idle_state_of(platform: &Platform, choice: &Choice) -> Option<usize> {
    let states: Vec<usize> = offered(platform, choice.cpu).collect();
    idle_state(choice, &states)
}

//! The core's balancing on a tree's state: who balances a domain, from which group and queue it
//! pulls and how much, which tasks it takes and whether it pushes. Each step of an attempt is
//! asked on the state that the tree's own step found (docs/rules/README.md#step-by-step).
//!
//! What must stay: the core gets the tree's state before each step, the attempt's own included;
//! names of figures are the kernel's. Free: what leaves recorded runs as they are (ARCHITECTURE.md,
//! "What a change may touch").
//!
//! Tests by part, where a tree is built: `the_cores_balancing_is_the_kernels` (all: each answer is
//! compared with the kernel's).
//!
//! Callers: crates/study/src/kernel_diff/mod.rs (`OnTree::balance`).
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs::the_cores_balancing_is_the_kernels

use super::on_signals::{Compared, Figure, SignalKind, wide};
use super::on_tree::{BEFORE_NS, OnTree};
use wakeplace_kernel_abi::abi;
use wakeplace_kernel_abi::balances::{Attempt, Balance, Offered, Step, flags};
use wakeplace_policy_sys::{self as core, Core, IdleKind, Offer, Task};

/// Bits of [`Attempt::pinned`]: affinity has held back all tasks so far.
const ALL_PINNED: u32 = 1;
/// Affinity has held back a task.
const SOME_PINNED: u32 = 2;

impl OnTree {
    /// Does to the state before what a step of the tree's balancing did. None: the policy balances
    /// by the loads of kernels before 5.5, or the step had nothing to do.
    pub fn balance(&mut self, time_ns: u64, told: &Balance) -> Option<Compared> {
        let (now_ns, attempt) = (time_ns + BEFORE_NS, &told.attempt);
        if self.core.state().params.balance_classes == 0 || is_between(told) {
            return None;
        }
        self.take_choices(now_ns, attempt.overutilized, &told.choices);
        if attempt.level >= self.core.levels(attempt.cpu) {
            let levels = self.core.levels(attempt.cpu).into();
            let deeper = wide("level", 0, attempt.level.into(), levels);
            return Some(compared(kind(told.step), vec![deeper]));
        }
        let mut balance = prepare(&mut self.core, now_ns, told);
        let figures = match told.step {
            Step::Who => vec![yes(
                "balances",
                attempt,
                self.core.on_state_balances(&balance),
            )],
            Step::Group => group(&mut self.core, &mut balance, told),
            Step::Queue => vec![queue(&mut self.core, &mut balance, attempt)],
            Step::Detach => detach(&mut self.core, &mut balance, now_ns, told),
            Step::Push => vec![yes("pushes", attempt, self.core.on_state_pushes(&balance))],
        };
        Some(compared(kind(told.step), figures))
    }
}

/// Has the step nothing to compare: a CPU that leaves or comes, no task to take, or one of which
/// the core does not know all?
fn is_between(told: &Balance) -> bool {
    let own = told.choices.get(told.attempt.cpu as usize);
    let apart = |of: &Offered| of.flags & flags::APART != 0;
    own.is_none_or(|own| own.allowed == 0 && told.step == Step::Who)
        || told.step == Step::Detach && (told.offered.is_empty() || told.offered.iter().any(apart))
}

fn kind(step: Step) -> SignalKind {
    match step {
        Step::Who => SignalKind::BalanceWho,
        Step::Group => SignalKind::BalanceGroup,
        Step::Queue => SignalKind::BalanceQueue,
        Step::Detach => SignalKind::BalanceDetach,
        Step::Push => SignalKind::BalancePush,
    }
}

fn compared(kind: SignalKind, mut figures: Vec<Figure>) -> Compared {
    figures.retain(|of| of.tree != of.core);
    Compared {
        kind,
        differ: figures,
    }
}

/// A step that says yes or no.
fn yes(name: &'static str, attempt: &Attempt, core: bool) -> Figure {
    wide(name, 0, attempt.answer.into(), core.into())
}

/// The attempt as the tree has it, and what the domain remembers of those before it.
fn prepare(core: &mut Core, now_ns: u64, told: &Balance) -> core::Balance {
    let attempt = &told.attempt;
    let ctx = core.state_mut();
    ctx.overload = attempt.overloaded;
    ctx.tick_ns = attempt.tick_ns as u32;
    let cpu = &mut ctx.cpus[attempt.cpu as usize];
    let level = attempt.level as usize;
    let (dom, own) = (cpu.topo.dom[level], &mut cpu.balance.lb[level]);
    own.nr_balance_failed = attempt.nr_failed;
    own.balance_interval_ms = attempt.interval_ms;
    let mut balance = core::Balance::default();
    let idle = match attempt.idle {
        0 => IdleKind::Busy,
        1 => IdleKind::Idle,
        _ => IdleKind::NewlyIdle,
    };
    balance.prepare(now_ns, attempt.cpu, attempt.level, idle);
    let raw = balance.raw_mut();
    (raw.dom, raw.dst_cpu, raw.src_cpu) = (dom, attempt.cpu, attempt.src_cpu);
    raw.busiest_group = abi::NONE;
    raw.new_dst_cpu = abi::NONE;
    raw.imbalance = attempt.imbalance;
    raw.migration_type = attempt.migration;
    raw.tries_left = attempt.tries;
    raw.all_pinned = u32::from(attempt.pinned & ALL_PINNED != 0);
    raw.some_pinned = u32::from(attempt.pinned & SOME_PINNED != 0);
    for choice in told.choices.iter().filter(|choice| choice.allowed == 0) {
        raw.excluded[choice.cpu as usize / 64] |= 1 << (choice.cpu % 64);
    }
    balance
}

/// First CPU of a group of a domain, and how many it has.
fn group_of(core: &Core, dom: u32, group: u32) -> (u32, u32) {
    let ctx = core.state();
    let of = &ctx.groups[(ctx.doms[dom as usize].first_group + group) as usize];
    let first = of.first_cpu as usize;
    let cpus = ctx.list[first..first + of.nr_cpus as usize].iter();
    (cpus.min().copied().map_or(abi::NONE, u32::from), of.nr_cpus)
}

/// The group to pull from, kind and amount, and what the pass says of the machine.
fn group(core: &mut Core, balance: &mut core::Balance, told: &Balance) -> Vec<Figure> {
    let attempt = &told.attempt;
    let found = core.on_state_src_group(balance);
    let raw = balance.raw();
    let (first, weight) = match found {
        true => group_of(core, raw.dom, raw.busiest_group),
        false => (abi::NONE, 0),
    };
    let [cpu, count] = [attempt.group_cpu, attempt.group_weight].map(u64::from);
    let mut figures = vec![
        wide("group", 0, cpu, first.into()),
        wide("group_weight", 0, count, weight.into()),
        wide(
            "overutilized",
            attempt.overutilized.into(),
            attempt.overutilized_after.into(),
            core.state().overutilized.into(),
        ),
        wide(
            "overloaded",
            attempt.overloaded.into(),
            attempt.overloaded_after.into(),
            core.state().overload.into(),
        ),
        scanned(core, raw.dom, told),
    ];
    if found && attempt.group_cpu != abi::NONE {
        let after = attempt.imbalance_after.cast_unsigned();
        figures.push(wide("imbalance", 0, after, raw.imbalance.cast_unsigned()));
        let (tree, own) = (attempt.migration_after, raw.migration_type);
        figures.push(wide("migration_type", 0, tree.into(), own.into()));
    }
    figures
}

/// How far idle searches go from now on: the core notes it with the first CPU of their domain.
fn scanned(core: &Core, dom: u32, told: &Balance) -> Figure {
    let ctx = core.state();
    let first = u32::from(ctx.list[ctx.doms[dom as usize].first_cpu as usize]);
    let was = |cpu: u32| told.choices[cpu as usize].nr_idle_scan;
    let now = core.cpu(first).idle.nr_idle_scan;
    let before = was(told.attempt.cpu);
    let core = if now == was(first) { before } else { now };
    wide(
        "nr_idle_scan",
        before.into(),
        told.attempt.nr_idle_scan_after.into(),
        core.into(),
    )
}

/// The queue of the tree's group to pull from.
fn queue(core: &mut Core, balance: &mut core::Balance, attempt: &Attempt) -> Figure {
    let dom = balance.raw().dom;
    let nr_groups = core.state().doms[dom as usize].nr_groups;
    let is_it =
        |group: &u32| group_of(core, dom, *group) == (attempt.group_cpu, attempt.group_weight);
    let found = (0..nr_groups).find(is_it);
    let cpu = found.and_then(|group| {
        balance.raw_mut().busiest_group = group;
        core.on_state_src_cpu(balance)
    });
    let cpu = cpu.unwrap_or(abi::NONE);
    wide("src_cpu", 0, attempt.src_cpu.into(), cpu.into())
}

/// A task as the tree offers it.
fn task_of(now_ns: u64, told: &Balance, at: usize) -> Task {
    let of = &told.offered[at];
    let (cpu, nr_cpus) = (told.attempt.src_cpu, told.choices.len() as u32);
    let mut task = Task::new(
        of.task.wrapping_add(1).max(1),
        1024,
        cpu,
        Some(&told.may_use(at)),
        nr_cpus,
    );
    let raw = task.raw_mut();
    raw.avg.util_avg = of.util;
    raw.avg.last_update_ns = now_ns;
    (raw.util_est, raw.util_est_ewma) = (of.util_est, of.util_est);
    (raw.uclamp_min, raw.uclamp_max) = (of.uclamp_min, of.uclamp_max);
    raw.idle_policy = u32::from(of.flags & flags::IDLE_POLICY != 0);
    raw.running = u32::from(of.flags & flags::RUNS != 0);
    raw.on_rq = 1;
    raw.exec_start_ns = now_ns - of.age_ns.max(0).cast_unsigned();
    // What it weighs for its CPU is told.
    raw.task_group = u32::MAX;
    raw.group_load = of.h_load;
    task
}

/// Which tasks of the tree's source leave: a bit for each look, up to the first that differs.
fn detach(
    core: &mut Core,
    balance: &mut core::Balance,
    now_ns: u64,
    told: &Balance,
) -> Vec<Figure> {
    let attempt = &told.attempt;
    for (at, of) in told.offered.iter().enumerate() {
        core.cpu_mut(attempt.src_cpu).queue.nr_running = of.nr_running;
        let mut task = task_of(now_ns, told, at);
        core.task_set_allowed(&mut task);
        let is = |flag: u32| of.flags & flag != 0;
        balance.set_offered(is(flags::BUDDY), is(flags::INELIGIBLE));
        // A home offers no sleeper (docs/rules/queues.md#kept-sleepers).
        if is(flags::DELAYED) && is(flags::MAY) {
            return vec![wide("sleeper", 0, 1, 0)];
        }
        let takes = match is(flags::DELAYED) {
            true => Offer::Skip,
            false => core.balance_offer(balance, &task),
        };
        if is(flags::DELAYED) {
            let raw = balance.raw_mut();
            raw.tries_left = raw.tries_left.saturating_sub(1);
        }
        let (tree, own) = (is(flags::TAKEN), takes == Offer::Take);
        if tree != own {
            let before = u64::try_from(at).unwrap_or(u64::MAX);
            return vec![wide("taken", before, tree.into(), own.into())];
        }
    }
    let raw = balance.raw();
    let (was, is) = (attempt.imbalance, attempt.imbalance_after);
    let pinned = raw.all_pinned * ALL_PINNED + raw.some_pinned * SOME_PINNED;
    vec![
        wide(
            "imbalance",
            was.cast_unsigned(),
            is.cast_unsigned(),
            raw.imbalance.cast_unsigned(),
        ),
        wide(
            "pinned",
            attempt.pinned.into(),
            attempt.pinned_after.into(),
            pinned.into(),
        ),
        wide(
            "new_dst_cpu",
            abi::NONE.into(),
            attempt.new_cpu.into(),
            raw.new_dst_cpu.into(),
        ),
    ]
}

//! The slow path of Linux 7.3 (fork, exec): which group, which CPU in it. Source:
//! docs/rules/wake-ups.md#slow-path and docs/rules/balancing.md#group-class;
//! docs/rules/capacity-aware.md#idlest-cpu.
//!
//! What must stay: the model (`class`, `avg`, `choose`) calls nothing of the core; margins are 117
//! % and NUMA's limit as on the page. It covers policy/src/placement/idlest_class.c and idlest.c.
//! Free: seeds and numbers of states, and how helpers build one.
//! Tests by part: `fork_goes_to_more_idle_cpus`, `less_utilisation_among_remote_groups`,
//! `class_before_load`, `misfit_groups` (`wp_update_pick_idlest`, `wp_find_idlest_group`);
//! `pending_is_not_idle`, `exec_leaves_itself_out`, `exec_takes_its_estimate_along`,
//! `exactly_full_is_fully_busy` (`wp_update_sg_wakeup_stats`); `affinity` (`wp_dom_allowed`,
//! `wp_local_group`); `loads_within_the_margin_stay`, `equal_loads_take_the_first`,
//! `numa_adds_the_margin_to_the_remote_load` (`wp_leave_for_load`);
//! `numa_keeps_small_groups_together` (`wp_leave_for_idle`); `cpu_in_the_group`
//! (`wp_find_idlest_group_cpu`); `random_states_agree_with_the_model` (`wp_find_idlest_group` as a
//! whole).
//! Helpers, and who fails with them: `caches`, `busy`, `child`, `fork` (most tests, `affinity`
//! among them); `idle_machine` (all tests, `fork_goes_to_more_idle_cpus` among them); `forked` (7
//! tests, `fork_goes_to_more_idle_cpus` among them); `capacity`, `class`, `avg`, `choose`
//! (`random_states_agree_with_the_model`); `loaded`, `loads` (`loads_within_the_margin_stay`,
//! `numa_adds_the_margin_to_the_remote_load`); `nodes` (`loads_within_the_margin_stay`,
//! `numa_adds_the_margin_to_the_remote_load`, `numa_keeps_small_groups_together`).

use crate::common;

use common::sleeper;
use common::{Rng, ask, cluster, core, freeze, hikey960, machine, make_busy, make_idle};
use wakeplace_policy_sys::{Core, MachineFacts, PlaceKind, Reason, Rule, Task};

/// Caches of these sizes, nothing else.
fn caches(sizes: &[usize]) -> MachineFacts {
    let clusters: Vec<_> = sizes.iter().map(|n| cluster(*n, 1024)).collect();
    let mut facts = machine(&clusters);
    facts.perf_domains.clear();
    facts
}

/// Gives the machine of `caches`, each cache a node.
fn nodes(sizes: &[usize]) -> MachineFacts {
    let mut facts = caches(sizes);
    facts.levels[1].numa = true;
    facts
}

fn idle_machine(facts: &MachineFacts) -> Core {
    let mut core = core(facts, "linux-7.3", &[]);
    freeze(&mut core);
    (0..core.state().nr_cpus).for_each(|cpu| make_idle(&mut core, cpu));
    core
}

fn busy(core: &mut Core, cpus: impl IntoIterator<Item = u32>) {
    cpus.into_iter().for_each(|cpu| make_busy(core, cpu));
}

/// A new task of a parent on `cpu`: no queue knows it.
fn child(core: &mut Core, cpu: u32) -> Task {
    let mut task = Task::new(1, 1024, cpu, None, core.state().nr_cpus);
    core.task_init(&mut task);
    task
}

fn fork(core: &mut Core, task: &Task, cpu: u32) -> (u32, Reason) {
    let got = core.select_cpu(&mut [task.clone()], 0, &ask(PlaceKind::Fork, cpu, cpu));
    (got.cpu, got.reason)
}

/// Asks where a fork on CPU 0 goes.
fn forked(core: &mut Core) -> (u32, Reason) {
    let task = child(core, 0);
    fork(core, &task, 0)
}

// ------------------------------------------------------------------------------- has_spare

/// Goal: a fork on an otherwise idle machine goes to the group with more idle CPUs; as many idle
/// CPUs are a reason to stay. Source: docs/rules/wake-ups.md#slow-path (has_spare: local if its
/// idle CPUs >= remote's).
#[test]
fn fork_goes_to_more_idle_cpus() {
    let mut core = idle_machine(&caches(&[4, 4]));
    busy(&mut core, [0]);
    let (cpu, reason) = forked(&mut core);
    assert!((4..8).contains(&cpu));
    assert_eq!(reason, Reason::SlowIdle);
    busy(&mut core, [7]);
    let (cpu, _) = forked(&mut core);
    assert!((1..4).contains(&cpu), "three idle CPUs on either side");
    let mut uneven = idle_machine(&caches(&[2, 3, 6]));
    busy(&mut uneven, [0]);
    let (cpu, reason) = forked(&mut uneven);
    assert!((5..11).contains(&cpu));
    assert_eq!(reason, Reason::SlowIdle);
}

/// Goal: of remote groups with equally many idle CPUs the one with less utilisation; of equals the
/// first. Source: docs/rules/wake-ups.md#slow-path (has_spare more idle CPUs, then lower util).
#[test]
fn less_utilisation_among_remote_groups() {
    let mut core = idle_machine(&caches(&[2, 2, 2]));
    busy(&mut core, [0]);
    assert!((2..4).contains(&forked(&mut core).0));
    core.cpu_mut(3).load.avg.util_avg = 10;
    assert!((4..6).contains(&forked(&mut core).0));
}

/// Goal: a pending wake-up makes a CPU busy. Source: docs/rules/wake-ups.md#slow-path (idle CPUs =
/// nothing running but p and nothing pending).
#[test]
fn pending_is_not_idle() {
    let mut core = idle_machine(&caches(&[2, 2]));
    busy(&mut core, [0]);
    core.cpu_mut(2).queue.pending = 1;
    assert!(forked(&mut core).0 < 2);
    core.cpu_mut(2).queue.pending = 0;
    assert!(forked(&mut core).0 >= 2);
}

/// Goal: an exec is judged as if the task were not where it runs. Source:
/// docs/rules/wake-ups.md#slow-path (statistics without p).
#[test]
fn exec_leaves_itself_out() {
    let mut core = idle_machine(&caches(&[2, 2]));
    let mut task = sleeper(&mut core, 1, 0, 0, 0);
    busy(&mut core, [0]);
    let exec = |core: &mut Core, task: &Task| {
        core.select_cpu(&mut [task.clone()], 0, &ask(PlaceKind::Exec, 0, 0))
    };
    assert!(exec(&mut core, &task).cpu >= 2, "somebody else runs there");
    (task.raw_mut().on_rq, task.raw_mut().running) = (1, 1);
    let got = exec(&mut core, &task);
    assert_eq!((got.cpu, got.reason), (0, Reason::SlowLocal));
    assert_eq!(got.rule, Rule::SlowPath);
    core.cpu_mut(0).queue.pending = 1;
    assert!(exec(&mut core, &task).cpu >= 2, "somebody is on the way");
    core.cpu_mut(0).queue.pending = 0;
    core.cpu_mut(0).queue.nr_running = 2;
    assert!(exec(&mut core, &task).cpu >= 2, "not alone");
}

/// Goal: a queued task's estimate is not part of what its CPU has without it: 400 + 1000 of 2048 is
/// has_spare (below 1750), 1000 + 1000 would be fully_busy. Source:
/// docs/rules/wake-ups.md#slow-path, docs/rules/balancing.md#group-class.
#[test]
fn exec_takes_its_estimate_along() {
    let mut core = idle_machine(&caches(&[2, 2]));
    busy(&mut core, 0..4);
    let mut task = sleeper(&mut core, 1, 0, 100, 600);
    (task.raw_mut().on_rq, task.raw_mut().running) = (1, 1);
    let c = core.cpu_mut(0);
    (c.queue.nr_running, c.load.avg.util_avg, c.load.util_est) = (2, 300, 1000);
    core.cpu_mut(1).load.avg.util_avg = 1000;
    let exec = |core: &mut Core, task: &Task| {
        let got = core.select_cpu(&mut [task.clone()], 0, &ask(PlaceKind::Exec, 0, 0));
        got.cpu / 2
    };
    assert_eq!(exec(&mut core, &task), 0);
    task.raw_mut().on_rq = 0;
    assert_eq!(exec(&mut core, &task), 1, "somebody else's estimate stays");
}

/// Goal: without an allowed CPU in the local group the best remote one; without an allowed CPU in
/// the whole domain prev. Source: docs/rules/wake-ups.md#slow-path ("per allowed group").
#[test]
fn affinity() {
    let mut core = idle_machine(&caches(&[2, 2]));
    busy(&mut core, [2]);
    let mut task = child(&mut core, 0);
    task.set_allowed(Some(&[2, 3]), 4);
    assert_eq!(fork(&mut core, &task, 0), (3, Reason::SlowRemote));
    let mut islands = caches(&[2, 2]);
    islands.levels.truncate(1); // nothing spans both
    let mut core = idle_machine(&islands);
    let got = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Fork, 0, 3));
    assert_eq!(got.cpu, 3, "prev");
}

// ------------------------------------------------------------------------------- loaded groups

/// Two caches of two busy CPUs; average loads per capacity of 1024 and `remote`. `runnable` of
/// each CPU and `running` decide the class.
fn loaded(remote: u32, running: u32, numa: bool) -> (u32, Reason) {
    loads(1024, remote, running, numa)
}

fn loads(local: u32, remote: u32, running: u32, numa: bool) -> (u32, Reason) {
    let facts = if numa {
        nodes(&[2, 2])
    } else {
        caches(&[2, 2])
    };
    let mut core = idle_machine(&facts);
    for cpu in 0..4 {
        make_busy(&mut core, cpu);
        let c = core.cpu_mut(cpu);
        c.queue.nr_running = running;
        c.load.avg.util_avg = 1024;
        c.load.avg.load_avg = if cpu < 2 { local } else { remote };
    }
    let task = child(&mut core, 0);
    let (cpu, reason) = fork(&mut core, &task, 0);
    (cpu / 2, reason)
}

/// Goal: 100*1024 against 117*875 = 102375 leaves, against 117*876 = 102492 stays; fully busy and
/// overloaded groups alike. Source: docs/rules/wake-ups.md#slow-path-numbers.
#[test]
fn loads_within_the_margin_stay() {
    for running in [1, 2] {
        assert_eq!(loaded(875, running, false), (1, Reason::SlowLoad));
        assert_eq!(loaded(876, running, false).0, 0);
    }
    assert_eq!(loads(117, 100, 1, false).0, 0, "11700 against 11700");
    assert_eq!(loads(55, 47, 1, false).0, 1, "5500 against 5499");
}

/// Goal: of remote groups with the same load the first. Source: docs/rules/wake-ups.md#slow-path
/// (lower avg_load).
#[test]
fn equal_loads_take_the_first() {
    let mut core = idle_machine(&caches(&[2, 2, 2]));
    for cpu in 0..6 {
        make_busy(&mut core, cpu);
        core.cpu_mut(cpu).load.avg.util_avg = 1024;
        core.cpu_mut(cpu).load.avg.load_avg = if cpu < 2 { 1024 } else { 500 };
    }
    assert_eq!(forked(&mut core).0 / 2, 1);
    core.cpu_mut(5).load.avg.load_avg = 499;
    assert_eq!(forked(&mut core).0 / 2, 2);
}

/// Goal: on NUMA the local node may carry the margin more: 1024 stays while remote + 174 >= 1024.
/// Source: docs/rules/wake-ups.md#slow-path ("NUMA and remote+imb >= local"), K imb 174.
#[test]
fn numa_adds_the_margin_to_the_remote_load() {
    assert_eq!(loaded(849, 1, true), (1, Reason::SlowLoad));
    assert_eq!(loaded(850, 1, true).0, 0);
}

/// Goal: a less busy class wins whatever the loads. Source: docs/rules/wake-ups.md#slow-path (local
/// loses if its class is higher), docs/rules/balancing.md#group-class ranks.
#[test]
fn class_before_load() {
    let mut core = idle_machine(&caches(&[2, 2]));
    for cpu in 0..4 {
        make_busy(&mut core, cpu);
        core.cpu_mut(cpu).load.avg.util_avg = 1024;
        core.cpu_mut(cpu).load.avg.load_avg = if cpu < 2 { 1024 } else { 5000 };
    }
    core.cpu_mut(0).queue.nr_running = 2; // overloaded against fully_busy
    let (cpu, reason) = forked(&mut core);
    assert!(cpu >= 2);
    assert_eq!(reason, Reason::SlowClass);
    core.cpu_mut(2).queue.nr_running = 2;
    core.cpu_mut(3).queue.nr_running = 2;
    core.cpu_mut(0).queue.nr_running = 1; // the other way round
    assert!(forked(&mut core).0 < 2);
    // A group whose pull failed by affinity is worse than a fully busy one.
    core.cpu_mut(2).queue.nr_running = 1;
    core.cpu_mut(3).queue.nr_running = 1;
    let first = core.state().doms[core.cpu(0).topo.dom[1] as usize].first_group as usize;
    core.state_mut().groups[first].imbalanced = 1;
    assert_eq!(forked(&mut core).1, Reason::SlowClass);
}

/// Goal: the margin is strict: 1170 * 100 is not above 1000 * 117. Source:
/// docs/rules/balancing.md#group-class (has_capacity).
#[test]
fn exactly_full_is_fully_busy() {
    let run = |util: u32| {
        let mut core = idle_machine(&caches(&[2, 2]));
        busy(&mut core, 0..4);
        core.cpu_mut(0).load.avg.util_avg = util;
        let first = core.state().doms[core.cpu(0).topo.dom[1] as usize].first_group as usize;
        core.state_mut().groups[first].capacity = 1170;
        forked(&mut core).0 / 2
    };
    assert_eq!((run(999), run(1000)), (0, 1));
}

// ------------------------------------------------------------------------------- asymmetric

/// Goal: a group without a CPU that fits is misfit; two such: the bigger biggest CPU. Source:
/// docs/rules/wake-ups.md#slow-path (misfit marker), docs/rules/balancing.md#group-class.
#[test]
fn misfit_groups() {
    let exec = |cpu: u32, util: u32, change: fn(&mut Core)| {
        let mut core = idle_machine(&machine(&hikey960()));
        change(&mut core);
        let task = sleeper(&mut core, 1, cpu, util, util);
        let got = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Exec, cpu, cpu));
        (got.cpu / 4, got.reason)
    };
    assert_eq!(exec(0, 369, |_| ()), (0, Reason::SlowLocal));
    assert_eq!(exec(0, 370, |_| ()), (1, Reason::SlowClass));
    assert_eq!(exec(0, 900, |_| ()), (1, Reason::SlowMisfit));
    assert_eq!(exec(4, 900, |_| ()).0, 1, "already in the bigger group");
    let equals = machine(&[cluster(2, 1024), cluster(2, 1024), cluster(2, 462)]);
    let mut core = idle_machine(&equals);
    let task = sleeper(&mut core, 1, 0, 900, 900);
    let got = core.select_cpu(&mut [task], 0, &ask(PlaceKind::Exec, 0, 0));
    assert_eq!(got.cpu / 2, 0, "as big here");
    // One big CPU that fits is enough, though it is the busy one.
    let squeezed = |core: &mut Core| {
        busy(core, [4]);
        (5..8).for_each(|cpu| core.cpu_mut(cpu).load.capacity = 500);
    };
    assert_eq!(exec(0, 500, squeezed), (1, Reason::SlowClass));
    let all_squeezed = |core: &mut Core| {
        (4..8).for_each(|cpu| core.cpu_mut(cpu).load.capacity = 500);
    };
    assert_eq!(exec(0, 500, all_squeezed), (1, Reason::SlowMisfit));
}

// ------------------------------------------------------------------------------- NUMA

/// Goal: an imbalance of up to two idle CPUs is ignored while few tasks run locally; the limit is
/// an eighth of the node. Source: docs/rules/wake-ups.md#adjust-numa;
/// docs/rules/domains.md#imb-numa (2x112: 14).
#[test]
fn numa_keeps_small_groups_together() {
    let run = |local: u32, remote: u32, pending: u32, allowed_here: u32| {
        let mut core = idle_machine(&nodes(&[112, 112]));
        busy(&mut core, 0..local);
        busy(&mut core, 112..112 + remote);
        for cpu in local..local + pending {
            core.cpu_mut(cpu).queue.pending = 1;
        }
        let mut task = child(&mut core, 0);
        let list: Vec<u32> = (0..allowed_here).chain(112..112 + allowed_here).collect();
        task.set_allowed(Some(&list), 224);
        fork(&mut core, &task, 0).0 / 112
    };
    assert_eq!(run(5, 3, 0, 112), 0, "difference 2, 6 <= 14");
    assert_eq!(run(13, 11, 0, 112), 0, "14 <= 14");
    assert_eq!(run(14, 12, 0, 112), 1, "15 > 14");
    assert_eq!(run(5, 3, 1, 112), 1, "difference 3");
    assert_eq!(run(5, 3, 0, 6), 0, "limit 6 by affinity");
    assert_eq!(run(5, 3, 0, 5), 1, "limit 5 by affinity");
    assert_eq!(run(14, 15, 0, 112), 0, "as many idle CPUs here");
}

// ------------------------------------------------------------------------------- idlest cpu

/// Goal: in the group: a CPU with SCHED_IDLE tasks only is taken at once; else the cheapest way out
/// of idle, then the last to go idle; else the least load. Source:
/// docs/rules/capacity-aware.md#idlest-cpu.
#[test]
fn cpu_in_the_group() {
    let mut core = idle_machine(&caches(&[1, 4]));
    busy(&mut core, [0]);
    for (cpu, us, stamp) in [(1, 200, 50), (2, 1, 10), (3, 1, 20), (4, 300, 90)] {
        core.cpu_mut(cpu).idle.idle_exit_latency_us = us;
        core.cpu_mut(cpu).idle.idle_stamp_ns = stamp;
    }
    assert_eq!(forked(&mut core).0, 3);
    core.cpu_mut(2).idle.idle_stamp_ns = 30;
    assert_eq!(forked(&mut core).0, 2);
    // No idle CPU there, the local group overloaded: least load, unless one has SCHED_IDLE only.
    let mut core = idle_machine(&caches(&[2, 4]));
    busy(&mut core, 0..6);
    for cpu in 0..2 {
        core.cpu_mut(cpu).queue.nr_running = 2;
        core.cpu_mut(cpu).load.avg.util_avg = 1024;
    }
    for cpu in 2..6 {
        core.cpu_mut(cpu).load.avg.load_avg = 1000 - cpu;
    }
    assert_eq!(forked(&mut core), (5, Reason::SlowClass));
    core.cpu_mut(3).queue.nr_idle_policy = 1;
    assert_eq!(forked(&mut core), (3, Reason::SlowClass));
}

// ------------------------------------------------------------------------------- model

/// One group as docs/rules/balancing.md#group-class and docs/rules/wake-ups.md#slow-path see it, in
/// plain numbers.
#[derive(Clone, Debug, Default)]
struct Sums {
    load: u64,
    runnable: u64,
    util: u64,
    running: u64,
    idle: u64,
    weight: u64,
}

impl Sums {
    fn capacity(&self) -> u64 {
        self.weight * 1024
    }

    /// docs/rules/balancing.md#group-class, symmetric: has_spare 0, fully_busy 1, overloaded 6.
    fn class(&self, pct: u64) -> u64 {
        let cap = self.capacity();
        let tight = cap * pct < self.runnable * 100;
        if self.running > self.weight && (cap * 100 < self.util * pct || tight) {
            return 6;
        }
        let has_capacity = self.running < self.weight || (!tight && cap * 100 > self.util * pct);
        u64::from(!has_capacity)
    }

    fn avg(&self) -> u64 {
        self.load * 1024 / self.capacity()
    }
}

/// docs/rules/wake-ups.md#slow-path over flat groups: the group to go to, `None` = stay.
fn choose(groups: &[Sums], local: usize, pct: u64) -> Option<usize> {
    let mut best: Option<usize> = None;
    for k in 1..groups.len() {
        let at = (local + k) % groups.len();
        let g = &groups[at];
        let better = best.is_none_or(|b| {
            let b = &groups[b];
            match (g.class(pct), b.class(pct)) {
                (x, y) if x != y => x < y,
                (0, _) => g.idle > b.idle || (g.idle == b.idle && g.util < b.util),
                _ => g.avg() < b.avg(),
            }
        });
        if better {
            best = Some(at);
        }
    }
    let (l, r) = (&groups[local], &groups[best?]);
    let stay = match (l.class(pct), r.class(pct)) {
        (x, y) if x != y => x < y,
        (0, _) => l.idle >= r.idle,
        _ => {
            let imb = 1024 * (pct - 100) / 100;
            r.avg() >= l.avg() + imb || 100 * l.avg() <= pct * r.avg()
        }
    };
    if stay { None } else { best }
}

/// Goal: the choice of the cache group equals an independent evaluation on random states. Source:
/// docs/rules/wake-ups.md#slow-path, docs/rules/balancing.md#group-class.
#[test]
fn random_states_agree_with_the_model() {
    let mut rng = Rng(73);
    let mut moved = [0u32; Reason::COUNT];
    for round in 0..20_000 {
        let (n, size) = [(2, 4), (3, 2), (4, 3)][rng.index(3)];
        let mut core = idle_machine(&caches(&vec![size; n]));
        let mut groups = vec![Sums::default(); n];
        let tight = rng.one_in(2);
        for cpu in 0..(n * size) as u32 {
            let g = &mut groups[cpu as usize / size];
            let running = rng.range(u32::from(tight), if tight { 3 } else { 1 });
            if running > 0 {
                make_busy(&mut core, cpu);
            }
            let c = core.cpu_mut(cpu);
            c.queue.nr_running = running;
            c.load.avg.load_avg = rng.range(0, 2000);
            c.load.avg.util_avg = rng.range(if tight { 600 } else { 0 }, 1024);
            c.load.avg.runnable_avg = rng.range(0, if tight { 2000 } else { 1024 });
            g.load += u64::from(c.load.avg.load_avg);
            g.util += u64::from(c.load.avg.util_avg);
            g.runnable += u64::from(c.load.avg.runnable_avg);
            g.running += u64::from(running);
            g.idle += u64::from(running == 0);
            g.weight += 1;
        }
        let here = rng.index(n * size);
        let task = child(&mut core, here as u32);
        let (cpu, reason) = fork(&mut core, &task, here as u32);
        let want = choose(&groups, here / size, 117).unwrap_or(here / size);
        assert_eq!(
            cpu as usize / size,
            want,
            "round {round}, from {here}: {groups:?}"
        );
        moved[reason.index()] += u32::from(want != here / size);
    }
    for reason in [Reason::SlowIdle, Reason::SlowLoad, Reason::SlowClass] {
        assert!(moved[reason.index()] > 50, "{reason} is exercised");
    }
}

//! The decision matrix of the policy `wakeplace`: one test per line, by the number it has in
//! docs/guide/policy.md. Which CPU is derived from the rule that the line names.
//!
//! What must stay: a test's number is the line's number on the page: a line that changes there
//! changes its test, and a new line gets a test. Every mode of `MODES` is tried where the line
//! speaks of modes. It covers policy/src/packing/mode.c, policy/src/placement/select.c and
//! crates/policy-sys/src/policy.rs. Free: how helpers build a machine, and which CPUs stand for a
//! class.
//! Tests by part: lines 1, 2 and 6 (`wp_select_normal`, `wp_select_idle_sibling`); 3 to 5
//! (`wp_find_energy_efficient_cpu`); 7, 9 to 13 and 17 (`wp_pack_select`); 19 (`wp_mc_select`); 14
//! to 16 (`wp_short_decide`); 18 (`wp_headroom`); `a_mode_changes_live`, `names_go_before_the_mode`
//! (`wp_mc_rules`, `wp_packing`). The test of line N is `line_N_` and more.
//! Helpers, and who fails with them: `placed`, `task` (most tests, `line_1_pinned` among them);
//! `hikey` (7 tests, `line_1_pinned` among them); `caches` (10 tests, `line_2_overloaded` among
//! them); `fork` (6 tests, `line_9_and_10_new_tasks` among them); `load` (12 tests,
//! `line_2_overloaded` among them); `no_model` (`line_8_misfit_without_a_model`); `threads`
//! (`line_13_one_cache`); `thread_level` (`line_13_one_cache`,
//! `line_19_not_where_groups_can_be_filled`); `pair` (`line_14_short_pair`, `line_15_small_cache`,
//! `line_16_large_cache_that_idles`, `line_17_packing_before_stacking`).
#![allow(missing_docs, reason = "not a library")]

use crate::common;

use common::wake::{seen, wake};
use common::{
    Cluster, ask, cluster, core, freeze, hikey960, labels, machine, make_busy, make_idle, put,
    sleeper, tc2,
};
use wakeplace_policy_sys::{
    Core, LevelFacts, MachineFacts, PlaceKind, Policy, Reason, Request, Rule, SchedMcFacts, Task,
    Waker, sys,
};

const MODES: [&str; 4] = ["auto", "performance", "balanced", "powersave"];

fn placed(facts: &MachineFacts, mode: &str) -> Core {
    let mut core = core(facts, "wakeplace", &[("mode", mode)]);
    freeze(&mut core);
    core
}

/// HiKey960, 0-3 little and 4-7 big, all idle and below the tipping point.
fn hikey(mode: &str) -> Core {
    placed(&machine(&hikey960()), mode)
}

/// Gives a machine without an energy model: TC2, 0 and 1 big, 2 to 4 little.
fn no_model(mode: &str) -> Core {
    let mut facts = machine(&tc2());
    facts.perf_domains.clear();
    placed(&facts, mode)
}

/// Caches of so many CPUs each, in nodes of their own where there are several; no threads.
fn caches(sizes: &[usize], mode: &str) -> Core {
    let clusters: Vec<_> = sizes.iter().map(|n| cluster(*n, 1024)).collect();
    let mut facts = machine(&clusters);
    facts.perf_domains.clear();
    placed(&facts, mode)
}

/// One cache of so many CPUs in cores of two threads.
fn threads(cpus: usize, mode: &str) -> Core {
    let mut facts = machine(&[cluster(cpus, 1024)]);
    facts.perf_domains.clear();
    facts.levels.insert(0, thread_level(cpus));
    placed(&facts, mode)
}

/// Cores of two threads each.
fn thread_level(cpus: usize) -> LevelFacts {
    LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        group_of: labels(std::iter::repeat_n(2, cpus / 2)),
        ..LevelFacts::default()
    }
}

/// A sleeping task of this utilisation, which its previous CPU does not remember.
fn task(core: &mut Core, prev: u32, util: u32) -> Task {
    let mut task = sleeper(core, 1, prev, util, util);
    task.raw_mut().waker.recent_used_cpu = prev;
    task
}

fn fork(core: &mut Core, this_cpu: u32) -> (u32, Reason) {
    let mut new = Task::new(9, 1024, this_cpu, None, core.state().nr_cpus);
    core.task_init(&mut new);
    let request = ask(PlaceKind::Fork, this_cpu, this_cpu);
    seen(core.select_cpu(&mut [new], 0, &request))
}

/// A CPU that one task keeps busy.
fn load(core: &mut Core, cpus: impl IntoIterator<Item = u32>) {
    for cpu in cpus {
        put(core, cpu, 1, 1024, 1024, 1024);
    }
}

// ------------------------------------------------------------------------------- any machine

/// Line 1. A task with one CPU goes there, whatever the mode and however busy it is
/// (docs/rules/wake-ups.md#try-to-wake-up).
#[test]
fn line_1_pinned() {
    for mode in MODES {
        let mut core = hikey(mode);
        make_busy(&mut core, 2);
        let mut pinned = task(&mut core, 5, 300);
        pinned.set_allowed(Some(&[2]), 8);
        let choice = core.select_cpu(&mut [pinned], 0, &ask(PlaceKind::Wake, 0, 5));
        assert_eq!(
            (choice.cpu, choice.reason),
            (2, Reason::OneAllowed),
            "{mode}"
        );
    }
}

/// Line 2. Nothing idle, nothing packs: the target, busy (docs/rules/wake-ups.md#idle-sibling, 9).
#[test]
fn line_2_overloaded() {
    let mut core = caches(&[4], "auto");
    load(&mut core, 0..4);
    core.cpu_mut(0).idle.nr_idle_scan = 4;
    let woken = task(&mut core, 1, 300);
    assert_eq!(wake(&mut core, &woken, 1), (1, Reason::TargetBusy));
}

/// Line 20. A task that fell asleep in debt, beside one that was there as well: there, as in the
/// kernel, whose queue keeps it till then (docs/rules/queues.md#eevdf, `DELAY_DEQUEUE`). Not if it
/// owed nothing, nor if nobody was there, nor once the queue has let it go.
#[test]
fn line_20_in_debt() {
    const MS: u64 = 1_000_000;
    for mode in MODES {
        let place = |ran_ns: u64, alone: bool, then_ns: u64, set: &str| {
            let mut facts = machine(&[cluster(4, 1024)]);
            facts.perf_domains.clear();
            let set = [("mode", mode), ("delay_dequeue", set)];
            let mut core = core(&facts, "wakeplace", &set);
            freeze(&mut core);
            load(&mut core, [2]);
            let (mut woken, mut other) = (task(&mut core, 2, 400), task(&mut core, 2, 400));
            other.raw_mut().id = woken.raw().id + 1;
            core.live_queue_place(&mut woken, 2, 0);
            if !alone {
                core.live_queue_place(&mut other, 2, 0);
            }
            core.live_queue_start(&mut woken, 2, 0);
            core.live_queue_stop(&mut woken, ran_ns);
            core.live_queue_leave(&mut woken, true, ran_ns);
            core.live_queue_start(&mut other, 2, ran_ns);
            core.live_queue_go_on(2, ran_ns + then_ns);
            wake(&mut core, &woken, 2)
        };
        let held = (2, Reason::QueueHolds);
        assert_eq!(place(6 * MS, false, MS, "on"), held, "{mode}");
        for free in [
            place(0, false, MS, "on"),
            place(6 * MS, true, MS, "on"),
            place(6 * MS, false, 20 * MS, "on"),
            place(6 * MS, false, MS, "off"),
        ] {
            assert_ne!(free.1, Reason::QueueHolds, "{mode}");
        }
    }
}

// ------------------------------------------------------------------------------- with a model

/// Line 3. Below the tipping point a wake-up goes where it costs least: off an idle big CPU to a
/// little one (docs/rules/energy-aware.md#energy-wake-up, landscape hk_idle_5pct_prev_big). In
/// `performance` nobody asks.
#[test]
fn line_3_energy_below_the_tipping_point() {
    for mode in MODES {
        let mut core = hikey(mode);
        core.cpu_mut(4).load.avg.util_avg = 43;
        let light = task(&mut core, 4, 43);
        let (cpu, reason) = wake(&mut core, &light, 4);
        if mode == "performance" {
            assert_eq!((cpu, reason), (4, Reason::IdleTarget));
        } else {
            assert!(cpu < 4, "{mode}: {cpu}");
            assert_eq!(reason, Reason::EnergyBest, "{mode}");
        }
    }
}

/// Line 4. A tiny task, without utilisation, stays: it costs nothing anywhere
/// (docs/rules/energy-aware.md#energy-wake-up).
#[test]
fn line_4_tiny() {
    let mut core = hikey("auto");
    let tiny = task(&mut core, 5, 0);
    assert_eq!(wake(&mut core, &tiny, 0), (5, Reason::EnergyZeroUtil));
}

/// Line 5. A task that its previous CPU cannot hold leaves it below the tipping point, too: 400 x
/// 1.25 is more than 462 (docs/rules/energy-aware.md#energy-wake-up).
#[test]
fn line_5_misfit_below_the_tipping_point() {
    let mut core = hikey("auto");
    core.cpu_mut(0).load.avg.util_avg = 400;
    let big = task(&mut core, 0, 400);
    let (cpu, reason) = wake(&mut core, &big, 0);
    assert!(cpu >= 4, "{cpu}");
    assert_eq!(reason, Reason::EnergyPrevUnfit);
}

/// Line 6. Beyond the tipping point speed counts: the first idle CPU that fits
/// (docs/rules/wake-ups.md#idle-capacity-numbers).
#[test]
fn line_6_beyond_the_tipping_point() {
    for mode in ["auto", "performance"] {
        let mut core = hikey(mode);
        core.state_mut().overutilized = 1;
        core.sis_update(0, 1);
        let heavy = task(&mut core, 2, 600);
        assert_eq!(
            wake(&mut core, &heavy, 2),
            (4, Reason::IdleCapacity),
            "{mode}"
        );
        let light = task(&mut core, 2, 100);
        assert_eq!(
            wake(&mut core, &light, 2),
            (2, Reason::IdleTarget),
            "{mode}"
        );
    }
}

/// Line 7. The energy-aware rule goes before packing at wake-ups (docs/decisions/032).
#[test]
fn line_7_energy_before_packing() {
    for mode in ["balanced", "powersave"] {
        let mut core = hikey(mode);
        load(&mut core, [0]);
        core.cpu_mut(0).load.avg.util_avg = 200; // of 462: below the tipping point
        core.cpu_mut(4).load.avg.util_avg = 43;
        let light = task(&mut core, 4, 43);
        let choice = core.select_cpu(&mut [light], 0, &ask(PlaceKind::Wake, 4, 4));
        assert_eq!(choice.rule, Rule::Energy, "{mode}");
    }
}

// ------------------------------------------------------------------------------- without a model

/// Line 8. Capacity rules always: a task that is too big for where it was goes to the first idle
/// CPU that fits, in every mode that does not pack wake-ups (docs/rules/wake-ups.md#idle-capacity;
/// docs/rules/capacity-aware.md#asym-fast-path).
#[test]
fn line_8_misfit_without_a_model() {
    for mode in ["auto", "performance"] {
        let mut core = no_model(mode);
        core.sis_update(0, 1);
        let big = task(&mut core, 3, 600);
        assert_eq!(
            wake(&mut core, &big, 3),
            (0, Reason::IdleCapacity),
            "{mode}"
        );
        let light = task(&mut core, 3, 100);
        assert_eq!(
            wake(&mut core, &light, 3),
            (3, Reason::IdleTarget),
            "{mode}"
        );
    }
}

// ------------------------------------------------------------------------------- symmetric

/// Lines 9 and 10. A new task: `auto` and `performance` spread, to the other cache, which is idle
/// (docs/rules/wake-ups.md#slow-path); `balanced` and `powersave` fill the one that has begun to
/// fill (docs/rules/power-policy.md#p12-placement).
#[test]
fn line_9_and_10_new_tasks() {
    for mode in MODES {
        let mut core = caches(&[4, 4], mode);
        load(&mut core, [0, 1]);
        let (cpu, reason) = fork(&mut core, 0);
        if matches!(mode, "auto" | "performance") {
            assert!((4..8).contains(&cpu), "{mode}: {cpu}");
            assert_eq!(reason, Reason::SlowIdle, "{mode}");
        } else {
            assert!((2..4).contains(&cpu), "{mode}: {cpu}");
            assert_eq!(reason, Reason::PowerLeader, "{mode}");
        }
    }
}

/// Line 10. A task that wakes: of CPUs alike the one it ran on last, where P12 has the first one
/// (docs/guide/policy.md, "who wins"); not if it is busy.
#[test]
fn line_10_of_equal_places_the_previous() {
    let place = |set: &str, busy: &[u32], prev: u32| {
        let mut facts = machine(&[cluster(4, 1024), cluster(4, 1024)]);
        facts.perf_domains.clear();
        let set = [("mode", "powersave"), ("power_prev_first", set)];
        let mut core = core(&facts, "wakeplace", &set);
        freeze(&mut core);
        load(&mut core, busy.iter().copied());
        let woken = task(&mut core, prev, 400);
        let choice = core.select_cpu(&mut [woken], 0, &ask(PlaceKind::Wake, 0, prev));
        assert_eq!(choice.reason, Reason::PowerLeader, "{busy:?} {prev}");
        choice.cpu
    };
    assert_eq!(place("on", &[0], 3), 3);
    assert_eq!(place("off", &[0], 3), 1, "the series: the next in the ring");
    assert_eq!(place("on", &[0, 3], 3), 1, "it is busy");
    assert_eq!(place("on", &[0], 0), 1, "so is the waker's");
}

/// Lines 9, 10. With a model and below the tipping point `balanced` spreads new tasks, `powersave`
/// packs them; beyond it, both pack (docs/guide/policy.md, "who wins").
#[test]
fn line_9_new_tasks_under_a_model() {
    let off = ("power_new_spread", "off");
    for (set, beyond, packs) in [
        (&[("mode", "balanced")][..], 0, false),
        (&[("mode", "balanced"), off], 0, true),
        (&[("mode", "balanced")], 1, true),
        (&[("mode", "powersave")], 0, true),
        (&[("power_policy", "balance")], 0, true), // asked for by name
    ] {
        let facts = machine(&[cluster(4, 446), cluster(4, 1024)]);
        let mut core = core(&facts, "wakeplace", set);
        freeze(&mut core);
        assert_eq!(core.state().energy_active, 1);
        core.state_mut().overutilized = beyond;
        load(&mut core, [0]);
        let (_, reason) = fork(&mut core, 0);
        let packed = matches!(reason, Reason::PowerLeader);
        assert_eq!(packed, packs, "{set:?} {beyond}: {reason:?}");
        let spread = matches!(
            reason,
            Reason::SlowIdle | Reason::SlowLoad | Reason::SlowLocal
        );
        assert_eq!(spread, !packs, "{set:?} {beyond}: {reason:?}");
    }
}

/// Line 11. Groups full: packing ends by itself, the next task is spread
/// (docs/rules/power-policy.md#p12-placement).
#[test]
fn line_11_groups_full() {
    for mode in ["balanced", "powersave"] {
        let mut core = caches(&[2, 2], mode);
        load(&mut core, 0..4);
        let (_, reason) = fork(&mut core, 0);
        assert!(
            !matches!(reason, Reason::PowerLeader | Reason::PowerSmallHere),
            "{mode}: {reason:?}"
        );
    }
}

/// Line 12. A small task that wakes joins a CPU that runs already: 4 x 5 % and 20 % are less than
/// 60 % (docs/rules/power-policy.md#p13-small-tasks); in `auto` its own CPU is idle and thus the
/// target (docs/rules/wake-ups.md#wake-affine).
#[test]
fn line_12_small_tasks() {
    for (mode, reason) in [
        ("auto", Reason::IdleTarget),
        ("balanced", Reason::PowerSmallHere),
        ("powersave", Reason::PowerSmallHere),
    ] {
        let mut core = caches(&[4, 4], mode);
        put(&mut core, 0, 1, 200, 200, 200);
        let small = task(&mut core, 2, 51);
        let choice = core.select_cpu(&mut [small], 0, &ask(PlaceKind::Wake, 0, 2));
        assert_eq!(choice.reason, reason, "{mode}");
    }
}

/// Line 13. One cache, cores of two threads: `balanced` fills cores by compute power, which is one
/// task's (docs/rules/power-policy.md#p11-utilisation: 1178 / 1024 rounded), and spreads over them;
/// `powersave` fills the threads of a core first, by the number of CPUs.
#[test]
fn line_13_one_cache() {
    for (mode, same_core) in [("balanced", false), ("powersave", true)] {
        let mut core = threads(8, mode);
        load(&mut core, [0]);
        let (cpu, _) = fork(&mut core, 0);
        // The first of the next core; each level looks at its CPUs once, 2 and then all 8.
        let expected = if same_core { (1, 2) } else { (2, 2 + 8) };
        assert_eq!((cpu, core.scanned()), expected, "{mode}");
    }
}

/// Line 19. One cache without threads, and a table that says how many tasks a slow CPU holds:
/// `powersave` packs by it. A CPU at 200 of 1000 MHz has room for 4 tasks, at 1000 for one, and the
/// next one takes it (docs/rules/sched-mc.md#mc-freq-table, docs/rules/sched-mc.md#mc-lowest-first;
/// docs/decisions/033). Without a table nobody knows.
#[test]
fn line_19_a_slow_cpu_takes_several() {
    let mut facts = machine(&[Cluster {
        cpus: 4,
        capacity: 1024,
        states: vec![(200_000, 100_000), (1_000_000, 500_000)],
    }]);
    facts.perf_domains.clear();
    let unknown = facts.clone();
    facts.sched_mc = Some(SchedMcFacts {
        step_khz: 200_000,
        tasks: vec![4, 4, 4, 1],
        known_core: vec![true; 4],
        mpidr: Vec::new(),
    });
    let choice_on = |facts: &MachineFacts, mode: &str, name: &str, opp: u32| {
        let mut core = core(facts, name, &[("mode", mode)]);
        freeze(&mut core);
        core.state_mut().freq_doms[0].cur_opp = opp;
        load(&mut core, [0]);
        let woken = task(&mut core, 2, 300);
        wake(&mut core, &woken, 2)
    };
    let choice = |mode: &str, name: &str, opp: u32| choice_on(&facts, mode, name, opp);
    let (slow, fast) = (0, 1);
    assert_eq!(choice("powersave", "wakeplace", slow).0, 0);
    assert_eq!(choice("powersave", "wakeplace", fast).0, 1);
    for mode in ["auto", "performance", "balanced"] {
        assert_eq!(choice(mode, "wakeplace", slow).0, 2, "{mode}");
    }
    assert_eq!(choice("powersave", "wakeplace-sched-mc", slow).0, 2);
    assert_eq!(choice_on(&unknown, "powersave", "wakeplace", slow).0, 2);
}

/// Line 19, "one LLC without threads". With the same table a machine of threads, or of two caches,
/// fills the groups that it has instead: a new task goes beside the first one, to the other thread
/// of its core or the other CPU of its cache (docs/rules/power-policy.md#p12-placement), where the
/// table alone would have room for four on CPU 0.
#[test]
fn line_19_not_where_groups_can_be_filled() {
    let table = |mut facts: MachineFacts| {
        let states = vec![(200_000, 100_000), (1_000_000, 500_000)];
        facts.freq_domains = machine(&[Cluster {
            cpus: 4,
            capacity: 1024,
            states,
        }])
        .freq_domains;
        facts.perf_domains.clear();
        facts.sched_mc = Some(SchedMcFacts {
            step_khz: 200_000,
            tasks: vec![4, 4, 4, 1],
            known_core: vec![true; 4],
            mpidr: Vec::new(),
        });
        facts
    };
    let mut cores = machine(&[cluster(4, 1024)]);
    cores.levels.insert(0, thread_level(4));
    for (facts, expected) in [
        (machine(&[cluster(4, 1024)]), 0),
        (cores, 1),
        (machine(&[cluster(2, 1024), cluster(2, 1024)]), 1),
    ] {
        let mut core = placed(&table(facts), "powersave");
        core.state_mut().freq_doms[0].cur_opp = 0;
        load(&mut core, [0]);
        assert_eq!(fork(&mut core, 0).0, expected);
    }
}

// ------------------------------------------------------------------------------- short pairs

/// A short waker on CPU 0 and a short wakee of CPU 1; all CPUs are busy but `idle`.
fn pair(caches_of: &[usize], mode: &str, idle: &[u32], depth: u32) -> (u32, Reason) {
    let mut core = caches(caches_of, mode);
    for cpu in 0..caches_of.iter().sum::<usize>() as u32 {
        make_busy(&mut core, cpu);
        core.cpu_mut(cpu).load.avg.load_avg = 1024;
        (
            core.cpu_mut(cpu).queue.curr_id,
            core.cpu_mut(cpu).queue.curr_dur_ns,
        ) = (100 + cpu, 10_000_000);
    }
    for cpu in idle {
        make_idle(&mut core, *cpu);
    }
    (
        core.cpu_mut(0).queue.curr_id,
        core.cpu_mut(0).queue.curr_dur_ns,
    ) = (2, 5_000);
    core.cpu_mut(0).idle.nr_idle_scan = depth;
    let mut wakee = task(&mut core, 1, 0);
    wakee.raw_mut().dur_avg_ns = 5_000;
    let waker = sleeper(&mut core, 2, 0, 0, 0);
    let request = Request {
        waker: Waker::Task(1),
        ..ask(PlaceKind::Wake, 0, 1)
    };
    seen(core.select_cpu(&mut [wakee, waker], 0, &request))
}

/// Line 14. Short wakes short in a large, busy cache: they stay together, though a CPU is idle
/// (docs/rules/short-wakes.md#hunk-b: 5 nr < 3 w, here nr = 9, w = 32).
#[test]
fn line_14_short_pair() {
    for mode in ["auto", "performance"] {
        assert_eq!(
            pair(&[32], mode, &[3], 8),
            (0, Reason::ShortStack),
            "{mode}"
        );
    }
}

/// Line 15. In a cache of fewer CPUs the search goes on as ever (docs/guide/policy.md;
/// docs/rules/short-wakes.md#short-elsewhere).
#[test]
fn line_15_small_cache() {
    let (cpu, reason) = pair(&[16], "auto", &[3], 8);
    assert_eq!((cpu, reason), (3, Reason::IdleCpu));
}

/// Line 16. Nor where the cache is not busy: its search may look at 60 % or more
/// (docs/rules/short-wakes.md#hunk-b).
#[test]
fn line_16_large_cache_that_idles() {
    let (cpu, reason) = pair(&[32], "auto", &[3], 24);
    assert_eq!((cpu, reason), (3, Reason::IdleCpu));
}

/// Line 17. Packing goes before stacking: `powersave` looks for room first, and the waking CPU has
/// some for a task of 4 x 0 % (docs/rules/power-policy.md#p13-small-tasks).
#[test]
fn line_17_packing_before_stacking() {
    let (cpu, reason) = pair(&[32, 32], "powersave", &[3], 8);
    assert_eq!((cpu, reason), (0, Reason::PowerSmallHere));
}

// ------------------------------------------------------------------------------- frequency

/// Line 18. `performance` asks for all there is, `powersave` for the demand alone, the others for a
/// quarter more (docs/rules/capacity.md#schedutil): 400 of 1024.
#[test]
fn line_18_frequency() {
    for (mode, request) in [
        ("auto", 400),
        ("balanced", 400),
        ("powersave", 400 * 4 / 5),
        ("performance", 1024),
    ] {
        let mut core = caches(&[4], mode);
        put(&mut core, 0, 1, 1024, 400, 400);
        assert_eq!(core.perf_request(0), request, "{mode}");
    }
}

// ------------------------------------------------------------------------------- who wins

/// What is asked for by name is in force whatever the mode; `-FEATURE` takes away.
#[test]
fn names_go_before_the_mode() {
    let reason = |name: &str, mode: &str| {
        let mut facts = machine(&[cluster(4, 1024), cluster(4, 1024)]);
        facts.perf_domains.clear();
        let mut core = core(&facts, name, &[("mode", mode)]);
        freeze(&mut core);
        load(&mut core, [0, 1]);
        fork(&mut core, 0).1
    };
    assert_eq!(
        reason("wakeplace+power-policy=balance", "auto"),
        Reason::PowerLeader
    );
    assert_eq!(
        reason("wakeplace-power-policy", "powersave"),
        Reason::SlowIdle
    );
    assert_eq!(reason("linux-7.3", "powersave"), Reason::SlowIdle);
    let without = Policy::parse("wakeplace-sis-short").expect("a policy");
    assert_eq!(without.core_params().sis_short_stack, 0);
}

/// A change of the mode counts from the next decision on, and turns energy-aware placement on and
/// off with it.
#[test]
fn a_mode_changes_live() {
    let mut core = hikey("auto");
    assert_eq!(core.state().energy_active, 1);
    let mut policy = Policy::parse("wakeplace").expect("a policy");
    for (mode, active) in [("performance", 0), ("powersave", 1), ("auto", 1)] {
        policy.change("mode", mode).expect("modes change live");
        core.change_params(policy.core_params());
        assert_eq!(core.state().energy_active, active, "{mode}");
        let off = u32::from(active == 0) * sys::WP_ENERGY_OFF_POLICY;
        assert_eq!(core.state().energy_off, off, "{mode}");
    }
    assert!(policy.change("mode", "fast").is_err());
}

/// Line 10, of two groups with as much room: the waking CPU's comes before the previous one's
/// (`power_prev_first`, docs/guide/policy.md).
#[test]
fn line_10_of_equal_groups_the_wakers() {
    let mut core = caches(&[2, 2], "powersave");
    load(&mut core, [0, 2]);
    let woken = task(&mut core, 3, 300);
    assert_eq!(wake(&mut core, &woken, 0), (1, Reason::PowerLeader));
    assert_eq!(
        wake(&mut core, &woken, 3).0,
        3,
        "which is the previous one's here"
    );
}

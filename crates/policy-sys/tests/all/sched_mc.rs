//! The sched_mc series and the knob it builds on: rules and worked numbers
//! (docs/rules/sched-mc.md#linux-3-1, docs/rules/sched-mc.md#sched-mc-patches and
//! docs/rules/sched-mc.md#mc-acceptance).
//!
//! What must stay: P1 to P18 and the acceptance numbers are the page's; tables are
//! `ca9_cpu_power_table.csv` and `u8500_opp.csv`. Era 3.1 to 3.4. It covers
//! policy/src/packing/sched_mc_*.c and policy/src/balance/nohz_4_16.c. Free: how helpers build a
//! machine, and state that the rule does not read.
//! Tests by part: `places_by_mpidr` (`wp_mpidr_ids`); `the_topology_of_a_dual`,
//! `the_topology_of_a_quad`, `the_knob_at_run_time` (`wp_mc_begin_level`, `wp_mc_dom_flags`,
//! `wp_mc_power_mode`); `powers_of_the_table` (`wp_mc_cpu_power`); `the_speed_at_boot`
//! (`wp_mc_boot`); `patches_one_by_one`, `the_architecture_is_asked_with_the_feature_only`
//! (`wp_mc_asks`, `wp_mc_derive`); `debug_files` (`wp_mc_write_scale`, `wp_mc_write_power`);
//! `thresholds_of_the_user` (`wp_mc_thresholds`); `forks_stay_while_there_is_room` (`wp_mc_keeps`,
//! `wp_mc_room_at`); `time_of_other_classes_counts`, `capacity_is_refreshed_without_a_tick`
//! (`wp_update_cpu_capacity_4_18`); `names_and_states` (eras/sched_mc.rs);
//! `an_idle_cpu_beside_busy_ones_owns_balancing`, `a_kick_is_answered_by_state`
//! (`wp_find_new_ilb_3_1`, `wp_ilb_enter`, `wp_ilb_exit`);
//! `a_newly_idle_cpu_gets_a_running_task_at_level_2` (`wp_need_active_balance`).
//! Helpers, and who fails with them: `a9`, `core` (most tests, `the_topology_of_a_dual` among
//! them); `domains`, `groups` (`the_topology_of_a_dual`, `the_topology_of_a_quad`,
//! `the_knob_at_run_time`, `patches_one_by_one`); `fork` (`forks_stay_while_there_is_room`);
//! `attempt` (`capacity_is_refreshed_without_a_tick`,
//! `a_newly_idle_cpu_gets_a_running_task_at_level_2`); `put` (`a_kick_is_answered_by_state`,
//! `a_newly_idle_cpu_gets_a_running_task_at_level_2`).
#![allow(missing_docs, reason = "not a library")]

use crate::common::RunsAt as _;
use wakeplace_policy_sys::sys::{
    WP_SD_ASYM_PACKING, WP_SD_POWERSAVINGS, WP_SD_PREFER_SIBLING, wp_sched_domain,
};
use wakeplace_policy_sys::{
    Balance, Core, DebugFile, FreqFacts, IdleKind, LevelFacts, MachineFacts, NohzWork, Offer,
    PlaceKind, Policy, Request, SchedMcFacts, Step, Task, Waker, cpu_place,
};

/// `ca9_cpu_power_table.csv`, divided by 1024.
const CA9: [u32; 10] = [4, 4, 4, 1, 1, 1, 1, 1, 1, 1];
/// `u8500_opp.csv`, kHz.
const U8500: [u32; 4] = [200_000, 400_000, 800_000, 1_000_000];
const NOW: u64 = 10_000_000_000;
const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

/// Cortex-A9 CPUs that share a cache and a clock.
fn a9(cpus: u32) -> MachineFacts {
    MachineFacts {
        tick_ns: 4_000_000,
        scan_cpu_ns: 50,
        capacity: vec![1024; cpus as usize],
        levels: vec![LevelFacts {
            shares_cache: true,
            group_of: vec![0; cpus as usize],
            ..LevelFacts::default()
        }],
        freq_domains: vec![FreqFacts {
            cpus: (0..cpus as u16).collect(),
            opp_khz: U8500.to_vec(),
            transition_latency_us: 20,
        }],
        sched_mc: Some(SchedMcFacts {
            step_khz: 200_000,
            tasks: CA9.to_vec(),
            known_core: vec![true; cpus as usize],
            mpidr: (0..cpus).map(|cpu| 2 << 30 | cpu).collect(),
        }),
        ..MachineFacts::default()
    }
}

fn core(facts: &MachineFacts, name: &str, settings: &[(&str, &str)]) -> Core {
    let mut policy = Policy::parse(name).expect("a policy");
    for (key, value) in settings {
        policy.set(key, value).expect("a parameter");
    }
    Core::new(facts, policy.core_params()).expect("a machine")
}

/// Span and flags of a CPU's domains, and the CPUs of each group.
fn domains(core: &Core, cpu: u32) -> Vec<(u32, Vec<Vec<u16>>)> {
    let (ctx, c) = (core.state(), core.cpu(cpu));
    let groups = |dom: &wp_sched_domain| {
        (dom.first_group..dom.first_group + dom.nr_groups)
            .map(|g| &ctx.groups[g as usize])
            .map(|g| ctx.list[g.first_cpu as usize..(g.first_cpu + g.nr_cpus) as usize].to_vec())
            .collect()
    };
    (c.topo.dom[..c.topo.nr_levels as usize].iter())
        .map(|dom| &ctx.doms[*dom as usize])
        .map(|dom| (dom.flags, groups(dom)))
        .collect()
}

fn groups(core: &Core, cpu: u32) -> Vec<Vec<Vec<u16>>> {
    domains(core, cpu).into_iter().map(|(_, g)| g).collect()
}

/// Goal: places by MPIDR as the table of P1-P3 has them.
#[test]
fn places_by_mpidr() {
    for (mpidr, thread, core, socket) in [
        (0x8000_0000, None, 0, Some(0)),
        (0x8000_0001, None, 1, Some(0)),
        (0x8000_0103, None, 3, Some(1)),
        (0x8000_0f02, None, 2, Some(15)),
        (0x8100_0000, Some(0), 0, Some(0)),
        (0x8102_0301, Some(1), 3, Some(2)),
        (0x0000_0103, None, 0, None), // no SMP word
        (0xc000_0103, None, 0, None), // one processor
    ] {
        let place = cpu_place(mpidr);
        assert_eq!(
            (place.thread, place.core, place.socket),
            (thread, core, socket),
            "{mpidr:#x}"
        );
    }
}

/// Goal: P1-P3, test: at level 2 a dual A9's base level is the package level with groups {0} and
/// {1}, which saves power and does not spread; at level 0 one level {0,1} that spreads; on other
/// cores all levels are alike.
#[test]
fn the_topology_of_a_dual() {
    let facts = a9(2);
    let at = |name: &str| domains(&core(&facts, name, &[]), 0);
    for level in ["1", "2"] {
        let found = at(&format!("linux-3.1+sched-mc={level}"));
        let [(flags, groups)] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(groups[..], [vec![0], vec![1]], "level {level}");
        assert_eq!(flags & WP_SD_PREFER_SIBLING, 0, "level {level}");
        assert_ne!(flags & WP_SD_POWERSAVINGS, 0, "level {level}");
        assert_ne!(flags & WP_SD_ASYM_PACKING, 0, "level {level}: P8");
    }
    let plain = at("linux-3.1");
    assert_eq!(at("linux-3.1+sched-mc=0"), plain);
    assert_eq!(plain.len(), 1);
    assert_ne!(plain[0].0 & WP_SD_PREFER_SIBLING, 0);
    let mut other = facts.clone();
    other.sched_mc.as_mut().unwrap().known_core = vec![false; 2];
    let split = |level: &str| {
        groups(
            &core(&other, &format!("linux-3.1+sched-mc={level}"), &[]),
            0,
        )
    };
    assert_eq!(split("2")[0], [vec![0], vec![1]]); // the MC level, whole
    assert_eq!(split("2")[1..], [vec![vec![0, 1]]]);
}

/// Goal: a quad is {0,2} and {1,3} (P1-P3).
#[test]
fn the_topology_of_a_quad() {
    let core = core(&a9(4), "linux-3.1+sched-mc=2", &[]);
    assert_eq!(
        groups(&core, 0),
        [vec![vec![0], vec![2]], vec![vec![0, 2], vec![1, 3]]]
    );
    assert_eq!(groups(&core, 3)[0], [vec![1], vec![3]]);
}

/// Goal: a level that there is not is refused, 2 to 0 restores the one level within one rebuild
/// (acceptance 1), and to 2 again re-applies the last known speed (P6-P7, edge).
#[test]
fn the_knob_at_run_time() {
    let facts = a9(2);
    let mut core = core(&facts, "linux-3.1+sched-mc=2", &[]);
    let packed = groups(&core, 0);
    core.runs_at(0, 1);
    assert!(core.write_power_savings(3, &facts, NOW).is_err());
    assert_eq!(groups(&core, 0), packed);
    core.write_power_savings(0, &facts, NOW).unwrap();
    let [(flags, _)] = domains(&core, 0)[..] else {
        panic!("one level")
    };
    assert_ne!(flags & WP_SD_PREFER_SIBLING, 0);
    assert_eq!(
        (core.arch_power(0), core.cpu(0).load.capacity),
        (1024, 1024)
    );
    core.write_power_savings(2, &facts, NOW).unwrap();
    assert_eq!(groups(&core, 0), packed);
    assert_eq!(
        (core.arch_power(1), core.cpu(1).load.capacity),
        (4096, 4096)
    );
}

/// Goal: the tables: power at each operating point of the u8500 (`u8500_opp.csv`) and at each edge
/// of `ca9_cpu_power_table.csv`; at level 0 always 1024.
#[test]
fn powers_of_the_table() {
    for (name, slow) in [
        ("linux-3.1+sched-mc=2", 4096),
        ("linux-3.1+sched-mc=0", 1024),
    ] {
        let mut core = core(&a9(2), name, &[]);
        for (opp, power) in [(0, slow), (1, slow), (2, 1024), (3, 1024)] {
            core.runs_at(0, opp);
            assert_eq!(
                [core.arch_power(0), core.arch_power(1)],
                [power; 2],
                "{opp}"
            );
        }
    }
    let mut facts = a9(2);
    let edges = [
        (199_999, 4096),
        (400_000, 4096),
        (599_999, 4096),
        (600_000, 1024),
        (1_799_999, 1024),
        (1_800_000, 1024),
        (3_000_000, 1024),
    ];
    facts.freq_domains[0].opp_khz = edges.iter().map(|e| e.0).collect();
    let mut core = core(&facts, "linux-3.1+sched-mc=2", &[]);
    for (opp, (khz, power)) in edges.iter().enumerate() {
        core.runs_at(0, opp as u32);
        assert_eq!(core.arch_power(0), *power, "{khz}");
    }
}

/// Goal: until a first transition the speed counts as 0, at full speed, too (P6-P7, boot); with
/// `mc_boot_freq` it is known.
#[test]
fn the_speed_at_boot() {
    let fast = ("governor", "performance");
    let power = |settings: &[(&str, &str)]| {
        core(&a9(2), "linux-3.1+sched-mc=2", settings)
            .cpu(0)
            .load
            .capacity
    };
    assert_eq!(power(&[fast]), 4096);
    assert_eq!(power(&[fast, ("mc_boot_freq", "on")]), 1024);
    assert_eq!(power(&[("mc_boot_freq", "on")]), 4096); // ondemand begins slow
    // 0 is below every limit, also the lowest that there is.
    assert_eq!(power(&[fast, ("mc_limit_khz", "1")]), 4096);
    assert_eq!(power(&[fast, ("mc_limit_khz", "0")]), 1024);
}

/// Goal: each of the patches can be left out on its own, and does then what its section says.
#[test]
fn patches_one_by_one() {
    let without = |key| {
        let mut core = core(&a9(2), "linux-3.1+sched-mc=2", &[(key, "off")]);
        core.runs_at(0, 1);
        core
    };
    assert_eq!(without("mc_topology").arch_power(0), 1024); // no mode, no table
    assert_eq!(groups(&without("mc_topology"), 0)[0], [vec![0], vec![1]]);
    assert_eq!(groups(&without("mc_topology"), 0)[1], [vec![0, 1]]);
    assert_eq!(without("mc_arch_hook").arch_power(0), 1024);
    assert_eq!(without("mc_freq_table").arch_power(0), 1024);
    let flags = domains(&without("mc_lowest_first"), 0)[0].0;
    assert_eq!(
        flags & (WP_SD_ASYM_PACKING | WP_SD_POWERSAVINGS),
        WP_SD_POWERSAVINGS
    );
}

/// Goal: P4: a hook that answers 2048 doubles the capacity, with the feature only.
#[test]
fn the_architecture_is_asked_with_the_feature_only() {
    for (on, capacity) in [("on", 2048), ("off", 1024)] {
        let mut facts = a9(2);
        facts.sched_mc.as_mut().unwrap().tasks = vec![2];
        let core = core(&facts, "linux-3.1+sched-mc=2", &[("arch_power", on)]);
        assert_eq!(core.cpu(0).load.capacity, capacity);
    }
}

/// Goal: the debug files (P9): a scale that is written works at level 0, too; a power is gone at
/// once; what is no number is ignored, what is too long refused.
#[test]
fn debug_files() {
    let mut core = core(&a9(2), "linux-3.1+sched-mc=0", &[]);
    core.runs_at(0, 1);
    core.write_debug(1, DebugFile::Scale, "1\n").unwrap();
    assert_eq!([core.arch_power(0), core.arch_power(1)], [1024, 4096]);
    core.write_debug(1, DebugFile::Power, "2048").unwrap();
    assert_eq!(core.arch_power(1), 4096);
    core.write_debug(1, DebugFile::Scale, "none").unwrap();
    assert_eq!(core.arch_power(1), 4096);
    core.write_debug(1, DebugFile::Scale, &"0".repeat(126))
        .unwrap();
    assert_eq!(core.arch_power(1), 1024);
    let error = core.write_debug(1, DebugFile::Scale, &"0".repeat(127));
    assert!(error.unwrap_err().0.contains("fewer than 127"));
}

/// Goal: thresholds at run time.
#[test]
fn thresholds_of_the_user() {
    let power = |settings: &[(&str, &str)], opp| {
        let mut core = core(&a9(2), "linux-3.1+sched-mc=2", settings);
        core.runs_at(0, opp);
        core.arch_power(0)
    };
    assert_eq!(power(&[("mc_tasks", "3")], 1), 3072);
    assert_eq!(power(&[("mc_tasks", "3")], 2), 1024);
    assert_eq!(power(&[("mc_limit_khz", "900000")], 2), 4096);
    assert_eq!(power(&[("mc_limit_khz", "900000")], 3), 1024);
    assert_eq!(power(&[("mc_limit_khz", "0")], 0), 1024);
    // A table of ones has no frequency at which a core is to hold more.
    let mut ones = a9(2);
    ones.sched_mc.as_mut().unwrap().tasks = vec![1];
    let mut core = core(&ones, "linux-3.1+sched-mc=2", &[("mc_tasks", "3")]);
    core.runs_at(0, 0);
    assert_eq!(core.arch_power(0), 1024);
}

/// Asks where a fork of CPU 0 goes while the CPUs have so many fair tasks.
fn fork(core: &mut Core, tasks: [u32; 2]) -> u32 {
    for (cpu, nr) in (0..).zip(tasks) {
        let c = core.cpu_mut(cpu);
        (c.queue.nr_fair, c.queue.nr_running, c.load.load_weight) = (nr, nr, nr * 1024);
        c.queue.curr_idle = u32::from(nr == 0);
    }
    let mut all = [1, 2].map(|id| Task::new(id, 1024, 0, None, 2));
    for task in &mut all {
        core.task_init(task);
    }
    let ask = Request {
        now_ns: NOW,
        kind: PlaceKind::Fork,
        this_cpu: 0,
        prev_cpu: 0,
        sync: false,
        waker: Waker::Task(1),
        waker_load: 1024,
    };
    core.select_cpu(&mut all, 0, &ask).cpu
}

/// Goal: the table of P6-P7, fork column: tasks stay local below 16 in sum at 400 MHz and below 4
/// at 1000 MHz; at level 0 they do not. The other CPU is less loaded in all cases.
#[test]
fn forks_stay_while_there_is_room() {
    for (name, opp, stays, leaves) in [
        ("linux-3.1+sched-mc=2", 1, 15, 16),
        ("linux-3.1+sched-mc=2", 3, 3, 4),
        ("linux-3.1", 3, 0, 1),
    ] {
        let mut core = core(
            &a9(2),
            name,
            &[("mc_boot_freq", "on"), ("governor", "performance")],
        );
        core.runs_at(0, opp);
        for cpu in 0..2 {
            core.cpu_mut(cpu).load.capacity = core.arch_power(cpu);
        }
        if stays > 0 {
            assert_eq!(fork(&mut core, [stays, 0]), 0, "{name} {opp}");
        }
        assert_eq!(fork(&mut core, [leaves, 0]), 1, "{name} {opp}");
    }
}

/// Goal: RT time of 13 % takes a core from 4 tasks to 3 (acceptance 8): 4096 * 0.87 is below 3584;
/// of 12 % it does not.
#[test]
fn time_of_other_classes_counts() {
    for (permille, tasks) in [(130u64, 3), (120, 4)] {
        let mut core = core(&a9(2), "linux-3.1+sched-mc=2", &[]);
        core.runs_at(0, 1);
        // the window is half a second and what is over of another one: 750 ms here
        let at = NOW + 750_000_000;
        core.ran_other(0, NOW, 0);
        core.ran_other(0, at, 750_000_000 * permille / 1000);
        core.write_power_savings(1, &a9(2), at).unwrap(); // refreshes
        let capacity = core.cpu(0).load.capacity;
        assert_eq!(
            Core::capacity_tasks(capacity),
            tasks,
            "{permille}: {capacity}"
        );
    }
}

/// Goal: names and states; every era has the feature (docs/decisions/033), no era ships it.
#[test]
fn names_and_states() {
    let state = |name: &str| {
        let policy = Policy::parse(name).expect("a policy");
        let features = policy.features();
        features
            .iter()
            .find(|f| f.name == "sched-mc")
            .unwrap()
            .state
    };
    assert_eq!(state("linux-3.1"), None);
    assert_eq!(state("linux-3.1+sched-mc"), Some("2"));
    for level in ["0", "1", "2"] {
        assert_eq!(state(&format!("linux-3.1+sched-mc={level}")), Some(level));
    }
    let again = Policy::parse("linux-3.1+sched-mc=2-sched-mc").unwrap();
    assert_eq!(
        again.core_params(),
        Policy::parse("linux-3.1").unwrap().core_params()
    );
    // The product's own has the patches on and leaves the level to its mode (docs/guide/policy.md,
    // 19).
    assert_eq!(state("wakeplace"), Some("0"));
    assert_eq!(state("wakeplace-sched-mc"), None);
    for era in ["linux-3.8", "linux-4.17", "linux-7.3", "wakeplace-sched-mc"] {
        assert_eq!(state(era), None, "{era}");
        assert_eq!(state(&format!("{era}+sched-mc=1")), Some("1"));
        let again = Policy::parse(&format!("{era}+sched-mc=1-sched-mc")).unwrap();
        let plain = Policy::parse(era).unwrap();
        assert_eq!(again.core_params(), plain.core_params(), "{era}");
    }
    let mut policy = Policy::parse("linux-3.1").unwrap();
    let error = policy.set("sched_mc_power_savings", "3").unwrap_err();
    assert!(error.0.contains("0 to 2"), "{error}");
}

/// Goal: docs/rules/sched-mc.md#idle-load-balancer: who first stops its tick nominates itself;
/// while power is saved and two or more are idle, the first idle CPU of a group with busy ones
/// comes first. On a quad with the packages {0,2} and {1,3}, of which cpu0 is busy: cpu2, as soon
/// as somebody is to be named anew.
#[test]
fn an_idle_cpu_beside_busy_ones_owns_balancing() {
    for (name, expected) in [("linux-3.1", 1), ("linux-3.1+sched-mc=1", 2)] {
        let mut core = core(&a9(4), name, &[]);
        core.settle();
        core.nohz_enter(1);
        assert_eq!(core.nohz_target(), Some(1), "{name}: alone");
        for cpu in [3, 2] {
            core.nohz_enter(cpu);
        }
        core.nohz_exit(1);
        core.nohz_enter(1);
        core.cpu_mut(1).idle.ilb = 0;
        assert_eq!(core.nohz_target(), Some(expected), "{name}");
    }
}

/// One attempt of a CPU at a time, up to the offers.
fn attempt(core: &mut Core, cpu: u32, now_ns: u64, idle: IdleKind) -> (Step, Balance) {
    let mut bal = Balance::default();
    bal.prepare(now_ns, cpu, 0, idle);
    let step = core.balance_begin(&mut bal);
    (step, bal)
}

/// So many tasks of nice 0, one of them running.
fn put(core: &mut Core, cpu: u32, tasks: u32) {
    let c = core.cpu_mut(cpu);
    (c.queue.nr_running, c.queue.nr_fair, c.load.load_weight) = (tasks, tasks, 1024 * tasks);
    (c.queue.curr_idle, c.queue.curr_fair) = (u32::from(tasks == 0), u32::from(tasks > 0));
}

/// Goal: P10: the clock goes from 400 to 1000 MHz while only tasks shorter than a tick run: no CPU
/// balances from a tick. New-idle balancing finds the capacity of one task within 4 ms and a jiffy
/// of the last refresh (4 ms each); without the patch it keeps that of four.
#[test]
fn capacity_is_refreshed_without_a_tick() {
    for (patch, later, expected) in [("on", 8 * MS, 1024), ("on", 0, 4096), ("off", S, 4096)] {
        let settings = [("capacity_newidle", patch)];
        let mut core = core(&a9(2), "linux-3.1+sched-mc=2", &settings);
        core.runs_at(0, 1);
        let _ = attempt(&mut core, 1, NOW, IdleKind::Idle);
        assert_eq!(core.cpu(1).load.capacity, 4096, "a periodic pass");
        core.runs_at(0, 3);
        let _ = attempt(&mut core, 1, NOW + later, IdleKind::NewlyIdle);
        assert_eq!(
            core.cpu(1).load.capacity,
            expected,
            "{patch}, {later} ns later"
        );
    }
}

/// Goal: P11, (a) to (c): a kicked CPU whose last tick found it busy and which is idle now answers
/// by its state, its mark is clear on the way out, and the next kick is sent; the kernel before
/// believes the tick, does nothing, and no kick follows.
#[test]
fn a_kick_is_answered_by_state() {
    for (patch, work, again) in [
        ("off", NohzWork::All, Some(1)),
        ("on", NohzWork::Nothing, None),
    ] {
        let settings = [("ilb_idle_at_tick", patch)];
        let mut core = core(&a9(2), "linux-3.1+sched-mc=2", &settings);
        core.settle();
        put(&mut core, 0, 5);
        core.nohz_enter(1);
        core.cpu_mut(1).idle.ilb = 0; // its last tick was busy
        assert_eq!(core.nohz_target(), Some(1));
        assert_eq!(core.nohz_begin(1), work, "{patch}");
        assert_eq!(core.nohz_target(), again, "{patch}");
        // busy when the kick comes: nothing to do, and the next is sent all the same
        if patch == "off" {
            put(&mut core, 1, 1);
            assert_eq!(core.nohz_begin(1), NohzWork::Nothing);
            assert_eq!(core.nohz_target(), Some(1));
        }
    }
}

/// Goal: docs/rules/sched-mc.md#sched-mc-knob, level 2: a newly idle CPU that was refused often
/// enough has the running task pushed to it; below level 2 not; an idle one has at every level.
#[test]
fn a_newly_idle_cpu_gets_a_running_task_at_level_2() {
    for (level, idle, pushed) in [
        ("0", IdleKind::NewlyIdle, false),
        ("1", IdleKind::NewlyIdle, false),
        ("2", IdleKind::NewlyIdle, true),
        ("0", IdleKind::Idle, true),
    ] {
        let settings = [("sched_mc_power_savings", level)];
        let mut core = core(&a9(2), "linux-3.1", &settings);
        core.settle();
        put(&mut core, 0, 3);
        core.cpu_mut(1).balance.lb[0].nr_balance_failed = 4; // more than cache_nice_tries + 2 = 3
        let (step, mut bal) = attempt(&mut core, 1, NOW, idle);
        assert_eq!((step, bal.src_cpu()), (Step::Detach, 0), "{level}");
        let mut running = Task::new(1, 1024, 0, None, 2);
        core.task_init(&mut running);
        (running.raw_mut().on_rq, running.raw_mut().running) = (1, 1);
        assert_ne!(core.balance_offer(&mut bal, &running), Offer::Take);
        let _ = core.balance_end(&mut bal, true);
        assert_eq!(bal.push(), pushed, "level {level}, {idle:?}");
    }
}

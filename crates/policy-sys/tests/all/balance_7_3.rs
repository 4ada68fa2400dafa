//! Whom to pull from, how much, and which tasks, in the form since 5.5 as 7.3 has it:
//! docs/rules/balancing.md#group-class to docs/rules/balancing.md#imbalance.
//!
//! What must stay: classes, margins (117 %) and amounts are those of the pages' worked numbers, in
//! the form of policy/src/balance/busiest.c, group_class.c and imbalance.c: change them only with
//! the page. Free: how helpers build a machine, and state that the rule does not read.
//! Tests by part: `group_classes`, `class_test_order` (`wp_group_classify`,
//! `wp_group_is_overloaded`, `wp_group_has_capacity`); `busiest_group`, `smt_beside_single_threads`
//! (`wp_update_sd_pick_busiest`); `idle_cpus_decide`, `overloaded_groups_compare_load`,
//! `energy_aware_gate`, `single_thread_relieves_smt_core`, `what_is_left_alone`
//! (`wp_worth_balancing`); `root_domain_flags` (`wp_bal_root_flags`); `imbalance_examples`,
//! `other_rows_of_the_table` (`wp_calculate_imbalance`); `load_of_two_tasks_moves_two`
//! (`wp_balance_offer`); `numa_imbalance` (`wp_adjust_numa_imbalance`);
//! `sibling_difference_per_core` (`wp_sibling_imbalance`); `source_queue`
//! (`wp_find_busiest_queue`); `pinned_tasks_mark_the_group_above` (`wp_out_one_pinned`,
//! `wp_balance_over`).
//! Helpers, and who fails with them: `two_caches`, `put_group` (most tests, `class_test_order`
//! among them); `found` (`energy_aware_gate`, `imbalance_examples`, `other_rows_of_the_table`,
//! `single_thread_relieves_smt_core`); `class_of` (`group_classes`); `two_nodes`
//! (`numa_imbalance`); `hybrid` (`smt_beside_single_threads`, `single_thread_relieves_smt_core`);
//! `attempt_busy` (`smt_beside_single_threads`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{attempt as begin, cluster, hikey960, labels, machine, put, queued, still_but};
use wakeplace_policy_sys::{Core, IdleKind, LevelFacts, MachineFacts, Offer, Step, sys};

/// Levels that share a cache do not ask for their tasks to be spread.
const NO_SIBLING: (&str, &str) = ("prefer_sibling", "not-cache");

/// Two caches of four CPUs each, all of capacity 1024.
fn two_caches(overrides: &[(&str, &str)]) -> Core {
    still_but(&machine(&[cluster(4, 1024), cluster(4, 1024)]), overrides)
}

/// CPUs `first`..`first + 4` share these sums; the first of them has what does not divide.
fn put_group(core: &mut Core, first: u32, tasks: u32, load: u32, util: u32, runnable: u32) {
    for i in 0..4 {
        let part = |sum: u32| sum / 4 + if i == 0 { sum % 4 } else { 0 };
        let tasks = tasks / 4 + u32::from(i < tasks % 4);
        put(
            core,
            first + i,
            tasks,
            part(load),
            part(util),
            part(runnable),
        );
    }
}

/// What is to move, after a begin that decided to act.
fn found(core: &mut Core, dst: u32, level: u32, idle: IdleKind) -> (u32, i64) {
    let (step, bal) = begin(core, dst, level, idle);
    assert_eq!(step, Step::Detach, "nothing to do");
    (bal.raw().migration_type, bal.raw().imbalance)
}

// ------------------------------------------------------------------------------- group class

/// The class of CPUs 4..8 in the eyes of CPU 0.
fn class_of(tasks: u32, util: u32, runnable: u32) -> u32 {
    let mut core = two_caches(&[]);
    put_group(&mut core, 4, tasks, 1024 * tasks, util, runnable);
    let (_, bal) = begin(&mut core, 0, 1, IdleKind::Idle);
    assert_eq!(
        (bal.raw().sums.util, bal.raw().sums.weight),
        (u64::from(util), 4)
    );
    bal.raw().sums.group_type
}

/// Goal: classes by the numbers of docs/rules/balancing.md#group-class-numbers; margin 117 % on
/// utilisation and on runnable time.
#[test]
fn group_classes() {
    let spare = sys::WP_GROUP_HAS_SPARE;
    assert_eq!(class_of(3, 3072, 4096), spare, "a CPU without a task");
    assert_eq!(class_of(4, 3500, 4096), spare);
    assert_eq!(class_of(4, 3501, 4096), sys::WP_GROUP_FULLY_BUSY);
    assert_eq!(class_of(5, 3501, 4096), sys::WP_GROUP_OVERLOADED);
    assert_ne!(class_of(5, 3400, 4792), sys::WP_GROUP_OVERLOADED);
    assert_eq!(class_of(5, 3400, 4793), sys::WP_GROUP_OVERLOADED);
}

/// Goal: order of the class test. Source: docs/rules/balancing.md#class-order.
#[test]
fn class_test_order() {
    let mut core = two_caches(&[]);
    let group = core.state().doms[core.cpu(0).topo.dom[1] as usize].first_group as usize + 1;
    core.state_mut().groups[group].imbalanced = 1;
    let class = |core: &mut Core| begin(core, 0, 1, IdleKind::Idle).1.raw().sums.group_type;
    put_group(&mut core, 4, 5, 5120, 3501, 4096);
    assert_eq!(
        class(&mut core),
        sys::WP_GROUP_OVERLOADED,
        "before imbalanced"
    );
    put_group(&mut core, 4, 4, 4096, 4096, 4096);
    assert_eq!(
        class(&mut core),
        sys::WP_GROUP_IMBALANCED,
        "before fully_busy"
    );
    let ranks = [
        sys::WP_GROUP_HAS_SPARE,
        sys::WP_GROUP_FULLY_BUSY,
        sys::WP_GROUP_MISFIT_TASK,
        sys::WP_GROUP_SMT_BALANCE,
        sys::WP_GROUP_ASYM_PACKING,
        sys::WP_GROUP_IMBALANCED,
        sys::WP_GROUP_OVERLOADED,
    ];
    assert!(ranks.is_sorted_by(|a, b| a < b));
}

// ------------------------------------------------------------------------------- busiest group

/// Goal: idle CPUs decide between two groups with room: 2 against 3 is even enough, 1 against 3 is
/// not; a busy destination leaves it. Source: docs/rules/balancing.md#busiest-group-numbers,
/// docs/rules/balancing.md#whether-to-act.
#[test]
fn idle_cpus_decide() {
    let with = |busiest_idle: u32, idle| {
        let mut core = two_caches(&[NO_SIBLING]);
        put_group(&mut core, 4, 4 - busiest_idle, 1024, 800, 800);
        put(&mut core, 3, 1, 1024, 200, 200); // here 3 are idle
        begin(&mut core, 0, 1, idle)
    };
    assert_eq!(with(2, IdleKind::Idle).0, Step::Done);
    let (step, bal) = with(1, IdleKind::Idle);
    assert_eq!(
        (step, bal.raw().migration_type, bal.raw().imbalance),
        (Step::Detach, sys::WP_MIGRATE_TASK, 1)
    );
    let mut core = two_caches(&[NO_SIBLING]);
    put_group(&mut core, 4, 3, 1024, 800, 800);
    put_group(&mut core, 0, 4, 1024, 800, 800); // busy by count, with room by demand
    assert_eq!(begin(&mut core, 0, 1, IdleKind::Busy).0, Step::Done);
}

/// Goal: the higher class wins; among equals what the class lacks decides. Source:
/// docs/rules/balancing.md#busiest-group.
#[test]
fn busiest_group() {
    let four = |overrides| still_but(&machine(&vec![cluster(4, 1024); 4]), overrides);
    let busiest = |core: &mut Core| begin(core, 0, 1, IdleKind::Idle).1.raw().busiest_group;
    let mut core = four(&[]);
    put_group(&mut core, 4, 3, 9000, 3072, 3072); // has_spare, but a lot of load
    put_group(&mut core, 8, 4, 1024, 4000, 4096); // fully_busy
    assert_eq!(busiest(&mut core), 2, "fully_busy over has_spare");
    put_group(&mut core, 12, 5, 5120, 4000, 5000);
    assert_eq!(busiest(&mut core), 3, "overloaded over fully_busy");
    put_group(&mut core, 4, 6, 5121, 4000, 5000);
    assert_eq!(busiest(&mut core), 1, "larger load per capacity");
    let mut core = four(&[]);
    put_group(&mut core, 4, 2, 2048, 1000, 1000);
    put_group(&mut core, 8, 3, 3072, 1000, 1000);
    assert_eq!(busiest(&mut core), 2, "fewer idle CPUs");
    put_group(&mut core, 12, 3, 3072, 1000, 1000);
    core.cpu_mut(12).queue.nr_fair = 2;
    core.cpu_mut(12).queue.nr_running = 2;
    assert_eq!(busiest(&mut core), 3, "as many idle, more running");
    let mut core = four(&[]);
    put_group(&mut core, 4, 0, 0, 0, 0);
    core.cpu_mut(4).queue.nr_running = 1; // an RT task
    core.cpu_mut(4).queue.curr_idle = 0;
    assert_eq!(busiest(&mut core), sys::WP_NONE, "no fair task to pull");
}

/// Goal: between overloaded groups load decides, with 117 % of margin, and a local group above the
/// domain's average pulls nothing. Source: docs/rules/balancing.md#whether-to-act.
#[test]
fn overloaded_groups_compare_load() {
    let with = |local: u32, busiest: u32| {
        let mut core = two_caches(&[]);
        put_group(&mut core, 0, 8, local, 4096, 8000);
        put_group(&mut core, 4, 8, busiest, 4096, 8000);
        begin(&mut core, 0, 1, IdleKind::Busy).0
    };
    // avg_load is load / 4 here: 100 * busiest against 117 * local.
    assert_eq!(with(4000, 4680), Step::Done, "1170 * 100 <= 117 * 1000");
    assert_eq!(with(4000, 4684), Step::Detach);
    assert_eq!(with(4000, 3999), Step::Done);
}

/// Goal: below the tipping point nothing but a misfit task moves. Source:
/// docs/rules/balancing.md#whether-to-act.
#[test]
fn energy_aware_gate() {
    let mut core = still_but(&machine(&hikey960()), &[]);
    assert_eq!(
        core.state().energy_active,
        1,
        "{:?}",
        core.energy_inactive()
    );
    put(&mut core, 1, 2, 2048, 300, 300);
    assert_eq!(begin(&mut core, 0, 0, IdleKind::NewlyIdle).0, Step::Done);
    core.state_mut().overutilized = 1;
    assert_eq!(begin(&mut core, 0, 0, IdleKind::NewlyIdle).0, Step::Detach);
    core.state_mut().overutilized = 0;
    put(&mut core, 1, 1, 1024, 369, 369);
    core.cpu_mut(1).queue.misfit_task_load = 1023;
    assert_eq!(
        found(&mut core, 4, 1, IdleKind::Idle),
        (sys::WP_MIGRATE_MISFIT, 1)
    );
}

/// Goal: overload and overutilized of the root domain are written by a top-level pass, which also
/// clears them; a lower level only sets overutilized. Source:
/// docs/rules/balancing.md#balance-flags.
#[test]
fn root_domain_flags() {
    let mut core = still_but(&machine(&hikey960()), &[]);
    put(&mut core, 1, 2, 2048, 462, 462);
    begin(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(
        (core.state().overload, core.state().overutilized),
        (0, 1),
        "MC level"
    );
    begin(&mut core, 0, 1, IdleKind::NewlyIdle);
    assert_eq!(
        (core.state().overload, core.state().overutilized),
        (1, 1),
        "top"
    );
    put(&mut core, 1, 1, 1024, 100, 100);
    begin(&mut core, 0, 0, IdleKind::NewlyIdle);
    assert_eq!(
        (core.state().overload, core.state().overutilized),
        (1, 1),
        "not cleared"
    );
    begin(&mut core, 0, 1, IdleKind::NewlyIdle);
    assert_eq!((core.state().overload, core.state().overutilized), (0, 0));
    core.cpu_mut(1).queue.misfit_task_load = 1;
    begin(&mut core, 4, 1, IdleKind::NewlyIdle);
    assert_eq!(
        core.state().overload,
        1,
        "a misfit task is something to pull"
    );
}

// ------------------------------------------------------------------------------- imbalance

/// Goal: examples 1 to 4 of docs/rules/balancing.md#imbalance-numbers.
#[test]
fn imbalance_examples() {
    let mut core = two_caches(&[]);
    put_group(&mut core, 4, 4, 4096, 4000, 4096);
    assert_eq!(
        found(&mut core, 0, 1, IdleKind::Idle),
        (sys::WP_MIGRATE_TASK, 2),
        "(1)"
    );
    let mut core = two_caches(&[]);
    put_group(&mut core, 0, 5, 2048, 4000, 5000);
    put_group(&mut core, 4, 8, 6144, 4096, 8000);
    assert_eq!(
        found(&mut core, 0, 1, IdleKind::Busy),
        (sys::WP_MIGRATE_LOAD, 2048),
        "(2)"
    );
    let mut core = two_caches(&[]);
    put_group(&mut core, 0, 3, 1024, 1000, 1000);
    put_group(&mut core, 4, 8, 8192, 4096, 8000);
    assert_eq!(
        found(&mut core, 3, 1, IdleKind::Idle),
        (sys::WP_MIGRATE_UTIL, 3096),
        "(3)"
    );
    let mut core = two_caches(&[NO_SIBLING]);
    put_group(&mut core, 4, 3, 3072, 1000, 1000);
    assert_eq!(
        found(&mut core, 0, 1, IdleKind::Idle),
        (sys::WP_MIGRATE_TASK, 1),
        "(4)"
    );
}

/// Goal: two nice-0 tasks make up a load of 2048; the third stays. Source:
/// docs/rules/balancing.md#imbalance-numbers, point 2; docs/rules/balancing.md#detach.
#[test]
fn load_of_two_tasks_moves_two() {
    let mut core = two_caches(&[]);
    put_group(&mut core, 0, 5, 2048, 4000, 5000);
    put_group(&mut core, 4, 12, 6144, 4096, 8000);
    let (_, mut bal) = begin(&mut core, 0, 1, IdleKind::Busy);
    let src = bal.src_cpu();
    core.cpu_mut(src).load.avg.load_avg = 1 << 20; // task_h_load: 1023 of 1024
    let answers: Vec<Offer> = (1..=3)
        .map(|id| {
            let task = queued(&mut core, id, src, 100);
            core.balance_offer(&mut bal, &task)
        })
        .collect();
    assert_eq!(answers, [Offer::Take, Offer::Take, Offer::Skip]);
}

/// Two nodes of 112 CPUs with one cache each.
fn two_nodes() -> MachineFacts {
    let mut facts = machine(&[cluster(112, 1024), cluster(112, 1024)]);
    facts.levels = vec![
        LevelFacts {
            shares_cache: true,
            group_of: labels([112, 112]),
            ..LevelFacts::default()
        },
        LevelFacts {
            numa: true,
            group_of: vec![0; 224],
            ..LevelFacts::default()
        },
    ];
    facts
}

/// Goal: a small imbalance between nodes is let be while few tasks run. Source:
/// docs/rules/balancing.md#imbalance-numbers, points 5 and 6: limit 14, difference 2; local tasks
/// plus the one that would come: 5, then 15.
#[test]
fn numa_imbalance() {
    for overrides in [&[][..], &[NO_SIBLING]] {
        let with = |local: u32| {
            let mut core = still_but(&two_nodes(), overrides);
            for cpu in (1..=local).chain(112..112 + local + 2) {
                put(&mut core, cpu, 1, 1024, 300, 300);
            }
            begin(&mut core, 0, 1, IdleKind::Idle)
        };
        assert_eq!(with(4).0, Step::Done, "5 <= 14 and 2 <= 2");
        assert_eq!(with(13).0, Step::Done, "14 is not above 14");
        let (step, bal) = with(14);
        let amount = (bal.raw().migration_type, bal.raw().imbalance);
        assert_eq!((step, amount), (Step::Detach, (sys::WP_MIGRATE_TASK, 1)));
    }
}

/// Goal: groups of different size share tasks per core; an empty one takes from one with two.
/// Source: docs/rules/balancing.md#sibling-difference.
#[test]
fn sibling_difference_per_core() {
    let with = |sizes: [usize; 2], running: u32| {
        let mut core = still_but(&machine(&sizes.map(|n| cluster(n, 1024))), &[]);
        let first = sizes[0] as u32;
        for cpu in first..first + running {
            put(&mut core, cpu, 1, 1024, 300, 300);
        }
        let level = core.cpu(0).topo.nr_levels - 1;
        begin(&mut core, 0, level, IdleKind::Idle)
    };
    // (2 * 2 * 4 + 2 + 4) / (2 + 4) = 3, halved
    assert_eq!(with([2, 4], 4).1.raw().imbalance, 1);
    // (2 * 4 * 8 + 4 + 8) / (4 + 8) = 6, halved
    assert_eq!(with([4, 8], 8).1.raw().imbalance, 3);
    // (2 * 1 * 2 + 1 + 8) / (1 + 8) = 1, but nothing runs here and two there
    assert_eq!(with([1, 8], 2).1.raw().imbalance, 1);
    assert_eq!(with([1, 8], 1).0, Step::Done);
}

/// Goal: rows smt_balance, imbalanced, reduced capacity, full by utilisation. Source:
/// docs/rules/balancing.md#imbalance, the table.
#[test]
fn other_rows_of_the_table() {
    // SMT: two tasks on one core, this core idle.
    let mut facts = machine(&[cluster(4, 1024)]);
    let smt = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        group_of: labels([2, 2]),
        ..LevelFacts::default()
    };
    facts.levels.insert(0, smt);
    let mut core = still_but(&facts, &[]);
    put(&mut core, 2, 1, 1024, 300, 300);
    put(&mut core, 3, 1, 1024, 300, 300);
    let (step, bal) = begin(&mut core, 0, 1, IdleKind::Idle);
    assert_eq!(
        (step, bal.raw().busiest_sums.group_type),
        (Step::Detach, sys::WP_GROUP_SMT_BALANCE)
    );
    assert_eq!(
        (bal.raw().migration_type, bal.raw().imbalance),
        (sys::WP_MIGRATE_TASK, 1)
    );
    let mut core = two_caches(&[]);
    let group = core.state().doms[core.cpu(0).topo.dom[1] as usize].first_group as usize + 1;
    core.state_mut().groups[group].imbalanced = 1;
    put_group(&mut core, 4, 4, 4096, 4000, 4096);
    assert_eq!(
        found(&mut core, 0, 1, IdleKind::Idle),
        (sys::WP_MIGRATE_TASK, 1),
        "imbalanced"
    );
    // 875 * 117 < 102400: RT or interrupts take a share of CPU 4, whose one task would rather go.
    for (capacity, step) in [(875, Step::Detach), (876, Step::Done)] {
        let mut core = two_caches(&[]);
        put(&mut core, 4, 1, 777, 300, 300);
        core.cpu_mut(4).load.capacity = capacity;
        let (found, bal) = begin(&mut core, 0, 1, IdleKind::Idle);
        assert_eq!(found, step, "capacity {capacity}");
        if step == Step::Detach {
            assert_eq!(
                (bal.raw().migration_type, bal.raw().imbalance),
                (sys::WP_MIGRATE_LOAD, 777)
            );
        }
    }
    // The local group is full by sum, yet CPU 3 is idle.
    let mut core = two_caches(&[]);
    put_group(&mut core, 0, 3, 1024, 4096, 1000);
    put_group(&mut core, 4, 8, 8192, 4096, 8000);
    assert_eq!(
        found(&mut core, 3, 1, IdleKind::Idle),
        (sys::WP_MIGRATE_TASK, 1)
    );
}

/// Goal: the source by what is to move. Source: docs/rules/balancing.md#source-queue.
#[test]
fn source_queue() {
    // load: most load per capacity; a lone task heavier than the amount is left alone.
    let mut core = two_caches(&[]);
    put_group(&mut core, 0, 5, 2048, 4000, 5000);
    put_group(&mut core, 4, 8, 4096, 4096, 8000);
    put(&mut core, 6, 1, 5000, 1024, 1024);
    let (_, bal) = begin(&mut core, 0, 1, IdleKind::Busy);
    assert_eq!(bal.raw().migration_type, sys::WP_MIGRATE_LOAD);
    assert_ne!(bal.src_cpu(), 6);
    core.cpu_mut(6).load.capacity = 800;
    assert_eq!(
        begin(&mut core, 0, 1, IdleKind::Busy).1.src_cpu(),
        6,
        "reduced capacity"
    );
    // util: most utilisation or contention, more than one task.
    let mut core = two_caches(&[]);
    for (cpu, tasks, util, runnable) in [(4, 1, 1024, 1024), (5, 2, 900, 900), (6, 2, 800, 950)] {
        put(&mut core, cpu, tasks, 1024, util, runnable);
    }
    put(&mut core, 7, 4, 4096, 1024, 4096);
    core.cpu_mut(7).queue.nr_fair = 1; // three RT tasks
    let (_, bal) = begin(&mut core, 0, 1, IdleKind::Idle);
    assert_eq!(
        (bal.raw().migration_type, bal.src_cpu()),
        (sys::WP_MIGRATE_UTIL, 6)
    );
    // task: most tasks.
    let mut core = two_caches(&[]);
    put_group(&mut core, 4, 4, 4096, 1000, 1000);
    put(&mut core, 6, 3, 100, 100, 100);
    let (_, bal) = begin(&mut core, 0, 1, IdleKind::Idle);
    assert_eq!(
        (bal.raw().migration_type, bal.src_cpu()),
        (sys::WP_MIGRATE_TASK, 6)
    );
}

// ------------------------------------------------------------------------------- mixed machines

/// CPUs 0,1 and 2,3 are cores of two threads, 4 and 5 cores of one; one cache.
fn hybrid() -> Core {
    let mut facts = machine(&[cluster(6, 1024)]);
    let smt = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        group_of: labels([2, 2, 1, 1]),
        ..LevelFacts::default()
    };
    facts.levels.insert(0, smt);
    still_but(&facts, &[])
}

/// Goal: with room in both, the lone task of an SMT core is not preferred to one of a core without,
/// two of them are; fully busy groups are equal whatever their load, an SMT one keeps its place.
/// Source: docs/rules/balancing.md#busiest-group, docs/rules/balancing.md#group-class (avg_load
/// only for overloaded).
#[test]
fn smt_beside_single_threads() {
    let mut core = hybrid();
    let level = |core: &Core, cpu: u32| core.cpu(cpu).topo.nr_levels - 1;
    let busiest = |core: &mut Core, dst: u32| {
        let level = level(core, dst);
        attempt_busy(core, dst, level).raw().busiest_group
    };
    put(&mut core, 2, 1, 1024, 300, 300);
    put(&mut core, 4, 1, 1024, 300, 300);
    assert_eq!(busiest(&mut core, 0), 2, "a core without SMT");
    let mut core = hybrid();
    put(&mut core, 5, 1, 1024, 300, 300);
    put(&mut core, 0, 1, 1024, 300, 300);
    assert_eq!(busiest(&mut core, 4), 3);
    put(&mut core, 1, 1, 1024, 300, 300);
    assert_eq!(busiest(&mut core, 4), 0, "two tasks on an SMT core");
    let mut core = hybrid();
    put(&mut core, 2, 1, 1024, 1000, 1000);
    put(&mut core, 3, 1, 1024, 1000, 1000);
    put(&mut core, 4, 1, 9000, 1000, 1000);
    assert_eq!(busiest(&mut core, 0), 1, "both fully busy");
}

/// The attempt of a destination that counts as busy.
fn attempt_busy(core: &mut Core, dst: u32, level: u32) -> wakeplace_policy_sys::Balance {
    begin(core, dst, level, IdleKind::Busy).1
}

/// Goal: an idle core of one thread relieves an SMT core with two tasks, though it has but one idle
/// CPU more. Source: docs/rules/balancing.md#whether-to-act.
#[test]
fn single_thread_relieves_smt_core() {
    let mut core = hybrid();
    let first = core.state().doms[core.cpu(4).topo.dom[0] as usize].first_group as usize;
    core.state_mut().groups[first].flags &= !sys::WP_SD_PREFER_SIBLING;
    put(&mut core, 0, 1, 1024, 300, 300);
    put(&mut core, 1, 1, 1024, 300, 300);
    assert_eq!(
        found(&mut core, 4, 0, IdleKind::Idle),
        (sys::WP_MIGRATE_TASK, 1)
    );
    // against another SMT core with as many idle CPUs: no
    put(&mut core, 3, 1, 1024, 300, 300);
    core.cpu_mut(3).queue.nr_fair = 0; // an RT task
    let step = begin(&mut core, 2, 1, IdleKind::Idle).0;
    assert_eq!(step, Step::Done);
}

/// Goal: a local group of a higher class pulls nothing; one fair task is none to give; a smaller
/// CPU never takes from bigger ones with a CPU per task, and of overloaded ones not a lone task.
/// Source: docs/rules/balancing.md#busiest-group (candidates),
/// docs/rules/balancing.md#whether-to-act, docs/rules/balancing.md#source-queue.
#[test]
fn what_is_left_alone() {
    let mut core = two_caches(&[]);
    let group = core.state().doms[core.cpu(0).topo.dom[1] as usize].first_group as usize;
    put_group(&mut core, 4, 4, 4096, 4000, 4096);
    core.state_mut().groups[group].imbalanced = 1;
    assert_eq!(
        begin(&mut core, 0, 1, IdleKind::Idle).0,
        Step::Done,
        "imbalanced > fully_busy"
    );
    core.state_mut().groups[group].imbalanced = 0;
    assert_eq!(begin(&mut core, 0, 1, IdleKind::Idle).0, Step::Detach);
    for (fair, step) in [(1, Step::Done), (2, Step::Detach)] {
        let mut core = two_caches(&[NO_SIBLING]);
        put_group(&mut core, 4, 4, 4096, 1000, 1000);
        (4 + fair..8).for_each(|rt| core.cpu_mut(rt).queue.nr_fair = 0);
        assert_eq!(
            begin(&mut core, 0, 1, IdleKind::Idle).0,
            step,
            "{fair} fair tasks"
        );
    }
    let mut core = still_but(&machine(&hikey960()), &[]);
    core.state_mut().overutilized = 1;
    put_group(&mut core, 4, 3, 3072, 4000, 4000);
    put(&mut core, 5, 2, 2048, 1024, 2000);
    assert_eq!(
        begin(&mut core, 0, 1, IdleKind::Idle).0,
        Step::Done,
        "four tasks, four CPUs"
    );
    // Loads 6000 (one task), 5000 (two), 5000, 5000 there and 100 each here: averages 5250 and 221,
    // domain 3686, amount 6253. The one task of 6000 would be the heaviest queue.
    for cpu in 0..4 {
        put(&mut core, cpu, 1, 100, 462, 462);
        put(&mut core, 4 + cpu, 1, 5000, 1024, 1024);
    }
    core.cpu_mut(4).load.avg.load_avg = 6000;
    put(&mut core, 5, 2, 5000, 1024, 2000);
    let (step, bal) = begin(&mut core, 0, 1, IdleKind::Busy);
    assert_eq!(
        (step, bal.raw().migration_type, bal.raw().imbalance),
        (Step::Detach, sys::WP_MIGRATE_LOAD, 6253)
    );
    assert_eq!(bal.src_cpu(), 5);
}

/// Goal: pinned tasks mark the group of the level above, and the balance that is left when their
/// CPU is left out does not take the mark away; an ordinary balanced pass does. Source:
/// docs/rules/balancing.md#imbalanced-mark.
#[test]
fn pinned_tasks_mark_the_group_above() {
    let mut core = two_caches(&[]);
    let group = core.state().doms[core.cpu(0).topo.dom[1] as usize].first_group as usize;
    put(&mut core, 1, 3, 3072, 900, 1000);
    let (step, mut bal) = begin(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!(step, Step::Detach);
    let mut pinned = queued(&mut core, 7, 1, 100);
    pinned.set_allowed(Some(&[1]), 8);
    assert_eq!(core.balance_offer(&mut bal, &pinned), Offer::Skip);
    assert_eq!(core.balance_end(&mut bal, false), Step::Done);
    assert_eq!(core.state().groups[group].imbalanced, 1);
    put(&mut core, 1, 1, 1024, 900, 1000);
    assert_eq!(begin(&mut core, 0, 0, IdleKind::Idle).0, Step::Done);
    assert_eq!(core.state().groups[group].imbalanced, 0);
}

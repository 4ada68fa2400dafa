//! Which tasks and groups balancing leaves alone: docs/rules/balancing.md#cache-hot,
//! docs/rules/balancing.md#pull-eligible, docs/rules/balancing.md#pull-down.
//!
//! What must stay: each rule is the named kernels', read in their source; a new era says on which
//! side it is. It covers policy/src/balance/detach.c, busiest.c and imbalance.c. Free: how helpers
//! build a machine.
//! Tests by part: `idle_tasks_are_never_hot`, `buddies_are_hot_for_busy_cpus` (`wp_task_hot`);
//! `who_has_had_too_much_stays_at_first` (`wp_task_is_ineligible_on_dst_cpu`);
//! `smaller_cpus_pull_where_no_group_is_of_the_same_class`, `a_misfit_waits_for_an_idle_core`
//! (`wp_bal_candidate`, `wp_not_among_equals`); `a_misfit_counts_where_it_is_served`
//! (`wp_counts_misfits`); `a_lone_task_leaves_a_busy_core`,
//! `a_lone_task_goes_to_a_cluster_of_its_size` (`wp_lone_stays`).
//! Helpers, and who fails with them: `on` (all tests,
//! `smaller_cpus_pull_where_no_group_is_of_the_same_class` among them); `offer`
//! (`idle_tasks_are_never_hot`, `buddies_are_hot_for_busy_cpus`,
//! `who_has_had_too_much_stays_at_first`).

use crate::common;

use common::{
    NOW, attempt, cluster, core, freeze, hikey960, level, machine, make_busy, put, queued,
};
use wakeplace_policy_sys::{Core, IdleKind, LevelFacts, Offer, Step, Task};

const ERAS: [&str; 5] = [
    "linux-5.10",
    "linux-6.1",
    "linux-6.12",
    "linux-6.18",
    "linux-7.3",
];

fn on(facts: &wakeplace_policy_sys::MachineFacts, era: &str, settings: &[(&str, &str)]) -> Core {
    let mut core = core(facts, era, settings);
    freeze(&mut core);
    core
}

/// CPU 0 pulls from CPU 1, which has three tasks: is one taken that `change` made? `busy`: CPU 0
/// has a task, too.
fn offer(
    era: &str,
    settings: &[(&str, &str)],
    busy: bool,
    failures: u32,
    change: fn(&mut Task),
    offered: (bool, bool),
) -> Offer {
    let mut core = on(&machine(&[cluster(4, 1024)]), era, settings);
    put(&mut core, 1, 3, 3072, 900, 1000);
    let (step, mut bal) = attempt(&mut core, 0, 0, IdleKind::Idle);
    assert_eq!((step, bal.src_cpu()), (Step::Detach, 1), "{era}");
    if busy {
        make_busy(&mut core, 0); // meanwhile
    }
    let mut task = queued(&mut core, 7, 1, 100);
    change(&mut task);
    core.cpu_mut(0).balance.lb[0].nr_balance_failed = failures;
    bal.set_offered(offered.0, offered.1);
    core.balance_offer(&mut bal, &task)
}

/// Goal: a SCHED_IDLE task that has just run is not cache-hot, another is. Source:
/// docs/rules/balancing.md#cache-hot: task_hot() of all five kernels.
#[test]
fn idle_tasks_are_never_hot() {
    let just_ran = |t: &mut Task| t.raw_mut().exec_start_ns = NOW;
    let idle = |t: &mut Task| (t.raw_mut().exec_start_ns, t.raw_mut().idle_policy) = (NOW, 1);
    let off = [("idle_policy_cold", "off")];
    for era in ERAS {
        let asked = |set: &[_], change| offer(era, set, false, 0, change, (false, false));
        assert_eq!(asked(&[], just_ran), Offer::Skip, "{era}");
        assert_eq!(asked(&[], idle), Offer::Take, "{era}");
        assert_eq!(asked(&off, idle), Offer::Skip, "{era}");
    }
}

/// Goal: a buddy is hot for a CPU that has a task, and only until failures exceed
/// cache_nice_tries (1). Source: docs/rules/balancing.md#cache-hot: task_hot() of all five kernels.
#[test]
fn buddies_are_hot_for_busy_cpus() {
    for era in ERAS {
        let asked = |set: &[_], busy, failed| offer(era, set, busy, failed, |_| (), (true, false));
        assert_eq!(asked(&[], true, 0), Offer::Skip, "{era}");
        assert_eq!(asked(&[], false, 0), Offer::Take, "{era}: no task there");
        assert_eq!(asked(&[], true, 2), Offer::Take, "{era}: 2 > 1");
        let off = [("cache_hot_buddy", "off")];
        assert_eq!(asked(&off, true, 0), Offer::Take, "{era}");
    }
}

/// Goal: from 6.18 on a task that is not eligible stays while the destination has fair tasks and
/// nothing has failed. Source: docs/rules/balancing.md#pull-eligible: can_migrate_task() of 6.18.15
/// and 7.3.4; 6.12.117 does not ask.
#[test]
fn who_has_had_too_much_stays_at_first() {
    for (era, first) in [
        ("linux-6.12", Offer::Take),
        ("linux-6.18", Offer::Skip),
        ("linux-7.3", Offer::Skip),
    ] {
        let asked = |busy, failed| offer(era, &[], busy, failed, |_| (), (false, true));
        assert_eq!(asked(true, 0), first, "{era}");
        assert_eq!(asked(true, 1), Offer::Take, "{era}: it failed before");
        assert_eq!(asked(false, 0), Offer::Take, "{era}: no task there");
    }
}

/// Goal: four tasks on four bigger CPUs, two of them on one: the group is fully busy (runnable 5048
/// x 100 > 4096 x 117). An idle smaller CPU takes one where the test of sizes holds among groups of
/// one class only, since fully busy is above any class that is compared. Source:
/// docs/rules/balancing.md#pull-down: update_sd_pick_busiest() of the five kernels.
#[test]
fn smaller_cpus_pull_where_no_group_is_of_the_same_class() {
    for (era, found) in [
        ("linux-5.10", Step::Detach),
        ("linux-6.1", Step::Detach),
        ("linux-6.12", Step::Done),
        ("linux-6.18", Step::Detach),
        ("linux-7.3", Step::Done),
    ] {
        let mut core = on(&machine(&hikey960()), era, &[]);
        core.state_mut().overutilized = 1;
        put(&mut core, 4, 2, 2048, 1000, 3000);
        put(&mut core, 5, 1, 1024, 1000, 1024);
        put(&mut core, 6, 1, 1024, 1000, 1024);
        assert_eq!(attempt(&mut core, 0, 1, IdleKind::Idle).0, found, "{era}");
        // With room for more it is of the lowest class, as the first group that is looked at.
        core.cpu_mut(4).load.avg.runnable_avg = 1000;
        assert_eq!(attempt(&mut core, 0, 1, IdleKind::Idle).0, Step::Done);
    }
}

/// Goal: a thread of a bigger core whose other thread is busy takes no misfit in 6.12.117 and 7.3,
/// and does in 6.18. Source: docs/rules/balancing.md#pull-down.
#[test]
fn a_misfit_waits_for_an_idle_core() {
    for (era, beside_busy) in [
        ("linux-6.12", Step::Done),
        ("linux-6.18", Step::Detach),
        ("linux-7.3", Step::Done),
    ] {
        for (busy, found) in [(false, Step::Detach), (true, beside_busy)] {
            let mut facts = machine(&[cluster(2, 500), cluster(2, 1024)]);
            let core_level = LevelFacts {
                shares_capacity: true,
                shares_cache: true,
                ..level(&[2, 2])
            };
            facts.levels.insert(0, core_level);
            let mut core = on(&facts, era, &[]);
            core.state_mut().overutilized = 1;
            put(&mut core, 0, 1, 1024, 500, 500);
            core.cpu_mut(0).queue.misfit_task_load = 1024;
            if busy {
                put(&mut core, 3, 1, 100, 10, 10);
            }
            let top = core.levels(2) - 1;
            let (step, _) = attempt(&mut core, 2, top, IdleKind::Idle);
            assert_eq!(step, found, "{era}, busy sibling {busy}");
        }
    }
}

/// Goal: four small CPUs with four tasks on three of them, one a misfit, and four bigger CPUs
/// that are idle. A bigger one of capacity 480 is not bigger by the margin (480 x 1024 is less than
/// 462 x 1078). To 7.2 it is a group of misfits, which is passed over. In 7.3 the misfit does not
/// count, and the group has spare CPUs: of the sibling difference, 4 - 0, half is to move
/// (docs/rules/balancing.md#imbalance), from the CPU with two. Source: update_sg_lb_stats() of
/// 6.12.117, 7.2.12 and 7.3.4.
#[test]
fn a_misfit_counts_where_it_is_served() {
    for (era, found) in [
        ("linux-6.12", Step::Done),
        ("linux-6.18", Step::Done),
        ("linux-7.3", Step::Detach),
    ] {
        let mut core = on(&machine(&[cluster(4, 462), cluster(4, 1024)]), era, &[]);
        core.state_mut().overutilized = 1;
        put(&mut core, 0, 2, 2048, 400, 400);
        put(&mut core, 1, 1, 1024, 300, 300);
        put(&mut core, 2, 1, 1024, 300, 300);
        core.cpu_mut(0).queue.misfit_task_load = 1024;
        core.cpu_mut(4).load.capacity = 480;
        let (step, bal) = attempt(&mut core, 4, 1, IdleKind::Idle);
        assert_eq!(step, found, "{era}");
        if step == Step::Detach {
            assert_eq!((bal.src_cpu(), bal.raw().imbalance), (0, 2), "{era}");
        }
    }
}

/// Goal: both threads of a bigger core have a task each. A smaller CPU that is idle takes one in
/// 7.3, since a thread beside a busy one is worth less than its capacity; before it does not.
/// Source: sched_balance_find_src_rq() of 6.12.117, 7.2.12 and 7.3.4.
#[test]
fn a_lone_task_leaves_a_busy_core() {
    for (era, found) in [
        ("linux-6.12", Step::Done),
        ("linux-6.18", Step::Done),
        ("linux-7.3", Step::Detach),
    ] {
        let mut facts = machine(&[cluster(2, 1024), cluster(2, 500)]);
        let core_level = LevelFacts {
            shares_capacity: true,
            shares_cache: true,
            ..level(&[2, 2])
        };
        facts.levels.insert(0, core_level);
        let mut core = on(&facts, era, &[]);
        core.state_mut().overutilized = 1;
        put(&mut core, 0, 1, 1024, 700, 1000);
        put(&mut core, 1, 1, 1024, 700, 1000);
        let top = core.levels(2) - 1;
        let (step, _) = attempt(&mut core, 2, top, IdleKind::Idle);
        assert_eq!(step, found, "{era}");
    }
}

/// Goal: both CPUs of a cluster have a task each, and those of another cluster of the same size are
/// idle: of the difference in idle CPUs, 2 - 0, half is to move, one task. 450 of 500 is more than
/// four fifths, so the domain balances although it has an energy model. To 7.2 no CPU gives its
/// lone task to one that is no bigger. In 7.3 it does between clusters of one capacity; not where
/// the level is no cluster; and not while the hardware limits the destination by 1, since 499 is
/// not 500, and 499 x 1024 is less than 500 x 1078. Bigger CPUs make the domain asymmetric. Source:
/// sched_balance_find_src_rq() of 6.12.117, 7.2.12 and 7.3.4 (`cluster_equal_cap`).
#[test]
fn a_lone_task_goes_to_a_cluster_of_its_size() {
    for (era, is_cluster, limited_by, found) in [
        ("linux-6.12", true, 0, Step::Done),
        ("linux-6.18", true, 0, Step::Done),
        ("linux-7.3", true, 0, Step::Detach),
        ("linux-7.3", true, 1, Step::Done),
        ("linux-7.3", false, 0, Step::Done),
    ] {
        let sizes = [cluster(2, 500), cluster(2, 500), cluster(2, 1024)];
        let mut facts = machine(&sizes);
        facts.levels[0].cluster = is_cluster;
        let mut core = on(&facts, era, &[]);
        put(&mut core, 0, 1, 1024, 200, 200);
        put(&mut core, 1, 1, 1024, 450, 450);
        let load = &mut core.cpu_mut(2).load;
        (load.pressure, load.capacity) = (limited_by, 500 - limited_by);
        let (step, bal) = attempt(&mut core, 2, 1, IdleKind::Idle);
        let case = format!("{era}, clusters {is_cluster}, limited by {limited_by}");
        assert_eq!(step, found, "{case}");
        if step == Step::Detach {
            assert_eq!((bal.src_cpu(), bal.raw().imbalance), (0, 1), "{case}");
        }
    }
}

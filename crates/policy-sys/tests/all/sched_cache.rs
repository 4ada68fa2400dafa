//! Cache-aware scheduling: docs/rules/cache-aware.md. Expected values follow from the rule by the
//! arithmetic beside them.
//!
//! What must stay: sums, halvings and limits follow from the page by the arithmetic beside them. It
//! covers policy/src/load_tracking/preferred_llc.c, llc_price.c and
//! policy/src/balance/llc_balance.c. Free: numbers of processes and threads, and how helpers build
//! one.
//! Tests by part: `the_cache_that_had_most`, `one_scan_an_epoch`, `an_old_preference`
//! (`wp_task_cache_work`, `wp_task_tick_cache`); `an_epoch_halves`, `a_cpu_counts_all_processes`
//! (`wp_update_epoch`, `wp_account_mm_sched`); `queues_count_preferences`
//! (`wp_account_llc_enqueue`, `wp_account_llc_dequeue`); `too_many_running` (`wp_invalid_llc_nr`);
//! `too_much_data` (`wp_exceed_llc_capacity`); `average_of_running_threads`
//! (`wp_update_avg_scale`); `threads_that_share_a_set` (`wp_found_ns`),
//! `sets_that_do_not_fit_together` (`wp_llc_form_ps`), `own_and_shared_sets`
//! (`wp_apart_is_faster`, `wp_prefers_none`), `what_is_unknown_has_no_price` (`wp_llc_priced`);
//! `towards_the_preferred_cache` (`wp_can_migrate_llc`, `wp_llc_balance`);
//! `a_lone_task_is_pushed` (`wp_balance_running`, `wp_alb_break_llc`); `a_task_stays_in_its_cache`
//! (`wp_migrate_degrades_llc`); `no_push_out_of_the_preferred_cache` (`wp_alb_break_llc`);
//! `where_it_acts` (`wp_multi_llcs`, `wp_sched_cache_domains`).
//! Helpers, and who fails with them: `facts`, `two_caches`, `running` (most tests,
//! `one_scan_an_epoch` among them); `with_process` (all tests, `too_many_running` among them);
//! `ran` (`the_cache_that_had_most`, `one_scan_an_epoch`, `an_epoch_halves`);
//! `preferred_after_scan` (`the_cache_that_had_most`); `keeps` (`too_many_running`,
//! `too_much_data`, `an_old_preference`); `keeps_by_price` (`own_and_shared_sets` and 3
//! more); `two_nodes` (`too_much_data`, `where_it_acts`); `smt` (`towards_the_preferred_cache`);
//! `pull` (`towards_the_preferred_cache`, `a_lone_task_is_pushed`); `relieve`
//! (`a_task_stays_in_its_cache`, `no_push_out_of_the_preferred_cache`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{NOW, attempt, cluster, labels, level, machine, put, queued, still_but};
use wakeplace_policy_sys::sys;
use wakeplace_policy_sys::{
    Balance, Core, IdleKind, LevelFacts, MachineFacts, Offer, PriceFacts, ProcessFacts, Step, Task,
};

const MS: u64 = 1_000_000;
/// Epochs of 10 ticks of 1 ms since the start.
const EPOCH: u64 = NOW / MS / 10;

/// Two caches of four CPUs, 0-3 and 4-7.
fn facts() -> MachineFacts {
    let mut facts = machine(&[cluster(4, 1024), cluster(4, 1024)]);
    facts.tick_ns = 1_000_000;
    facts.perf_domains.clear();
    facts
}

/// The machine with a process that has two threads, whose CPUs are in the epoch of `NOW`.
fn with_process(facts: &MachineFacts, set: &[(&str, &str)], footprint: u64, llc: u64) -> Core {
    let mut core = still_but(facts, set);
    let known = ProcessFacts {
        footprint,
        ..ProcessFacts::default()
    };
    core.add_processes(&[known], llc);
    for cpu in &mut core.sched_cache_raw().cpu {
        (cpu.epoch, cpu.next_tick) = (EPOCH, NOW / MS);
    }
    let process = core.process_raw(0);
    process.epoch = EPOCH;
    process.nr_threads = 3;
    for time in &mut process.on {
        time.epoch = EPOCH;
    }
    core
}

fn two_caches() -> Core {
    with_process(&facts(), &[], 0, 0)
}

/// A thread of the process that runs on `cpu` since now.
fn running(core: &mut Core, id: u32, cpu: u32) -> Task {
    put(core, cpu, 1, 1024, 500, 1024);
    let mut task = queued(core, id, cpu, 500);
    task.set_process(Some(0));
    core.set_current(&mut task, NOW);
    task
}

/// The process ran so many of 1000 parts of a CPU's last time.
fn ran(core: &mut Core, parts: &[(usize, u64)]) {
    for (cpu, part) in parts {
        core.process_raw(0).on[*cpu].runtime_ns = part * 10_000;
        core.sched_cache_raw().cpu[*cpu].runtime_ns = 10 * MS;
    }
}

/// What it prefers after a scan from CPU 0, if it preferred the cache of `was` before.
fn preferred_after_scan(was: Option<u32>, parts: &[(usize, u64)]) -> Option<u32> {
    let mut core = two_caches();
    let mut task = running(&mut core, 1, 0);
    ran(&mut core, parts);
    let process = core.process_raw(0);
    (process.epoch, process.preferred) = (EPOCH - 1, was.map_or(0, |cpu| cpu + 1));
    core.tick(&mut task, NOW);
    core.process_raw(0).preferred.checked_sub(1)
}

/// Goal: the cache with the largest sum is preferred, by its busiest CPU; a present one is left for
/// more than twice as much only. Source: docs/rules/cache-aware.md#preferred-llc-numbers.
#[test]
fn the_cache_that_had_most() {
    // 300 + 500 = 800 against 700 + 200 = 900.
    let parts = [(0, 300), (1, 500), (4, 700), (6, 200)];
    assert_eq!(preferred_after_scan(None, &parts), Some(4));
    assert_eq!(
        preferred_after_scan(Some(2), &parts),
        Some(2),
        "900 <= 1600"
    );
    let less = [(0, 200), (1, 249), (4, 700), (6, 200)];
    assert_eq!(preferred_after_scan(Some(2), &less), Some(4), "900 > 898");
    let half = [(0, 200), (1, 251), (4, 700), (6, 200)];
    assert_eq!(preferred_after_scan(Some(2), &half), Some(2), "900 <= 902");
}

/// Goal: one scan an epoch, of whichever thread's tick comes first.
/// Source: docs/rules/cache-aware.md#preferred-llc.
#[test]
fn one_scan_an_epoch() {
    let mut core = two_caches();
    let mut task = running(&mut core, 1, 0);
    ran(&mut core, &[(0, 0), (4, 900)]);
    core.tick(&mut task, NOW);
    assert_eq!(core.process_raw(0).preferred, 0, "scanned in this epoch");
    // The next epoch. CPU 0 has 1 of 10 / 2 + 1, CPU 4 900 of 1000 as before.
    core.tick(&mut task, NOW + MS);
    assert_eq!(core.process_raw(0).epoch, EPOCH + 1);
    assert_eq!(core.process_raw(0).preferred, 5);
    assert_eq!(core.process_raw(0).next_scan_tick, NOW / MS + 11);
}

/// Goal: run times are halved once for each epoch that has begun since.
/// Source: docs/rules/cache-aware.md#occupancy-numbers.
#[test]
fn an_epoch_halves() {
    let mut core = two_caches();
    let mut task = running(&mut core, 1, 0);
    ran(&mut core, &[(0, 800)]);
    // 1 ms into the next epoch: 8 / 2 + 1 of 10 / 2 + 1.
    core.tick(&mut task, NOW + MS);
    assert_eq!(core.process_raw(0).on[0].runtime_ns, 5 * MS);
    assert_eq!(core.sched_cache_raw().cpu[0].runtime_ns, 6 * MS);
    // 30 ms later: three epochs. 5 / 8 + 30 ms.
    core.tick(&mut task, NOW + 31 * MS);
    assert_eq!(core.process_raw(0).on[0].runtime_ns, 30 * MS + 625_000);
}

/// Goal: a CPU's time counts what other processes ran there, and not what kernel threads did.
/// Source: docs/rules/cache-aware.md#occupancy.
#[test]
fn a_cpu_counts_all_processes() {
    let counted = |user: bool| {
        let mut core = two_caches();
        put(&mut core, 0, 1, 1024, 500, 1024);
        let mut task = queued(&mut core, 1, 0, 500);
        if user {
            task.set_process(None);
        }
        core.set_current(&mut task, NOW);
        core.tick(&mut task, NOW + MS);
        core.sched_cache_raw().cpu[0].runtime_ns
    };
    assert_eq!((counted(true), counted(false)), (MS, 0));
}

/// Goal: a thread takes the preference over as it runs, and the queues count it; asleep in its
/// queue it does not count as running in its cache. Source: docs/rules/cache-aware.md#counts.
#[test]
fn queues_count_preferences() {
    let mut core = two_caches();
    let mut there = running(&mut core, 1, 0);
    let mut here = running(&mut core, 2, 4);
    let process = core.process_raw(0);
    (process.preferred, process.next_scan_tick) = (5, u64::MAX);
    core.tick(&mut there, NOW + MS);
    core.tick(&mut here, NOW + MS);
    let counts = |core: &mut Core| {
        let all = core.sched_cache_raw();
        let counts = [all.counts[0][0], all.counts[0][1], all.counts[4][1]];
        (
            counts,
            [all.cpu[0].nr_pref_running, all.cpu[4].nr_pref_running],
        )
    };
    assert_eq!(
        (there.raw().preferred_llc, here.raw().preferred_llc),
        (2, 2)
    );
    assert_eq!(counts(&mut core), ([0, 1, 1], [0, 1]));
    core.dequeue_delay(&mut here, NOW + MS);
    assert_eq!(counts(&mut core), ([0, 1, 1], [0, 0]));
    core.enqueue_woken(&mut here, 4, NOW + MS);
    assert_eq!(counts(&mut core), ([0, 1, 1], [0, 1]));
    core.set_current(&mut here, NOW + MS);
    core.process_raw(0).preferred = 0;
    core.dequeue_sleep(&mut here, NOW + 2 * MS);
    assert_eq!(here.raw().preferred_llc, 0, "dropped as it ran");
    core.dequeue_sleep(&mut there, NOW + MS);
    assert_eq!(there.raw().preferred_llc, 2, "it did not run meanwhile");
    assert_eq!(counts(&mut core), ([0, 0, 0], [0, 0]));
}

/// Is the preference still there after a millisecond on CPU 0?
fn keeps(mut core: Core, change: impl FnOnce(&mut sys::wp_mm)) -> bool {
    let mut task = running(&mut core, 1, 0);
    let process = core.process_raw(0);
    process.preferred = 1;
    process.next_scan_tick = u64::MAX;
    change(process);
    core.tick(&mut task, NOW + MS);
    core.process_raw(0).preferred != 0
}

/// Goal: how many of its threads may run: fits_capacity() with the CPUs of a cache, times the
/// tolerance. Source: docs/rules/cache-aware.md#tolerance-numbers.
#[test]
fn too_many_running() {
    let keeps_at = |tolerance: &str, avg: u64| {
        let set = [("llc_aggr_tolerance", tolerance)];
        let core = with_process(&facts(), &set, 0, 0);
        keeps(core, |process| process.nr_running_avg = avg)
    };
    assert!(keeps_at("1", 3), "3 x 1280 = 3840 < 4 x 1024");
    assert!(!keeps_at("1", 4), "5120 >= 4096");
    assert!(keeps_at("2", 6), "7680 < 2 x 4096");
    assert!(!keeps_at("2", 7), "8960 >= 8192");
    assert!(keeps_at("100", 1000));
    assert!(!keeps_at("0", 0));
    assert!(!keeps(two_caches(), |process| process.nr_threads = 1));
}

/// Gives the machine of `two_caches` as two nodes, a cache each.
fn two_nodes() -> MachineFacts {
    let mut facts = facts();
    facts.levels[1] = LevelFacts {
        numa: true,
        ..level(&[8])
    };
    facts
}

/// Goal: how much data it may have: the cache's size, times 1 + 256 x (tolerance - 1); only NUMA
/// balancing knows how much it has. Source: docs/rules/cache-aware.md#tolerance-numbers.
#[test]
fn too_much_data() {
    const MIB: u64 = 1 << 20;
    let keeps_with = |facts: &MachineFacts, tolerance: &str, footprint: u64| {
        let set = [("llc_aggr_tolerance", tolerance)];
        keeps(with_process(facts, &set, footprint, MIB), |_| ())
    };
    let numa = two_nodes();
    assert!(keeps_with(&numa, "1", MIB));
    assert!(!keeps_with(&numa, "1", MIB + 1));
    assert!(keeps_with(&numa, "2", 257 * MIB));
    assert!(!keeps_with(&numa, "2", 257 * MIB + 1));
    assert!(keeps_with(&numa, "100", 1000 * MIB));
    assert!(
        keeps_with(&facts(), "1", 1000 * MIB),
        "one node: no NUMA balancing"
    );
    assert!(
        keeps(with_process(&numa, &[], 1000 * MIB, 0), |_| ()),
        "of a cache whose size is not known"
    );
}

/// A thread's working sets: so many with one of their own of so many KiB, and so many that share
/// one of so many MiB.
type Sets = [(u32, u64); 2];

/// Does a process with such sets keep its preference by price? A hit takes 10 ns, memory 64, a line
/// from the same cache 16, from another one 73; the cache has 32 MiB.
fn keeps_by_price(change: impl FnOnce(&mut MachineFacts), llc: u64, sets: Sets) -> bool {
    let mut facts = facts();
    let moves = [Some(15_000), None];
    facts.prices = PriceFacts::new([Some(16), Some(73), None], moves).with_accesses(10, 64);
    change(&mut facts);
    let core = with_process(&facts, &[("llc_price", "on")], 0, llc);
    let [(own, kib), (sharing, mib)] = sets;
    keeps(core, |process| {
        (process.nr_own, process.own_bytes) = (own, u64::from(own) * kib * 1024);
        (process.nr_sharing, process.shared_bytes) = (sharing, mib << 20);
    })
}

const LLC: u64 = 32 << 20;
const NONE: (u32, u64) = (0, 0);

/// Goal: threads that write one block are faster together, whether it fits or not. Sums of all six
/// in ns: 16 MiB: 10 + 5 x 16 = 90 together, 10 + 2 x 16 + 3 x 73 = 261 in halves. 48 MiB: 32 of 48
/// are there, (32 x 90 + 16 x 6 x 64) / 48 = 188 and (32 x 261 + 6144) / 48 = 302.
/// Source: docs/rules/cache-aware.md#llc-price-numbers.
#[test]
fn threads_that_share_a_set() {
    assert!(keeps_by_price(|_| (), LLC, [NONE, (6, 16)]));
    assert!(keeps_by_price(|_| (), LLC, [NONE, (6, 48)]));
}

/// Goal: blocks that one cache has no room for, but two have, keep threads apart. Six of 8 MiB: (32
/// x 60 + 16 x 6 x 64) / 48 = 168 ns together, 60 in halves. Four fit: 40 ns either way. 1 KiB more
/// each does not.
/// Source: docs/rules/cache-aware.md#llc-price-numbers.
#[test]
fn sets_that_do_not_fit_together() {
    assert!(!keeps_by_price(|_| (), LLC, [(6, 8192), NONE]));
    assert!(keeps_by_price(|_| (), LLC, [(4, 8192), NONE]));
    assert!(!keeps_by_price(|_| (), LLC, [(4, 8193), NONE]));
}

/// Goal: both kinds weigh by their threads. Two share 16 MiB, and four have 8 MiB each: (32 x (40 +
/// 10 + 16) + 16 x 6 x 64) / 48 = 172 ns together; apart each cache holds 32 MiB, 40 + 10 + 73 =
/// 123. With two of 8 MiB 32 MiB fit together: 20 + 26 = 46 against 20 + 83.
/// Source: docs/rules/cache-aware.md#llc-price-numbers.
#[test]
fn own_and_shared_sets() {
    assert!(!keeps_by_price(|_| (), LLC, [(4, 8192), (2, 16)]));
    assert!(keeps_by_price(|_| (), LLC, [(2, 8192), (2, 16)]));
}

/// Goal: where a price, the cache's size or all sets are unknown the kernel's rule stands.
/// Source: docs/rules/cache-aware.md#llc-price.
#[test]
fn what_is_unknown_has_no_price() {
    let six = [(6, 8192), NONE];
    assert!(keeps_by_price(|facts| facts.prices.hit_ns = 0, LLC, six));
    assert!(keeps_by_price(|facts| facts.prices.memory_ns = 0, LLC, six));
    let nobody = |facts: &mut MachineFacts| facts.prices.node_line_ns = 0;
    assert!(keeps_by_price(nobody, LLC, six));
    assert!(keeps_by_price(|_| (), 0, six));
    assert!(keeps_by_price(|_| (), LLC, [NONE, NONE]));
    let off = with_process(&facts(), &[], 0, LLC);
    assert!(keeps(off, |process| (process.nr_own, process.own_bytes) =
        (6, 48 << 20)));
}

/// Goal: a process that was not scanned for more than 5 epochs prefers nothing.
/// Source: docs/rules/cache-aware.md#preferred-llc.
#[test]
fn an_old_preference() {
    // In the next epoch: EPOCH + 1 - (EPOCH - 4) = 5.
    assert!(keeps(two_caches(), |process| process.epoch = EPOCH - 4));
    assert!(!keeps(two_caches(), |process| process.epoch = EPOCH - 5));
}

/// Goal: the average of running threads moves by a part of the difference that the size of the
/// cache says, rounded towards 0. Source: docs/rules/cache-aware.md#tolerance-numbers.
#[test]
fn average_of_running_threads() {
    let after = |size: usize, avg: u64| {
        let mut facts = machine(&[cluster(size, 1024), cluster(size, 1024)]);
        facts.tick_ns = 1_000_000;
        facts.perf_domains.clear();
        let mut core = with_process(&facts, &[], 0, 0);
        for id in 2..=5 {
            running(&mut core, id, size as u32 + id - 2);
        }
        let mut task = running(&mut core, 1, 0); // the fifth
        let process = core.process_raw(0);
        (process.epoch, process.nr_running_avg) = (EPOCH - 1, avg);
        core.tick(&mut task, NOW);
        core.process_raw(0).nr_running_avg
    };
    assert_eq!(after(4, 0), 2, "5 / 2");
    assert_eq!(after(4, 2), 3, "2 + 3 / 2");
    assert_eq!(after(16, 0), 1, "5 / 4");
    assert_eq!(after(40, 0), 0, "5 / 8, not / 10");
    assert_eq!(after(16, 10), 9, "10 - 5 / 4");
}

/// A machine with two threads per core: two caches of four CPUs.
fn smt() -> MachineFacts {
    let mut facts = facts();
    let cores = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        group_of: labels([2, 2, 2, 2]),
        ..LevelFacts::default()
    };
    facts.levels.insert(0, cores);
    facts
}

/// CPU 0's cache has a task that prefers CPU 4's, whose CPUs are idle. Utilisations of the two
/// caches, of a capacity of 1000 each, as balancing saw them last.
fn pull(facts: &MachineFacts, set: &[(&str, &str)], util: [u64; 2]) -> (Core, Step, Balance) {
    let mut core = with_process(facts, set, 0, 0);
    let mut task = running(&mut core, 1, 0);
    core.process_raw(0).preferred = 5;
    core.tick(&mut task, NOW + MS);
    let all = core.sched_cache_raw();
    for (llc, util) in all.llc.iter_mut().zip(util) {
        (llc.util_avg, llc.capacity) = (util, 1000);
    }
    common::freeze(&mut core);
    let top = core.levels(4) - 1;
    let (step, bal) = attempt(&mut core, 4, top, IdleKind::NewlyIdle);
    (core, step, bal)
}

/// Goal: towards the preferred cache, unless that is busy and noticeably busier than the other.
/// Source: docs/rules/cache-aware.md#llc-mig-numbers.
#[test]
fn towards_the_preferred_cache() {
    let pulls = |facts: &MachineFacts, source, destination| {
        let (_, step, bal) = pull(facts, &[], [source, destination]);
        if step == Step::Detach {
            assert_eq!(bal.raw().migration_type, sys::WP_MIGRATE_LLC_TASK);
            assert_eq!((bal.raw().imbalance, bal.src_cpu()), (1, 0));
        }
        step == Step::Detach
    };
    // Busy from 500 on, with two threads per core.
    assert!(pulls(&smt(), 100, 499));
    assert!(!pulls(&smt(), 100, 500), "50000 > 12000");
    assert!(pulls(&smt(), 499, 598), "59800 <= 59880");
    assert!(!pulls(&smt(), 499, 599), "59900 > 59880");
    assert!(!pulls(&smt(), 500, 500), "both are busy: as without caches");
    // Without SMT from 750 on.
    assert!(pulls(&facts(), 100, 749));
    assert!(!pulls(&facts(), 100, 750));
}

/// Goal: the running task is pushed, and only one that prefers the destination; without the rule
/// nothing moves. Source: docs/rules/cache-aware.md#llc-balance.
#[test]
fn a_lone_task_is_pushed() {
    let (mut core, step, mut bal) = pull(&facts(), &[], [500, 0]);
    assert_eq!(step, Step::Detach);
    assert_eq!(core.balance_end(&mut bal, true), Step::Done);
    assert!(bal.push() && bal.push_llc());
    let (_, step, _) = pull(&facts(), &[("sched_cache", "off")], [500, 0]);
    assert_eq!(step, Step::Done);
}

/// CPU 0 is idle, and each CPU of the other cache has so many threads: what a pass of CPU 0 does
/// after so many failures. The process prefers the cache that they are in.
fn relieve(tasks: u32, failures: u32) -> (Core, Balance) {
    let mut core = two_caches();
    core.process_raw(0).preferred = 5;
    for cpu in 4..8 {
        put(&mut core, cpu, tasks, 1024 * tasks, 200, 200);
    }
    core.cpu_mut(0).balance.lb[1].nr_balance_failed = failures;
    let (step, bal) = attempt(&mut core, 0, 1, IdleKind::Idle);
    assert_eq!(
        (step, bal.raw().migration_type),
        (Step::Detach, sys::WP_MIGRATE_TASK)
    );
    (core, bal)
}

/// Goal: a task stays in its cache until balancing has failed more often than cache_nice_tries (1),
/// and that it stays is no failure. Source: docs/rules/cache-aware.md#llc-detach.
#[test]
fn a_task_stays_in_its_cache() {
    let offer = |process: Option<u32>, failures: u32| {
        let (mut core, mut bal) = relieve(2, failures);
        let mut task = queued(&mut core, 9, bal.src_cpu(), 100);
        task.set_process(process);
        assert!(process.is_some() || task.raw().mm == sys::WP_NONE);
        let answer = core.balance_offer(&mut bal, &task);
        core.balance_end(&mut bal, true);
        (answer, core.cpu(0).balance.lb[1].nr_balance_failed)
    };
    assert_eq!(offer(Some(0), 1), (Offer::Skip, 1));
    assert_eq!(offer(Some(0), 2), (Offer::Take, 0));
    assert_eq!(offer(None, 1), (Offer::Take, 0));
}

/// Goal: a source whose tasks all prefer its cache is not pushed from.
/// Source: docs/rules/cache-aware.md#llc-detach.
#[test]
fn no_push_out_of_the_preferred_cache() {
    let pushes = |preferring: u32| {
        let (mut core, mut bal) = relieve(1, 4);
        let source = bal.src_cpu() as usize;
        core.sched_cache_raw().cpu[source].nr_pref_running = preferring;
        core.balance_end(&mut bal, true);
        bal.push()
    };
    assert!(pushes(0), "4 failures > 1 + 2");
    assert!(!pushes(1));
}

/// Goal: one cache in all, or caches of one CPU: nothing is preferred.
/// Source: docs/rules/cache-aware.md#where.
#[test]
fn where_it_acts() {
    let acts = |facts: &MachineFacts| with_process(facts, &[], 0, 0).sched_cache_raw().present != 0;
    assert!(acts(&facts()));
    assert!(acts(&two_nodes()));
    assert!(!acts(&machine(&[cluster(8, 1024)])));
    let single = [cluster(1, 1024), cluster(1, 1024)];
    assert!(!acts(&machine(&single)));
}

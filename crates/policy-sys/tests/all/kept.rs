//! Sums that are kept from one question to the next (`policy/include/wakeplace/kept.h`): a core
//! with them and one without answer alike, whatever changes in between. In test builds the core
//! itself compares each sum with a walk.
//!
//! What must stay: a core with kept sums and one without must answer alike after every change: a
//! new field that an answer reads is changed here, too (`poke`). It covers policy/src/kept. Free:
//! seeds and numbers of steps; further changes in `poke`.
//! Tests by part: `kept_sums_change_no_answer` (`wp_kept_sums_now`, `wp_kept_idle_now`,
//! `wp_kept_touch`); `statistics_that_are_left_out_change_no_answer` (`wp_kept_less_busy`,
//! `wp_kept_no_busier`, `wp_balanced_as_kept`).
//! Helpers, and who fails with them: `poke`, `answer` (all tests, `kept_sums_change_no_answer`
//! among them); `threads` (`kept_sums_change_no_answer`). Page: docs/internals/performance.md.

use crate::common;

use common::{
    Cluster, NOW, Rng, ask, cluster, core, doc_example, freeze, labels, machine, sleeper,
};
use wakeplace_policy_sys::{Balance, Core, IdleKind, LevelFacts, MachineFacts, PlaceKind, Waker};

/// Clusters of cores with two threads each.
fn threads(clusters: &[Cluster]) -> MachineFacts {
    let mut facts = machine(clusters);
    facts.perf_domains.clear();
    let total = facts.capacity.len();
    let core = LevelFacts {
        shares_capacity: true,
        shares_cache: true,
        group_of: labels(std::iter::repeat_n(2, total / 2)),
        ..LevelFacts::default()
    };
    facts.levels.insert(0, core);
    facts
}

/// Something of one CPU changes: how many tasks it has, its signals (`util` at most), what others
/// leave of it.
fn poke(core: &mut Core, random: &mut Rng, util: u32) {
    let nr_cpus = core.state().nr_cpus;
    let cpu = random.range(0, nr_cpus - 1);
    let (tasks, pending) = (random.range(0, 5).saturating_sub(2), random.one_in(9));
    let (load, util, est) = (
        random.range(0, 2048),
        random.range(0, util),
        random.range(0, util),
    );
    let runnable = random.range(0, 2048);
    let (misfit, squeezed) = (random.one_in(40), random.one_in(40));
    let c = core.cpu_mut(cpu);
    c.queue.nr_running = tasks;
    c.queue.nr_fair = tasks;
    c.queue.curr_idle = u32::from(tasks == 0);
    c.queue.curr_fair = u32::from(tasks > 0);
    c.queue.pending = u32::from(pending);
    c.queue.misfit_task_load = if misfit { load } else { 0 };
    c.load.load_weight = 1024 * tasks;
    (c.load.avg.load_avg, c.load.avg.util_avg) = (load, util);
    (c.load.avg.runnable_avg, c.load.util_est) = (runnable, est);
    c.load.capacity = c.load.capacity_orig / if squeezed { 2 } else { 1 };
}

/// An answer as numbers.
fn answer(core: &mut Core, random: &mut Rng) -> [i64; 6] {
    let nr_cpus = core.state().nr_cpus;
    let cpu = random.range(0, nr_cpus - 1);
    let mut told = [0; 6];
    if random.one_in(2) {
        let mut tasks = [sleeper(core, 7, random.range(0, nr_cpus - 1), 100, 90)];
        let request = ask(PlaceKind::Wake, cpu, tasks[0].raw_mut().cpu);
        assert_eq!(request.waker, Waker::Idle);
        let choice = core.select_cpu(&mut tasks, 0, &request);
        told[0] = i64::from(choice.cpu);
        told[1] = choice.reason as i64;
        told[2] = i64::from(core.scanned());
    } else if random.one_in(3) {
        let result = core.update_blocked(cpu, NOW + 4_000_000);
        told[3] = i64::from(result.freq());
    } else {
        let mut balance = Balance::default();
        let kinds = [IdleKind::NewlyIdle, IdleKind::Idle, IdleKind::Busy];
        let kind = kinds[random.index(3)];
        let level = random.range(0, core.levels(cpu) - 1);
        balance.prepare(NOW, cpu, level, kind);
        told[0] = core.balance_begin(&mut balance) as i64;
        told[1] = i64::from(balance.src_cpu());
        told[2] = balance.raw().imbalance;
    }
    told[4] = i64::from(core.state().overload);
    told[5] = i64::from(core.overutilized());
    told
}

/// Goal: no answer depends on whether sums are kept. Failure: a sum that misses a change.
#[test]
fn kept_sums_change_no_answer() {
    let machines = [
        machine(&doc_example()),
        machine(&[cluster(8, 512), cluster(8, 1024)]),
        threads(&[cluster(40, 1024), cluster(40, 1024)]),
    ];
    let policies = [
        "linux-3.8",
        "linux-4.17",
        "linux-4.17+energy-aware",
        "linux-5.0",
        "linux-6.2",
        "linux-6.12",
        "linux-7.3",
        "wakeplace",
    ];
    for facts in &machines {
        for (seed, policy) in policies.iter().enumerate() {
            let (mut with, mut without) = (core(facts, policy, &[]), core(facts, policy, &[]));
            with.keep_sums();
            freeze(&mut with);
            freeze(&mut without);
            let mut random = Rng(seed as u64);
            for step in 0..3_000 {
                let draws = random.next();
                poke(&mut with, &mut Rng(draws), 700);
                poke(&mut without, &mut Rng(draws), 700);
                let draws = random.next();
                let kept = answer(&mut with, &mut Rng(draws));
                let walked = answer(&mut without, &mut Rng(draws));
                assert_eq!(kept, walked, "{policy}, step {step}");
            }
            let n = with.state().nr_cpus as usize;
            assert!(
                with.state().cpus[..n] == without.state().cpus[..n],
                "{policy}: the CPUs differ"
            );
        }
    }
}

/// Goal: no answer depends on whether a pass may leave out the statistics of groups below the
/// tipping point. The home of the simulator lets it, and in test builds keeps sums, which go
/// before: so it is tried here. Failure: a pass that would have found a source, or other marks.
#[test]
fn statistics_that_are_left_out_change_no_answer() {
    let machines = [
        machine(&doc_example()),
        machine(&[cluster(8, 512), cluster(8, 1024)]),
    ];
    for facts in &machines {
        for (seed, policy) in [
            "linux-5.0",
            "linux-6.2",
            "linux-6.12",
            "linux-7.3",
            "wakeplace",
        ]
        .iter()
        .enumerate()
        {
            let (mut short, mut whole) = (core(facts, policy, &[]), core(facts, policy, &[]));
            short.skip_statistics();
            freeze(&mut short);
            freeze(&mut whole);
            let mut random = Rng(seed as u64);
            let mut below = 0;
            for step in 0..6_000 {
                let draws = random.next();
                // Mostly below 80 % of the smaller CPUs' 512, the tipping point.
                let most = if random.one_in(60) { 700 } else { 390 };
                poke(&mut short, &mut Rng(draws), most);
                poke(&mut whole, &mut Rng(draws), most);
                let draws = random.next();
                let told = answer(&mut short, &mut Rng(draws));
                assert_eq!(
                    told,
                    answer(&mut whole, &mut Rng(draws)),
                    "{policy}, step {step}"
                );
                below += usize::from(!short.overutilized());
            }
            assert!(
                below > 500,
                "{policy}: {below} steps below the tipping point"
            );
        }
    }
}

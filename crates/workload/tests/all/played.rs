//! The models played without a scheduler, on a CPU for every thread: what their own order of steps
//! makes of their costs, against arithmetic.
//! Rules: docs/rules/workloads.md; docs/decisions/025.
//!
//! What must stay: sums are arithmetic of the arguments given; `play` (sums/play.rs) knows no
//! scheduler.
//! Tests by part (in crates/workload/src): models/aim7_compute.rs:
//! `aim7_tasks_take_their_costs_side_by_side` (time to the end); models/kbuild.rs:
//! `builds_have_at_most_so_many_chains` (`make`); models/busy_loops.rs: `loops_never_end` (when
//! loops start); models/specjbb.rs: `collections_stop_the_world` (in time); models/oltp.rs:
//! `commits_share_writes_of_the_log` (`commit`),
//! `clients_that_write_the_same_rows_wait_for_each_other` (row locks); models/aim9.rs:
//! `the_other_models_take_their_costs` (sum of times); models/aiostress.rs:
//! `the_other_models_take_their_costs` (a batch's time); models/kbuild.rs:
//! `builds_keep_their_slots_full`.
//! Helpers, and who fails with them: `model` (all tests); `played` (most tests); `total`
//! (`aim7_tasks_take_their_costs_side_by_side`, `commits_share_writes_of_the_log`,
//! `clients_that_write_the_same_rows_wait_for_each_other`, `the_other_models_take_their_costs`);
//! `most_at_a_time` (`builds_have_at_most_so_many_chains`, `collections_stop_the_world`).
#[path = "sums/play.rs"]
mod play;

use play::{Played, play};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec, Workload};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn model(argument: &str) -> Workload {
    let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
    spec.expand(1, MachineFacts::alike(4)).expect(argument)
}

fn played(argument: &str, allowed_ns: u64) -> Played {
    let played = play(&model(argument), allowed_ns);
    assert!(!played.stuck, "{argument}: {} ns", played.end_ns);
    played
}

fn total(played: &Played) -> u64 {
    played.counted.iter().sum()
}

/// The most that overlap of stretches from when to when.
fn most_at_a_time(stretches: impl Iterator<Item = (u64, u64)>) -> i64 {
    let mut changes: Vec<(u64, i64)> = stretches.flat_map(|(a, b)| [(a, 1), (b, -1)]).collect();
    changes.sort_unstable();
    let sums = changes.iter().scan(0, |sum, (_, change)| {
        *sum += change;
        Some(*sum)
    });
    sums.max().expect("some")
}

/// 97 jobs of 39505 us, 4 of 1000 rounds of 2 x 19752 ns, 8 waits; with any number of tasks.
#[test]
fn aim7_tasks_take_their_costs_side_by_side() {
    let each = 97 * 39_505 * US + 4 * 1000 * 2 * 19_752 + 8 * 1_251_250 * US;
    for tasks in [1, 5] {
        let played = played(&format!("aim7-compute:tasks={tasks}"), 60 * S);
        assert!(played.ended);
        assert_eq!((played.end_ns, total(&played)), (each, 101 * tasks));
    }
}

/// Chains of 40 ms. One slot: one after the other. Four slots: make forks 10 us apart, and each
/// slot goes on with 10 us of make after its chain; the last slot ends 3 x 10 us after the first.
#[test]
fn builds_keep_their_slots_full() {
    let costs = "make=10us,sh=2ms,gcc=3ms,cc1=30ms,as=5ms,head=10ms,link=20ms";
    let one = played(&format!("kbuild:jobs=32,j=1,{costs}"), 60 * S);
    assert!(one.ended);
    assert_eq!(one.end_ns, (10 + 32 * 40 + 20) * MS + 32 * 10 * US);
    let four = played(&format!("kbuild:jobs=32,j=4,{costs}"), 60 * S);
    assert_eq!(four.end_ns, (10 + 8 * 40 + 20) * MS + (8 + 3) * 10 * US);
}

/// At most N chains live at a time, and N do, whatever is drawn; the link is alone at the end.
#[test]
fn builds_have_at_most_so_many_chains() {
    let load = model("kbuild:jobs=60,j=7");
    let played = play(&load, 1000 * S);
    assert!(played.ended);
    let shells = played
        .lives
        .iter()
        .filter(|life| life.0 % 4 == 1 && life.0 <= 240);
    assert_eq!(most_at_a_time(shells.map(|life| (life.1, life.2))), 7);
    let compilers = played.lives.iter().filter(|life| life.0 % 4 == 3);
    assert_eq!(compilers.clone().count(), 60);
    let link = played
        .lives
        .iter()
        .find(|life| load.tasks[life.0].name == "ld");
    let link = link.expect("a link");
    let others = played
        .lives
        .iter()
        .filter(|life| life.0 != link.0 && life.0 != 0);
    assert!(others.map(|life| life.2).max() <= Some(link.1));
    assert_eq!(played.lives.len(), 1 + 4 * 60 + 1, "every program once");
}

/// n loops and their shell: the shell runs 500 us before each.
#[test]
fn loops_never_end() {
    let played = played("busy-loops:n=3", 10 * S);
    assert!(!played.ended);
    let starts: Vec<u64> = played.lives.iter().map(|life| life.1).collect();
    assert_eq!(starts, [0, 500 * US, 1000 * US, 1500 * US]);
    let loops = played.ran.iter().filter(|ran| ran.0 == 1);
    let ran: u64 = loops.map(|ran| ran.2.min(10 * S) - ran.1).sum();
    assert_eq!(ran, 30 * S - 3 * MS);
}

/// Nothing of a warehouse runs while a collector does; a collection is 10 ms and each warehouse
/// loses at most a transaction more while the others stop.
#[test]
fn collections_stop_the_world() {
    let costs = "gc_every=100ms,gc_burst=10ms,warmup=0s";
    let played = played(&format!("specjbb:warehouses=6,{costs}"), S);
    let of = |first: usize, last: usize| {
        let ran = played
            .ran
            .iter()
            .filter(move |ran| (first..=last).contains(&ran.0));
        ran.map(|ran| (ran.1, ran.2)).collect::<Vec<_>>()
    };
    let (warehouses, collectors) = (of(0, 5), of(7, 10));
    let overlap = |a: &(u64, u64), b: &(u64, u64)| a.0 < b.1 && b.0 < a.1;
    for collector in &collectors {
        assert!(
            !warehouses.iter().any(|ran| overlap(ran, collector)),
            "{collector:?}"
        );
    }
    assert_eq!(most_at_a_time(collectors.iter().copied()), 4);
    // Nine periods of 110 to 110.2 ms in 1 s; a transaction is 125 us on average.
    let stopped = 9 * 10 * MS + 9 * 200 * US;
    for done in &played.counted[..6] {
        let (least, most) = ((S - stopped) / (125 * US), (S - 90 * MS) / (125 * US));
        // The mean of 64 draws is within 5 % (three standard errors: 16 us) of 125 us.
        assert!(
            (least * 86 / 100..=most * 116 / 100).contains(done),
            "{done}"
        );
    }
}

/// One client: 20 x 130 us and 5 ms. Of eight none waits longer than a write of the log for its
/// commit, and the log writes for all. In one of 200 rounds two of them meet in a row (32 of 100000
/// each), which costs one of them a transaction or two: 2 % are left for that.
#[test]
fn commits_share_writes_of_the_log() {
    let costs = "statements=20,client=30us,server=100us,log=5ms,warmup=0s,rows=100000";
    let one = played(&format!("oltp:clients=1,{costs}"), S);
    assert_eq!(total(&one), S / (2_600 * US + 5 * MS));
    let eight = total(&played(&format!("oltp:clients=8,{costs}"), S));
    let (least, most) = (8 * total(&one) * 98 / 100, 8 * S / (2_600 * US));
    assert!((least..=most).contains(&eight), "{eight}");
}

/// All transactions write the same four rows: each holds them from its first write to its commit,
/// so they follow each other, and every client gets its turn.
#[test]
fn clients_that_write_the_same_rows_wait_for_each_other() {
    let costs = "statements=20,client=30us,server=100us,log=5ms,warmup=0s,rows=4";
    let played = played(&format!("oltp:clients=8,{costs}"), S);
    // Held: the statements from the first write to the commit, 4 x 130 + 100 us, and the write.
    let most = S / (5 * MS + (4 * 130 + 100) * US) + 1;
    let clients: Vec<u64> = played.counted.iter().skip(1).step_by(2).copied().collect();
    assert!(
        (most * 9 / 10..=most).contains(&total(&played)),
        "{clients:?}"
    );
    assert!(clients.iter().all(|done| *done > 0), "{clients:?}");
}

/// Sums of the steps of docs/rules/workloads.md#other-benchmarks as given.
#[test]
fn the_other_models_take_their_costs() {
    let aim9 = played("aim9:test=10ms,op=1ms,process=2ms,disk=4ms", 60 * S);
    assert!(aim9.ended);
    assert_eq!(aim9.end_ns, (37 * 10 + 8 * 2 * 5 + 6 * 10 + 5 * 5 * 2) * MS);
    assert_eq!(total(&aim9), 37 * 10 + 8 * 2 + 6 * 10 + 5 * 5);
    let fileio = played("sysbench-fileio:threads=4,requests=40,io=5ms,run=20us", S);
    assert_eq!((fileio.end_ns, total(&fileio)), (10 * 5_020 * US, 40));
    let timed = played("sysbench-fileio:threads=1,time=12ms,io=5ms,run=20us", S);
    assert_eq!((timed.end_ns, total(&timed)), (3 * 5_020 * US, 3));
    let aio = played("aiostress:batch=4,submit=10us,reap=5us,io=5ms,warmup=0s", S);
    assert_eq!(total(&aio), S / (5_060 * US) * 4 * 65_536);
    let dbench = "ops=10,data=50%,flush=10%,meta_run=10us,data_run=20us,io=5ms,warmup=0s";
    let blocks = total(&played(&format!("dbench:clients=1,{dbench}"), S)) / 65_536;
    let cycles = S / (5_150 * US);
    assert!((5 * cycles..=5 * cycles + 5).contains(&blocks), "{blocks}");
}

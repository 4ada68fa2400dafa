//! The models of whole benchmarks, each alone, against arithmetic: what a task runs and what it
//! waits for is all that time goes to when the kernel costs nothing. Costs are given in the
//! arguments, without a range, so that nothing is drawn but orders; way out of WFI: 1 us, also for
//! the first task (time zero is at 1 us).
//! Rules: docs/rules/workloads.md; docs/decisions/025.
//!
//! What must stay: the sums are of the arguments given in the test; nothing is drawn but orders.
//! The models are crates/workload/src/models.
//! Tests by part (in crates/engine/src): the models of crates/workload/src/models, each by the test
//! of its name.
//! Helpers, and who fails with them: `alone` (all tests); `counted` (most tests); `ends_at`
//! (`aim7_tasks_scale_with_cpus`, `a_build_with_one_slot_is_the_sum_of_its_chains`,
//! `a_build_scales_with_its_slots`, `requests_wait_side_by_side`); `ran_ns`
//! (`one_aim7_task_takes_its_costs_and_waits`, `aim7_tasks_scale_with_cpus`,
//! `loops_keep_their_cpus_busy`).

use crate::common::*;
use wakeplace_engine::{Ended, RunReport};
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

/// A model on equal CPUs with one cache; kernel costs off.
fn alone(argument: &str, cpus: u32, duration_ns: u64) -> RunReport {
    let spec = Spec::parse(argument, &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let load = spec.expand(1, MachineFacts::alike(cpus));
    let load = load.unwrap_or_else(|e| panic!("{e}"));
    let platform = Board::symmetric(cpus).platform();
    simulate(&platform, &performance(), &load, &all_off(duration_ns)).0
}

/// The same for a model that comes to an end: when that is.
fn ends_at(argument: &str, cpus: u32) -> u64 {
    let report = alone(argument, cpus, 60 * S);
    assert_eq!(report.ended, Ended::AllTasksExited, "{argument}");
    report.end_ns
}

fn counted(report: &RunReport) -> u64 {
    report.tasks.iter().map(|task| task.counted).sum()
}

fn ran_ns(report: &RunReport) -> u64 {
    report.tasks.iter().map(|task| task.run_ns).sum()
}

/// CPU time of one `aim7-compute` task by default, ns: 97 jobs of 39505 us; 4 jobs of 1000 round
/// trips with 19752 ns at each end.
const AIM7_CPU_NS: u64 = 97 * 39_505 * US + 4 * 1000 * 2 * 19_752;

/// Goal: a single task takes what its jobs cost and wait (docs/rules/workloads.md#aim7: 3.99 s and
/// 14.00 s, on which the costs are calibrated). Method: one CPU, where nothing overlaps; eight
/// waits for the disk, each with a way out of WFI.
#[test]
fn one_aim7_task_takes_its_costs_and_waits() {
    let report = alone("aim7-compute", 1, 60 * S);
    assert_eq!(report.ended, Ended::AllTasksExited);
    let waits = 8 * (1_251_250 + 1) * US;
    assert_eq!(report.end_ns, US + AIM7_CPU_NS + waits);
    assert_eq!((counted(&report), ran_ns(&report)), (101, AIM7_CPU_NS));
}

/// Goal: as many tasks as CPUs take little longer than one, and CPU time is theirs alone. Method:
/// nothing waits for the disk; the least time is one task's; partners share CPUs with other tasks
/// for 4 jobs of 101, and balancing takes some ticks each time.
#[test]
fn aim7_tasks_scale_with_cpus() {
    let report = alone("aim7-compute:tasks=4,disk_wait=0s", 4, 60 * S);
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!((counted(&report), ran_ns(&report)), (404, 4 * AIM7_CPU_NS));
    let least = US + AIM7_CPU_NS;
    assert!(
        (least..least * 5 / 4).contains(&report.end_ns),
        "{}",
        report.end_ns
    );
    // On one CPU it is the sum.
    let end = ends_at("aim7-compute:tasks=4,disk_wait=0s", 1);
    assert_eq!(end, US + 4 * AIM7_CPU_NS);
}

const CHAIN: &str = "make=1ms,sh=2ms,gcc=3ms,cc1=30ms,as=5ms,head=10ms,link=20ms";

/// Goal: with one slot a build takes the head, its chains one after the other, and the link; on one
/// CPU any number of slots takes as long, since nothing waits but for children.
#[test]
fn a_build_with_one_slot_is_the_sum_of_its_chains() {
    let sum = (10 + 5 * (1 + 2 + 3 + 30 + 5) + 20) * MS;
    for slots in [1, 4] {
        let end = ends_at(&format!("kbuild:jobs=5,j={slots},{CHAIN}"), 1);
        assert_eq!(end, US + sum, "{slots} slots");
    }
    // On four CPUs each fork, exec and end may cost a way out of WFI: at most 4 forks, 4 execs and
    // 4 ends per job and for the link, 1 us each.
    let end = ends_at(&format!("kbuild:jobs=5,j=1,{CHAIN}"), 4);
    assert!((US + sum..=US + sum + 6 * 12 * US).contains(&end), "{end}");
}

/// Goal: slots scale a build but for its head and its link. Method: 32 chains of 40 ms (and 10 us
/// of make each) in 4 slots on 4 CPUs: at the very best 8 at a time of 40 ms; a fifth more is what
/// late balancing may cost.
#[test]
fn a_build_scales_with_its_slots() {
    let costs = "make=10us,sh=2ms,gcc=3ms,cc1=30ms,as=5ms,head=10ms,link=20ms";
    let end = ends_at(&format!("kbuild:jobs=32,j=4,{costs}"), 4);
    let serial = 30 * MS;
    let best = serial + 32 * (40 * MS + 10 * US) / 4;
    assert!((best..best * 6 / 5).contains(&end), "{end} of {best}");
    let one = ends_at(&format!("kbuild:jobs=32,j=1,{costs}"), 4);
    let all = serial + 32 * (40 * MS + 10 * US);
    assert!((all..all + MS).contains(&one), "{one} of {all}");
}

/// Goal: n loops keep n CPUs busy. Method: the shell forks one after each 500 us; it and a loop
/// fill one CPU but for the 1 us until the shell is made, and 1 us each for the shell and the loop
/// where they wake a CPU. Four loops on
/// four CPUs: each CPU is idle until its loop is there (at most 2 ms), and a loop that shares the
/// shell's or another's CPU at first is pulled within a few ticks of 4 ms.
#[test]
fn loops_keep_their_cpus_busy() {
    let one = alone("busy-loops:n=1", 4, S);
    assert_eq!(one.ended, Ended::Duration);
    let idle = one.end_ns - ran_ns(&one);
    assert!((US..=3 * US).contains(&idle), "{idle}");
    let four = alone("busy-loops:n=4", 4, S);
    let idle = 4 * four.end_ns - ran_ns(&four);
    assert!(idle <= 40 * MS, "{idle}");
}

/// Goal: warehouses run all the time but during collections. Method: 100 us per transaction; a
/// collection 100 ms after the end of the last one takes, on one CPU, the 10 ms of its collector;
/// what is left of a transaction until the stop is done before: periods of 110 to 110.1 ms, nine in
/// 1 s.
#[test]
fn warehouses_stop_for_collections_only() {
    let costs = "transaction=100us,gc_every=100ms,gc_burst=10ms,warmup=0s";
    let report = alone(&format!("specjbb:warehouses=1,{costs}"), 1, S);
    let all = (S - US - 9 * 10 * MS) / (100 * US);
    let done = counted(&report);
    assert!(done.abs_diff(all) <= 1, "{done} of {all}");
    // Four warehouses, four collectors, four CPUs: as much each. Two collectors on one CPU would
    // make a collection 20 ms; a stop that takes some ms leaves only eight collections.
    let report = alone(&format!("specjbb:warehouses=4,{costs}"), 4, S);
    let done = counted(&report);
    let least = 4 * (S - 9 * 20 * MS) / (100 * US) * 95 / 100;
    let most = 4 * (S - 8 * 10 * MS) / (100 * US);
    assert!((least..=most).contains(&done), "{done}");
    // No collection in time: all of it.
    let costs = "transaction=100us,gc_every=10s,warmup=0s";
    let report = alone(&format!("specjbb:warehouses=1,{costs}"), 1, S);
    assert_eq!(counted(&report), (S - US) / (100 * US));
}

/// Goal: one client's transaction is its statements and one write of the log; and clients share
/// writes. Method: 20 statements of 30 and 100 us, 5 ms and one way out of WFI. Eight clients on
/// eight CPUs would do 200 transactions per second if each write were one commit; a commit waits
/// for one write at most, so that none takes longer than the single one by much.
#[test]
fn transactions_are_statements_and_a_shared_commit() {
    let costs = "statements=20,client=30us,server=100us,log=5ms,warmup=0s";
    let one = alone(&format!("oltp:clients=1,{costs}"), 1, S);
    let transaction = 20 * (30 + 100) * US + 5 * MS + US;
    assert_eq!(counted(&one), (S - US) / transaction);
    let eight = counted(&alone(&format!("oltp:clients=8,{costs}"), 8, S));
    let (least, most) = (8 * S / (transaction * 5 / 4), 8 * S / (2_600 * US));
    assert!((least..=most).contains(&eight), "{eight}");
}

/// Goal: a client of dbench repeats its cycle. Method: 5 operations of 20 us on data, 5 of 10 us of
/// which one waits 5 ms and leaves WFI; 5 blocks of 64 KiB per cycle, at most 5 in the last one.
#[test]
fn files_are_written_cycle_by_cycle() {
    let costs = "ops=10,data=50%,flush=10%,meta_run=10us,data_run=20us,io=5ms,warmup=0s";
    let report = alone(&format!("dbench:clients=1,{costs}"), 1, S);
    let cycle = (5 * 20 + 5 * 10 + 1) * US + 5 * MS;
    let cycles = (S - US) / cycle;
    let blocks = counted(&report) / 65_536;
    assert!((5 * cycles..=5 * cycles + 5).contains(&blocks), "{blocks}");
}

/// Goal: the 56 tests take their length each, whoever does the work. Method: 37 tests of 10 x 1 ms,
/// 8 of 2 x (1 + 4 ms and a way out of WFI), 6 of 10 round trips of 1 ms, 5 of 5 children of 2 ms.
#[test]
fn small_tests_run_one_after_the_other() {
    let report = alone("aim9:test=10ms,op=1ms,process=2ms,disk=4ms", 1, 60 * S);
    assert_eq!(report.ended, Ended::AllTasksExited);
    let disk = 8 * 2 * (5 * MS + US);
    assert_eq!(report.end_ns, US + (37 * 10 + 6 * 10 + 5 * 10) * MS + disk);
    assert_eq!(counted(&report), 37 * 10 + 8 * 2 + 6 * 10 + 5 * 5);
}

/// Goal: requests to the disk overlap, their CPU time does not; limits hold as sysbench's do.
/// Method: 5 ms, 1 us out of WFI, 20 us. Four threads on one CPU wait for each other once, 60 us,
/// and are apart from then on.
#[test]
fn requests_wait_side_by_side() {
    let request = 5 * MS + US + 20 * US;
    let costs = "io=5ms,run=20us";
    let one = format!("sysbench-fileio:threads=1,requests=10,{costs}");
    assert_eq!(ends_at(&one, 1), US + 10 * request);
    let four = format!("sysbench-fileio:threads=4,requests=40,{costs}");
    let end = ends_at(&four, 1);
    let least = US + 10 * (5 * MS + 20 * US);
    assert!(
        (least..=US + 10 * request + 60 * US).contains(&end),
        "{end}"
    );
    // Requests begin at 0, 5.021 and 10.042 ms; the one that is begun is not cut.
    let timed = alone(
        &format!("sysbench-fileio:threads=1,time=12ms,{costs}"),
        1,
        S,
    );
    assert_eq!((counted(&timed), timed.end_ns), (3, US + 3 * request));
}

/// Goal: a batch is submitted, waited for once, and taken. Method: 4 x 10 us, 5 ms, a way out of
/// WFI, 4 x 5 us.
#[test]
fn batches_are_waited_for_as_one() {
    let costs = "batch=4,submit=10us,reap=5us,io=5ms,warmup=0s";
    let report = alone(&format!("aiostress:{costs}"), 1, S);
    let batch = 5 * MS + (4 * 10 + 1 + 4 * 5) * US;
    assert_eq!(counted(&report), (S - US) / batch * 4 * 65_536);
}

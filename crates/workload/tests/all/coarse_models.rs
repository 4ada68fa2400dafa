//! The coarse models: `specjbb`, `oltp`, `dbench`, `aim9`, `sysbench-fileio`, `aiostress`.
//! Rules: docs/rules/workloads.md#other-benchmarks, docs/rules/workloads.md#tbench-dbench;
//! docs/decisions/025.
//!
//! What must stay: ranges and shares are the page's; what is drawn is bounded by its range and
//! mean.
//! Tests by part (in crates/workload/src): models/aim9.rs:
//! `coarse_models_say_so_and_draw_by_the_seed` (nothing is drawn),
//! `aim9_has_56_tests_in_one_process` (`tests`, `test`, `ops`), `wrong_values_say_their_range`
//! (`load`); models/aiostress.rs: `coarse_models_say_so_and_draw_by_the_seed` (draws),
//! `aiostress_waits_for_the_slowest_of_a_batch` (`batch`, `expand`), `wrong_values_say_their_range`
//! (`load`); models/builder.rs: `specjbb_stops_its_warehouses` (`handed_mutex`, `barrier`),
//! `oltp_transactions_are_statements` (`mutexes`), `oltp_writers_of_the_log_release_all`
//! (`condition`); models/specjbb.rs: `specjbb_stops_its_warehouses` (`warehouse`, `vm`,
//! `collector`); models/oltp.rs: `oltp_transactions_are_statements` (`client`, `server`, `commit`),
//! `oltp_writers_of_the_log_release_all` (`log_writer`); models/dbench.rs:
//! `dbench_cycles_have_their_shares` (`counts`, `client`); models/sysbench_fileio.rs:
//! `fileio_threads_wait_and_run` (`thread`, `expand`); models/tasks.rs:
//! `fileio_threads_wait_and_run` (`endless`).
//! Helpers, and who fails with them: `between`, `ios` (most tests); `stretches`
//! (`specjbb_stops_its_warehouses`, `oltp_transactions_are_statements`,
//! `fileio_threads_wait_and_run`); `counted` (`specjbb_stops_its_warehouses`,
//! `oltp_transactions_are_statements`, `aim9_has_56_tests_in_one_process`,
//! `fileio_threads_wait_and_run`); `commits` (`oltp_transactions_are_statements`).
use crate::sums;

use sums::{cpu_ns, how_many, io_ns, ok, refused, same_seed_same_scripts, stall_ns, steps};
use wakeplace_workload::{
    Event, FigureOf, Loops, Since, Spec, Statistic, SysbenchBins, TaskScript,
};

const COARSE: [&str; 6] = [
    "specjbb",
    "oltp",
    "dbench",
    "aim9",
    "sysbench-fileio",
    "aiostress",
];

fn between(values: impl Iterator<Item = u64>, least: u64, most: u64) {
    let values: Vec<u64> = values.collect();
    assert!(!values.is_empty());
    assert!(
        values.iter().all(|ns| (least..=most).contains(ns)),
        "{values:?}"
    );
    assert!(values.iter().any(|ns| *ns != values[0]), "drawn");
}

/// CPU time between two steps of a kind.
fn stretches(task: &TaskScript, ends: impl Fn(&Event) -> bool) -> Vec<u64> {
    let (mut sums, mut sum) = (Vec::new(), 0);
    for event in steps(task) {
        match event {
            Event::Run { work_ns } => sum += work_ns,
            Event::Stall { cpu_ns } => sum += cpu_ns,
            _ => {}
        }
        if ends(event) {
            sums.push(std::mem::take(&mut sum));
        }
    }
    sums
}

fn ios(task: &TaskScript) -> impl Iterator<Item = u64> {
    steps(task).filter_map(|event| match event {
        Event::Io { duration_ns } => Some(*duration_ns),
        _ => None,
    })
}

fn counted(event: &Event) -> bool {
    matches!(event, Event::Count { .. })
}

#[test]
fn coarse_models_say_so_and_draw_by_the_seed() {
    for name in COARSE {
        let info = Spec::catalogue().find(|info| info.name == name);
        assert!(info.expect(name).summary.starts_with("coarse: "));
        same_seed_same_scripts(name, name != "aim9");
    }
    for (argument, first, more) in [
        ("specjbb:warehouses=", 3, 3),
        ("oltp:clients=", 3, 7),
        ("dbench:clients=", 3, 3),
        ("sysbench-fileio:threads=", 3, 3),
    ] {
        let (few, many) = (
            ok(&format!("{argument}{first}")),
            ok(&format!("{argument}9")),
        );
        assert_eq!(few.tasks[..more], many.tasks[..more], "{argument}");
    }
}

/// docs/rules/workloads.md#other-benchmarks: a never-sleeping thread per warehouse, 50 to 200 us;
/// collectors = CPUs that run with all workers stopped.
#[test]
fn specjbb_stops_its_warehouses() {
    let workload = ok("specjbb:warehouses=3,gc_burst=2ms");
    // Three warehouses, the JVM's thread, one collector for each of four CPUs.
    assert_eq!(workload.tasks.len(), 3 + 1 + 4);
    for (index, task) in workload.tasks[..3].iter().enumerate() {
        between(stretches(task, counted).into_iter(), 50_000, 200_000);
        assert_eq!(task.loops, Loops::Forever);
        let sleeps = |e: &Event| matches!(e, Event::Sleep { .. } | Event::Io { .. });
        assert_eq!(how_many(task, sleeps), 0);
        let own = |e: &Event| matches!(e, Event::Lock { mutex, .. } if *mutex == index as u32);
        assert_eq!(how_many(task, own), how_many(task, counted));
    }
    // Nothing is run between taking all mutexes and giving them back, but by the collectors.
    let vm = &workload.tasks[3];
    let locks = |e: &Event| matches!(e, Event::Lock { .. });
    let unlocks = |e: &Event| matches!(e, Event::Unlock { .. });
    assert_eq!(
        (how_many(vm, locks), how_many(vm, unlocks), cpu_ns(vm)),
        (3, 3, 0)
    );
    assert!(workload.shared.mutexes.iter().all(|mutex| mutex.inherit));
    assert_eq!(workload.shared.barriers.len(), 2);
    assert!(
        workload
            .shared
            .barriers
            .iter()
            .all(|barrier| barrier.parties == 5)
    );
    assert!(
        workload.tasks[4..]
            .iter()
            .all(|task| cpu_ns(task) == 2_000_000)
    );
    let third = cpu_ns(&workload.tasks[0]) * 3 / 10;
    // 64 draws, each rounded down.
    assert!(third - stall_ns(&workload.tasks[0]) <= 64);
}

/// docs/rules/workloads.md#other-benchmarks: 18 to 20 statements; client 20 to 50 us, server 50 to
/// 300 us, log 1 to 10 ms.
#[test]
fn oltp_transactions_are_statements() {
    let workload = ok("oltp:clients=2,rows=50");
    assert_eq!(workload.tasks.len(), 1 + 2 * 2);
    assert_eq!(workload.shared.channels.len(), 4);
    assert_eq!(workload.shared.mutexes.len(), 51, "the log's and 50 rows'");
    between(ios(&workload.tasks[0]), 1_000_000, 10_000_000);
    for pair in workload.tasks[1..].chunks(2) {
        let [client, server] = pair else {
            panic!("a client and its server");
        };
        let post = |e: &Event| matches!(e, Event::Post { sync: true, .. });
        between(stretches(client, post).into_iter(), 20_000, 50_000);
        between(stretches(server, post).into_iter(), 50_000, 300_000);
        assert_eq!(how_many(client, post), how_many(server, post));
        assert_eq!(how_many(client, counted), 8);
        assert_eq!(how_many(client, |e| *e == Event::Mark), 8);
        // Statements of each transaction.
        let mut statements = vec![0];
        for event in steps(client) {
            match event {
                Event::Post { .. } => *statements.last_mut().expect("begun") += 1,
                Event::Count { .. } => statements.push(0),
                _ => {}
            }
        }
        assert_eq!(statements.pop(), Some(0));
        between(statements.into_iter(), 18, 20);
        commits(server);
    }
    let series = &workload.series[0];
    assert_eq!(
        series.statistics,
        [Statistic::Mean, Statistic::Sysbench95(SysbenchBins::V0_4)]
    );
}

/// Rows are locked in ascending order, held to the commit, and given back; the log's mutex is
/// taken and given back around the wait.
fn commits(server: &TaskScript) {
    let (mut held, mut transactions): (Vec<u32>, u32) = (Vec::new(), 0);
    for event in steps(server) {
        match *event {
            Event::Lock { mutex, .. } => {
                let ascending = held.last().is_none_or(|last| *last < mutex);
                assert!(ascending || mutex == 0, "{held:?} then {mutex}");
                held.push(mutex);
            }
            Event::Await { mutex, .. } => {
                assert_eq!(mutex, Some(0));
                assert_eq!(held.len(), 5, "four rows and the log");
                assert_eq!(held[4], 0);
                transactions += 1;
            }
            Event::Unlock { mutex, .. } => held.retain(|other| *other != mutex),
            _ => {}
        }
    }
    assert_eq!((held, transactions), (vec![], 8));
}

#[test]
fn oltp_writers_of_the_log_release_all() {
    let writer = &ok("oltp").tasks[0];
    assert_eq!(writer.phases[1].loops, Loops::Forever);
    let all = |e: &Event| {
        matches!(
            e,
            Event::Signal {
                condition: 1,
                all: true
            }
        )
    };
    assert_eq!(how_many(writer, all), ios(writer).count());
}

/// docs/rules/workloads.md#tbench-dbench: operations on files, 64 KiB blocks, flushes that wait for
/// the disk.
#[test]
fn dbench_cycles_have_their_shares() {
    let workload = ok("dbench:clients=2,ops=200,data=25%,flush=5%");
    for task in &workload.tasks {
        let data = |e: &Event| matches!(e, Event::Count { units: 65_536 });
        assert_eq!((how_many(task, data), ios(task).count()), (50, 10));
        between(ios(task), 5_000_000, 10_000_000);
        assert_eq!(task.loops, Loops::Forever);
    }
    let count = workload.count.expect("counts bytes");
    let (units_each, per_ns) = (1_000_000, 1_000_000_000);
    assert_eq!(count.figures[0].of, FigureOf::Rate { units_each, per_ns });
}

/// docs/rules/workloads.md#other-benchmarks: 56 tests in one process, children one at a time.
#[test]
fn aim9_has_56_tests_in_one_process() {
    let workload = ok("aim9:test=10ms,op=1ms,process=2ms,disk=4ms");
    let process = &workload.tasks[0];
    let tests = process.phases.iter().filter(|phase| phase.name != "fork");
    let tests: Vec<_> = tests.collect();
    assert_eq!(tests.len(), 56);
    assert!(
        tests
            .iter()
            .all(|phase| phase.events.last().is_some_and(counted))
    );
    let started: Vec<_> = workload
        .tasks
        .iter()
        .filter(|t| t.forks.is_none())
        .collect();
    assert_eq!(started.len(), 1);
    // A pipe test has one partner; a test of children one for each of 10 ms / 2 ms operations.
    let forks = |index: u32| {
        let of = |e: &Event| *e == Event::Fork { task: index };
        (
            how_many(process, of) as u64,
            workload.tasks[index as usize].forks,
        )
    };
    assert_eq!(forks(1), (6, Some(6)));
    assert_eq!(forks(2), (5, Some(5)));
    assert_eq!(forks(3), (20, Some(20)));
    assert_eq!(workload.tasks[3].phases[0].events[0], Event::Exec);
    // 28 + 9 tests of 10 ms, 8 of two operations (1 ms and 4 ms of disk), 6 of half of 10 ms.
    assert_eq!(cpu_ns(process), (37 * 10 + 8 * 2 + 6 * 5) * 1_000_000);
    assert_eq!(io_ns(process), 8 * 2 * 4_000_000);
    // One child at a time: it is waited for before the next.
    let mut alive = 0;
    for event in steps(process) {
        match event {
            Event::Fork { task: 2 | 3 } => alive += 1,
            Event::Wait { channel: 2 } => alive -= 1,
            _ => {}
        }
        assert!((0..=1).contains(&alive));
    }
}

/// docs/rules/workloads.md#other-benchmarks: {block 5 to 10 ms, run 10 to 50 us};
/// docs/rules/workloads.md#sysbench: the loop of sysbench.
#[test]
fn fileio_threads_wait_and_run() {
    let workload = ok("sysbench-fileio:threads=3,requests=77,time=20s");
    assert_eq!(workload.tasks.len(), 3);
    assert_eq!(workload.shared.counters[0].limit, Some(77));
    for task in &workload.tasks {
        between(ios(task), 5_000_000, 10_000_000);
        between(stretches(task, counted).into_iter(), 10_000, 50_000);
        let since_start_ns = 20_000_000_000;
        let events = &task.phases[0].events[..3];
        let begin = [
            Event::ExitAfter { since_start_ns },
            Event::Claim { counter: 0 },
            Event::Mark,
        ];
        assert_eq!(events, begin);
        let since = Since::Mark;
        let sample = |e: &Event| *e == Event::Sample { series: 0, since };
        assert_eq!(how_many(task, sample), ios(task).count());
    }
    let figures = workload.count.expect("counts requests").figures;
    let names: Vec<_> = figures.iter().map(|figure| figure.metric).collect();
    assert_eq!(names, ["events_total", "throughput_per_s"]);
}

#[test]
fn aiostress_waits_for_the_slowest_of_a_batch() {
    let workload = ok("aiostress:batch=4,submit=10us,reap=5us,io=5ms-10ms");
    let [task] = &workload.tasks[..] else {
        panic!("one thread");
    };
    between(ios(task), 5_000_000, 10_000_000);
    // The greatest of four: mean 5 + 4/5 * 5 = 9 ms, standard deviation 0.82 ms; five standard
    // errors of 64.
    let mean = ios(task).sum::<u64>() / ios(task).count() as u64;
    assert!(mean.abs_diff(9_000_000) < 510_000, "{mean}");
    let batches = ios(task).count() as u64;
    assert_eq!(cpu_ns(task), batches * 4 * 15_000);
    let units = |e: &Event| *e == Event::Count { units: 4 * 65_536 };
    assert_eq!(how_many(task, units) as u64, batches);
}

#[test]
fn wrong_values_say_their_range() {
    refused(&[
        ("specjbb:warehouses=0", "a number from 1 to 10000"),
        ("specjbb:transaction=1us-2s", "from 1us to 1s"),
        ("specjbb:gc_every=0s", "a time from 1ms to 1000s"),
        ("specjbb:gc_burst=0s", "a time from 1us to 10s"),
        ("specjbb:warmup=1001s", "a time from 0ns to 1000s"),
        ("oltp:clients=2001", "a number from 1 to 2000"),
        (
            "oltp:statements=5-20",
            "a number, or two such as 18-20, from 6 to 100",
        ),
        ("oltp:statements=20-18", "from 6 to 100"),
        ("oltp:rows=3", "a number from 4 to 100000"),
        ("oltp:log=2s", "from 1us to 1s"),
        ("dbench:clients=0", "a number from 1 to 10000"),
        ("dbench:ops=9", "a number from 10 to 10000"),
        ("dbench:data=60%,flush=50%", "at most 100% together"),
        ("dbench:clients=10000,ops=10000", "at most 2000000"),
        ("aim9:test=11s", "a time from 1ms to 10s"),
        ("aim9:test=10s,process=100us", "at most 100000"),
        ("sysbench-fileio:threads=0", "a number from 1 to 10000"),
        ("sysbench-fileio:io=11s", "from 1us to 10s"),
        (
            "sysbench-fileio:requests=0",
            "a number from 1 to 1000000000",
        ),
        ("sysbench-fileio:time=1us", "a time from 1ms to 1000s"),
        ("aiostress:batch=1025", "a number from 1 to 1024"),
        ("specjb", "did you mean `specjbb`?"),
    ]);
}

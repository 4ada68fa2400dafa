//! The `schbench` and `tbench` models: what their scripts are made of
//! (docs/rules/workloads.md#schbench, docs/rules/workloads.md#tbench-dbench).
//!
//! What must stay: numbers are the programs' own as the pages have them; draws depend on the seed
//! alone.
//! Tests by part (in crates/workload/src): models/schbench.rs:
//! `old_schbench_wakes_all_workers_at_once` (`old_group`, `series`, `sampled`),
//! `old_schbench_sleeps_are_drawn` (draws), `current_schbench_does_requests_under_a_lock_per_cpu`
//! (`current_group`, `add_workers`); script/event.rs:
//! `current_schbench_does_requests_under_a_lock_per_cpu` (`Pick::Cpu`); models/tbench.rs:
//! `tbench_clients_are_in_lock_step_with_their_servers` (`pair`), `tbench_costs_follow_the_bytes`
//! (`work`, `expand`); models/measures.rs: `tbench_costs_follow_the_bytes` (`mb_per_second`).
//! Helpers, and who fails with them: `expand`, `steps` (all tests); `ok`
//! (`old_schbench_wakes_all_workers_at_once`,
//! `current_schbench_does_requests_under_a_lock_per_cpu`,
//! `tbench_clients_are_in_lock_step_with_their_servers`, `tbench_costs_follow_the_bytes`);
//! `permilles` (`old_schbench_wakes_all_workers_at_once`,
//! `current_schbench_does_requests_under_a_lock_per_cpu`).
use wakeplace_workload::{
    Event, FigureOf, LoadOptions, MachineFacts, Pick, Series, Since, Spec, Statistic, Workload,
};

fn expand(argument: &str, seed: u64) -> Workload {
    let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
    let machine = MachineFacts::alike(4);
    spec.expand(seed, machine).expect(argument)
}

fn ok(argument: &str) -> Workload {
    expand(argument, 1)
}

fn steps(workload: &Workload, task: usize) -> &[Event] {
    &workload.tasks[task].phases[0].events
}

fn permilles(series: &Series) -> Vec<u16> {
    let of = |statistic: &Statistic| match statistic {
        Statistic::Permille(permille) => *permille,
        other => panic!("{other:?}"),
    };
    series.statistics.iter().map(of).collect()
}

/// Source: docs/rules/workloads.md#schbench, first paragraph: 2 x 16, 30 ms three times, 30 s,
/// warm-up 5 s.
#[test]
fn old_schbench_wakes_all_workers_at_once() {
    let workload = ok("schbench");
    assert_eq!(workload.tasks.len(), 2 * (1 + 16));
    assert_eq!(workload.duration_ns, Some(30_000_000_000));
    let (condition, mutex) = (2, None);
    let spin = Event::Runtime {
        wall_ns: 30_000_000,
    };
    let round = &steps(&workload, 17)[..3];
    let all = true;
    let wait = Event::Await {
        condition: 3,
        mutex,
    };
    assert_eq!(*round, [Event::Signal { condition, all }, wait, spin]);
    let worker = [
        Event::Signal {
            condition: 3,
            all: false,
        },
        Event::Await { condition, mutex },
        spin,
        Event::Sample {
            series: 0,
            since: Since::Wake,
        },
    ];
    assert_eq!(*steps(&workload, 33), worker);
    let series = &workload.series[0];
    assert_eq!(permilles(series), [500, 750, 900, 950, 990, 995, 999]);
    let (less, floor) = (series.less_ns, series.floor_ns);
    assert_eq!(
        (less, floor, series.warm_up_ns),
        (30_000_000, 1_000, 5_000_000_000)
    );
    assert_eq!(workload.count, None);
}

/// Sleeps are 30 ms and up to a quarter more, one for each round that fits into 30 s (60 ms at
/// least: 500, and the one that the end cuts), each message thread its own.
#[test]
fn old_schbench_sleeps_are_drawn() {
    let sleeps = |seed, task| -> Vec<u64> {
        let workload = expand("schbench", seed);
        let sleep = |e: &Event| match e {
            Event::Sleep { duration_ns } => Some(*duration_ns),
            _ => None,
        };
        steps(&workload, task).iter().filter_map(sleep).collect()
    };
    let drawn = sleeps(1, 0);
    assert_eq!(drawn.len(), 501);
    assert!(drawn.iter().all(|ns| (30_000_000..37_500_000).contains(ns)));
    // Uniform: mean 33.75 ms, standard deviation of the mean 7.5 / sqrt(12 x 501) = 0.097 ms; five.
    let mean = drawn.iter().sum::<u64>() / 501;
    assert!(mean.abs_diff(33_750_000) < 485_000, "{mean}");
    assert_eq!(drawn, sleeps(1, 0));
    assert_ne!(drawn, sleeps(2, 0));
    assert_ne!(drawn, sleeps(1, 17));
}

/// Source: docs/rules/workloads.md#schbench, second paragraph: one message thread, a worker per
/// CPU, 100 us, work under the CPU's lock; percentiles 20, 50, 90, 99, 99.9.
#[test]
fn current_schbench_does_requests_under_a_lock_per_cpu() {
    let workload = ok("schbench:version=current,time=10s,warmup=1s");
    assert_eq!(
        (workload.tasks.len(), workload.shared.mutexes.len()),
        (5, 4)
    );
    let passes_on = [
        Event::Wait { channel: 0 },
        Event::Post {
            channel: 1,
            sync: false,
        },
    ];
    assert_eq!(*steps(&workload, 0), passes_on);
    let (mutex, pick) = (0, Pick::Cpu { of: 4 });
    let sample = |series, since| Event::Sample { series, since };
    let request = [
        Event::Post {
            channel: 0,
            sync: false,
        },
        Event::Wait { channel: 1 },
        sample(0, Since::Wake),
        Event::Mark,
        Event::Sleep {
            duration_ns: 100_000,
        },
        Event::Lock { mutex, pick },
        // 5 products of 104 x 104 matrices, 1 ns per step: 5 x 1124864.
        Event::Run { work_ns: 5_624_320 },
        Event::Unlock { mutex, pick },
        sample(1, Since::Mark),
        Event::Count { units: 1 },
    ];
    assert_eq!(*steps(&workload, 4), request);
    let names: Vec<&str> = workload.series.iter().map(|s| &s.name[..]).collect();
    assert_eq!(names, ["latency", "request_latency"]);
    for series in &workload.series {
        assert_eq!(permilles(series), [200, 500, 900, 990, 999]);
        assert_eq!((series.less_ns, series.warm_up_ns), (0, 1_000_000_000));
    }
    let more = ok("schbench:version=current,messages=3,workers=5");
    assert_eq!(more.tasks.len(), 3 * 6);
}

/// Source: docs/rules/workloads.md#tbench-dbench: strict lock step, one pair per client, reads and
/// writes count.
#[test]
fn tbench_clients_are_in_lock_step_with_their_servers() {
    let workload = ok("tbench:clients=3,run=5us,per_kib=1024ns");
    assert_eq!(
        (workload.tasks.len(), workload.shared.channels.len()),
        (6, 6)
    );
    let (asks, answers) = (steps(&workload, 4), steps(&workload, 5));
    let sync = true;
    let mut answers = answers.chunks(3);
    let (mut operations, mut bytes) = (0, 0);
    for ask in asks.split(|e| matches!(e, Event::Wait { channel: 5 })) {
        // What a reply was worth is said after it.
        let (counts, ask) = match ask {
            [Event::Count { units }, rest @ ..] => (*units, rest),
            rest => (0, rest),
        };
        bytes += counts;
        let [Event::Run { work_ns }, post] = *ask else {
            assert!(ask.is_empty(), "{ask:?}");
            break;
        };
        assert_eq!(post, Event::Post { channel: 4, sync });
        let answer = answers.next().expect("as many answers");
        let reply = Event::Post { channel: 5, sync };
        let run = Event::Run { work_ns };
        assert_eq!(*answer, [Event::Wait { channel: 4 }, run, reply]);
        operations += 1;
    }
    assert_eq!((operations, answers.next()), (400, None));
    // 400 x 35.7 % x 15194 bytes, rounded to whole operations of at most 64 KiB.
    assert!(bytes.abs_diff(2_170_000) <= 131_072, "{bytes}");
    assert_eq!(steps(&workload, 0).len(), asks.len(), "all replay the same");
}

/// A cost is 5 us and 1 ns per byte here; a write of 2048 bytes is 2107 out and 55 back.
#[test]
fn tbench_costs_follow_the_bytes() {
    let workload = ok("tbench:run=5us,per_kib=1024ns");
    let asks = steps(&workload, 0);
    let costs: Vec<u64> = asks
        .iter()
        .filter_map(|e| match e {
            Event::Run { work_ns } => Some(*work_ns),
            _ => None,
        })
        .collect();
    for expected in [5_000 + 2_107 + 55, 5_000 + 59 + 2_107, 5_000 + 111 + 69] {
        assert!(costs.contains(&expected), "{expected}");
    }
    let count = workload.count.expect("bytes");
    assert_eq!(count.warm_up_ns, 2_000_000_000, "a fifth of 10 s");
    assert_eq!(count.figures[0].metric, "throughput_mb_per_s");
    let (units_each, per_ns) = (1_000_000, 1_000_000_000);
    assert_eq!(count.figures[0].of, FigureOf::Rate { units_each, per_ns });
    let own = ok("tbench:warmup=0s,time=1s");
    assert_eq!(own.count.expect("bytes").warm_up_ns, 0);
    assert_eq!(own.duration_ns, Some(1_000_000_000));
    assert_eq!(expand("tbench", 3).tasks, expand("tbench", 3).tasks);
    assert_ne!(expand("tbench", 3).tasks, expand("tbench", 4).tasks);
}

//! The models of benchmarks: what their scripts are made of, against the benchmarks' own numbers
//! (`workloads` is the page of their semantics; numbers of others are derived beside them).
//! Rules: docs/rules/workloads.md#messaging, docs/rules/workloads.md#sysbench,
//! docs/rules/workloads.md#cyclictest, docs/rules/workloads.md#netperf.
//!
//! What must stay: totals are the benchmarks' own, named at each test; a draw depends on the seed
//! alone.
//! Tests by part (in crates/workload/src): models/messaging.rs:
//! `messaging_has_the_benchmarks_totals` (`expand`),
//! `messaging_creates_receivers_first_and_writes_to_all_in_turn` (`group`, `task`),
//! `messaging_costs_depend_on_channel_and_address_space` (`usual_work_ns`); models/builder.rs:
//! `messaging_channels_are_as_large_as_the_kernels` (`limited_channel`),
//! `a_sysbench_cpu_event_is_claimed_timed_and_counted` (`mutex`, `counter`),
//! `sysbench_threads_begin_together_at_a_drawn_time` (`start`),
//! `cyclictest_threads_have_their_intervals` (`timer`, `duration`); models/sysbench.rs:
//! `sysbench_versions_have_their_own_limits` (`read`); models/sysbench_threads.rs:
//! `a_sysbench_threads_event_keeps_the_mutex_of_its_number` (`expand`); models/measures.rs:
//! `netperf_pairs_take_turns` (`rate`, `per_second`).
//! Helpers, and who fails with them: `ok`, `steps`, `run` (most tests); `expand` (all tests);
//! `times` (`messaging_has_the_benchmarks_totals`,
//! `a_sysbench_threads_event_keeps_the_mutex_of_its_number`); `total`
//! (`messaging_has_the_benchmarks_totals`).
use wakeplace_workload::{
    Event, FigureOf, Limit, LoadOptions, Loops, MachineFacts, Pick, Since, Spec, StartLine,
    Statistic, SysbenchBins, TaskScript, TimeUnit, TimerMode, Workload,
};

fn expand(argument: &str, seed: u64) -> Workload {
    let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
    let machine = MachineFacts::alike(4);
    spec.expand(seed, machine).expect(argument)
}

fn ok(argument: &str) -> Workload {
    expand(argument, 1)
}

/// The steps of a task with one phase.
fn steps(task: &TaskScript) -> &[Event] {
    assert_eq!(task.phases.len(), 1, "{}", task.name);
    &task.phases[0].events
}

fn times(loops: Loops) -> u64 {
    match loops {
        Loops::Times(n) => n,
        Loops::Forever => panic!("endless"),
    }
}

/// How often all tasks together do what is wanted.
fn total(workload: &Workload, want: impl Fn(&Event) -> bool) -> u64 {
    let of = |task: &TaskScript| -> u64 {
        let phases = task.phases.iter();
        let once = phases.map(|p| {
            let steps = p.events.iter().filter(|e| want(e)).count() as u64;
            times(p.loops) * steps
        });
        times(task.loops) * once.sum::<u64>()
    };
    workload.tasks.iter().map(of).sum()
}

fn run(work_ns: u64) -> Event {
    Event::Run { work_ns }
}

/// Source: docs/rules/workloads.md#messaging: 40 G tasks, 400 G L messages; the energy-aware series
/// ran 8 groups with 50000 loops (320 tasks, 160 million messages), the capacity one 50 with 5000.
#[test]
fn messaging_has_the_benchmarks_totals() {
    for (groups, loops, tasks, messages) in [
        (8, 50_000, 320, 160_000_000),
        (50, 5_000, 2_000, 100_000_000),
        (10, 100, 400, 400_000),
    ] {
        let workload = ok(&format!("messaging:groups={groups},loops={loops}"));
        assert_eq!(workload.tasks.len(), tasks);
        let posts = total(&workload, |e| matches!(e, Event::Post { sync: true, .. }));
        let waits = total(&workload, |e| matches!(e, Event::Wait { .. }));
        assert_eq!((posts, waits), (messages, messages));
        assert_eq!(workload.shared.channels.len(), 20 * groups);
    }
    assert_eq!(ok("messaging").tasks.len(), 400, "10 groups");
}

#[test]
fn messaging_creates_receivers_first_and_writes_to_all_in_turn() {
    let workload = ok("messaging:groups=2,fds=3,loops=7,send=2us,receive=1us");
    let names: Vec<&str> = workload.tasks.iter().map(|t| &t.name[..]).collect();
    let first = ["receiver-0-0", "receiver-0-1", "receiver-0-2"];
    assert_eq!(names[..3], first);
    assert_eq!(
        names[3..7],
        ["sender-0-0", "sender-0-1", "sender-0-2", "receiver-1-0"]
    );
    let (receiver, sender) = (&workload.tasks[7], &workload.tasks[10]);
    assert_eq!(*steps(receiver), [Event::Wait { channel: 4 }, run(1_000)]);
    assert_eq!(receiver.phases[0].loops, Loops::Times(21), "3 senders x 7");
    let to = |channel| {
        [
            run(2_000),
            Event::Post {
                channel,
                sync: true,
            },
        ]
    };
    assert_eq!(*steps(sender), [to(3), to(4), to(5)].concat());
    assert_eq!(sender.phases[0].loops, Loops::Times(7));
}

/// A pipe has 16 pages of 40 messages of 100 B; a socket 212992 B at 768 B each, and room again at
/// a quarter (docs/rules/workloads.md#messaging).
#[test]
fn messaging_channels_are_as_large_as_the_kernels() {
    for (argument, units, resume_units, resume_all) in [
        ("messaging:via=pipe", 640, 600, true),
        ("messaging:via=pipe,writers=first", 640, 600, false),
        ("messaging", 277, 69, true),
    ] {
        let limit = Limit {
            units,
            resume_units,
            resume_all,
        };
        let channels = ok(argument).shared.channels;
        assert!(
            channels
                .iter()
                .all(|c| c.limit == Some(limit) && c.units == 0)
        );
    }
}

/// What is assumed of costs, as the catalogue says it.
#[test]
fn messaging_costs_depend_on_channel_and_address_space() {
    for (argument, work_ns) in [
        ("messaging:via=pipe,tasks=thread", 1_000),
        ("messaging:via=pipe", 1_250),
        ("messaging:tasks=thread", 1_500),
        ("messaging", 1_750),
    ] {
        let workload = ok(argument);
        let works = |task: usize| steps(&workload.tasks[task]).contains(&run(work_ns));
        assert!(works(0) && works(20), "{argument}");
    }
    let workload = ok("messaging:send=3us");
    assert!(
        steps(&workload.tasks[0]).contains(&run(3_000)),
        "receive follows send"
    );
}

/// Source: docs/rules/workloads.md#sysbench: 117526 divisions; 10 ns each are assumed.
#[test]
fn a_sysbench_cpu_event_is_claimed_timed_and_counted() {
    let workload = ok("sysbench-cpu:threads=12,time=20s,start=0s");
    assert_eq!(workload.tasks.len(), 12);
    let (mutex, pick) = (0, Pick::This);
    let expected = [
        Event::ExitAfter {
            since_start_ns: 20_000_000_000,
        },
        Event::Lock { mutex, pick },
        run(100),
        Event::Unlock { mutex, pick },
        Event::Claim { counter: 0 },
        Event::Mark,
        run(1_175_260),
        Event::Sample {
            series: 0,
            since: Since::Mark,
        },
        Event::Count { units: 1 },
    ];
    assert_eq!(*steps(&workload.tasks[11]), expected);
    assert_eq!(workload.tasks[11].loops, Loops::Forever);
    assert_eq!(workload.shared.counters[0].limit, Some(10_000));
    let series = &workload.series[0];
    assert_eq!(
        (&series.name[..], series.unit),
        ("latency", TimeUnit::Milliseconds)
    );
    let (low, mean, high) = (Statistic::Minimum, Statistic::Mean, Statistic::Maximum);
    assert_eq!(
        series.statistics,
        [low, mean, high, Statistic::Sysbench95(SysbenchBins::V0_4)]
    );
    let count = workload.count.expect("events");
    assert_eq!(count.figures[0].metric, "events_total");
    assert_eq!(count.figures[0].of, FigureOf::Total);
    assert!(
        workload.duration_ns > Some(20_000_000_000),
        "the last event ends later"
    );
    let given = ok("sysbench-cpu:event=60150us");
    assert!(steps(&given.tasks[0]).contains(&run(60_150_000)));
}

/// Source: docs/rules/workloads.md#sysbench: 0.4 has 10000 requests and no time, 1.0 no number and
/// 10 s.
#[test]
fn sysbench_versions_have_their_own_limits() {
    let limits = |argument: &str| {
        let workload = ok(argument);
        let exit = steps(&workload.tasks[0]).iter().find_map(|e| match e {
            Event::ExitAfter { since_start_ns } => Some(*since_start_ns),
            _ => None,
        });
        let locks = workload.shared.mutexes.len();
        (workload.shared.counters[0].limit, exit, locks)
    };
    assert_eq!(limits("sysbench-cpu:start=0s"), (Some(10_000), None, 1));
    let new = "sysbench-cpu:start=0s,version=1.0";
    assert_eq!(limits(new), (None, Some(10_000_000_000), 0));
    let both = "sysbench-cpu:version=1.0,start=0s,requests=7,time=3s";
    assert_eq!(limits(both), (Some(7), Some(3_000_000_000), 0));
    let none = "sysbench-cpu:requests=0";
    assert_eq!(limits(none), (None, None, 1));
}

/// All threads begin together, and the time counts from there.
#[test]
fn sysbench_threads_begin_together_at_a_drawn_time() {
    let start = |seed| {
        let workload = expand("sysbench-cpu:threads=3,time=3s", seed);
        let tasks = workload.tasks;
        assert!(tasks.iter().all(|t| t.delay_ns == 0));
        assert_eq!(workload.start.line, StartLine::Barrier);
        assert!(workload.start.at_ns < 10_000_000);
        let since_start_ns = 3_000_000_000;
        assert_eq!(steps(&tasks[0])[0], Event::ExitAfter { since_start_ns });
        workload.start.at_ns
    };
    assert_eq!(start(5), start(5));
    assert_ne!(start(5), start(6));
}

/// Source: docs/rules/workloads.md#sysbench: an event is 1000 times lock, yield, unlock of the
/// mutex that the event's number chooses.
#[test]
fn a_sysbench_threads_event_keeps_the_mutex_of_its_number() {
    let workload = ok("sysbench-threads:threads=12,locks=9,version=1.0,start=0s");
    assert_eq!(
        (workload.tasks.len(), workload.shared.mutexes.len()),
        (12, 9)
    );
    let task = &workload.tasks[0];
    let loops: Vec<u64> = task.phases.iter().map(|p| times(p.loops)).collect();
    assert_eq!((loops, task.loops), (vec![1, 1_000, 1], Loops::Forever));
    let (mutex, pick) = (0, Pick::Claimed { of: 9 });
    let turn = [
        Event::Lock { mutex, pick },
        run(1_500),
        Event::Yield,
        Event::Unlock { mutex, pick },
    ];
    assert_eq!(task.phases[1].events, turn);
    let old = ok("sysbench-threads:threads=3,locks=2");
    assert_eq!(old.shared.mutexes.len(), 3, "the counter's own comes first");
    let (mutex, pick) = (1, Pick::Claimed { of: 2 });
    assert_eq!(
        old.tasks[0].phases[1].events[0],
        Event::Lock { mutex, pick }
    );
    let before = &old.tasks[0].phases[0].events;
    let at = |want: fn(&Event) -> bool| before.iter().position(want).expect("a step");
    let (free, claim) = (
        at(|e| matches!(e, Event::Unlock { .. })),
        at(|e| matches!(e, Event::Claim { .. })),
    );
    assert!(free < claim, "a thread must not end with the mutex");
}

/// Source: docs/rules/workloads.md#cyclictest: thread k's interval is 1000 + 500 k us; 20 s; one
/// thread per configured CPU; the device holds off deeper idle states.
#[test]
fn cyclictest_threads_have_their_intervals() {
    let workload = ok("cyclictest");
    assert_eq!((workload.tasks.len(), workload.timers.len()), (4, 4));
    assert_eq!(workload.duration_ns, Some(20_000_000_000));
    assert_eq!(workload.cpu_dma_latency_us, Some(0));
    for (index, task) in workload.tasks.iter().enumerate() {
        let period_ns = 1_000_000 + 500_000 * index as u64;
        let number = index as u32;
        let expected = [
            Event::Timer {
                timer: number,
                period_ns,
            },
            Event::Sample {
                series: number,
                since: Since::Wake,
            },
            run(15_000),
            Event::ExitAfter {
                since_start_ns: 20_000_000_000,
            },
        ];
        assert_eq!(*steps(task), expected);
        let timer = &workload.timers[index];
        assert_eq!(
            (timer.mode, timer.start_delay_ns),
            (TimerMode::Overrun, task.delay_ns)
        );
        assert!(task.delay_ns < period_ns);
        let series = &workload.series[index];
        assert_eq!(series.name, format!("t{index}_latency"));
        assert_eq!(series.unit, TimeUnit::Microseconds);
    }
    let other = ok("cyclictest:threads=2,mode=clock_nanosleep,dma_latency=free,phase=aligned");
    assert_eq!((other.tasks.len(), other.cpu_dma_latency_us), (2, None));
    assert_eq!(
        other.timers[1].mode,
        TimerMode::Overrun,
        "missed expiries are left out, too"
    );
    assert!(steps(&other.tasks[1]).contains(&run(10_000)));
    assert!(other.tasks.iter().all(|t| t.delay_ns == 0));
    assert_ne!(
        expand("cyclictest", 1).timers,
        expand("cyclictest", 2).timers
    );
}

/// Source: docs/rules/workloads.md#netperf: one transaction outstanding, both wake-ups sync, 10 s.
#[test]
fn netperf_pairs_take_turns() {
    for (argument, work_ns) in [
        ("netperf-tcp-rr:pairs=3,start=ready", 6_000),
        ("netperf-udp-rr:instances=3,start=ready", 5_000),
    ] {
        let workload = ok(argument);
        assert_eq!(
            (workload.tasks.len(), workload.shared.channels.len()),
            (6, 6)
        );
        assert_eq!(workload.duration_ns, Some(10_000_000_000));
        let post = |channel| Event::Post {
            channel,
            sync: true,
        };
        let wait = |channel| Event::Wait { channel };
        let client = [run(work_ns), post(4), wait(5), Event::Count { units: 1 }];
        assert_eq!(*steps(&workload.tasks[4]), client);
        assert_eq!(*steps(&workload.tasks[5]), [wait(4), run(work_ns), post(5)]);
        assert!(workload.tasks[4].delay_ns < 2 * work_ns);
        let count = workload.count.expect("transactions");
        assert_eq!(
            (count.warm_up_ns, count.figures[0].metric),
            (0, "throughput_per_s")
        );
    }
    let delays = |seed| -> Vec<u64> {
        let tasks = expand("netperf-tcp-rr:pairs=20,start=ready", seed).tasks;
        tasks.iter().map(|t| t.delay_ns).collect()
    };
    assert_eq!(delays(3), delays(3));
    assert_ne!(delays(3), delays(4));
}

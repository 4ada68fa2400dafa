//! The models of benchmarks, each alone: what it measures is the sum of what it is made of. With
//! kernel costs off only the work and WFI's exit (1 us) take time; time zero is 1 us, the parent's
//! way out of WFI. The semantics are those of `workloads`; all numbers are worked out by hand.
//!
//! What must stay: numbers are worked out by hand from the model's definition; the models are
//! crates/workload/src/models.
//! Tests by part (in crates/engine/src): crates/workload/src/models/messaging.rs:
//! `messaging_on_more_cpus_is_the_same_work` (a run); crates/workload/src/models/sysbench.rs:
//! `sysbench_cpu_counts_every_event_that_began_in_time` (a run);
//! crates/workload/src/models/sysbench_cpu.rs: `sysbench_cpu_counts_every_event_that_began_in_time`
//! (a run); mechanics/script/sync/mutex.rs: `sysbench_threads_wait_only_for_shared_mutexes`
//! (`picked`, `Claimed`); crates/workload/src/models/sysbench_threads.rs:
//! `sysbench_threads_wait_only_for_shared_mutexes` (a run);
//! crates/workload/src/models/cyclictest.rs: `cyclictest_wakes_once_per_interval` (a run);
//! crates/workload/src/models/measures.rs: `netperf_on_one_cpu_is_the_work_of_both` (the figure of
//! a run); crates/workload/src/models/netperf.rs: `netperf_pairs_scale_while_cpus_are_free` (a
//! run); crates/workload/src/models/tbench.rs: `tbench_on_one_cpu_is_the_work_of_both` (a run);
//! crates/workload/src/models/schbench.rs: `current_schbench_requests_are_a_sleep_and_work` (a
//! run); the models of crates/workload/src/models: each test by the model's name.
//! Helpers, and who fails with them: `pinned`, `of`, `counted` (6 tests); `model` (all tests);
//! `alone` (most tests); `work_ns` (`tbench_on_one_cpu_is_the_work_of_both`). Rules:
//! docs/rules/workloads.md.

use crate::common::*;
use wakeplace_engine::{Ended, Happening, Observer, Options, RunReport, run};
use wakeplace_workload::{Event, LoadOptions, MachineFacts, Spec, Workload};

/// Time zero.
const ZERO: u64 = US;

fn model(argument: &str, nr_cpus: u32) -> Workload {
    let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
    spec.expand(1, MachineFacts::alike(nr_cpus))
        .expect(argument)
}

/// Task i on CPU i: where tasks go is no subject here.
fn pinned(mut load: Workload, cpus: u32) -> Workload {
    for (cpu, task) in (0..cpus).cycle().zip(&mut load.tasks) {
        task.cpus = Some(vec![cpu]);
    }
    load
}

/// Runs a model on equal CPUs without kernel costs.
fn alone(load: &Workload, cpus: u32, options: &Options) -> (RunReport, Log) {
    simulate(
        &Board::symmetric(cpus).platform(),
        &performance(),
        load,
        options,
    )
}

/// Values that a workload is measured by: series, value in ns.
#[derive(Debug, Default)]
struct Samples(Vec<(u32, u64)>);

impl Observer for Samples {
    fn happened(&mut self, _: u64, what: &Happening) {
        if let Happening::Sample {
            series, value_ns, ..
        } = *what
        {
            self.sample(series, value_ns)
        }
    }
}

impl Samples {
    fn sample(&mut self, series: u32, value_ns: u64) {
        self.0.push((series, value_ns));
    }
}

impl Samples {
    fn of(load: &Workload, cpus: u32, options: &Options) -> Self {
        let mut samples = Self::default();
        let platform = Board::symmetric(cpus).platform();
        run(&platform, &performance(), load, options, &mut samples);
        samples
    }

    fn count(&self, series: u32) -> u64 {
        self.0.iter().filter(|(s, _)| *s == series).count() as u64
    }
}

fn counted(report: &RunReport) -> u64 {
    report.tasks.iter().map(|task| task.counted).sum()
}

/// All `Run` work of a pass through a task's steps.
fn work_ns(load: &Workload, task: usize) -> u64 {
    let events = load.tasks[task].phases.iter().flat_map(|p| &p.events);
    let work = events.map(|e| match e {
        Event::Run { work_ns } => *work_ns,
        _ => 0,
    });
    work.sum()
}

/// Goal: one group on one CPU takes messages x (send + receive), whatever the order, also when
/// channels are full at times. Method: 400 messages per loop; the CPU is never idle, since all
/// tasks begin at once and somebody can always go on.
#[test]
fn messaging_on_one_cpu_is_its_messages() {
    for (via, loops) in [("pipe", 10), ("pipe", 100), ("socket", 100)] {
        let argument =
            format!("messaging:groups=1,loops={loops},via={via},send=2us,receive=1us,release=0s");
        let load = model(&argument, 1);
        let (report, _) = alone(&load, 1, &all_off(10 * S));
        assert_eq!(report.ended, Ended::AllTasksExited, "{argument}");
        let took = report.end_ns - report.start_ns.expect("it began");
        assert_eq!(took, 400 * loops * 3 * US, "{argument}");
        for (task, totals) in report.tasks.iter().enumerate() {
            // The first 20 receive: 20 messages a loop at 1 us; the others send as many at 2 us.
            let each = if task < 20 { US } else { 2 * US };
            assert_eq!(totals.run_ns, 20 * loops * each, "{argument}: task {task}");
        }
    }
}

/// Goal: no CPU makes work of its own: the sum of all run times is that of the messages, and n CPUs
/// take at least an n-th of it.
#[test]
fn messaging_on_more_cpus_is_the_same_work() {
    let load = model(
        "messaging:groups=2,loops=10,send=2us,receive=2us,release=0s",
        4,
    );
    let (report, _) = alone(&load, 4, &all_off(10 * S));
    assert_eq!(report.ended, Ended::AllTasksExited);
    let work = 2 * 400 * 10 * 4 * US;
    let ran: u64 = report.tasks.iter().map(|task| task.run_ns).sum();
    assert_eq!(ran, work);
    assert!(report.end_ns >= ZERO + work / 4 && report.end_ns < ZERO + work);
}

/// Goal: a thread begins events until the time is over and ends the last one. Method: 1 ms each for
/// 9.5 ms: they begin at 0, 1, ... 9 ms. n threads on n CPUs do n times as many.
#[test]
fn sysbench_cpu_counts_every_event_that_began_in_time() {
    for cpus in [1, 4] {
        let load = model(
            &format!(
                "sysbench-cpu:threads={cpus},requests=0,time=9500us,event=1ms,claim=0s,start=0s"
            ),
            cpus,
        );
        let load = pinned(load, cpus);
        let (report, _) = alone(&load, cpus, &all_off(S));
        assert_eq!(report.ended, Ended::AllTasksExited);
        assert!(report.tasks.iter().all(|task| task.counted == 10));
        // Another CPU than the parent's comes out of WFI first.
        let late = report.end_ns - (ZERO + 10 * MS);
        assert!(late <= 2 * US, "{late}");
        let samples = Samples::of(&load, cpus, &all_off(S));
        let expected = vec![(0, MS); 10 * cpus as usize];
        assert_eq!(samples.0, expected, "no event waits");
    }
}

/// Goal: requests are shared out until there are none. Method: 7 for 3 threads, both versions; then
/// with the time over first: each 3 ms event that began is done.
#[test]
fn sysbench_requests_end_the_threads() {
    for version in ["0.4", "1.0"] {
        let limits = format!("version={version},requests=7,time=0s");
        let load = model(&format!("sysbench-cpu:threads=3,event=1ms,{limits}"), 2);
        let (report, _) = alone(&load, 2, &all_off(S));
        assert_eq!(report.ended, Ended::AllTasksExited, "{version}");
        assert_eq!(counted(&report), 7, "{version}");
    }
    let load = model("sysbench-cpu:event=3ms,time=10ms,start=0s,claim=0s", 1);
    let (report, _) = alone(&load, 1, &all_off(S));
    assert_eq!((counted(&report), report.end_ns), (4, ZERO + 12 * MS));
}

/// Goal: a thread alone passes its mutexes and yields at once. Method: 5 events of 10 turns, 2 us
/// each.
#[test]
fn sysbench_threads_alone_is_its_turns() {
    let load = model(
        "sysbench-threads:yields=10,run=2us,requests=5,time=0s,claim=0s,start=0s",
        1,
    );
    let (report, _) = alone(&load, 1, &all_off(S));
    assert_eq!(report.ended, Ended::AllTasksExited);
    assert_eq!((counted(&report), report.end_ns), (5, ZERO + 100 * US));
    let samples = Samples::of(&load, 1, &all_off(S));
    assert_eq!(samples.0, vec![(0, 20 * US); 5]);
}

/// Goal: as many mutexes as threads: nobody waits; one mutex for two: one at a time, and no turn is
/// lost or done twice. Method: two threads on two CPUs; events 0, 1, 2 use mutexes 0, 1, 0.
#[test]
fn sysbench_threads_wait_only_for_shared_mutexes() {
    let with = |locks: u32| {
        let load = model(
            &format!(
                "sysbench-threads:threads=2,locks={locks},yields=10,run=2us,version=1.0,\
                 requests=10,time=0s,claim=0s,start=0s"
            ),
            2,
        );
        let load = pinned(load, 2);
        let (report, _) = alone(&load, 2, &all_off(S));
        assert_eq!(report.ended, Ended::AllTasksExited);
        assert_eq!(counted(&report), 10);
        let ran: u64 = report.tasks.iter().map(|task| task.run_ns).sum();
        assert_eq!(ran, 10 * 20 * US);
        (report, Samples::of(&load, 2, &all_off(S)))
    };
    let (own, samples) = with(2);
    assert!(own.tasks.iter().all(|task| task.counted == 5));
    assert_eq!(samples.0, vec![(0, 20 * US); 10]);
    let (shared, _) = with(1);
    assert!(shared.end_ns >= ZERO + 200 * US, "the mutex is held 200 us");
}

/// Goal: alone, a thread is as late as the CPU is to wake: WFI's 1 us; it wakes once per interval.
/// Method: 20 ms at 1 ms, and a second thread at 1.5 ms: after 14 x 1.5 = 21 ms it sees the end.
/// Sleeps of 1 ms do not stop the tick: each 4 ms it wakes the CPU 1 us (`ZERO`) before the thread
/// is due, which then finds it awake.
#[test]
fn cyclictest_wakes_once_per_interval() {
    let load = model(
        "cyclictest:threads=1,time=20ms,phase=aligned,dma_latency=free",
        1,
    );
    let (report, log) = alone(&load, 1, &all_off(S));
    assert_eq!(report.ended, Ended::AllTasksExited);
    let woken = log.pick(|w| matches!(w, What::Wakeup { task: 0, .. }).then_some(()));
    assert_eq!(woken.len(), 20);
    let samples = Samples::of(&load, 1, &all_off(S));
    let late = |cycle: u64| if cycle.is_multiple_of(4) { 0 } else { US };
    let expected: Vec<_> = (1..=20).map(|cycle| (0, late(cycle))).collect();
    assert_eq!(samples.0, expected);
    // The last wake-up is at 20 ms, awake by the tick; 15 us of work.
    assert_eq!(report.end_ns, ZERO + 20 * MS + 15 * US);
    let two = model(
        "cyclictest:threads=2,time=20ms,phase=aligned,dma_latency=free",
        2,
    );
    let samples = Samples::of(&pinned(two, 2), 2, &all_off(S));
    assert_eq!((samples.count(0), samples.count(1)), (20, 14));
}

/// Goal: a transaction on one CPU is the work of both ends. Method: the client begins at its drawn
/// delay, out of WFI.
#[test]
fn netperf_on_one_cpu_is_the_work_of_both() {
    for (name, trip) in [("netperf-tcp-rr", 12 * US), ("netperf-udp-rr", 10 * US)] {
        let load = model(&format!("{name}:start=ready"), 1);
        let delay = load.tasks[0].delay_ns;
        let begin = ZERO + delay + if delay > 0 { US } else { 0 };
        let duration = begin + 200 * trip + trip / 2;
        let (report, _) = alone(&load, 1, &all_off(duration));
        assert_eq!(report.ended, Ended::Duration);
        assert_eq!(counted(&report), 200, "{name}");
        let done = report.counted.expect("no warm-up");
        assert_eq!(done.window_ns, duration - ZERO, "{name}");
    }
}

/// Goal: pairs are independent. Method: a CPU per task; a hop costs its work and WFI's exit: 13 us
/// each transaction, as many for each pair. They begin at most 12 us late: 152 or 153 in 2 ms.
#[test]
fn netperf_pairs_scale_while_cpus_are_free() {
    let load = model(
        "netperf-tcp-rr:pairs=4,client=6us,server=5us,start=ready",
        8,
    );
    let (report, _) = alone(&pinned(load, 8), 8, &all_off(2 * MS));
    for pair in 0..4 {
        let done = report.tasks[2 * pair].counted;
        assert!((152..=153).contains(&done), "{pair}: {done}");
    }
}

/// Goal: on one CPU a client goes through the list in the sum of both sides' work, and what it has
/// read and written is counted. Method: two passes.
#[test]
fn tbench_on_one_cpu_is_the_work_of_both() {
    let load = model("tbench:warmup=0s", 1);
    let pass = work_ns(&load, 0) + work_ns(&load, 1);
    let units = load.tasks[0].phases[0].events.iter().map(|e| match e {
        Event::Count { units } => *units,
        _ => 0,
    });
    let bytes: u64 = units.sum();
    // No operation is shorter than 2 x 5 us, so that the next one has not come back after 1 us.
    let (report, _) = alone(&load, 1, &all_off(ZERO + 2 * pass + US));
    assert_eq!(counted(&report), 2 * bytes);
}

/// Goal: one message thread and one worker take turns. Method: a round is the worker's spin, the
/// message thread's spin and its sleep, and three times out of WFI; whoever comes first at the
/// start decides whether the first round has the worker's spin first.
#[test]
fn old_schbench_rounds_are_two_spins_and_a_sleep() {
    let load = model("schbench:messages=1,workers=1,time=2s,warmup=0s", 2);
    let (mut end, mut rounds) = (ZERO, 0);
    for event in &load.tasks[0].phases[0].events {
        let Event::Sleep { duration_ns } = event else {
            continue;
        };
        end += 60 * MS + duration_ns + 3 * US;
        rounds += u64::from(end <= 2 * S);
    }
    let samples = Samples::of(&pinned(load, 2), 2, &all_off(2 * S));
    assert!(rounds > 15, "a round is 97.5 ms at most");
    assert!(samples.count(0).abs_diff(rounds) <= 1, "{rounds} rounds");
}

/// Goal: a worker alone does a request in its sleep and its work, and is as late as WFI's exit.
/// Method: 100 us and 900 us, out of WFI after the sleep, at the message thread and at its answer:
/// 1003 us, 997 in a second, one less if the first begins later than 6 us.
#[test]
fn current_schbench_requests_are_a_sleep_and_work() {
    let load = model(
        "schbench:version=current,workers=1,time=1s,warmup=0s,work=900us",
        2,
    );
    let load = pinned(load, 2);
    let (report, _) = alone(&load, 2, &all_off(S));
    assert_eq!(report.ended, Ended::Duration);
    let done = counted(&report);
    assert!((996..=997).contains(&done), "{done}");
    let samples = Samples::of(&load, 2, &all_off(S));
    // The last request may have begun and not ended.
    assert!(samples.count(0).abs_diff(done) <= 1);
    assert_eq!(samples.count(1), done);
    let late = |(series, ns): &(u32, u64)| *series == 0 && *ns > US;
    assert!(!samples.0.iter().any(late), "both CPUs are free");
}

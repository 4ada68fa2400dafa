//! Kernel threads: schedutil's, which change frequencies on hardware that cannot do it at once, and
//! those that run now and then.
//! Rule: docs/guide/model.md, "Kernel threads"; docs/rules/capacity.md#work-in-progress.
//!
//! What must stay: such a thread takes its time from whoever runs; observers see none of it but its
//! kernel work.
//! Tests by part (in crates/engine/src): crates/platform/src/housekeeping.rs:
//! `a_governors_thread_runs_for_each_change` (`governor_ns`); kernel/model/kthreads.rs:
//! `a_governors_thread_displaces_fair_tasks` (class); mechanics/threads.rs:
//! `it_can_be_switched_off` (`visible`, `hidden`), `a_periodic_thread_takes_its_time` (`kthread`,
//! `kthread_index`); mechanics/offered.rs: `a_periodic_thread_takes_its_time` (`set_action`);
//! kernel/model/kthreads.rs: `a_governors_thread_goes_on_with_the_next_request`,
//! `no_slice_ends_while_it_runs`.
//! Helpers, and who fails with them: `with_them`, `housekeeping` (all tests); `two_speeds`
//! (`a_governors_thread_runs_for_each_change`, `a_governors_thread_goes_on_with_the_next_request`,
//! `a_governors_thread_displaces_fair_tasks`, `it_can_be_switched_off`); `busy`
//! (`a_governors_thread_runs_for_each_change`, `it_can_be_switched_off`,
//! `a_periodic_thread_takes_its_time`).

use crate::common::*;
use wakeplace_engine::Options;
use wakeplace_engine::observe::{CpuPower, Happening, KernelWork, Observer};
use wakeplace_platform::{CpuId, Housekeeping, HousekeepingThread, Platform, Source, Standing};
use wakeplace_workload::{Loops, Workload};

/// Only the tasks' own work takes time, and what kernel threads do.
fn with_them(duration_ns: u64) -> Options {
    Options {
        housekeeping: true,
        ..all_off(duration_ns)
    }
}

fn housekeeping(governor_ns: Option<u64>, threads: Vec<HousekeepingThread>) -> Housekeeping {
    Housekeeping {
        governor_ns,
        threads,
        wall: true,
        source: Source {
            text: "test".to_owned(),
            standing: Standing::Assumed,
        },
    }
}

/// Two CPUs of one clock with two operating points.
fn two_speeds(governor_ns: Option<u64>) -> Platform {
    let board = Board {
        khz: vec![500_000, 1_000_000],
        ..Board::symmetric(2)
    };
    let mut platform = board.platform();
    platform.housekeeping = governor_ns.map(|ns| housekeeping(Some(ns), Vec::new()));
    platform
}

fn busy(cpu: u32) -> Workload {
    let hog = script(
        Loops::Times(1),
        vec![phase(1, Some(&[cpu]), &[run_ms(400)])],
    );
    workload(vec![hog], vec![])
}

/// Goal: a change of frequency is a wake-up of the domain's thread, which runs its time before the
/// hardware is told. Source: sugov_irq_work, sugov_work (kernel/sched/cpufreq_schedutil.c): the
/// request only wakes the thread. Method: the first rise comes later by exactly that time and the 1
/// us in which CPU 0, where the thread sleeps, leaves WFI.
#[test]
fn a_governors_thread_runs_for_each_change() {
    let policy = policy("linux-7.3", &[]);
    let first_rise = |governor| {
        let (_, log) = simulate(
            &two_speeds(governor),
            &policy,
            &busy(1),
            &with_them(500 * MS),
        );
        let mut raised = log.frequencies(0).into_iter().filter(|(_, opp)| *opp == 1);
        raised.next().expect("it rises").0
    };
    assert_eq!(first_rise(Some(300 * US)), first_rise(None) + 301 * US);
}

/// Goal: from 4.18 on the thread goes on with a request that was made while it worked; to 4.17 none
/// is made before the change. Source: docs/rules/capacity.md#work-in-progress. Method: the thread
/// works for 40 ms, and a task's demand falls and rises in less: changes that are exactly 40 ms
/// apart had no wake-up between them.
#[test]
fn a_governors_thread_goes_on_with_the_next_request() {
    let turns = phase(12, Some(&[1]), &[run_ms(60), sleep_ms(140)]);
    let load = workload(vec![script(Loops::Times(1), vec![turns])], vec![]);
    let at_once = |era| {
        let machine = two_speeds(Some(40 * MS));
        let (_, log) = simulate(&machine, &policy(era, &[]), &load, &with_them(3 * S));
        let changes: Vec<_> = log.frequencies(0).into_iter().map(|(at, _)| at).collect();
        let apart = changes.windows(2).filter(|two| two[1] - two[0] == 40 * MS);
        (apart.count() > 0, changes.len() > 2)
    };
    assert_eq!(at_once("linux-4.17"), (false, true));
    assert_eq!(at_once("linux-5.0"), (true, true));
    assert_eq!(at_once("linux-7.3"), (true, true));
}

/// Goal: that thread goes before fair tasks. Method: a task that is light for a second and
/// then heavy raises the frequency while it runs; on CPU 0, where the thread sleeps, it waits for
/// it, on CPU 1 it does not.
#[test]
fn a_governors_thread_displaces_fair_tasks() {
    let policy = policy("linux-7.3", &[]);
    let waited = |cpu: u32| {
        let light = phase(50, Some(&[cpu]), &[run_ms(1), sleep_ms(19)]);
        let heavy = phase(1, Some(&[cpu]), &[run_ms(300)]);
        let load = workload(vec![script(Loops::Times(1), vec![light, heavy])], vec![]);
        let (report, _) = simulate(
            &two_speeds(Some(300 * US)),
            &policy,
            &load,
            &with_them(3 * S),
        );
        report.tasks[0].wait_ns
    };
    assert!(
        waited(0) >= waited(1) + 300 * US,
        "{} {}",
        waited(0),
        waited(1)
    );
}

/// Goal: `model.housekeeping=off` is the machine without; observers see no kernel thread.
#[test]
fn it_can_be_switched_off() {
    let policy = policy("linux-7.3", &[]);
    let off = Options {
        housekeeping: false,
        ..all_off(500 * MS)
    };
    let (_, without) = simulate(&two_speeds(None), &policy, &busy(0), &with_them(500 * MS));
    let (report, log) = simulate(&two_speeds(Some(300 * US)), &policy, &busy(0), &off);
    assert_eq!(log, without);
    let (on, _) = simulate(
        &two_speeds(Some(300 * US)),
        &policy,
        &busy(0),
        &with_them(500 * MS),
    );
    assert_eq!(on.tasks.len(), report.tasks.len());
    assert_eq!(on.threads.len(), report.threads.len());
}

/// Goal: a thread runs once in each period, on its CPU, and takes its time from whoever runs there.
/// Method: 200 us every 10 ms on CPU 1 of two, wall time: an idle CPU is busy 50 times in half a
/// second; a hog there ends later by 200 us for each period.
#[test]
fn a_periodic_thread_takes_its_time() {
    let policy = policy("linux-7.3", &[("governor", "performance")]);
    let thread = HousekeepingThread {
        name: "kworker/1:0".to_owned(),
        cpus: Some(vec![CpuId(1)]),
        period_ns: 10 * MS,
        run_ns: 200 * US,
    };
    let mut platform = Board::symmetric(2).platform();
    platform.housekeeping = Some(housekeeping(None, vec![thread]));
    let (_, log) = simulate(&platform, &policy, &busy(0), &with_them(400 * MS));
    let busy_times = |log: &Log| {
        let busy = log.power(1);
        busy.iter().filter(|(_, p)| *p == CpuPower::Busy).count()
    };
    // Ticks that the idle governor keeps are busy times, too.
    assert!(busy_times(&log) >= 39, "{}", busy_times(&log));
    let (with, _) = simulate(&platform, &policy, &busy(1), &with_them(S));
    platform.housekeeping = None;
    let (without, _) = simulate(&platform, &policy, &busy(1), &with_them(S));
    let longer = with.end_ns - without.end_ns;
    assert!(longer.abs_diff(41 * 200 * US) <= 200 * US, "{longer}");
}

/// Ends of slices between ticks.
#[derive(Default)]
struct SliceEnds {
    at: Vec<u64>,
}

impl Observer for SliceEnds {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if let Happening::KernelWork { work, .. } = *what {
            self.kernel_work(time_ns, work)
        }
    }
}

impl SliceEnds {
    fn kernel_work(&mut self, at: u64, work: KernelWork) {
        if work == KernelWork::SliceEnd {
            self.at.push(at);
        }
    }
}

/// Goal: while such a thread has the CPU no slice of a fair task ends there. Source:
/// docs/rules/live-queue.md#vq-slice (the timer of slices is that of the running task). Method: two
/// tasks share a CPU of the live scheduler, light for a second and then heavy, so that the
/// frequency rises while one of them waits. A slice is 0.7 ms. While the thread runs its 0.3 ms the
/// timer could fire every 10 us.
#[test]
fn no_slice_ends_while_it_runs() {
    let policy = policy("wakeplace", &[]);
    let one = || {
        let light = phase(50, Some(&[0]), &[run_ms(1), sleep_ms(19)]);
        let heavy = phase(1, Some(&[0]), &[run_ms(300)]);
        script(Loops::Times(1), vec![light, heavy])
    };
    let load = workload(vec![one(), one()], vec![]);
    let board = Board {
        khz: vec![500_000, 1_000_000],
        ..Board::symmetric(1)
    };
    let mut platform = board.platform();
    platform.housekeeping = Some(housekeeping(Some(300 * US), Vec::new()));
    let mut ends = SliceEnds::default();
    wakeplace_engine::run(&platform, &policy, &load, &with_them(3 * S), &mut ends);
    assert!(ends.at.len() > 10, "slices end between ticks");
    let gaps = ends.at.windows(2).map(|pair| pair[1] - pair[0]);
    let least = gaps.min().expect("several");
    assert!(least >= 50 * US, "{least} ns");
}

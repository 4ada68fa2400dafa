//! Signals and frequency requests of the era linux-7.3.
//! Rules: docs/rules/signals.md#pelt-periodic-task, docs/rules/signals.md#new-task-numbers,
//! docs/rules/capacity.md#schedutil.
//!
//! What must stay: rows are of tests/data, numbers of the pages; change them only with these. It
//! covers policy/src/load_tracking/signals.c and policy/src/frequency/freq.c, demand.c. Free: how
//! rows are read, and how helpers run a task.
//! Tests by part: `periodic_5pct_rows` (`wp_update_load_avg_se`, `wp_util_est_update`);
//! `start_of_new_tasks` (`wp_post_init_entity_util_avg`); `clock_form` (`wp_update_rq_clock`);
//! `schedutil_examples`, `schedutil_inputs` (`wp_cpu_freq_demand`, `wp_map_freq`);
//! `schedutil_hints` (`wp_sugov_effective_cpu_perf`); `rate_limit` (`wp_rate_limit_us`);
//! `estimate_leaves_before_the_frequency` (`wp_util_est_dequeue`); `external_frequencies`,
//! `external_requests_lead_to_the_hints` (`wp_perf_request`).
//! Helpers, and who fails with them: `activation` (`periodic_5pct_rows`); `signal_changed`
//! (`schedutil_examples`, `schedutil_inputs`, `schedutil_hints`, `external_frequencies`);
//! `requested_mhz` (`schedutil_examples`, `schedutil_inputs`).

use crate::common;

use common::{Cluster, NOW, RunsAt as _, core, freeze, hikey960, lone_cpu, machine, table};
use wakeplace_policy_sys::{Core, Task, sys};

const ERA: &str = "linux-7.3";
const FIXED: [(&str, &str); 1] = [("governor", "performance")];

// ------------------------------------------------------------------------------- PELT, util_est

/// One activation of 0.8 ms at full speed, with ticks of 1 ms: (util at wake, at sleep, util_est).
fn activation(core: &mut Core, task: &mut Task, wake: u64, run: u64) -> (u32, u32, u32) {
    core.exit_idle(0, wake);
    let _ = core.enqueue_woken(task, 0, wake);
    let at_wake = task.util_avg();
    let _ = core.set_current(task, wake);
    let mut tick = wake + 1_000_000;
    while tick < wake + run {
        let _ = core.tick(task, tick);
        tick += 1_000_000;
    }
    let _ = core.dequeue_sleep(task, wake + run);
    core.enter_idle(0, wake + run);
    let est = task.raw().util_est & !sys::WP_UTIL_EST_UNCHANGED;
    (at_wake, task.util_avg(), est)
}

/// Goal: the columns of docs/rules/signals.md#pelt-periodic-task (util_est in the 7.3 order,
/// evaluated in the dequeue's update) come out of the era as it is, on five CPUs.
#[test]
fn periodic_5pct_rows() {
    let t = table("pelt_periodic_16ms_5pct.csv");
    let mut checked = 0;
    for (label, capacity, freq) in [
        ("cap1024_fmax", 1024, 1024),
        ("cap1024_f512", 1024, 512),
        ("cap462_fmax", 462, 1024),
        ("cap446_fmax", 446, 1024),
        ("cap430_fmax", 430, 1024),
    ] {
        let mut core = core(&lone_cpu(capacity), ERA, &FIXED);
        core.cpu_mut(0).load.freq_scale = freq;
        let speed = f64::from(capacity) * f64::from(freq) / (1024.0 * 1024.0);
        let run = (800_000.0 / speed).round() as u64;
        let mut task = Task::new(1, 1024, 0, None, 1);
        core.task_init(&mut task);
        for (k, row) in (0u64..).zip(t.rows.iter().filter(|r| t.text(r, "cpu") == label)) {
            let want = ["util_at_wake", "util_at_sleep", "util_est"];
            let want = want.map(|name| t.number(row, name) as u32);
            let got = activation(&mut core, &mut task, k * 16_000_000, run);
            assert_eq!([got.0, got.1, got.2], want, "{label} {}", k + 1);
            checked += 1;
        }
    }
    assert_eq!(checked, 300);
}

/// Goal: a new task starts with half of what its CPU's own capacity has left. Source:
/// docs/rules/signals.md#new-task-numbers.
#[test]
fn start_of_new_tasks() {
    let start = |capacity, util, load| {
        let mut core = core(&lone_cpu(capacity), ERA, &FIXED);
        freeze(&mut core);
        core.cpu_mut(0).load.avg.util_avg = util;
        core.cpu_mut(0).load.avg.load_avg = load;
        let mut task = Task::new(1, 1024, 0, None, 1);
        core.task_init(&mut task);
        core.task_new(&mut task, 0, NOW);
        assert_eq!(task.raw().avg.runnable_avg, task.util_avg());
        task.util_avg()
    };
    assert_eq!(start(1024, 0, 0), 512);
    assert_eq!(start(462, 0, 0), 231);
    assert_eq!(start(1024, 300, 1024), 299);
    assert_eq!(start(462, 400, 800), 31);
    assert_eq!(start(462, 462, 1024), 0);
}

/// Goal: at half speed the signal rises half as fast to the same end; time stolen from an idle CPU
/// is handed back, from a saturated one it is lost. Source: docs/rules/signals.md#pelt-clock edges.
#[test]
fn clock_form() {
    let mut core = core(&lone_cpu(512), ERA, &FIXED);
    let mut task = Task::new(1, 1024, 0, None, 1);
    core.task_init(&mut task);
    core.exit_idle(0, 0);
    let _ = core.enqueue_woken(&mut task, 0, 0);
    let _ = core.set_current(&mut task, 0);
    // 2 * 32 periods of wall time are 32 periods of work: half of 1024.
    let _ = core.tick(&mut task, 64 * 1_048_576);
    assert_eq!(task.util_avg(), 512);
    let _ = core.dequeue_sleep(&mut task, 64 * 1_048_576);
    core.enter_idle(0, 64 * 1_048_576);
    assert_eq!(core.cpu(0).load.lost_idle_ns, 0, "half used: handed back");
    assert_eq!(
        core.cpu(0).load.clock_pelt_ns,
        core.cpu(0).load.clock_task_ns
    );
    // The same with an RT class that fills the rest.
    core.exit_idle(0, 65 * 1_048_576);
    core.cpu_mut(0).load.rt_util = 1024;
    core.enter_idle(0, 67 * 1_048_576);
    assert_eq!(core.cpu(0).load.lost_idle_ns, 1_048_576);
}

// ------------------------------------------------------------------------------- schedutil

fn signal_changed(core: &mut Core, cpu: u32, now_ns: u64) -> bool {
    core.cpu_mut(cpu).load.nr_removed = 1;
    core.update_blocked(cpu, now_ns).freq()
}

/// MHz requested by a HiKey960 domain (0 = A53, 1 = A73) after `set` on its first CPU.
fn requested_mhz(domain: usize, set: impl Fn(&mut sys::wp_cpu)) -> u32 {
    let facts = machine(&hikey960());
    let mut core = core(&facts, ERA, &[]);
    freeze(&mut core);
    let cpu = 4 * domain as u32;
    set(core.cpu_mut(cpu));
    signal_changed(&mut core, cpu, NOW);
    facts.freq_domains[domain].opp_khz[core.freq_request(domain) as usize] / 1000
}

/// Goal: demand plus headroom, then the frequency for that performance. Source:
/// docs/rules/capacity.md#schedutil-numbers, with A53 343 -> 428 -> 1709 where the older form gives
/// 1844.
#[test]
fn schedutil_examples() {
    for (domain, util, mhz) in [
        (0, 106, 533),
        (0, 107, 533), // 107 + 26 = 133: 530857 kHz
        (0, 343, 1709),
        (0, 370, 1844),
        (1, 200, 903),
        (1, 500, 1805),
        (1, 627, 2112),
        (1, 733, 2362),
        (1, 0, 903),
    ] {
        assert_eq!(
            requested_mhz(domain, |c| c.load.avg.util_avg = util),
            mhz,
            "{util}"
        );
    }
}

/// Goal: what else counts: queue time, estimates, other classes, interrupts. Source:
/// docs/rules/capacity.md#schedutil.
#[test]
fn schedutil_inputs() {
    assert_eq!(requested_mhz(1, |c| c.load.avg.runnable_avg = 500), 1805);
    assert_eq!(requested_mhz(1, |c| c.load.util_est = 500), 1805);
    let both = |c: &mut sys::wp_cpu| (c.load.rt_util, c.load.dl_util) = (300, 200);
    assert_eq!(requested_mhz(1, both), 1805);
    let rt = |c: &mut sys::wp_cpu| c.queue.rt_runnable = 1;
    assert_eq!(requested_mhz(1, rt), 2362);
    // (400, irq 100) -> 400 * 924 / 1024 + 100 = 460 -> 575 -> 1326327 kHz; without 500 -> 1153320.
    let irq = |c: &mut sys::wp_cpu| (c.load.avg.util_avg, c.load.irq_util) = (400, 100);
    assert_eq!(requested_mhz(1, irq), 1421);
    assert_eq!(requested_mhz(1, |c| c.load.irq_util = 1024), 2362);
}

/// Goal: hints bound the performance after the headroom. Source: docs/rules/capacity.md#schedutil.
#[test]
fn schedutil_hints() {
    for (util, min, max, mhz) in [
        (800, 0, 391, 903),
        (800, 0, 392, 1421),
        (100, 616, 1024, 1421),
        (100, 617, 1024, 1805),
        (100, 800, 391, 2112), // the wish is above the bound
    ] {
        let facts = machine(&hikey960());
        let mut core = core(&facts, ERA, &[]);
        freeze(&mut core);
        let mut task = common::sleeper(&mut core, 1, 4, 0, 0);
        core.task_set_uclamp(&mut task, min, max);
        let _ = core.enqueue_woken(&mut task, 4, NOW);
        core.cpu_mut(4).load.avg.util_avg = util;
        signal_changed(&mut core, 4, NOW);
        let khz = facts.freq_domains[1].opp_khz[core.freq_request(1) as usize];
        assert_eq!(khz / 1000, mhz, "{util} {min} {max}");
    }
}

/// Goal: the era's own limit between two changes. Source: docs/rules/capacity.md#schedutil
/// constants.
#[test]
fn rate_limit() {
    for (latency_us, limit) in [(0, 1000), (10, 15), (1001, 1501), (100_000, 150_000)] {
        let mut facts = machine(&hikey960());
        facts.freq_domains[1].transition_latency_us = latency_us;
        assert_eq!(core(&facts, ERA, &[]).rate_limit_us(1), limit);
    }
}

/// Goal: a task that leaves takes its estimate along before the frequency is looked at, as since
/// 5.12: the lone CPU of a domain drops at once. Source: docs/rules/signals.md#util-est (7.3
/// order).
#[test]
fn estimate_leaves_before_the_frequency() {
    for (after, opp) in [("off", 0), ("on", 4)] {
        let clusters = [Cluster {
            cpus: 1,
            ..hikey960()[1].clone()
        }];
        let overrides = [("rate_limit_us", "1"), ("util_est_dequeue_late", after)];
        let mut core = core(&machine(&clusters), ERA, &overrides);
        freeze(&mut core);
        let mut task = common::sleeper(&mut core, 1, 0, 10, 900);
        core.exit_idle(0, NOW);
        let _ = core.enqueue_woken(&mut task, 0, NOW);
        core.cpu_mut(0).load.nr_removed = 1;
        let _ = core.set_current(&mut task, NOW);
        core.runs_at(0, core.freq_request(0));
        core.cpu_mut(0).idle.idle_calls += 1;
        let _ = core.dequeue_sleep(&mut task, NOW + 2_000_000);
        assert_eq!(core.freq_request(0), opp, "{after}");
    }
}

/// Goal: a kernel that sets frequencies is told each CPU's demand without headroom, when it
/// changed, and no frequency domain is touched. Source: docs/rules/capacity.md#schedutil (schedutil
/// adds the 25 %).
#[test]
fn external_frequencies() {
    let mut core = core(&machine(&hikey960()), ERA, &[]);
    core.state_mut().freq_external = 1;
    core.state_mut().freq_schedutil = 1;
    freeze(&mut core);
    let opp = core.freq_request(1);
    core.cpu_mut(4).load.avg.util_avg = 500;
    assert!(signal_changed(&mut core, 4, NOW));
    assert_eq!(core.perf_request(4), 500);
    assert!(!signal_changed(&mut core, 4, NOW), "nothing new");
    core.cpu_mut(4).load.avg.runnable_avg = 600;
    assert!(signal_changed(&mut core, 4, NOW));
    assert_eq!(core.perf_request(4), 600);
    // The kernel adds the other classes itself.
    core.cpu_mut(4).load.rt_util = 100;
    core.cpu_mut(4).load.irq_util = 100;
    assert_eq!(core.perf_request(4), 600);
    assert_eq!(core.freq_request(1), opp);
    // A little CPU asks for what it has at most.
    core.cpu_mut(0).load.avg.util_avg = 1000;
    assert_eq!(core.perf_request(0), 462);
}

/// Goal: with the kernel's headroom on top a hint is met exactly. Source:
/// docs/rules/capacity.md#schedutil (perf = max(min, min(max, U + U/4))).
#[test]
fn external_requests_lead_to_the_hints() {
    let mut core = core(&machine(&hikey960()), ERA, &[]);
    freeze(&mut core);
    let mut task = common::sleeper(&mut core, 1, 4, 0, 0);
    let _ = core.enqueue_woken(&mut task, 4, NOW);
    for hint in 0..=1024u32 {
        let with_headroom = |u: u32| u + u / 4;
        core.task_set_uclamp(&mut task, hint, 1024);
        core.cpu_mut(4).load.avg.util_avg = 0;
        let asked = core.perf_request(4);
        assert!(with_headroom(asked) >= hint && with_headroom(asked.max(1) - 1) <= hint);
        core.task_set_uclamp(&mut task, 0, hint);
        core.cpu_mut(4).load.avg.util_avg = 1000;
        let asked = core.perf_request(4);
        assert!(
            with_headroom(asked) <= hint.max(1) || hint == 1024,
            "{hint} {asked}"
        );
    }
}

//! Single steps of the rules for signals and for balancing on a state that is put there, and what
//! of util_est was found beside kernels (docs/rules/README.md#signal-by-signal,
//! docs/rules/README.md#step-by-step).
//!
//! What must stay: each step does what its event does in the core, on a state that is put there;
//! figures are the kernel's of the versions that the tests name. It covers
//! policy/src/runqueue/on_state.c and policy/src/load_tracking/util_est.c. Free: how helpers put a
//! state there.
//! Tests by part: `the_fast_half_follows`, `a_held_estimate_is_not_marked` (`wp_util_est_pair`,
//! `wp_util_est_next`); `one_step_at_a_time` (`wp_on_state_task`, `wp_on_state_queue`);
//! `an_estimate_is_counted` (`wp_on_state_estimate`); `a_wait_for_a_device_is_told`
//! (`wp_on_state_freq`); `balancing_by_steps` (`wp_on_state_balances`, `wp_on_state_src_group`,
//! `wp_on_state_src_cpu`, `wp_on_state_pushes`); `a_kept_sleeper_is_moved` (`wp_migrate_queued`).
//! Helpers, and who fails with them: `running` (all tests, `one_step_at_a_time` among them);
//! `sleeps` (`the_fast_half_follows`, `a_held_estimate_is_not_marked`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{cluster, core, lone_cpu, machine, put};
use wakeplace_policy_sys::{Balance, Core, IdleKind, Task, sys};

const UNCHANGED: u32 = sys::WP_UTIL_EST_UNCHANGED;

/// A core with one CPU, and a task that runs there.
fn running(era: &str, capacity: u32) -> (Core, Task) {
    let core = core(&lone_cpu(capacity), era, &[]);
    let mut task = Task::new(1, 1024, 0, None, 1);
    let raw = task.raw_mut();
    (raw.on_rq, raw.running) = (1, 1);
    (core, task)
}

/// It falls asleep at once, with these: `util_est` and its slow half, utilisation. What they are
/// then.
fn sleeps(era: &str, capacity: u32, est: [u32; 2], util: u32) -> [u32; 2] {
    let (mut core, mut task) = running(era, capacity);
    let now_ns = 1 << 30;
    let load = &mut core.cpu_mut(0).load;
    (load.clock_ns, load.clock_task_ns, load.clock_pelt_ns) = (now_ns, now_ns, now_ns);
    load.avg.last_update_ns = now_ns;
    let raw = task.raw_mut();
    raw.avg.last_update_ns = now_ns;
    (raw.avg.util_avg, raw.avg.runnable_avg) = (util, util);
    [raw.util_est, raw.util_est_ewma] = est;
    core.dequeue_sleep(&mut task, now_ns);
    [task.raw().util_est, task.raw().util_est_ewma]
}

/// Goal: the fast half of the pair is written where only it has changed. Source:
/// `util_est_update()` in kernel/sched/fair.c of 5.10.223 and 6.1.176 (`last_enqueued_diff`):
/// within the margin of the slow half it returns, unless the fast one differs by the margin
/// (1024 / 100) or more.
#[test]
fn the_fast_half_follows() {
    for era in ["linux-5.10", "linux-6.1"] {
        let written = sleeps(era, 1024, [300, 200], 195);
        assert_eq!(written, [195 | UNCHANGED, 200], "{era}");
        assert_eq!(sleeps(era, 1024, [200, 200], 195), [200, 200], "{era}");
        assert_eq!(sleeps(era, 1024, [205, 200], 195), [195 | UNCHANGED, 200]);
        assert_eq!(sleeps(era, 1024, [204, 200], 195), [204, 200], "{era}");
    }
    assert_eq!(sleeps("linux-5.0", 1024, [300, 200], 195), [300, 200]);
}

/// Goal: an estimate that is held for lack of capacity is not marked. Source: `util_est_update()`
/// in kernel/sched/fair.c of 6.12.117, which returns there; 7.3.4 has no such rule, and
/// (4 x 600 - 100) / 4 = 575.
#[test]
fn a_held_estimate_is_not_marked() {
    assert_eq!(sleeps("linux-6.12", 430, [600, 0], 500)[0], 600);
    assert_eq!(sleeps("linux-6.12", 430, [505, 0], 500)[0], 505 | UNCHANGED);
    assert_eq!(sleeps("linux-7.3", 430, [600, 0], 500)[0], 575 | UNCHANGED);
}

/// Goal: a step of a task, and of a queue, is that of its events. Source:
/// docs/rules/signals.md#pelt-update-numbers: 10 ms from 0 in one update.
#[test]
fn one_step_at_a_time() {
    let (mut core, mut task) = running("linux-7.3", 1024);
    core.on_state_task(&mut task, 10_000_000);
    let avg = task.raw().avg;
    assert_eq!((avg.util_avg, avg.util_sum), (191, 9_035_776));
    let cpu = core.cpu_mut(0);
    cpu.load.avg = sys::wp_sched_avg::default();
    (cpu.load.clock_pelt_ns, cpu.load.lost_idle_ns) = (10_000_000, 0);
    cpu.load.load_weight = 1024;
    (cpu.queue.nr_fair, cpu.queue.curr_fair) = (1, 1);
    core.on_state_queue(0);
    let avg = core.cpu(0).load.avg;
    assert_eq!((avg.util_avg, avg.util_sum), (191, 9_035_776));
}

/// Goal: what a queue counts for a task is its estimate, and nothing for a sleeper that it keeps.
/// Source: `util_est_enqueue()` and `dequeue_task_fair()` in kernel/sched/fair.c of 7.3.4.
#[test]
fn an_estimate_is_counted() {
    for (delayed, counted) in [(0, 100), (1, 0)] {
        let (mut core, mut task) = running("linux-7.3", 1024);
        task.raw_mut().util_est = 100 | UNCHANGED;
        task.raw_mut().sched_delayed = delayed;
        core.on_state_estimate(&mut task);
        assert_eq!(task.raw().util_est_queued, counted);
    }
}

/// Goal: the first call after a wait for a device gives a CPU the least boost. Source:
/// `sugov_iowait_boost()` in kernel/sched/cpufreq_schedutil.c of 7.3.4: IOWAIT_BOOST_MIN, 1024 / 8.
#[test]
fn a_wait_for_a_device_is_told() {
    let (mut core, _) = running("linux-7.3", 1024);
    core.on_state_freq(0, 0, 1_000_000);
    assert_eq!(core.cpu(0).queue.classes.io_boost, 0);
    core.on_state_freq(0, 1, 1_000_000);
    assert_eq!(core.cpu(0).queue.classes.io_boost, 128);
}

/// Goal: a sleeper that its queue keeps may be moved as it is: its averages join the other queue,
/// its estimate does not, and it counts as kept there. Source: `enqueue_task_fair()` and
/// `attach_entity_load_avg()` in kernel/sched/fair.c of 6.12.117, where `p->se.sched_delayed` and
/// `task_on_rq_migrating(p)` leave `util_est_enqueue()` out.
#[test]
fn a_kept_sleeper_is_moved() {
    let (mut core, mut task) = running("linux-6.12", 1024);
    let raw = task.raw_mut();
    (raw.on_rq, raw.running, raw.sched_delayed) = (0, 0, 1);
    (raw.avg.util_avg, raw.avg.load_avg, raw.util_est) = (100, 1024, 300);
    core.enqueue_moved(&mut task, 0, 1_000_000);
    let cpu = core.cpu(0);
    assert_eq!((cpu.load.avg.util_avg, cpu.load.avg.load_avg), (100, 1024));
    assert_eq!((cpu.load.util_est, cpu.load.load_weight), (0, 1024));
    assert_eq!((cpu.queue.nr_fair, cpu.queue.h_nr_delayed), (0, 1));
    assert_eq!((task.raw().on_rq, task.raw().sched_delayed), (1, 1));
}

/// Goal: each step of an attempt alone says what the attempt says. Two caches of two CPUs; CPU 2
/// has three tasks, CPU 3 one, the others are idle. CPU 0 balances for its group, being its first
/// idle CPU, and CPU 1 does not. Group 1 has 4 tasks on 2 CPUs, more than its capacity, as 2000 x
/// 117 is above 2048 x 100, and there is room for 2048 - 0 of utilisation; its source is CPU 2,
/// since a lone task is not pulled so. A push of the task that runs follows neither an amount of
/// utilisation nor a first failure; for a misfit it does. Source:
/// docs/rules/balancing.md#group-class, docs/rules/balancing.md#imbalance,
/// docs/rules/balancing.md#source-queue, docs/rules/balancing.md#active-balance.
#[test]
fn balancing_by_steps() {
    let mut core = core(
        &machine(&[cluster(2, 1024), cluster(2, 1024)]),
        "linux-7.3",
        &[],
    );
    put(&mut core, 2, 3, 3072, 1000, 3000);
    put(&mut core, 3, 1, 1024, 1000, 1000);
    let attempt = |core: &Core, cpu: u32| {
        let mut balance = Balance::default();
        balance.prepare(1 << 30, cpu, 1, IdleKind::Idle);
        let raw = balance.raw_mut();
        raw.dom = core.cpu(cpu).topo.dom[1];
        raw.dst_cpu = cpu;
        balance
    };
    let other = attempt(&core, 1);
    assert!(!core.on_state_balances(&other));
    let mut balance = attempt(&core, 0);
    assert!(core.on_state_balances(&balance));
    assert!(core.on_state_src_group(&mut balance));
    let raw = balance.raw();
    assert_eq!((raw.busiest_group, raw.imbalance), (1, 2048));
    assert_eq!(raw.migration_type, sys::WP_MIGRATE_UTIL);
    assert_eq!(core.on_state_src_cpu(&mut balance), Some(2));
    balance.raw_mut().src_cpu = 2;
    assert!(!core.on_state_pushes(&balance));
    balance.raw_mut().migration_type = sys::WP_MIGRATE_MISFIT;
    assert!(core.on_state_pushes(&balance));
}

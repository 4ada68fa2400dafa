//! What fits a CPU, with performance hints; what is left of a CPU; misfit tasks.
//! Rules: docs/rules/capacity-aware.md#fit-thresholds, docs/rules/capacity.md#util-fits-cpu,
//! docs/rules/capacity.md#capacity-of, docs/rules/capacity.md#misfit.
//!
//! What must stay: the three answers (fits, all but the wish, not at all) and their order,
//! thresholds to the unit; era 7.3. It covers policy/src/load_tracking/capacity.c and uclamp.c.
//! Free: how helpers build a state.
//! Tests by part: `thresholds` (`wp_fits_capacity`); `hints`, `hints_off`, `pressure_and_hints`
//! (`wp_util_fits_on`, `wp_util_fits_cpu`); `capacity_left` (`wp_update_cpu_capacity`);
//! `queue_serves_the_highest_hints`, `random_hints_balance` (`wp_uclamp_rq_inc`,
//! `wp_uclamp_rq_dec`, `wp_uclamp_rq_max_value`); `misfit_after_47_ms`, `who_is_no_misfit`,
//! `unmet_wish_is_misfit` (`wp_update_misfit_status`); `largest_allowed_capacity`
//! (`wp_best_it_may_use`).
//! Helpers, and who fails with them: `lone` (`thresholds`, `hints`, `pressure_and_hints`); `left`
//! (`capacity_left`); `run_from_zero` (`misfit_after_47_ms`, `who_is_no_misfit`,
//! `unmet_wish_is_misfit`); `little_and_big` (`misfit_after_47_ms`, `unmet_wish_is_misfit`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{NOW, Rng, cluster, core, freeze, hikey960, lone_cpu, machine, sleeper};
use wakeplace_policy_sys::{Balance, Core, IdleKind, Task};

const ERA: &str = "linux-7.3";

fn lone(capacity: u32) -> Core {
    core(&lone_cpu(capacity), ERA, &[])
}

/// Goal: largest utilisation that fits. Source: docs/rules/capacity-aware.md#fit-thresholds, first
/// column.
#[test]
fn thresholds() {
    for (capacity, largest) in [(430, 343), (446, 356), (462, 369), (512, 409), (1024, 819)] {
        let core = lone(capacity);
        assert_eq!(core.util_fits(largest, 0, 1024, 0), 1, "{capacity}");
        assert_eq!(core.util_fits(largest + 1, 0, 1024, 0), 0, "{capacity}");
    }
}

/// Goal: the three answers under hints. Source: docs/rules/capacity.md#util-fits-cpu.
#[test]
fn hints() {
    let core = lone(462);
    for (util, min, max, fits) in [
        (100, 600, 1024, -1), // the check's first example
        (500, 0, 400, 1),     // its second: forced to fit
        (500, 0, 462, 1),     // a bound equal to the capacity forces
        (500, 0, 463, 0),     // one above does not
        (100, 462, 1024, 1),  // a wish the CPU can just meet
        (100, 463, 1024, -1),
        (100, 600, 400, 1), // the wish counts up to the bound only
        (369, 370, 1024, 1),
        (370, 600, 1024, 0), // what does not fit has no wish to meet
        (500, 600, 450, 1),
    ] {
        assert_eq!(
            core.util_fits(util, min, max, 0),
            fits,
            "{util} {min} {max}"
        );
    }
    // On a CPU of 1024 the bound of 1024 is no bound.
    let core = lone(1024);
    assert_eq!(core.util_fits(900, 0, 1024, 0), 0);
    assert_eq!(core.util_fits(900, 0, 1023, 0), 1);
}

/// Goal: without hints in force the answer is that of the demand alone. Source:
/// docs/rules/capacity.md#util-fits-cpu ("with uclamp in use").
#[test]
fn hints_off() {
    let core = core(&lone_cpu(462), ERA, &[("uclamp", "off")]);
    for (util, fits) in [(369, 1), (370, 0)] {
        assert_eq!(core.util_fits(util, 1024, 1024, 0), fits);
        assert_eq!(core.util_fits(util, 0, 1, 0), fits);
    }
}

/// Goal: pressure takes from what the wish finds, other classes only from the demand. Source:
/// docs/rules/capacity.md#util-fits-cpu. Capacity 1024, 242 under pressure: 782 left for wishes.
#[test]
fn pressure_and_hints() {
    let mut core = lone(1024);
    core.cpu_mut(0).load.pressure = 242;
    assert_eq!(core.util_fits(100, 782, 1024, 0), 1);
    assert_eq!(core.util_fits(100, 783, 1024, 0), -1);
    assert_eq!(
        core.util_fits(900, 0, 1000, 0),
        1,
        "the bound ignores pressure"
    );
    let mut core = lone(1024);
    core.cpu_mut(0).load.capacity = 200; // RT time
    assert_eq!(core.util_fits(100, 1000, 1024, 0), 1);
    assert_eq!(core.util_fits(160, 0, 1024, 0), 0);
}

/// What is left of a lone CPU after a balancing pass read it.
fn left(capacity: u32, rt: u32, dl: u32, irq: u32, pressure: u32) -> u32 {
    let mut core = core(
        &machine(&[cluster(1, capacity), cluster(1, 1024)]),
        ERA,
        &[],
    );
    freeze(&mut core);
    let c = core.cpu_mut(0);
    c.load.rt_util = rt;
    c.load.dl_util = dl;
    c.load.irq_util = irq;
    c.load.pressure = pressure;
    let mut pass = Balance::default();
    pass.prepare(NOW, 0, 0, IdleKind::Idle);
    core.balance_begin(&mut pass);
    core.cpu(0).load.capacity
}

/// Goal: what limits, other classes and interrupts leave. Source:
/// docs/rules/capacity.md#capacity-of.
#[test]
fn capacity_left() {
    assert_eq!(left(1024, 60, 40, 50, 0), 878);
    assert_eq!(left(1024, 0, 0, 0, 242), 782);
    assert_eq!(left(1024, 0, 0, 0, 0), 1024);
    // (1024 - 242 - 100) * (782 - 50) / 782 = 682 * 732 / 782 = 638.
    assert_eq!(left(1024, 100, 0, 50, 242), 638);
    for (rt, irq, pressure) in [(1024, 0, 0), (0, 1024, 0), (782, 0, 242), (0, 782, 242)] {
        assert_eq!(left(1024, rt, 0, irq, pressure), 1, "{rt} {irq} {pressure}");
    }
    assert_eq!(left(1024, 0, 0, 0, 2000), 1);
}

// ------------------------------------------------------------------------------- queue's hints

/// Goal: a queue serves the highest hint of each kind; empty it keeps the last bound. Source:
/// docs/rules/capacity.md#schedutil (clamps), docs/rules/energy-aware.md#energy-wake-up ("max of
/// the queue's"). Seen through the request for performance, which the queue's hints bound: 500
/// asked, with 25 % on top 625.
#[test]
fn queue_serves_the_highest_hints() {
    let mut core = core(&machine(&hikey960()), ERA, &[]);
    freeze(&mut core);
    let join = |core: &mut Core, id, min, max| {
        let mut task = Task::new(id, 1024, 4, None, 8);
        core.task_init(&mut task);
        core.task_set_uclamp(&mut task, min, max);
        core.enqueue_new(&mut task, 4, NOW);
        core.cpu_mut(4).load.avg.util_avg = 500;
        task
    };
    assert_eq!(core.perf_request(4), 0);
    let mut a = join(&mut core, 1, 0, 300);
    assert_eq!(core.perf_request(4), 240, "240 and a quarter is 300");
    let mut b = join(&mut core, 2, 100, 400);
    assert_eq!(core.perf_request(4), 320);
    let mut c = join(&mut core, 3, 900, 1024);
    assert_eq!(
        core.perf_request(4),
        720,
        "the wish of 900 counts, no bound"
    );
    core.task_set_uclamp(&mut c, 0, 1024);
    assert_eq!(core.perf_request(4), 500);
    core.dequeue_sleep(&mut c, NOW);
    core.cpu_mut(4).load.avg.util_avg = 500;
    assert_eq!(core.perf_request(4), 320);
    // Both bounds are of one bucket (205..409): its highest value holds until it is empty.
    core.dequeue_sleep(&mut b, NOW);
    core.cpu_mut(4).load.avg.util_avg = 500;
    assert_eq!(core.perf_request(4), 320);
    core.dequeue_sleep(&mut a, NOW);
    core.cpu_mut(4).load.avg.util_avg = 500;
    assert_eq!(
        core.perf_request(4),
        240,
        "the bound of the task that left last"
    );
}

/// Goal: whatever tasks come and go, in whatever order and by pulls, the hints of the queue lie
/// between the highest queued one and the top of its bucket, and nothing stays when all are gone.
#[test]
fn random_hints_balance() {
    let mut core = core(&machine(&hikey960()), ERA, &[]);
    freeze(&mut core);
    let mut rng = Rng(3);
    let mut tasks: Vec<Task> = (0..12)
        .map(|id| sleeper(&mut core, id + 1, 0, 0, 0))
        .collect();
    let mut queued = [false; 12];
    for _ in 0..20_000 {
        let at = rng.index(tasks.len());
        let task = &mut tasks[at];
        if rng.one_in(3) {
            core.task_set_uclamp(task, rng.range(0, 1024), rng.range(0, 1024));
        } else if queued[at] {
            if rng.one_in(2) {
                core.dequeue_sleep(task, NOW);
            } else {
                core.migrate_pulled(task, 0);
            }
            queued[at] = false;
        } else {
            core.enqueue_woken(task, 0, NOW);
            queued[at] = true;
        }
        let inside = tasks.iter().zip(queued).filter(|(_, q)| *q);
        let most = inside.map(|(t, _)| t.raw().uclamp_min).max().unwrap_or(0);
        core.cpu_mut(0).load.avg = Default::default();
        core.cpu_mut(0).load.util_est = 0;
        let asked = core.cpu(0).load.uclamp[0];
        let top = (0..5).rev().find(|b| asked.tasks[*b] > 0);
        let value = top.map_or(0, |b| asked.highest[b]);
        assert!(value >= most, "{value} {most}");
        assert_eq!(top.unwrap_or(0), (most as usize / 205).min(4));
    }
    for (task, queued) in tasks.iter_mut().zip(queued) {
        if queued {
            core.dequeue_sleep(task, NOW);
        }
    }
    let all = core.cpu(0).load.uclamp;
    assert!(all.iter().all(|u| u.tasks.iter().all(|n| *n == 0)));
}

// ------------------------------------------------------------------------------- misfit

/// A task that runs on CPU 0 of a little and a big one, always, from utilisation 0.
fn run_from_zero(core: &mut Core, task: &mut Task) {
    core.task_init(task);
    core.task_set_allowed(task);
    core.task_new(task, 0, 0);
    task.raw_mut().avg.util_avg = 0;
    core.exit_idle(0, 0);
    core.enqueue_new(task, 0, 0);
    core.cpu_mut(0).queue.nr_running = 1;
    core.set_current(task, 0);
}

fn little_and_big() -> Core {
    core(
        &machine(&[cluster(1, 430), cluster(1, 1024)]),
        ERA,
        &[("governor", "performance")],
    )
}

/// Goal: the mark appears when util passes 343, 47.5 ms from 0. Source:
/// docs/rules/capacity.md#misfit, docs/rules/signals.md#pelt-clock-numbers.
#[test]
fn misfit_after_47_ms() {
    let mut core = little_and_big();
    let mut task = Task::new(1, 1024, 0, None, 2);
    run_from_zero(&mut core, &mut task);
    let mut marked = None;
    for step in 1..=1000u64 {
        let now = step * 100_000;
        core.tick(&mut task, now);
        let fits = task.util_avg() <= 343;
        assert_eq!(
            core.cpu(0).queue.misfit_task_load == 0,
            fits,
            "{now} {}",
            task.util_avg()
        );
        if !fits && marked.is_none() {
            marked = Some((now, task.util_avg()));
        }
    }
    let (now, util) = marked.expect("it must become too big");
    // Averages change at period boundaries only. The 19th is at 19 * 1048576 * 1024 / 430 ns =
    // 47.44 ms; ticks are 0.1 ms apart here.
    assert_eq!(now, 47_500_000);
    assert!(util > 343);
    assert!(core.cpu(0).queue.misfit_task_load >= 1);
    core.enter_idle(0, 101_000_000);
    assert_eq!(
        core.cpu(0).queue.misfit_task_load,
        0,
        "an idle CPU has no misfit task"
    );
}

/// Goal: no mark where no bigger CPU is allowed, where the task is pinned, or with the rule off.
/// Source: docs/rules/capacity.md#misfit.
#[test]
fn who_is_no_misfit() {
    let load = |allowed: Option<&[u32]>, capacities: &[u32], misfit: &str| {
        let clusters: Vec<_> = capacities.iter().map(|c| cluster(1, *c)).collect();
        let overrides = [("governor", "performance"), ("misfit", misfit)];
        let mut core = core(&machine(&clusters), ERA, &overrides);
        let mut task = Task::new(1, 1024, 0, allowed, capacities.len() as u32);
        run_from_zero(&mut core, &mut task);
        for ms in 1..200 {
            core.tick(&mut task, ms * 1_000_000);
        }
        core.cpu(0).queue.misfit_task_load
    };
    assert!(load(None, &[430, 1024], "on") > 0);
    assert_eq!(load(None, &[430, 1024], "off"), 0);
    assert_eq!(load(Some(&[0]), &[430, 1024], "on"), 0, "pinned");
    assert_eq!(
        load(Some(&[0, 1]), &[430, 430, 1024], "on"),
        0,
        "no bigger one"
    );
    assert!(load(Some(&[0, 2]), &[430, 430, 1024], "on") > 0);
    assert_eq!(load(None, &[430, 430], "on"), 0, "symmetric");
}

/// Goal: the largest capacity a task may use follows its allowed CPUs. Source:
/// docs/rules/capacity.md#misfit.
#[test]
fn largest_allowed_capacity() {
    let mut core = core(&machine(&hikey960()), ERA, &[]);
    let mut task = Task::new(1, 1024, 0, Some(&[1, 2]), 8);
    core.task_init(&mut task);
    let of = |task: &Task| (task.raw().nr_allowed, task.raw().max_allowed_capacity);
    assert_eq!(of(&task), (2, 462));
    task.set_allowed(Some(&[1, 5, 6]), 8);
    core.task_set_allowed(&mut task);
    assert_eq!(of(&task), (3, 1024));
}

/// Goal: a wish that a little CPU cannot meet makes a small task a misfit. Source:
/// docs/rules/capacity.md#util-fits-cpu ("task_fits_cpu requires 1"),
/// docs/rules/capacity.md#misfit.
#[test]
fn unmet_wish_is_misfit() {
    for (wish, misfit) in [(430, false), (431, true)] {
        let mut core = little_and_big();
        let mut task = Task::new(1, 1024, 0, None, 2);
        run_from_zero(&mut core, &mut task);
        core.task_set_uclamp(&mut task, wish, 1024);
        core.tick(&mut task, 4_000_000);
        assert_eq!(core.cpu(0).queue.misfit_task_load > 0, misfit, "{wish}");
    }
}

//! What was posted as "uclamp sum aggregation": docs/rules/uclamp-sum.md. Values are worked from
//! the posted formulas.
//!
//! What must stay: biases and demands are worked from the posted formulas, to the unit. It covers
//! policy/src/load_tracking/uclamp_sum.c and policy/src/energy/energy_uclamp.c. Free: names of
//! tasks, and how helpers queue them.
//! Tests by part: `the_bias_of_a_task` (`wp_util_bias_update`);
//! `a_bound_does_not_take_from_others`, `the_best_served_task_is_forgotten_as_it_leaves`
//! (`wp_uclamp_spared`); `a_cpus_bias_is_the_sum_of_its_tasks` (`wp_util_bias_enqueue`,
//! `wp_util_bias_dequeue`); `an_estimate_within_hints` (`wp_util_est_uclamp_update`);
//! `demand_with_biases`, `a_bound_does_not_end_where_another_task_joins` (`wp_util_bias_freq`,
//! `wp_cpu_util_cfs_boost_uclamp`); `what_fits_within_hints`, `boosts_add_up`,
//! `overutilized_by_both_demands` (`wp_util_fits_uclamp`); `utilisation_with_the_task`,
//! `hints_move_the_state_not_the_busy_time` (`wp_cpu_util_uclamp`); `a_negative_bias_fades`
//! (`wp_propagate_negative_bias`).
//! Helpers, and who fails with them: `queue` (5 tests, `the_bias_of_a_task` among them); `lone` (6
//! tests, `the_bias_of_a_task` among them); `within`, `bias` (`the_bias_of_a_task`,
//! `a_bound_does_not_take_from_others`, `the_best_served_task_is_forgotten_as_it_leaves`,
//! `overutilized_by_both_demands`); `hinted`, `wake` (`what_fits_within_hints`,
//! `utilisation_with_the_task`, `hints_move_the_state_not_the_busy_time`, `boosts_add_up`);
//! `beside` (`a_bound_does_not_take_from_others`,
//! `the_best_served_task_is_forgotten_as_it_leaves`); `demand` (`demand_with_biases`); `request`
//! (`a_bound_does_not_end_where_another_task_joins`); `two_clusters` (`utilisation_with_the_task`,
//! `hints_move_the_state_not_the_busy_time`, `boosts_add_up`); `adds`
//! (`hints_move_the_state_not_the_busy_time`); `demand_of` (`a_negative_bias_fades`).
#![allow(
    unused_must_use,
    reason = "what an event leads to is not the point here"
)]

use crate::common;

use common::{
    NOW, Rng, ask, cluster, core, freeze, hikey960, lone_cpu, machine, make_busy, sleeper,
};
use wakeplace_policy_sys::{Choice, Core, PlaceKind, Task, sys};

const MS: u64 = 1_000_000;

const ERA: &str = "linux-7.3";

const SUM: (&str, &str) = ("uclamp_aggregation", "sum");
const V1: (&str, &str) = ("uclamp_aggregation", "sum-v1");
const V2: (&str, &str) = ("uclamp_aggregation", "sum-v2");

/// What hints make of a utilisation.
fn within(task: &Task) -> i32 {
    let raw = task.raw();
    let most = if raw.uclamp_max == 1024 {
        u32::MAX
    } else {
        raw.uclamp_max
    };
    raw.avg.util_avg.max(raw.uclamp_min).min(most) as i32
}

fn bias(task: &Task) -> i32 {
    within(task) - task.raw().avg.util_avg as i32
}

/// A queued task of this utilisation and these hints, of a CPU at its highest frequency. Its next
/// update writes the averages: a period is about to end.
fn queue(core: &mut Core, id: u32, weight: u32, util: u32, hints: (u32, u32)) -> Task {
    let mut task = Task::new(id, weight, 0, None, core.state().nr_cpus);
    core.task_init(&mut task);
    core.task_set_uclamp(&mut task, hints.0, hints.1);
    let raw = task.raw_mut();
    raw.avg.last_update_ns = NOW;
    raw.avg.util_avg = util;
    raw.avg.period_contrib = 1023;
    raw.avg.util_sum = u64::from(util) * (46_718 + 1023);
    core.enqueue_woken(&mut task, 0, NOW);
    task
}

/// A lone CPU of 1024.
fn lone(settings: &[(&str, &str)]) -> Core {
    let mut core = core(&lone_cpu(1024), ERA, settings);
    freeze(&mut core);
    core.cpu_mut(0).load.freq_scale = 1024;
    core.exit_idle(0, NOW);
    core
}

/// Goal: a task's bias is what its hints change. Source: docs/rules/uclamp-sum.md#bias-numbers. One
/// update that ends a full period leaves an average where it is, but for rounding.
#[test]
fn the_bias_of_a_task() {
    for (util, hints, least, most) in [
        (1024, (0, 200), -824, -823),
        (50, (300, 1024), 249, 251),
        (300, (0, 1024), 0, 0),
        (300, (200, 400), 0, 0),
    ] {
        let mut core = lone(&[SUM]);
        let mut task = queue(&mut core, 1, 1024, util, hints);
        core.set_current(&mut task, NOW + 2048);
        let got = task.raw().util_avg_bias;
        assert_eq!(got, bias(&task), "{util} {hints:?}");
        assert!(least <= got && got <= most, "{util} {hints:?}: {got}");
        assert_eq!(core.cpu(0).load.util_avg_bias, got, "{util} {hints:?}");
    }
    let mut core = lone(&[]);
    let mut task = queue(&mut core, 1, 1024, 1024, (0, 200));
    core.set_current(&mut task, NOW + 2048);
    assert_eq!(task.raw().util_avg_bias, 0, "max aggregation has none");
}

/// The biases of two tasks of a CPU after the one that runs and the one that waits were updated.
fn beside(settings: &[(&str, &str)], first: (u32, u32), second: (u32, u32)) -> (Core, Task, Task) {
    let mut core = lone(settings);
    let mut free = queue(&mut core, 1, 1024, first.0, (0, 1024));
    let mut bound = queue(&mut core, 2, second.0, first.1, (0, second.1));
    core.set_current(&mut free, NOW + 2048);
    core.put_current(&mut free, NOW + 4096);
    core.set_current(&mut bound, NOW + 4096);
    (core, free, bound)
}

/// Goal: a bounded task beside one without a bound. Source: docs/rules/uclamp-sum.md#bias-numbers
/// (513, the text of patch 8), docs/rules/uclamp-sum.md#uclamp-factor-numbers.
#[test]
fn a_bound_does_not_take_from_others() {
    for (weight, util, max) in [(1024, 512, 1), (335, 424, 50)] {
        let (core, free, bound) = beside(&[SUM], (1024 - util, util), (weight, max));
        assert_eq!(within(&bound), max as i32);
        assert_eq!(core.cpu(0).load.util_avg_bias, bias(&bound), "{weight}");
        assert_eq!(free.raw().util_avg_bias, 0);

        let (core, free, bound) = beside(&[V2], (1024 - util, util), (weight, max));
        let share = free.raw().avg.util_avg as i32 * weight as i32 / 1024;
        let util = bound.raw().avg.util_avg as i32;
        assert_eq!(
            bound.raw().util_avg_bias,
            share.min(util) - util,
            "{weight}"
        );
        let counted = core.cpu(0).load.util_avg_bias;
        assert_eq!(counted, bound.raw().util_avg_bias, "{weight}");
    }
    let (_, _, bound) = beside(&[V2], (600, 424), (335, 50));
    let held = bound.raw().avg.util_avg as i32 + bound.raw().util_avg_bias;
    assert!((195..=197).contains(&held), "600 x 335 / 1024: {held}");
}

/// Goal: the task that is served best counts until it leaves. Source:
/// docs/rules/uclamp-sum.md#uclamp-factor.
#[test]
fn the_best_served_task_is_forgotten_as_it_leaves() {
    let (mut core, mut free, mut bound) = beside(&[V2], (512, 512), (1024, 1));
    assert!(bound.raw().util_avg_bias > -100);
    assert_eq!(core.cpu(0).load.max_uclamp_factor_id, 1);
    core.dequeue_sleep(&mut free, NOW + 2 * MS);
    let c = &core.cpu(0).load;
    assert_eq!((c.max_uclamp_factor_id, c.max_uclamp_factor), (0, 0));
    core.tick(&mut bound, NOW + 4 * MS);
    assert_eq!(core.cpu(0).load.max_uclamp_factor_id, 2);
    assert_eq!(bound.raw().util_avg_bias, bias(&bound));
}

/// Goal: a CPU's bias is the sum of those on its queue, whatever happens. Source:
/// docs/rules/uclamp-sum.md#bias, with delayed sleepers, hints that change, and migrations.
#[test]
fn a_cpus_bias_is_the_sum_of_its_tasks() {
    for set in [SUM, V1, V2] {
        let mut core = core(&machine(&[cluster(2, 1024)]), ERA, &[set]);
        freeze(&mut core);
        let mut rng = Rng(7);
        let mut tasks: Vec<_> = (0..6)
            .map(|i| sleeper(&mut core, i + 1, i % 2, 0, 0))
            .collect();
        let mut biased = 0;
        for step in 1..2000 {
            let now = NOW + step * MS;
            let at = rng.index(tasks.len());
            let task = &mut tasks[at];
            let cpu = task.cpu();
            match (rng.index(6), task.raw().on_rq, task.raw().sched_delayed) {
                (0, _, 0) => {
                    let (a, b) = (rng.range(0, 1024), rng.range(0, 1024));
                    core.task_set_uclamp(task, a.min(b), a.max(b));
                }
                (1, 1, 0) => {
                    core.dequeue_delay(task, now);
                }
                (_, 1, 1) if rng.index(2) == 0 => {
                    core.dequeue_delayed(task, now);
                }
                (2, 1, 0) => {
                    core.dequeue_sleep(task, now);
                }
                (3, 0, 0) => {
                    core.migrate_sleeping(task, 1 - cpu, now);
                    core.enqueue_woken(task, 1 - cpu, now);
                }
                (_, 0, 0) | (_, 1, 1) => {
                    core.enqueue_woken(task, cpu, now);
                }
                (4, 1, 0) => {
                    core.dequeue_move(task, now);
                    core.migrate_queued(task, 1 - cpu, now);
                    core.enqueue_moved(task, 1 - cpu, now);
                }
                _ => {
                    core.set_current(task, now);
                    core.put_current(task, now + MS / 2);
                }
            }
            for cpu in 0..2 {
                let here = || tasks.iter().filter(|t| t.cpu() == cpu);
                let queued = || here().filter(|t| t.raw().on_rq == 1);
                let sum: i32 = queued().map(|t| t.raw().util_avg_bias).sum();
                assert_eq!(core.cpu(cpu).load.util_avg_bias, sum, "{set:?} step {step}");
                let awake = queued().filter(|t| t.raw().sched_delayed == 0);
                let est: u32 = awake.map(|t| t.raw().util_est_uclamp_queued).sum();
                assert_eq!(
                    core.cpu(cpu).load.util_est_uclamp,
                    est,
                    "{set:?} step {step}"
                );
                biased += i32::from(sum != 0);
            }
        }
        assert!(biased > 1000, "{set:?} {biased}");
    }
}

/// Goal: an estimate is kept within the hints of the sleep. Source:
/// docs/rules/uclamp-sum.md#uclamp-sum-estimate.
#[test]
fn an_estimate_within_hints() {
    for (hints, est) in [((0, 200), 200), ((900, 1024), 900), ((0, 1024), 0)] {
        let mut core = lone(&[SUM]);
        let mut task = queue(&mut core, 1, 1024, 600, hints);
        core.set_current(&mut task, NOW + 2048);
        core.dequeue_sleep(&mut task, NOW + 4 * MS);
        let plain = task.raw().util_est & !sys::WP_UTIL_EST_UNCHANGED;
        assert!((500..900).contains(&plain), "{plain}");
        let est = if est == 0 { plain } else { est };
        assert_eq!(task.raw().util_est_uclamp, est, "{hints:?}");
        core.enqueue_woken(&mut task, 0, NOW + 5 * MS);
        assert_eq!(core.cpu(0).load.util_est_uclamp, est, "{hints:?}");
        assert_eq!(core.cpu(0).load.util_est, plain, "{hints:?}");
    }
}

/// The demand of a lone CPU of 1024 with (utilisation, bias, runnable, estimates).
fn demand(state: (u32, i32, u32, u32), settings: &[(&str, &str)]) -> u32 {
    let mut core = lone(settings);
    make_busy(&mut core, 0);
    let load = &mut core.cpu_mut(0).load;
    load.avg.util_avg = state.0;
    load.util_avg_bias = state.1;
    load.avg.runnable_avg = state.2;
    load.util_est_uclamp = state.3;
    core.perf_request(0)
}

/// Goal: a CPU's demand for a frequency. Source:
/// docs/rules/uclamp-sum.md#uclamp-sum-demand-numbers.
#[test]
fn demand_with_biases() {
    for (state, want) in [
        ((1024, -824, 1024, 0), 200),
        ((100, -300, 100, 0), 0),
        ((400, 200, 400, 0), 600),
        ((400, 200, 600, 0), 900),
        ((400, 200, 600, 950), 950),
        ((400, 900, 400, 0), 1024),
        ((0, 300, 500, 0), 300),
    ] {
        assert_eq!(demand(state, &[SUM]), want, "{state:?}");
    }
    let plain = [SUM, ("runnable_boost", "off")];
    assert_eq!(demand((400, 200, 600, 0), &plain), 600);
    let none = [SUM, ("util_est", "off")];
    assert_eq!(demand((400, 200, 600, 950), &none), 900);
    assert_eq!(
        demand((1024, -824, 1024, 0), &[]),
        1024,
        "max knows no bias"
    );
    let older = [SUM, ("freq_perf_form", "off")];
    assert_eq!(demand((400, 200, 400, 0), &older), 400);
}

/// The operating point that a HiKey960's A73s are asked to run at, of 903, 1421, 1805, 2112 and
/// 2362 MHz, with queued tasks of (utilisation, uclamp_max) that run in turn.
fn request(tasks: &[(u32, u32)], set: &[(&str, &str)]) -> u32 {
    let mut core = core(&machine(&hikey960()), ERA, set);
    freeze(&mut core);
    core.exit_idle(4, NOW);
    core.cpu_mut(4).load.freq_scale = 1024;
    let sums = set.contains(&SUM);
    let mut queued = Vec::new();
    for (i, (util, max)) in tasks.iter().enumerate() {
        let mut task = sleeper(&mut core, i as u32 + 1, 4, *util, 0);
        core.task_set_uclamp(&mut task, 0, *max);
        if sums {
            task.raw_mut().util_avg_bias = *util.min(max) as i32 - *util as i32;
        }
        core.cpu_mut(4).load.avg.util_avg += util;
        core.enqueue_woken(&mut task, 4, NOW);
        queued.push(task);
    }
    core.cpu_mut(4).load.nr_removed = 1;
    core.update_blocked(4, NOW + 100 * MS / 1000);
    core.freq_request(1)
}

/// Goal: a bound is scaled like any demand, and does not end where a task without one joins.
/// Source: docs/rules/uclamp-sum.md#uclamp-sum-demand-numbers.
#[test]
fn a_bound_does_not_end_where_another_task_joins() {
    assert_eq!(request(&[(1024, 500)], &[]), 1, "500");
    assert_eq!(request(&[(1024, 500)], &[SUM]), 2, "625");
    assert_eq!(request(&[(700, 300), (324, 1024)], &[]), 4, "1024");
    assert_eq!(request(&[(700, 300), (324, 1024)], &[SUM]), 2, "780");
}

/// A sleeper whose hints, bias and estimates agree.
fn hinted(core: &mut Core, cpu: u32, util: u32, hints: (u32, u32)) -> Task {
    let mut task = sleeper(core, 1, cpu, util, util);
    core.task_set_uclamp(&mut task, hints.0, hints.1);
    let most = if hints.1 == 1024 { u32::MAX } else { hints.1 };
    let clamped = util.max(hints.0).min(most);
    task.raw_mut().util_avg_bias = clamped as i32 - util as i32;
    task.raw_mut().util_est_uclamp = clamped;
    task
}

fn wake(core: &mut Core, task: &Task) -> Choice {
    let mut tasks = [task.clone()];
    core.select_cpu(&mut tasks, 0, &ask(PlaceKind::Wake, task.cpu(), task.cpu()))
}

/// Goal: what fits. Source: docs/rules/uclamp-sum.md#uclamp-sum-fits-numbers: an A53 of 462 as the
/// previous CPU of a waking task, with the A73s forbidden: it is a candidate with this answer, or
/// none.
#[test]
fn what_fits_within_hints() {
    for (util, hints, sum, max) in [
        (500, (0, 300), 1, 1),
        (500, (0, 400), 0, 1),
        (100, (369, 1024), 1, 1),
        (100, (400, 1024), -1, 1),
        (100, (600, 1024), -1, -1),
    ] {
        for (set, fits) in [(&[SUM][..], sum), (&[], max)] {
            let mut core = core(&machine(&hikey960()), ERA, set);
            freeze(&mut core);
            let mut task = hinted(&mut core, 0, util, hints);
            core.cpu_mut(0).load.avg.util_avg = util;
            task.set_allowed(Some(&[0, 1]), 8);
            core.task_set_allowed(&mut task);
            wake(&mut core, &task);
            let at = core.candidates().find(|c| c.cpu == 0);
            let got = at.map_or(0, |c| c.fits);
            assert_eq!(got, fits, "{util} {hints:?} {set:?}");
        }
    }
}

/// A HiKey960 with a second cluster of A73s; of each of the two only the first CPU may be used.
fn two_clusters(set: &[(&str, &str)], task: &mut dyn FnMut(&mut Core) -> Task) -> (Core, Task) {
    let mut clusters = hikey960();
    clusters.push(clusters[1].clone());
    let mut core = core(&machine(&clusters), ERA, set);
    freeze(&mut core);
    let mut task = task(&mut core);
    task.set_allowed(Some(&[4, 8]), 12);
    core.task_set_allowed(&mut task);
    (core, task)
}

/// Goal: the previous CPU's utilisation with the task, and another one's. Source:
/// docs/rules/uclamp-sum.md#uclamp-sum-energy-numbers: 850 and 900 do not fit 1024 (819), without
/// hints 500 and 550 do: -1, and 524 and 474 are spare. With 100 less 750 and 800 fit, 274 and 224
/// are spare.
#[test]
fn utilisation_with_the_task() {
    for (less, fits, spare) in [(0, -1, [524, 474]), (100, 1, [274, 224])] {
        let (mut core, task) = two_clusters(&[SUM], &mut |c| hinted(c, 4, 50, (300, 1024)));
        for cpu in [4, 8] {
            make_busy(&mut core, cpu);
            core.cpu_mut(cpu).load.avg.util_avg = 500 - less;
            core.cpu_mut(cpu).load.util_avg_bias = 100;
        }
        wake(&mut core, &task);
        let mut at: Vec<_> = core
            .candidates()
            .map(|c| (c.cpu, c.fits, c.spare))
            .collect();
        at.sort_unstable();
        assert_eq!(at, [(4, fits, spare[0]), (8, fits, spare[1])], "{less}");
    }
}

/// What a task of utilisation 50 adds to the second cluster, beside a CPU of this utilisation and
/// bias.
fn adds(hints: (u32, u32), beside: (u32, i32)) -> u64 {
    let (mut core, task) = two_clusters(&[SUM], &mut |c| hinted(c, 4, 50, hints));
    make_busy(&mut core, 9);
    core.cpu_mut(9).load.avg.util_avg = beside.0;
    core.cpu_mut(9).load.util_avg_bias = beside.1;
    wake(&mut core, &task);
    let at = core.candidates().find(|c| c.cpu == 8);
    at.and_then(|c| c.energy).expect("an estimate")
}

/// Goal: hints move the state that a domain runs at, not the busy time: the task adds 50 of it.
/// Source: docs/rules/uclamp-sum.md#uclamp-sum-energy. 800 makes the highest state necessary (1000
/// of 915), whatever the task asks for. Beside 10 a task of 50 needs the lowest state (391), one of
/// 600 the third (750). A CPU of 800 that is bounded to 100 needs the lowest, too.
#[test]
fn hints_move_the_state_not_the_busy_time() {
    let (plain, boosted) = ((0, 1024), (600, 1024));
    assert_eq!(adds(boosted, (800, 0)), adds(plain, (800, 0)));
    assert!(adds(boosted, (10, 0)) > adds(plain, (10, 0)));
    assert_eq!(adds(plain, (800, -700)), adds(plain, (10, 0)));
}

/// Goal: two boosted tasks are not together where their sum is too much. Source:
/// docs/rules/uclamp-sum.md#uclamp-sum-fits: 600 and 300 are 900; with `max` 600 counts once, and
/// 200 fit.
#[test]
fn boosts_add_up() {
    for (set, fits) in [(&[SUM][..], -1), (&[], 1)] {
        let (mut core, mut task) = two_clusters(set, &mut |c| hinted(c, 4, 100, (300, 1024)));
        core.cpu_mut(4).load.avg.util_avg = 100;
        let mut other = sleeper(&mut core, 2, 4, 100, 0);
        core.task_set_uclamp(&mut other, 600, 1024);
        if !set.is_empty() {
            other.raw_mut().util_avg_bias = 500;
        }
        core.cpu_mut(4).load.avg.util_avg += 100;
        make_busy(&mut core, 4);
        core.enqueue_woken(&mut other, 4, NOW);
        task.raw_mut().util_est = 0;
        wake(&mut core, &task);
        let prev = core
            .candidates()
            .find(|c| c.cpu == 4)
            .expect("the previous CPU");
        assert_eq!(prev.fits, fits, "{set:?}");
    }
}

/// Goal: a CPU whose bounded task does not fit is not overutilized if what the bound leaves does.
/// Source: docs/rules/uclamp-sum.md#uclamp-sum-fits: of an A53 369 fits.
#[test]
fn overutilized_by_both_demands() {
    for (bias, over) in [(-93, 0), (-92, 1), (0, 1)] {
        let mut core = core(&machine(&hikey960()), ERA, &[SUM]);
        freeze(&mut core);
        core.exit_idle(0, NOW);
        let mut task = sleeper(&mut core, 1, 0, 462, 0);
        core.task_set_uclamp(&mut task, 0, (462 + bias) as u32);
        task.raw_mut().util_avg_bias = bias;
        core.cpu_mut(0).load.avg.util_avg = 462;
        core.enqueue_woken(&mut task, 0, NOW);
        core.set_current(&mut task, NOW);
        core.tick(&mut task, NOW);
        assert_eq!(core.state().overutilized, over, "{bias}");
    }
}

/// Goal: what a bound held back leaves with the sleeper, or stays. Source:
/// docs/rules/uclamp-sum.md#negative-bias-numbers.
#[test]
fn a_negative_bias_fades() {
    for (set, stays) in [(SUM, true), (V1, false), (V2, false)] {
        let mut core = lone(&[set]);
        let mut task = queue(&mut core, 1, 1024, 1024, (0, 200));
        core.cpu_mut(0).load.avg = task.raw().avg;
        core.set_current(&mut task, NOW);
        core.tick(&mut task, NOW + 2048);
        assert_eq!(demand_of(&core), 200, "{set:?}");
        core.dequeue_sleep(&mut task, NOW + 2048);
        let (raw, c) = (task.raw(), &core.cpu(0).load);
        let left = if stays { 1024 } else { 200 };
        assert!(raw.avg.util_avg.abs_diff(left) < 2, "{set:?}");
        assert!(c.avg.util_avg.abs_diff(left) < 2, "{set:?}");
        assert!(raw.avg.util_sum >= u64::from(raw.avg.util_avg) * 46_718);
        assert!(raw.avg.util_sum < u64::from(raw.avg.util_avg + 1) * 47_742);
        assert_eq!(raw.util_avg_bias, if stays { -824 } else { 0 }, "{set:?}");
        assert_eq!(c.util_avg_bias, 0, "{set:?}");
        let est = raw.util_est & !sys::WP_UTIL_EST_UNCHANGED;
        assert!(est > 1000, "util_est was made before: {est}");
        assert_eq!(raw.util_est_uclamp, 200);
    }
}

/// A CPU's demand for a frequency without estimates.
fn demand_of(core: &Core) -> u32 {
    core.perf_request(0)
}

//! Task groups: the levels' signals stay sums of each other, whatever happens
//! (docs/rules/signals.md#pelt-update, docs/rules/signals.md#attach-detach,
//! docs/rules/signals.md#load-for-balancing; docs/decisions/020).
//!
//! What must stay: on every level the sums agree to one each by rounding, after every event
//! (`check`). It covers policy/src/load_tracking/task_group_signals.c and
//! policy/src/runqueue/task_group.c. Free: seeds, and numbers of tasks and groups.
//! Tests by part: `the_levels_are_sums_of_each_other` (`wp_propagate_entity_load_avg`,
//! `wp_tg_queue_update`); `nothing_stays_of_a_group_without_tasks` (`wp_tg_apply_removed`,
//! `wp_tg_leave_share`); `a_group_on_two_cpus_weighs_half_on_each` (`wp_calc_group_shares`);
//! `a_lone_task_is_the_same_in_a_group` (`wp_tg_enqueue`, `wp_tg_dequeue`,
//! `wp_tg_migrate_sleeping`).
//! Helpers, and who fails with them: `running`, `step` (`the_levels_are_sums_of_each_other`,
//! `nothing_stays_of_a_group_without_tasks`); `sum`, `check` (`the_levels_are_sums_of_each_other`);
//! `life` (`a_lone_task_is_the_same_in_a_group`).

use crate::common;

use common::{cluster, core, machine};
use wakeplace_policy_sys::{Core, Task, avg_update, sys};

const ERAS: [&str; 2] = ["linux-4.17", "linux-7.3"];
const CPUS: u32 = 2;
/// Tasks 0 to 2 are in the group, 3 and 4 in none.
const TASKS: u32 = 5;
const GROUPED: usize = 3;
/// What one period adds to a sum of utilisation. When tasks join or leave, the entity takes its
/// queue's average over, which does not have the present period yet.
const PERIOD: u64 = 1024 * 1024;
/// A task that moves takes its average with it: what it did in the present period stays behind and
/// fades. Several may have left within a half-life.
const LEFT: u64 = 4 * PERIOD;

struct Scene {
    core: Core,
    tasks: Vec<Task>,
    group: usize,
    now: u64,
    random: u64,
}

impl Scene {
    fn new(era: &str, seed: u64) -> Self {
        let mut facts = machine(&[cluster(CPUS as usize, 1024)]);
        facts.perf_domains.clear();
        let mut core = core(&facts, era, &[("governor", "performance")]);
        let group = core.add_group(1024);
        let weights = [1024, 335, 3121, 1024, 655];
        let mut tasks: Vec<_> = (0..TASKS)
            .map(|t| Task::new(t + 1, weights[t as usize], t % CPUS, None, CPUS))
            .collect();
        for (at, task) in tasks.iter_mut().enumerate() {
            task.set_group((at < GROUPED).then_some(group));
            core.task_init(task);
            core.task_new(task, task.cpu(), 0);
        }
        Self {
            core,
            tasks,
            group,
            now: 0,
            random: seed,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.random >> 33) % limit
    }

    fn running(&self, cpu: u32) -> Option<usize> {
        let on = |t: &Task| t.cpu() == cpu && t.raw().running != 0;
        self.tasks.iter().position(on)
    }

    /// One thing that can happen to a task.
    fn step(&mut self) {
        self.now += 1_000 * (1 + self.below(6_000));
        let at = self.below(u64::from(TASKS)) as usize;
        let cpu = self.tasks[at].cpu();
        let other = 1 - cpu;
        let choice = self.below(4);
        let current = self.running(cpu);
        let (core, now) = (&mut self.core, self.now);
        let task = &mut self.tasks[at];
        let raw = *task.raw();
        if raw.on_rq == 0 {
            if choice == 0 {
                core.migrate_sleeping(task, other, now);
            }
            let _ = core.enqueue_woken(task, task.cpu(), now);
        } else if raw.running != 0 {
            let _ = match choice {
                0 => core.dequeue_sleep(task, now),
                1 => core.put_current(task, now),
                _ => core.tick(task, now),
            };
        } else if choice == 0 {
            let _ = core.dequeue_move(task, now);
            let _ = core.migrate_queued(task, other, now);
            let _ = core.enqueue_moved(task, other, now);
        } else if choice == 1 {
            core.task_set_weight(task, 15 + (now % 5_000) as u32, now);
        } else if current.is_none() {
            let _ = core.set_current(task, now);
        }
        for cpu in 0..CPUS {
            let _ = self.core.update_blocked(cpu, self.now);
        }
    }

    /// The tasks' signals on a CPU, at its last update: sums of (utilisation, load), and how many.
    /// Sums, since averages are written at period boundaries, each signal's when it is next looked
    /// at.
    fn sum(&self, cpu: u32, last_ns: u64, grouped: bool) -> (u64, u64, u64) {
        let mut sums = (0, 0, 0);
        for task in self.tasks.iter().filter(|t| t.group().is_some() == grouped) {
            let raw = task.raw();
            if raw.cpu != cpu || raw.avg.last_update_ns == 0 {
                continue;
            }
            let mut avg = raw.avg;
            let step = sys::wp_pelt_step {
                now_ns: last_ns,
                load: raw.on_rq,
                runnable: raw.on_rq,
                running: raw.running,
                weight: raw.weight,
                scale_cpu: 1024,
                scale_freq: 1024,
                runnable_is_load: 1,
                half_life: 0,
            };
            avg_update(&mut avg, &step);
            sums.0 += avg.util_sum;
            sums.1 += u64::from(raw.weight) * avg.load_sum;
            sums.2 += 1;
        }
        sums
    }

    fn check(&self, what: &str) {
        for cpu in 0..CPUS {
            let q = self.core.group_queue(self.group, cpu);
            let root = self.core.cpu(cpu);
            let last = q.avg.last_update_ns;
            assert_eq!(
                last, root.load.avg.last_update_ns,
                "{what}: all levels are of one time"
            );
            let (util, load, n) = self.sum(cpu, last, true);
            let div = 46_718 + u64::from(q.avg.period_contrib);
            let near = |a: u64, b: u64, n: u64| a.abs_diff(b) <= (n + 1) * div + LEFT;
            assert!(near(util, q.avg.util_sum, n), "{what}: {util} {:?}", q.avg);
            assert!(
                near(load / 5000, q.avg.load_sum / 5000, n),
                "{what}: {load} {:?}",
                q.avg
            );
            let entity = q.entity;
            let apart = entity.util_sum.abs_diff(q.avg.util_sum);
            assert!(apart <= PERIOD + div, "{what}: {q:?}");
            let (util, load, n) = self.sum(cpu, last, false);
            let (util, load) = (
                util + entity.util_sum,
                load + u64::from(q.weight) * entity.load_sum,
            );
            assert!(
                near(util, root.load.avg.util_sum, n + 1),
                "{what}: {util} {:?}",
                root.load.avg
            );
            assert!(
                near(load / 5000, root.load.avg.load_sum / 5000, n + 1),
                "{what}: {load} {:?}",
                root.load.avg
            );
            let weights = |grouped: bool| -> u32 {
                let here = self.tasks.iter().filter(|t| t.cpu() == cpu);
                let here = here.filter(|t| t.raw().on_rq != 0 && t.group().is_some() == grouped);
                here.map(Task::weight).sum()
            };
            assert_eq!(q.load_weight, weights(true), "{what}");
            let own = if q.nr > 0 { q.weight } else { 0 };
            assert_eq!(root.load.load_weight, weights(false) + own, "{what}");
            assert!((2..=1024).contains(&q.weight), "{what}: {}", q.weight);
            assert!(q.runnable_weight <= q.weight, "{what}");
        }
    }
}

/// Goal: what tasks show, their group's queue, its entity and the CPU's queue show is the same, to
/// one each by rounding. Source: docs/rules/signals.md#attach-detach-numbers, on each level.
#[test]
fn the_levels_are_sums_of_each_other() {
    for era in ERAS {
        for seed in 0..20 {
            let mut scene = Scene::new(era, seed);
            for step in 0..400 {
                scene.step();
                scene.check(&format!("{era} seed {seed} step {step}"));
            }
        }
    }
}

/// Goal: with the last task nothing stays, on no level, and no average wraps. Source:
/// docs/rules/signals.md#attach-detach-numbers.
#[test]
fn nothing_stays_of_a_group_without_tasks() {
    for era in ERAS {
        let mut scene = Scene::new(era, 7);
        (0..300).for_each(|_| scene.step());
        let now = scene.now + 1_000_000;
        for task in &mut scene.tasks {
            if task.raw().on_rq != 0 {
                let _ = scene.core.dequeue_sleep(task, now);
            }
            scene.core.task_exit(task);
        }
        for cpu in 0..CPUS {
            let _ = scene.core.update_blocked(cpu, now + 3_000_000_000);
            let q = scene.core.group_queue(scene.group, cpu);
            let root = scene.core.cpu(cpu);
            for avg in [&q.avg, &q.entity, &root.load.avg] {
                let left = [avg.util_avg, avg.load_avg, avg.runnable_avg];
                assert_eq!(left, [0; 3], "{era} CPU {cpu}");
            }
            assert_eq!(
                root.load.load_weight + q.load_weight + q.nr,
                0,
                "{era} CPU {cpu}"
            );
            assert_eq!(root.load.blocked_weight, 0, "{era} CPU {cpu}");
        }
        assert_eq!(scene.core.group(scene.group).map(|g| g.sum.load), Some(0));
    }
}

/// Goal: two CPUs with one always-running task of nice 0 of the group on each: each entity weighs
/// half of the shares (docs/rules/signals.md#load-for-balancing), and its load is that, since it
/// always has load; the CPUs' load is what the entities have.
#[test]
fn a_group_on_two_cpus_weighs_half_on_each() {
    for era in ERAS {
        let mut scene = Scene::new(era, 0);
        for (cpu, at) in [(0, 0), (1, 1)] {
            let task = &mut scene.tasks[at];
            scene.core.task_set_weight(task, 1024, 0);
            let _ = scene.core.enqueue_new(task, cpu, 0);
            let _ = scene.core.set_current(task, 0);
        }
        for ms in 1..=1_000 {
            for at in 0..2 {
                let _ = scene.core.tick(&mut scene.tasks[at], ms * 1_000_000);
            }
        }
        for cpu in 0..CPUS {
            let q = scene.core.group_queue(scene.group, cpu);
            assert_eq!(q.avg.load_avg, 1024, "{era}");
            // Each counts the other as it was when it had last changed by 1/64.
            assert!((504..=520).contains(&q.weight), "{era}: {}", q.weight);
            assert!(
                q.entity.load_avg.abs_diff(q.weight) <= 1,
                "{era}: {:?}",
                q.entity
            );
            let root = scene.core.cpu(cpu);
            assert!(
                root.load.avg.load_avg.abs_diff(q.weight) <= 2,
                "{era}: {:?}",
                root.load.avg
            );
            assert!(q.entity.util_avg >= 1022, "{era}: {:?}", q.entity);
        }
    }
}

/// A lone task's life under settings that look at its run times, in a group or in none: what is
/// kept of it after each step.
fn life(era: &str, settings: &[(&str, &str)], grouped: bool) -> Vec<[u64; 9]> {
    let mut facts = machine(&[cluster(CPUS as usize, 1024)]);
    facts.perf_domains.clear();
    let mut core = core(&facts, era, settings);
    let group = core.add_group(1024);
    let mut task = Task::new(1, 1024, 0, None, CPUS);
    task.set_group(grouped.then_some(group));
    core.task_init(&mut task);
    core.task_new(&mut task, 0, 0);
    common::hold_governor(&mut core); // it leaves a boost as it is
    core.enter_idle(0, 0);
    core.enter_idle(1, 0);
    let mut seen = Vec::new();
    for round in 0..40_u64 {
        let start = 1_000_000 + round * 30_000_000;
        for step in 0..6 {
            let now = start + step * 2_000_000;
            let cpu = task.cpu();
            let _ = match step {
                0 if round % 3 == 2 => core.enqueue_io(&mut task, cpu, now),
                0 if round == 0 => core.enqueue_new(&mut task, cpu, now),
                0 => core.enqueue_woken(&mut task, cpu, now),
                1 => {
                    core.exit_idle(cpu, now);
                    core.set_current(&mut task, now)
                }
                2 => core.tick(&mut task, now),
                3 => core.put_current(&mut task, now),
                4 => core.set_current(&mut task, now),
                _ => core.dequeue_sleep(&mut task, now),
            };
            if step == 5 {
                core.enter_idle(cpu, now);
            }
            let (raw, c) = (*task.raw(), core.cpu(cpu));
            seen.push([
                u64::from(raw.avg.util_avg),
                u64::from(raw.util_est & !sys::WP_UTIL_EST_UNCHANGED),
                u64::from(raw.util_est_ewma),
                raw.run_since_woken_ns,
                raw.exec_start_ns,
                c.queue.curr_run_since_woken_ns,
                u64::from(c.load.util_est),
                u64::from(c.queue.classes.io_pending | c.queue.classes.io_boost),
                u64::from(c.queue.nr_fair),
            ]);
        }
        if round % 4 == 3 {
            let other = 1 - task.cpu();
            core.migrate_sleeping(&mut task, other, start + 26_000_000);
            seen.push([u64::from(task.raw().avg.util_avg), 0, 0, 0, 0, 0, 0, 0, 0]);
        }
    }
    seen
}

/// Goal: nothing of a task's own is forgotten because it is in a group: utilisation (with the idle
/// time of its old CPU when it moves, docs/rules/signals.md#attach-detach), estimates and when they
/// are taken (docs/rules/signals.md#pelt-periodic-task), its run since it woke, the boost for I/O
/// (docs/rules/capacity.md#schedutil). Method: the same life in no group. Each of these is seen to
/// happen.
#[test]
fn a_lone_task_is_the_same_in_a_group() {
    let cases: [(&str, &[(&str, &str)]); 6] = [
        ("linux-4.7", &[]),
        ("linux-4.17", &[]),
        (
            "linux-4.17",
            &[
                ("util_est_before_update", "on"),
                ("util_est_faster", "doubled"),
            ],
        ),
        ("linux-6.2", &[("util_est_faster", "scaled")]),
        ("linux-7.3", &[("migrate_pelt_lag", "off")]),
        ("linux-7.3", &[]),
    ];
    for (era, settings) in cases {
        let alone = life(era, settings, false);
        let grouped = life(era, settings, true);
        for (at, (a, b)) in alone.iter().zip(&grouped).enumerate() {
            assert_eq!(a, b, "{era} {settings:?}: step {at}");
        }
        let faster = settings.iter().any(|(key, _)| *key == "util_est_faster");
        assert_eq!(
            grouped.iter().any(|s| s[3] > 0 && s[5] > 0),
            faster,
            "{era}"
        );
        let boosted = grouped.iter().any(|s| s[7] > 0);
        assert_eq!(boosted, era != "linux-4.7", "{era}: no schedutil yet");
    }
    let lag = life("linux-7.3", &[], true);
    assert_ne!(lag, life("linux-7.3", &[("migrate_pelt_lag", "off")], true));
}

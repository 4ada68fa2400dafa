//! How often calls read and write the load of a task group, the kernel's tg->load_avg
//! (docs/rules/contended-lines.md#tg-load-avg): expected numbers are those of that list, by event.
//!
//! What must stay: numbers of reads and writes are those of the page's list, by event; a change of
//! the core that adds an access is a fault of the model of contended lines. It covers
//! policy/src/load_tracking/task_group_load.c. Free: how helpers build a group.
//! Tests by part: `a_wakeup_that_stays_reads`, `a_wakeup_that_moves_writes_here_and_later_there`,
//! `a_small_change_is_not_written`, `a_tick_reads_once`, `a_task_that_is_displaced_writes_nothing`,
//! `writes_are_limited_by_queue_and_time`, `the_limit_is_that_of_6_7` (`wp_update_tg_load_avg`);
//! `groups_around_a_group_are_read_once_each` (`wp_tg_outer_load`, `wp_tg_ask_outer`);
//! `a_nested_group_weighs_what_the_outermost_is_worth` (`wp_calc_group_shares`).
//! Helpers, and who fails with them: `begin_period`, `accesses` (most tests,
//! `a_wakeup_that_stays_reads` among them); `run_on` (`a_wakeup_that_stays_reads`,
//! `a_wakeup_that_moves_writes_here_and_later_there`, `a_small_change_is_not_written`,
//! `writes_are_limited_by_queue_and_time`).

use crate::common;

use common::{cluster, core, machine};
use wakeplace_policy_sys::{Core, GroupAccesses, Policy, Task};

const CPUS: u32 = 2;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// A group of two tasks of nice 0: one runs on CPU 0 all the time, the other is asleep on CPU 1,
/// where it has run as long. Both queues have just begun a period.
struct Scene {
    core: Core,
    tasks: Vec<Task>,
    group: usize,
    now: u64,
}

impl Scene {
    fn new(settings: &[(&str, &str)], outer: &[u32]) -> Self {
        let mut facts = machine(&[cluster(CPUS as usize, 1024)]);
        facts.perf_domains.clear();
        let settings = [&[("governor", "performance")], settings].concat();
        let mut core = core(&facts, "linux-6.2", &settings);
        let group = core.add_group(1024);
        outer
            .iter()
            .for_each(|shares| core.nest_group(group, *shares));
        let mut tasks: Vec<_> = (0..CPUS)
            .map(|cpu| Task::new(cpu + 1, 1024, cpu, None, CPUS))
            .collect();
        for (task, cpu) in tasks.iter_mut().zip(0..) {
            task.set_group(Some(group));
            core.task_init(task);
            core.task_new(task, cpu, 0);
            let _ = core.enqueue_new(task, cpu, 0);
            let _ = core.set_current(task, 0);
        }
        for now in (1..=1_000).map(|ms| ms * MS) {
            for task in &mut tasks {
                let _ = core.tick(task, now);
            }
        }
        let mut scene = Self {
            core,
            tasks,
            group,
            now: 1_000 * MS,
        };
        scene.begin_period();
        let _ = scene.core.dequeue_sleep(&mut scene.tasks[1], scene.now);
        scene.take();
        scene
    }

    /// Both queues go on to where their next period has just begun.
    fn begin_period(&mut self) {
        let at = |core: &Core, cpu| core.group_queue(0, cpu).avg.period_contrib;
        while at(&self.core, 0) > 50 || at(&self.core, 1) > 50 {
            self.now += 10 * US;
            for cpu in 0..CPUS {
                let _ = self.core.update_blocked(cpu, self.now);
            }
        }
    }

    fn take(&mut self) -> GroupAccesses {
        let own = self.core.take_group_accesses(self.group, 0);
        own.expect("the group itself")
    }

    /// The second task wakes on `cpu`, runs for 2 us and sleeps: what each step did.
    fn run_on(&mut self, cpu: u32) -> [GroupAccesses; 4] {
        let mut done = [GroupAccesses::default(); 4];
        if self.tasks[1].cpu() != cpu {
            self.core
                .migrate_sleeping(&mut self.tasks[1], cpu, self.now);
        }
        done[0] = self.take();
        let _ = self.core.enqueue_woken(&mut self.tasks[1], cpu, self.now);
        done[1] = self.take();
        if cpu == 1 {
            let _ = self.core.set_current(&mut self.tasks[1], self.now);
        }
        done[2] = self.take();
        self.now += 2 * US;
        let _ = self.core.dequeue_sleep(&mut self.tasks[1], self.now);
        done[3] = self.take();
        done
    }
}

fn accesses(reads: u32, writes: u32) -> GroupAccesses {
    GroupAccesses { reads, writes }
}

/// Goal: a wake-up that stays, within a period, reads once as it is queued and once as it leaves,
/// and writes nothing: no average has decayed.
#[test]
fn a_wakeup_that_stays_reads() {
    let mut scene = Scene::new(&[], &[]);
    let [left, queued, picked, slept] = scene.run_on(1);
    assert_eq!(left, accesses(0, 0));
    assert_eq!(queued, accesses(1, 0));
    assert_eq!(picked, accesses(0, 0));
    assert_eq!(slept, accesses(1, 0));
}

/// Goal: a migrating wake-up writes once as it attaches. The queue it left only remembers it (no
/// access by the waker); it writes once, at its next update.
#[test]
fn a_wakeup_that_moves_writes_here_and_later_there() {
    let mut scene = Scene::new(&[], &[]);
    let [left, queued, _, slept] = scene.run_on(0);
    assert_eq!(left, accesses(0, 0), "only remembered");
    assert_eq!(queued, accesses(1, 1), "attached");
    assert_eq!(slept, accesses(1, 0));
    let _ = scene.core.update_blocked(1, scene.now);
    assert_eq!(scene.take(), accesses(0, 1), "subtracted");
    let _ = scene.core.update_blocked(1, scene.now);
    assert_eq!(scene.take(), accesses(0, 0), "once");
}

/// Goal: a change of up to 1/64 of what a queue last told is not written. A task whose load is
/// less than that joins a queue of 1024.
#[test]
fn a_small_change_is_not_written() {
    let mut scene = Scene::new(&[], &[]);
    scene
        .core
        .task_set_weight(&mut scene.tasks[1], 15, scene.now);
    scene.take();
    let [_, queued, ..] = scene.run_on(0);
    assert!(scene.tasks[1].load_avg() < 1024 / 64);
    assert_eq!(queued, accesses(1, 0));
}

/// Goal: the tick reads once, and writes if a period has ended and the load has changed. The first
/// task's queue has a constant load.
#[test]
fn a_tick_reads_once() {
    let mut scene = Scene::new(&[], &[]);
    scene.now += 2 * MS;
    let _ = scene.core.tick(&mut scene.tasks[0], scene.now);
    assert_eq!(scene.take(), accesses(1, 0));
}

/// Goal: who is put back into the queue tells nobody of it (no UPDATE_TG), even if periods have
/// ended in which the load changed. Method: a task slept for 20 ms, its load rises as it runs.
#[test]
fn a_task_that_is_displaced_writes_nothing() {
    let mut scene = Scene::new(&[], &[]);
    scene.now += 20 * MS;
    let _ = scene.core.enqueue_woken(&mut scene.tasks[1], 1, scene.now);
    let _ = scene.core.set_current(&mut scene.tasks[1], scene.now);
    scene.take();
    let _ = scene
        .core
        .put_current(&mut scene.tasks[1], scene.now + 20 * MS);
    assert_eq!(scene.take(), accesses(0, 0));
    let _ = scene
        .core
        .set_current(&mut scene.tasks[1], scene.now + 22 * MS);
    assert_eq!(scene.take(), accesses(0, 1), "picked, it does");
}

/// Goal: from 6.7 on (1528c661c24b) a queue writes at most once per millisecond. A task goes to and
/// fro between two CPUs each 10 us, for 4 ms, and the queue it left is brought up to date: without
/// the limit each hop is two writes, with it at most one per queue and millisecond; reads stay.
#[test]
fn writes_are_limited_by_queue_and_time() {
    let hops = 400;
    let count = |interval: &str| {
        let mut scene = Scene::new(&[("tg_write_interval_us", interval)], &[]);
        let mut all = accesses(0, 0);
        for hop in 0..hops {
            let cpu = hop % 2;
            for done in scene.run_on(cpu) {
                all.reads += done.reads;
                all.writes += done.writes;
            }
            let _ = scene.core.update_blocked(1 - cpu, scene.now);
            all.writes += scene.take().writes;
            scene.now += 8 * US;
        }
        all
    };
    let (free, limited) = (count("0"), count("1000"));
    assert!(free.writes >= 2 * hops - 4, "{free:?}");
    assert!((4..=2 * 5).contains(&limited.writes), "{limited:?}");
    assert_eq!(free.reads, 2 * hops);
    assert_eq!(limited.reads, 2 * hops);
}

/// The eras of the limit: 6.2 is before, 6.12 after 6.7.
#[test]
fn the_limit_is_that_of_6_7() {
    for (era, us) in [
        ("linux-5.0", 0),
        ("linux-6.2", 0),
        ("linux-6.12", 1_000),
        ("linux-7.3", 1_000),
    ] {
        let policy = Policy::parse(era).unwrap();
        assert_eq!(policy.core_params().tg_write_interval_us, us, "{era}");
    }
}

/// Goal: each group around a group is read once as well (one read per level), and those that hold
/// nothing else weigh the same part: their load is all in one place.
#[test]
fn groups_around_a_group_are_read_once_each() {
    let mut scene = Scene::new(&[], &[512, 2048]);
    for level in 0..3 {
        scene.core.take_group_accesses(scene.group, level);
    }
    let _ = scene.core.enqueue_woken(&mut scene.tasks[1], 1, scene.now);
    for level in 0..3 {
        let done = scene.core.take_group_accesses(scene.group, level);
        assert_eq!(done, Some(accesses(1, 0)), "level {level}");
    }
    assert_eq!(scene.core.take_group_accesses(scene.group, 3), None);
}

/// Goal: where a nested group runs on two CPUs alike, its outermost entity weighs half of the
/// outermost group's shares on each (docs/rules/signals.md#load-for-balancing), whatever the shares
/// inside.
#[test]
fn a_nested_group_weighs_what_the_outermost_is_worth() {
    let mut scene = Scene::new(&[], &[512, 2048]);
    let _ = scene.core.enqueue_woken(&mut scene.tasks[1], 1, scene.now);
    let _ = scene.core.set_current(&mut scene.tasks[1], scene.now);
    for ms in 1..=1_000 {
        for task in &mut scene.tasks {
            let _ = scene.core.tick(task, scene.now + ms * MS);
        }
    }
    for cpu in 0..CPUS {
        let q = scene.core.group_queue(scene.group, cpu);
        // Each counts the other as it was when it had last changed by 1/64.
        assert!((1008..=1040).contains(&q.weight), "{}", q.weight);
        assert!(
            (252..=260).contains(&q.outer[1].weight),
            "{}",
            q.outer[1].weight
        );
        assert!(
            (504..=520).contains(&q.outer[0].weight),
            "{}",
            q.outer[0].weight
        );
        let root = scene.core.cpu(cpu);
        assert!(
            root.load.avg.load_avg.abs_diff(q.weight) <= 2,
            "{:?}",
            root.load.avg
        );
    }
}

//! The task sets, and how much of a machine each of them asks for (docs/results/fidelity.md).
//!
//! What must stay: sets and their names: recordings were made with them. Work is ns at capacity
//! 1024. Free: what leaves the tables of pages as they are. Tests by part:
//! `the_tipping_point_is_where_the_last_cpu_becomes_overutilized` (`tipping_point`),
//! `a_level_asks_for_its_share` (`level`, `load_pct`, `util`, `task`),
//! `heavy_tasks_fit_no_little_cpu_and_every_set_but_the_first_has_one` (`always`, `level`),
//! `releases_are_counted_from_the_first` (`release`, `delay_ns`), `starts_are_spread_over_a_tick`
//! (`start_offset_ns`), `the_mean_job_is_that_of_the_window` (`mean_work_ns`, `ramp`, `percent`),
//! sim.rs::`a_run_says_where_each_job_began_and_ran` (`all`, `one_period`, `mixed`); `hikey960` is
//! the tests' own.
//!
//! Callers: placement.rs (`start_offset_ns`, `mean_work_ns`), page.rs (`load_pct`,
//! `tipping_point`), plan.rs (`load_pct`), record.rs (`start_offset_ns`), recorded.rs
//! (`mean_work_ns`), truth.rs (`start_offset_ns`).
//!
//! Tests: below

use wakeplace_platform::Platform;

/// The tasks run this long before the measured window, ns.
pub(crate) const WARM_UP_NS: u64 = 5_000_000_000;
/// Start of the first run after a tick: puts the releases between the kernel's ticks, ns.
pub(crate) const START_OFFSET_NS: u64 = 1_370_000;
/// Period of the kernel's tick, ns.
pub(crate) const TICK_NS: u64 = 4 * MS;
/// From one start to the next: the golden section of a tick, so that any number of starts is
/// spread evenly over it and no start depends on how many there are, ns.
const NEXT_START_NS: u64 = 2_472_000;
/// Capacity of the biggest CPU.
const FULL: u64 = 1024;
/// A CPU is overutilized where its utilisation times this is more than its capacity times 1024.
const MARGIN: u64 = 1280;
const MS: u64 = 1_000_000;

/// When the tasks start after a tick, by the number of the start from 0, ns.
pub(crate) fn start_offset_ns(start: usize) -> u64 {
    (START_OFFSET_NS + start as u64 * NEXT_START_NS) % TICK_NS
}

/// What a task does in one stretch of its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Jobs of it; none = until the end.
    pub(crate) jobs: Option<u64>,
    /// Work of a job, in time of a CPU of capacity 1024, ns.
    pub(crate) work_ns: u64,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskSpec {
    /// Its name, in the guest's trace too.
    pub(crate) name: String,
    /// Time between releases; 0 = it never sleeps, ns.
    pub(crate) period_ns: u64,
    /// First release after the start, ns.
    pub(crate) delay_ns: u64,
    /// What its jobs are; nothing for one that never sleeps.
    pub(crate) steps: Vec<Step>,
}

impl TaskSpec {
    /// Utilisation in the last stretch, on the kernel's scale of 1024.
    pub(crate) fn util(&self) -> u64 {
        match self.steps.last() {
            Some(step) => step.work_ns * FULL / self.period_ns,
            None => FULL,
        }
    }

    /// Its release at or before a time since the start. None: it is before the first.
    pub(crate) fn release(&self, since_start_ns: u64) -> Option<u64> {
        since_start_ns
            .checked_sub(self.delay_ns)?
            .checked_div(self.period_ns)
    }

    /// Mean work of the jobs that are released in the window, ns.
    pub(crate) fn mean_work_ns(&self, window_ns: u64) -> u64 {
        let due = |time_ns: u64| {
            time_ns
                .saturating_sub(self.delay_ns)
                .checked_div(self.period_ns)
                .unwrap_or(0)
        };
        let (first, end) = (due(WARM_UP_NS), due(WARM_UP_NS + window_ns));
        let (mut sum, mut job) = (0, 0);
        for step in &self.steps {
            let to = step.jobs.map_or(end, |jobs| job + jobs).min(end);
            sum += to.saturating_sub(job.max(first)) * step.work_ns;
            job = to.max(job);
        }
        sum / (end - first).max(1)
    }
}

/// Tasks that run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// Short name.
    pub(crate) name: String,
    /// What it is for.
    pub(crate) what: String,
    /// Measured window, ns.
    pub(crate) window_ns: u64,
    /// Its tasks.
    pub(crate) tasks: Vec<TaskSpec>,
}

impl Set {
    /// Utilisation of all tasks as a share of the tipping point, percent.
    pub(crate) fn load_pct(&self, platform: &Platform) -> f64 {
        let asked: u64 = self.tasks.iter().map(TaskSpec::util).sum();
        asked as f64 * 100.0 / tipping_point(platform) as f64
    }
}

/// The most utilisation that can be spread over the machine with no CPU overutilized: a CPU is when
/// `capacity * 1024 < utilisation * 1280` (docs/rules/energy-aware.md#overutilized), so this is 80
/// % of all capacity.
pub(crate) fn tipping_point(platform: &Platform) -> u64 {
    platform
        .cpus
        .iter()
        .map(|cpu| u64::from(cpu.capacity) * FULL / MARGIN)
        .sum()
}

/// All sets for a machine.
pub(crate) fn all(platform: &Platform) -> Vec<Set> {
    let mut sets: Vec<Set> = [20, 35, 50, 65, 80, 95]
        .iter()
        .map(|pct| level(platform, *pct))
        .collect();
    sets.extend([mixed(), one_period(), always(), ramp()]);
    sets
}

/// Utilisation and period of the small tasks of a level, in turn.
const SMALL: [(u64, u64); 6] = [
    (51, 16 * MS),
    (102, 20 * MS),
    (154, 12 * MS),
    (82, 33 * MS),
    (205, 25 * MS),
    (61, 50 * MS),
];
/// The heavy ones: more than a little CPU has, within 80 % of a big one.
const HEAVY: [(u64, u64); 2] = [(614, 16 * MS), (563, 20 * MS)];

/// Tasks that together ask for `pct` percent of the tipping point. From 35 % on, some are heavy:
/// one, then one for every second of the biggest CPUs, then one for each.
fn level(platform: &Platform, pct: u64) -> Set {
    let biggest = platform
        .cpus
        .iter()
        .filter(|cpu| u64::from(cpu.capacity) == FULL)
        .count();
    let heavy = match pct {
        0..30 => 0,
        30..50 => 1,
        50..80 => biggest.div_ceil(2),
        _ => biggest,
    };
    let mut left = tipping_point(platform) * pct / 100;
    let mut tasks = Vec::new();
    for (util, period_ns) in HEAVY.iter().cycle().take(heavy) {
        left = left.saturating_sub(*util);
        tasks.push((*util, *period_ns));
    }
    for (util, period_ns) in SMALL.iter().cycle() {
        // A rest too small for a task of its own goes to the last.
        let util = if left < util + 25 { left } else { *util };
        left -= util;
        tasks.push((util, *period_ns));
        if left == 0 {
            break;
        }
    }
    Set {
        name: format!("L{pct}"),
        what: format!("small tasks and {heavy} heavy, together {pct} % of the tipping point"),
        window_ns: 5_000 * MS,
        tasks: tasks
            .iter()
            .enumerate()
            .map(|(at, (util, period))| task(at, *util, *period))
            .collect(),
    }
}

/// Releases are spread, so that few coincide.
fn delay_ns(at: usize, period_ns: u64) -> u64 {
    (1_130_000 + at as u64 * 2_567_000) % period_ns
}

/// One step for ever: `util` of 1024 in each period.
fn task(at: usize, util: u64, period_ns: u64) -> TaskSpec {
    TaskSpec {
        name: format!("t{at}"),
        period_ns,
        delay_ns: delay_ns(at, period_ns),
        steps: vec![Step {
            jobs: None,
            work_ns: util * period_ns / FULL,
        }],
    }
}

/// Work in percent of the period.
fn percent(at: usize, duty_pct: u64, period_ns: u64) -> TaskSpec {
    let step = Step {
        jobs: None,
        work_ns: duty_pct * period_ns / 100,
    };
    TaskSpec {
        steps: vec![step],
        ..task(at, 0, period_ns)
    }
}

/// Three of 5 % and two of 45 %, all of 16 ms.
fn one_period() -> Set {
    let duties = [5, 5, 5, 45, 45];
    Set {
        name: "B".to_owned(),
        what: "three tasks of 5 % and two of 45 %, all of 16 ms".to_owned(),
        window_ns: 5_000 * MS,
        tasks: duties
            .iter()
            .enumerate()
            .map(|(at, duty)| percent(at, *duty, 16 * MS))
            .collect(),
    }
}

/// 10 % at six periods.
fn mixed() -> Set {
    let periods = [8, 16, 16, 33, 50, 100];
    Set {
        name: "E".to_owned(),
        what: "10 % at periods of 8, 16, 16, 33, 50 and 100 ms".to_owned(),
        window_ns: 5_000 * MS,
        tasks: periods
            .iter()
            .enumerate()
            .map(|(at, ms)| percent(at, 10, ms * MS))
            .collect(),
    }
}

/// One task that never sleeps beside four small ones.
fn always() -> Set {
    let busy = TaskSpec {
        name: "t0".to_owned(),
        period_ns: 0,
        delay_ns: delay_ns(0, 16 * MS),
        steps: Vec::new(),
    };
    let small = (1..=4).map(|at| percent(at, 5, 16 * MS));
    Set {
        name: "F".to_owned(),
        what: "one task that never sleeps, four of 5 %".to_owned(),
        window_ns: 5_000 * MS,
        tasks: std::iter::once(busy).chain(small).collect(),
    }
}

/// 5 % while warming up, then 5, 10, ... 60 % for half a second each, then 5 % again.
fn ramp() -> Set {
    let period_ns = 16 * MS;
    let work_ns = |pct: u64| pct * period_ns / 100;
    let mut steps = vec![Step {
        jobs: Some(WARM_UP_NS / period_ns + 1),
        work_ns: work_ns(5),
    }];
    let rising = (1..=12).map(|step| Step {
        jobs: Some(31),
        work_ns: work_ns(5 * step),
    });
    steps.extend(rising);
    steps.push(Step {
        jobs: None,
        work_ns: work_ns(5),
    });
    Set {
        name: "D".to_owned(),
        what: "one task that grows from 5 to 60 % in steps of half a second and falls back"
            .to_owned(),
        window_ns: 8_000 * MS,
        tasks: vec![TaskSpec {
            steps,
            ..task(0, 0, period_ns)
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hikey960() -> Platform {
        Platform::load("hikey960").expect("built in")
    }

    #[test]
    fn the_tipping_point_is_where_the_last_cpu_becomes_overutilized() {
        // docs/rules/energy-aware.md#overutilized: capacity 462 is overutilized from 370 on, not at
        // 369; 1024 from 820 on.
        assert_eq!(tipping_point(&hikey960()), 4 * 369 + 4 * 819);
    }

    #[test]
    fn a_level_asks_for_its_share() {
        for name in ["hikey960", "juno-r0"] {
            let platform = Platform::load(name).expect("built in");
            for pct in [20, 35, 50, 65, 80, 95] {
                let set = level(&platform, pct);
                let load = set.load_pct(&platform);
                // A task's utilisation is cut to a whole number.
                assert!(
                    (load - pct as f64).abs() < 1.0,
                    "{name} {}: {load}",
                    set.name
                );
            }
        }
    }

    #[test]
    fn heavy_tasks_fit_no_little_cpu_and_every_set_but_the_first_has_one() {
        let platform = hikey960();
        for pct in [35, 50, 65, 80, 95] {
            let tasks = level(&platform, pct).tasks;
            assert!(tasks.iter().any(|task| task.util() > 462), "{pct}");
        }
        assert!(
            level(&platform, 20)
                .tasks
                .iter()
                .all(|task| task.util() < 462 * 8 / 10)
        );
        assert_eq!(always().tasks[0].util(), 1024);
    }

    #[test]
    fn releases_are_counted_from_the_first() {
        let task = percent(1, 5, 16 * MS);
        assert_eq!(task.delay_ns, 3_697_000);
        assert_eq!(task.release(3_696_999), None);
        assert_eq!(task.release(3_697_000), Some(0));
        assert_eq!(task.release(3_697_000 + 32 * MS), Some(2));
        assert_eq!(always().tasks[0].release(1_000 * MS), None);
    }

    #[test]
    fn starts_are_spread_over_a_tick() {
        // 1.37 ms, then always 2.472 ms on, modulo 4 ms.
        let starts: Vec<u64> = (0..10).map(start_offset_ns).collect();
        assert_eq!(starts[..4], [1_370_000, 3_842_000, 2_314_000, 786_000]);
        // Ten starts: one in each of ten stretches, but for two neighbours that swap.
        let mut sorted = starts;
        sorted.sort_unstable();
        let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(
            gaps.clone().all(|gap| (200_000..=600_000).contains(&gap)),
            "{sorted:?}"
        );
    }

    #[test]
    fn the_mean_job_is_that_of_the_window() {
        assert_eq!(percent(0, 5, 16 * MS).mean_work_ns(5_000 * MS), 800_000);
        let set = ramp();
        // Of 500 releases in 8 s, 12 * 31 are of 5 ... 60 % (mean 32.5 %), 128 of 5 %.
        let expected = (372 * 5_200_000 + 128 * 800_000) / 500;
        let mean = set.tasks[0].mean_work_ns(set.window_ns);
        assert!(mean.abs_diff(expected) < 20_000, "{mean}, {expected}");
    }
}

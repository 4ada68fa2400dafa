//! How long each task ran on each cluster, or on each kind of CPU where a cluster holds several
//! (docs/guide/results.md, "Why a difference").
//!
//! Made by `collector.rs` for each run. Listening changes no run. Times are ns; tasks are numbered
//! in the order in which they come to be.
//!
//! What must stay: each moment that a task executes counts once, on the group of its CPU; sums are
//! integers. Results have the tasks that ran longest, the longest first. Free: what leaves every
//! figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `tasks_run_where_they_run` (`WhereRan`), `the_longest_stand_first` (`task_groups`).
//!
//! Callers: collector.rs (`WhereRan`, `Ran`), profile.rs (`task_groups`).
//!
//! Tests: below

use crate::collector::RunMetrics;
use crate::wiring::elapsed;
use std::collections::BTreeMap;
use wakeplace_engine::{Happening, Observer, RunReport};
use wakeplace_outcome::{MOST_TASKS, TaskGroup};
use wakeplace_platform::Platform;
use wakeplace_workload::task_of_thread;

/// What tasks ran, by where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Names of the groups of CPUs.
    pub groups: Vec<String>,
    /// Of each task the groups on which it ran, and how long, ns.
    pub tasks: Vec<Vec<(usize, u64)>>,
}

/// Measures it.
#[derive(Clone, Debug)]
pub(crate) struct WhereRan {
    /// By CPU.
    groups: Vec<usize>,
    /// By CPU: what executes, since when.
    running: Vec<Option<(u32, u64)>>,
    ran: Ran,
}

impl WhereRan {
    /// For runs on `platform`.
    pub(crate) fn new(platform: &Platform) -> Self {
        let partition = platform.cpu_partition();
        let mut groups = vec![0; platform.cpus.len()];
        for (at, group) in partition.iter().enumerate() {
            for cpu in &group.cpus {
                groups[cpu.index()] = at;
            }
        }
        Self {
            running: vec![None; groups.len()],
            groups,
            ran: Ran {
                groups: partition.into_iter().map(|group| group.name).collect(),
                tasks: Vec::new(),
            },
        }
    }

    /// What tasks ran in the finished run.
    pub(crate) fn ran(self) -> Ran {
        self.ran
    }

    /// Whoever executes on the CPU stops.
    fn stop(&mut self, time_ns: u64, cpu: usize) {
        let Some((task, since_ns)) = self.running[cpu].take() else {
            return;
        };
        let (task, group) = (task as usize, self.groups[cpu]);
        if task >= self.ran.tasks.len() {
            self.ran.tasks.resize(task + 1, Vec::new());
        }
        let times = &mut self.ran.tasks[task];
        let ns = elapsed(since_ns, time_ns);
        match times.iter_mut().find(|(own, _)| *own == group) {
            Some((_, sum)) => *sum += ns,
            None => times.push((group, ns)),
        }
    }
}

impl Observer for WhereRan {
    /// Who executes where; the end closes all times.
    #[inline(always)]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::RunStart { cpu, task, .. } => {
                self.stop(time_ns, cpu as usize);
                self.running[cpu as usize] = Some((task, time_ns));
            }
            Happening::RunStop { cpu, .. } => self.stop(time_ns, cpu as usize),
            Happening::Finish => {
                for cpu in 0..self.running.len() {
                    self.stop(time_ns, cpu);
                }
            }
            _ => {}
        }
    }
}

/// Mean time of a run that tasks ran on each group, threads of one name together: of the tasks that
/// ran longest, the longest first, groups in the platform's order.
pub(crate) fn task_groups(runs: &[RunMetrics], reports: &[RunReport]) -> Vec<TaskGroup> {
    let mut sums: BTreeMap<&str, BTreeMap<usize, u128>> = BTreeMap::new();
    for (run, report) in runs.iter().zip(reports) {
        for (thread, times) in report.threads.iter().zip(&run.ran.tasks) {
            let own = sums.entry(task_of_thread(&thread.name)).or_default();
            for (group, ns) in times {
                *own.entry(*group).or_default() += u128::from(*ns);
            }
        }
    }
    let whole = |times: &BTreeMap<usize, u128>| times.values().sum::<u128>();
    let mut all: Vec<_> = sums.into_iter().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(whole(times)));
    all.truncate(MOST_TASKS);
    let n = runs.len() as f64;
    let names = runs.first().map_or(&[][..], |run| &run.ran.groups);
    let rows = all.into_iter().flat_map(|(task, times)| {
        let row = move |(group, ns): (usize, u128)| {
            let name = names.get(group)?.clone();
            Some((task.to_owned(), name, ns as f64 / 1e9 / n))
        };
        times.into_iter().filter_map(row)
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::{WhereRan, task_groups};
    use crate::RunMetrics;
    use crate::testbed::{one_cluster, two_clusters};
    use wakeplace_engine::observe::{CpuPower, Stop};
    use wakeplace_engine::{Observer, Options, RunReport, ThreadName, happen};
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

    /// Task 0 runs 30 ns on little, 20 on big, and 40 on little up to the end; task 2 runs 10.
    fn heard(observer: &mut impl Observer) {
        let stop = Stop::Preempted;
        happen!(observer, 0 => RunStart { cpu: 0, task: 0, wake_latency_ns: None });
        happen!(observer, 30 => RunStop { cpu: 0, task: 0, ran_ns: 30, stop });
        happen!(observer, 30 => RunStart { cpu: 2, task: 0, wake_latency_ns: None });
        happen!(observer, 30 => RunStart { cpu: 1, task: 2, wake_latency_ns: None });
        happen!(observer, 40 => RunStop { cpu: 1, task: 2, ran_ns: 10, stop });
        happen!(observer, 50 => RunStop { cpu: 2, task: 0, ran_ns: 20, stop });
        happen!(observer, 60 => RunStart { cpu: 1, task: 0, wake_latency_ns: None });
        happen!(observer, 100 => Finish);
    }

    #[test]
    fn tasks_run_where_they_run() {
        let mut where_ran = WhereRan::new(&two_clusters());
        heard(&mut where_ran);
        let ran = where_ran.ran();
        assert_eq!(ran.groups, ["little", "big"]);
        let expected: [Vec<(usize, u64)>; 3] = [vec![(0, 70), (1, 20)], vec![], vec![(0, 10)]];
        assert_eq!(ran.tasks, expected);
        // In one cluster the kinds are told apart.
        let kinds = WhereRan::new(&one_cluster()).ran();
        assert_eq!(kinds.groups, ["test-512", "test-1024"]);
    }

    /// By hand: of two equal runs the mean is that of one.
    #[test]
    fn the_longest_stand_first() {
        let spec = Spec::parse("periodic:n=3", &LoadOptions::default()).expect("a model");
        let workload = spec.expand(1, MachineFacts::alike(3)).expect("fits");
        let platform = two_clusters();
        let mut collector = RunMetrics::collector(&platform, &workload, &Options::default());
        for cpu in 0..3 {
            let power = CpuPower::Idle { state: 0 };
            happen!(collector, 0 => CpuPower { cpu, power });
        }
        for at in 0..2 {
            happen!(collector, 0 => ClusterPower { cluster: at, state: None });
            happen!(collector, 0 => Frequency { domain: at, opp: 0 });
        }
        heard(&mut collector);
        let mut report = RunReport {
            end_ns: 100,
            ..RunReport::default()
        };
        for name in ["b", "c", "a-1"] {
            report.threads.push(ThreadName {
                script: 0,
                name: name.to_owned(),
            });
        }
        let metrics = collector.finish(&report);
        let found = task_groups(&[metrics.clone(), metrics], &[report.clone(), report]);
        let row = |task: &str, group: &str, s: f64| (task.to_owned(), group.to_owned(), s);
        let expected = [
            row("b", "little", 70e-9),
            row("b", "big", 20e-9),
            row("a", "little", 10e-9),
        ];
        assert_eq!(found, expected);
    }
}

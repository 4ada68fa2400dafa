//! What the runs of one policy spent time and energy on: means over the seeds, in shares.
//!
//! Made of what the observers found, for results that keep no run as a whole (docs/guide/report.md,
//! "In the JSON"). Sums are integers; one division makes each figure.
//!
//! Called for the details of a result by `crates/report/src/json.rs` and
//! `crates/study/src/study.rs`; late_frames.rs calls `percent`.
//!
//! What must stay: the order of lists: clusters, states and clocks as the platform has them,
//! reasons by their numbers, latencies ascending. Keys and places in lists are in the JSON. Shares
//! of a whole add up to 100 %. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part: `shares_by_hand` (`details`, `energy`, `spent`, `domains`),
//! `edges_are_quarters_of_powers_of_two` (`edge`), `coarse_buckets_keep_the_counts_in_order`
//! (`coarse`), crates/cli/tests/all/report.rs::`what_the_page_is_made_of_is_in_the_json`
//! (`reasons`, `accounted`), report.rs::`kinds_of_cpu_within_a_cluster_add_up` (`details.kinds`),
//! crates/cli/tests/all/results.rs::`periods_are_told_task_by_task` (`periods`),
//! `shares_by_hand` (`named`, `percent`, `busy`); `buckets` and `run` are the tests' own.
//!
//! Tests: below, crates/cli/tests/all/report.rs::kinds_of_cpu_within_a_cluster_add_up,
//! crates/cli/tests/all/report.rs::what_the_page_is_made_of_is_in_the_json,
//! crates/cli/tests/all/results.rs::periods_are_told_task_by_task

use crate::collector::RunMetrics;
use crate::energy::{CpuEnergy, EnergyReport};
use crate::late_frames::late_frames;
use crate::latency::LatencyBucket;
use crate::residency::{ClusterResidency, StateResidency};
use crate::where_ran::task_groups;
use std::collections::BTreeMap;
use wakeplace_engine::RunReport;
use wakeplace_outcome::{
    BusyTime, Details, Energy, Frequencies, Pairs, Residency, TaskPeriods, ranges,
};
use wakeplace_workload::task_of_thread;

/// Machines with more CPUs than this have their energy by cluster only, or results would be long.
const MAX_CPUS: usize = 64;

/// Of all runs of a policy, with the facts of each.
#[must_use]
pub fn details(runs: &[RunMetrics], reports: &[RunReport]) -> Details {
    let residency = spent(runs, |run| &run.clusters);
    let wake_latency = coarse(runs.iter().flat_map(|run| &run.wake_latency));
    Details {
        energy: energy(runs, &residency),
        residency: named(residency, |name, spent| spent.cluster = Some(name)),
        kinds: named(spent(runs, |run| &run.kinds), |name, spent| {
            spent.kind = Some(name);
            spent.cluster_idle_pct = None;
        }),
        frequencies: domains(runs),
        wake_latency_up_to_ns_count: { wake_latency.iter() }
            .map(|bucket| (bucket.up_to_ns, bucket.count))
            .collect(),
        placements_per_run: reasons(reports),
        task_threads_run_s_periods_missed: periods(runs, reports),
        late_frames: late_frames(runs, reports),
        task_group_run_s: task_groups(runs, reports),
    }
}

/// What the threads of a task came to, in all runs.
#[derive(Default)]
struct TaskSum {
    threads: u64,
    run_ns: u128,
    periods: u64,
    missed: u64,
}

/// Tasks with their periods, mean of the runs, in the order in which their first threads came to
/// be; none if no task has periods.
fn periods(runs: &[RunMetrics], reports: &[RunReport]) -> Vec<TaskPeriods> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sums: Vec<(&str, TaskSum)> = Vec::new();
    for (run, report) in runs.iter().zip(reports) {
        let threads = report.threads.iter().zip(&report.tasks);
        for ((thread, totals), met) in threads.zip(&run.tasks) {
            let name = task_of_thread(&thread.name);
            let next = sums.len();
            let place = *places.entry(name).or_insert(next);
            if place == next {
                sums.push((name, TaskSum::default()));
            }
            let sum = &mut sums[place].1;
            sum.threads += 1;
            sum.run_ns += u128::from(totals.run_ns);
            sum.periods += met.periods;
            sum.missed += met.missed_periods;
        }
    }
    if sums.iter().all(|(_, sum)| sum.periods == 0) {
        return Vec::new();
    }
    let n = runs.len() as f64;
    let mean = |(name, sum): (&str, TaskSum)| {
        let has = sum.periods > 0;
        let of = |count: u64| has.then_some(count as f64 / n);
        let run_s = sum.run_ns as f64 / 1e9 / n;
        let threads = sum.threads as f64 / n;
        (
            name.to_owned(),
            threads,
            run_s,
            of(sum.periods),
            of(sum.missed),
        )
    };
    sums.into_iter().map(mean).collect()
}

/// Merges latencies into four buckets per doubling: few enough for a result, and no bucket is wider
/// than a quarter of what it starts at.
#[must_use]
pub(crate) fn coarse<'a>(buckets: impl Iterator<Item = &'a LatencyBucket>) -> Vec<LatencyBucket> {
    let mut all: Vec<LatencyBucket> = Vec::new();
    for bucket in buckets {
        let up_to_ns = edge(bucket.up_to_ns);
        match all.binary_search_by_key(&up_to_ns, |b| b.up_to_ns) {
            Ok(at) => all[at].count += bucket.count,
            Err(at) => all.insert(
                at,
                LatencyBucket {
                    up_to_ns,
                    ..*bucket
                },
            ),
        }
    }
    all
}

/// The least of 0, 1, 2, 3 and 4, 5, 6, 7 times powers of two that is not below.
fn edge(ns: u64) -> u64 {
    if ns < 4 {
        return ns;
    }
    // The three leading bits, rounded up.
    let shift = ns.ilog2() - 2;
    let leading = ((ns - 1) >> shift) + 1;
    leading
        .checked_shl(shift)
        .filter(|edge| *edge >= ns)
        .unwrap_or(u64::MAX)
}

/// A cluster's or kind's name and what its CPUs spent their time on.
type Spent = (String, Residency);

/// Puts names into the times of clusters or kinds.
fn named(all: Vec<Spent>, name: impl Fn(String, &mut Residency)) -> Vec<Residency> {
    let one = |(own, mut spent): Spent| {
        name(own, &mut spent);
        spent
    };
    all.into_iter().map(one).collect()
}

/// Mean energies of the runs; None: no powers are known.
fn energy(runs: &[RunMetrics], clusters: &[Spent]) -> Option<Energy> {
    let reports: Vec<&EnergyReport> = runs.iter().filter_map(|run| run.energy.as_ref()).collect();
    let first = reports.first()?;
    let n = reports.len() as f64;
    let mean = |sum: u128| first.scaled(sum).map(|all| all / n);
    mean(0)?; // a platform whose power has no unit
    let names = &runs[0].idle_states;
    let mut parts: Vec<(usize, String, u128, u128)> = Vec::new();
    for part in reports.iter().flat_map(|report| &report.parts) {
        let label = part.label(names);
        let known = parts
            .iter_mut()
            .find(|p| p.0 == part.cluster && p.1 == label);
        match known {
            Some(sum) => {
                sum.2 += part.energy;
                sum.3 += u128::from(part.time_ns);
            }
            None => parts.push((part.cluster, label, part.energy, part.time_ns.into())),
        }
    }
    parts.sort_by_key(|part| part.0);
    let part = |(cluster, state, energy, time_ns): (usize, String, u128, u128)| {
        let time_s = time_ns as f64 / 1e9 / n;
        let cluster = clusters[cluster].0.clone();
        (cluster, state, mean(energy).unwrap_or(0.0), time_s)
    };
    let cpus = Some(first.cpus.len())
        .filter(|n| *n <= MAX_CPUS)
        .unwrap_or(0);
    let cpu = |at: usize| {
        let sum = |of: fn(&CpuEnergy) -> u128| reports.iter().map(|r| of(&r.cpus[at])).sum();
        let figure = |of| mean(sum(of)).unwrap_or(0.0);
        (
            figure(|c| c.busy),
            figure(|c| c.idle),
            figure(|c| c.transition),
        )
    };
    let board: Option<u128> = reports.iter().map(|report| report.board_energy).sum();
    let work: Option<u128> = reports.iter().map(|report| report.work_energy).sum();
    Some(Energy {
        unit: first.scaled_unit().to_owned(),
        board: board.and_then(mean),
        work: work.and_then(mean),
        cluster_state_energy_s: parts.into_iter().map(part).collect(),
        cpu_busy_idle_transition: (0..cpus).map(cpu).collect(),
    })
}

/// A part of a whole in percent; of nothing 0.
pub(crate) fn percent(part: u128, whole: u128) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64 * 100.0
    }
}

/// Time that a cluster's CPUs are accounted for, ns.
fn accounted(cluster: &ClusterResidency) -> u128 {
    let idle = cluster.idle.iter().map(|state| u128::from(state.time_ns));
    u128::from(cluster.busy_ns) + u128::from(cluster.transition_ns) + idle.sum::<u128>()
}

/// What the CPUs of a cluster or kind did while they were busy, mean of the runs.
fn busy(
    runs: &[RunMetrics],
    at: usize,
    of: fn(&RunMetrics) -> &Vec<ClusterResidency>,
) -> Option<BusyTime> {
    let own = || runs.iter().map(|run| &of(run)[at]);
    let n = runs.len() as f64;
    let busy_ns: u128 = own().map(|group| u128::from(group.busy_ns)).sum();
    let khz_ns: u128 = own().map(|group| group.busy_khz_ns).sum();
    let drawn = |run: &RunMetrics| {
        let energy = run.energy.as_ref()?;
        let cpus = of(run)[at].cpus.iter();
        energy.scaled(cpus.map(|cpu| energy.cpus[cpu.index()].busy).sum())
    };
    let drawn: Option<Vec<f64>> = runs.iter().map(drawn).collect();
    Some(BusyTime {
        s: busy_ns as f64 / 1e9 / n,
        khz_mean: (busy_ns > 0).then(|| khz_ns as f64 / busy_ns as f64),
        energy: drawn.map(|all| all.iter().fold(0.0, |sum, one| sum + one) / n),
    })
}

/// Mean times of clusters or kinds in each state.
fn spent(runs: &[RunMetrics], of: fn(&RunMetrics) -> &Vec<ClusterResidency>) -> Vec<Spent> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let one = |(at, cluster): (usize, &ClusterResidency)| {
        let all = || runs.iter().map(|run| &of(run)[at]);
        let whole: u128 = all().map(accounted).sum();
        let run_ns = whole / cluster.cpus.len().max(1) as u128;
        let sum = |of: fn(&ClusterResidency) -> u64| all().map(|c| u128::from(of(c))).sum();
        let shares = |of: fn(&ClusterResidency) -> &[StateResidency], whole| -> Pairs<f64> {
            let time = |name: &String| -> u128 {
                let states = all().flat_map(of).filter(|state| state.state == *name);
                states.map(|state| u128::from(state.time_ns)).sum()
            };
            // Clusters may have states of one name: each is added up once.
            let mut names: Vec<&String> = Vec::new();
            first.idle_states.iter().for_each(|name| {
                if !names.contains(&name) {
                    names.push(name);
                }
            });
            let times = names.into_iter().map(|name| (name, time(name)));
            let entered = times.filter(|(_, time)| *time > 0);
            entered
                .map(|(name, time)| (name.clone(), percent(time, whole)))
                .collect()
        };
        let spent = Residency {
            cluster: None,
            kind: None,
            cpus: cluster.cpus.len(),
            busy_pct: percent(sum(|c| c.busy_ns), whole),
            transition_pct: percent(sum(|c| c.transition_ns), whole),
            idle_pct: shares(|c| &c.idle, whole),
            cluster_idle_pct: Some(shares(|c| &c.cluster_idle, run_ns)),
            busy: busy(runs, at, of),
        };
        (cluster.name.clone(), spent)
    };
    of(first).iter().enumerate().map(one).collect()
}

/// Mean times of clocks at each frequency.
fn domains(runs: &[RunMetrics]) -> Vec<Frequencies> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let one = |(at, domain): (usize, &crate::DomainResidency)| {
        let sum = |opp: usize, of: fn(&crate::OppResidency) -> u64| -> u128 {
            runs.iter()
                .map(|run| u128::from(of(&run.domains[at].opps[opp])))
                .sum()
        };
        let opps = domain.opps.len();
        let whole: u128 = (0..opps).map(|opp| sum(opp, |o| o.time_ns)).sum();
        let share = |opp: usize| {
            let busy = percent(sum(opp, |o| o.busy_ns), whole * domain.cpus.len() as u128);
            let khz = u64::from(domain.opps[opp].khz);
            (khz, percent(sum(opp, |o| o.time_ns), whole), busy)
        };
        let cpus: Vec<u32> = domain.cpus.iter().map(|cpu| cpu.0).collect();
        Frequencies {
            cpus: ranges(&cpus),
            khz_time_busy_pct: (0..opps).map(share).collect(),
        }
    };
    first.domains.iter().enumerate().map(one).collect()
}

/// Mean number of decisions a run for each reason that occurred, in the order of the core's list.
fn reasons(reports: &[RunReport]) -> Pairs<f64> {
    let mut sums: Vec<(usize, &'static str, u64)> = Vec::new();
    for (reason, count) in reports.iter().flat_map(|report| &report.reasons) {
        match sums.iter_mut().find(|sum| sum.0 == reason.index()) {
            Some(sum) => sum.2 += count,
            None => sums.push((reason.index(), reason.name(), *count)),
        }
    }
    sums.sort_unstable();
    let mean = |(_, name, sum): (usize, &'static str, u64)| {
        (name.to_owned(), sum as f64 / reports.len() as f64)
    };
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::{coarse, details, edge};
    use crate::{LatencyBucket, RunMetrics};
    use wakeplace_engine::happen;
    use wakeplace_engine::observe::CpuPower::{Busy, Idle};
    use wakeplace_engine::{Observer, Options, RunReport};
    use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

    fn buckets(all: &[(u64, u64)]) -> Vec<LatencyBucket> {
        let bucket = |&(up_to_ns, count): &(u64, u64)| LatencyBucket { up_to_ns, count };
        all.iter().map(bucket).collect()
    }

    #[test]
    fn edges_are_quarters_of_powers_of_two() {
        for (ns, expected) in [
            (0, 0),
            (3, 3),
            (4, 4),
            (7, 7),
            (8, 8),
            (9, 10),
            (11, 12),
            (1000, 1024),
            (1024, 1024),
            (1025, 1280),
            (1281, 1536),
        ] {
            assert_eq!(edge(ns), expected, "{ns}");
        }
        assert_eq!(edge(u64::MAX), u64::MAX);
        // No bucket is wider than a quarter of the edge below it.
        let mut below = 4;
        for ns in 5..100_000 {
            let at = edge(ns);
            assert!(
                at >= ns && (at == below || at - below <= below.div_ceil(4)),
                "{ns}: {at}"
            );
            below = at;
        }
    }

    #[test]
    fn coarse_buckets_keep_the_counts_in_order() {
        let two = [
            buckets(&[(9, 2), (1000, 1)]),
            buckets(&[(10, 3), (12, 1), (2, 4)]),
        ];
        let found = coarse(two.iter().flatten());
        assert_eq!(found, buckets(&[(2, 4), (10, 5), (12, 1), (1024, 1)]));
    }

    /// CPU 0 of `little` busy for `busy` of 100 ns, then in `off`; all others in `off`.
    fn run(busy: u64) -> (RunMetrics, RunReport) {
        let spec = Spec::parse("periodic:n=1", &LoadOptions::default()).unwrap();
        let workload = spec.expand(1, MachineFacts::alike(3)).unwrap();
        let mut collector = RunMetrics::collector(
            &crate::testbed::two_clusters(),
            &workload,
            &Options::default(),
        );
        happen!(collector, 0 => CpuPower { cpu: 0, power: Busy });
        happen!(collector, 0 => CpuPower { cpu: 1, power: Idle { state: 1 } });
        happen!(collector, 0 => CpuPower { cpu: 2, power: Idle { state: 1 } });
        for at in 0..2 {
            happen!(collector, 0 => ClusterPower { cluster: at, state: None });
            happen!(collector, 0 => Frequency { domain: at, opp: 0 });
        }
        happen!(collector, 0 => RunStart { cpu: 0, task: 0, wake_latency_ns: Some(9) });
        // In the order of time.
        if busy > 50 {
            happen!(collector, 50 => Frequency { domain: 0, opp: 2 });
        }
        happen!(collector, busy => CpuPower { cpu: 0, power: Idle { state: 1 } });
        if busy <= 50 {
            happen!(collector, 50 => Frequency { domain: 0, opp: 2 });
        }
        happen!(collector, 100 => Finish);
        let report = RunReport {
            end_ns: 100,
            ..RunReport::default()
        };
        (collector.finish(&report), report)
    }

    #[test]
    fn shares_by_hand() {
        let (metrics, reports): (Vec<_>, Vec<_>) = [run(20), run(60)].into_iter().unzip();
        let details = details(&metrics, &reports);
        let little = &details.residency[0];
        // 20 + 60 of 2 CPUs x 2 runs x 100 ns.
        assert_eq!((little.busy_pct, little.transition_pct), (20.0, 0.0));
        assert_eq!(little.idle_pct[0], ("off".to_owned(), 80.0));
        let opps = &details.frequencies[0].khz_time_busy_pct;
        assert_eq!((opps[0].1, opps[1].1, opps[2].1), (50.0, 0.0, 50.0));
        // At the first 20 + 50 of 400 ns, at the last 0 + 10.
        assert_eq!((opps[0].2, opps[2].2), (17.5, 2.5));
        assert_eq!(details.wake_latency_up_to_ns_count, [(10, 2)]);
        let energy = details.energy.as_ref().expect("the machine has powers");
        // Busy for 20 and 60 ns, the last 10 of them at 1500 MHz: (70 x 500 + 10 x 1500) / 80. A
        // CPU draws its MHz in microwatts: 50000 uW x ns in two runs, 1e15 to the joule.
        let busy = little.busy.as_ref().expect("measured");
        assert_eq!((busy.s, busy.khz_mean), (40e-9, Some(625_000.0)));
        let drawn = busy.energy.expect("powers");
        assert!((drawn - 25e-12).abs() < 1e-24, "{drawn}");
        assert_eq!(
            details.residency[1].busy.as_ref().map(|busy| busy.s),
            Some(0.0)
        );
        let clusters = metrics[0].energy.as_ref().unwrap().unit;
        assert_eq!(clusters, metrics[1].energy.as_ref().unwrap().unit);
        let parts = || energy.cluster_state_energy_s.iter();
        let (cluster, _, _, time_s) = parts().find(|part| part.1 == "busy").unwrap();
        assert_eq!((cluster.as_str(), *time_s), (little.name(), 40e-9));
        let of_cpus: f64 = { energy.cpu_busy_idle_transition.iter() }
            .map(|(busy, idle, transition)| busy + idle + transition)
            .sum();
        let of_parts: f64 = parts()
            .filter(|part| !part.1.starts_with("cluster"))
            .map(|part| part.2)
            .sum();
        assert!(of_parts > 0.0 && (of_cpus - of_parts).abs() < of_parts * 1e-12);
    }
}

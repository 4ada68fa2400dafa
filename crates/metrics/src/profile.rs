//! What the runs of one policy spent time and energy on: means over the seeds, in shares.
//!
//! Made of what the observers found, for results that keep no run as a whole. Sums are integers;
//! one division makes each figure.

use crate::collector::RunMetrics;
use crate::energy::{CpuEnergy, EnergyReport};
use crate::latency::LatencyBucket;
use crate::residency::{ClusterResidency, StateResidency};
use wakeplace_engine::RunReport;

/// Machines with more CPUs than this have their energy by cluster only, or results would be long.
const MAX_CPUS: usize = 64;

/// What the runs of one policy did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Mean energy; None on a platform without power figures.
    pub energy: Option<EnergyProfile>,
    /// Per cluster, in the platform's order.
    pub clusters: Vec<ClusterProfile>,
    /// Per kind of CPU, where a cluster holds several.
    pub kinds: Vec<ClusterProfile>,
    /// Per frequency domain, in the platform's order.
    pub domains: Vec<DomainProfile>,
    /// Wake-up latencies of all runs, see [`coarse`].
    pub wake_latency: Vec<LatencyBucket>,
    /// Placements per reason, mean of the runs, in the order of the reasons.
    pub reasons: Vec<(&'static str, f64)>,
}

/// Mean energy of a run, in the unit of power x s.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyProfile {
    /// `J` or `bogo·s`.
    pub unit: &'static str,
    /// The board's constant power; None if the platform has no such figure.
    pub board: Option<f64>,
    /// What it drew more while CPUs worked; None if the platform has no such figures.
    pub work: Option<f64>,
    /// CPUs and clusters by cluster and state.
    pub parts: Vec<PartMean>,
    /// By CPU as busy, idle, transition; without what clusters draw. Empty on large machines.
    pub cpus: Vec<[f64; 3]>,
}

/// Mean energy of one cluster in one kind of state.
#[derive(Clone, Debug, PartialEq)]
pub struct PartMean {
    /// Index into [`Profile::clusters`].
    pub cluster: usize,
    /// As [`crate::EnergyPart::label`] says.
    pub state: String,
    /// In the profile's unit.
    pub energy: f64,
    /// s; for CPU states summed over the CPUs.
    pub time_s: f64,
}

/// Share of the time in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateShare {
    /// Name of the state.
    pub state: String,
    /// Percent.
    pub pct: f64,
}

/// What the CPUs of a cluster or kind spent their time on; `busy_pct`, `transition_pct` and `idle`
/// add to 100.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterProfile {
    /// Name.
    pub name: String,
    /// Number of CPUs.
    pub cpus: usize,
    /// Busy.
    pub busy_pct: f64,
    /// On the way into or out of idle states.
    pub transition_pct: f64,
    /// In idle states of CPUs.
    pub idle: Vec<StateShare>,
    /// The cluster itself in its states, of the runs' time.
    pub cluster_idle: Vec<StateShare>,
}

/// What a frequency domain was set to.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainProfile {
    /// CPUs, ascending.
    pub cpus: Vec<u32>,
    /// Its operating points, ascending.
    pub opps: Vec<OppShare>,
}

/// One operating point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OppShare {
    /// Frequency, kHz.
    pub khz: u32,
    /// Share of the time that the domain was set to it.
    pub time_pct: f64,
    /// Share of the CPUs' time that they were busy at it.
    pub busy_pct: f64,
}

impl Profile {
    /// Of all runs of a policy, with the facts of each.
    #[must_use]
    pub fn of(runs: &[RunMetrics], reports: &[RunReport]) -> Self {
        Self {
            energy: energy(runs),
            clusters: clusters(runs, |run| &run.clusters),
            kinds: clusters(runs, |run| &run.kinds),
            domains: domains(runs),
            wake_latency: coarse(runs.iter().flat_map(|run| &run.wake_latency)),
            reasons: reasons(reports),
        }
    }
}

/// Merges latencies into four buckets per doubling: few enough for a result, and no bucket is wider
/// than a quarter of what it starts at.
#[must_use]
pub fn coarse<'a>(buckets: impl Iterator<Item = &'a LatencyBucket>) -> Vec<LatencyBucket> {
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

fn energy(runs: &[RunMetrics]) -> Option<EnergyProfile> {
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
    let part = |(cluster, state, energy, time_ns): (usize, String, u128, u128)| PartMean {
        cluster,
        state,
        energy: mean(energy).unwrap_or(0.0),
        time_s: time_ns as f64 / 1e9 / n,
    };
    let cpus = Some(first.cpus.len())
        .filter(|n| *n <= MAX_CPUS)
        .unwrap_or(0);
    let cpu = |at: usize| {
        let sum = |of: fn(&CpuEnergy) -> u128| reports.iter().map(|r| of(&r.cpus[at])).sum();
        let figures = [sum(|c| c.busy), sum(|c| c.idle), sum(|c| c.transition)];
        figures.map(|figure| mean(figure).unwrap_or(0.0))
    };
    let board: Option<u128> = reports.iter().map(|report| report.board_energy).sum();
    let work: Option<u128> = reports.iter().map(|report| report.work_energy).sum();
    Some(EnergyProfile {
        unit: first.scaled_unit(),
        board: board.and_then(mean),
        work: work.and_then(mean),
        parts: parts.into_iter().map(part).collect(),
        cpus: (0..cpus).map(cpu).collect(),
    })
}

fn percent(part: u128, whole: u128) -> f64 {
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

fn clusters(
    runs: &[RunMetrics],
    of: fn(&RunMetrics) -> &Vec<ClusterResidency>,
) -> Vec<ClusterProfile> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let one = |(at, cluster): (usize, &ClusterResidency)| {
        let all = || runs.iter().map(|run| &of(run)[at]);
        let whole: u128 = all().map(accounted).sum();
        let run_ns = whole / cluster.cpus.max(1) as u128;
        let sum = |of: fn(&ClusterResidency) -> u64| all().map(|c| u128::from(of(c))).sum();
        let shares = |of: fn(&ClusterResidency) -> &[StateResidency], whole| {
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
            let share = |(name, time): (&String, u128)| StateShare {
                state: name.clone(),
                pct: percent(time, whole),
            };
            entered.map(share).collect()
        };
        ClusterProfile {
            name: cluster.name.clone(),
            cpus: cluster.cpus,
            busy_pct: percent(sum(|c| c.busy_ns), whole),
            transition_pct: percent(sum(|c| c.transition_ns), whole),
            idle: shares(|c| &c.idle, whole),
            cluster_idle: shares(|c| &c.cluster_idle, run_ns),
        }
    };
    of(first).iter().enumerate().map(one).collect()
}

fn domains(runs: &[RunMetrics]) -> Vec<DomainProfile> {
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
        let share = |opp: usize| OppShare {
            khz: domain.opps[opp].khz,
            time_pct: percent(sum(opp, |o| o.time_ns), whole),
            busy_pct: percent(sum(opp, |o| o.busy_ns), whole * domain.cpus.len() as u128),
        };
        DomainProfile {
            cpus: domain.cpus.iter().map(|cpu| cpu.0).collect(),
            opps: (0..opps).map(share).collect(),
        }
    };
    first.domains.iter().enumerate().map(one).collect()
}

fn reasons(reports: &[RunReport]) -> Vec<(&'static str, f64)> {
    let mut sums: Vec<(usize, &'static str, u64)> = Vec::new();
    for (reason, count) in reports.iter().flat_map(|report| &report.reasons) {
        match sums.iter_mut().find(|sum| sum.0 == reason.index()) {
            Some(sum) => sum.2 += count,
            None => sums.push((reason.index(), reason.name(), *count)),
        }
    }
    sums.sort_unstable();
    let mean =
        |(_, name, sum): (usize, &'static str, u64)| (name, sum as f64 / reports.len() as f64);
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::{Profile, coarse, edge};
    use crate::{LatencyBucket, RunMetrics};
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
        collector.cpu_power(0, 0, Busy);
        collector.cpu_power(0, 1, Idle { state: 1 });
        collector.cpu_power(0, 2, Idle { state: 1 });
        for at in 0..2 {
            collector.cluster_power(0, at, None);
            collector.frequency(0, at, 0);
        }
        collector.run_start(0, 0, 0, Some(9));
        // In the order of time.
        if busy > 50 {
            collector.frequency(50, 0, 2);
        }
        collector.cpu_power(busy, 0, Idle { state: 1 });
        if busy <= 50 {
            collector.frequency(50, 0, 2);
        }
        Observer::finish(&mut collector, 100);
        let report = RunReport {
            end_ns: 100,
            ..RunReport::default()
        };
        (collector.finish(&report), report)
    }

    #[test]
    fn shares_by_hand() {
        let (metrics, reports): (Vec<_>, Vec<_>) = [run(20), run(60)].into_iter().unzip();
        let profile = Profile::of(&metrics, &reports);
        let little = &profile.clusters[0];
        // 20 + 60 of 2 CPUs x 2 runs x 100 ns.
        assert_eq!((little.busy_pct, little.transition_pct), (20.0, 0.0));
        assert_eq!(
            (little.idle[0].state.as_str(), little.idle[0].pct),
            ("off", 80.0)
        );
        let opps = &profile.domains[0].opps;
        assert_eq!(
            (opps[0].time_pct, opps[1].time_pct, opps[2].time_pct),
            (50.0, 0.0, 50.0)
        );
        // At the first 20 + 50 of 400 ns, at the last 0 + 10.
        assert_eq!((opps[0].busy_pct, opps[2].busy_pct), (17.5, 2.5));
        assert_eq!(profile.wake_latency, buckets(&[(10, 2)]));
        let energy = profile.energy.expect("the machine has powers");
        let clusters = metrics[0].energy.as_ref().unwrap().unit;
        assert_eq!(clusters, metrics[1].energy.as_ref().unwrap().unit);
        let busy = energy
            .parts
            .iter()
            .find(|part| part.state == "busy")
            .unwrap();
        assert_eq!((busy.cluster, busy.time_s), (0, 40e-9));
        let of_cpus: f64 = energy.cpus.iter().flatten().sum();
        let of_parts: f64 = { energy.parts.iter() }
            .filter(|part| !part.state.starts_with("cluster"))
            .map(|part| part.energy)
            .sum();
        assert!(of_parts > 0.0 && (of_cpus - of_parts).abs() < of_parts * 1e-12);
    }
}

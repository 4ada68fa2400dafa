//! Which CPUs and clusters a frequency change reaches, fixed for a platform; and elapsed time
//! (docs/guide/model.md, "Energy").
//!
//! Called by `meter.rs`, its books and `residency.rs`. Indices are those of the platform; nothing
//! changes in a run.
//!
//! What must stay: a cluster's power follows the clock of its first CPU's domain. Threads of a core
//! are siblings only on a platform that says what they draw together. Time never runs backwards
//! (`elapsed` panics). Free: what leaves every figure as it is (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `clusters_and_domains_are_numbered_apart` (`Wiring::new`,
//! `cluster_sizes`), `clusters_may_share_a_clock` (`domain_clusters`),
//! meter/tests.rs::`threads_of_a_core_share_power` (`siblings`),
//! meter/tests.rs::`time_that_runs_backwards_is_found` (`elapsed`),
//! residency.rs::`a_package_is_idle_while_all_its_cpus_are` (`cpu_package`), both below (`new`).
//!
//! Tests: below, crates/metrics/src/meter/tests.rs

use wakeplace_platform::{Cpu, Platform};

/// Time between two announcements, ns.
///
/// # Panics
/// If they are out of order: observers are called in time order.
pub(crate) fn elapsed(since_ns: u64, now_ns: u64) -> u64 {
    now_ns
        .checked_sub(since_ns)
        .expect("events come in time order")
}

/// Index tables of a platform.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    /// Per frequency domain: its CPUs.
    pub(crate) domain_cpus: Vec<Vec<usize>>,
    /// Per frequency domain: the clusters whose power follows its operating point.
    pub(crate) domain_clusters: Vec<Vec<usize>>,
    /// Per CPU: its frequency domain.
    pub(crate) cpu_domain: Vec<usize>,
    /// Per cluster: the domain its power follows, that of its first CPU.
    pub(crate) cluster_domain: Vec<usize>,
    /// Per CPU: its cluster.
    pub(crate) cpu_cluster: Vec<usize>,
    /// Per CPU: its package, numbered from 0 without gaps.
    pub(crate) cpu_package: Vec<usize>,
    /// Per CPU: the other threads of its core, where they share power.
    pub(crate) siblings: Vec<Vec<usize>>,
}

impl Wiring {
    /// Which CPUs, clusters and siblings belong together.
    pub(crate) fn new(platform: &Platform) -> Wiring {
        let mut cpu_domain = vec![0; platform.cpus.len()];
        let mut domain_cpus = Vec::with_capacity(platform.freq_domains.len());
        for (d, domain) in platform.freq_domains.iter().enumerate() {
            for cpu in &domain.cpus {
                cpu_domain[cpu.index()] = d;
            }
            domain_cpus.push(domain.cpus.iter().map(|c| c.index()).collect());
        }
        let cluster_domain: Vec<usize> = platform
            .clusters
            .iter()
            .map(|c| cpu_domain[c.cpus[0].index()])
            .collect();
        let mut domain_clusters = vec![Vec::new(); platform.freq_domains.len()];
        for (cluster, &domain) in cluster_domain.iter().enumerate() {
            domain_clusters[domain].push(cluster);
        }
        let cpu_cluster = platform.cpus.iter().map(|c| c.cluster as usize).collect();
        let mut packages: Vec<u32> = platform.cpus.iter().map(|c| c.package).collect();
        packages.sort_unstable();
        packages.dedup();
        let number = |p: u32| packages.binary_search(&p).expect("one of them");
        let cpu_package = platform.cpus.iter().map(|c| number(c.package)).collect();
        Wiring {
            domain_cpus,
            domain_clusters,
            cpu_domain,
            cluster_domain,
            cpu_cluster,
            cpu_package,
            siblings: siblings(platform),
        }
    }

    /// CPUs per cluster.
    pub(crate) fn cluster_sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.cluster_domain.len()];
        for &cluster in &self.cpu_cluster {
            sizes[cluster] += 1;
        }
        sizes
    }
}

/// The other threads of each CPU's core.
fn siblings(platform: &Platform) -> Vec<Vec<usize>> {
    let share = platform.smt.as_ref();
    let share = share.is_some_and(|smt| !smt.core_power.is_empty());
    let cpus = || platform.cpus.iter().enumerate();
    let of = |(cpu, own): (usize, &Cpu)| {
        let of_core = cpus().filter(|(other, c)| share && *other != cpu && c.core == own.core);
        of_core.map(|(other, _)| other).collect()
    };
    cpus().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::Wiring;
    use crate::testbed::two_clusters;

    #[test]
    fn clusters_and_domains_are_numbered_apart() {
        let mut platform = two_clusters();
        platform.freq_domains.reverse();
        let wiring = Wiring::new(&platform);
        assert_eq!(wiring.cpu_domain, [1, 1, 0]);
        assert_eq!(wiring.domain_cpus, [vec![2], vec![0, 1]]);
        assert_eq!(wiring.cluster_domain, [1, 0]);
        assert_eq!(wiring.domain_clusters, [[1], [0]]);
        assert_eq!(wiring.cpu_cluster, [0, 0, 1]);
        assert_eq!(wiring.cluster_sizes(), [2, 1]);
    }

    #[test]
    fn clusters_may_share_a_clock() {
        let mut platform = two_clusters();
        let big = platform.freq_domains.pop().unwrap();
        platform.freq_domains[0].cpus.extend(big.cpus);
        let wiring = Wiring::new(&platform);
        assert_eq!(wiring.domain_clusters, [[0, 1]]);
        assert_eq!(wiring.domain_cpus, [[0, 1, 2]]);
    }
}

//! CPUs whose figures stand together: the clusters and, where these do not tell kinds of CPU apart,
//! the kinds. On most phones all CPUs share one last-level cache, and so one cluster
//! (docs/guide/platforms.md, "What the words mean").
//!
//! Called by metrics, pages and `--expect`. No policy reads it.
//!
//! What must stay: names of groups, which stand in names of metrics, and no two alike; clusters in
//! the order of the file, kinds by their first CPU. Every CPU is in one group of `cpu_partition`.
//! Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `kinds_where_clusters_hold_several`
//! (`cpu_kinds`), `clusters_of_one_kind_each_are_enough` (`cpu_groups`, `cpu_partition`),
//! `names_are_of_one_group_and_cpus_in_one` (names that collide),
//! residency.rs::`kinds_within_a_cluster_are_told_apart` (as metrics have it), the second also
//! `cluster_groups`.
//!
//! Tests: below, crates/metrics/src/residency.rs

use crate::{CpuId, Platform};

/// CPUs with one figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuGroup {
    /// Name, as `little` or `cortex-a55`; no two groups of a machine have one name.
    pub name: String,
    /// Members, ascending.
    pub cpus: Vec<CpuId>,
}

impl Platform {
    /// All groups that metrics are given for: the clusters, then the kinds of [`Self::cpu_kinds`].
    #[must_use]
    pub fn cpu_groups(&self) -> Vec<CpuGroup> {
        let mut groups = self.cluster_groups();
        groups.extend(self.cpu_kinds());
        groups
    }

    /// The groups that each CPU is in one of: the kinds, or the clusters if these tell them apart.
    #[must_use]
    pub fn cpu_partition(&self) -> Vec<CpuGroup> {
        let kinds = self.cpu_kinds();
        if kinds.is_empty() {
            self.cluster_groups()
        } else {
            kinds
        }
    }

    /// The kinds of CPU, in the order of their first one, if some cluster holds several; else none.
    /// CPUs of a kind have one type of core and one capacity. Kinds are called by the type, with
    /// the capacity behind it where one type has several.
    #[must_use]
    pub fn cpu_kinds(&self) -> Vec<CpuGroup> {
        let kind = |id: CpuId| {
            let cpu = &self.cpus[id.index()];
            (cpu.kind.as_str(), cpu.capacity)
        };
        let is_mixed = |cpus: &[CpuId]| cpus.iter().any(|cpu| kind(*cpu) != kind(cpus[0]));
        if !self.clusters.iter().any(|cluster| is_mixed(&cluster.cpus)) {
            return Vec::new();
        }
        let mut kinds: Vec<((&str, u32), Vec<CpuId>)> = Vec::new();
        for id in (0..self.cpus.len() as u32).map(CpuId) {
            match kinds.iter_mut().find(|(known, _)| *known == kind(id)) {
                Some((_, cpus)) => cpus.push(id),
                None => kinds.push((kind(id), vec![id])),
            }
        }
        let mut taken: Vec<String> = self.clusters.iter().map(|c| c.name.clone()).collect();
        let mut groups = Vec::new();
        for ((core, capacity), cpus) in &kinds {
            let alike = kinds.iter().filter(|((other, _), _)| other == core).count();
            let long = format!("{core}-{capacity}");
            let short = (alike == 1).then(|| (*core).to_owned());
            let more = (2..).map(|number| format!("{long}-{number}"));
            let mut names = short.into_iter().chain([long.clone()]).chain(more);
            let name = names.find(|name| !taken.contains(name));
            let name = name.expect("numbers do not end");
            taken.push(name.clone());
            let cpus = cpus.clone();
            groups.push(CpuGroup { name, cpus });
        }
        groups
    }

    /// The clusters as groups, in the file's order.
    fn cluster_groups(&self) -> Vec<CpuGroup> {
        let group = |cluster: &crate::Cluster| CpuGroup {
            name: cluster.name.clone(),
            cpus: cluster.cpus.clone(),
        };
        self.clusters.iter().map(group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::CpuGroup;
    use crate::{CpuId, Platform};

    fn kinds(name: &str) -> Vec<(String, Vec<u32>)> {
        let platform = Platform::load(name).expect(name);
        let numbers = |cpus: Vec<CpuId>| cpus.iter().map(|cpu| cpu.0).collect();
        let of = |group: CpuGroup| (group.name, numbers(group.cpus));
        platform.cpu_kinds().into_iter().map(of).collect()
    }

    /// Goal: the CPUs of the boards' device trees (platforms/NAME.toml has the sources): three
    /// capacities of one type of core, two types of one capacity, two clusters that hold both
    /// types.
    #[test]
    fn kinds_where_clusters_hold_several() {
        let own = |list: &[(&str, &[u32])]| -> Vec<(String, Vec<u32>)> {
            let one = |(name, cpus): &(&str, &[u32])| ((*name).to_owned(), cpus.to_vec());
            list.iter().map(one).collect()
        };
        let sm8250 = own(&[
            ("kryo485-261", &[0, 1, 2, 3]),
            ("kryo485-801", &[4, 5, 6]),
            ("kryo485-1024", &[7]),
        ]);
        assert_eq!(kinds("sm8250"), sm8250);
        let sm8550 = own(&[
            ("cortex-a510", &[0, 1, 2]),
            ("cortex-a715", &[3, 4]),
            ("cortex-a710", &[5, 6]),
            ("cortex-x3", &[7]),
        ]);
        assert_eq!(kinds("sm8550"), sm8550);
        let gb10 = own(&[
            ("cortex-a725-718", &[0, 1, 2, 3, 4]),
            ("cortex-x925-997", &[5, 6, 7, 8, 9]),
            ("cortex-a725-731", &[10, 11, 12, 13, 14]),
            ("cortex-x925-1017", &[15, 16, 17, 18]),
            ("cortex-x925-1024", &[19]),
        ]);
        assert_eq!(kinds("gb10"), gb10);
    }

    #[test]
    fn clusters_of_one_kind_each_are_enough() {
        for name in [
            "hikey960",
            "rk3588",
            "alder-lake-12900k",
            "zen5-9950x",
            "gs101",
        ] {
            let platform = Platform::load(name).expect(name);
            assert!(platform.cpu_kinds().is_empty(), "{name}");
            let clusters: Vec<&str> = platform.clusters.iter().map(|c| c.name.as_str()).collect();
            let groups = platform.cpu_groups();
            let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
            assert_eq!(names, clusters);
            assert_eq!(platform.cpu_partition(), groups);
        }
    }

    /// Goal: every CPU is in one group of the partition, whatever a file calls its kinds.
    #[test]
    fn names_are_of_one_group_and_cpus_in_one() {
        let mut platform = Platform::load("sm8250").expect("sm8250");
        platform.clusters[0].name = "kryo485-261".to_owned();
        for cpu in 4..7 {
            platform.cpus[cpu].kind = "kryo485-261".to_owned();
        }
        let groups = platform.cpu_groups();
        let mut names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!((all, names.len()), (4, 4), "{names:?}");
        let partition = platform.cpu_partition();
        let mut cpus: Vec<u32> = partition
            .iter()
            .flat_map(|g| &g.cpus)
            .map(|c| c.0)
            .collect();
        cpus.sort_unstable();
        assert_eq!(cpus, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

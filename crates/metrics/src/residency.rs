//! Time in idle states and at operating points (docs/guide/results.md, "What a result holds"). All
//! times of a CPU add up to the run.
//!
//! Made by `collector.rs` for each run. Listening changes no run. Times are ns; indices are those
//! of the platform.
//!
//! What must stay: names of metrics. A track's states are 0 busy or powered, then the idle states,
//! then transition. The times of a CPU add up to the run: shares here and in `profile.rs` are of
//! that sum. A state that was never entered is in no list. Free: what leaves every figure as it is
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `shares_by_hand` (`report`,
//! `deep_ns`, `Domain`), `tables_by_hand` (`domains`, `clusters`, `by_state`, clocks),
//! `kinds_within_a_cluster_are_told_apart` (`kinds`, `of_group`),
//! `a_package_is_idle_while_all_its_cpus_are` (`Package`, `idle_exits`),
//! `transitions_are_neither_busy_nor_idle` (`Track`, `cpu_power`), all (`new`, `happened`,
//! `settle`, `change`, `frequency`, `cluster_power`, `finish`),
//! `transitions_are_neither_busy_nor_idle` (`transition_ns`), `tables_by_hand` (`idle`); `measured`
//! is the tests' own.
//!
//! Tests: below, crates/metrics/src/collector/tests.rs

use crate::busy_clock::BusyClock;
use crate::metric::Values;
use crate::wiring::{Wiring, elapsed};
use std::collections::BTreeMap;
use wakeplace_engine::observe::CpuPower;
use wakeplace_engine::{Happening, Observer};
use wakeplace_platform::{CpuGroup, CpuId, FreqDomain, Opp, Platform};

/// Time in one idle state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateResidency {
    /// Name of the state.
    pub state: String,
    /// Time in it, ns; summed over CPUs for CPU states.
    pub time_ns: u64,
}

/// What a cluster or the CPUs of a kind did. Times of its CPUs add up to their number times the run
/// length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterResidency {
    /// Name of the cluster or kind.
    pub name: String,
    /// Its CPUs, ascending.
    pub cpus: Vec<CpuId>,
    /// Busy time of its CPUs, ns.
    pub busy_ns: u64,
    /// Clock times busy time of its CPUs, kHz x ns.
    pub busy_khz_ns: u128,
    /// Time its CPUs spent entering and leaving idle states, ns: neither busy nor idle.
    pub transition_ns: u64,
    /// Idle time of its CPUs by the state they are in, states in the platform's order.
    pub idle: Vec<StateResidency>,
    /// Time the cluster itself was powered down, by state; none of a kind.
    pub cluster_idle: Vec<StateResidency>,
}

/// Time at one operating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OppResidency {
    /// Frequency, kHz.
    pub khz: u32,
    /// Time the domain was set to it, ns.
    pub time_ns: u64,
    /// Busy time of its CPUs at it, ns, summed over them.
    pub busy_ns: u64,
}

/// What a frequency domain did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainResidency {
    /// Its CPUs, ascending.
    pub cpus: Vec<CpuId>,
    /// Its operating points, ascending.
    pub opps: Vec<OppResidency>,
}

/// A CPU or cluster: time by what it does; 0 = busy or powered, 1 + s = idle state s, the last = in
/// transition (CPUs).
#[derive(Clone, Debug)]
struct Track {
    now: Option<usize>,
    since: u64,
    times: Vec<u64>,
}

impl Track {
    /// No time yet; it counts once the first state is known.
    fn new(states: usize) -> Track {
        Track {
            now: None,
            since: 0,
            times: vec![0; 1 + states + 1],
        }
    }

    /// Time in transition, ns.
    fn transition_ns(&self) -> u64 {
        self.times[self.times.len() - 1]
    }

    /// Times in the idle states, ns.
    fn idle(&self) -> &[u64] {
        &self.times[1..self.times.len() - 1]
    }

    /// Adds the time since the last change to what the CPU or cluster did then.
    fn settle(&mut self, time_ns: u64) {
        if let Some(now) = self.now {
            self.times[now] += elapsed(self.since, time_ns);
        }
        self.since = time_ns;
    }

    /// Another state from now on.
    fn change(&mut self, time_ns: u64, to: usize) {
        self.settle(time_ns);
        self.now = Some(to);
    }
}

#[derive(Clone, Debug)]
struct Domain {
    opp: Option<usize>,
    busy_cpus: u64,
    since: u64,
    opps: Vec<OppResidency>,
    /// Clock times time up to `since`, kHz x ns.
    khz_ns: u128,
}

impl Domain {
    /// A frequency domain before its first clock is known; no CPU is busy.
    fn new(domain: &FreqDomain) -> Domain {
        let opp = |o: &Opp| OppResidency {
            khz: o.khz,
            time_ns: 0,
            busy_ns: 0,
        };
        Domain {
            opp: None,
            busy_cpus: 0,
            since: 0,
            opps: domain.opps.iter().map(opp).collect(),
            khz_ns: 0,
        }
    }

    /// Adds the time since the last change to the clock of then, and to its busy CPUs.
    fn settle(&mut self, time_ns: u64) {
        if let Some(opp) = self.opp {
            let dt = elapsed(self.since, time_ns);
            self.khz_ns += u128::from(self.opps[opp].khz) * u128::from(dt);
            self.opps[opp].time_ns += dt;
            self.opps[opp].busy_ns += dt * self.busy_cpus;
        }
        self.since = time_ns;
    }
}

/// Of a package: how many of its CPUs are in no idle state, and how long none was.
#[derive(Clone, Copy, Debug, Default)]
struct Package {
    up: u64,
    since: u64,
    idle_ns: u64,
}

impl Package {
    /// Adds the time since the last change, if no CPU of the package was awake.
    fn settle(&mut self, time_ns: u64) {
        if self.up == 0 {
            self.idle_ns += elapsed(self.since, time_ns);
        }
        self.since = time_ns;
    }
}

/// Measures what CPUs, clusters and frequency domains spend their time on.
#[derive(Clone, Debug)]
pub struct Residency {
    wiring: Wiring,
    /// Clusters, then kinds of CPU.
    groups: Vec<CpuGroup>,
    state_names: Vec<String>,
    domain_cpus: Vec<Vec<CpuId>>,
    /// Per CPU: its shallowest idle state that does not poll.
    first_state: Vec<Option<usize>>,
    cpus: Vec<Track>,
    clocks: Vec<BusyClock>,
    clusters: Vec<Track>,
    domains: Vec<Domain>,
    packages: Vec<Package>,
    /// Times a CPU left an idle state.
    idle_exits: u64,
    freq_changes: u64,
    run_ns: u64,
}

impl Residency {
    /// For runs on `platform`.
    #[must_use]
    pub fn new(platform: &Platform) -> Residency {
        let states = platform.idle_states.len();
        let first = |cpu: usize| {
            platform
                .idle_states
                .iter()
                .position(|s| !s.polling && s.cpus.iter().any(|c| c.index() == cpu))
        };
        let wiring = Wiring::new(platform);
        let mut packages = Vec::new();
        for &package in &wiring.cpu_package {
            packages.resize(packages.len().max(package + 1), Package::default());
            packages[package].up += 1; // until it is said to be idle
        }
        Residency {
            wiring,
            packages,
            idle_exits: 0,
            groups: platform.cpu_groups(),
            state_names: platform
                .idle_states
                .iter()
                .map(|s| s.name.clone())
                .collect(),
            domain_cpus: platform
                .freq_domains
                .iter()
                .map(|d| d.cpus.clone())
                .collect(),
            first_state: (0..platform.cpus.len()).map(first).collect(),
            cpus: vec![Track::new(states); platform.cpus.len()],
            clocks: vec![BusyClock::default(); platform.cpus.len()],
            clusters: vec![Track::new(states); platform.clusters.len()],
            domains: platform.freq_domains.iter().map(Domain::new).collect(),
            freq_changes: 0,
            run_ns: 0,
        }
    }

    /// Per frequency domain, in the platform's order.
    #[must_use]
    pub fn domains(&self) -> Vec<DomainResidency> {
        let both = self.domain_cpus.iter().zip(&self.domains);
        both.map(|(cpus, d)| DomainResidency {
            cpus: cpus.clone(),
            opps: d.opps.clone(),
        })
        .collect()
    }

    /// Per cluster, in the platform's order.
    #[must_use]
    pub fn clusters(&self) -> Vec<ClusterResidency> {
        let both = self.groups.iter().zip(&self.clusters);
        both.map(|(group, own)| ClusterResidency {
            cluster_idle: self.by_state(own.idle()),
            ..self.of_group(group)
        })
        .collect()
    }

    /// Per kind of CPU, where a cluster holds several ([`Platform::cpu_kinds`]).
    #[must_use]
    pub fn kinds(&self) -> Vec<ClusterResidency> {
        let kinds = self.groups.iter().skip(self.clusters.len());
        kinds.map(|group| self.of_group(group)).collect()
    }

    /// The times of a group's CPUs together.
    fn of_group(&self, group: &CpuGroup) -> ClusterResidency {
        let mut sum = Track::new(self.state_names.len());
        for cpu in &group.cpus {
            let times = &self.cpus[cpu.index()].times;
            for (sum, time) in sum.times.iter_mut().zip(times) {
                *sum += time;
            }
        }
        let clocks = group.cpus.iter().map(|cpu| self.clocks[cpu.index()].khz_ns);
        ClusterResidency {
            name: group.name.clone(),
            cpus: group.cpus.clone(),
            busy_ns: sum.times[0],
            busy_khz_ns: clocks.sum(),
            transition_ns: sum.transition_ns(),
            idle: self.by_state(sum.idle()),
            cluster_idle: Vec::new(),
        }
    }

    /// Names the times; states never entered are left out.
    fn by_state(&self, times: &[u64]) -> Vec<StateResidency> {
        let named = self
            .state_names
            .iter()
            .zip(times)
            .filter(|&(_, &time_ns)| time_ns > 0);
        named
            .map(|(s, &time_ns)| StateResidency {
                state: s.clone(),
                time_ns,
            })
            .collect()
    }

    /// Enters the metrics; shares and means only for a run longer than 0.
    pub(crate) fn report(&self, values: &mut Values) {
        values.count("freq_changes_total", self.freq_changes);
        if self.run_ns == 0 {
            return;
        }
        let run = self.run_ns as f64;
        let busy: u64 = self.cpus.iter().map(|t| t.times[0]).sum();
        values.set("busy_cpus_mean", busy as f64 / run);
        let deep: u64 = self.cpus.iter().zip(&self.first_state).map(deep_ns).sum();
        let between: u64 = self.cpus.iter().map(Track::transition_ns).sum();
        let share = |ns: u64| ns as f64 / (run * self.cpus.len() as f64) * 100.0;
        let packages: u64 = self.packages.iter().map(|p| p.idle_ns).sum();
        let package_time = run * self.packages.len() as f64;
        values.set("package_idle_pct", packages as f64 / package_time * 100.0);
        values.set("idle_wakeups_per_s", self.idle_exits as f64 / run * 1e9);
        values.set("idle_residency_pct", share(deep));
        values.set("transition_pct", share(between));
        let mut states = BTreeMap::new(); // clusters may have states of one name
        for (state, name) in self.state_names.iter().enumerate() {
            let time: u64 = self.cpus.iter().map(|track| track.idle()[state]).sum();
            *states.entry(name).or_insert(0) += time;
        }
        for (name, time) in states {
            values.set(&format!("residency_{name}_pct"), share(time));
        }
        for c in self.groups.iter().map(|group| self.of_group(group)) {
            let share = c.busy_ns as f64 / (run * c.cpus.len() as f64);
            values.set_cluster("busy_{cluster}_pct", &c.name, share * 100.0);
        }
    }
}

/// Time of a CPU in states deeper than its first, ns.
fn deep_ns((track, first): (&Track, &Option<usize>)) -> u64 {
    first.map_or(0, |first| track.idle()[first + 1..].iter().sum())
}

impl Observer for Residency {
    /// What CPUs, clusters and clocks do; the end closes all times.
    #[inline(always)]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::CpuPower { cpu, power } => self.cpu_power(time_ns, cpu, power),
            Happening::ClusterPower { cluster, state } => {
                self.cluster_power(time_ns, cluster, state)
            }
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::Finish => self.finish(time_ns),
            _ => {}
        }
    }
}

impl Residency {
    /// The CPU is in another state from now on.
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        let track = &mut self.cpus[cpu as usize];
        let was_busy = track.now == Some(0);
        let what = match power {
            CpuPower::Busy => 0,
            CpuPower::Idle { state } => 1 + usize::from(state),
            CpuPower::Transition { .. } => 1 + self.state_names.len(),
        };
        let idle = |what: usize| (1..=self.state_names.len()).contains(&what);
        let was_idle = track.now.is_some_and(idle);
        track.change(time_ns, what);
        let package = &mut self.packages[self.wiring.cpu_package[cpu as usize]];
        package.settle(time_ns);
        package.up = package.up + u64::from(!idle(what)) - u64::from(!was_idle);
        self.idle_exits += u64::from(was_idle && !idle(what));
        let domain = &mut self.domains[self.wiring.cpu_domain[cpu as usize]];
        domain.settle(time_ns);
        self.clocks[cpu as usize].settle(domain.khz_ns, was_busy);
        domain.busy_cpus = domain.busy_cpus + u64::from(what == 0) - u64::from(was_busy);
    }

    /// A cluster is in this state of its own from now on; `None`: it is powered.
    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {
        let what = state.map_or(0, |s| 1 + usize::from(s));
        self.clusters[cluster as usize].change(time_ns, what);
    }

    /// A domain's clock from now on; the first one is no change.
    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        let domain = &mut self.domains[domain as usize];
        domain.settle(time_ns);
        let old = domain.opp.replace(usize::from(opp));
        self.freq_changes += u64::from(old.is_some_and(|old| old != usize::from(opp)));
    }

    /// The run is over: all times reach up to now.
    fn finish(&mut self, time_ns: u64) {
        self.cpus
            .iter_mut()
            .chain(&mut self.clusters)
            .for_each(|t| t.settle(time_ns));
        self.domains.iter_mut().for_each(|d| d.settle(time_ns));
        let clocks = self.clocks.iter_mut().zip(&self.cpus);
        for ((clock, track), domain) in clocks.zip(&self.wiring.cpu_domain) {
            clock.settle(self.domains[*domain].khz_ns, track.now == Some(0));
        }
        self.packages.iter_mut().for_each(|p| p.settle(time_ns));
        self.run_ns = time_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::Residency;
    use crate::metric::Values;
    use crate::testbed::{one_cluster, two_clusters};
    use wakeplace_engine::Observer;
    use wakeplace_engine::happen;
    use wakeplace_engine::observe::CpuPower::{Busy, Idle, Transition};

    /// CPUs 0, 1 = little, 2 = big; states 0 `wfi`, 1 `off`, 2 `cluster-off`.
    fn measured() -> Residency {
        let mut r = Residency::new(&two_clusters());
        happen!(r, 0 => CpuPower { cpu: 0, power: Busy });
        happen!(r, 0 => CpuPower { cpu: 1, power: Idle { state: 0 } });
        happen!(r, 0 => CpuPower { cpu: 2, power: Idle { state: 2 } });
        happen!(r, 0 => ClusterPower { cluster: 0, state: None });
        happen!(r, 0 => ClusterPower { cluster: 1, state: Some(2) });
        happen!(r, 0 => Frequency { domain: 0, opp: 0 });
        happen!(r, 0 => Frequency { domain: 1, opp: 0 });
        happen!(r, 100 => CpuPower { cpu: 1, power: Busy });
        happen!(r, 300 => Frequency { domain: 0, opp: 1 });
        happen!(r, 400 => CpuPower { cpu: 0, power: Idle { state: 1 } });
        happen!(r, 600 => CpuPower { cpu: 2, power: Busy });
        happen!(r, 600 => ClusterPower { cluster: 1, state: None });
        happen!(r, 600 => Frequency { domain: 1, opp: 0 }); // Set again: no change.
        happen!(r, 1000 => Finish);
        r
    }

    #[test]
    fn shares_by_hand() {
        let mut values = Values::default();
        measured().report(&mut values);
        // Busy: CPU 0 400, CPU 1 900, CPU 2 400.
        assert_eq!(values.get("busy_cpus_mean"), Some(1.7));
        assert_eq!(values.get("busy_little_pct"), Some(65.0));
        assert_eq!(values.get("busy_big_pct"), Some(40.0));
        // Deeper than wfi: CPU 0 600, CPU 2 600, of 3000.
        assert_eq!(values.get("idle_residency_pct"), Some(40.0));
        assert_eq!(values.get("freq_changes_total"), Some(1.0));
        // One package: CPU 0 executes to 400, CPU 1 from 100 on. CPUs 1 and 2 left idle states
        // once each, in 1000 ns.
        assert_eq!(values.get("package_idle_pct"), Some(0.0));
        // wfi: CPU 1, 100; off: CPU 0, 600; cluster-off: CPU 2, 600; of 3000.
        assert_eq!(values.get("residency_off_pct"), Some(20.0));
        assert_eq!(values.get("residency_cluster-off_pct"), Some(20.0));
        assert_eq!(values.get("idle_wakeups_per_s"), Some(2e6));
    }

    /// Goal: CPUs of one cluster that are not alike have a figure per kind, beside the cluster's.
    /// All three CPUs in one: busy 400 + 900 + 400 of 3000; the kinds have 1300 of 2000 and 400 of
    /// 1000.
    #[test]
    fn kinds_within_a_cluster_are_told_apart() {
        let mut platform = one_cluster();
        platform.idle_states.truncate(2);
        let mut r = Residency::new(&platform);
        happen!(r, 0 => CpuPower { cpu: 0, power: Busy });
        happen!(r, 0 => CpuPower { cpu: 1, power: Idle { state: 0 } });
        happen!(r, 0 => CpuPower { cpu: 2, power: Idle { state: 1 } });
        happen!(r, 100 => CpuPower { cpu: 1, power: Busy });
        happen!(r, 400 => CpuPower { cpu: 0, power: Idle { state: 1 } });
        happen!(r, 600 => CpuPower { cpu: 2, power: Busy });
        happen!(r, 1000 => Finish);
        let mut values = Values::default();
        r.report(&mut values);
        let busy = |name: &str| values.get(&format!("busy_{name}_pct"));
        let share = 1700.0 / 3000.0 * 100.0;
        assert_eq!(busy("all"), Some(share));
        assert_eq!(busy("test-512"), Some(65.0));
        assert_eq!(busy("test-1024"), Some(40.0));
        let kinds = r.kinds();
        let of = |at: usize| {
            let kind = &kinds[at];
            (kind.name.as_str(), kind.cpus.len(), kind.busy_ns)
        };
        assert_eq!(
            [of(0), of(1)],
            [("test-512", 2, 1300), ("test-1024", 1, 400)]
        );
        assert_eq!((r.clusters().len(), measured().kinds().len()), (1, 0));
    }

    #[test]
    fn a_package_is_idle_while_all_its_cpus_are() {
        let mut r = Residency::new(&two_clusters());
        for cpu in 0..3 {
            happen!(r, 0 => CpuPower { cpu, power: Idle { state: 0 } });
        }
        happen!(r, 200 => CpuPower { cpu: 1, power: Busy });
        happen!(r, 250 => CpuPower { cpu: 2, power: Transition { state: 2 } }); // on its way out
        happen!(r, 300 => CpuPower { cpu: 2, power: Busy });
        happen!(r, 400 => CpuPower { cpu: 1, power: Transition { state: 1 } }); // on its way in
        happen!(r, 450 => CpuPower { cpu: 1, power: Idle { state: 1 } });
        happen!(r, 500 => CpuPower { cpu: 2, power: Idle { state: 0 } });
        happen!(r, 700 => CpuPower { cpu: 2, power: Idle { state: 2 } }); // deeper, without waking
        happen!(r, 1000 => Finish);
        let mut values = Values::default();
        r.report(&mut values);
        assert_eq!(
            values.get("package_idle_pct"),
            Some(70.0),
            "200 and 500 of 1000"
        );
        assert_eq!(values.get("idle_wakeups_per_s"), Some(2e6), "CPUs 1 and 2");
    }

    #[test]
    fn transitions_are_neither_busy_nor_idle() {
        let mut r = Residency::new(&two_clusters());
        for cpu in 0..3 {
            happen!(r, 0 => CpuPower { cpu, power: Busy });
        }
        for i in 0..2 {
            happen!(r, 0 => ClusterPower { cluster: i, state: None });
            happen!(r, 0 => Frequency { domain: i, opp: 0 });
        }
        // CPU 0: 400 busy, 100 in, 300 off, 50 out, 150 busy. CPU 2: 700 busy, 250 caught, 50 busy.
        happen!(r, 400 => CpuPower { cpu: 0, power: Transition { state: 1 } });
        happen!(r, 500 => CpuPower { cpu: 0, power: Idle { state: 1 } });
        happen!(r, 700 => CpuPower { cpu: 2, power: Transition { state: 2 } });
        happen!(r, 800 => CpuPower { cpu: 0, power: Transition { state: 1 } });
        happen!(r, 850 => CpuPower { cpu: 0, power: Busy });
        happen!(r, 950 => CpuPower { cpu: 2, power: Busy });
        happen!(r, 1000 => Finish);
        let mut values = Values::default();
        r.report(&mut values);
        assert_eq!(values.get("busy_cpus_mean"), Some(2.3), "550 + 1000 + 750");
        assert_eq!(values.get("busy_little_pct"), Some(77.5));
        assert_eq!(values.get("busy_big_pct"), Some(75.0));
        assert_eq!(values.get("idle_residency_pct"), Some(10.0), "300 of 3000");
        let found = values.get("transition_pct").unwrap();
        assert!((found - 400.0 / 30.0).abs() < 1e-12, "{found}");
        let clusters = r.clusters();
        let times: Vec<_> = clusters
            .iter()
            .map(|c| (c.busy_ns, c.transition_ns))
            .collect();
        assert_eq!(times, [(1550, 150), (750, 250)]);
        assert_eq!(clusters[0].idle[0].time_ns, 300);
        assert!(clusters[1].idle.is_empty(), "never in the state");
        assert_eq!(r.domains()[1].opps[0].busy_ns, 750);
    }

    #[test]
    fn tables_by_hand() {
        let r = measured();
        let little: Vec<_> = r.domains()[0]
            .opps
            .iter()
            .map(|o| (o.khz, o.time_ns, o.busy_ns))
            .collect();
        // 0-300: CPU 0 all of it, CPU 1 from 100. 300-1000: CPU 0 until 400, CPU 1 all of it.
        assert_eq!(
            little,
            [
                (500_000, 300, 500),
                (1_000_000, 700, 800),
                (1_500_000, 0, 0)
            ]
        );
        let clusters = r.clusters();
        let idle = |c: usize| -> Vec<(String, u64)> {
            clusters[c]
                .idle
                .iter()
                .map(|s| (s.state.clone(), s.time_ns))
                .collect()
        };
        assert_eq!(idle(0), [("wfi".to_owned(), 100), ("off".to_owned(), 600)]);
        assert_eq!(idle(1), [("cluster-off".to_owned(), 600)]);
        assert_eq!(clusters[1].cluster_idle[0].time_ns, 600);
        assert!(clusters[0].cluster_idle.is_empty());
        assert_eq!((clusters[0].busy_ns, clusters[0].cpus.len()), (1300, 2));
        // By the points above: 500 x 500 MHz and 800 x 1000 MHz; big is busy 400 at 1000 MHz.
        let clocks = [0, 1].map(|at| clusters[at].busy_khz_ns);
        assert_eq!(clocks, [1_050_000_000, 400_000_000]);
    }
}

//! What a package may draw: the mean over some time, and at any time (Intel's PL1 and PL2). How
//! fast hardware gives way is not published: here a step of all clocks of the package each
//! millisecond (docs/decisions/059).
//!
//! What must stay: it looks each millisecond of the run, whatever happened. Powers are uW. The rule
//! is assumed (docs/decisions/059). Free: what leaves recorded runs as they are (ARCHITECTURE.md,
//! "What a change may touch"). Tests by part: `clocks_give_way_to_power` (`look`),
//! `a_package_keeps_to_its_limit` (`new`, `look_at_power`, `limit_draws`, `most`),
//! `clocks_give_way_to_power` (`take_energy`), `a_package_keeps_to_its_limit` (`arm_limits`).
//!
//! Callers: clocks.rs (`arm_limits`), thermal.rs (`limit_draws`), sim.rs (`look_at_power`).
//!
//! Tests: below, crates/engine/tests/behaviour/clocks.rs::a_package_keeps_to_its_limit

use super::Mechanics;
use super::power::Drawn;
use super::queue::Event;
use crate::observe::Observer;
use wakeplace_platform::{Platform, PowerLimit};
use wakeplace_power::PowerModel;

/// From one look to the next.
const STEP_NS: u64 = 1_000_000;

/// Clocks rise again once a package draws less than this part of what it may draw, per mille. The
/// rest is more than a step of 100 MHz adds to the power, so that clocks do not go to and fro.
const ROOM_PERMILLE: u64 = 970;

/// One package.
#[derive(Debug)]
struct Package {
    clusters: Vec<usize>,
    domains: Vec<u32>,
    /// Mean of late, uW.
    mean_uw: u64,
    /// How many points its clocks are below their highest.
    steps: u16,
}

/// All packages of a machine.
#[derive(Debug)]
pub(super) struct PowerLimits {
    limit: PowerLimit,
    power: PowerModel,
    drawn: Vec<Drawn>,
    packages: Vec<Package>,
    package_of: Vec<usize>,
    last: Vec<u16>,
}

impl PowerLimits {
    /// None: the machine states none.
    pub(super) fn new(platform: &Platform) -> Option<Self> {
        let limit = platform.power_limit?;
        let power = PowerModel::new(platform)?;
        let nr = platform.cpus.iter().map(|cpu| cpu.package).max()? as usize + 1;
        let of_cpu = |cpu: &wakeplace_platform::CpuId| platform.cpus[cpu.index()].package as usize;
        let clusters = |package: usize| {
            let all = platform.clusters.iter().enumerate();
            let own = all.filter(|(_, cluster)| of_cpu(&cluster.cpus[0]) == package);
            own.map(|(at, _)| at).collect()
        };
        let domains = |package: usize| {
            let all = (0..).zip(&platform.freq_domains);
            let own = all.filter(|(_, domain)| of_cpu(&domain.cpus[0]) == package);
            own.map(|(at, _)| at).collect()
        };
        let package = |at: usize| Package {
            clusters: clusters(at),
            domains: domains(at),
            mean_uw: 0,
            steps: 0,
        };
        let domains = || platform.freq_domains.iter();
        Some(Self {
            limit,
            power,
            drawn: vec![Drawn::default(); platform.clusters.len()],
            packages: (0..nr).map(package).collect(),
            package_of: domains().map(|domain| of_cpu(&domain.cpus[0])).collect(),
            last: domains()
                .map(|domain| domain.opps.len() as u16 - 1)
                .collect(),
        })
    }

    /// The last operating point that is left to a domain.
    pub(super) fn most(&self, domain: usize) -> u16 {
        self.last[domain].saturating_sub(self.packages[self.package_of[domain]].steps)
    }

    /// Energy since the last look; the powers go on.
    fn take_energy(&mut self, package: usize, now_ns: u64) -> u128 {
        let clusters = self.packages[package].clusters.iter();
        clusters
            .map(|cluster| self.drawn[*cluster].take(now_ns))
            .sum()
    }
}

impl Package {
    /// It drew this since the last look: do its clocks change?
    fn look(&mut self, limit: &PowerLimit, drawn_uw: u64, most_steps: u16) -> bool {
        let mean = i128::from(self.mean_uw);
        let way = (i128::from(drawn_uw) - mean) * i128::from(STEP_NS)
            / i128::from(limit.tau_ns.max(STEP_NS));
        self.mean_uw = u64::try_from(mean + way).unwrap_or(0);
        let allowed_uw = match self.mean_uw > limit.long_uw {
            true => limit.long_uw,
            false => limit.short_uw,
        };
        let before = self.steps;
        if drawn_uw > allowed_uw {
            self.steps = (self.steps + 1).min(most_steps);
        } else if drawn_uw < allowed_uw * ROOM_PERMILLE / 1000 {
            self.steps = self.steps.saturating_sub(1);
        }
        self.steps != before
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// The first look; only where the machine states a limit.
    pub(super) fn arm_limits(&mut self) {
        if self.hardware.clocks.limits.is_some() {
            self.clock.push(STEP_NS, Event::PowerLimit);
        }
    }

    /// Something in a cluster draws another power from now on.
    pub(super) fn limit_draws(&mut self, cluster: u32) {
        let Some(mut limits) = self.hardware.clocks.limits.take() else {
            return;
        };
        let power_uw = self.cluster_power_uw(cluster, &limits.power);
        limits.drawn[cluster as usize].change(self.clock.now, power_uw);
        self.hardware.clocks.limits = Some(limits);
    }

    /// A look at what packages drew.
    pub(crate) fn look_at_power(&mut self) {
        let now = self.clock.now;
        self.clock.push(now + STEP_NS, Event::PowerLimit);
        let Some(mut limits) = self.hardware.clocks.limits.take() else {
            return;
        };
        let mut changed: Vec<u32> = Vec::new();
        for at in 0..limits.packages.len() {
            let drawn = limits.take_energy(at, now) / u128::from(STEP_NS);
            let drawn_uw = u64::try_from(drawn).unwrap_or(u64::MAX) + limits.limit.beside_uw;
            let package = &mut limits.packages[at];
            let domains = package.domains.iter();
            let most = domains.map(|domain| limits.last[*domain as usize]).max();
            if package.look(&limits.limit, drawn_uw, most.unwrap_or(0)) {
                changed.extend(&package.domains);
            }
        }
        self.hardware.clocks.limits = Some(limits);
        for domain in changed {
            self.move_clock(domain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Package, PowerLimit};

    /// By hand, with a mean over 10 ms: 200 W of at most 241 raise the mean by a tenth of the way
    /// each ms (20, 38, 54.2, ...); above 125 W clocks fall by a step each look, which is after ten
    /// looks (1 - 0.9^10 = 0.651 of 200 is 130). Within three in a hundred of 125 W they stay. 250
    /// W are too much at once.
    #[test]
    fn clocks_give_way_to_power() {
        let limit = PowerLimit {
            long_uw: 125_000_000,
            tau_ns: 10_000_000,
            short_uw: 241_000_000,
            beside_uw: 0,
        };
        let mut package = Package {
            clusters: Vec::new(),
            domains: Vec::new(),
            mean_uw: 0,
            steps: 0,
        };
        let falls: Vec<bool> = (0..12)
            .map(|_| package.look(&limit, 200_000_000, 40))
            .collect();
        assert_eq!(falls.iter().position(|fell| *fell), Some(9));
        assert_eq!(package.steps, 3);
        assert!(!package.look(&limit, 124_000_000, 40));
        assert!(package.look(&limit, 100_000_000, 40));
        assert_eq!(package.steps, 2);
        package.mean_uw = 0;
        assert!(package.look(&limit, 250_000_000, 40));
        assert_eq!(package.steps, 3);
    }
}

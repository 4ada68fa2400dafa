//! The energy meter: integrates the power of the hardware states the engine announces.
//!
//! It keeps two independent books. The ledger records times by state and multiplies at the end; the
//! running total multiplies at every change (docs/guide/model.md, "Energy").
//!
//! One for each run, made by `collector.rs`; for traces by `trace_meter`, and for the price of a
//! choice by `crates/price/src/cost.rs`. Listening changes no run. Announcements come in the order
//! of time (ns). A new kind of draw is added to both books and to `energy.rs`.
//!
//! What must stay: the two books share no code but tables of the platform. At the end of every run
//! they agree to the last unit, and the ledger accounts for every nanosecond of every CPU and
//! cluster; `close` panics otherwise. The board counts only beside microwatts. Free: what leaves
//! every figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `energy_by_hand` (`close`, `clusters`), `equals_the_power_summed_nanosecond_by_nanosecond` (all
//! announcements), `a_ledger_entry_under_the_wrong_state_is_found`,
//! `a_wrong_running_total_is_found` and `work_under_the_wrong_state_is_found` (`close`),
//! `board_is_counted_only_beside_microwatts` (`board`), `threads_of_a_core_share_power` (`tell`),
//! `measured_powers_follow_the_other_clock` (`points`), `time_that_runs_backwards_is_found` (the
//! order of time), all (`new`, `happened`, `point`, `follow`, `cpu_power`, `cluster_power`,
//! `frequency`, `finish`, `report`, `unit`), `threads_of_a_core_share_power` (`cpu_busy_beside`),
//! `work_is_drawn_by_busy_cpus_alone` (`has_work`, `work`). What a source of powers has
//! (`cpu_busy`, `cpu_idle`, `cpu_transition`, `cluster_on`, `cluster_idle`, `cluster_all_idle`) is
//! power.rs', with its tests.
//!
//! Tests: crates/metrics/src/meter/tests.rs

use crate::energy::EnergyReport;
use crate::ledger::Ledger;
use crate::occupancy::{ClusterUse, Occupancy};
use crate::running::Running;
use crate::wiring::Wiring;
use wakeplace_engine::observe::CpuPower;
use wakeplace_engine::{Happening, Observer};
use wakeplace_platform::{Platform, PowerUnit};
use wakeplace_power::Rows;

/// Power of hardware states in one unit; all numbers index the platform's vectors.
pub trait PowerSource {
    /// A busy CPU at point `opp` of its domain: its operating point, and what else its powers were
    /// measured beside (`wakeplace_power::Rows`).
    fn cpu_busy(&self, cpu: usize, opp: usize) -> u64;
    /// A busy CPU while `others` more threads of its core are busy.
    fn cpu_busy_beside(&self, cpu: usize, _others: usize, opp: usize) -> u64 {
        self.cpu_busy(cpu, opp)
    }
    /// A CPU in idle state `state` while its domain is at `opp`.
    fn cpu_idle(&self, cpu: usize, state: usize, opp: usize) -> u64;
    /// A CPU that enters or leaves idle state `state` while its domain is at `opp`.
    fn cpu_transition(&self, cpu: usize, state: usize, opp: usize) -> u64;
    /// A powered cluster with a CPU that is busy or in transition, while the domain of its first
    /// CPU is at `opp`.
    fn cluster_on(&self, cluster: usize, opp: usize) -> u64;
    /// A powered cluster whose CPUs are all idle; `shallowest` is the shallowest of their states.
    fn cluster_all_idle(&self, cluster: usize, shallowest: usize, opp: usize) -> u64;
    /// A cluster in cluster state `state`.
    fn cluster_idle(&self, cluster: usize, state: usize, opp: usize) -> u64;
    /// The rest of the board, microwatts; None if the platform has no figure.
    fn board(&self) -> Option<u64>;
    /// Whether the platform has figures for what its board draws more while CPUs work.
    fn has_work(&self) -> bool {
        false
    }
    /// What the board draws more while a CPU is busy at `opp` beside `others` more threads of its
    /// core, microwatts.
    fn work(&self, _cpu: usize, _others: usize, _opp: usize) -> u64 {
        0
    }
    /// Unit of the figures.
    fn unit(&self) -> PowerUnit;
}

/// Integrates power over a run.
#[derive(Clone, Debug)]
pub struct EnergyMeter<P> {
    power: P,
    wiring: Wiring,
    occupancy: Occupancy,
    /// Per CPU: whether it is busy.
    busy: Vec<bool>,
    /// Where powers depend on another domain's clock: which of them are in force.
    rows: Option<Rows>,
    /// What the books last heard of each cluster.
    uses: Vec<Option<ClusterUse>>,
    ledger: Ledger,
    running: Running,
    run_ns: Option<u64>,
}

impl<P: PowerSource> EnergyMeter<P> {
    /// For a run on `platform`, with its powers.
    #[must_use]
    pub fn new(platform: &Platform, power: P) -> EnergyMeter<P> {
        let wiring = Wiring::new(platform);
        EnergyMeter {
            occupancy: Occupancy::new(&wiring.cluster_sizes(), platform.idle_states.len()),
            busy: vec![false; platform.cpus.len()],
            rows: Rows::new(platform),
            uses: vec![None; platform.clusters.len()],
            ledger: Ledger::new(platform, &wiring),
            running: Running::new(&wiring, board(&power).unwrap_or(0)),
            run_ns: None,
            power,
            wiring,
        }
    }

    /// Tells both books what a CPU does, and beside how many busy threads of its core.
    fn tell(&mut self, time_ns: u64, cpu: usize, power: CpuPower) {
        let others = match power {
            CpuPower::Busy => {
                let siblings = self.wiring.siblings[cpu].iter();
                siblings.filter(|other| self.busy[**other]).count()
            }
            _ => 0,
        };
        self.ledger.cpu(time_ns, cpu, power, others);
        self.running.cpu(time_ns, cpu, (power, others), &self.power);
    }

    /// Tells both books by which powers a domain's CPUs and clusters go from now on.
    fn point(&mut self, time_ns: u64, domain: usize, point: usize) {
        self.ledger.frequency(time_ns, domain, point, &self.wiring);
        let running = &mut self.running;
        running.frequency(time_ns, (domain, point), &self.wiring, &self.power);
    }

    /// The same of all domains that a change has reached.
    fn points(&mut self, time_ns: u64, changed: &[usize]) {
        for domain in changed {
            let point = self.rows.as_ref().map_or(0, |rows| rows.point(*domain));
            self.point(time_ns, *domain, point);
        }
    }

    /// Tells both books if a cluster does something else now.
    fn follow(&mut self, time_ns: u64, cluster: usize) {
        let now = self.occupancy.of(cluster);
        if let Some(now) = now.filter(|_| now != self.uses[cluster]) {
            self.uses[cluster] = Some(now);
            self.ledger.cluster(time_ns, cluster, now);
            self.running.cluster(time_ns, cluster, now, &self.power);
        }
    }

    /// The energy of the finished run, after checking the books against each other.
    ///
    /// # Panics
    /// If the run is not finished; if a CPU's or cluster's times do not add up to the run; if the
    /// two books differ. Each is an error of the program, not of its input.
    #[must_use]
    pub fn close(&self) -> EnergyReport {
        let run_ns = self
            .run_ns
            .expect("the energy meter is closed after the run's end");
        self.ledger.check_times(run_ns);
        let report = self.report(run_ns);
        let work = report.work_energy.unwrap_or(0);
        let ledger = report.cpu_energy + report.board_energy.unwrap_or(0) + work;
        let running = self.running.energy();
        assert!(
            ledger == running,
            "energy books differ: ledger {ledger}, running total {running} (power unit x ns)"
        );
        let running = self.running.work();
        assert!(
            work == running,
            "energy books differ: work: ledger {work}, running total {running}"
        );
        for (cluster, running) in self.running.clusters().enumerate() {
            let ledger = report.cluster_energy(cluster);
            assert!(
                ledger == running,
                "energy books differ: cluster {cluster}: ledger {ledger}, running total {running}"
            );
        }
        report
    }

    /// Energy of each cluster with its CPUs up to now, power unit x ns, in the middle of a run.
    pub fn clusters(&mut self, time_ns: u64) -> impl Iterator<Item = u128> {
        self.running.advance(time_ns);
        self.running.clusters()
    }

    /// Unit of the figures.
    #[must_use]
    pub fn unit(&self) -> PowerUnit {
        self.power.unit()
    }

    /// The energy that the ledger knows of, up to which time it does.
    fn report(&self, time_ns: u64) -> EnergyReport {
        let parts = self.ledger.parts(&self.wiring, &self.power);
        let cpu_energy: u128 = parts.iter().map(|p| p.energy).sum();
        let board_energy = board(&self.power).map(|uw| u128::from(uw) * u128::from(time_ns));
        EnergyReport {
            unit: self.power.unit(),
            cpu_energy,
            board_energy,
            work_energy: self.power.has_work().then(|| self.ledger.work(&self.power)),
            parts,
            cpus: self.ledger.cpus(&self.power),
        }
    }
}

/// The board counts only beside powers of the same unit.
fn board(power: &impl PowerSource) -> Option<u64> {
    power
        .board()
        .filter(|_| power.unit() == PowerUnit::Microwatt)
}

impl<P: PowerSource> Observer for EnergyMeter<P> {
    /// What CPUs, clusters and clocks do; nothing else draws power.
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

impl<P: PowerSource> EnergyMeter<P> {
    /// A CPU draws for something else; threads of its core with it.
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        let busy = power == CpuPower::Busy;
        let changed = std::mem::replace(&mut self.busy[cpu as usize], busy) != busy;
        self.tell(time_ns, cpu as usize, power);
        for at in 0..self.wiring.siblings[cpu as usize].len() {
            let other = self.wiring.siblings[cpu as usize][at];
            if changed && self.busy[other] {
                self.tell(time_ns, other, CpuPower::Busy);
            }
        }
        let cluster = self.wiring.cpu_cluster[cpu as usize];
        self.occupancy.cpu(cpu as usize, cluster, power);
        self.follow(time_ns, cluster);
        let domain = self.wiring.cpu_domain[cpu as usize];
        if let Some(rows) = self.rows.as_mut().filter(|_| changed) {
            let changed = rows.cpu(domain, busy);
            self.points(time_ns, &changed);
        }
    }

    /// A cluster enters a state of its own (`None`: it is powered), whatever its CPUs do.
    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {
        self.occupancy.cluster(cluster as usize, state);
        self.follow(time_ns, cluster as usize);
    }

    /// A clock changes: all that draw by it draw otherwise.
    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        let (domain, opp) = (domain as usize, usize::from(opp));
        let Some(rows) = &mut self.rows else {
            self.point(time_ns, domain, opp);
            return;
        };
        let mut changed = rows.opp(domain, opp);
        // At its first announcement it is at a point, though at no other one.
        if !changed.contains(&domain) {
            changed.push(domain);
        }
        self.points(time_ns, &changed);
    }

    /// The run is over at this time: both books take what is left up to it.
    fn finish(&mut self, time_ns: u64) {
        self.ledger.settle(time_ns);
        self.running.advance(time_ns);
        self.run_ns = Some(time_ns);
    }
}

#[cfg(test)]
mod tests;

//! Placements, migrations and the overutilized flag (docs/guide/results.md, "What a result holds").
//! Reasons are the core's, by their numbers.
//!
//! Made by `collector.rs` for each run. Kinds and causes come with what happened; nothing is
//! decided here.
//!
//! What must stay: names of metrics, and that `CAUSES` has the order of `cause_index`. Moves by
//! hotplug, exec and dispatch are in no result without such a move. Shares are there only for a run
//! longer than 0. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a change may
//! touch"). Tests by part: `counts_by_kind_cause_and_cluster` (`count`, `migrate`, `cause_index`,
//! `report`), `wakeups_by_kind_within_a_cluster` (`groups`), `overutilized_share` (`overutilized`,
//! `report_overutilized`),
//! collector/tests.rs::`every_plain_metric_is_reported_or_excluded_by_the_platform` (causes that
//! are left out), all (`new`, `happened`, `placement`), `overutilized_share` (`finish`).
//!
//! Callers: collector.rs (`report_overutilized`).
//!
//! Tests: below, crates/metrics/src/collector/tests.rs

use crate::metric::Values;
use crate::wiring::elapsed;
use wakeplace_engine::observe::{MigrateCause, Placement, PlacementKind};
use wakeplace_engine::{Happening, Observer};
use wakeplace_platform::{CpuGroup, Platform};

/// Metric of each cause, in the order of [`cause_index`].
const CAUSES: [&str; 8] = [
    "migrations_wake_total",
    "migrations_balance_total",
    "migrations_newidle_total",
    "migrations_active_total",
    "migrations_affinity_total",
    HOTPLUG,
    EXEC,
    DISPATCH,
];

const HOTPLUG: &str = "migrations_hotplug_total";
const EXEC: &str = "migrations_exec_total";
const DISPATCH: &str = "migrations_dispatch_total";

/// The place of a cause in the counts, which is the order of the names in `report`.
fn cause_index(cause: MigrateCause) -> usize {
    match cause {
        MigrateCause::Wake => 0,
        MigrateCause::Balance => 1,
        MigrateCause::NewIdle => 2,
        MigrateCause::Active => 3,
        MigrateCause::Affinity => 4,
        MigrateCause::Hotplug => 5,
        MigrateCause::Exec => 6,
        MigrateCause::Dispatch => 7,
    }
}

/// Counts where tasks were placed and why they moved. Placements per reason are in the engine's
/// run report.
#[derive(Clone, Debug)]
pub struct Placements {
    /// Clusters, then kinds of CPU.
    groups: Vec<CpuGroup>,
    forks: u64,
    wakeups_by_cpu: Vec<u64>,
    migrations: [u64; CAUSES.len()],
    /// Since when the flag is on, ns.
    overutilized_since: Option<u64>,
    overutilized_ns: u64,
    run_ns: u64,
}

impl Placements {
    /// For runs on `platform`.
    #[must_use]
    pub fn new(platform: &Platform) -> Placements {
        Placements {
            groups: platform.cpu_groups(),
            forks: 0,
            wakeups_by_cpu: vec![0; platform.cpus.len()],
            migrations: [0; CAUSES.len()],
            overutilized_since: None,
            overutilized_ns: 0,
            run_ns: 0,
        }
    }

    /// Counts a placement by its kind, a wake-up by the CPU that was chosen.
    fn count(&mut self, kind: PlacementKind, cpu: u32) {
        match kind {
            PlacementKind::Wake => self.wakeups_by_cpu[cpu as usize] += 1,
            PlacementKind::Fork => self.forks += 1,
            PlacementKind::Exec => {} // no metric
        }
    }

    /// Enters the metrics; shares only for a run longer than 0.
    pub(crate) fn report(&self, values: &mut Values) {
        values.count("wakeups_total", self.wakeups_by_cpu.iter().sum());
        values.count("forks_total", self.forks);
        for group in &self.groups {
            let of = group
                .cpus
                .iter()
                .map(|cpu| self.wakeups_by_cpu[cpu.index()]);
            let count: u64 = of.sum();
            values.set_cluster("wakeups_{cluster}_total", &group.name, count as f64);
        }
        values.count("migrations_total", self.migrations.iter().sum());
        for (name, &count) in CAUSES.into_iter().zip(&self.migrations) {
            // CPUs leave in few runs: in the others nothing is said of it.
            if count > 0 || ![HOTPLUG, EXEC, DISPATCH].contains(&name) {
                values.count(name, count);
            }
        }
    }

    /// Share of the time above the tipping point, where somebody watched for it.
    pub(crate) fn report_overutilized(&self, values: &mut Values) {
        if self.run_ns > 0 {
            let share = self.overutilized_ns as f64 / self.run_ns as f64;
            values.set("overutilized_pct", share * 100.0);
        }
    }
}

impl Observer for Placements {
    /// Placements, moves, and the flag of the root domain.
    #[inline(always)]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::Placement(ref it) => self.placement(it),
            Happening::Migrate { cause, .. } => self.migrate(cause),
            Happening::Overutilized { on } => self.overutilized(time_ns, on),
            Happening::Finish => self.finish(time_ns),
            _ => {}
        }
    }
}

impl Placements {
    /// A task was placed: by a wake-up, a fork or an exec.
    fn placement(&mut self, placement: &Placement) {
        self.count(placement.kind, placement.cpu);
    }

    /// A task moved to another CPU, for this cause.
    fn migrate(&mut self, cause: MigrateCause) {
        self.migrations[cause_index(cause)] += 1;
    }

    /// The flag changes: time with it set counts, ns.
    fn overutilized(&mut self, time_ns: u64, on: bool) {
        if let Some(since) = self.overutilized_since.take() {
            self.overutilized_ns += elapsed(since, time_ns);
        }
        self.overutilized_since = on.then_some(time_ns);
    }

    /// The run is over; a flag that is still set counts up to now.
    fn finish(&mut self, time_ns: u64) {
        self.overutilized(time_ns, false);
        self.run_ns = time_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::Placements;
    use crate::metric::Values;
    use crate::testbed::{one_cluster, two_clusters};
    use wakeplace_engine::Observer;
    use wakeplace_engine::happen;
    use wakeplace_engine::observe::{MigrateCause, PlacementKind};

    fn report(placements: &Placements) -> Values {
        let mut values = Values::default();
        placements.report(&mut values);
        placements.report_overutilized(&mut values);
        values
    }

    #[test]
    fn counts_by_kind_cause_and_cluster() {
        let mut p = Placements::new(&two_clusters());
        for cpu in [0, 1, 2, 2, 2] {
            p.count(PlacementKind::Wake, cpu);
        }
        p.count(PlacementKind::Fork, 2);
        for (cause, n) in [
            (MigrateCause::Wake, 5),
            (MigrateCause::Balance, 4),
            (MigrateCause::NewIdle, 3),
            (MigrateCause::Active, 2),
            (MigrateCause::Affinity, 1),
        ] {
            (0..n)
                .for_each(|_| happen!(p, 0 => Migrate { task: 0, from_cpu: 0, to_cpu: 1, cause }));
        }
        let values = report(&p);
        for (name, expected) in [
            ("wakeups_total", 5.0),
            ("wakeups_little_total", 2.0),
            ("wakeups_big_total", 3.0),
            ("forks_total", 1.0),
            ("migrations_total", 15.0),
            ("migrations_wake_total", 5.0),
            ("migrations_balance_total", 4.0),
            ("migrations_newidle_total", 3.0),
            ("migrations_active_total", 2.0),
            ("migrations_affinity_total", 1.0),
        ] {
            assert_eq!(values.get(name), Some(expected), "{name}");
        }
        assert_eq!(
            values.get("overutilized_pct"),
            None,
            "a run of length 0 has no shares"
        );
    }

    #[test]
    fn wakeups_by_kind_within_a_cluster() {
        let mut p = Placements::new(&one_cluster());
        for cpu in [0, 1, 2, 2, 2] {
            p.count(PlacementKind::Wake, cpu);
        }
        let values = report(&p);
        let wakeups = |name: &str| values.get(&format!("wakeups_{name}_total"));
        assert_eq!(wakeups("all"), Some(5.0));
        assert_eq!(
            (wakeups("test-512"), wakeups("test-1024")),
            (Some(2.0), Some(3.0))
        );
    }

    #[test]
    fn overutilized_share() {
        let mut p = Placements::new(&two_clusters());
        happen!(p, 100 => Overutilized { on: true });
        happen!(p, 150 => Overutilized { on: true }); // A repetition changes nothing.
        happen!(p, 300 => Overutilized { on: false });
        happen!(p, 900 => Overutilized { on: true });
        happen!(p, 1000 => Finish);
        // 200 + 100 of 1000.
        assert_eq!(report(&p).get("overutilized_pct"), Some(30.0));
    }
}

//! Clocks, their operating points and the power at each (docs/guide/import.md, "What is read").
//!
//! Called by `devicetree.rs`. Clocks are kHz, voltages mV, powers µW.
//!
//! What must stay: powers are the kernel's own to the microwatt (drivers/opp/of.c: MHz and mV
//! without fractions); points rise, each frequency once; a clock has a power at all points or at
//! none. Free: what leaves the files of imports as they are (ARCHITECTURE.md, "What a change may
//! touch"), and words of messages that no test quotes. Tests by part:
//! voltages.rs::`coefficients_and_voltages_make_power` (`with_coefficient`, `clock_key`,
//! `with_voltages`), voltages.rs::`clocks_without_a_coefficient` (none is invented),
//! mod.rs::`a_device_tree_with_the_kernels_energy_model` (`points`, `opp-shared`),
//! devicetree.rs::`an_import_of_the_tree_has_the_platforms_figures` (`opp-microwatt`). `clocks` and
//! `clock` by all of these. No test of its own: `old_points`, `latency_ns`.
//!
//! Tests: crates/platform/tests/all/import/voltages.rs, crates/platform/tests/all/import/mod.rs,
//! crates/lab/src/devicetree.rs

use super::{MAX_STEPS, View};
use crate::fdt::Node;
use crate::import::ImportError;
use crate::import::found::{Clock, Origin, Point, Scale, cpu_list};

/// Highest frequency that is believed, Hz (20 GHz).
const MAX_HZ: u64 = 20_000_000_000;
/// Most operating points of a table that are read.
const MAX_ENTRIES: usize = 4096;
/// Highest power the kernel's energy model takes, uW.
const MAX_POWER_UW: u64 = 64_000_000;

/// By which property CPUs share a clock, and its cells.
type Key = (u8, Vec<u32>);

impl View<'_> {
    /// What makes CPUs share a clock: a frequency domain of the vendor's firmware, a shared table.
    fn clock_key(&self, cpu: usize) -> Key {
        let node = self.nodes[cpu];
        for (sort, key) in (0..).zip(["qcom,freq-domain", "performance-domains"]) {
            let mut cells = node.cells(key);
            cells.truncate(MAX_STEPS);
            if !cells.is_empty() {
                return (sort, cells);
            }
        }
        let table = node.cells("operating-points-v2");
        let shared = table.first().and_then(|handle| self.node(*handle));
        match shared.is_some_and(|table| table.prop("opp-shared").is_some()) {
            true => (2, table),
            false => (3, vec![cpu as u32]),
        }
    }

    /// CPUs that share a clock or a table of operating points, each group with its points.
    pub(super) fn clocks(&self, said: &mut Vec<String>) -> Result<Vec<Clock>, ImportError> {
        if let Some(list) = self.voltages {
            list.check_cpus(self.nodes.len())?;
        }
        let mut keys: Vec<(Key, Vec<u16>)> = Vec::new();
        for cpu in 0..self.nodes.len() {
            let key = self.clock_key(cpu);
            match keys.iter_mut().find(|(known, _)| *known == key) {
                Some((_, cpus)) => cpus.push(cpu as u16),
                None => keys.push((key, vec![cpu as u16])),
            }
        }
        keys.into_iter()
            .map(|(_, cpus)| self.clock(cpus, said))
            .collect()
    }

    /// Lays the list of voltages over the points of a clock, whose origin is `from` so far.
    fn with_voltages(
        &self,
        cpus: &[u16],
        (points, from): (&mut Vec<Point>, &mut String),
        coefficient: Option<u64>,
        said: &mut Vec<String>,
    ) -> Result<(), ImportError> {
        let Some(list) = self.voltages else {
            return Ok(());
        };
        if !list.has(cpus) {
            let without = points.is_empty() || points.iter().any(|point| point.mv.is_none());
            return match without && coefficient.is_some() {
                true => Err(list.missing(cpus)),
                false => Ok(()),
            };
        }
        *from = match points.is_empty() {
            true => list.origin(),
            false => format!("{from}; voltages: {}", list.origin()),
        };
        list.lay_over(cpus, points, said)?;
        let none = match coefficient.map(|coefficient| with_coefficient(points, coefficient)) {
            None => "no dynamic-power-coefficient",
            Some(false) => "a power of 0 or of more than 64 W by dynamic-power-coefficient",
            Some(true) => return Ok(()),
        };
        let cpus = cpu_list(cpus);
        said.push(format!("no power from the voltages of CPUs {cpus}: {none}"));
        Ok(())
    }

    /// One clock: its points from the table, with powers where voltages and a coefficient are
    /// known.
    fn clock(&self, cpus: Vec<u16>, said: &mut Vec<String>) -> Result<Clock, ImportError> {
        let first = |key: &str| {
            let mut nodes = cpus.iter().map(|cpu| self.nodes[usize::from(*cpu)]);
            nodes.find_map(|node| node.u32(key))
        };
        let own = self.nodes[usize::from(cpus[0])];
        let table = first("operating-points-v2").and_then(|handle| self.node(handle));
        let mut points = table
            .map(|table| self.points(table, said))
            .unwrap_or_default();
        let mut from = self.text("operating-points-v2");
        if points.is_empty() {
            points = old_points(own);
            from = self.text("operating-points");
        }
        let coefficient = first("dynamic-power-coefficient").map(u64::from);
        let stated = !points.is_empty() && points.iter().all(|point| point.power.is_some());
        let of_points = if stated { None } else { coefficient };
        self.with_voltages(&cpus, (&mut points, &mut from), of_points, said)?;
        let power = match (stated, coefficient) {
            (true, _) => Some(self.text("opp-microwatt")),
            (false, Some(coefficient)) => with_coefficient(&mut points, coefficient).then(|| {
                let formula = "dynamic-power-coefficient * mV^2 * MHz / 10^6, drivers/opp/of.c";
                let listed = self.voltages.filter(|list| list.has(&cpus));
                let listed = listed.map_or_else(String::new, |l| format!("; mV: {}", l.origin()));
                self.text(formula) + &listed
            }),
            (false, None) => None,
        };
        if power.is_none() {
            points.iter_mut().for_each(|point| point.power = None);
        }
        if points.is_empty() {
            let hz = own
                .u32("clock-frequency")
                .map(u64::from)
                .filter(|hz| *hz >= 1000);
            points.extend(hz.map(|hz| Point {
                khz: (hz / 1000) as u32,
                ..Point::default()
            }));
            from = self.text("clock-frequency, the only point that is stated");
        }
        let latency = table
            .and_then(latency_ns)
            .or_else(|| own.u32("clock-latency"));
        let stated = Origin::stated(self.text("clock-latency-ns"));
        Ok(Clock {
            cpus,
            points_from: (!points.is_empty()).then(|| Origin::stated(from)),
            points,
            power: power.map(|text| (Scale::Microwatt, Origin::derived(text))),
            cluster_from: None,
            latency_ns: latency.map(|ns| (u64::from(ns), stated)),
        })
    }

    /// The points of a table that any CPU may use; those for single CPUs only (turbo) are left out.
    fn points(&self, table: &Node, said: &mut Vec<String>) -> Vec<Point> {
        let mut points = Vec::new();
        let mut by_specimen = false;
        for node in table.children.iter().take(MAX_ENTRIES) {
            let turbo = node.prop("turbo-mode").is_some();
            let off = matches!(node.texts("status")[..], ["disabled"]);
            let hz = node.u64("opp-hz").filter(|hz| (1000..=MAX_HZ).contains(hz));
            let Some(hz) = hz.filter(|_| !turbo && !off) else {
                continue;
            };
            by_specimen |= node.prop("opp-supported-hw").is_some();
            let cells = node.cells("opp-microvolt");
            let mv = cells.first().map(|uv| uv / 1000);
            let power = node.cells("opp-microwatt").first().map(|uw| u64::from(*uw));
            points.push(Point {
                khz: (hz / 1000) as u32,
                mv: mv.filter(|mv| (1..=10_000).contains(mv)),
                power: power.filter(|uw| (1..=MAX_POWER_UW).contains(uw)),
                cluster_power: None,
            });
        }
        points.sort_by_key(|point| point.khz);
        points.dedup_by_key(|point| point.khz);
        if by_specimen {
            said.push(format!(
                "operating points of {}: those for some specimens only (opp-supported-hw) are in",
                table.name
            ));
        }
        points
    }
}

/// `operating-points`: pairs of kHz and microvolts.
fn old_points(node: &Node) -> Vec<Point> {
    let cells = node.cells("operating-points");
    let pairs = cells.chunks_exact(2).take(MAX_ENTRIES);
    let sound = |khz: &u32| (1..=MAX_HZ / 1000).contains(&u64::from(*khz));
    let mut points: Vec<Point> = pairs
        .filter(|pair| sound(&pair[0]))
        .map(|pair| Point {
            khz: pair[0],
            mv: Some(pair[1] / 1000).filter(|mv| (1..=10_000).contains(mv)),
            ..Point::default()
        })
        .collect();
    points.sort_by_key(|point| point.khz);
    points.dedup_by_key(|point| point.khz);
    points
}

/// The kernel's formula (drivers/opp/of.c `dev_pm_opp_calc_power`): mV and MHz without fractions.
/// False where a point has no voltage, or a power would be none.
fn with_coefficient(points: &mut [Point], coefficient: u64) -> bool {
    let power = |point: &Point| {
        let (mv, mhz) = (u128::from(point.mv?), u128::from(point.khz / 1000));
        let uw = u128::from(coefficient) * mv * mv * mhz / 1_000_000;
        (1..=u128::from(MAX_POWER_UW))
            .contains(&uw)
            .then_some(uw as u64)
    };
    let powers: Option<Vec<u64>> = points.iter().map(power).collect();
    let Some(powers) = powers.filter(|powers| !powers.is_empty()) else {
        return false;
    };
    for (point, power) in points.iter_mut().zip(powers) {
        point.power = Some(power);
    }
    true
}

/// The longest that a change takes by the table, ns.
fn latency_ns(table: &Node) -> Option<u32> {
    let of = table
        .children
        .iter()
        .filter_map(|node| node.u32("clock-latency-ns"));
    of.max()
}

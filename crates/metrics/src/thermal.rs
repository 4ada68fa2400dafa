//! How warm clusters got, and how long one of them was capped for it (docs/guide/model.md, "Heat").
//!
//! Made by `collector.rs` for each run. What warms a cluster is `model.thermal`'s
//! (docs/guide/model.md, "Heat"); samples are counted here, nothing more. Temperatures are
//! thousandths of a degree Celsius, times ns.
//!
//! What must stay: names of metrics. Time counts once, however many clusters are capped in it. A
//! run without samples has neither metric. Free: what leaves every figure as it is
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `the_warmest_and_the_time_capped`
//! (`sample`, `pass`, `finish`, `report`).
//!
//! Tests: below

use crate::metric::Values;

/// Watches the zones of heat; of a run without them it reports nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thermal {
    max_millic: Option<i32>,
    /// Steps now, by cluster.
    steps: Vec<u32>,
    since_ns: u64,
    capped_ns: u64,
}

impl Thermal {
    /// A cluster has this temperature and so many steps of its clock are taken away, from now on.
    pub(crate) fn sample(&mut self, time_ns: u64, cluster: u32, millic: i32, steps: u32) {
        self.pass(time_ns);
        let at = cluster as usize;
        if self.steps.len() <= at {
            self.steps.resize(at + 1, 0);
        }
        self.steps[at] = steps;
        self.max_millic = Some(self.max_millic.map_or(millic, |most| most.max(millic)));
    }

    /// Time since the last sample counts if some cluster was capped in it.
    fn pass(&mut self, time_ns: u64) {
        if self.steps.iter().any(|steps| *steps > 0) {
            self.capped_ns += time_ns - self.since_ns;
        }
        self.since_ns = time_ns;
    }

    /// The run is over: time up to now counts.
    pub(crate) fn finish(&mut self, time_ns: u64) {
        self.pass(time_ns);
    }

    /// Enters the metrics; nothing if no cluster was ever sampled.
    pub(crate) fn report(&self, values: &mut Values) {
        if let Some(most) = self.max_millic {
            values.set("temperature_c_max", f64::from(most) / 1e3);
            values.set("throttled_s", self.capped_ns as f64 / 1e9);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Thermal;
    use crate::metric::Values;

    /// Capped from 2 s to 5 s by one cluster, to 6 s by the other, of 9 s.
    #[test]
    fn the_warmest_and_the_time_capped() {
        const S: u64 = 1_000_000_000;
        let mut watch = Thermal::default();
        for (second, cluster, millic, steps) in [
            (1, 0, 30_000, 0),
            (1, 1, 74_000, 0),
            (2, 1, 76_500, 1),
            (4, 0, 75_100, 1),
            (5, 1, 73_000, 0),
            (6, 0, 70_000, 0),
        ] {
            watch.sample(second * S, cluster, millic, steps);
        }
        watch.finish(9 * S);
        let mut values = Values::default();
        watch.report(&mut values);
        assert_eq!(values.get("temperature_c_max"), Some(76.5));
        assert_eq!(values.get("throttled_s"), Some(4.0));
        let mut nothing = Values::default();
        Thermal::default().report(&mut nothing);
        assert_eq!(nothing.iter().count(), 0);
    }
}

//! Energy as whoever measures it says it (docs/guide/traces.md).
//!
//! What must stay: listening changes no run; times are ns, energies in the meter's unit from the
//! start, powers since the reading before; the first reading has no power. Free: what leaves the
//! bytes of files as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `power_is_that_since_the_reading_before` (`read`), the same also `new`; `happened` and `unit`
//! below are the test's own.
//!
//! Tests: below

use super::sink::Counter;
use wakeplace_engine::Observer;

const NS_PER_SECOND: f64 = 1e9;

/// Who measures energy. A trace shows what it says.
pub trait EnergySource: Observer + Send {
    /// Energy of each cluster and its CPUs from the start up to now.
    fn read(&mut self, time_ns: u64, by_cluster: &mut [f64]);
    /// Its unit, as `J`.
    fn unit(&self) -> &'static str;
}

/// What is known of energy.
pub(super) struct Energy {
    pub(super) meter: Box<dyn EnergySource>,
    /// When it was read last, ns.
    read_ns: u64,
    /// What it said then, and the time before.
    by_cluster: Vec<f64>,
    before: Vec<f64>,
}

impl Energy {
    /// Nothing was read yet: the first mean power is that since the start.
    pub(super) fn new(meter: Box<dyn EnergySource>, nr_clusters: usize) -> Self {
        Self {
            meter,
            read_ns: 0,
            by_cluster: vec![0.0; nr_clusters],
            before: vec![0.0; nr_clusters],
        }
    }

    /// Energy of each cluster since the start as the meter has it, and its mean power since the
    /// reading before.
    pub(super) fn read(&mut self, time_ns: u64) -> impl Iterator<Item = (Counter, f64)> {
        let elapsed_s = (time_ns - self.read_ns) as f64 / NS_PER_SECOND;
        self.read_ns = time_ns;
        self.before.copy_from_slice(&self.by_cluster);
        self.meter.read(time_ns, &mut self.by_cluster);
        let readings = (0..).zip(self.by_cluster.iter().zip(&self.before));
        readings.flat_map(move |(cluster, (now, before))| {
            let power = || (Counter::Power(cluster), (now - before) / elapsed_s);
            let energy = (Counter::Energy(cluster), *now);
            [Some(energy), (elapsed_s > 0.0).then(power)]
                .into_iter()
                .flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Counter, Energy, EnergySource};
    use wakeplace_engine::{Happening, Observer};

    /// A cluster that has had 2 J after each second, and one that draws nothing.
    struct TwoWatts;

    impl Observer for TwoWatts {
        fn happened(&mut self, _: u64, _: &Happening) {}
    }

    impl EnergySource for TwoWatts {
        fn read(&mut self, time_ns: u64, by_cluster: &mut [f64]) {
            by_cluster.copy_from_slice(&[2.0 * time_ns as f64 / 1e9, 0.0]);
        }

        fn unit(&self) -> &'static str {
            "J"
        }
    }

    /// Goal: a reading has the energy from the start, and the mean power since the one before; at
    /// the start there is no power yet.
    #[test]
    fn power_is_that_since_the_reading_before() {
        let mut energy = Energy::new(Box::new(TwoWatts), 2);
        let read = |energy: &mut Energy, time_ns| energy.read(time_ns).collect::<Vec<_>>();
        let start = [(Counter::Energy(0), 0.0), (Counter::Energy(1), 0.0)];
        assert_eq!(read(&mut energy, 0), start);
        read(&mut energy, 500_000_000);
        let expected = [
            (Counter::Energy(0), 3.0),
            (Counter::Power(0), 2.0),
            (Counter::Energy(1), 0.0),
            (Counter::Power(1), 0.0),
        ];
        assert_eq!(read(&mut energy, 1_500_000_000), expected);
    }
}

//! How fast each CPU is said to be: its capacity and its frequency, from sysfs (docs/guide/lab.md).
//!
//! Under emulation every CPU does as much per second as every other, at every frequency. A load
//! that is to be small on a big CPU must therefore make its progress at the rate the kernel
//! believes in, or at the speed that a job says it really has: CPU time x speed / 1024 x current
//! frequency / top frequency.
//!
//! What must stay: 2^-20 ns are the unit of progress; rounding never gives more than was worked.
//! Free: how the files are read.
//!
//! Tests by part: `progress_is_capacity_times_frequency` (`read`, `rate`, `numbers`, `khz`,
//! `number_in`), `without_the_files_the_factors_are_1` (`at`, `big_and_little`, `facts`),
//! `scaled_time_and_cpu_time_are_inverse` (`new`, `scaled`, `cpu_ns`).
//!
//! Callers: load/meter.rs (`rate`), load/mod.rs (`read`, `facts`), until_placed.rs
//! (`big_and_little`), hotplug_storm.rs (`numbers`).
//!
//! Tests: below

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::GuestError;

/// Where the kernel describes its CPUs.
pub(crate) const SYSFS_CPUS: &str = "/sys/devices/system/cpu";
/// Capacity of the biggest CPU, and of each where the kernel names none.
const CAPACITY_MAX: u32 = 1024;

/// Progress per ns of CPU time, in units of 2^-20: exact for a capacity at the top frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(u64);

/// Bits behind the point of a [`Rate`] and of scaled time.
pub(crate) const RATE_BITS: u32 = 20;

impl Rate {
    /// The biggest CPU at its top frequency.
    pub(crate) const ONE: Self = Self(1 << RATE_BITS);

    /// A CPU of this speed at this fraction of its top frequency.
    pub(crate) fn new(speed: u32, khz: u64, khz_max: u64) -> Self {
        let full = (u64::from(speed) << RATE_BITS) / u64::from(CAPACITY_MAX);
        Self((full * khz / khz_max).max(1))
    }

    /// What this much CPU time amounts to, 2^-20 ns.
    pub(crate) fn scaled(self, cpu_ns: u64) -> u128 {
        u128::from(cpu_ns) * u128::from(self.0)
    }

    /// CPU time that this much scaled time takes, rounded up, ns.
    pub(crate) fn cpu_ns(self, scaled: u128) -> u64 {
        u64::try_from(scaled.div_ceil(self.0.into())).unwrap_or(u64::MAX)
    }
}

/// One CPU, as it is reported.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct CpuFacts {
    /// Its number.
    pub cpu: u32,
    /// `cpu_capacity`; 1024 where the kernel has none.
    pub capacity: u32,
    /// `cpuinfo_max_freq`, kHz; null without frequency scaling.
    pub khz_max: Option<u64>,
    /// `scaling_cur_freq` as the window began, kHz.
    pub khz_at_window_begin: Option<u64>,
}

/// What there is to know of one CPU.
#[derive(Debug)]
struct Cpu {
    number: u32,
    capacity: u32,
    /// What it gets done at its top frequency, of 1024.
    speed: u32,
    /// Top frequency, kHz, and the file with the current one.
    frequency: Option<(u64, File)>,
}

/// All CPUs, ascending.
#[derive(Debug)]
pub(crate) struct Cpus {
    cpus: Vec<Cpu>,
    frequency_invariant: bool,
}

impl Cpus {
    /// Reads `/sys/devices/system/cpu` or a folder like it.
    pub(crate) fn read(folder: &Path, frequency_invariant: bool) -> Result<Self, GuestError> {
        let fail = |error| GuestError::environment(folder.display(), &error);
        let mut cpus = Vec::new();
        for entry in fs::read_dir(folder).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("cpu"));
            if let Some(number) = number.and_then(|digits| digits.parse().ok()) {
                cpus.push(Cpu::read(number, &folder.join(&name)));
            }
        }
        if cpus.is_empty() {
            return Err(GuestError::Environment(format!(
                "{}: no folder `cpu0`, `cpu1`, …",
                folder.display()
            )));
        }
        cpus.sort_by_key(|cpu| cpu.number);
        Ok(Self {
            cpus,
            frequency_invariant,
        })
    }

    /// Gives the same CPUs with these speeds, by their numbers; one without goes on by its
    /// capacity.
    pub(crate) fn at(mut self, speeds: &[u32]) -> Self {
        for cpu in &mut self.cpus {
            cpu.speed = speeds
                .get(cpu.number as usize)
                .copied()
                .unwrap_or(cpu.speed);
        }
        self
    }

    /// Their numbers, ascending.
    pub(crate) fn numbers(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.number).collect()
    }

    /// The numbers of those with the highest capacity, and of those with the lowest.
    pub(crate) fn big_and_little(&self) -> (Vec<u32>, Vec<u32>) {
        let of = |capacity| {
            let same = self
                .cpus
                .iter()
                .filter(|cpu| Some(cpu.capacity) == capacity);
            same.map(|cpu| cpu.number).collect()
        };
        let capacities = || self.cpus.iter().map(|cpu| cpu.capacity);
        (of(capacities().max()), of(capacities().min()))
    }

    /// Progress on a CPU now. One that vanished or will not say its frequency is at its top one.
    pub(crate) fn rate(&self, number: u32) -> Rate {
        let Ok(index) = self.cpus.binary_search_by_key(&number, |cpu| cpu.number) else {
            return Rate::ONE;
        };
        let cpu = &self.cpus[index];
        match (&cpu.frequency, cpu.khz()) {
            (Some((khz_max, _)), Some(khz)) if self.frequency_invariant => {
                Rate::new(cpu.speed, khz, *khz_max)
            }
            _ => Rate::new(cpu.speed, 1, 1),
        }
    }

    /// What a result says of them, with their frequencies now.
    pub(crate) fn facts(&self) -> Vec<CpuFacts> {
        let fact = |cpu: &Cpu| CpuFacts {
            cpu: cpu.number,
            capacity: cpu.capacity,
            khz_max: cpu.frequency.as_ref().map(|(khz_max, _)| *khz_max),
            khz_at_window_begin: cpu.khz(),
        };
        self.cpus.iter().map(fact).collect()
    }
}

impl Cpu {
    /// What a CPU does not say counts as the most: full capacity, no frequency.
    fn read(number: u32, folder: &Path) -> Self {
        let capacity = number_in(&folder.join("cpu_capacity")).and_then(|n| u32::try_from(n).ok());
        let khz_max = number_in(&folder.join("cpufreq/cpuinfo_max_freq"));
        let current = File::open(folder.join("cpufreq/scaling_cur_freq"));
        let capacity = capacity.unwrap_or(CAPACITY_MAX);
        Self {
            number,
            capacity,
            speed: capacity,
            frequency: khz_max.zip(current.ok()),
        }
    }

    /// Frequency now, kHz. None: it cannot be read.
    fn khz(&self) -> Option<u64> {
        let (_, current) = self.frequency.as_ref()?;
        let mut text = [0; 24];
        let length = current.read_at(&mut text, 0).ok()?;
        let digits = std::str::from_utf8(&text[..length]).ok()?.trim();
        digits.parse().ok().filter(|&khz| khz > 0)
    }
}

/// A file with one positive number. None: there is none.
fn number_in(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.trim().parse().ok().filter(|&number| number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn machine() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (cpu, capacity, khz) in [(0, "462\n", "533000\n"), (4, "1024\n", "2362000\n")] {
            write(folder.path(), &format!("cpu{cpu}/cpu_capacity"), capacity);
            let max = if cpu == 0 { "1844000\n" } else { "2362000\n" };
            write(
                folder.path(),
                &format!("cpu{cpu}/cpufreq/cpuinfo_max_freq"),
                max,
            );
            write(
                folder.path(),
                &format!("cpu{cpu}/cpufreq/scaling_cur_freq"),
                khz,
            );
        }
        write(folder.path(), "cpu10/online", "1\n");
        write(folder.path(), "cpufreq/boost", "1\n");
        folder
    }

    #[test]
    fn progress_is_capacity_times_frequency() {
        let folder = machine();
        let cpus = Cpus::read(folder.path(), true).expect("CPUs");
        assert_eq!(cpus.numbers(), [0, 4, 10]);
        // 462/1024 is 473088 of 2^20; of that 533/1844.
        assert_eq!(cpus.rate(0), Rate(473_088 * 533 / 1844));
        assert_eq!(cpus.rate(4), Rate::ONE);
        write(folder.path(), "cpu0/cpufreq/scaling_cur_freq", "1844000\n");
        assert_eq!(cpus.rate(0), Rate(473_088), "the file is read anew");
    }

    #[test]
    fn without_the_files_the_factors_are_1() {
        let folder = machine();
        let fixed = Cpus::read(folder.path(), false).expect("CPUs");
        assert_eq!(fixed.rate(0), Rate(473_088), "capacity alone");
        assert_eq!(fixed.rate(10), Rate::ONE, "neither capacity nor frequency");
        assert_eq!(fixed.rate(11), Rate::ONE, "no such CPU");
        let slow = Cpus::read(folder.path(), false).expect("CPUs").at(&[600]);
        assert_eq!(slow.rate(0), Rate((600 << RATE_BITS) / 1024), "its own");
        assert_eq!(slow.rate(4), Rate::ONE, "none is said: its capacity");
        assert_eq!(fixed.big_and_little(), (vec![4, 10], vec![0]));
        assert_eq!(fixed.facts()[1].khz_at_window_begin, Some(2_362_000));
        assert_eq!(fixed.facts()[2].khz_max, None);
    }

    #[test]
    fn scaled_time_and_cpu_time_are_inverse() {
        let half = Rate::new(512, 1, 1);
        assert_eq!(half.scaled(1000), 500 << RATE_BITS);
        assert_eq!(half.cpu_ns(500 << RATE_BITS), 1000);
        assert_eq!(half.cpu_ns((500 << RATE_BITS) + 1), 1001, "rounded up");
    }
}

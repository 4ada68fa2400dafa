//! `hotplug-storm`: CPUs go offline and come back while threads run (docs/guide/live.md,
//! scripts/live/guest.sh).
//!
//! What must stay: every CPU that was online is so at the end. Free: how long a CPU stays offline.
//!
//! Tests by part: `cpu_0_and_those_without_a_switch_stay` (`removable`), `a_switch_is_counted`
//! (`switch`, `reads_1`). `run` needs CPUs that can be taken offline: guest.sh hotplug-storm runs
//! it.
//!
//! Callers: lib.rs (`run`).
//!
//! Tests: below

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::args::{Flag, flag, parse};
use crate::cpus::{Cpus, SYSFS_CPUS};
use crate::error::GuestError;
use crate::report::Report;
use crate::rng::Rng;
use crate::sys;
use crate::workers::Workers;

const FLAGS: [Flag; 2] = [
    flag("--seconds", 5, 1, 86_400),
    flag("--seed", 1, 0, u64::MAX),
];
/// Longest pause between two changes, ns.
const PAUSE_NS_MAX: usize = 20_000_000;
/// Threads for each CPU: so many that every CPU has work when it goes.
const THREADS_PER_CPU: usize = 2;
/// EBUSY: something keeps the CPU for the moment.
const BUSY: Option<i32> = Some(libc::EBUSY);

/// Counts.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct HotplugStormResult {
    /// CPUs that went and came.
    pub cpus: Vec<u32>,
    /// Threads that ran meanwhile.
    pub tasks: u64,
    /// Times that a CPU was taken offline.
    pub offline: u64,
    /// Times that one came back.
    pub online: u64,
    /// Times that the kernel said it was busy.
    pub busy: u64,
    /// Longest time that one change took, ns.
    pub change_ns_max: u64,
    /// Rounds of work that the threads did.
    pub rounds_total: u64,
}

/// Runs it.
///
/// # Errors
/// Wrong arguments; no CPU that can be taken offline, or no right to.
pub fn run(args: &[String]) -> Result<Report<HotplugStormResult>, GuestError> {
    let [seconds, seed] = parse(args, &FLAGS)?;
    let all = Cpus::read(Path::new(SYSFS_CPUS), false)?.numbers();
    let removable = removable(Path::new(SYSFS_CPUS), &all)?;
    let workers = Workers::start(all.len() * THREADS_PER_CPU)?;
    // As in affinity-storm: the storm must not wait for its victims.
    let _ = sys::set_nice(0, -20);
    let mut storm = Storm::default();
    let mut rng = Rng::new(seed);
    let mut is_online = vec![true; removable.len()];
    let end_ns = sys::now_ns() + seconds * 1_000_000_000;
    while storm.failures.is_empty() && sys::now_ns() < end_ns {
        let index = rng.below(removable.len());
        if storm.switch(&removable[index].1, !is_online[index]) {
            is_online[index] = !is_online[index];
        }
        sys::sleep_ns(rng.below(PAUSE_NS_MAX) as u64);
    }
    for (index, (cpu, file)) in removable.iter().enumerate() {
        if !is_online[index] {
            storm.switch(file, true);
        }
        if !reads_1(file) {
            storm
                .failures
                .push(format!("CPU {cpu} is not online at the end"));
        }
    }
    let rounds_total = workers.rounds().iter().sum();
    let tasks = workers.threads.len() as u64;
    let mut failures = workers.finish();
    failures.append(&mut storm.failures);
    let result = HotplugStormResult {
        cpus: removable.iter().map(|(cpu, _)| *cpu).collect(),
        tasks,
        offline: storm.offline,
        online: storm.online,
        busy: storm.busy,
        change_ns_max: storm.change_ns_max,
        rounds_total,
    };
    Ok(Report::new("hotplug-storm", failures, result))
}

/// Online CPUs with a switch, each with its file. CPU 0 stays: this program must run somewhere.
fn removable(folder: &Path, cpus: &[u32]) -> Result<Vec<(u32, PathBuf)>, GuestError> {
    let file = |cpu: u32| folder.join(format!("cpu{cpu}/online"));
    let with_switch: Vec<_> = cpus
        .iter()
        .filter(|&&cpu| cpu != 0 && reads_1(&file(cpu)))
        .map(|&cpu| (cpu, file(cpu)))
        .collect();
    let Some((_, first)) = with_switch.first() else {
        return Err(GuestError::Environment(format!(
            "{}: no CPU but CPU 0 has a file `online` that reads 1",
            folder.display()
        )));
    };
    // Writing what it reads changes nothing and shows whether one may.
    fs::write(first, "1").map_err(|error| GuestError::environment(first.display(), &error))?;
    Ok(with_switch)
}

/// Is this CPU online, by its switch?
fn reads_1(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.trim() == "1")
}

#[derive(Default)]
struct Storm {
    offline: u64,
    online: u64,
    busy: u64,
    change_ns_max: u64,
    failures: Vec<String>,
}

impl Storm {
    /// Takes a CPU offline or online, and says whether it went there.
    fn switch(&mut self, file: &Path, online: bool) -> bool {
        let begin_ns = sys::now_ns();
        let written = fs::write(file, if online { "1" } else { "0" });
        self.change_ns_max = self.change_ns_max.max(sys::now_ns() - begin_ns);
        match written {
            Ok(()) if online => self.online += 1,
            Ok(()) => self.offline += 1,
            Err(error) if error.raw_os_error() == BUSY => {
                self.busy += 1;
                return false;
            }
            Err(error) => {
                self.failures.push(format!("{}: {error}", file.display()));
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_0_and_those_without_a_switch_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        for (cpu, online) in [(0, "1\n"), (1, "1\n"), (2, "0\n")] {
            let cpu = folder.path().join(format!("cpu{cpu}"));
            fs::create_dir(&cpu).expect("a folder");
            fs::write(cpu.join("online"), online).expect("a file");
        }
        let found = removable(folder.path(), &[0, 1, 2, 3]).expect("CPU 1");
        assert_eq!(found, [(1, folder.path().join("cpu1/online"))]);
        let none = removable(folder.path(), &[0, 2, 3]).expect_err("none");
        assert_eq!(none.exit_code(), 3);
    }

    #[test]
    fn a_switch_is_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("online");
        let mut storm = Storm::default();
        assert!(storm.switch(&file, false) && storm.switch(&file, true) && reads_1(&file));
        assert!(!storm.switch(&folder.path().join("none/online"), true));
        assert_eq!(
            (storm.offline, storm.online, storm.failures.len()),
            (1, 1, 1)
        );
    }
}

//! What a guest's kernel runs beside the tasks, measured in a guest at rest
//! (docs/results/fidelity.md).
//!
//! What must stay: figures were measured in guests at rest; they replace the platform's threads
//! there alone. Free: what leaves the tables of pages as they are. Tests by part:
//! `a_guest_has_the_measured_threads_on_its_cpus` (`read`, `guest`).
//!
//! Tests: below

use crate::Error;
use serde::Deserialize;
use wakeplace_platform::{CpuId, Housekeeping, HousekeepingThread, Platform, Source, Standing};

/// The file within the repository, and its text.
const FILE: (&str, &str) = (
    "crates/fidelity/data/guest_at_rest.toml",
    include_str!("../../data/guest_at_rest.toml"),
);

/// A guest at rest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rest {
    source: String,
    standing: String,
    governor_ns: u64,
    /// A thread's creation, ns.
    pub(crate) fork_ns: u64,
    #[serde(rename = "thread")]
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thread {
    name: String,
    per: Per,
    period_us: u64,
    run_us: u64,
}

/// How many of a thread there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Per {
    Cpu,
    Machine,
}

impl Rest {
    /// Reads the file.
    pub(crate) fn read() -> Result<Self, Error> {
        let (name, text) = FILE;
        toml::from_str(text).map_err(|error| Error::Input(format!("{name}: {error}")))
    }

    /// The platform as a guest: these kernel threads instead of its own, as wall time, since all
    /// CPUs of a guest are equally fast.
    pub(crate) fn guest(&self, platform: &Platform) -> Platform {
        let thread = |of: &Thread, name: String, cpus| HousekeepingThread {
            name,
            cpus,
            period_ns: of.period_us * 1000,
            run_ns: of.run_us * 1000,
        };
        let cpus = 0..u32::try_from(platform.cpus.len()).unwrap_or(u32::MAX);
        let mut threads = Vec::new();
        for of in &self.threads {
            match of.per {
                Per::Machine => threads.push(thread(of, of.name.clone(), None)),
                Per::Cpu => threads.extend(cpus.clone().map(|cpu| {
                    let name = format!("{}/{cpu}", of.name);
                    thread(of, name, Some(vec![CpuId(cpu)]))
                })),
            }
        }
        let standing = match self.standing.as_str() {
            "derived" => Standing::Derived,
            _ => Standing::Assumed,
        };
        let source = Source {
            text: self.source.clone(),
            standing,
        };
        Platform {
            housekeeping: Some(Housekeeping {
                governor_ns: Some(self.governor_ns),
                threads,
                wall: true,
                source,
            }),
            ..platform.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_has_the_measured_threads_on_its_cpus() {
        let rest = Rest::read().expect("valid");
        let juno = rest.guest(&Platform::load("juno-r0").expect("built in"));
        let stated = juno.housekeeping.expect("a guest has some");
        assert!(stated.wall && stated.governor_ns.is_some());
        let own = stated.threads.iter().filter(|thread| thread.cpus.is_some());
        assert_eq!(own.count() % juno.cpus.len(), 0);
        assert!(stated.threads.iter().any(|thread| thread.cpus.is_none()));
    }
}

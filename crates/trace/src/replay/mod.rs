//! A recording as a workload: who ran how long, slept how long, woke whom
//! (docs/guide/traces-in.md).
//!
//! What must stay: same bytes and platform, same scripts: nothing is drawn; the language
//! `trace:FILE[,platform=NAME]`; a file is one that can be read twice. Command line, studies and
//! Python call it. Free: what leaves the scripts of recordings as they are (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `periodic_tasks_come_back` (`load`),
//! `work_is_scaled_by_capacity_and_frequency` (`recorded`), `what_is_no_recording_has_one_message`
//! (`parse`, errors), replay/forms.rs::`pages_and_json_with_the_text_in_them` (`load_bytes`),
//! `a_recording_of_another_machine_is_scaled_aloud` (`other_platform`),
//! cli/tests/all/recordings.rs::`what_is_wrong_with_a_recording_is_said_everywhere` (too few CPUs).
//! `scaled` and pipes (`opened`) have no test of their own. `facts` and its sink (`event`, `lost`,
//! `cpus`, `cpu_info`, `cut`, `count`), `machine`, `may_be_of` and `file_name` by the first three.
//!
//! Callers: crates/study/src/request.rs (`load_bytes`).
//!
//! Tests: crates/trace/tests/all/replay/mod.rs::periodic_tasks_come_back,
//! crates/trace/tests/all/replay/mod.rs::work_is_scaled_by_capacity_and_frequency,
//! crates/trace/tests/all/replay/mod.rs::what_is_no_recording_has_one_message,
//! crates/cli/tests/all/compared.rs::a_recording_of_another_machine_is_scaled_aloud

mod deadlines;
mod machine;
mod script;
mod tracker;

use crate::read::{self, Order, ReadError};
use machine::Machine;
use std::fs::File;
use std::io::{self, BufReader, Read};
use tracker::Tracker;
use wakeplace_platform::{Platform, PlatformError};
use wakeplace_text::{did_you_mean, nearest, shorten};
use wakeplace_workload::{Spec, Workload};

/// What begins the name of a workload that is a recording.
pub const PREFIX: &str = "trace:";

/// Why a recording is no workload.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The argument itself.
    #[error("workload `{}`: {problem}; expected {expected}", shorten(.argument))]
    Argument {
        /// As typed.
        argument: String,
        /// What is wrong.
        problem: String,
        /// What was expected.
        expected: String,
    },
    /// The platform it was recorded on.
    #[error("{0}")]
    Platform(#[from] PlatformError),
    /// The file.
    #[error("{file}: {source}")]
    Read {
        /// As typed.
        file: String,
        /// Why.
        source: ReadError,
    },
    /// A recording that makes no workload.
    #[error("{file}: {problem}; expected {expected}")]
    NoWorkload {
        /// As typed.
        file: String,
        /// Why.
        problem: String,
        /// What was expected.
        expected: String,
    },
}

/// `FILE[,platform=NAME]`
struct Argument<'a> {
    file: &'a str,
    platform: Option<&'a str>,
}

impl<'a> Argument<'a> {
    /// The argument `trace:FILE[,platform=NAME]`.
    fn parse(argument: &'a str) -> Result<Self, TraceError> {
        let wrong = |problem: String, expected: &str| TraceError::Argument {
            argument: argument.to_owned(),
            problem,
            expected: expected.to_owned(),
        };
        const FORM: &str = "trace:FILE or trace:FILE,platform=NAME";
        let mut parts = argument.strip_prefix(PREFIX).unwrap_or(argument).split(',');
        let file = parts.next().unwrap_or_default();
        if file.is_empty() {
            return Err(wrong("no file is named".to_owned(), FORM));
        }
        let mut platform = None;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if key.trim() != "platform" {
                let hint = did_you_mean(nearest(key.trim(), ["platform"]));
                let problem = format!("`{}` is no key of a recording", shorten(key));
                return Err(wrong(problem, &format!("{FORM}{hint}")));
            }
            if value.trim().is_empty() || platform.replace(value.trim()).is_some() {
                return Err(wrong("`platform` needs one name".to_owned(), FORM));
            }
        }
        Ok(Self { file, platform })
    }
}

/// Reads `trace:FILE[,platform=NAME]`. `own` is the platform of the run: work is scaled by it where
/// the recording was made on as many CPUs and nothing says more.
///
/// # Errors
/// The argument is wrong, the platform unknown, the file unreadable, or no workload in it.
pub fn load(argument: &str, own: Option<&Platform>) -> Result<Spec, TraceError> {
    recorded(argument, own, opened)
}

/// A file that can be read more than once: of a pipe nobody would know that it is waited for.
fn opened(file: &str) -> io::Result<File> {
    let meta = std::fs::metadata(file)?;
    if !meta.is_file() && !meta.is_dir() {
        return Err(io::Error::other(
            "it is no regular file, and a recording is read more than once; write it to a file",
        ));
    }
    File::open(file)
}

/// What [`load`] makes of a file that holds these bytes.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(
    argument: &str,
    bytes: &[u8],
    own: Option<&Platform>,
) -> Result<Spec, TraceError> {
    recorded(argument, own, |_| Ok(bytes))
}

/// The file that `argument` names.
///
/// # Errors
/// As [`load`].
pub fn file_name(argument: &str) -> Result<&str, TraceError> {
    Argument::parse(argument).map(|parsed| parsed.file)
}

/// The file is read twice: for what it says of its machine, and whole.
fn recorded<R: Read>(
    argument: &str,
    own: Option<&Platform>,
    open: impl Fn(&str) -> io::Result<R>,
) -> Result<Spec, TraceError> {
    let parsed = Argument::parse(argument)?;
    let named = parsed.platform.map(Platform::load).transpose()?;
    let failed = |source: ReadError| TraceError::Read {
        file: parsed.file.to_owned(),
        source,
    };
    let again = || open(parsed.file).map_err(|error| failed(ReadError::Io(error)));
    let opened = again()?;
    let (machine, scaled) = match &named {
        Some(platform) => (Some(Machine::of(platform)), other_platform(platform, own)),
        None => {
            let stated = facts(again()?).map_err(failed)?;
            (stated.machine(own), stated.scaled(own))
        }
    };
    let assumed = machine.is_none();
    let mut tracker = Tracker::new(machine);
    let mut order = Order::new(&mut tracker);
    let read = read::read(BufReader::with_capacity(1 << 20, opened), &mut order).map_err(failed);
    let wrong = |problem: String, expected: &str| TraceError::NoWorkload {
        file: parsed.file.to_owned(),
        problem,
        expected: expected.to_owned(),
    };
    // A recording of more CPUs than the platform has can be refused at any of them.
    let too_few = |cpus: u32| {
        let (name, own) = named.as_ref().map(|p| (&p.name, p.cpus.len()))?;
        let problem = format!("the recording has {cpus} CPUs, and {name} has {own}");
        let expected = format!("a platform with at least {cpus} CPUs");
        (cpus as usize > own).then(|| wrong(problem, &expected))
    };
    let seen = || Some(facts(again().ok()?).ok()?.count());
    let in_order = "a recording in order, on CPUs that the machine has";
    let found = read
        .and_then(|()| order.finish().map_err(|problem| wrong(problem, in_order)))
        .map_err(|error| seen().and_then(too_few).unwrap_or(error))?;
    let mut recorded = tracker.finish();
    if let Some(error) = too_few(recorded.cpus) {
        return Err(error);
    }
    let of_this_machine = !assumed && scaled.is_none();
    let mut warnings = recorded.warnings(&found, assumed);
    warnings.extend(scaled);
    let deadlines = recorded.deadlines(&found);
    warnings.extend(deadlines.warnings.iter().cloned());
    match recorded.workload(argument, &deadlines) {
        Some(workload) => {
            let recorded_run_ns = workload.recorded_run_ns.filter(|_| of_this_machine);
            let workload = Workload {
                recorded_run_ns,
                ..workload
            };
            Ok(Spec::recorded(workload, warnings))
        }
        None => Err(wrong(
            "no task runs or wakes in it".to_owned(),
            "a recording of sched_switch and sched_waking",
        )),
    }
}

/// What is said where a recording was made on another platform than it is run on.
fn other_platform(recorded: &Platform, own: Option<&Platform>) -> Option<String> {
    let own = own.filter(|own| own.name != recorded.name)?;
    Some(format!(
        "recorded on {} and run on {}: its work is scaled by capacity and frequency",
        recorded.name, own.name
    ))
}

/// What a recording says of its machine, from its beginning.
#[derive(Default)]
struct Facts {
    cpus: Option<u32>,
    highest_cpu: u32,
    info: std::collections::BTreeMap<u32, (Option<u32>, Option<u32>)>,
}

/// Events that are looked at for it: by then every CPU has done something.
const LOOKED_AT: u64 = 200_000;

/// What the file says of its machine, from its beginning.
fn facts(file: impl Read) -> Result<Facts, ReadError> {
    let mut look = Look::default();
    let opened = BufReader::with_capacity(1 << 20, file);
    match read::read(opened, &mut look) {
        Err(ReadError::Wrong { problem, .. }) if problem == ENOUGH => Ok(look.facts),
        Err(error) => Err(error),
        Ok(()) => Ok(look.facts),
    }
}

/// Ends the look.
const ENOUGH: &str = "enough was seen";

#[derive(Default)]
struct Look {
    facts: Facts,
    events: u64,
}

impl read::Sink for Look {
    /// Counts events and CPUs until enough is known.
    fn event(&mut self, event: &crate::event::Event<'_>) -> Result<(), String> {
        self.facts.highest_cpu = self.facts.highest_cpu.max(event.context.cpu);
        self.events += 1;
        match self.events {
            LOOKED_AT.. => Err(ENOUGH.to_owned()),
            _ => Ok(()),
        }
    }

    /// Nothing of the machine is in it.
    fn lost(&mut self, _: Option<u32>) {}

    /// The recording says how many CPUs there are.
    fn cpus(&mut self, count: u32) {
        self.facts.cpus = Some(count);
    }

    /// Capacity and highest clock (kHz) of a CPU, where they are stated.
    fn cpu_info(&mut self, cpu: u32, capacity: Option<u32>, khz: Option<u32>) {
        self.facts.info.insert(cpu, (capacity, khz));
    }

    /// Nothing of the machine is in it.
    fn cut(&mut self) {}
}

impl Facts {
    /// CPUs: as stated, or up to the highest that was seen.
    fn count(&self) -> u32 {
        self.cpus.unwrap_or(0).max(self.highest_cpu + 1)
    }

    /// As many CPUs, and of no other capacity than the recording states.
    fn may_be_of(&self, platform: &Platform) -> bool {
        let same = |(cpu, (capacity, _)): (&u32, &(Option<u32>, Option<u32>))| {
            let own = platform.cpus.get(*cpu as usize).map(|cpu| cpu.capacity);
            capacity.is_none() || *capacity == own
        };
        platform.cpus.len() == self.count() as usize && self.info.iter().all(same)
    }

    /// What is said where the work of a recording is scaled to another machine's.
    fn scaled(&self, own: Option<&Platform>) -> Option<String> {
        let own = own.filter(|own| !self.may_be_of(own) && !self.info.is_empty())?;
        Some(format!(
            "the recording was made on another machine ({} CPUs by what it states) than {}: its \
             work is scaled by capacity and frequency",
            self.count(),
            own.name
        ))
    }

    /// The run's platform if it has as many CPUs; else what the recording itself states.
    fn machine(&self, own: Option<&Platform>) -> Option<Machine> {
        let count = self.count();
        if let Some(platform) = own.filter(|platform| self.may_be_of(platform)) {
            return Some(Machine::of(platform));
        }
        if self.info.is_empty() {
            return None;
        }
        let cpus = (0..count).map(|cpu| self.info.get(&cpu).copied().unwrap_or_default());
        Some(Machine::stated(cpus))
    }
}

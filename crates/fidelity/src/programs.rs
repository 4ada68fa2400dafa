//! Real programs in an emulated machine, and their models in the simulator; of which tasks they are
//! made, and who wakes whom how often (docs/guide/workloads.md, "How it is counted").
//!
//! What must stay: real programs and models are counted by one rule; nothing is fitted to the
//! counts. Free: what leaves the tables of pages as they are. Tests by part:
//! tests/all/programs.rs::`wrong_options_are_refused` (`plan`),
//! tests/all/programs.rs::`recorded_runs_have_the_structure_that_the_sources_give` (`recorded`,
//! `object`), tests/all/programs.rs::`models_have_the_programs_tasks_and_wakeups` (both `compare`),
//! tests/all/programs.rs::`the_page_says_what_the_program_says` (`markdown`, `has_all`),
//! tests/all/programs.rs::`a_right_request_gets_as_far_as_the_cache` (`record`, `measure`, `boot`,
//! up to the cache). `value` has no test of its own: `--record` writes it.
//!
//! Tests: crates/fidelity/tests/all/programs.rs

mod guest;
mod list;
mod model;
mod page;
mod recorded;
mod structure;

use crate::{Error, Watch, guest_text};
use list::Program;
use recorded::{RealProgram, Recorded};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use structure::Structure;
use wakeplace_lab::machine::Machine;
use wakeplace_lab::outcome::Scheduler;
use wakeplace_lab::run::{self, RunResult, Work};
use wakeplace_lab::{Arch, LabError};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;

/// The machine, in the emulator and in the simulator: the four little CPUs of this board, which are
/// equal and share their cache.
const MACHINE: (&str, u32) = ("hikey960", 4);
/// The simulator's policy: the kernel's.
const POLICY: &str = "linux-7.3";

/// Counts of one run of a program or a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    /// Messages, cycles and the like that it did.
    events: u64,
    structure: Structure,
}

/// A program beside its model.
struct Comparison {
    program: &'static Program,
    /// At least one.
    real: Vec<Run>,
    /// None: why there is none.
    model: Result<Run, String>,
}

/// How real programs are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Beginning of the kernel's release; none: the newest.
    pub kernel: Option<String>,
    /// Times that each program is run.
    pub repeats: u32,
    /// The guest is ended if it takes longer.
    pub timeout: Duration,
    /// Keep all that came back from the guest here.
    pub keep: Option<PathBuf>,
}

/// Programs on the machine that they run on.
pub struct Measurement {
    programs: Vec<&'static Program>,
    machine: Machine,
}

impl Measurement {
    /// Finds the programs of these names, all if there are none, and the machine.
    ///
    /// # Errors
    /// There is no program of a name, or no machine.
    pub fn plan(names: &[String]) -> Result<Self, Error> {
        let programs = list::chosen(names)?;
        let machine = Machine::load(MACHINE.0, Arch::Arm64, Some(MACHINE.1))?;
        Ok(Self { programs, machine })
    }

    /// Whether these are all programs that there are.
    #[must_use]
    pub fn has_all(&self) -> bool {
        self.programs.len() == list::PROGRAMS.len()
    }

    /// The counts of real runs that are kept with this program.
    ///
    /// # Errors
    /// Their file breaks a rule.
    pub fn recorded(&self) -> Result<Counts, Error> {
        recorded::recorded().map(Counts)
    }

    /// Runs the programs in a guest and counts.
    ///
    /// # Errors
    /// The guest cannot be booted, or a program did not do what it should.
    pub fn record(&self, request: &Request, watch: &dyn Watch) -> Result<Counts, Error> {
        measure(request, &self.machine, &self.programs, watch).map(Counts)
    }

    /// Simulates the models of the programs beside the counts.
    ///
    /// # Errors
    /// A program has no counts.
    pub fn compare(&self, counts: Counts, watch: &dyn Watch) -> Result<Compared, Error> {
        let platform = self.machine.platform.as_ref();
        let platform = platform.ok_or_else(|| Error::input("the machine is of no platform"))?;
        let programs = self.programs.iter();
        let compared = programs.map(|program| compare(&counts.0, platform, program, watch));
        Ok(Compared {
            programs: compared.collect::<Result<_, _>>()?,
            recorded: counts.0,
        })
    }
}

/// Counts of real runs.
pub struct Counts(Recorded);

impl Counts {
    /// As they are kept in a file.
    ///
    /// # Errors
    /// They are no JSON, which does not happen.
    pub fn value(&self) -> Result<Value, Error> {
        serde_json::to_value(&self.0).map_err(Error::input)
    }
}

/// Real programs beside their models.
pub struct Compared {
    recorded: Recorded,
    programs: Vec<Comparison>,
}

impl Compared {
    /// Tables in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        page::markdown(&self.recorded, &self.programs)
    }

    /// One object.
    #[must_use]
    pub fn object(&self) -> Value {
        page::object(&self.recorded, &self.programs)
    }
}

/// A program's recorded runs beside its model.
fn compare(
    recorded: &Recorded,
    platform: &Platform,
    program: &'static Program,
    watch: &dyn Watch,
) -> Result<Comparison, Error> {
    let real = recorded.runs(program)?.to_vec();
    let policy = Policy::parse(POLICY).map_err(Error::input)?;
    watch.detail(&format!("{}: its model in the simulator", program.key));
    // A program without a model is still worth its row; the page says what is missing.
    let model = model::run(platform, &policy, &program.model).map_err(|why| why.to_string());
    if let Err(why) = &model {
        watch.warn(&format!("{}: no model: {why}", program.key));
    }
    Ok(Comparison {
        program,
        real,
        model,
    })
}

/// Runs the programs in a guest.
fn measure(
    request: &Request,
    machine: &Machine,
    programs: &[&'static Program],
    watch: &dyn Watch,
) -> Result<Recorded, Error> {
    let result = boot(request, machine, programs, watch)?;
    let runs = guest::runs(&result.stdout, programs, request.repeats)?;
    let real = programs
        .iter()
        .zip(runs)
        .map(|(program, runs)| RealProgram {
            program: program.key.to_owned(),
            command: program.command.join(" "),
            runs,
        });
    let kernel = (result.kernel.name(), result.kernel.version().to_owned());
    let packages = result.packages.iter();
    let packages = packages.map(|own| (own.package.clone(), own.version.clone()));
    let packages = std::iter::once(kernel).chain(packages);
    Ok(Recorded {
        made_by: "cargo xtask real-programs --record crates/fidelity/data/real_programs.json"
            .to_owned(),
        release: guest_text::release(&result.stdout)
            .unwrap_or_default()
            .to_owned(),
        packages: packages.collect(),
        machine: result.platform,
        cpus: result.cpus,
        emulator: result.emulator,
        programs: real.collect(),
    })
}

/// Boots a guest with the programs and their packages.
fn boot(
    request: &Request,
    machine: &Machine,
    programs: &[&'static Program],
    watch: &dyn Watch,
) -> Result<RunResult, Error> {
    let cache = wakeplace_lab::cache()?;
    let scratch = cache.scratch().map_err(LabError::from)?;
    let packages = list::PACKAGES.map(|name| name.parse().map_err(Error::Input));
    let guest = run::Request {
        arch: Arch::Arm64,
        machine: machine.clone(),
        scheduler: Scheduler::Kernel,
        kernel: request.kernel.clone().into(),
        // Its CPUs run side by side: with one clock that counts instructions they take turns of up
        // to a millisecond, in which a sender fills channels that nobody reads.
        icount: None,
        timeout: request.timeout,
        trace_kb: None,
        work: Work::Command(guest::command()),
        files: guest::write_files(programs, request.repeats, scratch.path())?,
        packages: packages.into_iter().collect::<Result<_, _>>()?,
        systemd: false,
        keep: request.keep.clone(),
    };
    let steps = watch.steps();
    steps.step(&format!(
        "{} programs, {} times each",
        programs.len(),
        request.repeats
    ));
    let result = run::run(&cache, &guest, &*steps);
    drop(steps);
    let result = result?;
    match result.exit_code {
        0 => Ok(result),
        code => Err(Error::NoResult(format!(
            "the programs in the guest ended with exit code {code}: {}",
            result.stderr.trim()
        ))),
    }
}

//! `lab programs`: real programs in an emulated machine, and their models in the simulator; of
//! which tasks they are made, and who wakes whom how often.

mod guest;
mod list;
mod model;
mod page;
mod recorded;
mod structure;

use super::lab::failure;
use super::lab_watch::Steps;
use super::marked_page;
use crate::args::{LabProgramsArgs, ReportFormat};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::terminal::Terminal;
use crate::text::json;
use list::Program;
use recorded::{RealProgram, Recorded};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use structure::Structure;
use wakeplace_lab::machine::Machine;
use wakeplace_lab::outcome::Scheduler;
use wakeplace_lab::run::{self, Request, RunResult, Work};
use wakeplace_lab::{Arch, Cache, Watch as _};
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

/// `lab programs`.
pub(crate) fn run(args: &LabProgramsArgs, terminal: Terminal) -> Outcome {
    let programs = list::chosen(&args.programs)?;
    let marks = &page::PROGRAMS;
    if args.page.is_some() && programs.len() < list::PROGRAMS.len() {
        return Err(Failure::input(
            "--page holds all programs; expected --output for some of them",
        ));
    }
    let old = args
        .page
        .as_deref()
        .map(|path| marked_page::old_page(path, marks))
        .transpose()?;
    let output = Output::prepare(args.page.as_deref().or(args.output.as_deref()))?;
    let record = args
        .record
        .as_deref()
        .map(|path| Output::prepare(Some(path)));
    let record = record.transpose()?;
    let machine = Machine::load(MACHINE.0, Arch::Arm64, Some(MACHINE.1));
    let machine = machine.map_err(|error| failure(&error))?;
    let recorded = match args.recorded {
        true => recorded::recorded()?,
        false => measure(args, &machine, &programs, terminal)?,
    };
    if let Some(record) = record {
        let value = serde_json::to_value(&recorded).map_err(Failure::input)?;
        record.write(&json(&value), terminal)?;
    }
    let platform = machine.platform.as_ref();
    let platform = platform.ok_or_else(|| Failure::input("the machine is of no platform"))?;
    let compared = programs
        .iter()
        .map(|program| compare(&recorded, platform, program, terminal));
    let compared = compared.collect::<Result<Vec<_>, _>>()?;
    let text = match (old, args.format) {
        (Some(old), _) => marked_page::replace(&old, marks, &page::markdown(&recorded, &compared))?,
        (None, ReportFormat::Md) => page::markdown(&recorded, &compared),
        (None, ReportFormat::Json) => json(&page::object(&recorded, &compared)),
    };
    output.write(&text, terminal)?;
    Ok(Verdict::Ok)
}

fn compare(
    recorded: &Recorded,
    platform: &Platform,
    program: &'static Program,
    terminal: Terminal,
) -> Result<Comparison, Failure> {
    let real = recorded.runs(program)?.to_vec();
    let policy = Policy::parse(POLICY).map_err(Failure::input)?;
    terminal.detail(&format!("{}: its model in the simulator", program.key));
    // A program without a model is still worth its row; the page says what is missing.
    let model = model::run(platform, &policy, &program.model).map_err(|why| why.to_string());
    if let Err(why) = &model {
        terminal.warn(&format!("{}: no model: {why}", program.key));
    }
    Ok(Comparison {
        program,
        real,
        model,
    })
}

/// Runs the programs in a guest.
fn measure(
    args: &LabProgramsArgs,
    machine: &Machine,
    programs: &[&'static Program],
    terminal: Terminal,
) -> Result<Recorded, Failure> {
    let result = boot(args, machine, programs, terminal)?;
    let runs = guest::runs(&result.stdout, programs, args.repeats)?;
    let real = programs
        .iter()
        .zip(runs)
        .map(|(program, runs)| RealProgram {
            program: program.key.to_owned(),
            command: program.command.join(" "),
            runs,
        });
    let packages = std::iter::once(&result.kernel).chain(&result.packages);
    let packages = packages.map(|own| (own.package.clone(), own.version.clone()));
    Ok(Recorded {
        made_by: "wakeplace lab programs --record crates/cli/data/real_programs.json".to_owned(),
        release: guest::release(&result.stdout).unwrap_or_default(),
        packages: packages.collect(),
        machine: result.platform,
        cpus: result.cpus,
        emulator: result.emulator,
        programs: real.collect(),
    })
}

fn boot(
    args: &LabProgramsArgs,
    machine: &Machine,
    programs: &[&'static Program],
    terminal: Terminal,
) -> Result<RunResult, Failure> {
    let lab = |error| failure(&error);
    let cache = Cache::of_user().map_err(lab)?;
    let scratch = cache.scratch().map_err(lab)?;
    let packages = list::PACKAGES.map(|name| name.parse().map_err(Failure::Input));
    let request = Request {
        arch: Arch::Arm64,
        machine: machine.clone(),
        scheduler: Scheduler::Kernel,
        kernel: args.kernel.clone(),
        // Its CPUs run side by side: with one clock that counts instructions they take turns of a
        // millisecond, in which a sender fills channels that nobody reads.
        icount: false,
        timeout: Duration::from_nanos(args.timeout),
        trace: false,
        work: Work::Command(guest::command()),
        files: guest::write_files(programs, args.repeats, scratch.path())?,
        packages: packages.into_iter().collect::<Result<_, _>>()?,
        systemd: false,
        keep: args.keep.as_deref().map(Path::to_path_buf),
    };
    let steps = Steps::start(terminal);
    steps.step(&format!(
        "{} programs, {} times each",
        programs.len(),
        args.repeats
    ));
    let result = run::run(&cache, &request, &steps);
    drop(steps);
    let result = result.map_err(lab)?;
    match result.exit_code {
        0 => Ok(result),
        code => Err(Failure::NoResult(format!(
            "the programs in the guest ended with exit code {code}: {}",
            result.stderr.trim()
        ))),
    }
}

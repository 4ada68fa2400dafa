//! `platform import`, `platform new` and `platform capture` (docs/guide/import.md).
//!
//! What is read and assumed is `wakeplace_platform::import`'s. Free: the summary, which is on
//! standard error.
//!
//! What must stay: an import is complete or not there (`output.rs`), and what is read is not
//! written over. The capture script runs on machines without anything of this project; its exit
//! code 3 says that something is missing. Tests by part:
//! crates/cli/tests/all/help.rs::`every_example_works` (`run`, `new`, `capture`),
//! crates/cli/tests/all/bad_platforms.rs::`an_import_spares_what_it_reads` (places),
//! bad_platforms.rs::`a_new_board_is_whole_or_refused` (`new`, `check_name`, `power_like`),
//! bad_platforms.rs::`a_capture_is_no_folder` (`capture`, `CAPTURE`),
//! crates/cli/tests/all/said.rs::`an_import_says_which_folder_it_needs` (wrong folders),
//! crates/cli/tests/all/faults/mod.rs::`an_import` and faults/mod.rs::`a_capture` (each call fails
//! once), crates/cli/tests/all/kept_inputs.rs::`kept_inputs_end_well_at_the_command_line` (damaged
//! inputs). No test of its own: `summary`.
//!
//! Tests: crates/cli/tests/all/help.rs::every_example_works, crates/cli/tests/all/bad_platforms.rs,
//! crates/cli/tests/all/said.rs::an_import_says_which_folder_it_needs,
//! crates/cli/tests/all/faults/mod.rs, crates/cli/tests/all/kept_inputs.rs

use crate::args::{PlatformCaptureArgs, PlatformImportArgs, PlatformNewArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::interrupt;
use crate::output::{A_FILE, Output};
use crate::places;
use crate::terminal::Terminal;
use crate::text::hung;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use wakeplace_files::Place;
use wakeplace_platform::PowerUnit;
use wakeplace_platform::import::{Imported, PowerLike, Source, import_like, of_kinds};
use wakeplace_text::printable;

/// Runs on machines without anything of this project.
const CAPTURE: &str = include_str!("platform_import/capture.sh");

/// `platform import`.
pub(super) fn run(args: &PlatformImportArgs, terminal: Terminal) -> Outcome {
    let source = match (&args.sysfs, &args.dtb, &args.lisa) {
        (Some(path), _, _) => Source::Tree(path),
        (_, Some(path), _) => match &args.voltages {
            Some(list) => Source::DeviceTreeAndVoltages(path, list),
            None => Source::DeviceTree(path),
        },
        (_, _, Some(path)) => Source::Lisa(path),
        _ => Source::Live,
    };
    args.name.as_deref().map_or(Ok(()), check_name)?;
    let read = [
        ("--sysfs", &args.sysfs),
        ("--dtb", &args.dtb),
        ("--voltages", &args.voltages),
        ("--lisa", &args.lisa),
    ];
    let read = read.map(|(option, path)| Some((option, path.as_deref()?.to_str()?)));
    let like = args.power_like.as_deref();
    let read = read.into_iter().flatten().chain(named(like));
    places::apart(read, &[("--output", args.output.as_deref())])?;
    let output = Output::prepare(args.output.as_deref())?;
    let like = power_like(like)?;
    let (model, name) = (args.energy_model.as_deref(), args.name.as_deref());
    let imported = import_like(source, model, name, like.as_ref()).map_err(Failure::input)?;
    finish(&imported, &output, args.output.as_deref(), terminal)
}

/// `platform new`.
pub(super) fn new(args: &PlatformNewArgs, terminal: Terminal) -> Outcome {
    check_name(&args.name)?;
    let written = [("--output", args.output.as_deref())];
    places::apart(named(args.power_like.as_deref()), &written)?;
    let output = Output::prepare(args.output.as_deref())?;
    let like = power_like(args.power_like.as_deref())?;
    let made = of_kinds(&args.clusters, "--clusters", &args.name, like.as_ref());
    let made = made.map_err(Failure::input)?;
    finish(&made, &output, args.output.as_deref(), terminal)
}

/// The machine whose powers are taken as what is read: it may be a file.
fn named(machine: Option<&str>) -> impl Iterator<Item = (&str, &str)> {
    machine.map(|machine| ("--power-like", machine)).into_iter()
}

/// The machine whose powers are taken, if one was named.
fn power_like(machine: Option<&str>) -> Result<Option<PowerLike>, Failure> {
    let like = machine.map(|machine| PowerLike::of(machine, "--power-like"));
    like.transpose().map_err(Failure::input)
}

/// A name that a platform can have.
fn check_name(name: &str) -> Result<(), Failure> {
    let sound = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(sound) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "--name `{}` cannot name a platform; expected a name such as `my-board` (a-z, 0-9, -)",
        wakeplace_text::shorten(name)
    )))
}

/// Writes the file, and says what there is now.
fn finish(
    imported: &Imported,
    output: &Output,
    path: Option<&Path>,
    terminal: Terminal,
) -> Outcome {
    output.write(&imported.toml, terminal)?;
    let summary = summary(imported, path);
    terminal.eprint(&hung(&summary, terminal.stderr_width()));
    imported
        .warnings
        .iter()
        .for_each(|text| terminal.warn(text));
    Ok(Verdict::Ok)
}

/// What there is now, and what of it the source did not say.
fn summary(imported: &Imported, output: Option<&Path>) -> String {
    let platform = &imported.platform;
    let (modelled, all) = (platform.modelled_power().len(), platform.cpus.len());
    let power = match platform.power_unit {
        PowerUnit::Microwatt if modelled == 0 => "power in watts".to_owned(),
        PowerUnit::Microwatt if modelled == all => "modelled power in watts".to_owned(),
        PowerUnit::Microwatt => format!("power in watts, modelled for {modelled} of {all} CPUs"),
        PowerUnit::Bogo => "power in a unit of its own".to_owned(),
        PowerUnit::None => "no power".to_owned(),
    };
    let count = |n: usize, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    let mut text = format!(
        "{}: {}, {} in {}, {power}\n",
        printable(&platform.name),
        platform.arch,
        count(platform.cpus.len(), "CPU"),
        count(platform.clusters.len(), "cluster"),
    );
    for line in &imported.said {
        let _ = writeln!(text, "assumed: {}", printable(line));
    }
    if let Some(path) = output {
        let _ = writeln!(text, "See it: wakeplace platform show {}", shown(path));
    }
    text
}

/// A path as it must be typed to be a file and not a name.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    match text.contains('/') || text.ends_with(".toml") {
        true => text,
        false => format!("./{text}"),
    }
}

/// `platform capture`.
pub(super) fn capture(args: &PlatformCaptureArgs, terminal: Terminal) -> Outcome {
    let Some(path) = &args.output else {
        terminal.print(CAPTURE)?;
        return Ok(Verdict::Ok);
    };
    if *path == *"-" {
        let problem = "--output -: an archive is no text; expected a file, as machine.tar";
        return Err(Failure::Input(problem.to_owned()));
    }
    interrupt::watch()?;
    let writing = |error| Failure::writing("output", &error, A_FILE);
    let (place, file) = Place::open(path).map_err(writing)?;
    let cannot = |why: String| Failure::Environment(format!("the capture script: {why}"));
    let mut child = Command::new("sh")
        .args(["-s", "--", "-"])
        .stdin(Stdio::piped())
        .stdout(file)
        .spawn()
        .map_err(|error| cannot(error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        let written = stdin.write_all(CAPTURE.as_bytes());
        written.map_err(|error| cannot(error.to_string()))?;
    }
    let status = child.wait().map_err(|error| cannot(error.to_string()))?;
    match status.code() {
        Some(0) => place.publish().map(|()| Verdict::Ok).map_err(writing),
        Some(3) => Err(Failure::Environment(
            "this machine cannot be captured; what is missing stands above".to_owned(),
        )),
        _ => Err(Failure::Environment(format!(
            "output {}: cannot be written; what tar said of it stands above",
            path.display()
        ))),
    }
}

//! `sweep`, and `study run` of a file that varies something (docs/guide/results.md, "Sweeps").
//!
//! What must stay: a cell that the store has is never run again, so the result does not depend on
//! where a sweep was broken off. Rows stand in the order of points, then seeds. The keys of cells
//! have the program's version (`program`); a change of them makes old stores useless. Options go
//! before the file. Tests by part: crates/cli/tests/all/sweeps.rs::`a_killed_sweep_goes_on` (`run`,
//! `write_export`), sweeps.rs::`two_processes_share_a_store` (`Summary`),
//! sweeps.rs::`a_store_of_something_else_is_refused` and
//! sweeps.rs::`a_store_of_anybodys_ends_with_a_sentence` (`failure`: exit code 2),
//! crates/cli/tests/all/faults/tmpfs.rs::`a_disk_that_gets_full_during_a_sweep` (`failure`: 3;
//! where a tmpfs may be mounted),
//! sweeps.rs::`a_stuck_cell_does_not_end_the_sweep` (`points`, exit code 1),
//! sweeps.rs::`a_key_is_varied_once` (`definition`), sweeps.rs::`no_run_counts_twice` (equal
//! points), sweeps.rs::`options_that_fit_no_cell_are_refused` (what is checked before the store is
//! made), sweeps.rs::`study_run_takes_a_file` (`of_file`),
//! crates/cli/tests/all/said.rs::`modelled_joules_say_so_in_sweeps` (`columns`, `show`),
//! crates/cli/tests/all/faults/tmpfs.rs::`a_full_disk` (`failure_of_export`),
//! crates/python/tests/test_results.py::`test_a_file_that_varies_is_a_sweep` (the same bytes by
//! Python).
//!
//! Tests: crates/cli/tests/all/sweeps.rs,
//! crates/cli/tests/all/said.rs::modelled_joules_say_so_in_sweeps,
//! crates/cli/tests/all/faults/tmpfs.rs::a_full_disk,
//! crates/cli/tests/all/faults/tmpfs.rs::a_disk_that_gets_full_during_a_sweep,
//! crates/python/tests/test_results.py

use super::simulate::{jobs, say, texts};
use crate::args::{FormatName, GateArgs, OutputArgs, StudyRunArgs, SweepArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::gate::{self, Gate};
use crate::html::HtmlExport;
use crate::junit::JunitExport;
use crate::output::{A_FILE, Output};
use crate::places;
use crate::progress::Follower;
use crate::terminal::Terminal;
use crate::text::{format, plain, style, wrapped};
use crate::trees;
use std::io::Write as _;
use std::path::Path;
use wakeplace_files::{Place, WriteError};
use wakeplace_metrics::find_metric;
use wakeplace_report::{Failed, Format, Points, Table};
use wakeplace_store::{Definition, Store, StoreError, Summary};
use wakeplace_study::{Axis, Command, Design, Progress, RunRecord, RunTable, Sweep, metric_order};
use wakeplace_text::{one_at_a_time, printable};

/// Points that people are shown.
const MOST_SHOWN: usize = 50;

/// `sweep`.
pub(crate) fn sweep(args: &SweepArgs, terminal: Terminal) -> Outcome {
    let ask = &args.ask.0;
    trees::provide(&[], &texts(ask, "platform"), false, None, terminal)?;
    let sweep = definition(args)?;
    let place = Places {
        store: args.store.as_deref(),
        export: args.export.as_deref(),
        output: &args.output,
        metrics: &args.metric,
        gates: &args.gates,
        page: args.export_html.as_deref(),
        jobs: jobs(args.how.jobs),
    };
    let mut inputs: Vec<(&str, &str)> = Vec::new();
    inputs.extend(args.file.iter().map(|file| ("FILE.toml", file.as_str())));
    inputs.extend(super::simulate::inputs(ask));
    run(&sweep, &place, &inputs, terminal)
}

/// A sweep from a file, as `study run` takes it.
pub(super) fn of_file(
    file: &str,
    args: &StudyRunArgs,
    place: &Places<'_>,
    terminal: Terminal,
) -> Outcome {
    let found = Sweep::from_file(file).map_err(Failure::input)?;
    let base = args.ask.0.beside(found.base).map_err(Failure::input)?;
    let sweep = Sweep::new(base, found.axes, found.design).map_err(Failure::input)?;
    run(&sweep, place, &[("NAME", file)], terminal)
}

/// What is to be swept: the file, and what the options say beside or instead of it.
fn definition(args: &SweepArgs) -> Result<Sweep, Failure> {
    let ask = &args.ask.0;
    let (base, mut axes, mut design) = match &args.file {
        Some(file) => {
            let sweep = Sweep::from_file(file).map_err(Failure::input)?;
            let base = ask.beside(sweep.base).map_err(Failure::input)?;
            (base, sweep.axes, sweep.design)
        }
        None => {
            let base = ask.request(Command::Sweep).map_err(Failure::input)?;
            (base, Vec::new(), Design::Grid)
        }
    };
    let own = args.vary.iter().map(|text| Axis::parse(text));
    let own = own.collect::<Result<Vec<_>, _>>().map_err(Failure::input)?;
    // Instead of the file's.
    axes.retain(|axis| own.iter().all(|other| other.key != axis.key));
    axes.extend(own);
    if let Some(points) = args.latin_hypercube {
        design = Design::LatinHypercube {
            points,
            seed: args.design_seed,
        };
    }
    if axes.is_empty() {
        return Err(Failure::input(
            "nothing is varied; expected --vary KEY=VALUES or a file",
        ));
    }
    Sweep::new(base, axes, design).map_err(Failure::input)
}

/// Where runs and results go.
pub(super) struct Places<'a> {
    pub(super) store: Option<&'a Path>,
    pub(super) export: Option<&'a Path>,
    pub(super) output: &'a OutputArgs,
    pub(super) metrics: &'a [String],
    pub(super) gates: &'a GateArgs,
    pub(super) page: Option<&'a Path>,
    pub(super) jobs: usize,
}

/// The program, in the keys of cells.
fn program() -> String {
    format!("{} {}", env!("CARGO_PKG_VERSION"), env!("WAKEPLACE_COMMIT"))
}

/// Runs what the store lacks, then exports and shows it.
fn run(sweep: &Sweep, place: &Places<'_>, inputs: &[(&str, &str)], terminal: Terminal) -> Outcome {
    let written = [
        ("--store", place.store),
        ("--export", place.export),
        ("--output", place.output.output.as_deref()),
        ("--export-junit", place.gates.export_junit.as_deref()),
        ("--export-html", place.page),
    ];
    places::apart(inputs.iter().copied(), &written)?;
    check_metrics(place.metrics)?;
    let mut gate = Gate::of_sweep(place.gates, sweep)?;
    let output = Output::prepare(place.output.output.as_deref())?;
    let junit = JunitExport::prepare(place.gates.export_junit.as_deref())?;
    let page = HtmlExport::prepare(place.page)?;
    let export = place.export.map(export_form).transpose()?;
    let (store, summary) = filled(sweep, place, terminal)?;
    if let (Some(path), Some(form)) = (place.export, export) {
        write_export(&store, sweep, (path, form)).map_err(failure_of_export)?;
    }
    let columns = |format| columns(&store, (format, place.metrics), sweep);
    if let Some(page) = &page {
        // A page is made of the JSON alone.
        let (points, _) = points(&store, columns(FormatName::Json)?, &mut Gate::none())?;
        page.write(&points.render(Format::Json, plain()), terminal)?;
    }
    let (points, failed) = points(&store, columns(place.output.format)?, &mut gate)?;
    let checked = gate.judge();
    if let Some(junit) = &junit {
        junit.write(&checked, terminal)?;
    }
    show(
        &summary,
        (&points, &failed, &sweep.cautions()),
        &gate::text(&checked, "point", style(terminal)),
        (place.output, &output),
        terminal,
    )?;
    Ok(match failed.runs {
        0 => gate::verdict(&checked),
        _ => Verdict::Unmet,
    })
}

/// Refuses what is no metric, a list, or a metric that stands twice.
pub(super) fn check_metrics(metrics: &[String]) -> Result<(), Failure> {
    for (at, metric) in metrics.iter().enumerate() {
        if let Some(list) = one_at_a_time("metric", metric) {
            return Err(Failure::Input(format!("--metric: {list}")));
        }
        find_metric(metric).map_err(|error| Failure::Input(format!("--metric: {error}")))?;
        if metrics[..at].contains(metric) {
            let problem = format!("--metric: `{metric}` is named twice; expected each metric once");
            return Err(Failure::Input(problem));
        }
    }
    Ok(())
}

/// The store with all runs.
fn filled(
    sweep: &Sweep,
    place: &Places<'_>,
    terminal: Terminal,
) -> Result<(Store, Summary), Failure> {
    let program = program();
    let definition = Definition {
        sweep,
        program: &program,
        said: crate::repeat::origin().command,
        workers: place.jobs,
    };
    let mut store = match place.store {
        Some(path) => Store::open(path, &definition),
        None => Store::in_memory(&definition),
    }
    .map_err(failure)?;
    let follower = Follower::start(terminal);
    let report = |done: usize, total: usize| {
        follower.report(&Progress {
            done,
            total,
            label: String::new(),
        });
    };
    report(0, sweep.cells());
    let progress = |p: wakeplace_store::Progress| report(p.done, p.cells);
    let found = wakeplace_store::run(sweep, &mut store, (place.jobs, &program), &progress);
    follower.finish();
    let summary = found.map_err(failure)?;
    Ok((store, summary))
}

/// A store's error as this program's: refused input is 2, a machine's fault is 3.
fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Refused { .. } => Failure::input(error),
        StoreError::Machine { .. } | StoreError::Export(_) => {
            Failure::Environment(error.to_string())
        }
    }
}

#[derive(Clone, Copy)]
enum ExportForm {
    Csv,
    Parquet,
}

/// The form of `--export`, by the file's name.
fn export_form(path: &Path) -> Result<ExportForm, Failure> {
    let form = match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => ExportForm::Csv,
        Some("parquet") => ExportForm::Parquet,
        _ => {
            return Err(Failure::Input(format!(
                "--export {}: the form is not known; expected a name that ends in .csv or .parquet",
                path.display()
            )));
        }
    };
    Output::prepare(Some(path))?;
    Ok(form)
}

/// Why an export was not written.
enum ExportError {
    Store(StoreError),
    Write(WriteError),
}

impl From<StoreError> for ExportError {
    /// Reading rows for the export failed.
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<WriteError> for ExportError {
    /// Writing the export failed.
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

/// The exit code of an export that failed: 2 if another place may do, else 3.
fn failure_of_export(error: ExportError) -> Failure {
    match error {
        ExportError::Store(error) => failure(error),
        ExportError::Write(error) => Failure::writing("--export", &error, A_FILE),
    }
}

/// All runs, a part at a time.
fn write_export(
    store: &Store,
    sweep: &Sweep,
    (path, form): (&Path, ExportForm),
) -> Result<(), ExportError> {
    let (mut place, mut file) = Place::open(path)?;
    let labels = sweep.labels();
    match form {
        ExportForm::Parquet => {
            let exported = store.export_parquet(&mut file, &labels);
            exported.map_err(|error| match error {
                StoreError::Export(error) => ExportError::Write(WriteError::new(path, error)),
                other => ExportError::Store(other),
            })?;
        }
        ExportForm::Csv => {
            let metrics = store.metrics()?;
            let mut first = true;
            store.parts(|part| -> Result<(), ExportError> {
                let table = RunTable::with_columns(part, &labels, &metrics);
                let text = wakeplace_report::run_table(&table);
                let body = match first {
                    true => text.as_str(),
                    false => text.split_once('\n').map_or("", |(_, body)| body),
                };
                first = false;
                let written = file.write_all(body.as_bytes());
                Ok(written.map_err(|error| WriteError::new(path, error))?)
            })?;
        }
    }
    place.seal()?;
    Ok(place.publish()?)
}

/// The columns of the metrics that were asked for, or of all.
fn columns(
    store: &Store,
    (format, metrics): (FormatName, &[String]),
    sweep: &Sweep,
) -> Result<Points, Failure> {
    let metrics = match metrics.is_empty() {
        true => metric_order(&store.metrics().map_err(failure)?, &sweep.measured_by()),
        false => metrics.to_vec(),
    };
    let for_people = matches!(format, FormatName::Human | FormatName::Md);
    let points = Points::new(&sweep.labels(), metrics, for_people);
    Ok(match format {
        // Names in JSON are keys, which programs look for.
        FormatName::Json => points.with_power(),
        _ => points.modelled(sweep.modelled()),
    })
}

/// A table with a row per point, and the cells that have an error; the runs go to the gate, too.
fn points(store: &Store, mut points: Points, gate: &mut Gate) -> Result<(Table, Failed), Failure> {
    let add = |part: &[RunRecord]| -> Result<(), StoreError> {
        points.add(part);
        gate.add(part);
        Ok(())
    };
    store.parts(add).map_err(failure)?;
    Ok(points.finish())
}

/// A summary first, then the table, then what was checked.
fn show(
    summary: &Summary,
    (points, failed, cautions): (&Table, &Failed, &[String]),
    remarks: &str,
    (args, output): (&OutputArgs, &Output),
    terminal: Terminal,
) -> Result<(), Failure> {
    let mut said = format!(
        "{} cells: {} in the store before, {} made",
        summary.cells, summary.found, summary.made
    );
    if failed.runs > 0 {
        let (runs, first) = (failed.runs, printable(&failed.first));
        said += &format!("; {runs} could not be run or got stuck\nthe first of these: {first}");
        if runs > 1 {
            said += "\nof each: --export FILE, column `error`";
        }
    }
    said.push('\n');
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    for caution in cautions {
        said += &wrapped(&format!("note: {caution}"), "", look);
    }
    if matches!(args.format, FormatName::Json | FormatName::Csv) {
        terminal.eprint(&said);
        let table = points.render(format(args.format), look);
        return say((&table, remarks), args.format, output, terminal);
    }
    let rows = points.len();
    let (table, more) = match args.format == FormatName::Human && rows > MOST_SHOWN {
        true => (points.first(MOST_SHOWN), rows - MOST_SHOWN),
        false => (points.first(rows), 0),
    };
    let more = match more {
        0 => String::new(),
        more => format!("{more} points more: --format csv, or all runs with --export FILE\n"),
    };
    let table = table.render(format(args.format), look);
    let result = format!("{said}\n{table}{more}");
    say((&result, remarks), args.format, output, terminal)
}

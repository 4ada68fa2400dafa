//! `sweep`, and `study run` of a file that varies something (docs/guide/results.md, "Sweeps").
//!
//! What must stay: a cell that the store has is never run again, so the result does not depend on
//! where a sweep was broken off. Rows stand in the order of points. The keys of cells have the
//! program's version (`program`); a change of them makes old stores useless. Options go before the
//! file. With `--choose` the exit code says whether a point was chosen, else whether all checks
//! hold. Tests by part: crates/cli/tests/all/sweeps.rs::`a_killed_sweep_goes_on` (`run`,
//! `write_export`), sweeps.rs::`two_processes_share_a_store` (`Summary`),
//! sweeps.rs::`a_store_of_something_else_is_refused` and
//! sweeps.rs::`a_store_of_anybodys_ends_with_a_sentence` (`failure`: exit code 2),
//! crates/cli/tests/all/faults/tmpfs.rs::`a_disk_that_gets_full_during_a_sweep` (`failure`: 3;
//! where a tmpfs may be mounted),
//! sweeps.rs::`a_stuck_cell_does_not_end_the_sweep` (`heading`, exit code 1),
//! sweeps.rs::`a_key_is_varied_once` (`definition`), sweeps.rs::`no_run_counts_twice` (equal
//! points), sweeps.rs::`options_that_fit_no_cell_are_refused` (what is checked before the store is
//! made), sweeps.rs::`study_run_takes_a_file` (`of_file`),
//! sweeps.rs::`points_have_changes_from_a_base` (`base_value`, `wrong_base`,
//! `found`),
//! sweeps.rs::`the_smallest_that_holds_is_chosen` (`choice`, the exit code, the file for CI),
//! sweeps.rs::`frames_come_first_and_choose_nothing` (`usual`),
//! sweeps.rs::`warnings_of_runs_are_passed_on` (`warnings`),
//! crates/cli/tests/all/said.rs::`modelled_joules_say_so_in_sweeps` (`show`),
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
use crate::args::{FormatName, GateArgs, OutputArgs, StudyRunArgs, SweepArgs, Verbosity};
use crate::expect::Checked;
use crate::failure::{Failure, Outcome, Verdict};
use crate::gate::{self, Gate};
use crate::html::HtmlExport;
use crate::junit::JunitExport;
use crate::output::{A_FILE, Output};
use crate::places;
use crate::progress::Follower;
use crate::repeat;
use crate::terminal::Terminal;
use crate::text::{format, plain, style, wrapped};
use crate::trees;
use std::io::Write as _;
use std::path::Path;
use wakeplace_files::{Place, WriteError};
use wakeplace_metrics::find_metric;
use wakeplace_report::{Bases, Choice, FoundPoints, Points, Style, SweepFacts};
use wakeplace_store::{Definition, Store, StoreError, Summary};
use wakeplace_study::{
    Axis, Base, Command, Design, Progress, RunRecord, RunTable, StudyError, Sweep, Warnings,
    metric_order, of_frames,
};
use wakeplace_text::{count, markdown, one_at_a_time, printable, shorten};

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
        choose: args.choose.as_deref(),
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
    let mut sweep = Sweep::new(base, found.axes, found.design).map_err(Failure::input)?;
    sweep.from = found.from;
    run(&sweep, place, &[("NAME", file)], terminal)
}

/// What is to be swept: the file, and what the options say beside or instead of it.
fn definition(args: &SweepArgs) -> Result<Sweep, Failure> {
    let ask = &args.ask.0;
    let (base, mut axes, mut design, mut from) = match &args.file {
        Some(file) => {
            let sweep = Sweep::from_file(file).map_err(Failure::input)?;
            let base = ask.beside(sweep.base).map_err(Failure::input)?;
            (base, sweep.axes, sweep.design, sweep.from)
        }
        None => {
            let base = ask.request(Command::Sweep).map_err(Failure::input)?;
            (base, Vec::new(), Design::Grid, Vec::new())
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
    if !args.base.is_empty() {
        let values = args.base.iter().map(|text| base_value(text));
        from = values.collect::<Result<_, _>>()?;
    }
    let mut sweep = Sweep::new(base, axes, design).map_err(Failure::input)?;
    sweep.from = from;
    Ok(sweep)
}

/// A key and its value of `--base`.
fn base_value(text: &str) -> Result<(String, String), Failure> {
    let both = text
        .split_once('=')
        .map(|(key, value)| (key.trim(), value.trim()));
    match both.filter(|(key, value)| !key.is_empty() && !value.is_empty()) {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(Failure::Input(format!(
            "--base `{}`: it is no KEY=VALUE; expected a varied key and one of its values",
            shorten(text)
        ))),
    }
}

/// What is no base, as the option that names one: that of a file was checked with its own axes.
fn wrong_base(error: StudyError) -> Failure {
    match error {
        StudyError::Base { what, why } => Failure::Input(format!("--base {what}: {why}")),
        other => Failure::input(other),
    }
}

/// Where runs and results go, and what is asked of them.
pub(super) struct Places<'a> {
    pub(super) store: Option<&'a Path>,
    pub(super) export: Option<&'a Path>,
    pub(super) output: &'a OutputArgs,
    pub(super) metrics: &'a [String],
    /// By what a point is chosen.
    pub(super) choose: Option<&'a str>,
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
    let base = sweep.base_point().map_err(wrong_base)?;
    let mut gate = Gate::of_sweep(place.gates, sweep, base.as_ref())?;
    let choice = choice(place.choose, sweep)?;
    let output = Output::prepare(place.output.output.as_deref())?;
    let junit = JunitExport::prepare(place.gates.export_junit.as_deref())?;
    let page = HtmlExport::prepare(place.page)?;
    let export = place.export.map(export_form).transpose()?;
    let (store, summary) = filled(sweep, place, terminal)?;
    if let (Some(path), Some(form)) = (place.export, export) {
        write_export(&store, sweep, (path, form)).map_err(failure_of_export)?;
    }
    let with_runs = page.is_some() || place.output.format == FormatName::Json;
    let asked = (place.metrics, choice, with_runs);
    let (found, facts, checked) = found(&store, (sweep, base), &mut gate, asked)?;
    if let Some(page) = &page {
        // A page is made of the JSON alone.
        page.write(&found.json(&facts), terminal)?;
    }
    let verdict = match (found.failed().runs, place.choose) {
        (0, None) => gate::verdict(&checked),
        // Conditions say which points may be chosen.
        (0, Some(_)) if found.is_chosen() => Verdict::Ok,
        _ => Verdict::Unmet,
    };
    if let Some(junit) = &junit {
        let is_choice = place.choose.is_some() && verdict == Verdict::Ok;
        let one = |(name, of): &(String, Checked)| (name.clone(), of.left_out());
        let others = is_choice.then(|| checked.iter().map(one).collect::<Vec<_>>());
        junit.write(others.as_ref().unwrap_or(&checked), terminal)?;
    }
    // A choice says what counts: of the checks it was made by, how many hold.
    let remarks = match (place.choose, terminal.verbosity()) {
        (None, _) | (_, Verbosity::Verbose) => gate::text(&checked, "point", style(terminal)),
        (Some(_), _) => gate::counts(&checked),
    };
    show(
        &summary,
        (sweep, &found, &facts),
        &remarks,
        (place.output, &output),
        terminal,
    )?;
    Ok(verdict)
}

/// By what points are to be chosen; of a key that is varied the values must be numbers.
fn choice(asked: Option<&str>, sweep: &Sweep) -> Result<Option<Choice>, Failure> {
    let Some(name) = asked else { return Ok(None) };
    let wrong = |why: String| Failure::Input(format!("--choose: {why}"));
    let choice = Choice::of(name, &sweep.labels()).map_err(wrong)?;
    let words = match choice.metric() {
        Some(_) => Vec::new(),
        None => sweep.words_of(name),
    };
    match words.iter().find(|word| !Choice::is_value(word)) {
        None => Ok(Some(choice)),
        Some(word) => Err(wrong(format!(
            "`{}` of {name} is neither a number nor a time; expected a metric, or a key whose \
             values are numbers",
            shorten(word)
        ))),
    }
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
        said: repeat::origin().command,
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

/// All points, what is known beside them, and the checks with what each found.
type Found = (FoundPoints, SweepFacts, Vec<(String, Checked)>);

/// All points, what is known beside them, and what was checked. The runs are read twice: the base
/// of the first point may be the last one.
fn found(
    store: &Store,
    (sweep, base): (&Sweep, Option<Base>),
    gate: &mut Gate,
    (metrics, choice, with_runs): (&[String], Option<Choice>, bool),
) -> Result<Found, Failure> {
    let known = store.shown_metrics().map_err(failure)?;
    let measured_by = sweep.measured_by(&known);
    let named = !metrics.is_empty();
    let mut metrics = match named {
        true => metrics.to_vec(),
        false => metric_order(&known, &measured_by),
    };
    // What is judged and chosen by is shown.
    let asked = choice.as_ref().and_then(Choice::metric);
    for name in gate.metrics().into_iter().chain(asked) {
        if metrics.iter().all(|known| known != name) {
            metrics.push(name.to_owned());
        }
    }
    let mut bases = base.map(|base| Bases::new(base, &metrics));
    let mut warnings = Warnings::new(sweep, bases.is_some());
    let first = |number: usize, runs: &[RunRecord]| -> Result<(), StoreError> {
        if let Some(bases) = &mut bases {
            bases.add(number, runs);
        }
        gate.add(number, runs);
        warnings.add(sweep, number, runs);
        Ok(())
    };
    store.by_point(first).map_err(failure)?;
    let checked = gate.judge();
    let holds = gate.holding(&checked);
    let usual = || holds.as_ref().and_then(|_| usual(&metrics, named));
    let choice = choice.or_else(usual);
    let choice = choice.map(|choice| choice.among(gate.expectations()));
    let mut points = Points::new(&sweep.labels(), metrics)
        .compared(bases, sweep.base.margin_pct)
        .judged(holds)
        .choosing(choice);
    if with_runs {
        points = points.with_runs();
    }
    let second = |number: usize, runs: &[RunRecord]| -> Result<(), StoreError> {
        points.add(number, runs);
        Ok(())
    };
    store.by_point(second).map_err(failure)?;
    let found = points.finish();
    let cautions = found.cautions().iter().cloned();
    let facts = SweepFacts {
        commit: repeat::origin().commit,
        measured_by,
        conditions: gate.conditions(),
        checks: gate.outcome(&checked, 0),
        notes: sweep.cautions(),
        warnings: warnings.finish().into_iter().chain(cautions).collect(),
    };
    Ok((found, facts, checked))
}

/// By what points are chosen where nobody says so; `named`: somebody named the metrics. Else frames
/// do not choose: they are what conditions are about.
fn usual(metrics: &[String], named: bool) -> Option<Choice> {
    let others = metrics.iter().filter(|name| named || !of_frames(name));
    Choice::usual(&others.cloned().collect::<Vec<_>>())
}

/// What is said before the table: cells, failures, notes, and what changes are from.
fn heading(
    summary: &Summary,
    (sweep, found, facts): (&Sweep, &FoundPoints, &SweepFacts),
    look: Style,
) -> String {
    let mut said = format!(
        "{}: {} in the store before, {} made",
        count(summary.cells, "cell"),
        summary.found,
        summary.made
    );
    let failed = found.failed();
    if failed.runs > 0 {
        let (runs, first) = (failed.runs, printable(&failed.first));
        said += &format!("; {runs} could not be run or got stuck\nthe first of these: {first}");
        if runs > 1 {
            said += "\nof each: --export FILE, column `error`";
        }
    }
    said.push('\n');
    for note in &facts.notes {
        said += &wrapped(&format!("note: {note}"), "", look);
    }
    if let Some(base) = found.base() {
        let line = format!(
            "changes are from {base}, seed by seed, with 95 % intervals; less than {} % does not \
             matter",
            sweep.base.margin_pct
        );
        said += &wrapped(&line, "", look);
    }
    said
}

/// What was chosen first, then a summary and the table, then what was checked.
fn show(
    summary: &Summary,
    (sweep, found, facts): (&Sweep, &FoundPoints, &SweepFacts),
    remarks: &str,
    (args, output): (&OutputArgs, &Output),
    terminal: Terminal,
) -> Result<(), Failure> {
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    let said = heading(summary, (sweep, found, facts), look);
    let answer = found.answer(&facts.conditions).into_iter();
    let chosen: String = answer.map(|line| wrapped(&line, "", look)).collect();
    let chosen = match chosen.is_empty() {
        true => chosen,
        false => format!("{chosen}\n"),
    };
    if matches!(args.format, FormatName::Human | FormatName::Csv) {
        // The other forms carry them.
        facts
            .warnings
            .iter()
            .for_each(|warning| terminal.warn(warning));
    }
    if args.format == FormatName::Json {
        terminal.eprint(&format!("{chosen}{said}"));
        return say((&found.json(facts), remarks), args.format, output, terminal);
    }
    let form = format(args.format);
    let table = found.table(form, sweep.modelled());
    if args.format == FormatName::Csv {
        terminal.eprint(&format!("{chosen}{said}"));
        let table = table.render(form, look);
        return say((&table, remarks), args.format, output, terminal);
    }
    let rows = table.len();
    let table = match args.format == FormatName::Human {
        true => table.first_and(MOST_SHOWN, found.chosen()),
        false => table,
    };
    let more = match rows - table.len() {
        0 => String::new(),
        more => {
            let more = count(more, "point");
            format!("{more} more: --format csv, or all runs with --export FILE\n")
        }
    };
    let warnings = match args.format {
        FormatName::Md => warnings(&facts.warnings),
        _ => String::new(),
    };
    let table = table.render(form, look);
    let result = format!("{chosen}{said}\n{table}{more}{warnings}");
    say((&result, remarks), args.format, output, terminal)
}

/// Warnings as a list of Markdown.
fn warnings(all: &[String]) -> String {
    let lines = all
        .iter()
        .map(|warning| format!("- Warning: {}\n", markdown(warning)));
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\n{lines}"),
    }
}

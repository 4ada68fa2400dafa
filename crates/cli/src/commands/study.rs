//! `study list`, `study show` and `study run` (studies/README.md). The bytes of a result do not
//! depend on `--jobs`.
//!
//! Names and order of studies are `wakeplace_study`'s catalogue. Free: the list and page for
//! people.
//!
//! What must stay: the bytes of a result do not depend on `--jobs` or on what is exported beside.
//! Places are opened before the first run. A file that varies something is a sweep and is run
//! alone. Tests by part: `the_list_fits_a_terminal` (`names`),
//! crates/cli/tests/all/results.rs::`a_study_runs_and_lists_its_rows` and
//! results.rs::`a_pattern_runs_several_studies` (`run_named`),
//! results.rs::`assumed_costs_are_tried_on_demand` (`options`),
//! crates/cli/tests/all/sweeps.rs::`study_run_takes_a_file` (`varying`, `run_chosen`),
//! crates/cli/tests/all/report.rs::`a_study_has_its_page` (`--export-html`),
//! crates/cli/tests/all/gates.rs::`a_study_is_a_gate` (`judged`),
//! crates/cli/tests/all/output.rs::`an_unwritable_place_is_found_before_anything_runs` (places). No
//! test of its own: `show`, whose text `readme.rs` and its tests lay out.
//!
//! Tests: below, crates/cli/tests/all/results.rs,
//! crates/cli/tests/all/sweeps.rs::study_run_takes_a_file,
//! crates/cli/tests/all/report.rs::a_study_has_its_page, crates/cli/tests/all/output.rs,
//! crates/cli/tests/all/gates.rs::a_study_is_a_gate

use super::simulate::{follow, jobs, say};
use super::sweep;
use crate::args::{FormatName, ListArgs, StudyCommand, StudyRunArgs, StudyShowArgs};
use crate::expect::Checked;
use crate::failure::{Failure, Outcome, Verdict};
use crate::gate::{self, Gate};
use crate::html::HtmlExport;
use crate::junit::JunitExport;
use crate::output::Output;
use crate::places;
use crate::readme;
use crate::repeat;
use crate::runs_export::RunsExport;
use crate::settings::{any_policy, check_keys};
use crate::terminal::Terminal;
use crate::text::{format, heading, plain, style, wrapped};
use crate::trees;
use wakeplace_report::{Align, Cell, Format, Table};
use wakeplace_study::{Study, StudyOptions, is_sweep, run_studies, select, studies, study_records};
use wakeplace_text::count;

/// `study ...`.
pub(crate) fn run(command: StudyCommand, terminal: Terminal) -> Outcome {
    trees::provide(&[], &[], false, None, terminal)?;
    match command {
        StudyCommand::List(args) => list(&args, terminal),
        StudyCommand::Show(args) => show(&args, terminal),
        StudyCommand::Run(args) => run_chosen(&args, terminal),
    }
}

/// `study list`: built-in studies with the number of their runs.
fn list(args: &ListArgs, terminal: Terminal) -> Outcome {
    terminal.print(&names().render(format(args.format), style(terminal)))?;
    Ok(Verdict::Ok)
}

/// The list of studies with their sizes.
fn names() -> Table {
    let columns = ["name", "quick_runs", "full_runs", "published", "title"];
    let mut table = Table::new("studies", &columns)
        .keys(1)
        .part("title")
        .align("quick_runs", Align::Right)
        .align("full_runs", Align::Right);
    for study in studies() {
        table.row(vec![
            Cell::from(study.name),
            Cell::from(study.quick_runs),
            Cell::from(study.full_runs),
            Cell::from(study.published),
            Cell::from(study.title),
        ]);
    }
    table
}

/// `study show`: a study's page and how many runs it takes.
fn show(args: &StudyShowArgs, terminal: Terminal) -> Outcome {
    let study = Study::load(&args.name).map_err(Failure::input)?;
    let info = study.info();
    let look = style(terminal);
    let mut text = heading(&format!("{}: {}", info.name, info.title), look);
    let figures = if info.published { "with" } else { "without" };
    let counts = format!(
        "{}, {} with --quick; {figures} published figures to compare with.",
        count(info.full_runs, "run"),
        info.quick_runs,
    );
    text.push_str(&wrapped(&counts, "", look));
    let experiments = study.experiments();
    if !experiments.is_empty() {
        text.push_str(&format!("\n{}", heading("Added by --experiments", look)));
    }
    for (name, why) in experiments {
        text.push_str(&format!("  {name}\n{}", wrapped(why, "      ", look)));
    }
    text.push('\n');
    text.push_str(&match terminal.width() {
        Some(_) => readme::shown(study.readme(), look),
        None => format!("{}\n", study.readme().trim()),
    });
    terminal.print(&text)?;
    Ok(Verdict::Ok)
}

/// The file among the names that varies something: a sweep, which is run alone.
fn varying(args: &StudyRunArgs) -> Result<Option<&str>, Failure> {
    for name in args.names.iter().filter(|name| name.ends_with(".toml")) {
        let varies = std::fs::read_to_string(name).is_ok_and(|text| is_sweep(&text));
        if !varies {
            continue;
        }
        if args.names.len() > 1 || args.quick || args.experiments || args.sensitivity {
            return Err(Failure::Input(format!(
                "`{name}` varies something; expected it alone, without --quick, --experiments and \
                 --sensitivity"
            )));
        }
        return Ok(Some(name));
    }
    Ok(None)
}

/// `study run`: studies by name, or a file of the user's that may vary something.
fn run_chosen(args: &StudyRunArgs, terminal: Terminal) -> Outcome {
    if let Some(file) = varying(args)? {
        let place = sweep::Places {
            store: args.store.as_deref(),
            export: args.export_runs.as_deref(),
            output: &args.output,
            metrics: &[],
            choose: None,
            gates: &args.gates,
            page: args.export_html.as_deref(),
            jobs: jobs(args.how.jobs),
        };
        return sweep::of_file(file, args, &place, terminal);
    }
    if let Some(store) = &args.store {
        return Err(Failure::Input(format!(
            "--store {}: a study without `vary` keeps no store; expected a file with a table \
             `vary`",
            store.display()
        )));
    }
    run_named(args, terminal)
}

/// What changes the runs of a study: `--quick`, `--experiments`, seeds, durations, settings.
fn options(args: &StudyRunArgs) -> Result<StudyOptions, Failure> {
    Ok(StudyOptions {
        quick: args.quick,
        experiments: args.experiments,
        sensitivity: args.sensitivity,
        ..args.ask.0.study_options().map_err(Failure::input)?
    })
}

/// Runs built-in studies and writes their results.
fn run_named(args: &StudyRunArgs, terminal: Terminal) -> Outcome {
    let studies = select(&args.names).map_err(Failure::input)?;
    let options = options(args)?;
    check_keys(&options.set, &any_policy()?)?;
    let written = [
        ("--output", args.output.output.as_deref()),
        ("--export-html", args.export_html.as_deref()),
        ("--export-runs", args.export_runs.as_deref()),
        ("--export-junit", args.gates.export_junit.as_deref()),
    ];
    let read: Vec<_> = args
        .names
        .iter()
        .map(|name| ("NAME", name.as_str()))
        .collect();
    places::apart(read, &written)?;
    let output = Output::prepare(args.output.output.as_deref())?;
    let page = HtmlExport::prepare(args.export_html.as_deref())?;
    let rows = args
        .export_runs
        .as_deref()
        .map(RunsExport::prepare)
        .transpose()?;
    let junit = JunitExport::prepare(args.gates.export_junit.as_deref())?;
    let mut gate = Gate::of_studies(&args.gates, &studies, &options)?;
    let jobs = jobs(args.how.jobs);
    let names: Vec<String> = studies.iter().map(|study| study.info().name).collect();
    terminal.detail(&format!("study {}, {jobs} threads", names.join(", ")));
    let mut results = follow(terminal, |progress| {
        run_studies(&studies, &options, jobs, progress)
    })?;
    results
        .iter_mut()
        .for_each(|result| repeat::origin().put_on(result));
    for result in &results {
        gate.add_study(result);
    }
    let checked = gate.judge();
    for (at, result) in results.iter_mut().enumerate() {
        result.checks = gate.outcome(&checked, at + 1);
    }
    if let Some(page) = &page {
        let json = wakeplace_report::studies(&results, Format::Json, plain());
        page.write(&json, terminal)?;
    }
    if let Some(rows) = rows {
        let records: Vec<_> = results.iter().flat_map(study_records).collect();
        rows.publish(&records, terminal)?;
    }
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    let text = wakeplace_report::studies(&results, format(args.output.format), look);
    if args.output.format == FormatName::Csv {
        // The other forms carry them.
        let notes = results.iter().flat_map(|result| &result.notes);
        notes.for_each(|note| terminal.warn(note));
    }
    let result = (text.as_str(), args.output.format, &output);
    judged(&checked, junit.as_ref(), result, terminal)
}

/// Writes the result and the checks of it, which say how the command ends.
fn judged(
    checked: &[(String, Checked)],
    junit: Option<&JunitExport>,
    (text, form, output): (&str, FormatName, &Output),
    terminal: Terminal,
) -> Outcome {
    if let Some(junit) = junit {
        junit.write(checked, terminal)?;
    }
    let remarks = gate::text(checked, "case", style(terminal));
    say((text, &remarks), form, output, terminal)?;
    Ok(gate::verdict(checked))
}

#[cfg(test)]
mod tests {
    use super::names;
    use wakeplace_report::{Format, Style};

    #[test]
    fn the_list_fits_a_terminal() {
        let style = Style {
            color: false,
            width: 80,
        };
        let text = names().render(Format::Human, style);
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{text}");
    }
}

//! `workload list` and `workload check`. The rows of `workload list` in CSV and JSON are for
//! programs: their columns stay (docs/guide/workloads.md).
//!
//! What is accepted and refused is `wakeplace_workload`'s, and rt-app's answer is the measure.
//! Free: what people see.
//!
//! What must stay: columns of `flat` and keys of `answer`. A file that rt-app refuses is exit code
//! 2, and the JSON is printed all the same. At most `READ_LIMIT_BYTES` are read. Tests by part:
//! `the_list_fits_a_terminal` (`pages`, `index`, `keys`),
//! crates/cli/tests/all/said.rs::`one_model_can_be_listed` (`list`, `flat`),
//! said.rs::`a_check_says_for_which_machine` (`checked_for`),
//! said.rs::`a_check_names_what_is_no_rtapp_file` (`check`),
//! crates/cli/tests/all/results.rs::`loops_are_those_of_the_file` (`loops`, `describe`),
//! results.rs::`workloads_of_the_repository_are_accepted` (`examine`, `answer`),
//! crates/cli/tests/all/recordings.rs::`a_check_takes_deadlines` (`deadlines`),
//! crates/cli/tests/all/rtapp_corpus.rs::`all_files_have_rtapps_answer` (exit codes),
//! crates/cli/tests/all/streams.rs::`warnings_go_to_standard_error` (warnings). No test of its own:
//! `groups` and `notes`.
//!
//! Tests: below, crates/cli/tests/all/said.rs, crates/cli/tests/all/results.rs,
//! crates/cli/tests/all/rtapp_corpus.rs,
//! crates/cli/tests/all/recordings.rs::a_check_takes_deadlines,
//! crates/cli/tests/all/streams.rs::warnings_go_to_standard_error

use super::workload_recording;
use crate::args::{AnswerFormat, FormatName, WorkloadCheckArgs, WorkloadCommand, WorkloadListArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::page::{Form, Page};
use crate::terminal::Terminal;
use crate::text::{format, hung, json, style};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use wakeplace_report::{Cell, Style, Table};
use wakeplace_text::printable;
use wakeplace_workload::structure::{Structure, Task};
use wakeplace_workload::{
    Chain, CheckOutcome, Deadlines, LoadOptions, MachineFacts, ModelInfo, READ_LIMIT_BYTES, Spec,
    TaskGroup, check_file_as, check_rtapp_as, is_path, standard_input,
};

/// `workload ...`.
pub(crate) fn run(command: WorkloadCommand, terminal: Terminal) -> Outcome {
    match command {
        WorkloadCommand::List(args) => list(&args, terminal),
        WorkloadCommand::Check(args) => check(&args, terminal),
        WorkloadCommand::Record(args) => super::record::run(&args, terminal),
    }
}

/// `workload list`: all models, or those that are named.
fn list(args: &WorkloadListArgs, terminal: Terminal) -> Outcome {
    let look = style(terminal);
    let models = match args.models.as_slice() {
        [] => Spec::catalogue().collect(),
        names => {
            let found = names.iter().map(|name| Spec::model(name));
            found
                .collect::<Result<Vec<_>, _>>()
                .map_err(Failure::input)?
        }
    };
    // Who names models asks for no files.
    let files: Vec<_> = match args.models.is_empty() {
        true => wakeplace_study::workload_files().collect(),
        false => Vec::new(),
    };
    let text = match args.list.format {
        FormatName::Human => pages(Form::Human(look), &models, &files),
        FormatName::Md => pages(Form::Markdown, &models, &files),
        other => flat(&models).render(format(other), Style::default()),
    };
    terminal.print(&text)?;
    Ok(Verdict::Ok)
}

/// One row per model and key, for programs.
fn flat(models: &[&ModelInfo]) -> Table {
    let columns = [
        "model", "summary", "metric", "source", "key", "value", "default", "doc",
    ];
    let mut table = Table::new("workloads", &columns);
    for model in models {
        for key in model.parameters {
            let default = Some(key.default).filter(|default| !default.is_empty());
            table.row(vec![
                Cell::from(model.name),
                Cell::from(model.summary),
                Cell::from(model.metric),
                Cell::from(model.source),
                Cell::from(key.name),
                Cell::Own(key.unit.to_owned()),
                default.map(|default| Cell::Own(default.to_owned())).into(),
                Cell::from(key.doc),
            ]);
        }
    }
    table
}

/// One page per model, or the list of all, then the files that are built in.
fn pages(form: Form, models: &[&ModelInfo], files: &[(&str, String)]) -> String {
    let about = "A workload is a path to an rt-app JSON file, a recording as trace:FILE, or a \
        model as NAME:KEY=VALUE,... with the keys below.";
    let mut page = Page::new(form, "Workloads", about);
    page.table(&index(models));
    for model in models {
        page.section(&format!("{}: {}", model.name, model.summary));
        page.table(&keys(model));
        page.paragraph(&format!(
            "Read it by: {}. Source: {}.",
            model.metric, model.source
        ));
    }
    if !files.is_empty() {
        page.section("Files that are built in");
        page.paragraph(
            "rt-app files that `--workload` takes by these paths wherever the program runs; a file \
             of that path comes first.",
        );
    }
    for (path, what) in files {
        page.point(path, what);
    }
    page.finish()
}

/// All models at a glance.
fn index(models: &[&ModelInfo]) -> Table {
    let columns = ["model", "also called", "what it does", "read it by"];
    let mut table = Table::new("models", &columns).keys(1);
    for model in models {
        table.row(vec![
            model.name.into(),
            model.also.join(", ").into(),
            model.summary.into(),
            model.metric.into(),
        ]);
    }
    table
}

/// What a model can be told.
fn keys(model: &ModelInfo) -> Table {
    let mut table = Table::new("keys", &["key", "value", "default", "meaning"]);
    for key in model.parameters {
        let default = if key.default.is_empty() {
            "-"
        } else {
            key.default
        };
        table.row(
            [key.name, key.unit, default, key.doc]
                .map(Cell::from)
                .to_vec(),
        );
    }
    table
}

/// What was found in a file.
struct Found {
    outcome: CheckOutcome,
    /// Parts rt-app runs and the simulator does not.
    unmodelled: Vec<String>,
    /// Groups of its tasks.
    groups: Vec<TaskGroup>,
    /// Its chains with deadlines.
    chains: Vec<Chain>,
    /// Why the simulator refuses the file for another reason.
    unusable: Option<String>,
}

/// The deadlines that are given beside a file.
pub(super) fn deadlines(args: &WorkloadCheckArgs) -> Result<Option<Deadlines>, Failure> {
    let read = args.deadlines.as_deref().map(Deadlines::read);
    read.transpose().map_err(Failure::input)
}

/// `workload check`: would rt-app accept the file, and what does it become here?
fn check(args: &WorkloadCheckArgs, terminal: Terminal) -> Outcome {
    if args.file.starts_with(wakeplace_trace::PREFIX) {
        return workload_recording::check(args, terminal);
    }
    let (name, _) = args.file.split_once(':').unwrap_or((&args.file, ""));
    if !is_path(&args.file) && Spec::model(name).is_ok() {
        return Err(Failure::Input(format!(
            "`{name}` is a model, and no file; expected an rt-app file, or `wakeplace workload \
             list {name}`, which shows the model"
        )));
    }
    let found = examine(args)?;
    if args.form.format == AnswerFormat::Json {
        terminal.print(&json(&answer(args, &found)))?;
    }
    let Some(structure) = &found.outcome.structure else {
        let message = found.outcome.message;
        return Err(Failure::Input(match message.contains("CPU") {
            true => format!("{message} ({})", checked_for(args.cpus)),
            false => message,
        }));
    };
    if args.form.format == AnswerFormat::Human {
        let text = describe(&found, structure, style(terminal));
        let notes = hung(&notes(&found), terminal.width());
        terminal.print(&format!("{text}{notes}\n{}\n", checked_for(args.cpus)))?;
        let warnings = found.outcome.warnings.iter();
        warnings.for_each(|warning| terminal.warn(warning));
    }
    Ok(Verdict::Ok)
}

/// The machine that a file is checked for.
fn checked_for(cpus: u32) -> String {
    format!("checked for a machine of {cpus} CPUs; `--cpus N` is for another")
}

/// The file's structure, or where and why it is refused.
fn examine(args: &WorkloadCheckArgs) -> Result<Found, Failure> {
    let deadlines = deadlines(args)?;
    let (outcome, text) = if args.file == "-" {
        let stdin = standard_input().map_err(|error| unreadable("-", &error))?;
        let text = read_capped(stdin, "-")?;
        (
            check_rtapp_as(&text, "-", args.cpus, args.rtapp_dialect),
            text,
        )
    } else {
        let outcome = check_file_as(&args.file, args.cpus, args.rtapp_dialect);
        let text = match outcome.structure {
            Some(_) => File::open(&args.file)
                .map_err(|error| unreadable(&args.file, &error))
                .and_then(|file| read_capped(file, &args.file))?,
            None => Vec::new(),
        };
        (outcome, text)
    };
    let mut found = Found {
        outcome,
        unmodelled: Vec::new(),
        groups: Vec::new(),
        chains: Vec::new(),
        unusable: None,
    };
    if found.outcome.structure.is_some() {
        let load = LoadOptions {
            allow_unmodelled: true,
            dialect: args.rtapp_dialect,
        };
        let machine = MachineFacts::alike(args.cpus);
        let spec = Spec::parse_rtapp(&text, &args.file, &load);
        match spec.and_then(|spec| Ok((spec.expand(1, machine)?, spec))) {
            Ok((workload, spec)) => {
                found.unmodelled = workload.unmodelled;
                found.groups = workload.groups;
                found.chains = match deadlines {
                    None => workload.chains,
                    Some(given) => {
                        let spec = spec.with_deadlines(given);
                        spec.expand(1, machine).map_err(Failure::input)?.chains
                    }
                };
            }
            Err(error) => found.unusable = Some(error.to_string()),
        }
    }
    Ok(found)
}

/// The refusal of a file that cannot be read.
fn unreadable(file: &str, error: &io::Error) -> Failure {
    Failure::Input(format!("{file}: cannot be read: {error}"))
}

/// A text of bounded length, or why it cannot be read.
fn read_capped(reader: impl Read, file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = reader.take(READ_LIMIT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(file, &error))?;
    if bytes.len() as u64 > READ_LIMIT_BYTES {
        return Err(Failure::Input(format!(
            "{file}: larger than {READ_LIMIT_BYTES} bytes; expected an rt-app file of at most \
             16 MiB"
        )));
    }
    Ok(bytes)
}

/// For people: rt-app's answer, and what the file holds.
fn describe(found: &Found, structure: &Structure, look: Style) -> String {
    let mut text = format!("{}\n\n", printable(&found.outcome.message));
    let mut table = Table::new("tasks", &["task", "threads", "phases", "loops", "events"]);
    for task in &structure.tasks {
        table.row(vec![
            Cell::from(task.name.clone()),
            Cell::from(task.instance.to_string()),
            Cell::from(task.phases.len()),
            Cell::from(match loops(task) {
                ..0 => "for ever".to_owned(),
                loops => loops.to_string(),
            }),
            Cell::from(event_names(task)),
        ]);
    }
    text.push_str(&table.render(format(FormatName::Human), look));
    if found.groups.iter().any(|group| !group.limits.is_empty()) {
        text.push_str(&groups(found).render(format(FormatName::Human), look));
    }
    if !found.chains.is_empty() {
        let chains = workload_recording::chains(&found.chains);
        text.push_str(&format!(
            "\n{}",
            chains.render(format(FormatName::Human), look)
        ));
    }
    text.trim_end().to_owned() + "\n"
}

/// What the groups limit, and hint.
fn groups(found: &Found) -> Table {
    let mut table = Table::new("groups", &["group", "tasks", "cpu.weight", "files"]);
    for group in &found.groups {
        let files = group.limits.files();
        let files = files.iter().map(|(name, value)| format!("{name} {value}"));
        let cpus = group.limits.cpus.as_ref().map(|cpus| {
            let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!("cpuset.cpus {}", cpus.join(","))
        });
        let files: Vec<String> = files.chain(cpus).collect();
        table.row(vec![
            Cell::from(format!("/{}", group.name)),
            Cell::from(group.tasks.len()),
            Cell::from((group.shares * 100 / TaskGroup::DEFAULT_SHARES).to_string()),
            Cell::from(files.join("; ")),
        ]);
    }
    table
}

/// What the simulator does otherwise than rt-app, a line each behind an empty one.
fn notes(found: &Found) -> String {
    let mut text = String::new();
    for part in &found.unmodelled {
        let _ = writeln!(
            text,
            "note: {} is not modelled: the simulator needs --allow-unmodelled, and leaves it out",
            printable(part)
        );
    }
    if let Some(why) = &found.unusable {
        let _ = writeln!(
            text,
            "note: rt-app takes it, the simulator does not: {}",
            printable(why)
        );
    }
    match text.is_empty() {
        true => text,
        false => format!("\n{text}"),
    }
}

/// How often a task does all it does; below 0: for ever. Without `phases` it is one phase, which
/// has the repetitions.
fn loops(task: &Task) -> i32 {
    match task.phases.as_slice() {
        [only] if only.at == task.at && task.loops >= 0 => match only.loops {
            ..=0 => -1,
            loops => loops,
        },
        _ => task.loops,
    }
}

/// The kinds of events of a task, each once, in order.
fn event_names(task: &Task) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for event in task.phases.iter().flat_map(|phase| &phase.events) {
        // Equal keys are numbered in rt-app files: `run1`, `run2`.
        let name = event
            .key
            .trim_end_matches(|c: char| c.is_ascii_digit())
            .to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The answer as JSON. Its keys stay.
fn answer(args: &WorkloadCheckArgs, found: &Found) -> Value {
    let task = |task: &Task| {
        json!({
            "name": task.name,
            "threads": task.instance,
            "phases": task.phases.len(),
            "loops": loops(task),
            "events": event_names(task),
        })
    };
    let tasks = found
        .outcome
        .structure
        .as_ref()
        .map_or(&[][..], |s| s.tasks.as_slice());
    json!({
        "schema_version": wakeplace_report::SCHEMA_VERSION,
        "file": args.file,
        "cpus": args.cpus,
        "accepted": found.outcome.exit_code == 0,
        "exit_code": found.outcome.exit_code,
        "message": found.outcome.message,
        "warnings": found.outcome.warnings,
        "tasks": tasks.iter().map(task).collect::<Vec<_>>(),
        "chains": found.chains.iter().map(workload_recording::chain_json).collect::<Vec<_>>(),
        "unmodelled": found.unmodelled,
        "unusable": found.unusable,
    })
}

#[cfg(test)]
mod tests {
    use super::pages;
    use crate::page::Form;
    use wakeplace_report::Style;
    use wakeplace_workload::Spec;

    /// Goal: the models' pages fit a terminal, headings and all.
    #[test]
    fn the_list_fits_a_terminal() {
        let style = Style {
            color: false,
            width: 80,
        };
        let models: Vec<_> = Spec::catalogue().collect();
        let files: Vec<_> = wakeplace_study::workload_files().collect();
        let text = pages(Form::Human(style), &models, &files);
        let wide = text.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{text}");
    }
}

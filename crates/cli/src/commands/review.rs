//! `review`: a change beside its base on the loads of a battery (docs/guide/review.md).
//!
//! What must stay: bytes of a result depend on the arguments and not on `--jobs` or on what is
//! exported beside; places are opened, and claims are checked, before the first run. Exit code 1 if
//! a claim or a condition does not hold. What is written for people may change. Tests by part:
//! crates/cli/tests/all/review.rs::`wrong_reviews_are_refused` (`sides`, `differ`),
//! review.rs::`a_review_says_what_got_worse_first` (`walled`, `conditions`, `partings`),
//! review.rs::`a_mail_has_72_columns` (`which_battery`, `board`),
//! review.rs::`a_review_is_a_gate` (`checked`), review.rs::`a_battery_is_listed` (`list`,
//! `announce`),
//! review.rs::`a_board_of_a_file_says_what_it_assumes` (`assumed`),
//! review.rs::`claims_are_judged` (`verdict`), review.rs::`traces_of_the_largest_changes`
//! (`trace`), review.rs::`schedulers_are_reviewed` (`told`).
//!
//! Tests: crates/cli/tests/all/review.rs

use super::battery::{self, Tried};
use super::simulate::{follow, inputs, jobs, judge, say};
use crate::args::{FormatName, ReviewArgs, Verbosity};
use crate::commands::schedulers::Asked;
use crate::expect::{self, Checked};
use crate::export::A_FOLDER;
use crate::failure::{Failure, Outcome, Verdict};
use crate::html::HtmlExport;
use crate::junit::JunitExport;
use crate::output::{A_FILE, Output};
use crate::places;
use crate::repeat;
use crate::terminal::Terminal;
use crate::text::{plain, style};
use crate::wall;
use std::path::{Path, PathBuf};
use wakeplace_metrics::Expectation;
use wakeplace_outcome::{Holds, PartedSide, PartedWakeup, Parting, Review};
use wakeplace_platform::{Platform, Standing};
use wakeplace_report::{
    Reviewed, beside, by_cluster, largest, review_csv, review_json, review_mail, review_text,
};
use wakeplace_study::{
    About, Battery, BatteryCell, Claims, Command, Comparison, Experiment, Input, Matrix,
    PolicyRuns, Question, Request, differing, sides, trace_meter,
};
use wakeplace_text::{count, printable, shell_word, time};
use wakeplace_trace::Traces;

/// Of so many of the largest changes the first wake-up that went differently is looked for.
const PARTINGS: usize = 3;
/// Names of the two sides in files and sentences.
const SIDES: [&str; 2] = ["base", "change"];

/// Runs the battery and says what got worse, and what better.
pub(crate) fn review(args: &ReviewArgs, terminal: Terminal) -> Outcome {
    let ask = &args.ask.0;
    if args.list {
        let battery = Battery::load(&args.battery).map_err(Failure::input)?;
        return battery::list(&battery, &args.output, terminal);
    }
    let policies = sides(args)?;
    let claims = args.claim.as_deref().map(claims).transpose()?;
    let with = (&args.schedulers, args.kernel_config.as_deref());
    let battery = Battery::load(&args.battery).map_err(Failure::input)?;
    let request = Battery::request(ask, Command::Review).map_err(Failure::input)?;
    let request = Request {
        policies,
        ..request
    };
    let tried = Tried::of(battery, request, with, terminal)?;
    let written = written(args);
    let read = [
        ("--claim", args.claim.as_deref().and_then(Path::to_str)),
        ("--battery", Some(args.battery.as_str())),
    ];
    let read = read
        .iter()
        .filter_map(|(name, path)| Some((*name, (*path)?)));
    let places: Vec<_> = written
        .iter()
        .map(|(name, path)| (*name, Some(path.as_path())))
        .collect();
    places::apart(inputs(ask).into_iter().chain(read), &places)?;
    if let Some(folder) = &args.export_perfetto {
        std::fs::create_dir_all(folder).map_err(|error| {
            let folder = folder.display();
            Failure::Input(format!(
                "--export-perfetto {folder}: {error}; expected {A_FOLDER}"
            ))
        })?;
    }
    let outputs = written.into_iter().map(|(_, path)| path).collect();
    let jobs = jobs(args.how.jobs);
    wall::behind(&args.schedulers, jobs, outputs, terminal, |foreign| {
        walled(args, &tried, claims.as_ref(), (foreign, jobs), terminal)
    })
}

/// The policies, the base first; with the schedulers they are two.
fn sides(args: &ReviewArgs) -> Result<Vec<String>, Failure> {
    let named = [&args.base, &args.change].into_iter().flatten().cloned();
    let policies: Vec<String> = named.collect();
    let all = policies.len() + args.schedulers.scheduler.len();
    if all != 2 || (args.base.is_none() && args.change.is_some()) {
        return Err(Failure::Input(format!(
            "{all} given by --base, --change and --scheduler; expected two: a base and a change \
             (one --scheduler beside --base is the change)"
        )));
    }
    match sides::of_names(&policies) {
        Some(name) => Err(same(name)),
        None => Ok(policies),
    }
}

/// The refusal of a change that changes nothing.
fn same(base: &str) -> Failure {
    Failure::Input(format!(
        "the base and the change are the same, `{base}`; expected two that differ"
    ))
}

/// Reads the file of claims.
fn claims(path: &Path) -> Result<Claims, Failure> {
    Claims::from_file(&path.to_string_lossy()).map_err(Failure::input)
}

/// What is written, by option.
fn written(args: &ReviewArgs) -> Vec<(&'static str, PathBuf)> {
    let places = [
        ("--output", &args.output.output),
        ("--mail", &args.mail),
        ("--html", &args.html),
        ("--export-junit", &args.gates.export_junit),
    ];
    let places = places.into_iter();
    let own = places.filter_map(|(name, path)| Some((name, path.clone()?)));
    let folder = args.export_perfetto.iter();
    let traces = folder.flat_map(|folder| {
        let numbers = 1..=PARTINGS;
        numbers
            .flat_map(|number| SIDES.map(|side| ("--export-perfetto", trace(folder, number, side))))
    });
    own.chain(traces).collect()
}

/// Where the trace of one side of a large change goes.
fn trace(folder: &Path, number: usize, side: &str) -> PathBuf {
    folder.join(format!("{number}-{side}.pftrace"))
}

/// The command, where schedulers may run.
fn walled(
    args: &ReviewArgs,
    tried: &Tried,
    claims: Option<&Claims>,
    (foreign, jobs): (Option<&Asked>, usize),
    terminal: Terminal,
) -> Outcome {
    let output = Output::prepare(args.output.output.as_deref())?;
    let mail = Output::beside("--mail", args.mail.as_deref())?;
    let page = HtmlExport::prepare(args.html.as_deref())?;
    let junit = JunitExport::prepare(args.gates.export_junit.as_deref())?;
    let cells = tried.cells(foreign, &args.schedulers, terminal)?;
    differ(&cells[0].experiment)?;
    let loads: Vec<String> = cells.iter().map(|cell| cell.load.clone()).collect();
    if let Some(claims) = claims {
        let place = |cell: &BatteryCell| (cell.experiment.platform.name.clone(), cell.load.clone());
        let places: Vec<_> = cells.iter().map(place).collect();
        claims.check(&places).map_err(Failure::input)?;
    }
    let platforms = cells.iter().map(|cell| &cell.experiment.platform);
    let names = cells[0].experiment.names();
    let expectations = expect::parse(&args.gates.expect, &names, platforms)?;
    let matrix = Matrix::of_cells(&cells, tried.request.margin_pct);
    announce(tried, &cells, terminal);
    let mut comparisons = follow(terminal, |progress| matrix.run(jobs, progress))?;
    let checked = checked(&mut comparisons, &loads, &expectations, args.gates.strict);
    let judged = claims.map(|claims| claims.judge(&loads, &comparisons));
    let judged = judged.transpose().map_err(Failure::input)?;
    let mut review = Reviewed {
        battery: &tried.battery.name,
        title: &tried.title(),
        loads: &loads,
        comparisons: &comparisons,
        conditions: conditions(&tried.battery, &cells, &comparisons),
        origin: repeat::origin(),
    }
    .review();
    let cut = tried.battery.cut(&tried.request, &cells, &comparisons);
    review.warnings.extend(cut);
    review.claims = judged.unwrap_or_default();
    review.partings = partings(&review, &cells, args, terminal)?;
    if let Some(mail) = mail {
        mail.write(&review_mail(&review), terminal)?;
    }
    if let Some(page) = page {
        page.write(&review_json(&review), terminal)?;
    }
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    let text = match args.output.format {
        FormatName::Human => review_text(&review, look),
        FormatName::Json => review_json(&review),
        FormatName::Csv => review_csv(&review),
        FormatName::Md => review_mail(&review),
    };
    let missed = review.claims.iter().any(|claim| claim.holds == Holds::No);
    let mut verdict = if missed { Verdict::Unmet } else { Verdict::Ok };
    let mut remarks = String::new();
    let junit = junit.as_ref();
    judge(&checked, junit, (&mut remarks, &mut verdict), terminal)?;
    say((&text, &remarks), args.output.format, &output, terminal)?;
    Ok(verdict)
}

/// Says which battery is run, since that takes minutes.
fn announce(tried: &Tried, cells: &[BatteryCell], terminal: Terminal) {
    if terminal.verbosity() == Verbosity::Quiet {
        return;
    }
    let runs = cells
        .iter()
        .map(|cell| cell.experiment.seeds.len() * SIDES.len());
    let line = format!(
        "battery {} (`--battery`, `--list`): {} of board and load, {}",
        tried.battery.name,
        count(cells.len(), "pair"),
        count(runs.sum(), "run"),
    );
    terminal.eprint(&(printable(&line).into_owned() + "\n"));
}

/// What became of the conditions on each board and load. One on what nothing measured is judged
/// everywhere, and fails; else it is judged where its metric was measured.
fn checked(
    comparisons: &mut [Comparison],
    loads: &[String],
    expectations: &[Expectation],
    strict: bool,
) -> Vec<(String, Checked)> {
    if expectations.is_empty() {
        return Vec::new();
    }
    let has = |of: &Comparison, metric: &str| {
        let mut runs = of.runs.iter().flat_map(|runs| &runs.metrics);
        runs.any(|run| run.values.get(metric).is_some())
    };
    let nowhere = |one: &&Expectation| !comparisons.iter().any(|of| has(of, &one.metric));
    let nowhere: Vec<String> = { expectations.iter().filter(nowhere) }
        .map(|one| one.metric.clone())
        .collect();
    let is_about =
        |one: &Expectation, of: &Comparison| nowhere.contains(&one.metric) || has(of, &one.metric);
    let all = expect::judge_where(comparisons, expectations, is_about, strict);
    let places = comparisons.iter().zip(loads);
    let named = all
        .into_iter()
        .zip(places)
        .map(|((_, checked), (of, load))| {
            let name = format!("{}, {load}", of.platform);
            (name, checked)
        });
    let named = named.filter(|(_, checked)| !checked.cases().is_empty());
    named.collect()
}

/// The two sides do not ask for the same under different names.
fn differ(experiment: &Experiment) -> Result<(), Failure> {
    match sides::of_experiment(experiment) {
        Some(name) => Err(same(name)),
        None => Ok(()),
    }
}

/// What the figures hold for: kernels, program, machines, loads, seeds.
fn conditions(battery: &Battery, cells: &[BatteryCell], comparisons: &[Comparison]) -> Vec<String> {
    let mut all = vec![format!(
        "Simulated by wakeplace {} (commit {}), not measured on hardware.",
        env!("CARGO_PKG_VERSION"),
        env!("WAKEPLACE_COMMIT"),
    )];
    let first = comparisons.first().map_or(&[][..], |one| &one.runs);
    all.extend(
        SIDES
            .into_iter()
            .zip(first)
            .map(|(side, runs)| format!("{side}: {}", who(runs))),
    );
    all.push(which_battery(battery, cells));
    let mut boards: Vec<String> = Vec::new();
    for (cell, comparison) in cells.iter().zip(comparisons) {
        let board = board(&cell.experiment.platform, comparison.modelled_power);
        if !boards.contains(&board) {
            boards.push(board);
        }
    }
    all.push(format!("Boards, as modelled: {}.", boards.join("; ")));
    all.extend(assumed(cells));
    let mut loads: Vec<&str> = Vec::new();
    for cell in cells.iter().filter(|cell| !cell.load.is_empty()) {
        if loads.contains(&cell.load.as_str()) {
            continue;
        }
        loads.push(&cell.load);
        let of = &cell.experiment;
        let jitter = cell.request.jitter;
        let jitter = jitter.map_or_else(String::new, |jitter| format!(", jitter {jitter}"));
        let deadlines = cell.request.deadlines.as_ref();
        let deadlines = deadlines.map(|of| format!(", deadlines {}", of.file()));
        let deadlines = deadlines.unwrap_or_default();
        let hints = cell
            .request
            .set
            .iter()
            .filter(|(key, _)| key.starts_with("task."));
        let hints: String = hints
            .map(|(key, value)| format!(", {key}={value}"))
            .collect();
        all.push(format!(
            "{}: {}, {}{jitter}{deadlines}{hints}, as on {}",
            cell.load,
            of.workload.name,
            time(of.options.duration_ns),
            of.platform.name
        ));
    }
    let seeds = cells.first().map_or(0, |cell| cell.experiment.seeds.len());
    all.push(match seeds {
        1 => "One seed: nothing is told from chance.".to_owned(),
        _ => format!(
            "{seeds} seeds, the same for both; changes are taken seed by seed, with 95 % intervals."
        ),
    });
    all
}

/// Which battery was run; of one's own its hash, loads and boards, so that others can tell whether
/// theirs is the same.
fn which_battery(battery: &Battery, cells: &[BatteryCell]) -> String {
    let Some(hash) = &battery.sha256 else {
        return format!(
            "Battery {}, built in (wakeplace review --list).",
            battery.name
        );
    };
    let named = |of: fn(&BatteryCell) -> &str| {
        let mut names: Vec<&str> = Vec::new();
        for name in cells.iter().map(of) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    };
    format!(
        "Battery {} (sha256 {hash}): loads {} on {}.",
        battery.name,
        named(|cell| &cell.load),
        named(|cell| &cell.experiment.platform.name)
    )
}

/// A board with the groups of its figures of which nobody published some, as `platform show` has
/// them; those of files have a sentence of their own (`assumed`).
fn board(platform: &Platform, modelled_power: bool) -> String {
    let groups = match platform.assumed_by_file() {
        Some(_) => Vec::new(),
        None => platform.groups_known(Standing::Assumed),
    };
    let power = match modelled_power {
        true => ", power modelled",
        false => "",
    };
    match groups.is_empty() {
        true => format!("{}{power}", platform.name),
        false => format!("{}{power} (assumed: {})", platform.name, groups.join(", ")),
    }
}

/// What the boards of files assume, a sentence each.
fn assumed(cells: &[BatteryCell]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for cell in cells {
        let said = cell.experiment.platform.assumed_by_file();
        all.extend(said.filter(|said| !all.contains(said)));
    }
    all
}

/// One side with what tells which kernel or scheduler it was.
fn who(runs: &PolicyRuns) -> String {
    let is_fact = |key: &str| key.starts_with("kernel") || key.starts_with("scheduler");
    let facts = runs.settings.iter().filter(|(key, _)| is_fact(key));
    let facts: Vec<String> = facts.map(|(key, value)| format!("{key} {value}")).collect();
    match facts.is_empty() {
        true => runs.policy.clone(),
        false => format!("{} ({})", runs.policy, facts.join(", ")),
    }
}

/// Where the runs of the largest changes part, and their traces.
fn partings(
    review: &Review,
    cells: &[BatteryCell],
    args: &ReviewArgs,
    terminal: Terminal,
) -> Result<Vec<Parting>, Failure> {
    let mut all = Vec::new();
    for (at, row) in largest(review, PARTINGS).into_iter().enumerate() {
        let is_it = |cell: &&BatteryCell| {
            cell.load == row.load && cell.experiment.platform.name == row.platform
        };
        let Some(cell) = cells.iter().find(is_it) else {
            continue;
        };
        let parted = cell.experiment.parting().map_err(Failure::input)?;
        let wakeup = parted.map(|parted| told(cell, &parted, args)).transpose()?;
        all.push(Parting {
            platform: row.platform.clone(),
            load: row.load.clone(),
            metric: row.metric.clone(),
            delta_pct: row.delta_pct,
            beside: beside(review, row),
            energy: by_cluster(review, row),
            seed: cell.experiment.seeds[0],
            wakeup,
        });
        if let Some(folder) = &args.export_perfetto {
            for (side, name) in SIDES.into_iter().enumerate() {
                let path = trace(folder, at + 1, name);
                recorded(
                    &cell.experiment.alone(side, cell.experiment.seeds[0]),
                    &path,
                )?;
                terminal.detail(&format!("trace in {}", path.display()));
            }
        }
    }
    Ok(all)
}

/// Runs one side once more, with a trace.
fn recorded(experiment: &Experiment, path: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::writing("--export-perfetto", &error, A_FILE);
    let workload = experiment.first_workload().map_err(Failure::input)?;
    let platform = &experiment.platform;
    let mut traces = Traces::new(platform, &workload, trace_meter(platform));
    traces.perfetto(path, platform, &workload).map_err(failed)?;
    let ran = experiment.run_watched(&mut traces, &|_| {});
    ran.map_err(Failure::input)?;
    traces.publish().map_err(failed)
}

/// A wake-up that went differently, explained on both sides.
fn told(
    cell: &BatteryCell,
    parted: &wakeplace_study::Parted,
    args: &ReviewArgs,
) -> Result<PartedWakeup, Failure> {
    let task = &parted.task;
    let side = |side: usize| -> Result<(PartedSide, Vec<Input>), Failure> {
        let own = cell.experiment.alone(side, cell.experiment.seeds[0]);
        let is_scheduler = !own.schedulers.is_empty();
        // A tree's own name is not the one that it is asked for by.
        let typed = cell.request.policies.get(side).filter(|_| !is_scheduler);
        let name = typed.cloned().unwrap_or_else(|| own.names().swap_remove(0));
        let other = parted.cpu[1 - side];
        let era = own.policies.first().and_then(|policy| policy.tree());
        let mut request = cell.request.clone();
        request.policies = match is_scheduler {
            true => Vec::new(),
            false => vec![name.clone()],
        };
        request.seeds.clone_from(&own.seeds);
        let about = About {
            task: Some(task.clone()),
            wakeup: Some(parted.number),
            why_not: (!is_scheduler).then_some(other),
            compare_policy: match (is_scheduler, era) {
                (true, _) => Vec::new(),
                (false, Some(tree)) => vec![tree.era().to_owned()],
                (false, None) => counterpart(&cell.experiment, side),
            },
            ..About::default()
        };
        let command = command(&own, (&name, is_scheduler), &about, (&cell.request, args));
        let question = Question { request, about };
        let (explained, inputs) = super::explain::for_people(&question, own, &parted.cpu, plain())?;
        let told = PartedSide {
            time_ns: parted.time_ns[side],
            cpu: parted.cpu[side],
            command,
            explained,
        };
        Ok((told, inputs))
    };
    let ((base, found), (change, other)) = (side(0)?, side(1)?);
    Ok(PartedWakeup {
        base,
        change,
        number: parted.number,
        task: task.clone(),
        differs: differing(&found, &other),
    })
}

/// The other side, if the core can be asked what it would have done; else the policy itself.
fn counterpart(experiment: &Experiment, side: usize) -> Vec<String> {
    let of = |at: usize| experiment.policies.get(at);
    let core = of(1 - side).filter(|policy| policy.tree().is_none());
    let policy = core.or_else(|| of(side));
    policy
        .map(|policy| policy.name().to_owned())
        .into_iter()
        .collect()
}

/// The command that explains the wake-up once more.
fn command(
    run: &Experiment,
    (name, is_scheduler): (&str, bool),
    about: &About,
    (asked, args): (&Request, &ReviewArgs),
) -> String {
    let ms = run.options.duration_ns / 1_000_000;
    let length = match run.options.duration_ns % 1_000_000 {
        0 => format!("{ms}ms"),
        _ => format!("{}ns", run.options.duration_ns),
    };
    let option = if is_scheduler {
        "--scheduler"
    } else {
        "--policy"
    };
    let mut words = vec![
        "wakeplace explain --platform".to_owned(),
        shell_word(&run.platform.name),
        "--workload".to_owned(),
        shell_word(&run.workload.name),
        option.to_owned(),
        shell_word(name),
    ];
    for (key, value) in &asked.set {
        words.extend(["--set".to_owned(), shell_word(&format!("{key}={value}"))]);
    }
    words.extend(asked.jitter.map(|jitter| format!("--jitter {jitter}")));
    words.extend([
        format!("--duration {length}"),
        format!("--seed {}", run.seeds[0]),
    ]);
    if let Some(task) = &about.task {
        words.extend(["--task".to_owned(), shell_word(task)]);
    }
    words.extend(about.wakeup.map(|number| format!("--wakeup {number}")));
    words.extend(about.why_not.map(|cpu| format!("--why-not {cpu}")));
    let with = |option: &str, value: Option<&str>| {
        value.map(|value| format!("{option} {}", shell_word(value)))
    };
    let config = args.kernel_config.as_deref().and_then(Path::to_str);
    words.extend(with("--kernel-config", config.filter(|_| !is_scheduler)));
    words.extend(with(
        "--kernel",
        args.schedulers.kernel.as_deref().filter(|_| is_scheduler),
    ));
    words.extend((is_scheduler && args.schedulers.interpret).then(|| "--interpret".to_owned()));
    for policy in &about.compare_policy {
        words.extend(["--compare-policy".to_owned(), shell_word(policy)]);
    }
    words.join(" ")
}

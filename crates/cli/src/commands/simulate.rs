//! `compare` and `sim` (docs/guide/results.md). Places for results are opened before the first run;
//! a mistake leaves old files as they were.
//!
//! What must stay: bytes of results depend on the arguments and not on `--jobs`, on progress, or on
//! what is exported beside. A result is written even if an expectation fails; of a run that got
//! stuck nothing is judged. Order of comparisons: platforms, then workloads. Warnings are a part of
//! the JSON. Free: remarks on standard error. Tests by part:
//! crates/cli/tests/all/results.rs::`compare_and_sim_follow_the_contract` (`compare`, `sim`),
//! results.rs::`the_same_command_gives_the_same_bytes` (`walled`, `jobs`),
//! results.rs::`determinism_is_verified` (`identical`),
//! results.rs::`a_task_that_never_lets_time_pass_is_named` (`report`),
//! results.rs::`expectations_decide_the_exit_code` (`judge`, `say`),
//! crates/cli/tests/all/output.rs::`an_unwritable_place_is_found_before_anything_runs` (`Outputs`),
//! crates/cli/tests/all/compared.rs::`several_machines_and_loads_are_a_matrix` (`matrix`),
//! compared.rs::`what_is_of_one_load_names_it` (`warnings`),
//! crates/cli/tests/all/traces.rs::`several_seeds_are_refused` (`simulate`),
//! crates/cli/tests/all/kernel_runs.rs::`commands_that_cannot_have_one_say_so` (a tree beside a
//! scheduler), crates/cli/tests/all/gates.rs::`several_boards_are_one_table` (`judge` of several).
//!
//! Tests: crates/cli/tests/all/results.rs,
//! crates/cli/tests/all/output.rs::an_unwritable_place_is_found_before_anything_runs,
//! crates/cli/tests/all/compared.rs, crates/cli/tests/all/traces.rs,
//! crates/cli/tests/all/kernel_runs.rs::commands_that_cannot_have_one_say_so

mod watched;

use super::schedulers;
use super::sweep::check_metrics;
use crate::args::{CompareArgs, FormatName, RunArgs, SimArgs, Verbosity};
use crate::expect::{self, Checked};
use crate::export::Asked;
use crate::failure::{Failure, Outcome, Verdict};
use crate::gate;
use crate::html::HtmlExport;
use crate::interrupt;
use crate::junit::JunitExport;
use crate::output::Output;
use crate::places;
use crate::progress::Follower;
use crate::repeat;
use crate::runs_export::RunsExport;
use crate::terminal::Terminal;
use crate::text::{self, format, plain, style};
use crate::trees;
use crate::wakeup_cases::Export;
use crate::wall;
use std::path::Path;
use wakeplace_policy_sys::{Policy, TREE_PREFIX};
use wakeplace_report::Format;
use wakeplace_study::{Ask, Command, Comparison, Experiment, Matrix, PolicyRuns};
use wakeplace_text::{count, printable};
use watched::{Watched, dumped, logged, of_one_run, watch};

/// Two policies or more, the first being the base.
pub(crate) fn compare(args: &CompareArgs, terminal: Terminal) -> Outcome {
    let ask = &args.ask.0;
    let checked = ask.check(Command::Compare, args.run.schedulers.scheduler.len());
    if let Err(error) = checked {
        // A list, as any other wrong name, is told first. A tree would have to be built for that.
        let trees = ask
            .texts("policy")
            .iter()
            .any(|name| name.starts_with(TREE_PREFIX));
        if !trees {
            matrix(ask, &args.run, Command::Compare)?;
        }
        return Err(Failure::input(error));
    }
    simulate(
        (ask, &args.run),
        Command::Compare,
        Watched::Plain,
        None,
        terminal,
    )
}

/// One policy.
pub(crate) fn sim(args: SimArgs, terminal: Terminal) -> Outcome {
    let ask = &args.ask.0;
    let schedulers = args.run.schedulers.scheduler.len();
    ask.check(Command::Sim, schedulers)
        .map_err(Failure::input)?;
    let asked = Asked::of(&args);
    let watched = match (&args.rtapp_log, &args.dump_state) {
        (Some(folder), _) => Watched::Logs(folder),
        (None, Some(times)) => Watched::States(&times.0),
        (None, None) => Watched::Plain,
    };
    simulate((ask, &args.run), Command::Sim, watched, asked, terminal)
}

/// What a run reads, by option.
pub(super) fn inputs(ask: &Ask) -> Vec<(&'static str, &str)> {
    let platforms = ask
        .texts("platform")
        .into_iter()
        .map(|name| ("--platform", name));
    let workloads = ask
        .texts("workload")
        .into_iter()
        .map(|name| ("--workload", name));
    platforms.chain(workloads).collect()
}

/// The values of an argument.
pub(super) fn texts(ask: &Ask, name: &str) -> Vec<String> {
    ask.texts(name).into_iter().map(str::to_owned).collect()
}

/// From the ask to runs; with schedulers of others behind the wall.
fn simulate(
    (ask, args): (&Ask, &RunArgs),
    command: Command,
    watched: Watched<'_>,
    asked: Option<Asked<'_>>,
    terminal: Terminal,
) -> Outcome {
    let policies = texts(ask, "policy");
    let trees = policies.iter().find(|name| name.starts_with(TREE_PREFIX));
    if let Some(tree) = trees.filter(|_| !args.schedulers.scheduler.is_empty()) {
        return Err(Failure::Input(format!(
            "--scheduler runs on the modelled kernel, not on a tree's own; expected no `--policy \
             {tree}` beside it, or two commands"
        )));
    }
    let config = args.kernel_config.as_deref();
    let platforms = texts(ask, "platform");
    trees::provide(
        &policies,
        &platforms,
        trees::coherent(ask),
        config,
        terminal,
    )?;
    let matrix = matrix(ask, args, command)?;
    of_one_run(seeds_of(&matrix), &watched, asked.as_ref())?;
    check_metrics(&args.metric)?;
    let written = written(args, &watched, asked.as_ref());
    let outputs = written
        .iter()
        .filter_map(|(_, path)| path.map(Path::to_owned));
    let jobs = jobs(args.how.jobs);
    let (of, outputs) = (&args.schedulers, outputs.collect());
    wall::behind(of, jobs, outputs, terminal, |schedulers| {
        walled(
            (ask, args),
            matrix,
            watched,
            asked,
            (schedulers, jobs),
            terminal,
        )
    })
}

/// What is written, by option.
fn written<'a>(
    args: &'a RunArgs,
    watched: &Watched<'a>,
    asked: Option<&Asked<'a>>,
) -> Vec<(&'static str, Option<&'a Path>)> {
    let mut written = vec![
        ("--output", args.output.output.as_deref()),
        ("--export-wakeup-cases", args.export_wakeup_cases.as_deref()),
        ("--export-html", args.export_html.as_deref()),
        ("--export-junit", args.gates.export_junit.as_deref()),
        ("--export-runs", args.export_runs.as_deref()),
    ];
    written.extend(asked.iter().flat_map(|asked| asked.places()));
    if let Watched::Logs(folder) = watched {
        written.push(("--export-rtapp-log", Some(folder)));
    }
    written
}

/// The command, where schedulers may run.
fn walled(
    (ask, args): (&Ask, &RunArgs),
    mut matrix: Matrix,
    watched: Watched<'_>,
    asked: Option<Asked<'_>>,
    (foreign, jobs): (Option<&schedulers::Asked>, usize),
    terminal: Terminal,
) -> Outcome {
    let nr_schedulers = foreign.map_or(0, |foreign| foreign.images.len());
    let runs = matrix.len() + nr_schedulers * seeds_of(&matrix);
    let written = written(args, &watched, asked.as_ref());
    let outputs = Outputs::prepare((ask, args), &matrix, runs, (asked.as_ref(), &written))?;
    schedulers::add(foreign, &args.schedulers, &mut matrix, terminal)?;
    let experiment = &matrix.experiments[0];
    let platforms = matrix.experiments.iter().map(|one| &one.platform);
    let expectations = expect::parse(&args.gates.expect, &experiment.names(), platforms)?;
    // Of several runs `--export-parquet` has one table, of all runs.
    let asked = asked.filter(|_| matrix.len() == 1);
    let mut exports = None;
    if let Some(asked) = &asked {
        asked.check()?;
        interrupt::watch()?;
        exports = Some(asked.prepare(experiment)?);
    }
    let traces = exports.as_mut().map(|exports| &mut exports.traces);
    for experiment in &matrix.experiments {
        describe(experiment, jobs, terminal);
    }
    let mut comparisons = match watched {
        Watched::Plain => match traces {
            Some(traces) => vec![watch(experiment, Some(traces), None, terminal)?],
            None => follow(terminal, |progress| matrix.run(jobs, progress))?,
        },
        Watched::Logs(folder) => vec![logged(experiment, folder, traces, terminal)?],
        Watched::States(times) => {
            let form = args.output.format;
            vec![dumped(experiment, times, form, traces, terminal)?]
        }
    };
    for comparison in &mut comparisons {
        comparison.margin_pct = matrix.margin_pct;
        comparison.shown.clone_from(&args.metric);
        comparison.origin = repeat::origin();
    }
    if let Some(exports) = exports {
        exports.publish(&comparisons[0], terminal)?;
    }
    let checked = expect::judge(&mut comparisons, &expectations, args.gates.strict);
    let (output, junit) = outputs.write(&comparisons, terminal)?;
    let mut difference = None;
    for experiment in matrix
        .experiments
        .iter()
        .filter(|_| args.verify_determinism)
    {
        let found = follow(terminal, |progress| {
            experiment.verify_determinism(jobs, progress)
        })?;
        difference = difference.or(found);
    }
    let verified = args.verify_determinism.then_some(difference);
    report(
        args,
        &comparisons,
        &checked,
        verified,
        (&output, junit.as_ref()),
        terminal,
    )
}

/// Where the result goes, and all that is written beside it: found to be writable before anything
/// is simulated.
struct Outputs {
    output: Output,
    cases: Option<Export>,
    rows: Option<RunsExport>,
    folder: Option<RunsExport>,
    page: Option<HtmlExport>,
    junit: Option<JunitExport>,
}

impl Outputs {
    /// Opens every place that results go to, so that a mistake is found before anything runs.
    fn prepare(
        (ask, args): (&Ask, &RunArgs),
        matrix: &Matrix,
        runs: usize,
        (asked, written): (Option<&Asked<'_>>, &[(&str, Option<&Path>)]),
    ) -> Result<Self, Failure> {
        if args.export_wakeup_cases.is_some() && matrix.experiments.len() > 1 {
            return Err(Failure::input(
                "`--export-wakeup-cases` is a table of one platform and one workload; expected \
                 one --platform and one --workload",
            ));
        }
        places::apart(inputs(ask), written)?;
        let output = Output::prepare(args.output.output.as_deref())?;
        let cases = args.export_wakeup_cases.as_deref();
        let cases = cases.map(|path| Export::prepare(path, &matrix.experiments[0].platform));
        let rows = args.export_runs.as_deref().map(RunsExport::prepare);
        let folder = asked.filter(|_| runs > 1);
        let folder = folder.and_then(|asked| asked.parquet);
        Ok(Self {
            output,
            cases: cases.transpose()?,
            rows: rows.transpose()?,
            folder: folder.map(RunsExport::folder).transpose()?,
            page: HtmlExport::prepare(args.export_html.as_deref())?,
            junit: JunitExport::prepare(args.gates.export_junit.as_deref())?,
        })
    }

    /// Writes what stands beside the result; the places of the result and of its checks are left.
    fn write(
        self,
        comparisons: &[Comparison],
        terminal: Terminal,
    ) -> Result<(Output, Option<JunitExport>), Failure> {
        if let Some(page) = &self.page {
            let json = wakeplace_report::comparisons(comparisons, Format::Json, plain());
            page.write(&json, terminal)?;
        }
        if let Some(cases) = &self.cases {
            cases.write(&comparisons[0], terminal)?;
        }
        for export in [self.rows, self.folder].into_iter().flatten() {
            let records = comparisons.iter().flat_map(Comparison::records);
            export.publish(&records.collect::<Vec<_>>(), terminal)?;
        }
        Ok((self.output, self.junit))
    }
}

/// Seeds of all experiments.
fn seeds_of(matrix: &Matrix) -> usize {
    let experiments = matrix.experiments.iter();
    experiments.map(|experiment| experiment.seeds.len()).sum()
}

/// Everything read and checked: nothing of it can fail later.
fn matrix(ask: &Ask, args: &RunArgs, command: Command) -> Result<Matrix, Failure> {
    let mut request = ask.request(command).map_err(Failure::input)?;
    request.options.wakeup_cases = args.export_wakeup_cases.is_some();
    request.resolve().map_err(Failure::input)
}

/// Threads to use.
pub(crate) fn jobs(asked: Option<usize>) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(all)
}

/// For `-v`: what is going to be run.
fn describe(experiment: &Experiment, jobs: usize, terminal: Terminal) {
    let Experiment {
        platform,
        workload,
        policies,
        options,
        seeds,
        ..
    } = experiment;
    let names: Vec<_> = policies.iter().map(Policy::name).collect();
    terminal.detail(&format!(
        "platform {} ({}), workload {}, {} for {} each\n\
         policies: {}\nseeds: {:?}, threads: {}",
        printable(&platform.name),
        count(platform.cpus.len(), "CPU"),
        printable(&workload.name),
        count(policies.len() * seeds.len(), "run"),
        text::time(options.duration_ns),
        names.join(", "),
        seeds,
        jobs,
    ));
}

/// Runs something under a progress bar.
pub(crate) fn follow<T, E: std::fmt::Display>(
    terminal: Terminal,
    run: impl FnOnce(&(dyn Fn(wakeplace_study::Progress) + Sync)) -> Result<T, E>,
) -> Result<T, Failure> {
    let follower = Follower::start(terminal);
    let result = run(&|progress| follower.report(&progress));
    follower.finish();
    result.map_err(Failure::input)
}

/// Writes the result, then what was checked on it.
fn report(
    args: &RunArgs,
    comparisons: &[Comparison],
    checked: &[(String, Checked)],
    verified: Option<Option<String>>,
    (output, junit): (&Output, Option<&JunitExport>),
    terminal: Terminal,
) -> Outcome {
    let look = if output.is_stdout() {
        style(terminal)
    } else {
        plain()
    };
    let result = wakeplace_report::comparisons(comparisons, format(args.output.format), look);
    let all_runs = || comparisons.iter().flat_map(|comparison| &comparison.runs);
    let stuck = all_runs().any(PolicyRuns::is_stuck);
    let mut remarks = String::new();
    let mut verdict = Verdict::Ok;
    judge(checked, junit, (&mut remarks, &mut verdict), terminal)?;
    match &verified {
        None => {}
        Some(None) => remarks.push_str(&format!("\n{}\n", identical(comparisons))),
        Some(Some(difference)) => {
            verdict = Verdict::Unmet;
            remarks.push_str(&format!("\nNOT identical, two runs differ: {difference}\n"));
        }
    }
    if stuck {
        // A warning names the tasks, if there are warnings.
        verdict = Verdict::Unmet;
        let cause = match terminal.verbosity() {
            Verbosity::Quiet => comparisons
                .iter()
                .find_map(|of| Some(of.stuck.first()?.why.as_str())),
            _ => None,
        };
        let cause = match cause {
            Some(why) => format!(": {}", printable(why)),
            None => " (see the warning).".to_owned(),
        };
        remarks.push_str(&format!(
            "\nNOT complete: a run got stuck, nothing is judged{cause}\n"
        ));
    }
    say((&result, &remarks), args.output.format, output, terminal)?;
    if matches!(args.output.format, FormatName::Human | FormatName::Csv) {
        // The other forms carry them.
        warnings(comparisons)
            .iter()
            .for_each(|warning| terminal.warn(warning));
    }
    Ok(verdict)
}

/// Says what the checks found, and writes the file of them.
pub(super) fn judge(
    checked: &[(String, Checked)],
    junit: Option<&JunitExport>,
    (remarks, verdict): (&mut String, &mut Verdict),
    terminal: Terminal,
) -> Result<(), Failure> {
    match checked {
        [(_, one)] => remarks.push_str(&one.text(style(terminal))),
        several if several.iter().any(|(_, one)| one.is_shown()) => {
            remarks.push_str(&gate::text(several, "of", style(terminal)));
        }
        _ => {}
    }
    if gate::verdict(checked) == Verdict::Unmet {
        *verdict = Verdict::Unmet;
    }
    junit.map_or(Ok(()), |junit| junit.write(checked, terminal))
}

/// The result with its remarks, or the remarks beside it.
pub(super) fn say(
    (result, remarks): (&str, &str),
    form: FormatName,
    output: &Output,
    terminal: Terminal,
) -> Result<(), Failure> {
    if form == FormatName::Human && output.is_stdout() {
        return output.write(&format!("{result}{remarks}"), terminal);
    }
    output.write(result, terminal)?;
    terminal.eprint(remarks.trim_start_matches('\n'));
    Ok(())
}

/// Each warning once; one that is not of all comparisons says of which.
fn warnings(comparisons: &[Comparison]) -> Vec<String> {
    let several = |of: fn(&Comparison) -> &str| {
        let mut names = comparisons.iter().map(of);
        let first = names.next();
        names.any(|name| Some(name) != first)
    };
    let names: [fn(&Comparison) -> &str; 2] = [|c| c.platform.as_str(), |c| c.workload.as_str()];
    let place = |comparison: &Comparison| {
        let differ = names.into_iter().filter(|of| several(*of));
        let differ: Vec<&str> = differ.map(|of| of(comparison)).collect();
        differ.join(", ")
    };
    let mut all = Vec::new();
    for comparison in comparisons {
        for warning in &comparison.warnings {
            let of_all = comparisons.iter().all(|c| c.warnings.contains(warning));
            let line = match of_all {
                true => warning.clone(),
                false => format!("{}: {warning}", place(comparison)),
            };
            if !all.contains(&line) {
                all.push(line);
            }
        }
    }
    all
}

/// What two runs agreed on: events of all runs and one hash over theirs.
fn identical(comparisons: &[Comparison]) -> String {
    let all = || comparisons.iter().flat_map(|comparison| &comparison.runs);
    let reports = || all().flat_map(|runs| &runs.reports);
    let events: u64 = reports().map(|report| report.events).sum();
    let hash = reports()
        .map(|report| report.event_hash)
        .reduce(|all, one| {
            // FNV-1a's prime over whole words: order counts.
            (all ^ one.rotate_left(32)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!(
        "identical: events={events}, hash={:016x}",
        hash.unwrap_or(0)
    )
}

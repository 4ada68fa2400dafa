//! `wakeplace-fidelity`, a program of the workshop: what the simulator says beside recordings,
//! guests, real programs and published figures. `cargo xtask fidelity`, `truth`, `real-programs`
//! and `published` call it, and put its tables into pages (docs/results/fidelity.md).
//!
//! What must stay: standard output has the answer alone: xtask puts it into pages. Free: what
//! leaves the tables of pages as they are. Tests by part:
//! tests/all/recorded.rs::`the_page_says_what_the_program_says` (`compared`, `written`, `main`),
//! tests/all/programs.rs::`the_page_says_what_the_program_says` (`real_programs`),
//! tests/all/published.rs::`what_was_run_in_another_way_is_not_judged` (`published`),
//! tests/all/truth.rs::`recorded_runs_happen_again_in_the_same_source` (`provide`, `tree_names`;
//! where a tree is built). `say`, `detail`, `warn`, `steps`, `step`, `remark` have no test of their
//! own: they show what is being done.
//!
//! Tests: crates/fidelity/tests/all

mod asked;

use asked::{Form, Placement, Programs, Published, Question};
use clap::Parser as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use wakeplace_fidelity::placement::{self, Measurement, TreeNames, Truth};
use wakeplace_fidelity::{Error, Watch, programs};
use wakeplace_kernel_run::Trees;
use wakeplace_kernel_tree::{Class, Spec, TreeError};
use wakeplace_policy_sys::{TREE_PREFIX, TreeRef, provide_trees};
use wakeplace_report::{Extent, Source};

/// Tables or JSON to standard output; exit codes as `wakeplace` has them.
fn main() -> ExitCode {
    let answer = match Question::parse() {
        Question::Placement(args) => compared(&args),
        Question::Programs(args) => real_programs(&args),
        Question::Published(args) => published(&args),
    };
    let (code, text) = match answer {
        Ok(text) => match std::io::stdout().lock().write_all(text.as_bytes()) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (1, format!("standard output: {error}")),
        },
        Err(Error::NoResult(text)) => (1, text),
        Err(Error::Input(text)) => (2, text),
        Err(Error::Environment(text)) => (3, text),
    };
    say(&format!("error: {text}"));
    ExitCode::from(code)
}

/// A line on standard error; a closed pipe is nobody's failure.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Tells what is done, a line each.
struct Steps;

impl Watch for Steps {
    fn detail(&self, _: &str) {}

    fn warn(&self, what: &str) {
        say(&format!("warning: {what}"));
    }

    fn steps(&self) -> Box<dyn wakeplace_lab::Watch + '_> {
        Box::new(Self)
    }
}

impl wakeplace_lab::Watch for Steps {
    fn step(&self, what: &str) {
        say(what);
    }

    fn remark(&self, what: &str) {
        Watch::warn(self, what);
    }
}

/// Markdown, or JSON with texts made harmless.
fn written(
    form: Form,
    markdown: impl Fn() -> String,
    object: impl Fn() -> serde_json::Value,
) -> String {
    match form {
        Form::Md => markdown(),
        Form::Json => wakeplace_text::json(&format!("{:#}\n", object())).into_owned(),
    }
}

/// The placement of tasks: guests or recorded runs beside the simulator, and beside a tree.
fn compared(args: &Placement) -> Result<String, Error> {
    let measurement = match args.recorded {
        true => None,
        false => Some(Measurement::plan(args.request()?)?),
    };
    if let Some(tree) = &args.tree {
        let names = tree_names(tree)?;
        provide(&names)?;
        let truth = match &measurement {
            None => Truth::of_recorded(&names, &Steps)?,
            Some(measurement) => Truth::of_guests(measurement, &names, &Steps)?,
        };
        return Ok(written(args.form, || truth.markdown(), || truth.object()));
    }
    match measurement {
        None => {
            let compared = placement::compare()?;
            Ok(written(
                args.form,
                || compared.markdown(),
                || compared.object(),
            ))
        }
        Some(measurement) => {
            let measured = measurement.run(&Steps)?;
            Ok(written(
                args.form,
                || measured.markdown(),
                || measured.object(),
            ))
        }
    }
}

/// The tree as it is, and with energy-aware placement off by the kernel's own switch.
fn tree_names(tree: &str) -> Result<TreeNames, Error> {
    if !tree.starts_with(TREE_PREFIX) {
        return Err(Error::Input(format!(
            "--tree {}: expected a kernel, as {TREE_PREFIX}7.3.4",
            wakeplace_text::shorten(tree)
        )));
    }
    let off = Spec::with(tree, "sched_energy_aware", "0").map_err(Error::Input)?;
    Ok(TreeNames {
        energy_aware: tree.to_owned(),
        capacity_aware: off,
    })
}

/// Builds the trees, and lets their names be parsed.
fn provide(names: &TreeNames) -> Result<(), Error> {
    let failed = |error: TreeError| match error.class() {
        Class::Input => Error::Input(error.to_string()),
        Class::Environment => Error::Environment(error.to_string()),
    };
    let trees = Arc::new(Trees::of_user(None, Box::new(Steps)).map_err(failed)?);
    for name in [&names.energy_aware, &names.capacity_aware] {
        trees.find(name, &[]).map_err(failed)?;
    }
    provide_trees(move |name| {
        let tree = trees.find(name, &[]);
        tree.map(TreeRef::new).map_err(|error| error.to_string())
    });
    Ok(())
}

/// Real programs beside the models that stand for them.
fn real_programs(args: &Programs) -> Result<String, Error> {
    let measurement = programs::Measurement::plan(&args.programs)?;
    let counts = match args.recorded {
        true => measurement.recorded()?,
        false => {
            let request = programs::Request {
                kernel: args.kernel.clone(),
                repeats: args.repeats,
                timeout: Duration::from_nanos(args.timeout),
                keep: wakeplace_lab::keep_folder(args.keep.as_deref())?,
            };
            measurement.record(&request, &Steps)?
        }
    };
    if let Some(path) = &args.record {
        let text = format!("{:#}\n", counts.value()?);
        let failed = |error| Error::Input(format!("{}: {error}", path.display()));
        std::fs::write(path, text).map_err(failed)?;
    }
    let compared = measurement.compare(counts, &Steps)?;
    Ok(written(
        args.form,
        || compared.markdown(),
        || compared.object(),
    ))
}

/// All that was published beside what results of studies say.
fn published(args: &Published) -> Result<String, Error> {
    let read = |path: &std::path::PathBuf| {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Ok((name, text)),
            Err(error) => Err(Error::Input(format!(
                "{name}: {error}; expected the JSON of `study run`"
            ))),
        }
    };
    let texts: Vec<_> = args.results.iter().map(read).collect::<Result<_, _>>()?;
    let sources: Vec<Source<'_>> = texts
        .iter()
        .map(|(name, text)| Source { name, text })
        .collect();
    let extent = match args.headlines {
        true => Extent::Headlines,
        false => Extent::All,
    };
    wakeplace_report::published(&sources, extent).map_err(|error| Error::Input(error.to_string()))
}

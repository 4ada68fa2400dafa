//! The commands of `cargo xtask`: their names, what they take, and what they do (ARCHITECTURE.md,
//! "The workshop") (CONTRIBUTING.md, "Build and test").
//!
//! What must stay: names of commands, which docs, Makefile and pages' marks have. Free: how it is
//! done, and words that no test or script reads. Tests by part: `a_wrong_name_is_told_the_nearest`
//! (`find`, `help`). `generated`, `task`, `alone`, `check` have no test of their own: every command
//! goes through one of them.
//!
//! Callers: main.rs (`help`).
//!
//! Tests: below

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};

use crate::repo::Repo;
use crate::shop::{Shop, choose, usage};
use crate::{
    Finding, arrows, assets, bindings, checks, gives, glue, kernel_map, live, measure, mutants,
    params, protos, reasons, schema, site, tidy, trees, tries,
};

/// What came of a command.
pub type Outcome = Result<Vec<Finding>>;

/// One command.
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    takes: &'static str,
    /// What it does, in lines of the help.
    help: &'static str,
    /// Carries it out.
    pub run: fn(&[&str]) -> Outcome,
}

/// A list of commands: name, what it takes, what it does in lines of the help, who carries it out.
macro_rules! commands {
    (
        $(#[$about:meta])*
        $list:ident: $($name:literal, $takes:literal, $help:literal, $run:expr;)*
    ) => {
        $(#[$about])*
        const $list: &[Command] = &[$(Command {
            name: $name,
            takes: $takes,
            help: $help,
            run: $run,
        }),*];
    };
}

/// A page or file that is written from sources: `NAME` writes it, `NAME --check` compares it.
fn generated(
    arguments: &[&str],
    write: fn(&Path) -> Outcome,
    check: fn(&Repo) -> Vec<Finding>,
) -> Outcome {
    let root = Repo::root();
    match arguments {
        [] => write(&root),
        ["--check"] => Ok(check(&Repo::load(&root)?)),
        _ => Err(usage("expected nothing or --check")),
    }
}

/// A task that finds nothing but faults.
fn task(arguments: &[&str], run: fn(&Shop, &[&str]) -> Result<()>) -> Outcome {
    run(&Shop::open()?, arguments)?;
    Ok(Vec::new())
}

/// A task that takes nothing.
fn alone(arguments: &[&str], run: fn(&Shop) -> Result<()>) -> Outcome {
    match arguments {
        [] => run(&Shop::open()?).map(|()| Vec::new()),
        _ => Err(usage("expected nothing more")),
    }
}

commands! {
    /// The rules over the repository, and what is generated from it.
    RULES:
    "check", "", "all rules below, and that what is generated is of its sources", |_| check();
    "tidy", "",
        "sizes, widths, leftovers, headings, paths and citations of rules, over git's files",
        |_| Ok(tidy::check(&Repo::load(&Repo::root())?));
    "arrows", "",
        "who may depend on whom, licences, and what the core may touch",
        |_| arrows::check(&Repo::load(&Repo::root())?);
    "assets", "",
        "whether programs of others and recorded figures are as they were published",
        |_| assets::check(&Repo::root());
    "bindings", "[--check | --stamp]",
        "write crates/policy-sys/src/bindings.rs from policy/include with bindgen; --stamp: record \
         the headers' hash in it, after checking them by eye",
        |arguments| match arguments {
            ["--stamp"] => bindings::stamp(&Repo::root()),
            _ => generated(arguments, bindings::generate, bindings::check),
        };
    "kernel-map", "[--check]",
        "write docs/rules/kernel-map.md from the head comments in policy/src",
        |arguments| generated(arguments, kernel_map::write, kernel_map::check);
    "params", "[--check]",
        "write docs/guide/parameters.md from policy/include/wakeplace/params.def.h",
        |arguments| generated(arguments, params::write, params::check);
    "reasons", "[--check]",
        "write docs/guide/reasons.md from the enums in policy/include",
        |arguments| generated(arguments, reasons::write, reasons::check);
    "schema", "[--check]",
        "write docs/result.schema.json from the types of crates/outcome",
        |arguments| generated(arguments, schema::write, schema::check);
    "protos", "[--check]",
        "write crates/trace/src/proto/generated.rs from crates/trace/proto",
        |arguments| match arguments {
            [] => protos::write(&Repo::root()),
            ["--check"] => protos::check(&Repo::root()),
            _ => Err(usage("expected nothing or --check")),
        };
    "mutants", "[--check | --count N | --all | --file NAME.c] [--seed N] [--jobs N]",
        "break the core in small ways and list what no test of it sees; --check: whether each \
         entry of policy/mutants.toml still is of a change",
        |arguments| match arguments {
            ["--check"] => mutants::check(&Repo::root()),
            _ => mutants::run(&Repo::root(), arguments, &|text| eprint!("{text}")),
        };
    "site", "--check | FOLDER | --links FOLDER",
        "whether the links of the documents lead somewhere on the site; write the documents as the \
         sources of a book; whether the links of the pages in a folder lead somewhere",
        |arguments| match arguments {
            ["--check"] => site::check(&Repo::load(&Repo::root())?),
            ["--links", folder] => site::broken_links(Path::new(folder)),
            [folder] if !folder.starts_with('-') => {
                site::sources(&Repo::load(&Repo::root())?, Path::new(folder))
            }
            _ => Err(usage("expected --check, FOLDER or --links FOLDER")),
        };
}

commands! {
    /// What runs the program, compares it, and measures.
    MEASURES:
    "same-runs", "[--record [FILE] | --compare [FILE]] [PROGRAM]",
        "whether a list of runs happens as scripts/same-runs.txt has them",
        |arguments| measure::same_runs::run(&Shop::open()?, arguments);
    "same-bytes", "PROGRAM PROGRAM...",
        "whether programs, each a command, write the same bytes in these runs",
        |arguments| task(arguments, measure::same_bytes::run);
    "instructions", "[--record] [PROGRAM]",
        "whether five runs take as many instructions as scripts/instructions.txt has",
        |arguments| measure::instructions::run(&Shop::open()?, arguments);
    "bench", "PROGRAM [BEFORE]",
        "how fast the program is, beside another build of it",
        |arguments| task(arguments, measure::bench::run);
    "eras", "",
        "docs/results/eras.md: what linux-6.12 does otherwise, rule by rule (SEEDS, WAKEPLACE)",
        |arguments| alone(arguments, measure::eras::run);
    "schedulers", "",
        "docs/results/schedulers.md: schedulers of others in PATH (SCHEDULERS, SEEDS, DURATION)",
        |arguments| alone(arguments, measure::schedulers::run);
    "idle-governors", "TREE:VERSION...",
        "record what the governors of idle states of kernels choose",
        |arguments| task(arguments, measure::governors::run);
    "outside", "[--check | --compare] [PROGRAM]",
        "docs/results/outside.md: what others measured beside what comes out; --compare: what \
         of it comes out otherwise now; --check: whether its rows have what they need, and \
         the page is of them",
        |arguments| match arguments {
            ["--check"] => Ok(measure::outside::check(&Repo::load(&Repo::root())?)),
            _ => measure::outside::run(&Shop::open()?, arguments),
        };
    "fidelity", "[--page] [OPTION...]",
        "placement in guests, or with --recorded in recorded runs, beside the simulator; --page: \
         into docs/results/fidelity.md (--help: all options)",
        |arguments| task(arguments, measure::fidelity::placement);
    "truth", "[OPTION...]",
        "docs/results/truth.md: the runs recorded on a real kernel beside the same source in the \
         simulator; with options of `fidelity`, as --from FOLDER --capacity-aware, its guests, too",
        |arguments| measure::fidelity::truth(&Shop::open()?, arguments);
    "real-programs", "[--page] [OPTION...]",
        "real programs beside their models, in a guest or with --recorded without one; --page: \
         into docs/guide/workloads.md (--help: all options)",
        |arguments| task(arguments, measure::fidelity::programs);
    "published", "[--page] [--headlines] RESULT...",
        "published figures beside results of `wakeplace study run --format json`; --page: into \
         docs/results/published.md",
        |arguments| task(arguments, measure::fidelity::published);
}

commands! {
    /// What tries the product.
    TRIES:
    "ci", "",
        "the checks that a change must pass, for .ci/run", |arguments| alone(arguments, checks::ci);
    "nightly", "[PART... | --list]",
        "all checks at full size, whatever fails on the way; NIGHTLY_SCALE=N: fuzzing and mutants \
         N times the usual",
        |arguments| task(arguments, checks::nightly);
    "part", "NAME [--quick]",
        "one of the checks",
        |arguments| {
            task(arguments, checks::part)
        };
    "test", "[ARGUMENT...]",
        "all tests, with a count at the end", |arguments| task(arguments, tries::all_tests::run);
    "sanitize", "quick | full",
        "the core with sanitizers (WAKEPLACE_RANDOM_SEED, WAKEPLACE_RANDOM_RUNS)",
        |arguments| task(arguments, tries::sanitize::run);
    "fuzz", "[SECONDS [TARGET...]]",
        "changed inputs, guided by coverage", |arguments| task(arguments, tries::fuzz::run);
    "mutants-engine", "[FILE...]",
        "break the engine in small ways (MUTANTS_ENGINE, MUTANTS_PART)",
        |arguments| task(arguments, tries::engine_mutants::run);
    "pages", "[PROGRAM [FOLDER]]",
        "pages of results in a browser; their pictures go into FOLDER (REPORT_QUICK)",
        |arguments| task(arguments, tries::pages::run);
    "kernel-shim", "[VERSION [PROGRAM]]",
        "the shim that kernel trees run on, with guards and sanitizers, here and on arm64",
        |arguments| task(arguments, trees::shim::run);
    "kernel-coverage", "[--page]",
        "what of a tree the tests execute (KEEP)",
        |arguments| trees::coverage::run(&Shop::open()?, arguments);
    "traces", "[PROGRAM]",
        "traces before readers of others", |arguments| task(arguments, tries::traces::run);
    "advisories", "[Cargo.lock]",
        "advisories about what we depend on", |arguments| task(arguments, tries::advisories::run);
    "metrics", "",
        "the metrics before Prometheus's parser", |arguments| alone(arguments, tries::metrics::run);
}

commands! {
    /// The live scheduler, and schedulers of others.
    LIVE:
    "live-tests", "[NAME...]",
        "the live scheduler in emulated machines, or the jobs whose names begin so (LIVE_QUICK, \
        LIVE_KEEP)",
        |arguments| task(arguments, live::tests::run);
    "live-unit", "",
        "... as a service, where systemd is the first process",
        |arguments| alone(arguments, live::unit::run);
    "soak", "[--page]",
        "... under mixed load for long (SOAK_MINUTES and more)",
        |arguments| task(arguments, live::soak::run);
    "live-cost", "[--page]",
        "instructions of a wake-up, beside others (BENCH_PEERS)",
        |arguments| task(arguments, live::cost::wakeups);
    "live-floor", "[--page]",
        "... what its parts cost at least", |arguments| task(arguments, live::cost::floor);
    "live-rule", "[--page]",
        "... what the parts of the energy rule cost", |arguments| task(arguments, live::cost::rule);
    "live-waits", "[--page]",
        "waits of short tasks beside endless ones", |arguments| task(arguments, live::waits::live);
    "idle-waits", "FOLDER [--page]",
        "waits on idle CPUs in kept recordings", |arguments| task(arguments, live::waits::idle);
    "kernel-schedulers", "[--check | --arm64]",
        "build those of the kernel's tools",
        |arguments| task(arguments, tries::kernel_schedulers::run);
    "schedulers-check", "",
        "those in PATH do the same twice (SCHEDULERS)",
        |arguments| alone(arguments, live::schedulers::check);
    "schedulers-arm64", "",
        "... and in an emulated arm64 machine",
        |arguments| alone(arguments, live::schedulers::arm64);
}

commands! {
    /// What is given away.
    GIVES:
    "release", "[--dry-run]",
        "commit and tag a release", |arguments| gives::release::run(&Shop::open()?, arguments);
    "programs", "[--simulator | --tested | --dist] [MACHINE...]",
        "static programs for guests, into target/lab, or to give away",
        |arguments| task(arguments, gives::programs::run);
    "dist", "[MACHINE...]",
        "archives, packages, crates and sums, into dist/",
        |arguments| task(arguments, gives::dist::run);
    "dist-again", "",
        "whether another folder gives the same bytes",
        |arguments| alone(arguments, gives::dist::again);
    "dist-test", "",
        "both Debian packages, in a guest with systemd",
        |arguments| alone(arguments, live::unit::packages);
    "python", "[arm64]",
        "the wheel for Python, and its tests", |arguments| task(arguments, gives::python::run);
    "playground", "[FILE]",
        "the simulator as one page for browsers",
        |arguments| task(arguments, gives::playground::run);
    "playground-test", "[PROGRAM [FOLDER]]",
        "whether it gives the program's bytes; pictures go into FOLDER (PLAYGROUND_QUICK)",
        |arguments| task(arguments, gives::playground::test);
    "build-site", "[FOLDER]",
        "documents and playground as one folder",
        |arguments| gives::site::run(&Shop::open()?, arguments);
}

const GROUPS: [(&str, &[Command]); 5] = [
    ("The repository's own rules", RULES),
    ("What the program does and costs", MEASURES),
    ("What tries it", TRIES),
    ("The live scheduler, and schedulers of others", LIVE),
    ("What is given away", GIVES),
];

/// A command by its name.
///
/// # Errors
/// There is none.
pub fn find(name: &str) -> Result<&'static Command> {
    let all = GROUPS.iter().flat_map(|(_, commands)| commands.iter());
    let all: Vec<&Command> = all.collect();
    let names: Vec<&str> = all.iter().map(|command| command.name).collect();
    Ok(all[choose("command", name, &names)?])
}

/// Prints all commands with what they do.
#[must_use]
pub fn help() -> String {
    let mut text = "cargo xtask COMMAND\n".to_owned();
    for (title, commands) in GROUPS {
        let _ = write!(text, "\n{title}\n");
        for Command {
            name, takes, help, ..
        } in commands
        {
            let _ = write!(text, "\n  {name} {takes}");
            let mut width = usize::MAX;
            for word in help.split(' ') {
                if width.saturating_add(word.len()) > 84 {
                    text.truncate(text.trim_end().len());
                    text.push_str("\n      ");
                    width = 0;
                }
                width += word.len() + 1;
                let _ = write!(text, "{word} ");
            }
            text.truncate(text.trim_end().len());
        }
        text.push('\n');
    }
    text + "\nExit code: 0 all holds, 1 something was found or failed, 2 wrong usage, 3 it cannot \
            be done here\n"
}

/// `cargo xtask check`: every rule of the repository, one line for each finding.
fn check() -> Outcome {
    let root = Repo::root();
    let repo = Repo::load(&root)?;
    if repo.get("Cargo.toml").is_none() {
        bail!("no Cargo.toml among the files that git lists");
    }
    let mut findings = tidy::check(&repo);
    findings.extend(arrows::check(&repo)?);
    findings.extend(assets::check(&root)?);
    findings.extend(bindings::check(&repo));
    findings.extend(mutants::check(&root)?);
    findings.extend(protos::check(&root)?);
    findings.extend(measure::outside::check(&repo));
    findings.extend(params::check(&repo));
    findings.extend(reasons::check(&repo));
    findings.extend(schema::check(&repo));
    findings.extend(kernel_map::check(&repo));
    findings.extend(glue::check(&repo));
    findings.extend(site::check(&repo)?);
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::{find, help};

    #[test]
    fn a_wrong_name_is_told_the_nearest() {
        let error = find("same-run").err().expect("no such command").to_string();
        assert!(error.contains("same-runs"), "{error}");
        assert_eq!(find("tidy").expect("a command").name, "tidy");
        assert!(help().lines().all(|line| line.len() <= 100), "{}", help());
    }
}

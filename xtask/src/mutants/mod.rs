//! `cargo xtask mutants`: breaks the core in small ways and lists what no test of it sees
//! (CONTRIBUTING.md, "Break it on purpose").
//!
//! The sources stay as they are. Below target/mutants is a second set in which every place chooses
//! by an environment variable between what it was and its mutations, so that the tests are built
//! once (the build script takes the folder from WAKEPLACE_POLICY_SOURCES) and run once for each:
//! those of the core, then the quick ones of the engine's behaviour, which always ask the core.
//! Left out: bodies of macros, what the headers define, and what the native build does not hold.
//!
//! What must stay: numbers of mutations follow files and places; a sample depends on the seed and
//! on the mutation's words alone. Free: how it is done, and words that no test or script reads.
//! Tests by part: `a_sample_is_of_all_files_and_stays` (`lot`, `sample`), `what_can_be_asked`
//! (`options`), repo.rs::`every_justified_mutation_can_be_made` (`sources`, `schemata`, `check`);
//! `mutations` and `drawn` are the tests' own. `fmt`, `write`, `run_all`, `run` have no test of
//! their own: `cargo xtask mutants` in nightly runs them.
//!
//! Callers: commands.rs (`check`, `run`), checks/list.rs (`run`).
//!
//! Tests: below

mod code;
mod known;
mod points;
mod run;
mod schemata;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

use crate::Finding;
use code::Code;
use run::{Outcome, Tests};

/// One change of one place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mutation {
    /// The file below policy/src: its room and its name.
    file: String,
    function: String,
    line: usize,
    /// The lines that it touches, on one line.
    before: String,
    after: String,
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "policy/src/{}:{}: {}: `{}` -> `{}`",
            self.file, self.line, self.function, self.before, self.after
        )
    }
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Options {
    /// So many, spread over the files; all if not said.
    count: Option<usize>,
    seed: u64,
    /// Of this file only.
    file: Option<String>,
    /// At a time.
    jobs: usize,
}

/// What is asked for on the command line; an error names what is wrong.
fn options(args: &[&str]) -> Result<Options> {
    let mut options = Options {
        count: Some(300),
        seed: 1,
        file: None,
        jobs: 1,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if *arg == "--all" {
            options.count = None;
            continue;
        }
        let known = ["--count", "--seed", "--file", "--jobs"];
        ensure!(
            known.contains(arg),
            "{arg}: there is --all, {}",
            known.join(", ")
        );
        let value = *args
            .next()
            .with_context(|| format!("{arg} wants a value"))?;
        let number = || -> Result<usize> {
            let number = value.parse().ok().filter(|n| *n > 0);
            number.with_context(|| format!("{arg} {value}: not a number from 1"))
        };
        match *arg {
            "--count" => options.count = Some(number()?),
            "--seed" => options.seed = number()? as u64,
            "--jobs" => options.jobs = number()?,
            _ => {
                options.file = Some(value.to_owned());
                options.count = None;
            }
        }
    }
    Ok(options)
}

/// The core's files with all mutations built in.
struct Schemata {
    /// Name and text of each.
    files: Vec<(String, String)>,
    /// The first one has number 1.
    mutations: Vec<Mutation>,
}

/// The files below policy/src, each as `ROOM/NAME.c`, in order.
fn sources(folder: &Path) -> Result<Vec<String>> {
    let below = |folder: &Path| -> Result<Vec<String>> {
        let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.collect()
    };
    let mut names = Vec::new();
    for room in below(folder)? {
        let files = below(&folder.join(&room))?.into_iter();
        let files = files.filter(|name| name.ends_with(".c"));
        names.extend(files.map(|name| format!("{room}/{name}")));
    }
    names.sort();
    Ok(names)
}

/// The core with all its mutations in it.
fn schemata(root: &Path) -> Result<Schemata> {
    let folder = root.join("policy/src");
    let names = sources(&folder)?;
    let (mut files, mut mutations) = (Vec::new(), Vec::new());
    for name in names {
        let text = fs::read_to_string(folder.join(&name)).with_context(|| name.clone())?;
        let code = Code::read(&name, &text)?;
        let (text, new) = schemata::built_in(&code, 1 + mutations.len());
        files.push((name, text));
        mutations.extend(new);
    }
    Ok(Schemata { files, mutations })
}

/// Whether each justification still stands for a mutation.
///
/// # Errors
/// When a file cannot be read.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    Ok(known::check(
        &known::load(root)?,
        &schemata(root)?.mutations,
    ))
}

/// A number of its own for each mutation and seed: a change elsewhere draws the others again.
fn lot(mutation: &Mutation, seed: u64) -> u64 {
    let Mutation {
        file,
        function,
        before,
        after,
        ..
    } = mutation;
    let text = format!("{seed} {file} {function} {before} {after}");
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(8)
        .fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// The numbers of the mutations to run: one of each file, then any.
fn sample(mutations: &[Mutation], wanted: &[usize], options: &Options) -> Vec<usize> {
    let lot = |n: &usize| (lot(&mutations[n - 1], options.seed), *n);
    let mut drawn: Vec<_> = wanted.iter().map(lot).collect();
    drawn.sort_unstable();
    let mut seen = BTreeSet::new();
    let drawn = drawn.into_iter().map(|(_, number)| number);
    let (mut all, rest): (Vec<_>, Vec<_>) =
        drawn.partition(|number| seen.insert(&mutations[number - 1].file));
    all.extend(rest);
    all.truncate(options.count.unwrap_or(usize::MAX));
    all.sort_unstable();
    all
}

/// Writes the core with all mutations in it below target.
fn write(root: &Path, schemata: &Schemata) -> Result<PathBuf> {
    let folder = root.join("target/mutants/policy");
    let whole = fs::read_to_string(root.join("policy/policy.c"))?;
    let whole = format!("{}{whole}", schemata::CHOICE);
    let above = fs::read_to_string(root.join("policy/above.h"))?;
    let files = schemata.files.iter();
    let files = files.map(|(name, text)| (format!("src/{name}"), text.as_str()));
    let whole = [("policy.c", &whole), ("above.h", &above)];
    let whole = whole.map(|(name, text)| (name.to_owned(), text.as_str()));
    for (name, text) in files.chain(whole) {
        let path = folder.join(name);
        // What has not changed need not be built again.
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(folder)
}

/// Told what happens meanwhile.
type Say<'a> = &'a (dyn Fn(&str) + Sync);

/// Tries the sample on several threads; outcomes stand in its order.
fn run_all(
    tests: &Tests,
    mutations: &[Mutation],
    sample: &[usize],
    jobs: usize,
    say: Say<'_>,
) -> Result<Vec<Outcome>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let outcomes = Mutex::new(vec![None; sample.len()]);
    let work = || -> Result<()> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(mutant) = sample.get(at) else {
                return Ok(());
            };
            let outcome = tests.run(*mutant, &mutations[mutant - 1].file)?;
            if outcome == Outcome::Survived {
                say(&format!("{}\n", mutations[mutant - 1]));
            }
            let done = 1 + done.fetch_add(1, Ordering::Relaxed);
            if done.is_multiple_of(50) {
                say(&format!("{done} of {}\n", sample.len()));
            }
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes[at] = Some(outcome);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| match worker.join() {
                Ok(result) => result,
                Err(_) => bail!("a worker died"),
            })
    })?;
    let outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes
        .into_iter()
        .map(|outcome| outcome.context("a mutation was not run"))
        .collect()
}

/// Runs the tests with mutations in force, as the arguments say, and returns those that no test
/// saw. `say` is told what happens meanwhile.
///
/// # Errors
/// Wrong arguments; the sources with the mutations do not build, or their tests fail without one.
pub fn run(root: &Path, args: &[&str], say: Say<'_>) -> Result<Vec<Finding>> {
    let options = options(args)?;
    let schemata = schemata(root)?;
    let mutations = &schemata.mutations;
    let known = known::load(root)?;
    let mut findings = known::check(&known, mutations);
    let of_file = |m: &Mutation| {
        let name = m.file.rsplit('/').next();
        let asked = options.file.as_ref();
        asked.is_none_or(|file| *file == m.file || Some(file.as_str()) == name)
    };
    let wanted: Vec<usize> = (1..=mutations.len())
        .filter(|n| of_file(&mutations[n - 1]) && !known::justified(&known, &mutations[n - 1]))
        .collect();
    ensure!(!wanted.is_empty(), "there is no such file in policy/src");
    let sample = sample(mutations, &wanted, &options);
    say(&format!(
        "{} mutations in {} files, {} justified; {} to run, seed {}\n",
        mutations.len(),
        schemata.files.len(),
        known.len(),
        sample.len(),
        options.seed
    ));
    let folder = write(root, &schemata)?;
    let tests = Tests::new(root, &folder, &root.join("target/mutants/build"))?;
    say(&format!("{} tests pass without one\n", tests.len()));
    let outcomes = run_all(&tests, mutations, &sample, options.jobs, say)?;
    let mut report = String::new();
    for (number, outcome) in sample.iter().zip(&outcomes) {
        let mutation = &mutations[number - 1];
        report.push_str(&format!("{number}\t{outcome:?}\t{mutation}\n"));
        if *outcome == Outcome::Survived {
            let place = format!("policy/src/{}", mutation.file);
            let what = format!(
                "{}: no test sees `{}` -> `{}`",
                mutation.function, mutation.before, mutation.after
            );
            findings.push(Finding::at(&place, mutation.line, what));
        }
    }
    fs::write(root.join("target/mutants/report.tsv"), report)?;
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    say(&format!(
        "{} seen by a test, {} by a crash, {} by the clock, {} by nobody: \
         target/mutants/report.tsv\n",
        count(|o| matches!(o, Outcome::Test(_))),
        count(|o| *o == Outcome::Crash),
        count(|o| *o == Outcome::Time),
        count(|o| *o == Outcome::Survived),
    ));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::{Mutation, Options, options, sample};

    fn mutations() -> Vec<Mutation> {
        let one = |n: usize| Mutation {
            file: format!("{}.c", n % 7),
            function: "f".into(),
            line: n,
            before: format!("a < {n}"),
            after: format!("a <= {n}"),
        };
        (0..100).map(one).collect()
    }

    fn drawn(mutations: &[Mutation], seed: u64) -> Vec<String> {
        let all: Vec<usize> = (1..=mutations.len()).collect();
        let options = Options {
            count: Some(20),
            seed,
            file: None,
            jobs: 1,
        };
        let sample = sample(mutations, &all, &options);
        let text = |n: usize| mutations[n - 1].before.clone();
        sample.into_iter().map(text).collect()
    }

    /// Each file is in a sample, another seed gives another one, and a new line in front moves
    /// nothing: nearly all of the sample stays.
    #[test]
    fn a_sample_is_of_all_files_and_stays() {
        let all = mutations();
        let first = drawn(&all, 1);
        assert_eq!(first.len(), 20);
        for file in 0..7 {
            let of_file = |text: &String| text[4..].parse::<usize>().unwrap() % 7 == file;
            assert!(first.iter().any(of_file), "{file}: {first:?}");
        }
        assert_ne!(first, drawn(&all, 2));
        let mut moved = all.clone();
        moved.insert(
            0,
            Mutation {
                before: "a < 700".into(),
                ..all[0].clone()
            },
        );
        let later = drawn(&moved, 1);
        assert!(first.iter().filter(|text| later.contains(text)).count() >= 18);
    }

    #[test]
    fn what_can_be_asked() {
        let wanted = options(&["--count", "12", "--seed", "3", "--jobs", "2"]).unwrap();
        assert_eq!((wanted.count, wanted.seed, wanted.jobs), (Some(12), 3, 2));
        assert_eq!(options(&["--file", "pelt.c"]).unwrap().count, None);
        assert_eq!(options(&["--all"]).unwrap().count, None);
        for (args, error) in [
            (&["--fast"][..], "--fast: there is --all"),
            (&["--count", "0"], "--count 0: not a number from 1"),
            (&["--seed"], "--seed wants a value"),
        ] {
            let found = options(args).unwrap_err().to_string();
            assert!(found.starts_with(error), "{found}");
        }
    }
}

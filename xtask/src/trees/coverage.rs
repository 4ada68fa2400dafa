//! `cargo xtask kernel-coverage [--page]`: how much of a kernel's own kernel/sched the test runs of
//! trees execute. The kernel is built with gcov's counters, the tests run, and what was never
//! executed is compared with a list that says why (scripts/kernel-coverage.txt). An object writes
//! its counters when it is unloaded, at each run's end; nothing of the program is another one.
//! `--page`: renews docs/internals/kernel-coverage.md, if nothing is wrong. KEEP=1: the objects
//! stay, and the counters of earlier runs are added.
//!
//! What must stay: the form of the list, and that a function without a reason fails. Free: how it
//! is done, and words that no test or script reads. Tests by part: `the_list_must_be_right`
//! (`rate`, `never`, `reasons`, `judge`); `sums` is the tests' own. `run`, `built`, `runs`, `add`,
//! `table` have no test of their own: `kernel-coverage` in nightly runs them.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: below

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use xshell::cmd;

use super::{VERSION, compile_host, drive, list, source};
use crate::Finding;
use crate::shop::{Shop, missing, page, quietly, read, text_of, usage};

const LIST: &str = "scripts/kernel-coverage.txt";
const PAGE: &str = "docs/internals/kernel-coverage.md";
/// Percent of lines (docs/results/truth.md), of what decides most.
const GOALS: [(&str, u64); 4] = [
    ("core.c", 70),
    ("cpufreq_schedutil.c", 85),
    ("fair.c", 85),
    ("pelt.c", 85),
];

/// What gcov says of the objects of a folder.
#[derive(Deserialize)]
struct Counted {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    file: String,
    lines: Vec<Line>,
    functions: Vec<Function>,
}

#[derive(Deserialize)]
struct Line {
    line_number: u32,
    count: u64,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    execution_count: u64,
}

/// How often lines and functions of a file ran, over all builds.
#[derive(Default)]
struct Sum {
    lines: BTreeMap<u32, u64>,
    functions: BTreeMap<String, u64>,
}

impl Sum {
    /// How many lines ran, and of how many.
    fn rate(&self) -> (u64, u64) {
        let ran = self.lines.values().filter(|count| **count > 0).count();
        (ran as u64, self.lines.len() as u64)
    }

    /// Functions that no run executed.
    fn never(&self) -> impl Iterator<Item = &String> {
        self.functions
            .iter()
            .filter(|(_, count)| **count == 0)
            .map(|(name, _)| name)
    }
}

type Sums = BTreeMap<String, Sum>;
/// File, function and reason, in the list's order.
type Reasons = Vec<(String, String, String)>;

/// Measures and judges.
///
/// # Errors
/// No kernel can be had or built here, or a run fails.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<Vec<Finding>> {
    let renews = match arguments {
        [] => false,
        ["--page"] => true,
        _ => return Err(usage("expected --page or nothing")),
    };
    let listed = reasons(&read(&shop.root.join(LIST))?)?;
    shop.setup(&["kernel"])?;
    if !shop.has("gcov") {
        return Err(missing("gcov is needed: apt-get install gcc"));
    }
    let program = shop.build("dev")?;
    let work = shop.target.join("kernel-coverage");
    if text_of("KEEP").is_none() {
        shop.sh.remove_path(&work)?;
    }
    let objects = built(shop, &program, &work)?;
    runs(shop, &program, &work, &objects)?;
    let mut sums = Sums::new();
    for folder in &objects {
        add(shop, folder, &mut sums)?;
    }
    let text = table(&sums, &listed);
    print!("{text}");
    let findings = judge(&sums, &listed);
    if renews && findings.is_empty() {
        page::renew(&shop.root, PAGE, "cargo xtask kernel-coverage", &text)?;
    }
    Ok(findings)
}

/// Builds all objects with counters; the folders where their counters will be.
fn built(shop: &Shop, program: &Path, work: &Path) -> Result<Vec<PathBuf>> {
    let (sh, cache, log) = (&shop.sh, work.join("cache"), work.join("build.log"));
    sh.create_dir(&cache)?;
    // The sources that were fetched before, so that the archive is not asked again.
    let tree = source(shop, program, VERSION, &log)?;
    let fetched = tree.ancestors().nth(3).context("the folder of trees")?;
    let trees = cache.join("trees");
    if !trees.exists() {
        crate::shop::run(cmd!(sh, "cp -al {fetched} {trees}").quiet())?;
    }
    // Objects are kept by what they are made of, to which the counters do not belong: a cache of
    // its own.
    sh.set_var("WAKEPLACE_KERNEL_CACHE", &cache);
    for machine in ["arm64", "x86_64"] {
        for large in [&[][..], &["--large"]] {
            // Functions are counted before they are put into others, but for those that must be.
            let build = cmd!(
                sh,
                "{program} kernel build {VERSION} --arch {machine} {large...}"
            )
            .env("WPSIM_CFLAGS", "--coverage -fno-early-inlining")
            .env("WPSIM_LDFLAGS", "-lgcov -lc");
            quietly(build, &log)?;
        }
    }
    let objects = sh.read_dir(cache.join("objects"))?;
    let folders = objects.into_iter().map(|object| object.join("obj"));
    Ok(folders.filter(|folder| folder.is_dir()).collect())
}

/// The tests of trees, and the runs of the list, with counters on.
fn runs(shop: &Shop, program: &Path, work: &Path, objects: &[PathBuf]) -> Result<()> {
    let (sh, list) = (&shop.sh, list()?);
    eprintln!("the tests");
    let tests = cmd!(
        sh,
        "cargo test --locked --quiet --package wakeplace-cli --test all kernel_runs::"
    )
    .env("WAKEPLACE_REQUIRE_KERNEL", "1");
    quietly(tests, &work.join("tests.log"))?;
    eprintln!("other machines");
    for run in &list.runs {
        let mut words = run.split(' ');
        let mut next = || words.next().with_context(|| format!("trees.toml: `{run}`"));
        let (platform, length, workload, keys) = (next()?, next()?, next()?, next()?);
        let keys = if keys == "-" {
            String::new()
        } else {
            format!(":{keys}")
        };
        let policy = format!("kernel:{VERSION}{keys}");
        let sim = cmd!(
            sh,
            "{program} sim --quiet --platform {platform} --workload {workload}"
        )
        .args(["--policy", &policy, "--duration", length, "--format", "csv"])
        .args(words);
        quietly(sim, &work.join("run.log"))?;
    }
    eprintln!("the shim's own host");
    let host = work.join("drive");
    compile_host(shop, "", &[], &host)?;
    for folder in objects {
        let config = read(&folder.join(".config"))?;
        let cpus = config
            .lines()
            .find_map(|line| line.strip_prefix("CONFIG_NR_CPUS="));
        let cpus: u32 = cpus.context("CONFIG_NR_CPUS")?.parse()?;
        let object = folder.with_file_name("kernel.so");
        for scenario in list
            .scenarios
            .iter()
            .filter(|one| cpus > 64 || !one.contains("big"))
        {
            let output = drive(&[&host], &object, scenario, &BTreeMap::new())?;
            if !output.status.success() {
                let said = [output.stdout, output.stderr].concat();
                bail!("it fails: {scenario}\n{}", String::from_utf8_lossy(&said));
            }
        }
    }
    Ok(())
}

/// Adds what gcov found in the objects of kernel/sched.
fn add(shop: &Shop, folder: &Path, sums: &mut Sums) -> Result<()> {
    let objects = folder.join("kernel/sched");
    let mut counters = shop.sh.read_dir(&objects)?;
    counters.retain(|path| path.extension().is_some_and(|end| end == "gcda"));
    if counters.is_empty() {
        bail!("no run has counted in {}", objects.display());
    }
    let text = cmd!(shop.sh, "gcov --json-format --stdout {counters...}")
        .quiet()
        .output()?
        .stdout;
    // One object for each file of counters, on a line each.
    for line in String::from_utf8_lossy(&text)
        .lines()
        .filter(|line| line.starts_with('{'))
    {
        let counted: Counted = serde_json::from_str(line)?;
        for file in counted.files {
            let Some((place, name)) = file.file.rsplit_once('/') else {
                continue;
            };
            if !place.ends_with("kernel/sched") || !name.ends_with(".c") {
                continue;
            }
            let sum = sums.entry(name.to_owned()).or_default();
            for line in file.lines {
                *sum.lines.entry(line.line_number).or_default() += line.count;
            }
            for function in file.functions {
                let own = function
                    .name
                    .split('.')
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                *sum.functions.entry(own).or_default() += function.execution_count;
            }
        }
    }
    Ok(())
}

/// The list: a reason, then lines ` FILE.c: FUNCTION...`.
fn reasons(text: &str) -> Result<Reasons> {
    let mut found = Reasons::new();
    let mut why = None;
    for (at, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some(entry) = line.strip_prefix(' ') else {
            why = Some(line);
            continue;
        };
        let wrong = || {
            format!(
                "{LIST}:{}: expected a reason, then lines ` FILE.c: FUNCTION...`",
                at + 1
            )
        };
        let (file, functions) = entry.trim().split_once(':').with_context(wrong)?;
        let why = why.filter(|_| file.ends_with(".c")).with_context(wrong)?;
        for function in functions.split_whitespace() {
            if found
                .iter()
                .any(|(other, own, _)| other == file && own == function)
            {
                bail!("{LIST}:{}: {function} of {file} stands there twice", at + 1);
            }
            found.push((file.to_owned(), function.to_owned(), why.to_owned()));
        }
    }
    Ok(found)
}

/// What is below its goal, never ran without a reason, or is on the list wrongly.
fn judge(sums: &Sums, listed: &Reasons) -> Vec<Finding> {
    let mut findings = Vec::new();
    let none = Sum::default();
    for (name, goal) in GOALS {
        let sum = sums.get(name).unwrap_or(&none);
        let (ran, of) = sum.rate();
        if of == 0 || 100 * ran < goal * of {
            findings.push(Finding::on(
                name,
                format!("{ran} of {of} lines ran, less than {goal} %"),
            ));
        }
        for function in sum.never() {
            if !listed
                .iter()
                .any(|(file, own, _)| file == name && own == function)
            {
                let what = format!("{function}() never ran, and the list has no reason");
                findings.push(Finding::on(name, what));
            }
        }
    }
    for (file, function, _) in listed {
        let count = sums.get(file).and_then(|sum| sum.functions.get(function));
        let what = match count {
            _ if GOALS.iter().all(|(name, _)| name != file) => {
                "is on the list, which is not for its file"
            }
            None => "is on the list, and is not there",
            Some(0) => continue,
            Some(_) => "is on the list, and ran",
        };
        findings.push(Finding::on(file, format!("{function}() {what}")));
    }
    findings
}

/// The page's table: files with goals first.
fn table(sums: &Sums, listed: &Reasons) -> String {
    let goal = |name: &str| {
        GOALS
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, goal)| *goal)
    };
    let mut files: Vec<_> = sums.iter().collect();
    files.sort_by_key(|(name, _)| (goal(name).is_none(), *name));
    let mut text =
        "| file | lines | ran | | functions | never ran |\n|:--|--:|--:|--:|--:|--:|\n".to_owned();
    for (name, sum) in files {
        let (ran, of) = sum.rate();
        let share = 100.0 * ran as f64 / of as f64;
        let goal = goal(name)
            .map(|goal| format!(", goal {goal} %"))
            .unwrap_or_default();
        let (all, never) = (sum.functions.len(), sum.never().count());
        let _ = writeln!(
            text,
            "| `{name}` | {of} | {ran} | {share:.1} %{goal} | {all} | {never} |"
        );
    }
    text.push_str("\n| why they never ran | functions |\n|:--|:--|\n");
    let mut told: Vec<&str> = Vec::new();
    for (_, _, why) in listed {
        if told.contains(&why.as_str()) {
            continue;
        }
        told.push(why);
        let own = listed.iter().filter(|(_, _, other)| other == why);
        let names: Vec<String> = own
            .map(|(_, function, _)| format!("`{function}`"))
            .collect();
        let _ = writeln!(text, "| {why} | {} |", names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Sum, Sums, judge, reasons};

    fn sums(ran: u64) -> Sums {
        let lines = (0..100)
            .map(|line| (line, u64::from(u64::from(line) < ran)))
            .collect();
        let own = || Sum {
            lines: std::collections::BTreeMap::clone(&lines),
            functions: [("a".to_owned(), 1), ("b".to_owned(), 0)].into(),
        };
        ["core.c", "cpufreq_schedutil.c", "fair.c", "pelt.c"]
            .map(|name| (name.to_owned(), own()))
            .into()
    }

    #[test]
    fn the_list_must_be_right() {
        let list = "# c\nwhy\n core.c: b\n fair.c: b\n pelt.c: b\n cpufreq_schedutil.c: b\n";
        let judged = |ran, list: &str| judge(&sums(ran), &reasons(list).expect("a list")).len();
        assert_eq!(judged(85, list), 0);
        assert_eq!(judged(84, list), 3, "core.c has another goal");
        assert_eq!(judged(85, &list.replace(" pelt.c: b\n", "")), 1);
        assert_eq!(judged(85, &format!("{list} fair.c: a\n")), 1, "it ran");
        assert_eq!(
            judged(85, &format!("{list} fair.c: c\n")),
            1,
            "it is not there"
        );
        assert_eq!(judged(85, &format!("{list} rt.c: c\n")), 1, "no goal");
        assert!(reasons(" fair.c: a\n").is_err());
        assert!(reasons("why\n fair.c: a a\n").is_err());
    }
}

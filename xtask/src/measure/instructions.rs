//! `cargo xtask instructions`: how many instructions five runs of the optimized program take,
//! counted by valgrind. Time on a shared machine says little; a count is the same each time.
//!
//! The counts of the file are of one tool chain, which it names. With another the comparison says
//! nothing and is skipped (docs/internals/performance.md, "How to measure").
//!
//! What must stay: the five runs; another tool chain skips and never fails. Free: how it is done,
//! and words that no test or script reads. Tests by part: `run`, `compare`, `tool_chain`, `count`
//! have no test of their own: nightly shows a fault of theirs.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; nightly compares the counts.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use xshell::cmd;

use crate::Finding;
use crate::shop::{Shop, missing, read, usage, write};

const RECORD: &str = "scripts/instructions.txt";
const LIMIT_PERCENT: f64 = 3.0;
const PHONE: &str =
    "--platform hikey960 --workload periodic:n=50,period=16ms,duty=5% --duration 5s";
const RUNS: [(&str, &str, &str); 5] = [
    ("phone-4.17-eas", PHONE, "--policy linux-4.17+energy-aware"),
    ("phone-7.3", PHONE, "--policy linux-7.3"),
    ("phone-wakeplace", PHONE, "--policy wakeplace"),
    (
        "server-640",
        "--platform snb-ep-4s --workload periodic:n=640,period=16ms,duty=5% --duration 300ms",
        "--policy linux-6.12",
    ),
    (
        "pairs-224",
        "--platform spr-2s --workload context-switch:pairs=224 --duration 15ms",
        "--policy linux-6.2",
    ),
];

/// `[--record] [PROGRAM]`
///
/// # Errors
/// The counts cannot be made here, or the file is of another tool chain.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<Vec<Finding>> {
    let (record, program) = match arguments {
        ["--record"] => (true, None),
        ["--record", program] => (true, Some(*program)),
        [] => (false, None),
        [program] if !program.starts_with('-') => (false, Some(*program)),
        _ => return Err(usage("expected [--record] [PROGRAM]")),
    };
    if !shop.has("valgrind") {
        return Err(missing("instructions: valgrind is not installed"));
    }
    let program = match program {
        Some(program) => shop.root.join(program),
        None => shop.program()?,
    };
    let file = shop.root.join(RECORD);
    let tools = tool_chain(shop)?;
    if record {
        let mut text = format!(
            "# Made by `cargo xtask instructions --record`: instructions of runs, with\n{tools}"
        );
        for (name, what, policy) in RUNS {
            let _ = writeln!(
                text,
                "{name:<16} {:>12}",
                count(shop, &program, what, policy)?
            );
        }
        print!("{text}");
        write(&file, text)?;
        return Ok(Vec::new());
    }
    let was = read(&file)?;
    let of_tools = |line: &&str| line.starts_with("# ") && !line.starts_with("# Made");
    let known: String = was
        .lines()
        .filter(of_tools)
        .fold(String::new(), |all, line| all + line + "\n");
    if known != tools {
        return Err(missing(format!(
            "{RECORD} is of another tool chain; record it with this one before a change\nthere:\n\
             {known}here:\n{tools}"
        )));
    }
    compare(shop, &program, &was)
}

/// Each run's count beside the recorded one; a finding for each that grew too much.
fn compare(shop: &Shop, program: &Path, was: &str) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    println!(
        "{:<16} {:>14} {:>14} {:>8}",
        "run", "recorded", "now", "change"
    );
    for (name, what, policy) in RUNS {
        let line = was.lines().find_map(|line| line.strip_prefix(name));
        let was: u64 = line
            .with_context(|| format!("{name} is not in {RECORD}"))?
            .trim()
            .parse()?;
        let now = count(shop, program, what, policy)?;
        let change = (now as f64 / was as f64 - 1.0) * 100.0;
        println!("{name:<16} {was:>14} {now:>14} {change:>+7.2}%");
        if change > LIMIT_PERCENT {
            let what = format!("{name} takes {change:+.2} %, more than {LIMIT_PERCENT} %");
            findings.push(Finding::on(RECORD, what));
        }
    }
    Ok(findings)
}

/// What a count depends on beside the source.
fn tool_chain(shop: &Shop) -> Result<String> {
    let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let rustc = first(cmd!(shop.sh, "rustc --version").quiet().read()?);
    let cc = first(cmd!(shop.sh, "cc --version").quiet().read()?);
    let libc = first(cmd!(shop.sh, "ldd --version").quiet().read()?);
    let valgrind = first(cmd!(shop.sh, "valgrind --version").quiet().read()?);
    let machine = std::env::consts::ARCH;
    Ok(format!(
        "# rustc: {rustc}\n# cc: {cc}\n# libc: {libc}\n# valgrind: {valgrind}, {machine}\n"
    ))
}

/// The instructions of one run.
fn count(shop: &Shop, program: &Path, what: &str, policy: &str) -> Result<u64> {
    let words = what.split(' ').chain(policy.split(' '));
    let said = cmd!(shop.sh, "valgrind --tool=cachegrind --cache-sim=no")
        .args(["--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(["sim", "--quiet", "--seed", "7"])
        .args(words)
        .quiet()
        .ignore_stdout()
        .read_stderr()?;
    let mut lines = said
        .lines()
        .filter(|line| line.contains("I ") && line.contains("refs:"));
    let line = lines.next().context("valgrind counted nothing")?;
    let number = line.rsplit(':').next().unwrap_or_default().replace(',', "");
    Ok(number.trim().parse()?)
}

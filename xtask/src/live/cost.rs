//! What a wake-up costs, in instructions, in emulated machines whose clock counts them (2 ns each),
//! so that it does not matter how busy this machine is. All take what `make lab` and `make build`
//! made.
//!
//! - `cargo xtask live-cost`: under the kernel's own scheduler, scx_wakeplace and schedulers of
//!   others. All instructions of all CPUs count: the system calls, both programs' own work, idle
//!   loops. So the ratio is what a program sees, not that of the placement alone.
//!   BENCH_POLICY=NAME: policy of scx_wakeplace; BENCH_PEERS: NAME@VERSION of cargo's registry
//!   each, or nothing
//! - `cargo xtask live-floor`: of its parts at least: a scheduler that has only them
//!   (scripts/live/floor.bpf.c), built by clang 19
//! - `cargo xtask live-rule`: of the parts of the energy rule: the policy with each left out, on an
//!   emulated phone board. RULE_COST_PLATFORMS='hikey960 juno-r0': the boards
//!
//! BENCH_KERNEL: version of the guest's kernel, else the newest that can be used. BENCH_JOBS=N: so
//! many guests at a time. `--page`: renews docs/results/live.md.
//!
//! What must stay: the lines that guests' scripts print, and the page's table. Figures are
//! instructions, 2 ns each. Free: how it is done, and words that no test or script reads. Tests by
//! part: `costs_are_beside_the_kernels` (`costs`), `rules_are_beside_the_policy` (`rules`).
//! `wants_page`, `measure`, `series`, `wakeups`, `floor`, `rule` have no test of their own: they
//! boot guests, and the page that they renew is looked at.
//!
//! Callers: commands.rs (`floor`, `rule`, `wakeups`), checks/list.rs (`wakeups`), soak.rs
//! (`wants_page`), waits.rs (`wants_page`).
//!
//! Tests: below

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use xshell::cmd;

use super::{Guests, Job, Run, needed, publish, script};
use crate::shop::figures::{Series, middle};
use crate::shop::{Shop, missing, run as call, setting, text_of, usage};

const PEERS: &str = "scx_bpfland@1.1.4 scx_cosmos@1.1.7 scx_lavd@1.1.4 scx_rusty@1.1.4";
/// Rows of the table of costs, as `guest.sh cost` names them.
const COSTS: [(&str, &str); 5] = [
    (
        "ping-pong-1",
        "ping-pong on one CPU, instructions per wake-up",
    ),
    (
        "ping-pong-4",
        "ping-pong on four CPUs, instructions per wake-up",
    ),
    ("hackbench", "hackbench -g 2 -l 100, virtual s"),
    ("wait-p50", "its tasks from wake-up to running, median, us"),
    ("wait-p99", "the same, 99th percentile, us"),
];
const FLOORS: [&str; 4] = [
    "the kernel's own",
    "queues by virtual time, records, idle CPUs",
    "and load tracking",
    "and EEVDF",
];
/// Values that leave a part of the rule out, and those of the policy.
const SETTINGS: &str = "energy_idle=off/on energy_idle_free=off/on energy_wait=off/on \
                        energy_stay_pct=0/45 energy_stay_domain_pct=0/4 runnable_boost_pct=100/50";

/// Whether the page is to be renewed.
///
/// # Errors
/// Something else is asked for.
pub fn wants_page(arguments: &[&str]) -> Result<bool> {
    match arguments {
        [] => Ok(false),
        ["--page"] => Ok(true),
        _ => Err(usage("expected --page or nothing")),
    }
}

/// One guest each, with a scheduler, a file more and a command; their runs in order.
fn measure(
    guests: &Guests,
    all: &[(String, String, Vec<String>)],
    command: &str,
) -> Result<Vec<Run>> {
    let kernel = text_of("BENCH_KERNEL");
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (name, scheduler, add) in all {
        let kernel = kernel.as_deref();
        jobs.push((
            name.clone(),
            Box::new(move |_| {
                let mut options = vec![
                    "--arch",
                    "x86_64",
                    "--cpus",
                    "4",
                    "--icount",
                    "--timeout",
                    "60m",
                ];
                options.extend(["--scheduler", scheduler]);
                options.extend(kernel.iter().flat_map(|version| ["--kernel", version]));
                let guest = script("guest.sh");
                let add: Vec<&str> = std::iter::once(&guest)
                    .chain(add)
                    .map(String::as_str)
                    .collect();
                let run = guests.run(name, &options, &add, command)?;
                ensure!(run.code == 0, "{}", run.end());
                Ok(())
            }),
        ));
    }
    guests.side_by_side(setting("BENCH_JOBS", "so many guests at a time", 1)?, &jobs);
    guests.all_held()?;
    let ended = |(name, ..): &(String, String, Vec<String>)| Run {
        folder: guests.keep.join(name),
        code: 0,
    };
    Ok(all.iter().map(ended).collect())
}

/// Lines `cost:` of a run, one column of them.
fn series(run: &Run, column: usize) -> Result<Series> {
    Ok(Series::read(&needed(run, "stdout")?, "cost:", column))
}

/// `live-cost [--page]`
///
/// # Errors
/// A guest fails, or something cannot be had here.
pub fn wakeups(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let page = wants_page(arguments)?;
    let guests = Guests::open(shop, None)?;
    let own =
        text_of("BENCH_POLICY").map_or("wakeplace".to_owned(), |name| format!("wakeplace:{name}"));
    let mut all = vec![("kernel".to_owned(), "kernel".to_owned(), Vec::new())];
    all.push(("wakeplace".to_owned(), own, Vec::new()));
    let peers = std::env::var("BENCH_PEERS").unwrap_or(PEERS.to_owned());
    for peer in peers.split_whitespace() {
        let (name, version) = peer
            .split_once('@')
            .context("a peer: expected NAME@VERSION")?;
        let program = shop.tool(name, version, &[])?;
        all.push((name.to_owned(), program.display().to_string(), Vec::new()));
    }
    let runs = measure(&guests, &all, "sh guest.sh cost")?;
    let names: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
    let series = runs
        .iter()
        .map(|run| series(run, 0))
        .collect::<Result<Vec<_>>>()?;
    let peers: Vec<String> = peers
        .split_whitespace()
        .map(|peer| peer.replace('@', " "))
        .collect();
    let peers = if peers.is_empty() {
        String::new()
    } else {
        format!("; {}", peers.join(", "))
    };
    let text = format!(
        "Linux {}, x86-64, four CPUs{peers}.\n\n{}",
        runs[1].kernel(),
        costs(&names, &series)?
    );
    publish(shop, page, "cargo xtask live-cost", &text)
}

/// The median of the repeats, and the ratio to the first, which is the kernel's own scheduler.
fn costs(names: &[&str], all: &[Series]) -> Result<String> {
    let columns = names.iter().map(|_| "--:|").collect::<String>();
    let mut text = format!(
        "| | {} | repeats within |\n|:--|{columns}--:|\n",
        names.join(" | ")
    );
    for (row, title) in COSTS {
        let _ = write!(text, "| {title} |");
        let mut widest = 0.0f64;
        let mut base = f64::NAN;
        for (at, series) in all.iter().enumerate() {
            let values = series.of(row);
            let mut one = middle(values);
            ensure!(
                one > 0.0 && values.len() == all[0].of(row).len(),
                "{row}: no figure"
            );
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            if least > 0.0 {
                widest = widest.max(100.0 * (most - least) / least);
            }
            // The clock counts 2 ns for each instruction.
            if row.starts_with("ping-pong") {
                one /= 2.0;
            }
            let decimals = if row == "hackbench" { 3 } else { 0 };
            let _ = write!(text, " {one:.decimals$}");
            if at == 0 {
                base = one;
                text.push_str(" |");
            } else {
                let _ = write!(text, " ({:.2}) |", one / base);
            }
        }
        let _ = writeln!(text, " {widest:.1} % |");
    }
    Ok(text)
}

/// `live-floor [--page]`
///
/// # Errors
/// A guest fails, or something cannot be had here.
pub fn floor(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let page = wants_page(arguments)?;
    let guests = Guests::open(shop, None)?;
    let beside = guests.program.parent().context("the program's folder")?;
    let loader = std::path::absolute(beside.join("wakeplace-bpf-load"))?
        .display()
        .to_string();
    let built = beside.parent().context("the target folder")?;
    const HEADERS: &str = "find \"$0\" -path '*/libbpf-sys-*/out/include' -print -quit";
    let headers = cmd!(shop.sh, "sh -c {HEADERS} {built}").quiet().read()?;
    if headers.is_empty() {
        return Err(missing(
            "the headers of libbpf are missing: run `make build`",
        ));
    }
    let clang = text_of("BPF_CLANG").unwrap_or("clang-19".into());
    let mut all = vec![("kernel".to_owned(), "kernel".to_owned(), Vec::new())];
    for parts in ["1", "2", "3"] {
        let file = format!("floor-{parts}.bpf.o");
        let object = guests.keep.join(&file);
        let build = cmd!(
            shop.sh,
            "{clang} -g -O2 -mcpu=v3 --target=bpf -Wall -Werror -DPARTS={parts}"
        )
        .arg(format!("-I{headers}"))
        .args([
            "-Icrates/scx/policy/include",
            "-Icrates/scx/policy",
            "-Icrates/scx/src/bpf",
        ])
        .args(["-c", "scripts/live/floor.bpf.c", "-o"])
        .arg(&object);
        call(build.quiet())?;
        let add = vec![object.display().to_string()];
        all.push((format!("floor-{parts}"), format!("{loader} {file}"), add));
    }
    let runs = measure(&guests, &all, "sh guest.sh ping-pong")?;
    let mut text = format!(
        "Linux {}, x86-64, four CPUs.\n\n| instructions per wake-up | one CPU | four CPUs |\n\
         |:--|--:|--:|\n",
        runs[0].kernel()
    );
    let mut base = None;
    for (title, run) in FLOORS.iter().zip(&runs) {
        let series = series(run, 0)?;
        // The clock counts 2 ns for each instruction.
        let [one, four] = ["ping-pong-1", "ping-pong-4"].map(|row| middle(series.of(row)) / 2.0);
        ensure!(one > 0.0 && four > 0.0, "{title}: no figure");
        let (base_one, base_four) = *base.get_or_insert((one, four));
        let (of_one, of_four) = (one / base_one, four / base_four);
        let _ = writeln!(
            text,
            "| {title} | {one:.0} ({of_one:.2}) | {four:.0} ({of_four:.2}) |"
        );
    }
    publish(shop, page, "cargo xtask live-floor", &text)
}

/// `live-rule [--page]`
///
/// # Errors
/// A guest fails.
pub fn rule(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let page = wants_page(arguments)?;
    let guests = Guests::open(shop, None)?;
    let platforms = text_of("RULE_COST_PLATFORMS").unwrap_or("hikey960 juno-r0".into());
    let platforms: Vec<&str> = platforms.split_whitespace().collect();
    let mut runs = Vec::new();
    for platform in &platforms {
        let mut options = vec!["--arch", "arm64", "--platform", platform, "--icount"];
        options.extend([
            "--scheduler",
            "wakeplace",
            "--timeout",
            "30m",
            "--package",
            "bpftool",
        ]);
        let command = format!("sh rule-cost.sh 5 {SETTINGS}");
        let run = guests.run(platform, &options, &[&script("rule-cost.sh")], &command)?;
        ensure!(run.code == 0, "{platform}: {}", run.end());
        runs.push(run);
    }
    let both = |run: &Run| Ok([series(run, 0)?, series(run, 1)?]);
    let all = runs.iter().map(both).collect::<Result<Vec<_>>>()?;
    let version = runs.first().context("a platform")?.kernel();
    let text = format!(
        "Linux {version}, arm64. Instructions per wake-up, median of three passes and their range: \
         of the program that chooses a CPU, and of all programs.\n\n{}",
        rules(&platforms, &all)?
    );
    publish(shop, page, "cargo xtask live-rule", &text)
}

/// A row for each setting: figures of the choice and of all programs, of each platform.
fn rules(platforms: &[&str], all: &[[Series; 2]]) -> Result<String> {
    let mut text = "| |".to_owned();
    for platform in platforms {
        let _ = write!(text, " {platform}: choice | all programs |");
    }
    let _ = writeln!(text, "\n|:--|{}", "--:|--:|".repeat(platforms.len()));
    let rows = all[0][0].rows();
    ensure!(rows.len() > 1, "figures are missing");
    let repeats = all[0][0].of(&rows[0]).len();
    for (at, row) in rows.iter().enumerate() {
        let title = if at == 0 {
            "the policy as it is".to_owned()
        } else {
            format!("`{row}`")
        };
        let _ = write!(text, "| {title} |");
        for series in all.iter().flatten() {
            let values = series.of(row);
            ensure!(values.len() == repeats, "{row}: no figure");
            let own = middle(series.of(&rows[0]));
            let one = middle(values);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(0.0, f64::max);
            let _ = write!(text, " {one:.0} ({least:.0} to {most:.0})");
            if at > 0 {
                let _ = write!(text, ", {:+.1} %", 100.0 * (one / own - 1.0));
            }
            text.push_str(" |");
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tables {
    use super::{Series, costs, rules};

    #[test]
    fn costs_are_beside_the_kernels() {
        let text = |factor: f64| {
            let mut text = String::new();
            for (row, base) in [
                ("ping-pong-1", 2000.0),
                ("ping-pong-4", 4000.0),
                ("hackbench", 1.5),
                ("wait-p50", 10.0),
                ("wait-p99", 20.0),
            ] {
                for repeat in [1.0, 1.01, 1.02] {
                    text += &format!("cost: {row} {}\n", base * factor * repeat);
                }
            }
            text
        };
        let [kernel, ours] = [1.0, 1.5].map(|factor| Series::read(&text(factor), "cost:", 0));
        let table = costs(&["kernel", "wakeplace"], &[kernel.clone(), ours]).expect("a table");
        let row = "| ping-pong on one CPU, instructions per wake-up | 1010 | 1515 (1.50) | 2.0 % |";
        assert!(table.contains(row), "{table}");
        assert!(
            table.contains("| hackbench -g 2 -l 100, virtual s | 1.515 | 2.272 (1.50) |"),
            "{table}"
        );
        assert!(costs(&["kernel", "x"], &[kernel, Series::default()]).is_err());
    }

    #[test]
    fn rules_are_beside_the_policy() {
        let text = "cost: own 100 1000\ncost: off 90 900\n";
        let both = [0, 1].map(|column| Series::read(text, "cost:", column));
        let table = rules(&["a"], &[both]).expect("a table");
        assert!(
            table.contains("| `off` | 90 (90 to 90), -10.0 % | 900 (900 to 900), -10.0 % |"),
            "{table}"
        );
    }
}

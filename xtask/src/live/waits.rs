//! How long tasks wait, from recorded traces of guests (docs/results/live.md).
//!
//! - `cargo xtask live-waits [--page]`: short tasks beside tasks without end, under the kernel's
//!   own scheduler and under scx_wakeplace: pairs of boots of an emulated machine with the same
//!   seed. WAITS_BOOTS=N: so many pairs of each case; WAITS_CASES=4x4,8x8: some cases
//! - `cargo xtask idle-waits FOLDER [--page]`: a task of `cargo xtask fidelity` that wakes to an
//!   idle CPU on which no other task of the set runs meanwhile, by how many other CPUs run
//!   something. On a machine whose CPUs run side by side the one does not depend on the other. Of
//!   all wake-ups from the start of a set on, warm-up included. FOLDER is kept by `cargo xtask
//!   fidelity --platform juno-r0 --sets L20,L35,E,B --starts 1 --keep FOLDER`, and once more with
//!   `--round 50us`
//!
//! What must stay: a wait ends when the task runs; pairs of boots have one seed. Free: how it is
//! done, and words that no test or script reads. Tests by part: `waits_on_idle_cpus_are_told_apart`
//! (`event`, `value`, `idle_waits`, `is_task`), `a_wait_ends_when_the_task_runs` (`waits_us`),
//! `ratios_are_of_pairs` (`row`). `live`, `boot`, `idle`, `idle_table` have no test of their own:
//! they boot guests or read recordings, and the page that they renew is looked at.
//!
//! Callers: commands.rs (`idle`, `live`).
//!
//! Tests: below

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use xshell::cmd;

use super::cost::wants_page;
use super::publish;
use crate::shop::figures::{median, percentile};
use crate::shop::{Shop, choose, run as call, setting, text_of, usage, write};

const KERNEL: &str = "7.3.4";
const SECONDS: u32 = 4;
/// Name, CPUs, tasks without end, short tasks, pairs of boots.
const CASES: [(&str, u32, u32, u32, u32); 3] = [
    ("4x4", 4, 4, 4, 9),
    ("4x8", 4, 8, 4, 9),
    ("8x8", 8, 8, 8, 9),
];
/// What runs in a recording, and how its folder's name ends.
const RECORDINGS: [(&str, &str); 4] = [
    ("kernel", "-eas-1-light"),
    ("wakeplace", "-live-light"),
    ("kernel, 50 us", "-eas-1-light-50us"),
    ("wakeplace, 50 us", "-live-light-50us"),
];
/// So many other CPUs and more are one row.
const MOST: usize = 4;

/// An event of a trace as text: `... [CPU] flags TIME: KIND: WHAT`.
struct Event<'a> {
    cpu: u32,
    time_us: f64,
    kind: &'a str,
    what: &'a str,
}

/// None: no line of the scheduler's tracer. Times are us.
fn event(line: &str) -> Option<Event<'_>> {
    let (_, rest) = line.split_once('[')?;
    let (cpu, rest) = rest.split_once(']')?;
    let at = rest.find(": sched_")?;
    let time = rest[..at].rsplit(' ').next()?;
    let (kind, what) = rest[at + 2..].split_once(": ")?;
    Some(Event {
        cpu: cpu.parse().ok()?,
        time_us: time.parse::<f64>().ok()? * 1e6,
        kind,
        what,
    })
}

/// The value of `KEY=` in what an event says. None: it is not there.
fn value<'a>(what: &'a str, key: &str) -> Option<&'a str> {
    let words = what.split(' ');
    words
        .filter_map(|word| word.strip_prefix(key)?.strip_prefix('='))
        .next()
}

/// `live-waits [--page]`
///
/// # Errors
/// A guest cannot be run.
pub fn live(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let page = wants_page(arguments)?;
    let program = shop.program()?;
    let mut chosen = Vec::new();
    for name in text_of("WAITS_CASES")
        .unwrap_or("4x4,4x8,8x8".into())
        .split(',')
    {
        chosen.push(CASES[choose("case", name, &CASES.map(|(name, ..)| name))?]);
    }
    let work = shop.scratch()?;
    let mut table =
        "| medians, us | boots | kernel, p50 / p95 / p99 | wakeplace | p95 ratio | p99 ratio | \
                     p99 ratio of each pair |\n|:--|--:|--:|--:|--:|--:|:--|\n"
            .to_owned();
    for case in chosen {
        let (_, cpus, endless, short, usual) = case;
        let boots = setting("WAITS_BOOTS", "so many pairs", usual)?;
        let mut pairs = Vec::new();
        for seed in 1..=boots {
            let one = |scheduler| {
                boot(
                    shop,
                    &program,
                    scheduler,
                    (cpus, endless, short),
                    seed,
                    work.path(),
                )
            };
            pairs.push([one("kernel")?, one("wakeplace")?]);
            eprintln!(
                "{cpus} CPUs, {endless} without end, seed {seed}: {:?}",
                pairs[pairs.len() - 1]
            );
        }
        let _ = writeln!(
            table,
            "| {cpus} CPUs, {endless} without end, {short} short | {boots} | {} |",
            row(&pairs)
        );
    }
    publish(shop, page, "cargo xtask live-waits", &table)
}

/// Medians of both, and their ratios.
fn row(pairs: &[[[f64; 3]; 2]]) -> String {
    let of = |which: usize| {
        [0, 1, 2].map(|at| median(&pairs.iter().map(|pair| pair[which][at]).collect::<Vec<_>>()))
    };
    let text = |figures: [f64; 3]| figures.map(|figure| format!("{figure:.0}")).join(" / ");
    let ratios = |at: usize| {
        pairs
            .iter()
            .map(|[kernel, ours]| ours[at] / kernel[at])
            .collect::<Vec<_>>()
    };
    let mut longest = ratios(2);
    longest.sort_by(f64::total_cmp);
    let longest: Vec<String> = longest.iter().map(|ratio| format!("{ratio:.2}")).collect();
    format!(
        "{} | {} | {:.2} | {:.2} | {}",
        text(of(0)),
        text(of(1)),
        median(&ratios(1)),
        median(&ratios(2)),
        longest.join(", ")
    )
}

/// The 50th, 95th and 99th percentile of the waits of one boot.
fn boot(
    shop: &Shop,
    program: &Path,
    scheduler: &str,
    (cpus, endless, short): (u32, u32, u32),
    seed: u32,
    folder: &Path,
) -> Result<[f64; 3]> {
    let (app, trace) = (folder.join("app.json"), folder.join("trace"));
    // Each short task runs 0.3 of 5 ms.
    let timer = json!({"ref": "unique", "period": 5000, "mode": "absolute"});
    let tasks = json!({
        "hog": {"instance": endless, "loop": -1, "run": 1_000_000},
        "short": {"instance": short, "loop": -1, "run": 300, "timer": timer},
    });
    write(
        &app,
        json!({"global": {"duration": SECONDS}, "tasks": tasks}).to_string(),
    )?;
    let (cpus, seed) = (cpus.to_string(), seed.to_string());
    let run = cmd!(
        shop.sh,
        "{program} lab run --quiet --arch x86_64 --icount --kernel {KERNEL}"
    )
    .args([
        "--cpus",
        &cpus,
        "--scheduler",
        scheduler,
        "--seed",
        &seed,
        "--workload",
    ])
    .arg(&app)
    .arg("--trace")
    .arg(&trace)
    .quiet()
    .ignore_stdout();
    call(run)?;
    let text = std::fs::read(&trace).context("a trace")?;
    let waits = waits_us(&String::from_utf8_lossy(&text));
    ensure!(
        !waits.is_empty(),
        "no wake-up of a short task in a trace of {scheduler}"
    );
    Ok([0.5, 0.95, 0.99].map(|share| percentile(&waits, share)))
}

/// From each wake-up of a short task until it runs.
fn waits_us(trace: &str) -> Vec<f64> {
    let (mut woken, mut waits) = (BTreeMap::new(), Vec::new());
    for event in trace.lines().filter_map(event) {
        let is_short =
            |key: &str| value(event.what, key).is_some_and(|name| name.starts_with("short"));
        match event.kind {
            "sched_waking" if is_short("comm") => {
                let pid = value(event.what, "pid").unwrap_or_default();
                woken.entry(pid).or_insert(event.time_us);
            }
            "sched_switch" if is_short("next_comm") => {
                let pid = value(event.what, "next_pid").unwrap_or_default();
                waits.extend(woken.remove(pid).map(|begin| event.time_us - begin));
            }
            _ => {}
        }
    }
    waits
}

/// A task that was woken and has not run yet.
struct Wait {
    time_us: f64,
    cpu: u32,
    /// Was its CPU idle, at first?
    running: BTreeMap<u32, String>,
    behind_another: bool,
}

/// `idle-waits FOLDER [--page]`
///
/// # Errors
/// A recording is not in the folder.
pub fn idle(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let (folder, page) = match arguments {
        [folder] => (folder, false),
        [folder, "--page"] => (folder, true),
        _ => return Err(usage("expected FOLDER [--page]")),
    };
    let folder = shop.root.join(folder);
    let mut found = Vec::new();
    for (_, end) in RECORDINGS {
        let mut waits = Vec::new();
        let mut some = false;
        for path in shop.sh.read_dir(&folder)? {
            if path.to_string_lossy().ends_with(end) && path.join("stdout").exists() {
                let text = std::fs::read(path.join("stdout"))?;
                waits.extend(idle_waits(&String::from_utf8_lossy(&text)));
                some = true;
            }
        }
        if !some {
            bail!("{}: no recording *{end}", folder.display());
        }
        found.push(waits);
    }
    publish(shop, page, "cargo xtask idle-waits", &idle_table(&found))
}

/// Whether to an idle CPU, how many others were busy, and the wait in us.
type IdleWait = (bool, usize, f64);

/// The table of the page.
fn idle_table(found: &[Vec<IdleWait>]) -> String {
    let both = |values: &[f64]| match values {
        [] => "-".to_owned(),
        _ => {
            let [middle, most] = [0.5, 0.95].map(|share| percentile(values, share));
            format!("{middle:.0} / {most:.0} ({})", values.len())
        }
    };
    let names = RECORDINGS.map(|(name, _)| name).join(" | ");
    let mut text = format!("| other CPUs that run something | {names} |\n|:--|--:|--:|--:|--:|\n");
    for others in 0..=MOST {
        let more = if others == MOST { " and more" } else { "" };
        let _ = write!(text, "| {others}{more} |");
        for waits in found {
            let own = waits
                .iter()
                .filter(|(idle, busy, _)| *idle && (*busy).min(MOST) == others);
            let _ = write!(
                text,
                " {} |",
                both(&own.map(|wait| wait.2).collect::<Vec<_>>())
            );
        }
        text.push('\n');
    }
    text.push_str("| all wake-ups, to busy CPUs too |");
    for waits in found {
        let _ = write!(
            text,
            " {} |",
            both(&waits.iter().map(|wait| wait.2).collect::<Vec<_>>())
        );
    }
    text + "\n"
}

/// The waits of one recording that ended on an idle CPU.
fn idle_waits(recording: &str) -> Vec<IdleWait> {
    let mut running: BTreeMap<u32, String> = BTreeMap::new();
    let mut woken: BTreeMap<String, Wait> = BTreeMap::new();
    let mut found = Vec::new();
    for line in recording.lines() {
        if line.starts_with("=== load ") {
            running.clear();
            woken.clear();
        }
        let Some(event) = event(line) else { continue };
        let of = |key: &str| value(event.what, key).unwrap_or_default().to_owned();
        let number = |key: &str| of(key).parse().unwrap_or_default();
        match event.kind {
            "sched_waking" if is_task(&of("comm")) => {
                woken.insert(
                    of("pid"),
                    Wait {
                        time_us: event.time_us,
                        cpu: number("target_cpu"),
                        running: running.clone(),
                        behind_another: false,
                    },
                );
            }
            "sched_migrate_task" => {
                if let Some(wait) = woken.get_mut(&of("pid")) {
                    wait.cpu = number("dest_cpu");
                }
            }
            "sched_switch" => {
                let next = of("next_pid");
                running.insert(event.cpu, next.clone());
                if let Some(wait) = woken.remove(&next) {
                    let idle = wait.running.get(&wait.cpu).is_some_and(|pid| pid == "0");
                    let others = wait
                        .running
                        .iter()
                        .filter(|(cpu, pid)| **cpu != wait.cpu && *pid != "0");
                    let us = event.time_us - wait.time_us;
                    found.push((idle && !wait.behind_another, others.count(), us));
                } else if next != "0" {
                    for wait in woken.values_mut() {
                        wait.behind_another |= wait.cpu == event.cpu;
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Tasks of `cargo xtask fidelity` are t0, t1 and so on.
fn is_task(name: &str) -> bool {
    let digits = name.strip_prefix('t').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{idle_waits, row, waits_us};

    const TRACE: &str = "\
 <idle>-0 [000] d..4.   1.000010: sched_waking: comm=short-1 pid=7 prio=120 target_cpu=001
 h-5 [001] d.2. 1.000030: sched_switch: prev_comm=hog prev_pid=5 ==> next_comm=short-1 next_pid=7
 x-9 [001] d..2.   1.000040: sched_switch: prev_comm=x prev_pid=9 ==> next_comm=short-1 next_pid=7
";

    #[test]
    fn a_wait_ends_when_the_task_runs() {
        let waits: Vec<_> = waits_us(TRACE).iter().map(|us| us.round()).collect();
        assert_eq!(waits, [20.0]);
    }

    #[test]
    fn waits_on_idle_cpus_are_told_apart() {
        let text = "=== load a\n [000] d 1.0: sched_switch: prev_pid=1 next_pid=0 x\n \
                    [001] d 1.1: sched_switch: prev_pid=1 next_pid=9 x\n \
                    [001] d 1.2: sched_waking: comm=t3 pid=3 prio=1 target_cpu=000\n \
                    [000] d 1.200007: sched_switch: prev_pid=0 next_pid=3 x\n";
        let found = idle_waits(text);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0, found[0].1, found[0].2.round()), (true, 1, 7.0));
    }

    #[test]
    fn ratios_are_of_pairs() {
        let pairs = [
            [[10.0, 20.0, 30.0], [5.0, 10.0, 60.0]],
            [[10.0, 20.0, 30.0], [5.0, 30.0, 30.0]],
        ];
        assert_eq!(
            row(&pairs),
            "10 / 20 / 30 | 5 / 20 / 45 | 1.00 | 1.50 | 1.00, 2.00"
        );
    }
}

//! Schedulers of others in the simulator, which must do the same each time and everywhere.
//!
//! - `cargo xtask schedulers-check`: those in PATH for a minute with each of seven loads, twice:
//!   both runs are the same. How a scheduler ends is part of that: one that has no callbacks for
//!   CPUs that come and go ends when one does, and one that leaves a task waiting is ended by the
//!   watchdog, which says for whom. Two loads are the same ping-pong, one without the platform's
//!   kernel threads, which some schedulers leave waiting (docs/guide/schedulers.md): without them a
//!   stall is an error. Each line has the hash of what happened. SCHEDULERS: their command lines,
//!   separated by commas
//! - `cargo xtask schedulers-arm64`: the same, once, in an emulated arm64 machine, of schedulers
//!   and a simulator that are built for it as static programs, and on this machine: what happens is
//!   the same. SCHEDULERS_KEEP=FOLDER: where what the guests bring back is left; a later run goes
//!   on with it. REGISTRY: those of cargo's registry, NAME@VERSION each; KERNELS_OWN: those of the
//!   kernel's tools
//!
//! DURATION=60s: simulated time of each run, 5s at least.
//!
//! What must stay: loads and lengths, or hashes of two machines are not of one run. Free: how it is
//! done, and words that no test or script reads. Tests by part: `ends_are_judged_by_the_load`
//! (`verdict`). `line`, `here`, `check`, `arm64`, `in_guest` have no test of their own:
//! `schedulers-check` and `schedulers-arm64` run them in nightly.
//!
//! Callers: commands.rs (`arm64`, `check`), checks/list.rs (`arm64`, `check`).
//!
//! Tests: below

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Guests, needed};
use crate::gives::programs::{self, Kind, Machine, arm64_tool};
use crate::shop::{Shop, find, missing, read, sha256, text_of, write};
use crate::tries::kernel_schedulers;

const NAMED: &str = "scx_bpfland,scx_cosmos,scx_lavd,scx_p2dq,scx_rusty,scx_simple,scx_central,\
                     scx_flatcg,scx_pair,scx_qmap";
const REGISTRY: &str = "scx_bpfland@1.1.4 scx_cosmos@1.1.7 scx_lavd@1.1.4 scx_rusty@1.1.4";
/// Name and workload with options; AFFINITY is a file.
const LOADS: [(&str, &str); 7] = [
    ("periodic", "periodic:n=20,duty=10%"),
    ("ping-pong", "context-switch:pairs=4"),
    (
        "alone",
        "context-switch:pairs=4 --set model.housekeeping=off",
    ),
    ("hogs", "busy-loops:n=12"),
    ("messaging", "messaging:"),
    ("affinity", "AFFINITY"),
    (
        "hotplug",
        "periodic:n=20,duty=10% --hotplug 1s:3=off,2s:3=on,3s:6=off,4s:6=on",
    ),
];
const AFFINITY: &str = r#"{"global": {"calibration": "CPU0"}, "tasks": {"a": {"instance": 6,
    "loop": -1, "phases": {
    "x": {"cpus": [1], "loop": 4, "run": 1000, "sleep": 6000},
    "y": {"cpus": [2, 5], "loop": 4, "run": 1000, "sleep": 6000},
    "z": {"cpus": [0, 1, 2, 3, 4, 5, 6, 7], "loop": 2, "run": 1000, "sleep": 6000}}}}}
"#;

/// The words of a run.
fn line(load: &str, scheduler: &str, affinity: &str, twice: bool) -> Vec<String> {
    let mut words: Vec<String> = ["sim", "--platform", "hikey960", "--workload"]
        .map(str::to_owned)
        .to_vec();
    words.extend(
        load.replace("AFFINITY", affinity)
            .split(' ')
            .map(str::to_owned),
    );
    let duration = text_of("DURATION").unwrap_or("60s".into());
    words.extend([
        "--duration".to_owned(),
        duration,
        "--scheduler".to_owned(),
        scheduler.to_owned(),
    ]);
    let mode: &[&str] = if twice {
        &["--verify-determinism"]
    } else {
        &["--format", "json"]
    };
    words.extend(mode.iter().map(|word| (*word).to_owned()));
    words
}

/// What came of a run, and whether that is as it must be.
fn verdict(load: &str, code: Option<i32>, said: &str) -> (String, bool) {
    let json = said
        .split("\"event_hash\": \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    // Of two runs it is there if they are identical.
    let identical = said.lines().filter(|line| line.starts_with("identical: "));
    let twice = identical
        .filter_map(|line| line.split("hash=").nth(1))
        .next();
    let last = said.lines().last().unwrap_or_default();
    let failed = || (format!("FAILED: {last}"), false);
    let Some(hash) = json.or(twice) else {
        return failed();
    };
    let stall = said
        .split("stall (")
        .nth(1)
        .and_then(|rest| rest.split(')').next());
    match (code, load) {
        (Some(0), _) => (hash.to_owned(), true),
        (Some(1), "ping-pong") => match stall {
            Some(who) => (format!("{hash}, until the watchdog: stall ({who})"), true),
            None => failed(),
        },
        (Some(1), "hotplug") if said.contains(", exiting scheduler") => {
            (format!("{hash}, until a CPU left"), true)
        }
        _ => failed(),
    }
}

/// All loads with these schedulers on this machine: a line each.
fn here(program: &Path, schedulers: &[String], work: &Path) -> Result<Vec<String>> {
    let affinity = work.join("affinity.json");
    write(&affinity, AFFINITY)?;
    let mut lines = Vec::new();
    let mut failed = 0;
    for scheduler in schedulers {
        for (name, load) in LOADS {
            let words = line(load, scheduler, &affinity.to_string_lossy(), true);
            let output = Command::new(program).args(words).output()?;
            let said =
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            let (text, held) = verdict(name, output.status.code(), &said);
            failed += usize::from(!held);
            let own = scheduler.rsplit('/').next().unwrap_or(scheduler);
            lines.push(format!("{own:<14} {name:<10} {text}"));
            println!("{}", lines[lines.len() - 1]);
        }
    }
    ensure!(failed == 0, "{failed} runs failed");
    Ok(lines)
}

/// `schedulers-check`
///
/// # Errors
/// A difference or an error, or none of the schedulers is there.
pub fn check(shop: &Shop) -> Result<()> {
    let program = shop.program()?;
    let named = text_of("SCHEDULERS").unwrap_or(NAMED.to_owned());
    let is_there = |line: &&str| {
        let there = line
            .split(' ')
            .next()
            .is_some_and(|name| find(name).is_some());
        if !there {
            println!("{line:<14} not in PATH");
        }
        there
    };
    let schedulers: Vec<String> = named
        .split(',')
        .filter(is_there)
        .map(str::to_owned)
        .collect();
    if schedulers.is_empty() {
        return Err(missing("none of the schedulers is in PATH"));
    }
    let work = shop.scratch()?;
    here(&program, &schedulers, work.path()).map(drop)
}

/// `schedulers-arm64`
///
/// # Errors
/// Something does not hold, or cannot be had here.
pub fn arm64(shop: &Shop) -> Result<()> {
    programs::make(shop, Kind::Simulator, &[Machine::Arm64])?;
    let own = kernel_schedulers::build(shop, Machine::Arm64)?;
    let own_here = kernel_schedulers::build(shop, Machine::X86)?;
    let (mut there, mut here_too) = (Vec::new(), Vec::new());
    let kernels = text_of("KERNELS_OWN").unwrap_or("simple central flatcg pair qmap".into());
    for name in kernels.split_whitespace() {
        there.push(own.join(format!("scx_{name}")));
        here_too.push(own_here.join(format!("scx_{name}")).display().to_string());
    }
    for peer in text_of("REGISTRY")
        .unwrap_or(REGISTRY.into())
        .split_whitespace()
    {
        let (name, version) = peer.split_once('@').unwrap_or((peer, ""));
        there.push(arm64_tool(shop, name, version)?);
        here_too.push(shop.tool(name, version, &[])?.display().to_string());
    }
    let keep = text_of("SCHEDULERS_KEEP").map(|folder| shop.root.join(folder));
    let guests = Guests::open(shop, keep)?;
    let mut of_guests = Vec::new();
    for program in &there {
        of_guests.extend(in_guest(&guests, program)?);
    }
    let of_here = here(&guests.program, &here_too, &guests.keep)?;
    let differ: Vec<_> = of_here
        .iter()
        .zip(&of_guests)
        .filter(|(a, b)| a != b)
        .collect();
    for (here, there) in &differ {
        println!("here:  {here}\narm64: {there}");
    }
    println!(
        "{} runs on both machines, {} differ",
        of_here.len(),
        differ.len()
    );
    ensure!(
        differ.is_empty() && of_here.len() == of_guests.len(),
        "the machines differ"
    );
    Ok(())
}

/// All loads with one scheduler, in a guest of its own. What is whole, of these programs, is not
/// run again.
fn in_guest(guests: &Guests, program: &Path) -> Result<Vec<String>> {
    let simulator = guests.lab.join("arm64/wakeplace");
    let name = program
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let folder = format!("{name}-{}", text_of("DURATION").unwrap_or("60s".into()));
    let mut script = "chmod +x wakeplace scx_*\n".to_owned();
    for (load, words) in LOADS {
        let words = line(words, &format!("./{name}"), "affinity.json", false);
        let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        script += &format!("./wakeplace {} >said 2>&1\n", words.join(" "));
        script += &format!("echo \"=== {load} $?\"; cat said\n");
    }
    let (run, affinity) = (
        guests.keep.join("run.sh"),
        guests.keep.join("affinity.json"),
    );
    write(&run, &script)?;
    write(&affinity, AFFINITY)?;
    let built = [
        std::fs::read(&simulator)?,
        std::fs::read(program)?,
        script.into_bytes(),
    ]
    .concat();
    let built = sha256(&built, 64);
    let whole = guests.keep.join(&folder).join("whole");
    if !read(&whole).is_ok_and(|text| text == built) {
        let add =
            [&simulator, program, &run, &affinity].map(|path| path.to_string_lossy().into_owned());
        let add: Vec<&str> = add.iter().map(String::as_str).collect();
        let options = [
            "--arch",
            "arm64",
            "--scheduler",
            "kernel",
            "--timeout",
            "180m",
        ];
        let ended = guests.run(&folder, &options, &add, "sh run.sh")?;
        ensure!(ended.code == 0, "{name}: {}", ended.end());
        write(&whole, &built)?;
    }
    let run = super::Run {
        folder: guests.keep.join(&folder),
        code: 0,
    };
    let mut lines = Vec::new();
    for part in needed(&run, "stdout")?.split("=== ").skip(1) {
        let (head, said) = part.split_once('\n').unwrap_or((part, ""));
        let (load, code) = head.split_once(' ').unwrap_or((head, ""));
        let (text, held) = verdict(load, code.parse().ok(), said);
        lines.push(format!("{name:<14} {load:<10} {text}"));
        println!("{}", lines[lines.len() - 1]);
        ensure!(held, "{name}, {load}, in the guest");
    }
    ensure!(
        lines.len() == LOADS.len(),
        "{name}: {} of {} loads",
        lines.len(),
        LOADS.len()
    );
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn ends_are_judged_by_the_load() {
        let once = "{\n\"event_hash\": \"ab\"\n}\nerror: runnable task stall (a:1 failed to run)\n";
        assert_eq!(verdict("hogs", Some(0), once), ("ab".to_owned(), true));
        let stalled = (
            "ab, until the watchdog: stall (a:1 failed to run)".to_owned(),
            true,
        );
        assert_eq!(verdict("ping-pong", Some(1), once), stalled);
        assert!(!verdict("alone", Some(1), once).1);
        let twice = "x\nidentical: 2 runs hash=cd\n";
        assert_eq!(verdict("hogs", Some(0), twice).0, "cd");
        assert!(!verdict("hogs", Some(0), "no hash").1);
        let left = "identical: hash=cd\nCPU 3 going offline, exiting scheduler\n";
        assert_eq!(
            verdict("hotplug", Some(1), left),
            ("cd, until a CPU left".to_owned(), true)
        );
    }
}

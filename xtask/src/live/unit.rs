//! What is tried in an emulated Debian machine whose first process is systemd: `cargo xtask
//! live-unit`, the systemd unit (part of `make live-test`), and `cargo xtask dist-test`, which
//! installs, runs and removes both Debian packages of `make dist` (ARCHITECTURE.md, "Real
//! machines").
//!
//! What must stay: steps are the scripts'; a step that fails has its output shown. Free: how it is
//! done, and words that no test or script reads. Tests by part: `run`, `in_guest`, `packages` have
//! no test of their own: they are the test.
//!
//! Callers: commands.rs (`packages`, `run`), checks/list.rs (`packages`).
//!
//! Tests: none; it is itself a test (`make live-test`), of scripts/live/systemd.sh and deb.sh.

use anyhow::{Context, Result};

use super::{Guests, script};
use crate::gives::dist;
use crate::shop::{Shop, missing};

/// One clock for all CPUs: the times of the unit and of its test must not depend on how busy this
/// machine is.
const OPTIONS: [&str; 10] = [
    "--arch",
    "x86_64",
    "--cpus",
    "2",
    "--icount",
    "--systemd",
    "--scheduler",
    "kernel",
    "--timeout",
    "30m",
];

/// The unit.
///
/// # Errors
/// A step does not hold.
pub fn run(shop: &Shop) -> Result<()> {
    let guests = Guests::open(shop, None)?;
    in_guest(&guests)?;
    guests.all_held()
}

/// The same with guests of others.
///
/// # Errors
/// The lab cannot be started.
pub fn in_guest(guests: &Guests) -> Result<()> {
    println!("==== the unit, under systemd");
    let own = script("systemd.sh");
    let add = [
        &own,
        "packaging/scx_wakeplace.service",
        "packaging/scx_wakeplace.default",
    ];
    let run = guests.run("systemd", &OPTIONS, &add, "sh systemd.sh")?;
    let steps = run.text("live-systemd-steps");
    print!("{steps}");
    let held = |line: &str| {
        let count = line
            .strip_prefix("steps: ")
            .and_then(|rest| rest.strip_suffix(", failed: 0"));
        count
            .and_then(|count| count.parse::<u32>().ok())
            .is_some_and(|count| count > 0)
    };
    if !steps.lines().any(held) {
        guests.fault(format!("systemd: a step did not hold: {}", run.end()));
    }
    // The lab asked for the kernel's scheduler, and must see that the unit had brought another one.
    if run.code != 1 || !run.text("log").contains("asked for scheduler kernel") {
        guests.fault(format!(
            "systemd: expected exit code 1 of the lab: {}",
            run.end()
        ));
    }
    guests.silent(&run, "systemd");
    Ok(())
}

/// The packages.
///
/// # Errors
/// A step does not hold, or `make dist` has not been run.
pub fn packages(shop: &Shop) -> Result<()> {
    let folder = dist::folder(shop);
    if !folder.join("SHA256SUMS").exists() {
        return Err(missing("dist/SHA256SUMS is missing: run `make dist`"));
    }
    let guests = Guests::open(shop, None)?;
    let mut add = vec![script("deb.sh")];
    for path in shop.sh.read_dir(&folder)? {
        let path = path.to_str().context("a path in UTF-8")?.to_owned();
        if path.ends_with("_amd64.deb") {
            add.push(path);
        }
    }
    let mut options = OPTIONS.to_vec();
    for package in ["dpkg", "tar", "init-system-helpers"] {
        options.extend(["--package", package]);
    }
    let add: Vec<&str> = add.iter().map(String::as_str).collect();
    let run = guests.run("deb", &options, &add, "sh deb.sh")?;
    let steps = run.text("live-deb-steps");
    print!("{steps}");
    // The lab asked for the kernel's scheduler, and says that another one ran: exit code 1.
    if !steps.lines().any(|line| line == "steps failed: 0") {
        guests.fault(format!("packages: {}", run.end()));
    }
    guests.all_held()
}

//! `cargo xtask soak [--page]`: the live scheduler under all kinds of work, mixed and repeated, for
//! a long time: load, CPUs that come and go, control groups that come and go, its policy and mode
//! switched all the while. Takes what `make lab` and `make build` made (docs/results/live.md,
//! "Mixed work").
//!
//! A soak is made of parts, each a boot of its own with other seeds. A part that held is kept, so
//! that a soak that was interrupted goes on where it was; one of another build of the scheduler is
//! run again.
//!
//! - SOAK_MINUTES=30: how long in each guest, by the guest's clock
//! - SOAK_PART=30: minutes of a part; the last part may be shorter
//! - SOAK_GUESTS: ARCH:KERNEL[:NS] each. arm64 is a hikey960. NS: its clock counts instructions of
//!   so many nanoseconds. Default: x86_64 and the newest kernel
//! - SOAK_WORK=mixed: `mixed`, or `inside`: tasks of a group with a thousandth of a CPU hold what
//!   others wait for, and nothing else happens; the longest wait is then that of the others
//! - SOAK_JOBS=1: so many guests at a time
//! - SOAK_CLOCK=host: the other guests' clock: `host`, or `instructions:NS`. By the host's clock a
//!   guest stalls if the host is busy: do nothing else meanwhile. The other takes a core a guest.
//!   With 16 ns an hour of an x86-64 guest of four CPUs takes about an hour of it, an arm64 guest's
//!   40 minutes
//! - SOAK_KEEP=target/soak: where parts are kept
//!
//! What must stay: names of parts' folders, by which a soak goes on; the lines that scripts/live
//! writes. Free: how it is done, and words that no test or script reads. Tests by part: `run`,
//! `whole`, `guest`, `lengths`, `name`, `parts`, `part`, `totals` have no test of their own: `make
//! soak` runs them.
//!
//! Callers: commands.rs (`run`).
//!
//! Tests: none; what it judges by is `judge`'s, which has tests.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::cost::wants_page;
use super::{Guests, Job, Run, Said, first_figure, lines_of, publish, script};
use crate::gives::programs::Machine;
use crate::shop::{Shop, read, setting, sha256, text_of, usage, write};

/// A kind of guest.
struct Guest {
    machine: Machine,
    kernel: String,
    /// Nanoseconds of an instruction, where its clock counts them.
    ns: Option<u32>,
    /// Names the clock, and the build of the scheduler.
    runs: String,
}

struct Soak {
    guests: Guests,
    minutes: u32,
    part: u32,
    work: Mix,
}

/// What its guests do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mix {
    Mixed,
    Inside,
}

impl Mix {
    /// As it is asked for.
    fn asked() -> Result<Self> {
        match text_of("SOAK_WORK").as_deref() {
            None | Some("mixed") => Ok(Self::Mixed),
            Some("inside") => Ok(Self::Inside),
            Some(other) => Err(usage(format!(
                "SOAK_WORK={other}: expected mixed or inside"
            ))),
        }
    }

    /// To guest.sh, and in names of parts.
    const fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Inside => "inside",
        }
    }

    /// The command of its part of the page.
    const fn command(self) -> &'static str {
        match self {
            Self::Mixed => "cargo xtask soak",
            Self::Inside => "SOAK_WORK=inside cargo xtask soak",
        }
    }
}

/// Soaks.
///
/// # Errors
/// Something does not hold.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let page = wants_page(arguments)?;
    let keep = text_of("SOAK_KEEP").map(|folder| shop.root.join(folder));
    let soak = Soak {
        guests: Guests::open(shop, Some(keep.unwrap_or(shop.target.join("soak"))))?,
        minutes: whole("SOAK_MINUTES", 30)?,
        part: whole("SOAK_PART", 30)?,
        work: Mix::asked()?,
    };
    let names = text_of("SOAK_GUESTS").unwrap_or("x86_64:".into());
    let mut all = Vec::new();
    for name in names.split_whitespace() {
        all.push(soak.guest(name)?);
    }
    let mut jobs: Vec<Job<'_>> = Vec::new();
    for (guest, name) in all.iter().zip(names.split_whitespace()) {
        let soak = &soak;
        jobs.push((
            name.to_owned(),
            Box::new(move |said| soak.parts(said, guest)),
        ));
    }
    soak.guests
        .side_by_side(whole("SOAK_JOBS", 1)? as usize, &jobs);
    soak.guests.all_held()?;
    let mut table =
        "| guest | kernel | an instruction | minutes | parts | rounds | wake-ups | forks | \
                     switches | longest wait | changes of policy and mode | answered late |\n\
                     |:--|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for guest in &all {
        table += &soak.totals(guest);
    }
    println!(
        "\nsoak: all held for {} minutes in each of: {names}\n",
        soak.minutes
    );
    publish(shop, page, soak.work.command(), &table)
}

/// A setting from 1 to 9999.
fn whole(name: &str, usual: u32) -> Result<u32> {
    let expected = "a whole number, 1 to 9999";
    match setting(name, expected, usual)? {
        value @ 1..=9999 => Ok(value),
        value => Err(usage(format!("{name}={value}: expected {expected}"))),
    }
}

impl Soak {
    /// A guest by its name.
    fn guest(&self, name: &str) -> Result<Guest> {
        let wrong = || {
            usage(format!(
                "SOAK_GUESTS: {name}: expected x86_64:KERNEL[:NS] or arm64:KERNEL[:NS]"
            ))
        };
        let words: Vec<&str> = name.split(':').collect();
        let (arch, kernel, ns) = match words[..] {
            [arch, kernel] => (arch, kernel, None),
            [arch, kernel, ns] => (arch, kernel, Some(ns.parse().map_err(|_| wrong())?)),
            _ => return Err(wrong()),
        };
        let clock = text_of("SOAK_CLOCK").unwrap_or("host".into());
        let ns = match (ns, clock.strip_prefix("instructions:")) {
            (Some(ns), _) => Some(ns),
            (None, Some(ns)) => Some(ns.parse().map_err(|_| wrong())?),
            (None, None) if clock == "host" => None,
            _ => {
                return Err(usage(format!(
                    "SOAK_CLOCK={clock}: expected host or instructions:NS"
                )));
            }
        };
        let machine = Machine::named(arch)?;
        let program = self.guests.lab.join(machine.name()).join("scx_wakeplace");
        let build = std::fs::read(&program).with_context(|| program.display().to_string())?;
        let clock = ns.map_or("host".to_owned(), |ns: u32| format!("instructions:{ns}"));
        Ok(Guest {
            machine,
            kernel: kernel.to_owned(),
            ns,
            runs: format!("{clock} {}", sha256(&build, 64)),
        })
    }

    /// The numbers of a guest's parts and their minutes.
    fn lengths(&self) -> impl Iterator<Item = (u32, u32)> {
        let (minutes, part) = (self.minutes, self.part);
        (0..minutes.div_ceil(part)).map(move |number| (number, part.min(minutes - number * part)))
    }

    /// Of a part's folder: a soak that goes on finds it.
    fn name(&self, guest: &Guest, number: u32) -> String {
        let work = match self.work {
            Mix::Mixed => String::new(),
            other => format!("-{}", other.name()),
        };
        let dash = if guest.kernel.is_empty() { "" } else { "-" };
        format!(
            "{}{dash}{}{work}/part-{number}",
            guest.machine.name(),
            guest.kernel
        )
    }

    /// One after the other, until one fails.
    fn parts(&self, said: &mut Said, guest: &Guest) -> Result<()> {
        for (number, minutes) in self.lengths() {
            let name = self.name(guest, number);
            let held = self.guests.keep.join(&name).join("held");
            let mark = format!("{minutes} {}\n", guest.runs);
            if read(&held).is_ok_and(|text| text == mark) {
                said.say(format!("soak: {name}: held before"));
            } else if !self.part(said, guest, &name, number, minutes)? {
                return Ok(());
            } else {
                write(&held, mark)?;
            }
        }
        Ok(())
    }

    /// Boots one part; did it hold? One that held is kept.
    fn part(
        &self,
        said: &mut Said,
        guest: &Guest,
        name: &str,
        number: u32,
        minutes: u32,
    ) -> Result<bool> {
        let mut options = vec!["--arch", guest.machine.name(), "--scheduler", "wakeplace"];
        let icount = guest.ns.map(|ns| format!("--icount={ns}"));
        options.extend(icount.as_deref());
        // By another clock than the host's a minute may take several.
        let timeout = format!("{}m", minutes * 6 + 20);
        options.extend(["--timeout", &timeout]);
        if guest.machine == Machine::Arm64 {
            options.extend(["--platform", "hikey960"]);
        }
        if !guest.kernel.is_empty() {
            options.extend(["--kernel", &guest.kernel]);
        }
        let add = ["guest.sh", "group-storm.sh", "load.json"].map(script);
        let add = [add[0].as_str(), &add[1], &add[2]];
        let command = format!("sh guest.sh soak {minutes} {number} {}", self.work.name());
        let run = self.guests.run(name, &options, &add, &command)?;
        let before = self.guests.faults();
        if run.code == 0 {
            self.guests.clean(&run, name);
        } else {
            self.guests.fault(format!("soak: {name}: {}", run.end()));
        }
        let rounds = lines_of(&run.text("log"), &["rounds: "]);
        said.say(format!(
            "soak: {name}: {} in {minutes} minutes",
            rounds.trim()
        ));
        Ok(self.guests.faults() == before)
    }

    /// The longest wait of a part, us: of all tasks, or of those outside of the small group.
    fn longest_us(&self, log: &str, status: &str) -> f64 {
        if self.work == Mix::Mixed {
            return first_figure(status, "max");
        }
        let others = log.split("others waited for ").skip(1);
        let waits = others.filter_map(|rest| rest.split(' ').next()?.parse::<f64>().ok());
        waits.fold(0.0, f64::max)
    }

    /// A row of the table.
    fn totals(&self, guest: &Guest) -> String {
        let (mut sums, mut longest_us, mut kernel) = ([0.0; 6], 0.0f64, String::new());
        let mut parts = 0;
        for (number, _) in self.lengths() {
            let folder: PathBuf = self.guests.keep.join(self.name(guest, number));
            let run = Run { folder, code: 0 };
            let (log, status) = (run.text("log"), run.text("live-status.json"));
            let switches = lines_of(&log, &["switches: "]);
            let after = |text: &str, word: &str| -> f64 {
                let rest = text.split(word).nth(1).unwrap_or_default().trim();
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                rest[..end].parse().unwrap_or_default()
            };
            let own = [
                after(&lines_of(&log, &["rounds: "]), "rounds: "),
                first_figure(&status, "wakeups"),
                first_figure(&status, "forks"),
                first_figure(&status, "switches"),
                after(&switches, "switches: "),
                after(&switches, "late: "),
            ];
            sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            longest_us = longest_us.max(self.longest_us(&log, &status));
            kernel = run.kernel();
            parts += 1;
        }
        let [rounds, wakeups, forks, switches, changes, late] = sums;
        let clock = guest.ns.map_or("host".to_owned(), |ns| format!("{ns} ns"));
        let longest_s = (longest_us / 1e5).floor() / 10.0;
        format!(
            "| {} | {kernel} | {clock} | {} | {parts} | {rounds} | {wakeups} | {forks} | \
             {switches} | {longest_s:.1} s | {changes} | {late} |\n",
            guest.machine.name(),
            self.minutes
        )
    }
}

//! `cargo xtask bench PROGRAM [BEFORE]`: how fast the whole program is. Simulated seconds a second
//! on four machines, what exports cost, how long the program takes to start, how large it is
//! (docs/internals/performance.md). BEFORE is another build, whose runs are made in turn.
//!
//! Each figure is the least of several runs, in processor time (user and system, as the kernel
//! charged it to the process) and in wall time: on a shared machine only the first says something.
//! WAKEPLACE_BENCH_QUICK=1: fewer and shorter runs. It judges nothing.
//!
//! What must stay: machines and lengths, or figures of two builds cannot be compared. Free: how it
//! is done, and words that no test or script reads. Tests by part: `least`, `run`, `line`, `spent`,
//! `measure`, `speeds`, `exports`, `start_and_size` have no test of their own: the table that they
//! print is looked at.
//!
//! Callers: commands.rs (`run`).
//!
//! Tests: none; it prints times and judges nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xshell::cmd;

use crate::shop::{Shop, run as call, text_of, usage};

/// Name, length in ms, what must be and what is aimed at, and the run.
const SPEEDS: [(&str, u64, &str, &str, &str); 5] = [
    (
        "50 tasks, 8 CPUs, 4.17+energy-aware",
        30_000,
        "400",
        "520",
        PHONE,
    ),
    (
        "50 tasks, 8 CPUs, 7.3",
        30_000,
        "330",
        "450",
        "hikey960 periodic:n=50,period=16ms,duty=5% linux-7.3",
    ),
    (
        "50 tasks, 8 CPUs, wakeplace",
        30_000,
        "330",
        "450",
        "hikey960 periodic:n=50,period=16ms,duty=5% wakeplace",
    ),
    (
        "640 tasks, 64 CPUs, 6.12",
        10_000,
        "20",
        "30",
        "snb-ep-4s periodic:n=640,period=16ms,duty=5% linux-6.12",
    ),
    (
        "224 pairs, 224 CPUs, 6.2",
        200,
        "0.2",
        "0.4",
        "spr-2s context-switch:pairs=224 linux-6.2",
    ),
];
const PHONE: &str = "hikey960 periodic:n=50,period=16ms,duty=5% linux-4.17+energy-aware";
/// Runs that are exported, and their lengths in ms.
const EXPORTED: [(&str, u64, &str); 2] = [
    ("50 tasks, hikey960", 60_000, PHONE),
    (
        "context switches, 224 CPUs",
        3_000,
        "spr-2s context-switch: linux-6.2+sis-short",
    ),
];
const EXPORTS: [(&str, &str); 3] = [
    ("perfetto", "t.pftrace"),
    ("ftrace", "t.txt"),
    ("parquet", "t.tables"),
];

/// Processor and wall time, s.
#[derive(Clone, Copy)]
struct Time {
    cpu: f64,
    wall: f64,
}

impl Time {
    const NEVER: Self = Self {
        cpu: f64::INFINITY,
        wall: f64::INFINITY,
    };

    /// Of each kind of time.
    fn least(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.min(other.cpu),
            wall: self.wall.min(other.wall),
        }
    }
}

struct Bench<'a> {
    shop: &'a Shop,
    program: PathBuf,
    before: Option<PathBuf>,
    rounds: u32,
    shorter: u64,
    work: xshell::TempDir,
}

/// Prints the table.
///
/// # Errors
/// A program fails.
pub fn run(shop: &Shop, programs: &[&str]) -> Result<()> {
    let (program, before) = match programs {
        [program] => (program, None),
        [program, before] => (program, Some(shop.root.join(before))),
        _ => return Err(usage("expected PROGRAM [BEFORE]")),
    };
    let quick = text_of("WAKEPLACE_BENCH_QUICK").is_some();
    let bench = Bench {
        shop,
        program: shop.root.join(program),
        before,
        rounds: if quick { 3 } else { 7 },
        shorter: if quick { 5 } else { 1 },
        work: shop.scratch()?,
    };
    bench.speeds()?;
    bench.exports()?;
    bench.start_and_size()
}

/// The words of a run, `PLATFORM WORKLOAD POLICY`.
fn line(run: &str, ms: u64) -> Vec<String> {
    let options = ["--platform", "--workload", "--policy"];
    let mut line: Vec<String> = ["sim", "--quiet", "--seed", "7"]
        .map(str::to_owned)
        .to_vec();
    for (option, value) in options.iter().zip(run.split(' ')) {
        line.extend([(*option).to_owned(), value.to_owned()]);
    }
    line.extend(["--duration".to_owned(), format!("{ms}ms")]);
    line
}

impl Bench<'_> {
    /// The shell's own `time` has microseconds of a child.
    fn spent(&self, program: &Path, line: &[String]) -> Result<Time> {
        const TIMED: &str = "TIMEFORMAT='%3U %3S %3R'; time \"$@\" >/dev/null 2>&1";
        // An export of the run before is not replaced: to throw that away would count as well.
        for (_, file) in EXPORTS {
            self.shop.sh.remove_path(self.work.path().join(file))?;
        }
        let said = cmd!(self.shop.sh, "bash -c {TIMED} timed {program} {line...}")
            .quiet()
            .read_stderr()?;
        let times: Vec<f64> = said.split_whitespace().flat_map(str::parse).collect();
        let [user, system, wall] = times[..] else {
            anyhow::bail!("bash's time said `{said}`");
        };
        Ok(Time {
            cpu: user + system,
            wall,
        })
    }

    /// The least over the rounds, of this program and of the other in turn.
    fn measure(&self, line: &[String]) -> Result<(Time, Time)> {
        let mut least = (Time::NEVER, Time::NEVER);
        for _ in 0..self.rounds {
            least.0 = least.0.least(self.spent(&self.program, line)?);
            if let Some(before) = &self.before {
                least.1 = least.1.least(self.spent(before, line)?);
            }
        }
        Ok(least)
    }

    /// Simulated seconds a second on four machines.
    fn speeds(&self) -> Result<()> {
        let columns = ("simulated s per s, by", "processor", "wall", "must", "aim");
        let (what, cpu, wall, must, aim) = columns;
        println!("{what:<36} {cpu:>9} {wall:>9} {must:>8} {aim:>8}");
        for (name, ms, must, aim, run) in SPEEDS {
            let ms = ms / self.shorter;
            let (own, other) = self.measure(&line(run, ms))?;
            let per_s = |spent: f64| ms as f64 / 1e3 / spent;
            let (cpu, wall) = (per_s(own.cpu), per_s(own.wall));
            print!("{name:<36} {cpu:>9.3} {wall:>9.3} {must:>8} {aim:>8}");
            if self.before.is_some() {
                print!("  x {:.2}", other.cpu / own.cpu);
            }
            println!();
        }
        Ok(())
    }

    /// Perfetto's file is aimed to be within 1.5 times.
    fn exports(&self) -> Result<()> {
        println!(
            "\n{:<36} {:>9} {:>9}",
            "exports, times the run without", "processor", "wall"
        );
        for (name, ms, run) in EXPORTED {
            let plain = line(run, ms / self.shorter);
            let (without, _) = self.measure(&plain)?;
            for (form, file) in EXPORTS {
                let mut line = plain.clone();
                let path = self.work.path().join(file);
                line.extend([
                    format!("--export-{form}"),
                    path.to_string_lossy().into_owned(),
                ]);
                let (with, _) = self.measure(&line)?;
                let (cpu, wall) = (with.cpu / without.cpu, with.wall / without.wall);
                println!("{:<36} {cpu:>9.2} {wall:>9.2}", format!("{name}: {form}"));
            }
        }
        Ok(())
    }

    /// How long the process takes to start, and how large the program is.
    fn start_and_size(&self) -> Result<()> {
        let (start, _) = self.measure(&["--version".to_owned()])?;
        let (cpu, wall) = (start.cpu * 1e3, start.wall * 1e3);
        println!(
            "\n{:<36} {cpu:>6.1} ms {wall:>6.1} ms",
            "start of the process"
        );
        let stripped = self.work.path().join("program");
        let program = &self.program;
        call(cmd!(self.shop.sh, "strip -o {stripped} {program}").quiet())?;
        let size = std::fs::metadata(&stripped)
            .context("the stripped program")?
            .len();
        println!(
            "{:<36} {:>6.1} MB",
            "program on disk, stripped",
            size as f64 / 1e6
        );
        Ok(())
    }
}

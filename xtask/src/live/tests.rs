//! `cargo xtask live-tests`: the live scheduler in emulated machines, on every x86-64 kernel that
//! can be had and on one arm64 kernel with a big.LITTLE machine. Takes what `make lab` and `make
//! build` made.
//!
//! `cargo xtask live-tests NAME...`: only the jobs whose names begin so; x86_64-VERSION each,
//! systemd, and those that `begun:` says.
//!
//! LIVE_QUICK=1: the size of continuous integration: kernels of two sched_ext interfaces and arm64,
//! and 1 s of each kind of work instead of 8. LIVE_KEEP=FOLDER: where all that the guests brought
//! back is left.
//!
//! The guest with the newest kernel has a thread of this machine per CPU, so that its CPUs meet as
//! real ones do; if all that went wrong is that it was slow, it runs once more like the others.
//! Those have one clock and run their CPUs in turn: slower, but how late a task is does not depend
//! on how busy this machine is.
//!
//! What must stay: what is expected of a guest is docs/guide/live.md and docs/decisions/011;
//! ceilings of the verifier are in a file and rise by a decision only; what LIVE_QUICK leaves out
//! is said. `in_size` opens the guests, `all` makes the jobs (`add_rest`: the full size), `kernels`
//! and `interface` choose versions, `guest` boots one. `steps` is one boot with all kinds of work,
//! judged by `verifier` and `no_stall`; `killed`, `placement`, `beside_the_kernel`, `own_kernels`,
//! `priced` and `without_sched_ext` are jobs of their own, each by the comment above it. Free:
//! order of the jobs, and kinds of work that are added. Callers: xtask/src/commands.rs (`run`) and
//! checks/list.rs (`in_size`). It has no test of its own: it is the test.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::judge::{Near, apart, only_late, over_ceilings};
use super::{Guests, Job, Run, Said, Work, lines_of, script, unit};
use crate::shop::{Shop, missing, read, text_of, usage};

const CEILINGS: &str = "crates/scx/verifier_ceilings.txt";
const IN_TURN: &str = "--icount";
/// The job that tries the systemd unit.
const UNIT: &str = "systemd";
const ARM64: [&str; 4] = ["--arch", "arm64", "--platform", "hikey960"];

struct Tests {
    guests: Guests,
    quick: bool,
    /// Jobs whose names begin so. Empty: all.
    only: Vec<String>,
    /// Programs of the kernel side, and what each may cost the verifier from 7.1 on and before.
    ceilings: String,
}

/// Runs them.
///
/// # Errors
/// Something does not hold, or there is no kernel to try.
pub fn run(shop: &Shop, only: &[&str]) -> Result<()> {
    let quick = text_of("LIVE_QUICK").is_some_and(|value| value != "0");
    these(shop, quick, only)
}

/// Runs them, or the size of continuous integration.
///
/// # Errors
/// Something does not hold, or there is no kernel to try.
pub fn in_size(shop: &Shop, quick: bool) -> Result<()> {
    these(shop, quick, &[])
}

fn these(shop: &Shop, quick: bool, only: &[&str]) -> Result<()> {
    let begin = std::time::Instant::now();
    let tests = Tests {
        guests: Guests::open(shop, None)?,
        quick,
        only: only.iter().map(ToString::to_string).collect(),
        ceilings: read(&shop.root.join(CEILINGS))?,
    };
    let (jobs, interfaces) = tests.all()?;
    tests.guests.all_held()?;
    println!(
        "\nlive tests: {jobs} jobs, all held, {interfaces} different sched_ext interfaces, {} s",
        begin.elapsed().as_secs()
    );
    Ok(())
}

/// Kernels before 7.0, 7.0, and later ones have three different interfaces (bpf/compat.h).
fn interface(version: &str) -> &'static str {
    match version {
        _ if version.starts_with("6.") => "6",
        _ if version.starts_with("7.0.") => "7.0",
        _ => "later",
    }
}

impl Tests {
    fn is_wanted(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|own| name.starts_with(own))
    }

    /// How many jobs and interfaces were tried.
    fn all(&self) -> Result<(usize, usize)> {
        if self.only.is_empty() {
            self.without_sched_ext()?;
        }
        let versions = self.kernels()?;
        let interfaces: BTreeSet<_> = versions.iter().map(|version| interface(version)).collect();
        if self.only.is_empty() && interfaces.len() < 2 {
            let what = format!("kernels with {} sched_ext interfaces", interfaces.len());
            self.guests.fault(format!("{what}, expected 2 or more"));
        }
        let newest = versions.first().map(String::as_str);
        let mut tried: BTreeSet<_> = newest.map(interface).into_iter().collect();
        let mut jobs: Vec<Job<'_>> = Vec::new();
        for version in versions.iter().skip(1) {
            let own = interface(version);
            if self.quick && (tried.len() >= 2 || tried.contains(own)) {
                continue;
            }
            tried.insert(own);
            let name = format!("x86_64-{version}");
            jobs.push((
                name.clone(),
                Box::new(move |said| {
                    self.steps(
                        said,
                        &name,
                        &["--arch", "x86_64", "--kernel", version, IN_TURN],
                    )
                }),
            ));
        }
        jobs.push((
            "arm64-hikey960".to_owned(),
            Box::new(|said| self.steps(said, "arm64-hikey960", &[&ARM64[..], &[IN_TURN]].concat())),
        ));
        if !self.quick {
            self.add_rest(&mut jobs, newest);
        }
        let mut names: Vec<String> = jobs.iter().map(|(name, _)| name.clone()).collect();
        let last = newest.map(|newest| (newest, format!("x86_64-{newest}")));
        names.extend(last.iter().map(|(_, name)| name.clone()));
        if !self.quick {
            names.push(UNIT.to_owned());
        }
        self.keep_wanted(&mut names)?;
        jobs.retain(|(name, _)| self.is_wanted(name));
        // Two at a time: each guest with one clock takes one thread of this machine.
        self.guests.side_by_side(2, &jobs);
        // Alone: it is the one that minds a busy machine.
        if let Some((newest, name)) = last.filter(|(_, name)| self.is_wanted(name)) {
            let mut said = Said::default();
            self.steps(&mut said, &name, &["--arch", "x86_64", "--kernel", newest])?;
            print!("{}", said.0);
        }
        if self.quick {
            println!(
                "**** NOT TRIED with LIVE_QUICK: all kernels and interfaces, own images, killed \
                 loader, placement, hints, shares, the unit (make live-test)"
            );
        } else if self.is_wanted(UNIT) {
            unit::in_guest(&self.guests)?;
        }
        let versions = names.iter().filter_map(|name| name.strip_prefix("x86_64-"));
        let tried: BTreeSet<_> = versions.map(interface).collect();
        Ok((names.len(), tried.len()))
    }

    /// Leaves the names of jobs that are asked for; each that is asked for begins one.
    fn keep_wanted(&self, names: &mut Vec<String>) -> Result<()> {
        for own in &self.only {
            if !names.iter().any(|name| name.starts_with(own)) {
                let all = names.join(", ");
                return Err(usage(format!("{own}: expected the begin of one of {all}")));
            }
        }
        names.retain(|name| self.is_wanted(name));
        Ok(())
    }

    /// Adds the jobs that only the full size has.
    fn add_rest<'a>(&'a self, jobs: &mut Vec<Job<'a>>, newest: Option<&'a str>) {
        let mut add = |name: &str, job: Work<'a>| {
            jobs.push((name.to_owned(), job));
        };
        add("placement", Box::new(|said| self.placement(said)));
        // What performance hints of groups change, on big and little CPUs with the kernel's energy
        // model: where tasks are and how fast, within 10 %.
        add(
            "hints",
            Box::new(|said| {
                self.beside_the_kernel(said, "hints", "hint:", Near::Within(10.0), &ARM64, "60")
            }),
        );
        let Some(newest) = newest else { return };
        add(
            "own-kernels",
            Box::new(move |said| self.own_kernels(said, newest)),
        );
        add("killed", Box::new(move |said| self.killed(said, newest)));
        // What control groups get of the CPUs, within 3 % of them.
        add(
            "shares",
            Box::new(move |said| {
                let options = ["--arch", "x86_64", "--kernel", newest];
                self.beside_the_kernel(said, "shares", "share:", Near::Within(3.0), &options, "3")
            }),
        );
        // How long others wait for what a small group holds: 50 ms longer at most. Three boots.
        for name in ["inside-1", "inside-2", "inside-3"] {
            add(
                name,
                Box::new(move |said| {
                    let options = ["--arch", "x86_64", "--kernel", newest];
                    self.beside_the_kernel(
                        said,
                        name,
                        "inside:",
                        Near::Beyond(50.0),
                        &options,
                        "20",
                    )
                }),
            );
        }
    }

    /// Versions for x86-64 that can be used, the newest first.
    fn kernels(&self) -> Result<Vec<String>> {
        let output = Command::new(&self.guests.program)
            .args(["lab", "kernels", "--arch", "x86_64", "--format", "json"])
            .output()?;
        if !output.status.success() {
            eprintln!("{}", String::from_utf8_lossy(&output.stderr));
            self.guests.all_held()?;
            return Err(missing("no kernels: see above"));
        }
        let list: Value = serde_json::from_slice(&output.stdout)?;
        let mut versions = Vec::new();
        for kernel in list["kernels"].as_array().context("no list of kernels")? {
            let version = kernel["kernel"].as_str().unwrap_or_default();
            if kernel["usable"] == true {
                versions.push(version.to_owned());
            } else {
                eprintln!("**** MISSING: Linux {version} for x86-64 cannot be had or used");
            }
        }
        Ok(versions)
    }

    /// How long a guest may take.
    fn timeout(&self) -> &'static str {
        // Beside the tests each guest has half a core or less.
        if self.quick { "15m" } else { "30m" }
    }

    /// Boots a guest that runs a command.
    fn guest(&self, name: &str, options: &[&str], add: &[&str], command: &str) -> Result<Run> {
        let options = [options, &["--timeout", self.timeout()]].concat();
        self.guests.run(name, &options, add, command)
    }

    /// Every kind of work in one boot.
    fn steps(&self, said: &mut Said, name: &str, options: &[&str]) -> Result<()> {
        said.say(format!("==== {name}"));
        let in_turn = options.contains(&IN_TURN);
        let seconds = if self.quick { 1 } else { 8 };
        let all = [options, &["--scheduler", "wakeplace"]].concat();
        let add = [script("guest.sh"), script("load.json")];
        let add = [add[0].as_str(), add[1].as_str()];
        let run = self.guest(name, &all, &add, &format!("sh guest.sh steps {seconds}"))?;
        let log = run.text("log");
        said.say(lines_of(&log, &["step:", "steps:", "switches:"]));
        let late = !in_turn && only_late(&log);
        if run.code != 0 && !late {
            let rest: Vec<&str> = log
                .lines()
                .filter(|line| !(line.starts_with("step:") && line.contains(" ok")))
                .collect();
            let from = rest.len().saturating_sub(40);
            self.guests.fault(format!(
                "{name}: exit code {}\n{}",
                run.code,
                rest[from..].join("\n")
            ));
            return Ok(());
        }
        self.guests.clean(&run, name);
        if in_turn {
            self.no_stall(said, &run, name)?;
        }
        let release = run.fact("release").unwrap_or_default();
        self.verifier(said, &run, name, &release);
        let has_no_flag = ["6.12.", "6.13.", "6.14."]
            .iter()
            .any(|old| release.starts_with(old));
        let queued = "scx_wakeplace: wake-ups are queued by the target";
        if !has_no_flag && !run.text("scheduler.log").lines().any(|line| line == queued) {
            self.guests
                .fault(format!("{name}: wake-ups are not queued by the target"));
        }
        if late {
            said.say(format!(
                "**** {name}: too slow, maybe because this machine is busy: once more, in turn"
            ));
            let again = [options, &[IN_TURN]].concat();
            self.steps(said, &format!("{name}-in-turn"), &again)?;
        }
        Ok(())
    }

    /// No program of the kernel side costs its verifier more than its ceiling.
    fn verifier(&self, said: &mut Said, run: &Run, name: &str, release: &str) {
        let old = interface(release) != "later";
        let faults = over_ceilings(&self.ceilings, &run.text("scheduler.log"), old, said);
        if !faults.is_empty() {
            let all = faults.join("\n");
            self.guests.fault(format!(
                "{name}: {all}\n(set {CEILINGS} anew if it must be)"
            ));
        }
    }

    /// No CPU took 2 s to come or go. Under the kernel's own scheduler it is 0.1 s at most; where
    /// the last task of one that goes is forgotten, up to 4 (docs/decisions/011). Guests with one
    /// clock only: elsewhere a busy host looks the same.
    fn no_stall(&self, said: &mut Said, run: &Run, name: &str) -> Result<()> {
        let mut longest: Option<u64> = None;
        for entry in std::fs::read_dir(&run.folder)? {
            let path = entry?.path();
            let file = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            if file.starts_with("live-hotplug-storm") && file.ends_with(".out") {
                for part in run.text(&file).split("\"change_ns_max\":").skip(1) {
                    let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
                    longest = longest.max(digits.parse().ok());
                }
            }
        }
        let longest_ms = longest.unwrap_or(u64::MAX) / 1_000_000;
        said.say(format!(
            "hotplug: a CPU took {longest_ms} ms at most to come or go"
        ));
        if longest_ms >= 2000 {
            self.guests
                .fault(format!("{name}: a CPU took {longest_ms} ms to come or go"));
        }
        Ok(())
    }

    /// A loader that is killed gives the machine back, and the lab does not call that a result.
    fn killed(&self, said: &mut Said, kernel: &str) -> Result<()> {
        said.say(format!("==== loader killed, bad input ({kernel})"));
        // One clock for all CPUs: how long it takes must not depend on how busy this machine is.
        let options = [
            "--arch",
            "x86_64",
            "--kernel",
            kernel,
            IN_TURN,
            "--scheduler",
            "wakeplace",
        ];
        let run = self.guest(
            "killed",
            &options,
            &[&script("guest.sh")],
            "sh guest.sh killed",
        )?;
        let out = run.text("stdout");
        said.say(lines_of(&out, &["step", "loader killed"]));
        if !out.lines().any(|line| line == "steps: 0, failed: 0") {
            self.guests.fault(format!("killed: {}", run.end()));
        }
        if run.code == 1 && run.text("log").contains("scheduler") {
            said.say("step: the lab calls it a failure, ok");
        } else {
            self.guests.fault(format!(
                "killed: expected exit code 1 of the lab: {}",
                run.end()
            ));
        }
        self.guests.silent(&run, "killed");
        Ok(())
    }

    /// Big and little CPUs with the kernel's energy model: where tasks end up. The guest program
    /// has judged them: on a big CPU within 100 ms, at most 1 % of small tasks' run time on big
    /// CPUs. That big CPUs are idle is judged here.
    fn placement(&self, said: &mut Said) -> Result<()> {
        said.say("==== placement (arm64, hikey960)");
        let options = [&ARM64[..], &[IN_TURN, "--scheduler", "wakeplace"]].concat();
        let run = self.guest(
            "placement",
            &options,
            &[&script("guest.sh")],
            "sh guest.sh placement",
        )?;
        said.say(lines_of(&run.text("log"), &["step:", "steps:"]));
        if run.code != 0 {
            self.guests.fault(format!("placement: {}", run.end()));
            return Ok(());
        }
        self.guests.clean(&run, "placement");
        let small = run.text("live-until-placed-small.out");
        for part in small.split("\"big_idle_pct\":").skip(1) {
            let end = part
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(part.len());
            let idle: f64 = part[..end].parse().unwrap_or_default();
            said.say(format!("big CPUs idle {idle} %"));
            if idle < 99.0 {
                self.guests.fault("placement: big CPUs idle below 99 %");
            }
        }
        Ok(())
    }

    /// What SCRIPT.sh measures in a guest with one clock is the same under the kernel's own
    /// scheduler, or near enough. It prints `WORD CASE OF NUMBER`, and `SCRIPT: done`.
    fn beside_the_kernel(
        &self,
        said: &mut Said,
        name: &str,
        word: &str,
        near: Near,
        options: &[&str],
        argument: &str,
    ) -> Result<()> {
        said.say(format!("==== {name}, beside the kernel's own scheduler"));
        // A script that is run several times has a number behind its name.
        let what = name.split('-').next().unwrap_or(name);
        let mut measured = Vec::new();
        for scheduler in ["kernel", "wakeplace"] {
            let all = [options, &[IN_TURN, "--scheduler", scheduler]].concat();
            let file = format!("{what}.sh");
            let command = format!("sh {file} {argument}");
            let run = self.guest(
                &format!("{name}-{scheduler}"),
                &all,
                &[&script(&file)],
                &command,
            )?;
            let out = run.text("stdout");
            if run.code != 0 || !out.lines().any(|line| line == format!("{what}: done")) {
                self.guests
                    .fault(format!("{name}: {scheduler}: {}", run.end()));
                return Ok(());
            }
            if scheduler == "wakeplace" {
                self.guests.clean(&run, name);
            }
            measured.push(out);
        }
        let (lines, wrong) = apart(&measured[0], &measured[1], word, near);
        said.say(lines.join("\n"));
        if !wrong.is_empty() {
            self.guests.fault(format!("{name}: {}", wrong.join("\n")));
        }
        Ok(())
    }

    /// The image of the newest kernel of each architecture, out of the cache; on arm64 with its
    /// module of operating points.
    fn own_kernels(&self, said: &mut Said, version: &str) -> Result<()> {
        let home = text_of("XDG_CACHE_HOME").map(|home| format!("{home}/wakeplace/lab"));
        let usual = format!(
            "{}/.cache/wakeplace/lab",
            text_of("HOME").unwrap_or_default()
        );
        let cache = text_of("WAKEPLACE_LAB_CACHE").or(home).unwrap_or(usual);
        let image = format!("{cache}/kernels/amd64/{version}/vmlinuz");
        let x86 = [
            "--arch",
            "x86_64",
            "--platform",
            "snb-laptop",
            "--kernel",
            &image,
        ];
        self.priced(said, "own-x86_64", &x86)?;
        let modules = format!("{cache}/kernels/arm64/{version}");
        let image = format!("{modules}/vmlinuz");
        let arm64 = [&ARM64[..], &["--kernel", &image, "--modules", &modules]].concat();
        self.priced(said, "own-arm64", &arm64)
    }

    /// A workload on an image in a file, as a user's own kernel is one: it comes back with the
    /// energy of the platform's CPUs and with the wake-ups of the workload's tasks.
    fn priced(&self, said: &mut Said, name: &str, options: &[&str]) -> Result<()> {
        said.say(format!("==== a kernel of the user's own ({name})"));
        let folder = self.guests.keep.join(name);
        let load = [
            "lab",
            "run",
            "--timeout",
            self.timeout(),
            IN_TURN,
            "--scheduler",
            "kernel",
        ];
        let what = [
            "--workload",
            "periodic:n=4,period=10ms,duty=20%",
            "--duration",
            "1s",
        ];
        let how = ["--format", "json"];
        let run = self
            .guests
            .lab(&folder, &[&load[..], &what, &how, options].concat(), "json")?;
        let told: Value = serde_json::from_str(&run.text("json")).unwrap_or_default();
        let figure = |key: &str| told["price"][key].as_f64().unwrap_or_default();
        let (energy, wakeups) = (figure("cpu_energy_j"), figure("wakeups"));
        let latency = figure("wake_latency_us_p50");
        said.say(format!("{energy} J, {wakeups} wake-ups, {latency} us"));
        // Four tasks, a hundred times each; the first or last may be beyond the window's end.
        let right = energy > 0.0 && (390.0..=410.0).contains(&wakeups) && latency > 0.0;
        if run.code != 0 || !right {
            self.guests.fault(format!("{name}: {}", run.end()));
        }
        Ok(())
    }

    /// This machine's own kernel, where it has no sched_ext.
    fn without_sched_ext(&self) -> Result<()> {
        println!("==== a kernel without sched_ext");
        if Path::new("/sys/kernel/sched_ext").exists() {
            println!("**** SKIPPED: this machine's kernel has sched_ext");
            return Ok(());
        }
        let program = self.guests.lab.join("x86_64/scx_wakeplace");
        let output = Command::new(&program).output();
        let output = output.with_context(|| program.display().to_string())?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).replace('\n', " ");
        let right = said
            .split_once("nothing was changed")
            .is_some_and(|(_, rest)| rest.contains("sched_ext"));
        if output.status.code() == Some(3) && right {
            println!("step: no-sched-ext ok");
        } else {
            let what = "expected exit code 3, and that nothing was changed for want of sched_ext";
            self.guests
                .fault(format!("scx_wakeplace here: {what}: {said}"));
        }
        Ok(())
    }
}

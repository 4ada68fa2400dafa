//! `cargo xtask kernel-shim [VERSION [PROGRAM]]`: the shim under its own host in C. Every scenario
//! twice with the same bytes and nothing to complain about, then the same with guard pages, for the
//! kernel's own code, and with AddressSanitizer and UndefinedBehaviorSanitizer in the shim of both
//! objects, the one for large machines and the one for small ones. Then on an arm64 host (by
//! emulation), with the decisions of this one. Then what must not pass in silence: a clock that is
//! lost, and trees that were broken on purpose (docs/internals/checks.md).
//!
//! What must stay: outputs of two runs are equal bytes; complaints are any other words. Free: how
//! it is done, and words that no test or script reads. Tests by part: `run`, `object`, `twice`,
//! `sanitized`, `on_arm64`, `refused`, `broken_trees`, `with_tick`, `hash`, `complaints` have no
//! test of their own: they are the test of the shim.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; it is the test of crates/kernel-shim, which nightly runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail, ensure};
use xshell::cmd;

use super::{VERSION, compile_host, drive, list, source};
use crate::shop::{Shop, read, run as call, write};

const SANITIZERS: &str = "-fsanitize=address,undefined";
const CONFIG: &str = "crates/kernel-shim/config";
const SMALL: &str = "up-to-64-cpus.config";

struct Shim<'a> {
    shop: &'a Shop,
    tree: PathBuf,
    program: PathBuf,
    work: PathBuf,
    scenarios: Vec<String>,
}

/// Tries it.
///
/// # Errors
/// Something was found, or no kernel can be had or built here.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    shop.setup(&["kernel"])?;
    let version = arguments.first().unwrap_or(&VERSION);
    let program = match arguments.get(1) {
        Some(program) => shop.root.join(program),
        None => shop.build("dev")?,
    };
    let work = shop.target.join("kernel-shim");
    shop.sh.create_dir(&work)?;
    let shim = Shim {
        shop,
        tree: source(shop, &program, version, &work.join("build.log"))?,
        program,
        work,
        scenarios: list()?.scenarios,
    };
    let host = shim.work.join("drive");
    compile_host(shop, "", &[], &host)?;
    let plain = shim.object("plain", "", None, &[])?;
    shim.twice("plain", &host, &plain, false, &BTreeMap::new())?;
    shim.twice(
        "guarded",
        &host,
        &plain,
        false,
        &BTreeMap::from([("GUARD", "1")]),
    )?;
    shim.sanitized()?;
    shim.on_arm64(&host, &plain)?;
    println!("a clock that is lost");
    let lost = Command::new(&host)
        .arg(&plain)
        .args(["busy", "2"])
        .env("DEAF", "3")
        .output()?;
    shim.refused(
        &lost,
        &["CPU 3, with ", " tasks, had no tick from 1", " ns to 1"],
    )?;
    shim.broken_trees()?;
    println!("nothing found");
    Ok(())
}

impl Shim<'_> {
    /// Builds NAME.so with what the environment says; `small`: for up to 64 CPUs.
    fn object(
        &self,
        name: &str,
        prefix: &str,
        small: Option<&str>,
        environment: &[(&str, &str)],
    ) -> Result<PathBuf> {
        let own = small.map(|config| format!("-{config}")).unwrap_or_default();
        let (out, tree) = (self.work.join(format!("out{prefix}{own}")), &self.tree);
        let mut configs = vec![format!("{CONFIG}/like-arm64.config")];
        configs.extend(small.map(|config| format!("{CONFIG}/{config}")));
        let build = cmd!(
            self.shop.sh,
            "crates/kernel-shim/build.sh {tree} {out} {configs...}"
        )
        .env("HOSTCC", "gcc")
        .envs(environment.iter().copied());
        let build = if prefix.is_empty() {
            build
        } else {
            build.env("CROSS_COMPILE", prefix)
        };
        call(build)?;
        let object = self.work.join(format!("{name}.so"));
        self.shop.sh.copy_file(out.join("kernel.so"), &object)?;
        Ok(object)
    }

    /// All scenarios that the object's machines allow, each twice.
    fn twice(
        &self,
        name: &str,
        host: &Path,
        object: &Path,
        small: bool,
        environment: &BTreeMap<&str, &str>,
    ) -> Result<()> {
        for scenario in self
            .scenarios
            .iter()
            .filter(|one| !small || !one.contains("big"))
        {
            let first = drive(&[host], object, scenario, environment)?;
            let said = complaints(&first);
            let all = String::from_utf8_lossy(&first.stdout);
            // A WARN, an answer that was not expected, a finding: all of them are said here.
            if !first.status.success() || !said.is_empty() || !all.contains(" warnings 0 ") {
                bail!("{name}, {scenario}: {}\n{all}{said}", first.status);
            }
            let second = drive(&[host], object, scenario, environment)?;
            ensure!(
                first.stdout == second.stdout,
                "{name}, {scenario}: two runs differ"
            );
            println!("{name}, {scenario}: {}, twice", hash(&all));
        }
        Ok(())
    }

    /// Both objects with sanitizers in the shim alone.
    fn sanitized(&self) -> Result<()> {
        let host = self.work.join("drive-sanitized");
        compile_host(self.shop, "", &[SANITIZERS], &host)?;
        // Left out, as a kernel does such things on purpose: unaligned access and shifts into the
        // sign.
        let flags = format!("{SANITIZERS} -fno-sanitize=alignment,shift");
        let build = [
            ("WPSIM_SHIM_CFLAGS", flags.as_str()),
            ("WPSIM_LDFLAGS", "-Wl,-z,undefs"),
        ];
        // Signals are the sanitizers'. Stacks are switched, of which they need not know if they
        // keep to their own.
        let run = BTreeMap::from([
            ("NO_HANDLER", "1"),
            ("UBSAN_OPTIONS", "print_stacktrace=1"),
            (
                "ASAN_OPTIONS",
                "detect_stack_use_after_return=0:detect_leaks=0",
            ),
        ]);
        let object = self.object("sanitized", "", None, &build)?;
        self.twice("sanitized", &host, &object, false, &run)?;
        let object = self.object("sanitized-small", "", Some(SMALL), &build)?;
        self.twice("sanitized-small", &host, &object, true, &run)
    }

    /// The same decisions as here, by emulation.
    fn on_arm64(&self, host: &Path, object: &Path) -> Result<()> {
        self.shop.setup(&["cross", "emulator"])?;
        let prefix = "aarch64-linux-gnu-";
        let other = self.work.join("drive-arm64");
        compile_host(self.shop, prefix, &[], &other)?;
        let arm64 = self.object("arm64", prefix, None, &[])?;
        let emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"].map(Path::new);
        let emulated = [&emulator[..], &[other.as_path()]].concat();
        for scenario in &self.scenarios {
            let here = drive(&[host], object, scenario, &BTreeMap::new())?.stdout;
            let there = drive(&emulated, &arm64, scenario, &BTreeMap::new())?.stdout;
            ensure!(here == there, "arm64 host, {scenario}: other decisions");
            println!(
                "arm64 host, {scenario}: {}, as here",
                hash(&String::from_utf8_lossy(&here))
            );
        }
        Ok(())
    }

    /// A run ended with exit code 1, and said these words one after the other on a line.
    fn refused(&self, run: &Output, words: &[&str]) -> Result<()> {
        let said = [run.stdout.as_slice(), &run.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let has_all = |line: &&str| {
            let mut rest = *line;
            words.iter().all(|word| match rest.split_once(word) {
                Some((_, after)) => {
                    rest = after;
                    true
                }
                None => false,
            })
        };
        let line = said.lines().find(has_all);
        if run.status.code() != Some(1) || line.is_none() {
            bail!(
                "{}; expected exit code 1, and: {}\n{said}",
                run.status,
                words.join("...")
            );
        }
        println!("{}", line.unwrap_or_default());
        Ok(())
    }

    /// Faults put into a copy of a tree must be named.
    fn broken_trees(&self) -> Result<()> {
        let broken = self.work.join("broken");
        if !broken.exists() {
            let tree = &self.tree;
            call(cmd!(self.shop.sh, "cp -rs {tree} {broken}").quiet())?;
        }
        println!("a tree that forgets the clock of a run queue");
        let run = self.with_tick(&broken, "return")?;
        self.refused(
            &run,
            &[
                "CPU 3 is busy, and the clock of its run queue says ",
                " ns at ",
            ],
        )?;
        println!("a tree that calls what the shim does not have");
        let run = self.with_tick(&broken, "wakeplace_does_not_have_this()")?;
        let words =
            ["the kernel calls wakeplace_does_not_have_this(), which the shim does not have"];
        self.refused(&run, &words)
    }

    /// Runs a tree whose tick does that first on CPU 3, from 100 ms on: its clock begins 10 s
    /// before.
    fn with_tick(&self, broken: &Path, does: &str) -> Result<Output> {
        let text = read(&self.tree.join("kernel/sched/core.c"))?;
        let ticks = ["void sched_tick(void)", "void scheduler_tick(void)"];
        let tick = ticks
            .iter()
            .find(|tick| text.contains(&format!("\n{tick}")));
        let tick = *tick.context("no tick in kernel/sched/core.c")?;
        let text = text.replace(&format!("\n{tick}"), "\nstatic void whole_tick(void)");
        let core = broken.join("kernel/sched/core.c");
        fs::remove_file(&core)?;
        write(
            &core,
            format!(
                "{text}void wakeplace_does_not_have_this(void);\n{tick}\n{{\n\t\
                 if (smp_processor_id() == 3 && sched_clock() > 10100000000ULL)\n\t\t{does};\n\
                 \twhole_tick();\n}}\n"
            ),
        )?;
        Ok(Command::new(&self.program)
            .current_dir(&self.shop.root)
            .args([
                "sim",
                "--platform",
                "hikey960",
                "--workload",
                "busy-loops:n=10",
            ])
            .args([
                "--duration",
                "300ms",
                "--policy",
                &format!("kernel:{}", broken.display()),
            ])
            .output()?)
    }
}

/// From `hash ` to the line's end; nothing where there is none.
fn hash(said: &str) -> &str {
    let line = said
        .lines()
        .find_map(|line| Some(&line[line.find("hash ")?..]));
    line.unwrap_or_default()
}

/// What a run said beside its result. A thread that ends leaves its stack for good, of which
/// AddressSanitizer knows nothing: these are three lines of no concern.
fn complaints(run: &Output) -> String {
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let mut lines = said.lines();
    let mut rest = String::new();
    while let Some(line) = lines.next() {
        if line.contains("ASan is ignoring requested __asan_handle_no_return") {
            lines.nth(1);
        } else {
            rest = rest + line + "\n";
        }
    }
    rest
}

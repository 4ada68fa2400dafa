//! The checks, in the order in which they are done. `.ci/run` and nightly both read it: a check
//! stands here once.
//!
//! What must stay: names of parts (`cargo xtask nightly PART`), and CI's budget of 20 minutes
//! (CONTRIBUTING.md). Free: how it is done, and words that no test or script reads. Tests by part:
//! `scale`, `none`, `text`, `make`, `cargo_test`, `has_bpf`, `tests`, `determinism`, `demo`,
//! `oracle`, `kills`, `in_browsers`, `for_python`, `guests`, `parity`, `line`, `faults`, `fuzzing`,
//! `builds`, `in_guests`, `compiler`, `kernels`, `callbacks`, `crates`, `given_away` have no test
//! of their own: CI and nightly show a fault of theirs (a check that runs nothing, or not to its
//! end).
//!
//! Tests: none; CI and nightly are its trial.

use std::path::Path;

use anyhow::{Result, ensure};
use xshell::{Cmd, cmd};

use super::Check;
use super::Size::{self, Full, Quick};
use super::When::{BesideTests, Both, Ci, Nightly};
use crate::gives::programs::{self, Kind, MACHINES, Machine};
use crate::gives::{self, dist, playground, python, release};
use crate::live;
use crate::measure::{instructions, outside, same_bytes, same_runs};
use crate::shop::{Shop, missing, run, setting};
use crate::tries::{advisories, deny, engine_mutants, fuzz, metrics, pages, sanitize, traces};
use crate::{Finding, mutants, trees};

macro_rules! checks {
    ($($name:literal, $when:expr, $title:literal, $run:expr;)*) => {
        &[$(Check { name: $name, title: $title, when: $when, run: $run }),*]
    };
}

/// All of them: name, when it is done, what it is of, who does it.
pub(super) const ALL: &[Check] = checks! {
    "tests", Ci, "lint and tests", tests;
    "release-dry", Ci, "release, dry run", |shop, _| none(release::run(shop, &["--dry-run"])?);
    "determinism", Both, "determinism", determinism;
    "lint", Nightly, "lint, built apart", |shop, _| make(shop, "lint");
    "release", Nightly, "the optimized build", |shop, _| make(shop, "build");
    "demo", Both, "demo", demo;
    "oracle", Nightly, "a million states for the energy rules", oracle;
    "kills", Nightly, "a sweep that is killed at 200 moments", kills;
    "playground", BesideTests, "the module for browsers", in_browsers;
    "python", BesideTests, "the module for Python and its notebooks", for_python;
    "site", Nightly, "the site", |shop, _| none(gives::site::run(shop, &[])?);
    "parity", Nightly, "a million states for each build of the core", parity;
    "line", Nightly, "the published figures of a contended line", line;
    "licences", Nightly, "licences",
        |shop, _| {
            let tool = deny(shop)?;
            run(cmd!(shop.sh, "{tool} --locked check licenses bans sources"))
        };
    "advisories", Nightly, "advisories", |shop, _| advisories::run(shop, &[]);
    "sanitizers", Nightly, "sanitizers", |shop, _| sanitize::run(shop, &["full"]);
    "faults", Nightly, "files on a faulty disk", faults;
    "mutants", Nightly, "mutants of the core",
        |shop, _| {
            let count = (300 * scale()?).to_string();
            none(mutants::run(&shop.root, &["--count", &count], &|text| {
                print!("{text}")
            })?)
        };
    "mutants-engine", Nightly, "mutants of the engine", |shop, _| engine_mutants::run(shop, &[]);
    "fuzz", Nightly, "fuzzing", fuzzing;
    "same-bytes", Nightly, "equal bytes from all builds", builds;
    "same-runs", Nightly, "recorded runs",
        |shop, _| {
            let program = shop.build("release")?;
            none(same_runs::run(
                shop,
                &["--compare", same_runs::RECORD, text(&program)],
            )?)
        };
    "outside", Nightly, "results of others",
        |shop, _| {
            let program = shop.build("release")?;
            none(outside::run(shop, &["--compare", text(&program)])?)
        };
    "instructions", Nightly, "instructions of runs",
        |shop, _| none(instructions::run(shop, &[text(&shop.build("release")?)])?);
    "traces", Nightly, "traces before readers of others",
        |shop, _| traces::run(shop, &[text(&shop.build("release")?)]);
    "pages", Both, "pages of results in a browser",
        |shop, size| {
            if size == Full {
                shop.setup(&["browser"])?;
            }
            pages::look_at(shop, size == Quick, &[])
        };
    "live", BesideTests, "the live scheduler in emulated machines", in_guests;
    "compiler", Nightly, "compiled BPF programs against interpreted", compiler;
    "kernels", Nightly, "kernels of other versions as policies", kernels;
    "kernel-shim", Nightly, "the shim that trees run on", |shop, _| trees::shim::run(shop, &[]);
    "kernel-coverage", Nightly, "what tests execute of a tree",
        |shop, _| none(trees::coverage::run(shop, &[])?);
    "callbacks", Nightly, "a kernel calls a scheduler as the simulator does", callbacks;
    "schedulers", Nightly, "schedulers of others in PATH",
        |shop, _| {
            shop.build("release")?;
            live::schedulers::check(shop)
        };
    "schedulers-arm64", Nightly, "... in an emulated arm64 machine",
        |shop, _| {
            shop.build("release")?;
            live::schedulers::arm64(shop)
        };
    "metrics", Nightly, "metrics before Prometheus's parser", |shop, _| metrics::run(shop);
    "crates", Nightly, "each crate as cargo packages it", crates;
    "dist", Nightly, "what is given away, built twice and installed", given_away;
    "bench", Nightly, "benchmarks, simulated", |shop, _| make(shop, "bench");
    "bench-live", Nightly, "benchmarks of wake-ups, live",
        |shop, _| {
            guests(shop)?;
            shop.build("release")?;
            live::cost::wakeups(shop, &[])
        };
};

/// NIGHTLY_SCALE: times and counts of fuzzing and of mutants, so many times the usual.
pub(super) fn scale() -> Result<u32> {
    setting("NIGHTLY_SCALE", "a whole number", 1)
}

/// Prints findings, and fails if there is one.
fn none(findings: Vec<Finding>) -> Result<()> {
    for finding in &findings {
        eprintln!("{finding}");
    }
    ensure!(findings.is_empty(), "{} found", findings.len());
    Ok(())
}

/// A path of ours is text.
fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

/// A target of the Makefile.
fn make(shop: &Shop, target: &str) -> Result<()> {
    run(cmd!(shop.sh, "make --no-print-directory {target}"))
}

/// Tests of a package: `cargo test --locked --package NAME ARGUMENTS`.
fn cargo_test<'a>(shop: &'a Shop, package: &str, arguments: &str) -> Cmd<'a> {
    let package = format!("wakeplace-{package}");
    cmd!(shop.sh, "cargo test --locked --package {package}").args(arguments.split(' '))
}

/// Root, on a kernel with type information: the parity test can run.
fn has_bpf() -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt as _;
        own.uid() == 0
    });
    is_root && Path::new("/sys/kernel/btf/vmlinux").exists()
}

/// All tests; parity may not skip itself where it can run.
fn tests(shop: &Shop, _: Size) -> Result<()> {
    let mut tests = cmd!(shop.sh, "make --no-print-directory test");
    // As root on a kernel with type information the parity test must run, not skip itself.
    if has_bpf() {
        tests = tests.env("WAKEPLACE_REQUIRE_BPF", "1");
    }
    run(tests)
}

/// One thread and two, and two runs, give the same bytes.
fn determinism(shop: &Shop, size: Size) -> Result<()> {
    const ONE: &str = "compare --quiet --platform juno-r0 --workload periodic:n=20 \
                       --policy linux-4.17 --policy linux-4.17+energy-aware=5.0 --duration 2s \
                       --seeds 4 --format json";
    const STUDY: &str = "study run --quiet energy-aware/energy-hikey960 --quick --format json";
    let program = shop.program()?;
    let output = |line: &str, jobs: &str| -> Result<Vec<u8>> {
        let words = line.split(' ');
        Ok(cmd!(shop.sh, "{program} {words...} --jobs {jobs}")
            .quiet()
            .output()?
            .stdout)
    };
    let all = [
        ("1 thread and 2", ONE, ["1", "2"]),
        ("the study twice", STUDY, ["2", "2"]),
    ];
    // The demo is that study, too: in `.ci/run` once is enough.
    let all = if size == Quick { &all[..1] } else { &all };
    for (what, line, jobs) in all {
        let (first, second) = (output(line, jobs[0])?, output(line, jobs[1])?);
        ensure!(first == second, "{what}: the bytes differ");
        println!("{what}: the same {} bytes", first.len());
    }
    Ok(())
}

/// In CI one study, quickly.
fn demo(shop: &Shop, size: Size) -> Result<()> {
    if size == Quick {
        let program = shop.program()?;
        return run(cmd!(
            shop.sh,
            "{program} study run energy-aware/energy-hikey960 --quick"
        ));
    }
    make(shop, "demo")
}

/// A million random states.
fn oracle(shop: &Shop, _: Size) -> Result<()> {
    run(
        cargo_test(shop, "policy-sys", "--test all oracle -- --nocapture")
            .env("WAKEPLACE_ORACLE_STATES", "1000000"),
    )
}

/// A sweep loses nothing that it has committed.
fn kills(shop: &Shop, _: Size) -> Result<()> {
    run(
        cargo_test(shop, "cli", "--test all sweeps::a_killed_sweep_goes_on")
            .env("WAKEPLACE_KILLS", "200"),
    )
}

/// The module for browsers gives the program's bytes, and its page holds whatever it is given.
fn in_browsers(shop: &Shop, size: Size) -> Result<()> {
    if size == Full {
        shop.setup(&["browser", "node"])?;
        let all = ["--locked", "--package", "wakeplace-wasm"];
        run(cmd!(
            shop.sh,
            "cargo clippy {all...} --all-targets -- -D warnings"
        ))?;
        run(cmd!(shop.sh, "cargo test {all...}"))?;
    }
    playground::try_out(shop, size == Quick, &shop.program()?, &[])
}

/// In CI for this machine alone, not optimized.
fn for_python(shop: &Shop, size: Size) -> Result<()> {
    if size == Quick {
        return python::build(shop, "dev", false);
    }
    python::build(shop, "release", false)?;
    python::build(shop, "release", true)?;
    run(cmd!(
        shop.sh,
        "cargo clippy --locked --package wakeplace-python -- -D warnings"
    ))
}

/// What runs in the lab's guests.
fn guests(shop: &Shop) -> Result<()> {
    programs::make(shop, Kind::Guests, &MACHINES)
}

/// All reasons of the core are among the answers.
fn parity(shop: &Shop, _: Size) -> Result<()> {
    shop.setup(&["bpf"])?;
    if !has_bpf() {
        return Err(missing(
            "the parity test needs root and a kernel with type information",
        ));
    }
    run(cargo_test(shop, "scx", "--test parity -- --nocapture")
        .env("WAKEPLACE_REQUIRE_BPF", "1")
        .env("WAKEPLACE_PARITY_STATES", "1000000"))
}

/// All eight, printed (docs/decisions/053).
fn line(shop: &Shop, _: Size) -> Result<()> {
    run(
        cargo_test(shop, "engine", "--test behaviour udp_rr:: -- --nocapture")
            .env("WAKEPLACE_UDP_RR", "all"),
    )
}

/// Each write, sync and rename of each command fails once with every error, and is where it is
/// killed and asked to end (docs/guide/traces.md). The test on a small tmpfs needs root and says so
/// where it is skipped.
fn faults(shop: &Shop, _: Size) -> Result<()> {
    run(cargo_test(
        shop,
        "cli",
        "--test all -- faults:: interrupt:: --nocapture",
    )
    .env("WAKEPLACE_FAULTS", "all"))
}

/// As long as `NIGHTLY_SCALE` says, from kept inputs and without a guide, then guided.
fn fuzzing(shop: &Shop, _: Size) -> Result<()> {
    let scale = scale()?;
    let inputs = (30 * scale).to_string();
    run(
        cmd!(shop.sh, "cargo test --locked --package wakeplace-fuzz")
            .env("WAKEPLACE_FUZZ_INPUTS", inputs),
    )?;
    fuzz::run(shop, &[&(120 * scale).to_string()])
}

/// Debug, release and arm64 give the same bytes.
fn builds(shop: &Shop, _: Size) -> Result<()> {
    shop.setup(&["emulator"])?;
    programs::make(shop, Kind::Simulator, &MACHINES)?;
    let (release, debug) = (shop.build("release")?, shop.build("dev")?);
    let arm64 = format!(
        "qemu-aarch64 {}",
        shop.target.join("lab/arm64/wakeplace").display()
    );
    same_bytes::run(shop, &[text(&debug), text(&release), &arm64])
}

/// In CI a few guests, in nightly all.
fn in_guests(shop: &Shop, size: Size) -> Result<()> {
    if size == Quick {
        // The programs of the guests are those that the tests have built. In guests whose time is
        // counted in instructions a busy machine changes nothing. The one that minds it is the
        // last, as a rule after the tests have ended; if it is late, it runs again.
        programs::make(shop, Kind::Tested, &MACHINES)?;
        return live::tests::in_size(shop, true);
    }
    guests(shop)?;
    shop.build("release")?;
    live::tests::in_size(shop, false)
}

/// On this machine and on arm64.
fn compiler(shop: &Shop, _: Size) -> Result<()> {
    shop.sh
        .set_var("WAKEPLACE_SAME_PROGRAMS", (20_000 * scale()?).to_string());
    run(cargo_test(shop, "bpf-vm", "--test all same::"))?;
    shop.setup(&["lab", "emulator"])?;
    let test = cargo_test(
        shop,
        "bpf-vm",
        "--test all --target aarch64-unknown-linux-gnu",
    )
    .env(
        "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
        "qemu-aarch64",
    );
    run(programs::for_machine(shop, test, Machine::Arm64, "")?)
}

/// Tests of runs of trees, with other versions than the 7.3.4 that tests use.
fn kernels(shop: &Shop, _: Size) -> Result<()> {
    shop.setup(&["kernel"])?;
    for version in ["5.10", "6.1", "6.12", "6.18"] {
        run(cargo_test(shop, "cli", "--test all kernel_runs::")
            .env("WAKEPLACE_TEST_KERNEL", version))?;
    }
    Ok(())
}

/// Callbacks as kernels make them, of two kernels.
fn callbacks(shop: &Shop, _: Size) -> Result<()> {
    shop.setup(&["bpf", "emulator"])?;
    guests(shop)?;
    run(cargo_test(
        shop,
        "cli",
        "--test all callbacks:: -- --nocapture --test-threads 1",
    )
    .env("WAKEPLACE_CALLBACKS_KERNELS", "7.3.4,6.18.15"))
}

/// Each crate as cargo packages it.
fn crates(shop: &Shop, _: Size) -> Result<()> {
    run(dist::package(shop))
}

/// Built twice, with equal bytes, and installed in a guest.
fn given_away(shop: &Shop, _: Size) -> Result<()> {
    dist::run(shop, &[])?;
    shop.build("release")?;
    live::unit::packages(shop)?;
    dist::again(shop)
}

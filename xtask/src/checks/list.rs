//! The checks, in the order in which they are done.

use std::path::Path;

use anyhow::{Result, ensure};
use xshell::{Cmd, cmd};

use super::Check;
use super::Size::{self, Full, Quick};
use super::When::{self, BesideTests, Both, Ci, Nightly};
use crate::gives::programs::{self, Kind, MACHINES, Machine};
use crate::gives::{self, dist, playground, python, release};
use crate::live;
use crate::measure::{instructions, outside, same_bytes, same_runs};
use crate::shop::{Shop, missing, run, setting};
use crate::tries::{advisories, deny, engine_mutants, fuzz, metrics, pages, sanitize, traces};
use crate::{Finding, mutants, trees};

const fn check(
    name: &'static str,
    title: &'static str,
    when: When,
    run: fn(&Shop, Size) -> Result<()>,
) -> Check {
    Check {
        name,
        title,
        when,
        run,
    }
}

/// All of them.
pub(super) const ALL: [Check; 39] = [
    check("tests", "lint and tests", Ci, tests),
    check("release-dry", "release, dry run", Ci, |shop, _| {
        none(release::run(shop, &["--dry-run"])?)
    }),
    check("determinism", "determinism", Ci, determinism),
    check("lint", "lint, built apart", Nightly, |shop, _| {
        make(shop, "lint")
    }),
    check("release", "the optimized build", Nightly, |shop, _| {
        make(shop, "build")
    }),
    check("demo", "demo", Both, demo),
    check(
        "oracle",
        "a million states for the energy rules",
        Nightly,
        oracle,
    ),
    check(
        "kills",
        "a sweep that is killed at 200 moments",
        Nightly,
        kills,
    ),
    check(
        "playground",
        "the module for browsers",
        BesideTests,
        in_browsers,
    ),
    check(
        "python",
        "the module for Python and its notebooks",
        BesideTests,
        for_python,
    ),
    check("site", "the site", Nightly, |shop, _| {
        none(gives::site::run(shop, &[])?)
    }),
    check(
        "parity",
        "a million states for each build of the core",
        Nightly,
        parity,
    ),
    check(
        "line",
        "the published figures of a contended line",
        Nightly,
        line,
    ),
    check("licences", "licences", Nightly, |shop, _| {
        let tool = deny(shop)?;
        run(cmd!(shop.sh, "{tool} --locked check licenses bans sources"))
    }),
    check("advisories", "advisories", Nightly, |shop, _| {
        advisories::run(shop, &[])
    }),
    check("sanitizers", "sanitizers", Nightly, |shop, _| {
        sanitize::run(shop, &["full"])
    }),
    check("faults", "files on a faulty disk", Nightly, faults),
    check("mutants", "mutants of the core", Nightly, |shop, _| {
        let count = (300 * scale()?).to_string();
        none(mutants::run(&shop.root, &["--count", &count], &|text| {
            print!("{text}")
        })?)
    }),
    check(
        "mutants-engine",
        "mutants of the engine",
        Nightly,
        |shop, _| engine_mutants::run(shop, &[]),
    ),
    check("fuzz", "fuzzing", Nightly, fuzzing),
    check("same-bytes", "equal bytes from all builds", Nightly, builds),
    check("same-runs", "recorded runs", Nightly, |shop, _| {
        let program = shop.build("release")?;
        none(same_runs::run(
            shop,
            &["--compare", same_runs::RECORD, text(&program)],
        )?)
    }),
    check("outside", "results of others", Nightly, |shop, _| {
        let program = shop.build("release")?;
        none(outside::run(shop, &["--compare", text(&program)])?)
    }),
    check(
        "instructions",
        "instructions of runs",
        Nightly,
        |shop, _| none(instructions::run(shop, &[text(&shop.build("release")?)])?),
    ),
    check(
        "traces",
        "traces before readers of others",
        Nightly,
        |shop, _| traces::run(shop, &[text(&shop.build("release")?)]),
    ),
    check(
        "pages",
        "pages of results in a browser",
        Both,
        |shop, size| {
            if size == Full {
                shop.setup(&["browser"])?;
            }
            pages::look_at(shop, size == Quick, &[])
        },
    ),
    check(
        "live",
        "the live scheduler in emulated machines",
        BesideTests,
        in_guests,
    ),
    check(
        "compiler",
        "compiled BPF programs against interpreted",
        Nightly,
        compiler,
    ),
    check(
        "kernels",
        "kernels of other versions as policies",
        Nightly,
        kernels,
    ),
    check(
        "kernel-shim",
        "the shim that trees run on",
        Nightly,
        |shop, _| trees::shim::run(shop, &[]),
    ),
    check(
        "kernel-coverage",
        "what tests execute of a tree",
        Nightly,
        |shop, _| none(trees::coverage::run(shop, &[])?),
    ),
    check(
        "callbacks",
        "a kernel calls a scheduler as the simulator does",
        Nightly,
        callbacks,
    ),
    check(
        "schedulers",
        "schedulers of others in PATH",
        Nightly,
        |shop, _| {
            shop.build("release")?;
            live::schedulers::check(shop)
        },
    ),
    check(
        "schedulers-arm64",
        "... in an emulated arm64 machine",
        Nightly,
        |shop, _| {
            shop.build("release")?;
            live::schedulers::arm64(shop)
        },
    ),
    check(
        "metrics",
        "metrics before Prometheus's parser",
        Nightly,
        |shop, _| metrics::run(shop),
    ),
    check("crates", "each crate as cargo packages it", Nightly, crates),
    check(
        "dist",
        "what is given away, built twice and installed",
        Nightly,
        given_away,
    ),
    check("bench", "benchmarks, simulated", Nightly, |shop, _| {
        make(shop, "bench")
    }),
    check(
        "bench-live",
        "benchmarks of wake-ups, live",
        Nightly,
        |shop, _| {
            guests(shop)?;
            shop.build("release")?;
            live::cost::wakeups(shop, &[])
        },
    ),
];

/// NIGHTLY_SCALE: times and counts of fuzzing and of mutants, so many times the usual.
pub(super) fn scale() -> Result<u32> {
    setting("NIGHTLY_SCALE", "a whole number", 1)
}

fn none(findings: Vec<Finding>) -> Result<()> {
    for finding in &findings {
        eprintln!("{finding}");
    }
    ensure!(findings.is_empty(), "{} found", findings.len());
    Ok(())
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

fn make(shop: &Shop, target: &str) -> Result<()> {
    run(cmd!(shop.sh, "make --no-print-directory {target}"))
}

/// Tests of a package: `cargo test --locked --package NAME ARGUMENTS`.
fn cargo_test<'a>(shop: &'a Shop, package: &str, arguments: &str) -> Cmd<'a> {
    let package = format!("wakeplace-{package}");
    cmd!(shop.sh, "cargo test --locked --package {package}").args(arguments.split(' '))
}

fn has_bpf() -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt as _;
        own.uid() == 0
    });
    is_root && Path::new("/sys/kernel/btf/vmlinux").exists()
}

fn tests(shop: &Shop, _: Size) -> Result<()> {
    let mut tests = cmd!(shop.sh, "make --no-print-directory test");
    // As root on a kernel with type information the parity test must run, not skip itself.
    if has_bpf() {
        tests = tests.env("WAKEPLACE_REQUIRE_BPF", "1");
    }
    run(tests)
}

/// One thread and two, and two runs, give the same bytes.
fn determinism(shop: &Shop, _: Size) -> Result<()> {
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
    for (what, line, jobs) in [
        ("1 thread and 2", ONE, ["1", "2"]),
        ("the study twice", STUDY, ["2", "2"]),
    ] {
        let (first, second) = (output(line, jobs[0])?, output(line, jobs[1])?);
        ensure!(first == second, "{what}: the bytes differ");
        println!("{what}: the same {} bytes", first.len());
    }
    Ok(())
}

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

fn fuzzing(shop: &Shop, _: Size) -> Result<()> {
    let scale = scale()?;
    let inputs = (30 * scale).to_string();
    run(
        cmd!(shop.sh, "cargo test --locked --package wakeplace-fuzz")
            .env("WAKEPLACE_FUZZ_INPUTS", inputs),
    )?;
    fuzz::run(shop, &[&(120 * scale).to_string()])
}

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

/// The tests use 7.3.4.
fn kernels(shop: &Shop, _: Size) -> Result<()> {
    shop.setup(&["kernel"])?;
    for version in ["5.10", "6.1", "6.12", "6.18"] {
        run(cargo_test(shop, "cli", "--test all kernel_runs::")
            .env("WAKEPLACE_TEST_KERNEL", version))?;
    }
    Ok(())
}

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

fn crates(shop: &Shop, _: Size) -> Result<()> {
    run(dist::package(shop))
}

fn given_away(shop: &Shop, _: Size) -> Result<()> {
    dist::run(shop, &[])?;
    shop.build("release")?;
    live::unit::packages(shop)?;
    dist::again(shop)
}

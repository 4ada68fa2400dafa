//! `cargo xtask sanitize quick|full`: the policy core with AddressSanitizer and
//! UndefinedBehaviorSanitizer and with its array indices checked, under its own tests and under
//! simulations of which everything is drawn. `quick`: its tests with fewer random states, 86
//! simulations; `full`: all tests that simulate, 500 simulations. WAKEPLACE_RANDOM_SEED=N: the
//! first seed (docs/internals/checks.md, "Memory of the policy core").
//!
//! What must stay: whatever a sanitizer finds fails the run. Free: how it is done, and words that
//! no test or script reads. Tests by part: `run`, `environment`, `choose_compiler`, `tests` have no
//! test of their own: nightly shows a fault of theirs.
//!
//! Callers: commands.rs (`run`), checks/list.rs (`run`).
//!
//! Tests: none; it runs crates/policy-sys/tests with sanitizers.

use std::path::PathBuf;

use anyhow::{Result, bail};
use xshell::cmd;

use crate::shop::{Shop, missing, quietly, read, text_of, usage};

struct Sanitizers<'a> {
    shop: &'a Shop,
    logs: PathBuf,
    full: bool,
    environment: Vec<(&'static str, String)>,
}

/// Runs them.
///
/// # Errors
/// Something was found, or there is no sanitizer here.
pub fn run(shop: &Shop, arguments: &[&str]) -> Result<()> {
    let full = match arguments {
        [] | ["quick"] => false,
        ["full"] => true,
        _ => return Err(usage("expected quick or full")),
    };
    let logs = shop.target.join("sanitize");
    shop.sh.create_dir(&logs)?;
    let mut all = Sanitizers {
        shop,
        logs,
        full,
        environment: environment(full),
    };
    all.choose_compiler()?;
    all.tests("core", &[], &["--test", "all", "--", "--nocapture"])?;
    // In one thread: the last seed that is named is the one that ended it.
    let alone = ["--nocapture", "--test-threads", "1", "random::"];
    let random = [&["--test", "behaviour", "--"][..], &alone].concat();
    all.tests("random", &["engine"], &random)?;
    if full {
        all.environment
            .retain(|(name, _)| *name != "WAKEPLACE_RANDOM_RUNS");
        // Left out: a preloaded library and bounds on memory, which AddressSanitizer does not bear.
        let simulating = ["engine", "metrics", "trace", "study", "report"];
        all.tests(
            "simulating",
            &simulating,
            &["--no-fail-fast", "--", "--skip", "in_bounded_memory"],
        )?;
        let left_out = ["--", "--skip", "faults::", "--skip", "a_hundred_megabytes"];
        let program = [&["--bins", "--tests", "--no-fail-fast"][..], &left_out].concat();
        all.tests("program", &["cli"], &program)?;
    }
    println!("sanitize: nothing found");
    Ok(())
}

/// Numbers of random runs, and options of the sanitizers; the user's own go first.
fn environment(full: bool) -> Vec<(&'static str, String)> {
    let or = |name: &'static str, usual: &str| (name, text_of(name).unwrap_or(usual.to_owned()));
    let also = |name: &'static str, own: &str| {
        let more = text_of(name).map(|more| format!(":{more}"));
        (name, format!("{own}{}", more.unwrap_or_default()))
    };
    let mut all = vec![or("WAKEPLACE_RANDOM_RUNS", if full { "500" } else { "86" })];
    if !full {
        all.push(or("WAKEPLACE_ORACLE_STATES", "5000"));
    }
    // What Rust leaves allocated at its end is no finding. The threshold: tests make thousands of
    // machines of a megabyte, of which AddressSanitizer would map and unmap its own part each time.
    all.push(also(
        "ASAN_OPTIONS",
        "detect_leaks=0:clear_shadow_mmap_threshold=100000000",
    ));
    all.push(also("UBSAN_OPTIONS", "print_stacktrace=1"));
    all
}

impl Sanitizers<'_> {
    /// The runtimes are those of gcc: build.rs links them. Another name for it builds libraries
    /// anew.
    fn choose_compiler(&mut self) -> Result<()> {
        let sh = &self.shop.sh;
        let version = cmd!(sh, "cc --version").quiet().ignore_status().read()?;
        let mut compiler = text_of("CC").unwrap_or("cc".into());
        if !version.contains("Free Software Foundation") {
            compiler = "gcc".into();
            self.environment.push(("CC", compiler.clone()));
        }
        let try_out = cmd!(
            sh,
            "{compiler} -fsanitize=address,undefined -x c -o /dev/null -"
        )
        .stdin("int main(void) { return 0; }")
        .quiet()
        .ignore_stderr();
        if try_out.run().is_err() {
            return Err(missing(
                "gcc and its libasan and libubsan are needed: apt-get install gcc",
            ));
        }
        Ok(())
    }

    /// The core's package is always among them: it has the feature. Without capture: an abort would
    /// lose what its test has said.
    fn tests(&self, name: &str, packages: &[&str], arguments: &[&str]) -> Result<()> {
        let log = self.logs.join(format!("{name}.log"));
        let packages = packages
            .iter()
            .flat_map(|one| ["--package".to_owned(), format!("wakeplace-{one}")]);
        let mut test = cmd!(
            self.shop.sh,
            "cargo test --locked --features wakeplace-policy-sys/sanitize"
        )
        .args(["--package", "wakeplace-policy-sys"])
        .args(packages)
        .args(arguments)
        .quiet();
        for (name, value) in &self.environment {
            test = test.env(name, value);
        }
        if self.full {
            // All of the tests include the program's own, which would then be the one with
            // sanitizers.
            test = test.env("CARGO_TARGET_DIR", &self.logs);
        }
        quietly(test, &log)?;
        let text = read(&log)?;
        let results = text
            .lines()
            .filter(|line| line.starts_with("test result: ok. ") && !line.contains(". 0 passed"));
        let results: Vec<&str> = results.collect();
        if results.is_empty() {
            bail!("{name}: no test ran (the whole output: {})", log.display());
        }
        for line in results {
            println!("{name}: {line}");
        }
        Ok(())
    }
}

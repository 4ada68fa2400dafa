//! The bodies of the targets.
//!
//! What must stay: no target panics or hangs, whatever comes; how far an input got is `Reached`.
//! Free: which runs and policies are tried, and their sizes. Tests by part: mutations.rs has a test
//! in `keep_the_promises` by each target's name (`platform`, `rtapp`, `trace`, `tree`, `run`,
//! `study`, `report`), and kept.rs::`every_kept_input_keeps_the_promises` takes all kept inputs:
//! both also for `on_platform` (what a platform promises), `on_import` (an import loads as it was
//! made), `loaded` (arguments of a run). `policies` has no test of its own: it only chooses.
//!
//! Callers: fuzz/src/lib.rs (`TARGETS`). Rule: docs/internals/checks.md.
//!
//! Tests: fuzz/tests/all

use crate::case::Case;
use crate::whole::{DURATION_NS, Loaded, page};
use crate::{Reached, fnv1a, refused};
use std::io::Write as _;
use wakeplace_metrics::Expectation;
use wakeplace_platform::Platform;
use wakeplace_platform::import::{Imported, device_tree, plat_info};
use wakeplace_policy_sys::Policy;
use wakeplace_report::{Format, Source, Style};
use wakeplace_study::{Study, StudyOptions, apply_settings, parse_hotplug, parse_policy_at};
use wakeplace_workload::{Dialect, LoadOptions, MachineFacts, Spec, check_rtapp};

/// What runs on fuzzed platforms; the bytes of the input choose one.
const WORKLOADS: [&str; 6] = [
    "periodic:n=5,period=4ms,duty=30%",
    "context-switch:pairs=2,warmup=1ms",
    "messaging:groups=1,loops=1",
    "schbench",
    "busy-loops:n=3",
    "cyclictest",
];

/// Policies of fuzzed platforms and workloads.
const POLICIES: [&str; 12] = [
    "linux-3.1",
    "linux-3.1+sched-mc=2",
    "linux-3.8+power-policy=powersaving",
    "linux-4.7+asym-capacity",
    "linux-4.17+energy-aware",
    "linux-5.0+energy-aware=5.0",
    "linux-6.2+sis-short",
    "linux-6.12",
    "linux-6.12+energy-aware",
    "linux-7.3",
    "linux-7.3+energy-aware+sis-short",
    "wakeplace",
];

/// Machines of fuzzed workloads.
const PLATFORMS: [&str; 5] = [
    "juno-r0",
    "hikey960",
    "raptor-lake-1370p",
    "u8500-2011",
    "nhm-ep-2s",
];

/// Most runs that a fuzzed study may have: a hundred would take a hundred times as long.
const MOST_RUNS: usize = 12;

/// One of `POLICIES`, by a hash of the input.
fn policies(bytes: &[u8]) -> Vec<Policy> {
    let name = POLICIES[(fnv1a(bytes) >> 8) as usize % POLICIES.len()];
    vec![Policy::parse(name).expect("a policy of the list")]
}

/// A platform file: whatever loads keeps what the model promises, and runs.
pub fn platform(bytes: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Reached::Refused;
    };
    match Platform::from_toml(text, "fuzz.toml") {
        Err(error) => refused(&error),
        Ok(platform) => on_platform(bytes, platform),
    }
}

/// Checks what a loaded platform promises, then makes a short run on it.
fn on_platform(bytes: &[u8], platform: Platform) -> Reached {
    let n = platform.cpus.len();
    assert!((1..=1024).contains(&n));
    assert!(
        platform
            .cpus
            .iter()
            .all(|cpu| (1..=1024).contains(&cpu.capacity))
    );
    assert_eq!(
        platform.cpus.iter().map(|cpu| cpu.capacity).max(),
        Some(1024)
    );
    let clocked: usize = platform.freq_domains.iter().map(|d| d.cpus.len()).sum();
    assert_eq!(clocked, n, "each CPU has one clock");
    for domain in &platform.freq_domains {
        assert!(domain.opps.windows(2).all(|pair| pair[0].khz < pair[1].khz));
    }
    let name = WORKLOADS[(fnv1a(bytes) >> 40) as usize % WORKLOADS.len()];
    let workload = Spec::parse(name, &LoadOptions::default()).expect("a workload of the list");
    Loaded::new(platform, workload, policies(bytes)).run()
}

/// An rt-app file: `workload check` has an answer, both ways to load it expand alike twice, and
/// what expands runs.
pub fn rtapp(bytes: &[u8]) -> Reached {
    let outcome = check_rtapp(bytes, "fuzz.json", 8);
    assert!(matches!(outcome.exit_code, 0 | 2));
    let mut reached = Reached::Refused;
    for allow_unmodelled in [false, true] {
        // Two ways to load are enough for each input.
        let options = LoadOptions {
            allow_unmodelled,
            dialect: Dialect {
                workgen: allow_unmodelled,
                suspend_ref: allow_unmodelled,
            },
        };
        let spec = match Spec::parse_rtapp(bytes, "fuzz.json", &options) {
            Ok(spec) => spec,
            Err(error) => {
                refused(&error);
                continue;
            }
        };
        let machine = MachineFacts::alike(1);
        let first = spec.expand(1, machine);
        if let Ok(workload) = &first {
            assert!(!workload.tasks.is_empty());
            assert_eq!(spec.expand(1, machine).ok().as_ref(), Some(workload));
        }
        let name = PLATFORMS[(fnv1a(bytes) >> 40) as usize % PLATFORMS.len()];
        let platform = Platform::load(name).expect("a platform of the list");
        reached = reached.max(Loaded::new(platform, spec, policies(bytes)).run());
        if reached == Reached::Simulated {
            break;
        }
    }
    reached
}

/// A recording, text or Perfetto: what makes a workload of it runs.
pub fn trace(bytes: &[u8]) -> Reached {
    let mut file = tempfile::NamedTempFile::new().expect("a file for the recording");
    file.write_all(bytes)
        .expect("a recording that can be written");
    let argument = format!("{}{}", wakeplace_trace::PREFIX, file.path().display());
    let name = PLATFORMS[(fnv1a(bytes) >> 40) as usize % PLATFORMS.len()];
    let platform = Platform::load(name).expect("a platform of the list");
    match wakeplace_trace::load(&argument, Some(&platform)) {
        Err(error) => refused(&error),
        Ok(workload) => Loaded::new(platform, workload, policies(bytes)).run(),
    }
}

/// A flattened device tree or LISA's plat_info: what is imported is a platform by the ordinary
/// loader's rules, and runs.
pub fn tree(bytes: &[u8]) -> Reached {
    let mut reached = Reached::Refused;
    for imported in [device_tree(bytes, "fuzz"), plat_info(bytes, "fuzz")] {
        reached = reached.max(match imported {
            Err(error) => refused(&error),
            Ok(imported) => on_import(bytes, imported),
        });
    }
    reached
}

/// Checks that an import is a platform file that loads as it was made, then runs on it.
fn on_import(bytes: &[u8], imported: Imported) -> Reached {
    let again = Platform::from_toml(&imported.toml, "fuzz.toml").expect("it was read before");
    assert_eq!(again, imported.platform);
    on_platform(bytes, imported.platform)
}

/// A run: names, settings, schedules, expectations, and files of its own.
pub fn run(bytes: &[u8]) -> Reached {
    let Some(case) = Case::read(bytes) else {
        return Reached::Refused;
    };
    match loaded(&case) {
        Ok(loaded) => loaded.run(),
        Err(message) => refused(&message),
    }
}

/// What the command line makes of the same arguments, or the message that it ends with.
fn loaded(case: &Case) -> Result<Loaded, String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let last = |option, otherwise: &str| case.all(option).last().unwrap_or(otherwise).to_owned();
    let platform = match &case.platform {
        Some(text) => Platform::from_toml(text, "fuzz.toml"),
        None => Platform::builtin(&last("platform", "juno-r0")),
    };
    let platform = platform.map_err(|error| words(&error))?;
    let load = LoadOptions {
        allow_unmodelled: case.all("allow-unmodelled").next().is_some(),
        ..LoadOptions::default()
    };
    let workload = match &case.workload {
        Some(text) => Spec::parse_rtapp(text.as_bytes(), "fuzz.json", &load),
        None => {
            let argument = last("workload", "periodic:n=3,period=4ms");
            if argument == "-" || argument.contains('/') {
                return Err(format!("`{argument}`: no file is read here"));
            }
            Spec::parse(&argument, &load)
        }
    };
    let workload = workload.map_err(|error| words(&error))?;
    let names = case.all("policy").take(3).map(Policy::parse);
    let mut policies = names
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| words(&error))?;
    if policies.is_empty() {
        policies = self::policies(case.write().as_bytes());
    }
    let mut loaded = Loaded::new(platform, workload, policies);
    let pair = |text: &str| {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        (key.to_owned(), value.to_owned())
    };
    let set: Vec<(String, String)> = case.all("set").map(pair).collect();
    let (options, policies) = (&mut loaded.options, &mut loaded.policies);
    apply_settings(&set, options, policies).map_err(|error| words(&error))?;
    if let Some(schedule) = case.all("hotplug").last() {
        options.hotplug = parse_hotplug(schedule)?;
    }
    let changes = case.all("policy-at").map(parse_policy_at);
    options.policy_at = changes.collect::<Result<_, _>>()?;
    let expectations = case.all("expect").map(Expectation::parse);
    let expectations = expectations.collect::<Result<_, _>>();
    loaded.expectations = expectations.map_err(|error| words(&error))?;
    let seeds = last("seeds", "1")
        .parse::<u64>()
        .map_err(|error| words(&error))?;
    loaded.seeds = (1..=seeds.clamp(1, 3)).collect();
    let changes = !options.hotplug.is_empty() || !options.freq_cap.is_empty() || options.thermal;
    loaded.oracle = case.all("oracle").next().is_some() && !changes;
    Ok(loaded)
}

/// A study file: whatever loads and is small runs, and prints in every form.
pub fn study(bytes: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Reached::Refused;
    };
    // Standard input as a workload would be waited for.
    if text.contains("\"-\"") || text.contains("'-'") {
        return Reached::Refused;
    }
    let study = match Study::from_toml(text, "studies/fuzz/fuzz/study.toml") {
        Ok(study) => study,
        Err(error) => return refused(&error),
    };
    assert!(!study.info().name.is_empty());
    let how = StudyOptions {
        quick: true,
        seeds: Some(vec![1]),
        duration_ns: Some(DURATION_NS),
        ..StudyOptions::default()
    };
    match study.runs(&how) {
        Err(error) => {
            refused(&error);
            return Reached::Loaded;
        }
        Ok(runs) if runs > MOST_RUNS => return Reached::Loaded,
        Ok(_) => {}
    }
    let result = match study.run(&how, 1, &|_| {}) {
        Ok(result) => result,
        Err(error) => {
            refused(&error);
            return Reached::Loaded;
        }
    };
    for format in [Format::Human, Format::Csv, Format::Md] {
        assert!(!wakeplace_report::study(&result, format, Style::default()).is_empty());
    }
    page(&wakeplace_report::study(
        &result,
        Format::Json,
        Style::default(),
    ));
    Reached::Simulated
}

/// A result file as `report` reads it. `Simulated` means that a page came out.
pub fn report(bytes: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Reached::Refused;
    };
    let source = Source {
        name: "fuzz.json",
        text,
    };
    // A result that is none to either.
    if let Ok(found) = wakeplace_report::diff(source, source, None) {
        assert!(!found.text(Style::default()).is_empty());
        let json =
            wakeplace_report::comparisons(&found.comparisons(), Format::Json, Style::default());
        page(&json);
    }
    match wakeplace_report::html(&[source, source]) {
        Err(error) => refused(&error),
        Ok(page) => {
            assert!(page.ends_with("</html>\n"));
            Reached::Simulated
        }
    }
}

//! What hardware does with clocks of its own accord (docs/decisions/059): what is read, and each
//! rule broken once.
//!
//! What must stay: each rule is broken once, with its place.
//! Tests by part (in crates/platform/src): read/clocks.rs: `what_is_read` (`cpufreq`, `turbo`,
//! `power_limit`), `rules_of_the_driver` (`cpufreq`), `rules_of_bins` (`read_bins`, `mark`,
//! `nominal`), `rules_of_limits` (`power_limit`); read/em_costs.rs: `rules_of_bins` (`release`).
//! Helpers, and who fails with them: `with` (all tests); `refused` (`rules_of_the_driver`,
//! `rules_of_bins`, `rules_of_limits`).

use wakeplace_platform::{CpuId, Platform};

const GOOD: &str = include_str!("../good.toml");

/// The good file with tables before its costs.
fn with(tables: &str) -> String {
    assert_eq!(GOOD.matches("[costs]").count(), 1);
    GOOD.replace("[costs]", &format!("{tables}\n[costs]"))
}

#[track_caller]
fn refused(table: &str, (from, to): (&str, &str), at: &str, expected: &str) {
    assert_eq!(table.matches(from).count(), 1, "`{from}` must occur once");
    let text = with(&table.replace(from, to));
    let error = Platform::from_toml(&text, "p.toml")
        .expect_err("refused")
        .to_string();
    let found = text
        .find(at)
        .unwrap_or_else(|| panic!("`{at}` is not in the text"));
    let line = text[..found].matches('\n').count() + 1;
    assert!(
        error.starts_with(&format!("p.toml:{line}:")),
        "{error}, at line {line}"
    );
    assert!(error.contains(expected), "{error}");
}

const CPUFREQ: &str = "[cpufreq]\ndriver = \"intel_pstate\"\npreference = 128\nsource = \"test\"\n\
    standing = \"published\"\n";
const TURBO: &str = "[turbo]\nawake = [\"WFI\"]\nbins = [\n  \
    { cpus = \"big\", khz = [1200, 600] },\n]\nsource = \"test\"\nstanding = \"published\"\n";
const LIMIT: &str = "[power_limit]\nlong_uw = 100\ntau_ms = 28_000\nshort_uw = 250\n\
    beside_uw = 40\nsource = \"test\"\nstanding = \"assumed\"\n";

#[test]
fn what_is_read() {
    let text = with(&[CPUFREQ, TURBO, LIMIT].concat());
    let platform = Platform::from_toml(&text, "p.toml").unwrap_or_else(|e| panic!("{e}"));
    let own = platform.cpufreq.as_ref().expect("stated");
    assert_eq!((own.driver.as_str(), own.preference), ("intel_pstate", 128));
    let turbo = platform.turbo.as_ref().expect("stated");
    let [bins] = &turbo.bins[..] else {
        panic!("one group");
    };
    assert_eq!(bins.khz, [1200, 600]);
    assert_eq!(bins.cpus, [CpuId(2), CpuId(3)]);
    let states = platform.idle_states.iter().zip(&turbo.awake);
    assert!(
        states
            .clone()
            .all(|(state, awake)| *awake == (state.name == "WFI"))
    );
    let limit = platform.power_limit.expect("stated");
    assert_eq!(
        (limit.long_uw, limit.short_uw, limit.beside_uw),
        (100, 250, 40)
    );
    assert_eq!(limit.tau_ns, 28_000_000_000);
    assert_eq!(turbo.nominal, None);
    let one = TURBO.replace("source", "nominal_khz = 600\neach_since = \"3.9\"\nsource");
    let platform = Platform::from_toml(&with(&one), "p.toml").unwrap_or_else(|e| panic!("{e}"));
    let turbo = platform.turbo.expect("stated");
    assert_eq!(turbo.nominal_khz_in((3, 8)), Some(600));
    assert_eq!(turbo.nominal_khz_in((3, 9)), None);
    let plain = Platform::from_toml(GOOD, "p.toml").expect("good");
    assert!(plain.cpufreq.is_none() && plain.turbo.is_none() && plain.power_limit.is_none());
}

#[test]
fn rules_of_the_driver() {
    refused(
        CPUFREQ,
        ("\"intel_pstate\"", "\"intel_pstat\""),
        "\"intel_pstat\"",
        "`intel_pstat` is no driver under which hardware chooses; expected intel_pstate or \
         amd-pstate, or no table; did you mean `intel_pstate`?",
    );
    refused(
        CPUFREQ,
        ("preference = 128", "preference = 256"),
        "256",
        "`preference` is 256; expected 0 to 255",
    );
    refused(
        CPUFREQ,
        ("preference = 128\n", ""),
        "[cpufreq]",
        "a driver without the hint that `powersave` begins with",
    );
}

#[test]
fn rules_of_bins() {
    refused(
        TURBO,
        ("\"WFI\"", "\"WFO\""),
        "\"WFO\"",
        "no idle state is called `WFO`; expected the name of one; did you mean `WFI`?",
    );
    refused(
        TURBO,
        ("1200, 600", "1200, 700"),
        "1200, 700",
        "700 kHz is no operating point of CPU 2; expected one of its clocks",
    );
    refused(
        TURBO,
        ("1200, 600", "600, 1200"),
        "600, 1200",
        "1200 kHz with more awake cores than 600 kHz; expected clocks that do not rise",
    );
    refused(
        TURBO,
        ("[1200, 600]", "[]"),
        "khz = []",
        "no clock; expected the highest clock",
    );
    refused(
        TURBO,
        ("},\n]", "},\n  { cpus = \"3\", khz = [600] },\n]"),
        "cpus = \"3\"",
        "CPU 3 is counted twice; expected each CPU once",
    );
    refused(
        TURBO,
        ("source", "nominal_khz = 1200\nsource"),
        "1200\nsource",
        "1200 kHz is no operating point of CPU 2 below its highest; expected the nominal clock",
    );
    refused(
        TURBO,
        ("source", "each_since = \"3.9\"\nsource"),
        "\"3.9\"",
        "expected `nominal_khz`",
    );
    refused(
        TURBO,
        ("source", "nominal_khz = 600\neach_since = \"3\"\nsource"),
        "\"3\"",
        "`3` is no kernel release; expected major and minor number",
    );
}

#[test]
fn rules_of_limits() {
    refused(
        LIMIT,
        ("short_uw = 250", "short_uw = 99"),
        "99",
        "at any time 99 uW, in the long run 100 uW",
    );
    refused(
        LIMIT,
        ("beside_uw = 40", "beside_uw = 100"),
        "beside_uw",
        "`beside_uw` is 100; expected 0 to 99 uW",
    );
    refused(
        LIMIT,
        ("28_000", "0"),
        "tau_ms",
        "`tau_ms` is 0; expected 1 to 600000 ms",
    );
}

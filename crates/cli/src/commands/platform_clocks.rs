//! What `platform show` says of clocks that hardware chooses or bounds (docs/guide/platforms.md,
//! "What the words mean"; docs/decisions/059).
//!
//! The section for people is free. Clocks are kHz in the model and MHz for people.
//!
//! What must stay: keys of `json`; each stands only where the machine has such a thing. Nothing is
//! computed here: the figures are the platform file's. Tests by part:
//! crates/cli/tests/all/results.rs::`clocks_points_and_moves_are_shown` (`section`, `bins`,
//! `counts`, `json`). No test of its own: `one_for_all`.
//!
//! Tests: crates/cli/tests/all/results.rs::clocks_points_and_moves_are_shown

use super::platform_text::numbers;
use crate::page::Page;
use crate::text::time;
use serde_json::{Map, Value, json};
use wakeplace_platform::{Platform, PowerLimit, Turbo, TurboBins};
use wakeplace_report::{Align, Cell, Table};

/// For people.
pub(super) fn section(page: &mut Page, platform: &Platform) {
    if platform.cpufreq.is_none() && platform.turbo.is_none() && platform.power_limit.is_none() {
        return;
    }
    page.section("Clocks beyond the kernel's asking");
    if let Some(own) = &platform.cpufreq {
        page.paragraph(&format!(
            "The driver is {}: under `governor=powersave` hardware chooses the clock by its own \
             load, with the hint {} of 255 (0 performance, 255 energy); `schedutil` is its passive \
             mode.",
            own.driver, own.preference
        ));
    }
    if let Some(turbo) = &platform.turbo {
        page.table(&bins(turbo));
        page.paragraph(&format!(
            "Highest clock by the number of awake cores.{}{}",
            counts(platform, turbo),
            one_for_all(turbo)
        ));
    }
    if let Some(limit) = &platform.power_limit {
        let watts = |uw: u64| uw as f64 / 1e6;
        page.paragraph(&format!(
            "A package may draw {} W at any time and {} W in the mean over {}; {} W of it beside \
             its CPUs and clusters.",
            watts(limit.short_uw),
            watts(limit.long_uw),
            time(limit.tau_ns),
            watts(limit.beside_uw)
        ));
    }
}

/// The highest clock by the number of awake cores.
fn bins(turbo: &Turbo) -> Table {
    let mut table = Table::new("turbo", &["cpus", "awake cores", "MHz"])
        .align("awake cores", Align::Right)
        .align("MHz", Align::Right);
    for group in &turbo.bins {
        let cpus = numbers(&group.cpus);
        for (at, khz) in group.khz.iter().enumerate() {
            let head = if at == 0 { cpus.as_str() } else { "" };
            let more = if at + 1 == group.khz.len() { "+" } else { "" };
            table.row(vec![
                Cell::from(head),
                Cell::from(format!("{}{more}", at + 1)),
                Cell::from(f64::from(*khz) / 1e3),
            ]);
        }
    }
    table
}

/// In which idle states a core still counts.
fn counts(platform: &Platform, turbo: &Turbo) -> String {
    match awake(platform, turbo)[..] {
        [] => String::new(),
        ref names => format!(" A core in {} counts.", names.join(" or ")),
    }
}

/// What a kernel can ask for above the nominal clock.
fn one_for_all(turbo: &Turbo) -> String {
    let Some(nominal) = &turbo.nominal else {
        return String::new();
    };
    let mhz = f64::from(nominal.khz) / 1e3;
    let who = match nominal.each_since {
        Some((major, minor)) => format!("Kernels before {major}.{minor} ask"),
        None => "A kernel asks".to_owned(),
    };
    format!(" {who} for all clocks above {mhz} MHz as for one.")
}

/// The names of those states, each once.
fn awake<'a>(platform: &'a Platform, turbo: &Turbo) -> Vec<&'a str> {
    let states = platform.idle_states.iter().zip(&turbo.awake);
    let mut names: Vec<&str> = states
        .filter(|(_, awake)| **awake)
        .map(|(state, _)| state.name.as_str())
        .collect();
    names.dedup();
    names
}

/// As JSON: keys for what the machine has.
pub(super) fn json(platform: &Platform) -> Map<String, Value> {
    let mut shown = Map::new();
    if let Some(own) = &platform.cpufreq {
        let value = json!({ "driver": own.driver, "preference": own.preference });
        shown.insert("cpufreq".to_owned(), value);
    }
    if let Some(turbo) = &platform.turbo {
        let group = |group: &TurboBins| {
            let cpus = numbers(&group.cpus);
            json!({ "cpus": cpus, "khz_by_awake_cores": group.khz })
        };
        let bins: Vec<Value> = turbo.bins.iter().map(group).collect();
        let mut value = json!({ "awake": awake(platform, turbo), "bins": bins });
        if let Some(nominal) = &turbo.nominal {
            let since = nominal.each_since;
            value["nominal_khz"] = nominal.khz.into();
            value["each_since"] = since.map_or(Value::Null, |(major, minor)| {
                format!("{major}.{minor}").into()
            });
        }
        shown.insert("turbo".to_owned(), value);
    }
    if let Some(PowerLimit {
        long_uw,
        tau_ns,
        short_uw,
        beside_uw,
    }) = platform.power_limit
    {
        let value = json!({
            "long_uw": long_uw, "tau_ns": tau_ns, "short_uw": short_uw, "beside_uw": beside_uw,
        });
        shown.insert("power_limit".to_owned(), value);
    }
    shown
}

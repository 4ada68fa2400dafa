//! Idle states, and what nobody published of them.

use std::fmt::Write;

use super::clocks::{self, domain_of};
use super::facts::{Domain, Facts, Form, Idle, Vendor};
use super::hybrid::hybrid;
use super::machine::{Part, list};
use super::modelled::modelled;
use super::power::{Scale, legacy, scale_words};
use super::sources::plain;
use super::text::{Standing, comment, cpu_list, mhz, number, source};

/// A state of the file.
struct State {
    name: String,
    scope: String,
    cpus: Vec<u32>,
    entry_us: u64,
    exit_us: u64,
    residency_us: u64,
    source: String,
    standing: Standing,
}

/// The `[[idle_state]]` tables, shallow to deep, states of CPUs before those of clusters.
pub(super) fn tables(facts: &Facts, parts: &[Part]) -> anyhow::Result<String> {
    let mut out = String::new();
    if facts.has_power() {
        out.push('\n');
        out += &comment(power_comment(facts));
    }
    for state in states(facts) {
        let cpus = if cpu_list(&state.cpus) == cpu_list(&facts.all()) {
            Vec::new()
        } else {
            state.cpus.clone()
        };
        if let Some(power) = hybrid(facts) {
            for (kind, cpus) in power.kinds(facts) {
                out += &head(&state, &cpus);
                out += &power.idle(kind, &state.name)?;
            }
            continue;
        }
        let domains = domain_of(facts, &state.cpus);
        // A state of a cluster that has several clocks is one table all the same.
        let apart = |domain: &&Domain| {
            let whole = |part: &Part| part.cpus.iter().all(|cpu| domain.cpus.contains(cpu));
            let touched = |part: &&Part| part.cpus.iter().any(|cpu| domain.cpus.contains(cpu));
            parts.iter().filter(touched).all(whole)
        };
        let one = state.scope == "cluster" && !domains.iter().all(apart);
        if !facts.has_power() || domains.len() == 1 || one {
            out += &table(facts, parts, &state, &cpus)?;
            continue;
        }
        // Power differs between clocks: a table for each.
        for domain in domains {
            let both = domain.cpus.iter().filter(|cpu| state.cpus.contains(cpu));
            let both: Vec<u32> = both.copied().collect();
            out += &table(facts, parts, &state, &both)?;
        }
    }
    Ok(out)
}

fn power_comment(facts: &Facts) -> &'static str {
    if facts.vendor_eas.is_some() {
        return "Idle power is the vendor's table of four figures: clock off, retention, power off, \
                and power off with the cluster. Which state of this kernel is which is assumed.";
    }
    if facts.legacy_eas.is_some() {
        return "Cluster and idle power: LISA's table is in a unit of its own, brought to \
                microwatts as with Juno r0: by the power of a busy core at the top operating \
                point in both tables, cut to whole microwatts.";
    }
    "Nobody published what this machine draws when idle. As on HiKey960 the ratios are those of \
     the one published table of a sibling, LISA's for Juno r0: WFI over lowest busy core power is \
     6/33 on an in-order A53 and 15/168 on an out-of-order A57; a core that is off draws nothing."
}

/// The states with every figure filled in, ordered.
fn states(facts: &Facts) -> Vec<State> {
    let mut all: Vec<State> = Vec::new();
    for idle in facts.idle_states.iter().filter(|idle| idle.name != "POLL") {
        match (idle.exit_latency_us, idle.exit_us, idle.min_residency_us) {
            (None, None, _) | (_, _, None) => all.extend(acpi(facts)),
            (_, _, Some(residency_us)) => all.push(known(facts, idle, residency_us)),
        }
    }
    // The sort is stable: CPU states keep the order of the facts.
    all.sort_by_key(|state| state.scope == "cluster");
    if facts.form == Form::SecondIdleTable {
        all.sort_by_key(|state| state.entry_us + state.exit_us);
    }
    all
}

fn known(facts: &Facts, idle: &Idle, residency_us: u64) -> State {
    let exit_us = idle.exit_us.or(idle.exit_latency_us).unwrap_or(0);
    let mut state = State {
        name: idle.name.clone(),
        scope: idle.scope.clone(),
        cpus: if idle.cpus.is_empty() {
            facts.all()
        } else {
            idle.cpus.clone()
        },
        entry_us: idle.entry_us.unwrap_or(0),
        exit_us,
        residency_us,
        source: plain(&idle.source),
        standing: Standing::Published,
    };
    // A wake-up never waits longer than cpuidle says, even where entry and exit take longer.
    if let Some(total_us) = idle
        .exit_latency_us
        .filter(|us| *us < state.entry_us + exit_us)
    {
        state.source += &format!(
            ": wakeup-latency-us {total_us}, which goes before entry {} + exit {exit_us}; the \
             entry here is what it leaves",
            state.entry_us
        );
        state.entry_us = total_us.saturating_sub(exit_us);
        state.standing = Standing::Derived;
    }
    state
}

/// States that only firmware names: C1 and one deep state.
fn acpi(facts: &Facts) -> Vec<State> {
    let twice = "residency twice the latency: Linux drivers/acpi/processor_idle.c";
    let (deep_us, why) = match facts.cpus[0].kind.as_str() {
        "core2" => (100, "the longest that ACPI allows a C2 (P_LVL2_LAT)"),
        "P" => (
            230,
            "the longest of Alder Lake-L in intel_idle.c, whose cores these are",
        ),
        _ => (400, "the magnitude of EPYC servers, as in zen3-2s"),
    };
    let state = |name: &str, exit_us: u64, why: &str| State {
        name: name.to_owned(),
        scope: "cpu".to_owned(),
        cpus: facts.all(),
        entry_us: 0,
        exit_us,
        residency_us: 2 * exit_us,
        source: format!("ACPI _CST of the firmware, not published: {why}; {twice}"),
        standing: Standing::Assumed,
    };
    vec![
        state("C1", 1, "1 us as in intel_idle.c for later processors"),
        state("C2", deep_us, why),
    ]
}

/// A state without its power.
fn head(state: &State, cpus: &str) -> String {
    let mut out = format!(
        "\n[[idle_state]]\nname = \"{}\"\nscope = \"{}\"\ncpus = \"{cpus}\"\n",
        state.name, state.scope,
    );
    let _ = write!(
        out,
        "entry_latency_us = {}\nexit_latency_us = {}\nmin_residency_us = {}\n",
        number(state.entry_us),
        number(state.exit_us),
        number(state.residency_us)
    );
    out + &source(&state.source, state.standing)
}

fn table(facts: &Facts, parts: &[Part], state: &State, cpus: &[u32]) -> anyhow::Result<String> {
    let mut out = head(state, &list(facts, parts, cpus));
    if let Some(power) = modelled(facts) {
        out += &power.idle(&state.name)?;
    }
    if facts.has_power() {
        let any = if cpus.is_empty() { &state.cpus } else { cpus };
        if let [domain, ..] = domain_of(facts, any)[..] {
            out += &power(facts, state, domain, any)?;
        }
    }
    Ok(out)
}

fn power(facts: &Facts, state: &State, domain: &Domain, cpus: &[u32]) -> anyhow::Result<String> {
    let (cpu_uw, cluster_uw, words, standing) = match &facts.vendor_eas {
        Some(vendor) => measured(facts, vendor, state, cpus)?,
        None => figures(facts, state, domain)?,
    };
    let mut out = format!("\n[idle_state.power]\ncpu_uw = {}\n", number(cpu_uw));
    if let Some(uw) = cluster_uw {
        let _ = writeln!(out, "cluster_uw = {}", number(uw));
    }
    Ok(out + &source(&words, standing))
}

type Figures = (u64, Option<u64>, String, Standing);

/// Power of a CPU and of its cluster in a state, and why.
fn figures(facts: &Facts, state: &State, domain: &Domain) -> anyhow::Result<Figures> {
    if let (Some(core), Some(cluster)) = (legacy(facts, "/core"), legacy(facts, "/cluster")) {
        let figure = |idle: &[(String, u64)]| {
            idle.iter()
                .find(|(name, _)| *name == state.name)
                .map_or(0, |(_, power)| *power)
        };
        let (own, shared) = (figure(&core.idle), figure(&cluster.idle));
        let scale = Scale::of(facts, domain)?;
        let words = format!(
            "LISA's {}: core {own}, cluster {shared}; {}",
            state.name,
            scale_words(facts, domain)
        );
        return Ok((
            scale.uw(own),
            Some(scale.uw(shared)),
            words,
            Standing::Assumed,
        ));
    }
    Ok(by_ratio(
        facts,
        state,
        domain,
        &clocks::points(facts, domain)?,
    ))
}

/// By the vendor's four figures per kind of CPU; over CPUs of both kinds their mean.
fn measured(
    facts: &Facts,
    vendor: &Vendor,
    state: &State,
    cpus: &[u32],
) -> anyhow::Result<Figures> {
    let at = match (state.scope.as_str(), state.name.as_str()) {
        ("cluster", _) => 3,
        (_, "WFI") => 0,
        _ => 2,
    };
    let mut sum_mw = 0;
    for cpu in cpus {
        let big = facts.cpus[*cpu as usize].capacity == 1024;
        let table = if big {
            &vendor.idle_big
        } else {
            &vendor.idle_little
        };
        let Some(mw) = table.get(at) else {
            anyhow::bail!("{}: the vendor's idle table has no entry {at}", facts.name);
        };
        sum_mw += mw;
    }
    let mut words = format!("{}: entry {} of four, mW", plain(&vendor.source), at + 1);
    if domain_of(facts, cpus).len() > 1 {
        words += ", the mean of both kinds";
    }
    Ok((
        sum_mw * 1000 / cpus.len() as u64,
        None,
        words,
        Standing::Assumed,
    ))
}

/// By the ratios of Juno r0.
fn by_ratio(facts: &Facts, state: &State, domain: &Domain, points: &[clocks::Point]) -> Figures {
    let retention = state.name.contains("retention");
    if state.name != "WFI" && !retention {
        let words = "0 as on Juno r0: the core is off".to_owned();
        return (0, None, words, Standing::Assumed);
    }
    let kind = facts.cpus[domain.cpus[0] as usize].kind.as_str();
    let in_order = matches!(kind, "cortex-a53" | "cortex-a55");
    let (part, whole, sibling) = if in_order {
        (6, 33, "A53")
    } else {
        (15, 168, "A57")
    };
    let lowest = points.iter().min_by_key(|point| point.cpu_uw);
    let (khz, uw) = lowest.map_or((0, 0), |point| (point.khz, point.cpu_uw.unwrap_or(0)));
    let mut words = format!(
        "{uw} uW at {} MHz * {part}/{whole} (WFI over lowest busy power of Juno r0's {sibling})",
        mhz(khz)
    );
    if retention {
        words = format!("As WFI, the most it can be: {words}");
    }
    (uw * part / whole, None, words, Standing::Assumed)
}

//! Frequency domains: operating points, power, transitions.

use std::fmt::Write;

use super::facts::{Domain, Facts, Form, Limits};
use super::hybrid::hybrid;
use super::machine::{Part, list};
use super::modelled::modelled;
use super::power::{Scale, legacy, measured, sources_of, vendor_table};
use super::pstates::{self, PStates};
use super::sources::{self, plain};
use super::text::{Standing, entry, mhz, number, source};

/// An operating point as the file has it.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) khz: u64,
    pub(super) mv: Option<u64>,
    pub(super) cpu_uw: Option<u64>,
    pub(super) cluster_uw: Option<u64>,
}

/// Between published limits the grid is multiples of this, kHz.
const GRID_KHZ: u64 = 100_000;

/// Most operating points a platform file may give a clock.
const MAX_POINTS: usize = 64;

/// Nominal clocks of machines for which the facts have none, kHz: those of the model named, which
/// are the maker's and were not checked. With one point the clock stands still.
const NOMINAL_KHZ: &[(&str, u64, &str)] = &[
    ("kunpeng920-2s", 2_600_000, "Kunpeng 920-6426"),
    ("zen4-2s-genoa", 2_400_000, "EPYC 9654"),
    ("zen5-2s-turin", 2_700_000, "EPYC 9755"),
    ("zen4-7950x", 4_500_000, "Ryzen 9 7950X"),
    ("zen5-9950x", 4_300_000, "Ryzen 9 9950X"),
];

/// Machines whose clock intel_pstate drives: Sandy Bridge and later.
const INTEL_PSTATE: &[&str] = &["snb-", "alder-", "raptor-"];

/// The `[[frequency_domain]]` tables.
pub(super) fn tables(facts: &Facts, parts: &[Part]) -> anyhow::Result<String> {
    let mut out = String::new();
    for domain in &facts.freq_domains {
        out += &known(facts, parts, domain)?;
    }
    if !facts.freq_domains.is_empty() {
        return Ok(out);
    }
    if let Some(states) = pstates::of(&facts.name) {
        return packages(facts, states);
    }
    let limits: Vec<&Limits> = facts
        .freq_limits
        .iter()
        .filter(|l| !l.cpus.is_empty())
        .collect();
    if limits.is_empty() {
        return nominal(facts);
    }
    for limits in limits {
        out += &limited(facts, parts, limits)?;
    }
    Ok(out)
}

/// A domain of the device tree.
fn known(facts: &Facts, parts: &[Part], domain: &Domain) -> anyhow::Result<String> {
    let points = points(facts, domain)?;
    let mut out = format!(
        "\n[[frequency_domain]]\ncpus = \"{}\"\n",
        list(facts, parts, &domain.cpus)
    );
    out += &rows(&points);
    let (words, standing) = clock_source(domain);
    out += &source(&words, standing);
    out += &sources_of(facts, domain, &points);
    Ok(out + &transition(facts, domain.transition_latency_us))
}

fn clock_source(domain: &Domain) -> (String, Standing) {
    let Some(origin) = &domain.opp_source else {
        let top = mhz(domain.max_khz);
        let words = format!(
            "The hardware's table (mediatek-cpufreq-hw) is not published; {top} MHz is the \
             clock-frequency of the device tree and taken as the highest and only point"
        );
        return (words, Standing::Assumed);
    };
    let mut words = plain(origin);
    if domain.opps.iter().any(|opp| opp.turbo) {
        words += "; points that need other CPUs asleep (turbo) are left out, as they are of the \
                  capacity";
    }
    let only_limits = words.starts_with("min/max only");
    if only_limits {
        words += "; the limits are the firmware's usual ones, not in the device tree";
    }
    (
        words,
        if only_limits {
            Standing::Assumed
        } else {
            Standing::Published
        },
    )
}

/// The operating points of a domain, with what is known of their power.
pub(super) fn points(facts: &Facts, domain: &Domain) -> anyhow::Result<Vec<Point>> {
    let plain = domain.opps.iter().filter(|opp| !opp.turbo);
    let mut points: Vec<Point> = plain
        .map(|opp| Point {
            khz: opp.khz,
            mv: opp.mv,
            cpu_uw: opp.power_uw,
            cluster_uw: None,
        })
        .collect();
    if points.is_empty() {
        points.push(Point {
            khz: domain.max_khz,
            mv: None,
            cpu_uw: None,
            cluster_uw: None,
        });
    }
    if let Some(vendor) = &facts.vendor_eas {
        let table = vendor_table(facts, vendor, domain);
        for point in &mut points {
            point.cpu_uw = Some(measured(table, point.khz)?);
        }
    }
    if let Some(table) = legacy(facts, "/cluster") {
        let scale = Scale::of(facts, domain)?;
        for (point, bogo) in points.iter_mut().zip(table.busy) {
            point.cluster_uw = Some(scale.uw(bogo));
        }
    }
    Ok(points)
}

/// The `opps` of a domain, figures under each other.
fn rows(points: &[Point]) -> String {
    let column = |value: &dyn Fn(&Point) -> Option<u64>| -> Vec<Option<String>> {
        points
            .iter()
            .map(|point| value(point).map(number))
            .collect()
    };
    let columns = [
        ("khz", column(&|point| Some(point.khz))),
        ("mv", column(&|point| point.mv)),
        ("cpu_uw", column(&|point| point.cpu_uw)),
        ("cluster_uw", column(&|point| point.cluster_uw)),
    ];
    let mut out = String::from("opps = [\n");
    for at in 0..points.len() {
        let mut cells = Vec::new();
        for (key, values) in &columns {
            let width = values.iter().flatten().map(String::len).max().unwrap_or(0);
            if let Some(value) = &values[at] {
                cells.push(format!("{key} = {value:>width$}"));
            }
        }
        let _ = writeln!(out, "  {{ {} }},", cells.join(", "));
    }
    out + "]\n"
}

fn transition(facts: &Facts, latency_us: Option<f64>) -> String {
    let (us, words, standing) = match latency_us {
        Some(us) => {
            let origin = facts.provenance.first().map(|(_, _, origin)| plain(origin));
            let stated = facts
                .provenance
                .iter()
                .find(|(field, _, _)| field.starts_with("transition"));
            let words = match stated {
                Some((field, _, origin)) => format!("{} ({})", plain(origin), plain(field)),
                None => format!("{}: clock-latency", origin.unwrap_or_default()),
            };
            (us as u64, words, Standing::Published)
        }
        None if INTEL_PSTATE
            .iter()
            .any(|start| facts.name.starts_with(start)) =>
        {
            (
                20,
                "Linux drivers/cpufreq/intel_pstate.c: INTEL_CPUFREQ_TRANSITION_LATENCY 20000 ns"
                    .to_owned(),
                Standing::Published,
            )
        }
        None if facts.arch == "x86_64" => (
            20,
            "acpi_cpufreq and amd-pstate take what firmware states, which is not published: as \
             intel_pstate has"
                .to_owned(),
            Standing::Assumed,
        ),
        None => (
            300,
            "Nobody states it for this machine: as HiKey960 has, between the 40 us of RK3588 and \
             the 1450 us of Juno"
                .to_owned(),
            Standing::Assumed,
        ),
    };
    let head = format!(
        "\n[frequency_domain.transition]\nlatency_us = {}\n",
        number(us)
    );
    head + &source(&words, standing)
}

/// One clock per core within published limits.
fn limited(facts: &Facts, parts: &[Part], limits: &Limits) -> anyhow::Result<String> {
    let named = limits.source.as_deref().map(plain);
    let (machine, machine_standing) = sources::machine(facts);
    let origin = named.unwrap_or(machine);
    let (khz, words, standing) = match (limits.min_khz, limits.max_khz, limits.base_khz) {
        (Some(min), Some(max), _) if min < max => {
            let standing = match machine_standing {
                Standing::Published => Standing::Derived,
                _ if facts.name.starts_with("raptor") => Standing::Derived,
                _ => Standing::Assumed,
            };
            let words = format!(
                "{} to {} MHz: {origin}. Between them the multiples of 100 MHz; how many cores \
                 may reach the top at once is not modelled",
                mhz(min),
                mhz(max)
            );
            (grid(min, max), words, standing)
        }
        (_, max, base) => {
            let Some(khz) = max.or(base) else {
                anyhow::bail!("{}: a clock without any frequency", facts.name);
            };
            let words = format!(
                "{} MHz: {origin}. No other point is published, so the clock stands still",
                mhz(khz)
            );
            (vec![khz], words, Standing::Assumed)
        }
    };
    if khz.len() > MAX_POINTS {
        anyhow::bail!(
            "{}: {} operating points, {MAX_POINTS} at most",
            facts.name,
            khz.len()
        );
    }
    let cpus = list(facts, parts, &limits.cpus);
    let kind = &facts.cpus[limits.cpus[0] as usize].kind;
    let power = hybrid(facts);
    let cpu_uw = |khz: u64| power.as_ref().map(|power| power.cpu_uw(kind, khz));
    let head = per_core(facts, &cpus, &khz, &cpu_uw) + &source(&words, standing);
    let power = power.map_or_else(String::new, |power| power.source(kind));
    Ok(head + &power + &transition(facts, None))
}

/// The limits and the multiples of the grid between them.
fn grid(min: u64, max: u64) -> Vec<u64> {
    let first = min / GRID_KHZ + 1;
    let inner = (first..)
        .map(|step| step * GRID_KHZ)
        .take_while(|khz| *khz < max);
    let mut all = vec![min];
    all.extend(inner);
    all.push(max);
    all
}

/// One clock per core that stands at an assumed frequency.
fn nominal(facts: &Facts) -> anyhow::Result<String> {
    let row = NOMINAL_KHZ.iter().find(|(name, _, _)| *name == facts.name);
    let Some((_, khz, model)) = row else {
        anyhow::bail!(
            "{}: no frequency is known; give it a row in NOMINAL_KHZ",
            facts.name
        );
    };
    let words = format!(
        "The facts have no frequency; {} MHz is the nominal one of the {model}, not checked. With \
         one point the clock stands still: nothing depends on the figure",
        mhz(*khz)
    );
    let head = per_core(facts, "all", &[*khz], &|_| None) + &source(&words, Standing::Assumed);
    Ok(head + &transition(facts, None))
}

fn per_core(facts: &Facts, cpus: &str, khz: &[u64], cpu_uw: &dyn Fn(u64) -> Option<u64>) -> String {
    let mut out = String::from("\n[[frequency_domain]]\n");
    out += &entry("cpus", cpus);
    let threads = facts.has_threads() && facts.form == Form::Whole;
    out += &entry("one_per", if threads { "core" } else { "cpu" });
    let point = |khz: &u64| Point {
        khz: *khz,
        mv: None,
        cpu_uw: cpu_uw(*khz),
        cluster_uw: None,
    };
    out + &rows(&khz.iter().map(point).collect::<Vec<_>>())
}

/// One clock and one voltage per package, at the operating points that its firmware offers.
fn packages(facts: &Facts, states: &PStates) -> anyhow::Result<String> {
    let Some(power) = modelled(facts) else {
        anyhow::bail!("{}: operating points without modelled power", facts.name);
    };
    let mut out = String::from("\n[[frequency_domain]]\n");
    out += &entry("cpus", "all");
    out += &entry("one_per", "cluster");
    out += "policy_per_cpu = true\n";
    let point = |khz: u64| Point {
        khz,
        mv: None,
        cpu_uw: Some(power.cpu_uw_at(states, khz)),
        cluster_uw: Some(power.cluster_uw()),
    };
    out += &rows(&states.khz().into_iter().map(point).collect::<Vec<_>>());
    out += &source(&states.words(), Standing::Assumed);
    out += &power.sources();
    Ok(out + &transition(facts, None))
}

/// The domains that any of the CPUs is in.
pub(super) fn domain_of<'a>(facts: &'a Facts, cpus: &[u32]) -> Vec<&'a Domain> {
    let has_any = |domain: &&Domain| domain.cpus.iter().any(|cpu| cpus.contains(cpu));
    facts.freq_domains.iter().filter(has_any).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_both_limits_and_no_point_twice() {
        assert_eq!(grid(338_000, 500_000), [338_000, 400_000, 500_000]);
        assert_eq!(grid(400_000, 600_000), [400_000, 500_000, 600_000]);
    }
}

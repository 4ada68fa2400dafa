//! Power at operating points: a vendor's measured table, LISA's tables, and their sources.

use super::clocks::Point;
use super::facts::{Domain, Facts, Vendor};
use super::sources::plain;
use super::text::{Standing, source};

pub(super) fn vendor_table<'a>(
    facts: &Facts,
    vendor: &'a Vendor,
    domain: &Domain,
) -> &'a [(u64, u64)] {
    match facts.cpus[domain.cpus[0] as usize].capacity {
        1024 => &vendor.cores_big_khz_mw,
        _ => &vendor.cores_little_khz_mw,
    }
}

/// Power at a frequency from a measured table, uW: the figure, or, where the table has none, on the
/// line between its neighbours, below its first point on the line from 0.
pub(super) fn measured(table: &[(u64, u64)], khz: u64) -> anyhow::Result<u64> {
    let above = table.iter().position(|(known, _)| *known >= khz);
    let Some(above) = above else {
        anyhow::bail!("the vendor's power table ends below {khz} kHz");
    };
    let (high, high_mw) = table[above];
    let (low, low_mw) = if above == 0 { (0, 0) } else { table[above - 1] };
    if high == khz {
        return Ok(high_mw * 1000);
    }
    let (part, whole) = (khz - low, high - low);
    let uw = |mw: u64| i128::from(mw) * 1000;
    let rise = (uw(high_mw) - uw(low_mw)) * i128::from(part) / i128::from(whole);
    Ok(u64::try_from(uw(low_mw) + rise)?)
}

/// A table of LISA: busy figures per operating point, idle figures by state.
pub(super) struct Legacy {
    pub(super) busy: Vec<u64>,
    pub(super) idle: Vec<(String, u64)>,
}

/// The core's or the cluster's table, where a machine has one in a unit of its own.
pub(super) fn legacy(facts: &Facts, which: &str) -> Option<Legacy> {
    let kind = &facts.cpus[0].kind;
    let table = facts
        .legacy_eas
        .as_ref()?
        .pointer(&format!("{which}/{kind}"))?;
    let busy = table
        .get("busy")?
        .as_array()?
        .iter()
        .filter_map(|row| row.get(1)?.as_u64());
    let idle = table.get("idle")?.as_object()?.iter();
    let idle = idle.filter_map(|(name, power)| Some((name.clone(), power.as_u64()?)));
    Some(Legacy {
        busy: busy.collect(),
        idle: idle.collect(),
    })
}

/// From the unit of LISA's table to microwatts: busy power of a core at the top point in both.
pub(super) struct Scale {
    pub(super) top_uw: u64,
    pub(super) top_bogo: u64,
}

impl Scale {
    pub(super) fn of(facts: &Facts, domain: &Domain) -> anyhow::Result<Self> {
        let top_uw = domain.opps.last().and_then(|opp| opp.power_uw);
        let top_bogo = legacy(facts, "/core").and_then(|table| table.busy.last().copied());
        match (top_uw, top_bogo) {
            (Some(top_uw), Some(top_bogo)) if top_bogo > 0 => Ok(Self { top_uw, top_bogo }),
            _ => anyhow::bail!("{}: LISA's table without its top point", facts.name),
        }
    }

    pub(super) fn uw(&self, bogo: u64) -> u64 {
        bogo * self.top_uw / self.top_bogo
    }
}

/// `cpu_power` and `cluster_power`: the sources of the columns.
pub(super) fn sources_of(facts: &Facts, domain: &Domain, points: &[Point]) -> String {
    let mut out = String::new();
    if points[0].cpu_uw.is_none() {
        return out;
    }
    out += "\n[frequency_domain.cpu_power]\n";
    let derived = domain
        .power_source
        .as_deref()
        .is_some_and(|text| text.starts_with("derived"));
    if let Some(vendor) = &facts.vendor_eas {
        let words = format!(
            "{}, measured, mW. Points it lacks: on the line between their neighbours; below its \
             first on the line from 0, as with one voltage",
            plain(&vendor.source)
        );
        let table = vendor_table(facts, vendor, domain);
        let whole = points
            .iter()
            .all(|point| table.iter().any(|(khz, _)| *khz == point.khz));
        let standing = if whole {
            Standing::Published
        } else {
            Standing::Assumed
        };
        out += &source(&words, standing);
    } else if derived {
        let words = format!(
            "dynamic-power-coefficient {} * mV^2 * MHz / 10^6, mV and MHz cut to whole numbers, \
             Linux drivers/opp/of.c dev_pm_opp_calc_power()",
            domain.dynamic_power_coefficient.unwrap_or(0)
        );
        out += &source(&words, Standing::Derived);
    } else {
        let origin = domain.opp_source.as_deref().unwrap_or_default();
        out += &source(&plain(origin), Standing::Published);
    }
    if let (Some(_), Some(table)) = (points[0].cluster_uw, legacy(facts, "/cluster")) {
        let busy: Vec<String> = table.busy.iter().map(u64::to_string).collect();
        let scale = scale_words(facts, domain);
        out += "\n[frequency_domain.cluster_power]\n";
        out += &source(
            &format!("LISA's cluster busy {} {scale}", busy.join(", ")),
            Standing::Assumed,
        );
    }
    out
}

/// `* A/B uW` and why.
pub(super) fn scale_words(facts: &Facts, domain: &Domain) -> String {
    Scale::of(facts, domain).map_or_else(
        |_| String::new(),
        |scale| {
            format!(
                "* {}/{} uW: a busy core at the top point in the Energy Model and in LISA's table \
                 (lisa/platforms, lisa-linux 3.1.0)",
                scale.top_uw, scale.top_bogo
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::measured;

    /// Between 100 and 200 MHz with 10 and 30 mW lie 20 mW; below the first point a part of it.
    #[test]
    fn missing_figures_lie_on_lines() {
        let table = [(100_000, 10), (200_000, 30)];
        assert_eq!(measured(&table, 150_000).expect("inside"), 20_000);
        assert_eq!(measured(&table, 50_000).expect("below"), 5_000);
        assert_eq!(measured(&table, 200_000).expect("there"), 30_000);
        assert!(measured(&table, 300_000).is_err());
    }
}

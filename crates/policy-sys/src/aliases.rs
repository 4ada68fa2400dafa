//! What people call things that have another name here. No name is accepted for another: a policy's
//! name stands in results, and one spelling each keeps them comparable. Messages offer the name.

use wakeplace_text::{did_you_mean_first, nearest_few};

/// Of features; `-` and `_` are alike.
const FEATURES: [(&str, &str); 20] = [
    ("cas", "asym-capacity"),
    ("capacity", "asym-capacity"),
    ("capacity-aware", "asym-capacity"),
    ("misfit", "asym-capacity"),
    ("big-little", "asym-capacity"),
    ("eas", "energy-aware"),
    ("energy", "energy-aware"),
    ("energy-model", "energy-aware"),
    ("feec", "energy-aware"),
    ("power", "power-policy"),
    ("power-aware", "power-policy"),
    ("powersave", "power-policy"),
    ("powersaving", "power-policy"),
    ("packing", "sched-mc"),
    ("mc", "sched-mc"),
    ("sched-mc-power-savings", "sched-mc"),
    ("sis", "sis-short"),
    ("short", "sis-short"),
    ("short-wake", "sis-short"),
    ("select-idle-sibling", "sis-short"),
];

/// Of eras, where somebody names a scheduler or a kernel without its version.
const ERAS: [(&str, &str); 12] = [
    ("cfs", "linux-6.2"),
    ("eevdf", "linux-7.3"),
    ("kernel", "linux-7.3"),
    ("linux", "linux-7.3"),
    ("mainline", "linux-7.3"),
    ("upstream", "linux-7.3"),
    ("vanilla", "linux-7.3"),
    ("fair", "linux-7.3"),
    ("eas", "linux-7.3"),
    ("default", "wakeplace"),
    ("wp", "wakeplace"),
    ("scx-wakeplace", "wakeplace"),
];

/// Of parameters, and the value that goes with it.
const PARAMETERS: [(&str, &str); 15] = [
    ("schedutil", "governor=schedutil"),
    ("ondemand", "governor=ondemand"),
    ("performance", "governor=performance"),
    ("cpufreq", "governor"),
    ("scaling-governor", "governor"),
    ("cfs", "queue=cfs"),
    ("eevdf", "queue=eevdf"),
    ("dsq", "queue=dsq"),
    ("slice", "base_slice_ns"),
    ("sched-base-slice-ns", "base_slice_ns"),
    ("eas", "energy_aware"),
    ("energy", "energy_aware"),
    ("sched-mc", "sched_mc_power_savings"),
    ("latency", "sched_latency_ns"),
    ("migration-cost", "migration_cost_ns"),
];

/// Schedulers that are not in this program.
const OTHER_SCHEDULERS: [&str; 14] = [
    "beerland", "bore", "bpfland", "cake", "cosmos", "flash", "flatcg", "lavd", "layered",
    "mitosis", "nest", "p2dq", "rustland", "rusty",
];

fn same(name: &str, alias: &str) -> bool {
    name.to_lowercase().replace('_', "-") == alias
}

fn meant(name: &str, aliases: &[(&'static str, &'static str)]) -> Option<&'static str> {
    let found = aliases.iter().find(|(alias, _)| same(name, alias));
    found.map(|(_, meant)| *meant)
}

/// The end of a message about a wrong name: what was meant, then all there are.
fn offered(name: &str, meant: Option<&str>, known: &[&str]) -> String {
    let near = match meant {
        Some(meant) => vec![meant],
        None => nearest_few(name, known.iter().copied(), 1),
    };
    did_you_mean_first(&near, &format!("known: {}", known.join(", ")))
}

/// For a feature that there is not.
pub(crate) fn of_feature(name: &str, known: &[&str]) -> String {
    match meant(name, &PARAMETERS).filter(|_| meant(name, &FEATURES).is_none()) {
        Some(setting) if setting.contains('=') => {
            format!(
                "; it is a setting: `--set {setting}`; known: {}",
                known.join(", ")
            )
        }
        _ => offered(name, meant(name, &FEATURES), known),
    }
}

/// For an era that there is not.
pub(crate) fn of_era(name: &str, known: &[&str]) -> String {
    let bare = name.to_lowercase().replace('_', "-");
    let bare = bare.strip_prefix("scx-").unwrap_or(&bare);
    if OTHER_SCHEDULERS.contains(&bare) {
        return format!(
            "; that is another scheduler, which is not simulated; known: {}",
            known.join(", ")
        );
    }
    let feature = FEATURES
        .iter()
        .find(|(alias, of)| same(name, alias) || same(name, of));
    let (of_era, setting) = (meant(name, &ERAS), meant(name, &PARAMETERS));
    match (of_era, feature, setting) {
        (None, Some((_, feature)), _) => did_you_mean_first(
            &[&format!("linux-7.3+{feature}")],
            &format!("known: {}", known.join(", ")),
        ),
        (None, None, Some(setting)) if setting.contains('=') => format!(
            "; it is a setting: an era and `--set {setting}`; known: {}",
            known.join(", ")
        ),
        _ => offered(name, of_era, known),
    }
}

/// What the key of a setting may have meant.
#[must_use]
pub fn of_setting(key: &str) -> Option<&'static str> {
    meant(key, &PARAMETERS)
}

#[cfg(test)]
mod tests {
    use super::{ERAS, FEATURES, PARAMETERS};
    use crate::Policy;

    #[test]
    fn what_is_offered_exists() {
        for (_, feature) in FEATURES {
            let name = format!("wakeplace-{feature}");
            assert!(Policy::parse(&name).is_ok(), "{feature}");
        }
        for (alias, era) in ERAS {
            assert!(
                Policy::parse(era).is_ok() && Policy::parse(alias).is_err(),
                "{alias}"
            );
        }
        for (alias, setting) in PARAMETERS {
            let mut policy = Policy::parse("linux-7.3").expect("an era");
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            assert!(policy.has_key(key) && !policy.has_key(alias), "{alias}");
            assert!(
                value.is_empty() || policy.set(key, value).is_ok(),
                "{setting}"
            );
        }
    }
}

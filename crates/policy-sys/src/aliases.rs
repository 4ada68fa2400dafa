//! What people call things that have another name here. No name is accepted for another: a policy's
//! name stands in results, and one spelling each keeps them comparable. Messages offer the name
//! (docs/guide/policy.md).
//!
//! What must stay: nothing here makes a name valid; it only ends messages. Lists may grow freely.
//! Free: any list: a row more is a better message.
//!
//! Tests by part: `what_is_offered_exists` (all lists); policy.rs:
//! `other_names_offer_the_right_one_before_the_list` (`of_feature`, `of_version`, `of_era`,
//! `offered`, `meant`, `same`), `names_of_the_kernel_lead_to_parameters` (`of_setting`,
//! `of_value`), `wrong_names_offer_the_nearest` (`taken_away`). `version` has no test of its own.
//!
//! Callers: policy.rs, for messages about unknown names.
//!
//! Tests: below

use crate::param_table::find;
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
const ERAS: [(&str, &str); 11] = [
    ("cfs", "linux-6.2"),
    ("eevdf", "linux-7.3"),
    ("kernel", "linux-7.3"),
    ("linux", "linux-7.3"),
    ("mainline", "linux-7.3"),
    ("upstream", "linux-7.3"),
    ("vanilla", "linux-7.3"),
    ("fair", "linux-7.3"),
    ("default", "wakeplace"),
    ("wp", "wakeplace"),
    ("scx-wakeplace", "wakeplace"),
];

/// Of parameters, and the value that goes with it. What differs only in its beginning (`sched_`,
/// `no_`, a folder) needs no row.
const PARAMETERS: [(&str, &str); 30] = [
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
    ("min-granularity", "min_granularity_ns"),
    ("wakeup-granularity", "wakeup_granularity_ns"),
    ("rr-timeslice-ms", "rr_slice_us"),
    ("util-est-fastup", "util_est"),
    ("ttwu-queue", "wake_list"),
    ("wa-idle", "wake_affine_idle"),
    ("wa-weight", "wake_affine_weight"),
    ("ni-random", "newidle_random"),
    ("base-slice", "cfs_base_slice"),
    ("place-sleeper", "gentle_fair_sleepers"),
    ("up-rate-limit-us", "rate_limit_us"),
    ("down-rate-limit-us", "rate_limit_us"),
    ("rate-limit-ns", "rate_limit_us"),
    ("sampling-rate", "sampling_rate_us"),
    ("eas-enabled", "energy_aware"),
];

/// Schedulers that are not in this program.
const OTHER_SCHEDULERS: [&str; 14] = [
    "beerland", "bore", "bpfland", "cake", "cosmos", "flash", "flatcg", "lavd", "layered",
    "mitosis", "nest", "p2dq", "rustland", "rusty",
];

/// Case and `_` or `-` do not matter.
fn same(name: &str, alias: &str) -> bool {
    name.to_lowercase().replace('_', "-") == alias
}

/// Parameters whose name people use for something else, and what that is called.
const ELSEWHERE: [(&str, &str); 1] = [(
    "uclamp",
    "; it says whether clamps count at all; the clamps of tasks are keys of the workload, as \
     `periodic:uclamp_min=512`, in a sweep `workload.uclamp_min`",
)];

/// The name here of what somebody typed; None: no alias.
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

/// Major and minor number of a kernel, however somebody writes its version: `6.12`, `v6.12.3`,
/// `Linux 6.12-rc4`.
fn version(name: &str) -> Option<(u32, u32)> {
    let name = name.to_lowercase();
    let bare = ["linux", "kernel", "v", "-", "_", " "];
    let cut = |text: &str| {
        bare.iter()
            .find_map(|b| text.strip_prefix(b).map(str::to_owned))
    };
    let mut left = name;
    while let Some(shorter) = cut(&left) {
        left = shorter;
    }
    let (major, rest) = left.split_once('.')?;
    let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Eras for a kernel's version: its own, else the last before it and the first after it.
fn of_version(name: &str, known: &[&'static str]) -> Vec<&'static str> {
    let Some(asked) = version(name) else {
        return Vec::new();
    };
    let eras = known.iter().filter_map(|era| Some((version(era)?, *era)));
    let eras: Vec<_> = eras.collect();
    if let Some((_, same)) = eras.iter().find(|(version, _)| *version == asked) {
        return vec![same];
    }
    let before = eras.iter().filter(|(version, _)| *version < asked).max();
    let after = eras.iter().filter(|(version, _)| *version > asked).min();
    before
        .into_iter()
        .chain(after)
        .map(|(_, era)| *era)
        .collect()
}

/// The feature that the end of a name takes away by another name than its own, as in
/// `linux-6.12-eas`.
fn taken_away(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace('_', "-");
    let ends = |alias: &str| {
        name.strip_suffix(alias)
            .is_some_and(|era| era.ends_with('-'))
    };
    let found = FEATURES
        .iter()
        .filter(|(alias, of)| ends(alias) || ends(of));
    found
        .max_by_key(|(alias, _)| alias.len())
        .map(|(_, feature)| *feature)
}

/// For an era that there is not.
pub(crate) fn of_era(name: &str, known: &[&'static str]) -> String {
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
        (Some(era), ..) => offered(name, Some(era), known),
        _ => {
            // Near by its letters is no near version: 3.1 is far from 6.1.
            let near = match of_version(name, known) {
                versions if versions.is_empty() => nearest_few(name, known.iter().copied(), 1),
                versions => versions,
            };
            let taken = taken_away(name).map(|feature| format!("-{feature}"));
            let taken = taken.unwrap_or_default();
            let near: Vec<String> = near.iter().map(|era| format!("{era}{taken}")).collect();
            did_you_mean_first(&near, &format!("known: {}", known.join(", ")))
        }
    }
}

/// What the key of a setting may have meant: what people call it, or a parameter with something
/// before its name, as in sysctl (`kernel.sched_NAME`), debugfs (a path), `sched_features`
/// (`NO_NAME`), or with a prefix that belongs to something else (`model.NAME`).
#[must_use]
pub fn of_setting(key: &str) -> Option<String> {
    let last = key.rsplit(['.', '/', ':']).next().unwrap_or(key);
    let last = last.to_lowercase().replace('-', "_");
    let after = |prefix: &str| last.strip_prefix(prefix);
    let known = |name: &str| {
        let parameter = find(name).map(|param| param.key);
        parameter.or_else(|| meant(name, &PARAMETERS))
    };
    let bare = [Some(last.as_str()), after("sched_")];
    let found = bare.into_iter().flatten().find_map(known);
    let off = || Some(format!("{}=off", known(after("no_")?)?));
    found.map(str::to_owned).or_else(off)
}

/// The end of a message about a value that a parameter does not take: where else such a value goes.
pub(crate) fn of_value(parameter: &str) -> &'static str {
    let found = ELSEWHERE.iter().find(|(known, _)| *known == parameter);
    found.map_or("", |(_, said)| said)
}

#[cfg(test)]
mod tests {
    use super::{ERAS, FEATURES, PARAMETERS};
    use crate::Policy;

    /// Goal: what a message offers for a wrong name is a right one, and the wrong name is none.
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

//! Policy names and parameters: the one parser of
//! `ERA[+FEATURE[=VALUE]]...[-FEATURE]...[:KEY=VALUE,...]` (docs/guide/policy.md). A name that was
//! understood stays: results and studies have it.
//!
//! What must stay: a name that was understood means the same, and one spelling each. Free:
//! messages, and what is offered for a wrong name.
//!
//! Tests by part: `names_turn_features_on_and_off` (`parse`, `split`, `split_removals`, `take_own`,
//! `choose`, `sets`, `set`, `name`, `find_version`), `wrong_names_offer_the_nearest` (`find_era`,
//! `find_feature`, `hint`), `a_name_may_have_settings_of_its_own` (`feature_of_key`),
//! `parameters_check_key_and_range` (`check`, `has_key`, `parameter`),
//! `names_of_the_kernel_lead_to_parameters`, `other_names_offer_the_right_one_before_the_list`
//! (`feature_in_name`) below; policy_matrix.rs: `names_go_before_the_mode`, `a_mode_changes_live`
//! (`change`); crates/cli/tests/all/eras.rs (eras as users see them: `era_of`, `successors`);
//! short_names.rs: `names_and_states` (`catalogue`, `features`), mode.rs:
//! `the_former_name_still_serves` (`overrides`), asym_switches.rs: `thirteen_patches` (`patches`);
//! crates/cli/tests/all/kernel.rs (`of_tree`, `tree`); crates/study/src/comparison/cautions.rs:
//! `the_hardwares_choice_is_told` (`leaves_clocks`). `release`, `params` and `core_params` have no
//! test of their own.
//!
//! Callers: the command line, the Python module, studies and the live scheduler: all names come
//! through `Policy::parse`.
//!
//! Tests: below, crates/policy-sys/tests/all/policy_matrix.rs

use crate::checked::{Provenance, provenance};
use crate::eras::{ERAS, Era, FEATURES, Feature, patches};
use crate::param_table::{ALIASES, Kind, PARAMS, find};
use crate::sys::{WP_GOV_POWERSAVE, WP_MODE_PERFORMANCE, wp_params};
use crate::tree::{TreeRef, tree_named};
use crate::{Mode, aliases};
use std::collections::BTreeSet;
use thiserror::Error;
use wakeplace_text::{
    did_you_mean, did_you_mean_first, nearest, nearest_few, one_at_a_time, shorten,
};

/// A parsed policy: an era, features, parameters; or a kernel tree's own code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    name: String,
    release: (u16, u16),
    pub(crate) params: wp_params,
    defaults: wp_params,
    overrides: Vec<(&'static str, String)>,
    /// Parameters that the name itself sets: nothing said of all policies changes them.
    own: Vec<&'static str>,
    tree: Option<TreeRef>,
}

/// One parameter with its value, for `policy show`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamView {
    /// Key for `--set`.
    pub key: &'static str,
    /// Value now, as `--set` takes it.
    pub value: String,
    /// Value the era (with its features) gives it.
    pub default: String,
    /// One line: meaning and unit.
    pub doc: &'static str,
    /// Feature or group it belongs to (`energy-aware`, `load-tracking`, `frequency`, ...).
    pub group: &'static str,
    /// Which kernels have this value, and what it was compared with.
    pub provenance: Provenance,
    /// Where the rule that reads it is written down, from the repository's root.
    pub rule: &'static str,
    /// What of it the live scheduler takes: `any value`, `only ...`, `always ...` or `not read`.
    pub live: String,
    /// Its values, where they have names.
    pub choices: &'static [&'static str],
}

/// A feature as `policy show` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureView {
    /// Name, as `energy-aware`.
    pub name: &'static str,
    /// On in this policy, with its version (`on` for a feature without versions).
    pub state: Option<&'static str>,
    /// Off, but these parameters of the policy stand for what later kernels do instead.
    pub successors: Vec<&'static str>,
    /// Versions that can be chosen; empty = none.
    pub versions: &'static [&'static str],
    /// One line.
    pub doc: &'static str,
}

/// One patch of a feature's series as `policy show` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchView {
    /// Number in the series, or what else it is.
    pub number: &'static str,
    /// One line.
    pub doc: &'static str,
    /// The parameter that takes it away, and its value; None: there is nothing to switch.
    pub switch: Option<(&'static str, String)>,
    /// What is left without it, or why there is nothing to switch.
    pub without: &'static str,
}

/// A policy name or parameter that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PolicyError(pub String);

/// `; did you mean ...` for a name, if one is near enough to be a slip.
pub(crate) fn hint<'a>(name: &str, valid: impl Iterator<Item = &'a str>) -> String {
    did_you_mean(nearest(name, valid))
}

/// Splits `linux-4.17+a=b-c` into the era and signed parts. A `-` begins a part only if what
/// follows is a feature's name, since era and feature names contain `-` themselves.
fn split(name: &str) -> (String, Vec<(bool, String)>) {
    let mut pieces = name.split('+');
    let mut parts = Vec::new();
    let mut era = String::new();
    for (at, piece) in pieces.by_ref().enumerate() {
        let (head, removed) = split_removals(piece);
        if at == 0 {
            era = head;
        } else {
            parts.push((true, head));
        }
        parts.extend(removed.into_iter().map(|f| (false, f)));
    }
    (era, parts)
}

/// Takes `-FEATURE` endings off a piece.
fn split_removals(piece: &str) -> (String, Vec<String>) {
    let mut head = piece;
    let mut removed = Vec::new();
    'again: loop {
        for feature in FEATURES {
            if let Some(rest) = head.strip_suffix(feature.name)
                && let Some(rest) = rest.strip_suffix('-')
                && !rest.is_empty()
            {
                removed.insert(0, feature.name.to_owned());
                head = rest;
                continue 'again;
            }
        }
        return (head.to_owned(), removed);
    }
}

/// The era of that name, or the nearest name.
fn find_era(name: &str, whole: &str) -> Result<&'static Era, PolicyError> {
    ERAS.iter().find(|e| e.name == name).ok_or_else(|| {
        let known: Vec<_> = ERAS.iter().map(|e| e.name).collect();
        let (whole, shown) = (shorten(whole), shorten(name));
        PolicyError(format!(
            "policy `{whole}`: unknown era `{shown}`{}",
            aliases::of_era(name, &known)
        ))
    })
}

/// The feature of that name, or the nearest name.
fn find_feature(name: &str, whole: &str) -> Result<&'static Feature, PolicyError> {
    FEATURES.iter().find(|f| f.name == name).ok_or_else(|| {
        let known: Vec<_> = FEATURES.iter().map(|f| f.name).collect();
        let (whole, shown) = (shorten(whole), shorten(name));
        PolicyError(format!(
            "policy `{whole}`: unknown feature `{shown}`{}",
            aliases::of_feature(name, &known)
        ))
    })
}

/// The feature of this name; `_` may stand for `-`, as in parameters. None: there is none.
fn feature_of_key(key: &str) -> Option<&'static Feature> {
    let name = key.replace('_', "-");
    FEATURES.iter().find(|feature| feature.name == name)
}

/// Position of a version among a feature's; without `=VERSION` the era's, else the usual one.
fn find_version(
    era: &Era,
    feature: &Feature,
    version: Option<&str>,
    whole: &str,
) -> Result<usize, PolicyError> {
    let of_era = era.versions.iter().find(|(name, _)| *name == feature.name);
    let Some(version) = version.or(of_era.map(|(_, version)| *version)) else {
        return Ok(feature.usual);
    };
    feature
        .versions
        .iter()
        .position(|v| *v == version)
        .ok_or_else(|| {
            let expected = if feature.versions.is_empty() {
                "it has no versions".to_owned()
            } else {
                format!("known: {}", feature.versions.join(", "))
            };
            let near = nearest_few(version, feature.versions.iter().copied(), 1);
            let (whole, shown) = (shorten(whole), shorten(version));
            PolicyError(format!(
                "policy `{whole}`: unknown version `{shown}` of `{}`{}",
                feature.name,
                did_you_mean_first(&near, &expected),
            ))
        })
}

impl Policy {
    /// Parses `ERA[+FEATURE[=VALUE]]...[-FEATURE]...[:KEY=VALUE,...]`.
    ///
    /// # Errors
    /// One sentence with what was expected and the nearest valid name.
    pub fn parse(name: &str) -> Result<Self, PolicyError> {
        if let Some(tree) = tree_named(name) {
            return Self::of_tree(tree?);
        }
        let (rules, settings) = match name.split_once(':') {
            Some((rules, settings)) => (rules, Some(settings)),
            None => (name, None),
        };
        if let Some(list) = one_at_a_time("policy", rules) {
            return Err(PolicyError(list));
        }
        let (era, parts) = split(rules);
        let era = find_era(&era, rules)?;
        let mut params = (era.params)();
        for (add, part) in parts {
            let (feature, version) = match part.split_once('=') {
                Some((feature, version)) => (feature, Some(version)),
                None => (part.as_str(), None),
            };
            let feature = find_feature(feature, rules)?;
            if add {
                (feature.enable)(&mut params, find_version(era, feature, version, rules)?);
            } else {
                (feature.disable)(&mut params);
            }
        }
        let mut policy = Self {
            name: name.to_owned(),
            release: era.release,
            params,
            defaults: params,
            overrides: Vec::new(),
            own: Vec::new(),
            tree: None,
        };
        policy.check()?;
        if let Some(settings) = settings {
            policy.take_own(settings)?;
        }
        Ok(policy)
    }

    /// A tree's own code, under the tree's label; its parameters are its own.
    fn of_tree(tree: TreeRef) -> Result<Self, PolicyError> {
        Ok(Self {
            name: tree.label().to_owned(),
            release: tree.release(),
            tree: Some(tree.clone()),
            ..Self::parse(tree.era())?
        })
    }

    /// The tree whose own code decides; None: the core does.
    #[must_use]
    pub fn tree(&self) -> Option<&TreeRef> {
        self.tree.as_ref()
    }

    /// The settings of a name: `KEY=VALUE,...`, each key once.
    fn take_own(&mut self, settings: &str) -> Result<(), PolicyError> {
        let whole = shorten(&self.name);
        let refused = |reason: String| PolicyError(format!("policy `{whole}`: {reason}"));
        for setting in settings.split(',').map(str::trim) {
            let parts = setting.split_once('=').map(|(k, v)| (k.trim(), v.trim()));
            let Some((key, value)) = parts.filter(|(k, v)| !k.is_empty() && !v.is_empty()) else {
                return Err(refused(format!(
                    "`{}` is no setting; expected KEY=VALUE,... after the colon",
                    shorten(setting)
                )));
            };
            if key.starts_with("model.") {
                return Err(refused(format!(
                    "`{}` is the machine's and not a policy's; expected `--set {}`",
                    shorten(key),
                    shorten(setting)
                )));
            }
            let key = match feature_of_key(key).filter(|_| find(key).is_none()) {
                Some(feature) => {
                    self.choose(feature, value)?;
                    feature.name
                }
                None => {
                    self.set(key, value).map_err(|e| refused(e.0))?;
                    find(key).map_or("", |param| param.key)
                }
            };
            if self.own.contains(&key) {
                return Err(refused(format!("`{key}` is set twice; expected it once")));
            }
            self.own.push(key);
        }
        self.check()
    }

    /// A feature as a setting: a version, `on`, or `off`; as if the name had it with `+` or `-`.
    fn choose(&mut self, feature: &Feature, value: &str) -> Result<(), PolicyError> {
        let version = match value {
            "off" => None,
            "on" => Some(feature.usual),
            version => {
                let found = feature.versions.iter().position(|v| *v == version);
                Some(found.ok_or_else(|| {
                    let (whole, shown) = (shorten(&self.name), shorten(version));
                    let known = ["on", "off"]
                        .into_iter()
                        .chain(feature.versions.iter().copied());
                    let known: Vec<&str> = known.collect();
                    PolicyError(format!(
                        "policy `{whole}`: `{}={shown}`; expected one of {}{}",
                        feature.name,
                        known.join(", "),
                        hint(&shown, known.iter().copied())
                    ))
                })?)
            }
        };
        for params in [&mut self.params, &mut self.defaults] {
            match version {
                None => (feature.disable)(params),
                Some(version) => (feature.enable)(params, version),
            }
        }
        Ok(())
    }

    /// The name itself sets this parameter; a tree has none of the core's.
    #[must_use]
    pub fn sets(&self, key: &str) -> bool {
        self.tree.is_some() || find(key).is_some_and(|param| self.own.contains(&param.key))
    }

    /// The name as given, with its own settings.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its governor leaves clocks to the hardware where a platform's driver does
    /// (`governor=powersave`, unless the mode asks for the highest clock).
    #[must_use]
    pub fn leaves_clocks(&self) -> bool {
        let params = &self.params;
        params.governor == WP_GOV_POWERSAVE && params.mode != WP_MODE_PERFORMANCE
    }

    /// The era of a kernel: the last one that is not younger, or the first.
    #[must_use]
    pub fn era_of(release: (u16, u16)) -> &'static str {
        let kernels = ERAS.iter().filter(|era| era.name.starts_with("linux-"));
        let mut older = kernels.filter(|era| era.release <= release);
        older.next_back().unwrap_or(&ERAS[0]).name
    }

    /// Major and minor number of the kernel whose drivers the machine has.
    #[must_use]
    pub fn release(&self) -> (u16, u16) {
        self.release
    }

    /// Changes one parameter.
    ///
    /// # Errors
    /// Unknown key (nearest named) or a value out of range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), PolicyError> {
        let param = find(key).ok_or_else(|| {
            let hint = match (self.feature_in_name(key), aliases::of_setting(key)) {
                (Some(feature), _) => format!("; {feature}"),
                (None, Some(meant)) => did_you_mean(Some(&meant)),
                (None, None) => hint(key, PARAMS.iter().map(|p| p.key)),
            };
            PolicyError(format!("unknown parameter `{}`{hint}", shorten(key)))
        })?;
        let value = if param.key == "mode" {
            Mode::parse(value).map_or(value, |mode| mode.name()) // a former name, too
        } else {
            value
        };
        let number = param.parse(value).map_err(|expected| {
            let (shown, elsewhere) = (shorten(value), aliases::of_value(param.key));
            PolicyError(format!(
                "parameter `{key}`: `{shown}`: {expected}{elsewhere}"
            ))
        })?;
        (param.put)(&mut self.params, number);
        self.overrides.retain(|(k, _)| *k != param.key);
        self.overrides.push((param.key, param.show(&self.params)));
        Ok(())
    }

    /// Says how the policy's name takes a key that is a feature's name and no parameter. None: it
    /// is something else.
    #[must_use]
    pub fn feature_in_name(&self, key: &str) -> Option<String> {
        let feature = feature_of_key(key).filter(|_| find(key).is_none())?.name;
        let own = self.name.split([':', '+']).next().unwrap_or_default();
        Some(format!(
            "`{feature}` is a feature; expected it in the policy's name, as `{own}+{feature}` or \
             `{own}:{feature}=off`"
        ))
    }

    /// Once all parameters are set: is some feature on that what else is set cannot have?
    ///
    /// # Errors
    /// One sentence that names both and the reason.
    pub fn check(&self) -> Result<(), PolicyError> {
        let on = FEATURES
            .iter()
            .filter(|f| (f.state)(&self.params).is_some());
        for feature in on {
            if let Some(why) = (feature.refused)(&self.params) {
                let name = shorten(&self.name);
                return Err(PolicyError(format!(
                    "policy `{name}` cannot have `{}`: {why}",
                    feature.name
                )));
            }
        }
        Ok(())
    }

    /// Changes a parameter, or a feature's version, of a policy that is in force.
    ///
    /// # Errors
    /// As `set`; and what cannot change while tasks run.
    pub fn change(&mut self, key: &str, value: &str) -> Result<(), PolicyError> {
        let known = find(key);
        if known.is_some_and(|param| param.changes_in_force(&self.params)) {
            let mut changed = self.clone();
            changed.set(key, value)?;
            changed.check()?;
            *self = changed;
            return Ok(());
        }
        let changeable = || {
            let params = PARAMS.iter();
            params.filter(|p| p.changes_in_force(&self.params))
        };
        let groups: BTreeSet<_> = changeable().map(|p| p.group).collect();
        let groups: Vec<_> = groups.into_iter().collect();
        let feature = FEATURES.iter().any(|f| f.name == key);
        let what = match (known.is_some(), feature) {
            (true, _) => format!("parameter `{key}` is for a whole run"),
            (_, true) => format!("`{key}={}` is for a whole run", shorten(value)),
            _ => format!("unknown parameter `{}`", shorten(key)),
        };
        let features = ALIASES.iter().map(|(feature, _)| *feature);
        let near = hint(key, changeable().map(|p| p.key).chain(features));
        Err(PolicyError(format!(
            "{what}; what can change while tasks run: `power-policy`, and parameters of {} \
             (`wakeplace policy show`){near}",
            groups.join(", "),
        )))
    }

    /// True if the policy has a parameter of this name.
    #[must_use]
    pub fn has_key(&self, key: &str) -> bool {
        self.tree.is_none() && find(key).is_some()
    }

    /// The parameter that a key means: some have a feature's name besides; any other key itself.
    #[must_use]
    pub fn parameter(key: &str) -> &str {
        find(key).map_or(key, |param| param.key)
    }

    /// Parameters changed with `set`, in that order.
    #[must_use]
    pub fn overrides(&self) -> &[(&'static str, String)] {
        &self.overrides
    }

    /// All parameters, in a fixed order; of a tree none.
    #[must_use]
    pub fn params(&self) -> Vec<ParamView> {
        let params = PARAMS.iter().filter(|_| self.tree.is_none());
        params
            .map(|p| ParamView {
                key: p.key,
                value: p.show(&self.params),
                default: p.show(&self.defaults),
                doc: p.doc,
                group: p.group,
                provenance: provenance(p, (p.get)(&self.params), self.release),
                rule: p.rule,
                live: p.show_live(),
                choices: match p.kind {
                    Kind::Choice(names) => names,
                    Kind::Switch => &["off", "on"],
                    Kind::Range(..) | Kind::Auto(..) => &[],
                },
            })
            .collect()
    }

    /// All features with their state.
    #[must_use]
    pub fn features(&self) -> Vec<FeatureView> {
        FEATURES
            .iter()
            .map(|f| FeatureView {
                name: f.name,
                state: (f.state)(&self.params)
                    .map(|version| f.versions.get(version).copied().unwrap_or("on")),
                successors: self.successors(f),
                versions: f.versions,
                doc: f.doc,
            })
            .collect()
    }

    /// The patches of a feature, each with its state in this policy; empty for most features.
    #[must_use]
    pub fn patches(&self, feature: &str) -> Vec<PatchView> {
        let state = |key| find(key).map(|param| (param.key, param.show(&self.params)));
        patches(feature)
            .iter()
            .map(|patch| PatchView {
                number: patch.number,
                doc: patch.doc,
                switch: patch.key.and_then(state),
                without: patch.without,
            })
            .collect()
    }

    /// The successors of a feature that is off, as far as this policy has them on.
    fn successors(&self, feature: &Feature) -> Vec<&'static str> {
        if (feature.state)(&self.params).is_some() {
            return Vec::new();
        }
        let on = |key: &&'static str| find(key).is_some_and(|p| (p.get)(&self.params) != 0);
        feature.successors.iter().copied().filter(on).collect()
    }

    /// Names that can be parsed, each with one line: eras, then features as `+NAME`.
    #[must_use]
    pub fn catalogue() -> Vec<(String, &'static str)> {
        let eras = ERAS.iter().map(|e| (e.name.to_owned(), e.doc));
        eras.chain(FEATURES.iter().map(|f| (format!("+{}", f.name), f.doc)))
            .collect()
    }

    /// The values as the core takes them.
    #[must_use]
    pub fn core_params(&self) -> &wp_params {
        &self.params
    }
}

#[cfg(test)]
mod tests {
    use super::Policy;

    fn value(policy: &Policy, key: &str) -> String {
        policy
            .params()
            .into_iter()
            .find(|p| p.key == key)
            .expect("known key")
            .value
    }

    /// Goal: a name's features and versions become parameters; what is taken off and put on again
    /// is as before.
    #[test]
    fn names_turn_features_on_and_off() {
        let plain = Policy::parse("linux-4.17").unwrap();
        assert_eq!(value(&plain, "energy_aware"), "off");
        assert_eq!(value(&plain, "wake_cap"), "on");
        let eas = Policy::parse("linux-4.17+energy-aware-asym-capacity").unwrap();
        assert_eq!(value(&eas, "energy_aware"), "v3");
        assert_eq!(value(&eas, "wake_cap"), "off");
        let later = Policy::parse("linux-4.17+energy-aware=5.0").unwrap();
        assert_eq!(value(&later, "energy_margin_shift"), "4");
        let today = Policy::parse("linux-7.3").unwrap();
        assert_eq!(value(&today, "energy_aware"), "7.3");
        let again = Policy::parse("linux-7.3-energy-aware+energy-aware").unwrap();
        assert_eq!(again.core_params(), today.core_params());
    }

    /// Goal: what is wrong in a name is answered with what is near; nothing where nothing is.
    #[test]
    fn wrong_names_offer_the_nearest() {
        let error = |name: &str| Policy::parse(name).unwrap_err().to_string();
        assert!(error("linux-4.177").contains("did you mean `linux-4.17`"));
        assert!(error("linux-4.17+energy-awre").contains("did you mean `energy-aware`"));
        assert!(error("linux-4.17+energy-aware=v4").contains("did you mean `v3`"));
        assert!(error("linux-4.17+asym-capacity=2").contains("no versions"));
        assert!(!error("minix").contains("did you mean"));
    }

    /// Goal: two policies of one comparison differ in a setting; what is said of all of them leaves
    /// that alone.
    #[test]
    fn a_name_may_have_settings_of_its_own() {
        let name = "wakeplace:mode=powersave, sis_short=off";
        let policy = Policy::parse(name).unwrap();
        assert_eq!(policy.name(), name);
        assert_eq!(value(&policy, "mode"), "powersave");
        let features = policy.features();
        let state = features
            .iter()
            .find(|f| f.name == "sis-short")
            .unwrap()
            .state;
        assert_eq!(state, None);
        let versions = Policy::parse("linux-6.2:sis-short=v5,energy_aware=off").unwrap();
        let named = Policy::parse("linux-6.2+sis-short=v5:energy_aware=off").unwrap();
        assert_eq!(versions.core_params(), named.core_params());
        assert!(policy.sets("mode") && !policy.sets("busy_factor"));
        let error = |name: &str| Policy::parse(name).unwrap_err().to_string();
        for (name, said) in [
            ("linux-7.3:", "expected KEY=VALUE"),
            ("linux-7.3:mode", "expected KEY=VALUE"),
            ("linux-7.3:mode=", "expected KEY=VALUE"),
            ("linux-7.3:busy_facter=3", "did you mean `busy_factor`"),
            ("linux-7.3:busy_factor=3,busy_factor=4", "set twice"),
            ("linux-7.3:sis_short=v99", "expected one of on, off, v1"),
            (
                "linux-7.3:model.ipi_ns=5",
                "expected `--set model.ipi_ns=5`",
            ),
            ("linux-7.4:mode=powersave", "did you mean `linux-7.3`"),
            (
                "linux-6.12,linux-7.3",
                "`linux-6.12,linux-7.3` is a list; expected one policy, and the option once for \
                 each",
            ),
        ] {
            let said_really = error(name);
            assert!(said_really.contains(said), "{name}: {said_really}");
        }
    }

    /// Goal: names that people know these things by, of which none is near by its letters.
    #[test]
    fn other_names_offer_the_right_one_before_the_list() {
        for (name, offered) in [
            ("linux-7.3+eas", "`energy-aware`"),
            ("linux-7.3+sis_short", "`sis-short`"),
            ("linux-7.3+sis", "`sis-short`"),
            ("linux-7.3+sched_mc", "`sched-mc`"),
            ("linux-7.3+EAS=v3", "`energy-aware`"),
            ("linux-7.3+schedutil", "`--set governor=schedutil`"),
            ("linux-7.3+eevdf", "`--set queue=eevdf`"),
            ("cfs", "`linux-6.2`"),
            ("eevdf", "`linux-7.3`"),
            ("eas", "`linux-7.3+energy-aware`"),
            ("6.12", "`linux-6.12`"),
            ("v6.12", "`linux-6.12`"),
            ("Linux 6.12.30", "`linux-6.12`"),
            ("linux-6.12.117", "`linux-6.12`"),
            ("5.10", "`linux-5.10`"),
            ("5.15", "`linux-5.10` or `linux-6.1`"),
            ("linux-6.8", "`linux-6.6` or `linux-6.12`"),
            ("linux-6.5", "did you mean `linux-6.2` or `linux-6.6`?"),
            ("linux-6.12-eas", "`linux-6.12-energy-aware`"),
            ("linux-6.12-sched_mc", "`linux-6.12-sched-mc`"),
            ("6.1.0-rc4", "`linux-6.1`"),
            ("2.6.32", "`linux-3.1`"),
            ("9.0", "`linux-7.3`"),
            ("schedutil", "`--set governor=schedutil`"),
            ("sis-short", "`linux-7.3+sis-short`"),
            ("lavd", "another scheduler"),
            ("scx_lavd", "another scheduler"),
            ("linux-4.177", "`linux-4.17`"),
            ("linux-7.3+energy-aware=v4", "`v3`"),
        ] {
            let error = Policy::parse(name).unwrap_err().to_string();
            let (hint, list) = (error.find(offered), error.to_lowercase().find("known: "));
            assert!(hint.is_some() && hint < list, "{name}: {error}");
        }
        let error = |key: &str| {
            let mut policy = Policy::parse("linux-7.3").unwrap();
            policy.set(key, "1").unwrap_err().to_string()
        };
        assert!(error("schedutil").contains("did you mean `governor=schedutil`?"));
        assert!(error("eas").contains("did you mean `energy_aware`?"));
        assert!(
            error("sis_short").contains("as `linux-7.3+sis-short` or `linux-7.3:sis-short=off`")
        );
    }

    /// Goal: names of the kernel's own knobs, and a prefix that belongs elsewhere, lead to
    /// parameters.
    #[test]
    fn names_of_the_kernel_lead_to_parameters() {
        let error = |key: &str| {
            let mut policy = Policy::parse("linux-7.3").unwrap();
            policy.set(key, "1").unwrap_err().to_string()
        };
        // Names of sysctl, debugfs, sched_features and cpufreq (kernel/sched/debug.c and
        // kernel/sched/features.h of 6.12 and 7.3, kernel/sysctl.c of 5.10, drivers/cpufreq and
        // kernel/sched/cpufreq_schedutil.c), and a prefix that belongs elsewhere.
        for (name, offered) in [
            ("kernel.sched_migration_cost_ns", "migration_cost_ns"),
            ("/sys/kernel/debug/sched/base_slice_ns", "base_slice_ns"),
            ("sched_min_granularity_ns", "min_granularity_ns"),
            ("sched_wakeup_granularity_ns", "wakeup_granularity_ns"),
            ("kernel.sched_nr_migrate", "nr_migrate"),
            ("kernel.sched_rt_runtime_us", "rt_runtime_us"),
            ("sched_rr_timeslice_ms", "rr_slice_us"),
            ("kernel.sched_energy_aware", "energy_aware"),
            ("NO_HRTICK", "hrtick=off"),
            ("TTWU_QUEUE", "wake_list"),
            ("WA_WEIGHT", "wake_affine_weight"),
            ("UTIL_EST_FASTUP", "util_est"),
            ("schedutil.rate_limit_us", "rate_limit_us"),
            ("up_rate_limit_us", "rate_limit_us"),
            ("ondemand/sampling_rate", "sampling_rate_us"),
            ("scaling_governor", "governor"),
            ("model.governor", "governor"),
            ("policy.misfit", "misfit"),
        ] {
            let error = error(name);
            assert!(
                error.contains(&format!("did you mean `{offered}`?")),
                "{name}: {error}"
            );
        }
        let mut policy = Policy::parse("linux-7.3").unwrap();
        let error_of_value = policy.set("uclamp", "512").unwrap_err().to_string();
        assert!(
            error_of_value.contains("`workload.uclamp_min`"),
            "{error_of_value}"
        );
    }

    /// Goal: a setting is read by its key and within its range, or refused with what was expected.
    #[test]
    fn parameters_check_key_and_range() {
        let mut policy = Policy::parse("linux-4.17").unwrap();
        policy.set("pelt_scale", "clock").unwrap();
        assert_eq!(value(&policy, "pelt_scale"), "clock");
        assert_eq!(policy.overrides(), [("pelt_scale", "clock".to_owned())]);
        let error = policy.set("busy_facter", "1").unwrap_err().to_string();
        assert!(error.contains("did you mean `busy_factor`"), "{error}");
        assert!(
            policy
                .set("busy_factor", "0")
                .unwrap_err()
                .to_string()
                .contains("1 to 1024")
        );
        assert!(
            policy
                .set("balance", "maybe")
                .unwrap_err()
                .to_string()
                .contains("`on` or `off`")
        );
        let error = policy.set("mode", "powersve").unwrap_err().to_string();
        assert!(error.ends_with("; did you mean `powersave`?"), "{error}");
        let error = policy.set("mode", "zzz").unwrap_err().to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }
}

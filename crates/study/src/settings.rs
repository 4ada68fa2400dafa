//! `--set KEY=VALUE`: who takes which key (docs/guide/results.md, "Settings").
//!
//! What must stay: policies and the model each refuse what is not theirs, and the one third taker
//! are hints of tasks, which are told by their prefix; a value in a policy's own name wins over
//! `--set`; what excludes each other is judged once all is set. Tests by part:
//! `a_policy_key_reaches_every_policy` and `a_wrong_key_is_named_with_the_nearest`
//! (`apply_settings`),
//! `what_excludes_each_other_is_judged_at_the_end` (`apply_settings`),
//! `a_key_from_elsewhere_says_where` (`check_keys`, `elsewhere`, `last_part`),
//! request.rs::`settings_belong_to_a_policy` (own values),
//! schedulers.rs::`settings_of_policies_are_refused_beside_a_scheduler_alone` (`check_model_keys`),
//! crates/cli/tests/all/hints.rs::`a_tasks_hint_is_a_setting` (`split_hints`, `hinted`,
//! `hints_of`). `changed_options` has no test of its own.
//!
//! Tests: below, crates/cli/tests/all/hints.rs, crates/cli/src/settings.rs,
//! crates/study/src/request.rs::settings_belong_to_a_policy,
//! crates/cli/tests/all/schedulers.rs::settings_of_policies_are_refused_beside_a_scheduler_alone

use crate::hotplug::shown;
use crate::{Argument, Command, StudyError, argument};
use wakeplace_engine::Options;
use wakeplace_policy_sys::{Policy, PolicyError, of_setting};
use wakeplace_text::{did_you_mean_first, nearest_few, shorten};
use wakeplace_workload::{ModelInfo, Spec, TaskHint};

/// Keys of the machine's model begin with this.
const MODEL_PREFIX: &str = "model.";
/// Hints of tasks of an rt-app file or a recording begin with this.
const TASK_PREFIX: &str = "task.";

/// A setting that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting `{}={}`: {reason}", shorten(.key), shorten(.value))]
pub struct SettingError {
    /// Key as given.
    pub key: String,
    /// Value as given.
    pub value: String,
    /// What was expected, with the nearest name.
    pub reason: String,
}

/// Applies settings: `model.*` to the options, everything else to each of the policies whose name
/// does not set it itself.
///
/// # Errors
/// The first setting that is not taken; options and policies may then be half changed.
pub fn apply_settings(
    set: &[(String, String)],
    options: &mut Options,
    policies: &mut [Policy],
) -> Result<(), SettingError> {
    let mut excluded = None;
    for (key, value) in set {
        let error = |reason: String| SettingError {
            key: key.clone(),
            value: value.clone(),
            reason,
        };
        if key.starts_with(MODEL_PREFIX) {
            options.set(key, value).map_err(|e| error(e.to_string()))?;
            continue;
        }
        for policy in policies.iter_mut().filter(|policy| !policy.sets(key)) {
            policy.set(key, value).map_err(|e| error(e.to_string()))?;
        }
        // What excludes each other is judged once all is set; the setting that made it so is named.
        let checked: Result<(), _> = policies.iter().try_for_each(Policy::check);
        excluded = match (checked, excluded) {
            (Ok(()), _) => None,
            (Err(_), Some(earlier)) => Some(earlier),
            (Err(e), None) => Some(error(e.to_string())),
        };
    }
    excluded.map_or(Ok(()), Err)
}

/// Hints of tasks, and all other settings.
pub(crate) type Split = (Vec<TaskHint>, Vec<(String, String)>);

/// The settings that are hints of rt-app files' tasks, and the others.
///
/// # Errors
/// The first that begins as a hint and is none.
pub(crate) fn split_hints(set: &[(String, String)]) -> Result<Split, SettingError> {
    let (mut hints, mut others) = (Vec::new(), Vec::new());
    for (key, value) in set {
        let Some(own) = key.strip_prefix(TASK_PREFIX) else {
            others.push((key.clone(), value.clone()));
            continue;
        };
        let error = |reason: String| SettingError {
            key: key.clone(),
            value: value.clone(),
            reason,
        };
        hints.push(TaskHint::parse(own, value).map_err(error)?);
    }
    Ok((hints, others))
}

/// The workload with these hints.
///
/// # Errors
/// It cannot have one of them.
pub(crate) fn hinted(spec: Spec, hints: &[TaskHint]) -> Result<Spec, StudyError> {
    let text = |hint: &TaskHint| {
        let (key, value) = hint.pair();
        format!("{TASK_PREFIX}{key}={value}")
    };
    spec.with_hints(hints).map_err(|why| {
        let all: Vec<String> = hints.iter().map(text).collect();
        let all = shorten(&all.join(", "));
        StudyError::UnknownSetting(format!("setting `{all}`: {why}"))
    })
}

/// The hints of a workload as settings.
pub(crate) fn hints_of(spec: &Spec) -> impl Iterator<Item = (String, String)> {
    spec.hints().map(|hint| {
        let (key, value) = hint.pair();
        (format!("{TASK_PREFIX}{key}"), value)
    })
}

/// Refuses a key that neither a policy nor the machine's model has, and offers the nearest of both.
///
/// # Errors
/// The first such key.
pub fn check_keys(set: &[(String, String)], policy: &Policy) -> Result<(), StudyError> {
    let model = Options::default().keys();
    let of_model = |key: &str| model.iter().any(|(known, ..)| *known == key);
    for (key, _) in set {
        if policy.has_key(key) || of_model(key) {
            continue;
        }
        if let Some(feature) = policy.feature_in_name(key) {
            let message = format!("setting `{}`: {feature}", shorten(key));
            return Err(StudyError::UnknownSetting(message));
        }
        let prefixed = format!("{MODEL_PREFIX}{}", last_part(key));
        let params = policy.params();
        let near = if of_model(&prefixed) {
            vec![prefixed]
        } else if let Some(meant) = of_setting(key) {
            vec![meant]
        } else if let Some(place) = elsewhere(key) {
            let message = format!("unknown setting `{}`; {place}", shorten(key));
            return Err(StudyError::UnknownSetting(message));
        } else {
            let of_policy = params.iter().map(|param| param.key);
            let of_model = model.iter().map(|(known, ..)| *known);
            let near = nearest_few(key, of_policy.chain(of_model), 1);
            near.into_iter().map(str::to_owned).collect()
        };
        let expected = match key.starts_with(MODEL_PREFIX) {
            true => {
                let known: Vec<&str> = model.iter().map(|(known, ..)| *known).collect();
                format!("switches of the model are {}", known.join(", "))
            }
            false => {
                let name = policy.name();
                format!("expected a parameter that `wakeplace policy show {name}` lists")
            }
        };
        let end = did_you_mean_first(&near, &expected);
        let key = shorten(key);
        let message = format!("unknown setting `{key}`{end}");
        return Err(StudyError::UnknownSetting(message));
    }
    Ok(())
}

/// The name itself, where something stands before it.
fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Where a key is set that is neither a policy's nor the machine's model's: by an option, in the
/// platform's file, or in the workload's argument.
fn elsewhere(key: &str) -> Option<String> {
    let last = last_part(key);
    let of_runs = [Command::Compare, Command::Sim];
    let is_option = |one: &Argument| of_runs.iter().any(|command| one.is_taken_by(*command));
    if last == "scheduler" || argument(last).is_ok_and(is_option) {
        return Some(format!("it is an option, `--{}`", last.replace('_', "-")));
    }
    if key.starts_with(TASK_PREFIX) {
        return Some(
            "it is a hint of an rt-app file's task: expected with `sim`, `compare`, `explain` or \
             `sweep`, which name the file"
                .to_owned(),
        );
    }
    if let Some(path) = key.strip_prefix("platform.") {
        let path = shorten(path);
        return Some(format!(
            "`{path}` is a value of the platform's file: expected it there, or varied by `sweep \
             --vary`"
        ));
    }
    let has = |model: &&ModelInfo| model.parameters.iter().any(|known| known.name == last);
    let model = Spec::catalogue().find(has)?.name;
    Some(format!(
        "`{last}` is a key of workloads: expected it there, as `{model}:{last}=VALUE`, or varied \
         by `sweep --vary workload.{last}=VALUES`"
    ))
}

/// The same where no policy runs: what is not the machine's model is nobody's.
pub(crate) fn check_model_keys(set: &[(String, String)]) -> Result<(), StudyError> {
    check_keys(set, &any_policy()?)?;
    let of_policy = set.iter().find(|(key, _)| !key.starts_with(MODEL_PREFIX));
    of_policy.map_or(Ok(()), |(key, _)| {
        let key = shorten(key);
        Err(StudyError::UnknownSetting(format!(
            "the setting `{key}` is a policy's, and none runs here; expected `{MODEL_PREFIX}KEY`, \
             or a `--policy` beside the scheduler"
        )))
    })
}

/// The switches of the machine's model that are not at their default.
pub(crate) fn changed_options(options: &Options) -> Vec<(String, String)> {
    let defaults = Options::default().keys();
    let is_default = |key: &str, value: &str| {
        defaults
            .iter()
            .any(|(k, v, _)| *k == key && v.as_str() == value)
    };
    let keys = options.keys().into_iter();
    keys.filter(|(key, value, _)| !is_default(key, value))
        .map(|(key, value, _)| (key.to_owned(), value))
        .chain(shown(&options.hotplug))
        .chain(crate::policy_at::shown(&options.policy_at))
        .collect()
}

/// A policy to ask for keys where the user names none: every policy has the same.
///
/// # Errors
/// Never: the catalogue's names are valid.
pub fn any_policy() -> Result<Policy, PolicyError> {
    let catalogue = Policy::catalogue();
    let mut names = catalogue.iter().map(|(name, _)| name);
    let era = names.find(|name| !name.starts_with('+'));
    Policy::parse(era.map_or("", String::as_str))
}

#[cfg(test)]
mod tests {
    use super::{apply_settings, check_keys};
    use wakeplace_engine::Options;
    use wakeplace_policy_sys::Policy;

    #[test]
    fn a_policy_key_reaches_every_policy() {
        let names = ["linux-4.17", "linux-4.17+energy-aware"];
        let mut policies: Vec<Policy> = names.iter().map(|n| Policy::parse(n).unwrap()).collect();
        let set = [("pelt_scale".to_owned(), "clock".to_owned())];
        apply_settings(&set, &mut Options::default(), &mut policies).unwrap();
        for policy in &policies {
            assert_eq!(policy.overrides(), [("pelt_scale", "clock".to_owned())]);
        }
    }

    /// Goal: a feature that an era cannot have is refused however it is asked for, judged once all
    /// is set.
    #[test]
    fn what_excludes_each_other_is_judged_at_the_end() {
        let apply = |set: &[(&str, &str)]| {
            let owned = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
            let set: Vec<_> = set.iter().map(owned).collect();
            let mut policies = [Policy::parse("linux-3.1").unwrap()];
            apply_settings(&set, &mut Options::default(), &mut policies)
        };
        let error = apply(&[("power_policy", "balance"), ("busy_factor", "3")]).unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("setting `power_policy=balance`: "),
            "{text}"
        );
        assert!(
            text.contains("`linux-3.1` cannot have `power-policy`"),
            "{text}"
        );
        assert!(text.contains("linux-3.8"), "{text}");
        assert!(apply(&[("power-policy", "balance")]).is_err());
        assert_eq!(
            apply(&[("power_policy", "balance"), ("pelt_scale", "ratio")]),
            Ok(())
        );
        assert_eq!(
            apply(&[("power_policy", "off"), ("busy_factor", "3")]),
            Ok(())
        );
        let named = Policy::parse("linux-3.1+power-policy").unwrap_err();
        assert!(
            named.to_string().contains("cannot have `power-policy`"),
            "{named}"
        );
    }

    /// Goal: a key with the prefix of something else, or of something else altogether, leads to
    /// where it belongs.
    #[test]
    fn a_key_from_elsewhere_says_where() {
        let said = |key: &str| {
            let policy = Policy::parse("linux-6.12").unwrap();
            let set = [(key.to_owned(), "1".to_owned())];
            check_keys(&set, &policy).unwrap_err().to_string()
        };
        let error = said("model.governor");
        assert!(error.contains("did you mean `governor`?"), "{error}");
        assert!(
            error.contains("Switches of the model are model.idle_states, "),
            "{error}"
        );
        for (key, expected) in [
            ("policy.idle_states", "did you mean `model.idle_states`?"),
            ("schedutil.rate_limit_us", "did you mean `rate_limit_us`?"),
            ("model.uclamp_max", "as `periodic:uclamp_max=VALUE`"),
            ("uclamp_min", "`sweep --vary workload.uclamp_min=VALUES`"),
            ("workload.duty", "as `periodic:duty=VALUE`"),
            (
                "platform.kernel.tick_hz",
                "`kernel.tick_hz` is a value of the platform's file",
            ),
            ("model.duration", "an option, `--duration`"),
        ] {
            let error = said(key);
            assert!(error.contains(expected), "{key}: {error}");
        }
    }

    #[test]
    fn a_wrong_key_is_named_with_the_nearest() {
        let mut policies = [Policy::parse("linux-4.17").unwrap()];
        let set = [("pelt_scael".to_owned(), "clock".to_owned())];
        let error = apply_settings(&set, &mut Options::default(), &mut policies).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("setting `pelt_scael=clock`: "), "{text}");
        assert!(text.contains("did you mean `pelt_scale`?"), "{text}");
    }
}

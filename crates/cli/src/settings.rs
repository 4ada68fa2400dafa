//! `--set KEY=VALUE`: whether somebody takes the key. The libraries check the values.

use crate::failure::Failure;
use wakeplace_engine::Options;
use wakeplace_policy_sys::{Policy, of_setting};
use wakeplace_text::{did_you_mean_first, nearest_few};

/// Keys of the machine's model begin with this; all others are policy parameters.
const MODEL_PREFIX: &str = "model.";

/// Refuses a key that neither a policy nor the machine's model has, and offers the nearest of both.
pub(crate) fn check_keys(set: &[(String, String)], policy: &Policy) -> Result<(), Failure> {
    let model = Options::default().keys();
    let of_model = |key: &str| model.iter().any(|(known, ..)| *known == key);
    for (key, _) in set {
        if policy.has_key(key) || of_model(key) {
            continue;
        }
        let prefixed = format!("{MODEL_PREFIX}{key}");
        let params = policy.params();
        let near = if of_model(&prefixed) {
            vec![prefixed.as_str()]
        } else if let Some(meant) = of_setting(key) {
            vec![meant]
        } else {
            let of_policy = params.iter().map(|param| param.key);
            let of_model = model.iter().map(|(known, ..)| *known);
            nearest_few(key, of_policy.chain(of_model), 1)
        };
        let name = policy.name();
        let expected = format!("expected a parameter that `wakeplace policy show {name}` lists");
        let end = did_you_mean_first(&near, &expected);
        return Err(Failure::Input(format!("unknown setting `{key}`{end}")));
    }
    Ok(())
}

/// A policy to ask for keys where the user names none: every policy has the same.
pub(crate) fn any_policy() -> Result<Policy, Failure> {
    let catalogue = Policy::catalogue();
    let era = catalogue
        .iter()
        .map(|(name, _)| name)
        .find(|name| !name.starts_with('+'));
    Policy::parse(era.map_or("", String::as_str)).map_err(Failure::input)
}

#[cfg(test)]
mod tests {
    use super::{any_policy, check_keys};

    fn error(key: &str) -> String {
        let policy = any_policy().expect("an era");
        let set = [(key.to_owned(), "on".to_owned())];
        check_keys(&set, &policy).map_or_else(|failure| failure.to_string(), |()| String::new())
    }

    #[test]
    fn keys_of_both_kinds_are_known() {
        assert_eq!(error("busy_factor"), "");
        assert_eq!(error("model.idle_states"), "");
    }

    #[test]
    fn the_nearest_of_both_kinds_is_offered() {
        assert!(error("busy_facter").contains("; did you mean `busy_factor`? Expected "));
        assert!(error("idle_states").contains("; did you mean `model.idle_states`? "));
        assert!(error("model.idle_sates").contains("; did you mean `model.idle_states`? "));
        assert!(error("schedutil").contains("; did you mean `governor=schedutil`? "));
        assert!(error("x").contains("unknown setting `x`"));
    }
}

//! `--set KEY=VALUE` where no policy is named (docs/guide/results.md, "Settings").
//!
//! Called by `policy show` and `study run`, before anything runs. Free: the words of the refusal.
//!
//! What must stay: a key is a parameter of policies (docs/guide/parameters.md) or a setting of the
//! model; one that neither has is refused with the nearest name of both. Tests by part:
//! `keys_of_both_kinds_are_known` (`check_keys`), `the_nearest_of_both_kinds_is_offered` (names
//! that are not known).
//!
//! Tests: below

use crate::failure::Failure;
use wakeplace_policy_sys::Policy;

/// As the library's, with this program's errors.
pub(crate) fn any_policy() -> Result<Policy, Failure> {
    wakeplace_study::any_policy().map_err(Failure::input)
}

/// Refuses a key that neither a policy nor the machine's model has.
pub(crate) fn check_keys(set: &[(String, String)], policy: &Policy) -> Result<(), Failure> {
    wakeplace_study::check_keys(set, policy).map_err(Failure::input)
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

//! What a user favours: the parameter `mode` under the names that people type
//! (docs/guide/policy.md).
//!
//! What must stay: names, since users type them and results have them; a former name stays valid.
//! Free: what a mode is called in help.
//!
//! Tests by part: `every_mode_applies_and_is_found_by_its_name` (`parse`, `name`, `apply`),
//! `the_former_name_still_serves`, `an_unknown_mode_names_the_nearest` (`parse`).
//!
//! Callers: the command line and the live scheduler's control.
//!
//! Tests: below

use crate::policy::{Policy, PolicyError};
use wakeplace_text::{did_you_mean_first, nearest_few};

/// What to favour (docs/guide/policy.md; docs/decisions/042). The core decides what that means on a
/// machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Speed; energy where a model says what it costs.
    #[default]
    Auto,
    /// Speed alone: highest frequencies, no energy-aware placement, nothing packed.
    Performance,
    /// Energy where tasks keep CPUs of their own: groups of CPUs filled one after the other.
    Balanced,
    /// Energy alone: groups filled to their number of CPUs, frequencies without headroom.
    Powersave,
}

/// Every mode with the name users type, in the order of the core's `wp_mode`.
const MODES: [(&str, Mode); 4] = [
    ("auto", Mode::Auto),
    ("performance", Mode::Performance),
    ("balanced", Mode::Balanced),
    ("powersave", Mode::Powersave),
];

/// What `balanced` was called before there was `auto`.
const FORMER: (&str, Mode) = ("balance", Mode::Balanced);

impl Mode {
    /// Gives the name that users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        MODES
            .iter()
            .find(|(_, mode)| *mode == self)
            .map_or("", |(name, _)| name)
    }

    /// The mode of this name.
    ///
    /// # Errors
    /// Unknown: says which there are and which is nearest.
    pub fn parse(name: &str) -> Result<Self, PolicyError> {
        MODES
            .iter()
            .chain([&FORMER])
            .find(|(known, _)| *known == name)
            .map(|(_, mode)| *mode)
            .ok_or_else(|| {
                let names = MODES.map(|(known, _)| known);
                let known = format!("known: {}", names.join(", "));
                let near = nearest_few(name, names, 1);
                let end = did_you_mean_first(&near, &known);
                PolicyError(format!("unknown mode `{name}`{end}"))
            })
    }

    /// Sets it in a policy, unless it is what every policy starts with.
    ///
    /// # Panics
    /// Never: the names are the parameter's own (a test sets every mode).
    pub fn apply(self, policy: &mut Policy) {
        if self != Self::default() {
            policy.set("mode", self.name()).expect("a mode's own name");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a mode's number in the core is its place in `MODES`.
    #[test]
    fn every_mode_applies_and_is_found_by_its_name() {
        for (number, (name, mode)) in MODES.into_iter().enumerate() {
            let mut policy = Policy::parse("linux-7.3").expect("an era");
            mode.apply(&mut policy);
            assert_eq!(Mode::parse(name), Ok(mode));
            assert_eq!(mode.name(), name);
            assert_eq!(policy.core_params().mode as usize, number);
        }
    }

    /// Goal: `balance` is read, and written as `balanced`.
    #[test]
    fn the_former_name_still_serves() {
        assert_eq!(Mode::parse("balance"), Ok(Mode::Balanced));
        let mut policy = Policy::parse("wakeplace").expect("an era");
        policy.set("mode", "balance").expect("the former name");
        assert_eq!(policy.overrides(), [("mode", "balanced".to_owned())]);
    }

    /// Goal: a wrong name is answered with the nearest right one.
    #[test]
    fn an_unknown_mode_names_the_nearest() {
        let error = Mode::parse("powersafe").expect_err("no such mode");
        assert!(error.0.contains("powersave"), "{error}");
    }
}

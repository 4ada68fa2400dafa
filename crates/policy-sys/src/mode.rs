//! What a user favours, on top of a policy: a few parameters under one name.

use crate::policy::{Policy, PolicyError};
use wakeplace_text::{did_you_mean, nearest};

/// What to favour (docs/decisions/012).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Busy CPUs at their highest frequency; no energy-aware placement.
    Performance,
    /// The policy as it is.
    #[default]
    Balance,
    /// Frequencies without headroom: CPUs run fuller and slower.
    Powersave,
}

/// Every mode with the name users type.
const MODES: [(&str, Mode); 3] = [
    ("performance", Mode::Performance),
    ("balance", Mode::Balance),
    ("powersave", Mode::Powersave),
];

impl Mode {
    /// Name users type.
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
            .find(|(known, _)| *known == name)
            .map(|(_, mode)| *mode)
            .ok_or_else(|| {
                let names = MODES.map(|(known, _)| known);
                PolicyError(format!(
                    "unknown mode `{name}`; known: {}{}",
                    names.join(", "),
                    did_you_mean(nearest(name, names.into_iter()))
                ))
            })
    }

    /// Sets this mode's parameters of a policy.
    ///
    /// # Panics
    /// Never: the keys and values are the table's own (a test sets every mode).
    pub fn apply(self, policy: &mut Policy) {
        let settings: &[(&str, &str)] = match self {
            Self::Performance => &[("governor", "performance"), ("energy_aware", "off")],
            Self::Balance => &[],
            Self::Powersave => &[("freq_headroom", "off")],
        };
        for (key, value) in settings {
            policy.set(key, value).expect("a mode's parameters exist");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_applies_and_is_found_by_its_name() {
        for (name, mode) in MODES {
            let mut policy = Policy::parse("linux-7.3").expect("an era");
            mode.apply(&mut policy);
            assert_eq!(Mode::parse(name), Ok(mode));
            assert_eq!(mode.name(), name);
            assert_eq!(policy.overrides().is_empty(), mode == Mode::Balance);
        }
    }

    #[test]
    fn an_unknown_mode_names_the_nearest() {
        let error = Mode::parse("powersafe").expect_err("no such mode");
        assert!(error.0.contains("powersave"), "{error}");
    }
}

//! Policy names and parameters (STUB while the core is being written; signatures are final).
use thiserror::Error;

/// A parsed policy: an era, features, parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    name: String,
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
    /// Feature or group it belongs to (`energy-aware`, `load-tracking`, `schedutil`, ...).
    pub group: &'static str,
}

/// A feature as `policy show` lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureView {
    /// Name, as `energy-aware`.
    pub name: &'static str,
    /// On in this policy, with its version if it has any.
    pub state: Option<&'static str>,
    /// Versions that can be chosen; empty = none.
    pub versions: &'static [&'static str],
    /// One line.
    pub doc: &'static str,
}

/// A policy name or parameter that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PolicyError(pub String);

impl Policy {
    /// Parses `ERA[+FEATURE[=VALUE]]...[-FEATURE]...`.
    ///
    /// # Errors
    /// One sentence with what was expected and the nearest valid name.
    pub fn parse(name: &str) -> Result<Self, PolicyError> {
        Ok(Self { name: name.to_owned() })
    }
    /// The name as given, normalised.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Changes one parameter.
    ///
    /// # Errors
    /// Unknown key (nearest named) or a value out of range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), PolicyError> {
        let _ = (key, value);
        Ok(())
    }
    /// True if the policy has a parameter of this name.
    #[must_use]
    pub fn has_key(&self, key: &str) -> bool {
        let _ = key;
        false
    }
    /// All parameters, in a fixed order.
    #[must_use]
    pub fn params(&self) -> Vec<ParamView> {
        Vec::new()
    }
    /// All features with their state.
    #[must_use]
    pub fn features(&self) -> Vec<FeatureView> {
        Vec::new()
    }
    /// Names that can be parsed, each with one line, for `policy list`.
    #[must_use]
    pub fn catalogue() -> Vec<(&'static str, &'static str)> {
        vec![("linux-4.17", "")]
    }
}

//! What a run can be told besides platform, policy and workload (STUB; signatures are final).
use std::fmt;

/// Options of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Simulated time, ns, > 0.
    pub duration_ns: u64,
    /// Idle states deeper than the first are used.
    pub idle_states: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { duration_ns: 30_000_000_000, idle_states: true }
    }
}

/// A model switch that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError(pub String);
impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for OptionError {}

impl Options {
    /// Keys `--set` takes for the machine's model, `(key, value now, doc)`; all begin with `model.`.
    #[must_use]
    pub fn keys(&self) -> Vec<(&'static str, String, &'static str)> {
        Vec::new()
    }
    /// Sets a `model.*` key.
    ///
    /// # Errors
    /// Unknown key (nearest named) or a bad value.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        let _ = (key, value);
        Ok(())
    }
}

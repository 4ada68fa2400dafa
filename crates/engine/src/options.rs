//! What a run can be told besides platform, policy and workload.

use thiserror::Error;

/// Options of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Simulated time, ns, > 0.
    pub duration_ns: u64,
    /// Idle states deeper than the first are used.
    pub idle_states: bool,
    /// Context switches, wake-ups, interrupts, ticks, forks and moves cost time.
    pub kernel_costs: bool,
    /// A frequency change takes the hardware's time.
    pub transition_latency: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            duration_ns: 30_000_000_000,
            idle_states: true,
            kernel_costs: true,
            transition_latency: true,
        }
    }
}

/// A model switch that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OptionError(pub String);

impl Options {
    fn switches(&mut self) -> [(&'static str, &mut bool, &'static str); 3] {
        [
            (
                "model.idle_states",
                &mut self.idle_states,
                "idle states deeper than the first",
            ),
            (
                "model.kernel_costs",
                &mut self.kernel_costs,
                "time for switches, wake-ups, interrupts, ticks, forks and moves",
            ),
            (
                "model.transition_latency",
                &mut self.transition_latency,
                "time a frequency change takes",
            ),
        ]
    }

    /// Keys `--set` takes for the machine's model, `(key, value now, doc)`; all begin with `model.`.
    #[must_use]
    pub fn keys(&self) -> Vec<(&'static str, String, &'static str)> {
        let show = |on: bool| if on { "on" } else { "off" }.to_owned();
        self.clone()
            .switches()
            .map(|(key, value, doc)| (key, show(*value), doc))
            .to_vec()
    }

    /// Sets a `model.*` key.
    ///
    /// # Errors
    /// Unknown key (the known ones named) or a value that is not `on` or `off`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        let known = self
            .keys()
            .iter()
            .map(|(k, ..)| *k)
            .collect::<Vec<_>>()
            .join(", ");
        let mut switches = self.switches();
        let Some((_, slot, _)) = switches.iter_mut().find(|(k, ..)| *k == key) else {
            return Err(OptionError(format!(
                "unknown model switch `{key}`; known: {known}"
            )));
        };
        **slot = match value {
            "on" => true,
            "off" => false,
            _ => {
                return Err(OptionError(format!(
                    "`{key}`: `{value}`: expected `on` or `off`"
                )));
            }
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn switches_are_set_and_listed() {
        let mut options = Options::default();
        options.set("model.idle_states", "off").unwrap();
        assert!(!options.idle_states);
        assert_eq!(options.keys()[0].1, "off");
        assert!(
            options
                .set("model.idle", "off")
                .unwrap_err()
                .0
                .contains("model.idle_states")
        );
        assert!(options.set("model.kernel_costs", "no").is_err());
    }
}

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
    /// CPU on which the parent of all threads runs when it creates them.
    pub parent_cpu: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            duration_ns: 30_000_000_000,
            idle_states: true,
            kernel_costs: true,
            transition_latency: true,
            parent_cpu: 0,
        }
    }
}

/// A model setting that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OptionError(pub String);

/// Where a setting lives.
enum Slot<'a> {
    Switch(&'a mut bool),
    Cpu(&'a mut u32),
}

impl Options {
    fn slots(&mut self) -> [(&'static str, Slot<'_>, &'static str); 4] {
        [
            (
                "model.idle_states",
                Slot::Switch(&mut self.idle_states),
                "idle states deeper than the first (on, off)",
            ),
            (
                "model.kernel_costs",
                Slot::Switch(&mut self.kernel_costs),
                "time for switches, wake-ups, interrupts, ticks, forks and moves (on, off)",
            ),
            (
                "model.transition_latency",
                Slot::Switch(&mut self.transition_latency),
                "time a frequency change takes (on, off)",
            ),
            (
                "model.parent_cpu",
                Slot::Cpu(&mut self.parent_cpu),
                "CPU on which all threads are created (a CPU number)",
            ),
        ]
    }

    /// Keys `--set` takes for the machine's model, `(key, value now, doc)`; all begin with
    /// `model.`.
    #[must_use]
    pub fn keys(&self) -> Vec<(&'static str, String, &'static str)> {
        let show = |slot: &Slot<'_>| match slot {
            Slot::Switch(on) => if **on { "on" } else { "off" }.to_owned(),
            Slot::Cpu(cpu) => cpu.to_string(),
        };
        self.clone()
            .slots()
            .iter()
            .map(|(key, slot, doc)| (*key, show(slot), *doc))
            .collect()
    }

    /// Sets a `model.*` key.
    ///
    /// # Errors
    /// Unknown key (the known ones named) or a value of the wrong kind.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        let known = self
            .keys()
            .iter()
            .map(|(k, ..)| *k)
            .collect::<Vec<_>>()
            .join(", ");
        let slots = self.slots();
        let Some((_, slot, _)) = slots.into_iter().find(|(k, ..)| *k == key) else {
            return Err(OptionError(format!(
                "unknown model setting `{key}`; known: {known}"
            )));
        };
        let wrong =
            |expected: &str| OptionError(format!("`{key}`: `{value}`: expected {expected}"));
        match (slot, value) {
            (Slot::Switch(on), "on") => *on = true,
            (Slot::Switch(on), "off") => *on = false,
            (Slot::Switch(_), _) => return Err(wrong("`on` or `off`")),
            (Slot::Cpu(cpu), text) => *cpu = text.parse().map_err(|_| wrong("a CPU number"))?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn settings_are_set_and_listed() {
        let mut options = Options::default();
        options.set("model.idle_states", "off").unwrap();
        options.set("model.parent_cpu", "4").unwrap();
        assert!(!options.idle_states);
        assert_eq!(options.keys()[0].1, "off");
        assert_eq!(options.keys()[3].1, "4");
        assert!(
            options
                .set("model.idle", "off")
                .unwrap_err()
                .0
                .contains("model.idle_states")
        );
        assert!(options.set("model.kernel_costs", "no").is_err());
        assert!(options.set("model.parent_cpu", "big").is_err());
    }
}

//! What the live scheduler takes of a policy (the column `where` of params.def.h)
//! (docs/decisions/011).
//!
//! What must stay: what passes here the live build decides as the simulator does (parity tests).
//! Free: messages; what is live is the column of params.def.h.
//!
//! Tests by part: early_eras.rs: `the_live_build_refuses_them` (`not_in_live_build`, `lacking`),
//! short_names.rs: `every_version_runs_live`; crates/scx/src/wanted.rs has tests of
//! `check_set_live` and `only_simulated`; crates/scx/tests/parity runs `live_params`.
//!
//! Callers: crates/scx (wanted.rs, live.rs).
//!
//! Tests: crates/policy-sys/tests/all/early_eras.rs, crates/policy-sys/tests/all/power_policy.rs

use crate::eras::FEATURES;
use crate::param_table::{Live, PARAMS, Param, find};
use crate::policy::{Policy, PolicyError, hint};
use crate::sys::wp_params;

impl Policy {
    /// What of this policy the live build of the core (`WP_LIVE`) does not hold; `None`: it can run
    /// live.
    #[must_use]
    pub fn not_in_live_build(&self) -> Option<String> {
        let params = PARAMS.iter();
        params.filter_map(|param| self.lacking(param)).next()
    }

    /// None: the live build holds the parameter's value. Else what it would take, for a message.
    fn lacking(&self, param: &Param) -> Option<String> {
        let Live::Has(values) = param.live else {
            return None;
        };
        if values.contains(&(param.get)(&self.params)) {
            return None;
        }
        let live: Vec<String> = values.iter().map(|v| param.name_of(*v)).collect();
        let (key, value, live) = (param.key, param.show(&self.params), live.join(" or "));
        Some(format!("`{key}={value}` (live: {live})"))
    }

    /// Is each parameter that was set for this policy one that the live scheduler reads, or set to
    /// the one form that its build has?
    ///
    /// # Errors
    /// The first that it does not read, and what is expected.
    pub fn check_set_live(&self) -> Result<(), PolicyError> {
        for (key, value) in self.overrides() {
            let Some(param) = find(key) else { continue };
            match param.live {
                Live::Sets(has) if has != (param.get)(&self.params) => {
                    let has = param.name_of(has);
                    return Err(PolicyError(format!(
                        "`{key}={value}`: only the simulator has it so; expected `{key}={has}`, \
                         which the live scheduler has in any case"
                    )));
                }
                Live::No => return Err(self.only_simulated(key, value, "")),
                // A time of the kernel's queues: short tasks are measured by it.
                Live::Reads if *key == "base_slice_ns" && !self.has("sis-short") => {
                    return Err(self.only_simulated(key, value, " without sis-short"));
                }
                Live::Reads | Live::Has(_) | Live::Sets(_) => {}
            }
        }
        Ok(())
    }

    /// The message for a parameter that the live scheduler does not read, with the nearest that it
    /// reads.
    fn only_simulated(&self, key: &str, value: &str, when: &str) -> PolicyError {
        let live = PARAMS.iter().filter(|p| p.live == Live::Reads);
        let near = hint(key, live.map(|p| p.key).filter(|k| *k != key));
        PolicyError(format!(
            "`{key}={value}`: only the simulator reads it{when}; expected a parameter that the \
             live scheduler reads, too (`wakeplace policy show {}`){near}",
            self.name()
        ))
    }

    /// Is this feature on, in whatever version?
    fn has(&self, feature: &str) -> bool {
        let mut features = FEATURES.iter().filter(|f| f.name == feature);
        features.any(|f| (f.state)(&self.params).is_some())
    }

    /// The values as the live scheduler's core takes them: its queues are the live ones, and its
    /// timer stands for the balancing of idle CPUs.
    #[must_use]
    pub fn live_params(&self) -> wp_params {
        let mut params = self.params;
        for param in PARAMS {
            if let Live::Sets(value) = param.live {
                (param.put)(&mut params, value);
            }
        }
        params
    }
}

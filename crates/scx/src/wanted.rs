// SPDX-License-Identifier: GPL-2.0-only
//! What the user wants: a policy's name, a mode, single parameters; and the policy they make
//! (docs/guide/live.md, "Steer").
//!
//! What must stay: changes are all or nothing; names are those of policies (crates/policy-sys).
//! What the live build does not hold is refused with what it takes. Free: words of refusals, but
//! for those that tests quote.
//!
//! Tests by part: `what_only_the_simulator_reads_is_refused`, `what_nothing_reads_live_is_refused`,
//! `what_only_the_simulator_has_is_refused` (`new`, `split`, `policy`: what the live build lacks),
//! `changes_are_all_or_nothing_and_the_rest_stays`, `both_names_are_one_parameter` (`with`,
//! `mode`), `what_the_mode_decides_is_refused_beside_it` (`left_by_the_mode`),
//! `what_short_is_measured_by_is_taken_with_it` (`new`), `a_slip_names_the_nearest` (`hint`).
//!
//! Callers: schedule.rs (`new`, `with`), client.rs (`split`).
//!
//! Tests: below

use wakeplace_policy_sys::{Mode, Policy, PolicyError};
use wakeplace_text::{did_you_mean, nearest};

/// Kept as given, so that one of them can change while the others stay.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    policy: String,
    mode: Mode,
    parameters: Vec<(String, String)>,
}

impl Wanted {
    /// # Errors
    /// An unknown name or a value out of range.
    pub(crate) fn new(policy: &str, mode: Mode, set: &[String]) -> Result<Self, PolicyError> {
        let mut wanted = Self {
            policy: policy.to_owned(),
            mode,
            parameters: Vec::new(),
        };
        for text in set {
            let (key, value) = split(text)?;
            match key {
                "mode" => wanted.mode = Mode::parse(value)?,
                _ => wanted.parameters.push((key.to_owned(), value.to_owned())),
            }
        }
        wanted.policy()?;
        Ok(wanted)
    }

    /// The mode in force.
    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The policy that all of it makes.
    pub(crate) fn policy(&self) -> Result<Policy, PolicyError> {
        let mut policy = Policy::parse(&self.policy)?;
        if policy.sets("mode") {
            return Err(PolicyError(format!(
                "policy `{}` sets the mode; expected `--mode`, which can be changed live",
                self.policy
            )));
        }
        self.mode.apply(&mut policy);
        for (key, value) in &self.parameters {
            policy.set(key, value)?;
        }
        policy.check()?;
        policy.check_set_live()?;
        self.left_by_the_mode()?;
        match policy.not_in_live_build() {
            None => Ok(policy),
            Some(what) => Err(PolicyError(format!(
                "policy `{}` asks for {what}, which only the simulator has; live, `wakeplace` and \
                 `linux-7.3` with or without their features can run",
                self.policy
            ))),
        }
    }

    /// What the mode decides alone is not taken beside it.
    fn left_by_the_mode(&self) -> Result<(), PolicyError> {
        let decided: &[&str] = match self.mode {
            Mode::Performance => &["governor", "energy_aware"],
            Mode::Powersave => &["freq_headroom"],
            Mode::Auto | Mode::Balanced => &[],
        };
        let decides = |(key, _): &&(String, String)| decided.contains(&key.as_str());
        match self.parameters.iter().find(decides) {
            None => Ok(()),
            Some((key, value)) => Err(PolicyError(format!(
                "`{key}={value}`: mode {} decides that; expected another mode, or not both",
                self.mode.name()
            ))),
        }
    }

    /// The same with changes: all of them or, on an error, none.
    pub(crate) fn with(&self, changes: &[(String, String)]) -> Result<Self, PolicyError> {
        let mut wanted = self.clone();
        for (key, value) in changes {
            match key.as_str() {
                "policy" => value.clone_into(&mut wanted.policy),
                "mode" => wanted.mode = Mode::parse(value)?,
                _ => {
                    let key = Policy::parameter(key);
                    wanted
                        .parameters
                        .retain(|(k, _)| Policy::parameter(k) != key);
                    wanted.parameters.push((key.to_owned(), value.clone()));
                }
            }
        }
        wanted.policy().map_err(|error| hint(error, changes))?;
        Ok(wanted)
    }
}

/// A slip in `policy` or `mode` is no slip in a parameter's name.
fn hint(error: PolicyError, changes: &[(String, String)]) -> PolicyError {
    for (key, _) in changes {
        if let Some(near) = nearest(key, ["policy", "mode"])
            && near != key
            && error.0.contains(&format!("unknown parameter `{key}`"))
        {
            return PolicyError(format!(
                "unknown option `{key}`{}",
                did_you_mean(Some(near))
            ));
        }
    }
    error
}

/// `KEY=VALUE` in two.
///
/// # Errors
/// There is no `=`, or nothing before it.
pub(crate) fn split(text: &str) -> Result<(&str, &str), PolicyError> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key, value)),
        _ => Err(PolicyError(format!("`{text}`: expected KEY=VALUE"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(list: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
        list.iter().map(owned).collect()
    }

    #[test]
    fn what_only_the_simulator_reads_is_refused() {
        for (text, accepted) in [
            ("queue=eevdf", false),
            ("queue=dsq", true),
            ("nohz_balance=on", false),
            ("base_slice_ns=3000000", false),
            ("sched_latency_ns=6000000", false),
            ("wake_list=off", false),
            ("vq_slice_ns=3000000", true),
            ("hrtick=off", true),
            ("delay_dequeue=off", true),
            ("tunable_scaling=none", true),
            ("mc_boot_freq=on", false),
            ("mc_irq_idle_us=1000", false),
            ("mc_strict=on", false),
            ("sched_smt_power_savings=1", false),
            ("mc_tasks=3", true),
            ("power-policy=balance", true),
        ] {
            let wanted = Wanted::new("linux-7.3", Mode::Auto, &[text.to_owned()]);
            assert_eq!(wanted.is_ok(), accepted, "{text}");
        }
    }

    /// Of rules that the live build does not have, and of the governor of 2011. Even the value that
    /// the policy has is none that anything would read.
    #[test]
    fn what_nothing_reads_live_is_refused() {
        for text in [
            "idlest_spare=off",
            "asym_no_pull=on",
            "energy_margin_shift=6",
            "capacity_newidle=on",
            "sampling_rate_us=10000",
            "up_threshold=95",
            "down_differential=3",
            "sampling_down_factor=1",
            "min_granularity_ns=1000000",
        ] {
            let set = [text.to_owned()];
            let error = Wanted::new("linux-7.3", Mode::Auto, &set).expect_err(text);
            let place = format!("`{text}`: only the simulator reads it; expected a parameter");
            assert!(error.0.starts_with(&place), "{error}");
        }
        let set = ["queue=eevdf".to_owned()];
        let error = Wanted::new("linux-7.3", Mode::Auto, &set).expect_err("the live queues");
        assert!(error.0.contains("expected `queue=dsq`"), "{error}");
    }

    #[test]
    fn changes_are_all_or_nothing_and_the_rest_stays() {
        let set = ["vq_slice_ns=2000000".to_owned()];
        let wanted = Wanted::new("linux-7.3", Mode::Auto, &set).expect("valid");
        let next = wanted
            .with(&changes(&[("mode", "powersave")]))
            .expect("a mode");
        let params = *next.policy().expect("valid").core_params();
        assert_eq!((params.vq_slice_ns, params.mode), (2_000_000, 3));
        let bad = wanted.with(&changes(&[("mode", "performance"), ("vq_slice_ns", "7")]));
        assert!(bad.is_err());
        assert_eq!(wanted.mode(), Mode::Auto);
    }

    /// A feature's name is its parameter's: a change of either replaces what was set by the other.
    #[test]
    fn both_names_are_one_parameter() {
        let set = ["power-policy=balance".to_owned()];
        let wanted = Wanted::new("linux-7.3", Mode::Auto, &set).expect("valid");
        let next = wanted.with(&changes(&[("power_policy", "powersaving")]));
        let params = |w: &Wanted| *w.policy().expect("valid").core_params();
        let (before, after) = (params(&wanted), params(&next.expect("valid")));
        assert_eq!(after.power_policy, before.power_policy + 1);
    }

    #[test]
    fn what_the_mode_decides_is_refused_beside_it() {
        for (text, mode) in [
            ("freq_headroom=on", Mode::Powersave),
            ("governor=schedutil", Mode::Performance),
            ("energy_aware=7.3", Mode::Performance),
        ] {
            let set = [text.to_owned()];
            let error = Wanted::new("linux-7.3", mode, &set).expect_err(text);
            assert!(error.0.contains("mode"), "{error}");
            assert!(Wanted::new("linux-7.3", Mode::Auto, &set).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_only_the_simulator_has_is_refused() {
        for name in ["linux-4.17", "linux-7.3+energy-aware=v3"] {
            let error = Wanted::new(name, Mode::Auto, &[]).expect_err(name);
            assert!(error.0.contains("only the simulator"), "{error}");
        }
        for name in [
            "wakeplace",
            "linux-7.3",
            "linux-7.3-energy-aware",
            "linux-7.3+sched-mc=2",
            "wakeplace+sched-mc=2",
            "wakeplace+power-policy=balance",
        ] {
            assert!(Wanted::new(name, Mode::Auto, &[]).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_short_is_measured_by_is_taken_with_it() {
        let set = ["base_slice_ns=3000000".to_owned()];
        assert!(Wanted::new("wakeplace", Mode::Auto, &set).is_ok());
        assert!(Wanted::new("wakeplace-sis-short", Mode::Auto, &set).is_err());
        let set = ["min_granularity_ns=3000000".to_owned()];
        assert!(Wanted::new("wakeplace", Mode::Auto, &set).is_err());
    }

    #[test]
    fn a_slip_names_the_nearest() {
        let wanted = Wanted::new("linux-7.3", Mode::Auto, &[]).expect("valid");
        for (key, value, near) in [
            ("mdoe", "balance", "mode"),
            ("vq_slice_n", "1", "vq_slice_ns"),
            ("policy", "linux-7.4", "linux-7.3"),
        ] {
            let error = wanted.with(&changes(&[(key, value)])).expect_err(key);
            assert!(error.0.contains(near), "{key}: {error}");
        }
    }
}

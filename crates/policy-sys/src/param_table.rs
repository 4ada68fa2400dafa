//! The table of parameters: what is parsed and shown. Its rows are made by build.rs from
//! `policy/include/wakeplace/params.def.h`.
//!
//! What must stay: keys and named values, since results and studies have them. `parse` and `show`
//! are each other's reverse. Free: how a value is shown to people.
//!
//! Tests by part: policy.rs: `parameters_check_key_and_range` (`find`, `parse`, `show`),
//! `names_of_the_kernel_lead_to_parameters` (`name_of`). `changes_in_force` and `show_live` have no
//! test of their own: `policy show` and changes in mid-run use them.
//!
//! Callers: policy.rs, live.rs and `policy show`.
//!
//! Tests: crates/policy-sys/src/policy.rs::parameters_check_key_and_range,
//! crates/policy-sys/src/policy.rs::names_of_the_kernel_lead_to_parameters

use crate::sys::{WP_DOMAINS_31, WP_NONE, wp_params};
use wakeplace_text::{did_you_mean, nearest};

/// What values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `on` or `off`.
    Switch,
    /// One of these names; the number is the position.
    Choice(&'static [&'static str]),
    /// An integer from..=to.
    Range(u32, u32),
    /// `auto` (the core's `WP_NONE`) or an integer from..=to.
    Auto(u32, u32),
}

/// What the live scheduler does with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Live {
    /// It reads it.
    Reads,
    /// Only the simulator reads it.
    No,
    /// Its build has these values only.
    Has(&'static [u32]),
    /// It has this value, whatever the policy says.
    Sets(u32),
}

/// One parameter.
pub(crate) struct Param {
    pub(crate) key: &'static str,
    pub(crate) group: &'static str,
    pub(crate) kind: Kind,
    pub(crate) live: Live,
    /// May it change while tasks run? Then each decision reads it anew.
    pub(crate) anytime: bool,
    /// Where the rule that reads it is written down.
    pub(crate) rule: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) get: fn(&wp_params) -> u32,
    pub(crate) put: fn(&mut wp_params, u32),
}

use Kind::{Auto, Choice, Range, Switch};

/// All parameters, in the order in which people see them.
pub(crate) const PARAMS: &[Param] = include!(concat!(env!("OUT_DIR"), "/param_rows.rs"));

/// Features by whose names a parameter is written, too: they are one parameter's values.
pub(crate) const ALIASES: [(&str, &str); 1] = [("power-policy", "power_policy")];

/// The parameter of this key, or of a feature that it is the versions of. None: there is none.
pub(crate) fn find(key: &str) -> Option<&'static Param> {
    let alias = ALIASES.iter().find(|(feature, _)| *feature == key);
    let key = alias.map_or(key, |(_, parameter)| parameter);
    PARAMS.iter().find(|p| p.key == key)
}

impl Param {
    /// Is it read by each decision anew, and by nothing that was built or queued before? To 3.4 the
    /// domains are built by what sched-mc says.
    pub(crate) fn changes_in_force(&self, params: &wp_params) -> bool {
        let builds_domains = self.group == "sched-mc" && params.domain_form == WP_DOMAINS_31;
        self.anytime && !builds_domains
    }

    /// The value as `--set` takes it.
    pub(crate) fn show(&self, params: &wp_params) -> String {
        self.name_of((self.get)(params))
    }

    /// A number as `--set` takes it.
    pub(crate) fn name_of(&self, value: u32) -> String {
        match self.kind {
            Switch => if value != 0 { "on" } else { "off" }.to_owned(),
            Choice(names) => names[value as usize].to_owned(),
            Auto(..) if value == WP_NONE => "auto".to_owned(),
            Range(..) | Auto(..) => value.to_string(),
        }
    }

    /// What of it the live scheduler takes.
    pub(crate) fn show_live(&self) -> String {
        let names = |values: &[u32]| {
            let names: Vec<_> = values.iter().map(|v| self.name_of(*v)).collect();
            names.join(", ")
        };
        match self.live {
            Live::Reads => "any value".to_owned(),
            Live::No => "not read".to_owned(),
            Live::Has(values) => format!("only {}", names(values)),
            Live::Sets(value) => format!("always {}", self.name_of(value)),
        }
    }

    /// Parses a value; the error says what is expected.
    pub(crate) fn parse(&self, text: &str) -> Result<u32, String> {
        match self.kind {
            Switch => match text {
                "on" | "1" | "true" => Ok(1),
                "off" | "0" | "false" => Ok(0),
                _ => Err("expected `on` or `off`".to_owned()),
            },
            Choice(names) => names
                .iter()
                .position(|n| *n == text)
                .map(|at| at as u32)
                .ok_or_else(|| {
                    let near = did_you_mean(nearest(text, names.iter().copied()));
                    format!("expected one of {}{near}", names.join(", "))
                }),
            Auto(..) if text == "auto" => Ok(WP_NONE),
            Range(from, to) | Auto(from, to) => text
                .parse::<u32>()
                .ok()
                .filter(|v| (from..=to).contains(v))
                .ok_or_else(|| {
                    let auto = if matches!(self.kind, Auto(..)) {
                        "`auto` or "
                    } else {
                        ""
                    };
                    format!("expected {auto}an integer from {from} to {to}")
                }),
        }
    }
}

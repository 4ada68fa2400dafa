//! What is asked of a scheduler that the policy's kernel does not have: by a workload
//! (docs/decisions/023-rt-app-events.md), or by a mode. The run goes on without it, and says so.
//!
//! What must stay: no figure changes; which kernel has what is told by the policy's parameters,
//! never by its name; `idle_mode` is the table of policy/src/packing/mode.c. Words may change.
//! Tests by part: `a_mode_that_changes_nothing_is_told` (`idle_mode`),
//! `drawn_powers_that_are_believed_are_told` (`drawn_anyway`),
//! `a_model_of_clocks_that_is_not_made_is_told` (`no_watts_anyway`, `costs`),
//! `what_an_era_ignores_is_said` (`ignored`, `hints`, `slices`).
//!
//! Tests: below, crates/cli/tests/all/compared.rs::what_an_era_ignores_is_said

use super::PolicyRuns;
use wakeplace_engine::core_facts;
use wakeplace_platform::{FreqDomain, Platform, PowerUnit};
use wakeplace_policy_sys::{Core, Policy};
use wakeplace_workload::{Phase, Workload};

/// Hints before 5.3, slices of tasks' own before EEVDF.
pub(super) fn ignored(run: &PolicyRuns, workloads: &[Workload]) -> Vec<String> {
    let is = |key: &str, value: &str| run.settings.iter().any(|(k, v)| k == key && v == value);
    let any = |asks: fn(&Workload) -> bool| workloads.iter().any(asks);
    let no_hints = (is("uclamp", "off") && any(hints)).then_some(
        "utilisation hints (uclamp_min, uclamp_max, util_min, util_max) change nothing: this \
         policy has none (`uclamp=off`; kernels from 5.3 on have them)",
    );
    let no_slices = (is("queue", "cfs") && any(slices)).then_some(
        "slices of tasks' own (slice, dl-runtime) change nothing: CFS has none (`queue=cfs`; \
         kernels from 6.12 on have them)",
    );
    let said = no_hints.into_iter().chain(no_slices).map(str::to_owned);
    let said = said.chain(idle_mode(run));
    said.map(|what| format!("{}: {what}", run.policy)).collect()
}

/// A mode that was set and changes nothing of what the policy has in force: the table that opens
/// `policy/src/packing/mode.c`.
fn idle_mode(run: &PolicyRuns) -> Option<String> {
    let value = |key: &str| {
        let found = run.settings.iter().find(|(known, _)| known == key);
        found.map_or("", |(_, value)| value.as_str())
    };
    let (_, mode) = run.overrides.iter().find(|(key, _)| key == "mode")?;
    let packs = value("power_policy") == "by-mode";
    let changes = match mode.as_str() {
        "performance" => value("energy_aware") != "off" || value("governor") != "performance",
        "powersave" => value("freq_headroom") == "on" && value("governor") == "schedutil",
        "balanced" => false,
        _ => true,
    };
    (!packs && !changes).then(|| {
        format!(
            "`mode={mode}` changes nothing: this policy packs no tasks by its mode \
             (`power_policy=by-mode`, as `wakeplace` has it)"
        )
    })
}

/// Policies that are given the drawn powers on a machine whose energy model has them anyway, or is
/// made of a driver's costs.
pub(crate) fn drawn_anyway(runs: &[PolicyRuns], platform: &Platform) -> Vec<String> {
    let own_powers = |domain: &FreqDomain| {
        let mut opps = domain.opps.iter();
        domain.em_costs.is_some() || opps.all(|opp| opp.power_in_model() == opp.power)
    };
    let has_model = platform.has_energy_model && platform.power_unit != PowerUnit::None;
    if !has_model || !platform.freq_domains.iter().all(own_powers) {
        return Vec::new();
    }
    let asks = |run: &&PolicyRuns| {
        let mut overrides = run.overrides.iter();
        overrides.any(|(key, value)| key == "em_powers" && value == "drawn")
    };
    let said = |run: &PolicyRuns| {
        format!(
            "{}: `em_powers=drawn` changes nothing: the energy model of {} has no powers but those \
             that it draws (`wakeplace platform show` has a column EM where they differ)",
            run.policy, platform.name
        )
    };
    runs.iter().filter(asks).map(said).collect()
}

/// Policies that ask for an energy model of capacities and clocks where the core has the one that
/// it has anyway (docs/rules/energy-no-watts.md#no-watts-when).
pub(crate) fn no_watts_anyway<'a>(
    policies: impl Iterator<Item = (&'a str, &'a Policy)>,
    platform: &Platform,
) -> Vec<String> {
    let said = |(name, policy): (&str, &Policy)| {
        let mut overrides = policy.overrides().iter();
        let (key, value) = overrides.find(|(key, _)| *key == "energy_no_watts")?;
        let mut without = policy.clone();
        without.set(key, "off").ok()?;
        let (own, anyway) = (costs(platform, policy)?, costs(platform, &without)?);
        if value == "off" || own != anyway {
            return None;
        }
        let why = match anyway.is_empty() {
            true => {
                "none can be made of its clocks: all CPUs have one capacity, or several threads, \
                 or a clock is that of two capacities"
            }
            false => "it has an energy model, which `always` would replace",
        };
        let board = &platform.name;
        Some(format!(
            "{name}: `{key}={value}` changes nothing on {board}: {why}"
        ))
    };
    policies.filter_map(said).collect()
}

/// What the core's energy model takes for a unit of work: each state of each domain, in their
/// order.
fn costs(platform: &Platform, policy: &Policy) -> Option<Vec<u32>> {
    let core = Core::new(&core_facts(platform, policy), policy.core_params()).ok()?;
    let states = core
        .energy_tables()
        .flat_map(|table| &table.state[..table.nr_states as usize]);
    Some(states.map(|state| state.cost).collect())
}

/// Some task asks for a clamp that changes something: a least above 0 or a most below 1024.
fn hints(workload: &Workload) -> bool {
    let bound = |min: Option<u16>, max: Option<u16>| {
        min.is_some_and(|min| min > 0) || max.is_some_and(|max| max < 1024)
    };
    workload.tasks.iter().any(|task| {
        let later = |phase: &Phase| bound(phase.change.uclamp_min, phase.change.uclamp_max);
        bound(task.uclamp_min, task.uclamp_max) || task.phases.iter().any(later)
    })
}

/// Some task asks for a slice of its own (ns above 0).
fn slices(workload: &Workload) -> bool {
    let own = |slice: Option<u64>| slice.is_some_and(|slice| slice > 0);
    workload.tasks.iter().any(|task| {
        own(task.slice_ns) || task.phases.iter().any(|phase| own(phase.change.slice_ns))
    })
}

#[cfg(test)]
mod tests {
    use super::{drawn_anyway, idle_mode, no_watts_anyway};
    use crate::PolicyRuns;
    use wakeplace_platform::Platform;
    use wakeplace_policy_sys::Policy;

    fn runs(name: &str) -> PolicyRuns {
        let policy = Policy::parse(name).unwrap();
        PolicyRuns {
            policy: name.to_owned(),
            overrides: crate::experiment::overrides(&policy),
            settings: crate::experiment::settings(&policy),
            metrics: Vec::new(),
            reports: Vec::new(),
            timeline: None,
            details: None,
        }
    }

    fn said(name: &str) -> Option<String> {
        idle_mode(&runs(name))
    }

    /// Goal: by platforms/*.toml: gs101 has `em_uw` beside its powers, hikey960 has none, and
    /// zen4-7950x has no powers at all.
    #[test]
    fn drawn_powers_that_are_believed_are_told() {
        let both = [runs("linux-7.3"), runs("linux-7.3:em_powers=drawn")];
        let said = |board: &str| drawn_anyway(&both, &Platform::builtin(board).unwrap());
        let told = said("hikey960");
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].starts_with("linux-7.3:em_powers=drawn: `em_powers=drawn` changes nothing"),
            "{told:?}"
        );
        for board in ["gs101", "zen4-7950x"] {
            assert!(said(board).is_empty(), "{board}");
        }
    }

    /// Goal: by platforms/*.toml: hikey960 has powers, sm8550 three clocks and no powers, and the
    /// CPUs of zen4-7950x are alike.
    #[test]
    fn a_model_of_clocks_that_is_not_made_is_told() {
        let said = |board: &str, value: &str| {
            let name = format!("linux-7.3:energy_no_watts={value}");
            let policies = ["linux-7.3", &name].map(|name| Policy::parse(name).unwrap());
            let all = ["plain", "own"].into_iter().zip(&policies);
            no_watts_anyway(all, &Platform::builtin(board).unwrap())
        };
        let told = said("hikey960", "missing");
        assert_eq!(told.len(), 1, "{told:?}");
        let changes = "own: `energy_no_watts=missing` changes nothing on hikey960: it has";
        assert!(told[0].starts_with(changes), "{told:?}");
        for value in ["missing", "always"] {
            let told = said("zen4-7950x", value);
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains("none can be made"), "{told:?}");
        }
        for (board, value) in [
            ("hikey960", "always"),
            ("hikey960", "off"),
            ("sm8550", "missing"),
        ] {
            assert!(said(board, value).is_empty(), "{board} {value}");
        }
    }

    /// Goal: by the table of mode.c: `balanced` acts on packing alone, `powersave` on the headroom
    /// of schedutil, too, and `performance` on the governor and on energy-aware placement.
    #[test]
    fn a_mode_that_changes_nothing_is_told() {
        for name in [
            "linux-7.3:mode=balanced",
            "linux-7.3:governor=performance,mode=powersave",
            "linux-4.17:governor=performance,mode=performance",
        ] {
            let told = said(name).expect(name);
            assert!(told.contains("changes nothing"), "{told}");
        }
        for name in [
            "linux-7.3",
            "linux-7.3:mode=auto",
            "linux-7.3:mode=powersave",
            "linux-7.3:mode=performance",
            "linux-7.3:governor=performance,mode=performance",
            "wakeplace:mode=balanced",
            "linux-7.3+power-policy=by-mode:mode=balanced",
        ] {
            assert_eq!(said(name), None, "{name}");
        }
    }
}

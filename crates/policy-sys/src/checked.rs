//! In which kernels a parameter has the value that it has, and what the rule that reads it was
//! compared with (docs/results/eras.md).
//!
//! What must stay: claims agree with docs/results/eras.md; a parameter of no group is a failing
//! test. Free: a claim, with docs/results/eras.md.
//!
//! Tests by part: `a_value_has_the_eras_around_it` (`kernels`, `provenance`, `number`),
//! `what_chooses_a_cpu_was_compared_where_a_tree_is` (`was_compared`),
//! `the_tables_name_eras_and_groups`.
//!
//! Callers: `policy show`.
//!
//! Tests: below

use crate::eras::{ERAS, Era};
use crate::param_table::Param;
use crate::sys::WP_QUEUE_CFS;

/// What a kernel's own code was asked beside the core (`kernel diff`): the version, for each era
/// (docs/rules/README.md#decision-by-decision).
const TREES: [(&str, &str); 6] = [
    ("linux-5.10", "5.10.223"),
    ("linux-6.1", "6.1.176"),
    ("linux-6.6", "6.6.63"),
    ("linux-6.12", "6.12.117"),
    ("linux-6.18", "6.18.15"),
    ("linux-7.3", "7.3.4"),
];

/// Groups of parameters whose rules choose a CPU: what was asked.
const ASKED: [&str; 4] = ["wake-up", "machine", "asym-capacity", "energy-aware"];

/// Groups of parameters whose rules make signals and requests of frequencies, and the eras whose
/// kernels' steps were compared with theirs (docs/rules/README.md#signal-by-signal).
const FOLLOWED: [&str; 2] = ["load-tracking", "frequency"];
const FOLLOWED_IN: [&str; 5] = [
    "linux-5.10",
    "linux-6.1",
    "linux-6.12",
    "linux-6.18",
    "linux-7.3",
];

/// Parameters of queues that decide whether a wake-up preempts and who is picked, of CFS and of
/// EEVDF: compared in the same eras.
const TURNS_OF_CFS: [&str; 4] = [
    "wakeup_granularity_ns",
    "tunable_scaling",
    "wakeup_preemption",
    "last_buddy",
];
const TURNS_OF_EEVDF: [&str; 7] = [
    "tunable_scaling",
    "wakeup_preemption",
    "base_slice_ns",
    "eevdf_form",
    "run_to_parity",
    "preempt_short",
    "pick_buddy",
];

/// Parameters that the steps of balancing read (docs/rules/README.md#step-by-step), and the eras
/// whose kernels' steps are theirs but for kept sleepers.
const STEPS: [&str; 12] = [
    "balance_classes",
    "overloaded_if_overutilized",
    "pull_down_any_class",
    "misfit_core_idle",
    "misfit_if_bigger",
    "lone_from_core",
    "balance_smt",
    "pull_eligible",
    "migration_cost_ns",
    "idle_policy_cold",
    "cache_hot_buddy",
    "nr_migrate",
];
const STEPS_IN: [&str; 2] = ["linux-6.1", "linux-7.3"];

/// The page of rules that no kernel has.
const OWN: &str = "docs/rules/energy-idle.md";

/// Was the rule that reads a parameter compared with the kernel of that era?
fn was_compared(param: &Param, era: &Era) -> bool {
    let turns: &[&str] = match (era.params)().queue {
        WP_QUEUE_CFS => &TURNS_OF_CFS,
        _ => &TURNS_OF_EEVDF,
    };
    let followed = FOLLOWED.contains(&param.group) || turns.contains(&param.key);
    let followed = followed && FOLLOWED_IN.contains(&era.name);
    let stepped = STEPS.contains(&param.key) && STEPS_IN.contains(&era.name);
    (ASKED.contains(&param.group) || followed || stepped) && !param.rule.starts_with(OWN)
}

/// Where a parameter's value is from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The first era in a row of eras that have this value, as `6.6`; None: the era of this policy
    /// has another, so that it comes from a series or from the user.
    pub since: Option<&'static str>,
    /// The last one of that row.
    pub until: Option<&'static str>,
    /// The kernel with which its decisions or steps were compared; None: it was read in source
    /// alone.
    pub compared: Option<&'static str>,
}

/// Eras that are a kernel release, the oldest first.
fn kernels() -> impl Iterator<Item = &'static Era> + Clone {
    ERAS.iter().filter(|era| era.name.starts_with("linux-"))
}

/// `7.3` of `linux-7.3`.
fn number(era: &Era) -> &'static str {
    era.name.trim_start_matches("linux-")
}

/// Of a value in a policy whose kernel is that release.
pub(crate) fn provenance(param: &Param, value: u32, release: (u16, u16)) -> Provenance {
    let has = |era: &&Era| (param.get)(&(era.params)()) == value;
    let row: Vec<_> = kernels().collect();
    let own = row.iter().position(|era| era.release == release);
    let Some(own) = own.filter(|at| has(&row[*at])) else {
        return Provenance::default();
    };
    let before = row[..=own].iter().rev().take_while(|era| has(era)).count();
    let after = row[own..].iter().take_while(|era| has(era)).count();
    let tree = TREES.iter().find(|(era, _)| *era == row[own].name);
    Provenance {
        since: Some(number(row[own + 1 - before])),
        until: Some(number(row[own + after - 1])),
        compared: tree
            .filter(|_| was_compared(param, row[own]))
            .map(|(_, version)| *version),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ASKED, FOLLOWED, FOLLOWED_IN, Provenance, STEPS, STEPS_IN, TREES, TURNS_OF_CFS,
        TURNS_OF_EEVDF, kernels, provenance,
    };
    use crate::param_table::{PARAMS, find};

    fn of(key: &str, value: u32, release: (u16, u16)) -> Provenance {
        provenance(find(key).expect("a parameter"), value, release)
    }

    /// Source: 41abdba93747 is in 6.4, so that the eras from 6.6 on have it; SIS_UTIL came with 6.0
    /// (docs/rules/wake-ups.md#sis-util); util_est=single with 6.8.
    #[test]
    fn a_value_has_the_eras_around_it() {
        let timers = of("group_timer_offset", 1, (7, 3));
        assert_eq!((timers.since, timers.until), (Some("6.6"), Some("7.3")));
        let without = of("group_timer_offset", 0, (6, 1));
        assert_eq!((without.since, without.until), (Some("3.1"), Some("6.2")));
        let search = of("sis_util", 1, (6, 12));
        assert_eq!((search.since, search.until), (Some("6.1"), Some("7.3")));
        assert_eq!(of("group_timer_offset", 0, (7, 3)), Provenance::default());
    }

    /// Goal: a parameter counts as compared in an era whose tree was asked for what it changes, and
    /// in no other (`TREES`, `ASKED`, `FOLLOWED`).
    #[test]
    fn what_chooses_a_cpu_was_compared_where_a_tree_is() {
        assert_eq!(of("sis_util", 1, (6, 12)).compared, Some("6.12.117"));
        assert_eq!(of("sis_util", 1, (6, 2)).compared, None);
        assert_eq!(of("freq_headroom", 1, (7, 3)).compared, Some("7.3.4"));
        assert_eq!(of("freq_headroom", 1, (6, 6)).compared, None);
        assert_eq!(of("run_to_parity", 1, (6, 18)).compared, Some("6.18.15"));
        assert_eq!(of("run_to_parity", 1, (5, 10)).compared, None);
        assert_eq!(of("last_buddy", 1, (5, 10)).compared, Some("5.10.223"));
        assert_eq!(of("balance_smt", 1, (7, 3)).compared, Some("7.3.4"));
        assert_eq!(of("balance_smt", 1, (6, 18)).compared, None);
        assert_eq!(of("delay_dequeue", 1, (7, 3)).compared, None);
        assert_eq!(of("group_timer_offset", 1, (7, 3)).compared, None);
        assert_eq!(of("energy_idle", 0, (7, 3)).compared, None);
    }

    /// Goal: no table here names what the core does not have.
    #[test]
    fn the_tables_name_eras_and_groups() {
        let is_era = |name: &str| kernels().any(|era| era.name == name);
        assert!(TREES.iter().all(|(era, _)| is_era(era)));
        let is_group = |group: &&str| PARAMS.iter().any(|param| param.group == *group);
        assert!(ASKED.iter().chain(&FOLLOWED).all(is_group));
        assert!(FOLLOWED_IN.iter().all(|era| is_era(era)));
        let is_key = |key: &&str| PARAMS.iter().any(|param| param.key == *key);
        let turns = TURNS_OF_CFS.iter().chain(&TURNS_OF_EEVDF);
        assert!(turns.chain(&STEPS).all(is_key));
        assert!(STEPS_IN.iter().all(|era| is_era(era)));
    }
}

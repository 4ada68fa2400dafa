//! The question people ask: why not that CPU (docs/guide/tour.md)?
//!
//! What must stay: reasons and energies are the core's (policy/src/explain), and nothing is decided
//! a second time; the answer stands first; a CPU that costs more is never said to save. Words may
//! change. Tests by part: `figures_have_no_digits_of_arithmetic` (`figure`), `why_not_comes_first`
//! (`sentence`), `what_costs_more_saves_nothing` (`energy`, `dropped`),
//! `a_tie_keeps_the_previous_cpu` (`energy`, `reason`). `spare`, `unfit`,
//! `not_looked_at` and `before` have no test of their own.
//!
//! Tests: below, crates/cli/tests/all/explain.rs::why_not_comes_first,
//! crates/cli/tests/all/explain.rs::a_tie_keeps_the_previous_cpu,
//! crates/cli/tests/all/explain.rs::what_costs_more_saves_nothing

use super::{power, power_unit};
use wakeplace_engine::Explanation;
use wakeplace_platform::{CpuId, Platform};
use wakeplace_policy_sys::{Dropped, NoEnergy, Reason, Rule, Seen, sys};

/// One or two sentences, the answer first.
pub(super) fn sentence(e: &Explanation, platform: &Platform, cpu: u32) -> String {
    let seen = &e.explained.candidates[cpu as usize];
    let chosen = e.placement.cpu;
    if cpu == chosen {
        let why = reason(e, e.placement.reason);
        return format!("CPU {cpu} was chosen: {why}.");
    }
    let why = match seen.dropped {
        Dropped::MoreEnergy | Dropped::Margin => energy(e, platform, seen),
        Dropped::LessSpare | Dropped::PrevSpare => spare(e, platform, seen),
        Dropped::Unfit => unfit(e, seen),
        Dropped::Busy => format!("{}{}", seen.dropped.doc(), in_rule(e)),
        Dropped::NotLookedAt => not_looked_at(e),
        Dropped::Limit => format!(
            "{} (it looked at {} CPUs around CPU {})",
            seen.dropped.doc(),
            e.explained.scanned,
            e.explained.target.unwrap_or(chosen)
        ),
        _ => seen.dropped.doc().to_owned(),
    };
    format!("CPU {cpu} was not chosen: {why}.{}", before(e))
}

/// Estimates of both, and their difference.
fn energy(e: &Explanation, platform: &Platform, seen: &Seen) -> String {
    let chosen = &e.explained.candidates[e.placement.cpu as usize];
    let (Some(there), Some(here)) = (seen.energy, chosen.energy) else {
        return seen.dropped.doc().to_owned();
    };
    let unit = power_unit(e, platform).map_or_else(String::new, |unit| format!(" {unit}"));
    let (there, here) = (power(e, platform, there), power(e, platform, here));
    let figures = format!("({} against {}{unit})", figure(there), figure(here));
    let than = format!("CPU {} {figures}", chosen.cpu);
    let apart = format!("{}{unit}", figure((there - here).abs()));
    if there > here {
        return format!("it fits, but would cost {apart} more than {than}");
    }
    if there == here {
        let why = match chosen.cpu == e.placement.prev_cpu {
            true => "is the previous CPU: a tie keeps it",
            false => "comes first",
        };
        return format!("it would cost as much as {than}, which {why}");
    }
    let why = match seen.dropped {
        Dropped::Margin => "within the margin",
        _ => "but no less than another one, which was compared with that one in its place",
    };
    format!("it would cost {apart} less than {than}, {why}")
}

/// Why a CPU was dropped; what the margin kept from being chosen need save nothing.
pub(super) fn dropped(e: &Explanation, seen: &Seen) -> &'static str {
    let chosen = &e.explained.candidates[e.placement.cpu as usize];
    let both = seen.energy.zip(chosen.energy);
    match seen.dropped {
        Dropped::Margin if both.is_some_and(|(there, here)| there >= here) => {
            "it costs no less energy than the previous CPU"
        }
        other => other.doc(),
    }
}

/// A power without the digits that an estimate does not have.
pub(super) fn figure(power: f64) -> String {
    let decimals = match power.abs() {
        p if p == p.trunc() || p >= 1000.0 => 0,
        p if p >= 10.0 => 1,
        _ => 3,
    };
    format!("{power:.decimals$}")
}

/// Who stands for its performance domain.
fn spare(e: &Explanation, platform: &Platform, seen: &Seen) -> String {
    let domain = (platform.freq_domains.iter()).find(|d| d.cpus.contains(&CpuId(seen.cpu)));
    let with = |cpu: u32| domain.is_some_and(|d| d.cpus.contains(&CpuId(cpu)));
    let all = e.explained.candidates.iter();
    let rivals = all.filter(|c| c.cpu != seen.cpu && with(c.cpu) && c.energy.is_some());
    let Some(rival) = rivals.max_by_key(|c| (c.spare, std::cmp::Reverse(c.cpu))) else {
        return seen.dropped.doc().to_owned();
    };
    format!(
        "of its performance domain only the CPU with most capacity to spare is of interest, and \
         CPU {} has {}, this one {}",
        rival.cpu, rival.spare, seen.spare
    )
}

/// The task does not fit the CPU: by how much.
fn unfit(e: &Explanation, seen: &Seen) -> String {
    let need = if e.explained.choice.rule == Rule::Energy {
        format!("with the task it would be used by {}", seen.util)
    } else {
        format!("the task needs {}", e.task.util_est)
    };
    format!(
        "the task does not fit: {need}, its capacity is {} and a fifth of that is kept free",
        seen.capacity
    )
}

/// What the deciding rule looked for beside fitness, if that is not plain.
fn in_rule(e: &Explanation) -> &'static str {
    match e.explained.choice.rule {
        Rule::IdleSibling => ", and the search is for an idle one",
        Rule::Energy => ", and an idle one costs as little",
        _ => "",
    }
}

/// Why the rule never came to the CPU.
fn not_looked_at(e: &Explanation) -> String {
    let choice = &e.explained.choice;
    let around = match (choice.rule, e.explained.target) {
        (Rule::IdleSibling, Some(target)) => format!(" around CPU {target}"),
        _ => String::new(),
    };
    format!(
        "it was not looked at: the rule `{}`{around} came to CPU {} first or does not look there \
         ({})",
        choice.rule.name(),
        choice.cpu,
        reason(e, choice.reason)
    )
}

/// Why a CPU was chosen for this task: hints are named where it has some.
pub(super) fn reason(e: &Explanation, reason: Reason) -> &'static str {
    let record = &e.task.record;
    let has_hint = record.uclamp_min > 0 || record.uclamp_max < sys::WP_SCALE;
    match reason {
        Reason::EnergyPrev if !has_hint => "the previous CPU: no other saves enough energy",
        other => other.doc(),
    }
}

/// Why a rule that might have preferred it did not decide.
fn before(e: &Explanation) -> String {
    match e.explained.no_energy {
        NoEnergy::Overutilized | NoEnergy::Domain => format!(
            " The energy-aware rule did not decide: {}.",
            e.explained.no_energy.doc()
        ),
        NoEnergy::Inactive => e.energy_inactive.map_or_else(String::new, |why| {
            format!(" The energy-aware rule is off: {why}.")
        }),
        NoEnergy::Asked | NoEnergy::Kind => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_have_no_digits_of_arithmetic() {
        let shown = [5_830.399_999_999_994, 195_000.0, 12.345_678, 0.1 + 0.2, 0.0].map(figure);
        assert_eq!(shown, ["5830", "195000", "12.3", "0.300", "0"]);
    }
}

//! What a decision found of a CPU, and in one sentence what two decisions found otherwise
//! (docs/guide/review.md, "The first wake-up").
//!
//! What must stay: figures are those of the decision's own record, never computed anew; what is
//! alike on both sides is not named, nor what one side does not tell; the order is signal, clock,
//! idle state, energy, since each follows from those before it. Words are free. Tests by part:
//! `only_what_differs_is_named` (`differing`), `what_one_side_lacks_is_said`,
//! `what_is_not_told_is_not_compared`, `alike_is_said` (`clause`),
//! review.rs::`a_large_change_says_which_inputs_differed` (`Answer::inputs`). `TreeAnswer::inputs`
//! needs a built tree and has no test of its own.
//!
//! Callers: crates/cli/src/commands/review.rs.
//!
//! Tests: below, crates/cli/tests/all/review.rs

use super::{Answer, COST, TreeAnswer};

/// A CPU, as one decision found it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Its number.
    pub cpu: u32,
    /// Its utilisation, as the decision counts it.
    pub util: u32,
    /// The runnable signal of its queue; None: the policy keeps none.
    pub runnable: Option<u32>,
    /// The clock that the estimate took, kHz; None: nothing was estimated.
    pub clock_khz: Option<u32>,
    /// The idle state that it was in; None: in none.
    pub idle_state: Option<String>,
    /// What was estimated, with its unit if it has one; None: nothing was.
    pub energy: Option<String>,
    /// The side tells its estimates: clock and energy.
    pub told: bool,
}

impl Answer {
    /// What the decision found of these CPUs.
    #[must_use]
    pub fn inputs(&self, cpus: &[u32]) -> Vec<Input> {
        let shown = |energy: u64| match (self.power_unit(), self.shown_power(energy)) {
            (Some(unit), power) => format!("{power} {unit}"),
            (None, cost) => format!("{COST} {cost}"),
        };
        let input = |cpu: &u32| {
            let seen = self.explanation.explained.candidates.get(*cpu as usize)?;
            let state = self.explanation.idle[*cpu as usize];
            let name = |at: u16| self.platform().idle_states[at as usize].name.clone();
            Some(Input {
                cpu: *cpu,
                util: seen.util,
                runnable: seen.runnable,
                clock_khz: seen.clock_khz,
                idle_state: state.map(name),
                energy: seen.energy.map(shown),
                told: true,
            })
        };
        cpus.iter().filter_map(input).collect()
    }
}

impl TreeAnswer {
    /// What the tree found of these CPUs. It does not tell the clock that it assumes. Its energies
    /// have the unit of its version, so they stand beside no other side's.
    #[must_use]
    pub fn inputs(&self, cpus: &[u32]) -> Vec<Input> {
        let decided = &self.told.decided;
        let input = |cpu: &u32| {
            let choice = decided.choices.iter().find(|choice| choice.cpu == *cpu)?;
            Some(Input {
                cpu: *cpu,
                util: choice.util,
                runnable: Some(choice.runnable),
                clock_khz: None,
                idle_state: self.idle.get(*cpu as usize).cloned().flatten(),
                energy: None,
                told: false,
            })
        };
        cpus.iter().filter_map(input).collect()
    }
}

/// Which inputs of the same CPUs differed between two decisions; None: one of them tells none, as
/// a sched_ext scheduler's does.
#[must_use]
pub fn differing(base: &[Input], change: &[Input]) -> Option<String> {
    let mut cpus = Vec::new();
    let mut clauses = Vec::new();
    for one in base {
        if let Some(other) = change.iter().find(|other| other.cpu == one.cpu) {
            cpus.push(format!("CPU {}", one.cpu));
            clauses.extend(clause(one, other));
        }
    }
    if cpus.is_empty() {
        return None;
    }
    let told = base.iter().chain(change).all(|input| input.told);
    let compared = match told {
        true => "signals, clocks, idle states, energy",
        false => "signals, idle states",
    };
    Some(match clauses.is_empty() {
        true => format!(
            "Both sides found the same on {} ({compared}), so it was another CPU or the rule.",
            cpus.join(" and ")
        ),
        false => format!(
            "Inputs that differed, base against change: {}.",
            clauses.join("; ")
        ),
    })
}

/// What differed on one CPU; None: nothing.
fn clause(base: &Input, change: &Input) -> Option<String> {
    let util = |input: &Input| input.util.to_string();
    let runnable = |input: &Input| {
        let signal = input.runnable;
        signal.map_or_else(|| "none".to_owned(), |n| n.to_string())
    };
    let clock = |input: &Input| match input.clock_khz {
        Some(khz) => format!("{} MHz", khz / 1000),
        None => "not estimated".to_owned(),
    };
    let state = |input: &Input| {
        input
            .idle_state
            .clone()
            .unwrap_or_else(|| "none".to_owned())
    };
    let energy = |input: &Input| {
        let told = input.energy.clone();
        told.unwrap_or_else(|| "not estimated".to_owned())
    };
    let of_both = |value: &dyn Fn(&Input) -> String| (value(base), value(change));
    let told = base.told && change.told;
    let all = [
        (true, "utilisation", of_both(&util)),
        (true, "runnable signal", of_both(&runnable)),
        (told, "assumed clock", of_both(&clock)),
        (true, "idle state", of_both(&state)),
        (told, "energy", of_both(&energy)),
    ];
    let differ = all
        .iter()
        .filter(|(compared, _, (one, other))| *compared && one != other);
    let words: Vec<String> = differ
        .map(|(_, what, (one, other))| format!("{what} {one} against {other}"))
        .collect();
    (!words.is_empty()).then(|| format!("CPU {} {}", base.cpu, words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::{Input, differing};

    fn input(cpu: u32) -> Input {
        Input {
            cpu,
            util: 59,
            runnable: Some(100),
            clock_khz: Some(533_000),
            idle_state: Some("cpu-sleep".to_owned()),
            energy: Some("12 uW".to_owned()),
            told: true,
        }
    }

    #[test]
    fn only_what_differs_is_named() {
        let change = Input {
            runnable: Some(230),
            clock_khz: Some(1_402_000),
            ..input(3)
        };
        let found = differing(&[input(3), input(5)], &[change, input(5)]);
        let expected = "Inputs that differed, base against change: CPU 3 runnable signal 100 \
                        against 230, assumed clock 533 MHz against 1402 MHz.";
        assert_eq!(found.as_deref(), Some(expected));
    }

    #[test]
    fn what_one_side_lacks_is_said() {
        let change = Input {
            cpu: 3,
            util: 80,
            told: true,
            ..Input::default()
        };
        let found = differing(&[input(3)], &[change]).expect("both tell");
        for part in [
            "CPU 3 utilisation 59 against 80, ",
            "runnable signal 100 against none, ",
            "assumed clock 533 MHz against not estimated, ",
            "idle state cpu-sleep against none, ",
            "energy 12 uW against not estimated.",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }

    /// A tree tells neither clock nor energy.
    #[test]
    fn what_is_not_told_is_not_compared() {
        let tree = |util| Input {
            util,
            clock_khz: None,
            energy: None,
            told: false,
            ..input(3)
        };
        let differs = "Inputs that differed, base against change: CPU 3 utilisation 59 against 80.";
        let alike = "Both sides found the same on CPU 3 (signals, idle states), so it was another \
                     CPU or the rule.";
        for base in [input(3), tree(59)] {
            let found = |util| differing(std::slice::from_ref(&base), &[tree(util)]);
            assert_eq!(found(80).as_deref(), Some(differs));
            assert_eq!(found(59).as_deref(), Some(alike));
        }
        assert_eq!(differing(&[tree(59)], &[input(3)]).as_deref(), Some(alike));
    }

    #[test]
    fn alike_is_said() {
        let both = [input(3), input(5)];
        let found = differing(&both, &both).expect("both tell");
        let expected = "Both sides found the same on CPU 3 and CPU 5 (signals, clocks, idle \
                        states, energy), so it was another CPU or the rule.";
        assert_eq!(found, expected);
        // A scheduler tells nothing of what it saw.
        assert_eq!(differing(&[], &both), None);
        assert_eq!(differing(&both, &[]), None);
    }
}

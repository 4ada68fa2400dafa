//! Figures of a machine that nobody published and that cost time or energy, each to be changed by
//! itself: whether a conclusion depends on them can then be tried (docs/guide/platforms.md, "What
//! is assumed everywhere, and how").
//!
//! Called by the study's sensitivity only; a plain run has the platform as its file says. Times are
//! ns, powers in the platform's unit.
//!
//! What must stay: names and order of costs, which results have and studies name in `except`; a
//! changed platform keeps the rules of `read`, states from shallow to deep among them. Free: what
//! leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part:
//! `an_assumed_table_is_its_figures_and_published_ones_are_none` (`assumed_costs`, `fields`,
//! `cost`), `one_figure_changes_and_nothing_else` (`with_assumed`, `Factor::of`),
//! `states_of_one_name_are_one_and_stay_in_order` (`by_name`, `add_idle`, `change_latency`,
//! `room`), `powers_and_transitions_of_a_table_are_one` (`add_clocks`, `assumed_tables`),
//! `every_built_in_platform_stays_valid_in_its_order` (each kind of `change`),
//! builtin.rs::`the_page_lists_every_machine` (`modelled_power`). `of`, `value` and `word` of a
//! factor, `assumed_states`, `unit` and `change_gain`: all in tests.rs.
//!
//! Callers: known.rs (`assumed_tables`).
//!
//! Tests: crates/platform/src/assumed/tests.rs,
//! crates/platform/tests/all/builtin.rs::the_page_lists_every_machine

use crate::cpu_list::parse_cpu_list;
use crate::{Costs, CpuId, IdleState, Platform, Standing};
use std::ops::RangeInclusive;

/// By what a figure is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// x 0.5
    Half,
    /// x 2
    Double,
}

impl Factor {
    /// Both, in the order to show.
    pub const ALL: [Factor; 2] = [Factor::Half, Factor::Double];

    /// The changed figure; half of 1 is 1, so that nothing vanishes.
    #[must_use]
    pub fn of(self, figure: u64) -> u64 {
        match self {
            Factor::Half => figure.div_ceil(2),
            Factor::Double => figure.saturating_mul(2),
        }
    }

    /// The factor as a number: 0.5 or 2.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Factor::Half => 0.5,
            Factor::Double => 2.0,
        }
    }

    /// What was done to a cost.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Factor::Half => "halved",
            Factor::Double => "doubled",
        }
    }
}

/// An assumed figure, or several that only make sense together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedCost {
    /// Key in the platform file where it is one, else what the table is about.
    pub name: String,
    /// The figure as people read it; a range for several.
    pub value: String,
    what: What,
}

/// Which figures; positions in the platform's lists.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Cost(&'static str),
    Line(&'static str),
    Cache(&'static str),
    Coherence(&'static str),
    Transition(Vec<usize>),
    CpuPower(Vec<usize>),
    ClusterPower(Vec<usize>),
    WorkPower(Vec<usize>),
    IdleLatency(Vec<usize>),
    IdleResidency(Vec<usize>),
    IdlePower(Vec<usize>),
    Smt,
    SmtPower,
    Board,
}

impl Platform {
    /// The costs that are assumed, as the provenance says. Those that are 0 or absent are left out:
    /// there is nothing to halve. States of one name are one.
    #[must_use]
    pub fn assumed_costs(&self) -> Vec<AssumedCost> {
        let mut found: Vec<AssumedCost> = Vec::new();
        if self.costs.source.standing == Standing::Assumed {
            let mut costs = self.costs.clone();
            for (name, ns) in fields(&mut costs) {
                found.extend(cost(name, "ns", &[*ns], What::Cost(name)));
            }
        }
        self.add_moves(&mut found);
        self.add_clocks(&mut found);
        self.add_idle(&mut found);
        let assumed = |source: &crate::Source| source.standing == Standing::Assumed;
        if let Some(smt) = self.smt.as_ref().filter(|smt| assumed(&smt.source)) {
            let gain = |work: &u32| u64::from(work.saturating_sub(ONE_THREAD));
            let gains: Vec<u64> = smt.core_capacity.iter().skip(1).map(gain).collect();
            found.extend(cost("smt gain", "of 1024", &gains, What::Smt));
            let gains: Vec<u64> = smt.core_power.iter().skip(1).map(gain).collect();
            found.extend(cost("smt power", "of 1024", &gains, What::SmtPower));
        }
        if let Some(board) = self.board.as_ref().filter(|board| assumed(&board.source)) {
            found.extend(cost("board power", "uW", &[board.power_uw], What::Board));
        }
        found
    }

    /// The machine with one assumed cost changed. Idle states stay ordered from shallow to deep: a
    /// figure that would pass its neighbour's stops short of it.
    #[must_use]
    pub fn with_assumed(&self, cost: &AssumedCost, factor: Factor) -> Platform {
        let mut changed = self.clone();
        changed.change(&cost.what, factor);
        changed
    }

    /// CPUs whose power at work is a model's, as its source says in its first word: nobody measured
    /// it, and joules of theirs are no machine's.
    #[must_use]
    pub fn modelled_power(&self) -> Vec<CpuId> {
        let is_modelled = |name: &String| {
            let mut entries = self.provenance.iter();
            entries.any(|(what, source)| what == name && source.text.starts_with("Modelled"))
        };
        let tables = self.assumed_tables("cpu power of CPUs ").into_iter();
        let modelled = tables.filter(|(name, _)| is_modelled(name));
        let mut cpus: Vec<CpuId> = modelled.flat_map(|(_, cpus)| cpus).collect();
        cpus.sort_unstable();
        cpus
    }

    /// Tables that are assumed, by how their entries begin: the CPUs they are about.
    pub(crate) fn assumed_tables(&self, start: &str) -> Vec<(String, Vec<CpuId>)> {
        let tables = self.provenance.iter().filter_map(|(what, source)| {
            let cpus = what.strip_prefix(start)?;
            let assumed = source.standing == Standing::Assumed;
            let members = parse_cpu_list(cpus, self).ok().filter(|_| assumed)?;
            Some((what.clone(), members))
        });
        tables.collect()
    }

    /// The assumed times that a change of a clock takes, and the assumed powers at operating
    /// points.
    fn add_clocks(&self, found: &mut Vec<AssumedCost>) {
        let domains = |cpus: &[CpuId]| -> Vec<usize> {
            let of = |(_, domain): &(usize, &crate::FreqDomain)| cpus.contains(&domain.cpus[0]);
            let domains = self.freq_domains.iter().enumerate().filter(of);
            domains.map(|(index, _)| index).collect()
        };
        let latency = |d: &usize| self.freq_domains[*d].transition_latency_ns;
        let opps = |d: &usize| self.freq_domains[*d].opps.iter();
        for (name, cpus) in self.assumed_tables("frequency transition of CPUs ") {
            let all = domains(&cpus);
            let figures: Vec<u64> = all.iter().map(latency).collect();
            found.extend(cost(&name, "ns", &figures, What::Transition(all)));
        }
        for (name, cpus) in self.assumed_tables("cpu power of CPUs ") {
            let all = domains(&cpus);
            let figures: Vec<u64> = all.iter().flat_map(opps).filter_map(|o| o.power).collect();
            found.extend(cost(&name, self.unit(), &figures, What::CpuPower(all)));
        }
        for (name, cpus) in self.assumed_tables("cluster power of CPUs ") {
            let all = domains(&cpus);
            let powers = all.iter().flat_map(opps);
            let figures: Vec<u64> = powers.filter_map(|o| o.cluster_power).collect();
            found.extend(cost(&name, self.unit(), &figures, What::ClusterPower(all)));
        }
        for (name, cpus) in self.assumed_tables("work power of CPUs ") {
            let all = domains(&cpus);
            let powers = all.iter().flat_map(opps);
            let figures: Vec<u64> = powers.filter_map(|o| o.work_power).collect();
            found.extend(cost(&name, self.unit(), &figures, What::WorkPower(all)));
        }
    }

    /// The assumed times and powers of idle states, those of one name together.
    fn add_idle(&self, found: &mut Vec<AssumedCost>) {
        let (times, powers) = self.assumed_states();
        let state = |index: &usize| &self.idle_states[*index];
        for (name, all) in by_name(self, &times) {
            let figures: Vec<u64> = all
                .iter()
                .map(state)
                .map(IdleState::wake_latency_ns)
                .collect();
            let label = format!("idle state {name} latency");
            found.extend(cost(&label, "ns", &figures, What::IdleLatency(all.clone())));
            let figures: Vec<u64> = all.iter().map(|s| state(s).min_residency_ns).collect();
            let label = format!("idle state {name} residency");
            found.extend(cost(&label, "ns", &figures, What::IdleResidency(all)));
        }
        for (name, all) in by_name(self, &powers) {
            let both = |s: &usize| [state(s).cpu_power, state(s).cluster_power];
            let figures: Vec<u64> = all.iter().flat_map(both).flatten().collect();
            let label = format!("idle state {name} power");
            found.extend(cost(&label, self.unit(), &figures, What::IdlePower(all)));
        }
    }

    /// Idle states whose times are assumed, and those whose powers are. The entries stand in the
    /// order of the states, a state's power after the state.
    fn assumed_states(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut times, mut powers) = (Vec::new(), Vec::new());
        let of_states = |entry: &&(String, crate::Source)| entry.0.starts_with("idle state ");
        let stated = self.provenance.iter().filter(of_states).count();
        // First comes the state that no file states.
        let mut next = self.idle_states.len().saturating_sub(stated);
        for (what, source) in &self.provenance {
            let assumed = source.standing == Standing::Assumed;
            if what.starts_with("idle state ") {
                if assumed {
                    times.push(next);
                }
                next += 1;
            } else if what.starts_with("power in idle state ") && assumed {
                powers.extend(next.checked_sub(1));
            }
        }
        (times, powers)
    }

    /// The unit of powers in lists of costs; nothing for a unit of the platform's own.
    fn unit(&self) -> &'static str {
        match self.power_unit {
            crate::PowerUnit::Microwatt => "uW",
            crate::PowerUnit::Bogo | crate::PowerUnit::None => "",
        }
    }

    /// Makes one assumed figure larger or smaller by the factor, wherever the platform has it.
    fn change(&mut self, what: &What, factor: Factor) {
        let scale = |figure: &mut u64| *figure = factor.of(*figure);
        match what {
            What::Cost(name) => {
                let mut all = fields(&mut self.costs).into_iter();
                all.by_ref()
                    .filter(|(key, _)| key == name)
                    .for_each(|(_, ns)| scale(ns));
            }
            What::Line(key) => self.change_line(key, factor),
            What::Cache(key) => self.change_cache(key, factor),
            What::Coherence(key) => self.change_coherence(key, factor),
            What::Transition(all) => {
                for domain in all {
                    scale(&mut self.freq_domains[*domain].transition_latency_ns);
                }
            }
            What::CpuPower(all) => {
                for domain in all {
                    let opps = self.freq_domains[*domain].opps.iter_mut();
                    opps.flat_map(|opp| &mut opp.power).for_each(scale);
                }
            }
            What::ClusterPower(all) => {
                for domain in all {
                    let opps = self.freq_domains[*domain].opps.iter_mut();
                    opps.flat_map(|opp| &mut opp.cluster_power).for_each(scale);
                }
            }
            What::WorkPower(all) => {
                for domain in all {
                    let opps = self.freq_domains[*domain].opps.iter_mut();
                    opps.flat_map(|opp| &mut opp.work_power).for_each(scale);
                }
            }
            What::IdlePower(all) => {
                for state in all {
                    let state = &mut self.idle_states[*state];
                    state.cpu_power.iter_mut().for_each(scale);
                    state.cluster_power.iter_mut().for_each(scale);
                }
            }
            What::IdleLatency(all) => all.iter().for_each(|s| self.change_latency(*s, factor)),
            What::IdleResidency(all) => all.iter().for_each(|s| {
                let room = self.room(*s, |state| state.min_residency_ns);
                let wanted = factor.of(self.idle_states[*s].min_residency_ns);
                self.idle_states[*s].min_residency_ns = wanted.clamp(*room.start(), *room.end());
            }),
            What::Smt => {
                let works = self.smt.iter_mut().flat_map(|smt| &mut smt.core_capacity);
                works.for_each(|work| change_gain(work, factor));
            }
            What::SmtPower => {
                let powers = self.smt.iter_mut().flat_map(|smt| &mut smt.core_power);
                powers.for_each(|power| change_gain(power, factor));
            }
            What::Board => self.board.iter_mut().for_each(|b| scale(&mut b.power_uw)),
        }
    }

    /// Entry and exit together; what the order of states leaves is taken from the exit.
    fn change_latency(&mut self, index: usize, factor: Factor) {
        let room = self.room(index, IdleState::wake_latency_ns);
        let state = &mut self.idle_states[index];
        let entry = factor.of(state.entry_latency_ns);
        let wanted = entry.saturating_add(factor.of(state.exit_latency_ns));
        let total = wanted.clamp(*room.start(), *room.end());
        state.entry_latency_ns = entry.min(total);
        state.exit_latency_ns = total - state.entry_latency_ns;
    }

    /// Between the figures of the neighbours of a state, in the order from shallow to deep.
    fn room(&self, index: usize, figure: impl Fn(&IdleState) -> u64) -> RangeInclusive<u64> {
        let state = &self.idle_states[index];
        let shares = |other: &&IdleState| other.cpus.iter().any(|cpu| state.cpus.contains(cpu));
        let above = self.idle_states[..index].iter().filter(shares).map(&figure);
        let below = self.idle_states[index + 1..]
            .iter()
            .filter(shares)
            .map(&figure);
        let least = above.max().map_or(0, |ns| ns + 1);
        let most = below.min().map_or(u64::MAX, |ns| ns - 1);
        // A valid platform has its figure in between.
        least..=most.max(least)
    }
}

/// Work of a core with one busy thread.
const ONE_THREAD: u32 = 1024;

/// What further threads of a core add to 1024.
fn change_gain(figure: &mut u32, factor: Factor) {
    let gain = factor.of(u64::from(figure.saturating_sub(ONE_THREAD)));
    *figure = ONE_THREAD.saturating_add(u32::try_from(gain).unwrap_or(u32::MAX));
}

/// The states of each name, in the order of the first.
fn by_name<'a>(platform: &'a Platform, states: &[usize]) -> Vec<(&'a str, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for index in states {
        let name = platform.idle_states[*index].name.as_str();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(*index),
            None => groups.push((name, vec![*index])),
        }
    }
    groups
}

/// A cost; None if there is nothing to change.
fn cost(name: &str, unit: &str, figures: &[u64], what: What) -> Option<AssumedCost> {
    let least = figures.iter().min()?;
    let most = figures.iter().max().filter(|most| **most > 0)?;
    let figure = if least == most {
        most.to_string()
    } else {
        format!("{least} to {most}")
    };
    Some(AssumedCost {
        name: name.to_owned(),
        value: format!("{figure} {unit}").trim_end().to_owned(),
        what,
    })
}

/// The figures of the table of costs by their keys.
fn fields(costs: &mut Costs) -> Vec<(&'static str, &mut u64)> {
    let mut all = vec![
        ("context_switch_ns", &mut costs.context_switch_ns),
        ("wakeup_ns", &mut costs.wakeup_ns),
        ("ipi_ns", &mut costs.ipi_ns),
        ("tick_ns", &mut costs.tick_ns),
        ("fork_ns", &mut costs.fork_ns),
        (
            "migrate_shared_cache_ns",
            &mut costs.migrate_shared_cache_ns,
        ),
        ("migrate_other_cache_ns", &mut costs.migrate_other_cache_ns),
        ("scan_cpu_ns", &mut costs.scan_cpu_ns),
        ("publish_ns", &mut costs.publish_ns),
        ("lock_hold_ns", &mut costs.lock_hold_ns),
        ("lock_shared_cache_ns", &mut costs.lock_shared_cache_ns),
        ("lock_other_cache_ns", &mut costs.lock_other_cache_ns),
        ("switch_out_ns", &mut costs.switch_out_ns),
    ];
    let other_node = costs.migrate_other_node_ns.as_mut();
    all.extend(other_node.map(|ns| ("migrate_other_node_ns", ns)));
    all
}

mod moves;
#[cfg(test)]
mod tests;

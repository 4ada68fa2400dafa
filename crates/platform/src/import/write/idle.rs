//! The `[[idle_state]]` tables (docs/guide/import.md).
//!
//! Called by `write.rs`. Times are written in the units of the keys.
//!
//! What must stay: the order is that of `found`, from shallow to deep, which `read/idle.rs`
//! demands; where powers differ by clock there is a table for each. Free: what leaves the files of
//! imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: round_trip.rs::`every_platform_comes_back` (`idle`, `idle_state`),
//! `a_board_with_an_energy_model_is_the_one_that_comes_with_the_program` (`assumed_power`),
//! `an_energy_model_of_lisa` (powers that the source has),
//! crates/cli/tests/all/bad_platforms.rs::`a_new_board_is_whole_or_refused` (`say_one_point`,
//! `ONE_POINT`).
//!
//! Tests: crates/platform/tests/all/import/mod.rs, crates/platform/tests/all/import/round_trip.rs,
//! crates/cli/tests/all/bad_platforms.rs::a_new_board_is_whole_or_refused

use super::Writer;
use crate::form::{entry, number};
use crate::import::fill::{cluster_idle_power, idle_power};
use crate::import::found::{FoundIdle, IdlePower, Origin, Scale, cpu_list};
use crate::import::text::source;
use std::fmt::Write;

/// Stands behind the source of a power that is made of the only one there is.
const ONE_POINT: &str = "; the clock has one operating point, whose power is that of the highest, \
    so that this may be too much";

impl Writer<'_> {
    /// All tables `[[idle_state]]`, for CPUs of the same figures together.
    pub(super) fn idle(&mut self) -> String {
        let mut out = String::new();
        let unknown = |state: &FoundIdle| state.power.is_none();
        if self.powered().is_some() && self.found.idle.iter().any(unknown) {
            self.said.push(
                "power in idle states: by the ratios of Juno r0's published table (WFI 6/33 or \
                 15/168 of the lowest busy power, deeper states 0)"
                    .to_owned(),
            );
        }
        self.say_one_point();
        for state in &self.found.idle {
            // Power differs between clocks: a table for each.
            let by_clock: Vec<Vec<u16>> = match self.powered() {
                Some(_) if !state.cluster => self
                    .found
                    .clocks
                    .iter()
                    .map(|clock| {
                        let has = |cpu: &&u16| state.cpus.contains(cpu);
                        clock.cpus.iter().filter(has).copied().collect()
                    })
                    .filter(|cpus: &Vec<u16>| !cpus.is_empty())
                    .collect(),
                _ => vec![state.cpus.clone()],
            };
            for cpus in by_clock {
                out += &self.idle_state(state, &cpus);
            }
        }
        out
    }

    /// Says of which CPUs the power of a clock that stands still is taken for the lowest.
    fn say_one_point(&mut self) {
        let unknown = |cpu: &u16| {
            let mut own = self
                .found
                .idle
                .iter()
                .filter(|state| state.cpus.contains(cpu));
            own.any(|state| state.power.is_none())
        };
        let still = self
            .found
            .clocks
            .iter()
            .filter(|clock| clock.points.len() == 1);
        let cpus = still.flat_map(|clock| &clock.cpus).copied().filter(unknown);
        let cpus: Vec<u16> = cpus.collect();
        if self.powered().is_some() && !cpus.is_empty() {
            self.said.push(format!(
                "power in idle states of CPUs {}: of the power at their one operating point, the \
                 highest, so that it may be too high",
                cpu_list(&cpus)
            ));
        }
    }

    /// One table `[[idle_state]]`.
    fn idle_state(&self, state: &FoundIdle, cpus: &[u16]) -> String {
        let mut out = String::from("\n[[idle_state]]\n");
        out += &entry("name", &state.name);
        let scope = if state.cluster { "cluster" } else { "cpu" };
        let _ = writeln!(
            out,
            "scope = \"{scope}\"\ncpus = \"{}\"\nentry_latency_us = {}\nexit_latency_us = {}\n\
             min_residency_us = {}",
            self.list(cpus),
            number(state.entry_us),
            number(state.exit_us),
            number(state.residency_us)
        );
        out += &source(&state.from);
        let Some(scale) = self.powered() else {
            return out;
        };
        let (cpu, cluster) = match scale {
            Scale::Microwatt => ("cpu_uw", "cluster_uw"),
            Scale::Abstract => ("cpu_bogo", "cluster_bogo"),
        };
        let power = match &state.power {
            Some(power) => power.clone(),
            None => self.assumed_power(state, cpus[0]),
        };
        let _ = writeln!(out, "\n[idle_state.power]\n{cpu} = {}", number(power.cpu));
        if let Some(of_cluster) = power.cluster {
            let _ = writeln!(out, "{cluster} = {}", number(of_cluster));
        }
        out + &source(&power.from)
    }

    /// Power of a CPU in a state of which the source has none.
    fn assumed_power(&self, state: &FoundIdle, cpu: u16) -> IdlePower {
        let clocks = &self.found.clocks;
        let clock = clocks.iter().find(|clock| clock.cpus.contains(&cpu));
        let points = || clock.into_iter().flat_map(|clock| &clock.points);
        let lowest = points().filter_map(|point| point.power).min().unwrap_or(0);
        let of_cluster = points().filter_map(|point| point.cluster_power).min();
        let states = &self.found.idle;
        let first = states.iter().find(|other| other.cpus.contains(&cpu));
        let shallowest = first.is_some_and(|first| std::ptr::eq(first, state));
        let kind = self.cpu(cpu).kind.as_deref().unwrap_or_default();
        let (cpu, mut from) = idle_power(kind, lowest, shallowest);
        if shallowest && points().count() == 1 {
            from.text += ONE_POINT;
        }
        let asleep = of_cluster.filter(|_| state.cluster).map(cluster_idle_power);
        let (cluster, from) = match asleep {
            Some((power, text)) => (Some(power), Origin::assumed(from.text + &text)),
            None => (None, from),
        };
        IdlePower {
            cpu,
            cluster,
            lowest,
            from,
        }
    }
}

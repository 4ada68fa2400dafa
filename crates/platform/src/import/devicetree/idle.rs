//! Idle states of CPUs and of the power domains they are in (docs/guide/import.md, "What is read").
//!
//! Called by `devicetree.rs`. Times are µs, as the bindings have them.
//!
//! What must stay: the order WFI, the CPUs' states, the domains', which `fill.rs` takes as depth;
//! entry and exit together are what cpuidle sees (`wakeup-latency-us` goes first). A state without
//! a time is none. Free: what leaves the files of imports as they are (ARCHITECTURE.md, "What a
//! change may touch"), and words of messages that no test quotes. Tests by part:
//! `a_device_tree_with_a_nameless_idle_state` (`idle_state`, its name, `idle`),
//! `device_trees_in_circles` (`states_of` ends). No test of its own: `wakeup-latency-us`.
//!
//! Tests: crates/platform/tests/all/import/hostile.rs

use super::{MAX_STEPS, View};
use crate::fdt::Node;
use crate::import::found::{FoundIdle, Origin};

/// Most idle states of the machine.
const MAX_STATES: usize = 256;
/// Longest time of an idle state that is believed, us.
const MAX_IDLE_US: u32 = 5_000_000;

/// Handles of a CPU's states, with whether they are its cluster's.
type States = Vec<(u32, bool)>;

impl View<'_> {
    /// WFI, the CPUs' own states, and those of the power domains they are in.
    pub(super) fn idle(&self) -> Vec<FoundIdle> {
        let mut lists: Vec<(States, Vec<u16>)> = Vec::new();
        for cpu in 0..self.nodes.len() {
            let states = self.states_of(cpu);
            match lists.iter_mut().find(|(known, _)| *known == states) {
                Some((_, cpus)) => cpus.push(cpu as u16),
                None => lists.push((states, vec![cpu as u16])),
            }
        }
        let mut all = vec![FoundIdle {
            name: "WFI".to_owned(),
            cluster: false,
            cpus: (0..).take(self.nodes.len()).collect(),
            entry_us: 0,
            exit_us: 1,
            residency_us: 1,
            from: Origin::stated("Linux 7.3.4 drivers/cpuidle/cpuidle-psci.c, state 0"),
            power: None,
        }];
        for (states, cpus) in lists {
            for (handle, cluster) in states {
                let node = self.node(handle);
                let Some(state) = node.and_then(|node| self.idle_state(node, cluster, &cpus))
                else {
                    continue;
                };
                // The same state of several lists is one.
                let alike = |known: &FoundIdle| {
                    (
                        &known.name,
                        known.cluster,
                        known.exit_us,
                        known.residency_us,
                    ) == (
                        &state.name,
                        state.cluster,
                        state.exit_us,
                        state.residency_us,
                    )
                };
                match all.iter().position(alike) {
                    Some(at) => all[at].cpus.extend(state.cpus),
                    None if all.len() < MAX_STATES => all.push(state),
                    None => {}
                }
            }
        }
        all.iter_mut().for_each(|state| {
            state.cpus.sort_unstable();
            state.cpus.dedup();
        });
        all.sort_by_key(|state| state.cluster);
        all
    }

    /// The idle states of a CPU, its own and those of the power domains around it (true: of a
    /// domain).
    fn states_of(&self, cpu: usize) -> States {
        let node = self.nodes[cpu];
        let mut states: States = node
            .cells("cpu-idle-states")
            .iter()
            .map(|handle| (*handle, false))
            .collect();
        let mut at = node;
        for step in 0..MAX_STEPS {
            let Some(domain) = at
                .u32("power-domains")
                .or_else(|| at.cells("power-domains").first().copied())
            else {
                break;
            };
            let Some(domain) = self.node(domain) else {
                break;
            };
            let own = domain.cells("domain-idle-states");
            states.extend(own.iter().map(|handle| (*handle, step > 0)));
            at = domain;
        }
        states.truncate(MAX_STATES);
        states
    }

    /// The figures of a state's node; None where a time is missing or too long.
    fn idle_state(&self, node: &Node, cluster: bool, cpus: &[u16]) -> Option<FoundIdle> {
        let us = |key: &str| node.u32(key).filter(|us| *us <= MAX_IDLE_US).map(u64::from);
        let (entry, exit) = (us("entry-latency-us")?, us("exit-latency-us")?);
        let residency_us = us("min-residency-us")?;
        let named = node.texts("idle-state-name");
        let name = named.first().copied().unwrap_or(&node.name);
        let name: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
        let cluster = cluster || node.name.contains("cluster") || name.contains("cluster");
        let mut from = Origin::stated(self.text(&format!("idle state {}", node.name)));
        // What cpuidle sees: wakeup-latency-us goes before the sum of both.
        let mut entry_us = entry;
        if let Some(total) = us("wakeup-latency-us").filter(|total| *total < entry + exit) {
            entry_us = total.saturating_sub(exit);
            from = Origin::derived(format!(
                "{}: wakeup-latency-us {total} goes before entry {entry} + exit {exit}; the entry \
                 here is what it leaves",
                from.text
            ));
        }
        Some(FoundIdle {
            name,
            cluster,
            cpus: cpus.to_vec(),
            entry_us,
            exit_us: exit,
            residency_us,
            from,
            power: None,
        })
    }
}

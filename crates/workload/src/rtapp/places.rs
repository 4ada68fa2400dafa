//! CPUs and nodes that tasks and phases name (docs/guide/rt-app.md, "How a file is read").
//!
//! Called by `rtapp/template.rs`. CPUs and nodes are ascending, each once.
//!
//! What must stay: lists are ascending and each CPU or node stands once, as scripts compare them; a
//! negative number is refused at its place. Free: what leaves scripts as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `memory_is_bound_to_nodes` (`nodes`), `the_fixture_expands_to_its_threads` (`cpus`),
//! `what_cannot_run_here_names_its_place` (`cpus`: -1, empty),
//! rtapp_keys.rs::`a_refusal_names_the_key` (messages).
//!
//! Tests: crates/workload/tests/all/rtapp_events.rs, crates/workload/tests/all/rtapp_files.rs,
//! crates/workload/tests/all/rtapp_keys.rs
use super::structure::{Affinity, Nodes, Position};
use crate::error::Fault;
use std::sync::Arc;

/// An affinity, ascending and without repetitions, and where its highest CPU is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cpus {
    pub(super) list: Vec<u32>,
    pub(super) highest_at: Position,
}

/// The CPUs of an affinity; there must be one.
pub(super) fn cpus(affinity: Option<&Affinity>) -> Result<Option<Cpus>, Fault> {
    let Some(affinity) = affinity else {
        return Ok(None);
    };
    let mut list = Vec::with_capacity(affinity.cpus.len());
    let (mut highest, mut highest_at) = (None, affinity.at);
    for number in &affinity.cpus {
        let cpu = u32::try_from(number.cpu).map_err(|_| {
            let message = format!("`cpus`: there is no CPU {}", number.cpu);
            Fault::unusable(number.at, message).expected("0 or more")
        })?;
        if highest.is_none_or(|highest| highest < cpu) {
            highest = Some(cpu);
            highest_at = number.at;
        }
        list.push(cpu);
    }
    if list.is_empty() {
        let message = "`cpus` is empty: no CPU is left";
        return Err(Fault::unusable(affinity.at, message).expected("at least one CPU"));
    }
    list.sort_unstable();
    list.dedup();
    Ok(Some(Cpus { list, highest_at }))
}

/// Ascending and without repetitions; an empty list binds nothing (the call fails, rt-app goes on).
pub(super) fn nodes(nodes: Option<&Nodes>) -> Result<Option<Arc<[u32]>>, Fault> {
    let Some(nodes) = nodes else {
        return Ok(None);
    };
    let Some(numbers) = &nodes.list else {
        let fault = Fault::unusable(nodes.at, "`nodes_membind` is no array");
        return Err(fault.expected("an array of node numbers"));
    };
    let mut list = Vec::with_capacity(numbers.len());
    for number in numbers {
        list.push(u32::try_from(number.cpu).map_err(|_| {
            let message = format!("`nodes_membind`: there is no node {}", number.cpu);
            Fault::unusable(number.at, message).expected("0 or more")
        })?);
    }
    list.sort_unstable();
    list.dedup();
    Ok((!list.is_empty()).then(|| list.into()))
}

//! What tasks share, by name and type: a mutex and a condition may have one name
//! (docs/guide/rt-app.md, "How a file is read").
//!
//! Called by `rtapp/template.rs` and `steps.rs`. Indices follow the first use in the file; scripts
//! have them.
//!
//! What must stay: an index follows the first use; a mutex and a condition of one name are two;
//! parties of a barrier are summed over the file, one for each instance. Free: what leaves scripts
//! as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `resources_are_keyed_by_name_and_type` (`mutex`, `condition`,
//! `semaphore`, `place`), `mutexes_inherit_if_asked_to` (`new`),
//! `parties_of_a_barrier_are_summed_over_the_file` (`barrier`, `empty`),
//! hostile.rs::`small_files_cannot_ask_for_much` (300,000 barriers).
//!
//! Tests: crates/workload/tests/all/rtapp_events.rs, crates/workload/tests/all/hostile.rs
use super::structure::{Action, Position, Task};
use crate::error::Fault;
use crate::script::{Barrier, Channel, Condition, Mutex, Shared};
use std::collections::BTreeMap;

/// The resources met so far and what they are called.
pub(super) struct Resources {
    pub(super) shared: Shared,
    inherit: bool,
    mutexes: BTreeMap<String, u32>,
    conditions: BTreeMap<String, u32>,
    semaphores: BTreeMap<String, u32>,
    /// Parties by barrier: the sum over its occurrences of the task's `instance`.
    parties: BTreeMap<String, i64>,
    barriers: BTreeMap<String, u32>,
    /// Barriers of nobody: their place among the channels.
    closed: BTreeMap<String, u32>,
}

/// How a `barrier` event waits.
pub(super) enum Rendezvous {
    /// At that barrier.
    Barrier(u32),
    /// For a unit that nobody gives: no started thread counts as a party, and rt-app's counter,
    /// below zero from the start, never says that all are there.
    Never(u32),
}

impl Resources {
    /// `inherit`: mutexes inherit priority.
    pub(super) fn new(tasks: &[Task], inherit: bool) -> Self {
        let mut parties = BTreeMap::new();
        for task in tasks {
            for step in task.phases.iter().flat_map(|phase| &phase.events) {
                if let Action::Barrier(name) = &step.action {
                    let parties = parties.entry(name.clone()).or_insert(0_i64);
                    *parties = parties.saturating_add(task.instance.into());
                }
            }
        }
        Self {
            shared: Shared::default(),
            inherit,
            mutexes: BTreeMap::new(),
            conditions: BTreeMap::new(),
            semaphores: BTreeMap::new(),
            parties,
            barriers: BTreeMap::new(),
            closed: BTreeMap::new(),
        }
    }

    /// The mutex of that name, made at its first use.
    pub(super) fn mutex(&mut self, name: &str) -> u32 {
        let inherit = self.inherit;
        let make = |name| Mutex { name, inherit };
        place(&mut self.mutexes, &mut self.shared.mutexes, name, make)
    }

    /// The condition of that name, made at its first use.
    pub(super) fn condition(&mut self, name: &str) -> u32 {
        let make = |name| Condition { name };
        place(
            &mut self.conditions,
            &mut self.shared.conditions,
            name,
            make,
        )
    }

    /// A semaphore begins at 0 and remembers what is posted.
    pub(super) fn semaphore(&mut self, name: &str) -> u32 {
        place(&mut self.semaphores, &mut self.shared.channels, name, empty)
    }

    /// The barrier of that name; one without parties waits for ever, one below 0 is a fault.
    pub(super) fn barrier(&mut self, name: &str, at: Position) -> Result<Rendezvous, Fault> {
        let parties = self.parties.get(name).copied().unwrap_or(0);
        let parties = u64::try_from(parties).map_err(|_| {
            Fault::unusable(at, format!("`barrier` \"{name}\" has {parties} parties"))
        })?;
        if parties == 0 {
            let make = |name| empty(format!("barrier {name} of no parties"));
            let place = place(&mut self.closed, &mut self.shared.channels, name, make);
            return Ok(Rendezvous::Never(place));
        }
        let make = |name| Barrier { name, parties };
        let place = place(&mut self.barriers, &mut self.shared.barriers, name, make);
        Ok(Rendezvous::Barrier(place))
    }
}

/// A channel that nobody ever fills.
fn empty(name: String) -> Channel {
    Channel {
        name,
        lines: 1,
        ..Channel::default()
    }
}

/// The place of a resource in its list, where it is put at its first use.
fn place<T>(
    known: &mut BTreeMap<String, u32>,
    list: &mut Vec<T>,
    name: &str,
    make: impl FnOnce(String) -> T,
) -> u32 {
    if let Some(&place) = known.get(name) {
        return place;
    }
    // At most one per event, and these are bounded far below 2^32.
    let place = list.len() as u32;
    known.insert(name.to_owned(), place);
    list.push(make(name.to_owned()));
    place
}

//! Working sets of tasks that wait for memory: `working_set_kib` of the models that have `memory`
//! (docs/guide/workloads.md).
//!
//! Called by models with `memory`. Only what moves cost changes (docs/decisions/060); scripts and
//! draws stay.
//!
//! What must stay: only tasks that wait for memory have a set; without `working_set_kib` no script
//! changes. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `tasks_that_wait_for_memory_have_a_set`
//! (`with_sets`, `waits`, `expand`), handover.rs::`a_move_refills_from_the_closest_level` (what a
//! set costs in a run). `warnings` has no test of its own.
//!
//! Tests: below, crates/engine/tests/behaviour/handover.rs
use super::values::Values;
use super::{Model, ParameterInfo, parameter};
use crate::error::WorkloadError;
use crate::script::{Event, TaskScript, Workload};
use crate::{MachineFacts, WorkingSet};

/// Largest set, KiB: 16 GiB.
pub(super) const MAX_KIB: u64 = 16 << 20;

/// The key.
pub(crate) const WORKING_SET: ParameterInfo = parameter(
    "working_set_kib",
    "0..=16777216",
    "0",
    "data that each task which waits for memory goes over, KiB: tasks that share a cache compete \
     for it; 0: the waits are the same wherever the task runs",
);

/// A model whose tasks have working sets.
#[derive(Debug)]
pub(super) struct WithSets<M> {
    model: M,
    /// Of each task that waits for memory; 0: none.
    bytes: u64,
}

/// The model with the sets that its `working_set_kib` says.
pub(super) fn with_sets<M: Model>(
    values: &Values<'_>,
    model: M,
) -> Result<WithSets<M>, WorkloadError> {
    let bytes = 1024 * values.number(WORKING_SET.name, 0..=MAX_KIB)?;
    Ok(WithSets { model, bytes })
}

/// Does it wait for memory?
fn waits(task: &TaskScript) -> bool {
    let mut events = task.phases.iter().flat_map(|phase| &phase.events);
    events.any(|event| matches!(event, Event::Stall { .. }))
}

impl<M: Model> Model for WithSets<M> {
    /// Those of the model itself.
    fn warnings(&self, argument: &str) -> Vec<String> {
        self.model.warnings(argument)
    }

    /// The model's scripts; tasks that wait for memory get a set of so many bytes.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut workload = self.model.expand(argument, seed, machine)?;
        if self.bytes > 0 {
            let bytes = self.bytes;
            for task in workload.tasks.iter_mut().filter(|task| waits(task)) {
                task.attributes.working_set = Some(WorkingSet::Own { bytes });
            }
        }
        Ok(workload)
    }
}

#[cfg(test)]
mod tests {
    use crate::{LoadOptions, MachineFacts, Spec, WorkingSet};

    /// Only who waits for memory has a set, each its own; without the key nobody has.
    #[test]
    fn tasks_that_wait_for_memory_have_a_set() {
        let set_of = |argument: &str, name: &str| {
            let spec = Spec::parse(argument, &LoadOptions::default()).unwrap();
            let load = spec.expand(1, MachineFacts::alike(2)).unwrap();
            let mut tasks = load.tasks.iter();
            let task = tasks.find(|task| task.name == name).expect("there");
            task.attributes.working_set
        };
        let load = "specjbb:warehouses=2,memory=30%,working_set_kib=2";
        let own = Some(WorkingSet::Own { bytes: 2048 });
        assert_eq!(set_of(load, "warehouse-1"), own);
        assert_eq!(set_of(load, "vm"), None, "sleeps and waits");
        assert_eq!(
            set_of("specjbb:warehouses=2,memory=30%", "warehouse-1"),
            None
        );
    }
}

//! What a workload asks of a scheduler that the policy's kernel does not have
//! (docs/decisions/023-rt-app-events.md): the run goes on without it, and says so.

use super::PolicyRuns;
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
    let said = no_hints.into_iter().chain(no_slices);
    said.map(|what| format!("{}: {what}", run.policy)).collect()
}

fn hints(workload: &Workload) -> bool {
    let bound = |min: Option<u16>, max: Option<u16>| {
        min.is_some_and(|min| min > 0) || max.is_some_and(|max| max < 1024)
    };
    workload.tasks.iter().any(|task| {
        let later = |phase: &Phase| bound(phase.change.uclamp_min, phase.change.uclamp_max);
        bound(task.uclamp_min, task.uclamp_max) || task.phases.iter().any(later)
    })
}

fn slices(workload: &Workload) -> bool {
    let own = |slice: Option<u64>| slice.is_some_and(|slice| slice > 0);
    workload.tasks.iter().any(|task| {
        own(task.slice_ns) || task.phases.iter().any(|phase| own(phase.change.slice_ns))
    })
}

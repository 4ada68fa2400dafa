//! What a reader should know of a result before he believes its figures: where its joules come
//! from, and that its tasks wake together (docs/guide/results.md, "What a result holds").
//!
//! What must stay: no figure changes; comparison, study and sweep say the same sentence; a power is
//! modelled where the platform's file marks it so. Words may change. Tests by part:
//! `tasks_that_wake_together_are_told` (`together`, `waking_together`, `period_ns`),
//! `a_power_that_nobody_measured_is_told` (`modelled_power`), `the_hardwares_choice_is_told`
//! (`hardware_clocks`), said.rs::`modelled_joules_say_so_everywhere` (in results).
//!
//! Tests: below, crates/cli/tests/all/said.rs::modelled_joules_say_so_everywhere,
//! crates/cli/tests/all/said.rs::tasks_that_wake_together_are_told

use std::collections::BTreeMap;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Policy;
use wakeplace_workload::{Event, TaskScript, Workload};

/// That joules are a model's, where nobody measured what the CPUs draw.
pub(crate) fn modelled_power(platform: &Platform) -> Option<String> {
    let modelled = platform.modelled_power();
    let of = match (modelled.len(), platform.cpus.len()) {
        (0, _) => return None,
        (some, all) if some < all => format!("{some} of {all} CPUs"),
        _ => "the CPUs".to_owned(),
    };
    Some(format!(
        "the power of {of} of {} is modelled, not measured: energy by it says which CPUs slept and \
         at which clocks others ran, not what a machine drew",
        platform.name
    ))
}

/// That `powersave` is not the lowest clock, where hardware chooses (docs/decisions/059).
pub(crate) fn hardware_clocks<'a>(
    platform: &Platform,
    policies: impl Iterator<Item = &'a Policy>,
) -> Option<String> {
    let own = platform.cpufreq.as_ref()?;
    let mut own_kernels = policies.filter(|policy| policy.tree().is_none());
    own_kernels.any(Policy::leaves_clocks).then(|| {
        format!(
            "governor=powersave is not the lowest clock on {}: under its driver {} hardware \
             chooses the clock by its own load, with the hint {} of 255 (0 performance, 255 \
             energy)",
            platform.name, own.driver, own.preference
        )
    })
}

/// That tasks wake at the same instants, where CPUs are unlike: what is placed first decides for
/// what is placed next, before any of them runs.
pub(crate) fn together(workloads: &[Workload], platform: &Platform) -> Option<String> {
    let capacities = platform.capacities();
    if capacities.iter().all(|capacity| *capacity == capacities[0]) {
        return None;
    }
    // All seeds: where one draws when tasks begin, others do.
    let least = workloads.iter().map(waking_together).min()?;
    (least > 1).then(|| {
        format!(
            "{least} tasks wake at the same nanosecond in every period: the policy places each \
             before the others run, and its figures depend on that; try `start=spread` of the \
             model `periodic`, or `--jitter start=10ms` for files"
        )
    })
}

/// The most tasks that share their first instant and their period.
fn waking_together(workload: &Workload) -> usize {
    let mut alike: BTreeMap<(u64, u64), usize> = BTreeMap::new();
    for task in workload.tasks.iter().filter(|task| task.forks.is_none()) {
        if let Some(period_ns) = period_ns(task) {
            *alike.entry((task.delay_ns, period_ns)).or_default() += 1;
        }
    }
    alike.into_values().max().unwrap_or(0)
}

/// The period of a task that has one.
fn period_ns(task: &TaskScript) -> Option<u64> {
    let mut events = task.phases.iter().flat_map(|phase| &phase.events);
    events.find_map(|event| match event {
        Event::Timer { period_ns, .. } => Some(*period_ns),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::{hardware_clocks, modelled_power, together};
    use crate::experiment::expand;
    use wakeplace_platform::Platform;
    use wakeplace_policy_sys::Policy;
    use wakeplace_workload::{Jitter, LoadOptions, Spec};

    fn said(platform: &str, workload: &str, jitter: Option<&str>) -> Option<String> {
        let platform = Platform::load(platform).unwrap();
        let mut spec = match workload.starts_with('{') {
            true => Spec::parse_rtapp(workload.as_bytes(), "f", &LoadOptions::default()).unwrap(),
            false => Spec::parse(workload, &LoadOptions::default()).unwrap(),
        };
        if let Some(jitter) = jitter {
            spec = spec.with_jitter(Jitter::parse(jitter).unwrap()).unwrap();
        }
        together(&expand(&spec, &platform, &[1, 2]).unwrap(), &platform)
    }

    /// Goal: `periodic` releases its tasks at once unless it is told otherwise, as rt-app does its
    /// threads; where all CPUs are alike it is left unsaid.
    #[test]
    fn tasks_that_wake_together_are_told() {
        let ten = said("rk3588", "periodic", None).unwrap();
        assert!(
            ten.starts_with("10 tasks wake at the same nanosecond"),
            "{ten}"
        );
        let aligned = said("rk3588", "periodic:n=3,phase=5ms", None).unwrap();
        assert!(aligned.starts_with("3 tasks"), "{aligned}");
        for workload in [
            "periodic:start=spread",
            "periodic:n=1",
            "messaging:groups=1",
        ] {
            assert_eq!(said("rk3588", workload, None), None, "{workload}");
        }
        let two = r#"{"tasks": {"a": {"instance": 2, "run": 500,
            "timer": {"ref": "unique", "period": 16000}}}}"#;
        assert!(said("rk3588", two, None).unwrap().starts_with("2 tasks"));
        assert_eq!(said("rk3588", two, Some("start=10ms")), None);
        assert_eq!(said("snb-ep-2s", "periodic", None), None);
    }

    /// Goal: by the source of the table `cpu_power`: modelled in alder-lake-12900k and snb-ep-2s,
    /// published in apple-m1, derived in rk3588, LISA's in juno-r0; sdm845 has measured powers with
    /// points between them, and zen5-9950x no power at all.
    #[test]
    fn a_power_that_nobody_measured_is_told() {
        for (platform, modelled) in [
            ("alder-lake-12900k", true),
            ("snb-ep-2s", true),
            ("apple-m1", false),
            ("rk3588", false),
            ("juno-r0", false),
            ("sdm845", false),
            ("raptor-lake-1370p-nosmt", true),
            ("lunar-lake-258v", true),
            ("zen5-9950x", false),
        ] {
            let note = modelled_power(&Platform::load(platform).unwrap());
            assert_eq!(note.is_some(), modelled, "{platform}: {note:?}");
        }
    }

    /// Goal: one line where hardware chooses, and only there: under `powersave` on a machine with
    /// such a driver, not in the mode that asks for the highest clock.
    #[test]
    fn the_hardwares_choice_is_told() {
        let said = |platform: &str, policy: &str| {
            let platform = Platform::load(platform).unwrap();
            let policy = Policy::parse(policy).unwrap();
            hardware_clocks(&platform, [&policy].into_iter())
        };
        let line = said("alder-lake-12900k", "linux-7.3:governor=powersave").expect("a line");
        assert!(
            line.contains("intel_pstate") && line.contains("128 of 255"),
            "{line}"
        );
        for (platform, policy) in [
            ("hikey960", "linux-7.3:governor=powersave"),
            ("alder-lake-12900k", "linux-7.3"),
            ("alder-lake-12900k", "linux-7.3:governor=performance"),
            (
                "alder-lake-12900k",
                "wakeplace:governor=powersave,mode=performance",
            ),
        ] {
            assert_eq!(said(platform, policy), None, "{platform} {policy}");
        }
    }
}

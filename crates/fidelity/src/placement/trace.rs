//! Wake-ups in a kernel's trace: where jobs began, and how long they waited
//! (docs/results/fidelity.md).
//!
//! What must stay: releases have numbers from the set's start, in whole us; the warm-up does not
//! count. Free: what leaves the tables of pages as they are. Tests by part:
//! `a_wake_up_is_where_the_job_first_ran`, `the_warm_up_is_recorded_and_does_not_count` and
//! `a_release_keeps_its_number_in_whole_microseconds` (`wakeups`); `task` is the tests' own.
//!
//! Callers: guest.rs (`wakeups`), placement/recorded/traced.rs (`wakeups`).
//!
//! Tests: below

use super::agree::Wakeups;
use super::sets::TaskSpec;
use std::collections::BTreeMap;
use std::ops::Range;
use wakeplace_price::waits;
use wakeplace_trace::read::Line;

/// The text form has whole microseconds; a release is taken this much later, so that none is
/// counted as the one before, ns.
const ROUNDING_NS: u64 = 100_000;

/// What a trace shows of each task, in the tasks' order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traced {
    /// Where each release's job first ran after its wake-up in the window.
    pub(crate) wakeups: Vec<Wakeups>,
    /// Where the task first ran since the start.
    pub(crate) first_cpus: Vec<Option<u32>>,
    /// How long each of all wake-ups in the window waited, ns.
    pub(crate) waits_ns: Vec<u64>,
}

/// Reads it for every task with its thread's id.
pub(crate) fn wakeups(
    text: &str,
    start_ns: u64,
    window_ns: &Range<u64>,
    tasks: &[(&TaskSpec, i32)],
) -> Traced {
    let index: BTreeMap<i32, usize> = tasks
        .iter()
        .enumerate()
        .map(|(at, (_, tid))| (*tid, at))
        .collect();
    let mut found = Traced {
        wakeups: vec![Wakeups::new(); tasks.len()],
        first_cpus: vec![None; tasks.len()],
        waits_ns: Vec::new(),
    };
    let switches = text.lines().filter_map(Line::parse);
    let switches = switches.filter(|line| line.name == "sched_switch" && line.time_ns >= start_ns);
    for line in switches {
        let to = line
            .number::<i32>("next_pid")
            .and_then(|tid| index.get(&tid));
        if let Some(&at) = to {
            found.first_cpus[at].get_or_insert(line.context.cpu);
        }
    }
    for wait in waits::all(text, window_ns, |tid| index.contains_key(&tid)) {
        found.waits_ns.push(wait.ns());
        let at = index[&wait.tid];
        let since_start_ns = (wait.since_ns + ROUNDING_NS).saturating_sub(start_ns);
        if let Some(release) = tasks[at].0.release(since_start_ns) {
            found.wakeups[at].insert(release, wait.cpu);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::sets::Step;

    const TRACE: &str = "\
# tracer: nop
     <idle>-0  [005] d.h3.    60.602371: sched_waking: comm=t3 pid=357 prio=120 target_cpu=5
     <idle>-0  [005] dNh4.    60.602386: sched_wakeup: comm=t3 pid=357 prio=120 target_cpu=5
     <idle>-0  [005] d..2.    60.602393: sched_switch: prev_comm=swapper/5 prev_pid=0 \
prev_prio=120 prev_state=R ==> next_comm=t3 next_pid=357 next_prio=120
              t3-357     [005] d..2.    60.606000: sched_switch: prev_comm=t3 prev_pid=357 \
prev_prio=120 prev_state=R ==> next_comm=t4 next_pid=358 next_prio=120
              t4-358     [002] d..2.    60.607000: sched_switch: prev_comm=t4 prev_pid=358 \
prev_prio=120 prev_state=S ==> next_comm=t3 next_pid=357 next_prio=120
         sugov:4-149     [004] .....    60.612221: cpu_frequency: state=1421000 cpu_id=4
     <idle>-0  [001] d.h3.    60.634000: sched_waking: comm=t3 pid=357 prio=120 target_cpu=5
     <idle>-0  [001] d..2.    60.634100: sched_switch: prev_comm=swapper/1 prev_pid=0 \
prev_prio=120 prev_state=R ==> next_comm=t3 next_pid=357 next_prio=120
";

    const ALL: Range<u64> = 0..u64::MAX;

    fn task() -> TaskSpec {
        TaskSpec {
            name: "t3".to_owned(),
            period_ns: 16_000_000,
            delay_ns: 2_000_000,
            steps: vec![Step {
                jobs: None,
                work_ns: 1,
            }],
        }
    }

    #[test]
    fn a_wake_up_is_where_the_job_first_ran() {
        let spec = task();
        // Releases at 60.6004, 60.6164, 60.6324 s.
        let start_ns = 60_598_400_000;
        let found = wakeups(TRACE, start_ns, &ALL, &[(&spec, 357)]);
        // It went on at CPU 2 after a preemption, which is no wake-up.
        assert_eq!(found.wakeups, vec![Wakeups::from([(0, 5), (2, 1)])]);
        assert_eq!(found.waits_ns, [22_000, 100_000]);
        assert_eq!(found.first_cpus, [Some(5)]);
        let nothing = wakeups(TRACE, start_ns, &ALL, &[(&spec, 999)]);
        assert_eq!(nothing.wakeups, vec![Wakeups::new()]);
        assert_eq!((nothing.first_cpus, nothing.waits_ns), (vec![None], vec![]));
    }

    #[test]
    fn the_warm_up_is_recorded_and_does_not_count() {
        let spec = task();
        // The first wake-up is at 60.602371 s, the second at 60.634.
        let window_ns = 60_602_372_000..60_634_001_000;
        let found = wakeups(TRACE, 60_598_400_000, &window_ns, &[(&spec, 357)]);
        assert_eq!(found.wakeups, vec![Wakeups::from([(2, 1)])]);
    }

    #[test]
    fn a_release_keeps_its_number_in_whole_microseconds() {
        let spec = task();
        // Release 0 is at 60.602371400 s, which the trace writes as 60.602371.
        let found = wakeups(TRACE, 60_600_371_400, &ALL, &[(&spec, 357)]);
        assert_eq!(found.wakeups[0].keys().next(), Some(&0));
    }
}

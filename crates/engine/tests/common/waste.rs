//! How long CPUs had nothing to do while others had too much.
//!
//! What must stay: it reads a record and judges nothing. Callers:
//! sanity.rs::`work_is_conserved_within_a_cache`. `longest_waste` is its only function.

use super::record::{Log, What};
use wakeplace_engine::observe::PlacementKind;

/// The longest time in which some CPU had no task and another had two or more, from `from` on: what
/// an era that conserves work bounds.
pub(crate) fn longest_waste(log: &Log, nr_cpus: usize, from: u64) -> u64 {
    let mut cpu_of: Vec<(u32, usize)> = Vec::new(); // runnable tasks
    let (mut since, mut longest) = (None, 0);
    for entry in &log.0 {
        if let Some(since) = since {
            longest = longest.max(entry.at - from.max(since).min(entry.at));
        }
        match entry.what {
            What::Placement(p) if p.kind == PlacementKind::Fork => {
                cpu_of.push((p.task, p.cpu as usize));
            }
            What::Wakeup { task, cpu, .. } => cpu_of.push((task, cpu as usize)),
            What::Migrate { task, to, .. } => {
                let moved = cpu_of.iter_mut().find(|(t, _)| *t == task);
                moved.expect("runnable").1 = to as usize;
            }
            What::Stop {
                task, sleeps: true, ..
            } => cpu_of.retain(|(t, _)| *t != task),
            _ => continue,
        }
        let mut load = vec![0; nr_cpus];
        cpu_of.iter().for_each(|(_, cpu)| load[*cpu] += 1);
        let wasted = load.contains(&0) && load.iter().any(|n| *n > 1);
        since = wasted.then(|| since.unwrap_or(entry.at));
    }
    longest
}

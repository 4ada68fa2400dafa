//! Which tasks a chain has: the first, the last, and those that hand a frame on between them
//! (docs/guide/workloads.md, Deadlines). A file names the first and the last alone.
//!
//! What must stay: the tasks between are those on a shortest way of wake-ups from the first to a
//! last one. A lock hands on nothing. A recording that says its frames itself has no such tasks:
//! what it marks is a frame. Free: how ways are found. Tests by part:
//! `a_chain_has_the_tasks_of_its_shortest_ways` (`Ways`, `steps_from`),
//! `who_is_first_and_last_is_alone` (`chain_tasks`).
//!
//! Callers: crates/engine/src/mechanics/script/measure.rs.
//!
//! Tests: below

use super::events;
use crate::script::{Event, Workload};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The tasks of the frames that a script begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainTasks {
    /// The chain's deadline, ns.
    pub deadline_ns: u64,
    /// Their scripts, ascending; the first one's own is among them.
    pub scripts: Vec<u32>,
}

/// What a task wakes others by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Channel(u32),
    Condition(u32),
    Barrier(u32),
    Fork(u32),
}

/// Who wakes by what, and who is woken by it.
#[derive(Debug, Default)]
struct Ways {
    wakes: BTreeMap<u32, Vec<By>>,
    woken: BTreeMap<u32, Vec<By>>,
    wakers: BTreeMap<By, Vec<u32>>,
    wakees: BTreeMap<By, Vec<u32>>,
}

impl Ways {
    /// Of all scripts.
    fn of(workload: &Workload) -> Self {
        let mut this = Self::default();
        for (at, script) in (0..).zip(&workload.tasks) {
            let (mut wakes, mut woken) = (Vec::new(), Vec::new());
            for event in events(script) {
                match event {
                    Event::Post { channel, .. } => wakes.push(By::Channel(channel)),
                    Event::Wait { channel } => woken.push(By::Channel(channel)),
                    Event::Signal { condition, .. } => wakes.push(By::Condition(condition)),
                    Event::Await { condition, .. } => woken.push(By::Condition(condition)),
                    Event::Fork { task } => wakes.push(By::Fork(task)),
                    Event::Barrier { barrier } => {
                        wakes.push(By::Barrier(barrier));
                        woken.push(By::Barrier(barrier));
                    }
                    _ => {}
                }
            }
            if script.forks.is_some() {
                woken.push(By::Fork(at));
            }
            for (all, of) in [
                (&mut wakes, &mut this.wakers),
                (&mut woken, &mut this.wakees),
            ] {
                all.sort_unstable();
                all.dedup();
                for by in all.iter() {
                    of.entry(*by).or_default().push(at);
                }
            }
            this.wakes.insert(at, wakes);
            this.woken.insert(at, woken);
        }
        this
    }
}

/// How many wake-ups each script that can be reached is away from these. `by`: by what a script
/// wakes, and whom that wakes; or the other way round, to go against the wake-ups.
fn steps_from(
    from: &[u32],
    by: &BTreeMap<u32, Vec<By>>,
    to: &BTreeMap<By, Vec<u32>>,
) -> BTreeMap<u32, u32> {
    let mut steps: BTreeMap<u32, u32> = from.iter().map(|script| (*script, 0)).collect();
    let mut next: VecDeque<u32> = from.iter().copied().collect();
    // Whom one thing wakes is as far away by the first as by all later ones.
    let mut used = BTreeSet::new();
    while let Some(script) = next.pop_front() {
        let after = steps[&script] + 1;
        for by in by.get(&script).into_iter().flatten() {
            if !used.insert(*by) {
                continue;
            }
            for other in to.get(by).into_iter().flatten() {
                steps.entry(*other).or_insert_with(|| {
                    next.push_back(*other);
                    after
                });
            }
        }
    }
    steps
}

/// By script that begins frames when they are due: the tasks that take part in them.
#[must_use]
pub fn chain_tasks(workload: &Workload) -> BTreeMap<u32, ChainTasks> {
    let mut all = BTreeMap::new();
    if workload.chains.is_empty() {
        return all;
    }
    let mut firsts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut lasts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (at, script) in (0..).zip(&workload.tasks) {
        for event in events(script) {
            let (of, chain) = match event {
                Event::FrameBegin { chain, woken: None } => (&mut firsts, chain),
                Event::FrameEnd { chain, .. } => (&mut lasts, chain),
                _ => continue,
            };
            let of = of.entry(chain).or_default();
            if of.last() != Some(&at) {
                of.push(at);
            }
        }
    }
    if firsts.is_empty() {
        return all;
    }
    let ways = Ways::of(workload);
    for (chain, firsts) in firsts {
        let lasts = lasts.get(&chain).map_or(&[][..], Vec::as_slice);
        let to_last = steps_from(lasts, &ways.woken, &ways.wakers);
        for first in firsts {
            let scripts = match to_last.get(&first) {
                // No wake-up leads from it to a last one.
                None => vec![first],
                Some(length) => {
                    let from_first = steps_from(&[first], &ways.wakes, &ways.wakees);
                    let of = |(script, steps): (&u32, &u32)| {
                        let rest = to_last.get(script)?;
                        (steps + rest == *length).then_some(*script)
                    };
                    from_first.iter().filter_map(of).collect()
                }
            };
            let deadline_ns = workload.chains[chain as usize].deadline_ns;
            all.insert(
                first,
                ChainTasks {
                    deadline_ns,
                    scripts,
                },
            );
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::chain_tasks;
    use crate::{LoadOptions, MachineFacts, Spec, Workload};

    fn load(text: &str) -> Workload {
        let spec = Spec::parse_rtapp(text.as_bytes(), "f", &LoadOptions::default());
        let spec = spec.expect("a file");
        spec.expand(1, MachineFacts::alike(4)).expect("it fits")
    }

    /// By first script: its chain's scripts.
    fn scripts(text: &str) -> Vec<(u32, Vec<u32>)> {
        let all = chain_tasks(&load(text)).into_iter();
        all.map(|(first, of)| (first, of.scripts)).collect()
    }

    /// Goal: `ui` wakes `render`, which wakes `raster`: two wake-ups. `ui` wakes `log`, too, and
    /// that wakes `disk`, which wakes `raster`: three, so these two are not of the chain; `other`
    /// wakes `raster` and is woken by nobody.
    #[test]
    fn a_chain_has_the_tasks_of_its_shortest_ways() {
        let timer = r#""timer": {"ref": "unique", "period": 16000}"#;
        let text = format!(
            r#"{{"tasks": {{
                "ui": {{"run": 1, "resume": "render", "resume1": "log", {timer}}},
                "render": {{"suspend": "render", "run": 1, "resume": "raster"}},
                "raster": {{"suspend": "raster", "run": 1}},
                "log": {{"suspend": "log", "run": 1, "resume": "disk"}},
                "disk": {{"suspend": "disk", "run": 1, "resume": "raster"}},
                "other": {{"run": 1, "resume": "raster", {timer}}}}},
                "_deadlines": {{"screen": {{"from": "ui", "to": "raster", "deadline": 20}}}}}}"#
        );
        assert_eq!(scripts(&text), [(0, vec![0, 1, 2])]);
        let all = chain_tasks(&load(&text));
        assert_eq!(all[&0].deadline_ns, 20_000);
    }

    /// Goal: a first task that is the last one, too, waits for nobody, nor for its equals; where no
    /// wake-up leads to the last one, nobody else is known to take part.
    #[test]
    fn who_is_first_and_last_is_alone() {
        let timer = r#""timer": {"ref": "unique", "period": 5000}"#;
        let text = |deadlines: &str| {
            format!(
                r#"{{"tasks": {{"mixer": {{"instance": 2, "run": 1, {timer}}},
                    "other": {{"run": 1, {timer}}}}}{deadlines}}}"#
            )
        };
        let due = |to: &str| {
            let chain = format!(r#"{{"from": "mixer", {to} "deadline": 5000}}"#);
            text(&format!(r#", "_deadlines": {{"sound": {chain}}}"#))
        };
        let alone = [(0, vec![0]), (1, vec![1])];
        assert_eq!(scripts(&due("")), alone);
        assert_eq!(scripts(&due(r#""to": "other","#)), alone);
        assert_eq!(scripts(&text("")), []);
    }
}

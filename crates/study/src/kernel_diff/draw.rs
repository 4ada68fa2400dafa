//! Machines and loads drawn from a seed: threads of cores, nodes, capacities that differ; periodic
//! tasks, groups that send messages, and mixes of all ways to wait (docs/guide/kernel.md, "Beside
//! the policy core").
//!
//! What must stay: the order of draws, as `kernel diff --seed` promises the same machine and load;
//! a new kind changes what every seed draws. Tests by part: `what_is_drawn_can_be_run` (`draw`, all
//! kinds), `what_is_drawn_depends_on_the_seed` (by the command).
//!
//! Tests: below, crates/cli/tests/all/kernel_diff.rs::what_is_drawn_depends_on_the_seed

mod load;
mod machine;

use wakeplace_workload::Stream;

/// A machine and what its tasks do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// What was drawn, in short.
    pub title: String,
    /// The machine, in the form of `platforms/`.
    pub platform: String,
    /// An rt-app file, or the name of a model.
    pub workload: String,
    /// The workload is an rt-app file.
    pub is_rtapp: bool,
    /// How long it runs, ns.
    pub duration_ns: u64,
}

/// Draws them.
#[must_use]
pub fn draw(seed: u64) -> Drawn {
    let mut dice = Dice(Stream::for_task(seed, "kernel diff"));
    let machine = machine::draw(&mut dice);
    let (workload, is_rtapp) = load::draw(&mut dice, machine.cpus);
    Drawn {
        title: format!("{}, {}", machine.title, load::title(&workload, is_rtapp)),
        platform: machine.text,
        workload,
        is_rtapp,
        duration_ns: 1_000_000_000,
    }
}

/// Draws numbers.
struct Dice(Stream);

impl Dice {
    /// From `low` to `high`.
    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// In so many of a hundred cases.
    fn chance(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    /// One of these.
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::{Request, Source};

    /// Goal: what is drawn can be run, and is the same for the same seed. Machines with threads,
    /// nodes and CPUs of several sizes are among them.
    #[test]
    fn what_is_drawn_can_be_run() {
        let (mut threads, mut nodes, mut sizes, mut models) = (0, 0, 0, 0);
        for seed in 0..200 {
            let drawn = draw(seed);
            assert_eq!(drawn, draw(seed));
            let name = "drawn".to_owned();
            let text = drawn.platform.clone();
            let workload = match drawn.is_rtapp {
                true => Source::Text {
                    name: name.clone(),
                    text: drawn.workload.clone(),
                },
                false => Source::named(&drawn.workload),
            };
            let request = Request {
                platforms: vec![Source::Text { name, text }],
                workloads: vec![workload],
                policies: vec!["linux-7.3".to_owned()],
                seeds: vec![seed],
                ..Request::default()
            };
            let matrix = request
                .resolve()
                .unwrap_or_else(|error| panic!("{seed}: {error}"));
            let experiment = &matrix.experiments[0];
            let workload = experiment.first_workload();
            workload.unwrap_or_else(|error| panic!("{seed}: {error}\n{}", drawn.workload));
            let platform = &experiment.platform;
            threads += u32::from(platform.smt.is_some());
            nodes += u32::from(platform.numa.is_some());
            sizes += u32::from(platform.cpus.iter().any(|cpu| cpu.capacity < 1024));
            models += u32::from(drawn.platform.contains("cpu_uw"));
        }
        let all = [threads, nodes, sizes, models];
        assert!(all.iter().all(|count| *count > 20), "{all:?}");
    }
}

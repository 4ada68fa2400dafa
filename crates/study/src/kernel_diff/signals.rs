//! Signals: how many were compared, what differs, and the examples that are kept
//! (docs/rules/README.md#signal-by-signal).
//!
//! What must stay: keys of the JSON (`crates/outcome` has them); of each kind the smallest machine
//! and queue is kept as the example; shares are percent of what was compared, kinds stand by
//! `SignalKind::ALL`, differences by frequency. Tests by part: `a_broken_signal_is_found` (`take`,
//! `found`, `outcome`, where a tree is built), `the_cores_signals_are_the_kernels` (`kinds`,
//! `differ_pct`).
//!
//! Tests: crates/cli/tests/all/kernel_diff.rs::a_broken_signal_is_found,
//! crates/cli/tests/all/kernel_diff.rs::the_cores_signals_are_the_kernels

use crate::Experiment;
use std::collections::BTreeMap;
use wakeplace_engine::{Compared, Figure, SignalKind, Updated};
use wakeplace_outcome as outcome;

/// Differ alike: the same figures of the same kind.
type Kind = (SignalKind, Vec<&'static str>);

/// How small an example is: CPUs of the machine, tasks of the queue, the time.
type Size = (usize, u32, u64);

/// Differences in the same figures.
#[derive(Clone, Debug)]
pub struct SignalFound {
    /// What was compared.
    pub kind: SignalKind,
    /// How many.
    pub count: u64,
    /// Where the smallest is: the machine.
    pub platform: String,
    /// Its load.
    pub workload: String,
    /// Its seed.
    pub seed: u64,
    /// When, ns.
    pub time_ns: u64,
    /// Of which CPU.
    pub cpu: u32,
    /// The figures that differ there.
    pub differ: Vec<Figure>,
    /// All that the tree told.
    pub updated: Updated,
    size: Size,
}

/// All that was compared.
#[derive(Clone, Debug, Default)]
pub struct SignalTally {
    counts: Vec<u64>,
    found: BTreeMap<Kind, SignalFound>,
}

impl SignalTally {
    /// A comparison in which something differs.
    pub(super) fn take(
        &mut self,
        of: &Experiment,
        time_ns: u64,
        updated: &Updated,
        compared: &Compared,
    ) {
        let mut names: Vec<_> = compared.differ.iter().map(|of| of.name).collect();
        names.sort_unstable();
        names.dedup();
        let (cpu, tasks) = match updated {
            Updated::Signal(of) => (of.cpu, of.queue.nr_fair),
            Updated::Freq(of) => (of.asked.cpu, of.cpus.iter().map(|of| of.nr_fair).sum()),
            Updated::Turn(of) => (of.cpu, of.entities.len() as u32),
            Updated::Balance(of) => {
                let queued = of.choices.iter().map(|of| of.nr_running);
                (of.attempt.cpu, queued.sum())
            }
        };
        let size = (of.platform.cpus.len(), tasks, time_ns);
        let key = (compared.kind, names);
        let mut count = 1;
        if let Some(found) = self.found.get_mut(&key) {
            found.count += 1;
            if found.size <= size {
                return;
            }
            count = found.count;
        }
        let found = SignalFound {
            kind: compared.kind,
            count,
            platform: of.platform.name.clone(),
            workload: of.workload.name.clone(),
            seed: of.seeds[0],
            time_ns,
            cpu,
            differ: compared.differ.clone(),
            updated: updated.clone(),
            size,
        };
        self.found.insert(key, found);
    }

    /// A run is over, in which so many of each kind were compared.
    pub(super) fn ended(&mut self, counts: &[u64]) {
        self.counts.resize(SignalKind::ALL.len(), 0);
        for (all, count) in self.counts.iter_mut().zip(counts) {
            *all += count;
        }
    }

    /// Each kind: how many were compared, and how many differ.
    #[must_use]
    pub fn kinds(&self) -> Vec<outcome::SignalKind> {
        let kind = |kind: &SignalKind| {
            let found = self.found.values().filter(|found| found.kind == *kind);
            let differ = found.map(|found| found.count).sum();
            let compared = self.counts.get(*kind as usize).copied().unwrap_or(0);
            outcome::SignalKind {
                kind: kind.name().to_owned(),
                compared,
                differ,
                share_pct: 100.0 * differ as f64 / compared.max(1) as f64,
            }
        };
        SignalKind::ALL.iter().map(kind).collect()
    }

    /// Of the kind that differs most, percent.
    #[must_use]
    pub fn differ_pct(&self) -> f64 {
        let shares = self.kinds().into_iter().map(|of| of.share_pct);
        shares.fold(0.0, f64::max)
    }

    /// What differs, the most frequent first.
    #[must_use]
    pub fn found(&self) -> Vec<&SignalFound> {
        let mut found: Vec<&SignalFound> = self.found.values().collect();
        found.sort_by_key(|found| std::cmp::Reverse(found.count));
        found
    }

    /// As results have it.
    pub(super) fn outcome(&self) -> (Vec<outcome::SignalKind>, Vec<outcome::SignalDiff>) {
        let found = self.found().into_iter().map(SignalFound::outcome);
        (self.kinds(), found.collect())
    }
}

impl SignalFound {
    /// As results have it.
    fn outcome(&self) -> outcome::SignalDiff {
        let figure = |of: &Figure| outcome::SignalFigure {
            name: of.name.to_owned(),
            before: of.before,
            tree: of.tree,
            core: of.core,
        };
        outcome::SignalDiff {
            kind: self.kind.name().to_owned(),
            count: self.count,
            platform: self.platform.clone(),
            workload: self.workload.clone(),
            seed: self.seed,
            time_ns: self.time_ns,
            cpu: self.cpu,
            figures: self.differ.iter().map(figure).collect(),
            told: format!("{:?}", self.updated),
        }
    }
}

//! The Pareto front of two metrics, and the point that is chosen (docs/guide/report.md, "Sweeps").
//!
//! What must stay: a point is on the front if no other of its group is better in one metric and not
//! worse in the other; the chosen point is the front's nearest to the corner of both bests, each
//! metric scaled to the front; the first of several counts. Where the sweep says which points were
//! chosen, it is those. Tests by part: `the_front_is_by_hand` (`front`, `chosen`),
//! `a_page_says_what_was_chosen` (`of`), `what_is_expected_comes_first` (`has_chosen`).
//!
//! Tests: crates/report/src/html/sweep/tests.rs

use super::once;
use super::points::Sweep;
use std::collections::BTreeMap;
use wakeplace_metrics::{Better, find_metric};

/// What two metrics cost each other.
pub(super) struct Front {
    /// Places of the two metrics.
    pub(super) metrics: (usize, usize),
    pub(super) groups: Vec<Group>,
    /// Some group has several points.
    several: bool,
    /// What each point is: chosen, of the front, or nothing.
    words: Vec<&'static str>,
}

/// Points of one machine and load: others are not weighed against each other.
pub(super) struct Group {
    pub(super) name: String,
    /// Those on the front, by the first metric.
    pub(super) front: Vec<usize>,
    /// By conditions where the sweep has some, else nearest to the corner; None: no point holds.
    pub(super) chosen: Option<usize>,
}

impl Front {
    /// Of these two metrics.
    pub(super) fn of(sweep: &Sweep, x: usize, y: usize) -> Self {
        // What is better is less.
        let signed = |metric: usize, value: f64| {
            let def = find_metric(&sweep.metrics[metric]);
            match def.map(|def| def.better) {
                Ok(Better::Higher) => -value,
                _ => value,
            }
        };
        let cost = |at: usize| {
            let point = &sweep.points[at];
            Some([signed(x, point.mean(x)?), signed(y, point.mean(y)?)])
        };
        let names: Vec<String> = { sweep.points.iter() }
            .map(|point| sweep.group(point))
            .collect();
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate() {
            members.entry(name.as_str()).or_default().push(at);
        }
        let group = |name: &&str| {
            let own = members[*name].iter().copied();
            let own: Vec<(usize, [f64; 2])> = own.filter_map(|at| Some((at, cost(at)?))).collect();
            let front = front(&own);
            let nearest = chosen(&front)?;
            let chosen = match &sweep.result.choice {
                None => Some(nearest),
                Some(_) => members[*name]
                    .iter()
                    .copied()
                    .find(|at| sweep.points[*at].is_chosen),
            };
            Some(Group {
                name: (*name).to_owned(),
                front: front.into_iter().map(|(at, _)| at).collect(),
                chosen,
            })
        };
        let all = once(names.iter());
        let groups: Vec<Group> = all.iter().filter_map(group).collect();
        let mut words = vec![""; names.len()];
        for group in &groups {
            group.front.iter().for_each(|at| words[*at] = "front");
            if let Some(at) = group.chosen {
                words[at] = "chosen";
            }
        }
        Self {
            metrics: (x, y),
            groups,
            words,
            several: all.len() < names.len(),
        }
    }

    /// Some point had a choice.
    pub(super) fn is_one(&self) -> bool {
        self.several
    }

    /// A point was chosen.
    pub(super) fn has_chosen(&self) -> bool {
        self.groups.iter().any(|group| group.chosen.is_some())
    }

    /// What a point is.
    pub(super) fn word(&self, point: usize) -> &'static str {
        self.words[point]
    }
}

/// Those that none is better than, by the first cost.
pub(super) fn front(all: &[(usize, [f64; 2])]) -> Vec<(usize, [f64; 2])> {
    let mut sorted: Vec<(usize, [f64; 2])> = all.to_vec();
    sorted.sort_by(|(a, one), (b, other)| {
        let both = one[0]
            .total_cmp(&other[0])
            .then(one[1].total_cmp(&other[1]));
        both.then(a.cmp(b))
    });
    let mut front: Vec<(usize, [f64; 2])> = Vec::new();
    for (at, cost) in sorted {
        let last = front.last().map(|(_, last)| *last);
        if last.is_none_or(|last| cost[1] < last[1] || cost == last) {
            front.push((at, cost));
        }
    }
    front
}

/// The one nearest to the corner where both costs are the least of the front's.
pub(super) fn chosen(front: &[(usize, [f64; 2])]) -> Option<usize> {
    let ends = |metric: usize| {
        let all = || front.iter().map(|(_, cost)| cost[metric]);
        (
            all().fold(f64::INFINITY, f64::min),
            all().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let ends = [ends(0), ends(1)];
    let distance = |cost: &[f64; 2]| -> f64 {
        let part = |metric: usize| {
            let (least, most) = ends[metric];
            match most > least {
                true => (cost[metric] - least) / (most - least),
                false => 0.0,
            }
        };
        part(0).powi(2) + part(1).powi(2)
    };
    let mut best: Option<(usize, f64)> = None;
    for (at, cost) in front {
        let own = distance(cost);
        if best.is_none_or(|(_, least)| own < least) {
            best = Some((*at, own));
        }
    }
    best.map(|(at, _)| at)
}

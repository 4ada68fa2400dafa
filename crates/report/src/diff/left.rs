//! Which runs of two results belong together (docs/guide/results.md, "Two results").
//!
//! What must stay: names before likeness, so that a renamed policy still finds its partner; a run
//! has at most one partner, and none where two are as like; the order of pairs is that of the later
//! result (`diff.rs`). Free: words for people that no test quotes. Tests by part:
//! `runs_of_one_seed_are_a_pair` and `what_has_one_name_is_told_by_its_inputs` (`by_name`),
//! `the_most_alike_are_a_pair` (`by_likeness`, `alone`).
//!
//! Tests: crates/report/src/diff/tests.rs

use super::kept::Kept;
use std::collections::{BTreeMap, VecDeque};
use wakeplace_text::printable;

/// Most pairs of results that are looked through for what is alike in some names only.
const MOST_LOOKED_AT: usize = 100_000;

/// What has no pair yet, before and after.
pub(super) struct Left(pub(super) [Vec<Kept>; 2]);

impl Left {
    /// Those whose names are all the same, in the order of the later result. Of several with one
    /// name those of the same inputs are a pair, then the first with the first.
    pub(super) fn by_name(&mut self) -> Vec<(Kept, Kept)> {
        let name = |of: &Kept| of.names().map(str::to_owned);
        let mut olds: BTreeMap<[String; 3], VecDeque<Kept>> = BTreeMap::new();
        for old in std::mem::take(&mut self.0[0]) {
            olds.entry(name(&old)).or_default().push_back(old);
        }
        let news = std::mem::take(&mut self.0[1]);
        let alike = |new: &Kept| {
            let own = olds.get_mut(&name(new))?;
            let at = own.iter().position(|old| old.same_inputs(new))?;
            own.remove(at)
        };
        let partners: Vec<Option<Kept>> = news.iter().map(alike).collect();
        let mut pairs = Vec::new();
        for (new, partner) in news.into_iter().zip(partners) {
            let next = || olds.get_mut(&name(&new)).and_then(VecDeque::pop_front);
            match partner.or_else(next) {
                Some(old) => pairs.push((old, new)),
                None => self.0[1].push(new),
            }
        }
        self.0[0] = olds.into_values().flatten().collect();
        pairs
    }

    /// Those of which so many names are the same, if that is so of no other one on either side.
    pub(super) fn by_likeness(&mut self, alike: usize) -> Vec<(Kept, Kept)> {
        let [olds, news] = &self.0;
        if olds.len() * news.len() > MOST_LOOKED_AT {
            return Vec::new();
        }
        let of = |one: &Kept, others: &[Kept]| -> Vec<usize> {
            let found = others
                .iter()
                .enumerate()
                .filter(|(_, other)| one.alike(other) == alike);
            found.map(|(at, _)| at).collect()
        };
        let mut found = Vec::new();
        for (at, new) in news.iter().enumerate() {
            if let [old] = of(new, olds)[..]
                && of(&olds[old], news) == [at]
            {
                found.push((old, at));
            }
        }
        let mut sides = std::mem::take(&mut self.0).map(|side| {
            let side = side.into_iter().map(Some);
            side.collect::<Vec<_>>()
        });
        let mut take = |side: usize, at: usize| sides[side][at].take();
        let pairs = found
            .into_iter()
            .filter_map(|(old, new)| take(0, old).zip(take(1, new)));
        let pairs = pairs.collect();
        self.0 = sides.map(|side| side.into_iter().flatten().collect());
        pairs
    }

    /// A line for each that has no partner, naming the file that it is in.
    pub(super) fn alone(&self, files: [&str; 2]) -> Vec<String> {
        let sides = self.0.iter().zip(files);
        let lines = sides.flat_map(|(side, file)| {
            let line =
                move |of: &Kept| printable(&format!("only in {file}: {}", of.named())).into();
            side.iter().map(line)
        });
        lines.collect()
    }
}

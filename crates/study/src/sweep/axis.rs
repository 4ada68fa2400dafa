//! What is varied: `KEY=FROM..TO:STEPS` or `KEY=A,B,C`, and the points that a design takes of it
//! (docs/guide/results.md, "Sweeps"). The same words give the same points everywhere: workers count
//! on it.
//!
//! What must stay: the last axis changes fastest; the same words give the same points, since
//! workers count on it: a change of `permuted` or of how a number is written moves the points, and
//! stores of before no longer fit. Tests by part: `a_grid_has_every_value_with_every_other`
//! (`point`, `at`, `part`), `a_hypercube_has_one_point_in_every_part` (`permuted`),
//! `no_point_stands_twice` (`distinct`, `values_between`), `what_is_no_axis_is_named` (`parse`,
//! `span`, `no_number`, `points`).
//!
//! Tests: below

use crate::StudyError;
use std::collections::BTreeSet;
use wakeplace_text::{parse_duration_ns, shorten};
use wakeplace_workload::Stream;

/// Something that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// `platform`, `workload`, `policy`, `duration`, `jitter`, `workload.KEY`, `platform.PATH`,
    /// `task.NAME.util_min`, `model.KEY`, or a parameter of the policies.
    pub key: String,
    /// Its values.
    pub range: Range,
}

/// The values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// These.
    List(Vec<String>),
    /// Numbers at equal distances from one to another, both included; whole if both ends are and
    /// the text says so.
    Span {
        /// First.
        from: f64,
        /// Last.
        to: f64,
        /// How many, each another value; None: only a Latin hypercube can draw from it.
        steps: Option<usize>,
        /// Only whole numbers.
        whole: bool,
    },
}

/// Which points are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Every value with every other.
    Grid,
    /// So many points, each value of an axis as often as any other (McKay, Beckman and Conover,
    /// 1979), drawn by a seed.
    LatinHypercube {
        /// Points.
        points: usize,
        /// Seed of the draw.
        seed: u64,
    },
}

/// Most values of one axis, and points of a hypercube.
const MOST: usize = 1_000_000;

impl Axis {
    /// `KEY=FROM..TO:STEPS`, `KEY=FROM..TO` (for a Latin hypercube) or `KEY=A,B,C`.
    ///
    /// # Errors
    /// What is wrong and what was expected.
    pub fn parse(text: &str) -> Result<Self, StudyError> {
        match text.split_once('=') {
            Some((key, values)) if !key.trim().is_empty() && !values.trim().is_empty() => {
                Self::of(key.trim(), values.trim())
            }
            _ => Err(wrong(text, "it is no KEY=VALUES".to_owned())),
        }
    }

    /// The axis of a key, with its values as text.
    ///
    /// # Errors
    /// As [`Axis::parse`].
    pub fn of(key: &str, values: &str) -> Result<Self, StudyError> {
        let range = match values.split_once("..") {
            Some((from, rest)) => Range::span(from, rest).map_err(|why| wrong(key, why))?,
            None => Range::List(values.split(',').map(|v| v.trim().to_owned()).collect()),
        };
        Self::checked(key, range)
    }

    /// The axis of a key with values that may hold commas.
    ///
    /// # Errors
    /// An empty value or one that stands twice.
    pub fn list(key: &str, values: Vec<String>) -> Result<Self, StudyError> {
        Self::checked(key, Range::List(values))
    }

    /// An axis whose values are there and differ.
    fn checked(key: &str, range: Range) -> Result<Self, StudyError> {
        if let Range::List(values) = &range {
            if values.is_empty() || values.iter().any(String::is_empty) {
                return Err(wrong(key, "a value is empty".to_owned()));
            }
            let twice = |at: &usize| values[..*at].contains(&values[*at]);
            if let Some(at) = (0..values.len()).find(twice) {
                return Err(wrong(
                    key,
                    format!("`{}` stands twice", shorten(&values[at])),
                ));
            }
        }
        Ok(Self {
            key: key.to_owned(),
            range,
        })
    }

    /// The values that are known: of a list, and of a range with steps.
    pub(super) fn values(&self) -> Vec<String> {
        let many = self.len().unwrap_or(0);
        (0..many).map(|index| self.at(index)).collect()
    }

    /// How many values a grid takes.
    fn len(&self) -> Result<usize, StudyError> {
        match &self.range {
            Range::List(values) => Ok(values.len()),
            Range::Span { steps: Some(n), .. } => Ok(*n),
            Range::Span { .. } => Err(wrong(
                &self.key,
                "a range without a number of steps; a grid needs FROM..TO:STEPS".to_owned(),
            )),
        }
    }

    /// A value of the grid.
    fn at(&self, index: usize) -> String {
        match &self.range {
            Range::List(values) => values[index].clone(),
            Range::Span { steps, .. } => {
                let last = steps.unwrap_or(1).saturating_sub(1).max(1);
                self.part(index as f64 / last as f64)
            }
        }
    }

    /// The value at a part of the way, 0 to 1.
    fn part(&self, part: f64) -> String {
        match &self.range {
            Range::List(values) => {
                let at = (part * values.len() as f64) as usize;
                values[at.min(values.len() - 1)].clone()
            }
            Range::Span {
                from, to, whole, ..
            } => {
                let value = from + (to - from) * part;
                match whole {
                    // No "-0", which is 0.
                    true => format!("{:.0}", value.round() + 0.0),
                    // Nine digits: what a step's rounding leaves is no part of it.
                    false => {
                        let text = format!("{value:.9}");
                        let text = text.trim_end_matches('0').trim_end_matches('.');
                        if text == "-0" { "0" } else { text }.to_owned()
                    }
                }
            }
        }
    }
}

impl Range {
    /// A range of numbers with its steps.
    fn span(from: &str, rest: &str) -> Result<Self, String> {
        let (to, steps) = match rest.split_once(':') {
            Some((to, steps)) => (to, Some(steps)),
            None => (rest, None),
        };
        let number = |text: &str| {
            let number = text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
            number.ok_or_else(|| no_number(text.trim(), [from.trim(), to.trim()]))
        };
        let steps = match steps.map(|s| s.trim().parse::<usize>()) {
            None => None,
            Some(Ok(n)) if (2..=MOST).contains(&n) => Some(n),
            Some(_) => return Err(format!("the number of steps is not 2 to {MOST}")),
        };
        let is_whole = |text: &str| text.trim().parse::<i64>().is_ok();
        let whole = is_whole(from) && is_whole(to);
        let (from, to) = (number(from)?, number(to)?);
        let span = Self::Span {
            from,
            to,
            steps: steps.map(|steps| steps.min(values_between(from, to, whole))),
            whole,
        };
        Ok(span)
    }
}

/// Why an end of a span is none, and how to write what is meant.
fn no_number(text: &str, ends: [&str; 2]) -> String {
    let [from, to] = ends.map(shorten);
    let text = shorten(text);
    let has_unit = |end: &str| end.ends_with('%') || parse_duration_ns(end).is_ok();
    match ends.iter().any(|end| has_unit(end)) {
        true => format!(
            "`{text}` is no number; a range has no units: expected the values one by one, as \
             `{from},{to}`"
        ),
        false => format!("`{text}` is no number"),
    }
}

/// Values that a span has as they are written: more steps would have some of them twice.
fn values_between(from: f64, to: f64, whole: bool) -> usize {
    let finest = if whole { 1.0 } else { 1e-9 };
    (((to - from).abs() / finest).round() as usize).saturating_add(1)
}

impl Design {
    /// Points that it takes of the axes.
    ///
    /// # Errors
    /// A range of unknown length in a grid; too many points.
    pub fn points(self, axes: &[Axis]) -> Result<usize, StudyError> {
        let points = match self {
            Self::LatinHypercube { points, .. } => Some(points),
            Self::Grid => {
                let mut all = Some(1_usize);
                for axis in axes {
                    let n = axis.len()?;
                    all = all.and_then(|all| all.checked_mul(n));
                }
                all
            }
        };
        let fits = points.filter(|n| (1..=MOST).contains(n));
        fits.ok_or_else(|| wrong("the sweep", format!("it has not 1 to {MOST} points")))
    }

    /// The values of a point, in the order of the axes.
    #[must_use]
    pub fn point(self, axes: &[Axis], index: usize) -> Vec<String> {
        match self {
            Self::Grid => {
                // The last axis changes fastest.
                let mut left = index;
                let mut values: Vec<String> = Vec::with_capacity(axes.len());
                for axis in axes.iter().rev() {
                    let n = axis.len().unwrap_or(1).max(1);
                    values.push(axis.at(left % n));
                    left /= n;
                }
                values.reverse();
                values
            }
            Self::LatinHypercube { points, seed } => {
                let of = |axis: &Axis| {
                    let stratum = permuted(points, seed, &axis.key, index);
                    let mut draw = Stream::for_task(seed, &format!("{} {index}", axis.key));
                    let within = draw.below(1 << 20) as f64 / f64::from(1 << 20);
                    axis.part((stratum as f64 + within) / points as f64)
                };
                axes.iter().map(of).collect()
            }
        }
    }
}

/// The points whose values no point before them has; None: all are of that kind, as in a grid,
/// whose axes have each value once.
pub(super) fn distinct(design: Design, axes: &[Axis], points: usize) -> Option<Vec<usize>> {
    if design == Design::Grid {
        return None;
    }
    let mut known = BTreeSet::new();
    let first = |index: &usize| known.insert(design.point(axes, *index));
    let firsts: Vec<usize> = (0..points).filter(first).collect();
    (firsts.len() < points).then_some(firsts)
}

/// Place of `index` in a random order of `0..n`, without a list of them: four rounds of a Feistel
/// network on the smallest square that holds n, walked until the place is one of the n.
fn permuted(n: usize, seed: u64, name: &str, index: usize) -> usize {
    let mut side = 1_u64;
    while side * side < n as u64 {
        side += 1;
    }
    let mut keys = Stream::for_task(seed, name);
    let keys: [u64; 4] = std::array::from_fn(|_| keys.next_u64());
    let mut at = index as u64;
    loop {
        let (mut left, mut right) = (at / side, at % side);
        for key in keys {
            let mixed = Stream::for_task(key, "round").next_u64()
                ^ right.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let round = Stream::for_task(mixed, "round").below(side);
            (left, right) = (right, (left + round) % side);
        }
        at = left * side + right;
        if at < n as u64 {
            return at as usize;
        }
    }
}

/// The refusal of an axis, with what was typed, shortened.
fn wrong(what: &str, why: String) -> StudyError {
    StudyError::Vary {
        what: shorten(what),
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Design, distinct};
    use std::collections::BTreeSet;

    fn axes(texts: &[&str]) -> Vec<Axis> {
        texts
            .iter()
            .map(|text| Axis::parse(text).expect(text))
            .collect()
    }

    #[test]
    fn a_grid_has_every_value_with_every_other() {
        let axes = axes(&["a=1100..1300:5", "b=x,y", "c=0.1..0.2:3"]);
        let points = Design::Grid.points(&axes).unwrap();
        assert_eq!(points, 30);
        let at = |index| Design::Grid.point(&axes, index).join(" ");
        assert_eq!(at(0), "1100 x 0.1");
        assert_eq!(at(1), "1100 x 0.15");
        assert_eq!(at(3), "1100 y 0.1");
        assert_eq!(at(6), "1150 x 0.1");
        assert_eq!(at(29), "1300 y 0.2");
        let all: BTreeSet<_> = (0..points).map(at).collect();
        assert_eq!(all.len(), points);
    }

    /// Goal: each of the n equal parts of an axis has one point, as the design's name says.
    #[test]
    fn a_hypercube_has_one_point_in_every_part() {
        let axes = axes(&["a=0..1000", "b=0.0..1.0", "c=x,y"]);
        for (points, seed) in [(1, 1), (7, 1), (100, 2), (101, 3)] {
            let design = Design::LatinHypercube { points, seed };
            assert_eq!(design.points(&axes).unwrap(), points);
            let mut parts = BTreeSet::new();
            let mut words = 0;
            for index in 0..points {
                let values = design.point(&axes, index);
                let value: f64 = values[1].parse().unwrap();
                parts.insert((value * points as f64) as usize);
                words += usize::from(values[2] == "x");
                assert_eq!(values, design.point(&axes, index));
            }
            assert_eq!(parts.len(), points, "{points} points");
            assert!(words.abs_diff(points / 2) <= 1, "{words} of {points}");
        }
        let of = |seed| Design::LatinHypercube { points: 50, seed }.point(&axes, 3);
        assert_ne!(of(1), of(2));
    }

    /// Goal: more steps than there are values make no point twice.
    #[test]
    fn no_point_stands_twice() {
        for (text, values) in [
            ("a=1..2:9", "1 2"),
            ("a=2..-1:100", "2 1 0 -1"),
            ("a=3..3:5", "3"),
            ("a=0.5..0.5:5", "0.5"),
            ("a=1..9:3", "1 5 9"),
            ("a=1..2.0:3", "1 1.5 2"),
        ] {
            let axes = axes(&[text]);
            let points = Design::Grid.points(&axes).unwrap();
            let all = (0..points).map(|at| Design::Grid.point(&axes, at).join(" "));
            assert_eq!(all.collect::<Vec<_>>().join(" "), values, "{text}");
        }
        let axes = axes(&["a=1..3", "b=x,y"]);
        let design = |points| Design::LatinHypercube { points, seed: 1 };
        let firsts = distinct(design(60), &axes, 60).expect("some stand twice");
        let all: BTreeSet<_> = firsts
            .iter()
            .map(|at| design(60).point(&axes, *at))
            .collect();
        assert_eq!((firsts.len(), all.len()), (6, 6));
        assert_eq!(distinct(design(1), &axes, 1), None);
    }

    #[test]
    fn what_is_no_axis_is_named() {
        let error = |text: &str| Axis::parse(text).expect_err(text).to_string();
        for (text, said) in [
            ("a", "no KEY=VALUES"),
            ("=1", "no KEY=VALUES"),
            ("a=", "no KEY=VALUES"),
            ("a=1,,2", "a value is empty"),
            ("a=1,1", "`1` stands twice"),
            ("a=1..x:3", "`x` is no number"),
            (
                "a=5%..20%:4",
                "`5%` is no number; a range has no units: expected the values one by one, as \
                 `5%,20%`",
            ),
            ("a=1..20ms:4", "as `1,20ms`"),
            ("a=1..2:1", "not 2 to"),
            ("a=1..2:-1", "not 2 to"),
        ] {
            assert!(error(text).contains(said), "{text}: {}", error(text));
        }
        let open = axes(&["a=1..2"]);
        let error = Design::Grid.points(&open).unwrap_err().to_string();
        assert!(error.contains("FROM..TO:STEPS"), "{error}");
        let many = axes(&["a=1..99999:100000", "b=1..99999:100000"]);
        assert!(Design::Grid.points(&many).is_err());
    }
}

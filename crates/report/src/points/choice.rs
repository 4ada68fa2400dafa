//! The point of a sweep that is chosen: the best of a metric or of a varied key among those that
//! hold all conditions (docs/guide/results.md, "Sweeps").
//!
//! What must stay: points of each machine and load are chosen among by themselves; a point that
//! does not hold all conditions for sure is not chosen; the first of several counts. Free: the
//! words of sentences. Tests by part: `the_best_of_those_that_hold_is_chosen` (`made`, `cost`,
//! `sentence`), `what_can_be_chosen_by` (`of`, `usual`, `number`).
//!
//! What a choice leaves open is `beside`'s, what the chosen point measured `figures`', of how many
//! frames a choice is made `frames`'.
//!
//! Callers: html/sweep/drawn.rs (`number`), html/sweep/answer.rs (`sentence`).
//!
//! Tests: crates/report/src/points/tests.rs

mod beside;
mod figures;
mod frames;

pub(crate) use figures::{headline, told};
pub(super) use frames::Frames;

use super::{Row, Shape};
use std::collections::BTreeMap;
use wakeplace_metrics::{Better, Expectation, find_metric};
use wakeplace_outcome::{ChosenPoint, SweepChoice};
use wakeplace_study::is_of_load;
use wakeplace_text::{count, did_you_mean, nearest, parse_duration_or_zero_ns, shorten};

/// By what a point is chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    by: String,
    /// It is a varied key, and no metric.
    of_key: bool,
    /// Most is best.
    most: bool,
    /// What chosen points hold, for what is said beside them.
    conditions: Vec<Expectation>,
    /// The metrics by which it counts frames.
    frames: Vec<frames::OfFrames>,
}

impl Choice {
    /// By a metric or one of the varied keys; of a key, and of a metric that is neither good nor
    /// bad, the least is best.
    ///
    /// # Errors
    /// It is neither; the message has the nearest.
    pub fn of(name: &str, labels: &[String]) -> Result<Self, String> {
        if labels.iter().any(|label| label == name) {
            return Ok(Self::by(name, true, false));
        }
        match find_metric(name) {
            Ok(def) => Ok(Self::by(name, false, def.better == Better::Higher)),
            Err(error) => {
                let near = nearest(name, labels.iter().map(String::as_str));
                let keys = labels.join(", ");
                Err(match near {
                    Some(_) => format!(
                        "`{}` is no metric and not varied; expected a metric, or one of {keys}{}",
                        shorten(name),
                        did_you_mean(near)
                    ),
                    None => format!("{error}; or one of what is varied: {keys}"),
                })
            }
        }
    }

    /// Without conditions.
    fn by(name: &str, of_key: bool, most: bool) -> Self {
        let choice = Self {
            by: name.to_owned(),
            of_key,
            most,
            conditions: Vec::new(),
            frames: Vec::new(),
        };
        choice.among(&[])
    }

    /// The first of these metrics that is good or bad; None: none is.
    #[must_use]
    pub fn usual(metrics: &[String]) -> Option<Self> {
        let is_judged =
            |name: &&String| find_metric(name).is_ok_and(|def| def.better != Better::Neither);
        let first = metrics.iter().find(is_judged)?;
        Self::of(first, &[]).ok()
    }

    /// The same among points that are judged by these conditions.
    #[must_use]
    pub fn among(self, conditions: &[Expectation]) -> Self {
        let choice = Self {
            conditions: conditions.to_vec(),
            ..self
        };
        let frames = frames::of(&choice);
        Self { frames, ..choice }
    }

    /// A key can be chosen by if all of its values are such: numbers, percentages, or times.
    #[must_use]
    pub fn is_value(text: &str) -> bool {
        quantity(text).is_some()
    }

    /// The metric, if it is one.
    #[must_use]
    pub fn metric(&self) -> Option<&str> {
        (!self.of_key).then_some(self.by.as_str())
    }

    /// What of a point is to be least; None: it has no value.
    fn cost(&self, shape: &Shape, row: &Row) -> Option<f64> {
        if self.of_key {
            let at = shape.names.iter().position(|name| *name == self.by)?;
            return quantity(&row.names[at]);
        }
        let at = shape.metrics.iter().position(|name| *name == self.by)?;
        let (mean, _) = row.figures.get(at).copied().flatten()?;
        Some(if self.most { -mean } else { mean })
    }

    /// What is chosen of these points, and what to know before believing it.
    pub(super) fn made(&self, shape: &Shape, rows: &[Row]) -> (SweepChoice, Vec<String>) {
        let mut groups: Vec<ChosenPoint> = Vec::new();
        let mut best: Vec<f64> = Vec::new();
        let mut members: Vec<Vec<&Row>> = Vec::new();
        let mut places: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        let load: Vec<usize> = (0..shape.names.len())
            .filter(|at| is_of_load(&shape.names[*at]))
            .collect();
        let differs = |at: &usize| {
            let first = rows.first().map(|row| shape.told(row, *at));
            rows.iter().any(|row| Some(shape.told(row, *at)) != first)
        };
        let told: Vec<usize> = load.iter().copied().filter(differs).collect();
        for (number, row) in rows.iter().enumerate() {
            let key: Vec<String> = told.iter().map(|at| shape.told(row, *at)).collect();
            let next = groups.len();
            let place = *places.entry(key.clone()).or_insert(next);
            if place == next {
                let parts = told.iter().zip(&key);
                let parts = parts.map(|(at, value)| super::named(&shape.names[*at], value));
                groups.push(ChosenPoint {
                    group: parts.collect::<Vec<_>>().join(", "),
                    ..ChosenPoint::default()
                });
                best.push(f64::INFINITY);
                members.push(Vec::new());
            }
            members[place].push(row);
            let group = &mut groups[place];
            group.points += 1;
            if !row.holds.unwrap_or(true) || row.failed > 0 {
                continue;
            }
            group.hold += 1;
            // The first of several counts.
            let cost = self.cost(shape, row);
            if let Some(cost) = cost.filter(|cost| group.chosen.is_none() || *cost < best[place]) {
                best[place] = cost;
                group.chosen = Some(number);
            }
        }
        let mut cautions: Vec<String> = Vec::new();
        for (group, own) in groups.iter_mut().zip(&members) {
            let chosen = group.chosen.map(|at| &rows[at]);
            cautions.extend(self.told_of(shape, group, (own.as_slice(), chosen)));
        }
        let choice = SweepChoice {
            by: self.by.clone(),
            best: if self.most { "most" } else { "least" }.to_owned(),
            conditions: Vec::new(),
            groups,
        };
        (choice, cautions)
    }

    /// Puts the figures of the chosen one of these points and what it leaves open into their group;
    /// what to know before believing it.
    fn told_of(
        &self,
        shape: &Shape,
        group: &mut ChosenPoint,
        (own, chosen): (&[&Row], Option<&Row>),
    ) -> Vec<String> {
        if let Some(row) = chosen {
            group.figures = figures::of(self, shape, row);
        }
        if chosen.is_some() || group.hold == 0 {
            group.notes = beside::beside(self, shape, (own, chosen));
        }
        let turned = frames::turned(self, shape, (own, chosen));
        let unsure = chosen.map_or_else(Vec::new, |row| frames::unsure(self, shape, row));
        let placed = |said: String| match group.group.as_str() {
            "" => said,
            place => format!("{place}: {said}"),
        };
        turned.into_iter().chain(unsure).map(placed).collect()
    }
}

/// A value as a number; a percentage is one.
pub(crate) fn number(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>();
    number.ok().filter(|number| number.is_finite())
}

/// The same, or a time in ns.
fn quantity(text: &str) -> Option<f64> {
    number(text).or_else(|| Some(parse_duration_or_zero_ns(text).ok()? as f64))
}

/// What was chosen of a machine and load; `name`: the chosen point in words.
pub(crate) fn sentence(choice: &SweepChoice, group: &ChosenPoint, name: Option<&str>) -> String {
    let place = match group.group.as_str() {
        "" => String::new(),
        place => format!("{place}: "),
    };
    let SweepChoice { by, best, .. } = choice;
    let conditions = choice.conditions.join(", ");
    let all = count(group.points, "point");
    let notes = std::iter::once("").chain(group.notes.iter().map(String::as_str));
    let notes = notes.collect::<Vec<_>>().join("; ");
    match (name, choice.conditions.is_empty()) {
        (Some(name), true) => format!("{place}{name} has the {best} {by} of {all}{notes}."),
        (Some(name), false) => {
            let held = match group.hold {
                1 => format!("the one of {all} that holds"),
                several => format!("the {several} of {all} that hold"),
            };
            format!("{place}{name} has the {best} {by} of {held}: {conditions}{notes}.")
        }
        (None, _) if group.hold > 0 => format!("{place}no point that holds has a value of {by}."),
        (None, true) => format!("{place}no point has a result."),
        (None, false) => format!("{place}none of {all} holds: {conditions}{notes}."),
    }
}

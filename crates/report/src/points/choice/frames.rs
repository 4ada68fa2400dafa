//! How many frames of how many a choice hangs on, and whether one of them turns it
//! (docs/guide/results.md, "The point that is chosen").
//!
//! What must stay: frames are those of all runs of a point that count in its means; one frame turns
//! a choice if another point would be chosen that had one fewer, all else as it is; of a point that
//! misses a condition on a change nothing is said. Words may change. Tests by part:
//! `a_choice_says_its_frames` (`OfFrames`, `Frames`, `said`, `frames_in`),
//! `one_frame_turns_a_choice` (`turned`, by the metric), `one_frame_turns_what_holds` (`turned`,
//! `would_hold`, by a condition).
//!
//! Callers: points.rs (`Frames`, `frames_in`).
//!
//! Tests: below

use super::Choice;
use super::beside::about;
use crate::points::{Row, Shape};
use wakeplace_metrics::{Expectation, Limit, all_frames_of, number_of_share};
use wakeplace_study::RunRecord;
use wakeplace_text::count;

/// A metric that counts frames or is their share.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::points) struct OfFrames {
    metric: String,
    /// The metric of their number.
    number: String,
    /// The metric of all frames.
    all: String,
    is_share: bool,
}

/// Frames of the runs of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::points) struct Frames {
    /// Those that are to be few.
    counted: f64,
    /// All of them; more than 0.
    all: f64,
}

/// The metrics by which a choice counts frames: the one that is chosen by, and those of conditions
/// on values.
pub(super) fn of(choice: &Choice) -> Vec<OfFrames> {
    let values = choice.conditions.iter();
    let values = values.filter(|one| matches!(one.limit, Limit::Value(_)));
    let values = values.map(|one| one.metric.as_str());
    let mut all: Vec<OfFrames> = Vec::new();
    for metric in choice.metric().into_iter().chain(values) {
        let is_new = all.iter().all(|known| known.metric != metric);
        if let Some(own) = OfFrames::named(metric).filter(|_| is_new) {
            all.push(own);
        }
    }
    all
}

impl Choice {
    /// The frames of the runs of a point, by the metrics that count some.
    pub(in crate::points) fn frames_in(&self, runs: &[&RunRecord]) -> Vec<Option<Frames>> {
        self.frames.iter().map(|of| of.in_runs(runs)).collect()
    }
}

impl OfFrames {
    /// None: it counts none.
    fn named(metric: &str) -> Option<Self> {
        let all = all_frames_of(metric)?;
        let number = number_of_share(metric);
        Some(Self {
            metric: metric.to_owned(),
            is_share: number.is_some(),
            number: number.unwrap_or_else(|| metric.to_owned()),
            all,
        })
    }

    /// The frames of these runs; None: they have none, or one of them does not say.
    fn in_runs(&self, runs: &[&RunRecord]) -> Option<Frames> {
        let sum = |metric: &str| -> Option<f64> {
            let of = |run: &&RunRecord| run.metrics.get(metric).copied();
            runs.iter().map(of).sum()
        };
        let (counted, all) = (sum(&self.number)?, sum(&self.all)?);
        (all > 0.0).then_some(Frames { counted, all })
    }

    /// What one frame is of the mean over so many runs, in the metric's unit. Of a share it is
    /// exact where all runs have as many frames.
    fn one_frame(&self, frames: Frames, runs: usize) -> f64 {
        match self.is_share {
            true => 100.0 / frames.all,
            false => 1.0 / runs.max(1) as f64,
        }
    }

    /// So many frames in words.
    fn told(&self, counted: f64, all: f64) -> String {
        let what = self
            .metric
            .split_once("_frames_")
            .map_or("", |(what, _)| what);
        let chain = self.all.strip_prefix("frames_of_");
        let chain = chain.and_then(|rest| rest.strip_suffix("_total"));
        let chain = chain.map_or_else(String::new, |chain| format!(" of {chain}"));
        format!("{counted} of {all} frames{chain} {what}")
    }
}

/// The frames of a point in words, for each metric that counts some.
pub(super) fn said(choice: &Choice, row: &Row) -> Vec<String> {
    let one = |(of, frames): (&OfFrames, &Option<Frames>)| {
        let frames = (*frames)?;
        let told = of.told(frames.counted, frames.all);
        Some(match row.n {
            0 | 1 => told,
            runs => format!("{told} in {}", count(runs, "run")),
        })
    };
    choice
        .frames
        .iter()
        .zip(&row.frames)
        .filter_map(one)
        .collect()
}

/// Sums of thirds and the like, without what their last digits are off by.
fn whole(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

/// What of a mean one frame fewer leaves out; 0: the metric counts none, or there is none.
fn less(choice: &Choice, row: &Row, metric: &str) -> f64 {
    let at = choice.frames.iter().position(|of| of.metric == metric);
    let found = at.and_then(|at| Some((&choice.frames[at], (*row.frames.get(at)?)?)));
    let found = found.filter(|(_, frames)| frames.counted >= 1.0);
    found.map_or(0.0, |(of, frames)| of.one_frame(frames, row.n))
}

/// The point would hold all conditions with one frame fewer. False where one is on a change.
fn would_hold(choice: &Choice, shape: &Shape, row: &Row) -> bool {
    let holds = |condition: &&Expectation| {
        let at = shape
            .metrics
            .iter()
            .position(|own| *own == condition.metric);
        let mean = at.and_then(|at| row.figures.get(at).copied().flatten());
        match (condition.limit, mean) {
            (Limit::Value(limit), Some((mean, _))) => {
                let value = whole(mean - less(choice, row, &condition.metric));
                condition.operator.holds(value, limit)
            }
            _ => false,
        }
    };
    let about = about(choice, shape, row);
    let counts = about.iter().any(|one| less(choice, row, &one.metric) > 0.0);
    counts && about.iter().all(holds)
}

/// What a reader should know of a choice among these points, which are of one machine and load:
/// that another point would be chosen with one frame fewer. None: no other one would.
pub(super) fn turned(
    choice: &Choice,
    shape: &Shape,
    (rows, chosen): (&[&Row], Option<&Row>),
) -> Option<String> {
    let is_chosen = |row: &Row| chosen.is_some_and(|chosen| std::ptr::eq(chosen, row));
    let place = rows.iter().position(|row| is_chosen(row));
    let least = chosen.and_then(|row| choice.cost(shape, row)).map(whole);
    let turns = |(at, row): &(usize, &&Row)| {
        let by = choice
            .metric()
            .map_or(0.0, |metric| less(choice, row, metric));
        let differs = match row.holds {
            Some(false) => would_hold(choice, shape, row),
            _ => by > 0.0,
        };
        let cost = choice.cost(shape, row);
        let cost = cost.filter(|_| differs && row.failed == 0);
        match (cost.map(|cost| whole(cost - by)), least) {
            _ if is_chosen(row) => false,
            (None, _) => false,
            (Some(_), None) => true,
            // Of points that are as good the first counts.
            (Some(cost), Some(least)) => {
                cost < least || (cost == least && place.is_some_and(|place| *at < place))
            }
        }
    };
    let (_, row) = rows.iter().enumerate().find(turns)?;
    let fewer = |(of, frames): (&OfFrames, &Option<Frames>)| {
        let frames = frames.filter(|frames| frames.counted >= 1.0)?;
        let told = of.told(frames.counted - 1.0, frames.all);
        Some(format!("{told} and not {},", frames.counted))
    };
    let fewer = choice.frames.iter().zip(&row.frames).find_map(fewer)?;
    let instead = chosen.map(|row| format!(" instead of {}", shape.shown(row)));
    Some(format!(
        "one frame turns the choice: with {fewer} {} would be chosen{}; a longer run or more seeds \
         tell more",
        shape.shown(row),
        instead.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::Choice;
    use crate::points::{FoundPoints, Points};
    use wakeplace_metrics::Expectation;
    use wakeplace_study::RunRecord;

    const MISSED: &str = "missed_frames_total";
    const SHARE: &str = "missed_frames_pct";
    const OF_UI: &str = "missed_frames_of_ui_total";

    /// Of each point the value of `k`, and the missed and all frames of its runs.
    type Given<'a> = (&'a str, &'a [(f64, f64)]);

    fn run(k: &str, seed: u64, (missed, all): (f64, f64)) -> RunRecord {
        let metrics = [
            (MISSED, missed),
            (SHARE, 100.0 * missed / all),
            ("frames_total", all),
            (OF_UI, missed),
            ("frames_of_ui_total", all),
        ];
        RunRecord {
            labels: vec![("k".to_owned(), k.to_owned())],
            platform: "p".to_owned(),
            workload: "w".to_owned(),
            policy: "linux-7.3".to_owned(),
            seed,
            behaviour_hash: seed.to_string(),
            metrics: metrics.map(|(name, of)| (name.to_owned(), of)).into(),
            ..RunRecord::default()
        }
    }

    /// Chosen by `name` among these points; of each whether it holds the conditions.
    fn found(name: &str, conditions: &[&str], points: &[(bool, Given<'_>)]) -> FoundPoints {
        let labels = ["k".to_owned()];
        let parsed = conditions.iter().map(|text| Expectation::parse(text));
        let parsed: Vec<Expectation> = parsed.collect::<Result<_, _>>().expect("conditions");
        let holds = points
            .iter()
            .enumerate()
            .map(|(at, (holds, _))| (at, *holds));
        let holds = (!conditions.is_empty()).then(|| holds.collect());
        let choice = Choice::of(name, &labels).expect("a choice").among(&parsed);
        let mut made = Points::new(&labels, [MISSED, SHARE, OF_UI].map(str::to_owned).to_vec())
            .judged(holds)
            .choosing(Some(choice));
        for (number, (_, (k, frames))) in points.iter().enumerate() {
            let runs = (1..).zip(*frames).map(|(seed, one)| run(k, seed, *one));
            made.add(number, &runs.collect::<Vec<_>>());
        }
        made.finish()
    }

    /// The same of points that hold, without conditions.
    fn by(name: &str, points: &[Given<'_>]) -> FoundPoints {
        let points: Vec<(bool, Given<'_>)> = points.iter().map(|one| (true, *one)).collect();
        found(name, &[], &points)
    }

    /// Goal: beside the chosen point stands of how many frames it is. By hand: 1 of 59 and 2 of 59
    /// are 3 of 118; one frame fewer leaves the other point 8.5 in the mean, far above 1.5.
    #[test]
    fn a_choice_says_its_frames() {
        let points: [Given<'_>; 2] = [
            ("1", &[(1.0, 59.0), (2.0, 59.0)]),
            ("2", &[(9.0, 59.0), (9.0, 59.0)]),
        ];
        for (metric, told) in [
            (MISSED, "; 3 of 118 frames missed in 2 runs."),
            (SHARE, "; 3 of 118 frames missed in 2 runs."),
            (OF_UI, "; 3 of 118 frames of ui missed in 2 runs."),
        ] {
            let found = by(metric, &points);
            let said = found.sentences(&[]);
            let begins = format!("k=1 has the least {metric} of 2 points");
            assert_eq!(said, [format!("{begins}{told}")]);
            assert!(found.cautions().is_empty(), "{:?}", found.cautions());
        }
        let said = by(MISSED, &[("1", &[(3.0, 118.0)])]).sentences(&[]);
        assert!(said[0].ends_with("; 3 of 118 frames missed."), "{said:?}");
    }

    /// Goal: another point that one frame fewer makes better, or as good and earlier, is named.
    /// By hand: 4 less 1 is 3; where nothing is missed no frame can be fewer. 3 and 4 of 100
    /// frames are 3 % and 4 %.
    #[test]
    fn one_frame_turns_a_choice() {
        let of = |missed: [f64; 2]| {
            let runs = missed.map(|missed| [(missed, 118.0)]);
            let found = by(MISSED, &[("1", &runs[0]), ("2", &runs[1])]);
            found.cautions().to_vec()
        };
        assert_eq!(
            of([4.0, 3.0]),
            [
                "one frame turns the choice: with 3 of 118 frames missed and not 4, k=1 would be \
                 chosen instead of k=2; a longer run or more seeds tell more"
            ]
        );
        assert_eq!(of([3.0, 3.0]).len(), 1);
        for missed in [[3.0, 4.0], [5.0, 3.0], [0.0, 0.0]] {
            assert!(of(missed).is_empty(), "{missed:?}");
        }
        let three: Given<'_> = ("3", &[(2.0, 50.0), (1.0, 50.0)]);
        let four: Given<'_> = ("4", &[(2.0, 50.0), (2.0, 50.0)]);
        let said = by(SHARE, &[four, three]).cautions().to_vec();
        assert!(
            said[0].contains("with 3 of 100 frames missed and not 4, k=4 would"),
            "{said:?}"
        );
        assert!(by(SHARE, &[three, four]).cautions().is_empty());
    }

    /// Goal: a point that one frame keeps from holding is named if it would be chosen. By hand: 1
    /// of 115 + 116 + 115 = 346 frames is a third in the mean, less one frame 0; 2 leave a third.
    #[test]
    fn one_frame_turns_what_holds() {
        let one: Given<'_> = ("0", &[(0.0, 115.0), (1.0, 116.0), (0.0, 115.0)]);
        let two: Given<'_> = ("0", &[(0.0, 115.0), (1.0, 116.0), (1.0, 115.0)]);
        let none: Given<'_> = ("128", &[(0.0, 115.0), (0.0, 115.0), (0.0, 115.0)]);
        let none_missed = "missed_frames_total<=0";
        let said = found("k", &[none_missed], &[(false, one), (true, none)]);
        assert_eq!(
            said.cautions(),
            [
                "one frame turns the choice: with 0 of 346 frames missed and not 1, k=0 would be \
                 chosen instead of k=128; a longer run or more seeds tell more"
            ]
        );
        let said = found("k", &[none_missed], &[(false, two), (true, none)]);
        assert!(said.cautions().is_empty());
        let said = found("k", &[none_missed], &[(false, one)]);
        let chosen = "not 1, k=0 would be chosen; a longer run";
        assert!(said.cautions()[0].contains(chosen), "{:?}", said.cautions());
        // What misses a condition on a change is not looked at.
        let changes = [none_missed, "missed_frames_total<=base"];
        let said = found("k", &changes, &[(false, one), (true, none)]);
        assert!(said.cautions().is_empty());
    }
}

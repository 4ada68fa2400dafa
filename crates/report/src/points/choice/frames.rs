//! How many frames of how many a choice hangs on, whether one of them turns it, and whether so few
//! can tell that a condition holds (docs/guide/results.md, "The point that is chosen").
//!
//! What must stay: frames are those of all runs of a point that count in its means; one frame turns
//! a choice if another point would be chosen that had one fewer, all else as it is; of a point that
//! misses a condition on a change nothing is said. What may be missed of more frames is the upper
//! end of a 95 % interval. Words may change. Tests by part:
//! `a_choice_says_its_frames` (`OfFrames`, `Frames`, `said`, `frames_in`, `upper_pct`),
//! `what_so_few_frames_cannot_tell_is_said` (`unsure`, `allowed_pct`),
//! sweeps.rs::`a_condition_that_few_frames_cannot_tell_is_warned_of` (`unsure`, by the command),
//! `one_frame_turns_a_choice` (`turned`, by the metric), `one_frame_turns_what_holds` (`turned`,
//! `would_hold`, by a condition).
//!
//! Callers: points.rs (`Frames`, `frames_in`).
//!
//! Tests: below,
//! crates/cli/tests/all/sweeps.rs::a_condition_that_few_frames_cannot_tell_is_warned_of

use super::Choice;
use super::beside::about;
use crate::number;
use crate::points::{Row, Shape};
use wakeplace_metrics::{
    Expectation, Limit, Operator, all_frames_of, number_of_share, share_upper95,
};
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

    /// What a limit allows of all frames of so many runs, percent.
    fn allowed_pct(&self, limit: f64, frames: Frames, runs: usize) -> f64 {
        match self.is_share {
            true => limit,
            false => 100.0 * limit * runs.max(1) as f64 / frames.all,
        }
    }

    /// What became of the frames that it counts: `missed`.
    fn what(&self) -> &str {
        let parts = self.metric.split_once("_frames_");
        parts.map_or("", |(what, _)| what)
    }

    /// So many frames in words.
    fn told(&self, counted: f64, all: f64) -> String {
        let what = self.what();
        let chain = self.all.strip_prefix("frames_of_");
        let chain = chain.and_then(|rest| rest.strip_suffix("_total"));
        let chain = chain.map_or_else(String::new, |chain| format!(" of {chain}"));
        format!("{counted} of {all} frames{chain} {what}")
    }
}

impl Frames {
    /// So many of all its frames a point may miss by what was seen: the upper end of a 95 %
    /// interval, percent.
    fn upper_pct(self) -> f64 {
        100.0 * share_upper95(self.counted, self.all)
    }
}

/// The frames of a point in words, with the number of its runs where these are several.
fn in_runs(of: &OfFrames, frames: Frames, runs: usize) -> String {
    let told = of.told(frames.counted, frames.all);
    match runs {
        0 | 1 => told,
        runs => format!("{told} in {}", count(runs, "run")),
    }
}

/// The frames of a point in words, for each metric that counts some.
pub(super) fn said(choice: &Choice, row: &Row) -> Vec<String> {
    let one = |(of, frames): (&OfFrames, &Option<Frames>)| {
        let frames = (*frames)?;
        let upper = number::short(frames.upper_pct());
        let told = in_runs(of, frames, row.n);
        Some(format!("{told}, at most {upper} % by a 95 % interval"))
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

/// What a reader should know of the chosen point: that a condition which it holds is one that so
/// few frames cannot tell.
pub(super) fn unsure(choice: &Choice, shape: &Shape, chosen: &Row) -> Vec<String> {
    let one = |condition: &Expectation| {
        let Limit::Value(limit) = condition.limit else {
            return None;
        };
        if !matches!(condition.operator, Operator::AtMost | Operator::Below) {
            return None;
        }
        let mut frames = choice.frames.iter().zip(&chosen.frames);
        let (of, frames) = frames.find(|(of, _)| of.metric == condition.metric)?;
        let frames = (*frames)?;
        let allowed = of.allowed_pct(limit, frames, chosen.n);
        let upper = frames.upper_pct();
        (!condition.operator.holds(upper, allowed)).then(|| {
            format!(
                "{condition} may not hold with other seeds: {} had {}, so that up to {} % of its \
                 frames may be {} (95 % interval), where {} % may; a longer run or more seeds \
                 tell more",
                shape.shown(chosen),
                in_runs(of, frames, chosen.n),
                number::short(upper),
                of.what(),
                number::short(allowed)
            )
        })
    };
    let about = about(choice, shape, chosen).into_iter();
    about.filter_map(one).collect()
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
    /// Of 3 of 118 frames.
    const UPPER: &str = ", at most 7.209 % by a 95 % interval.";

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
    /// are 3 of 118; one frame fewer leaves the other point 8.5 in the mean, far above 1.5. The
    /// upper end is (s + z^2/2n + z sqrt(s(1-s)/n + z^2/4n^2)) / (1 + z^2/n) with s = 3/118 and n =
    /// 118, z = 1.96: (0.025424 + 0.016278 + 0.032736) / 1.032555 = 7.209 %.
    #[test]
    fn a_choice_says_its_frames() {
        let points: [Given<'_>; 2] = [
            ("1", &[(1.0, 59.0), (2.0, 59.0)]),
            ("2", &[(9.0, 59.0), (9.0, 59.0)]),
        ];
        for (metric, told) in [
            (MISSED, "; 3 of 118 frames missed in 2 runs"),
            (SHARE, "; 3 of 118 frames missed in 2 runs"),
            (OF_UI, "; 3 of 118 frames of ui missed in 2 runs"),
        ] {
            let found = by(metric, &points);
            let said = found.sentences(&[]);
            let begins = format!("k=1 has the least {metric} of 2 points");
            assert_eq!(said, [format!("{begins}{told}{UPPER}")]);
            assert!(found.cautions().is_empty(), "{:?}", found.cautions());
        }
        let said = by(MISSED, &[("1", &[(3.0, 118.0)])]).sentences(&[]);
        let told = format!("; 3 of 118 frames missed{UPPER}");
        assert!(said[0].ends_with(&told), "{said:?}");
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
        let turned = |found: &FoundPoints| -> Vec<String> {
            let all = found.cautions().iter();
            all.filter(|said| said.starts_with("one frame turns"))
                .cloned()
                .collect()
        };
        let said = found("k", &[none_missed], &[(false, one), (true, none)]);
        assert_eq!(
            turned(&said),
            [
                "one frame turns the choice: with 0 of 346 frames missed and not 1, k=0 would be \
                 chosen instead of k=128; a longer run or more seeds tell more"
            ]
        );
        let said = found("k", &[none_missed], &[(false, two), (true, none)]);
        assert!(turned(&said).is_empty());
        let said = found("k", &[none_missed], &[(false, one)]);
        let chosen = "not 1, k=0 would be chosen; a longer run";
        assert!(said.cautions()[0].contains(chosen), "{:?}", said.cautions());
        // What misses a condition on a change is not looked at.
        let changes = [none_missed, "missed_frames_total<=base"];
        let said = found("k", &changes, &[(false, one), (true, none)]);
        assert!(turned(&said).is_empty());
    }

    /// Goal: a condition that a point holds by few frames is warned of where the upper end of the
    /// interval does not hold it. By hand: of 8 of 1178 frames, 0.679 %, it is 1.334 %: above 1 %,
    /// and above 4 a run, 8 of 1178; below 2 % and below 8 a run, 1.358 %. Of none of 345 it is
    /// z^2 / (n + z^2) = 3.8415 / 348.8415 = 1.101 %.
    #[test]
    fn what_so_few_frames_cannot_tell_is_said() {
        let eight: Given<'_> = ("1", &[(4.0, 589.0), (4.0, 589.0)]);
        let warned = |condition: &str, point: Given<'_>| {
            let said = found("k", &[condition], &[(true, point)]);
            said.cautions().to_vec()
        };
        let of = |condition: &str, allowed: &str| {
            format!(
                "{condition} may not hold with other seeds: k=1 had 8 of 1178 frames missed in 2 \
                 runs, so that up to 1.334 % of its frames may be missed (95 % interval), where \
                 {allowed} % may; a longer run or more seeds tell more"
            )
        };
        let share = "missed_frames_pct<=1";
        assert_eq!(warned(share, eight), [of(share, "1")]);
        let number = "missed_frames_total<=4";
        assert_eq!(warned(number, eight), [of(number, "0.6791")]);
        for enough in [
            "missed_frames_pct<=2",
            "missed_frames_total<=8",
            "missed_frames_total>=1",
            "energy_j<=1",
        ] {
            assert!(warned(enough, eight).is_empty(), "{enough}");
        }
        let none: Given<'_> = ("1", &[(0.0, 345.0)]);
        let said = warned("missed_frames_total<=0", none);
        let part = "k=1 had 0 of 345 frames missed, so that up to 1.101 % of its frames";
        assert!(said[0].contains(part), "{said:?}");
    }
}

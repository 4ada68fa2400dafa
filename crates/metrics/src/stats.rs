//! Statistics over seeds (docs/guide/results.md, "Intervals"). Sums run in index order, with
//! `+ - * /` and `sqrt`, which IEEE 754 fixes to the last bit; logarithms are those of the crate
//! libm. The same values give the same bits in every build.
//!
//! Called for every figure over seeds, in results, studies and `--expect`. Changes are percent of
//! the base.
//!
//! What must stay: the order of sums and of roundings; another one changes the bytes of every
//! result. Value i of both lists is of one seed: pairs rely on it. Which method is taken when is
//! docs/guide/results.md's, and `Method` names it in the JSON. Free: what leaves every figure as it
//! is (ARCHITECTURE.md, "What a change may touch"). Tests by part: `same_bits_in_every_build`
//! (`mean`, `sum`), `summary_by_hand`, `one_value_has_no_interval`, `equal_values_do_not_vary` and
//! `a_mean_of_zero_has_no_relative_deviation` (`Summary::of`), `a_geometric_mean_by_hand`
//! (`geometric_mean`), `ratios_by_hand` and `no_ratio_falls_below_nothing` (`log_ratio`),
//! `differences_by_hand` and
//! `a_count_loses_no_more_than_it_has` (`difference`), `pairing_removes_what_the_seeds_share` and
//! `degenerate_pairs` (`PairedDelta::of`), `from_nothing_there_is_a_side_and_no_percent`
//! (`percent`), `an_interval_lies_within_a_margin_beyond_or_across` (`Equivalence::of`),
//! coverage.rs::`intervals_hold_the_truth_as_often_as_they_say` (`half_width`),
//! crates/report/src/phrase.rs::`direction_decides_what_is_better` (`difference_of`),
//! collector/tests.rs::`equal_runs_are_one` (`bounds`), `ratios_by_hand` (`excludes_zero`),
//! `summary_by_hand` (`sample_sd`); `near` is the tests' own.
//!
//! Callers: many files (`bounds`).
//!
//! Tests: below, crates/metrics/src/stats/coverage.rs,
//! crates/report/src/phrase.rs::direction_decides_what_is_better,
//! crates/metrics/src/collector/tests.rs::equal_runs_are_one

use crate::metric::{Better, find_metric};
use crate::student::t975;
use wakeplace_outcome::{Difference, Method};

/// What a list of values says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n - 1) in percent of the mean's magnitude; 0 for one value.
    /// Infinite where the values vary around a mean of exactly 0.
    pub rsd_pct: f64,
    /// Half width of the 95 % confidence interval of the mean (Student's t), in the values' unit.
    /// None for one value.
    pub ci95: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Middle value; the mean of the middle two for an even number.
    pub median: f64,
}

impl Summary {
    /// Summarises `values`.
    ///
    /// # Panics
    /// If there are no values: a metric that was not measured has no summary.
    #[must_use]
    pub fn of(values: &[f64]) -> Summary {
        let n = values.len();
        assert!(n > 0, "a summary needs at least one value");
        let mean = mean(values);
        let sd = sample_sd(values, mean);
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = match n % 2 {
            1 => sorted[n / 2],
            _ => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
        };
        Summary {
            n,
            mean,
            rsd_pct: if sd == 0.0 {
                0.0
            } else {
                sd / mean.abs() * 100.0
            },
            ci95: half_width(sd, n),
            min: sorted[0],
            max: sorted[n - 1],
            median,
        }
    }
}

/// What an interval says of a margin, below which a difference does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equivalence {
    /// It lies within the margin: no difference that matters.
    Equivalent,
    /// It lies beyond it, on one side: a difference that matters.
    Different,
    /// It reaches from within to beyond: not told.
    Inconclusive,
}

impl Equivalence {
    /// Of an interval (low, high) and a margin, both in percent.
    #[must_use]
    pub fn of((low, high): (f64, f64), margin_pct: f64) -> Self {
        if -margin_pct <= low && high <= margin_pct {
            return Self::Equivalent;
        }
        // NaN is beyond nothing.
        match low > margin_pct || high < -margin_pct {
            true => Self::Different,
            false => Self::Inconclusive,
        }
    }
}

/// What a change in percent with its 95 % interval means; below the margin a difference does not
/// matter.
#[must_use]
pub fn difference_of(
    metric: &str,
    (delta_pct, ci95): (f64, Option<(f64, f64)>),
    margin_pct: f64,
) -> Difference {
    match ci95.map(|interval| Equivalence::of(interval, margin_pct)) {
        None => return Difference::Unknown,
        Some(Equivalence::Equivalent) => return Difference::Same,
        Some(Equivalence::Inconclusive) => return Difference::NotTold,
        Some(Equivalence::Different) => {}
    }
    match find_metric(metric).map_or(Better::Neither, |def| def.better) {
        Better::Lower if delta_pct < 0.0 => Difference::Better,
        Better::Higher if delta_pct > 0.0 => Difference::Better,
        Better::Lower | Better::Higher => Difference::Worse,
        Better::Neither => Difference::Other,
    }
}

/// Difference of one case from its base, paired by seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDelta {
    /// Change, percent; positive = more. Of positive quantities the geometric mean of the ratios,
    /// less one; else the change of the mean in percent of the magnitude of the base's mean. From
    /// a base whose mean is 0 there are no percent: infinite, with the sign of the difference.
    pub delta_pct: f64,
    /// 95 % confidence interval of that change (low, high), percent; None with one pair. From a
    /// base whose mean is 0 both ends are infinite: on one side if the differences' own interval
    /// excludes 0.
    pub ci95: Option<(f64, f64)>,
    /// The interval excludes 0.
    pub significant: bool,
    /// Number of pairs.
    pub n: usize,
    /// How the interval was made.
    pub method: Method,
}

impl PairedDelta {
    /// Between what ends the change lies as far as chance goes: the interval, or the change itself
    /// where every seed gives the same run. None: one run says nothing of chance.
    #[must_use]
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self.method {
            Method::SameRuns => Some((self.delta_pct, self.delta_pct)),
            _ => self.ci95,
        }
    }

    /// What it means of a metric, by a margin in percent.
    #[must_use]
    pub fn difference(&self, metric: &str, margin_pct: f64) -> Difference {
        difference_of(metric, (self.delta_pct, self.ci95), margin_pct)
    }

    /// Compares `other` with `base`, value by value: index = seed.
    ///
    /// None without pairs.
    ///
    /// # Panics
    /// If the lists differ in length: then they are not pairs.
    #[must_use]
    pub fn of(base: &[f64], other: &[f64]) -> Option<PairedDelta> {
        let n = base.len();
        assert_eq!(n, other.len(), "paired lists have one value per seed each");
        let positive = |values: &[f64]| values.iter().all(|&v| v > 0.0 && v.is_finite());
        match n {
            0 => None,
            1 => Some(difference(base, other)),
            _ if positive(base) && positive(other) => Some(log_ratio(base, other)),
            _ => Some(difference(base, other)),
        }
    }
}

/// The geometric mean of the ratios with the interval of its logarithm: no end below -100 %.
fn log_ratio(base: &[f64], other: &[f64]) -> PairedDelta {
    let n = base.len();
    let pairs = base.iter().zip(other);
    let logs: Vec<f64> = pairs.map(|(b, o)| libm::log(o / b)).collect();
    let centre = mean(&logs);
    let percent = |log: f64| libm::expm1(log) * 100.0;
    let half = half_width(sample_sd(&logs, centre), n);
    let ci95 = half.map(|h| (percent(centre - h), percent(centre + h)));
    PairedDelta {
        delta_pct: percent(centre),
        ci95,
        significant: excludes_zero(ci95),
        n,
        method: Method::LogRatio,
    }
}

/// The change of the mean in percent of the base's.
fn difference(base: &[f64], other: &[f64]) -> PairedDelta {
    let n = base.len();
    let method = if n > 1 {
        Method::Difference
    } else {
        Method::OneRun
    };
    let deltas: Vec<f64> = base.iter().zip(other).map(|(b, o)| o - b).collect();
    let scale = mean(base).abs();
    let delta = mean(&deltas);
    let half = half_width(sample_sd(&deltas, delta), n);
    let has_floor = scale > 0.0 && base.iter().chain(other).all(|&value| value >= 0.0);
    let floor = if has_floor { -100.0 } else { f64::NEG_INFINITY };
    let end = |difference: f64| percent(difference, scale).max(floor);
    let ci95 = half.map(|h| (end(delta - h), end(delta + h)));
    PairedDelta {
        delta_pct: percent(delta, scale),
        ci95,
        significant: excludes_zero(ci95),
        n,
        method,
    }
}

/// The geometric mean; 0 if one of them is.
///
/// # Panics
/// If there are no values, or negative ones.
#[must_use]
pub fn geometric_mean(values: &[f64]) -> f64 {
    assert!(
        !values.is_empty() && values.iter().all(|&value| value >= 0.0),
        "a geometric mean is of quantities"
    );
    let logs: Vec<f64> = values.iter().map(|&value| libm::log(value)).collect();
    libm::exp(mean(&logs))
}

/// A difference in percent of `scale`: of 0 no difference is 0, and any other is infinite.
fn percent(difference: f64, scale: f64) -> f64 {
    match difference == 0.0 {
        true => 0.0,
        false => difference / scale * 100.0,
    }
}

/// The interval lies on one side of 0: chance alone does not explain the change. False without one.
fn excludes_zero(ci95: Option<(f64, f64)>) -> bool {
    ci95.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
}

/// The arithmetic mean, sums in index order.
fn mean(values: &[f64]) -> f64 {
    // Equal values are their own mean; the rounded sum of them need not be.
    if values.iter().all(|&v| v == values[0]) {
        return values[0];
    }
    sum(values.iter().copied()) / values.len() as f64
}

/// Sum in index order.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |total, v| total + v)
}

/// Sample standard deviation; 0 for one value.
fn sample_sd(values: &[f64], mean: f64) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let squares = sum(values.iter().map(|v| (v - mean) * (v - mean)));
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Half width of the 95 % interval of a mean; None for one value.
fn half_width(sd: f64, n: usize) -> Option<f64> {
    (n > 1).then(|| t975(n - 1) * sd / (n as f64).sqrt())
}

#[cfg(test)]
mod coverage;

#[cfg(test)]
mod tests {
    use super::{Equivalence, Method, PairedDelta, Summary, geometric_mean};

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn summary_by_hand() {
        // Deviations from 5: -3 -1 -1 -1 0 0 2 4; squares add up to 32; sd = sqrt(32 / 7).
        let s = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(
            (s.n, s.mean, s.min, s.max, s.median),
            (8, 5.0, 2.0, 9.0, 4.5)
        );
        // 2.138090 / 5 = 42.7618 %; 2.364624 * 2.138090 / sqrt(8) = 1.787488.
        assert!(near(s.rsd_pct, 42.761_799), "{}", s.rsd_pct);
        assert!(near(s.ci95.unwrap(), 1.787_488), "{:?}", s.ci95);
    }

    #[test]
    fn one_value_has_no_interval() {
        let s = Summary::of(&[3.5]);
        assert_eq!(
            (s.n, s.mean, s.rsd_pct, s.ci95, s.median),
            (1, 3.5, 0.0, None, 3.5)
        );
    }

    #[test]
    fn equal_values_do_not_vary() {
        let s = Summary::of(&[0.1; 7]);
        assert_eq!((s.mean, s.rsd_pct, s.ci95), (0.1, 0.0, Some(0.0)));
    }

    #[test]
    fn a_mean_of_zero_has_no_relative_deviation() {
        assert_eq!(Summary::of(&[-1.0, 1.0]).rsd_pct, f64::INFINITY);
        assert_eq!(Summary::of(&[0.0, 0.0]).rsd_pct, 0.0);
    }

    /// Ratios 1.1, 7/6 and 17/14: logarithms .0953102, .1541507, .1941560; mean .1478723, sd
    /// .0497213; t(2) = 4.302653, half width .1235153. exp: 1.159365, 1.024657, 1.311784.
    #[test]
    fn ratios_by_hand() {
        let d = PairedDelta::of(&[10.0, 12.0, 14.0], &[11.0, 14.0, 17.0]).unwrap();
        let (low, high) = d.ci95.unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-3;
        assert!(near(d.delta_pct, 15.9365), "{d:?}");
        assert!(near(low, 2.4657) && near(high, 31.1784), "{d:?}");
        assert!(
            d.significant && d.n == 3 && d.method == Method::LogRatio,
            "{d:?}"
        );
    }

    /// 2 x 8 = 16 = 4^2; ln 1 is 0 exactly.
    #[test]
    fn a_geometric_mean_by_hand() {
        assert!(near(geometric_mean(&[2.0, 8.0]), 4.0));
        assert_eq!(geometric_mean(&[1.0, 1.0]), 1.0);
        assert_eq!(geometric_mean(&[5.0, 0.0]), 0.0);
    }

    #[test]
    fn an_interval_lies_within_a_margin_beyond_or_across() {
        let beside = |low, high| Equivalence::of((low, high), 1.0);
        assert_eq!(beside(-1.0, 1.0), Equivalence::Equivalent);
        assert_eq!(
            [beside(1.1, 2.0), beside(-9.0, -1.1)],
            [Equivalence::Different; 2]
        );
        assert_eq!(
            [beside(0.9, 1.1), beside(-2.0, 2.0)],
            [Equivalence::Inconclusive; 2]
        );
        assert_eq!(beside(f64::NAN, f64::NAN), Equivalence::Inconclusive);
    }

    /// d = 1 2 3: mean 2, sd 1, half width 4.302653 / sqrt(3) = 2.484138; base mean -12:
    /// 16.6667 %, from -0.484138 / 12 to 4.484138 / 12.
    #[test]
    fn differences_by_hand() {
        let d = PairedDelta::of(&[-10.0, -12.0, -14.0], &[-9.0, -10.0, -11.0]).unwrap();
        let (low, high) = d.ci95.unwrap();
        assert!(
            near(d.delta_pct, 16.666_667) && near(low, -4.034_481),
            "{d:?}"
        );
        assert!(near(high, 37.367_814) && !d.significant, "{d:?}");
        assert_eq!(d.method, Method::Difference);
    }

    /// 100 and 1 beside 1 and 100: the mean of differences would have an end below -100 %.
    #[test]
    fn no_ratio_falls_below_nothing() {
        let d = PairedDelta::of(&[100.0, 50.0, 100.0], &[1.0, 40.0, 5.0]).unwrap();
        let (low, _) = d.ci95.unwrap();
        assert!(low > -100.0 && !d.significant, "{d:?}");
    }

    /// d = -4 0 -2: mean -2, sd 2, half width 4.302653 * 2 / sqrt(3) = 4.968276; base mean 2: from
    /// -6.968276 / 2, which is cut, to 2.968276 / 2. The same counts as slack, one of them
    /// negative, are not cut: d = -5 0 -1: mean -2, sd 2.645751, half width 6.572411.
    #[test]
    fn a_count_loses_no_more_than_it_has() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-3;
        let d = PairedDelta::of(&[4.0, 0.0, 2.0], &[0.0, 0.0, 0.0]).unwrap();
        let (low, high) = d.ci95.unwrap();
        assert_eq!((d.delta_pct, low), (-100.0, -100.0));
        assert!(near(high, 148.413_8) && !d.significant, "{d:?}");
        let slack = PairedDelta::of(&[4.0, 0.0, 2.0], &[-1.0, 0.0, 1.0]).unwrap();
        let (low, high) = slack.ci95.unwrap();
        assert!(near(low, -428.620_5) && near(high, 228.620_5), "{slack:?}");
    }

    #[test]
    fn pairing_removes_what_the_seeds_share() {
        // The seeds differ wildly, the ratios hardly: 0.899, 0.9, 0.901.
        let d = PairedDelta::of(&[100.0, 1000.0, 5000.0], &[89.9, 900.0, 4505.0]).unwrap();
        assert!(d.significant && d.ci95.unwrap().1 < -9.0, "{d:?}");
    }

    #[test]
    fn degenerate_pairs() {
        let one = PairedDelta::of(&[2.0], &[3.0]).unwrap();
        assert_eq!(
            (one.delta_pct, one.ci95, one.significant),
            (50.0, None, false)
        );
        assert_eq!(PairedDelta::of(&[], &[]), None);
        let zero = PairedDelta::of(&[0.0, 0.0], &[0.0, 0.0]).unwrap();
        assert_eq!((zero.delta_pct, zero.ci95), (0.0, Some((0.0, 0.0))));
        // Negative base (slack): less negative is more.
        assert_eq!(PairedDelta::of(&[-10.0], &[-5.0]).unwrap().delta_pct, 50.0);
    }

    /// Differences 3 4 5: mean 4, half width 2.484138: the interval excludes 0. 0 1 2: it does not.
    #[test]
    fn from_nothing_there_is_a_side_and_no_percent() {
        let (inf, none) = (f64::INFINITY, [0.0; 3]);
        let more = PairedDelta::of(&none, &[3.0, 4.0, 5.0]).unwrap();
        assert_eq!((more.delta_pct, more.ci95), (inf, Some((inf, inf))));
        assert!(more.significant && more.method == Method::Difference);
        assert_eq!(
            Equivalence::of(more.ci95.unwrap(), 1.0),
            Equivalence::Different
        );
        let less = PairedDelta::of(&none, &[-3.0, -4.0, -5.0]).unwrap();
        assert_eq!((less.delta_pct, less.ci95), (-inf, Some((-inf, -inf))));
        let open = PairedDelta::of(&none, &[0.0, 1.0, 2.0]).unwrap();
        assert_eq!((open.delta_pct, open.ci95), (inf, Some((-inf, inf))));
        assert!(!open.significant);
        let beside = Equivalence::of(open.ci95.unwrap(), 1.0);
        assert_eq!(beside, Equivalence::Inconclusive);
        let one = PairedDelta::of(&[0.0], &[7.0]).unwrap();
        assert_eq!((one.delta_pct, one.ci95), (inf, None));
        // A mean of 0 of a base that varies.
        let around = PairedDelta::of(&[-1.0, 1.0], &[-1.0, 1.0]).unwrap();
        assert_eq!((around.delta_pct, around.ci95), (0.0, Some((0.0, 0.0))));
    }

    #[test]
    fn same_bits_in_every_build() {
        let values: Vec<f64> = (1..=40).map(|i| 1.0 / f64::from(i)).collect();
        let s = Summary::of(&values);
        // The harmonic number H(40) / 40 in index order, computed with Python's float arithmetic.
        assert_eq!(s.mean.to_bits(), MEAN_BITS);
        assert_eq!(s.ci95.unwrap().to_bits(), CI_BITS);
    }
    const MEAN_BITS: u64 = 0x3fbb_61f7_04ab_43e5;
    const CI_BITS: u64 = 0x3fac_458c_7f91_9843;
}

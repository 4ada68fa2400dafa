//! Whether our figures go the way of the published ones (docs/internals/checks.md, "Outside
//! results").
//!
//! What must stay: verdicts are by docs/guide/results.md; intervals of ranks need no distribution.
//! Free: how it is done, and words that no test or script reads. Tests by part:
//! `the_interval_decides` (`of`), `ranks_hold_the_median` (`median`, `median_interval`),
//! outside/tests.rs::`a_row_is_a_line` (`words`).
//!
//! Callers: measure.rs (`median_interval`).
//!
//! Tests: below

/// What a row comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Right,
    NotTold,
    Wrong,
    RuleMissing,
    NotExpressed,
}

impl Verdict {
    /// In the order of the page.
    pub(super) const ALL: [Verdict; 5] = [
        Verdict::Right,
        Verdict::NotTold,
        Verdict::Wrong,
        Verdict::RuleMissing,
        Verdict::NotExpressed,
    ];

    /// As the page says it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::NotTold => "not told",
            Verdict::Wrong => "**wrong**",
            Verdict::RuleMissing => "rule missing",
            Verdict::NotExpressed => "not expressed",
        }
    }
}

/// A change of less is none, percent.
const NONE_PCT: f64 = 1.0;
/// This part of a published change, or less, is nothing of it.
const NOTHING: f64 = 0.1;
/// Where no change was published ours must lie within this, percent.
const BAND_PCT: f64 = 5.0;

/// The rule of docs/guide/results.md for published changes, and one more: an interval within a
/// tenth of the published change, on either side of 0, says that nothing came out, and is wrong.
pub(super) fn of(published_pct: f64, ours: Option<(f64, f64)>) -> Verdict {
    let told = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
    let Some((low, high)) = ours.filter(told) else {
        return Verdict::NotTold;
    };
    let nothing = published_pct.abs() * NOTHING;
    let none = -nothing < low && high < nothing;
    let (right, wrong) = if published_pct.abs() < NONE_PCT {
        let beyond = low > NONE_PCT || high < -NONE_PCT;
        (-BAND_PCT <= low && high <= BAND_PCT && !beyond, beyond)
    } else if published_pct > 0.0 {
        (low > 0.0 && !none, high < 0.0 || none)
    } else {
        (high < 0.0 && !none, low > 0.0 || none)
    };
    match (right, wrong) {
        (true, _) => Verdict::Right,
        (_, true) => Verdict::Wrong,
        _ => Verdict::NotTold,
    }
}

/// The median.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// An interval that holds the median of what the values are drawn from in 95 % of cases, whatever
/// that is: of `n` values, those with rank `k` and `n + 1 - k`, `k` the largest for which fewer
/// than `k` of `n` throws of a coin are heads in 2.5 % of cases at most. Of 5 or fewer: all.
pub(super) fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n < 2 {
        return None;
    }
    let (mut ways, mut fewer, mut k) = (1.0_f64, 0.0, 0);
    let all = 2.0_f64.powi(i32::try_from(n).ok()?);
    while (fewer + ways) / all <= 0.025 {
        fewer += ways;
        ways *= (n - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    let k = k.max(1);
    Some((sorted[k - 1], sorted[n - k]))
}

#[cfg(test)]
mod tests {
    use super::{Verdict, median, median_interval, of};

    /// Goal: each line of the rule, at both sides of each limit. Method: numbers by hand.
    #[test]
    fn the_interval_decides() {
        use Verdict::{NotTold, Right, Wrong};
        let cases = [
            (-20.0, (-30.0, -0.5), Right),
            (-20.0, (-30.0, 0.5), NotTold),
            (-20.0, (0.5, 30.0), Wrong),
            (20.0, (0.5, 30.0), Right),
            (20.0, (-30.0, -0.5), Wrong),
            // Nothing comes out where something was published.
            (20.0, (0.0, 0.0), Wrong),
            (20.0, (0.2, 1.9), Wrong),
            (-20.0, (-1.9, -0.2), Wrong),
            (20.0, (0.2, 2.0), Right),
            (-1.1, (-0.7, -0.4), Right),
            // Nothing was published: within 5 % and not all beyond 1 %.
            (0.3, (-5.0, 5.0), Right),
            (0.3, (0.0, 0.0), Right),
            (0.3, (-5.1, 5.0), NotTold),
            (0.3, (1.1, 2.0), Wrong),
            (-0.3, (-9.0, -1.1), Wrong),
            // One percent is a change.
            (1.0, (0.0, 0.0), Wrong),
        ];
        for (published, ours, verdict) in cases {
            assert_eq!(of(published, Some(ours)), verdict, "{published} {ours:?}");
        }
        assert_eq!(of(5.0, None), NotTold);
        assert_eq!(of(5.0, Some((f64::NAN, 1.0))), NotTold);
    }

    /// Goal: the ranks are those of the sign test. Source: binomial tables: of 40 throws 13 heads
    /// or fewer in 1.92 %, 14 in 4.03 %; of 6 none in 1.56 %; of 9 one or none in 1.95 %.
    #[test]
    fn ranks_hold_the_median() {
        let values = |n: u32| (1..=n).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!(median_interval(&values(40)), Some((14.0, 27.0)));
        assert_eq!(median_interval(&values(9)), Some((2.0, 8.0)));
        assert_eq!(median_interval(&values(6)), Some((1.0, 6.0)));
        assert_eq!(median_interval(&values(3)), Some((1.0, 3.0)));
        assert_eq!(median_interval(&[7.0]), None);
        assert_eq!(median(&values(40)), 20.5);
        assert_eq!(median(&values(3)), 2.0);
    }
}

//! How large a share may be of which a run saw some (docs/guide/results.md, "The point that is
//! chosen"): the upper end of Wilson's interval.
//!
//! With `+ - * /` and `sqrt` alone, so that the same counts give the same bits in every build.
//!
//! What must stay: the bound is that of a two-sided 95 % interval, and counts what it counts as
//! independent. Free: nothing else is here. Tests by part: `agrees_with_published_intervals` and
//! `solves_its_own_equation` (`share_upper95`).
//!
//! Callers: crates/report/src/points/choice/frames.rs.
//!
//! Tests: below

use crate::student::Z975;

/// Upper end of the 95 % interval of a share of which `counted` of `all` were seen, 0 to 1.
///
/// E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
/// the American Statistical Association 22 (1927). It holds where none was seen, too. Events that
/// come together count as if each came by itself, so that the true end is rather above.
///
/// # Panics
/// If `all` is not above 0.
#[must_use]
pub fn share_upper95(counted: f64, all: f64) -> f64 {
    assert!(all > 0.0, "a share needs something that it is of");
    let share = (counted / all).clamp(0.0, 1.0);
    let z2 = Z975 * Z975;
    let spread = share * (1.0 - share) / all + z2 / (4.0 * all * all);
    let end = (share + z2 / (2.0 * all) + Z975 * spread.sqrt()) / (1.0 + z2 / all);
    end.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::share_upper95;
    use crate::student::Z975;

    /// R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in
    /// Medicine 17 (1998), table I, method 3 (the score method, without correction).
    #[test]
    fn agrees_with_published_intervals() {
        for (counted, all, upper) in [
            (81.0, 263.0, 0.3662),
            (15.0, 148.0, 0.1605),
            (0.0, 20.0, 0.1611),
            (1.0, 29.0, 0.1718),
        ] {
            let found = share_upper95(counted, all);
            assert!((found - upper).abs() < 0.000_05, "{counted}/{all}: {found}");
        }
    }

    /// Goal: the end is where the share lies z standard deviations below: (p - s)^2 = z^2 p (1 -
    /// p) / n. Of all that is seen nothing is above.
    #[test]
    fn solves_its_own_equation() {
        for (counted, all) in [(0.0, 346.0), (8.0, 1178.0), (3.0, 118.0), (500.0, 1000.0)] {
            let (share, end) = (counted / all, share_upper95(counted, all));
            let apart = (end - share) * (end - share);
            let expected = Z975 * Z975 * end * (1.0 - end) / all;
            assert!(end > share && (apart - expected).abs() < 1e-12, "{end}");
        }
        assert!((share_upper95(100.0, 100.0) - 1.0).abs() < 1e-12);
    }
}

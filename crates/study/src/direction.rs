//! Whether a simulated change goes the way of the published one: the only place of this rule
//! (studies/README.md).
//!
//! What must stay: the limits of 1 % and 5 %, and that `None` is no check, not a miss: a change of
//! this rule changes every count of right directions in docs/results, and nothing of any run.
//! Changes and bounds are percent. Tests by part: `the_interval_decides_the_direction` (`of`),
//! `what_was_calibrated_on_or_not_published_is_no_check` (`of`, `None`),
//! crates/report/src/published.rs::`directions_are_counted_by_interval` (`of_row`).
//!
//! Tests: below, crates/report/src/published.rs::directions_are_counted_by_interval

/// Published changes below this are taken as "no change", %.
const NO_CHANGE_PCT: f64 = 1.0;

/// A simulated change whose whole interval is within this shows "no change", %. The published runs
/// spread by about as much.
const NO_CHANGE_BAND_PCT: f64 = 5.0;

/// What is known of a change that was published and simulated.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// Published change, percent; None: nothing was published.
    pub published_pct: Option<f64>,
    /// 95 % interval of the simulated change, percent; None: one run, or nothing simulated.
    pub simulated_ci95: Option<(f64, f64)>,
    /// Something was calibrated on the published figure.
    pub calibrated: bool,
}

/// Whether the simulation goes the way of what was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It does.
    Right,
    /// It goes the other way.
    Wrong,
    /// The interval holds both ways, or there is none.
    NotTold,
}

impl Direction {
    /// Of a row of a study.
    #[must_use]
    pub fn of_row(row: &wakeplace_outcome::Row) -> Option<Direction> {
        Self::of(Checked {
            published_pct: row.published_delta_pct,
            simulated_ci95: row.simulated_delta_ci95,
            calibrated: row.calibrated,
        })
    }

    /// A published change of a percent at least has a direction: the simulated one's 95 % interval
    /// has to lie on that side of 0. A smaller one says that nothing changes: the simulated one
    /// says so if its whole interval is within 5 %, and the contrary if its whole interval is
    /// beyond 1 %. One run has no interval and tells nothing. None: no check, since nothing was
    /// published or something was calibrated on it.
    #[must_use]
    pub fn of(row: Checked) -> Option<Direction> {
        let published = row.published_pct.filter(|_| !row.calibrated)?;
        // From a base of 0 there are no percent to compare.
        let finite = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
        let Some((low, high)) = row.simulated_ci95.filter(finite) else {
            return Some(Direction::NotTold);
        };
        let (right, wrong) = if published.abs() < NO_CHANGE_PCT {
            let beyond = low > NO_CHANGE_PCT || high < -NO_CHANGE_PCT;
            let within = -NO_CHANGE_BAND_PCT <= low && high <= NO_CHANGE_BAND_PCT;
            (within && !beyond, beyond)
        } else {
            match published > 0.0 {
                true => (low > 0.0, high < 0.0),
                false => (high < 0.0, low > 0.0),
            }
        };
        Some(match (right, wrong) {
            (true, _) => Direction::Right,
            (_, true) => Direction::Wrong,
            _ => Direction::NotTold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Checked, Direction};

    /// Goal: each line of the rule, at both sides of each limit.
    #[test]
    fn the_interval_decides_the_direction() {
        let of = |published_pct, low, high| {
            Direction::of(Checked {
                published_pct: Some(published_pct),
                simulated_ci95: Some((low, high)),
                calibrated: false,
            })
        };
        let [right, wrong, open] =
            [Direction::Right, Direction::Wrong, Direction::NotTold].map(Some);
        assert_eq!([of(1.0, 0.1, 9.0), of(-1.0, -9.0, -0.1)], [right; 2]);
        assert_eq!([of(1.0, -9.0, -0.1), of(-1.0, 0.1, 9.0)], [wrong; 2]);
        assert_eq!([of(13.0, -0.1, 9.0), of(13.0, 0.0, 9.0)], [open; 2]);
        // Below one percent nothing changes, whatever the sign.
        assert_eq!([of(0.9, -5.0, -0.5), of(-0.9, 0.5, 5.0)], [right; 2]);
        assert_eq!([of(0.9, 1.1, 3.0), of(0.9, -3.0, -1.1)], [wrong; 2]);
        assert_eq!([of(0.9, -5.1, 0.0), of(0.0, 0.5, 5.1)], [open; 2]);
        assert_eq!(of(5.0, f64::INFINITY, f64::INFINITY), open);
    }

    #[test]
    fn what_was_calibrated_on_or_not_published_is_no_check() {
        let row = Checked {
            published_pct: Some(5.0),
            simulated_ci95: None,
            calibrated: false,
        };
        assert_eq!(Direction::of(row), Some(Direction::NotTold));
        let calibrated = true;
        assert_eq!(Direction::of(Checked { calibrated, ..row }), None);
        let published_pct = None;
        assert_eq!(
            Direction::of(Checked {
                published_pct,
                ..row
            }),
            None
        );
    }
}

//! Conditions on metrics: absolute, as `wake_latency_us_p99<=500`, or on the change from the base,
//! as `cpu_energy_j<=+3%` and `missed_frames_total<=base` (docs/guide/results.md, "Gates"). How one
//! is typed, and how it is printed, are one form.
//!
//! Called by `--expect` (`crates/cli/src/expect.rs`). Judging changes no result. Changes are
//! percent of the base's mean.
//!
//! What must stay: the language, as scripts of CI systems have it; a condition that is printed
//! reads as the same one. An absent metric meets no condition. A change that its interval does not
//! tell is neither met nor failed. Free: what leaves every figure as it is (ARCHITECTURE.md, "What
//! a change may touch"). Tests by part: `reads_every_operator` (`Expectation::parse`),
//! `checks_the_boundary_of_every_operator` (`holds`, `check`), `refuses_with_the_nearest_name`
//! (`ExpectationError`, `Limit::parse`), `prints_as_it_is_read` (`Display`, `condition`),
//! `a_limit_is_said_in_words` (`limit_in_words`),
//! `a_change_is_judged_by_its_interval` (`told`, `check_change`), `reads_every_operator` (`symbol`,
//! `parse`), `prints_as_it_is_read` (`fmt`).
//!
//! Tests: below

use crate::collector::{RunMetrics, paired, series};
use crate::metric::{UnknownMetric, find_metric};
use crate::stats::{PairedDelta, Summary};
use std::fmt;
use wakeplace_text::shorten;

/// How a metric is compared with the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `==`, exactly
    Equal,
}

impl Operator {
    /// Two-character operators first, so that `<=` is not read as `<`.
    const ALL: [Operator; 5] = [
        Operator::AtMost,
        Operator::AtLeast,
        Operator::Equal,
        Operator::Below,
        Operator::Above,
    ];

    /// As written.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::AtMost => "<=",
            Operator::Below => "<",
            Operator::AtLeast => ">=",
            Operator::Above => ">",
            Operator::Equal => "==",
        }
    }

    /// Of the change's interval: it holds in all of it, fails in all of it, or is not told.
    fn told(self, (low, high): (f64, f64), limit: f64) -> Option<bool> {
        let ends = [low, high].map(|end| self.holds(end, limit));
        (ends[0] == ends[1]).then_some(ends[0])
    }

    /// Of a value without an interval; the boundary belongs to `<=`, `>=` and `==`.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::AtMost => value <= limit,
            Operator::Below => value < limit,
            Operator::AtLeast => value >= limit,
            Operator::Above => value > limit,
            Operator::Equal => value == limit,
        }
    }
}

/// Why a text is no expectation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExpectationError {
    /// No comparison in it.
    #[error(
        "'{}' has no operator; expected METRIC then one of <= < >= > == then a number, `base` or a \
         change as `+3%`",
        shorten(.text)
    )]
    NoOperator {
        /// The text given.
        text: String,
    },
    /// What follows the operator is not a finite number.
    #[error(
        "'{}': expected a number, `base` or a change as `+3%` after {operator}, found '{}'",
        shorten(.text),
        shorten(.found)
    )]
    NotANumber {
        /// The text given.
        text: String,
        /// The operator in it.
        operator: &'static str,
        /// What stands after the operator.
        found: String,
    },
    /// A change is never told to be exactly so much.
    #[error(
        "'{}': a change cannot be told to be exactly that; expected <= < >= or >",
        shorten(.text)
    )]
    ExactChange {
        /// The text given.
        text: String,
    },
    /// The name is not a metric's.
    #[error(transparent)]
    UnknownMetric(#[from] UnknownMetric),
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The condition holds for this value.
    Met(f64),
    /// It does not hold for this value.
    Failed(f64),
    /// The metric was not measured (as joules on a platform without power): not met either.
    Absent,
}

/// What a check of a change found, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ChangeVerdict {
    /// The condition holds for all of the interval, percent.
    Met((f64, f64)),
    /// It holds for nothing of it.
    Failed((f64, f64)),
    /// It holds for a part of it; None: one run says nothing of chance.
    NotTold(Option<(f64, f64)>),
}

/// What a metric is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// This value, in the metric's unit.
    Value(f64),
    /// So much more than the base's, percent.
    FromBase(f64),
}

impl Limit {
    /// `3`, `base`, `+3%`, `-3%`, `base+3%`.
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse().ok().filter(|n: &f64| n.is_finite());
        let base = text.strip_prefix("base").map(str::trim_start);
        let Some(percent) = base.unwrap_or(text).strip_suffix('%') else {
            return match base {
                Some("") => Some(Self::FromBase(0.0)),
                Some(_) => None,
                // `+3` is a change whose `%` was forgotten.
                None => number(text)
                    .filter(|_| !text.starts_with('+'))
                    .map(Self::Value),
            };
        };
        let (sign, size) = match percent.split_at_checked(1)? {
            ("+", size) => (1.0, size),
            ("-", size) => (-1.0, size),
            _ => return None,
        };
        let size = number(size).filter(|size| *size >= 0.0)?;
        Some(Self::FromBase(sign * size))
    }
}

impl fmt::Display for Limit {
    /// As it is typed after the operator.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Value(value) => write!(f, "{value}"),
            Self::FromBase(0.0) => f.write_str("base"),
            Self::FromBase(percent) => write!(f, "{percent:+}%"),
        }
    }
}

/// A condition on one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The policy that it is about, as typed; None: all, or all but the base for a change.
    pub policy: Option<String>,
    /// Name of the metric, defined in [`crate::METRICS`].
    pub metric: String,
    /// Comparison.
    pub operator: Operator,
    /// Right-hand side.
    pub limit: Limit,
}

/// What a condition found in runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// Mean of the runs, in the metric's unit.
    pub mean: Option<f64>,
    /// Mean of the base's runs, of a condition on a change.
    pub base: Option<f64>,
    /// The change from the base, of a condition on a change.
    pub change: Option<PairedDelta>,
    /// None: an interval reaches over the limit, or there is none.
    pub holds: Option<bool>,
}

impl Expectation {
    /// Reads `[POLICY ]METRIC OP LIMIT`; blanks around the parts are allowed.
    ///
    /// # Errors
    /// No operator, no number, or an unknown metric with the nearest name.
    pub fn parse(text: &str) -> Result<Expectation, ExpectationError> {
        let no_operator = || ExpectationError::NoOperator {
            text: text.to_owned(),
        };
        // A policy's name has `=` in its settings; a limit has no operator.
        let last = text.rfind(['<', '>', '=']).ok_or_else(no_operator)?;
        let head = &text[..last];
        let at = head.trim_end_matches(['<', '>', '=']).len();
        let operator = Operator::ALL
            .into_iter()
            .find(|op| text[at..=last] == *op.symbol())
            .ok_or_else(no_operator)?;
        let named = text[..at].trim();
        let (policy, metric) = match named.rsplit_once(char::is_whitespace) {
            Some((policy, metric)) => (Some(policy.trim().to_owned()), metric),
            None => (None, named),
        };
        find_metric(metric)?;
        let found = text[last + 1..].trim();
        let limit = Limit::parse(found).ok_or_else(|| ExpectationError::NotANumber {
            text: text.to_owned(),
            operator: operator.symbol(),
            found: found.to_owned(),
        })?;
        if operator == Operator::Equal && matches!(limit, Limit::FromBase(_)) {
            return Err(ExpectationError::ExactChange {
                text: text.to_owned(),
            });
        }
        Ok(Expectation {
            policy,
            metric: metric.to_owned(),
            operator,
            limit,
        })
    }

    /// What is expected, of whomever.
    #[must_use]
    pub fn condition(&self) -> String {
        format!("{}{}{}", self.metric, self.operator.symbol(), self.limit)
    }

    /// What is expected, in words: `at most 500 us`, `at least +3 % from the base`.
    #[must_use]
    pub fn limit_in_words(&self) -> String {
        let how = match self.operator {
            Operator::AtMost => "at most",
            Operator::Below => "below",
            Operator::AtLeast => "at least",
            Operator::Above => "above",
            Operator::Equal => "exactly",
        };
        let unit = find_metric(&self.metric).map_or("", |def| def.unit);
        match self.limit {
            Limit::Value(value) if matches!(unit, "" | "count") => format!("{how} {value}"),
            Limit::Value(value) => format!("{how} {value} {unit}"),
            Limit::FromBase(0.0) => format!("{how} the base's"),
            Limit::FromBase(percent) => format!("{how} {percent:+} % from the base"),
        }
    }

    /// Judges runs beside those of the base, seed by seed; None: the metric was not measured.
    #[must_use]
    pub fn judge(&self, base: &[RunMetrics], runs: &[RunMetrics]) -> Option<Judgement> {
        let mean_of = |runs: &[RunMetrics]| {
            let values = series(runs).remove(&self.metric);
            values.map(|found| Summary::of(&found.values).mean)
        };
        let mean = mean_of(runs);
        let (change, holds) = match self.limit {
            Limit::Value(limit) => match self.check(mean, limit) {
                Verdict::Met(_) => (None, Some(true)),
                Verdict::Failed(_) => (None, Some(false)),
                Verdict::Absent => return None,
            },
            Limit::FromBase(limit_pct) => {
                let change = paired(base, runs, &self.metric)?;
                let holds = match self.check_change(&change, limit_pct) {
                    ChangeVerdict::Met(_) => Some(true),
                    ChangeVerdict::Failed(_) => Some(false),
                    ChangeVerdict::NotTold(_) => None,
                };
                (Some(change), holds)
            }
        };
        Some(Judgement {
            mean,
            base: change.and_then(|_| mean_of(base)),
            change,
            holds,
        })
    }

    /// Compares a value of the metric with a limit.
    fn check(&self, value: Option<f64>, limit: f64) -> Verdict {
        match value {
            None => Verdict::Absent,
            Some(v) if self.operator.holds(v, limit) => Verdict::Met(v),
            Some(v) => Verdict::Failed(v),
        }
    }

    /// Compares the change from the base with a limit, percent.
    fn check_change(&self, change: &PairedDelta, limit_pct: f64) -> ChangeVerdict {
        let Some(bounds) = change.bounds() else {
            return ChangeVerdict::NotTold(None);
        };
        match self.operator.told(bounds, limit_pct) {
            Some(true) => ChangeVerdict::Met(bounds),
            Some(false) => ChangeVerdict::Failed(bounds),
            None => ChangeVerdict::NotTold(Some(bounds)),
        }
    }
}

impl fmt::Display for Expectation {
    /// As it is typed; read again it is the same condition.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(policy) = &self.policy {
            write!(f, "{policy} ")?;
        }
        f.write_str(&self.condition())
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangeVerdict, Expectation, ExpectationError, Limit, Operator, Verdict};
    use crate::stats::PairedDelta;
    use wakeplace_outcome::Method;

    #[test]
    fn reads_every_operator() {
        for (text, operator) in [
            ("wake_latency_us_p99<=500", Operator::AtMost),
            ("wake_latency_us_p99 < 500", Operator::Below),
            ("wake_latency_us_p99>=5e2", Operator::AtLeast),
            (" wake_latency_us_p99 > 500.0 ", Operator::Above),
            ("wake_latency_us_p99==500", Operator::Equal),
        ] {
            let e = Expectation::parse(text).unwrap();
            let parts = (e.metric.as_str(), e.operator, e.limit);
            assert_eq!(
                parts,
                ("wake_latency_us_p99", operator, Limit::Value(500.0))
            );
        }
    }

    #[test]
    fn checks_the_boundary_of_every_operator() {
        for (symbol, below, equal, above) in [
            ("<=", true, true, false),
            ("<", true, false, false),
            (">=", false, true, true),
            (">", false, false, true),
            ("==", false, true, false),
        ] {
            let e = Expectation::parse(&format!("runtime_s{symbol}2")).unwrap();
            for (value, met) in [(1.5, below), (2.0, equal), (2.5, above)] {
                let expected = if met {
                    Verdict::Met(value)
                } else {
                    Verdict::Failed(value)
                };
                assert_eq!(e.check(Some(value), 2.0), expected);
            }
        }
        let e = Expectation::parse("energy_j<=3").unwrap();
        assert_eq!(e.check(None, 3.0), Verdict::Absent);
    }

    #[test]
    fn a_limit_is_said_in_words() {
        for (text, said) in [
            ("wake_latency_us_p99<=500", "at most 500 us"),
            ("missed_frames_total<1", "below 1"),
            ("cpu_energy_j<=+3%", "at most +3 % from the base"),
            ("cpu_energy_j>-2.5%", "above -2.5 % from the base"),
            ("missed_frames_total<=base", "at most the base's"),
            ("runtime_s==2", "exactly 2 s"),
        ] {
            let condition = Expectation::parse(text).unwrap();
            assert_eq!(condition.limit_in_words(), said);
        }
    }

    #[test]
    fn refuses_with_the_nearest_name() {
        let message = |text| Expectation::parse(text).unwrap_err().to_string();
        let unknown = message("wake_latency_us_p98<=500");
        let begin = "unknown metric `wake_latency_us_p98`; expected a metric as energy_j, ";
        assert!(
            unknown.starts_with(begin)
                && unknown.ends_with("; did you mean `wake_latency_us_p95`?"),
            "{unknown}"
        );
        assert_eq!(
            message("runtime_s<=soon"),
            "'runtime_s<=soon': expected a number, `base` or a change as `+3%` after <=, found \
             'soon'"
        );
        assert!(matches!(
            Expectation::parse("runtime_s=3"),
            Err(ExpectationError::NoOperator { .. })
        ));
        assert!(message("runtime_s").contains("no operator"));
        assert!(message("runtime_s<NaN").contains("expected a number"));
        assert!(message("runtime_s<=").contains("expected a number"));
        for wrong in ["+3", "1 0 0", "b a s e", "3%", "+-3%", "base3%", "base+3"] {
            let text = format!("runtime_s<={wrong}");
            let said = Expectation::parse(&text).unwrap_err().to_string();
            assert!(said.contains("expected a number"), "{wrong}: {said}");
        }
    }

    #[test]
    fn prints_as_it_is_read() {
        for text in [
            "slack_us_min>=-12.5",
            "cpu_energy_j<=+3%",
            "cpu_energy_j<-2.5%",
            "missed_frames_total<=base",
            "linux-7.3:runnable_boost=off cpu_energy_j<3",
        ] {
            assert_eq!(Expectation::parse(text).unwrap().to_string(), text);
        }
        let parsed = Expectation::parse("cpu_energy_j <= base + 3%").unwrap();
        assert_eq!(parsed.limit, Limit::FromBase(3.0));
    }

    /// Goal: a change is judged by its interval: all of it, nothing of it, or a part.
    #[test]
    fn a_change_is_judged_by_its_interval() {
        let change = |ci95: Option<(f64, f64)>, method| PairedDelta {
            delta_pct: 1.0,
            ci95,
            significant: false,
            n: 5,
            method,
        };
        let at_most = Expectation::parse("cpu_energy_j<=+3%").unwrap();
        let judged = |low, high| {
            let change = change(Some((low, high)), Method::LogRatio);
            at_most.check_change(&change, 3.0)
        };
        assert_eq!(judged(-1.0, 3.0), ChangeVerdict::Met((-1.0, 3.0)));
        assert_eq!(judged(3.1, 9.0), ChangeVerdict::Failed((3.1, 9.0)));
        assert_eq!(judged(2.0, 4.0), ChangeVerdict::NotTold(Some((2.0, 4.0))));
        let inf = f64::INFINITY;
        assert_eq!(
            judged(inf, inf),
            ChangeVerdict::Failed((inf, inf)),
            "from 0"
        );
        assert_eq!(judged(-inf, inf), ChangeVerdict::NotTold(Some((-inf, inf))));
        let one = change(None, Method::OneRun);
        assert_eq!(
            at_most.check_change(&one, 3.0),
            ChangeVerdict::NotTold(None)
        );
        let same = change(None, Method::SameRuns);
        assert_eq!(
            at_most.check_change(&same, 3.0),
            ChangeVerdict::Met((1.0, 1.0))
        );
        let exact = Expectation::parse("cpu_energy_j==base")
            .unwrap_err()
            .to_string();
        assert!(exact.ends_with("expected <= < >= or >"), "{exact}");
    }
}

//! Conditions on metrics, as `wake_latency_us_p99<=500`.

use crate::metric::{UnknownMetric, find_metric};
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

    fn holds(self, value: f64, limit: f64) -> bool {
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
        "'{}' has no operator; expected METRIC then one of <= < >= > == then a number",
        shorten(.text)
    )]
    NoOperator {
        /// The text given.
        text: String,
    },
    /// What follows the operator is not a finite number.
    #[error(
        "'{}': expected a number after {operator}, found '{}'",
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
    /// The name is not a metric's.
    #[error(transparent)]
    UnknownMetric(#[from] UnknownMetric),
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The condition holds for this value.
    Met(f64),
    /// It does not hold for this value.
    Failed(f64),
    /// The metric was not measured (as joules on a platform without power): not met either.
    Absent,
}

/// A condition on one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Name of the metric, defined in [`crate::METRICS`].
    pub metric: String,
    /// Comparison.
    pub operator: Operator,
    /// Right-hand side, in the metric's unit.
    pub limit: f64,
}

impl Expectation {
    /// Reads `METRIC OP NUMBER`; blanks around the parts are allowed.
    ///
    /// # Errors
    /// No operator, no number, or an unknown metric with the nearest name.
    pub fn parse(text: &str) -> Result<Expectation, ExpectationError> {
        let at = text
            .find(['<', '>', '='])
            .ok_or_else(|| ExpectationError::NoOperator {
                text: text.to_owned(),
            })?;
        let (name, rest) = text.split_at(at);
        let operator = Operator::ALL
            .into_iter()
            .find(|op| rest.starts_with(op.symbol()))
            .ok_or_else(|| ExpectationError::NoOperator {
                text: text.to_owned(),
            })?;
        let metric = name.trim();
        find_metric(metric)?;
        let number = rest[operator.symbol().len()..].trim();
        let limit = number.parse().ok().filter(|n: &f64| n.is_finite());
        let limit = limit.ok_or_else(|| ExpectationError::NotANumber {
            text: text.to_owned(),
            operator: operator.symbol(),
            found: number.to_owned(),
        })?;
        Ok(Expectation {
            metric: metric.to_owned(),
            operator,
            limit,
        })
    }

    /// Compares the value that `values` gives for the metric's name, as
    /// `check(|name| run.values.get(name))`.
    pub fn check(&self, values: impl FnOnce(&str) -> Option<f64>) -> Verdict {
        match values(&self.metric) {
            None => Verdict::Absent,
            Some(v) if self.operator.holds(v, self.limit) => Verdict::Met(v),
            Some(v) => Verdict::Failed(v),
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.metric, self.operator.symbol(), self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::{Expectation, ExpectationError, Operator, Verdict};

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
            assert_eq!(parts, ("wake_latency_us_p99", operator, 500.0));
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
                assert_eq!(
                    e.check(|name| (name == "runtime_s").then_some(value)),
                    expected
                );
            }
        }
        let e = Expectation::parse("energy_j<=3").unwrap();
        assert_eq!(e.check(|_| None), Verdict::Absent);
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
            "'runtime_s<=soon': expected a number after <=, found 'soon'"
        );
        assert!(matches!(
            Expectation::parse("runtime_s=3"),
            Err(ExpectationError::NoOperator { .. })
        ));
        assert!(message("runtime_s").contains("no operator"));
        assert!(message("runtime_s<NaN").contains("expected a number"));
        assert!(message("runtime_s<=").contains("expected a number"));
    }

    #[test]
    fn prints_as_it_is_read() {
        let text = "slack_us_min>=-12.5";
        assert_eq!(Expectation::parse(text).unwrap().to_string(), text);
    }
}

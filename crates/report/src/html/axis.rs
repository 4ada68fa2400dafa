//! The axis of a dot plot (docs/guide/report.md).
//!
//! What must stay: 0 is on the axis of changes, as a change is read from there (`charts.rs`); an
//! axis has a length even if all is 0. Everything else may change. Tests by part:
//! `where_all_is_nothing_the_axis_has_a_length` (`of`).
//!
//! Callers: charts.rs (`of`).
//!
//! Tests: below

use super::charts::Dot;
use serde_json::{Value, json};
use wakeplace_study::SHOWN_PCT;

/// The scale of values; `changes`: they are percent of a base, and 0 is on it. Where all is nothing
/// the axis would have no length, and labels like `0.000000`: then it has one of its own.
pub(super) fn of(dots: &[Dot], changes: bool) -> Value {
    let all = dots.iter().flat_map(|dot| {
        let (low, high) = dot.ends.unwrap_or((dot.value, dot.value));
        [low, high, dot.value]
    });
    let most = all.fold(0.0, |most: f64, value| most.max(value.abs()));
    let mut scale = json!({"zero": changes, "nice": true});
    if changes && most < SHOWN_PCT {
        scale["domain"] = json!([-1, 1]);
    } else if most == 0.0 {
        scale["domain"] = json!([0, 1]);
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::{Dot, of};
    use serde_json::json;

    /// Goal: an axis has a length, whatever lies on it.
    #[test]
    fn where_all_is_nothing_the_axis_has_a_length() {
        let dots = |value: f64, ends| {
            [Dot {
                row: "energy".to_owned(),
                series: "new".to_owned(),
                policy: 1,
                source: "",
                value,
                ends,
            }]
        };
        let domain = |dots: &[Dot], changes| of(dots, changes)["domain"].clone();
        assert_eq!(domain(&dots(0.0, Some((0.0, 0.0))), true), json!([-1, 1]));
        assert_eq!(domain(&dots(0.04, None), true), json!([-1, 1]));
        assert_eq!(domain(&dots(0.0, Some((-0.1, 0.1))), true), json!(null));
        assert_eq!(domain(&dots(0.0, None), false), json!([0, 1]));
        assert_eq!(domain(&dots(0.04, None), false), json!(null));
    }
}

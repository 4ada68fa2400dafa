//! What a study found: what its rows are made of beside [`wakeplace_outcome`].
//!
//! What must stay: changes and spreads are percent, of the base's mean. A spread that was not
//! published is `None`, never 0. Tests by part:
//! study/tests.rs::`a_change_published_without_means_stands_as_a_change` (`PublishedChange`).
//!
//! Tests: crates/study/src/study/tests.rs::a_change_published_without_means_stands_as_a_change

/// A change that was published without the means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PublishedChange {
    /// From the base, percent.
    pub(crate) delta_pct: f64,
    /// Relative standard deviation of the changed figure, percent, where it was published.
    pub(crate) rsd_pct: Option<f64>,
    /// The base's.
    pub(crate) base_rsd_pct: Option<f64>,
}

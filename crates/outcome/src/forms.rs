//! What results have at several places (docs/guide/report.md, "In the JSON"). A form that is there
//! stays: results of earlier versions are read.
//!
//! Called for every result that is written or read.
//!
//! What must stay: words of differences and methods, since programs compare them. A figure or an
//! end that is not finite is `null` in JSON and comes back as such. Keys of `Pairs` stand in their
//! order. Hashes have 16 hexadecimal digits. Tests by part: `cpus_in_ranges` (`ranges`),
//! crates/report/src/html/tests.rs::`results_of_version_1_are_read` (`yes`, `Pairs`),
//! crates/report/src/comparison/tests.rs::`a_loss_from_nothing_is_told` (`interval`),
//! crates/cli/tests/all/schema.rs::`results_are_what_the_schema_says` (`words`, `json_schema`,
//! `hash`, `Multiplicity`).
//!
//! Tests: below, crates/report/src/html/tests.rs::results_of_version_1_are_read,
//! crates/report/src/comparison/tests.rs,
//! crates/cli/tests/all/schema.rs::results_are_what_the_schema_says

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// An enum whose variants stand in results as words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$of])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// As results show it.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// What a word of a result means; None: no version of this program says it so.
            #[must_use]
            pub fn of_word(word: &str) -> Option<Self> {
                [$(Self::$variant),+].into_iter().find(|known| known.word() == word)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What a difference means.
    Difference {
        /// An improvement.
        Better = "better",
        /// A deterioration.
        Worse = "worse",
        /// A difference that is neither good nor bad in itself.
        Other = "other",
        /// The interval lies within the margin.
        Same = "none that matters",
        /// The interval reaches beyond the margin and into it: more seeds may tell.
        NotTold = "not told",
        /// One run: nothing is known of chance.
        Unknown = "one run",
    }
}

words! {
    /// How an interval was made.
    Method {
        /// Student's t of the logarithms of the ratios, seed by seed: of positive quantities.
        LogRatio = "paired-log-ratio-t",
        /// Student's t of the differences, seed by seed, in percent of the base's mean: where a
        /// value is 0 or negative, so that ratios say nothing. Where no value is negative, an end
        /// below -100 % is cut there: nothing loses more than it has.
        Difference = "paired-difference-t",
        /// No interval: there is one run of each.
        OneRun = "one-run",
        /// No interval: every seed gives the same run, so that nothing is left to chance.
        SameRuns = "same-runs",
    }
}

/// How many of a result's 95 % intervals miss the true change by chance.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize, JsonSchema)]
pub struct Multiplicity {
    /// Intervals.
    pub intervals: usize,
    /// So many of them miss the true change.
    #[serde(default)]
    pub expected_to_miss: f64,
}

impl Multiplicity {
    /// Of so many intervals of 95 %.
    #[must_use]
    pub fn of(intervals: usize) -> Self {
        Self {
            intervals,
            expected_to_miss: intervals as f64 * 5.0 / 100.0,
        }
    }
}

/// A value that distinguishes a case of a study.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number or a text")]
pub enum Param {
    /// As a number of tasks.
    Number(i64),
    /// As a kind.
    Word(String),
}

impl Param {
    /// The word, if it is one.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match self {
            Param::Word(word) => Some(word),
            Param::Number(_) => None,
        }
    }
}

/// An object's entries in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairs<T = String>(pub Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    /// No pairs.
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> std::ops::Deref for Pairs<T> {
    type Target = [(String, T)];

    /// The pairs as a slice.
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> From<Vec<(String, T)>> for Pairs<T> {
    /// The pairs in this order, which JSON keeps.
    fn from(all: Vec<(String, T)>) -> Self {
        Self(all)
    }
}

impl<T> FromIterator<(String, T)> for Pairs<T> {
    /// The same, collected.
    fn from_iter<I: IntoIterator<Item = (String, T)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl<T> Pairs<T> {
    /// The value of a key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&T> {
        let found = self.0.iter().find(|(own, _)| own == key);
        found.map(|(_, value)| value)
    }
}

impl<T: Serialize> Serialize for Pairs<T> {
    /// An object whose keys stand in the order of the pairs.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    /// An object of any keys, in the order of the text; a key that stands twice is there twice.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Pairs<T>;

            /// What a message says was expected.
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            /// Takes all keys in their order.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Pairs(all))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Pairs<T> {
    /// The schema's name for pairs of this type.
    fn schema_name() -> Cow<'static, str> {
        format!("Pairs_of_{}", T::schema_name()).into()
    }

    /// It stands where it is used: no definition of its own.
    fn inline_schema() -> bool {
        true
    }

    /// An object of any keys with values of one type.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": generator.subschema_for::<T>(),
        })
    }
}

/// A figure that may be not finite: null in JSON, not a number when it is read back.
pub(crate) mod number {
    use serde::{Deserialize, Deserializer, Serializer};

    /// A number; one that is not finite is `null`.
    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(*value)
    }

    /// A number; `null` is one that is not known.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

/// A 95 % interval, low and high end. An end that is infinite is null, and so is an interval of
/// which no end is finite, as from a base of 0.
pub(crate) mod interval {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Both ends; an interval without a finite end is `null`.
    pub(crate) fn serialize<S: Serializer>(
        ends: &Option<(f64, f64)>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        ends.filter(|(low, high)| low.is_finite() || high.is_finite())
            .serialize(serializer)
    }

    /// Both ends; an end that is `null` is infinite.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<(f64, f64)>, D::Error> {
        let ends = Option::<(Option<f64>, Option<f64>)>::deserialize(deserializer)?;
        Ok(ends.map(|(low, high)| {
            (
                low.unwrap_or(f64::NEG_INFINITY),
                high.unwrap_or(f64::INFINITY),
            )
        }))
    }
}

/// The form of an interval in JSON.
pub(crate) type Interval = Option<(Option<f64>, Option<f64>)>;

/// For keys that older results lack.
pub(crate) fn yes() -> bool {
    true
}

/// For keys that stand only where they say something.
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// The hash of a run, hexadecimal since JSON numbers lose digits.
#[must_use]
pub fn hash(of_run: u64) -> String {
    format!("{of_run:016x}")
}

/// The hashes of several runs.
pub fn hashes(of_runs: impl Iterator<Item = u64>) -> Vec<String> {
    of_runs.map(hash).collect()
}

/// CPUs as people write them: `0-3,8`.
#[must_use]
pub fn ranges(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let part = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn cpus_in_ranges() {
        assert_eq!(ranges(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[5, 7, 8]), "5,7-8");
    }
}

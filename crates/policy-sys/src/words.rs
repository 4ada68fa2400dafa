//! The core's lists of numbers with names, as enums (docs/guide/policy.md).
//!
//! What must stay: names and numbers are the C enums'; one macro makes all, so a new list is one
//! entry. Free: a line for people.
//!
//! Tests by part: explain.rs: `every_word_is_there_once` (`name`), fixtures.rs:
//! `every_fixture_holds` (`name`, `from_number`); `doc` and `fmt` are shown by reports.
//!
//! Callers: reason.rs, explain.rs, core.rs (enums of the core).
//!
//! Tests: crates/policy-sys/tests/all/fixtures.rs, crates/policy-sys/tests/all/explain.rs

/// An enum of the core's constants: each with the name that results have, and a line for people.
macro_rules! words {
    ($(#[$about:meta])* $kind:ident {
        $($name:ident = $symbol:ident, $text:literal, $doc:literal;)*
    }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u32)]
        $(#[$about])*
        pub enum $kind {
            $(#[doc = $doc] $name = $crate::sys::$symbol,)*
        }

        impl $kind {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [$kind] = &[$($kind::$name,)*];

            /// Short name, as in results.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($kind::$name => $text,)* }
            }

            /// One line for people.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $($kind::$name => $doc,)* }
            }

            /// From the core's number; the first one for a number it does not have.
            #[must_use]
            pub fn from_number(number: u32) -> Self {
                Self::ALL.get(number as usize).copied().unwrap_or(Self::ALL[0])
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use words;

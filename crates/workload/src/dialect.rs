//! How older tools read rt-app files (docs/guide/rt-app.md, "Dialects").
//!
//! Called for `--rtapp-dialect`. A word that is there stays, and means what that tool does. Who
//! acts on it is `rtapp`.
//!
//! What must stay: the words `workgen` and `suspend-ref`, as scripts and warnings name them; no
//! word is rt-app's own reading (docs/rules/rt-app.md#rt-app-dialects). Free: what leaves scripts
//! as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `dialects_are_words` (`parse`), `the_dialect_workgen` and
//! `the_dialect_suspend_ref` (what `rtapp` does with each).
//!
//! Tests: below, crates/workload/tests/all/rtapp_events.rs

use wakeplace_text::{did_you_mean, nearest};

/// What of rt-app's past an rt-app file is read by; the default is rt-app 55cb0c0
/// (docs/guide/rt-app.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// As its `doc/workgen` did: equal event keys are all kept, and `suspend` may lack a value.
    pub workgen: bool,
    /// As v1.0: `suspend` waits under the string given.
    pub suspend_ref: bool,
}

impl Dialect {
    /// Words, joined by commas: `workgen`, `suspend-ref`.
    ///
    /// # Errors
    /// Which word is none, and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        const WORDS: [&str; 2] = ["workgen", "suspend-ref"];
        let mut dialect = Self::default();
        let words = text.split(',').map(str::trim);
        for word in words.filter(|word| !word.is_empty()) {
            match word {
                "workgen" => dialect.workgen = true,
                "suspend-ref" => dialect.suspend_ref = true,
                _ => {
                    let hint = did_you_mean(nearest(word, WORDS));
                    return Err(format!("`{word}`: expected {}{hint}", WORDS.join(" or ")));
                }
            }
        }
        Ok(dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn dialects_are_words() {
        assert_eq!(Dialect::parse(""), Ok(Dialect::default()));
        let both = Dialect::parse("suspend-ref, workgen").unwrap();
        assert!(both.workgen && both.suspend_ref);
        assert!(
            Dialect::parse("workgn")
                .unwrap_err()
                .contains("did you mean `workgen`?")
        );
    }
}

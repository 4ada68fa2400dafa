//! What a platform, a workload or a policy is, as a hash: equal hashes, equal input of the engine
//! (docs/guide/results.md, "What a result holds").
//!
//! What must stay: equal hashes are equal input of the engine: the store and `diff` rely on it. A
//! field that is added to a struct changes the hash, so hashes are compared within one version
//! only. Tests by part: `a_hash_is_that_of_the_debug_form` (`hash_of`, `hex`),
//! `a_texts_hash_is_that_of_its_bytes` (`hash_of_text`).
//!
//! Tests: below

use sha2::{Digest, Sha256};
use std::fmt::{Debug, Write};

/// Hexadecimal digits of a hash that results show: 128 bits.
const SHOWN: usize = 32;

/// A hash of all that a value consists of. `Debug` shows every field and every number exactly; it
/// is the program's own form, so that hashes of two versions may differ.
pub(crate) fn hash_of(value: &impl Debug) -> String {
    struct Hashing(Sha256);
    impl Write for Hashing {
        /// Takes a piece of the text as `Debug` makes it, so that no large text is ever whole in
        /// memory.
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let mut hashing = Hashing(Sha256::new());
    write!(hashing, "{value:?}").expect("hashing cannot fail");
    hex(&hashing.0.finalize())
}

/// A hash of a text, as `sha256sum` gives it.
pub(crate) fn hash_of_text(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// The first digits of a hash, as results show them.
fn hex(bytes: &[u8]) -> String {
    let all: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    all[..SHOWN].to_owned()
}

#[cfg(test)]
mod tests {
    use super::{hash_of, hash_of_text};

    /// FIPS 180-2, appendix B.1.
    #[test]
    fn a_texts_hash_is_that_of_its_bytes() {
        assert_eq!(hash_of_text("abc"), "ba7816bf8f01cfea414140de5dae2223");
    }

    /// SHA-256 of `"a"` with its quotes, computed with sha256sum.
    #[test]
    fn a_hash_is_that_of_the_debug_form() {
        assert_eq!(hash_of(&"a"), "ac8d8342bbb2362d13f0a559a3621bb4");
    }
}

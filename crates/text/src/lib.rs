//! What everything that reads words from outside shares: the nearest valid name and how it is
//! offered, how a wrong word is repeated and where it stands, durations, and how text from outside
//! is shown.
//!
//! Callers: crates/cli/src/expect.rs, crates/platform/src/read/clocks.rs and about 30 more
//! (`nearest`, `did_you_mean`). Free: what counts as near.
//!
//! What must stay: only words for people come from here, and no result depends on them; work is
//! bounded for a word of any length (`MAX_NAME_BYTES`); the wording of the offer, which tests of
//! all crates have. Tests by part: `slips_are_near`, `what_is_far_off_gets_no_offer`,
//! `a_part_of_a_name_is_enough_and_a_slip_is_better` (`nearest`), `several_may_have_been_meant`
//! (`nearest_few`), `the_offer_has_one_wording` (`did_you_mean`, `did_you_mean_first`),
//! `a_list_is_told_from_a_name` (`one_at_a_time`), `one_has_no_s` (`count`).
//!
//! Tests: below, beside its modules

mod duration;
mod place;
mod shown;

pub use duration::{parse_duration_ns, parse_duration_or_zero_ns, scaled, time};
pub use place::{quoted, shell_word, shorten, shorten_to, split_toml_message, whereabouts};
pub use shown::{csv_cell, json, markdown, markdown_cell, printable, printable_lines};

/// Longer words are not slips, and the distance is quadratic in the length. Bytes.
const MAX_NAME_BYTES: usize = 120;

/// Shortest part of a name that is taken for the name, characters.
const MIN_PART_CHARS: usize = 3;

/// The valid name that was meant, if one is near: one character in five is wrong, plus one (two
/// that changed places are one), or the word is the beginning of the name or of its part after a
/// `/`. Of the digits one may be wrong: another version is another thing. Upper case is as lower
/// case; among equals the first is taken.
pub fn nearest<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(name, valid, 1).pop()
}

/// All that may have been meant, the nearest first; at most `count`.
pub fn nearest_few<'a>(
    name: &str,
    valid: impl IntoIterator<Item = &'a str>,
    count: usize,
) -> Vec<&'a str> {
    if name.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let length = name.chars().count();
    let limit = 1 + length / 5;
    let digits = |text: &str| text.replace(|c: char| !c.is_ascii_digit(), "");
    let rank = |candidate: &'a str| {
        let lower = candidate.to_lowercase();
        let distance = strsim::damerau_levenshtein(&name, &lower);
        let digits_apart = strsim::damerau_levenshtein(&digits(&name), &digits(&lower));
        let is_slip = distance <= limit && distance < lower.chars().count() && digits_apart <= 1;
        let begins = |part: &str| part.starts_with(&name);
        let is_part = length >= MIN_PART_CHARS && (begins(&lower) || lower.split('/').any(begins));
        (is_slip || is_part).then_some((!is_slip, distance, candidate))
    };
    let mut near: Vec<_> = valid.into_iter().filter_map(rank).collect();
    near.sort_by_key(|&(not_slip, distance, _)| (not_slip, distance));
    let names = near.into_iter().map(|(_, _, candidate)| candidate);
    names.take(count).collect()
}

/// The end of a message about a wrong name: `; did you mean `X`?`, or nothing.
#[must_use]
pub fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// So many of something: `1 seed`, `2 seeds`. The noun is one whose plural ends in `s`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        many => format!("{many} {noun}s"),
    }
}

/// What to say of names with commas between them where one name is expected; `what` is it a name
/// of. None: there is no comma.
#[must_use]
pub fn one_at_a_time(what: &str, text: &str) -> Option<String> {
    text.contains(',').then(|| {
        format!(
            "`{}` is a list; expected one {what}, and the option once for each",
            shorten(text)
        )
    })
}

/// The end of a message about a wrong name where much can stand: the nearest names come first,
/// then what is expected, a sentence without its point.
#[must_use]
pub fn did_you_mean_first<T: AsRef<str>>(nearest: &[T], expected: &str) -> String {
    let [others @ .., last] = nearest else {
        return format!("; {expected}");
    };
    let last = last.as_ref();
    let quoted = |name: &T| format!("`{}`", name.as_ref());
    let others: Vec<String> = others.iter().map(quoted).collect();
    let or = if others.is_empty() { "" } else { " or " };
    let mut letters = expected.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let expected: String = first.into_iter().chain(letters).collect();
    format!(
        "; did you mean {}{or}`{last}`? {expected}",
        others.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::{count, did_you_mean, did_you_mean_first, nearest, nearest_few, one_at_a_time};

    #[test]
    fn one_has_no_s() {
        let said = [0, 1, 2].map(|number| count(number, "seed"));
        assert_eq!(said, ["0 seeds", "1 seed", "2 seeds"]);
    }

    #[test]
    fn slips_are_near() {
        for (wrong, right) in [
            ("linux-4.71", "linux-4.17"),
            ("linux4.17", "linux-4.17"),
            ("energy-awre", "energy-aware"),
            ("ENERGY-AWARE", "energy-aware"),
            ("v4", "v3"),
        ] {
            let valid = ["linux-4.17", "energy-aware", "v3"];
            assert_eq!(nearest(wrong, valid), Some(right), "{wrong}");
        }
    }

    #[test]
    fn what_is_far_off_gets_no_offer() {
        let valid = ["linux-4.17", "energy-aware", "n", "cpus"];
        for wrong in ["linux-6.2", "linux-5.10", "m", "", "x", "kernel"] {
            assert_eq!(nearest(wrong, valid), None, "{wrong}");
        }
        assert_eq!(nearest(&"c".repeat(1000), ["c"]), None);
    }

    #[test]
    fn a_part_of_a_name_is_enough_and_a_slip_is_better() {
        let valid = ["family/energy-juno-r0", "period", "periodic"];
        assert_eq!(nearest("energy-juno-r0", valid), Some(valid[0]));
        assert_eq!(nearest("perio", valid), Some("period"));
        assert_eq!(nearest("peroidic", valid), Some("periodic"));
        assert_eq!(nearest("pe", valid), None);
    }

    #[test]
    fn the_offer_has_one_wording() {
        assert_eq!(did_you_mean(Some("a")), "; did you mean `a`?");
        assert_eq!(did_you_mean(None), "");
        assert_eq!(did_you_mean_first::<&str>(&[], "known: a"), "; known: a");
        let near = did_you_mean_first(&["a"], "known: a, b");
        assert_eq!(near, "; did you mean `a`? Known: a, b");
        let several = did_you_mean_first(&["a", "b", "c"], "known: a");
        assert_eq!(several, "; did you mean `a`, `b` or `c`? Known: a");
    }

    #[test]
    fn a_list_is_told_from_a_name() {
        let said = "`a,b` is a list; expected one policy, and the option once for each";
        assert_eq!(one_at_a_time("policy", "a,b").as_deref(), Some(said));
        assert_eq!(one_at_a_time("policy", "a"), None);
    }

    #[test]
    fn several_may_have_been_meant() {
        let valid = ["rk3588", "juno-r0", "juno-r1", "juno-r2"];
        assert_eq!(nearest_few("juno-r1", valid, 2), ["juno-r1", "juno-r0"]);
        assert_eq!(nearest_few("jun", valid, 9), valid[1..]);
        assert!(nearest_few("x", valid, 9).is_empty());
    }
}

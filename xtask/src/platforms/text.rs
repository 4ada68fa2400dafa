//! The form of a platform file: strings within the line width, numbers, lists of CPUs.

use std::fmt::Write;

/// Widest line of a file.
const WIDTH: usize = 100;

/// How a figure is known, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    Published,
    Derived,
    Assumed,
}

impl Standing {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Derived => "derived",
            Self::Assumed => "assumed",
        }
    }

    /// The word of the facts; what is only the shape of a published machine is derived, and what
    /// the facts call unknown is assumed here.
    pub(super) fn read(word: &str) -> Self {
        match word {
            "published" => Self::Published,
            "derived" | "published shape" => Self::Derived,
            _ => Self::Assumed,
        }
    }
}

/// `source` and `standing`.
pub(super) fn source(text: &str, standing: Standing) -> String {
    let text = entry("source", text);
    format!("{text}standing = \"{}\"\n", standing.word())
}

/// `key = "text"`, over several lines where it does not fit.
pub(super) fn entry(key: &str, text: &str) -> String {
    format!("{}\n", string(&format!("{key} = "), text, 0))
}

/// A string after `lead`; `tail` columns must stay free behind it.
pub(super) fn string(lead: &str, text: &str, tail: usize) -> String {
    let plain = !text.contains(['"', '\\']);
    if plain && lead.chars().count() + text.chars().count() + 2 + tail <= WIDTH {
        return format!("{lead}\"{text}\"");
    }
    let indent: String = lead.chars().take_while(|c| *c == ' ').collect();
    let text = text.replace('\\', "\\\\");
    let mut out = format!("{lead}\"\"\"");
    let mut column = out.chars().count();
    for (index, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        // A line ends with a space and a backslash, the last one with quotes and the tail.
        if index > 0 && column + 1 + length + 3 + tail > WIDTH {
            let _ = write!(out, " \\\n{indent}");
            column = indent.len();
        } else if index > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push_str("\"\"\"");
    out
}

/// A comment within the width.
pub(super) fn comment(text: &str) -> String {
    let mut out = String::from("#");
    let mut column = 1;
    for word in text.split(' ') {
        if column + 1 + word.chars().count() > WIDTH {
            out.push_str("\n#");
            column = 1;
        }
        let _ = write!(out, " {word}");
        column += 1 + word.chars().count();
    }
    out.push('\n');
    out
}

/// A number with its thousands apart.
pub(super) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('_');
        }
        out.push(digit);
    }
    out
}

/// CPU numbers as the kernel writes them: `0,3-5`.
pub(super) fn cpu_list(cpus: &[u32]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    let mut parts: Vec<String> = Vec::new();
    let mut rest = sorted.as_slice();
    while let [first, ..] = rest {
        let run = (*first..).zip(rest).take_while(|(a, b)| a == *b).count();
        let last = rest[run - 1];
        parts.push(if run == 1 {
            first.to_string()
        } else {
            format!("{first}-{last}")
        });
        rest = &rest[run..];
    }
    parts.join(",")
}

/// MHz for people: `998.4`.
pub(super) fn mhz(khz: u64) -> String {
    match khz % 1000 {
        0 => (khz / 1000).to_string(),
        part => {
            let text = format!("{}.{part:03}", khz / 1000);
            text.trim_end_matches('0').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_numbers() {
        assert_eq!(cpu_list(&[5, 3, 4, 0]), "0,3-5");
        assert_eq!(cpu_list(&[7]), "7");
        assert_eq!(number(0), "0");
        assert_eq!(number(1_000), "1_000");
        assert_eq!(number(64_000_000), "64_000_000");
        assert_eq!(mhz(998_400), "998.4");
        assert_eq!(mhz(1_000_000), "1000");
        assert_eq!(mhz(199_680), "199.68");
    }

    #[test]
    fn long_strings_keep_their_words_and_the_width() {
        let text = "word ".repeat(60);
        let text = text.trim_end();
        let written = entry("source", text);
        assert!(written.lines().all(|line| line.chars().count() <= WIDTH));
        let joined = written.replace(" \\\n", " ");
        assert_eq!(joined, format!("source = \"\"\"{text}\"\"\"\n"));
        assert_eq!(entry("a", "x"), "a = \"x\"\n");
        assert_eq!(entry("a", "a \"x\" b"), "a = \"\"\"a \"x\" b\"\"\"\n");
    }
}

//! What platform files have beside their form: standings, lists of CPUs, frequencies.

pub(super) use wakeplace_platform::form::{comment, entry, number, string};

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
        assert_eq!(mhz(998_400), "998.4");
        assert_eq!(mhz(1_000_000), "1000");
        assert_eq!(mhz(199_680), "199.68");
    }
}

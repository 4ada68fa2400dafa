//! Colour for people. It never carries what the words do not say (ARCHITECTURE.md, "Questions and
//! answers").
//!
//! What must stay: marks have no width where a table is laid out, and no name can hold them
//! (`printable` replaces them); they become colours at the very end (`painted`). Which colour may
//! change. Tests by part: table.rs::`colour_changes_nothing_but_colour` (`marked`, `painted`),
//! `colour_adds_nothing_but_colour` (a headline), streams.rs::`tables_are_coloured_as_asked` (the
//! program), the first also `mark` and `code`.
//!
//! Callers: table/layout.rs (`marked`, `painted`).
//!
//! Tests: crates/report/src/comparison/tests.rs::colour_adds_nothing_but_colour,
//! crates/report/src/table.rs::colour_changes_nothing_but_colour

/// What a word or line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// It heads what follows.
    Heading,
    /// Better, or as expected.
    Good,
    /// Worse, or not as expected.
    Bad,
}

impl Tone {
    /// The parameter of the terminal's sequence "select graphic rendition".
    fn code(self) -> &'static str {
        match self {
            Self::Heading => "1",
            Self::Good => "32",
            Self::Bad => "31",
        }
    }

    /// Takes no width where a table is laid out, and no name can hold it: `printable` replaces it.
    fn mark(self) -> char {
        match self {
            Self::Heading => '\u{2061}',
            Self::Good => '\u{2062}',
            Self::Bad => '\u{2063}',
        }
    }
}

const TONES: [Tone; 3] = [Tone::Heading, Tone::Good, Tone::Bad];
const END: char = '\u{2064}';

/// Marks each word, since a table may break a line between them. For [`painted`].
pub(crate) fn marked(text: &str, tone: Tone) -> String {
    let word = |word: &str| match word {
        "" => String::new(),
        word => format!("{}{word}{END}", tone.mark()),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Colours in the place of marks.
pub(crate) fn painted(text: &str) -> String {
    let mut text = text.replace(END, "\x1b[0m");
    for tone in TONES {
        text = text.replace(tone.mark(), &format!("\x1b[{}m", tone.code()));
    }
    text
}

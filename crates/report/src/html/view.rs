//! What a page consists of. The template draws it and decides nothing (docs/guide/report.md).
//!
//! What must stay: names of fields and of the kinds of blocks, which `templates` read; lists keep
//! their order; classes of `tone` are those of `assets/report.css`. Free: words for people that no
//! test quotes. Tests by part: `the_answer_stands_first_and_everything_after_it` (all blocks),
//! `notes_have_code_and_losses_from_nothing_have_chips` (`Chip`, `tone`),
//! `it_can_be_read_without_eyes_and_without_a_mouse` (`Table`, `Head`, `Chart`): a name that a
//! template lacks fails every test of pages. sweep/tests.rs::`a_phone_shows_a_line_for_each_column`
//! (`lines`, `brief`). `new`, `folded`, `of`, `head`, `small` and `from` make
//! cells and tables: all tests of pages.
//!
//! Callers: compared.rs (`tone`), rows.rs (`tone`), tables.rs (`tone`).
//!
//! Tests: crates/report/src/html/tests.rs, crates/report/src/html/sweep/tests.rs

use crate::phrase::LENGTHS_DIFFER;
use serde::Serialize;
use serde_json::Value;

/// A whole page.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PageView {
    pub(super) title: String,
    /// Across all comparisons.
    pub(super) overview: Option<Table>,
    pub(super) results: Vec<ResultView>,
}

/// One result.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ResultView {
    /// Begins the ids of its parts.
    pub(super) id: String,
    pub(super) kind: &'static str,
    pub(super) title: String,
    /// What it is called among several.
    pub(super) name: String,
    /// Platform, workload, length, seeds.
    pub(super) facts: Vec<String>,
    pub(super) answer: Answer,
    pub(super) sections: Vec<Section>,
}

/// Which policy, how much, how sure.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Answer {
    pub(super) sentences: Vec<Sentence>,
    pub(super) tiles: Vec<Tile>,
    /// How sure.
    pub(super) sure: Vec<String>,
    pub(super) warnings: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// `better`, `worse`, or something else.
    pub(super) tone: &'static str,
    /// The tone in a word.
    pub(super) badge: String,
    /// What it means for each important metric.
    pub(super) chips: Vec<Chip>,
}

/// One metric's change, small.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Chip {
    pub(super) label: String,
    pub(super) figure: String,
    /// What it means, in a word.
    pub(super) word: String,
    pub(super) tone: &'static str,
}

/// One figure, large.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Tile {
    pub(super) figure: String,
    pub(super) label: String,
    /// The metric's own name.
    pub(super) raw: String,
    pub(super) below: String,
    pub(super) tone: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) lead: String,
    pub(super) blocks: Vec<Block>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Block {
    Text { text: String },
    List { items: Vec<String> },
    Table(Table),
    Chart(Chart),
    Timeline(TimelineView),
    Facts { facts: Vec<(String, String)> },
    Command { id: String, text: String },
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Table {
    pub(super) id: String,
    pub(super) caption: String,
    /// Shown closed, under this word.
    pub(super) folded: Option<String>,
    /// On a phone a row is a card with all its figures.
    pub(super) cards: bool,
    /// On a phone a row is a card with a line for each column: its name, then the figure.
    pub(super) lines: bool,
    pub(super) head: Vec<Head>,
    pub(super) rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Head {
    pub(super) text: String,
    /// Figures: to the right.
    pub(super) num: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Cell {
    pub(super) text: String,
    /// A second, quieter line.
    pub(super) small: String,
    /// What stands for the second line where there is little room; empty: nothing does.
    pub(super) brief: String,
    /// It names its row.
    pub(super) head: bool,
    pub(super) tone: &'static str,
}

/// A chart; one spec, or one per choice.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Chart {
    pub(super) id: String,
    pub(super) title: String,
    /// What it shows, for who does not see it.
    pub(super) alt: String,
    pub(super) note: String,
    /// What the choice is of, and the choices; empty: there is none.
    pub(super) choice: String,
    pub(super) choices: Vec<String>,
    /// Two of these stand side by side where there is room.
    pub(super) half: bool,
    #[serde(skip)]
    pub(super) specs: Vec<Value>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct TimelineView {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) alt: String,
    pub(super) cpus: u32,
    #[serde(skip)]
    pub(super) data: Value,
}

impl Table {
    /// Columns that begin with `#` hold figures.
    pub(super) fn new(id: String, caption: impl Into<String>, columns: &[&str]) -> Self {
        let head = |text: &&str| Head {
            text: text.trim_start_matches('#').to_owned(),
            num: text.starts_with('#'),
        };
        Self {
            id,
            caption: caption.into(),
            folded: None,
            cards: false,
            lines: false,
            head: columns.iter().map(head).collect(),
            rows: Vec::new(),
        }
    }

    /// The table is closed until somebody opens it by this word.
    pub(super) fn folded(mut self, word: &str) -> Self {
        self.folded = Some(word.to_owned());
        self
    }
}

impl Cell {
    /// A cell with a text and no more.
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A cell that says what its row is of.
    pub(super) fn head(text: impl Into<String>) -> Self {
        Self {
            head: true,
            ..Self::of(text)
        }
    }

    /// With smaller text below the first.
    pub(super) fn small(mut self, small: impl Into<String>) -> Self {
        self.small = small.into();
        self
    }

    /// With what stands for that where there is little room.
    pub(super) fn brief(mut self, brief: impl Into<String>) -> Self {
        self.brief = brief.into();
        self
    }

    /// With the CSS class of a verdict, as `tone` below gives it.
    pub(super) fn tone(mut self, tone: &'static str) -> Self {
        self.tone = tone;
        self
    }
}

impl From<Option<String>> for Cell {
    /// A cell that may lack its value: then a dash.
    fn from(text: Option<String>) -> Self {
        Self::of(text.unwrap_or_else(|| "–".to_owned()))
    }
}

/// The CSS class of a difference's word.
pub(super) fn tone(word: &str) -> &'static str {
    match word {
        "better" | "gain" => "better",
        "worse" | "loss" => "worse",
        "none that matters" | "none seen" | "no difference" => "same",
        "not told" | "one run" | "one seed" | "unknown" | LENGTHS_DIFFER => "unknown",
        _ => "other",
    }
}

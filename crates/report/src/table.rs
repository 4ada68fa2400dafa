//! A list as a table for people, CSV, Markdown or JSON. All forms have the same cells; a new form
//! escapes what its readers take for markup (ARCHITECTURE.md, "Invariants": text from outside).
//!
//! What must stay: columns in CSV and keys in JSON are the names given to `new`, in the order of
//! the columns; a missing value is empty or `null`; each form makes names from files harmless. How
//! people see it is `table/layout.rs`'. Free: words for people that no test quotes. Tests by part:
//! `csv_quotes_what_needs_it` and `csv_quotes_what_ends_a_cell_elsewhere` (`csv_line`),
//! `words_of_our_own_stay_in_csv` (`Own`), `names_are_harmless_in_every_form` (`text`, `csv`,
//! `markdown`, `json`), `markdown_escapes_bars` (`markdown`),
//! `json_has_a_version_and_no_numbers_that_are_none` (`json`),
//! `names_that_are_typed_again_keep_their_underscores` (`as_typed`),
//! `people_get_columns_and_no_trailing_blanks`, `a_row_that_is_set_in_stays_so` and
//! `colour_changes_nothing_but_colour` (for people), all (`raw`, `tone`, `keys`, `places`,
//! `optional`, `part`, `align`, `row`, `len`, `is_empty`, `render` and each `from`),
//! `rows_that_matter_are_among_the_first` (`first_and`),
//! table/layout.rs::`figures_stand_below_where_that_is_wanted` (`stacks`);
//! `table` and `hostile` are the tests' own.
//!
//! Callers: crates/cli/src/expect.rs (`stacks`), crates/cli/src/readme.rs (`as_typed`),
//! comparison.rs (`as_typed`), points/columns.rs (`as_typed`), points/json.rs (`objects`), many
//! files (`align`).
//!
//! Tests: below, crates/cli/tests/all/hostile_text.rs

mod layout;

use crate::paint::Tone;
use crate::{Format, SCHEMA_VERSION, Style, number};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use wakeplace_text::{csv_cell, markdown_cell, printable};

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing: an empty cell, `null` in JSON.
    Empty,
    /// A word or sentence, perhaps from a file.
    Text(String),
    /// A word of this program's own, for scripts: CSV has it as it is, even if a spreadsheet takes
    /// it for a formula (`+energy-aware`).
    Own(String),
    /// A word in the colour of what it says.
    Toned(Tone, String),
    /// A count.
    Count(u64),
    /// A figure; one that is not finite is nothing.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Several words; an array in JSON.
    List(Vec<String>),
}

impl Cell {
    /// As people get it, on one line: it may come from a file.
    fn text(&self) -> String {
        printable(&self.raw()).into_owned()
    }

    /// As CSV gets it. Only words can be formulas.
    fn csv(&self) -> String {
        match self {
            Self::Text(_) | Self::Toned(..) | Self::List(_) => csv_cell(&self.raw()).into_owned(),
            _ => self.raw(),
        }
    }

    /// The colour that the cell may have, for terminals that show colours.
    fn tone(&self) -> Option<Tone> {
        match self {
            Self::Toned(tone, _) => Some(*tone),
            _ => None,
        }
    }

    /// The value as plain text, not yet harmless; empty where there is none.
    fn raw(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) | Self::Own(text) | Self::Toned(_, text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value) => number::exact(*value).unwrap_or_default(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Self::List(words) => words.join(", "),
        }
    }

    /// The value with its type, for programs; `null` where there is none or it is not finite.
    fn json(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Text(text) | Self::Own(text) | Self::Toned(_, text) => json!(text),
            Self::Count(count) => json!(count),
            Self::Number(value) => number::json(*value),
            Self::Flag(flag) => json!(flag),
            Self::List(words) => json!(words),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}
impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}
impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}
impl From<bool> for Cell {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}
impl From<Vec<String>> for Cell {
    fn from(words: Vec<String>) -> Self {
        Self::List(words)
    }
}
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// Alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// A list with named columns.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    /// Headers are shown to people as they are.
    as_typed: bool,
    /// So many columns from the left say what a row is of.
    keys: usize,
    /// Columns that are left out first where there is little room.
    optional: Vec<usize>,
    /// Columns before which a table is parted where it is too wide.
    parts: Vec<usize>,
    /// Where it is too wide, figures stand below what they are of.
    stacks: bool,
}

impl Table {
    /// An empty list; `name` is its key in JSON, `columns` are the headers and keys there.
    #[must_use]
    pub fn new(name: &str, columns: &[&str]) -> Self {
        let left = |column: &&str| ((*column).to_owned(), Align::Left);
        Self {
            name: name.to_owned(),
            columns: columns.iter().map(left).collect(),
            rows: Vec::new(),
            as_typed: false,
            keys: 0,
            optional: Vec::new(),
            parts: Vec::new(),
            stacks: false,
        }
    }

    /// So many columns from the left say what a row is of. No line breaks in them; they stand again
    /// in each part of a table that is parted, and above it if all rows have the same.
    #[must_use]
    pub fn keys(mut self, columns: usize) -> Self {
        self.keys = columns;
        self
    }

    /// For people the column is left out if the table has no room otherwise, and named below it.
    #[must_use]
    pub fn optional(mut self, column: &str) -> Self {
        self.optional.extend(self.places(column));
        self
    }

    /// A table that is too wide for people is parted before this column rather than elsewhere.
    #[must_use]
    pub fn part(mut self, column: &str) -> Self {
        self.parts.extend(self.places(column));
        self
    }

    /// A table that is too wide for people has the figures of a row below what says what it is of,
    /// rather than in parts.
    #[must_use]
    pub fn stacks(mut self) -> Self {
        self.stacks = true;
        self
    }

    /// Where a column stands; several may have one name.
    fn places(&self, column: &str) -> Vec<usize> {
        let columns = self.columns.iter().enumerate();
        let named = columns.filter(|(_, (name, _))| name == column);
        named.map(|(at, _)| at).collect()
    }

    /// Headers are names that people type again: `_` stays in them.
    #[must_use]
    pub fn as_typed(mut self) -> Self {
        self.as_typed = true;
        self
    }

    /// Aligns a column; a column that does not exist is left alone.
    #[must_use]
    pub fn align(mut self, column: &str, align: Align) -> Self {
        for (name, now) in &mut self.columns {
            if name == column {
                *now = align;
            }
        }
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it does not have one cell per column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        assert_eq!(cells.len(), self.columns.len(), "one cell per column");
        self.rows.push(cells);
    }

    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The first rows of it, and those at `also`, at most as many again.
    #[must_use]
    pub fn first_and(&self, rows: usize, also: &BTreeSet<usize>) -> Self {
        let later = also.range(rows..).filter_map(|at| self.rows.get(*at));
        let first = self.rows.iter().take(rows);
        Self {
            rows: first.chain(later.take(rows)).cloned().collect(),
            ..self.clone()
        }
    }

    /// No rows yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text; ends with a newline.
    #[must_use]
    pub fn render(&self, format: Format, style: Style) -> String {
        match format {
            Format::Human => self.human(style),
            Format::Json => self.json(),
            Format::Csv => self.csv(),
            Format::Md => self.markdown(),
        }
    }

    /// Rows as JSON objects.
    pub(crate) fn objects(&self) -> Vec<Map<String, Value>> {
        let object = |row: &Vec<Cell>| {
            let keys = self.columns.iter().map(|(name, _)| name.clone());
            keys.zip(row.iter().map(Cell::json)).collect()
        };
        self.rows.iter().map(object).collect()
    }

    /// The list as a JSON object.
    fn json(&self) -> String {
        let rows = self.objects().into_iter().map(Value::Object);
        let rows: Vec<Value> = rows.collect();
        let mut whole = Map::new();
        whole.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
        whole.insert(self.name.clone(), Value::Array(rows));
        crate::json::text(&Value::Object(whole))
    }

    /// The whole table for programs, a header first.
    fn csv(&self) -> String {
        let header = self.columns.iter().map(|(name, _)| csv_cell(name));
        let mut text = csv_line(header.map(|name| name.into_owned()));
        for row in &self.rows {
            text.push_str(&csv_line(row.iter().map(Cell::csv)));
        }
        text
    }

    /// A Markdown table, its cells escaped.
    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let header = (0..self.columns.len()).map(|at| self.header(at));
        let rule = self.columns.iter().map(|(_, align)| match align {
            Align::Left => ":--".to_owned(),
            Align::Right => "--:".to_owned(),
        });
        let mut text = line(header.map(|name| markdown_cell(&name)).collect());
        text.push_str(&line(rule.collect()));
        for row in &self.rows {
            let cells = row.iter().map(|cell| markdown_cell(&cell.raw()));
            text.push_str(&line(cells.collect()));
        }
        text
    }
}

/// One line of RFC 4180, ended with a plain newline as other tools' CSV here. What some
/// spreadsheets take for the end of a cell (`;`, a tab) is quoted too.
fn csv_line(cells: impl Iterator<Item = String>) -> String {
    let quote = |cell: String| {
        if cell.contains(['"', ',', ';', '\t', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell
        }
    };
    cells.map(quote).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{Align, Cell, Table};
    use crate::{Format, Style, Tone};
    use std::collections::BTreeSet;

    fn table() -> Table {
        let mut table = Table::new("parts", &["name", "size_um"]).align("size_um", Align::Right);
        table.row(vec!["a, \"b\"".into(), 7_u64.into()]);
        table.row(vec!["c|d".into(), f64::NAN.into()]);
        table.row(vec!["long name".into(), Cell::Empty]);
        table
    }

    /// Goal: where there is little room a cell keeps the spaces that set it in.
    #[test]
    fn a_row_that_is_set_in_stays_so() {
        let mut table = Table::new("parts", &["policy", "difference"]);
        table.row(vec![
            "  wakeplace:mode=balanced".into(),
            "none at all".into(),
        ]);
        let style = Style {
            width: 30,
            ..Style::default()
        };
        let text = table.render(Format::Human, style);
        assert!(text.contains("\n  wakeplace:mode=balanced "), "{text}");
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let text = table().render(Format::Csv, Style::default());
        assert_eq!(text, "name,size_um\n\"a, \"\"b\"\"\",7\nc|d,\nlong name,\n");
    }

    /// Goal: no spreadsheet takes a part of a cell for a cell, which may be a formula.
    #[test]
    fn csv_quotes_what_ends_a_cell_elsewhere() {
        let mut table = Table::new("parts", &["name", "own", "size"]);
        let own = Cell::Own("c\td".to_owned());
        table.row(vec!["a;=1+1".into(), own, (-3.5).into()]);
        let text = table.render(Format::Csv, Style::default());
        assert_eq!(text, "name,own,size\n\"a;=1+1\",\"c\td\",-3.5\n");
    }

    #[test]
    fn names_that_are_typed_again_keep_their_underscores() {
        for form in [Format::Human, Format::Md] {
            let words = table().render(form, Style::default());
            assert!(words.contains("size um"), "{words}");
            let names = table().as_typed().render(form, Style::default());
            assert!(names.contains("size_um"), "{names}");
        }
    }

    #[test]
    fn markdown_escapes_bars() {
        let text = table().render(Format::Md, Style::default());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "| name | size um |");
        assert_eq!(lines[1], "| :-- | --: |");
        assert_eq!(lines[3], "| c\\|d |  |");
    }

    /// What a file may hold, in a header and in a cell.
    fn hostile() -> Table {
        let mut table = Table::new("parts", &["=a\u{1b}[31m", "size_um"]);
        table.row(vec!["=1+1\n\u{9b}2J".into(), (-3.5).into()]);
        table.row(vec!["<script>|".into(), "-3.5".into()]);
        table
    }

    #[test]
    fn names_are_harmless_in_every_form() {
        let csv = hostile().render(Format::Csv, Style::default());
        assert_eq!(
            csv,
            "'=a\u{fffd}[31m,size_um\n'=1+1\u{fffd}\u{fffd}2J,-3.5\n<script>|,-3.5\n"
        );
        let md = hostile().render(Format::Md, Style::default());
        assert!(md.contains("| &lt;script>\\| | -3.5 |"), "{md}");
        let human = hostile().render(Format::Human, Style::default());
        assert_eq!(human.lines().count(), 3, "{human}");
        assert!(!human.contains(['\u{1b}', '\u{9b}']) && !md.contains(['\u{1b}', '\u{9b}']));
        let json = hostile().render(Format::Json, Style::default());
        assert!(!json.contains(['\u{1b}', '\u{9b}']), "{json}");
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["parts"][0]["=a\u{1b}[31m"], "=1+1\n\u{9b}2J");
    }

    #[test]
    fn words_of_our_own_stay_in_csv() {
        let mut table = Table::new("parts", &["name"]);
        table.row(vec![Cell::Own("+a".to_owned())]);
        let csv = table.render(Format::Csv, Style::default());
        assert_eq!(csv, "name\n+a\n");
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let mut table = Table::new("parts", &["name", "what"]).align("what", Align::Right);
        table.row(vec![
            "a".into(),
            Cell::Toned(Tone::Good, "better now".into()),
        ]);
        table.row(vec![
            "long name".into(),
            Cell::Toned(Tone::Bad, "worse".into()),
        ]);
        let plain = table.render(Format::Human, Style::default());
        let color = Style {
            color: true,
            width: 100,
        };
        let painted = table.render(Format::Human, color);
        assert!(painted.contains("\u{1b}[32mbetter\u{1b}[0m \u{1b}[32mnow\u{1b}[0m"));
        assert!(painted.contains("\u{1b}[31mworse\u{1b}[0m"));
        assert!(painted.contains("\u{1b}[1mname\u{1b}[0m"));
        let mut stripped = painted.clone();
        for code in ["0", "1", "31", "32"] {
            stripped = stripped.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(stripped, plain);
        assert!(!plain.contains('\u{1b}'));
    }

    #[test]
    fn json_has_a_version_and_no_numbers_that_are_none() {
        let text = table().render(Format::Json, Style::default());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema_version"], 1);
        assert_eq!(value["parts"][0]["size_um"], 7);
        assert!(value["parts"][1]["size_um"].is_null());
    }

    /// Goal: of 5 rows the first 2 and the fourth; what is among the first stands once.
    #[test]
    fn rows_that_matter_are_among_the_first() {
        let mut all = Table::new("rows", &["at"]);
        (0..5_u64).for_each(|at| all.row(vec![at.into()]));
        let shown = |also: &[usize]| {
            let also: BTreeSet<usize> = also.iter().copied().collect();
            let text = all
                .first_and(2, &also)
                .render(Format::Csv, Style::default());
            text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(shown(&[]), ["0", "1"]);
        assert_eq!(shown(&[1, 3]), ["0", "1", "3"]);
        assert_eq!(shown(&[9]), ["0", "1"]);
    }

    #[test]
    fn people_get_columns_and_no_trailing_blanks() {
        let text = table().render(Format::Human, Style::default());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "name       size um");
        assert_eq!(lines[1], "a, \"b\"           7");
        assert!(lines.iter().all(|line| !line.ends_with(' ')), "{text}");
    }
}

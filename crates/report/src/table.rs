//! A list as a table for people, CSV, Markdown or JSON.

use crate::{Format, SCHEMA_VERSION, Style, number};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Table as Drawn, Width, presets,
};
use serde_json::{Map, Value, json};

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Nothing: an empty cell, `null` in JSON.
    Empty,
    /// A word or sentence.
    Text(String),
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
    /// As people and CSV get it.
    fn text(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value) => number::exact(*value).unwrap_or_default(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Self::List(words) => words.join(", "),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Text(text) => json!(text),
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
        }
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

    fn human(&self, style: Style) -> String {
        let mut drawn = Drawn::new();
        drawn.load_style(presets::NOTHING);
        if style.width > 0 {
            drawn.set_content_arrangement(ContentArrangement::Dynamic);
            drawn.set_width(u16::try_from(style.width).unwrap_or(u16::MAX));
        }
        drawn.set_header(self.columns.iter().map(|(name, _)| name.replace('_', " ")));
        for row in &self.rows {
            drawn.add_row(row.iter().map(Cell::text));
        }
        for (at, (_, align)) in self.columns.iter().enumerate() {
            if let Some(column) = drawn.column_mut(at) {
                column.set_padding((0, 2));
                column.set_constraint(self.unbroken(at));
                column.set_cell_alignment(match align {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
            }
        }
        trimmed(drawn.lines())
    }

    /// A column may be narrowed down to its longest word: a name or figure broken in two is worse
    /// than a line that is too long. Figures and intervals (`-3 to +4 %`) count as one word.
    fn unbroken(&self, at: usize) -> ColumnConstraint {
        let (name, align) = &self.columns[at];
        let header = name.replace('_', " ");
        let cells = self.rows.iter().map(|row| row[at].text());
        let widest = |text: &str| match align {
            Align::Right => text.chars().count(),
            Align::Left => text
                .split(' ')
                .map(|word| word.chars().count())
                .max()
                .unwrap_or(0),
        };
        let needed = cells
            .chain([header])
            .map(|text| widest(&text))
            .max()
            .unwrap_or(0)
            + 2;
        ColumnConstraint::LowerBoundary(Width::Fixed(u16::try_from(needed).unwrap_or(u16::MAX)))
    }

    fn json(&self) -> String {
        let object = |row: &Vec<Cell>| {
            let keys = self.columns.iter().map(|(name, _)| name.clone());
            Value::Object(keys.zip(row.iter().map(Cell::json)).collect())
        };
        let rows: Vec<Value> = self.rows.iter().map(object).collect();
        let mut whole = Map::new();
        whole.insert("schema_version".to_owned(), json!(SCHEMA_VERSION));
        whole.insert(self.name.clone(), Value::Array(rows));
        crate::json::text(&Value::Object(whole))
    }

    fn csv(&self) -> String {
        let header = self.columns.iter().map(|(name, _)| name.clone());
        let mut text = csv_line(header);
        for row in &self.rows {
            text.push_str(&csv_line(row.iter().map(Cell::text)));
        }
        text
    }

    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let escape = |text: String| text.replace('|', "\\|").replace('\n', " ");
        let header = self.columns.iter().map(|(name, _)| name.replace('_', " "));
        let rule = self.columns.iter().map(|(_, align)| match align {
            Align::Left => ":--".to_owned(),
            Align::Right => "--:".to_owned(),
        });
        let mut text = line(header.map(escape).collect());
        text.push_str(&line(rule.collect()));
        for row in &self.rows {
            text.push_str(&line(row.iter().map(|cell| escape(cell.text())).collect()));
        }
        text
    }
}

/// Lines without blanks at their ends, each with a newline.
fn trimmed(lines: impl Iterator<Item = String>) -> String {
    lines
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// One line of RFC 4180, ended with a plain newline as other tools' CSV here.
fn csv_line(cells: impl Iterator<Item = String>) -> String {
    let quote = |cell: String| {
        if cell.contains(['"', ',', '\n', '\r']) {
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
    use crate::{Format, Style};

    fn table() -> Table {
        let mut table = Table::new("parts", &["name", "size_um"]).align("size_um", Align::Right);
        table.row(vec!["a, \"b\"".into(), 7_u64.into()]);
        table.row(vec!["c|d".into(), f64::NAN.into()]);
        table.row(vec!["long name".into(), Cell::Empty]);
        table
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let text = table().render(Format::Csv, Style::default());
        assert_eq!(text, "name,size_um\n\"a, \"\"b\"\"\",7\nc|d,\nlong name,\n");
    }

    #[test]
    fn markdown_escapes_bars() {
        let text = table().render(Format::Md, Style::default());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "| name | size um |");
        assert_eq!(lines[1], "| :-- | --: |");
        assert_eq!(lines[3], "| c\\|d |  |");
    }

    #[test]
    fn json_has_a_version_and_no_numbers_that_are_none() {
        let text = table().render(Format::Json, Style::default());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["schema_version"], 1);
        assert_eq!(value["parts"][0]["size_um"], 7);
        assert!(value["parts"][1]["size_um"].is_null());
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

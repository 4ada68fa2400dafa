//! A table for people, fitted into a terminal (ARCHITECTURE.md, "Questions and answers").
//!
//! 1. As it is, if it fits; sentences are broken at blanks, names and figures never.
//! 2. What is the same in all rows is said once, above.
//! 3. Optional columns are left out and named below.
//! 4. What says what a row is of stands on a line of its own, with the figures below it.
//! 5. The table is parted: several one below the other, each with what says what a row is of.
//!
//! What must stay: no figure is cut, and none left out unsaid; only people's tables pass here, so
//! CSV, JSON and Markdown have every column. Widths are columns of a terminal, 0 is any. All looks
//! may change. Tests by part: `what_is_optional_goes_first` (`without_optional`, `left_out`,
//! `needed`), `a_long_name_has_a_line_of_its_own` (`is_stackable`, `stacked`, `is_heading`),
//! `figures_stand_below_where_that_is_wanted` (`is_stackable`, `blocks`),
//! `many_figures_are_parted` (`without_same`, `parted`, `blocks`),
//! `a_table_is_parted_where_it_says` (`parts_of`), `scripts_get_the_whole_table` (other forms),
//! table.rs::`colour_changes_nothing_but_colour` (`toned`), all (`human`, `split`, `fits`, `whole`,
//! `drawn`, `header`, `trimmed`); `assert_fits` and `changes` are the tests' own.
//!
//! Tests: below

use super::{Align, Cell, Table};
use crate::Style;
use crate::paint::{Tone, marked, painted};
use crate::phrase::wrap;
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, Table as Drawn, Width, presets,
};
use wakeplace_text::printable;

/// Blanks between two columns.
const GAP: usize = 2;
/// How far figures are set in below what they are of.
const SET_IN: usize = 4;

impl Table {
    /// Fits the terminal: leaves out what is the same in all rows, then what is optional, then
    /// parts.
    pub(super) fn human(&self, style: Style) -> String {
        let all: Vec<usize> = (0..self.columns.len()).collect();
        if self.fits(&all, style) || self.keys == 0 {
            return self.drawn(&all, style);
        }
        let (said, rest) = self.without_same(&all);
        let mut text = said.map_or_else(String::new, |line| wrap(&line, style.width) + "\n\n");
        let short: Vec<usize> = self.without_optional(&rest);
        if self.fits(&rest, style) {
            text.push_str(&self.drawn(&rest, style));
        } else if self.fits(&short, style) {
            text.push_str(&self.drawn(&short, style));
            text.push_str(&self.left_out(&rest, &short));
        } else {
            let (keys, figures) = self.split(&rest);
            match self.is_stackable(&keys, &figures, style) {
                true => text.push_str(&self.stacked(&keys, &figures, style)),
                false => text.push_str(&self.parted(&keys, &figures, style)),
            }
        }
        text
    }

    /// Those that say what a row is of, and the others.
    fn split(&self, columns: &[usize]) -> (Vec<usize>, Vec<usize>) {
        columns.iter().partition(|at| **at < self.keys)
    }

    /// Columns that have one value in all of several rows, as a sentence, and those that are left.
    fn without_same(&self, columns: &[usize]) -> (Option<String>, Vec<usize>) {
        let is_same = |at: &usize| {
            let first = self.rows.first().map(|row| &row[*at]);
            self.rows.len() > 1 && self.rows.iter().all(|row| Some(&row[*at]) == first)
        };
        let (keys, figures) = self.split(columns);
        let (same, mut left): (Vec<usize>, Vec<usize>) = keys.into_iter().partition(is_same);
        let said = |at: &usize| format!("{} {}", self.header(*at), self.rows[0][*at].text());
        let said: Vec<String> = same.iter().map(said).collect();
        left.extend(figures);
        let said = (!said.is_empty()).then(|| format!("In all rows: {}.", said.join(", ")));
        (said, left)
    }

    /// These columns without those that may be left out.
    fn without_optional(&self, columns: &[usize]) -> Vec<usize> {
        let kept = columns.iter().filter(|at| !self.optional.contains(at));
        kept.copied().collect()
    }

    /// Says which columns are missing.
    fn left_out(&self, columns: &[usize], kept: &[usize]) -> String {
        let left = columns.iter().filter(|at| !kept.contains(at));
        let names: Vec<String> = left.map(|at| self.header(*at)).collect();
        match names.as_slice() {
            [] => String::new(),
            names => format!("(no room here for: {})\n", names.join(", ")),
        }
    }

    /// It is wanted; or below their keys all figures have room, under headings that hold together
    /// what would be parted; or beside the keys not even one has.
    fn is_stackable(&self, keys: &[usize], figures: &[usize], style: Style) -> bool {
        let has_headings = self.rows.iter().any(|row| self.is_heading(row));
        let below = SET_IN + self.whole(figures) <= style.width;
        let beside = |figure: &usize| self.fits(&[keys, &[*figure]].concat(), style);
        let wanted = self.stacks && !keys.is_empty();
        wanted || (below && has_headings) || !figures.iter().all(beside)
    }

    /// A row that only heads those below it.
    fn is_heading(&self, row: &[Cell]) -> bool {
        row.iter().skip(self.keys).all(|cell| *cell == Cell::Empty)
    }

    /// Each row as a line that says what it is of, and below it its figures.
    fn stacked(&self, keys: &[usize], figures: &[usize], style: Style) -> String {
        let mut text = String::new();
        let room = style.width.saturating_sub(SET_IN);
        // No cell is broken there.
        let blocks = self.blocks(figures, |block| self.whole(block) <= room);
        for (nth, block) in blocks.iter().enumerate() {
            if nth > 0 {
                text.push('\n');
            }
            let drawn = self.drawn(block, Style { width: 0, ..style });
            let mut lines = drawn.lines();
            let mut line = || {
                let line = format!("{}{}", " ".repeat(SET_IN), lines.next().unwrap_or(""));
                line.trim_end().to_owned() + "\n"
            };
            let names: Vec<String> = keys.iter().map(|at| self.header(*at)).collect();
            text.push_str(&painted(&toned(
                names.join("  "),
                Some(Tone::Heading),
                style,
            )));
            text.push('\n');
            text.push_str(&line());
            for row in &self.rows {
                let named = keys.iter().map(|at| row[*at].text());
                let named: Vec<String> = named.filter(|text| !text.is_empty()).collect();
                let tone = keys.iter().find_map(|at| row[*at].tone());
                text.push_str(&painted(&toned(named.join("  "), tone, style)));
                text.push('\n');
                let figures = line();
                if !self.is_heading(row) {
                    text.push_str(&figures);
                }
            }
        }
        text.push_str(&self.left_out(figures, &blocks.concat()));
        text
    }

    /// Several tables, one below the other.
    fn parted(&self, keys: &[usize], figures: &[usize], style: Style) -> String {
        let blocks = self.blocks(figures, |block| self.fits(&[keys, block].concat(), style));
        let draw = |block: &Vec<usize>| self.drawn(&[keys, block].concat(), style);
        let mut text = blocks.iter().map(draw).collect::<Vec<_>>().join("\n");
        text.push_str(&self.left_out(figures, &blocks.concat()));
        text
    }

    /// Figures that have room together: part by part, and column by column where a part has none,
    /// even without what is optional in it.
    fn blocks(&self, figures: &[usize], fit: impl Fn(&[usize]) -> bool) -> Vec<Vec<usize>> {
        let mut blocks: Vec<Vec<usize>> = vec![Vec::new()];
        let mut add = |piece: &[usize]| {
            let last = blocks.last().cloned().unwrap_or_default();
            let joined = [&last[..], piece].concat();
            match last.is_empty() || fit(&joined) {
                true => drop(blocks.pop()),
                false => return blocks.push(piece.to_vec()),
            }
            blocks.push(joined);
        };
        for part in self.parts_of(figures) {
            let short = self.without_optional(&part);
            if fit(&part) {
                add(&part);
            } else if fit(&short) {
                add(&short);
            } else {
                part.iter().for_each(|column| add(&[*column]));
            }
        }
        blocks
    }

    /// The columns, cut before each at which a part begins; without parts each is one.
    fn parts_of(&self, columns: &[usize]) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for at in columns {
            match parts.last_mut() {
                Some(part) if !self.parts.is_empty() && !self.parts.contains(at) => part.push(*at),
                _ => parts.push(vec![*at]),
            }
        }
        parts
    }

    /// The least width of these columns, sentences broken at every blank.
    fn fits(&self, columns: &[usize], style: Style) -> bool {
        let needed: usize = columns.iter().map(|at| self.needed(*at) + GAP).sum();
        style.width == 0 || needed <= style.width + GAP
    }

    /// The width of these columns without a broken line.
    fn whole(&self, columns: &[usize]) -> usize {
        let longest = |at: &usize| {
            let cells = self.rows.iter().map(|row| row[*at].text().chars().count());
            cells.chain([self.header(*at).chars().count()]).max()
        };
        let widths = columns.iter().filter_map(longest);
        widths
            .map(|width| width + GAP)
            .sum::<usize>()
            .saturating_sub(GAP)
    }

    /// These columns as a table.
    fn drawn(&self, columns: &[usize], style: Style) -> String {
        let mut drawn = Drawn::new();
        drawn.load_style(presets::NOTHING);
        if style.width > 0 {
            drawn.set_content_arrangement(ContentArrangement::Dynamic);
            // What comes after the last column is cut.
            let width = style.width + GAP;
            drawn.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        }
        let heading = |at: &usize| toned(self.header(*at), Some(Tone::Heading), style);
        drawn.set_header(columns.iter().map(heading));
        for row in &self.rows {
            let cell = |at: &usize| toned(row[*at].text(), row[*at].tone(), style);
            drawn.add_row(columns.iter().map(cell));
        }
        for (place, at) in columns.iter().enumerate() {
            if let Some(column) = drawn.column_mut(place) {
                column.set_padding((0, GAP as u16));
                let needed = u16::try_from(self.needed(*at) + GAP).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(needed)));
                column.set_cell_alignment(match self.columns[*at].1 {
                    Align::Left => CellAlignment::Left,
                    Align::Right => CellAlignment::Right,
                });
            }
        }
        painted(&trimmed(drawn.lines()))
    }

    /// The name of a column for people.
    pub(super) fn header(&self, at: usize) -> String {
        let name = printable(&self.columns[at].0);
        match self.as_typed {
            true => name.into_owned(),
            false => name.replace('_', " "),
        }
    }

    /// A column may be narrowed down to its longest word: a name or figure broken in two is worse
    /// than a line that is too long. Figures and intervals (`-3 to +4 %`) count as one word, and so
    /// does what says what a row is of: a policy's name may have blanks.
    fn needed(&self, at: usize) -> usize {
        let is_whole = self.columns[at].1 == Align::Right || at < self.keys;
        let cells = self.rows.iter().map(|row| row[at].text());
        let widest = |text: &str| match is_whole {
            true => text.chars().count(),
            // spaces in front belong to the first word: they set a row in
            false => {
                let words = text.trim_start();
                let in_front = text.len() - words.len();
                let lengths = words.split(' ').map(|word| word.chars().count());
                let first = lengths.clone().take(1).map(|length| length + in_front);
                lengths.chain(first).max().unwrap_or(0)
            }
        };
        let texts = cells.chain([self.header(at)]);
        texts.map(|text| widest(&text)).max().unwrap_or(0)
    }
}

/// The text with marks of its colour, where the terminal shows colours.
fn toned(text: String, tone: Option<Tone>, style: Style) -> String {
    match tone {
        Some(tone) if style.color => marked(&text, tone),
        _ => text,
    }
}

/// Lines without blanks at their ends, each with a newline.
fn trimmed(lines: impl Iterator<Item = String>) -> String {
    lines
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{Align, Cell, Format, Style, Table};

    fn drawn(table: &Table, width: usize) -> String {
        let style = Style {
            width,
            ..Style::default()
        };
        table.render(Format::Human, style)
    }

    fn assert_fits(text: &str, width: usize) {
        let over = text.lines().find(|line| line.chars().count() > width);
        assert_eq!(over, None, "{width}: {text}");
    }

    /// A base and another policy: 8 + 2, 9 + 2, 6 + 2, 8 + 2 and 16 + 2 columns, and 17 of words.
    fn changes(policy: &str) -> Table {
        let columns = [
            "policy",
            "mean",
            "spread",
            "change",
            "95 % CI",
            "difference",
        ];
        let mut table = Table::new("t", &columns).keys(1).optional("spread");
        for column in &columns[1..5] {
            table = table.align(column, Align::Right);
        }
        let mut heading = vec![Cell::Empty; columns.len()];
        heading[0] = "energy_j".into();
        table.row(heading);
        let figures = ["0.2541 us", "±0.8 %", "+86.62 %", "+79.7 to +93.9 %"];
        let mut row: Vec<Cell> = vec![format!("  {policy}").into()];
        row.extend(figures.map(Cell::from));
        row.push("none that matters".into());
        table.row(row);
        table
    }

    /// Goal: without room what is optional goes first, and is named.
    #[test]
    fn what_is_optional_goes_first() {
        let table = changes("+energy-aware");
        let wide = drawn(&table, 100);
        assert!(
            wide.contains("spread") && wide.lines().count() == 3,
            "{wide}"
        );
        // 15 + 2, 9 + 2, 8 + 2, 16 + 2, 7 ("matters") or "difference", 10: 66.
        let narrow = drawn(&table, 72);
        assert_fits(&narrow, 72);
        assert!(narrow.ends_with("(no room here for: spread)\n"), "{narrow}");
        assert!(!narrow.contains("±0.8"), "{narrow}");
    }

    /// Goal: a name with blanks in it is one name, on one line, with all figures below it.
    #[test]
    fn a_long_name_has_a_line_of_its_own() {
        let name = "wakeplace:mode=powersave, sis_short=off";
        let text = drawn(&changes(name), 80);
        assert_fits(&text, 80);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "policy");
        assert_eq!(lines[2], "energy_j");
        assert_eq!(lines[3], format!("  {name}"));
        assert!(lines[4].starts_with("    0.2541 us  ±0.8 %"), "{text}");
        assert!(lines[4].ends_with("none that matters"), "{text}");
    }

    /// Goal: a table that stacks has each row's figures on one line below what the row is of; by
    /// hand 4 + 6 + 2 + 38 + 2 + 4 columns. What has no room there is a part of its own.
    #[test]
    fn figures_stand_below_where_that_is_wanted() {
        let columns = ["expected", "mean", "change", "verdict"];
        let change = "0.1211 -> 0.2662, +120 % [+76.2, +173]";
        let text = |verdict: &str| {
            let mut table = Table::new("t", &columns).keys(1).stacks();
            for column in &columns[1..3] {
                table = table.align(column, Align::Right);
            }
            for expected in ["cpu_energy_j<=+3%", "energy_j<=+3%"] {
                let row = [expected, "0.2662", change, verdict];
                table.row(row.into_iter().map(Cell::from).collect());
            }
            drawn(&table, 72)
        };
        let short = text("FAIL");
        assert_fits(&short, 72);
        let row = format!("\ncpu_energy_j<=+3%\n    0.2662  {change}  FAIL\n");
        assert!(short.contains(&row), "{short}");
        let long = text("FAIL: not measured here; `x` is");
        assert_fits(&long, 72);
        assert_eq!(long.matches("\ncpu_energy_j<=+3%\n").count(), 2, "{long}");
    }

    /// Goal: many figures are parted, each part with its keys; what all rows share is said once.
    #[test]
    fn many_figures_are_parted() {
        let metrics = ["cpu_energy_j", "wake_latency_us_p99", "migrations_total"];
        let columns = [&["boost", "platform", "n"][..], &metrics].concat();
        let mut table = Table::new("t", &columns).as_typed().keys(3);
        for boost in ["0", "100"] {
            let mut row: Vec<Cell> = vec![boost.into(), "hikey960".into(), 20_u64.into()];
            row.extend(metrics.map(|_| Cell::from("0.3375 ±0.0159")));
            table.row(row);
        }
        let wide = drawn(&table, 100);
        assert!(wide.starts_with("boost  platform"), "{wide}");
        let narrow = drawn(&table, 44);
        assert_fits(&narrow, 44);
        assert!(
            narrow.starts_with("In all rows: platform hikey960, n 20.\n\n"),
            "{narrow}"
        );
        assert_eq!(narrow.matches("boost  ").count(), 2, "{narrow}");
        for metric in metrics {
            assert_eq!(narrow.matches(metric).count(), 1, "{narrow}");
        }
        assert_eq!(narrow.matches("0.3375 ±0.0159").count(), 6, "{narrow}");
    }

    /// Goal: a table is parted where it says, not where it happens to be full.
    #[test]
    fn a_table_is_parted_where_it_says() {
        let columns = ["case", "published", "change", "simulated", "by"];
        let mut table = Table::new("t", &columns)
            .keys(1)
            .part("published")
            .part("simulated");
        table.row(vec![
            "10".into(),
            "33.45".into(),
            "-13.39 %".into(),
            "1".into(),
            "2".into(),
        ]);
        let text = drawn(&table, 32);
        assert_fits(&text, 32);
        assert_eq!(text.lines().next(), Some("case  published  change"));
        assert!(text.contains("\ncase  simulated  by\n"), "{text}");
    }

    /// Goal: in other forms nothing is left out or parted.
    #[test]
    fn scripts_get_the_whole_table() {
        let style = Style {
            width: 40,
            ..Style::default()
        };
        for form in [Format::Csv, Format::Md, Format::Json] {
            let text = changes("+energy-aware").render(form, style);
            assert!(text.contains("spread") && text.contains("±0.8 %"), "{text}");
        }
    }
}

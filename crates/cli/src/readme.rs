//! The text of a study's page, which is Markdown, for a terminal: paragraphs and tables fit its
//! width, and nothing else is changed (studies/README.md). No word of the page is lost or changed.
//!
//! Called by `study show`. Free: how the page looks on a terminal.
//!
//! What must stay: no word of the page is lost or changed. Lines of code stay as they are, so that
//! they can be copied. Tests by part: `pages_fit_a_terminal` (pages of all studies),
//! `points_hang_and_commands_stay` (`line`, `mark`, `code`, `end_paragraph`), `tables_are_drawn`
//! (`table`, `cells`).
//!
//! Tests: below

use crate::text::{folded, heading, prose_width};
use wakeplace_report::{Align, Cell, Format, Style, Table};
use wakeplace_text::printable;

/// The page, ending with a newline.
pub(crate) fn shown(markdown: &str, style: Style) -> String {
    let mut page = Readme {
        style,
        text: String::new(),
        open: None,
        rows: Vec::new(),
    };
    let mut in_code = false;
    for line in markdown.trim().lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        if in_code || is_fence {
            page.code(line);
        } else {
            page.line(line);
        }
    }
    page.end();
    page.text
}

/// A page in the making.
struct Readme {
    style: Style,
    text: String,
    /// The paragraph or point that goes on.
    open: Option<Paragraph>,
    /// The rows of the table that goes on, cell by cell.
    rows: Vec<Vec<String>>,
}

struct Paragraph {
    words: String,
    /// Blanks before its first line, and before the others.
    set_in: (usize, usize),
}

impl Readme {
    /// One line of the page: a row of a table, a command, a heading, or words of a paragraph.
    fn line(&mut self, line: &str) {
        let words = line.trim_start();
        let set_in = line.len() - words.len();
        if words.starts_with('|') {
            self.end_paragraph();
            return self.rows.push(cells(words));
        }
        if words.is_empty() {
            self.end();
            self.text.push('\n');
        } else if line.starts_with('#') {
            self.end();
            self.text.push_str(&heading(line, self.style));
        } else if let Some(mark) = mark(words) {
            self.end();
            self.begin(words, (set_in, set_in + mark));
        } else if let Some(open) = &mut self.open {
            open.words.push(' ');
            open.words.push_str(words.trim_end());
        } else if set_in >= 4 {
            self.code(line);
        } else {
            self.end();
            self.begin(words, (set_in, set_in));
        }
    }

    /// Opens a paragraph; `set_in` is the columns before its first line and before the others.
    fn begin(&mut self, words: &str, set_in: (usize, usize)) {
        let words = words.trim_end().to_owned();
        self.open = Some(Paragraph { words, set_in });
    }

    /// Commands stay as they are; a remark behind one that is too long goes before it.
    fn code(&mut self, line: &str) {
        self.end();
        let line = printable(line);
        let remark = line.split_once("  # ");
        match remark.filter(|_| line.chars().count() > self.style.width) {
            Some((command, remark)) => {
                self.text
                    .push_str(&format!("# {remark}\n{}\n", command.trim_end()));
            }
            None => self.text.push_str(&format!("{line}\n")),
        }
    }

    /// Writes what is open, a paragraph or a table. Called at an empty line and at the page's end.
    fn end(&mut self) {
        self.end_paragraph();
        let rows = std::mem::take(&mut self.rows);
        if let [heads, rest @ ..] = rows.as_slice() {
            self.text
                .push_str(&table(heads, rest).render(Format::Human, self.style));
        }
    }

    /// Writes the open paragraph folded to the terminal's width; nothing if none is open.
    fn end_paragraph(&mut self) {
        let Some(Paragraph { words, set_in }) = self.open.take() else {
            return;
        };
        let room = |set_in: usize| prose_width(self.style).saturating_sub(set_in);
        let lines = folded(&words, room(set_in.0), room(set_in.1));
        for (nth, line) in lines.iter().enumerate() {
            let blanks = if nth == 0 { set_in.0 } else { set_in.1 };
            self.text
                .push_str(&format!("{}{line}\n", " ".repeat(blanks)));
        }
    }
}

/// How long the sign of a point is with its blank: `- `, `12. `.
fn mark(words: &str) -> Option<usize> {
    let (sign, _) = words.split_once(' ')?;
    let number = sign.strip_suffix('.').unwrap_or_default();
    let numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (numbered || sign == "-" || sign == "*").then_some(sign.len() + 1)
}

/// The cells of a line `| a | b |`.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches('|').trim_end_matches('|');
    line.split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// A table with its heads and what is below them: how columns are aligned, and the rows.
fn table(heads: &[String], below: &[Vec<String>]) -> Table {
    // Two columns may have one head; a blank is none that anybody sees.
    let unlike = heads.iter().enumerate().map(|(at, head)| {
        let same = heads[..at].iter().filter(|other| *other == head).count();
        format!("{head}{}", " ".repeat(same))
    });
    let names: Vec<String> = unlike.collect();
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut table = Table::new("table", &texts).as_typed().keys(1);
    let is_rule = |row: &&Vec<String>| {
        row.iter()
            .all(|cell| cell.bytes().all(|b| b":-".contains(&b)))
    };
    let rule = below.first().filter(is_rule);
    for (name, cell) in names.iter().zip(rule.into_iter().flatten()) {
        if cell.ends_with(':') {
            table = table.align(name, Align::Right);
        }
    }
    for row in &below[usize::from(rule.is_some())..] {
        let cell = |at: usize| {
            row.get(at)
                .map_or(Cell::Empty, |cell| Cell::from(cell.clone()))
        };
        table.row((0..heads.len()).map(cell).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::shown;
    use wakeplace_report::Style;
    use wakeplace_study::{Study, studies};

    fn at(markdown: &str, width: usize) -> String {
        let color = false;
        shown(markdown, Style { color, width })
    }

    /// Goal: no line of any study's page is wider than the terminal, commands aside.
    #[test]
    fn pages_fit_a_terminal() {
        for study in studies() {
            let study = Study::load(&study.name).expect("built in");
            let text = at(study.readme(), 80);
            let parts = text.split("```").step_by(2);
            let wide = |line: &&str| line.chars().count() > 80;
            assert_eq!(parts.flat_map(str::lines).find(wide), None, "{text}");
        }
    }

    #[test]
    fn points_hang_and_commands_stay() {
        let words = "word ".repeat(10);
        let text = at(
            &format!("# Head\n\n- {words}\n  more\n- b\n\n```\na  b\n```"),
            40,
        );
        let expected = "# Head\n\n- word word word word word word word\n  word word word more\n\
                        - b\n\n```\na  b\n```\n";
        assert_eq!(text, expected);
        let code = format!("```\n{}  # a remark\n```", "x".repeat(36));
        assert_eq!(
            at(&code, 40),
            format!("```\n# a remark\n{}\n```\n", "x".repeat(36))
        );
    }

    #[test]
    fn tables_are_drawn() {
        let text = at(
            "| a | b |\n| :-- | --: |\n| one | 2 |\n| three | 10 |\n",
            40,
        );
        assert_eq!(text, "a       b\none     2\nthree  10\n");
    }
}

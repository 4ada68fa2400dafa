//! The rows of a table of measured powers: text in the form of Wattson's files, with the place of
//! each figure in the platform file (docs/guide/platforms.md, "Measured power").
//!
//! Called by `read/measured.rs`.
//!
//! What must stay: names of columns are Wattson's, so that its files can be pasted; places are byte
//! offsets in the platform file, and a wrong field is pointed at there. Free: what leaves each
//! file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of messages that
//! no test quotes. Tests by part: `milliwatts_become_microwatts` (`microwatts`),
//! measured.rs::`tables_that_are_refused` (`columns`, `row`, `fields`, `body`: the places),
//! measured.rs::`figures_are_by_both_clocks` (`rows`). `next` by the last two.
//!
//! Tests: below, crates/platform/tests/all/measured.rs

use wakeplace_text::{nearest, shorten};

use super::raw::Text;
use super::values::{MAX_CPU_POWER, at};
use crate::error::Flaw;

/// Columns that every table has.
const COLUMNS: [&str; 6] = ["policy", "freq_khz", "static", "active", "idle0", "idle1"];
/// Columns of a table whose powers depend on another clock.
const OTHER_COLUMNS: [&str; 2] = ["dep_policy", "dep_freq"];
/// Columns that a table may lack.
const OPTIONAL: [&str; 2] = ["device", "interconnect"];
/// Most rows of a table: a phone has at most four clocks of at most 64 steps.
const MAX_ROWS: usize = 20_000;

/// Figures of one clock, microwatts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Place of the row in the platform file.
    pub(super) at: usize,
    pub(super) policy: u64,
    pub(super) khz: u64,
    /// The other clock: its policy and its frequency as written.
    pub(super) other: Option<(u64, u64)>,
    pub(super) fixed: u64,
    pub(super) active: u64,
    pub(super) idle0: u64,
    pub(super) idle1: u64,
    pub(super) interconnect: u64,
}

/// Reads a table; `two`: its powers depend on another clock.
pub(super) fn rows(table: &Text, file: &str, two: bool) -> Result<Vec<Row>, Flaw> {
    let (start, body) = body(table, file)?;
    let mut lines = Lines {
        body,
        start,
        from: 0,
    };
    let Some((header_at, header)) = lines.next() else {
        return Err(Flaw::new(
            at(table),
            "the table is empty",
            "expected a line of column names",
        ));
    };
    let columns = columns(header_at, header, two)?;
    let mut rows = Vec::new();
    for (line_at, line) in lines {
        if rows.len() == MAX_ROWS {
            let problem = format!("the table has more than {MAX_ROWS} rows");
            return Err(Flaw::new(line_at, problem, "expected fewer"));
        }
        rows.push(row(line_at, line, &columns, two)?);
    }
    match rows.is_empty() {
        true => Err(Flaw::new(
            header_at,
            "the table has no row",
            "expected one per clock",
        )),
        false => Ok(rows),
    }
}

/// The text between the quotes as it stands in the file, and where.
fn body<'a>(table: &Text, file: &'a str) -> Result<(usize, &'a str), Flaw> {
    let span = table.span();
    let raw = file.get(span.clone()).unwrap_or("");
    for quotes in ["\"\"\"", "'''", "\"", "'"] {
        let inside = raw
            .strip_prefix(quotes)
            .and_then(|r| r.strip_suffix(quotes));
        let Some(inside) = inside else { continue };
        // TOML leaves out a line end right behind the opening quotes.
        let plain = inside
            .strip_prefix("\r\n")
            .or(inside.strip_prefix('\n'))
            .unwrap_or(inside);
        if plain == table.get_ref() || plain.replace("\r\n", "\n") == *table.get_ref() {
            return Ok((
                span.start + quotes.len() + inside.len() - plain.len(),
                plain,
            ));
        }
    }
    let expected = "expected lines between `\"\"\"`, as they stand in the table's file";
    Err(Flaw::new(span.start, "a table with escapes", expected))
}

/// Lines that are not empty, with their places.
struct Lines<'a> {
    body: &'a str,
    start: usize,
    from: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a str);

    /// The next line with something in it, with its place in the file.
    fn next(&mut self) -> Option<Self::Item> {
        while self.from < self.body.len() {
            let rest = &self.body[self.from..];
            let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let here = self.start + self.from;
            self.from += length;
            let line = rest[..length].trim_end();
            if !line.trim().is_empty() {
                return Some((here, line));
            }
        }
        None
    }
}

/// The fields of a line, with their places.
fn fields(line_at: usize, line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut from = 0;
    line.split(',').map(move |field| {
        let here = line_at + from;
        from += field.len() + 1;
        (here + field.len() - field.trim_start().len(), field.trim())
    })
}

/// Column names in the order of the table.
fn columns(line_at: usize, line: &str, two: bool) -> Result<Vec<&'static str>, Flaw> {
    let needed = || COLUMNS.iter().chain(OTHER_COLUMNS.iter().filter(|_| two));
    let mut found: Vec<&'static str> = Vec::new();
    for (here, name) in fields(line_at, line) {
        let known = needed().chain(&OPTIONAL).find(|known| **known == name);
        let Some(known) = known.copied() else {
            let names: Vec<&str> = needed().chain(&OPTIONAL).copied().collect();
            let problem = format!("unknown column `{}`", shorten(name));
            let expected = format!("expected {}", names.join(", "));
            let hint = nearest(name, names.iter().copied()).map(str::to_owned);
            return Err(Flaw::new(here, problem, expected).with_hint(hint));
        };
        if found.contains(&known) {
            let problem = format!("two columns `{known}`");
            return Err(Flaw::new(here, problem, "expected each once"));
        }
        found.push(known);
    }
    match needed().find(|name| !found.contains(name)) {
        Some(missing) => {
            let problem = format!("no column `{missing}`");
            Err(Flaw::new(line_at, problem, "expected it in the first line"))
        }
        None => Ok(found),
    }
}

/// One row by the names of the columns.
fn row(line_at: usize, line: &str, columns: &[&'static str], two: bool) -> Result<Row, Flaw> {
    let values: Vec<(usize, &str)> = fields(line_at, line).collect();
    if values.len() != columns.len() {
        let problem = format!("a row of {} fields", values.len());
        let expected = format!("expected {}, as in the first line", columns.len());
        return Err(Flaw::new(line_at, problem, expected));
    }
    let of = |name: &'static str| {
        let place = columns.iter().position(|column| *column == name);
        place.map(|place| (name, values[place]))
    };
    let needed = |name| of(name).expect("`columns` has seen it");
    let whole = |(name, (here, text)): (&str, (usize, &str))| {
        text.parse::<u64>().map_err(|_| {
            let problem = format!("`{name}` is `{}`", shorten(text));
            Flaw::new(here, problem, "expected a whole number from 0")
        })
    };
    let power = |field| microwatts(field);
    Ok(Row {
        at: line_at,
        policy: whole(needed("policy"))?,
        khz: whole(needed("freq_khz"))?,
        other: match two {
            true => Some((whole(needed("dep_policy"))?, whole(needed("dep_freq"))?)),
            false => None,
        },
        fixed: power(needed("static"))?,
        active: power(needed("active"))?,
        idle0: power(needed("idle0"))?,
        idle1: power(needed("idle1"))?,
        interconnect: of("interconnect").map_or(Ok(0), power)?,
    })
}

/// Milliwatts with decimals, as microwatts; what is beyond the third decimal is rounded.
fn microwatts((name, (here, text)): (&str, (usize, &str))) -> Result<u64, Flaw> {
    let most = MAX_CPU_POWER / 1000;
    let wrong = || {
        let problem = match text.is_empty() {
            true => format!("`{name}` is empty"),
            false => format!("`{name}` is `{}`", shorten(text)),
        };
        Flaw::new(
            here,
            problem,
            format!("expected 0 to {most} mW, such as 28.51"),
        )
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.len() <= 12 && text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(decimals) {
        return Err(wrong());
    }
    let four = format!("{decimals:0<4}");
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let four: u64 = four[..4].parse().map_err(|_| wrong())?;
    if whole > most {
        return Err(wrong());
    }
    Ok(whole * 1000 + (four + 5) / 10)
}

#[cfg(test)]
mod tests {
    use super::microwatts;

    #[test]
    fn milliwatts_become_microwatts() {
        let of = |text| microwatts(("active", (0, text))).ok();
        assert_eq!(of("28.51"), Some(28_510));
        assert_eq!(of("7"), Some(7_000));
        assert_eq!(of("0.4824"), Some(482));
        assert_eq!(of("0.4825"), Some(483));
        assert_eq!(of("64000"), Some(64_000_000));
        for wrong in [
            "-1",
            "",
            "64001",
            "1e3",
            ".5",
            "1.2.3",
            "nan",
            "9999999999999",
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}

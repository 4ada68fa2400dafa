//! A list of frequency and voltage, for a device tree that has power coefficients and no voltages.
//!
//! ```text
//! cpu  MHz     mV      # the units: Hz, kHz or MHz; uV, mV or V
//! 0    300     575     # any CPU of a frequency domain stands for all of it
//! 0    1804.8  850
//! 4    710.4   600
//! ```
//!
//! Blanks or commas divide the columns. Behind `#` stands what is not read (docs/guide/import.md,
//! "A device tree without voltages").
//!
//! Called for the option `--voltages`. Clocks become kHz, voltages mV.
//!
//! What must stay: the language of the list, as people have such files; a list that cannot be right
//! is refused with its line; whole mV, as drivers/opp/of.c counts. Free: what leaves the files of
//! imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `coefficients_and_voltages_make_power` (`read`, `lay_over`,
//! `of_point`, units of `header`), `lists_that_cannot_be_right` (`header`, `row`, `rising`,
//! `check_cpus`, `missing`), `clocks_without_a_coefficient` (`has`), the first also `origin` and
//! `rows`; `wrong` is the second's.
//!
//! Tests: crates/platform/tests/all/import/voltages.rs

use super::ImportError;
use super::found::{Point, cpu_list};
use crate::sysfs::{number, quoted};
use std::path::Path;
use wakeplace_text::scaled;

/// Units of frequencies, Hz in one.
const FREQUENCY: [(&str, u64); 3] = [("hz", 1), ("khz", 1_000), ("mhz", 1_000_000)];
/// Units of voltages, uV in one.
const VOLTAGE: [(&str, u64); 3] = [("uv", 1), ("mv", 1_000), ("v", 1_000_000)];
/// Frequencies that are believed, Hz (20 GHz).
const HZ: std::ops::RangeInclusive<u128> = 1_000..=20_000_000_000;
/// Voltages that are believed, uV (10 V).
const UV: std::ops::RangeInclusive<u128> = 1_000..=10_000_000;
/// Most lines with figures.
const MAX_LINES: usize = 65_536;

/// A line with figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    line: usize,
    cpu: u16,
    khz: u32,
    mv: u32,
}

/// The list of a file.
#[derive(Debug)]
pub(super) struct Voltages {
    /// As the caller named it.
    file: String,
    /// Without its folders, for the platform file.
    name: String,
    rows: Vec<Row>,
}

impl Voltages {
    /// Reads the file.
    pub(super) fn read(path: &Path) -> Result<Self, ImportError> {
        let file = path.display().to_string();
        let expected = "a list of frequency and voltage: `cpu MHz mV`, then lines of figures";
        let bytes = super::read_limited(&file, path, expected)?;
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(ImportError::wrong(
                &file,
                "bytes that are no text",
                expected,
            ));
        };
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let rows = rows(text, &file)?;
        Ok(Self {
            name: name.unwrap_or_else(|| file.clone()),
            file,
            rows,
        })
    }

    /// As the origin of figures.
    pub(super) fn origin(&self) -> String {
        format!("list of voltages {}", self.name)
    }

    /// The list says what cannot be; `expected`: what would do.
    fn wrong(&self, problem: String, expected: &str) -> ImportError {
        ImportError::wrong(&self.file, problem, expected)
    }

    /// No line is of a CPU that is not there.
    pub(super) fn check_cpus(&self, count: usize) -> Result<(), ImportError> {
        match self.rows.iter().find(|row| usize::from(row.cpu) >= count) {
            None => Ok(()),
            Some(row) => Err(ImportError::wrong(
                &format!("{}:{}", self.file, row.line),
                format!("CPU {}", row.cpu),
                format!("a CPU of the device tree, 0 to {}", count - 1),
            )),
        }
    }

    /// Whether it has a line of one of the CPUs.
    pub(super) fn has(&self, cpus: &[u16]) -> bool {
        self.rows.iter().any(|row| cpus.contains(&row.cpu))
    }

    /// Gives the operating points of a clock their voltages, or a clock without points those of
    /// the list.
    pub(super) fn lay_over(
        &self,
        cpus: &[u16],
        points: &mut Vec<Point>,
        said: &mut Vec<String>,
    ) -> Result<(), ImportError> {
        let rows: Vec<Row> = self
            .rows
            .iter()
            .filter(|r| cpus.contains(&r.cpu))
            .copied()
            .collect();
        for pair in rows.windows(2) {
            rising(&self.file, pair[0], pair[1])?;
        }
        let clock = cpu_list(cpus);
        if points.is_empty() {
            points.extend(rows.iter().map(|row| Point {
                khz: row.khz,
                mv: Some(row.mv),
                ..Point::default()
            }));
            return Ok(());
        }
        for point in points.iter_mut() {
            let Some(row) = of_point(&rows, point) else {
                let mhz = f64::from(point.khz) / 1000.0;
                let problem = format!("no voltage at {mhz} MHz for CPUs {clock}");
                return Err(self.wrong(
                    problem,
                    "a line for each operating point of the device tree",
                ));
            };
            point.mv = Some(row.mv);
        }
        let used = |row: &&Row| {
            points
                .iter()
                .any(|point| of_point(&rows, point) == Some(row))
        };
        let left_out = rows.iter().filter(|row| !used(row)).count();
        if left_out > 0 {
            said.push(format!(
                "{left_out} of {} lines of {} for CPUs {clock} left out: frequencies that the \
                 device tree lacks",
                rows.len(),
                self.name
            ));
        }
        Ok(())
    }

    /// A clock that has a coefficient, no voltages and no line.
    pub(super) fn missing(&self, cpus: &[u16]) -> ImportError {
        let problem = format!("no line for CPUs {}", cpu_list(cpus));
        self.wrong(
            problem,
            "a voltage at each frequency of each clock without voltages",
        )
    }
}

/// The line of an operating point. Kernels count in kHz, and vendors often in whole MHz.
fn of_point<'a>(rows: &'a [Row], point: &Point) -> Option<&'a Row> {
    let exact = rows.iter().find(|row| row.khz == point.khz);
    exact.or_else(|| rows.iter().find(|row| row.khz / 1000 == point.khz / 1000))
}

/// A higher frequency needs as high a voltage.
fn rising(file: &str, before: Row, row: Row) -> Result<(), ImportError> {
    let at = format!("{file}:{}", row.line);
    if row.khz <= before.khz {
        let problem = format!(
            "{} MHz after {} MHz for the same clock",
            f64::from(row.khz) / 1000.0,
            f64::from(before.khz) / 1000.0
        );
        return Err(ImportError::wrong(&at, problem, "rising frequencies"));
    }
    if row.mv < before.mv {
        let problem = format!("{} mV after {} mV at a lower frequency", row.mv, before.mv);
        return Err(ImportError::wrong(
            &at,
            problem,
            "a voltage that does not fall as the frequency rises",
        ));
    }
    Ok(())
}

/// The rows of a list; the first line may name the units.
fn rows(text: &str, file: &str) -> Result<Vec<Row>, ImportError> {
    let mut units = None;
    let mut rows = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or_default();
        let cells: Vec<&str> = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|cell| !cell.is_empty())
            .collect();
        if cells.is_empty() {
            continue;
        }
        let wrong = |(problem, expected): (String, String)| {
            ImportError::wrong(&format!("{file}:{line}"), problem, expected)
        };
        match units {
            None => units = Some(header(&cells).map_err(wrong)?),
            Some(units) => rows.push(row(line, &cells, units).map_err(wrong)?),
        }
        if rows.len() > MAX_LINES {
            let most = format!("at most {MAX_LINES} lines");
            return Err(wrong(("one more line".to_owned(), most)));
        }
    }
    match rows.is_empty() {
        true => Err(ImportError::wrong(
            file,
            "no line with figures",
            "`cpu MHz mV`, then a line for each operating point",
        )),
        false => Ok(rows),
    }
}

/// Hz and uV in one of the units that the header names.
fn header(cells: &[&str]) -> Result<(u64, u64), (String, String)> {
    let [cpu, frequency, voltage] = cells else {
        let problem = format!("{} columns", cells.len());
        return Err((problem, "the header `cpu MHz mV`".to_owned()));
    };
    if !cpu.eq_ignore_ascii_case("cpu") {
        return Err((quoted(cpu), "the header `cpu MHz mV`".to_owned()));
    }
    let unit = |name: &str, known: &[(&str, u64)], expected: &str| {
        let found = known
            .iter()
            .find(|(unit, _)| unit.eq_ignore_ascii_case(name));
        found.map(|(_, scale)| *scale).ok_or_else(|| {
            (
                format!("unknown unit {}", quoted(name)),
                expected.to_owned(),
            )
        })
    };
    Ok((
        unit(frequency, &FREQUENCY, "Hz, kHz or MHz")?,
        unit(voltage, &VOLTAGE, "uV, mV or V")?,
    ))
}

/// A CPU, a frequency and a voltage, each within what hardware has.
fn row(line: usize, cells: &[&str], units: (u64, u64)) -> Result<Row, (String, String)> {
    let [cpu, frequency, voltage] = cells else {
        let problem = format!("{} columns", cells.len());
        return Err((problem, "a CPU, a frequency and a voltage".to_owned()));
    };
    let cpu = number(cpu)
        .and_then(|cpu| u16::try_from(cpu).ok())
        .ok_or_else(|| (quoted(cpu), "the number of a CPU".to_owned()))?;
    let hz = scaled(frequency, units.0).filter(|hz| HZ.contains(hz));
    let hz = hz.ok_or_else(|| {
        let expected = "a frequency from 1 kHz to 20 GHz in the unit of the header";
        (quoted(frequency), expected.to_owned())
    })?;
    let uv = scaled(voltage, units.1).filter(|uv| UV.contains(uv));
    let uv = uv.ok_or_else(|| {
        let expected = "a voltage from 1 mV to 10 V in the unit of the header";
        (quoted(voltage), expected.to_owned())
    })?;
    // As Linux drivers/opp/of.c has them: whole mV.
    let (khz, mv) = ((hz / 1000) as u32, (uv / 1000) as u32);
    Ok(Row { line, cpu, khz, mv })
}

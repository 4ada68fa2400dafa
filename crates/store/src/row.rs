//! Rows of a store: how a finished cell is written, and how it is read and believed. A column that
//! is written is one that the sum has and the reader checks (docs/guide/results.md, "Sweeps").
//!
//! Sums tell accidents, they do not authenticate.
//!
//! What must stay: order and form of what is hashed, within a version of the store (`VERSION` of
//! check.rs): a changed sum makes every older store damaged. A row that is there is never
//! overwritten. Tests by part: `a_row_that_is_not_as_it_was_is_refused` (`cell_sum`, `run_sum`,
//! `done`, `metrics_of`, `below`), `what_cells_are_of_is_as_it_was` (`point_sum`, `metric_sum`,
//! `sweep_sum`, `point_of`), `a_store_has_the_runs_that_its_cells_are` (`put_point`, `put_run`,
//! `metric`: what is written reads back), damage.rs::`changed_bytes_are_found_or_harmless` (all
//! sums), grown.rs::`what_changed_is_refused` (`each_run`, `each_point`),
//! grown.rs::`values_come_and_go` (`put_cell`).
//!
//! Tests: crates/store/tests/all/forged.rs, crates/store/tests/all/damage.rs,
//! crates/store/tests/all/grown.rs

use crate::Done;
use crate::error::Flaw;
use rusqlite::{Connection, Row, Transaction, params};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use wakeplace_study::{RunRecord, json_object, json_pairs};

/// Longest reason why a cell could not be run, bytes: refusals of files have a thousandth of it.
const MAX_ERROR: usize = 1 << 16;
/// Bytes of a metric in a run: its number and its value.
const METRIC: usize = 12;
/// Bytes that a metric takes in memory beside its name, about.
const METRIC_IN_MEMORY: usize = 64;

/// The sum of a row: the first 64 bits of the SHA-256 of its columns, each with its length. It
/// tells what this program wrote from what an accident made of it. Whoever means to forge a row can
/// compute its sum.
struct Sum(Sha256);

impl Sum {
    /// Of a row of this table.
    fn of(table: &str) -> Self {
        Self(Sha256::new()).text(table)
    }

    /// Adds a text with its length, so that two texts never read as one.
    fn text(mut self, text: &str) -> Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    /// Adds a number, 8 bytes, the lowest first.
    fn number(mut self, number: u64) -> Self {
        self.0.update(number.to_le_bytes());
        self
    }

    /// The first 8 bytes of the hash, as SQLite holds a number.
    fn end(self) -> i64 {
        let all = self.0.finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&all[..8]);
        i64::from_le_bytes(first)
    }
}

/// Names of metrics by number, and what they take in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) by_number: BTreeMap<u32, String>,
    pub(crate) bytes: usize,
}

/// Of what a store is of: the sweep's hash, its text, and how many cells and cells a chunk.
pub(crate) fn sweep_sum(definition: &str, said: &str, cells: i64, chunk: i64) -> i64 {
    let sum = Sum::of("sweep").text(definition).text(said);
    sum.number(cells.cast_unsigned())
        .number(chunk.cast_unsigned())
        .end()
}

/// Writes what a point of the sweep is, once.
pub(crate) fn put_point(
    change: &Transaction<'_>,
    point: usize,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let labels = json_object(&record.labels);
    let texts = point_texts(&labels, record);
    let [
        labels,
        platform,
        platform_hash,
        workload,
        workload_hash,
        policy,
        settings,
        options,
        jitter,
    ] = texts;
    change
        .prepare_cached(
            "INSERT OR IGNORE INTO point
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            point as i64,
            labels,
            platform,
            platform_hash,
            workload,
            workload_hash,
            policy,
            settings,
            options,
            jitter,
            record.duration_ns.cast_signed(),
            point_sum(point, texts, record.duration_ns)
        ])?;
    Ok(())
}

/// The columns of a point that are text, in their order.
fn point_texts<'a>(labels: &'a str, record: &'a RunRecord) -> [&'a str; 9] {
    [
        labels,
        &record.platform,
        &record.platform_hash,
        &record.workload,
        &record.workload_hash,
        &record.policy,
        &record.settings,
        &record.options,
        &record.jitter,
    ]
}

/// Of a point: its number, its texts in their order, and the simulated time in ns.
fn point_sum(point: usize, texts: [&str; 9], duration_ns: u64) -> i64 {
    let sum = Sum::of("point").number(point as u64);
    let sum = texts.into_iter().fold(sum, Sum::text);
    sum.number(duration_ns).end()
}

/// Writes a finished cell with its sum.
pub(crate) fn put_run(
    change: &Transaction<'_>,
    done: &Done,
    names: &mut BTreeMap<String, i64>,
) -> rusqlite::Result<()> {
    let record = &done.record;
    put_cell(change, done)?;
    let mut bytes = Vec::with_capacity(record.metrics.len() * METRIC);
    for (name, value) in &record.metrics {
        let number = metric(change, name, names)?;
        bytes.extend_from_slice(&u32::try_from(number).unwrap_or(0).to_le_bytes());
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    change
        .prepare_cached("INSERT OR IGNORE INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![
            done.key,
            record.event_hash,
            record.behaviour_hash,
            record.error,
            bytes,
            run_sum(&done.key, record)
        ])?;
    Ok(())
}

/// Of a cell: which one it is, of which point, seed and key.
fn cell_sum(cell: usize, point: usize, seed: &str, key: &str) -> i64 {
    let sum = Sum::of("cell").number(cell as u64).number(point as u64);
    sum.text(seed).text(key).end()
}

/// Of what a run came to: hashes, error, and the bits of each metric in the order of names.
fn run_sum(key: &str, record: &RunRecord) -> i64 {
    let sum = Sum::of("run").text(key).text(&record.event_hash);
    let sum = sum.text(&record.behaviour_hash).text(&record.error);
    let metric = |sum: Sum, (name, value): (&String, &f64)| sum.text(name).number(value.to_bits());
    record.metrics.iter().fold(sum, metric).end()
}

/// The number of a metric's name; other processes add to the list, too.
fn metric(
    change: &Transaction<'_>,
    name: &str,
    names: &mut BTreeMap<String, i64>,
) -> rusqlite::Result<i64> {
    if let Some(known) = names.get(name) {
        return Ok(*known);
    }
    let mut found = change.prepare_cached("SELECT metric FROM metric WHERE name = ?1")?;
    let number = match found.query_row([name], |row| row.get(0)) {
        Err(rusqlite::Error::QueryReturnedNoRows) => {
            let next = "SELECT COALESCE(MAX(metric), 0) + 1 FROM metric";
            let number = change
                .prepare_cached(next)?
                .query_row([], |row| row.get(0))?;
            change
                .prepare_cached("INSERT INTO metric VALUES (?1, ?2, ?3)")?
                .execute(params![number, name, metric_sum(number, name)])?;
            number
        }
        other => other?,
    };
    names.insert(name.to_owned(), number);
    Ok(number)
}

/// Of a metric's number and name.
fn metric_sum(number: i64, name: &str) -> i64 {
    let sum = Sum::of("metric").number(number.cast_unsigned());
    sum.text(name).end()
}

/// All names of metrics.
pub(crate) fn metric_names(connection: &Connection) -> Result<Names, Flaw> {
    let mut statement = connection.prepare_cached("SELECT metric, name, sum FROM metric")?;
    let mut rows = statement.query([])?;
    let mut names = Names::default();
    while let Some(row) = rows.next()? {
        let (number, name, sum): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let own = u32::try_from(number).ok().filter(|own| *own > 0);
        let Some(own) = own.filter(|_| sum == metric_sum(number, &name)) else {
            return Err(Flaw::row("metric", number));
        };
        names.bytes += name.len() + METRIC_IN_MEMORY;
        names.by_number.insert(own, name);
    }
    Ok(names)
}

/// A part of the finished cells.
pub(crate) const CELLS: &str = "SELECT c.cell, c.point, c.seed, c.key, c.sum,
        r.event_hash, r.behaviour_hash, r.error, r.metrics, r.sum
    FROM cell c LEFT JOIN run r USING (key)
    WHERE c.cell >= ?1 ORDER BY c.cell LIMIT ?2";

const POINT: &str = "SELECT labels, platform, platform_hash, workload, workload_hash, policy,
        settings, options, jitter, duration_ns, sum
    FROM point WHERE point = ?1";

/// Reads cells and looks at the sums of their rows.
pub(crate) struct Reader<'a> {
    connection: &'a Connection,
    pub(crate) names: Names,
    /// All numbers are below.
    cells: usize,
    /// Cells of one point follow each other.
    point: Option<(usize, RunRecord)>,
}

impl<'a> Reader<'a> {
    /// For a store with so many cells; reads the names of metrics first.
    pub(crate) fn new(connection: &'a Connection, cells: usize) -> Result<Self, Flaw> {
        let names = metric_names(connection)?;
        Ok(Self {
            connection,
            names,
            cells,
            point: None,
        })
    }

    /// A row of [`CELLS`], all of whose sums are right, and whose numbers are in range.
    pub(crate) fn done(&mut self, row: &Row<'_>) -> Result<Done, Flaw> {
        let number: i64 = row.get(0)?;
        let wrong = || Flaw::row("cell", number);
        let cell = self.below(number).ok_or_else(wrong)?;
        let point = self.below(row.get(1)?).ok_or_else(wrong)?;
        let (seed, key): (String, String) = (row.get(2)?, row.get(3)?);
        if row.get::<_, i64>(4)? != cell_sum(cell, point, &seed, &key) {
            return Err(wrong());
        }
        let Some(sum) = row.get::<_, Option<i64>>(9)? else {
            return Err(Flaw::Content(format!("cell {cell} has no run")));
        };
        let metrics = row.get_ref(8)?.as_blob().map_err(rusqlite::Error::from)?;
        let record = RunRecord {
            seed: seed.parse().map_err(|_| wrong())?,
            event_hash: row.get(5)?,
            behaviour_hash: row.get(6)?,
            error: row.get(7)?,
            metrics: metrics_of(metrics, &self.names).ok_or_else(wrong)?,
            ..self.point(point)?.clone()
        };
        if sum != run_sum(&key, &record) || record.error.len() > MAX_ERROR {
            return Err(wrong());
        }
        Ok(Done {
            cell,
            point,
            key,
            record,
        })
    }

    /// The number if it is one of a cell, else `None`.
    fn below(&self, number: i64) -> Option<usize> {
        let own = usize::try_from(number).ok();
        own.filter(|number| *number < self.cells)
    }

    /// What all runs of a point have.
    fn point(&mut self, point: usize) -> Result<&RunRecord, Flaw> {
        if self.point.as_ref().is_none_or(|(known, _)| *known != point) {
            let mut statement = self.connection.prepare_cached(POINT)?;
            let mut rows = statement.query([point as i64])?;
            let Some(row) = rows.next()? else {
                return Err(Flaw::Content(format!("it lacks point {point}")));
            };
            self.point = Some((point, point_of(row, point)?));
        }
        Ok(&self.point.as_ref().expect("just read").1)
    }
}

/// Calls `each` with all runs, also those that no cell has, by their keys.
pub(crate) fn each_run(
    connection: &Connection,
    mut each: impl FnMut(&str, &RunRecord),
) -> Result<(), Flaw> {
    let names = metric_names(connection)?;
    let sql = "SELECT key, event_hash, behaviour_hash, error, metrics, sum FROM run";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key: String = row.get(0)?;
        let metrics = row.get_ref(4)?.as_blob().map_err(rusqlite::Error::from)?;
        let metrics = metrics_of(metrics, &names);
        let record = RunRecord {
            event_hash: row.get(1)?,
            behaviour_hash: row.get(2)?,
            error: row.get(3)?,
            metrics: metrics.ok_or_else(|| no_run(&key))?,
            ..RunRecord::default()
        };
        if row.get::<_, i64>(5)? != run_sum(&key, &record) || record.error.len() > MAX_ERROR {
            return Err(no_run(&key));
        }
        each(&key, &record);
    }
    Ok(())
}

/// A run that is not as it was written.
fn no_run(key: &str) -> Flaw {
    let key = wakeplace_text::shorten(key);
    Flaw::Content(format!(
        "run {key} of its table `run` is not as this program wrote it"
    ))
}

/// Calls `each` with all points.
pub(crate) fn each_point(
    connection: &Connection,
    mut each: impl FnMut(RunRecord),
) -> Result<(), Flaw> {
    let mut statement = connection.prepare("SELECT point FROM point ORDER BY point")?;
    let mut one = connection.prepare(POINT)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let point = usize::try_from(number).map_err(|_| Flaw::row("point", number))?;
        let mut found = one.query([number])?;
        if let Some(row) = found.next()? {
            each(point_of(row, point)?);
        }
    }
    Ok(())
}

/// The first points, so many at most.
pub(crate) fn first_points(connection: &Connection, most: usize) -> Result<Vec<RunRecord>, Flaw> {
    let mut statement = connection.prepare("SELECT point FROM point ORDER BY point LIMIT ?1")?;
    let mut one = connection.prepare(POINT)?;
    let mut rows = statement.query([most as i64])?;
    let mut points = Vec::new();
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let point = usize::try_from(number).map_err(|_| Flaw::row("point", number))?;
        let mut found = one.query([number])?;
        if let Some(row) = found.next()? {
            points.push(point_of(row, point)?);
        }
    }
    Ok(points)
}

/// Writes that a cell is done, whose run is there.
pub(crate) fn put_cell(change: &Transaction<'_>, done: &Done) -> rusqlite::Result<()> {
    let seed = done.record.seed.to_string();
    change
        .prepare_cached("INSERT OR IGNORE INTO cell VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            done.cell as i64,
            done.point as i64,
            seed,
            done.key,
            cell_sum(done.cell, done.point, &seed, &done.key)
        ])?;
    Ok(())
}

/// A row of [`POINT`] whose sum is right.
fn point_of(row: &Row<'_>, point: usize) -> Result<RunRecord, Flaw> {
    let labels: String = row.get(0)?;
    let record = RunRecord {
        labels: json_pairs(&labels),
        platform: row.get(1)?,
        platform_hash: row.get(2)?,
        workload: row.get(3)?,
        workload_hash: row.get(4)?,
        policy: row.get(5)?,
        settings: row.get(6)?,
        options: row.get(7)?,
        jitter: row.get(8)?,
        duration_ns: row.get::<_, i64>(9)?.cast_unsigned(),
        ..RunRecord::default()
    };
    let sum = point_sum(point, point_texts(&labels, &record), record.duration_ns);
    match row.get::<_, i64>(10)? == sum {
        true => Ok(record),
        false => Err(Flaw::row("point", point as i64)),
    }
}

/// Each name once, and names that the store has.
fn metrics_of(bytes: &[u8], names: &Names) -> Option<BTreeMap<String, f64>> {
    let (entries, rest) = bytes.as_chunks::<METRIC>();
    let mut metrics = BTreeMap::new();
    for entry in entries {
        let (number, value) = entry.split_first_chunk::<4>()?;
        let name = names.by_number.get(&u32::from_le_bytes(*number))?;
        let value = f64::from_le_bytes(value.try_into().ok()?);
        if metrics.insert(name.clone(), value).is_some() {
            return None;
        }
    }
    rest.is_empty().then_some(metrics)
}

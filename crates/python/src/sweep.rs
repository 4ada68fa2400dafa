//! Sweeps: run here on threads, or cell by cell by workers anywhere (docs/guide/python.md, "Sweeps,
//! and who runs them").
//!
//! Called from Python, on several threads.
//!
//! What must stay: one process writes the store, whoever ran the cells; keys of cells are those of
//! the command line, so that both go on with one store; `text` has the bytes of `wakeplace sweep`.
//! Free: how cells are divided among threads.
//! Tests by part: `test_any_executor_gives_the_same` (`open`, `claim`, `commit`, `run_cells`,
//! `run_cell`, `cells`, `is_complete`), `test_a_store_goes_on_and_is_that_of_the_command_line`
//! (`store`, `run`, `definition`), `test_a_pool_that_breaks_loses_nothing` (`release`),
//! `test_another_file_at_a_worker_is_found` (`key`),
//! test_results.py::`test_sweep_gives_the_bytes_of_its_command` (`of`, `text`, `counts`, the
//! table), test_results.py::`test_a_file_that_varies_is_a_sweep` (`of_file`).
//!
//! Tests: crates/python/tests/test_executors.py, crates/python/tests/test_results.py

use crate::ask;
use crate::error::input;
use crate::result::format;
use crate::rows::Row;
use crate::work::interruptible;
use crate::{frame, program};
use pyo3::prelude::*;
use pyo3::types::{PyAny, PyCapsule};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wakeplace_report::{Bases, Format, Points, Style, SweepFacts};
use wakeplace_store::{Definition, Done, Store, StoreError, Summary};
use wakeplace_study::{Axis, Command, Design, RunRecord, RunTable, Warnings, metric_order};

/// The values of what is varied.
#[derive(FromPyObject)]
pub(crate) enum Values {
    /// `FROM..TO:STEPS` or `A,B,C`.
    #[pyo3(transparent)]
    Text(String),
    /// Values that may hold commas.
    #[pyo3(transparent)]
    List(Vec<String>),
}

/// What is swept.
#[pyclass(frozen, module = "wakeplace._wakeplace")]
pub(crate) struct Sweep {
    sweep: wakeplace_study::Sweep,
    /// For the store's messages.
    said: String,
    /// Points that cells were made of lately.
    points: Mutex<wakeplace_study::Points>,
}

/// The guarded value; a thread that panicked with it changes nothing here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sweep {
    /// A sweep with the command that began it, for messages.
    fn new(sweep: wakeplace_study::Sweep, said: String) -> Self {
        Self {
            sweep,
            said,
            points: Mutex::default(),
        }
    }

    /// Runs a cell here, whoever writes the store.
    fn run_cell(&self, cell: usize) -> Done {
        let (number, seed) = self.sweep.cell(cell);
        let point = lock(&self.points).get(&self.sweep, number);
        wakeplace_store::run_cell(&point, (cell, number, seed), &program())
    }

    /// Opens the store of this sweep, in memory where no path is given.
    fn store(&self, path: Option<&PathBuf>, workers: usize) -> Result<Store, StoreError> {
        let definition = Definition {
            sweep: &self.sweep,
            program: &program(),
            said: self.said.clone(),
            workers,
        };
        match path {
            Some(path) => Store::open(path, &definition),
            None => Store::in_memory(&definition),
        }
    }
}

#[pymethods]
impl Sweep {
    /// A sweep of arguments.
    #[staticmethod]
    fn of(
        ask: &str,
        vary: Vec<(String, Values)>,
        latin_hypercube: Option<usize>,
        design_seed: u64,
        base: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let axis = |(key, values): (String, Values)| match values {
            Values::Text(text) => Axis::of(&key, &text),
            Values::List(list) => Axis::list(&key, list),
        };
        let axes = vary.into_iter().map(axis).collect::<Result<Vec<_>, _>>();
        let design = latin_hypercube.map_or(Design::Grid, |points| Design::LatinHypercube {
            points,
            seed: design_seed,
        });
        let request = ask::read(ask)?.request(Command::Sweep).map_err(input)?;
        let sweep = wakeplace_study::Sweep::new(request, axes.map_err(input)?, design);
        let mut sweep = sweep.map_err(input)?;
        sweep.from = base;
        sweep.base_point().map_err(input)?;
        let said = "wakeplace.sweep of Python".to_owned();
        Ok(Self::new(sweep, said))
    }

    /// A sweep of a file, with what `study run` may change of it.
    #[staticmethod]
    fn of_file(file: &str, ask: &str) -> PyResult<Self> {
        let found = wakeplace_study::Sweep::from_file(file).map_err(input)?;
        let base = ask::read(ask)?.beside(found.base).map_err(input)?;
        let sweep = wakeplace_study::Sweep::new(base, found.axes, found.design);
        let mut sweep = sweep.map_err(input)?;
        sweep.from = found.from;
        sweep.base_point().map_err(input)?;
        Ok(Self::new(sweep, format!("wakeplace.study of {file}")))
    }

    /// Cells: points by seeds.
    #[getter]
    fn cells(&self) -> usize {
        self.sweep.cells()
    }

    /// A hash of what is swept and of the program.
    fn definition(&self) -> String {
        self.sweep.definition(&program())
    }

    /// Runs all cells that the store lacks on threads of this process.
    fn run(slf: Bound<'_, Self>, store: Option<PathBuf>, jobs: Option<usize>) -> PyResult<Runs> {
        let own = slf.get();
        let jobs = crate::jobs(jobs);
        let py = slf.py();
        let opened = py.detach(|| own.store(store.as_ref(), jobs));
        let mut opened = opened.map_err(input)?;
        let sweep = own.sweep.clone();
        let run = move |stop: &crate::work::Stop| {
            // Called after each commit: what is made is kept.
            let progress = |_| stop.check();
            wakeplace_store::run(&sweep, &mut opened, (jobs, &program()), &progress)
                .map(|summary| (opened, summary))
        };
        let (opened, summary) = interruptible(slf.py(), run)?.map_err(input)?;
        Ok(Runs::new(slf.unbind(), opened, summary))
    }

    /// The store, for whoever has the cells run by others: so many workers.
    fn open(slf: Bound<'_, Self>, store: Option<PathBuf>, workers: usize) -> PyResult<Runs> {
        let own = slf.get();
        let opened = slf.py().detach(|| own.store(store.as_ref(), workers));
        let opened = opened.map_err(input)?;
        let summary = Summary {
            cells: own.sweep.cells(),
            found: opened.done().map_err(input)?,
            ..Summary::default()
        };
        Ok(Runs::new(slf.unbind(), opened, summary))
    }

    /// Runs some cells on this thread: a row each.
    fn run_cells(&self, py: Python<'_>, cells: Vec<usize>) -> PyResult<Vec<Row>> {
        let mut rows = Vec::with_capacity(cells.len());
        for cell in cells {
            rows.push(Row::of(py.detach(|| self.run_cell(cell))));
            py.check_signals()?;
        }
        Ok(rows)
    }

    /// The key that a cell must have, wherever it is run.
    fn key(&self, py: Python<'_>, cell: usize) -> Option<String> {
        let (number, seed) = self.sweep.cell(cell);
        let point = py.detach(|| lock(&self.points).get(&self.sweep, number));
        let point = (*point).as_ref().ok()?;
        Some(point.key(seed, &program()))
    }
}

/// The runs of a sweep, in its store.
#[pyclass(frozen, module = "wakeplace._wakeplace")]
pub(crate) struct Runs {
    sweep: Py<Sweep>,
    store: Mutex<Store>,
    summary: Mutex<Summary>,
}

impl Runs {
    /// A store with what is known of its cells.
    fn new(sweep: Py<Sweep>, store: Store, summary: Summary) -> Self {
        Self {
            sweep,
            store: Mutex::new(store),
            summary: Mutex::new(summary),
        }
    }

    /// Something of the store, without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        what: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        py.detach(|| what(&mut lock(&self.store))).map_err(input)
    }
}

#[pymethods]
impl Runs {
    /// The next chunk of cells that nobody works on, and its cells that are to be run.
    fn claim(&self, py: Python<'_>) -> PyResult<Option<(usize, Vec<usize>)>> {
        self.with(py, Store::claim)
    }

    /// Writes rows and ends chunks, in one commit; renews the leases of the others.
    fn commit(&self, py: Python<'_>, rows: Vec<Row>, chunks: Vec<usize>) -> PyResult<()> {
        let done: Vec<Done> = rows.into_iter().map(Row::done).collect();
        self.with(py, |store| store.commit(&done, &chunks))?;
        let mut summary = lock(&self.summary);
        summary.made += done.len();
        let failed = done.iter().filter(|done| !done.record.error.is_empty());
        summary.failed += failed.count();
        Ok(())
    }

    /// Gives back the chunks that are not done.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Store::release)
    }

    /// Whether nothing is left to do.
    fn is_complete(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |store| store.is_complete())
    }

    /// Cells in all, found in the store, made, and of those the ones with an error.
    #[getter]
    fn counts(&self) -> (usize, usize, usize, usize) {
        let s = *lock(&self.summary);
        (s.cells, s.found, s.made, s.failed)
    }

    /// The table of points as `wakeplace sweep` writes it with `--format`.
    fn text(&self, py: Python<'_>, form: &str, metrics: Vec<String>) -> PyResult<String> {
        let form = format(form)?;
        for metric in &metrics {
            let known = wakeplace_metrics::find_metric(metric);
            known.map_err(|error| input(format!("metric: {error}")))?;
        }
        let sweep = &self.sweep.get().sweep;
        let base = sweep.base_point().map_err(input)?;
        let in_json = matches!(form, Format::Json);
        self.with(py, |store| {
            let known = store.shown_metrics()?;
            let measured_by = sweep.measured_by(&known);
            let metrics = match metrics.is_empty() {
                true => metric_order(&known, &measured_by),
                false => metrics,
            };
            // A base may be the last of the points.
            let mut bases = base.map(|base| Bases::new(base, &metrics));
            let mut warnings = Warnings::new(sweep, bases.is_some());
            store.by_point(|number, runs| -> Result<(), StoreError> {
                if let Some(bases) = &mut bases {
                    bases.add(number, runs);
                }
                if in_json {
                    warnings.add(sweep, number, runs);
                }
                Ok(())
            })?;
            let points = Points::new(&sweep.labels(), metrics);
            let mut points = points.compared(bases, sweep.base.margin_pct);
            if in_json {
                points = points.with_runs();
            }
            store.by_point(|number, runs| -> Result<(), StoreError> {
                points.add(number, runs);
                Ok(())
            })?;
            let found = points.finish();
            if !in_json {
                let table = found.table(form, sweep.modelled());
                return Ok(table.render(form, Style::default()));
            }
            Ok(found.json(&SweepFacts {
                commit: env!("WAKEPLACE_COMMIT").to_owned(),
                measured_by,
                notes: sweep.cautions(),
                warnings: warnings.finish(),
                ..SweepFacts::default()
            }))
        })
    }

    /// All runs, a row each.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer leave a wish for other types alone.
        drop(requested_schema);
        let labels = self.sweep.get().sweep.labels();
        let parts = self.with(py, |store| {
            let metrics = store.metrics()?;
            let mut parts = vec![RunTable::with_columns(&[], &labels, &metrics)];
            store.parts(|part: &[RunRecord]| -> Result<(), StoreError> {
                parts.push(RunTable::with_columns(part, &labels, &metrics));
                Ok(())
            })?;
            Ok(parts)
        })?;
        frame::stream(py, &parts)
    }
}

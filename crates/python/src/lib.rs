//! `wakeplace._wakeplace`: what the Python package (`python/wakeplace`) is made on. It turns
//! Python's arguments into a request of the study crate, and results into text and Arrow
//! (docs/guide/python.md).
//!
//! Free: how work is split between the two halves.
//!
//! What must stay: names of the module's functions, which `python/wakeplace` and its
//! `_wakeplace.pyi` have: they change together. `program` is the command line's, so that both go on
//! with one store. Tests by part: `test_compare_gives_the_bytes_of_its_command` (`COMMIT`, the
//! module), test_executors.py::`test_a_store_goes_on_and_is_that_of_the_command_line` (`program`: a
//! store that is made goes on), test_executors.py::`test_any_executor_gives_the_same` (`jobs`).
//!
//! Tests: crates/python/tests/test_results.py, crates/python/tests/test_executors.py

mod ask;
mod error;
mod evaluate;
mod explain;
mod frame;
mod names;
mod result;
mod rows;
mod study;
mod sweep;
mod trees;
mod work;

use pyo3::prelude::*;

/// The program, in the keys of cells and in results: the same as the command line's.
const COMMIT: &str = env!("WAKEPLACE_COMMIT");

/// The program in the keys of cells, as the command line has it.
fn program() -> String {
    format!("{} {COMMIT}", env!("CARGO_PKG_VERSION"))
}

/// Threads to use: all CPUs, unless somebody says.
fn jobs(asked: Option<usize>) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.unwrap_or_else(all)
}

/// The module: what Python's half imports.
#[pymodule]
fn _wakeplace(module: &Bound<'_, PyModule>) -> PyResult<()> {
    trees::provide();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("__commit__", COMMIT)?;
    let error = module.py().get_type::<error::WakeplaceError>();
    module.add("WakeplaceError", error)?;
    module.add_class::<result::Result>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<sweep::Runs>()?;
    module.add_function(wrap_pyfunction!(result::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(explain::explain, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(study::study, module)?)?;
    module.add_function(wrap_pyfunction!(study::is_sweep, module)?)?;
    module.add_function(wrap_pyfunction!(ask::arguments, module)?)?;
    module.add_function(wrap_pyfunction!(names::platforms, module)?)?;
    module.add_function(wrap_pyfunction!(names::studies, module)?)?;
    module.add_function(wrap_pyfunction!(names::policies, module)?)?;
    module.add_function(wrap_pyfunction!(names::check_platform, module)?)?;
    module.add_function(wrap_pyfunction!(names::check_workload, module)?)?;
    module.add_function(wrap_pyfunction!(names::unknown, module)?)?;
    module.add_function(wrap_pyfunction!(names::toml_of_json, module)?)?;
    Ok(())
}

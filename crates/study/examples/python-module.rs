//! Writes `wakeplace._ask`, the functions of the Python package.
//!
//! What must stay: the place of the file, which the Python package imports; what stands in it is
//! `wakeplace_study::python_module`'s. A test compares the file with it.
//!
//! Tests: crates/study/src/ask/tests.rs::the_python_module_is_made_from_the_list

use std::path::Path;

fn main() -> std::io::Result<()> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/python/wakeplace");
    std::fs::write(python.join("_ask.py"), wakeplace_study::python_module())
}

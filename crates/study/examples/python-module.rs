//! Writes `wakeplace._ask`, the functions of the Python package.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python/python/wakeplace");
    std::fs::write(python.join("_ask.py"), wakeplace_study::python_module())
}

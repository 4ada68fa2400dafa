//! The reference tables in tests/data are those of the scripts that made them, unchanged.

use crate::common;

/// Goal: nobody edits an expected value to make a test pass. Source: tests/data/README.md.
#[test]
fn copies_equal_the_specification() {
    let origin = common::shared_dir().join("spec/data");
    if !origin.is_dir() {
        common::skip_loudly("copies_equal_the_specification", "no ../shared/spec/data");
        return;
    }
    let mut compared = 0;
    for entry in std::fs::read_dir(common::data_dir()).expect("tests/data") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|e| e != "csv") {
            continue;
        }
        let name = path.file_name().expect("a file");
        let copy = std::fs::read(&path).expect("copy");
        let original = std::fs::read(origin.join(name));
        let original = original.unwrap_or_else(|e| panic!("{}: {e}", name.display()));
        assert!(copy == original, "{} differs", name.display());
        compared += 1;
    }
    assert_eq!(compared, 13);
}

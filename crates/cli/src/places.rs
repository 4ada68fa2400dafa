//! The files of one command: what it reads is not written over, and no two results are one file
//! (docs/guide/traces.md, "What is promised of files").
//!
//! Called by each command that writes a file.
//!
//! What must stay: the check comes before anything is opened, so that an input is never cut to
//! nothing. Devices, pipes and standard output may be named twice. The first clash is the one that
//! is named. Tests by part: `what_is_read_is_not_written_over` (`apart`), `results_are_apart`
//! (`identity`), crates/cli/tests/all/output.rs::`what_is_read_is_not_written_over` (commands that
//! read a file), crates/cli/tests/all/bad_platforms.rs::`an_import_spares_what_it_reads`
//! (`platform import`).
//!
//! Tests: below, crates/cli/tests/all/output.rs::what_is_read_is_not_written_over,
//! crates/cli/tests/all/bad_platforms.rs

use crate::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};

/// `read`: options and what they were given, files or not; `written`: options that name a place.
pub(crate) fn apart<'a>(
    read: impl IntoIterator<Item = (&'a str, &'a str)>,
    written: &[(&str, Option<&Path>)],
) -> Result<(), Failure> {
    let read = read.into_iter().filter_map(|(option, given)| {
        let path = Path::new(given.strip_prefix("trace:").unwrap_or(given));
        Some((option, identity(path).filter(|_| path.is_file())?))
    });
    let mut seen: Vec<(&str, PathBuf)> = read.collect();
    let inputs = seen.len();
    for (option, path) in written {
        let Some((path, real)) = path.and_then(|path| Some((path, identity(path)?))) else {
            continue;
        };
        if let Some(at) = seen.iter().position(|(_, other)| *other == real) {
            let (other, path) = (seen[at].0, path.display());
            let expected = match at < inputs {
                true => "another place for what is written",
                false => "two",
            };
            return Err(Failure::Input(format!(
                "`{other}` and `{option}` name the same file, {path}; expected {expected}"
            )));
        }
        seen.push((option, real));
    }
    Ok(())
}

/// By what names of one file are equal, there already or not; None: standard output, a device, a
/// pipe, which may be named twice, or a place that cannot be.
fn identity(path: &Path) -> Option<PathBuf> {
    if path == "-" {
        return None;
    }
    match fs::canonicalize(path) {
        Ok(real) => (real.is_file() || real.is_dir()).then_some(real),
        Err(_) => {
            let folder = path.parent().filter(|folder| *folder != "");
            let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
            Some(folder.join(path.file_name()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::apart;
    use std::fs;
    use std::path::Path;

    #[test]
    fn what_is_read_is_not_written_over() {
        let folder = tempfile::tempdir().expect("folder");
        let file = folder.path().join("load.json");
        fs::write(&file, "{}").expect("file");
        let given = file.to_str().expect("text");
        let trace = format!("trace:{given}");
        let around = folder.path().join("./load.json");
        for read in [given, &trace] {
            let error = apart([("--workload", read)], &[("--output", Some(&around))]);
            let text = error.expect_err("the same").to_string();
            assert!(text.starts_with("`--workload` and `--output` name the same file"));
        }
        let model = [("--workload", "periodic:n=1")];
        assert!(apart(model, &[("--output", Some(&file))]).is_ok());
    }

    #[test]
    fn results_are_apart() {
        let folder = tempfile::tempdir().expect("folder");
        let [one, same, other] = ["a", "./a", "b"].map(|name| folder.path().join(name));
        let results = |b| [("--output", Some(one.as_path())), ("--export-html", b)];
        assert!(apart([], &results(Some(&other))).is_ok());
        assert!(apart([], &results(None)).is_ok());
        let text = apart([], &results(Some(&same))).expect_err("one place");
        assert!(text.to_string().contains("expected two"), "{text}");
        let null = Some(Path::new("/dev/null"));
        assert!(apart([], &[("--output", null), ("--export-html", null)]).is_ok());
    }
}

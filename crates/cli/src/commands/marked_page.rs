//! Pages of which a command makes a part: what stands between two marks.

use crate::failure::Failure;
use std::path::Path;

/// Largest page that is read, bytes.
const PAGE_BYTES_MAX: u64 = 4 << 20;

/// What stands before and behind a part of a page that is made by a command.
pub(super) struct Marks {
    /// Before.
    pub(super) begin: &'static str,
    /// Behind.
    pub(super) end: &'static str,
}

/// A page with another text between the marks.
pub(super) fn replace(page: &str, marks: &Marks, text: &str) -> Result<String, Failure> {
    let Marks { begin, end } = marks;
    let parts = page.split_once(*begin).and_then(|(head, rest)| {
        let (_, tail) = rest.split_once(*end)?;
        Some((head, tail))
    });
    let Some((head, tail)) = parts else {
        return Err(Failure::Input(format!(
            "no place for the new part; expected the lines `{begin}` and `{end}`"
        )));
    };
    Ok(format!("{head}{begin}\n\n{}\n\n{end}{tail}", text.trim()))
}

/// The page of which a part is to be replaced; found to have it before anything is run.
pub(super) fn old_page(path: &Path, marks: &Marks) -> Result<String, Failure> {
    let wrong = |why: &str| Failure::Input(format!("--page {}: {why}", path.display()));
    let length = std::fs::metadata(path)
        .map_err(|error| wrong(&error.to_string()))?
        .len();
    if length > PAGE_BYTES_MAX {
        return Err(wrong(&format!(
            "{length} bytes, expected at most {PAGE_BYTES_MAX}"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
    replace(&text, marks, "").map_err(|failure| wrong(&failure.to_string()))?;
    Ok(text)
}

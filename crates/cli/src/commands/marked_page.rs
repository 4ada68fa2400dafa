//! Where a result goes that may be a part of a page: what stands there between two marks.

use crate::failure::Failure;
use crate::output::Output;
use crate::terminal::Terminal;
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

/// A page, a file or standard output that can be written.
pub(super) struct Destination {
    /// The page as it is, and its marks.
    page: Option<(String, &'static Marks)>,
    output: Output,
}

impl Destination {
    /// Finds out, before anything is run, whether the page has the marks and can be written; with
    /// no page, the same of the file, else it is standard output.
    pub(super) fn prepare(
        page: Option<&Path>,
        file: Option<&Path>,
        marks: &'static Marks,
    ) -> Result<Self, Failure> {
        let old = page.map(|path| old_page(path, marks)).transpose()?;
        Ok(Self {
            page: old.map(|old| (old, marks)),
            output: Output::prepare(page.or(file))?,
        })
    }

    /// Writes a result.
    pub(super) fn write(&self, text: &str, terminal: Terminal) -> Result<(), Failure> {
        match &self.page {
            Some((old, marks)) => self.output.write(&replace(old, marks, text)?, terminal),
            None => self.output.write(text, terminal),
        }
    }
}

/// A page with another text between the marks.
fn replace(page: &str, marks: &Marks, text: &str) -> Result<String, Failure> {
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
fn old_page(path: &Path, marks: &Marks) -> Result<String, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: Marks = Marks {
        begin: "<!-- measured: begin -->",
        end: "<!-- measured: end -->",
    };
    const RECORDED: Marks = Marks {
        begin: "<!-- recorded: begin -->",
        end: "<!-- recorded: end -->",
    };

    #[test]
    fn only_the_part_between_the_marks_is_replaced() {
        let recorded = "<!-- recorded: begin -->\nkept\n<!-- recorded: end -->\n";
        let page = |middle| {
            format!(
                "# T\n{recorded}<!-- measured: begin -->\n{middle}<!-- measured: end -->\nrest\n"
            )
        };
        let new = replace(&page("old\n"), &MEASURED, "new\n").expect("replaced");
        assert_eq!(new, page("\nnew\n\n"));
        assert_eq!(replace(&new, &MEASURED, "new").expect("replaced"), new);
        // And the other way round.
        let other = replace(&new, &RECORDED, "kept").expect("replaced");
        assert_eq!(other, new.replace("\nkept\n", "\n\nkept\n\n"));
        assert!(replace("# T\n", &MEASURED, "new").is_err());
        assert!(replace(&page("").replace(recorded, ""), &RECORDED, "new").is_err());
    }
}

//! The measured part of a page: what stands between `<!-- measured: COMMAND -->`, which names the
//! command that makes it, and the next `<!-- end -->` (ARCHITECTURE.md, "The workshop").
//!
//! What must stay: the marks, which pages have; nothing outside of them is written. Free: how it is
//! done, and words that no test or script reads. Tests by part:
//! `only_the_part_of_a_command_is_replaced` (`replace`). `part`, `renew` have no test of their own:
//! the pages that they renew are looked at.
//!
//! Callers: many files (`renew`).
//!
//! Tests: below

use std::path::Path;

use anyhow::{Result, bail};

use super::{read, write};

const END: &str = "\n<!-- end -->";

/// Puts a text between the marks of a command. None: the page has no such marks.
fn replace(page: &str, command: &str, part: &str) -> Option<String> {
    let begin = format!("<!-- measured: {command} -->\n");
    let (head, rest) = page.split_once(&begin)?;
    let at = rest.find(END)?;
    let tail = &rest[at..];
    Some(format!("{head}{begin}\n{}\n{tail}", part.trim()))
}

/// What stands between the marks of a command.
///
/// # Errors
/// The page cannot be read, or has no such marks.
pub fn part(root: &Path, page: &str, command: &str) -> Result<String> {
    let text = read(&root.join(page))?;
    let begin = format!("<!-- measured: {command} -->\n");
    let rest = text.split_once(&begin).map(|(_, rest)| rest);
    let Some((part, _)) = rest.and_then(|rest| rest.split_once(END)) else {
        bail!("{page}: expected the lines `<!-- measured: {command} -->` and `<!-- end -->`");
    };
    Ok(part.trim().to_owned())
}

/// Replaces what a page has of a command.
///
/// # Errors
/// The page cannot be read or written, or has no such marks.
pub fn renew(root: &Path, page: &str, command: &str, part: &str) -> Result<()> {
    self::part(root, page, command)?;
    let path = root.join(page);
    let text = replace(&read(&path)?, command, part).unwrap_or_default();
    write(&path, text)?;
    eprintln!("{page}: `{command}` renewed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_the_part_of_a_command_is_replaced() {
        let other = "<!-- measured: b -->\n\nkept\n\n<!-- end -->\n";
        let page = |part| format!("# T\n<!-- measured: a -->\n{part}\n<!-- end -->\n{other}rest\n");
        let new = replace(&page("old"), "a", "new\n").expect("replaced");
        assert_eq!(new, page("\nnew\n"));
        assert_eq!(replace(&new, "a", "new").expect("replaced"), new);
        let both = replace(&new, "b", "more").expect("replaced");
        assert_eq!(both, new.replace("\nkept\n", "\nmore\n"));
        assert_eq!(replace(&page("old"), "c", "new"), None);
        assert_eq!(replace("<!-- measured: a -->\nno end\n", "a", "new"), None);
    }
}

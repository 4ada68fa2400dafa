//! A command as one text: words, with quotes as a shell has them (docs/guide/schedulers.md).
//!
//! What must stay: quoting is a shell's, without expansion; results repeat a command by it. Free:
//! how text is split, if quoting and splitting stay each other's reverse.
//!
//! Tests by part: `words_are_those_of_a_shell` (`split`),
//! crates/cli/tests/all/schedulers.rs::`what_is_no_scheduler_is_refused` (a quote without its end).
//!
//! Callers: crates/foreign/src/scheduler.rs (`Command::parse`).
//!
//! Tests: below

/// Splits it. Err: what is wrong.
pub(crate) fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(rest.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("`{text}`: a quote {open} without its end"));
    }
    words.extend(word);
    match words.is_empty() {
        true => Err("an empty command: expected a scheduler's program or .bpf.o file".to_owned()),
        false => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_those_of_a_shell() {
        let words = split(r#"scx_lavd  --a 'b c' d\ e "f""#).expect("words");
        assert_eq!(words, ["scx_lavd", "--a", "b c", "d e", "f"]);
        assert!(split("  ").is_err());
        assert!(split("a 'b").is_err());
    }
}

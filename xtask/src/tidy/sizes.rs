//! How long files and functions may be.
//!
//! What must stay: limits of CONTRIBUTING.md; tests at a file's end do not count. Free: how it is
//! done, and words that no test or script reads. Tests by part:
//! `a_file_of_601_lines_is_found_but_not_a_test_or_its_tests` (`long_file`),
//! `a_rust_function_of_71_lines_is_found` (`long_functions`, `rust_functions`, `body_end`,
//! `line_of`), `a_c_function_is_measured_and_a_table_is_not` (`c_functions`),
//! `braces_of_both_arms_of_a_condition_do_not_join_functions` (`without_directives`); `functions`
//! is the tests' own.
//!
//! Callers: mod.rs (`long_file`, `long_functions`).
//!
//! Tests: below

use crate::Finding;
use crate::lexer::Language;
use crate::repo::SourceFile;

/// Lines of a file, tests and generated files aside.
const FILE_LINES: usize = 600;
/// Lines of a function, from its name to its closing brace.
const FUNCTION_LINES: usize = 70;

/// A source file longer than a reader holds in mind; a test module at its end does not count.
pub(super) fn long_file(file: &SourceFile, findings: &mut Vec<Finding>) {
    let is_source = matches!(file.extension(), "rs" | "c" | "h" | "sh" | "py");
    if !is_source || file.is_test() || file.is_generated() {
        return;
    }
    let lines = file.product_lines();
    if lines > FILE_LINES {
        let what = format!("{lines} lines, {FILE_LINES} at most: divide it by what it knows");
        findings.push(Finding::on(&file.path, what));
    }
}

/// Functions longer than the limit, as far as counting braces can tell.
pub(super) fn long_functions(file: &SourceFile, findings: &mut Vec<Finding>) {
    if file.is_generated() {
        return;
    }
    let spans = match file.language() {
        Some(Language::Rust) => rust_functions(&file.code()),
        Some(Language::C) => c_functions(&file.code()),
        None => return,
    };
    for (first, last) in spans {
        let lines = last - first + 1;
        if lines > FUNCTION_LINES {
            let what = format!("a function of {lines} lines, {FUNCTION_LINES} at most");
            findings.push(Finding::at(&file.path, first, what));
        }
    }
}

/// First and last lines of the functions in Rust code without comments and strings.
fn rust_functions(code: &str) -> Vec<(usize, usize)> {
    let bytes = code.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    let mut spans = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        // `fn name`, not the end of another word; `fn(…)` is a type.
        let named = is_word(at + 3) && !(at > 0 && is_word(at - 1));
        if let (true, Some(end)) = (named, body_end(bytes, at)) {
            spans.push((line_of(bytes, at), line_of(bytes, end)));
        }
    }
    spans
}

/// Where the body that begins after `from` ends; `None` for a declaration without one.
fn body_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut groups = 0i32;
    let mut braces = 0i32;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => groups += 1,
            b')' | b']' => groups -= 1,
            b';' if groups == 0 && braces == 0 => return None,
            b'{' => braces += 1,
            b'}' => {
                braces -= 1;
                if braces == 0 && groups == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

/// From 1.
fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
}

/// First and last lines of the functions in C code without comments and strings.
fn c_functions(code: &str) -> Vec<(usize, usize)> {
    let code = without_directives(code);
    let mut spans = Vec::new();
    let mut depth = 0usize;
    let mut header = String::new();
    let mut first = 1;
    for (index, line) in code.lines().enumerate() {
        if line.starts_with('}') {
            // The two arms of an #ifdef may open a brace each: a function ends at the margin.
            depth = 1;
        }
        for c in line.chars() {
            match c {
                '{' => depth += 1,
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        if header.contains('(') && !header.contains('=') {
                            spans.push((first, index + 1));
                        }
                        header.clear();
                    }
                }
                ';' if depth == 0 => header.clear(),
                _ if depth == 0 => {
                    if header.is_empty() && !c.is_whitespace() {
                        first = index + 1;
                    }
                    if !header.is_empty() || !c.is_whitespace() {
                        header.push(c);
                    }
                }
                _ => {}
            }
        }
    }
    spans
}

/// Preprocessor lines blanked out, with the lines that continue them.
fn without_directives(code: &str) -> String {
    let mut continues = false;
    let mut out = String::new();
    for line in code.lines() {
        let directive = continues || line.trim_start().starts_with('#');
        continues = directive && line.trim_end().ends_with('\\');
        out.push_str(if directive { "" } else { line });
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(path: &str, text: &str) -> Vec<(usize, String)> {
        let mut findings = Vec::new();
        long_functions(&SourceFile::new(path, text), &mut findings);
        findings
            .into_iter()
            .map(|finding| (finding.line, finding.what))
            .collect()
    }

    #[test]
    fn a_file_of_601_lines_is_found_but_not_a_test_or_its_tests() {
        let found = |path: &str, text: &str| {
            let mut findings = Vec::new();
            long_file(&SourceFile::new(path, text), &mut findings);
            findings.len()
        };
        let text = "x\n".repeat(601);
        assert_eq!(found("crates/a/src/a.rs", &text), 1);
        assert_eq!(found("crates/a/tests/a.rs", &text), 0);
        assert_eq!(found("docs/a.md", &text), 0);
        let mark = ["/* automatically ", "generated by bindgen */\n"].concat();
        assert_eq!(found("crates/a/src/bindings.rs", &(mark + &text)), 0);
        let tested = format!(
            "{}#[cfg(test)]\nmod tests {{\n{text}}}\n",
            "x\n".repeat(600)
        );
        assert_eq!(found("crates/a/src/a.rs", &tested), 0);
    }

    #[test]
    fn a_rust_function_of_71_lines_is_found() {
        let body = |lines: usize| {
            format!(
                "\nfn f(a: [u8; 2]) {{\n{}}}\n",
                "    g('{');\n".repeat(lines)
            )
        };
        assert_eq!(
            functions("a.rs", &body(69)),
            [(2, "a function of 71 lines, 70 at most".to_owned())]
        );
        assert_eq!(functions("a.rs", &body(68)), []);
        let declared = format!(
            "trait T {{\n    fn f(&self);\n{}}}",
            "    // x\n".repeat(80)
        );
        assert_eq!(functions("a.rs", &declared), []);
    }

    #[test]
    fn a_c_function_is_measured_and_a_table_is_not() {
        let body = "\tx();\n".repeat(70);
        let text =
            format!("#define M(a) do {{ \\\n\t}} while (0)\nstatic int\nf(int a)\n{{\n{body}}}\n");
        assert_eq!(
            functions("a.c", &text),
            [(3, "a function of 74 lines, 70 at most".to_owned())]
        );
        let table = format!(
            "static const int t[N(4)] = {{\n{}}};\n",
            "\t1,\n".repeat(80)
        );
        assert_eq!(functions("a.c", &table), []);
    }

    #[test]
    fn braces_of_both_arms_of_a_condition_do_not_join_functions() {
        let small = "int f(void)\n{\n#ifdef A\n\tif (a) {\n#else\n\tif (b) {\n#endif\n\t}\n}\n";
        assert_eq!(functions("a.c", &small.repeat(20)), []);
    }
}

//! What a build that failed said, for the user: files are named from the tree's root, and make's
//! own words go (docs/guide/kernel.md, "What it needs").
//!
//! What must stay: file, line and the compiler's words of the first mistakes; lengths are bounded.
//! Free: which further words of make are dropped.
//!
//! Tests by part: `the_users_mistake_comes_through_with_file_and_line` (`of_compiler`,
//! `last_sentence`, `shortened`, `is_of_make`), `a_flood_ends` (`of_compiler`: bounds). `sentences`
//! is tried by compile.rs::`each_end_of_the_script_is_an_error_of_its_own`.
//!
//! Callers: compile.rs.
//!
//! Tests: below

use std::path::Path;

/// Most lines that are shown.
const LINES: usize = 60;

/// The messages of a compiler.
pub(crate) fn of_compiler(said: &str, roots: &[&Path]) -> String {
    let said = shortened(said, roots);
    let lines: Vec<&str> = said.lines().filter(|line| !is_of_make(line)).collect();
    let error = |line: &&str| line.contains("error:") || line.contains("rror: ");
    // Warnings that stand before the first error are of no use then, but for where it was included.
    let first = lines.iter().position(error).unwrap_or(0);
    let about = |line: &&str| {
        line.starts_with("In file included from")
            || line.starts_with("                 from")
            || line.contains(": In function")
            || line.contains(": At top level")
    };
    let before = lines[..first]
        .iter()
        .rev()
        .take_while(|line| about(line))
        .count();
    let lines = &lines[first - before..];
    let mut text = lines[..lines.len().min(LINES)].join("\n");
    if lines.len() > LINES {
        text.push_str(&format!("\n({} lines more)", lines.len() - LINES));
    }
    text
}

/// The sentence with which the build script ended.
pub(crate) fn last_sentence(said: &str, roots: &[&Path]) -> String {
    let said = shortened(said, roots);
    let last = sentences(&said).pop().map(str::to_owned);
    last.unwrap_or_else(|| said.trim().lines().last().unwrap_or_default().to_owned())
}

/// All that the build script said with its own voice, one a line.
pub(crate) fn sentences(said: &str) -> Vec<&str> {
    let own = said
        .lines()
        .filter_map(|line| line.strip_prefix("kernel-shim: "));
    own.collect()
}

/// Paths from the tree's root.
fn shortened(said: &str, roots: &[&Path]) -> String {
    let mut text = said.to_owned();
    for root in roots {
        text = text.replace(&format!("{}/", root.display()), "");
    }
    text
}

/// Words of make and of the script that say nothing of the mistake.
fn is_of_make(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("make[")
        || line.starts_with("make: ")
        || line.starts_with("kernel-shim: ")
        || line.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_mistake_comes_through_with_file_and_line() {
        let said = "/home/u/linux/mm/x.h:1:1: warning: old\n\
                    /home/u/linux/kernel/sched/fair.c: In function 'f':\n\
                    /home/u/linux/kernel/sched/fair.c:7:2: error: expected ';'\n    \
                    7 | x\n      | ^\n\
                    make[4]: *** [../scripts/Makefile.build:287: kernel/sched/fair.o] Error 1\n\
                    kernel-shim: the tree does not compile\n";
        let shown = of_compiler(said, &[Path::new("/home/u/linux")]);
        assert_eq!(
            shown,
            "kernel/sched/fair.c: In function 'f':\n\
             kernel/sched/fair.c:7:2: error: expected ';'\n    7 | x\n      | ^"
        );
        assert_eq!(last_sentence(said, &[]), "the tree does not compile");
    }

    #[test]
    fn a_flood_ends() {
        let said = "a.c:1: error: x\n".repeat(100);
        let shown = of_compiler(&said, &[]);
        assert_eq!(shown.lines().count(), LINES + 1);
        assert!(shown.ends_with("(40 lines more)"));
    }
}

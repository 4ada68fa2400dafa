//! The worked example of CONTRIBUTING.md: its C compiles and is what the core has, its fixture
//! holds and is the file that it names.
//!
//! What must stay: the C of CONTRIBUTING.md must compile as it stands there, and its fixture must
//! be the file that it names. Mend the text, or the core with it, never one alone. Free: how the
//! text is cut out of the page.
//! Tests by part: `the_example_of_contributing_holds` (the example as a whole).
//! Helpers, and who fails with them: `repository`, `read`, `blocks`, `compiles`
//! (`the_example_of_contributing_holds`).

use crate::fixture;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository(path)).expect("a text file")
}

/// The fenced blocks of a language that name a file, as (file, text).
fn blocks(page: &str, language: &str) -> Vec<(String, String)> {
    let start = format!("```{language} ");
    let mut lines = page.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(file) = line.strip_prefix(&start) {
            let text: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
            found.push((file.to_owned(), text.join("\n")));
        }
    }
    found
}

/// Says whether a compiler takes the text as a file of its own that includes the core's headers.
fn compiles(text: &str) -> bool {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(compiler);
    command
        .args([
            "-std=gnu11",
            "-ffreestanding",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .args(["-fsyntax-only", "-x", "c", "-"])
        .arg("-I")
        .arg(repository("policy/include"))
        .stdin(Stdio::piped());
    let mut child = command.spawn().expect("a C compiler");
    let mut input = child.stdin.take().expect("its input");
    write!(input, "#include \"wakeplace/policy.h\"\n{text}\n").expect("a compiler that reads");
    drop(input);
    child.wait().expect("its end").success()
}

/// Goal: what the page says can be done as it says. Method: its blocks against the files that they
/// name, the compiler and the core.
#[test]
fn the_example_of_contributing_holds() {
    let page = read("CONTRIBUTING.md");
    let code = blocks(&page, "c");
    let fixtures = blocks(&page, "toml");
    assert!(!code.is_empty() && !fixtures.is_empty(), "no example");
    for (file, text) in code {
        assert!(
            read(&file).contains(text.trim()),
            "CONTRIBUTING.md: its block is not what {file} has: copy it from there"
        );
        assert!(compiles(&text), "CONTRIBUTING.md: does not compile: {text}");
    }
    for (file, text) in fixtures {
        assert_eq!(read(&file).trim(), text.trim(), "CONTRIBUTING.md: {file}");
        fixture::run(&text).expect("the core answers as the example derives");
    }
}

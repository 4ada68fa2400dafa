//! Help, version, colour and progress.
//! Page: docs/guide/tour.md.
//!
//! What must stay: every example of every help text is run; a new option is told there and its
//! example works.
//! Tests by part (in crates/cli/src): commands/mod.rs: `every_example_works` (`run`);
//! commands/platform_import.rs: `every_example_works` (`run`, `capture`); args/asked.rs:
//! `help_is_complete_and_fits` (`augment_args`, `option`); args/help.rs:
//! `help_is_complete_and_fits` (`TEMPLATE`), `without_arguments_comes_short_help` (`MAIN`);
//! args/mod.rs: `the_version_names_commit_and_policy` (`version`), `help_is_a_word_too` (`words`),
//! `colour_only_where_it_is_wanted`
//! (`ColorWhen`), `nothing_but_the_result_is_on_standard_output` (`verbosity`);
//! crates/cli/build.rs: `the_version_names_commit_and_policy` (that both words are there);
//! commands/doctor.rs: `colour_only_where_it_is_wanted` (`mark`); progress.rs:
//! `nothing_but_the_result_is_on_standard_output` (`finish`).
//! Helpers, and who fails with them: `is_understood`, `quick`, `run_example`
//! (`every_example_works`); `words`, `examples` (`every_example_works`,
//! `without_arguments_comes_short_help`).

use crate::common;

use common::{assert_code, file, folder, repository, run, run_in, sim, stderr, stdout};
use std::path::Path;

/// Every command with help of its own.
const COMMANDS: [&[&str]; 39] = [
    &[],
    &["compare"],
    &["sim"],
    &["sweep"],
    &["diff"],
    &["evaluate"],
    &["explain"],
    &["report"],
    &["review"],
    &["study"],
    &["study", "list"],
    &["study", "show"],
    &["study", "run"],
    &["platform"],
    &["platform", "list"],
    &["platform", "show"],
    &["platform", "import"],
    &["platform", "new"],
    &["platform", "capture"],
    &["workload"],
    &["workload", "list"],
    &["workload", "check"],
    &["workload", "record"],
    &["policy"],
    &["policy", "list"],
    &["policy", "show"],
    &["metric"],
    &["metric", "list"],
    &["doctor"],
    &["mcp"],
    &["completions"],
    &["kernel"],
    &["kernel", "list"],
    &["kernel", "build"],
    &["kernel", "diff"],
    &["lab"],
    &["lab", "run"],
    &["lab", "kernels"],
    &["lab", "fetch"],
];

/// A task that runs for a millisecond.
const RECORDING: &str = concat!(
    "  a-11 [000] 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 ",
    "prev_state=R ==> next_comm=a next_pid=11 next_prio=120\n",
    "  a-11 [000] 1.001000: sched_switch: prev_comm=a prev_pid=11 prev_prio=120 ",
    "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n",
);

/// A flattened tree of `/cpus/cpu@0`: header, no reserved memory, three nodes, no properties.
const DEVICE_TREE: &[u8] =
    b"\xd0\x0d\xfe\xed\0\0\0\x6c\0\0\0\x38\0\0\0\x6c\0\0\0\x28\0\0\0\x11\0\0\0\x10\
    \0\0\0\0\0\0\0\0\0\0\0\x34\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\
    \0\0\0\x01\0\0\0\0\0\0\0\x01cpus\0\0\0\0\0\0\0\x01cpu@0\0\0\0\
    \0\0\0\x02\0\0\0\x02\0\0\0\x02\0\0\0\x09";

/// Words of a command line with single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The examples in a help text: lines that begin with the program's name, joined at `\`.
fn examples(help: &str) -> Vec<Vec<String>> {
    let joined = help.replace("\\\n", " ");
    let lines = joined
        .lines()
        .filter_map(|line| line.strip_prefix("  wakeplace "));
    lines.map(words).collect()
}

/// The lab's examples boot machines, those of `kernel` fetch and build, and reviews are of trees
/// and schedulers that are not here: they are understood, and then end for lack of a cache, of a
/// tree or of a program. A place that cannot be one is a mistake of who named it.
fn is_understood(folder: &Path, words: &[String]) {
    let code = if words[0] == "lab" { 3 } else { 2 };
    let cache = folder.join("app.json").join("no-folder");
    let output = common::program(folder)
        .env("WAKEPLACE_LAB_CACHE", &cache)
        .env("WAKEPLACE_KERNEL_CACHE", &cache)
        .args(words)
        .output();
    let output = output.expect("the program starts");
    assert_eq!(
        output.status.code(),
        Some(code),
        "wakeplace {words:?}: {}",
        stderr(&output)
    );
}

/// The example made quick: the options a user would shorten, shortened.
fn quick(mut words: Vec<String>) -> Vec<String> {
    let simulates = matches!(words[0].as_str(), "sim" | "compare");
    let is_study = words[0] == "study" && words[1] == "run";
    if words[0] == "review" && !words.contains(&"--battery".to_owned()) {
        words.extend(["--battery".to_owned(), "small".to_owned()]);
    }
    if simulates || is_study {
        if let Some(at) = words.iter().position(|word| word == "--duration") {
            words.drain(at..at + 2);
        }
        words.extend(["--duration".to_owned(), "20ms".to_owned()]);
        if let Some(at) = words.iter().position(|word| word == "--timeline") {
            words[at + 1] = "5ms..15ms".to_owned();
        }
    }
    words
}

fn run_example(folder: &Path, words: &[String]) {
    // What is behind `>` is the shell's.
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = words.split(|word| *word == ">").next().unwrap_or_default();
    let output = run_in(folder, words);
    assert_eq!(
        output.status.code(),
        Some(0),
        "wakeplace {words:?}: {}",
        stderr(&output)
    );
}

#[test]
fn every_example_works() {
    let folder = folder();
    let read = |path| std::fs::read_to_string(repository(path)).expect("a file of the repository");
    file(&folder, "my-board.toml", &read("platforms/hikey960.toml"));
    file(&folder, "app.json", &read("workloads/periodic-pair.json"));
    file(&folder, "build.txt", RECORDING);
    let made = run_in(folder.path(), &["platform", "capture", "-o", "phone.tar"]);
    assert_code(&made, 0);
    let built = folder.path().join("linux/arch/arm64/boot");
    std::fs::create_dir_all(&built).expect("a folder");
    // The mark of an arm64 image (Documentation/arch/arm64/booting.rst).
    let image = [&[0; 56][..], b"ARM\x64"].concat();
    std::fs::write(built.join("Image"), image).expect("an image");
    std::fs::create_dir(folder.path().join("energy_model")).expect("a folder");
    std::fs::write(folder.path().join("board.dtb"), DEVICE_TREE).expect("a device tree");
    file(&folder, "volts.csv", "cpu,MHz,mV\n0,500,700\n");
    for result in ["yesterday", "today", "hikey960", "gs101"] {
        let board = if result == "gs101" {
            result
        } else {
            "hikey960"
        };
        let words = format!(
            "sim --platform {board} --workload periodic:n=2 --policy linux-7.3 --duration 100ms \
             --format json --output {result}.json"
        );
        let words: Vec<&str> = words.split(' ').collect();
        assert_code(&run_in(folder.path(), &words), 0);
    }
    let mut all: Vec<Vec<String>> = Vec::new();
    for command in COMMANDS {
        for flag in ["-h", "--help"] {
            all.extend(examples(&stdout(&run(&[command, &[flag]].concat()))));
        }
    }
    all.sort();
    all.dedup();
    assert!(all.len() >= 20, "{} examples found", all.len());
    for example in all {
        let foreign = |word: &String| word.contains("kernel:") || word.starts_with("scx_");
        let others = example[0] == "review" && example.iter().any(foreign);
        if others || ["lab", "kernel"].contains(&example[0].as_str()) {
            is_understood(folder.path(), &example);
            continue;
        }
        run_example(folder.path(), &quick(example));
    }
}

#[test]
fn help_is_complete_and_fits() {
    for command in COMMANDS {
        let short = run(&[command, &["-h"]].concat());
        let long = run(&[command, &["--help"]].concat());
        for output in [&short, &long] {
            assert_code(output, 0);
            assert_eq!(stderr(output), "");
            let text = stdout(output);
            assert!(
                text.lines().all(|line| line.chars().count() <= 100),
                "{command:?}\n{text}"
            );
        }
        assert!(
            stdout(&short).lines().count() <= 40,
            "{command:?}: more than a screen"
        );
    }
    let long = stdout(&run(&["compare", "--help"]));
    for word in [
        "Examples:",
        "Input:",
        "Policy:",
        "Output:",
        "Execution:",
        "Exit codes:",
    ] {
        assert!(long.contains(word), "{word}");
    }
    let position = |word: &str| long.find(word).expect("in the help");
    assert!(
        position("Examples:") < position("Usage:"),
        "examples come first"
    );
}

/// Goal: `help COMMAND` is `COMMAND --help`; of what is no command it is refused.
#[test]
fn help_is_a_word_too() {
    for command in COMMANDS {
        let word = run(&[&["help"], command].concat());
        assert_code(&word, 0);
        assert_eq!(
            stdout(&word),
            stdout(&run(&[command, &["--help"]].concat()))
        );
    }
    let wrong = run(&["help", "comparee"]);
    assert_code(&wrong, 2);
    assert!(stderr(&wrong).contains("'compare'"), "{}", stderr(&wrong));
}

#[test]
fn without_arguments_comes_short_help() {
    for args in [
        [].as_slice(),
        &["study"],
        &["platform"],
        &["workload"],
        &["policy"],
        &["lab"],
        &["lab", "run"],
    ] {
        let output = run(args);
        assert_code(&output, 2);
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains("Example"), "{args:?}");
    }
    assert_eq!(examples(&stderr(&run(&[]))).len(), 3);
}

#[test]
fn the_version_names_commit_and_policy() {
    let short = stdout(&run(&["-V"]));
    assert_eq!(short, format!("wakeplace {}\n", env!("CARGO_PKG_VERSION")));
    let long = stdout(&run(&["--version"]));
    assert!(long.starts_with(&short) && long.contains("commit:") && long.contains("policy ABI:"));
}

#[test]
fn colour_only_where_it_is_wanted() {
    let escape = '\u{1b}';
    assert!(
        !stdout(&run(&["doctor"])).contains(escape),
        "a pipe is no terminal"
    );
    assert!(stdout(&run(&["doctor", "--color", "always"])).contains(escape));
    assert!(stderr(&run(&["platform", "show", "x", "--color", "always"])).contains(escape));
    assert!(!stdout(&run(&["--help", "--color", "never"])).contains(escape));
}

#[test]
fn nothing_but_the_result_is_on_standard_output() {
    let quiet = sim(&["--format", "json", "-q"]);
    let verbose = sim(&["--format", "json", "-v"]);
    assert_eq!(stdout(&quiet), stdout(&verbose));
    assert_eq!(stderr(&quiet), "");
    assert!(stderr(&verbose).contains("took"), "{}", stderr(&verbose));
}

//! Platform files that contradict themselves are refused, with the line.
//! Page: docs/guide/platforms.md, "What the words mean".
//!
//! What must stay: each test breaks HiKey960's own file once (`changed`); the message has the line.
//! Rules of the reader itself are tested in crates/platform/tests/all/bad_files.rs.
//! Tests by part (in crates/cli/src): commands/platform.rs: `operating_points_must_rise` (files
//! that are refused); commands/platform_import.rs: `an_import_spares_what_it_reads` (places),
//! `a_capture_is_no_folder` (`capture`, `CAPTURE`), `a_new_board_is_whole_or_refused` (`new`);
//! places.rs: `an_import_spares_what_it_reads`
//! (`platform import`); args/import.rs: `a_capture_is_no_folder` (`PlatformCaptureArgs`); the
//! reader of crates/platform by the command: all others.
//! Helpers, and who fails with them: `changed`, `refused` (most tests).

use crate::common;

use common::{assert_refused, file, folder, repository, run_in};

/// HiKey960's file with one text replaced by another.
fn changed(from: &str, to: &str) -> String {
    let path = repository("platforms/hikey960.toml");
    let text = std::fs::read_to_string(path).expect("the board's file");
    assert!(text.contains(from), "the board's file has no `{from}`");
    text.replacen(from, to, 1)
}

/// The changed file is refused by `platform show` and `sim` alike, with these words.
#[track_caller]
fn refused(from: &str, to: &str, words: &[&str]) {
    let folder = folder();
    file(&folder, "board.toml", &changed(from, to));
    let place: &[&str] = &["board.toml:"];
    for args in [
        ["platform", "show", "board.toml"].as_slice(),
        &[
            "sim",
            "--platform",
            "board.toml",
            "--workload",
            "periodic",
            "--policy",
            "linux-4.17",
        ],
    ] {
        assert_refused(&run_in(folder.path(), args), &[place, words].concat());
    }
}

#[test]
fn operating_points_must_rise() {
    refused("khz =   999_000", "khz =   499_000", &["499000"]);
}

#[test]
fn capacity_is_within_1_and_1024() {
    refused("capacity = 462", "capacity = 0", &["capacity", "0", "1024"]);
    refused(
        "capacity = 1024",
        "capacity = 1025",
        &["capacity", "1025", "1024"],
    );
}

#[test]
fn frequency_domains_cover_each_cpu_once() {
    // The big cluster's domain begins within the little one's, or leaves CPU 4 out.
    refused("cpus = \"big\"\nopps", "cpus = \"3-7\"\nopps", &["3"]);
    refused("cpus = \"big\"\nopps", "cpus = \"5-7\"\nopps", &["4"]);
}

/// `platform show` took it, and `sim` panicked: metrics have the name in theirs.
#[test]
fn idle_states_have_names() {
    refused(
        "name = \"cpu-sleep-0\"",
        "name = \"\"",
        &["cannot name an idle state", "`WFI`"],
    );
}

/// Scheduler domains that cannot be built.
#[test]
fn topology_levels_are_partitions_one_inside_the_other() {
    let mc = "one_per = \"cluster\", shares_cache = true }";
    for (groups, words) in [
        ("\"0-4\", \"4-7\"", "CPU 4 is in two groups of level MC"),
        ("\"0-3\", \"5-7\"", "CPU 4 is in no group of level MC"),
        ("\"0-3\", \"4-8\"", "8"),
    ] {
        let level = format!("groups = [{groups}], shares_cache = true }}");
        refused(mc, &level, &[words, "expected"]);
    }
    let package = "{ name = \"PKG\", one_per = \"machine\" },";
    let apart = "{ name = \"PKG\", groups = [\"0-5\", \"6-7\"] },";
    refused(
        package,
        apart,
        &[
            "together at level MC and apart at PKG",
            "expected groups of MC inside",
        ],
    );
    refused(
        package,
        "",
        &["no group of the top level MC spans node 0", "expected"],
    );
    refused(
        package,
        &package.repeat(8),
        &["the topology has 9 levels", "expected 1 to 8"],
    );
    refused(
        "cpus = \"0-3\", kind",
        "cpus = \"0-1023\", kind",
        &["expected"],
    );
}

#[test]
fn a_misspelt_key_gets_the_nearest() {
    refused(
        "min_residency_us = 1\n",
        "min_residncy_us = 1\n",
        &["did you mean `min_residency_us`?"],
    );
}

#[test]
fn the_unchanged_file_is_accepted() {
    let folder = folder();
    file(&folder, "board.toml", &changed("hikey960", "my-board"));
    let output = run_in(folder.path(), &["platform", "show", "board.toml"]);
    common::assert_code(&output, 0);
    assert!(common::stdout(&output).starts_with("board.toml\n"));
}

/// Goal: a description of a machine is not written over by what is made of it.
#[test]
fn an_import_spares_what_it_reads() {
    let folder = folder();
    file(&folder, "board.yml", "name: board");
    for option in ["--lisa", "--dtb", "--sysfs"] {
        let args = [
            "platform",
            "import",
            option,
            "board.yml",
            "-o",
            "./board.yml",
        ];
        let words = [option, "`--output` name the same file"];
        assert_refused(&run_in(folder.path(), &args), &words);
        let kept = std::fs::read_to_string(folder.path().join("board.yml"));
        assert_eq!(kept.expect("there"), "name: board");
    }
}

/// Goal: the archive of a capture is a file, and a folder is not taken for its place.
#[test]
fn a_capture_is_no_folder() {
    let folder = folder();
    let there = folder.path().to_str().expect("text");
    let output = run_in(folder.path(), &["platform", "capture", "-o", there]);
    assert_refused(&output, &[there, "it is a folder"]);
    let output = run_in(folder.path(), &["platform", "capture", "-o", "-"]);
    assert_refused(&output, &["--output -", "expected a file"]);
    let script = run_in(folder.path(), &["platform", "capture"]).stdout;
    let script = file(&folder, "capture.sh", &String::from_utf8_lossy(&script));
    let mut shell = std::process::Command::new("sh");
    let shell = shell.arg(script).arg(there).output().expect("sh");
    let said = String::from_utf8_lossy(&shell.stderr);
    assert_eq!(shell.status.code(), Some(2), "{said}");
    assert!(said.contains("is a folder, expected the name"), "{said}");
    let left = std::fs::read_dir(folder.path()).expect("there").count();
    assert_eq!(left, 1, "the script alone");
}

/// Goal: a board of kinds and clocks is a file that is read, or no file at all.
#[test]
fn a_new_board_is_whole_or_refused() {
    let folder = folder();
    let new = |clusters: &str, name: &str| {
        let clusters = format!("--clusters={clusters}");
        let name = format!("--name={name}");
        let args = ["platform", "new", &clusters, &name, "-o", "new.toml"];
        run_in(folder.path(), &args)
    };
    assert_refused(
        &new("4xcortex-a521@2000MHz", "mine"),
        &["--clusters", "`cortex-a521`", "did you mean `cortex-a520`?"],
    );
    assert_refused(&new("4xcortex-a520@2000MHz", "No Name"), &["--name"]);
    assert!(!folder.path().join("new.toml").exists());
    let words = "4xcortex-a520@2000MHz,4xcortex-a725@3000MHz";
    common::assert_code(&new(words, "mine"), 0);
    let shown = run_in(folder.path(), &["platform", "show", "new.toml"]);
    common::assert_code(&shown, 0);
    assert!(common::stdout(&shown).contains("cortex-a725"));
    // With powers of another machine, or a word on which have some.
    let like = |machine: &str| {
        let clusters = format!("--clusters={words}");
        let like = format!("--power-like={machine}");
        let args = ["platform", "new", &clusters, &like, "-o", "like.toml"];
        run_in(folder.path(), &args)
    };
    assert_refused(&like("mt8195"), &["--power-like", "`mt8195` has no power"]);
    let made = like("tensor-g5");
    common::assert_code(&made, 0);
    let said = common::stderr(&made);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Modelled after tensor-g5"), "{said}");
    // Nobody measured it, and of one clock each there is no lowest power.
    assert!(
        said.contains("in 2 clusters, modelled power in watts"),
        "{said}"
    );
    let one = "power in idle states of CPUs 0-7: of the power at their one operating point";
    assert!(said.contains(one), "{said}");
    let file = std::fs::read_to_string(folder.path().join("like.toml")).expect("written");
    let file = file.replace("\\\n", "");
    assert_eq!(
        file.matches("so that this may be too much").count(),
        2,
        "{file}"
    );
}

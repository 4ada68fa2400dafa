//! `kernel list` and `kernel build`, where nothing can be fetched.
//! Page: docs/guide/kernel.md.
//!
//! What must stay: nothing is fetched here: what is said without an archive. Missing tools are
//! named all at once.
//! Tests by part (in crates/cli/src): failure.rs: `without_an_archive_a_version_cannot_be_had`
//! (`TreeError`); args/kernel.rs: `the_list_says_what_is_here_without_an_archive`
//! (`KernelListArgs`), `what_is_no_kernel_is_refused` (`KernelBuildArgs`); commands/kernel.rs:
//! `the_list_says_what_is_here_without_an_archive` (`list`, `tables`, `object`),
//! `what_is_no_kernel_is_refused` (`build_one`), `missing_tools_are_named` (tools);
//! commands/doctor.rs: `missing_tools_are_named` (`run`); commands/kernel.rs:
//! `what_may_not_be_read_or_written_is_refused`.
//! Helpers, and who fails with them: `kernel` (`without_an_archive_a_version_cannot_be_had`,
//! `the_list_says_what_is_here_without_an_archive`, `what_is_no_kernel_is_refused`);
//! `without_archive` (`without_an_archive_a_version_cannot_be_had`,
//! `the_list_says_what_is_here_without_an_archive`, `what_is_no_kernel_is_refused`,
//! `missing_tools_are_named`); `tree` (`what_is_no_kernel_is_refused`, `missing_tools_are_named`,
//! `what_may_not_be_read_or_written_is_refused`); `of_nobody`
//! (`what_may_not_be_read_or_written_is_refused`).

use crate::common;

use common::{assert_code, assert_refused, folder, program, stderr, stdout};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// With a cache in the folder, and an archive that is not there.
fn kernel(folder: &TempDir, args: &[&str]) -> Output {
    let output = without_archive(program(folder.path()), folder)
        .arg("kernel")
        .args(args)
        .output();
    output.expect("the program starts")
}

fn without_archive(mut command: Command, folder: &TempDir) -> Command {
    command
        .env("WAKEPLACE_KERNEL_CACHE", folder.path().join("cache"))
        .env("WAKEPLACE_MIRROR", "file:///no/such/mirror")
        .env_remove("WAKEPLACE_KERNEL_SHIM");
    command
}

/// A tree as far as it is looked at before a build.
fn tree(folder: &TempDir) -> String {
    let tree = folder.path().join("linux");
    let write = |name: &str, text: &str| {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("Makefile", "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 0\n");
    for name in [
        "Kconfig",
        "Kbuild",
        "kernel/sched/core.c",
        "kernel/sched/fair.c",
        "include/linux/sched.h",
    ] {
        write(name, "");
    }
    tree.display().to_string()
}

#[test]
fn without_an_archive_a_version_cannot_be_had() {
    let folder = folder();
    let output = kernel(&folder, &["build", "7.3.4"]);
    assert_code(&output, 3);
    assert_eq!(stdout(&output), "");
    let text = stderr(&output);
    let said = "error: kernel 7.3.4 has to be fetched, and the package archive cannot be reached";
    assert!(text.contains(said), "{text}");
}

#[test]
fn the_list_says_what_is_here_without_an_archive() {
    let folder = folder();
    let output = kernel(&folder, &["list"]);
    assert_code(&output, 3);
    assert!(
        stderr(&output).contains("error: no kernel can be had"),
        "{}",
        stderr(&output)
    );
    let built = folder.path().join("cache/built/k");
    fs::create_dir_all(&built).expect("made");
    fs::write(built.join("kernel.so"), "").expect("written");
    let record = serde_json::json!({
        "key": "k", "version": "7.3.4", "label": "mine", "origin": "/linux", "like": "arm64",
        "config": false,
    });
    fs::write(built.join("kernel.json"), record.to_string()).expect("written");
    let output = kernel(&folder, &["list"]);
    assert_code(&output, 0);
    assert!(stdout(&output).contains("mine"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("some versions are not known"),
        "{}",
        stderr(&output)
    );
    let output = kernel(&folder, &["list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(list["built"][0]["kernel"], "mine");
    assert_eq!(list["versions"], serde_json::json!([]));
}

#[test]
fn what_is_no_kernel_is_refused() {
    let folder = folder();
    let refused = |args: &[&str], words: &[&str]| {
        assert_refused(&kernel(&folder, &[&["build"], args].concat()), words);
    };
    refused(
        &["nothing"],
        &["`nothing` is no version, as 7.3, and no folder"],
    );
    refused(&["~/linux"], &["write $HOME"]);
    refused(&["kernel:7.3@v1"], &["a version has no revisions"]);
    refused(&["."], &["is no tree of a kernel: it has no Makefile"]);
    let tree = tree(&folder);
    refused(&[&format!("{tree}@v1")], &["the tree has no git history"]);
    refused(&[&format!("{tree}:slice")], &["`slice` is no KEY=VALUE"]);
    refused(&[&tree, "--kernel-config", "none"], &["none: No such file"]);
    fs::write(folder.path().join("my.config"), "HZ=1000\n").expect("written");
    refused(
        &[&tree, "--kernel-config", "my.config"],
        &["my.config:1: `HZ=1000` is no option"],
    );
    refused(&[&tree, "--arch", "riscv"], &["riscv"]);
    fs::write(folder.path().join("file"), "").expect("written");
    let mut command = without_archive(program(folder.path()), &folder);
    command.env("WAKEPLACE_KERNEL_CACHE", folder.path().join("file/cache"));
    let output = command.args(["kernel", "build", &tree]).output();
    assert_refused(&output.expect("it starts"), &["file/cache: cannot be made"]);
}

/// Goal: what is missing is named, all of it, and `doctor` names the same.
#[test]
fn missing_tools_are_named() {
    let folder = folder();
    let tree = tree(&folder);
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).expect("made");
    for entry in fs::read_dir("/usr/bin").expect("programs").flatten() {
        let name = entry.file_name();
        if name != "flex" && name != "bc" {
            let _ = symlink(entry.path(), programs.join(name));
        }
    }
    let run = |args: &[&str]| {
        let mut command = without_archive(program(folder.path()), &folder);
        let output = command.env("PATH", &programs).args(args).output();
        output.expect("the program starts")
    };
    let output = run(&["kernel", "build", &tree]);
    assert_code(&output, 3);
    let text = stderr(&output);
    for word in ["flex", "bc", "not here", "scripts/setup.sh kernel"] {
        assert!(text.contains(word), "{text}");
    }
    let output = run(&["doctor", "--format", "json"]);
    assert_code(&output, 0);
    let doctor: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(doctor["kernel_trees"], false);
    let checks = doctor["checks"].as_array().expect("a list");
    let tools = checks.iter().find(|check| check["name"] == "kernel-tools");
    let found = tools.expect("a check")["found"].to_string();
    assert!(found.contains("flex") && found.contains("bc"), "{found}");
}

/// The program as a user who is nobody; none where that cannot be.
fn of_nobody() -> Option<Command> {
    let command = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command
            .arg(env!("CARGO_BIN_EXE_wakeplace"))
            .current_dir("/");
        command
    };
    let tried = command().arg("--version").output();
    let works = tried.is_ok_and(|output| output.status.success());
    works.then(command)
}

#[test]
fn what_may_not_be_read_or_written_is_refused() {
    let Some(mut command) = of_nobody() else {
        use std::io::Write as _;
        let what = "**** SKIPPED: no other user here: a tree that may not be read is not tried";
        writeln!(std::io::stderr(), "{what}").expect("stderr");
        return;
    };
    let folder = folder();
    let tree = tree(&folder);
    let mode = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode;
    fs::set_permissions(folder.path(), mode(0o755)).expect("set");
    fs::set_permissions(Path::new(&tree).join("kernel/sched"), mode(0)).expect("set");
    let cache = folder.path().join("cache");
    command
        .env("WAKEPLACE_KERNEL_CACHE", &cache)
        .args(["kernel", "build", &tree]);
    let output = command.output().expect("it starts");
    assert_refused(&output, &["cache: cannot be made: Permission denied"]);
    fs::create_dir(&cache).expect("made");
    fs::set_permissions(&cache, mode(0o777)).expect("set");
    let output = command.output().expect("it starts");
    assert_refused(
        &output,
        &["is no tree of a kernel: kernel/sched/core.c: Permission denied"],
    );
}

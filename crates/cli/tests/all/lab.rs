//! What `lab` refuses before it fetches or boots anything.
//! Page: docs/guide/lab.md.
//!
//! What must stay: nothing is fetched or booted: a request that is right ends with exit code 3 at
//! the cache, a wrong one with 2.
//! Tests by part (in crates/cli/src): failure.rs: `a_right_request_gets_as_far_as_the_cache`
//! (`LabError`); args/lab.rs: `a_wrong_machine_is_refused` (`arch`, `platform`, `cpus`),
//! `a_file_that_is_no_kernel_of_the_guest_is_refused` (`kernel`, `modules`, `unpriced`),
//! `either_a_workload_or_a_command_is_run` (`workload`, `command`),
//! `packages_are_named_as_debian_names_them` (`package`, `systemd`),
//! `a_round_needs_a_clock_of_instructions` (`icount`, `round`),
//! `files_are_looked_at_before_anything_is_booted` (`add`, `trace`, `keep`); commands/lab.rs:
//! `a_wrong_machine_is_refused` (`request`), `anybodys_scheduler_is_a_program_for_the_guest`
//! (`asked`), `either_a_workload_or_a_command_is_run` (`Work`),
//! `files_are_looked_at_before_anything_is_booted` (`trace_output`); commands/lab.rs:
//! `a_platform_that_is_too_large_can_be_cut`, `a_wrong_scheduler_or_policy_is_refused`.
//! Helpers, and who fails with them: `lab_run` (all tests); `x86` (most tests).

use crate::common;

use common::{assert_code, assert_refused, file, folder, program, stderr, stdout};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

/// `lab run` in a folder, with a cache that cannot be used: a request that is right ends with 3.
fn lab_run(folder: &Path, args: &[&str]) -> Output {
    std::fs::write(folder.join("no-folder"), "").expect("a file");
    let output = program(folder)
        .env("WAKEPLACE_LAB_CACHE", folder.join("no-folder/cache"))
        .args(["lab", "run"])
        .args(args)
        .output();
    output.expect("the program starts")
}

const X86: [&str; 4] = ["--arch", "x86_64", "--scheduler", "kernel"];

fn x86(folder: &Path, more: &[&str]) -> Output {
    lab_run(folder, &[&X86[..], more].concat())
}

#[test]
fn a_right_request_gets_as_far_as_the_cache() {
    let folder = folder();
    let output = x86(folder.path(), &["--", "true"]);
    assert_code(&output, 3);
    assert!(
        stderr(&output).contains("no-folder/cache: cannot be made"),
        "{}",
        stderr(&output)
    );
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_wrong_machine_is_refused() {
    let folder = folder();
    let run = |more: &[&str]| x86(folder.path(), &[more, &["--", "true"]].concat());
    assert_refused(
        &run(&["--platform", "hikey960"]),
        &["expected `--arch arm64`"],
    );
    assert_refused(
        &run(&["--platform", "hikey96"]),
        &["did you mean `hikey960`"],
    );
    assert_refused(&run(&["--cpus", "17"]), &["a guest has 1 to 16"]);
    assert_refused(&run(&["--cpus", "0"]), &["a guest has 1 to 16"]);
    let other = lab_run(
        folder.path(),
        &["--arch", "riscv", "--scheduler", "kernel", "--", "true"],
    );
    assert_code(&other, 2);
}

/// Goal: a kernel of the user's own is looked at before anything is fetched or booted.
#[test]
fn a_file_that_is_no_kernel_of_the_guest_is_refused() {
    let folder = folder();
    // The mark of an arm64 image (Documentation/arch/arm64/booting.rst), and nothing behind it.
    let mut image = vec![0; 64];
    image[56..60].copy_from_slice(b"ARM\x64");
    std::fs::write(folder.path().join("Image"), image).expect("written");
    file(&folder, "notes", "no image\n");
    let run = |arch: &str, more: &[&str]| {
        let fixed = ["--arch", arch, "--scheduler", "kernel"];
        lab_run(folder.path(), &[&fixed[..], more, &["--", "true"]].concat())
    };
    assert_code(&run("arm64", &["--kernel", "Image"]), 3);
    assert_refused(
        &run("x86_64", &["--kernel", "Image"]),
        &[
            "kernel Image",
            "it is for arm64, the guest is x86_64",
            "bzImage",
        ],
    );
    assert_refused(
        &run("arm64", &["--kernel", "notes"]),
        &["kernel notes: no kernel image", "arch/arm64/boot/Image"],
    );
    assert_refused(
        &run("arm64", &["--kernel", "gone/Image"]),
        &["no such file", "or a version as one of"],
    );
    assert_refused(&run("arm64", &["--kernel", "."]), &["a folder"]);
    assert_refused(
        &run("arm64", &["--kernel", "Image", "--modules", "."]),
        &["--modules .: no modules in it"],
    );
    assert_refused(
        &run("arm64", &["--kernel", "7.3.4", "--modules", "."]),
        &["brings its own"],
    );
    assert_code(&run("arm64", &["--modules", "."]), 2);
    assert_code(&run("arm64", &["--unpriced", "--trace", "t"]), 2);
    assert_refused(
        &run("arm64", &["--kernel", "Image", "--trace", "Image"]),
        &["name the same file"],
    );
}

#[test]
fn a_platform_that_is_too_large_can_be_cut() {
    let folder = folder();
    let board = std::fs::read_to_string(common::repository("platforms/hikey960.toml"));
    // Ten little CPUs more.
    let board = board
        .expect("a platform")
        .replace("cpus = \"4-7\"", "cpus = \"4-17\"");
    file(&folder, "large.toml", &board);
    let run = |more: &[&str]| {
        let fixed = [
            "--arch",
            "arm64",
            "--platform",
            "large.toml",
            "--scheduler",
            "kernel",
        ];
        lab_run(folder.path(), &[&fixed[..], more, &["--", "true"]].concat())
    };
    assert_refused(
        &run(&[]),
        &["large.toml", "18 CPUs", "`--cpus 16` cuts it down"],
    );
    assert_code(&run(&["--cpus", "16"]), 3);
    assert_refused(&run(&["--cpus", "19"]), &["asks for more"]);
}

#[test]
fn a_wrong_scheduler_or_policy_is_refused() {
    let folder = folder();
    let run = |scheduler: &str| {
        lab_run(
            folder.path(),
            &["--arch", "x86_64", "--scheduler", scheduler, "--", "true"],
        )
    };
    assert_refused(
        &run("wakplace"),
        &["unknown scheduler", "did you mean `wakeplace`"],
    );
    assert_refused(&run("wakeplace:linux-7.33"), &["linux-7.3"]);
    assert_refused(&run("kernel:x"), &["unknown scheduler `kernel:x`"]);
}

#[test]
fn anybodys_scheduler_is_a_program_for_the_guest() {
    let folder = folder();
    let run = |arch: &str, scheduler: &str| {
        let args = ["--arch", arch, "--scheduler", scheduler, "--", "true"];
        lab_run(folder.path(), &args)
    };
    let (own, other) = match std::env::consts::ARCH {
        "aarch64" => ("arm64", "x86_64"),
        _ => ("x86_64", "arm64"),
    };
    // As far as the cache: any program of this machine will do, and its libraries are here.
    assert_code(&run(own, "sleep 'a b'"), 3);
    let wrong = run(other, "sleep 1");
    assert_refused(
        &wrong,
        &[
            "another architecture",
            &format!("expected a program for {other}"),
        ],
    );
    assert_refused(&run(own, "./gone -x"), &["./gone", "there is no such file"]);
    assert_refused(&run(own, "sleep 'a"), &["a quote"]);
    let script = folder.path().join("mine.sh");
    std::fs::write(&script, "#!/bin/sh\n").expect("written");
    assert_refused(
        &run(own, "./mine.sh"),
        &["./mine.sh", "may not be executed"],
    );
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).expect("changed");
    assert_refused(&run(own, "./mine.sh"), &["./mine.sh", "no ELF program"]);
}

#[test]
fn either_a_workload_or_a_command_is_run() {
    let folder = folder();
    assert_code(&x86(folder.path(), &[]), 2);
    assert_code(
        &x86(folder.path(), &["--workload", "periodic:n=2", "--", "true"]),
        2,
    );
    assert_code(&x86(folder.path(), &["--duration", "1s", "--", "true"]), 2);
    let output = x86(folder.path(), &["--workload", "periodc:n=2"]);
    assert_refused(&output, &["periodic"]);
    let output = x86(folder.path(), &["--workload", "trace:gone.txt"]);
    assert_refused(&output, &["gone.txt: cannot be read"]);
    let output = x86(folder.path(), &["--workload", "trace:gone.txt,platfrom=x"]);
    assert_refused(&output, &["did you mean `platform`"]);
    let line = "  <idle>-0 [000] 1.0: sched_switch: swapper/0:0 [120] R ==> a:11 [120]\n  \
                a-11 [000] 1.1: sched_switch: a:11 [120] S ==> swapper/0:0 [120]\n";
    std::fs::write(folder.path().join("run.txt"), line).expect("written");
    assert_code(&x86(folder.path(), &["--workload", "trace:run.txt"]), 3);
    assert_code(
        &x86(
            folder.path(),
            &["--workload", "periodic:n=2", "--duration", "1s"],
        ),
        3,
    );
}

#[test]
fn packages_are_named_as_debian_names_them() {
    let folder = folder();
    let run = |more: &[&str]| x86(folder.path(), &[more, &["--", "true"]].concat());
    let right = ["--package", "strace", "--package", "libc6", "--systemd"];
    assert_code(&run(&right), 3);
    for name in ["../base", "Strace", "-y", ""] {
        let output = run(&[&format!("--package={name}")]);
        assert_code(&output, 2);
        assert!(
            stderr(&output).contains("is no name of a Debian package"),
            "{}",
            stderr(&output)
        );
    }
}

/// Goal: turns of CPUs are those of a clock that counts instructions, and whole microseconds.
#[test]
fn a_round_needs_a_clock_of_instructions() {
    let folder = folder();
    let run = |more: &[&str]| x86(folder.path(), &[more, &["--", "true"]].concat());
    assert_refused(&run(&["--round", "50us"]), &["--icount"]);
    let bad = run(&["--icount", "--round", "1500ns"]);
    assert_refused(&bad, &["expected whole microseconds from 1us to 1s"]);
    // A request that is right: the cache cannot be used.
    assert_code(&run(&["--icount", "--round", "50us"]), 3);
}

#[test]
fn files_are_looked_at_before_anything_is_booted() {
    let folder = folder();
    let run = |more: &[&str]| x86(folder.path(), &[more, &["--", "true"]].concat());
    assert_refused(&run(&["--add", "not-there"]), &["--add not-there"]);
    assert_refused(
        &run(&["--trace", "not/there"]),
        &["its folder does not exist"],
    );
    assert_refused(&run(&["--trace", "-"]), &["expected a file"]);
    assert_refused(
        &run(&["--keep", "not/there"]),
        &["--keep: not is no folder"],
    );
}

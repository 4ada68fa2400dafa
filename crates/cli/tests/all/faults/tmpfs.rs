//! A disk that is full indeed: a small tmpfs.
//! Page: docs/guide/cluster.md; docs/guide/traces.md, "What is promised of files".
//!
//! What must stay: a full disk is exit code 3, and what was committed stays. Where no tmpfs can be
//! mounted that is said (`skipped`).
//! Tests by part (in crates/cli/src): commands/sweep.rs: `a_disk_that_gets_full_during_a_sweep`
//! (`failure`), `a_full_disk` (`failure_of_export`); crates/store/src/error.rs:
//! `a_disk_that_gets_full_during_a_sweep` (`of`, `Machine`); crates/files/src/error.rs:
//! `a_full_disk` (`Why::System`); terminal.rs: `standard_output_on_a_full_disk` (`print`).
//! Helpers, and who fails with them: `grow` (`a_disk_that_gets_full_during_a_sweep`); `skipped`
//! (`a_disk_that_gets_full_during_a_sweep`, `a_full_disk`).

use crate::common::{assert_code, file, folder, run_in, stderr, stdout};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(at: PathBuf, size: &str) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(&at);
        let mounted = mount.stderr(Stdio::null()).status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(Self(at))
    }
}

impl Mounted {
    fn grow(&self, size: &str) {
        let mut mount = Command::new("mount");
        mount
            .args(["-o", &format!("remount,size={size}")])
            .arg(&self.0);
        assert!(mount.status().expect("mount").success());
    }
}

/// Past the capture of the test harness.
fn skipped(test: &str) {
    use std::io::Write as _;
    writeln!(
        std::io::stderr(),
        "SKIPPED: {test} needs to mount a tmpfs (root)"
    )
    .expect("stderr");
}

/// Goal: a disk that gets full during a sweep ends it with exit code 3, what was committed is kept,
/// and with room the same command goes on.
#[test]
fn a_disk_that_gets_full_during_a_sweep() {
    let folder = folder();
    let at = folder.path().join("small");
    fs::create_dir(&at).expect("a folder");
    let Some(small) = Mounted::new(at, "400k") else {
        return skipped("a_disk_that_gets_full_during_a_sweep");
    };
    let sweep = || {
        let args = [
            "sweep",
            "--platform=hikey960",
            "--workload=periodic:n=2",
            "--policy=linux-7.3",
            "--vary=busy_factor=4..32:10",
            "--seeds=60",
            "--duration=10ms",
            "--store=small/runs.db",
        ];
        run_in(folder.path(), &args)
    };
    let full = sweep();
    assert_code(&full, 3);
    assert!(
        stderr(&full).contains("the disk is full"),
        "{}",
        stderr(&full)
    );
    small.grow("16m");
    let whole = sweep();
    assert_code(&whole, 0);
    let said = stdout(&whole);
    assert!(said.starts_with("600 cells: "), "{said}");
    assert!(
        !said.starts_with("600 cells: 0 in"),
        "nothing was kept: {said}"
    );
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Goal: each way to write says that the disk is full, gives exit code 3, leaves what was there and
/// nothing else.
#[test]
fn a_full_disk() {
    let folder = folder();
    let at = folder.path().join("small");
    fs::create_dir(&at).expect("a folder");
    let Some(small) = Mounted::new(at, "64k") else {
        return skipped("a_full_disk");
    };
    file(&folder, "small/old", "old");
    fs::write(small.0.join("filler"), vec![0; 40 << 10]).expect("there is room for that");
    let load = r#"{"tasks": {"t": {"loop": -1, "run": 10, "sleep": 10}},
                   "global": {"calibration": 100, "logdir": ".", "log_basename": "x"}}"#;
    file(&folder, "load.json", load);
    let run = [
        "sim",
        "--platform=tc2",
        "--workload=load.json",
        "--policy=linux-6.2",
    ];
    let sweep = [
        "sweep",
        "--platform=tc2",
        "--workload=periodic:n=1",
        "--policy=linux-6.2",
        "--vary=busy_factor=4..32:20",
        "--seeds=20",
        "--duration=5ms",
    ];
    let run = [&run[..], &["--duration=2s"]].concat();
    for (command, option, place) in [
        (&run[..], "--export-ftrace", "small/old"),
        (&run, "--export-perfetto", "small/old"),
        (&run, "--export-html", "small/old"),
        (&run, "--export-parquet", "small/tables"),
        (&run, "--export-rtapp-log", "small/logs"),
        (&sweep, "--export", "small/runs.csv"),
        (&sweep, "--export", "small/runs.parquet"),
    ] {
        let option = format!("{option}={place}");
        let output = run_in(folder.path(), &[command, &[&option]].concat());
        assert_code(&output, 3);
        let said = stderr(&output);
        assert!(said.contains(place), "{said}");
        assert!(said.contains("No space left on device"), "{said}");
        assert!(!said.contains("expected"), "{said}");
        assert_eq!(stdout(&output), "", "no result without its files");
        let left = fs::read_dir(&small.0).expect("a folder").count();
        assert_eq!(left, 2, "{option}: nothing is left but old and filler");
        assert_eq!(fs::read(small.0.join("old")).expect("there"), b"old");
    }
}

/// Goal: so is standard output.
#[test]
fn standard_output_on_a_full_disk() {
    for args in [&["platform", "list"][..], &["--help"], &["sim", "--help"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = crate::common::program(std::path::Path::new("."));
        command
            .args(args)
            .stdout(full.expect("Linux has it"))
            .stderr(Stdio::piped());
        let output = command.output().expect("it starts");
        assert_code(&output, 3);
        let said = stderr(&output);
        assert!(
            said.contains("standard output: cannot be written: No space left"),
            "{said}"
        );
    }
}

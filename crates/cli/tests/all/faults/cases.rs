//! Commands that write files.
//! Page: docs/guide/traces.md, "What is promised of files".
//!
//! What must stay: a command that writes files is named here, with all of its outputs, so that
//! every call of it fails once. Caller: faults/mod.rs (`folder`, `is_new`).

use super::Tree;
use crate::common::{file, folder, program};
use std::fs;
use tempfile::TempDir;

/// A thread whose passes are logged.
const LOGGED: &str = r#"{
    "tasks": { "t": { "loop": 3, "run": 1000, "sleep": 1000 },
               "u": { "loop": 3, "run": 1000, "sleep": 1000 } },
    "global": { "duration": -1, "calibration": 100, "logdir": ".", "log_basename": "x" }
}"#;
const BOARD: &str = "\
cpus-count: 2
name: board
cpu-capacities:
  orig: {0: 446, 1: 1024}
freqs: {0: [500000, 1000000], 1: [500000, 2000000]}
";

/// A command and the files that it writes.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) args: &'static [&'static str],
    /// Files, and folders that change as one.
    pub(super) outputs: &'static [&'static str],
    /// Other programs write for it.
    pub(super) has_children: bool,
    /// Puts files of before there.
    old: fn(&TempDir),
}

pub(super) const FILES: Case = Case {
    name: "files of a run",
    args: &[
        "sim",
        "--platform=tc2",
        "--workload=periodic:n=2",
        "--policy=linux-6.2",
        "--quiet",
        "--duration=10ms",
        "--format=json",
        "--output=r.json",
        "--export-html=r.html",
        "--export-wakeup-cases=r.csv",
        "--export-perfetto=r.pftrace",
        "--export-ftrace=r.txt",
    ],
    outputs: &["r.json", "r.html", "r.csv", "r.pftrace", "r.txt"],
    has_children: false,
    old: |folder| {
        // The others are new.
        for name in ["r.json", "r.html", "r.txt"] {
            file(folder, name, "old");
        }
    },
};

pub(super) const TABLES: Case = Case {
    name: "tables",
    args: &[
        "sim",
        "--platform=tc2",
        "--workload=periodic:n=2",
        "--policy=linux-6.2",
        "--quiet",
        "--duration=10ms",
        "--export-parquet=tables",
    ],
    outputs: &["tables"],
    has_children: false,
    old: |folder| {
        fs::create_dir(folder.path().join("tables")).expect("a folder");
        for table in ["counters", "sched_switch"] {
            file(folder, &format!("tables/{table}.parquet"), "old");
        }
    },
};

pub(super) const LOGS: Case = Case {
    name: "logs",
    args: &[
        "sim",
        "--platform=tc2",
        "--workload=load.json",
        "--policy=linux-6.2",
        "--quiet",
        "--duration=10ms",
        "--export-rtapp-log=logs",
    ],
    outputs: &["logs"],
    has_children: false,
    old: |folder| {
        fs::create_dir(folder.path().join("logs")).expect("a folder");
        // Of a run with more forks.
        for log in ["x-t-0", "x-u-1-7-0002"] {
            file(folder, &format!("logs/{log}.log"), "old");
        }
    },
};

pub(super) const REPORT: Case = Case {
    name: "report",
    args: &["report", "result.json", "-o", "page.html"],
    outputs: &["page.html"],
    has_children: false,
    old: |folder| {
        let mut sim = program(folder.path());
        sim.args(&FILES.args[..7]).arg("--output=result.json");
        assert!(sim.status().expect("it starts").success());
        file(folder, "page.html", "old");
    },
};

pub(super) const IMPORT: Case = Case {
    name: "import",
    args: &[
        "platform",
        "import",
        "--lisa",
        "board.yml",
        "-o",
        "board.toml",
    ],
    outputs: &["board.toml"],
    has_children: false,
    old: |folder| {
        file(folder, "board.toml", "old");
    },
};

pub(super) const CAPTURE: Case = Case {
    name: "capture",
    args: &["platform", "capture", "-o", "machine.tar"],
    outputs: &["machine.tar"],
    has_children: true,
    old: |folder| {
        file(folder, "machine.tar", "old");
    },
};

impl Case {
    /// What was there before the command.
    pub(super) fn folder(&self) -> TempDir {
        let folder = folder();
        file(&folder, "load.json", LOGGED);
        file(&folder, "board.yml", BOARD);
        file(&folder, "precious", "precious");
        (self.old)(&folder);
        folder
    }

    /// Whether an output is what the command makes; an archive has times in it and is read instead.
    pub(super) fn is_new(&self, output: &str, found: &Tree, new: &Tree) -> bool {
        if !self.has_children {
            return found == new;
        }
        let Some(Some(bytes)) = found.get(output) else {
            return false;
        };
        let folder = folder();
        fs::write(folder.path().join("a.tar"), bytes).expect("written");
        let mut list = std::process::Command::new("tar");
        list.arg("-tf").arg(folder.path().join("a.tar"));
        let ends_whole = bytes.ends_with(&[0; 1024]);
        ends_whole && list.output().expect("tar").status.success()
    }
}

//! Loads a sched_ext object file that has no loader of its own, and attaches its table of
//! callbacks. It runs in a process of its own, in front of the kernel that `wakeplace` offers
//! (docs/guide/schedulers.md).
//!
//! What must stay: words on standard error are shown to the user as the loader's last.
//!
//! Tests by part: schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`load`),
//! schedulers.rs::`what_is_no_scheduler_is_refused` (`main`: its words; a table that is not there).
//!
//! Callers: crates/foreign/src/scheduler.rs (`generic_loader` finds it),
//! crates/foreign/src/guard/spawn.rs starts it.
//!
//! Tests: crates/cli/tests/all/schedulers.rs

use libbpf_rs::{MapCore as _, MapType, ObjectBuilder};
use std::convert::Infallible;
use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

/// Says on standard error why it could not load.
fn main() -> ExitCode {
    let Err(why) = load();
    let _ = writeln!(std::io::stderr(), "{why}");
    ExitCode::FAILURE
}

/// Loads, attaches and waits; it returns only if that fails.
fn load() -> Result<Infallible, String> {
    let usage = "expected one argument: an object file for BPF with a struct sched_ext_ops";
    let path = std::env::args_os().nth(1).ok_or(usage)?;
    if std::env::args_os().len() > 2 {
        return Err("an object file takes no arguments; expected the file alone".to_owned());
    }
    let shown = path.to_string_lossy().into_owned();
    let bad = |error: &dyn Display| format!("{shown}: {error}");
    let open = ObjectBuilder::default()
        .open_file(&path)
        .map_err(|error| bad(&error))?;
    let mut object = open.load().map_err(|error| bad(&format!("{error:#}")))?;
    let mut maps = object.maps_mut();
    let table = maps.find(|map| map.map_type() == MapType::StructOps);
    let mut table = table.ok_or_else(|| bad(&"it has no struct sched_ext_ops"))?;
    let _link = table
        .attach_struct_ops()
        .map_err(|error| bad(&format!("{error:#}")))?;
    // A kernel keeps it for as long as this process lives.
    loop {
        std::thread::park();
    }
}

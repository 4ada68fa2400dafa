//! The kernel that a loader sees: it runs as a process of its own, unchanged, and what it asks of
//! the kernel is answered here until it has attached a scheduler, and beside the simulation
//! (docs/rules/sched-ext.md#loader).
//!
//! What must stay: the order of steps up to the attachment, and a bound by the host's clock alone
//! for a loader that hangs. Results never have the host's times. Free: words of refusals, and how a
//! step is done.
//!
//! Tests by part: schedulers.rs::`a_result_says_which_scheduler_it_was` (`load`, `known`),
//! `runs_are_the_same_twice_and_interpreted` (`Attached::copy`: two runs of one load),
//! interception.rs::`doctor_says_which_way_calls_take` (`probe_interception`).
//!
//! Callers: crates/foreign/src/scheduler.rs (`load`, `copy`), crates/cli/src/commands/doctor.rs
//! (`probe_interception`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_runs_in_virtual_time,
//! crates/cli/tests/all/schedulers.rs::what_a_loader_must_not_do_is_named

mod affinity;
mod attr;
mod bpf;
mod calls;
mod clocks;
mod fixed;
mod futex;
mod known;
mod machine_files;
pub(crate) mod memory_file;
mod own;
mod paths;
mod process;
mod program;
mod rings;
mod serve;
mod threads;
mod waits;

use crate::ForeignError;
use crate::guard::Interception;
use crate::kernel::{Layout, State, UP_NS};
use crate::wire::Start;
use calls::{Answer, Calls, Event};
use machine_files::{KernelFiles, MachineFiles};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wakeplace_bpf_vm::{Btf, Fault, Vm};
use wakeplace_platform::Platform;

pub(crate) use bpf::Table;
pub use own::OwnCalls;
pub(crate) use process::Process;

/// The kernel whose interface is offered.
#[derive(Clone, Debug)]
pub struct OfferedKernel {
    /// As `uname -r` says it.
    pub release: String,
    /// Its type information.
    pub btf: Arc<Btf>,
    /// The same as bytes: loaders read it.
    pub bytes: Arc<Vec<u8>>,
}

/// What a loader has attached.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) vm: Vm,
    pub(crate) state: State,
    pub(crate) table: Table,
    /// Tracing programs that nothing calls.
    pub(crate) uncalled: Vec<String>,
}

impl Attached {
    /// A copy that shares nothing with it.
    pub(crate) fn copy(&self) -> Result<Self, Fault> {
        Ok(Self {
            vm: self.vm.copy()?,
            state: self.state.clone(),
            table: self.table.clone(),
            uncalled: self.uncalled.clone(),
        })
    }
}

/// What a loader finds.
#[derive(Clone, Debug)]
pub(crate) struct Offered {
    pub(crate) platform: Platform,
    pub(crate) kernel: OfferedKernel,
    pub(crate) layout: Arc<Layout>,
}

/// Runs a loader until it has attached a scheduler. `shown`: what the user calls it. What it has
/// attached shares memory with it; a copy does not.
pub(crate) fn load(
    shown: &str,
    program: &Path,
    args: &[String],
    offered: &Offered,
) -> Result<(Attached, Process), ForeignError> {
    let (known, machine) = known(offered, shown)?;
    let files = MachineFiles::of(
        &offered.platform,
        &KernelFiles {
            release: &offered.kernel.release,
            btf: &offered.kernel.bytes,
        },
    );
    process::start(known, machine, shown, (program, args), files)
}

/// What is there before the first call.
fn known(offered: &Offered, shown: &str) -> Result<(known::Known, (Vm, State)), ForeignError> {
    let Offered {
        platform,
        kernel,
        layout,
    } = offered;
    crate::guard::allow_descriptors();
    let refused = |why: String| ForeignError::Refused {
        program: shown.to_owned(),
        why,
    };
    let nr_cpus = platform.cpus.len() as u32;
    let mut vm = Vm::new(nr_cpus).map_err(|fault| refused(fault.to_string()))?;
    // Its reader may be the loader.
    vm.keeps_records = true;
    let state = State::new(layout.clone(), &mut vm, platform);
    let state = state.map_err(|fault| refused(fault.to_string()))?;
    let known = known::Known {
        release: kernel.release.clone(),
        kernel: kernel.btf.clone(),
        layout: layout.clone(),
        arena_of: BTreeMap::new(),
        objects: BTreeMap::new(),
        types: Vec::new(),
        tables: BTreeMap::new(),
        tables_with_cids: std::collections::BTreeSet::new(),
        refused: Vec::new(),
        uncalled: Vec::new(),
        attached: None,
        loader: 0,
        random: 1,
        clock_ns: UP_NS,
        told: clocks::Told::default(),
        timers: Vec::new(),
        rings: BTreeMap::new(),
        affinity: BTreeMap::new(),
        forked: false,
    };
    Ok((known, (vm, state)))
}

/// Can the system calls of a process be answered here? Tries it with this program, and says how.
///
/// # Errors
/// Why not.
pub fn probe_interception() -> Result<Interception, ForeignError> {
    let way = crate::guard::chosen()?;
    let own = std::env::current_exe().map_err(ForeignError::host("the place of this program"))?;
    let program = own.display().to_string();
    let start = Start {
        program: program.clone(),
        args: vec!["--version".to_owned()],
        files: Vec::new(),
        folders: Vec::new(),
    };
    let started = Calls::start(start);
    let (calls, _) = started.map_err(|error| ForeignError::Start { program, error })?;
    let mut answered = 0;
    let result = loop {
        match calls.wait(Duration::from_secs(5)) {
            Ok(Event::Call(call)) => {
                answered += 1;
                calls.respond(&call, &Answer::Host);
            }
            Ok(Event::Nothing) => {}
            Ok(Event::Ended) if answered > 0 => break Ok(way.clone()),
            Ok(_) => break Err(std::io::Error::other("no call arrived")),
            Err(error) => break Err(error),
        }
    };
    calls.end();
    result.map_err(ForeignError::host("calls of a process"))
}

//! The kernel that a loader sees: it runs as a process of its own, unchanged, and what it asks of
//! the kernel is answered here until it has attached a scheduler, and beside the simulation.

mod bpf;
mod clocks;
mod files;
mod fixed;
mod futex;
mod known;
mod notify;
mod process;
mod program;
mod rings;
mod run_folder;
mod serve;
mod spawn;
mod threads;
mod tree;
mod vdso;
mod waits;

use crate::ForeignError;
use crate::kernel::{Layout, State, UP_NS};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wakeplace_bpf_vm::{Btf, Fault, Vm};
use wakeplace_platform::Platform;

pub(crate) use bpf::Table;
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
    let Offered {
        platform,
        kernel,
        layout,
    } = offered;
    let files = tree::KernelFiles {
        release: &kernel.release,
        btf: &kernel.bytes,
    };
    let tree = tree::Tree::new(platform, &files)?;
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
        tree,
        release: kernel.release.clone(),
        kernel: kernel.btf.clone(),
        layout: layout.clone(),
        arena_of: BTreeMap::new(),
        objects: BTreeMap::new(),
        types: Vec::new(),
        tables: BTreeMap::new(),
        refused: Vec::new(),
        uncalled: Vec::new(),
        attached: None,
        loader: 0,
        process: None,
        random: 1,
        clock_ns: UP_NS,
        timers: Vec::new(),
        rings: BTreeMap::new(),
        forked: false,
    };
    process::start(known, (vm, state), shown, program, args)
}

/// Can the system calls of a process be answered here? Tries it with this program.
///
/// # Errors
/// Why not.
pub fn probe_interception() -> Result<(), ForeignError> {
    let own = std::env::current_exe().map_err(ForeignError::host("the place of this program"))?;
    let output = tempfile::tempfile().map_err(ForeignError::host("a temporary file"))?;
    let spawned = spawn::spawn(&own, &["--version".to_owned()], &output)?;
    let mut answered = 0;
    let mut child = spawned.child;
    let result = loop {
        match notify::wait(&spawned.listener, Duration::from_secs(5)) {
            Ok(notify::Event::Call(call)) => {
                answered += 1;
                notify::respond(&spawned.listener, &call, &notify::Answer::Host);
            }
            Ok(notify::Event::Nothing) => {}
            Ok(notify::Event::Ended) if answered > 0 => break Ok(()),
            Ok(_) => break Err(std::io::Error::other("no call arrived")),
            Err(error) => break Err(error),
        }
    };
    let _ = spawn::end(&mut child);
    result.map_err(ForeignError::host("calls of a process"))
}

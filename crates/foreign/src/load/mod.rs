//! The kernel that a loader sees: it runs as a process of its own, unchanged, and what it asks of
//! the kernel is answered here until it has attached a scheduler.

mod bpf;
mod files;
mod fixed;
mod notify;
mod program;
mod serve;
mod spawn;
mod tree;

use crate::ForeignError;
use crate::kernel::{Layout, State};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wakeplace_bpf_vm::{Btf, Vm};
use wakeplace_platform::Platform;

pub(crate) use bpf::Table;

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

/// What a loader finds.
pub(crate) struct Offered<'a> {
    pub(crate) platform: &'a Platform,
    pub(crate) kernel: &'a OfferedKernel,
    pub(crate) layout: &'a Arc<Layout>,
}

/// Runs a loader and returns what it has attached. `shown`: what the user calls it.
pub(crate) fn load(
    shown: &str,
    program: &Path,
    args: &[String],
    offered: &Offered<'_>,
) -> Result<Attached, ForeignError> {
    let Offered {
        platform,
        kernel,
        layout,
    } = *offered;
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
    let state = State::new(layout.clone(), &mut vm, platform);
    let mut session = serve::Session {
        tree: &tree,
        release: &kernel.release,
        kernel: kernel.btf.clone(),
        layout: layout.clone(),
        vm,
        arena_of: BTreeMap::new(),
        state: state.map_err(|fault| refused(fault.to_string()))?,
        objects: BTreeMap::new(),
        types: Vec::new(),
        tables: BTreeMap::new(),
        refused: Vec::new(),
        uncalled: Vec::new(),
        attached: None,
        loader: 0,
        random: 1,
    };
    serve::serve(&mut session, shown, program, args)
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

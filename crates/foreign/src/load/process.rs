//! The loader's process: until it has attached a scheduler, and then beside the simulation.

use super::calls::Calls;
use super::known::{Known, how, said};
use super::serve::Session;
use super::spawn;
use super::threads::{PATIENCE, Stop, Threads};
use super::{Attached, bpf, way};
use crate::ForeignError;
use crate::kernel::State;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};
use wakeplace_bpf_vm::Vm;
use wakeplace_sched_ext::{Exit, ExitKind, Kernel};

/// A loader that has not attached after so long, by its clock or the host's.
const LONGEST: Duration = Duration::from_secs(300);
/// The file that gets what loaders print.
const OUTPUT: &str = "WAKEPLACE_LOADER_OUTPUT";
/// How often descriptors are looked at while processes of the loader's run.
const NAP: Duration = Duration::from_millis(1);

/// A loader that runs. It ends with this value, and all that it has started with it.
#[derive(Debug)]
pub(crate) struct Process {
    known: Known,
    threads: Threads,
    calls: Calls,
    output: File,
    /// The file that gets it in the end, if one is asked for.
    kept: Option<File>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.calls.end();
        let _ = self.keep_output();
    }
}

/// Looks at descriptors of a process.
fn handle(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: a new descriptor, which nobody else has.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        match fd < 0 {
            true => Err(io::Error::last_os_error()),
            false => Ok(OwnedFd::from_raw_fd(fd as i32)),
        }
    }
}

/// Runs the loader until it has attached a scheduler.
pub(super) fn start(
    mut known: Known,
    (mut vm, mut state): (Vm, State),
    shown: &str,
    program: &Path,
    args: &[String],
) -> Result<(Attached, Process), ForeignError> {
    let output = tempfile::tempfile().map_err(ForeignError::host("a temporary file"))?;
    let open = |path| File::options().create(true).append(true).open(path);
    let kept = std::env::var_os(OUTPUT).map(open).transpose();
    let kept = kept.map_err(ForeignError::host(OUTPUT))?;
    let (calls, leader) = spawn::spawn(program, args, &output, way::chosen()?.way)?;
    known.loader = leader;
    let mut process = Process {
        threads: Threads::of(leader),
        known,
        calls,
        output,
        kept,
    };
    process.known.process = handle(leader).ok();
    let stop = process.until_attached(&mut vm, &mut state)?;
    let program = shown.to_owned();
    let table = match stop {
        Stop::Attached => process.known.attached.take(),
        Stop::Ended => {
            let how = how(process.calls.end());
            let said = said(&process.known, &mut process.output);
            return Err(ForeignError::Ended { program, how, said });
        }
        Stop::Hangs(_) | Stop::Waits(_) | Stop::Spins => None,
    };
    let Some(table) = table else {
        let _ = process.calls.end();
        let why = match stop {
            Stop::Hangs(doing) => format!("one of its threads {doing}"),
            Stop::Spins => "it makes calls without end".to_owned(),
            _ => "it waits for something that does not come".to_owned(),
        };
        let said = said(&process.known, &mut process.output);
        return Err(ForeignError::Hangs { program, why, said });
    };
    let enabled = process.known.tree.enable(&table.name);
    enabled.map_err(ForeignError::host("files of the modelled machine"))?;
    Ok((process.attached(vm, state, table), process))
}

impl Process {
    fn attached(&mut self, vm: Vm, state: State, table: bpf::Table) -> Attached {
        self.known.refused.clear();
        Attached {
            vm,
            state,
            table,
            uncalled: std::mem::take(&mut self.known.uncalled),
        }
    }

    fn until_attached(&mut self, vm: &mut Vm, state: &mut State) -> Result<Stop, ForeignError> {
        #[allow(clippy::disallowed_methods, reason = "the loader is of the real world")]
        let began = Instant::now();
        let latest_ns = self.known.clock_ns + LONGEST.as_nanos() as u64;
        let mut silent = Duration::ZERO;
        loop {
            let mut session = Session {
                vm,
                state,
                known: &mut self.known,
                calls: &self.calls,
                sim: None,
            };
            let stop = self.threads.run(&mut session);
            let until = match stop.map_err(ForeignError::host("calls of the scheduler's loader"))? {
                Stop::Waits(until) => until,
                other => return Ok(other),
            };
            if began.elapsed() > LONGEST {
                return Ok(Stop::Waits(None));
            }
            match until {
                // What its processes do takes time of the host's.
                _ if session.known.forked && silent < PATIENCE => {
                    let came = self.threads.others(&mut session, NAP);
                    match came.map_err(ForeignError::host("calls of the scheduler's loader"))? {
                        Some(true) => silent = Duration::ZERO,
                        Some(false) => silent += NAP,
                        None => return Ok(Stop::Ended),
                    }
                    if silent > 20 * NAP && until.is_some() {
                        self.pass(vm, state, until.unwrap_or(latest_ns));
                        silent = Duration::ZERO;
                    }
                }
                Some(until) if until <= latest_ns => self.pass(vm, state, until),
                _ => return Ok(Stop::Waits(until)),
            }
        }
    }

    /// Time passes, and who has waited for it can go on.
    fn pass(&mut self, vm: &mut Vm, state: &mut State, now_ns: u64) {
        self.known.clock_ns = self.known.clock_ns.max(now_ns);
        state.up_ns = self.known.clock_ns;
        let mut session = Session {
            vm,
            state,
            known: &mut self.known,
            calls: &self.calls,
            sim: None,
        };
        self.threads.wake_due(&mut session);
    }

    /// Does it wait for records of a ring buffer?
    pub(crate) fn reads_rings(&self) -> bool {
        !self.known.rings.is_empty()
    }

    /// Lets it run at this instant of the simulation. Returns when it wants to go on, by its clock.
    ///
    /// # Errors
    /// How the scheduler ends with it.
    pub(crate) fn go_on<'a>(
        &mut self,
        vm: &'a mut Vm,
        state: &'a mut State,
        sim: &'a mut (dyn Kernel + 'a),
    ) -> Result<Option<u64>, Exit> {
        self.known.clock_ns = state.up_ns + sim.now_ns();
        let mut session = Session {
            vm,
            state,
            known: &mut self.known,
            calls: &self.calls,
            sim: Some(sim),
        };
        self.threads.wake_due(&mut session);
        let stop = self.threads.run(&mut session);
        let loader = |what: String| Exit::fault(format!("its loader {what}"));
        match stop {
            Ok(Stop::Waits(until)) if self.known.refused.is_empty() => Ok(until),
            Ok(Stop::Waits(_)) => Err(loader(self.known.refused.join("; "))),
            Ok(Stop::Attached) => Err(loader("attached a second scheduler".to_owned())),
            Ok(Stop::Ended) => {
                let how = how(self.calls.end());
                let said = said(&self.known, &mut self.output);
                Err(Exit::new(
                    ExitKind::Unreg,
                    format!("its loader {how}{said}"),
                ))
            }
            Ok(Stop::Hangs(doing)) => Err(loader(format!("hangs: a thread {doing}"))),
            Ok(Stop::Spins) => Err(loader(
                "makes calls without end at one instant: it does not wait".to_owned(),
            )),
            Err(error) => Err(loader(format!("cannot be answered: {error}"))),
        }
    }

    /// What it has printed goes to the end of a file, if the user wants it.
    fn keep_output(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.kept else {
            return Ok(());
        };
        let mut text = Vec::new();
        self.output.seek(SeekFrom::Start(0))?;
        self.output.read_to_end(&mut text)?;
        file.write_all(&text)
    }
}

//! The loader's process: until it has attached a scheduler, and then beside the simulation
//! (docs/rules/sched-ext.md#loader).
//!
//! What must stay: patience is by the host's clock and only ends what hangs; all else is virtual
//! time. Free: how long the patience is.
//!
//! Tests by part: `runs_with_a_loader_beside_them_are_the_same` (`start`, `go_on`, `pass`,
//! `until_attached`), schedulers.rs::`what_is_no_scheduler_is_refused`,
//! `a_loader_that_hangs_leaves_nothing_behind` (`no_table`: what is said),
//! `what_a_loader_must_not_do_is_named` (`go_on`: the reasons),
//! `a_process_that_shares_maps_is_refused` (`sharer`, `sharer_that_stays`, `shares`),
//! schedulers.rs::`a_loader_runs_in_virtual_time` (`reads_rings`),
//! wall.rs::`nothing_of_a_loader_outlives_the_run` (`drop`). `after` has no test of its own.
//!
//! Callers: load/mod.rs (`start`), crates/foreign/src/instance.rs (`go_on`, `reads_rings`).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::runs_with_a_loader_beside_them_are_the_same,
//! crates/cli/tests/all/wall.rs

use super::calls::{self, Calls};
use super::known::{Known, how, said};
use super::machine_files::MachineFiles;
use super::serve::Session;
use super::threads::{PATIENCE, Stop, Threads};
use super::{Attached, bpf};
use crate::ForeignError;
use crate::kernel::State;
use crate::wire::{Ended, Start};
use std::path::Path;
use std::time::{Duration, Instant};
use wakeplace_bpf_vm::Vm;
use wakeplace_sched_ext::{Exit, ExitKind, Kernel};

/// A loader that has not attached after so long, by its clock or the host's. So long may it take at
/// one instant of a run, too.
const LONGEST: Duration = Duration::from_secs(300);
/// How often descriptors are looked at while processes of the loader's run.
const NAP: Duration = Duration::from_millis(1);
/// Processes that can reach the maps have so long to end when the scheduler is attached.
const SHARERS_LEAVE: Duration = Duration::from_secs(2);

/// A loader that runs. It ends with this value, and all that it has started with it.
#[derive(Debug)]
pub(crate) struct Process {
    known: Known,
    threads: Threads,
    calls: Calls,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before.
        self.calls.end();
    }
}

/// Now and so much later, by the host's clock.
fn after(time: Duration) -> Instant {
    #[allow(clippy::disallowed_methods, reason = "the loader is of the real world")]
    let now = Instant::now();
    now + time
}

/// Runs the loader until it has attached a scheduler.
pub(super) fn start(
    mut known: Known,
    (mut vm, mut state): (Vm, State),
    shown: &str,
    (program, args): (&Path, &[String]),
    files: MachineFiles,
) -> Result<(Attached, Process), ForeignError> {
    calls::way()?;
    let cannot = |error| ForeignError::Start {
        program: program.display().to_string(),
        error,
    };
    let start = Start {
        program: program.display().to_string(),
        args: args.to_vec(),
        files: files.files,
        folders: files.folders,
    };
    let (calls, leader) = Calls::start(start).map_err(cannot)?;
    known.loader = leader;
    let mut process = Process {
        threads: Threads::of(leader),
        known,
        calls,
    };
    let stop = process.until_attached(&mut vm, &mut state)?;
    let table = match stop {
        Stop::Attached => process.known.attached.take(),
        _ => None,
    };
    let Some(table) = table else {
        return Err(process.no_table(stop, shown));
    };
    if let Some(name) = process.sharer_that_stays() {
        return Err(ForeignError::Refused {
            program: shown.to_owned(),
            why: shares(&name),
        });
    }
    let enabled = process.calls.enable(&table.name);
    enabled.map_err(ForeignError::host("files of the modelled machine"))?;
    Ok((process.attached(vm, state, table), process))
}

/// Why a process of the loader's beside it is not allowed.
fn shares(name: &str) -> String {
    format!(
        "its process `{}` shares maps with the running scheduler: a process beside the loader has \
         no place in the order of the run",
        wakeplace_text::printable(name)
    )
}

impl Process {
    /// What a run needs of a load; refusals up to now did no harm.
    fn attached(&mut self, vm: Vm, state: State, table: bpf::Table) -> Attached {
        self.known.refused.clear();
        Attached {
            vm,
            state,
            table,
            uncalled: std::mem::take(&mut self.known.uncalled),
        }
    }

    /// Why it has attached nothing.
    fn no_table(&mut self, stop: Stop, shown: &str) -> ForeignError {
        let ended: Ended = self.calls.end();
        let said = said(&self.known, &ended);
        let program = shown.to_owned();
        let why = match stop {
            Stop::Ended => {
                let how = how(&ended);
                return ForeignError::Ended { program, how, said };
            }
            Stop::Hangs(doing) => format!("one of its threads {doing}"),
            Stop::Spins => "it makes calls without end".to_owned(),
            Stop::Late => format!(
                "it has attached nothing after {} minutes",
                LONGEST.as_secs() / 60
            ),
            Stop::Attached | Stop::Waits(_) => {
                "it waits for something that does not come".to_owned()
            }
        };
        ForeignError::Hangs { program, why, said }
    }

    /// The name of a process of the loader's that can reach its maps, and goes on to. None: there
    /// is none.
    fn sharer_that_stays(&self) -> Option<String> {
        if !self.known.forked {
            return None;
        }
        let latest = after(SHARERS_LEAVE);
        loop {
            let sharer = self.calls.sharer(self.known.objects.keys().copied())?;
            if latest <= after(Duration::ZERO) {
                return Some(sharer);
            }
            std::thread::sleep(NAP);
        }
    }

    /// Answers calls until the loader has attached a scheduler, ends, or is silent for too long.
    fn until_attached(&mut self, vm: &mut Vm, state: &mut State) -> Result<Stop, ForeignError> {
        let latest = after(LONGEST);
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
            let stop = self.threads.run(&mut session, latest);
            let until = match stop.map_err(ForeignError::host("calls of the scheduler's loader"))? {
                Stop::Waits(until) => until,
                other => return Ok(other),
            };
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
        let stop = self.threads.run(&mut session, after(LONGEST));
        let loader = |what: String| Exit::fault(format!("its loader {what}"));
        match stop {
            Ok(Stop::Waits(until)) if self.known.refused.is_empty() => match self.sharer() {
                None => Ok(until),
                Some(name) => Err(Exit::fault(shares(&name))),
            },
            Ok(Stop::Waits(_)) => Err(loader(self.known.refused.join("; "))),
            Ok(Stop::Attached) => Err(loader("attached a second scheduler".to_owned())),
            Ok(Stop::Ended) => {
                let ended = self.calls.end();
                let (how, said) = (how(&ended), said(&self.known, &ended));
                Err(Exit::new(
                    ExitKind::Unreg,
                    format!("its loader {how}{said}"),
                ))
            }
            Ok(Stop::Hangs(doing)) => Err(loader(format!("hangs: a thread {doing}"))),
            Ok(Stop::Spins) => Err(loader(
                "makes calls without end at one instant: it does not wait".to_owned(),
            )),
            Ok(Stop::Late) => Err(loader("takes too long at one instant".to_owned())),
            Err(error) => Err(loader(format!("cannot be answered: {error}"))),
        }
    }

    /// The name of a process of the loader's that can reach its maps. None: there is none.
    fn sharer(&self) -> Option<String> {
        match self.known.forked {
            true => self.calls.sharer(self.known.objects.keys().copied()),
            false => None,
        }
    }
}

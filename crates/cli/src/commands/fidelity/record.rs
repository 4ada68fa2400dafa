//! The guests of a measurement: booted, or read again from what an earlier one left.

use super::plan::{Part, Plan};
use super::{LIVE_POLICY, SetRun, guest, sets};
use crate::args::LabFidelityArgs;
use crate::commands::lab::failure;
use crate::commands::lab_watch::Steps;
use crate::failure::Failure;
use crate::terminal::Terminal;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wakeplace_lab::outcome::Scheduler;
use wakeplace_lab::run::{self, Request, Work};
use wakeplace_lab::{Arch, Cache, Watch as _};

/// Under which scheduler a guest runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The kernel's own, energy-aware.
    EnergyAware,
    /// The kernel's own with `sched_energy_aware` 0.
    CapacityAware,
    /// The live one.
    Live,
}

impl fmt::Display for Side {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::EnergyAware => "eas",
            Self::CapacityAware => "cas",
            Self::Live => "live",
        })
    }
}

/// One guest: some sets on a machine under one scheduler, with one start.
#[derive(Clone, Copy)]
pub(super) struct Boot<'a> {
    pub(super) plan: &'a Plan,
    pub(super) part: &'a Part,
    pub(super) side: Side,
    /// Number of the start, from 0.
    pub(super) start: usize,
}

impl fmt::Display for Boot<'_> {
    /// The name of its folder.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.plan.machine.name, self.side)?;
        if self.side != Side::Live {
            write!(out, "-{}", self.start + 1)?;
        }
        write!(out, "-{}", self.part.name)
    }
}

/// What a guest did.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recording {
    /// The kernel that it said it is.
    pub(super) release: String,
    /// By the set's name.
    pub(super) sets: BTreeMap<String, SetRun>,
}

/// Records all guests, in their order, as many at a time as was asked for.
pub(super) fn all<'a>(
    args: &LabFidelityArgs,
    boots: &[Boot<'a>],
    terminal: Terminal,
) -> Result<Vec<(Boot<'a>, Recording)>, Failure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![None; boots.len()]);
    let failed = Mutex::new(None);
    let work = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(boot) = boots.get(at) else { return };
        match recording(args, *boot, terminal) {
            Ok(recording) => locked(&done)[at] = recording,
            Err(failure) => {
                // The others end what they have begun.
                next.store(boots.len(), Ordering::Relaxed);
                locked(&failed).get_or_insert(failure);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(work);
        }
    });
    if let Some(failure) = locked(&failed).take() {
        return Err(failure);
    }
    let done = std::mem::take(&mut *locked(&done));
    let pairs = boots.iter().zip(done);
    Ok(pairs
        .filter_map(|(boot, recording)| Some((*boot, recording?)))
        .collect())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn recording(
    args: &LabFidelityArgs,
    boot: Boot<'_>,
    terminal: Terminal,
) -> Result<Option<Recording>, Failure> {
    let Some(text) = text(args, boot, terminal)? else {
        return Ok(None);
    };
    let sets = &boot.part.sets;
    let runs = guest::outcomes(&text, sets)?;
    let names = sets.iter().map(|set| set.name.clone());
    Ok(Some(Recording {
        release: guest::release(&text).unwrap_or_default().to_owned(),
        sets: names.zip(runs).collect(),
    }))
}

/// What the guest wrote: kept from an earlier run, or booted now. None for a start of which there
/// is nothing where nothing is to be booted.
fn text(
    args: &LabFidelityArgs,
    boot: Boot<'_>,
    terminal: Terminal,
) -> Result<Option<String>, Failure> {
    let folder = |base: &Path| base.join(boot.to_string());
    if let Some(base) = &args.from {
        let folder = folder(base);
        if boot.start > 0 && !folder.exists() {
            terminal.warn(&format!("{boot}: it is not there and left out"));
            return Ok(None);
        }
        return kept(args, &folder, boot).map(Some);
    }
    let keep = args.keep.as_deref().map(folder);
    match keep.as_deref().map(|folder| kept(args, folder, boot)) {
        Some(Ok(text)) => {
            terminal.detail(&format!("{boot}: kept from an earlier run"));
            Ok(Some(text))
        }
        _ => booted(args, boot, keep, terminal).map(Some),
    }
}

/// What an earlier run kept of this very guest, which came to its end.
fn kept(args: &LabFidelityArgs, folder: &Path, boot: Boot<'_>) -> Result<String, Failure> {
    let path = folder.join("stdout");
    let refused = |why: &str| Failure::Input(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| refused(&error.to_string()))?;
    let offset_ns = sets::start_offset_ns(boot.start);
    let release = guest::release(&text).unwrap_or_default();
    let wanted = args.kernel.as_deref().unwrap_or_default();
    let whole = guest::is_whole(&text, &boot.part.sets, offset_ns, boot.side);
    match whole && release.starts_with(wanted) {
        true => Ok(text),
        false => Err(refused(
            "no whole recording of these sets with this start and kernel",
        )),
    }
}

fn booted(
    args: &LabFidelityArgs,
    boot: Boot<'_>,
    keep: Option<PathBuf>,
    terminal: Terminal,
) -> Result<String, Failure> {
    let (machine, sets) = (&boot.plan.machine, &boot.part.sets);
    let lab = |error| failure(&error);
    let cache = Cache::of_user().map_err(lab)?;
    let scratch = cache.scratch().map_err(lab)?;
    let offset_ns = sets::start_offset_ns(boot.start);
    let request = Request {
        arch: Arch::Arm64,
        machine: machine.clone(),
        scheduler: match boot.side {
            Side::EnergyAware | Side::CapacityAware => Scheduler::Kernel,
            Side::Live => Scheduler::Wakeplace {
                policy: Some(LIVE_POLICY.to_owned()),
            },
        },
        kernel: args.kernel.clone(),
        icount: true,
        timeout: Duration::from_nanos(args.timeout),
        trace: false,
        work: Work::Command(guest::command(boot.side)),
        files: guest::write_files(sets, offset_ns, scratch.path())?,
        packages: Vec::new(),
        systemd: false,
        keep,
    };
    let steps = Steps::start(terminal);
    steps.step(&format!(
        "{boot}: {} sets, start {:.3} ms after a tick",
        sets.len(),
        offset_ns as f64 / 1e6
    ));
    let result = run::run(&cache, &request, &steps);
    drop(steps);
    let result = result.map_err(lab)?;
    match result.exit_code {
        0 => Ok(result.stdout),
        code => Err(Failure::NoResult(format!(
            "the sets in the guest {boot} ended with exit code {code}: {}",
            result.stderr.trim()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{ColorWhen, Verbosity};
    use crate::commands::fidelity::plan::plans;

    #[test]
    fn a_guest_that_is_whole_is_not_booted_again() {
        let kept_folder = tempfile::tempdir().expect("a folder");
        let words = ["--platform", "juno-r0", "--sets", "D"];
        let args = LabFidelityArgs::parsed(&words);
        let plans = plans(&args).expect("a machine");
        let boot = |start| Boot {
            plan: &plans[0],
            part: &plans[0].parts[0],
            side: Side::EnergyAware,
            start,
        };
        let found = |args: &LabFidelityArgs, start| {
            let folder = kept_folder.path().join(boot(start).to_string());
            kept(args, &folder, boot(start))
        };
        let job = guest::job_text(&plans[0].sets[0], sets::start_offset_ns(1)).expect("text");
        let text = format!("=== release\n7.3.4\n=== energy_aware\n1\n=== job D\n{job}\n=== end\n");
        for folder in ["juno-r0-eas-1-light", "juno-r0-eas-2-light"] {
            let folder = kept_folder.path().join(folder);
            std::fs::create_dir(&folder).expect("made");
            std::fs::write(folder.join("stdout"), &text).expect("written");
        }
        assert_eq!(found(&args, 1), Ok(text.clone()));
        // Where nothing is booted, starts may be missing, but not the first.
        let from = kept_folder.path().display().to_string();
        let args_from = LabFidelityArgs::parsed(&[&words[..], &["--from", &from]].concat());
        let terminal = Terminal::new(ColorWhen::Never, Verbosity::Quiet);
        let read = |start| super::text(&args_from, boot(start), terminal);
        assert_eq!((read(1), read(2)), (Ok(Some(text)), Ok(None)));
        assert!(read(0).is_err());
        // The same in another start's folder, nothing at all, and another kernel than asked for.
        for (args, start, why) in [
            (&args, 0, "no whole recording"),
            (&args, 2, "juno-r0-eas-3"),
            (
                &LabFidelityArgs::parsed(&[&words[..], &["--kernel", "6.18"]].concat()),
                1,
                "no whole recording",
            ),
        ] {
            let refused = found(args, start).expect_err(why).to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}

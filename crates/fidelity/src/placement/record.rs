//! The guests of a measurement: booted, or read again from what an earlier one left
//! (docs/results/fidelity.md).
//!
//! What must stay: names of folders and files, or guests are booted again. Free: what leaves the
//! tables of pages as they are. Tests by part: `a_guest_that_is_whole_is_not_booted_again` (`text`,
//! `kept`, `booted`, `fmt`: the folder's name); `detail`, `warn` and `steps` are the test's own.
//! `all`, `locked`, `recording` have no test of their own: they need guests.
//!
//! Callers: placement.rs (`all`), truth.rs (`all`).
//!
//! Tests: below

use super::plan::{Part, Plan};
use super::{LIVE_POLICY, Request, SetRun, guest, sets};
use crate::{Error, Watch, guest_text};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wakeplace_lab::outcome::Scheduler;
use wakeplace_lab::run::{self, Icount, Work};
use wakeplace_lab::{Arch, LabError};

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
    pub(super) round_us: Option<u32>,
}

impl fmt::Display for Boot<'_> {
    /// The name of its folder.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}-{}", self.plan.machine.name, self.side)?;
        if self.side != Side::Live {
            write!(out, "-{}", self.start + 1)?;
        }
        write!(out, "-{}", self.part.name)?;
        match self.round_us {
            Some(us) => write!(out, "-{us}us"),
            None => Ok(()),
        }
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
    request: &Request,
    boots: &[Boot<'a>],
    watch: &dyn Watch,
) -> Result<Vec<(Boot<'a>, Recording)>, Error> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![None; boots.len()]);
    let failed = Mutex::new(None);
    let work = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(boot) = boots.get(at) else { return };
        match recording(request, *boot, watch) {
            Ok(recording) => locked(&done)[at] = recording,
            Err(failure) => {
                // The others end what they have begun.
                next.store(boots.len(), Ordering::Relaxed);
                locked(&failed).get_or_insert(failure);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..request.jobs {
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

/// Also after a panic of another thread: what it holds is whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recording of one boot; None: it is not there and nothing may be booted.
fn recording(
    request: &Request,
    boot: Boot<'_>,
    watch: &dyn Watch,
) -> Result<Option<Recording>, Error> {
    let Some(text) = text(request, boot, watch)? else {
        return Ok(None);
    };
    let sets = &boot.part.sets;
    let runs = guest::outcomes(&text, sets, &boot.plan.platform)?;
    let names = sets.iter().map(|set| set.name.clone());
    Ok(Some(Recording {
        release: guest_text::release(&text).unwrap_or_default().to_owned(),
        sets: names.zip(runs).collect(),
    }))
}

/// What the guest wrote: kept from an earlier run, or booted now. None for a start of which there
/// is nothing where nothing is to be booted.
fn text(request: &Request, boot: Boot<'_>, watch: &dyn Watch) -> Result<Option<String>, Error> {
    let folder = |base: &Path| base.join(boot.to_string());
    if let Some(base) = &request.from {
        let folder = folder(base);
        if boot.start > 0 && !folder.exists() {
            watch.warn(&format!("{boot}: it is not there and left out"));
            return Ok(None);
        }
        return kept(request, &folder, boot).map(Some);
    }
    let keep = request.keep.as_deref().map(folder);
    match keep.as_deref().map(|folder| kept(request, folder, boot)) {
        Some(Ok(text)) => {
            let kept = format!("{boot}: kept from an earlier run");
            match boot.side {
                Side::Live => watch.warn(&format!("{kept}, of the scheduler as it was then")),
                _ => watch.detail(&kept),
            }
            Ok(Some(text))
        }
        _ => booted(request, boot, keep, watch).map(Some),
    }
}

/// What an earlier run kept of this very guest, which came to its end.
fn kept(request: &Request, folder: &Path, boot: Boot<'_>) -> Result<String, Error> {
    let path = folder.join("stdout");
    let refused = |why: &str| Error::Input(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(&path).map_err(|error| refused(&error.to_string()))?;
    let offset_ns = sets::start_offset_ns(boot.start);
    let release = guest_text::release(&text).unwrap_or_default();
    let wanted = request.kernel.as_deref().unwrap_or_default();
    let whole = guest::is_whole(&text, &boot.part.sets, offset_ns, boot.side);
    match whole && release.starts_with(wanted) {
        true => Ok(text),
        false => Err(refused(
            "no whole recording of these sets with this start and kernel",
        )),
    }
}

/// Boots a guest and takes what it sends.
fn booted(
    request: &Request,
    boot: Boot<'_>,
    keep: Option<PathBuf>,
    watch: &dyn Watch,
) -> Result<String, Error> {
    let (machine, sets) = (&boot.plan.machine, &boot.part.sets);
    let cache = wakeplace_lab::cache()?;
    let scratch = cache.scratch().map_err(LabError::from)?;
    let offset_ns = sets::start_offset_ns(boot.start);
    let guest = run::Request {
        arch: Arch::Arm64,
        machine: machine.clone(),
        scheduler: match boot.side {
            Side::EnergyAware | Side::CapacityAware => Scheduler::Kernel,
            Side::Live => Scheduler::Wakeplace {
                policy: Some(LIVE_POLICY.to_owned()),
            },
        },
        kernel: request.kernel.clone().into(),
        icount: Some(Icount {
            ns: 2,
            round_us: boot.round_us,
        }),
        timeout: request.timeout,
        trace_kb: None,
        work: Work::Command(guest::command(boot.side)),
        files: guest::write_files(sets, offset_ns, scratch.path())?,
        packages: Vec::new(),
        systemd: false,
        keep,
    };
    let steps = watch.steps();
    steps.step(&format!(
        "{boot}: {} sets, start {:.3} ms after a tick",
        sets.len(),
        offset_ns as f64 / 1e6
    ));
    let result = run::run(&cache, &guest, &*steps);
    drop(steps);
    let result = result?;
    match result.exit_code {
        0 => Ok(result.stdout),
        code => Err(Error::NoResult(format!(
            "the sets in the guest {boot} ended with exit code {code}: {}",
            result.stderr.trim()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::plan::plans;

    /// Nobody.
    struct Nobody;

    impl Watch for Nobody {
        fn detail(&self, _: &str) {}
        fn warn(&self, _: &str) {}
        fn steps(&self) -> Box<dyn wakeplace_lab::Watch + '_> {
            unreachable!("nothing is booted")
        }
    }

    #[test]
    fn a_guest_that_is_whole_is_not_booted_again() {
        let kept_folder = tempfile::tempdir().expect("a folder");
        let args = Request::of(&["juno-r0"], &["D"]);
        let plans = plans(&args).expect("a machine");
        let boot = |start| Boot {
            plan: &plans[0],
            part: &plans[0].parts[0],
            side: Side::EnergyAware,
            start,
            round_us: None,
        };
        let found = |args: &Request, start| {
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
        let short_turns = Boot {
            round_us: Some(50),
            ..boot(1)
        };
        assert_eq!(short_turns.to_string(), "juno-r0-eas-2-light-50us");
        // Where nothing is booted, starts may be missing, but not the first.
        let args_from = Request {
            from: Some(kept_folder.path().to_owned()),
            ..args.clone()
        };
        let read = |start| super::text(&args_from, boot(start), &Nobody);
        assert_eq!((read(1), read(2)), (Ok(Some(text)), Ok(None)));
        assert!(read(0).is_err());
        // The same in another start's folder, nothing at all, and another kernel than asked for.
        for (args, start, why) in [
            (&args, 0, "no whole recording"),
            (&args, 2, "juno-r0-eas-3"),
            (
                &Request {
                    kernel: Some("6.18".to_owned()),
                    ..args.clone()
                },
                1,
                "no whole recording",
            ),
        ] {
            let refused = found(args, start).expect_err(why).to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}

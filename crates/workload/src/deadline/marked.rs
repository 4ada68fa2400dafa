//! Frames that a recording marks itself, under deadlines that are given beside it
//! (docs/guide/traces-in.md#frames): they begin and end as recorded, and only the deadline is
//! another.
//!
//! What must stay: begins, and ends unless the file names another last task, are those of the
//! recording; chains that no file names are gone with their steps. Tests by part:
//! crates/trace/tests/all/replay/frames.rs::`given_deadlines_judge_recorded_frames` (`of`, `judge`,
//! `ends_there`) and `a_file_of_deadlines_wins` (steps of chains that are gone).
//!
//! Callers: deadline.rs.
//!
//! Tests: crates/trace/tests/all/replay/frames.rs

use super::{Declared, events, named};
use crate::error::Fault;
use crate::script::{Chain, Event, Workload};

/// A recorded chain that a declared one judges.
pub(super) struct Marked {
    /// Its number in the recording.
    chain: u32,
    /// Its frames end as they did there; else the declared last task ends them.
    pub(super) ends: bool,
}

/// What was recorded of each declared chain, if its first task marks frames.
pub(super) fn of(declared: &[Declared], workload: &Workload) -> Result<Vec<Option<Marked>>, Fault> {
    let mut all: Vec<Option<Marked>> = Vec::new();
    for new in declared {
        let found = one(new, workload)?;
        let is_known = |chain: u32| all.iter().flatten().any(|other| other.chain == chain);
        if found.as_ref().is_some_and(|found| is_known(found.chain)) {
            return Err(begins_another(new));
        }
        all.push(found);
    }
    Ok(all)
}

/// The first task is that of a chain before.
pub(super) fn begins_another(new: &Declared) -> Fault {
    let message = format!("task `{}` begins another chain, too", new.from.0);
    Fault::unusable(new.from.1, message).expected("a chain of its own")
}

/// The same of one.
fn one(new: &Declared, workload: &Workload) -> Result<Option<Marked>, Fault> {
    let begins = |script: &usize| {
        let mut steps = events(&workload.tasks[*script]);
        steps.find_map(|step| match step {
            Event::FrameBegin {
                chain,
                woken: Some(_),
            } => Some(chain),
            _ => None,
        })
    };
    let firsts = named(workload, &new.from)?;
    let with: Vec<(usize, u32)> = firsts
        .iter()
        .filter_map(|script| Some((*script, begins(script)?)))
        .collect();
    match with.as_slice() {
        [] => Ok(None),
        [(_, chain)] => Ok(Some(Marked {
            chain: *chain,
            ends: new.to.0 == new.from.0 || ends_there(*chain, new, workload)?,
        })),
        several => {
            let names = several
                .iter()
                .map(|(script, _)| &*workload.tasks[*script].name);
            let names: Vec<&str> = names.take(super::MAX_NAMES).collect();
            let message = format!(
                "task `{}` is {} threads with frames of their own",
                new.from.0,
                several.len()
            );
            let expected = format!("one of {}", names.join(", "));
            Err(Fault::unusable(new.from.1, message).expected(expected))
        }
    }
}

/// A thread of the declared last task ends frames of that chain in the recording.
fn ends_there(of: u32, new: &Declared, workload: &Workload) -> Result<bool, Fault> {
    let ends = |step: Event| matches!(step, Event::FrameEnd { chain, .. } if chain == of);
    let lasts = named(workload, &new.to)?;
    Ok(lasts
        .iter()
        .any(|script| events(&workload.tasks[*script]).any(ends)))
}

/// Takes the workload's own chains away, but for the steps of those that a declared one judges:
/// they get its number. Returns these chains, by declared one.
pub(super) fn judge(marked: &[Option<Marked>], workload: &mut Workload) -> Vec<Option<Chain>> {
    let own = std::mem::take(&mut workload.chains);
    let new = |chain: u32| {
        let at =
            { marked.iter() }.position(|of| of.as_ref().is_some_and(|of| of.chain == chain))?;
        let ends = marked[at].as_ref().is_some_and(|of| of.ends);
        Some((at as u32, ends))
    };
    for phase in workload.tasks.iter_mut().flat_map(|task| &mut task.phases) {
        phase.events.retain_mut(|event| match event {
            Event::FrameBegin { chain, .. } => match new(*chain) {
                Some((at, _)) => {
                    *chain = at;
                    true
                }
                None => false,
            },
            Event::FrameEnd { chain, .. } => match new(*chain) {
                Some((at, true)) => {
                    *chain = at;
                    true
                }
                _ => false,
            },
            _ => true,
        });
    }
    let of = |of: &Option<Marked>| own.get(of.as_ref()?.chain as usize).cloned();
    marked.iter().map(of).collect()
}

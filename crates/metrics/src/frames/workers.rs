//! Which frame of a chain each task works on, and who works on a frame.
//!
//! What must stay: `on` has exactly those of whom `get` says this frame. It is kept by frame, since
//! each frame that nobody ended asks who works on it. Free: how it is kept.
//! Tests by part: `a_lost_frame_is_given_up` (`on`), `a_foreign_wake_hands_on_nothing`
//! (`Works::Elsewhere`), all (`get`, `set`).
//!
//! Tests: crates/metrics/src/frames/tests.rs

use std::collections::{BTreeMap, BTreeSet};

/// What a task works on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Works {
    /// On this frame.
    On(usize),
    /// On none: it was woken by somebody who works on none, and has not been handed one.
    Elsewhere,
}

/// What all tasks of a chain work on.
#[derive(Clone, Debug, Default)]
pub(super) struct Workers {
    of_task: BTreeMap<u32, Works>,
    /// The same by frame, of those that work on one.
    on_frame: BTreeSet<(usize, u32)>,
}

impl Workers {
    /// What the task works on; None: nobody has said.
    pub(super) fn get(&self, task: u32) -> Option<Works> {
        self.of_task.get(&task).copied()
    }

    /// The task works on this from now on. Returns what it worked on.
    pub(super) fn set(&mut self, task: u32, works: Option<Works>) -> Option<Works> {
        let was = match works {
            Some(works) => self.of_task.insert(task, works),
            None => self.of_task.remove(&task),
        };
        if let Some(Works::On(frame)) = was {
            self.on_frame.remove(&(frame, task));
        }
        if let Some(Works::On(frame)) = works {
            self.on_frame.insert((frame, task));
        }
        was
    }

    /// Who works on the frame, in the order of their numbers.
    pub(super) fn on(&self, frame: usize) -> impl Iterator<Item = u32> + '_ {
        let all = self.on_frame.range((frame, 0)..=(frame, u32::MAX));
        all.map(|(_, task)| *task)
    }
}

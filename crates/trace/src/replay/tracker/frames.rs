//! Frames of applications, where the recording marks them (docs/guide/traces-in.md#frames): which
//! thread begins one and when, and which thread draws it last.
//!
//! A step of a script stands at each begin and end. A frame ends where the last slice ends that
//! draws it: the UI thread waits within its own slice until the thread that draws has taken the
//! frame. What nobody has drawn by the end of that slice ends with it.
//!
//! What must stay: marks make no task and no CPU, and only those of frames change a script; what a
//! recording holds of them is bounded (`MAX_DISTANCES`). Times are ns. Free: what leaves the
//! scripts of recordings as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `frames_by_hand` (`marked`, `begin_frame`, `begin_drawing`, `end_slice`, `end_frame`, `split`),
//! `what_became_of_recorded_frames` (`done`),
//! `what_nobody_draws_ends_with_its_slice` (`end_frame`), `hostile_marks_are_bounded`
//! (`forget_slices`, `edge`), `slices_that_draw_no_frame_are_told` (`strays`).
//!
//! Callers: replay/tracker.rs (`marked`), gaps.rs (`forget_slices`).
//!
//! Tests: crates/trace/tests/all/replay/frames.rs

use super::{Current, Step, Tracker};
use crate::read::{Mark, Marked, Vsync};
use std::collections::BTreeMap;

/// Most distances of one counter that are kept: those of 18 minutes at 60 Hz.
const MAX_DISTANCES: usize = 1 << 16;

/// A frame as it was seen to begin.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Seen {
    /// When its slice began.
    pub(in crate::replay) mark_ns: u64,
    /// When its thread was woken last.
    pub(in crate::replay) woken_ns: u64,
    /// When applications were last told of a vsync.
    pub(in crate::replay) vsync_ns: Option<u64>,
    /// The thread has slept since its frame before.
    pub(in crate::replay) slept: bool,
    /// When it was done; drawn twice, the last time.
    pub(in crate::replay) done_ns: Option<u64>,
}

/// Slices of a thread that are open.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slices {
    depth: u32,
    /// How deep the slice of its frame is, and whether anybody has drawn that.
    frame: Option<(u32, bool)>,
    /// How deep the slice is that draws, and which frame: of which task, by number.
    draw: Option<(u32, u32, u32)>,
    /// When its last frame's slice ended.
    ended_ns: Option<u64>,
}

/// What is known of all frames.
#[derive(Clone, Debug, Default)]
pub(in crate::replay) struct Frames {
    /// Tasks within a frame's slice, by process.
    open: BTreeMap<i32, Vec<u32>>,
    vsync: BTreeMap<Vsync, Counter>,
    /// Slices that draw, while their process was within no frame.
    strays: u64,
}

/// A counter of vsync.
#[derive(Clone, Debug, Default)]
struct Counter {
    last: Option<(u64, i64)>,
    distances: Vec<u64>,
}

impl Frames {
    /// A counter has a value from now on; each change is a vsync.
    fn edge(&mut self, source: Vsync, now: u64, value: i64) {
        let counter = self.vsync.entry(source).or_default();
        match counter.last {
            Some((_, last)) if last == value => return,
            Some((last_ns, _)) if counter.distances.len() < MAX_DISTANCES => {
                counter.distances.push(now - last_ns);
            }
            _ => {}
        }
        counter.last = Some((now, value));
    }

    /// When applications were last told of a vsync.
    fn last_vsync_ns(&self) -> Option<u64> {
        let counter = self.vsync.get(&Vsync::App)?;
        counter.last.map(|(last_ns, _)| last_ns)
    }

    /// The distances of a counter's changes.
    pub(in crate::replay) fn distances(&self, source: Vsync) -> &[u64] {
        let counter = self.vsync.get(&source);
        counter.map_or(&[], |counter| &counter.distances)
    }

    /// How many slices draw no frame.
    pub(in crate::replay) fn strays(&self) -> u64 {
        self.strays
    }

    /// The task whose frame a thread of this process draws: the first thread's, else the one that
    /// began last.
    fn drawn(&self, process: i32, is_first: impl Fn(u32) -> bool) -> Option<u32> {
        let open = self.open.get(&process)?;
        let first = open.iter().copied().find(|task| is_first(*task));
        first.or(open.last().copied())
    }

    /// The task is within a frame of this process no longer.
    fn close(&mut self, process: i32, task: u32) {
        if let Some(open) = self.open.get_mut(&process) {
            open.retain(|other| *other != task);
            if open.is_empty() {
                self.open.remove(&process);
            }
        }
    }
}

impl Tracker {
    /// A thread marks something; one that is not known says nothing.
    pub(super) fn mark(&mut self, it: &Marked) -> Result<(), String> {
        if let Mark::Vsync { source, value } = it.mark {
            self.frames.edge(source, it.time_ns, value);
            return Ok(());
        }
        let Some(task) = self.by_pid.get(&it.pid).copied() else {
            return Ok(());
        };
        let cpu = it.cpu as usize;
        let current = self.cpus.get(cpu).map(|cpu| cpu.current);
        let runs = current == Some(Current::Task(task));
        let slices = &mut self.tasks[task as usize].slices;
        if it.mark != Mark::End {
            slices.depth = slices.depth.saturating_add(1);
        }
        match it.mark {
            Mark::Frame { process } if runs => self.begin_frame(it.time_ns, cpu, task, process),
            Mark::Draw { process } if runs => {
                self.begin_drawing(task, process);
                Ok(())
            }
            Mark::End => self.end_slice(it.time_ns, runs.then_some(cpu), task),
            _ => Ok(()),
        }
    }

    /// A frame begins on the task that runs there. One of the same task that is still open has lost
    /// its end.
    fn begin_frame(&mut self, now: u64, cpu: usize, task: u32, process: i32) -> Result<(), String> {
        let vsync_ns = self.frames.last_vsync_ns();
        let first_ns = self.first_ns.unwrap_or(now);
        let own = &mut self.tasks[task as usize];
        self.frames.close(own.process, task);
        own.process = process;
        own.slices.frame = Some((own.slices.depth, false));
        let woken_ns = own.woken_ns.unwrap_or(first_ns);
        let ended_ns = own.slices.ended_ns;
        let number = own.frames.len() as u32;
        own.frames.push(Seen {
            mark_ns: now,
            woken_ns,
            vsync_ns,
            slept: ended_ns.is_none_or(|ended| woken_ns > ended),
            done_ns: None,
        });
        self.frames.open.entry(process).or_default().push(task);
        self.split(now, Some(cpu), task, Step::Frame(number))
    }

    /// A thread begins to draw the frame that its process is in; within a slice that draws the same
    /// frame it is part of that.
    fn begin_drawing(&mut self, task: u32, process: i32) {
        let is_first = |task: u32| self.tasks[task as usize].pid == process;
        let Some(of) = self.frames.drawn(process, is_first) else {
            // Part of a slice that draws a frame is none by itself.
            let is_part = self.tasks[task as usize].slices.draw.is_some();
            self.frames.strays += u64::from(!is_part);
            return;
        };
        let drawn = &mut self.tasks[of as usize];
        let number = drawn.frames.len() as u32 - 1;
        if let Some((_, is_drawn)) = &mut drawn.slices.frame {
            *is_drawn = true;
        }
        let slices = &mut self.tasks[task as usize].slices;
        match slices.draw {
            Some((_, other, same)) if (other, same) == (of, number) => {}
            _ => slices.draw = Some((slices.depth, of, number)),
        }
    }

    /// What a thread began last is done.
    fn end_slice(&mut self, now: u64, cpu: Option<usize>, task: u32) -> Result<(), String> {
        let slices = &mut self.tasks[task as usize].slices;
        let depth = slices.depth;
        slices.depth = depth.saturating_sub(1);
        let draws = slices.draw.filter(|(at, ..)| *at >= depth);
        let frame = slices.frame.filter(|(at, _)| *at >= depth);
        if let Some((_, of, number)) = draws {
            slices.draw = None;
            self.done(now, cpu, task, (of, number))?;
        }
        match frame {
            Some((_, is_drawn)) => self.end_frame(now, cpu, task, is_drawn),
            None => Ok(()),
        }
    }

    /// The slice of a task's frame is done, and the frame with it if nobody has drawn it.
    fn end_frame(
        &mut self,
        now: u64,
        cpu: Option<usize>,
        task: u32,
        is_drawn: bool,
    ) -> Result<(), String> {
        let own = &mut self.tasks[task as usize];
        own.slices.frame = None;
        own.slices.ended_ns = Some(now);
        self.frames.close(own.process, task);
        if is_drawn {
            return Ok(());
        }
        let number = own.frames.len() as u32 - 1;
        self.done(now, cpu, task, (task, number))
    }

    /// What `task` did there ends the frame of this number of that task.
    fn done(
        &mut self,
        now: u64,
        cpu: Option<usize>,
        task: u32,
        (of, number): (u32, u32),
    ) -> Result<(), String> {
        self.tasks[of as usize].frames[number as usize].done_ns = Some(now);
        self.split(now, cpu, task, Step::Done(of, number))
    }

    /// A step in the middle of a task's work on this CPU.
    fn split(&mut self, now: u64, cpu: Option<usize>, task: u32, step: Step) -> Result<(), String> {
        if let Some(cpu) = cpu {
            self.account(cpu, now);
            self.last_ns = self.last_ns.max(now);
        }
        self.flush(task)?;
        self.push(task, step)
    }

    /// Events of the task are missing, or it has ended: nobody knows which of its slices are open.
    pub(super) fn forget_slices(&mut self, task: u32) {
        let own = &mut self.tasks[task as usize];
        if own.slices.frame.is_some() {
            self.frames.close(own.process, task);
        }
        own.slices = Slices {
            ended_ns: own.slices.ended_ns,
            ..Slices::default()
        };
    }
}

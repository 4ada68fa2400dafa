//! Frames of chains: when each began, when it was done, and whether that was too late.
//!
//! A frame goes from its first task to those that the task wakes while it works on the frame, and
//! so on. Who takes what was kept for it, and is woken by nobody, works on the oldest open frame;
//! so does whom it wakes then (docs/guide/workloads.md, "Deadlines"). Recordings number their
//! frames: there each end is of a frame by its number (docs/guide/traces-in.md#frames).
//!
//! Made by `collector.rs` for each run; chains come from the workload. Times are ns.
//!
//! What tasks spend their time on is added to each open frame that they hold up: a task that works
//! on a frame holds up that one and all later ones. So a late frame has its time split
//! (`stages.rs`, `late_frames.rs`). Of a dropped one it is noted who was still at work on an
//! earlier frame when it was to be handed on.
//!
//! What must stay: names of metrics. How a frame is judged is the workload's `JudgedFrame`, for
//! recordings as for runs. A frame is given up when a later one of the same thread is done and
//! nobody works on it: no end is its own any more. Each chain has its own metrics, one alone as
//! well. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a change may touch").
//! Tests by part: `frames_by_hand` (`judged`, `report`),
//! `an_end_is_that_of_the_frame_that_was_handed_on` (`woken`, `end`),
//! `a_foreign_wake_hands_on_nothing` (`woken`), `what_was_kept_is_the_oldest_frame`
//! (`open`), `a_lost_frame_is_given_up` (`give_up`, `close`),
//! `an_end_with_a_number_is_of_that_frame` (`end_numbered`),
//! late_frames.rs::`late_frames_are_split_by_hand` (`of_run`, `spent`, `works_on`, `late`),
//! late_frames.rs::`a_dropped_frame_says_who_was_busy` (`sleeps`, `leaves`, `is_under_way`,
//! `takes`), late_frames.rs::`who_goes_on_at_once_leaves_a_frame` (`goes_on`),
//! `the_time_of_a_frame_that_many_follow_is_cut` (`cut`, `MOST_FOLLOWED`), all (`new`,
//! `happened`, `begin`, `done`, `is_open`). No test reaches `MOST_RECENT`.
//!
//! Tests: crates/metrics/src/frames/tests.rs,
//! crates/metrics/src/late_frames.rs::late_frames_are_split_by_hand,
//! crates/metrics/src/late_frames.rs::a_dropped_frame_says_who_was_busy,
//! crates/metrics/src/late_frames.rs::who_goes_on_at_once_leaves_a_frame

mod workers;

use crate::late_frames::LateChain;
use crate::metric::Values;
use crate::stages::{Split, Stretch, Watch};
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_engine::observe::Waking;
use wakeplace_engine::{Happening, Observer};
use wakeplace_platform::Platform;
use wakeplace_workload::{Chain, FrameFigures, JudgedFrame, Workload};
use workers::{Workers, Works};

/// Open frames of a chain whose time is split; of one that so many have followed, the time up to
/// then.
const MOST_FOLLOWED: usize = 16;
/// Stretches that are kept for the next frame, which may begin before it is told.
const MOST_RECENT: usize = 4096;

/// All chains of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    chains: Vec<Record>,
    watch: Watch,
}

#[derive(Clone, Debug)]
struct Record {
    name: String,
    deadline_ns: u64,
    frames: Vec<Frame>,
    /// Frames that are neither done nor given up.
    open: BTreeSet<usize>,
    /// The same by who began them.
    open_of: BTreeSet<(u32, usize)>,
    workers: Workers,
    /// When frames were done that have not begun yet, by number.
    early: BTreeMap<u32, u64>,
    /// Who has worked for the chain.
    members: BTreeSet<u32>,
    /// The frame that each worked on last, and since when.
    last: BTreeMap<u32, (usize, u64)>,
    /// Who has gone to sleep since it began its frame.
    slept: BTreeSet<u32>,
    /// To whom each has handed frames on.
    followers: BTreeMap<u32, BTreeSet<u32>>,
    /// Open frames whose time is split, the oldest first.
    followed: Vec<usize>,
    /// What was done since the last frame began, and whether it held up a frame.
    recent: Vec<(Stretch, bool)>,
}

#[derive(Clone, Debug)]
struct Frame {
    /// Who began it.
    first: u32,
    due_ns: u64,
    end_ns: Option<u64>,
    /// What its time was spent on; None: it was done in time.
    split: Option<Box<Split>>,
    /// Who was still at work on an earlier frame when this one was to be handed on, and how many
    /// frames before.
    behind: Option<(u32, u32)>,
}

impl Record {
    /// No frame has begun yet.
    fn new(chain: &Chain) -> Self {
        Self {
            name: chain.name.clone(),
            deadline_ns: chain.deadline_ns,
            frames: Vec::new(),
            open: BTreeSet::new(),
            open_of: BTreeSet::new(),
            workers: Workers::default(),
            early: BTreeMap::new(),
            members: BTreeSet::new(),
            last: BTreeMap::new(),
            slept: BTreeSet::new(),
            followers: BTreeMap::new(),
            followed: Vec::new(),
            recent: Vec::new(),
        }
    }

    /// The first task begins a frame; `begin_ns` is when it was to begin, and the deadline counts
    /// from there.
    fn begin(&mut self, now_ns: u64, task: u32, begin_ns: u64) {
        self.cut(now_ns);
        let mut split = Split::new(begin_ns);
        for (stretch, holds_up) in &self.recent {
            if *holds_up || stretch.task == task {
                split.add(stretch);
            }
        }
        self.recent.retain(|(stretch, _)| stretch.to_ns > begin_ns);
        let frame = self.frames.len();
        let end_ns = self.early.remove(&(frame as u32));
        if end_ns.is_none() {
            self.followed.push(frame);
            self.open.insert(frame);
            self.open_of.insert((task, frame));
        }
        self.frames.push(Frame {
            first: task,
            due_ns: begin_ns.saturating_add(self.deadline_ns),
            end_ns,
            split: end_ns.is_none().then(|| Box::new(split)),
            behind: None,
        });
        self.takes(now_ns, task, frame);
    }

    /// The task works on this frame from now on, if not already.
    fn takes(&mut self, now_ns: u64, task: u32, frame: usize) {
        self.workers.set(task, Some(Works::On(frame)));
        self.members.insert(task);
        let last = self.last.entry(task).or_insert((frame, now_ns));
        if last.0 != frame {
            *last = (frame, now_ns);
        }
        self.frames[frame].behind = None;
    }

    /// One more frame begins: of the oldest of many that are open the time is split up to here.
    fn cut(&mut self, now_ns: u64) {
        if self.followed.len() >= MOST_FOLLOWED {
            let oldest = self.followed.remove(0);
            if let Some(split) = &mut self.frames[oldest].split {
                split.until_ns = Some(now_ns);
            }
        }
    }

    /// The frame that the task works on now, if it works for the chain.
    fn works_on(&self, task: u32) -> Option<usize> {
        match self.workers.get(task) {
            Some(Works::On(frame)) => Some(frame).filter(|frame| self.is_open(*frame)),
            Some(Works::Elsewhere) => None,
            // As `end` has it: it took what was kept for it.
            None if self.members.contains(&task) => self.open.first().copied(),
            None => None,
        }
    }

    /// A task ran or waited so long: that is time of the frame that it works on, and of those that
    /// have to wait for that.
    fn spent(&mut self, it: &Stretch) {
        let works = self.works_on(it.task);
        self.recent.push((*it, works.is_some()));
        if self.recent.len() > MOST_RECENT {
            self.recent.drain(..MOST_RECENT / 2);
        }
        let Some(works) = works else {
            return;
        };
        for frame in self.followed.iter().filter(|frame| **frame >= works) {
            if let Some(split) = &mut self.frames[*frame].split {
                split.add(it);
            }
        }
    }

    /// Nobody has ended the frame, and somebody may.
    fn is_open(&self, frame: usize) -> bool {
        self.open.contains(&frame)
    }

    /// The woken task works on the waker's frame, on its own, or on none. Returns whether it works
    /// on one.
    fn woken(&mut self, now_ns: u64, it: &Waking) -> bool {
        let works = |task: u32| self.workers.get(task);
        let (waker, own) = (it.waker.and_then(works), works(it.task));
        let on_open = |works| matches!(works, Some(Works::On(frame)) if self.is_open(frame));
        match waker {
            Some(Works::On(handed)) if on_open(waker) => {
                self.takes(now_ns, it.task, handed);
                let waker = it.waker.unwrap_or(it.task);
                self.followers.entry(waker).or_default().insert(it.task);
            }
            // A lock or a timer in the middle of a frame leaves the task on its frame.
            _ if on_open(own) => {}
            // The waker went on with what was kept for it: which frame that is, nobody has said.
            Some(Works::On(_)) => {
                self.workers.set(it.task, None);
            }
            Some(Works::Elsewhere) | None => {
                self.workers.set(it.task, Some(Works::Elsewhere));
            }
        }
        matches!(self.workers.get(it.task), Some(Works::On(_)))
    }

    /// The task's work ends a frame: the one that it is on; if it is on none, the first open one.
    fn end(&mut self, now_ns: u64, task: u32) {
        self.members.insert(task);
        let done = match self.workers.set(task, None) {
            Some(Works::On(frame)) => Some(frame).filter(|frame| self.is_open(*frame)),
            Some(Works::Elsewhere) => None,
            None => self.open.first().copied(),
        };
        if let Some(done) = done {
            self.done(now_ns, done);
            self.last.entry(task).or_insert((done, now_ns)).0 = done;
            let frame = &mut self.frames[done];
            if now_ns <= frame.due_ns {
                frame.split = None;
            }
            self.give_up(done);
        }
    }

    /// This frame is done: earlier ones of the same thread that nobody works on never will be.
    fn give_up(&mut self, done: usize) {
        let first = self.frames[done].first;
        let earlier = self.open_of.range((first, 0)..(first, done));
        let lost = |frame: &usize| self.workers.on(*frame).next().is_none();
        let lost: Vec<usize> = earlier.map(|(_, frame)| *frame).filter(lost).collect();
        for frame in lost {
            self.close(frame);
        }
    }

    /// The frame is open no longer.
    fn close(&mut self, frame: usize) {
        self.open.remove(&frame);
        self.open_of.remove(&(self.frames[frame].first, frame));
        self.followed.retain(|other| *other != frame);
    }

    /// The task goes to sleep.
    fn sleeps(&mut self, task: u32, watch: &Watch) {
        self.leaves(task, watch);
        if self.workers.get(task).is_some() {
            self.slept.insert(task);
        }
    }

    /// The task is about to begin its next frame; it leaves the last one now if it has not slept
    /// since.
    fn goes_on(&mut self, task: u32, watch: &Watch) {
        if !self.slept.remove(&task) {
            self.leaves(task, watch);
        }
    }

    /// The task leaves its frame. If it has handed it on to nobody, it is noted which of those that
    /// follow it was at work on an earlier frame meanwhile.
    fn leaves(&mut self, task: u32, watch: &Watch) {
        let Some(Works::On(frame)) = self.workers.get(task) else {
            return;
        };
        if !self.is_open(frame) || self.workers.on(frame).any(|other| other != task) {
            return;
        }
        let since_ns = self.last.get(&task).map_or(0, |last| last.1);
        let busy = |other: &u32| {
            let last = self.last.get(other).map(|last| last.0);
            let works = self.works_on(*other).filter(|_| watch.is_awake(*other));
            let before = frame.checked_sub(works.or(last)?)?;
            let is_busy = before > 0 && watch.is_awake_since(*other, since_ns);
            is_busy.then_some((*other, before as u32))
        };
        let mut followers = self.followers.get(&task).into_iter().flatten();
        let found = followers.find_map(busy);
        if found.is_some() {
            self.frames[frame].behind = found;
        }
    }

    /// The frame is done, and its time is over.
    fn done(&mut self, now_ns: u64, frame: usize) {
        self.close(frame);
        let frame = &mut self.frames[frame];
        frame.end_ns = Some(now_ns);
        if let Some(split) = &mut frame.split {
            split.until_ns.get_or_insert(now_ns);
        }
    }

    /// The frame of this number is done. It may be drawn twice, and then the last time counts.
    fn end_numbered(&mut self, now_ns: u64, number: u32) {
        if (number as usize) < self.frames.len() {
            self.done(now_ns, number as usize);
        } else {
            self.early.insert(number, now_ns);
        }
    }

    /// The frames that count, in the order of their begins: those whose deadline came in the run.
    fn judged(&self, end_ns: u64) -> impl Iterator<Item = JudgedFrame> + '_ {
        let frames = self.frames.iter();
        frames.filter_map(move |frame| JudgedFrame::of(frame.due_ns, frame.end_ns, end_ns))
    }

    /// What became of the time of its late frames, and why others were dropped.
    fn late(&self, end_ns: u64, watch: &Watch) -> LateChain {
        let mut late = LateChain::new(&self.name, watch.cpu_names());
        for (at, frame) in self.frames.iter().enumerate() {
            let Some(judged) = JudgedFrame::of(frame.due_ns, frame.end_ns, end_ns) else {
                continue;
            };
            match judged {
                JudgedFrame::Dropped if self.is_under_way(at, watch) => late.add_unfinished(),
                JudgedFrame::Dropped => late.add_dropped(frame.behind),
                JudgedFrame::Done(_) if judged.is_missed() => {
                    late.add_late(frame.split.as_deref(), end_ns);
                }
                JudgedFrame::Done(_) => {}
            }
            late.frames += 1;
        }
        late
    }

    /// At the end of the run somebody is at work on it.
    fn is_under_way(&self, frame: usize, watch: &Watch) -> bool {
        self.workers.on(frame).any(|task| watch.is_awake(task))
    }
}

impl Frames {
    /// One record for each chain, in their order. Tasks are followed by `watch`.
    pub(crate) fn new(chains: &[Chain], watch: Watch) -> Self {
        let chains = chains.iter().map(Record::new).collect();
        Self { chains, watch }
    }

    /// Of a workload on a platform. Without chains nothing is followed.
    pub(crate) fn of_run(platform: &Platform, workload: &Workload) -> Self {
        match workload.chains.as_slice() {
            [] => Self::default(),
            chains => Self::new(chains, Watch::new(platform, workload)),
        }
    }

    /// The late and dropped frames of each chain, in their order.
    pub(crate) fn late(&self, end_ns: u64) -> Vec<LateChain> {
        let chains = self.chains.iter();
        let late = chains.map(|chain| chain.late(end_ns, &self.watch));
        late.collect()
    }

    /// Enters the metrics, if there are chains and frames.
    pub(crate) fn report(&self, end_ns: u64, values: &mut Values) {
        let all = FrameFigures::of(self.chains.iter().map(|chain| chain.judged(end_ns)));
        if all.frames == 0 {
            return;
        }
        values.count("frames_total", all.frames);
        values.count("late_frames_total", all.late());
        values.count("dropped_frames_total", all.dropped);
        values.count("missed_frames_total", all.missed);
        let share = all.missed as f64 / all.frames as f64;
        values.set("missed_frames_pct", share * 100.0);
        values.count("missed_frames_streak_total", all.streak_max);
        for chain in &self.chains {
            let (own, name) = (FrameFigures::of([chain.judged(end_ns)]), &chain.name);
            values.count(&format!("frames_of_{name}_total"), own.frames);
            values.count(&format!("missed_frames_of_{name}_total"), own.missed);
            values.count(&format!("dropped_frames_of_{name}_total"), own.dropped);
        }
        let names = [
            "frame_lateness_us_p50",
            "frame_lateness_us_p95",
            "frame_lateness_us_p99",
        ];
        for (name, late_ns) in names.into_iter().zip(all.lateness_ns.into_iter().flatten()) {
            values.set(name, late_ns as f64 / 1e3);
        }
        if let Some(late_ns) = all.latest_ns {
            values.set("frame_lateness_us_max", late_ns as f64 / 1e3);
        }
    }
}

impl Observer for Frames {
    /// Begins, wake-ups and ends of frames, and what tasks do meanwhile.
    #[inline]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        if self.chains.is_empty() {
            return;
        }
        // What was done up to now is time of frames as they were up to now.
        self.watch.happened(time_ns, what);
        for stretch in self.watch.ended.drain(..) {
            for chain in &mut self.chains {
                chain.spent(&stretch);
            }
        }
        match *what {
            Happening::FrameBegin {
                task,
                chain,
                begin_ns,
            } => {
                let chain = &mut self.chains[chain as usize];
                chain.goes_on(task, &self.watch);
                chain.begin(time_ns, task, begin_ns);
                self.watch.follow(task);
            }
            Happening::FrameEnd { task, chain, frame } => {
                let chain = &mut self.chains[chain as usize];
                match frame {
                    None => chain.end(time_ns, task),
                    Some(number) => chain.end_numbered(time_ns, number),
                }
                self.watch.follow(task);
            }
            Happening::Woken(ref it) => {
                // Each chain hears of it, also after one that it works for.
                let mut works = false;
                for chain in &mut self.chains {
                    works |= chain.woken(time_ns, it);
                }
                if works {
                    self.watch.follow(it.task);
                }
            }
            Happening::RunStop { task, stop, .. } if stop.sleeps() => {
                for chain in &mut self.chains {
                    chain.sleeps(task, &self.watch);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;

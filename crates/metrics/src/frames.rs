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
//! on a frame holds up that one and all later ones. So a late or dropped frame has its time split
//! (`stages.rs`, `late_frames.rs`).
//!
//! What must stay: names of metrics. How a frame is judged is the workload's `JudgedFrame`, for
//! recordings as for runs. Each chain has its own metrics, one alone as well. Free: what leaves
//! every figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `frames_by_hand` (`judged`, `report`),
//! `an_end_is_that_of_the_frame_that_was_handed_on` (`woken`, `end`),
//! `a_foreign_wake_hands_on_nothing` (`Works::Elsewhere`), `what_was_kept_is_the_oldest_frame`
//! (`first_open`), `an_end_with_a_number_is_of_that_frame` (`end_numbered`, `pass_done`),
//! late_frames.rs::`late_frames_are_split_by_hand` (`of_run`, `spent`, `works_on`, `cut`, `late`),
//! `the_time_of_a_frame_that_many_follow_is_cut` (`cut`, `MOST_FOLLOWED`), all (`new`, `happened`,
//! `begin`, `done`, `is_open`); `one`, `wake` and `values` are the tests' own. No test reaches
//! `MOST_RECENT`.
//!
//! Tests: below, crates/metrics/src/late_frames.rs::late_frames_are_split_by_hand

use crate::late_frames::LateChain;
use crate::metric::Values;
use crate::stages::{Split, Stretch, Watch};
use std::collections::{BTreeMap, BTreeSet};
use wakeplace_engine::observe::Waking;
use wakeplace_engine::{Happening, Observer};
use wakeplace_platform::Platform;
use wakeplace_workload::{Chain, FrameFigures, JudgedFrame, Workload};

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
    /// All before this one are done.
    first_open: usize,
    /// What each task works on.
    of_task: BTreeMap<u32, Works>,
    /// When frames were done that have not begun yet, by number.
    early: BTreeMap<u32, u64>,
    /// Who has worked for the chain.
    members: BTreeSet<u32>,
    /// Open frames whose time is split, the oldest first.
    followed: Vec<usize>,
    /// What was done since the last frame began, and whether it held up a frame.
    recent: Vec<(Stretch, bool)>,
}

#[derive(Clone, Debug)]
struct Frame {
    due_ns: u64,
    end_ns: Option<u64>,
    /// What its time was spent on; None: it was done in time.
    split: Option<Box<Split>>,
    /// The same up to the begin of the next frame.
    cut: Option<Box<Split>>,
}

#[derive(Clone, Copy, Debug)]
enum Works {
    /// On this frame.
    On(usize),
    /// On none: it was woken by somebody who works on none, and has not been handed one.
    Elsewhere,
}

impl Record {
    /// No frame has begun yet.
    fn new(chain: &Chain) -> Self {
        Self {
            name: chain.name.clone(),
            deadline_ns: chain.deadline_ns,
            frames: Vec::new(),
            first_open: 0,
            of_task: BTreeMap::new(),
            early: BTreeMap::new(),
            members: BTreeSet::new(),
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
        self.of_task.insert(task, Works::On(frame));
        self.members.insert(task);
        let end_ns = self.early.remove(&(frame as u32));
        if end_ns.is_none() {
            self.followed.push(frame);
        }
        self.frames.push(Frame {
            due_ns: begin_ns.saturating_add(self.deadline_ns),
            end_ns,
            split: end_ns.is_none().then(|| Box::new(split)),
            cut: None,
        });
    }

    /// Another frame begins: one that is never done counts up to here.
    fn cut(&mut self, now_ns: u64) {
        let until = |split: &Split| {
            let until_ns = Some(now_ns);
            Box::new(Split {
                until_ns,
                ..split.clone()
            })
        };
        if let Some(last) = self.frames.last_mut()
            && last.end_ns.is_none()
        {
            last.cut = last.split.as_deref().map(until);
        }
        if self.followed.len() >= MOST_FOLLOWED {
            let oldest = self.followed.remove(0);
            if let Some(split) = &mut self.frames[oldest].split {
                split.until_ns = Some(now_ns);
            }
        }
    }

    /// The frame that the task works on now, if it works for the chain.
    fn works_on(&self, task: u32) -> Option<usize> {
        match self.of_task.get(&task) {
            Some(Works::On(frame)) => Some(*frame).filter(|frame| self.is_open(*frame)),
            Some(Works::Elsewhere) => None,
            // As `end` has it: it took what was kept for it.
            None if self.members.contains(&task) => {
                Some(self.first_open).filter(|frame| *frame < self.frames.len())
            }
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

    /// Nobody has ended the frame yet.
    fn is_open(&self, frame: usize) -> bool {
        self.frames[frame].end_ns.is_none()
    }

    /// The woken task works on the waker's frame, on its own, or on none. Returns whether it works
    /// on one.
    fn woken(&mut self, it: &Waking) -> bool {
        let works = |task: u32| self.of_task.get(&task).copied();
        let (waker, own) = (it.waker.and_then(works), works(it.task));
        let on_open = |works| matches!(works, Some(Works::On(frame)) if self.is_open(frame));
        match waker {
            Some(handed) if on_open(waker) => {
                self.of_task.insert(it.task, handed);
            }
            // A lock or a timer in the middle of a frame leaves the task on its frame.
            _ if on_open(own) => {}
            // The waker went on with what was kept for it: which frame that is, nobody has said.
            Some(Works::On(_)) => {
                self.of_task.remove(&it.task);
            }
            Some(Works::Elsewhere) | None => {
                self.of_task.insert(it.task, Works::Elsewhere);
            }
        }
        let works = matches!(self.of_task.get(&it.task), Some(Works::On(_)));
        if works {
            self.members.insert(it.task);
        }
        works
    }

    /// The task's work ends a frame: the one that it is on; if it is on none, the first open one.
    fn end(&mut self, now_ns: u64, task: u32) {
        self.members.insert(task);
        let done = match self.of_task.remove(&task) {
            Some(Works::On(frame)) => Some(frame).filter(|frame| self.is_open(*frame)),
            Some(Works::Elsewhere) => None,
            None => {
                let mut frames = self.first_open..self.frames.len();
                frames.find(|frame| self.is_open(*frame))
            }
        };
        if let Some(frame) = done {
            self.done(now_ns, frame);
            let frame = &mut self.frames[frame];
            if now_ns <= frame.due_ns {
                frame.split = None;
            }
        }
        self.pass_done();
    }

    /// The frame is done, and its time is over.
    fn done(&mut self, now_ns: u64, frame: usize) {
        self.followed.retain(|other| *other != frame);
        let frame = &mut self.frames[frame];
        frame.end_ns = Some(now_ns);
        frame.cut = None;
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
        self.pass_done();
    }

    /// Goes on to the first frame that is open.
    fn pass_done(&mut self) {
        let is_done = |frame: &Frame| frame.end_ns.is_some();
        let done = self.frames[self.first_open..]
            .iter()
            .take_while(|frame| is_done(frame));
        self.first_open += done.count();
    }

    /// The frames that count, in the order of their begins: those whose deadline came in the run.
    fn judged(&self, end_ns: u64) -> impl Iterator<Item = JudgedFrame> + '_ {
        let frames = self.frames.iter();
        frames.filter_map(move |frame| JudgedFrame::of(frame.due_ns, frame.end_ns, end_ns))
    }

    /// What became of the time of its late and dropped frames.
    fn late(&self, end_ns: u64, cpu_names: &[String]) -> LateChain {
        let mut late = LateChain::new(&self.name, cpu_names);
        for frame in &self.frames {
            let Some(judged) = JudgedFrame::of(frame.due_ns, frame.end_ns, end_ns) else {
                continue;
            };
            let split = frame.split.as_deref();
            match judged {
                JudgedFrame::Dropped => late.add_late(frame.cut.as_deref().or(split), end_ns),
                JudgedFrame::Done(_) if judged.is_missed() => late.add_late(split, end_ns),
                JudgedFrame::Done(_) => {}
            }
            late.frames += 1;
        }
        late
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

    /// The time of late and dropped frames of each chain, in their order.
    pub(crate) fn late(&self, end_ns: u64) -> Vec<LateChain> {
        let chains = self.chains.iter();
        let names = self.watch.cpu_names();
        chains.map(|chain| chain.late(end_ns, names)).collect()
    }

    /// Enters the metrics, if there are chains and frames.
    pub(crate) fn report(&self, end_ns: u64, values: &mut Values) {
        let all = FrameFigures::of(self.chains.iter().map(|chain| chain.judged(end_ns)));
        if all.frames == 0 {
            return;
        }
        values.count("frames_total", all.frames);
        values.count("dropped_frames_total", all.dropped);
        values.count("missed_frames_total", all.missed);
        let share = all.missed as f64 / all.frames as f64;
        values.set("missed_frames_pct", share * 100.0);
        values.count("missed_frames_streak_total", all.streak_max);
        for chain in &self.chains {
            let (own, name) = (FrameFigures::of([chain.judged(end_ns)]), &chain.name);
            values.count(&format!("frames_of_{name}_total"), own.frames);
            values.count(&format!("missed_frames_of_{name}_total"), own.missed);
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
                self.chains[chain as usize].begin(time_ns, task, begin_ns);
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
                    works |= chain.woken(it);
                }
                if works {
                    self.watch.follow(it.task);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Frames;
    use crate::metric::Values;
    use crate::stages::Watch;
    use wakeplace_engine::observe::Waking;
    use wakeplace_engine::{Observer, happen};
    use wakeplace_workload::Chain;

    const MS: u64 = 1_000_000;

    fn one(deadline_ms: u64) -> Frames {
        let chain = Chain {
            name: "screen".to_owned(),
            deadline_ns: deadline_ms * MS,
            known: None,
            recorded: None,
        };
        Frames::new(&[chain], Watch::default())
    }

    fn wake(frames: &mut Frames, at: u64, waker: Option<u32>, task: u32) {
        let (cpu, sync) = (0, false);
        happen!(frames, at => Woken(Waking { task, waker, cpu, sync }));
    }

    fn values(frames: &Frames, end_ns: u64) -> Values {
        let mut values = Values::default();
        frames.report(end_ns, &mut values);
        values
    }

    /// Goal: by hand, deadline 10 ms, two tasks: frames begin at 0, 16, 32, 48 and 64 ms; they end
    /// at 9, 30 (late by 4), never, 60 (late by 2), and the last is not due when the run ends at
    /// 70. So 4 frames, 3 missed, all in a row, one of them dropped, and lateness -1, 2 and 4 ms.
    #[test]
    fn frames_by_hand() {
        let mut frames = one(10);
        for (frame, end) in [Some(9), Some(30), None, Some(60), None]
            .into_iter()
            .enumerate()
        {
            let begin_ns = 16 * MS * frame as u64;
            wake(&mut frames, begin_ns, None, 0);
            happen!(frames, begin_ns => FrameBegin { task: 0, chain: 0, begin_ns });
            if let Some(end) = end {
                wake(&mut frames, begin_ns + MS, Some(0), 1);
                happen!(frames, end * MS => FrameEnd { task: 1, chain: 0, frame: None });
            }
        }
        let values = values(&frames, 70 * MS);
        for (name, expected) in [
            ("frames_total", 4.0),
            ("missed_frames_total", 3.0),
            ("missed_frames_streak_total", 3.0),
            ("frame_lateness_us_p50", 2000.0),
            ("dropped_frames_total", 1.0),
            ("frame_lateness_us_p95", 4000.0),
            ("frame_lateness_us_p99", 4000.0),
            ("frame_lateness_us_max", 4000.0),
        ] {
            assert_eq!(values.get(name), Some(expected), "{name}");
        }
        // One chain has its own figures, too. Three of four are 75 %.
        assert_eq!(values.get("frames_of_screen_total"), Some(4.0));
        assert_eq!(values.get("missed_frames_of_screen_total"), Some(3.0));
        assert_eq!(values.get("missed_frames_pct"), Some(75.0));
    }

    /// Goal: two frames are under way at once, and each end is that of the frame which was handed
    /// on; a pass of the last task that somebody else has started ends none.
    #[test]
    fn an_end_is_that_of_the_frame_that_was_handed_on() {
        let mut frames = one(10);
        for begin in [0, 5] {
            happen!(frames, begin => FrameBegin { task: 0, chain: 0, begin_ns: begin * MS });
            wake(&mut frames, begin * MS, Some(0), 1 + u32::from(begin > 0));
        }
        wake(&mut frames, 6 * MS, Some(9), 3);
        happen!(frames, 7 * MS => FrameEnd { task: 3, chain: 0, frame: None });
        happen!(frames, 8 * MS => FrameEnd { task: 2, chain: 0, frame: None });
        happen!(frames, 12 * MS => FrameEnd { task: 1, chain: 0, frame: None });
        let values = values(&frames, 20 * MS);
        assert_eq!(values.get("missed_frames_total"), Some(1.0));
        assert_eq!(values.get("frame_lateness_us_p50"), Some(-7000.0));
        assert_eq!(values.get("frame_lateness_us_p99"), Some(2000.0));
    }

    /// Goal: a task in the middle that is woken by somebody else, after its frame is done, hands on
    /// no frame; so the next one is not ended before its time.
    #[test]
    fn a_foreign_wake_hands_on_nothing() {
        let mut frames = one(10);
        happen!(frames, 0 => FrameBegin { task: 0, chain: 0, begin_ns: 0 });
        wake(&mut frames, 0, Some(0), 1);
        wake(&mut frames, MS, Some(1), 2);
        happen!(frames, 2 * MS => FrameEnd { task: 2, chain: 0, frame: None });
        happen!(frames, 16 * MS => FrameBegin { task: 0, chain: 0, begin_ns: 16 * MS });
        wake(&mut frames, 17 * MS, Some(9), 1);
        wake(&mut frames, 18 * MS, Some(1), 2);
        happen!(frames, 19 * MS => FrameEnd { task: 2, chain: 0, frame: None });
        wake(&mut frames, 28 * MS, Some(0), 1);
        wake(&mut frames, 29 * MS, Some(1), 2);
        happen!(frames, 30 * MS => FrameEnd { task: 2, chain: 0, frame: None });
        let values = values(&frames, 40 * MS);
        assert_eq!(values.get("missed_frames_total"), Some(1.0));
        assert_eq!(values.get("frame_lateness_us_p99"), Some(4000.0));
    }

    /// Goal: a task that takes a kept unit without sleeping works on the oldest open frame.
    #[test]
    fn what_was_kept_is_the_oldest_frame() {
        let mut frames = one(10);
        for begin in [0, 2, 4] {
            happen!(frames, begin * MS => FrameBegin { task: 0, chain: 0, begin_ns: begin * MS });
        }
        for end in [9, 11, 13] {
            happen!(frames, end * MS => FrameEnd { task: 1, chain: 0, frame: None });
        }
        assert_eq!(
            values(&frames, 20 * MS).get("missed_frames_total"),
            Some(0.0)
        );
        assert_eq!(
            values(&frames, 20 * MS).get("frame_lateness_us_p99"),
            Some(-1000.0)
        );
    }

    /// Goal: by hand, deadline 10 ms: an end with a number is that frame's, whoever the task works
    /// for; of two ends the later counts, and one before its begin is kept. Frames begin at 0, 16
    /// and 32 ms and end at 6 and 12 (late by 2), at 20 (told before the second end of the first;
    /// early by 6), and at 31 (early by 11).
    #[test]
    fn an_end_with_a_number_is_of_that_frame() {
        let mut frames = one(10);
        let begin = |frames: &mut Frames, at: u64| {
            happen!(frames, at * MS => FrameBegin { task: 0, chain: 0, begin_ns: at * MS });
        };
        let end = |frames: &mut Frames, at: u64, number: u32| {
            wake(frames, at * MS, Some(9), 1);
            happen!(frames, at * MS => FrameEnd { task: 1, chain: 0, frame: Some(number) });
        };
        begin(&mut frames, 0);
        end(&mut frames, 6, 0);
        begin(&mut frames, 16);
        end(&mut frames, 20, 1);
        end(&mut frames, 12, 0);
        end(&mut frames, 31, 2);
        begin(&mut frames, 32);
        let values = values(&frames, 50 * MS);
        for (name, expected) in [
            ("frames_total", 3.0),
            ("missed_frames_total", 1.0),
            ("dropped_frames_total", 0.0),
            ("frame_lateness_us_p50", -6000.0),
            ("frame_lateness_us_p99", 2000.0),
        ] {
            assert_eq!(values.get(name), Some(expected), "{name}");
        }
    }

    /// Goal: 20 frames begin every 16 ms and none is done, but the first at 400 ms. Its time is cut
    /// when the 16th after it begins, at 256 ms; 18 are dropped and take 16 ms each; the last takes
    /// from 304 ms to the end at 400: 256 + 288 + 96 = 640 ms.
    #[test]
    fn the_time_of_a_frame_that_many_follow_is_cut() {
        let mut frames = one(10);
        for begin_ns in (0..20).map(|frame| frame * 16 * MS) {
            happen!(frames, begin_ns => FrameBegin { task: 0, chain: 0, begin_ns });
        }
        happen!(frames, 400 * MS => FrameEnd { task: 1, chain: 0, frame: Some(0) });
        let late = &frames.late(400 * MS)[0];
        assert_eq!((late.frames, late.late), (20, 20));
        assert_eq!(late.time_ns, u128::from(640 * MS));
    }
}

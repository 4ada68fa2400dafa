//! What became of frames with deadlines: in time, late, or never done
//! (docs/guide/workloads.md, "Deadlines"). Runs and recordings are judged by the same rule.
//!
//! What must stay: a frame whose deadline lies behind the end is not judged; one is missed from one
//! nanosecond after its deadline; a percentile of lateness is the least value that so many are not
//! above; a streak is of one chain. Times are ns. Free: words. Tests by part: `figures_by_hand`
//! (`of`, `is_missed`, `FrameFigures::of`, `late`), `without_frames_nothing_is_late`
//! (`FrameFigures::of`).
//!
//! Callers: crates/metrics/src/frames.rs, crates/trace/src/replay/deadlines.rs.
//!
//! Tests: below

/// A frame that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedFrame {
    /// From its deadline to its end, ns; negative: early.
    Done(i64),
    /// Its deadline came, and it was never done.
    Dropped,
}

/// A time as a number with a sign; one past 292 years is that long.
fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

impl JudgedFrame {
    /// A frame with its deadline and its end, if it was done, of what ended at `end_ns`; None: it
    /// does not count, since its deadline had not come.
    #[must_use]
    pub fn of(due_ns: u64, done_ns: Option<u64>, end_ns: u64) -> Option<Self> {
        if due_ns > end_ns {
            return None;
        }
        let late = |done_ns| signed(done_ns) - signed(due_ns);
        Some(done_ns.map_or(Self::Dropped, |done_ns| Self::Done(late(done_ns))))
    }

    /// Dropped, or done later than its deadline by a nanosecond or more.
    #[must_use]
    pub fn is_missed(self) -> bool {
        matches!(self, Self::Dropped | Self::Done(1..))
    }
}

/// What the frames of chains came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameFigures {
    /// Frames that count.
    pub frames: u64,
    /// Those of them that were missed.
    pub missed: u64,
    /// Those of them that were never done.
    pub dropped: u64,
    /// The longest streak of missed frames of one chain.
    pub streak_max: u64,
    /// From the deadline to the end: median, 95th and 99th percentile of those that were done, ns.
    pub lateness_ns: Option<[i64; 3]>,
    /// From the deadline to the end of the latest of those that were done, ns.
    pub latest_ns: Option<i64>,
}

impl FrameFigures {
    /// The percentiles of `lateness_ns`.
    pub const PERCENTS: [usize; 3] = [50, 95, 99];

    /// Missed frames that were done, after their deadline.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.missed - self.dropped
    }

    /// Of chains, each with its frames in the order of their begins.
    #[must_use]
    pub fn of(chains: impl IntoIterator<Item = impl IntoIterator<Item = JudgedFrame>>) -> Self {
        let (mut this, mut late) = (Self::default(), Vec::new());
        for chain in chains {
            let mut streak = 0;
            for frame in chain {
                match frame {
                    JudgedFrame::Done(late_ns) => late.push(late_ns),
                    JudgedFrame::Dropped => this.dropped += 1,
                }
                this.frames += 1;
                this.missed += u64::from(frame.is_missed());
                streak = if frame.is_missed() { streak + 1 } else { 0 };
                this.streak_max = this.streak_max.max(streak);
            }
        }
        late.sort_unstable();
        this.latest_ns = late.last().copied();
        let percentile = |percent: usize| {
            let rank = (late.len() * percent).div_ceil(100).max(1);
            late[rank - 1]
        };
        this.lateness_ns = (!late.is_empty()).then(|| Self::PERCENTS.map(percentile));
        this
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameFigures, JudgedFrame};

    /// By hand, deadlines 10, 20, 30 and 40: ends at 9 (early by 1), 24 (late by 4), never, and 42
    /// (late by 2); one that is due at 50 does not count at 45. In the other chain one is done on
    /// time, and one late by 1. Of -1, 0, 1, 2, 4 the median is the third, the others are the last.
    #[test]
    fn figures_by_hand() {
        let of = |frames: &[(u64, Option<u64>)]| -> Vec<JudgedFrame> {
            let judged = frames.iter();
            judged
                .filter_map(|(due, done)| JudgedFrame::of(*due, *done, 45))
                .collect()
        };
        let one = of(&[
            (10, Some(9)),
            (20, Some(24)),
            (30, None),
            (40, Some(42)),
            (50, Some(44)),
        ]);
        let other = of(&[(10, Some(10)), (20, Some(21))]);
        let expected = FrameFigures {
            frames: 6,
            missed: 4,
            dropped: 1,
            streak_max: 3,
            lateness_ns: Some([1, 4, 4]),
            latest_ns: Some(4),
        };
        assert_eq!(FrameFigures::of([one, other]), expected);
        assert_eq!(expected.late(), 3);
    }

    #[test]
    fn without_frames_nothing_is_late() {
        let none: [Vec<JudgedFrame>; 1] = [Vec::new()];
        assert_eq!(FrameFigures::of(none), FrameFigures::default());
        let dropped = FrameFigures::of([[JudgedFrame::Dropped]]);
        assert_eq!((dropped.missed, dropped.lateness_ns), (1, None));
        assert_eq!(dropped.latest_ns, None);
    }
}

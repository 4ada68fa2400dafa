//! Frames of chains: which end is whose, and what becomes of those that have none.
//! Page: docs/guide/workloads.md#deadlines.
//!
//! What must stay: every time is written down by hand; figures are worked from these. Helpers, and
//! who fails with them: `one`, `wake` and `values` (all tests); `begin_handed`
//! (`a_lost_frame_is_given_up`).
//! Tests by part: crates/metrics/src/frames.rs says which test tries which function.

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
/// 70. So 4 frames, 3 missed, all in a row, one of them dropped and two late, and of those that
/// ended lateness -1, 2 and 4 ms.
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
        ("late_frames_total", 2.0),
        ("frame_lateness_us_p95", 4000.0),
        ("frame_lateness_us_p99", 4000.0),
        ("frame_lateness_us_max", 4000.0),
    ] {
        assert_eq!(values.get(name), Some(expected), "{name}");
    }
    // One chain has its own figures, too. Three of four are 75 %.
    assert_eq!(values.get("frames_of_screen_total"), Some(4.0));
    assert_eq!(values.get("missed_frames_of_screen_total"), Some(3.0));
    assert_eq!(values.get("dropped_frames_of_screen_total"), Some(1.0));
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

/// A frame of task 0 that it hands to task 1.
fn begin_handed(frames: &mut Frames, at: u64) {
    happen!(frames, at => FrameBegin { task: 0, chain: 0, begin_ns: at });
    wake(frames, at + MS, Some(0), 1);
}

/// Goal: a frame that was lost takes no end of a later one. By hand, deadline 10 ms: the frame of 0
/// is handed to nobody; that of 16 is done at 20, and with it the first is given up. That of 1000
/// is handed to nobody and kept for task 1, which takes it without sleeping: it is done at 1008,
/// early by 2, and not the first one, late by 998. Another task's frame of 1010 is open meanwhile;
/// the end of a frame of task 0 does not give that up: it is done at 1030, late by 10.
#[test]
fn a_lost_frame_is_given_up() {
    let mut frames = one(10);
    happen!(frames, 0 => FrameBegin { task: 0, chain: 0, begin_ns: 0 });
    begin_handed(&mut frames, 16 * MS);
    happen!(frames, 20 * MS => FrameEnd { task: 1, chain: 0, frame: None });
    happen!(frames, 1000 * MS => FrameBegin { task: 0, chain: 0, begin_ns: 1000 * MS });
    happen!(frames, 1008 * MS => FrameEnd { task: 1, chain: 0, frame: None });
    happen!(frames, 1010 * MS => FrameBegin { task: 5, chain: 0, begin_ns: 1010 * MS });
    begin_handed(&mut frames, 1016 * MS);
    happen!(frames, 1020 * MS => FrameEnd { task: 1, chain: 0, frame: None });
    happen!(frames, 1030 * MS => FrameEnd { task: 1, chain: 0, frame: None });
    let values = values(&frames, 2000 * MS);
    for (name, expected) in [
        ("frames_total", 5.0),
        ("dropped_frames_total", 1.0),
        ("late_frames_total", 1.0),
        ("frame_lateness_us_p50", -6000.0),
        ("frame_lateness_us_max", 10_000.0),
    ] {
        assert_eq!(values.get(name), Some(expected), "{name}");
    }
}

/// Goal: 20 frames begin every 16 ms and none is done, but the first at 400 ms. Its time is cut
/// when the 16th after it begins, at 256 ms. The other 19 are dropped: they have no end, and no
/// time.
#[test]
fn the_time_of_a_frame_that_many_follow_is_cut() {
    let mut frames = one(10);
    for begin_ns in (0..20).map(|frame| frame * 16 * MS) {
        happen!(frames, begin_ns => FrameBegin { task: 0, chain: 0, begin_ns });
    }
    happen!(frames, 400 * MS => FrameEnd { task: 1, chain: 0, frame: Some(0) });
    let late = &frames.late(400 * MS)[0];
    assert_eq!((late.frames, late.late, late.dropped), (20, 1, 19));
    assert_eq!(late.time_ns, u128::from(256 * MS));
}

//! How long applications were given for their frames: the expected timeline of Android's
//! FrameTimeline in a Perfetto trace (docs/rules/traces.md#marks). Text has none.
//!
//! What must stay: a begin without an end, or the reverse, says nothing; memory is bounded
//! (`MAX_OPEN`). Free: what leaves the scripts of recordings as they are (ARCHITECTURE.md, "What a
//! change may touch"). Tests by part:
//! `the_expected_timeline_is_the_deadline` (all).
//!
//! Callers: perfetto.rs (`packet`).
//!
//! Tests: crates/trace/tests/all/replay/frames.rs

use super::Sink;
use super::perfetto::{Field, fields};
use std::collections::BTreeMap;

/// Fields of `FrameTimelineEvent` that are looked at.
const EXPECTED_SURFACE_FRAME_START: u32 = 3;
const FRAME_END: u32 = 5;
/// Fields of these.
const COOKIE: u32 = 1;
const PID: u32 = 4;
/// Most frames that have begun and not ended.
const MAX_OPEN: usize = 1 << 16;

/// Frames that have begun: of whom and when, by cookie.
#[derive(Default)]
pub(super) struct Timeline {
    open: BTreeMap<u64, (i32, u64)>,
}

impl Timeline {
    /// One packet's event; what it was given goes to the sink when a frame's time is over.
    pub(super) fn packet(
        &mut self,
        time_ns: u64,
        event: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), String> {
        fields(event, |tag, field| {
            let Field::Bytes(inner) = field else {
                return Ok(());
            };
            let (mut cookie, mut pid) = (None, None);
            if tag == EXPECTED_SURFACE_FRAME_START || tag == FRAME_END {
                fields(inner, |tag, field| {
                    match (tag, field) {
                        (COOKIE, Field::Number(number)) => cookie = Some(number),
                        (PID, Field::Number(number)) => pid = i32::try_from(number).ok(),
                        _ => {}
                    }
                    Ok(())
                })?;
            }
            match (tag, cookie, pid) {
                (EXPECTED_SURFACE_FRAME_START, Some(cookie), Some(pid)) => {
                    if self.open.len() >= MAX_OPEN {
                        self.open.clear();
                    }
                    self.open.insert(cookie, (pid, time_ns));
                }
                (FRAME_END, Some(cookie), _) => {
                    if let Some((pid, begin_ns)) = self.open.remove(&cookie) {
                        sink.expected(pid, time_ns.saturating_sub(begin_ns));
                    }
                }
                _ => {}
            }
            Ok(())
        })
    }
}

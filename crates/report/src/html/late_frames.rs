//! Which tasks took the time of late frames, and who was at work when others were dropped, as a
//! section of a page (docs/guide/workloads.md#deadlines).
//!
//! What must stay: the sentences are those of text. Free: words.
//!
//! Tests by part: `late_frames_are_a_section` (`section_of`).
//!
//! Callers: details.rs (`section_of`).
//!
//! Tests: below

use super::details::{Shown, each, section};
use super::view::{Block, Section};
use crate::late_frames::sentences;

/// The sentences of each case, policy and chain. None: no frame was late or dropped.
pub(super) fn section_of(id: &str, cases: &[Shown<'_>]) -> Option<Section> {
    let mut items = Vec::new();
    for (case, of) in each(cases) {
        let case = match case {
            "" => String::new(),
            case => format!("{case}, "),
        };
        for chain in &of.details.late_frames {
            let told = sentences(chain).map(|told| format!("{case}{}: {told}", of.policy));
            items.extend(told);
        }
    }
    let list = (!items.is_empty()).then_some(Block::List { items });
    section(
        format!("{id}-late-frames"),
        "Late and dropped frames",
        "Which tasks took the time of late frames, from a frame's begin to its end; and which task \
         was still at work on an earlier frame when one was dropped.",
        list.into_iter().collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::section_of;
    use crate::html::details::{Of, Shown};
    use crate::html::view::Block;
    use wakeplace_outcome::{Details, LateFrames, LateTask};

    /// Goal: the policy with late frames has its sentence; the one without has none.
    #[test]
    fn late_frames_are_a_section() {
        let task = LateTask {
            task: "ui".to_owned(),
            running_pct: 25.0,
            waiting_pct: 75.0,
            asleep_pct: 0.0,
            running_on: Some("big".to_owned()),
            running_khz_mean: None,
            waiting_behind: Some("hog".to_owned()),
        };
        let late = Details {
            late_frames: vec![LateFrames {
                chain: "screen".to_owned(),
                frames_per_run: 9.0,
                late_per_run: 2.0,
                late_s_per_run: 0.05,
                tasks: vec![task],
                dropped_per_run: 1.0,
                unfinished_per_run: 1.0,
                dropped_behind: Vec::new(),
            }],
            ..Details::default()
        };
        let none = Details::default();
        let of = |policy: &str, details| Of {
            policy: policy.to_owned(),
            details,
        };
        let shown = |policies| Shown {
            case: String::new(),
            modelled: false,
            policies,
        };
        assert!(section_of("r", &[shown(vec![of("a", &none)])]).is_none());
        let both = [shown(vec![of("a", &none), of("b", &late)])];
        let found = section_of("r", &both).expect("late frames");
        let [Block::List { items }] = found.blocks.as_slice() else {
            panic!("{found:?}");
        };
        let said = "b: late frames of screen (2 of 9): ui 75 % (waiting, behind hog), ui 25 % \
                    (running, on big)";
        let dropped = "b: dropped frames of screen (1 of 9): under way when the run ended (1)";
        assert_eq!(items.as_slice(), [said, dropped]);
    }
}

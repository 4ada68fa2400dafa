//! Which tasks took the time of late frames, and who was still at work when others were dropped, in
//! a sentence each for each chain (docs/guide/workloads.md#deadlines).
//!
//! What must stay: figures are those of `details.late_frames`; the largest stage stands first.
//! Words may change. Tests by part: `a_sentence_names_the_stages` (`late`, `stages`),
//! `dropped_frames_have_a_sentence_of_their_own` (`dropped`, `sentences`),
//! `each_policy_has_its_line` (`lines`),
//! crates/cli/tests/all/late_frames.rs::`late_frames_say_which_task_took_the_time` (`of_runs`, real
//! results); `task` and `chain` are the tests' own.
//!
//! Callers: comparison.rs (`of_runs`, `lines`), html/late_frames.rs (`sentences`).
//!
//! Tests: below, crates/cli/tests/all/late_frames.rs::late_frames_say_which_task_took_the_time

use crate::phrase::{short_policy, wrap};
use crate::{Format, Style, number};
use wakeplace_outcome::{LateFrames, LateTask, Run};
use wakeplace_text::markdown;

/// Stages of a sentence.
const MOST_STAGES: usize = 4;
/// A stage of less is not told, percent.
const LEAST_PCT: f64 = 5.0;

/// What a task ran and waited, each with its share in percent.
fn stages(of: &LateTask) -> [(f64, String); 2] {
    let named = |name: Option<&str>, word: &str| {
        let name = name.filter(|name| !name.is_empty());
        name.map_or_else(String::new, |name| format!(", {word} {name}"))
    };
    let clock = of.running_khz_mean.filter(|khz| *khz > 0.0);
    let clock = clock.map_or_else(String::new, |khz| format!(" at {:.0} MHz", khz / 1e3));
    let ran = format!("running{}{clock}", named(of.running_on.as_deref(), "on"));
    let waited = format!("waiting{}", named(of.waiting_behind.as_deref(), "behind"));
    let told = |pct: f64, doing: &str| (pct, format!("{} {pct:.0} % ({doing})", of.task));
    [told(of.running_pct, &ran), told(of.waiting_pct, &waited)]
}

/// What became of a chain's missed frames: a sentence for late ones, and one for dropped ones.
pub(crate) fn sentences(of: &LateFrames) -> impl Iterator<Item = String> {
    let late = (of.late_per_run > 0.0).then(|| late(of));
    let dropped = (of.dropped_per_run > 0.0).then(|| dropped(of));
    late.into_iter().chain(dropped)
}

/// Who was still at work when frames were dropped.
fn dropped(of: &LateFrames) -> String {
    let number = number::short;
    let behind = of.dropped_behind.iter().take(MOST_STAGES).map(|behind| {
        let of = match behind.frames_before {
            1 => "the frame before".to_owned(),
            before => format!("the frame {before} before"),
        };
        let frames = number(behind.dropped_per_run);
        format!("{} was still at work on {of} ({frames})", behind.task)
    });
    let mut told: Vec<String> = behind.collect();
    if of.unfinished_per_run > 0.0 {
        let frames = number(of.unfinished_per_run);
        told.push(format!("under way when the run ended ({frames})"));
    }
    let known: f64 = of.dropped_behind.iter().map(|of| of.dropped_per_run).sum();
    let unknown = of.dropped_per_run - known - of.unfinished_per_run;
    // Means of whole counts: a rest of rounding is none.
    if unknown > 1e-6 {
        let frames = number(unknown);
        told.push(format!(
            "held up by something that is no frame, or taken up by nobody ({frames})"
        ));
    }
    format!(
        "dropped frames of {} ({} of {}): {}",
        of.chain,
        number(of.dropped_per_run),
        number(of.frames_per_run),
        told.join(", ")
    )
}

/// What took the time of a chain's late frames.
fn late(of: &LateFrames) -> String {
    let all = of.tasks.iter().flat_map(stages);
    let mut told: Vec<(f64, String)> = all.filter(|(pct, _)| *pct >= LEAST_PCT).collect();
    // Equal ones stay in the order of the result.
    told.sort_by(|a, b| b.0.total_cmp(&a.0));
    let told: Vec<String> = { told.into_iter() }
        .take(MOST_STAGES)
        .map(|(_, stage)| stage)
        .collect();
    let told = match told.is_empty() {
        true => format!("none of its tasks ran or waited for {LEAST_PCT} % of their time"),
        false => told.join(", "),
    };
    format!(
        "late frames of {} ({} of {}): {told}",
        of.chain,
        number::short(of.late_per_run),
        number::short(of.frames_per_run)
    )
}

/// The late frames of each policy, by the name that tables give it.
pub(crate) fn of_runs(runs: &[Run]) -> Vec<(String, &[LateFrames])> {
    let base = runs.first().map_or("", |run| run.policy.as_str());
    let mut all: Vec<(String, &[LateFrames])> = Vec::new();
    for run in runs {
        let details = run.details.as_ref();
        let late = details.map_or(&[][..], |of| of.late_frames.as_slice());
        all.push((short_policy(base, &run.policy), late));
    }
    all
}

/// A line for late and one for dropped frames of each policy and chain that has some, below a
/// table; empty if there is none. One policy alone is not named.
pub(crate) fn lines(policies: &[(String, &[LateFrames])], format: Format, style: Style) -> String {
    let mut text = String::new();
    for (policy, chains) in policies {
        for own in chains.iter().flat_map(sentences) {
            let line = match policies {
                [_] => own,
                _ => format!("{policy}: {own}"),
            };
            text.push_str(&match format {
                Format::Md => format!("- {}\n", markdown(&line)),
                _ => wrap(&line, style.width) + "\n",
            });
        }
    }
    match text.is_empty() {
        true => text,
        false => format!("\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{late, lines, sentences};
    use crate::{Format, Style};
    use wakeplace_outcome::{DroppedBehind, LateFrames, LateTask};

    fn task(name: &str, running_pct: f64, waiting_pct: f64, behind: Option<&str>) -> LateTask {
        LateTask {
            task: name.to_owned(),
            running_pct,
            waiting_pct,
            asleep_pct: 100.0 - running_pct - waiting_pct,
            running_on: (running_pct > 0.0).then(|| "little".to_owned()),
            running_khz_mean: (running_pct > 0.0).then_some(533_000.0),
            waiting_behind: behind.map(str::to_owned),
        }
    }

    fn chain(tasks: Vec<LateTask>) -> LateFrames {
        LateFrames {
            chain: "screen".to_owned(),
            frames_per_run: 116.0,
            late_per_run: 3.0,
            late_s_per_run: 0.1,
            tasks,
            dropped_per_run: 0.0,
            unfinished_per_run: 0.0,
            dropped_behind: Vec::new(),
        }
    }

    /// Goal: the largest share stands first, whichever task it is of; what is below 5 % is not
    /// told. Of nobody who ran while a task waited no name is told.
    #[test]
    fn a_sentence_names_the_stages() {
        let tasks = vec![
            task("raster", 4.0, 61.0, Some("worker")),
            task("render", 24.0, 7.0, None),
        ];
        assert_eq!(
            late(&chain(tasks)),
            "late frames of screen (3 of 116): raster 61 % (waiting, behind worker), render 24 % \
             (running, on little at 533 MHz), render 7 % (waiting)"
        );
        assert_eq!(
            late(&chain(vec![task("raster", 4.0, 1.0, None)])),
            "late frames of screen (3 of 116): none of its tasks ran or waited for 5 % of their \
             time"
        );
    }

    /// Goal: dropped frames are told apart from late ones, with who was at work on which frame. Of
    /// 7 three and a half were dropped behind `render`, one behind `raster`, one and a half were
    /// under way; so one is left that met nobody at work on an earlier frame.
    #[test]
    fn dropped_frames_have_a_sentence_of_their_own() {
        let behind = |task: &str, frames_before, dropped_per_run| DroppedBehind {
            task: task.to_owned(),
            frames_before,
            dropped_per_run,
        };
        let both = LateFrames {
            dropped_per_run: 7.0,
            unfinished_per_run: 1.5,
            dropped_behind: vec![behind("render", 1, 3.5), behind("raster", 2, 1.0)],
            ..chain(vec![task("ui", 90.0, 0.0, None)])
        };
        let told = "dropped frames of screen (7 of 116): render was still at work on the frame \
                    before (3.500), raster was still at work on the frame 2 before (1), under way \
                    when the run ended (1.500), held up by something that is no frame, or taken \
                    up by nobody (1)";
        let all: Vec<String> = sentences(&both).collect();
        assert_eq!(all.len(), 2);
        assert!(all[0].starts_with("late frames of screen (3 of 116): ui 90 %"));
        assert_eq!(all[1], told);
        let only = LateFrames {
            late_per_run: 0.0,
            ..both
        };
        assert_eq!(sentences(&only).collect::<Vec<_>>(), [told]);
    }

    /// Goal: several policies are named, one alone is not; without late frames there is no line.
    #[test]
    fn each_policy_has_its_line() {
        let late = [chain(vec![task("ui", 90.0, 0.0, None)])];
        let style = Style {
            width: 0,
            ..Style::default()
        };
        let one = [("a".to_owned(), &late[..])];
        let none = [("a".to_owned(), &late[..0])];
        let both = [("a".to_owned(), &late[..0]), ("b".to_owned(), &late[..])];
        let own = "late frames of screen (3 of 116): ui 90 % (running, on little at 533 MHz)\n";
        assert_eq!(lines(&one, Format::Human, style), format!("\n{own}"));
        assert_eq!(lines(&both, Format::Human, style), format!("\nb: {own}"));
        assert_eq!(lines(&both, Format::Md, style), format!("\n- b: {own}"));
        assert_eq!(lines(&none, Format::Human, style), "");
    }
}

//! Which tasks took the time of late and dropped frames, in a sentence for each chain
//! (docs/guide/workloads.md#deadlines).
//!
//! What must stay: figures are those of `details.late_frames`; the largest stage stands first.
//! Words may change. Tests by part: `a_sentence_names_the_stages` (`sentence`, `stages`),
//! `each_policy_has_its_line` (`lines`),
//! crates/cli/tests/all/late_frames.rs::`late_frames_say_which_task_took_the_time` (`of_runs`, real
//! results); `task` and `chain` are the tests' own.
//!
//! Callers: comparison.rs (`of_runs`, `lines`), html/late_frames.rs (`sentence`).
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

/// What took the time of a chain's late frames.
pub(crate) fn sentence(of: &LateFrames) -> String {
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

/// A line for each policy and chain with late frames, below a table; empty if there is none. One
/// policy alone is not named.
pub(crate) fn lines(policies: &[(String, &[LateFrames])], format: Format, style: Style) -> String {
    let mut text = String::new();
    for (policy, chains) in policies {
        for chain in *chains {
            let own = sentence(chain);
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
    use super::{lines, sentence};
    use crate::{Format, Style};
    use wakeplace_outcome::{LateFrames, LateTask};

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
            sentence(&chain(tasks)),
            "late frames of screen (3 of 116): raster 61 % (waiting, behind worker), render 24 % \
             (running, on little at 533 MHz), render 7 % (waiting)"
        );
        assert_eq!(
            sentence(&chain(vec![task("raster", 4.0, 1.0, None)])),
            "late frames of screen (3 of 116): none of its tasks ran or waited for 5 % of their \
             time"
        );
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

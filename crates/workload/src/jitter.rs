//! `--jitter`: what is the same in every run is made to differ with the seed: when the threads of a
//! recording or an rt-app file begin, and how long their run steps take (docs/guide/results.md,
//! "Intervals").
//!
//! Each thread draws from a stream of its own, named `jitter` and by the thread, so that its other
//! draws stay what they are.
//!
//! Called once per seed by `Spec::expand`, after all other draws. The order of draws and names of
//! streams stay: results are by seed. Times are ns, amounts of work parts of a million.
//!
//! What must stay: the stream's name (`jitter` and the thread's) and the order of draws within it;
//! a start moves by at most its amount, as does a run step; a shared timer follows the first of its
//! threads. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part:
//! `starts_and_runs_stay_within_their_amounts_and_differ_with_the_seed` (`apply`),
//! `a_shared_timer_starts_with_the_first_of_its_threads` (`move_timers`),
//! `recorded_is_the_spread_of_the_script_itself` (`of`, `mean_and_sd`), `wrong_amounts_are_named`
//! (`parse`, `percent_ppm`), `amounts_are_printed_as_people_write_them` (`fmt`). `with_jitter` by
//! the first; `expand` and `runs` below are the tests' own.
//!
//! Callers: crates/study/src/catalogue.rs (`with_jitter`), crates/study/src/request.rs
//! (`with_jitter`).
//!
//! Tests: below

use crate::{Event, SLEEPS_ON_NS, Spec, Stream, TaskScript, Workload};
use std::fmt;
use wakeplace_text::{did_you_mean, nearest, parse_duration_or_zero_ns, shorten, time};

/// How much is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// As much for every thread.
    Amounts {
        /// A thread begins up to so much later, ns; each time is as likely.
        start_ns: u64,
        /// Each run step is up to so much shorter or longer, parts of a million; each length is as
        /// likely.
        run_ppm: u64,
    },
    /// As much as the thread's own script varies: it begins up to the standard deviation of its
    /// sleeps later, and its run steps get the relative standard deviation that they have.
    Recorded,
}

/// The whole, in parts of a million.
const MILLION: u64 = 1_000_000;
/// Most that a run step may change: it must not vanish.
const MOST_PPM: u64 = 900_000;
/// A uniform draw within +-a has the standard deviation a / sqrt(3).
const SQRT_3: f64 = 1.732_050_807_568_877_2;

impl Jitter {
    const FORM: &'static str = "expected start=TIME,run=PERCENT, as `start=10ms,run=5%`, or \
                                `recorded`";

    /// `start=10ms,run=5%`, one of them, or `recorded`.
    ///
    /// # Errors
    /// What is wrong and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "recorded" {
            return Ok(Self::Recorded);
        }
        let (mut start_ns, mut run_ppm) = (None, None);
        for part in text.split(',').map(str::trim) {
            let Some((key, value)) = part.split_once('=') else {
                let hint = did_you_mean(nearest(part, ["recorded", "start=", "run="]));
                return Err(format!("`{}`: {}{hint}", shorten(part), Self::FORM));
            };
            let slot = match key.trim() {
                "start" => &mut start_ns,
                "run" => &mut run_ppm,
                other => {
                    let hint = did_you_mean(nearest(other, ["start", "run"]));
                    return Err(format!(
                        "unknown key `{}`; {}{hint}",
                        shorten(other),
                        Self::FORM
                    ));
                }
            };
            let value = match key.trim() {
                "start" => parse_duration_or_zero_ns(value.trim())?,
                _ => percent_ppm(value.trim())?,
            };
            if slot.replace(value).is_some() {
                return Err(format!("`{}` is given twice; {}", key.trim(), Self::FORM));
            }
        }
        Ok(Self::Amounts {
            start_ns: start_ns.unwrap_or(0),
            run_ppm: run_ppm.unwrap_or(0),
        })
    }

    /// Changes the threads that are there at the start, and the run steps of all.
    pub(crate) fn apply(self, workload: &mut Workload, seed: u64) {
        let mut later = Vec::with_capacity(workload.tasks.len());
        for task in &mut workload.tasks {
            let mut stream = Stream::for_task(seed, &format!("jitter {}", task.name));
            let (start_ns, run_ppm) = self.of(task);
            let start_ns = if task.forks.is_some() { 0 } else { start_ns };
            let drawn = stream.below(start_ns.saturating_add(1));
            task.delay_ns += drawn;
            later.push(drawn);
            let events = task.phases.iter_mut().flat_map(|phase| &mut phase.events);
            for event in events {
                if let Event::Run { work_ns: ns } | Event::Runtime { wall_ns: ns } = event {
                    let part = MILLION - run_ppm + stream.below(2 * run_ppm + 1);
                    let changed = u128::from(*ns) * u128::from(part) / u128::from(MILLION);
                    *ns = u64::try_from(changed).unwrap_or(*ns).max((*ns).min(1));
                }
            }
        }
        move_timers(workload, &later);
    }

    /// What a thread may differ by: ns and parts of a million.
    fn of(self, task: &TaskScript) -> (u64, u64) {
        match self {
            Self::Amounts { start_ns, run_ppm } => (start_ns, run_ppm),
            Self::Recorded => {
                let (mut runs, mut sleeps) = (Vec::new(), Vec::new());
                for event in task.phases.iter().flat_map(|phase| &phase.events) {
                    match *event {
                        Event::Run { work_ns: ns } | Event::Runtime { wall_ns: ns } => {
                            runs.push(ns as f64);
                        }
                        Event::Timer { period_ns: ns, .. } | Event::Sleep { duration_ns: ns } => {
                            sleeps.push(ns as f64);
                        }
                        _ => {}
                    }
                }
                // That a recorded thread sleeps on at its end is no habit.
                sleeps.retain(|ns| *ns < SLEEPS_ON_NS as f64);
                let (mean, sd) = mean_and_sd(&runs);
                let relative = if mean > 0.0 { sd / mean } else { 0.0 };
                let run_ppm = (relative * SQRT_3 * MILLION as f64) as u64;
                (mean_and_sd(&sleeps).1 as u64, run_ppm.min(MOST_PPM))
            }
        }
    }
}

/// Mean and sample standard deviation; 0 where there is none.
fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.len() < 2 {
        return (values.first().copied().unwrap_or(0.0), 0.0);
    }
    let mean = values.iter().fold(0.0, |sum, v| sum + v) / n;
    let squares = values
        .iter()
        .fold(0.0, |sum, v| sum + (v - mean) * (v - mean));
    (mean, (squares / (n - 1.0)).sqrt())
}

/// A timer begins with the first of the threads that name it, which may be another one than without
/// jitter: it moves by as much as the shortest of their delays.
fn move_timers(workload: &mut Workload, later: &[u64]) {
    // Of each timer the shortest delay without and with what was drawn.
    let mut first: Vec<Option<(u64, u64)>> = vec![None; workload.timers.len()];
    for (task, later) in workload.tasks.iter().zip(later) {
        let (before, now) = (task.delay_ns - later, task.delay_ns);
        for event in task.phases.iter().flat_map(|phase| &phase.events) {
            if let Event::Timer { timer, .. } = event {
                let first = &mut first[*timer as usize];
                let (b, n) = first.unwrap_or((before, now));
                *first = Some((b.min(before), n.min(now)));
            }
        }
    }
    for (timer, first) in workload.timers.iter_mut().zip(first) {
        let (before, now) = first.unwrap_or((0, 0));
        timer.start_delay_ns += now - before;
    }
}

/// `5%` in parts of a million.
fn percent_ppm(text: &str) -> Result<u64, String> {
    const PPM_PER_PERCENT: u64 = 10_000;
    let number = text.strip_suffix('%').map(str::trim);
    let ppm = number.and_then(|number| wakeplace_text::scaled(number, PPM_PER_PERCENT));
    match ppm.and_then(|ppm| u64::try_from(ppm).ok()) {
        Some(ppm) if ppm <= MOST_PPM => Ok(ppm),
        _ => Err(format!(
            "`{}`: expected a percentage from 0% to 90%, as `5%`",
            shorten(text)
        )),
    }
}

impl fmt::Display for Jitter {
    /// As `parse` reads it: the same amounts again, the time in the unit that fits it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recorded => f.write_str("recorded"),
            Self::Amounts { start_ns, run_ppm } => {
                let percent = *run_ppm as f64 / 10_000.0;
                let start = time(*start_ns).replace(' ', "");
                write!(f, "start={start},run={percent}%")
            }
        }
    }
}

impl Spec {
    /// The same with jitter.
    ///
    /// # Errors
    /// A model: it draws its phases and times from the seed by itself.
    pub fn with_jitter(mut self, jitter: Jitter) -> Result<Self, String> {
        if self.is_model() {
            return Err(format!(
                "workload `{}`: a model draws from the seed by its own keys; expected --jitter \
                 with a recording or an rt-app file",
                shorten(&self.name)
            ));
        }
        self.jitter = Some(jitter);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Jitter;
    use crate::{Event, LoadOptions, MachineFacts, SLEEPS_ON_NS, Spec, Workload};

    const FILE: &str = r#"{"tasks": {"a": {"instance": 2, "loop": -1, "phases": {"p": {
        "loop": -1, "run": 1000, "timer": {"ref": "unique", "period": 10000}}}}}}"#;

    fn expand(jitter: Option<&str>, seed: u64) -> Workload {
        let spec = Spec::parse_rtapp(FILE.as_bytes(), "f.json", &LoadOptions::default());
        let mut spec = spec.expect("valid");
        if let Some(text) = jitter {
            let jitter = Jitter::parse(text).expect(text);
            spec = spec.with_jitter(jitter).expect("a file");
        }
        spec.expand(seed, MachineFacts::alike(4)).expect("it fits")
    }

    fn runs(workload: &Workload) -> Vec<u64> {
        let events = workload.tasks.iter().flat_map(|t| &t.phases[0].events);
        events
            .filter_map(|event| match event {
                Event::Run { work_ns } => Some(*work_ns),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn starts_and_runs_stay_within_their_amounts_and_differ_with_the_seed() {
        let plain = expand(None, 1);
        assert_eq!(
            plain,
            expand(None, 2),
            "an rt-app file does not vary by itself"
        );
        assert_eq!(
            plain,
            expand(Some("start=0ms,run=0%"), 7),
            "no amount, no change"
        );
        let mut seen = std::collections::BTreeSet::new();
        for seed in 1..=50 {
            let drawn = expand(Some("start=5ms,run=10%"), seed);
            for (task, before) in drawn.tasks.iter().zip(&plain.tasks) {
                let later = task.delay_ns - before.delay_ns;
                assert!(later <= 5_000_000, "{later}");
            }
            for (ns, before) in runs(&drawn).into_iter().zip(runs(&plain)) {
                assert!((before * 9 / 10..=before * 11 / 10).contains(&ns), "{ns}");
                seen.insert(ns);
            }
            for (timer, task) in drawn.timers.iter().zip(&drawn.tasks) {
                assert_eq!(
                    timer.start_delay_ns, task.delay_ns,
                    "its timer begins with it"
                );
            }
            assert_eq!(drawn, expand(Some("run=10%,start=5ms"), seed));
        }
        assert!(seen.len() > 90, "{} different lengths of 100", seen.len());
    }

    /// A shared timer starts after the shortest of the delays (docs/guide/rt-app.md), and that is
    /// one with what was drawn: of 0 and 5 ms, and 100 and 1 ms, it is 5 ms.
    #[test]
    fn a_shared_timer_starts_with_the_first_of_its_threads() {
        let mut shared = expand(None, 1);
        for task in &mut shared.tasks {
            task.phases[0].events = vec![Event::Timer {
                timer: 0,
                period_ns: 10,
            }];
        }
        const MS: u64 = 1_000_000;
        let moved = |delays: [u64; 2], drawn: [u64; 2]| {
            let mut workload = shared.clone();
            workload.timers[0].start_delay_ns = delays[0].min(delays[1]) * MS;
            for (task, delay) in workload
                .tasks
                .iter_mut()
                .zip([0, 1].map(|i| delays[i] + drawn[i]))
            {
                task.delay_ns = delay * MS;
            }
            super::move_timers(&mut workload, &drawn.map(|ms| ms * MS));
            workload.timers[0].start_delay_ns / MS
        };
        assert_eq!(moved([0, 100], [5, 1]), 5);
        assert_eq!(moved([2, 3], [5, 1]), 4);
        assert_eq!(moved([7, 7], [0, 0]), 7);
    }

    /// Goal: what is printed reads as the same amounts, with the time as people write it.
    #[test]
    fn amounts_are_printed_as_people_write_them() {
        for (typed, printed) in [
            ("start=5000000ns,run=10%", "start=5ms,run=10%"),
            ("run=2.5%", "start=0ns,run=2.5%"),
            ("start=1.5ms", "start=1.5ms,run=0%"),
            ("start=1500ms", "start=1.5s,run=0%"),
            ("start=1234567891ns", "start=1.234567891s,run=0%"),
            ("recorded", "recorded"),
        ] {
            let jitter = Jitter::parse(typed).expect(typed);
            assert_eq!(jitter.to_string(), printed);
            assert_eq!(Jitter::parse(printed), Ok(jitter), "{printed}");
        }
    }

    /// All runs and sleeps of the file are alike: it has no spread of its own.
    #[test]
    fn recorded_is_the_spread_of_the_script_itself() {
        assert_eq!(expand(Some("recorded"), 3), expand(None, 3));
        let mut task = expand(None, 1).tasks.swap_remove(0);
        // 100 and 300: mean 200, sd sqrt(2 * 100^2 / 1) = 141.42, relative .7071; times sqrt(3) is
        // 1.2247: more than may be, 0.9.
        let run = |work_ns| Event::Run { work_ns };
        let timer = |period_ns| Event::Timer {
            timer: 0,
            period_ns,
        };
        task.phases[0].events = vec![run(100), timer(10), run(300), timer(30)];
        assert_eq!(Jitter::Recorded.of(&task), (14, 900_000));
        // That a recorded task sleeps on at its end changes nothing.
        task.phases[0].events.push(Event::Sleep {
            duration_ns: SLEEPS_ON_NS,
        });
        assert_eq!(Jitter::Recorded.of(&task), (14, 900_000));
        // 198 and 202: sd 2.8284, relative .014142, times sqrt(3) .024495.
        task.phases[0].events = vec![run(198), run(202)];
        assert_eq!(Jitter::Recorded.of(&task), (0, 24_494));
    }

    #[test]
    fn wrong_amounts_are_named() {
        let error = |text: &str| Jitter::parse(text).expect_err(text);
        assert!(error("run=-5%").contains("expected a percentage from 0% to 90%"));
        assert!(error("run=95%").contains("expected a percentage"));
        assert!(error("start=-1ms").contains("expected a time"));
        assert!(error("strat=1ms").contains("did you mean `start`?"));
        assert!(error("recrded").contains("did you mean `recorded`?"));
        assert!(error("run=1%,run=2%").contains("given twice"));
        let model = Spec::parse("periodic:n=1", &LoadOptions::default()).expect("a model");
        let refused = model.with_jitter(Jitter::Recorded).unwrap_err();
        assert!(refused.contains("by its own keys"), "{refused}");
    }
}

//! Utilisation hints that are given beside an rt-app file or a recording: `util_min` and `util_max`
//! of a task (docs/guide/workloads.md, "Hints of tasks").
//!
//! Called by the settings `task.NAME.util_min` and `task.NAME.util_max`, and by sweeps that vary
//! them.
//!
//! What must stay: a hint stands instead of the task's own and of those of all its phases; nothing
//! else of the file changes; at no time is `util_min` above `util_max`, as in files. Tests by part:
//! `a_hint_stands_instead_of_the_files` (`hint`, `with_hints`), `what_is_no_hint_is_named`
//! (`parse`, `fits`, errors), `a_recorded_task_is_hinted_by_its_name` (`hint_recorded`).
//!
//! Tests: below

use super::template::{Task, Template};
use crate::Spec;
use crate::realtime::RealTime;
use crate::script::{TaskScript, Workload, task_of_thread};
use std::collections::BTreeSet;
use wakeplace_text::{did_you_mean, nearest, shorten};

/// What may be given.
const KEYS: [&str; 2] = ["util_min", "util_max"];
/// The most that the kernel takes.
const MOST: u16 = 1024;

/// A hint of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskHint {
    /// Name of the task in its file; of a recorded one also without its number.
    task: String,
    /// `util_max`, else `util_min`.
    is_max: bool,
    value: u16,
}

impl TaskHint {
    /// Reads `NAME.util_min` or `NAME.util_max`, and a value.
    ///
    /// # Errors
    /// What was expected, with the nearest name.
    pub fn parse(key: &str, value: &str) -> Result<Self, String> {
        let forms = || format!("expected NAME.{}", KEYS.join(" or NAME."));
        let (task, hint) = key.rsplit_once('.').ok_or_else(forms)?;
        let Some(place) = KEYS.iter().position(|known| *known == hint) else {
            let near = did_you_mean(nearest(hint, KEYS));
            return Err(format!(
                "there is no `{}`; {}{near}",
                shorten(hint),
                forms()
            ));
        };
        let value = value.trim().parse().ok().filter(|value| *value <= MOST);
        Ok(Self {
            task: task.to_owned(),
            is_max: place == 1,
            value: value.ok_or_else(|| format!("expected a whole number, 0 to {MOST}"))?,
        })
    }

    /// As it was given: key and value.
    #[must_use]
    pub fn pair(&self) -> (String, String) {
        let key = KEYS[usize::from(self.is_max)];
        (format!("{}.{key}", self.task), self.value.to_string())
    }
}

impl Spec {
    /// The same with these hints, instead of those that its file has.
    ///
    /// # Errors
    /// It is no rt-app file and no recording, has no such task, or a hint does not go with the
    /// others.
    pub fn with_hints(mut self, hints: &[TaskHint]) -> Result<Self, String> {
        if hints.is_empty() {
            return Ok(self);
        }
        let name = shorten(&self.name);
        let given = if let Some(template) = self.template() {
            template.hint_all(hints)
        } else if let Some(workload) = self.recording() {
            hint_recorded(workload, hints)
        } else {
            return Err(format!(
                "workload `{name}` is no rt-app file and no recording, whose tasks have these; of \
                 a model `periodic` has the keys uclamp_min and uclamp_max"
            ));
        };
        given.map_err(|why| format!("{name}: {why}"))?;
        self.hints.extend_from_slice(hints);
        Ok(self)
    }
}

impl Template {
    /// Gives the hints to the tasks that they name.
    fn hint_all(&mut self, hints: &[TaskHint]) -> Result<(), String> {
        for hint in hints {
            self.hint(hint)?;
        }
        let is_hinted = |task: &&Task| hints.iter().any(|hint| hint.task == task.name);
        for task in self.tasks.iter().filter(is_hinted) {
            let sets = task.phases.iter().map(|phase| &phase.set);
            let sets = sets.map(|set| (set.uclamp_min, set.uclamp_max));
            let initial = (task.initial.uclamp_min, task.initial.uclamp_max);
            fits(initial, sets).map_err(|why| format!("task `{}`: {why}", task.name))?;
        }
        Ok(())
    }

    /// Gives the hint to all tasks of that name.
    fn hint(&mut self, hint: &TaskHint) -> Result<(), String> {
        let mut found = false;
        for task in &mut self.tasks {
            if task.name != hint.task {
                continue;
            }
            found = true;
            let deadline = |class| matches!(class, RealTime::Deadline { .. });
            if task.initial.attributes.realtime.is_some_and(deadline) {
                return Err(out_of_reach(&hint.task));
            }
            let initial = match hint.is_max {
                true => &mut task.initial.uclamp_max,
                false => &mut task.initial.uclamp_min,
            };
            *initial = Some(hint.value);
            for phase in &mut task.phases {
                match hint.is_max {
                    true => phase.set.uclamp_max = None,
                    false => phase.set.uclamp_min = None,
                }
            }
        }
        if found {
            return Ok(());
        }
        Err(unknown(
            hint,
            self.tasks.iter().map(|task| task.name.as_str()),
        ))
    }
}

/// Gives the hints to the threads of a recording that are called so, with their number or without.
fn hint_recorded(workload: &mut Workload, hints: &[TaskHint]) -> Result<(), String> {
    let is_of = |task: &TaskScript, hint: &TaskHint| {
        task.name == hint.task || task_of_thread(&task.name) == hint.task
    };
    for hint in hints {
        let mut found = false;
        for task in workload.tasks.iter_mut().filter(|task| is_of(task, hint)) {
            found = true;
            if matches!(task.attributes.realtime, Some(RealTime::Deadline { .. })) {
                return Err(out_of_reach(&task.name));
            }
            let changes = task.phases.iter_mut().map(|phase| &mut phase.change);
            match hint.is_max {
                true => changes.for_each(|change| change.uclamp_max = None),
                false => changes.for_each(|change| change.uclamp_min = None),
            }
            match hint.is_max {
                true => task.uclamp_max = Some(hint.value),
                false => task.uclamp_min = Some(hint.value),
            }
        }
        if !found {
            let names = workload.tasks.iter();
            return Err(unknown(hint, names.map(|task| task_of_thread(&task.name))));
        }
    }
    for task in &workload.tasks {
        if hints.iter().any(|hint| is_of(task, hint)) {
            let sets = task.phases.iter().map(|phase| &phase.change);
            let sets = sets.map(|set| (set.uclamp_min, set.uclamp_max));
            let initial = (task.uclamp_min, task.uclamp_max);
            fits(initial, sets).map_err(|why| format!("task `{}`: {why}", task.name))?;
        }
    }
    Ok(())
}

/// The refusal of a hint to a task that has a deadline of the kernel's.
fn out_of_reach(task: &str) -> String {
    format!(
        "task `{task}` is one of SCHED_DEADLINE, which hints do not reach; expected another task"
    )
}

/// The refusal of a hint to nobody, with the nearest of these names.
fn unknown<'a>(hint: &TaskHint, names: impl Iterator<Item = &'a str>) -> String {
    let names: BTreeSet<&str> = names.collect();
    let near = nearest(&hint.task, names.iter().copied());
    let end = match near {
        None => format!("; expected one of {}", list(&names)),
        near => did_you_mean(near),
    };
    format!("it has no task `{}`{end}", shorten(&hint.task))
}

/// Some names, for a message.
fn list(names: &BTreeSet<&str>) -> String {
    const SHOWN: usize = 12;
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| shorten(name)).collect();
    if names.len() > SHOWN {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}

/// The least and the most that are asked for.
type Clamps = (Option<u16>, Option<u16>);

/// With those that a thread begins with and in each phase that sets others, in their order, the
/// least is not above the most.
fn fits(initial: Clamps, sets: impl Iterator<Item = Clamps>) -> Result<(), String> {
    let mut clamps = (initial.0.unwrap_or(0), initial.1.unwrap_or(MOST));
    let all = std::iter::once(clamps).chain(sets.map(|(least, most)| {
        clamps = (least.unwrap_or(clamps.0), most.unwrap_or(clamps.1));
        clamps
    }));
    let wrong = { all }.find(|(least, most)| least > most);
    wrong.map_or(Ok(()), |(least, most)| {
        Err(format!(
            "`util_min` {least} is above `util_max` {most}; expected util_min <= util_max"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::TaskHint;
    use crate::{LoadOptions, MachineFacts, Spec};

    /// `ui` begins with 300 and has 500 in its second phase; `io` has a limit.
    const FILE: &str = r#"{"tasks": {
        "ui": {"util_min": 300, "phases": {
            "a": {"run": 1000, "sleep": 1000},
            "b": {"util_min": 500, "util_max": 800, "run": 1000, "sleep": 1000}}},
        "io.x": {"util_max": 200, "run": 1000, "sleep": 1000},
        "dl": {"policy": "SCHED_DEADLINE", "dl-runtime": 1000, "dl-period": 10000, "run": 1000,
            "timer": {"ref": "t", "period": 10000}}}}"#;

    fn hinted(all: &[(&str, &str)]) -> Result<Spec, String> {
        let spec = Spec::parse_rtapp(FILE.as_bytes(), "f.json", &LoadOptions::default());
        let hints = all.iter().map(|(key, value)| TaskHint::parse(key, value));
        spec.expect("valid")
            .with_hints(&hints.collect::<Result<Vec<_>, _>>()?)
    }

    /// Hints that threads of a task begin with, then those that its phases set, in their order.
    fn clamps(spec: &Spec, name: &str) -> Vec<(Option<u16>, Option<u16>)> {
        let workload = spec.expand(1, MachineFacts::alike(4)).expect("fits");
        let task = workload
            .tasks
            .iter()
            .find(|task| task.name.starts_with(name));
        let task = task.expect("a task");
        let set = task.phases.iter().map(|phase| &phase.change);
        let set = set.map(|change| (change.uclamp_min, change.uclamp_max));
        let own = std::iter::once((task.uclamp_min, task.uclamp_max));
        own.chain(set.filter(|set| *set != (None, None))).collect()
    }

    /// Goal: a hint holds for the whole task, and what it is not about stays.
    #[test]
    fn a_hint_stands_instead_of_the_files() {
        let own = hinted(&[]).expect("valid");
        let expected = [(Some(300), None), (Some(500), Some(800))];
        assert_eq!(clamps(&own, "ui"), expected);
        let spec = hinted(&[("ui.util_min", "700"), ("io.x.util_max", "0")]).expect("valid");
        let expected = [(Some(700), None), (None, Some(800))];
        assert_eq!(clamps(&spec, "ui"), expected);
        assert_eq!(clamps(&spec, "io"), [(None, Some(0))]);
        assert_eq!(clamps(&own, "io"), [(None, Some(200))]);
        let pairs: Vec<_> = spec.hints().map(|hint| hint.pair().0).collect();
        assert_eq!(pairs, ["ui.util_min", "io.x.util_max"]);
        // Both at once: judged when both are there.
        assert!(hinted(&[("io.x.util_min", "900"), ("io.x.util_max", "950")]).is_ok());
    }

    /// Goal: of a recording a hint reaches all threads of a name, with their number or without, and
    /// no other; what is wrong is named. By hand: two threads, `periodic-0` and `periodic-1`.
    #[test]
    fn a_recorded_task_is_hinted_by_its_name() {
        let recorded = |all: &[(&str, &str)]| -> Result<Spec, String> {
            let model = Spec::parse("periodic:n=2", &LoadOptions::default()).expect("valid");
            let workload = model.expand(1, MachineFacts::alike(4)).expect("fits");
            let hints = all.iter().map(|(key, value)| TaskHint::parse(key, value));
            let hints = hints.collect::<Result<Vec<_>, _>>()?;
            Spec::recorded(workload, Vec::new()).with_hints(&hints)
        };
        let of = |all: &[(&str, &str)]| {
            let workload = recorded(all)
                .expect("valid")
                .expand(1, MachineFacts::alike(4));
            let tasks = workload.expect("fits").tasks;
            let clamps = tasks.iter().map(|task| (task.uclamp_min, task.uclamp_max));
            clamps.collect::<Vec<_>>()
        };
        let own = of(&[]);
        assert_eq!(
            of(&[("periodic.util_min", "700")]),
            [(Some(700), own[0].1); 2]
        );
        let one = of(&[("periodic-1.util_max", "300")]);
        assert_eq!(one, [own[0], (own[1].0, Some(300))]);
        for (key, value, said) in [
            ("periodik.util_min", "9", "did you mean `periodic`?"),
            ("zzzzzz.util_min", "9", "expected one of periodic"),
        ] {
            let error = recorded(&[(key, value)]).expect_err(key);
            assert!(error.contains(said), "{error}");
        }
        let both = [("periodic.util_min", "500"), ("periodic-1.util_max", "300")];
        let error = recorded(&both).expect_err("the least is above the most");
        assert!(
            error.contains("task `periodic-1`: `util_min` 500 is above `util_max` 300"),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_hint_is_named() {
        for (key, value, said) in [
            ("ui", "1", "expected NAME.util_min or NAME.util_max"),
            ("ui.util_mim", "1", "did you mean `util_min`?"),
            ("ui.util_min", "1025", "a whole number, 0 to 1024"),
            ("ui.util_min", "5%", "a whole number, 0 to 1024"),
            (
                "uj.util_min",
                "1",
                "f.json: it has no task `uj`; did you mean `ui`?",
            ),
            ("zzzzzz.util_min", "1", "expected one of dl, io.x, ui"),
            (
                "io.x.util_min",
                "201",
                "task `io.x`: `util_min` 201 is above `util_max` 200",
            ),
            (
                "ui.util_min",
                "801",
                "`util_min` 801 is above `util_max` 800",
            ),
            ("dl.util_min", "1", "one of SCHED_DEADLINE"),
        ] {
            let error = hinted(&[(key, value)]).expect_err(key);
            assert!(error.contains(said), "{error}");
        }
        let model = Spec::parse("periodic:n=1", &LoadOptions::default()).expect("valid");
        let hint = TaskHint::parse("a.util_min", "1").expect("a hint");
        let error = model.with_hints(&[hint]).expect_err("a model");
        assert!(error.contains("is no rt-app file"), "{error}");
    }
}

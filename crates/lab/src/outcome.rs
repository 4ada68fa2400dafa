//! What a guest's facts say: which scheduler ran, and whether it was the one asked for
//! (docs/guide/lab.md).
//!
//! What must stay: keys of facts are those that crates/lab/src/guest/run.sh writes
//! (`scheduler_facts`, `stop_scheduler`). A doubt is a failure, never a result. Free: words of
//! failures, but for those that tests quote. Tests by part:
//! `the_scheduler_that_was_asked_for_is_a_result` (`judge`; `kernel_ran`, also without sched_ext),
//! `another_scheduler_is_a_failure_whoever_was_asked_for` (`kernel_ran`, `wakeplace_ran`),
//! `a_scheduler_that_never_came_is_a_failure`, `a_scheduler_that_was_put_out_is_a_failure` and
//! `a_scheduler_that_was_loaded_again_or_ended_badly_is_a_failure` (`wakeplace_ran`, `same_loads`,
//! `exit_kind`), `anybodys_scheduler_is_a_result_if_the_kernel_ran_it_all_the_time` and
//! `a_loader_that_attaches_nothing_is_a_failure` (`loader_ran`, `details`),
//! `names_of_schedulers_are_read` (`from_str`, `fmt`). `parse`, `get` and `number` read facts for
//! all of them; `program` and `is_loader` are looks. Callers: run.rs (`judge`),
//! crates/cli/src/commands/lab.rs (`from_str`).
//!
//! Tests: below

use crate::LabError;
use crate::scheduler::Loader;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Begin of the name under which the live scheduler stands in the kernel.
pub(crate) const OPS: &str = "wakeplace";
/// What the kernel says of a scheduler that was asked to go.
const CLEAN_EXIT: &str = "unregistered from user space";

/// The scheduler of normal tasks in a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scheduler {
    /// The kernel's own.
    Kernel,
    /// `scx_wakeplace`, with a policy or with its default.
    Wakeplace {
        /// A policy's name.
        policy: Option<String>,
    },
    /// Anybody's.
    Loader(Loader),
}

impl FromStr for Scheduler {
    type Err = String;

    /// Those of this project; a [`Loader`] is more than a name.
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "kernel" => Ok(Self::Kernel),
            None if text == OPS => Ok(Self::Wakeplace { policy: None }),
            Some((OPS, policy)) if !policy.is_empty() => Ok(Self::Wakeplace {
                policy: Some(policy.to_owned()),
            }),
            _ => Err(format!(
                "unknown scheduler `{}`; expected `kernel`, `wakeplace`, `wakeplace:POLICY` or the \
                 command of a sched_ext scheduler{}",
                wakeplace_text::shorten(text),
                wakeplace_text::did_you_mean(wakeplace_text::nearest(text, ["kernel", OPS])),
            )),
        }
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel => f.write_str("kernel"),
            Self::Wakeplace { policy: None } => f.write_str(OPS),
            Self::Wakeplace {
                policy: Some(policy),
            } => write!(f, "{OPS}:{policy}"),
            Self::Loader(loader) => f.write_str(&loader.text),
        }
    }
}

impl Scheduler {
    /// Says whether it is anybody's scheduler, with a loader.
    pub(crate) fn is_loader(&self) -> bool {
        matches!(self, Self::Loader(_))
    }

    /// The program that says something.
    fn program(&self) -> &str {
        match self {
            Self::Loader(loader) => {
                let name = loader.program.file_name().and_then(|name| name.to_str());
                name.unwrap_or("the scheduler")
            }
            _ => "scx_wakeplace",
        }
    }
}

/// What is told of the scheduler in a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchedulerReport {
    /// As asked.
    pub asked: String,
    /// `kernel`, or the loaded scheduler's name.
    pub ran: String,
    /// Why the kernel let it go; none for the kernel's own.
    pub exit_kind: Option<String>,
    /// Decisions by reason, if the scheduler told.
    pub reasons: serde_json::Map<String, serde_json::Value>,
}

/// `KEY=VALUE` lines from the guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts(BTreeMap<String, String>);

impl Facts {
    /// Reads them; a key that comes twice has its last value.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let pair = |line: &str| {
            let (key, value) = line.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        };
        Self(text.lines().filter_map(pair).collect())
    }

    /// A fact; `none` if the guest had nothing to say.
    #[must_use]
    pub fn get(&self, key: &str) -> &str {
        self.0.get(key).map_or("none", String::as_str)
    }

    /// A fact that is a number. None: there is none.
    #[must_use]
    pub fn number<T: FromStr>(&self, key: &str) -> Option<T> {
        self.get(key).parse().ok()
    }
}

/// Judges a run by the guest's facts, the kernel's messages and the scheduler's counters.
///
/// # Errors
/// [`LabError::OtherScheduler`] if at any time another scheduler ran than the one asked for.
pub fn judge(
    asked: &Scheduler,
    facts: &Facts,
    dmesg: &str,
    log: &str,
    status: Option<&serde_json::Value>,
) -> Result<SchedulerReport, LabError> {
    let exit_kind = exit_kind(dmesg);
    let why = match asked {
        Scheduler::Kernel => kernel_ran(facts),
        Scheduler::Wakeplace { .. } => wakeplace_ran(facts, exit_kind.as_deref()),
        Scheduler::Loader(_) => loader_ran(facts, exit_kind.as_deref()),
    };
    if let Err(why) = why {
        return Err(LabError::OtherScheduler {
            asked: asked.to_string(),
            why,
            details: details(asked.program(), log, dmesg),
        });
    }
    let (ran, exit_kind) = match asked {
        Scheduler::Kernel => ("kernel".to_owned(), None),
        _ => (facts.get("end_ops").to_owned(), exit_kind),
    };
    let reasons = status.and_then(|status| status["totals"]["reasons"].as_object());
    Ok(SchedulerReport {
        asked: asked.to_string(),
        ran,
        exit_kind,
        reasons: reasons.cloned().unwrap_or_default(),
    })
}

/// No scheduler was loaded, from begin to end.
fn kernel_ran(facts: &Facts) -> Result<(), String> {
    for (moment, state, ops) in [
        ("began", facts.get("begin_state"), facts.get("begin_ops")),
        ("ended", facts.get("end_state"), facts.get("end_ops")),
    ] {
        if !matches!(state, "none" | "disabled") {
            return Err(format!(
                "`{ops}` was loaded ({state}) when the command {moment}"
            ));
        }
    }
    same_loads(facts)
}

/// The live scheduler was loaded from begin to end, and went when it was told to.
fn wakeplace_ran(facts: &Facts, exit_kind: Option<&str>) -> Result<(), String> {
    for (moment, state, ops) in [
        ("began", facts.get("begin_state"), facts.get("begin_ops")),
        ("ended", facts.get("end_state"), facts.get("end_ops")),
    ] {
        if state != "enabled" || !ops.starts_with(OPS) {
            let exit = facts.get("scheduler_exit");
            let ran = match ops {
                "none" => "the kernel's own ran".to_owned(),
                ops => format!("`{ops}` ({state}) ran"),
            };
            return Err(format!(
                "{ran} when the command {moment} (scx_wakeplace's exit code: {exit})"
            ));
        }
    }
    same_loads(facts)?;
    if facts.get("scheduler_alive") != "yes" {
        let exit = facts.get("scheduler_exit");
        return Err(format!(
            "scx_wakeplace ended by itself with exit code {exit}"
        ));
    }
    if let Some(kind) = exit_kind.filter(|kind| *kind != CLEAN_EXIT) {
        return Err(format!("the kernel put it out: {kind}"));
    }
    match facts.get("scheduler_exit") {
        "0" => Ok(()),
        code => Err(format!(
            "scx_wakeplace did not end cleanly: exit code {code} after SIGINT"
        )),
    }
}

/// Anybody's scheduler: it attached one, which was there from begin to end, and went when it was
/// told to. How its loader then ended is its own affair.
fn loader_ran(facts: &Facts, exit_kind: Option<&str>) -> Result<(), String> {
    let alive = facts.get("scheduler_alive") == "yes";
    let exit = facts.get("scheduler_exit");
    let put_out = exit_kind.filter(|kind| *kind != CLEAN_EXIT);
    let put_out = put_out.map_or(String::new(), |kind| {
        format!(" (the kernel put it out: {kind})")
    });
    let (state, ops) = (facts.get("begin_state"), facts.get("begin_ops"));
    if state != "enabled" {
        return Err(match alive {
            true => "it attached nothing for five minutes and was ended".to_owned(),
            false => format!("it ended with exit code {exit} before it ran{put_out}"),
        });
    }
    let end = (facts.get("end_state"), facts.get("end_ops"));
    if end != (state, ops) {
        let ran = match end {
            (_, "none") => "the kernel's own ran".to_owned(),
            (state, ops) => format!("`{ops}` ({state}) ran"),
        };
        return Err(format!(
            "{ran} when the command ended, no more `{ops}`{put_out}"
        ));
    }
    same_loads(facts)?;
    match (alive, put_out.as_str()) {
        (true, "") => Ok(()),
        (true, _) => Err(format!("it was gone at the end{put_out}")),
        (false, _) => Err(format!("it ended by itself with exit code {exit}{put_out}")),
    }
}

/// Nothing was loaded in between.
fn same_loads(facts: &Facts) -> Result<(), String> {
    match (facts.get("begin_loads"), facts.get("end_loads")) {
        (begin, end) if begin == end => Ok(()),
        (begin, end) => Err(format!(
            "schedulers were loaded while the command ran (count {begin} before, {end} after)"
        )),
    }
}

/// The words in parentheses of the kernel's last `BPF scheduler "NAME" disabled (WORDS)`. None:
/// there is no such line.
fn exit_kind(dmesg: &str) -> Option<String> {
    let line = dmesg.lines().rfind(|line| {
        line.contains("sched_ext: BPF scheduler \"") && line.contains("\" disabled (")
    })?;
    let (_, words) = line.split_once("\" disabled (")?;
    Some(words.trim_end().trim_end_matches(')').to_owned())
}

/// The end of what the scheduler and the kernel's sched_ext said.
fn details(program: &str, log: &str, dmesg: &str) -> String {
    let about: Vec<&str> = dmesg
        .lines()
        .filter(|line| line.contains("sched_ext"))
        .collect();
    let mut text = String::new();
    for (who, said) in [(program, log.to_owned()), ("kernel", about.join("\n"))] {
        let said = wakeplace_archive::program::tail(&said, 2_000);
        if !said.is_empty() {
            text.push_str(&format!("\n{who} said:\n{said}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "begin_state=disabled\nbegin_ops=none\nbegin_loads=0\n\
                          end_state=disabled\nend_ops=none\nend_loads=0\ncommand_exit=0\n";
    const WAKEPLACE: &str = "begin_state=enabled\nbegin_ops=wakeplace\nbegin_loads=1\n\
                             end_state=enabled\nend_ops=wakeplace\nend_loads=1\n\
                             scheduler_alive=yes\nscheduler_exit=0\ncommand_exit=0\n";
    const CLEAN: &str = "[    9.5] sched_ext: BPF scheduler \"wakeplace\" enabled\n\
                         [   12.1] sched_ext: BPF scheduler \"wakeplace\" disabled \
                         (unregistered from user space)\n";

    fn asked(text: &str) -> Scheduler {
        text.parse().expect("a scheduler")
    }

    /// The reason for which a run is no result; none if it is one.
    fn failure(scheduler: &str, facts: &str, dmesg: &str) -> Option<String> {
        let judged = judge(&asked(scheduler), &Facts::parse(facts), dmesg, "", None);
        judged.err().map(|error| error.to_string())
    }

    #[test]
    fn the_scheduler_that_was_asked_for_is_a_result() {
        let facts = Facts::parse(WAKEPLACE);
        let status = serde_json::json!({"totals": {"reasons": {"prev-idle": 3}}});
        let report = judge(
            &asked("wakeplace:linux-7.3"),
            &facts,
            CLEAN,
            "",
            Some(&status),
        );
        let report = report.expect("a result");
        assert_eq!(
            (report.ran.as_str(), report.reasons["prev-idle"].as_u64()),
            ("wakeplace", Some(3))
        );
        assert_eq!(
            report.exit_kind.as_deref(),
            Some("unregistered from user space")
        );
        let report = judge(&asked("kernel"), &Facts::parse(KERNEL), "", "", None);
        assert_eq!(report.expect("a result").ran, "kernel");
        // A kernel without sched_ext has no state at all.
        assert_eq!(failure("kernel", "command_exit=0", ""), None);
    }

    #[test]
    fn a_scheduler_that_never_came_is_a_failure() {
        let why = failure("wakeplace", KERNEL, "").expect("a failure");
        assert!(
            why.contains("the kernel's own ran when the command began"),
            "{why}"
        );
    }

    #[test]
    fn a_scheduler_that_was_put_out_is_a_failure() {
        let facts = WAKEPLACE.replace("end_state=enabled\nend_ops=wakeplace", "end_state=disabled");
        let why = failure("wakeplace", &facts, CLEAN).expect("a failure");
        assert!(
            why.contains("the kernel's own ran when the command ended"),
            "{why}"
        );
        let stall = "sched_ext: BPF scheduler \"wakeplace\" disabled (runnable task stall)";
        let why = failure("wakeplace", WAKEPLACE, stall).expect("a failure");
        assert!(why.contains("put it out: runnable task stall"), "{why}");
    }

    #[test]
    fn another_scheduler_is_a_failure_whoever_was_asked_for() {
        let other = WAKEPLACE.replace("ops=wakeplace", "ops=simple");
        for scheduler in ["kernel", "wakeplace"] {
            let why = failure(scheduler, &other, "").expect("a failure");
            assert!(why.contains("`simple`"), "{why}");
        }
        assert!(failure("kernel", WAKEPLACE, CLEAN).is_some());
    }

    #[test]
    fn a_scheduler_that_was_loaded_again_or_ended_badly_is_a_failure() {
        for (from, to) in [
            ("end_loads=1", "end_loads=2"),
            ("scheduler_alive=yes", "scheduler_alive=no"),
            ("scheduler_exit=0", "scheduler_exit=137"),
        ] {
            let why = failure("wakeplace", &WAKEPLACE.replace(from, to), CLEAN);
            assert!(why.is_some(), "{to}");
        }
        assert_eq!(failure("wakeplace", WAKEPLACE, CLEAN), None);
    }

    const LOADER: &str = "begin_state=enabled\nbegin_ops=bpfland_1.1.4\nbegin_loads=1\n\
                          end_state=enabled\nend_ops=bpfland_1.1.4\nend_loads=1\n\
                          scheduler_alive=yes\nscheduler_exit=130\ncommand_exit=0\n";

    /// Says what failed by facts and log of a guest, of anybody's scheduler.
    fn loader_failure(facts: &str, dmesg: &str) -> Option<String> {
        let loader = Scheduler::Loader(Loader {
            text: "./scx_bpfland -m all".to_owned(),
            program: "./scx_bpfland".into(),
            object: None,
            args: Vec::new(),
        });
        let judged = judge(&loader, &Facts::parse(facts), dmesg, "last words", None);
        if let Ok(report) = &judged {
            assert_eq!(report.asked, "./scx_bpfland -m all");
            assert_eq!(report.ran, "bpfland_1.1.4");
        }
        judged.err().map(|error| error.to_string())
    }

    #[test]
    fn anybodys_scheduler_is_a_result_if_the_kernel_ran_it_all_the_time() {
        let clean = CLEAN.replace("wakeplace", "bpfland_1.1.4");
        assert_eq!(loader_failure(LOADER, &clean), None);
        let stall = clean.replace("unregistered from user space", "runnable task stall");
        for (from, to, dmesg, said) in [
            (
                "alive=yes",
                "alive=yes",
                &stall,
                "put it out: runnable task stall",
            ),
            (
                "end_state=enabled\nend_ops=bpfland_1.1.4",
                "end_state=disabled\nend_ops=none",
                &stall,
                "the kernel's own ran when the command ended",
            ),
            (
                "end_ops=bpfland_1.1.4",
                "end_ops=other",
                &clean,
                "`other` (enabled) ran",
            ),
            (
                "end_loads=1",
                "end_loads=2",
                &clean,
                "schedulers were loaded",
            ),
            (
                "alive=yes",
                "alive=no",
                &clean,
                "ended by itself with exit code 130",
            ),
        ] {
            let why = loader_failure(&LOADER.replace(from, to), dmesg).expect(said);
            assert!(why.contains(said), "{why}");
            assert!(why.contains("scx_bpfland said:\nlast words"), "{why}");
        }
    }

    #[test]
    fn a_loader_that_attaches_nothing_is_a_failure() {
        let hangs = LOADER.replace("begin_state=enabled", "begin_state=disabled");
        let why = loader_failure(&hangs, "").expect("a failure");
        assert!(why.contains("attached nothing for five minutes"), "{why}");
        let ends = hangs.replace("alive=yes", "alive=no");
        let why = loader_failure(&ends, "").expect("a failure");
        assert!(
            why.contains("ended with exit code 130 before it ran"),
            "{why}"
        );
    }

    #[test]
    fn names_of_schedulers_are_read() {
        for text in ["kernel", "wakeplace", "wakeplace:linux-7.3+energy-aware"] {
            assert_eq!(asked(text).to_string(), text);
        }
        for text in ["", "wakeplace:", "kernel:x", "eevdf"] {
            assert!(text.parse::<Scheduler>().is_err(), "{text}");
        }
        let error = "wakplace".parse::<Scheduler>().expect_err("no scheduler");
        assert!(error.contains("did you mean `wakeplace`"), "{error}");
    }
}

//! All programs in one guest, under the kernel's own scheduler, their wake-ups recorded
//! (docs/guide/workloads.md, "How it is counted").
//!
//! What must stay: sections of the script and `runs` belong together. Free: what leaves the tables
//! of pages as they are. Tests by part: `what_a_guest_sends_becomes_a_run` (`runs`, `run`),
//! `what_is_no_result_is_refused` (errors of `run`),
//! `the_script_runs_each_program_as_often_as_asked` (`script`); `program` and `sent` are the tests'
//! own. `write_files`, `command` have no test of their own: a guest that is booted shows a fault of
//! theirs.
//!
//! Callers: programs.rs (`runs`).
//!
//! Tests: below

use super::Run;
use super::list::{Program, RT_APP_FILE};
use super::structure::Structure;
use crate::Error;
use crate::guest_text::{LOST, SECTION, TRACER, sections, write_file};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Name of the script in the guest.
const SCRIPT: &str = "programs.sh";

/// The part of the script before the programs. `try_to_wake_up` is what wakes every task; only its
/// arguments say whether the waker will sleep soon. What is of no use is cut out of the lines: a
/// program's trace has some megabytes.
const PROLOGUE: &str = "\
echo 8192 >$t/saved_cmdlines_size
echo 'f:wakeplace/ttwu try_to_wake_up pid=p->pid flags=wake_flags' >$t/dynamic_events || exit 1
for event in sched/sched_switch sched/sched_waking sched/sched_process_fork \\
	sched/sched_process_exec sched/sched_process_exit wakeplace/ttwu; do
	echo 1 >$t/events/$event/enable || exit 1
done
record() {
	title=$1
	after=$2
	shift 2
	echo >$t/trace
	echo \"=== printed $title\"
	echo 1 >$t/tracing_on
	\"$@\"
	code=$?
	echo 0 >$t/tracing_on
	eval \"$after\"
	echo \"=== code $title\"
	echo $code
	echo \"=== lost $title\"
	lost
	echo \"=== trace $title\"
	grep -v -E 'sched_switch: prev_comm=swapper|^#' $t/trace |
		sed -E 's/ (prev_)?prio=[0-9]+//; s/ target_cpu=[0-9]+//; s/ ==> .*//; s/^ +//'
}
echo '=== release'
uname -r
";

/// The files of a run, in a folder; the script is among them.
pub(super) fn write_files(
    programs: &[&Program],
    repeats: u32,
    folder: &Path,
) -> Result<Vec<PathBuf>, Error> {
    Ok(vec![
        write_file(folder, SCRIPT, &script(programs, repeats))?,
        write_file(folder, RT_APP_FILE.0, RT_APP_FILE.1)?,
    ])
}

/// What is run in the guest.
pub(super) fn command() -> Vec<String> {
    // The files are in the folder in which a guest begins.
    vec!["sh".to_owned(), SCRIPT.to_owned()]
}

/// All programs, each as often as asked, with the tracer around.
fn script(programs: &[&Program], repeats: u32) -> String {
    let mut text = [LOST, TRACER, PROLOGUE].concat();
    for repeat in 1..=repeats {
        for program in programs {
            let (key, command) = (program.key, program.command.join(" "));
            let after = program.after;
            let _ = writeln!(text, "record '{key} {repeat}' \"{after}\" {command}");
        }
    }
    text.push_str("exit 0\n");
    debug_assert!(text.contains(SECTION));
    text
}

/// What every program did, by repeat.
pub(super) fn runs(
    text: &str,
    programs: &[&Program],
    repeats: u32,
) -> Result<Vec<Vec<Run>>, Error> {
    let sections = sections(text);
    let of = |program: &&Program| {
        let each = (1..=repeats).map(|repeat| run(&sections, program, repeat));
        each.collect::<Result<Vec<_>, _>>()
    };
    programs.iter().map(of).collect()
}

/// One run of a program, from what the guest sent.
fn run(sections: &BTreeMap<&str, &str>, program: &Program, repeat: u32) -> Result<Run, Error> {
    let title = format!("{} {repeat}", program.key);
    let failed = |why: &str| Error::NoResult(format!("{title} in the guest: {why}"));
    let part = |what: &str| {
        let name = format!("{what} {title}");
        let found = sections.get(name.as_str()).copied();
        found.ok_or_else(|| failed(&format!("it sent no `{name}`")))
    };
    let printed = part("printed")?;
    let code = part("code")?.trim();
    if code != "0" {
        let said = wakeplace_text::shorten(printed.trim());
        return Err(failed(&format!("it ended with exit code {code}: {said}")));
    }
    let lost = part("lost")?.trim();
    if !lost.is_empty() {
        return Err(failed(&format!("its trace lacks events: {lost}")));
    }
    let events = program.events.count(printed).ok_or_else(|| {
        let said = wakeplace_text::shorten(printed.trim());
        failed(&format!("it does not say what it did: {said}"))
    })?;
    let structure = Structure::of_trace(part("trace")?, program.command[0], &program.roles)
        .ok_or_else(|| failed("its trace has no such program"))?;
    Ok(Run { events, structure })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest_text;
    use crate::programs::list;

    fn program(key: &str) -> &'static Program {
        list::chosen(&[key.to_owned()]).expect("known")[0]
    }

    /// What a guest would send for one run of sysbench cpu.
    fn sent(code: &str, lost: &str, total: &str) -> String {
        format!(
            "=== release\n7.3.4\n=== printed sysbench-cpu 1\ntotal number of events: {total}\n\
             === code sysbench-cpu 1\n{code}\n=== lost sysbench-cpu 1\n{lost}\
             === trace sysbench-cpu 1\n\
             sysbench-2 [000] ..... 1.000001: sched_process_exec: filename=/bin/sysbench pid=2\n\
             sysbench-2 [000] ..... 1.000002: sched_process_fork: comm=sysbench pid=2 \
             child_comm=sysbench child_pid=3\n\
             sysbench-3 [001] d..2. 1.000003: sched_waking: comm=sysbench pid=2\n"
        )
    }

    #[test]
    fn what_a_guest_sends_becomes_a_run() {
        let text = sent("0", "", "20");
        let runs = runs(&text, &[program("sysbench-cpu")], 1).expect("a run");
        let run = &runs[0][0];
        assert_eq!((run.events, run.structure.forks), (20, 1));
        assert_eq!(run.structure.wakes["sysbench -> main"].count, 1);
        assert_eq!(guest_text::release(&text), Some("7.3.4"));
    }

    #[test]
    fn what_is_no_result_is_refused() {
        for (text, what) in [
            (sent("1", "", "20"), "exit code 1"),
            (sent("0", "overrun: 3\n", "20"), "lacks events: overrun: 3"),
            (sent("0", "", "many"), "does not say what it did"),
            (
                sent("0", "", "20").replace("/sysbench", "/x"),
                "no such program",
            ),
            (String::new(), "it sent no `printed sysbench-cpu 1`"),
        ] {
            let refused = runs(&text, &[program("sysbench-cpu")], 1).expect_err(what);
            assert!(
                matches!(&refused, Error::NoResult(why) if why.contains(what)),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn the_script_runs_each_program_as_often_as_asked() {
        let text = script(&[program("rt-app"), program("perf-pipe")], 2);
        for line in [
            " rt-app locks-and-signals.json\n",
            "record 'perf-pipe 2' \"\" perf bench sched pipe -l 1000\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(text.matches("\nrecord '").count(), 4);
    }
}

//! All sets in one guest, under one scheduler (docs/results/fidelity.md).
//!
//! What must stay: the script's sections and `outcomes` belong together; recordings of earlier runs
//! are read by both. Free: what leaves the tables of pages as they are. Tests by part:
//! `every_set_is_a_job_that_the_guest_takes` (`job`, `task`),
//! `the_task_that_never_sleeps_is_busy_and_the_ramp_has_its_steps` (`task`),
//! `what_a_guest_sends_becomes_an_outcome` (`outcomes`, `outcome`, `task_run`, `khz_of`),
//! `a_recording_is_whole_with_its_jobs_and_its_end` (`is_whole`, `job_text`, `energy_aware`),
//! `what_is_no_result_is_refused` (errors of `outcome`); `hikey960`, `set`, `sent` are the tests'
//! own. `write_files`, `command`, `script` have no test of their own: a guest that is booted shows
//! a fault of theirs.
//!
//! Callers: record.rs (`is_whole`, `outcomes`).
//!
//! Tests: below

use super::agree::Wakeups;
use super::inside::{self, Inside};
use super::record::Side;
use super::sets::{Set, TaskSpec, WARM_UP_NS};
use super::{SetRun, TaskRun, trace};
use crate::Error;
use crate::guest_text::{LOST, SECTION, TRACER, sections, write_file};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use wakeplace_guest::job::{Job, Loops, Op, Phase, Policy, Task, Timer, TimerMode};
use wakeplace_guest::load::{LoadResult, TaskResult};
use wakeplace_guest::report::Report;
use wakeplace_platform::Platform;
use wakeplace_price::cost::{self, Cost};

/// Whether a run held.
type Verdict = Report<BTreeMap<String, serde_json::Value>>;

/// Name of the script in the guest.
const SCRIPT: &str = "fidelity.sh";

/// The part of the script before the sets: what is recorded.
const PROLOGUE: &str = "\
for event in sched/sched_process_fork sched/sched_wakeup_new sched/sched_switch sched/sched_waking \
	sched/sched_migrate_task power/cpu_frequency; do
	[ -d $t/events/$event ] && echo 1 >$t/events/$event/enable
done
echo '=== release'
uname -r
e=/proc/sys/kernel/sched_energy_aware
[ \"$1\" = cas ] && echo 0 >$e
echo '=== energy_aware'
cat $e
";

/// For the script: `counts` prints what the kernel has counted of its own doings since it booted.
const COUNTS: &str = "\
counts() { cat /proc/uptime; grep ctxt /proc/stat; cat /proc/softirqs; \
	grep -E '^ *(CPU|IPI)|arch_timer' /proc/interrupts; }
";

/// What is recorded last, so that a recording without it is not whole.
const END: &str = "end";

/// The files of a run, in a folder; the script is among them.
pub(crate) fn write_files(
    sets: &[Set],
    start_offset_ns: u64,
    folder: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let mut files = vec![write_file(folder, SCRIPT, &script(sets))?];
    for set in sets {
        let text = job_text(set, start_offset_ns)?;
        files.push(write_file(folder, &format!("{}.json", set.name), &text)?);
    }
    Ok(files)
}

/// What is run in the guest.
pub(crate) fn command(side: Side) -> Vec<String> {
    // The files are in the folder in which a guest begins.
    vec!["sh".to_owned(), SCRIPT.to_owned(), side.to_string()]
}

/// Whether a text is a whole recording of these sets with this start.
pub(crate) fn is_whole(text: &str, sets: &[Set], start_offset_ns: u64, side: Side) -> bool {
    let sections = sections(text);
    if energy_aware(&sections) != Some(side != Side::CapacityAware) {
        return false;
    }
    let same = |set: &Set| {
        let kept = sections.get(format!("job {}", set.name).as_str());
        let own = job_text(set, start_offset_ns);
        kept.is_some_and(|kept| own.is_ok_and(|own| own == kept.trim()))
    };
    sections.contains_key(END) && sets.iter().all(same)
}

/// What the guest runs: each set with its recording.
fn script(sets: &[Set]) -> String {
    let mut text = [TRACER, PROLOGUE, LOST, COUNTS].concat();
    for set in sets {
        let name = &set.name;
        // Recorded from before the threads are there; the load program ends it with the window.
        // Only lines of the tasks, of the program that creates them and of frequencies are of use.
        let _ = write!(
            text,
            "echo '{SECTION}job {name}'\n\
             cat {name}.json\n\
             echo\n\
             echo >$t/trace\n\
             echo '{SECTION}before {name}'\n\
             counts\n\
             echo '{SECTION}load {name}'\n\
             echo 1 >$t/tracing_on\n\
             wakeplace-guest load {name}.json || exit 1\n\
             echo '{SECTION}after {name}'\n\
             counts\n\
             echo '{SECTION}lost {name}'\n\
             lost\n\
             echo '{SECTION}trace {name}'\n\
             grep -E 'comm=(t[0-9]+|wakeplace-guest) |cpu_frequency:' $t/trace\n"
        );
    }
    let _ = write!(text, "echo '{SECTION}{END}'\nexit 0\n");
    text
}

/// The job as the guest reads it, and as it is recorded.
pub(super) fn job_text(set: &Set, start_offset_ns: u64) -> Result<String, Error> {
    serde_json::to_string(&job(set, start_offset_ns)).map_err(Error::input)
}

/// A set as a job of the load program.
fn job(set: &Set, start_offset_ns: u64) -> Job {
    let timer = |task: &TaskSpec| Timer {
        mode: TimerMode::Absolute,
        start_delay_ns: task.delay_ns,
    };
    Job {
        warm_up_ns: WARM_UP_NS,
        window_ns: set.window_ns,
        frequency_invariant: true,
        speeds: Vec::new(),
        start_offset_ns,
        trace: true,
        timers: set.tasks.iter().map(timer).collect(),
        events: 0,
        tasks: (0..)
            .zip(&set.tasks)
            .map(|(at, spec)| task(at, spec))
            .collect(),
    }
}

/// A task of a set as the load program has it.
fn task(timer: u32, spec: &TaskSpec) -> Task {
    let phase = |loops, ops| Phase {
        loops,
        affinity: None,
        nice: None,
        ops,
    };
    let period_ns = spec.period_ns;
    let phases = match spec.steps.is_empty() {
        true => vec![phase(Loops::Forever, vec![Op::Busy])],
        false => spec
            .steps
            .iter()
            .map(|step| {
                let run = Op::Run {
                    work_ns: step.work_ns,
                };
                let loops = step.jobs.map_or(Loops::Forever, Loops::Times);
                phase(loops, vec![run, Op::Timer { timer, period_ns }])
            })
            .collect(),
    };
    Task {
        name: spec.name.clone(),
        nice: 0,
        policy: Policy::Other,
        affinity: None,
        delay_ns: spec.delay_ns,
        forked: false,
        loops: Loops::Times(1),
        phases,
    }
}

/// Whether the kernel's own scheduler was energy-aware. None: the guest did not say.
fn energy_aware(sections: &BTreeMap<&str, &str>) -> Option<bool> {
    match sections.get("energy_aware")?.trim() {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// What each set did in the guest.
pub(crate) fn outcomes(
    text: &str,
    sets: &[Set],
    platform: &Platform,
) -> Result<Vec<SetRun>, Error> {
    let sections = sections(text);
    // The sets ran one after the other.
    let mut opps = vec![None; platform.freq_domains.len()];
    let outcomes = sets
        .iter()
        .map(|set| outcome(&sections, set, platform, &mut opps));
    outcomes.collect()
}

/// What the guest sent of one set.
fn outcome(
    sections: &BTreeMap<&str, &str>,
    set: &Set,
    platform: &Platform,
    opps: &mut [Option<u16>],
) -> Result<SetRun, Error> {
    let name = &set.name;
    let failed = |why: &str| Error::NoResult(format!("set {name} in the guest: {why}"));
    let part = |what: &str| {
        let title = format!("{what} {name}");
        let found = sections.get(title.as_str()).copied();
        found.ok_or_else(|| failed(&format!("it sent no `{title}`")))
    };
    let verdict: Verdict =
        serde_json::from_str(part("load")?).map_err(|error| failed(&error.to_string()))?;
    if !verdict.held {
        return Err(failed(&verdict.failures.join("; ")));
    }
    // Read by itself: serde cannot read maps with numbers for keys from a flattened struct.
    let load: LoadResult =
        serde_json::from_str(part("load")?).map_err(|error| failed(&error.to_string()))?;
    let lost = part("lost")?.trim();
    if !lost.is_empty() {
        return Err(failed(&format!("its trace lacks events: {lost}")));
    }
    let own = (0..).zip(&set.tasks).map(|(index, spec)| {
        let own = load.tasks.iter().find(|task| task.task == index);
        let own = own.ok_or_else(|| failed(&format!("no result of {}", spec.name)))?;
        Ok((spec, own))
    });
    let results = own.collect::<Result<Vec<_>, Error>>()?;
    let tids: Vec<(&TaskSpec, i32)> = results.iter().map(|(spec, own)| (*spec, own.tid)).collect();
    let begin_ns = load.start_ns + WARM_UP_NS;
    let window_ns = begin_ns..begin_ns + set.window_ns;
    let text = part("trace")?;
    let traced = trace::wakeups(text, load.start_ns, &window_ns, &tids);
    // Recordings from before counts were asked for have none.
    let counts = part("before").and_then(|before| Ok(inside::counts(before, part("after")?)));
    let numbers: Vec<i32> = tids.iter().map(|(_, tid)| *tid).collect();
    let khz = khz_of(platform, opps);
    let inside = Inside {
        counts: counts.unwrap_or_default(),
        ..inside::of_trace(text, platform, &window_ns, &numbers, &khz)
    };
    let energy_j = cost::of_trace(text, &cost::Guest::of(platform), &window_ns, opps);
    let cost = Cost::new(energy_j, traced.waits_ns);
    // Without its wake-ups a task would be judged by its share alone.
    let silent = |((spec, _), wakeups): &(&(&TaskSpec, _), &BTreeMap<_, _>)| {
        spec.period_ns > 0 && wakeups.is_empty()
    };
    if let Some(((spec, _), _)) = results.iter().zip(&traced.wakeups).find(silent) {
        let of = &spec.name;
        return Err(failed(&format!(
            "its trace has no wake-up of {of} in the window"
        )));
    }
    let seen = traced.wakeups.into_iter().zip(traced.first_cpus);
    let tasks = results
        .iter()
        .zip(seen)
        .map(|((spec, own), seen)| task_run(spec, own, seen));
    Ok(SetRun {
        tasks: tasks.collect(),
        reasons: Vec::new(),
        cost,
        inside,
    })
}

/// What the guest says of a task, with where its wake-ups and its first run were.
fn task_run(spec: &TaskSpec, own: &TaskResult, seen: (Wakeups, Option<u32>)) -> TaskRun {
    let (wakeups, first_cpu) = seen;
    // What a job in fact took, with what the kernel did in the task's name.
    let job_ns = (own.scaled_duty * spec.period_ns as f64) as u64;
    TaskRun {
        first_cpu,
        wakeups,
        run_ns: own.cpu_run_ns.clone(),
        job_ns: (spec.period_ns > 0).then_some(job_ns),
    }
}

/// The frequency of each domain at these operating points.
fn khz_of(platform: &Platform, opps: &[Option<u16>]) -> Vec<Option<u32>> {
    let domains = platform.freq_domains.iter().zip(opps);
    let khz = domains.map(|(domain, opp)| Some(domain.opps[usize::from((*opp)?)].khz));
    khz.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::sets::{self, START_OFFSET_NS};

    fn hikey960() -> Platform {
        Platform::load("hikey960").expect("built in")
    }

    fn set(name: &str) -> Set {
        let all = sets::all(&hikey960());
        all.into_iter().find(|set| set.name == name).expect("there")
    }

    #[test]
    fn every_set_is_a_job_that_the_guest_takes() {
        for name in ["hikey960", "juno-r0"] {
            let platform = Platform::load(name).expect("built in");
            for set in sets::all(&platform) {
                let text = serde_json::to_string(&job(&set, START_OFFSET_NS)).expect("text");
                let job = Job::parse(&set.name, &text).expect("valid");
                assert_eq!(job.tasks.len(), set.tasks.len());
                assert!(job.trace && job.frequency_invariant);
            }
        }
    }

    #[test]
    fn the_task_that_never_sleeps_is_busy_and_the_ramp_has_its_steps() {
        assert_eq!(job(&set("F"), 0).tasks[0].phases[0].ops, vec![Op::Busy]);
        let ramp = job(&set("D"), 0);
        assert_eq!(ramp.tasks[0].phases.len(), 14);
        assert_eq!(ramp.tasks[0].phases[1].loops, Loops::Times(31));
        assert_eq!(
            ramp.tasks[0].phases[12].ops[0],
            Op::Run { work_ns: 9_600_000 }
        );
    }

    /// What a guest would send for set D.
    fn sent(held: bool, lost: &str) -> String {
        let task = serde_json::json!({
            "name": "t0", "task": 0, "tid": 77, "jobs": 500, "late_jobs": 0, "lateness_ns_max": 0,
            "cpu_ns": 1, "cpu_ns_window": 1, "cpu_run_ns": {"2": 30, "5": 10}, "run_share": {},
            "scaled_ns_window": 1, "scaled_duty": 0.25, "job_scaled_ns_min": 1,
            "job_scaled_ns_mean": 1, "job_scaled_ns_max": 1, "wakeups": 1, "cpu_changes": 0,
        });
        let load = serde_json::json!({
            "command": "load", "held": held, "failures": ["t0 hangs"], "start_ns": 1_000_000_000,
            "window_begin_ns": 0, "window_end_ns": 1, "frequency_invariant": true, "traced": true,
            "cpus": [], "tasks": [task],
        });
        // Releases 0 and 313 are at 1.00113 s and 16 x 313 ms later; the window begins at 6 s.
        let trace = "  <idle>-0 [003] d.h3. 1.001200: sched_waking: comm=t0 pid=77 prio=120\n\
                     x-1 [004] d..2. 1.001300: sched_switch: prev_comm=x prev_pid=1 ==> \
                     next_comm=t0 next_pid=77 next_prio=120\n\
                     <idle>-0 [003] d.h3. 6.009200: sched_waking: comm=t0 pid=77 prio=120\n\
                     x-1 [002] d..2. 6.009300: sched_switch: prev_comm=x prev_pid=1 ==> \
                     next_comm=t0 next_pid=77 next_prio=120\n";
        format!("=== load D\n{load}\n=== lost D\n{lost}=== trace D\n{trace}")
    }

    #[test]
    fn what_a_guest_sends_becomes_an_outcome() {
        let found = outcomes(&sent(true, ""), &[set("D")], &hikey960()).expect("an outcome");
        let task = &found[0].tasks[0];
        assert_eq!(task.wakeups, BTreeMap::from([(313, 2)]));
        assert_eq!(task.run_ns, BTreeMap::from([(2, 30), (5, 10)]));
        assert_eq!(task.job_ns, Some(4_000_000));
    }

    #[test]
    fn a_recording_is_whole_with_its_jobs_and_its_end() {
        let d = [set("D")];
        let recording = |start_ns, energy_aware: u8, end: &str| {
            let job = job_text(&d[0], start_ns).expect("text");
            format!("=== energy_aware\n{energy_aware}\n=== job D\n{job}\n=== trace D\n{end}")
        };
        let whole = |text: &str, side| is_whole(text, &d, 3_842_000, side);
        let text = recording(3_842_000, 1, "=== end\n");
        assert!(whole(&text, Side::EnergyAware) && whole(&text, Side::Live));
        assert!(!is_whole(&text, &[set("B")], 3_842_000, Side::Live));
        // Energy-aware scheduling not off, another start, and an end before its time.
        assert!(!whole(&text, Side::CapacityAware));
        let off = recording(3_842_000, 0, "=== end\n");
        assert!(whole(&off, Side::CapacityAware) && !whole(&off, Side::EnergyAware));
        assert!(!whole(&recording(1_370_000, 1, "=== end\n"), Side::Live));
        assert!(!whole(&recording(3_842_000, 1, ""), Side::Live));
    }

    #[test]
    fn what_is_no_result_is_refused() {
        for (text, what) in [
            (sent(false, ""), "t0 hangs"),
            (sent(true, "overrun: 3\n"), "lacks events: overrun: 3"),
            (String::new(), "it sent no `load D`"),
            // Wake-ups that nobody can read leave nothing to compare.
            (
                sent(true, "").replace("sched_waking", "sched_wakeup"),
                "no wake-up of t0 in the window",
            ),
        ] {
            let refused = outcomes(&text, &[set("D")], &hikey960()).expect_err(what);
            assert!(
                matches!(&refused, Error::NoResult(why) if why.contains(what)),
                "{refused:?}"
            );
        }
    }
}

//! Recordings as workloads: what a simulated run did, written down by the observer below, gives the
//! same run again; odd recordings have a defined result or one message.
//! Page: docs/guide/traces-in.md, "What becomes of it".
//!
//! What must stay: the observer here writes as the kernel does and shares nothing with src/export;
//! `loaded`, `temporary` and `HAND` are used by the other files of this folder.
//! Tests by part (in crates/trace/src): replay/mod.rs: `periodic_tasks_come_back` (`load`),
//! `work_is_scaled_by_capacity_and_frequency` (`recorded`), `what_is_no_recording_has_one_message`
//! (`parse`); replay/machine.rs: `a_recording_by_hand` (`stated`),
//! `work_is_scaled_by_capacity_and_frequency` (`of`, `speed`); read/mod.rs:
//! `what_is_no_recording_has_one_message` (errors); read and replay: all others.
//! Helpers, and who fails with them: `temporary`, `loaded` (all tests); `who`, `switch`, `settle`,
//! `record` (`periodic_tasks_come_back`, `work_of_tasks_that_wake_each_other_comes_back`);
//! `comes_back` (`periodic_tasks_come_back`). `line`, `switch`, `waking`, `settle` and `text` write
//! its text; `cpu_power`, `frequency`, `woken`, `placement`, `run_start`, `run_stop` and `forked`
//! hear of the run.

use std::fmt::Write as _;
use wakeplace_engine::observe::{
    CpuPower, Happening, Observer, Placement, PlacementKind, Stop, Waking,
};
use wakeplace_engine::{Options, RunReport, run};
use wakeplace_platform::{CpuId, Platform};
use wakeplace_policy_sys::Policy;
use wakeplace_trace::load;
use wakeplace_workload::{
    Event, LoadOptions, Loops, MachineFacts, SLEEPS_ON_NS, Spec, TaskScript, Workload,
};

/// Writes a run as `trace-cmd report -t` prints a recording of it.
struct Recorder<'a> {
    platform: &'a Platform,
    names: Vec<String>,
    current: Vec<Option<u32>>,
    /// Per CPU who has left at which instant, and how.
    left: Vec<Option<(u64, u32, &'static str)>>,
    idle: Vec<bool>,
    woken: Option<(u64, u32)>,
    lines: Vec<(u64, String)>,
}

impl<'a> Recorder<'a> {
    fn new(platform: &'a Platform, workload: &Workload) -> Self {
        let n = platform.cpus.len();
        Self {
            platform,
            names: workload
                .tasks
                .iter()
                .map(|task| task.name.clone())
                .collect(),
            current: vec![None; n],
            left: vec![None; n],
            idle: vec![false; n],
            woken: None,
            lines: Vec::new(),
        }
    }

    fn line(&mut self, time: u64, cpu: u32, context: Option<u32>, text: &str) {
        let who = match context {
            Some(task) => format!("{}-{}", self.names[task as usize], 1001 + task),
            None => "<idle>-0".to_owned(),
        };
        let (s, ns) = (time / 1_000_000_000, time % 1_000_000_000);
        self.lines
            .push((time, format!("{who:>20} [{cpu:03}] {s:6}.{ns:09}: {text}")));
    }

    fn who(&self, task: Option<u32>, cpu: u32, lead: &str) -> String {
        match task {
            Some(task) => {
                let name = &self.names[task as usize];
                format!(
                    "{lead}_comm={name} {lead}_pid={} {lead}_prio=120",
                    1001 + task
                )
            }
            None => format!("{lead}_comm=swapper/{cpu} {lead}_pid=0 {lead}_prio=120"),
        }
    }

    fn switch(&mut self, time: u64, cpu: u32, prev: Option<u32>, state: &str, next: Option<u32>) {
        let (prev_text, next_text) = (self.who(prev, cpu, "prev"), self.who(next, cpu, "next"));
        let text = format!("sched_switch: {prev_text} prev_state={state} ==> {next_text}");
        self.line(time, cpu, prev, &text);
    }

    /// Those who left before now, and whom nobody followed at once.
    fn settle(&mut self, now: u64) {
        for cpu in 0..self.left.len() {
            if let Some((time, task, state)) = self.left[cpu].take_if(|(time, ..)| *time < now) {
                self.switch(time, cpu as u32, Some(task), state, None);
            }
        }
    }

    fn waking(&mut self, time: u64, cpu: u32, waker: Option<u32>, task: u32) {
        let name = self.names[task as usize].clone();
        let text = format!(
            "sched_waking: comm={name} pid={} prio=120 target_cpu=000",
            1001 + task
        );
        self.line(time, cpu, waker, &text);
    }

    fn text(mut self) -> String {
        self.settle(u64::MAX);
        // Stable: what happened at one instant keeps its order.
        self.lines.sort_by_key(|(time, _)| *time);
        let mut out = format!("cpus={}\n", self.current.len());
        for (_, line) in &self.lines {
            let _ = writeln!(out, "{line}");
        }
        out
    }
}

impl Observer for Recorder<'_> {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::CpuPower { cpu, power } => self.cpu_power(time_ns, cpu, power),
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::Woken(ref it) => self.woken(time_ns, it),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            Happening::RunStart { cpu, task, .. } => self.run_start(time_ns, cpu, task),
            Happening::RunStop {
                cpu, task, stop, ..
            } => self.run_stop(time_ns, cpu, task, stop),
            Happening::Forked { task, script } => self.forked(task, script),
            _ => {}
        }
    }
}

impl Recorder<'_> {
    fn cpu_power(&mut self, time: u64, cpu: u32, power: CpuPower) {
        let idle = &mut self.idle[cpu as usize];
        match power {
            CpuPower::Idle { state } => {
                *idle = true;
                let own = self.platform.idle_states_of(CpuId(cpu));
                let at = own
                    .map(|(index, _)| index)
                    .position(|i| i == usize::from(state));
                let text = format!("cpu_idle: state={} cpu_id={cpu}", at.unwrap_or(0));
                self.line(time, cpu, None, &text);
            }
            CpuPower::Busy if std::mem::take(idle) => {
                self.line(
                    time,
                    cpu,
                    None,
                    &format!("cpu_idle: state=4294967295 cpu_id={cpu}"),
                );
            }
            _ => {}
        }
    }

    fn frequency(&mut self, time: u64, domain: u32, opp: u16) {
        let domain = &self.platform.freq_domains[domain as usize];
        let khz = domain.opps[usize::from(opp)].khz;
        for cpu in domain.cpus.clone() {
            self.line(
                time,
                cpu.0,
                None,
                &format!("cpu_frequency: state={khz} cpu_id={cpu}"),
            );
        }
    }

    fn woken(&mut self, time: u64, waking: &Waking) {
        self.settle(time);
        match waking.waker {
            Some(waker) => self.waking(time, waking.cpu, Some(waker), waking.task),
            None => self.woken = Some((time, waking.task)),
        }
    }

    fn placement(&mut self, time: u64, placement: &Placement) {
        self.settle(time);
        let (task, cpu) = (placement.task, placement.waker_cpu);
        if placement.kind == PlacementKind::Fork {
            let name = self.names[task as usize].clone();
            let text = format!(
                "sched_wakeup_new: comm={name} pid={} prio=120 target_cpu=000",
                1001 + task
            );
            let (s, ns) = (time / 1_000_000_000, time % 1_000_000_000);
            self.lines.push((
                time,
                format!("{:>20} [{cpu:03}] {s:6}.{ns:09}: {text}", "leader-1000"),
            ));
        } else if self.woken.take() == Some((time, task)) {
            self.waking(time, cpu, None, task);
        }
    }

    fn run_start(&mut self, time: u64, cpu: u32, task: u32) {
        self.settle(time);
        self.current[cpu as usize] = Some(task);
        match self.left[cpu as usize].take() {
            Some((_, prev, state)) if prev != task => {
                self.switch(time, cpu, Some(prev), state, Some(task))
            }
            Some(_) => {}
            None => self.switch(time, cpu, None, "R", Some(task)),
        }
    }

    fn run_stop(&mut self, time: u64, cpu: u32, task: u32, stop: Stop) {
        self.settle(time);
        self.current[cpu as usize] = None;
        let state = match stop {
            Stop::Preempted => "R+",
            Stop::Yields => "R",
            Stop::Sleeps => "S",
            Stop::Waits => "D",
            Stop::Exits => "X",
        };
        self.left[cpu as usize] = Some((time, task, state));
    }

    fn forked(&mut self, task: u32, script: u32) {
        let name = format!("{}-0000", self.names[script as usize]);
        self.names.resize(task as usize + 1, name);
    }
}

struct Case {
    platform: Platform,
    policy: Policy,
    options: Options,
}

impl Case {
    fn new(platform: &str, policy: &str, ms: u64) -> Self {
        Self {
            platform: Platform::builtin(platform).expect("built in"),
            policy: Policy::parse(policy).expect("a policy"),
            options: Options {
                duration_ns: ms * 1_000_000,
                // The kernel's threads are the machine's, not the recording's.
                housekeeping: false,
                ..Options::default()
            },
        }
    }

    fn record(&self, workload: &Workload) -> (RunReport, String) {
        let mut recorder = Recorder::new(&self.platform, workload);
        let report = run(
            &self.platform,
            &self.policy,
            workload,
            &self.options,
            &mut recorder,
        );
        (report, recorder.text())
    }
}

fn temporary(text: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    file
}

fn loaded(text: &str, platform: Option<&Platform>) -> Result<(Workload, Vec<String>), String> {
    let file = temporary(text.as_bytes());
    let argument = format!("trace:{}", file.path().display());
    let spec = load(&argument, platform).map_err(|error| error.to_string())?;
    let warnings = spec.warnings.clone();
    let workload = spec.expand(1, MachineFacts::alike(8)).expect("a workload");
    Ok((workload, warnings))
}

/// A simulated run, written down and read back, runs the same again: busy time of each task within
/// 0.1 %, and as many wake-ups.
fn comes_back(platform: &str, policy: &str, workload: &str, ms: u64) {
    let case = Case::new(platform, policy, ms);
    let spec = Spec::parse(workload, &LoadOptions::default()).expect("a workload");
    let nr_cpus = case.platform.cpus.len() as u32;
    let original = spec
        .expand(1, MachineFacts::alike(nr_cpus))
        .expect("expanded");
    let (first, text) = case.record(&original);
    let (again, warnings) = loaded(&text, Some(&case.platform)).expect("a workload");
    assert!(warnings.is_empty(), "{warnings:?}");
    let (second, _) = case.record(&again);
    assert_eq!(again.tasks.len(), original.tasks.len());
    for (at, script) in original.tasks.iter().enumerate() {
        let place = again.tasks.iter().position(|task| task.name == script.name);
        let (one, other) = (
            &first.tasks[at],
            &second.tasks[place.expect("the same name")],
        );
        let off = one.run_ns.abs_diff(other.run_ns);
        assert!(
            off * 1000 <= one.run_ns,
            "{workload}: {} ran {} and {} ns",
            script.name,
            one.run_ns,
            other.run_ns
        );
        assert!(
            one.activations.abs_diff(other.activations) <= 1,
            "{workload}: {} slept {} and {} times",
            script.name,
            one.activations,
            other.activations
        );
    }
}

#[test]
fn periodic_tasks_come_back() {
    let workload = "periodic:n=6,period=16ms,duty=20%,start=spread";
    comes_back("hikey960", "linux-5.0", workload, 2_000);
}

/// Where tasks wake each other a shift of some us changes who sleeps at all, and with it the
/// clocks: the work that comes back is what can be compared, and that it is all done. It is within
/// a tenth: a wake-up that was paid for (`wakeup_ns`, as long as half of a message's work) and then
/// not needed is not in a recording.
#[test]
fn work_of_tasks_that_wake_each_other_comes_back() {
    let text = "messaging:groups=2,fds=3,loops=30";
    for (platform, policy) in [("hikey960", "linux-6.12"), ("tc2", "linux-4.7")] {
        let case = Case::new(platform, policy, 500);
        let spec = Spec::parse(text, &LoadOptions::default()).expect("a workload");
        let original = spec.expand(1, MachineFacts::alike(8)).expect("expanded");
        let (_, recording) = case.record(&original);
        let (again, warnings) = loaded(&recording, Some(&case.platform)).expect("a workload");
        assert!(warnings.is_empty(), "{warnings:?}");
        let (second, _) = case.record(&again);
        assert!(second.end_ns < 500_000_000, "all of it ends");
        let work = |task: &TaskScript| -> u64 {
            let of = |event: &Event| match event {
                Event::Run { work_ns } => *work_ns,
                _ => 0,
            };
            let phase = &task.phases[0];
            let Loops::Times(loops) = phase.loops else {
                panic!("counted")
            };
            loops * phase.events.iter().map(of).sum::<u64>()
        };
        let total = |workload: &Workload| workload.tasks.iter().map(work).sum::<u64>();
        let (one, other) = (total(&original), total(&again));
        assert!(one.abs_diff(other) * 10 <= one, "{platform}: {one} {other}");
    }
}

/// A task that is there when the recording ends.
const SLEEPS_ON: Event = Event::Sleep {
    duration_ns: SLEEPS_ON_NS,
};

const HAND: &str = concat!(
    "cpus=2\n",
    "  a-11 [000] 10.000000: sched_switch: ",
    "prev_comm=a prev_pid=11 prev_prio=120 prev_state=S ",
    "==> next_comm=swapper/0 next_pid=0 next_prio=120\n",
    "  b-12 [001] 10.001000: sched_waking: comm=a pid=11 prio=120 target_cpu=000\n",
    "  <idle>-0 [000] 10.001010: sched_switch: ",
    "prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ",
    "==> next_comm=a next_pid=11 next_prio=120\n",
    "  b-12 [001] 10.003000: sched_switch: ",
    "prev_comm=b prev_pid=12 prev_prio=110 prev_state=D ",
    "==> next_comm=swapper/1 next_pid=0 next_prio=120\n",
    "  a-11 [000] 10.004010: sched_switch: ",
    "prev_comm=a prev_pid=11 prev_prio=120 prev_state=S ",
    "==> next_comm=swapper/0 next_pid=0 next_prio=120\n",
    "  <idle>-0 [001] 10.005000: sched_waking: comm=b pid=12 prio=110 target_cpu=001\n",
    "  <idle>-0 [001] 10.005000: sched_switch: ",
    "prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ",
    "==> next_comm=b next_pid=12 next_prio=110\n",
    "  b-12 [001] 10.006000: sched_switch: ",
    "prev_comm=b prev_pid=12 prev_prio=110 prev_state=S ",
    "==> next_comm=swapper/1 next_pid=0 next_prio=120\n",
);

/// Who ran how long, slept how long and woke whom, by hand. Nothing is known of the CPUs, so that
/// time is work and nothing is taken off it.
#[test]
fn a_recording_by_hand() {
    let (workload, warnings) = loaded(HAND, None).expect("a workload");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let names: Vec<_> = workload
        .tasks
        .iter()
        .map(|t| (t.name.as_str(), t.nice))
        .collect();
    assert_eq!(names, [("a", 0), ("b", -10)]);
    // a: wakes at 1 ms by b, runs 3 ms. b ran from the start: 1 ms, wakes a, 2 ms, waits 2 ms for a
    // device, runs 1 ms.
    let events = |at: usize| workload.tasks[at].phases[0].events.clone();
    assert_eq!(
        events(0),
        [
            Event::Wait { channel: 0 },
            Event::Run { work_ns: 3_000_000 },
            SLEEPS_ON,
        ]
    );
    assert_eq!(
        events(1),
        [
            Event::Run { work_ns: 1_000_000 },
            Event::Post {
                channel: 0,
                sync: false
            },
            Event::Run { work_ns: 2_000_000 },
            Event::Io {
                duration_ns: 2_000_000
            },
            Event::Run { work_ns: 1_000_000 },
            SLEEPS_ON,
        ]
    );
    assert_eq!(workload.duration_ns, Some(6_000_000));
}

/// Half the capacity at half the frequency: a quarter of the work.
#[test]
fn work_is_scaled_by_capacity_and_frequency() {
    let platform = Platform::builtin("hikey960").expect("built in");
    let text = concat!(
        "cpus=8\n",
        "  x-0 [000] 1.000000: cpu_frequency: state=922000 cpu_id=0\n",
        "  <idle>-0 [000] 1.0: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 ",
        "prev_state=R ==> next_comm=a next_pid=11 next_prio=120\n",
        "  a-11 [000] 1.100000: sched_switch: prev_comm=a prev_pid=11 prev_prio=120 ",
        "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n",
    );
    let (workload, _) = loaded(text, Some(&platform)).expect("a workload");
    let Event::Run { work_ns } = workload.tasks[0].phases[0].events[0] else {
        panic!("{:?}", workload.tasks[0]);
    };
    // 100 ms * 462/1024 * 922/1844, less one switch and 25 ticks of 2 us.
    let expected = 100_000_000_u64 * 462 / 1024 / 2 - 26 * 2_000;
    assert!(
        work_ns.abs_diff(expected) <= 4_000 + expected / 1000,
        "{work_ns} {expected}"
    );
}

#[test]
fn odd_recordings_have_a_defined_result() {
    let odd = |text: &str| loaded(text, None);
    let lines: Vec<&str> = HAND.lines().collect();
    // Out of order within the window: put in order.
    let mut mixed = lines.clone();
    mixed.swap(2, 6);
    assert_eq!(
        odd(&(mixed.join("\n") + "\n")).expect("in order").0.tasks,
        odd(HAND).expect("in order").0.tasks
    );
    // A clock that jumps back.
    let back = format!("{}{}", HAND.replace(" 10.", " 100."), HAND);
    let error = odd(&back).expect_err("refused");
    assert!(
        error.contains("line 11: the clock jumps back from 100.006000000 s to 10.000000000 s"),
        "{error}"
    );
    // Lost events, and tasks that run without having been woken, where wake-ups are recorded.
    let lost = lines
        .iter()
        .filter(|line| !line.contains("waking"))
        .map(|line| format!("{line}\n"));
    let other = "  <idle>-0 [001] 10.006500: sched_waking: comm=c pid=13 prio=120 target_cpu=001\n";
    let text = lost.collect::<String>() + other + "CPU:1 [LOST 17 EVENTS]\n";
    let warnings = odd(&text).expect("a workload").1;
    assert!(
        warnings
            .iter()
            .any(|line| line.starts_with("1 times the recorder lost")),
        "{warnings:?}"
    );
    assert!(
        warnings
            .iter()
            .any(|line| line.starts_with("2 times a task ran")),
        "{warnings:?}"
    );
    // Cut off in the last line.
    let warnings = odd(&HAND[..HAND.len() - 30]).expect("a workload").1;
    assert!(
        warnings
            .iter()
            .any(|line| line.contains("ends inside an event")),
        "{warnings:?}"
    );
    // Damaged in the middle.
    let error = odd(&HAND.replacen("prev_pid=12", "prev_pid=1x", 1)).expect_err("refused");
    assert!(
        error.contains("line 5: an event sched_switch without its fields"),
        "{error}"
    );
    // With a CPU that no machine has, or a time that is none, an event is not passed over.
    let fifth = HAND.lines().nth(4).expect("a line");
    for (from, to) in [("[", "[7"), ("]", "x]"), (".", ",")] {
        let error = odd(&HAND.replacen(fifth, &fifth.replacen(from, to, 1), 1));
        let error = error.expect_err(to);
        assert!(
            error.contains("line 5: an event sched_switch whose CPU or"),
            "{error}"
        );
    }
}

#[test]
fn what_is_no_recording_has_one_message() {
    for (text, part) in [
        ("", "no event of the scheduler"),
        ("hello\n", "lines 1 to 1: no event of the scheduler"),
        ("PERFILE2", "perf script"),
        ("\x17\x08\x44tracing", "trace-cmd report"),
        (
            "  a-1 [2000] 1.0: sched_waking: comm=a pid=1 prio=1 target_cpu=0\n",
            "no event",
        ),
    ] {
        let error = loaded(text, None).expect_err(text);
        assert!(error.contains(part), "{error}");
    }
    let file = temporary(HAND.as_bytes());
    let name = file.path().display();
    for (argument, part) in [
        (
            format!("trace:{name},platfrom=tc2"),
            "did you mean `platform`",
        ),
        (format!("trace:{name},platform=tc3"), "tc2"),
        ("trace:".to_owned(), "no file is named"),
        ("trace:/nonexistent".to_owned(), "cannot be read"),
    ] {
        let error = load(&argument, None).expect_err(&argument).to_string();
        assert!(error.contains(part), "{error}");
    }
}

/// The same events as `perf script` prints them.
#[test]
fn the_text_of_perf_is_as_that_of_ftrace() {
    let line = |line: &str| {
        let (task, rest) = line.trim().split_once(" [")?;
        let (comm, pid) = task.rsplit_once('-')?;
        let comm = if comm == "<idle>" { "swapper" } else { comm };
        let (place, event) = rest.split_once(": ")?;
        Some(format!("{comm:>16} {pid:>5} [{place}: sched:{event}\n"))
    };
    let perf: String = HAND.lines().filter_map(line).collect();
    assert_eq!(
        loaded(&perf, None).expect("perf").0.tasks,
        loaded(HAND, None).expect("ftrace").0.tasks
    );
}

mod exported;
mod forms;
mod gaps;
mod perfetto;
mod stream;

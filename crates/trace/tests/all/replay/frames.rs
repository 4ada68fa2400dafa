//! Frames that applications mark: deadlines that a recording says itself.
//! Page: docs/guide/traces-in.md#frames.
//!
//! What must stay: a recording without these marks is what it was; every time here is written down
//! by hand, and nothing is known of the CPUs, so that time is work.
//! Tests by part (in crates/trace/src): replay/tracker/frames.rs: `frames_by_hand` (`marked`,
//! `begin_frame`, `begin_drawing`, `end_slice`), `what_nobody_draws_ends_with_its_slice`
//! (`end_frame`), `hostile_marks_are_bounded` (`forget_slices`, `edge`),
//! `slices_that_draw_no_frame_are_told` (`strays`); replay/deadlines.rs: all
//! others; read/timeline.rs: `the_expected_timeline_is_the_deadline`; workload/src/deadline.rs:
//! `a_file_of_deadlines_wins`; workload/src/deadline/marked.rs:
//! `given_deadlines_judge_recorded_frames` (all), `a_file_of_deadlines_wins` (`judge`).
//! Helpers, and who fails with them: `Lines`, `events`, `chains` (all tests).

use super::{HAND, loaded, temporary};
use prost::Message;
use std::fmt::Write as _;
use wakeplace_trace::load;
use wakeplace_trace::proto::ftrace_event::Event as Inner;
use wakeplace_trace::proto::trace_packet::Data;
use wakeplace_trace::proto::{
    FtraceEvent, FtraceEventBundle, PrintFtraceEvent, SchedSwitchFtraceEvent,
    SchedWakingFtraceEvent, Trace, TracePacket,
};
use wakeplace_workload::{Deadlines, Event, FrameFigures, MachineFacts, SLEEPS_ON_NS, Workload};

const US: u64 = 1000;

type Task = (&'static str, u32);

/// The thread that tells applications of a vsync, of process 40; the UI thread and the one that
/// draws, of process 100. Each has a CPU of its own.
const APP: Task = ("app", 41);
const UI: Task = ("ui", 100);
const DRAWS: Task = ("RenderThread", 101);
const IDLE: Task = ("<idle>", 0);

/// A recording, as ftrace prints it.
struct Lines {
    text: String,
    /// What the counter of vsync is called; none: there is no counter.
    counter: Option<&'static str>,
    value: u32,
}

impl Lines {
    fn new(counter: Option<&'static str>) -> Self {
        let text = "cpus=3\n".to_owned();
        Self {
            text,
            counter,
            value: 0,
        }
    }

    fn cpu((_, pid): Task) -> u32 {
        pid % 3
    }

    fn line(&mut self, us: u64, cpu: u32, (comm, pid): Task, what: &str) {
        let (s, us) = (10 + us / 1_000_000, us % 1_000_000);
        let _ = writeln!(
            self.text,
            "{comm:>16}-{pid} [{cpu:03}] d..2. {s}.{us:06}: {what}"
        );
    }

    fn marks(&mut self, us: u64, task: Task, mark: &str) {
        let what = format!("tracing_mark_write: {mark}");
        self.line(us, Self::cpu(task), task, &what);
    }

    fn wakes(&mut self, us: u64, by: Task, task: Task) {
        let what = format!(
            "sched_waking: comm={} pid={} prio=120 target_cpu=000",
            task.0, task.1
        );
        let cpu = if by == IDLE { task } else { by };
        self.line(us, Self::cpu(cpu), by, &what);
        self.switch(us, IDLE, "R", task, Self::cpu(task));
    }

    fn sleeps(&mut self, us: u64, task: Task) {
        self.switch(us, task, "S", IDLE, Self::cpu(task));
    }

    fn switch(&mut self, us: u64, prev: Task, state: &str, next: Task, cpu: u32) {
        let comm = |task: Task| match task.1 {
            0 => format!("swapper/{cpu}"),
            _ => task.0.to_owned(),
        };
        let what = format!(
            "sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={state} ==> \
             next_comm={} next_pid={} next_prio=120",
            comm(prev),
            prev.1,
            comm(next),
            next.1
        );
        self.line(us, cpu, prev, &what);
    }

    /// A vsync: the counter changes 10 us later.
    fn vsync(&mut self, us: u64, wakes_ui: bool) {
        self.wakes(us, IDLE, APP);
        self.value = 1 - self.value;
        if let Some(name) = self.counter {
            self.marks(us + 10, APP, &format!("C|40|{name}|{}", self.value));
        }
        if wakes_ui {
            self.wakes(us + 20, APP, UI);
        }
        self.sleeps(us + 30, APP);
    }

    /// The UI thread works on a frame from 100 us on, for 1 ms until it wakes the one that draws,
    /// and 50 us longer; that one draws for `draws` us, and then does other things for 200 us.
    fn frame(&mut self, us: u64, draws: u64) {
        self.vsync(us, true);
        self.marks(us + 100, UI, "B|100|Choreographer#doFrame 7");
        self.marks(us + 300, UI, "B|100|traversal");
        self.wakes(us + 1100, UI, DRAWS);
        self.marks(us + 1100, DRAWS, "B|100|DrawFrames 7");
        self.marks(us + 1140, UI, "E|100");
        self.marks(us + 1150, UI, "E|100");
        self.sleeps(us + 1160, UI);
        self.marks(us + 1100 + draws, DRAWS, "E|100");
        self.sleeps(us + 1300 + draws, DRAWS);
    }

    fn loaded(&self) -> (Workload, Vec<String>) {
        let (workload, warnings) = loaded(&self.text, None).expect("a workload");
        // What is known of the CPUs is said, too.
        let of_deadlines = |line: &String| !line.contains("nothing of its CPUs");
        (
            workload,
            warnings.into_iter().filter(of_deadlines).collect(),
        )
    }
}

/// The steps of a task but for its last sleep.
fn events(workload: &Workload, name: &str) -> Vec<Event> {
    let task = workload.tasks.iter().find(|task| task.name == name);
    let mut events = task.expect("the task").phases[0].events.clone();
    let sleeps_on = Event::Sleep {
        duration_ns: SLEEPS_ON_NS,
    };
    assert_eq!(events.pop(), Some(sleeps_on));
    events
}

fn chains(workload: &Workload) -> Vec<(&str, u64)> {
    let chain = |one: &'_ wakeplace_workload::Chain| one.deadline_ns;
    let all = workload.chains.iter();
    all.map(|one| (one.name.as_str(), chain(one))).collect()
}

fn run(us: u64) -> Event {
    Event::Run { work_ns: us * US }
}

fn begin(after_ns: i32) -> Event {
    Event::FrameBegin {
        chain: 0,
        woken: Some(after_ns),
    }
}

fn end(number: u32) -> Event {
    Event::FrameEnd {
        chain: 0,
        frame: Some(number),
    }
}

/// The numbers and places of a task's frames among its steps.
fn of_frames(workload: &Workload, name: &str) -> Vec<Event> {
    let of_a_frame =
        |event: &&Event| matches!(event, Event::FrameBegin { .. } | Event::FrameEnd { .. });
    let task = workload.tasks.iter().find(|task| task.name == name);
    let events = task.expect("the task").phases[0].events.iter();
    events.filter(of_a_frame).copied().collect()
}

/// Goal: by hand. A frame begins with its vsync, 10 us before the UI thread is woken, and is done
/// where the slice ends that draws it; a rest of 84 ms is no distance of vsyncs. Without the marks
/// the steps are the same, but in one piece.
#[test]
fn frames_by_hand() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    for us in [0, 16_000, 100_000] {
        lines.frame(us, 3000);
    }
    let (workload, notes) = lines.loaded();
    assert_eq!(chains(&workload), [("ui", 16_000 * US)]);
    let ui = events(&workload, "ui");
    let wakes = ui.iter().find(|one| matches!(one, Event::Post { .. }));
    let waits = ui[0];
    assert!(matches!(waits, Event::Wait { .. }), "{waits:?}");
    let pass = [
        waits,
        run(80),
        begin(-10_000),
        run(1000),
        *wakes.expect("it wakes"),
        run(60),
    ];
    assert_eq!(ui, [pass, pass, pass].concat());
    let draws = events(&workload, "RenderThread");
    let pass = |number| [draws[0], run(3000), end(number), run(200)];
    assert!(matches!(draws[0], Event::Wait { .. }), "{draws:?}");
    assert_eq!(draws, [pass(0), pass(1), pass(2)].concat());
    let known = workload.chains[0].known.as_deref();
    assert_eq!(known, Some("median distance of VSYNC-app"));
    assert!(notes.is_empty(), "{notes:?}");
    let marks = |line: &&str| !line.contains("tracing_mark_write");
    let without: Vec<&str> = lines.text.lines().filter(marks).collect();
    let (without, notes) = {
        let lines = Lines {
            text: without.join("\n") + "\n",
            ..Lines::new(None)
        };
        lines.loaded()
    };
    assert!(notes.is_empty() && without.chains.is_empty(), "{notes:?}");
    let pass = [waits, run(1080), *wakes.expect("it wakes"), run(60)];
    assert_eq!(events(&without, "ui"), [pass, pass, pass].concat());
    assert_eq!(without.duration_ns, workload.duration_ns);
}

/// Goal: by hand: a frame begins with its vsync, 10 us after its first line, is due 16 ms later and
/// done 1100 us after its first line and what it takes to draw. Of frames at 0, 16 and 100 ms the
/// second takes 20 ms and is late by 37100 - 32010 = 5090 us, the others are early by 16010 - 4100
/// = 11910 us. One that begins at 130 ms is not due when the recording ends.
#[test]
fn what_became_of_recorded_frames() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    for (us, draws) in [
        (0, 3000),
        (16_000, 20_000),
        (100_000, 3000),
        (130_000, 3000),
    ] {
        lines.frame(us, draws);
    }
    let (workload, _) = lines.loaded();
    assert_eq!(chains(&workload), [("ui", 16_000 * US)]);
    let expected = FrameFigures {
        frames: 3,
        missed: 1,
        dropped: 0,
        streak_max: 1,
        lateness_ns: Some([-11_910_000, 5_090_000, 5_090_000]),
        latest_ns: Some(5_090_000),
    };
    assert_eq!(workload.chains[0].recorded_figures(), Some(expected));
}

/// Goal: a frame that nobody draws is done with the UI thread's own slice.
#[test]
fn what_nobody_draws_ends_with_its_slice() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    lines.frame(0, 3000);
    lines.vsync(16_000, true);
    lines.marks(16_100, UI, "B|100|Choreographer#doFrame 8");
    lines.marks(16_500, UI, "E|100");
    lines.sleeps(16_600, UI);
    let (workload, _) = lines.loaded();
    let ui = events(&workload, "ui");
    let tail = [run(80), begin(-10_000), run(400), end(1), run(100)];
    assert_eq!(ui[ui.len() - tail.len()..], tail);
    assert_eq!(of_frames(&workload, "RenderThread"), [end(0)]);
}

/// Goal: slices that draw while their process is within no frame are counted, those in a slice that
/// draws a frame are not. By hand: one within a frame with a part of it that begins when that is
/// over, and two outside.
#[test]
fn slices_that_draw_no_frame_are_told() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    lines.frame(0, 3000);
    lines.vsync(16_000, true);
    lines.marks(16_100, UI, "B|100|Choreographer#doFrame 8");
    lines.wakes(17_000, UI, DRAWS);
    lines.marks(17_000, DRAWS, "B|100|DrawFrames 8");
    lines.marks(17_100, UI, "E|100");
    lines.sleeps(17_200, UI);
    lines.marks(17_300, DRAWS, "B|100|DrawFrame");
    lines.marks(17_400, DRAWS, "E|100");
    lines.marks(17_500, DRAWS, "E|100");
    let told = |lines: &Lines| lines.loaded().1;
    assert!(told(&lines).is_empty(), "{:?}", told(&lines));
    for us in [17_600, 17_800] {
        lines.marks(us, DRAWS, "B|100|DrawFrames 9");
        lines.marks(us + 100, DRAWS, "E|100");
    }
    lines.sleeps(18_000, DRAWS);
    let said = "2 slices `DrawFrames` lie in no `doFrame`: they end no frame";
    assert_eq!(told(&lines), [said]);
}

/// Goal: a frame that follows another one without a sleep between is due from its own vsync, 16 ms
/// after the first, not from the wake-up: 15,990 us after it. Without a counter that is one period
/// (those of the frames before) after the begin of the frame before: 16,000 us.
#[test]
fn the_next_frame_without_a_sleep_is_that_of_the_next_vsync() {
    for (counter, first, next) in [
        (Some("VSYNC-app"), -10_000, 15_990_000),
        (None, 0, 16_000_000),
    ] {
        let mut lines = Lines::new(counter);
        for us in [0, 16_000] {
            lines.frame(us, 3000);
        }
        lines.vsync(32_000, true);
        lines.marks(32_100, UI, "B|100|Choreographer#doFrame");
        lines.vsync(48_000, false);
        lines.marks(52_000, UI, "E|100");
        lines.marks(52_100, UI, "B|100|Choreographer#doFrame");
        lines.marks(53_000, UI, "E|100");
        lines.sleeps(53_000, UI);
        let (workload, _) = lines.loaded();
        let expected = [
            begin(first),
            begin(first),
            begin(first),
            end(2),
            begin(next),
            end(3),
        ];
        assert_eq!(of_frames(&workload, "ui"), expected, "{counter:?}");
    }
}

/// Goal: the period is that of the compositor's counter where there is no other, else that of the
/// frames; of one frame nothing says it, and it has no deadline.
#[test]
fn the_deadline_is_the_period_that_is_known() {
    for (counter, known) in [
        (Some("VSYNC-sf"), "VSYNC-sf"),
        (Some("VSYNC"), "VSYNC"),
        (None, "its frames"),
    ] {
        let mut lines = Lines::new(counter);
        for us in [0, 11_000, 22_000, 200_000] {
            lines.frame(us, 3000);
        }
        let (workload, notes) = lines.loaded();
        assert_eq!(chains(&workload), [("ui", 11_000 * US)]);
        let said = format!("median distance of {known}");
        assert_eq!(workload.chains[0].known, Some(said));
        assert!(notes.is_empty(), "{notes:?}");
        // These counters do not say when an application was told.
        assert_eq!(of_frames(&workload, "ui"), [begin(0); 4]);
    }
    let mut lines = Lines::new(None);
    lines.frame(0, 3000);
    let (workload, notes) = lines.loaded();
    assert_eq!(chains(&workload), []);
    assert_eq!(of_frames(&workload, "ui"), []);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].starts_with("1 thread marks frames of which nothing"));
}

/// Goal: names of chains are parts of metrics' names, and each is there once.
#[test]
fn names_are_those_of_metrics() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    let others = [("a.b c", 103), ("a/b c", 106), ("%", 109)];
    for us in [0, 16_000] {
        lines.frame(us, 1000);
        for (at, other) in (0..).zip(others) {
            let us = us + 8_000 + 1000 * at;
            lines.wakes(us, IDLE, other);
            lines.marks(us, other, &format!("B|{}|Choreographer#doFrame", other.1));
            lines.marks(us + 500, other, "E");
            lines.sleeps(us + 500, other);
        }
    }
    let (workload, _) = lines.loaded();
    let names: Vec<&str> = chains(&workload)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["ui", "a_b_c", "a_b_c_2", "frames"]);
}

/// Goal: a file of deadlines wins over what the recording says, and nothing of that is left.
#[test]
fn a_file_of_deadlines_wins() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    for us in [0, 16_000, 32_000] {
        lines.frame(us, 3000);
    }
    let file = temporary(lines.text.as_bytes());
    let spec = load(&format!("trace:{}", file.path().display()), None).expect("a workload");
    let text = br#"{"own": {"from": "app", "to": "RenderThread", "deadline": 5000}}"#;
    let own = spec.with_deadlines(Deadlines::parse(text, "d.json").expect("valid"));
    let workload = own.expand(1, MachineFacts::alike(3)).expect("it fits");
    assert_eq!(chains(&workload), [("own", 5_000 * US)]);
    assert_eq!(workload.chains[0].known, None);
    assert_eq!(of_frames(&workload, "ui"), []);
    let ends = of_frames(&workload, "RenderThread");
    let of_the_file = Event::FrameEnd {
        chain: 0,
        frame: None,
    };
    assert!(!ends.is_empty() && ends.iter().all(|one| *one == of_the_file));
    // Who marks no frames and is never woken by a timer begins none.
    let text = br#"{"own": {"from": "RenderThread", "deadline": 5000}}"#;
    let spec = load(&format!("trace:{}", file.path().display()), None).expect("a workload");
    let own = spec.with_deadlines(Deadlines::parse(text, "d.json").expect("valid"));
    let refused = own.expand(1, MachineFacts::alike(3)).expect_err("no timer");
    let said = refused.to_string();
    assert!(
        said.contains("task `RenderThread` has no timer and no sleep"),
        "{said}"
    );
}

/// Goal: frames that a recording marks are judged by a given deadline: they begin and end where
/// they did. By hand: each begins 10 us after its first line and is done 4100 us after that, so it
/// takes 4090 us. With 4000 us all three are late by 90. With 5000 us those two are early by 910
/// whose deadline comes before the recording ends, at 36,300. Another last task ends them by its
/// passes.
#[test]
fn given_deadlines_judge_recorded_frames() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    for us in [0, 16_000, 32_000] {
        lines.frame(us, 3000);
    }
    let file = temporary(lines.text.as_bytes());
    let given = |chains: &str| {
        let spec = load(&format!("trace:{}", file.path().display()), None).expect("a workload");
        let deadlines = Deadlines::parse(chains.as_bytes(), "d.json").expect("valid");
        spec.with_deadlines(deadlines)
            .expand(1, MachineFacts::alike(3))
    };
    let (own, _) = lines.loaded();
    for to in ["", r#""to": "RenderThread","#] {
        for (us, frames, late_ns) in [(4000, 3, 90_000), (5000, 2, -910_000)] {
            let text = format!(r#"{{"screen": {{"from": "ui", {to} "deadline": {us}}}}}"#);
            let workload = given(&text).expect("it fits");
            assert_eq!(chains(&workload), [("screen", us * US)]);
            assert_eq!(workload.chains[0].known, None);
            // The steps are those of the recording's own chain.
            assert_eq!(workload.tasks, own.tasks);
            let missed = if late_ns > 0 { frames } else { 0 };
            let expected = FrameFigures {
                frames,
                missed,
                dropped: 0,
                streak_max: missed,
                lateness_ns: Some([late_ns; 3]),
                latest_ns: Some(late_ns),
            };
            assert_eq!(workload.chains[0].recorded_figures(), Some(expected));
        }
    }
    let text = r#"{"screen": {"from": "ui", "to": "app", "deadline": 4000}}"#;
    let workload = given(text).expect("it fits");
    assert_eq!(of_frames(&workload, "ui"), [begin(-10_000); 3]);
    assert_eq!(of_frames(&workload, "RenderThread"), []);
    let of_a_pass = Event::FrameEnd {
        chain: 0,
        frame: None,
    };
    let ends = of_frames(&workload, "app");
    assert!(!ends.is_empty() && ends.iter().all(|one| *one == of_a_pass));
    let text = r#"{"a": {"from": "ui", "deadline": 1}, "b": {"from": "ui", "deadline": 2}}"#;
    let twice = given(text).expect_err("one chain of a task");
    let said = "d.json:1:52: task `ui` begins another chain, too; expected a chain of its own";
    assert_eq!(twice.to_string(), said);
}

/// Goal: marks of other things, without their process, by threads that nobody knows, nested without
/// an end, under as many names as there are marks: the workload is what it is without them.
#[test]
fn hostile_marks_are_bounded() {
    let plain = loaded(HAND, None).expect("a workload").0;
    let mut text = String::new();
    for (at, line) in HAND.lines().enumerate() {
        let _ = writeln!(text, "{line}");
        // All of one instant, between two events, on the CPU that has just been told of.
        let us = [0, 0, 1000, 1010, 3000, 4010, 5000, 5000, 6000][at];
        let mut marked = |who: &str, mark: &str| {
            let _ = writeln!(text, " {who} [001] 10.{us:06}: tracing_mark_write: {mark}");
        };
        for mark in [
            "",
            "B",
            "B|Choreographer#doFrame",
            "S|12|Choreographer#doFrame|1",
            "E|12",
            "C|12|VSYNC-app|7",
            "E",
        ] {
            marked("b-12", mark);
        }
        for name in 0..10_000 {
            marked("b-12", &format!("B|12|name {at} {name}"));
            marked(
                &format!("t{name}-{}", 1000 + name),
                "B|5|Choreographer#doFrame",
            );
        }
        // A CPU that the recording has not.
        let _ = writeln!(text, " b-12 [1000] 10.{us:06}: print: B|12|DrawFrame");
    }
    let (marked, notes) = loaded(&text, None).expect("a workload");
    assert_eq!(marked.tasks, plain.tasks);
    assert_eq!(marked.duration_ns, plain.duration_ns);
    assert_eq!((marked.chains.len(), notes.len()), (0, 1), "{notes:?}");
    // Frames whose ends are lost, a thread that draws none of them, and ends of nothing.
    let mut lines = Lines::new(Some("VSYNC-app"));
    lines.frame(0, 3000);
    lines.vsync(16_000, true);
    for at in 0..1000 {
        lines.marks(16_100 + at, UI, "B|100|Choreographer#doFrame");
        lines.marks(16_100 + at, APP, "B|7|DrawFrame");
    }
    lines.sleeps(18_000, UI);
    for _ in 0..1000 {
        lines.marks(18_000, DRAWS, "E|100");
    }
    lines.frame(32_000, 3000);
    let (workload, _) = lines.loaded();
    assert_eq!(of_frames(&workload, "ui").len(), 1002);
    assert_eq!(of_frames(&workload, "RenderThread"), [end(0), end(1001)]);
}

/// A field of a message, as protobuf writes it: varints, or bytes.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

fn numbered(tag: u64, number: u64) -> Vec<u8> {
    [varint(tag << 3), varint(number)].concat()
}

fn inner(tag: u64, bytes: &[u8]) -> Vec<u8> {
    [
        varint(tag << 3 | 2),
        varint(bytes.len() as u64),
        bytes.to_vec(),
    ]
    .concat()
}

/// Goal: of a Perfetto trace marks are read from `print`, and what FrameTimeline gave a process for
/// a frame is the deadline: of 20.5, 10.5 and 20.5 ms the median; what was begun or ended alone, or
/// is of another process, says nothing.
#[test]
fn the_expected_timeline_is_the_deadline() {
    let mut lines = Lines::new(Some("VSYNC-app"));
    for us in [0, 11_000, 22_000] {
        lines.frame(us, 3000);
    }
    let event: Vec<TracePacket> = lines.text.lines().skip(1).map(packet).collect();
    let mut bytes = Trace { packet: event }.encode_to_vec();
    let at = |ns: u64, event: Vec<u8>| {
        let packet = [inner(76, &event), numbered(8, ns)].concat();
        inner(1, &packet)
    };
    let expects = |cookie: u64, pid: u64| {
        let fields = [numbered(1, cookie), numbered(2, 9), numbered(4, pid)];
        inner(3, &fields.concat())
    };
    let ends = |cookie: u64| inner(5, &numbered(1, cookie));
    for (cookie, pid, from_us, to_us) in [
        (1, 100, 0, 20_500),
        (2, 100, 11_000, 21_500),
        (3, 100, 22_000, 42_500),
        (4, 40, 0, 5_000),
    ] {
        bytes.extend(at(from_us * US, expects(cookie, pid)));
        bytes.extend(at(to_us * US, ends(cookie)));
        // The actual timeline has cookies of its own.
        bytes.extend(at(from_us * US, inner(4, &numbered(1, 100 + cookie))));
        bytes.extend(at(to_us * US, ends(100 + cookie)));
    }
    bytes.extend(at(0, expects(9, 100)));
    let file = temporary(&bytes);
    let spec = load(&format!("trace:{}", file.path().display()), None).expect("a workload");
    let workload = spec.expand(1, MachineFacts::alike(3)).expect("it fits");
    assert_eq!(chains(&workload), [("ui", 20_500 * US)]);
    let known = workload.chains[0].known.as_deref();
    assert_eq!(known, Some("median of its expected timeline"));
    let (text, _) = lines.loaded();
    assert_eq!(workload.tasks, text.tasks);
}

/// A line of the text above as a packet of its own.
fn packet(line: &str) -> TracePacket {
    let (task, rest) = line.trim().split_once(" [").expect("a CPU");
    let pid = task
        .rsplit('-')
        .next()
        .expect("a pid")
        .parse()
        .expect("a number");
    let cpu = rest[..3].parse().expect("a CPU");
    let (stamp, what) = rest[10..].split_once(": ").expect("a time");
    let (s, us) = stamp.trim().split_once('.').expect("a time");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let value = |key: &str| {
        let from = what.split_once(&format!(" {key}=")).or_else(|| {
            let at = what.find(&format!("{key}="))?;
            Some(what.split_at(at + key.len() + 1))
        });
        let text = from.expect("a field").1;
        text.split(' ').next().expect("a value").to_owned()
    };
    let signed = |key: &str| value(key).parse::<i32>().ok();
    let event = match what.split_once(": ").expect("an event") {
        ("sched_switch", _) => Inner::SchedSwitch(SchedSwitchFtraceEvent {
            prev_comm: Some(value("prev_comm")),
            prev_pid: signed("prev_pid"),
            prev_prio: Some(120),
            prev_state: Some(i64::from(value("prev_state") == "S")),
            next_comm: Some(value("next_comm")),
            next_pid: signed("next_pid"),
            next_prio: Some(120),
        }),
        ("sched_waking", _) => Inner::SchedWaking(SchedWakingFtraceEvent {
            comm: Some(value("comm")),
            pid: signed("pid"),
            prio: Some(120),
            success: Some(1),
            target_cpu: Some(0),
        }),
        (_, mark) => Inner::Print(PrintFtraceEvent {
            ip: None,
            buf: Some(format!("{mark}\n")),
        }),
    };
    let event = FtraceEvent {
        timestamp: Some(number(s) * 1_000_000_000 + number(us) * US),
        pid: Some(pid),
        common_flags: None,
        event: Some(event),
    };
    TracePacket {
        data: Some(Data::FtraceEvents(FtraceEventBundle {
            cpu: Some(cpu),
            event: vec![event],
            ..FtraceEventBundle::default()
        })),
        ..TracePacket::default()
    }
}

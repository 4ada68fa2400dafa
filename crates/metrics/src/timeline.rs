//! What ran where in a window of a run: for drawing, so bounded (docs/guide/report.md, "In the
//! JSON"). What is cut off is said.
//!
//! Made by `crates/study/src/pool.rs` where a window is asked for (`--timeline`). Times are ns from
//! the begin of the run.
//!
//! What must stay: fields of `Timeline` and places in their lists are in the JSON. Entries are in
//! the order of their begin. `until_ns` says up to when the timeline is whole. Listening changes no
//! run. Free: what leaves every figure as it is (ARCHITECTURE.md, "What a change may touch"). Tests
//! by part: `spans_are_clipped_to_the_window` (`span`, `before`, `taken`),
//! `a_run_that_ends_within_is_known_up_to_its_end` (`finish`, `close`),
//! `too_much_is_cut_and_says_so` (`takes`),
//! crates/cli/tests/all/report.rs::`a_window_changes_no_run`,
//! report.rs::`what_the_page_is_made_of_is_in_the_json` (spans of a real run),
//! `spans_are_clipped_to_the_window` (`new`, `happened`, `run_start`, `run_stop`, `stop`,
//! `cpu_power`, `leave`, `frequency`, `overutilized`); `recorder` is the tests' own. No test of its
//! own: `placement` and `reason`.
//!
//! Tests: below, crates/cli/tests/all/report.rs::a_window_changes_no_run,
//! crates/cli/tests/all/report.rs::what_the_page_is_made_of_is_in_the_json

use std::collections::{BTreeMap, BTreeSet};
use wakeplace_engine::observe::{CpuPower, Placement, PlacementKind};
use wakeplace_engine::{Happening, Observer};
use wakeplace_outcome::{Span, Timeline, ranges};
use wakeplace_platform::Platform;

/// Most entries of a timeline; what comes after them is cut off.
const MAX_ENTRIES: usize = 20_000;

/// A part of a run, ns; `from_ns` < `to_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its begin.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// Takes a timeline down.
#[derive(Clone, Debug)]
pub struct TimelineRecorder {
    timeline: Timeline,
    /// What was asked for.
    window: Window,
    khz: Vec<Vec<u32>>,
    /// Per CPU: what runs, since when.
    running: Vec<Option<(u32, u64)>>,
    /// Per CPU: the idle state, since when.
    idle: Vec<Option<(u32, u64)>>,
    /// Per domain: the operating point's frequency before the window, and the flag.
    before: BTreeMap<u32, u32>,
    flag_before: bool,
    is_over: bool,
}

impl TimelineRecorder {
    /// For a run on `platform`.
    #[must_use]
    pub fn new(platform: &Platform, window: Window) -> Self {
        let numbers = |cpus: &[wakeplace_platform::CpuId]| {
            ranges(&cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>())
        };
        let domains = platform.freq_domains.iter();
        let khz = |d: &wakeplace_platform::FreqDomain| d.opps.iter().map(|o| o.khz).collect();
        let groups = platform.cpu_partition();
        let states = platform.idle_states.iter();
        Self {
            timeline: Timeline {
                from_ns: window.from_ns,
                to_ns: window.to_ns,
                until_ns: window.from_ns,
                cpus: u32::try_from(platform.cpus.len()).expect("at most 1024 CPUs"),
                clusters: { groups.into_iter() }
                    .map(|group| (group.name, numbers(&group.cpus)))
                    .collect(),
                domains: domains.clone().map(|d| numbers(&d.cpus)).collect(),
                idle_states: states.map(|state| state.name.clone()).collect(),
                ..Timeline::default()
            },
            window,
            khz: domains.map(khz).collect(),
            running: vec![None; platform.cpus.len()],
            idle: vec![None; platform.cpus.len()],
            before: BTreeMap::new(),
            flag_before: false,
            is_over: false,
        }
    }

    /// The timeline of the finished run, entries in the order of their begin; `name` has the names
    /// of tasks.
    #[must_use]
    pub fn taken(self, name: impl Fn(u32) -> String) -> Timeline {
        let mut timeline = self.timeline;
        let from_ns = self.window.from_ns;
        let begin = |(&domain, &khz): (&u32, &u32)| (domain, from_ns, khz);
        let steps = &mut timeline.domain_at_ns_khz;
        steps.splice(0..0, self.before.iter().map(begin));
        let flag = (from_ns, u8::from(self.flag_before));
        timeline.overutilized_at_ns_on.insert(0, flag);
        let until = timeline.until_ns;
        for spans in [
            &mut timeline.cpu_task_from_to_ns,
            &mut timeline.cpu_idle_state_from_to_ns,
        ] {
            spans.retain_mut(|(_, _, from_ns, to_ns)| {
                *to_ns = until.min(*to_ns);
                *from_ns < *to_ns
            });
            spans.sort_by_key(|(cpu, _, from_ns, _)| (*from_ns, *cpu));
        }
        let ran = timeline.cpu_task_from_to_ns.iter().map(|span| span.1);
        let placed = timeline.at_ns_task_prev_cpu_reason_new.iter();
        let seen: BTreeSet<u32> = ran.chain(placed.map(|placed| placed.1)).collect();
        timeline.tasks = seen.into_iter().map(|task| (task, name(task))).collect();
        timeline
    }

    /// Is it within the window, and is there still room? The first event after either ends it.
    fn takes(&mut self, time_ns: u64) -> bool {
        let window = self.window;
        if self.is_over || time_ns < window.from_ns {
            return false;
        }
        let line = &self.timeline;
        let spans = line.cpu_task_from_to_ns.len() + line.cpu_idle_state_from_to_ns.len();
        let placed = line.at_ns_task_prev_cpu_reason_new.len();
        let entries = spans + line.domain_at_ns_khz.len() + placed;
        let is_full = entries >= MAX_ENTRIES;
        if time_ns < window.to_ns && !is_full {
            return true;
        }
        self.close(time_ns.min(window.to_ns));
        self.timeline.is_cut = time_ns < window.to_ns;
        false
    }

    /// Nothing is taken down from now on.
    fn close(&mut self, until_ns: u64) {
        self.is_over = true;
        self.timeline.until_ns = until_ns.max(self.window.from_ns);
        for cpu in 0..self.running.len() {
            self.stop(until_ns, cpu);
            self.leave(until_ns, cpu);
        }
    }

    /// The task that runs on the CPU leaves it: its span is taken down, if some of it lies in the
    /// window.
    fn stop(&mut self, time_ns: u64, cpu: usize) {
        if let Some(open) = self.running[cpu].take() {
            let span = self.span(cpu, open, time_ns);
            self.timeline.cpu_task_from_to_ns.extend(span);
        }
    }

    /// The CPU leaves its idle state: the same for that.
    fn leave(&mut self, time_ns: u64, cpu: usize) {
        if let Some(open) = self.idle[cpu].take() {
            let span = self.span(cpu, open, time_ns);
            self.timeline.cpu_idle_state_from_to_ns.extend(span);
        }
    }

    /// The place of a reason among those that were seen.
    fn reason(&mut self, name: &str) -> u32 {
        let reasons = &mut self.timeline.reasons;
        let known = reasons.iter().position(|reason| reason == name);
        let at = known.unwrap_or_else(|| {
            reasons.push(name.to_owned());
            reasons.len() - 1
        });
        u32::try_from(at).expect("reasons are few")
    }

    /// What of it lies in the window.
    fn span(&self, cpu: usize, (what, since): (u32, u64), time_ns: u64) -> Option<Span> {
        let window = self.window;
        let (from_ns, to_ns) = (since.max(window.from_ns), time_ns.min(window.to_ns));
        let cpu = u32::try_from(cpu).expect("at most 1024 CPUs");
        (from_ns < to_ns).then_some((cpu, what, from_ns, to_ns))
    }
}

impl Observer for TimelineRecorder {
    /// All that is drawn; what lies before the window is kept only as how things stood at its
    /// begin.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::CpuPower { cpu, power } => self.cpu_power(time_ns, cpu, power),
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            Happening::RunStart { cpu, task, .. } => self.run_start(time_ns, cpu, task),
            Happening::RunStop { cpu, .. } => self.run_stop(time_ns, cpu),
            Happening::Overutilized { on } => self.overutilized(time_ns, on),
            Happening::Finish => self.finish(time_ns),
            _ => {}
        }
    }
}

impl TimelineRecorder {
    /// An idle stretch of a CPU begins or ends.
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        self.takes(time_ns);
        if self.is_over {
            return;
        }
        self.leave(time_ns, cpu as usize);
        if let CpuPower::Idle { state } = power {
            self.idle[cpu as usize] = Some((state.into(), time_ns));
        }
    }

    /// The clock of a domain; before the window the last one is kept.
    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        let khz = self.khz[domain as usize][usize::from(opp)];
        if self.takes(time_ns) {
            self.timeline.domain_at_ns_khz.push((domain, time_ns, khz));
        } else if !self.is_over {
            self.before.insert(domain, khz);
        }
    }

    /// A placement within the window, with the place of its reason in the list.
    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        if self.takes(time_ns) {
            let (p, reason) = (placement, self.reason(placement.reason.name()));
            let is_new = u8::from(p.kind != PlacementKind::Wake);
            let placed = (time_ns, p.task, p.prev_cpu, p.cpu, reason, is_new);
            self.timeline.at_ns_task_prev_cpu_reason_new.push(placed);
        }
    }

    /// A task begins to run; one that still ran there has stopped.
    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32) {
        self.takes(time_ns);
        if !self.is_over {
            self.stop(time_ns, cpu as usize);
            self.running[cpu as usize] = Some((task, time_ns));
        }
    }

    /// The CPU's task stops.
    fn run_stop(&mut self, time_ns: u64, cpu: u32) {
        self.takes(time_ns);
        if !self.is_over {
            self.stop(time_ns, cpu as usize);
        }
    }

    /// The flag changes; before the window its last value is kept.
    fn overutilized(&mut self, time_ns: u64, on: bool) {
        if self.takes(time_ns) {
            self.timeline
                .overutilized_at_ns_on
                .push((time_ns, on.into()));
        } else if !self.is_over {
            self.flag_before = on;
        }
    }

    /// The run is over, maybe before the window's end: spans that are open end now.
    fn finish(&mut self, time_ns: u64) {
        if !self.is_over {
            self.close(time_ns.min(self.window.to_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ENTRIES, Timeline, TimelineRecorder, Window};
    use crate::testbed::two_clusters;
    use wakeplace_engine::Observer;
    use wakeplace_engine::happen;
    use wakeplace_engine::observe::CpuPower::{Busy, Idle};
    use wakeplace_engine::observe::Stop;

    fn recorder(from_ns: u64, to_ns: u64) -> TimelineRecorder {
        TimelineRecorder::new(&two_clusters(), Window { from_ns, to_ns })
    }

    fn taken(recorder: TimelineRecorder) -> Timeline {
        recorder.taken(|task| format!("t{task}"))
    }

    #[test]
    fn spans_are_clipped_to_the_window() {
        let mut r = recorder(100, 200);
        happen!(r, 0 => Frequency { domain: 0, opp: 0 });
        happen!(r, 0 => Frequency { domain: 1, opp: 1 });
        happen!(r, 0 => CpuPower { cpu: 1, power: Idle { state: 2 } });
        happen!(r, 50 => RunStart { cpu: 0, task: 7, wake_latency_ns: None });
        happen!(r, 60 => Overutilized { on: true });
        happen!(r, 120 => RunStop { cpu: 0, task: 7, ran_ns: 70, stop: Stop::Sleeps });
        happen!(r, 130 => Frequency { domain: 0, opp: 2 });
        happen!(r, 150 => CpuPower { cpu: 1, power: Busy });
        happen!(r, 150 => RunStart { cpu: 1, task: 8, wake_latency_ns: None });
        happen!(r, 500 => RunStop { cpu: 1, task: 8, ran_ns: 350, stop: Stop::Sleeps });
        happen!(r, 500 => RunStart { cpu: 0, task: 9, wake_latency_ns: None });
        happen!(r, 1000 => Finish);
        let t = taken(r);
        assert_eq!(t.cpu_task_from_to_ns, [(0, 7, 100, 120), (1, 8, 150, 200)]);
        assert_eq!(t.tasks, [(7, "t7".to_owned()), (8, "t8".to_owned())]);
        assert_eq!(t.cpu_idle_state_from_to_ns, [(1, 2, 100, 150)]);
        let steps: Vec<_> = t.domain_at_ns_khz.iter().map(|s| (s.0, s.1)).collect();
        assert_eq!(steps, [(0, 100), (1, 100), (0, 130)]);
        assert_eq!(t.overutilized_at_ns_on, [(100, 1)]);
        assert_eq!((t.until_ns, t.is_cut), (200, false));
    }

    #[test]
    fn a_run_that_ends_within_is_known_up_to_its_end() {
        let mut r = recorder(100, 200);
        happen!(r, 110 => RunStart { cpu: 0, task: 1, wake_latency_ns: None });
        happen!(r, 140 => Finish);
        let t = taken(r);
        assert_eq!(t.cpu_task_from_to_ns, [(0, 1, 110, 140)]);
        assert_eq!((t.until_ns, t.is_cut), (140, false));
        let mut r = recorder(100, 200);
        happen!(r, 40 => Finish);
        assert_eq!(taken(r).until_ns, 100, "nothing of it");
    }

    #[test]
    fn too_much_is_cut_and_says_so() {
        let mut r = recorder(0, u64::MAX);
        for at in 0..MAX_ENTRIES as u64 + 10 {
            happen!(r, 2 * at => RunStart { cpu: 0, task: 1, wake_latency_ns: None });
            happen!(r, 2 * at + 1 => RunStop { cpu: 0, task: 1, ran_ns: 1, stop: Stop::Sleeps });
        }
        happen!(r, 1_000_000 => Finish);
        let t = taken(r);
        assert_eq!(t.cpu_task_from_to_ns.len(), MAX_ENTRIES);
        assert_eq!((t.until_ns, t.is_cut), (2 * MAX_ENTRIES as u64, true));
    }
}

//! What ran where in a window of a run: for drawing, so bounded.

use std::collections::BTreeMap;
use wakeplace_engine::Observer;
use wakeplace_engine::observe::{CpuPower, Placement, PlacementKind, Stop};
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

/// Something that takes time on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The CPU.
    pub cpu: u32,
    /// The task, or the index of the idle state.
    pub what: u32,
    /// Begin, ns, not before the window's.
    pub from_ns: u64,
    /// End, ns, not after the window's.
    pub to_ns: u64,
}

/// A frequency domain changes its operating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index of the domain.
    pub domain: u32,
    /// When, ns.
    pub at_ns: u64,
    /// What it is set to.
    pub khz: u32,
}

/// The root domain's overutilized flag changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When, ns.
    pub at_ns: u64,
    /// It is set.
    pub on: bool,
}

/// A CPU was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// When, ns.
    pub at_ns: u64,
    /// The task.
    pub task: u32,
    /// Where it ran before.
    pub prev_cpu: u32,
    /// The choice.
    pub cpu: u32,
    /// A new task, or one that runs another program.
    pub is_new: bool,
    /// Why, as [`wakeplace_engine::observe::Placement::reason`] is called.
    pub reason: &'static str,
}

/// A window of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// What was asked for.
    pub window: Window,
    /// How far it is complete: less than the window if the run ended or there was too much.
    pub until_ns: u64,
    /// There was too much.
    pub is_cut: bool,
    /// Number of CPUs.
    pub cpus: usize,
    /// CPUs of each cluster, or kind where a cluster holds several, and its name.
    pub clusters: Vec<(String, Vec<u32>)>,
    /// CPUs of each frequency domain.
    pub domains: Vec<Vec<u32>>,
    /// Names of the idle states.
    pub idle_states: Vec<String>,
    /// Tasks that ran.
    pub ran: Vec<Span>,
    /// Idle states that CPUs were in.
    pub idle: Vec<Span>,
    /// Frequencies; each domain has one at the begin.
    pub steps: Vec<Step>,
    /// Placements.
    pub placed: Vec<Placed>,
    /// Changes of the overutilized flag; the first is its state at the begin.
    pub overutilized: Vec<Mark>,
}

/// Takes a timeline down.
#[derive(Clone, Debug)]
pub struct TimelineRecorder {
    timeline: Timeline,
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
        let numbers = |cpus: &[wakeplace_platform::CpuId]| cpus.iter().map(|cpu| cpu.0).collect();
        let domains = platform.freq_domains.iter();
        let khz = |d: &wakeplace_platform::FreqDomain| d.opps.iter().map(|o| o.khz).collect();
        let groups = platform.cpu_partition();
        let states = platform.idle_states.iter();
        Self {
            timeline: Timeline {
                window,
                until_ns: window.from_ns,
                is_cut: false,
                cpus: platform.cpus.len(),
                clusters: { groups.into_iter() }
                    .map(|group| (group.name, numbers(&group.cpus)))
                    .collect(),
                domains: domains.clone().map(|d| numbers(&d.cpus)).collect(),
                idle_states: states.map(|state| state.name.clone()).collect(),
                ran: Vec::new(),
                idle: Vec::new(),
                steps: Vec::new(),
                placed: Vec::new(),
                overutilized: Vec::new(),
            },
            khz: domains.map(khz).collect(),
            running: vec![None; platform.cpus.len()],
            idle: vec![None; platform.cpus.len()],
            before: BTreeMap::new(),
            flag_before: false,
            is_over: false,
        }
    }

    /// The timeline of the finished run, entries in the order of their begin.
    #[must_use]
    pub fn taken(self) -> Timeline {
        let mut timeline = self.timeline;
        let from_ns = timeline.window.from_ns;
        let begin = |(&domain, &khz): (&u32, &u32)| Step {
            domain,
            at_ns: from_ns,
            khz,
        };
        timeline.steps.splice(0..0, self.before.iter().map(begin));
        let flag = Mark {
            at_ns: from_ns,
            on: self.flag_before,
        };
        timeline.overutilized.insert(0, flag);
        let until = timeline.until_ns;
        for spans in [&mut timeline.ran, &mut timeline.idle] {
            spans.retain_mut(|span| {
                span.to_ns = span.to_ns.min(until);
                span.from_ns < span.to_ns
            });
            spans.sort_by_key(|span| (span.from_ns, span.cpu));
        }
        timeline
    }

    /// Is it within the window, and is there still room? The first event after either ends it.
    fn takes(&mut self, time_ns: u64) -> bool {
        let window = self.timeline.window;
        if self.is_over || time_ns < window.from_ns {
            return false;
        }
        let line = &self.timeline;
        let entries = line.ran.len() + line.idle.len() + line.steps.len() + line.placed.len();
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
        self.timeline.until_ns = until_ns.max(self.timeline.window.from_ns);
        for cpu in 0..self.running.len() {
            self.stop(until_ns, cpu);
            self.leave(until_ns, cpu);
        }
    }

    fn stop(&mut self, time_ns: u64, cpu: usize) {
        if let Some(open) = self.running[cpu].take() {
            let span = self.span(cpu, open, time_ns);
            self.timeline.ran.extend(span);
        }
    }

    fn leave(&mut self, time_ns: u64, cpu: usize) {
        if let Some(open) = self.idle[cpu].take() {
            let span = self.span(cpu, open, time_ns);
            self.timeline.idle.extend(span);
        }
    }

    /// What of it lies in the window.
    fn span(&self, cpu: usize, (what, since): (u32, u64), time_ns: u64) -> Option<Span> {
        let window = self.timeline.window;
        let span = Span {
            cpu: u32::try_from(cpu).expect("at most 1024 CPUs"),
            what,
            from_ns: since.max(window.from_ns),
            to_ns: time_ns.min(window.to_ns),
        };
        (span.from_ns < span.to_ns).then_some(span)
    }
}

impl Observer for TimelineRecorder {
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

    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        let khz = self.khz[domain as usize][usize::from(opp)];
        if self.takes(time_ns) {
            let at_ns = time_ns;
            self.timeline.steps.push(Step { domain, at_ns, khz });
        } else if !self.is_over {
            self.before.insert(domain, khz);
        }
    }

    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        if self.takes(time_ns) {
            self.timeline.placed.push(Placed {
                at_ns: time_ns,
                task: placement.task,
                prev_cpu: placement.prev_cpu,
                cpu: placement.cpu,
                is_new: placement.kind != PlacementKind::Wake,
                reason: placement.reason.name(),
            });
        }
    }

    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32, _wake_latency_ns: Option<u64>) {
        self.takes(time_ns);
        if !self.is_over {
            self.stop(time_ns, cpu as usize);
            self.running[cpu as usize] = Some((task, time_ns));
        }
    }

    fn run_stop(&mut self, time_ns: u64, cpu: u32, _task: u32, _ran_ns: u64, _stop: Stop) {
        self.takes(time_ns);
        if !self.is_over {
            self.stop(time_ns, cpu as usize);
        }
    }

    fn overutilized(&mut self, time_ns: u64, on: bool) {
        if self.takes(time_ns) {
            self.timeline.overutilized.push(Mark { at_ns: time_ns, on });
        } else if !self.is_over {
            self.flag_before = on;
        }
    }

    fn finish(&mut self, time_ns: u64) {
        if !self.is_over {
            self.close(time_ns.min(self.timeline.window.to_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ENTRIES, Span, TimelineRecorder, Window};
    use crate::testbed::two_clusters;
    use wakeplace_engine::Observer;
    use wakeplace_engine::observe::CpuPower::{Busy, Idle};
    use wakeplace_engine::observe::Stop;

    fn recorder(from_ns: u64, to_ns: u64) -> TimelineRecorder {
        TimelineRecorder::new(&two_clusters(), Window { from_ns, to_ns })
    }

    fn span(cpu: u32, what: u32, from_ns: u64, to_ns: u64) -> Span {
        Span {
            cpu,
            what,
            from_ns,
            to_ns,
        }
    }

    #[test]
    fn spans_are_clipped_to_the_window() {
        let mut r = recorder(100, 200);
        r.frequency(0, 0, 0);
        r.frequency(0, 1, 1);
        r.cpu_power(0, 1, Idle { state: 2 });
        r.run_start(50, 0, 7, None);
        r.overutilized(60, true);
        r.run_stop(120, 0, 7, 70, Stop::Sleeps);
        r.frequency(130, 0, 2);
        r.cpu_power(150, 1, Busy);
        r.run_start(150, 1, 8, None);
        r.run_stop(500, 1, 8, 350, Stop::Sleeps);
        r.run_start(500, 0, 9, None);
        r.finish(1000);
        let t = r.taken();
        assert_eq!(t.ran, [span(0, 7, 100, 120), span(1, 8, 150, 200)]);
        assert_eq!(t.idle, [span(1, 2, 100, 150)]);
        let steps: Vec<_> = t.steps.iter().map(|s| (s.domain, s.at_ns)).collect();
        assert_eq!(steps, [(0, 100), (1, 100), (0, 130)]);
        assert!(t.overutilized[0].on && t.overutilized.len() == 1);
        assert_eq!((t.until_ns, t.is_cut), (200, false));
    }

    #[test]
    fn a_run_that_ends_within_is_known_up_to_its_end() {
        let mut r = recorder(100, 200);
        r.run_start(110, 0, 1, None);
        r.finish(140);
        let t = r.taken();
        assert_eq!(t.ran, [span(0, 1, 110, 140)]);
        assert_eq!((t.until_ns, t.is_cut), (140, false));
        let mut r = recorder(100, 200);
        r.finish(40);
        assert_eq!(r.taken().until_ns, 100, "nothing of it");
    }

    #[test]
    fn too_much_is_cut_and_says_so() {
        let mut r = recorder(0, u64::MAX);
        for at in 0..MAX_ENTRIES as u64 + 10 {
            r.run_start(2 * at, 0, 1, None);
            r.run_stop(2 * at + 1, 0, 1, 1, Stop::Sleeps);
        }
        r.finish(1_000_000);
        let t = r.taken();
        assert_eq!(t.ran.len(), MAX_ENTRIES);
        assert_eq!((t.until_ns, t.is_cut), (2 * MAX_ENTRIES as u64, true));
    }
}

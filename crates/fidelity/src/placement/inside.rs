//! What happened inside a run beside the shares of run time: clocks, how often tasks began to run
//! and changed their CPU, and what the kernel counted of its own doings. Guests' traces and
//! simulated runs are counted by the same code (docs/results/fidelity.md).
//!
//! What must stay: kHz, counts a second, and the window's ends. Free: what leaves the tables of
//! pages as they are. Tests by part: `a_mean_clock_is_that_of_the_window` (`new`, `until`,
//! `frequency`, `inside`), `an_interrupted_stretch_is_one_and_a_sleep_ends_it` (`runs`, `sleeps`),
//! `a_kernels_counts_are_a_second` (`counts`, `sum`); `hikey960` is the tests' own. `of_trace` has
//! no test of its own: recorded_traces, an example, writes what it counts.
//!
//! Callers: guest.rs (`counts`), placement/recorded/traced.rs (`of_trace`).
//!
//! Tests: below

use std::ops::Range;
use wakeplace_platform::{CpuId, Platform};
use wakeplace_trace::read::Line;

/// Of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Inside {
    /// Mean frequency of each domain in the window, kHz. None: the trace does not say.
    pub(crate) mean_khz: Vec<Option<f64>>,
    /// Changes of frequency in the window, of all domains.
    pub(crate) freq_changes: u64,
    /// How often a task of the set began to run in the window: stretches, which others of the set
    /// end, or a sleep. What else interrupts one does not end it.
    pub(crate) stretches: u64,
    /// ... on another CPU than the task's stretch before.
    pub(crate) moves: u64,
    /// Of the kernel.
    pub(crate) counts: Counts,
}

/// What a kernel counted on all CPUs, a second. None: it was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Context switches.
    pub(crate) switches: Option<f64>,
    /// Interrupts of timers.
    pub(crate) timers: Option<f64>,
    /// Runs of the softirq that balances.
    pub(crate) passes: Option<f64>,
}

/// Counts as a run goes on.
pub(crate) struct Counter {
    window_ns: Range<u64>,
    domains: Vec<Domain>,
    /// The task whose stretch each CPU has.
    on_cpu: Vec<Option<usize>>,
    /// Where each task's last stretch was.
    of_task: Vec<Option<u32>>,
    inside: Inside,
}

/// A domain's clock.
#[derive(Clone, Copy, Default)]
struct Domain {
    khz: Option<u32>,
    since_ns: u64,
    /// Within the window, kHz x ns.
    sum: u128,
    /// The window began at a frequency that is known.
    known: bool,
}

impl Domain {
    /// Adds the stretch since the last change, as far as it lies in the window: kHz x ns.
    fn until(&mut self, time_ns: u64, window_ns: &Range<u64>) {
        let begin_ns = self.since_ns.max(window_ns.start);
        let stretch_ns = time_ns.min(window_ns.end).saturating_sub(begin_ns);
        self.sum += u128::from(self.khz.unwrap_or(0)) * u128::from(stretch_ns);
        self.since_ns = time_ns;
    }
}

impl Counter {
    /// Of a window, on a machine of so many frequency domains and CPUs, with so many tasks.
    pub(crate) fn new(window_ns: &Range<u64>, platform: &Platform, tasks: usize) -> Self {
        Self {
            window_ns: window_ns.clone(),
            domains: vec![Domain::default(); platform.freq_domains.len()],
            on_cpu: vec![None; platform.cpus.len()],
            of_task: vec![None; tasks],
            inside: Inside::default(),
        }
    }

    /// A domain runs at this from now on.
    pub(crate) fn frequency(&mut self, time_ns: u64, domain: usize, khz: u32) {
        let Some(of) = self
            .domains
            .get_mut(domain)
            .filter(|of| of.khz != Some(khz))
        else {
            return;
        };
        of.until(time_ns, &self.window_ns);
        let is_change = of.khz.replace(khz).is_some();
        of.known |= time_ns <= self.window_ns.start;
        self.inside.freq_changes += u64::from(is_change && self.window_ns.contains(&time_ns));
    }

    /// A task of the set runs on a CPU from now on.
    pub(crate) fn runs(&mut self, time_ns: u64, cpu: u32, task: usize) {
        let Some(here) = self.on_cpu.get_mut(cpu as usize) else {
            return;
        };
        if here.replace(task) == Some(task) {
            return;
        }
        let before = self.of_task[task].replace(cpu);
        if self.window_ns.contains(&time_ns) {
            self.inside.stretches += 1;
            self.inside.moves += u64::from(before.is_some_and(|before| before != cpu));
        }
    }

    /// The task that ran on a CPU sleeps.
    pub(crate) fn sleeps(&mut self, cpu: u32) {
        if let Some(here) = self.on_cpu.get_mut(cpu as usize) {
            *here = None;
        }
    }

    /// The window is over.
    pub(crate) fn inside(mut self) -> Inside {
        let (end_ns, window_ns) = (self.window_ns.end, self.window_ns);
        let length_ns = (end_ns - window_ns.start) as f64;
        let mean = |domain: &mut Domain| {
            domain.until(end_ns, &window_ns);
            domain.known.then(|| domain.sum as f64 / length_ns)
        };
        Inside {
            mean_khz: self.domains.iter_mut().map(mean).collect(),
            ..self.inside
        }
    }
}

/// Counts in a guest's trace. `tids`: the tasks' threads, in their order. `khz`: the frequency of
/// each domain before, where it is known.
pub(crate) fn of_trace(
    text: &str,
    platform: &Platform,
    window_ns: &Range<u64>,
    tids: &[i32],
    khz: &[Option<u32>],
) -> Inside {
    let mut counter = Counter::new(window_ns, platform, tids.len());
    for (domain, khz) in khz.iter().enumerate() {
        if let Some(khz) = khz {
            counter.frequency(0, domain, *khz);
        }
    }
    let task_of = |tid: i32| tids.iter().position(|own| *own == tid);
    for line in text.lines().filter_map(Line::parse) {
        let (time_ns, cpu) = (line.time_ns, line.context.cpu);
        match line.name {
            "sched_switch" => {
                let state = line.text("prev_state").unwrap_or("R");
                let before = line.number("prev_pid").and_then(task_of);
                if before.is_some() && !state.starts_with('R') {
                    counter.sleeps(cpu);
                }
                if let Some(task) = line.number("next_pid").and_then(task_of) {
                    counter.runs(time_ns, cpu, task);
                }
            }
            "cpu_frequency" => {
                let known = |cpu: &u32| (*cpu as usize) < platform.cpus.len();
                let cpu = line.number("cpu_id").filter(known);
                if let Some((cpu, own)) = cpu.zip(line.number("state")) {
                    let domain = platform.freq_domain_of(CpuId(cpu));
                    counter.frequency(time_ns, domain, own);
                }
            }
            _ => {}
        }
    }
    counter.inside()
}

/// What a guest's kernel counted between two texts of `/proc/uptime`, `/proc/stat`,
/// `/proc/softirqs` and `/proc/interrupts`, a second.
pub(crate) fn counts(before: &str, after: &str) -> Counts {
    let uptime = |text: &str| -> Option<f64> { text.split_whitespace().next()?.parse().ok() };
    let seconds = uptime(after).zip(uptime(before)).map(|(a, b)| a - b);
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) else {
        return Counts::default();
    };
    let rate = |of: &dyn Fn(&str) -> Option<u64>| {
        let more = of(after)?.checked_sub(of(before)?)?;
        Some(more as f64 / seconds)
    };
    Counts {
        switches: rate(&|text| sum(text, "ctxt")),
        timers: rate(&|text| sum(text, "arch_timer")),
        passes: rate(&|text| sum(text, "SCHED:")),
    }
}

/// The sum of a line's numbers for CPUs: those between its title, if that is first, and the words
/// that follow. A line of /proc/interrupts has its name behind them.
fn sum(text: &str, name: &str) -> Option<u64> {
    let has = |line: &&str| line.split_whitespace().any(|word| word == name);
    let line = text.lines().find(has)?;
    let words = line.split_whitespace().skip(1);
    let numbers = words.map_while(|word| word.parse::<u64>().ok());
    Some(numbers.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn hikey960() -> Platform {
        Platform::load("hikey960").expect("built in")
    }

    /// Goal: a clock's mean is weighed by time within the window. Method: by hand: 500 until 12 ms,
    /// then 1500; the window is 10 to 20 ms: (2 x 500 + 8 x 1500) / 10 = 1300.
    #[test]
    fn a_mean_clock_is_that_of_the_window() {
        let mut counter = Counter::new(&(10 * MS..20 * MS), &hikey960(), 0);
        counter.frequency(0, 0, 500);
        counter.frequency(12 * MS, 0, 1500);
        counter.frequency(12 * MS, 0, 1500);
        counter.frequency(15 * MS, 1, 900);
        counter.frequency(30 * MS, 0, 500);
        let inside = counter.inside();
        // What the second domain began the window with is not known.
        assert_eq!(inside.mean_khz, [Some(1300.0), None]);
        assert_eq!(inside.freq_changes, 1);
    }

    #[test]
    fn an_interrupted_stretch_is_one_and_a_sleep_ends_it() {
        let mut counter = Counter::new(&(0..MS), &hikey960(), 2);
        counter.runs(0, 3, 0);
        counter.runs(1, 3, 0); // back from a thread of the kernel
        counter.sleeps(3);
        counter.runs(2, 3, 0);
        counter.runs(3, 3, 1);
        counter.runs(4, 5, 0);
        counter.runs(MS, 6, 1);
        let inside = counter.inside();
        assert_eq!((inside.stretches, inside.moves), (4, 1));
    }

    /// A guest's texts, cut. 100 s apart.
    #[test]
    fn a_kernels_counts_are_a_second() {
        let text = |uptime: &str, ctxt: u32, sched: u32, timer: u32| {
            format!(
                "{uptime} 5.00\nctxt {ctxt}\n                    CPU0       CPU1\n\
                 SCHED:  {sched}  7\nHRTIMER: 1 2\n           CPU0       CPU1\n \
                 11:  {timer}  4  GIC-0  27 Level  arch_timer\nIPI0: 9 9 Rescheduling interrupts\n"
            )
        };
        let found = counts(&text("1.50", 10, 3, 8), &text("101.50", 310, 53, 208));
        let expected = Counts {
            switches: Some(3.0),
            timers: Some(2.0),
            passes: Some(0.5),
        };
        assert_eq!(found, expected);
        assert_eq!(counts("", ""), Counts::default());
    }
}

//! Which tasks of a chain took the time of its late frames, and who was still at work when others
//! were dropped (docs/guide/workloads.md#deadlines).
//!
//! A late frame's time goes from its begin to its end. `frames.rs` splits it. Here it is added up
//! over the frames of a run, then over the runs, with names for threads. A dropped frame has no end
//! and so no time. Times are ns.
//!
//! What must stay: the order of tasks: who ran and waited longest first, then by name; shares are
//! of the time of late frames; sums are integers. Who was at work when frames were dropped stands
//! in the order of their number, then of the name. Free: what leaves every figure as it is
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part: `late_frames_are_split_by_hand`
//! (`new`, `add_late`, `late_frames`, `add`, `shown`, `most`), `a_dropped_frame_says_who_was_busy`
//! (`add_dropped`, `add_unfinished`, `behind`), `who_goes_on_at_once_leaves_a_frame` (those of
//! frames.rs), `frames_in_time_are_not_split` (`late_frames`).
//! `load`, `frames`, `runs`, `stops`, `wakes`, `begins`, `ends` and `clock` are the tests' own.
//!
//! Callers: frames.rs (`new`, `add_late`, `add_dropped`, `add_unfinished`), profile.rs
//! (`late_frames`).
//!
//! Tests: below

use crate::collector::RunMetrics;
use crate::profile::percent;
use crate::stages::{Split, Times};
use std::collections::BTreeMap;
use wakeplace_engine::RunReport;
use wakeplace_outcome::{DroppedBehind, LateFrames, LateTask};
use wakeplace_workload::task_of_thread;

/// What the late frames of a chain took their time for, and why others were dropped, in one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateChain {
    /// Name of the chain.
    pub name: String,
    /// Frames that count.
    pub frames: u64,
    /// Those of them that were late.
    pub late: u64,
    /// Those of them that were dropped.
    pub dropped: u64,
    /// Those of the dropped ones that were still under way when the run ended.
    pub unfinished: u64,
    /// Dropped ones by who was still at work when they were to be handed on, and how many frames
    /// before them that frame was.
    pub behind: BTreeMap<(u32, u32), u64>,
    /// The time of late ones.
    pub time_ns: u128,
    /// What threads did in it.
    pub tasks: BTreeMap<u32, Times>,
    /// What each CPU is called.
    pub cpu_names: Vec<String>,
}

impl LateChain {
    /// Of a chain without frames.
    pub(crate) fn new(name: &str, cpu_names: &[String]) -> Self {
        Self {
            name: name.to_owned(),
            frames: 0,
            late: 0,
            dropped: 0,
            unfinished: 0,
            behind: BTreeMap::new(),
            time_ns: 0,
            tasks: BTreeMap::new(),
            cpu_names: cpu_names.to_vec(),
        }
    }

    /// Adds a dropped frame, with who was still at work and how many frames before, if that is
    /// known.
    pub(crate) fn add_dropped(&mut self, behind: Option<(u32, u32)>) {
        self.dropped += 1;
        if let Some(behind) = behind {
            *self.behind.entry(behind).or_default() += 1;
        }
    }

    /// Adds a frame that was under way when the run ended, after its deadline.
    pub(crate) fn add_unfinished(&mut self) {
        self.dropped += 1;
        self.unfinished += 1;
    }

    /// Adds a late frame of a run that ended at `end_ns`, with what is known of its time.
    pub(crate) fn add_late(&mut self, split: Option<&Split>, end_ns: u64) {
        self.late += 1;
        let Some(split) = split else {
            return;
        };
        let until_ns = split.until_ns.unwrap_or(end_ns);
        self.time_ns += u128::from(until_ns.saturating_sub(split.begin_ns));
        for (task, times) in &split.tasks {
            let sum = self.tasks.entry(*task).or_default();
            sum.khz_ns += times.khz_ns;
            for (cpu, ns) in &times.running_ns {
                *sum.running_ns.entry(*cpu).or_default() += ns;
            }
            for (behind, ns) in &times.waiting_ns {
                *sum.waiting_ns.entry(*behind).or_default() += ns;
            }
        }
    }
}

/// A chain in all runs.
#[derive(Default)]
struct ChainSum<'a> {
    frames: u64,
    late: u64,
    dropped: u64,
    unfinished: u64,
    behind: BTreeMap<(&'a str, u32), u64>,
    time_ns: u128,
    tasks: BTreeMap<&'a str, TaskSum<'a>>,
}

/// The threads of a task in all runs.
#[derive(Default)]
struct TaskSum<'a> {
    /// By what the CPU is called.
    running_ns: BTreeMap<&'a str, u128>,
    khz_ns: u128,
    /// By who ran then.
    waiting_ns: BTreeMap<Option<&'a str>, u128>,
}

/// Chains with late or dropped frames, mean of the runs, in the order of the workload.
pub(crate) fn late_frames(runs: &[RunMetrics], reports: &[RunReport]) -> Vec<LateFrames> {
    let mut sums: Vec<(&str, ChainSum<'_>)> = Vec::new();
    for (run, report) in runs.iter().zip(reports) {
        for (at, chain) in run.late_frames.iter().enumerate() {
            if at == sums.len() {
                sums.push((chain.name.as_str(), ChainSum::default()));
            }
            add(&mut sums[at].1, chain, report);
        }
    }
    let missed = sums.into_iter();
    let missed = missed.filter(|(_, sum)| sum.late + sum.dropped > 0);
    let shown = missed.map(|(name, sum)| shown(name, &sum, runs.len()));
    shown.collect()
}

/// Adds the chain of one run.
fn add<'a>(sum: &mut ChainSum<'a>, chain: &'a LateChain, report: &'a RunReport) {
    let name = |task: u32| {
        let thread = report.threads.get(task as usize);
        thread.map_or("", |thread| task_of_thread(&thread.name))
    };
    sum.frames += chain.frames;
    sum.late += chain.late;
    sum.dropped += chain.dropped;
    sum.unfinished += chain.unfinished;
    sum.time_ns += chain.time_ns;
    for ((task, before), frames) in &chain.behind {
        *sum.behind.entry((name(*task), *before)).or_default() += frames;
    }
    for (task, times) in &chain.tasks {
        let sum = sum.tasks.entry(name(*task)).or_default();
        sum.khz_ns += times.khz_ns;
        for (cpu, ns) in &times.running_ns {
            let cpu = chain.cpu_names.get(*cpu as usize);
            let cpu = cpu.map_or("", String::as_str);
            *sum.running_ns.entry(cpu).or_default() += u128::from(*ns);
        }
        for (behind, ns) in &times.waiting_ns {
            *sum.waiting_ns.entry(behind.map(name)).or_default() += u128::from(*ns);
        }
    }
}

/// Where most of it is; of equal ones the first. None: there is nothing.
fn most<K: Copy>(all: &BTreeMap<K, u128>) -> Option<K> {
    let largest = all.values().max()?;
    all.iter()
        .find_map(|(key, ns)| (ns == largest).then_some(*key))
}

/// Who was at work when frames were dropped: most frames first, then by name.
fn behind(sum: &ChainSum<'_>, runs: f64) -> Vec<DroppedBehind> {
    let mut all: Vec<_> = sum.behind.iter().collect();
    // Equal ones stay in the order of their names.
    all.sort_by_key(|(_, frames)| std::cmp::Reverse(**frames));
    let one = |((task, before), frames): (&(&str, u32), &u64)| DroppedBehind {
        task: (*task).to_owned(),
        frames_before: *before,
        dropped_per_run: *frames as f64 / runs,
    };
    all.into_iter().map(one).collect()
}

/// As results have it.
fn shown(chain: &str, sum: &ChainSum<'_>, runs: usize) -> LateFrames {
    let one = |(task, times): (&&str, &TaskSum<'_>)| {
        let running_ns: u128 = times.running_ns.values().sum();
        let waiting_ns: u128 = times.waiting_ns.values().sum();
        let busy_ns = running_ns + waiting_ns;
        let told = LateTask {
            task: (*task).to_owned(),
            running_pct: percent(running_ns, sum.time_ns),
            waiting_pct: percent(waiting_ns, sum.time_ns),
            asleep_pct: percent(sum.time_ns.saturating_sub(busy_ns), sum.time_ns),
            running_on: most(&times.running_ns).map(str::to_owned),
            running_khz_mean: (running_ns > 0).then(|| times.khz_ns as f64 / running_ns as f64),
            waiting_behind: most(&times.waiting_ns).flatten().map(str::to_owned),
        };
        (busy_ns, told)
    };
    let mut tasks: Vec<(u128, LateTask)> = sum.tasks.iter().map(one).collect();
    // Equal ones stay in the order of their names.
    tasks.sort_by_key(|(busy_ns, _)| std::cmp::Reverse(*busy_ns));
    let n = runs as f64;
    LateFrames {
        chain: chain.to_owned(),
        frames_per_run: sum.frames as f64 / n,
        late_per_run: sum.late as f64 / n,
        late_s_per_run: sum.time_ns as f64 / 1e9 / n,
        tasks: tasks.into_iter().map(|(_, task)| task).collect(),
        dropped_per_run: sum.dropped as f64 / n,
        unfinished_per_run: sum.unfinished as f64 / n,
        dropped_behind: behind(sum, n),
    }
}

#[cfg(test)]
mod tests {
    use super::{LateFrames, late_frames};
    use crate::collector::RunMetrics;
    use crate::frames::Frames;
    use crate::testbed::two_clusters;
    use wakeplace_engine::observe::{Stop, Waking};
    use wakeplace_engine::{Observer, RunReport, ThreadName, happen};
    use wakeplace_workload::{Chain, Event, LoadOptions, MachineFacts, Spec, Workload};

    const MS: u64 = 1_000_000;
    const UI: u32 = 0;
    const RASTER: u32 = 1;
    const HOG: u32 = 2;

    /// Three tasks; the first begins the frames of `screen`, which are due after 10 ms.
    fn load() -> Workload {
        let spec = Spec::parse("periodic:n=3", &LoadOptions::default()).expect("a model");
        let mut load = spec.expand(1, MachineFacts::alike(3)).expect("fits");
        load.chains.push(Chain {
            name: "screen".to_owned(),
            deadline_ns: 10 * MS,
            known: None,
            recorded: None,
        });
        let begin = Event::FrameBegin {
            chain: 0,
            woken: None,
        };
        load.tasks[0].phases[0].events.insert(0, begin);
        load
    }

    /// What happens on CPU 0; times in ms.
    struct Told(Frames);

    impl Told {
        fn runs(&mut self, at: u64, task: u32) {
            happen!(self.0, at * MS => RunStart { cpu: 0, task, wake_latency_ns: None });
        }

        fn stops(&mut self, at: u64, task: u32, stop: Stop) {
            happen!(self.0, at * MS => RunStop { cpu: 0, task, ran_ns: 0, stop });
        }

        fn wakes(&mut self, at: u64, task: u32, waker: Option<u32>) {
            let (cpu, sync) = (0, false);
            happen!(self.0, at * MS => Woken(Waking { task, waker, cpu, sync }));
        }

        fn begins(&mut self, at: u64, begin: u64) {
            let (task, chain, begin_ns) = (UI, 0, begin * MS);
            happen!(self.0, at * MS => FrameBegin { task, chain, begin_ns });
        }

        /// `ui` begins a frame while `raster` is at work.
        fn begins_beside(&mut self, at: u64) {
            self.wakes(at, UI, None);
            self.begins(at, at);
        }

        fn ends(&mut self, at: u64) {
            let (task, chain, frame) = (RASTER, 0, None);
            happen!(self.0, at * MS => FrameEnd { task, chain, frame });
            self.stops(at, RASTER, Stop::Sleeps);
        }

        fn clock(&mut self, at: u64, opp: u16) {
            happen!(self.0, at * MS => Frequency { domain: 0, opp });
        }
    }

    /// The first frame is due at 10 and done at 14. `ui` waits behind `hog` from 0 to 4 and runs to
    /// 7. `raster` is woken at 6, waits behind `ui` to 7, runs to 10, waits behind `hog` to 12 and
    /// runs to 14; its clock is 500 MHz to 9, then 1000. The second frame is in time. The third
    /// begins at 32; `ui` runs to 33 and hands it to nobody, though `raster` sleeps, so it is
    /// dropped. `ui` begins the next one at 49, after it has waited behind `hog` from 48 on.
    fn frames() -> Frames {
        let mut it = Told(Frames::of_run(&two_clusters(), &load()));
        it.clock(0, 0);
        it.runs(0, HOG);
        it.wakes(0, UI, None);
        it.stops(4, HOG, Stop::Preempted);
        it.runs(4, UI);
        it.begins(4, 0);
        it.wakes(6, RASTER, Some(UI));
        it.stops(7, UI, Stop::Sleeps);
        it.runs(7, RASTER);
        it.clock(9, 1);
        it.stops(10, RASTER, Stop::Preempted);
        it.runs(10, HOG);
        it.stops(12, HOG, Stop::Preempted);
        it.runs(12, RASTER);
        it.ends(14);
        it.wakes(16, UI, None);
        it.runs(16, UI);
        it.begins(16, 16);
        it.wakes(17, RASTER, Some(UI));
        it.stops(17, UI, Stop::Sleeps);
        it.runs(17, RASTER);
        it.ends(19);
        it.wakes(32, UI, None);
        it.runs(32, UI);
        it.begins(32, 32);
        it.stops(33, UI, Stop::Sleeps);
        it.runs(33, HOG);
        it.wakes(48, UI, None);
        it.stops(49, HOG, Stop::Preempted);
        it.runs(49, UI);
        it.begins(49, 48);
        happen!(it.0, 50 * MS => Finish);
        it.0
    }

    /// The names of the threads.
    fn report() -> RunReport {
        let thread = |name: &str| ThreadName {
            script: 0,
            name: name.to_owned(),
        };
        RunReport {
            threads: Vec::from(["ui-0", "raster", "hog"].map(thread)),
            ..RunReport::default()
        }
    }

    /// What is told of the only chain of a run that ends at 100 ms.
    fn at_100_ms(mut it: Told) -> LateFrames {
        happen!(it.0, 100 * MS => Finish);
        let mut run = RunMetrics::kept(std::iter::empty(), 0);
        run.late_frames = it.0.late(100 * MS);
        let mut all = late_frames(&[run], &[report()]);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// Who was at work when frames were dropped, how many frames before, and how many in a run.
    fn behind(screen: &LateFrames) -> Vec<(&str, u32, f64)> {
        let all = screen.dropped_behind.iter();
        all.map(|of| (&*of.task, of.frames_before, of.dropped_per_run))
            .collect()
    }

    /// Goal: by hand, of `frames` above: one of three frames is late and takes 14 ms. `ui` runs 3
    /// and waits 4 of these, `raster` runs 5 and waits 3. The mean of 2 ms at 500 and 3 at 1000 MHz
    /// is 800 MHz. Another one is dropped, and its time is in no share. Of two equal runs the mean
    /// is that of one.
    #[test]
    fn late_frames_are_split_by_hand() {
        let mut run = RunMetrics::kept(std::iter::empty(), 0);
        run.late_frames = frames().late(50 * MS);
        let all = late_frames(&[run.clone(), run], &[report(), report()]);
        let [screen] = all.as_slice() else {
            panic!("{all:?}");
        };
        assert_eq!(screen.chain, "screen");
        assert_eq!((screen.frames_per_run, screen.late_per_run), (3.0, 1.0));
        let dropped = (screen.dropped_per_run, screen.unfinished_per_run);
        assert_eq!(dropped, (1.0, 0.0));
        assert!(screen.dropped_behind.is_empty(), "{screen:?}");
        assert!(
            (screen.late_s_per_run - 0.014).abs() < 1e-12,
            "{}",
            screen.late_s_per_run
        );
        let [raster, ui] = screen.tasks.as_slice() else {
            panic!("{:?}", screen.tasks);
        };
        assert_eq!((&*ui.task, &*raster.task), ("ui", "raster"));
        for (found, of_14) in [
            (ui.running_pct, 3.0),
            (ui.waiting_pct, 4.0),
            (ui.asleep_pct, 7.0),
            (raster.running_pct, 5.0),
            (raster.waiting_pct, 3.0),
            (raster.asleep_pct, 6.0),
        ] {
            assert!((found * 14.0 / 100.0 - of_14).abs() < 1e-9, "{screen:?}");
        }
        assert_eq!(raster.running_khz_mean, Some(800_000.0));
        assert_eq!(raster.running_on.as_deref(), Some("little"));
        for task in [ui, raster] {
            assert_eq!(task.waiting_behind.as_deref(), Some("hog"));
        }
    }

    /// Goal: a dropped frame says who was still at work on an earlier one. Method: by hand, all due
    /// after 10 ms. `raster` works on the first frame until 18 and sleeps. `ui` hands on the
    /// second, from 16 to 20, to nobody: `raster` was at work meanwhile, one frame before. The
    /// third, of 32, is in time. `raster` takes the fourth, of 48, at 49, and works until the end.
    /// The fifth, of 64, finds it at work one frame before; the sixth, of 80, two. At 100 the
    /// fourth is under way.
    #[test]
    fn a_dropped_frame_says_who_was_busy() {
        let mut it = Told(Frames::of_run(&two_clusters(), &load()));
        // `ui` on CPU 0 hands on 1 ms after the begin, and works until then.
        let begins = |it: &mut Told, at: u64, hands_on: bool, until: u64| {
            it.wakes(at, UI, None);
            it.runs(at, UI);
            it.begins(at, at);
            if hands_on {
                it.wakes(at + 1, RASTER, Some(UI));
            }
            it.stops(until, UI, Stop::Sleeps);
        };
        begins(&mut it, 0, true, 2);
        it.runs(2, RASTER);
        it.begins_beside(16);
        it.ends(18);
        it.stops(20, UI, Stop::Sleeps);
        begins(&mut it, 32, true, 34);
        it.runs(34, RASTER);
        it.ends(38);
        begins(&mut it, 48, true, 50);
        it.runs(50, RASTER);
        for at in [64, 80] {
            it.begins_beside(at);
            it.stops(at + 1, UI, Stop::Sleeps);
        }
        let screen = at_100_ms(it);
        // Late: the first. Dropped: the second, fourth, fifth and sixth.
        let counts = (
            screen.frames_per_run,
            screen.late_per_run,
            screen.dropped_per_run,
        );
        assert_eq!(counts, (6.0, 1.0, 4.0));
        assert_eq!(screen.unfinished_per_run, 1.0);
        assert_eq!(behind(&screen), [("raster", 1, 2.0), ("raster", 2, 1.0)]);
    }

    /// Goal: a task that is late begins its next frame without a sleep, and who was at work then is
    /// told as well. By hand: `raster` works on the first frame until 40. The second, of 16, finds
    /// it at work one frame before when `ui` goes on to the third at 32; that finds it two before.
    #[test]
    fn who_goes_on_at_once_leaves_a_frame() {
        let mut it = Told(Frames::of_run(&two_clusters(), &load()));
        it.wakes(0, UI, None);
        it.runs(0, UI);
        it.begins(0, 0);
        it.wakes(1, RASTER, Some(UI));
        it.stops(2, UI, Stop::Sleeps);
        it.runs(2, RASTER);
        it.begins_beside(16);
        it.begins(32, 32);
        it.stops(34, UI, Stop::Sleeps);
        it.ends(40);
        let screen = at_100_ms(it);
        assert_eq!((screen.late_per_run, screen.dropped_per_run), (1.0, 2.0));
        let mut behind = behind(&screen);
        behind.sort_by_key(|of| of.1);
        assert_eq!(behind, [("raster", 1, 1.0), ("raster", 2, 1.0)]);
    }

    /// Goal: without a late frame nothing is told, and without a chain nothing is followed.
    #[test]
    fn frames_in_time_are_not_split() {
        let mut it = Told(Frames::of_run(&two_clusters(), &load()));
        it.wakes(0, UI, None);
        it.runs(0, UI);
        it.begins(0, 0);
        it.wakes(1, RASTER, Some(UI));
        it.stops(1, UI, Stop::Sleeps);
        it.runs(1, RASTER);
        it.ends(9);
        let mut run = RunMetrics::kept(std::iter::empty(), 0);
        run.late_frames = it.0.late(20 * MS);
        assert_eq!((run.late_frames[0].frames, run.late_frames[0].late), (1, 0));
        assert_eq!(run.late_frames[0].tasks.len(), 0);
        assert!(late_frames(&[run], &[RunReport::default()]).is_empty());
        let none = Workload {
            chains: Vec::new(),
            ..load()
        };
        let none = Frames::of_run(&two_clusters(), &none);
        assert!(none.late(20 * MS).is_empty());
    }
}

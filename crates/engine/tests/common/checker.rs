//! Checks a recorded run against what every run must obey, whatever the workload.

use super::record::{Entry, Log, What};
use super::{MS, US};
use wakeplace_engine::RunReport;
use wakeplace_engine::observe::{CpuPower, MigrateCause, Placement, PlacementKind};
use wakeplace_platform::{IdleScope, IdleState, Platform};
use wakeplace_workload::{TaskScript, Workload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unborn,
    Asleep,
    /// Waits for its CPU since then.
    Ready(u64),
    Running(u64),
    Gone,
}

/// State of a run while its log is read.
struct Checker<'a> {
    platform: &'a Platform,
    workload: &'a Workload,
    states: Vec<State>,
    cpu_of: Vec<u32>,
    ran: Vec<u64>,
    waited: Vec<u64>,
    running: Vec<Option<u32>>,
    power: Vec<Option<CpuPower>>,
    /// What each CPU was announced in before `power`, and since when it is in `power`.
    before: Vec<(Option<CpuPower>, u64)>,
    clusters: Vec<Option<Option<u16>>>,
    opps: Vec<Option<u16>>,
    /// Since when each CPU has had waiting tasks and executed none.
    stalled: Vec<Option<u64>>,
    /// The last fork: before, an invisible parent uses a CPU.
    forked: u64,
    woken: Option<Placement>,
    /// Sleepers may stay queued, and wake without a placement.
    delayed_dequeue: bool,
    now: u64,
}

/// May a task ever use this CPU? (Phases may widen or narrow the task's own list.)
fn may_use(script: &TaskScript, cpu: u32) -> bool {
    let lists = script.phases.iter().map(|p| p.cpus.as_ref());
    let own = script.cpus.as_ref();
    let effective = lists.map(|phase| phase.or(own)).chain([own]);
    effective
        .into_iter()
        .any(|list| list.is_none_or(|l| l.contains(&cpu)))
}

/// Panics at the first entry that breaks a rule.
pub(crate) fn check_log(
    platform: &Platform,
    workload: &Workload,
    log: &Log,
    report: &RunReport,
    delayed_dequeue: bool,
) {
    let (tasks, cpus) = (workload.tasks.len(), platform.cpus.len());
    let forks = log.pick(|w| match w {
        What::Placement(p) if p.kind == PlacementKind::Fork => Some(()),
        _ => None,
    });
    let mut checker = Checker {
        platform,
        workload,
        states: vec![State::Unborn; tasks],
        cpu_of: vec![0; tasks],
        ran: vec![0; tasks],
        waited: vec![0; tasks],
        running: vec![None; cpus],
        power: vec![None; cpus],
        before: vec![(None, 0); cpus],
        clusters: vec![None; platform.clusters.len()],
        opps: vec![None; platform.freq_domains.len()],
        stalled: vec![None; cpus],
        forked: forks.last().map_or(u64::MAX, |(at, ())| *at),
        woken: None,
        delayed_dequeue,
        now: 0,
    };
    for entry in &log.0 {
        checker.take(entry);
    }
    assert_eq!(log.0.last().map(|e| e.what), Some(What::Finish));
    checker.compare(report);
}

impl Checker<'_> {
    fn take(&mut self, entry: &Entry) {
        assert!(entry.at >= self.now, "time went back at {entry:?}");
        if entry.at > self.now {
            self.look_for_stalls(entry.at);
            self.now = entry.at;
        }
        match entry.what {
            What::Power { cpu, power } => self.power(cpu, power),
            What::Cluster { cluster, state } => self.cluster(cluster, state),
            What::Frequency { domain, opp } => self.frequency(domain, opp),
            What::Placement(placement) => self.placement(&placement),
            What::Wakeup { task, cpu, due } => self.wakeup(task, cpu, due),
            What::Start { cpu, task, latency } => self.start(cpu, task, latency),
            What::Stop {
                cpu,
                task,
                ran,
                sleeps,
            } => self.stop(cpu, task, ran, sleeps),
            What::Migrate {
                task,
                from,
                to,
                cause,
            } => self.migrate(task, from, to, cause),
            What::Exit { task } => {
                assert_eq!(self.states[task as usize], State::Asleep, "exit of {task}");
                self.states[task as usize] = State::Gone;
            }
            What::Slack { task, .. } => {
                assert!(matches!(self.states[task as usize], State::Running(_)));
            }
            What::Overutilized(_) => {}
            What::Finish => self.finish(),
        }
    }

    /// A CPU announces changes only, and never sleeps while it executes or its cluster is down.
    fn power(&mut self, cpu: u32, power: CpuPower) {
        assert_ne!(
            self.power[cpu as usize],
            Some(power),
            "CPU {cpu} at {}: not a change",
            self.now
        );
        if let CpuPower::Idle { state } | CpuPower::Transition { state } = power {
            assert_eq!(self.running[cpu as usize], None, "CPU {cpu} idles and runs");
            let state = &self.platform.idle_states[usize::from(state)];
            assert!(state.cpus.iter().any(|c| c.0 == cpu), "a state it lacks");
        }
        self.power_order(cpu, power);
        let old = self.power[cpu as usize].replace(power);
        self.before[cpu as usize] = (old, self.now);
        let cluster = self.platform.cpus[cpu as usize].cluster as usize;
        assert!(
            matches!(power, CpuPower::Idle { .. })
                || !matches!(self.clusters[cluster], Some(Some(_))),
            "CPU {cpu} is awake in a cluster that is down"
        );
    }

    /// Busy, into state s, in s, out of s, Busy: in this order, and each transition as long as the
    /// platform says. Transitions of no time are left out; a caught entry goes on to its end and
    /// then out. An interrupt sent from another CPU takes its time on top.
    fn power_order(&self, cpu: u32, power: CpuPower) {
        use CpuPower::{Busy, Idle, Transition};
        let (before, since) = self.before[cpu as usize];
        let lasted = self.now - since;
        let entry = |s: u16| self.platform.idle_states[usize::from(s)].entry_latency_ns;
        let left = |s: u16, lasted: u64| {
            let (exits, ipi) = (self.exits(cpu, s), self.platform.costs.ipi_ns);
            exits.iter().any(|e| (*e..=e + ipi).contains(&lasted))
        };
        let legal = match (before, self.power[cpu as usize], power) {
            // At time 0 the CPUs are in a state they did not enter.
            (_, None, Idle { .. }) => self.now == 0,
            (None, Some(Idle { state: a }), Transition { state: b }) if self.now == 0 => a == b,
            (_, Some(Busy), Idle { state }) => entry(state) == 0,
            (_, Some(Busy), Transition { state }) => entry(state) > 0,
            (_, Some(Idle { state }), Busy) => left(state, 0),
            (_, Some(Idle { state: a }), Transition { state: b }) => a == b,
            (Some(Idle { .. }), Some(Transition { state }), Busy) => left(state, lasted),
            (Some(Busy), Some(Transition { state: a }), Idle { state: b }) => {
                a == b && lasted == entry(a)
            }
            (Some(Busy), Some(Transition { state }), Busy) => {
                lasted >= entry(state) && left(state, lasted - entry(state))
            }
            _ => false,
        };
        let now = self.power[cpu as usize];
        assert!(
            legal,
            "CPU {cpu} at {}: {before:?}, then {now:?} for {lasted} ns, then {power:?}",
            self.now
        );
    }

    /// Ways out of a state: a cluster state whose cluster stayed up is left like the CPU's own
    /// deepest.
    fn exits(&self, cpu: u32, state: u16) -> Vec<u64> {
        let states = &self.platform.idle_states;
        let state = &states[usize::from(state)];
        let mut exits = vec![state.exit_latency_ns];
        if state.scope == IdleScope::Cluster {
            let of_cpu = |s: &&IdleState| s.cpus.iter().any(|c| c.0 == cpu);
            let mut own = states.iter().filter(of_cpu);
            let deepest = own.rfind(|s| s.scope == IdleScope::Cpu);
            exits.extend(deepest.map(|s| s.exit_latency_ns));
        }
        exits
    }

    /// A cluster is down only while all its CPUs are in a cluster state.
    fn cluster(&mut self, cluster: u32, state: Option<u16>) {
        let known = &mut self.clusters[cluster as usize];
        assert_ne!(*known, Some(state), "cluster {cluster}: not a change");
        *known = Some(state);
        if state.is_none() {
            return;
        }
        for cpu in &self.platform.clusters[cluster as usize].cpus {
            let Some(CpuPower::Idle { state }) = self.power[cpu.index()] else {
                panic!("cluster {cluster} is down with CPU {cpu} busy");
            };
            let scope = self.platform.idle_states[usize::from(state)].scope;
            assert_eq!(scope, IdleScope::Cluster, "CPU {cpu} did not ask for it");
        }
    }

    fn frequency(&mut self, domain: u32, opp: u16) {
        let table = &self.platform.freq_domains[domain as usize].opps;
        assert!(usize::from(opp) < table.len(), "no such operating point");
        self.opps[domain as usize] = Some(opp);
    }

    fn placement(&mut self, p: &Placement) {
        let script = &self.workload.tasks[p.task as usize];
        assert!(may_use(script, p.cpu), "placed where it may not be: {p:?}");
        match p.kind {
            PlacementKind::Fork => {
                assert_eq!(self.states[p.task as usize], State::Unborn);
                self.states[p.task as usize] = State::Ready(self.now);
                self.cpu_of[p.task as usize] = p.cpu;
                self.note_stall(p.cpu);
            }
            PlacementKind::Wake => {
                assert_eq!(self.states[p.task as usize], State::Asleep, "{p:?}");
                assert_eq!(self.cpu_of[p.task as usize], p.prev_cpu, "{p:?}");
                self.woken = Some(*p);
            }
        }
    }

    /// A placement precedes, unless the sleeper's queue had not let it go: then it wakes there.
    fn wakeup(&mut self, task: u32, cpu: u32, due: u64) {
        assert!(
            due <= self.now,
            "task {task} woke {} ns early",
            due - self.now
        );
        assert_eq!(self.states[task as usize], State::Asleep);
        self.states[task as usize] = State::Ready(self.now);
        let Some(placement) = self.woken.take() else {
            assert!(self.delayed_dequeue, "a placement precedes");
            assert_eq!(
                self.cpu_of[task as usize], cpu,
                "task {task} woke elsewhere"
            );
            return self.note_stall(cpu);
        };
        assert_eq!((placement.task, placement.cpu), (task, cpu));
        if placement.prev_cpu == cpu {
            self.note_stall(cpu);
        } else {
            self.woken = Some(placement); // the move follows
        }
    }

    fn migrate(&mut self, task: u32, from: u32, to: u32, cause: MigrateCause) {
        assert_ne!(from, to);
        assert_eq!(
            self.cpu_of[task as usize], from,
            "task {task} was elsewhere"
        );
        assert!(
            matches!(self.states[task as usize], State::Ready(_)),
            "task {task} moved while {:?}",
            self.states[task as usize]
        );
        assert!(may_use(&self.workload.tasks[task as usize], to));
        if cause == MigrateCause::Wake {
            let placement = self.woken.take().expect("a placement precedes");
            assert_eq!((placement.task, placement.cpu), (task, to));
        }
        self.cpu_of[task as usize] = to;
        self.note_stall(from);
        self.note_stall(to);
    }

    fn start(&mut self, cpu: u32, task: u32, latency: Option<u64>) {
        assert_eq!(self.running[cpu as usize], None, "two tasks on CPU {cpu}");
        assert_eq!(
            self.cpu_of[task as usize], cpu,
            "task {task} runs elsewhere"
        );
        assert_eq!(self.power[cpu as usize], Some(CpuPower::Busy));
        let State::Ready(since) = self.states[task as usize] else {
            panic!("task {task} runs while {:?}", self.states[task as usize]);
        };
        let waited = self.now - since;
        assert!(latency.is_none_or(|ns| ns >= waited), "latency below wait");
        self.waited[task as usize] += waited;
        self.states[task as usize] = State::Running(self.now);
        self.running[cpu as usize] = Some(task);
        self.note_stall(cpu);
    }

    fn stop(&mut self, cpu: u32, task: u32, ran: u64, sleeps: bool) {
        assert_eq!(self.running[cpu as usize].take(), Some(task));
        assert_eq!(
            self.states[task as usize],
            State::Running(self.now - ran),
            "task {task}: ran {ran}"
        );
        self.ran[task as usize] += ran;
        self.states[task as usize] = if sleeps {
            State::Asleep
        } else {
            State::Ready(self.now)
        };
        self.note_stall(cpu);
    }

    /// Does this CPU have somebody waiting and nobody executing?
    fn note_stall(&mut self, cpu: u32) {
        let waits = (self.states.iter().zip(&self.cpu_of))
            .any(|(s, c)| *c == cpu && matches!(s, State::Ready(_)));
        let stalled = waits && self.running[cpu as usize].is_none();
        let since = &mut self.stalled[cpu as usize];
        *since = stalled.then(|| since.unwrap_or(self.now));
    }

    /// Longest way back from an idle state, and the interrupt and kernel work on a slow CPU.
    fn allowance(&self, cpu: usize) -> u64 {
        let states = self.platform.idle_states.iter();
        let own = states.filter(|s| s.cpus.iter().any(|c| c.index() == cpu));
        let wake = own.map(|s| s.entry_latency_ns + s.exit_latency_ns).max();
        wake.unwrap_or(0) + self.platform.costs.ipi_ns + MS
    }

    /// No CPU leaves its own queue waiting for long. Nothing happens until `until`.
    fn look_for_stalls(&self, until: u64) {
        for (cpu, since) in self.stalled.iter().enumerate() {
            let Some(since) = since else { continue };
            let since = (*since).max(self.forked.saturating_add(500 * US));
            assert!(
                until.saturating_sub(since) <= self.allowance(cpu),
                "CPU {cpu} lets tasks wait from {since} to {until}",
            );
        }
    }

    fn finish(&mut self) {
        for (task, state) in self.states.iter().enumerate() {
            if let State::Ready(since) = state {
                self.waited[task] += self.now - since;
            }
        }
        assert_eq!(self.running, vec![None; self.running.len()]);
        assert!(self.power.iter().all(Option::is_some), "a CPU is missing");
        assert!(self.clusters.iter().all(Option::is_some));
        assert!(self.opps.iter().all(Option::is_some));
    }

    fn compare(&self, report: &RunReport) {
        assert_eq!(report.end_ns, self.now);
        for (task, totals) in report.tasks.iter().enumerate() {
            assert_eq!(totals.run_ns, self.ran[task], "run time of task {task}");
            assert!(totals.wait_ns <= self.waited[task], "wait of task {task}");
            // A task on its way to another cache's CPU is not counted as waiting yet.
            if self.platform.clusters.len() == 1 {
                assert_eq!(totals.wait_ns, self.waited[task], "wait of task {task}");
            }
        }
    }
}

//! Checks a recorded run against what every run must obey, whatever the workload.
//! Rules: docs/rules/README.md#engine-time; docs/guide/model.md, "Idle" and "Above the fair tasks".
//!
//! What must stay: a rule is never weakened for one run; bounds (`allowance`, `longest_way`) are
//! what the platform and the costs take. Callers: `check_log` by most files of tests/behaviour,
//! `check_held_log` by sched_ext/storms.rs, `check_log_with` where devices interrupt; each other
//! function takes one kind of entry (`take`) or closes a book (`finish`, `close_ledger`,
//! `compare`). What it lets through or refuses wrongly shows in invariants.rs and storm.rs.
//! `power`, `power_order`, `ways`, `cluster` and `spend` are of idle states; `placement`, `wakeup`,
//! `migrate`, `start`, `stop`, `fork` and `set_state` of tasks; `note_stall`, `check_stall`,
//! `note_displaced`, `check_displaced` and `priority` of who waits; `hotplug` and
//! `look_for_stranded` of CPUs that leave.

use super::record::{Entry, Log, What};
use super::{MS, US};
use wakeplace_engine::RunReport;
use wakeplace_engine::observe::{CpuPower, MigrateCause, Placement, PlacementKind};
use wakeplace_platform::{IdleScope, IdleState, Platform};
use wakeplace_workload::{RealTime, StartLine, TaskScript, Workload};

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
    /// Script of each task.
    scripts: Vec<u32>,
    states: Vec<State>,
    /// Per CPU: tasks that wait for it.
    waiting: Vec<u32>,
    cpu_of: Vec<u32>,
    ran: Vec<u64>,
    waited: Vec<u64>,
    running: Vec<Option<u32>>,
    power: Vec<Option<CpuPower>>,
    /// What each CPU was announced in before `power`, and since when it is in `power`.
    before: Vec<(Option<CpuPower>, u64)>,
    clusters: Vec<Option<Option<u16>>>,
    opps: Vec<Option<u16>>,
    online: Vec<bool>,
    /// Since when each CPU has had waiting tasks and executed none.
    stalled: Vec<Option<u64>>,
    /// Per CPU: time in Busy, Transition and Idle, and time its tasks ran.
    spent: Vec<[u64; 3]>,
    ran_on: Vec<u64>,
    /// Per task: its wake-ups.
    woken_up: Vec<u64>,
    /// Since when each CPU runs a task while one waits there that goes before it.
    displaced: Vec<Option<u64>>,
    /// Some task is above the fair class.
    realtime: bool,
    /// Devices' interrupts are no time of any task.
    interrupts: bool,
    /// The last fork, or the last thread's first wake-up where the parent wakes them: before, an
    /// invisible parent uses a CPU.
    forked: u64,
    woken: Option<Placement>,
    /// Sleepers may stay queued, and wake without a placement.
    delayed_dequeue: bool,
    /// A scheduler may hold tasks while CPUs idle.
    held: bool,
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
    check_log_with(platform, workload, log, report, (delayed_dequeue, false));
}

/// The same under a scheduler that may hold tasks as long as it likes.
pub(crate) fn check_held_log(
    platform: &Platform,
    workload: &Workload,
    log: &Log,
    report: &RunReport,
) {
    check_entries(platform, workload, log, report, (false, false, true));
}

/// The same of a run in which devices interrupt (the second of `allows`).
pub(crate) fn check_log_with(
    platform: &Platform,
    workload: &Workload,
    log: &Log,
    report: &RunReport,
    (delayed_dequeue, interrupts): (bool, bool),
) {
    let allows = (delayed_dequeue, interrupts, false);
    check_entries(platform, workload, log, report, allows);
}

fn check_entries(
    platform: &Platform,
    workload: &Workload,
    log: &Log,
    report: &RunReport,
    (delayed_dequeue, interrupts, held): (bool, bool, bool),
) {
    let (tasks, cpus) = (workload.tasks.len(), platform.cpus.len());
    let forks = log.pick(|w| match w {
        What::Placement(p) if p.kind == PlacementKind::Fork && p.waker.is_none() => Some(()),
        _ => None,
    });
    let first_wakeup = |task: u32| {
        let of = |w: &What| matches!(w, What::Wakeup { task: t, .. } if *t == task).then_some(());
        log.pick(of).first().map(|(at, ())| *at)
    };
    let by_creator = matches!(workload.start.line, StartLine::Creator { .. });
    let started = (0..tasks as u32).filter(|_| by_creator).map(first_wakeup);
    let started = started.map(|at| at.unwrap_or(u64::MAX)).max();
    let mut checker = Checker {
        platform,
        workload,
        scripts: (0..tasks as u32).collect(),
        states: vec![State::Unborn; tasks],
        waiting: vec![0; cpus],
        cpu_of: vec![0; tasks],
        ran: vec![0; tasks],
        waited: vec![0; tasks],
        running: vec![None; cpus],
        power: vec![None; cpus],
        before: vec![(None, 0); cpus],
        clusters: vec![None; platform.clusters.len()],
        opps: vec![None; platform.freq_domains.len()],
        online: vec![true; cpus],
        stalled: vec![None; cpus],
        spent: vec![[0; 3]; cpus],
        ran_on: vec![0; cpus],
        woken_up: vec![0; tasks],
        displaced: vec![None; cpus],
        realtime: (workload.tasks.iter()).any(|t| t.attributes.realtime.is_some()),
        interrupts,
        forked: started
            .or(forks.last().map(|(at, ())| *at))
            .unwrap_or(u64::MAX),
        woken: None,
        delayed_dequeue,
        held,
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
        if entry.at > self.now && self.online.contains(&false) {
            self.look_for_stranded(entry.at);
        }
        self.now = entry.at;
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
                self.set_state(task, State::Gone);
            }
            What::Forked { task, script } => self.fork(task, script),
            What::Sample { task, .. } | What::Iteration { task, .. } => {
                assert!(matches!(self.states[task as usize], State::Running(_)));
            }
            What::Slack { task, .. } => {
                assert!(matches!(self.states[task as usize], State::Running(_)));
            }
            What::Overutilized(_) => {}
            What::Hotplug { cpu, online } => self.hotplug(cpu, online),
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
        self.spend(cpu as usize, old);
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
        let entries = |s: u16| self.ways(cpu, s).map(|way| way.entry_latency_ns);
        let entered = |s: u16, lasted: u64| entries(s).any(|entry| entry == lasted);
        let left = |s: u16, lasted: u64| {
            let ipi = self.platform.costs.ipi_ns;
            let mut exits = self.ways(cpu, s).map(|way| way.exit_latency_ns);
            exits.any(|exit| (exit..=exit + ipi).contains(&lasted))
        };
        let legal = match (before, self.power[cpu as usize], power) {
            // At time 0 the CPUs are in a state they did not enter.
            (_, None, Idle { .. }) => self.now == 0,
            (None, Some(Idle { state: a }), Transition { state: b }) if self.now == 0 => a == b,
            // ... and may choose one that takes no time to enter.
            (None, Some(Idle { .. }), Idle { state }) if self.now == 0 => entered(state, 0),
            (_, Some(Busy), Idle { state }) => entered(state, 0),
            (_, Some(Busy), Transition { state }) => entries(state).any(|entry| entry > 0),
            (_, Some(Idle { state }), Busy) => left(state, 0),
            (_, Some(Idle { state: a }), Transition { state: b }) => a == b,
            (Some(Idle { .. }), Some(Transition { state }), Busy) => left(state, lasted),
            (Some(Busy), Some(Transition { state: a }), Idle { state: b }) => {
                a == b && entered(a, lasted)
            }
            (Some(Busy), Some(Transition { state }), Busy) => {
                entries(state).any(|entry| lasted >= entry && left(state, lasted - entry))
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

    /// The states as which a CPU enters and leaves a state: a cluster state whose cluster stays up
    /// like the CPU's own deepest, and one whose cluster is in a shallower state like that.
    fn ways(&self, cpu: u32, state: u16) -> impl Iterator<Item = &IdleState> {
        let (states, index) = (&self.platform.idle_states, usize::from(state));
        let of_cpu = move |s: &&IdleState| s.cpus.iter().any(|c| c.0 == cpu);
        let of_cluster = states[index].scope == IdleScope::Cluster;
        let mut own = states.iter().filter(of_cpu);
        let deepest = own.rfind(|s| s.scope == IdleScope::Cpu);
        let shallower = states[..index].iter().filter(of_cpu);
        let shallower = shallower.filter(|s| s.scope == IdleScope::Cluster);
        let others = deepest.into_iter().chain(shallower);
        std::iter::once(&states[index]).chain(others.filter(move |_| of_cluster))
    }

    /// A cluster is down only while all its CPUs are in a cluster state, and then in the shallowest
    /// of these (docs/guide/model.md, Idle).
    fn cluster(&mut self, cluster: u32, state: Option<u16>) {
        let known = &mut self.clusters[cluster as usize];
        assert_ne!(*known, Some(state), "cluster {cluster}: not a change");
        *known = Some(state);
        let Some(entered) = state else {
            return;
        };
        let mut shallowest = u16::MAX;
        for cpu in &self.platform.clusters[cluster as usize].cpus {
            let Some(CpuPower::Idle { state }) = self.power[cpu.index()] else {
                panic!("cluster {cluster} is down with CPU {cpu} busy");
            };
            let scope = self.platform.idle_states[usize::from(state)].scope;
            assert_eq!(scope, IdleScope::Cluster, "CPU {cpu} did not ask for it");
            shallowest = shallowest.min(state);
        }
        assert_eq!(entered, shallowest, "cluster {cluster} at {}", self.now);
    }

    fn frequency(&mut self, domain: u32, opp: u16) {
        let table = &self.platform.freq_domains[domain as usize].opps;
        assert!(usize::from(opp) < table.len(), "no such operating point");
        self.opps[domain as usize] = Some(opp);
    }

    fn placement(&mut self, p: &Placement) {
        assert!(
            may_use(self.script(p.task as usize), p.cpu),
            "placed where it may not be: {p:?}"
        );
        assert!(
            self.online[p.cpu as usize],
            "placed on a CPU that left: {p:?}"
        );
        match p.kind {
            PlacementKind::Fork => {
                assert_eq!(self.states[p.task as usize], State::Unborn);
                self.cpu_of[p.task as usize] = p.cpu;
                self.set_state(p.task, State::Ready(self.now));
                self.note_stall(p.cpu);
            }
            PlacementKind::Wake => {
                assert_eq!(self.states[p.task as usize], State::Asleep, "{p:?}");
                assert_eq!(self.cpu_of[p.task as usize], p.prev_cpu, "{p:?}");
                self.woken = Some(*p);
            }
            // It runs; if it is to go elsewhere the move follows its stop.
            PlacementKind::Exec => {
                assert_eq!(self.running[p.prev_cpu as usize], Some(p.task), "{p:?}");
                assert_eq!(p.waker, Some(p.task), "nobody else asks");
            }
        }
    }

    /// A thread more, known before it is placed.
    fn fork(&mut self, task: u32, script: u32) {
        assert_eq!(task as usize, self.states.len(), "forked ones are numbered");
        assert!(self.workload.tasks[script as usize].forks.is_some());
        self.scripts.push(script);
        self.states.push(State::Unborn);
        self.cpu_of.push(0);
        self.ran.push(0);
        self.waited.push(0);
        self.woken_up.push(0);
    }

    fn script(&self, task: usize) -> &TaskScript {
        &self.workload.tasks[self.scripts[task] as usize]
    }

    /// A placement precedes, unless the sleeper's queue had not let it go: then it wakes there.
    fn wakeup(&mut self, task: u32, cpu: u32, due: u64) {
        assert!(
            due <= self.now,
            "task {task} woke {} ns early",
            due - self.now
        );
        assert_eq!(self.states[task as usize], State::Asleep);
        self.set_state(task, State::Ready(self.now));
        self.woken_up[task as usize] += 1;
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
        assert!(may_use(self.script(task as usize), to));
        assert!(
            self.online[to as usize],
            "task {task} moved to {to}, which left"
        );
        let left = cause == MigrateCause::Hotplug;
        assert!(!(left && self.online[from as usize]), "CPU {from} is there");
        if cause == MigrateCause::Wake {
            let placement = self.woken.take().expect("a placement precedes");
            assert_eq!((placement.task, placement.cpu), (task, to));
        }
        let counts = u32::from(self.priority(task as usize).is_some());
        self.waiting[from as usize] -= counts;
        self.waiting[to as usize] += counts;
        self.cpu_of[task as usize] = to;
        self.note_stall(from);
        self.note_stall(to);
    }

    fn start(&mut self, cpu: u32, task: u32, latency: Option<u64>) {
        assert_eq!(self.running[cpu as usize], None, "two tasks on CPU {cpu}");
        assert!(self.online[cpu as usize], "CPU {cpu} left and runs {task}");
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
        self.set_state(task, State::Running(self.now));
        self.running[cpu as usize] = Some(task);
        self.note_stall(cpu);
    }

    fn stop(&mut self, cpu: u32, task: u32, ran: u64, sleeps: bool) {
        assert_eq!(self.running[cpu as usize].take(), Some(task));
        let State::Running(since) = self.states[task as usize] else {
            panic!("task {task} stops while {:?}", self.states[task as usize]);
        };
        let stolen = self.now - since - ran;
        assert!(stolen == 0 || self.interrupts, "task {task}: ran {ran}");
        self.ran[task as usize] += ran;
        self.ran_on[cpu as usize] += ran;
        let next = if sleeps {
            State::Asleep
        } else {
            State::Ready(self.now)
        };
        self.set_state(task, next);
        self.note_stall(cpu);
    }

    fn set_state(&mut self, task: u32, state: State) {
        let counts = self.priority(task as usize).is_some();
        let waits = |state: State| u32::from(counts && matches!(state, State::Ready(_)));
        let old = std::mem::replace(&mut self.states[task as usize], state);
        let waiting = &mut self.waiting[self.cpu_of[task as usize] as usize];
        *waiting = *waiting + waits(state) - waits(old);
    }

    /// A task's RT priority, 0: fair. None: a deadline task, which may wait for its budget, or one
    /// that changes its priority.
    fn priority(&self, task: usize) -> Option<u8> {
        let script = self.script(task);
        let lent = self.workload.shared.mutexes.iter().any(|m| m.inherit);
        if lent || script.phases.iter().any(|p| p.change.policy.is_some()) {
            return None;
        }
        match script.attributes.realtime {
            None => Some(0),
            Some(RealTime::Fifo { priority } | RealTime::RoundRobin { priority }) => Some(priority),
            Some(RealTime::Deadline { .. }) => None,
        }
    }

    /// Does this CPU run a task while one waits there that goes before it? Not for long.
    fn note_displaced(&mut self, cpu: u32) {
        let ready = (self.states.iter().zip(&self.cpu_of).enumerate())
            .filter(|(_, (s, c))| **c == cpu && matches!(s, State::Ready(_)));
        let first = ready.filter_map(|(task, _)| self.priority(task)).max();
        let running = self.running[cpu as usize].and_then(|task| self.priority(task as usize));
        let lesser = running.is_some_and(|r| first.is_some_and(|f| f > r));
        let since = self.displaced[cpu as usize].filter(|_| lesser);
        if !lesser {
            self.check_displaced(cpu as usize);
        }
        self.displaced[cpu as usize] = lesser.then(|| since.unwrap_or(self.now));
    }

    fn check_displaced(&self, cpu: usize) {
        let since = self.displaced[cpu].unwrap_or(self.now);
        assert!(
            self.now - since <= self.allowance(cpu),
            "CPU {cpu} runs a task from {since} to {} that others go before",
            self.now
        );
    }

    /// Does this CPU have somebody waiting and nobody executing? Not for long.
    fn note_stall(&mut self, cpu: u32) {
        if self.realtime {
            self.note_displaced(cpu);
        }
        let stalled = self.waiting[cpu as usize] > 0 && self.running[cpu as usize].is_none();
        let since = self.stalled[cpu as usize];
        if !stalled {
            self.check_stall(cpu as usize);
        }
        self.stalled[cpu as usize] = stalled.then(|| since.unwrap_or(self.now));
    }

    /// Longest way back from an idle state, and the interrupt and kernel work on a slow CPU.
    fn allowance(&self, cpu: usize) -> u64 {
        let states = self.platform.idle_states.iter();
        let own = states.filter(|s| s.cpus.iter().any(|c| c.index() == cpu));
        let wake = own.map(|s| s.entry_latency_ns + s.exit_latency_ns).max();
        wake.unwrap_or(0) + self.platform.costs.ipi_ns + MS
    }

    /// No CPU leaves its own queue waiting for long: its stall, if there is one, ends now.
    fn check_stall(&self, cpu: usize) {
        let Some(since) = self.stalled[cpu].filter(|_| !self.held) else {
            return;
        };
        let since = since.max(self.forked.saturating_add(500 * US));
        assert!(
            self.now.saturating_sub(since) <= self.allowance(cpu),
            "CPU {cpu} lets tasks wait from {since} to {}",
            self.now
        );
    }

    /// The time since the last announcement was spent so.
    fn spend(&mut self, cpu: usize, power: Option<CpuPower>) {
        let kind = match power {
            Some(CpuPower::Busy) => 0,
            Some(CpuPower::Transition { .. }) => 1,
            Some(CpuPower::Idle { .. }) => 2,
            None => return,
        };
        self.spent[cpu][kind] += self.now - self.before[cpu].1;
    }

    /// The ledger of power closes: every CPU's time is accounted for, and tasks ran in no time but
    /// what is paid as busy.
    fn close_ledger(&mut self) {
        for cpu in 0..self.power.len() {
            self.spend(cpu, self.power[cpu]);
            let [busy, ..] = self.spent[cpu];
            let all: u64 = self.spent[cpu].iter().sum();
            assert_eq!(all, self.now, "CPU {cpu}: time without a state of power");
            assert!(self.ran_on[cpu] <= busy, "CPU {cpu} ran without power");
        }
    }

    /// A CPU that leaves keeps no task: what it had moves at this very instant.
    fn hotplug(&mut self, cpu: u32, online: bool) {
        assert_ne!(self.online[cpu as usize], online, "CPU {cpu}: no change");
        self.online[cpu as usize] = online;
        assert!(self.online.contains(&true), "nobody is left");
    }

    /// Nobody waits on a CPU that has left. Nothing happens until `until`.
    fn look_for_stranded(&self, until: u64) {
        for (task, (state, cpu)) in self.states.iter().zip(&self.cpu_of).enumerate() {
            let budget = self.priority(task).is_none(); // it may wait for that on no queue
            let waits =
                !budget && matches!(state, State::Ready(_)) || matches!(state, State::Running(_));
            assert!(
                !waits || self.online[*cpu as usize],
                "task {task} is left on CPU {cpu} from {} to {until}",
                self.now
            );
        }
    }

    fn finish(&mut self) {
        (0..self.stalled.len()).for_each(|cpu| self.check_stall(cpu));
        (0..self.displaced.len()).for_each(|cpu| self.check_displaced(cpu));
        self.close_ledger();
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

    /// Until a CPU has queued a task that was sent to it: out of its deepest state, by an
    /// interrupt, and 20 us for what the platform's wake-ups take besides.
    fn longest_way(&self) -> u64 {
        let states = self.platform.idle_states.iter();
        let wake = states.map(|s| s.entry_latency_ns + s.exit_latency_ns).max();
        wake.unwrap_or(0) + self.platform.costs.ipi_ns + 20 * US
    }

    fn compare(&self, report: &RunReport) {
        assert_eq!(report.end_ns, self.now);
        assert_eq!(report.tasks.len(), self.states.len());
        assert_eq!(report.threads.len(), self.states.len());
        for (task, totals) in report.tasks.iter().enumerate() {
            assert_eq!(report.threads[task].script, self.scripts[task]);
            assert_eq!(totals.run_ns, self.ran[task], "run time of task {task}");
            let (waited, counted) = (self.waited[task], totals.wait_ns);
            assert!(counted <= waited, "wait of task {task}");
            // A task on its way to its CPU is not counted as waiting yet.
            let way = self.woken_up[task] * self.longest_way();
            assert!(waited - counted <= way, "wait of task {task}");
        }
    }
}

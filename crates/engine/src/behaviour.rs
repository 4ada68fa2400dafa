//! A hash of what a run did, whatever the engine did to find it out.
//!
//! `RunReport::event_hash` covers the engine's own events, in their order. It differs as soon as
//! events are numbered otherwise, or one that leads to nothing is left out. This hash is for
//! changes of that kind: what happened on the simulated machine must be the same before and after
//! (docs/internals/checks.md, "Same runs"). What is in it is what observers hear, not how the
//! engine came to it.
//!
//! What must stay: the numbers of kinds and the names that go into the hash, since recorded hashes
//! (scripts/same-runs.txt) are compared. The order of facts is free: they are summed.
//! `what_happens_otherwise_is_in_it` finds a fact that is left out,
//! `events_that_do_nothing_are_not_in_it` one too many. Tests by part: `each_part_counts`
//! (`placement`, `run_start`, `migrate`, `cpu_power`, `figure`), `each_event_counts` (`wakeup`,
//! `forked`, `task_exit`, `hotplug`, `cluster_power`, `frequency`),
//! `order_and_signals_do_not_count` (`fact`), `nothing_between_is_nothing` (`change`),
//! `the_end_cuts` (`finish`, `end`), `each_part_counts` also `of_name`, `folded`, `pair`, `span`,
//! `of_power`, `of_kind`, `of_cause` and `run_stop`: values that must differ would be equal. `new`
//! and `value` by same_behaviour.rs::`what_happens_otherwise_is_in_it`.
//!
//! Callers: crates/metrics/src/collector.rs (`new`, `figure`, `value`); the engine calls `happened`
//! for each event.
//!
//! Tests: crates/engine/src/behaviour/tests.rs, crates/engine/tests/behaviour/same_behaviour.rs

use crate::observe::{CpuPower, Happening, MigrateCause, Observer, Placement, PlacementKind};
use wakeplace_platform::Platform;
use wakeplace_policy_sys::Reason;

/// Hashes, of the workload's threads:
///
/// - each choice: its time, wake-up, fork or exec, the task, its previous CPU, the CPU chosen, the
///   name of the reason;
/// - each stretch that a task ran: the CPU, its start and end;
/// - each wake-up (its time, the task, its CPU, when it was due), each move (its time, the task,
///   both CPUs, its cause by name), each new task and each end;
///
/// and of the machine, with start and end: what each CPU and cluster did (busy, into or out of an
/// idle state, in one), each clock's operating point; CPUs that leave and come back. Energies and
/// the tasks' totals are added at the end, as [`BehaviourHash::figure`].
///
/// It is promised that it depends on nothing else:
///
/// - Nothing of it is the number of an event, or of a variant of an enum: those are hashed by name.
///   Tasks, CPUs, idle states and operating points are numbered by workload and platform.
/// - Facts are added up, so their order does not count; their times are part of them. What is
///   announced at one time may be announced in any order.
/// - What lasts no time is left out, and what goes on after it is one stretch: a task that is
///   picked again at the time when it was put back, or a frequency that is set once more.
/// - Signals are not in it (utilisation, the overutilized flag): they show in the choices.
///
/// The threads that observers are not told of (the one that creates the others, the shell and the
/// kernel's) are in it only by what the machine does meanwhile.
#[derive(Clone, Debug)]
pub struct BehaviourHash {
    sum: u64,
    /// Per CPU: the task that runs.
    running: Vec<Spans>,
    /// Per CPU, cluster and frequency domain: what it does.
    cpus: Vec<Spans>,
    clusters: Vec<Spans>,
    clocks: Vec<Spans>,
    /// Of each reason its name's hash.
    reasons: [u64; Reason::COUNT],
}

/// Hash of a name: what a number stands for, in place of the number.
const fn of_name(name: &str) -> u64 {
    let (name, mut hash, mut at) = (name.as_bytes(), 0xcbf2_9ce4_8422_2325_u64, 0);
    while at < name.len() {
        hash = (hash ^ name[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    folded(hash, 0x9e37_79b9_7f4a_7c15)
}

/// Both halves of the product: each bit depends on all bits of both.
#[inline]
const fn folded(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// Two numbers of 32 bits.
#[inline]
const fn pair(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

const CHOICE: u64 = of_name("choice");
const STRETCH: u64 = of_name("stretch");
const WAKEUP: u64 = of_name("wake-up");
const MOVE: u64 = of_name("move");
const FORKED: u64 = of_name("forked");
const EXIT: u64 = of_name("exit");
const HOTPLUG: u64 = of_name("hotplug");
const CPU: u64 = of_name("CPU");
const CLUSTER: u64 = of_name("cluster");
const CLOCK: u64 = of_name("clock");
/// What a CPU or cluster does, before the number of the idle state.
const BUSY: u64 = of_name("busy");
const TRANSITION: u64 = of_name("transition");
const IDLE: u64 = of_name("idle");
/// Nothing that is worth a fact: no task runs, or nothing was announced yet.
const NOTHING: u64 = u64::MAX;

/// What one thing does, as spans of time that follow each other.
#[derive(Clone, Copy, Debug)]
struct Spans {
    now: Span,
    /// What it did before: it may yet go on, if what is now takes no time.
    before: Span,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    what: u64,
    from_ns: u64,
}

const NO_SPAN: Span = Span {
    what: NOTHING,
    from_ns: 0,
};

impl Spans {
    const NEW: Self = Self {
        now: NO_SPAN,
        before: NO_SPAN,
    };

    /// From now on it does `what`. Returns a span that is over for good, with its end. None:
    /// nothing is over yet.
    #[inline]
    fn change(&mut self, time_ns: u64, what: u64) -> Option<(Span, u64)> {
        if self.now.what == what {
            return None;
        }
        if self.now.from_ns < time_ns {
            let until_ns = self.now.from_ns;
            let over = std::mem::replace(&mut self.before, self.now);
            self.now = Span {
                what,
                from_ns: time_ns,
            };
            return (over.what != NOTHING).then_some((over, until_ns));
        }
        if self.before.what == what {
            self.now = std::mem::replace(&mut self.before, NO_SPAN);
        } else {
            self.now.what = what;
        }
        None
    }
}

impl BehaviourHash {
    /// For a run on `platform`.
    #[must_use]
    pub fn new(platform: &Platform) -> Self {
        let spans = |number| vec![Spans::NEW; number];
        let mut reasons = [0; Reason::COUNT];
        for reason in Reason::ALL {
            reasons[reason.index()] = of_name(reason.name());
        }
        Self {
            sum: 0,
            running: spans(platform.cpus.len()),
            cpus: spans(platform.cpus.len()),
            clusters: spans(platform.clusters.len()),
            clocks: spans(platform.freq_domains.len()),
            reasons,
        }
    }

    /// Adds what a run came to, `index` of several: an energy, a sum of times.
    pub fn figure(&mut self, name: &str, index: usize, value: u128) {
        let (low, high) = (value as u64, (value >> 64) as u64);
        self.fact(of_name(name), [index as u64, 0, low, high]);
    }

    /// The hash, once the run is over.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.sum
    }

    /// A sum, so that the order does not count, of well mixed numbers.
    #[inline]
    fn fact(&mut self, kind: u64, [a, b, c, d]: [u64; 4]) {
        let first = folded(a ^ kind, b ^ 0xa076_1d64_78bd_642f);
        let second = folded(c ^ 0xe703_7ed1_a0b4_28db, d ^ kind.rotate_left(32));
        let all = folded(first ^ 0x8ebc_6af0_9c88_c6e3, second ^ kind);
        self.sum = self.sum.wrapping_add(all);
    }

    /// Adds a span that is over: what it was and its two ends, ns. None (it had just begun, or
    /// nothing changed): adds nothing.
    #[inline]
    fn span(&mut self, kind: u64, index: u32, over: Option<(Span, u64)>) {
        if let Some((span, until_ns)) = over {
            self.fact(kind, [index.into(), span.what, span.from_ns, until_ns]);
        }
    }

    /// All spans of a kind end with the run.
    fn end(&mut self, kind: u64, spans: &[Spans], end_ns: u64) {
        for (index, Spans { now, before }) in (0..).zip(spans) {
            for (span, until_ns) in [(before, now.from_ns), (now, end_ns)] {
                let lasted = span.what != NOTHING && span.from_ns < until_ns;
                self.span(kind, index, lasted.then_some((*span, until_ns)));
            }
        }
    }
}

/// What a CPU does, by name and idle state.
fn of_power(power: CpuPower) -> u64 {
    match power {
        CpuPower::Busy => BUSY,
        CpuPower::Transition { state } => TRANSITION.wrapping_add(state.into()),
        CpuPower::Idle { state } => IDLE.wrapping_add(state.into()),
    }
}

/// By name, so that the order of the enum is free.
const fn of_kind(kind: PlacementKind) -> u64 {
    match kind {
        PlacementKind::Wake => const { of_name("wake") },
        PlacementKind::Fork => const { of_name("fork") },
        PlacementKind::Exec => const { of_name("exec") },
    }
}

/// By name, as `of_kind`.
const fn of_cause(cause: MigrateCause) -> u64 {
    match cause {
        MigrateCause::Wake => const { of_name("wake") },
        MigrateCause::Balance => const { of_name("balance") },
        MigrateCause::NewIdle => const { of_name("new idle") },
        MigrateCause::Active => const { of_name("active") },
        MigrateCause::Affinity => const { of_name("affinity") },
        MigrateCause::Exec => const { of_name("exec") },
        MigrateCause::Hotplug => const { of_name("hotplug") },
        MigrateCause::Dispatch => const { of_name("dispatch") },
    }
}

impl Observer for BehaviourHash {
    /// Each kind of fact once. A new `Happening` belongs here, unless only traces need it.
    #[inline(always)]
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::CpuPower { cpu, power } => self.cpu_power(time_ns, cpu, power),
            Happening::ClusterPower { cluster, state } => {
                self.cluster_power(time_ns, cluster, state)
            }
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            Happening::Wakeup { task, cpu, due_ns } => self.wakeup(time_ns, task, cpu, due_ns),
            Happening::RunStart { cpu, task, .. } => self.run_start(time_ns, cpu, task),
            Happening::RunStop { cpu, .. } => self.run_stop(time_ns, cpu),
            Happening::Migrate {
                task,
                from_cpu,
                to_cpu,
                cause,
            } => self.migrate(time_ns, task, from_cpu, to_cpu, cause),
            Happening::Forked { task, script } => self.forked(time_ns, task, script),
            Happening::TaskExit { task } => self.task_exit(time_ns, task),
            Happening::Hotplug { cpu, online } => self.hotplug(time_ns, cpu, online),
            Happening::Finish => self.finish(time_ns),
            _ => {}
        }
    }
}

impl BehaviourHash {
    /// What a CPU draws power for ends one span and begins another.
    #[inline]
    fn cpu_power(&mut self, time_ns: u64, cpu: u32, power: CpuPower) {
        let over = self.cpus[cpu as usize].change(time_ns, of_power(power));
        self.span(CPU, cpu, over);
    }

    /// None: some CPU of the cluster is busy.
    fn cluster_power(&mut self, time_ns: u64, cluster: u32, state: Option<u16>) {
        let what = state.map_or(BUSY, |state| IDLE.wrapping_add(state.into()));
        let over = self.clusters[cluster as usize].change(time_ns, what);
        self.span(CLUSTER, cluster, over);
    }

    /// The operating point of a domain, by its position in the platform.
    #[inline]
    fn frequency(&mut self, time_ns: u64, domain: u32, opp: u16) {
        let over = self.clocks[domain as usize].change(time_ns, opp.into());
        self.span(CLOCK, domain, over);
    }

    /// A placement's part of the hash.
    #[inline]
    fn placement(&mut self, time_ns: u64, placement: &Placement) {
        let Placement {
            task,
            prev_cpu,
            cpu,
            ..
        } = *placement;
        let reason = self.reasons[placement.reason.index()];
        let kind = of_kind(placement.kind).wrapping_add(task.into());
        self.fact(CHOICE, [time_ns, kind, pair(prev_cpu, cpu), reason]);
    }

    /// `due_ns`: when the sleep was to end.
    #[inline]
    fn wakeup(&mut self, time_ns: u64, task: u32, cpu: u32, due_ns: u64) {
        self.fact(WAKEUP, [time_ns, task.into(), cpu.into(), due_ns]);
    }

    /// A stretch of a task on a CPU; `run_stop` ends it.
    #[inline]
    fn run_start(&mut self, time_ns: u64, cpu: u32, task: u32) {
        let over = self.running[cpu as usize].change(time_ns, task.into());
        self.span(STRETCH, cpu, over);
    }

    /// The CPU runs nothing of the workload from now on.
    #[inline]
    fn run_stop(&mut self, time_ns: u64, cpu: u32) {
        let over = self.running[cpu as usize].change(time_ns, NOTHING);
        self.span(STRETCH, cpu, over);
    }

    /// A task off or on a queue has gone to another CPU.
    fn migrate(&mut self, time_ns: u64, task: u32, from: u32, to: u32, cause: MigrateCause) {
        self.fact(
            MOVE,
            [time_ns, task.into(), pair(from, to), of_cause(cause)],
        );
    }

    /// `script`: which task of the workload the new thread is of.
    fn forked(&mut self, time_ns: u64, task: u32, script: u32) {
        self.fact(FORKED, [time_ns, task.into(), script.into(), 0]);
    }

    /// A thread is gone.
    fn task_exit(&mut self, time_ns: u64, task: u32) {
        self.fact(EXIT, [time_ns, task.into(), 0, 0]);
    }

    /// A CPU has left or come back.
    fn hotplug(&mut self, time_ns: u64, cpu: u32, online: bool) {
        self.fact(HOTPLUG, [time_ns, cpu.into(), online.into(), 0]);
    }

    /// What is still open at the end of the run.
    fn finish(&mut self, time_ns: u64) {
        for (kind, spans) in [
            (STRETCH, std::mem::take(&mut self.running)),
            (CPU, std::mem::take(&mut self.cpus)),
            (CLUSTER, std::mem::take(&mut self.clusters)),
            (CLOCK, std::mem::take(&mut self.clocks)),
        ] {
            self.end(kind, &spans, time_ns);
        }
        self.figure("end, ns", 0, time_ns.into());
    }
}

#[cfg(test)]
mod tests;

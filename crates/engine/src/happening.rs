//! What happens in a run, each kind once, and how an observer in another process is told of it.
//!
//! A run there is watched by a [`Teller`], and what it took down is told here by [`Telling::tell`].
//! Who waits for the run asks its observer some questions: before the run and after each state,
//! when it wants to see the next one; after each value, whether it has seen enough. An observer
//! that wants situations is asked in the run's process, by a copy of it, which decision is the one.
//! Views of the model's core have no value (docs/guide/kernel.md, "In a run").
//!
//! What must stay: a `Happening` is what observers, traces and `BehaviourHash` know of a run; a new
//! kind is heard by all of them or named as not of interest. Both ends of the pipe are one build,
//! so the form of `Telling` is free. Tests by part: `one_decision_is_told` (`Teller`,
//! `tell_decided`), crates/cli/tests/all/kernel_diff.rs::`the_cores_signals_are_the_kernels`
//! (`tell`, `tell_nr_updated`; where a tree is built),
//! crates/engine/src/behaviour/tests.rs::`each_event_counts` (kinds of `Happening`). `happened`,
//! `updated`, `decided`, `wants_signals`, `wants_situation`, `next_state_ns` of `Teller` are
//! covered as these are; `state` by no test of its own. `fmt` and the test's own `is_done` are no
//! part of it.
//!
//! Tests: below, crates/cli/tests/all/kernel_diff.rs::the_cores_signals_are_the_kernels,
//! crates/engine/src/behaviour/tests.rs

use crate::observe::{
    CpuPower, Iteration, KernelWork, MigrateCause, Observer, Placement, Stop, WakeupCase, Waking,
};
use crate::state::{MachineState, StateView};
use serde::{Deserialize, Serialize};
use wakeplace_kernel_abi::{Decided, Updated};

/// Something that happens. Indices are those of [`crate::observe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Happening {
    /// A CPU changed what it draws power for. At time 0 each CPU is announced once.
    CpuPower {
        /// The CPU.
        cpu: u32,
        /// From now on.
        power: CpuPower,
    },
    /// A cluster entered a cluster idle state, or is powered. Announced at 0.
    ClusterPower {
        /// The cluster.
        cluster: u32,
        /// None: powered.
        state: Option<u16>,
    },
    /// A frequency domain runs at another operating point from now on. Announced at 0.
    Frequency {
        /// The domain.
        domain: u32,
        /// Index into its operating points.
        opp: u16,
    },
    /// A CPU was chosen for a task.
    Placement(Placement),
    /// What the decision announced last was about; only with `Options::wakeup_cases`.
    WakeupCase(WakeupCase),
    /// A task became runnable because its sleep ended.
    Wakeup {
        /// The task.
        task: u32,
        /// Where.
        cpu: u32,
        /// When it wanted to wake.
        due_ns: u64,
    },
    /// A CPU does kernel work, which costs as much as a tick.
    KernelWork {
        /// The CPU.
        cpu: u32,
        /// Which work.
        work: KernelWork,
    },
    /// A task that sleeps is to be woken by a timer.
    TimerArmed {
        /// The task.
        task: u32,
        /// The timer's CPU.
        cpu: u32,
        /// When.
        due_ns: u64,
    },
    /// A sleeping task is woken, whether or not a CPU is chosen for it.
    Woken(Waking),
    /// A task begins or continues to execute.
    RunStart {
        /// Where.
        cpu: u32,
        /// The task.
        task: u32,
        /// Since it was due; on the first run after a wake-up only.
        wake_latency_ns: Option<u64>,
    },
    /// A task stops executing.
    RunStop {
        /// Where.
        cpu: u32,
        /// The task.
        task: u32,
        /// Wall time since its `RunStart`.
        ran_ns: u64,
        /// Why.
        stop: Stop,
    },
    /// A task changed its CPU.
    Migrate {
        /// The task.
        task: u32,
        /// The CPU before.
        from_cpu: u32,
        /// The CPU from now on.
        to_cpu: u32,
        /// Why.
        cause: MigrateCause,
    },
    /// A task reached a timer event.
    TimerSlack {
        /// The task.
        task: u32,
        /// From now to the next expiry; negative: late, a missed period.
        slack_ns: i64,
    },
    /// A task has gone once through the steps of a phase.
    Iteration {
        /// The task.
        task: u32,
        /// The pass.
        iteration: Iteration,
    },
    /// A frame of a chain began.
    FrameBegin {
        /// The chain's first task.
        task: u32,
        /// Index into the workload's chains.
        chain: u32,
        /// When the task's timer or sleep was due.
        begin_ns: u64,
    },
    /// A chain's last task is done with what it worked on.
    FrameEnd {
        /// The task.
        task: u32,
        /// Index into the workload's chains.
        chain: u32,
    },
    /// A time that the workload is measured by.
    Sample {
        /// The task.
        task: u32,
        /// Index into the workload's series.
        series: u32,
        /// The time.
        value_ns: u64,
    },
    /// `Event::Fork` made a task.
    Forked {
        /// The task.
        task: u32,
        /// Index of its script.
        script: u32,
    },
    /// A task ended.
    TaskExit {
        /// The task.
        task: u32,
    },
    /// A task's priority is another from now on, its own or what it is lent with a mutex.
    Priority {
        /// The task.
        task: u32,
        /// As the kernel numbers it: 120 + nice, 99 - that of RT tasks, -1 of deadline tasks.
        prio: i32,
    },
    /// The root domain's overutilized flag changed.
    Overutilized {
        /// From now on.
        on: bool,
    },
    /// How warm a cluster is. Only with `model.thermal`.
    Thermal {
        /// The cluster.
        cluster: u32,
        /// Thousandths of a degree Celsius.
        millic: i32,
        /// How many of its fastest operating points are not used for it.
        steps: u32,
    },
    /// A CPU left the machine or came back.
    Hotplug {
        /// The CPU.
        cpu: u32,
        /// It came back.
        online: bool,
    },
    /// The run is over; nothing follows.
    Finish,
}

/// Tells an observer in one line that something happened, as
/// `happen!(observer, 5 => TaskExit { task: 1 })`: for tests of observers.
#[macro_export]
macro_rules! happen {
    ($observer:expr, $time_ns:expr => $($what:tt)+) => {
        $observer.happened($time_ns, &$crate::Happening::$($what)+)
    };
}

/// What an observer in another process is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Telling {
    /// Something happened.
    Happened(Happening),
    /// A tree's own code has chosen.
    Decided(Box<Decided>),
    /// A tree has brought a signal up to date.
    Updated(Box<Updated>),
    /// How often it has, by kind.
    NrUpdated(Vec<u64>),
    /// The state that the observer asked for.
    State(Box<MachineState>),
}

impl Telling {
    /// Tells it to an observer.
    pub fn tell(&self, time_ns: u64, observer: &mut (impl Observer + ?Sized)) {
        match self {
            Self::Happened(what) => observer.happened(time_ns, what),
            Self::Decided(decided) => observer.decided(time_ns, decided),
            Self::Updated(updated) => observer.updated(time_ns, updated),
            Self::NrUpdated(counts) => observer.take_nr_updated(counts),
            Self::State(state) => StateView::show(state, observer),
        }
    }
}

/// An observer that hands everything on as a value, for the one of another process.
pub struct Teller<'a, F> {
    tell: F,
    next_state_ns: Option<u64>,
    /// A copy of the other one, if that wants situations: it says of which decision.
    copy: Option<&'a mut dyn Observer>,
    /// The last decision, whose placement comes next.
    decided: Option<Box<Decided>>,
}

impl<F> std::fmt::Debug for Teller<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Teller").finish_non_exhaustive()
    }
}

impl<'a, F: FnMut(u64, Telling) -> Option<u64>> Teller<'a, F> {
    /// For an observer of which `copy` is one, as it is before the run. What `tell` returns counts
    /// after a state: when the observer wants to see the next one.
    pub fn new(copy: &'a mut dyn Observer, tell: F) -> Self {
        Self {
            tell,
            next_state_ns: copy.next_state_ns(),
            copy: copy.wants_situation().then_some(copy),
            decided: None,
        }
    }

    /// A decision has many bytes. Told are those of which the observer says so at their placement.
    fn tell_decided(&mut self, time_ns: u64, what: &Happening) {
        let Some(copy) = &mut self.copy else { return };
        let decided = match what {
            Happening::Placement(_) => self.decided.take(),
            _ => None,
        };
        if let Some(decided) = &decided {
            copy.decided(time_ns, decided);
        }
        copy.happened(time_ns, what);
        if let Some(decided) = decided.filter(|_| copy.wants_decided()) {
            (self.tell)(time_ns, Telling::Decided(decided));
        }
    }

    /// Updates are counted where they are seen: how many there were up to where a run may end.
    fn tell_nr_updated(&mut self, time_ns: u64, what: &Happening) {
        if !matches!(what, Happening::Placement(_) | Happening::Finish) {
            return;
        }
        let counts = self.copy.as_ref().and_then(|copy| copy.nr_updated());
        if let Some(counts) = counts.map(<[u64]>::to_vec) {
            (self.tell)(time_ns, Telling::NrUpdated(counts));
        }
    }
}

impl<F: FnMut(u64, Telling) -> Option<u64>> Observer for Teller<'_, F> {
    /// Passed on through the pipe, a decision before the placement that it led to.
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        self.tell_decided(time_ns, what);
        self.tell_nr_updated(time_ns, what);
        (self.tell)(time_ns, Telling::Happened(*what));
    }

    /// What the observer answered last time; ns.
    fn next_state_ns(&self) -> Option<u64> {
        self.next_state_ns
    }

    /// The state is copied, and the answer says which one is wanted next.
    fn state(&mut self, state: &StateView<'_>) {
        let taken = Telling::State(Box::new(state.machine()));
        self.next_state_ns = (self.tell)(state.time_ns, taken);
    }

    /// In a tree a situation is a decision, told only if a copy of the observer is there to choose.
    fn wants_situation(&self) -> bool {
        self.copy.is_some()
    }

    fn wants_signals(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.wants_signals())
    }

    fn updated(&mut self, time_ns: u64, updated: &Updated) {
        let Some(copy) = &mut self.copy else { return };
        copy.updated(time_ns, updated);
        if copy.wants_updated() {
            (self.tell)(time_ns, Telling::Updated(Box::new(updated.clone())));
        }
    }

    fn decided(&mut self, _: u64, decided: &Decided) {
        if self.copy.is_some() {
            self.decided = Some(Box::new(decided.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Happening, Teller, Telling};
    use crate::observe::{Observer, Placement, PlacementKind};
    use wakeplace_kernel_abi::Decided;
    use wakeplace_policy_sys::Reason;

    /// Has seen enough with the placement of one of its task.
    struct Seeks {
        task: u32,
        found: bool,
    }

    impl Observer for Seeks {
        fn wants_situation(&self) -> bool {
            true
        }

        fn happened(&mut self, _: u64, what: &Happening) {
            self.found |= matches!(what, Happening::Placement(of) if of.task == self.task);
        }

        fn is_done(&self) -> bool {
            self.found
        }
    }

    /// Goal: of all decisions the one that was asked for is told, just before its placement.
    #[test]
    fn one_decision_is_told() {
        let mut told = Vec::new();
        let mut copy = Seeks {
            task: 3,
            found: false,
        };
        let mut teller = Teller::new(&mut copy, |time_ns, what| {
            told.push((time_ns, what));
            None
        });
        assert!(teller.wants_situation());
        for task in 0..4 {
            let mut decided = Decided::default();
            decided.facts.task = task;
            teller.decided(task.into(), &decided);
            let placement = Placement {
                kind: PlacementKind::Wake,
                task,
                waker: None,
                waker_cpu: 0,
                prev_cpu: 0,
                cpu: 1,
                reason: Reason::Kernel,
                util: 0,
                dur_avg_ns: 0,
            };
            teller.happened(task.into(), &Happening::Placement(placement));
        }
        assert_eq!(told.len(), 5, "{told:?}");
        assert!(matches!(&told[3], (3, Telling::Decided(of)) if of.facts.task == 3));
        let last = &told[4];
        assert!(
            matches!(last, (3, Telling::Happened(Happening::Placement(of))) if of.task == 3),
            "{last:?}"
        );
    }
}

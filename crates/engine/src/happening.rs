//! What a run tells its observers, as values: for observers in another process. A run there is
//! watched by a [`Teller`], and what it took down is told here by [`Happening::tell`].
//!
//! Who waits for the run asks its observer some questions: before the run, whether it wants
//! situations; before it and after each state, when it wants to see the next one; after each value,
//! whether it has seen enough. Views of the model's core have no value.

use crate::observe::{
    CpuPower, Iteration, KernelWork, MigrateCause, Observer, Placement, Stop, Waking,
};
use crate::state::{MachineState, StateView};
use serde::{Deserialize, Serialize};
use wakeplace_kernel_abi::Decided;

/// One call of an observer's, as its method of the same name has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the methods' parameters")]
pub enum Happening {
    CpuPower {
        cpu: u32,
        power: CpuPower,
    },
    ClusterPower {
        cluster: u32,
        state: Option<u16>,
    },
    Frequency {
        domain: u32,
        opp: u16,
    },
    Decided(Box<Decided>),
    Placement(Placement),
    Wakeup {
        task: u32,
        cpu: u32,
        due_ns: u64,
    },
    KernelWork {
        cpu: u32,
        work: KernelWork,
    },
    TimerArmed {
        task: u32,
        cpu: u32,
        due_ns: u64,
    },
    Woken(Waking),
    RunStart {
        cpu: u32,
        task: u32,
        wake_latency_ns: Option<u64>,
    },
    RunStop {
        cpu: u32,
        task: u32,
        ran_ns: u64,
        stop: Stop,
    },
    Migrate {
        task: u32,
        from_cpu: u32,
        to_cpu: u32,
        cause: MigrateCause,
    },
    TimerSlack {
        task: u32,
        slack_ns: i64,
    },
    Iteration {
        task: u32,
        iteration: Iteration,
    },
    Sample {
        task: u32,
        series: u32,
        value_ns: u64,
    },
    Forked {
        task: u32,
        script: u32,
    },
    TaskExit {
        task: u32,
    },
    Priority {
        task: u32,
        prio: i32,
    },
    Overutilized {
        on: bool,
    },
    Thermal {
        cluster: u32,
        millic: i32,
        steps: u32,
    },
    Hotplug {
        cpu: u32,
        online: bool,
    },
    State(Box<MachineState>),
    Finish,
}

impl Happening {
    /// Tells it to an observer.
    pub fn tell(&self, time_ns: u64, observer: &mut (impl Observer + ?Sized)) {
        let (t, o) = (time_ns, observer);
        match *self {
            Self::CpuPower { cpu, power } => o.cpu_power(t, cpu, power),
            Self::ClusterPower { cluster, state } => o.cluster_power(t, cluster, state),
            Self::Frequency { domain, opp } => o.frequency(t, domain, opp),
            Self::Decided(ref decided) => o.decided(t, decided),
            Self::Placement(ref placement) => o.placement(t, placement),
            Self::Wakeup { task, cpu, due_ns } => o.wakeup(t, task, cpu, due_ns),
            Self::KernelWork { cpu, work } => o.kernel_work(t, cpu, work),
            Self::TimerArmed { task, cpu, due_ns } => o.timer_armed(t, task, cpu, due_ns),
            Self::Woken(ref waking) => o.woken(t, waking),
            Self::RunStart {
                cpu,
                task,
                wake_latency_ns,
            } => {
                o.run_start(t, cpu, task, wake_latency_ns);
            }
            Self::RunStop {
                cpu,
                task,
                ran_ns,
                stop,
            } => o.run_stop(t, cpu, task, ran_ns, stop),
            Self::Migrate {
                task,
                from_cpu,
                to_cpu,
                cause,
            } => {
                o.migrate(t, task, from_cpu, to_cpu, cause);
            }
            Self::TimerSlack { task, slack_ns } => o.timer_slack(t, task, slack_ns),
            Self::Iteration {
                task,
                ref iteration,
            } => o.iteration(t, task, iteration),
            Self::Sample {
                task,
                series,
                value_ns,
            } => o.sample(t, task, series, value_ns),
            Self::Forked { task, script } => o.forked(t, task, script),
            Self::TaskExit { task } => o.task_exit(t, task),
            Self::Priority { task, prio } => o.priority(t, task, prio),
            Self::Overutilized { on } => o.overutilized(t, on),
            Self::Thermal {
                cluster,
                millic,
                steps,
            } => o.thermal(t, cluster, millic, steps),
            Self::Hotplug { cpu, online } => o.hotplug(t, cpu, online),
            Self::State(ref state) => StateView::show(state, o),
            Self::Finish => o.finish(t),
        }
    }
}

/// An observer that hands everything on as a value.
#[derive(Debug)]
pub struct Teller<F> {
    tell: F,
    wants: Wants,
}

/// What an observer in another process wants to be asked about.
#[derive(Clone, Copy, Debug)]
pub struct Wants {
    situation: bool,
    next_state_ns: Option<u64>,
}

impl Wants {
    /// As it says before the run.
    #[must_use]
    pub fn of(observer: &dyn Observer) -> Self {
        Self {
            situation: observer.wants_situation(),
            next_state_ns: observer.next_state_ns(),
        }
    }
}

impl<F: FnMut(u64, Happening) -> Option<u64>> Teller<F> {
    /// For an observer that `wants` this. What `tell` returns counts after a state: when the
    /// observer wants to see the next one.
    pub fn new(wants: Wants, tell: F) -> Self {
        Self { tell, wants }
    }
}

impl<F: FnMut(u64, Happening) -> Option<u64>> Observer for Teller<F> {
    fn cpu_power(&mut self, t: u64, cpu: u32, power: CpuPower) {
        (self.tell)(t, Happening::CpuPower { cpu, power });
    }

    fn cluster_power(&mut self, t: u64, cluster: u32, state: Option<u16>) {
        (self.tell)(t, Happening::ClusterPower { cluster, state });
    }

    fn frequency(&mut self, t: u64, domain: u32, opp: u16) {
        (self.tell)(t, Happening::Frequency { domain, opp });
    }

    fn next_state_ns(&self) -> Option<u64> {
        self.wants.next_state_ns
    }

    fn state(&mut self, state: &StateView<'_>) {
        let taken = Happening::State(Box::new(state.machine()));
        self.wants.next_state_ns = (self.tell)(state.time_ns, taken);
    }

    fn wants_situation(&self) -> bool {
        self.wants.situation
    }

    fn decided(&mut self, t: u64, decided: &Decided) {
        if self.wants.situation {
            (self.tell)(t, Happening::Decided(Box::new(decided.clone())));
        }
    }

    fn placement(&mut self, t: u64, placement: &Placement) {
        (self.tell)(t, Happening::Placement(*placement));
    }

    fn wakeup(&mut self, t: u64, task: u32, cpu: u32, due_ns: u64) {
        (self.tell)(t, Happening::Wakeup { task, cpu, due_ns });
    }

    fn kernel_work(&mut self, t: u64, cpu: u32, work: KernelWork) {
        (self.tell)(t, Happening::KernelWork { cpu, work });
    }

    fn timer_armed(&mut self, t: u64, task: u32, cpu: u32, due_ns: u64) {
        (self.tell)(t, Happening::TimerArmed { task, cpu, due_ns });
    }

    fn woken(&mut self, t: u64, waking: &Waking) {
        (self.tell)(t, Happening::Woken(*waking));
    }

    fn run_start(&mut self, t: u64, cpu: u32, task: u32, wake_latency_ns: Option<u64>) {
        (self.tell)(
            t,
            Happening::RunStart {
                cpu,
                task,
                wake_latency_ns,
            },
        );
    }

    fn run_stop(&mut self, t: u64, cpu: u32, task: u32, ran_ns: u64, stop: Stop) {
        (self.tell)(
            t,
            Happening::RunStop {
                cpu,
                task,
                ran_ns,
                stop,
            },
        );
    }

    fn migrate(&mut self, t: u64, task: u32, from_cpu: u32, to_cpu: u32, cause: MigrateCause) {
        (self.tell)(
            t,
            Happening::Migrate {
                task,
                from_cpu,
                to_cpu,
                cause,
            },
        );
    }

    fn timer_slack(&mut self, t: u64, task: u32, slack_ns: i64) {
        (self.tell)(t, Happening::TimerSlack { task, slack_ns });
    }

    fn iteration(&mut self, t: u64, task: u32, iteration: &Iteration) {
        (self.tell)(
            t,
            Happening::Iteration {
                task,
                iteration: *iteration,
            },
        );
    }

    fn sample(&mut self, t: u64, task: u32, series: u32, value_ns: u64) {
        (self.tell)(
            t,
            Happening::Sample {
                task,
                series,
                value_ns,
            },
        );
    }

    fn forked(&mut self, t: u64, task: u32, script: u32) {
        (self.tell)(t, Happening::Forked { task, script });
    }

    fn task_exit(&mut self, t: u64, task: u32) {
        (self.tell)(t, Happening::TaskExit { task });
    }

    fn priority(&mut self, t: u64, task: u32, prio: i32) {
        (self.tell)(t, Happening::Priority { task, prio });
    }

    fn overutilized(&mut self, t: u64, on: bool) {
        (self.tell)(t, Happening::Overutilized { on });
    }

    fn thermal(&mut self, t: u64, cluster: u32, millic: i32, steps: u32) {
        (self.tell)(
            t,
            Happening::Thermal {
                cluster,
                millic,
                steps,
            },
        );
    }

    fn hotplug(&mut self, t: u64, cpu: u32, online: bool) {
        (self.tell)(t, Happening::Hotplug { cpu, online });
    }

    fn finish(&mut self, t: u64) {
        (self.tell)(t, Happening::Finish);
    }
}

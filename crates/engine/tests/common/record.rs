//! An observer that writes down everything, and questions to what it wrote.
//! What is announced: crates/engine/src/observe.rs.
//!
//! What must stay: it writes down everything in the order of the run and changes nothing; questions
//! (`stretches`, `ran`, `latencies`, `moves`, `power` and the others) only read. Callers: all files
//! of tests/behaviour and checker.rs; the functions of the observer are called by the engine. Those
//! that answer: `pick` for any entry, `balance_moves`, `slacks`, `samples`, `passes`, `exit`,
//! `frequencies`, `cluster`, `overutilized`. `note` writes one entry; `happened` calls the one for
//! each kind.

use wakeplace_engine::observe::{CpuPower, Iteration, MigrateCause, Placement, Stop};
use wakeplace_engine::{Happening, Observer};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Power {
        cpu: u32,
        power: CpuPower,
    },
    Cluster {
        cluster: u32,
        state: Option<u16>,
    },
    Frequency {
        domain: u32,
        opp: u16,
    },
    Placement(Placement),
    Wakeup {
        task: u32,
        cpu: u32,
        due: u64,
    },
    Start {
        cpu: u32,
        task: u32,
        latency: Option<u64>,
    },
    Stop {
        cpu: u32,
        task: u32,
        ran: u64,
        sleeps: bool,
    },
    Migrate {
        task: u32,
        from: u32,
        to: u32,
        cause: MigrateCause,
    },
    Slack {
        task: u32,
        slack: i64,
    },
    Exit {
        task: u32,
    },
    Forked {
        task: u32,
        script: u32,
    },
    Iteration {
        task: u32,
        pass: Iteration,
    },
    Sample {
        task: u32,
        series: u32,
        value: u64,
    },
    Overutilized(bool),
    Hotplug {
        cpu: u32,
        online: bool,
    },
    Finish,
}

/// When and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: u64,
    pub(crate) what: What,
}

/// All that happened, in order of the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log(pub(crate) Vec<Entry>);

/// A stretch of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) cpu: u32,
}

impl Log {
    fn note(&mut self, at: u64, what: What) {
        self.0.push(Entry { at, what });
    }

    /// What is wanted of the entries, with its time.
    pub(crate) fn pick<T>(&self, want: impl Fn(&What) -> Option<T>) -> Vec<(u64, T)> {
        let found = self.0.iter().map(|e| (e.at, want(&e.what)));
        found.filter_map(|(at, w)| w.map(|w| (at, w))).collect()
    }

    /// When and where a task executed, zero-length stretches left out.
    pub(crate) fn stretches(&self, task: u32) -> Vec<Stretch> {
        let stops = self.pick(|w| match *w {
            What::Stop {
                cpu, task: t, ran, ..
            } if t == task => Some((cpu, ran)),
            _ => None,
        });
        let stretch = |(to, (cpu, ran))| Stretch {
            from: to - ran,
            to,
            cpu,
        };
        let all = stops.into_iter().map(stretch);
        all.filter(|s| s.from < s.to).collect()
    }

    /// Time a task executed between two instants, on CPUs that are wanted.
    pub(crate) fn ran(&self, task: u32, from: u64, to: u64, cpus: impl Fn(u32) -> bool) -> u64 {
        let stretches = self.stretches(task).into_iter().filter(|s| cpus(s.cpu));
        stretches
            .map(|s| s.to.min(to).saturating_sub(s.from.max(from)))
            .sum()
    }

    /// Wake-up latencies of a task, each with the time of the first run and its CPU.
    pub(crate) fn latencies(&self, task: u32) -> Vec<(u64, (u32, u64))> {
        self.pick(|w| match *w {
            What::Start {
                cpu,
                task: t,
                latency: Some(ns),
            } if t == task => Some((cpu, ns)),
            _ => None,
        })
    }

    /// Moves for a cause that is wanted: task, from, to.
    pub(crate) fn moves(
        &self,
        cause: impl Fn(MigrateCause) -> bool,
    ) -> Vec<(u64, (u32, u32, u32))> {
        self.pick(|w| match *w {
            What::Migrate {
                task,
                from,
                to,
                cause: c,
            } if cause(c) => Some((task, from, to)),
            _ => None,
        })
    }

    /// Moves by any kind of balancing.
    pub(crate) fn balance_moves(&self) -> Vec<(u64, (u32, u32, u32))> {
        self.moves(|c| {
            matches!(
                c,
                MigrateCause::Balance | MigrateCause::NewIdle | MigrateCause::Active
            )
        })
    }

    /// Times between the entries of a task's timer slack.
    pub(crate) fn slacks(&self, task: u32) -> Vec<i64> {
        let found = self.pick(|w| match *w {
            What::Slack { task: t, slack } if t == task => Some(slack),
            _ => None,
        });
        found.into_iter().map(|(_, slack)| slack).collect()
    }

    /// Values of a series: when, whose, and how much.
    pub(crate) fn samples(&self, of: u32) -> Vec<(u64, (u32, u64))> {
        self.pick(|w| match *w {
            What::Sample {
                task,
                series,
                value,
            } if series == of => Some((task, value)),
            _ => None,
        })
    }

    /// Passes of a task over its phases, with their ends.
    pub(crate) fn passes(&self, of: u32) -> Vec<(u64, Iteration)> {
        self.pick(|w| match *w {
            What::Iteration { task, pass } if task == of => Some(pass),
            _ => None,
        })
    }

    /// When a task ended.
    pub(crate) fn exit(&self, task: u32) -> Option<u64> {
        let found = self.pick(|w| (*w == What::Exit { task }).then_some(()));
        found.first().map(|(at, ())| *at)
    }

    /// Changes of a frequency domain, the announcement at 0 included.
    pub(crate) fn frequencies(&self, domain: u32) -> Vec<(u64, u16)> {
        self.pick(|w| match *w {
            What::Frequency { domain: d, opp } if d == domain => Some(opp),
            _ => None,
        })
    }

    /// Power announcements of a CPU.
    pub(crate) fn power(&self, cpu: u32) -> Vec<(u64, CpuPower)> {
        self.pick(|w| match *w {
            What::Power { cpu: c, power } if c == cpu => Some(power),
            _ => None,
        })
    }

    /// Announcements of a cluster.
    pub(crate) fn cluster(&self, cluster: u32) -> Vec<(u64, Option<u16>)> {
        self.pick(|w| match *w {
            What::Cluster { cluster: c, state } if c == cluster => Some(state),
            _ => None,
        })
    }

    /// Changes of the overutilized flag.
    pub(crate) fn overutilized(&self) -> Vec<(u64, bool)> {
        self.pick(|w| match *w {
            What::Overutilized(on) => Some(on),
            _ => None,
        })
    }
}

impl Observer for Log {
    fn happened(&mut self, time_ns: u64, what: &Happening) {
        match *what {
            Happening::CpuPower { cpu, power } => self.cpu_power(time_ns, cpu, power),
            Happening::ClusterPower { cluster, state } => {
                self.cluster_power(time_ns, cluster, state)
            }
            Happening::Frequency { domain, opp } => self.frequency(time_ns, domain, opp),
            Happening::Placement(ref it) => self.placement(time_ns, it),
            Happening::Wakeup { task, cpu, due_ns } => self.wakeup(time_ns, task, cpu, due_ns),
            Happening::RunStart {
                cpu,
                task,
                wake_latency_ns,
            } => self.run_start(time_ns, cpu, task, wake_latency_ns),
            Happening::RunStop {
                cpu,
                task,
                ran_ns,
                stop,
            } => self.run_stop(time_ns, cpu, task, ran_ns, stop),
            Happening::Migrate {
                task,
                from_cpu,
                to_cpu,
                cause,
            } => self.migrate(time_ns, task, from_cpu, to_cpu, cause),
            Happening::TimerSlack { task, slack_ns } => self.timer_slack(time_ns, task, slack_ns),
            Happening::TaskExit { task } => self.task_exit(time_ns, task),
            Happening::Forked { task, script } => self.forked(time_ns, task, script),
            Happening::Iteration {
                task,
                ref iteration,
            } => self.iteration(time_ns, task, iteration),
            Happening::Sample {
                task,
                series,
                value_ns,
            } => self.sample(time_ns, task, series, value_ns),
            Happening::Overutilized { on } => self.note(time_ns, What::Overutilized(on)),
            Happening::Hotplug { cpu, online } => self.hotplug(time_ns, cpu, online),
            Happening::Finish => self.finish(time_ns),
            _ => {}
        }
    }
}

impl Log {
    fn cpu_power(&mut self, at: u64, cpu: u32, power: CpuPower) {
        self.note(at, What::Power { cpu, power });
    }

    fn cluster_power(&mut self, at: u64, cluster: u32, state: Option<u16>) {
        self.note(at, What::Cluster { cluster, state });
    }

    fn frequency(&mut self, at: u64, domain: u32, opp: u16) {
        self.note(at, What::Frequency { domain, opp });
    }

    fn placement(&mut self, at: u64, placement: &Placement) {
        self.note(at, What::Placement(*placement));
    }

    fn wakeup(&mut self, at: u64, task: u32, cpu: u32, due: u64) {
        self.note(at, What::Wakeup { task, cpu, due });
    }

    fn run_start(&mut self, at: u64, cpu: u32, task: u32, latency: Option<u64>) {
        self.note(at, What::Start { cpu, task, latency });
    }

    fn run_stop(&mut self, at: u64, cpu: u32, task: u32, ran: u64, stop: Stop) {
        self.note(
            at,
            What::Stop {
                cpu,
                task,
                ran,
                sleeps: stop.sleeps(),
            },
        );
    }

    fn migrate(&mut self, at: u64, task: u32, from: u32, to: u32, cause: MigrateCause) {
        self.note(
            at,
            What::Migrate {
                task,
                from,
                to,
                cause,
            },
        );
    }

    fn timer_slack(&mut self, at: u64, task: u32, slack: i64) {
        self.note(at, What::Slack { task, slack });
    }

    fn task_exit(&mut self, at: u64, task: u32) {
        self.note(at, What::Exit { task });
    }

    fn forked(&mut self, at: u64, task: u32, script: u32) {
        self.note(at, What::Forked { task, script });
    }

    fn iteration(&mut self, at: u64, task: u32, pass: &Iteration) {
        self.note(at, What::Iteration { task, pass: *pass });
    }

    fn sample(&mut self, at: u64, task: u32, series: u32, value: u64) {
        self.note(
            at,
            What::Sample {
                task,
                series,
                value,
            },
        );
    }

    fn hotplug(&mut self, at: u64, cpu: u32, online: bool) {
        self.note(at, What::Hotplug { cpu, online });
    }

    fn finish(&mut self, at: u64) {
        self.note(at, What::Finish);
    }
}

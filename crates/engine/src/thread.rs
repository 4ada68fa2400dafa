//! A thread of the workload: where it stands in its script and what the engine keeps of it.

use crate::eevdf;
use crate::fair::Entity;
use crate::outcome::TaskTotals;
use wakeplace_workload::{Event, FairPolicy, Loops, Phase, TaskScript, Timer, TimerMode};

/// Steps without any time passing after which a script is taken to loop for ever.
const ZERO_TIME_STEPS: u32 = 1_000_000;

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not created yet, or asleep.
    Sleeping,
    /// Chosen for a CPU that has not queued it yet.
    Arriving,
    /// Queued or executing.
    Runnable,
    /// Gone.
    Exited,
}

/// What a runnable thread does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Burn this much work (`machine::FULL_SPEED` units).
    Work(u64),
    /// Run until this time, ns.
    Until(u64),
}

/// What a script wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Continue to run.
    Run(Action),
    /// Sleep until then, ns.
    Sleep(u64),
    /// Let the others of this CPU run first.
    Yield,
    /// The script has ended.
    Exit,
    /// Give a unit to a channel.
    Post(Post),
    /// Take a unit of this channel, or wait for one.
    Wait(u32),
    /// So many units of what is measured are done.
    Count(u64),
    /// A phase begins that changes affinity or nice value; ask again afterwards.
    Enter,
    /// Only zero-time steps, for ever.
    Stuck,
}

/// A unit for a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) channel: u32,
    pub(crate) sync: bool,
}

/// What comes next in a wake-up that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeStage {
    /// The task is off its old CPU: choose one.
    Select { sync: bool },
    /// The choice becomes visible.
    Publish,
    /// The target's lock is taken.
    Enqueue,
}

/// A timer of the workload and its next expiry.
#[derive(Debug)]
pub(crate) struct TimerState {
    mode: TimerMode,
    start_delay_ns: u64,
    next_ns: Option<u64>,
}

impl TimerState {
    pub(crate) fn new(timer: &Timer) -> Self {
        Self {
            mode: timer.mode,
            start_delay_ns: timer.start_delay_ns,
            next_ns: None,
        }
    }

    /// One use: the slack to the next expiry and, if that lies ahead, when to wake.
    fn advance(&mut self, now_ns: u64, t_zero_ns: u64, period_ns: u64) -> (i64, Option<u64>) {
        let next = self.next_ns.unwrap_or(t_zero_ns + self.start_delay_ns) + period_ns;
        let late = next <= now_ns;
        // A late relative timer starts anew from now; an absolute one keeps its grid.
        let base = if late && self.mode == TimerMode::Relative {
            now_ns
        } else {
            next
        };
        self.next_ns = Some(base);
        (
            next.cast_signed() - now_ns.cast_signed(),
            (!late).then_some(next),
        )
    }
}

/// One thread.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) entity: Entity,
    /// The same for the other fair queue; while it is queued, that has the valid copy.
    pub(crate) request: eevdf::Entity,
    pub(crate) nice: i8,
    pub(crate) policy: FairPolicy,
    pub(crate) state: State,
    pub(crate) action: Option<Action>,
    /// Kernel work to do before its own (switch, cache refill), work units.
    pub(crate) overhead: u64,
    /// When its sleep ends or ended.
    pub(crate) due_ns: u64,
    /// The CPU whose timer ends it.
    pub(crate) timer_cpu: u32,
    /// It woke and has not run since.
    pub(crate) fresh: bool,
    pub(crate) runnable_since_ns: u64,
    /// Rises each time it is queued or picked: the least recently run task has the smallest.
    pub(crate) recency: u64,
    pub(crate) totals: TaskTotals,
    /// It is past the start line, where all wait until the last one is created.
    pub(crate) started: bool,
    /// It sleeps there.
    pub(crate) at_start_line: bool,
    /// It does the work of waking somebody.
    pub(crate) posting: Option<Post>,
    /// Its wake-up is under way: on which CPU, and what comes next.
    pub(crate) wake: Option<(u32, WakeStage)>,
    /// Nobody sees yet that it is on its way to its CPU.
    pub(crate) unseen: bool,
    /// Asleep, but until then its old CPU is busy switching it out.
    pub(crate) off_cpu_ns: u64,
    phase: usize,
    event: usize,
    entered: bool,
    passes: u64,
    repeats: u64,
    zero_steps: u32,
    stepped_ns: u64,
}

impl Thread {
    pub(crate) fn new(nice: i8, policy: FairPolicy, own_slice_ns: Option<u64>) -> Self {
        Self {
            entity: Entity::new(nice, policy),
            request: eevdf::Entity::new(nice, policy, own_slice_ns),
            nice,
            policy,
            state: State::Sleeping,
            action: None,
            overhead: 0,
            due_ns: 0,
            timer_cpu: 0,
            fresh: false,
            runnable_since_ns: 0,
            recency: 0,
            totals: TaskTotals::default(),
            started: false,
            at_start_line: false,
            posting: None,
            wake: None,
            unseen: false,
            off_cpu_ns: 0,
            phase: 0,
            event: 0,
            entered: false,
            passes: 0,
            repeats: 0,
            zero_steps: 0,
            stepped_ns: 0,
        }
    }

    /// Queued or executing.
    pub(crate) fn is_runnable(&self) -> bool {
        self.state == State::Runnable
    }

    /// What it did, up to the end of the run.
    pub(crate) fn totals_at(self, now_ns: u64, executing: bool) -> TaskTotals {
        let waits = self.is_runnable() && !executing;
        let open = if waits {
            now_ns - self.runnable_since_ns
        } else {
            0
        };
        TaskTotals {
            wait_ns: self.totals.wait_ns + open,
            ..self.totals
        }
    }

    /// The phase it is in.
    pub(crate) fn phase<'a>(&self, script: &'a TaskScript) -> &'a Phase {
        &script.phases[self.phase]
    }

    /// Takes one step of the script. `work_per_ns`: units of one ns of `Run` time.
    pub(crate) fn step(
        &mut self,
        script: &TaskScript,
        timers: &mut [TimerState],
        now_ns: u64,
        t_zero_ns: u64,
        work_per_ns: u64,
    ) -> (Next, Option<i64>) {
        if self.phase == 0 && self.event == 0 && !self.entered && spent(script.loops, self.passes) {
            return (Next::Exit, None);
        }
        if now_ns != self.stepped_ns {
            self.stepped_ns = now_ns;
            self.zero_steps = 0;
        }
        self.zero_steps += 1;
        if self.zero_steps > ZERO_TIME_STEPS {
            return (Next::Stuck, None);
        }
        let phase = &script.phases[self.phase];
        if !self.entered {
            self.entered = true;
            if spent(phase.loops, self.repeats) {
                self.leave_phase(script);
            }
            return (Next::Enter, None);
        }
        let event = phase.events[self.event];
        self.advance(script);
        match event {
            Event::Run { work_ns } => (
                Next::Run(Action::Work(work_ns.saturating_mul(work_per_ns))),
                None,
            ),
            Event::Runtime { wall_ns } => (Next::Run(Action::Until(now_ns + wall_ns)), None),
            Event::Sleep { duration_ns } => (Next::Sleep(now_ns + duration_ns), None),
            Event::Yield => (Next::Yield, None),
            Event::Timer { timer, period_ns } => {
                let timer = &mut timers[timer as usize];
                let (slack, wake) = timer.advance(now_ns, t_zero_ns, period_ns);
                (
                    wake.map_or(Next::Run(Action::Work(0)), Next::Sleep),
                    Some(slack),
                )
            }
            Event::Post { channel, sync } => (Next::Post(Post { channel, sync }), None),
            Event::Wait { channel } => (Next::Wait(channel), None),
            Event::Count { units } => (Next::Count(units), None),
        }
    }

    /// Moves to the event after the current one.
    fn advance(&mut self, script: &TaskScript) {
        self.event += 1;
        if self.event < script.phases[self.phase].events.len() {
            return;
        }
        self.event = 0;
        self.repeats += 1;
        self.entered = false; // affinity is set anew at each repetition, as rt-app does
        if spent(script.phases[self.phase].loops, self.repeats) {
            self.leave_phase(script);
        }
    }

    fn leave_phase(&mut self, script: &TaskScript) {
        self.entered = false;
        self.event = 0;
        self.repeats = 0;
        self.phase += 1;
        if self.phase == script.phases.len() {
            self.phase = 0;
            self.passes += 1;
        }
    }
}

fn spent(loops: Loops, done: u64) -> bool {
    match loops {
        Loops::Forever => false,
        Loops::Times(n) => done >= n,
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Next, Thread, TimerState};
    use wakeplace_workload::{
        Attributes, Event, FairPolicy, Loops, Phase, TaskScript, Timer, TimerMode,
    };

    fn script(loops: Loops, events: Vec<Event>) -> TaskScript {
        let phase = Phase {
            name: "p".into(),
            loops: Loops::Times(2),
            cpus: None,
            nice: None,
            events,
        };
        TaskScript {
            name: "t".into(),
            nice: 0,
            policy: FairPolicy::Other,
            attributes: Attributes::default(),
            cpus: None,
            slice_ns: None,
            delay_ns: 0,
            loops,
            phases: vec![phase],
        }
    }

    fn steps(script: &TaskScript, n: usize) -> Vec<Next> {
        let mut thread = Thread::new(0, FairPolicy::Other, None);
        (0..n)
            .map(|_| thread.step(script, &mut [], 0, 0, 1).0)
            .collect()
    }

    #[test]
    fn phases_repeat_and_passes_end() {
        let script = script(Loops::Times(1), vec![Event::Run { work_ns: 7 }]);
        let run = Next::Run(Action::Work(7));
        assert_eq!(
            steps(&script, 5),
            [Next::Enter, run, Next::Enter, run, Next::Exit]
        );
    }

    #[test]
    fn zero_passes_end_at_once() {
        let script = script(Loops::Times(0), vec![Event::Run { work_ns: 7 }]);
        assert_eq!(steps(&script, 1), [Next::Exit]);
    }

    #[test]
    fn zero_time_loops_are_found() {
        let script = script(Loops::Forever, vec![Event::Run { work_ns: 0 }]);
        assert_eq!(steps(&script, 1_000_001).last(), Some(&Next::Stuck));
    }

    /// Source: rt-app section 6: relative timers rebase when late, absolute ones keep the grid.
    #[test]
    fn late_timers_rebase_or_keep_the_grid() {
        let timer = |mode| {
            TimerState::new(&Timer {
                name: "unique".into(),
                mode,
                start_delay_ns: 5,
            })
        };
        let mut relative = timer(TimerMode::Relative);
        assert_eq!(relative.advance(20, 100, 10), (95, Some(115)));
        assert_eq!(relative.advance(130, 100, 10), (-5, None));
        assert_eq!(relative.advance(131, 100, 10), (9, Some(140)));
        let mut absolute = timer(TimerMode::Absolute);
        assert_eq!(absolute.advance(20, 100, 10), (95, Some(115)));
        assert_eq!(absolute.advance(140, 100, 10), (-15, None));
        assert_eq!(absolute.advance(141, 100, 10), (-6, None));
        assert_eq!(absolute.advance(142, 100, 10), (3, Some(145)));
    }
}

//! Scripts as they are executed, and where a thread stands in its own (docs/guide/rt-app.md). A
//! loop in which no time passes is found, not run.
//!
//! What must stay: a script's steps come in its order, each once per repetition. Free: what leaves
//! recorded runs as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `phases_repeat_and_passes_end` (`step`, `advance`, `leave_phase`, `take_last`),
//! `zero_passes_end_at_once` (`spent`), `zero_time_loops_are_found` and
//! `steps_that_take_time_are_no_loop` (`ZERO_TIME_STEPS`),
//! `phases_of_the_first_pass_are_not_repeated` (`again`),
//! changes.rs::`a_policy_holds_from_its_phase_on` (`changes`). `new`, `add`, `phase`,
//! `phase_index`: all below; `begins_pass` by measures.rs::`passes_are_told`; `script` and `steps`
//! are the tests' own.
//!
//! Callers: steps.rs (`take_last`), mechanics/threads.rs (`phase_index`).
//!
//! Tests: below, crates/engine/tests/behaviour/outcomes.rs,
//! crates/engine/tests/behaviour/changes.rs

use wakeplace_workload::{Change, Event, Loops, Phase, TaskScript};

/// Steps without any time passing after which a script is taken to loop for ever.
const ZERO_TIME_STEPS: u32 = 1_000_000;

/// What a script wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A step.
    Step(Event),
    /// A repetition of a phase begins; ask again afterwards.
    Enter,
    /// The script has ended.
    Exit,
    /// Only zero-time steps, for ever.
    Stuck,
}

/// What threads take their steps by, of all scripts side by side: with hundreds of threads each
/// step would else wait for memory several times.
#[derive(Debug)]
pub(crate) struct Programs {
    scripts: Vec<Program>,
    phases: Vec<Stage>,
    steps: Vec<Event>,
}

/// One script.
#[derive(Clone, Copy, Debug)]
struct Program {
    loops: Loops,
    first: usize,
    nr_phases: usize,
    /// Where every pass but the first begins.
    again: usize,
}

/// One phase.
#[derive(Clone, Copy, Debug)]
struct Stage {
    loops: Loops,
    first: usize,
    nr_steps: usize,
    /// A thread that enters it may have to change.
    changes: bool,
}

impl Programs {
    /// All scripts of a workload.
    pub(crate) fn new(scripts: &[TaskScript]) -> Self {
        let mut programs = Self {
            scripts: Vec::with_capacity(scripts.len()),
            phases: Vec::new(),
            steps: Vec::new(),
        };
        for script in scripts {
            programs.add(script);
        }
        programs
    }

    /// One more script, its phases behind those of the others.
    fn add(&mut self, script: &TaskScript) {
        debug_assert!((script.once as usize) < script.phases.len());
        self.scripts.push(Program {
            loops: script.loops,
            first: self.phases.len(),
            nr_phases: script.phases.len(),
            again: script.once as usize,
        });
        let pins = script.phases.iter().any(|phase| phase.cpus.is_some());
        for phase in &script.phases {
            self.phases.push(Stage {
                loops: phase.loops,
                first: self.steps.len(),
                nr_steps: phase.events.len(),
                changes: pins || phase.change != Change::default(),
            });
            self.steps.extend(&phase.events);
        }
    }

    /// May a thread of this script that enters the phase at this position have to change?
    #[inline]
    pub(crate) fn changes(&self, script: u32, phase: u32) -> bool {
        let first = self.scripts[script as usize].first;
        self.phases[first + phase as usize].changes
    }
}

/// The place in a script.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    phase: usize,
    event: usize,
    entered: bool,
    passes: u64,
    repeats: u64,
    zero_steps: u32,
    stepped_ns: u64,
    /// The step handed out last is the last one of a repetition.
    last: bool,
}

impl Progress {
    /// The phase it is in.
    pub(crate) fn phase<'a>(&self, script: &'a TaskScript) -> &'a Phase {
        &script.phases[self.phase]
    }

    /// Its position.
    pub(crate) fn phase_index(&self) -> u32 {
        self.phase as u32
    }

    /// Asked once after each step: was it the last one of a repetition of a phase?
    #[inline]
    pub(crate) fn take_last(&mut self) -> bool {
        std::mem::take(&mut self.last)
    }

    /// Takes one step of the script.
    #[inline]
    pub(crate) fn step(&mut self, programs: &Programs, script: u32, now_ns: u64) -> Next {
        let script = &programs.scripts[script as usize];
        if self.begins_pass(script) && spent(script.loops, self.passes) {
            return Next::Exit;
        }
        if now_ns != self.stepped_ns {
            self.stepped_ns = now_ns;
            self.zero_steps = 0;
        }
        self.zero_steps += 1;
        if self.zero_steps > ZERO_TIME_STEPS {
            return Next::Stuck;
        }
        let phase = &programs.phases[script.first + self.phase];
        if !self.entered {
            self.entered = true;
            if spent(phase.loops, self.repeats) {
                self.leave_phase(script);
            }
            return Next::Enter;
        }
        let event = programs.steps[phase.first + self.event];
        self.advance(script, phase);
        Next::Step(event)
    }

    /// Is the thread at the first step of a pass of its script, which it has not begun?
    fn begins_pass(&self, script: &Program) -> bool {
        let first = if self.passes == 0 { 0 } else { script.again };
        self.phase == first && self.event == 0 && !self.entered
    }

    /// Moves to the event after the current one.
    fn advance(&mut self, script: &Program, phase: &Stage) {
        self.event += 1;
        if self.event < phase.nr_steps {
            return;
        }
        self.event = 0;
        self.repeats += 1;
        self.last = true;
        self.entered = false; // affinity is set anew at each repetition, as rt-app does
        if spent(phase.loops, self.repeats) {
            self.leave_phase(script);
        }
    }

    /// The next pass of the phase, the next phase, or the next pass of the script.
    fn leave_phase(&mut self, script: &Program) {
        self.entered = false;
        self.event = 0;
        self.repeats = 0;
        self.phase += 1;
        if self.phase == script.nr_phases {
            self.phase = script.again;
            self.passes += 1;
        }
    }
}

/// Have all repetitions been made?
fn spent(loops: Loops, done: u64) -> bool {
    match loops {
        Loops::Forever => false,
        Loops::Times(n) => done >= n,
    }
}

#[cfg(test)]
mod tests {
    use super::{Next, Programs, Progress};
    use wakeplace_workload::{Change, Event, Loops, Phase, TaskScript};

    fn script(loops: Loops, events: Vec<Event>) -> TaskScript {
        let phase = Phase {
            name: "p".into(),
            loops: Loops::Times(2),
            cpus: None,
            change: Change::default(),
            memory_nodes: None,
            events,
        };
        TaskScript::new("t", loops, vec![phase])
    }

    fn steps(script: &TaskScript, n: usize) -> Vec<(Next, bool)> {
        let programs = Programs::new(std::slice::from_ref(script));
        let mut progress = Progress::default();
        (0..n)
            .map(|_| (progress.step(&programs, 0, 0), progress.take_last()))
            .collect()
    }

    #[test]
    fn phases_repeat_and_passes_end() {
        let run = Event::Run { work_ns: 7 };
        let nap = Event::Sleep { duration_ns: 1 };
        let script = script(Loops::Times(1), vec![run, nap]);
        let [run, nap] = [run, nap].map(Next::Step);
        let once = [(Next::Enter, false), (run, false), (nap, true)];
        let expected: Vec<_> = once
            .into_iter()
            .chain(once)
            .chain([(Next::Exit, false)])
            .collect();
        assert_eq!(steps(&script, 7), expected);
    }

    #[test]
    fn zero_passes_end_at_once() {
        let script = script(Loops::Times(0), vec![Event::Run { work_ns: 7 }]);
        assert_eq!(steps(&script, 1), [(Next::Exit, false)]);
    }

    #[test]
    fn zero_time_loops_are_found() {
        let script = script(Loops::Forever, vec![Event::Run { work_ns: 0 }]);
        let last = steps(&script, 1_000_001).last().copied();
        assert_eq!(last, Some((Next::Stuck, false)));
    }

    /// A script that runs for long, whose every step takes time, never hangs: the count begins
    /// again when time has passed.
    #[test]
    fn steps_that_take_time_are_no_loop() {
        let script = script(Loops::Forever, vec![Event::Run { work_ns: 1 }]);
        let programs = Programs::new(std::slice::from_ref(&script));
        let mut progress = Progress::default();
        let all = (0..3_000_000).map(|step| progress.step(&programs, 0, step / 2));
        assert!(all.into_iter().all(|next| next != Next::Stuck));
    }

    /// A thread waits for a common start once, whatever it repeats after it.
    #[test]
    fn phases_of_the_first_pass_are_not_repeated() {
        let mut task = script(Loops::Times(2), vec![Event::Yield]);
        let mut line = task.phases[0].clone();
        (line.loops, line.events) = (Loops::Times(1), vec![Event::Exec]);
        task.phases.insert(0, line);
        task.once = 1;
        let seen = steps(&task, 13).into_iter().map(|(next, _)| next);
        let seen: Vec<_> = seen.filter(|next| *next != Next::Enter).collect();
        let [line, again] = [Event::Exec, Event::Yield].map(Next::Step);
        assert_eq!(seen[..6], [line, again, again, again, again, Next::Exit]);
    }
}

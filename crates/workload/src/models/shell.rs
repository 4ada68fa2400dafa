//! `shell`: programs one after the other, each forked, executed and waited for, as a shell does it
//! with the lines of a script (docs/decisions/025).
//!
//! Called by `models/mod.rs` for its name. Programs run in the order of the lines. Names of tasks
//! begin with the model and the program's place. Work of fork, exec and exit is the machine's.
//!
//! What must stay: one program at a time, each waited for before the next; only a program that ends
//! by itself is taken; tasks are named PROGRAM-PLACE; at most 10,000 programs. Free: what leaves
//! scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `a_loop_is_as_many_forks_of_one_shell` (`expand`, `line`),
//! `a_program_starts_and_joins_its_threads` (`main`),
//! `without_a_common_start_threads_go_on_at_once` (`main`),
//! `programs_share_nothing_but_their_measures` (`per_program`), `scripts_depend_on_the_seed_alone`
//! (draws), `threads_of_all_programs_are_counted` (`expand`: at most 100,000),
//! `what_cannot_be_a_program_is_refused` (`load`, `program`, `check`),
//! `a_program_without_a_limit_does_not_end` (`check`), `the_first_program_can_be_misspelt`
//! (`says_keys`). `warnings` has no test of its own.
//!
//! Tests: crates/workload/tests/all/shell.rs
use super::adopt::Program;
use super::builder::{Builder, TO_ITS_END_NS};
use super::carrier::Carrier;
use super::draw::begin_ns;
use super::tasks::{once, phase, post, run, wait};
use super::values::Values;
use super::{MAX_TASKS, Model, ModelInfo, fault, parameters, split_name};
use crate::error::WorkloadError;
use crate::script::{Event, FigureOf, Phase, StartLine, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "shell",
    also: &["script", "sh"],
    summary: "other models as the lines of a script: shell:loops=10;sysbench-cpu:time=3s",
    parameters: parameters! {
        "loops", "1..=1000", "1", "how often the script is run";
        "fork", "time from 0ns to 1s", "500us", "CPU work of the shell before each fork; assumed";
        "load", "time from 0ns to 1s", "1ms",
            "CPU work of a program between its exec and its first thread; assumed";
        "pause", "time from 0ns to 1000s", "0ns", "the shell sleeps so long after each program";
    },
    metric: "runtime_s",
    source: "fork, execve and wait4 of a POSIX shell's foreground commands",
};

/// The most programs that a script can start.
const MOST_PROGRAMS: u64 = 10_000;

/// A validated argument.
#[derive(Debug)]
pub(super) struct Shell {
    loops: u64,
    fork_ns: u64,
    load_ns: u64,
    pause_ns: u64,
    /// What each line says, and the model it names.
    lines: Vec<(String, Arc<dyn Model>)>,
}

/// Reads `shell:key=value,...;MODEL:key=value,...;...`. The shell's own keys may be left out.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let (name, rest) = split_name(argument);
    let (first, others) = rest.split_once(';').unwrap_or((rest, ""));
    let (own, lines) = match says_keys(first) {
        true => (first, others),
        false => ("", rest),
    };
    let own = format!("{name}:{own}");
    let values = Values::read(&own, &INFO)?;
    let lines: Vec<&str> = lines.split(';').map(str::trim).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let loops = values.number("loops", 1..=1_000)?;
    if lines.is_empty() {
        let expected = "one or more models, as in shell:loops=10;sysbench-cpu:time=3s";
        return Err(fault(argument, "the script has no programs")
            .expected(expected)
            .into());
    }
    if loops * lines.len() as u64 > MOST_PROGRAMS {
        let message = format!("the script starts more than {MOST_PROGRAMS} programs");
        return Err(fault(argument, message).expected("fewer loops").into());
    }
    const SECOND_NS: u64 = 1_000_000_000;
    Ok(Arc::new(Shell {
        loops,
        fork_ns: values.time_ns("fork", 0..=SECOND_NS)?,
        load_ns: values.time_ns("load", 0..=SECOND_NS)?,
        pause_ns: values.time_ns("pause", 0..=1_000 * SECOND_NS)?,
        lines: lines
            .into_iter()
            .map(|line| Ok((line.to_owned(), program(argument, line)?)))
            .collect::<Result<_, WorkloadError>>()?,
    }))
}

/// The shell's own keys, right or wrong, and not a program: a program's name ends at a colon,
/// before any `=`. A misspelt program is not taken for a key: the near names are those of models.
fn says_keys(part: &str) -> bool {
    let head = split_name(part).0.trim();
    head.contains('=') || INFO.parameters.iter().any(|own| own.name == head)
}

/// The model of a line.
fn program(argument: &str, line: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    if split_name(line).0 == INFO.name {
        return Err(fault(argument, "a script cannot run a script")
            .expected("another model")
            .into());
    }
    super::load(line)
}

/// What a program cannot be: the shell would wait for ever, or its measures mean nothing.
fn check(argument: &str, line: &str, program: &Workload) -> Result<(), WorkloadError> {
    let wrong = |message: &str, expected: &str| {
        Err(fault(argument, format!("`{line}` {message}"))
            .expected(expected)
            .into())
    };
    if !program.comes_to_an_end() {
        return wrong(
            "does not end by itself",
            "a program that does, or a time for it",
        );
    }
    if !program.timers.is_empty() {
        let expected = "a program without timers that count from the start of the run";
        return wrong("has timers", expected);
    }
    let warm_up = program.count.as_ref().map_or(0, |count| count.warm_up_ns);
    if warm_up > 0 || program.series.iter().any(|series| series.warm_up_ns > 0) {
        return wrong(
            "measures after a warm-up",
            "a program that measures from its start",
        );
    }
    Ok(())
}

impl Shell {
    /// The shell forks, waits, and goes on.
    fn line(&self, name: &str, main: u32, ended: u32) -> Phase {
        let mut events = Vec::new();
        events.extend((self.fork_ns > 0).then_some(run(self.fork_ns)));
        events.extend([Event::Fork { task: main }, wait(ended)]);
        let duration_ns = self.pause_ns;
        events.extend((duration_ns > 0).then_some(Event::Sleep { duration_ns }));
        phase(name, 1, events)
    }

    /// The main thread of a program: it starts the others, lets them go if they wait for that, and
    /// waits for their ends.
    fn main(&self, name: &str, program: &Program, joined: u32, ended: u32) -> TaskScript {
        let threads = program.first.len() as u64;
        let mut events = vec![Event::Exec];
        events.extend((self.load_ns > 0).then_some(run(self.load_ns)));
        let fork = |task: &u32| Event::Fork { task: *task };
        events.extend(program.first.iter().map(fork));
        let mut phases = vec![phase("start", 1, events)];
        phases.extend(program.release.iter().cloned());
        phases.push(phase("join", threads, [wait(joined)]));
        phases.push(phase("end", 1, [post(ended)]));
        TaskScript {
            forks: Some(1),
            ..once(name.to_owned(), phases)
        }
    }
}

impl Model for Shell {
    /// Those of all programs.
    fn warnings(&self, _: &str) -> Vec<String> {
        let of = |(line, model): &(String, Arc<dyn Model>)| model.warnings(line);
        self.lines.iter().flat_map(of).collect()
    }

    /// The scripts: of each program its threads, then the one that starts them; the shell is the
    /// last.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        let ended = builder.channel("children of the shell".to_owned(), Carrier::Word);
        let programs = self.loops as usize * self.lines.len();
        let mut phases = Vec::with_capacity(programs);
        let mut threads = 1; // the shell
        for (index, (line, model)) in self.lines.iter().cycle().take(programs).enumerate() {
            let own_seed = Stream::for_task(seed, &format!("shell program {index}")).next_u64();
            let program = model.expand(line, own_seed, machine)?;
            check(argument, line, &program)?;
            threads += program.tasks.len() + 1; // with its main thread
            if threads > MAX_TASKS as usize {
                let message = format!("the script's programs have more than {MAX_TASKS} threads");
                let fault = fault(argument, message).expected("fewer loops or threads");
                return Err(fault.into());
            }
            let name = format!("{}-{index}", split_name(line).0);
            let joined = builder.channel(format!("threads of {name}"), Carrier::Word);
            let program = builder.adopt(program, &name, joined).map_err(|reason| {
                fault(argument, format!("`{line}` {reason}")).expected("programs that go together")
            })?;
            let main = builder.task(self.main(&name, &program, joined, ended));
            phases.push(self.line(&name, main, ended));
        }
        builder.task(once("shell".to_owned(), phases));
        builder.start(begin_ns(seed), StartLine::Each);
        builder.per_program(programs as u64);
        builder.duration(TO_ITS_END_NS);
        Ok(builder.finish())
    }
}

impl Builder {
    /// What is counted in all is counted per program, too.
    fn per_program(&mut self, programs: u64) {
        if let Some(count) = self.counted() {
            let total = |figure: &&mut crate::script::Figure| figure.of == FigureOf::Total;
            for figure in count.figures.iter_mut().filter(total) {
                figure.metric = "events_per_program";
                figure.of = FigureOf::Each { number: programs };
            }
        }
    }
}

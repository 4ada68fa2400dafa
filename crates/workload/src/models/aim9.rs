//! `aim9`: one process that does 56 small tests one after the other
//! (docs/rules/workloads.md#other-benchmarks).
//!
//! Called by `models/mod.rs` for its name. Order and lengths of tests stay: results are by them.
//! Work is ns at full speed.
//!
//! What must stay: 56 tests in one process, children one at a time; a test lasts as long as its
//! kind says. Free: what leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"),
//! and words of messages that no test quotes. Tests by part: `aim9_has_56_tests_in_one_process`
//! (`tests`, `test`, `ops`, `expand`), `coarse_models_say_so_and_draw_by_the_seed` (nothing is
//! drawn), `wrong_values_say_their_range` (`load`), played.rs::`the_other_models_take_their_costs`
//! (sum of times), the first also `hop_ns`.
//!
//! Tests: crates/workload/tests/all/coarse_models.rs, crates/workload/tests/all/played.rs
use super::builder::{Builder, TO_ITS_END_NS};
use super::carrier::Carrier;
use super::measures::per_second;
use super::tasks::{DONE, child, once, phase, post, wait};
use super::values::Values;
use super::work::{Share, work};
use super::working_set::{WORKING_SET, with_sets};
use super::{MAX_TASKS, Model, ModelInfo, fault, parameters};
use crate::MachineFacts;
use crate::error::WorkloadError;
use crate::script::{Event, Loops, Phase, Workload};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "aim9",
    also: &[],
    summary: "coarse: one process that does 56 tests one after the other, some with a child at a \
              time; each test has a fixed number of operations instead of a fixed time",
    parameters: parameters! {
        "test", "time from 1ms to 10s", "500ms",
            "length of a test at full speed, which says how many operations it has; assumed";
        "op", "time from 1us to 1s", "100us",
            "CPU time of an operation, on the biggest CPU; assumed";
        "process", "time from 100us to 1s", "500us",
            "CPU time of an operation that starts a child, all of it the child's; assumed";
        "disk", "time from 1us to 1s", "5ms",
            "time an operation of a disk test waits for the disk; assumed";
        "memory", "0%..=100%", "50%",
            "share of the memory tests' CPU time that waits for memory; assumed";
        WORKING_SET;
    },
    metric: "throughput_per_s",
    source: "AIM9: 56 tests in one process, children one at a time \
             (docs/rules/workloads.md#other-benchmarks); kinds of tests and costs are assumed",
};

/// What a test does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Cpu,
    Memory,
    Disk,
    /// A ping-pong with a child.
    Pipe,
    /// A child per operation.
    Fork,
    /// A child per operation that runs another program.
    Exec,
}

/// Names and numbers of tests of each kind: 56 together. The numbers are assumed.
const KINDS: [(&str, usize, Kind); 6] = [
    ("cpu", 28, Kind::Cpu),
    ("memory", 9, Kind::Memory),
    ("disk", 8, Kind::Disk),
    ("pipe", 6, Kind::Pipe),
    ("fork", 1, Kind::Fork),
    ("exec", 4, Kind::Exec),
];

/// Scripts of the children, after that of the process.
const PARTNER: u32 = 1;
const FORKED: u32 = 2;
const EXECUTED: u32 = 3;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aim9 {
    test_ns: u64,
    op_ns: u64,
    process_ns: u64,
    disk_ns: u64,
    memory: Share,
}

/// What the process and its children wait for.
#[derive(Clone, Copy, Debug)]
struct Ends {
    there: u32,
    back: u32,
    ended: u32,
}

/// Reads `aim9:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    let model = Aim9 {
        test_ns: values.time_ns("test", 1_000_000..=10_000_000_000)?,
        op_ns: values.time_ns("op", 1_000..=1_000_000_000)?,
        process_ns: values.time_ns("process", 100_000..=1_000_000_000)?,
        disk_ns: values.time_ns("disk", 1_000..=1_000_000_000)?,
        memory: values.share("memory")?,
    };
    let children = model.ops(Kind::Exec) * tests(Kind::Exec);
    if children > u64::from(MAX_TASKS) {
        let message = format!("`test` and `process` make {children} children");
        let expected = format!("at most {MAX_TASKS}");
        return Err(fault(argument, message).expected(expected).into());
    }
    Ok(Arc::new(with_sets(&values, model)?))
}

/// How many tests are of a kind.
fn tests(kind: Kind) -> u64 {
    let of_kind = KINDS.iter().filter(|(.., other)| *other == kind);
    of_kind.map(|(_, tests, _)| *tests as u64).sum()
}

impl Aim9 {
    /// Operations of a test, at least one: as many as fit into its length at full speed.
    fn ops(&self, kind: Kind) -> u64 {
        let op_ns = match kind {
            Kind::Cpu | Kind::Memory | Kind::Pipe => self.op_ns,
            Kind::Disk => self.op_ns + self.disk_ns,
            Kind::Fork | Kind::Exec => self.process_ns,
        };
        (self.test_ns / op_ns).max(1)
    }

    /// CPU time of one end in one round of a pipe test.
    fn hop_ns(&self) -> u64 {
        self.op_ns / 2
    }

    /// The phases of one test: what comes before, and its operations.
    fn test(&self, name: &str, kind: Kind, ends: Ends) -> Vec<Phase> {
        let mut op = match kind {
            Kind::Cpu => work(self.op_ns, Share::NONE),
            Kind::Memory => work(self.op_ns, self.memory),
            Kind::Disk => {
                let duration_ns = self.disk_ns;
                let mut events = work(self.op_ns, Share::NONE);
                events.push(Event::Io { duration_ns });
                events
            }
            Kind::Pipe => {
                let mut events = work(self.hop_ns(), Share::NONE);
                events.extend([post(ends.there), wait(ends.back)]);
                events
            }
            Kind::Fork => vec![Event::Fork { task: FORKED }, wait(ends.ended)],
            Kind::Exec => vec![Event::Fork { task: EXECUTED }, wait(ends.ended)],
        };
        op.push(DONE);
        let ops = phase(name, self.ops(kind), op);
        match kind {
            Kind::Pipe => {
                let fork = [Event::Fork { task: PARTNER }];
                vec![phase("fork", 1, fork), ops]
            }
            _ => vec![ops],
        }
    }
}

impl Model for Aim9 {
    /// The scripts. Nothing is drawn: the seed changes nothing.
    fn expand(
        &self,
        argument: &str,
        _: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        let ends = Ends {
            there: builder.channel("to the partner".to_owned(), Carrier::Pipe),
            back: builder.channel("from the partner".to_owned(), Carrier::Pipe),
            ended: builder.channel("children".to_owned(), Carrier::Word),
        };
        let all = KINDS.iter();
        let all = all.flat_map(|(name, tests, kind)| {
            (0..*tests).flat_map(move |n| self.test(&format!("{name}-{n}"), *kind, ends))
        });
        builder.task(once("aim9".to_owned(), all.collect()));
        let mut round = vec![wait(ends.there)];
        round.extend(work(self.hop_ns(), Share::NONE));
        round.push(post(ends.back));
        let mut partner = child("partner".to_owned(), tests(Kind::Pipe), round);
        partner.phases[0].loops = Loops::Times(self.ops(Kind::Pipe));
        builder.task(partner);
        let mut forked = work(self.process_ns, Share::NONE);
        forked.push(post(ends.ended));
        let mut executed = vec![Event::Exec];
        executed.extend_from_slice(&forked);
        let forks = |kind| self.ops(kind) * tests(kind);
        builder.task(child("forked".to_owned(), forks(Kind::Fork), forked));
        builder.task(child("executed".to_owned(), forks(Kind::Exec), executed));
        builder.count(0, [per_second()]);
        builder.duration(TO_ITS_END_NS);
        Ok(builder.finish())
    }
}

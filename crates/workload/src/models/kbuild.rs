//! `kbuild`: `make -jN` over compile jobs, each a chain of processes that wait for each other
//! (docs/rules/workloads.md#kbuild).
//!
//! Called by `models/mod.rs` for its name. Draws are by the job's name: more jobs shift none. Work
//! is ns at full speed. Script 0 is make, then four for each job.
//!
//! What must stay: script 0 is make, four scripts per job follow and the link is last; a job's
//! draws are of its own stream; at most `j` chains live at a time. Free: what leaves scripts as
//! they are (ARCHITECTURE.md, "What a change may touch"), and words of messages that no test
//! quotes. Tests by part: `a_job_is_a_chain_of_programs_that_wait` (`job`, `program`,
//! `first_script`), `make_has_at_most_so_many_children` (`make`),
//! `compilers_take_what_the_range_says` (draws), `keys_say_what_programs_cost` (`load`, `memory`),
//! `more_jobs_shift_no_draw` (streams), `wrong_values_say_their_range` (`load`),
//! played.rs::`builds_keep_their_slots_full` and played.rs::`builds_have_at_most_so_many_chains`
//! (`make`, in time), the first also `expand`.
//!
//! Tests: crates/workload/tests/all/kbuild.rs, crates/workload/tests/all/played.rs
use super::builder::{Builder, TO_ITS_END_NS};
use super::carrier::Carrier;
use super::draw::Spread;
use super::tasks::{child, once, phase, post, wait};
use super::values::Values;
use super::work::{Share, work};
use super::working_set::{WORKING_SET, with_sets};
use super::{Model, ModelInfo, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, TaskScript, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "kbuild",
    also: &[
        "make",
        "kernel-build",
        "kcompile",
        "kernbench",
        "compile",
        "gcc",
    ],
    summary: "make -jN: chains of sh, gcc, cc1 and as, at most N at a time, then a link",
    parameters: parameters! {
        "j" also ["threads"], "1..=1000", "1", "chains that run at a time (-jN)";
        "jobs", "1..=20000", "2800", "files to compile";
        "cc1", "times, 1us to 100s", "200ms-1500ms",
            "CPU time of a compiler, drawn per job, on the biggest CPU";
        "as", "times, 1us to 100s", "20ms-50ms", "CPU time of an assembler, drawn per job";
        "make", "time from 1us to 1s", "1ms", "CPU time of make per job; assumed";
        "sh", "time from 1us to 1s", "2ms", "CPU time of a shell per job; assumed";
        "gcc", "time from 1us to 1s", "3ms", "CPU time of a compiler's driver per job; assumed";
        "head", "time from 1us to 100s", "3s", "CPU time of make before the first job; assumed";
        "link", "time from 1us to 100s", "8s", "CPU time of the link after the last job; assumed";
        "memory", "0%..=100%", "20%",
            "share of the CPU time of compilers, assemblers and the link that waits for memory; \
             assumed";
        WORKING_SET;
    },
    metric: "runtime_s",
    source: "make -jN of a kernel as in the power-aware scheduling series v4 (2013); processes and \
             ranges of docs/rules/workloads.md#other-benchmarks",
};

/// Scripts of one job: sh, gcc, cc1, as.
const SCRIPTS_PER_JOB: u32 = 4;

/// A validated argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kbuild {
    slots: u32,
    jobs: u32,
    cc1: Spread,
    assembler: Spread,
    make_ns: u64,
    sh_ns: u64,
    gcc_ns: u64,
    head_ns: u64,
    link_ns: u64,
    memory: Share,
}

/// Reads `kbuild:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    const MOST_NS: u64 = 100_000_000_000;
    const DRIVER_NS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;
    let values = Values::read(argument, &INFO)?;
    let model = Kbuild {
        slots: values.number("j", 1..=1_000)?,
        jobs: values.number("jobs", 1..=20_000)?,
        cc1: values.times("cc1", 1_000..=MOST_NS)?,
        assembler: values.times("as", 1_000..=MOST_NS)?,
        make_ns: values.time_ns("make", DRIVER_NS)?,
        sh_ns: values.time_ns("sh", DRIVER_NS)?,
        gcc_ns: values.time_ns("gcc", DRIVER_NS)?,
        head_ns: values.time_ns("head", 1_000..=MOST_NS)?,
        link_ns: values.time_ns("link", 1_000..=MOST_NS)?,
        memory: values.share("memory")?,
    };
    Ok(Arc::new(with_sets(&values, model)?))
}

/// Index of the first of a job's scripts; make is script 0.
fn first_script(job: u32) -> u32 {
    1 + SCRIPTS_PER_JOB * job
}

/// A program that a fork starts once and whose parent waits for its end on a channel.
fn program(name: String, ended: u32, steps: Vec<Event>) -> TaskScript {
    let mut events = vec![Event::Exec];
    events.extend(steps);
    events.push(post(ended));
    child(name, 1, events)
}

impl Kbuild {
    /// A child of make: a shell that waits for the driver, which waits for the compiler, then for
    /// the assembler.
    fn job(&self, builder: &mut Builder, job: u32, seed: u64, ended: u32) {
        let first = first_script(job);
        let fork = |nth| Event::Fork { task: first + nth };
        let of_sh = builder.channel(format!("children of sh-{job}"), Carrier::Word);
        let of_gcc = builder.channel(format!("children of gcc-{job}"), Carrier::Word);
        let draw = |name: &str, spread: Spread| spread.draw(&mut Stream::for_task(seed, name));
        let mut sh = work(self.sh_ns, Share::NONE);
        sh.extend([fork(1), wait(of_sh)]);
        let mut gcc = work(self.gcc_ns, Share::NONE);
        gcc.extend([fork(2), wait(of_gcc), fork(3), wait(of_gcc)]);
        let (cc1, assembler) = (format!("cc1-{job}"), format!("as-{job}"));
        let cc1_work = work(draw(&cc1, self.cc1), self.memory);
        let as_work = work(draw(&assembler, self.assembler), self.memory);
        builder.task(program(format!("sh-{job}"), ended, sh));
        builder.task(program(format!("gcc-{job}"), of_sh, gcc));
        builder.task(program(cc1, of_gcc, cc1_work));
        builder.task(program(assembler, of_gcc, as_work));
    }

    /// make: the serial head; a job for each slot; one more whenever one ends; the link when all
    /// have.
    fn make(&self, ended: u32, link: u32) -> TaskScript {
        let mut jobs = Vec::new();
        for job in 0..self.jobs {
            if job >= self.slots {
                jobs.push(wait(ended));
            }
            jobs.extend(work(self.make_ns, Share::NONE));
            let task = first_script(job);
            jobs.push(Event::Fork { task });
        }
        let left = u64::from(self.slots.min(self.jobs));
        let link = [Event::Fork { task: link }, wait(ended)];
        let phases = vec![
            phase("head", 1, work(self.head_ns, Share::NONE)),
            phase("jobs", 1, jobs),
            phase("last jobs", left, [wait(ended)]),
            phase("link", 1, link),
        ];
        once("make".to_owned(), phases)
    }
}

impl Model for Kbuild {
    /// The scripts: make, four for each job, the link.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let mut builder = Builder::new(argument);
        let ended = builder.channel("children of make".to_owned(), Carrier::Word);
        builder.task(self.make(ended, first_script(self.jobs)));
        for job in 0..self.jobs {
            self.job(&mut builder, job, seed, ended);
        }
        let link_work = work(self.link_ns, self.memory);
        builder.task(program("ld".to_owned(), ended, link_work));
        builder.duration(TO_ITS_END_NS);
        Ok(builder.finish())
    }
}

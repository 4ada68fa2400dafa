//! `aim7-compute`: tasks that each do the 101 jobs of AIM7's compute mix in a random order
//! (docs/rules/workloads.md#aim7).
//!
//! Called by `models/mod.rs` for its name. Draws are by the task's stream: their order stays. Work
//! is ns at full speed, calibrated as the page says. A change moves results (CHANGELOG.md).
//!
//! What must stay: the mix of 101 jobs, the calibrated cost of a job, and that a task's cost never
//! reads the number of tasks; the names `jobs_per_min` and `jobs_per_min_per_task`. Free: what
//! leaves scripts as they are (ARCHITECTURE.md, "What a change may touch"), and words of messages
//! that no test quotes. Tests by part: `a_task_has_101_jobs_of_26_tests` (the mix, `times`),
//! `jobs_are_made_of_what_their_kind_says` (`job`, `disk`), `the_partner_does_half_of_a_pipe_job`
//! (`talk`, `hop_ns`), `requests_divide_a_disk_job` (`disk`),
//! `a_single_task_adds_up_to_the_calibrated_cell` (all costs),
//! `tasks_do_not_know_how_many_they_are` (`phases`: draws by the task's stream),
//! `jobs_are_counted_per_minute` (`expand`: metrics), `wrong_values_say_their_range` (`load`),
//! played.rs::`aim7_tasks_take_their_costs_side_by_side` (time to the end).
//!
//! Tests: crates/workload/tests/all/aim7_compute.rs, crates/workload/tests/all/played.rs
use super::builder::{Builder, TO_ITS_END_NS};
use super::carrier::Carrier;
use super::draw::shuffle;
use super::measures::rate;
use super::tasks::{DONE, child, once, phase, post, wait};
use super::values::Values;
use super::work::{Share, part, work};
use super::working_set::{WORKING_SET, with_sets};
use super::{Model, ModelInfo, fault, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, Loops, Phase, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "aim7-compute",
    also: &["aim7", "reaim", "compute"],
    summary: "tasks released together that each do 101 jobs of CPU, memory, disk and pipes once",
    parameters: parameters! {
        "tasks", "1..=2000", "1", "number of tasks";
        "job", "time from 1us to 100s", "39505us",
            "CPU time of each job, on the biggest CPU; calibrated: 101 jobs are the 3.99 cpu s of \
             tasks=1,performance in 001_aim7.csv";
        "disk_wait", "time from 0ns to 100s", "1251250us",
            "time a disk job waits for the disk; calibrated: 8 jobs are the 14.00 - 3.99 s of \
             tasks=1,performance in 001_aim7.csv";
        "disk_requests", "1..=100", "1",
            "requests to the disk that a disk job's work and waits are divided into; assumed";
        "memory", "0%..=100%", "30%",
            "share of the memory tests' CPU time that waits for memory; assumed";
        WORKING_SET;
        "fault", "0%..=100%", "50%",
            "the same of the tests that are bound by page faults and shared memory; assumed";
        "rounds", "1..=100000", "1000",
            "round trips with its partner that a pipe or socket job makes; assumed";
    },
    metric: "jobs_per_min_per_task",
    source: "AIM7 workfile.compute: hits of 26 tests, 101 jobs per task; AIM7 of the power-aware \
             scheduling series v4 (2013). Two costs are calibrated on its single task",
};

/// What a job is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Arithmetic: in registers.
    Cpu,
    /// Library functions over arrays: partly in memory.
    Memory,
    /// Bound by page faults.
    Fault,
    /// Work and waits for the disk.
    Disk,
    /// A ping-pong with a forked partner.
    Talk,
}

/// Tests and hits of the compute mix (docs/rules/workloads.md#aim7). The kinds of the CPU and
/// library tests are read from their names: assumed.
const TESTS: [(&str, u64, Kind); 26] = [
    ("add_double", 50, Kind::Cpu),
    ("matrix_rtns", 50, Kind::Memory),
    ("mul_double", 50, Kind::Cpu),
    ("page_test", 50, Kind::Fault),
    ("div_double", 40, Kind::Cpu),
    ("mem_rtns_1", 40, Kind::Memory),
    ("mem_rtns_2", 40, Kind::Memory),
    ("new_raph", 40, Kind::Cpu),
    ("num_rtns_1", 40, Kind::Cpu),
    ("series_1", 40, Kind::Cpu),
    ("trig_rtns", 40, Kind::Cpu),
    ("add_int", 30, Kind::Cpu),
    ("add_long", 30, Kind::Cpu),
    ("disk_rd", 30, Kind::Disk),
    ("div_int", 30, Kind::Cpu),
    ("mul_int", 30, Kind::Cpu),
    ("mul_long", 30, Kind::Cpu),
    ("sieve", 30, Kind::Memory),
    ("string_rtns", 30, Kind::Memory),
    ("disk_wrt", 20, Kind::Disk),
    ("stream_pipe", 20, Kind::Talk),
    ("udp_test", 20, Kind::Talk),
    ("array_rtns", 10, Kind::Memory),
    ("disk_cp", 10, Kind::Disk),
    ("disk_src", 10, Kind::Disk),
    ("shared_memory", 10, Kind::Fault),
];

/// How often a task does a test: its percentage of all hits, rounded
/// (docs/rules/workloads.md#aim7).
fn times(hits: u64) -> u64 {
    let all: u64 = TESTS.iter().map(|(_, hits, _)| hits).sum();
    (2 * 100 * hits + all) / (2 * all)
}

/// A validated argument. Nothing of it depends on the number of tasks or on who places them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aim7Compute {
    tasks: u32,
    job_ns: u64,
    disk_wait_ns: u64,
    disk_requests: u32,
    memory: Share,
    fault: Share,
    rounds: u32,
}

/// How a task reaches its partner.
#[derive(Clone, Copy, Debug)]
struct Partner {
    /// Index of its script.
    task: u32,
    there: u32,
    back: u32,
}

/// Reads `aim7-compute:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    const MOST_NS: u64 = 100_000_000_000;
    let values = Values::read(argument, &INFO)?;
    let model = Aim7Compute {
        tasks: values.number("tasks", 1..=2_000)?,
        job_ns: values.time_ns("job", 1_000..=MOST_NS)?,
        disk_wait_ns: values.time_ns("disk_wait", 0..=MOST_NS)?,
        disk_requests: values.number("disk_requests", 1..=100)?,
        memory: values.share("memory")?,
        fault: values.share("fault")?,
        rounds: values.number("rounds", 1..=100_000)?,
    };
    if model.hop_ns() == 0 {
        let message = "`job` is too short for so many `rounds`";
        let expected = "at least 2 ns of `job` for each round";
        return Err(fault(argument, message).expected(expected).into());
    }
    Ok(Arc::new(with_sets(&values, model)?))
}

impl Aim7Compute {
    /// The phases of one job; the first one has the test's name.
    fn job(&self, test: &str, kind: Kind, partner: Partner) -> Vec<Phase> {
        let mut events = match kind {
            Kind::Cpu => work(self.job_ns, Share::NONE),
            Kind::Memory => work(self.job_ns, self.memory),
            Kind::Fault => work(self.job_ns, self.fault),
            Kind::Disk => self.disk(),
            Kind::Talk => return self.talk(test, partner),
        };
        events.push(DONE);
        vec![phase(test, 1, events)]
    }

    /// Work and the disk in turn.
    fn disk(&self) -> Vec<Event> {
        let requests = u64::from(self.disk_requests);
        let request = |index| {
            let duration_ns = part(self.disk_wait_ns, index, requests);
            let mut events = work(part(self.job_ns, index, requests), Share::NONE);
            events.extend((duration_ns > 0).then_some(Event::Io { duration_ns }));
            events
        };
        (0..requests).flat_map(request).collect()
    }

    /// CPU time of one end in one round: the two ends of all rounds are one job, but for what a
    /// division leaves.
    fn hop_ns(&self) -> u64 {
        self.job_ns / (2 * u64::from(self.rounds))
    }

    /// A partner is forked; both do half of the work, one after the other.
    fn talk(&self, test: &str, partner: Partner) -> Vec<Phase> {
        let mut round = work(self.hop_ns(), Share::NONE);
        round.extend([post(partner.there), wait(partner.back)]);
        let fork = Event::Fork { task: partner.task };
        vec![
            phase(test, 1, [fork]),
            phase("rounds", u64::from(self.rounds), round),
            phase("end", 1, [DONE]),
        ]
    }

    /// The 101 jobs in an order drawn from the task's own stream.
    fn phases(&self, name: &str, seed: u64, partner: Partner) -> Vec<Phase> {
        let all = TESTS.iter().flat_map(|(test, hits, kind)| {
            std::iter::repeat_n((*test, *kind), times(*hits) as usize)
        });
        let mut jobs: Vec<(&str, Kind)> = all.collect();
        shuffle(&mut jobs, &mut Stream::for_task(seed, name));
        let phases = jobs
            .iter()
            .flat_map(|(test, kind)| self.job(test, *kind, partner));
        phases.collect()
    }
}

impl Model for Aim7Compute {
    /// The scripts: each task, then its partner.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        _: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let talks = TESTS.iter().filter(|(.., kind)| *kind == Kind::Talk);
        let forks = talks.map(|(_, hits, _)| times(*hits)).sum();
        let mut builder = Builder::new(argument);
        for index in 0..self.tasks {
            let name = format!("aim7-{index}");
            let partner = Partner {
                task: 2 * index + 1,
                there: builder.channel(format!("{name} to its partner"), Carrier::Pipe),
                back: builder.channel(format!("{name} from its partner"), Carrier::Pipe),
            };
            let phases = self.phases(&name, seed, partner);
            let mut round = vec![wait(partner.there)];
            round.extend(work(self.hop_ns(), Share::NONE));
            round.push(post(partner.back));
            let mut other = child(format!("{name}-partner"), forks, round);
            other.phases[0].loops = Loops::Times(u64::from(self.rounds));
            builder.task(once(name, phases));
            builder.task(other);
        }
        let per = |metric, jobs| rate(metric, jobs, 60_000_000_000);
        let of_all = per("jobs_per_min", 1);
        let of_one = per("jobs_per_min_per_task", u64::from(self.tasks));
        builder.count(0, [of_one, of_all]);
        builder.duration(TO_ITS_END_NS);
        Ok(builder.finish())
    }
}

//! `eas-behaviour`: the seven loads that LISA checks energy-aware placement with
//! (docs/rules/workloads.md#eas-behaviour).
//!
//! Called by `models/mod.rs` for its name. Demands are millionths of the biggest CPU, periods ns.
//! Sizes follow from the machine alone, nothing is drawn. LISA's own checks are in docs/results.
//!
//! What must stay: LISA's formulas of sizes, and that a pinned task has a CPU to itself; capacities
//! in millionths are cut, not rounded. Free: what leaves scripts as they are (ARCHITECTURE.md,
//! "What a change may touch"), and words of messages that no test quotes. Tests by part:
//! `tasks_are_sized_by_the_machine` (`classes`, `courses`, `own_cpu`),
//! `a_big_task_fits_the_biggest_kind` (`big_e6`, `swing_e6`),
//! `a_ramp_changes_the_kind_where_it_no_longer_fits` (`phases`, ramps),
//! `migrating_tasks_are_as_many_as_big_cpus` (wake-migration), `equal_cpus_are_refused` (`expand`,
//! starts), all (`load`).
//!
//! Tests: crates/workload/tests/all/eas_behaviour.rs
use super::builder::Builder;
use super::draw::begin_ns;
use super::tasks::{phase, run, task};
use super::values::Values;
use super::{Model, ModelInfo, fault, parameters};
use crate::error::WorkloadError;
use crate::script::{Event, Loops, Phase, StartLine, Timer, TimerMode, Workload};
use crate::{MachineFacts, Stream};
use std::sync::Arc;

/// The catalogue entry.
pub(crate) const INFO: ModelInfo = ModelInfo {
    name: "eas-behaviour",
    also: &["lisa", "eas", "energy-aware"],
    summary: "the seven loads of LISA's checks of energy-aware placement, sized by the machine",
    parameters: parameters! {
        "kind",
            "one-small, three-small, two-big, two-big-three-small, wake-migration, ramp-up or \
             ramp-down",
            "two-big-three-small",
            "which of the seven";
        "pin", "off or on", "off",
            "on: each task may only use a CPU of its own, of the smallest kind that it fits";
        "start", "together or spread", "together",
            "together: as rt-app's threads; spread: each begins within the first period, as the \
             seed says";
    },
    metric: "cpu_energy_j",
    source: "LISA 3, lisa/tests/scheduler/eas_behaviour.py; docs/rules/workloads.md#eas-behaviour",
};

/// The period of all tasks, ns.
const PERIOD_NS: u64 = 16_000_000;
/// How long a task of one demand has it, a pass over a ramp apart, ns.
const HOLD_NS: u64 = 1_000_000_000;
/// Of each step of a ramp, and of each half of a migration.
const STEP_NS: u64 = 500_000_000;
const HALF_NS: u64 = 2_000_000_000;
/// Steps of a ramp, in millionths of the biggest CPU.
const STEP_E6: u64 = 50_000;
/// The biggest CPU, and the part of a CPU that a task may need and still fits.
const WHOLE_E6: u64 = 1_000_000;
const FITS_E6: u64 = 800_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    OneSmall,
    ThreeSmall,
    TwoBig,
    TwoBigThreeSmall,
    WakeMigration,
    RampUp,
    RampDown,
}

/// A validated argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EasBehaviour {
    kind: Kind,
    pin: bool,
    spread: bool,
}

/// Reads `eas-behaviour:key=value,...`.
pub(super) fn load(argument: &str) -> Result<Arc<dyn Model>, WorkloadError> {
    let values = Values::read(argument, &INFO)?;
    let kinds = [
        ("one-small", Kind::OneSmall),
        ("three-small", Kind::ThreeSmall),
        ("two-big", Kind::TwoBig),
        ("two-big-three-small", Kind::TwoBigThreeSmall),
        ("wake-migration", Kind::WakeMigration),
        ("ramp-up", Kind::RampUp),
        ("ramp-down", Kind::RampDown),
    ];
    Ok(Arc::new(EasBehaviour {
        kind: values.word("kind", kinds)?,
        pin: values.word("pin", [("off", false), ("on", true)])?,
        spread: values.word("start", [("together", false), ("spread", true)])?,
    }))
}

/// CPUs of one capacity, and that in millionths of the biggest.
#[derive(Debug)]
struct Class {
    e6: u64,
    cpus: Vec<u32>,
}

/// The kinds of CPUs, the smallest first.
fn classes(machine: MachineFacts<'_>) -> Vec<Class> {
    let biggest = machine.capacities.iter().copied().max().unwrap_or(1);
    let mut classes: Vec<Class> = Vec::new();
    for (cpu, capacity) in (0..).zip(machine.capacities) {
        let e6 = u64::from(*capacity) * WHOLE_E6 / u64::from(biggest.max(1));
        match classes.iter_mut().find(|class| class.e6 == e6) {
            Some(class) => class.cpus.push(cpu),
            None => classes.push(Class {
                e6,
                cpus: vec![cpu],
            }),
        }
    }
    classes.sort_by_key(|class| class.e6);
    classes
}

/// How far the signal of a task with this demand rises above its mean at the end of each run: the
/// first term of the geometric series, `d (1 - d) period / (2 tau)`, tau = 32 ms x 1.024 / ln 2.
fn swing_e6(demand_e6: u64) -> u64 {
    demand_e6 * (WHOLE_E6 - demand_e6.min(WHOLE_E6)) / WHOLE_E6 * 169 / 1000
}

/// What a task asks for that only fits the biggest CPUs: all of the second biggest kind, or, where
/// the biggest could not hold that without being full, nearly as much as they can.
fn big_e6(classes: &[Class]) -> u64 {
    let second = &classes[classes.len().saturating_sub(2)];
    if second.e6 + swing_e6(second.e6) < FITS_E6 {
        return second.e6;
    }
    let most = FITS_E6 * 95 / 100;
    most - swing_e6(most)
}

/// Demands in turn, millionths of the biggest CPU, each with how long it lasts.
type Course = Vec<(u64, u64)>;

impl Kind {
    /// The tasks, by the first part of their names, with what they ask for.
    fn courses(self, classes: &[Class]) -> Vec<(&'static str, Course)> {
        let of_little = |percent: u64| classes[0].e6 * percent / 100;
        let big = big_e6(classes);
        let small = || ("small", vec![(of_little(50), HOLD_NS)]);
        let large = || ("big", vec![(big, HOLD_NS)]);
        let migrating = || {
            let course = vec![(of_little(20), HALF_NS), (big, HALF_NS)];
            ("emwm", course)
        };
        // Both ends are steps of their own.
        let ramp = || {
            let between = (of_little(10)..big).step_by(STEP_E6 as usize).chain([big]);
            between.map(|e6| (e6, STEP_NS)).collect::<Course>()
        };
        match self {
            Kind::OneSmall => vec![small()],
            Kind::ThreeSmall => vec![small(), small(), small()],
            Kind::TwoBig => vec![large(), large()],
            Kind::TwoBigThreeSmall => vec![small(), small(), small(), large(), large()],
            Kind::WakeMigration => {
                let bigs = classes.last().map_or(0, |class| class.cpus.len());
                (0..bigs).map(|_| migrating()).collect()
            }
            Kind::RampUp => vec![("up", ramp())],
            Kind::RampDown => vec![("down", ramp().into_iter().rev().collect())],
        }
    }
}

/// The CPU that the `index`-th task has to itself while it asks for so much.
fn own_cpu(demand_e6: u64, index: usize, classes: &[Class]) -> Vec<u32> {
    let needed = demand_e6 + swing_e6(demand_e6);
    let fits = |class: &&Class| needed * WHOLE_E6 <= class.e6 * FITS_E6;
    let class = classes.iter().find(fits).or(classes.last());
    class.map_or(Vec::new(), |class| {
        vec![class.cpus[index % class.cpus.len()]]
    })
}

impl EasBehaviour {
    /// The steps of a task over time: so much work each period, then the next demand.
    fn phases(self, course: &Course, index: usize, timer: u32, classes: &[Class]) -> Vec<Phase> {
        let one = |(at, (demand_e6, length_ns)): (usize, &(u64, u64))| {
            let work_ns = (demand_e6 * PERIOD_NS / WHOLE_E6).max(1);
            let period_ns = PERIOD_NS;
            let events = [run(work_ns), Event::Timer { timer, period_ns }];
            let mut phase = phase(&format!("step-{at}"), length_ns / PERIOD_NS, events);
            phase.cpus = self.pin.then(|| own_cpu(*demand_e6, index, classes));
            phase
        };
        course.iter().enumerate().map(one).collect()
    }
}

impl Model for EasBehaviour {
    /// The scripts. Where CPUs are alike there is nothing to check, which is said.
    fn expand(
        &self,
        argument: &str,
        seed: u64,
        machine: MachineFacts<'_>,
    ) -> Result<Workload, WorkloadError> {
        let classes = classes(machine);
        if classes.len() < 2 {
            return Err(fault(argument, "all CPUs have the same capacity")
                .expected("a platform with CPUs of several capacities, such as hikey960")
                .into());
        }
        let mut builder = Builder::new(argument);
        let courses = self.kind.courses(&classes);
        let length = |course: &Course| {
            course
                .iter()
                .map(|(_, ns)| ns / PERIOD_NS * PERIOD_NS)
                .sum()
        };
        builder.duration(
            courses
                .iter()
                .map(|(_, course)| length(course))
                .max()
                .unwrap_or(0),
        );
        for (at, (of, course)) in courses.iter().enumerate() {
            // Small tasks and big ones are counted apart: each begin at the first of their CPUs.
            let index = courses[..at]
                .iter()
                .filter(|(other, _)| other == of)
                .count();
            let name = format!("{of}-{index}");
            let delay_ns = match self.spread {
                true => Stream::for_task(seed, &name).below(PERIOD_NS),
                false => 0,
            };
            let timer = builder.timer(Timer {
                name: format!("{name}/unique"),
                mode: TimerMode::Relative,
                start_delay_ns: delay_ns,
            });
            let phases = self.phases(course, index, timer, &classes);
            let mut script = task(name, Loops::Forever, phases);
            script.delay_ns = delay_ns;
            builder.task(script);
        }
        if !self.spread {
            builder.start(begin_ns(seed), StartLine::Barrier);
        }
        Ok(builder.finish_as_process())
    }
}

//! `eas-behaviour`: sizes and CPUs follow from the machine
//! (docs/rules/workloads.md#eas-behaviour).
//!
//! What must stay: sizes follow from the machine's capacities by the page's formula.
//! Tests by part (in crates/workload/src): models/eas_behaviour.rs:
//! `tasks_are_sized_by_the_machine` (`classes`, `courses`, `own_cpu`),
//! `a_big_task_fits_the_biggest_kind` (`big_e6`, `swing_e6`),
//! `a_ramp_changes_the_kind_where_it_no_longer_fits` (`phases`),
//! `migrating_tasks_are_as_many_as_big_cpus` (wake-migration), `equal_cpus_are_refused` (`expand`);
//! lib.rs: `equal_cpus_are_refused` (`MachineFacts`, `alike`).
//! Helpers, and who fails with them: `made`, `course` (`tasks_are_sized_by_the_machine`,
//! `a_big_task_fits_the_biggest_kind`, `a_ramp_changes_the_kind_where_it_no_longer_fits`,
//! `migrating_tasks_are_as_many_as_big_cpus`).
use wakeplace_workload::{Event, LoadOptions, MachineFacts, Spec, TaskScript, Workload};

/// Four CPUs of 462 and four of 1024, as hikey960's.
const TWO: [u32; 8] = [462, 462, 462, 462, 1024, 1024, 1024, 1024];
/// Three kinds, whose second is so near the biggest that a task of its size fills that.
const THREE: [u32; 4] = [512, 870, 870, 1024];

fn made(argument: &str, capacities: &[u32]) -> Workload {
    let spec = Spec::parse(argument, &LoadOptions::default()).expect("an argument");
    spec.expand(1, MachineFacts { capacities }).expect("fits")
}

/// Per phase: work of a period, and the CPU.
fn course(task: &TaskScript) -> Vec<(u64, Option<u32>)> {
    let one = |phase: &wakeplace_workload::Phase| {
        let Event::Run { work_ns } = phase.events[0] else {
            panic!("{:?}", phase.events)
        };
        (work_ns, phase.cpus.as_ref().map(|cpus| cpus[0]))
    };
    task.phases.iter().map(one).collect()
}

/// Goal: a small task asks for half of a little CPU, a big one for all that the second biggest kind
/// has, each of 16 ms; pinned, each has a CPU to itself.
#[test]
fn tasks_are_sized_by_the_machine() {
    let load = made("eas-behaviour:pin=on", &TWO);
    let of = |name: &str| course(load.tasks.iter().find(|t| t.name == name).expect(name));
    // 462 / 1024 = 0.451171 in millionths; its half, and the whole, of 16 ms.
    for (name, work_ns, cpu) in [
        ("small-0", 3_609_360, 0),
        ("small-1", 3_609_360, 1),
        ("small-2", 3_609_360, 2),
        ("big-0", 7_218_736, 4),
        ("big-1", 7_218_736, 5),
    ] {
        assert_eq!(of(name), [(work_ns, Some(cpu))], "{name}");
    }
    let free = made("eas-behaviour", &TWO);
    assert_eq!(course(&free.tasks[0]), [(3_609_360, None)]);
    assert_eq!(free.duration_ns, Some(992_000_000), "62 periods");
}

/// Goal: where the second kind is nearly as big, a big task asks for 95 % of what fits the biggest,
/// less the swing of its signal: 0.76 - 0.76 x 0.24 x 0.169 = 0.729175.
#[test]
fn a_big_task_fits_the_biggest_kind() {
    let load = made("eas-behaviour:kind=two-big,pin=on", &THREE);
    let all: Vec<_> = load.tasks.iter().flat_map(course).collect();
    assert_eq!(all, [(11_666_800, Some(3)), (11_666_800, Some(3))]);
}

/// Goal: a ramp goes from a tenth of a little CPU to a big task in steps of 5 % of the biggest, and
/// leaves the little CPUs where it needs over 80 % of them.
#[test]
fn a_ramp_changes_the_kind_where_it_no_longer_fits() {
    let load = made("eas-behaviour:kind=ramp-up,pin=on", &TWO);
    let up = course(&load.tasks[0]);
    // 0.045117, then 0.095117 and so on to 0.445117, then 0.451171.
    assert_eq!(up.first(), Some(&(721_872, Some(0))));
    assert_eq!(up.last(), Some(&(7_218_736, Some(4))));
    assert_eq!(up.len(), 10);
    // 0.345117 and its swing of 0.038195 need more than 0.8 of 0.451171, which is 0.360937.
    // 0.295117 and 0.035156 do not.
    let cpus: Vec<_> = up.iter().map(|(_, cpu)| cpu.expect("pinned")).collect();
    assert_eq!(cpus, [0, 0, 0, 0, 0, 0, 4, 4, 4, 4]);
    let down = made("eas-behaviour:kind=ramp-down,pin=on", &TWO);
    assert!(course(&down.tasks[0]).iter().eq(up.iter().rev()));
}

/// Goal: one task per biggest CPU, of a fifth of a little CPU and then big, two seconds each.
#[test]
fn migrating_tasks_are_as_many_as_big_cpus() {
    let load = made("eas-behaviour:kind=wake-migration,pin=on", &TWO);
    assert_eq!(load.tasks.len(), 4);
    assert_eq!(
        course(&load.tasks[3]),
        [(1_443_744, Some(3)), (7_218_736, Some(7))]
    );
    assert_eq!(load.duration_ns, Some(4_000_000_000));
}

/// Goal: a machine of equal CPUs is refused, and spread starts differ by seed.
#[test]
fn equal_cpus_are_refused() {
    let spec = Spec::parse("eas-behaviour:start=spread", &LoadOptions::default()).expect("valid");
    let error = spec.expand(1, MachineFacts::alike(4)).expect_err("alike");
    assert!(error.to_string().contains("same capacity"), "{error}");
    let delays = |seed| {
        let load = spec
            .expand(seed, MachineFacts { capacities: &TWO })
            .expect("fits");
        load.tasks
            .iter()
            .map(|task| task.delay_ns)
            .collect::<Vec<_>>()
    };
    assert_ne!(delays(1), delays(2));
    assert!(delays(1).iter().all(|delay| *delay < 16_000_000));
}

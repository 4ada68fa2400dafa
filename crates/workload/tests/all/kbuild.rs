//! The `kbuild` and `busy-loops` models.
//! Rules: docs/rules/workloads.md#kbuild, docs/rules/workloads.md#other-benchmarks.
//!
//! What must stay: who forks whom and how many live at a time; more jobs shift no draw.
//! Tests by part (in crates/workload/src): models/kbuild.rs:
//! `a_job_is_a_chain_of_programs_that_wait` (`job`, `program`, `first_script`),
//! `make_has_at_most_so_many_children` (`make`), `compilers_take_what_the_range_says` (draws),
//! `keys_say_what_programs_cost` (`load`, `memory`), `more_jobs_shift_no_draw` (streams),
//! `wrong_values_say_their_range` (`load`); models/tasks.rs:
//! `a_job_is_a_chain_of_programs_that_wait` (`child`, `once`); models/work.rs:
//! `keys_say_what_programs_cost` (`from_percent_e6`); models/busy_loops.rs:
//! `a_shell_forks_endless_loops` (`expand`), `wrong_values_say_their_range` (`load`).
//! Helpers, and who fails with them: `forks`, `waits` (`a_job_is_a_chain_of_programs_that_wait`,
//! `a_shell_forks_endless_loops`); `posts` (`a_job_is_a_chain_of_programs_that_wait`);
//! `most_children` (`make_has_at_most_so_many_children`).
use crate::sums;

use sums::{cpu_ns, expand, how_many, io_ns, ok, refused, same_seed_same_scripts, stall_ns, steps};
use wakeplace_workload::{Event, Loops, TaskScript, Workload};

fn forks(task: &TaskScript) -> Vec<u32> {
    let of = |event: &Event| match *event {
        Event::Fork { task } => Some(task),
        _ => None,
    };
    steps(task).filter_map(of).collect()
}

fn posts(task: &TaskScript) -> Vec<u32> {
    let of = |event: &Event| match *event {
        Event::Post { channel, .. } => Some(channel),
        _ => None,
    };
    steps(task).filter_map(of).collect()
}

fn waits(task: &TaskScript) -> Vec<u32> {
    let of = |event: &Event| match *event {
        Event::Wait { channel } => Some(channel),
        _ => None,
    };
    steps(task).filter_map(of).collect()
}

/// Plays the forks and waits as they would happen if each child ended at once when its parent waits
/// and the oldest child first; returns the most children of make that lived at a time.
fn most_children(make: &TaskScript) -> usize {
    let (mut alive, mut most) = (0_usize, 0);
    for event in steps(make) {
        match event {
            Event::Fork { .. } => alive += 1,
            Event::Wait { .. } => alive = alive.checked_sub(1).expect("waits for nobody"),
            _ => {}
        }
        most = most.max(alive);
    }
    assert_eq!(alive, 0, "make waits for all");
    most
}

/// docs/rules/workloads.md#kbuild: make forks a shell, that the driver, that the compiler, then the
/// assembler; each runs its program and is waited for.
#[test]
fn a_job_is_a_chain_of_programs_that_wait() {
    let workload = ok("kbuild:jobs=5,j=2");
    assert_eq!(workload.tasks.len(), 1 + 4 * 5 + 1);
    assert_eq!(forks(&workload.tasks[0]), [1, 5, 9, 13, 17, 21]);
    assert_eq!(workload.shared.channels.len(), 1 + 2 * 5);
    for (job, chain) in workload.tasks[1..21].chunks(4).enumerate() {
        let [sh, gcc, cc1, assembler] = chain else {
            panic!("four programs");
        };
        let first = 1 + 4 * job as u32;
        assert_eq!(forks(sh), [first + 1]);
        assert_eq!(forks(gcc), [first + 2, first + 3]);
        assert_eq!(forks(cc1), []);
        // Whoever forks waits on the channel that its children post to.
        assert_eq!(posts(sh), [0]);
        assert_eq!(waits(sh), posts(gcc));
        assert_eq!(waits(gcc), [posts(cc1), posts(assembler)].concat());
        assert_ne!(posts(gcc), posts(cc1));
        for program in chain {
            assert_eq!(program.phases[0].events[0], Event::Exec);
            assert_eq!(how_many(program, |e| *e == Event::Exec), 1);
            assert_eq!((program.forks, program.loops), (Some(1), Loops::Times(1)));
        }
        assert_eq!((cpu_ns(sh), cpu_ns(gcc)), (2_000_000, 3_000_000));
    }
    assert_eq!(posts(&workload.tasks[21]), [0]);
}

#[test]
fn make_has_at_most_so_many_children() {
    for (jobs, slots, most) in [(10, 1, 1), (10, 4, 4), (3, 8, 3), (1, 1, 1)] {
        let workload = ok(&format!("kbuild:jobs={jobs},j={slots}"));
        assert_eq!(most_children(&workload.tasks[0]), most);
    }
}

/// The range of docs/rules/workloads.md#kbuild, which is drawn evenly: mean 850 ms, its standard
/// error over 2800 jobs (1300 ms / sqrt 12) / sqrt 2800 = 7.1 ms; five of these. Assemblers: 35 ms,
/// 0.16 ms.
#[test]
fn compilers_take_what_the_range_says() {
    let workload = ok("kbuild");
    assert_eq!(workload.tasks.len(), 1 + 4 * 2800 + 1);
    let of = |nth: usize| -> Vec<u64> {
        let chains = workload.tasks[1..=4 * 2800].chunks(4);
        chains.map(|chain| cpu_ns(&chain[nth])).collect()
    };
    let mean = |times: &[u64]| times.iter().sum::<u64>() / times.len() as u64;
    let (cc1, assembler) = (of(2), of(3));
    let ms = 1_000_000;
    assert!(cc1.iter().all(|ns| (200 * ms..=1500 * ms).contains(ns)));
    assert!(mean(&cc1).abs_diff(850 * ms) < 36 * ms, "{}", mean(&cc1));
    assert!(assembler.iter().all(|ns| (20 * ms..=50 * ms).contains(ns)));
    assert!(mean(&assembler).abs_diff(35 * ms) < 820_000);
}

#[test]
fn keys_say_what_programs_cost() {
    let workload =
        ok("kbuild:jobs=2,cc1=1ms,as=2ms,make=3us,sh=4us,gcc=5us,head=6ms,link=7ms,memory=50%");
    let costs: Vec<u64> = workload.tasks.iter().map(cpu_ns).collect();
    let job = [4_000, 5_000, 1_000_000, 2_000_000];
    let make = 6_000_000 + 2 * 3_000;
    assert_eq!(costs, [&[make], &job[..], &job, &[7_000_000]].concat());
    assert!(workload.tasks.iter().all(|task| io_ns(task) == 0));
    let stalls: Vec<u64> = workload.tasks.iter().map(stall_ns).collect();
    let job = [0, 0, 500_000, 1_000_000];
    assert_eq!(stalls, [&[0], &job[..], &job, &[3_500_000]].concat());
}

#[test]
fn more_jobs_shift_no_draw() {
    let costs =
        |workload: &Workload| -> Vec<u64> { workload.tasks[1..=40].iter().map(cpu_ns).collect() };
    assert_eq!(
        costs(&ok("kbuild:jobs=10")),
        costs(&ok("kbuild:jobs=11,j=7"))
    );
    let other = expand("kbuild:jobs=10", 2).expect("seed 2");
    assert_ne!(costs(&ok("kbuild:jobs=10")), costs(&other));
    same_seed_same_scripts("kbuild:jobs=10", true);
}

/// docs/rules/workloads.md#other-benchmarks: x infinite loops forked by a shell.
#[test]
fn a_shell_forks_endless_loops() {
    let workload = ok("busy-loops:n=4,shell=1ms");
    let [shell, busy] = &workload.tasks[..] else {
        panic!("a shell and a script of loops");
    };
    assert_eq!(forks(shell), [1; 4]);
    assert_eq!(cpu_ns(shell), 4_000_000);
    assert_eq!((waits(shell).len(), shell.forks), (1, None));
    assert_eq!((busy.forks, busy.loops), (Some(4), Loops::Forever));
    assert!(steps(busy).all(|event| matches!(event, Event::Run { .. })));
    same_seed_same_scripts("busy-loops:n=4", false);
}

#[test]
fn wrong_values_say_their_range() {
    refused(&[
        ("kbuild:j=0", "a number from 1 to 1000"),
        ("kbuild:jobs=20001", "a number from 1 to 20000"),
        (
            "kbuild:cc1=2s-1s",
            "a time, or two such as 50us-200us, from 1us to 100s",
        ),
        ("kbuild:cc1=0s", "from 1us to 100s"),
        ("kbuild:as=1us-101s", "from 1us to 100s"),
        ("kbuild:make=2s", "a time from 1us to 1s"),
        ("kbuild:memory=-1%", "a percentage from 0% to 100%"),
        ("kbuild:job=5", "did you mean `jobs`?"),
        ("busy-loops:n=0", "a number from 1 to 10000"),
        ("busy-loops:shell=11s", "a time from 1us to 10s"),
        ("busy-loop", "did you mean `busy-loops`?"),
    ]);
}

//! The `shell` model: programs as lines of a script.
//! Page: docs/guide/workloads.md, "A script of programs".
//!
//! What must stay: programs share nothing but what they are measured by; what cannot be a program
//! is refused with its place.
//! Tests by part (in crates/workload/src): models/shell.rs: `a_loop_is_as_many_forks_of_one_shell`
//! (`expand`, `line`), `a_program_starts_and_joins_its_threads`,
//! `without_a_common_start_threads_go_on_at_once` (`main`), `scripts_depend_on_the_seed_alone`
//! (draws), `what_cannot_be_a_program_is_refused` (`load`, `program`, `check`),
//! `threads_of_all_programs_are_counted` (`expand`), `a_program_without_a_limit_does_not_end`
//! (`check`), `the_first_program_can_be_misspelt` (`says_keys`); script.rs:
//! `a_loop_is_as_many_forks_of_one_shell` (forked scripts),
//! `a_program_without_a_limit_does_not_end` (`comes_to_an_end`); models/adopt.rs:
//! `a_program_starts_and_joins_its_threads` (`adopt`, `started_by_fork`),
//! `threads_meet_once_with_the_thread_that_made_them` (a barrier as start line),
//! `threads_are_let_go_by_the_thread_that_made_them` (a release as start line),
//! `programs_share_nothing_but_their_measures` (`shift`, `shifted_phase`, `place_of`),
//! `programs_that_measure_one_name_in_two_ways_are_refused` (`fits`),
//! `a_thread_waits_for_its_release_behind_the_start_line` (delays); models/builder.rs:
//! `programs_share_nothing_but_their_measures` (`adopt`, `counted`).
//! Helpers, and who fails with them: `events` (`a_loop_is_as_many_forks_of_one_shell`,
//! `a_program_starts_and_joins_its_threads`, `programs_share_nothing_but_their_measures`);
//! `position` (`threads_meet_once_with_the_thread_that_made_them`,
//! `threads_are_let_go_by_the_thread_that_made_them`).
use crate::sums::{ok, refused, same_seed_same_scripts};
use wakeplace_workload::{Event, FigureOf, Loops, TaskScript, Zero};

fn events(task: &TaskScript) -> Vec<Event> {
    let all = task.phases.iter();
    all.flat_map(|phase| phase.events.iter().copied()).collect()
}

/// Ten runs of a program are ten forks of one shell, each waited for before the next.
#[test]
fn a_loop_is_as_many_forks_of_one_shell() {
    let workload = ok("shell:loops=10,fork=1ms;sysbench-cpu:threads=2,time=3s");
    let shell = workload.tasks.last().expect("some");
    assert_eq!(shell.name, "shell");
    assert_eq!(shell.forks, None, "it is there at the start");
    let there = workload.tasks.iter().filter(|task| task.forks.is_none());
    assert_eq!(there.count(), 1, "all others are forked");
    let steps = events(shell);
    assert_eq!(steps.len(), 30);
    for (run, step) in steps.chunks(3).enumerate() {
        let [
            Event::Run { work_ns },
            Event::Fork { task },
            Event::Wait { channel },
        ] = step
        else {
            panic!("{step:?}");
        };
        assert_eq!(*work_ns, 1_000_000);
        let main = &workload.tasks[*task as usize];
        assert_eq!(main.name, format!("sysbench-cpu-{run}"));
        let end = events(main).pop();
        let told = Event::Post {
            channel: *channel,
            sync: true,
        };
        assert_eq!(
            end,
            Some(told),
            "the program's end is what the shell waits for"
        );
    }
}

/// A program executes, then starts its own threads, and joins them. Their times are their own.
#[test]
fn a_program_starts_and_joins_its_threads() {
    let workload = ok("shell:load=2ms;sysbench-cpu:threads=2,time=3s,start=0ms");
    let named = |name: &str| {
        let mut all = workload.tasks.iter();
        all.find(|task| task.name == name).expect("there")
    };
    let main = named("sysbench-cpu-0");
    let first = [Event::Exec, Event::Run { work_ns: 2_000_000 }];
    assert_eq!(events(main)[..2], first);
    let forked = events(main).into_iter().filter_map(|event| match event {
        Event::Fork { task } => Some(&workload.tasks[task as usize]),
        _ => None,
    });
    let forked: Vec<&TaskScript> = forked.collect();
    assert_eq!(forked.len(), 2);
    for task in forked {
        assert_eq!(task.zero, Zero::OwnStart);
        let joined = Event::Wait {
            channel: task.ended.expect("main waits for it"),
        };
        assert!(events(main).contains(&joined));
        let until = Event::ExitAfter {
            since_start_ns: 3_000_000_000,
        };
        assert!(events(task).contains(&until));
    }
}

fn position(task: &TaskScript, name: &str) -> usize {
    let found = task.phases.iter().position(|phase| phase.name == name);
    found.unwrap_or_else(|| panic!("{} has no phase {name}", task.name))
}

/// sysbench's threads begin together. The main thread is one of those that meet, after it has made
/// the last one. Each meets once, whatever it repeats.
#[test]
fn threads_meet_once_with_the_thread_that_made_them() {
    let workload = ok("shell:sysbench-threads:threads=3,locks=2,time=3s");
    let main = &workload.tasks[3];
    assert_eq!(main.name, "sysbench-threads-0");
    let [start, line, join] = ["start", "line", "join"].map(|name| position(main, name));
    assert!(start < line && line < join);
    let [Event::Barrier { barrier }] = main.phases[line].events[..] else {
        panic!("{main:?}");
    };
    assert_eq!(workload.shared.barriers[barrier as usize].parties, 4);
    for thread in &workload.tasks[..3] {
        assert_eq!(thread.phases[0].events, [Event::Barrier { barrier }]);
        assert_eq!(thread.once, 1);
    }
}

/// hackbench's main process waits until all are ready, then lets them go.
#[test]
fn threads_are_let_go_by_the_thread_that_made_them() {
    let workload = ok("shell:messaging:groups=1,fds=2,loops=3");
    let main = &workload.tasks[4];
    let [start, ready, go, join] = ["start", "ready", "go", "join"].map(|n| position(main, n));
    assert!(start < ready && ready < go && go < join);
    assert_eq!(main.phases[ready].loops, Loops::Times(4));
    assert_eq!(main.phases[go].loops, Loops::Times(4));
    let ([Event::Wait { channel: there }], [Event::Post { channel: begin, .. }]) =
        (&main.phases[ready].events[..], &main.phases[go].events[..])
    else {
        panic!("{main:?}");
    };
    for thread in &workload.tasks[..4] {
        assert_eq!(thread.once, 1);
        let line = &thread.phases[0].events;
        assert!(matches!(line[0], Event::Post { channel, .. } if channel == *there));
        assert_eq!(line[1], Event::Wait { channel: *begin });
    }
}

/// Threads that begin one by one in the real program do so here.
#[test]
fn without_a_common_start_threads_go_on_at_once() {
    let workload = ok("shell:kbuild:j=2,jobs=3");
    let all = workload.tasks.iter().flat_map(|task| &task.phases);
    assert!(
        all.into_iter()
            .all(|phase| phase.name != "line" && phase.name != "go")
    );
}

/// What programs share is theirs alone; what they are measured by is one.
#[test]
fn programs_share_nothing_but_their_measures() {
    let workload = ok("shell:loops=2;sysbench-threads:threads=3,locks=2,time=1s");
    let picks = |program: &str| -> Vec<u32> {
        let own = |task: &&TaskScript| task.name.starts_with(program);
        let steps = workload.tasks.iter().filter(own).flat_map(events);
        let mutexes = steps.filter_map(|event| match event {
            Event::Lock { mutex, .. } => Some(mutex),
            _ => None,
        });
        mutexes.collect()
    };
    let (one, two) = (picks("sysbench-threads-0/"), picks("sysbench-threads-1/"));
    assert!(!one.is_empty() && one.len() == two.len());
    assert!(one.iter().max() < two.iter().min(), "{one:?} {two:?}");
    assert_eq!(workload.series.len(), 1);
    let count = workload.count.as_ref().expect("it counts");
    assert_eq!(count.figures[0].metric, "events_per_program");
    assert_eq!(count.figures[0].of, FigureOf::Each { number: 2 });
}

#[test]
fn scripts_depend_on_the_seed_alone() {
    same_seed_same_scripts("shell:loops=3;kbuild:j=2,jobs=3;sysbench-cpu:time=1s", true);
}

#[test]
fn what_cannot_be_a_program_is_refused() {
    let many = format!("shell:loops=1000{}", ";kbuild".repeat(11));
    refused(&[
        ("shell", "no programs"),
        ("shell:loops=3", "no programs"),
        ("shell:loop=3;kbuild", "no key `loop`"),
        ("shell:loops", "`loops` has no value"),
        ("shell:sysbench", "no model is called `sysbench`"),
        ("shell:;sysbench", "no model is called `sysbench`"),
        ("shell:shell:kbuild", "cannot run a script"),
        ("shell:periodic:n=2", "does not end by itself"),
        (&many, "more than 10000 programs"),
    ]);
}

/// Goal: a metric has one meaning. The percentiles of sysbench 0.4 and 1.0 are from other bins
/// (docs/decisions/024), and both are called `latency`.
#[test]
fn programs_that_measure_one_name_in_two_ways_are_refused() {
    let new = "sysbench-cpu:time=1s,version=1.0";
    let old = "sysbench-cpu:time=1s";
    let other = "measures the same name in another way than the program before it";
    for script in [format!("shell:{new};{old}"), format!("shell:{old};{new}")] {
        refused(&[(&script, other), (&script, "programs that go together")]);
    }
    ok(&format!("shell:{old};kbuild;{old}"));
}

/// Goal: a script asks for no more threads than any other argument, 100,000: 1000 programs of 99
/// threads, a main thread each, and the shell are one too many.
#[test]
fn threads_of_all_programs_are_counted() {
    let many = "shell:loops=1000;sysbench-cpu:threads=99,requests=5";
    refused(&[
        (many, "more than 100000 threads"),
        (many, "expected fewer loops or threads"),
        (
            "shell:loops=1000;sysbench-cpu:threads=100000,requests=5",
            "more than 100000 threads",
        ),
    ]);
    let most = ok("shell:loops=10;sysbench-cpu:threads=9998,requests=5");
    assert_eq!(most.tasks.len(), 10 * 9_999 + 1);
}

/// Goal: a program without any limit does not end (docs/guide/workloads.md).
#[test]
fn a_program_without_a_limit_does_not_end() {
    let endless = "time=0s,requests=0";
    refused(&[
        (
            &format!("shell:loops=2;sysbench-cpu:{endless}"),
            "does not end by itself",
        ),
        (
            &format!("shell:sysbench-threads:{endless}"),
            "does not end by itself",
        ),
    ]);
    for limit in ["time=1s,requests=0", "time=0s,requests=1"] {
        assert!(ok(&format!("shell:sysbench-cpu:{limit}")).comes_to_an_end());
        assert!(ok(&format!("sysbench-cpu:{limit}")).comes_to_an_end());
    }
    assert!(!ok(&format!("sysbench-cpu:{endless}")).comes_to_an_end());
}

/// Goal: `release` counts from the release (`workload list`), so a thread that waits for it has
/// said before that it is there, and has no other delay.
#[test]
fn a_thread_waits_for_its_release_behind_the_start_line() {
    let workload = ok("shell:messaging:groups=1,fds=2,loops=10,release=50ms");
    let mut drawn = std::collections::BTreeSet::new();
    for thread in &workload.tasks[..4] {
        assert_eq!(thread.delay_ns, 0);
        let [
            Event::Post { .. },
            Event::Wait { .. },
            Event::Sleep { duration_ns },
        ] = thread.phases[0].events[..]
        else {
            panic!("{:?}", thread.phases[0]);
        };
        assert!((1..50_000_000).contains(&duration_ns), "{duration_ns}");
        drawn.insert(duration_ns);
    }
    assert_eq!(drawn.len(), 4, "each at a time of its own");
}

/// Goal: a misspelt program is taken for a program, wherever it stands, a misspelt key for a key.
#[test]
fn the_first_program_can_be_misspelt() {
    refused(&[
        (
            "shell:sysbench-cp:time=3s",
            "no model is called `sysbench-cp`",
        ),
        ("shell:sysbench-cp:time=3s", "did you mean `sysbench-cpu`?"),
        ("shell:kbuil;kbuild", "did you mean `kbuild`?"),
        ("shell:lops=3;kbuild", "did you mean `loops`?"),
    ]);
}

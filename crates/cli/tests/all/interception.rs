//! The ways that calls of a loader take: equal results by notification and by ptrace, and behind
//! filters like a container's.
//! Page: docs/guide/schedulers.md, "What the loader sees".
//!
//! What must stay: results do not depend on the way that calls take; where a way is not possible on
//! the machine that is said.
//! Tests by part (in crates/cli/src): commands/doctor.rs: `doctor_says_which_way_calls_take`
//! (`interception`); crates/foreign/src/guard: all others.
//! Helpers, and who fails with them: `in_container`, `without_filters`, `behind`, `doctor`
//! (`doctor_says_which_way_calls_take`); `by_notification` (`results_do_not_depend_on_the_way`,
//! `virtual_time_does_not_depend_on_the_way`); `by_ptrace` (`doctor_says_which_way_calls_take`,
//! `what_goes_wrong_is_named_by_ptrace_too`); `sim` (`results_do_not_depend_on_the_way`,
//! `virtual_time_does_not_depend_on_the_way`, `what_goes_wrong_is_named_by_ptrace_too`,
//! `no_other_way_is_known`).

use crate::common::{assert_code, assert_refused, program, stderr, stdout};
use crate::schedulers::{self, hash, made};
use libc::sock_filter;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

const WAY: &str = "WAKEPLACE_INTERCEPTION";

/// What is done to the program before it starts.
type Before = fn(&mut Command);

fn by_notification(command: &mut Command) {
    command.env(WAY, "notification");
}

fn by_ptrace(command: &mut Command) {
    command.env(WAY, "ptrace");
}

/// As Docker's default profile: bpf(2) and others have an answer before a filter of ours.
fn in_container(command: &mut Command) {
    command.env_remove(WAY);
    behind(
        command,
        &[
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_pidfd_getfd,
            libc::SYS_personality,
        ],
    );
}

/// Nobody may install a filter, and a tracer has no calls for another's memory.
fn without_filters(command: &mut Command) {
    command.env_remove(WAY);
    let memory = [libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];
    behind(command, &[&[libc::SYS_seccomp][..], &memory].concat());
}

const ALL: [(&str, Before); 4] = [
    ("notification", by_notification),
    ("ptrace", by_ptrace),
    ("container", in_container),
    ("no filters", without_filters),
];

/// Starts it behind a filter that answers these calls with EPERM.
fn behind(command: &mut Command, refused: &[libc::c_long]) {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let give = libc::BPF_RET | libc::BPF_K;
    let mut filter = vec![statement(
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        0,
        0,
        0,
    )];
    for number in refused {
        let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        filter.push(statement(equal, 0, 1, *number as u32));
        let errno = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        filter.push(statement(give, 0, 0, errno));
    }
    filter.push(statement(give, 0, 0, libc::SECCOMP_RET_ALLOW));
    let install = move || {
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_ptr().cast_mut(),
        };
        // SAFETY: plain system calls; the program lives until they return.
        let done = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
                + libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                )
        };
        match done {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(install);
    }
}

fn doctor(before: Before) -> String {
    let mut command = program(Path::new("."));
    before(&mut command);
    let output = command.args(["doctor", "--format", "json"]).output();
    stdout(&output.expect("the program starts"))
}

#[test]
fn doctor_says_which_way_calls_take() {
    for (before, words) in [
        (by_notification as Before, "by seccomp user notification"),
        (by_ptrace, "by ptrace, since WAKEPLACE_INTERCEPTION says so"),
        (
            in_container,
            "by ptrace, since another filter here answers bpf(2)",
        ),
        (
            without_filters,
            "by ptrace, since filters with notification are refused: Operation not permitted",
        ),
    ] {
        let text = doctor(before);
        assert!(text.contains(words), "{words}: {text}");
    }
}

fn sim(scheduler: &str, before: Before, more: &[&str]) -> Output {
    let workload = "periodic:n=12,duty=20%";
    let mut command = schedulers::prepared(workload, "sim", scheduler, more);
    before(&mut command);
    command.output().expect("the program starts")
}

/// Goal: one implementation of what calls are answered: what happens does not depend on the way.
/// The container cannot keep the arena's address, so `arena` is not among them.
#[test]
fn results_do_not_depend_on_the_way() {
    let object = made().object("maps.bpf.o");
    let of = |before| hash(&sim(&object, before, &["--verify-determinism"]));
    let first = of(by_notification);
    for (way, before) in &ALL[1..] {
        assert_eq!(of(*before), first, "{way}");
    }
}

/// Goal: virtual time is the same: threads, sockets, timers, ring buffers, and a loader that goes
/// on for as long as the run.
#[test]
fn virtual_time_does_not_depend_on_the_way() {
    let short = ["--duration", "300ms"];
    let watch = |before| {
        let output = sim(&schedulers::loader("watch"), before, &short);
        assert_code(&output, 1);
        let text = stderr(&output);
        let (_, seen) = text.split_once("warning: ").expect(&text);
        assert!(seen.contains("seen: slept 10 received 15"), "{text}");
        seen.to_owned()
    };
    let for_ever = |before| {
        let more = [&short[..], &["--verify-determinism"]].concat();
        hash(&sim(&schedulers::loader("for-ever"), before, &more))
    };
    let first = (watch(by_notification), for_ever(by_notification));
    for (way, before) in &ALL[1..] {
        assert_eq!((watch(*before), for_ever(*before)), first, "{way}");
    }
}

/// Goal: what goes wrong is named the same, and nothing is left behind.
#[test]
fn what_goes_wrong_is_named_by_ptrace_too() {
    for (what, words) in [
        ("start", "to start a process while the simulation runs"),
        ("read", "to read /proc/loadavg while the simulation runs"),
    ] {
        let output = sim(&schedulers::loader(what), by_ptrace, &[]);
        assert_code(&output, 1);
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
    for (scheduler, words) in [
        ("/bin/false", "exit code 1 before it attached"),
        ("/bin/sh -c 'kill -SEGV $$'", "attached"),
        ("/bin/sh -c 'sleep 1 & sleep 2; uname -r'", "7.3.0-small"),
    ] {
        assert_refused(&sim(scheduler, by_ptrace, &[]), &[words]);
    }
}

#[test]
fn no_other_way_is_known() {
    let wrong: Before = |command| {
        command.env(WAY, "preload");
    };
    assert_refused(
        &sim("/bin/true", wrong, &[]),
        &["WAKEPLACE_INTERCEPTION: `preload`; expected notification or ptrace"],
    );
}

/// Goal: a loader that closes all descriptors, as programs do that want to begin with none, does
/// not close those that its calls are answered by.
#[test]
fn a_loader_may_close_all_descriptors() {
    let closes = schedulers::loader("closes");
    let runs = ALL.map(|(name, before)| {
        let more = ["--verify-determinism", "--duration", "100ms"];
        let mut command = schedulers::prepared("periodic:n=4", "sim", &closes, &more);
        before(&mut command);
        (name, hash(&command.output().expect("the program starts")))
    });
    for (name, found) in &runs[1..] {
        assert_eq!(*found, runs[0].1, "{name}");
    }
}

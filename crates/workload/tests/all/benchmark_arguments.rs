//! What is said of wrong values in the arguments of the benchmarks' models.
//! Page: docs/guide/workloads.md, "All programs".
//!
//! What must stay: a message says what was expected; defaults of the catalogue are those that hold.
//! Tests by part (in crates/workload/src): models/messaging.rs:
//! `messaging_and_sysbench_say_what_is_expected` (`parse`); models/sysbench.rs:
//! `messaging_and_sysbench_say_what_is_expected` (`read`); models/cyclictest.rs:
//! `the_others_say_what_is_expected` (`load`); models/netperf.rs: `the_others_say_what_is_expected`
//! (`parse`); models/mod.rs: `the_defaults_are_those_of_the_catalogue` (defaults against scripts).
//! Helpers, and who fails with them: `error`, `check`
//! (`messaging_and_sysbench_say_what_is_expected`, `the_others_say_what_is_expected`).
use wakeplace_workload::{LoadOptions, MachineFacts, Spec};

fn error(argument: &str) -> String {
    let machine = MachineFacts::alike(4);
    let spec = match Spec::parse(argument, &LoadOptions::default()) {
        Ok(spec) => spec,
        Err(error) => return error.to_string(),
    };
    match spec.expand(1, machine) {
        Ok(_) => panic!("{argument} is accepted"),
        Err(error) => error.to_string(),
    }
}

fn check(cases: &[(&str, &str)]) {
    for (argument, part) in cases {
        let error = error(argument);
        assert!(error.contains(part), "{argument}: {error}");
        assert!(error.contains(argument), "the argument is named: {error}");
    }
}

#[test]
fn messaging_and_sysbench_say_what_is_expected() {
    check(&[
        ("messaging:groups=0", "a number from 1 to 2500"),
        ("messaging:loops=+5", "a number from 1 to 1000000000"),
        ("messaging:fds=101", "a number from 1 to 100"),
        (
            "messaging:groups=2500,fds=21",
            "make 105000 tasks; expected at most 100000",
        ),
        ("messaging:tasks=fork", "process or thread"),
        ("messaging:via=tcp", "socket or pipe"),
        ("messaging:writers=one", "all or first"),
        ("messaging:send=0us", "a time above 0"),
        ("messaging:release=5", "a time from 0ns to 1000s"),
        ("messaging:group=2", "did you mean `groups`?"),
        ("sysbench-cpu:threads=0", "a number from 1 to 100000"),
        (
            "sysbench-cpu:requests=-1",
            "a number from 0 to 1000000000000",
        ),
        ("sysbench-cpu:time=2000s", "a time from 0ns to 1000s"),
        ("sysbench-cpu:version=0.5", "0.4 or 1.0"),
        ("sysbench-cpu:prime=3", "a number from 4 to 1000000"),
        ("sysbench-cpu:event=1ms,prime=100", "one of them"),
        ("sysbench-cpu:operation=1000s", "longer than 1000 s"),
        ("sysbench-threads:locks=0", "a number from 1 to 100000"),
        ("sysbench-threads:yields=x", "a number from 1 to 1000000"),
        ("sysbench-threads:run=0ns", "a time above 0"),
        ("sysbench-threads:event=1ms", "has no key `event`"),
    ]);
}

#[test]
fn the_others_say_what_is_expected() {
    check(&[
        ("cyclictest:threads=0", "a number from 1 to 100000"),
        ("cyclictest:interval=0us", "a time above 0"),
        ("cyclictest:mode=nanosleep", "itimer or clock_nanosleep"),
        ("cyclictest:dma_latency=0", "held or free"),
        ("cyclictest:phase=5ms", "random or aligned"),
        ("netperf-tcp-rr:pairs=50001", "a number from 1 to 50000"),
        ("netperf-tcp-rr:pairs=1,instances=1", "one of them"),
        ("netperf-udp-rr:time=1s,warmup=1s", "a shorter one"),
        ("netperf-udp-rr:client=0us", "a time above 0"),
        ("netperf-tcp-r", "did you mean `netperf-tcp-rr`?"),
        ("schbench:version=new", "old or current"),
        ("schbench:messages=1001", "a number from 1 to 1000"),
        ("schbench:workers=0", "a number from 1 to 100000"),
        (
            "schbench:messages=1000,workers=100",
            "make 101000 threads; expected at most 100000",
        ),
        ("schbench:cputime=99us", "a time from 100us to 1000s"),
        (
            "schbench:think=1us",
            "has no `think`; expected version=current",
        ),
        (
            "schbench:version=current,sleep=1ms",
            "has no `sleep`; expected version=old",
        ),
        ("schbench:time=5s", "a shorter one"),
        ("tbench:clients=2001", "a number from 1 to 2000"),
        ("tbench:per_kib=2s", "a time from 0ns to 1s"),
        ("tbench:time=1s,warmup=1s", "a shorter one"),
    ]);
}

/// All that the catalogue says is a default can be given and changes nothing.
#[test]
fn the_defaults_are_those_of_the_catalogue() {
    let machine = MachineFacts {
        capacities: &[512, 512, 1024, 1024],
    };
    let expand = |argument: &str| {
        let spec = Spec::parse(argument, &LoadOptions::default()).expect(argument);
        let mut workload = spec.expand(1, machine).expect(argument);
        workload.name.clear();
        workload
    };
    for model in Spec::catalogue() {
        for parameter in model.parameters.iter().filter(|p| !p.default.is_empty()) {
            let given = format!("{}={}", parameter.name, parameter.default);
            // A shell needs a program besides.
            let [argument, plain] = match model.name {
                "shell" => [format!("shell:{given};kbuild"), "shell:kbuild".to_owned()],
                name => [format!("{name}:{given}"), name.to_owned()],
            };
            assert!(expand(&argument) == expand(&plain), "{argument}");
        }
    }
}

//! The `periodic` model and the arguments of models.
//! Rules: docs/rules/workloads.md, "rt-app periodic"; docs/guide/workloads.md, "Groups of benchmark
//! tasks".
//!
//! What must stay: defaults and ranges are those of the catalogue; the seed decides, and more tasks
//! shift no draw.
//! Tests by part (in crates/workload/src): models/periodic.rs:
//! `the_defaults_are_ten_tasks_of_five_percent` (`parse`, `task`),
//! `the_seed_decides_and_more_tasks_shift_none` (`expand`, `spread`),
//! `more_work_than_period_is_a_warning` (`warnings`), `performance_hints` (`uclamp`),
//! `classes_above_the_fair_one` (classes); models/class.rs: `every_key_is_obeyed`,
//! `wrong_arguments_say_what_was_expected` (`slice`), `classes_above_the_fair_one` (`read`,
//! `realtime`); models/parse.rs: `every_key_is_obeyed` (`cpu`), `performance_hints` (`hint`);
//! spec.rs: `the_seed_decides_and_more_tasks_shift_none` (`expand`),
//! `the_catalogue_names_defaults_that_parse` (`catalogue`); models/values.rs:
//! `what_was_meant_is_said` (`word`, `listed`); models/grouping.rs: `what_was_meant_is_said` (a
//! misspelt word); models/mod.rs: `wrong_arguments_say_what_was_expected` (`load`, `split_name`,
//! `fault`), `more_work_than_period_is_a_warning` (`warnings`),
//! `the_catalogue_names_defaults_that_parse` (`catalogue`, `parameter`).
//! Helpers, and who fails with them: `expand`, `ok` (most tests).
use wakeplace_workload::{
    Calibration, Event, FairPolicy, LoadOptions, Loops, MachineFacts, RealTime, Spec, Start,
    StartLine, Stream, TimerMode, Workload,
};

fn expand(argument: &str, seed: u64) -> Result<Workload, String> {
    let spec = Spec::parse(argument, &LoadOptions::default()).map_err(|e| e.to_string())?;
    let machine = MachineFacts {
        capacities: &[512, 512, 512, 512, 1024, 1024, 1024, 1024],
    };
    spec.expand(seed, machine).map_err(|e| e.to_string())
}

fn ok(argument: &str) -> Workload {
    expand(argument, 1).expect(argument)
}

#[test]
fn the_defaults_are_ten_tasks_of_five_percent() {
    let workload = ok("periodic");
    assert_eq!(workload.tasks.len(), 10);
    assert_eq!(workload.calibration, Calibration::Biggest);
    let (task, timer) = (&workload.tasks[3], &workload.timers[3]);
    assert_eq!(
        (task.name.as_str(), task.nice, &task.cpus),
        ("periodic-3", 0, &None)
    );
    assert_eq!((task.loops, task.phases.len()), (Loops::Forever, 1));
    let expected = [
        Event::Run { work_ns: 800_000 },
        Event::Timer {
            timer: 3,
            period_ns: 16_000_000,
        },
    ];
    assert_eq!(task.phases[0].events, expected);
    assert_eq!(
        (timer.mode, timer.start_delay_ns),
        (TimerMode::Relative, task.delay_ns)
    );
    // docs/rules/rt-app.md#rt-app-events: without `delay` all threads begin when the last one has
    // come to the barrier.
    assert_eq!(task.delay_ns, 0);
    assert_eq!(workload.start.line, StartLine::Barrier);
    assert_eq!(ok("periodic:").tasks, workload.tasks);
}

#[test]
fn every_key_is_obeyed() {
    let workload = ok("periodic:n=2,period=10ms,run=300us,cal=cpu5,nice=-7,cpus=6+0-1,phase=2ms");
    assert_eq!(
        (workload.tasks.len(), workload.calibration),
        (2, Calibration::Cpu(5))
    );
    for task in &workload.tasks {
        assert_eq!((task.nice, task.delay_ns), (-7, 2_000_000));
        assert_eq!((task.policy, task.slice_ns), (FairPolicy::Other, None));
        assert_eq!(task.cpus, Some(vec![0, 1, 6]));
        assert_eq!(task.phases[0].events[0], Event::Run { work_ns: 300_000 });
    }
    for (name, policy) in [
        ("other", FairPolicy::Other),
        ("batch", FairPolicy::Batch),
        ("idle", FairPolicy::Idle),
    ] {
        let workload = ok(&format!("periodic:policy={name},nice=5"));
        let task = &workload.tasks[9];
        assert_eq!((task.policy, task.nice), (policy, 5));
    }
    for name in ["other", "batch"] {
        let workload = ok(&format!("periodic:policy={name},slice=100us"));
        assert_eq!(workload.tasks[9].slice_ns, Some(100_000));
    }
    assert!(
        ok("periodic:phase=aligned")
            .tasks
            .iter()
            .all(|task| task.delay_ns == 0)
    );
    let duty = ok("periodic:period=1s,duty=12.5%");
    assert_eq!(
        duty.tasks[0].phases[0].events[0],
        Event::Run {
            work_ns: 125_000_000
        }
    );
}

#[test]
fn the_seed_decides_and_more_tasks_shift_none() {
    let other = expand("periodic", 2).expect("seed 2");
    assert_ne!(ok("periodic").start.at_ns, other.start.at_ns);
    assert!(other.start.at_ns < 10_000_000);
    let spread = "periodic:start=spread,n=10";
    assert_eq!(ok(spread), ok(spread));
    let (ten, eleven) = (ok(spread), ok("periodic:start=spread,n=11"));
    assert_eq!(ten.start, Start::default());
    let drawn = Stream::for_task(1, "periodic-3").below(16_000_000);
    assert_eq!(ten.tasks[3].delay_ns, drawn);
    assert_eq!(ten.tasks, ok("periodic:phase=random,n=10").tasks);
    assert_eq!(ten.tasks, eleven.tasks[..10]);
    assert_eq!(ten.timers, eleven.timers[..10]);
    let other = expand(spread, 2).expect("seed 2");
    assert_ne!(ten.tasks, other.tasks);
    let all = ok("periodic:n=1000,start=spread");
    assert!(all.tasks.iter().all(|task| task.delay_ns < 16_000_000));
    // Uniform on 0..16 ms: mean 8 ms, its standard error 0.146 ms for 1000 tasks.
    let mean = all.tasks.iter().map(|task| task.delay_ns).sum::<u64>() / 1000;
    assert!(mean.abs_diff(8_000_000) < 730_000, "{mean}");
}

#[test]
fn what_was_meant_is_said() {
    for (argument, parts) in [
        (
            "traces:/tmp/run.txt",
            &["no model is called `traces`", "did you mean `trace`?"][..],
        ),
        ("periodic:n=four", &["a number from 1 to 100000"]),
        ("periodic:period=16", &["at most 1000s, with its unit"]),
        ("periodic:period=16sec", &["at most 1000s, with its unit"]),
        (
            "periodic:policy=batc",
            &[
                "`policy=batc` is not possible",
                "did you mean `batch`? Expected other, batch, idle, fifo, rr or deadline",
            ],
        ),
        ("periodic:policy=deadlien", &["did you mean `deadline`?"]),
        (
            "periodic:sleep=tiemr",
            &["did you mean `timer`? Expected timer or io"],
        ),
        (
            "netperf-tcp-rr:grouping=nestd",
            &["did you mean `nested`? Expected none, one, two or nested"],
        ),
    ] {
        let error = expand(argument, 1).expect_err(argument);
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

#[test]
fn wrong_arguments_say_what_was_expected() {
    for (argument, parts) in [
        (
            "periodc:n=1",
            &["no model is called `periodc`", "did you mean `periodic`?"][..],
        ),
        (
            "periodic:perod=1ms",
            &["no key `perod`", "`period`? Expected one of n, period"],
        ),
        (
            "periodic:start=together,phase=1ms",
            &[
                "`phase` is of tasks that start spread",
                "`start=spread`, or no phase",
            ],
        ),
        (
            "periodic:n=0",
            &["`n=0` is not possible", "a number from 1 to 100000"],
        ),
        ("periodic:n=100001", &["`n=100001` is not possible"]),
        ("periodic:n", &["`n` has no value"]),
        ("periodic:n=1,n=2", &["given twice"]),
        ("periodic:n=1,,", &["no key ``"]),
        ("periodic:period=16", &["a time above 0"]),
        ("periodic:period=0ms", &["a time above 0"]),
        ("periodic:period=1001s", &["at most 1000s"]),
        ("periodic:duty=0%", &["above 0%"]),
        ("periodic:duty=101%", &["at most 100%"]),
        ("periodic:duty=5", &["such as 5%"]),
        ("periodic:duty=5%,run=1ms", &["`duty` and `run`"]),
        ("periodic:period=1ns,duty=5%", &["less than 1 ns"]),
        ("periodic:nice=20", &["-20..=19"]),
        (
            "periodic:policy=fair",
            &["other, batch, idle, fifo, rr or deadline"],
        ),
        ("periodic:slice=99us", &["100us to 100ms"]),
        ("periodic:slice=101ms", &["100us to 100ms"]),
        ("periodic:uclamp_min=1025", &["0 to 1024", "50%"]),
        ("periodic:uclamp_max=101%", &["0 to 1024", "50%"]),
        (
            "periodic:uclamp_min=300,uclamp_max=25%",
            &["`uclamp_min` 300 is above `uclamp_max` 256"],
        ),
        (
            "periodic:policy=deadline,uclamp_max=512",
            &["say nothing to deadline tasks", "another policy"],
        ),
        ("periodic:cal=cpu", &["cpuN"]),
        ("periodic:cpus=3-1", &["0-3+5"]),
        ("periodic:phase=soon", &["random, aligned, or a time"]),
        ("periodic:cpus=0-8", &["there is no CPU 8", "CPUs 0 to 7"]),
        ("periodic:cal=cpu8", &["there is no CPU 8"]),
        ("missing.json", &["missing.json: cannot be read"]),
        ("no/such", &["no/such: cannot be read"]),
    ] {
        let error = expand(argument, 1).expect_err(argument);
        assert!(
            parts.iter().all(|part| error.contains(part)),
            "{error}\nexpected {parts:?}"
        );
    }
}

#[test]
fn more_work_than_period_is_a_warning() {
    let spec = Spec::parse("periodic:run=20ms", &LoadOptions::default()).expect("overload");
    assert_eq!(spec.warnings.len(), 1);
}

#[test]
fn the_catalogue_names_defaults_that_parse() {
    // A shell has no default programs (tests of its own).
    for model in Spec::catalogue().filter(|model| model.name != "shell") {
        assert!(!model.summary.is_empty() && !model.source.is_empty() && !model.metric.is_empty());
        let defaults: Vec<String> = model
            .parameters
            .iter()
            .filter(|parameter| !parameter.default.is_empty())
            .map(|parameter| format!("{}={}", parameter.name, parameter.default))
            .collect();
        let given = ok(&format!("{}:{}", model.name, defaults.join(",")));
        assert_eq!(given.tasks, ok(model.name).tasks);
    }
}

/// Goal: performance hints, as numbers and as percentages rounded to the nearest (the kernel's
/// `cpu.uclamp.min`: 12.5 % of 1024 = 128, 33 % = 337.92 -> 338, 0.05 % = 0.51 -> 1).
#[test]
fn performance_hints() {
    let hints = |text: &str| {
        let workload = ok(&format!("periodic:n=2,{text}"));
        let of = |task: &wakeplace_workload::TaskScript| (task.uclamp_min, task.uclamp_max);
        assert_eq!(of(&workload.tasks[0]), of(&workload.tasks[1]));
        of(&workload.tasks[1])
    };
    assert_eq!(hints("period=16ms"), (None, None));
    assert_eq!(hints("uclamp_min=600"), (Some(600), None));
    assert_eq!(hints("uclamp_max=0"), (None, Some(0)));
    assert_eq!(
        hints("uclamp_min=1024,uclamp_max=100%"),
        (Some(1024), Some(1024))
    );
    assert_eq!(
        hints("uclamp_min=12.5%,uclamp_max=33%"),
        (Some(128), Some(338))
    );
    assert_eq!(hints("uclamp_min=0.05%"), (Some(1), None));
}

/// Goal: policies above the fair class, their attributes, defaults and ranges.
#[test]
fn classes_above_the_fair_one() {
    let class = |text: &str| ok(text).tasks[0].attributes.realtime;
    let fifo = Some(RealTime::Fifo { priority: 10 });
    assert_eq!(class("periodic:policy=fifo"), fifo);
    let rr = Some(RealTime::RoundRobin { priority: 99 });
    assert_eq!(class("periodic:priority=99,policy=rr"), rr);
    let ms = 1_000_000;
    let deadline = |runtime_ns, deadline_ns, period_ns| {
        Some(RealTime::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        })
    };
    // Without times: 5 % of 16 ms in each 16 ms.
    let plain = deadline(800_000, 16 * ms, 16 * ms);
    assert_eq!(class("periodic:policy=deadline"), plain);
    let given = "periodic:policy=deadline,dl_runtime=2ms,dl_period=10ms,dl_deadline=8ms";
    assert_eq!(class(given), deadline(2 * ms, 8 * ms, 10 * ms));
    let task = &ok("periodic:sleep=io,wake=here").tasks[0];
    assert!(task.attributes.io_wait && task.attributes.wake_here);
    for (argument, expected) in [
        ("policy=fifo,priority=0", "a priority from 1 to 99"),
        ("policy=fifo,priority=100", "a priority from 1 to 99"),
        ("priority=5", "policy=fifo or policy=rr"),
        ("dl_period=5ms", "policy=deadline"),
        // Linux has slices of SCHED_OTHER and SCHED_BATCH, and nice values of fair tasks.
        (
            "policy=idle,slice=1ms",
            "`slice` with `policy=idle`; expected policy=other or policy=batch",
        ),
        ("policy=fifo,slice=1ms", "`slice` with `policy=fifo`"),
        (
            "policy=rr,nice=5",
            "`nice` with `policy=rr`; expected policy=other, policy=batch or policy=idle",
        ),
        ("policy=deadline,nice=0", "`nice` with `policy=deadline`"),
        (
            "policy=deadline,dl_runtime=20ms",
            "runtime <= deadline <= period",
        ),
        ("policy=deadline,dl_runtime=1us", "at least 1024 ns"),
        ("policy=deadline,dl_period=5s", "from 100 us to 4194304 us"),
        ("sleep=disk", "timer or io"),
        ("wake=there", "free or here"),
    ] {
        let error = expand(&format!("periodic:{argument}"), 1).unwrap_err();
        assert!(error.contains(expected), "{argument}: {error}");
    }
}

//! The arguments, each once: a new one is one entry here, and what it changes in a run. A name that
//! is there stays: files of studies, Python and commands have it (CONTRIBUTING.md, "Add an
//! argument").
//!
//! What must stay: names and what is accepted. The order of the list is that of a command that is
//! written again, and of Python's functions; `order` is that of help. Help may change;
//! `python_module` must be written again then. Tests by part: `the_list_is_whole` (`ARGUMENTS`),
//! `the_same_question_in_two_languages` (the order), `a_decision_is_asked_for_in_the_same_words`
//! (`about`, what excludes what), `the_python_module_is_made_from_the_list` (help in Python),
//! `help_is_complete_and_fits` (`shown`, `hidden`),
//! crates/wasm/src/answer/tests.rs::`the_names_are_the_programs` (`field`, `more`).
//!
//! Tests: crates/study/src/ask/tests.rs, crates/cli/tests/all/help.rs::help_is_complete_and_fits

use super::argument::{
    Argument, Command, Command::*, Field, Kind, Kind::*, Place, Read, Read::Decision, Read::Own,
    Read::Run, SCHEDULER,
};
use super::values;
use crate::evaluate::Goal;
use crate::{Jitter, parse_hotplug, parse_policy_at, parse_seeds};
use wakeplace_text::parse_duration_ns;
use wakeplace_workload::{Deadlines, Dialect};

/// All of them, in the order of commands and of Python's functions.
pub static ARGUMENTS: [Argument; 26] = [
    Argument {
        value_name: "BATTERY",
        help: "The loads and boards: small, quick, full, or a TOML file",
        more: "`small` takes seconds. docs/guide/review.md says what is in each, and how to write \
               one.",
        python: Some("The loads and boards: ``small``, ``quick``, ``full``, or a TOML file."),
        expected: "a name or a path, as \"small\"",
        place: shown(INPUT, 1),
        taken_by: &[Evaluate],
        defaults: &[(Evaluate, "small")],
        read: Own(|_| Ok(())),
        ..named("battery", Text)
    },
    Argument {
        value_name: "PLATFORM",
        help: "A name from `wakeplace platform list`, or a TOML file",
        more: "`compare` and `sweep` take several: every one with every workload.",
        python: Some("A name, a TOML file, a dict, or a `Platform`."),
        expected: "a name, a path, a dict or a Platform",
        place: shown(INPUT, 1),
        helps: &[
            (
                Review,
                "Boards in the place of the battery's: names, or TOML files",
            ),
            (
                Evaluate,
                "Boards in the place of the battery's: names, or TOML files",
            ),
        ],
        taken_by: &[Compare, Sim, Explain, Diff, Sweep, Review, Evaluate],
        needed_by: &[Compare, Sim, Explain],
        read: Read::Source(|request, source| request.platforms.push(source)),
        ..named("platform", Sources)
    },
    Argument {
        value_name: "WORKLOAD",
        help: "An rt-app JSON file, or a model as `periodic:n=10,duty=5%`",
        more: "`wakeplace workload list` shows the models and their keys. `-` reads an rt-app \
               file from standard input. `trace:FILE[,platform=NAME]` is a recording (ftrace \
               text, `trace-cmd report`, `perf script`, Perfetto) made on that platform, else on \
               one like --platform. `compare` and `sweep` take several.",
        python: Some("A model, an rt-app file, a recording, a dict, or a `Workload`."),
        expected: "a model, a path, a dict or a Workload",
        place: shown(INPUT, 2),
        taken_by: &[Compare, Sim, Explain, Diff, Sweep],
        needed_by: &[Compare, Sim, Explain],
        read: Read::Source(|request, source| request.workloads.push(source)),
        ..named("workload", Sources)
    },
    Argument {
        value_name: "NAME",
        help: "The policy that the candidate is measured against",
        python: Some("The policy that the candidate is measured against."),
        expected: "a name, as \"linux-7.3\"",
        place: shown(POLICY, 10),
        taken_by: &[Evaluate],
        defaults: &[(Evaluate, "linux-7.3")],
        // It stands before the candidate, as the base of a comparison does.
        read: Run(|request, text| {
            request.policies.push(text.to_owned());
            Ok(())
        }),
        ..named("base", Text)
    },
    Argument {
        value_name: "NAME",
        help: "A policy, as linux-4.17+energy-aware",
        helps: &[
            (
                Explain,
                "The policy whose decision it is, as linux-7.3 or kernel:7.3.4",
            ),
            (
                Evaluate,
                "A policy, a kernel tree as kernel:PATH, or a scheduler as ./x.bpf.o",
            ),
        ],
        more: "The form is ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...], with settings \
               of this policy alone after a colon. For `compare`, repeat the option: the first \
               policy is the base of the differences. `wakeplace policy list` shows eras and \
               features, `wakeplace policy show NAME` what a name means. `kernel:VERSION` or \
               `kernel:PATH[@REV][:name=TEXT,KEY=VALUE...]` is a kernel tree's own code \
               (`wakeplace kernel --help`).",
        python: Some("``ERA[+FEATURE[=VERSION]]...[-FEATURE]...[:KEY=VALUE,...]``."),
        expected: "a name, or several",
        place: shown(POLICY, 10),
        taken_by: &[Compare, Sim, Explain, Sweep, Evaluate],
        needed_by: &[Compare, Sim, Explain, Evaluate],
        read: Run(|request, text| {
            request.policies.push(text.to_owned());
            Ok(())
        }),
        ..named("policy", Texts)
    },
    Argument {
        value_name: "GOAL",
        help: "What counts: energy, benchmark, latency, misses, or a metric; repeatable",
        more: "Without it the first four count. A cell has a goal if its load measures it \
               (docs/guide/evaluate.md).",
        python: Some(
            "What counts: ``energy``, ``benchmark``, ``latency``, ``misses``, or a metric; the \
             first four unless given.",
        ),
        expected: "a name, or several",
        place: shown(INPUT, 3),
        taken_by: &[Evaluate],
        read: Own(|text| Goal::parse(text).map(|_| ())),
        ..named("goal", Texts)
    },
    Argument {
        value_name: "KEY=VALUE",
        help: "Change a parameter; repeatable",
        more: "KEY is a parameter of a policy (`wakeplace policy show NAME` lists them; every \
               policy gets it that does not set it itself after a colon), a switch of the \
               machine's model (`model.idle_states`, `model.kernel_costs`, ...), or a hint of a \
               task of an rt-app file or a recording: `task.NAME.util_min`, `task.NAME.util_max`.",
        python: Some("Parameters of the policy and of the machine's model (``model.KEY``)."),
        expected: "a dict, as {\"busy_factor\": 8}",
        place: shown(POLICY, 11),
        taken_by: &[Compare, Sim, Explain, Sweep, Study, Review, Evaluate],
        field: more("Settings, one KEY=VALUE a line", ""),
        read: Run(|request, text| {
            request.set.push(values::setting(text)?);
            Ok(())
        }),
        ..named("set", Pairs)
    },
    Argument {
        value_name: "TIME=SETTING",
        help: "Change a parameter in mid-run, as 10s=power-policy=powersaving; repeatable",
        more: "TIME=KEY=VALUE. KEY is `power-policy`, or a parameter that each decision reads \
               anew. The change itself moves no task.",
        python: Some("Parameters that change in mid-run, as ``\"10s=power-policy=powersaving\"``."),
        expected: "a text, as \"10s=power-policy=powersaving\"",
        place: hidden(POLICY, 12),
        taken_by: &[Compare, Sim, Explain, Sweep, StudyFile],
        field: more("Changes in mid-run, one TIME=SETTING a line", ""),
        read: Run(|request, text| {
            request.options.policy_at.push(parse_policy_at(text)?);
            Ok(())
        }),
        ..named("policy_at", Texts)
    },
    Argument {
        value_name: "TIME",
        help: "Simulated time, as 500ms [default: the workload's, or 30s]",
        helps: &[
            (
                Study,
                "Simulated time per run, as 500ms [default: the study's]",
            ),
            (
                Review,
                "Simulated time per run, as 500ms [default: the load's]",
            ),
            (
                Evaluate,
                "Simulated time per run, as 500ms [default: the load's]",
            ),
        ],
        more: "Units: ns, us, ms, s, m. Without it, `duration` in the rt-app file or the length \
               that the benchmark of a model has counts, or else 30s.",
        python: Some(
            "Simulated time with its unit, as ``\"500ms\"``; else the workload's, or 30 s.",
        ),
        expected: "a text with a unit, as \"500ms\"",
        place: shown(INPUT, 4),
        taken_by: &[Compare, Sim, Explain, Diff, Sweep, Study, Review, Evaluate],
        field: field("Simulated time", "the workload's, or 30s"),
        read: Run(|request, text| {
            request.duration_ns = Some(parse_duration_ns(text)?);
            Ok(())
        }),
        ..named("duration", Text)
    },
    Argument {
        value_name: "N",
        help: "Seed of the workload's random choices",
        python: Some("Seed of the workload's random choices; 1 unless given."),
        expected: "a whole number, 0 or more",
        place: shown(INPUT, 6),
        taken_by: &[Sim, Explain, Diff],
        defaults: &[(Sim, "1"), (Explain, "1"), (Diff, "1")],
        excludes: &["seeds"],
        read: Run(|request, text| {
            request.seeds = vec![values::seed(text)?];
            Ok(())
        }),
        ..named("seed", Whole)
    },
    Argument {
        value_name: "SEEDS",
        help: "Several seeds: N for 1 to N, A..B, or 1,5,9",
        more: "Every policy runs with every seed, and differences are taken seed by seed, so that \
               chance which strikes both does not count.",
        helps: &[
            (Compare, "N for 1 to N, A..B, or a list as 1,5,9"),
            (
                Sweep,
                "N for 1 to N, A..B, or a list as 1,5,9 [default: 5, or the file's]",
            ),
            (
                Study,
                "N for 1 to N, A..B, or a list as 1,5,9 [default: the study's]",
            ),
            (
                Review,
                "N for 1 to N, A..B, or a list as 1,5,9 [default: the battery's]",
            ),
            (
                Evaluate,
                "N for 1 to N, A..B, or a list as 1,5,9 [default: the battery's]",
            ),
        ],
        python: Some("Several: 5 for 1 to 5, a list, or a text as ``\"4..6\"``."),
        expected: "a number of seeds, a list of them, or a text as \"4..6\"",
        place: shown(EXECUTION, 31),
        taken_by: &[Compare, Sim, Sweep, Study, Review, Evaluate],
        defaults: &[(Compare, "5"), (Sweep, "5")],
        field: field("Seeds", "5"),
        read: Run(|request, text| {
            request.seeds = parse_seeds(text)?;
            Ok(())
        }),
        ..named("seeds", Seeds)
    },
    Argument {
        value_name: "AMOUNTS",
        help: "Vary a recording or an rt-app file with the seed, as start=10ms,run=5%",
        more: "A thread begins up to `start` later, and each of its run steps is up to `run` \
               shorter or longer, drawn from the seed. `recorded` takes as much as each thread's \
               own sleeps and runs vary. Without it every seed gives the same run of such a \
               workload.",
        python: Some(
            "Varies a recording or an rt-app file with the seed, as ``\"start=10ms,run=5%\"``.",
        ),
        expected: "a text, as \"start=10ms,run=5%\"",
        place: hidden(INPUT, 5),
        taken_by: &[Compare, Sim, Explain, Diff, Sweep, Review],
        field: more("Jitter", "start=5ms,run=5%"),
        read: Run(|request, text| {
            request.jitter = Some(Jitter::parse(text)?);
            Ok(())
        }),
        ..named("jitter", Text)
    },
    Argument {
        value_name: "FILE",
        help: "Deadlines of chains of tasks, JSON; they replace those of a workload's file",
        more: "{\"NAME\": {\"from\": \"TASK\", \"to\": \"TASK\", \"deadline\": US}}. A frame \
               begins when a timer or sleep of the first task is due, and is done when the last \
               task that it was handed to waits again. Frames, missed frames and their lateness \
               become metrics. An rt-app file has the same under `_deadlines`; \
               recordings of Android say theirs.",
        python: Some("A file with deadlines of chains of tasks."),
        expected: "a path, as \"deadlines.json\"",
        place: hidden(INPUT, 5),
        taken_by: &[Compare, Sim, Sweep],
        read: Run(|request, text| {
            let read = Deadlines::read(text).map_err(|error| error.to_string())?;
            request.deadlines = Some(read);
            Ok(())
        }),
        ..named("deadlines", Text)
    },
    Argument {
        value_name: "PERCENT",
        help: "A difference of less does not matter, percent [default: 1]",
        more: "\"better\" and \"worse\" are said where the 95 % interval lies beyond it, \"none \
               that matters\" where it lies inside, else \"not told\".",
        python: Some("A difference of less does not matter, percent; 1 unless given."),
        expected: "a percentage, as 2.5",
        place: hidden(OUTPUT, 22),
        taken_by: &[Compare, Sim, Sweep, Study, Review],
        field: more("Margin, percent", "1"),
        read: Run(|request, text| {
            request.margin_pct = values::margin(text)?;
            Ok(())
        }),
        ..named("margin", Percent)
    },
    Argument {
        value_name: "STEPS",
        help: "CPUs that leave and come back, as 0s:1=off,2s:1=on",
        more: "Steps are TIME:CPU=off or TIME:CPU=on, separated by commas. At 0s: before the \
               first task. A CPU that leaves hands its tasks over; refused are the last CPU and \
               one that a task is pinned to.",
        python: Some("CPUs that leave and come back, as ``\"0s:1=off,2s:1=on\"``."),
        expected: "a text, as \"0s:1=off,2s:1=on\"",
        place: hidden(INPUT, 5),
        taken_by: &[Compare, Sim, Explain, Diff, Sweep, StudyFile],
        field: more("Hotplug", "0s:1=off,2s:1=on"),
        read: Run(|request, text| {
            request.options.hotplug = parse_hotplug(text)?;
            Ok(())
        }),
        ..named("hotplug", Text)
    },
    Argument {
        value_name: "WORDS",
        help: "Read an rt-app file as older tools did: workgen, suspend-ref",
        more: "`workgen` keeps all of several equal event keys and takes `suspend` without a \
               value, as rt-app's script of that name did; `suspend-ref` lets `suspend` wait \
               under the name given, as rt-app 1.0. Join both with a comma.",
        python: Some(
            "Read an rt-app file as older tools did: ``\"workgen\"``, ``\"suspend-ref\"``.",
        ),
        expected: "a text, as \"workgen\"",
        place: hidden(INPUT, 3),
        taken_by: &[Compare, Sim, Explain, Diff, Sweep],
        field: more("Dialect of rt-app", "workgen"),
        read: Run(|request, text| {
            request.load.dialect = Dialect::parse(text)?;
            Ok(())
        }),
        ..named("rtapp_dialect", Text)
    },
    Argument {
        value_name: "FROM..TO",
        help: "Take down what runs where between two times, as 1s..1200ms",
        more: "Of the first seed's run of each policy: tasks on CPUs, idle states, frequencies, \
               placements with their reasons. In JSON results (`runs[].timeline`) and pages; up \
               to 20,000 entries.",
        python: Some("Take down what runs where between two times, as ``\"1s..1200ms\"``."),
        expected: "a text, as \"1s..1200ms\"",
        place: hidden(OUTPUT, 26),
        taken_by: &[Compare, Sim],
        field: field("Timeline", "none"),
        read: Run(|request, text| {
            request.timeline = Some(values::window(text)?);
            Ok(())
        }),
        ..named("timeline", Text)
    },
    Argument {
        value_name: "N",
        help: "Show the N cache lines that cost the kernel's own code most",
        more: "By struct, field and function, with what they cost, as `perf c2c` shows them. For \
               a kernel's own code with `--set model.coherence=on` \
               (docs/rules/contended-lines.md). In text, JSON (`runs[].lines`) and pages.",
        python: Some("How many of the most expensive cache lines are told."),
        expected: "a whole number, 1 or more",
        place: hidden(OUTPUT, 27),
        taken_by: &[Compare, Sim],
        read: Run(|request, text| {
            request.options.lines = values::lines(text)?;
            Ok(())
        }),
        ..named("lines", Whole)
    },
    Argument {
        help: "Leave out parts of the file that have no model",
        more: "A task group more than 8 deep is the one thing of rt-app without a model. Without \
               this option such a file is refused; with it the result lists what was left out.",
        python: Some("Leave out parts of an rt-app file that have no model."),
        place: shown(INPUT, 3),
        taken_by: &[Compare, Sim, Explain, Diff, Sweep],
        field: more("Leave out parts of an rt-app file that have no model", ""),
        read: Run(|request, _| {
            request.load.allow_unmodelled = true;
            Ok(())
        }),
        ..named("allow_unmodelled", Flag)
    },
    Argument {
        help: "Find how little energy the load could have taken",
        more: "Finds the static placement of least CPU energy for the mean demand of each run's \
               tasks, and reports `energy_over_optimal_pct`. Exhaustive to 8 tasks on 8 CPUs; \
               beyond, a search that says what it has proven if it stops early. For platforms \
               with power figures and one thread per core.",
        python: Some("Also find how little energy the load could have taken."),
        place: shown(EXECUTION, 34),
        taken_by: &[Compare, Sim, StudyFile],
        field: more("Find how little energy the load could have taken", ""),
        read: Run(|request, _| {
            request.oracle = true;
            Ok(())
        }),
        ..named("oracle", Flag)
    },
    Argument {
        value_name: "TASK",
        help: "Decisions on this task only: its name, or that of its kind [default: on any]",
        python: Some("Decisions on this task only: its name, or that of its kind."),
        expected: "a name of a task",
        read: Decision(|about, text| {
            about.task = Some(text.to_owned());
            Ok(())
        }),
        ..about("task", Text, 13)
    },
    Argument {
        value_name: "N",
        help: "The N-th wake-up, from 1; 0: where a new task begins [default: 1]",
        more: "A wake-up counts if a CPU is chosen for it. One that a queue still keeps (from \
               6.12) goes on where it is.",
        python: Some(
            "The N-th wake-up, from 1; 0: where a new task begins. 1 unless `at` or `to` is given.",
        ),
        expected: "a whole number, 0 or more",
        excludes: &["at", "to"],
        read: Decision(|about, text| {
            about.wakeup = Some(values::wakeup(text)?);
            Ok(())
        }),
        ..about("wakeup", Whole, 14)
    },
    Argument {
        value_name: "TIME",
        help: "The first wake-up at this time of the run or after it, as 120ms",
        python: Some("The first wake-up at this time of the run or after it, as ``\"120ms\"``."),
        expected: "a text with a unit, as \"120ms\"",
        excludes: &["wakeup", "to"],
        read: Decision(|about, text| {
            about.at_ns = Some(parse_duration_ns(text)?);
            Ok(())
        }),
        ..about("at", Text, 15)
    },
    Argument {
        value_name: "CPU",
        help: "The first wake-up that went to this CPU",
        excludes: &["wakeup", "at"],
        read: Decision(|about, text| {
            about.to = Some(values::cpu(text)?);
            Ok(())
        }),
        ..about("to", Whole, 16)
    },
    Argument {
        value_name: "CPU",
        help: "Say first why this CPU was not chosen",
        excludes: &[SCHEDULER],
        read: Decision(|about, text| {
            about.why_not = Some(values::cpu(text)?);
            Ok(())
        }),
        ..about("why_not", Whole, 17)
    },
    Argument {
        value_name: "NAME",
        help: "Ask this policy, too; repeatable [default: all eras, and each feature turned]",
        python: Some(
            "Policies that are asked, too; all eras, and each feature turned, unless given.",
        ),
        expected: "a name, or several",
        place: shown(POLICY, 12),
        excludes: &[SCHEDULER],
        read: Decision(|about, text| {
            about.compare_policy.push(text.to_owned());
            Ok(())
        }),
        ..about("compare_policy", Texts, 12)
    },
];

const INPUT: &str = "Input";
const POLICY: &str = "Policy";
const EXECUTION: &str = "Execution";
const OUTPUT: &str = "Output";

/// A line in the short help (`-h`) and the long one; `order` is its place below the heading.
const fn shown(heading: &'static str, order: usize) -> Place {
    Place {
        heading,
        order,
        long_only: false,
    }
}

/// A line in the long help (`--help`) only.
const fn hidden(heading: &'static str, order: usize) -> Place {
    Place {
        heading,
        order,
        long_only: true,
    }
}

/// A field of the playground's form that is always seen; `empty` is what stands in it.
const fn field(label: &'static str, empty: &'static str) -> Option<Field> {
    Some(Field {
        label,
        empty,
        more: false,
    })
}

/// A field of the form that opens on demand.
const fn more(label: &'static str, empty: &'static str) -> Option<Field> {
    Some(Field {
        label,
        empty,
        more: true,
    })
}

/// What most arguments have in common.
const fn named(name: &'static str, kind: Kind) -> Argument {
    Argument {
        name,
        kind,
        value_name: "",
        help: "",
        more: "",
        python: None,
        expected: "True or False",
        place: shown(INPUT, 1),
        taken_by: &[],
        needed_by: &[],
        defaults: &[],
        helps: &[],
        excludes: &[],
        field: None,
        read: Run(|_, _| Ok(())),
    }
}

/// Of a decision.
const fn about(name: &'static str, kind: Kind, order: usize) -> Argument {
    const ONLY: &[Command] = &[Explain];
    Argument {
        place: shown("Decision", order),
        taken_by: ONLY,
        expected: "a number of a CPU",
        ..named(name, kind)
    }
}

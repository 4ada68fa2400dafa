//! `--scheduler`: small schedulers of our own, compiled here, run by way of a loader in a process
//! of its own. The kernel that they are offered is a small one, too: no real one is needed.
//! Page: docs/guide/schedulers.md; docs/rules/sched-ext.md.
//!
//! What must stay: the schedulers are crates/foreign/tests/schedulers/*.bpf.c, compiled once
//! (`made`); their own heads have the rules that they check. `made`, `object`, `prepared`, `hash`
//! and `loader` are used by callbacks.rs, interception.rs, syscall_programs.rs and wall.rs, too.
//! Tests by part (in crates/cli/src): crates/bpf-vm/src/helpers/maps.rs:
//! `calls_answer_as_a_kernel_does` (`produce`), `a_loader_runs_in_virtual_time` (`commit`);
//! crates/bpf-vm/src/arena.rs: `runs_are_the_same_twice_and_interpreted`,
//! `what_a_scheduler_does_wrong_is_named` (`alloc`); crates/foreign/src/instance.rs:
//! `two_cpus_of_one_cid_end_it` (cids); commands/schedulers.rs:
//! `a_result_says_which_scheduler_it_was` (`contender`), `what_is_no_scheduler_is_refused`
//! (`images`), `a_loader_sees_the_modelled_machine` (`kernel`),
//! `policies_and_schedulers_are_compared` (`add`); args/scheduler.rs:
//! `explain_says_what_callbacks_did` (`interpret`), `wrong_options_are_refused` (`scheduler`);
//! commands/explain.rs: `explain_takes_one_scheduler_and_says_how_it_ended` (`of_scheduler`);
//! crates/bpf-vm/src/helpers/mod.rs: `what_is_not_offered_is_refused_by_name` (`is_offered`);
//! crates/study/src/settings.rs: `settings_of_policies_are_refused_beside_a_scheduler_alone`
//! (`check_model_keys`); crates/foreign/src/guard/serve.rs:
//! `a_loader_that_hangs_leaves_nothing_behind` (`end`); crates/foreign/src/load/bpf.rs:
//! `damaged_objects_are_refused_or_run` (hostile); crates/foreign and crates/sched-ext: all others.
//! Helpers, and who fails with them: `sim`, `command`, `command_on`, `prepared` (most tests);
//! `object`, `compile`, `made` (all tests); `example`, `goes_on`, `loader`
//! (`a_loader_runs_in_virtual_time`, `runs_with_a_loader_beside_them_are_the_same`,
//! `what_a_loader_must_not_do_is_named`); `write` (`calls_answer_as_a_kernel_does`); `hash`
//! (`runs_are_the_same_twice_and_interpreted`, `cids_leave_and_come_back`,
//! `runs_with_a_loader_beside_them_are_the_same`); `processes_with`
//! (`a_loader_that_hangs_leaves_nothing_behind`); `find`
//! (`runs_with_a_loader_beside_them_are_the_same`).

use crate::common;

use common::{assert_code, assert_refused, program, repository, run, stderr, stdout};
use libbpf_cargo::SkeletonBuilder;
use object::{Object as _, ObjectSection as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What is made once: objects, the kernel's types, the loader.
pub(crate) struct Made {
    folder: PathBuf,
    loader: PathBuf,
}

impl Made {
    pub(crate) fn object(&self, name: &str) -> String {
        let path = self.folder.join(name);
        path.to_str().expect("UTF-8").to_owned()
    }

    /// One more file beside them.
    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.folder.join(name), text).expect("written");
        self.object(name)
    }

    /// An example of the crate of loaders.
    pub(crate) fn example(&self, name: &str) -> PathBuf {
        self.loader.with_file_name("examples").join(name)
    }
}

fn compile(folder: &Path, source: &str, define: Option<&str>) -> PathBuf {
    let sources = repository("crates/foreign/tests/schedulers");
    let name = define.map_or(source.to_owned(), |define| format!("{source}_{define}"));
    let object = folder.join(format!("{name}.bpf.o"));
    let clang = std::env::var("BPF_CLANG").unwrap_or_else(|_| "clang-19".to_owned());
    let mut args = vec!["-mcpu=v3".to_owned(), "-O2".to_owned()];
    for include in [sources.clone(), repository("crates/scx/src/bpf")] {
        args.push(format!("-I{}", include.display()));
    }
    args.extend(define.map(|define| format!("-D{}_{define}", source.to_uppercase())));
    SkeletonBuilder::new()
        .source(sources.join(format!("{source}.bpf.c")))
        .obj(&object)
        .clang(clang)
        .clang_args(args)
        .build()
        .unwrap_or_else(|error| panic!("{name}: {error:#}"));
    object
}

const GOOD: [&str; 6] = ["fifo", "vtime", "maps", "arena", "walk", "cids"];
/// For a loader with a loop of its own.
const TOLD: &str = "told";
/// It ends itself when all calls have answered as a kernel does, or one has not.
const CALLS: &str = "calls";
/// It records its callbacks.
const CALLBACKS: &str = "callbacks";
/// No scheduler: a program that a loader runs.
const SUMS: &str = "sums";
const BAD: [&str; 16] = [
    "LOOP", "STORE", "READ", "STACK", "ARENA", "HELPER", "KFUNC", "ERROR", "LOST", "MAP", "TABLE",
    "RUNNING", "WALKS", "LISTS", "QUEUES", "TIMERS",
];

/// The small kernels: files of types.
const KERNEL: &str = "7.3.0-small.btf";
const OLD_KERNEL: &str = "6.12.0-small.btf";

pub(crate) fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = common::shared_folder("schedulers");
        for name in GOOD.into_iter().chain([CALLS, CALLBACKS, SUMS, TOLD]) {
            compile(&folder, name, None);
        }
        for define in BAD {
            compile(&folder, "bad", Some(define));
        }
        for define in ["BAD", "NOWHERE"] {
            compile(&folder, "cids", Some(define));
        }
        for define in ["IMMED", "CURRENT"] {
            compile(&folder, CALLBACKS, Some(define));
        }
        for (name, define) in [(KERNEL, None), (OLD_KERNEL, Some("OLD"))] {
            let kernel = compile(&folder, "kernel", define);
            let bytes = std::fs::read(kernel).expect("an object");
            let file = object::File::parse(&*bytes).expect("an object");
            let types = file.section_by_name(".BTF").expect("types");
            let to = folder.join(name);
            std::fs::write(to, types.data().expect("types")).expect("written");
        }
        // It is no program of this package's, so cargo does not make it for these tests.
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "-p", "wakeplace-bpf-load"])
            .args(["--bins", "--examples"])
            .current_dir(repository("."))
            .status();
        assert!(built.expect("cargo").success());
        let own = PathBuf::from(env!("CARGO_BIN_EXE_wakeplace"));
        Made {
            folder,
            loader: own.with_file_name("wakeplace-bpf-load"),
        }
    })
}

/// Goal: single calls answer as a kernel does; calls.bpf.c has the rules. Two groups are below the
/// root, tasks run longer than a slice, and timers interrupt them.
#[test]
fn calls_answer_as_a_kernel_does() {
    let object = made().object("calls.bpf.o");
    let workload = "periodic:n=10,duty=60%,start=spread,groups=a+b";
    let old = made().object(OLD_KERNEL);
    // Others see a choice later: the interrupt goes on then.
    let text = std::fs::read_to_string(repository("platforms/hikey960.toml")).expect("a file");
    let slow = text.replace("scan_cpu_ns", "publish_ns = 500\nscan_cpu_ns");
    let slow = made().write("slow.toml", &slow);
    for more in [
        &[][..],
        &["--interpret"],
        &["--kernel", &old],
        &["--platform", &slow],
    ] {
        let output = command_on(workload, "sim", &object, more);
        assert_code(&output, 1);
        let text = stderr(&output);
        assert!(text.contains("calls: all as expected"), "{text}");
    }
}

/// `sim` with a scheduler, and more arguments.
fn sim(scheduler: &str, more: &[&str]) -> Output {
    command("sim", scheduler, more)
}

/// A command that runs a scheduler.
fn command(command: &str, scheduler: &str, more: &[&str]) -> Output {
    command_on("periodic:n=12,duty=20%", command, scheduler, more)
}

fn command_on(workload: &str, command: &str, scheduler: &str, more: &[&str]) -> Output {
    let output = prepared(workload, command, scheduler, more).output();
    output.expect("the program starts")
}

/// The same before it is started.
pub(crate) fn prepared(workload: &str, command: &str, scheduler: &str, more: &[&str]) -> Command {
    let made = made();
    let kernel = made.object(KERNEL);
    let unless = |option: &str, value| match more.contains(&option) {
        true => Vec::new(),
        false => vec![option.to_owned(), value],
    };
    let mut program = program(Path::new("."));
    program
        .env("WAKEPLACE_BPF_LOAD", &made.loader)
        .args([command, "--workload", workload])
        .args(unless("--platform", "hikey960".to_owned()))
        .args(["--scheduler", scheduler])
        .args(unless("--kernel", kernel))
        .args(unless("--duration", "200ms".to_owned()))
        .args(more);
    program
}

/// `evaluate` with a scheduler as the candidate, before it is started.
pub(crate) fn evaluating(scheduler: &str, more: &[&str]) -> Command {
    let made = made();
    let mut program = program(Path::new("."));
    program
        .env("WAKEPLACE_BPF_LOAD", &made.loader)
        .args(["evaluate", scheduler, "--kernel", &made.object(KERNEL)])
        .args(more);
    program
}

pub(crate) fn hash(output: &Output) -> String {
    assert_code(output, 0);
    let text = stdout(output);
    let line = text.lines().find(|line| line.starts_with("identical:"));
    line.unwrap_or_else(|| panic!("{text}")).to_owned()
}

/// Goal: every kind of scheduler runs twice alike, and interpreted as compiled.
#[test]
fn runs_are_the_same_twice_and_interpreted() {
    for name in GOOD {
        let object = made().object(&format!("{name}.bpf.o"));
        let compiled = hash(&sim(&object, &["--verify-determinism"]));
        let interpreted = hash(&sim(&object, &["--verify-determinism", "--interpret"]));
        assert_eq!(compiled, interpreted, "{name}");
    }
}

/// Goal: a scheduler's own order of CPUs that is none is its end, in the kernel's words
/// (docs/rules/sched-ext.md#cids).
#[test]
fn two_cpus_of_one_cid_end_it() {
    let output = sim(&made().object("cids_BAD.bpf.o"), &[]);
    assert_code(&output, 1);
    let text = stderr(&output);
    assert!(
        text.contains("runtime error (cid 7 assigned to multiple cpus)"),
        "{text}"
    );
}

/// Goal: CPUs that leave and come back are told by their cids, and so are frequencies and who runs.
/// cids.bpf.c has the rules. CPUs 7 and 2 are its cids 0 and 5.
#[test]
fn cids_leave_and_come_back() {
    let steps = "50ms:7=off,90ms:2=off,120ms:7=on,160ms:2=on";
    let object = made().object("cids.bpf.o");
    let all_along = hash(&sim(&object, &["--verify-determinism"]));
    let output = sim(&object, &["--hotplug", steps, "--verify-determinism"]);
    assert_ne!(hash(&output), all_along);
}

/// Goal: a local queue of a cid that no CPU has ends the scheduler
/// (docs/rules/sched-ext.md#cids).
#[test]
fn a_queue_of_no_cid_ends_it() {
    let output = sim(&made().object("cids_NOWHERE.bpf.o"), &[]);
    assert_code(&output, 1);
    let text = stderr(&output);
    assert!(text.contains("invalid cid 8"), "{text}");
}

/// Goal: a result says what ran, with a hash, and what became of its loader.
#[test]
fn a_result_says_which_scheduler_it_was() {
    let object = made().object("fifo.bpf.o");
    let output = sim(&object, &["--format", "json"]);
    assert_code(&output, 0);
    let text = stdout(&output);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let shown = json.to_string();
    for word in [
        "\"fifo\"",
        "scheduler.sha256",
        "7.3.0-small",
        "ended after attach",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

/// Goal: a wake-up that found an idle CPU is told callback by callback, as fifo.bpf.c has it: it
/// asks for an idle CPU, inserts into the local queue, and answers that CPU. There the task runs
/// (docs/rules/sched-ext.md#insert: after a direct dispatch there is no `enqueue`).
#[test]
fn explain_says_what_callbacks_did() {
    let object = made().object("fifo.bpf.o");
    let explain = |more: &[&str]| command("explain", &object, &[&["--wakeup", "3"], more].concat());
    let output = explain(&["--format", "json"]);
    assert_code(&output, 0);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let names: Vec<_> = json["callbacks"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    assert_eq!(names[0]["callback"], "select_cpu", "{json}");
    let steps = names[0]["steps"].as_array().expect("a list");
    let kinds: Vec<_> = steps.iter().map(|step| step["step"].as_str()).collect();
    assert_eq!(kinds, [Some("picked"), Some("inserted"), Some("selected")]);
    let cpu = &json["cpu"];
    assert_eq!(
        (&steps[0]["cpu"], &steps[2]["cpu"], &json["start_cpu"]),
        (cpu, cpu, cpu)
    );
    assert_eq!(steps[1]["dsq"], "0x8000000000000002");
    // The third wake-up of all is the first of its task.
    assert_eq!(
        (&json["wakeup"]["number"], &json["scheduler"]),
        (&1.into(), &"fifo.bpf.o".into())
    );
    assert!(
        names
            .iter()
            .all(|callback| callback["callback"] != "enqueue"),
        "{json}"
    );
    let text = stdout(&explain(&[]));
    for said in [
        format!("claimed CPU {cpu}, which idled"),
        "into the local queue, a slice of".to_owned(),
        format!("answered CPU {cpu}"),
        format!("It began to run on CPU {cpu} after"),
    ] {
        assert!(text.contains(&said), "{said}: {text}");
    }
    assert_eq!(text, stdout(&explain(&["--interpret"])));
}

#[test]
fn explain_takes_one_scheduler_and_says_how_it_ended() {
    let object = made().object("fifo.bpf.o");
    let two = command("explain", &object, &["--scheduler", &object]);
    assert_refused(&two, &["expected one"]);
    for other in [
        ["--policy", "linux-7.3"],
        ["--why-not", "2"],
        ["--compare-policy", "linux-7.3"],
    ] {
        assert_code(&command("explain", &object, &other), 2);
    }
    let bad = made().object("bad_ERROR.bpf.o");
    let ended = command("explain", &bad, &["--wakeup", "3000"]);
    assert_code(&ended, 2);
    let text = stderr(&ended);
    let said = text.contains("--wakeup 3000") && text.contains("scx_bpf_error: no place for");
    assert!(said, "{text}");
}

#[test]
fn what_a_scheduler_does_wrong_is_named() {
    for (bad, words) in [
        ("LOOP", "it loops for ever"),
        ("STORE", "wild address 0x10"),
        ("STACK", "its stack is full"),
        ("ARENA", "scx_bpf_error (the arena is full, page "),
        ("ERROR", "scx_bpf_error (no place for "),
        ("RUNNING", "a task was expected"),
        // What is done for programs costs, in instructions and in bytes.
        ("WALKS", "more than 67108864 instructions"),
        ("LISTS", "more than 67108864 instructions"),
        ("QUEUES", "1 GiB, is full"),
        ("TIMERS", "it starts timers anew"),
    ] {
        let output = sim(&made().object(&format!("bad_{bad}.bpf.o")), &[]);
        assert_code(&output, 1);
        let text = stderr(&output);
        assert!(text.contains(words), "{bad}: {text}");
        assert!(
            text.contains("because the scheduler `bad` ended"),
            "{bad}: {text}"
        );
    }
    // A wild read is none of them: it reads 0 (docs/decisions/058-foreign-programs.md).
    assert_code(&sim(&made().object("bad_READ.bpf.o"), &[]), 0);
    let lost = sim(&made().object("bad_LOST.bpf.o"), &["--duration", "4s"]);
    assert_code(&lost, 1);
    assert!(
        stderr(&lost).contains("failed to run for"),
        "{}",
        stderr(&lost)
    );
    let short = sim(&made().object("bad_LOST.bpf.o"), &["--duration", "1s"]);
    let said = stderr(&short);
    assert!(said.contains("no task ever ran in 1.00 s"), "{said}");
}

#[test]
fn what_is_not_offered_is_refused_by_name() {
    let helper = sim(&made().object("bad_HELPER.bpf.o"), &[]);
    assert_refused(&helper, &["helper bpf_get_socket_cookie is not offered"]);
    let kfunc = sim(&made().object("bad_KFUNC.bpf.o"), &[]);
    assert_refused(&kfunc, &["kfunc bpf_of_a_later_kernel is not offered"]);
    let kind = sim(&made().object("bad_MAP.bpf.o"), &[]);
    assert_refused(&kind, &["map `trie`: type lpm_trie is not offered"]);
}

#[test]
fn what_is_no_scheduler_is_refused() {
    assert_refused(&sim("/bin/false", &[]), &["exit code 1 before it attached"]);
    assert_refused(&sim("/bin/true", &[]), &["exit code 0 before it attached"]);
    assert_refused(&sim("no-such-scheduler", &[]), &["no such program in PATH"]);
    assert_refused(&sim("./none.bpf.o", &[]), &["there is no such file"]);
    assert_refused(&sim("/tmp", &[]), &["it is a folder"]);
    assert_refused(&sim("/etc/passwd", &[]), &["it may not be executed"]);
    assert_refused(&sim("'open", &[]), &["a quote ' without its end"]);
    let native = made().object("native.bpf.o");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_wakeplace"), &native).expect("a link");
    assert_refused(&sim(&native, &[]), &["an object for another architecture"]);
    let none = made().object("bad_TABLE.bpf.o");
    assert_refused(&sim(&none, &[]), &["isn't referenced anywhere"]);
    let text = made().object("text.bpf.o");
    std::fs::write(&text, "no object").expect("written");
    assert_refused(&sim(&text, &[]), &["no ELF file"]);
}

/// Goal: what is a policy's is no setting of a scheduler's.
#[test]
fn settings_of_policies_are_refused_beside_a_scheduler_alone() {
    let fifo = made().object("fifo.bpf.o");
    let set = |key: &str| sim(&fifo, &["--set", key]);
    assert_refused(&set("nosuch=4"), &["unknown setting `nosuch`"]);
    let of_policy = set("energy_margin_shift=4");
    assert_refused(
        &of_policy,
        &["`energy_margin_shift` is a policy's", "`model.KEY`"],
    );
    assert_code(&set("model.idle_states=off"), 0);
}

/// Goal: a loader that waits for ever, or leaves processes of its own, is ended with all of them.
#[test]
fn a_loader_that_hangs_leaves_nothing_behind() {
    // So long nobody else's `sleep` takes.
    let mark = "98765432";
    for (what, words) in [
        (
            format!("/bin/sleep {mark}"),
            "waits for something that does not come",
        ),
        (
            format!("/bin/sh -c 'sleep {mark} & exit 5'"),
            "ended with exit code 5 before it attached",
        ),
    ] {
        for way in ["notification", "ptrace"] {
            let mut command = prepared("periodic:n=2", "sim", &what, &[]);
            command.env("WAKEPLACE_INTERCEPTION", way);
            let output = command.output().expect("the program starts");
            assert_refused(&output, &[words]);
            let left = processes_with(mark);
            assert!(left.is_empty(), "{what}, {way}: {left:?}");
        }
    }
}

/// Command lines of processes that have this word.
fn processes_with(word: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = all.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines
        .filter(|line| line.starts_with("sleep") && line.contains(word))
        .collect()
}

/// Goal: a loader sees the modelled machine and the offered kernel, not the host's.
#[test]
fn a_loader_sees_the_modelled_machine() {
    let script = "/bin/sh -c 'cd /sys/devices/system; cat cpu/online \
                  /sys/devices/system/node/../cpu/online \
                  /sys/devices/system/cpu/cpu0/cpu_capacity; \
                  uname -r; test -e /sys/devices/system/cpu/cpu8 || echo eight $$'";
    let output = sim(script, &[]);
    assert_code(&output, 2);
    assert!(
        stderr(&output).contains("0-7 / 462 / 7.3.0-small / eight 999"),
        "{}",
        stderr(&output)
    );
}

/// `sim` with the loader that has a loop of its own (crates/bpf-load/examples/goes_on.rs).
fn goes_on(what: &str, more: &[&str]) -> Output {
    sim(&loader(what), &[&["--duration", "300ms"], more].concat())
}

/// That loader's command.
pub(crate) fn loader(what: &str) -> String {
    let made = made();
    let loader = made.example("goes_on");
    format!("{} {} {what}", loader.display(), made.object("told.bpf.o"))
}

/// Goal: a loader's threads wait in virtual time, exactly as long as they ask for
/// (docs/rules/sched-ext.md#loader). Times are sums of what goes_on.rs waits for: 10 ms; messages
/// 5, 15 and 25 ms later, and 10 ms to the sender's end; 5 ms for nothing; 10 ms for a byte; 50 ms,
/// in which a timer of 15 ms expires three times; then the rest of its fourth 15 ms. A record in a
/// ring buffer comes 1 ns after it was written. Its end is the scheduler's.
#[test]
fn a_loader_runs_in_virtual_time() {
    let output = goes_on("watch", &[]);
    assert_code(&output, 1);
    let seen = "seen: slept 10 received 15 received 25 received 35 joined 45 timeout 50 read 60 \
                expired 3 nothing 111 expires 120 wakeups 1 late 1 within 1 busy 1";
    let text = stderr(&output);
    assert!(text.contains(seen), "{text}");
    assert!(text.contains("its loader ended with exit code 7"), "{text}");
    assert!(text.contains("unregistered from user space"), "{text}");
}

/// Goal: with a loader of its own each run gives the same bytes, interpreted, too; the result says
/// that it ran, and how often: at time 0, and every 10 ms of 300.
#[test]
fn runs_with_a_loader_beside_them_are_the_same() {
    let compiled = hash(&goes_on("for-ever", &["--verify-determinism"]));
    let interpreted = hash(&goes_on(
        "for-ever",
        &["--verify-determinism", "--interpret"],
    ));
    assert_eq!(compiled, interpreted);
    let output = goes_on("for-ever", &["--format", "json"]);
    assert_code(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("runs in virtual time"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let calls = find(&json, "loader").expect("a callback");
    assert_eq!(calls[0].as_u64(), Some(31), "{calls}");
    assert_eq!(calls[2].as_u64(), Some(0), "{calls}");
}

/// The first member of that name.
fn find<'a>(json: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    match json {
        serde_json::Value::Object(members) => members
            .get(name)
            .or_else(|| members.values().find_map(|member| find(member, name))),
        serde_json::Value::Array(members) => members.iter().find_map(|member| find(member, name)),
        _ => None,
    }
}

/// Goal: a loader that cannot be given virtual time ends the run, and what it did is named.
#[test]
fn what_a_loader_must_not_do_is_named() {
    for (what, words) in [
        ("spin", "makes calls without end at one instant"),
        ("start", "to start a process while the simulation runs"),
        ("read", "to read /proc/loadavg while the simulation runs"),
    ] {
        let output = goes_on(what, &[]);
        assert_code(&output, 1);
        assert!(
            stderr(&output).contains(words),
            "{what}: {}",
            stderr(&output)
        );
    }
    // A process that it has started attaches: its threads would not be waited for.
    let made = made();
    let [loader, object] = [made.loader.display().to_string(), made.object("fifo.bpf.o")];
    let shell = sim(&format!("/bin/sh -c '{loader} {object}; true'"), &[]);
    assert_refused(&shell, &["another process than the loader attaches"]);
}

#[test]
fn policies_and_schedulers_are_compared() {
    let made = made();
    let [fifo, vtime] = ["fifo.bpf.o", "vtime.bpf.o"].map(|name| made.object(name));
    let output = program(Path::new("."))
        .env("WAKEPLACE_BPF_LOAD", &made.loader)
        .args([
            "compare",
            "--platform",
            "hikey960",
            "--workload",
            "periodic:n=6,duty=10%",
        ])
        .args(["--duration", "100ms", "--kernel", &made.object(KERNEL)])
        .args([
            "--policy",
            "linux-7.3",
            "--scheduler",
            &fifo,
            "--scheduler",
            &vtime,
        ])
        .args(["--seeds", "2"])
        .output();
    let output = output.expect("the program starts");
    assert_code(&output, 0);
    for word in ["linux-7.3", "fifo.bpf.o", "vtime.bpf.o"] {
        assert!(stdout(&output).contains(word), "{}", stdout(&output));
    }
}

#[test]
fn wrong_options_are_refused() {
    let valid = [
        "sim",
        "--platform",
        "hikey960",
        "--workload",
        common::PERIODIC,
    ];
    let with = |more: &[&str]| run(&[&valid[..], more].concat());
    assert_refused(&with(&["--scheduler"]), &["--scheduler has no value"]);
    let both = with(&["--policy", "linux-7.3", "--scheduler", "/bin/true"]);
    assert_refused(&both, &["sim takes one policy"]);
    assert_code(&with(&["--policy", "linux-7.3", "--kernel", "7.3.4"]), 2);
    let missing = with(&["--scheduler", "/bin/true", "--kernel", "./none.btf"]);
    assert_refused(&missing, &["./none.btf: cannot be read"]);
    // What never ends is not read.
    let endless = with(&["--scheduler", "/bin/true", "--kernel", "/dev/zero"]);
    assert_refused(&endless, &["/dev/zero: it is no regular file"]);
    let folder = with(&["--scheduler", "/bin/true", "--kernel", "/dev/"]);
    assert_refused(&folder, &["/dev/: it is no regular file"]);
    let large = Path::new(&made().object(KERNEL)).with_file_name("7.3.9-large.btf");
    let file = std::fs::File::create(&large).expect("a file");
    file.set_len((32 << 20) + 1).expect("a hole");
    let large = with(&[
        "--scheduler",
        "/bin/true",
        "--kernel",
        large.to_str().expect("UTF-8"),
    ]);
    assert_refused(&large, &["7.3.9-large.btf: more than 32 MiB"]);
    // Loaders read the version from the release, which is the file's name.
    let small = Path::new(&made().object(KERNEL)).to_owned();
    for name in ["vmlinux", "7.3", "7.x.0.btf", "7.3..btf", "70000.1.1"] {
        let other = small.with_file_name(name);
        std::fs::copy(&small, &other).expect("copied");
        let path = other.to_str().expect("UTF-8");
        let unnamed = with(&["--scheduler", "/bin/true", "--kernel", path]);
        assert_refused(&unnamed, &["begin with three numbers"]);
    }
    // With an ending or without.
    let named = small.with_file_name("7.3.4-mine");
    std::fs::copy(&small, &named).expect("copied");
    let named = named.to_str().expect("UTF-8");
    let object = made().object("fifo.bpf.o");
    assert_code(&sim(&object, &["--kernel", named]), 0);
    // What loaders print is not lost without a word.
    let output = prepared("periodic:n=1", "sim", &made().object("fifo.bpf.o"), &[])
        .env("WAKEPLACE_LOADER_OUTPUT", "/not/there/log")
        .output()
        .expect("the program starts");
    assert_refused(&output, &["WAKEPLACE_LOADER_OUTPUT: No such file"]);
}

/// Goal: an object that was damaged is refused, named, or runs; it never takes the program with it.
#[test]
fn damaged_objects_are_refused_or_run() {
    let made = made();
    let whole = std::fs::read(made.object("maps.bpf.o")).expect("an object");
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for number in 0..12 {
        let mut bytes = whole.clone();
        for _ in 0..8 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // The header stays: what is behind it is of interest.
            let at = 64 + random as usize % (bytes.len() - 64);
            bytes[at] = (random >> 32) as u8;
        }
        if number % 4 == 3 {
            bytes.truncate(bytes.len() / 2);
        }
        let damaged = made.object("damaged.bpf.o");
        std::fs::write(&damaged, &bytes).expect("written");
        let output = sim(&damaged, &["--duration", "20ms"]);
        // A signal has no code, a panic has 101.
        let code = output.status.code();
        let said = stderr(&output);
        assert!(matches!(code, Some(0..=2)), "{number}: {code:?} {said}");
        assert!(!said.contains("panicked"), "{number}: {said}");
        assert!(
            code == Some(0) || !said.is_empty(),
            "{number}: {code:?} without a reason"
        );
    }
}

//! `lab run`, `lab kernels`, `lab fetch` (docs/guide/lab.md). What is wrong is said before anything
//! is fetched or booted.
//!
//! What a guest is and how it is booted is `wakeplace_lab`'s. Figures of a guest are measured and
//! not the simulator's: they may differ between runs. The page is free.
//!
//! What must stay: keys of the JSON (docs/guide/lab.md, "In JSON"). The guest's own exit code other
//! than 0 is exit code 1. What the guest's command wrote to standard error goes there. Tests by
//! part: crates/cli/tests/all/lab.rs::`a_right_request_gets_as_far_as_the_cache` and
//! lab.rs::`a_wrong_machine_is_refused` (`request`),
//! lab.rs::`a_wrong_scheduler_or_policy_is_refused` and
//! lab.rs::`anybodys_scheduler_is_a_program_for_the_guest` (`asked`),
//! lab.rs::`either_a_workload_or_a_command_is_run` (`Work`),
//! lab.rs::`files_are_looked_at_before_anything_is_booted` (`trace_output`). No test of its own, as
//! it needs a guest or the archive: `object`, `page`, `list`, `row`, `enough` and `fetch`; guests
//! are booted by crates/lab/tests/boot.rs, without this program.
//!
//! Tests: crates/cli/tests/all/lab.rs, crates/lab/tests/boot.rs

use super::lab_watch::Steps;
use crate::args::{AnswerFormat, ArchName, LabCommand, LabFetchArgs, LabKernelsArgs, LabRunArgs};
use crate::failure::{Failure, Outcome, Verdict};
use crate::output::Output;
use crate::places;
use crate::terminal::Terminal;
use crate::text::{json, style, wrapped};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use wakeplace_lab::kernels::{self, Kernel, Offer};
use wakeplace_lab::machine::Machine;
use wakeplace_lab::outcome::Scheduler;
use wakeplace_lab::run::{self, Icount, Request, RunResult, TraceReport, Work};
use wakeplace_lab::scheduler::Loader;
use wakeplace_lab::{Arch, Choice, workload};
use wakeplace_policy_sys::Policy;
use wakeplace_price::{self as price, Price};
use wakeplace_report::{Cell, Format, Table};

/// `lab ...`.
pub(crate) fn run(command: LabCommand, terminal: Terminal) -> Outcome {
    match command {
        LabCommand::Run(args) => run_guest(&args, terminal),
        LabCommand::Kernels(args) => list(&args, terminal),
        LabCommand::Fetch(args) => fetch(&args, terminal),
    }
}

/// The lab's name of an architecture that was typed.
fn arch(name: ArchName) -> Arch {
    match name {
        ArchName::X86_64 => Arch::X86_64,
        ArchName::Arm64 => Arch::Arm64,
    }
}

/// The architectures that are asked for; all of them where none is.
fn arches(name: Option<ArchName>) -> Vec<Arch> {
    name.map_or_else(|| Arch::ALL.to_vec(), |name| vec![arch(name)])
}

/// `lab run`: boots one guest and prints what became of it.
fn run_guest(args: &LabRunArgs, terminal: Terminal) -> Outcome {
    let kernel = args.kernel.as_deref().map(|kernel| ("--kernel", kernel));
    places::apart(kernel, &[("--trace", args.trace.as_deref())])?;
    let trace = trace_output(args.trace.as_deref())?;
    let request = request(args)?;
    let cache = wakeplace_lab::cache()?;
    let steps = Steps::start(terminal);
    let ran = run::run(&cache, &request, &steps);
    drop(steps);
    let result = ran?;
    let price = (request.trace_kb.is_some()).then(|| price::of(&result, &request));
    if let (Some(output), Some(trace)) = (&trace, &result.trace) {
        output.write(&trace.text, terminal)?;
        if trace.lost > 0 {
            let lost = trace.lost;
            terminal.warn(&format!("the trace lacks {lost} events that did not fit"));
        }
    }
    terminal.eprint(&result.stderr);
    let text = match args.form.format {
        AnswerFormat::Json => json(&object(&result, price.as_ref(), args.trace.as_deref())?),
        AnswerFormat::Human => page(&result, price.as_ref(), args.trace.as_deref(), terminal),
    };
    terminal.print(&text)?;
    Ok(match result.exit_code {
        0 => Verdict::Ok,
        _ => Verdict::Unmet,
    })
}

/// Where the trace goes, found writable before anything is booted.
fn trace_output(path: Option<&Path>) -> Result<Option<Output>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let output = Output::prepare(Some(path))?;
    if output.is_stdout() {
        return Err(Failure::Input(
            "--trace -: standard output is for the result; expected a file".to_owned(),
        ));
    }
    Ok(Some(output))
}

/// What a guest is to be, from the options; refuses what cannot be before anything is fetched.
fn request(args: &LabRunArgs) -> Result<Request, Failure> {
    let arch = arch(args.arch);
    let scheduler = asked(&args.scheduler, arch)?;
    if let Scheduler::Wakeplace {
        policy: Some(policy),
    } = &scheduler
    {
        Policy::parse(policy).map_err(Failure::input)?;
    }
    let machine = Machine::load(&args.platform, arch, args.cpus)?;
    let kernel = match &args.kernel {
        Some(text) => Choice::of(text, args.modules.as_deref(), arch)?,
        None => Choice::Newest,
    };
    let trace_kb = match (&args.trace, args.unpriced) {
        (Some(_), _) => Some(run::TRACE_KB),
        (None, false) => Some(run::PRICE_KB),
        (None, true) => None,
    };
    let trace = trace_kb.is_some();
    let work = match &args.workload {
        Some(name) => {
            let (seed, window_ns) = (args.seed, args.duration);
            let job = if name.starts_with(wakeplace_trace::PREFIX) {
                let platform = machine.platform.as_ref();
                let spec = wakeplace_trace::load(name, platform).map_err(Failure::input)?;
                workload::job_of(&spec, seed, window_ns, trace, arch, &machine)
            } else {
                workload::job(name, seed, window_ns, trace, arch, &machine)
            };
            Work::Job {
                workload: name.clone(),
                job: job?,
            }
        }
        None => Work::Command(args.command.clone()),
    };
    if let Some(file) = args.add.iter().find(|file| !file.is_file()) {
        let file = file.display();
        return Err(Failure::Input(format!(
            "--add {file}: expected a file that can be read"
        )));
    }
    let keep = wakeplace_lab::keep_folder(args.keep.as_deref())?;
    Ok(Request {
        arch,
        machine,
        scheduler,
        kernel,
        icount: args.icount.map(|ns| Icount {
            ns,
            round_us: args.round,
        }),
        timeout: Duration::from_nanos(args.timeout),
        trace_kb,
        work,
        files: args.add.clone(),
        packages: args.package.clone(),
        systemd: args.systemd,
        keep,
    })
}

/// One of this project by its name, else a command that loads one.
fn asked(text: &str, arch: Arch) -> Result<Scheduler, Failure> {
    let unknown = match text.parse() {
        Ok(own) => return Ok(own),
        Err(unknown) => unknown,
    };
    let command = wakeplace_foreign::Command::parse(text);
    let command = command.map_err(|error| Failure::Input(format!("{unknown}; {error}")))?;
    let (program, object) = match command.is_object() {
        true => {
            let loader = wakeplace_foreign::generic_loader().map_err(Failure::input)?;
            (loader, Some(command.program))
        }
        false => (command.program, None),
    };
    let loader = Loader {
        text: command.text,
        program,
        object,
        args: command.args,
    };
    loader.check(arch)?;
    Ok(Scheduler::Loader(loader))
}

/// The result as design and documentation describe it.
fn object(
    result: &RunResult,
    price: Option<&Price>,
    trace: Option<&Path>,
) -> Result<Value, Failure> {
    let mut object = json!({ "schema_version": wakeplace_report::SCHEMA_VERSION });
    let own = serde_json::to_value(result).map_err(Failure::input)?;
    if let (Some(object), Value::Object(own)) = (object.as_object_mut(), own) {
        object.extend(own);
    }
    if let (Some(file), Some(_)) = (trace, &result.trace) {
        object["trace"]["file"] = json!(file.display().to_string());
    }
    object["price"] = serde_json::to_value(price).map_err(Failure::input)?;
    Ok(object)
}

/// What the command wrote, then what the run was.
fn page(
    result: &RunResult,
    price: Option<&Price>,
    trace: Option<&Path>,
    terminal: Terminal,
) -> String {
    let mut text = result.stdout.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let mut rows = Vec::new();
    rows.extend(price.and_then(energy).map(|text| ("energy", text)));
    rows.extend(price.and_then(latency).map(|text| ("latency", text)));
    let remarks = price.iter().flat_map(|price| &price.remarks);
    rows.extend(remarks.map(|remark| ("note", remark.clone())));
    rows.extend([
        (
            "command",
            format!(
                "{}, exit code {}",
                result.command.join(" "),
                result.exit_code
            ),
        ),
        ("kernel", kernel(result)),
        ("machine", machine(result)),
        ("scheduler", scheduler(result)),
    ]);
    if let (Some(TraceReport { events, lost, .. }), Some(file)) = (&result.trace, trace) {
        rows.push((
            "trace",
            format!("{}: {events} events, {lost} lost", file.display()),
        ));
    }
    text.push('\n');
    let look = style(terminal);
    for (name, value) in rows {
        let value = wrapped(&value, "             ", look);
        let _ = write!(text, "{name:<11}  {}", value.trim_start());
    }
    text
}

/// None: there is none, and a remark says why.
fn energy(price: &Price) -> Option<String> {
    let (joules, window_s) = (price.cpu_energy_j?, price.window_s?);
    let watts = match window_s > 0.0 {
        true => format!(", {:.3} W", joules / window_s),
        false => String::new(),
    };
    Some(format!(
        "{joules:.3} J of CPUs and clusters in {window_s:.3} s{watts}, by the platform's power \
         model"
    ))
}

/// What half of the wake-ups waited, then the rest.
fn latency(price: &Price) -> Option<String> {
    let median = price.wake_latency_us_p50?;
    let of = |us: Option<f64>| us.map_or(String::new(), |us| format!("{us:.0} us"));
    let (wakeups, tasks) = (price.wakeups, price.tasks);
    Some(format!(
        "{median:.0} us from wake-up to run (median); 95 %: {}, 99 %: {}, longest: {}; {wakeups} \
         wake-ups of {tasks} tasks",
        of(price.wake_latency_us_p95),
        of(price.wake_latency_us_p99),
        of(price.wake_latency_us_max)
    ))
}

/// A kernel in words: name, version, and the hash by which a result can be told from another's.
fn kernel(result: &RunResult) -> String {
    let kernel = &result.kernel;
    let (name, version, sha256) = (kernel.name(), kernel.version(), kernel.sha256());
    format!("{name} {version} (sha256 {sha256})")
}

/// The guest's machine in one sentence.
fn machine(result: &RunResult) -> String {
    let clock = match result.icount_ns {
        Some(ns) => format!(", clock counts instructions of {ns} ns"),
        None => String::new(),
    };
    let round = match result.round_us {
        Some(us) => format!(", each CPU's turn comes within {us} us"),
        None => String::new(),
    };
    let capacities = match result.guest["capacities"].as_array() {
        Some(all) if all.iter().any(|capacity| *capacity != all[0]) => {
            let all: Vec<String> = all.iter().map(Value::to_string).collect();
            format!(", capacities {}", all.join(" "))
        }
        _ => String::new(),
    };
    let energy = match result.guest["perf_domains"].as_u64() {
        Some(domains @ 1..) => format!(", energy model of {domains} domains"),
        _ => String::new(),
    };
    let (arch, name, cpus) = (result.arch, &result.platform, result.cpus);
    format!(
        "{name}, {arch}, {cpus} CPUs{capacities}{energy}{clock}{round}; {}",
        result.emulator
    )
}

/// Which scheduler ran, how it ended, and its reasons by number.
fn scheduler(result: &RunResult) -> String {
    let report = &result.scheduler;
    let exit = report.exit_kind.as_ref().map(|kind| format!(", {kind}"));
    let reasons: Vec<String> = report
        .reasons
        .iter()
        .map(|(reason, count)| format!("{reason} {count}"))
        .collect();
    let reasons = match reasons.is_empty() {
        true => String::new(),
        false => format!("; decisions: {}", reasons.join(", ")),
    };
    format!(
        "{} (asked: {}){}{reasons}",
        report.ran,
        report.asked,
        exit.unwrap_or_default()
    )
}

/// `lab kernels`: the kernels that guests can have.
fn list(args: &LabKernelsArgs, terminal: Terminal) -> Outcome {
    let offers = offers(&arches(args.arch), terminal)?;
    let text = match args.form.format {
        AnswerFormat::Json => {
            let kernels: Vec<Value> = offers.iter().map(|(arch, o)| row(*arch, o)).collect();
            let version = wakeplace_report::SCHEMA_VERSION;
            json(&json!({ "schema_version": version, "kernels": kernels }))
        }
        AnswerFormat::Human => {
            let columns = ["arch", "kernel", "usable", "package", "what its types say"];
            let mut table = Table::new("kernels", &columns);
            for (arch, offer) in &offers {
                let (package, found) = match &offer.kernel {
                    Ok(kernel) => (kernel.package.package.clone(), found(*arch, kernel)),
                    Err(why) => ("missing".to_owned(), why.clone()),
                };
                let usable = if usable(offer) { "yes" } else { "no" };
                table.row(vec![
                    Cell::from(arch.name()),
                    Cell::from(offer.version.clone()),
                    Cell::from(usable),
                    Cell::from(package),
                    Cell::from(found),
                ]);
            }
            table.render(Format::Human, style(terminal))
        }
    };
    terminal.print(&text)?;
    enough(&offers)
}

/// All kernels of some architectures; what is missing is said at once.
fn offers(arches: &[Arch], terminal: Terminal) -> Result<Vec<(Arch, Offer)>, Failure> {
    let cache = wakeplace_lab::cache()?;
    let steps = Steps::start(terminal);
    let mut all = Vec::new();
    for arch in arches {
        let offers = kernels::offers(&cache, *arch, &steps)?;
        all.extend(offers.into_iter().map(|offer| (*arch, offer)));
    }
    drop(steps);
    for (arch, offer) in &all {
        if let Err(why) = &offer.kernel {
            terminal.warn(&format!(
                "kernel {} for {arch} is missing: {why}",
                offer.version
            ));
        }
    }
    Ok(all)
}

/// Whether sched_ext schedulers can be loaded into it, by its types. False also if unreadable.
fn usable(offer: &Offer) -> bool {
    offer.kernel.as_ref().is_ok_and(|kernel| kernel.btf.usable)
}

/// What its types say, and whether an arm64 guest can have operating points with it.
fn found(arch: Arch, kernel: &Kernel) -> String {
    let types = &kernel.btf.found;
    match (arch, &kernel.cpufreq_dt) {
        (Arch::Arm64, None) => {
            format!("{types}; its module cpufreq-dt is gone: no energy model in the guest")
        }
        _ => types.clone(),
    }
}

/// A kernel as JSON.
fn row(arch: Arch, offer: &Offer) -> Value {
    let (package, found) = match &offer.kernel {
        Ok(kernel) => (Some(&kernel.package), found(arch, kernel)),
        Err(why) => (None, why.clone()),
    };
    json!({
        "arch": arch.name(),
        "kernel": offer.version,
        "usable": usable(offer),
        "package": package.map(|package| &package.package),
        "version": package.map(|package| &package.version),
        "sha256": package.map(|package| &package.sha256),
        "found": found,
    })
}

/// Every architecture that was looked at has a kernel that can be used.
fn enough(offers: &[(Arch, Offer)]) -> Outcome {
    let lacks = |arch: &&Arch| !offers.iter().any(|(a, offer)| a == *arch && usable(offer));
    let looked_at = Arch::ALL
        .iter()
        .filter(|arch| offers.iter().any(|(a, _)| a == *arch));
    let lacking: Vec<&str> = looked_at.filter(lacks).map(|arch| arch.name()).collect();
    match lacking.is_empty() {
        true => Ok(Verdict::Ok),
        false => {
            let lacking = lacking.join(", ");
            Err(Failure::Environment(format!(
                "no usable kernel for {lacking}; see above"
            )))
        }
    }
}

/// `lab fetch`: what a later run needs, without running anything.
fn fetch(args: &LabFetchArgs, terminal: Terminal) -> Outcome {
    let cache = wakeplace_lab::cache()?;
    let arches = arches(args.arch);
    let steps = Steps::start(terminal);
    for arch in &arches {
        run::prefetch(&cache, *arch, &steps)?;
    }
    drop(steps);
    enough(&offers(&arches, terminal)?)
}

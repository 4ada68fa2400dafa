//! One run: a guest from start to result (docs/guide/lab.md). A guest under another scheduler than
//! the one asked for is an error.
//!
//! What must stay: fields of a result (JSON of `lab run`), and the order of checks: all that can be
//! refused is refused before a boot. Free: words of progress, and how files are named on the way.
//!
//! Tests by part: `words_reach_the_guest_as_they_are` (`script`),
//! `a_json_object_is_the_programs_report` (`report`),
//! `capacities_are_told_only_if_all_cpus_have_one` (`guest_facts`), crates/cli/tests/all/lab.rs
//! (`prepare`: refusals before a boot),
//! boot.rs::`an_x86_guest_runs_a_command_and_brings_back_what_it_did` (`run`, `own_files`,
//! `collect`, `command`, `read_capped`), boot.rs::`a_guest_has_packages_and_systemd` (`memory_mib`,
//! `own_files`), boot.rs::`a_loader_that_attaches_nothing_gives_no_result` (`add_scheduler`).
//! `prefetch` and `needs_load` have no test of their own.
//!
//! Callers: crates/cli/src/commands/lab.rs (`run`, `prefetch`), crates/fidelity (`run`).
//!
//! Tests: crates/lab/tests/boot.rs

use crate::bootable::{Bootable, Origin};
use crate::cpio::Archive;
use crate::guest::{Guest, Limits};
use crate::initramfs::{self, Base};
use crate::machine::Machine;
use crate::outcome::{self, Facts, OPS, Scheduler, SchedulerReport};
use crate::own::{self, Choice};
use crate::packages::{self, PackageName, Packages};
use crate::qemu::Qemu;
use crate::scheduler::Carried;
use crate::smp::Smp;
use crate::{Arch, Cache, LabError, Watch, guest_bin};
use serde::Serialize;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakeplace_archive::WAITING;
use wakeplace_archive::apt::Package;

/// Where things of the run are in the guest.
const JOB_FILE: &str = "lab/job.json";
/// Trace buffer of each CPU for a trace that somebody keeps, KiB: some minutes of a busy CPU.
pub const TRACE_KB: u32 = 65_536;
/// The same for one that is only priced, KiB: 200,000 switches of a CPU.
pub const PRICE_KB: u32 = 16_384;
/// Most of a program's output that is read, bytes.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// Most of a trace: five million events.
const MAX_TRACE_BYTES: u64 = 768 << 20;

/// What the guest is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Words of a command line.
    Command(Vec<String>),
    /// A job for the load generator.
    Job {
        /// What the user typed.
        workload: String,
        /// The job file.
        job: String,
    },
}

/// A clock that counts instructions, those of all CPUs, which are executed in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icount {
    /// Nanoseconds of each, a power of two.
    pub ns: u32,
    /// Within so many microseconds each CPU has its turn; none: until the machine's next timer.
    pub round_us: Option<u32>,
}

/// A run that is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Architecture of the guest.
    pub arch: Arch,
    /// The machine it models.
    pub machine: Machine,
    /// Its scheduler.
    pub scheduler: Scheduler,
    /// Its kernel.
    pub kernel: Choice,
    /// One virtual clock that counts instructions, instead of threads that run as they can.
    pub icount: Option<Icount>,
    /// The guest is ended after this.
    pub timeout: Duration,
    /// Record the scheduler's events, with a buffer of so many KiB for each CPU.
    pub trace_kb: Option<u32>,
    /// What to run.
    pub work: Work,
    /// Files of the host that stand in the guest's `/root`.
    pub files: Vec<PathBuf>,
    /// Packages that the guest has, with what they need.
    pub packages: Vec<PackageName>,
    /// systemd is the guest's first process, and the work a service of it.
    pub systemd: bool,
    /// Everything that comes back is kept here.
    pub keep: Option<PathBuf>,
}

/// A recorded trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceReport {
    /// Recorded events.
    pub events: usize,
    /// Events that did not fit into the buffers.
    pub lost: u64,
    /// It was longer than what is read of one.
    pub cut: bool,
    /// The kernel's text form.
    #[serde(skip)]
    pub text: String,
}

/// What a guest did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// Its architecture.
    pub arch: &'static str,
    /// Where its kernel is from.
    pub kernel: Origin,
    /// The packages that were asked for.
    pub packages: Vec<Package>,
    /// The machine it modelled.
    pub platform: String,
    /// Its CPUs.
    pub cpus: u32,
    /// Its emulator.
    pub emulator: String,
    /// The virtual clock counted instructions, so many nanoseconds each.
    pub icount_ns: Option<u32>,
    /// Within so many microseconds each CPU had its turn.
    pub round_us: Option<u32>,
    /// What the guest's kernel made of the machine.
    pub guest: Value,
    /// Which scheduler ran.
    pub scheduler: SchedulerReport,
    /// What was run.
    pub command: Vec<String>,
    /// With which exit code.
    pub exit_code: i32,
    /// What it reported.
    pub result: Value,
    /// The trace, if one was asked for and the kernel has a tracer.
    pub trace: Option<TraceReport>,
    /// The process that became the command; none of a job.
    #[serde(skip)]
    pub command_pid: Option<i32>,
    /// Per CPU of the guest: its frequency as the trace began, kHz; none without cpufreq.
    #[serde(skip)]
    pub khz: Vec<Option<u64>>,
    /// What the command wrote.
    #[serde(skip)]
    pub stdout: String,
    /// And to its standard error.
    #[serde(skip)]
    pub stderr: String,
}

/// Boots a guest, lets it work, and judges what came back.
///
/// # Errors
/// When it cannot be booted, does not end in time, brings nothing back, or ran under another
/// scheduler than the one asked for. A command that failed is no error: its exit code is in the
/// result.
pub fn run(cache: &Cache, request: &Request, watch: &dyn Watch) -> Result<RunResult, LabError> {
    let prepared = prepare(cache, request, watch)?;
    let scratch = cache.scratch()?;
    let guest = Guest {
        arch: request.arch,
        machine: &request.machine,
        qemu: &prepared.qemu,
        kernel: &prepared.kernel,
        icount: request.icount,
        memory_mib: memory_mib(request, &prepared),
        folder: scratch.path(),
    };
    prepared.base.with(
        own_files(request, &prepared)?,
        &prepared.packages.files,
        &guest.initrd(),
    )?;
    let ended = guest.boot(Limits::of(request.timeout), watch);
    let out = scratch.path().join("out");
    if let Some(keep) = &request.keep {
        guest.keep(&out, keep)?;
    }
    ended?;
    guest.unpack(&out)?;
    if let Some(keep) = &request.keep {
        guest.keep(&out, keep)?;
    }
    let result = collect(request, &prepared, &out, &guest)?;
    if let Choice::Own(own) = &request.kernel
        && own::has_opps(request.arch, &request.machine)
        && result.guest["perf_domains"].as_u64() == Some(0)
    {
        watch.remark(&own.no_opps());
    }
    Ok(result)
}

/// What has to be there before a guest can start.
struct Prepared {
    kernel: Bootable,
    qemu: Qemu,
    base: Base,
    /// The packages that it has.
    packages: Packages,
    /// Its scheduler, if that is anybody's.
    scheduler: Option<Carried>,
}

/// All that a guest needs; what is wrong is said before anything is fetched.
fn prepare(cache: &Cache, request: &Request, watch: &dyn Watch) -> Result<Prepared, LabError> {
    let arch = request.arch;
    // What is wrong or missing here is said before anything is fetched.
    if let Choice::Own(own) = &request.kernel {
        own.require(&request.machine, &request.scheduler)?;
    }
    if arch == Arch::X86_64 && Smp::of(&request.machine)?.split {
        watch.remark("each cache of a package is a package of its own in the guest");
    }
    request
        .machine
        .remarks
        .iter()
        .for_each(|remark| watch.remark(remark));
    let mut scheduler = None;
    match &request.scheduler {
        Scheduler::Kernel => {}
        Scheduler::Wakeplace { .. } => {
            guest_bin::require(arch, guest_bin::SCHEDULER)?;
        }
        Scheduler::Loader(loader) => scheduler = Some(loader.carry(arch)?),
    }
    if needs_load(&request.work) {
        guest_bin::require(arch, guest_bin::LOAD)?;
    }
    let _lock = cache.lock(|| watch.step(WAITING))?;
    let kernel = Bootable::get(cache, request, watch)?;
    let qemu = Qemu::get(cache, arch, watch)?;
    let base = Base::get(cache, arch, watch)?;
    let mut names = request.packages.clone();
    if request.systemd {
        names.extend(PackageName::SYSTEMD);
    }
    let packages = packages::archive(cache, arch, &names, watch)?;
    Ok(Prepared {
        kernel,
        qemu,
        base,
        packages,
        scheduler,
    })
}

/// Fetches all that guests of an architecture need, kernels aside.
///
/// # Errors
/// When something cannot be had.
pub fn prefetch(cache: &Cache, arch: Arch, watch: &dyn Watch) -> Result<(), LabError> {
    let _lock = cache.lock(|| watch.step(WAITING))?;
    Qemu::get(cache, arch, watch)?;
    Base::get(cache, arch, watch)?;
    Ok(())
}

/// Does the work use the load program, which has to be built?
fn needs_load(work: &Work) -> bool {
    match work {
        Work::Command(words) => words.first().is_some_and(|word| word == guest_bin::LOAD),
        Work::Job { .. } => true,
    }
}

/// Words of what runs in the guest.
fn command(work: &Work) -> Vec<String> {
    match work {
        Work::Command(words) => words.clone(),
        Work::Job { .. } => [guest_bin::LOAD, "load", &format!("/{JOB_FILE}")]
            .map(str::to_owned)
            .to_vec(),
    }
}

/// The guest's memory: the base, and what a trace and packages take.
fn memory_mib(request: &Request, prepared: &Prepared) -> u32 {
    let trace = request.trace_kb.map_or(0, |kb| {
        // The buffers, and the text that is made of them, which is larger.
        let per_cpu = 3 * (kb / 1024) + 16;
        request.machine.cpus.saturating_mul(per_cpu)
    });
    // The kernel has the archive and the files that it unpacks from it at the same time.
    let packages = u64::try_from(prepared.packages.files.len()).unwrap_or(u64::MAX);
    let scheduler = prepared
        .scheduler
        .as_ref()
        .map_or(0, |carried| carried.bytes);
    let files = (packages >> 20) + (scheduler >> 20);
    let files = u32::try_from(2 * files).unwrap_or(u32::MAX);
    1024_u32.saturating_add(trace).saturating_add(files)
}

/// Settings, scripts and programs of this run.
fn own_files(request: &Request, prepared: &Prepared) -> Result<Archive, LabError> {
    let mut archive = Archive::default();
    let trace = match (request.trace_kb, &request.work) {
        (None, _) => "off",
        (Some(_), Work::Command(_)) => "command",
        (Some(_), Work::Job { .. }) => "job",
    };
    let trace_kb = request.trace_kb.unwrap_or_default();
    // The first seconds after boot are full of the kernel's own work.
    let settle_s = match request.work {
        Work::Job { .. } => 5,
        Work::Command(_) if request.icount.is_some() || request.trace_kb.is_some() => 5,
        Work::Command(_) => 1,
    };
    // How its name in the kernel begins: that of others is not known.
    let (scheduler, ops) = match request.scheduler {
        Scheduler::Kernel => ("kernel", ""),
        Scheduler::Wakeplace { .. } => (OPS, OPS),
        Scheduler::Loader(_) => ("loader", ""),
    };
    let first = match request.systemd {
        true => "/usr/lib/systemd/systemd",
        false => "/lab/work.sh",
    };
    let job = format!(
        "LAB_SCHEDULER={scheduler}\nLAB_OPS={ops}\nLAB_TRACE={trace}\nLAB_TRACE_KB={trace_kb}\n\
         LAB_SETTLE_S={settle_s}\nLAB_FIRST={first}\n"
    );
    initramfs::add_scripts(&mut archive);
    if request.systemd {
        initramfs::add_service(&mut archive);
    }
    archive.file("lab/job", job.as_bytes(), false);
    archive.file(
        "lab/command.sh",
        script(&command(&request.work)).as_bytes(),
        true,
    );
    add_scheduler(&mut archive, request, prepared)?;
    if let Work::Job { job, .. } = &request.work {
        archive.file(JOB_FILE, job.as_bytes(), false);
    }
    for name in [guest_bin::SCHEDULER, guest_bin::LOAD] {
        if let Some(program) = guest_bin::find(request.arch, name) {
            initramfs::add(&mut archive, &format!("usr/bin/{name}"), &program)?;
        }
    }
    // The shell sorts them.
    for (at, module) in prepared.kernel.modules.iter().enumerate() {
        let name = format!("lab/modules/{at:02}-{}.ko", module.name);
        archive.file(&name, &module.contents, false);
    }
    for file in &request.files {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            LabError::Request(format!(
                "{}: expected a file with a name in UTF-8",
                file.display()
            ))
        })?;
        initramfs::add(&mut archive, &format!("root/{name}"), file)?;
    }
    Ok(archive)
}

/// The scheduler's command, and what it needs if it is not ours.
fn add_scheduler(
    archive: &mut Archive,
    request: &Request,
    prepared: &Prepared,
) -> Result<(), LabError> {
    if let Scheduler::Wakeplace { policy } = &request.scheduler {
        let mut words = vec![format!("/bin/{}", guest_bin::SCHEDULER)];
        if let Some(policy) = policy {
            words.extend(["--policy".to_owned(), policy.clone()]);
        }
        words.extend(["--platform", "auto", "--verbose"].map(str::to_owned));
        archive.file("lab/scheduler.sh", script(&words).as_bytes(), true);
    }
    if let Some(carried) = &prepared.scheduler {
        carried.add(archive)?;
        archive.file("lab/scheduler.sh", script(&carried.words).as_bytes(), true);
    }
    if let (true, Some(config)) = (request.scheduler.is_loader(), &prepared.kernel.config) {
        archive.file("lab/config", config, false);
    }
    Ok(())
}

/// A shell script that becomes the command.
fn script(words: &[String]) -> String {
    let quoted = words
        .iter()
        .map(|word| format!("'{}'", word.replace('\'', r"'\''")));
    format!("exec {}\n", quoted.collect::<Vec<_>>().join(" "))
}

/// Reads what the guest sent.
fn collect(
    request: &Request,
    prepared: &Prepared,
    out: &Path,
    guest: &Guest<'_>,
) -> Result<RunResult, LabError> {
    let read = |name: &str| read_capped(&out.join(name), MAX_OUTPUT_BYTES).unwrap_or_default();
    let facts = Facts::parse(&read("facts"));
    // The last thing that a job writes.
    if read("dmesg").is_empty() {
        return Err(guest.no_result("its job did not come to its end"));
    }
    let status = serde_json::from_str(&read("status.json")).ok();
    let scheduler = outcome::judge(
        &request.scheduler,
        &facts,
        &read("dmesg"),
        &read("scheduler.log"),
        status.as_ref(),
    )?;
    let Some(exit_code) = facts.number::<i32>("command_exit") else {
        return Err(guest.no_result("the command did not end"));
    };
    let (stdout, stderr) = (read("stdout"), read("stderr"));
    let traced = request.trace_kb.is_some() && facts.get("tracer") == "yes";
    let trace = traced.then(|| {
        let text = read_capped(&out.join("trace"), MAX_TRACE_BYTES).unwrap_or_default();
        let is_event = |line: &&str| !line.starts_with('#') && !line.trim().is_empty();
        TraceReport {
            events: text.lines().filter(is_event).count(),
            lost: facts.number("trace_lost").unwrap_or(0),
            cut: u64::try_from(text.len()).is_ok_and(|bytes| bytes >= MAX_TRACE_BYTES),
            text,
        }
    });
    Ok(RunResult {
        arch: request.arch.name(),
        kernel: prepared.kernel.origin.clone(),
        packages: prepared.packages.asked.clone(),
        platform: request.machine.name.clone(),
        cpus: request.machine.cpus,
        emulator: prepared.qemu.version.clone(),
        icount_ns: request.icount.map(|icount| icount.ns),
        round_us: request.icount.and_then(|icount| icount.round_us),
        guest: guest_facts(&facts, request.machine.cpus),
        scheduler,
        command: command(&request.work),
        exit_code,
        result: report(&stdout, &stderr, &facts),
        trace,
        command_pid: facts.number("command_pid"),
        khz: (0..request.machine.cpus)
            .map(|cpu| facts.number(&format!("khz_{cpu}")))
            .collect(),
        stdout,
        stderr,
    })
}

/// One JSON object on standard output is the program's own report; other programs are quoted.
fn report(stdout: &str, stderr: &str, facts: &Facts) -> Value {
    match serde_json::from_str::<Value>(stdout) {
        Ok(own) if own.is_object() => own,
        _ => {
            let moment = |key| facts.number::<f64>(key);
            let elapsed = moment("end_s").zip(moment("begin_s")).map(|(end, begin)| {
                // The guest counts hundredths of a second.
                ((end - begin) * 100.0).round() / 100.0
            });
            json!({ "elapsed_s": elapsed, "stdout": stdout, "stderr": stderr })
        }
    }
}

/// What the guest said of its machine.
fn guest_facts(facts: &Facts, cpus: u32) -> Value {
    let capacity = |cpu| facts.number::<u32>(&format!("capacity_{cpu}"));
    let capacities: Option<Vec<u32>> = (0..cpus).map(capacity).collect();
    let text = |key: &str| {
        Some(facts.get(key))
            .filter(|value| *value != "none")
            .map(str::to_owned)
    };
    json!({
        "release": text("release"),
        "online": text("cpus"),
        "capacities": capacities,
        "perf_domains": facts.number::<u32>("energy_model"),
        "energy_aware": text("energy_aware").map(|value| value == "1"),
        "governor": text("governor"),
    })
}

/// Text of a guest is hostile: at most so many bytes; None: there is no such file.
fn read_capped(path: &Path, most_bytes: u64) -> Option<String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(most_bytes).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_guest_as_they_are() {
        let words = ["sh", "-c", "echo 'a  b' \"$HOME\""].map(str::to_owned);
        assert_eq!(
            script(&words),
            "exec 'sh' '-c' 'echo '\\''a  b'\\'' \"$HOME\"'\n"
        );
    }

    #[test]
    fn a_json_object_is_the_programs_report() {
        let facts = Facts::parse("begin_s=3.10\nend_s=4.35\n");
        assert_eq!(
            report("{\"rounds\": 5}\n", "", &facts),
            json!({"rounds": 5})
        );
        let quoted = report("Time: 1.2\n", "", &facts);
        assert_eq!(
            quoted,
            json!({"elapsed_s": 1.25, "stdout": "Time: 1.2\n", "stderr": ""})
        );
        assert_eq!(report("7", "", &facts)["stdout"], json!("7"));
    }

    #[test]
    fn capacities_are_told_only_if_all_cpus_have_one() {
        let facts = Facts::parse("capacity_0=462\ncapacity_1=1024\ngovernor=schedutil\n");
        assert_eq!(guest_facts(&facts, 2)["capacities"], json!([462, 1024]));
        assert_eq!(guest_facts(&facts, 3)["capacities"], Value::Null);
        assert_eq!(guest_facts(&facts, 2)["governor"], json!("schedutil"));
        assert_eq!(guest_facts(&facts, 2)["release"], Value::Null);
    }
}

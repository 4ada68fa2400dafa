//! What a run in the lab cost: energy by the platform's power model, and how long its tasks waited
//! from their wake-ups until they ran. `wakeplace lab run` shows it; comparisons of guests with the
//! simulator (`crates/fidelity`) measure both by the same meter ([`cost`]).
//!
//! Of a job the window and the tasks are those that the load program tells. Of a command the window
//! begins with its process and ends with the trace, and its tasks are that process and all that
//! descend from it (docs/guide/lab.md, "What a run costs").
//!
//! What must stay: figures go into results of `lab run`; what is not known is a remark, not a zero.
//! Free: words of remarks that no test has.
//!
//! Tests by part: `an_x86_guest_is_priced_at_the_highest_operating_point` (`of`, `of_command`,
//! `energy_j`, `opps`), `a_cpu_is_busy_until_its_first_switch_says_so` (`busy`),
//! `a_job_is_priced_in_its_window` (`of_job`, `opps`), `what_is_missing_is_said` (remarks of
//! `energy_j`).
//!
//! Callers: crates/cli/src/commands/lab.rs (`of`); crates/fidelity uses cost.rs and waits.rs alone.
//!
//! Tests: crates/price/src/tests.rs, beside its modules

pub mod cost;
pub mod waits;

use cost::{Cost, Guest};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;
use wakeplace_guest::load::LoadResult;
use wakeplace_lab::run::{Request, RunResult, Work};
use wakeplace_platform::{CpuId, PowerUnit};
use wakeplace_trace::read::Line;

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Price {
    /// Of which time, s; none: of no time, and there is nothing else.
    pub window_s: Option<f64>,
    /// CPUs and clusters, J.
    pub cpu_energy_j: Option<f64>,
    /// Tasks whose wake-ups are looked at.
    pub tasks: usize,
    /// How many wake-ups they had.
    pub wakeups: usize,
    /// The wait of a wake-up that half of them do not exceed, us.
    pub wake_latency_us_p50: Option<f64>,
    /// The same of 95 %.
    pub wake_latency_us_p95: Option<f64>,
    /// Of 99 %.
    pub wake_latency_us_p99: Option<f64>,
    /// And the longest.
    pub wake_latency_us_max: Option<f64>,
    /// What the figures assume, and why one is missing; a sentence each.
    pub remarks: Vec<String>,
}

/// Prices a run by its trace.
#[must_use]
pub fn of(result: &RunResult, request: &Request) -> Price {
    let nothing = |why: &str| Price {
        remarks: vec![format!("no energy and no latency: {why}")],
        ..Price::default()
    };
    let Some(trace) = &result.trace else {
        return nothing(
            "the guest's kernel has no tracer of the scheduler (CONFIG_FTRACE, \
             CONFIG_ENABLE_DEFAULT_TRACERS)",
        );
    };
    if trace.lost > 0 {
        let lost = trace.lost;
        return nothing(&format!("the trace lacks {lost} events that did not fit"));
    }
    if trace.cut {
        return nothing("the trace is too large to be read as a whole");
    }
    let Some(run) = Run::of(result, request) else {
        return nothing("the guest did not tell when its tasks ran");
    };
    let waits = waits::all(&trace.text, &run.window_ns, |tid| run.tids.contains(&tid));
    let mut remarks = Vec::new();
    let cpu_energy_j = energy_j(&trace.text, request, &run, &mut remarks);
    let cost = Cost::new(cpu_energy_j, waits.iter().map(waits::Wait::ns).collect());
    Price {
        window_s: Some((run.window_ns.end - run.window_ns.start) as f64 / 1e9),
        cpu_energy_j,
        tasks: run.tids.len(),
        wakeups: waits.len(),
        wake_latency_us_p50: cost.wait_us(50),
        wake_latency_us_p95: cost.wait_us(95),
        wake_latency_us_p99: cost.wait_us(99),
        wake_latency_us_max: cost.wait_us(100),
        remarks,
    }
}

/// What of a run is priced.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    window_ns: Range<u64>,
    tids: BTreeSet<i32>,
    /// Per CPU of the guest: its frequency as the trace begins, kHz; none without cpufreq.
    khz: Vec<Option<u64>>,
}

impl Run {
    /// The price of a run. None: the work had no window in the trace.
    fn of(result: &RunResult, request: &Request) -> Option<Self> {
        match &request.work {
            Work::Job { .. } => Self::of_job(&result.stdout, request.machine.cpus),
            Work::Command(_) => {
                let text = &result.trace.as_ref()?.text;
                Self::of_command(text, result.command_pid?, &result.khz)
            }
        }
    }

    /// The window of a job, from the report of the load program. None: the report does not say.
    fn of_job(stdout: &str, cpus: u32) -> Option<Self> {
        let load: LoadResult = serde_json::from_str(stdout).ok()?;
        let khz = |number| {
            let cpu = load.cpus.iter().find(|cpu| cpu.cpu == number)?;
            cpu.khz_at_window_begin
        };
        Some(Self {
            window_ns: load.window_begin_ns..load.window_end_ns,
            tids: load.tasks.iter().map(|task| task.tid).collect(),
            khz: (0..cpus).map(khz).collect(),
        })
    }

    /// The window of a command: from its start to the end of the trace, of all its threads.
    fn of_command(text: &str, pid: i32, khz: &[Option<u64>]) -> Option<Self> {
        let mut tids = BTreeSet::from([pid]);
        let (mut begin_ns, mut end_ns) = (None, 0);
        for line in text.lines().filter_map(Line::parse) {
            end_ns = line.time_ns;
            if line.name != "sched_process_fork" {
                continue;
            }
            let child = line.number::<i32>("child_pid");
            if child == Some(pid) {
                begin_ns = Some(line.time_ns);
            }
            if line
                .number("pid")
                .is_some_and(|parent| tids.contains(&parent))
            {
                tids.extend(child);
            }
        }
        Some(Self {
            window_ns: begin_ns?..end_ns,
            tids,
            khz: khz.to_vec(),
        })
    }
}

/// The energy of the window, J. None: a remark says why.
fn energy_j(text: &str, request: &Request, run: &Run, remarks: &mut Vec<String>) -> Option<f64> {
    let mut nothing = |why: String| {
        remarks.push(format!("no energy: {why}"));
        None
    };
    let name = &request.machine.name;
    let Some(platform) = &request.machine.platform else {
        return nothing(format!("machine {name} has no power model"));
    };
    if platform.power_unit != PowerUnit::Microwatt {
        return nothing(format!("platform {name} has no powers in watts"));
    }
    let mut cpus = (0..).zip(&platform.cpus).map(|(cpu, _)| cpu);
    if let Some(cpu) = cpus.find(|cpu| platform.idle_states_of(CpuId(*cpu)).next().is_none()) {
        return nothing(format!("platform {name} has no idle state of CPU {cpu}"));
    }
    let Ok(of_guest) = request.machine.platform_cpus(request.arch) else {
        return nothing(format!("platform {name} has other CPUs than the guest"));
    };
    let guest = Guest {
        platform,
        busy: busy(text, &of_guest),
        cpus: of_guest,
    };
    let mut opps = opps(&guest, &run.khz);
    if run.khz.iter().all(Option::is_none) {
        remarks.push(
            "the guest has one frequency: its CPUs are priced at their highest operating point"
                .to_owned(),
        );
    }
    let joules = cost::of_trace(text, &guest, &run.window_ns, &mut opps);
    if joules.is_none() {
        remarks.push(format!(
            "no energy: the trace does not say at which frequency of platform {name} each CPU was"
        ));
    }
    joules
}

/// The operating point of each domain as the trace begins; the highest of one that the guest cannot
/// change.
fn opps(guest: &Guest<'_>, khz: &[Option<u64>]) -> Vec<Option<u16>> {
    let platform = guest.platform;
    let top = |domain: usize| platform.freq_domains[domain].opps.len().checked_sub(1);
    let none = || khz.iter().all(Option::is_none);
    let mut opps = vec![None; platform.freq_domains.len()];
    for (cpu, khz) in guest.cpus.iter().zip(khz) {
        let domain = platform.freq_domain_of(CpuId(*cpu));
        opps[domain] = match khz {
            Some(khz) => cost::opp(platform, domain, *khz),
            None if none() => top(domain).and_then(|at| u16::try_from(at).ok()),
            None => opps[domain],
        };
    }
    opps
}

/// The platform's CPUs that leave a task at their first switch: they are busy until then.
fn busy(text: &str, platform_cpus: &[u32]) -> Vec<u32> {
    let mut seen = BTreeSet::new();
    let mut busy = Vec::new();
    for line in text.lines().filter_map(Line::parse) {
        if line.name != "sched_switch" || !seen.insert(line.context.cpu) {
            continue;
        }
        let leaves_task = line.number::<i32>("prev_pid").is_some_and(|pid| pid != 0);
        let cpu = platform_cpus.get(line.context.cpu as usize);
        busy.extend(cpu.filter(|_| leaves_task));
        if seen.len() == platform_cpus.len() {
            break;
        }
    }
    busy
}

#[cfg(test)]
mod tests;

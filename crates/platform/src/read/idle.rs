//! Idle states (docs/guide/platforms.md, "What the words mean").
//!
//! Called by `read/mod.rs`. Times become ns. POLL of x86: docs/rules/cpuidle.md#poll.
//!
//! What must stay: states stand in the order of the file, shallow before deep, POLL first on x86,
//! as idle governors and metrics use the index; nothing is invented for a state without power.
//! Free: what leaves each file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and
//! words of messages that no test quotes. Tests by part: `idle_states_run_from_shallow_to_deep`
//! (`check_depth`), `idle_states_cover_known_cpus` (`read`, `check_whole_clusters`),
//! `idle_states_have_names` (`read_state`), `power_of_idle_states` (`power`,
//! `cluster_power_at_opps`), builtin.rs::`x86_polls_and_no_other` (`poll_state`).
//!
//! Tests: crates/platform/tests/all/bad_files.rs, crates/platform/tests/all/builtin.rs

use toml::Spanned;

use super::machine::Machine;
use super::provenance::Provenance;
use super::raw::{RawIdle, RawIdlePower};
use super::values::{MAX_CPU_POWER, MAX_POWER, at, us_as_ns};
use crate::arch::Arch;
use crate::error::Flaw;
use crate::{CpuId, FreqDomain, IdleScope, IdleState, PowerUnit};
use wakeplace_text::shorten;

/// Most idle states of a platform; a CPU of Linux has at most ten.
const MAX_IDLE_STATES: usize = 256;

/// What the rules of idle states look at.
pub(super) struct Context<'a> {
    pub(super) machine: &'a Machine<'a>,
    pub(super) domains: &'a [FreqDomain],
    pub(super) unit: PowerUnit,
    pub(super) arch: Arch,
}

/// Reads the `[[idle_state]]` tables.
pub(super) fn read(
    raw: &Spanned<Vec<Spanned<RawIdle>>>,
    context: &Context<'_>,
    provenance: &mut Provenance,
) -> Result<Vec<IdleState>, Flaw> {
    let tables = raw.get_ref();
    if tables.len() > MAX_IDLE_STATES {
        let problem = format!("the platform has {} idle states", tables.len());
        return Err(Flaw::new(
            at(raw),
            problem,
            format!("expected at most {MAX_IDLE_STATES}"),
        ));
    }
    let mut states: Vec<IdleState> = Vec::new();
    if context.arch == Arch::X86 && !tables.iter().any(|table| table.get_ref().polling) {
        states.push(poll_state(context.machine.all()));
    }
    for table in tables {
        let state = read_state(table, context, provenance)?;
        check_depth(table, &states, &state)?;
        states.push(state);
    }
    let is_own = |s: &&IdleState| s.scope == IdleScope::Cpu && !s.polling;
    let has_own = |cpu: &CpuId| states.iter().filter(is_own).any(|s| s.cpus.contains(cpu));
    match context.machine.all().iter().find(|cpu| !has_own(cpu)) {
        Some(cpu) => {
            let problem = format!("CPU {cpu} has no idle state of scope `cpu`");
            Err(Flaw::new(
                at(raw),
                problem,
                "expected at least one, such as `WFI`",
            ))
        }
        None => Ok(states),
    }
}

/// State 0 of both x86 drivers, which no file states and every such machine has: the CPU watches
/// for work in a loop, and draws what a busy one draws (docs/rules/cpuidle.md#poll). Source: Linux
/// 7.3.4 drivers/cpuidle/poll_state.c, `cpuidle_poll_state_init()`.
fn poll_state(cpus: Vec<CpuId>) -> IdleState {
    IdleState {
        name: "POLL".to_owned(),
        scope: IdleScope::Cpu,
        cpus,
        entry_latency_ns: 0,
        exit_latency_ns: 0,
        min_residency_ns: 0,
        polling: true,
        cpu_power: None,
        cluster_power: None,
    }
}

/// One state: its CPUs, times, residency and power.
fn read_state(
    table: &Spanned<RawIdle>,
    context: &Context<'_>,
    provenance: &mut Provenance,
) -> Result<IdleState, Flaw> {
    let raw = table.get_ref();
    let cpus = context.machine.list(&raw.cpus)?;
    let scope = IdleScope::from(raw.scope);
    let name = raw.name.get_ref();
    if !IdleState::is_name(name) {
        let problem = format!("`{}` cannot name an idle state", shorten(name));
        let expected = "expected a name with a letter or digit, such as `WFI`";
        return Err(Flaw::new(at(&raw.name), problem, expected));
    }
    let label = format!("idle state {name} of CPUs {}", raw.cpus.get_ref());
    provenance.note(at(table), label.clone(), &raw.source, raw.standing)?;
    if let Some(power) = &raw.power {
        let (label, inner) = (format!("power in {label}"), power.get_ref());
        provenance.note(at(power), label, &inner.source, inner.standing)?;
    }
    if scope == IdleScope::Cluster {
        check_whole_clusters(table, &cpus, context.machine)?;
    }
    let (cpu_power, cluster_power) = power(table, scope, &cpus, context)?;
    Ok(IdleState {
        name: name.clone(),
        scope,
        cpus,
        entry_latency_ns: us_as_ns(&raw.entry_latency_us, "`entry_latency_us`")?,
        exit_latency_ns: us_as_ns(&raw.exit_latency_us, "`exit_latency_us`")?,
        min_residency_ns: us_as_ns(&raw.min_residency_us, "`min_residency_us`")?,
        polling: raw.polling,
        cpu_power,
        cluster_power,
    })
}

/// A cluster state switches whole clusters off.
fn check_whole_clusters(
    table: &Spanned<RawIdle>,
    cpus: &[CpuId],
    machine: &Machine<'_>,
) -> Result<(), Flaw> {
    for cluster in &machine.clusters {
        let members = cluster.cpus.iter().filter(|cpu| cpus.contains(cpu)).count();
        if members != 0 && members != cluster.cpus.len() {
            let raw = table.get_ref();
            let name = &cluster.name;
            let problem = format!(
                "cluster state `{}` has only a part of cluster `{name}`",
                raw.name.get_ref()
            );
            return Err(Flaw::new(at(&raw.cpus), problem, "expected whole clusters"));
        }
    }
    Ok(())
}

/// Power of a CPU and of a cluster in the state, as far as the platform has power at all.
fn power(
    table: &Spanned<RawIdle>,
    scope: IdleScope,
    cpus: &[CpuId],
    context: &Context<'_>,
) -> Result<(Option<u64>, Option<u64>), Flaw> {
    let (unit, name) = (context.unit, shorten(table.get_ref().name.get_ref()));
    let is_measured = context
        .domains
        .iter()
        .any(|domain| domain.measured.is_some());
    let Some(power) = &table.get_ref().power else {
        if unit == PowerUnit::None || is_measured {
            return Ok((None, None));
        }
        let problem = format!("idle state `{name}` has no power");
        let expected = "expected `power = { ... }`: nothing is invented for an idle state";
        return Err(Flaw::new(at(table), problem, expected));
    };
    if is_measured {
        let problem = format!("idle state `{name}` has a power beside a table `[measured_power]`");
        return Err(Flaw::new(
            at(power),
            problem,
            "expected no `power`: it is measured",
        ));
    }
    let raw: &RawIdlePower = power.get_ref();
    let cpu_power = raw.cpu().value(unit, 0, MAX_CPU_POWER)?;
    let cluster_power = raw.cluster().value(unit, 0, MAX_POWER)?;
    if cpu_power.is_none() {
        let problem = format!("idle state `{name}` has no CPU power");
        let expected = match unit {
            PowerUnit::None => "expected no `power`, since `power_unit` is \"none\"".to_owned(),
            _ => format!("expected {} (0 if it draws nothing)", raw.cpu().key(unit)),
        };
        return Err(Flaw::new(at(power), problem, expected));
    }
    let key = raw.cluster().key(unit);
    let has_cluster_power = |cpu: &CpuId| cluster_power_at_opps(*cpu, context.domains);
    if cluster_power.is_some() && !cpus.iter().all(has_cluster_power) {
        let problem = format!("idle state `{name}` has a cluster power, its clusters' OPPs none");
        return Err(Flaw::new(
            at(power),
            problem,
            format!("expected {key} in `opps` too"),
        ));
    }
    if cluster_power.is_none() && scope == IdleScope::Cluster && cpus.iter().any(has_cluster_power)
    {
        let problem = format!("cluster state `{name}` has no cluster power");
        return Err(Flaw::new(at(power), problem, format!("expected {key}")));
    }
    Ok((cpu_power, cluster_power))
}

/// The CPU's operating points have a power of the cluster, so that its idle states need one, too.
fn cluster_power_at_opps(cpu: CpuId, domains: &[FreqDomain]) -> bool {
    let domain = domains.iter().find(|d| d.cpus.contains(&cpu));
    domain.is_some_and(|d| d.opps[0].cluster_power.is_some())
}

/// Per CPU, each state takes longer to leave and must last longer than the one before it.
fn check_depth(
    table: &Spanned<RawIdle>,
    states: &[IdleState],
    state: &IdleState,
) -> Result<(), Flaw> {
    let raw = table.get_ref();
    for cpu in &state.cpus {
        // Any state in which the CPU halts may follow one that polls.
        let mut own = states.iter().rev().filter(|s| s.cpus.contains(cpu));
        let Some(above) = own.next().filter(|s| !s.polling) else {
            continue;
        };
        let (place, what) = if state.wake_latency_ns() <= above.wake_latency_ns() {
            (at(&raw.exit_latency_us), "entry and exit latency")
        } else if state.min_residency_ns <= above.min_residency_ns {
            (at(&raw.min_residency_us), "residency")
        } else {
            continue;
        };
        let problem = format!(
            "the {what} of `{}` is not above that of `{}` on CPU {cpu}",
            state.name, above.name
        );
        return Err(Flaw::new(
            place,
            problem,
            "expected states from shallow to deep",
        ));
    }
    Ok(())
}

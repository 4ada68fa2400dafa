//! From the text of a platform file to a validated `Platform`.
//!
//! 1. `raw`: TOML and the shape of its tables.
//! 2. `machine`: CPUs and clusters; every later table names CPUs of these.
//! 3. `frequency`, `measured` with `power_table`, `idle`, `topology`, `shared`, `sched_mc`,
//!    `thermal`, `transfer`: one table kind each, with its rules.
//! 4. This file: name, kernel, costs, board, and the order of the steps.
//!
//! See docs/guide/platforms.md, "What the words mean".
//!
//! Reading is pure: same text, same machine.
//!
//! What must stay: a key that is there; a new one is optional, so that old files stay valid. The
//! first flaw in the order of the steps is the one that is told, but all missing keys at once
//! (`missing`). Free: what leaves each file's
//! machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of messages that no
//! test quotes. Tests by part: `names` (`platform_name`), `tick` (`tick_hz`),
//! `costs_are_at_most_a_millisecond`, `costs_of_wake_ups_are_optional` (`costs`), `board`
//! (`read_board`), `keys_and_words` (`from_toml`), shared.rs::`nodes_need_their_figures`
//! (`other_node_ns`), shared.rs::`costs_of_an_artificial_model`,
//! measured.rs::`powers_beside_a_table_are_refused` (`check_model`),
//! measured.rs::`heat_and_limits_need_powers_by_the_own_clock` (`check_shared`). No test of its
//! own: the refusal of `other_name`. `platform` and `freq_domains`: `platform_name` and the others.
//!
//! Callers: builtin.rs and import/mod.rs (`from_toml`).
//!
//! Tests: crates/platform/tests/all

mod clocks;
mod coherence;
mod em_costs;
mod frequency;
mod housekeeping;
mod idle;
mod machine;
mod measured;
mod missing;
mod power_table;
mod provenance;
mod raw;
mod sched_mc;
mod shared;
mod thermal;
mod topology;
mod transfer;
mod values;

use crate::error::{Flaw, PlatformError};
use crate::{
    Board, Costs, FreqDomain, MAX_FILE_BYTES, MeasuredPower, Platform, PowerUnit, Standing,
};
use machine::Machine;
use provenance::Provenance;
use raw::{Int, RawBoard, RawCosts, RawPlatform, Text};
use toml::Spanned;
use values::{MAX_POWER, at, between, cost_ns};
use wakeplace_text::shorten;

/// Highest tick frequency, Hz; the kernel's own choices end at 1000.
const MAX_TICK_HZ: u64 = 10_000;
/// Longest name of `also_known_as`, characters.
const MAX_OTHER_NAME_CHARS: usize = 60;

impl Platform {
    /// Reads and validates a platform description. `file_name` is only used in messages.
    ///
    /// # Errors
    /// The text is too large, is no TOML, or breaks a rule; the message says where.
    pub fn from_toml(text: &str, file_name: &str) -> Result<Self, PlatformError> {
        if text.len() > MAX_FILE_BYTES {
            let file = file_name.to_owned();
            return Err(PlatformError::TooLarge {
                file,
                limit: MAX_FILE_BYTES,
            });
        }
        toml::from_str(text)
            .map_err(|error| missing::flaw(text, &error).unwrap_or_else(|| Flaw::from_toml(&error)))
            .and_then(|raw: RawPlatform| platform(&raw, text))
            .map_err(|flaw| flaw.locate(file_name, text.as_bytes()))
    }
}

/// All tables in the order in which one needs the other.
fn platform(raw: &RawPlatform, text: &str) -> Result<Platform, Flaw> {
    let mut provenance = Provenance::default();
    let unit = PowerUnit::from(*raw.power_unit.get_ref());
    let name = platform_name(&raw.name)?;
    raw.also_known_as.iter().try_for_each(other_name)?;
    let tick_hz = tick_hz(raw, &mut provenance)?;
    let mut machine = Machine::read(&raw.cluster, raw.speed.as_ref(), text, &mut provenance)?;
    let topology = topology::read(&raw.topology, &machine, &mut provenance)?;
    let levels = (&topology[..], at(&raw.topology.get_ref().levels));
    shared::priority(raw.priority.as_ref(), &mut machine, levels, &mut provenance)?;
    let place = (unit, at(&raw.cluster));
    let smt = shared::smt(raw.smt.as_ref(), &machine, place, &mut provenance)?;
    let sched_mc = sched_mc::read(raw.sched_mc.as_ref(), &machine, &mut provenance)?;
    let numa = shared::numa(raw.numa.as_ref(), &machine, place.1, &mut provenance)?;
    topology::check_room(&raw.topology, &topology, numa.as_ref())?;
    let (freq_domains, odd) = freq_domains(raw, text, &machine, &mut provenance)?;
    let context = idle::Context {
        machine: &machine,
        domains: &freq_domains,
        unit,
        arch: raw.arch,
    };
    let idle_states = idle::read(&raw.idle_state, &context, &mut provenance)?;
    let cpufreq = clocks::cpufreq(raw.cpufreq.as_ref(), &mut provenance)?;
    let of_clocks = (&machine, &freq_domains[..], &idle_states[..]);
    let turbo = clocks::turbo(raw.turbo.as_ref(), of_clocks, &mut provenance)?;
    let power_limit = clocks::power_limit(raw.power_limit.as_ref(), unit, &mut provenance)?;
    let costs = costs(&raw.costs, numa.is_some(), &mut provenance)?;
    let board = raw.board.as_ref();
    let board = board.map(|board| read_board(board, unit, &mut provenance));
    let thermal = thermal::read(&raw.thermal, &machine.clusters, unit, &mut provenance)?;
    check_shared(raw, &freq_domains)?;
    let housekeeping = housekeeping::read(raw.housekeeping.as_ref(), &machine, &mut provenance)?;
    let mut platform = Platform {
        name,
        title: raw.title.clone(),
        arch: raw.arch.name().to_owned(),
        tick_hz,
        cpus: machine.cpus,
        clusters: machine.clusters,
        freq_domains,
        idle_states,
        topology,
        numa,
        smt,
        sched_mc,
        cpufreq,
        turbo,
        power_limit,
        costs,
        transfer: None,
        coherence: coherence::read(raw.coherence.as_ref(), &mut provenance)?,
        cache: transfer::cache(raw.cache.as_ref(), &mut provenance)?,
        power_unit: unit,
        has_energy_model: raw.energy_model.is_none(),
        board: board.transpose()?,
        housekeeping,
        thermal,
        provenance: Vec::new(),
        notes: raw.notes.iter().cloned().chain(odd).collect(),
    };
    platform.transfer = transfer::transfer(raw.transfer.as_ref(), &platform, &mut provenance)?;
    platform.provenance = provenance.in_file_order();
    Ok(platform)
}

/// Clocks with their powers, and what was odd about measured ones.
fn freq_domains(
    raw: &RawPlatform,
    text: &str,
    machine: &Machine<'_>,
    provenance: &mut Provenance,
) -> Result<(Vec<FreqDomain>, Vec<String>), Flaw> {
    let unit = PowerUnit::from(*raw.power_unit.get_ref());
    let measured = raw.measured_power.is_some();
    let power = frequency::PowerIs { unit, measured };
    let mut domains = frequency::read(&raw.frequency_domain, machine, power, provenance)?;
    let file = measured::File {
        text,
        machine,
        unit,
    };
    let table = raw.measured_power.as_ref();
    let odd = measured::read(table, &file, &mut domains, provenance)?;
    check_model(raw, &domains)?;
    Ok((domains, odd))
}

/// A kernel that has no energy model has no figures of one.
fn check_model(raw: &RawPlatform, domains: &[FreqDomain]) -> Result<(), Flaw> {
    let Some(none) = &raw.energy_model else {
        let mut opps = domains.iter().flat_map(|domain| &domain.opps);
        return match &raw.measured_power {
            Some(table) if opps.any(|opp| opp.em_power.is_none()) => Err(Flaw::new(
                at(table),
                "measured powers, and not what the kernel believes of them",
                "expected `em_uw` at all operating points, or `energy_model = \"none\"`",
            )),
            _ => Ok(()),
        };
    };
    let stated = |domain: &FreqDomain| {
        let by_power = domain.opps.iter().any(|opp| opp.em_power.is_some());
        by_power || domain.em_costs.is_some()
    };
    match domains.iter().any(stated) {
        true => Err(Flaw::new(
            at(none),
            "figures of an energy model in a file that says there is none",
            "expected no `em_uw` and no `em_costs`, or no `energy_model`",
        )),
        false => Ok(()),
    }
}

/// Heat and what a package may draw are computed of clusters apart.
fn check_shared(raw: &RawPlatform, domains: &[FreqDomain]) -> Result<(), Flaw> {
    let mut measured = domains.iter().filter_map(|domain| domain.measured.as_ref());
    if !measured.any(MeasuredPower::is_shared) {
        return Ok(());
    }
    let heat = raw.thermal.first().map(|zone| ("[[thermal]]", at(zone)));
    let limit = raw.power_limit.as_ref();
    let limit = limit.map(|limit| ("[power_limit]", at(limit)));
    match heat.or(limit) {
        Some((table, place)) => Err(Flaw::new(
            place,
            format!("a table `{table}` beside powers that depend on another cluster's clock"),
            "expected powers by the cluster's own clock (`cpu_1d`), or no such table",
        )),
        None => Ok(()),
    }
}

/// A word in small letters, digits and dashes, as it is typed.
fn platform_name(name: &Text) -> Result<String, Flaw> {
    let text = name.get_ref();
    let valid = text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if valid {
        return Ok(text.clone());
    }
    let problem = format!("`{}` cannot name a platform", shorten(text));
    Err(Flaw::new(
        at(name),
        problem,
        "expected a name such as `juno-r0` (a-z, 0-9, -)",
    ))
}

/// Names of boards and products have letters or digits, by which they are found
/// (`builtin::near`).
fn other_name(name: &Text) -> Result<(), Flaw> {
    let text = name.get_ref();
    let short = text.chars().count() <= MAX_OTHER_NAME_CHARS;
    if short && text.chars().any(char::is_alphanumeric) && !text.chars().any(char::is_control) {
        return Ok(());
    }
    let problem = format!("`{}` is no name of a machine", shorten(text));
    Err(Flaw::new(
        at(name),
        problem,
        "expected a name such as `Pixel 6`",
    ))
}

/// The scheduler tick's frequency.
fn tick_hz(raw: &RawPlatform, provenance: &mut Provenance) -> Result<u32, Flaw> {
    let kernel = raw.kernel.get_ref();
    provenance.note(
        at(&raw.kernel),
        "kernel".into(),
        &kernel.source,
        kernel.standing,
    )?;
    let hz = between(&kernel.tick_hz, 1, MAX_TICK_HZ, "`tick_hz`", "Hz")?;
    Ok(u32::try_from(hz).expect("MAX_TICK_HZ fits"))
}

/// Reads the cost of a move to another node. A machine of several nodes says what a move between
/// them costs, and no other does.
fn other_node_ns(raw: &Spanned<RawCosts>, nodes: bool) -> Result<Option<u64>, Flaw> {
    let key = "`migrate_other_node_ns`";
    match (&raw.get_ref().migrate_other_node_ns, nodes) {
        (Some(value), true) => Ok(Some(cost_ns(value, key)?)),
        (None, false) => Ok(None),
        (Some(value), false) => {
            let problem = format!("{key} is given for a machine of one node");
            Err(Flaw::new(at(value), problem, "expected no such key"))
        }
        (None, true) => {
            let problem = "what a move to another node costs is not given";
            Err(Flaw::new(at(raw), problem, format!("expected {key}")))
        }
    }
}

/// What the kernel's own work takes; what is absent is not modelled.
fn costs(raw: &Spanned<RawCosts>, nodes: bool, provenance: &mut Provenance) -> Result<Costs, Flaw> {
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "costs".into(), &table.source, table.standing)?;
    // Absent: the platform does not model it.
    let optional = |cost: &Option<Int>, what| cost.as_ref().map_or(Ok(0), |ns| cost_ns(ns, what));
    Ok(Costs {
        context_switch_ns: cost_ns(&table.context_switch_ns, "`context_switch_ns`")?,
        wakeup_ns: cost_ns(&table.wakeup_ns, "`wakeup_ns`")?,
        ipi_ns: cost_ns(&table.ipi_ns, "`ipi_ns`")?,
        tick_ns: cost_ns(&table.tick_ns, "`tick_ns`")?,
        fork_ns: cost_ns(&table.fork_ns, "`fork_ns`")?,
        migrate_shared_cache_ns: cost_ns(
            &table.migrate_shared_cache_ns,
            "`migrate_shared_cache_ns`",
        )?,
        migrate_other_cache_ns: cost_ns(&table.migrate_other_cache_ns, "`migrate_other_cache_ns`")?,
        migrate_other_node_ns: other_node_ns(raw, nodes)?,
        scan_cpu_ns: cost_ns(&table.scan_cpu_ns, "`scan_cpu_ns`")?,
        publish_ns: optional(&table.publish_ns, "`publish_ns`")?,
        lock_hold_ns: optional(&table.lock_hold_ns, "`lock_hold_ns`")?,
        lock_shared_cache_ns: optional(&table.lock_shared_cache_ns, "`lock_shared_cache_ns`")?,
        lock_other_cache_ns: optional(&table.lock_other_cache_ns, "`lock_other_cache_ns`")?,
        switch_out_ns: optional(&table.switch_out_ns, "`switch_out_ns`")?,
        source,
    })
}

/// The power of the rest of the board: only beside powers in watts.
fn read_board(
    raw: &Spanned<RawBoard>,
    unit: PowerUnit,
    provenance: &mut Provenance,
) -> Result<Board, Flaw> {
    let table = raw.get_ref();
    let source = provenance.note(at(raw), "board".into(), &table.source, table.standing)?;
    if unit != PowerUnit::Microwatt {
        let problem = "a platform without power in watts has a board power";
        return Err(Flaw::new(at(raw), problem, "expected no `[board]` table"));
    }
    let power_uw = between(&table.power_uw, 0, MAX_POWER, "`power_uw`", "uW")?;
    let calibrated = source.standing == Standing::Calibrated;
    match &table.calibrated_on {
        None if calibrated => Err(Flaw::new(
            at(raw),
            "the board power is calibrated but does not say on what",
            "expected `calibrated_on = \"STUDY/CASE/POLICY\"`",
        )),
        Some(cell) if !calibrated => Err(Flaw::new(
            at(cell),
            "`calibrated_on` is given for a figure that is not calibrated",
            "expected `standing = \"calibrated\"`, or no `calibrated_on`",
        )),
        cell => {
            let calibrated_on = cell.as_ref().map(|c| c.get_ref().clone());
            Ok(Board {
                power_uw,
                source,
                calibrated_on,
            })
        }
    }
}

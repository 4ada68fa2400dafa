//! LISA's energy model as its `plat_info` files have it. LISA 2 and later write the object out
//! (`lisa.energy_model.EnergyModel`): a node per CPU with the capacity and power of each frequency
//! and the power of each idle state, nodes of clusters above them with the power of the cluster
//! beside its CPUs, and parents that point back at their children. Board files of LISA 1 have the
//! capacity of a big and of a little CPU (`nrg_model`). See docs/guide/import.md, "What is read".
//!
//! Called by `lisa.rs`. Clocks are kHz.
//!
//! What must stay: powers keep the file's scale, which nobody knows, so that no joules come of
//! them; a model that cannot be used is said, a wrong one refused, none guessed. Free: what leaves
//! the files of imports as they are (ARCHITECTURE.md, "What a change may touch"), and words of
//! messages that no test quotes. Tests by part: `an_energy_model_of_lisa` (`read`, `active_states`,
//! `points`, `power`, what is refused), `parts_of_a_plat_info_that_are_pickled` (`is_written_out`),
//! `capacities_of_an_energy_model_may_be_fractions` (`whole`), `a_board_file_of_lisa_1`
//! (`of_kinds`, `count`), the first also `entries`, `khz`, `capacity_and_power` and `only_entry`.
//!
//! Tests: crates/platform/tests/all/import/mod.rs

mod clusters;
mod idle;

use super::found::{Origin, Point, Scale};
use super::yaml::Yaml;
use crate::MAX_CPUS;
use clusters::Cluster;

/// Highest frequency that is believed, kHz (20 GHz).
const MAX_KHZ: u64 = 20_000_000;
/// Most operating points of a CPU.
const MAX_POINTS: usize = 4096;
/// Highest power that is believed, in whatever unit.
const MAX_POWER: u64 = 1_000_000_000;

/// An operating point of a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    khz: u32,
    capacity: u64,
    power: u64,
}

/// What is read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NrgModel {
    /// At the highest frequency, of each CPU in the order of their numbers.
    pub(super) capacity: Vec<u64>,
    /// Of each CPU, by frequency; empty: the model has none.
    states: Vec<Vec<State>>,
    /// Of each CPU, name and power of its idle states from shallow to deep.
    idle: Vec<Vec<(String, u64)>>,
    /// No CPU is in two of them.
    clusters: Vec<Cluster>,
}

/// Reads the model of a file, if it has one that can be read.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(
    root: &Yaml,
    conf: &Yaml,
    said: &mut Vec<String>,
) -> Result<Option<NrgModel>, String> {
    if let (Some(kinds), Some(board)) = (root.get("nrg_model"), root.get("board")) {
        said.push(
            "power left out: `nrg_model` has that of the highest frequency, without the frequency"
                .to_owned(),
        );
        return of_kinds(kinds, board).map(Some);
    }
    let Some(model) = conf.get("nrg-model") else {
        return Ok(None);
    };
    let nodes = model.get("cpu_nodes").and_then(Yaml::list);
    let Some(nodes) = nodes.filter(|_| is_written_out(model)) else {
        said.push(
            "`nrg-model` is left out: it is an object or a pickle of a Python program, which is \
             not run, and its figures are not written out as LISA's `to_yaml_map` does; \
             --energy-model takes the kernel's"
                .to_owned(),
        );
        return Ok(None);
    };
    if nodes.is_empty() || nodes.len() > MAX_CPUS {
        let found = nodes.len();
        return Err(format!("`nrg-model` has {found} nodes of CPUs"));
    }
    let mut states = vec![Vec::new(); nodes.len()];
    let mut idle = vec![Vec::new(); nodes.len()];
    for node in nodes {
        let cpu = node.get("cpu").and_then(Yaml::number);
        let cpu = cpu.and_then(|cpu| usize::try_from(cpu).ok());
        let free = |cpu: &usize| states.get(*cpu).is_some_and(Vec::is_empty);
        let cpu = cpu.filter(free).ok_or(format!(
            "a node of `nrg-model` has no `cpu` of its own, 0 to {}",
            nodes.len() - 1
        ))?;
        states[cpu] = active_states(node)
            .ok_or_else(|| format!("`active_states` of CPU {cpu} in `nrg-model`"))?;
        idle[cpu] = idle::states(node)
            .ok_or_else(|| format!("`idle_states` of CPU {cpu} in `nrg-model`"))?;
    }
    said.push("power from `nrg-model`, in a unit of its own".to_owned());
    let clusters = clusters::read(model, nodes.len(), said)?;
    let highest = |states: &Vec<State>| states.iter().map(|state| state.capacity).max();
    Ok(Some(NrgModel {
        capacity: states.iter().filter_map(highest).collect(),
        states,
        idle,
        clusters,
    }))
}

impl NrgModel {
    /// The points of a clock; None: the model has none.
    ///
    /// # Errors
    /// Its CPUs differ.
    pub(super) fn points(&self, cpus: &[u16]) -> Result<Option<Vec<Point>>, String> {
        let of = |cpu: &u16| self.states.get(usize::from(*cpu));
        let Some(first) = cpus.first().and_then(of) else {
            return Ok(None);
        };
        if cpus.iter().any(|cpu| of(cpu) != Some(first)) {
            return Err(format!(
                "`nrg-model` has different points for the CPUs {cpus:?} of one clock"
            ));
        }
        let cluster = self.cluster_of(cpus).map(|cluster| &cluster.busy);
        let point = |(at, state): (usize, &State)| Point {
            khz: state.khz,
            mv: None,
            power: Some(state.power),
            cluster_power: cluster.map(|busy| busy[at].1),
        };
        Ok(Some(first.iter().enumerate().map(point).collect()))
    }

    /// What the powers are in: LISA reads milliwatts, microwatts or a board's own unit, and keeps
    /// no word on which.
    pub(super) fn power(place: &str) -> (Scale, Origin) {
        let from = Origin::stated(format!("{place}: nrg-model, in a unit of its own"));
        (Scale::Abstract, from)
    }
}

/// CPUs that the file's own lists of them leave open: nodes of the model, or cores of a board.
pub(super) fn count(root: &Yaml, conf: &Yaml) -> Option<usize> {
    let nodes = conf.get("nrg-model").and_then(|m| m.get("cpu_nodes"));
    let cores = root.get("board").and_then(|board| board.get("cores"));
    nodes.or(cores).and_then(Yaml::list).map(<[Yaml]>::len)
}

/// Whether every node that has powers has them as maps of plain figures.
fn is_written_out(value: &Yaml) -> bool {
    let plain = |value: &Yaml| matches!(value, Yaml::Scalar(_) | Yaml::Nothing);
    let pair = |(_, values): (&String, &Yaml)| match capacity_and_power(values) {
        Some((capacity, power)) => plain(capacity) && plain(power),
        None => false,
    };
    let own = match value.get("active_states") {
        None | Some(Yaml::Nothing) => true,
        Some(states) => entries(states).is_some_and(|states| states.into_iter().all(pair)),
    };
    own && match value {
        Yaml::Map(map) => map
            .iter()
            .all(|(key, value)| key == "active_states" || is_written_out(value)),
        Yaml::List(items) => items.iter().all(is_written_out),
        Yaml::Scalar(_) | Yaml::Nothing => true,
    }
}

/// The entries of an ordered map; YAML writes one as a list of maps with one key each.
fn entries(map: &Yaml) -> Option<Vec<(&String, &Yaml)>> {
    let entries: Vec<(&String, &Yaml)> = match map {
        Yaml::Map(map) => map.iter().collect(),
        Yaml::List(maps) => maps.iter().map(only_entry).collect::<Option<_>>()?,
        _ => return None,
    };
    (entries.len() <= MAX_POINTS).then_some(entries)
}

/// A frequency from a key of the map; `None` if it is none that a file may have.
fn khz(text: &str) -> Option<u32> {
    let khz = text.parse().ok().filter(|khz| (1..=MAX_KHZ).contains(khz));
    khz.map(|khz: u64| khz as u32)
}

/// Capacity and power by frequency.
fn active_states(node: &Yaml) -> Option<Vec<State>> {
    let entries = entries(node.get("active_states")?)?;
    let state = |(text, values): (&String, &Yaml)| {
        let (capacity, power) = capacity_and_power(values)?;
        Some(State {
            khz: khz(text)?,
            capacity: capacity.whole().filter(|c| (1..=1 << 20).contains(c))?,
            power: power.whole().filter(|p| (1..=MAX_POWER).contains(p))?,
        })
    };
    let mut states: Vec<State> = entries.into_iter().map(state).collect::<Option<_>>()?;
    states.sort_by_key(|state| state.khz);
    let twice = states.windows(2).any(|pair| pair[0].khz == pair[1].khz);
    (!twice && !states.is_empty()).then_some(states)
}

/// A tuple, or an object with names.
fn capacity_and_power(values: &Yaml) -> Option<(&Yaml, &Yaml)> {
    match values {
        Yaml::List(pair) => Some((pair.first()?, pair.get(1)?)),
        map => Some((map.get("capacity")?, map.get("power")?)),
    }
}

/// The entry of a map that has one.
fn only_entry(map: &Yaml) -> Option<(&String, &Yaml)> {
    match map {
        Yaml::Map(entries) if entries.len() == 1 => entries.iter().next(),
        _ => None,
    }
}

/// `board.cores` names the kind of each CPU, and `board.big_core` which of them is the big one.
fn of_kinds(kinds: &Yaml, board: &Yaml) -> Result<NrgModel, String> {
    let capacity = |kind: &str| {
        let cpu = kinds.get(kind).and_then(|kind| kind.get("cpu"));
        let capacity = cpu
            .and_then(|cpu| cpu.get("cap_max"))
            .and_then(Yaml::number);
        capacity
            .filter(|c| (1..=1 << 20).contains(c))
            .ok_or_else(|| format!("no `cap_max` of a {kind} CPU in `nrg_model`"))
    };
    let big = board.get("big_core").and_then(Yaml::text);
    let cores = board.get("cores").and_then(Yaml::list).unwrap_or_default();
    let of = |core: &Yaml| match big.is_none() || core.text() == big {
        true => capacity("big"),
        false => capacity("little"),
    };
    let capacity: Vec<u64> = cores.iter().map(of).collect::<Result<_, _>>()?;
    match capacity.is_empty() || capacity.len() > MAX_CPUS {
        true => Err(format!("`board` has {} cores", capacity.len())),
        false => Ok(NrgModel {
            capacity,
            states: Vec::new(),
            idle: Vec::new(),
            clusters: Vec::new(),
        }),
    }
}

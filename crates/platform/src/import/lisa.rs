//! A machine out of LISA's `plat_info` (lisa.platforms.platinfo.PlatformInfo): capacities,
//! frequency domains, frequencies, and the kernel's tick (docs/guide/import.md, "What is read").
//!
//! Called by `import/mod.rs`. Clocks are kHz.
//!
//! What must stay: nothing of a pickle is run: parts that are Python objects are passed over and
//! said; keys and forms are LISA's, of both its versions; numbers of CPUs are of bounded range.
//! Free: what leaves the files of imports as they are (ARCHITECTURE.md, "What a change may touch"),
//! and words of messages that no test quotes. Tests by part: `a_plat_info_of_lisa` (`domains`,
//! `freqs`, `tick_hz`, `named`, `divided`), `parts_of_a_plat_info_that_are_pickled` (`parts`),
//! `an_energy_model_of_lisa` (`clocks`, `idle`), `a_board_file_of_lisa_1` (`cpu_count`),
//! hostile.rs::`a_plat_info_of_too_many_cpus` (`cpu_count`),
//! architectures.rs::`other_instruction_sets_are_refused` (`abi`),
//! archives.rs::`other_descriptions_of_machines` (`refused`). `read`, `found`, `capacities`,
//! `clusters`, `part`, `text`, `wrong`: the first three.
//!
//! Tests: crates/platform/tests/all/import

use super::found::{Clock, Found, FoundCpu, FoundIdle, Origin, Point};
use super::nrg_model::{self, NrgModel};
use super::yaml::{self, Yaml};
use super::{ImportError, refused};
use crate::MAX_CPUS;
use crate::arch::Arch;
use crate::given::Given;
use crate::sysfs::partition::Partition;
use crate::sysfs::quoted;
use crate::sysfs::topology::Parts;
use std::collections::BTreeMap;

/// Highest frequency that is believed, kHz (20 GHz).
const MAX_KHZ: u64 = 20_000_000;
/// Most frequencies of a CPU.
const MAX_FREQS: usize = 4096;

/// Reads the file.
pub(super) fn read(
    bytes: &[u8],
    file: &str,
    place: &str,
    said: &mut Vec<String>,
) -> Result<Found, ImportError> {
    // Only what cannot be read is looked at: a file of LISA may begin as another one does.
    let refused = || refused(bytes, file, Given::PlatInfo);
    let text = std::str::from_utf8(bytes).map_err(|_| {
        let wrong = || ImportError::wrong(file, "bytes that are no text", "LISA's plat_info");
        refused().unwrap_or_else(wrong)
    })?;
    let root = yaml::read(text).map_err(|error| {
        let at = format!("{file}:{}:{}", error.line, error.column);
        let problem = wakeplace_text::shorten(&error.problem);
        let wrong = || ImportError::wrong(&at, problem, "LISA's plat_info, a file in YAML");
        refused().unwrap_or_else(wrong)
    })?;
    let info = root.get("platform-info").unwrap_or(&root);
    let conf = info.get("conf").unwrap_or(info);
    let count = cpu_count(conf).or_else(|| nrg_model::count(&root, conf));
    let count = count.filter(|count| (1..=MAX_CPUS).contains(count));
    let Some(count) = count else {
        let expected = format!("`cpus-count`, 1 to {MAX_CPUS}, below platform-info and conf");
        let wrong = || ImportError::wrong(file, "no number of CPUs", expected);
        return Err(refused().unwrap_or_else(wrong));
    };
    let expected = "a node for each CPU, with `active_states`: capacity and power by frequency";
    let model = nrg_model::read(&root, conf, said)
        .and_then(|model| match model {
            Some(model) if model.capacity.len() != count => {
                let found = model.capacity.len();
                Err(format!(
                    "{count} CPUs, and {found} of them in the energy model"
                ))
            }
            model => Ok(model),
        })
        .map_err(|problem| ImportError::wrong(file, problem, expected))?;
    let view = View {
        conf,
        parts: parts(conf, said),
        file,
        place,
        count,
        model,
    };
    view.found(said)
}

/// As stated, else as many as the frequency domains or capacities name.
fn cpu_count(conf: &Yaml) -> Option<usize> {
    if let Some(count) = conf.get("cpus-count").and_then(Yaml::number) {
        return usize::try_from(count).ok();
    }
    let domains = conf.get("freq-domains").and_then(Yaml::list)?;
    let cpus = domains
        .iter()
        .filter_map(Yaml::list)
        .flatten()
        .filter_map(Yaml::number);
    usize::try_from(cpus.max()?.checked_add(1)?).ok()
}

/// The parts that are read beside `nrg-model`.
const PARTS: [&str; 5] = [
    "cpu-capacities",
    "freq-domains",
    "freqs",
    "clusters",
    "topology",
];

/// The parts that are written out. LISA writes empty maps for what it does not know.
fn parts(conf: &Yaml, said: &mut Vec<String>) -> BTreeMap<&'static str, Yaml> {
    let mut parts = BTreeMap::new();
    for key in PARTS {
        match conf.get(key) {
            None | Some(Yaml::Nothing) => {}
            Some(Yaml::Map(map)) if map.is_empty() => {}
            Some(value) if value.is_written_out() => {
                parts.insert(key, value.clone());
            }
            Some(_) => said.push(format!(
                "`{key}` is left out: it is an object or a pickle of a Python program, which is \
                 not run"
            )),
        }
    }
    parts
}

struct View<'a> {
    conf: &'a Yaml,
    parts: BTreeMap<&'static str, Yaml>,
    file: &'a str,
    place: &'a str,
    count: usize,
    model: Option<NrgModel>,
}

impl View<'_> {
    /// A part of the file that is written out.
    fn part(&self, key: &str) -> Option<&Yaml> {
        self.parts.get(key)
    }

    /// The source of a figure, for the file's provenance.
    fn text(&self, key: &str) -> String {
        format!("{}: {key}", self.place)
    }

    /// The file says what cannot be.
    fn wrong(&self, problem: String, expected: &str) -> ImportError {
        ImportError::wrong(self.file, problem, expected)
    }

    /// All that the file says, CPU by CPU; `said` hears what it lacks.
    fn found(&self, said: &mut Vec<String>) -> Result<Found, ImportError> {
        let (capacity, capacity_from) = self.capacities(said)?;
        let domains = self.domains(said)?;
        let (clusters, parts_from) = self.clusters(&domains, said)?;
        let cpus = (0u32..)
            .zip(&capacity)
            .map(|(number, capacity)| FoundCpu {
                number,
                kind: None,
                capacity: *capacity,
                package: 0,
            })
            .collect();
        let singles = Partition::singles(self.count);
        let one = Partition::of_labels(&vec![0; self.count]);
        let rtapp = self.conf.get("rtapp");
        if rtapp.is_some_and(|value| !matches!(value, Yaml::Map(map) if map.is_empty())) {
            said.push("`rtapp` is not read: calibrations are rt-app's own".to_owned());
        }
        if self
            .conf
            .get("numa-nodes-count")
            .and_then(Yaml::number)
            .is_some_and(|n| n > 1)
        {
            said.push("one node: the file has no distances of its several ones".to_owned());
        }
        let arch = self.conf.get("abi").and_then(Yaml::text).map(|abi| {
            Arch::of(abi)
                .ok_or_else(|| self.wrong(format!("abi {}", quoted(abi)), &Arch::expected()))
        });
        let arch = arch.transpose()?;
        Ok(Found {
            title: self
                .conf
                .get("name")
                .and_then(Yaml::text)
                .map(str::to_owned),
            arch: arch.map(|arch| (arch, Origin::stated(self.text("abi")))),
            tick_hz: self.tick_hz(),
            cpus,
            capacity_from,
            speed: None,
            parts: Parts {
                smt: singles.clone(),
                cluster: clusters.clone(),
                llc: clusters,
                package: one.clone(),
                node: one,
            },
            parts_from,
            distances: Vec::new(),
            reclaim_distance: None,
            distances_from: None,
            rank: None,
            idle: self.idle(&domains, said)?,
            clocks: self.clocks(domains)?,
            notes: Vec::new(),
        })
    }

    /// The tick, of the file's kernel configuration.
    fn tick_hz(&self) -> Option<(u32, Origin)> {
        let config = self.conf.get("kernel")?.get("config")?;
        let text = config.get("text").and_then(Yaml::text).unwrap_or_default();
        let stated = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("CONFIG_HZ="));
        let stated = stated.or_else(|| config.get("CONFIG_HZ").and_then(Yaml::text));
        let hz = stated?
            .trim()
            .parse()
            .ok()
            .filter(|hz| (1..=10_000).contains(hz))?;
        Some((hz, Origin::stated(self.text("kernel config, CONFIG_HZ"))))
    }

    /// Capacities by `cpu-capacities`, else by the energy model, else 1024 for all.
    fn capacities(&self, said: &mut Vec<String>) -> Result<(Vec<u64>, Origin), ImportError> {
        let stated = self.part("cpu-capacities");
        let table = stated.and_then(|table| table.get("orig")).or(stated);
        let Some(table) = table else {
            if let Some(model) = &self.model {
                let from = Origin::stated(self.text("nrg-model"));
                return Ok((model.capacity.clone(), from));
            }
            said.push("capacity 1024 for all CPUs: the file has none".to_owned());
            let from =
                Origin::assumed(self.text("no cpu-capacities: all CPUs are taken for alike"));
            return Ok((vec![1024; self.count], from));
        };
        let of = |cpu: usize| {
            let found = match table {
                Yaml::List(list) => list.get(cpu),
                _ => table.get(&cpu.to_string()),
            };
            let found = found
                .and_then(Yaml::number)
                .filter(|c| (1..=1024).contains(c));
            found.ok_or_else(|| {
                let problem = format!("no capacity of CPU {cpu} in `cpu-capacities`");
                self.wrong(problem, "1 to 1024 for each CPU")
            })
        };
        let capacity = (0..self.count).map(of).collect::<Result<_, _>>()?;
        Ok((capacity, Origin::stated(self.text("cpu-capacities"))))
    }

    /// Lists of CPUs that divide them; CPUs of none are alone.
    fn divided(&self, lists: &[&Yaml], key: &str) -> Result<Vec<Vec<u16>>, ImportError> {
        let mut seen = vec![false; self.count];
        let mut divided = Vec::new();
        for list in lists {
            let mut cpus = Vec::new();
            for item in list.list().unwrap_or_default() {
                let cpu = item.number().and_then(|cpu| usize::try_from(cpu).ok());
                match cpu.filter(|cpu| *cpu < self.count && !seen[*cpu]) {
                    Some(cpu) => {
                        seen[cpu] = true;
                        cpus.push(cpu as u16);
                    }
                    None => {
                        let problem = format!("a list of `{key}` has {item:?}");
                        let problem = wakeplace_text::shorten(&problem);
                        return Err(self.wrong(problem, "each CPU in one list, by its number"));
                    }
                }
            }
            cpus.sort_unstable();
            if !cpus.is_empty() {
                divided.push(cpus);
            }
        }
        let alone = (0u16..).zip(&seen).filter(|(_, seen)| !**seen);
        divided.extend(alone.map(|(cpu, _)| vec![cpu]));
        divided.sort();
        Ok(divided)
    }

    /// Which CPUs share a clock.
    fn domains(&self, said: &mut Vec<String>) -> Result<Vec<Vec<u16>>, ImportError> {
        let of_model = self
            .conf
            .get("nrg-model")
            .and_then(|m| m.get("freq_domains"));
        let stated = self.part("freq-domains").or(of_model);
        match (stated.and_then(Yaml::list), self.named()) {
            (Some(lists), _) => self.divided(&lists.iter().collect::<Vec<_>>(), "freq-domains"),
            (None, Some(lists)) => {
                said.push("one clock per cluster: the file has no freq-domains".to_owned());
                self.divided(&lists, "clusters")
            }
            (None, None) => self.divided(&[], "freq-domains"),
        }
    }

    /// Clusters, where the file names them.
    fn named(&self) -> Option<Vec<&Yaml>> {
        let topology = self.part("topology").and_then(|t| t.get("clusters"));
        match (self.part("clusters"), topology) {
            (Some(Yaml::Map(entries)), _) => Some(entries.values().collect()),
            (_, Some(Yaml::List(lists))) => Some(lists.iter().collect()),
            _ => None,
        }
    }

    /// Which CPUs are a cluster: by name, else by the energy model, else by clock.
    fn clusters(
        &self,
        domains: &[Vec<u16>],
        said: &mut Vec<String>,
    ) -> Result<(Partition, Origin), ImportError> {
        let label =
            |groups: &[Vec<u16>]| Partition::of_lists(self.count, groups.iter().map(Vec::as_slice));
        if let Some(lists) = self.named() {
            let groups = self.divided(&lists, "clusters")?;
            return Ok((label(&groups), Origin::stated(self.text("clusters"))));
        }
        let of_model: Vec<&[u16]> = self.model.iter().flat_map(NrgModel::clusters).collect();
        if !of_model.is_empty() {
            let groups = Partition::of_lists(self.count, of_model);
            return Ok((groups, Origin::stated(self.text("nrg-model, its clusters"))));
        }
        said.push(
            "clusters, each with a cache: the CPUs of one clock, since the file says no more"
                .to_owned(),
        );
        let text = self.text("the CPUs of one clock are taken to be a cluster with a cache");
        Ok((label(domains), Origin::assumed(text)))
    }

    /// Frequency domains with their points; powers by the energy model.
    fn clocks(&self, domains: Vec<Vec<u16>>) -> Result<Vec<Clock>, ImportError> {
        let mut clocks = Vec::new();
        for cpus in domains {
            let of_model = self.model.as_ref().map(|model| model.points(&cpus));
            let of_model = of_model.transpose().map_err(|problem| {
                self.wrong(
                    problem,
                    "the same frequencies and powers for CPUs of a clock",
                )
            })?;
            if let Some(points) = of_model.flatten() {
                let of_clusters = points.iter().any(|point| point.cluster_power.is_some());
                let from = Origin::stated(self.text("nrg-model"));
                clocks.push(Clock {
                    cluster_from: of_clusters.then(|| from.clone()),
                    points_from: Some(from),
                    points,
                    cpus,
                    power: Some(NrgModel::power(self.place)),
                    latency_ns: None,
                });
                continue;
            }
            let khz = self.freqs(&cpus)?;
            let point = |khz: u32| Point {
                khz,
                ..Point::default()
            };
            clocks.push(Clock {
                points_from: (!khz.is_empty()).then(|| Origin::stated(self.text("freqs"))),
                points: khz.into_iter().map(point).collect(),
                cpus,
                ..Clock::default()
            });
        }
        Ok(clocks)
    }

    /// The states that the energy model names.
    fn idle(
        &self,
        domains: &[Vec<u16>],
        said: &mut Vec<String>,
    ) -> Result<Vec<FoundIdle>, ImportError> {
        let of = |model: &NrgModel| {
            let of_clock = |cpus: &Vec<u16>| model.idle(cpus, self.place);
            let lists: Result<Vec<_>, String> = domains.iter().map(of_clock).collect();
            lists.map(|lists| lists.concat())
        };
        if let Some(model) = &self.model {
            said.extend(domains.iter().filter_map(|cpus| model.left_out(cpus)));
        }
        let idle = self.model.as_ref().map_or(Ok(Vec::new()), of);
        let expected = "the same idle states for CPUs of a clock";
        let idle = idle.map_err(|problem| self.wrong(problem, expected))?;
        if !idle.is_empty() {
            said.push(
                "times of idle states: Juno r0's, since a file of LISA has their names and powers \
                 only"
                    .to_owned(),
            );
        }
        Ok(idle)
    }

    /// Frequencies by any CPU of the clock, or by the name of the cluster that has its first one.
    fn freqs(&self, cpus: &[u16]) -> Result<Vec<u32>, ImportError> {
        let table = self.part("freqs");
        let by_cpu = cpus.iter().find_map(|cpu| table?.get(&cpu.to_string()));
        let of_cluster = || {
            let Some(Yaml::Map(entries)) = self.part("clusters") else {
                return None;
            };
            let has = |list: &Yaml| {
                let mut numbers = list
                    .list()
                    .unwrap_or_default()
                    .iter()
                    .filter_map(Yaml::number);
                numbers.any(|cpu| cpu == u64::from(cpus[0]))
            };
            let (name, _) = entries.iter().find(|(_, list)| has(list))?;
            table?.get(name)
        };
        let mut khz = Vec::new();
        let list = by_cpu
            .or_else(of_cluster)
            .and_then(Yaml::list)
            .unwrap_or_default();
        for item in list.iter().take(MAX_FREQS) {
            match item.number().filter(|khz| (1..=MAX_KHZ).contains(khz)) {
                Some(value) => khz.push(value as u32),
                None => {
                    let problem = wakeplace_text::shorten(&format!("{item:?} in `freqs`"));
                    return Err(self.wrong(problem, "frequencies of 1 to 20000000 kHz"));
                }
            }
        }
        khz.sort_unstable();
        khz.dedup();
        Ok(khz)
    }
}

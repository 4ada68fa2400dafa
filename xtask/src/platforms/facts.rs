//! The collected facts of a machine as written: JSON of schema `sched-platform/1`. Units are in the
//! key names; what nobody knows is null.

use serde::Deserialize;
use serde_json::Value;

/// One machine.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) arch: String,
    pub(super) cpus: Vec<Cpu>,
    pub(super) clusters: Vec<Cluster>,
    pub(super) freq_domains: Vec<Domain>,
    #[serde(default)]
    pub(super) freq_limits: Vec<Limits>,
    pub(super) idle_states: Vec<Idle>,
    /// A second table of the same machine, of the kernel a series was measured on.
    #[serde(default)]
    pub(super) idle_states_2011: Vec<Idle>,
    pub(super) sched_topology: Vec<Level>,
    pub(super) numa: Numa,
    pub(super) legacy_eas: Option<Value>,
    pub(super) vendor_eas: Option<Vendor>,
    pub(super) intel_hybrid: Option<Hybrid>,
    pub(super) prefcore: Option<Value>,
    /// Field, standing, source.
    pub(super) provenance: Vec<(String, String, String)>,
    pub(super) notes: Vec<String>,
    /// Made from another machine's facts, and how.
    #[serde(skip)]
    pub(super) form: Form,
}

/// What a file says of the facts it is made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// All of them, as they are.
    #[default]
    Whole,
    /// One thread per core: what the kernel makes of a hybrid machine without SMT.
    OneThread,
    /// The second table of idle states.
    SecondIdleTable,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Cpu {
    pub(super) id: u32,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) capacity: u32,
    pub(super) capacity_dmips_mhz: Option<u64>,
    pub(super) core: u32,
    pub(super) thread: u32,
    pub(super) package: u32,
    pub(super) node: u32,
    pub(super) llc: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Cluster {
    pub(super) cpus: Vec<u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Domain {
    pub(super) cpus: Vec<u32>,
    pub(super) max_khz: u64,
    pub(super) transition_latency_us: Option<f64>,
    pub(super) dynamic_power_coefficient: Option<u64>,
    pub(super) opps: Vec<Opp>,
    pub(super) opp_source: Option<String>,
    pub(super) power_source: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Opp {
    pub(super) khz: u64,
    pub(super) mv: Option<u64>,
    pub(super) power_uw: Option<u64>,
    /// Not counted in the capacity: only while other CPUs sleep.
    #[serde(default)]
    pub(super) turbo: bool,
}

/// Limits of a clock whose operating points nobody published.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Limits {
    pub(super) cpus: Vec<u32>,
    pub(super) min_khz: Option<u64>,
    pub(super) base_khz: Option<u64>,
    pub(super) max_khz: Option<u64>,
    pub(super) source: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Idle {
    pub(super) name: String,
    pub(super) scope: String,
    /// Absent: all.
    #[serde(default)]
    pub(super) cpus: Vec<u32>,
    pub(super) entry_us: Option<u64>,
    pub(super) exit_us: Option<u64>,
    /// Entry and exit together, as cpuidle sees it.
    pub(super) exit_latency_us: Option<u64>,
    pub(super) min_residency_us: Option<u64>,
    pub(super) source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Level {
    pub(super) level: String,
    /// None at NUMA levels: they follow from the distances.
    #[serde(default)]
    pub(super) groups: Vec<Vec<u32>>,
    pub(super) flags: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Numa {
    pub(super) distances: Vec<Vec<u32>>,
}

/// A vendor's table of measured power: kHz and mW.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Vendor {
    pub(super) cores_little_khz_mw: Vec<(u64, u64)>,
    pub(super) cores_big_khz_mw: Vec<(u64, u64)>,
    pub(super) idle_little: Vec<u64>,
    pub(super) idle_big: Vec<u64>,
    pub(super) source: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Hybrid {
    pub(super) hwp_highest_perf: HighestPerf,
    pub(super) smt_off: SmtOff,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct HighestPerf {
    #[serde(rename = "P")]
    pub(super) performance: u32,
    #[serde(rename = "E")]
    pub(super) efficient: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct SmtOff {
    #[serde(rename = "capacity_P")]
    pub(super) performance: u32,
    #[serde(rename = "capacity_E")]
    pub(super) efficient: u32,
}

impl Facts {
    /// Highest frequency of a CPU's domain, kHz; `None` where no domain is known.
    pub(super) fn max_khz(&self, cpu: u32) -> Option<u64> {
        let domain = self.freq_domains.iter().find(|d| d.cpus.contains(&cpu))?;
        Some(domain.max_khz)
    }

    /// Every operating point has a power.
    pub(super) fn has_power(&self) -> bool {
        let mut opps = self.freq_domains.iter().flat_map(|d| &d.opps).peekable();
        let given = opps.peek().is_some() && opps.all(|opp| opp.power_uw.is_some());
        given || self.vendor_eas.is_some()
    }

    /// Cores with several threads.
    pub(super) fn has_threads(&self) -> bool {
        self.cpus.iter().any(|cpu| cpu.thread > 0)
    }

    /// All CPU numbers.
    pub(super) fn all(&self) -> Vec<u32> {
        self.cpus.iter().map(|cpu| cpu.id).collect()
    }

    /// The files these facts make: the machine, and the forms of it that need a file of their own.
    pub(super) fn forms(self) -> Vec<Self> {
        let mut forms = Vec::new();
        if !self.idle_states_2011.is_empty() {
            let mut second = self.clone();
            second.name.push_str("-2011");
            second.title.push_str(", idle states of its 3.x kernels");
            second.idle_states = std::mem::take(&mut second.idle_states_2011);
            second.form = Form::SecondIdleTable;
            forms.push(second);
        }
        if let Some(hybrid) = &self.intel_hybrid {
            forms.push(self.one_thread(&hybrid.smt_off));
        }
        forms.insert(0, self);
        forms
    }

    /// The machine with SMT switched off: first threads only, renumbered without gaps.
    fn one_thread(&self, capacities: &SmtOff) -> Self {
        let mut off = self.clone();
        off.form = Form::OneThread;
        off.name.push_str("-nosmt");
        off.title.push_str(", SMT off");
        off.cpus.retain(|cpu| cpu.thread == 0);
        let kept = off.all();
        let renumber = |cpus: &mut Vec<u32>| {
            let new = cpus
                .iter()
                .filter_map(|cpu| kept.iter().position(|k| k == cpu));
            *cpus = new.filter_map(|at| u32::try_from(at).ok()).collect();
        };
        for (id, cpu) in (0..).zip(&mut off.cpus) {
            cpu.id = id;
            cpu.capacity = match cpu.kind.as_str() {
                "E" => capacities.efficient,
                _ => capacities.performance,
            };
        }
        off.clusters.iter_mut().for_each(|c| renumber(&mut c.cpus));
        off.freq_limits
            .iter_mut()
            .for_each(|l| renumber(&mut l.cpus));
        off.idle_states
            .iter_mut()
            .for_each(|state| renumber(&mut state.cpus));
        off.sched_topology.retain(|level| level.level != "SMT");
        for level in &mut off.sched_topology {
            level.groups.iter_mut().for_each(renumber);
        }
        off
    }
}

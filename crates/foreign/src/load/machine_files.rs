//! The files that loaders read, as the modelled machine would have them
//! (Documentation/ABI/testing/sysfs-devices-system-cpu), by path. What is told here and what the
//! core is told come from one platform (docs/guide/schedulers.md, "What the loader sees").
//!
//! What must stay: forms are those of sysfs and procfs: kHz, bytes as `K`, lists as `0-3,8`. Free:
//! further files, in the form of the kernel's.
//!
//! Tests by part: `a_loader_sees_the_modelled_machine` (`cpus`, `cpu`: cpu/online, cpu_capacity;
//! `list`), schedulers.rs::`runs_are_the_same_twice_and_interpreted` (`kernel`: libbpf reads the
//! types). No test reads what `frequencies`, `nodes`, `energy_model`, `distance` and `last_level`
//! tell. `put` has no test of its own.
//!
//! Callers: load/mod.rs (`of`); guard/tree.rs writes the files.
//!
//! Tests: crates/cli/tests/all/schedulers.rs::a_loader_sees_the_modelled_machine

use crate::topology;
use wakeplace_platform::{CpuId, Platform};

/// What stands beside the machine: the kernel.
pub(super) struct KernelFiles<'a> {
    pub(super) release: &'a str,
    pub(super) btf: &'a [u8],
}

/// Files and folders; paths have no slash before them.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineFiles {
    pub(super) files: Vec<(String, Vec<u8>)>,
    pub(super) folders: Vec<String>,
}

impl MachineFiles {
    /// All files of a platform, for the kernel that is offered.
    pub(super) fn of(platform: &Platform, kernel: &KernelFiles<'_>) -> Self {
        let mut files = Self::default();
        files.cpus(platform);
        files.nodes(platform);
        files.kernel(platform, kernel);
        files
    }

    /// A file with a line end, as the kernel writes them.
    fn put(&mut self, path: impl Into<String>, text: impl std::fmt::Display) {
        self.files
            .push((path.into(), format!("{text}\n").into_bytes()));
    }

    /// Adds the files that have lists of CPUs.
    fn cpus(&mut self, platform: &Platform) {
        let base = "sys/devices/system/cpu";
        let all = list(0..platform.cpus.len() as u32);
        for name in ["online", "possible", "present"] {
            self.put(format!("{base}/{name}"), &all);
        }
        self.put(format!("{base}/offline"), "");
        self.put(format!("{base}/isolated"), "");
        self.put(format!("{base}/kernel_max"), 8191);
        let smt = platform.smt.is_some();
        self.put(format!("{base}/smt/active"), u8::from(smt));
        self.put(
            format!("{base}/smt/control"),
            if smt { "on" } else { "notsupported" },
        );
        for cpu in 0..platform.cpus.len() as u32 {
            self.cpu(platform, CpuId(cpu));
        }
    }

    /// Topology, caches and capacity of one CPU.
    fn cpu(&mut self, platform: &Platform, id: CpuId) {
        let base = format!("sys/devices/system/cpu/cpu{}", id.0);
        let cpu = &platform.cpus[id.index()];
        let same = |key: fn(&wakeplace_platform::Cpu) -> u32| {
            let cpus = platform.cpus.iter().enumerate();
            let cpus = cpus.filter(|(_, other)| key(other) == key(cpu));
            list(cpus.map(|(at, _)| at as u32))
        };
        self.put(format!("{base}/online"), 1);
        self.put(format!("{base}/cpu_capacity"), cpu.capacity);
        self.put(format!("{base}/power/pm_qos_resume_latency_us"), 0);
        let topology = [
            ("core_id", cpu.core.to_string()),
            ("physical_package_id", cpu.package.to_string()),
            ("die_id", cpu.package.to_string()),
            ("cluster_id", cpu.cluster.to_string()),
            ("thread_siblings_list", same(|cpu| cpu.core)),
            ("core_cpus_list", same(|cpu| cpu.core)),
            ("cluster_cpus_list", same(|cpu| cpu.cluster)),
            ("core_siblings_list", same(|cpu| cpu.package)),
            ("package_cpus_list", same(|cpu| cpu.package)),
        ];
        for (name, text) in topology {
            self.put(format!("{base}/topology/{name}"), text);
        }
        let core = same(|cpu| cpu.core);
        let (llc, shared) = last_level(platform, id);
        let caches = [
            (0, 1, "Data", "32K", cpu.core, core.clone()),
            (1, 1, "Instruction", "32K", cpu.core, core.clone()),
            (2, 2, "Unified", "512K", cpu.core, core),
            (3, 3, "Unified", "8192K", llc, shared),
        ];
        for (index, level, kind, size, cache, shared) in caches {
            let at = format!("{base}/cache/index{index}");
            self.put(format!("{at}/level"), level);
            self.put(format!("{at}/type"), kind);
            self.put(format!("{at}/size"), size);
            self.put(format!("{at}/id"), cache);
            self.put(format!("{at}/shared_cpu_list"), shared);
        }
        self.frequencies(platform, id, &base)
    }

    /// The clock of one CPU.
    fn frequencies(&mut self, platform: &Platform, id: CpuId, base: &str) {
        let domain = &platform.freq_domains[platform.freq_domain_of(id)];
        let (Some(low), Some(high)) = (domain.opps.first(), domain.opps.last()) else {
            return;
        };
        let all: Vec<_> = domain.opps.iter().map(|opp| opp.khz.to_string()).collect();
        let files = [
            ("scaling_min_freq", low.khz.to_string()),
            ("scaling_max_freq", high.khz.to_string()),
            ("cpuinfo_min_freq", low.khz.to_string()),
            ("cpuinfo_max_freq", high.khz.to_string()),
            ("scaling_cur_freq", low.khz.to_string()),
            ("scaling_available_frequencies", all.join(" ")),
            (
                "cpuinfo_transition_latency",
                domain.transition_latency_ns.to_string(),
            ),
            ("scaling_governor", "schedutil".to_owned()),
            ("scaling_driver", "cpufreq-dt".to_owned()),
            ("affected_cpus", list(domain.cpus.iter().map(|cpu| cpu.0))),
            ("related_cpus", list(domain.cpus.iter().map(|cpu| cpu.0))),
        ];
        for (name, text) in files {
            self.put(format!("{base}/cpufreq/{name}"), text);
        }
    }

    /// NUMA nodes with their CPUs and distances.
    fn nodes(&mut self, platform: &Platform) {
        let base = "sys/devices/system/node";
        let nodes = 1 + platform.cpus.iter().map(|cpu| cpu.node).max().unwrap_or(0);
        for name in [
            "online",
            "possible",
            "has_cpu",
            "has_memory",
            "has_normal_memory",
        ] {
            self.put(format!("{base}/{name}"), list(0..nodes));
        }
        for node in 0..nodes {
            let at = format!("{base}/node{node}");
            let cpus = platform.cpus.iter().enumerate();
            let cpus: Vec<u32> = cpus
                .filter(|(_, cpu)| cpu.node == node)
                .map(|(at, _)| at as u32)
                .collect();
            self.put(format!("{at}/cpulist"), list(cpus.iter().copied()));
            let distances: Vec<_> = (0..nodes)
                .map(|to| distance(platform, node, to).to_string())
                .collect();
            self.put(format!("{at}/distance"), distances.join(" "));
            for cpu in cpus {
                self.folders.push(format!("{at}/cpu{cpu}"));
            }
        }
    }

    /// What the offered kernel says of itself and of sched_ext.
    fn kernel(&mut self, platform: &Platform, kernel: &KernelFiles<'_>) {
        let base = "sys/kernel/sched_ext";
        for (name, text) in [
            ("state", "disabled"),
            ("enable_seq", "0"),
            ("hotplug_seq", "0"),
            ("nr_rejected", "0"),
            ("switch_all", "0"),
        ] {
            self.put(format!("{base}/{name}"), text);
        }
        let btf = "sys/kernel/btf/vmlinux".to_owned();
        self.files.push((btf, kernel.btf.to_vec()));
        let config = format!(
            "CONFIG_HZ={}\nCONFIG_NR_CPUS=8192\nCONFIG_SCHED_CLASS_EXT=y\nCONFIG_BPF=y\n\
             CONFIG_BPF_SYSCALL=y\nCONFIG_BPF_JIT=y\nCONFIG_DEBUG_INFO_BTF=y\nCONFIG_SMP=y",
            platform.tick_hz
        );
        self.put(format!("boot/config-{}", kernel.release), config);
        let mounts = "sysfs /sys sysfs rw 0 0\nproc /proc proc rw 0 0\n\
                      debugfs /sys/kernel/debug debugfs rw 0 0\n\
                      tracefs /sys/kernel/tracing tracefs rw 0 0";
        self.put("proc/mounts", mounts);
        self.put("proc/self/mounts", mounts);
        for folder in ["sys/kernel/tracing/events", "sys/kernel/debug"] {
            self.folders.push(folder.to_owned());
        }
        self.energy_model(platform)
    }

    /// The kernel's energy model, where the platform has one (kernel/power/energy_model.c).
    fn energy_model(&mut self, platform: &Platform) {
        let modelled = platform
            .freq_domains
            .iter()
            .filter(|_| platform.has_energy_model)
            .filter(|domain| domain.opps.iter().any(|opp| opp.power_in_model().is_some()));
        for domain in modelled {
            let (Some(first), Some(highest)) = (domain.cpus.first(), domain.opps.last()) else {
                continue;
            };
            let base = format!("sys/kernel/debug/energy_model/cpu{}", first.0);
            let capacity = u64::from(platform.cpus[first.index()].capacity);
            let of_cpu = |khz: u32| capacity * u64::from(khz) / u64::from(highest.khz.max(1));
            for opp in &domain.opps {
                let Some(power) = opp.power_in_model() else {
                    continue;
                };
                let at = format!("{base}/ps:{}", opp.khz);
                let performance = of_cpu(opp.khz).max(1);
                self.put(format!("{at}/frequency"), opp.khz);
                self.put(format!("{at}/power"), power);
                self.put(format!("{at}/performance"), performance);
                self.put(format!("{at}/cost"), power * 10 / performance);
                self.put(format!("{at}/inefficient"), 0);
            }
            self.put(
                format!("{base}/cpus"),
                list(domain.cpus.iter().map(|cpu| cpu.0)),
            );
            self.put(format!("{base}/flags"), "0x1");
        }
    }
}

/// Number and members of a CPU's last-level cache; without one it is alone.
fn last_level(platform: &Platform, id: CpuId) -> (u32, String) {
    match topology::last_level(platform, id) {
        Some((at, cpus)) => (at as u32, list(cpus.iter().map(|cpu| cpu.0))),
        None => (id.0, id.0.to_string()),
    }
}

/// 10 within a node and 20 to others where the platform says nothing, as the kernel assumes.
fn distance(platform: &Platform, from: u32, to: u32) -> u32 {
    let table = platform.numa.as_ref().map(|numa| numa.distances.as_slice());
    let row = table.and_then(|table| table.get(from as usize));
    let known = row.and_then(|row| row.get(to as usize)).copied();
    known.unwrap_or(if from == to { 10 } else { 20 })
}

/// Numbers as the kernel lists them, `0-3,8`.
fn list(numbers: impl Iterator<Item = u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown = ranges.iter().map(|(from, to)| match from == to {
        true => from.to_string(),
        false => format!("{from}-{to}"),
    });
    shown.collect::<Vec<_>>().join(",")
}

//! Variables of the kernel that programs refer to by name (docs/guide/schedulers.md, "What its
//! programs see").
//!
//! What must stay: a variable that is not known is refused as the program is loaded, not filled
//! with zeros. Frequencies are kHz. Free: further variables, each with its value.
//!
//! Tests by part: `calls_answer_as_a_kernel_does` (`symbol`, `fill`, `of`, `per_cpu`,
//! `set_preempt_count`, `in_pcpu_hot` with the old kernel, `rq`). `cpufreq_policy`, `knows`,
//! `caches` and `frequencies` have no test of their own: no scheduler of the tests refers to such
//! variables.
//!
//! Callers: load/program.rs (`symbol`, while a program is linked), kfuncs/helper.rs (`per_cpu`),
//! kernel/state.rs, crates/foreign/src/scheduler.rs (`knows`: a note in results).
//!
//! Tests: crates/cli/tests/all/schedulers.rs::calls_answer_as_a_kernel_does,
//! xtask/src/tries/kernel_schedulers.rs

use super::state::{State, put};
use crate::topology::last_level;
use wakeplace_bpf_vm::{Fault, Vm};
use wakeplace_platform::{CpuId, Platform};

/// A variable of the kernel's that programs refer to by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    base: u64,
    /// Bytes from one CPU's to the next one's.
    stride: u64,
}

impl Symbol {
    /// A CPU's own copy; 0: there is no such CPU.
    fn of(self, cpu: u64, nr_cpus: u32) -> u64 {
        match cpu < u64::from(nr_cpus) {
            true => self.base + cpu * self.stride,
            false => 0,
        }
    }
}

impl State {
    /// A variable of the kernel's: room for each CPU's, with what is known of it.
    pub(crate) fn symbol(&mut self, vm: &mut Vm, name: &str, size: u64) -> Result<u64, String> {
        if let Some(symbol) = self.symbols.get(name) {
            return Ok(symbol.base);
        }
        let stride = size.max(8).next_multiple_of(64);
        let nr_cpus = u64::from(vm.nr_cpus());
        let base = vm
            .memory
            .alloc(stride * nr_cpus)
            .map_err(|fault| fault.to_string())?;
        let symbol = Symbol { base, stride };
        if !self.fill(vm, name, symbol)? {
            return Err(format!("the kernel's variable `{name}` is not offered"));
        }
        match name {
            "__preempt_count" => self.preempt_count_symbol = Some(symbol),
            "pcpu_hot" => self.preempt_count_symbol = self.in_pcpu_hot(symbol),
            "runqueues" => self.runqueues = Some(symbol),
            _ => {}
        }
        self.symbols.insert(name.to_owned(), symbol);
        Ok(base)
    }

    /// Writes what a variable holds on each CPU. False: there is no such variable here.
    fn fill(&self, vm: &mut Vm, name: &str, symbol: Symbol) -> Result<bool, String> {
        let at = |cpu: usize| symbol.base + cpu as u64 * symbol.stride;
        let cpus = 0..vm.nr_cpus() as usize;
        let mut each = |of: &dyn Fn(usize) -> u64| {
            cpus.clone()
                .for_each(|cpu| vm.memory.set_u64(at(cpu), of(cpu)));
        };
        match name {
            "cpu_scale" => each(&|cpu| self.capacities[cpu].into()),
            "sched_core_priority" => each(&|cpu| self.priorities[cpu].into()),
            // As update_top_cache_domain: by the first CPU of the cache.
            "sd_llc_id" => each(&|cpu| self.caches[cpu].0.into()),
            "sd_llc_size" => each(&|cpu| self.caches[cpu].1.into()),
            "cpu_number" => each(&|cpu| cpu as u64),
            // Of the frequency scx_bpf_cpuperf_cur tells; who reads this is warned.
            "arch_freq_scale" => each(&|_| 1024),
            "nr_cpu_ids" => vm.memory.set_u64(symbol.base, u64::from(vm.nr_cpus())),
            "runqueues" => cpus.for_each(|cpu| {
                let fields = &self.layout.rq;
                let idle = self.idle.get(cpu).copied().unwrap_or(0);
                put(vm, at(cpu), fields.cpu, cpu as u64);
                put(vm, at(cpu), fields.idle, idle);
                put(vm, at(cpu), fields.curr, idle);
            }),
            "cpufreq_cpu_data" => {
                for cpu in cpus {
                    let policy = self.cpufreq_policy(vm, cpu);
                    let policy = policy.map_err(|fault| fault.to_string())?;
                    vm.memory.set_u64(at(cpu), policy);
                }
            }
            // Written before every callback.
            "__preempt_count" => {}
            "pcpu_hot" => cpus.for_each(|cpu| {
                let place = self.layout.pcpu_hot.as_ref().and_then(|of| of.cpu_number);
                put(vm, at(cpu), place, cpu as u64);
            }),
            // No pressure, no tick that is stopped: zero is the truth.
            "hw_pressure" | "thermal_pressure" | "cpufreq_pressure" | "tick_cpu_sched" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Programs refer to this variable.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.symbols.contains_key(name)
    }

    /// A CPU's own copy of a variable; 0: there is none.
    pub(crate) fn per_cpu(&self, base: u64, cpu: u64, nr_cpus: u32) -> u64 {
        let symbol = self.symbols.values().find(|symbol| symbol.base == base);
        symbol.map_or(0, |symbol| symbol.of(cpu, nr_cpus))
    }

    /// What a CPU's frequencies are, as cpufreq has them.
    fn cpufreq_policy(&self, vm: &mut Vm, cpu: usize) -> Result<u64, Fault> {
        let fields = &self.layout.cpufreq;
        let at = vm.memory.alloc(fields.size)?;
        let (lowest, highest) = self.frequencies[cpu];
        put(vm, at, fields.cpu, cpu as u64);
        for (place, khz) in [
            (fields.min, lowest),
            (fields.lowest, lowest),
            (fields.max, highest),
            (fields.highest, highest),
            (fields.cur, highest),
        ] {
            put(vm, at, place, u64::from(khz));
        }
        Ok(at)
    }

    /// Where a callback runs, as the preemption count says it (include/linux/preempt.h): with the
    /// run queue locked, or in an interrupt. x86-64 has it in a variable of each CPU
    /// (`__preempt_count`, before 6.15 a part of `pcpu_hot`). arm64 has it in the current task,
    /// where it is written when a program gets that task (`hand_out`).
    pub(super) fn set_preempt_count(&mut self, vm: &mut Vm, in_interrupt: bool) {
        const HARDIRQ: u32 = 1 << 16;
        self.preempt_count = if in_interrupt { HARDIRQ | 1 } else { 1 };
        if let Some(symbol) = self.preempt_count_symbol {
            let at = symbol.base + u64::from(vm.cpu) * symbol.stride;
            vm.memory.set_u32(at, self.preempt_count);
        }
    }

    /// The preemption counts in a variable of that kind. None: it has none.
    fn in_pcpu_hot(&self, symbol: Symbol) -> Option<Symbol> {
        let place = self.layout.pcpu_hot.as_ref()?.preempt_count?;
        let base = symbol.base + place.offset;
        Some(Symbol { base, ..symbol })
    }

    /// A CPU's run queue.
    pub(crate) fn rq(&self, cpu: u64, nr_cpus: u32) -> u64 {
        self.runqueues.map_or(0, |symbol| symbol.of(cpu, nr_cpus))
    }
}

/// The first CPU of each CPU's last-level cache, and how many share it.
pub(super) fn caches(platform: &Platform) -> Vec<(u32, u32)> {
    let of = |cpu: u32| match last_level(platform, CpuId(cpu)) {
        Some((_, [first, rest @ ..])) => (first.0, 1 + rest.len() as u32),
        _ => (cpu, 1),
    };
    (0..platform.cpus.len() as u32).map(of).collect()
}

/// The lowest and the highest frequency of each CPU, kHz.
pub(super) fn frequencies(platform: &Platform) -> Vec<(u32, u32)> {
    let of = |cpu: u32| {
        let cpu = CpuId(cpu);
        let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
        let khz = |opp: Option<&wakeplace_platform::Opp>| opp.map_or(0, |opp| opp.khz);
        (khz(opps.first()), khz(opps.last()))
    };
    (0..platform.cpus.len() as u32).map(of).collect()
}

//! Power saving of the kernels to 3.4: the knob, the debug files of the series, and whose
//! interrupts go where (docs/decisions/033).
//!
//! What must stay: numbers as the kernel's files had them; a write that the kernel ignored changes
//! nothing. Free: the words of refusals.
//!
//! Tests by part: `places_by_mpidr` (`cpu_place`), `the_knob_at_run_time` (`write_power_savings`),
//! `debug_files` (`write_debug`, `arch_power`); sched_mc_later.rs: `interrupts_leave_after_a_while`
//! (`irq_cpu`).
//!
//! Callers: tests write the files; the engine asks `irq_cpu`.
//!
//! Tests: crates/policy-sys/tests/all/sched_mc.rs

use crate::core::Core;
use crate::machine::{MachineError, MachineFacts};
use crate::sys;
use thiserror::Error;

/// A write that the kernel refuses with EINVAL; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct InvalidWrite(pub String);

/// Most bytes that a debug file takes (`char buf[128]` and its end).
const DEBUG_BYTES: usize = 127;

/// The files of a CPU under `cpu_topo/` in debugfs that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugFile {
    /// `cpu_power`.
    Power,
    /// `scale`: 0 the default table, 1 that of the Cortex-A9.
    Scale,
}

/// Where a CPU is, by its identification register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuPlace {
    /// Thread within the core; `None`: cores have no threads.
    pub thread: Option<u32>,
    /// Core within the cluster.
    pub core: u32,
    /// Cluster, which is the package; `None`: unknown.
    pub socket: Option<u32>,
}

/// The core and socket that an MPIDR word says.
#[must_use]
pub fn cpu_place(mpidr: u32) -> CpuPlace {
    let mut ids = sys::wp_mc_ids::default();
    // SAFETY: writes to `ids` only.
    unsafe { sys::wp_mpidr_ids(mpidr, &raw mut ids) };
    let known = |id: u32| (id != sys::WP_NONE).then_some(id);
    CpuPlace {
        thread: known(ids.thread),
        core: ids.core,
        socket: known(ids.socket),
    }
}

impl Core {
    /// `sched_mc_power_savings` is written: a new value rebuilds the domains. `facts` is the
    /// machine with who is online now.
    ///
    /// # Errors
    /// A level that there is not.
    ///
    /// # Panics
    /// If the facts are not those of this core's machine.
    pub fn write_power_savings(
        &mut self,
        level: u32,
        facts: &MachineFacts,
        now_ns: u64,
    ) -> Result<(), InvalidWrite> {
        if level > 2 {
            return Err(InvalidWrite(format!(
                "sched_mc_power_savings: `{level}`: expected 0, 1 or 2"
            )));
        }
        if self.state().params.sched_mc_power_savings == level {
            return Ok(());
        }
        self.state_mut().params.sched_mc_power_savings = level;
        let rebuilt: Result<(), MachineError> = self.hotplug(facts, now_ns);
        rebuilt.expect("a machine that was accepted");
        Ok(())
    }

    /// A debug file of a CPU is written. What is no number is ignored, as the series does.
    ///
    /// # Errors
    /// A text that is too long.
    pub fn write_debug(
        &mut self,
        cpu: u32,
        file: DebugFile,
        text: &str,
    ) -> Result<(), InvalidWrite> {
        if text.len() >= DEBUG_BYTES {
            return Err(InvalidWrite(format!(
                "{} bytes: expected fewer than {DEBUG_BYTES}",
                text.len()
            )));
        }
        let Ok(value) = text.trim().parse() else {
            return Ok(());
        };
        // SAFETY: the context is live and exclusive; the core masks the index.
        unsafe {
            match file {
                DebugFile::Power => sys::wp_mc_write_power(self.state_mut(), cpu, value),
                DebugFile::Scale => sys::wp_mc_write_scale(self.state_mut(), cpu, value),
            }
        };
        Ok(())
    }

    /// What the architecture says of a CPU's power, 1024 = one task.
    #[must_use]
    pub fn arch_power(&self, cpu: u32) -> u32 {
        // SAFETY: reads the context only; the core masks the index.
        unsafe { sys::wp_mc_cpu_power(self.state(), cpu) }
    }

    /// Who takes an interrupt now that belongs to `cpu` and may go anywhere.
    #[must_use]
    pub fn irq_cpu(&self, cpu: u32, now_ns: u64) -> u32 {
        // SAFETY: reads the context only; the core masks every index.
        unsafe { sys::wp_irq_cpu(self.state(), cpu, now_ns) }
    }
}

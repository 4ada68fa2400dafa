//! CPUs leave and come back, as the run's schedule says; who is online. No event may run a task on
//! a CPU that has left (docs/rules/hotplug.md#hotplug).
//!
//! What must stay: steps of one instant happen in the order given. Free: what leaves recorded runs
//! as they are (ARCHITECTURE.md, "What a change may touch"). Tests by part:
//! `what_is_left_is_done_by_who_is_left` (`timer_cpu`), `who_is_away_sleeps_deep_and_keeps_still`
//! (`set_online`), all (`new`, `begin_hotplug`, `hotplug`, `is_online`, `first_online`).
//!
//! Callers: kernel/model/bandwidth.rs (`first_online`), kernel/model/hotplug.rs (`first_online`),
//! kernel/model/sched_ext/callbacks.rs (`first_online`), sim.rs (`begin_hotplug`), many files
//! (`is_online`, `timer_cpu`).
//!
//! Tests: crates/engine/tests/behaviour/hotplug.rs

use super::Mechanics;
use super::queue::Event;
use crate::hotplug::{Hotplug, in_order};
use crate::ids::{CpuId, PerCpu};
use crate::kernel::Kernel;
use crate::observe::{Happening, Observer};
use crate::options::Options;

/// What changes while a run lasts.
#[derive(Debug)]
pub(super) struct Changes {
    online: PerCpu<bool>,
    /// CPUs that leave and come back.
    hotplug: Vec<Hotplug>,
}

impl Changes {
    /// All CPUs are online; the schedule is the options', in order of time.
    pub(super) fn new(nr_cpus: u32, options: &Options) -> Self {
        Self {
            online: PerCpu(vec![true; nr_cpus as usize]),
            hotplug: in_order(&options.hotplug),
        }
    }
}

impl<O: Observer> Mechanics<'_, O> {
    /// Is the CPU in the machine now?
    #[inline]
    pub(crate) fn is_online(&self, cpu: CpuId) -> bool {
        self.changes.online[cpu]
    }

    /// The lowest CPU that is online: it takes over what belongs to no CPU in particular.
    pub(crate) fn first_online(&self) -> CpuId {
        let first = self.changes.online.iter().position(|online| *online);
        CpuId(first.expect("the last CPU never leaves") as u32)
    }

    /// Who takes the interrupts that were meant for this CPU: the end of a sleep that began there.
    #[inline]
    pub(crate) fn timer_cpu(&self, cpu: CpuId) -> CpuId {
        if self.is_online(cpu) {
            cpu
        } else {
            self.first_online()
        }
    }

    /// Steps at time 0 happen before the first thread, the others are events.
    pub(crate) fn begin_hotplug<K: Kernel>(&mut self, k: &mut K) {
        for index in 0..self.changes.hotplug.len() {
            match self.changes.hotplug[index].at_ns {
                0 => self.hotplug(k, index as u32),
                at_ns => {
                    let index = index as u32;
                    self.clock.push(at_ns, Event::Hotplug { index });
                }
            }
        }
    }

    /// A step of the schedule.
    pub(crate) fn hotplug<K: Kernel>(&mut self, k: &mut K, index: u32) {
        let step = self.changes.hotplug[index as usize];
        let cpu = CpuId(step.cpu);
        k.hotplug(self, cpu, step.online);
    }

    /// The kernel has stopped using the CPU, or uses it again.
    pub(crate) fn set_online(&mut self, cpu: CpuId, online: bool) {
        self.changes.online[cpu] = online;
        let cpu = cpu.0;
        self.tell(Happening::Hotplug { cpu, online });
    }
}

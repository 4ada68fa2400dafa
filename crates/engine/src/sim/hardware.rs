//! What the hardware does of its own accord: interrupts of devices, limits of frequency ranges.

use super::Sim;
use super::cpu::{Message, Mode};
use crate::hardware::FreqCap;
use crate::observe::Observer;
use crate::queue::Event;

impl<O: Observer> Sim<'_, O> {
    /// Everything the options ask for.
    pub(super) fn arm_hardware(&mut self) {
        for (source, device) in self.devices.iter().enumerate() {
            let event = Event::Device {
                source: source as u32,
            };
            self.queue.push(device.period_ns, event);
        }
        for (index, cap) in self.caps.iter().enumerate() {
            let event = Event::FreqCap {
                index: index as u32,
            };
            self.queue.push(cap.at_ns, event);
        }
    }

    /// A device interrupts its CPU.
    pub(super) fn device(&mut self, source: u32) {
        let device = self.devices[source as usize];
        let next = self.now + device.period_ns;
        self.queue.push(next, Event::Device { source });
        self.interrupt_with(
            self.timer_cpu(device.cpu),
            Message::Device {
                run_ns: device.run_ns,
            },
        );
    }

    /// The CPU takes the interrupt: for that time nothing else goes on there. Interrupts that come
    /// meanwhile are heard at once; what they start, and other devices, have to wait.
    pub(super) fn take_device(&mut self, cpu: u32, run_ns: u64) {
        self.account(cpu);
        self.core.irq_time(cpu, run_ns);
        self.core.ran_other(cpu, self.now, run_ns);
        let c = &mut self.cpus[cpu as usize];
        c.irq_until_ns = c.irq_until_ns.max(self.now) + run_ns;
        if c.mode == Mode::Running {
            c.accounted_ns = c.accounted_ns.max(c.irq_until_ns);
            c.stolen_ns += run_ns;
        }
    }

    /// Wall time of the running stretch so far that the task had for itself.
    pub(super) fn stretch_ns(&self, cpu: u32) -> u64 {
        let c = &self.cpus[cpu as usize];
        let ahead = c.irq_until_ns.saturating_sub(self.now);
        let whole = self.now - c.stretch_start_ns;
        whole - c.stolen_ns.saturating_sub(ahead).min(whole)
    }

    /// A frequency domain's limit changes.
    pub(super) fn freq_cap(&mut self, index: u32) {
        let FreqCap { domain, khz, .. } = self.caps[index as usize];
        let opps = &self.cap_opps[domain as usize];
        let most = khz.map_or(opps.len(), |khz| opps.partition_point(|o| *o <= khz));
        let result = self.core.freq_limit(domain, most as u32 - 1, self.now);
        let cpu = self.machine.domain_cpus[domain as usize][0];
        self.after_core(cpu, result);
    }
}

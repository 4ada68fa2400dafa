//! Frequencies: what the kernel's drivers are asked for, and the limits that they are told. Which
//! frequency is the kernel's answer; the hardware's time to reach it is the mechanics'
//! (docs/guide/kernel.md, "In a run").
//!
//! What must stay: kHz between kernel and machine, positions of operating points within the engine.
//! One order of the owner is under way at a time. Free: what leaves recorded runs as they are
//! (ARCHITECTURE.md, "What a change may touch"). Tests by part, where a tree is built:
//! `waits_for_devices_move_frequencies` (`want`, `opp_wanted`),
//! `a_governor_that_comes_first_repeats_no_call` (requests through the thread),
//! `no_kind_of_work_makes_it_warn` (`limit`, `next_orders`, with `model.freq_cap` and
//! `model.thermal`), `ordered` by the first. `refused` has no test of its own.
//!
//! Callers: mod.rs (`opp_wanted`), told.rs (`want`).
//!
//! Tests: crates/cli/tests/all/kernel_runs.rs

use super::Tree;
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use crate::outcome::Ended;
use wakeplace_kernel_abi::{Call, ORDER, Refused};

impl Tree<'_> {
    /// The operating point of a domain of the platform's: of several cpufreq policies the highest
    /// request.
    pub(super) fn opp_wanted(&self, domain: u32) -> u16 {
        let wanted = self.domains.kernels(domain);
        let khz = wanted
            .map(|own| self.wanted_khz[own as usize])
            .max()
            .unwrap_or(0);
        let opps = &self.khz[domain as usize];
        let at = opps.partition_point(|opp| *opp < khz);
        at.min(opps.len() - 1) as u16
    }

    /// Asks the machine for the frequency that a driver of the tree wants.
    pub(super) fn want<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, own: u32, khz: u32) {
        let domain = self.domains.platform_domain[own as usize];
        let before = self.opp_wanted(domain);
        self.wanted_khz[own as usize] = khz;
        let after = self.opp_wanted(domain);
        if after != before {
            m.want_opp(domain, after);
        }
    }

    /// Limits a domain to its points up to `most`; up to `cool` by its warmth.
    pub(super) fn limit<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        domain: u32,
        most: u32,
        cool: Option<u32>,
    ) {
        let opps = &self.khz[domain as usize];
        let limit_khz = match most as usize + 1 {
            all if all == opps.len() => 0,
            _ => opps[most as usize],
        };
        let pressure_khz = cool.map(|cool| opps[cool as usize]);
        for domain in self.domains.kernels(domain) {
            if let Some(khz) = pressure_khz {
                let khz = khz.into();
                self.orders.push_back(Call::Pressure { domain, khz });
            }
            let khz = limit_khz.into();
            self.orders.push_back(Call::Limit { domain, khz });
        }
        self.next_orders(m);
    }

    /// The machine's owner orders one thing after the other. One that has to wait, as for a
    /// governor that is just at it, holds up the others.
    fn next_orders<O: Observer>(&mut self, m: &mut Mechanics<'_, O>) {
        if self.order_waits || self.orders.is_empty() {
            return;
        }
        while let Some(order) = self.orders.pop_front() {
            match self.enter(m, None, |entries| entries.control(&order, ORDER)) {
                Ok(_) => {}
                Err(Refused::Pending) => {
                    self.order_waits = true;
                    break;
                }
                Err(Refused::Dead) => return,
                Err(Refused::Error(errno)) => return refused(m, errno.into()),
            }
        }
        self.follow(m);
    }

    /// One that waited is done.
    pub(super) fn ordered<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, result: i64) {
        self.order_waits = false;
        if result < 0 {
            return refused(m, -result);
        }
        self.next_orders(m);
    }
}

/// Ends the run with what the kernel answered: a driver's order cannot be skipped.
fn refused<O: Observer>(m: &mut Mechanics<'_, O>, errno: i64) {
    let said = format!("it refuses an order of the machine's owner (errno {errno})");
    m.end(Ended::Kernel { said });
}

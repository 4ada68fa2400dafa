//! Frequencies: what the kernel's drivers are asked for, and the limits that they are told.

use super::Tree;
use crate::mechanics::Mechanics;
use crate::observe::Observer;
use wakeplace_kernel_abi::Call;

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

    /// A driver is asked for a frequency.
    pub(super) fn want<O: Observer>(&mut self, m: &mut Mechanics<'_, O>, own: u32, khz: u32) {
        let domain = self.domains.platform_domain[own as usize];
        let before = self.opp_wanted(domain);
        self.wanted_khz[own as usize] = khz;
        let after = self.opp_wanted(domain);
        if after != before {
            m.want_opp(domain, after);
        }
    }

    /// A domain may use its points up to `most`; up to `cool` by its warmth.
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
        for own in self.domains.kernels(domain).collect::<Vec<_>>() {
            if let Some(khz) = pressure_khz {
                let khz = khz.into();
                self.order(m, "heat", &Call::Pressure { domain: own, khz });
            }
            let khz = limit_khz.into();
            self.order(
                m,
                "a limit of frequencies",
                &Call::Limit { domain: own, khz },
            );
        }
    }

    /// An order of the machine's owner that takes no time.
    pub(super) fn order<O: Observer>(
        &mut self,
        m: &mut Mechanics<'_, O>,
        what: &str,
        call: &Call<'_>,
    ) {
        self.carry_out(m, what, |entries| entries.control(call, 0));
        self.follow(m);
    }
}

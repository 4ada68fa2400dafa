//! Operating points of Intel servers before Haswell, as their firmware gives them to acpi-cpufreq:
//! the multiples of the bus clock from the lowest to the nominal ratio, then one more, which is the
//! highest turbo. How many cores may reach that one at once is not modelled.

use super::text::mhz;

/// Ratios of one model of processor.
pub(super) struct PStates {
    machine: &'static str,
    model: &'static str,
    /// Bus clock, kHz times 3: Nehalem's is 133.33 MHz.
    bus_khz_x3: u64,
    lowest: u64,
    nominal: u64,
    turbo: u64,
}

const NEHALEM: u64 = 400_000;
const SANDY_BRIDGE: u64 = 300_000;

/// The maker's figures of the models named, not checked.
const TABLE: &[PStates] = &[
    states("nhm-ep-2s", "Xeon X5570", NEHALEM, [12, 22, 25]),
    states("wsm-ep-2s", "Xeon X5670", NEHALEM, [12, 22, 25]),
    states("wsm-ex-4s", "Xeon E7-4870", NEHALEM, [8, 18, 21]),
    states("wsm-ex-4s-ht", "Xeon E7-4870", NEHALEM, [8, 18, 21]),
    states("snb-ep-2s", "Xeon E5-2650", SANDY_BRIDGE, [12, 20, 28]),
    states("snb-ep-4s", "Xeon E5-4650", SANDY_BRIDGE, [12, 27, 33]),
];

const fn states(
    machine: &'static str,
    model: &'static str,
    bus_khz_x3: u64,
    [lowest, nominal, turbo]: [u64; 3],
) -> PStates {
    PStates {
        machine,
        model,
        bus_khz_x3,
        lowest,
        nominal,
        turbo,
    }
}

/// None: nobody knows them, or they are in the facts.
pub(super) fn of(machine: &str) -> Option<&'static PStates> {
    TABLE.iter().find(|states| states.machine == machine)
}

impl PStates {
    /// Whole MHz, as firmware writes them.
    fn at(&self, ratio: u64) -> u64 {
        ratio * self.bus_khz_x3 / 3 / 1000 * 1000
    }

    /// Ascending.
    pub(super) fn khz(&self) -> Vec<u64> {
        let ratios = (self.lowest..=self.nominal).chain([self.turbo]);
        ratios.map(|ratio| self.at(ratio)).collect()
    }

    /// The lowest and the nominal one.
    pub(super) fn limits_khz(&self) -> (u64, u64) {
        (self.at(self.lowest), self.at(self.nominal))
    }

    /// Where the points are from.
    pub(super) fn words(&self) -> String {
        let (lowest, nominal) = self.limits_khz();
        format!(
            "{} to {} MHz in steps of the bus clock, then {} MHz, the highest turbo, as the \
             firmware of a {} gives them (the maker's figures, not checked). How many cores may \
             reach the turbo at once is not modelled. A policy per CPU: cpufreq-info of a \
             Xeon E5-2660 (\"frequency coordinated by software: 0\")",
            mhz(lowest),
            mhz(nominal),
            mhz(self.at(self.turbo)),
            self.model
        )
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    /// Westmere-EX: ratios 8 to 18 and 21 of 133.33 MHz.
    #[test]
    fn points_are_multiples_of_the_bus_clock() {
        let khz = of("wsm-ex-4s").expect("known").khz();
        assert_eq!(khz.len(), 12);
        assert_eq!(khz[..2], [1_066_000, 1_200_000]);
        assert_eq!(khz[10..], [2_400_000, 2_800_000]);
        assert_eq!(of("snb-ep-2s").expect("known").khz().len(), 10);
        assert!(of("spr-2s").is_none());
    }
}

//! Which of its measured powers a domain draws: what the other clocks say that they depend on
//! (docs/guide/platforms.md "Measured power").
//!
//! Called by the meter at each change of a clock or of a busy CPU. No policy asks.
//!
//! What must stay: a point is the operating point times rows plus the row, as
//! `crates/platform/src/measured.rs` lays tables out. Whoever draws most decides, as Wattson
//! chooses; of equals the first policy. A domain without a busy CPU asks for nothing. A change
//! moves the energy of machines with such tables. Free: how the busy CPUs and changes are kept.
//! Tests by part: `who_draws_most_decides` (`opp`, `cpu`, `point`, `voted`),
//! `a_unit_goes_with_the_fastest` (`unit`), `most_machines_have_one_row` (`Rows::new`),
//! crates/metrics/src/meter/tests.rs::`measured_powers_follow_the_other_clock` (`change`).
//!
//! Tests: below, crates/metrics/src/meter/tests.rs::measured_powers_follow_the_other_clock

use wakeplace_platform::{MeasuredPower, OtherClock, Platform};

/// The row of each domain, followed through a run.
#[derive(Clone, Debug)]
pub struct Rows {
    domains: Vec<Domain>,
}

#[derive(Clone, Debug)]
struct Domain {
    /// Its clocks, kHz.
    khz: Vec<u32>,
    /// Busy power of one CPU at each operating point, beside the lowest state of other clocks.
    busy_uw: Vec<u64>,
    /// None: powers follow the domain's own operating point.
    measured: Option<MeasuredPower>,
    /// Its operating point, and how many of its CPUs are busy.
    opp: usize,
    busy: usize,
    row: usize,
}

impl Rows {
    /// None: no power of the platform depends on another clock.
    #[must_use]
    pub fn new(platform: &Platform) -> Option<Self> {
        let domain = |domain: &wakeplace_platform::FreqDomain| Domain {
            khz: domain.opps.iter().map(|opp| opp.khz).collect(),
            busy_uw: domain
                .opps
                .iter()
                .map(|opp| opp.power.unwrap_or(0))
                .collect(),
            measured: domain.measured.clone(),
            opp: 0,
            busy: 0,
            row: MeasuredPower::LOWEST_ROW,
        };
        let domains: Vec<Domain> = platform.freq_domains.iter().map(domain).collect();
        let any = domains.iter().any(|domain| {
            domain
                .measured
                .as_ref()
                .is_some_and(MeasuredPower::is_shared)
        });
        any.then_some(Self { domains })
    }

    /// Notes that a domain is at an operating point from now on. Returns the domains whose `point`
    /// is another one.
    pub fn opp(&mut self, domain: usize, opp: usize) -> Vec<usize> {
        self.change(|domains| domains[domain].opp = opp)
    }

    /// Notes that one more CPU of a domain is busy from now on, or one fewer. Returns the domains
    /// whose `point` is another one.
    pub fn cpu(&mut self, domain: usize, busy: bool) -> Vec<usize> {
        let own = &mut self.domains[domain].busy;
        let before = *own;
        *own = if busy { before + 1 } else { before - 1 };
        // The first busy CPU counts, and the last.
        match (before > 0) == (*own > 0) {
            true => Vec::new(),
            false => self.change(|_| ()),
        }
    }

    /// Place of the domain's powers in its tables: operating point and row.
    #[must_use]
    pub fn point(&self, domain: usize) -> usize {
        let domain = &self.domains[domain];
        let place = |measured: &MeasuredPower| measured.at(domain.opp, domain.row);
        domain.measured.as_ref().map_or(domain.opp, place)
    }

    /// Changes something and finds the domains whose point is another one by it.
    fn change(&mut self, change: impl FnOnce(&mut [Domain])) -> Vec<usize> {
        let before: Vec<usize> = (0..self.domains.len()).map(|at| self.point(at)).collect();
        change(&mut self.domains);
        for at in 0..self.domains.len() {
            self.domains[at].row = self.row(at);
        }
        let other = |at: &usize| self.point(*at) != before[*at];
        (0..before.len()).filter(other).collect()
    }

    /// The row of a domain by what the others do.
    fn row(&self, at: usize) -> usize {
        let Some(measured) = &self.domains[at].measured else {
            return 0;
        };
        match measured.rows[0] {
            OtherClock::Alone => 0,
            OtherClock::Domain { .. } => self.voted(measured),
            OtherClock::Unit { .. } => self.unit(measured),
        }
    }

    /// The row that busy CPUs vote for. The domain decides whose busy CPU draws most, at its
    /// operating point; without a busy CPU the lowest row is in force. Wattson chooses alike.
    fn voted(&self, measured: &MeasuredPower) -> usize {
        let votes = |(row, clock): (usize, &OtherClock)| match *clock {
            OtherClock::Domain { domain, opp } => {
                let other = &self.domains[domain];
                (other.busy > 0 && other.opp == opp).then(|| (other.busy_uw[opp], row))
            }
            _ => None,
        };
        let all = measured.rows.iter().enumerate().filter_map(votes);
        // Of equal powers the first policy's, as rows are in its order.
        let most = all.reduce(|best, other| if other.0 > best.0 { other } else { best });
        most.map_or(MeasuredPower::LOWEST_ROW, |(_, row)| row)
    }

    /// The row by a shared unit's clock. No table says which clock a shared unit has beside which
    /// clocks of CPUs: it is taken to have the lowest one whose share of its highest is not below
    /// the largest share that a domain with a busy CPU has of its own.
    fn unit(&self, measured: &MeasuredPower) -> usize {
        let khz = |clock: &OtherClock| match clock {
            OtherClock::Unit { khz } => u64::from(*khz),
            _ => 0,
        };
        let top = measured.rows.iter().map(khz).max().unwrap_or(0);
        let enough = |row: &usize| {
            let own = khz(&measured.rows[*row]);
            self.domains
                .iter()
                .filter(|domain| domain.busy > 0)
                .all(|domain| {
                    let highest = u64::from(domain.khz[domain.khz.len() - 1]);
                    own * highest >= u64::from(domain.khz[domain.opp]) * top
                })
        };
        (0..measured.rows.len())
            .find(enough)
            .unwrap_or(measured.rows.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;
    use wakeplace_platform::{MeasuredPoint, MeasuredPower, OtherClock, Platform};

    /// gs101: little cores (domain 0) beside the mid ones (1) and the big ones (2).
    fn gs101() -> Platform {
        Platform::builtin("gs101").expect("built in")
    }

    /// Row of a state in the little cores' table.
    fn row(platform: &Platform, domain: usize, opp: usize) -> usize {
        let rows = &platform.freq_domains[0]
            .measured
            .as_ref()
            .expect("measured")
            .rows;
        let wanted = OtherClock::Domain { domain, opp };
        rows.iter().position(|row| *row == wanted).expect("a row")
    }

    /// Goal: the domain decides whose busy CPU draws most. Method: Wattson's active powers: mid at
    /// 2253 MHz 527.05 mW, big at 500 MHz 87.31, at 2802 MHz 1942.89.
    #[test]
    fn who_draws_most_decides() {
        let platform = gs101();
        let mut rows = Rows::new(&platform).expect("they depend");
        let little = |rows: &Rows| rows.point(0) % 31;
        assert_eq!(little(&rows), 0, "nobody is busy: the lowest");
        rows.opp(1, 13);
        assert_eq!(
            little(&rows),
            0,
            "a clock without a busy CPU asks for nothing"
        );
        assert_eq!(rows.cpu(1, true), [0]);
        assert_eq!(little(&rows), row(&platform, 1, 13));
        assert_eq!(rows.cpu(1, true), [], "one more changes nothing");
        assert_eq!(rows.cpu(2, true), [], "527.05 is more than 87.31");
        assert_eq!(rows.opp(2, 16), [0, 2]);
        assert_eq!(little(&rows), row(&platform, 2, 16));
        assert_eq!(rows.cpu(2, false), [0]);
        assert_eq!(little(&rows), row(&platform, 1, 13));
        // Own operating points, then rows; the others' points are their operating points.
        rows.opp(0, 10);
        assert_eq!((rows.point(0), rows.point(1)), (10 * 31 + 13, 13));
    }

    /// Goal: a shared unit's clock goes with the largest share of a busy domain. Method: big at 851
    /// of 2802 MHz is 30.4 %: of 300, 800 and 1000 the lowest of at least 30.4 % is 800.
    #[test]
    fn a_unit_goes_with_the_fastest() {
        let mut platform = gs101();
        let unit = |khz| OtherClock::Unit { khz };
        platform.freq_domains[0].measured = Some(MeasuredPower {
            rows: vec![unit(300), unit(800), unit(1000)],
            points: vec![MeasuredPoint::default(); 33],
        });
        let mut rows = Rows::new(&platform).expect("they depend");
        rows.opp(2, 1);
        assert_eq!(rows.point(0), 0, "nobody is busy");
        assert_eq!(rows.cpu(2, true), [0]);
        assert_eq!(rows.point(0), 1);
        rows.opp(2, 0);
        assert_eq!(rows.point(0), 0, "500 of 2802 MHz: 17.8 %");
        rows.opp(2, 16);
        assert_eq!(rows.point(0), 2);
    }

    #[test]
    fn most_machines_have_one_row() {
        let platform = Platform::builtin("hikey960").expect("built in");
        assert!(Rows::new(&platform).is_none());
    }
}

//! What a hardware state draws: tables of a platform's power figures, in integers.
//!
//! The parts add up: the CPUs (each busy, idle or between the two), the clusters they sit in, and
//! the board: a constant, and what it draws more while CPUs work (docs/decisions/055).
//!
//! | state                               | CPU              | cluster                          |
//! |-------------------------------------|------------------|----------------------------------|
//! | running                             | `cpu_busy`       | `cluster_on`                     |
//! | running, as other threads of a core | `.._beside`      | `cluster_on`                     |
//! | entering or leaving a state         | `cpu_transition` | `cluster_on`                     |
//! | idle, another of its cluster is not | `cpu_idle`       | `cluster_on`                     |
//! | idle, and so is the whole cluster   | `cpu_idle`       | `cluster_idle` of the shallowest |
//! | the cluster is in a cluster state   | `cpu_idle`       | `cluster_idle` of that state     |
//!
//! A cluster whose operating points carry a power lies in one frequency domain (`platform` checks
//! it), so its operating point is that of its first CPU. Where several clusters share a clock, each
//! draws the figure. A cluster without figures draws nothing of its own: its CPUs' figures include
//! it, as those of the kernel's Energy Model do.
//!
//! A *point* is what the powers of a CPU are looked up by. Where powers were measured beside
//! another clock it is the operating point and the state of that clock; `Rows` follows it through
//! a run. Everywhere else it is the operating point.
//!
//! Called by the meter (`crates/metrics`), by heat and power limits of the engine and by the
//! optimum; no policy asks. Figures are in the platform's unit, µW where it has watts; indices are
//! those of the platform.
//!
//! What must stay: a change of a figure's rule moves every energy (CHANGELOG.md). An idle CPU never
//! draws more than a busy one. A way into or out of a state breaks even at its min-residency
//! (docs/decisions/006). Figures are integers, rounded down. Free: how tables are laid out and when
//! they are made. Tests by part: `hikey960_draws_what_the_energy_model_says`,
//! `tc2_draws_the_published_bogo_figures` and
//! `juno_draws_lisas_table_in_milliwatts_and_its_kernel_has_another` (`busy_row`, `idle_row`,
//! `on_row`, `cluster_power`, `at`, `unit`), `hikey960_draws_more_for_work` (`work`, `work_rows`,
//! `has_work`, `board`), `transitions_break_even_at_min_residency` and
//! `a_transition_lies_between_the_state_and_busy` (`transition`, `transition_row`),
//! `polling_is_busy` (`stated`), `an_idle_cpu_never_draws_more_than_a_busy_one` (`cpu_idle`),
//! `without_figures_there_is_no_model` (`PowerModel::new`), `a_state_of_another_cpu_is_refused` and
//! `a_transition_of_another_cpu_is_refused` (states that a CPU lacks),
//! crates/metrics/src/meter/tests.rs::`threads_of_a_core_share_power` (`share`, `cpu_busy_beside`),
//! meter/tests.rs::`clock_gated_power_goes_with_the_clock` (`measured`, `ByPoint`).
//!
//! Tests: below, beside its modules, crates/metrics/src/meter/tests.rs

mod rows;
mod thermal;

pub use rows::Rows;
pub use thermal::ThermalRc;
use wakeplace_platform::{CpuId, IdleState, MeasuredPoint, Platform, PowerUnit};

/// Power of every state of one platform, in its unit (microwatts, or bogo units).
#[derive(Clone, Debug)]
pub struct PowerModel {
    unit: PowerUnit,
    /// Per CPU and point.
    cpu_busy: Vec<Vec<u64>>,
    /// Per CPU and idle state of the platform; `None` where the CPU does not have the state.
    cpu_idle: Vec<Vec<Option<ByPoint>>>,
    /// Per CPU and idle state of the platform; `None` = as busy.
    cpu_transition: Vec<Vec<Option<ByPoint>>>,
    /// Per cluster and point.
    cluster_on: Vec<Vec<u64>>,
    /// Per idle state of the platform; `None` = as at the point.
    cluster_idle: Vec<Option<u64>>,
    /// Per cluster and idle state: whether any CPU of the cluster has the state.
    cluster_has: Vec<Vec<bool>>,
    /// Of a core with 1, 2, ... busy threads, 1024 = one; empty: each draws as alone.
    core_power: Vec<u32>,
    board: u64,
    /// Per CPU and operating point; empty: the platform has no such figures.
    work: Vec<Vec<u64>>,
}

/// A power that is the same at every point, or one for each.
#[derive(Clone, Debug)]
enum ByPoint {
    All(u64),
    Each(Vec<u64>),
}

impl ByPoint {
    /// The power at a point.
    fn at(&self, point: usize) -> u64 {
        match self {
            Self::All(power) => *power,
            Self::Each(powers) => powers[point],
        }
    }
}

impl PowerModel {
    /// The tables of a platform; `None` if it has no power figures.
    ///
    /// # Panics
    /// If the platform is not as `Platform::from_toml` leaves it: with a unit, every operating
    /// point and every idle state has a CPU power.
    #[must_use]
    pub fn new(platform: &Platform) -> Option<Self> {
        if platform.power_unit == PowerUnit::None {
            return None;
        }
        let cpus = || (0..).take(platform.cpus.len()).map(CpuId);
        Some(Self {
            unit: platform.power_unit,
            cpu_busy: cpus().map(|cpu| busy_row(platform, cpu)).collect(),
            cpu_idle: cpus().map(|cpu| idle_row(platform, cpu)).collect(),
            cpu_transition: cpus().map(|cpu| transition_row(platform, cpu)).collect(),
            cluster_on: platform
                .clusters
                .iter()
                .map(|c| on_row(platform, c.cpus[0]))
                .collect(),
            cluster_idle: platform
                .idle_states
                .iter()
                .map(|s| cluster_power(platform, s))
                .collect(),
            cluster_has: platform
                .clusters
                .iter()
                .map(|c| has_row(platform, &c.cpus))
                .collect(),
            core_power: platform
                .smt
                .as_ref()
                .map_or_else(Vec::new, |smt| smt.core_power.clone()),
            board: platform.board.as_ref().map_or(0, |board| board.power_uw),
            work: work_rows(platform),
        })
    }

    /// Unit of every figure; never `PowerUnit::None`.
    #[must_use]
    pub fn unit(&self) -> PowerUnit {
        self.unit
    }

    /// Power of a CPU that runs at an operating point of its frequency domain.
    ///
    /// # Panics
    /// If the platform has no such CPU, or its domain no such point.
    #[must_use]
    pub fn cpu_busy(&self, cpu: CpuId, point: usize) -> u64 {
        self.cpu_busy[cpu.index()][point]
    }

    /// Power of a CPU that runs while `others` more threads of its core run: its equal share of
    /// what the core draws with all of them.
    ///
    /// # Panics
    /// If the platform has no such CPU, or its domain no such point.
    #[must_use]
    pub fn cpu_busy_beside(&self, cpu: CpuId, others: usize, point: usize) -> u64 {
        self.share(self.cpu_busy(cpu, point), others)
    }

    /// The share of a core's power that falls to one of its threads while `others` more run.
    fn share(&self, alone: u64, others: usize) -> u64 {
        let of_core = |power: &u32| alone * u64::from(*power) / (1024 * (others as u64 + 1));
        self.core_power.get(others).map_or(alone, of_core)
    }

    /// Power of a CPU in an idle state (index in `Platform::idle_states`) while its domain stands
    /// at an operating point. Published tables give one figure per state and no operating point; it
    /// is taken as it is, up to what the CPU would draw busy there.
    ///
    /// # Panics
    /// If the platform has no such CPU, the CPU no such state or its domain no such point.
    #[must_use]
    pub fn cpu_idle(&self, cpu: CpuId, state: usize, point: usize) -> u64 {
        let own = self.cpu_idle[cpu.index()][state].as_ref();
        let power = own.expect("the CPU has the state").at(point);
        power.min(self.cpu_busy(cpu, point))
    }

    /// Power of a CPU that enters or leaves an idle state (index in `Platform::idle_states`) while
    /// its domain stands at an operating point. Nobody publishes it: it is the power at which the
    /// state costs, over exactly its min-residency, what the CPU's shallowest state costs, as Linux
    /// defines min-residency (Documentation/devicetree/bindings/cpu/idle-states.yaml). At least the
    /// state's own power, at most busy power; the latter for the shallowest state and for one
    /// without latencies.
    ///
    /// # Panics
    /// If the platform has no such CPU, the CPU no such state or its domain no such point.
    #[must_use]
    pub fn cpu_transition(&self, cpu: CpuId, state: usize, point: usize) -> u64 {
        let own = self.cpu_idle[cpu.index()][state].as_ref();
        assert!(own.is_some(), "the CPU has the state");
        let busy = self.cpu_busy(cpu, point);
        let power = self.cpu_transition[cpu.index()][state].as_ref();
        power.map_or(busy, |power| power.at(point).min(busy))
    }

    /// Power of a cluster (index in `Platform::clusters`) of which at least one CPU runs (or enters
    /// or leaves a state), at an operating point of its first CPU's domain.
    ///
    /// # Panics
    /// If the platform has no such cluster, or the domain no such point.
    #[must_use]
    pub fn cluster_on(&self, cluster: usize, point: usize) -> u64 {
        self.cluster_on[cluster][point]
    }

    /// Power of a cluster of which all CPUs are idle. `state` is the cluster state it is in, else
    /// the shallowest state among its CPUs. A state without a cluster figure leaves the cluster at
    /// what it draws at the operating point.
    ///
    /// # Panics
    /// If the platform has no such cluster, no CPU of the cluster has the state, or the domain has
    /// no such point.
    #[must_use]
    pub fn cluster_idle(&self, cluster: usize, state: usize, point: usize) -> u64 {
        assert!(
            self.cluster_has[cluster][state],
            "a CPU of the cluster has the state"
        );
        let on = self.cluster_on(cluster, point);
        self.cluster_idle[state].unwrap_or(on)
    }

    /// Power of everything that is neither CPU nor cluster; 0 where the platform gives none.
    #[must_use]
    pub fn board(&self) -> u64 {
        self.board
    }

    /// Whether the platform says what its board draws more while CPUs work.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// What the board draws more while a CPU runs at an operating point of its domain beside
    /// `others` more threads of its core, which share it as they share the core's power. 0 where
    /// the platform gives none; an idle CPU, and one on its way into or out of a state, adds
    /// nothing.
    ///
    /// # Panics
    /// If the platform has figures and no such CPU, or its domain no such point.
    #[must_use]
    pub fn work(&self, cpu: CpuId, others: usize, point: usize) -> u64 {
        let alone = self.work.get(cpu.index()).map_or(0, |row| row[point]);
        self.share(alone, others)
    }
}

/// Empty if no operating point has a figure.
fn work_rows(platform: &Platform) -> Vec<Vec<u64>> {
    if !platform.has_work_power() {
        return Vec::new();
    }
    let row = |cpu: CpuId| {
        let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
        opps.iter().map(|opp| opp.work_power.unwrap_or(0)).collect()
    };
    (0..)
        .take(platform.cpus.len())
        .map(CpuId)
        .map(row)
        .collect()
}

/// Measured powers of the domain of a CPU, by point; None: its operating points state them.
fn measured(platform: &Platform, cpu: CpuId) -> Option<&[MeasuredPoint]> {
    let domain = &platform.freq_domains[platform.freq_domain_of(cpu)];
    domain
        .measured
        .as_ref()
        .map(|measured| measured.points.as_slice())
}

/// Power of a busy CPU at each point of its domain.
fn busy_row(platform: &Platform, cpu: CpuId) -> Vec<u64> {
    if let Some(points) = measured(platform, cpu) {
        return points.iter().map(|point| point.busy_uw).collect();
    }
    let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
    opps.iter()
        .map(|opp| opp.power.expect("a validated operating point has a power"))
        .collect()
}

/// What a CPU draws in each idle state.
fn idle_row(platform: &Platform, cpu: CpuId) -> Vec<Option<ByPoint>> {
    let shallowest = platform.idle_states_of(cpu).next().map(|(index, _)| index);
    let power = |(index, state): (usize, &IdleState)| {
        let of = |point: &MeasuredPoint| match Some(index) == shallowest {
            true => point.gated_uw,
            false => point.off_uw,
        };
        let power = match measured(platform, cpu) {
            Some(points) => ByPoint::Each(points.iter().map(of).collect()),
            None => ByPoint::All(stated(state)),
        };
        state.cpus.contains(&cpu).then_some(power)
    };
    platform.idle_states.iter().enumerate().map(power).collect()
}

/// Of a state; one that polls without a figure draws what a busy CPU does, which `cpu_idle` bounds.
fn stated(state: &IdleState) -> u64 {
    match (state.cpu_power, state.polling) {
        (None, true) => u64::MAX,
        (power, _) => power.expect("a validated idle state has a power"),
    }
}

/// What a CPU draws on its way into and out of each state but the first in which it halts.
fn transition_row(platform: &Platform, cpu: CpuId) -> Vec<Option<ByPoint>> {
    let mut row = vec![None; platform.idle_states.len()];
    let idle = idle_row(platform, cpu);
    // A state pays if it costs less than the first one in which the CPU halts.
    let mut states = platform.idle_states_of(cpu).filter(|(_, s)| !s.polling);
    let Some((first, _)) = states.next() else {
        return row;
    };
    let power = |index: usize, point| idle[index].as_ref().map_or(0, |power| power.at(point));
    for (index, state) in states {
        let at = |point| transition(state, power(first, point), power(index, point));
        row[index] = match measured(platform, cpu) {
            Some(points) => {
                let each: Option<Vec<u64>> = (0..points.len()).map(at).collect();
                each.map(ByPoint::Each)
            }
            None => at(0).map(ByPoint::All),
        };
    }
    row
}

/// P of `P * (entry + exit) + P_state * (residency - entry) = P_shallowest * residency`, at least
/// the state's own; None for a state without latencies.
fn transition(state: &IdleState, shallowest: u64, own: u64) -> Option<u64> {
    let latency = u128::from(state.entry_latency_ns) + u128::from(state.exit_latency_ns);
    let residency = state.min_residency_ns;
    let inside = residency.saturating_sub(state.entry_latency_ns);
    let all = u128::from(shallowest) * u128::from(residency);
    let rest = all.saturating_sub(u128::from(own) * u128::from(inside));
    let power = rest.checked_div(latency)?;
    Some(u64::try_from(power).unwrap_or(u64::MAX).max(own))
}

/// What a cluster draws in an idle state. Where powers were measured it draws nothing once all its
/// CPUs are off, and is up while one is only clock-gated.
fn cluster_power(platform: &Platform, state: &IdleState) -> Option<u64> {
    let first = *state.cpus.first()?;
    if measured(platform, first).is_none() {
        return state.cluster_power;
    }
    let mut states = platform.idle_states_of(first);
    let gated = states
        .next()
        .is_some_and(|(_, shallowest)| shallowest == state);
    (!gated).then_some(0)
}

/// For each idle state whether some CPU of the cluster has it.
fn has_row(platform: &Platform, cluster: &[CpuId]) -> Vec<bool> {
    let has = |state: &IdleState| cluster.iter().any(|cpu| state.cpus.contains(cpu));
    platform.idle_states.iter().map(has).collect()
}

/// Power of a cluster that is up, at each point of its first CPU's domain; 0 without figures.
fn on_row(platform: &Platform, first: CpuId) -> Vec<u64> {
    if let Some(points) = measured(platform, first) {
        return points.iter().map(|point| point.cluster_uw).collect();
    }
    let opps = &platform.freq_domains[platform.freq_domain_of(first)].opps;
    opps.iter()
        .map(|opp| opp.cluster_power.unwrap_or(0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::PowerModel;
    use wakeplace_platform::{CpuId, Platform, PowerUnit};

    fn builtin(name: &str) -> (Platform, PowerModel) {
        let platform = Platform::builtin(name).expect("built in");
        let model = PowerModel::new(&platform).expect("it has power");
        (platform, model)
    }

    fn state(platform: &Platform, cpu: u32, name: &str) -> usize {
        let mut states = platform.idle_states_of(CpuId(cpu));
        states
            .find(|(_, state)| state.name == name)
            .expect("the CPU has it")
            .0
    }

    /// Goal: a CPU that polls draws what it draws busy, at each operating point, and the states
    /// below it cost as if it were not there (docs/rules/cpuidle.md#poll).
    #[test]
    fn polling_is_busy() {
        let (mut platform, model) = builtin("alder-lake-12900k");
        for cpu in [0, 16].map(CpuId) {
            let opps = &platform.freq_domains[platform.freq_domain_of(cpu)].opps;
            for opp in 0..opps.len() {
                let busy = model.cpu_busy(cpu, opp);
                assert_eq!(
                    model.cpu_idle(cpu, state(&platform, cpu.0, "POLL"), opp),
                    busy
                );
            }
        }
        let c10 = state(&platform, 0, "C10");
        let transition = model.cpu_transition(CpuId(0), c10, 0);
        platform.idle_states.remove(0);
        let without = PowerModel::new(&platform).expect("it has power");
        assert_eq!(without.cpu_transition(CpuId(0), c10 - 1, 0), transition);
    }

    #[test]
    fn hikey960_draws_what_the_energy_model_says() {
        let (platform, model) = builtin("hikey960");
        assert_eq!(model.unit(), PowerUnit::Microwatt);
        // Power column of the Energy Model: coefficient * mV^2 * MHz / 10^6.
        for (cpu, coefficient, opps) in [
            (
                0,
                110,
                [
                    (533, 700),
                    (999, 800),
                    (1402, 900),
                    (1709, 1000),
                    (1844, 1100),
                ],
            ),
            (
                7,
                550,
                [
                    (903, 700),
                    (1421, 800),
                    (1805, 900),
                    (2112, 1000),
                    (2362, 1100),
                ],
            ),
        ] {
            for (opp, (mhz, mv)) in opps.into_iter().enumerate() {
                let power = coefficient * mv * mv * mhz / 1_000_000;
                assert_eq!(model.cpu_busy(CpuId(cpu), opp), power);
            }
        }
        // hi3660-sched-energy.dtsi: A53 cluster 12, 22, 36 mW; A73 cluster 0.
        let published: Vec<u64> = (0..3).map(|opp| model.cluster_on(0, opp)).collect();
        assert_eq!(published, [12_000, 22_000, 36_000]);
        assert!((0..5).all(|opp| model.cluster_on(1, opp) == 0));
        // Idle power is Juno's ratio: 6/33 of 28728, 17/26 of 12000.
        let wfi = state(&platform, 0, "WFI");
        assert_eq!(model.cpu_idle(CpuId(0), wfi, 4), 28_728 * 6 / 33);
        let sleep = state(&platform, 0, "cluster-sleep-0");
        assert_eq!(model.cluster_idle(0, sleep, 4), 12_000 * 17 / 26);
        // All CPUs in WFI: the table has no figure, the cluster stays at its operating point.
        assert_eq!(model.cluster_idle(0, wfi, 1), 22_000);
        let board = platform.board.as_ref().expect("the file has one");
        assert_eq!(model.board(), board.power_uw);
    }

    /// Goal: by hand what a HiKey960 draws for work. Method: LISA's energy of two seconds (mJ)
    /// halved is mW per busy CPU; less the Energy Model's figure. A second of one A73 at 903 MHz is
    /// then 165532 uJ beside its own 243358 uJ.
    #[test]
    fn hikey960_draws_more_for_work() {
        let (_, model) = builtin("hikey960");
        assert!(model.has_work());
        for (cpu, nanojoules) in [
            (
                0,
                [
                    111_097_572,
                    276_848_770,
                    507_566_344,
                    768_628_816,
                    1_027_743_916,
                ],
            ),
            (
                7,
                [
                    817_780_220,
                    1_718_690_678,
                    2_828_753_948,
                    4_512_370_632,
                    6_381_734_229,
                ],
            ),
        ] {
            for (opp, energy_nj) in nanojoules.into_iter().enumerate() {
                let measured_uw = (energy_nj / 2_u64 + 500) / 1000;
                let work = measured_uw - model.cpu_busy(CpuId(cpu), opp);
                assert_eq!(model.work(CpuId(cpu), 0, opp), work, "CPU {cpu} at {opp}");
            }
        }
        assert_eq!(
            (model.work(CpuId(4), 0, 0), model.cpu_busy(CpuId(4), 0)),
            (165_532, 243_358)
        );
        // No threads that share a core: beside others it is the same.
        assert_eq!(model.work(CpuId(4), 1, 0), 165_532);
        let (_, juno) = builtin("juno-r0");
        assert!(!juno.has_work() && juno.work(CpuId(5), 0, 4) == 0);
    }

    /// Goal: at min-residency a state costs what WFI costs. Method: by hand from hi3660.dtsi's
    /// latencies and residencies (us) and the platform's idle powers: WFI 5223 and 21728 uW, the
    /// deeper ones 0, so that P = P_wfi * residency / (entry + exit), rounded down.
    #[test]
    fn transitions_break_even_at_min_residency() {
        let (platform, model) = builtin("hikey960");
        for (cpu, name, expected) in [
            (0, "cpu-sleep-0", 5_223 * 1_500 / (400 + 650)), // 7461
            (4, "cpu-sleep-1", 21_728 * 1_500 / (400 + 550)), // 34307
            (0, "cluster-sleep-0", 5_223 * 3_500 / (500 + 1_600)), // 8705
            (4, "cluster-sleep-1", 21_728 * 3_500 / (800 + 2_900)), // 20553
        ] {
            let state = state(&platform, cpu, name);
            for opp in 0..5 {
                let power = model.cpu_transition(CpuId(cpu), state, opp);
                assert_eq!(power, expected, "{name} at {opp}");
            }
            // The books at min-residency, in uW x ns: off by less than the rounding.
            let s = &platform.idle_states[state];
            let wfi = [5_223, 21_728][usize::from(cpu == 4)] * s.min_residency_ns;
            let latency = s.entry_latency_ns + s.exit_latency_ns;
            assert!((0..latency).contains(&(wfi - expected * latency)), "{name}");
        }
        // WFI, the shallowest: busy power.
        let wfi = state(&platform, 0, "WFI");
        assert_eq!(model.cpu_transition(CpuId(0), wfi, 0), 28_728);
        assert_eq!(model.cpu_transition(CpuId(0), wfi, 4), 245_436);
    }

    #[test]
    fn a_transition_lies_between_the_state_and_busy() {
        let (mut platform, _) = builtin("hikey960");
        let sleep = state(&platform, 0, "cpu-sleep-0");
        // (5223 * 1500 - 1000 * (1500 - 400)) / 1050 = 6734500 / 1050 = 6413.8.
        // (5223 * 1500 - 5000 * (1500 - 400)) / 1050 = 2223.3: not below the state's 5000.
        // 8000 * 1100 is more than 5223 * 1500: again the state's own.
        for (own, expected) in [(1_000, 6_413), (5_000, 5_000), (8_000, 8_000)] {
            platform.idle_states[sleep].cpu_power = Some(own);
            let model = PowerModel::new(&platform).expect("it has power");
            assert_eq!(model.cpu_transition(CpuId(0), sleep, 2), expected);
        }
        // 5223 * 1500 / (100 + 150) = 31338: more than busy at 533 MHz (28728), less than at 999.
        let s = &mut platform.idle_states[sleep];
        (s.cpu_power, s.entry_latency_ns, s.exit_latency_ns) = (Some(0), 100_000, 150_000);
        let model = PowerModel::new(&platform).expect("it has power");
        assert_eq!(model.cpu_transition(CpuId(0), sleep, 0), 28_728);
        assert_eq!(model.cpu_transition(CpuId(0), sleep, 1), 31_338);
        // No latency: busy power.
        let s = &mut platform.idle_states[sleep];
        (s.entry_latency_ns, s.exit_latency_ns) = (0, 0);
        let model = PowerModel::new(&platform).expect("it has power");
        assert_eq!(model.cpu_transition(CpuId(0), sleep, 1), 70_329);
    }

    #[test]
    fn tc2_draws_the_published_bogo_figures() {
        let (platform, model) = builtin("tc2");
        assert_eq!(model.unit(), PowerUnit::Bogo);
        assert_eq!(model.cpu_busy(CpuId(1), 7), 6997);
        assert_eq!(model.cpu_busy(CpuId(4), 0), 187);
        assert_eq!(model.cluster_on(0, 7), 15_200);
        assert_eq!(model.cluster_on(1, 1), 2792);
        // Clusters in WFI and in their sleep state: A15 70 and 25, A7 25 and 10.
        for (cluster, cpu, sleep, wfi_power, sleep_power) in [
            (0, 0, "cluster-sleep-big", 70, 25),
            (1, 2, "cluster-sleep-little", 25, 10),
        ] {
            let wfi = state(&platform, cpu, "WFI");
            assert_eq!(model.cluster_idle(cluster, wfi, 3), wfi_power);
            assert_eq!(
                model.cluster_idle(cluster, state(&platform, cpu, sleep), 3),
                sleep_power
            );
        }
        assert_eq!(model.cpu_idle(CpuId(0), state(&platform, 0, "WFI"), 0), 0);
    }

    #[test]
    fn juno_draws_lisas_table_in_milliwatts_and_its_kernel_has_another() {
        let (platform, model) = builtin("juno-r0");
        assert_eq!(model.cpu_busy(CpuId(3), 4), 93_000);
        assert_eq!(model.cpu_busy(CpuId(1), 0), 168_000);
        let in_model =
            |domain: usize, opp: usize| platform.freq_domains[domain].opps[opp].power_in_model();
        // 140 and 530 uW/MHz/V^2: 850 MHz at 1 V, 450 MHz at 0.82 V.
        assert_eq!(in_model(0, 4), Some(119_000));
        assert_eq!(in_model(1, 0), Some(160_367));
        let wfi = state(&platform, 1, "WFI");
        assert_eq!(model.cpu_idle(CpuId(2), wfi, 0), 15_000);
        assert_eq!(model.cluster_idle(1, wfi, 0), 65_000);
        let sleep = state(&platform, 0, "cluster-sleep-0");
        assert_eq!(model.cluster_idle(0, sleep, 0), 17_000);
    }

    #[test]
    fn an_idle_cpu_never_draws_more_than_a_busy_one() {
        let (mut platform, _) = builtin("hikey960");
        let wfi = state(&platform, 0, "WFI");
        platform.idle_states[wfi].cpu_power = Some(50_000);
        let model = PowerModel::new(&platform).expect("it has power");
        assert_eq!(model.cpu_idle(CpuId(0), wfi, 0), 28_728);
        assert_eq!(model.cpu_idle(CpuId(0), wfi, 1), 50_000);
    }

    #[test]
    fn without_figures_there_is_no_model() {
        let (mut platform, _) = builtin("tc2");
        platform.power_unit = PowerUnit::None;
        assert!(PowerModel::new(&platform).is_none());
    }

    #[test]
    #[should_panic(expected = "the CPU has the state")]
    fn a_state_of_another_cpu_is_refused() {
        let (platform, model) = builtin("hikey960");
        let _ = model.cpu_idle(CpuId(0), state(&platform, 4, "cpu-sleep-1"), 0);
    }

    #[test]
    #[should_panic(expected = "the CPU has the state")]
    fn a_transition_of_another_cpu_is_refused() {
        let (platform, model) = builtin("hikey960");
        let _ = model.cpu_transition(CpuId(0), state(&platform, 4, "cpu-sleep-1"), 0);
    }
}

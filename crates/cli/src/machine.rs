//! A platform as the policy core sees it: its scheduling domains and its energy model, read from
//! the core's own state, so that no second formula computes them (docs/guide/platforms.md).
//!
//! Called by `platform show` alone; nothing of it goes into a run.
//!
//! What must stay: figures are read from the core's state, and nothing is computed anew. Units are
//! the core's: capacities of 1024, costs as `policy/src/energy` computes them. The order of
//! domains, groups and states is the core's. Tests by part:
//! `every_builtin_platform_has_domains_that_span_it` (`domain`, `list`),
//! `hybrids_have_costs_from_the_kernel_on_that_states_them` (`energy_states`, `energy_inactive`),
//! `the_fastest_state_of_the_biggest_cpu_performs_1024` and
//! `a_board_without_powers_may_have_a_model_of_clocks` (`energy_states`). No test of its own:
//! `flags`.
//!
//! Tests: below

use wakeplace_engine::core_facts;
use wakeplace_platform::Platform;
use wakeplace_policy_sys::sys::{self, wp_ctx};
use wakeplace_policy_sys::{Core, MachineError, Policy};

/// A scheduling domain as the core built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Domain {
    /// Name of its topology level.
    pub(crate) level: String,
    /// CPUs it spans, ascending.
    pub(crate) cpus: Vec<u32>,
    /// Its groups' CPUs.
    pub(crate) groups: Vec<Vec<u32>>,
    /// What it is used for.
    pub(crate) flags: Vec<&'static str>,
    /// Imbalance tolerated between its groups, percent.
    pub(crate) imbalance_pct: u32,
}

/// A state of the core's energy model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EnergyState {
    /// Capacity at this state, of 1024.
    pub(crate) performance: u32,
    /// The estimate's price of work at this state: power in uW * 10 / performance, if not
    /// `artificial`.
    pub(crate) cost: u32,
    /// The cost is of no power: a driver's, or made of capacity and clock.
    pub(crate) artificial: bool,
    /// A faster state costs no more.
    pub(crate) inefficient: bool,
}

/// What the core made of a platform.
#[derive(Clone, Debug)]
pub(crate) struct CoreView {
    /// All domains, from the bottom level up.
    pub(crate) domains: Vec<Domain>,
    /// Per frequency domain of the platform its states; empty without an energy model.
    pub(crate) energy: Vec<Vec<EnergyState>>,
    /// Why the energy-aware wake-up is off although the policy has it.
    pub(crate) energy_inactive: Option<&'static str>,
}

impl CoreView {
    /// Builds a core for the platform under the policy and reads it.
    pub(crate) fn new(platform: &Platform, policy: &Policy) -> Result<Self, MachineError> {
        let core = Core::new(&core_facts(platform, policy), policy.core_params())?;
        let ctx = core.state();
        let mut domains: Vec<_> = ctx.doms[..ctx.nr_doms as usize]
            .iter()
            .map(|dom| (dom.topo_level, domain(platform, ctx, dom)))
            .collect();
        domains.sort_by_key(|(level, domain)| (*level, domain.cpus.first().copied()));
        Ok(Self {
            domains: domains.into_iter().map(|(_, domain)| domain).collect(),
            energy: core.energy_tables().map(energy_states).collect(),
            energy_inactive: core.energy_inactive(),
        })
    }
}

/// CPU numbers of a part of the core's list of CPUs (`wp_ctx.list`), in the core's order.
fn list(ctx: &wp_ctx, first: u32, count: u32) -> Vec<u32> {
    let first = first as usize;
    ctx.list[first..first + count as usize]
        .iter()
        .map(|cpu| u32::from(*cpu))
        .collect()
}

/// A sched domain of the core in words.
fn domain(platform: &Platform, ctx: &wp_ctx, dom: &sys::wp_sched_domain) -> Domain {
    let level = platform.topology.get(dom.topo_level as usize);
    let above = match ctx.topo[dom.topo_level as usize].distance {
        0 => dom.topo_level.to_string(),
        distance => format!("NUMA {distance}"),
    };
    let first = dom.first_group as usize;
    let groups = &ctx.groups[first..first + dom.nr_groups as usize];
    Domain {
        level: level.map_or(above, |level| level.name.clone()),
        cpus: list(ctx, dom.first_cpu, dom.nr_cpus),
        groups: groups
            .iter()
            .map(|group| list(ctx, group.first_cpu, group.nr_cpus))
            .collect(),
        flags: flags(dom.flags),
        imbalance_pct: dom.imbalance_pct,
    }
}

/// The kernel's words for a domain's flags.
fn flags(bits: u32) -> Vec<&'static str> {
    const NAMES: [(u32, &str); 13] = [
        (sys::WP_SD_SHARE_CPUCAPACITY, "share-capacity"),
        (sys::WP_SD_SHARE_LLC, "share-cache"),
        (sys::WP_SD_ASYM_CPUCAPACITY, "asym-capacity"),
        (sys::WP_SD_ASYM_CPUCAPACITY_FULL, "asym-capacity-full"),
        (sys::WP_SD_BALANCE_WAKE, "balance-wake"),
        (sys::WP_SD_BALANCE_FORK, "balance-fork"),
        (sys::WP_SD_BALANCE_EXEC, "balance-exec"),
        (sys::WP_SD_BALANCE_NEWIDLE, "balance-newidle"),
        (sys::WP_SD_WAKE_AFFINE, "wake-affine"),
        (sys::WP_SD_PREFER_SIBLING, "prefer-sibling"),
        (sys::WP_SD_CLUSTER, "cluster"),
        (sys::WP_SD_NUMA, "numa"),
        (sys::WP_SD_ASYM_PACKING, "asym-packing"),
    ];
    NAMES
        .iter()
        .filter(|(bit, _)| bits & bit != 0)
        .map(|(_, name)| *name)
        .collect()
}

/// The states of the core's energy model of a domain.
fn energy_states(table: &sys::wp_em_perf_table) -> Vec<EnergyState> {
    let states = &table.state[..table.nr_states as usize];
    let state = |s: &sys::wp_em_perf_state| EnergyState {
        performance: s.performance,
        cost: s.cost,
        artificial: table.artificial != 0,
        inefficient: s.inefficient != 0,
    };
    states.iter().map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::CoreView;
    use wakeplace_platform::{Platform, PowerUnit, builtin_names};
    use wakeplace_policy_sys::Policy;

    #[test]
    fn every_builtin_platform_has_domains_that_span_it() {
        let policy = Policy::parse("linux-4.17+energy-aware").expect("a policy");
        for name in builtin_names() {
            let platform = Platform::load(name).expect("built in");
            let view = CoreView::new(&platform, &policy).expect("facts the core takes");
            let top = view.domains.last().expect("a domain");
            assert_eq!(top.cpus.len(), platform.cpus.len(), "{name}");
            let mut in_groups: Vec<u32> = top.groups.iter().flatten().copied().collect();
            let listed = in_groups.len();
            in_groups.sort_unstable();
            in_groups.dedup();
            assert_eq!(in_groups, top.cpus, "{name}: groups cover the span");
            // Groups of nodes that form a ring or a mesh overlap
            // (docs/rules/domains.md#numa-nodes).
            let distances = platform.numa.as_ref().map(|numa| &numa.distances[..]);
            let levels = wakeplace_platform::numa::levels(distances.unwrap_or_default());
            let overlap = levels.last().is_some_and(|level| !level.near.is_empty());
            assert_eq!(
                listed > in_groups.len(),
                overlap,
                "{name}: groups partition the span"
            );
            let models = match platform.power_unit {
                PowerUnit::None => 0,
                _ if !platform.has_energy_model => 0,
                // 4.17 has no driver that states costs.
                _ => { platform.freq_domains.iter() }
                    .filter(|domain| domain.em_costs.is_none())
                    .count(),
            };
            assert_eq!(view.energy.len(), models, "{name}");
        }
    }

    /// Goal: the costs that intel_pstate states are a hybrid's model from 6.16 on
    /// (docs/decisions/039): four states at 40, 60, 80 and 100 % of 1024 and of 605, at 2 to 5 and
    /// 2 more on a P core, 1 more on an E core; before, and with SMT, there is none.
    #[test]
    fn hybrids_have_costs_from_the_kernel_on_that_states_them() {
        let view = |platform: &str, policy: &str| {
            let platform = Platform::load(platform).expect("built in");
            let policy = Policy::parse(policy).expect("a policy");
            CoreView::new(&platform, &policy).expect("facts the core takes")
        };
        let new = view("alder-lake-12900k-nosmt", "linux-7.3");
        assert_eq!((new.energy.len(), new.energy_inactive), (16, None));
        let states = |cpu: usize| -> Vec<(u32, u32, bool)> {
            let states = new.energy[cpu].iter();
            states
                .map(|s| (s.performance, s.cost, s.inefficient))
                .collect()
        };
        let p = [(409, 4), (614, 5), (819, 6), (1024, 7)];
        let e = [(242, 3), (363, 4), (484, 5), (605, 6)];
        let plain = |(performance, cost)| (performance, cost, false);
        assert_eq!(states(0), p.map(plain));
        assert_eq!(states(15), e.map(plain));
        // No L3: 2 to 5, of 688.
        let island = view("lunar-lake-258v", "linux-7.3");
        let costs: Vec<u32> = island.energy[7].iter().map(|s| s.cost).collect();
        assert_eq!(costs, [2, 3, 4, 5]);
        for (platform, policy) in [
            ("alder-lake-12900k-nosmt", "linux-6.12"),
            ("raptor-lake-1370p-nosmt", "linux-6.2"),
            ("alder-lake-12900k", "linux-7.3"),
        ] {
            let view = view(platform, policy);
            assert!(view.energy.is_empty(), "{platform} {policy}");
            assert!(view.energy_inactive.is_some(), "{platform} {policy}");
        }
        let passive = view("raptor-lake-1370p-nosmt", "linux-7.3:governor=powersave");
        assert!(passive.energy_inactive.is_some(), "schedutil alone");
    }

    /// Goal: of a board whose powers nobody published the policy may make a model of the operating
    /// points (docs/rules/energy-no-watts.md#no-watts-when): sm8550 has three clocks and no powers
    /// (platforms/sm8550.toml).
    #[test]
    fn a_board_without_powers_may_have_a_model_of_clocks() {
        let platform = Platform::load("sm8550").expect("built in");
        for (value, models) in [("off", 0), ("missing", platform.freq_domains.len())] {
            let name = format!("linux-7.3:energy_no_watts={value}");
            let policy = Policy::parse(&name).expect("a policy");
            let view = CoreView::new(&platform, &policy).expect("facts the core takes");
            assert_eq!(view.energy.len(), models, "{value}");
            assert!(view.energy.iter().flatten().all(|state| state.artificial));
            assert_eq!(view.energy_inactive.is_none(), models > 0, "{value}");
        }
    }

    #[test]
    fn the_fastest_state_of_the_biggest_cpu_performs_1024() {
        let platform = Platform::load("hikey960").expect("built in");
        let policy = Policy::parse("linux-4.17+energy-aware").expect("a policy");
        let view = CoreView::new(&platform, &policy).expect("facts the core takes");
        let best = view
            .energy
            .iter()
            .flatten()
            .map(|state| state.performance)
            .max();
        assert_eq!(best, Some(1024));
        assert_eq!(view.energy_inactive, None);
    }
}

//! NUMA levels whose groups overlap, and what cannot be built: docs/rules/domains.md#numa-nodes.
//!
//! What must stay: spans and groups of the rings are derived by hand from the distances; what
//! cannot be built is refused, never built wrongly. It covers policy/src/topology/numa.c. Free: how
//! helpers describe distances.
//! Tests by part: `a_ring_of_four_nodes`, `a_ring_of_six_nodes`, `a_ring_with_a_node_offline`
//! (`wp_build_overlap_sched_groups`, `wp_build_balance_mask`, `wp_collect_near`);
//! `balancing_across_a_ring` (`wp_find_busiest`); `a_ring_of_two_sizes` (`wp_asym_full`);
//! `refusals` (`wp_build_overlap`, `wp_topo_room`); `a_level_that_adds_nothing_takes_no_room`
//! (`wp_sd_parent_degenerate`); `an_energy_model_needs_room` (`WP_EM_FULL`).
//! Helpers, and who fails with them: `ring` (all tests, `a_ring_of_four_nodes` among them); `core`
//! (most tests, `a_ring_of_four_nodes` among them); `wide_ring` (`refusals`,
//! `a_level_that_adds_nothing_takes_no_room`); `list` (`a_ring_of_four_nodes`,
//! `a_ring_of_six_nodes`, `a_ring_with_a_node_offline`, `a_level_that_adds_nothing_takes_no_room`);
//! `domain` (`a_ring_of_four_nodes`, `a_ring_of_six_nodes`, `a_ring_with_a_node_offline`).

use crate::common;

use common::{cluster, labels, machine, policy};
use wakeplace_policy_sys::{Balance, Core, IdleKind, LevelFacts, MachineFacts, Step, sys};

/// Nodes of two CPUs on a ring: neighbours are 20 apart, then one more for each step.
fn ring(nodes: usize) -> MachineFacts {
    let mut facts = machine(&vec![cluster(2, 1024); nodes]);
    facts.levels.truncate(1);
    let steps = |a: usize, b: usize| a.abs_diff(b).min(nodes - a.abs_diff(b));
    for reach in 1..=nodes / 2 {
        let near = |a: usize| {
            let within = (0..nodes).filter(|b| steps(a, *b) <= reach);
            within.fold(0, |bits: u64, b| bits | 1 << b)
        };
        facts.levels.push(LevelFacts {
            numa: true,
            distance: 10 * (reach as u32 + 1),
            group_of: labels(vec![2; nodes]),
            near: (0..nodes).map(near).collect(),
            ..LevelFacts::default()
        });
    }
    facts
}

/// 64 nodes of 16 CPUs on a ring; at each level a node sees those so many steps away.
fn wide_ring(reaches: impl IntoIterator<Item = usize>) -> MachineFacts {
    let mut facts = machine(&vec![cluster(16, 1024); 64]);
    let rings = ring(64).levels;
    facts.levels.truncate(1);
    for reach in reaches {
        let mut level = rings[reach].clone();
        level.group_of = labels(vec![16; 64]);
        facts.levels.push(level);
    }
    facts.perf_domains.clear();
    facts
}

fn core(facts: &MachineFacts) -> Core {
    Core::new(facts, policy("linux-7.3", &[]).core_params()).expect("a machine the core takes")
}

fn list(core: &Core, first: u32, n: u32) -> Vec<u16> {
    core.state().list[first as usize..(first + n) as usize].to_vec()
}

/// The domain of a CPU at a level: its span, its groups, and who balances for the local group.
fn domain(core: &Core, cpu: u32, level: usize) -> (Vec<u16>, Vec<Vec<u16>>, Vec<u16>) {
    let c = core.cpu(cpu);
    let dom = &core.state().doms[c.topo.dom[level] as usize];
    let first = dom.first_group as usize;
    let groups = &core.state().groups[first..first + dom.nr_groups as usize];
    let local = &groups[c.topo.group[level] as usize];
    (
        list(core, dom.first_cpu, dom.nr_cpus),
        groups
            .iter()
            .map(|g| list(core, g.first_cpu, g.nr_cpus))
            .collect(),
        list(core, local.first_balance, local.nr_balance),
    )
}

/// Goal: a ring of four nodes. At 20 each node sees itself and two neighbours: three groups of a
/// node each. At 30 all: the own group is what was seen at 20; from there on the node across is not
/// covered, and brings what it sees. Only CPUs that see just the own group balance for it.
#[test]
fn a_ring_of_four_nodes() {
    let core = core(&ring(4));
    for cpu in [0, 1] {
        let (span, groups, balance) = domain(&core, cpu, 1);
        assert_eq!(span, [0, 1, 2, 3, 6, 7], "CPU {cpu}");
        assert_eq!(groups, [[0, 1], [2, 3], [6, 7]]);
        assert_eq!(balance, [0, 1]);
        let (span, groups, balance) = domain(&core, cpu, 2);
        assert_eq!(span, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(groups, [[0, 1, 2, 3, 6, 7], [2, 3, 4, 5, 6, 7]]);
        assert_eq!(balance, [0, 1], "CPUs 2, 3, 6 and 7 see other nodes");
    }
    let (span, groups, _) = domain(&core, 2, 1);
    assert_eq!(span, [0, 1, 2, 3, 4, 5]);
    assert_eq!(
        groups,
        [[2, 3], [4, 5], [0, 1]],
        "its own first, then on from there"
    );
    for cpu in 0..8 {
        let c = core.cpu(cpu);
        assert_eq!(c.topo.nr_levels, 3, "CPU {cpu}");
        let tops: Vec<u32> = c.topo.dom[..3]
            .iter()
            .map(|d| core.state().doms[*d as usize].top)
            .collect();
        assert_eq!(tops, [0, 0, 1], "CPU {cpu}");
    }
    assert_eq!(
        core.state().nr_doms,
        4 + 4 + 4,
        "a domain per node and level"
    );
}

/// Goal: six nodes on a ring: at 40, all of it, the groups are the spans at 30, which reach two
/// steps: the own one, and that of the node across, three steps away.
#[test]
fn a_ring_of_six_nodes() {
    let core = core(&ring(6));
    let (_, groups, balance) = domain(&core, 4, 2);
    // Node 2 at 30: nodes 0 to 4. Its own span at 20: nodes 1 to 3; CPU 8 (node 4) would bring
    // nodes 3 to 5, which do not lie within: its node alone; CPU 0 likewise.
    assert_eq!(groups, [vec![2, 3, 4, 5, 6, 7], vec![8, 9], vec![0, 1]]);
    assert_eq!(balance, [4, 5]);
    let (span, groups, _) = domain(&core, 4, 3);
    assert_eq!(span.len(), 12);
    assert_eq!(groups[0], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(
        groups[1],
        [0, 1, 2, 3, 6, 7, 8, 9, 10, 11],
        "node 5: all but node 2"
    );
    assert_eq!(groups.len(), 2);
}

/// Goal: tasks move between overlapping groups: node 2 is overloaded, CPU 0 at the other side of
/// the ring pulls from it at the top level, CPU 2 (not asked for that group) leaves it alone.
#[test]
fn balancing_across_a_ring() {
    let facts = ring(4);
    let mut core = core(&facts);
    common::freeze(&mut core);
    for cpu in [4, 5] {
        let c = core.cpu_mut(cpu);
        (
            c.queue.nr_running,
            c.queue.nr_fair,
            c.queue.curr_idle,
            c.queue.curr_fair,
        ) = (4, 4, 0, 1);
        (
            c.load.avg.load_avg,
            c.load.avg.runnable_avg,
            c.load.avg.util_avg,
        ) = (4096, 4096, 1024);
    }
    let mut pull = |cpu| {
        let mut balance = Balance::default();
        balance.prepare(common::NOW, cpu, 2, IdleKind::Idle);
        let step = core.balance_begin(&mut balance);
        core.state_mut().serial_tick = 0;
        (step, balance.src_cpu())
    };
    assert_eq!(pull(0), (Step::Detach, 4));
    // CPU 2's own group is CPUs 0 to 5; CPUs 2 and 3 balance for it, 2 first.
    assert_eq!(pull(3).0, Step::Stop);
}

/// Goal: a CPU that is offline is in no span, and a node without CPUs has no domain.
#[test]
fn a_ring_with_a_node_offline() {
    let mut facts = ring(4);
    facts.online = vec![true; 8];
    (facts.online[4], facts.online[5]) = (false, false);
    let core = core(&facts);
    assert_eq!(core.cpu(4).topo.nr_levels, 0);
    let (span, groups, _) = domain(&core, 0, 1);
    assert_eq!(span, [0, 1, 2, 3, 6, 7]);
    assert_eq!(groups, [[0, 1], [2, 3], [6, 7]]);
    assert_eq!(core.cpu(0).topo.nr_levels, 2, "all at 20 already");
    assert_eq!(
        core.cpu(2).topo.nr_levels,
        3,
        "node 3 is two steps from node 1"
    );
}

/// Goal: a node whose domain has CPUs of two sizes is asymmetric, its neighbour's may be of one
/// (docs/rules/capacity-aware.md#asym-flag: the values of the span are counted). Method: six nodes
/// on a ring, node 3 is little: at 20 nodes 2 to 4 see it, at 30 nodes 1 to 5, at 40 all.
#[test]
fn a_ring_of_two_sizes() {
    let mut facts = ring(6);
    (facts.capacity[6], facts.capacity[7]) = (512, 512);
    facts.perf_domains.clear();
    let core = core(&facts);
    let asymmetric = |level: usize| {
        let flags = |node: u32| {
            let dom = core.cpu(2 * node).topo.dom[level];
            core.state().doms[dom as usize].flags
        };
        let with = (0..6).filter(|node| flags(*node) & sys::WP_SD_ASYM_CPUCAPACITY != 0);
        with.collect::<Vec<u32>>()
    };
    assert_eq!(asymmetric(0), [0; 0], "each node is of one size");
    assert_eq!(asymmetric(1), [2, 3, 4]);
    assert_eq!(asymmetric(2), [1, 2, 3, 4, 5]);
    assert_eq!(asymmetric(3), [0, 1, 2, 3, 4, 5]);
}

/// Goal: what cannot be built is refused: no groups that divide above such that overlap, no more
/// nodes than there are bits, no list that does not fit.
#[test]
fn refusals() {
    let refused = |facts: &MachineFacts| {
        let params = policy("linux-7.3", &[]);
        let result = Core::new(facts, params.core_params());
        result.expect_err("it is refused").to_string()
    };
    let mut facts = ring(4);
    facts.levels[2].near.clear();
    assert_eq!(
        refused(&facts),
        "topology: groups that do not overlap lie above such that do"
    );
    let mut facts = ring(4);
    facts.levels[1].near = vec![1; 65];
    assert_eq!(
        refused(&facts),
        "the policy core has room for 64 nodes in overlapping groups, not 65"
    );
    // Nodes 0 to 63 have a bit.
    for node in [64, 65] {
        let mut facts = ring(4);
        facts.levels[1].group_of[7] = node;
        assert_eq!(
            refused(&facts),
            "topology: a node has no place among those whose groups overlap",
            "{node}"
        );
    }
    // The spans of 7 levels are 64 x 3 x 16 + 64 x 5 x 16 ... long.
    let large = wide_ring(1..=7);
    assert_eq!(
        refused(&large),
        "topology: the domains list more CPUs than the policy core has room for"
    );
    assert_eq!(sys::WP_MAX_LIST, 16 * sys::WP_MAX_CPUS);
}

/// Goal: a level that adds nothing takes no room, also where none is left. 512 cores, 256 and 128
/// domains of 4 and 8 CPUs, 64 nodes, and from each of them what it and the next one are: 1024, the
/// most that there can be. The CPUs of each are those of its list.
#[test]
fn a_level_that_adds_nothing_takes_no_room() {
    let mut facts = wide_ring([1, 1]);
    for level in &mut facts.levels[1..] {
        level.near = (0..64).map(|node| 3_u64.rotate_left(node)).collect();
    }
    let below = [2, 4, 8].map(|cpus| LevelFacts {
        group_of: labels(vec![cpus; 1024 / cpus]),
        ..LevelFacts::default()
    });
    facts.levels.splice(0..0, below);
    let core = core(&facts);
    let state = core.state();
    assert_eq!(state.nr_doms, sys::WP_MAX_DOMS);
    for dom in &state.doms {
        let level = [2, 4, 8, 16, 32][dom.topo_level as usize];
        assert_eq!(dom.nr_cpus, level, "level {}", dom.topo_level);
        let mut span = [0; sys::WP_MASK_WORDS as usize];
        for cpu in list(&core, dom.first_cpu, dom.nr_cpus) {
            span[usize::from(cpu) / 64] |= 1 << (cpu % 64);
        }
        assert_eq!(span, dom.span, "level {}", dom.topo_level);
    }
}

/// Goal: an energy model that the list of CPUs has no room left for is refused. Method: 64 nodes of
/// 13 CPUs on a ring with three levels; its perf domains would list each CPU once more.
#[test]
fn an_energy_model_needs_room() {
    let mut large = ring(64);
    large.levels.truncate(4);
    let wide = machine(&vec![cluster(13, 1024); 64]);
    large.capacity = wide.capacity;
    large.levels[0] = wide.levels[0].clone();
    for level in &mut large.levels[1..] {
        level.group_of = labels(vec![13; 64]);
    }
    (large.freq_domains, large.perf_domains) = (wide.freq_domains, Vec::new());
    let used = core(&large).state().list_len;
    let room = sys::WP_MAX_LIST - used;
    assert!(room < 13 * 64, "{used}");
    large.perf_domains = wide.perf_domains;
    let params = policy("linux-7.3", &[]);
    let error = Core::new(&large, params.core_params()).expect_err("it is refused");
    let first = room / 13;
    assert_eq!(
        error.to_string(),
        format!(
            "energy model of performance domain {first}: there are too many performance domains"
        )
    );
}

//! NUMA levels out of a table of distances: one per distinct distance, as the kernel makes them
//! (kernel/sched/topology.c, `sched_init_numa`) (docs/rules/domains.md).
//!
//! Called by `read/topology.rs` and wherever the core's domains are laid out. Distances are the
//! kernel's, 10 within a node.
//!
//! What must stay: levels stand nearest first, which is the order of the core's sched domains; a
//! change moves those, and so results. Of two directions the shorter counts. Free: what leaves each
//! file's machine as it is (ARCHITECTURE.md, "What a change may touch"), and words of messages that
//! no test quotes. Tests by part: `a_hierarchy_divides` (`group_of`), `a_ring_overlaps` (`near`),
//! `one_node_has_no_level`, builtin.rs::`nodes_that_overlap` (built-in machines), all below
//! (`levels`).
//!
//! Tests: below, crates/platform/tests/all/builtin.rs

/// Most nodes whose groups may overlap: one bit each.
pub const MAX_NODES: usize = 64;

/// Distance of a node to itself (`LOCAL_DISTANCE`).
pub const LOCAL_DISTANCE: u32 = 10;

/// One level: nodes not farther apart than `distance`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumaLevel {
    /// Between the farthest nodes of a group.
    pub distance: u32,
    /// Per node its group, named by its lowest node; the node itself where groups overlap.
    pub group_of: Vec<u16>,
    /// Where groups overlap, here or at a level below: per node the nodes of its group, one bit
    /// each. Empty = the groups divide the nodes.
    pub near: Vec<u64>,
}

/// The levels, nearest first. The table is square; of two directions the shorter counts.
///
/// # Panics
/// With more than `MAX_NODES` nodes.
#[must_use]
pub fn levels(distances: &[Vec<u32>]) -> Vec<NumaLevel> {
    let n = distances.len();
    assert!(n <= MAX_NODES, "{n} nodes");
    let apart = |a: usize, b: usize| distances[a][b].min(distances[b][a]);
    let mut distinct: Vec<u32> = (0..n)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .map(|(a, b)| apart(a, b))
        .collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut overlap = false;
    let level = |distance: u32| {
        let within = |a: usize| (0..n).filter(move |b| a == *b || apart(a, *b) <= distance);
        let near: Vec<u64> = (0..n)
            .map(|a| within(a).fold(0, |bits, b| bits | 1 << b))
            .collect();
        overlap |= (0..n).any(|a| within(a).any(|b| near[b] != near[a]));
        let lowest = |bits: &u64| bits.trailing_zeros() as u16;
        NumaLevel {
            distance,
            group_of: if overlap {
                (0..n as u16).collect()
            } else {
                near.iter().map(lowest).collect()
            },
            near: if overlap { near } else { Vec::new() },
        }
    };
    distinct.into_iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::levels;

    /// Four sockets, two boards: 0-1 and 2-3 near, the rest far. Both levels divide.
    #[test]
    fn a_hierarchy_divides() {
        let table = [
            [10, 12, 32, 32],
            [12, 10, 32, 32],
            [32, 32, 10, 12],
            [32, 32, 12, 10],
        ];
        let table: Vec<Vec<u32>> = table.iter().map(|row| row.to_vec()).collect();
        let levels = levels(&table);
        assert_eq!(levels.len(), 2);
        assert_eq!(
            (levels[0].distance, &levels[0].group_of[..]),
            (12, &[0, 0, 2, 2][..])
        );
        assert_eq!(
            (levels[1].distance, &levels[1].group_of[..]),
            (32, &[0, 0, 0, 0][..])
        );
        assert!(levels.iter().all(|level| level.near.is_empty()));
    }

    /// A ring of four: each node sees its two neighbours at 20, the one across at 30. The top level
    /// is the whole machine, yet its groups are those that overlap.
    #[test]
    fn a_ring_overlaps() {
        let table = [
            [10, 20, 30, 20],
            [20, 10, 20, 30],
            [30, 20, 10, 20],
            [20, 30, 20, 10],
        ];
        let table: Vec<Vec<u32>> = table.iter().map(|row| row.to_vec()).collect();
        let levels = levels(&table);
        assert_eq!(levels[0].near, [0b1011, 0b0111, 0b1110, 0b1101]);
        assert_eq!(levels[1].near, [0b1111; 4]);
        assert_eq!(levels[1].group_of, [0, 1, 2, 3]);
    }

    #[test]
    fn one_node_has_no_level() {
        assert!(levels(&[vec![10]]).is_empty());
    }
}

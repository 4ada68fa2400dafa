//! Lists and trees of objects: the nodes in their order, by the heads' addresses
//! (docs/guide/schedulers.md, "What its programs see").
//!
//! What must stay: the order of a list is the program's; a node is in one list at a time. Free: how
//! nodes are kept on the host's side.
//!
//! Tests by part: `a_list_has_two_ends_and_a_price` (`len`, `get`, `find`, `insert`, `remove`,
//! `drop_in`, and the memory that a node costs).
//!
//! Callers: kfuncs/nodes.rs for programs, kernel/objects.rs (`drop_in`, when an object goes).
//!
//! Tests: below

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use wakeplace_bpf_vm::budget::ENTRY_BYTES;
use wakeplace_bpf_vm::{Fault, Memory};

/// All of them. One without nodes is not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes(BTreeMap<u64, VecDeque<u64>>);

impl Nodes {
    /// Counts the nodes of a list.
    pub(crate) fn len(&self, head: u64) -> u64 {
        self.0.get(&head).map_or(0, VecDeque::len) as u64
    }

    /// The node at that place. None: there is none.
    pub(crate) fn get(&self, head: u64, at: u64) -> Option<u64> {
        self.0.get(&head)?.get(at as usize).copied()
    }

    /// The place of a node. None: it is not in the list.
    pub(crate) fn find(&self, head: u64, node: u64) -> Option<u64> {
        let mut nodes = self.0.get(&head)?.iter();
        nodes.position(|known| *known == node).map(|at| at as u64)
    }

    /// Puts a node at a place, or at the end if the list is shorter.
    pub(crate) fn insert(
        &mut self,
        memory: &mut Memory,
        head: u64,
        at: u64,
        node: u64,
    ) -> Result<(), Fault> {
        let is_first = !self.0.contains_key(&head);
        memory.reserve(ENTRY_BYTES * (1 + u64::from(is_first)))?;
        let nodes = self.0.entry(head).or_default();
        nodes.insert((at as usize).min(nodes.len()), node);
        Ok(())
    }

    /// Takes the node at that place out. None: there is none.
    pub(crate) fn remove(&mut self, memory: &mut Memory, head: u64, at: u64) -> Option<u64> {
        let nodes = self.0.get_mut(&head)?;
        let node = nodes.remove(at as usize)?;
        memory.give_back(ENTRY_BYTES);
        if nodes.is_empty() {
            self.0.remove(&head);
            memory.give_back(ENTRY_BYTES);
        }
        Some(node)
    }

    /// Lists whose heads are in this room are no more. Returns their nodes.
    pub(super) fn drop_in(&mut self, memory: &mut Memory, room: Range<u64>) -> Vec<u64> {
        let heads: Vec<_> = self.0.range(room).map(|(head, _)| *head).collect();
        let lists = heads.iter().filter_map(|head| self.0.remove(head));
        let nodes: Vec<_> = lists.flatten().collect();
        memory.give_back(ENTRY_BYTES * (nodes.len() + heads.len()) as u64);
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::Nodes;
    use wakeplace_bpf_vm::{Fault, Memory, budget};

    /// Goal: nodes come out in their order, and what was paid for them is paid back.
    #[test]
    fn a_list_has_two_ends_and_a_price() {
        let mut memory = Memory::new().expect("room");
        let mut nodes = Nodes::default();
        for (at, node) in [(0, 1), (9, 2), (0, 3), (1, 4)] {
            nodes.insert(&mut memory, 64, at, node).expect("room");
        }
        assert_eq!(
            [0, 1, 2, 3].map(|at| nodes.get(64, at)),
            [3, 4, 1, 2].map(Some)
        );
        assert_eq!((nodes.find(64, 1), nodes.find(64, 9)), (Some(2), None));
        assert_eq!(nodes.remove(&mut memory, 64, 1), Some(4));
        assert_eq!(nodes.drop_in(&mut memory, 0..65), [3, 1, 2]);
        assert_eq!(nodes.len(64), 0);
        // 128 bytes for a list of one node: eight millions of them are all there is. (The stack of
        // the programs takes less than one of the last ones.)
        for head in 0.. {
            if let Err(fault) = nodes.insert(&mut memory, head, 0, 1) {
                assert_eq!(fault, Fault::HeapFull);
                let most = budget::BYTES / 128;
                assert!((most - 1024..most).contains(&head), "{head}");
                break;
            }
        }
    }
}

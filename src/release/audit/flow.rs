//! The maximum number of rows of a release that can be matched with rows of its source, each row
//! used at most once.
//!
//! This module computes a maximum flow in a bipartite network by Dinic's algorithm.
//!
//! Dinic, Algorithm for solution of a problem of maximum flow in networks with power estimation,
//! 1970.

use std::collections::VecDeque;

/// Returns the maximum flow from `supplies` to `demands` over `edges`. An edge is a pair of an
/// index into `supplies` and an index into `demands`.
pub(super) fn matched(supplies: &[u64], demands: &[u64], edges: &[(u32, u32)]) -> u64 {
    let mut network = Network::new(supplies, demands, edges);
    let mut flow = 0;
    while network.level() {
        flow += network.augment();
    }
    flow
}

struct Network {
    /// The indices of the edges that leave each node.
    out: Vec<Vec<u32>>,
    /// The target of each edge. The indices of an edge and its reverse differ in the last bit.
    to: Vec<u32>,
    /// The remaining capacity of each edge.
    room: Vec<u64>,
    levels: Vec<u32>,
    sink: usize,
}

const SOURCE: usize = 0;
const FAR: u32 = u32::MAX;

impl Network {
    fn new(supplies: &[u64], demands: &[u64], edges: &[(u32, u32)]) -> Self {
        let sink = supplies.len() + demands.len() + 1;
        let mut network = Self {
            out: vec![vec![]; sink + 1],
            to: vec![],
            room: vec![],
            levels: vec![],
            sink,
        };
        for (i, supply) in supplies.iter().enumerate() {
            network.add(SOURCE, 1 + i, *supply);
        }
        for (from, to) in edges {
            let (from, to) = (*from as usize, *to as usize);
            network.add(1 + from, 1 + supplies.len() + to, supplies[from].min(demands[to]));
        }
        for (i, demand) in demands.iter().enumerate() {
            network.add(1 + supplies.len() + i, sink, *demand);
        }
        network
    }

    fn add(&mut self, from: usize, to: usize, room: u64) {
        for (from, to, room) in [(from, to, room), (to, from, 0)] {
            self.out[from].push(self.to.len() as u32);
            self.to.push(to as u32);
            self.room.push(room);
        }
    }

    /// Sets the level of each node to its distance from the source. Returns true if the sink can be
    /// reached.
    fn level(&mut self) -> bool {
        self.levels = vec![FAR; self.out.len()];
        self.levels[SOURCE] = 0;
        let mut next = VecDeque::from([SOURCE]);
        while let Some(node) = next.pop_front() {
            for edge in &self.out[node] {
                let to = self.to[*edge as usize] as usize;
                if self.room[*edge as usize] > 0 && self.levels[to] == FAR {
                    self.levels[to] = self.levels[node] + 1;
                    next.push_back(to);
                }
            }
        }
        self.levels[self.sink] != FAR
    }

    /// Sends flow along shortest paths until no such path is left, and returns the amount of flow
    /// sent.
    fn augment(&mut self) -> u64 {
        let (mut flow, mut path, mut node) = (0, vec![], SOURCE);
        let mut tried = vec![0usize; self.out.len()];
        loop {
            if node == self.sink {
                let room = path.iter().map(|e: &usize| self.room[*e]).min().unwrap_or(0);
                for edge in &path {
                    self.room[*edge] -= room;
                    self.room[*edge ^ 1] += room;
                }
                flow += room;
                let full = path.iter().position(|e| self.room[*e] == 0).unwrap_or(0);
                path.truncate(full);
                node = path.last().map_or(SOURCE, |e| self.to[*e] as usize);
                continue;
            }
            match self.out[node].get(tried[node]) {
                Some(edge) => {
                    let edge = *edge as usize;
                    let to = self.to[edge] as usize;
                    if self.room[edge] > 0 && self.levels[to] == self.levels[node] + 1 {
                        path.push(edge);
                        node = to;
                    } else {
                        tried[node] += 1;
                    }
                }
                None => {
                    let Some(edge) = path.pop() else { return flow };
                    node = self.to[edge ^ 1] as usize;
                    tried[node] += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_is_not_taken_twice() {
        // Both suppliers reach the first demand, and only the first supplier reaches the second
        // demand.
        assert_eq!(matched(&[2, 1], &[1, 2], &[(0, 0), (0, 1), (1, 0)]), 3);
        assert_eq!(matched(&[1, 1], &[1, 5], &[(0, 0), (1, 0)]), 1);
        assert_eq!(matched(&[], &[3], &[]), 0);
    }

    proptest! {
        /// Tests that the maximum flow equals the minimum cut (Ford and Fulkerson). The minimum cut
        /// is the minimum, over all sets of suppliers, of the supply outside the set plus the
        /// demand that the set can reach.
        #[test]
        fn the_flow_is_the_least_cut(
            supplies in prop::collection::vec(0u64..6, 0..6),
            demands in prop::collection::vec(0u64..6, 0..7),
            pairs in prop::collection::btree_set((0u32..6, 0u32..7), 0..30),
        ) {
            let is_there = |(a, b): &(u32, u32)| (*a as usize) < supplies.len() && (*b as usize) < demands.len();
            let edges: Vec<(u32, u32)> = pairs.into_iter().filter(is_there).collect();
            let cut = |set: usize| -> u64 {
                let outside = (0..supplies.len()).filter(|i| set >> i & 1 == 0).map(|i| supplies[i]);
                let reached = |to: usize| edges.iter().any(|(a, b)| set >> a & 1 == 1 && *b as usize == to);
                let inside = (0..demands.len()).filter(|to| reached(*to)).map(|to| demands[to]);
                outside.chain(inside).sum()
            };
            let least = (0..1usize << supplies.len()).map(cut).min().unwrap_or(0);
            prop_assert_eq!(matched(&supplies, &demands, &edges), least);
        }
    }
}

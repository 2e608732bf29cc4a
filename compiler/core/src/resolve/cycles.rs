//! Elementary cycles of a directed graph, bounded (spec 04 section 10.2).

/// Most cycles that are reported.
pub(crate) const MAX_CYCLES: usize = 16;

/// Edges that the search may look at beyond what finding one cycle per component takes.
const MAX_STEPS: usize = 2_000_000;

/// Elementary cycles of the graph with these successor lists, nodes numbered in the order of their
/// ids. A cycle starts at its smallest node and lists each node once. At most [`MAX_CYCLES`],
/// shortest first, then by nodes. Every strongly connected component with a cycle gives at least
/// one, as long as the number allows; a dense graph ends the search early, never late.
pub(crate) fn elementary(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let component = components(successors);
    let mut starts: Vec<Start> = Vec::new();
    let mut search = Search {
        successors,
        component: &component,
        steps: MAX_STEPS,
        distance: vec![0; successors.len()],
        stamp: vec![usize::MAX; successors.len()],
        on_path: vec![false; successors.len()],
    };
    let reverse = search.reverse();
    let mut first_of = vec![false; successors.len()];
    let mut found: Vec<Vec<usize>> = Vec::new();
    for node in 0..successors.len() {
        // The first start of a component is free of the budget: one cycle each is guaranteed.
        let free = !std::mem::replace(&mut first_of[component[node]], true);
        if !free && search.steps == 0 {
            continue;
        }
        if let Some(shortest) = search.shortest(node, &reverse, free) {
            starts.push(Start {
                node,
                length: shortest.len(),
            });
            found.push(shortest);
        }
    }
    search.longer(&starts, &reverse, &mut found);
    found.sort_by(|left, right| left.len().cmp(&right.len()).then_with(|| left.cmp(right)));
    found.dedup();
    found.truncate(MAX_CYCLES);
    found
}

struct Start {
    node: usize,
    length: usize,
}

struct Search<'a> {
    successors: &'a [Vec<usize>],
    component: &'a [usize],
    steps: usize,
    /// Distance back to the current start, valid where `stamp` names it.
    distance: Vec<usize>,
    stamp: Vec<usize>,
    on_path: Vec<bool>,
}

impl Search<'_> {
    fn reverse(&self) -> Vec<Vec<usize>> {
        let mut reverse = vec![Vec::new(); self.successors.len()];
        for (from, targets) in self.successors.iter().enumerate() {
            for to in targets {
                if self.component[from] == self.component[*to] {
                    reverse[*to].push(from);
                }
            }
        }
        reverse
    }

    fn spend(&mut self, free: bool) -> bool {
        if free {
            return true;
        }
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        true
    }

    /// Distances back to `start` through nodes that are not smaller.
    fn distances(&mut self, start: usize, reverse: &[Vec<usize>], free: bool) -> bool {
        let mut queue = std::collections::VecDeque::from([start]);
        self.distance[start] = 0;
        self.stamp[start] = start;
        while let Some(node) = queue.pop_front() {
            for from in &reverse[node] {
                if !self.spend(free) {
                    return false;
                }
                if *from > start && self.stamp[*from] != start {
                    self.stamp[*from] = start;
                    self.distance[*from] = self.distance[node] + 1;
                    queue.push_back(*from);
                }
            }
        }
        true
    }

    /// The least of the shortest cycles whose smallest node is `start`.
    fn shortest(&mut self, start: usize, reverse: &[Vec<usize>], free: bool) -> Option<Vec<usize>> {
        if !self.distances(start, reverse, free) {
            return None;
        }
        let mut cycle = vec![start];
        let mut node = start;
        loop {
            let next = self.successors[node]
                .iter()
                .copied()
                .filter(|to| {
                    self.stamp[*to] == start && self.component[*to] == self.component[start]
                })
                .min_by_key(|to| (self.distance[*to], *to))?;
            if next == start {
                return Some(cycle);
            }
            cycle.push(next);
            node = next;
        }
    }

    /// All further cycles by growing length, while the budget lasts.
    fn longer(&mut self, starts: &[Start], reverse: &[Vec<usize>], found: &mut Vec<Vec<usize>>) {
        let nodes = self.successors.len();
        let Some(shortest) = starts.iter().map(|start| start.length).min() else {
            return;
        };
        // A length at which no start has a cycle says nothing about the next one.
        for length in shortest..=nodes {
            if self.steps == 0 || found.len() >= 4 * MAX_CYCLES {
                return;
            }
            self.steps = self.steps.saturating_sub(1);
            for start in starts.iter().filter(|start| start.length <= length) {
                if self.steps == 0 || !self.distances(start.node, reverse, false) {
                    return;
                }
                self.exactly(start.node, length, found);
            }
        }
    }

    /// Cycles of one length from one start, depth first without recursion.
    fn exactly(&mut self, start: usize, length: usize, found: &mut Vec<Vec<usize>>) {
        let mut path = vec![start];
        let mut next_edge = vec![0_usize];
        while let (Some(node), Some(edge)) = (path.last().copied(), next_edge.last_mut()) {
            let Some(to) = self.successors[node].get(*edge).copied() else {
                path.pop();
                next_edge.pop();
                self.on_path[node] = false;
                continue;
            };
            *edge += 1;
            if !self.spend(false) || found.len() >= 4 * MAX_CYCLES {
                break;
            }
            if to == start {
                if path.len() == length {
                    found.push(path.clone());
                }
            } else if self.stamp[to] == start
                && !self.on_path[to]
                && path.len() + self.distance[to] <= length
            {
                self.on_path[to] = true;
                path.push(to);
                next_edge.push(0);
            }
        }
        for node in path {
            self.on_path[node] = false;
        }
    }
}

/// Strongly connected components (Tarjan, with an explicit stack): the component of each node.
pub(crate) fn components(successors: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = successors.len();
    let mut index = vec![NONE; count];
    let mut low = vec![0; count];
    let mut component = vec![NONE; count];
    let (mut stack, mut clock, mut components) = (Vec::new(), 0, 0);
    for root in 0..count {
        if index[root] != NONE {
            continue;
        }
        let mut work = vec![(root, 0_usize)];
        while let Some((node, edge)) = work.last_mut() {
            let node = *node;
            if *edge == 0 && index[node] == NONE {
                index[node] = clock;
                low[node] = clock;
                clock += 1;
                stack.push(node);
            }
            if let Some(to) = successors[node].get(*edge).copied() {
                *edge += 1;
                if index[to] == NONE {
                    work.push((to, 0));
                } else if component[to] == NONE {
                    low[node] = low[node].min(index[to]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut successors = vec![Vec::new(); nodes];
        for (from, to) in edges {
            successors[*from].push(*to);
        }
        successors
    }

    #[test]
    fn small_graphs() {
        assert!(elementary(&graph(3, &[(0, 1), (1, 2), (0, 2)])).is_empty());
        assert_eq!(elementary(&graph(1, &[(0, 0)])), vec![vec![0]]);
        assert_eq!(
            elementary(&graph(3, &[(1, 0), (0, 1), (2, 2)])),
            vec![vec![2], vec![0, 1]]
        );
        let two_ways = graph(4, &[(0, 1), (1, 3), (3, 0), (0, 2), (2, 3)]);
        assert_eq!(elementary(&two_ways), vec![vec![0, 1, 3], vec![0, 2, 3]]);
        let mixed = graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (2, 1)]);
        assert_eq!(elementary(&mixed), vec![vec![1, 2], vec![0, 1, 2, 3]]);
    }

    #[test]
    fn a_complete_graph_gives_sixteen_and_ends() {
        let nodes = 120;
        let mut edges = Vec::new();
        for from in 0..nodes {
            for to in 0..nodes {
                edges.push((from, to));
            }
        }
        let cycles = elementary(&graph(nodes, &edges));
        assert_eq!(cycles.len(), MAX_CYCLES);
        assert!(
            cycles
                .iter()
                .enumerate()
                .all(|(node, cycle)| *cycle == vec![node])
        );
    }

    #[test]
    fn a_long_ring_is_found_whole() {
        let nodes = 50_000;
        let edges: Vec<_> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
        assert_eq!(
            elementary(&graph(nodes, &edges)),
            vec![(0..nodes).collect::<Vec<_>>()]
        );
    }

    #[test]
    fn many_pairs_are_bounded() {
        let edges: Vec<_> = (0..20_000)
            .flat_map(|pair| [(2 * pair, 2 * pair + 1), (2 * pair + 1, 2 * pair)])
            .collect();
        let cycles = elementary(&graph(40_000, &edges));
        assert_eq!(cycles.len(), MAX_CYCLES);
        assert_eq!(cycles[15], vec![30, 31]);
    }
}

//! Observations: the costs of single units of work behind the costs of a call tree.

use fulcrum_stats::Sample;

/// The own cost of a call tree's node in one unit of work, such as a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The node.
    pub node: u32,
    /// The number of the unit of work.
    pub unit: u32,
    /// The cost, in the tree's unit.
    pub cost: i64,
}

/// Units of work and their costs. Most units cost nothing in most nodes, which takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// The number of units.
    units: u64,
    /// Ascending by node.
    costs: Vec<Observation>,
}

impl Observations {
    /// `units` is the number of units. Units without an entry in `costs` cost nothing.
    pub fn new(units: u64, mut costs: Vec<Observation>) -> Self {
        costs.sort_by_key(|it| it.node);
        Observations { units, costs }
    }

    /// The number of units.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// The costs of the units in the nodes of disjoint intervals `[start, end)`. `None` with fewer than two units.
    pub(crate) fn sample(&self, nodes: impl Iterator<Item = (u32, u32)>) -> Option<Sample> {
        let mut costs: Vec<(u32, i64)> = Vec::new();
        for (start, end) in nodes {
            let first = self.costs.partition_point(|it| it.node < start);
            let within = self.costs[first..].iter().take_while(|it| it.node < end);
            costs.extend(within.map(|it| (it.unit, it.cost)));
        }
        costs.sort_unstable_by_key(|it| it.0);
        let units = costs.chunk_by(|a, b| a.0 == b.0);
        let cost = |of: &[(u32, i64)]| of.iter().map(|it| it.1 as f64).sum::<f64>();
        let values: Vec<f64> = units.map(cost).collect();
        let zeros = self.units.saturating_sub(values.len() as u64);
        Sample::with_zeros(&values, usize::try_from(zeros).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: units 4 and 7 cost 5 + 1 and 3 in nodes 0, 1 and 4; two others nothing.
    #[test]
    fn units_are_added_up_over_nodes_and_those_without_cost_count() {
        let cost = |node, unit, cost| Observation { node, unit, cost };
        let costs = vec![
            cost(4, 4, 1),
            cost(0, 4, 5),
            cost(1, 7, 3),
            cost(2, 7, 100),
            cost(5, 4, 100),
        ];
        let observations = Observations::new(4, costs);
        let found = observations.sample([(0, 2), (4, 5)].into_iter());
        assert_eq!(found, Sample::of(&[6.0, 3.0, 0.0, 0.0]));
        let nothing = observations.sample([(3, 4)].into_iter()).unwrap();
        assert_eq!((nothing.count, nothing.mean), (4, 0.0));
        let one = Observations::new(1, vec![cost(0, 0, 5)]);
        assert_eq!(one.sample([(0, 1)].into_iter()), None);
    }
}

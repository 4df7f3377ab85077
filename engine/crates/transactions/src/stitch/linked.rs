//! Samples linked to the transactions in which they were taken, for formats that record both.

use fulcrum_model::call_tree::Frame;

use super::stitched::Stitched;
use crate::context::types::TypeId;
use crate::context_profile::{CallingContextTree, Cost, Observation};
use crate::ids::ProcessId;
use crate::latency::InstanceId;

/// The samples of threads of one name in one context.
#[derive(Clone, Debug)]
pub struct Linked<'a> {
    /// The context's type.
    pub of: TypeId,
    /// The process.
    pub process: ProcessId,
    /// Its program.
    pub program: &'a str,
    /// The name of the threads.
    pub thread: &'a str,
    /// The functions, each after its caller, an earlier index into this list. With the lines that ran, if known.
    pub functions: Vec<(Option<u32>, Frame)>,
    /// The samples, by function and transaction.
    pub samples: Vec<LinkedCost>,
}

/// The cost of samples in one function and transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedCost {
    /// An index into [`Linked::functions`], or `None` if the cost belongs to no function.
    pub function: Option<u32>,
    /// The transaction, if known.
    pub instance: Option<InstanceId>,
    /// The cost.
    pub cost: Cost,
}

impl Stitched {
    /// All samples. Their total is [`Stitched::total_cpu_ns`].
    pub fn linked(&self) -> impl Iterator<Item = Linked<'_>> {
        self.trees().map(move |(record, of, thread, tree)| {
            let nodes = tree.nodes().iter();
            Linked {
                of,
                process: record.dictionary.process,
                program: &record.dictionary.program,
                thread: self.text(record, thread),
                functions: nodes
                    .map(|it| (it.parent, self.line(record, it.spot)))
                    .collect(),
                samples: costs(tree),
            }
        })
    }

    /// The transactions in which samples were taken, possibly with repetitions.
    pub fn sampled(&self) -> impl Iterator<Item = InstanceId> {
        let trees = self.trees();
        trees.flat_map(|(.., tree)| tree.observations().iter().map(|it| it.instance))
    }
}

fn costs(tree: &CallingContextTree) -> Vec<LinkedCost> {
    let mut observations = tree.observations().to_vec();
    observations.sort_by_key(|it| (it.node, it.instance));
    let mut costs = Vec::new();
    let mut rest = observations.as_slice();
    let places = (0..)
        .map(Some)
        .zip(tree.nodes())
        .map(|(row, it)| (row, it.cost));
    for (function, whole) in [(None, tree.own())].into_iter().chain(places) {
        let here = rest.partition_point(|it| it.node <= function);
        let (of_place, later) = rest.split_at(here);
        rest = later;
        add(&mut costs, function, whole, of_place);
    }
    costs
}

/// Adds the cost of a function, split by transaction, with the rest for no known transaction.
fn add(costs: &mut Vec<LinkedCost>, function: Option<u32>, whole: Cost, seen: &[Observation]) {
    let mut unknown = whole;
    for of_one in seen.chunk_by(|a, b| a.instance == b.instance) {
        let cost = Cost {
            cpu_ns: of_one.iter().map(|it| it.cpu_ns).sum(),
            samples: of_one.len() as u64,
        };
        unknown.cpu_ns = unknown.cpu_ns.saturating_sub(cost.cpu_ns);
        unknown.samples = unknown.samples.saturating_sub(cost.samples);
        costs.push(LinkedCost {
            function,
            instance: Some(of_one[0].instance),
            cost,
        });
    }
    if unknown != Cost::default() {
        costs.push(LinkedCost {
            function,
            instance: None,
            cost: unknown,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Synopsis;
    use crate::context::names::Name;
    use crate::context_profile::{ContextProfile, Sample, Spot};

    #[test]
    fn each_place_is_divided_among_its_transactions_and_nothing_is_lost() {
        let mut profile = ContextProfile::default();
        let (a, b): (Spot, Spot) = (Name(1).into(), Name(2).into());
        for (instance, stack, cpu_ns) in [
            (Some(7), vec![a, b], 10),
            (Some(8), vec![a, b], 20),
            (Some(7), vec![a, b], 30),
            (None, vec![a, b], 40),
            (None, vec![a], 5),
            (Some(7), vec![], 1),
            (None, vec![], 2),
        ] {
            profile.add(&Sample {
                context: Synopsis::EMPTY,
                thread: Name(3),
                instance: instance.map(InstanceId),
                stack: &stack,
                cpu_ns,
            });
        }
        let (.., tree) = profile.trees().next().unwrap();
        let found: Vec<_> = costs(tree)
            .into_iter()
            .map(|it| {
                let instance = it.instance.map(|it| it.0);
                (it.function, instance, it.cost.cpu_ns, it.cost.samples)
            })
            .collect();
        assert_eq!(
            found,
            [
                (None, Some(7), 1, 1),
                (None, None, 2, 1),
                (Some(0), None, 5, 1),
                (Some(1), Some(7), 40, 2),
                (Some(1), Some(8), 20, 1),
                (Some(1), None, 40, 1),
            ]
        );
    }
}

//! Compares types of two profiles by what single transactions cost and how long they take.

use std::collections::{BTreeMap, HashMap};

use fulcrum_stats::{Sample, Welch, welch};

use super::stitched::{Stitched, TypeProfile};
use crate::context::types::TypeId;
use crate::latency::{InstanceId, Latency};

/// The cost of a type and of its transactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TypeCost {
    /// The number of transactions that threads worked for under this name.
    pub transactions: u64,
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// CPU time of a transaction, in nanoseconds. `None` with fewer than two transactions.
    pub cpu: Option<Sample>,
    /// The part of [`Self::cpu_ns`] that is attributed to no single transaction, in nanoseconds.
    pub left_out_ns: u64,
    /// The latency of transactions that began under this name, if any.
    pub latency: Option<Latency>,
}

/// A type on both sides of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedType {
    /// Its name.
    pub name: String,
    /// On side A.
    pub a: Option<TypeCost>,
    /// On side B, the base.
    pub b: Option<TypeCost>,
    /// How its transactions differ.
    pub difference: Difference,
}

/// The difference between the transactions of two types: A − B, in nanoseconds, with each transaction as an observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// In CPU time, if both have at least two transactions.
    pub cpu: Option<Welch>,
    /// In wall time, if both have at least two transactions.
    pub wall: Option<Welch>,
}

impl TypeCost {
    /// The difference between its transactions and those of another type.
    pub fn less(&self, other: &TypeCost) -> Difference {
        let compared = |a: Option<Sample>, b: Option<Sample>| Some(welch(a?, b?));
        Difference {
            cpu: compared(self.cpu, other.cpu),
            wall: compared(self.wall(), other.wall()),
        }
    }

    /// Wall time of a transaction, in nanoseconds. If there are very many, the deviation is that of a sample.
    fn wall(&self) -> Option<Sample> {
        let latency = self.latency?;
        Some(Sample {
            count: usize::try_from(latency.count).ok()?,
            mean: latency.mean_ns,
            deviation: latency.deviation_ns?,
        })
    }
}

/// All types of both profiles by name, the most expensive on either side first.
pub fn compare(a: &Stitched, b: &Stitched) -> Vec<ComparedType> {
    let mut by_name: BTreeMap<String, [Option<TypeCost>; 2]> = BTreeMap::new();
    for (side, stitched) in [a, b].into_iter().enumerate() {
        for (name, cost) in stitched.type_costs() {
            by_name.entry(name).or_default()[side] = Some(cost);
        }
    }
    let compared = |(name, [a, b]): (String, [Option<TypeCost>; 2])| ComparedType {
        name,
        difference: match (&a, &b) {
            (Some(a), Some(b)) => a.less(b),
            _ => Difference::default(),
        },
        a,
        b,
    };
    let mut all: Vec<ComparedType> = by_name.into_iter().map(compared).collect();
    let cost = |it: &ComparedType| [it.a, it.b].map(|it| it.map_or(0, |it| it.cpu_ns));
    all.sort_by_key(|it| std::cmp::Reverse(cost(it).into_iter().max()));
    all
}

/// The cost of single transactions of a type, in nanoseconds.
type ByInstance = HashMap<InstanceId, u64>;

impl Stitched {
    /// The cost of a type.
    pub fn type_cost(&self, of: &TypeProfile) -> TypeCost {
        let by_instance = self.by_instance(|id| id == of.id);
        self.cost(of, by_instance.get(&of.id))
    }

    /// The cost of all types, by name. If several share a name, the first counts.
    fn type_costs(&self) -> BTreeMap<String, TypeCost> {
        let by_instance = self.by_instance(|_| true);
        let mut costs = BTreeMap::new();
        for of in self.types() {
            let cost = self.cost(&of, by_instance.get(&of.id));
            costs.entry(of.name).or_insert(cost);
        }
        costs
    }

    fn by_instance(&self, wanted: impl Fn(TypeId) -> bool) -> BTreeMap<TypeId, ByInstance> {
        let mut costs: BTreeMap<TypeId, ByInstance> = BTreeMap::new();
        for (_, id, _, tree) in self.trees().filter(|it| wanted(it.1)) {
            let costs = costs.entry(id).or_default();
            for it in tree.observations() {
                *costs.entry(it.instance).or_default() += it.cpu_ns;
            }
        }
        costs
    }

    fn cost(&self, of: &TypeProfile, by_instance: Option<&ByInstance>) -> TypeCost {
        let transactions = self.transactions_of(of.id);
        let costs = || by_instance.into_iter().flat_map(HashMap::values);
        let values: Vec<f64> = costs().map(|&it| it as f64).collect();
        let zeros = transactions.saturating_sub(values.len() as u64);
        let known: u64 = costs().sum();
        TypeCost {
            transactions,
            cpu_ns: of.cpu.cpu_ns,
            cpu: Sample::with_zeros(&values, usize::try_from(zeros).unwrap_or(usize::MAX)),
            left_out_ns: of.cpu.cpu_ns.saturating_sub(known),
            latency: of.latency,
        }
    }
}

//! Types beside types: of one profile and another, by what single transactions cost and take.

use std::collections::{BTreeMap, HashMap};

use fulcrum_stats::{Sample, Welch, welch};

use super::stitched::{Stitched, TypeProfile};
use crate::context::types::TypeId;
use crate::latency::{InstanceId, Latency};

/// What a type costs, and what its transactions cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TypeCost {
    /// Transactions that threads worked for under its name.
    pub transactions: u64,
    /// CPU time, nanoseconds.
    pub cpu_ns: u64,
    /// CPU time of a transaction, nanoseconds; `None` of fewer than two.
    pub cpu: Option<Sample>,
    /// The part of [`Self::cpu_ns`] that is known of no single transaction, nanoseconds.
    pub left_out_ns: u64,
    /// How long those took that began under its name; `None` when none did.
    pub latency: Option<Latency>,
}

/// A type on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedType {
    /// Its name.
    pub name: String,
    /// In what is looked at.
    pub a: Option<TypeCost>,
    /// In what it is compared with.
    pub b: Option<TypeCost>,
    /// How its transactions differ.
    pub difference: Difference,
}

/// How the transactions of two types differ: A less B, nanoseconds, each transaction an observation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// In CPU time; `None` unless both have several.
    pub cpu: Option<Welch>,
    /// In wall time; `None` unless both have several.
    pub wall: Option<Welch>,
}

impl TypeCost {
    /// How its transactions differ from those of another type.
    pub fn less(&self, other: &TypeCost) -> Difference {
        let compared = |a: Option<Sample>, b: Option<Sample>| Some(welch(a?, b?));
        Difference {
            cpu: compared(self.cpu, other.cpu),
            wall: compared(self.wall(), other.wall()),
        }
    }

    /// Wall time of a transaction, nanoseconds. Of very many, the deviation is that of some.
    fn wall(&self) -> Option<Sample> {
        let latency = self.latency?;
        Some(Sample {
            count: usize::try_from(latency.count).ok()?,
            mean: latency.mean_ns,
            deviation: latency.deviation_ns?,
        })
    }
}

/// All types of both profiles by their names, those that cost the most in either first.
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

/// What single transactions cost under the name of a type, nanoseconds.
type ByInstance = HashMap<InstanceId, u64>;

impl Stitched {
    /// What a type costs.
    pub fn type_cost(&self, of: &TypeProfile) -> TypeCost {
        let by_instance = self.by_instance(|id| id == of.id);
        self.cost(of, by_instance.get(&of.id))
    }

    /// What all types cost, by their names. Of several of one name, the first counts.
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
